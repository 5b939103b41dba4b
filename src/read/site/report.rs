//! What went wrong in a site, in words.

use std::collections::BTreeMap;

use super::interpreter::Interpreter;
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::nearest::nearest;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::source::Spot;

/// Everything that keeps a site from being evaluated; empty when nothing does.
pub fn errors(interpreter: &Interpreter<'_>) -> Diagnostics {
    let mut out = Diagnostics::new();
    let mut unknown: BTreeMap<usize, (&Unknown, Vec<&Spot>)> = BTreeMap::new();
    for problem in &interpreter.problems {
        match problem {
            Problem::Unknown(leaf) => {
                let known = unknown.values_mut().find(|(first, _)| first.name == leaf.name);
                match known {
                    Some((_, spots)) => spots.push(&leaf.used),
                    None => {
                        unknown.insert(unknown.len(), (leaf, vec![&leaf.used]));
                    }
                }
            }
            Problem::Unsupported { what, at } => out.push(
                Diagnostic::error("K-SITE-CONSTRUCT", format!("{what} is not evaluated"))
                    .at(at.clone(), "this construct")
                    .help("paste the text that the generator printed, and give that as the site"),
            ),
            Problem::Undefined { what, at } => {
                out.push(Diagnostic::error("K-SITE-UNDEFINED", what.clone()).at(at.clone(), "computed here"));
            }
        }
    }
    for (leaf, spots) in unknown.values() {
        out.push(unknown_leaf(interpreter, leaf, spots.len()));
    }
    for (name, value, declared, at) in &interpreter.leaves.unfit {
        out.push(
            Diagnostic::error("K-SITE-LEAF-TYPE", format!("`{value}` is no value for `{name}`, which is `{declared}`"))
                .at(at.clone(), "the site takes it here")
                .help(format!("add {}", set(name))),
        );
    }
    out.append(interpreter.errors.clone());
    out
}

fn unknown_leaf(interpreter: &Interpreter<'_>, leaf: &Unknown, uses: usize) -> Diagnostic {
    let used = if uses > 1 { format!("used here, {uses} uses in all") } else { "used here".to_owned() };
    let mut out = Diagnostic::error("K-SITE-LEAF", format!("the value of `{}` is not known", leaf.name));
    out = out.at(leaf.used.clone(), used);
    match &leaf.assigned {
        Some((expr, at)) => {
            if *at != leaf.used {
                out = out.at(at.clone(), "assigned here");
            }
            out = out.because(format!("the site computes it from `{expr}`"));
        }
        None => out = out.because(format!("`{}` comes from outside the site", leaf.name)),
    }
    for given in nearest(&leaf.name, interpreter.leaves.unused()) {
        out = out.because(format!("`{given}` was given, and nothing in the site uses it"));
    }
    out.help(format!("add {}", set(&leaf.name)))
}

/// Leaves that were given and not used.
pub fn warnings(interpreter: &Interpreter<'_>) -> Diagnostics {
    let unused = interpreter.leaves.unused().map(|name| {
        let out = Diagnostic::warning("K-SITE-UNUSED", format!("the site does not use the given `{name}`"));
        match interpreter.computed.get(name) {
            Some(at) => out.at(at.clone(), "the site computes it itself"),
            None => out.help(format!("leave out `--set {name}=…`, or check its spelling")),
        }
    });
    unused.collect()
}

/// The option that gives a leaf.
pub fn set(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':'));
    if plain { format!("--set {name}=VALUE") } else { format!("--set '{}=VALUE'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::set;

    #[test]
    fn the_option_can_be_typed_as_it_stands() {
        assert_eq!(set("batch_size"), "--set batch_size=VALUE");
        assert_eq!(set("params.size()"), "--set 'params.size()=VALUE'");
        assert_eq!(set("m['k']"), "--set 'm['\\''k'\\'']=VALUE'");
    }
}
