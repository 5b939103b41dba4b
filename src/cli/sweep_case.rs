//! A case of a sweep: run it, and say what that means.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::diagnose::diagnose;
use super::run::{BackendChoice, When, differing};
use super::{Failure, Session};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::judge::{self, Backend, Context};
use crate::model::{Answer, Claim, Outcome};
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
    diagnose: When,
    /// The host compiler and the cache of the CPU backend.
    cpu: Option<(Utf8PathBuf, Utf8PathBuf)>,
}

impl<'s> Runner<'s> {
    /// Finds out what executes, and what that needs.
    ///
    /// # Errors
    /// No host compiler or no cache for the CPU backend (125); file errors.
    pub fn new(
        session: &Session<'s>,
        choice: BackendChoice,
        claim: Option<Claim>,
        diagnose: When,
    ) -> Result<Self, Failure> {
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
        Ok(Runner { system, backend, claim, diagnose, cpu })
    }

    /// What a result rests on besides the executable.
    pub fn basis(&self) -> String {
        let claim = self.claim.map_or_else(String::new, |claim| claim.to_string());
        let probes = if self.diagnose == When::Never { String::new() } else { format!(" {:?}", self.diagnose) };
        format!("{:?} {claim}{probes}", self.backend)
    }

    /// Runs one case in a process of its own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, item: &Item, start: &Start<'_>) -> io::Result<Done> {
        let Some((compiler, cache)) = &self.cpu else {
            let ran = run::run(self.system, start, &mut |_| {})?;
            return Ok(self.judge(item, start, &ran, true));
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
        Ok(self.judge(item, start, &emulated.ran, emulated.validated))
    }

    /// The launches of a plan.
    fn probed(&self, start: &Start<'_>) -> Result<Ran, Failure> {
        match &self.cpu {
            None => Ok(run::run(self.system, start, &mut |_| {})?),
            Some((compiler, cache)) => Ok(run::run_on_cpu(start, compiler, cache, &run::CpuOptions::default())
                .map_err(|error| Failure::cannot_test(Diagnostic::error("K-RUN", error.to_string())))?
                .ran),
        }
    }

    /// The answer with what the further probes show, where they are asked for. Cases run one after another, so that the plans of all can lie
    /// beside the executable.
    fn diagnosed(&self, item: &Item, start: &Start<'_>, mut answer: Answer) -> Answer {
        let Some(folder) = start.executable.parent().filter(|_| self.diagnose.wants(&answer, self.backend, &[])) else {
            return answer;
        };
        let contract = &item.checked.reproducer().contract;
        match diagnose(self.system, folder, start, contract, answer.clone(), &mut |start| self.probed(start)) {
            Ok(answer) => answer,
            Err(failure) => {
                let why = failure.diagnostics.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>();
                answer.notes.push(format!("no diagnosis: {}", why.join("; ")));
                answer
            }
        }
    }

    fn judge(&self, item: &Item, start: &Start<'_>, ran: &Ran, arch_validated: bool) -> Done {
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
                let answer = self.diagnosed(item, start, answer);
                let text = report::text(&answer);
                // The outcome, and the verdict below it with its cause.
                let mut lines_of_text = text.lines().map(str::trim);
                let outcome = lines_of_text.next().unwrap_or_default();
                let headline = match answer.outcome {
                    Outcome::Reproduced { verdict: Some(_) } => {
                        format!("{outcome}; {}", lines_of_text.take(2).collect::<Vec<_>>().join(": "))
                    }
                    _ => outcome.to_owned(),
                };
                let hung = lines.events.iter().any(|event| matches!(event, crate::model::Event::Hang { .. }));
                match (verdict(Exit::from(&answer.outcome)), answer.evidence.first()) {
                    // A case that does not end failed, whether or not bytes explain it.
                    (Verdict::Draft, first) if hung => done(Verdict::Hang, first.cloned().unwrap_or(headline)),
                    (Verdict::Fail, Some(first)) => done(Verdict::Fail, format!("{headline}; {first}")),
                    (verdict, _) => done(verdict, headline),
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
