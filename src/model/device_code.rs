//! The instructions of a built kernel that order threads, copies and tensor-core work.

use crate::source::Place;

/// An operand as the PTX has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceOperand {
    /// Its text, for example `%r5`, `[%r3]` or `128`.
    pub text: String,
    /// Its value, when it is a constant or a register that is only ever set to one.
    pub value: Option<i64>,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInstruction {
    /// Opcode with its modifiers, for example `barrier.sync.aligned`.
    pub opcode: String,
    /// Its operands.
    pub operands: Vec<DeviceOperand>,
    /// Whether a predicate guards it.
    pub guarded: bool,
    /// The source line that it was made from, where the code was built with line information.
    pub at: Option<Place>,
}

/// A kernel and the functions that it may call, in the order of their text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceCode {
    /// Instructions of interest.
    pub instructions: Vec<DeviceInstruction>,
}

impl DeviceCode {
    /// Those whose opcode begins with one of `names`.
    pub fn of<'c>(&'c self, names: &'c [&str]) -> impl Iterator<Item = &'c DeviceInstruction> {
        self.instructions.iter().filter(|i| names.iter().any(|name| i.opcode.starts_with(name)))
    }
}
