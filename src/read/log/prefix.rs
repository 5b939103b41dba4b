//! What loggers, build tools and shells put before a line, peeled by its form and not by a list of tools.

use super::word::{Mapped, Position};

/// Longest bracket or parenthesis that is taken as a prefix.
const LONGEST_TAG: usize = 120;

/// The text of a physical line without its terminal colours.
pub fn plain(bytes: &[u8], at: Position) -> Mapped {
    let mut out = Mapped::new();
    let mut start = 0;
    while let Some(found) = memchr::memchr(0x1b, &bytes[start..]) {
        let escape = start + found;
        out.push(&bytes[start..escape], at.after(start));
        start = escape + escape_length(&bytes[escape..]);
    }
    out.push(&bytes[start..], at.after(start));
    out
}

/// Length of a terminal escape sequence.
fn escape_length(bytes: &[u8]) -> usize {
    match bytes.get(1) {
        // CSI: parameters, then one final byte.
        Some(b'[') => 2 + bytes[2..].iter().position(|b| (0x40..=0x7e).contains(b)).map_or(bytes.len() - 2, |i| i + 1),
        // OSC (titles, links): up to BEL or ESC \.
        Some(b']') => bytes
            .iter()
            .position(|b| *b == 7)
            .map(|i| i + 1)
            .or_else(|| bytes.windows(2).skip(2).position(|w| w == b"\x1b\\").map(|i| i + 4))
            .unwrap_or(bytes.len()),
        Some(_) => 2,
        None => 1,
    }
}

/// Where the text proper of a line begins.
pub fn peel(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
        match one(&bytes[at..]) {
            0 => return at,
            length => at += length,
        }
    }
}

/// Length of one prefix at the start of `bytes`; 0 when there is none.
fn one(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'[') => tag(bytes, b']'),
        Some(b'(') => tag(bytes, b')'),
        // xtrace, nested
        Some(b'+') => match bytes.iter().take_while(|b| **b == b'+').count() {
            depth if bytes.get(depth) == Some(&b' ') => depth + 1,
            _ => 0,
        },
        // separators of logger fields and of composed logs
        Some(b'-' | b'|' | b'>') if bytes.get(1) == Some(&b' ') => 2,
        // box drawing (pip, cargo)
        Some(0xe2) if matches!(bytes.get(1), Some(0x94 | 0x95)) => 3,
        Some(_) => token(bytes),
        None => 0,
    }
}

/// `[rank0]:`, `[ 16%]`, `(Worker pid=2)`; not a list of strings, nor a group of commands.
fn tag(bytes: &[u8], close: u8) -> usize {
    let Some(end) = bytes.iter().take(LONGEST_TAG).position(|b| *b == close) else {
        return 0;
    };
    let inside = &bytes[1..end];
    let list = inside.iter().any(|b| matches!(b, b'\'' | b'"' | b'{'));
    let command =
        inside.starts_with(b"cd ") || inside.ends_with(b":") || memchr::memmem::find(inside, b"command: ").is_some();
    if list || command {
        return 0;
    }
    let colon = usize::from(bytes.get(end + 1) == Some(&b':'));
    match bytes.get(end + 1 + colon) {
        None => end + 1 + colon,
        Some(b) if b.is_ascii_whitespace() || colon == 1 || *b == b'[' || *b == b'(' => end + 1 + colon,
        Some(_) => 0,
    }
}

