//! S13 and S21: groups (experts) that share one tensor or one grid.

use super::number::up;
use crate::model::{Fact, Finding, Findings, Reproducer, Role, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    let Some((name, groups)) = groups(reproducer) else { return };
    flattened(reproducer, &name, &groups, out);
    clusters(reproducer, &name, &groups, out);
}

/// The number of groups: a leaf or a template argument that is named for it, above 1.
fn groups(reproducer: &Reproducer) -> Option<(String, Fact<u64>)> {
    let named = |name: &str| {
        let name = name.to_lowercase();
        let counted = ["num", "count", "n_"].iter().any(|word| name.contains(word)) || name.ends_with('s');
        counted
            && ["group", "expert"].iter().any(|word| name.contains(word))
            && !name.contains("size")
            && !name.contains("topk")
    };
    let number = |name: &str, fact: &Fact<String>| {
        let value = fact.value.trim().parse::<u64>().ok().filter(|value| *value > 1 && named(name))?;
        Some((name.to_owned(), Fact { value, origin: fact.origin.clone() }))
    };
    let parameters = reproducer.kernel.signature.template_parameters.iter();
    let mut arguments = parameters.zip(&reproducer.instantiation.template_arguments);
    let leaf = reproducer.leaves.iter().find_map(|(name, fact)| number(name, fact));
    leaf.or_else(|| arguments.find_map(|(parameter, argument)| number(&parameter.name, argument)))
}

/// S13: a box that reaches from one group's rows into the next one's.
fn flattened(reproducer: &Reproducer, name: &str, groups: &Fact<u64>, out: &mut Findings) {
    for pair in reproducer.descriptors.iter().filter(|pair| pair.operand == Role::Out.name()) {
        let map = pair.chosen(reproducer.descriptor_source);
        let ([_, .., rows], [_, .., box_rows]) = (map.global_dim.as_slice(), map.box_dim.as_slice()) else { continue };
        if map.global_dim.len() != 2 || groups.value == 0 || !rows.value.is_multiple_of(groups.value) {
            continue;
        }
        let each = rows.value / groups.value;
        if each.is_multiple_of(box_rows.value.max(1)) {
            continue;
        }
        out.push(
            Finding::new(
                "K-S13",
                Weight::Predict,
                format!(
                    "`{}` stores boxes of {} rows, and {} groups of {each} rows lie one behind another in it",
                    pair.name, box_rows.value, groups.value
                ),
            )
            .of(name, &groups.origin)
            .of(format!("{} boxDim[1]", pair.name), &box_rows.origin)
            .of(format!("{} globalDim[1]", pair.name), &rows.origin)
            .then("the last box of a group overwrites the first rows of the next one, in an order that no barrier sets")
            .help(format!(
                "boxes that divide {each} rows, groups padded to {} rows, or a dimension of its own for the groups",
                up(each, box_rows.value.max(1))
            )),
        );
    }
}

/// S21: a cluster that spans two groups.
fn clusters(reproducer: &Reproducer, name: &str, groups: &Fact<u64>, out: &mut Findings) {
    let cluster = &reproducer.launch.cluster;
    let size = cluster.iter().fold(1_u64, |all, extent| all.saturating_mul(extent.value));
    if size <= 1 {
        return;
    }
    let contract = &reproducer.contract;
    let (Some(m), Some(n)) = (&contract.tile.m, &contract.tile.n) else {
        out.skip("K-S21", "rows and columns of a tile");
        return;
    };
    let (rows, columns) = (contract.m.value.div_ceil(m.value.max(1)), contract.n.value.div_ceil(n.value.max(1)));
    if rows.is_multiple_of(size) || columns.is_multiple_of(size) {
        return;
    }
    out.push(
        Finding::new(
            "K-S21",
            Weight::Predict,
            format!("a group has {rows} x {columns} tiles, of which neither is a multiple of the cluster's {size} CTAs"),
        )
        .of(name, &groups.origin)
        .of("cluster x", &cluster[0].origin)
        .of("rows of a tile", &m.origin)
        .of("columns of a tile", &n.origin)
        .then("unless the scheduler pads each group, a cluster spans two of them: its CTAs wait for each other's copies, and hang or mix operands")
        .help(format!("tiles of a group padded to {} or {}, or no cluster", up(rows, size), up(columns, size))),
    );
}
