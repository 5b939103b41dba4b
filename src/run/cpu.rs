//! The executable on the CPU backend: the same events, and what the interpreter found.

use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use krepro_emulator::exec::Options;
use krepro_emulator::runtime::{End, Output, Report, ReportKind, RunError, RunRequest};
use serde_json::{Value, json};

use super::{GRACE, Ran, Start};
use crate::sys::Ending;

/// How kernels are executed there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuOptions {
    /// With a seed, asynchronous work ends as late as the kernel's waits allow, and warps take turns in a shuffled order.
    pub schedule: Option<u64>,
    /// The word that shared memory holds when a block begins; zero without.
    pub shared_poison: Option<u32>,
    /// Every launch runs twice, with other bytes in memory that nobody initialised; what depends on them is told.
    pub uninitialised: bool,
    /// A file for what every matrix instruction reads and adds up to, a JSON object a line.
    pub trace: Option<Utf8PathBuf>,
}

/// A run on the CPU backend.
#[derive(Debug, Clone, PartialEq)]
pub struct Emulated {
    /// As on a GPU, a launch that can never end told as a hang.
    pub ran: Ran,
    /// The simulated GPU.
    pub gpu: String,
    /// Whether the backend was compared with silicon for its architecture.
    pub validated: bool,
    /// What the interpreter and the simulated driver found.
    pub reports: Vec<Report>,
    /// Matrix instructions in the trace.
    pub traced: usize,
}

impl Emulated {
    /// What kept the kernel from being run as it is: something that the CPU backend does not have, or device code that it
    /// cannot use. A failure after that says nothing about the kernel.
    pub fn obstacle(&self) -> Option<&Report> {
        let obstacle = |kind| matches!(kind, ReportKind::Unsupported | ReportKind::MissingFunction | ReportKind::Image);
        self.reports.iter().find(|report| obstacle(report.kind))
    }
}

/// Runs it on the CPU to its end or to the overall deadline. `host_compiler` builds the replacement libraries into `cache`.
///
/// # Errors
/// When the executable cannot run on the CPU backend, with what to change.
pub fn run_on_cpu(
    start: &Start<'_>,
    host_compiler: &Utf8Path,
    cache: &Utf8Path,
    options: &CpuOptions,
) -> Result<Emulated, RunError> {
    let command = start.words();
    let began = Instant::now();
    let outcome = krepro_emulator::runtime::run(&RunRequest {
        executable: start.executable.into(),
        arguments: command[1..].iter().map(Into::into).collect(),
        environment: start.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        working_dir: None,
        host_compiler: host_compiler.into(),
        cache_dir: cache.into(),
        gpu: None,
        options: Options { schedule: options.schedule, shared_poison: options.shared_poison, ..Options::default() },
        trace: options.trace.as_deref().map(Into::into),
        uninitialised: options.uninitialised,
        deadline: Some(start.overall.saturating_add(GRACE)),
        output: Output::Capture,
    })?;
    let ending = match outcome.end {
        End::Exited(code) => Ending::Code(code),
        End::Signalled(signal) => Ending::Signal(signal),
        End::Stopped => Ending::Deadline,
    };
    let events = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let (events, ending) = with_hang(events, ending, &outcome.reports, start.launch_deadline);
    let messages = String::from_utf8_lossy(&outcome.stderr).into_owned();
    Ok(Emulated {
        ran: Ran { ending, events, messages, elapsed: began.elapsed(), command },
        gpu: outcome.gpu,
        validated: VALIDATED.contains(&outcome.arch.number),
        reports: outcome.reports,
        traced: outcome.traced,
    })
}

/// Architectures whose instructions were compared with silicon.
const VALIDATED: [u32; 1] = [90];

/// A GPU would have hung where the CPU backend ends a launch that can never end: the failed call becomes the hang that the
/// executable would have reported, with the interpreter's report in place of a debugger's backtrace.
fn with_hang(events: String, ending: Ending, reports: &[Report], deadline: f64) -> (String, Ending) {
    let endless = |report: &&Report| matches!(report.kind, ReportKind::Deadlock | ReportKind::Endless);
    let Some(report) = reports.iter().find(endless) else { return (events, ending) };
    let mut found = false;
    let lines: Vec<String> = events
        .lines()
        .map(|line| {
            let Ok(mut event) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
            match event["event"].as_str() {
                Some("cuda_error") if event["name"] == "cudaErrorLaunchTimeout" && !found => {
                    found = true;
                    json!({ "krepro": 1, "event": "hang", "rung": event["rung"], "deadline_s": deadline,
                            "backtrace": report.text, "command": "" })
                    .to_string()
                }
                Some("end") if found => {
                    event["exit"] = json!(4);
                    event.to_string()
                }
                _ => line.to_owned(),
            }
        })
        .collect();
    match (found, ending) {
        (true, Ending::Code(_)) => (lines.join("\n") + "\n", Ending::Code(4)),
        _ => (events, ending),
    }
}

#[cfg(test)]
mod tests {
    use krepro_emulator::runtime::{Report, ReportKind};

    use super::with_hang;
    use crate::sys::Ending;

    const EVENTS: &str = "{\"krepro\":1,\"event\":\"start\"}\nprinted by a kernel\n\
        {\"krepro\":1,\"event\":\"cuda_error\",\"call\":\"the kernel\",\"code\":702,\"name\":\"cudaErrorLaunchTimeout\",\"text\":\"t\",\"rung\":\"ones\"}\n\
        {\"krepro\":1,\"event\":\"end\",\"exit\":1,\"passed\":0,\"failed\":0,\"skipped\":0}\n";

    fn report(kind: ReportKind) -> Vec<Report> {
        vec![Report { kind, kernel: "k".into(), text: "deadlock\n  likely: bytes".into() }]
    }

    #[test]
    fn a_launch_that_can_never_end_is_told_as_a_hang() {
        let (events, ending) = with_hang(EVENTS.into(), Ending::Code(1), &report(ReportKind::Deadlock), 10.0);
        assert_eq!(ending, Ending::Code(4));
        let lines: Vec<&str> = events.lines().collect();
        assert_eq!(lines[1], "printed by a kernel");
        let hang: serde_json::Value = serde_json::from_str(lines[2]).unwrap();
        assert_eq!((hang["event"].as_str(), hang["rung"].as_str()), (Some("hang"), Some("ones")));
        assert_eq!(hang["backtrace"], "deadlock\n  likely: bytes");
        assert!(lines[3].contains("\"exit\":4"), "{}", lines[3]);
    }

    #[test]
    fn other_failures_stay_what_they_are() {
        let (events, ending) = with_hang(EVENTS.into(), Ending::Code(1), &report(ReportKind::Fault), 10.0);
        assert_eq!((events.as_str(), ending), (EVENTS, Ending::Code(1)));
        let (events, ending) = with_hang(String::new(), Ending::Signal(9), &report(ReportKind::Deadlock), 10.0);
        assert_eq!((events.as_str(), ending), ("", Ending::Signal(9)));
    }
}
