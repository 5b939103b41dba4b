//! Where the bytes of an emitted text come from.

use std::sync::Arc;

use crate::model::{Fact, Origin, Piece};
use crate::read::site::{Emission, SegmentOrigin};
use crate::source::{Place, Source, Span, Spot};

/// A text to be parsed, with the origin of its bytes.
pub struct Text<'a> {
    /// The text.
    pub source: Arc<Source>,
    emission: Option<(&'a Emission, Vec<usize>)>,
}

impl<'a> Text<'a> {
    /// What a site emits.
    pub fn emitted(emission: &'a Emission) -> Self {
        let mut starts = vec![];
        let mut at = 0;
        for line in &emission.lines {
            starts.push(at);
            at += line.text.len() + 1;
        }
        let name = format!("text emitted by {}", emission.source.name());
        Text { source: Source::new(name, emission.text()), emission: Some((emission, starts)) }
    }

    /// A text that stands for itself.
    pub fn plain(source: &Arc<Source>) -> Self {
        Text { source: Arc::clone(source), emission: None }
    }

    /// The text of a span with its origin.
    pub fn piece(&self, span: Span) -> Piece {
        Fact { value: self.source.slice(span).into_owned(), origin: self.origin(span) }
    }

    /// The origin of a span.
    pub fn origin(&self, span: Span) -> Origin {
        let here = || Spot::new(&self.source, span).place();
        let Some((emission, starts)) = &self.emission else { return Origin::Transcribed { at: here() } };
        let mut parts: Vec<Part> = vec![];
        for (line, start) in emission.lines.iter().zip(starts) {
            if *start >= span.end || start + line.text.len() <= span.start {
                continue;
            }
            if !parts.is_empty() {
                parts.push(Part::Newline);
            }
            for segment in &line.segments {
                let from = (start + segment.range.start).max(span.start);
                let until = (start + segment.range.end).min(span.end);
                if from < until {
                    let within = from - start - segment.range.start..until - start - segment.range.start;
                    parts.push(Part::of(&segment.from, within, segment.range.len()));
                }
            }
        }
        origin_of(&parts).unwrap_or_else(|| Origin::Transcribed { at: here() })
    }
}

enum Part {
    Newline,
    Indent,
    Literal { at: Place, text: String },
    Value { at: Place, expr: String },
}

impl Part {
    fn of(from: &SegmentOrigin, within: std::ops::Range<usize>, length: usize) -> Self {
        match from {
            SegmentOrigin::Indent => Part::Indent,
            SegmentOrigin::Value { at, expr, .. } => Part::Value { at: at.place(), expr: expr.clone() },
            SegmentOrigin::Literal { at } => {
                let mut spot = at.clone();
                if at.span.end - at.span.start == length {
                    spot.span = (at.span.start + within.start..at.span.start + within.end).into();
                }
                Part::Literal { at: spot.place(), text: spot.text().into_owned() }
            }
        }
    }
}

/// One value alone is read from its expression; literals alone are transcribed; a mixture is read from the literals with
/// the expressions in place of the placeholders.
fn origin_of(parts: &[Part]) -> Option<Origin> {
    let told = || parts.iter().filter(|part| !matches!(part, Part::Indent | Part::Newline));
    let at = told().find_map(|part| match part {
        Part::Literal { at, .. } | Part::Value { at, .. } => Some(at.clone()),
        Part::Indent | Part::Newline => None,
    })?;
    if told().all(|part| matches!(part, Part::Literal { .. })) {
        return Some(Origin::Transcribed { at });
    }
    if let (1, Some(Part::Value { expr, .. })) = (told().count(), told().next()) {
        return Some(Origin::Read { at, expr: Some(expr.clone()) });
    }
    let expr = parts.iter().fold(String::new(), |out, part| match part {
        Part::Newline => out + " ",
        Part::Indent => out,
        Part::Literal { text, .. } => out + text,
        Part::Value { expr, .. } => format!("{out}${{{expr}}}"),
    });
    Some(Origin::Read { at, expr: Some(expr) })
}
