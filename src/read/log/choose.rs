//! Which of the commands in a log is meant.

use super::anchor::Family;
use super::found::Found;
use super::kind::Kind;
use super::options::Select;

/// The chosen command, by index, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Index into the scan's commands.
    pub index: usize,
    /// Why this one.
    pub why: String,
    /// How many others would have done as well.
    pub rivals: usize,
}

/// Chooses: what the user selected, else the first whole nvcc compile.
pub fn choose(commands: &[Found], select: Option<&Select>) -> Option<Choice> {
    if let Some(select) = select {
        let matching: Vec<usize> = (0..commands.len()).filter(|i| selects(select, &commands[*i])).collect();
        let index = *matching.iter().min_by_key(|i| rank(&commands[**i]))?;
        let why = match select {
            Select::Line(line) => format!("it stands in line {line}, which was asked for"),
            Select::File(name) => format!("it reads or makes `{name}`, which was asked for"),
        };
        let rivals = matching.iter().filter(|i| **i != index && rank(&commands[**i]) == rank(&commands[index])).count();
        return Some(Choice { index, why, rivals });
    }
    let index = (0..commands.len()).min_by_key(|i| rank(&commands[*i]))?;
    let best = rank(&commands[index]);
    let rivals = commands.iter().filter(|c| rank(c) == best).count() - 1;
    let what = match commands[index].kind {
        Kind::Compile if commands[index].cut => "compile command, and it is cut",
        Kind::Compile => "compile command",
        Kind::Flags => "list of flags; there is no command",
        Kind::Probe => "command, and it only probes the compiler",
        _ => "compiler command, though it compiles nothing",
    };
    let why = if rivals == 0 {
        format!("it is the only {what}")
    } else {
        format!("it is the first {what} of {}", rivals + 1)
    };
    Some(Choice { index, why, rivals })
}

/// Whether the user means this command.
pub fn selects(select: &Select, found: &Found) -> bool {
    match select {
        Select::Line(line) => found.line() == *line || found.duplicates.contains(line),
        Select::File(name) => found.inputs().chain(found.output()).any(|path| is_end_of(name, path)),
    }
}

/// Whether `end` is `path` or its last components.
fn is_end_of(end: &str, path: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']) || end.starts_with(['/', '\\']))
}

/// How well a command suits; smaller is better.
pub fn rank(found: &Found) -> (u8, u8, bool) {
    let family = match found.family {
        Family::Nvcc | Family::Nvrtc => 0,
        Family::Clang | Family::Hipcc => 1,
    };
    let kind = match found.kind {
        Kind::Compile => 0,
        Kind::Flags => 1,
        Kind::Preprocess | Kind::Depscan => 2,
        Kind::Link | Kind::Dlink | Kind::Archive => 3,
        Kind::Probe => 4,
    };
    (kind, family, found.cut)
}
