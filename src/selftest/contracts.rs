//! Random contracts over all element types.

use std::sync::Arc;

use crate::judge::diagnosis::format::Rounding;
use crate::judge::diagnosis::function::Function;
use crate::judge::diagnosis::target::{BlockScale, Index, Side, Splits, Step, Target, Tensor};
use crate::model::{ElementType, GatePairs};

/// A small deterministic generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Uniform in 0..count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.word() >> 33) as usize % count.max(1)
    }

    /// Uniform in low..=high.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// What a family of contracts decides.
struct Family {
    a: ElementType,
    b: ElementType,
    out: ElementType,
    tile_k: usize,
    instruction_k: usize,
    unit: usize,
    scales: [Option<BlockScale>; 2],
    bits: u32,
    promote: Option<usize>,
    zero_point: bool,
    vectors: bool,
}

fn family(random: &mut Random) -> Family {
    use ElementType::{Bf16, E2m1, E4m3, E5m2, F16, F32, S8, S32, Tf32, Ue4m3, Ue8m0};
    let plain = |a, out, tile_k, instruction_k, unit| Family {
        a,
        b: a,
        out,
        tile_k,
        instruction_k,
        unit,
        scales: [None, None],
        bits: 24,
        promote: None,
        zero_point: false,
        vectors: false,
    };
    let block = |element, row_block, k_block, swizzled| Some(BlockScale { element, row_block, k_block, swizzled });
    match random.below(8) {
        0 | 1 => {
            let a = random.pick(&[Bf16, F16]);
            plain(a, random.pick(&[a, a, F32]), random.pick(&[32, 64]), 16, 8)
        }
        2 => {
            let a = random.pick(&[F32, Tf32]);
            plain(a, random.pick(&[F32, Bf16]), 32, 8, 4)
        }
        3 => {
            let a = random.pick(&[E4m3, E4m3, E5m2]);
            let mut family = plain(a, random.pick(&[Bf16, F16, Bf16, E4m3]), random.pick(&[64, 128]), 32, 16);
            family.vectors = true;
            if random.chance(50) {
                family.bits = 14;
                family.promote = Some(128);
            }
            family
        }
        4 => {
            let mut family = plain(S8, random.pick(&[Bf16, F16, S8, S32]), random.pick(&[64, 128]), 32, 16);
            family.vectors = true;
            family.bits = 31;
            family.zero_point = random.chance(60);
            family
        }
        5 => {
            let mut family = plain(E2m1, Bf16, 128, 64, 32);
            let mx = random.chance(35);
            let (element, group) = if mx { (Ue8m0, 32) } else { (Ue4m3, 16) };
            let swizzled = random.chance(80);
            family.scales = [block(element, 1, group, swizzled), block(element, 1, group, swizzled)];
            family
        }
        6 => {
            let mut family = plain(E4m3, random.pick(&[Bf16, F32]), 128, 32, 32);
            let swizzled = random.chance(80);
            family.scales = [block(Ue8m0, 1, 32, swizzled), block(Ue8m0, 1, 32, swizzled)];
            family
        }
        _ => {
            let mut family = plain(E4m3, Bf16, 128, 32, 16);
            family.scales = [block(F32, 1, 128, false), block(F32, 32, 128, false)];
            family.bits = 14;
            family.promote = Some(128);
            family
        }
    }
}

/// What a column of the output and a row of a meet.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// One sum each, all rows of b.
    Plain,
    /// Two sums.
    Gate(GatePairs),
    /// Rows of b of their own; with rows between the groups, or without.
    Groups(bool),
}

impl Form {
    fn draw(random: &mut Random) -> Form {
        match random.below(20) {
            0 => Form::Gate(GatePairs::Halves),
            1 => Form::Gate(GatePairs::Interleaved),
            2 => Form::Groups(false),
            3 => Form::Groups(true),
            _ => Form::Plain,
        }
    }

    /// Rows of the output, rows of b, and the groups.
    fn extents(self, random: &mut Random, m: usize, n: usize, tile_m: usize) -> (usize, usize, Option<Groups>) {
        match self {
            Form::Plain => (m, n, None),
            Form::Gate(_) => (m, 2 * n, None),
            Form::Groups(apart) => {
                let count = random.between(2, 3);
                let mut list = Vec::new();
                let mut end = 0;
                for _ in 0..count {
                    let rows = random.between(3, tile_m * 3 / 2);
                    list.push((end, rows));
                    end = if apart { (end + rows).next_multiple_of(tile_m) } else { end + rows };
                }
                (end, count * n, Some(Arc::new(list)))
            }
        }
    }
}

type Groups = Arc<Vec<(usize, usize)>>;

fn splits(random: &mut Random, count: usize, k: usize, family: &Family) -> Splits {
    let mut splits = Splits::even(count, k, family.tile_k);
    let narrow = matches!(family.out, ElementType::Bf16 | ElementType::F16);
    if count > 1 && random.chance(30) {
        splits.into_output = true;
        (splits.partial, splits.sum) = (family.out, family.out);
    } else if count > 1 && narrow && random.chance(25) {
        splits.partial = family.out;
    }
    splits
}

