//! S20 and S22: blocks, threads, clusters and grids.

use super::Context;
use super::number::{down, up};
use crate::model::{Fact, Finding, Findings, Reproducer, Target, Weight};

/// Threads of a block, on every architecture.
const MOST_THREADS: u64 = 1024;
/// Blocks of a grid in x, y, z.
const MOST_BLOCKS: [u64; 3] = [(1 << 31) - 1, 65535, 65535];
const AXES: [&str; 3] = ["x", "y", "z"];

pub(super) fn check(reproducer: &Reproducer, context: &Context<'_>, targets: &[Target], out: &mut Findings) {
    for one in reproducer.prologue.iter().filter(|one| !one.host) {
        if one.threads.threads() == 0 || one.threads.threads() > MOST_THREADS {
            out.push(
                Finding::new(
                    "K-S22",
                    Weight::Refuse,
                    format!(
                        "a block of {} threads of prologue `{}`; legal is 1 to {MOST_THREADS}",
                        one.threads.threads(),
                        one.name
                    ),
                )
                .of("threads", one.threads.origin())
                .then("its launch returns error 9 (invalid configuration)")
                .help(format!("the nearest legal value is {}", one.threads.threads().clamp(32, MOST_THREADS))),
            );
        }
        grid(&one.grid, out);
    }
    if reproducer.launch.kind.value.decides_its_launch() {
        out.skip("K-S22", "grid and block, which production's host code decides".to_owned());
        return;
    }
    threads(reproducer, out);
    grid(&reproducer.launch.grid, out);
    cluster(reproducer, context, targets, out);
}

fn threads(reproducer: &Reproducer, out: &mut Findings) {
    let block = &reproducer.launch.threads;
    let threads = block.threads();
    if threads == 0 || threads > MOST_THREADS {
        out.push(
            Finding::new("K-S22", Weight::Refuse, format!("a block of {} threads; legal is 1 to {MOST_THREADS}", threads))
                .of("threads", block.origin())
                .then("the launch returns error 9 (invalid configuration); ptxas accepts __launch_bounds__ above 1024 silently")
                .help(format!("the nearest legal value is {}", threads.clamp(32, MOST_THREADS))),
        );
    } else if !threads.is_multiple_of(32) {
        out.push(
            Finding::new("K-S22", Weight::Note, format!("a block of {} threads is no whole number of warps", threads))
                .of("threads", block.origin())
                .then("the last warp is incomplete: warp-wide and warpgroup-wide instructions in it are undefined")
                .help(match down(threads, 32) {
                    0 => "the nearest whole warp: 32".to_owned(),
                    fewer => format!("nearest whole warps: {fewer} and {}", up(threads, 32)),
                }),
        );
    }
    let bounds = reproducer.launch.launch_bounds.as_ref().or(reproducer.kernel.signature.launch_bounds.as_ref());
    if let Some(bounds) = bounds {
        let evaluated = reproducer.launch.most_threads.as_ref().map(|most| most.value);
        match evaluated.or_else(|| bounds.value.split(',').next()?.trim().parse().ok()) {
            Some(most) if threads > most => out.push(
                Finding::new(
                    "K-S22",
                    Weight::Refuse,
                    format!(
                        "a block of {} threads, and the kernel is bound to {most} (`__launch_bounds__({})`)",
                        threads, bounds.value
                    ),
                )
                .of("threads", block.origin())
                .of("launch bounds", &bounds.origin)
                .then("the launch returns an error: the kernel was compiled for fewer threads")
                .help(format!("the nearest legal value is {most}")),
            ),
            Some(_) => {}
            None => out.skip("K-S22", format!("the value of `__launch_bounds__({})`", bounds.value)),
        }
    }
}

fn grid(grid: &[Fact<u64>; 3], out: &mut Findings) {
    for (axis, (blocks, most)) in grid.iter().zip(MOST_BLOCKS).enumerate() {
        if blocks.value == 0 || blocks.value > most {
            let help = if blocks.value == 0 {
                "a size of the problem is 0: production must skip this launch".to_owned()
            } else {
                format!("the nearest legal value is {most}")
            };
            out.push(
                Finding::new(
                    "K-S22",
                    Weight::Refuse,
                    format!("a grid of {} blocks in {}; legal is 1 to {most}", blocks.value, AXES[axis]),
                )
                .of(format!("grid {}", AXES[axis]), &blocks.origin)
                .then("the launch returns error 9 (invalid configuration)")
                .help(help),
            );
        }
    }
}

