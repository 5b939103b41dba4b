//! Physical lines to logical ones: continuations, and text that a terminal or a mail broke.

use std::io::{self, BufRead};

use super::argument::{Argument, ArgumentKind};
use super::kind::{self, InputKind};
use super::lines::{Line, Lines};
use super::locate::{self, Located};
use super::prefix;
use super::table::{OptionTable, Phase, Spelling, Takes};
use super::word::{Mapped, Position};

/// More lines than this are not joined.
const MOST_LINES: usize = 20_000;

/// More bytes than this are not joined.
const MOST_BYTES: usize = 8 << 20;

/// Bytes that are read again and again while lines are joined.
const MOST_READ: usize = 32 << 20;

/// Narrowest fixed width at which a wrap is believed.
const NARROWEST: usize = 60;

/// A logical line.
#[derive(Debug, Clone, Default)]
pub struct Logical {
    /// Its text, prefixes of continued lines peeled.
    pub text: Mapped,
    /// Where its own text begins.
    pub from: usize,
    /// The physical lines.
    pub lines: Vec<Line>,
    /// Where a break inside a word was closed.
    pub mended: Vec<Position>,
    /// Its commands, where joining the lines has found them already.
    pub found: Option<Vec<Located>>,
}

/// Whether a shell would read on: an odd number of backslashes at the end.
pub fn continues(bytes: &[u8]) -> bool {
    bytes.iter().rev().skip_while(|b| **b == b'\r').take_while(|b| **b == b'\\').count() % 2 == 1
}

/// The logical line that begins with `line`; `before` is the physical line before it.
///
/// # Errors
/// The stream's own.
pub fn logical<R: BufRead>(line: Line, before: &Line, lines: &mut Lines<R>) -> io::Result<Logical> {
    let mut out = Logical::default();
    if let Some(wrapped) = hard_wrap(&line, before, lines)? {
        return Ok(wrapped);
    }
    out.begin(line);
    while out.last_continues() {
        let Some(next) = take(lines)? else { break };
        out.continue_with(next);
        if out.full() {
            return Ok(out);
        }
    }
    list_of_lines(&mut out, lines)?;
    let mut read = 0;
    loop {
        let found = locate::commands(&out.text, out.from);
        read += out.text.bytes().len();
        let joint = if out.full() || read > MOST_READ { None } else { broken(&out, &found, lines.peek(0)?) };
        let Some(joint) = joint else {
            out.found = Some(found);
            return Ok(out);
        };
        let in_list = found.last().is_some_and(|last| last.open_list);
        let Some(next) = take(lines)? else { return Ok(out) };
        let mut closes = next.bytes.contains(&b']') || next.bytes.contains(&b')');
        out.mend(next, joint);
        while in_list && !closes && !out.full() && lines.peek(0)?.is_some_and(|next| out.is_element(next)) {
            let Some(next) = take(lines)? else { break };
            closes = next.bytes.contains(&b']') || next.bytes.contains(&b')');
            out.mend(next, Joint::Space);
        }
    }
}

fn take<R: BufRead>(lines: &mut Lines<R>) -> io::Result<Option<Line>> {
    let mut line = Line::default();
    Ok(lines.next_into(&mut line)?.then_some(line))
}

impl Logical {
    fn begin(&mut self, line: Line) {
        self.text = prefix::plain(without_backslash(&line.bytes), start(&line));
        self.from = prefix::peel(self.text.bytes());
        self.lines.push(line);
    }

    fn full(&self) -> bool {
        self.lines.len() >= MOST_LINES || self.text.bytes().len() >= MOST_BYTES
    }

    fn last_continues(&self) -> bool {
        self.lines.last().is_some_and(|line| continues(&line.bytes))
    }

    /// The text of a following line without the prefix that it shares with the first.
    fn peeled(&self, line: &Line) -> Mapped {
        let plain = prefix::plain(without_backslash(&line.bytes), start(line));
        let shared = prefix::same_form(&self.text.bytes()[..self.from], plain.bytes());
        let mut out = Mapped::new();
        out.push_range(&plain, shared..plain.bytes().len());
        out
    }

