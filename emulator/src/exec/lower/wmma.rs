//! `wmma.load`, `wmma.store` and `wmma.mma`: a fragment's elements are loaded and stored one by one, and multiplied as a whole.

use super::frame::Frame;
use super::matrix::{accumulator, shape};
use super::memory::space;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::code::Special;
use crate::exec::matrix::{Accumulator, MatrixOp, Wmma};
use crate::exec::op::{Access, Address, Op};
use crate::ptx::{Class, Operand};
use crate::tensor::fragment::{Fragment, Part};
use crate::tensor::operand::Element;

/// Bytes of an element of a fragment, by its PTX name.
fn bytes(name: &str) -> Option<u8> {
    Some(match name {
        "f16" | "bf16" => 2,
        "tf32" | "f32" | "s32" => 4,
        "s8" | "u8" => 1,
        _ => return None,
    })
}

/// Which matrix a `wmma.load` or `wmma.store` moves.
fn part(name: &str) -> Option<Part> {
    Some(match name {
        "a" => Part::Left,
        "b" => Part::Right,
        "c" | "d" => Part::Sum,
        _ => return None,
    })
}

impl<'a> Lower<'a> {
    pub(super) fn wmma(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        match (opcode.part(0), operands) {
            ("load", [registers, address, stride @ ..]) => self.wmma_move(frame, opcode, registers, address, stride),
            ("store", [address, registers, stride @ ..]) => self.wmma_move(frame, opcode, registers, address, stride),
            ("mma", [d, a, b, c]) => self.wmma_multiply(frame, opcode, [d, a, b, c]),
            _ => unknown(opcode.text),
        }
    }

    fn wmma_move(
        &mut self,
        frame: &Frame<'a>,
        opcode: &Opcode,
        registers: &Operand,
        address: &Operand,
        stride: &[Operand],
    ) -> Lowered<()> {
        let (Some(part), Some(shape), Some(bytes)) = (part(opcode.part(1)), shape(opcode), bytes(opcode.last())) else {
            return unknown(opcode.text);
        };
        let loads = opcode.part(0) == "load";
        let fragment = Fragment { shape, part };
        let registers = self.registers(frame, registers, loads)?;
        let each = 4 / usize::from(bytes);
        let slots = fragment.elements();
        // Some forms hold every element more than once.
        if !fragment.known()
            || !slots.is_multiple_of(each)
            || registers.len() * each < slots
            || registers.len() * each % slots != 0
        {
            return unknown(opcode.text);
        }
        let (rows, columns) = fragment.extents();
        let by_rows = opcode.has("row");
        let leading = match stride {
            [] => self.word_constant(if by_rows { columns } else { rows } as u32),
            [stride, ..] => self.word(frame, stride, false)?,
        };
        let (place, space) = self.place(frame, address, space(opcode))?;
        let base = self.lane_offset(fragment, by_rows, leading, bytes)?;
        let mut values = Vec::new();
        for slot in 0..slots {
            let (row, column) = fragment.slot(slot);
            let (outer, inner) = if by_rows { (row, column) } else { (column, row) };
            let offset = self.fresh(Class::Word);
            let (scale, more) = (
                self.word_constant(outer as u32 * u32::from(bytes)),
                self.word_constant(inner as u32 * u32::from(bytes)),
            );
            self.emit_alu("mad.lo.s32", &[offset, leading, scale, base])?;
            self.emit_alu("add.s32", &[offset, offset, more])?;
            let address = self.moved(place, offset)?;
            let register = self.fresh(Class::Word);
            let access = Access { space, bytes, sign: 0, address, register };
            if loads {
                self.emit(Op::Load(access));
            } else {
                let by = self.word_constant(8 * u32::from(bytes) * (slot % each) as u32);
                self.emit_alu("shr.u32", &[register, registers[slot / each], by])?;
                self.emit(Op::Store(access));
            }
            values.push(register);
        }
        if loads {
            for (index, &to) in registers.iter().enumerate() {
                let first = index * each % slots;
                self.joined(to, &values[first..first + each], bytes)?;
            }
        }
        Ok(())
    }

