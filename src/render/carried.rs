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
    let aliases: BTreeSet<&str> = instantiation.aliases.iter().map(|alias| alias.name.as_str()).collect();
    let own = |word: &&&str| !aliases.contains(**word) && instantiation.lines.iter().any(|line| declares(line, word));
    used.is_disjoint(&local) && !used.iter().any(|word| own(&word))
}

/// Whether the line gives `word` a value: `using WORD = …`, `constexpr int WORD = …`, `WORD{…}`.
fn declares(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let rest = line[at + word.len()..].trim_start();
        !line[..at].ends_with(part)
            && !line[at + word.len()..].starts_with(part)
            && (rest.starts_with('{') || rest.starts_with('=') && !rest.starts_with("=="))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && *word != "const")
}

#[cfg(test)]
mod tests {
    use super::declares;

    #[test]
    fn a_name_of_the_emitted_text_is_known_by_its_value() {
        assert!(declares("  using TMA_A = tma<1, 2>;", "TMA_A"));
        assert!(declares("constexpr int STAGES = 5;", "STAGES"));
        assert!(declares("constexpr int STAGES{5};", "STAGES"));
        for line in ["kernel<STAGES>(a);", "if (STAGES == 5) {", "constexpr int MY_STAGES = 5;", "STAGES2 = 4;"] {
            assert!(!declares(line, "STAGES"), "{line}");
        }
    }
}
