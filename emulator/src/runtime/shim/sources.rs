//! The shim's files: those written by hand, and those made here (operation numbers, stubs, version scripts).

use crate::runtime::operations;
use std::collections::BTreeSet;

/// Environment variable with the socket's path.
pub(crate) const SOCKET_VARIABLE: &str = "KREPRO_CPU_BACKEND_SOCKET";

/// The CUDA versions that the runtime libraries and the driver say they are. The driver is as new as the newest runtime.
const CUDA_13: u32 = 13000;
const CUDA_12: u32 = 12090;

macro_rules! files {
    ($($path:literal)*) => { &[$(($path, include_str!(concat!("../../../shim/", $path)))),*] };
}

/// A file's path below the build folder, and its text.
type File = (&'static str, &'static str);

const CORE: &[File] =
    files!["core/core.h" "core/wire.c" "core/image.c" "core/kernel.c" "core/memory.c" "core/stream.c"];
const CUDART: &[File] = files![
    "cudart/cudart.h" "cudart/register.c" "cudart/launch.c" "cudart/function.c" "cudart/memory.c" "cudart/device.c"
    "cudart/properties.c" "cudart/stream.c" "cudart/error.c" "cudart/entry_point.c" "cudart/occupancy.c"
];
const CUDA: &[File] = files![
    "cuda/cuda.h" "cuda/device.c" "cuda/module.c" "cuda/launch.c" "cuda/memory.c" "cuda/stream.c" "cuda/tensor_map.c"
    "cuda/entry_point.c"
];

/// Every function that the real libraries export.
const CUDART_13_NAMES: &str = include_str!("../../../shim/names/cudart_13.txt");
const CUDART_12_NAMES: &str = include_str!("../../../shim/names/cudart_12.txt");
const CUDA_NAMES: &str = include_str!("../../../shim/names/cuda.txt");

/// One library to link: its file, its translation units and what it is linked with.
pub(super) struct Library {
    pub(super) file: &'static str,
    /// The name the linker looks for.
    pub(super) link_name: Option<&'static str>,
    pub(super) units: Vec<&'static str>,
    pub(super) version_script: Option<&'static str>,
}

/// The libraries in build order.
pub(super) fn libraries() -> Vec<Library> {
    vec![
        Library {
            file: "libkrepro-core.so",
            link_name: None,
            units: CORE.iter().map(|(path, _)| *path).filter(|path| path.ends_with(".c")).collect(),
            version_script: None,
        },
        Library {
            file: "libcudart.so.13",
            link_name: Some("libcudart.so"),
            units: vec!["cudart_13.c"],
            version_script: Some("cudart_13.map"),
        },
        Library {
            file: "libcudart.so.12",
            link_name: None,
            units: vec!["cudart_12.c"],
            version_script: Some("cudart_12.map"),
        },
        Library {
            file: "libcuda.so.1",
            link_name: Some("libcuda.so"),
            units: vec!["cuda.c"],
            version_script: Some("cuda.map"),
        },
    ]
}

/// Every file of the build folder.
pub(super) fn files() -> Vec<(&'static str, String)> {
    let mut files = files_but_the_header();
    files.push(("operations.h", operations_header()));
    files
}

fn files_but_the_header() -> Vec<(&'static str, String)> {
    let mut files: Vec<(&str, String)> = [CORE, CUDART, CUDA].iter().copied().flatten().map(copied).collect();
    files.push(("cudart_13.c", library_source(CUDA_13, CUDART, CUDART_13_NAMES, "remember")));
    files.push(("cudart_12.c", library_source(CUDA_12, CUDART, CUDART_12_NAMES, "remember")));
    files.push(("cuda.c", library_source(CUDA_13, CUDA, CUDA_NAMES, "driver")));
    files.push(("cudart_13.map", "libcudart.so.13 { global: cuda*; __cuda*; local: *; };\n".into()));
    files.push(("cudart_12.map", "libcudart.so.12 { global: cuda*; __cuda*; local: *; };\n".into()));
    files.push(("cuda.map", "{ global: cu*; local: *; };\n".into()));
    files
}

fn copied(file: &File) -> (&'static str, String) {
    (file.0, file.1.to_owned())
}

/// A name for exactly these sources: they are built once, and a shim of another krepro is refused.
pub(crate) fn identity() -> String {
    let operations = [("operations", operations::c_enumeration())];
    // FNV-1a, 64 bits.
    let bytes = files_but_the_header()
        .into_iter()
        .chain(operations)
        .flat_map(|(path, text)| format!("{path}\0{text}\0").into_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

fn operations_header() -> String {
    format!(
        "#define KREPRO_SOCKET_VARIABLE \"{SOCKET_VARIABLE}\"\n#define KREPRO_SHIM_IDENTITY \"{}\"\n\
         #define KREPRO_DRIVER_VERSION {CUDA_13}\n{}",
        identity(),
        operations::c_enumeration()
    )
}

/// The one translation unit of an API library: its parts, then a stub for every function that no part defines.
fn library_source(cuda_version: u32, parts: &[File], names: &str, report: &str) -> String {
    let mut text = format!("#define KREPRO_CUDA_VERSION {cuda_version}\n");
    text.extend(parts.iter().map(|(path, _)| format!("#include \"{path}\"\n")));
    // The one function whose name depends on the version; its file has both.
    let properties = if cuda_version < CUDA_13 { "cudaGetDeviceProperties_v2" } else { "cudaGetDeviceProperties" };
    let plain: BTreeSet<&str> = parts.iter().flat_map(|(_, source)| defined(source)).collect();
    let defined: BTreeSet<&str> =
        plain.into_iter().map(|name| if name == "PROPERTIES" { properties } else { name }).collect();
    for name in names.lines().filter(|name| !defined.contains(name)) {
        let stem = name.strip_suffix("_ptds").or_else(|| name.strip_suffix("_ptsz"));
        match stem.filter(|stem| defined.contains(stem)) {
            // The per-thread default stream is a stream like any other here.
            Some(stem) => {
                text.push_str(&format!("KREPRO_EXPORT __typeof__({stem}) {name} __attribute__((alias(\"{stem}\")));\n"))
            }
            None => text.push_str(&format!("API {name}(void) {{ return {report}(krepro_missing(\"{name}\")); }}\n")),
        }
    }
    text
}

/// Names of the exported functions that a source defines.
fn defined(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|line| {
        let rest = line.strip_prefix("API ").or_else(|| line.strip_prefix("KREPRO_EXPORT "))?;
        let name = rest.split('(').next()?;
        name.rsplit([' ', '*']).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defined_function_is_one_that_the_real_libraries_have() {
        for (parts, names) in [(CUDART, CUDART_13_NAMES), (CUDART, CUDART_12_NAMES), (CUDA, CUDA_NAMES)] {
            let names: BTreeSet<&str> = names.lines().collect();
            let defined: Vec<&str> = parts.iter().flat_map(|(_, source)| defined(source)).collect();
            assert!(defined.len() > 100, "{}", defined.len());
            for name in defined {
                assert!(name == "PROPERTIES" || names.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn what_is_not_defined_becomes_an_alias_or_a_stub() {
        let source = library_source(CUDA_13, CUDART, CUDART_13_NAMES, "remember");
        assert!(source.contains("__typeof__(cudaMemcpyAsync) cudaMemcpyAsync_ptsz __attribute__((alias"));
        assert!(source.contains("API cudaGraphLaunch(void) { return remember(krepro_missing(\"cudaGraphLaunch\")); }"));
        assert!(!source.contains("API cudaMalloc(void)"));
    }
}
