//! How near what was built is to what production runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::instance::{self, Argument};
use super::kernels::Kernel;
use super::usage::Usage;
use crate::model::{BuildLine, LaunchKind, Reproducer};

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Production's machine code is byte for byte this one.
    Proven,
    /// The same instantiation and flags, or a task inlined in a wrapper.
    Partial,
    /// Something differs, or nothing is known.
    Unknown,
}

/// Production's machine code beside ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The file that holds it.
    pub file: String,
    /// Whether the instructions are the same bytes.
    pub equal: bool,
    /// What differs, in words.
    pub difference: Option<String>,
}

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fidelity {
    /// The answer.
    pub level: Level,
    /// Why no more and no less.
    pub why: String,
    /// The kernel's symbol.
    pub mangled: Option<String>,
    /// The kernel's symbol, in C++ form.
    pub symbol: Option<String>,
    /// Its template arguments, or those of the task in the wrapper, against the transcription; empty where the executable
    /// names neither.
    pub arguments: Vec<Argument>,
    /// Template arguments that the site leaves to the header: the parameter and what the compiler took.
    pub defaults: Vec<(String, String)>,
    /// Whether production's own symbol names what was built; `None` where none is known.
    pub production_symbol: Option<bool>,
    /// Flags of the log that act on code and are not as they were.
    pub flags: Vec<String>,
    /// Registers and spills.
    pub usage: Option<Usage>,
    /// Instructions by mnemonic; empty without a disassembler.
    pub instructions: BTreeMap<String, u64>,
    /// Against production's own machine code.
    pub production: Option<Comparison>,
}

/// What is known of a build.
#[derive(Debug, Clone)]
pub struct Evidence<'e> {
    /// The reproducer.
    pub reproducer: &'e Reproducer,
    /// Its arguments.
    pub line: &'e BuildLine,
    /// Kernels in the executable.
    pub kernels: &'e [Kernel],
    /// What ptxas said.
    pub usage: &'e [Usage],
    /// Instructions of each kernel.
    pub instructions: &'e BTreeMap<String, BTreeMap<String, u64>>,
    /// Production's files with their kernels.
    pub production: &'e [(String, Vec<Kernel>)],
}

/// Weighs it.
pub fn weigh(evidence: &Evidence<'_>) -> Fidelity {
    let reproducer = evidence.reproducer;
    let wrapped = reproducer.launch.kind.value == LaunchKind::Wrapped;
    let launcher = reproducer.launch.kind.value == LaunchKind::Host;
    let own = evidence.kernels.iter().find(|kernel| is_ours(kernel, reproducer, wrapped));
    let demangled = own.map(|kernel| instance::demangle(&kernel.symbol));
    let transcribed: Vec<String> =
        reproducer.instantiation.template_arguments.iter().map(|piece| piece.value.clone()).collect();
    let task = evidence.kernels.iter().find_map(|kernel| instance::carried(&instance::demangle(&kernel.symbol)));
    let named = if wrapped { task } else { demangled.clone() };
    let built = match &named {
        Some(text) if wrapped => instance::parts(text).1,
        Some(text) => instantiated(text, reproducer).1,
        None => vec![],
    };
    let arguments = instance::compare(&transcribed, &built, &reproducer.instantiation.aliases);
    let parameters = &reproducer.kernel.signature.template_parameters;
    let defaults = parameters.iter().zip(&built).skip(transcribed.len());
    let defaults = defaults.map(|(parameter, value)| (parameter.name.clone(), value.clone())).collect();
    let production_symbol = named.as_deref().and_then(|named| is_productions(named, reproducer));
    let flags = changed_flags(evidence);
    let production = own.and_then(|own| against(own, evidence.production));
    let (level, why) =
        level([wrapped, launcher], own.is_some(), &arguments, &flags, production.as_ref(), production_symbol);
    let unchecked = wrapped && named.is_none() && level != Level::Proven;
    let why = if unchecked {
        format!("{why}; nothing names the task, so its defaults and aliases were not checked")
    } else {
        why
    };
    let symbol = own.map(|kernel| kernel.symbol.as_str());
    Fidelity {
        level,
        why,
        mangled: symbol.map(str::to_owned),
        symbol: demangled,
        arguments,
        defaults,
        production_symbol,
        flags,
        usage: evidence.usage.iter().find(|usage| Some(usage.symbol.as_str()) == symbol).cloned(),
        instructions: symbol.and_then(|s| evidence.instructions.get(s)).cloned().unwrap_or_default(),
        production,
    }
}

