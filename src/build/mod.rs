//! nvcc with the recovered flags: what goes in is kept, what comes out is kept, and nothing is built twice.

mod blame;
mod cache;
mod depends;
mod elf;
mod failure;
pub mod fidelity;
mod halves;
mod instance;
pub mod kernels;
mod link;
pub mod output;
pub mod sass;
mod stamp;
mod stub;
pub mod usage;

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::diag::Diagnostics;
use crate::model::BuildLine;
use crate::sys::{Request, Stream, System};
use crate::toolchain::Toolchain;

pub use failure::explain;
pub use halves::Wanted;
pub use stamp::Stamp;

/// What is to be built: `NAME.cu` of a folder, into its folder `build`.
#[derive(Debug, Clone)]
pub struct Job<'j> {
    /// The reproducer's folder.
    pub folder: &'j Utf8Path,
    /// Stem of the `.cu`.
    pub name: &'j str,
    /// Its arguments.
    pub line: &'j BuildLine,
    /// A program put before nvcc (`sccache`).
    pub launcher: Option<&'j str>,
    /// The kernels of the image, in the order of the cases, where it may be built in two halves.
    pub halves: Option<&'j [Wanted]>,
    /// Where executables of all folders are kept, by content; `None` keeps none.
    pub cache: Option<&'j Utf8Path>,
}

/// An executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Built {
    /// Where it is.
    pub executable: Utf8PathBuf,
    /// Whether nvcc ran; false when everything was as before.
    pub compiled: bool,
    /// How long its build took, in milliseconds, now or when it ran.
    pub milliseconds: u64,
    /// The command, word by word, run in the folder of the executable.
    pub command: Vec<String>,
    /// What the compiler printed.
    pub output: String,
}

/// Why there is no executable.
#[derive(Debug)]
pub enum NotBuilt {
    /// The compiler refused: the command and what it printed.
    Refused {
        /// The command, word by word.
        command: Vec<String>,
        /// What was printed.
        output: String,
    },
    /// It could not be tried.
    Unable(Diagnostics),
    /// A file error.
    File(io::Error),
}

impl From<io::Error> for NotBuilt {
    fn from(error: io::Error) -> Self {
        NotBuilt::File(error)
    }
}

/// The compile command, to be run in the folder `build` of the reproducer.
pub fn command(job: &Job<'_>, toolchain: &Toolchain) -> Vec<String> {
    let mut words: Vec<String> = job.launcher.map(str::to_owned).into_iter().collect();
    words.push(toolchain.nvcc.to_string());
    if job.line.host_compiler().is_none() {
        words.push(format!("-ccbin={}", toolchain.host.path));
    }
    words.extend(job.line.arguments());
    words.extend(["-MD".to_owned(), "-MF".to_owned(), format!("{}.d", job.name)]);
    words.extend(BuildLine::files(job.name));
    words
}

/// Makes the folders that the command links from.
///
/// # Errors
/// A toolkit without its run-time library, a stub that does not compile, a file error.
pub fn prepare(system: &dyn System, toolchain: &Toolchain, job: &Job<'_>) -> Result<(), Diagnostics> {
    link::prepare(system, toolchain, &job.folder.join("build"), job.line.libcuda)
}

