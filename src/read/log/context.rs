//! What the lines around a command say about it: its folder, flags from the environment, response files.

use super::argument::{self, Argument};
use super::decode;
use super::logical::Logical;
use super::table::OptionTable;
use super::word::{Mapped, Position, Word};

/// At most this many bytes of pasted response files are kept.
const MOST_RESPONSE_BYTES: usize = 4 << 20;

/// At most this many pasted response files are kept.
const MOST_RESPONSES: usize = 1 << 12;

/// Folders are entered this deep.
const MOST_FOLDERS: usize = 1 << 10;

/// Flags that nvcc takes from its environment.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentFlags {
    /// `NVCC_PREPEND_FLAGS`, as a shell would split it.
    pub prepend: Option<Mapped>,
    /// `NVCC_APPEND_FLAGS`.
    pub append: Option<Mapped>,
}

impl EnvironmentFlags {
    /// Puts the flags before and behind the arguments of a command, unless its own line unsets or replaces them; gives how
    /// many there were.
    pub fn add(
        &self,
        before: &[Word],
        at: Position,
        arguments: &mut Vec<Argument>,
        table: &'static OptionTable,
    ) -> usize {
        let flags = |name: &str, seen: &Option<Mapped>| -> Vec<Argument> {
            let own = before.iter().rev().find_map(|w| w.text.strip_prefix(name)?.strip_prefix('='));
            let unset = before.windows(2).any(|pair| pair[0].text == "-u" && pair[1].text == name)
                || before.iter().any(|w| w.text == "-i" || w.text == "-");
            let text = match (own, seen) {
                (Some(own), _) => Mapped::of(own.as_bytes(), at),
                (None, Some(seen)) if !unset => seen.clone(),
                _ => return vec![],
            };
            argument::parse(decode::shell(&text, 0, decode::Stop::default()).words, table)
        };
        let mut all = flags("NVCC_PREPEND_FLAGS", &self.prepend);
        let append = flags("NVCC_APPEND_FLAGS", &self.append);
        let added = all.len() + append.len();
        if added > 0 {
            all.append(arguments);
            all.extend(append);
            *arguments = all;
        }
        added
    }
}

/// A response file whose text stands in the log.
#[derive(Debug, Clone)]
pub struct PastedFile {
    /// Its path as it was typed.
    pub path: String,
    /// Its text.
    pub text: Mapped,
}

/// What the lines so far say.
#[derive(Debug, Clone, Default)]
pub struct Context {
    folders: Vec<String>,
    object_folder: Option<String>,
    /// The command of the JSON object that is open, by its index, where its folder is still to come.
    pub command_in_object: Option<usize>,
    /// Flags from the environment.
    pub environment: EnvironmentFlags,
    /// The line that names the compiler of flags without a command.
    pub flag_compiler: Option<Logical>,
    /// Pasted response files.
    pub pasted: Vec<PastedFile>,
    pasting: bool,
    pasted_bytes: usize,
}

impl Context {
    /// The folder that commands run in.
    pub fn directory(&self) -> Option<&str> {
        self.object_folder.as_deref().or(self.folders.last().map(String::as_str))
    }

    /// Whether the next line may belong to a pasted file.
    pub fn pasting(&self) -> bool {
        self.pasting
    }

    /// Takes one logical line; gives the folder of an earlier command, by its index, where it only now is known.
    pub fn line(&mut self, logical: &Logical) -> Option<(usize, String)> {
        let text = &logical.text;
        let bytes = &text.bytes()[logical.from..];
        let late = self.object(text, bytes);
        self.folder(bytes);
        self.flags(text, logical.from);
        self.paste(text, bytes);
        late
    }

    /// `"directory": "/x"` on a line of its own, before or behind the command of its object.
    fn object(&mut self, text: &Mapped, bytes: &[u8]) -> Option<(usize, String)> {
        if is_brace(bytes) {
            self.object_folder = None;
            self.command_in_object = None;
        }
        if !bytes.starts_with(b"\"directory\"") {
            return None;
        }
        let folder = json_folder(text, text.bytes().len() - bytes.len())?;
        self.object_folder = Some(folder.clone());
        self.command_in_object.take().map(|index| (index, folder))
    }

