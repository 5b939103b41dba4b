//! The entry: a text to an instantiation.

use std::sync::Arc;

use super::candidate::{Candidate, Declared, Form, candidate, declared};
use super::origin::Text;
use super::statement::{Statement, statements};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Binding, Fact, Instantiation};
use crate::read::cxx::branch;
use crate::read::cxx::lex::{Token, closing, tokenize};
use crate::read::site::Emission;
use crate::source::{Source, Span, Spot};

/// A block of generated text that runs under a condition on task and variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The task's name, as the condition spells it.
    pub task: String,
    /// The variant's number.
    pub id: Option<u64>,
}

/// Which instantiation is meant, where a text holds several.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// The kernel's name, qualified or not.
    pub kernel: Option<String>,
    /// A line of the text (from 1) that the statement covers.
    pub line: Option<usize>,
    /// The branch of an if/else-if chain of generated text.
    pub variant: Option<Variant>,
}

/// The instantiation in the text that a site emits.
///
/// # Errors
///
/// The text names no instantiation, or several different ones.
pub fn parse(emission: &Emission, select: &Select) -> Result<Instantiation, Diagnostics> {
    let (mut out, _) = instantiation(&Text::emitted(emission), select)?;
    out.lines = emission.lines.iter().map(|line| line.text.clone()).collect();
    Ok(out)
}

/// The instantiation in a text that was pasted: statements, an explicit instantiation, an address, a launch, or just
/// `kernel<64, 128>`.
///
/// # Errors
///
/// The text names no instantiation, or several different ones.
pub fn parse_text(source: &Arc<Source>, select: &Select) -> Result<Instantiation, Diagnostics> {
    parse_block(source, select).map(|(found, _)| found)
}

/// The same, with the block of the text that holds it: all of the text, where no block does.
///
/// # Errors
///
/// The text names no instantiation, or several different ones.
pub fn parse_block(source: &Arc<Source>, select: &Select) -> Result<(Instantiation, Spot), Diagnostics> {
    instantiation(&Text::plain(source), select).map(|(found, block)| (found, Spot::new(source, block)))
}

fn instantiation(text: &Text<'_>, select: &Select) -> Result<(Instantiation, Span), Diagnostics> {
    let bytes = text.source.bytes();
    let mut all = tokenize(bytes);
    let dead = branch::dead(bytes, &all);
    let lives = |token: &Token| !dead.iter().any(|span| span.start <= token.span.start && token.span.end <= span.end);
    all.tokens.retain(|token| !token.directive && lives(token));
    let tokens: Vec<Token> = all.tokens;
    let all = statements(bytes, &tokens);
    let chosen = choose(text, &tokens, &all, select)?;
    let block = block(text, &tokens, &chosen.statement);
    let mut out = Instantiation {
        lines: lines(text, block),
        kernel: text.piece(chosen.id.name),
        template_arguments: pieces(text, chosen.id.arguments.as_deref().unwrap_or_default()),
        arguments: pieces(text, &chosen.arguments),
        launch: pieces(text, &chosen.launch),
        aliases: vec![],
        objects: vec![],
    };
    for statement in &all {
        if statement.from >= chosen.statement.from || !chosen.statement.blocks.starts_with(&statement.blocks) {
            continue;
        }
        if let Some(found) = declared(bytes, &tokens, statement) {
            let list = if found.alias { &mut out.aliases } else { &mut out.objects };
            list.push(binding(text, &found));
        }
    }
    Ok((out, block))
}

fn pieces(text: &Text<'_>, spans: &[Span]) -> Vec<Fact<String>> {
    spans.iter().map(|span| text.piece(*span)).collect()
}

fn binding(text: &Text<'_>, found: &Declared) -> Binding {
    let whole = Span::new(found.text[0].start, found.text[found.text.len() - 1].end);
    let parts = pieces(text, &found.text);
    let gap = |text: &str| if text.starts_with('=') { " " } else { "" };
    let joined = parts.iter().fold(String::new(), |out, piece| out + gap(&piece.value) + &piece.value);
    let of = found.of.as_ref();
    Binding {
        name: text.source.slice(found.name).into_owned(),
        text: Fact { value: joined, origin: text.origin(whole) },
        template: of.map(|id| text.source.slice(id.name).into_owned()).unwrap_or_default(),
        arguments: of.and_then(|id| id.arguments.as_ref()).map(|spans| pieces(text, spans)).unwrap_or_default(),
    }
}

/// The innermost block around a statement, or the whole text.
fn block(text: &Text<'_>, tokens: &[Token], statement: &Statement) -> Span {
    let whole = text.source.bytes().len();
    statement.blocks.last().map_or(Span::new(0, whole), |open| {
        let end = closing(tokens, *open).map_or(whole, |close| tokens[close].span.start);
        Span::new(tokens[*open].span.end, end)
    })
}

fn lines(text: &Text<'_>, block: Span) -> Vec<String> {
    let slice = text.source.slice(block).into_owned();
    let mut lines: Vec<String> = slice.lines().map(str::to_owned).collect();
    while lines.first().is_some_and(|line| line.trim().is_empty()) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines
}

