//! Many instantiations: batched builds, a process and a deadline for each case, results that survive being killed.

pub mod journal;
pub mod report;
mod units;
pub mod vary;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use camino::Utf8Path;

use crate::build::{self, Job, NotBuilt, Wanted, fidelity, output, usage};
use crate::diag::Diagnostics;
use crate::model::{BuildLine, Checked};
use crate::render::{self, Case};
use crate::run::Start;
use crate::sys::System;
use crate::toolchain::Toolchain;

pub use journal::{Record, Verdict};
use units::{blamed, split};
pub use units::{jobs, partition};
pub use vary::Leaves;

/// A case that is to be built and run.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// Its leaves.
    pub leaves: Leaves,
    /// What it is.
    pub checked: Checked,
    /// Hash of its generated file and of what its result rests on.
    pub hash: String,
    /// Whether it has a result that stands. It is not run again, and stays in its unit, so that a sweep that goes on compiles
    /// nothing that the first one compiled.
    pub settled: bool,
    /// Whether it is known not to compile: it counts where units are made, and stands in none.
    pub broken: bool,
}

/// How a sweep is done.
pub struct Plan<'p> {
    /// The sweep's folder.
    pub folder: &'p Utf8Path,
    /// What compiles.
    pub toolchain: &'p Toolchain,
    /// The arguments.
    pub line: &'p BuildLine,
    /// A program put before nvcc.
    pub launcher: Option<&'p str>,
    /// Whether units are built in two halves.
    pub halves: bool,
    /// Where executables are kept by content.
    pub cache: Option<&'p Utf8Path>,
    /// Compilers at a time.
    pub jobs: usize,
    /// Longest that a launch may take, in seconds.
    pub launch_deadline: f64,
    /// Longest that a case may take.
    pub overall: Duration,
    /// Build alone.
    pub build_only: bool,
    /// Runs one case in a process of its own, and says what that means.
    pub run: &'p (dyn Fn(&Item, &Start<'_>) -> io::Result<Done> + Sync),
}

/// A case that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What became of it.
    pub verdict: Verdict,
    /// The answer's headline, or why there is none.
    pub why: String,
    /// From start to end.
    pub elapsed: Duration,
}

/// What a sweep tells as it goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A translation unit was compiled (or was there): cases in it, whether nvcc ran.
    Unit(usize, bool),
    /// A translation unit did not compile and is split: cases in it.
    Split(usize),
    /// A case has a result.
    Case(Box<Record>),
}

/// A unit that has been tried.
enum Outcome {
    Built {
        items: Vec<usize>,
        built: Box<build::Built>,
        kernels: BTreeMap<usize, usize>,
    },
    Refused {
        item: usize,
        why: String,
    },
    /// The compiler refused the unit: what it printed, the unit's text, the instantiation of each case.
    Unbuilt {
        output: String,
        text: String,
        kernels: Vec<usize>,
    },
    Split(usize),
    Unable(NotBuilt),
    Unrenderable(Diagnostics),
}

/// Why a sweep stops.
#[derive(Debug)]
pub enum Stop {
    /// Something that no case is to blame for.
    Unable(NotBuilt),
    /// A defect of krepro.
    Unrenderable(Diagnostics),
    /// A file error.
    File(io::Error),
}

/// Builds and runs all items that are not settled, and appends a record to the journal as each has its result.
///
/// # Errors
/// The first thing in the way that no case is to blame for; what has its result keeps it.
pub fn sweep(
    system: &dyn System,
    plan: &Plan<'_>,
    items: &[Item],
    tell: &mut dyn FnMut(Told),
) -> Result<Vec<Record>, Stop> {
    let mut units = units_of(items, plan.jobs).map_err(Stop::Unrenderable)?;
    units.retain(|unit| unit.iter().any(|index| !items[*index].settled));
    let pending = AtomicUsize::new(units.iter().map(Vec::len).sum());
    let queue: Mutex<VecDeque<Vec<usize>>> = Mutex::new(units.into());
    let (sender, receiver) = channel();
    let mut records = vec![];
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs {
            let sender = sender.clone();
            scope.spawn(|| compile(system, plan, items, &queue, &pending, sender));
        }
        drop(sender);
        let result = receive(system, plan, items, &receiver, &mut records, tell);
        if result.is_err() {
            // The compilers that run end by themselves; nothing new is begun.
            pending.store(0, Ordering::SeqCst);
        }
        result
    })?;
    Ok(records)
}

