//! What the driver refuses at encode time (the rules that `cuda.h` documents for `cuTensorMapEncodeTiled`).
//!
//! A box larger than the tensor is not among them: the driver accepts it.

use super::{ElementType, Interleave, OobFill, Swizzle, TensorMap};

/// One broken rule, in words: the value, the limit and the nearest legal value where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(pub String);

impl TensorMap {
    /// Every rule that this descriptor breaks; empty when the driver would encode it.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut report = |text: String| problems.push(Problem(text));
        self.check_shape(&mut report);
        self.check_alignment(&mut report);
        self.check_box(&mut report);
        self.check_modes(&mut report);
        problems
    }

    fn check_shape(&self, report: &mut impl FnMut(String)) {
        let rank = self.rank;
        let least = if self.interleave == Interleave::None { 1 } else { 3 };
        if !(least..=5).contains(&rank) {
            report(format!("rank {rank} is not in {least}..5"));
        }
        for (d, &dim) in self.dims.iter().enumerate().take(rank.into()) {
            if dim == 0 || dim > 1 << 32 {
                report(format!("globalDim[{d}] = {dim} is not in 1..2^32"));
            }
        }
        let inner = self.dims[0];
        if self.element.is_align16() && !inner.is_multiple_of(128) {
            report(format!("globalDim[0] = {inner} is not a multiple of 128, as {:?} needs", self.element));
        }
        if self.element == ElementType::U4Align8 && !inner.is_multiple_of(2) {
            report(format!("globalDim[0] = {inner} is odd"));
        }
    }

    /// Alignment in bytes of the address and of every stride.
    fn alignment(&self) -> u64 {
        if self.interleave == Interleave::B32 || self.element.is_align16() { 32 } else { 16 }
    }

    fn check_alignment(&self, report: &mut impl FnMut(String)) {
        let alignment = self.alignment();
        if self.address == 0 {
            report("globalAddress is null".into());
        }
        if !self.address.is_multiple_of(alignment) {
            report(format!("globalAddress {:#x} is not aligned to {alignment} bytes", self.address));
        }
        for (d, &stride) in self.strides.iter().enumerate().take(usize::from(self.rank).saturating_sub(1)) {
            if !stride.is_multiple_of(alignment) {
                let next = stride.checked_next_multiple_of(alignment).unwrap_or(stride);
                report(format!(
                    "globalStrides[{d}] = {stride} bytes is not a multiple of {alignment} (the next one is {next})"
                ));
            }
            if stride >= 1 << 40 {
                report(format!("globalStrides[{d}] = {stride} bytes is not below 2^40"));
            }
        }
    }

    fn check_box(&self, report: &mut impl FnMut(String)) {
        for d in 0..usize::from(self.rank).min(self.box_dims.len()) {
            let (extent, step) = (self.box_dims[d], self.element_strides[d]);
            if !(1..=256).contains(&extent) {
                report(format!("boxDim[{d}] = {extent} is not in 1..256"));
            }
            let ignored = d == 0 && self.interleave == Interleave::None;
            if !ignored && !(1..=8).contains(&step) {
                report(format!("elementStrides[{d}] = {step} is not in 1..8"));
            }
        }
        if self.element.is_align16() && self.box_dims[0] != 128 {
            report(format!("boxDim[0] = {} must be 128 for {:?}", self.box_dims[0], self.element));
        }
        if self.interleave != Interleave::None {
            return;
        }
        let inner = self.element.shared_bytes(self.box_dims[0].into());
        if !(u64::from(self.box_dims[0]) * u64::from(self.element.bits())).is_multiple_of(128) {
            report(format!("boxDim[0] = {} is {inner} bytes, not a multiple of 16", self.box_dims[0]));
        }
        if let Some(span) = self.swizzle.span()
            && inner > u64::from(span)
        {
            let most = u64::from(span) * 8 / u64::from(self.element.bits());
            report(format!(
                "boxDim[0] = {} is {inner} bytes, more than the {span} of the swizzle (at most {most} elements)",
                self.box_dims[0]
            ));
        }
    }

    fn check_modes(&self, report: &mut impl FnMut(String)) {
        if self.interleave == Interleave::B32 && self.swizzle != Swizzle::B32 {
            report("interleave 32B needs swizzle 32B".into());
        }
        if self.element == ElementType::U6Align16 && self.interleave != Interleave::None {
            report("16U6_ALIGN16B needs interleave none".into());
        }
        let restricted = match self.element {
            ElementType::U6Align16 => {
                !matches!(self.swizzle, Swizzle::None | Swizzle::B128 | Swizzle::B128Atom32 | Swizzle::B128Atom64)
            }
            ElementType::U4Align16 => !matches!(self.swizzle, Swizzle::None | Swizzle::B128 | Swizzle::B128Atom32),
            _ => false,
        };
        if restricted {
            report(format!("swizzle {:?} is not available for {:?}", self.swizzle, self.element));
        }
        if self.fill == OobFill::Nan && !self.element.is_float() {
            report(format!("out-of-bounds fill NaN needs a floating type, not {:?}", self.element));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::L2Promotion;
    use super::*;

    /// A bf16 tensor of 1024 x 6144 (outer x inner), box 128 x 64, swizzle 128B.
    fn legal() -> TensorMap {
        TensorMap {
            element: ElementType::Bf16,
            rank: 2,
            address: 0x1000,
            dims: [6144, 1024, 1, 1, 1],
            strides: [12288, 0, 0, 0],
            box_dims: [64, 128, 1, 1, 1],
            element_strides: [1; 5],
            interleave: Interleave::None,
            swizzle: Swizzle::B128,
            l2_promotion: L2Promotion::B256,
            fill: OobFill::Zero,
        }
    }

    fn only(change: impl FnOnce(&mut TensorMap)) -> String {
        let mut map = legal();
        change(&mut map);
        let problems = map.check();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].0.clone()
    }

    #[test]
    fn a_legal_descriptor_has_no_problem_and_may_overhang_its_tensor() {
        assert_eq!(legal().check(), []);
        assert_eq!(TensorMap { dims: [6144, 8, 1, 1, 1], ..legal() }.check(), []);
        assert_eq!(legal().box_bytes(), 16384);
    }

    #[test]
    fn every_rule_of_the_driver_is_applied_alone() {
        assert_eq!(only(|m| m.address = 0x1008), "globalAddress 0x1008 is not aligned to 16 bytes");
        assert_eq!(only(|m| m.address = 0), "globalAddress is null");
        assert_eq!(only(|m| m.dims[1] = 0), "globalDim[1] = 0 is not in 1..2^32");
        assert_eq!(
            only(|m| m.strides[0] = 1022),
            "globalStrides[0] = 1022 bytes is not a multiple of 16 (the next one is 1024)"
        );
        assert_eq!(only(|m| m.strides[0] = 1 << 40), "globalStrides[0] = 1099511627776 bytes is not below 2^40");
        assert_eq!(only(|m| m.box_dims[1] = 512), "boxDim[1] = 512 is not in 1..256");
        assert_eq!(only(|m| m.element_strides[1] = 9), "elementStrides[1] = 9 is not in 1..8");
        assert_eq!(only(|m| m.box_dims[0] = 63), "boxDim[0] = 63 is 126 bytes, not a multiple of 16");
        assert_eq!(
            only(|m| m.box_dims[0] = 128),
            "boxDim[0] = 128 is 256 bytes, more than the 128 of the swizzle (at most 64 elements)"
        );
        assert_eq!(only(|m| m.rank = 6), "rank 6 is not in 1..5");
        assert_eq!(
            only(|m| {
                m.element = ElementType::U16;
                m.fill = OobFill::Nan;
            }),
            "out-of-bounds fill NaN needs a floating type, not U16"
        );
    }

    #[test]
    fn the_first_element_stride_is_ignored_without_interleave() {
        assert_eq!(TensorMap { element_strides: [0, 1, 1, 1, 1], ..legal() }.check(), []);
    }

    #[test]
    fn packed_types_take_whole_groups() {
        let packed = TensorMap {
            element: ElementType::U4Align16,
            dims: [256, 64, 1, 1, 1],
            strides: [128, 0, 0, 0],
            box_dims: [128, 8, 1, 1, 1],
            ..legal()
        };
        assert_eq!(packed.check(), []);
        assert_eq!(packed.box_bytes(), 1024);
        let odd = TensorMap { dims: [130, 64, 1, 1, 1], ..packed };
        assert_eq!(odd.check()[0].0, "globalDim[0] = 130 is not a multiple of 128, as U4Align16 needs");
    }
}
