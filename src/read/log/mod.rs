//! Compile commands out of whatever holds them: build logs, tracebacks, databases, process listings.
//!
//! [`recover`] reads a stream and gives the one command that is meant, as the flags of an executable; [`scan`] gives all that
//! was seen. Nothing in a log is executed or opened. Memory is bounded by the commands kept, never by the log.

mod anchor;
mod argument;
mod choose;
mod danger;
mod decode;
mod executable;
mod found;
mod kind;
mod lines;
mod locate;
mod notices;
mod options;
mod recover;
mod scan;
mod table;
mod word;

pub use anchor::Family;
pub use argument::{Argument, ArgumentKind};
pub use found::Found;
pub use kind::Kind;
pub use locate::Style;
pub use options::{Options, Select};
pub use recover::{Recovered, Seen, Verdict, recover};
pub use scan::{Scan, scan};
pub use table::{Action, LibraryRule, OptionSpec, OptionTable, Phase, Takes, WrapperRule};
pub use word::{Position, Word};
