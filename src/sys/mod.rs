//! Files, environment, processes and clocks, behind one trait with a fake: everything else in krepro is text in, text out.

mod fake;
mod includes;
mod input;
mod machine;
mod process;

use std::io::{self, Read};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

pub use fake::Fake;
pub use includes::closure;
pub use input::{Input, open};
pub use machine::Machine;
pub use process::{Ending, Finished, Request, Stream};

/// A host C++ compiler, as the `cc` crate finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTool {
    /// Its path or name.
    pub path: Utf8PathBuf,
    /// Whether it takes clang's options.
    pub clang: bool,
}

/// The machine krepro runs on.
pub trait System: Sync {
    /// An environment variable; `None` when unset, empty or not UTF-8.
    fn env(&self, name: &str) -> Option<String>;

    /// The whole of a file.
    ///
    /// # Errors
    /// The file error, naming the file.
    fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>>;

    /// A file as a stream.
    ///
    /// # Errors
    /// The file error, naming the file.
    fn stream(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + '_>>;

    /// Standard input as a stream.
    fn stdin(&self) -> Box<dyn Read + '_>;

    /// Whether a file or folder is there.
    fn exists(&self, path: &Utf8Path) -> bool {
        self.is_file(path) || self.is_folder(path)
    }

    /// Writes a file that appears whole or not at all; missing folders are made.
    ///
    /// # Errors
    /// The file error, naming the file.
    fn write(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()>;

    /// Lets a file be run as a program.
    ///
    /// # Errors
    /// The file error, naming the file.
    fn make_program(&self, path: &Utf8Path) -> io::Result<()>;

    /// Adds bytes to the end of a file and waits until they are on the disk; the file and its folder are made if missing.
    ///
    /// # Errors
    /// The file error, naming the file.
    fn append(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether a file (not a folder) is there.
    fn is_file(&self, path: &Utf8Path) -> bool;

    /// Whether a folder is there.
    fn is_folder(&self, path: &Utf8Path) -> bool;

    /// Names in a folder, sorted; empty when it is not there.
    fn list(&self, path: &Utf8Path) -> Vec<String>;

    /// The path with every link followed; the path itself when that fails.
    fn real_path(&self, path: &Utf8Path) -> Utf8PathBuf;

    /// Makes a folder and those above it.
    ///
    /// # Errors
    /// The file error, naming the folder.
    fn make_folder(&self, path: &Utf8Path) -> io::Result<()>;

    /// Makes a symbolic link at `link` that holds `target`, in place of what stood there.
    ///
    /// # Errors
    /// The file error, naming the link.
    fn link(&self, target: &Utf8Path, link: &Utf8Path) -> io::Result<()>;

    /// Renames a file or folder.
    ///
    /// # Errors
    /// The file error, naming both.
    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()>;

    /// Removes a file or a folder with all that is in it; nothing there is no error.
    ///
    /// # Errors
    /// The file error, naming what could not be removed.
    fn remove(&self, path: &Utf8Path) -> io::Result<()>;

    /// Total size of a file or folder in bytes, and the seconds since its newest file changed; `None` when not there.
    fn usage(&self, path: &Utf8Path) -> Option<(u64, u64)>;

    /// A program on PATH.
    fn which(&self, program: &str) -> Option<Utf8PathBuf>;

    /// The host C++ compiler that the environment or convention names.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn host_compiler(&self) -> Result<HostTool, String>;

    /// Runs a program to its end, or until its deadline, at which it is killed with all that it started.
    /// `on_line` sees each line as it comes, without its newline.
    ///
    /// # Errors
    /// When it could not be started.
    fn run_streaming(&self, request: &Request, on_line: &mut dyn FnMut(Stream, &str)) -> io::Result<Finished>;

    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it could not be started.
    fn run(&self, request: &Request) -> io::Result<Finished> {
        self.run_streaming(request, &mut |_, _| {})
    }

    /// Time since some fixed moment of this process.
    fn now(&self) -> Duration;

    /// Processors that this process may use, and bytes of memory that are free for new work.
    fn capacity(&self) -> (usize, u64);
}