/// A contract with tails, padding and two or three tiles along most axes.
pub fn random_target(random: &mut Random) -> Target {
    let family = family(random);
    let (tile_m, tile_n) = (random.pick(&[16, 32]), random.pick(&[16, 32]));
    let m = random.between(tile_m / 2 + 1, tile_m * 9 / 5);
    let n = random.between(tile_n + 1, tile_n * 23 / 10);
    let n = n + n % 2;
    let whole = if family.tile_k >= 128 { random.between(2, 3) } else { random.between(3, 5) };
    let k = whole * family.tile_k + random.below(family.tile_k / family.unit) * family.unit;
    let mut padded = |x: usize| x + family.unit * random.below(3);
    let (leading_a, leading_b) = (padded(k), padded(k));
    let out_leading = n + 8 * random.below(3);
    let plain = family.scales[0].is_none();
    let floating = family.out.significant_bits().is_some();
    let form = if family.out.bits() < 16 || family.out == ElementType::S32 { Form::Plain } else { Form::draw(random) };
    let count = if plain && !family.vectors && form == Form::Plain { random.pick(&[1, 1, 2, 3]) } else { 1 };
    let splits = splits(random, count, k, &family);
    let narrow = matches!(family.out, ElementType::S8 | ElementType::E4m3);
    let mut epilogue = Vec::new();
    let multiply = |tensor| Step::Multiply { tensor, index: Index::Own, power: 1 };
    let add = |tensor| Step::Add { tensor, index: Index::Own, factor: 1.0, by: None };
    let round = |to| Step::Round { to, rounding: Rounding::NearestEven, saturate: true };
    let integer_out = family.out == ElementType::S32;
    if family.zero_point {
        epilogue.push(Step::ZeroPoint { factor: 1.0 });
    }
    if !integer_out && (narrow || random.chance(70)) {
        epilogue.push(multiply(Tensor::Alpha));
    }
    if family.vectors && !integer_out {
        if random.chance(85) {
            epilogue.push(multiply(Tensor::ScaleA));
        }
        if random.chance(85) {
            epilogue.push(multiply(Tensor::ScaleB));
        }
    }
    if random.chance(65) {
        epilogue.push(add(Tensor::Bias));
    }
    match form {
        Form::Gate(_) => epilogue.push(Step::Gate { gate: Function::Silu, up: Function::Identity }),
        _ if integer_out || splits.into_output => {}
        _ if random.chance(15) => epilogue.push(Step::Activate(Function::Relu)),
        _ if family.out.bits() >= 16 && random.chance(20) => {
            let curved = [Function::Gelu, Function::GeluTanh, Function::Silu];
            epilogue.push(Step::Activate(random.pick(&curved)));
        }
        _ => {}
    }
    let accumulate = plain && family.out == ElementType::F32 && !splits.into_output && random.chance(25);
    if floating && !narrow && !accumulate && random.chance(35) {
        if random.chance(60) && family.out != ElementType::F32 {
            epilogue.push(round(family.out));
        }
        let by = random.chance(40).then_some((Tensor::Beta, 1));
        epilogue.push(Step::Add { tensor: Tensor::Residual, index: Index::Own, factor: 1.0, by });
    }
    epilogue.push(round(family.out));
    let (m, rows_of_b, groups) = form.extents(random, m, n, tile_m);
    let k_major_b = !(matches!(family.a, ElementType::Bf16 | ElementType::F16) && random.chance(15));
    // Drawn beside the others, so that what they draw stays as it was.
    let mut aside = Random::new(random.clone().word());
    let out_by_columns = aside.chance(25);
    let out_leading = if out_by_columns { m + 8 * aside.below(3) } else { out_leading };
    let b_leading = if k_major_b { leading_b } else { rows_of_b + 8 * random.below(2) };
    Target {
        k,
        a: Side {
            element: family.a,
            rows: m,
            leading: leading_a,
            k_major: true,
            scale: family.scales[0],
            tile: tile_m,
        },
        b: Side {
            element: family.b,
            rows: rows_of_b,
            leading: b_leading,
            k_major: k_major_b,
            scale: family.scales[1],
            tile: tile_n,
        },
        out: family.out,
        out_leading,
        out_by_columns,
        tile_k: family.tile_k,
        instruction_k: family.instruction_k,
        stages: random.pick(&[2, 3, 4]),
        splits,
        alpha_of_group: groups.is_some() && random.chance(60),
        groups,
        gate: if let Form::Gate(pairs) = form { Some(pairs) } else { None },
        accumulator_bits: family.bits,
        promote: family.promote,
        epilogue,
        accumulate,
        zeroed: splits.into_output,
        padding_zero: false,
        types: vec![],
    }
}
