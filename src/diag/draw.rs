//! A diagnostic as text with the source lines it is about.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{Source, Span};

/// At most this many bytes of one source line are drawn; logs hold lines of megabytes.
const WIDEST_LINE: usize = 240;

/// Draws one diagnostic; `colour` puts ANSI colours in.
pub fn draw(diagnostic: &Diagnostic, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let excerpts: Vec<Excerpt> =
        diagnostic.labels.iter().map(|label| Excerpt::around(&label.spot.source, label.spot.span)).collect();
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for (index, (excerpt, label)) in excerpts.iter().zip(&diagnostic.labels).enumerate() {
        let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(excerpt.mark.range()).label(label.text.as_str());
        group = group.element(
            Snippet::source(excerpt.text.as_str())
                .path(label.spot.source.name())
                .line_start(excerpt.line)
                .annotation(annotation),
        );
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]).to_string()
}

/// The lines around a span, safe to draw: valid UTF-8, bounded width, no control characters.
struct Excerpt {
    text: String,
    line: usize,
    mark: Span,
}

impl Excerpt {
    fn around(source: &Source, span: Span) -> Self {
        let start = span.start.min(source.bytes().len());
        let (line, _) = source.line_column(start);
        let full = source.line_span(line).unwrap_or(Span::new(start, start));
        let from = full.start.max(start.saturating_sub(WIDEST_LINE / 2));
        let until = full.end.min(from + WIDEST_LINE);
        let before = printable(&source.slice(Span::new(from, start)));
        let marked = printable(&source.slice(Span::new(start, span.end.min(until).max(start))));
        let after = printable(&source.slice(Span::new(span.end.min(until).max(start), until)));
        let mark = Span::new(before.len(), before.len() + marked.len());
        Excerpt { text: format!("{before}{marked}{after}"), line, mark }
    }
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::diag::Diagnostic;
    use crate::source::{Source, Spot};

    #[test]
    fn the_place_the_code_and_the_remedy_are_drawn() {
        let source = Source::new("site.cc", "int a = 0;\ncode.e(\"$\", rows);\n");
        let text = draw(
            &Diagnostic::error("K-SITE-LEAF", "`rows` is not known")
                .at(Spot::new(&source, 23..27), "used here")
                .help("add --set rows=…"),
            false,
        );
        assert!(text.contains("error[K-SITE-LEAF]"), "{text}");
        assert!(text.contains("site.cc:2:13"), "{text}");
        assert!(text.contains("add --set rows=…"), "{text}");
    }

    #[test]
    fn a_line_of_a_megabyte_and_broken_bytes_are_drawn_short() {
        let mut bytes = vec![b'x'; 1 << 20];
        bytes[500_000] = 0xff;
        bytes[500_001] = 0;
        let source = Source::new("log", bytes);
        let text = draw(&Diagnostic::error("K1", "bad").at(Spot::new(&source, 500_000..500_002), ""), false);
        assert!(text.len() < 2000, "{}", text.len());
    }
}
