//! A machine made of a table, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Ending, Finished, HostTool, Request, Stream, System};

/// Files, variables and scripted programs.
#[derive(Debug, Default)]
pub struct Fake {
    /// Its environment.
    pub environment: BTreeMap<String, String>,
    /// What stands in its standard input.
    pub input: Vec<u8>,
    /// Its files, as [`Fake::files`] gives them.
    pub files: Mutex<BTreeMap<Utf8PathBuf, Vec<u8>>>,
    /// Programs: the words of the command line joined by blanks begin with the key; exit code and standard output.
    pub programs: Vec<(String, i32, String)>,
    /// What the `cc` crate would find.
    pub host: Option<HostTool>,
    /// The command lines that were run, as [`Fake::ran`] gives them.
    pub ran: Mutex<Vec<String>>,
}

impl Fake {
    /// Nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its files; writing adds to them.
    pub fn files(&self) -> MutexGuard<'_, BTreeMap<Utf8PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With one more file.
    #[must_use]
    pub fn file(self, path: impl Into<Utf8PathBuf>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files().insert(path.into(), bytes.into());
        self
    }

    /// The command lines that were run.
    pub fn ran(&self) -> Vec<String> {
        self.lines().clone()
    }

    fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.ran.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// With a program that answers command lines beginning with `words`.
    #[must_use]
    pub fn program(mut self, words: &str, code: i32, output: &str) -> Self {
        self.programs.push((words.into(), code, output.into()));
        self
    }
}

impl System for Fake {
    fn env(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }

    fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>> {
        self.files()
            .get(path)
            .cloned()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{path}: no such file")))
    }

    fn stream(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn stdin(&self) -> Box<dyn Read + '_> {
        Box::new(self.input.as_slice())
    }

    fn write(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        self.files().insert(path.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn make_program(&self, path: &Utf8Path) -> io::Result<()> {
        self.read(path).map(drop)
    }

    fn append(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        self.files().entry(path.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn is_file(&self, path: &Utf8Path) -> bool {
        self.files().contains_key(path)
    }

    fn is_folder(&self, path: &Utf8Path) -> bool {
        !self.list(path).is_empty()
    }

    fn list(&self, path: &Utf8Path) -> Vec<String> {
        let files = self.files();
        let names: BTreeSet<String> = files
            .keys()
            .filter_map(|file| file.strip_prefix(path).ok()?.components().next().map(|c| c.to_string()))
            .collect();
        names.into_iter().collect()
    }

    fn real_path(&self, path: &Utf8Path) -> Utf8PathBuf {
        path.to_owned()
    }

    fn make_folder(&self, _: &Utf8Path) -> io::Result<()> {
        Ok(())
    }

    fn link(&self, target: &Utf8Path, link: &Utf8Path) -> io::Result<()> {
        self.write(link, target.as_str().as_bytes())
    }

    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        let mut files = self.files();
        let moved: Vec<Utf8PathBuf> = files.keys().filter(|f| f.starts_with(from)).cloned().collect();
        for file in moved {
            let bytes = files.remove(&file).unwrap_or_default();
            let rest = file.strip_prefix(from).unwrap_or(&file);
            files.insert(if rest.as_str().is_empty() { to.to_owned() } else { to.join(rest) }, bytes);
        }
        Ok(())
    }

    fn remove(&self, path: &Utf8Path) -> io::Result<()> {
        self.files().retain(|file, _| !file.starts_with(path));
        Ok(())
    }

    fn usage(&self, path: &Utf8Path) -> Option<(u64, u64)> {
        let files = self.files();
        let sizes: Vec<u64> = files.iter().filter(|(f, _)| f.starts_with(path)).map(|(_, b)| b.len() as u64).collect();
        if sizes.is_empty() { None } else { Some((sizes.iter().sum(), 0)) }
    }

    fn which(&self, program: &str) -> Option<Utf8PathBuf> {
        let folders = self.env("PATH").unwrap_or_default();
        let path = if program.starts_with('/') { Some(program.into()) } else { None };
        path.or_else(|| folders.split(':').map(|f| Utf8Path::new(f).join(program)).find(|p| self.is_file(p)))
            .filter(|path: &Utf8PathBuf| self.is_file(path))
    }

    fn host_compiler(&self) -> Result<HostTool, String> {
        self.host.clone().ok_or_else(|| "no C++ compiler".to_owned())
    }

    fn run_streaming(&self, request: &Request, on_line: &mut dyn FnMut(Stream, &str)) -> io::Result<Finished> {
        let words = request.words().join(" ");
        self.lines().push(words.clone());
        let (_, code, output) =
            self.programs.iter().find(|(start, ..)| words.starts_with(start)).ok_or(io::ErrorKind::NotFound)?;
        output.lines().for_each(|line| on_line(Stream::Output, line));
        let output = output.clone().into_bytes();
        Ok(Finished { ending: Ending::Code(*code), output, error: vec![], elapsed: Duration::ZERO })
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn capacity(&self) -> (usize, u64) {
        (2, 8 << 30)
    }
}
