//! `krepro render`: the generated files again, from an edited `repro.toml`.

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Failure, Session, findings};
use crate::exit::Exit;
use crate::pipeline;
use crate::store::Folder;

/// Write NAME.cu and build.sh again from an edited repro.toml
///
/// A file that was edited by hand is never overwritten.
#[derive(Debug, clap::Args)]
pub struct Render {
    /// The reproducer's folder
    dir: Utf8PathBuf,
}

impl Render {
    /// Runs it.
    ///
    /// # Errors
    /// A record that is wrong, a finding that refuses, an edited file (2); a file error (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let folder = Folder::new(&self.dir);
        let (_, reproducer) = folder.load(session.system)?;
        let made = pipeline::make(reproducer).map_err(super::refusal)?;
        folder.refuse_edited(session.system, &made.rendered)?;
        let written = folder.write(session.system, &made.rendered)?;
        findings::show(session, made.checked.findings())?;
        if session.global.json {
            session.print_json(&json!({ "version": 1, "files": written, "findings": made.checked.findings() }))?;
        } else {
            for file in &written {
                writeln!(session.out(), "wrote {file}")?;
            }
        }
        Ok(Exit::Success)
    }
}
