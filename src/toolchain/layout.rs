//! Where the parts of a CUDA toolkit lie, whatever its layout.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::sys::{Request, System};

/// The folders of a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// The folder above `bin`.
    pub root: Utf8PathBuf,
    /// The folder of `cuda_runtime.h`.
    pub include: Option<Utf8PathBuf>,
    /// The run-time library, under whatever name it has.
    pub cudart: Option<Utf8PathBuf>,
    /// A `libcuda.so` that may be linked against.
    pub libcuda: Option<Utf8PathBuf>,
}

/// Folders where a driver's `libcuda.so` is usually found.
const DRIVER_FOLDERS: [&str; 5] =
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib"];

/// Looks around the nvcc at `nvcc`.
pub fn of(system: &dyn System, nvcc: &Utf8Path) -> Layout {
    let root = root(system, nvcc);
    let targets: Vec<Utf8PathBuf> =
        system.list(&root.join("targets")).iter().map(|name| root.join("targets").join(name)).collect();
    let include = std::iter::once(root.clone())
        .chain(targets.iter().cloned())
        .map(|folder| folder.join("include"))
        .find(|folder| system.is_file(&folder.join("cuda_runtime.h")));
    let libraries: Vec<Utf8PathBuf> =
        [root.join("lib64"), root.join("lib")].into_iter().chain(targets.iter().map(|t| t.join("lib"))).collect();
    let cudart = libraries.iter().find_map(|folder| shared_library(system, folder, "libcudart.so"));
    let stubs = libraries.iter().map(|folder| folder.join("stubs"));
    let libcuda = stubs
        .chain(DRIVER_FOLDERS.iter().map(Utf8PathBuf::from))
        .map(|folder| folder.join("libcuda.so"))
        .find(|file| system.is_file(file));
    Layout { root, include, cudart, libcuda }
}

/// nvcc itself knows its root: it may be a script or a link far from it.
fn root(system: &dyn System, nvcc: &Utf8Path) -> Utf8PathBuf {
    let request = Request::new(nvcc.as_str()).arguments(["--dryrun", "-E", "-x", "cu", "/dev/null"]);
    let told = system.run(&request).ok().and_then(|finished| {
        let text = finished.all_text();
        let top = text.lines().find_map(|line| line.strip_prefix("#$ TOP="))?;
        Some(system.real_path(Utf8Path::new(top.trim())))
    });
    told.unwrap_or_else(|| {
        let real = system.real_path(nvcc);
        real.parent().and_then(Utf8Path::parent).map_or_else(|| Utf8PathBuf::from("/"), Utf8Path::to_owned)
    })
}

/// `NAME`, else the newest `NAME.NN`.
fn shared_library(system: &dyn System, folder: &Utf8Path, name: &str) -> Option<Utf8PathBuf> {
    let plain = folder.join(name);
    if system.is_file(&plain) {
        return Some(plain);
    }
    let newest =
        system.list(folder).into_iter().filter(|n| n.starts_with(&format!("{name}."))).max_by_key(|n| n.len())?;
    Some(folder.join(newest))
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::sys::Fake;

    #[test]
    fn the_layout_of_the_wheels_is_understood() {
        let system = Fake::default()
            .program("/w/cu13/bin/nvcc --dryrun", 0, "#$ _SPACE_= \n#$ TOP=/w/cu13\n")
            .file("/w/cu13/include/cuda_runtime.h", "")
            .file("/w/cu13/lib/libcudart.so.13", "");
        let layout = of(&system, "/w/cu13/bin/nvcc".into());
        assert_eq!(layout.root, "/w/cu13");
        assert_eq!(layout.include.unwrap(), "/w/cu13/include");
        assert_eq!(layout.cudart.unwrap(), "/w/cu13/lib/libcudart.so.13");
        assert_eq!(layout.libcuda, None);
    }

    #[test]
    fn a_script_on_path_leads_to_the_toolkit() {
        let system = Fake::default()
            .program("/usr/bin/nvcc --dryrun", 0, "#$ TOP=/usr/lib/cuda\n")
            .file("/usr/lib/cuda/targets/sbsa-linux/include/cuda_runtime.h", "")
            .file("/usr/lib/cuda/lib64/libcudart.so", "")
            .file("/usr/lib/cuda/lib64/stubs/libcuda.so", "");
        let layout = of(&system, "/usr/bin/nvcc".into());
        assert_eq!(layout.include.unwrap(), "/usr/lib/cuda/targets/sbsa-linux/include");
        assert_eq!(layout.libcuda.unwrap(), "/usr/lib/cuda/lib64/stubs/libcuda.so");
    }

    #[test]
    fn without_an_answer_the_path_is_used() {
        assert_eq!(of(&Fake::default(), "/opt/cuda/bin/nvcc".into()).root, "/opt/cuda");
    }
}
