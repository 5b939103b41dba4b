//! What a launch needs to know of a kernel.

use std::collections::HashSet;

use super::{Function, Instruction, Module, Operand, Space, Symbol, Variable};

impl Function {
    /// Bytes of the parameter block.
    pub fn parameter_bytes(&self) -> u64 {
        self.parameters.iter().map(|p| p.offset + p.bytes).max().unwrap_or(0)
    }
}

impl Module {
    /// Static shared memory of a kernel in bytes: the shared variables that it and the functions it calls name.
    pub fn static_shared(&self, kernel: &Function) -> u64 {
        self.shared_variables(kernel).iter().fold(0, |end, v| end.next_multiple_of(v.alignment) + v.bytes)
    }

    /// The shared variables a kernel and its callees name, in a fixed order: those of the bodies by first call, then the
    /// module's in order, those without a size last.
    pub fn shared_variables<'a>(&'a self, kernel: &'a Function) -> Vec<&'a Variable> {
        let mut inner = Vec::new();
        let mut outer = HashSet::new();
        let mut seen = HashSet::from([kernel.name.as_str()]);
        let mut queue = vec![kernel];
        while let Some(function) = queue.pop() {
            let Some(body) = &function.body else { continue };
            inner.extend(body.variables.iter().filter(|v| v.space == Space::Shared));
            for name in body.instructions.iter().flat_map(names) {
                if let Some(callee) = self.function(name) {
                    if seen.insert(&callee.name) {
                        queue.push(callee);
                    }
                } else {
                    outer.insert(name);
                }
            }
        }
        let module = self.variables.iter().filter(|v| v.space == Space::Shared && outer.contains(v.name.as_str()));
        let (unsized_ones, sized): (Vec<_>, Vec<_>) = inner.into_iter().chain(module).partition(|v| v.bytes == 0);
        [sized, unsized_ones].concat()
    }
}

/// Module-level names in an instruction.
fn names(instruction: &Instruction) -> Vec<&str> {
    let mut found = Vec::new();
    for operand in &instruction.operands {
        collect(operand, &mut found);
    }
    if let Some(call) = &instruction.call {
        collect(&call.target, &mut found);
    }
    found
}

fn collect<'a>(operand: &'a Operand, found: &mut Vec<&'a str>) {
    match operand {
        Operand::Symbol(Symbol::Outer(name), _) => found.push(name),
        Operand::Memory(base, _, more) => {
            collect(base, found);
            more.iter().for_each(|o| collect(o, found));
        }
        Operand::Vector(items) => items.iter().for_each(|o| collect(o, found)),
        _ => {}
    }
}
