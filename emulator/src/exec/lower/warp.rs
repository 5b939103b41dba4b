//! Operations of a warp as a whole.

use super::atomic::kind;
use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::op::{Op, Shuffle, ShuffleMode, VoteMode, WarpOp};
use crate::ptx::{Class, Operand};

impl<'a> Lower<'a> {
    pub(super) fn warp(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let op = match (opcode.base, operands) {
            ("bar" | "barrier", [members]) => WarpOp::Sync { members: self.word(frame, members, false)? },
            ("activemask", [to]) => WarpOp::ActiveMask { to: self.destination(frame, to, Class::Word)? },
            ("shfl", [to, from, lane, clamp, members]) => {
                self.shuffle(frame, opcode, [to, from, lane, clamp, members])?
            }
            ("vote", [to, from, members]) => {
                let (mode, class) = match opcode.part(1) {
                    "all" => (VoteMode::All, Class::Predicate),
                    "any" => (VoteMode::Any, Class::Predicate),
                    "uni" => (VoteMode::Uniform, Class::Predicate),
                    "ballot" => (VoteMode::Ballot, Class::Word),
                    _ => return unknown(opcode.text),
                };
                let (from, members) = (self.predicate(frame, from)?, self.word(frame, members, false)?);
                WarpOp::Vote { mode, to: self.destination(frame, to, class)?, from, members }
            }
            ("match", [to, from, members]) => {
                let wide = opcode.last() == "b64";
                let from = self.source(frame, from, if wide { b'd' } else { b'w' }, false)?;
                let members = self.word(frame, members, false)?;
                let (to, same) = self.pair(frame, to)?;
                WarpOp::Match { all: opcode.has("all"), wide, to, same, from, members }
            }
            ("redux", [to, from, members]) => {
                let Some(kind) = kind(opcode) else { return unknown(opcode.text) };
                if opcode.last() == "f32" {
                    return unknown(opcode.text);
                }
                let (from, members) = (self.word(frame, from, false)?, self.word(frame, members, false)?);
                let to = self.destination(frame, to, Class::Word)?;
                WarpOp::Reduce { kind, signed: opcode.last() == "s32", to, from, members }
            }
            ("elect", [to, members]) => {
                let members = self.word(frame, members, false)?;
                let (leader, elected) = self.pair(frame, to)?;
                WarpOp::Elect { leader, elected, members }
            }
            _ => return unknown(opcode.text),
        };
        self.emit(Op::Warp(Box::new(op)));
        Ok(())
    }

    /// `d|p` with either part optional.
    fn pair(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<(Option<u32>, Option<u32>)> {
        let (first, second) = match operand {
            Operand::Pair(first, second) => (&**first, &**second),
            single => (single, &Operand::Sink),
        };
        let first = match first {
            Operand::Sink => None,
            other => Some(self.destination(frame, other, Class::Word)?),
        };
        let second = match second {
            Operand::Sink => None,
            other => Some(self.destination(frame, other, Class::Predicate)?),
        };
        Ok((first, second))
    }

    fn shuffle(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: [&Operand; 5]) -> Lowered<WarpOp> {
        let mode = match opcode.part(1) {
            "up" => ShuffleMode::Up,
            "down" => ShuffleMode::Down,
            "bfly" => ShuffleMode::Butterfly,
            "idx" => ShuffleMode::Index,
            _ => return unknown(opcode.text),
        };
        let [to, from, lane, clamp, members] = operands;
        let from = self.word(frame, from, false)?;
        let (lane, clamp) = (self.word(frame, lane, false)?, self.word(frame, clamp, false)?);
        let members = self.word(frame, members, false)?;
        let (to, valid) = self.pair(frame, to)?;
        Ok(WarpOp::Shuffle(Shuffle { mode, to, valid, from, lane, clamp, members }))
    }
}
