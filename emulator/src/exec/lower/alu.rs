//! Register instructions.

use super::frame::Frame;
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::alu::{Convert, Form, Rounding, Type, lookup};
use crate::exec::op::{Op, Space};
use crate::memory::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};
use crate::ptx::{Class, Operand};

fn class(letter: u8) -> Class {
    match letter {
        b'p' => Class::Predicate,
        b'd' => Class::Double,
        _ => Class::Word,
    }
}

impl<'a> Lower<'a> {
    pub(super) fn alu(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        match opcode.base {
            "mov" => self.mov(frame, opcode, operands),
            "cvta" => self.cvta(frame, opcode, operands),
            "isspacep" => self.isspacep(frame, opcode, operands),
            "setp" => self.setp(frame, opcode, operands),
            "set" => self.set(frame, opcode, operands),
            "cvt" => self.cvt(frame, opcode, operands),
            "add" | "sub" | "mad" if opcode.has("cc") => self.carry(frame, opcode, operands),
            "addc" | "subc" | "madc" => self.carry(frame, opcode, operands),
            _ => self.plain(frame, opcode, operands),
        }
    }

    /// An instruction of the table.
    fn plain(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let of = opcode.last();
        let (flush, mut saturate) = (opcode.has("ftz"), opcode.has("sat"));
        let mut spelling = opcode.without(&["ftz", "sat"]);
        if matches!(of, "f32" | "f64") && matches!(opcode.base, "add" | "sub" | "mul") {
            spelling = opcode.without(&["ftz", "sat", "rn"]);
        }
        if matches!(opcode.base, "min" | "max") && operands.len() == 4 {
            spelling.push_str(".3");
        }
        if saturate && !of.starts_with('f') {
            spelling.insert_str(0, "@saturate.");
            saturate = false;
        }
        let half = matches!(of, "f16" | "f16x2");
        let saturated = saturate.then_some(if half { "@saturate.f16x2" } else { "@saturate" });
        if flush
            && of == "f32"
            && let Some(form) = lookup(&format!("@ftz.{spelling}"))
        {
            return self.form(frame, &form, operands, None, saturated, false);
        }
        let flushed = if half { "@flush.f16x2" } else { "@flush" };
        let flushed = (flush && (half || of == "f32")).then_some(flushed);
        let Some(form) = lookup(&spelling) else { return unknown(opcode.text) };
        let narrow = matches!(of, "s16" | "u16" | "b16");
        self.form(frame, &form, operands, flushed, saturated, narrow)
    }

    /// Resolves the operands of a form and emits it, with flushes and the saturation around it.
    fn form(
        &mut self,
        frame: &Frame<'a>,
        form: &Form,
        operands: &[Operand],
        flush: Option<&str>,
        saturate: Option<&str>,
        narrow: bool,
    ) -> Lowered<()> {
        let classes = form.classes.as_bytes();
        if operands.len() != classes.len() {
            return unknown(format!("{} with {} operands", self.source.opcode, operands.len()));
        }
        let mut registers = [0; 5];
        for (i, (&letter, operand)) in classes.iter().zip(operands).enumerate().skip(1) {
            registers[i] = self.source(frame, operand, letter, narrow)?;
            if let Some(flush) = flush
                && letter == b'w'
            {
                let flushed = self.fresh(Class::Word);
                self.emit_alu(flush, &[flushed, registers[i]])?;
                registers[i] = flushed;
            }
        }
        let to = self.destination(frame, &operands[0], class(classes[0]))?;
        registers[0] = to;
        self.emit((form.make)(registers));
        if let Some(flush) = flush
            && classes[0] == b'w'
        {
            self.emit_alu(flush, &[to, to])?;
        }
        if let Some(saturate) = saturate {
            self.emit_alu(saturate, &[to, to])?;
        }
        Ok(())
    }

    fn mov(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [to, from] = operands else { return unknown(opcode.text) };
        match (to, from, opcode.last()) {
            (Operand::Vector(parts), _, "b128" | "b64" | "b32") => self.unpack(frame, opcode, parts, from),
            (Operand::Register(r), _, "b128") if r.class == Class::Quad => {
                let to = frame.register(*r);
                match from {
                    Operand::Register(s) if s.class == Class::Quad => self.copy(Class::Quad, to, frame.register(*s)),
                    Operand::Vector(parts) if parts.len() == 2 => {
                        let (low, high) = (self.double(frame, &parts[0])?, self.double(frame, &parts[1])?);
                        self.copy(Class::Double, to, low)?;
                        self.copy(Class::Double, to + 1, high)
                    }
                    _ => unknown(opcode.text),
                }
            }
            (Operand::Register(r), Operand::Register(s), _) if r.class == s.class => {
                self.copy(r.class, frame.register(*r), frame.register(*s))
            }
            _ => self.plain(frame, opcode, operands),
        }
    }

