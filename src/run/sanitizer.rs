//! The executable under compute-sanitizer.

use std::io;

use camino::Utf8Path;

use super::{GRACE, Start};
use crate::model::SanitizerTool;
use crate::sys::{Finished, Request, System};

/// Options that not every version has: each is given where `--help` names it.
const OPTIONAL: [(SanitizerTool, &str, &str); 2] =
    [(SanitizerTool::Memcheck, "--check-tensor-ops", "yes"), (SanitizerTool::Memcheck, "--check-bulk-copy", "yes")];

/// What a tool said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanitized {
    /// The tool's own output.
    pub text: String,
    /// The command line.
    pub command: Vec<String>,
}

/// Runs `start` under one tool of the compute-sanitizer at `sanitizer`; its output goes to `log`, which is written again.
///
/// # Errors
/// When it cannot be started.
pub fn sanitize(
    system: &dyn System,
    sanitizer: &Utf8Path,
    tool: SanitizerTool,
    start: &Start<'_>,
    log: &Utf8Path,
) -> io::Result<Sanitized> {
    let help = system.run(&Request::new(sanitizer.as_str()).arguments(["--help"]))?.all_text();
    let mut request = Request::new(sanitizer.as_str())
        .arguments([
            "--tool",
            tool.name(),
            "--log-file",
            log.as_str(),
            "--print-limit",
            "1000",
            "--strip-paths",
            "no",
            "--show-backtrace",
            "device",
        ])
        .deadline(start.overall.saturating_add(GRACE));
    for (_, option, value) in OPTIONAL.iter().filter(|(of, option, _)| *of == tool && help.contains(option)) {
        request = request.arguments([*option, *value]);
    }
    let command = start.words();
    request = request.arguments(command);
    for (name, value) in start.environment {
        request = request.variable(name, value.clone());
    }
    system.remove(log)?;
    let finished = system.run(&request)?;
    Ok(Sanitized { text: said(system, log, &finished), command: request.words() })
}

/// The log, or what was printed where none was written: why the tool did not start.
fn said(system: &dyn System, log: &Utf8Path, finished: &Finished) -> String {
    match system.read(log) {
        Ok(bytes) if !bytes.is_empty() => String::from_utf8_lossy(&bytes).into_owned(),
        _ => finished.all_text(),
    }
}

#[cfg(test)]
mod tests {
    use super::sanitize;
    use crate::model::SanitizerTool;
    use crate::run::Start;
    use crate::sys::Fake;

    #[test]
    fn options_that_this_version_does_not_have_are_left_out() {
        let system = Fake::new().program("/t/compute-sanitizer --help", 0, "  --check-bulk-copy arg (=yes)\n").program(
            "/t/compute-sanitizer --tool",
            0,
            "========= ERROR SUMMARY: 0 errors\n",
        );
        let start = Start::new("/x".into());
        let ran =
            sanitize(&system, "/t/compute-sanitizer".into(), SanitizerTool::Memcheck, &start, "/l".into()).unwrap();
        let line = ran.command.join(" ");
        assert!(line.contains("--check-bulk-copy yes /x --json") && !line.contains("tensor-ops"), "{line}");
        assert!(ran.text.contains("0 errors"));
        let ran =
            sanitize(&system, "/t/compute-sanitizer".into(), SanitizerTool::Racecheck, &start, "/l".into()).unwrap();
        assert!(!ran.command.join(" ").contains("bulk"), "{:?}", ran.command);
    }
}
