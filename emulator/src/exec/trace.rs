//! The trace of matrix operands: what each matrix instruction read, and what its accumulator became.

use std::fmt::Write as _;

use super::cluster::Cluster;
use super::failure::Site;
use super::track::Origin;
use crate::tensor::operand::{Descriptor, Element};

/// Most instructions recorded of a cluster.
const MOST: usize = 1 << 14;
/// First values kept of an operand.
const FIRST: usize = 8;

/// One operand of an instruction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operand {
    /// Largest magnitude of each row of A, or column of B: a row of padding stands out.
    pub absmax: Vec<f32>,
    /// The first values along K of the first row.
    pub first: Vec<f32>,
    /// Of each row where its bytes come from; empty for an operand that does not lie in shared memory.
    pub origins: Vec<Origin>,
}

/// What an instruction read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operands {
    /// The left operand.
    pub a: Operand,
    /// The right operand.
    pub b: Operand,
    /// The accumulator: an address in tensor memory, or the number of its first register.
    pub tile: u32,
    /// Whether the accumulator was zero before.
    pub fresh: bool,
}

/// One matrix instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Where it stands and who executed it.
    pub site: Site,
    /// How many matrix instructions the warp executed before it.
    pub ordinal: u64,
    /// How many instructions added to this accumulator since it was zero: the step along K, where the kernel resets it so.
    pub k_step: u64,
    /// Its operands.
    pub operands: Operands,
    /// Largest magnitude of each row of the accumulator afterwards.
    pub accumulator: Vec<f32>,
    /// The same of each column.
    pub columns: Vec<f32>,
    /// The accumulator's first values, along its first row.
    pub first: Vec<f32>,
}

/// The larger magnitude; NaN is the largest.
fn larger(most: f32, value: f32) -> f32 {
    if most.is_nan() || value.is_nan() { f32::NAN } else { most.max(value.abs()) }
}

fn operand(values: &[f32], depth: usize) -> Operand {
    let absmax = values.chunks(depth).map(|row| row.iter().copied().fold(0.0, larger));
    Operand {
        absmax: absmax.collect(),
        first: values.iter().copied().take(FIRST.min(depth)).collect(),
        origins: Vec::new(),
    }
}

impl Operands {
    /// Of operands line by line, `depth` values each.
    pub(super) fn new(a: &[f32], b: &[f32], depth: usize) -> Operands {
        Operands { a: operand(a, depth), b: operand(b, depth), ..Operands::default() }
    }
}

/// An operand in shared memory as an instruction describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Described {
    pub(super) descriptor: Descriptor,
    pub(super) element: Element,
    pub(super) k_contiguous: bool,
    pub(super) first: usize,
    pub(super) lines: usize,
    pub(super) depth: usize,
}

/// Bytes of an operand that one instruction takes along K.
const DEPTH_BYTES: u32 = 32;

impl Cluster<'_> {
    /// Where the lines of an operand come from. The instruction at `pc` of a warp reads them through the asynchronous proxy.
    pub(super) fn origins(&mut self, rank: usize, warp: u32, pc: u32, of: &Described) -> Vec<Origin> {
        if !self.tracks() {
            return Vec::new();
        }
        let own = (rank as u32) << 24;
        let size = of.element.bytes() as u32;
        let mut origins = Vec::with_capacity(of.lines);
        for line in (of.first..of.first + of.lines).map(|line| line as u32) {
            let parts: Vec<(u32, u32)> = if of.k_contiguous {
                (0..DEPTH_BYTES / 16).map(|chunk| (of.descriptor.k_major(line, 16 * chunk), 16)).collect()
            } else {
                (0..of.depth as u32).map(|k| (of.descriptor.mn_major(line * size, k), size)).collect()
            };
            let mut least = Origin::Written;
            for (at, bytes) in parts {
                // Descriptors hold 18 bits of an address.
                let at = at & 0x3_ffff;
                self.note_read(own | at, bytes, rank, warp, pc);
                let track = self.ctas[rank].track.as_ref();
                least = least.min(track.map_or(Origin::Written, |track| track.origin(at, bytes)));
            }
            origins.push(least);
        }
        origins
    }

    /// Adds an instruction to the trace.
    pub(super) fn record(&mut self, rank: usize, warp: u32, pc: u32, operands: Operands, sums: &[f32]) {
        if self.trace.len() >= MOST {
            return;
        }
        let site = *self.site(rank, warp, pc, u32::MAX);
        let own = |s: &&Step| s.site.cta == site.cta && s.site.warp == warp;
        let ordinal = self.trace.iter().rev().find(own).map_or(0, |s| s.ordinal + 1);
        let tile = operands.tile;
        let before = self.trace.iter().rev().filter(|_| !operands.fresh).find(|s| own(s) && s.operands.tile == tile);
        let k_step = before.map_or(0, |s| s.k_step + 1);
        let width = sums.len() / operands.a.absmax.len().max(1);
        let Operand { absmax: accumulator, first, .. } = operand(sums, width.max(1));
        let mut columns = vec![0.0; width];
        for row in sums.chunks_exact(width.max(1)) {
            columns.iter_mut().zip(row).for_each(|(most, &value)| *most = larger(*most, value));
        }
        self.trace.push(Step { site, ordinal, k_step, operands, accumulator, columns, first });
    }
}

