//! Probes with what they gave and what the contract expects.

use crate::model::{Padding, RawLaunch};

use super::host::Host;
use super::kind::Kind;
use super::knobs::Knobs;
use super::predicted::Predicted;
use super::probes::Rung;
use super::seen::{Seen, same};
use super::target::Target;

/// One probe that was run.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The probe.
    pub rung: Rung,
    /// All launches.
    pub launches: Vec<Seen>,
    /// What the contract predicts.
    pub expected: Predicted,
    /// Whether the first launch is not that.
    pub fails: bool,
    /// Whether other elements were written than those of the contract.
    pub written_wrong: bool,
}

impl Shown {
    /// The first launch.
    pub fn seen(&self) -> &Seen {
        &self.launches[0]
    }
}

/// All probes that were run.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// The contract.
    pub target: &'a Target,
    /// In order.
    pub shown: Vec<Shown>,
    /// Names of the probes that differ where padding is poisoned that the contract promises to be zero: they show nothing else.
    pub padding: Vec<String>,
    /// Names of the probes that a CUDA error ended.
    pub crashed: Vec<String>,
}

/// The sample of addresses that a hypothesis is first held against.
const SAMPLE: usize = 5;

impl<'a> Evidence<'a> {
    /// Pairs `rungs` with the launches of one observation file.
    pub fn new(target: &'a Target, rungs: Vec<Rung>, raw: &[RawLaunch]) -> Self {
        let mut evidence = Evidence { target, shown: Vec::new(), padding: Vec::new(), crashed: Vec::new() };
        evidence.add(rungs, raw);
        evidence
    }

    /// More of them.
    pub fn add(&mut self, rungs: Vec<Rung>, raw: &[RawLaunch]) {
        for (index, rung) in rungs.into_iter().enumerate() {
            let extents = (self.target.m() as u64, self.target.n() as u64, self.target.out_leading as u64);
            let of_probe =
                |l: &&RawLaunch| l.probe as usize == index && (l.rows, l.columns, l.leading_dimension) == extents;
            if raw.iter().any(|l| l.probe as usize == index && l.cuda_error) {
                self.crashed.push(rung.probe.name);
                continue;
            }
            let mut launches: Vec<(u32, Seen)> =
                raw.iter().filter(of_probe).map(|l| (l.launch, Seen::new(l, self.target.storage()))).collect();
            launches.sort_by_key(|l| l.0);
            let launches: Vec<Seen> =
                launches.into_iter().map(|l| l.1).filter(|l| l.values.len() == self.target.storage()).collect();
            if launches.is_empty() {
                continue;
            }
            let expected = Host::new(self.target, &rung.inputs, &Knobs::default()).full();
            let fails = !launches[0].agrees(&expected);
            if fails && self.target.padding_zero && rung.probe.padding == Padding::Poison {
                self.padding.push(rung.probe.name);
                continue;
            }
            let written_wrong = !launches[0].written_as(&expected);
            self.shown.push(Shown { rung, launches, expected, fails, written_wrong });
        }
    }

