//! S22 and S43: what was built, against what the kernel needs. Asked after the build.

use std::collections::BTreeMap;

use super::number::{down, up};
use crate::model::{Finding, Findings, Origin, Reproducer, Weight};

const REGISTERS_OF_A_BLOCK: u64 = 65536;

/// What is known of the machine code of the kernel.
#[derive(Debug, Clone, Copy)]
pub struct MachineCode<'a> {
    /// Registers of a thread, as `ptxas -v` says.
    pub registers: Option<u32>,
    /// Bytes of registers that a thread stores to local memory.
    pub spill_stores: u64,
    /// Instructions by mnemonic (`HGMMA`, `UTMALDG`); empty where nothing could be disassembled.
    pub instructions: &'a BTreeMap<String, u64>,
}

/// Instructions of a feature in machine code: a mnemonic that begins or ends like one of these.
const EXPECTED: [(&str, &[&str], &str); 4] = [
    ("wgmma", &["HGMMA", "QGMMA", "IGMMA"], "tensor-core"),
    ("tcgen05", &["UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCMXQMMA"], "tensor-core"),
    ("setmaxnreg", &["USETMAXREG"], "register re-allocation"),
    ("cp_async_bulk_tensor", &["UTMALDG", "UTMASTG", "UTMAREDG", "UTMAPF"], "TMA"),
];

/// Findings about a build.
pub fn built(reproducer: &Reproducer, code: &MachineCode<'_>) -> Findings {
    let mut out = Findings::default();
    match code.registers {
        Some(registers) => budget(reproducer, registers, &mut out),
        None => out.skip("K-S22", "registers of the kernel (ptxas -v)"),
    }
    if code.spill_stores > 0 {
        out.push(
            Finding::new(
                "K-S22",
                Weight::Note,
                format!("a thread stores {} bytes of registers to local memory", code.spill_stores),
            )
            .then("slow, not wrong; wgmma may be serialised when accumulators spill")
            .help("fewer columns a warpgroup, or fewer threads"),
        );
    }
    if code.instructions.is_empty() {
        out.skip("K-S43", "instructions of the machine code (cuobjdump or nvdisasm)");
        return out;
    }
    for used in &reproducer.kernel.uses {
        let Some((_, names, what)) = EXPECTED.iter().find(|(feature, _, _)| *feature == used.value) else { continue };
        let there = code.instructions.keys().any(|mnemonic| names.iter().any(|name| mnemonic.starts_with(name)));
        if !there {
            out.push(missing(&used.value, &used.origin, names, what));
        }
    }
    out
}

fn missing(feature: &str, origin: &Origin, names: &[&str], what: &str) -> Finding {
    let name = feature.replace('_', ".");
    Finding::new(
        "K-S43",
        Weight::Predict,
        format!("the build succeeded, and its machine code holds no {what} instruction ({}) for {name}", names.join(", ")),
    )
    .of(name.as_str(), origin)
    .then(if feature == "setmaxnreg" {
        "ptxas ignored it: the kernel runs with other registers than it was written for"
    } else {
        "code behind an architecture macro was left out: the kernel runs and does nothing useful, or this instantiation does \
         not take that path"
    })
    .help("build for the target with its suffix (K-S17), with production's launch bounds (K-S23); see the notes of ptxas")
}

fn budget(reproducer: &Reproducer, registers: u32, out: &mut Findings) {
    let block = &reproducer.launch.threads;
    let threads = block.threads();
    let each = up(u64::from(registers), 8);
    let all = each.saturating_mul(threads);
    if all <= REGISTERS_OF_A_BLOCK || each == 0 {
        return;
    }
    out.push(
        Finding::new(
            "K-S22",
            Weight::Refuse,
            format!(
                "{registers} registers (rounded up to {each}) x {threads} threads = {all}; a block has {REGISTERS_OF_A_BLOCK}",
            ),
        )
        .of("threads", block.origin())
        .then("the launch returns error 701 (too many resources requested for launch)")
        .help(format!("at most {} threads", down(REGISTERS_OF_A_BLOCK / each, 32)))
        .help(format!(
            "__launch_bounds__({threads}, 1) makes ptxas stay within {} registers",
            down(REGISTERS_OF_A_BLOCK / threads.max(1), 8)
        )),
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{MachineCode, built};
    use crate::model::{Fact, Findings, Reproducer, Weight};
    use crate::source::Place;

    fn run(threads: u64, registers: u32, uses: &[&str], mnemonics: &[&str]) -> Findings {
        let mut reproducer: Reproducer = toml::from_str(include_str!("../../tests/checks/base.toml")).unwrap();
        reproducer.launch.threads.extents[0].value = threads;
        let at = Place { file: "k.cuh".into(), line: 1, column: 1 };
        reproducer.kernel.uses = uses.iter().map(|u| Fact::transcribed((*u).to_owned(), at.clone())).collect();
        let instructions: BTreeMap<String, u64> = mnemonics.iter().map(|m| ((*m).to_owned(), 1)).collect();
        built(&reproducer, &MachineCode { registers: Some(registers), spill_stores: 0, instructions: &instructions })
    }

    #[test]
    fn registers_are_rounded_up_to_8_before_they_are_counted() {
        let found = run(512, 162, &[], &["FFMA"]);
        assert_eq!((found.findings[0].code.as_str(), found.findings[0].weight), ("K-S22", Weight::Refuse));
        assert!(found.findings[0].message.contains("(rounded up to 168) x 512 threads = 86016"));
        assert_eq!(found.findings[0].help[0], "at most 384 threads");
        assert_eq!(run(512, 128, &[], &["FFMA"]), Findings::default());
    }

    #[test]
    fn a_build_without_tensor_core_instructions_is_no_success() {
        let found = run(256, 90, &["wgmma", "setmaxnreg"], &["FFMA", "USETMAXREG"]);
        assert_eq!(found.findings.len(), 1);
        assert!(found.findings[0].message.contains("no tensor-core instruction (HGMMA"), "{:?}", found.findings[0]);
        assert_eq!(run(256, 90, &["wgmma"], &["HGMMA.64x8x16.F32.BF16"]), Findings::default());
    }

    #[test]
    fn without_a_disassembler_it_is_said() {
        assert_eq!(run(256, 90, &["wgmma"], &[]).skipped[0].0, "K-S43");
    }
}
