//! Compile commands out of whatever holds them: build logs, tracebacks, databases, process listings.
//!
//! [`recover`] reads a stream and gives the one command that is meant, as the flags of an executable; [`scan`] gives all that
//! was seen. Nothing in a log is executed or opened. Memory is bounded by the commands kept, never by the log.

mod anchor;
mod argument;
mod choose;
mod context;
mod danger;
mod decode;
mod dryrun;
mod excerpt;
mod executable;
mod fields;
mod flagfile;
mod found;
mod kind;
mod lines;
mod locate;
mod logical;
mod ninja;
mod notices;
mod nvrtc;
mod options;
mod prefix;
mod recover;
mod response;
mod retain;
mod scan;
mod secrets;
mod table;
mod word;

pub use anchor::Family;
pub use argument::{Argument, ArgumentKind};
pub use fields::Fields;
pub use found::Found;
pub use kind::Kind;
pub use locate::Style;
pub use options::{Options, Select};
pub use recover::{Recovered, Seen, Verdict, chosen, from_scan, recover};
pub use scan::{Scan, scan};
pub use table::{Action, LibraryRule, OptionSpec, OptionTable, Phase, Takes, WrapperRule};
pub use word::{Position, Word};

/// Words as nvcc reads them, by the grammar of nvcc 13.0.88.
pub fn arguments(words: &[Word]) -> Vec<Argument> {
    argument::parse(words.to_vec(), OptionTable::nvcc())
}

/// The values of `-I`, `-isystem` and `-include` among the kept arguments of a command.
pub fn include_paths(command: &crate::model::CompileCommand) -> Vec<String> {
    let words: Vec<Word> = command
        .arguments
        .iter()
        .map(|a| Word { text: a.text.clone(), at: Position::default(), replaced: false, cut: false })
        .collect();
    let names = ["-I", "-isystem", "-include"];
    let paths = arguments(&words).into_iter().filter(|a| names.iter().any(|name| a.is(name)));
    paths.filter_map(|a| a.value().map(str::to_owned)).collect()
}