/// Builds, unless the command, the compilers and every file that was read are as they were. `on_line` sees what the compiler
/// prints as it comes.
///
/// # Errors
/// The compiler refused, a toolkit without its run-time library, file errors.
pub fn build(
    system: &dyn System,
    toolchain: &Toolchain,
    job: &Job<'_>,
    on_line: &mut dyn FnMut(&str),
) -> Result<Built, NotBuilt> {
    let folder = job.folder.join("build");
    let executable = folder.join(job.name);
    let (log, record) = (folder.join(format!("{}.log", job.name)), folder.join(format!("{}.stamp.json", job.name)));
    let words = command(job, toolchain);
    let halves = job.halves.and_then(|wanted| Some((wanted, halves::commands(job, toolchain)?)));
    let key = match &halves {
        Some((_, commands)) => stamp::command(&commands.concat(), toolchain),
        None => stamp::command(&words, toolchain),
    };
    let before = Stamp::read(system, &record).filter(|stamp| stamp.command == key && system.is_file(&executable));
    if let Some(stamp) = before.filter(|stamp| stamp.changed(system, &folder).is_none()) {
        let output = String::from_utf8_lossy(&system.read(&log)?).into_owned();
        let milliseconds = stamp.milliseconds;
        return Ok(Built { executable, compiled: false, milliseconds, command: words, output });
    }
    system.make_folder(&folder)?;
    prepare(system, toolchain, job).map_err(NotBuilt::Unable)?;
    let source = system.read(&job.folder.join(format!("{}.cu", job.name)))?;
    let entry = job.cache.map(|cache| cache::Entry::of(cache, &key, &source));
    if let Some(stamp) = entry.as_ref().and_then(|entry| entry.restore(system, &folder, &executable, &log)) {
        system.write(&record, &stamp.to_bytes())?;
        let output = String::from_utf8_lossy(&system.read(&log)?).into_owned();
        return Ok(Built { executable, compiled: false, milliseconds: stamp.milliseconds, command: words, output });
    }
    // A failed build must not leave yesterday's executable to be run.
    system.remove(&record)?;
    system.remove(&executable)?;
    let place = Place { folder: &folder, executable: &executable, log: &log, record: &record, key, entry };
    if let Some((wanted, commands)) = &halves {
        let began = system.now();
        if let Some(joined) = halves::build(system, toolchain, job, wanted, commands)? {
            joined.output.lines().for_each(&mut *on_line);
            let took = system.now().saturating_sub(began);
            return keep(system, place, commands[0].clone(), joined.output, &joined.files, took);
        }
    }
    let request = Request::new(words[0].clone()).arguments(words[1..].iter().cloned()).folder(&folder);
    let finished = system.run_streaming(&request, &mut |_: Stream, line| on_line(line))?;
    let output = finished.all_text();
    if !finished.success() || !system.is_file(&executable) {
        system.write(&log, output.as_bytes())?;
        system.remove(&executable)?;
        return Err(match full_disk(&output) {
            Some(line) => NotBuilt::File(io::Error::new(
                io::ErrorKind::StorageFull,
                format!("the compiler could not write: {line}"),
            )),
            None => NotBuilt::Refused { command: words, output },
        });
    }
    let listed = system.read(&folder.join(format!("{}.d", job.name)))?;
    let files = depends::parse(&String::from_utf8_lossy(&listed));
    keep(system, place, words, output, &files, finished.elapsed)
}

/// Where a build goes, and what it is known by.
struct Place<'p> {
    folder: &'p Utf8Path,
    executable: &'p Utf8Path,
    log: &'p Utf8Path,
    record: &'p Utf8Path,
    key: String,
    entry: Option<cache::Entry>,
}

/// Writes down what was built.
fn keep(
    system: &dyn System,
    place: Place<'_>,
    command: Vec<String>,
    output: String,
    files: &[Utf8PathBuf],
    took: Duration,
) -> Result<Built, NotBuilt> {
    system.write(place.log, output.as_bytes())?;
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if let Some(stamp) = Stamp::of(system, place.key, place.folder, files, milliseconds) {
        system.write(place.record, &stamp.to_bytes())?;
        if let Some(entry) = place.entry {
            entry.store(system, &stamp, place.executable, place.log);
        }
    }
    Ok(Built { executable: place.executable.to_owned(), compiled: true, milliseconds, command, output })
}

/// What a compiler says when there is no room for its files: no fault of the source.
fn full_disk(output: &str) -> Option<&str> {
    const WORDS: [&str; 3] = ["No space left on device", "File too large", "Disk quota exceeded"];
    output.lines().find(|line| WORDS.iter().any(|words| line.contains(words)))
}

#[cfg(test)]
mod tests {
    use super::full_disk;

    #[test]
    fn a_full_disk_is_told_from_an_error_of_the_source() {
        assert!(
            full_disk("x\nx.cu: fatal error: when writing output to /tmp/a.ii: No space left on device\n").is_some()
        );
        assert_eq!(full_disk("x.cu(3): error: identifier \"y\" is undefined\n"), None);
    }
}
