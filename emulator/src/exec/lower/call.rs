//! Calls: inlined, or done by the emulator.

use super::frame::{Frame, Home};
use super::{Lower, Lowered, Unknown, unknown};
use crate::exec::failure::Cause;
use crate::exec::op::{Access, Address, Op, Space};
use crate::ptx::{Call, Class, Instruction, Operand, Symbol};

impl<'a> Lower<'a> {
    /// A call; the inner result is that of the instruction, the outer one that of the kernel.
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'a>,
        instruction: &'a Instruction,
        call: &'a Call,
    ) -> Result<Lowered<()>, Cause> {
        let Operand::Symbol(Symbol::Outer(name), 0) = &call.target else {
            return Ok(unknown("call through a register"));
        };
        let mut homes = Vec::new();
        for operand in call.returns.iter().chain(&call.arguments) {
            let home = match operand {
                Operand::Symbol(symbol, 0) => self.home(frame, symbol),
                _ => None,
            };
            match home {
                Some(home) => homes.push(home),
                None => return Ok(unknown("call with an argument that is not a variable")),
            }
        }
        let function = self.module.function(name);
        match (&**name, function) {
            (_, Some(function)) if function.body.is_some() => {
                if homes.len() != function.returns.len() + function.parameters.len() {
                    return Ok(unknown(format!("call of `{name}` with other arguments than it declares")));
                }
                // Lanes whose guard is false jump over the inlined body.
                let (guard, negated) = self.guard;
                let skip = instruction.guard.map(|_| {
                    self.guard = (guard, !negated);
                    self.emit(Op::Branch(0));
                    self.code.ops.len() - 1
                });
                let source = self.source.clone();
                self.function(function, homes, Some(instruction))?;
                self.source = source;
                if let Some(at) = skip {
                    let end = self.code.ops.len() as u32;
                    self.code.ops[at].op = Op::Branch(end);
                    self.guard = (crate::exec::op::UNGUARDED, false);
                    self.emit(Op::Nop);
                }
                Ok(Ok(()))
            }
            ("vprintf", _) => Ok(self.print(&homes, call)),
            ("__assertfail" | "__assert_fail", _) => Ok(self.assert(&homes)),
            _ => Ok(unknown(format!("call of `{name}`, which this module does not define"))),
        }
    }

    /// The value of a local variable.
    fn local(&mut self, home: Home, class: Class) -> Lowered<u32> {
        let Home::Local(at) = home else { return unknown("call with an argument that is not local") };
        let register = self.fresh(class);
        let address = Address { register: self.word_constant(at), wide: false, offset: 0 };
        let bytes = if class == Class::Double { 8 } else { 4 };
        self.emit(Op::Load(Access { space: Space::Local, bytes, sign: 0, address, register }));
        Ok(register)
    }

    fn print(&mut self, homes: &[Home], call: &Call) -> Lowered<()> {
        let [.., format, arguments] = homes[..] else { return unknown("vprintf") };
        let (format, arguments) = (self.local(format, Class::Double)?, self.local(arguments, Class::Double)?);
        let result = match (call.returns.len(), homes[0]) {
            (1, Home::Local(at)) => Some(Address { register: self.word_constant(at), wide: false, offset: 0 }),
            _ => None,
        };
        self.emit(Op::Print { format, arguments, result });
        Ok(())
    }

    fn assert(&mut self, homes: &[Home]) -> Lowered<()> {
        let [message, file, line, function, ..] = homes[..] else { return Err(Unknown("__assertfail".into())) };
        let operands = Box::new([
            self.local(message, Class::Double)?,
            self.local(file, Class::Double)?,
            self.local(function, Class::Double)?,
            self.local(line, Class::Word)?,
        ]);
        self.emit(Op::Assert { operands });
        Ok(())
    }
}