    /// `make[1]: Entering directory '/x'`, ``ninja: Entering directory `/x'``.
    fn folder(&mut self, bytes: &[u8]) {
        let tool = bytes.starts_with(b"make") || bytes.starts_with(b"ninja: ") || bytes.starts_with(b"gmake");
        if !tool {
            return;
        }
        if let Some(at) = memchr::memmem::find(bytes, b": Entering directory ") {
            let name = bytes[at + 21..].trim_ascii();
            let name = name.strip_prefix("‘".as_bytes()).or(name.get(1..)).unwrap_or_default();
            let name =
                name.strip_suffix("’".as_bytes()).or(name.get(..name.len().saturating_sub(1))).unwrap_or_default();
            if bytes.starts_with(b"ninja") {
                self.folders.clear();
            }
            if self.folders.len() < MOST_FOLDERS {
                self.folders.push(String::from_utf8_lossy(name).into_owned());
            }
        } else if memchr::memmem::find(bytes, b": Leaving directory ").is_some() {
            self.folders.pop();
        }
    }

    /// `export NVCC_APPEND_FLAGS=…`, `NVCC_APPEND_FLAGS="…"` alone, or as nvcc shows it with --dryrun.
    fn flags(&mut self, text: &Mapped, from: usize) {
        let bytes = text.bytes();
        for (name, append) in [("NVCC_APPEND_FLAGS", true), ("NVCC_PREPEND_FLAGS", false)] {
            let Some(found) = memchr::memmem::find(&bytes[from..], name.as_bytes()) else { continue };
            let at = from + found;
            let before = bytes[from..at].trim_ascii();
            let introduces = before.is_empty()
                || before.ends_with(b"export")
                || before.ends_with(b"#$")
                || before.ends_with(b"-x")
                || before.ends_with(b"ENV");
            let value = at + name.len();
            let unset = before.ends_with(b"unset");
            if !introduces && !unset {
                continue;
            }
            let flags = if unset {
                None
            } else if bytes.get(value) == Some(&b'=') {
                Some(flag_value(text, value + 1, before.ends_with(b"#$")))
            } else {
                continue;
            };
            let place = if append { &mut self.environment.append } else { &mut self.environment.prepend };
            *place = flags.filter(|f| !f.bytes().trim_ascii().is_empty());
        }
    }

    /// `$ cat FILE` or `==> FILE <==`, and the options after it.
    fn paste(&mut self, text: &Mapped, bytes: &[u8]) {
        let line = bytes.trim_ascii();
        if let Some(path) = pasted_name(line).filter(|_| self.pasted.len() < MOST_RESPONSES) {
            self.pasted.push(PastedFile { path, text: Mapped::new() });
            self.pasting = true;
        } else if self.pasting {
            let from = text.bytes().len() - bytes.len();
            let options = line.starts_with(b"-") || line.starts_with(b"\"") || line.is_empty();
            match self.pasted.last_mut().filter(|_| options && self.pasted_bytes + line.len() < MOST_RESPONSE_BYTES) {
                Some(file) => {
                    self.pasted_bytes += line.len() + 1;
                    file.text.push_range(text, from..text.bytes().len());
                    file.text.push(b"\n", text.position(text.bytes().len()));
                }
                None => self.pasting = false,
            }
        }
    }
}

/// The value of an assignment: to the end of the line as nvcc prints it (quotes around, none escaped), else one shell word.
fn flag_value(text: &Mapped, from: usize, by_nvcc: bool) -> Mapped {
    let bytes = text.bytes();
    let mut out = Mapped::new();
    if by_nvcc {
        let end = from + bytes[from..].trim_ascii_end().len();
        let quoted = end >= from + 2 && bytes[from] == b'"' && bytes[end - 1] == b'"';
        out.push_range(text, if quoted { from + 1..end - 1 } else { from..end });
        return out;
    }
    match bytes.get(from) {
        Some(b'"' | b'\'') => decode::literal(text, from, decode::Escapes::default()).0,
        // `env` prints values bare; a shell would have ended the value at the blank.
        _ => {
            let end = from + bytes[from..].trim_ascii_end().len();
            out.push_range(text, from..end);
            out
        }
    }
}

/// The file whose text follows.
fn pasted_name(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let typed = line.trim_start_matches(['$', '#', '%', '>', ' ']);
    let name = typed.strip_prefix("cat ").or_else(|| line.strip_prefix("==> ")?.strip_suffix(" <=="))?;
    let name = name.trim().trim_matches(['\'', '"']);
    (!name.is_empty() && !name.starts_with('-') && !name.contains(['|', ';', '<'])).then(|| name.to_owned())
}

/// Whether a line is the brace of a JSON object and no more.
pub fn is_brace(bytes: &[u8]) -> bool {
    bytes.len() < 64 && matches!(bytes.trim_ascii(), b"{" | b"}" | b"}," | b"[{" | b"}]" | b"},{" | b"}, {")
}

