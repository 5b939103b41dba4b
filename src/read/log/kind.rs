//! What a compiler command does.

use super::anchor::Family;
use super::argument::Argument;
use super::table::Phase;

/// What a compiler command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Compiles a source.
    Compile,
    /// Lists dependencies.
    Depscan,
    /// Preprocesses.
    Preprocess,
    /// Links device code.
    Dlink,
    /// Links objects.
    Link,
    /// Makes an archive.
    Archive,
    /// Asks the compiler what it is or what it can do.
    Probe,
    /// Flags without a command.
    Flags,
}

/// Source files that build tools compile only to learn about the compiler.
const PROBES: [&str; 6] = [
    "CMakeCUDACompilerId",
    "detect_compiler_family",
    "flag_check",
    "cmTC_",
    "testCUDACompiler",
    "CMakeCUDACompilerABI",
];

/// Extensions that a CUDA compiler compiles.
const SOURCES: [&str; 11] = ["cu", "cc", "cpp", "cxx", "c", "C", "c++", "cup", "gpu", "hip", "ptx"];

/// Extensions that are linked.
const OBJECTS: [&str; 9] = ["o", "a", "so", "obj", "lib", "cubin", "fatbin", "res", "ltoir"];

/// What an input is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// It is compiled.
    Source,
    /// It is linked.
    Object,
    /// Its extension says nothing.
    Other,
}

/// What an input is, by its name; `-x` makes everything but an object a source.
pub fn input_kind(name: &str, language_given: bool) -> InputKind {
    let file = name.as_bytes().iter().rposition(|b| matches!(b, b'/' | b'\\')).map_or(name, |i| &name[i + 1..]);
    let extension = file.as_bytes().iter().rposition(|b| *b == b'.').map_or("", |i| &file[i + 1..]);
    if SOURCES.contains(&extension) {
        InputKind::Source
    } else if OBJECTS.contains(&extension) || file.as_bytes().windows(4).any(|w| w == b".so.") {
        InputKind::Object
    } else if language_given {
        InputKind::Source
    } else {
        InputKind::Other
    }
}

/// Whether build tools compile this source only to learn about the compiler.
pub fn is_probe_source(name: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    PROBES.iter().any(|probe| file.contains(probe))
}

/// What the arguments of a command ask for, as far as it decides what the command does.
#[derive(Default)]
struct Asked {
    source: bool,
    object: bool,
    options: bool,
    probe_source: bool,
    question: bool,
    unfamiliar_question: bool,
    dlink: bool,
    archive: bool,
    dependencies: bool,
    preprocess: bool,
}

impl Asked {
    fn by(arguments: &[Argument], language: bool) -> Self {
        let mut out = Asked::default();
        for argument in arguments {
            let Some(spec) = argument.spec() else {
                if let Some(name) = argument.input() {
                    out.source |= input_kind(name, language) == InputKind::Source;
                    out.object |= input_kind(name, false) == InputKind::Object;
                    out.probe_source |= is_probe_source(name);
                }
                out.unfamiliar_question |= argument.flag() == "-?";
                continue;
            };
            out.options = true;
            if spec.phase == Phase::Output {
                out.question |= argument.is("--version") || argument.is("--help");
                out.dlink |= argument.is("-dlink");
                out.archive |= argument.is("-lib");
                out.dependencies |= argument.is("-M") || argument.is("-MM");
                out.preprocess |= argument.is("-E");
            }
        }
        out
    }
}

/// What a command does; `None` when it is none (a sentence that names the compiler).
pub fn kind(family: Family, arguments: &[Argument]) -> Option<Kind> {
    let language = arguments.iter().any(|a| a.is("-x"));
    let asked = Asked::by(arguments, language);
    if !asked.source && !asked.object && !asked.options && !asked.unfamiliar_question {
        return None;
    }
    // A sentence: its second word is neither an option nor a file.
    if let Some(first) = arguments.first()
        && first.spec().is_none()
        && !first.flag().starts_with(['-', '@'])
        && input_kind(first.flag(), language) == InputKind::Other
        && !(asked.source && asked.options)
    {
        return None;
    }
    if family == Family::Clang && !compiles_cuda(arguments) {
        return None;
    }
    let question = asked.question || asked.unfamiliar_question;
    if asked.probe_source || (!asked.source && !asked.object && question) {
        return Some(Kind::Probe);
    }
    if asked.dlink {
        return Some(Kind::Dlink);
    }
    if asked.archive {
        return Some(Kind::Archive);
    }
    if asked.dependencies {
        return Some(Kind::Depscan);
    }
    if asked.preprocess {
        return Some(Kind::Preprocess);
    }
    if !asked.source && asked.object && family == Family::Nvcc {
        return Some(Kind::Link);
    }
    Some(Kind::Compile)
}

/// Whether a clang command compiles CUDA.
fn compiles_cuda(arguments: &[Argument]) -> bool {
    let words: Vec<&str> = arguments.iter().flat_map(|a| a.words().map(|w| w.text.as_str())).collect();
    words.windows(2).any(|pair| pair[0] == "-x" && matches!(pair[1], "cuda" | "cu" | "hip"))
        || words.iter().any(|word| {
            matches!(*word, "-xcuda" | "-xhip") || word.starts_with("--cuda-gpu-arch=") || word.ends_with(".cu")
        })
}
