//! Pasted Jinja sites.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::ValueKind;
use minijinja::{Environment, UndefinedBehavior, Value as Jinja};

use super::emission::{Emission, EmittedLine, Segment, SegmentOrigin, UsedLeaf};
use super::leaves::parse;
use super::python::float;
use super::report::set;
use crate::diag::{Diagnostic, Diagnostics};
use crate::read::cxx::value::Value;
use crate::source::{Source, Span, Spot};

/// Instructions a template may run.
const FUEL: u64 = 1_000_000;

/// Renders a Jinja template under the given leaves, as Python's jinja2 renders it.
///
/// A line that stands in the template as it is printed is transcribed; any other is read from the template.
///
/// # Errors
///
/// The template is malformed; leaves are missing (all of them at once, each with the option to type).
pub fn render(source: &Arc<Source>, leaves: &BTreeMap<String, String>) -> Result<Emission, Diagnostics> {
    let text = source.text().into_owned();
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_formatter(|out, state, value| match python(value) {
        Some(text) => Ok(out.write_str(&text)?),
        None => minijinja::escape_formatter(out, state, value),
    });
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_fuel(Some(FUEL));
    let template =
        environment.template_from_named_str(source.name(), &text).map_err(|error| malformed(source, &error))?;
    let wanted = template.undeclared_variables(true);
    let root = |name: &str| name.split(['.', '[']).next().unwrap_or_default().to_owned();
    let built_in =
        |name: &str| ["range", "dict", "namespace", "debug", "loop", "lipsum", "cycler"].contains(&root(name).as_str());
    let given = |name: &String| leaves.keys().any(|leaf| leaf == name || leaf.starts_with(&format!("{name}.")));
    let mut missing: Vec<&String> = wanted.iter().filter(|name| !built_in(name) && !given(name)).collect();
    missing.sort_by_key(|name| (text.find(name.as_str()), name.to_owned()));
    missing.retain(|name| !missing_parent(name, leaves));
    match template.render(context(leaves)) {
        Ok(out) => {
            let roots: Vec<_> = wanted.iter().map(|n| root(n)).collect();
            let mut emission = emission(source, &text, &out, leaves, &roots);
            emission.warnings.append(missing.into_iter().map(|name| left_out(source, &text, name)).collect());
            Ok(emission)
        }
        Err(error) if error.kind() == minijinja::ErrorKind::UndefinedError && !missing.is_empty() => {
            Err(missing.into_iter().map(|name| unknown(source, &text, name)).collect())
        }
        Err(error) => Err(malformed(source, &error).into()),
    }
}

/// A parent such as `args` of a given `args.x`, which is no leaf itself.
fn missing_parent(name: &str, leaves: &BTreeMap<String, String>) -> bool {
    leaves.keys().any(|leaf| leaf.starts_with(&format!("{name}.")))
}

fn unknown(source: &Arc<Source>, text: &str, name: &str) -> Diagnostic {
    let at = text.find(name).unwrap_or_default();
    Diagnostic::error("K-SITE-LEAF", format!("the value of `{name}` is not known"))
        .at(Spot::new(source, at..at + name.len()), "used here")
        .because(format!("`{name}` comes from outside the template"))
        .help(format!("add {}", set(name)))
}

/// A name that was not given and not needed: a default stood in for it, or a branch that was not taken uses it.
fn left_out(source: &Arc<Source>, text: &str, name: &str) -> Diagnostic {
    let at = text.find(name).unwrap_or_default();
    Diagnostic::warning("K-SITE-DEFAULT", format!("`{name}` is not given, and the template renders without it"))
        .at(Spot::new(source, at..at + name.len()), "a default, a test or a branch that was not taken")
        .help(format!("if production had a value for it: {}", set(name)))
}

fn malformed(source: &Arc<Source>, error: &minijinja::Error) -> Diagnostic {
    let span = match (error.range(), error.line()) {
        (Some(range), _) => Span::new(range.start, range.end),
        (None, Some(line)) => source.line_span(line).unwrap_or(Span::new(0, 0)),
        (None, None) => Span::new(0, 0),
    };
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    Diagnostic::error("K-SITE-TEMPLATE", format!("{}{detail}", error.kind())).at(Spot::new(source, span), "here")
}

/// What Python prints otherwise than Rust.
fn python(value: &Jinja) -> Option<String> {
    match value.kind() {
        ValueKind::Bool => Some(if value.is_true() { "True" } else { "False" }.to_owned()),
        ValueKind::None => Some("None".to_owned()),
        ValueKind::Seq | ValueKind::Map => Some(within(value, 0)),
        ValueKind::Number if !value.is_integer() => f64::try_from(value.clone()).ok().map(float),
        _ => None,
    }
}

/// Lists within lists that are printed as Python prints them.
const DEEPEST: usize = 64;

/// A value within a list or a dictionary, as Python's `repr` gives it.
fn within(value: &Jinja, depth: usize) -> String {
    let items = || value.try_iter().into_iter().flatten();
    match value.kind() {
        _ if depth > DEEPEST => "...".to_owned(),
        ValueKind::Seq => format!("[{}]", items().map(|item| within(&item, depth + 1)).collect::<Vec<_>>().join(", ")),
        ValueKind::Map => {
            let entry = |key: Jinja| {
                let item = value.get_item(&key).unwrap_or_default();
                format!("{}: {}", within(&key, depth + 1), within(&item, depth + 1))
            };
            format!("{{{}}}", items().map(entry).collect::<Vec<_>>().join(", "))
        }
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        _ => python(value).unwrap_or_else(|| value.to_string()),
    }
}