/// A folder is looked for this far before its command,
const FOLDER_WITHIN: usize = 1 << 12;

/// and this far behind it, in a JSON object.
const OBJECT_WITHIN: usize = 1 << 16;

/// A folder that is named in the line of a command: `cd DIR && …`, or beside it in a JSON object.
pub fn folder_of(text: &Mapped, command: Position) -> Option<String> {
    let bytes = text.bytes();
    let at = text.offset_of(command).unwrap_or(bytes.len());
    // In an object of a database the command stands behind a name in quotes.
    let named = bytes[at.saturating_sub(FOLDER_WITHIN)..at].contains(&b'"');
    let object = if named { json_folder(text, at) } else { None };
    object.or_else(|| {
        let far = at.saturating_sub(FOLDER_WITHIN);
        let start = far + memchr::memmem::rfind(&bytes[far..at], b"cd ")?;
        let alone = start == 0 || matches!(bytes[start - 1], b' ' | b'(' | b';' | b'&' | b'"' | b'\'' | b'`');
        if !alone {
            return None;
        }
        let words = decode::shell(text, start + 3, decode::Stop::default());
        let between = bytes.get(words.end..at).unwrap_or_default();
        let joined = between.trim_ascii_start().starts_with(b"&&") || between.starts_with(b";");
        (words.words.len() == 1 && joined).then(|| words.words[0].text.clone())
    })
}

/// The value of `"directory"` in the object around `at`.
fn json_folder(text: &Mapped, at: usize) -> Option<String> {
    let bytes = text.bytes();
    let at = at.min(bytes.len());
    let far = at.saturating_sub(FOLDER_WITHIN);
    let open = far + memchr::memrchr(b'{', &bytes[far..at]).unwrap_or(0);
    let near = bytes.len().min(at + OBJECT_WITHIN);
    let close = memchr::memchr(b'}', &bytes[at..near]).map_or(near, |i| at + i);
    let key = open + memchr::memmem::find(&bytes[open..close], b"\"directory\"")?;
    let colon = key + 11 + bytes[key + 11..close].iter().position(|b| !b.is_ascii_whitespace())?;
    let quote = colon + 1 + bytes[colon + 1..close].iter().position(|b| !b.is_ascii_whitespace())?;
    if bytes[colon] != b':' || bytes[quote] != b'"' {
        return None;
    }
    let (value, _, _) = decode::literal(text, quote, decode::Escapes::default());
    Some(String::from_utf8_lossy(value.bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Context, folder_of};
    use crate::read::log::logical::Logical;
    use crate::read::log::word::{Mapped, Position};

    fn line(text: &str) -> Logical {
        let text = Mapped::of(text.as_bytes(), Position { line: 1, column: 1, offset: 0 });
        Logical { text, ..Logical::default() }
    }

    #[test]
    fn folders_are_entered_and_left() {
        let mut context = Context::default();
        context.line(&line("make: Entering directory '/a'"));
        context.line(&line("make[1]: Entering directory '/a/b'"));
        assert_eq!(context.directory(), Some("/a/b"));
        context.line(&line("make[1]: Leaving directory '/a/b'"));
        assert_eq!(context.directory(), Some("/a"));
        context.line(&line("ninja: Entering directory `b1'"));
        assert_eq!(context.directory(), Some("b1"));
    }

    #[test]
    fn flags_of_the_environment_in_four_spellings() {
        for text in [
            "export NVCC_APPEND_FLAGS='-lineinfo -DX=1'",
            "NVCC_APPEND_FLAGS=-lineinfo -DX=1",
            "#$ NVCC_APPEND_FLAGS=\"-lineinfo -DX=1\"",
            "declare -x NVCC_APPEND_FLAGS=\"-lineinfo -DX=1\"",
        ] {
            let mut context = Context::default();
            context.line(&line(text));
            assert_eq!(context.environment.append.unwrap().bytes(), b"-lineinfo -DX=1", "{text}");
        }
        let mut context = Context::default();
        context.line(&line("cargo:rerun-if-env-changed=NVCC_APPEND_FLAGS"));
        assert!(context.environment.append.is_none());
    }

    #[test]
    fn a_folder_in_the_line_wins() {
        let text = Mapped::of(b"cd /a/b && time nvcc", Position { line: 1, column: 1, offset: 0 });
        assert_eq!(folder_of(&text, text.position(16)).as_deref(), Some("/a/b"));
    }
}
