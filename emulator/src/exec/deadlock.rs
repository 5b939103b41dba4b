//! The report of a deadlock: who waits for what, and why it cannot come.

use super::failure::Site;

/// What a group of lanes waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// Completion of a phase of an mbarrier.
    Mbarrier {
        /// Shared address (rank in the cluster << 24 | offset).
        address: u32,
        /// Parity of the phase waited for.
        parity: u32,
    },
    /// A named barrier.
    Barrier {
        /// Its number.
        id: u32,
        /// Threads that arrived.
        arrived: u32,
        /// Threads it needs.
        expected: u32,
    },
    /// All CTAs of the cluster.
    Cluster {
        /// Threads that arrived.
        arrived: u32,
        /// Threads it needs.
        expected: u32,
    },
    /// Other lanes of the warp, which must execute the same instruction.
    Lanes {
        /// Lanes needed.
        needed: u32,
    },
    /// Tensor memory that another CTA or warp holds.
    TensorMemory {
        /// Columns wanted.
        columns: u32,
    },
}

/// One waiting group of lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiter {
    /// Where it waits.
    pub site: Site,
    /// For what.
    pub wait: Wait,
}

/// The state of an mbarrier that somebody waits on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// Shared address (rank in the cluster << 24 | offset).
    pub address: u32,
    /// Whether `mbarrier.init` was ever executed there.
    pub initialised: bool,
    /// Number of the current phase.
    pub phase: u64,
    /// Arrivals still missing in this phase.
    pub pending: u32,
    /// Arrivals a phase needs.
    pub expected: u32,
    /// Bytes expected so far in this phase.
    pub expected_bytes: u64,
    /// Bytes that arrived so far in this phase.
    pub arrived_bytes: u64,
    /// The asynchronous operations that delivered them, in words.
    pub deliveries: Vec<String>,
}

/// A deadlock of one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deadlock {
    /// Warp instructions executed by the cluster.
    pub instructions: u64,
    /// Everyone who waits.
    pub waiters: Vec<Waiter>,
    /// The mbarriers waited on.
    pub ledgers: Vec<Ledger>,
    /// Warps that have ended.
    pub ended_warps: u32,
    /// The most likely cause, in words.
    pub likely: Vec<String>,
}

impl Ledger {
    /// Why the phase cannot complete, as far as its own numbers tell.
    fn verdict(&self) -> Option<String> {
        let Ledger { expected_bytes, arrived_bytes, pending, expected, .. } = *self;
        let at = format!("mbarrier at shared {:#x}", self.address);
        if !self.initialised {
            return Some(format!("{at} was never initialised"));
        }
        if arrived_bytes > expected_bytes {
            return Some(format!(
                "{at}: {arrived_bytes} bytes arrived but {expected_bytes} were expected: the copies are larger than the \
                 expect_tx counts (a box that overhangs its tensor counts in full), so the phase can never complete"
            ));
        }
        if arrived_bytes < expected_bytes {
            return Some(format!(
                "{at}: {expected_bytes} bytes are expected but {arrived_bytes} arrived and no copy is under way: a copy is \
                 smaller than counted, signals another barrier or was never issued"
            ));
        }
        (pending > 0)
            .then(|| format!("{at}: {pending} of {expected} arrivals are missing; whoever should arrive does not"))
    }
}

impl Deadlock {
    /// Fills in the likely causes.
    pub(super) fn judge(&mut self) {
        // Bytes that do not add up are a cause; missing arrivals mostly follow from one.
        let (causes, rest): (Vec<_>, Vec<_>) =
            self.ledgers.iter().partition(|l| !l.initialised || l.arrived_bytes != l.expected_bytes);
        let chosen = if causes.is_empty() { rest } else { causes };
        self.likely = chosen.into_iter().filter_map(Ledger::verdict).collect();
        if self.ledgers.iter().any(|l| l.arrived_bytes != l.expected_bytes) {
            return;
        }
        for waiter in &self.waiters {
            if let Wait::Barrier { id, arrived, expected } = waiter.wait {
                let text = format!(
                    "named barrier {id}: {arrived} of {expected} threads arrived; the others wait elsewhere or ended"
                );
                if !self.likely.contains(&text) {
                    self.likely.push(text);
                }
            }
        }
    }
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wait::Mbarrier { address, parity } => write!(f, "mbarrier at shared {address:#x}, parity {parity}"),
            Wait::Barrier { id, arrived, expected } => {
                write!(f, "named barrier {id} ({arrived} of {expected} threads arrived)")
            }
            Wait::Cluster { arrived, expected } => {
                write!(f, "the cluster barrier ({arrived} of {expected} threads arrived)")
            }
            Wait::Lanes { needed } => write!(f, "lanes {needed:#010x} of its own warp"),
            Wait::TensorMemory { columns } => write!(f, "{columns} free columns of tensor memory"),
        }
    }
}

impl std::fmt::Display for Deadlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "deadlock after {} warp instructions of this cluster", self.instructions)?;
        for Waiter { site, wait } in &self.waiters {
            writeln!(f, "  waits on {wait}: {site}")?;
        }
        if self.ended_warps > 0 {
            writeln!(f, "  {} warps have ended", self.ended_warps)?;
        }
        for ledger in &self.ledgers {
            writeln!(
                f,
                "  mbarrier at shared {:#x}: phase {}, {} of {} arrivals missing, {} bytes expected, {} arrived",
                ledger.address,
                ledger.phase,
                ledger.pending,
                ledger.expected,
                ledger.expected_bytes,
                ledger.arrived_bytes
            )?;
            for delivery in &ledger.deliveries {
                writeln!(f, "    {delivery}")?;
            }
        }
        for text in &self.likely {
            writeln!(f, "  likely: {text}")?;
        }
        Ok(())
    }
}
