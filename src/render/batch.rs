//! Many cases of a sweep in one translation unit.

use serde::Serialize;
use tera::Context;

use super::{RenderedFile, runtime, seal, validate, view};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Checked, LaunchKind};
use crate::template::Templates;

/// A case: its name on the command line of the executable, and what it is.
#[derive(Debug, Clone, Copy)]
pub struct Case<'c> {
    /// Any text without control characters.
    pub name: &'c str,
    /// The case.
    pub checked: &'c Checked,
}

/// A batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its file.
    pub file: RenderedFile,
    /// For each case the number of its instantiation; the wrapper kernel is named `kernel_NUMBER`.
    pub kernels: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct CaseView {
    name: String,
    index: usize,
    text: String,
}

/// One instantiation, with the cases that launch it.
#[derive(Debug, Serialize)]
struct UnitView {
    kernel_name: String,
    /// What `KREPRO_ENTRY` stands for.
    entry: String,
    text: String,
    cases: Vec<CaseView>,
}

/// `NAME.cu` with all cases, each instantiation once. The cases must have the same includes and compile command: those of the
/// first are taken.
///
/// # Errors
/// Names that cannot stand in C++; a template that does not fit (a defect of krepro).
pub fn batch(name: &str, cases: &[Case<'_>]) -> Result<Batch, Diagnostics> {
    let problems: Diagnostics = cases.iter().flat_map(|case| validate::validate(case.checked.reproducer())).collect();
    if problems.has_errors() {
        return Err(problems);
    }
    let (text, kernels) = fill(name, cases).map_err(|error| Diagnostic::error("K-RENDER", error.to_string()))?;
    let file = RenderedFile { name: format!("{name}.cu"), text: seal::seal(&text), executable: false };
    Ok(Batch { file, kernels })
}

/// What cases must share to share an instantiation: the kernel's text under one fixed name.
///
/// # Errors
/// A template that does not fit (a defect of krepro).
pub fn instantiation(checked: &Checked) -> Result<String, Diagnostics> {
    let filled = Templates::new().and_then(|all| all.fill("kernel.cu", &view::context(checked.reproducer())));
    filled.map_err(|error| Diagnostic::error("K-RENDER", error.to_string()).into())
}

fn fill(name: &str, cases: &[Case<'_>]) -> Result<(String, Vec<usize>), tera::Error> {
    let templates = Templates::new()?;
    let mut units: Vec<(String, UnitView)> = vec![];
    let mut kernels = vec![];
    for (index, case) in cases.iter().enumerate() {
        let reproducer = case.checked.reproducer();
        let mut context = view::context(reproducer);
        // The text under one fixed name tells whether two cases share an instantiation.
        let key = templates.fill("kernel.cu", &context)?;
        let known = units.iter().position(|(known, _)| *known == key);
        let number = known.unwrap_or(units.len());
        context.insert("kernel_index", &number);
        let text = templates.fill("problem.cu", &context)?;
        let view = CaseView { name: case.name.to_owned(), index, text };
        kernels.push(number);
        if let Some(known) = known {
            units[known].1.cases.push(view);
            continue;
        }
        let kernel_name = format!("kernel_{number}");
        context.insert("kernel_name", &kernel_name);
        let wrapped = reproducer.launch.kind.value == LaunchKind::Wrapped;
        let entry = if wrapped { kernel_name.clone() } else { view::launched(reproducer) };
        let text = templates.fill("kernel.cu", &context)?;
        units.push((key, UnitView { kernel_name, entry, text, cases: vec![view] }));
    }
    let units: Vec<UnitView> = units.into_iter().map(|(_, unit)| unit).collect();
    let mut context = Context::new();
    let names: Vec<&CaseView> = units.iter().flat_map(|unit| &unit.cases).collect();
    context.insert("name", name);
    context.insert("hash", seal::BLANK);
    context.insert("cases", &names);
    context.insert("units", &units);
    context.insert("includes", &cases.first().map(|case| case.checked.reproducer().kernel.includes.clone()));
    context.insert("runtime_first", &runtime::first());
    context.insert("runtime", &runtime::rest());
    Ok((templates.fill("batch.cu", &context)?, kernels))
}
