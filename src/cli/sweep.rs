//! `krepro sweep`: many instantiations of one reproducer.

use std::io::IsTerminal;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::build::Tools;
use super::refused::refused;
use super::run::{BackendChoice, When};
use super::sweep_case::Runner;
use super::{Failure, Session, new};
use crate::build::NotBuilt;
use crate::exit::Exit;
use crate::model::{Claim, Reproducer};
use crate::render;
use crate::store::Folder;
use crate::sweep::{self, Item, Leaves, Plan, Record, Stop, Told, Verdict, journal, report, vary};
use crate::sys::System;

/// Build and run many instantiations: batched builds, a process and a deadline for each case, resumable
///
/// Results are appended to `results.jsonl` in the sweep's folder as they come. A sweep that was stopped or killed goes on where it
/// was when it is started again. Ends with 0 when every case has an answer, 3 when some are undecided.
#[derive(Debug, clap::Args)]
pub struct Sweep {
    /// The reproducer's folder
    dir: Utf8PathBuf,
    /// What varies: NAME=1,4,8 or NAME=1..16 or NAME=64..512:64; several are combined
    #[arg(long, value_name = "NAME=LIST")]
    vary: Vec<String>,
    /// Cases of a file: CSV with names in its first line, or a JSON list of objects
    #[arg(long, value_name = "FILE", conflicts_with = "vary", required_unless_present = "vary")]
    cases: Option<Utf8PathBuf>,
    /// The sweep's folder; DIR/sweep when absent
    #[arg(short, long, value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// Compilers at a time; by processors and memory when absent
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    #[command(flatten)]
    tools: Tools,
    /// Longest that a launch may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    deadline: f64,
    /// Longest that a case may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    timeout: f64,
    /// What somebody says is wrong, asked of every case: ratio=10, rel_l2=0.3, max_abs=5, zeros=0.5, nan, hang, nondeterministic
    #[arg(long, value_name = "CLAIM")]
    claim: Option<Claim>,
    /// What executes the cases; auto: the GPU, or the CPU where there is none (answers are then drafts)
    #[arg(long, value_enum, default_value_t = BackendChoice::Auto)]
    backend: BackendChoice,
    /// When to run the further probes that name the stage of a case: auto (when a rung fails on a GPU), always, never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Never)]
    diagnose: When,
    /// Build without running
    #[arg(long)]
    build_only: bool,
    /// Run cases again that have a result
    #[arg(long)]
    again: bool,
    /// Write the table as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<Utf8PathBuf>,
    /// Write a JUnit file
    #[arg(long, value_name = "FILE")]
    junit: Option<Utf8PathBuf>,
}

