//! A pasted `build.ninja`, and variables of generated makefiles.

use std::collections::HashMap;

use super::logical::Logical;
use super::word::Mapped;

/// At most this many bytes of variables are kept.
const MOST_BYTES: usize = 4 << 20;

/// What a variable costs besides its text.
const OVERHEAD: usize = 128;

/// Variables that one command may refer to, directly or not.
const MOST_VARIABLES: usize = 10_000;

/// Bytes of commands that are made of edges.
const MOST_EXPANDED: usize = 512 << 20;

/// Variables refer to each other at most this deep.
const DEEPEST: usize = 16;

/// What a `build.ninja` says so far.
#[derive(Debug, Clone, Default)]
pub struct Ninja {
    variables: HashMap<String, Mapped>,
    rules: HashMap<String, HashMap<String, Mapped>>,
    block: Block,
    bytes: usize,
    expanded: usize,
}

#[derive(Debug, Clone, Default)]
enum Block {
    #[default]
    None,
    Rule(String),
    Build(Box<Edge>),
}

#[derive(Debug, Clone, Default)]
struct Edge {
    rule: String,
    inputs: Mapped,
    outputs: Mapped,
    variables: HashMap<String, Mapped>,
    bytes: usize,
    line: Logical,
}

impl Ninja {
    /// Whether a line can be one of a `build.ninja` or a makefile's variables; cheap.
    pub fn matters(&self, bytes: &[u8]) -> bool {
        match bytes.first() {
            Some(b' ' | b'\t') => !matches!(self.block, Block::None) && assignment(bytes.trim_ascii_start()).is_some(),
            Some(b'r') if bytes.starts_with(b"rule ") => true,
            Some(b'b') if bytes.starts_with(b"build ") => !self.rules.is_empty(),
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' => assignment(bytes).is_some(),
            None => !matches!(self.block, Block::None),
            Some(_) => false,
        }
    }

    /// Takes one line; gives the command of an edge that ends here, with the logical line of that edge.
    pub fn line(&mut self, logical: &Logical) -> Option<(Mapped, Logical)> {
        let text = &logical.text;
        let bytes = text.bytes();
        if bytes.first().is_some_and(u8::is_ascii_whitespace) {
            let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
            if let Some((name, value)) = binding(text, blank) {
                match &mut self.block {
                    Block::Rule(rule) => {
                        self.bytes += name.len() + value.bytes().len() + OVERHEAD;
                        if self.bytes < MOST_BYTES {
                            self.rules.entry(rule.clone()).or_default().insert(name, value);
                        }
                    }
                    Block::Build(edge) => {
                        edge.bytes += name.len() + value.bytes().len() + OVERHEAD;
                        if edge.bytes < MOST_BYTES {
                            edge.variables.insert(name, value);
                        }
                    }
                    Block::None => {}
                }
            }
            return None;
        }
        let ended = self.end();
        if let Some(name) = bytes.strip_prefix(b"rule ") {
            self.block = Block::Rule(String::from_utf8_lossy(name.trim_ascii()).into_owned());
        } else if bytes.starts_with(b"build ") {
            self.block = edge(logical).map_or(Block::None, |edge| Block::Build(Box::new(edge)));
        } else if let Some((name, value)) = binding(text, 0) {
            self.bytes += name.len() + value.bytes().len() + OVERHEAD;
            if self.bytes < MOST_BYTES {
                self.variables.insert(name, value);
            }
        }
        ended
    }

    /// The command of an edge that is still open.
    pub fn end(&mut self) -> Option<(Mapped, Logical)> {
        let Block::Build(edge) = std::mem::take(&mut self.block) else { return None };
        let command = self.rules.get(&edge.rule)?.get("command")?;
        if self.expanded > MOST_EXPANDED {
            return None;
        }
        let mut out = Mapped::new();
        let mut variables = 0;
        self.expand(command, &edge, 0, &mut variables, &mut out);
        self.expanded += out.bytes().len() + variables;
        Some((out, edge.line))
    }

    /// A variable by its name.
    pub fn variable(&self, name: &str) -> Option<&Mapped> {
        self.variables.get(name)
    }