    /// Bytes from the matrix's first element to the one of this lane in slot 0.
    fn lane_offset(&mut self, fragment: Fragment, by_rows: bool, leading: u32, bytes: u8) -> Lowered<u32> {
        let lane = self.special_word(Special::Lane);
        let (shift, step) = fragment.lanes();
        let (row, column) = (self.fresh(Class::Word), self.fresh(Class::Word));
        let (by, mask) = (self.word_constant(shift), self.word_constant((1 << shift) - 1));
        self.emit_alu("shr.u32", &[row, lane, by])?;
        self.emit_alu("and.b32", &[column, lane, mask])?;
        let step = self.word_constant(step);
        self.emit_alu("shl.b32", &[column, column, step])?;
        let (outer, inner) = if by_rows { (row, column) } else { (column, row) };
        let (offset, log) = (self.fresh(Class::Word), self.word_constant(bytes.trailing_zeros()));
        self.emit_alu("mad.lo.s32", &[offset, outer, leading, inner])?;
        self.emit_alu("shl.b32", &[offset, offset, log])?;
        Ok(offset)
    }

    /// An address that lies `offset` (a word, in bytes) further.
    fn moved(&mut self, from: Address, offset: u32) -> Lowered<Address> {
        let register = if from.wide {
            let (to, wide) = (self.fresh(Class::Double), self.fresh(Class::Double));
            self.emit_alu("cvt.u64.u32", &[wide, offset])?;
            self.emit_alu("add.s64", &[to, from.register, wide])?;
            to
        } else {
            let to = self.fresh(Class::Word);
            self.emit_alu("add.s32", &[to, from.register, offset])?;
            to
        };
        Ok(Address { register, ..from })
    }

    /// Puts elements side by side into one register.
    fn joined(&mut self, to: u32, values: &[u32], bytes: u8) -> Lowered<()> {
        match values {
            [one] => self.copy(Class::Word, to, *one),
            [low, high] => self.emit_alu("@pack", &[to, *low, *high]),
            _ => {
                let mut sum = values[0];
                for (index, &value) in values.iter().enumerate().skip(1) {
                    let (moved, next) = (self.fresh(Class::Word), self.fresh(Class::Word));
                    let by = self.word_constant(8 * u32::from(bytes) * index as u32);
                    self.emit_alu("shl.b32", &[moved, value, by])?;
                    self.emit_alu("or.b32", &[next, sum, moved])?;
                    sum = next;
                }
                self.copy(Class::Word, to, sum)
            }
        }
    }

    fn wmma_multiply(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: [&Operand; 4]) -> Lowered<()> {
        let known = ["mma", "sync", "aligned", "row", "col", "satfinite"];
        let types: Vec<&str> = opcode.parts.iter().copied().filter(|p| !known.contains(p)).skip(1).collect();
        let (result, elements, start) = match types[..] {
            [result, start] => (result, ["f16"; 2], start),
            [result, a, b, start] => (result, [a, b], start),
            _ => return unknown(opcode.text),
        };
        let [d, a, b, c] = operands;
        let (Some(shape), Some(result), Some(start), Some(left), Some(right)) = (
            shape(opcode),
            accumulator(result),
            accumulator(start),
            Element::parse(elements[0]),
            Element::parse(elements[1]),
        ) else {
            return unknown(opcode.text);
        };
        let c = self.registers(frame, c, false)?;
        let (a, b) = (self.registers(frame, a, false)?, self.registers(frame, b, false)?);
        let d = self.registers(frame, d, true)?;
        let fits = |part: Part, bytes: usize, registers: &[u32]| {
            let fragment = Fragment { shape, part };
            let slots = registers.len() * (4 / bytes);
            fragment.known() && slots >= fragment.elements() && (part != Part::Sum || slots == fragment.elements())
        };
        let width = |of: Accumulator| if of == Accumulator::F16 { 2 } else { 4 };
        let integer = |of: Accumulator| of == Accumulator::S32;
        if !fits(Part::Left, left.bytes(), &a)
            || !fits(Part::Right, right.bytes(), &b)
            || !fits(Part::Sum, width(start), &c)
            || !fits(Part::Sum, width(result), &d)
            || left.bytes() != right.bytes()
            || (opcode.has("satfinite") && !integer(result))
            || (width(result) == 2 && left != Element::F16)
            || [integer(start), integer(result), left.integer(), right.integer()].windows(2).any(|two| two[0] != two[1])
        {
            return unknown(opcode.text);
        }
        let saturate = opcode.has("satfinite");
        let elements = [left, right];
        let (d, a, b, c) = (d.into(), a.into(), b.into(), c.into());
        self.matrix_op(MatrixOp::Wmma(Wmma { shape, elements, start, result, d, a, b, c, saturate }))
    }
}
