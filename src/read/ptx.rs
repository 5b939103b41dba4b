//! The PTX of a built kernel: what of it orders threads, copies and tensor-core work, with constants and source lines.

use std::collections::BTreeMap;

use crate::model::{DeviceCode, DeviceInstruction, DeviceOperand};
use crate::source::Place;

/// What is kept.
const KEPT: [&str; 10] = [
    "bar.",
    "barrier.",
    "mbarrier.",
    "fence.",
    "tcgen05.",
    "griddepcontrol.",
    "setmaxnreg.",
    "cp.async.bulk",
    "wgmma.mma_async",
    "cp.reduce.async.bulk",
];

/// Reads the entry `kernel` and every function that is no entry; all entries when `kernel` is not among them.
pub fn device_code(text: &str, kernel: &str) -> DeviceCode {
    let files = files(text);
    let named = text.lines().any(|line| entry(line) == Some(kernel));
    let mut out = DeviceCode::default();
    let mut body = Body::default();
    let mut wanted = true;
    for line in text.lines().map(str::trim) {
        if let Some(name) = entry(line) {
            body.finish(&mut out);
            wanted = !named || name == kernel;
        } else if line.contains(".func ") {
            body.finish(&mut out);
            wanted = true;
        }
        if wanted {
            body.take(line, &files);
        }
    }
    body.finish(&mut out);
    out
}

/// The name in `.visible .entry NAME(`.
fn entry(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ")?;
    Some(rest.trim().trim_end_matches(['(', ')', '{', ' ']).split('(').next().unwrap_or(rest).trim())
}

/// `.file 1 "/path"` by number.
fn files(text: &str) -> BTreeMap<u32, String> {
    let one = |line: &str| {
        let rest = line.trim().strip_prefix(".file")?.trim();
        let (number, name) = rest.split_once(char::is_whitespace)?;
        let name = name.trim().strip_prefix('"')?;
        Some((number.parse().ok()?, name[..name.find('"')?].to_owned()))
    };
    text.lines().filter_map(one).collect()
}

/// One function's text.
#[derive(Default)]
struct Body {
    /// Registers with the constants that they are set to; `None` for anything else.
    registers: BTreeMap<String, Option<i64>>,
    instructions: Vec<DeviceInstruction>,
    at: Option<Place>,
}

impl Body {
    fn take(&mut self, line: &str, files: &BTreeMap<u32, String>) {
        if let Some(location) = line.strip_prefix(".loc") {
            self.at = place(location, files).or_else(|| self.at.take());
            return;
        }
        for statement in statements(line) {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &str) {
        let (guarded, code) = match statement.strip_prefix('@') {
            Some(rest) => match rest.split_once(char::is_whitespace) {
                Some((_, code)) => (true, code.trim()),
                None => return,
            },
            None => (false, statement),
        };
        let Some((opcode, rest)) = code.split_once(char::is_whitespace) else {
            self.keep(code, vec![], guarded);
            return;
        };
        let operands = operands(rest);
        // What is kept reads its operands; anything else writes its first one.
        let writes = !KEPT.iter().any(|kept| opcode.starts_with(kept));
        if let Some(target) = operands.first().filter(|text| writes && text.starts_with('%')) {
            let constant = (opcode.starts_with("mov.") && operands.len() == 2).then(|| number(&operands[1])).flatten();
            // A second value makes it no constant.
            let known = self.registers.contains_key(target);
            self.registers.insert(target.clone(), constant.filter(|_| !known));
        }
        self.keep(opcode, operands, guarded);
    }

    fn keep(&mut self, opcode: &str, operands: Vec<String>, guarded: bool) {
        if KEPT.iter().any(|kept| opcode.starts_with(kept)) {
            let operands = operands.into_iter().map(|text| DeviceOperand { value: number(&text), text }).collect();
            self.instructions.push(DeviceInstruction {
                opcode: opcode.to_owned(),
                operands,
                guarded,
                at: self.at.clone(),
            });
        }
    }

    /// Fills in registers, which may be set behind their use in the text.
    fn finish(&mut self, out: &mut DeviceCode) {
        for instruction in &mut self.instructions {
            for operand in instruction.operands.iter_mut().filter(|operand| operand.value.is_none()) {
                operand.value = self.registers.get(&operand.text).copied().flatten();
            }
        }
        out.instructions.append(&mut self.instructions);
        *self = Body::default();
    }
}

/// The code of a line without its comment, braces and register declarations.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split([';', '{', '}'])
        // The braces of a vector operand cut it apart: what begins in the middle is no statement.
        .map(str::trim)
        .filter(|part| part.starts_with(|c: char| c.is_ascii_lowercase() || c == '@') && !part.ends_with(':'))
}

/// `1 12 5, function_name $L, inlined_at 2 132 3`: the line itself, innermost.
fn place(location: &str, files: &BTreeMap<u32, String>) -> Option<Place> {
    let mut words = location.split(',').next()?.split_whitespace();
    let file = files.get(&words.next()?.parse().ok()?)?.clone();
    let (line, column) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(Place { file, line, column })
}

fn operands(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches('U');
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::device_code;

    const TEXT: &str = "\
.version 9.0\n.target sm_90a\n.visible .entry other(\n)\n{\n\tbarrier.sync 3, 64;\n\tret;\n}\n\
.visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b32 \t%r<9>;\n\
\t.loc\t1 40 3\n\tmov.u32 \t%r1, 1;\n\tmov.u32 \t%r2, %tid.x;\n\tmov.b32 \t%r3, 256;\n\
\t.loc\t2 12 5, function_name $L__info_string0, inlined_at 1 41 3\n\t// begin inline asm\n\tmbarrier.init.shared::cta.b64 [%r2], %r1;\n\
\t// end inline asm\n\t@%p1 barrier.sync 1, %r3;\n\t{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r2], 0; selp.u32 %r4, 1, 0, p; }\n\
\tmov.u32 %r5, 7;\n\tmov.u32 %r5, 8;\n\tbar.arrive %r5, 128;\n\tgriddepcontrol.wait;\n\tret;\n}\n\
\t.file\t1 \"/s/k.cuh\"\n\t.file\t2 \"/s/bar.cuh\"\n";

    #[test]
    fn constants_and_places_are_found() {
        let code = device_code(TEXT, "k");
        let opcodes: Vec<&str> = code.instructions.iter().map(|i| i.opcode.as_str()).collect();
        assert_eq!(
            opcodes,
            [
                "mbarrier.init.shared::cta.b64",
                "barrier.sync",
                "mbarrier.try_wait.parity.shared::cta.b64",
                "bar.arrive",
                "griddepcontrol.wait"
            ]
        );
        let [init, sync, _, arrive, _] = &code.instructions[..] else { panic!() };
        assert_eq!(
            (init.operands[1].value, init.at.as_ref().unwrap().to_string()),
            (Some(1), "/s/bar.cuh:12:5".into())
        );
        assert_eq!((sync.guarded, sync.operands[0].value, sync.operands[1].value), (true, Some(1), Some(256)));
        assert_eq!(arrive.operands[0].value, None, "a register with two values is no constant");
        assert_eq!(device_code(TEXT, "absent").instructions.len(), 6);
        assert_eq!(device_code("", "k").instructions.len(), 0);
    }
}
