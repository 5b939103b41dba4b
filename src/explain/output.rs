//! Pasted or captured build output, explained: the first error first, notes that matter also after success.

use serde::Serialize;

use super::{Catalogue, Message, Reported, Tool, reported, shrink};
use crate::diag::Severity;
use crate::model::Target;

/// What is known of the build beside its output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Architectures that the flags name.
    pub targets: &'a [Target],
    /// Template arguments that the user's instantiation writes.
    pub written: &'a [&'a str],
}

/// One message and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Who says it.
    pub tool: Tool,
    /// How much it matters.
    pub severity: Severity,
    /// The message, with `[with …]` lists cut.
    pub text: String,
    /// `FILE:LINE`, as printed; a `.ptx` is a temporary file of nvcc.
    pub at: Option<String>,
    /// Line of the output, from 1.
    pub line: usize,
    /// How many messages like it there are.
    pub count: usize,
    /// Innermost instantiations that led to it, cut.
    pub instantiations: Vec<String>,
    /// Name of the entry that explains it.
    pub message: Option<String>,
    /// Why it is printed.
    pub cause: Option<String>,
    /// What to do.
    pub remedy: Vec<String>,
    /// Rules of `krepro check` that see it before the build.
    pub rules: Vec<String>,
}

/// A whole output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Errors in order, then what is known of warnings, notes and program output, in order.
    pub messages: Vec<Explained>,
    /// Warnings and notes that nothing is known about.
    pub others: usize,
}

impl Explanation {
    /// The first error.
    pub fn first_error(&self) -> Option<&Explained> {
        self.messages.iter().find(|message| message.severity == Severity::Error)
    }
}

/// Explains build output, or what a program printed.
pub fn explain(output: &str, catalogue: &Catalogue, known: &Known<'_>) -> Explanation {
    let all = reported(output);
    let mut out = Explanation::default();
    let mut rest = Vec::new();
    for (index, report) in all.iter().enumerate() {
        // ptxas says "not supported" and "cannot be compiled" of one instruction in two messages.
        let neighbours = &all[index.saturating_sub(1)..(index + 2).min(all.len())];
        let mut around: Vec<&str> =
            neighbours.iter().filter(|n| n.tool == report.tool).map(|n| n.text.as_str()).collect();
        around.extend(report.around.iter().map(String::as_str));
        let message = catalogue.find(report.tool, &report.text, &around);
        // A program's own line is no error unless something is known about it; the closing lines of a tool say nothing new.
        if message.is_none() && (report.tool == Tool::Any || is_closing(report)) {
            continue;
        }
        if message.is_none() && report.severity != Severity::Error {
            out.others += 1;
            continue;
        }
        let explained = build(report, message, known);
        if explained.severity == Severity::Error && report.tool != Tool::Any {
            add(&mut out.messages, explained);
        } else {
            add(&mut rest, explained);
        }
    }
    out.messages.extend(rest);
    out
}

/// `ptxas fatal : Ptx assembly aborted due to errors` and the like.
fn is_closing(report: &Reported) -> bool {
    [
        "aborted due to errors",
        "error detected in the compilation",
        "ld returned 1 exit status",
        "compilation terminated",
    ]
    .iter()
    .any(|end| report.text.contains(end))
}

fn build(report: &Reported, message: Option<&Message>, known: &Known<'_>) -> Explained {
    let mut explained = Explained {
        tool: report.tool,
        severity: report.severity,
        text: shrink(&report.text, known.written),
        at: report.at.as_ref().map(|(file, line)| if *line == 0 { file.clone() } else { format!("{file}:{line}") }),
        line: report.line,
        count: 1,
        instantiations: instantiations(report, known),
        message: None,
        cause: None,
        remedy: vec![],
        rules: vec![],
    };
    if let Some(message) = message {
        explained.message = Some(message.id.clone());
        explained.cause = Some(message.fill(&message.cause, &report.text));
        explained.remedy = message.remedy.iter().map(|remedy| message.fill(remedy, &report.text)).collect();
        explained.rules.clone_from(&message.rules);
        if let Some(target) = message.pattern.captures(&report.text).and_then(|c| c.name("target").map(|m| m.as_str()))
        {
            base_pass(&mut explained, target, known);
        }
    }
    explained
}

/// `-arch=sm_90a` alone also builds a plain sm_90 image, where the instruction is illegal; the flags look right.
fn base_pass(explained: &mut Explained, target: &str, known: &Known<'_>) {
    let plain = target.trim_start_matches("sm_");
    let suffixed = known.targets.iter().find(|t| t.arch.number.to_string() == plain && t.arch.suffix.is_some());
    if let Some(wanted) = suffixed {
        let name = wanted.to_string().replacen("sm_", "", 1);
        explained.cause = Some(format!(
            "the flags say {wanted}, but in the short form -arch={wanted}, which also builds plain {target}, and this \
             message is from that pass"
        ));
        explained.remedy = vec![format!("-gencode=arch=compute_{name},code=sm_{name} instead of -arch={wanted}")];
    }
}

/// The innermost two, cut to the user's own parameters.
fn instantiations(report: &Reported, known: &Known<'_>) -> Vec<String> {
    let lines = report.around.iter().filter(|line| line.contains("instantiation of") || line.contains("required from"));
    lines.take(2).map(|line| shrink(line, known.written)).collect()
}

/// Messages that say the same are counted, not repeated.
fn add(list: &mut Vec<Explained>, new: Explained) {
    let same = |old: &&mut Explained| {
        old.tool == new.tool
            && (old.text == new.text
                || (old.tool != Tool::Compiler && old.message.is_some() && old.message == new.message))
    };
    match list.iter_mut().find(same) {
        Some(old) => old.count += 1,
        None => list.push(new),
    }
}
