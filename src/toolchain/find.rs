//! Which nvcc to use: the first that is named or found, in one fixed order.

use camino::{Utf8Path, Utf8PathBuf};

use super::{cache, wheels};
use crate::diag::{Diagnostic, Diagnostics};
use crate::sys::{Request, System};

/// An nvcc, what led to it, and what was looked at before in vain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The executable.
    pub path: Utf8PathBuf,
    /// `--nvcc`, `$NVCC`, `$CUDA_HOME`, `PATH`, a folder, `python site-packages` or `krepro's cache`.
    pub by: String,
    /// Places without an nvcc, in order.
    pub passed: Vec<String>,
}

/// Folders where distributions put a toolkit.
const USUAL: [&str; 4] = ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"];

/// `--nvcc`, `$NVCC`, `$CUDA_HOME`, `$CUDA_PATH`, PATH, the usual folders, the active python's site-packages, krepro's
/// cache.
///
/// # Errors
/// When an explicit name leads nowhere, or nothing is found.
pub fn find(system: &dyn System, option: Option<&str>) -> Result<Found, Diagnostics> {
    let named = option.map(|name| (name.to_owned(), "--nvcc"));
    if let Some((name, by)) = named.or_else(|| system.env("NVCC").map(|name| (name, "$NVCC"))) {
        let path = explicit(system, &name).ok_or_else(|| {
            Diagnostic::error("K-TOOL-NVCC", format!("{by} names `{name}`, which is not an nvcc")).help(HELP)
        })?;
        return Ok(Found { path, by: by.to_owned(), passed: vec![] });
    }
    let mut passed = vec![];
    for (candidate, by) in candidates(system) {
        if system.is_file(&candidate) {
            return Ok(Found { path: candidate, by, passed });
        }
        passed.push(format!("{by}: {candidate} is not there"));
    }
    if let Some(path) = site_packages(system) {
        return Ok(Found { path, by: "python site-packages".to_owned(), passed });
    }
    passed.push("python site-packages: no nvidia/cu*/bin/nvcc".to_owned());
    let cached = cache::folder(system).ok().map(|folder| folder.join("toolchains"));
    for component in wheels::components().iter().filter(|c| c.always) {
        let Some(path) = cached.as_ref().map(|folder| folder.join(&component.name).join(&component.check)) else {
            continue;
        };
        if system.is_file(&path) {
            return Ok(Found { path, by: "krepro's cache".to_owned(), passed });
        }
        passed.push(format!("krepro's cache: {path} is not there"));
    }
    Err(Diagnostic::error("K-TOOL-NVCC", "no nvcc was found").because(passed.join("\n")).help(HELP).into())
}

/// The same without running a program, and without an error: what python has is not looked for.
pub fn known(system: &dyn System) -> Option<Utf8PathBuf> {
    if let Some(name) = system.env("NVCC") {
        return explicit(system, &name);
    }
    let cached = cache::folder(system).ok().map(|folder| folder.join("toolchains"));
    let inside = wheels::components().into_iter().filter(|c| c.always);
    let own = cached.into_iter().zip(inside).map(|(folder, c)| folder.join(&c.name).join(&c.check));
    let all: Vec<Utf8PathBuf> = candidates(system).into_iter().map(|(path, _)| path).chain(own).collect();
    all.into_iter().find(|path| system.is_file(path))
}

const HELP: &str = "`krepro toolchain install` puts nvcc 13.0 into krepro's cache (no root, no GPU needed); \
    or name one with --nvcc";

/// A path, or a name on PATH; a folder means the nvcc in its `bin`.
fn explicit(system: &dyn System, name: &str) -> Option<Utf8PathBuf> {
    let path = Utf8Path::new(name);
    let inside = path.join("bin/nvcc");
    if system.is_file(&inside) {
        return Some(inside);
    }
    system.which(name)
}

