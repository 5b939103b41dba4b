//! The pass rules of other tools on outputs of the simulator: what share of planted defects each calls right.

use std::fmt::Write as _;

use crate::judge::diagnosis::format::Rounding;
use crate::judge::diagnosis::host::Host;
use crate::judge::diagnosis::inputs::Inputs;
use crate::judge::diagnosis::knobs::Knobs;
use crate::judge::diagnosis::seen::Seen;
use crate::judge::diagnosis::target::Target;
use crate::judge::diagnosis::{Builder, Kind, format};
use crate::judge::peers::{EXACT, RULES, Rule, sums};
use crate::model::{Fill, Padding, Plan, Probe, Role};

use super::contracts::{Random, random_target};
use super::defects::{Defect, Kindred, Planted};
use super::device::Device;
use super::validation::swizzle;

/// What the operands hold.
const INPUTS: [&str; 3] = ["ones", "integers", "normal"];

/// How often each rule passes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerTable {
    /// Defective outputs that a rule calls right, by rule (the last is equality) and by inputs.
    pub missed: Vec<[usize; 3]>,
    /// Right outputs that it calls wrong.
    pub alarms: Vec<[usize; 3]>,
    /// Defective kernels whose output differs for some inputs.
    pub defective: usize,
    /// Right kernels.
    pub right: usize,
}

fn rules() -> impl Iterator<Item = Rule> {
    RULES.into_iter().chain([EXACT])
}

fn plan(target: &Target, seed: u64) -> Plan {
    let rungs = Builder::new(target, seed).tier0().rungs;
    let of = |kind| rungs.iter().find(|r| r.kind == kind).map(|r| r.probe.clone());
    let mut probes: Vec<Probe> = [Kind::Ones, Kind::Random].into_iter().filter_map(of).collect();
    if let Some(random) = of(Kind::Random) {
        let fill = |(role, fill): (Role, Fill)| match role {
            Role::A => (role, Fill::Gaussian { seed, scale: 1.0 }),
            Role::B => (role, Fill::Gaussian { seed: seed + 8, scale: 1.0 }),
            _ => (role, fill),
        };
        let fills = random.fills.into_iter().map(fill).collect();
        probes.push(Probe { name: "normal".to_owned(), fills, padding: Padding::Zero, ..random });
    }
    for probe in &mut probes {
        probe.launches = 1;
    }
    Plan { probes }
}

/// Which rules pass, for each probe of the plan.
fn passes(target: &Target, plan: &Plan, device: &mut Device) -> Option<Vec<Vec<bool>>> {
    let launches = device.run(plan);
    let one = |(probe, launch): (&Probe, &crate::model::RawLaunch)| {
        let inputs = Inputs::new(target, probe)?;
        let predicted = Host::new(target, &inputs, &Knobs::default()).full();
        let seen = Seen::new(launch, target.storage());
        let (mut observed, mut expected) = (Vec::new(), Vec::new());
        for at in target.addresses() {
            observed.push(if seen.written[at] { seen.values[at] } else { 0.0 });
            expected.push(format::convert(target.out, predicted.values[at], Rounding::NearestEven, true));
        }
        let sums = sums(&observed, &expected);
        Some(rules().map(|rule| rule.passes(&sums)).collect())
    };
    (plan.probes.len() == INPUTS.len() && launches.len() == INPUTS.len())
        .then(|| plan.probes.iter().zip(&launches).map(one).collect())?
}

/// Judges `count` defective kernels and as many right ones.
pub fn peers(seed: u64, count: u64) -> PeerTable {
    let zero = vec![[0; 3]; RULES.len() + 1];
    let mut table = PeerTable { missed: zero.clone(), alarms: zero, ..PeerTable::default() };
    let defects: Vec<Defect> = Defect::ALL.iter().copied().filter(|d| d.kindred() == Kindred::Catalogue).collect();
    for number in 0..count {
        let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number * 104_729));
        let defect = defects[number as usize % defects.len()];
        let mut target = random_target(&mut random);
        for _ in 0..400 {
            // An activation with a curve has no one value that a right kernel gives.
            if defect.fits(&target, swizzle(&target)) && target.gain() == 1.0 {
                break;
            }
            target = random_target(&mut random);
        }
        if target.gain() > 1.0 {
            continue;
        }
        let (span, plan) = (swizzle(&target), plan(&target, seed.wrapping_add(number) % 1_000_003));
        let planted = Planted::draw(defect, &target, span, &mut random);
        let judge = |planted: Vec<Planted>| {
            passes(&target, &plan, &mut Device::new(target.clone(), span, planted, seed ^ number))
        };
        if let Some(right) = judge(vec![]) {
            table.right += 1;
            add(&mut table.alarms, &right, false);
        }
        if let Some(wrong) = judge(vec![planted])
            && wrong[..2].iter().any(|probe| probe.last() == Some(&false))
        {
            table.defective += 1;
            add(&mut table.missed, &wrong, true);
        }
    }
    table
}

fn add(counts: &mut [[usize; 3]], passes: &[Vec<bool>], wanted: bool) {
    for (input, rules) in passes.iter().enumerate() {
        for (rule, passes) in rules.iter().enumerate() {
            counts[rule][input] += usize::from(*passes == wanted);
        }
    }
}

impl PeerTable {
    /// As text: shares of defective outputs that pass, then of right outputs that do not.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{} defective kernels, {} right ones", self.defective, self.right);
        let _ = writeln!(out, "{:<48}{:>27}{:>27}", "", "defective, called right", "right, called wrong");
        let _ = write!(out, "{:<48}", "rule");
        for input in INPUTS.iter().chain(&INPUTS) {
            let _ = write!(out, "{input:>9}");
        }
        out.push('\n');
        for (index, rule) in rules().enumerate() {
            let _ = write!(out, "{:<48}", rule.name);
            for (counts, all) in [(&self.missed, self.defective), (&self.alarms, self.right)] {
                for count in counts[index] {
                    let _ = write!(out, "{:>8.1}%", 100.0 * count as f64 / all.max(1) as f64);
                }
            }
            out.push('\n');
        }
        out
    }
}
