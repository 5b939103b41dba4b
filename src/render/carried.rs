//! Whether the instantiation of an inlined task can be carried into the executable by a template over its address.

use std::collections::BTreeSet;

use crate::model::{LaunchKind, Reproducer};

/// Only where its template arguments stand alone: all that are not deduced are given, and none of them names an object of the
/// wrapper.
pub(super) fn carried(reproducer: &Reproducer) -> bool {
    let instantiation = &reproducer.instantiation;
    let given = instantiation.template_arguments.len();
    let signature = &reproducer.kernel.signature;
    if reproducer.launch.kind.value != LaunchKind::Wrapped
        || given == 0
        || given < signature.required_template_arguments()
        || signature.template_parameters.iter().any(|parameter| parameter.pack)
    {
        return false;
    }
    let arguments = instantiation.template_arguments.iter().map(|piece| piece.value.as_str());
    let used: BTreeSet<&str> =
        arguments.chain(instantiation.aliases.iter().map(|alias| alias.text.value.as_str())).flat_map(words).collect();
    let objects = instantiation.objects.iter().map(|object| object.name.as_str());
    let local: BTreeSet<&str> =
        objects.chain(words(&reproducer.harness.prologue)).chain(words(&reproducer.harness.parameters)).collect();
    used.is_disjoint(&local)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && *word != "const")
}
