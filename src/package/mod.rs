//! A reproducer as a package of somebody else's build system; text in, text out.

mod cargo;
mod cmake;
mod emit;

use crate::model::BuildLine;

pub use cargo::cargo;
pub use cmake::cmake;
pub use emit::{Step, ninja, shell_lines};

/// What is packed.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'s> {
    /// Stem of the `.cu`.
    pub name: &'s str,
    /// The arguments of its build.
    pub line: &'s BuildLine,
}

/// A file's path in the package, and its text.
pub type File = (String, String);

/// Options whose separate value may begin with `-`.
const PASS_ON: [&str; 16] = [
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-Xcicc",
    "--cicc-options",
    "-Xnvvm",
    "-Xcudafe",
    "--cudafe-options",
    "-Xlinker",
    "--linker-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xfatbin",
    "--fatbin-options",
    "-Xarchive",
];

/// Production's options, each with its separate value, and those of krepro's that act on the machine code's line table. `-x cu` is
/// left out: the file's name says it, and a build system gives the same options to the device link, whose input is no source.
fn options(line: &BuildLine) -> Vec<Vec<&str>> {
    let added = line.additions.iter().flat_map(|addition| &addition.arguments).filter(|word| *word == "-lineinfo");
    let mut out: Vec<Vec<&str>> = vec![];
    let mut open = false;
    for word in line.production.iter().chain(added) {
        match out.last_mut() {
            Some(last) if open || !word.starts_with('-') => last.push(word),
            _ => out.push(vec![word]),
        }
        open = !open && PASS_ON.contains(&word.as_str());
    }
    out.retain(|words| !(["-x", "--x"].contains(&words[0]) || ["-x=cu", "--x=cu", "-xcu"].contains(&words[0])));
    out
}
