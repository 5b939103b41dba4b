//! Variable and parameter declarations.

use super::lexer::Kind;
use super::parser::Parser;
use super::{Parameter, PtxError, Space, Variable};

/// The type and name part that variables and parameters have in common.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) alignment: u64,
    pub(super) element: u64,
    pub(super) bytes: u64,
}

/// Size of a fundamental type in bytes.
pub(super) fn type_bytes(name: &str) -> Option<u64> {
    Some(match name {
        ".b8" | ".u8" | ".s8" => 1,
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 2,
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 4,
        ".b64" | ".u64" | ".s64" | ".f64" => 8,
        ".b128" => 16,
        _ => return None,
    })
}

impl Parser<'_> {
    /// What follows the state space: `[.align n] [.vK] .type [.ptr ...] name [dimensions]`.
    pub(super) fn declared(&mut self) -> Result<Declared, PtxError> {
        let (mut alignment, mut element, mut vector) = (0, 0, 1);
        while self.peek().kind == Kind::Word && self.peek().text.starts_with('.') {
            match self.word()? {
                ".align" => {
                    let value = self.integer()?;
                    if !value.is_power_of_two() || value > 1 << 20 {
                        return self.fail("an alignment is a power of two");
                    }
                    // Behind `.ptr`, it is the alignment of what the pointer points to.
                    if element == 0 {
                        alignment = value;
                    }
                }
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".attribute" => {
                    self.expect(b'(')?;
                    while !self.take(b')') {
                        if self.next().kind == Kind::End {
                            return self.unexpected("`)`");
                        }
                    }
                }
                ".ptr" | ".global" | ".shared" | ".const" | ".local" | ".param" => {}
                name => match type_bytes(name) {
                    Some(bytes) => element = bytes,
                    None => return self.fail(format!("unknown type `{name}`")),
                },
            }
        }
        if element == 0 {
            return self.unexpected("a type");
        }
        element *= vector;
        let name =
            if self.peek().kind == Kind::Word { self.word()?.to_string() } else { return self.unexpected("a name") };
        let mut bytes = element;
        while self.take(b'[') {
            let count = if self.peek().kind == Kind::Mark(b']') { 0 } else { self.integer()? };
            self.expect(b']')?;
            bytes = match bytes.checked_mul(count) {
                Some(bytes) if bytes < 1 << 40 => bytes,
                _ => return self.fail(format!("`{name}` is too large")),
            };
        }
        Ok(Declared { name, alignment: alignment.max(element), element, bytes })
    }

    /// A variable with its initial value, up to and without the `;`.
    pub(super) fn variable(&mut self, space: Space, external: bool) -> Result<Variable, PtxError> {
        let Declared { name, alignment, element, mut bytes } = self.declared()?;
        let (mut initial, mut references) = (Vec::new(), Vec::new());
        if self.take(b'=') {
            (initial, references) = self.initial_value(element)?;
            if bytes == 0 {
                bytes = initial.len() as u64;
            }
            if initial.len() as u64 > bytes {
                return self.fail(format!("the initial value of `{name}` is longer than the variable"));
            }
        }
        Ok(Variable { name, space, alignment, bytes, external, initial, references })
    }

    /// `( .param ..., .param ... )`, laid out in order.
    pub(super) fn parameters(&mut self) -> Result<Vec<Parameter>, PtxError> {
        let mut parameters = Vec::new();
        let mut end = 0u64;
        self.expect(b'(')?;
        while !self.take(b')') {
            if !(self.take_word(".param") || self.take_word(".reg")) {
                return self.unexpected("`.param`");
            }
            let Declared { name, alignment, bytes, .. } = self.declared()?;
            let offset = end.next_multiple_of(alignment);
            end = offset + bytes;
            parameters.push(Parameter { name, offset, bytes, alignment });
            if !self.take(b',') && self.peek().kind != Kind::Mark(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(parameters)
    }
}
