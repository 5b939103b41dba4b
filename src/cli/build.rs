//! `krepro build`: nvcc with the recovered flags.

use std::io::IsTerminal;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{Failure, Session};
use crate::build::{self, Built, Job, NotBuilt};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::model::{BuildLine, GpuArch, Reproducer};
use crate::read::record;
use crate::source::Source;
use crate::toolchain::{self, fit, gpu};

/// Build a reproducer with the flags of production; nothing is built again when nothing changed
///
/// The executable and all that the compiler printed are in DIR/build. `build.sh` does the same without krepro.
#[derive(Debug, clap::Args)]
pub struct Build {
    /// The reproducer's folder
    dir: Utf8PathBuf,
    #[command(flatten)]
    tools: Tools,
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
}

impl Build {
    /// Runs it.
    ///
    /// # Errors
    /// No reproducer there (2); no fit nvcc or host compiler, or a failed build (125); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let reproducer = load(session, &self.dir)?;
        let built = built(session, &self.dir, &reproducer, &self.tools)?;
        if session.global.json {
            session.print_json(&json!({ "version": 1, "build": built }))?;
            return Ok(Exit::Success);
        }
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a build")]
        let seconds = built.milliseconds as f64 / 1000.0;
        let how = if built.compiled { format!("built in {seconds:.1} s") } else { "nothing changed".to_owned() };
        writeln!(session.out(), "{}: {how}", built.executable)?;
        Ok(Exit::Success)
    }
}

fn load(session: &Session<'_>, folder: &Utf8Path) -> Result<Reproducer, Failure> {
    let path = folder.join("repro.toml");
    if !session.system.is_file(&path) {
        let diagnostic = Diagnostic::error("K-FOLDER", format!("{folder} holds no repro.toml"));
        return Err(Failure::input(diagnostic.help("make a reproducer with `krepro new … -o DIR`")));
    }
    let source = Source::new(path.as_str(), session.system.read(&path)?);
    record::parse(&source).map_err(Failure::input)
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
    let here = || gpu::list(system).first().and_then(|found| found.arch.parse().ok());
    let line = BuildLine::new(&reproducer.compile, tools.arch.or_else(here));
    let found = toolchain::find(system, tools.nvcc.as_deref(), line.host_compiler()).map_err(Failure::cannot_test)?;
    if let Some(refusal) = line.gpu.and_then(|arch| fit::refusal(system, &found, arch)) {
        return Err(Failure::cannot_test(refusal));
    }
    let job = Job { folder, name: &reproducer.name, line: &line, launcher: tools.launcher.as_deref() };
    let spinner = spinner(&reproducer.name);
    let result = build::build(system, &found, &job, &mut |_| {});
    spinner.finish_and_clear();
    result.map_err(|error| match error {
        NotBuilt::Refused { output, .. } => Failure::cannot_test(build::explain(system, folder, reproducer, &output)),
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
