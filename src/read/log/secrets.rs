//! Values of environment variables, which may be secrets and are never copied out of a log.

use super::word::Word;

/// Variables whose value says something about a compile and nothing about a person.
const HARMLESS: [&str; 7] = [
    "NVCC_APPEND_FLAGS",
    "NVCC_PREPEND_FLAGS",
    "NVCC_CCBIN",
    "CCACHE_DISABLE",
    "LC_ALL",
    "LANG",
    "CUDA_VISIBLE_DEVICES",
];

/// The name of an assignment word.
pub fn assigned(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    let first = name.bytes().next()?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && !first.is_ascii_digit()).then_some(name)
}

/// An assignment without its value, unless the value is harmless.
pub fn masked(mut word: Word) -> Word {
    if let Some(name) = assigned(&word.text).filter(|name| !HARMLESS.contains(name)) {
        word.text = format!("{name}=…");
    }
    word
}

/// Overwrites the values of assignments in the first `until` bytes of a log's lines; the length stays.
pub fn mask(bytes: &mut [u8], until: usize) {
    let until = until.min(bytes.len());
    let mut at = 0;
    while at < until {
        let starts = at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'`' | b'"' | b'\'' | b'(' | b';');
        let name = bytes[at..until].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let equals = at + name;
        if !starts || name == 0 || bytes.get(equals) != Some(&b'=') || bytes[at].is_ascii_digit() {
            at += name.max(1);
            continue;
        }
        let harmless = std::str::from_utf8(&bytes[at..equals]).is_ok_and(|n| HARMLESS.contains(&n));
        let end = value_end(bytes, equals + 1, until);
        if !harmless {
            bytes[equals + 1..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b'*');
        }
        at = end;
    }
}

/// Overwrites the values of assignments to variables in capitals from `from` on: an environment that is printed behind a
/// command. The length stays.
pub fn mask_behind(bytes: &mut [u8], from: usize) {
    let mut at = from.min(bytes.len());
    while at < bytes.len() {
        let name =
            bytes[at..].iter().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_').count();
        let equals = at + name;
        if name > 1 && bytes.get(equals) == Some(&b'=') {
            let end =
                equals + 1 + bytes[equals + 1..].iter().take_while(|b| !matches!(b, b'"' | b'\'' | b'\n')).count();
            bytes[equals + 1..end].fill(b'*');
            at = end;
        } else {
            at += name.max(1);
        }
    }
}

fn value_end(bytes: &[u8], from: usize, until: usize) -> usize {
    let mut at = from;
    let mut quote = None;
    while at < until {
        let byte = bytes[at];
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None if byte.is_ascii_whitespace() => break,
            None => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{mask, mask_behind};

    #[test]
    fn an_environment_behind_a_command_is_gone_too() {
        let mut line = br#"execve("nvcc", ["nvcc", "k.cu"], ["HOME=/home/me", "TOKEN=a b"]) = 0"#.to_vec();
        mask_behind(&mut line, 30);
        assert!(!String::from_utf8_lossy(&line).contains("home/me") && !String::from_utf8_lossy(&line).contains("a b"));
    }

    #[test]
    fn values_are_gone_and_the_length_stays() {
        let mut line = b"env TOKEN=abc PASS='a b' NVCC_APPEND_FLAGS=-g nvcc -DX=1 k.cu".to_vec();
        let until = line.windows(4).position(|w| w == b"nvcc").unwrap();
        mask(&mut line, until);
        assert_eq!(String::from_utf8(line).unwrap(), "env TOKEN=*** PASS=***** NVCC_APPEND_FLAGS=-g nvcc -DX=1 k.cu");
    }
}
