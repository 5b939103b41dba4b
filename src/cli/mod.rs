//! The command line: one file for each subcommand.
//!
//! A subcommand is a clap `Args` with `run(self, &mut Session) -> Result<Exit, Failure>`. It prints through the session,
//! never directly, and returns what the process ends with.

mod after_build;
mod build;
mod check;
mod demo;
mod diagnose;
mod doctor;
mod explain;
mod export;
mod findings;
mod flags;
mod new;
mod on_cpu;
mod oracle;
mod refusal;
mod refused;
mod render;
mod run;
mod selftest;
mod session;
mod shrink;
mod sweep;
mod sweep_case;
mod toolchain;
mod tools;

use clap::{ColorChoice, Parser, Subcommand};

use refusal::refusal;
pub use session::{Failure, Session};

use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::sys::Machine;

/// From a GPU kernel that gives a wrong number to the stage at fault, or to the refuted suspicion.
#[derive(Debug, Parser)]
#[command(name = "krepro", version, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every subcommand.
#[derive(Debug, Clone, clap::Args)]
pub struct Global {
    /// Print the result, and any error, as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Colour in errors and tables
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Build),
    Check(check::Check),
    Demo(demo::Demo),
    Doctor(doctor::Doctor),
    Explain(explain::Explain),
    Export(export::Export),
    Flags(flags::Flags),
    New(Box<new::New>),
    Render(render::Render),
    Run(run::Run),
    Sweep(sweep::Sweep),
    Selftest(selftest::Selftest),
    Toolchain(toolchain::Toolchain),
}

/// Runs the process's command line; gives the process's exit code, one of [`Exit`] but for `run --bisect`.
pub fn main() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let usage = error.use_stderr();
            // Nothing else of the command line is known, but that a program reads the answer.
            if usage && std::env::args_os().any(|word| word == "--json") {
                let machine = Machine;
                let global = Global { json: true, color: ColorChoice::Never };
                let text = error.render().to_string();
                let problem = Diagnostic::error("K-USAGE", text.trim_start_matches("error: ").trim_end().to_owned());
                return Session::of_process(&machine, global).fail(Failure::input(problem)) as u8;
            }
            return match error.print() {
                Ok(()) if usage => Exit::Input,
                Ok(()) => Exit::Success,
                Err(_) => Exit::File,
            } as u8;
        }
    };
    let machine = Machine;
    let mut session = Session::of_process(&machine, cli.global);
    dispatch(cli.command, &mut session)
}

/// Runs one subcommand and says why when it gives no result; returns the exit code.
fn dispatch(command: Command, session: &mut Session<'_>) -> u8 {
    let outcome = match command {
        Command::Build(build) => build.run(session),
        Command::Check(check) => check.run(session),
        Command::Demo(demo) => demo.run(session),
        Command::Doctor(doctor) => doctor.run(session),
        Command::Explain(explain) => explain.run(session),
        Command::Export(export) => export.run(session),
        Command::Flags(flags) => flags.run(session),
        Command::New(new) => new.run(session),
        Command::Render(render) => render.run(session),
        Command::Run(run) => return run.run(session).unwrap_or_else(|failure| session.fail(failure) as u8),
        Command::Sweep(sweep) => sweep.run(session),
        Command::Selftest(selftest) => selftest.run(session),
        Command::Toolchain(toolchain) => toolchain.run(session),
    };
    outcome.unwrap_or_else(|failure| session.fail(failure)) as u8
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
