//! A reproducer's folder: what lies in it, and that nothing of a person's is ever lost.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Reproducer;
use crate::read::record;
use crate::render::{Rendered, is_as_rendered};
use crate::source::Source;
use crate::sys::System;

/// Name of the record.
pub const RECORD: &str = "repro.toml";

/// A folder with a `repro.toml`.
#[derive(Debug, Clone)]
pub struct Folder {
    path: Utf8PathBuf,
}

/// Why a folder gives no reproducer.
#[derive(Debug)]
pub enum Trouble {
    /// A file error.
    File(std::io::Error),
    /// The record is missing or wrong.
    Input(Diagnostics),
}

impl Folder {
    /// The folder at `path`; a path that names the record itself means its folder.
    pub fn new(path: &Utf8Path) -> Self {
        let path = if path.file_name() == Some(RECORD) { path.parent().unwrap_or(Utf8Path::new(".")) } else { path };
        Folder { path: if path.as_str().is_empty() { ".".into() } else { path.to_owned() } }
    }

    /// Its path.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> Utf8PathBuf {
        self.path.join(name)
    }

    /// Reads the record.
    ///
    /// # Errors
    /// The folder or the record is not there, cannot be read, or is wrong.
    pub fn load(&self, system: &dyn System) -> Result<(Arc<Source>, Reproducer), Trouble> {
        let path = self.file(RECORD);
        if !system.is_file(&path) {
            return Err(Trouble::Input(
                Diagnostic::error("K-FOLDER", format!("{} holds no {RECORD}", self.path))
                    .help("make a reproducer with `krepro new … -o DIR`")
                    .into(),
            ));
        }
        let source = Source::new(path.as_str(), system.read(&path).map_err(Trouble::File)?);
        let record = record::parse(&source).map_err(Trouble::Input)?;
        Ok((source, record))
    }
}

impl Folder {
    /// Refuses to write a new record, and copies of what was read, over what a person edited or put there.
    ///
    /// # Errors
    /// The files, each with what to do; a file error.
    pub fn refuse_foreign(&self, system: &dyn System, copies: &[&str]) -> Result<(), Trouble> {
        let mut problems = Diagnostics::new();
        let record = self.file(RECORD);
        if system.is_file(&record) {
            let bytes = system.read(&record).map_err(Trouble::File)?;
            if is_as_rendered(&String::from_utf8_lossy(&bytes)) != Some(true) {
                problems.push(
                    Diagnostic::error("K-EDITED", format!("{record} was edited by hand and is kept")).help(
                        "`krepro render` writes the .cu from it; or move it away, or choose another folder with -o",
                    ),
                );
            }
        } else {
            for path in copies.iter().map(|name| self.file(name)).filter(|path| system.is_file(path)) {
                problems.push(
                    Diagnostic::error("K-EDITED", format!("{path} is there, and the folder is no reproducer's"))
                        .help("choose another folder with -o"),
                );
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Trouble::Input(problems)) }
    }

    /// Refuses when a person changed a file that rendering would write again.
    ///
    /// # Errors
    /// The edited files, each with what to do; a file error.
    pub fn refuse_edited(&self, system: &dyn System, rendered: &Rendered) -> Result<(), Trouble> {
        let mut problems = Diagnostics::new();
        for file in &rendered.files {
            let path = self.file(&file.name);
            if !system.is_file(&path) {
                continue;
            }
            let bytes = system.read(&path).map_err(Trouble::File)?;
            if is_as_rendered(&String::from_utf8_lossy(&bytes)) != Some(true) {
                problems.push(
                    Diagnostic::error("K-EDITED", format!("{path} was edited by hand and is kept"))
                        .because("`krepro build` and `krepro run` use the edited file")
                        .help("move it away to have it written again, or choose another folder with -o"),
                );
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Trouble::Input(problems)) }
    }

    /// Writes the rendered files and returns their paths.
    ///
    /// # Errors
    /// The file error, naming the file.
    pub fn write(&self, system: &dyn System, rendered: &Rendered) -> std::io::Result<Vec<Utf8PathBuf>> {
        let mut written = Vec::new();
        for file in &rendered.files {
            let path = self.file(&file.name);
            system.write(&path, file.text.as_bytes())?;
            if file.executable {
                system.make_program(&path)?;
            }
            written.push(path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::{Folder, Trouble};
    use crate::sys::Fake;

    #[test]
    fn the_record_names_its_folder() {
        assert_eq!(Folder::new(Utf8Path::new("x/repro.toml")).path(), "x");
        assert_eq!(Folder::new(Utf8Path::new("repro.toml")).path(), ".");
        assert_eq!(Folder::new(Utf8Path::new("x")).path(), "x");
    }

    #[test]
    fn a_folder_without_a_record_is_an_input_error() {
        let trouble = Folder::new(Utf8Path::new("x")).load(&Fake::new()).expect_err("nothing there");
        assert!(matches!(trouble, Trouble::Input(_)));
    }
}