/// Text as Python's `repr` quotes it.
fn quoted(text: &str) -> String {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(mark);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == mark => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(mark);
    out
}

/// Leaves as a context; a dotted name is a member of a map.
fn context(leaves: &BTreeMap<String, String>) -> Jinja {
    let mut groups: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut out: BTreeMap<String, Jinja> = BTreeMap::new();
    for (name, text) in leaves {
        match name.split_once('.') {
            Some((first, rest)) => {
                groups.entry(first.to_owned()).or_default().insert(rest.to_owned(), text.clone());
            }
            None => {
                out.insert(name.clone(), value(text));
            }
        }
    }
    for (name, group) in groups {
        out.entry(name).or_insert_with(|| context(&group));
    }
    Jinja::from(out)
}

fn value(text: &str) -> Jinja {
    match text.trim() {
        "True" => return Jinja::from(true),
        "False" => return Jinja::from(false),
        "None" => return Jinja::from(()),
        _ => {}
    }
    match parse(text) {
        Value::Bool(b) => Jinja::from(b),
        Value::Integer(i) => i64::try_from(i.value).map_or_else(|_| Jinja::from(text), Jinja::from),
        Value::Float { value, .. } => Jinja::from(value),
        Value::Text(text) => Jinja::from(text),
        _ => Jinja::from(text),
    }
}

fn emission(
    source: &Arc<Source>,
    text: &str,
    out: &str,
    leaves: &BTreeMap<String, String>,
    wanted: &[String],
) -> Emission {
    let mut from = 0;
    let lines = out
        .split_terminator('\n')
        .map(|line| {
            let found = text[from..].find(line).filter(|_| !line.trim().is_empty()).map(|at| from + at);
            let origin = match found {
                Some(at) => {
                    from = at;
                    SegmentOrigin::Literal { at: Spot::new(source, at..at + line.len()) }
                }
                None => SegmentOrigin::Value {
                    at: Spot::new(source, from..from),
                    expr: "template".to_owned(),
                    leaves: wanted.to_vec(),
                },
            };
            let segments = if line.is_empty() { vec![] } else { vec![Segment { range: 0..line.len(), from: origin }] };
            EmittedLine { text: line.to_owned(), segments }
        })
        .collect();
    let start = Spot::new(source, 0..0);
    let is_wanted = |name: &str| wanted.iter().any(|w| name == w || name.starts_with(&format!("{w}.")));
    let used = leaves.iter().filter(|(name, _)| is_wanted(name)).map(|(name, given)| UsedLeaf {
        name: name.clone(),
        given: given.clone(),
        expr: None,
        at: start.clone(),
    });
    let unused = leaves.keys().filter(|name| !is_wanted(name)).map(|name| {
        Diagnostic::warning("K-SITE-UNUSED", format!("the site does not use the given `{name}`"))
            .help(format!("leave out `--set {name}=…`, or check its spelling"))
    });
    Emission {
        source: Arc::clone(source),
        extent: Spot::new(source, 0..text.len()),
        function: String::new(),
        lines,
        terminated: out.is_empty() || out.ends_with('\n'),
        leaves: used.collect(),
        returned: None,
        assertions: 0,
        warnings: unused.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::render;
    use crate::diag::draw;
    use crate::source::Source;

    const SITE: &str = "#include \"k.cuh\"\n{% for tile in [64, 128] %}{% for wide in [true, false] %}{% if wide or tile == 64 %}\ntemplate void k<{{ tile }}, {{ dtype }}, {{ args.stages }}, {{ 'true' if wide else 'false' }}>(int);\n{% endif %}{% endfor %}{% endfor %}\n";

    #[test]
    fn loops_conditions_and_dotted_leaves() {
        let leaves = [("dtype", "half"), ("args.stages", "4")];
        let leaves: BTreeMap<_, _> = leaves.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let out = render(&Source::new("site.jinja", SITE), &leaves).unwrap();
        let text = out.text();
        assert_eq!(text.matches("template void").count(), 3, "{text}");
        assert!(text.contains("k<128, half, 4, true>(int);"), "{text}");
        assert_eq!(out.lines[0].segments.len(), 1);
    }

    #[test]
    fn all_missing_leaves_are_told_with_their_places() {
        let errors = render(&Source::new("site.jinja", SITE), &BTreeMap::new()).unwrap_err();
        let text: String = errors.iter().map(|d| draw(d, false)).collect();
        assert!(text.contains("--set dtype=VALUE") && text.contains("site.jinja:3:"), "{text}");
        let errors = render(&Source::new("site.jinja", "{% for x in %}"), &BTreeMap::new()).unwrap_err();
        assert!(errors.iter().any(|d| d.code == "K-SITE-TEMPLATE"));
    }

    #[test]
    fn truth_prints_as_python_prints_it() {
        let leaves = BTreeMap::from([("flag".to_owned(), "true".to_owned())]);
        assert_eq!(render(&Source::new("-", "{{ flag }} {{ flag|lower }}"), &leaves).unwrap().text(), "True true");
        assert!(render(&Source::new("-", "{% for i in range(100000000) %}x{% endfor %}"), &leaves).is_err());
    }
}
