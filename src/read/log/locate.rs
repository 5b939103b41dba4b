//! From a compiler's name in a logical line to the words of its command.

use super::anchor::{Anchor, Family, Surroundings, anchors};
use super::argument::{self, Argument};
use super::decode::{self, Decoded, Escapes, Stop};
use super::secrets;
use super::table::OptionTable;
use super::word::{Mapped, Word};

/// How a command was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// As a shell reads it.
    Shell,
    /// A list of strings: Python, JSON, execve.
    List,
    /// Every argument in double quotes, as Rust's Debug prints a command.
    Quoted,
    /// Separated by NULs.
    Nul,
    /// As Windows reads it.
    Windows,
    /// Not written: rebuilt from the sub-commands that nvcc prints.
    DryRun,
    /// Flags without a command.
    Flags,
    /// Options of the run-time compiler, without a compiler.
    Nvrtc,
}

/// A command line in a text.
#[derive(Debug, Clone)]
pub struct Located {
    /// Which compiler.
    pub family: Family,
    /// How it was written.
    pub style: Style,
    /// What stands before the compiler: launchers and assignments.
    pub before: Vec<Word>,
    /// The compiler.
    pub compiler: Word,
    /// What stands after it, as that compiler reads it.
    pub arguments: Vec<Argument>,
    /// Whether its text is cut.
    pub cut: bool,
    /// Whether it is a list that does not close.
    pub open_list: bool,
    /// Whether nothing follows it in its text.
    pub to_the_end: bool,
    /// Its text as it stands, where that is how a list joined by blanks would look.
    pub raw: Vec<u8>,
}

impl Located {
    /// A command that does not stand in the log as one.
    pub fn inferred(family: Family, style: Style, compiler: Word, arguments: Vec<Word>) -> Self {
        Located {
            family,
            style,
            before: vec![],
            compiler,
            arguments: argument::parse(arguments, OptionTable::nvcc()),
            cut: false,
            open_list: false,
            to_the_end: false,
            raw: vec![],
        }
    }
}

/// More words of commands in one line than this are not read.
pub const MOST_WORDS: usize = 1 << 17;

/// Strings within strings are followed this deep.
const DEEPEST: usize = 4;

/// What stands before a name is looked at this far back: the longest path, and launchers with their assignments.
const NEAR: usize = 1 << 12;

/// Where a look back from `at` begins.
fn near(from: usize, at: usize) -> usize {
    from.max(at.saturating_sub(NEAR))
}

/// The compiler commands of a logical line, whose text proper begins at `from`.
pub fn commands(text: &Mapped, from: usize) -> Vec<Located> {
    let mut out = vec![];
    within(text, from, 0, &mut out);
    out
}

fn within(text: &Mapped, from: usize, depth: usize, out: &mut Vec<Located>) {
    let bytes = text.bytes();
    let mut past = from;
    let mut around = Surroundings::new(from);
    let mut words: usize = 0;
    for anchor in anchors(bytes) {
        if anchor.start < past {
            continue;
        }
        if words > MOST_WORDS {
            return;
        }
        around.advance(bytes, anchor.start);
        match around.quote {
            Some(quote) if bytes.get(anchor.end) != Some(&bytes[quote]) => {
                if depth < DEEPEST {
                    let escapes = Escapes { octal: bytes[from..quote].ends_with(b"$"), hex_is_byte: false };
                    let (inner, end, closed) = decode::literal(text, quote, escapes);
                    let known = out.len();
                    within(&inner, 0, depth + 1, out);
                    words += out[known..].iter().map(|located| located.arguments.len()).sum::<usize>();
                    out[known..].iter_mut().for_each(|located| located.to_the_end &= !closed);
                    past = end;
                }
            }
            _ => {
                if let Some((located, end)) = command(text, from, anchor, &around) {
                    past = end;
                    words += located.arguments.len();
                    out.push(located);
                }
            }
        }
    }
}