/// A JSON number; what JSON has no number for, as text.
fn number(out: &mut String, value: f32) {
    let _ = if value.is_finite() { write!(out, "{value}") } else { write!(out, "\"{value}\"") };
}

fn numbers(out: &mut String, values: &[f32]) {
    out.push('[');
    for (i, &value) in values.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "," });
        number(out, value);
    }
    out.push(']');
}

/// Lines of the same origin together, each run with its largest magnitude.
fn runs(out: &mut String, absmax: &[f32], origins: &[Origin]) {
    out.push('[');
    let mut from = 0;
    while from < absmax.len() {
        let origin = origins.get(from);
        let to = (from..absmax.len()).find(|&i| origins.get(i) != origin).unwrap_or(absmax.len());
        let most = absmax[from..to].iter().copied().fold(0.0, larger);
        out.push_str(if from == 0 { "" } else { "," });
        let _ = write!(out, "{{\"from\":{from},\"to\":{},\"absmax\":", to - 1);
        number(out, most);
        if let Some(origin) = origin {
            let _ = write!(out, ",\"origin\":\"{}\"", origin.name());
        }
        out.push('}');
        from = to;
    }
    out.push(']');
}

/// A JSON string.
fn text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if (control as u32) < 32 => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

impl Step {
    /// One line of a trace file: a JSON object. `launch` counts the launches of the program.
    pub fn json(&self, launch: usize, kernel: &str) -> String {
        let mut out = format!("{{\"launch\":{launch},\"kernel\":");
        text(&mut out, kernel);
        let Step { site, ordinal, k_step, operands, columns, first, .. } = self;
        let [x, y, z] = site.cta;
        let _ = write!(out, ",\"cta\":[{x},{y},{z}],\"warp\":{},\"ordinal\":{ordinal}", site.warp);
        let _ = write!(out, ",\"tile\":{},\"k_step\":{k_step},\"at\":", operands.tile);
        let places: Vec<String> = site.places.iter().map(ToString::to_string).collect();
        text(&mut out, &places.join(" inlined at "));
        out.push_str(",\"opcode\":");
        text(&mut out, &site.opcode);
        for (name, operand) in [("a", &operands.a), ("b", &operands.b)] {
            let _ = write!(out, ",\"{name}\":{{\"rows\":");
            runs(&mut out, &operand.absmax, &operand.origins);
            out.push_str(",\"first\":");
            numbers(&mut out, &operand.first);
            out.push('}');
        }
        // Rows of B are columns of the accumulator: padding of the one is padding of the other.
        out.push_str(",\"accumulator\":{\"columns\":");
        runs(&mut out, columns, &operands.b.origins);
        out.push_str(",\"rows\":");
        runs(&mut out, &self.accumulator, &operands.a.origins);
        out.push_str(",\"first\":");
        numbers(&mut out, first);
        out.push_str("}}");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_padding_apart_and_is_json() {
        let mut operands = Operands::new(&[1.0, -2.0, 3.0, f32::NAN], &[1.0, 1.0, 10.0, -10.0], 2);
        operands.b.origins = vec![Origin::Written, Origin::Unwritten];
        operands.tile = 32;
        let site = Site { opcode: "wgmma \"x\"".into(), ..Site::default() };
        let (accumulator, columns) = (vec![30.0, f32::INFINITY], vec![3.0, 30.0]);
        let step = Step { site, ordinal: 4, k_step: 1, operands, accumulator, columns, first: vec![-1.5, 0.0] };
        assert_eq!(
            step.json(2, "k\n"),
            "{\"launch\":2,\"kernel\":\"k\\u000a\",\"cta\":[0,0,0],\"warp\":0,\"ordinal\":4,\"tile\":32,\"k_step\":1,\"at\":\"\",\
             \"opcode\":\"wgmma \\\"x\\\"\",\"a\":{\"rows\":[{\"from\":0,\"to\":1,\"absmax\":\"NaN\"}],\"first\":[1,-2]},\
             \"b\":{\"rows\":[{\"from\":0,\"to\":0,\"absmax\":1,\"origin\":\"written\"},\
             {\"from\":1,\"to\":1,\"absmax\":10,\"origin\":\"never written\"}],\"first\":[1,1]},\
             \"accumulator\":{\"columns\":[{\"from\":0,\"to\":0,\"absmax\":3,\"origin\":\"written\"},\
             {\"from\":1,\"to\":1,\"absmax\":30,\"origin\":\"never written\"}],\
             \"rows\":[{\"from\":0,\"to\":1,\"absmax\":\"inf\"}],\"first\":[-1.5,0]}}"
        );
    }
}
