//! A program to run, and how it ended.

use std::time::Duration;

use camino::Utf8PathBuf;

/// A program to run, with its arguments given one by one (no shell is involved).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Program.
    pub program: String,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Folder to run in; the current one when `None`.
    pub folder: Option<Utf8PathBuf>,
    /// Variables to set, or to unset (`None`), in the inherited environment.
    pub environment: Vec<(String, Option<String>)>,
    /// Killed, with all that it started, after this long.
    pub deadline: Option<Duration>,
}

impl Request {
    /// `program` without arguments, in the current folder, without deadline.
    pub fn new(program: impl Into<String>) -> Self {
        Request { program: program.into(), arguments: vec![], folder: None, environment: vec![], deadline: None }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<T: Into<String>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), Some(value.into())));
        self
    }

    /// Runs in `folder`.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<Utf8PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Kills it after `deadline`.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Program and arguments as one list.
    pub fn words(&self) -> Vec<String> {
        std::iter::once(self.program.clone()).chain(self.arguments.iter().cloned()).collect()
    }
}

/// Which output a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// krepro killed it at its deadline.
    Deadline,
}

/// A program that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub ending: Ending,
    /// All of its standard output.
    pub output: Vec<u8>,
    /// All of its standard error.
    pub error: Vec<u8>,
    /// From start to end.
    pub elapsed: Duration,
}

impl Finished {
    /// Exited with 0.
    pub fn success(&self) -> bool {
        self.ending == Ending::Code(0)
    }

    /// Standard output as text; broken UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Standard output and standard error as one text; broken UTF-8 is replaced.
    pub fn all_text(&self) -> String {
        let mut text = self.text();
        text.push_str(&String::from_utf8_lossy(&self.error));
        text
    }
}
