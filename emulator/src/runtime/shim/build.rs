//! Compiling the shim, once for each version of its sources.

use super::sources::{self, Library};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why there is no shim.
#[derive(Debug, thiserror::Error)]
pub enum ShimError {
    /// The host compiler did not start.
    #[error("the host compiler {compiler} does not start: {source}")]
    Start {
        /// The compiler.
        compiler: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The host compiler failed.
    #[error("the host compiler {compiler} cannot build {library} of the CPU backend:\n{output}")]
    Compile {
        /// The compiler.
        compiler: PathBuf,
        /// The library being built.
        library: &'static str,
        /// What it printed.
        output: String,
    },
    /// A file error.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Drafts of this process, so that its threads do not build in one folder.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// The folder with `libcudart.so.13` and `libcuda.so.1`, under `cache_dir`; built by `host_compiler` (any C or C++
/// compiler with GCC's options) unless it is there already.
///
/// # Errors
///
/// [`ShimError`] when the compiler or the file system refuses.
pub fn build(host_compiler: &Path, cache_dir: &Path) -> Result<PathBuf, ShimError> {
    let folder = cache_dir.join(format!("cpu-backend-{}", sources::identity()));
    if folder.is_dir() {
        return Ok(folder);
    }
    // Built aside and renamed, so that the folder is there whole or not at all.
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = cache_dir.join(format!("cpu-backend-{}.{}.{number}", sources::identity(), std::process::id()));
    let made = build_in(&draft, host_compiler).and_then(|()| match std::fs::rename(&draft, &folder) {
        Err(_) if folder.is_dir() => Ok(()), // another krepro was faster
        other => other.map_err(|source| ShimError::File { path: folder.clone(), source }),
    });
    // What is left of a draft is of no use; failing to remove it harms nothing.
    let _ = std::fs::remove_dir_all(&draft);
    made.map(|()| folder)
}

fn build_in(draft: &Path, compiler: &Path) -> Result<(), ShimError> {
    for (path, text) in sources::files() {
        let path = draft.join(path);
        let parent = path.parent().unwrap_or(draft);
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text));
        written.map_err(|source| ShimError::File { path, source })?;
    }
    for library in sources::libraries() {
        compile(draft, compiler, &library)?;
        if let Some(name) = library.link_name {
            let link = draft.join(name);
            std::os::unix::fs::symlink(library.file, &link).map_err(|source| ShimError::File { path: link, source })?;
        }
    }
    Ok(())
}

fn compile(draft: &Path, compiler: &Path, library: &Library) -> Result<(), ShimError> {
    let mut command = Command::new(compiler);
    command.current_dir(draft).args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"]);
    command.args(["-Wall", "-Wextra", "-I.", "-Icore", "-o", library.file]);
    // g++ forgets the language after each file.
    command.args(library.units.iter().flat_map(|unit| ["-x", "c", unit]));
    command.arg(format!("-Wl,-soname,{}", library.file)).args(["-Wl,-rpath,$ORIGIN", "-x", "none"]);
    if let Some(script) = library.version_script {
        command.arg(format!("-Wl,--version-script={script}")).arg("./libkrepro-core.so");
    }
    command.args(["-ldl", "-lpthread"]);
    let output = command.output().map_err(|source| ShimError::Start { compiler: compiler.to_owned(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(ShimError::Compile { compiler: compiler.to_owned(), library: library.file, output })
}
