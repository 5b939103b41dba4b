//! A case of a sweep: run it, and say what that means.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::run::{BackendChoice, differing};
use super::{Failure, Session};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::judge::{self, Backend, Context};
use crate::model::Claim;
use crate::read::observation::json_lines;
use crate::run::{self, Ran, Start};
use crate::sweep::{Done, Item, Verdict};
use crate::sys::{Ending, System};
use crate::{pipeline, report, toolchain};

/// What runs the cases.
pub struct Runner<'s> {
    system: &'s dyn System,
    backend: Backend,
    claim: Option<Claim>,
    /// The host compiler and the cache of the CPU backend.
    cpu: Option<(Utf8PathBuf, Utf8PathBuf)>,
}

impl<'s> Runner<'s> {
    /// Finds out what executes, and what that needs.
    ///
    /// # Errors
    /// No host compiler or no cache for the CPU backend (125); file errors.
    pub fn new(session: &Session<'s>, choice: BackendChoice, claim: Option<Claim>) -> Result<Self, Failure> {
        let system = session.system;
        let backend = choice.backend(system);
        let cpu = match backend {
            Backend::Gpu => None,
            Backend::CpuAsked | Backend::CpuFallback => {
                let unable = |text: String| Failure::cannot_test(Diagnostic::error("K-RUN", text));
                let compiler = system.host_compiler().map_err(unable)?;
                let cache = toolchain::cache::folder(system).map_err(Failure::cannot_test)?;
                system.make_folder(&cache)?;
                Some((compiler.path, cache))
            }
        };
        Ok(Runner { system, backend, claim, cpu })
    }

    /// What a result rests on besides the executable.
    pub fn basis(&self) -> String {
        format!("{:?} {}", self.backend, self.claim.map_or_else(String::new, |claim| claim.to_string()))
    }

    /// Runs one case in a process of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, item: &Item, start: &Start<'_>) -> io::Result<Done> {
        let Some((compiler, cache)) = &self.cpu else {
            let ran = run::run(self.system, start, &mut |_| {})?;
            return Ok(self.judge(item, &ran, true));
        };
        let emulated = match run::run_on_cpu(start, compiler, cache, &run::CpuOptions::default()) {
            Ok(emulated) => emulated,
            Err(error) => {
                return Ok(Done { verdict: Verdict::NotRun, why: error.to_string(), elapsed: Duration::ZERO });
            }
        };
        if let Some(obstacle) = emulated.obstacle() {
            let why = format!("the CPU backend cannot run this kernel: {}", obstacle.text.trim_end());
            return Ok(Done { verdict: Verdict::NotRun, why, elapsed: emulated.ran.elapsed });
        }
        Ok(self.judge(item, &emulated.ran, emulated.validated))
    }

    fn judge(&self, item: &Item, ran: &Ran, arch_validated: bool) -> Done {
        let done = |verdict, why: String| Done { verdict, why, elapsed: ran.elapsed };
        let code = match ran.ending {
            Ending::Code(code) => Some(code),
            Ending::Signal(signal) => return done(Verdict::Fail, format!("crashed with signal {signal}")),
            Ending::Deadline => return done(Verdict::Hang, "did not end in its time".to_owned()),
        };
        let reproducer = item.checked.reproducer();
        let context = Context {
            backend: self.backend,
            arch_validated,
            type_descriptors: differing(reproducer),
            exit: code,
            assumed_launch: reproducer.assumed_launch(),
            assumed_prologue: reproducer.assumed_prologue(),
            ..Context::default()
        };
        let lines = json_lines(&ran.events);
        let findings = pipeline::findings(reproducer);
        match judge::ladder(&reproducer.contract, &findings, &lines.events, self.claim, &context) {
            Ok(answer) => {
                let text = report::text(&answer);
                let headline = text.lines().next().unwrap_or_default();
                let hung = lines.events.iter().any(|event| matches!(event, crate::model::Event::Hang { .. }));
                match (verdict(Exit::from(&answer.outcome)), answer.evidence.first()) {
                    // A case that does not end failed, whether or not bytes explain it.
                    (Verdict::Draft, first) if hung => {
                        done(Verdict::Hang, first.cloned().unwrap_or_else(|| headline.to_owned()))
                    }
                    (Verdict::Fail, Some(first)) => done(Verdict::Fail, format!("{headline}; {first}")),
                    (verdict, _) => done(verdict, headline.to_owned()),
                }
            }
            Err(reason) if reason.exit() == Exit::CannotTest => done(Verdict::NotRun, reason.to_string()),
            Err(reason) => done(Verdict::Draft, reason.to_string()),
        }
    }
}

fn verdict(exit: Exit) -> Verdict {
    match exit {
        Exit::Success => Verdict::Pass,
        Exit::Wrong => Verdict::Fail,
        Exit::Hang => Verdict::Hang,
        _ => Verdict::Draft,
    }
}
