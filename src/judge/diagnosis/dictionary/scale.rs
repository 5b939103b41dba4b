//! Block scale factors.

use crate::model::{ElementType, Stage};

use super::super::kind::Kind;
use super::super::knobs::{Knobs, ScaleFault, SideKnobs};
use super::super::operand::swizzled_storage;
use super::super::scale_map::plain_poison;
use super::super::target::BlockScale;
use super::Dictionary;

const SCALES: &[Kind] = &[
    Kind::Random,
    Kind::RandomPoisoned,
    Kind::RandomLarge,
    Kind::RandomScales,
    Kind::Ones,
    Kind::ScaleMapA,
    Kind::ScaleMapB,
];

impl Dictionary<'_> {
    /// Scales are read for the overhang of k too, so slots cover whole blocks.
    fn scale_fault(&mut self, class: &'static str, sides: (bool, bool), cause: &str, fault: &ScaleFault) {
        let own = |on: bool| SideKnobs { scale: on.then(|| fault.clone()), ..SideKnobs::default() };
        let slots = Some(self.blocks(0..self.target.k_blocks()));
        let knobs = Knobs { a: own(sides.0), b: own(sides.1), slots, ..Knobs::default() };
        let name = match sides {
            (true, true) => "scales of a and b",
            (true, false) => "scales of a",
            _ => "scales of b",
        };
        self.add(class, Stage::QuantisationScale, format!("{name}: {cause}"), knobs, SCALES);
    }

    pub(super) fn scale(&mut self) {
        let t = self.target;
        for (is_a, side) in [(true, t.a), (false, t.b)] {
            let Some(scale) = side.scale else { continue };
            let on = (is_a, !is_a);
            self.scale_fault("SF_IGNORED", on, "taken as 1", &ScaleFault::Ignored);
            self.scale_fault("SF_GRANULARITY", on, "one factor for twice as many k", &ScaleFault::Coarse);
            self.scale_fault("SF_GRANULARITY", on, "one factor for half as many k", &ScaleFault::Fine);
            self.scale_fault(
                "SF_K_OFF_BY_ONE",
                on,
                "the next block's, the last clamped",
                &ScaleFault::Next { clamp: true },
            );
            self.scale_fault(
                "SF_K_OFF_BY_ONE",
                on,
                "the next block's, beyond the last padding",
                &ScaleFault::Next { clamp: false },
            );
            self.scale_fault("SF_K_OFF_BY_ONE", on, "the previous block's", &ScaleFault::Previous);
            self.scale_fault(
                "SF_TRANSPOSED",
                on,
                "stored as (block, row), read as (row, block)",
                &ScaleFault::Transposed,
            );
            self.scale_fault("SF_ROW_OF_TILE", on, "those of the tile's first row", &ScaleFault::TileRow);
            let Some((rows, groups)) = side.scale_extent(t.k) else { continue };
            if scale.swizzled {
                self.scale_fault(
                    "SF_NOT_SWIZZLED",
                    on,
                    "stored row-major, read in the 128 × 4 layout",
                    &ScaleFault::RowMajor,
                );
                if rows * groups < swizzled_storage(rows, groups) {
                    let cause = format!(
                        "physical positions from {} on are zero: the logical size was taken for the physical",
                        rows * groups
                    );
                    self.scale_fault("SF_PADDING_ZERO", on, &cause, &ScaleFault::Bound(rows * groups));
                }
            }
            if scale.element == ElementType::Ue4m3 {
                let cause = "subnormal factors are read as zero";
                self.scale_fault("SF_DECODE_WRONG", on, cause, &ScaleFault::Flushed);
                if is_a && t.b.scale.is_some_and(|b| b.element == scale.element) {
                    self.scale_fault("SF_DECODE_WRONG", (true, true), cause, &ScaleFault::Flushed);
                }
            }
            for other in misreadings(scale) {
                let cause = format!("codes of {} are read as {other}", scale.element);
                self.scale_fault("SF_DECODE_WRONG", on, &cause, &ScaleFault::As(*other));
                if is_a && t.b.scale.is_some_and(|b| b.element == scale.element) {
                    self.scale_fault("SF_DECODE_WRONG", (true, true), &cause, &ScaleFault::As(*other));
                }
            }
        }
        if t.a.scale.is_some() && t.b.scale.is_some() {
            let side = SideKnobs { other_scale: true, ..SideKnobs::default() };
            let knobs = Knobs { a: side.clone(), b: side, ..Knobs::default() };
            self.add("SF_SWAPPED_AB", Stage::QuantisationScale, "the scales of a and b are exchanged", knobs, SCALES);
        }
        self.wrong_axis();
    }

    /// The factors of one operand taken at the rows of the other.
    fn wrong_axis(&mut self) {
        let t = self.target;
        for (is_a, side, other) in [(true, t.a, "b"), (false, t.b, "a")] {
            if side.scale.is_none() || !t.is_plain() {
                continue;
            }
            let mut poisons = vec![None];
            poisons.extend(side.scale.and_then(|s| plain_poison(s.element)).map(Some));
            for scale_poison in poisons {
                let own = SideKnobs { scale: Some(ScaleFault::Ignored), ..SideKnobs::default() };
                let also = SideKnobs { also_other_scale: true, scale_poison, ..SideKnobs::default() };
                let (a, b) = if is_a { (own, also) } else { (also, own) };
                let cause = format!("scales of {}: indexed by the rows of {other}", if is_a { "a" } else { "b" });
                self.add("SF_WRONG_AXIS", Stage::QuantisationScale, cause, Knobs { a, b, ..Knobs::default() }, SCALES);
            }
        }
    }
}

fn misreadings(scale: BlockScale) -> &'static [ElementType] {
    match scale.element {
        ElementType::Ue8m0 => &[ElementType::Ue4m3],
        ElementType::Ue4m3 => &[ElementType::Ue8m0, ElementType::E5m2],
        _ => &[],
    }
}
