//! `krepro build`: nvcc with the recovered flags.

use std::io::IsTerminal;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::after_build::{self, after_build};
use super::refused::refused;
use super::{Failure, Session};
use crate::build::fidelity::{self, Comparison, Evidence, Fidelity, Level};
use crate::build::kernels::{self, Kernel};
use crate::build::{self, Built, Job, NotBuilt, sass, usage};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::model::{BuildLine, GpuArch, Reproducer};
use crate::package::{self, Step};
use crate::store::Folder;
use crate::sys::System;
use crate::toolchain::{self, Toolchain, fit, gpu};

/// Build a reproducer with the flags of production; nothing is built again when nothing changed
///
/// The executable and all that the compiler printed are in DIR/build. `build.sh` does the same without krepro.
#[derive(Debug, clap::Args)]
pub struct Build {
    /// The reproducer's folder
    dir: Utf8PathBuf,
    #[command(flatten)]
    tools: Tools,
    /// Production's machine code, to be compared: a cubin, a library, or a folder of them (a JIT cache); may be repeated
    #[arg(long, value_name = "FILE|DIR")]
    production: Vec<Utf8PathBuf>,
    /// Print the build for another build system instead of building
    #[arg(long, value_name = "FORM", value_enum)]
    emit: Option<Emit>,
}

/// For whom a build is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// A build.ninja
    Ninja,
    /// A line for a shell
    Shell,
}

/// What compiles, and for what.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Tools {
    /// The nvcc to use, or the toolkit folder it is in
    #[arg(long, value_name = "PATH")]
    nvcc: Option<String>,
    /// The GPU to build for, where the log names several or none (sm_90a); default: the GPU of this machine
    #[arg(long, value_name = "SM")]
    arch: Option<GpuArch>,
    /// A program to put before nvcc, for example sccache
    #[arg(long, value_name = "PROGRAM")]
    launcher: Option<String>,
    /// Build in two halves at a time: the device image by nvcc, the harness by the host compiler; where that does not work, whole
    #[arg(long)]
    halves: bool,
}

impl Tools {
    /// A program put before nvcc.
    pub fn launcher(&self) -> Option<&str> {
        self.launcher.as_deref()
    }

    /// Whether to build in two halves.
    pub fn halves(&self) -> bool {
        self.halves
    }

    /// The arguments for this reproducer, and a toolchain that is fit for them.
    ///
    /// # Errors
    /// No fit nvcc or host compiler (125).
    pub fn find(&self, session: &Session<'_>, reproducer: &Reproducer) -> Result<(BuildLine, Toolchain), Failure> {
        let system = session.system;
        let here = || gpu::list(system).first().and_then(|found| found.arch.parse().ok());
        let line = BuildLine::new(&reproducer.compile, self.arch.or_else(here));
        let found =
            toolchain::find(system, self.nvcc.as_deref(), line.host_compiler()).map_err(Failure::cannot_test)?;
        match line.gpu.and_then(|arch| fit::refusal(system, &found, arch)) {
            Some(refusal) => Err(Failure::cannot_test(refusal)),
            None => Ok((line, found)),
        }
    }
}

impl Build {
    /// Runs it.
    ///
    /// # Errors
    /// No reproducer there (2); no fit nvcc or host compiler, or a failed build (125); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let folder = Folder::new(&self.dir);
        let (_, reproducer) = folder.load(session.system)?;
        if let Some(form) = self.emit {
            return self.print(session, folder.path(), &reproducer, form);
        }
        let built = built(session, folder.path(), &reproducer, &self.tools)?;
        let fidelity = self.fidelity(session, &reproducer, &built)?;
        let after = after_build(&reproducer, &fidelity, &built.output, &session.system.read(&built.executable)?);
        if session.global.json {
            session.print_json(&json!({
                "version": 1,
                "build": built,
                "fidelity": fidelity,
                "findings": after.findings,
                "notes": after.notes.messages,
            }))?;
            return Ok(Exit::Success);
        }
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a build")]
        let seconds = built.milliseconds as f64 / 1000.0;
        let how = if built.compiled { format!("built in {seconds:.1} s") } else { "nothing changed".to_owned() };
        writeln!(session.out(), "{}: {how}", built.executable)?;
        show(session, &fidelity)?;
        after_build::show(session, &after)?;
        Ok(Exit::Success)
    }

    /// Prepares the folders that the command links from, and prints it.
    fn print(
        &self,
        session: &mut Session<'_>,
        folder: &Utf8Path,
        reproducer: &Reproducer,
        form: Emit,
    ) -> Result<Exit, Failure> {
        let (line, found) = self.tools.find(session, reproducer)?;
        let name = reproducer.name.as_str();
        let job = Job { folder, name, line: &line, launcher: self.tools.launcher(), halves: None, cache: None };
        let run_in = session.system.real_path(folder).join("build");
        build::prepare(session.system, &found, &job).map_err(Failure::cannot_test)?;
        let top = session.system.real_path(folder);
        let (input, output) = (top.join(format!("{name}.cu")), run_in.join(name));
        // Another build system compares paths, and runs in a folder of its own: both ends are absolute.
        let mut command = build::command(&job, &found);
        for (relative, absolute) in BuildLine::files(name).iter().zip([input.as_str(), "-o", output.as_str()]) {
            if let Some(word) = command.iter_mut().rev().find(|word| *word == relative) {
                absolute.clone_into(word);
            }
        }
        let dependencies = run_in.join(format!("{name}.d"));
        let steps = [Step {
            folder: run_in.as_str(),
            command: &command,
            output: output.as_str(),
            input: input.as_str(),
            dependencies: dependencies.as_str(),
        }];
        let text = if form == Emit::Ninja { package::ninja(&steps) } else { package::shell_lines(&steps) };
        write!(session.out(), "{text}")?;
        Ok(Exit::Success)
    }

    fn fidelity(&self, session: &Session<'_>, reproducer: &Reproducer, built: &Built) -> Result<Fidelity, Failure> {
        let system = session.system;
        let found = self.tools.find(session, reproducer)?;
        let production = production(session, &self.production)?;
        let kernels = kernels::of(&system.read(&built.executable)?);
        Ok(fidelity::weigh(&Evidence {
            reproducer,
            line: &found.0,
            kernels: &kernels,
            usage: &usage::of(&built.output),
            instructions: &sass::count(system, &found.1, &built.executable),
            production: &production,
        }))
    }
}

