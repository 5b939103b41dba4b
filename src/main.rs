//! The `krepro` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    krepro::exit::Exit::Success.into()
}