/// Whether production's symbol names the function that was built; parameters and return type follow from its arguments.
fn is_productions(named: &str, reproducer: &Reproducer) -> Option<bool> {
    let symbol = reproducer.kernel.production_symbol.as_ref()?;
    // Of a struct kernel what is inside counts: production may run it by another wrapper than the harness.
    let plain = |text: &str| {
        let (name, arguments) = instantiated(text, reproducer);
        // Tools spell `(int)3` and `3`, and blanks, as they like.
        (name, arguments.iter().map(|a| instance::plain(a)).collect::<Vec<_>>())
    };
    Some(plain(named) == plain(&instance::demangle(&symbol.value)))
}

/// Whether this is the kernel that the reproducer launches.
fn is_ours(kernel: &Kernel, reproducer: &Reproducer, wrapped: bool) -> bool {
    if wrapped {
        return kernel.symbol == "krepro_kernel";
    }
    let (name, _) = instantiated(&instance::demangle(&kernel.symbol), reproducer);
    same_name(&name, reproducer)
}

/// Name and template arguments of what a symbol instantiates; for a struct kernel that is the type among its arguments.
fn instantiated(demangled: &str, reproducer: &Reproducer) -> (String, Vec<String>) {
    let (name, arguments) = instance::parts(demangled);
    if reproducer.launch.kind.value != LaunchKind::Struct {
        return (name, arguments);
    }
    let inner = arguments.iter().map(|argument| instance::parts(argument));
    inner.into_iter().find(|(inner, _)| same_name(inner, reproducer)).unwrap_or((name, arguments))
}

/// Whether a qualified name is that of the kernel, which the site may write less qualified.
fn same_name(name: &str, reproducer: &Reproducer) -> bool {
    let wanted = reproducer.instantiation.kernel.value.trim_start_matches("::");
    name == wanted || name.ends_with(&format!("::{wanted}"))
}

/// What ptxas said of the kernel that a case of a sweep launches: a wrapper goes by its name, a template's symbol by its arguments.
pub fn usage_of<'u>(usages: &'u [Usage], reproducer: &Reproducer, wrapper: &str) -> Option<&'u Usage> {
    if reproducer.launch.kind.value == LaunchKind::Wrapped {
        return usages.iter().find(|usage| usage.symbol == wrapper);
    }
    let transcribed: Vec<String> =
        reproducer.instantiation.template_arguments.iter().map(|piece| piece.value.clone()).collect();
    let fits = |usage: &&Usage| {
        let (name, built) = instantiated(&instance::demangle(&usage.symbol), reproducer);
        let arguments = instance::compare(&transcribed, &built, &reproducer.instantiation.aliases);
        same_name(&name, reproducer) && arguments.iter().all(|argument| argument.same != Some(false))
    };
    usages.iter().find(fits)
}

/// Options that act on code: what is compiled, for what, and how.
const ACTS: [&str; 31] = [
    "-D",
    "-U",
    "-I",
    "-isystem",
    "-include",
    "-std",
    "--std",
    "-O",
    "-G",
    "-use_fast_math",
    "--use_fast_math",
    "-ftz",
    "-prec-",
    "-fmad",
    "-maxrregcount",
    "-rdc",
    "-dc",
    "-Xptxas",
    "-Xcicc",
    "-Xcompiler",
    "-dopt",
    "-Ofc",
    "--expt-",
    "-expt-",
    "-extended-lambda",
    "--extended-lambda",
    "-dlto",
    "-default-stream",
    "--default-stream",
    "--define-macro",
    "--device-debug",
];

fn changed_flags(evidence: &Evidence<'_>) -> Vec<String> {
    let changes = &evidence.reproducer.compile.changes;
    let logged = changes.iter().filter(|c| !c.own && c.was != c.now).map(|c| (&c.was, &c.now, &c.why));
    let ours = evidence.line.replacements.iter().map(|r| (&r.was, &r.now, &r.why));
    let acts = |was: &[String]| was.iter().any(|word| ACTS.iter().any(|option| word.starts_with(option)));
    let say = |was: &[String], now: &[String], why: &str| match now {
        [] => format!("{} left out: {why}", was.join(" ")),
        _ => format!("{} became {}: {why}", was.join(" "), now.join(" ")),
    };
    // `-dc` means `-rdc=true` and no executable: the code is the same.
    let same = |was: &[String], now: &[String]| {
        now == ["-rdc=true"] && was.iter().any(|w| w.contains("-dc") || w.contains("device-c"))
    };
    logged
        .chain(ours)
        .filter(|(was, now, _)| acts(was) && !same(was, now))
        .filter(|(_, _, why)| !why.starts_with("relative to"))
        .map(|(was, now, why)| say(was, now, why))
        .collect()
}

