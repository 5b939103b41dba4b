//! S10 and S03b: a descriptor against the operand it describes.

use crate::model::{
    Contract, DescriptorPair, Fact, Finding, Findings, Major, Operand, Reproducer, Role, TensorMap, Weight,
};

const CODE: &str = "K-S10";

pub(super) fn check(pair: &DescriptorPair, map: &TensorMap, reproducer: &Reproducer, out: &mut Findings) {
    let contract = &reproducer.contract;
    let Some(operand) = contract.operands.iter().find(|o| o.role.value.name() == pair.operand) else { return };
    if !matches!(operand.role.value, Role::A | Role::B | Role::Out | Role::Residual) {
        return;
    }
    // Dimensions of extent 1 beyond the second say nothing.
    let rank = map.global_dim.iter().rposition(|extent| extent.value != 1).map_or(2, |last| (last + 1).max(2));
    let [inner, outer] = &map.global_dim[..rank.min(map.global_dim.len())] else {
        out.skip(
            CODE,
            format!(
                "which dimensions of the rank-{} descriptor `{}` are rows and columns",
                map.global_dim.len(),
                pair.name
            ),
        );
        return;
    };
    let (fast, slow) = match operand.major.value {
        Major::K => (&operand.columns, &operand.rows),
        Major::Mn => (&operand.rows, &operand.columns),
    };
    extent(pair, contract, 0, inner, fast, operand, out);
    extent(pair, contract, 1, outer, slow, operand, out);
    stride(pair, map, operand, out);
}

fn extent(
    pair: &DescriptorPair,
    contract: &Contract,
    dim: usize,
    got: &Fact<u64>,
    wanted: &Fact<u64>,
    operand: &Operand,
    out: &mut Findings,
) {
    if got.value == wanted.value {
        return;
    }
    let sizes = [("m", &contract.m), ("n", &contract.n), ("k", &contract.k)];
    let another = sizes.iter().find(|(_, size)| size.value == got.value).map(|(name, _)| *name);
    let mut message = format!(
        "globalDim[{dim}] of descriptor `{}` is {}; its operand `{}` has {} there",
        pair.name, got.value, operand.role.value, wanted.value
    );
    if let Some(name) = another {
        message
            .push_str(&format!(", and {} is the problem's {name}: a dimension taken from the wrong place", got.value));
    }
    let smaller = got.value < wanted.value;
    let (weight, consequence) = if smaller {
        (
            Weight::Predict,
            format!(
                "elements from {} on are taken as outside the tensor: loads give zeros, stores are dropped",
                got.value
            ),
        )
    } else if another.is_some() {
        (Weight::Predict, "the loads go beyond the operand: wrong elements, or error 700 (illegal address)".to_owned())
    } else {
        (Weight::Note, format!("loads beyond {} read what lies behind: padding must not count", wanted.value))
    };
    out.push(
        Finding::new(CODE, weight, message)
            .of(format!("globalDim[{dim}]"), &got.origin)
            .of("extent of the operand", &wanted.origin)
            .then(consequence)
            .help(format!(
                "{} rows of {} elements are contiguous in `{}`: globalDim[{dim}] = {}",
                operand.rows.value, operand.columns.value, operand.role.value, wanted.value
            )),
    );
}

fn stride(pair: &DescriptorPair, map: &TensorMap, operand: &Operand, out: &mut Findings) {
    let Some(stride) = map.global_strides.first() else { return };
    let bits = operand.leading_dimension.value.saturating_mul(u64::from(operand.element.value.bits()));
    let wanted = bits / 8;
    if stride.value == wanted || !bits.is_multiple_of(8) {
        return;
    }
    let wrapped = [u64::from(wanted as u32), i64::from(wanted as i32) as u64];
    if wanted > i32::MAX as u64 && wrapped.contains(&stride.value) {
        out.push(
            Finding::new(
                "K-S03b",
                Weight::Predict,
                format!(
                    "the stride of dimension 1 of descriptor `{}` is {} bytes: the product {} x {} bits overflowed 32 bits; \
                     its true value is {wanted} bytes",
                    pair.name,
                    stride.value,
                    operand.leading_dimension.value,
                    operand.element.value.bits()
                ),
            )
            .of("globalStrides of dimension 1", &stride.origin)
            .of("leading dimension", &operand.leading_dimension.origin)
            .then("rows are read from the wrong addresses, within the tensor or outside it")
            .help(format!("compute it in 64 bits (cast one factor to uint64_t): {wanted} bytes")),
        );
        return;
    }
    out.push(
        Finding::new(
            CODE,
            Weight::Predict,
            format!(
                "the stride of dimension 1 of descriptor `{}` is {} bytes; the leading dimension of `{}` makes it {wanted} \
                 ({} x {} bits)",
                pair.name,
                stride.value,
                operand.role.value,
                operand.leading_dimension.value,
                operand.element.value.bits()
            ),
        )
        .of("globalStrides of dimension 1", &stride.origin)
        .of("leading dimension", &operand.leading_dimension.origin)
        .then("row 0 is right and the error grows with the row index; all-ones inputs cannot see it")
        .help(format!("{wanted} bytes")),
    );
}
