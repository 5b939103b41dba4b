//! Pinned wheels into krepro's cache, with pip's own configuration and without root.

use camino::{Utf8Path, Utf8PathBuf};

use super::wheels::Component;
use super::{cache, wheels};
use crate::diag::{Diagnostic, Diagnostics};
use crate::sys::{Request, System};

/// What an installation is told and tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The component was there before.
    There(Utf8PathBuf),
    /// pip begins; so many wheels will follow.
    Begin(usize),
    /// pip has turned to the next wheel.
    Wheel(String),
    /// The component is in place.
    Done(Utf8PathBuf),
}

/// The components wanted: those that always are, and CUTLASS when asked for.
pub fn wanted(cutlass: bool) -> Vec<Component> {
    wheels::components().into_iter().filter(|c| c.always || (cutlass && c.name.starts_with("cutlass"))).collect()
}

/// The include folder of CUTLASS in krepro's cache, when it is there.
pub fn cutlass(system: &dyn System) -> Option<Utf8PathBuf> {
    let component = wheels::components().into_iter().find(|c| c.name.starts_with("cutlass"))?;
    let check = folder(system, &component).ok()?.join(&component.check);
    system.is_file(&check).then(|| check.parent().and_then(Utf8Path::parent).map(Utf8Path::to_owned))?
}

/// Where a component lies, whether it is there or not.
///
/// # Errors
/// When the cache has no place.
pub fn folder(system: &dyn System, component: &Component) -> Result<Utf8PathBuf, Diagnostics> {
    Ok(cache::folder(system)?.join("toolchains").join(&component.name))
}

/// Installs a component into a temporary folder beside its place and renames it there, so that it is whole or absent; does
/// nothing when it is there.
///
/// # Errors
/// No python3 with pip, what pip said, or a file error.
pub fn install(
    system: &dyn System,
    component: &Component,
    tell: &mut dyn FnMut(Step),
) -> Result<Utf8PathBuf, Diagnostics> {
    let place = folder(system, component)?;
    if system.is_file(&place.join(&component.check)) {
        tell(Step::There(place.clone()));
        return Ok(place);
    }
    let python = python(system)?;
    let parent = place.parent().unwrap_or(Utf8Path::new("."));
    system.make_folder(parent).map_err(|e| file_error(&e))?;
    let work = parent.join(format!(".{}-{}", component.name, std::process::id()));
    system.remove(&work).map_err(|e| file_error(&e))?;
    let result =
        fill(system, component, python.as_str(), &work, tell).and_then(|()| settle(system, &work, &place, component));
    // Whatever happened, nothing half done stays behind; after success the folder has been renamed away.
    let _ = system.remove(&work);
    result?;
    tell(Step::Done(place.clone()));
    Ok(place)
}

fn fill(
    system: &dyn System,
    component: &Component,
    python: &str,
    work: &Utf8Path,
    tell: &mut dyn FnMut(Step),
) -> Result<(), Diagnostics> {
    tell(Step::Begin(component.wheels.len()));
    let options = ["-m", "pip", "install", "--no-deps", "--only-binary", ":all:", "--no-compile"];
    let request = Request::new(python)
        .arguments(options)
        .arguments(["--disable-pip-version-check", "--progress-bar", "off", "--target", work.as_str()])
        .arguments(component.wheels.iter().cloned());
    let finished = system
        .run_streaming(&request, &mut |_, line| {
            if let Some(wheel) = line.strip_prefix("Collecting ") {
                tell(Step::Wheel(wheel.split([' ', '=']).next().unwrap_or(wheel).to_owned()));
            }
        })
        .map_err(|e| file_error(&e))?;
    if !finished.success() {
        let text = finished.all_text();
        let said: Vec<&str> = text.lines().filter(|l| l.starts_with("ERROR") || l.starts_with("error")).collect();
        let said = if said.is_empty() { text.lines().rev().take(3).collect() } else { said };
        return Err(Diagnostic::error("K-TOOL-PIP", format!("pip could not install {}", component.what))
            .because(said.join("\n"))
            .help(format!("see what it says by hand: {}", request.words().join(" ")))
            .into());
    }
    mend(system, work).map_err(|e| file_error(&e))
}

