//! From a parsed kernel to prepared instructions: registers numbered, symbols resolved, calls inlined.
//!
//! A form that is not known becomes an instruction that fails when it is reached, so that code which is never executed
//! does not keep a kernel from running, and nothing is ever skipped silently.

mod alu;
mod atomic;
mod bulk;
mod call;
mod control;
mod frame;
mod matrix;
mod memory;
mod opcode;
mod operand;
mod special;
mod tcgen05;
mod warp;
mod wmma;

use std::collections::HashMap;

use super::alu::lookup;
use super::code::{Code, RESERVED_SHARED, Source, Special};
use super::failure::Cause;
use super::op::{Inst, Op, UNGUARDED};
use crate::ptx::{Class, Function, Instruction, Module};
use frame::{Frame, Home};
use opcode::Opcode;

/// The most prepared instructions of a kernel; inlining of calls could make any number.
const MOST_INSTRUCTIONS: usize = 1 << 22;
/// The most bytes of local memory of a thread.
const MOST_LOCAL: u64 = 1 << 19;
/// The most static shared memory of a CTA.
const MOST_SHARED: u64 = 1 << 23;

/// Why an instruction cannot be lowered: its text is shown when it is reached.
struct Unknown(String);

type Lowered<T> = Result<T, Unknown>;

fn unknown<T>(text: impl Into<String>) -> Lowered<T> {
    Err(Unknown(text.into()))
}

struct Lower<'a> {
    module: &'a Module,
    symbols: &'a HashMap<String, (u64, u64)>,
    code: Code,
    words: HashMap<u32, u32>,
    doubles: HashMap<u64, u32>,
    predicates: [Option<u32>; 2],
    carry_register: Option<u32>,
    special_words: HashMap<Special, u32>,
    special_doubles: HashMap<Special, u32>,
    /// Offsets of the shared variables, by the address of the variable in the module.
    shared: HashMap<*const crate::ptx::Variable, u32>,
    /// Functions being inlined.
    stack: Vec<&'a str>,
    /// Guard and origin of the instruction being lowered.
    guard: (u32, bool),
    source: Source,
}

/// Prepares a kernel.
pub(super) fn lower(module: &Module, kernel: &Function, symbols: &HashMap<String, (u64, u64)>) -> Result<Code, Cause> {
    let mut code = Code { directives: kernel.directives.clone(), ..Code::default() };
    code.parameter_bytes = kernel.parameter_bytes() as u32;
    let mut shared = HashMap::new();
    let mut end = u64::from(RESERVED_SHARED);
    for variable in module.shared_variables(kernel) {
        end = end.next_multiple_of(variable.alignment);
        shared.insert(std::ptr::from_ref(variable), end as u32);
        end += variable.bytes;
        if end > MOST_SHARED {
            return Err(Cause::Code(format!("`{}` does not fit into shared memory", variable.name)));
        }
    }
    code.shared_end = end as u32;
    let source = Source { line: kernel.line, location: None, opcode: "exit".into() };
    let mut lower = Lower {
        module,
        symbols,
        code,
        words: HashMap::new(),
        doubles: HashMap::new(),
        predicates: [None; 2],
        carry_register: None,
        special_words: HashMap::new(),
        special_doubles: HashMap::new(),
        shared,
        stack: Vec::new(),
        guard: (UNGUARDED, false),
        source,
    };
    lower.function(kernel, Vec::new(), None)?;
    lower.guard = (UNGUARDED, false);
    lower.emit(Op::Exit);
    let mut code = lower.code;
    code.special_words = lower.special_words.into_iter().map(|(special, register)| (register, special)).collect();
    code.special_doubles = lower.special_doubles.into_iter().map(|(special, register)| (register, special)).collect();
    Ok(code)
}

impl<'a> Lower<'a> {
    /// Appends an instruction under the current guard.
    fn emit(&mut self, op: Op) {
        let (guard, negated) = self.guard;
        self.code.ops.push(Inst { guard, negated, op });
        self.code.sources.push(self.source.clone());
    }

    /// Appends a register instruction by its spelling.
    fn emit_alu(&mut self, spelling: &str, operands: &[u32]) -> Lowered<()> {
        let Some(form) = lookup(spelling) else { return unknown(spelling) };
        let mut all = [0; 5];
        all[..operands.len()].copy_from_slice(operands);
        self.emit((form.make)(all));
        Ok(())
    }

