//! Expressions of the manifest and of the command line, evaluated with provenance.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Facts;
use crate::diag::Diagnostic;
use crate::model::{Fact, Instantiation, KernelSignature, Origin, Piece};
use crate::read::constant::Scope;
use crate::read::manifest::{DescriptorType, Expression, Manifest, When};
use crate::source::{Source, Spot};

/// Evaluates a C++ constant expression over the kernel's template parameters.
pub trait Evaluate {
    /// The value of `expression`, with `extra` names bound besides the template parameters.
    ///
    /// # Errors
    /// A sentence that says what is not known.
    fn integer(&self, expression: &str, extra: &BTreeMap<String, String>) -> Result<i128, String>;
}

impl Evaluate for Scope {
    fn integer(&self, expression: &str, extra: &BTreeMap<String, String>) -> Result<i128, String> {
        Scope::integer(self, expression, extra)
    }
}

/// Evaluates with the manifest's places.
pub(super) struct Terms<'a> {
    evaluator: &'a dyn Evaluate,
    manifest: &'a Arc<Source>,
    arguments: BTreeMap<String, Piece>,
    /// `ALIAS::PARAMETER` of every alias of a known type, and what the contract says once it is known.
    members: RefCell<BTreeMap<String, Piece>>,
    defines: Vec<String>,
    parameters: Vec<String>,
    /// Parameters for which the call passes something else than a null pointer.
    passed: Vec<String>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(facts: &Facts<'a>) -> Self {
        Terms {
            evaluator: facts.evaluator,
            manifest: facts.manifest_source,
            arguments: arguments(&facts.signature, &facts.instantiation),
            members: RefCell::new(members(facts.manifest, &facts.instantiation)),
            passed: passed(&facts.signature, &facts.instantiation),
            parameters: facts.signature.parameters.iter().map(|p| p.name.clone()).collect(),
            defines: defines(&facts.compile.arguments.iter().map(|a| a.text.as_str()).collect::<Vec<_>>()),
        }
    }

    /// Lets expressions name a value: `contract::m`, `out::leading_dimension`.
    pub(super) fn bind(&self, name: String, fact: &Fact<u64>) {
        let piece = Fact { value: fact.value.to_string(), origin: fact.origin.clone() };
        self.members.borrow_mut().insert(name, piece);
    }

    /// Lets rules name a type.
    pub(super) fn bind_text(&self, name: String, text: &str, origin: &Origin) {
        self.members.borrow_mut().insert(name, Fact { value: text.to_owned(), origin: origin.clone() });
    }

    /// The text that stands for a template parameter or for `ALIAS::PARAMETER`.
    pub(super) fn text(&self, name: &str) -> Option<Piece> {
        self.arguments.get(name).cloned().or_else(|| self.members.borrow().get(name).cloned())
    }

    /// Where an expression of the manifest stands.
    pub(super) fn spot(&self, expression: &Expression) -> Spot {
        // The span of a TOML string includes its quotes.
        let span = expression.span();
        Spot::new(self.manifest, span.start + 1..span.end.saturating_sub(1))
    }

    /// A non-negative quantity of the manifest.
    pub(super) fn quantity(&self, expression: &Expression) -> Result<Fact<u64>, Diagnostic> {
        self.quantity_with(expression, &BTreeMap::new())
    }

    /// A non-negative quantity with more names bound.
    pub(super) fn quantity_with(
        &self,
        expression: &Expression,
        extra: &BTreeMap<String, String>,
    ) -> Result<Fact<u64>, Diagnostic> {
        let text = expression.get_ref();
        let spot = self.spot(expression);
        let value = self.integer(text, extra).and_then(non_negative).map_err(|why| {
            Diagnostic::error("K-MANIFEST-EXPRESSION", format!("`{text}` cannot be evaluated: {why}"))
                .at(spot.clone(), "in this expression")
        })?;
        let origin = match self.text(text.trim()) {
            Some(piece) => piece.origin,
            None => Origin::Read { at: spot.place(), expr: Some(text.clone()) },
        };
        Ok(Fact { value, origin })
    }

    /// A non-negative quantity that the user gave.
    pub(super) fn given(&self, text: &str, by: String) -> Result<Fact<u64>, Diagnostic> {
        match self.integer(text, &BTreeMap::new()).and_then(non_negative) {
            Ok(value) => Ok(Fact::given(value, by)),
            Err(why) => Err(Diagnostic::error("K-OPTION", format!("{by}: `{text}` cannot be evaluated: {why}"))
                .help("write a number, or an expression over the kernel's template parameters")),
        }
    }

    /// Whether a condition holds; an absent one does.
    pub(super) fn holds(&self, condition: Option<&Expression>) -> Result<bool, Diagnostic> {
        condition.map_or(Ok(true), |condition| {
            self.integer(condition.get_ref(), &BTreeMap::new()).map(|value| value != 0).map_err(|why| {
                Diagnostic::error(
                    "K-MANIFEST-EXPRESSION",
                    format!("`{}` cannot be evaluated: {why}", condition.get_ref()),
                )
                .at(self.spot(condition), "in this condition")
            })
        })
    }

    /// The first value whose condition holds.
    pub(super) fn first<'w>(&self, list: &'w [When]) -> Result<Option<&'w Expression>, Diagnostic> {
        for entry in list {
            if self.holds(entry.when.as_ref())? {
                return Ok(Some(&entry.value));
            }
        }
        Ok(None)
    }

    fn integer(&self, text: &str, extra: &BTreeMap<String, String>) -> Result<i128, String> {
        if has_top_level_comma(text) {
            return Err("it is a list, where one value is wanted".to_owned());
        }
        let mut text = self.expand_known(text)?;
        for (member, piece) in self.members.borrow().iter() {
            // A type stands for itself; an expression keeps its parentheses.
            let value = piece.value.trim();
            let name = value.chars().all(|c| c.is_alphanumeric() || "_:<>, ".contains(c));
            let value = if name { value.to_owned() } else { format!("({value})") };
            text = replace_name(&text, member, &value).unwrap_or(text);
        }
        self.evaluator.integer(&text, extra)
    }

    /// `defined(MACRO)`, from the recovered `-D`, `parameter(NAME)`, from the signature, and `passed(NAME)`, from the call,
    /// become 1 or 0.
    fn expand_known(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        for (function, names) in
            [("defined(", &self.defines), ("parameter(", &self.parameters), ("passed(", &self.passed)]
        {
            let mut out = String::new();
            let mut rest = text.as_str();
            while let Some(start) = rest.find(function) {
                let after = &rest[start + function.len()..];
                let end = after.find(')').ok_or_else(|| format!("`{function}` is not closed"))?;
                out.push_str(&rest[..start]);
                out.push(if names.iter().any(|name| name == after[..end].trim()) { '1' } else { '0' });
                rest = &after[end + 1..];
            }
            out.push_str(rest);
            text = out;
        }
        Ok(text)
    }
}