/// The wheels' layout lacks three names that nvcc and ld look for: `lib64`, `libcudart.so` and `lib/stubs`.
fn mend(system: &dyn System, work: &Utf8Path) -> std::io::Result<()> {
    let root = work.join("nvidia/cu13");
    if !system.is_folder(&root.join("lib")) {
        return Ok(());
    }
    system.link("lib".into(), &root.join("lib64"))?;
    let names = system.list(&root.join("lib"));
    if let Some(name) = names.iter().rev().find(|name| name.starts_with("libcudart.so.")) {
        system.link(name.as_str().into(), &root.join("lib/libcudart.so"))?;
    }
    system.make_folder(&root.join("lib/stubs"))
}

fn settle(system: &dyn System, work: &Utf8Path, place: &Utf8Path, component: &Component) -> Result<(), Diagnostics> {
    if !system.is_file(&work.join(&component.check)) {
        return Err(Diagnostic::error("K-TOOL-PIP", format!("pip ended well, but {} is missing", component.check))
            .help("krepro needs wheels for Linux on x86-64 or aarch64; elsewhere set NVCC to an installed nvcc")
            .into());
    }
    match system.rename(work, place) {
        // Another krepro was faster: its folder is as good as ours.
        Err(_) if system.is_file(&place.join(&component.check)) => Ok(()),
        result => result.map_err(|e| file_error(&e)),
    }
}

fn python(system: &dyn System) -> Result<Utf8PathBuf, Diagnostics> {
    let with_pip = ["python3", "python"].iter().find_map(|name| {
        let path = system.which(name)?;
        let request = Request::new(path.as_str()).arguments(["-m", "pip", "--version"]);
        system.run(&request).ok()?.success().then_some(path)
    });
    with_pip.ok_or_else(|| {
        Diagnostic::error("K-TOOL-PYTHON", "no python3 with pip is on PATH")
            .help("install python3-pip (a virtual environment will do)")
            .help("or set NVCC to an nvcc that is installed")
            .into()
    })
}

fn file_error(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error("K-FILE", error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::{Step, install, wanted};
    use crate::sys::{Fake, System};

    fn machine() -> Fake {
        Fake::default().variable("KREPRO_CACHE", "/k").variable("PATH", "/bin").file("/bin/python3", "").program(
            "/bin/python3 -m pip --version",
            0,
            "pip 23",
        )
    }

    #[test]
    fn a_component_that_is_there_is_left_alone() {
        let system = Fake::default().variable("KREPRO_CACHE", "/k");
        let system = system.file("/k/toolchains/cuda-13.0.88/nvidia/cu13/bin/nvcc", "");
        let mut steps = vec![];
        let place = install(&system, &wanted(false)[0], &mut |s| steps.push(s)).unwrap();
        assert_eq!(steps, [Step::There(place)]);
        assert!(system.ran().is_empty());
    }

    #[test]
    fn what_pip_said_is_passed_on_and_nothing_stays() {
        let said = "Collecting nvidia-cuda-nvcc==13.0.88\nERROR: No matching distribution found\n";
        let system = machine().program("/bin/python3 -m pip install", 1, said);
        let mut steps = vec![];
        let error =
            install(&system, &wanted(false)[0], &mut |s| steps.push(s)).unwrap_err().into_iter().next().unwrap();
        assert_eq!(error.code, "K-TOOL-PIP");
        assert_eq!(error.notes, ["ERROR: No matching distribution found"]);
        assert_eq!(steps, [Step::Begin(7), Step::Wheel("nvidia-cuda-nvcc".into())]);
        assert!(!system.is_folder("/k".into()));
    }

    #[test]
    fn a_success_without_the_compiler_is_an_error() {
        let system = machine().program("/bin/python3 -m pip install", 0, "");
        let error = install(&system, &wanted(false)[0], &mut |_| {}).unwrap_err().into_iter().next().unwrap();
        assert!(error.message.contains("nvidia/cu13/bin/nvcc is missing"), "{}", error.message);
    }

    #[test]
    fn no_python_is_one_clear_error() {
        let system = Fake::default().variable("KREPRO_CACHE", "/k");
        assert_eq!(
            install(&system, &wanted(false)[0], &mut |_| {}).unwrap_err().iter().next().unwrap().code,
            "K-TOOL-PYTHON"
        );
    }

    #[test]
    fn cutlass_comes_when_asked_for() {
        assert_eq!(wanted(false).len(), 1);
        assert_eq!(wanted(true)[1].name, "cutlass-4.2.0");
    }
}
