//! `krepro new`: from header, code-generation site and log to a reproducer.

mod again;
mod bundled;
mod compile;
mod cutlass;
mod evidence;
mod fill;
mod include;
mod inputs;
mod named;
mod printed;
mod write;

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::{Failure, Session};
use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::exit::Exit;
use crate::model::{DescriptorSource, Emitted, Fact, ToolchainFacts};
use crate::pipeline;
use crate::read::assemble::{Facts, Overrides, PrintedMaps};
use crate::read::cxx::annotation;
use crate::read::{assemble, constant, demand, instantiation, instruction, name, signature};
use crate::source::Source;
use crate::store::Folder;
use crate::sys;
use crate::toolchain;

pub use again::Again;
use evidence::Evidence;
use fill::FillCode;
use named::Named;
use printed::{Printed, Search};
pub use write::write_record;

/// Make a reproducer from a kernel's header, its code-generation site and a JIT log
///
/// The folder gets `repro.toml` (every value and where it is from), NAME.cu (the harness with the verbatim
/// instantiation), `build.sh`, and copies of what was read under `inputs/`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("instantiation").args(["site", "prints", "symbol"]).required(true).multiple(true)))]
#[command(group(clap::ArgGroup::new("command").args(["log", "profile"]).required(true)))]
pub struct New {
    /// The kernel: its header and name
    #[arg(long, value_name = "FILE:NAME")]
    kernel: String,
    /// The site that prints the instantiation: FILE:FUNCTION, or a file (or `-`) whose whole text is the instantiation
    #[arg(long, value_name = "FILE[:FUNCTION]")]
    site: Option<String>,
    /// A value that the site cannot know; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    evidence: Evidence,
    #[command(flatten)]
    fill_code: FillCode,
    /// The JIT or build log that holds production's compile command, or `-`
    #[arg(long, value_name = "FILE")]
    log: Option<Utf8PathBuf>,
    /// A profile that `krepro flags --format toml` wrote, instead of a log
    #[arg(long, value_name = "FILE")]
    profile: Option<Utf8PathBuf>,
    /// Which command of the log: the line it begins in, or a file it reads or makes
    #[arg(long, value_name = "LINE|FILE")]
    select: Option<String>,
    /// Replace a path of the log by one of this machine; may be repeated
    #[arg(long, value_name = "/OLD=/NEW")]
    map: Vec<String>,
    /// Keep options of the log that make nvcc or the host compiler run or load a program
    #[arg(long)]
    trust_log: bool,
    /// The GPU that failed (sm_90a), for a log that says -arch=native
    #[arg(long, value_name = "SM")]
    arch: Option<String>,
    /// What the kernel's framework supplies: a bundled name or a manifest file; found by the kernel's name when absent
    #[arg(long, value_name = "NAME|FILE")]
    scaffold: Option<String>,
    /// Which descriptor is encoded where two sources differ
    #[arg(long, value_enum, default_value = "production")]
    descriptor: Descriptor,
    /// What the kernel promises, where nothing read says it or it is wrong; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    contract: Vec<String>,
    /// How it is launched, where nothing read says it or it is wrong; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    launch: Vec<String>,
    /// The value of a scalar kernel parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    scalar: Vec<String>,
    /// A macro that only annotates a declaration and that krepro does not know, with the keywords it stands for; may be repeated
    #[arg(long, value_name = "MACRO[=KEYWORDS]")]
    annotation_macro: Vec<String>,
    /// A function that sets the bytes a barrier awaits and that krepro does not know; may be repeated
    #[arg(long, value_name = "FUNCTION")]
    transaction_function: Vec<String>,
    /// Stem of the generated files; the kernel's name when absent
    #[arg(long)]
    name: Option<String>,
    /// The folder to write
    #[arg(short, long, value_name = "DIR")]
    output: Utf8PathBuf,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Descriptor {
    /// As the code that runs in production fills it
    Production,
    /// As the emitted type's own constructor builds it
    Type,
}

impl New {
    /// Runs it.
    ///
    /// # Errors
    /// Anything unreadable or unknown in what was given (2); a file that cannot be read or written (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let mut said = Diagnostics::new();
        let folder = Folder::new(&self.output);
        let (reproducer, inputs) = self.read(session, &mut said)?;
        session.draw(&said)?;
        let made = pipeline::make(reproducer).map_err(super::refusal)?;
        let written = write::write(session.system, &folder, &made, &inputs)?;
        super::findings::show(session, made.checked.findings())?;
        if session.global.json {
            session.print_json(&json!({
                "version": 1,
                "folder": folder.path(),
                "files": written,
                "findings": made.checked.findings(),
                "diagnostics": said,
            }))?;
        } else {
            for file in &written {
                writeln!(session.out(), "wrote {file}")?;
            }
            writeln!(session.err(), "next: krepro run {}", folder.path())?;
        }
        Ok(Exit::Success)
    }

