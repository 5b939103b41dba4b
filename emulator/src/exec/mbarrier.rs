//! mbarriers: phases, arrivals and byte counts.

use super::cluster::Cluster;
use super::deadlock::Ledger;
use super::failure::{Cause, Window};

/// Deliveries remembered of a phase.
const REMEMBERED: usize = 16;

/// An mbarrier. Its 8 bytes in shared memory hold `raw`, so that a store onto them is noticed.
#[derive(Debug, Clone, Default)]
pub(super) struct Mbarrier {
    phase: u64,
    expected: u32,
    pending: u32,
    /// Expected minus arrived bytes.
    transactions: i64,
    expected_bytes: u64,
    arrived_bytes: u64,
    deliveries: Vec<String>,
    raw: u64,
}

/// Largest arrival count and byte count.
const MOST: u32 = (1 << 20) - 1;

impl Mbarrier {
    fn pack(&self) -> u64 {
        let [expected, pending] = [self.expected, self.pending].map(u64::from);
        self.phase & 1 | expected << 1 | pending << 21 | (self.transactions as u64) << 41
    }
}

fn error<T>(bar: u32, text: impl std::fmt::Display) -> Result<T, Cause> {
    Err(Cause::Operand(format!("the mbarrier at shared {bar:#x} {text}")))
}

impl Cluster<'_> {
    fn place(&mut self, bar: u32) -> Result<&mut [u8], Cause> {
        let (rank, at) = ((bar >> 24) as usize, bar as usize & 0xff_ffff);
        if bar & 7 != 0 {
            return error(bar, "is not aligned to 8 bytes");
        }
        let size = self.ctas.first().map_or(0, |cta| cta.shared.len() as u64);
        let place = self.ctas.get_mut(rank).and_then(|cta| cta.shared.get_mut(at..at + 8));
        place.ok_or(Cause::Window { window: Window::Shared, offset: bar.into(), bytes: 8, size })
    }

    pub(super) fn mbarrier_init(&mut self, bar: u32, count: u32) -> Result<(), Cause> {
        if !(1..=MOST).contains(&count) {
            return error(bar, format_args!("cannot have {count} arrivals a phase (1 to {MOST})"));
        }
        let mut new = Mbarrier { expected: count, pending: count, ..Mbarrier::default() };
        new.raw = new.pack();
        self.place(bar)?.copy_from_slice(&new.raw.to_le_bytes());
        self.ctas[(bar >> 24) as usize].mbarriers.insert(bar & 0xff_ffff, new);
        self.effect = true;
        Ok(())
    }

    pub(super) fn mbarrier_invalidate(&mut self, bar: u32) -> Result<(), Cause> {
        self.change(bar, |_| Ok(()))?;
        self.ctas[(bar >> 24) as usize].mbarriers.remove(&(bar & 0xff_ffff));
        Ok(())
    }

    /// Changes a barrier and completes its phase if that is due. Gives the state before.
    fn change(&mut self, bar: u32, f: impl FnOnce(&mut Mbarrier) -> Result<(), Cause>) -> Result<u64, Cause> {
        let stored = u64::from_le_bytes(self.place(bar)?.try_into().unwrap_or_default());
        let Some(state) = self.ctas[(bar >> 24) as usize].mbarriers.get_mut(&(bar & 0xff_ffff)) else {
            return error(bar, "was never initialised");
        };
        if stored != state.raw {
            return error(bar, "was overwritten by a store or a copy");
        }
        let before = state.raw;
        f(state)?;
        if state.pending == 0 && state.transactions == 0 {
            state.phase += 1;
            state.pending = state.expected;
            state.expected_bytes = 0;
            state.arrived_bytes = 0;
            state.deliveries.clear();
        }
        if state.transactions.abs() > i64::from(MOST) {
            return error(bar, format_args!("cannot count {} bytes", state.transactions));
        }
        state.raw = state.pack();
        let raw = state.raw;
        self.place(bar)?.copy_from_slice(&raw.to_le_bytes());
        self.effect = true;
        Ok(before)
    }

    /// Arrivals, with bytes to expect before them. Gives the state before.
    pub(super) fn mbarrier_arrive(&mut self, bar: u32, count: u32, expect: u32, drop: bool) -> Result<u64, Cause> {
        self.change(bar, |state| {
            state.transactions += i64::from(expect);
            state.expected_bytes += u64::from(expect);
            if count > state.pending {
                return error(
                    bar,
                    format_args!("gets {count} arrivals where {} of {} are missing", state.pending, state.expected),
                );
            }
            state.pending -= count;
            if drop {
                state.expected = state.expected.saturating_sub(count);
            }
            Ok(())
        })
    }

    /// One more arrival to wait for in this phase.
    pub(super) fn mbarrier_raise(&mut self, bar: u32) -> Result<u64, Cause> {
        self.change(bar, |state| {
            state.pending += 1;
            Ok(())
        })
    }

    pub(super) fn mbarrier_expect(&mut self, bar: u32, bytes: u32) -> Result<u64, Cause> {
        self.change(bar, |state| {
            state.transactions += i64::from(bytes);
            state.expected_bytes += u64::from(bytes);
            Ok(())
        })
    }

    /// Bytes arrived, brought by what `delivery` says.
    pub(super) fn mbarrier_complete(
        &mut self,
        bar: u32,
        bytes: u32,
        delivery: impl FnOnce() -> String,
    ) -> Result<u64, Cause> {
        self.change(bar, |state| {
            state.transactions -= i64::from(bytes);
            state.arrived_bytes += u64::from(bytes);
            // Said in words only while somebody may ask: a phase that completes forgets its deliveries.
            if (state.pending > 0 || state.transactions != 0) && state.deliveries.len() < REMEMBERED {
                state.deliveries.push(delivery());
            }
            Ok(())
        })
    }

    /// Whether the phase of that parity is over.
    pub(super) fn mbarrier_over(&mut self, bar: u32, parity: u32) -> Result<bool, Cause> {
        let state = self.mbarrier_state(bar)?;
        Ok(state & 1 != u64::from(parity & 1))
    }

    pub(super) fn mbarrier_state(&mut self, bar: u32) -> Result<u64, Cause> {
        let stored = u64::from_le_bytes(self.place(bar)?.try_into().unwrap_or_default());
        match self.ctas[(bar >> 24) as usize].mbarriers.get(&(bar & 0xff_ffff)) {
            None => error(bar, "is waited on, and was never initialised"),
            Some(state) if state.raw != stored => error(bar, "was overwritten by a store or a copy"),
            Some(state) => Ok(state.raw),
        }
    }

    /// As [`Cluster::mbarrier_over`], for the scheduler; what is wrong with a barrier is found by the instruction itself.
    pub(super) fn phase_over(&self, bar: u32, parity: u32) -> bool {
        let state = self.ctas.get((bar >> 24) as usize).and_then(|cta| cta.mbarriers.get(&(bar & 0xff_ffff)));
        state.is_none_or(|state| state.phase & 1 != u64::from(parity & 1))
    }

    /// The account of an mbarrier for a deadlock report.
    pub(super) fn ledger(&self, bar: u32) -> Ledger {
        let state = self.ctas.get((bar >> 24) as usize).and_then(|cta| cta.mbarriers.get(&(bar & 0xff_ffff)));
        let initialised = state.is_some();
        let state = state.cloned().unwrap_or_default();
        Ledger {
            address: bar,
            initialised,
            phase: state.phase,
            pending: state.pending,
            expected: state.expected,
            expected_bytes: state.expected_bytes,
            arrived_bytes: state.arrived_bytes,
            deliveries: state.deliveries,
        }
    }
}
