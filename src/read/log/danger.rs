//! Arguments through which a log could make nvcc, its shell or the host compiler run a program.

use super::argument::Argument;
use super::table::{OptionSpec, OptionTable, Phase};

/// Whether a shell would run something in the argument.
///
/// nvcc 13.0.88 builds its sub-commands as text for `sh`: `-D`, `-U`, `-I`, `-isystem`, `-include`, `-Xptxas` and others
/// stand in double quotes there, where `$(…)` and backticks run; `-Xcompiler`, `-frandom-seed` and `-e` stand bare, where
/// an operator runs what follows (all tried).
pub fn shell_active(argument: &Argument, spec: &OptionSpec) -> bool {
    let quoted = spec.phase == Phase::Preprocess;
    argument.words().any(|word| active_anywhere(&word.text) || (!quoted && operators(&word.text)))
}

/// Whether a command substitution stands in the text.
pub fn active_anywhere(text: &str) -> bool {
    text.contains('`') || text.contains("$(")
}

fn operators(text: &str) -> bool {
    text.contains([';', '|', '&', '<', '>', '\n'])
}

/// The value of `-Xcompiler` without the items that make the host compiler run or load a program, or write files; `None`
/// when it holds none.
pub fn without_programs(value: &str, table: &OptionTable) -> Option<String> {
    let bare = |item: &str| item.trim_matches(['"', '\'']).to_owned();
    let items: Vec<&str> = value.split([',', ' ', '\t']).filter(|item| !item.is_empty()).collect();
    if !items.iter().any(|item| table.host_runs(&bare(item))) {
        return None;
    }
    let mut kept = vec![];
    let mut items = items.into_iter().peekable();
    while let Some(item) = items.next() {
        if !table.host_runs(&bare(item)) {
            kept.push(item);
        } else if items.peek().is_some_and(|next| !bare(next).starts_with('-')) {
            items.next();
        }
    }
    Some(kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::{active_anywhere, without_programs};
    use crate::read::log::table::OptionTable;

    #[test]
    fn programs_leave_a_host_list_and_the_rest_stays() {
        let table = OptionTable::nvcc();
        assert_eq!(without_programs("-fPIC,-fplugin=/tmp/x.so,-Wall", table).as_deref(), Some("-fPIC,-Wall"));
        assert_eq!(without_programs("-wrapper /tmp/x -O2", table).as_deref(), Some("-O2"));
        assert_eq!(without_programs("\"-B/tmp\"", table).as_deref(), Some(""));
        assert_eq!(without_programs("-fPIC,-Wall", table), None);
    }

    #[test]
    fn substitutions_are_active_and_variables_are_not() {
        assert!(active_anywhere("-DX=$(id)") && active_anywhere("-I`id`"));
        assert!(!active_anywhere("-DX=$HOME"));
    }
}
