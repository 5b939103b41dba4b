//! S15, S16, S24, S37 and S39: what the built kernel's PTX says of barriers and tensor memory. Asked after the build.

use std::collections::BTreeMap;

use super::number::up;
use crate::model::{DeviceCode, DeviceInstruction, Finding, Findings, Origin, Reproducer, Weight};

/// Findings about the PTX of the kernel.
pub fn device(reproducer: &Reproducer, code: &DeviceCode) -> Findings {
    let mut out = Findings::default();
    named_barriers(reproducer, code, &mut out);
    mbarriers(reproducer, code, &mut out);
    tensor_memory(code, &mut out);
    shapes(code, &mut out);
    dependent_launch(reproducer, code, &mut out);
    // A loop that is unrolled says the same of each of its instructions.
    let mut told: Vec<Finding> = vec![];
    for finding in std::mem::take(&mut out.findings) {
        if told
            .iter()
            .all(|known| (&known.code, &known.message, &known.at) != (&finding.code, &finding.message, &finding.at))
        {
            told.push(finding);
        }
    }
    out.findings = told;
    let mut skipped: Vec<(String, String)> = vec![];
    for fact in std::mem::take(&mut out.skipped) {
        if !skipped.contains(&fact) {
            skipped.push(fact);
        }
    }
    out.skipped = skipped;
    out
}

/// Where an instruction comes from.
fn origin(instruction: &DeviceInstruction) -> Origin {
    match &instruction.at {
        Some(at) => Origin::Read { at: at.clone(), expr: Some(instruction.opcode.clone()) },
        None => Origin::Assumed { why: format!("`{}` of the PTX, without a source line", instruction.opcode) },
    }
}

fn value(instruction: &DeviceInstruction, index: usize) -> Option<u64> {
    instruction.operands.get(index)?.value.and_then(|value| u64::try_from(value).ok())
}

/// Identifiers and thread counts of `bar` and `barrier`.
fn named_barriers(reproducer: &Reproducer, code: &DeviceCode, out: &mut Findings) {
    let threads = reproducer.launch.threads.threads();
    // Identifier: its waits and its arrivals with a count.
    let mut users: BTreeMap<u64, Vec<(&DeviceInstruction, u64)>> = BTreeMap::new();
    for instruction in code.of(&["bar.", "barrier."]) {
        if instruction.opcode.contains("cluster") || instruction.opcode.contains(".warp") {
            continue;
        }
        let (Some(id), count) = (value(instruction, 0), value(instruction, 1)) else {
            if instruction.operands.iter().any(|operand| operand.value.is_none()) {
                out.skip("K-S24", format!("the identifier in `{}`, which is computed", instruction.opcode));
            }
            continue;
        };
        if id > 15 {
            out.push(
                Finding::new("K-S24", Weight::Refuse, format!("named barrier {id}; a block has 0 to 15"))
                    .of("barrier", &origin(instruction))
                    .then("the launch fails with error 715 or 719; ptxas sees it only in an immediate operand")
                    .help("the nearest legal value is 15"),
            );
        }
        let Some(count) = count else { continue };
        if !count.is_multiple_of(32) || count == 0 {
            out.push(
                Finding::new(
                    "K-S24",
                    Weight::Predict,
                    format!("named barrier {id} counts {count} threads, no whole number of warps"),
                )
                .of("barrier", &origin(instruction))
                .then("undefined: arrivals are counted by warps, so the barrier opens late or never")
                .help(format!("the nearest legal value is {}", up(count.max(1), 32))),
            );
        } else if count > threads {
            out.push(
                Finding::new(
                    "K-S24",
                    Weight::Predict,
                    format!("named barrier {id} waits for {count} threads, and the block has {threads}"),
                )
                .of("barrier", &origin(instruction))
                .of("threads", reproducer.launch.threads.origin())
                .then("hangs unless some warps arrive more than once")
                .help(format!("{threads} threads, or a block of {count}")),
            );
        }
        users.entry(id).or_default().push((instruction, count));
    }
    for (id, list) in &users {
        let (first, count) = list[0];
        if let Some((other, differs)) = list.iter().find(|(_, other)| other != &count) {
            out.push(
                Finding::new(
                    "K-S24",
                    Weight::Predict,
                    format!("named barrier {id} is used with {count} and with {differs} threads"),
                )
                .of("one use", &origin(first))
                .of("another", &origin(other))
                .then("a phase that mixes both hangs or opens early; right only where no phase does")
                .help("one count for all uses of an identifier, or another identifier"),
            );
        }
        if list.iter().all(|(instruction, _)| instruction.opcode.contains(".arrive")) {
            out.push(
                Finding::new("K-S24", Weight::Predict, format!("named barrier {id} is only ever arrived at, and nothing waits on it"))
                    .of("arrival", &origin(first))
                    .then("arrivals stay pending: the next use of the identifier, in this kernel or in code called later, opens early or hangs")
                    .help("wait on it on the other path too, or leave the arrival out where nothing waits"),
            );
        }
    }
}

