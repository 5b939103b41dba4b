//! A case of a check: `tests/checks/base.toml` with a few values changed.

use std::collections::BTreeMap;

use krepro::check::{Context, device, findings};
use krepro::model::{Finding, Findings, Reproducer};
use krepro::read::ptx::device_code;
use serde::Deserialize;
use toml::Value;

/// The value as often, as a list at the path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    pub path: String,
    pub count: usize,
    pub value: Value,
}

fn put(root: &mut Value, path: &str, value: Value) {
    let mut here = root;
    for step in path.split('.') {
        here = match here {
            Value::Table(table) => table.entry(step).or_insert(Value::Boolean(false)),
            Value::Array(list) => {
                let index: usize = step.parse().expect("an index");
                if index == list.len() {
                    list.push(Value::Boolean(false));
                }
                &mut list[index]
            }
            _ => panic!("`{path}` leads nowhere at `{step}`"),
        };
    }
    *here = value;
}

/// What the checks say of the base with these values.
pub fn run(set: &BTreeMap<String, Value>, repeat: Option<&Repeat>) -> Findings {
    findings(&reproducer(set, repeat), &Context::default())
}

/// What the checks after a build say of the base with these values, when its kernel's PTX is `ptx`.
#[allow(dead_code, reason = "not every test has PTX")]
pub fn run_built(set: &BTreeMap<String, Value>, ptx: &str) -> Findings {
    device(&reproducer(set, None), &device_code(ptx, "krepro_kernel"))
}

fn reproducer(set: &BTreeMap<String, Value>, repeat: Option<&Repeat>) -> Reproducer {
    let base = include_str!("../checks/base.toml");
    let mut value: Value = toml::from_str(base).expect("base.toml is TOML");
    for (path, new) in set {
        put(&mut value, path, new.clone());
    }
    if let Some(repeat) = repeat {
        put(&mut value, &repeat.path, Value::Array(vec![repeat.value.clone(); repeat.count]));
    }
    value.try_into().expect("a reproducer")
}

/// All that a finding says.
pub fn words(finding: &Finding) -> String {
    let places: Vec<_> = finding.places.iter().map(|(what, place)| format!("{what} ({place})")).collect();
    format!("{}\n{}\n{}\n{}", finding.message, places.join("\n"), finding.consequence, finding.help.join("\n"))
}
