//! The bytes that a kernel's barriers await.

use tree_sitter::Node;

use super::lexical::{self, Found};
use super::resolver::Resolver;
use super::scope::{Scope, sentence};
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::evaluate;
use crate::read::cxx::functions::{Function, functions};
use crate::source::Place;

/// Calls that set the bytes a barrier awaits: a function takes barrier and bytes, a method of the barrier the bytes.
pub const EXPECT_NAMES: &[&str] = &[
    "arrive_and_expect_tx",
    "arrive_expect_tx",
    "expect_bytes",
    "expect_transaction",
    "expect_tx",
    "mbar_arrive_expect_tx",
    "mbarrier_arrive_and_expect_tx",
    "mbarrier_arrive_and_set_tx",
    "mbarrier_arrive_expect_tx",
    "mbarrier_expect_tx",
    "producer_expect_transaction",
    "set_barrier_transaction_bytes",
];

/// A call in the kernel's body that sets the bytes of a barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedBytes {
    /// The barrier's expression.
    pub barrier: String,
    /// The expression of the bytes.
    pub bytes: String,
    /// The bytes under the instantiation, or why they are not known.
    pub value: Result<u64, String>,
    /// The call.
    pub at: Place,
    /// Conditions around the call that are not constants.
    pub conditions: Vec<String>,
    /// The copies that name the same barrier.
    pub copies: Vec<Copy>,
}

/// A copy that completes on a barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// The kernel's parameter that it copies through: an object with a copy method, or a tensor map.
    pub object: String,
    /// The call.
    pub at: Place,
}

/// Functions of the headers whose own text holds the instruction: whatever they are called, a call of one sets the bytes.
fn expecting(scope: &Scope) -> Vec<String> {
    let mut names = vec![];
    for header in &scope.headers {
        if !header.holds(".expect_tx") {
            continue;
        }
        let document = header.document();
        for function in functions(document) {
            if function.body.is_some_and(|body| document.text(body).contains(".expect_tx")) {
                names.push(function.name.rsplit("::").next().unwrap_or_default().to_owned());
            }
        }
    }
    names
}

/// Every call in the kernel's body that sets transaction bytes and is not in a branch that the instantiation leaves out: calls
/// of [`EXPECT_NAMES`], of functions of the headers that hold the instruction, and of `more_names`.
pub fn expected_bytes(scope: &Scope, more_names: &[String]) -> Vec<ExpectedBytes> {
    let kernel = scope.function();
    let mut resolver = scope.resolver(kernel.as_ref());
    let Some((document, function)) = &kernel else { return vec![] };
    let Some(body) = function.body else { return vec![] };
    let calls = calls(document, body);
    let own = expecting(scope);
    let known = |name: &str| EXPECT_NAMES.contains(&name) || own.iter().chain(more_names).any(|more| more == name);
    let mut out = vec![];
    for (node, callee) in &calls {
        let wanted = known(callee.last());
        let (barrier, bytes) = match (callee.receiver, &callee.arguments[..]) {
            (Some(barrier), [bytes, ..]) => (barrier, *bytes),
            (None, [barrier, bytes, ..]) => (*barrier, *bytes),
            _ => continue,
        };
        if !wanted {
            continue;
        }
        let Some(conditions) = conditions(&mut resolver, document, *node, body) else { continue };
        let value = evaluate(document, bytes, &mut resolver).map_err(|problems| sentence(&problems)).and_then(|v| {
            let whole = v.value.as_integer().and_then(|i| u64::try_from(i.value).ok());
            whole.ok_or_else(|| format!("`{}` is no number of bytes", v.value))
        });
        let name = canonical(document, barrier);
        let copies = calls
            .iter()
            .filter(|(other, _)| other != node)
            .filter_map(|(other, callee)| {
                let object = copy(document, function, callee, &name)?;
                self::conditions(&mut resolver, document, *other, body)?;
                Some(Copy { object, at: document.spot(*other).place() })
            })
            .collect();
        out.push(ExpectedBytes {
            barrier: document.squeezed(barrier),
            bytes: document.squeezed(bytes),
            value,
            at: document.spot(*node).place(),
            conditions,
            copies,
        });
    }
    out
}

