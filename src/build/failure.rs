//! A refused build as a diagnostic: the first error where it stands, and where that came from.

use std::sync::Arc;

use camino::Utf8Path;

use super::blame::blame;
use super::output::{CompilerError, first_error};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Reproducer;
use crate::source::{Source, Spot};
use crate::sys::System;

/// The refused build of `NAME.cu` in `folder`: the first error in the generated file or header, and the place of the site that
/// the text there came from.
pub fn explain(system: &dyn System, folder: &Utf8Path, reproducer: &Reproducer, output: &str) -> Diagnostics {
    let name = &reproducer.name;
    let log = folder.join("build").join(format!("{name}.log"));
    let Some(error) = first_error(output) else {
        let last: Vec<&str> = output.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Diagnostic::error("K-BUILD", "nvcc failed without naming an error")
            .because(last.join("\n"))
            .help(format!("all of its output: {log}"))
            .into();
    };
    let mut diagnostic = Diagnostic::error("K-BUILD", format!("the build failed: {}", error.message));
    let mut sources = Sources { system, build: folder.join("build"), read: vec![] };
    if let (Some(file), Some(line)) = (&error.file, error.line)
        && let Some(spot) = sources.line(file, line)
    {
        diagnostic = diagnostic.at(spot, "the first error");
    } else if let Some(file) = &error.file {
        diagnostic = diagnostic.because(format!("in {file}, line {}", error.line.unwrap_or_default()));
    }
    // The last instantiation in the generated file is the text that the site emitted.
    if let Some(line) = line_in_generated(&error, name) {
        let generated = format!("../{name}.cu");
        if error.file.as_deref().is_none_or(|file| !is_generated(file, name))
            && let Some(spot) = sources.line(&generated, line)
        {
            diagnostic = diagnostic.at(spot, "instantiated here");
        }
        let text = sources.text(&generated).map(|source| source.text().into_owned()).unwrap_or_default();
        if let Some((piece, place)) = blame(&text, line, reproducer).and_then(|found| found.read) {
            let piece: String = piece.chars().take(80).collect();
            diagnostic = match sources.line(&place.file, place.line) {
                Some(spot) => diagnostic.at(spot, format!("`{piece}` comes from here")),
                None => diagnostic.because(format!("`{piece}` comes from {place}")),
            };
        }
    }
    diagnostic.help(format!("all of the output: {log}")).into()
}

fn is_generated(file: &str, name: &str) -> bool {
    Utf8Path::new(file).file_name() == Some(format!("{name}.cu").as_str())
}

fn line_in_generated(error: &CompilerError, name: &str) -> Option<usize> {
    let own = error.file.as_deref().filter(|file| is_generated(file, name)).and(error.line);
    own.or_else(|| error.through.iter().find(|(file, _)| is_generated(file, name)).map(|(_, line)| *line))
}

/// Source files that a diagnostic shows, read once each.
struct Sources<'s> {
    system: &'s dyn System,
    build: camino::Utf8PathBuf,
    read: Vec<(String, Arc<Source>)>,
}

impl Sources<'_> {
    fn text(&mut self, file: &str) -> Option<Arc<Source>> {
        if let Some((_, source)) = self.read.iter().find(|(name, _)| name == file) {
            return Some(Arc::clone(source));
        }
        let path = self.build.join(file);
        let bytes = self.system.read(&path).or_else(|_| self.system.read(Utf8Path::new(file))).ok()?;
        let shown = file.strip_prefix("../").map_or_else(
            || file.to_owned(),
            |name| self.build.parent().unwrap_or(Utf8Path::new("")).join(name).into_string(),
        );
        let source = Source::new(shown, bytes);
        self.read.push((file.to_owned(), Arc::clone(&source)));
        Some(source)
    }

    fn line(&mut self, file: &str, line: usize) -> Option<Spot> {
        let source = self.text(file)?;
        let span = source.line_span(line)?;
        let text = source.slice(span);
        let indent = text.len() - text.trim_start().len();
        Some(Spot::new(&source, span.start + indent..span.end))
    }
}
