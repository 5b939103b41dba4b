//! From a logged command to the flags of an executable: what is kept, dropped, changed, and why.

use super::anchor::Family;
use super::argument::{Argument, ArgumentKind};
use super::danger;
use super::found::Found;
use super::kind::{InputKind, input_kind};
use super::options::Options;
use super::table::{Action, OptionTable, Phase};
use crate::model::{ArgumentChange, CompilerArgument};

/// The outcome.
#[derive(Debug, Clone, Default)]
pub struct Executable {
    /// What is kept.
    pub kept: Vec<CompilerArgument>,
    /// What is not, or not as it was.
    pub changes: Vec<ArgumentChange>,
}

/// Applies the table to one command.
pub fn executable(found: &Found, options: &Options) -> Executable {
    let table = OptionTable::nvcc();
    let mut out = Executable::default();
    let context = Context { found, options, table, gone: Gone::of(found, table) };
    for argument in &found.arguments {
        match context.decide(argument) {
            Outcome::Keep => context.keep(argument, &argument.texts(), &mut out),
            Outcome::Source | Outcome::Missing => {}
            Outcome::Drop(why, own) => out.changes.push(context.change(argument, vec![], why, own)),
            Outcome::Change(now, why, own) => {
                context.keep(argument, &now, &mut out);
                out.changes.push(context.change(argument, now, why, own));
            }
        }
    }
    out
}

enum Outcome {
    Keep,
    /// An input that is compiled; reported as a source.
    Source,
    /// A response file that is not there; said apart.
    Missing,
    /// Why, and whether only because krepro itself builds and links the executable.
    Drop(String, bool),
    Change(Vec<String>, String, bool),
}

/// What goes along with a library that goes.
struct Gone {
    defines: Vec<String>,
    paths: bool,
    nvshmem: bool,
}

impl Gone {
    fn of(found: &Found, table: &OptionTable) -> Self {
        let mut gone = Gone { defines: vec![], paths: false, nvshmem: false };
        for argument in found.arguments.iter().filter(|a| a.is("-l")) {
            if let Some(rule) = table.linked_library(argument.value_or_empty()) {
                gone.defines.extend(rule.with_define.iter().cloned());
                gone.paths |= rule.with_paths;
                gone.nvshmem |= !rule.with_define.is_empty();
            }
        }
        gone
    }
}

struct Context<'f> {
    found: &'f Found,
    options: &'f Options,
    table: &'static OptionTable,
    gone: Gone,
}