fn candidates(system: &dyn System) -> Vec<(Utf8PathBuf, String)> {
    let mut all = vec![];
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(folder) = system.env(name) {
            all.push((Utf8Path::new(&folder).join("bin/nvcc"), format!("${name}")));
        }
    }
    match system.which("nvcc") {
        Some(path) => all.push((path, "PATH".to_owned())),
        None => all.push(("nvcc".into(), "PATH".to_owned())),
    }
    let versioned = system.list("/usr/local".into()).into_iter().rev().filter(|name| name.starts_with("cuda-"));
    let usual = USUAL.iter().map(Utf8PathBuf::from).chain(versioned.map(|name| Utf8Path::new("/usr/local").join(name)));
    all.extend(usual.map(|folder| (folder.join("bin/nvcc"), folder.into_string())));
    all
}

/// PyPI's layout in the active python.
fn site_packages(system: &dyn System) -> Option<Utf8PathBuf> {
    let python = ["python3", "python"].iter().find_map(|name| system.which(name))?;
    let script = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let finished = system.run(&Request::new(python.as_str()).arguments(["-c", script])).ok()?;
    let text = finished.text();
    let base = Utf8Path::new(text.lines().next()?).join("nvidia");
    system.list(&base).into_iter().rev().map(|name| base.join(name).join("bin/nvcc")).find(|path| system.is_file(path))
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::diag::{Diagnostic, Diagnostics};
    use crate::sys::Fake;

    fn first(diagnostics: Diagnostics) -> Diagnostic {
        diagnostics.into_iter().next().unwrap()
    }

    fn full() -> Fake {
        Fake::default()
            .variable("PATH", "/bin")
            .variable("KREPRO_CACHE", "/k")
            .variable("CUDA_HOME", "/home/cuda")
            .file("/bin/python3", "")
            .file("/n/nvcc", "")
            .file("/e/nvcc", "")
            .file("/home/cuda/bin/nvcc", "")
            .file("/bin/nvcc", "")
            .file("/usr/local/cuda-13.1/bin/nvcc", "")
            .file("/py/nvidia/cu13/bin/nvcc", "")
            .file("/k/toolchains/cuda-13.0.88/nvidia/cu13/bin/nvcc", "")
            .program("/bin/python3 -c", 0, "/py\n")
    }

    fn without(system: &Fake, path: &str) {
        system.files().remove(camino::Utf8Path::new(path)).unwrap();
    }

    #[test]
    fn each_place_is_used_when_those_before_it_have_none() {
        let system = full().variable("NVCC", "/e/nvcc");
        assert_eq!(find(&system, Some("/n/nvcc")).unwrap().by, "--nvcc");
        assert_eq!(find(&system, None).unwrap().by, "$NVCC");
        let system = full();
        let order = [
            ("$CUDA_HOME", "/home/cuda/bin/nvcc"),
            ("PATH", "/bin/nvcc"),
            ("/usr/local/cuda-13.1", "/usr/local/cuda-13.1/bin/nvcc"),
            ("python site-packages", "/py/nvidia/cu13/bin/nvcc"),
            ("krepro's cache", "/k/toolchains/cuda-13.0.88/nvidia/cu13/bin/nvcc"),
        ];
        for (by, path) in order {
            let found = find(&system, None).unwrap();
            assert_eq!((found.by.as_str(), found.path.as_str()), (by, path));
            without(&system, path);
        }
        let error = first(find(&system, None).unwrap_err());
        assert!(error.help[0].contains("krepro toolchain install"), "{error:?}");
        assert!(error.notes[0].contains("$CUDA_HOME: /home/cuda/bin/nvcc is not there"), "{error:?}");
    }

    #[test]
    fn an_explicit_name_that_leads_nowhere_is_an_error_not_a_search() {
        let error = first(find(&full().variable("NVCC", "/gone"), None).unwrap_err());
        assert_eq!(error.message, "$NVCC names `/gone`, which is not an nvcc");
    }

    #[test]
    fn a_toolkit_folder_may_be_named() {
        assert_eq!(find(&full(), Some("/home/cuda")).unwrap().path, "/home/cuda/bin/nvcc");
    }
}
