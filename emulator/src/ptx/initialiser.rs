//! Initial values of variables.

use super::lexer::Kind;
use super::number::Number;
use super::parser::Parser;
use super::{PtxError, Reference};

impl Parser<'_> {
    /// The bytes behind `=`, and the addresses among them. Nested braces only group.
    pub(super) fn initial_value(&mut self, element: u64) -> Result<(Vec<u8>, Vec<Reference>), PtxError> {
        let (mut bytes, mut references) = (Vec::new(), Vec::new());
        let mut depth = 0u32;
        loop {
            match self.peek().kind {
                Kind::Mark(b'{') => {
                    self.next();
                    depth += 1;
                }
                Kind::Mark(b'}') if depth > 0 => {
                    self.next();
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Kind::Mark(b',') if depth > 0 => {
                    self.next();
                }
                Kind::Word => {
                    let mut symbol = self.word()?;
                    let generic = symbol == "generic";
                    if generic {
                        self.expect(b'(')?;
                        symbol = self.word()?;
                        self.expect(b')')?;
                    }
                    let addend = if self.take(b'+') { self.integer()? as i64 } else { 0 };
                    if element != 8 {
                        return self.fail("an address needs an element of 8 bytes");
                    }
                    references.push(Reference { offset: bytes.len() as u64, symbol: symbol.into(), addend });
                    bytes.extend([0; 8]);
                }
                _ => {
                    let value = match self.literal()? {
                        Number::Integer(v) | Number::Double(v) => v,
                        Number::Single(v) => v.into(),
                    };
                    let mut value = u128::from(value).to_le_bytes().to_vec();
                    value.truncate(element as usize);
                    bytes.append(&mut value);
                }
            }
            if depth == 0 {
                break;
            }
        }
        Ok((bytes, references))
    }
}
