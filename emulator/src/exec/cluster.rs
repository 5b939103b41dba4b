//! The CTAs of a cluster: what one host thread runs at a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::code::Code;
use super::deadlock::{Deadlock, Wait, Waiter};
use super::failure::{Cause, Failure, Site};
use super::launch::{Launch, Options};
use super::mbarrier::Mbarrier;
use super::tmem_run::TensorMemory;
use super::trace::Step;
use super::track::{Findings, Track};
use super::warp::{Group, Shape, State, Warp};
use super::watch::Watcher;
use super::work::Pending;
use crate::memory::View;
use crate::ptx::Module;

/// What all clusters of a launch share.
pub(super) struct Env<'a> {
    pub(super) code: &'a Code,
    pub(super) module: &'a Module,
    pub(super) launch: &'a Launch,
    pub(super) options: &'a Options,
    pub(super) view: View,
    pub(super) shape: Shape,
    /// Counts effects anywhere in the grid, so that a wait for another CTA is not taken for an endless loop.
    pub(super) effects: AtomicU64,
    /// Clusters of the grid, and the next one that is to start.
    pub(super) clusters: u64,
    pub(super) next: AtomicU64,
    /// A lock for 64-bit atomics, which span two cells.
    pub(super) wide: std::sync::Mutex<()>,
}

impl Env<'_> {
    /// Index of the first CTA of a cluster.
    pub(super) fn first_cta(&self, number: u64) -> [u32; 3] {
        let Shape { grid, cluster, .. } = self.shape;
        let along = [0, 1, 2].map(|i| u64::from(grid[i] / cluster[i]));
        let place = [number % along[0], number / along[0] % along[1], number / along[0] / along[1]];
        [0, 1, 2].map(|i| place[i] as u32 * cluster[i])
    }

    /// Takes the next cluster that has not started.
    pub(super) fn take(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Relaxed);
        (number < self.clusters).then_some(number)
    }
}

/// Instructions without any effect after which a cluster's turn ends early: it may wait for another cluster.
const IDLE_SHARE: u64 = 250_000;

/// A named barrier's state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Named {
    pub(super) arrived: u32,
    pub(super) expected: u32,
    pub(super) generation: u64,
    /// Of the current generation: threads whose predicate holds, all predicates, any.
    pub(super) count: u32,
    /// Of the generation before.
    pub(super) result: (u32, bool, bool),
}

/// One CTA.
pub(super) struct Cta {
    pub(super) index: [u32; 3],
    pub(super) shared: Vec<u8>,
    pub(super) warps: Vec<Option<Box<Warp>>>,
    pub(super) barriers: [Named; 16],
    /// By shared offset.
    pub(super) mbarriers: HashMap<u32, Mbarrier>,
    pub(super) tensor: TensorMemory,
    /// Threads that have not ended.
    pub(super) live: u32,
    /// What is remembered of shared memory, when it is.
    pub(super) track: Option<Box<Track>>,
}

/// A cluster being run.
pub(super) struct Cluster<'a> {
    pub(super) env: &'a Env<'a>,
    pub(super) ctas: Vec<Cta>,
    /// Threads that arrived at the cluster barrier, and how often it completed.
    pub(super) barrier: (u32, u64),
    pub(super) steps: u64,
    pub(super) matrix_steps: u64,
    pub(super) output: String,
    /// Matrix instructions recorded.
    pub(super) trace: Vec<Step>,
    /// Proxy fences executed, and what was found without one.
    pub(super) fences: u64,
    pub(super) findings: Findings,
    /// The warp and the instruction that is being executed, for loads and stores.
    pub(super) now: (u32, u32),
    /// The events that are kept or compared.
    pub(super) watcher: Option<Watcher<'a>>,
    /// Set by every instruction that others can notice.
    pub(super) effect: bool,
    /// Whether there was such an effect in this turn.
    acted: bool,
    /// How many turns of warps had such an effect, and that number when waits last gave up.
    acts: u64,
    expired_at: Option<u64>,
    /// Asynchronous work under way.
    pub(super) pending: Vec<Pending>,
    random: u64,
    idle: u64,
    seen: u64,
}

/// What went wrong, and in which lanes.
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) lanes: u32,
}

impl Fault {
    pub(super) fn new(cause: impl Into<Cause>, lanes: u32) -> Self {
        Self { cause: cause.into(), lanes }
    }
}

/// How a turn ended.
pub(super) enum Turn {
    Done,
    /// Not finished, and does something.
    Busy,
    /// Not finished, and did nothing that others could notice: it may wait for another cluster.
    Idle,
}

