//! Tools beside a run: compute-sanitizer on one rung, and the source lines that a hang's warps wait in.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Failure, Session};
use crate::diag::Diagnostic;
use crate::judge::{self, Waiting};
use crate::model::{Answer, Event, RungResult, RungStatus, SanitizerTool};
use crate::read::{backtrace, sanitizer};
use crate::run::{self, Start};
use crate::sys::System;
use crate::toolchain::Toolchain;

/// What `--sanitize` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Sanitize {
    /// All four tools
    All,
    /// Accesses outside of allocations, misaligned ones, tensor operations
    Memcheck,
    /// Hazards on shared memory
    Racecheck,
    /// Misuse of barriers
    Synccheck,
    /// Reads of memory that nobody wrote
    Initcheck,
}

impl Sanitize {
    fn tools(list: &[Sanitize]) -> Vec<SanitizerTool> {
        let named = |tool: &SanitizerTool| {
            list.iter().any(|asked| match asked {
                Sanitize::All => true,
                Sanitize::Memcheck => *tool == SanitizerTool::Memcheck,
                Sanitize::Racecheck => *tool == SanitizerTool::Racecheck,
                Sanitize::Synccheck => *tool == SanitizerTool::Synccheck,
                Sanitize::Initcheck => *tool == SanitizerTool::Initcheck,
            })
        };
        SanitizerTool::ALL.into_iter().filter(named).collect()
    }
}

/// Beside nvcc, below its toolkit's folder, or on PATH.
pub fn find(system: &dyn System, toolchain: Option<&Toolchain>, name: &str) -> Option<Utf8PathBuf> {
    let root = toolchain.map(|toolchain| toolchain.layout.root.clone());
    let bin = toolchain.and_then(|toolchain| toolchain.nvcc.parent().map(Utf8Path::to_owned));
    let beside = bin.into_iter().chain(root.iter().map(|root| root.join("bin")));
    let own = root.iter().map(|root| root.join(name));
    let found = beside.chain(own).map(|folder| folder.join(name)).find(|path| system.is_file(path));
    found.or_else(|| system.which(name))
}

/// Runs one rung under the tools and adds what they find to the answer: the first rung that failed, else one on random integers.
///
/// # Errors
/// No compute-sanitizer (125); it cannot be started.
pub fn sanitized(
    session: &mut Session<'_>,
    tools: &[Sanitize],
    toolchain: Option<&Toolchain>,
    start: &Start<'_>,
    folder: &Utf8Path,
    answer: Answer,
) -> Result<Answer, Failure> {
    let system = session.system;
    let Some(program) = find(system, toolchain, "compute-sanitizer") else {
        let diagnostic = Diagnostic::error("K-RUN", "compute-sanitizer was not found")
            .help("it is part of the CUDA toolkit (compute-sanitizer/compute-sanitizer); put it on PATH");
        return Err(Failure::cannot_test(diagnostic));
    };
    let rungs = if start.rungs.is_empty() { vec![rung(&answer.rungs)] } else { start.rungs.to_vec() };
    // The tools make a launch tens to hundreds of times slower.
    let launch_deadline = (start.launch_deadline * 30.0).min(start.overall.as_secs_f64());
    let slow = Start { rungs: &rungs, launches: Some(1), launch_deadline, ..start.clone() };
    let mut reports = vec![];
    for tool in Sanitize::tools(tools) {
        let log = folder.join(format!("{tool}.log"));
        let began = system.now();
        let ran = run::sanitize(system, &program, tool, &slow, &log)?;
        let seconds = system.now().saturating_sub(began).as_secs_f64();
        let report = sanitizer::report(tool, &ran.text);
        if !session.global.json {
            let found = report.findings.len();
            writeln!(session.err(), "{tool} on {}: {found} finding(s) in {seconds:.1} s, {log}", rungs.join(", "))?;
        }
        reports.push(report);
    }
    Ok(judge::sanitized(answer, &reports))
}

