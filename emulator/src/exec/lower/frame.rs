//! One function instance: where its registers, variables and labels are.

use std::collections::HashMap;

use super::{Lower, MOST_LOCAL};
use crate::exec::failure::Cause;
use crate::exec::op::Op;
use crate::ptx::{Body, Class, Function, Label, Register, Space};

/// Where a variable or parameter lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// At this offset of the thread's local memory.
    Local(u32),
    /// At this offset of shared memory.
    Shared(u32),
    /// At this offset of the kernel's parameters.
    Kernel(u32),
}

/// A branch whose target is not known yet.
pub(super) struct Jump {
    /// The prepared instruction.
    pub(super) at: usize,
    /// Its labels; empty for a return.
    pub(super) labels: Vec<Label>,
}

/// A function being lowered.
pub(super) struct Frame<'a> {
    pub(super) body: &'a Body,
    base: [u32; 3],
    /// Homes of the body's variables.
    pub(super) inner: Vec<Home>,
    /// Homes of its returns and parameters.
    pub(super) parameters: Vec<Home>,
    /// The prepared instruction each instruction begins with.
    pub(super) starts: Vec<u32>,
    pub(super) jumps: Vec<Jump>,
    /// Whether it is the kernel itself.
    pub(super) entry: bool,
}

impl Frame<'_> {
    pub(super) fn register(&self, register: Register) -> u32 {
        self.base[register.class.slot()] + register.index
    }
}

impl<'a> Lower<'a> {
    /// Numbers the registers and places the variables of a function.
    pub(super) fn frame(
        &mut self,
        function: &'a Function,
        body: &'a Body,
        homes: Vec<Home>,
    ) -> Result<Frame<'a>, Cause> {
        let base = self.code.registers;
        for (total, own) in self.code.registers.iter_mut().zip(body.registers) {
            *total += own;
            if *total > 1 << 17 {
                return Err(Cause::Code("too many registers after inlining".into()));
            }
        }
        let mut inner = Vec::new();
        for variable in &body.variables {
            inner.push(match variable.space {
                Space::Shared => {
                    Home::Shared(self.shared.get(&std::ptr::from_ref(variable)).copied().unwrap_or_default())
                }
                _ => {
                    let alignment = variable.alignment.max(4);
                    let offset = u64::from(self.code.local_bytes).next_multiple_of(alignment);
                    let end = offset + variable.bytes;
                    if end > MOST_LOCAL {
                        return Err(Cause::Code(format!("more than {MOST_LOCAL} bytes of local memory for a thread")));
                    }
                    self.code.local_bytes = end as u32;
                    Home::Local(offset as u32)
                }
            });
        }
        let parameters = if function.entry {
            function.parameters.iter().map(|p| Home::Kernel(p.offset as u32)).collect()
        } else {
            homes
        };
        let (starts, jumps) = (Vec::new(), Vec::new());
        Ok(Frame { body, base, inner, parameters, starts, jumps, entry: function.entry })
    }

    /// A fresh register of a class.
    pub(super) fn fresh(&mut self, class: Class) -> u32 {
        let count = &mut self.code.registers[class.slot()];
        let first = *count;
        *count += if class == Class::Quad { 2 } else { 1 };
        first
    }

    /// Fills in the targets of a frame's branches.
    pub(super) fn link(&mut self, frame: &Frame<'_>, inlined: bool) -> Result<(), Cause> {
        let end = frame.starts.last().copied().unwrap_or_default();
        for jump in &frame.jumps {
            let mut targets = Vec::new();
            for label in &jump.labels {
                let Some(index) = resolve(&frame.body.labels, &frame.body.scopes, label) else {
                    return Err(Cause::Code(format!("label `{}` is not defined", label.name)));
                };
                targets.push(frame.starts.get(index).copied().unwrap_or(end));
            }
            match &mut self.code.ops[jump.at].op {
                Op::Branch(to) => *to = targets.first().copied().unwrap_or(end),
                Op::BranchTable { targets: to, .. } => *to = targets.into(),
                _ => {}
            }
        }
        // Whatever follows an inlined body is a branch target, so something must follow it.
        if inlined {
            self.guard = (crate::exec::op::UNGUARDED, false);
            self.emit(Op::Nop);
        }
        Ok(())
    }
}

/// Looks a name up in its scope and the scopes around it.
pub(super) fn resolve<T: Copy>(table: &HashMap<Label, T>, scopes: &[u32], label: &Label) -> Option<T> {
    let mut scope = label.scope;
    loop {
        if let Some(&found) = table.get(&Label { scope, name: label.name.clone() }) {
            return Some(found);
        }
        if scope == 0 {
            return None;
        }
        scope = scopes.get(scope as usize).copied().unwrap_or(0);
    }
}