    /// Whether a following line begins with a string of a list.
    fn is_element(&self, line: &Line) -> bool {
        matches!(self.peeled(line).bytes().trim_ascii_start().first(), Some(b'"' | b'\''))
    }

    fn continue_with(&mut self, line: Line) {
        let more = self.peeled(&line);
        self.text.append(&more);
        self.lines.push(line);
    }

    fn mend(&mut self, line: Line, joint: Joint) {
        let more = self.peeled(&line);
        match joint {
            Joint::Space => self.text.push(b" ", more.position(0)),
            Joint::Nothing => self.mended.push(more.position(0)),
        }
        let blank = if joint == Joint::Nothing {
            0
        } else {
            more.bytes().iter().take_while(|b| b.is_ascii_whitespace()).count()
        };
        self.text.push_range(&more, blank..more.bytes().len());
        self.lines.push(line);
    }
}

fn start(line: &Line) -> Position {
    Position { line: line.number, column: 1, offset: line.offset }
}

fn without_backslash(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if continues(bytes) { &bytes[..bytes.len() - 1] } else { bytes }
}

/// How two lines are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    Space,
    Nothing,
}

/// A list that is printed one string a line: `"arguments": [` and then the strings.
fn list_of_lines<R: BufRead>(out: &mut Logical, lines: &mut Lines<R>) -> io::Result<()> {
    if !out.text.bytes().trim_ascii_end().ends_with(b"[") {
        return Ok(());
    }
    let element = |line: &Line| matches!(line.bytes.trim_ascii_start().first(), Some(b'"' | b'\''));
    while !out.full() && lines.peek(0)?.is_some_and(element) {
        let Some(next) = take(lines)? else { break };
        out.mend(next, Joint::Space);
    }
    if let Some(next) = lines.peek(0)?
        && next.bytes.trim_ascii_start().starts_with(b"]")
        && let Some(next) = take(lines)?
    {
        out.mend(next, Joint::Space);
    }
    Ok(())
}

/// Whether the last command runs on in the next line, and how the two are joined.
fn broken(out: &Logical, found: &[Located], next: Option<&Line>) -> Option<Joint> {
    let next = next?;
    let last = found.last()?;
    let peeled = out.peeled(next);
    let text = peeled.bytes();
    let blank = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let body = &text[blank..];
    if last.open_list {
        return match body.first() {
            Some(b'"' | b'\'' | b']' | b')' | b',') => Some(Joint::Space),
            _ if last.cut && !body.is_empty() => Some(Joint::Nothing),
            _ => None,
        };
    }
    if body.is_empty() || !(last.to_the_end || last.cut) || !locate::commands(&peeled, 0).is_empty() {
        return None;
    }
    let alone = damage(last);
    if alone > 0 && out.lines.len() < MOST_BROKEN {
        let with = |joint| {
            let mut text = out.text.clone();
            if joint == Joint::Space {
                text.push(b" ", peeled.position(0));
            }
            text.append(&peeled);
            locate::commands(&text, out.from).last().map_or(usize::MAX, damage)
        };
        let (nothing, space) = (with(Joint::Nothing), with(Joint::Space));
        let wide = out.lines.last().is_some_and(|line| columns(&line.bytes) >= NARROWEST);
        let joint =
            if nothing < space || (nothing == space && blank == 0 && wide) { Joint::Nothing } else { Joint::Space };
        if nothing.min(space) < alone {
            return Some(joint);
        }
    }
    let table = OptionTable::nvcc();
    let option = is_option(&first_word(body), table);
    (option && last.to_the_end).then_some(Joint::Space)
}

/// A command is mended over at most this many lines.
const MOST_BROKEN: usize = 64;

/// How much of a compile command cannot be as it was: no source, an option without its value, words that are nothing.
fn damage(located: &Located) -> usize {
    let (mut complete, mut odd) = (false, 0);
    for argument in &located.arguments {
        match argument.kind {
            ArgumentKind::Unknown | ArgumentKind::NoValue(_) => odd += 1,
            ArgumentKind::Input => match kind::input_kind(argument.flag(), false) {
                InputKind::Other => odd += 1,
                InputKind::Source | InputKind::Object => complete = true,
            },
            ArgumentKind::Option(spec) => {
                complete |= spec.phase == Phase::Output && (argument.is("-dlink") || argument.is("-lib"));
            }
        }
    }
    odd + 2 * usize::from(!complete) + 2 * usize::from(located.cut)
}

