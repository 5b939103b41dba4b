//! `#if` branches of a site.

use super::leaves::Leaves;
use super::report;
use crate::diag::Diagnostics;
use crate::read::cxx::branch::{Known, decide};
use crate::read::cxx::document::Document;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::source::{Span, Spot};

/// Macros that a host compiler never defines.
const NEVER: &[&str] = &["__CUDACC__", "__CUDA_ARCH__", "__NVCC__"];

/// What the definitions and the given values leave out of a part of a site; none where it has no `#if`.
///
/// # Errors
///
/// Macros that decide a branch and are not known: all of them at once.
pub fn branches(
    document: &Document,
    part: Span,
    defines: &[(String, Option<String>)],
    leaves: &mut Leaves,
) -> Result<Option<Vec<Span>>, Diagnostics> {
    let source = &document.source;
    let within = |directive: &&Span| part.start <= directive.start && directive.end <= part.end;
    if !document.tokens.directives.iter().any(|directive| within(&directive)) {
        return Ok(None);
    }
    let mut known = Known { undefined: NEVER.iter().map(|name| (*name).to_owned()).collect(), ..Known::default() };
    known.defined.insert("__cplusplus".to_owned(), "201703".to_owned());
    for (name, value) in defines {
        known.defined.insert(name.clone(), value.clone().unwrap_or_else(|| "1".to_owned()));
    }
    // A given value answers one question, and another may be open behind it.
    loop {
        let decision = decide(source.bytes(), &document.tokens, &known, part);
        let mut open = vec![];
        let mut answered = false;
        for (directive, names) in &decision.open {
            let at = Spot::new(source, *directive);
            for name in names {
                let bare = name.trim_start_matches("defined(").trim_end_matches(')').to_owned();
                let told = format!("defined({bare})");
                if let Some((_, text)) = leaves.text(&told, None, &at) {
                    let defined = !matches!(text.trim(), "false" | "0");
                    answered |= match (defined, *name == told) {
                        (false, _) => known.undefined.insert(bare),
                        (true, true) => known.defined.insert(bare, "1".to_owned()).is_none(),
                        (true, false) => false,
                    };
                } else if let Some((_, text)) = leaves.text(&bare, None, &at) {
                    answered |= known.defined.insert(bare, text).is_none();
                } else {
                    let unknown = Unknown { name: name.clone(), used: at.clone(), assigned: None, changed: false };
                    open.push(Problem::Unknown(unknown));
                }
            }
        }
        if !answered {
            return if open.is_empty() { Ok(Some(decision.dropped)) } else { Err(report::problems(&open, leaves)) };
        }
    }
}
