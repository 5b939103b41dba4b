//! A symbol that was built against the instantiation that was transcribed.

use cpp_demangle::{DemangleOptions, Symbol};
use serde::Serialize;

use crate::model::Binding;

/// One template argument, both ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// As the site emits it.
    pub transcribed: String,
    /// As the compiler understood it.
    pub built: String,
    /// Whether they say the same; `None` for a name that only the compiler can resolve (an alias, a constant).
    pub same: Option<bool>,
}

/// The kernel template that carries the instantiation of an inlined task.
const CARRIER: &str = "krepro_names";

/// The function whose address the carrier's symbol holds, in C++ form; none for any other symbol.
pub fn carried(demangled: &str) -> Option<String> {
    let (name, arguments) = parts(demangled);
    let function = arguments.first().filter(|_| name.rsplit("::").next() == Some(CARRIER))?.strip_prefix('&')?;
    let inner = function.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    Some(inner.unwrap_or(function).to_owned())
}

/// A symbol in C++ form; itself when it is no mangled name.
pub fn demangle(symbol: &str) -> String {
    let parsed = Symbol::new(symbol).ok().and_then(|s| s.demangle_with_options(&DemangleOptions::new()).ok());
    parsed.unwrap_or_else(|| symbol.to_owned())
}

/// Qualified name and template arguments of a demangled function.
pub fn parts(demangled: &str) -> (String, Vec<String>) {
    let mut depth = 0_u32;
    let mut end = demangled.len();
    for (index, c) in demangled.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && index > 0 && !demangled[..index].ends_with("operator") => {
                end = index;
                break;
            }
            _ => {}
        }
    }
    let head = demangled[..end].trim();
    let open = outermost(head);
    let (front, list) = match open {
        Some(open) => (&head[..open], split(&head[open + 1..head.len() - 1])),
        None => (head, vec![]),
    };
    // A template's symbol holds its return type as well.
    (front.rsplit(' ').next().unwrap_or(front).to_owned(), list)
}

/// Where the last argument list of `head` opens, when it ends with one.
fn outermost(head: &str) -> Option<usize> {
    if !head.ends_with('>') {
        return None;
    }
    let mut depth = 0;
    for (index, c) in head.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

fn split(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in list.chars() {
        match c {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Compares argument by argument, aliases by what they stand for; arguments that only the compiler sees are defaults.
pub fn compare(transcribed: &[String], built: &[String], aliases: &[Binding]) -> Vec<Argument> {
    transcribed
        .iter()
        .zip(built)
        .map(|(transcribed, built)| Argument {
            transcribed: transcribed.clone(),
            built: built.clone(),
            same: match aliases.iter().find(|alias| alias.name == *transcribed && !alias.template.is_empty()) {
                Some(alias) => alias_same(alias, built),
                None => same(transcribed, built),
            },
        })
        .collect()
}

/// Whether an alias of a template is what the compiler made of it; what its arguments do not decide stays open.
fn alias_same(alias: &Binding, built: &str) -> Option<bool> {
    let (name, arguments) = parts(built);
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
    if last(&name) != last(&alias.template) || arguments.len() < alias.arguments.len() {
        return None;
    }
    let each = alias.arguments.iter().zip(&arguments).map(|(ours, built)| same(&ours.value, built));
    let verdicts: Vec<Option<bool>> = each.collect();
    if verdicts.contains(&Some(false)) {
        Some(false)
    } else {
        verdicts.iter().all(|verdict| *verdict == Some(true)).then_some(true)
    }
}

fn same(transcribed: &str, built: &str) -> Option<bool> {
    let (left, right) = (normal(transcribed), normal(built));
    if left == right {
        return Some(true);
    }
    match (number(&left), number(&right)) {
        (Some(left), Some(right)) => Some(left == right),
        _ => None,
    }
}

/// The same without the casts that some tools print, within as well.
pub fn plain(text: &str) -> String {
    let mut out: String = normal(text);
    for of in ["int", "unsignedint", "bool", "long", "unsignedlong", "char"] {
        out = out.replace(&format!("({of})"), "");
    }
    out
}

/// Without blanks, leading `::` and the cast of a value.
fn normal(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.trim_start_matches("::");
    let cast = plain.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(_, value)| value);
    let value = cast.filter(|value| number(value).is_some()).unwrap_or(plain);
    value.to_owned()
}

fn number(text: &str) -> Option<i128> {
    match text {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{carried, compare, demangle, parts};
    use crate::model::{Binding, Fact};
    use crate::source::Place;

    #[test]
    fn a_mangled_kernel_is_taken_apart() {
        let text = demangle("_ZN6kernel3fooI13__nv_bfloat16Li64ELb1EEEvPT_PKS2_");
        let (name, arguments) = parts(&text);
        assert_eq!(name, "kernel::foo");
        assert_eq!(arguments, ["__nv_bfloat16", "64", "true"]);
        assert_eq!(parts("krepro_kernel"), ("krepro_kernel".into(), vec![]));
        assert_eq!(parts("void a::f<B<int, 3>, (E)1>(C<2>)").1, ["B<int, 3>", "(E)1"]);
    }

    #[test]
    fn values_are_compared_and_names_are_left_to_the_compiler() {
        let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let transcribed = words(&["bfloat16", "64u", "false", "1", "::x::Y"]);
        let built = words(&["__nv_bfloat16", "64", "true", "(E)1", "x::Y"]);
        let verdicts: Vec<_> = compare(&transcribed, &built, &[]).iter().map(|a| a.same).collect();
        assert_eq!(verdicts, [None, Some(true), Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn a_carrier_names_the_task_with_its_defaults() {
        let symbol = "_Z12krepro_namesIXadL_ZN2ns4taskIfLi32ENS0_3mapILi3EEELb0EEEvRKT1_PT_iEEEvv";
        let task = carried(&demangle(symbol)).expect("a task");
        let (name, arguments) = parts(&task);
        assert_eq!(name, "ns::task");
        assert_eq!(arguments, ["float", "32", "ns::map<3>", "false"]);
        assert_eq!(carried("void other<&(void f<3>(int))>()"), None);
        let piece = |text: &str| Fact::transcribed(text.to_owned(), Place { file: "s".into(), line: 1, column: 1 });
        let alias = |argument: &str| Binding {
            name: "M".into(),
            text: piece(""),
            template: "ns::map".into(),
            arguments: vec![piece(argument)],
        };
        let ours = ["float".to_owned(), "32".into(), "M".into()];
        let verdict = |argument: &str| compare(&ours, &arguments, &[alias(argument)])[2].same;
        assert_eq!((verdict("3"), verdict("4"), verdict("N")), (Some(true), Some(false), None));
    }
}