fn has_source(located: &Located) -> bool {
    located.arguments.iter().filter_map(Argument::input).any(|name| kind::input_kind(name, false) == InputKind::Source)
}

fn first_word(text: &[u8]) -> String {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// Whether a word is an option that nvcc knows, quoted or not, and long enough to be no accident.
fn is_option(word: &str, table: &OptionTable) -> bool {
    let word = word.trim_matches(['"', '\'']);
    match table.spelling(word) {
        Spelling::Bare(spec) => {
            word.len() > 2 || spec.takes != Takes::Nothing || matches!(word, "-c" | "-G" | "-g" | "-E" | "-M")
        }
        Spelling::Equals(..) | Spelling::Joined(..) => true,
        Spelling::Unknown | Spelling::Input => false,
    }
}

/// A run of lines of one width, cut by a terminal inside words: joined with nothing between.
fn hard_wrap<R: BufRead>(line: &Line, before: &Line, lines: &mut Lines<R>) -> io::Result<Option<Logical>> {
    let width = columns(&line.bytes);
    if width < NARROWEST || continues(&line.bytes) {
        return Ok(None);
    }
    let starts_before = before.bytes.len() >= width
        && columns(&before.bytes) == width
        && before.number + 1 == line.number
        && !begins_alone(line);
    let mut run = vec![];
    if starts_before {
        run.push(before.clone());
    }
    run.push(line.clone());
    let mut ahead = 0;
    while run.len() < MOST_LINES
        && let Some(next) = lines.peek(ahead)?
        && next.bytes.len() >= width
        && columns(&next.bytes) == width
        && no_anchor(&next.bytes)
    {
        run.push(next.clone());
        ahead += 1;
    }
    if run.len() < 2 {
        return Ok(None);
    }
    if let Some(next) = lines.peek(ahead)?
        && columns(&next.bytes) < width
        && no_anchor(&next.bytes)
        && !next.bytes.is_empty()
        && !prefixed(next)
    {
        run.push(next.clone());
        ahead += 1;
    }
    let mut out = Logical::default();
    let mut rest = run.into_iter();
    let Some(first) = rest.next() else { return Ok(None) };
    out.begin(first);
    for line in rest {
        let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(&line.bytes);
        let more = prefix::plain(bytes, start(&line));
        out.mended.push(start(&line));
        out.text.append(&more);
        out.lines.push(line);
    }
    // Two lines of one width are common; a command that only the joined text completes is not.
    let complete = |text: &Mapped, from: usize| locate::commands(text, from).first().is_some_and(has_source);
    let alone = prefix::plain(&line.bytes, start(line));
    if !complete(&out.text, out.from) || (!starts_before && complete(&alone, prefix::peel(alone.bytes()))) {
        return Ok(None);
    }
    for _ in 0..ahead {
        take(lines)?;
    }
    Ok(Some(out))
}

fn no_anchor(bytes: &[u8]) -> bool {
    super::anchor::anchors(bytes).next().is_none()
}

/// Whether a line has a prefix of its own, as a new record has.
fn prefixed(line: &Line) -> bool {
    let plain = prefix::plain(&line.bytes, start(line));
    prefix::peel(plain.bytes()) > 0 || plain.bytes().starts_with(b"FAILED")
}

/// Whether the first command of a line can begin in it: its compiler is no tail of a path.
fn begins_alone(line: &Line) -> bool {
    let plain = prefix::plain(&line.bytes, start(line));
    let found = locate::commands(&plain, prefix::peel(plain.bytes()));
    found.first().is_some_and(|located| {
        let path = located.compiler.text.as_str();
        let drive = path.as_bytes().get(1) == Some(&b':');
        !path.contains('\\') || drive
    })
}

/// Width in characters.
fn columns(bytes: &[u8]) -> usize {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    bytes.iter().filter(|b| (**b & 0xc0) != 0x80).count()
}