/// A comma outside all parentheses and template arguments; `a < b, c > d` counts, since it is no quantity either.
fn has_top_level_comma(text: &str) -> bool {
    let mut depth = 0i32;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '<' => depth += i32::from(!text.contains(" < ")),
            '>' => depth -= i32::from(!text.contains(" > ")),
            ',' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

fn non_negative(value: i128) -> Result<u64, String> {
    // repro.toml holds signed 64-bit integers.
    i64::try_from(value)
        .ok()
        .and_then(|value| u64::try_from(value).ok())
        .ok_or_else(|| format!("its value {value} is no extent"))
}

/// Template arguments by parameter name; a default counts as an argument that was not given.
fn arguments(signature: &KernelSignature, instantiation: &Instantiation) -> BTreeMap<String, Piece> {
    let given = instantiation.template_arguments.iter();
    signature.template_parameters.iter().zip(given).map(|(p, piece)| (p.name.clone(), piece.clone())).collect()
}

fn passed(signature: &KernelSignature, instantiation: &Instantiation) -> Vec<String> {
    let null = |text: &str| matches!(text.trim(), "nullptr" | "NULL" | "0");
    let given = signature.parameters.iter().zip(&instantiation.arguments);
    given.filter(|(_, argument)| !null(&argument.value)).map(|(parameter, _)| parameter.name.clone()).collect()
}

/// Parameters of every alias of a type that the manifest knows, under `ALIAS::PARAMETER`, or `NAME::PARAMETER` where the
/// manifest names the type.
fn members(manifest: &Manifest, instantiation: &Instantiation) -> BTreeMap<String, Piece> {
    let mut map = BTreeMap::new();
    for alias in &instantiation.aliases {
        let last = alias.template.rsplit("::").next().unwrap_or_default();
        if let Some(kind) = manifest.descriptor_type.iter().find(|t| t.template == last) {
            for (name, value) in parameter_values(kind, &alias.arguments) {
                map.insert(format!("{}::{name}", alias.name), Fact { value, origin: alias.text.origin.clone() });
            }
        }
        let known = |name: &str| alias.template == name || alias.template.ends_with(&format!("::{name}"));
        if let Some(kind) = manifest.known_type.iter().find(|t| known(&t.template)) {
            for (name, piece) in kind.parameters.iter().zip(&alias.arguments) {
                map.insert(format!("{}::{name}", kind.name), piece.clone());
            }
        }
    }
    map
}

/// `text` with every `from` that is a whole name replaced; none where there is none.
fn replace_name(text: &str, from: &str, to: &str) -> Option<String> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut out = String::new();
    let (mut rest, mut found) = (text, false);
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let whole = !out.chars().chain(before.chars()).next_back().is_some_and(part) && !after.starts_with(part);
        out.push_str(before);
        out.push_str(if whole { to } else { from });
        found |= whole;
        rest = after;
    }
    out.push_str(rest);
    found.then_some(out)
}