/// Items of one instantiation stay together, and each instantiation is compiled once.
fn units_of(items: &[Item], jobs: usize) -> Result<Vec<Vec<usize>>, Diagnostics> {
    let mut groups: Vec<(String, Vec<usize>)> = vec![];
    for (index, item) in items.iter().enumerate() {
        let key = render::instantiation(&item.checked)?;
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    let together = |unit: Vec<usize>| {
        unit.into_iter().flat_map(|group| groups[group].1.clone()).filter(|index| !items[*index].broken).collect()
    };
    Ok(partition(groups.len(), jobs).into_iter().map(together).collect())
}

fn receive(
    system: &dyn System,
    plan: &Plan<'_>,
    items: &[Item],
    receiver: &std::sync::mpsc::Receiver<Outcome>,
    records: &mut Vec<Record>,
    tell: &mut dyn FnMut(Told),
) -> Result<(), Stop> {
    let journal = plan.folder.join("results.jsonl");
    let mut keep = |record: Record, tell: &mut dyn FnMut(Told)| -> Result<(), Stop> {
        journal::append(system, &journal, &record).map_err(Stop::File)?;
        tell(Told::Case(Box::new(record.clone())));
        records.push(record);
        Ok(())
    };
    for outcome in receiver {
        match outcome {
            Outcome::Split(cases) => tell(Told::Split(cases)),
            // A compiler thread turns this into a split or a refusal before it sends.
            Outcome::Unbuilt { .. } => {}
            Outcome::Unable(error) => return Err(Stop::Unable(error)),
            Outcome::Unrenderable(problems) => return Err(Stop::Unrenderable(problems)),
            Outcome::Refused { item, .. } if items[item].settled => {}
            Outcome::Refused { item, why } => keep(blank(&items[item], Verdict::NoBuild, why), tell)?,
            Outcome::Built { items: own, built, kernels } => {
                tell(Told::Unit(own.len(), built.compiled));
                let usages = usage::of(&built.output);
                for index in own.into_iter().filter(|index| !items[*index].settled) {
                    let mut record = one(plan, &items[index], &built.executable).map_err(Stop::File)?;
                    let wrapper = kernels.get(&index).map(|kernel| format!("kernel_{kernel}")).unwrap_or_default();
                    let found = fidelity::usage_of(&usages, items[index].checked.reproducer(), &wrapper);
                    record.registers = found.map(|usage| usage.registers);
                    record.spills = found.map(|usage| usage.spill_stores);
                    record.build_milliseconds = built.milliseconds;
                    keep(record, tell)?;
                }
            }
        }
    }
    Ok(())
}

fn blank(item: &Item, verdict: Verdict, why: String) -> Record {
    Record {
        case: item.name.clone(),
        leaves: item.leaves.clone(),
        hash: item.hash.clone(),
        verdict,
        why,
        registers: None,
        spills: None,
        build_milliseconds: 0,
        run_milliseconds: 0,
    }
}

/// Runs one case in a process of its own.
fn one(plan: &Plan<'_>, item: &Item, executable: &Utf8Path) -> io::Result<Record> {
    if plan.build_only {
        return Ok(blank(item, Verdict::NotRun, "built only".to_owned()));
    }
    let start = Start {
        case: Some(&item.name),
        launch_deadline: plan.launch_deadline,
        overall: plan.overall,
        ..Start::new(executable)
    };
    let done = (plan.run)(item, &start)?;
    let mut record = blank(item, done.verdict, done.why);
    record.run_milliseconds = u64::try_from(done.elapsed.as_millis()).unwrap_or(u64::MAX);
    Ok(record)
}

/// Compiles units from the queue until no item is pending; a unit that fails is split.
fn compile(
    system: &dyn System,
    plan: &Plan<'_>,
    items: &[Item],
    queue: &Mutex<VecDeque<Vec<usize>>>,
    pending: &AtomicUsize,
    sender: Sender<Outcome>,
) {
    let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    while pending.load(Ordering::SeqCst) > 0 {
        let next = locked().pop_front();
        let Some(unit) = next else {
            // Another compiler may still split its unit.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let outcome = match unit_of(system, plan, items, &unit) {
            Outcome::Unbuilt { output, text, kernels } if unit.len() > 1 => {
                locked().extend(split(&unit, &kernels, blamed(&output, &text)));
                Outcome::Split(unit.len())
            }
            Outcome::Unbuilt { output, .. } => {
                pending.fetch_sub(1, Ordering::SeqCst);
                let first =
                    output::first_error(&output).map_or_else(|| "nvcc failed".to_owned(), |error| error.message);
                Outcome::Refused { item: unit[0], why: first }
            }
            other => {
                pending.fetch_sub(unit.len(), Ordering::SeqCst);
                other
            }
        };
        if sender.send(outcome).is_err() {
            return;
        }
    }
}

fn unit_of(system: &dyn System, plan: &Plan<'_>, items: &[Item], unit: &[usize]) -> Outcome {
    let cases: Vec<Case<'_>> =
        unit.iter().map(|i| Case { name: &items[*i].name, checked: &items[*i].checked }).collect();
    let batch = match render::batch("sweep", &cases) {
        Ok(batch) => batch,
        Err(problems) => return Outcome::Unrenderable(problems),
    };
    let hash = blake3::hash(batch.file.text.as_bytes()).to_hex();
    let folder = plan.folder.join("units").join(&hash[..16]);
    if let Err(error) = write_new(system, &folder.join("sweep.cu"), batch.file.text.as_bytes()) {
        return Outcome::Unable(NotBuilt::File(error));
    }
    let wanted = wanted(items, unit, &batch.kernels);
    let job = Job {
        folder: &folder,
        name: "sweep",
        line: plan.line,
        launcher: plan.launcher,
        halves: Some(wanted.as_slice()).filter(|wanted| plan.halves && !wanted.is_empty()),
        cache: plan.cache,
    };
    match build::build(system, plan.toolchain, &job, &mut |_| {}) {
        Ok(built) => {
            let kernels = unit.iter().copied().zip(batch.kernels).collect();
            Outcome::Built { items: unit.to_vec(), built: Box::new(built), kernels }
        }
        Err(NotBuilt::Refused { output, .. }) => {
            Outcome::Unbuilt { output, text: batch.file.text, kernels: batch.kernels }
        }
        Err(error) => Outcome::Unable(error),
    }
}

/// The kernels of a unit by their numbers.
fn wanted(items: &[Item], unit: &[usize], kernels: &[usize]) -> Vec<Wanted> {
    let count = kernels.iter().max().map_or(0, |most| most + 1);
    let first = |number: usize| kernels.iter().position(|kernel| *kernel == number).map(|place| &items[unit[place]]);
    let of = |number| Wanted::of(first(number)?.checked.reproducer(), &format!("kernel_{number}"));
    (0..count).map(of).collect::<Option<Vec<Wanted>>>().unwrap_or_default()
}

/// Writes unless the same bytes are there.
fn write_new(system: &dyn System, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    if system.read(path).is_ok_and(|there| there == bytes) { Ok(()) } else { system.write(path, bytes) }
}
