//! Mechanical mutations of kernel text, drawn by seed and not chosen.

use std::ops::Range;

use regex::Regex;

/// One change of one place.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// What kind of change.
    pub operator: &'static str,
    /// Bytes that are replaced.
    pub range: Range<usize>,
    /// By what.
    pub with: String,
    /// Line of the change, from 1.
    pub line: usize,
    /// What stood there.
    pub was: String,
}

impl Mutation {
    /// The text with the change.
    pub fn apply(&self, text: &str) -> String {
        format!("{}{}{}", &text[..self.range.start], self.with, &text[self.range.end..])
    }
}

/// Operator, pattern (group 1 is replaced) and replacement (`$1` is the old text).
const OPERATORS: [(&str, &str, &str); 14] = [
    ("bound", r" (<) ", "<="),
    ("index", r"\w\[([^\[\]{}=;]+)\]", "($1) + 1"),
    ("index", r"\w\[([^\[\]{}=;]+)\]", "($1) ^ 1"),
    ("sync", r"(__syncthreads\(\);|wait_groups<[^;]*;|commit\(\);|__syncwarp\(\);)", ""),
    ("sync", r#"(asm volatile\("(?:fence|wgmma\.fence|wgmma\.commit|wgmma\.wait)[^;]*;"[^;]*;)"#, ""),
    ("axis", r"\[(m)\]", "n"),
    ("axis", r"\[(n)\]", "m"),
    ("axis", r"\((n), block\)", "m"),
    ("operand", r"\b(a)\b[^;\n]*\bb\b", "b"),
    ("arithmetic", r" (\+) ", "-"),
    ("arithmetic", r" (\*) ", "+"),
    ("arithmetic", r" (/) ", "%"),
    ("literal", r"[ (](\d+)[;, )]", "$1 + 1"),
    ("stage", r"tile_\w\[(stage)\]", "(stage + 1) % STAGES"),
];

/// Lines on which a change would not be one of the kernel's arithmetic.
const LEFT_ALONE: [&str; 12] = [
    "//",
    "static_assert",
    "template",
    "__shared__",
    "__global__",
    "__launch_bounds__",
    "constexpr",
    "#",
    "namespace",
    "__restrict__",
    "magnitude[8]",
    "__device__",
];

/// All changes that the operators know of in `text`.
pub fn mutations(text: &str) -> Vec<Mutation> {
    let mut all = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let skipped = LEFT_ALONE.iter().any(|word| line.contains(word)) || line.trim_start().starts_with(['"', ':']);
        if !skipped {
            for (operator, pattern, replacement) in OPERATORS {
                let pattern = Regex::new(pattern).unwrap();
                for found in pattern.captures_iter(line) {
                    let group = found.get(1).unwrap();
                    // Text of inline assembly is another language.
                    if operator != "sync" && line[..group.start()].contains("asm") {
                        continue;
                    }
                    all.push(Mutation {
                        operator,
                        range: start + group.start()..start + group.end(),
                        with: replacement.replace("$1", group.as_str()),
                        line: index + 1,
                        was: group.as_str().to_owned(),
                    });
                }
            }
        }
        start += line.len();
    }
    all
}

/// A small generator with a known sequence (splitmix64).
pub struct Draw(pub u64);

impl Draw {
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % limit as u64) as usize
    }
}

/// `count` of the changes, operators drawn evenly, each change once.
pub fn draw(text: &str, seed: u64, count: usize) -> Vec<Mutation> {
    let mut left = mutations(text);
    let mut draw = Draw(seed);
    let mut drawn = Vec::new();
    while drawn.len() < count && !left.is_empty() {
        let mut operators: Vec<_> = left.iter().map(|m| m.operator).collect();
        operators.sort_unstable();
        operators.dedup();
        let operator = operators[draw.below(operators.len())];
        let of_it: Vec<usize> = (0..left.len()).filter(|i| left[*i].operator == operator).collect();
        drawn.push(left.swap_remove(of_it[draw.below(of_it.len())]));
    }
    drawn
}
