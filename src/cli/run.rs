//! `krepro run`: build if stale, run the ladder, judge.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::diagnose::diagnose;
use super::oracle::{self, Oracle};
use super::shrink::shrink;
use super::tools::{self, Sanitize};
use super::{Failure, Session, findings};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exit::Exit;
use crate::judge::{self, Backend, Context, spread, tensor_file};
use crate::model::{Answer, Claim, DescriptorSource, Event, Outcome, Reproducer};
use crate::read::observation::json_lines;
use crate::store::Folder;
use crate::sys::{Ending, System};
use crate::toolchain::{self, gpu};
use crate::{pipeline, report, run};

/// Build a reproducer if it is stale, run its ladder of controlled inputs, and answer
///
/// Ends with 0 (not reproduced, or refuted), 1 (wrong, or crashed), 3 (draft: the evidence does not decide), 4 (hang with a
/// named cause), 125 (cannot test here).
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The reproducer's folder
    dir: Utf8PathBuf,
    #[command(flatten)]
    tools: super::build::Tools,
    /// What somebody says is wrong: ratio=10, rel_l2=0.3, max_abs=5, zeros=0.5, nan, hang, nondeterministic
    #[arg(long, value_name = "CLAIM")]
    claim: Option<Claim>,
    /// The output that production produced for the given inputs (docs/capture.md)
    #[arg(long, value_name = "FILE")]
    observed: Option<Utf8PathBuf>,
    /// Real values of an operand: .npy, .safetensors (FILE#NAME), or raw bytes; may be repeated
    #[arg(long, value_name = "ROLE=FILE")]
    input: Vec<String>,
    /// Only this rung; may be repeated
    #[arg(long, value_name = "NAME")]
    rung: Vec<String>,
    /// Launches of each rung, compared bit for bit
    #[arg(long, value_name = "N")]
    launches: Option<u32>,
    /// Longest that a launch may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    deadline: f64,
    /// Longest that everything may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1200.0)]
    timeout: f64,
    /// When to run the further probes that name the stage: auto (when a rung fails on a GPU), always, never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    diagnose: When,
    /// A second reproducer to compare with element by element, beside the host GEMM: a known-good kernel, or an older build
    #[arg(long, value_name = "kernel:DIR")]
    oracle: Option<Oracle>,
    /// When a rung fails, look for the smallest shape that still does, along the leaves of the instantiation
    #[arg(long)]
    shrink: bool,
    /// Run one rung under compute-sanitizer too, and fold what it finds into the answer; may be repeated
    #[arg(long, value_name = "TOOL", value_enum, num_args = 0..=1, default_missing_value = "all", require_equals = true)]
    sanitize: Vec<Sanitize>,
    /// End with the codes of `git bisect run`
    #[arg(long)]
    bisect: bool,
    /// What executes the kernel; auto: the GPU, or the CPU where there is none (answers are then drafts)
    #[arg(long, value_enum, default_value_t = BackendChoice::Auto)]
    backend: BackendChoice,
    #[command(flatten)]
    cpu: super::on_cpu::OnCpu,
}

fn given(inputs: &[(String, Utf8PathBuf)], role: &str) -> bool {
    inputs.iter().any(|(given, _)| given == role)
}

/// `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendChoice {
    /// A GPU where there is one.
    Auto,
    /// A GPU.
    Gpu,
    /// The CPU backend.
    Cpu,
}

impl BackendChoice {
    /// What executes here.
    pub fn backend(self, system: &dyn System) -> Backend {
        match self {
            BackendChoice::Gpu => Backend::Gpu,
            BackendChoice::Cpu => Backend::CpuAsked,
            BackendChoice::Auto if gpu::list(system).is_empty() => Backend::CpuFallback,
            BackendChoice::Auto => Backend::Gpu,
        }
    }
}

/// When the stage is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// When a rung fails on a GPU.
    Auto,
    /// Wherever launches end.
    Always,
    /// Never.
    Never,
}

impl When {
    /// A hang would end the probes too; on the CPU they are slow, and run only when asked for.
    pub(super) fn wants(self, answer: &Answer, backend: Backend, chosen: &[String]) -> bool {
        let ends = !matches!(answer.outcome, Outcome::Hang { .. });
        let failed = answer.rungs.iter().any(crate::model::RungResult::failed);
        match self {
            When::Auto => failed && backend == Backend::Gpu && chosen.is_empty() && ends,
            When::Always => ends,
            When::Never => false,
        }
    }
}

