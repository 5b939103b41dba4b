//! From a checked reproducer to the files that stand alone: `NAME.cu` and `build.sh`.
//!
//! Pure and deterministic: the same reproducer gives the same bytes.

mod batch;
mod carried;
mod runtime;
mod seal;
mod share;
mod validate;
mod view;

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Checked;
use crate::template::Templates;

pub use batch::{Batch, Case, batch, instantiation};
pub use seal::{is_as_rendered, rendered_hash, sealed};

/// A file to be written into the reproducer's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFile {
    /// Its name, without a folder.
    pub name: String,
    /// All of it.
    pub text: String,
    /// Whether it is a program.
    pub executable: bool,
}

/// What a reproducer becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// `NAME.cu`, then `build.sh`.
    pub files: Vec<RenderedFile>,
}

/// Renders both files.
///
/// # Errors
/// Names that cannot stand in C++ or in a shell, all at once; a template that does not fit (a defect of krepro).
pub fn render(checked: &Checked) -> Result<Rendered, Diagnostics> {
    let reproducer = checked.reproducer();
    let problems = validate::validate(reproducer);
    if problems.has_errors() {
        return Err(problems);
    }
    let defect = |error: tera::Error| Diagnostics::from(Diagnostic::error("K-RENDER", error.to_string()));
    let templates = Templates::new().map_err(defect)?;
    let context = view::context(reproducer);
    let unit = templates.fill("harness.cu", &context).map_err(defect)?;
    let script = templates.fill("build.sh", &context).map_err(defect)?;
    Ok(Rendered {
        files: vec![
            RenderedFile { name: format!("{}.cu", reproducer.name), text: seal::seal(&unit), executable: false },
            RenderedFile { name: "build.sh".into(), text: seal::seal(&script), executable: true },
        ],
    })
}