impl Sweep {
    /// Runs it.
    ///
    /// # Errors
    /// No reproducer there, or bad values (2); no fit compiler (125); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let system = session.system;
        let folder = Folder::new(&self.dir);
        let (_, base) = folder.load(system)?;
        let cases = self.cases(system)?;
        let output = self.output.clone().unwrap_or_else(|| folder.file("sweep"));
        let (line, toolchain) = self.tools.find(session, &base)?;
        let before = journal::open(system, &output.join("results.jsonl"))?;
        let runner = Runner::new(session, self.backend, self.claim, self.diagnose)?;
        // A result stands while everything that it rests on is the same.
        let basis = format!("{:?} {} {}", line.arguments(), toolchain.version, runner.basis());
        let (mut records, items) = self.sort(session, &folder, &base, &cases, &output, (&before, &basis))?;
        let kept = super::build::cache(system);
        let (processors, memory) = system.capacity();
        let mut progress = Progress::new(system, cases.len(), records.len());
        let plan = Plan {
            folder: &output,
            toolchain: &toolchain,
            line: &line,
            launcher: self.tools.launcher(),
            halves: self.tools.halves(),
            cache: kept.as_deref(),
            jobs: self.jobs.unwrap_or_else(|| sweep::jobs(processors, memory)).max(1),
            launch_deadline: self.deadline,
            overall: Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::MAX),
            build_only: self.build_only,
            run: &|item, start| runner.run(item, start),
        };
        let (mut compiled, mut units) = (0, 0);
        let result = sweep::sweep(system, &plan, &items, &mut |told| match told {
            Told::Unit(_, ran) => {
                units += 1;
                compiled += usize::from(ran);
            }
            Told::Split(cases) => {
                progress.say(session, &format!("a unit of {cases} cases does not compile and is split"))
            }
            Told::Case(record) => progress.done(session, &record),
        });
        progress.bar.finish_and_clear();
        records.extend(result.map_err(|stop| stopped(system, stop, &output, &base))?);
        let order = |record: &Record| cases.iter().position(|case| vary::name(case) == record.case);
        records.sort_by_key(order);
        self.show(session, &records, (units, compiled))?;
        let decided = |record: &Record| !matches!(record.verdict, Verdict::Draft | Verdict::NotRun | Verdict::NoBuild);
        let done = |record: &Record| self.build_only && record.verdict == Verdict::NotRun;
        Ok(if records.iter().all(|r| decided(r) || done(r)) { Exit::Success } else { Exit::Draft })
    }

    fn cases(&self, system: &dyn System) -> Result<Vec<Leaves>, Failure> {
        match &self.cases {
            Some(path) => {
                let bytes = system.read(path)?;
                vary::file(path.as_str(), &String::from_utf8_lossy(&bytes)).map_err(Failure::input)
            }
            None => vary::product(&self.vary).map_err(Failure::input),
        }
    }

    /// Results that stand, and items that need one.
    fn sort(
        &self,
        session: &Session<'_>,
        folder: &Folder,
        base: &Reproducer,
        cases: &[Leaves],
        output: &Utf8Path,
        (before, basis): (&std::collections::BTreeMap<String, Record>, &str),
    ) -> Result<(Vec<Record>, Vec<Item>), Failure> {
        let again = new::Again::new(session, folder, base, output)?;
        let (mut records, mut items) = (vec![], vec![]);
        for leaves in cases {
            let name = vary::name(leaves);
            let checked = match again.with(session, leaves)? {
                Ok(checked) => checked,
                Err(why) => {
                    records.push(refused_case(name, leaves, why));
                    continue;
                }
            };
            let rendered = render::render(&checked).map_err(Failure::input)?;
            let text = rendered.files.first().map(|file| file.text.as_bytes()).unwrap_or_default();
            let hash = blake3::Hasher::new().update(text).update(basis.as_bytes()).finalize().to_hex()[..16].to_owned();
            match before.get(&name) {
                Some(record) if record.hash == hash && record.verdict != Verdict::NotRun && !self.again => {
                    records.push(record.clone());
                    let broken = record.verdict == Verdict::NoBuild;
                    items.push(Item { name, leaves: leaves.clone(), checked, hash, settled: true, broken });
                }
                _ => items.push(Item { name, leaves: leaves.clone(), checked, hash, settled: false, broken: false }),
            }
        }
        Ok((records, items))
    }

    fn show(&self, session: &mut Session<'_>, records: &[Record], units: (usize, usize)) -> Result<(), Failure> {
        if let Some(path) = &self.csv {
            session.system.write(path, report::csv(records).as_bytes())?;
        }
        if let Some(path) = &self.junit {
            session.system.write(path, report::junit("krepro sweep", records).as_bytes())?;
        }
        let edges = report::edges(records);
        if session.global.json {
            let units = json!({ "built": units.0, "compiled": units.1 });
            session.print_json(&json!({ "version": 1, "cases": records, "edges": edges, "units": units }))?;
            return Ok(());
        }
        write!(session.out(), "{}", report::text(records))?;
        let word = |end: &Option<(i64, String)>| match end {
            Some((value, case)) => format!("{value} ({case})"),
            None => "none".to_owned(),
        };
        for edge in &edges {
            let (passing, failing) = (word(&edge.largest_passing), word(&edge.smallest_failing));
            writeln!(session.out(), "{}: largest passing {passing}, smallest failing {failing}", edge.leaf)?;
        }
        writeln!(session.err(), "{} translation units, {} compiled now", units.0, units.1)?;
        Ok(())
    }
}

fn refused_case(case: String, leaves: &Leaves, why: String) -> Record {
    Record {
        case,
        leaves: leaves.clone(),
        hash: String::new(),
        verdict: Verdict::Refused,
        why,
        registers: None,
        spills: None,
        build_milliseconds: 0,
        run_milliseconds: 0,
    }
}

fn stopped(system: &dyn System, stop: Stop, folder: &Utf8Path, base: &Reproducer) -> Failure {
    match stop {
        Stop::File(error) | Stop::Unable(NotBuilt::File(error)) => error.into(),
        Stop::Unrenderable(problems) => Failure::input(problems),
        Stop::Unable(NotBuilt::Unable(diagnostics)) => Failure::cannot_test(diagnostics),
        Stop::Unable(NotBuilt::Refused { output, .. }) => Failure::cannot_test(refused(system, folder, base, &output)),
    }
}

/// Cases done, with the time left: a bar on a terminal, a line a case in a pipe.
struct Progress<'s> {
    system: &'s dyn System,
    began: Duration,
    cases: usize,
    /// Cases that have a result, and those of them that had it before.
    done: usize,
    before: usize,
    bar: ProgressBar,
    plain: bool,
}

impl<'s> Progress<'s> {
    fn new(system: &'s dyn System, cases: usize, done: usize) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
        bar.set_position(done as u64);
        bar.reset_eta();
        let bar = match ProgressStyle::with_template("[{bar:24}] {pos}/{len} eta {eta} {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Progress { system, began: system.now(), cases, done, before: done, bar, plain }
    }

    fn say(&self, session: &mut Session<'_>, text: &str) {
        if self.plain && !session.global.json {
            // Progress that cannot be shown is no reason to stop.
            let _ = writeln!(session.err(), "{text}");
        }
        self.bar.set_message(text.to_owned());
    }

    fn done(&mut self, session: &mut Session<'_>, record: &Record) {
        self.done += 1;
        let count = |cases: usize| u32::try_from(cases).unwrap_or(u32::MAX);
        let each = self.system.now().saturating_sub(self.began) / count(self.done - self.before).max(1);
        let left = each.saturating_mul(count(self.cases.saturating_sub(self.done))).as_secs();
        let (done, cases, word) = (self.done, self.cases, record.verdict.word());
        self.say(session, &format!("[{done}/{cases}] {} {word}, {left} s left", record.case));
        self.bar.inc(1);
    }
}
