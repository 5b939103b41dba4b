//! Headers with what is expected of each kernel in lines that begin with `//@`: `kernel NAME`, then `define NAME[=VALUE]`,
//! `annotate MACRO[=KEYWORDS]`, `name`, `global`, `template KIND DECLARED NAME[ = DEFAULT]`, `parameter DECLARED | NAME[ = DEFAULT]`,
//! `bounds`, `cluster`, or `error PART`.

use std::path::Path;

use krepro::diag::draw;
use krepro::model::KernelSignature;
use krepro::model::TemplateParameterKind::{Template, Type, Value};
use krepro::read::signature::{SignatureOptions, find};
use krepro::source::Source;

/// One line for each fact of a signature, as the expectations spell it.
fn facts(signature: &KernelSignature) -> Vec<String> {
    let with = |text: String, default: &Option<String>| match default {
        Some(default) => format!("{text} = {default}"),
        None => text,
    };
    let mut out = vec![format!("name {}", signature.name), format!("global {}", signature.global)];
    for p in &signature.template_parameters {
        let kind = match p.kind {
            Type => "type",
            Value => "value",
            Template => "template",
        };
        let pack = if p.pack { "..." } else { "" };
        out.push(with(format!("template {kind} {}{pack} {}", p.declared, p.name), &p.default));
    }
    for p in &signature.parameters {
        out.push(with(format!("parameter {} | {}", p.declared, p.name), &p.default));
    }
    out.extend(signature.launch_bounds.iter().map(|fact| format!("bounds {}", fact.value)));
    out.extend(signature.cluster_dims.iter().map(|fact| format!("cluster {}", fact.value)));
    out
}

/// Checks every kernel that a header expects something of.
pub fn check(path: &Path) {
    let text = fs_err::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@ ")).collect();
    let source = Source::new("header.cuh", text.as_str());
    let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].starts_with("kernel ")).collect();
    assert!(!starts.is_empty());
    for (index, start) in starts.iter().enumerate() {
        let name = &lines[*start]["kernel ".len()..];
        let expected = &lines[start + 1..starts.get(index + 1).copied().unwrap_or(lines.len())];
        let mut options = SignatureOptions::default();
        for line in expected {
            if let Some(define) = line.strip_prefix("define ") {
                let (name, value) = define.split_once('=').map_or((define, None), |(n, v)| (n, Some(v.to_owned())));
                options.defines.push((name.to_owned(), value));
            } else if let Some(entry) = line.strip_prefix("annotate ") {
                options.annotation_macros.push(entry.to_owned());
            }
        }
        let expected: Vec<&str> =
            expected.iter().copied().filter(|l| !l.starts_with("define ") && !l.starts_with("annotate ")).collect();
        match find(&source, name, &options) {
            Ok(signature) => {
                assert!(text.contains(&signature.text.value), "{name} is a slice of the header");
                let facts = facts(&signature);
                let told = |fact: &&String| {
                    let key = fact.split(' ').next().unwrap_or_default();
                    !matches!(key, "name" | "global") || expected.iter().any(|line| line.starts_with(key))
                };
                assert_eq!(facts.iter().filter(told).map(String::as_str).collect::<Vec<_>>(), expected, "{name}");
            }
            Err(errors) => {
                let errors: String = errors.iter().map(|d| draw(d, false) + "\n").collect();
                let parts: Vec<_> = expected.iter().filter_map(|line| line.strip_prefix("error ")).collect();
                assert!(!parts.is_empty(), "{name}\n{errors}");
                for part in parts {
                    assert!(errors.contains(part), "{name}: no `{part}` in\n{errors}");
                }
            }
        }
    }
}
