//! The fault dictionary: every class that the host model can predict, as settings of its knobs.

mod epilogue;
mod group;
mod load;
mod multiply;
mod scale;
mod store;

use std::sync::Arc;

use crate::model::Stage;

use super::kind::Kind;
use super::knobs::Knobs;
use super::target::Target;

/// One way to be wrong.
#[derive(Debug, Clone)]
pub struct Hypothesis {
    /// Name of its class.
    pub class: &'static str,
    /// Its stage.
    pub stage: Stage,
    /// What is wrong, in one clause, with its parameters.
    pub cause: String,
    /// The settings.
    pub knobs: Knobs,
    /// It is tried only if one of these kinds fails; empty: if the written elements are not the expected ones.
    pub gate: &'static [Kind],
}

/// What the maps gave, for hypotheses with parameters.
#[derive(Debug, Clone, Default)]
pub struct Fits {
    /// Address of (r, k) in a: r · .0 + k · .1 + .2.
    pub a: Option<(i64, i64, i64)>,
    /// The same for b.
    pub b: Option<(i64, i64, i64)>,
    /// Blocks of k whose count is not one; all, where unknown.
    pub blocks: Option<Vec<usize>>,
    /// Repetitions of the whole sum, if all ones say so.
    pub repeats: Vec<usize>,
}

/// Everything for one target.
pub struct Dictionary<'a> {
    target: &'a Target,
    fits: &'a Fits,
    list: Vec<Hypothesis>,
}

/// Kinds that show a fault of an operand's path.
pub(super) const OPERAND: &[Kind] = &[
    Kind::CoverA,
    Kind::CoverB,
    Kind::CodesA,
    Kind::CodesB,
    Kind::CountA,
    Kind::CountB,
    Kind::MapA,
    Kind::MapB,
    Kind::Random,
    Kind::RandomScales,
];

impl<'a> Dictionary<'a> {
    /// All hypotheses of `target`.
    pub fn all(target: &'a Target, fits: &'a Fits) -> Vec<Hypothesis> {
        let mut dictionary = Dictionary { target, fits, list: Vec::new() };
        dictionary.multiply();
        dictionary.load();
        dictionary.scale();
        dictionary.epilogue();
        dictionary.store();
        dictionary.groups();
        dictionary.list
    }

    fn add(
        &mut self,
        class: &'static str,
        stage: Stage,
        cause: impl Into<String>,
        knobs: Knobs,
        gate: &'static [Kind],
    ) {
        self.list.push(Hypothesis { class, stage, cause: cause.into(), knobs, gate });
    }

    /// k of block b, the overhang of the last one included.
    fn block(&self, b: usize) -> std::ops::Range<u32> {
        let tile = self.target.tile_k;
        (b * tile) as u32..((b + 1) * tile) as u32
    }

    /// Slots that take both operands from these blocks.
    fn blocks(&self, blocks: impl IntoIterator<Item = usize>) -> Arc<Vec<(u32, u32)>> {
        Arc::new(blocks.into_iter().flat_map(|b| self.block(b).map(|k| (k, k))).collect())
    }

    /// Slots that take a from the first and b from the second block of each pair.
    fn pairs(&self, pairs: impl IntoIterator<Item = (usize, usize)>) -> Arc<Vec<(u32, u32)>> {
        Arc::new(pairs.into_iter().flat_map(|(a, b)| self.block(a).zip(self.block(b))).collect())
    }
}