/// Values of a descriptor type's parameters, defaults filled in.
pub(super) fn parameter_values(kind: &DescriptorType, arguments: &[Piece]) -> BTreeMap<String, String> {
    let first_default = kind.parameters.len().saturating_sub(kind.defaults.len());
    let value = |index: usize| {
        arguments
            .get(index)
            .map(|a| a.value.clone())
            .or_else(|| kind.defaults.get(index.checked_sub(first_default)?).cloned())
    };
    kind.parameters.iter().enumerate().filter_map(|(i, name)| Some((name.clone(), value(i)?))).collect()
}

/// Names defined by `-DNAME`, `-D NAME`, `-DNAME=VALUE` and their long forms, with `-U` honoured in order.
fn defines(arguments: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut pending: Option<bool> = None;
    for argument in arguments {
        let (define, text) = match (pending.take(), *argument) {
            (Some(define), text) => (define, text),
            (None, "-D" | "--define-macro") => {
                pending = Some(true);
                continue;
            }
            (None, "-U" | "--undefine-macro") => {
                pending = Some(false);
                continue;
            }
            (None, text) => {
                match (text.strip_prefix("--define-macro=").or(text.strip_prefix("-D")), text.strip_prefix("-U")) {
                    (Some(rest), _) => (true, rest),
                    (None, Some(rest)) => (false, rest),
                    (None, None) => continue,
                }
            }
        };
        let name = text.trim_start_matches('=').split('=').next().unwrap_or_default().to_owned();
        names.retain(|n| *n != name);
        if define {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{defines, replace_name};

    #[test]
    fn only_whole_names_are_replaced() {
        let replaced = replace_name("a::ld + scale_a::ld * a::ld2 - a::ld", "a::ld", "x");
        assert_eq!(replaced.as_deref(), Some("x + scale_a::ld * a::ld2 - x"));
        assert_eq!(replace_name("b::a::ld", "a::ld", "x"), None);
    }

    #[test]
    fn defines_are_read_in_every_form_and_undone_in_order() {
        assert_eq!(defines(&["-DA", "-D", "B=1", "-DC=2", "-UA", "-O3", "--define-macro=E"]), ["B", "C", "E"]);
    }
}
