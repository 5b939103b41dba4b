//! What a subcommand runs with: the machine, the global options, and where it prints.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use clap::ColorChoice;
use serde_json::json;

use super::Global;
use crate::diag::{Diagnostic, Diagnostics, draw};
use crate::exit::Exit;
use crate::store::Trouble;
use crate::sys::System;

/// What a subcommand runs with.
pub struct Session<'m> {
    /// The machine.
    pub system: &'m dyn System,
    /// Options of every subcommand.
    pub global: Global,
    out: Box<dyn Write + 'm>,
    err: Box<dyn Write + 'm>,
    colour: bool,
}

/// Why a subcommand gave no result.
#[derive(Debug)]
pub struct Failure {
    /// What the process ends with.
    pub exit: Exit,
    /// What was wrong.
    pub diagnostics: Diagnostics,
}

impl Failure {
    /// Something is wrong with what the user gave.
    pub fn input(diagnostics: impl Into<Diagnostics>) -> Self {
        Failure { exit: Exit::Input, diagnostics: diagnostics.into() }
    }

    /// Something cannot be tested here.
    pub fn cannot_test(diagnostics: impl Into<Diagnostics>) -> Self {
        Failure { exit: Exit::CannotTest, diagnostics: diagnostics.into() }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::File(error) => error.into(),
            Trouble::Input(diagnostics) => Failure::input(diagnostics),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // Nobody reads on (`| head`): that is the reader's choice and no failure.
            return Failure { exit: Exit::Success, diagnostics: Diagnostics::new() };
        }
        // A file that was named and is not there is a wrong option, not a broken disk.
        let exit = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => Exit::Input,
            _ => Exit::File,
        };
        Failure { exit, diagnostics: Diagnostic::error("K-FILE", error.to_string()).into() }
    }
}

impl<'m> Session<'m> {
    /// The process's own standard output and error.
    pub fn of_process(system: &'m dyn System, global: Global) -> Self {
        let choice = match global.color {
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
            ColorChoice::Auto => anstream::ColorChoice::Auto,
        };
        let colour = match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => io::stderr().is_terminal() && system.env("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let out = Box::new(AutoStream::new(io::stdout(), choice));
        let err = Box::new(AutoStream::new(io::stderr(), choice));
        Session { system, global, out, err, colour }
    }

    /// With writers of one's own, for tests.
    pub fn with(system: &'m dyn System, global: Global, out: impl Write + 'm, err: impl Write + 'm) -> Self {
        Session { system, global, out: Box::new(out), err: Box::new(err), colour: false }
    }

    /// Standard output: results only.
    pub fn out(&mut self) -> &mut dyn Write {
        &mut *self.out
    }

    /// Standard error: everything else.
    pub fn err(&mut self) -> &mut dyn Write {
        &mut *self.err
    }

    /// Draws diagnostics on standard error.
    ///
    /// # Errors
    /// The stream's own.
    pub fn draw(&mut self, diagnostics: &Diagnostics) -> io::Result<()> {
        for diagnostic in diagnostics.iter() {
            writeln!(self.err, "{}\n", draw(diagnostic, self.colour))?;
        }
        Ok(())
    }

    /// Prints one JSON document, with a line end.
    ///
    /// # Errors
    /// The stream's own.
    pub fn print_json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *self.out, value)?;
        writeln!(self.out)
    }

    /// Says why there is no result: as JSON on standard output with `--json`, else drawn.
    pub fn fail(&mut self, failure: Failure) -> Exit {
        if failure.diagnostics.is_empty() {
            return failure.exit;
        }
        let said = if self.global.json {
            let value = json!({ "version": 1, "exit": failure.exit as u8, "diagnostics": failure.diagnostics });
            self.print_json(&value)
        } else {
            self.draw(&failure.diagnostics)
        };
        match said {
            Ok(()) => failure.exit,
            Err(_) => Exit::File,
        }
    }
}
