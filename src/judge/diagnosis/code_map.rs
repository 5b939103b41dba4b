//! The value that a kernel uses for each code of a and b and of their block scales, read out of the results: rows of one value, so that
//! zeros that are read as something else disturb nothing.

use std::sync::Arc;

use crate::model::{ElementType, Fill, Padding, Role, Stage};

use super::evidence::{Evidence, Shown};
use super::format::{self, Rounding};
use super::kind::Kind;
use super::knobs::{Knobs, ScaleFault, SideKnobs};
use super::maps::hot_column;
use super::probes::{Builder, Rungs, constant};
use super::target::{Side, Target};

/// At most so many probes of rows with values of their own for each operand.
const ROWS: usize = 40;

/// Whether a type has few enough codes to look at them one by one.
fn has_codes(element: ElementType) -> bool {
    element.bits() <= 8
}

/// Whether values can be read out of the output at all.
fn readable(t: &Target) -> bool {
    let wide = matches!(t.out, ElementType::Bf16 | ElementType::F16 | ElementType::F32);
    t.is_plain() && wide && t.activations().next().is_none() && t.splits.count == 1
}

/// Whether codes may be what is wrong, and can be measured.
pub(super) fn wanted(evidence: &Evidence<'_>) -> bool {
    let t = evidence.target;
    let codes =
        [&t.a, &t.b].iter().any(|side| has_codes(side.element) || side.scale.is_some_and(|s| has_codes(s.element)));
    let fails = [Kind::Zero, Kind::CodesA, Kind::CodesB, Kind::ScaleMapA, Kind::ScaleMapB, Kind::RandomScales];
    readable(t) && codes && evidence.crashed.is_empty() && evidence.unstable().is_none() && evidence.any_fails(&fails)
}

/// Integers of a type that probes use, and what other values it has that are worth a probe.
fn values_of(element: ElementType) -> (i64, i64, &'static [f64]) {
    match element {
        ElementType::E2m1 => (-4, 4, &[0.5, -0.5, 1.5, -1.5, 6.0, -6.0, -0.0]),
        ElementType::E4m3 => (-16, 16, &[-0.0]),
        ElementType::E5m2 => (-8, 8, &[-0.0]),
        ElementType::U8 => (0, 255, &[]),
        _ => (-127, 127, &[]),
    }
}

/// The powers of two that probes put into block scales of a type.
fn powers_of(element: ElementType) -> std::ops::RangeInclusive<i32> {
    if element == ElementType::Ue4m3 { -6..=8 } else { -8..=10 }
}

impl Builder<'_> {
    /// Tier 2: the values of codes.
    pub fn values(mut self) -> Rungs {
        let t = self.target;
        if !readable(t) {
            return self.out;
        }
        for (side, role, scale, kinds) in [
            (t.a, Role::A, Role::ScaleA, (Kind::ValueA, Kind::ScaleValueA)),
            (t.b, Role::B, Role::ScaleB, (Kind::ValueB, Kind::ScaleValueB)),
        ] {
            let other = if role == Role::A { Role::B } else { Role::A };
            if has_codes(side.element) {
                for (index, fill) in fills(&side).into_iter().enumerate() {
                    self.add(kinds.0, index, vec![(role, fill), (other, constant(1.0))], Padding::Zero, 1);
                }
            }
            if let Some(block) = side.scale.filter(|s| has_codes(s.element)) {
                for (index, power) in powers_of(block.element).enumerate() {
                    let fills =
                        vec![(Role::A, constant(1.0)), (Role::B, constant(1.0)), (scale, constant(2_f64.powi(power)))];
                    self.add(kinds.1, index, fills, Padding::Zero, 1);
                }
            }
        }
        self.out
    }
}

/// Rows of one integer each, and constants.
fn fills(side: &Side) -> Vec<Fill> {
    let (low, high, more) = values_of(side.element);
    let rows = side.rows as i64;
    let whole = (low..=high).step_by(side.rows).take(ROWS).map(|first| Fill::RowDigits {
        base: rows.min(high - first + 1).max(2) as u64,
        digit: 0,
        first,
    });
    whole.chain(more.iter().map(|value| constant(*value))).collect()
}

