//! In which language a site prints.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::emission::Emission;
use super::{evaluate, jinja, python, rust};
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::Source;

/// The language of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C++: emitters with `$`, `fmt::format`, streams, joined strings.
    Cpp,
    /// A Jinja template.
    Jinja,
    /// Python: f-strings, `str.format`, `%`.
    Python,
    /// Rust: `format!` and its relatives.
    Rust,
}

impl Language {
    /// The language that a file's name says; pasted text is taken for Jinja when it holds a block, else for C++.
    pub fn of(source: &Source) -> Self {
        let name = source.name();
        let ends = |extensions: &[&str]| extensions.iter().any(|e| name.ends_with(e));
        if ends(&[".jinja", ".jinja2", ".j2"]) {
            Language::Jinja
        } else if ends(&[".py", ".pyi"]) {
            Language::Python
        } else if ends(&[".rs"]) {
            Language::Rust
        } else if name == "-" && source.text().contains("{%") {
            Language::Jinja
        } else {
            Language::Cpp
        }
    }
}

/// Evaluates a site in the language that its name says.
///
/// # Errors
///
/// As the reader of that language.
pub fn read(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
) -> Result<Emission, Diagnostics> {
    read_defined(source, function, leaves, &[])
}

fn read_defined(
    source: &Arc<Source>,
    function: Option<&str>,
    leaves: &BTreeMap<String, String>,
    defines: &[(String, Option<String>)],
) -> Result<Emission, Diagnostics> {
    match Language::of(source) {
        Language::Cpp => evaluate::evaluate_with(source, function, leaves, defines),
        Language::Jinja => match function {
            Some(name) => Err(super::report::missing(source, name, &[]).into()),
            None => jinja::render(source, leaves),
        },
        Language::Python => python::evaluate(source, function, leaves),
        Language::Rust => rust::evaluate(source, function, leaves),
    }
}

/// The same, with `offered` leaves beside those that were given: a site may leave them unused. `defines` are macros of the
/// command line; they choose the `#if` branches of a C++ site.
///
/// # Errors
///
/// As [`read`].
pub fn read_with(
    source: &Arc<Source>,
    function: Option<&str>,
    given: &BTreeMap<String, String>,
    offered: &BTreeMap<String, String>,
    defines: &[(String, Option<String>)],
) -> Result<Emission, Diagnostics> {
    let mut all = offered.clone();
    all.extend(given.clone());
    let mut emission = read_defined(source, function, &all, defines)?;
    let optional: Vec<String> =
        offered.keys().filter(|name| !given.contains_key(*name)).map(|name| format!("`{name}`")).collect();
    let of_given = |d: &&Diagnostic| d.code != "K-SITE-UNUSED" || !optional.iter().any(|name| d.message.contains(name));
    emission.warnings = emission.warnings.iter().filter(of_given).cloned().collect();
    Ok(emission)
}
