//! Include paths of a log that are not on this machine.

use camino::Utf8Path;

use crate::diag::Diagnostic;
use crate::model::CompileCommand;
use crate::read::log::include_paths;
use crate::sys::System;

/// The include paths of a command that do not exist here; relative ones are looked up from the command's folder, and from
/// the current one where the log does not name it.
pub fn absent(system: &dyn System, command: &CompileCommand) -> Vec<String> {
    let folder = Utf8Path::new(command.directory.as_deref().unwrap_or_default());
    let mut out: Vec<String> = vec![];
    for path in include_paths(command) {
        let whole = folder.join(&path);
        let there = system.is_folder(&whole) || system.is_file(&whole);
        if !there && !out.contains(&path) {
            out.push(path);
        }
    }
    out
}

/// What is said about them.
pub fn notice(absent: &[String]) -> Option<Diagnostic> {
    let first = absent.first()?;
    let more = if absent.len() > 1 { format!(" and {} more", absent.len() - 1) } else { String::new() };
    let common = common_folder(absent);
    Some(
        Diagnostic::note("K-LOG-PATHS", format!("include paths that are not on this machine: {first}{more}"))
            .help(format!("--map {common}=/where/it/is/here puts another path in their place")),
    )
}

/// The folder that most of them share: the longest prefix, in whole components, of the first and at least half of all.
fn common_folder(paths: &[String]) -> String {
    let Some(first) = paths.first() else { return String::new() };
    let mut candidate = Utf8Path::new(first.trim_end_matches('/'));
    loop {
        let sharing = paths.iter().filter(|p| Utf8Path::new(p).starts_with(candidate)).count();
        match candidate.parent().filter(|p| p.components().count() > 2) {
            Some(parent) if sharing * 2 < paths.len() || sharing == 1 && paths.len() > 1 => candidate = parent,
            _ => return candidate.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{absent, notice};
    use crate::model::{CompileCommand, CompilerArgument};
    use crate::source::Place;
    use crate::sys::Fake;

    #[test]
    fn what_is_not_here_is_named_with_a_way_to_map_it() {
        let at = Place { file: "log".into(), line: 1, column: 1 };
        let argument = |text: &str| CompilerArgument { text: text.into(), at: at.clone() };
        let command = CompileCommand {
            compiler: "nvcc".into(),
            arguments: ["-I/opt/app/a", "-isystem", "/opt/app/b", "-I", "here", "-O3"].map(argument).into(),
            changes: vec![],
            directory: None,
            sources: vec![],
            at: at.clone(),
            warnings: vec![],
        };
        let fake = Fake::new().file("here", "");
        let absent = absent(&fake, &command);
        assert_eq!(absent, ["/opt/app/a", "/opt/app/b"]);
        let notice = notice(&absent).unwrap();
        assert!(notice.help[0].contains("--map /opt/app="), "{:?}", notice.help);
    }
}
