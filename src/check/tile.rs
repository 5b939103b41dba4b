//! S14, S25 and S29: tiles and reductions against the MMA instruction.

use super::number::{down, up};
use crate::model::{Accumulator, ElementType, Fact, Finding, Findings, Reproducer, Role, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    let tensor_core = matches!(
        contract.accumulator.value,
        Accumulator::F32TensorCore | Accumulator::F16TensorCore | Accumulator::Fp8Hopper
    );
    if tensor_core {
        match (&contract.tile.k, contract.operand(Role::A)) {
            (Some(tile), Some(a)) => depth(tile, &a.element, out),
            (None, _) => out.skip("K-S25", "depth of a tile"),
            _ => {}
        }
    }
    if let Some(tile) = &contract.tile.k {
        tail(tile, &contract.k, out);
    }
    if reproducer.kernel.uses.iter().any(|used| used.value == "wgmma") {
        match (&contract.tile.m, &contract.tile.n) {
            (Some(m), Some(n)) => wgmma(m, n, reproducer, out),
            _ => out.skip("K-S14", "rows and columns of a tile"),
        }
    }
    if contract.accumulator.value == Accumulator::S32 {
        integer_sum(reproducer, out);
    }
    overhang(reproducer, out);
}

/// S26: a tile that reaches beyond the output, which only a mask or a descriptor keeps inside.
fn overhang(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    if reproducer.descriptors.iter().any(|pair| pair.operand == Role::Out.name()) {
        return;
    }
    for (name, extent, tile) in [("m", &contract.m, &contract.tile.m), ("n", &contract.n, &contract.tile.n)] {
        let Some(tile) = tile else {
            out.skip("K-S26", format!("extent of a tile along {name}"));
            continue;
        };
        if tile.value == 0 || extent.value.is_multiple_of(tile.value) {
            continue;
        }
        out.push(
            Finding::new(
                "K-S26",
                Weight::Note,
                format!("{name} = {} is no multiple of the tile's {}: the last tile reaches {} beyond the output", extent.value, tile.value,
                    up(extent.value, tile.value) - extent.value),
            )
            .of(name, &extent.origin)
            .of(format!("extent of a tile along {name}"), &tile.origin)
            .then(if name == "m" {
                "right only when stores of rows beyond m are masked: else what lies behind the output is overwritten, which guards show"
            } else {
                "right only when stores of columns beyond n are masked: else the first columns of the next row are overwritten, and a mask that \
                 is too narrow leaves columns unwritten"
            })
            .help(format!("nearest sizes without an overhang: {} and {}", down(extent.value, tile.value), up(extent.value, tile.value))),
        );
    }
}

/// k of one MMA instruction.
fn instruction_depth(element: ElementType) -> Option<u64> {
    Some(match element {
        ElementType::Bf16 | ElementType::F16 => 16,
        ElementType::Tf32 => 8,
        ElementType::E4m3 | ElementType::E5m2 | ElementType::S8 | ElementType::U8 => 32,
        ElementType::E2m1 => 64,
        _ => return None,
    })
}

fn depth(tile: &Fact<u64>, element: &Fact<ElementType>, out: &mut Findings) {
    let Some(unit) = instruction_depth(element.value) else { return };
    if tile.value.is_multiple_of(unit) && tile.value > 0 {
        return;
    }
    out.push(
        Finding::new(
            "K-S25",
            Weight::Predict,
            format!("a tile is {} deep, and an MMA on {} takes k = {unit}: no multiple", tile.value, element.value),
        )
        .of("depth of a tile", &tile.origin)
        .of("element of a", &element.origin)
        .then(format!(
            "the last {} of every tile are dropped without a word, or the library asserts it at compile time; all-ones \
             inputs give {} instead of {} a tile",
            tile.value % unit,
            down(tile.value, unit),
            tile.value
        ))
        .help(format!(
            "nearest legal depths: {} and {}",
            down(tile.value, unit).max(unit),
            up(tile.value.max(1), unit)
        )),
    );
}

fn tail(tile: &Fact<u64>, k: &Fact<u64>, out: &mut Findings) {
    if tile.value == 0 || k.value.is_multiple_of(tile.value) {
        return;
    }
    out.push(
        Finding::new(
            "K-S25",
            Weight::Note,
            format!("k = {} is no multiple of the tile's depth {}: the last tile holds {}", k.value, tile.value, k.value % tile.value),
        )
        .of("k", &k.origin)
        .of("depth of a tile", &tile.origin)
        .then(
            "right only with a tail path: a loop of k / depth tiles drops the tail (all-ones inputs give less than k), and \
             one that rounds up needs zeros there, which TMA gives and plain loads do not",
        )
        .help(format!("nearest sizes without a tail: {} and {}", down(k.value, tile.value), up(k.value, tile.value))),
    );
}

/// wgmma takes 64 rows and 8 to 256 columns; which of the tile's sides is which depends on the kernel (swap-AB).
fn wgmma(m: &Fact<u64>, n: &Fact<u64>, reproducer: &Reproducer, out: &mut Findings) {
    let integers = matches!(
        reproducer.contract.operand(Role::A).map(|a| a.element.value),
        Some(ElementType::S8 | ElementType::U8)
    );
    let step = |columns: u64| if integers && columns > 32 { 16 } else { 8 };
    let fits = |rows: u64, columns: u64| {
        rows > 0 && rows.is_multiple_of(64) && columns > 0 && columns.is_multiple_of(step(columns))
    };
    if fits(m.value, n.value) || fits(n.value, m.value) {
        return;
    }
    let columns = if n.value.is_multiple_of(64) { m } else { n };
    let unit = step(columns.value);
    out.push(
        Finding::new(
            "K-S14",
            Weight::Predict,
            format!(
                "a tile of {} x {} is not made of wgmma instructions: 64 rows, and columns in multiples of {unit}",
                m.value, n.value
            ),
        )
        .of("rows of a tile", &m.origin)
        .of("columns of a tile", &n.origin)
        .then(
            "ptxas refuses the shape (Unknown modifier, Illegal matrix shape), CUTLASS asserts it, or the columns beyond the \
             last whole instruction stay unwritten",
        )
        .help(format!(
            "nearest legal columns: {} and {}; rows are a multiple of 64",
            down(columns.value, unit).max(unit),
            up(columns.value.max(1), unit)
        )),
    );
}

/// Where the sum of k products of the largest magnitude leaves 32 bits.
fn integer_sum(reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    let Some(a) = contract.operand(Role::A) else { return };
    let largest: u64 = match a.element.value {
        ElementType::S8 => 128 * 128,
        ElementType::U8 => 255 * 255,
        _ => return,
    };
    let most = (i32::MAX as u64) / largest;
    if contract.k.value > most {
        out.push(
            Finding::new(
                "K-S29",
                Weight::Note,
                format!(
                    "k = {} products of {} can leave a 32-bit accumulator; up to {most} cannot",
                    contract.k.value, a.element.value
                ),
            )
            .of("k", &contract.k.origin)
            .of("element of a", &a.element.origin)
            .then("sums of extreme inputs wrap; ordinary inputs do not come near it")
            .help(format!("k up to {most} is safe for every input")),
        );
    }
}
