//! Loads and stores.

use super::frame::Frame;
use super::opcode::Opcode;
use super::operand::Named;
use super::{Lower, Lowered, unknown};
use crate::exec::alu::Type;
use crate::exec::op::{Access, Address, Op, Space, VectorAccess};
use crate::ptx::{Class, Operand};

/// The space that a `ld`, `st` or `atom` names.
pub(super) fn space(opcode: &Opcode) -> Space {
    opcode
        .parts
        .iter()
        .find_map(|part| {
            Some(match *part {
                "global" | "const" => Space::Global,
                "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
                "local" => Space::Local,
                "param" | "param::entry" | "param::func" => Space::Parameter,
                _ => return None,
            })
        })
        .unwrap_or(Space::Generic)
}

/// Values of a vector instruction.
fn parts(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(items) => items,
        single => std::slice::from_ref(single),
    }
}

impl<'a> Lower<'a> {
    /// The place that brackets name, in a given space.
    pub(super) fn place(&mut self, frame: &Frame<'a>, operand: &Operand, space: Space) -> Lowered<(Address, Space)> {
        Ok(match self.named(frame, operand)? {
            // The parameters of an inlined function live in local memory.
            Named::Address(address, Some(Space::Local)) => (address, Space::Local),
            Named::Address(address, _) if space == Space::Parameter && !frame.entry => (address, Space::Local),
            Named::Address(address, _) => (address, space),
            Named::Parameter(at) => {
                (Address { register: self.word_constant(at), wide: false, offset: 0 }, Space::Parameter)
            }
        })
    }

    /// Type, element registers' class and whether an element takes two registers.
    fn element(opcode: &Opcode) -> Lowered<(u8, bool, Class, bool)> {
        if opcode.last() == "b128" {
            return Ok((8, false, Class::Double, true));
        }
        let Some(of) = opcode.of() else { return unknown(opcode.text) };
        let class = if of.bytes() == 8 { Class::Double } else { Class::Word };
        Ok((of.bytes() as u8, of.signed() && of != Type::S64, class, false))
    }

    pub(super) fn load(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [to, from, ..] = operands else { return unknown(opcode.text) };
        let (bytes, signed, class, quad) = Self::element(opcode)?;
        let (address, space) = self.place(frame, from, space(opcode))?;
        let mut registers = Vec::new();
        let mut after = Vec::new();
        let mut sign = 0;
        for part in parts(to) {
            if let Operand::Register(r) = part
                && quad
                && r.class == Class::Quad
            {
                registers.extend([Some(frame.register(*r)), Some(frame.register(*r) + 1)]);
                continue;
            }
            registers.push(match part {
                Operand::Sink => None,
                Operand::Register(r) if r.class == class && !quad => {
                    if signed && bytes < 4 {
                        sign = r.bits.max(16);
                    }
                    Some(frame.register(*r))
                }
                // A register wider than the value.
                Operand::Register(r) if class == Class::Word && r.class == Class::Double => {
                    let word = self.fresh(Class::Word);
                    after.push((frame.register(*r), word));
                    if signed {
                        sign = 32;
                    }
                    Some(word)
                }
                other => return unknown(format!("{} into {other:?}", opcode.text)),
            });
        }
        let mut access = Access { space, bytes, sign, address, register: 0 };
        match registers[..] {
            [Some(register)] => {
                access.register = register;
                self.emit(Op::Load(access));
            }
            _ => self.emit(Op::LoadVector(Box::new(VectorAccess { access, registers: registers.into() }))),
        }
        for (to, word) in after {
            self.emit_alu(if signed { "cvt.s64.s32" } else { "cvt.u64.u32" }, &[to, word])?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("async") {
            return self.store_async(frame, opcode, operands);
        }
        let [to, from, ..] = operands else { return unknown(opcode.text) };
        let (bytes, _, class, quad) = Self::element(opcode)?;
        let (address, space) = self.place(frame, to, space(opcode))?;
        if space == Space::Parameter {
            return unknown(opcode.text);
        }
        let mut registers = Vec::new();
        for part in parts(from) {
            match part {
                Operand::Register(r) if quad && r.class == Class::Quad => {
                    registers.extend([Some(frame.register(*r)), Some(frame.register(*r) + 1)]);
                }
                _ if quad => return unknown(opcode.text),
                part => registers.push(Some(self.source(
                    frame,
                    part,
                    if class == Class::Double { b'd' } else { b'w' },
                    false,
                )?)),
            }
        }
        let mut access = Access { space, bytes, sign: 0, address, register: 0 };
        match registers[..] {
            [Some(register)] => {
                access.register = register;
                self.emit(Op::Store(access));
            }
            _ => self.emit(Op::StoreVector(Box::new(VectorAccess { access, registers: registers.into() }))),
        }
        Ok(())
    }
}
