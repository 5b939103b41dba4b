//! mbarriers, asynchronous copies and tensor maps.

use super::atomic::{kind, of};
use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::bulk::{BulkOp, MapField, TilePlace};
use crate::exec::op::Op;
use crate::ptx::{Class, Operand};

impl<'a> Lower<'a> {
    fn bulk_op(&mut self, op: BulkOp) -> Lowered<()> {
        self.emit(Op::Bulk(Box::new(op)));
        Ok(())
    }

    pub(super) fn mbarrier(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("noComplete") {
            return unknown(opcode.text);
        }
        match (opcode.part(0), operands) {
            ("init", [bar, count]) => {
                let (bar, count) = (self.shared_address(frame, bar)?, self.word(frame, count, false)?);
                self.bulk_op(BulkOp::Init { bar, count })
            }
            ("inval", [bar]) => {
                let bar = self.shared_address(frame, bar)?;
                self.bulk_op(BulkOp::Invalidate { bar })
            }
            ("expect_tx" | "complete_tx", [bar, bytes]) => {
                let (bar, bytes) = (self.shared_address(frame, bar)?, self.word(frame, bytes, false)?);
                self.bulk_op(if opcode.has("expect_tx") {
                    BulkOp::Expect { bar, bytes }
                } else {
                    BulkOp::Complete { bar, bytes }
                })
            }
            ("arrive" | "arrive_drop", operands) => {
                let (state, rest) = match operands {
                    [Operand::Memory(..), ..] => (None, operands),
                    [Operand::Sink, rest @ ..] => (None, rest),
                    [state, rest @ ..] => (Some(self.destination(frame, state, Class::Double)?), rest),
                    [] => return unknown(opcode.text),
                };
                let [bar, rest @ ..] = rest else { return unknown(opcode.text) };
                let bar = self.shared_address(frame, bar)?;
                let number = match rest {
                    [number] => Some(self.word(frame, number, false)?),
                    _ => None,
                };
                let (count, expect) = if opcode.has("expect_tx") { (None, number) } else { (number, None) };
                self.bulk_op(BulkOp::Arrive { bar, count, expect, drop: opcode.part(0) == "arrive_drop", state })
            }
            ("test_wait" | "try_wait", [to, bar, phase, ..]) => {
                let bar = self.shared_address(frame, bar)?;
                let (parity, state) = if opcode.has("parity") {
                    (Some(self.word(frame, phase, false)?), None)
                } else {
                    (None, Some(self.double(frame, phase)?))
                };
                let to = self.destination(frame, to, Class::Predicate)?;
                self.bulk_op(BulkOp::Wait { to, bar, parity, state, blocking: opcode.part(0) == "try_wait" })
            }
            _ => unknown(opcode.text),
        }
    }

    /// `cp.async...` and `cp.reduce.async...`
    pub(super) fn copy_async(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("prefetch") {
            self.emit(Op::Nop);
            return Ok(());
        }
        if opcode.has("bulk") {
            return self.copy_bulk(frame, opcode, operands);
        }
        match (opcode.part(1), operands) {
            ("commit_group", []) => self.bulk_op(BulkOp::CopyCommit),
            ("wait_group", [Operand::Integer(open)]) => self.bulk_op(BulkOp::CopyWait { open: Some(*open as u32) }),
            ("wait_all", []) => self.bulk_op(BulkOp::CopyWait { open: None }),
            ("mbarrier", [bar]) => {
                let bar = self.shared_address(frame, bar)?;
                self.bulk_op(BulkOp::CopyArrive { bar, counted: !opcode.has("noinc") })
            }
            ("ca" | "cg", [to, from, Operand::Integer(bytes), rest @ ..]) => {
                let bytes = *bytes as u32;
                if !matches!(bytes, 4 | 8 | 16) {
                    return unknown(opcode.text);
                }
                // The cache policy, if there is one, comes last.
                let rest = &rest[..rest.len() - usize::from(opcode.has("L2::cache_hint"))];
                let source_bytes = match rest {
                    [] => None,
                    [Operand::Register(r)] if r.class == Class::Predicate => {
                        let (none, all) = (self.word_constant(0), self.word_constant(bytes));
                        let register = self.fresh(Class::Word);
                        self.emit_alu("selp.b32", &[register, none, all, frame.register(*r)])?;
                        Some(register)
                    }
                    [size] => Some(self.word(frame, size, false)?),
                    _ => return unknown(opcode.text),
                };
                let (to, from) = (self.shared_address(frame, to)?, self.pointer(frame, from)?);
                self.bulk_op(BulkOp::Copy { to, from, bytes, source_bytes })
            }
            _ => unknown(opcode.text),
        }
    }

