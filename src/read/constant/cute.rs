//! The part of CuTe that byte counts are made of: static integers, shapes, sizes, the tile of an MMA atom.

use tree_sitter::Node;

use super::resolver::Resolver;
use super::type_name;
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::{Document, children};
use crate::read::cxx::evaluate::{Outcome, all, evaluate, tuple, unsupported};
use crate::read::cxx::value::{TypeName, Value};

/// The value of a call to one of CuTe's functions.
pub fn call(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>, callee: &Callee<'_>) -> Option<Outcome> {
    if callee.receiver.is_some() {
        return None;
    }
    match (callee.last(), &callee.arguments[..], &callee.template_arguments[..]) {
        ("make_shape" | "make_coord" | "make_tuple" | "make_stride" | "make_tile", arguments, []) => {
            Some(all(document, arguments, resolver).map(tuple))
        }
        ("make_tiled_mma", [atom, ..], _) => Some(evaluate(document, *atom, resolver)),
        ("size" | "get", [of], indices) => {
            let product = callee.last() == "size";
            Some(element(resolver, document, node, *of, indices, |value| {
                if product { size(value) } else { Some(value.clone()) }
            }))
        }
        ("size", _, _) => None,
        ("tile_size", [of], [index]) => Some(tile_size(resolver, document, node, *of, *index)),
        ("select", [of], indices) => Some(select(resolver, document, node, *of, indices)),
        _ => None,
    }
}

/// `Int<4>{}`, `_128{}`, `Shape<…>{}`, `TYPE{}`.
pub fn braced(resolver: &mut Resolver<'_>, document: &Document, node: Node<'_>) -> Outcome {
    let Some(of) = node.child_by_field_name("type") else { return unsupported(document, node, "a braced value") };
    let inner = node.child_by_field_name("value").map(children).unwrap_or_default();
    let value = type_name::named(resolver, document, of)?;
    if let ([one], Value::Type(of)) = (&inner[..], &value.value) {
        let out = evaluate(document, *one, resolver)?;
        let converted = out.value.clone().converted_to(&of.name);
        return Ok(out.with(converted));
    }
    match &value.value {
        Value::Type(of) => match static_value(of) {
            Some(number) => Ok(value.with(number)),
            None if inner.is_empty() => Ok(value),
            None => unsupported(document, node, "a braced value"),
        },
        _ => Ok(value),
    }
}

/// The value that a type without members stands for.
fn static_value(of: &TypeName) -> Option<Value> {
    match (of.last(), &of.arguments[..]) {
        ("Int" | "C" | "constant" | "integral_constant", [.., value]) => Some(value.clone()),
        ("Shape" | "Stride" | "Coord" | "Tile" | "tuple", values) => Some(Value::Tuple(
            values
                .iter()
                .map(|value| match value {
                    Value::Type(of) => static_value(of).unwrap_or_else(|| value.clone()),
                    other => other.clone(),
                })
                .collect(),
        )),
        (last, []) => last.strip_prefix('_').and_then(|digits| digits.parse().ok()).map(Value::int),
        _ => None,
    }
}

/// The product of all numbers within a value.
fn size(value: &Value) -> Option<Value> {
    match value {
        Value::Tuple(values) => values
            .iter()
            .try_fold(1i128, |product, value| product.checked_mul(size(value)?.as_integer()?.value))
            .map(Value::int),
        other => other.as_integer().map(Value::Integer),
    }
}

fn element(
    resolver: &mut Resolver<'_>,
    document: &Document,
    node: Node<'_>,
    of: Node<'_>,
    indices: &[Node<'_>],
    then: impl Fn(&Value) -> Option<Value>,
) -> Outcome {
    let value = evaluate(document, of, resolver)?;
    let mut part = value.value.clone();
    for index in indices {
        let index = evaluate(document, *index, resolver)?.value.as_integer();
        let next = match (&part, index.and_then(|i| usize::try_from(i.value).ok())) {
            (Value::Tuple(values), Some(index)) => values.get(index).cloned(),
            (single, Some(0)) => Some(single.clone()),
            _ => None,
        };
        match next {
            Some(next) => part = next,
            None => return unsupported(document, node, "this element of a shape"),
        }
    }
    match then(&part) {
        Some(result) => Ok(value.with(result)),
        None => unsupported(document, node, "the size of such a value"),
    }
}

fn select(
    resolver: &mut Resolver<'_>,
    document: &Document,
    node: Node<'_>,
    of: Node<'_>,
    indices: &[Node<'_>],
) -> Outcome {
    let parts: Result<Vec<_>, _> = indices
        .iter()
        .map(|index| element(resolver, document, node, of, std::slice::from_ref(index), |v| Some(v.clone())))
        .collect();
    parts.map(tuple)
}

fn tile_size(
    resolver: &mut Resolver<'_>,
    document: &Document,
    node: Node<'_>,
    of: Node<'_>,
    index: Node<'_>,
) -> Outcome {
    let value = evaluate(document, of, resolver)?;
    let index = evaluate(document, index, resolver)?.value.as_integer().and_then(|i| usize::try_from(i.value).ok());
    let tile = match (&value.value, index) {
        (Value::Type(atom), Some(index)) => mma_tile(atom).and_then(|tile| tile.get(index).copied()),
        _ => None,
    };
    match tile {
        Some(extent) => Ok(value.with(Value::int(extent))),
        None => unsupported(document, node, "the tile of this MMA"),
    }
}

/// M, N and K of an MMA atom. Blackwell's take M and N as arguments and 256 bits of K (PTX ISA, tcgen05.mma); Hopper's
/// carry all three in the name.
fn mma_tile(atom: &TypeName) -> Option<[i128; 3]> {
    let name = atom.last();
    if let Some(rest) = name.strip_prefix("SM90_") {
        let mut extents = rest.split('_').next()?.split('x').map(|n| n.parse().ok());
        return Some([extents.next()??, extents.next()??, extents.next()??]);
    }
    let one_sm = ["SM100_MMA_F16BF16_SS", "SM100_MMA_TF32_SS", "SM100_MMA_F16BF16_2x1SM_SS", "SM100_MMA_TF32_2x1SM_SS"];
    if !one_sm.contains(&name) {
        return None;
    }
    let (Value::Type(element), m, n) = (atom.arguments.first()?, atom.arguments.get(3)?, atom.arguments.get(4)?) else {
        return None;
    };
    let bytes = i128::from(type_name::size(element)?);
    Some([m.as_integer()?.value, n.as_integer()?.value, 32 / bytes])
}
