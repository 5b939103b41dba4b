//! Operands as register indices.

use super::frame::{Frame, Home};
use super::{Lower, Lowered, unknown};
use crate::exec::code::Special;
use crate::exec::op::{Address, Space};
use crate::ptx::{Class, Operand, Register, Symbol};

/// A place in memory named by an operand.
pub(super) enum Named {
    Address(Address, Option<Space>),
    /// Offset in the kernel's parameters.
    Parameter(u32),
}

impl<'a> Lower<'a> {
    pub(super) fn word_constant(&mut self, value: u32) -> u32 {
        if let Some(&register) = self.words.get(&value) {
            return register;
        }
        let register = self.fresh(Class::Word);
        self.words.insert(value, register);
        self.code.words.push((register, value));
        register
    }

    pub(super) fn double_constant(&mut self, value: u64) -> u32 {
        if let Some(&register) = self.doubles.get(&value) {
            return register;
        }
        let register = self.fresh(Class::Double);
        self.doubles.insert(value, register);
        self.code.doubles.push((register, value));
        register
    }

    pub(super) fn predicate_constant(&mut self, value: bool) -> u32 {
        if let Some(register) = self.predicates[usize::from(value)] {
            return register;
        }
        let register = self.fresh(Class::Predicate);
        self.predicates[usize::from(value)] = Some(register);
        self.code.predicates.push((register, value));
        register
    }

    /// Where a symbol lies.
    pub(super) fn home(&self, frame: &Frame<'a>, symbol: &Symbol) -> Option<Home> {
        match symbol {
            Symbol::Inner(index) => frame.inner.get(*index as usize).copied(),
            Symbol::Parameter(index) => frame.parameters.get(*index as usize).copied(),
            Symbol::Outer(name) => {
                let variable = self.module.variable(name)?;
                self.shared.get(&std::ptr::from_ref(variable)).map(|&offset| Home::Shared(offset))
            }
        }
    }

    fn global(&self, symbol: &Symbol) -> Lowered<u64> {
        match symbol {
            Symbol::Outer(name) => match self.symbols.get(&**name) {
                Some(&(address, _)) => Ok(address),
                None => unknown(format!("`{name}` is not defined in this module")),
            },
            _ => unknown("a variable without an address"),
        }
    }

    /// A source word. Immediates of 16-bit instructions are cut to 16 bits.
    pub(super) fn word(&mut self, frame: &Frame<'a>, operand: &Operand, narrow: bool) -> Lowered<u32> {
        Ok(match operand {
            Operand::Register(r) if r.class == Class::Word => frame.register(*r),
            Operand::Register(r) if r.class == Class::Double => {
                let to = self.fresh(Class::Word);
                self.emit_alu("@low32", &[to, frame.register(*r)])?;
                to
            }
            Operand::Integer(v) if narrow => self.word_constant(*v as u32 & 0xffff),
            Operand::Integer(v) => self.word_constant(*v as u32),
            Operand::Single(bits) => self.word_constant(*bits),
            Operand::Double(bits) => self.word_constant((f64::from_bits(*bits) as f32).to_bits()),
            Operand::Special(name) => self.special_as_word(name)?,
            Operand::Symbol(symbol, offset) => match self.home(frame, symbol) {
                Some(Home::Shared(at)) => self.special_word(Special::Shared(at.wrapping_add(*offset as u32))),
                Some(Home::Local(at) | Home::Kernel(at)) => self.word_constant(at.wrapping_add(*offset as u32)),
                None => {
                    let address = self.global(symbol)?.wrapping_add_signed(*offset);
                    self.word_constant(address as u32)
                }
            },
            Operand::Vector(parts) => self.packed_word(frame, parts)?,
            Operand::Sink => self.word_constant(0),
            other => return unknown(format!("a 32-bit operand cannot be {other:?}")),
        })
    }

    fn packed_word(&mut self, frame: &Frame<'a>, parts: &[Operand]) -> Lowered<u32> {
        let mut registers = Vec::new();
        for part in parts {
            registers.push(self.word(frame, part, true)?);
        }
        let to = self.fresh(Class::Word);
        match registers[..] {
            [low, high] => self.emit_alu("@pack", &[to, low, high])?,
            _ => return unknown("a vector that is not two halves"),
        }
        Ok(to)
    }

