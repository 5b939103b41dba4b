//! The folders `link` and `stubs` beside the executable: libraries under the names that a linker looks for.

use std::io;

use camino::Utf8Path;

use super::stub;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{LINK_FOLDER, STUB_FOLDER};
use crate::sys::{Request, System};
use crate::toolchain::Toolchain;

/// Fills both folders under `build`; what stands there from another toolkit is replaced.
///
/// # Errors
/// A toolkit without its run-time library, a stub that does not compile, a file error.
pub fn prepare(system: &dyn System, toolchain: &Toolchain, build: &Utf8Path, libcuda: bool) -> Result<(), Diagnostics> {
    let Some(cudart) = &toolchain.layout.cudart else {
        let root = &toolchain.layout.root;
        let message = format!("the toolkit at {root} has no libcudart.so: its run-time library is not installed");
        return Err(Diagnostic::error("K-TOOL-CUDART", message)
            .help("install it (the wheel is nvidia-cuda-runtime), or use `krepro toolchain install`")
            .into());
    };
    let result = links(system, cudart, &build.join(LINK_FOLDER));
    result.map_err(|e| Diagnostics::from(Diagnostic::error("K-FILE", e.to_string())))?;
    if libcuda { driver_library(system, toolchain, &build.join(STUB_FOLDER)) } else { Ok(()) }
}

fn links(system: &dyn System, cudart: &Utf8Path, folder: &Utf8Path) -> io::Result<()> {
    system.make_folder(folder)?;
    let real = system.real_path(cudart);
    system.link(&real, &folder.join("libcudart.so"))?;
    // The name that the loader asks for: that of the library's own file up to its major version.
    let name = real.file_name().unwrap_or("libcudart.so");
    let soname: Vec<&str> = name.splitn(4, '.').take(3).collect();
    system.link(&real, &folder.join(soname.join(".")))?;
    if let Some(home) = cudart.parent() {
        let device = home.join("libcudadevrt.a");
        if system.is_file(&device) {
            system.link(&system.real_path(&device), &folder.join("libcudadevrt.a"))?;
        }
    }
    Ok(())
}

/// The installed libcuda, else a stub of our own making.
fn driver_library(system: &dyn System, toolchain: &Toolchain, folder: &Utf8Path) -> Result<(), Diagnostics> {
    let file_error = |e: io::Error| Diagnostics::from(Diagnostic::error("K-FILE", e.to_string()));
    system.make_folder(folder).map_err(file_error)?;
    let library = folder.join("libcuda.so");
    if let Some(installed) = &toolchain.layout.libcuda {
        return system.link(&system.real_path(installed), &library).map_err(file_error);
    }
    if system.is_file(&library) {
        return Ok(());
    }
    let Some(include) = &toolchain.layout.include else {
        return Err(
            Diagnostic::error("K-TOOL-CUDA-H", "cuda.h, from which a stub libcuda is made, was not found").into()
        );
    };
    let header = system.read(&include.join("cuda.h")).map_err(file_error)?;
    let source = folder.join("libcuda.c");
    system.write(&source, stub::source(&String::from_utf8_lossy(&header)).as_bytes()).map_err(file_error)?;
    let request = Request::new(toolchain.host.path.as_str())
        .arguments(["-x", "c", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", "libcuda.so", "libcuda.c"])
        .folder(folder);
    let finished = system.run(&request).map_err(file_error)?;
    if finished.success() {
        return Ok(());
    }
    Err(Diagnostic::error("K-BUILD-STUB", "the stub libcuda does not compile").because(finished.all_text()).into())
}
