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

use camino::{Utf8Path, Utf8PathBuf};

use crate::build::{self, Job, NotBuilt, fidelity, output, usage};
use crate::diag::Diagnostics;
use crate::model::{BuildLine, Checked};
use crate::render::{self, Case};
use crate::run::{self, Ran, Start};
use crate::sys::System;
use crate::toolchain::Toolchain;

pub use journal::{Record, Verdict};
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
    /// Hash of its generated file and of the arguments of its build.
    pub hash: String,
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
    /// Compilers at a time.
    pub jobs: usize,
    /// Longest that a launch may take, in seconds.
    pub launch_deadline: f64,
    /// Longest that a case may take.
    pub overall: Duration,
    /// Build alone.
    pub build_only: bool,
    /// Folders whose libraries come first.
    pub libraries: &'p [Utf8PathBuf],
    /// What a run means.
    pub judge: &'p (dyn Fn(&Item, &Ran) -> (Verdict, String) + Sync),
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
    Built { items: Vec<usize>, built: Box<build::Built>, kernels: BTreeMap<usize, usize> },
    Refused { item: usize, why: String },
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

/// Builds and runs all items, and appends a record to the journal as each has its result.
///
/// # Errors
/// The first thing in the way that no case is to blame for; what has its result keeps it.
pub fn sweep(
    system: &dyn System,
    plan: &Plan<'_>,
    items: &[Item],
    tell: &mut dyn FnMut(Told),
) -> Result<Vec<Record>, Stop> {
    let queue: Mutex<VecDeque<Vec<usize>>> = Mutex::new(partition(items.len(), plan.jobs).into());
    let pending = AtomicUsize::new(items.len());
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
            Outcome::Unable(error) => return Err(Stop::Unable(error)),
            Outcome::Unrenderable(problems) => return Err(Stop::Unrenderable(problems)),
            Outcome::Refused { item, why } => keep(blank(&items[item], Verdict::NoBuild, why), tell)?,
            Outcome::Built { items: own, built, kernels } => {
                tell(Told::Unit(own.len(), built.compiled));
                let usages = usage::of(&built.output);
                for index in own {
                    let mut record = one(system, plan, &items[index], &built.executable).map_err(Stop::File)?;
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
fn one(system: &dyn System, plan: &Plan<'_>, item: &Item, executable: &Utf8Path) -> io::Result<Record> {
    if plan.build_only {
        return Ok(blank(item, Verdict::NotRun, "built only".to_owned()));
    }
    let start = Start {
        case: Some(&item.name),
        launch_deadline: plan.launch_deadline,
        overall: plan.overall,
        libraries: plan.libraries,
        ..Start::new(executable)
    };
    let ran = run::run(system, &start, &mut |_| {})?;
    let (verdict, why) = (plan.judge)(item, &ran);
    let mut record = blank(item, verdict, why);
    record.run_milliseconds = u64::try_from(ran.elapsed.as_millis()).unwrap_or(u64::MAX);
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
            Outcome::Unable(NotBuilt::Refused { .. }) if unit.len() > 1 => {
                let (left, right) = unit.split_at(unit.len() / 2);
                locked().extend([left.to_vec(), right.to_vec()]);
                Outcome::Split(unit.len())
            }
            Outcome::Unable(NotBuilt::Refused { output, .. }) => {
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
    let job = Job { folder: &folder, name: "sweep", line: plan.line, launcher: plan.launcher };
    match build::build(system, plan.toolchain, &job, &mut |_| {}) {
        Ok(built) => {
            let kernels = unit.iter().copied().zip(batch.kernels).collect();
            Outcome::Built { items: unit.to_vec(), built: Box::new(built), kernels }
        }
        Err(error) => Outcome::Unable(error),
    }
}

/// Writes unless the same bytes are there.
fn write_new(system: &dyn System, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    if system.read(path).is_ok_and(|there| there == bytes) { Ok(()) } else { system.write(path, bytes) }
}
