//! Tensor memory and `tcgen05` instructions.

use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::op::Op;
use crate::exec::tmem::{Kind, Spread, TmemOp};
use crate::ptx::{Class, Operand};

impl<'a> Lower<'a> {
    pub(super) fn tcgen05(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("cta_group::2") {
            return unknown(opcode.text);
        }
        let op = match (opcode.part(0), operands) {
            ("alloc", [to, columns]) => {
                TmemOp::Allocate { to: self.shared_address(frame, to)?, columns: self.word(frame, columns, false)? }
            }
            ("dealloc", [address, columns]) => TmemOp::Release {
                address: self.word(frame, address, false)?,
                columns: self.word(frame, columns, false)?,
            },
            // Everything before is done when these are reached.
            ("relinquish_alloc_permit" | "wait::ld" | "wait::st", _) => {
                self.emit(Op::Nop);
                return Ok(());
            }
            (fence, _) if fence.starts_with("fence::") => {
                self.emit(Op::Nop);
                return Ok(());
            }
            ("mma", operands) => self.tcgen05_mma(frame, opcode, operands)?,
            ("commit", [bar, rest @ ..]) => {
                let mask = match rest {
                    [mask] => Some(self.word(frame, mask, false)?),
                    _ => None,
                };
                TmemOp::Commit { bar: self.shared_address(frame, bar)?, mask }
            }
            ("ld" | "st", [first, second]) => {
                if opcode.has("pack::16b") || opcode.has("unpack::16b") || opcode.has("red") {
                    return unknown(opcode.text);
                }
                let (spread, each) = match opcode.parts.iter().find(|p| p.ends_with('b') && p.contains('x')) {
                    Some(&"32x32b") => (Spread::B32x32, 1),
                    Some(&"16x128b") => (Spread::B16x128, 2),
                    Some(&"16x256b") => (Spread::B16x256, 4),
                    _ => return unknown(opcode.text),
                };
                let load = opcode.part(0) == "ld";
                let (place, values) = if load { (second, first) } else { (first, second) };
                let registers = self.registers(frame, values, load)?;
                let count = opcode.parts.iter().find_map(|p| p.strip_prefix('x')?.parse::<usize>().ok());
                if count.is_none_or(|count| count * each != registers.len()) {
                    return unknown(opcode.text);
                }
                let address = self.shared_address(frame, place)?;
                if load {
                    TmemOp::Load { spread, registers: registers.into(), address }
                } else {
                    TmemOp::Store { spread, registers: registers.into(), address }
                }
            }
            _ => return unknown(opcode.text),
        };
        self.emit(Op::Tensor(Box::new(op)));
        Ok(())
    }

    /// `[d], a, b, instruction, {disabled lanes}?, keep`
    fn tcgen05_mma(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<TmemOp> {
        let kind = match opcode.parts.iter().find(|p| p.starts_with("kind::")) {
            Some(&"kind::f16") => Kind::F16,
            Some(&"kind::tf32") => Kind::Tf32,
            Some(&"kind::f8f6f4") => Kind::F8f6f4,
            Some(&"kind::i8") => Kind::I8,
            _ => return unknown(opcode.text),
        };
        let known = |p: &&str| {
            p.starts_with("kind::") || p.starts_with("cta_group::") || p.starts_with("collector::") || **p == *"mma"
        };
        let [d, a, b, instruction, rest @ ..] = operands else { return unknown(opcode.text) };
        if !opcode.parts.iter().all(known) {
            return unknown(opcode.text);
        }
        let keep = match rest {
            [keep] => keep,
            [Operand::Vector(lanes), keep] => {
                // Lanes of the accumulator that must stay: none of them, or the form is not known here.
                for lane in lanes {
                    self.zero_only(frame, lane)?;
                }
                keep
            }
            _ => return unknown(opcode.text),
        };
        let a_in_tensor_memory = matches!(a, Operand::Memory(..));
        let a = if a_in_tensor_memory { self.shared_address(frame, a)? } else { self.double(frame, a)? };
        Ok(TmemOp::Multiply {
            kind,
            d: self.shared_address(frame, d)?,
            a,
            a_in_tensor_memory,
            b: self.double(frame, b)?,
            instruction: self.word(frame, instruction, false)?,
            keep: self.predicate(frame, keep)?,
        })
    }

    /// Emits a check that a word is zero, for operands whose other values are not emulated.
    fn zero_only(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<()> {
        let word = self.word(frame, operand, false)?;
        let nonzero = self.fresh(Class::Predicate);
        self.emit_alu("@nonzero", &[nonzero, word])?;
        let guard = self.guard;
        if guard.0 != crate::exec::op::UNGUARDED {
            let (both, own) = (self.fresh(Class::Predicate), self.fresh(Class::Predicate));
            self.guard = (crate::exec::op::UNGUARDED, false);
            self.emit_alu(if guard.1 { "not.pred" } else { "mov.pred" }, &[own, guard.0])?;
            self.emit_alu("and.pred", &[both, nonzero, own])?;
            self.guard = (both, false);
        } else {
            self.guard = (nonzero, false);
        }
        self.emit(Op::Unsupported("tcgen05.mma with disabled output lanes".into()));
        self.guard = guard;
        Ok(())
    }
}