/// Kernels of production's files; a folder is searched for cubins and libraries.
fn production(session: &Session<'_>, paths: &[Utf8PathBuf]) -> Result<Vec<(String, Vec<Kernel>)>, Failure> {
    let system = session.system;
    let mut files = vec![];
    let mut waiting: Vec<Utf8PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = waiting.pop() {
        if system.is_folder(&path) {
            waiting.extend(system.list(&path).into_iter().rev().map(|name| path.join(name)));
        } else if paths.contains(&path) || path.extension().is_some_and(|e| ["cubin", "so", "fatbin", "o"].contains(&e))
        {
            let kernels = kernels::of(&system.read(&path)?);
            if kernels.is_empty() && paths.contains(&path) {
                let message = format!("{path} holds no kernel: it is no cubin, fat binary or library with one");
                return Err(Failure::input(Diagnostic::error("K-OPTION", message)));
            }
            files.push((path.into_string(), kernels));
        }
    }
    Ok(files)
}

fn show(session: &mut Session<'_>, fidelity: &Fidelity) -> Result<(), Failure> {
    let level = match fidelity.level {
        Level::Proven => "proven",
        Level::Partial => "partial",
        Level::Unknown => "unknown",
    };
    let mut rows = vec![("fidelity", format!("{level}: {}", fidelity.why))];
    rows.extend(fidelity.symbol.iter().map(|symbol| ("symbol", symbol.clone())));
    rows.extend(fidelity.usage.iter().map(|u| {
        let text = format!(
            "{} of a thread; {} bytes stored and {} loaded by spills; {} bytes of static shared memory",
            u.registers, u.spill_stores, u.spill_loads, u.shared_memory
        );
        ("registers", text)
    }));
    let mut counts: Vec<(&String, &u64)> = fidelity.instructions.iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let total: u64 = fidelity.instructions.values().sum();
    if total > 0 {
        let most: Vec<String> = counts.iter().take(8).map(|(name, count)| format!("{name} {count}")).collect();
        rows.push(("instructions", format!("{total}: {} …", most.join(", "))));
    }
    let named = fidelity.arguments.iter().filter(|a| a.same == Some(false));
    rows.extend(named.map(|a| ("differs", format!("`{}` was built as `{}`", a.transcribed, a.built))));
    if !fidelity.defaults.is_empty() {
        let told: Vec<_> = fidelity.defaults.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        rows.push(("defaults", format!("left to the header: {}", told.join(", "))));
    }
    rows.extend(fidelity.flags.iter().map(|flag| ("flag", flag.clone())));
    if let Some(Comparison { file, equal, difference }) = &fidelity.production {
        let word = if *equal { "equal" } else { "different" };
        let more = difference.as_ref().map_or_else(String::new, |d| format!("; {d}"));
        rows.push(("production", format!("{word}: {file}{more}")));
    }
    for (name, value) in rows {
        writeln!(session.out(), "{name:<13} {value}")?;
    }
    Ok(())
}

/// Where executables of all reproducers are kept by content; `None` where krepro has no folder of its own.
pub fn cache(system: &dyn System) -> Option<Utf8PathBuf> {
    toolchain::cache::folder(system).ok().map(|folder| folder.join("builds"))
}

/// The executable of the reproducer in `folder`, built when it is stale.
///
/// # Errors
/// No fit nvcc or host compiler, or a failed build (125); file errors (74).
pub fn built(
    session: &mut Session<'_>,
    folder: &Utf8Path,
    reproducer: &Reproducer,
    tools: &Tools,
) -> Result<Built, Failure> {
    let system = session.system;
    let (line, found) = tools.find(session, reproducer)?;
    let kept = cache(system);
    let launcher = tools.launcher.as_deref();
    let wanted = build::Wanted::of(reproducer, "krepro_kernel").map(|wanted| [wanted]);
    let halves = wanted.as_ref().filter(|_| tools.halves).map(|wanted| wanted.as_slice());
    let job = Job { folder, name: &reproducer.name, line: &line, launcher, halves, cache: kept.as_deref() };
    let spinner = spinner(&reproducer.name);
    let result = build::build(system, &found, &job, &mut |_| {});
    spinner.finish_and_clear();
    result.map_err(|error| match error {
        NotBuilt::Refused { output, .. } => Failure::cannot_test(refused(system, folder, reproducer, &output)),
        NotBuilt::Unable(diagnostics) => Failure::cannot_test(diagnostics),
        NotBuilt::File(error) => error.into(),
    })
}

/// Elapsed time on a terminal; nothing in a pipe.
fn spinner(name: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_message(format!("nvcc {name}.cu"));
    bar.enable_steady_tick(Duration::from_millis(100));
    match ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