fn choose(text: &Text<'_>, tokens: &[Token], all: &[Statement], select: &Select) -> Result<Candidate, Diagnostics> {
    let bytes = text.source.bytes();
    let every: Vec<Candidate> = all.iter().filter_map(|s| candidate(bytes, tokens, s)).collect();
    let name = |c: &Candidate| text.source.slice(c.id.name).into_owned();
    let mut found: Vec<&Candidate> =
        every.iter().filter(|c| select.kernel.as_deref().is_none_or(|wanted| same_kernel(wanted, &name(c)))).collect();
    found.retain(|c| select.kernel.is_some() || c.form != Form::Alias);
    if let Some(line) = select.line {
        found.retain(|c| covers(text, tokens, &c.statement, line));
    }
    if let Some(variant) = &select.variant {
        found.retain(|c| c.statement.blocks.iter().any(|open| is_variant(bytes, tokens, all, *open, variant)));
    }
    if let Some(best) = found.iter().map(|c| c.form).max() {
        let best = if select.kernel.is_none() && best > Form::PlainCall { best } else { best.min(Form::Launch) };
        found.retain(|c| c.form == best);
    }
    let whole = |c: &Candidate| {
        let span = Span::new(tokens[c.statement.from].span.start, tokens[c.statement.until - 1].span.end);
        (span, text.source.slice(span).into_owned())
    };
    let mut different: Vec<String> = found.iter().map(|c| whole(c).1).collect();
    different.sort();
    different.dedup();
    match (&found[..], different.len()) {
        ([first, ..], 1) => Ok((*first).clone()),
        ([], _) => Err(none(text, select, &every.iter().map(name).collect::<Vec<_>>()).into()),
        _ => {
            let message = format!("the text holds {} instantiations", found.len());
            let mut error = Diagnostic::error("K-INST-CHOICE", message);
            for candidate in found.iter().take(8) {
                let (span, _) = whole(candidate);
                let head = candidate.statement.blocks.last().and_then(|open| head(tokens, all, *open));
                let under = head.map(|head| format!("under `{}`", text.source.slice(head))).unwrap_or_default();
                error = error.at(Spot::new(&text.source, span), under);
            }
            Err(error.help("name the kernel, the task and its variant, or the line of the one that is meant").into())
        }
    }
}

/// What stands before the brace at token `open`: a condition, a function's head.
fn head(tokens: &[Token], all: &[Statement], open: usize) -> Option<Span> {
    let statement = all.iter().find(|s| s.until == open)?;
    Some(Span::new(tokens[statement.from].span.start, tokens[open - 1].span.end))
}

/// Whether the block at token `open` runs under a condition that names the task and the variant.
fn is_variant(text: &[u8], tokens: &[Token], all: &[Statement], open: usize, variant: &Variant) -> bool {
    let Some(statement) = all.iter().find(|s| s.until == open) else { return false };
    let head = &tokens[statement.from..open];
    let compared = |wanted: &str| {
        head.windows(3).any(|w| w[0].is(b'=') && w[1].is(b'=') && w[2].bytes(text) == wanted.as_bytes())
            || head.windows(2).any(|w| w[0].is(b':') && w[1].bytes(text) == wanted.as_bytes())
    };
    let task = variant.task.rsplit("::").next().unwrap_or_default();
    compared(task) && variant.id.is_none_or(|id| compared(&id.to_string()))
}

fn none(text: &Text<'_>, select: &Select, names: &[String]) -> Diagnostic {
    let source = &text.source;
    let what = match (&select.kernel, select.line) {
        _ if select.variant.is_some() => {
            let variant = select.variant.as_ref().map(|v| (v.task.as_str(), v.id)).unwrap_or_default();
            let id = variant.1.map(|id| format!(", variant {id}")).unwrap_or_default();
            format!("no block of the text runs for task {}{id}", variant.0)
        }
        (Some(kernel), _) => format!("the text names no instantiation of `{kernel}`"),
        (None, Some(line)) => format!("line {line} of the text names no instantiation"),
        (None, None) => "the text names no instantiation of a kernel".to_owned(),
    };
    let first = source.line_span(source.first_line()).unwrap_or(Span::new(0, 0));
    let mut error = Diagnostic::error("K-INST-KERNEL", what).at(Spot::new(source, first), "in this text");
    if !names.is_empty() {
        error = error.because(format!("it calls {}", names.join(", ")));
    }
    error.help(
        "give text with a call `kernel<…>(…);`, an address `&kernel<…>`, an explicit instantiation, or `kernel<…>`",
    )
}

/// Whether one name is the end of the other.
fn same_kernel(a: &str, b: &str) -> bool {
    let strip = |name: &str| name.trim_start_matches("::").split_whitespace().collect::<String>();
    let (a, b) = (strip(a), strip(b));
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    long.strip_suffix(short.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
}

fn covers(text: &Text<'_>, tokens: &[Token], statement: &Statement, line: usize) -> bool {
    let first = text.source.line_column(tokens[statement.from].span.start).0;
    let last = text.source.line_column(tokens[statement.until - 1].span.end).0;
    (first..=last).contains(&line)
}
