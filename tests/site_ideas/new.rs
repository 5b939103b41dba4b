//! `krepro new` on a fixture, into a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// One command line.
pub struct New {
    folder: tempfile::TempDir,
    from: PathBuf,
    options: Vec<String>,
}

impl New {
    /// On a folder of `tests/sites`, under the log of `tests/scaffolds`.
    pub fn own(fixtures: &str, kernel: &str, site: &str, scaffold: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let from = root.join("sites").join(fixtures);
        let log = root.join("scaffolds/jit.log");
        let map = format!("/srv/kernels={}", from.display());
        Self::of(from, kernel, site, scaffold, &log).also("--map", &map)
    }

    /// On an example, with a site of one's own.
    pub fn example(example: &str, kernel: &str, site: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
        let log = from.join("jit.log");
        Self::of(from, kernel, site, "scaffold.toml", &log)
    }

    /// A kernel of a folder of `tests/sites` without a site.
    pub fn logged_kernel(fixtures: &str, kernel: &str, scaffold: &str) -> Self {
        let mut new = Self::own(fixtures, kernel, "", scaffold);
        let site = new.options.iter().position(|option| option == "--site").unwrap();
        new.options.drain(site..site + 2);
        new
    }

    /// On files by their full paths, under a log of one's own.
    pub fn logged(kernel: &str, site: &str, scaffold: &str, log: &str) -> Self {
        Self::of(Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(), kernel, site, scaffold, Path::new(log))
    }

    fn of(from: PathBuf, kernel: &str, site: &str, scaffold: &str, log: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let new = New { folder, from, options: vec![] };
        new.also("--kernel", kernel)
            .also("--site", site)
            .also("--scaffold", scaffold)
            .also("--log", &log.display().to_string())
    }

    /// With one more option.
    pub fn also(mut self, option: &str, value: &str) -> Self {
        self.options.extend([option.to_owned(), value.to_owned()]);
        self
    }

    /// With values given for the site.
    pub fn set(self, values: &[&str]) -> Self {
        values.iter().fold(self, |new, value| new.also("--set", value))
    }

    /// With facts given for the contract.
    pub fn contract(self, values: &[&str]) -> Self {
        values.iter().fold(self, |new, value| new.also("--contract", value))
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("repro")
    }

    fn run(&self) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_krepro"));
        let command = command.current_dir(&self.from).arg("new").args(&self.options).arg("-o").arg(self.output());
        command.output().unwrap()
    }

    /// What krepro says while it makes the reproducer.
    pub fn made(&self) -> String {
        let output = self.run();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    }

    /// Exit 2, these words in the message, and nothing written.
    pub fn refused(&self, words: &[&str]) -> String {
        let output = self.run();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        for word in words {
            assert!(said.contains(word), "`{word}` is not in:\n{said}");
        }
        assert!(!self.output().exists(), "something was written");
        said
    }

    /// The generated `.cu`.
    pub fn unit(&self) -> String {
        let mut files = fs_err::read_dir(self.output()).unwrap().map(|entry| entry.unwrap().path());
        let unit = files.find(|path| path.extension().is_some_and(|e| e == "cu")).unwrap();
        fs_err::read_to_string(unit).unwrap()
    }

    /// `repro.toml`.
    pub fn record(&self) -> String {
        fs_err::read_to_string(self.output().join("repro.toml")).unwrap()
    }
}