impl<'a> Cluster<'a> {
    /// The cluster of this number in the grid, ready to start.
    pub(super) fn new(env: &'a Env<'a>, number: u64) -> Self {
        let Shape { cluster, block, total_shared, .. } = env.shape;
        let origin = env.first_cta(number);
        let size: u32 = cluster.iter().product();
        let threads: u32 = block.iter().product();
        let ctas = (0..size)
            .map(|rank| {
                let inside = [rank % cluster[0], rank / cluster[0] % cluster[1], rank / cluster[0] / cluster[1]];
                let index = [0, 1, 2].map(|i| origin[i] + inside[i]);
                let warps =
                    (0..threads.div_ceil(32)).map(|warp| Some(Box::new(Warp::new(env, index, rank, warp)))).collect();
                let shared = match env.options.shared_poison {
                    None => vec![0; total_shared as usize],
                    Some(word) => word.to_le_bytes().into_iter().cycle().take(total_shared as usize).collect(),
                };
                Cta {
                    index,
                    shared,
                    warps,
                    barriers: Default::default(),
                    mbarriers: HashMap::new(),
                    tensor: TensorMemory::new(env.options.other_poison.unwrap_or_default()),
                    live: threads,
                    track: (env.options.trace || env.options.schedule.is_some())
                        .then(|| Box::new(Track::new(total_shared))),
                }
            })
            .collect();
        Cluster {
            env,
            ctas,
            barrier: (0, 0),
            steps: 0,
            matrix_steps: 0,
            output: String::new(),
            trace: Vec::new(),
            fences: 0,
            findings: Findings::new(),
            now: (0, 0),
            watcher: Watcher::new(&env.options.watch, number, (size * threads.div_ceil(32)) as usize),
            effect: false,
            acted: false,
            acts: 0,
            expired_at: None,
            pending: Vec::new(),
            random: env.options.schedule.unwrap_or(0) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            idle: 0,
            seen: 0,
        }
    }

