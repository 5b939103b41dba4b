//! The host compiler behind nvcc, and whether this nvcc takes it.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::version::Version;
use crate::diag::{Diagnostic, Diagnostics};
use crate::sys::{Request, System};

/// A host C++ compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostCompiler {
    /// Where it is.
    pub path: Utf8PathBuf,
    /// `gcc` or `clang`.
    pub family: &'static str,
    /// Its version.
    pub version: Version,
    /// What named it.
    pub found_by: String,
}

/// The first major versions that nvcc's `crt/host_config.h` refuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// Newest GCC that is taken.
    pub gcc: Option<u32>,
    /// Newest clang that is taken.
    pub clang: Option<u32>,
}

/// Reads the limit out of the text of `crt/host_config.h`.
pub fn limit(text: &str) -> Limit {
    let after = |line: &str, mark: &str| -> Option<u32> {
        let tail = line.split_once(mark)?.1.trim_start();
        tail.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    let conditions = || text.lines().map(str::trim).filter(|line| line.starts_with("#if"));
    Limit {
        gcc: conditions().find_map(|line| after(line, "__GNUC__ > ")),
        clang: conditions().find_map(|line| after(line, "(__clang_major__ >= ")).and_then(|first| first.checked_sub(1)),
    }
}

/// The compiler that the log names (`ccbin`), else `$NVCC_CCBIN`, else what the `cc` crate finds (`CXX`, then `c++`).
///
/// # Errors
/// No compiler, or one that does not say its version.
pub fn find(system: &dyn System, ccbin: Option<&str>) -> Result<HostCompiler, Diagnostics> {
    let named = ccbin.map(|path| (path.to_owned(), "-ccbin".to_owned()));
    let named = named.or_else(|| system.env("NVCC_CCBIN").map(|path| (path, "$NVCC_CCBIN".to_owned())));
    let (path, clang, found_by) = match named {
        Some((name, by)) => {
            let path = executable(system, &name).ok_or_else(|| {
                missing(format!("the host compiler `{name}` ({by}) is not there"))
                    .help("install it, or name another with NVCC_CCBIN")
            })?;
            let clang = path.file_name().is_some_and(|n| n.contains("clang"));
            (path, clang, by)
        }
        None => {
            let tool = system.host_compiler().map_err(|why| {
                missing(format!("no host C++ compiler was found: {why}")).help("install g++, or name one with CXX")
            })?;
            let by = if system.env("CXX").is_some() { "$CXX" } else { "PATH" };
            (tool.path, tool.clang, by.to_owned())
        }
    };
    let version = version(system, &path, clang)
        .ok_or_else(|| missing(format!("{path} does not tell its version with -dumpversion")))?;
    Ok(HostCompiler { path, family: if clang { "clang" } else { "gcc" }, version, found_by })
}

/// A `-ccbin` may be a file, a folder that holds g++, or a name on PATH.
fn executable(system: &dyn System, name: &str) -> Option<Utf8PathBuf> {
    let path = Utf8Path::new(name);
    if system.is_folder(path) {
        return ["g++", "c++"].iter().map(|file| path.join(file)).find(|file| system.is_file(file));
    }
    system.which(name)
}

fn version(system: &dyn System, path: &Utf8Path, clang: bool) -> Option<Version> {
    let options: &[&str] = if clang { &["-dumpversion"] } else { &["-dumpfullversion", "-dumpversion"] };
    let finished = system.run(&Request::new(path.as_str()).arguments(options.iter().copied())).ok()?;
    finished.text().lines().next()?.parse().ok()
}

/// What is wrong with this compiler under this limit, if anything.
pub fn refusal(host: &HostCompiler, limit: Limit, nvcc: Version) -> Option<Diagnostic> {
    let newest = if host.family == "clang" { limit.clang? } else { limit.gcc? };
    if host.version.0 <= newest {
        return None;
    }
    let (family, path, version) = (host.family, &host.path, host.version);
    let other = if family == "clang" { "clang++" } else { "g++" };
    let message = format!("nvcc {nvcc} takes {family} up to {newest}, and {path} ({}) is {version}", host.found_by);
    Some(
        Diagnostic::error("K-TOOL-HOST", message)
            .because("the limit stands in crt/host_config.h of this toolkit")
            .help(format!("name an older one: NVCC_CCBIN={other}-{newest}"))
            .help("or use a newer nvcc (--nvcc)"),
    )
}

fn missing(message: String) -> Diagnostic {
    Diagnostic::error("K-TOOL-HOST", message)
}

#[cfg(test)]
mod tests {
    use super::{HostCompiler, Limit, find, limit, refusal};
    use crate::sys::{Fake, HostTool};
    use crate::toolchain::Version;

    const CONFIG: &str = "#if defined(__GNUC__)\n#if __GNUC__ > 15\n#error -- unsupported GNU version!\n#endif\n\
        #if (__clang_major__ >= 21) || (__clang_major__ < 3)\n#error\n#endif\n";

    fn machine() -> Fake {
        let host = Some(HostTool { path: "/usr/bin/c++".into(), clang: false });
        Fake { host, ..Fake::default() }
            .program("/usr/bin/c++ -dumpfullversion", 0, "16.1.0\n")
            .program("/opt/g++-12 -dumpfullversion", 0, "12.2.0\n")
            .file("/opt/g++-12", "")
    }

    #[test]
    fn the_limits_of_the_header_are_read() {
        assert_eq!(limit(CONFIG), Limit { gcc: Some(15), clang: Some(20) });
        assert_eq!(limit("#define X 1\n"), Limit::default());
    }

    #[test]
    fn a_compiler_that_is_too_new_is_refused_before_the_build() {
        let host = find(&machine(), None).unwrap();
        let error = refusal(&host, limit(CONFIG), Version(13, 0, 88)).unwrap();
        assert_eq!(error.message, "nvcc 13.0.88 takes gcc up to 15, and /usr/bin/c++ (PATH) is 16.1.0");
        assert_eq!(error.help[0], "name an older one: NVCC_CCBIN=g++-15");
    }

    #[test]
    fn the_log_comes_before_the_environment() {
        let system = machine().variable("NVCC_CCBIN", "/no/such");
        let host = find(&system, Some("/opt/g++-12")).unwrap();
        let expected = HostCompiler {
            path: "/opt/g++-12".into(),
            family: "gcc",
            version: Version(12, 2, 0),
            found_by: "-ccbin".into(),
        };
        assert_eq!(host, expected);
        assert_eq!(refusal(&host, limit(CONFIG), Version(13, 0, 88)), None);
        assert!(
            find(&system, None)
                .unwrap_err()
                .iter()
                .next()
                .unwrap()
                .message
                .contains("`/no/such` ($NVCC_CCBIN) is not there")
        );
    }
}
