//! Operands of instructions.

use super::body::Reading;
use super::lexer::Kind;
use super::number::Number;
use super::parser::Parser;
use super::{Operand, PtxError, Symbol};

/// Deepest nesting of braces and brackets; PTX needs two.
const DEEPEST: u32 = 4;

impl Parser<'_> {
    pub(super) fn operand(&mut self, reading: &Reading, depth: u32) -> Result<Operand, PtxError> {
        if depth > DEEPEST {
            return self.fail("operands are nested too deeply");
        }
        match self.peek().kind {
            Kind::Mark(b'{') => {
                self.next();
                Ok(Operand::Vector(self.list(reading, depth, b'}')?))
            }
            Kind::Mark(b'[') => {
                self.next();
                let base = self.operand(reading, depth + 1)?;
                let offset =
                    if matches!(self.peek().kind, Kind::Mark(b'+' | b'-')) { self.integer()? as i64 } else { 0 };
                let more = if self.take(b',') {
                    self.list(reading, depth, b']')?
                } else {
                    self.expect(b']')?;
                    Vec::new()
                };
                Ok(Operand::Memory(Box::new(base), offset, more))
            }
            Kind::Mark(b'!') => {
                self.next();
                let name = self.word()?;
                match reading.register(name) {
                    Some(register) => Ok(Operand::Not(register)),
                    None => self.fail(format!("`{name}` is not a register")),
                }
            }
            Kind::Mark(b'-') | Kind::Number => Ok(match self.literal()? {
                Number::Integer(value) => Operand::Integer(value),
                Number::Single(bits) => Operand::Single(bits),
                Number::Double(bits) => Operand::Double(bits),
            }),
            Kind::Word => self.named(reading, depth),
            _ => self.unexpected("an operand"),
        }
    }

    fn list(&mut self, reading: &Reading, depth: u32, end: u8) -> Result<Vec<Operand>, PtxError> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.operand(reading, depth + 1)?);
            if !self.take(b',') && self.peek().kind != Kind::Mark(end) {
                return self.unexpected(&format!("`,` or `{}`", end as char));
            }
        }
        Ok(items)
    }

    fn named(&mut self, reading: &Reading, depth: u32) -> Result<Operand, PtxError> {
        let word = self.word()?;
        let first = if word == "_" {
            Operand::Sink
        } else if word == "WARP_SZ" {
            Operand::Integer(32)
        } else if let Some(register) = reading.register(word) {
            Operand::Register(register)
        } else if let Some(index) = reading.variable(word) {
            Operand::Symbol(Symbol::Inner(index), 0)
        } else if let Some(&index) = reading.parameters.get(word) {
            Operand::Symbol(Symbol::Parameter(index), 0)
        } else if word.starts_with('%') {
            Operand::Special(word.into())
        } else {
            Operand::Symbol(Symbol::Outer(word.into()), 0)
        };
        if self.take(b'|') {
            let second = self.operand(reading, depth + 1)?;
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        match first {
            // `symbol+8`; inside brackets the sum is read by the caller.
            Operand::Symbol(symbol, _) if depth == 0 && self.peek().kind == Kind::Mark(b'+') => {
                Ok(Operand::Symbol(symbol, self.integer()? as i64))
            }
            other => Ok(other),
        }
    }
}
