//! What production said of itself, as options: symbols, task graphs, debug output, and which part of a text is meant.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::cli::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::Fact;
use crate::read::instantiation::Variant;
use crate::read::prints::{self, Prints};
use crate::read::site::task_graph;
use crate::source::{Source, Spot};
use crate::sys;

/// Further evidence of production.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Evidence {
    /// A symbol of production's kernel, mangled or not, as cuobjdump or a profiler prints it: the instantiation, or its proof
    #[arg(long, value_name = "SYMBOL")]
    pub(super) symbol: Option<String>,
    /// The line of a text with several instantiations (generated text, or what a site prints)
    #[arg(long, value_name = "LINE")]
    pub(super) line: Option<usize>,
    /// The task of generated text or of a task graph, for example TASK_LINEAR_HOPPER:2; its number where the graph has one
    #[arg(long, value_name = "NAME[=NUMBER][:VARIANT]")]
    pub(super) task: Option<String>,
    /// The task graph that Mirage writes beside the generated text: leaves of the site
    #[arg(long, value_name = "FILE", requires = "task")]
    pub(super) task_graph: Option<Utf8PathBuf>,
    /// Debug output of production (`-` for standard input): generated code, launches, descriptors, symbols, NAME=VALUE
    #[arg(long, value_name = "FILE")]
    pub(super) prints: Option<Utf8PathBuf>,
    /// Which printed descriptor is whose, where that is not clear: NAME at the kernel's call, LINE of the print
    #[arg(long, value_name = "NAME=LINE")]
    pub(super) printed_map: Vec<String>,
}

/// A task: its name, its number in the task graph, its variant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Task {
    name: String,
    number: Option<u64>,
    variant: Option<u64>,
}

impl Task {
    /// `NAME[=NUMBER][:VARIANT]`, where NAME may be qualified.
    fn parse(text: &str) -> Option<Self> {
        let (head, variant) = match text.rsplit_once(':') {
            Some((head, digits)) if !head.ends_with(':') && !digits.is_empty() => (head, Some(digits.parse().ok()?)),
            _ => (text, None),
        };
        let (name, number) = match head.split_once('=') {
            Some((name, digits)) => (name, Some(digits.parse().ok()?)),
            None => (head, head.parse().ok()),
        };
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':');
        plain.then(|| Task { name: name.to_owned(), number, variant })
    }

    /// The branch of generated text.
    pub(super) fn variant(&self) -> Variant {
        Variant { task: self.name.clone(), id: self.variant }
    }
}

impl Evidence {
    /// The task that is meant.
    pub(super) fn task(&self, problems: &mut Diagnostics) -> Option<Task> {
        let text = self.task.as_ref()?;
        let task = Task::parse(text);
        if task.is_none() {
            problems.push(
                Diagnostic::error("K-OPTION", format!("`--task {text}` names no task"))
                    .help("write --task NAME, NAME:VARIANT or NAME=NUMBER:VARIANT, for example TASK_LINEAR_HOPPER:2"),
            );
        }
        task
    }

    /// What production printed; nothing where nothing is given.
    pub(super) fn prints(&self, session: &Session<'_>) -> Result<Prints, Failure> {
        let Some(path) = &self.prints else { return Ok(Prints::default()) };
        let mut bytes = Vec::new();
        sys::open(session.system, path)?.stream.read_to_end(&mut bytes)?;
        Ok(prints::read(&Source::new(path.as_str(), bytes)))
    }

