//! How the generated file includes the kernel's header.

use camino::Utf8Path;

use super::compile::include_folders;
use crate::model::{ArgumentChange, CompileCommand, CompilerArgument};
use crate::source::Place;
use crate::sys::System;

/// The text of the include with its quotes: relative to the folder of `-I` that holds the header, as production writes it; where
/// none does, its folder is added to the command.
pub(super) fn include(system: &dyn System, header: &Utf8Path, command: &mut CompileCommand) -> String {
    let real = system.real_path(header);
    let inside = include_folders(command)
        .iter()
        .filter_map(|folder| {
            // A folder of links holds the header under the name that production gives it.
            let named = header.strip_prefix(folder);
            named.or_else(|_| real.strip_prefix(system.real_path(folder))).ok().map(Utf8Path::to_owned)
        })
        .min_by_key(|path| path.components().count());
    if let Some(path) = inside {
        return format!("\"{path}\"");
    }
    let folder = real.parent().unwrap_or(Utf8Path::new("."));
    let text = format!("-I{folder}");
    command
        .arguments
        .push(CompilerArgument { text: text.clone(), at: Place { file: "--kernel".to_owned(), line: 1, column: 1 } });
    command.changes.push(ArgumentChange {
        was: vec![],
        now: vec![text],
        why: "no -I of the command holds the kernel's header".to_owned(),
        own: true,
        at: None,
    });
    format!("\"{}\"", real.file_name().unwrap_or(real.as_str()))
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::include;
    use crate::model::{CompileCommand, CompilerArgument};
    use crate::source::Place;
    use crate::sys::{Machine, System};

    #[test]
    fn a_header_behind_a_link_keeps_the_name_that_production_gives_it() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        Machine.make_folder(&root.join("real")).unwrap();
        Machine.make_folder(&root.join("include")).unwrap();
        Machine.write(&root.join("real/k.cuh"), b"").unwrap();
        Machine.link(&root.join("real"), &root.join("include/pkg")).unwrap();
        let at = Place { file: "log".into(), line: 1, column: 1 };
        let mut command = CompileCommand {
            compiler: "nvcc".into(),
            arguments: vec![CompilerArgument { text: format!("-I{root}/include"), at: at.clone() }],
            changes: vec![],
            directory: None,
            sources: vec![],
            at,
            warnings: vec![],
        };
        assert_eq!(include(&Machine, &root.join("include/pkg/k.cuh"), &mut command), "\"pkg/k.cuh\"");
        assert!(command.changes.is_empty());
        assert_eq!(include(&Machine, &root.join("real/k.cuh"), &mut command), "\"k.cuh\"");
        assert_eq!(command.changes.len(), 1);
    }
}