impl Run {
    /// Runs it.
    ///
    /// # Errors
    /// No reproducer there, a finding that refuses, bad inputs (2); no fit compiler or device, or a failed build (125).
    pub fn run(self, session: &mut Session<'_>) -> Result<u8, Failure> {
        let bisect = self.bisect;
        let exit = self.answer(session);
        let code = |exit: Exit| if bisect { exit.for_bisect() } else { exit as u8 };
        match exit {
            Ok(exit) => Ok(code(exit)),
            Err(failure) if bisect => Ok(session.fail(failure).for_bisect()),
            Err(failure) => Err(failure),
        }
    }

    fn answer(&self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let folder = Folder::new(&self.dir);
        let inputs = self.inputs()?;
        let (_, reproducer) = folder.load(session.system)?;
        self.check_real(&reproducer, &inputs)?;
        let found = pipeline::findings(&reproducer);
        if found.refuses() {
            return Err(super::refusal(pipeline::Stop::Refused(Box::new((reproducer, found)))));
        }
        findings::show(session, &found)?;
        let backend = self.backend.backend(session.system);
        if backend == Backend::Gpu {
            self.cpu.refuse_on_a_gpu()?;
        } else if !self.sanitize.is_empty() {
            let problem =
                Diagnostic::error("K-RUN", "--sanitize needs a GPU").help("leave it out, or run where there is one");
            return Err(Failure::cannot_test(problem));
        }
        let built = super::build::built(session, folder.path(), &reproducer, &self.tools)?;
        let start = run::Start {
            inputs: &inputs,
            observed: self.observed.as_deref(),
            rungs: &self.rung,
            launches: self.launches,
            ..self.start(&built.executable)
        };
        let (ran, arch_validated) = launched(session, backend, &start, &self.cpu.options())?;
        let lines = json_lines(&ran.events);
        let context = Context {
            backend,
            arch_validated,
            type_descriptors: differing(&reproducer),
            exit: match ran.ending {
                Ending::Code(code) => Some(code),
                _ => None,
            },
            chosen: self.rung.clone(),
            production_inputs: reproducer.inputs_of_launch().all(|role| given(&inputs, role.name())),
            assumed_launch: reproducer.assumed_launch(),
            assumed_prologue: reproducer.assumed_prologue(),
        };
        let judged = judge::ladder(&reproducer.contract, &found, &lines.events, self.claim, &context);
        let answer = judged.map_err(|reason| Failure {
            exit: reason.exit(),
            diagnostics: unanswered(&reason.to_string(), &lines.events, &ran.messages),
        })?;
        let answer = self.more(session, &folder, &reproducer, (answer, backend), &built.executable)?;
        let answer = tools::waiting(session.system, folder.path(), &lines.events, answer);
        let answer = if self.sanitize.is_empty() {
            answer
        } else {
            let found = self.tools.find(session, &reproducer).ok().map(|found| found.1);
            let tried = run::Start { overall: tools::limit(ran.elapsed), ..start.clone() };
            tools::sanitized(session, &self.sanitize, found.as_ref(), &tried, &folder.file("build"), answer)?
        };
        self.print(session, &answer, &lines.foreign, &ran.messages)?;
        Ok(Exit::from(&answer.outcome))
    }

    /// Real values are only looked at by the rung `real`, and production's output says something of all of its inputs only.
    fn check_real(&self, reproducer: &Reproducer, inputs: &[(String, Utf8PathBuf)]) -> Result<(), Failure> {
        let mut problems = Diagnostics::new();
        if (self.observed.is_some() || !inputs.is_empty())
            && !self.rung.is_empty()
            && !self.rung.iter().any(|rung| rung == "real")
        {
            problems.push(
                Diagnostic::error(
                    "K-OPTION",
                    "--input and --observed belong to the rung `real`, which --rung leaves out",
                )
                .help("add --rung real, or leave --rung out"),
            );
        }
        let missing: Vec<String> = reproducer
            .inputs_of_launch()
            .filter(|role| !given(inputs, role.name()))
            .map(|role| format!("--input {role}=FILE"))
            .collect();
        if self.observed.is_some() && !missing.is_empty() {
            problems.push(
                Diagnostic::error("K-OPTION", "--observed needs all the inputs that led to that output")
                    .because(
                        "an input that is not given is filled with other values, and any output is wrong for those",
                    )
                    .help(format!("add {}", missing.join(" "))),
            );
        }
        for (index, (role, _)) in inputs.iter().enumerate() {
            if given(&inputs[..index], role) {
                problems.push(
                    Diagnostic::error("K-OPTION", format!("--input {role} is given twice"))
                        .help("leave one of them out"),
                );
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Failure::input(problems)) }
    }