    /// The next number of the schedule.
    pub(super) fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as u32
    }

    /// Runs until the end, or until the cluster has had its share.
    pub(super) fn turn(&mut self, budget: u64) -> Result<Turn, Box<Failure>> {
        let end = self.steps + budget;
        self.acted = false;
        loop {
            let mut ran = false;
            for rank in 0..self.ctas.len() {
                let count = self.ctas[rank].warps.len();
                // A shuffled order is a rotation; every warp still gets its turn.
                let first = if self.env.options.schedule.is_some() { self.random() as usize } else { 0 };
                for index in (0..count).map(|i| (first + i) % count) {
                    let Some(mut warp) = self.ctas[rank].warps[index].take() else { continue };
                    if warp.live != 0 && self.wake(rank, &mut warp) {
                        ran = true;
                        let before = warp.steps;
                        let outcome = self.run(rank, &mut warp);
                        let steps = warp.steps - before;
                        self.account(steps);
                        if let Err((fault, pc)) = outcome {
                            let site = self.site(rank, warp.index, pc, fault.lanes);
                            return Err(self.failure(fault.cause, Some(site)));
                        }
                    }
                    self.ctas[rank].warps[index] = Some(warp);
                }
            }
            if !ran {
                match self.finish_any() {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err((cause, pending)) => {
                        let site = self.site(pending.rank, pending.warp, pending.pc, 1 << pending.lane);
                        return Err(self.failure(cause, Some(site)));
                    }
                }
                if self.ctas.iter().all(|cta| cta.live == 0) {
                    return Ok(Turn::Done);
                }
                if self.expire() {
                    continue;
                }
                let deadlock = Box::new(self.deadlock());
                return Err(self.failure(Cause::Deadlock(deadlock), None));
            }
            let Options { step_limit, idle_limit, .. } = *self.env.options;
            if self.steps > step_limit {
                return Err(self.failure(Cause::StepLimit { limit: step_limit }, self.anyone()));
            }
            if self.idle > idle_limit {
                let instructions = self.idle;
                return Err(self.failure(Cause::NoProgress { instructions }, self.anyone()));
            }
            if self.steps > end || !self.acted && self.steps + budget > end + IDLE_SHARE {
                return Ok(if self.acted { Turn::Busy } else { Turn::Idle });
            }
        }
    }

    /// Nobody can go on: every `try_wait` gives up once, for a kernel may only look whether a barrier is done and do
    /// something else before it waits. False if that was tried and nothing has happened since.
    fn expire(&mut self) -> bool {
        if self.expired_at.replace(self.acts) == Some(self.acts) {
            return false;
        }
        let mut any = false;
        for warp in self.ctas.iter_mut().flat_map(|cta| cta.warps.iter_mut().flatten()) {
            for group in warp.groups.iter_mut().filter(|group| matches!(group.state, State::Mbarrier { .. })) {
                group.state = State::Ready;
                warp.expired |= group.mask;
                any = true;
            }
        }
        any
    }

    fn account(&mut self, steps: u64) {
        self.steps += steps;
        if self.effect {
            self.effect = false;
            self.acted = true;
            self.acts += 1;
            self.env.effects.fetch_add(1, Relaxed);
        }
        let effects = self.env.effects.load(Relaxed);
        self.idle = if effects == self.seen { self.idle + steps } else { 0 };
        self.seen = effects;
    }

    /// Makes groups ready whose wait is over; whether any can run.
    fn wake(&mut self, rank: usize, warp: &mut Warp) -> bool {
        let mut any = false;
        for i in 0..warp.groups.len() {
            let over = match warp.groups[i].state {
                State::Ready => true,
                State::Paused => true,
                State::Held { needed } => needed & warp.live & !warp.groups[i].mask == 0,
                State::Barrier { id, generation } => self.ctas[rank].barriers[usize::from(id)].generation != generation,
                State::Cluster { generation } => self.barrier.1 > generation,
                State::Mbarrier { address, parity } => self.phase_over(address, parity),
            };
            if over {
                warp.groups[i].state = State::Ready;
                any = true;
            }
        }
        any
    }

    /// Where a warp is.
    pub(super) fn site(&self, rank: usize, warp: u32, pc: u32, lanes: u32) -> Box<Site> {
        let source = self.env.code.sources.get(pc as usize);
        Box::new(Site {
            cta: self.ctas[rank].index,
            warp,
            lanes,
            ptx_line: source.map_or(0, |s| s.line),
            opcode: source.map_or(String::new(), |s| s.opcode.to_string()),
            places: self.env.module.places(source.and_then(|s| s.location)),
        })
    }

    /// Where some running warp is.
    fn anyone(&self) -> Option<Box<Site>> {
        self.ctas.iter().enumerate().find_map(|(rank, cta)| {
            let warp = cta.warps.iter().flatten().find(|w| w.live != 0)?;
            let group = warp.groups.iter().find(|g| matches!(g.state, State::Ready | State::Paused))?;
            Some(self.site(rank, warp.index, group.pc, group.mask))
        })
    }

    fn failure(&mut self, cause: Cause, site: Option<Box<Site>>) -> Box<Failure> {
        Box::new(Failure {
            cause,
            site,
            output: std::mem::take(&mut self.output),
            trace: std::mem::take(&mut self.trace),
            findings: std::mem::take(&mut self.findings).into_values().collect(),
        })
    }

    fn deadlock(&self) -> Deadlock {
        let mut report = Deadlock { instructions: self.steps, ..Deadlock::default() };
        for (rank, cta) in self.ctas.iter().enumerate() {
            for warp in cta.warps.iter().flatten() {
                if warp.live == 0 {
                    report.ended_warps += 1;
                }
                for group in &warp.groups {
                    if let Some((wait, pc)) = self.waits_for(cta, group) {
                        report.waiters.push(Waiter { site: *self.site(rank, warp.index, pc, group.mask), wait });
                    }
                }
            }
        }
        let bars = report.waiters.iter().filter_map(|waiter| match waiter.wait {
            Wait::Mbarrier { address, .. } => Some(address),
            _ => None,
        });
        let bars: BTreeSet<u32> = bars.collect();
        report.ledgers = bars.into_iter().map(|bar| self.ledger(bar)).collect();
        report.judge();
        report
    }

    /// What a group waits for, and the instruction it waits at.
    fn waits_for(&self, cta: &Cta, group: &Group) -> Option<(Wait, u32)> {
        Some(match group.state {
            State::Ready | State::Paused => return None,
            State::Held { needed } => (Wait::Lanes { needed }, group.pc),
            State::Barrier { id, .. } => {
                let named = &cta.barriers[usize::from(id)];
                let expected = if named.expected == 0 { cta.live } else { named.expected };
                (Wait::Barrier { id: id.into(), arrived: named.arrived, expected }, group.pc)
            }
            State::Cluster { .. } => {
                let expected = self.ctas.iter().map(|c| c.live).sum();
                (Wait::Cluster { arrived: self.barrier.0, expected }, group.pc)
            }
            State::Mbarrier { address, parity } => (Wait::Mbarrier { address, parity }, group.pc),
        })
    }
}