fn calls<'t>(document: &Document, body: Node<'t>) -> Vec<(Node<'t>, Callee<'t>)> {
    let mut out = vec![];
    let mut open = vec![body];
    while let Some(node) = open.pop() {
        if node.kind() == "call_expression" {
            out.extend(Callee::of(document, node).map(|callee| (node, callee)));
        }
        open.extend(children(node));
    }
    out.sort_by_key(|(node, _)| node.start_byte());
    out
}

/// The conditions around a call that are not constants; none when a constant one leaves the call out.
fn conditions(resolver: &mut Resolver<'_>, document: &Document, call: Node<'_>, body: Node<'_>) -> Option<Vec<String>> {
    let mut out = vec![];
    let mut inner = call;
    while let Some(outer) = inner.parent().filter(|_| inner != body) {
        if outer.kind() == "if_statement"
            && let Some(condition) = outer.child_by_field_name("condition")
            && condition != inner
        {
            let otherwise = outer.child_by_field_name("alternative") == Some(inner);
            let value = condition.child_by_field_name("value").unwrap_or(condition);
            match evaluate(document, value, resolver).ok().and_then(|v| v.value.as_bool()) {
                Some(holds) if holds == otherwise => return None,
                Some(_) => {}
                None => out.push(format!("{}{}", if otherwise { "not " } else { "" }, document.squeezed(value))),
            }
        }
        inner = outer;
    }
    out.reverse();
    Some(out)
}

/// The kernel's parameter that a call copies through, when the call names the barrier.
fn copy(document: &Document, function: &Function<'_>, callee: &Callee<'_>, barrier: &str) -> Option<String> {
    let names_it = callee.arguments.iter().any(|argument| canonical(document, *argument) == barrier);
    if !names_it {
        return None;
    }
    let parameters: Vec<String> = children(function.parameters)
        .into_iter()
        .filter_map(|p| {
            let mut node = p.child_by_field_name("declarator")?;
            while node.kind() != "identifier" {
                node = node.child_by_field_name("declarator").or_else(|| children(node).last().copied())?;
            }
            Some(document.squeezed(node))
        })
        .collect();
    let object = |node: Node<'_>| {
        let root = root(canonical(document, node).as_str()).to_owned();
        parameters.contains(&root).then_some(root)
    };
    callee.receiver.and_then(object).or_else(|| callee.arguments.iter().find_map(|argument| object(*argument)))
}

fn root(text: &str) -> &str {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default()
}

/// A barrier's expression without `&` and `*`, local pointers and references replaced by what they stand for.
fn canonical(document: &Document, node: Node<'_>) -> String {
    let mut text = plain(document, node);
    let mut at = node;
    for _ in 0..8 {
        let name = root(&text).to_owned();
        let Some(Found::Value(declarator)) = lexical::find(document, at, &name) else { break };
        let Some(target) = declarator.child_by_field_name("value").and_then(|value| target(document, value)) else {
            break;
        };
        let inner = plain(document, target);
        if root(&inner) == name || inner.is_empty() {
            text = text.replacen(&name, &inner, 1);
            break;
        }
        text = text.replacen(&name, &inner, 1);
        at = declarator;
    }
    text
}

fn plain(document: &Document, node: Node<'_>) -> String {
    let text: String = document.squeezed(node).split_whitespace().collect();
    text.trim_start_matches(['&', '*', '(']).replace("->", ".").trim_end_matches(')').to_owned()
}

/// The object that an initialiser points to or refers to, when it is a name, a member or an element.
fn target<'t>(document: &Document, value: Node<'t>) -> Option<Node<'t>> {
    match value.kind() {
        "identifier" | "field_expression" | "subscript_expression" => Some(value),
        "pointer_expression" => target(document, value.child_by_field_name("argument")?),
        "cast_expression" => target(document, value.child_by_field_name("value")?),
        "parenthesized_expression" => target(document, *children(value).first()?),
        "call_expression" => {
            let callee = Callee::of(document, value)?;
            match (callee.last().ends_with("_cast"), &callee.arguments[..]) {
                (true, [one]) => target(document, *one),
                _ => None,
            }
        }
        _ => None,
    }
}