    fn tile_place(&mut self, frame: &Frame<'a>, operand: &Operand) -> Lowered<TilePlace> {
        let Operand::Memory(_, _, more) = operand else { return unknown("a tensor copy without coordinates") };
        let [Operand::Vector(coordinates)] = &more[..] else {
            return unknown("a tensor copy with more than coordinates");
        };
        let mut registers = Vec::new();
        for coordinate in coordinates {
            registers.push(self.word(frame, coordinate, false)?);
        }
        Ok(TilePlace { map: self.pointer(frame, operand)?, coordinates: registers.into() })
    }

    fn copy_bulk(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let reduces = opcode.base == "cp" && opcode.part(0) == "reduce";
        let to_shared = opcode.parts.iter().position(|p| p.starts_with("shared::"));
        let global = opcode.parts.iter().position(|p| *p == "global");
        let loads = to_shared < global || global.is_none();
        if ["im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4", "cp_mask"]
            .iter()
            .any(|form| opcode.has(form))
        {
            return unknown(opcode.text);
        }
        let multicast = opcode.has("multicast::cluster");
        match operands {
            [] if opcode.has("commit_group") => self.bulk_op(BulkOp::BulkCommit),
            [Operand::Integer(open)] if opcode.has("wait_group") => {
                self.bulk_op(BulkOp::BulkWait { open: *open as u32 })
            }
            [to, from, bar, rest @ ..] if opcode.has("tensor") && loads && !reduces => {
                let mask = match rest {
                    [mask, ..] if multicast => Some(self.word(frame, mask, false)?),
                    _ => None,
                };
                let (to, bar) = (self.shared_address(frame, to)?, self.shared_address(frame, bar)?);
                let place = self.tile_place(frame, from)?;
                self.bulk_op(BulkOp::TileLoad { to, place, bar, mask, pair: opcode.has("cta_group::2") })
            }
            [to, from, ..] if opcode.has("tensor") => {
                let reduction = if reduces { kind(opcode) } else { None };
                if reduces && reduction.is_none() {
                    return unknown(opcode.text);
                }
                let place = self.tile_place(frame, to)?;
                let from = self.shared_address(frame, from)?;
                self.bulk_op(BulkOp::TileStore { place, from, reduction })
            }
            [to, from, bytes, bar, rest @ ..] if loads && !reduces && opcode.has("mbarrier::complete_tx::bytes") => {
                let (to, bar) = (self.shared_address(frame, to)?, self.shared_address(frame, bar)?);
                let bytes = self.word(frame, bytes, false)?;
                if global.is_none() {
                    let from = self.shared_address(frame, from)?;
                    return self.bulk_op(BulkOp::Send { to, from, bytes, bar });
                }
                let mask = match rest {
                    [mask, ..] if multicast => Some(self.word(frame, mask, false)?),
                    _ => None,
                };
                let from = self.pointer(frame, from)?;
                self.bulk_op(BulkOp::Load { to, from, bytes, bar, mask })
            }
            [to, from, bytes, ..] if !loads => {
                let reduction = match (reduces, kind(opcode), of(opcode.last())) {
                    (false, ..) => None,
                    (true, Some(kind), Some(of)) => Some((kind, of)),
                    _ => return unknown(opcode.text),
                };
                let (to, from) = (self.pointer(frame, to)?, self.shared_address(frame, from)?);
                let bytes = self.word(frame, bytes, false)?;
                self.bulk_op(BulkOp::Store { to, from, bytes, reduction })
            }
            _ => unknown(opcode.text),
        }
    }

