//! From a place in the generated file to the place in the site that it came from.

use crate::model::{Origin, Piece, Reproducer};
use crate::source::Place;

/// What stands in a line of the generated file, and where that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blame {
    /// The text of the line, without indentation.
    pub text: String,
    /// What of it was read: the piece, and its place; the first of the line.
    pub read: Option<(String, Place)>,
}

/// Looks into line `line` (from 1) of the generated file.
pub fn blame(generated: &str, line: usize, reproducer: &Reproducer) -> Option<Blame> {
    let text = generated.lines().nth(line.checked_sub(1)?)?.trim().to_owned();
    let instantiation = &reproducer.instantiation;
    let emitted = instantiation.lines.iter().any(|emitted| emitted.trim() == text);
    let bindings = instantiation.aliases.iter().chain(&instantiation.objects);
    let pieces = std::iter::once(&instantiation.kernel)
        .chain(&instantiation.template_arguments)
        .chain(bindings.flat_map(|b| std::iter::once(&b.text).chain(&b.arguments)))
        .chain(&instantiation.arguments);
    // Pieces of one word are everywhere: outside the emitted lines only the kernel's name is taken for it.
    let mut known =
        pieces.filter(|piece| !piece.value.is_empty() && (emitted || piece.value == instantiation.kernel.value));
    let read = known.find(|piece| text.contains(&piece.value)).and_then(place);
    Some(Blame { text, read })
}

fn place(piece: &Piece) -> Option<(String, Place)> {
    match &piece.origin {
        Origin::Transcribed { at } | Origin::Read { at, .. } => Some((piece.value.clone(), at.clone())),
        Origin::Given { .. } | Origin::Assumed { .. } => None,
    }
}
