//! `krepro selftest`: whether the diagnosis can be trusted.

use serde_json::json;

use super::{Failure, Session};
use crate::exit::Exit;
use crate::selftest::{MutantReport, Row, Set, confusion, is_failure, many, mutants};

/// Mutate predicted outputs, and fail if any mutant is called right or any right output wrong
///
/// Random contracts over all element types are judged with their right output and with mutants of it. With `--long`, a
/// structural simulator with plantable defects is judged too, and the confusion matrix is printed: about a core-hour.
#[derive(Debug, clap::Args)]
pub struct Selftest {
    /// Draws contracts, defects and inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Contracts to mutate
    #[arg(long, default_value_t = 10)]
    contracts: usize,
    /// Mutants of each contract
    #[arg(long, default_value_t = 5)]
    mutants: usize,
    /// Validate against the simulator and print the confusion matrix
    #[arg(long)]
    long: bool,
    /// Correct contracts of the long form; a quarter as many planted defects of the catalogue, a sixteenth of the others
    #[arg(long, default_value_t = 2000, requires = "long")]
    cases: u64,
    /// Threads of the long form
    #[arg(long, default_value_t = 2, requires = "long")]
    threads: u64,
}

impl Selftest {
    /// Runs it.
    ///
    /// # Errors
    /// When the result cannot be printed (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let report = mutants(self.seed, self.contracts, self.mutants);
        let rows = if self.long { self.validate(session)? } else { vec![] };
        let failed: Vec<&Row> = rows.iter().filter(|row| is_failure(row.outcome)).collect();
        if session.global.json {
            let failed: Vec<String> = failed.iter().map(|row| line(row)).collect();
            let mutants = json!({
                "mutants": report.mutants, "named": report.named, "undecided": report.undecided, "equal": report.equal,
                "failures": report.failures,
            });
            session
                .print_json(&json!({ "version": 1, "mutants": mutants, "cases": rows.len(), "failures": failed }))?;
        } else {
            self.print(session, &report, &rows)?;
        }
        Ok(if report.failures.is_empty() && failed.is_empty() { Exit::Success } else { Exit::Wrong })
    }

    fn validate(&self, session: &mut Session<'_>) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let sets = [(Set::Correct, 1), (Set::Catalogue, 4), (Set::Foreign, 16), (Set::Double, 16)];
        for (set, share) in sets {
            let begin = session.system.now();
            let more = many(set, self.seed, self.cases / share, self.threads);
            if !session.global.json {
                let seconds = session.system.now().saturating_sub(begin).as_secs_f64();
                writeln!(session.out(), "{set:?}: {} cases in {seconds:.0} s", more.len())?;
                for row in more.iter().filter(|row| is_failure(row.outcome)) {
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
        Ok(())
    }
}

fn line(row: &Row) -> String {
    format!("{} {} {:?}: {}", row.planted, row.element, row.outcome, row.said)
}
