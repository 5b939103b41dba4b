//! Tensor memory and `tcgen05` instructions.

use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::op::Op;
use crate::exec::tmem::{BlockScales, Kind, Rows, Spread, TmemOp};
use crate::ptx::{Class, Operand};

impl<'a> Lower<'a> {
    pub(super) fn tcgen05(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        // Both CTAs of a pair allocate and release for themselves, so only products and copies differ.
        let pair = opcode.has("cta_group::2");
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
            ("cp", [to, from]) => {
                let Some(rows) = copied_rows(opcode) else { return unknown(opcode.text) };
                let (to, from) = (self.word(frame, bracketed(to), false)?, self.double(frame, from)?);
                TmemOp::Copy { rows, to, from, pair }
            }
            ("ld", [values, place]) => self.tcgen05_move(frame, opcode, values, place, None)?,
            ("ld", [values, place, Operand::Integer(split)]) => {
                self.tcgen05_move(frame, opcode, values, place, Some(*split as u32))?
            }
            ("st", [place, values]) => self.tcgen05_move(frame, opcode, values, place, None)?,
            ("st", [place, Operand::Integer(split), values]) => {
                self.tcgen05_move(frame, opcode, values, place, Some(*split as u32))?
            }
            _ => return unknown(opcode.text),
        };
        self.emit(Op::Tensor(Box::new(op)));
        Ok(())
    }

    /// `ld` and `st`.
    fn tcgen05_move(
        &mut self,
        frame: &Frame<'a>,
        opcode: &Opcode,
        values: &Operand,
        place: &Operand,
        split: Option<u32>,
    ) -> Lowered<TmemOp> {
        let known = |part: &str| ["ld", "st", "sync", "aligned", "b32"].contains(&part);
        let mut rest = opcode.parts.iter().copied().filter(|part| !known(part));
        let (spread, each) = match (rest.next(), split) {
            (Some("32x32b"), None) => (Spread::B32x32, 1),
            (Some("16x64b"), None) => (Spread::B16x64, 1),
            (Some("16x32bx2"), Some(split)) => (Spread::B16x32Twice(split), 1),
            (Some("16x128b"), None) => (Spread::B16x128, 2),
            (Some("16x256b"), None) => (Spread::B16x256, 4),
            _ => return unknown(opcode.text),
        };
        let count = rest.next().and_then(|part| part.strip_prefix('x')?.parse::<usize>().ok());
        let load = opcode.part(0) == "ld";
        let registers = self.registers(frame, values, load)?;
        // What is left over is a form (packing, reduction) that is not known here.
        if count.is_none_or(|count| count * each != registers.len()) || rest.next().is_some() {
            return unknown(opcode.text);
        }
        let address = self.shared_address(frame, place)?;
        let registers = registers.into();
        Ok(if load {
            TmemOp::Load { spread, registers, address }
        } else {
            TmemOp::Store { spread, registers, address }
        })
    }

    /// `[d], a, b, instruction, {disabled lanes}?, keep`, or `[d], a, b, instruction, [scales of a], [scales of b], keep`
    fn tcgen05_mma(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<TmemOp> {
        let kind = match opcode.parts.iter().find(|p| p.starts_with("kind::")) {
            Some(&"kind::f16") => Kind::F16,
            Some(&"kind::tf32") => Kind::Tf32,
            Some(&"kind::f8f6f4") => Kind::F8f6f4,
            Some(&"kind::i8") => Kind::I8,
            Some(&"kind::mxf8f6f4") => Kind::Mxf8f6f4,
            Some(&("kind::mxf4" | "kind::mxf4nvf4")) => Kind::Mxf4,
            _ => return unknown(opcode.text),
        };
        let scaled = matches!(kind, Kind::Mxf8f6f4 | Kind::Mxf4);
        let size = |p: &str| match p {
            "block16" | "scale_vec::4X" => Some(16),
            "block32" | "scale_vec::2X" | "scale_vec::1X" => Some(32),
            _ => None,
        };
        let known = |p: &&str| {
            p.starts_with("kind::")
                || p.starts_with("cta_group::")
                || p.starts_with("collector::")
                || **p == *"mma"
                || scaled && (**p == *"block_scale" || size(p).is_some())
        };
        let [d, a, b, instruction, rest @ ..] = operands else { return unknown(opcode.text) };
        if !opcode.parts.iter().all(known) || scaled != opcode.has("block_scale") {
            return unknown(opcode.text);
        }
        let mut scales = None;
        let keep = match rest {
            [of_a, of_b, keep] if scaled => {
                let block = match (opcode.parts.iter().find_map(|p| size(p)), opcode.has("kind::mxf4nvf4")) {
                    (Some(16), true) => 16,
                    (Some(32), _) | (None, false) => 32,
                    _ => return unknown(opcode.text),
                };
                let at = [self.word(frame, bracketed(of_a), false)?, self.word(frame, bracketed(of_b), false)?];
                scales = Some(BlockScales { at, block });
                keep
            }
            [keep] if !scaled => keep,
            [Operand::Vector(lanes), keep] if !scaled => {
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
            scales,
            pair: opcode.has("cta_group::2"),
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

/// The address inside brackets, which for tensor memory never has an offset.
fn bracketed(operand: &Operand) -> &Operand {
    match operand {
        Operand::Memory(base, 0, _) => base,
        other => other,
    }
}

/// The rows that a `tcgen05.cp` moves and where they go.
fn copied_rows(opcode: &Opcode) -> Option<Rows> {
    let rest: Vec<&str> =
        opcode.parts.iter().copied().filter(|p| *p != "cp" && !p.starts_with("cta_group::")).collect();
    let (count, bytes, quarters) = match rest[..] {
        ["128x256b"] => (128, 32, [0, 32, 64, 96]),
        ["128x128b"] => (128, 16, [0, 32, 64, 96]),
        ["64x128b", "warpx2::02_13"] => (64, 16, [0, 32, 0, 32]),
        ["64x128b", "warpx2::01_23"] => (64, 16, [0, 0, 32, 32]),
        ["32x128b", "warpx4"] => (32, 16, [0; 4]),
        _ => return None,
    };
    Some(Rows { count, bytes, quarters })
}