    /// A source double.
    pub(super) fn double(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<u32> {
        Ok(match operand {
            Operand::Register(r) if r.class == Class::Double => frame.register(*r),
            Operand::Register(r) if r.class == Class::Word => {
                let to = self.fresh(Class::Double);
                self.emit_alu("cvt.u64.u32", &[to, frame.register(*r)])?;
                to
            }
            Operand::Integer(v) => self.double_constant(*v),
            Operand::Single(bits) => self.double_constant(f64::from(f32::from_bits(*bits)).to_bits()),
            Operand::Double(bits) => self.double_constant(*bits),
            Operand::Special(name) => self.special_as_double(name)?,
            Operand::Symbol(symbol, offset) => match self.home(frame, symbol) {
                Some(Home::Shared(at)) => self.special_double(Special::Shared(at.wrapping_add(*offset as u32))),
                Some(Home::Local(at) | Home::Kernel(at)) => {
                    self.double_constant(u64::from(at).wrapping_add_signed(*offset))
                }
                None => {
                    let address = self.global(symbol)?.wrapping_add_signed(*offset);
                    self.double_constant(address)
                }
            },
            Operand::Vector(parts) => {
                let (Some(low), Some(high), 2) = (parts.first(), parts.get(1), parts.len()) else {
                    return unknown("a vector that is not two words");
                };
                let (low, high) = (self.word(frame, low, false)?, self.word(frame, high, false)?);
                let to = self.fresh(Class::Double);
                self.emit_alu("@pack64", &[to, low, high])?;
                to
            }
            Operand::Sink => self.double_constant(0),
            other => return unknown(format!("a 64-bit operand cannot be {other:?}")),
        })
    }

    /// A source predicate.
    pub(super) fn predicate(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<u32> {
        Ok(match operand {
            Operand::Register(r) if r.class == Class::Predicate => frame.register(*r),
            Operand::Not(r) if r.class == Class::Predicate => {
                let to = self.fresh(Class::Predicate);
                self.emit_alu("not.pred", &[to, frame.register(*r)])?;
                to
            }
            Operand::Integer(v) => self.predicate_constant(*v != 0),
            other => return unknown(format!("a predicate cannot be {other:?}")),
        })
    }

    /// A source of the class that a shape's letter names.
    pub(super) fn source(&mut self, frame: &Frame<'a>, operand: &Operand, class: u8, narrow: bool) -> Lowered<u32> {
        match class {
            b'p' => self.predicate(frame, operand),
            b'd' => self.double(frame, operand),
            _ => self.word(frame, operand, narrow),
        }
    }

    /// A destination register of a class; a fresh one for `_`.
    pub(super) fn destination(&mut self, frame: &Frame<'a>, operand: &Operand, class: Class) -> Lowered<u32> {
        match operand {
            Operand::Register(r) if r.class == class => Ok(frame.register(*r)),
            Operand::Sink => Ok(self.fresh(class)),
            other => unknown(format!("the destination should be a {class:?} register, not {other:?}")),
        }
    }

    /// The base and offset inside brackets, or an address given without brackets.
    pub(super) fn named(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<Named> {
        let (base, offset) = match operand {
            Operand::Memory(base, offset, _) => (&**base, *offset),
            other => (other, 0),
        };
        let fixed = |register: u32, wide: bool, space| Named::Address(Address { register, wide, offset: 0 }, space);
        Ok(match base {
            Operand::Register(Register { class: Class::Predicate | Class::Quad, .. }) => {
                return unknown("an address in a register that cannot hold one");
            }
            Operand::Register(r) => {
                let (mut register, wide) = (frame.register(*r), r.class == Class::Double);
                let Ok(small) = i32::try_from(offset) else {
                    if !wide {
                        return unknown("an offset that does not fit");
                    }
                    let (sum, by) = (self.fresh(Class::Double), self.double_constant(offset as u64));
                    self.emit_alu("add.s64", &[sum, register, by])?;
                    register = sum;
                    return Ok(fixed(register, wide, None));
                };
                Named::Address(Address { register, wide, offset: small }, None)
            }
            Operand::Symbol(symbol, more) => {
                let offset = offset.wrapping_add(*more);
                match self.home(frame, symbol) {
                    Some(Home::Kernel(at)) => Named::Parameter(at.wrapping_add(offset as u32)),
                    Some(Home::Local(at)) => {
                        let register = self.word_constant(at.wrapping_add(offset as u32));
                        fixed(register, false, Some(Space::Local))
                    }
                    Some(Home::Shared(at)) => {
                        let register = self.special_word(Special::Shared(at.wrapping_add(offset as u32)));
                        fixed(register, false, Some(Space::Shared))
                    }
                    None => {
                        let address = self.global(symbol)?.wrapping_add_signed(offset);
                        fixed(self.double_constant(address), true, Some(Space::Global))
                    }
                }
            }
            Operand::Integer(v) => fixed(self.double_constant(v.wrapping_add_signed(offset)), true, None),
            other => return unknown(format!("an address cannot be {other:?}")),
        })
    }

    /// An address in device memory, or a generic one, as a double register with the offset added.
    pub(super) fn pointer(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<u32> {
        match self.named(frame, operand)? {
            Named::Address(Address { register, wide: true, offset: 0 }, _) => Ok(register),
            Named::Address(Address { register, wide: true, offset }, _) => {
                let (to, by) = (self.fresh(Class::Double), self.double_constant(offset as i64 as u64));
                self.emit_alu("add.s64", &[to, register, by])?;
                Ok(to)
            }
            Named::Parameter(at) => Ok(self.double_constant(crate::memory::PARAMETER_WINDOW + u64::from(at))),
            Named::Address(..) => unknown("a device address in a 32-bit register"),
        }
    }

    /// A shared-memory address as a word register with the offset added. Generic addresses of shared memory and shared
    /// addresses have the same low half.
    pub(super) fn shared_address(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<u32> {
        let Named::Address(Address { mut register, wide, offset }, _) = self.named(frame, operand)? else {
            return unknown("a shared address in parameter space");
        };
        if wide {
            let word = self.fresh(Class::Word);
            self.emit_alu("@low32", &[word, register])?;
            register = word;
        }
        if offset != 0 {
            let (to, by) = (self.fresh(Class::Word), self.word_constant(offset as u32));
            self.emit_alu("add.s32", &[to, register, by])?;
            register = to;
        }
        Ok(register)
    }

    /// Emits a move between registers of a class.
    pub(super) fn copy(&mut self, class: Class, to: u32, from: u32) -> Lowered<()> {
        match class {
            Class::Predicate => self.emit_alu("mov.pred", &[to, from]),
            Class::Word => self.emit_alu("mov.b32", &[to, from]),
            Class::Double => self.emit_alu("mov.b64", &[to, from]),
            Class::Quad => {
                self.emit_alu("mov.b64", &[to, from])?;
                self.emit_alu("mov.b64", &[to + 1, from + 1])
            }
        }
    }
}
