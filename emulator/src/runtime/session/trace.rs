//! The trace file of a run.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

use crate::exec::Step;

/// A file that is being written; the first error stays until the end.
#[derive(Debug)]
pub(crate) struct Trace {
    file: BufWriter<File>,
    steps: usize,
    error: Option<io::Error>,
}

impl Trace {
    pub(crate) fn create(path: &PathBuf) -> io::Result<Trace> {
        Ok(Trace { file: BufWriter::new(File::create(path)?), steps: 0, error: None })
    }

    /// Adds the matrix instructions of a launch.
    pub(super) fn add(&mut self, launch: usize, kernel: &str, steps: &[Step]) {
        for step in steps {
            if self.error.is_some() {
                return;
            }
            self.error = writeln!(self.file, "{}", step.json(launch, kernel)).err();
            self.steps += 1;
        }
    }

    /// How many were written.
    pub(crate) fn finish(mut self) -> io::Result<usize> {
        self.file.flush()?;
        self.error.map_or(Ok(self.steps), Err)
    }
}