/// mbarriers: initialised before their use, and made visible in between.
fn mbarriers(reproducer: &Reproducer, code: &DeviceCode, out: &mut Findings) {
    let uses = ["mbarrier.try_wait", "mbarrier.test_wait", "mbarrier.arrive", "mbarrier.expect_tx"];
    let Some(first_use) = code.of(&uses).next() else { return };
    let inits: Vec<usize> =
        (0..code.instructions.len()).filter(|i| code.instructions[*i].opcode.starts_with("mbarrier.init")).collect();
    let Some(last) = inits.last() else {
        out.push(
            Finding::new(
                "K-S39",
                Weight::Predict,
                "the kernel waits on an mbarrier, and nothing in it initialises one",
            )
            .of("first use", &origin(first_use))
            .then("error 719 (unspecified launch failure) or a hang, by what shared memory held before")
            .help("mbarrier.init with the number of arrivals of a phase, then a fence and a block barrier"),
        );
        return;
    };
    for init in inits.iter().map(|i| &code.instructions[*i]) {
        if value(init, 1) == Some(0) {
            out.push(
                Finding::new(
                    "K-S39",
                    Weight::Refuse,
                    "an mbarrier is initialised for 0 arrivals; legal is 1 to 1048575",
                )
                .of("initialisation", &origin(init))
                .then("undefined: a phase with no arrival never ends, or error 719")
                .help("the nearest legal value is 1"),
            );
        }
    }
    let behind = &code.instructions[last + 1..];
    let until = behind.iter().position(|i| uses.iter().any(|used| i.opcode.starts_with(used))).unwrap_or(behind.len());
    let between = &behind[..until];
    let met = |name: &str| between.iter().any(|i| i.opcode.starts_with(name));
    let blocks = reproducer.launch.cluster.iter().fold(1_u64, |all, extent| all.saturating_mul(extent.value));
    let init = &code.instructions[*last];
    if !met("bar.") && !met("barrier.") {
        out.push(
            Finding::new(
                "K-S39",
                Weight::Note,
                "no block barrier stands between the last mbarrier.init and the first use of an mbarrier",
            )
            .of("initialisation", &origin(init))
            .of("first use", &origin(first_use))
            .then("other warps may use the barrier before it is initialised: rare hangs, error 719 or early data")
            .help("a block barrier (a cluster barrier where peers arrive) behind the initialisation"),
        );
    } else if blocks > 1 && !between.iter().any(|i| i.opcode.contains("cluster")) {
        out.push(
            Finding::new(
                "K-S39",
                Weight::Note,
                format!(
                    "a cluster of {blocks} CTAs, and no cluster barrier stands between mbarrier.init and the first use"
                ),
            )
            .of("initialisation", &origin(init))
            .of("cluster x", &reproducer.launch.cluster[0].origin)
            .then(
                "where a peer's copies or arrivals signal this CTA's barriers, they may come before the initialisation",
            )
            .help("fence.mbarrier_init.release.cluster, then barrier.cluster.arrive and wait"),
        );
    }
    let copies = code.of(&["cp.async.bulk"]).next();
    if let Some(copy) = copies.filter(|_| !met("fence.")) {
        out.push(
            Finding::new(
                "K-S39",
                Weight::Note,
                "no fence stands between mbarrier.init and the first asynchronous copy that signals a barrier",
            )
            .of("initialisation", &origin(init))
            .of("copy", &origin(copy))
            .then("the asynchronous proxy may not see the initialised barrier: rare hangs or error 719")
            .help("fence.mbarrier_init.release.cluster, or fence.proxy.async, behind the initialisation"),
        );
    }
}

