//! `krepro doctor`: what this machine can do, and what lies about on it.

use camino::Utf8PathBuf;
use serde::Serialize;
use serde_json::json;

use super::tools::find;
use super::{Failure, Session};
use crate::exit::Exit;
use crate::sys::System;
use crate::toolchain::{self, Toolchain, gpu, install};

/// What this machine can build, run and inspect, and which JIT caches of known frameworks lie on it
///
/// A stale cache is a common cause of "my fix changes nothing": krepro lists caches with size and age, and never deletes one.
#[derive(Debug, clap::Args)]
pub struct Doctor {
    /// The nvcc to look at, or the toolkit folder it is in
    #[arg(long, value_name = "PATH")]
    nvcc: Option<String>,
}

/// A framework's cache: the variables that move it, and where it is without them.
struct KnownCache {
    framework: &'static str,
    variables: &'static [&'static str],
    usual: &'static str,
}

/// As the frameworks' own documentation and sources name them.
const CACHES: [KnownCache; 9] = [
    KnownCache { framework: "CUDA driver", variables: &["CUDA_CACHE_PATH"], usual: ".nv/ComputeCache" },
    KnownCache { framework: "DeepGEMM", variables: &["DG_JIT_CACHE_DIR", "DG_CACHE_DIR"], usual: ".deep_gemm" },
    KnownCache { framework: "FlashInfer", variables: &[], usual: ".cache/flashinfer" },
    KnownCache { framework: "Triton", variables: &["TRITON_CACHE_DIR"], usual: ".triton/cache" },
    KnownCache {
        framework: "PyTorch extensions",
        variables: &["TORCH_EXTENSIONS_DIR"],
        usual: ".cache/torch_extensions",
    },
    KnownCache {
        framework: "PyTorch kernels",
        variables: &["PYTORCH_KERNEL_CACHE_PATH"],
        usual: ".cache/torch/kernels",
    },
    KnownCache { framework: "TileLang", variables: &["TILELANG_CACHE_DIR"], usual: ".tilelang/cache" },
    KnownCache { framework: "CuPy", variables: &["CUPY_CACHE_DIR"], usual: ".cupy/kernel_cache" },
    KnownCache { framework: "vLLM", variables: &["VLLM_CACHE_ROOT"], usual: ".cache/vllm" },
];

#[derive(Debug, Serialize)]
struct Cache {
    framework: &'static str,
    folder: Utf8PathBuf,
    bytes: u64,
    /// Since something in it changed.
    age_seconds: u64,
}

#[derive(Debug, Serialize)]
struct Tool {
    name: &'static str,
    path: Option<Utf8PathBuf>,
    /// What krepro does with it.
    serves: &'static str,
}

const TOOLS: [(&str, &str); 4] = [
    ("cuobjdump", "instruction counts of a build"),
    ("compute-sanitizer", "run --sanitize"),
    ("cuda-gdb", "the source line that a hanging warp waits in"),
    ("python3", "toolchain install"),
];

impl Doctor {
    /// Runs it. Something missing is told, and no error.
    ///
    /// # Errors
    /// Only those of writing.
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let system = session.system;
        let found = toolchain::find(system, self.nvcc.as_deref(), None);
        let gpus = gpu::list(system);
        let tools = tools(system, found.as_ref().ok());
        let caches = caches(system);
        if session.global.json {
            let (toolchain, missing) = match &found {
                Ok(toolchain) => (Some(toolchain), None),
                Err(diagnostics) => (None, Some(diagnostics)),
            };
            session.print_json(&json!({
                "version": 1, "toolchain": toolchain, "toolchain_missing": missing, "gpus": gpus, "tools": tools, "caches": caches,
                "cutlass": install::cutlass(system),
            }))?;
            return Ok(Exit::Success);
        }
        match &found {
            Ok(t) => {
                writeln!(session.out(), "nvcc               {} {} ({})", t.nvcc, t.version, t.found_by)?;
                writeln!(session.out(), "host compiler      {} {} {}", t.host.path, t.host.family, t.host.version)?;
            }
            Err(diagnostics) => session.draw(diagnostics)?,
        }
        for gpu in &gpus {
            writeln!(session.out(), "GPU                {} {} (driver {})", gpu.name, gpu.arch, gpu.driver)?;
        }
        if gpus.is_empty() {
            writeln!(session.out(), "GPU                none that nvidia-smi tells of: run with --backend cpu")?;
        }
        for tool in &tools {
            let path = tool.path.as_ref().map_or("not found", |path| path.as_str());
            writeln!(session.out(), "{:<18} {path} ({})", tool.name, tool.serves)?;
        }
        for cache in &caches {
            let (size, age) = (size(cache.bytes), age(cache.age_seconds));
            writeln!(
                session.out(),
                "JIT cache          {}: {}, {size}, last changed {age} ago",
                cache.framework,
                cache.folder
            )?;
        }
        if caches.is_empty() {
            writeln!(session.out(), "JIT cache          none of a known framework")?;
        }
        Ok(Exit::Success)
    }
}

fn tools(system: &dyn System, toolchain: Option<&Toolchain>) -> Vec<Tool> {
    TOOLS.iter().map(|(name, serves)| Tool { name, path: find(system, toolchain, name), serves }).collect()
}

fn caches(system: &dyn System) -> Vec<Cache> {
    let home = system.env("HOME").map(Utf8PathBuf::from);
    let place = |known: &KnownCache| {
        let named = known.variables.iter().find_map(|name| system.env(name)).map(Utf8PathBuf::from);
        named.or_else(|| home.as_ref().map(|home| home.join(known.usual)))
    };
    let one = |known: &KnownCache| {
        let folder = place(known).filter(|folder| system.is_folder(folder))?;
        let (bytes, age_seconds) = system.usage(&folder)?;
        Some(Cache { framework: known.framework, folder, bytes, age_seconds })
    };
    CACHES.iter().filter_map(one).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

fn age(seconds: u64) -> String {
    match seconds {
        0..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::{age, caches, size};
    use crate::sys::Fake;

    #[test]
    fn caches_are_listed_where_variables_or_habit_put_them() {
        let system = Fake::new()
            .variable("HOME", "/h")
            .variable("TRITON_CACHE_DIR", "/t")
            .file("/t/x.cubin", "12345")
            .file("/h/.deep_gemm/cache/kernel.cubin", "1")
            .file("/h/.triton/cache/old", "not here: the variable moved it");
        let found: Vec<(&str, String, u64)> =
            caches(&system).into_iter().map(|c| (c.framework, c.folder.into_string(), c.bytes)).collect();
        assert_eq!(found, [("DeepGEMM", "/h/.deep_gemm".into(), 1), ("Triton", "/t".into(), 5)]);
    }

    #[test]
    fn sizes_and_ages_are_for_people() {
        assert_eq!((size(1), size(25_400_000), size(31_000_000_000)), ("1 kB".into(), "25 MB".into(), "31 GB".into()));
        assert_eq!((age(90), age(7200), age(864_000)), ("1 min".into(), "2 h".into(), "10 days".into()));
    }
}