    /// Leaves out of the task graph; the number of the task is looked up in `headers` where it is not said.
    pub(super) fn graph(
        &self,
        session: &Session<'_>,
        task: Option<&Task>,
        headers: &[Arc<Source>],
        problems: &mut Diagnostics,
    ) -> Result<BTreeMap<String, Fact<String>>, Failure> {
        let (Some(path), Some(task)) = (&self.task_graph, task) else { return Ok(BTreeMap::new()) };
        let source = Source::new(path.as_str(), session.system.read(path)?);
        let number = task.number.map(|number| number.to_string()).or_else(|| enumerator(headers, &task.name));
        let Some(variant) = task.variant else {
            problems.push(
                Diagnostic::error("K-OPTION", format!("which variant of {} is meant?", task.name))
                    .help(format!("write --task {}:VARIANT", task.name)),
            );
            return Ok(BTreeMap::new());
        };
        let by_name = task_graph::leaves(&source, &task.name, variant);
        let found = match (by_name, number) {
            (Ok(found), _) => Ok(found),
            (Err(_), Some(number)) => task_graph::leaves(&source, &number, variant),
            (Err(found), None) => {
                let hint = format!(
                    "or say its number: the graph may hold numbers, and no header of the kernel defines {}; write --task {}=NUMBER:{variant}",
                    task.name, task.name
                );
                Err(found.iter().map(|problem| problem.clone().help(hint.clone())).collect())
            }
        };
        Ok(found.unwrap_or_else(|found| {
            problems.append(found);
            BTreeMap::new()
        }))
    }

    /// The printed launch of the kernel: the one that covers the line that was named, else the first behind the generated text,
    /// else the only one.
    pub(super) fn launch(&self, prints: &Prints, text: &Spot) -> Option<usize> {
        let after = |line: usize| prints.launches.iter().position(|launch| launch.line >= line);
        let printed = self.prints.as_ref().is_some_and(|path| path.as_str() == text.source.name());
        match (self.line.filter(|_| printed || prints.launches.iter().any(|l| Some(l.line) == self.line)), printed) {
            (Some(line), _) => after(line),
            (None, true) => after(text.place().line),
            (None, false) if prints.launches.len() == 1 => Some(0),
            _ => None,
        }
    }

    /// Lines of printed descriptors by the name at the call.
    pub(super) fn printed_maps(&self, problems: &mut Diagnostics) -> BTreeMap<String, usize> {
        let mut out = BTreeMap::new();
        for (name, line) in super::pairs("--printed-map", &self.printed_map, problems) {
            match line.parse() {
                Ok(line) => {
                    out.insert(name, line);
                }
                Err(_) => problems.push(
                    Diagnostic::error("K-OPTION", format!("`--printed-map {name}={line}`: `{line}` is no line number"))
                        .help("write the line of the output that prints the descriptor"),
                ),
            }
        }
        out
    }
}

/// The number of an enumerator or a constant `NAME = NUMBER` in the headers.
fn enumerator(headers: &[Arc<Source>], name: &str) -> Option<String> {
    let name = name.rsplit("::").next()?;
    headers.iter().find_map(|header| {
        let text = header.text();
        text.match_indices(name).find_map(|(at, _)| {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let rest = text[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            (!text[..at].ends_with(word) && !digits.is_empty()).then_some(digits)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Task, enumerator};
    use crate::source::Source;

    #[test]
    fn tasks_are_names_numbers_and_variants() {
        let task = |text: &str| Task::parse(text).map(|t| (t.name, t.number, t.variant));
        assert_eq!(task("TASK_A"), Some(("TASK_A".into(), None, None)));
        assert_eq!(task("rt::TASK_A:2"), Some(("rt::TASK_A".into(), None, Some(2))));
        assert_eq!(task("TASK_A=101:2"), Some(("TASK_A".into(), Some(101), Some(2))));
        assert_eq!(task("101:2"), Some(("101".into(), Some(101), Some(2))));
        assert_eq!(task("rt::TASK_A"), Some(("rt::TASK_A".into(), None, None)));
        for wrong in ["", ":2", "A=x:1", "A;B", "A:b"] {
            assert_eq!(task(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_is_found_at_the_whole_name_only() {
        let header = Source::new("h", "enum { MY_TASK_A = 4, TASK_AB = 5, TASK_A /* no */, TASK_A = 101 };");
        assert_eq!(enumerator(&[header], "rt::TASK_A").as_deref(), Some("101"));
    }
}
