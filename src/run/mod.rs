//! The executable, started and watched; what it says is collected, not judged.

mod cpu;
mod sanitizer;

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

pub use cpu::{CpuOptions, Emulated, run_on_cpu};
pub use sanitizer::{Sanitized, sanitize};

use crate::sys::{Ending, Request, Stream, System};

/// How long an executable may go on after its own deadlines before it is killed.
pub const GRACE: Duration = Duration::from_secs(2);

/// What is run, and with what; `docs/harness.md` describes the options of the executable.
#[derive(Debug, Clone, PartialEq)]
pub struct Start<'s> {
    /// The executable.
    pub executable: &'s Utf8Path,
    /// Which case of a sweep's executable; `None` for a reproducer's.
    pub case: Option<&'s str>,
    /// Longest that a launch may take, in seconds, counted after the module is loaded.
    pub launch_deadline: f64,
    /// Longest that everything may take; the executable and all that it started are killed [`GRACE`] later.
    pub overall: Duration,
    /// Probes in place of the ladder, and where the raw outputs go.
    pub plan: Option<(&'s Utf8Path, &'s Utf8Path)>,
    /// Real values: role and file.
    pub inputs: &'s [(String, Utf8PathBuf)],
    /// Production's output for those.
    pub observed: Option<&'s Utf8Path>,
    /// Rungs to run; all when empty.
    pub rungs: &'s [String],
    /// Launches of each rung, when not the default.
    pub launches: Option<u32>,
    /// Folders whose libraries come before all others: the CPU backend.
    pub libraries: &'s [Utf8PathBuf],
    /// Further variables.
    pub environment: &'s [(String, String)],
}

impl<'s> Start<'s> {
    /// The whole ladder on the GPU, 10 seconds a launch, 20 minutes in all.
    pub fn new(executable: &'s Utf8Path) -> Self {
        Start {
            executable,
            case: None,
            launch_deadline: 10.0,
            overall: Duration::from_secs(1200),
            plan: None,
            inputs: &[],
            observed: None,
            rungs: &[],
            launches: None,
            libraries: &[],
            environment: &[],
        }
    }

    /// The command line.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![self.executable.to_string()];
        if let Some(case) = self.case {
            words.extend(["--case".to_owned(), case.to_owned()]);
        }
        words.push("--json".to_owned());
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("--deadline", self.launch_deadline.to_string());
        if let Some((plan, observations)) = self.plan {
            option("--plan", plan.to_string());
            option("--observations", observations.to_string());
        }
        for (role, file) in self.inputs {
            option("--input", format!("{role}={file}"));
        }
        if let Some(file) = self.observed {
            option("--observed", file.to_string());
        }
        for rung in self.rungs {
            option("--rung", rung.clone());
        }
        if let Some(launches) = self.launches {
            option("--launches", launches.to_string());
        }
        words
    }
}

/// What a run left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended; an exit code of 125 means that there was no fit device or driver.
    pub ending: Ending,
    /// Its JSON lines.
    pub events: String,
    /// What else it said.
    pub messages: String,
    /// From start to end.
    pub elapsed: Duration,
    /// The command line.
    pub command: Vec<String>,
}

/// Runs it to its end or to the overall deadline. `on_event` sees each JSON line as it comes.
///
/// # Errors
/// When it cannot be started.
pub fn run(system: &dyn System, start: &Start<'_>, on_event: &mut dyn FnMut(&str)) -> io::Result<Ran> {
    let command = start.words();
    let mut request = Request::new(command[0].clone())
        .arguments(command[1..].iter().cloned())
        .deadline(start.overall.saturating_add(GRACE));
    if !start.libraries.is_empty() {
        let inherited = system.env("LD_LIBRARY_PATH");
        let folders: Vec<&str> = start.libraries.iter().map(|f| f.as_str()).chain(inherited.as_deref()).collect();
        request = request.variable("LD_LIBRARY_PATH", folders.join(":"));
    }
    for (name, value) in start.environment {
        request = request.variable(name, value.clone());
    }
    let finished = system.run_streaming(&request, &mut |stream, line| {
        if stream == Stream::Output {
            on_event(line);
        }
    })?;
    Ok(Ran {
        ending: finished.ending,
        events: finished.text(),
        messages: String::from_utf8_lossy(&finished.error).into_owned(),
        elapsed: finished.elapsed,
        command,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Start, run};
    use crate::sys::{Ending, Fake, Machine, System};

    #[test]
    fn every_option_reaches_the_executable() {
        let inputs = [("a".to_owned(), "a.npy".into())];
        let rungs = ["ones".to_owned()];
        let start = Start {
            plan: Some(("p".into(), "o".into())),
            inputs: &inputs,
            observed: Some("obs.bin".into()),
            rungs: &rungs,
            launches: Some(3),
            ..Start::new("/x".into())
        };
        let system = Fake::new().program("/x --json", 125, "{\"event\":\"end\"}\n");
        let mut events = vec![];
        let ran = run(&system, &start, &mut |line| events.push(line.to_owned())).unwrap();
        assert_eq!(ran.ending, Ending::Code(125));
        assert_eq!(events, ["{\"event\":\"end\"}"]);
        let expected = "/x --json --deadline 10 --plan p --observations o --input a=a.npy --observed obs.bin --rung ones \
            --launches 3";
        assert_eq!(system.ran(), [expected]);
    }

    #[test]
    fn an_executable_that_never_ends_is_killed_after_the_grace() {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(folder.path()).unwrap().join("hang");
        Machine.write(&path, b"#!/bin/sh\necho \"$LD_LIBRARY_PATH\"\nsleep 60\n").unwrap();
        let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        let libraries = ["/cpu".into()];
        let start = Start { overall: Duration::from_millis(50), libraries: &libraries, ..Start::new(&path) };
        let ran = run(&Machine, &start, &mut |_| {}).unwrap();
        assert_eq!(ran.ending, Ending::Deadline);
        assert!(ran.events.starts_with("/cpu"), "{}", ran.events);
        assert!(ran.elapsed < Duration::from_secs(10), "{:?}", ran.elapsed);
    }
}
