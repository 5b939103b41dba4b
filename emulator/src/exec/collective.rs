//! Shuffles, votes and the other operations of a warp as a whole.

use super::cluster::{Cluster, Fault};
use super::op::{AtomicKind, Shuffle, ShuffleMode, VoteMode, WarpOp};
use super::registers::{Words, lanes};
use super::step::Flow;
use super::warp::{State, Warp};

impl WarpOp {
    /// Whether it only synchronises.
    pub(super) fn is_sync(&self) -> bool {
        matches!(self, WarpOp::Sync { .. })
    }

    fn members(&self) -> Option<u32> {
        Some(match *self {
            WarpOp::Sync { members }
            | WarpOp::Shuffle(Shuffle { members, .. })
            | WarpOp::Vote { members, .. }
            | WarpOp::Match { members, .. }
            | WarpOp::Reduce { members, .. }
            | WarpOp::Elect { members, .. } => members,
            WarpOp::ActiveMask { .. } => return None,
        })
    }
}

impl Cluster<'_> {
    /// Executes a collective once all its live members are here.
    pub(super) fn collective(&mut self, warp: &mut Warp, op: &WarpOp, mask: u32, active: u32) -> Result<Flow, Fault> {
        if active == 0 {
            return Ok(Flow::Next);
        }
        let Some(register) = op.members() else {
            if let WarpOp::ActiveMask { to } = *op {
                warp.registers.put_w(to, active, [active; 32]);
            }
            return Ok(Flow::Next);
        };
        // Tiles of a warp come here together, each with members of its own.
        let members_of = warp.registers.w[register as usize];
        let mut needed = 0;
        let mut rest = active;
        while rest != 0 {
            let members = members_of[rest.trailing_zeros() as usize];
            needed |= if members & warp.live & !mask != 0 { members } else { 0 };
            rest &= !alike(&members_of, rest, members);
        }
        if needed != 0 {
            return Ok(Flow::Stay(State::Held { needed }));
        }
        rest = active;
        while rest != 0 {
            let members = members_of[rest.trailing_zeros() as usize];
            let group = alike(&members_of, rest, members);
            Self::group(warp, op, members & warp.live, group);
            rest &= !group;
        }
        Ok(Flow::Next)
    }

    /// Executes a collective for lanes that name the same members.
    fn group(warp: &mut Warp, op: &WarpOp, members: u32, active: u32) {
        match *op {
            WarpOp::Sync { .. } | WarpOp::ActiveMask { .. } => {}
            WarpOp::Shuffle(shuffle) => run_shuffle(warp, &shuffle, active),
            WarpOp::Vote { mode, to, from, .. } => {
                let holds = warp.registers.p[from as usize] & members & active;
                let value = match mode {
                    VoteMode::Ballot => {
                        warp.registers.put_w(to, active, [holds; 32]);
                        return;
                    }
                    VoteMode::All => holds == members & active,
                    VoteMode::Any => holds != 0,
                    VoteMode::Uniform => holds == 0 || holds == members & active,
                };
                warp.registers.put_p(to, active, if value { u32::MAX } else { 0 });
            }
            WarpOp::Match { all, wide, to, same, from, .. } => {
                let value = |lane: usize| {
                    if wide { warp.registers.double(from, lane) } else { warp.registers.word(from, lane).into() }
                };
                let mut masks = [0; 32];
                for lane in lanes(active) {
                    masks[lane] = lanes(members).filter(|&l| value(l) == value(lane)).fold(0, |m, l| m | 1 << l);
                }
                let agree = lanes(active).all(|lane| masks[lane] == members);
                if all && !agree {
                    masks = [0; 32];
                }
                if let Some(to) = to {
                    warp.registers.put_w(to, active, masks);
                }
                if let Some(same) = same {
                    warp.registers.put_p(same, active, if agree { u32::MAX } else { 0 });
                }
            }
            WarpOp::Reduce { kind, signed, to, from, .. } => {
                let mut values = lanes(members).map(|lane| warp.registers.word(from, lane));
                let first = values.next().unwrap_or_default();
                let total = values.fold(first, |x, y| match (kind, signed) {
                    (AtomicKind::Add, _) => x.wrapping_add(y),
                    (AtomicKind::Min, false) => x.min(y),
                    (AtomicKind::Max, false) => x.max(y),
                    (AtomicKind::Min, true) => (x as i32).min(y as i32) as u32,
                    (AtomicKind::Max, true) => (x as i32).max(y as i32) as u32,
                    (AtomicKind::And, _) => x & y,
                    (AtomicKind::Or, _) => x | y,
                    _ => x ^ y,
                });
                warp.registers.put_w(to, active, [total; 32]);
            }
            WarpOp::Elect { leader, elected, .. } => {
                let first = (members & active).trailing_zeros();
                if let Some(leader) = leader {
                    warp.registers.put_w(leader, active, [first; 32]);
                }
                if let Some(elected) = elected {
                    warp.registers.put_p(elected, active, 1u32.checked_shl(first).unwrap_or(0));
                }
            }
        }
    }
}

/// The lanes of `among` that name these members.
fn alike(members_of: &Words, among: u32, members: u32) -> u32 {
    lanes(among).filter(|&lane| members_of[lane] == members).fold(0, |all, lane| all | 1 << lane)
}

fn run_shuffle(warp: &mut Warp, shuffle: &Shuffle, active: u32) {
    let Shuffle { mode, to, valid, from, lane: by, clamp, .. } = *shuffle;
    let from = warp.registers.w[from as usize];
    let mut out = [0; 32];
    let mut in_range = 0;
    for lane in lanes(active) {
        let (by, clamp) = (warp.registers.word(by, lane) & 31, warp.registers.word(clamp, lane));
        let here = lane as u32;
        let (segment, limit) = (clamp >> 8 & 31, clamp & 31);
        let most = here & segment | limit & !segment;
        let least = here & segment;
        let (source, ok) = match mode {
            ShuffleMode::Up => (here.wrapping_sub(by), here as i32 - by as i32 >= most as i32),
            ShuffleMode::Down => (here + by, here + by <= most),
            ShuffleMode::Butterfly => (here ^ by, here ^ by <= most),
            ShuffleMode::Index => (least | by & !segment, least | by & !segment <= most),
        };
        let source = if ok { source } else { here };
        out[lane] = from[source as usize & 31];
        in_range |= u32::from(ok) << lane;
    }
    if let Some(to) = to {
        warp.registers.put_w(to, active, out);
    }
    if let Some(valid) = valid {
        warp.registers.put_p(valid, active, in_range);
    }
}
