//! Branches, ends and CTA barriers.

use super::frame::{Frame, Jump, resolve};
use super::opcode::Opcode;
use super::{Lower, Lowered, unknown};
use crate::exec::op::{Barrier, BarrierReduction, Op};
use crate::ptx::{Class, Label, Operand, Symbol};

fn label(operand: Option<&Operand>, scope: u32) -> Option<Label> {
    match operand {
        Some(Operand::Symbol(Symbol::Outer(name), 0)) => Some(Label { scope, name: name.clone() }),
        _ => None,
    }
}

impl<'a> Lower<'a> {
    pub(super) fn control(
        &mut self,
        frame: &mut Frame<'a>,
        opcode: &Opcode,
        operands: &[Operand],
        scope: u32,
    ) -> Lowered<()> {
        let at = self.code.ops.len();
        match opcode.base {
            "bra" => {
                let Some(label) = label(operands.first(), scope) else { return unknown(opcode.text) };
                frame.jumps.push(Jump { at, labels: vec![label] });
                self.emit(Op::Branch(0));
            }
            "brx" => {
                let [index, table] = operands else { return unknown(opcode.text) };
                let index = self.word(frame, index, false)?;
                let table = label(Some(table), scope)
                    .and_then(|label| resolve_table(frame, &label))
                    .map(|names| names.iter().map(|name| Label { scope, name: name.clone() }).collect());
                let Some(labels) = table else { return unknown(opcode.text) };
                frame.jumps.push(Jump { at: self.code.ops.len(), labels });
                self.emit(Op::BranchTable { index, targets: Box::default() });
            }
            "ret" if !frame.entry => {
                frame.jumps.push(Jump { at, labels: Vec::new() });
                self.emit(Op::Branch(0));
            }
            "ret" | "exit" => self.emit(Op::Exit),
            "nanosleep" => self.emit(Op::Pause),
            _ => self.emit(Op::Trap),
        }
        Ok(())
    }

    pub(super) fn barrier(&mut self, frame: &Frame<'a>, opcode: &Opcode, operands: &[Operand]) -> Lowered<()> {
        if opcode.has("cluster") {
            self.emit(if opcode.has("arrive") { Op::ClusterArrive } else { Op::ClusterWait });
            return Ok(());
        }
        let mut rest = operands;
        let mut reduction = None;
        if opcode.has("red") {
            let ([to, middle @ .., predicate], kind) = (operands, opcode.last()) else { return unknown(opcode.text) };
            let (kind, class) = match kind {
                "u32" => (BarrierReduction::Count, Class::Word),
                _ if opcode.has("and") => (BarrierReduction::And, Class::Predicate),
                _ => (BarrierReduction::Or, Class::Predicate),
            };
            let predicate = self.predicate(frame, predicate)?;
            reduction = Some((kind, predicate, self.destination(frame, to, class)?));
            rest = middle;
        }
        let (id, threads) = match rest {
            [id] => (id, None),
            [id, threads] => (id, Some(threads)),
            _ => return unknown(opcode.text),
        };
        let id = self.word(frame, id, false)?;
        let threads = match threads {
            Some(threads) => Some(self.word(frame, threads, false)?),
            None => None,
        };
        let wait = !opcode.has("arrive");
        self.emit(Op::Barrier(Box::new(Barrier { id, threads, wait, reduction })));
        Ok(())
    }
}

fn resolve_table<'f>(frame: &'f Frame<'_>, label: &Label) -> Option<&'f [std::sync::Arc<str>]> {
    let names: std::collections::HashMap<_, _> = frame.body.tables.keys().map(|l| (l.clone(), l)).collect();
    let found = resolve(&names, &frame.body.scopes, label)?;
    frame.body.tables.get(found).map(Vec::as_slice)
}