/// What each code is read as, times what the other operand's 1 is read as.
type Read = Vec<Option<f64>>;

/// The value with the fewest significant bits that, `count` times and rounded, is what was seen.
fn simplest(seen: f64, count: f64, out: ElementType) -> Option<f64> {
    if !seen.is_finite() {
        return None;
    }
    (1..=11)
        .map(|bits| crate::judge::units::rounded(seen / count, bits))
        .find(|value| format::convert(out, value * count, Rounding::NearestEven, true) == seen)
}

/// A value, how often it is summed, and the sum.
type Sum = (f64, f64, f64);

/// The codes of values, and what they are read as.
fn collect(evidence: &Evidence<'_>, element: ElementType, sums: impl Iterator<Item = Sum>) -> Option<Read> {
    let t = evidence.target;
    let mut read: Read = vec![None; 1 << element.bits()];
    for (value, count, seen) in sums {
        let Some(found) = simplest(seen, count, t.out) else { continue };
        match &mut read[format::code(element, value) as usize] {
            Some(old) if *old != found => return None,
            entry => *entry = Some(found),
        }
    }
    Some(read)
}

fn operand(evidence: &Evidence<'_>, is_a: bool) -> Option<Read> {
    let t = evidence.target;
    let (side, kind, codes, hot) =
        if is_a { (&t.a, Kind::ValueA, Kind::CodesA, Role::B) } else { (&t.b, Kind::ValueB, Kind::CodesB, Role::A) };
    let values = |s: &Shown, row: usize, k: usize| {
        let values = if is_a { &s.rung.inputs.a } else { &s.rung.inputs.b };
        values.get(row, k)
    };
    let places = |at: usize| if is_a { (at / t.n(), at % t.n()) } else { (at % t.n(), at / t.n()) };
    let mut sums: Vec<Sum> = Vec::new();
    for s in evidence.of(kind) {
        let output = evidence.output(s);
        sums.extend(output.iter().enumerate().map(|(at, x)| (values(s, places(at).0, 0), t.k as f64, *x)));
    }
    if sums.is_empty() {
        return None;
    }
    // Where zeros are zero, single products say what more codes are.
    for s in evidence.of(codes).filter(|_| !evidence.fails(Kind::Zero)) {
        let of = |(at, x): (usize, &f64)| {
            let (row, other) = places(at);
            (values(s, row, hot_column(s, hot, t.k, other)), 1.0, *x)
        };
        sums.extend(evidence.output(s).iter().enumerate().map(of));
    }
    collect(evidence, side.element, sums.into_iter())
}

fn scale(evidence: &Evidence<'_>, is_a: bool) -> Option<Read> {
    let t = evidence.target;
    let (side, kind) = if is_a { (&t.a, Kind::ScaleValueA) } else { (&t.b, Kind::ScaleValueB) };
    let element = side.scale?.element;
    let shown: Vec<(&Shown, Vec<f64>)> = evidence.of(kind).map(|s| (s, evidence.output(s))).collect();
    let sums = shown.iter().flat_map(|(s, output)| {
        let values = if is_a { &s.rung.inputs.a_scale } else { &s.rung.inputs.b_scale };
        output.iter().map(|x| (values[0], t.k as f64, *x))
    });
    if shown.is_empty() {
        return None;
    }
    let sums: Vec<Sum> = sums.collect();
    let all = sums.iter().copied().chain(single_scales(evidence, side, is_a));
    collect(evidence, element, all).or_else(|| collect(evidence, element, sums.iter().copied()))
}

