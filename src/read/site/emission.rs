//! What a code-generation site emits, with the origin of every byte.

use std::ops::Range;
use std::sync::Arc;

use crate::diag::Diagnostics;
use crate::source::{Source, Spot};

/// The text that a site emits under given leaves.
#[derive(Debug, Clone)]
pub struct Emission {
    /// The site.
    pub source: Arc<Source>,
    /// The site's function; empty for a pasted block.
    pub function: String,
    /// The function's text in the site; all of it for a pasted block.
    pub extent: Spot,
    /// The lines, in order.
    pub lines: Vec<EmittedLine>,
    /// Whether the last line ends in a newline.
    pub terminated: bool,
    /// The leaves that were used, in the order of their first use.
    pub leaves: Vec<UsedLeaf>,
    /// The expression that the site returns, when it returns one.
    pub returned: Option<Spot>,
    /// Assertions of the site that were evaluated and hold.
    pub assertions: usize,
    /// What the user should know: leaves that were given and not used.
    pub warnings: Diagnostics,
}

impl Emission {
    /// The text, byte-equal to what the generator prints.
    pub fn text(&self) -> String {
        let mut out = self.lines.iter().fold(String::new(), |out, line| out + &line.text + "\n");
        if !self.terminated {
            out.pop();
        }
        out
    }
}

/// One emitted line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedLine {
    /// The line without its newline, indentation included.
    pub text: String,
    /// Where its bytes come from, in order and without gaps.
    pub segments: Vec<Segment>,
}

/// Bytes of an emitted line with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The bytes, within the line.
    pub range: Range<usize>,
    /// Where they come from.
    pub from: SegmentOrigin,
}

/// Where emitted bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentOrigin {
    /// The emitter's own indentation.
    Indent,
    /// A literal of the site.
    Literal {
        /// The bytes in the literal; longer than what was emitted where they are an escape.
        at: Spot,
    },
    /// A value that stood for a placeholder.
    Value {
        /// The argument.
        at: Spot,
        /// The argument's expression, comments left out.
        expr: String,
        /// The leaves it was computed from.
        leaves: Vec<String>,
    },
}

/// A leaf that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedLeaf {
    /// Its name, as given.
    pub name: String,
    /// Its value, as given.
    pub given: String,
    /// What the site computes it from, when it is a local.
    pub expr: Option<String>,
    /// Where the site takes it.
    pub at: Spot,
}
