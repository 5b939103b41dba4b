//! `krepro sweep`: many instantiations of one reproducer.

use std::io::IsTerminal;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::build::Tools;
use super::refused::refused;
use super::{Failure, Session, new};
use crate::build::NotBuilt;
use crate::exit::Exit;
use crate::judge::{self, Backend, Context};
use crate::model::Reproducer;
use crate::read::observation::json_lines;
use crate::run::Ran;
use crate::store::Folder;
use crate::sweep::{self, Item, Leaves, Plan, Record, Stop, Told, Verdict, journal, report, vary};
use crate::sys::{Ending, System};
use crate::{pipeline, render};

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
    /// Build without running
    #[arg(long)]
    build_only: bool,
    /// Run cases again that have a result
    #[arg(long)]
    again: bool,
    /// Write a table as CSV
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
        let (mut records, items) = self.sort(session, &folder, &base, &cases, &output, &before)?;
        let (processors, memory) = system.capacity();
        let bar = bar(cases.len(), records.len());
        let plan = Plan {
            folder: &output,
            toolchain: &toolchain,
            line: &line,
            launcher: self.tools.launcher(),
            jobs: self.jobs.unwrap_or_else(|| sweep::jobs(processors, memory)).max(1),
            launch_deadline: self.deadline,
            overall: Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::MAX),
            build_only: self.build_only,
            libraries: &[],
            judge: &judge,
        };
        let (mut compiled, mut units) = (0, 0);
        let result = sweep::sweep(system, &plan, &items, &mut |told| match told {
            Told::Unit(_, ran) => {
                units += 1;
                compiled += usize::from(ran);
            }
            Told::Split(cases) => bar.set_message(format!("a unit of {cases} cases does not compile and is split")),
            Told::Case(record) => {
                bar.set_message(format!("{} {}", record.case, record.verdict.word()));
                bar.inc(1);
            }
        });
        bar.finish_and_clear();
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
        before: &std::collections::BTreeMap<String, Record>,
    ) -> Result<(Vec<Record>, Vec<Item>), Failure> {
        let profile = new::profile(session, base, output)?;
        let (mut records, mut items) = (vec![], vec![]);
        for leaves in cases {
            let name = vary::name(leaves);
            let checked = match new::again(session, folder, base, &profile, leaves)? {
                Ok(checked) => checked,
                Err(why) => {
                    records.push(refused_case(name, leaves, why));
                    continue;
                }
            };
            let rendered = render::render(&checked).map_err(Failure::input)?;
            let text = rendered.files.first().map(|file| file.text.as_bytes()).unwrap_or_default();
            let hash = blake3::hash(text).to_hex()[..16].to_owned();
            match before.get(&name) {
                Some(record) if record.hash == hash && record.verdict != Verdict::NotRun && !self.again => {
                    records.push(record.clone());
                }
                _ => items.push(Item { name, leaves: leaves.clone(), checked, hash }),
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
        let value = |value: Option<i64>| value.map_or_else(|| "none".to_owned(), |v| v.to_string());
        for edge in &edges {
            let (passing, failing) = (value(edge.largest_passing), value(edge.smallest_failing));
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

/// What one run means.
fn judge(item: &Item, ran: &Ran) -> (Verdict, String) {
    let code = match ran.ending {
        Ending::Code(code) => Some(code),
        Ending::Signal(signal) => return (Verdict::Fail, format!("crashed with signal {signal}")),
        Ending::Deadline => return (Verdict::Hang, "did not end in its time".to_owned()),
    };
    let reproducer = item.checked.reproducer();
    let context = Context {
        backend: Backend::Gpu,
        arch_validated: true,
        type_descriptors: super::run::differing(reproducer),
        exit: code,
    };
    let lines = json_lines(&ran.events);
    let findings = pipeline::findings(reproducer);
    match judge::ladder(&reproducer.contract, &findings, &lines.events, None, &context) {
        Ok(answer) => {
            let text = crate::report::text(&answer);
            let headline = text.lines().next().unwrap_or_default().to_owned();
            (verdict(Exit::from(&answer.outcome)), headline)
        }
        Err(reason) if reason.exit() == Exit::CannotTest => (Verdict::NotRun, reason.to_string()),
        Err(reason) => (Verdict::Draft, reason.to_string()),
    }
}

fn verdict(exit: Exit) -> Verdict {
    match exit {
        Exit::Success => Verdict::Pass,
        Exit::Wrong => Verdict::Fail,
        Exit::Hang => Verdict::Hang,
        _ => Verdict::Draft,
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

/// Cases done, with the time left, on a terminal; nothing in a pipe.
fn bar(cases: usize, done: usize) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
    bar.set_position(done as u64);
    bar.reset_eta();
    match ProgressStyle::with_template("[{bar:24}] {pos}/{len} eta {eta} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
