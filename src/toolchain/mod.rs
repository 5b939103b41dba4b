//! The CUDA toolchain of this machine: nvcc, its folders, the host compiler behind it, and how to get one.

pub mod cache;
mod find;
pub mod fit;
pub mod gpu;
pub mod host;
pub mod install;
mod layout;
mod version;
mod wheels;

use camino::Utf8PathBuf;
use serde::Serialize;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Fact;
use crate::source::{Source, Spot};
use crate::sys::{Request, System};

pub use host::HostCompiler;
pub use layout::Layout;
pub use version::Version;
pub use wheels::Component;

/// What compiles and links on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// The nvcc.
    pub nvcc: Utf8PathBuf,
    /// What led to it.
    pub found_by: String,
    /// Its version.
    pub version: Version,
    /// Its folders.
    #[serde(flatten)]
    pub layout: Layout,
    /// The host compiler.
    pub host: HostCompiler,
    /// Up to which versions this nvcc takes host compilers.
    pub host_limit: host::Limit,
    /// Where an nvcc was looked for before, in vain.
    pub passed_over: Vec<String>,
}

/// `MAJOR.MINOR` of the toolkit here, out of its cuda.h: no program is run for it.
pub fn release(system: &dyn System) -> Option<Fact<String>> {
    let path = find::known(system)?;
    let header = layout::of(system, &path).include?.join("cuda.h");
    let source = Source::new(header.as_str(), system.read(&header).ok()?);
    let text = source.text();
    let at = text.find("#define CUDA_VERSION ")?;
    let number: u32 = text[at..].split_whitespace().nth(2)?.parse().ok()?;
    let place = Spot::new(&source, at..at + 1).place();
    let expr = format!("CUDA_VERSION {number}");
    Some(Fact::read(format!("{}.{}", number / 1000, number % 1000 / 10), place, expr))
}

/// Finds nvcc and the host compiler. `ccbin` is the one that the log names.
///
/// # Errors
/// One clear error: no nvcc, an nvcc that does not run, no host compiler, or a host compiler that this nvcc refuses.
pub fn find(system: &dyn System, nvcc: Option<&str>, ccbin: Option<&str>) -> Result<Toolchain, Diagnostics> {
    let found = find::find(system, nvcc)?;
    let request = Request::new(found.path.as_str()).arguments(["--version"]);
    let unfit = |why: String| {
        Diagnostic::error("K-TOOL-NVCC", format!("{} ({}) is not a fit nvcc: {why}", found.path, found.by))
            .help("name another with --nvcc, or get one with `krepro toolchain install`")
    };
    let finished = system.run(&request).map_err(|error| unfit(error.to_string()))?;
    let version =
        version::of_nvcc(&finished.all_text()).ok_or_else(|| unfit("it does not tell its version".to_owned()))?;
    let layout = layout::of(system, &found.path);
    let config = layout.include.as_ref().map(|folder| folder.join("crt/host_config.h"));
    let config = config.and_then(|path| system.read(&path).ok()).unwrap_or_default();
    let host_limit = host::limit(&String::from_utf8_lossy(&config));
    let host = host::find(system, ccbin)?;
    if let Some(refusal) = host::refusal(&host, host_limit, version) {
        return Err(refusal.into());
    }
    Ok(Toolchain { nvcc: found.path, found_by: found.by, version, layout, host, host_limit, passed_over: found.passed })
}
