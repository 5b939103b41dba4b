//! Expressions to values.

use tree_sitter::Node;

use super::arithmetic::{self, NoResult};
use super::callee::Callee;
use super::document::{Document, children, fields};
use super::integer::IntegerType;
use super::literal;
use super::problem::{Problem, Problems, Unknown};
use super::typing::{self, sample};
use super::value::{Evaluated, Value};

/// A value, or every reason why there is none.
pub type Outcome = Result<Evaluated, Problems>;

/// Nesting of expressions and of the constants behind them.
const DEEPEST: usize = 192;

/// What an evaluation asks of its surroundings.
pub trait Names {
    /// The value of a name, a member, an element.
    fn name(&mut self, document: &Document, node: Node<'_>) -> Outcome;

    /// The value of a call; none leaves it to the functions that are built in.
    fn call(&mut self, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome>;

    /// Size in bytes of a type or of an expression.
    fn size_of(&mut self, document: &Document, node: Node<'_>) -> Outcome;

    /// The value of `TYPE{…}`.
    fn braced(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        unsupported(document, node, "a braced value")
    }

    /// The value of `A<3>::B`, which the grammar takes for two comparisons.
    fn template_member(&mut self, document: &Document, node: Node<'_>) -> Outcome {
        unsupported(document, node, "this template's member")
    }

    /// The arithmetic type that a name stands for; any other name as it stands.
    fn type_named(&self, name: &str) -> String {
        name.to_owned()
    }

    /// A value of the type that a name, a member, an element or a call has, where that is known.
    fn sample(&mut self, _document: &Document, _node: Node<'_>) -> Option<Value> {
        None
    }

    /// How deep the evaluation is; shared by all that it calls.
    fn depth(&mut self) -> &mut usize;
}

/// The value of an expression.
pub fn evaluate<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    *names.depth() += 1;
    let out = if *names.depth() > DEEPEST {
        unsupported(document, node, "an expression nested this deep")
    } else {
        expression(document, node, names)
    };
    *names.depth() -= 1;
    out
}

/// An error of one problem.
pub fn unsupported(document: &Document, node: Node<'_>, what: &str) -> Outcome {
    Err(vec![Problem::Unsupported { what: what.to_owned(), at: document.spot(node) }])
}

fn expression<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    match node.kind() {
        "number_literal" => known(document, node, literal::number(&document.text(node)), "this number"),
        "char_literal" => {
            known(document, node, literal::character(&document.text(node)).map(Value::Char), "this character")
        }
        "true" => Ok(Value::Bool(true).into()),
        "false" => Ok(Value::Bool(false).into()),
        "null" | "nullptr" => Ok(Value::Null.into()),
        "string_literal" | "raw_string_literal" | "concatenated_string" => {
            known(document, node, text(document, node).map(Value::Text), "this string")
        }
        "parenthesized_expression" | "condition_clause" | "argument_list" => match children(node)[..] {
            [inner] => evaluate(document, inner, names),
            _ => unsupported(document, node, "a list in parentheses"),
        },
        "conditional_expression" => conditional(document, node, names),
        "unary_expression" => unary(document, node, names),
        "binary_expression" => binary(document, node, names),
        "cast_expression" => {
            let (Some(of), Some(value)) = (node.child_by_field_name("type"), node.child_by_field_name("value")) else {
                return unsupported(document, node, "this cast");
            };
            let value = evaluate(document, value, names)?;
            Ok(cast(value, &names.type_named(&document.squeezed(of))))
        }
        "sizeof_expression" => match node.child_by_field_name("type").or_else(|| node.child_by_field_name("value")) {
            Some(of) => names.size_of(document, of),
            None => unsupported(document, node, "this sizeof"),
        },
        "call_expression" => call(document, node, names),
        "compound_literal_expression" => names.braced(document, node),
        "comma_expression" => unsupported(document, node, "a comma operator"),
        "lambda_expression" => unsupported(document, node, "a lambda"),
        "initializer_list" => {
            let parts = all(document, &children(node), names)?;
            Ok(tuple(parts))
        }
        _ => names.name(document, node),
    }
}

fn known(document: &Document, node: Node<'_>, value: Option<Value>, what: &str) -> Outcome {
    match value {
        Some(value) => Ok(value.into()),
        None => unsupported(document, node, what),
    }
}

/// The text of a string literal, of adjacent ones joined.
pub fn text(document: &Document, node: Node<'_>) -> Option<String> {
    if node.kind() == "concatenated_string" {
        return children(node).into_iter().map(|part| text(document, part)).collect();
    }
    if !matches!(node.kind(), "string_literal" | "raw_string_literal") {
        return None;
    }
    Some(literal::string(&document.text(node))?.text)
}

/// Values of all nodes, or the problems of all.
pub fn all<N: Names + ?Sized>(
    document: &Document,
    nodes: &[Node<'_>],
    names: &mut N,
) -> Result<Vec<Evaluated>, Problems> {
    let (mut values, mut problems) = (vec![], vec![]);
    for node in nodes {
        match evaluate(document, *node, names) {
            Ok(value) => values.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// Several values as one.
pub fn tuple(parts: Vec<Evaluated>) -> Evaluated {
    let mut out = Evaluated::from(Value::Null);
    for part in &parts {
        out = out.joined(part);
    }
    out.with(Value::Tuple(parts.into_iter().map(|part| part.value).collect()))
}

fn conditional<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    let part = |field| node.child_by_field_name(field);
    let (Some(condition), Some(yes), Some(no)) = (part("condition"), part("consequence"), part("alternative")) else {
        return unsupported(document, node, "this conditional");
    };
    let condition_value = evaluate(document, condition, names)?;
    let (chosen, other) = match condition_value.value.as_bool() {
        Some(true) => (yes, no),
        Some(false) => (no, yes),
        None => return unsupported(document, condition, "a condition that is no truth value"),
    };
    let chosen = evaluate(document, chosen, names)?.joined(&condition_value);
    let common = sample(document, other, names).map(|other| typing::common(chosen.value.clone(), &other));
    Ok(match common {
        Some(value) => chosen.with(value),
        None => chosen,
    })
}

pub(super) fn operator_of(document: &Document, node: Node<'_>) -> String {
    node.child_by_field_name("operator").map(|o| document.text(o).into_owned()).unwrap_or_default()
}

fn finish(document: &Document, node: Node<'_>, result: Result<Value, NoResult>, from: Evaluated) -> Outcome {
    match result {
        Ok(value) => Ok(from.with(value)),
        Err(NoResult::Undefined(what)) => Err(vec![Problem::Undefined { what, at: document.spot(node) }]),
        Err(NoResult::Unsupported) => {
            unsupported(document, node, &format!("`{}` on such operands", operator_of(document, node)))
        }
    }
}

fn unary<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    let Some(argument) = node.child_by_field_name("argument") else {
        return unsupported(document, node, "this operator");
    };
    let value = evaluate(document, argument, names)?;
    let result = arithmetic::unary(&operator_of(document, node), &value.value);
    finish(document, node, result, value)
}

fn binary<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return unsupported(document, node, "this operator");
    };
    let operator = operator_of(document, node);
    let compared = left.kind() == "binary_expression" && operator_of(document, left) == "<";
    if operator == ">" && compared && document.text(right).starts_with("::") {
        return names.template_member(document, node);
    }
    let left = evaluate(document, left, names);
    if matches!(operator.as_str(), "&&" | "||" | "and" | "or") {
        let decisive = matches!(operator.as_str(), "||" | "or");
        if let Ok(value) = &left
            && value.value.as_bool() == Some(decisive)
        {
            return left.map(|l| l.with(Value::Bool(decisive)));
        }
        let right = evaluate(document, right, names);
        let (left, right) = both(left, right)?;
        let joined = left.joined(&right);
        return match right.value.as_bool() {
            Some(value) => Ok(joined.with(Value::Bool(value))),
            None => unsupported(document, node, "a condition that is no truth value"),
        };
    }
    let (left, right) = both(left, evaluate(document, right, names))?;
    let result = arithmetic::binary(&operator, &left.value, &right.value);
    if result == Err(NoResult::Unsupported)
        && let Value::Symbol(name) = if matches!(left.value, Value::Symbol(_)) { &left.value } else { &right.value }
    {
        let unknown = Unknown { name: name.clone(), used: document.spot(node), assigned: None, changed: false };
        return Err(vec![Problem::Unknown(unknown)]);
    }
    finish(document, node, result, left.joined(&right))
}

fn both(left: Outcome, right: Outcome) -> Result<(Evaluated, Evaluated), Problems> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(mut left), Err(right)) => {
            left.extend(right);
            Err(left)
        }
        (Err(problems), Ok(_)) | (Ok(_), Err(problems)) => Err(problems),
    }
}

