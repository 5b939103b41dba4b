//! What went wrong in a site, in words.

use std::collections::BTreeMap;

use super::interpreter::{Interpreter, short};
use super::leaves::{Leaves, Unfit};
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::nearest::nearest;
use crate::read::cxx::problem::{Problem, Unknown};
use crate::source::{Source, Spot};

/// Everything that keeps a C++ site from being evaluated; empty when nothing does.
pub fn errors(interpreter: &Interpreter<'_>) -> Diagnostics {
    let mut out = problems(&interpreter.problems, &interpreter.leaves);
    out.append(interpreter.errors.clone());
    out
}

/// Problems in words; leaves that were given and cannot be taken.
pub fn problems(problems: &[Problem], leaves: &Leaves) -> Diagnostics {
    let mut out = Diagnostics::new();
    let mut unknown: BTreeMap<usize, (&Unknown, Vec<&Spot>)> = BTreeMap::new();
    for problem in problems {
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
        out.push(unknown_leaf(leaves, leaf, spots.len()));
    }
    out.append(unfit(leaves));
    out
}

/// Leaves that were given and cannot be taken.
pub fn unfit(leaves: &Leaves) -> Diagnostics {
    let error = |unfit: &Unfit| {
        Diagnostic::error("K-SITE-LEAF-TYPE", unfit.what.clone())
            .at(unfit.at.clone(), "the site takes it here")
            .help(format!("add {}", set(&unfit.name)))
    };
    leaves.unfit.iter().map(error).collect()
}

fn unknown_leaf(leaves: &Leaves, leaf: &Unknown, uses: usize) -> Diagnostic {
    let used = if uses > 1 { format!("used here, {uses} uses in all") } else { "used here".to_owned() };
    let mut out = Diagnostic::error("K-SITE-LEAF", format!("the value of `{}` is not known", leaf.name));
    out = out.at(leaf.used.clone(), used);
    match &leaf.assigned {
        Some((expr, at)) if leaf.changed => {
            if *at != leaf.used {
                out = out.at(at.clone(), "this may change it");
            }
            out = out.because(format!("`{}` may change it, and is not followed", short(expr)));
        }
        Some((expr, at)) => {
            if *at != leaf.used {
                out = out.at(at.clone(), "assigned here");
            }
            out = out.because(format!("the site computes it from `{expr}`"));
        }
        None => out = out.because(format!("`{}` comes from outside the site", leaf.name)),
    }
    for given in nearest(&leaf.name, leaves.unused()) {
        out = out.because(format!("`{given}` was given, and nothing in the site uses it"));
    }
    out.help(format!("add {}", set(&leaf.name)))
}

/// Leaves that were given and not used, or that mean something else than they seem to.
pub fn warnings(leaves: &Leaves, computed: &BTreeMap<String, Spot>) -> Diagnostics {
    let unused = leaves.unused().map(|name| {
        let out = Diagnostic::warning("K-SITE-UNUSED", format!("the site does not use the given `{name}`"));
        match computed.get(name) {
            Some(at) => out.at(at.clone(), "the site computes it itself"),
            None => out.help(format!("leave out `--set {name}=…`, or check its spelling")),
        }
    });
    let octal = leaves.octal.iter().map(|(name, text, value, at)| {
        let plain = text.trim_start_matches('0');
        Diagnostic::warning("K-SITE-OCTAL", format!("`{text}`, given for `{name}`, is octal: {value}"))
            .at(at.clone(), "the site takes it here")
            .help(format!("write `--set {name}={plain}` for {plain}"))
    });
    let stale = leaves.stale.iter().map(|(name, by)| {
        Diagnostic::warning("K-SITE-STALE", format!("`{name}` may not have the given value where the site prints it"))
            .at(by.clone(), "this may change it, and is not followed")
            .help(format!("check the emitted text, and give `--set {name}=…` as it is behind this place"))
    });
    octal.chain(stale).chain(unused).collect()
}

/// No function has the name that was given: the nearest ones, and all that there are.
pub fn missing(source: &Source, wanted: &str, all: &[(String, Spot)]) -> Diagnostic {
    let message = format!("`{}` defines no function `{wanted}`", source.name());
    let mut error = Diagnostic::error("K-SITE-FUNCTION", message);
    for name in nearest(wanted, all.iter().map(|(name, _)| name.as_str())) {
        if let Some((_, at)) = all.iter().find(|(known, _)| known == name) {
            error =
                error.at(at.clone(), "did you mean this one?").help(format!("write `--site {}:{name}`", source.name()));
        }
    }
    if all.is_empty() {
        return error.because("it defines no function").help("leave the name out, where the file is a pasted block");
    }
    error.because(format!("it defines {}", listed(all)))
}

/// Several functions could be meant, and none was named.
pub fn several(source: &Source, what: &str, all: &[(String, Spot)]) -> Diagnostic {
    let message = format!("`{}` holds {} functions that {what}", source.name(), all.len());
    let first = all.first().map(|(name, _)| name.as_str()).unwrap_or_default();
    Diagnostic::error("K-SITE-FUNCTION", message)
        .help(format!("name one: `--site {}:{first}`", source.name()))
        .because(format!("they are {}", listed(all)))
}

/// A name that several functions have.
pub fn ambiguous(wanted: &str, found: &[(String, Spot)]) -> Diagnostic {
    let mut error = Diagnostic::error("K-SITE-FUNCTION", format!("`{wanted}` names {} functions", found.len()));
    for (name, at) in found {
        error = error.at(at.clone(), name.clone());
    }
    error.help("write the qualified name")
}

/// At most this many names in a list.
const MOST_NAMES: usize = 12;

fn listed(all: &[(String, Spot)]) -> String {
    let names: Vec<_> = all.iter().take(MOST_NAMES).map(|(name, _)| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(MOST_NAMES);
    names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
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