/// Columns of tensor memory.
fn tensor_memory(code: &DeviceCode, out: &mut Findings) {
    let allocations: Vec<&DeviceInstruction> = code.of(&["tcgen05.alloc"]).collect();
    let mut all = 0;
    for allocation in &allocations {
        let Some(columns) = value(allocation, 1) else {
            out.skip("K-S16", "columns of an allocation of tensor memory, which are computed");
            continue;
        };
        all += columns;
        if !columns.is_power_of_two() || !(32..=512).contains(&columns) {
            let nearest = columns.max(1).next_power_of_two().clamp(32, 512);
            out.push(
                Finding::new(
                    "K-S16",
                    Weight::Refuse,
                    format!("{columns} columns of tensor memory; legal is a power of two from 32 to 512"),
                )
                .of("allocation", &origin(allocation))
                .then("the allocation fails at run time (error 715 or 719); ptxas sees it only in an immediate operand")
                .help(format!("the nearest legal value is {nearest}")),
            );
        }
    }
    if let Some(first) = allocations.first().filter(|_| all > 512) {
        out.push(
            Finding::new(
                "K-S16",
                Weight::Predict,
                format!("{all} columns of tensor memory are allocated; an SM has 512"),
            )
            .of("first allocation", &origin(first))
            .then("the last allocation waits for ever, unless an earlier one is freed before it")
            .help("512 columns in all: fewer accumulator stages, or narrower tiles"),
        );
    }
    let freed = code.of(&["tcgen05.dealloc"]).next();
    peers(code, out);
    if let Some(first) = allocations.first().filter(|_| freed.is_none()) {
        out.push(
            Finding::new("K-S16", Weight::Predict, "tensor memory is allocated and never freed")
                .of("allocation", &origin(first))
                .then("the kernel ends with error 721 (tensor memory leak), and the next kernel on the SM waits for columns")
                .help("tcgen05.dealloc by the warp that allocated, before it exits"),
        );
    }
}

/// With two CTAs, a cluster barrier between the allocation and the release.
fn peers(code: &DeviceCode, out: &mut Findings) {
    let place = |name: &str| {
        code.instructions.iter().position(|i| i.opcode.starts_with(name) && i.opcode.contains("cta_group::2"))
    };
    let (Some(taken), Some(given)) = (place("tcgen05.alloc"), place("tcgen05.dealloc")) else { return };
    let between = code.instructions.get(taken..given).unwrap_or_default();
    if between.is_empty() || between.iter().any(|i| i.opcode.starts_with("barrier.cluster")) {
        return;
    }
    out.push(
        Finding::new(
            "K-S16",
            Weight::Predict,
            "two CTAs allocate tensor memory together and free it with no cluster barrier in between",
        )
        .of("allocation", &origin(&code.instructions[taken]))
        .of("release", &origin(&code.instructions[given]))
        .then("one CTA may free before its peer's allocation is complete: error 719 (unspecified launch failure)")
        .help("barrier.cluster.arrive and wait between the two, in both CTAs"),
    );
}

/// Shapes of tcgen05.mma, from instruction descriptors that are constants.
fn shapes(code: &DeviceCode, out: &mut Findings) {
    for mma in code.of(&["tcgen05.mma"]) {
        // D, A, B, instruction descriptor, …
        let Some(descriptor) = mma.operands.get(3).and_then(|operand| operand.value) else {
            out.skip("K-S15", "the instruction descriptor of a tcgen05.mma, which is computed");
            continue;
        };
        let (m, n) = ((descriptor >> 24 & 31) * 16, (descriptor >> 17 & 63) * 8);
        let pair = mma.opcode.contains("cta_group::2");
        let integers = mma.opcode.contains("kind::i8");
        let from_tensor_memory = mma.operands.get(1).is_some_and(|operand| operand.text.starts_with('['));
        let rows: &[i64] = match (pair, mma.opcode.contains("block_scale")) {
            (true, _) => &[128, 256],
            (false, true) => &[128],
            (false, false) => &[64, 128],
        };
        let step = match (pair, integers || from_tensor_memory) {
            (true, true) => 32,
            (true, false) => 16,
            (false, _) if integers && n > 8 => 16,
            (false, _) => 8,
        };
        if rows.contains(&m) && n % step == 0 && (8..=256).contains(&n) {
            continue;
        }
        let legal: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let nearest = (n.max(1) + step - 1) / step * step;
        out.push(
            Finding::new(
                "K-S15",
                Weight::Refuse,
                format!(
                    "`{}` of {m} x {n}; legal is m = {} and n in multiples of {step} up to 256",
                    mma.opcode,
                    legal.join(" or ")
                ),
            )
            .of("instruction", &origin(mma))
            .then("error 715 (illegal instruction) at the first such instruction")
            .help(format!("the nearest legal n is {}", nearest.min(256))),
        );
    }
}

/// A source that waits for the grid before it, and machine code that does not.
fn dependent_launch(reproducer: &Reproducer, code: &DeviceCode, out: &mut Findings) {
    let Some(used) = reproducer.kernel.uses.iter().find(|used| used.value == "griddepcontrol") else { return };
    if code.of(&["griddepcontrol."]).next().is_some() {
        return;
    }
    out.push(
        Finding::new("K-S37", Weight::Predict, "the kernel's source waits for or releases dependent grids, and its PTX has no griddepcontrol")
            .of("use", &used.origin)
            .then(
                "under programmatic dependent launch this kernel reads what the kernel before it has not written yet; launched alone, as \
                 here, it is right",
            )
            .help("-DCUTLASS_ENABLE_GDC_FOR_SM90 or -DCUTLASS_ENABLE_GDC_FOR_SM100, when production's command has it; else no launch attribute for it"),
    );
}