    /// `mov {a, b}, c`
    fn unpack(&mut self, frame: &Frame<'a>, opcode: &Opcode, parts: &[Operand], from: &Operand) -> Lowered<()> {
        match (opcode.last(), parts) {
            ("b128", [low, high]) => {
                let Operand::Register(r) = from else { return unknown(opcode.text) };
                if r.class != Class::Quad {
                    return unknown(opcode.text);
                }
                let from = frame.register(*r);
                for (part, register) in [(low, from), (high, from + 1)] {
                    let to = self.destination(frame, part, Class::Double)?;
                    self.copy(Class::Double, to, register)?;
                }
            }
            ("b64", [low, high]) => {
                let from = self.double(frame, from)?;
                let (to, next) =
                    (self.destination(frame, low, Class::Word)?, self.destination(frame, high, Class::Word)?);
                self.emit_alu("@low32", &[to, from])?;
                self.emit_alu("@high32", &[next, from])?;
            }
            ("b64", [_, _, _, _]) => {
                let from = self.double(frame, from)?;
                let halves = [self.fresh(Class::Word), self.fresh(Class::Word)];
                self.emit_alu("@low32", &[halves[0], from])?;
                self.emit_alu("@high32", &[halves[1], from])?;
                for (i, part) in parts.iter().enumerate() {
                    let to = self.destination(frame, part, Class::Word)?;
                    self.emit_alu(if i % 2 == 0 { "@low16" } else { "@high16" }, &[to, halves[i / 2]])?;
                }
            }
            ("b32", [low, high]) => {
                // The source may be the destination of the first half.
                let from = self.word(frame, from, false)?;
                let copy = self.fresh(Class::Word);
                self.copy(Class::Word, copy, from)?;
                let (to, next) =
                    (self.destination(frame, low, Class::Word)?, self.destination(frame, high, Class::Word)?);
                self.emit_alu("@low16", &[to, copy])?;
                self.emit_alu("@high16", &[next, copy])?;
            }
            _ => return unknown(opcode.text),
        }
        Ok(())
    }

    fn cvta(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [to, from] = operands else { return unknown(opcode.text) };
        let from = self.double(frame, from)?;
        let to = self.destination(frame, to, Class::Double)?;
        let back = opcode.has("to");
        let space = opcode.part(usize::from(back));
        let window = match space {
            "global" | "const" => return self.copy(Class::Double, to, from),
            "shared" | "shared::cta" | "shared::cluster" => SHARED_WINDOW,
            "local" => LOCAL_WINDOW,
            "param" => PARAMETER_WINDOW,
            _ => return unknown(opcode.text),
        };
        let by = self.double_constant(window);
        self.emit_alu(if back { "sub.s64" } else { "add.s64" }, &[to, from, by])
    }

    fn isspacep(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let [to, from] = operands else { return unknown(opcode.text) };
        let space = match opcode.part(0) {
            "global" | "const" => Space::Global,
            "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
            "local" => Space::Local,
            "param" | "param::entry" => Space::Parameter,
            _ => return unknown(opcode.text),
        };
        let from = self.double(frame, from)?;
        let to = self.destination(frame, to, Class::Predicate)?;
        self.emit(Op::IsSpace { space, to, from });
        Ok(())
    }

    /// Emits the comparison of an opcode and gives its predicate.
    fn compare(&mut self, frame: &Frame<'a>, opcode: &Opcode, of: &str, a: &Operand, b: &Operand) -> Lowered<u32> {
        let Some(kind) = Type::parse(of) else { return unknown(opcode.text) };
        let narrow = kind.bytes() == 2 && !kind.float();
        let letter = if kind.bytes() == 8 { b'd' } else { b'w' };
        let (a, b) = (self.source(frame, a, letter, narrow)?, self.source(frame, b, letter, narrow)?);
        self.compare_registers(opcode, of, a, b)
    }