fn rung(rungs: &[RungResult]) -> String {
    let failed = rungs.iter().find(|rung| rung.failed());
    let integers = rungs.iter().find(|rung| rung.name == "integers" && rung.status != RungStatus::Skip);
    failed.or(integers).or(rungs.first()).map_or_else(|| "integers".to_owned(), |rung| rung.name.clone())
}

/// Adds where each warp of a hang waits, with the text of the line and the barrier that it names.
pub fn waiting(system: &dyn System, folder: &Utf8Path, events: &[Event], answer: Answer) -> Answer {
    let text = events.iter().find_map(|event| match event {
        Event::Hang { backtrace, .. } => Some(backtrace.as_str()),
        _ => None,
    });
    let warps: Vec<Waiting> = backtrace::stopped_warps(text.unwrap_or_default())
        .into_iter()
        .filter_map(|warp| {
            let line = |(file, number): &(String, usize)| {
                let text = source(system, folder, file, &warp.frames)?;
                Some(text.lines().nth(number.checked_sub(1)?)?.trim().to_owned())
            };
            // The outermost frame that waits names the barrier as the kernel does; a helper calls it by its parameter.
            let lines: Vec<Option<String>> = warp.frames.iter().map(line).collect();
            let barriers: Vec<Option<String>> =
                lines.iter().map(|line| line.as_deref().and_then(backtrace::barrier)).collect();
            let at = barriers.iter().rposition(Option::is_some).unwrap_or(0);
            let (file, number) = warp.frames.get(at)?;
            Some(Waiting {
                threads: warp.threads.clone(),
                place: format!("{file}:{number}"),
                text: lines.get(at).cloned().flatten(),
                barrier: barriers.get(at).cloned().flatten(),
            })
        })
        .collect();
    judge::waiting(answer, &warps)
}

/// A source file as a debugger names it: as it is, from the build's folder, or, for a bare name, beside the other frames' files.
fn source(system: &dyn System, folder: &Utf8Path, file: &str, frames: &[(String, usize)]) -> Option<String> {
    let beside = frames.iter().filter_map(|(other, _)| Utf8Path::new(other).parent()).map(|parent| parent.join(file));
    let mut places = [folder.join("build").join(file), Utf8PathBuf::from(file)].into_iter().chain(beside);
    places.find_map(|path| system.read(&path).ok()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Longest that all tools together may take, for a ladder that took `ladder`.
pub fn limit(ladder: Duration) -> Duration {
    ladder.saturating_mul(200).max(Duration::from_secs(120)).min(Duration::from_secs(1800))
}

#[cfg(test)]
mod tests {
    use super::waiting;
    use crate::judge::{Context, ladder};
    use crate::model::{Event, Findings, Reproducer};
    use crate::sys::Fake;

    #[test]
    fn a_waiting_warp_is_shown_with_its_line_and_its_barrier() {
        let reproducer: Reproducer = toml::from_str(include_str!("../../tests/checks/base.toml")).unwrap();
        let backtrace = "krepro-warp 0\n#0  k () at /s/tile.cuh:2 in _Z4waitPm inlined from ring.cuh:1\n".to_owned();
        let hang = Event::Hang { rung: "ones".into(), deadline_s: 2.0, backtrace, command: String::new() };
        let events = [hang, Event::End { exit: 4, passed: 0, failed: 0, skipped: 0 }];
        let context = Context { exit: Some(4), ..Context::default() };
        let answer = ladder(&reproducer.contract, &Findings::default(), &events, None, &context).unwrap();
        let system = Fake::new()
            .file("/s/tile.cuh", "void wait(Barrier *bar) {\n  while (!try_wait(bar)) {}\n")
            .file("/s/ring.cuh", "  wait(&full[stage]);\n");
        let told = waiting(&system, "/r".into(), &events, answer).evidence.pop().unwrap();
        assert_eq!(told, "threads 0-31 of the block wait for `full[stage]` at ring.cuh:1: `wait(&full[stage]);`");
    }
}