    fn expand(&self, text: &Mapped, edge: &Edge, depth: usize, variables: &mut usize, out: &mut Mapped) {
        let bytes = text.bytes();
        let mut at = 0;
        while at < bytes.len() {
            let dollar = memchr::memchr(b'$', &bytes[at..]).map_or(bytes.len(), |i| at + i);
            out.push_range(text, at..dollar);
            let Some(next) = bytes.get(dollar + 1) else {
                at = bytes.len();
                continue;
            };
            let (name, end) = match next {
                b'{' => {
                    let close = memchr::memchr(b'}', &bytes[dollar..]).map_or(bytes.len(), |i| dollar + i);
                    (dollar + 2..close, (close + 1).min(bytes.len()))
                }
                b if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-') => {
                    let length = bytes[dollar + 1..]
                        .iter()
                        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
                        .count();
                    (dollar + 1..dollar + 1 + length, dollar + 1 + length)
                }
                // `$ `, `$:`, `$$`
                _ => {
                    out.push_range(text, dollar + 1..dollar + 2);
                    at = dollar + 2;
                    continue;
                }
            };
            let name = String::from_utf8_lossy(bytes.get(name).unwrap_or_default()).into_owned();
            *variables += 1;
            if depth < DEEPEST && *variables < MOST_VARIABLES && out.bytes().len() < MOST_BYTES {
                match name.as_str() {
                    "in" | "in_newline" => out.append(&edge.inputs),
                    "out" => out.append(&edge.outputs),
                    _ => {
                        let rule = self.rules.get(&edge.rule).and_then(|r| r.get(&name));
                        let value = edge.variables.get(&name).or(rule).or_else(|| self.variables.get(&name));
                        if let Some(value) = value {
                            self.expand(value, edge, depth + 1, variables, out);
                        }
                    }
                }
            }
            at = end;
        }
    }
}

/// `name = value`, as offsets of the name's end and the value's start.
fn assignment(bytes: &[u8]) -> Option<(usize, usize)> {
    let name =
        bytes.iter().take(64).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')).count();
    let rest = bytes.get(name..)?;
    let blanks = rest.iter().take(16).take_while(|b| **b == b' ').count();
    if name == 0 || rest.get(blanks) != Some(&b'=') || blanks == 0 {
        return None;
    }
    let after = name + blanks + 1;
    let value = after + bytes[after..].iter().take_while(|b| **b == b' ').count();
    Some((name, value))
}

fn binding(text: &Mapped, from: usize) -> Option<(String, Mapped)> {
    let bytes = &text.bytes()[from..];
    let (name, value) = assignment(bytes)?;
    let mut out = Mapped::new();
    out.push_range(text, from + value..text.bytes().len());
    Some((String::from_utf8_lossy(&bytes[..name]).into_owned(), out))
}

/// `build OUT | IMPLICIT: RULE IN | IMPLICIT || ORDER`.
fn edge(logical: &Logical) -> Option<Edge> {
    let text = &logical.text;
    let bytes = text.bytes();
    let colon = (6..bytes.len()).find(|i| bytes[*i] == b':' && bytes[i - 1] != b'$')?;
    let mut outputs = Mapped::new();
    let bar = |range: std::ops::Range<usize>| {
        let found = bytes[range.clone()].iter().position(|b| *b == b'|');
        range.start + found.unwrap_or(range.len())
    };
    push_paths(text, 6..bar(6..colon), &mut outputs);
    let rest = colon + 1;
    let rule = rest + bytes[rest..].iter().take_while(|b| **b == b' ').count();
    let rule_end = rule + bytes[rule..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
    let mut inputs = Mapped::new();
    push_paths(text, rule_end..bar(rule_end..bytes.len()), &mut inputs);
    Some(Edge {
        rule: String::from_utf8_lossy(&bytes[rule..rule_end]).into_owned(),
        inputs,
        outputs,
        variables: HashMap::new(),
        bytes: 0,
        line: logical.clone(),
    })
}

/// Paths without the blanks around them, `$ ` and `$:` decoded; a path with blanks is quoted for the shell.
fn push_paths(text: &Mapped, range: std::ops::Range<usize>, out: &mut Mapped) {
    let bytes = text.bytes();
    let mut at = range.start;
    while at < range.end {
        if bytes[at] == b' ' {
            at += 1;
            continue;
        }
        if !out.bytes().is_empty() {
            out.push(b" ", text.position(at));
        }
        while at < range.end && bytes[at] != b' ' {
            if bytes[at] == b'$' && at + 1 < range.end {
                if bytes[at + 1] == b' ' {
                    out.push(b"\\", text.position(at));
                }
                at += 1;
            }
            out.push_range(text, at..at + 1);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ninja;
    use crate::read::log::logical::Logical;
    use crate::read::log::word::{Mapped, Position};

    #[test]
    fn an_edge_is_expanded_with_its_own_variables_first() {
        let file = "nvcc = ccache nvcc\nflags = -O1\nrule cu\n  command = $nvcc ${flags} $$X -c $in -o $out\nbuild a$ b.o | x: cu k$:1.cu | dep || order\n  flags = -O3\n";
        let mut ninja = Ninja::default();
        for (number, line) in file.lines().enumerate() {
            let text = Mapped::of(line.as_bytes(), Position { line: number + 1, column: 1, offset: 0 });
            assert!(ninja.matters(line.as_bytes()), "{line}");
            assert!(ninja.line(&Logical { text, ..Logical::default() }).is_none());
        }
        let (command, _) = ninja.end().unwrap();
        assert_eq!(String::from_utf8_lossy(command.bytes()), "ccache nvcc -O3 $X -c k:1.cu -o a\\ b.o");
        assert_eq!(command.position(8).line, 1);
    }
}