/// A time, a number, a level, `file.py:12]`, `name>`, `W1130`.
fn token(bytes: &[u8]) -> usize {
    let length = bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len());
    let word = &bytes[..length];
    if length == bytes.len() || word.is_empty() {
        return 0;
    }
    let body = word.strip_suffix(b":").or(word.strip_suffix(b"]")).or(word.strip_suffix(b",")).unwrap_or(word);
    let digits = body.iter().filter(|b| b.is_ascii_digit()).count();
    let timely =
        |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'.' | b',' | b'/' | b'+' | b'T' | b'Z' | b'#' | b'%');
    let time = digits > 0 && body.iter().all(timely);
    let glog = matches!(body, [b'I' | b'W' | b'E' | b'F', rest @ ..] if rest.len() == 4 && rest.iter().all(u8::is_ascii_digit));
    let level = matches!(
        body.trim_ascii(),
        b"ERROR" | b"WARNING" | b"WARN" | b"INFO" | b"DEBUG" | b"TRACE" | b"FATAL" | b"CRITICAL" | b"NOTICE"
    ) || matches!(word, b"error:" | b"warning:" | b"info:" | b"note:" | b"debug:");
    // `file.py:635`, `file.py:635]`, `(file.py:635):`
    let place = body.iter().rposition(|b| *b == b':').is_some_and(|colon| {
        let (file, line) = (&body[..colon], &body[colon + 1..]);
        file.contains(&b'.') && !line.is_empty() && line.iter().all(u8::is_ascii_digit)
    });
    let named = word.len() > 1 && word.ends_with(b">") && name(&word[..word.len() - 1]);
    let crate_version = word.ends_with(b":") && body.contains(&b'@') && digits > 0;
    if time || glog || level || place || named || crate_version { length } else { 0 }
}

fn name(bytes: &[u8]) -> bool {
    bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@'))
}

/// How much of `line` has the form of `prefix`, the peeled part of the line before it: the same bytes, digits aside.
/// Only whole words count; a line that shares nothing is taken from its start.
pub fn same_form(prefix: &[u8], line: &[u8]) -> usize {
    let (mut p, mut l) = (0, 0);
    let mut boundary = 0;
    while let (Some(&a), Some(&b)) = (prefix.get(p), line.get(l)) {
        if a.is_ascii_digit() && b.is_ascii_digit() {
            p += prefix[p..].iter().take_while(|b| b.is_ascii_digit()).count();
            l += line[l..].iter().take_while(|b| b.is_ascii_digit()).count();
        } else if a == b {
            p += 1;
            l += 1;
        } else {
            break;
        }
        let ended = line[l - 1];
        if p == prefix.len() || ended.is_ascii_whitespace() || matches!(ended, b']' | b')' | b'>' | b':') {
            boundary = l;
        }
    }
    boundary
}

#[cfg(test)]
mod tests {
    use super::{peel, plain, same_form};
    use crate::read::log::word::Position;

    #[test]
    fn prefixes_are_peeled_by_their_form() {
        for prefix in [
            "",
            "2026-11-30T03:44:06.606548Z [rank0]: [1/3]  ",
            "(Worker pid=20011) (Worker_TP1 pid=20011) ERROR 03-05 09:56:09 [multiproc_executor.py:880] [1/11] ",
            "W1130 03:46:23.140000 11722 torch/distributed/run.py:982] ",
            "2026-11-30 03:36:09,141 - INFO - core.py:635 - ",
            "[default0]:",
            "ollama> ",
            "#10 314.7 ",
            "  │ ",
            "warning: kern-sys@0.1.0: ",
            "+++ ",
            "[kern-sys 0.1.0] ",
            "[ 16%] ",
        ] {
            let line = format!("{prefix}nvcc -c k.cu");
            assert_eq!(&line[peel(line.as_bytes())..], "nvcc -c k.cu", "{line}");
        }
    }

    #[test]
    fn commands_are_no_prefix() {
        for line in ["['nvcc', '-c']", "[command: nvcc k.cu]", "(cd /x && nvcc k.cu)", "-O3 k.cu", ":/usr/bin/nvcc -c"]
        {
            assert_eq!(peel(line.as_bytes()), 0, "{line}");
        }
    }

    #[test]
    fn colours_leave_the_text_and_places_stay() {
        let text = plain(b"\x1b[32mab\x1b[0mcd\x1b]0;t\x07e", Position { line: 1, column: 1, offset: 0 });
        assert_eq!(text.bytes(), b"abcde");
        assert_eq!(text.position(2).column, 12);
    }

    #[test]
    fn a_following_line_has_the_form_of_the_prefix() {
        let prefix = b"2026-11-30T03:44:06.60Z [rank0]: [1/3] ";
        let next = b"2026-11-30T03:44:07.1Z [rank0]:   -I/x";
        assert_eq!(&next[same_form(prefix, next)..], b"  -I/x");
        assert_eq!(same_form(b"      ", b"=c++17"), 0);
    }
}