fn cast(value: Evaluated, declared: &str) -> Evaluated {
    let converted = value.value.clone().converted_to(declared.trim_end_matches("const").trim());
    value.with(converted)
}

fn call<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Outcome {
    let Some(callee) = Callee::of(document, node) else { return unsupported(document, node, "this call") };
    if let Some(outcome) = names.call(document, node, &callee) {
        return outcome;
    }
    let plain = callee.receiver.is_none();
    match (callee.last(), &callee.arguments[..]) {
        ("static_cast", [argument]) => match callee.template_arguments[..] {
            [of] => Ok(cast(evaluate(document, *argument, names)?, &names.type_named(&document.squeezed(of)))),
            _ => unsupported(document, node, "this cast"),
        },
        ("min" | "max", [_, _, ..]) if plain => extreme(document, node, &callee, names),
        ("min" | "max", [list]) if plain && list.kind() == "initializer_list" => {
            extreme(document, node, &Callee { arguments: children(*list), ..callee }, names)
        }
        ("to_string" | "string", [argument]) if plain => {
            let value = evaluate(document, *argument, names)?;
            let text = match (&value.value, callee.last()) {
                (Value::Bool(b), "to_string") => u8::from(*b).to_string(),
                (other, _) => other.to_string(),
            };
            Ok(value.with(Value::Text(text)))
        }
        (name, [argument]) if plain && is_conversion(name) => Ok(cast(evaluate(document, *argument, names)?, name)),
        (name, [argument]) if plain && real_function(name).is_some() => {
            let value = evaluate(document, *argument, names)?;
            match (real_function(name), value.value.as_float()) {
                (Some((function, suffix)), Some(x)) => {
                    let single = suffix || matches!(value.value, Value::Float { single: true, .. });
                    let y = if single { f64::from(function(f64::from(x as f32)) as f32) } else { function(x) };
                    Ok(value.with(Value::Float { value: y, single }))
                }
                _ => unsupported(document, node, "this call"),
            }
        }
        _ => names.name(document, node),
    }
}

