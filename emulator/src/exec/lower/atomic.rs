//! Atomics and reductions on memory.

use super::frame::Frame;
use super::memory::space;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::op::{Atomic, AtomicKind, AtomicType, Op, Space};
use crate::ptx::{Class, Operand};

/// The operation an opcode names.
pub(super) fn kind(opcode: &Opcode) -> Option<AtomicKind> {
    opcode.parts.iter().find_map(|part| {
        Some(match *part {
            "add" => AtomicKind::Add,
            "min" => AtomicKind::Min,
            "max" => AtomicKind::Max,
            "and" => AtomicKind::And,
            "or" => AtomicKind::Or,
            "xor" => AtomicKind::Xor,
            "exch" => AtomicKind::Exchange,
            "cas" => AtomicKind::CompareExchange,
            "inc" => AtomicKind::Increment,
            "dec" => AtomicKind::Decrement,
            _ => return None,
        })
    })
}

/// The type an atomic works on.
pub(super) fn of(name: &str) -> Option<AtomicType> {
    Some(match name {
        "u32" | "b32" => AtomicType::U32,
        "s32" => AtomicType::S32,
        "u64" | "b64" => AtomicType::U64,
        "s64" => AtomicType::S64,
        "f32" => AtomicType::F32,
        "f64" => AtomicType::F64,
        "f16" => AtomicType::F16,
        "bf16" => AtomicType::Bf16,
        "f16x2" => AtomicType::F16x2,
        "bf16x2" => AtomicType::Bf16x2,
        "b16" => AtomicType::B16,
        _ => return None,
    })
}

impl AtomicType {
    /// Size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            AtomicType::F16 | AtomicType::Bf16 | AtomicType::B16 => 2,
            AtomicType::U64 | AtomicType::S64 | AtomicType::F64 => 8,
            _ => 4,
        }
    }

    /// Whether the order of additions changes their sum.
    fn ordered(self) -> bool {
        matches!(
            self,
            AtomicType::F32
                | AtomicType::F64
                | AtomicType::F16
                | AtomicType::Bf16
                | AtomicType::F16x2
                | AtomicType::Bf16x2
        )
    }
}

impl<'a> Lower<'a> {
    pub(super) fn atomic(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("async") {
            return unknown(opcode.text);
        }
        let (Some(kind), Some(of)) = (kind(opcode), of(opcode.last())) else { return unknown(opcode.text) };
        let returns = opcode.base == "atom";
        let (to, rest) = match operands {
            [to, rest @ ..] if returns => (Some(to), rest),
            rest => (None, rest),
        };
        let [place, value, rest @ ..] = rest else { return unknown(opcode.text) };
        let wide = of.bytes() == 8;
        let (class, letter) = if wide { (Class::Double, b'd') } else { (Class::Word, b'w') };
        let (address, space) = self.place(frame, place, space(opcode))?;
        let mut old = Vec::new();
        match to {
            Some(Operand::Vector(parts)) => {
                for part in parts {
                    old.push(Some(self.destination(frame, part, class)?));
                }
            }
            Some(Operand::Sink) | None => {}
            Some(single) => old.push(Some(self.destination(frame, single, class)?)),
        }
        let mut values = Vec::new();
        match value {
            Operand::Vector(parts) => {
                for part in parts {
                    values.push(self.source(frame, part, letter, false)?);
                }
            }
            single => values.push(self.source(frame, single, letter, of.bytes() == 2)?),
        }
        let new = match (kind, rest) {
            (AtomicKind::CompareExchange, [new, ..]) => self.source(frame, new, letter, of.bytes() == 2)?,
            (AtomicKind::CompareExchange, []) => return unknown(opcode.text),
            _ => 0,
        };
        if matches!(space, Space::Local | Space::Parameter) {
            return unknown(opcode.text);
        }
        // Whether a generic address is shared is not known here, so it counts as device memory.
        self.code.ordered |= space != Space::Shared && (!old.is_empty() || of.ordered());
        self.emit(Op::Atomic(Box::new(Atomic {
            space,
            kind,
            of,
            address,
            old: old.into(),
            operands: values.into(),
            new,
        })));
        Ok(())
    }
}
