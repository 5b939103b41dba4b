//! `krepro toolchain`: what would compile here, and a compiler for machines without one.

use std::io::IsTerminal;

use camino::Utf8PathBuf;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::{Failure, Session};
use crate::exit::Exit;
use crate::toolchain::install::{self, Step};
use crate::toolchain::{self, gpu};

/// What compiles and runs here, and a compiler for machines without one
#[derive(Debug, clap::Args)]
pub struct Toolchain {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Which nvcc, host compiler and GPU krepro would use, and why
    Show {
        /// The nvcc to use, or the toolkit folder it is in
        #[arg(long, value_name = "PATH")]
        nvcc: Option<String>,
    },
    /// Put a pinned nvcc into krepro's cache: wheels from PyPI through pip, 275 MB, no root and no GPU needed
    ///
    /// The cache is $KREPRO_CACHE, else $XDG_CACHE_HOME/krepro, else ~/.cache/krepro. pip's own configuration (index, proxy,
    /// certificates) is respected. What is there already is left alone.
    Install {
        /// The CUTLASS and CuTe headers as well (27 MB)
        #[arg(long)]
        cutlass: bool,
    },
}

impl Toolchain {
    /// Runs it.
    ///
    /// # Errors
    /// No fit toolchain, or one that cannot be installed (125); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        match self.command {
            Command::Show { nvcc } => show(session, nvcc.as_deref()),
            Command::Install { cutlass } => install(session, cutlass),
        }
    }
}

fn show(session: &mut Session<'_>, nvcc: Option<&str>) -> Result<Exit, Failure> {
    let found = toolchain::find(session.system, nvcc, None).map_err(Failure::cannot_test)?;
    let gpus = gpu::list(session.system);
    let cutlass = install::cutlass(session.system);
    if session.global.json {
        let value = json!({ "version": 1, "toolchain": found, "cutlass": cutlass, "gpus": gpus });
        session.print_json(&value)?;
        return Ok(Exit::Success);
    }
    let none = || "none".to_owned();
    let path = |path: &Option<Utf8PathBuf>| path.as_ref().map_or_else(none, ToString::to_string);
    let layout = &found.layout;
    let (host, limit) = (&found.host, &found.host_limit);
    let newest = if host.family == "clang" { limit.clang } else { limit.gcc };
    let newest = newest.map_or_else(String::new, |n| format!("; this nvcc takes up to {n}"));
    let mut rows = vec![
        ("nvcc", format!("{} {} ({})", found.nvcc, found.version, found.found_by)),
        ("host compiler", format!("{} {} {} ({}{newest})", host.path, host.family, host.version, host.found_by)),
        ("include", path(&layout.include)),
        ("libcudart", path(&layout.cudart)),
        (
            "libcuda",
            layout.libcuda.as_ref().map_or("none: a stub is built where it is needed".into(), ToString::to_string),
        ),
        ("CUTLASS", path(&cutlass)),
    ];
    rows.extend(gpus.iter().map(|g| ("GPU", format!("{} {} (driver {})", g.name, g.arch, g.driver))));
    if gpus.is_empty() {
        rows.push(("GPU", "none that nvidia-smi tells of".to_owned()));
    }
    for (name, value) in rows {
        writeln!(session.out(), "{name:<14} {value}")?;
    }
    for passed in &found.passed_over {
        writeln!(session.out(), "{:<14} {passed}", "passed over")?;
    }
    Ok(Exit::Success)
}

fn install(session: &mut Session<'_>, cutlass: bool) -> Result<Exit, Failure> {
    let mut places = vec![];
    for component in install::wanted(cutlass) {
        writeln!(session.err(), "{}: {}, under {}", component.name, component.what, component.licence)?;
        let bar = bar();
        let mut done = None;
        let result = install::install(session.system, &component, &mut |step| match step {
            Step::Begin(wheels) => bar.set_length(wheels as u64 + 1),
            Step::Wheel(wheel) => {
                bar.set_message(wheel);
                bar.inc(1);
            }
            Step::There(place) => done = Some(format!("already there: {place}")),
            Step::Done(place) => done = Some(format!("installed: {place}")),
        });
        bar.finish_and_clear();
        let place = result.map_err(Failure::cannot_test)?;
        writeln!(session.err(), "  {}", done.unwrap_or_default())?;
        places.push(json!({ "name": component.name, "folder": place, "check": place.join(&component.check) }));
    }
    if session.global.json {
        session.print_json(&json!({ "version": 1, "components": places }))?;
    } else {
        for place in &places {
            let text = place["check"].as_str().unwrap_or_default();
            writeln!(session.out(), "{text}")?;
        }
    }
    Ok(Exit::Success)
}

/// Wheels done of all wheels, on a terminal; nothing in a pipe.
fn bar() -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    match ProgressStyle::with_template("  [{bar:24}] {pos}/{len} {msg} {elapsed}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