/// What probes of all codes of a scale say, each times one element, where zeros are zero.
fn single_scales<'e>(evidence: &'e Evidence<'_>, side: &'e Side, is_a: bool) -> impl Iterator<Item = Sum> + 'e {
    let t = evidence.target;
    let (role, hot) = if is_a { (Role::ScaleA, Role::B) } else { (Role::ScaleB, Role::A) };
    let coded =
        move |s: &&Shown| s.rung.probe.fills.iter().any(|(r, fill)| *r == role && matches!(fill, Fill::Codes { .. }));
    let right = !evidence.fails(Kind::Zero);
    let shown = evidence.of(Kind::RandomScales).filter(move |s| right && coded(s));
    shown.flat_map(move |s| {
        let inputs = &s.rung.inputs;
        let (elements, scales) = if is_a { (&inputs.a, &inputs.a_scale) } else { (&inputs.b, &inputs.b_scale) };
        let groups = side.scale_extent(t.k).map_or(1, |extent| extent.1);
        let (rows, each) = side.scale.map_or((1, 1), |scale| (scale.row_block, scale.k_block));
        evidence.output(s).into_iter().enumerate().filter_map(move |(at, x)| {
            let (row, other) = if is_a { (at / t.n(), at % t.n()) } else { (at % t.n(), at / t.n()) };
            let k = hot_column(s, hot, t.k, other);
            let element = elements.get(row, k);
            let value = scales.get(row / rows.max(1) * groups + k / each.max(1))?;
            (element != 0.0).then_some((*value, element, x))
        })
    })
}

/// Tables of both sides out of what was read, which are known up to what each side reads 1 as.
fn tables(a: Option<(ElementType, Read)>, b: Option<(ElementType, Read)>) -> Option<(Option<Read>, Option<Read>)> {
    let one = |x: &(ElementType, Read)| x.1[format::code(x.0, 1.0) as usize];
    let product = a.as_ref().or(b.as_ref()).and_then(one).filter(|p| *p != 0.0)?;
    let over = |x: &Read, by: f64| -> Read { x.iter().map(|v| v.map(|v| v / by)).collect() };
    let (Some(a), Some(b)) = (&a, &b) else {
        // The other side has no codes: it is right.
        return Some((a.map(|a| a.1), b.map(|b| b.1)));
    };
    if one(b)? != product {
        return None;
    }
    let right = |x: &(ElementType, Read), by: f64| {
        x.1.iter().enumerate().all(|(code, v)| v.is_none_or(|v| v / by == format::value(x.0, code as u32)))
    };
    let root = product.sqrt();
    let (of_a, of_b) = if right(b, product) {
        (1.0, product)
    } else if right(a, product) {
        (product, 1.0)
    } else if a.1 == b.1 && root * root == product {
        (root, root)
    } else {
        (1.0, product)
    };
    Some((Some(over(&a.1, of_a)), Some(over(&b.1, of_b))))
}

/// What is wrong in a table, in words; none if nothing is, or if all of it is one multiple.
fn words(element: ElementType, table: &Read) -> Option<String> {
    let own = |code: usize| format::value(element, code as u32);
    let known: Vec<(usize, f64)> = table.iter().enumerate().filter_map(|(code, v)| Some((code, (*v)?))).collect();
    let wrong: Vec<&(usize, f64)> = known.iter().filter(|(code, v)| *v != own(*code)).collect();
    let factor = known.iter().find(|(code, _)| own(*code) == 1.0)?.1;
    if wrong.is_empty() || known.iter().all(|(code, v)| *v == factor * own(*code)) {
        return None;
    }
    let some: Vec<String> = wrong
        .iter()
        .take(3)
        .map(|(code, v)| format!("{element} code {code:#x} is read as {v} instead of {}", own(*code)))
        .collect();
    Some(format!("{}; {} of {} measured codes", some.join(", "), wrong.len(), known.len()))
}