    /// Lowers one function's body; returns inside an inlined one go to its end.
    fn function(&mut self, function: &'a Function, homes: Vec<Home>, site: Option<&Instruction>) -> Result<(), Cause> {
        let Some(body) = &function.body else {
            return Err(Cause::Code(format!("function `{}` has no body in this module", function.name)));
        };
        if self.stack.contains(&function.name.as_str()) {
            return Err(Cause::Code(format!("function `{}` calls itself: recursion is not supported", function.name)));
        }
        self.stack.push(&function.name);
        let mut frame = self.frame(function, body, homes)?;
        for instruction in &body.instructions {
            frame.starts.push(self.code.ops.len() as u32);
            if self.code.ops.len() > MOST_INSTRUCTIONS {
                return Err(Cause::Code(format!("more than {MOST_INSTRUCTIONS} instructions after inlining")));
            }
            self.source = Source {
                line: instruction.line,
                location: instruction.location.or(self.source.location),
                opcode: instruction.opcode.clone(),
            };
            self.guard = match instruction.guard {
                Some((register, negated)) => (frame.register(register), negated),
                None => (UNGUARDED, false),
            };
            let before = self.code.ops.len();
            let done = match &instruction.call {
                Some(call) => self.call(&mut frame, instruction, call)?,
                None => self.instruction(&mut frame, instruction),
            };
            if let Err(Unknown(text)) = done {
                self.code.ops.truncate(before);
                self.code.sources.truncate(before);
                frame.jumps.retain(|j| j.at < before);
                self.emit(Op::Unsupported(text.into()));
            }
        }
        frame.starts.push(self.code.ops.len() as u32);
        self.link(&frame, site.is_some())?;
        self.stack.pop();
        Ok(())
    }

    fn instruction(&mut self, frame: &mut Frame<'a>, instruction: &'a Instruction) -> Lowered<()> {
        let opcode = Opcode::new(&instruction.opcode);
        let operands = &instruction.operands;
        match opcode.base {
            "ld" | "ldu" => self.load(frame, &opcode, operands),
            "st" => self.store(frame, &opcode, operands),
            "atom" | "red" => self.atomic(frame, &opcode, operands),
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" => {
                self.control(frame, &opcode, operands, instruction.scope)
            }
            "bar" | "barrier" if !opcode.has("warp") => self.barrier(frame, &opcode, operands),
            "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => {
                self.warp(frame, &opcode, operands)
            }
            "fence" | "membar" | "prefetch" | "prefetchu" | "discard" | "applypriority" | "setmaxnreg" | "pragma"
            | "griddepcontrol" => {
                if opcode.base == "fence" && opcode.has("proxy") && opcode.has("async") {
                    self.emit(Op::ProxyFence);
                    return Ok(());
                }
                // CTAs see one memory in program order; caches, register counts and kernel overlap do not exist here.
                self.emit(Op::Nop);
                Ok(())
            }
            "mbarrier" => self.mbarrier(frame, &opcode, operands),
            "cp" => self.copy_async(frame, &opcode, operands),
            "mapa" | "getctarank" => self.rank(frame, &opcode, operands),
            "clusterlaunchcontrol" => self.cluster_launch(frame, &opcode, operands),
            "tensormap" => self.tensormap(frame, &opcode, operands),
            "wgmma" => self.wgmma(frame, &opcode, operands),
            "tcgen05" => self.tcgen05(frame, &opcode, operands),
            "mma" => self.mma(frame, &opcode, operands),
            "wmma" => self.wmma(frame, &opcode, operands),
            "ldmatrix" | "stmatrix" | "movmatrix" => self.move_matrix(frame, &opcode, operands),
            "createpolicy" => match &operands[..] {
                // A cache policy is only ever a hint.
                [to, ..] => {
                    let (to, zero) = (self.destination(frame, to, Class::Double)?, self.double_constant(0));
                    self.emit_alu("mov.b64", &[to, zero])
                }
                [] => unknown(opcode.text),
            },
            _ => self.alu(frame, &opcode, operands),
        }
    }
}