    /// How the executable is started, without inputs.
    fn start<'s>(&self, executable: &'s Utf8Path) -> run::Start<'s> {
        let overall = Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::MAX);
        run::Start { launch_deadline: self.deadline, overall, ..run::Start::new(executable) }
    }

    /// What is asked for beyond the ladder: the stage, the other kernel, the smallest shape.
    fn more(
        &self,
        session: &mut Session<'_>,
        folder: &Folder,
        reproducer: &Reproducer,
        (mut answer, backend): (Answer, Backend),
        executable: &Utf8Path,
    ) -> Result<Answer, Failure> {
        let (start, place, contract) = (self.start(executable), folder.file("build"), &reproducer.contract);
        let probing = self.cpu.probing();
        let system = session.system;
        if self.diagnose.wants(&answer, backend, &self.rung) {
            let mut launch = |start: &run::Start<'_>| launched(session, backend, start, &probing).map(|r| r.0);
            answer = diagnose(system, &place, &start, contract, answer, &mut launch)?;
        } else if self.diagnose == When::Auto
            && !matches!(answer.outcome, Outcome::Hang { .. })
            && answer.rungs.iter().any(crate::model::RungResult::failed)
        {
            answer
                .notes
                .push("the stage was not looked for: --diagnose always runs further probes that name it".to_owned());
            if matches!(answer.outcome, Outcome::Reproduced { verdict: None }) {
                answer.next = judge::look_for_the_stage(&answer.hints);
            }
        }
        if let Some(Oracle(dir)) = &self.oracle {
            let other = Folder::new(dir);
            let (_, second) = other.load(session.system)?;
            let built = super::build::built(session, other.path(), &second, &self.tools)?;
            let there = (&self.start(&built.executable), &second.contract, dir.as_path());
            let mut launch = |start: &run::Start<'_>| launched(session, backend, start, &probing).map(|r| r.0);
            oracle::beside(system, &place, (&start, contract), there, &mut answer, &mut launch)?;
        }
        for (role, path) in self.inputs()? {
            let operand = contract.operands.iter().find(|operand| operand.role.value.name() == role);
            let (file, tensor) = tensor_file::place(path.as_str());
            let bytes = session.system.read(Utf8Path::new(file)).ok();
            let values = operand.zip(bytes).and_then(|(o, bytes)| Some((o, tensor_file::values(o, &bytes, tensor)?)));
            if let Some((operand, values)) = values {
                let columns = usize::try_from(operand.columns.value).unwrap_or(usize::MAX);
                answer.details.operands.push(spread::spread(&role, &values, columns));
            }
        }
        if self.shrink && answer.rungs.iter().any(crate::model::RungResult::failed) {
            let mut fails = |session: &mut Session<'_>, path: &Utf8Path, reproducer: &Reproducer| {
                let built = super::build::built(session, path, reproducer, &self.tools)?;
                let ran = launched(session, backend, &self.start(&built.executable), &self.cpu.probing())?.0;
                let rungs = json_lines(&ran.events).events.into_iter().filter_map(|event| match event {
                    Event::Rung(rung) => Some(rung),
                    _ => None,
                });
                let rungs: Vec<_> = rungs.collect();
                let failed = rungs.iter().any(crate::model::RungResult::failed);
                let none = || Failure::cannot_test(Diagnostic::error("K-RUN", "no rung ran"));
                if rungs.is_empty() { Err(none()) } else { Ok(failed) }
            };
            answer.details.shrunk = Some(shrink(session, folder, reproducer, &mut fails)?);
        }
        Ok(answer)
    }

    fn print(
        &self,
        session: &mut Session<'_>,
        answer: &Answer,
        foreign: &[String],
        messages: &str,
    ) -> Result<(), Failure> {
        if session.global.json {
            let notes: Vec<&str> = messages.lines().filter_map(|line| line.strip_prefix("note: ")).collect();
            session.print_json(
                &json!({ "version": 1, "answer": report::json(answer), "printed": foreign, "notes": notes }),
            )?;
            return Ok(());
        }
        for line in messages.lines().filter(|line| line.starts_with("note: ")) {
            writeln!(session.err(), "{line}")?;
        }
        for line in foreign {
            writeln!(session.err(), "the kernel printed: {line}")?;
        }
        write!(session.out(), "{}", report::text(answer))?;
        Ok(())
    }

    fn inputs(&self) -> Result<Vec<(String, Utf8PathBuf)>, Failure> {
        let mut problems = Diagnostics::new();
        let mut list = Vec::new();
        for entry in &self.input {
            match entry.split_once('=').filter(|(role, path)| !role.is_empty() && !path.is_empty()) {
                Some((role, path)) => list.push((role.to_owned(), path.into())),
                None => problems.push(
                    Diagnostic::error("K-OPTION", format!("`--input {entry}` is no assignment"))
                        .help("write --input ROLE=FILE, for example --input a=activation.npy"),
                ),
            }
        }
        if problems.is_empty() { Ok(list) } else { Err(Failure::input(problems)) }
    }
}

