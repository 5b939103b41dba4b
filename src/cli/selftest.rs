//! `krepro selftest`: whether the diagnosis can be trusted.

use serde_json::json;

use super::{Failure, Session};
use crate::exit::Exit;
use crate::selftest::{MutantReport, Row, Set, confusion, is_failure, many, mutants, peers};

/// Mutate predicted outputs, and fail if any mutant is called right or any right output wrong
///
/// Random contracts over all element types are judged with their right output and with mutants of it. With `--full`, a
/// structural simulator with plantable defects is judged too, and the confusion matrix is printed: about a
/// quarter of a second a case and core.
#[derive(Debug, clap::Args)]
pub struct Selftest {
    /// Draws contracts, defects and inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Contracts to mutate
    #[arg(long, default_value_t = 10)]
    contracts: usize,
    /// Mutants of each contract
    #[arg(long, default_value_t = 10)]
    mutants: usize,
    /// Validate against the simulator and print the confusion matrix
    #[arg(long, visible_alias = "long")]
    full: bool,
    /// Correct contracts of the full form
    #[arg(long, default_value_t = 2000, requires = "full")]
    correct: u64,
    /// Cases with one defect of the catalogue
    #[arg(long, default_value_t = 515, requires = "full")]
    catalogue: u64,
    /// Cases with one defect that the dictionary has not
    #[arg(long, default_value_t = 130, requires = "full")]
    foreign: u64,
    /// Cases with two defects
    #[arg(long, default_value_t = 130, requires = "full")]
    double: u64,
    /// Threads of the full form
    #[arg(long, default_value_t = 2, requires = "full")]
    threads: u64,
    /// Hold the pass rules of other tools against so many defective and right kernels of the simulator
    #[arg(long, value_name = "N")]
    peers: Option<u64>,
}

impl Selftest {
    /// Runs it.
    ///
    /// # Errors
    /// When the result cannot be printed (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let report = mutants(self.seed, self.contracts, self.mutants);
        let rows = if self.full { self.validate(session)? } else { vec![] };
        let failed: Vec<&Row> = rows.iter().filter(|row| is_failure(row.outcome)).collect();
        let table = self.peers.map(|count| peers(self.seed, count));
        if session.global.json {
            let failed: Vec<String> = failed.iter().map(|row| line(row)).collect();
            let mutants = json!({
                "mutants": report.mutants, "named": report.named, "undecided": report.undecided, "equal": report.equal,
                "classes": report.classes, "left_out": report.left_out,
                "failures": report.failures,
            });
            let counts: Vec<_> =
                rows.iter().map(|row| json!([row.set.name(), row.planted, row.outcome.name()])).collect();
            let peers = table.map(|table| table.text());
            session.print_json(
                &json!({ "version": 1, "mutants": mutants, "cases": counts, "failures": failed, "peers": peers }),
            )?;
        } else {
            self.print(session, &report, &rows)?;
            if let Some(table) = table {
                write!(session.out(), "\n{}", table.text())?;
            }
        }
        Ok(if report.failures.is_empty() && failed.is_empty() { Exit::Success } else { Exit::Wrong })
    }

    fn validate(&self, session: &mut Session<'_>) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let sets = [
            (Set::Correct, self.correct),
            (Set::Catalogue, self.catalogue),
            (Set::Foreign, self.foreign),
            (Set::Double, self.double),
        ];
        for (set, count) in sets {
            let begin = session.system.now();
            let more = many(set, self.seed, count, self.threads);
            if !session.global.json {
                let seconds = session.system.now().saturating_sub(begin).as_secs_f64();
                writeln!(session.out(), "{set:?}: {} cases in {seconds:.0} s", more.len())?;
                for row in more.iter().filter(|row| is_failure(row.outcome) || (set == Set::Catalogue && row.is_weak()))
                {
                    writeln!(session.out(), "  {}", line(row))?;
                }
            }
            rows.extend(more);
        }
        Ok(rows)
    }

    fn print(&self, session: &mut Session<'_>, report: &MutantReport, rows: &[Row]) -> Result<(), Failure> {
        if !rows.is_empty() {
            writeln!(session.out(), "\n{}", confusion(rows))?;
        }
        for failure in &report.failures {
            writeln!(session.out(), "FAIL {failure}")?;
        }
        writeln!(
            session.out(),
            "{} right outputs and {} mutants judged: {} named, {} undecided, {} failures; {} mutants equal the right output",
            self.contracts,
            report.mutants,
            report.named,
            report.undecided,
            report.failures.len(),
            report.equal
        )?;
        let left_out = if report.left_out.is_empty() { "none".to_owned() } else { report.left_out.join(", ") };
        writeln!(
            session.out(),
            "{} classes of faults among them; left out (more --contracts, --mutants): {left_out}",
            report.classes
        )?;
        Ok(())
    }
}

fn line(row: &Row) -> String {
    format!("{:?} {} {} {} {:?}: {}", row.set, row.number, row.planted, row.element, row.outcome, row.said)
}
