//! Matrix instructions.

use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::matrix::{Accumulator, Left, MatrixOp, Mma, Wgmma};
use crate::exec::op::Op;
use crate::ptx::{Class, Operand};
use crate::tensor::operand::Element;

pub(super) fn accumulator(name: &str) -> Option<Accumulator> {
    Some(match name {
        "f32" => Accumulator::F32,
        "f16" => Accumulator::F16,
        "s32" => Accumulator::S32,
        _ => return None,
    })
}

/// Numbers of a shape such as `m64n128k16`.
pub(super) fn shape(opcode: &Opcode) -> Option<[usize; 3]> {
    let text = opcode.parts.iter().find(|p| p.starts_with('m') && p[1..].starts_with(|c: char| c.is_ascii_digit()))?;
    let (m, rest) = text[1..].split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

impl<'a> Lower<'a> {
    pub(super) fn matrix_op(&mut self, op: MatrixOp) -> Lowered<()> {
        self.emit(Op::Matrix(Box::new(op)));
        Ok(())
    }

    /// Word registers of a vector operand.
    pub(super) fn registers(&mut self, frame: &Frame<'a>, operand: &Operand, written: bool) -> Lowered<Vec<u32>> {
        let parts = match operand {
            Operand::Vector(parts) => &parts[..],
            single => std::slice::from_ref(single),
        };
        let mut registers = Vec::new();
        for part in parts {
            registers.push(if written {
                self.destination(frame, part, Class::Word)?
            } else {
                self.word(frame, part, false)?
            });
        }
        Ok(registers)
    }

    pub(super) fn wgmma(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        match (opcode.part(0), operands) {
            ("fence", _) => {
                self.emit(Op::Nop);
                Ok(())
            }
            ("commit_group", _) => self.matrix_op(MatrixOp::WgmmaCommit),
            ("wait_group", [Operand::Integer(open)]) => self.matrix_op(MatrixOp::WgmmaWait { open: *open as u32 }),
            ("mma_async", [d, a, b, keep, rest @ ..]) if !opcode.has("sp") => {
                let count = opcode.parts.len() - usize::from(opcode.has("satfinite"));
                let names = &opcode.parts[count.saturating_sub(3)..count];
                let (Some([64, n, k]), [d_type, a_type, b_type]) = (shape(opcode), names) else {
                    return unknown(opcode.text);
                };
                let (Some(accumulator), Some(left), Some(right)) =
                    (accumulator(d_type), Element::parse(a_type), Element::parse(b_type))
                else {
                    return unknown(opcode.text);
                };
                if k * left.bytes() != 32 || left.bytes() != right.bytes() || n % 8 != 0 || !(8..=256).contains(&n) {
                    return unknown(opcode.text);
                }
                let immediate = |i: usize| match rest.get(i) {
                    Some(Operand::Integer(v)) => Some(*v as i64),
                    _ => None,
                };
                let negate = [immediate(0) == Some(-1), immediate(1) == Some(-1)];
                let d = self.registers(frame, d, true)?;
                let a = match a {
                    Operand::Vector(_) => match self.registers(frame, a, false)?[..] {
                        [w, x, y, z] => Left::Registers([w, x, y, z]),
                        _ => return unknown(opcode.text),
                    },
                    descriptor => Left::Shared(self.double(frame, descriptor)?),
                };
                // With A in registers only B can be transposed.
                let transposed = match a {
                    Left::Shared(_) => [immediate(2) == Some(1), immediate(3) == Some(1)],
                    Left::Registers(_) => [false, immediate(2) == Some(1)],
                };
                let wanted = if accumulator == Accumulator::F16 { n / 4 } else { n / 2 };
                if d.len() != wanted {
                    return unknown(opcode.text);
                }
                let (b, keep) = (self.double(frame, b)?, self.predicate(frame, keep)?);
                let saturate = opcode.has("satfinite");
                let elements = [left, right];
                self.matrix_op(MatrixOp::Wgmma(Wgmma {
                    n,
                    elements,
                    accumulator,
                    d: d.into(),
                    a,
                    b,
                    keep,
                    negate,
                    transposed,
                    saturate,
                }))
            }
            _ => unknown(opcode.text),
        }
    }

    pub(super) fn mma(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [d, a, b, c] = operands else { return unknown(opcode.text) };
        let known = ["sync", "aligned", "row", "col", "satfinite"];
        let rest: Vec<&str> = opcode.parts.iter().copied().filter(|p| !known.contains(p)).collect();
        let (Some([16, 8, k]), [_, d_type, a_type, b_type, _]) = (shape(opcode), &rest[..]) else {
            return unknown(opcode.text);
        };
        let (Some(accumulator), Some(left), Some(right)) =
            (accumulator(d_type), Element::parse(a_type), Element::parse(b_type))
        else {
            return unknown(opcode.text);
        };
        let (d, c) = (self.registers(frame, d, true)?, self.registers(frame, c, false)?);
        let (a, b) = (self.registers(frame, a, false)?, self.registers(frame, b, false)?);
        let words = k * left.bytes() / 4;
        let outputs = if accumulator == Accumulator::F16 { 2 } else { 4 };
        if left.bytes() != right.bytes()
            || a.len() * 2 != words
            || b.len() * 4 != words
            || d.len() != outputs
            || c.len() != outputs
        {
            return unknown(opcode.text);
        }
        let saturate = opcode.has("satfinite");
        let narrow = matches!(left, Element::E4M3 | Element::E5M2);
        let as_halves = narrow && self.module.target.starts_with("sm_90");
        self.matrix_op(MatrixOp::Mma(Mma {
            as_halves,
            k,
            elements: [left, right],
            accumulator,
            d: d.into(),
            a: a.into(),
            b: b.into(),
            c: c.into(),
            saturate,
        }))
    }

    /// `ldmatrix`, `stmatrix`, `movmatrix`.
    pub(super) fn move_matrix(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [first, second] = operands else { return unknown(opcode.text) };
        // The order of the modifiers differs between compilers.
        let known = ["sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"];
        if !opcode.has("m8n8") || !opcode.has("b16") || !opcode.parts.iter().all(|part| known.contains(part)) {
            return unknown(opcode.text);
        }
        let transposed = opcode.has("trans");
        match opcode.base {
            "ldmatrix" => {
                let registers = self.registers(frame, first, true)?.into();
                let address = self.shared_address(frame, second)?;
                self.matrix_op(MatrixOp::Load { registers, address, transposed })
            }
            "stmatrix" => {
                let registers = self.registers(frame, second, false)?.into();
                let address = self.shared_address(frame, first)?;
                self.matrix_op(MatrixOp::Store { registers, address, transposed })
            }
            _ => {
                let (from, to) = (self.word(frame, second, false)?, self.destination(frame, first, Class::Word)?);
                self.matrix_op(MatrixOp::Transpose { to, from })
            }
        }
    }
}