/// One run, and whether its architecture was compared with silicon.
fn launched(
    session: &mut Session<'_>,
    backend: Backend,
    start: &run::Start<'_>,
    options: &run::CpuOptions,
) -> Result<(run::Ran, bool), Failure> {
    match backend {
        Backend::Gpu => Ok((run::run(session.system, start, &mut |_| {})?, true)),
        _ => emulated(session, start, options),
    }
}

/// The run on the CPU backend, whose findings are shown, and whether its architecture was compared with silicon.
fn emulated(
    session: &mut Session<'_>,
    start: &run::Start<'_>,
    options: &run::CpuOptions,
) -> Result<(run::Ran, bool), Failure> {
    let unable = |text: String| Failure::cannot_test(Diagnostic::error("K-RUN", text));
    let compiler = session.system.host_compiler().map_err(unable)?;
    let cache = toolchain::cache::folder(session.system).map_err(Failure::cannot_test)?;
    session.system.make_folder(&cache)?;
    let emulated =
        run::run_on_cpu(start, &compiler.path, &cache, options).map_err(|error| unable(error.to_string()))?;
    if let Some(report) = emulated.obstacle() {
        return Err(unable(format!("the CPU backend cannot run this kernel: {}", report.text.trim_end())));
    }
    for report in &emulated.reports {
        writeln!(session.err(), "{}: {}", emulated.gpu, report.text.trim_end())?;
    }
    if let Some(file) = &options.trace {
        writeln!(session.err(), "{} matrix instructions are traced in {file}", emulated.traced)?;
    }
    Ok((emulated.ran, emulated.validated))
}

/// Descriptors that are built from the emitted type and differ from production's.
pub(super) fn differing(reproducer: &Reproducer) -> Vec<String> {
    if reproducer.descriptor_source != DescriptorSource::Type {
        return vec![];
    }
    let differs = |pair: &&crate::model::DescriptorPair| {
        let (type_built, production) = (pair.chosen(DescriptorSource::Type), &pair.production);
        let values = |map: &crate::model::TensorMap| {
            let list = |facts: &[crate::model::Fact<u64>]| facts.iter().map(|f| f.value).collect::<Vec<_>>();
            (
                list(&map.global_dim),
                list(&map.global_strides),
                list(&map.box_dim),
                map.swizzle.value,
                map.data_type.clone(),
            )
        };
        values(type_built) != values(production)
    };
    reproducer.descriptors.iter().filter(differs).map(|pair| pair.name.clone()).collect()
}

/// Why there is no answer, with what the executable said on the way.
fn unanswered(reason: &str, events: &[Event], messages: &str) -> Diagnostics {
    let mut diagnostic = Diagnostic::error("K-RUN", reason.to_owned());
    let said = messages.trim();
    if !said.is_empty() && !reason.contains(said) {
        diagnostic = diagnostic.because(said.to_owned());
    }
    if events.is_empty() {
        diagnostic = diagnostic.because("the executable gave no event");
    }
    diagnostic.into()
}