/// Value maps of operands and of block scales: what, its stage, and its knobs.
pub(super) fn measured(evidence: &Evidence<'_>) -> Vec<(String, Stage, Knobs)> {
    let t = evidence.target;
    let mut list = Vec::new();
    let whole = || {
        let all = (0..t.k.next_multiple_of(t.tile_k) as u32).map(|k| (k, k));
        Some(Arc::new(all.collect::<Vec<_>>()))
    };
    let typed = |element: Option<ElementType>, read: Option<Read>| element.zip(read);
    let operands =
        tables(typed(Some(t.a.element), operand(evidence, true)), typed(Some(t.b.element), operand(evidence, false)));
    if let Some((a, b)) = operands {
        let side = |table: Option<Read>, element| {
            let words = table.as_ref().and_then(|table| words(element, table));
            let values = words.is_some().then(|| table.map(Arc::new)).flatten();
            (words, SideKnobs { values, ..SideKnobs::default() })
        };
        let ((of_a, a), (of_b, b)) = (side(a, t.a.element), side(b, t.b.element));
        if let Some(what) = said("codes", of_a, of_b) {
            for slots in [None, whole()] {
                let knobs = Knobs { a: a.clone(), b: b.clone(), slots, ..Knobs::default() };
                list.push((what.clone(), Stage::OperandLoad, knobs));
            }
        }
    }
    let element = |side: &Side| side.scale.map(|s| s.element);
    let scales = tables(typed(element(&t.a), scale(evidence, true)), typed(element(&t.b), scale(evidence, false)));
    if let Some((a, b)) = scales {
        let side = |table: Option<Read>, element: Option<ElementType>| {
            let words = table.as_ref().zip(element).and_then(|(table, element)| words(element, table));
            let scale = words.is_some().then(|| table.map(|table| ScaleFault::Values(Arc::new(table)))).flatten();
            (words, SideKnobs { scale, ..SideKnobs::default() })
        };
        let ((of_a, a), (of_b, b)) = (side(a, element(&t.a)), side(b, element(&t.b)));
        if let Some(what) = said("block scale codes", of_a, of_b) {
            list.push((what, Stage::QuantisationScale, Knobs { a, b, ..Knobs::default() }));
        }
    }
    list
}

fn said(what: &str, a: Option<String>, b: Option<String>) -> Option<String> {
    let names = match (a, b) {
        (Some(a), Some(b)) if a == b => format!("a and b ({a})"),
        (Some(a), Some(b)) => format!("a ({a}) and b ({b})"),
        (Some(a), None) => format!("a ({a})"),
        (None, Some(b)) => format!("b ({b})"),
        (None, None) => return None,
    };
    Some(format!("measured values of the {what} of {names}"))
}

#[cfg(test)]
mod tests {
    use super::{Read, simplest, tables, words};
    use crate::judge::diagnosis::format;
    use crate::model::ElementType::{Bf16, E2m1};

    fn table(of: impl Fn(u32) -> f64) -> Read {
        (0..16).map(|code| Some(of(code))).collect()
    }

    #[test]
    fn the_simplest_value_behind_a_rounded_sum_is_found() {
        // 96 · 2.25 and 7200 · 1.5, the latter rounded to bf16.
        assert_eq!(simplest(216.0, 96.0, Bf16), Some(2.25));
        assert_eq!(simplest(10816.0, 7200.0, Bf16), Some(1.5));
        assert_eq!(simplest(f64::NAN, 96.0, Bf16), None);
    }

    #[test]
    fn values_are_told_apart_from_those_of_the_other_operand() {
        let own = |code: u32| format::value(E2m1, code);
        let wrong = |code: u32| format::value(E2m1, code ^ 1);
        // One operand is wrong: it reads 1 as 1.5.
        let read = |table: Read| Some((E2m1, table));
        let (a, b) = tables(read(table(wrong)), read(table(|code| own(code) * 1.5))).unwrap();
        assert_eq!((a, b), (Some(table(wrong)), Some(table(own))));
        // Both are.
        let both = || read(table(|code| wrong(code) * 1.5));
        assert_eq!(tables(both(), both()).unwrap(), (Some(table(wrong)), Some(table(wrong))));
        assert_eq!(words(E2m1, &table(own)), None);
        // One multiple of all values says nothing of codes.
        assert_eq!(words(E2m1, &table(|code| own(code) * 2.0)), None);
        let said = words(E2m1, &table(wrong)).unwrap();
        assert!(
            said.starts_with("e2m1 code 0x0 is read as 0.5 instead of 0") && said.ends_with("of 16 measured codes"),
            "{said}"
        );
    }
}
