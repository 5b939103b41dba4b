//! Types of expressions that are not evaluated, each told by a value of that type.

use tree_sitter::Node;

use super::arithmetic;
use super::callee::Callee;
use super::document::{Document, children};
use super::evaluate::{Names, is_conversion, operator_of};
use super::literal;
use super::value::Value;

/// The value in the common type of the two branches of `?:`; unchanged where they have none that is arithmetic.
pub fn common(value: Value, other: &Value) -> Value {
    match (&value, other) {
        (Value::Bool(_), Value::Bool(_)) | (Value::Char(_), Value::Char(_)) => value,
        (Value::Integer(_) | Value::Bool(_) | Value::Char(_) | Value::Float { .. }, _) => {
            let Ok(zero) = arithmetic::binary("*", other, &Value::Bool(false)) else { return value };
            arithmetic::binary("+", &value, &zero).unwrap_or(value)
        }
        _ => value,
    }
}

/// A value of the type of an expression, where that is known without the values of its names.
pub fn sample<N: Names + ?Sized>(document: &Document, node: Node<'_>, names: &mut N) -> Option<Value> {
    let part = |field| node.child_by_field_name(field);
    match node.kind() {
        "number_literal" => literal::number(&document.text(node)),
        "char_literal" => Some(Value::Char(b'a')),
        "true" | "false" => Some(Value::Bool(true)),
        "sizeof_expression" => Some(Value::size(1)),
        "string_literal" | "raw_string_literal" | "concatenated_string" => Some(Value::Text(String::new())),
        "parenthesized_expression" => match children(node)[..] {
            [inner] => sample(document, inner, names),
            _ => None,
        },
        "cast_expression" => of_type(&document.squeezed(part("type")?)),
        "conditional_expression" => {
            let yes = sample(document, part("consequence")?, names)?;
            Some(common(yes, &sample(document, part("alternative")?, names)?))
        }
        "unary_expression" => match &*operator_of(document, node) {
            "!" | "not" => Some(Value::Bool(true)),
            _ => promoted(&sample(document, part("argument")?, names)?),
        },
        "binary_expression" => match &*operator_of(document, node) {
            "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" | "and" | "or" => Some(Value::Bool(true)),
            "<<" | ">>" => promoted(&sample(document, part("left")?, names)?),
            _ => {
                let left = promoted(&sample(document, part("left")?, names)?)?;
                let right = promoted(&sample(document, part("right")?, names)?)?;
                Some(common(left, &right))
            }
        },
        "call_expression" => {
            let callee = Callee::of(document, node)?;
            match (callee.last(), &callee.template_arguments[..], &callee.arguments[..]) {
                ("static_cast" | "min" | "max", [of], _) => of_type(&document.squeezed(*of)),
                ("min" | "max", [], [first, _]) if callee.receiver.is_none() => sample(document, *first, names),
                (name, [], [_]) if callee.receiver.is_none() && is_conversion(name) => of_type(name),
                _ => names.sample(document, node),
            }
        }
        _ => names.sample(document, node),
    }
}

/// A value of an arithmetic type.
pub fn of_type(name: &str) -> Option<Value> {
    is_conversion(name).then(|| Value::int(1).converted_to(name))
}

fn promoted(value: &Value) -> Option<Value> {
    arithmetic::binary("*", value, &Value::Bool(true)).ok()
}
