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
        .filter_map(|folder| real.strip_prefix(system.real_path(folder)).ok().map(Utf8Path::to_owned))
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
