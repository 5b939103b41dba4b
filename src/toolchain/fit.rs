//! Whether an nvcc can build for an architecture.

use super::{Toolchain, Version};
use crate::diag::Diagnostic;
use crate::model::GpuArch;
use crate::sys::{Request, System};

/// The first nvcc for an architecture and the one before it that dropped an old one (release notes; messages 30 and 31 of the
/// explainer were seen for these).
const SINCE: [(u32, Version); 8] = [
    (90, Version(12, 0, 0)),
    (100, Version(12, 8, 0)),
    (101, Version(12, 8, 0)),
    (103, Version(12, 9, 0)),
    (110, Version(13, 0, 0)),
    (120, Version(12, 8, 0)),
    (121, Version(12, 9, 0)),
    (89, Version(11, 8, 0)),
];

/// What is wrong with this nvcc for `arch`, if anything: it is too old, or the architecture is retired or unknown.
pub fn refusal(system: &dyn System, toolchain: &Toolchain, arch: GpuArch) -> Option<Diagnostic> {
    let (nvcc, version) = (&toolchain.nvcc, toolchain.version);
    let family = arch.suffix == Some('f') && version < Version(12, 9, 0);
    let since = SINCE.iter().find(|(number, _)| *number == arch.number).map(|(_, since)| *since);
    let since = if family { since.max(Some(Version(12, 9, 0))) } else { since };
    if let Some(since) = since.filter(|since| version < *since) {
        let message = format!("{nvcc} is {version}, and {arch} needs nvcc {}.{} or newer", since.0, since.1);
        return Some(
            Diagnostic::error("K-TOOL-ARCH", message)
                .help("name a newer one with --nvcc, or get 13.0 with `krepro toolchain install`"),
        );
    }
    let listed = system.run(&Request::new(nvcc.as_str()).arguments(["--list-gpu-arch"])).ok()?;
    let text = listed.text();
    let known: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("compute_")).collect();
    let wanted = format!("compute_{}", arch.number);
    if known.is_empty() || known.iter().any(|name| name.trim_end_matches(['a', 'f']) == wanted) {
        return None;
    }
    let message = format!("{nvcc} {version} does not build for {arch}");
    Some(
        Diagnostic::error("K-TOOL-ARCH", message)
            .because(format!("it knows {}", known.join(", ")))
            .help("an architecture that it no longer knows needs an older nvcc (--nvcc); Thor is sm_110 since CUDA 13"),
    )
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use crate::sys::{Fake, HostTool};
    use crate::toolchain::{Toolchain, find};

    fn machine(version: &str) -> (Fake, Toolchain) {
        let host = Some(HostTool { path: "/c++".into(), clang: false });
        let system = Fake { host, ..Fake::default() }
            .file("/n/bin/nvcc", "")
            .program("/n/bin/nvcc --version", 0, &format!("Cuda compilation tools, release 12, V{version}\n"))
            .program("/n/bin/nvcc --dryrun", 0, "")
            .program("/n/bin/nvcc --list-gpu-arch", 0, "compute_80\ncompute_90\ncompute_100\n")
            .program("/c++", 0, "12.2.0\n");
        let found = find(&system, Some("/n/bin/nvcc"), None).unwrap();
        (system, found)
    }

    fn message(version: &str, arch: &str) -> Option<String> {
        let (system, toolchain) = machine(version);
        refusal(&system, &toolchain, arch.parse().unwrap()).map(|d| d.message)
    }

    #[test]
    fn an_nvcc_that_is_too_old_is_told_with_the_version_needed() {
        assert_eq!(message("12.8.61", "sm_100a"), None);
        assert_eq!(
            message("12.4.99", "sm_100a").unwrap(),
            "/n/bin/nvcc is 12.4.99, and sm_100a needs nvcc 12.8 or newer"
        );
        assert!(message("12.8.61", "sm_100f").unwrap().ends_with("needs nvcc 12.9 or newer"));
        assert_eq!(message("12.8.61", "sm_90a"), None);
    }

    #[test]
    fn a_retired_architecture_is_told() {
        assert_eq!(message("13.0.88", "sm_70").unwrap(), "/n/bin/nvcc 13.0.88 does not build for sm_70");
    }
}
