//! The `krepro` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    krepro::cli::main().into()
}
