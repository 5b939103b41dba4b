//! An opcode taken apart.

use crate::exec::alu::Type;

/// Base and modifiers of an opcode.
pub(super) struct Opcode<'a> {
    pub(super) text: &'a str,
    pub(super) base: &'a str,
    pub(super) parts: Vec<&'a str>,
}

impl<'a> Opcode<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut parts = text.split('.');
        let base = parts.next().unwrap_or_default();
        Self { text, base, parts: parts.collect() }
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.parts.contains(&modifier)
    }

    /// The last modifier, which is the type in most instructions.
    pub(super) fn last(&self) -> &'a str {
        self.parts.last().copied().unwrap_or_default()
    }

    /// Modifier `index` counted from 0.
    pub(super) fn part(&self, index: usize) -> &'a str {
        self.parts.get(index).copied().unwrap_or_default()
    }

    pub(super) fn of(&self) -> Option<Type> {
        Type::parse(self.last())
    }

    /// The spelling without the modifiers given.
    pub(super) fn without(&self, drop: &[&str]) -> String {
        let mut out = self.base.to_string();
        for part in self.parts.iter().filter(|p| !drop.contains(p)) {
            out.push('.');
            out.push_str(part);
        }
        out
    }
}
