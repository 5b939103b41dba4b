//! What may not stand in a generated file: names that are no names.

use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Destination, LaunchKind, Prepares, Reproducer, Role};

/// All names that cannot be rendered.
pub(super) fn validate(reproducer: &Reproducer) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let mut refuse = |what: &str, text: &str, help: &str| {
        problems.push(
            Diagnostic::error(
                "K-RENDER-NAME",
                format!("{what} `{}` cannot stand in the generated file", text.escape_debug()),
            )
            .help(help),
        );
    };
    if !file_stem(&reproducer.name) {
        refuse("the name", &reproducer.name, "letters, digits, `_`, `-` and `.`, not beginning with `-` or `.`");
    }
    if !qualified(&reproducer.instantiation.kernel.value) {
        let kernel = &reproducer.instantiation.kernel.value;
        refuse("the kernel name", kernel, "a C++ name such as `kernel::linear_kernel`, without template arguments");
    }
    for include in &reproducer.kernel.includes {
        if !header_name(include) {
            refuse("the include", include, "write `<path>` or `\"path\"`, on one line");
        }
    }
    for (index, one) in reproducer.prologue.iter().enumerate() {
        if !identifier(&one.name) {
            refuse(
                "the name of a launch before the kernel",
                &one.name,
                "letters, digits and `_`, not beginning with a digit",
            );
        }
        for destination in std::iter::once(&one.writes).chain(&one.scales) {
            let role = reproducer.role_of(&destination.value);
            let later = |name: &str| reproducer.prologue.iter().skip(index + 1).any(|other| other.name == *name);
            let backwards = matches!(&destination.value, Destination::Source(name) if !later(name));
            if backwards || role.is_none_or(|role| role == Role::Out || reproducer.contract.operand(role).is_none()) {
                refuse(
                    &format!("what `{}` writes,", one.name),
                    &destination.value.to_string(),
                    "an operand of the kernel that it reads, or NAME.source of a later launch",
                );
            }
        }
        if one.scales.is_some() != (one.does.value == Prepares::Quantise) {
            refuse("the launch", &one.name, "`scales` belongs to does = \"quantise\", and only to that");
        }
    }
    for pair in &reproducer.descriptors {
        if !qualified(&pair.name) {
            refuse("the descriptor name", &pair.name, "a C++ name");
        }
        let map = pair.chosen(reproducer.descriptor_source);
        for enumerator in [&map.data_type, &map.l2_promotion] {
            if !(qualified(enumerator) && enumerator.starts_with("CU_TENSOR_MAP_")) {
                refuse("the enumerator", enumerator, "an enumerator of cuda.h that begins with CU_TENSOR_MAP_");
            }
        }
        let rank = map.global_dim.len();
        let fits = (1..=5).contains(&rank)
            && map.global_strides.len() + 1 == rank
            && map.box_dim.len() == rank
            && map.element_strides.len() == rank;
        if !fits {
            let counts = format!(
                "{} extents, {} strides, {} box extents, {} element strides",
                rank,
                map.global_strides.len(),
                map.box_dim.len(),
                map.element_strides.len()
            );
            refuse(
                &format!("descriptor {} with", pair.name),
                &counts,
                "1 to 5 extents, one stride fewer, as many box extents and element strides",
            );
        }
    }
    if reproducer.launch.kind.value == LaunchKind::Global {
        for alias in &reproducer.instantiation.aliases {
            if !identifier(&alias.name) {
                refuse("the alias", &alias.name, "a C++ identifier");
            }
        }
    }
    problems
}

fn file_stem(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && !text.starts_with(['-', '.'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}

fn identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn qualified(text: &str) -> bool {
    text.strip_prefix("::").unwrap_or(text).split("::").all(identifier)
}

fn header_name(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|t| t.strip_suffix('>'));
    let inner = inner.or_else(|| text.strip_prefix('"').and_then(|t| t.strip_suffix('"')));
    inner.is_some_and(|t| !t.is_empty() && !t.contains(['<', '>', '"', '\\']) && !t.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::{file_stem, header_name, qualified};

    #[test]
    fn names_with_metacharacters_are_refused() {
        assert!(qualified("kernel::linear_1") && qualified("::k"));
        for bad in ["", "a::", "a;b", "a<1>", "k$(id)", "1k", "a b", "a\nb"] {
            assert!(!qualified(bad), "{bad:?}");
        }
        assert!(file_stem("linear-1.b"));
        for bad in ["", "-o", "a/b", "a;b", ".x", "a b"] {
            assert!(!file_stem(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_include_is_one_header_name() {
        assert!(header_name("<cute/tensor.hpp>") && header_name("\"a b.cuh\""));
        for bad in ["<>", "x.h", "<a>\n#pragma x", "\"a\"; \"", "<a>b>"] {
            assert!(!header_name(bad), "{bad:?}");
        }
    }
}
