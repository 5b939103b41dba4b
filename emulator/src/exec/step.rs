//! The interpreter's loop.

use super::cluster::{Cluster, Fault};
use super::failure::Cause;
use super::op::{Clock, Op, Space, UNGUARDED};
use super::registers::{ALL, lanes};
use super::warp::{Group, State, Warp};
use crate::memory::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW};

/// Instructions a warp executes before others get a turn.
const TURN: u64 = 20_000;

/// What an instruction did beyond writing registers.
pub(super) enum Flow {
    /// Go on with the next instruction.
    Next,
    /// Stay at this instruction in the given state.
    Stay(State),
    /// The next instruction comes after the given wait.
    Wait(State),
    /// Only these lanes have finished; the others stay in the given state.
    Split(u32, State),
    /// These lanes were put elsewhere; the others stay.
    Leave(u32),
}

impl Cluster<'_> {
    /// Runs a warp until it waits, ends or has had its turn. An error carries the instruction.
    pub(super) fn run(&mut self, rank: usize, warp: &mut Warp) -> Result<(), (Fault, u32)> {
        #[cfg(target_arch = "x86_64")]
        if wide() {
            // SAFETY: the features were just asked for.
            #[allow(unsafe_code)]
            return unsafe { self.run_wide(rank, warp) };
        }
        self.interpret::<false>(rank, warp)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    fn run_wide(&mut self, rank: usize, warp: &mut Warp) -> Result<(), (Fault, u32)> {
        self.interpret::<true>(rank, warp)
    }

    /// `WIDE`: for processors with wide vectors.
    #[inline(always)]
    fn interpret<const WIDE: bool>(&mut self, rank: usize, warp: &mut Warp) -> Result<(), (Fault, u32)> {
        let env = self.env;
        let ops = &env.code.ops[..];
        let budget = warp.steps + TURN;
        while let Some((at, limit)) = self.pick(warp) {
            let Group { mut pc, mask, .. } = warp.groups[at];
            loop {
                let Some(inst) = ops.get(pc as usize) else {
                    return Err((Fault::new(Cause::Code("execution left the kernel".into()), mask), pc));
                };
                warp.steps += 1;
                let mut active = mask;
                if inst.guard != UNGUARDED {
                    let guard = warp.registers.p[inst.guard as usize];
                    active &= if inst.negated { !guard } else { guard };
                }
                match &inst.op {
                    Op::Alu(alu) => alu.execute::<WIDE>(&mut warp.registers, active),
                    Op::Rare(rare) => rare.execute::<WIDE>(&mut warp.registers, active),
                    Op::Branch(to) => {
                        let to = *to;
                        if inst.guard != UNGUARDED && self.watcher.is_some() {
                            self.watched_branch(rank, warp.index, pc, active);
                        }
                        if active == mask {
                            let back = to <= pc;
                            pc = to;
                            if back && warp.steps > budget || pc >= limit {
                                warp.groups[at].pc = pc;
                                break;
                            }
                            continue;
                        }
                        if active != 0 {
                            warp.groups[at] = Group { pc: pc + 1, mask: mask & !active, state: State::Ready };
                            warp.groups.push(Group { pc: to, mask: active, state: State::Ready });
                            break;
                        }
                    }
                    Op::Exit => {
                        if inst.guard != UNGUARDED && self.watcher.is_some() {
                            self.watched_branch(rank, warp.index, pc, active);
                        }
                        warp.groups[at] = Group { pc: pc + 1, mask: mask & !active, state: State::Ready };
                        if active == mask {
                            warp.groups.swap_remove(at);
                        }
                        warp.live &= !active;
                        self.ended(rank, active.count_ones());
                        break;
                    }
                    Op::Load(access) if access.space == Space::Global && access.bytes <= 4 => {
                        if let Err(fault) = self.load_device::<WIDE>(warp, access, active) {
                            return Err((fault, pc));
                        }
                    }
                    op => match self.execute(rank, warp, op, mask, active, pc) {
                        Ok(Flow::Next) => {}
                        Ok(Flow::Stay(state)) => {
                            warp.groups[at] = Group { pc, mask, state };
                            break;
                        }
                        Ok(Flow::Wait(state)) => {
                            warp.groups[at] = Group { pc: pc + 1, mask, state };
                            break;
                        }
                        Ok(Flow::Split(finished, state)) => {
                            warp.groups[at] = Group { pc, mask: mask & !finished, state };
                            warp.groups.push(Group { pc: pc + 1, mask: finished, state: State::Ready });
                            break;
                        }
                        Ok(Flow::Leave(gone)) => {
                            warp.groups[at] = Group { pc, mask: mask & !gone, state: State::Ready };
                            if gone == mask {
                                warp.groups.swap_remove(at);
                            }
                            break;
                        }
                        Err(fault) => return Err((fault, pc)),
                    },
                }
                pc += 1;
                if pc >= limit {
                    warp.groups[at].pc = pc;
                    break;
                }
            }
            if warp.steps > budget {
                // Lanes that wait for others of their warp must not starve them.
                warp.avoid = warp.groups.get(at).map_or(0, |g| g.mask);
                break;
            }
        }
        Ok(())
    }

    /// Merges groups that stand at the same instruction and chooses the lowest that can run, with the instruction at
    /// which it meets another one.
    #[inline(always)]
    fn pick(&self, warp: &mut Warp) -> Option<(usize, u32)> {
        if let [group] = &warp.groups[..] {
            let ready = match group.state {
                State::Ready => true,
                State::Held { needed } => needed & warp.live & !group.mask == 0,
                _ => false,
            };
            return ready.then_some((0, u32::MAX));
        }
        self.pick_divergent(warp)
    }

    #[inline(never)]
    fn pick_divergent(&self, warp: &mut Warp) -> Option<(usize, u32)> {
        let meets = |state| matches!(state, State::Ready | State::Held { .. });
        let mut i = 0;
        while i < warp.groups.len() {
            let mut j = i + 1;
            while j < warp.groups.len() {
                let (a, b) = (warp.groups[i], warp.groups[j]);
                if a.pc == b.pc && meets(a.state) && meets(b.state) {
                    warp.groups[i].mask |= b.mask;
                    warp.groups[i].state = State::Ready;
                    warp.groups.swap_remove(j);
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
        self.release_scattered(warp);
        let ready = |g: &Group| match g.state {
            State::Ready => true,
            State::Held { needed } => needed & warp.live & !g.mask == 0,
            _ => false,
        };
        let avoid = std::mem::take(&mut warp.avoid);
        let candidates = warp.groups.iter().enumerate().filter(|(_, g)| ready(g));
        let (at, group) = candidates.min_by_key(|(_, g)| (g.mask & avoid != 0, g.pc))?;
        let limit = warp.groups.iter().enumerate().filter(|(i, g)| *i != at && meets(g.state) && g.pc > group.pc);
        Some((at, limit.map(|(_, g)| g.pc).min().unwrap_or(u32::MAX)))
    }

    /// `bar.warp.sync` may be reached at different places of the code: once all members wait at one, they go on.
    fn release_scattered(&self, warp: &mut Warp) {
        let ops = &self.env.code.ops;
        let is_sync = |g: &Group| {
            matches!(g.state, State::Held { .. })
                && matches!(ops.get(g.pc as usize).map(|i| &i.op), Some(Op::Warp(op)) if op.is_sync())
        };
        let waiting: u32 = warp.groups.iter().filter(|g| is_sync(g)).fold(0, |all, g| all | g.mask);
        for group in &mut warp.groups {
            if let State::Held { needed } = group.state
                && needed & warp.live & !waiting == 0
                && is_sync(group)
            {
                group.pc += 1;
                group.state = State::Ready;
            }
        }
    }

    /// Instructions that are neither register work nor control flow.
    #[inline(never)]
    fn execute(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        op: &Op,
        mask: u32,
        active: u32,
        pc: u32,
    ) -> Result<Flow, Fault> {
        self.now = (warp.index, pc);
        match op {
            Op::Load(access) => self.load(rank, warp, access, active)?,
            Op::Store(access) => self.store(rank, warp, access, active)?,
            Op::LoadVector(access) => self.load_vector(rank, warp, access, active)?,
            Op::StoreVector(access) => self.store_vector(rank, warp, access, active)?,
            Op::Convert { how, to, from } => {
                for lane in lanes(active) {
                    let bits = if how.from.bytes() == 8 {
                        warp.registers.double(*from, lane)
                    } else {
                        warp.registers.word(*from, lane).into()
                    };
                    let value = how.apply(bits);
                    if how.to.bytes() == 8 {
                        warp.registers.d[*to as usize][lane] = value;
                    } else {
                        warp.registers.w[*to as usize][lane] = value as u32;
                    }
                }
            }
            Op::Carry { wide, subtract, operands, carry_in, carry_out } => {
                carry(warp, active, *wide, *subtract, **operands, *carry_in, *carry_out);
            }
            Op::IsSpace { space, to, from } => {
                let mut inside = 0;
                for lane in lanes(active) {
                    let window = warp.registers.double(*from, lane) >> 32 << 32;
                    let found = match window {
                        SHARED_WINDOW => Space::Shared,
                        LOCAL_WINDOW => Space::Local,
                        PARAMETER_WINDOW => Space::Parameter,
                        _ => Space::Global,
                    };
                    inside |= u32::from(found == *space) << lane;
                }
                warp.registers.put_p(*to, active, inside);
            }
            Op::Atomic(atomic) => self.atomic(rank, warp, atomic, active)?,
            Op::BranchTable { index, targets } => return self.branch_table(rank, warp, *index, targets, mask, active),
            Op::Trap if active != 0 => return Err(Fault::new(Cause::Trap, active)),
            Op::Nop | Op::Trap | Op::Alu(_) | Op::Rare(_) | Op::Branch(_) | Op::Exit => {}
            Op::ProxyFence => self.fences += u64::from(active != 0),
            Op::Pause => return Ok(Flow::Wait(State::Paused)),
            Op::Clock { kind, to } => {
                // One tick an instruction of this warp, so that measured times are repeatable.
                let now = warp.steps;
                match kind {
                    Clock::Low => warp.registers.put_w(*to, active, [now as u32; 32]),
                    Clock::High => warp.registers.put_w(*to, active, [(now >> 32) as u32; 32]),
                    Clock::Wide | Clock::Nanoseconds => warp.registers.put_d(*to, active, [now; 32]),
                }
            }
            Op::Warp(op) => return self.collective(warp, op, mask, active),
            Op::Barrier(barrier) => return self.barrier(rank, warp, barrier, mask, active),
            Op::ClusterArrive => {
                if active != 0 {
                    warp.cluster_generation = self.barrier.1;
                    self.barrier.0 += active.count_ones();
                    self.effect = true;
                    self.cluster_barrier();
                }
            }
            Op::ClusterWait => {
                if self.barrier.1 <= warp.cluster_generation {
                    return Ok(Flow::Stay(State::Cluster { generation: warp.cluster_generation }));
                }
            }
            Op::Print { format, arguments, result } => self.print(rank, warp, *format, *arguments, *result, active)?,
            Op::Assert { operands } => {
                if active != 0 {
                    return Err(self.assertion(warp, **operands, active));
                }
            }
            Op::Bulk(op) => return self.bulk(rank, warp, op, mask, active, pc),
            Op::Matrix(op) => return self.matrix(rank, warp, op, mask, active, pc),
            Op::Tensor(op) => return self.tensor(rank, warp, op, mask, active, pc),
            Op::Unsupported(text) => {
                if active != 0 {
                    return Err(Fault::new(Cause::Unsupported(text.to_string()), active));
                }
            }
        }
        Ok(Flow::Next)
    }

    /// `brx.idx`: lanes with the same target go together.
    fn branch_table(
        &mut self,
        rank: usize,
        warp: &mut Warp,
        index: u32,
        targets: &[u32],
        mask: u32,
        active: u32,
    ) -> Result<Flow, Fault> {
        if active != mask {
            return Err(Fault::new(Cause::Unsupported("brx.idx under a guard".into()), active));
        }
        let lane = active.trailing_zeros() as usize;
        let choice = warp.registers.word(index, lane);
        let same = lanes(active).filter(|&l| warp.registers.word(index, l) == choice).fold(0, |m, l| m | 1 << l);
        let Some(&target) = targets.get(choice as usize) else {
            return Err(Fault::new(
                Cause::Operand(format!("branch index {choice} of {} targets", targets.len())),
                same,
            ));
        };
        self.watched_branch(rank, warp.index, self.now.1, target);
        warp.groups.push(Group { pc: target, mask: same, state: State::Ready });
        Ok(Flow::Leave(same))
    }

    /// Threads ended: barriers may be complete without them.
    fn ended(&mut self, rank: usize, count: u32) {
        self.effect = true;
        self.ctas[rank].live -= count;
        for id in 0..16 {
            self.complete(rank, id);
        }
        self.cluster_barrier();
    }

    /// Completes the cluster barrier when all live threads have arrived.
    fn cluster_barrier(&mut self) {
        let live: u32 = self.ctas.iter().map(|c| c.live).sum();
        if self.barrier.0 > 0 && self.barrier.0 >= live {
            self.barrier = (0, self.barrier.1 + 1);
        }
    }
}

/// Whether the processor has what the wide forms are compiled for.
#[cfg(target_arch = "x86_64")]
fn wide() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2")
}

/// Addition or subtraction through the carry flag.
fn carry(
    warp: &mut Warp,
    active: u32,
    wide: bool,
    subtract: bool,
    operands: [u32; 3],
    carry_in: Option<u32>,
    carry_out: Option<u32>,
) {
    let [to, a, b] = operands;
    let registers = &mut warp.registers;
    let flags = carry_in.map_or(0, |flag| registers.p[flag as usize]);
    let mut out = 0;
    for lane in lanes(active) {
        let flag = u128::from(flags >> lane & 1);
        let bits = if wide { 64 } else { 32 };
        let read = |register| {
            u128::from(if wide { registers.double(register, lane) } else { registers.word(register, lane).into() })
        };
        let (x, y) = (read(a), read(b));
        let value: u128 = if subtract { (x + (1 << bits)) - y - flag } else { x + y + flag };
        // The flag of a subtraction is the borrow.
        let carried = if subtract { value >> bits == 0 } else { value >> bits != 0 };
        out |= u32::from(carried) << lane;
        if wide {
            registers.d[to as usize][lane] = value as u64;
        } else {
            registers.w[to as usize][lane] = value as u32;
        }
    }
    if let Some(flag) = carry_out {
        registers.put_p(flag, active & ALL, out);
    }
}
