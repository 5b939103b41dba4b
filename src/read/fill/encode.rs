//! The arguments of `cuTensorMapEncodeTiled`.

use tree_sitter::Node;

use super::machine::Machine;
use crate::model::{Fact, Swizzle};
use crate::read::cxx::callee::Callee;
use crate::read::cxx::document::Document;
use crate::read::cxx::evaluate::{Outcome, evaluate};
use crate::read::cxx::problem::{Problem, Problems};
use crate::read::cxx::value::{Evaluated, Value};
use crate::read::prints::PrintedMap;
use crate::source::Place;

/// Whether a call encodes a tiled descriptor, under whatever prefix a framework gives it.
pub(super) fn is_encode(callee: &Callee<'_>) -> bool {
    callee.last().ends_with("cuTensorMapEncodeTiled") && callee.arguments.len() >= 10
}

/// An array, or a pointer into one, moved on by some elements.
pub(super) fn advanced(array: &Evaluated, by: &Evaluated) -> Option<Evaluated> {
    let Value::Tuple(values) = &array.value else { return None };
    let by_count = usize::try_from(by.value.as_integer()?.value).ok()?;
    let rest = values.get(by_count..)?.to_vec();
    Some(array.clone().joined(by).with(Value::Tuple(rest)))
}

/// Takes the arguments of a call: map, type, rank, address, extents, strides, box, element strides, interleave, swizzle, L2
/// promotion, fill.
pub(super) fn encode(machine: &mut Machine<'_>, document: &Document, node: Node<'_>, callee: &Callee<'_>) {
    let arguments = &callee.arguments;
    let mut problems: Problems = vec![];
    let mut value = |machine: &mut Machine<'_>, index: usize| match argument(document, arguments[index], machine) {
        Ok(value) => Some(value),
        Err(more) => {
            problems.extend(more);
            None
        }
    };
    let taken = [2, 4, 5, 6, 9].map(|index| value(machine, index));
    // The type is known from the operand as well.
    let kind = evaluate(document, arguments[1], machine).ok();
    let promotion = arguments.get(10).and_then(|node| evaluate(document, *node, machine).ok());
    let [Some(rank), Some(extents), Some(strides), Some(boxes), Some(swizzle)] = taken else {
        return machine.note(problems);
    };
    let rank = rank.value.as_integer().and_then(|rank| usize::try_from(rank.value).ok()).unwrap_or_default();
    let place = |index: usize| document.spot(arguments[index]).place();
    let lists = [(4, &extents, rank), (5, &strides, rank.saturating_sub(1)), (6, &boxes, rank)];
    let mut numbers: Vec<Vec<Fact<u64>>> = vec![];
    for (index, list, count) in lists {
        match facts(list, count, &place(index)) {
            Some(list) => numbers.push(list),
            None => problems.push(Problem::Unsupported {
                what: format!("`{}`, of which {count} numbers are needed,", document.squeezed(arguments[index])),
                at: document.spot(arguments[index]),
            }),
        }
    }
    let mode = mode(&swizzle.value.to_string());
    if mode.is_none() {
        let what = format!("the swizzle `{}`", swizzle.value);
        problems.push(Problem::Unsupported { what, at: document.spot(arguments[9]) });
    }
    let (Some(mode), Ok([global_dim, global_strides, box_dim])) = (mode, <[Vec<Fact<u64>>; 3]>::try_from(numbers))
    else {
        return machine.note(problems);
    };
    let data_type = kind.map(|kind| kind.value.to_string()).filter(|name| name.starts_with("CU_TENSOR_MAP_DATA_TYPE_"));
    let l2_promotion = promotion.map(|p| p.value.to_string()).filter(|name| name.starts_with("CU_TENSOR_MAP_L2_"));
    machine.encoded.push(PrintedMap {
        line: document.spot(node).place().line,
        global_dim,
        global_strides,
        box_dim,
        element_bytes: data_type.as_deref().and_then(crate::read::prints::element_bytes),
        swizzle: Some(Fact::read(mode, place(9), Some(swizzle.value.to_string()))),
        data_type,
        l2_promotion,
    });
}

/// An argument's value; `POINTER + N` is the rest of an array.
fn argument(document: &Document, node: Node<'_>, machine: &mut Machine<'_>) -> Outcome {
    let sides = node.child_by_field_name("left").zip(node.child_by_field_name("right"));
    if let Some((left, right)) = sides.filter(|_| node.kind() == "binary_expression") {
        let (left, right) = (evaluate(document, left, machine)?, evaluate(document, right, machine)?);
        if let Some(rest) = advanced(&left, &right) {
            return Ok(rest);
        }
    }
    evaluate(document, node, machine)
}

fn facts(list: &Evaluated, count: usize, at: &Place) -> Option<Vec<Fact<u64>>> {
    let Value::Tuple(values) = &list.value else { return None };
    let leaves: Vec<&str> = list.leaves.iter().map(String::as_str).collect();
    let from =
        if leaves.is_empty() { "fill code".to_owned() } else { format!("fill code, from {}", leaves.join(", ")) };
    let number = |value: &Value| u64::try_from(value.as_integer()?.value).ok();
    let facts: Option<Vec<_>> = values
        .iter()
        .take(count)
        .map(|value| Some(Fact::read(number(value)?, at.clone(), Some(from.clone()))))
        .collect();
    facts.filter(|facts| facts.len() == count)
}

fn mode(name: &str) -> Option<Swizzle> {
    [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128].into_iter().find(|mode| mode.driver_name() == name)
}