    /// Probes of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Shown> {
        self.shown.iter().filter(move |s| s.rung.kind == kind)
    }

    /// Whether one of a kind fails.
    pub fn fails(&self, kind: Kind) -> bool {
        self.of(kind).any(|s| s.fails)
    }

    /// Whether one of these kinds fails.
    pub fn any_fails(&self, kinds: &[Kind]) -> bool {
        kinds.iter().any(|kind| self.fails(*kind))
    }

    /// Whether other elements were written than expected.
    pub fn written_wrong(&self) -> bool {
        self.shown.iter().any(|s| s.written_wrong)
    }

    /// The logical output of a probe, row-major, without the probe's gain and what it is added to.
    pub fn output(&self, shown: &Shown) -> Vec<f64> {
        let t = self.target;
        let (gain, before, values) = (shown.rung.gain, self.before(shown), &shown.seen().values);
        t.addresses().map(|address| (values[address] - before) / gain).collect()
    }

    /// What was in the output and is still part of it.
    fn before(&self, shown: &Shown) -> f64 {
        if self.target.accumulate { shown.rung.inputs.before } else { 0.0 }
    }

    /// The same of its expectation.
    pub fn expected(&self, shown: &Shown) -> Vec<f64> {
        let t = self.target;
        let (gain, before, values) = (shown.rung.gain, self.before(shown), &shown.expected.values);
        t.addresses().map(|address| (values[address] - before) / gain).collect()
    }

    /// Whether, where launches differ, most of the elements that some launch has wrong are right in another.
    pub fn comes_right(&self) -> bool {
        let differ = |shown: &&Shown| shown.launches.iter().any(|launch| !launch.equals(shown.seen()));
        let (mut some, mut all) = (0_usize, 0_usize);
        for shown in self.shown.iter().filter(differ) {
            let mut wrong = vec![0_usize; shown.expected.writes.len()];
            for launch in &shown.launches {
                launch.disagreements(&shown.expected).for_each(|address| wrong[address] += 1);
            }
            some += wrong.iter().filter(|count| **count > 0).count();
            all += wrong.iter().filter(|count| **count == shown.launches.len()).count();
        }
        all * 2 <= some
    }

    /// Whether all launches that follow an equal one are the same, and only the first of a probe, which follows other inputs, differs: what
    /// the launch before leaves behind does that, and a race only by chance. Where the later ones are right it may also be a reader that
    /// comes too early and finds what an equal launch left. None where that is all that is seen, or too few launches tell.
    pub fn settles(&self) -> Option<bool> {
        let mut settled = 0;
        for shown in self.shown.iter().filter(|shown| shown.launches.len() > 2) {
            let later = &shown.launches[1];
            if shown.launches[2..].iter().any(|launch| !launch.equals(later)) {
                return Some(false);
            }
            settled += usize::from(!later.equals(shown.seen()) && !later.agrees(&shown.expected));
        }
        (settled > 1).then_some(true)
    }

    /// Lines × places in them, padding among them, mismatches first.
    fn sample(&self, shown: &Shown) -> Vec<usize> {
        let t = self.target;
        let (mut lines, mut places) = (Vec::new(), Vec::new());
        let mut offer = |address: usize| {
            let (line, place) = (address / t.out_leading, address % t.out_leading);
            if lines.len() < SAMPLE && !lines.contains(&line) {
                lines.push(line);
            }
            if places.len() < SAMPLE && !places.contains(&place) {
                places.push(place);
            }
        };
        let wrong: Vec<usize> = shown.seen().disagreements(&shown.expected).collect();
        let step = (wrong.len() / (2 * SAMPLE)).max(1);
        wrong.iter().step_by(step).take(2 * SAMPLE).for_each(|address| offer(*address));
        for i in 0..SAMPLE {
            offer(t.address(i * (t.m() - 1) / (SAMPLE - 1), i * (t.n() - 1) / (SAMPLE - 1)));
        }
        let storage = t.storage();
        let grid = lines.iter().flat_map(|line| places.iter().map(move |place| line * t.out_leading + place));
        grid.filter(|address| *address < storage).collect()
    }

    /// Samples of all probes, the most telling first: what [`Self::explains`] goes through.
    pub fn samples(&self) -> Vec<(usize, Vec<usize>)> {
        let rank = |s: &Shown| match (s.rung.kind, s.fails) {
            (Kind::Random, _) => 0,
            (_, true) if !matches!(s.rung.kind, Kind::MapA | Kind::MapB) => 1,
            (_, true) => 2,
            _ => 3,
        };
        let mut order: Vec<usize> = (0..self.shown.len()).collect();
        order.sort_by_key(|i| rank(&self.shown[*i]));
        order.into_iter().map(|i| (i, self.sample(&self.shown[i]))).collect()
    }

    /// Whether `knobs` predict every probe bit for bit. Where their sums are not exact, as codes read as another type's or k that is
    /// summed twice can make them, only what is written and what is finite is compared; a random probe must be left that is exact.
    pub fn explains(&self, knobs: &Knobs, samples: &[(usize, Vec<usize>)]) -> bool {
        let t = self.target;
        let misreads = knobs.a.misreads() || knobs.b.misreads();
        let growth = knobs.growth(t.a.tiles() * t.column_tiles());
        let doubtful = misreads || growth > 1.0;
        let exact = |index: usize, addresses: Option<&[usize]>| {
            let rung = &self.shown[index].rung;
            rung.proof.holds_for(growth) && (!misreads || Host::new(t, &rung.inputs, knobs).exact(addresses))
        };
        let on_sample = samples.iter().take(12).all(|(index, addresses)| {
            let shown = &self.shown[*index];
            let predicted = Host::new(t, &shown.rung.inputs, knobs).at(addresses);
            let mut pairs = addresses.iter().zip(predicted);
            pairs.all(|(address, p)| shown.seen().agrees_at(*address, p))
                || (doubtful && !exact(*index, Some(addresses.as_slice())))
        });
        if !on_sample {
            return false;
        }
        let mut held_out = !doubtful;
        let all = samples.iter().all(|(index, _)| {
            let shown = &self.shown[*index];
            let predicted = Host::new(self.target, &shown.rung.inputs, knobs).full();
            let agrees = shown.launches.iter().all(|launch| launch.agrees(&predicted));
            let exact = agrees || exact(*index, None);
            held_out |= agrees && shown.rung.kind.held_out() && predicted.values.iter().any(|x| x.is_finite());
            agrees || (!exact && shown.seen().resembles(&predicted))
        });
        all && held_out
    }

    /// Whether launches of a probe differ that nothing tells apart.
    pub fn unstable(&self) -> Option<&Shown> {
        self.shown.iter().find(|s| s.launches.iter().any(|l| !l.other_shared && !l.equals(&s.launches[0])))
    }

    /// Whether launches of a probe differ that only what shared memory held before them tells apart.
    pub fn follows_shared(&self) -> Option<&Shown> {
        self.shown.iter().find(|s| s.launches.iter().any(|l| l.other_shared && !l.equals(&s.launches[0])))
    }

    /// Whether shared memory was overwritten before every launch.
    pub fn shared_filled(&self) -> bool {
        self.shown.iter().flat_map(|s| &s.launches).all(|l| l.shared_filled)
    }

    /// Whether every launch of the first probe adds its result to that of the launch before.
    pub fn piles_up(&self) -> bool {
        self.of(Kind::Repeat).any(|s| {
            s.launches.len() >= 3
                && s.expected.values.iter().any(|x| *x != 0.0)
                && s.launches.windows(2).all(|pair| {
                    let before = if self.target.accumulate { s.rung.inputs.before } else { 0.0 };
                    let step =
                        pair[1].values.iter().zip(&pair[0].values).zip(&s.expected.values).zip(&s.expected.writes);
                    step.filter(|(_, writes)| **writes == 1)
                        .all(|(((b, a), expected), _)| same(b - a, *expected - before))
                })
        })
    }

    /// Largest share of finite non-zero outputs among the held-out probes.
    pub fn information(&self) -> f64 {
        let share = |s: &Shown| {
            let useful = s
                .seen()
                .values
                .iter()
                .zip(&s.seen().written)
                .filter(|(v, w)| **w && v.is_finite() && **v != 0.0)
                .count();
            useful as f64 / (self.target.m() * self.target.n()) as f64
        };
        self.shown.iter().filter(|s| s.rung.kind.held_out()).map(share).fold(0.0, f64::max)
    }

    /// Elements of the held-out probes.
    pub fn held_out(&self) -> u64 {
        self.shown.iter().filter(|s| s.rung.kind.held_out()).count() as u64 * (self.target.m() * self.target.n()) as u64
    }
}
