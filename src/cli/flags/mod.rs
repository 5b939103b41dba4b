//! `krepro flags`: the compile command in a log.

mod paths;
mod text;

use std::io::Write as _;

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Failure, Session};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::read::log::{Options, Select, recover};
use crate::sys;

/// Recover the flags of a compile command from anything that holds it
///
/// LOG is a build log, a traceback, a compile_commands.json, a build.ninja, a process listing, or `-` for standard input.
/// The result is what builds an executable with production's device flags: one command is chosen, and what was dropped or
/// changed is said on standard error with the reason.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The log, or `-` for standard input
    #[arg(default_value = "-")]
    log: Utf8PathBuf,
    /// How the flags are printed
    #[arg(long, value_enum, default_value = "args")]
    format: Format,
    /// With `--format args`: separate by NUL instead of newline
    #[arg(short = '0', long)]
    null: bool,
    /// Take the command that begins in this line, or that reads or makes this file (a path or its end)
    #[arg(long, value_name = "LINE|FILE")]
    select: Option<String>,
    /// Replace a path of the log by one of this machine; may be repeated
    #[arg(long, value_name = "/OLD=/NEW")]
    map: Vec<String>,
    /// The GPU that failed (sm_90a), for a log that says -arch=native
    #[arg(long, value_name = "SM")]
    arch: Option<String>,
    /// A response file of the command that is not in the log: this file is read in its place
    #[arg(long, value_name = "FILE")]
    response: Vec<Utf8PathBuf>,
    /// Keep options that make nvcc or the host compiler run or load a program
    #[arg(long)]
    trust_log: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One argument a line
    Args,
    /// One line for a shell
    Shell,
    /// Everything that is known, as JSON
    Json,
    /// A profile, as TOML
    Toml,
}

impl Flags {
    /// Runs it.
    ///
    /// # Errors
    /// The log cannot be read (74), or holds no usable command (2).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let options = self.options(session)?;
        let system = session.system;
        let input = sys::open(system, &self.log)?;
        let mut recovered = recover(input.stream, &options).map_err(Failure::input)?;
        let absent = paths::absent(system, &recovered.command);
        recovered.diagnostics.append(paths::notice(&absent).into_iter().collect());
        let exit = if recovered.buildable() { Exit::Success } else { Exit::Draft };
        let format = if session.global.json { Format::Json } else { self.format };
        match format {
            Format::Json => session.print_json(&text::document(&recovered, &absent))?,
            Format::Toml => {
                let text = toml::to_string(&json!({ "version": 1, "compile": recovered.command })).map_err(|e| {
                    Failure { exit: Exit::Bug, diagnostics: Diagnostic::error("K-BUG", e.to_string()).into() }
                })?;
                session.out().write_all(text.as_bytes())?;
            }
            Format::Shell => {
                let words: Vec<String> = recovered.command.arguments.iter().map(|a| text::quote(&a.text)).collect();
                writeln!(session.out(), "{}", words.join(" "))?;
            }
            Format::Args => {
                let end = if self.null { "\0" } else { "\n" };
                let text: String = recovered.command.arguments.iter().flat_map(|a| [a.text.as_str(), end]).collect();
                // The session's writer takes control characters out where colours are off; NULs are meant here.
                std::io::stdout().lock().write_all(text.as_bytes())?;
            }
        }
        if format != Format::Json {
            text::explain(session, &recovered)?;
        }
        Ok(exit)
    }

    fn options(&self, session: &Session<'_>) -> Result<Options, Failure> {
        let mut map = vec![];
        for pair in &self.map {
            let Some((from, to)) = pair.split_once('=').filter(|(from, _)| !from.is_empty()) else {
                return Err(Failure::input(
                    Diagnostic::error("K-USAGE", format!("`--map {pair}` is no pair of paths"))
                        .help("write --map /old=/new"),
                ));
            };
            map.push((from.to_owned(), to.to_owned()));
        }
        let mut responses = vec![];
        for path in &self.response {
            responses.push((path.to_string(), session.system.read(path)?));
        }
        let select = self.select.as_ref().map(|text| match text.parse() {
            Ok(line) => Select::Line(line),
            Err(_) => Select::File(text.clone()),
        });
        Ok(Options {
            name: self.log.to_string(),
            select,
            trust: self.trust_log,
            map,
            arch: self.arch.clone(),
            responses,
        })
    }
}
