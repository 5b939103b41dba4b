//! The order of the stages: the only place, with `cli` and `sweep`, that knows it.

use crate::check::{self, Context};
use crate::diag::Diagnostics;
use crate::model::{Architecture, Checked, Findings, Reproducer};
use crate::render::{self, Rendered};

/// A reproducer that is checked and rendered.
#[derive(Debug, Clone)]
pub struct Made {
    /// With its findings.
    pub checked: Checked,
    /// Its files.
    pub rendered: Rendered,
}

/// Why there is nothing to write.
#[derive(Debug)]
pub enum Stop {
    /// A check refuses.
    Refused(Box<(Reproducer, Findings)>),
    /// It cannot be rendered.
    Unrenderable(Diagnostics),
}

/// All findings of a reproducer, against the limits of every architecture that krepro knows.
pub fn findings(reproducer: &Reproducer) -> Findings {
    check::findings(reproducer, &Context { architectures: Architecture::all() })
}

/// Checks and renders.
///
/// # Errors
/// A finding that refuses; a name that cannot stand in C++ or in a shell.
pub fn make(reproducer: Reproducer) -> Result<Made, Stop> {
    let checked = check::check(reproducer, &Context { architectures: Architecture::all() }).map_err(Stop::Refused)?;
    let rendered = render::render(&checked).map_err(Stop::Unrenderable)?;
    Ok(Made { checked, rendered })
}
