//! `krepro export`: a reproducer as a package that keeps it as a regression test.

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Failure, Session};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::model::BuildLine;
use crate::package;
use crate::store::{Folder, RECORD};

/// Keep a reproducer as a regression test: a Cargo package, or a CMake project
///
/// Both build with nvcc from $NVCC, $CUDA_HOME or PATH and the host compiler, and hold the generated file: krepro itself is not
/// needed. Where there is no fit GPU, the test runs on krepro's CPU backend when krepro is on PATH (or $KREPRO), else it is skipped.
#[derive(Debug, clap::Args)]
#[group(id = "form", required = true, multiple = true)]
pub struct Export {
    /// The reproducer's folder
    #[arg(group = "folder")]
    dir: Utf8PathBuf,
    /// Write a Cargo package into this folder
    #[arg(long, value_name = "DIR", group = "form")]
    cargo: Option<Utf8PathBuf>,
    /// Write a CMake project into this folder
    #[arg(long, value_name = "DIR", group = "form")]
    cmake: Option<Utf8PathBuf>,
}

impl Export {
    /// Runs it.
    ///
    /// # Errors
    /// No reproducer there, or a folder that holds other files (2); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let system = session.system;
        let folder = Folder::new(&self.dir);
        let (_, reproducer) = folder.load(system)?;
        let line = BuildLine::new(&reproducer.compile, None);
        let subject = package::Subject { name: &reproducer.name, line: &line };
        let mut written = vec![];
        let cargo = self.cargo.as_ref().map(|to| (to, package::cargo(&subject)));
        let cmake = self.cmake.as_ref().map(|to| (to, Ok(package::cmake(&subject))));
        for (to, files) in cargo.into_iter().chain(cmake) {
            let files = files.map_err(|error| Failure {
                exit: Exit::Bug,
                diagnostics: Diagnostic::error("K-BUG", error.to_string()).into(),
            })?;
            let taken: Vec<String> =
                system.list(to).into_iter().filter(|name| name != "target" && name != "Cargo.lock").collect();
            if !taken.is_empty() {
                let message = format!("{to} holds other files: {}", taken.join(", "));
                return Err(Failure::input(
                    Diagnostic::error("K-OPTION", message).help("name a folder that is empty or not there"),
                ));
            }
            for (name, text) in files {
                system.write(&to.join(&name), text.as_bytes())?;
                written.push(to.join(name));
            }
            // The record and what it was read from make the package a reproducer's folder too.
            let kept =
                std::iter::once(RECORD.to_owned()).chain(reproducer.inputs.iter().map(|input| input.copy.clone()));
            let copies: Vec<String> = std::iter::once(format!("{}.cu", reproducer.name)).chain(kept).collect();
            for name in copies {
                system.write(&to.join(&name), &system.read(&folder.file(&name))?)?;
                written.push(to.join(name));
            }
        }
        if session.global.json {
            session.print_json(&json!({ "version": 1, "files": written }))?;
        } else {
            for path in &written {
                writeln!(session.out(), "wrote {path}")?;
            }
        }
        Ok(Exit::Success)
    }
}
