//! Named barriers of a CTA.

use super::cluster::{Cluster, Fault, Named};
use super::failure::Cause;
use super::op::{Barrier, BarrierReduction};
use super::step::Flow;
use super::warp::{State, Warp};

impl Cluster<'_> {
    pub(super) fn barrier(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        barrier: &Barrier,
        mask: u32,
        active: u32,
    ) -> Result<Flow, Fault> {
        if active == 0 {
            return Ok(Flow::Next);
        }
        let lane = active.trailing_zeros() as usize;
        let id = warp.registers.word(barrier.id, lane);
        if id > 15 {
            return Err(Fault::new(Cause::Operand(format!("barrier {id} does not exist (0 to 15)")), active));
        }
        let released = warp.arrived & active;
        if released != 0 {
            warp.arrived &= !released;
            if let Some((kind, _, to)) = barrier.reduction {
                let (count, all, any) = self.ctas[rank].barriers[id as usize].result;
                match kind {
                    BarrierReduction::Count => warp.registers.put_w(to, released, [count; 32]),
                    BarrierReduction::And => warp.registers.put_p(to, released, if all { u32::MAX } else { 0 }),
                    BarrierReduction::Or => warp.registers.put_p(to, released, if any { u32::MAX } else { 0 }),
                }
            }
            // Lanes that came here meanwhile have yet to arrive.
            let passed = mask & !active | released;
            return Ok(if passed == mask { Flow::Next } else { Flow::Split(passed, State::Ready) });
        }
        let expected = barrier.threads.map_or(0, |register| warp.registers.word(register, lane));
        if !expected.is_multiple_of(32) {
            let text = format!("barrier {id} for {expected} threads: the number must be a multiple of 32");
            return Err(Fault::new(Cause::Operand(text), active));
        }
        let named = &mut self.ctas[rank].barriers[id as usize];
        if named.arrived > 0 && named.expected != expected {
            let text = format!("barrier {id} for {expected} threads, while others wait there for {}", named.expected);
            return Err(Fault::new(Cause::Operand(text), active));
        }
        // A warp counts whole, even if some of its threads have ended.
        named.arrived += if expected != 0 && active == warp.live { 32 } else { active.count_ones() };
        named.expected = expected;
        if let Some((_, predicate, _)) = barrier.reduction {
            named.count += (warp.registers.p[predicate as usize] & active).count_ones();
        }
        let generation = named.generation;
        self.effect = true;
        self.complete(rank, id as usize);
        if !barrier.wait {
            return Ok(Flow::Next);
        }
        let state = State::Barrier { id: id as u8, generation };
        warp.arrived |= active;
        if self.ctas[rank].barriers[id as usize].generation != generation {
            return Ok(Flow::Stay(State::Ready));
        }
        Ok(if active == mask { Flow::Stay(state) } else { Flow::Split(mask & !active, state) })
    }

    /// Ends the barrier's generation if enough threads have arrived.
    pub(super) fn complete(&mut self, rank: usize, id: usize) {
        let cta = &mut self.ctas[rank];
        let named = &mut cta.barriers[id];
        let needed = if named.expected == 0 { cta.live } else { named.expected };
        if named.arrived > 0 && named.arrived >= needed {
            let (count, arrived) = (named.count, named.arrived);
            *named = Named {
                generation: named.generation + 1,
                result: (count, count == arrived, count > 0),
                ..Named::default()
            };
        }
    }
}
