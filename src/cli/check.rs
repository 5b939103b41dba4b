//! `krepro check`: every static finding, without nvcc and without a GPU.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Failure, Session, findings};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::model::{Findings, Reproducer, Weight};
use crate::pipeline;
use crate::store::Folder;

/// Check a reproducer: descriptors, bytes, memory, tiles, flags; no nvcc and no GPU
///
/// `refused` cannot be built or launched, `predicted` is a defect that a run will show, `note` is worth knowing. A rule whose
/// fact is not known is listed as not checked. `krepro explain CODE` tells a rule at length.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The reproducer's folder
    dir: Utf8PathBuf,
    /// List every value with the place or the reason that it comes from
    #[arg(long)]
    facts: bool,
}

impl Check {
    /// Runs it: 0, or 1 when a finding refuses.
    ///
    /// # Errors
    /// No reproducer there (2); file errors (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let (_, reproducer) = Folder::new(&self.dir).load(session.system)?;
        let found = pipeline::findings(&reproducer);
        let facts = if self.facts { facts(&reproducer)? } else { vec![] };
        if session.global.json {
            let mut value = json!({ "version": 1, "findings": found.findings, "skipped": found.skipped });
            if self.facts {
                value["facts"] = json!(facts);
            }
            session.print_json(&value)?;
        } else {
            for fact in &facts {
                writeln!(session.out(), "{} = {}  ({}: {})", fact.name, fact.value, fact.from, fact.detail)?;
            }
            write!(session.out(), "{}", text(&found))?;
        }
        Ok(if found.refuses() { Exit::Wrong } else { Exit::Success })
    }
}

fn text(found: &Findings) -> String {
    let mut out: String = found.findings.iter().map(|finding| findings::text(finding) + "\n").collect();
    if !found.skipped.is_empty() {
        out.push_str("not checked, for a fact is missing:\n");
        for (code, fact) in &found.skipped {
            let _ = writeln!(out, "  {code}  {fact}");
        }
        out.push('\n');
    }
    let count = |weight| found.findings.iter().filter(|finding| finding.weight == weight).count();
    let _ = writeln!(
        out,
        "{} refused, {} predicted, {} notes, {} not checked",
        count(Weight::Refuse),
        count(Weight::Predict),
        count(Weight::Note),
        found.skipped.len()
    );
    out
}

/// One value of the record.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
struct Known {
    name: String,
    value: String,
    from: String,
    detail: String,
}

/// All values with an origin, in the order of the record.
fn facts(reproducer: &Reproducer) -> Result<Vec<Known>, Failure> {
    let value = serde_json::to_value(reproducer)
        .map_err(|e| Failure { exit: Exit::Bug, diagnostics: Diagnostic::error("K-BUG", e.to_string()).into() })?;
    let mut out = Vec::new();
    walk("", &value, &mut out);
    Ok(out)
}

fn walk(path: &str, value: &serde_json::Value, out: &mut Vec<Known>) {
    let below = |step: &str| if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") };
    match value {
        serde_json::Value::Object(table) => {
            if let (Some(value), Some(from)) = (table.get("value"), table.get("from").and_then(|f| f.as_str())) {
                let word = |name: &str| table.get(name).and_then(|v| v.as_str());
                let mut detail = word("at").or(word("by")).or(word("why")).unwrap_or_default().to_owned();
                if let Some(expression) = word("expr") {
                    let _ = write!(detail, " `{expression}`");
                }
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                out.push(Known { name: path.to_owned(), value, from: from.to_owned(), detail });
                return;
            }
            for (step, inner) in table {
                walk(&below(step), inner, out);
            }
        }
        serde_json::Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                walk(&below(&index.to_string()), inner, out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use clap::ColorChoice;

    use super::Check;
    use crate::cli::{Global, Session};
    use crate::exit::Exit;
    use crate::sys::Fake;

    const BASE: &str = include_str!("../../tests/checks/base.toml");

    fn run(record: &str, facts: bool, json: bool) -> (Result<Exit, Exit>, String) {
        let fake = Fake::new().file("repro/repro.toml", record);
        let mut out = Vec::new();
        let exit = {
            let global = Global { json, color: ColorChoice::Never };
            let mut session = Session::with(&fake, global, &mut out, std::io::sink());
            Check { dir: "repro".into(), facts }.run(&mut session).map_err(|failure| failure.exit)
        };
        (exit, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_sound_reproducer_ends_with_0() {
        let (exit, out) = run(BASE, false, false);
        assert_eq!((exit, out.as_str()), (Ok(Exit::Success), "0 refused, 0 predicted, 0 notes, 0 not checked\n"));
    }

    #[test]
    fn what_refuses_ends_with_1_and_what_predicts_does_not() {
        let (exit, out) = run(&BASE.replace("value = 200000", "value = 233472"), false, false);
        assert_eq!(exit, Ok(Exit::Wrong));
        assert!(out.contains("refused[K-S08]") && out.contains("1 refused, 0 predicted"), "{out}");
        let (exit, out) = run(&BASE.replace("value = 9216", "value = 10240"), false, true);
        assert_eq!(exit, Ok(Exit::Success));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["findings"][0]["code"], "K-S09");
        assert_eq!(value["findings"][0]["weight"], "predict");
    }

    #[test]
    fn every_value_tells_where_it_comes_from() {
        let (_, out) = run(BASE, true, false);
        assert!(out.contains("awaited.0.bytes = 9216  (read: linear.cuh:60:31 `(M + 64) * 64 * sizeof(T)`)"), "{out}");
        assert!(out.contains("contract.m = 8  (given: --set batch_size=8)"), "{out}");
    }

    #[test]
    fn a_folder_without_a_record_is_an_input_error() {
        let fake = Fake::new();
        let global = Global { json: false, color: ColorChoice::Never };
        let mut session = Session::with(&fake, global, std::io::sink(), std::io::sink());
        let failure = Check { dir: "nowhere".into(), facts: false }.run(&mut session).unwrap_err();
        assert_eq!(failure.exit, Exit::Input);
    }
}