    /// All facts; the readers' problems are gathered and given together.
    fn read(
        &self,
        session: &Session<'_>,
        said: &mut Diagnostics,
    ) -> Result<(crate::model::Reproducer, inputs::Inputs), Failure> {
        let system = session.system;
        let mut problems = Diagnostics::new();
        let kernel = Named::parse("--kernel", &self.kernel, true, &mut problems);
        let site = self.site.as_ref().and_then(|site| Named::parse("--site", site, false, &mut problems));
        let leaves = pairs("--set", &self.set, &mut problems);
        let overrides = Overrides::new(
            pairs("--contract", &self.contract, &mut problems),
            pairs("--launch", &self.launch, &mut problems),
            pairs("--scalar", &self.scalar, &mut problems),
        );
        for entry in self.annotation_macro.iter().filter(|entry| !annotation::is_own(entry)) {
            problems.push(
                Diagnostic::error("K-OPTION", format!("`--annotation-macro {entry}` is no macro"))
                    .help(format!("write NAME, or NAME=KEYWORDS with {}", annotation::KEYWORDS.join(", "))),
            );
        }
        let map = compile::mappings(&self.map, &mut problems);
        if site.as_ref().is_some_and(|site| site.file == "-") && self.log.as_ref().is_some_and(|log| log == "-") {
            problems.push(
                Diagnostic::error("K-OPTION", "`--site -` and `--log -` both read standard input")
                    .help("give one of them as a file"),
            );
            return Err(Failure::input(problems));
        }
        let task = self.evidence.task(&mut problems);
        let lines = self.evidence.printed_maps(&mut problems);
        let Some(kernel) = kernel.filter(|_| self.site.is_some() == site.is_some()) else {
            return Err(Failure::input(problems));
        };
        let header = Source::new(kernel.file.as_str(), system.read(&kernel.file)?);
        let emitter = site.map(|site| Ok::<_, Failure>((read_source(session, &site.file)?, site))).transpose()?;
        let prints = self.evidence.prints(session)?;
        let command = compile::command(self, session, &map, said, &mut problems)?;
        let mut folders = command.as_ref().map(compile::include_folders).unwrap_or_default();
        let mut headers = sys::closure(system, &kernel.file, &folders);
        let defines = command.as_ref().map(compile::defines).unwrap_or_default();
        let options = signature::SignatureOptions { defines, annotation_macros: self.annotation_macro.clone() };
        let kernel_name = kernel.name.as_deref().unwrap_or_default();
        let found = keep(signature::find(&header, kernel_name, &options), &mut problems);
        let mut offered = prints.leaves();
        offered.extend(self.evidence.graph(session, task.as_ref(), &headers, &mut problems)?);
        let symbol = self.evidence.symbol.as_ref().map(|text| Source::new("--symbol", text.as_bytes()));
        let mut macros = headers.clone();
        if let Some((_, site)) = emitter.as_ref().filter(|(_, site)| site.file != "-") {
            macros.extend(sys::closure(system, &site.file, &folders));
        }
        let search = Search {
            site: emitter,
            prints: &prints,
            symbol: symbol.as_ref(),
            select: instantiation::Select {
                kernel: Some(kernel_name.to_owned()),
                line: self.evidence.line,
                variant: task.as_ref().map(evidence::Task::variant),
            },
            given: &leaves,
            defines: &options.defines,
            offered: &offered.iter().map(|(name, fact)| (name.clone(), fact.value.clone())).collect(),
            headers: &macros,
        };
        let printed = keep(search.printed(said), &mut problems);
        let mut production_symbol = None;
        if let Some(Printed { found: parsed, extent, .. }) = &printed {
            let parameters = found.as_ref().map(|found| &found.template_parameters[..]).unwrap_or_default();
            let symbol = printed::production_symbol(symbol.as_ref(), &prints, parsed, parameters);
            production_symbol = keep(symbol, &mut problems).flatten();
            if let Some(found) = &found {
                let sources = [Arc::clone(&header), Arc::clone(&extent.source)];
                problems.append(instantiation::check_arity(found, parsed, &sources));
            }
        }
        let (Some(found), Some(printed), Some(mut command)) = (found, printed, command) else {
            return Err(Failure::input(problems));
        };
        if problems.has_errors() {
            return Err(Failure::input(problems));
        }
        said.append(problems);
        let Printed { found: mut parsed, extent, used, pasted } = printed;
        let (manifest_source, manifest) = bundled::manifest(system, self.scaffold.as_deref(), &found.name)?;
        if manifest.harness.emitted == Emitted::Unit && pasted {
            parsed.lines = extent.text().lines().map(str::to_owned).collect();
        }
        let include = include::include(system, &kernel.file, &mut command);
        if compile::include_folders(&command) != folders {
            folders = compile::include_folders(&command);
            headers = sys::closure(system, &kernel.file, &folders);
        }
        let scope = constant::Scope::new(&headers, &found, &parsed, &options);
        let expected = constant::expected_bytes(&scope, &self.transaction_function);
        let launch = self.evidence.launch(&prints, &extent);
        let mut problems = Diagnostics::new();
        let filled = self.fill_code.maps(session, &found, &scope, &mut problems)?;
        if problems.has_errors() {
            return Err(Failure::input(problems));
        }
        let facts = Facts {
            name: stem(self.name.as_deref().unwrap_or_else(|| last(&found.name)))?,
            header: kernel.file.to_string(),
            include,
            uses: instruction::uses(&header),
            demands: demand::demands(&headers),
            unknown_names: name::unknown(&parsed, &headers),
            annotation_macros: self.annotation_macro.clone(),
            dynamic_shared: instruction::dynamic_shared(&header),
            awaited: assemble::awaited(&expected, &found, &parsed),
            production_symbol,
            printed_launch: launch.map(|index| prints.launches[index].clone()),
            printed_maps: PrintedMaps { printed: prints.maps_of(launch).into_iter().cloned().collect(), lines, filled },
            leaves: all_leaves(&leaves, &offered, &used),
            manifest: &manifest,
            manifest_source: &manifest_source,
            evaluator: &scope,
            toolchain: ToolchainFacts {
                production_nvcc: Some(compile::production_nvcc(&command)),
                nvcc: toolchain::release(system),
                cutlass: cutlass::version(system, &folders),
            },
            inputs: vec![],
            compile: command,
            overrides: &overrides,
            descriptor_source: match self.descriptor {
                Descriptor::Production => DescriptorSource::Production,
                Descriptor::Type => DescriptorSource::Type,
            },
            signature: found,
            instantiation: parsed,
        };
        let (mut reproducer, warnings) = assemble::reproducer(facts).map_err(Failure::input)?;
        said.append(warnings);
        let inputs = inputs::Inputs::of(&reproducer, &extent, &manifest_source);
        reproducer.inputs = inputs.records();
        Ok((reproducer, inputs))
    }
}