fn command(text: &Mapped, from: usize, anchor: Anchor, around: &Surroundings) -> Option<(Located, usize)> {
    let bytes = text.bytes();
    if let (Some(_), Some(open)) = (around.quote, list_start(bytes, around)) {
        let execve = memchr::memmem::find(&bytes[near(from, open)..open], b"execve(").is_some();
        let decoded = decode::list(text, open, Escapes { octal: execve, hex_is_byte: execve });
        return located(text, anchor.family, Style::List, decoded);
    }
    if bytes.get(anchor.end) == Some(&0) {
        let before = near(0, anchor.start);
        let path = &bytes[before..anchor.start];
        let start = before + path.iter().rposition(|b| *b == 0 || b.is_ascii_whitespace()).map_or(0, |i| i + 1);
        return located(text, anchor.family, Style::Nul, decode::nul(text, start));
    }
    if let Some(start) = windows_start(bytes, from, anchor) {
        return located(text, anchor.family, Style::Windows, decode::windows(text, start, anchor.end));
    }
    let start = match around.quote {
        Some(quote) => quote,
        None => word_start(bytes, from, anchor.start)?,
    };
    let stop = Stop {
        paren: around.open.iter().any(|(_, b)| *b == b'('),
        bracket: around.open.iter().any(|(_, b)| *b == b'['),
        backtick: around.backtick,
    };
    let quoted = around.quote.is_some() && bytes[anchor.end + 1..].starts_with(b" \"");
    let decoded = if quoted { decode::quoted(text, start) } else { None };
    let (mut found, end) = match decoded {
        Some(decoded) => located(text, anchor.family, Style::Quoted, decoded)?,
        None => located(text, anchor.family, Style::Shell, decode::shell(text, start, stop))?,
    };
    found.before = launchers(text, from, start);
    if found.style == Style::Shell {
        found.raw = bytes[start..end].trim_ascii().to_vec();
    }
    Some((found, end))
}

/// Programs that run another one, by name.
const LAUNCHERS: [&str; 20] = [
    "env", "ccache", "sccache", "distcc", "icecc", "time", "nice", "ionice", "exec", "sudo", "srun", "mpirun",
    "taskset", "numactl", "stdbuf", "timeout", "nohup", "command", "strace", "xvfb-run",
];

/// Launchers and assignments take at most this many bytes.
const LAUNCHERS_WITHIN: usize = 1 << 16;

/// The assignments and launchers before the compiler at `start`.
fn launchers(text: &Mapped, from: usize, start: usize) -> Vec<Word> {
    let far = from.max(start.saturating_sub(LAUNCHERS_WITHIN));
    let before = &text.bytes()[far..start];
    let operator = memchr::memrchr3(b'&', b';', b'|', before).max(memchr::memrchr2(b'(', b'`', before));
    let from = match operator {
        Some(at) => far + at + 1,
        None if far > from => return vec![],
        None => from,
    };
    let mut head = Mapped::new();
    head.push_range(text, from..start);
    let words = decode::shell(&head, 0, Stop::default()).words;
    let first = words.iter().position(|w| {
        secrets::assigned(&w.text).is_some() || LAUNCHERS.contains(&w.text.rsplit('/').next().unwrap_or_default())
    });
    first.map_or_else(Vec::new, |first| words[first..].to_vec())
}

/// Where a Windows path around the name begins: at its drive, or at the quote before it.
fn windows_start(bytes: &[u8], from: usize, anchor: Anchor) -> Option<usize> {
    let from = near(from, anchor.start);
    let before = &bytes[from..anchor.start];
    if before.last() != Some(&b'\\') && !bytes[anchor.start..anchor.end].ends_with(b".exe") {
        return None;
    }
    let drive =
        before.windows(3).rposition(|w| w[0].is_ascii_alphabetic() && w[1] == b':' && matches!(w[2], b'\\' | b'/'));
    let start =
        from + drive.or_else(|| before.iter().rposition(|b| b.is_ascii_whitespace()).map(|i| i + 1)).unwrap_or(0);
    // The quote that closes after the name opened here.
    if bytes.get(anchor.end) == Some(&b'"') && start > from && bytes[start - 1] == b'"' {
        Some(start - 1)
    } else {
        Some(start)
    }
}