    /// The same of values in registers.
    fn compare_registers(&mut self, opcode: &Opcode, of: &str, mut a: u32, mut b: u32) -> Lowered<u32> {
        let relation = opcode.part(0);
        let Some(mut kind) = Type::parse(of) else { return unknown(opcode.text) };
        let wide = kind.bytes() == 8;
        if matches!(kind, Type::F16 | Type::Bf16) {
            for operand in [&mut a, &mut b] {
                let single = self.fresh(Class::Word);
                self.emit_alu(if kind == Type::F16 { "cvt.f32.f16" } else { "cvt.f32.bf16" }, &[single, *operand])?;
                *operand = single;
            }
            kind = Type::F32;
        } else if opcode.has("ftz") {
            for operand in [&mut a, &mut b] {
                let flushed = self.fresh(Class::Word);
                self.emit_alu("@flush", &[flushed, *operand])?;
                *operand = flushed;
            }
        }
        let (relation, swap) = match relation {
            "gt" | "hi" => ("lt", true),
            "ge" | "hs" => ("le", true),
            "gtu" => ("ltu", true),
            "geu" => ("leu", true),
            "lo" => ("lt", false),
            "ls" => ("le", false),
            other => (other, false),
        };
        if swap {
            std::mem::swap(&mut a, &mut b);
        }
        let equality = matches!(relation, "eq" | "ne");
        let suffix = match kind {
            Type::F32 => "f32",
            Type::F64 => "f64",
            _ if wide && equality => "b64",
            _ if equality => "b32",
            Type::S64 => "s64",
            Type::U64 => "u64",
            Type::S16 => "s16",
            Type::S32 => "s32",
            _ => "u32",
        };
        let to = self.fresh(Class::Predicate);
        self.emit_alu(&format!("@{relation}.{suffix}"), &[to, a, b])?;
        Ok(to)
    }

    /// The boolean operator of `setp` and `set` with a third operand.
    fn combine(&mut self, frame: &Frame<'a>, opcode: &Opcode, first: u32, third: Option<&Operand>) -> Lowered<u32> {
        let Some(third) = third else { return Ok(first) };
        let third = self.predicate(frame, third)?;
        let to = self.fresh(Class::Predicate);
        let operator = match opcode.part(1) {
            operator @ ("and" | "or" | "xor") => operator,
            _ => return unknown(opcode.text),
        };
        self.emit_alu(&format!("{operator}.pred"), &[to, first, third])?;
        Ok(to)
    }

    fn setp(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let (to, a, b, third) = match operands {
            [to, a, b] => (to, a, b, None),
            [to, a, b, c] => (to, a, b, Some(c)),
            _ => return unknown(opcode.text),
        };
        let first = self.compare(frame, opcode, opcode.last(), a, b)?;
        let (to, other) = match to {
            Operand::Pair(to, other) => (&**to, Some(&**other)),
            to => (to, None),
        };
        let opposite = match other {
            Some(_) => {
                let not = self.fresh(Class::Predicate);
                self.emit_alu("not.pred", &[not, first])?;
                Some(self.combine(frame, opcode, not, third)?)
            }
            None => None,
        };
        let value = self.combine(frame, opcode, first, third)?;
        let to = self.destination(frame, to, Class::Predicate)?;
        self.copy(Class::Predicate, to, value)?;
        if let (Some(other), Some(value)) = (other, opposite) {
            let other = self.destination(frame, other, Class::Predicate)?;
            self.copy(Class::Predicate, other, value)?;
        }
        // A plain comparison needs no copy: let it write its destination.
        self.fold_copy(first, to);
        Ok(())
    }

    /// Removes `mov to, from` at the end if the instruction before it made `from`.
    fn fold_copy(&mut self, from: u32, to: u32) {
        let count = self.code.ops.len();
        let [.., before, last] = &mut self.code.ops[..] else { return };
        let (Op::Alu(compare), Op::Alu(copy)) = (&mut before.op, &last.op) else { return };
        if copy.is_move(to, from) && compare.retarget(from, to) {
            self.code.ops.truncate(count - 1);
            self.code.sources.truncate(count - 1);
        }
    }

    fn set(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let (to, a, b, third) = match operands {
            [to, a, b] => (to, a, b, None),
            [to, a, b, c] => (to, a, b, Some(c)),
            _ => return unknown(opcode.text),
        };
        let result = opcode.parts.len().checked_sub(2).map_or("", |i| opcode.parts[i]);
        if opcode.last().ends_with("16x2") && third.is_none() {
            return self.set_pair(frame, opcode, result, [to, a, b]);
        }
        let value = self.compare(frame, opcode, opcode.last(), a, b)?;
        let value = self.combine(frame, opcode, value, third)?;
        let to = self.destination(frame, to, Class::Word)?;
        let (one, zero) = match result {
            "f32" => (1f32.to_bits(), 0),
            "u32" | "s32" => (u32::MAX, 0),
            "u16" | "s16" => (0xffff, 0),
            "f16" => (0x3c00, 0),
            "bf16" => (0x3f80, 0),
            _ => return unknown(opcode.text),
        };
        let (one, zero) = (self.word_constant(one), self.word_constant(zero));
        self.emit_alu("selp.b32", &[to, one, zero, value])
    }