fn cluster(reproducer: &Reproducer, context: &Context<'_>, targets: &[Target], out: &mut Findings) {
    let launch = &reproducer.launch;
    let size = launch.cluster.iter().fold(1_u64, |product, extent| product.saturating_mul(extent.value));
    if size <= 1 {
        if size == 0 {
            out.push(
                Finding::new("K-S20", Weight::Refuse, "a cluster of 0 CTAs")
                    .of("cluster x", &launch.cluster[0].origin)
                    .then("the launch returns error 912 (invalid cluster size)")
                    .help("the nearest legal value is 1 in each dimension"),
            );
        }
        return;
    }
    for (axis, (blocks, extent)) in launch.grid.iter().zip(&launch.cluster).enumerate() {
        if extent.value != 0 && !blocks.value.is_multiple_of(extent.value) {
            out.push(indivisible(AXES[axis], blocks, extent));
        }
    }
    for target in targets {
        let Some(limits) = context.architecture(target).map(|architecture| &architecture.limits) else {
            out.skip("K-S20", format!("cluster limits of {target}"));
            continue;
        };
        let (weight, limit, consequence) = if size > limits.largest_cluster {
            (
                Weight::Refuse,
                limits.largest_cluster,
                "the launch returns error 912 (invalid cluster size); nvcc and ptxas say nothing",
            )
        } else if size > limits.portable_cluster {
            (
                Weight::Note,
                limits.portable_cluster,
                "needs cudaFuncAttributeNonPortableClusterSizeAllowed on this instantiation, and not every device can place it",
            )
        } else {
            continue;
        };
        out.push(
            Finding::new("K-S20", weight, format!("a cluster of {size} CTAs; {target} takes {limit}"))
                .of("cluster x", &launch.cluster[0].origin)
                .of("cluster y", &launch.cluster[1].origin)
                .of("cluster z", &launch.cluster[2].origin)
                .then(consequence)
                .help(if limit == 0 {
                    "no cluster: sm_90 is the first with them".to_owned()
                } else {
                    format!("the nearest legal size is {limit}")
                }),
        );
    }
    declared(reproducer, out);
}

fn indivisible(axis: &str, blocks: &Fact<u64>, extent: &Fact<u64>) -> Finding {
    Finding::new(
        "K-S20",
        Weight::Refuse,
        format!("a grid of {} blocks in {axis} is no multiple of the cluster's {} there", blocks.value, extent.value),
    )
    .of(format!("grid {axis}"), &blocks.origin)
    .of(format!("cluster {axis}"), &extent.origin)
    .then("the launch returns error 1 (invalid value) or 912; CUTLASS reports it as Error Internal")
    .help(format!(
        "nearest legal grids: {} and {}",
        down(blocks.value, extent.value),
        up(blocks.value, extent.value)
    ))
}

/// `__cluster_dims__` of the header against the launch.
fn declared(reproducer: &Reproducer, out: &mut Findings) {
    let Some(text) = &reproducer.kernel.signature.cluster_dims else { return };
    let evaluated = reproducer
        .launch
        .declared_cluster
        .as_ref()
        .map(|dims| dims.iter().map(|extent| extent.value).collect::<Vec<_>>());
    let parsed = || text.value.split(',').map(|part| part.trim().parse().ok()).collect::<Option<Vec<u64>>>();
    let Some(mut dims) = evaluated.or_else(parsed) else {
        out.skip("K-S20", format!("the value of `__cluster_dims__({})`", text.value));
        return;
    };
    dims.resize(3, 1);
    let launched = reproducer.launch.cluster.each_ref().map(|extent| extent.value);
    if dims != launched {
        out.push(
            Finding::new(
                "K-S20",
                Weight::Refuse,
                format!(
                    "the kernel declares `__cluster_dims__({})` and is launched with a cluster of {} x {} x {}",
                    text.value, launched[0], launched[1], launched[2]
                ),
            )
            .of("declaration", &text.origin)
            .of("cluster x", &reproducer.launch.cluster[0].origin)
            .then("the launch returns error 1 (invalid value): the attribute contradicts the declaration")
            .help(format!("launch with {} x {} x {}", dims[0], dims[1], dims[2])),
        );
    }
}