/// The innermost bracket that opens a list of strings.
fn list_start(bytes: &[u8], around: &Surroundings) -> Option<usize> {
    let (at, _) = around.open.last()?;
    // `execve("…`, `PosixPath('…`: the parenthesis of a call opens no list.
    if bytes[*at] == b'(' && at.checked_sub(1).is_some_and(|i| bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
        return None;
    }
    let next = bytes[at + 1..].iter().find(|b| !b.is_ascii_whitespace())?;
    matches!(next, b'"' | b'\'').then_some(*at)
}

/// Where the unquoted path around the name begins; `None` when the word is an assignment.
fn word_start(bytes: &[u8], from: usize, name: usize) -> Option<usize> {
    let from = near(from, name);
    let path = &bytes[from..name];
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'(' | b'[' | 0) || !b.is_ascii();
    let mut start = path.iter().rposition(ends).map_or(0, |i| i + 1);
    if path[start..].contains(&b'=') {
        return None;
    }
    // `[rank0]:nvcc`; but a path that begins with a colon is one (a broken CUDA_HOME).
    if let Some(colon) = path[start..].iter().rposition(|b| *b == b':').filter(|i| *i > 0 || start > 0) {
        let only = colon == 0 && path.get(start.wrapping_sub(1)).is_none_or(u8::is_ascii_whitespace);
        if !only {
            start += colon + 1;
        }
    }
    Some(from + start)
}

fn located(text: &Mapped, family: Family, style: Style, decoded: Decoded) -> Option<(Located, usize)> {
    let end = decoded.end;
    let open_list = style == Style::List && decoded.cut;
    let to_the_end = text.bytes()[end.min(text.bytes().len())..].trim_ascii().is_empty();
    let mut words = decoded.words;
    let index = words.iter().position(|word| is_compiler(&word.text, family))?;
    let arguments = words.split_off(index + 1);
    let compiler = words.pop()?;
    let cut = decoded.cut || arguments.iter().any(|w| w.cut);
    let table = OptionTable::nvcc();
    let arguments = match family {
        Family::Nvcc | Family::Nvrtc => argument::parse(arguments, table),
        Family::Clang | Family::Hipcc => argument::parse_foreign(arguments, table),
    };
    Some((Located { family, style, before: words, compiler, arguments, cut, open_list, to_the_end, raw: vec![] }, end))
}

fn is_compiler(word: &str, family: Family) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    anchors(name.as_bytes()).any(|a| a.family == family && a.start == 0 && a.end == name.len())
}

#[cfg(test)]
mod tests {
    use super::{Style, commands};
    use crate::read::log::word::{Mapped, Position};

    fn first(text: &str) -> (Style, Vec<String>) {
        let text = Mapped::of(text.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        let found = commands(&text, 0).remove(0);
        let arguments = found.arguments.iter().flat_map(|a| a.texts());
        let words = std::iter::once(found.compiler.text).chain(arguments).collect();
        (found.style, words)
    }

    #[test]
    fn a_list_is_found_behind_any_prefix() {
        let (style, words) =
            first("[rank0]: Command '['ccache', '/usr/bin/nvcc', 'k.cu', '-DA=\"it\\'s\"']' returned 1");
        assert_eq!((style, words), (Style::List, ["/usr/bin/nvcc", "k.cu", "-DA=\"it's\""].map(String::from).to_vec()));
    }

    #[test]
    fn a_shell_line_is_found_behind_any_prefix() {
        for prefix in ["", "[2/3] ccache ", "+ ", "[default0]:", "x> Running NVCC command: ", "`"] {
            let (style, words) = first(&format!("{prefix}/usr/bin/nvcc -c 'a b.cu'"));
            assert_eq!((style, words), (Style::Shell, ["/usr/bin/nvcc", "-c", "a b.cu"].map(String::from).to_vec()));
        }
    }

    #[test]
    fn a_command_within_a_string_is_decoded_twice() {
        let (_, words) = first(r#"  "command": "/usr/bin/nvcc -DV=\"\\\"1 2\\\"\" -c k.cu","#);
        assert_eq!(words, ["/usr/bin/nvcc", "-DV=\"1 2\"", "-c", "k.cu"]);
    }
}