/// Whether this is the name of an arithmetic type that is followed.
pub fn is_conversion(name: &str) -> bool {
    matches!(name, "bool" | "float" | "double") || IntegerType::of(name).is_some()
}

type RealFunction = fn(f64) -> f64;

/// A function of the mathematics library, and whether its name ends in `f` for `float`.
fn real_function(name: &str) -> Option<(RealFunction, bool)> {
    let of = |name| -> Option<RealFunction> {
        Some(match name {
            "sqrt" => f64::sqrt,
            "log" => f64::ln,
            "log2" => f64::log2,
            "exp" => f64::exp,
            "exp2" => f64::exp2,
            "ceil" => f64::ceil,
            "floor" => f64::floor,
            "fabs" => f64::abs,
            _ => return None,
        })
    };
    of(name).map(|f| (f, false)).or_else(|| Some((of(name.strip_suffix('f')?)?, true)))
}

fn extreme<N: Names + ?Sized>(document: &Document, node: Node<'_>, callee: &Callee<'_>, names: &mut N) -> Outcome {
    let mut values = all(document, &callee.arguments, names)?;
    if let Some(of) = callee.template_arguments.first() {
        let of = document.squeezed(*of);
        if !is_conversion(&of) {
            return unsupported(document, node, &format!("min or max of `{of}`"));
        }
        values = values.into_iter().map(|value| cast(value, &of)).collect();
    }
    let least = callee.last() == "min";
    let mut best: Option<Evaluated> = None;
    for value in values {
        best = Some(match best {
            None => value,
            Some(old) => {
                let ordered = if least { ("<", &value, &old) } else { (">", &value, &old) };
                match arithmetic::binary(ordered.0, &ordered.1.value, &ordered.2.value) {
                    Ok(Value::Bool(true)) => value.joined(&old),
                    Ok(_) => old.joined(&value),
                    Err(_) => return unsupported(document, node, "min or max of such values"),
                }
            }
        });
    }
    match best {
        Some(value) => Ok(value),
        None => unsupported(document, node, "min or max of nothing"),
    }
}

/// The initialiser of a declarator: its value, the one element of its braces or parentheses.
pub fn initializer<'t>(declarator: Node<'t>) -> Option<Node<'t>> {
    let value = fields(declarator, "value").first().copied()?;
    match (value.kind(), &children(value)[..]) {
        ("initializer_list" | "argument_list", [one]) => Some(*one),
        _ => Some(value),
    }
}
