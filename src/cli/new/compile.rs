//! The compile command, from a log or a profile.

use std::io::BufReader;

use camino::Utf8PathBuf;
use serde::Deserialize;

use super::New;
use crate::cli::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{CompileCommand, Fact};
use crate::read::log::{Options, Select, recover};
use crate::source::{Source, Spot};
use crate::sys;

#[derive(Deserialize)]
struct Profile {
    version: u32,
    compile: CompileCommand,
}

/// `--map /OLD=/NEW` options.
pub(super) fn mappings(list: &[String], problems: &mut Diagnostics) -> Vec<(String, String)> {
    let mut map = Vec::new();
    for pair in list {
        match pair.split_once('=').filter(|(from, _)| !from.is_empty()) {
            Some((from, to)) => map.push((from.to_owned(), to.to_owned())),
            None => problems.push(
                Diagnostic::error("K-OPTION", format!("`--map {pair}` is no pair of paths"))
                    .help("write --map /old=/new"),
            ),
        }
    }
    map
}

/// Recovers the command; what the log's reader has to say goes to `said`, its errors to `problems`.
pub(super) fn command(
    new: &New,
    session: &Session<'_>,
    map: &[(String, String)],
    said: &mut Diagnostics,
    problems: &mut Diagnostics,
) -> Result<Option<CompileCommand>, Failure> {
    if let Some(path) = &new.profile {
        let source = Source::new(path.as_str(), session.system.read(path)?);
        return match toml::from_str::<Profile>(&source.text()) {
            Ok(profile) if profile.version == 1 => Ok(Some(profile.compile)),
            Ok(_) => {
                problems.push(
                    Diagnostic::error("K-PROFILE", "the profile has a version that is not known")
                        .help("write it again with krepro flags --format toml"),
                );
                Ok(None)
            }
            Err(error) => {
                let spot = Spot::new(&source, error.span().unwrap_or(0..0));
                problems.push(Diagnostic::error("K-PROFILE", error.message().to_owned()).at(spot, ""));
                Ok(None)
            }
        };
    }
    let Some(path) = &new.log else { return Ok(None) };
    let select = new.select.as_ref().map(|text| match text.parse() {
        Ok(line) => Select::Line(line),
        Err(_) => Select::File(text.clone()),
    });
    let options = Options {
        name: path.to_string(),
        select,
        trust: new.trust_log,
        map: map.to_vec(),
        arch: new.arch.clone(),
        responses: vec![],
    };
    let input = sys::open(session.system, path)?;
    match recover(BufReader::with_capacity(1 << 16, input.stream), &options) {
        Ok(recovered) if recovered.buildable() => {
            said.append(recovered.diagnostics);
            Ok(Some(recovered.command))
        }
        Ok(recovered) => {
            problems.append(recovered.diagnostics);
            problems.push(
                Diagnostic::error(
                    "K-LOG-PARTIAL",
                    format!("the command at {} is not whole: {}", recovered.command.at, recovered.missing.join(", ")),
                )
                .help(format!(
                    "`krepro flags {path}` shows what is there; paste the rest, or pick another command with --select"
                )),
            );
            Ok(None)
        }
        Err(found) => {
            problems.append(found);
            Ok(None)
        }
    }
}

/// Values of an option that stands joined (`-DX`), with `=` (`-D=X`) or as two arguments (`-D X`).
fn values<'a>(command: &'a CompileCommand, options: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let mut pending = false;
    command.arguments.iter().filter_map(move |argument| {
        let text = argument.text.as_str();
        if std::mem::take(&mut pending) {
            return Some(text);
        }
        if options.contains(&text) {
            pending = true;
            return None;
        }
        options.iter().find_map(|option| {
            let rest = text.strip_prefix(option)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if option.len() == 2 => Some(rest),
                None => None,
            }
        })
    })
}

/// Macros that the command defines, with their values.
pub(super) fn defines(command: &CompileCommand) -> Vec<(String, Option<String>)> {
    values(command, &["-D", "--define-macro"])
        .map(|text| match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (text.to_owned(), None),
        })
        .collect()
}

/// Production's nvcc: its path, or where that tells no version a toolkit folder that the command names (`cuda-12.8`).
pub(super) fn production_nvcc(command: &CompileCommand) -> Fact<String> {
    let telling = |text: &str| {
        text.split('/').any(|part| {
            part.strip_prefix("cuda-").is_some_and(|rest| {
                rest.split_once('.')
                    .is_some_and(|(major, _)| !major.is_empty() && major.bytes().all(|b| b.is_ascii_digit()))
            })
        })
    };
    let folder = command.arguments.iter().find(|argument| telling(&argument.text));
    match folder.filter(|_| !telling(&command.compiler)) {
        Some(folder) => Fact::read(folder.text.clone(), folder.at.clone(), Some(command.compiler.clone())),
        None => Fact::transcribed(command.compiler.clone(), command.at.clone()),
    }
}

/// Folders of `-I` and `-isystem`, in order.
pub(super) fn include_folders(command: &CompileCommand) -> Vec<Utf8PathBuf> {
    values(command, &["-I", "--include-path", "-isystem", "--system-include"]).map(Utf8PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{defines, include_folders};
    use crate::model::{CompileCommand, CompilerArgument};
    use crate::source::Place;

    #[test]
    fn includes_and_defines_are_found_in_every_form() {
        let at = Place { file: "log".into(), line: 1, column: 1 };
        let command = CompileCommand {
            compiler: "nvcc".into(),
            arguments: ["-I/a", "-I", "/b", "-isystem=/c", "-DX", "-D", "Y=2", "-I=/d", "-O3"]
                .map(|text| CompilerArgument { text: text.into(), at: at.clone() })
                .into(),
            changes: vec![],
            directory: None,
            sources: vec![],
            at,
            warnings: vec![],
        };
        assert_eq!(include_folders(&command), ["/a", "/b", "/c", "/d"]);
        assert_eq!(defines(&command), [("X".to_owned(), None), ("Y".to_owned(), Some("2".to_owned()))]);
    }
}