    /// `set` on two halves: each half of the result is one or zero, or all ones or zero where it is an integer.
    fn set_pair(&mut self, frame: &Frame<'a>, opcode: &Opcode, result: &str, [to, a, b]: [&Operand; 3]) -> Lowered<()> {
        let of = opcode.last().trim_end_matches("x2");
        let one = match result {
            "f16x2" => 0x3c00,
            "bf16x2" => 0x3f80,
            "u32" | "s32" => 0xffff,
            _ => return unknown(opcode.text),
        };
        let sources = [self.word(frame, a, false)?, self.word(frame, b, false)?];
        let to = self.destination(frame, to, Class::Word)?;
        let (one, zero) = (self.word_constant(one), self.word_constant(0));
        let mut halves = Vec::new();
        for half in ["@low16", "@high16"] {
            let [a, b] = sources.map(|source| (source, self.fresh(Class::Word)));
            for (source, to) in [a, b] {
                self.emit_alu(half, &[to, source])?;
            }
            let holds = self.compare_registers(opcode, of, a.1, b.1)?;
            let value = self.fresh(Class::Word);
            self.emit_alu("selp.b32", &[value, one, zero, holds])?;
            halves.push(value);
        }
        self.emit_alu("@pack", &[to, halves[0], halves[1]])
    }

    fn cvt(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let flush = opcode.has("ftz");
        if !opcode.has("sat") {
            let spelling = opcode.without(&["ftz"]);
            if let Some(form) = lookup(&spelling) {
                let singles = opcode.last() == "f32" && flush;
                self.form(frame, &form, operands, singles.then_some("@flush"), None, false)?;
                return self.trim(frame, operands);
            }
        }
        let [.., to_name, from_name] = opcode.parts[..] else { return unknown(opcode.text) };
        let (Some(to), Some(from), [target, source]) = (Type::parse(to_name), Type::parse(from_name), operands) else {
            return unknown(opcode.text);
        };
        let (mut rounding, mut integral) = (None, false);
        for part in &opcode.parts[..opcode.parts.len() - 2] {
            match *part {
                "rn" => rounding = Some(Rounding::Nearest),
                "rz" => rounding = Some(Rounding::Zero),
                "rm" => rounding = Some(Rounding::Down),
                "rp" => rounding = Some(Rounding::Up),
                "rni" => (rounding, integral) = (Some(Rounding::Nearest), true),
                "rzi" => (rounding, integral) = (Some(Rounding::Zero), true),
                "rmi" => (rounding, integral) = (Some(Rounding::Down), true),
                "rpi" => (rounding, integral) = (Some(Rounding::Up), true),
                "ftz" | "sat" => {}
                _ => return unknown(opcode.text),
            }
        }
        if to_name.ends_with("x2")
            || from_name.ends_with("x2")
            || to == Type::F64 && !integral && from.float() && rounding.is_some_and(|r| r != Rounding::Nearest)
        {
            return unknown(opcode.text);
        }
        let how = Convert {
            from,
            to,
            rounding: rounding.unwrap_or(Rounding::Nearest),
            integral,
            saturate: opcode.has("sat"),
            flush,
        };
        let from = self.source(frame, source, if from.bytes() == 8 { b'd' } else { b'w' }, false)?;
        let register = self.destination(frame, target, if to.bytes() == 8 { Class::Double } else { Class::Word })?;
        self.emit(Op::Convert { how: Box::new(how), to: register, from });
        self.trim(frame, operands)
    }

    /// Keeps a 16-bit destination zero-extended after an instruction that sign-extends to 32 bits.
    pub(super) fn trim(&mut self, frame: &Frame<'a>, operands: &[Operand]) -> Lowered<()> {
        match operands.first() {
            Some(Operand::Register(r))
                if r.class == Class::Word && r.bits == 16 && self.source.opcode.contains("s8") =>
            {
                let register = frame.register(*r);
                self.emit_alu("@low16", &[register, register])
            }
            _ => Ok(()),
        }
    }

    fn carry(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        let wide = opcode.of().is_some_and(|t| t.bytes() == 8);
        let class = if wide { Class::Double } else { Class::Word };
        let letter = if wide { b'd' } else { b'w' };
        let mut sources = Vec::new();
        for operand in operands.iter().skip(1) {
            sources.push(self.source(frame, operand, letter, false)?);
        }
        let to = self.destination(frame, operands.first().unwrap_or(&Operand::Sink), class)?;
        let (a, b) = match sources[..] {
            [a, b] => (a, b),
            [a, b, c] => {
                let product = self.fresh(class);
                let half = if opcode.has("hi") { "hi" } else { "lo" };
                self.emit_alu(&format!("mul.{half}.{}", opcode.last()), &[product, a, b])?;
                (product, c)
            }
            _ => return unknown(opcode.text),
        };
        let flag = self.carry_flag();
        let carry_in = opcode.base.ends_with('c').then_some(flag);
        let carry_out = opcode.has("cc").then_some(flag);
        let subtract = opcode.base.starts_with("sub");
        self.emit(Op::Carry { wide, subtract, operands: Box::new([to, a, b]), carry_in, carry_out });
        Ok(())
    }
}
