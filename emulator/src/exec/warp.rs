//! A warp: registers, and which lanes are where.

use super::cluster::Env;
use super::code::Special;
use super::registers::{Registers, Words};

/// Why a group of lanes does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Gave way to other warps; runs again at the next turn.
    Paused,
    /// Waits at a warp-wide instruction for these lanes.
    Held {
        needed: u32,
    },
    /// Waits at a named barrier for the end of this generation.
    Barrier {
        id: u8,
        generation: u64,
    },
    /// Waits for the cluster barrier's generation to end.
    Cluster {
        generation: u64,
    },
    /// Waits for the phase of an mbarrier with this parity to complete.
    Mbarrier {
        address: u32,
        parity: u32,
    },
}

/// Lanes that stand at the same instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) pc: u32,
    pub(super) mask: u32,
    pub(super) state: State,
}

/// One warp.
pub(super) struct Warp {
    pub(super) index: u32,
    pub(super) registers: Registers,
    pub(super) groups: Vec<Group>,
    /// Lanes that have not ended.
    pub(super) live: u32,
    /// Local memory: one word of all lanes after the other.
    pub(super) local: Vec<Words>,
    /// Generation of the cluster barrier this warp arrived at last.
    pub(super) cluster_generation: u64,
    /// The allocation that the last device access hit.
    pub(super) hint: usize,
    /// Instructions executed.
    pub(super) steps: u64,
    /// Lanes that used a whole turn while others waited.
    pub(super) avoid: u32,
    /// Lanes whose `try_wait` gives up now.
    pub(super) expired: u32,
    /// Lanes that have arrived at the named barrier they stand at.
    pub(super) arrived: u32,
    /// By lane, groups of `cp.async` committed.
    pub(super) copy_groups: Words,
    /// By lane, bulk groups committed.
    pub(super) bulk_groups: Words,
    /// wgmma groups committed, and what is under way.
    pub(super) wgmma_groups: u32,
    pub(super) wgmma: Vec<super::matrix_run::Issued>,
}

/// What the special registers of a thread are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) cluster: [u32; 3],
    pub(super) dynamic_shared: u32,
    pub(super) total_shared: u32,
}

impl Warp {
    pub(super) fn new(env: &Env<'_>, cta: [u32; 3], rank: u32, index: u32) -> Warp {
        let (code, shape) = (env.code, &env.shape);
        let threads: u32 = shape.block.iter().product();
        let first = index * 32;
        let live = match threads - first {
            32.. => u32::MAX,
            rest => (1 << rest) - 1,
        };
        let [p, w, d] = code.registers.map(|n| n as usize);
        let mut registers = Registers { w: vec![[0; 32]; w], d: vec![[0; 32]; d], p: vec![0; p] };
        for &(register, value) in &code.predicates {
            registers.p[register as usize] = if value { u32::MAX } else { 0 };
        }
        for &(register, value) in &code.words {
            registers.w[register as usize] = [value; 32];
        }
        for &(register, value) in &code.doubles {
            registers.d[register as usize] = [value; 32];
        }
        for &(register, special) in &code.special_words {
            registers.w[register as usize] =
                std::array::from_fn(|lane| value(special, shape, cta, rank, index, lane as u32));
        }
        for &(register, special) in &code.special_doubles {
            registers.d[register as usize] =
                std::array::from_fn(|lane| value(special, shape, cta, rank, index, lane as u32).into());
        }
        let local = vec![[env.options.other_poison.unwrap_or(0); 32]; code.local_bytes.div_ceil(4) as usize];
        let groups = vec![Group { pc: 0, mask: live, state: State::Ready }];
        Warp {
            index,
            registers,
            groups,
            live,
            local,
            cluster_generation: 0,
            hint: 0,
            steps: 0,
            avoid: 0,
            expired: 0,
            arrived: 0,
            copy_groups: [0; 32],
            bulk_groups: [0; 32],
            wgmma_groups: 0,
            wgmma: Vec::new(),
        }
    }
}

fn value(special: Special, shape: &Shape, cta: [u32; 3], rank: u32, warp: u32, lane: u32) -> u32 {
    let thread = warp * 32 + lane;
    let [x, y, _] = shape.block;
    let linear = |index: [u32; 3], size: [u32; 3]| index[0] + size[0] * (index[1] + size[1] * index[2]);
    let at = |values: [u32; 3], axis: u8| values[usize::from(axis) % 3];
    let each = |f: &dyn Fn(usize) -> u32| [f(0), f(1), f(2)];
    match special {
        Special::Thread(axis) => at([thread % x, thread / x % y, thread / x / y], axis),
        Special::Threads(axis) => at(shape.block, axis),
        Special::Cta(axis) => at(cta, axis),
        Special::Ctas(axis) => at(shape.grid, axis),
        Special::Lane => lane,
        Special::Warp => warp,
        Special::Warps => shape.block.iter().product::<u32>().div_ceil(32),
        Special::ClusterRank => rank,
        Special::ClusterSize => shape.cluster.iter().product(),
        Special::CtaInCluster(axis) => at(each(&|i| cta[i] % shape.cluster[i]), axis),
        Special::CtasInCluster(axis) => at(shape.cluster, axis),
        Special::Cluster(axis) => at(each(&|i| cta[i] / shape.cluster[i]), axis),
        Special::Clusters(axis) => at(each(&|i| shape.grid[i] / shape.cluster[i]), axis),
        Special::Multiprocessor => linear(cta, shape.grid) % MULTIPROCESSORS,
        Special::Multiprocessors => MULTIPROCESSORS,
        Special::MaskEqual => 1 << lane,
        Special::MaskLess => (1 << lane) - 1,
        Special::MaskLessEqual => u32::MAX >> (31 - lane),
        Special::MaskGreater => u32::MAX.checked_shl(lane + 1).unwrap_or(0),
        Special::MaskGreaterEqual => u32::MAX << lane,
        Special::DynamicShared => shape.dynamic_shared,
        Special::TotalShared => shape.total_shared,
        Special::Grid => 1,
        Special::Shared(offset) => rank << 24 | offset,
    }
}

/// Number of multiprocessors that the simulated device reports.
pub const MULTIPROCESSORS: u32 = 132;
