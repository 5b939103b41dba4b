//! Leaves out of the task graph that Mirage's runtime writes beside the generated text (`task_graph_rank<N>.json`).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Fact;
use crate::source::{Source, Span, Spot};

/// The leaves of the first task of a type and variant, named by the expressions of the site: tile extents of inputs and
/// outputs, and strides of the whole tensors. Extents of whole tensors are not in the file.
///
/// # Errors
///
/// The text is no task graph, or holds no such task.
pub fn leaves(source: &Arc<Source>, task: &str, variant: u64) -> Result<BTreeMap<String, Fact<String>>, Diagnostics> {
    let whole = Spot::new(source, Span::new(0, 0));
    let wrong = |message: String| Diagnostic::error("K-LEAVES-GRAPH", message).at(whole.clone(), "in this file");
    let graph: Value = serde_json::from_slice(source.bytes()).map_err(|error| {
        let line = source.line_span(error.line()).unwrap_or(Span::new(0, 0));
        Diagnostic::error("K-LEAVES-GRAPH", format!("this is no JSON: {error}")).at(Spot::new(source, line), "here")
    })?;
    let tasks: Vec<&Value> = tasks(&graph);
    if tasks.is_empty() {
        return Err(wrong("no list of tasks is in this file".to_owned()).into());
    }
    let is = |t: &&&Value| kind(t).is_some_and(|k| k == task) && t["variant_id"].as_u64() == Some(variant);
    let Some(found) = tasks.iter().find(is) else {
        let mut known: Vec<String> =
            tasks.iter().filter_map(|t| Some(format!("{}:{}", kind(t)?, t["variant_id"].as_u64()?))).collect();
        known.sort();
        known.dedup();
        known.truncate(12);
        return Err(wrong(format!("no task is of type {task}, variant {variant}"))
            .because(format!("the file holds {}", known.join(", ")))
            .into());
    };
    let mut out = BTreeMap::new();
    for (list, name) in [("inputs", "input_ops"), ("outputs", "output_ops")] {
        for (index, tensor) in found[list].as_array().into_iter().flatten().enumerate() {
            for (d, extent) in tensor["dims"].as_array().into_iter().flatten().enumerate() {
                add(
                    &mut out,
                    &whole,
                    format!("{name}[{index}]->output_tensors[0].dim[{d}]"),
                    extent,
                    &format!("{list}[{index}].dims[{d}]"),
                );
            }
            for (d, stride) in tensor["strides"].as_array().into_iter().flatten().enumerate() {
                let expr = format!("{list}[{index}].strides[{d}]");
                add(&mut out, &whole, format!("{name}[{index}]->dtensor.stride[{d}]"), stride, &expr);
                if list == "outputs" && index == 0 {
                    add(&mut out, &whole, format!("kn_input_op->input_strides[{d}]"), stride, &expr);
                }
            }
        }
    }
    Ok(out)
}

fn add(out: &mut BTreeMap<String, Fact<String>>, at: &Spot, name: String, value: &Value, expr: &str) {
    if let Some(number) = value.as_i64() {
        out.insert(name, Fact::read(number.to_string(), at.place(), Some(expr.to_owned())));
    }
}

fn tasks(graph: &Value) -> Vec<&Value> {
    match graph {
        Value::Array(list) => list.iter().filter(|t| t.is_object()).collect(),
        Value::Object(map) => map.values().find_map(Value::as_array).map(|l| l.iter().collect()).unwrap_or_default(),
        _ => vec![],
    }
}

fn kind(task: &Value) -> Option<String> {
    match &task["task_type"] {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::leaves;
    use crate::diag::draw;
    use crate::source::Source;

    const GRAPH: &str = r#"{"all_tasks": [
      {"task_type": 7, "variant_id": 0, "inputs": [], "outputs": []},
      {"task_type": 101, "variant_id": 2,
       "inputs": [{"dims": [8, 4096], "strides": [4096, 1], "data_type": 1, "offset": 0}],
       "outputs": [{"dims": [8, 64], "strides": [1024, 1], "data_type": 1, "offset": 128}]}]}"#;

    #[test]
    fn tile_extents_and_strides_are_named_by_the_sites_expressions() {
        let found = leaves(&Source::new("graph.json", GRAPH), "101", 2).unwrap();
        assert_eq!(found["output_ops[0]->output_tensors[0].dim[1]"].value, "64");
        assert_eq!(found["kn_input_op->input_strides[0]"].value, "1024");
        assert_eq!(
            found["input_ops[0]->output_tensors[0].dim[1]"].origin.detail(),
            "graph.json:1:1 `inputs[0].dims[1]`"
        );
        assert!(!found.contains_key("input_ops[0]->dtensor.dim[1]"));
    }

    #[test]
    fn a_missing_task_lists_what_there_is() {
        let errors = leaves(&Source::new("graph.json", GRAPH), "101", 3).unwrap_err();
        let text: String = errors.iter().map(|d| draw(d, false)).collect();
        assert!(text.contains("101:2, 7:0"), "{text}");
        assert!(leaves(&Source::new("graph.json", "{"), "1", 0).is_err());
        assert!(leaves(&Source::new("graph.json", "3"), "1", 0).is_err());
    }
}
