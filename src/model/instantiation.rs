//! The instantiation, verbatim: what the code-generation site emits.

use serde::{Deserialize, Serialize};

use super::Fact;

/// A piece of text with its origin: a template argument, a call argument, an emitted line.
pub type Piece = Fact<String>;

/// A name bound by the emitted text: `using TMA_A = …;`, or `TMA_A tma_a(…);`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The name.
    pub name: String,
    /// What it stands for, as emitted: the type of an alias, or `TYPE(ARGUMENTS)` of an object.
    pub text: Piece,
    /// For an alias of a template: the template's name, else empty.
    pub template: String,
    /// For an alias of a template: its arguments, in order.
    pub arguments: Vec<Piece>,
}

/// An instantiation of a kernel, as production's generator writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instantiation {
    /// The emitted lines, byte-equal to what the generator prints, without newlines.
    pub lines: Vec<String>,
    /// Qualified kernel name, as emitted.
    pub kernel: Piece,
    /// Template arguments, as emitted, in order.
    pub template_arguments: Vec<Piece>,
    /// Call arguments, as emitted, in order; empty for a bare `&kernel<…>`.
    pub arguments: Vec<Piece>,
    /// What stands within `<<<` and `>>>` of a launch, as emitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch: Vec<Piece>,
    /// Aliases (`using`) in order.
    pub aliases: Vec<Binding>,
    /// Local objects in order.
    pub objects: Vec<Binding>,
}