    /// `clusterlaunchcontrol`: an answer holds the index of a CTA in three words, and in the fourth whether there is one.
    pub(super) fn cluster_launch(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        match (opcode.part(0), opcode.part(1), operands) {
            ("try_cancel", "async", [to, bar]) => {
                // Which cluster is taken must not depend on the host's threads.
                self.code.ordered = true;
                let (to, bar) = (self.shared_address(frame, to)?, self.shared_address(frame, bar)?);
                self.bulk_op(BulkOp::Cancel { to, bar, everywhere: opcode.has("multicast::cluster::all") })
            }
            ("query_cancel", "is_canceled", [to, Operand::Register(answer)]) if answer.class == Class::Quad => {
                let to = self.destination(frame, to, Class::Predicate)?;
                let word = self.fresh(Class::Word);
                self.emit_alu("@high32", &[word, frame.register(*answer) + 1])?;
                self.emit_alu("@nonzero", &[to, word])
            }
            ("query_cancel", first, [to, Operand::Register(answer)])
                if first.starts_with("get_first_ctaid") && answer.class == Class::Quad =>
            {
                let wanted = match (first, to) {
                    ("get_first_ctaid", Operand::Vector(parts)) if parts.len() == 4 => {
                        parts.iter().take(3).enumerate().collect()
                    }
                    ("get_first_ctaid::x", to) => vec![(0, to)],
                    ("get_first_ctaid::y", to) => vec![(1, to)],
                    ("get_first_ctaid::z", to) => vec![(2, to)],
                    _ => return unknown(opcode.text),
                };
                for (axis, to) in wanted {
                    let to = self.destination(frame, to, Class::Word)?;
                    let from = frame.register(*answer) + axis as u32 / 2;
                    self.emit_alu(if axis == 1 { "@high32" } else { "@low32" }, &[to, from])?;
                }
                Ok(())
            }
            _ => unknown(opcode.text),
        }
    }

    pub(super) fn store_async(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [to, value, bar] = operands else { return unknown(opcode.text) };
        let parts = match value {
            Operand::Vector(parts) => &parts[..],
            single => std::slice::from_ref(single),
        };
        let mut values = Vec::new();
        for part in parts {
            match opcode.of().map(|of| of.bytes()) {
                Some(4) => values.push(self.word(frame, part, false)?),
                Some(8) => {
                    let from = self.double(frame, part)?;
                    for half in ["@low32", "@high32"] {
                        let word = self.fresh(Class::Word);
                        self.emit_alu(half, &[word, from])?;
                        values.push(word);
                    }
                }
                _ => return unknown(opcode.text),
            }
        }
        let (to, bar) = (self.shared_address(frame, to)?, self.shared_address(frame, bar)?);
        self.bulk_op(BulkOp::StoreAsync { to, values: values.into(), bar })
    }

    /// `mapa` and `getctarank`.
    pub(super) fn rank(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let wide = opcode.last() == "u64";
        let (class, letter) = if wide { (Class::Double, b'd') } else { (Class::Word, b'w') };
        match (opcode.base, operands) {
            ("mapa", [to, from, rank]) => {
                let (from, rank) = (self.source(frame, from, letter, false)?, self.word(frame, rank, false)?);
                let to = self.destination(frame, to, class)?;
                self.bulk_op(BulkOp::MapToRank { to, from, rank, wide })
            }
            ("getctarank", [to, from]) => {
                let from = self.source(frame, from, letter, false)?;
                let to = self.destination(frame, to, Class::Word)?;
                self.bulk_op(BulkOp::RankOf { to, from, wide })
            }
            _ => unknown(opcode.text),
        }
    }

    pub(super) fn tensormap(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("cp_fenceproxy") {
            let [to, from, Operand::Integer(128)] = operands else { return unknown(opcode.text) };
            let (to, from) = (self.pointer(frame, to)?, self.shared_address(frame, from)?);
            return self.bulk_op(BulkOp::CopyMap { to, from });
        }
        let (map, ordinal, value) = match operands {
            [map, value] => (map, 0, value),
            [map, Operand::Integer(ordinal), value] => (map, *ordinal as u8, value),
            _ => return unknown(opcode.text),
        };
        let field = match opcode.part(2) {
            "global_address" => MapField::Address,
            "rank" => MapField::Rank,
            "box_dim" => MapField::BoxDim(ordinal),
            "global_dim" => MapField::Dim(ordinal),
            "global_stride" => MapField::Stride(ordinal),
            "element_stride" => MapField::ElementStride(ordinal),
            "elemtype" => MapField::Element,
            "interleave_layout" => MapField::Interleave,
            "swizzle_mode" => MapField::Swizzle,
            "fill_mode" => MapField::Fill,
            _ => return unknown(opcode.text),
        };
        let value = self.double(frame, value)?;
        let map = if opcode.parts.iter().any(|p| p.starts_with("shared")) {
            let address = self.shared_address(frame, map)?;
            let (wide, window) = (self.fresh(Class::Double), self.double_constant(crate::memory::SHARED_WINDOW));
            self.emit_alu("cvt.u64.u32", &[wide, address])?;
            self.emit_alu("add.s64", &[wide, wide, window])?;
            wide
        } else {
            self.pointer(frame, map)?
        };
        self.bulk_op(BulkOp::Replace { map, field, value })
    }
}