/// The leaves that were given, and those that were offered and used, each with where it comes from.
fn all_leaves(
    given: &BTreeMap<String, String>,
    offered: &BTreeMap<String, Fact<String>>,
    used: &[String],
) -> BTreeMap<String, Fact<String>> {
    let said =
        given.iter().map(|(name, value)| (name.clone(), Fact::given(value.clone(), format!("--set {name}={value}"))));
    let taken = offered.iter().filter(|(name, _)| !given.contains_key(*name) && used.contains(name));
    said.chain(taken.map(|(name, fact)| (name.clone(), fact.clone()))).collect()
}

fn read_source(session: &Session<'_>, file: &Utf8Path) -> Result<Arc<Source>, Failure> {
    let mut bytes = Vec::new();
    sys::open(session.system, file)?.stream.read_to_end(&mut bytes)?;
    Ok(Source::new(file.as_str(), bytes))
}

/// The result, or its problems among the others.
fn keep<T>(result: Result<T, Diagnostics>, problems: &mut Diagnostics) -> Option<T> {
    result.map_err(|found| problems.append(found)).ok()
}

/// `NAME=VALUE` options as a map.
fn pairs(option: &str, list: &[String], problems: &mut Diagnostics) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for entry in list {
        match entry.split_once('=').filter(|(name, _)| !name.is_empty()) {
            Some((name, value)) if value.trim().is_empty() => problems.push(
                Diagnostic::error("K-OPTION", format!("`{option} {name}=` gives an empty value"))
                    .help(format!("write {option} {name}=VALUE; empty text is `{option} '{name}=\"\"'`")),
            ),
            Some((name, value)) => {
                if let Some(before) = map.insert(name.to_owned(), value.to_owned()).filter(|before| before != value) {
                    problems.push(
                        Diagnostic::error("K-OPTION", format!("{option} {name} is given twice: {before} and {value}"))
                            .help("leave one of them out"),
                    );
                }
            }
            None => problems.push(
                Diagnostic::error("K-OPTION", format!("`{option} {entry}` is no assignment"))
                    .help(format!("write {option} NAME=VALUE")),
            ),
        }
    }
    debug_assert!(problems.iter().all(|p| p.severity == Severity::Error));
    map
}

/// The unqualified name.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// A stem that is a file name and a C++ identifier.
fn stem(name: &str) -> Result<String, Failure> {
    let fit = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fit {
        return Ok(name.to_owned());
    }
    Err(Failure::input(
        Diagnostic::error("K-OPTION", format!("`{name}` cannot be the stem of a file and a C++ name"))
            .help("--name with letters, digits and underscores"),
    ))
}