impl Context<'_> {
    fn decide(&self, argument: &Argument) -> Outcome {
        let spec = match argument.kind {
            ArgumentKind::Option(spec) => spec,
            ArgumentKind::NoValue(_) => return Outcome::Drop("its value is not in the log".into(), false),
            ArgumentKind::Input => return self.input(argument),
            ArgumentKind::Unknown => return self.unknown(argument),
        };
        if !self.options.trust {
            if spec.runs && !matches!(spec.action, Action::Drop | Action::Response) {
                return Outcome::Drop(
                    format!("it lets nvcc run or load a program ({}); --trust-log keeps it", spec.why),
                    false,
                );
            }
            let tool = ["-Xnvlink", "-Xcicc", "-Xptxas", "-Xcudafe", "-Xfatbin", "-Xnvasm"]
                .iter()
                .any(|name| argument.is(name));
            if tool && argument.value_or_empty().split([',', ' ']).any(|item| self.table.device_runs(item)) {
                let why = "it lets a device tool load a library of the log's choice; --trust-log keeps it";
                return Outcome::Drop(why.into(), false);
            }
            if spec.action != Action::Drop && danger::shell_active(argument, spec) {
                return Outcome::Drop(
                    "nvcc hands it to a shell, which would run a command in it; --trust-log keeps it".into(),
                    false,
                );
            }
        }
        match spec.action {
            Action::Keep => self.keep_or_rewrite(argument),
            Action::Drop => Outcome::Drop(spec.why.clone(), false),
            Action::Change => Outcome::Change(vec!["-rdc=true".into()], spec.why.clone(), false),
            Action::Response => Outcome::Missing,
            Action::Cudart => Outcome::Drop("krepro links with -cudart shared itself".into(), true),
            Action::Library => self.linked(argument),
            Action::Ccbin => self.host_compiler(argument),
        }
    }

    fn keep_or_rewrite(&self, argument: &Argument) -> Outcome {
        let value = argument.value_or_empty();
        if argument.is("-arch") {
            return self.architecture(argument, value);
        }
        if argument.is("-D") && self.gone.defines.iter().any(|d| value == d || value.starts_with(&format!("{d}="))) {
            return Outcome::Drop(
                "goes with its libraries, else the headers pull their symbols; it changes the code".into(),
                false,
            );
        }
        if argument.is("-rdc") && value == "true" && self.gone.nvshmem {
            let why = "kept, though only NVSHMEM's device library needed it: it can change register allocation";
            return Outcome::Change(argument.texts(), why.into(), false);
        }
        if argument.is("-Xcompiler")
            && !self.options.trust
            && let Some(rest) = danger::without_programs(value, self.table)
        {
            let why = "an option that makes the host compiler run or load a program, or write files, is left out; \
                       --trust-log keeps it";
            if rest.is_empty() {
                return Outcome::Drop(why.into(), false);
            }
            return Outcome::Change(vec![format!("{}={rest}", argument.flag())], why.into(), false);
        }
        Outcome::Keep
    }

    fn architecture(&self, argument: &Argument, value: &str) -> Outcome {
        if matches!(value, "native" | "all" | "all-major") {
            let Some(arch) = &self.options.arch else {
                let why = "means another architecture on another machine, and nvcc's default where there is no GPU: say --arch sm_NN of the production GPU";
                return Outcome::Change(argument.texts(), why.into(), false);
            };
            let number = arch.trim_start_matches("sm_");
            let now = format!("-gencode=arch=compute_{number},code=sm_{number}");
            return Outcome::Change(vec![now], format!("the production GPU's architecture, from --arch {arch}"), false);
        }
        if self.found.family == Family::Nvrtc {
            let number = value.trim_start_matches("compute_").trim_start_matches("sm_");
            let now = format!("-gencode=arch=compute_{number},code=sm_{number}");
            return Outcome::Change(vec![now], "NVRTC compiles for this architecture alone".into(), false);
        }
        let Some(number) = value.strip_prefix("sm_") else {
            return Outcome::Keep;
        };
        let other = |name: &str| self.found.arguments.iter().any(|a| a.is(name));
        let specific = number.ends_with(['a', 'f']);
        if !specific || other("-code") {
            return Outcome::Keep;
        }
        let now = format!("-gencode=arch=compute_{number},code=sm_{number}");
        let plain = number.trim_end_matches(['a', 'f']);
        let why = format!(
            "in a whole compile -arch={value} also builds a plain compute_{plain} image, in which code for {value} alone is an error"
        );
        Outcome::Change(vec![now], why, true)
    }

    fn linked(&self, argument: &Argument) -> Outcome {
        if argument.is("-L") {
            return if self.gone.paths {
                Outcome::Drop("search path of libraries that are dropped".into(), false)
            } else {
                Outcome::Drop("krepro links itself and takes no linker flags from a log".into(), true)
            };
        }
        match self.table.linked_library(argument.value_or_empty()) {
            Some(rule) if rule.action == Action::Drop => Outcome::Drop(rule.why.clone(), false),
            _ => Outcome::Drop("krepro links itself and takes no linker flags from a log".into(), true),
        }
    }

    fn host_compiler(&self, argument: &Argument) -> Outcome {
        let value = argument.value_or_empty();
        let name = value.rsplit('/').next().unwrap_or(value);
        if let Some(rule) = self.table.ccbin_wrapper(name) {
            return Outcome::Drop(rule.why.clone(), false);
        }
        let usual = self.table.usual_host_compiler(value.strip_prefix("/usr/bin/").unwrap_or(value));
        if usual || self.options.trust {
            return Outcome::Keep;
        }
        let why = "nvcc would run this program; --trust-log keeps it, else the default host compiler takes its place";
        Outcome::Drop(why.into(), false)
    }

    fn input(&self, argument: &Argument) -> Outcome {
        match input_kind(argument.flag(), self.found.language_given()) {
            InputKind::Source => Outcome::Source,
            InputKind::Object => Outcome::Drop("an object or library of the production build".into(), false),
            InputKind::Other => Outcome::Drop("neither an option nor a source that nvcc compiles".into(), false),
        }
    }

    fn unknown(&self, argument: &Argument) -> Outcome {
        if self.found.family == Family::Nvrtc
            && let Some(rule) = self.table.nvrtc_only(argument.flag())
        {
            return Outcome::Drop(rule.why.clone(), false);
        }
        if !self.options.trust && (self.table.host_runs(argument.flag()) || danger::active_anywhere(argument.flag())) {
            return Outcome::Drop(
                "would make the host compiler run or load a program, or write files; --trust-log keeps it".into(),
                false,
            );
        }

        Outcome::Keep
    }

    fn keep(&self, argument: &Argument, texts: &[String], out: &mut Executable) {
        let spec = argument.spec();
        let paths = spec.is_some_and(|s| s.phase == Phase::Preprocess) && !argument.is("-D") && !argument.is("-U");
        for (index, text) in texts.iter().enumerate() {
            let at = argument.words().nth(index).unwrap_or(argument.first()).at;
            let text = if paths { self.mapped(argument, text) } else { text.clone() };
            out.kept.push(CompilerArgument { text, at: self.found.place(at) });
        }
    }

    /// A path option with the user's `--map` applied to its value.
    fn mapped(&self, argument: &Argument, text: &str) -> String {
        let value = argument.value_or_empty();
        let Some(flag) = text.strip_suffix(value) else {
            return text.to_owned();
        };
        match map_path(value, &self.options.map) {
            Some(mapped) => format!("{flag}{mapped}"),
            None => text.to_owned(),
        }
    }

    fn change(&self, argument: &Argument, now: Vec<String>, why: String, own: bool) -> ArgumentChange {
        let at = argument.first().at;
        ArgumentChange { was: argument.texts(), now, why, own, at: Some(self.found.place(at)) }
    }
}

/// A path with the first matching prefix replaced.
pub fn map_path(path: &str, map: &[(String, String)]) -> Option<String> {
    map.iter().find_map(|(from, to)| {
        let rest = path.strip_prefix(from.as_str())?;
        (rest.is_empty() || rest.starts_with('/') || from.ends_with('/')).then(|| format!("{to}{rest}"))
    })
}