fn against(own: &Kernel, production: &[(String, Vec<Kernel>)]) -> Option<Comparison> {
    let mut same_name = production.iter().flat_map(|(file, kernels)| kernels.iter().map(move |k| (file, k)));
    if let Some((file, kernel)) = same_name.clone().find(|(_, k)| k.text == own.text && !k.text.is_empty()) {
        let difference = (kernel.symbol != own.symbol).then(|| format!("the symbol there is {}", kernel.symbol));
        return Some(Comparison { file: file.clone(), equal: true, difference });
    }
    let (file, kernel) = same_name.find(|(_, kernel)| kernel.symbol == own.symbol)?;
    Some(Comparison { file: file.clone(), equal: false, difference: Some(difference(own, kernel)) })
}

/// An instruction is 16 bytes on every architecture since Volta.
const INSTRUCTION: usize = 16;

fn difference(own: &Kernel, production: &Kernel) -> String {
    let ours = own.text.chunks(INSTRUCTION);
    let first = ours.zip(production.text.chunks(INSTRUCTION)).position(|(a, b)| a != b);
    let place = first.map_or_else(|| "after the shorter one's end".to_owned(), |i| format!("from instruction {i} on"));
    let registers = |k: &Kernel| k.registers.map_or_else(|| "?".to_owned(), |count| count.to_string());
    format!(
        "{place}; {} instructions here and {} there, {} registers here and {} there",
        own.text.len() / INSTRUCTION,
        production.text.len() / INSTRUCTION,
        registers(own),
        registers(production)
    )
}

fn level(
    [wrapped, launcher]: [bool; 2],
    found: bool,
    arguments: &[Argument],
    flags: &[String],
    production: Option<&Comparison>,
    production_symbol: Option<bool>,
) -> (Level, String) {
    if let Some(comparison) = production {
        return if comparison.equal {
            (Level::Proven, format!("the kernel's instructions are those of {}", comparison.file))
        } else {
            (Level::Unknown, format!("the kernel's instructions are not those of {}", comparison.file))
        };
    }
    if !found && launcher {
        return (
            Level::Unknown,
            "production's launcher was instantiated; which kernels it launches is its own".to_owned(),
        );
    }
    if !found {
        return (Level::Unknown, "the kernel was not found among the symbols of the executable".to_owned());
    }
    if production_symbol == Some(false) {
        return (Level::Unknown, "production's symbol names another instantiation than was built".to_owned());
    }
    if let Some(wrong) = arguments.iter().find(|argument| argument.same == Some(false)) {
        let why = format!("template argument `{}` was built as `{}`", wrong.transcribed, wrong.built);
        return (Level::Unknown, why);
    }
    if !flags.is_empty() {
        return (Level::Unknown, format!("{} flag(s) that act on code are not production's", flags.len()));
    }
    let instance = match production_symbol {
        Some(_) => "production's symbol names this instantiation",
        None => "no symbol of production proves which instantiation it runs",
    };
    let what = if wrapped { "the task is inlined in a wrapper kernel" } else { "the instantiation that was read" };
    (Level::Partial, format!("{what}, flags as production's; {instance}"))
}

#[cfg(test)]
mod tests {
    use super::{Level, against, level};
    use crate::build::kernels::Kernel;

    fn kernel(text: &[u8]) -> Kernel {
        Kernel { symbol: "k".into(), text: text.to_vec(), registers: Some(32) }
    }

    #[test]
    fn equal_instructions_are_proof_and_others_are_told_apart() {
        let own = kernel(&[7; 32]);
        let equal = against(&own, &[("p.cubin".into(), vec![kernel(&[1; 32]), kernel(&[7; 32])])]).unwrap();
        assert!(equal.equal);
        assert_eq!(level([true, false], true, &[], &[], Some(&equal), None).0, Level::Proven);
        let mut other = [7; 48];
        other[20] = 1;
        let differs = against(&own, &[("p.cubin".into(), vec![kernel(&other)])]).unwrap();
        assert_eq!(
            differs.difference.clone().unwrap(),
            "from instruction 1 on; 2 instructions here and 3 there, 32 registers here and 32 there"
        );
        assert_eq!(level([true, false], true, &[], &[], Some(&differs), None).0, Level::Unknown);
    }

    #[test]
    fn without_production_it_is_partial_at_best() {
        assert_eq!(level([false; 2], true, &[], &[], None, None).0, Level::Partial);
        assert_eq!(level([false; 2], false, &[], &[], None, None).0, Level::Unknown);
        assert_eq!(level([false; 2], true, &[], &[], None, Some(false)).0, Level::Unknown);
        assert!(level([false; 2], true, &[], &[], None, Some(true)).1.contains("names this instantiation"));
        assert!(level([false, true], false, &[], &[], None, None).1.contains("launcher"));
        assert_eq!(level([true, false], true, &[], &["-DX left out: why".into()], None, None).0, Level::Unknown);
    }
}
