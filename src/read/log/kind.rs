//! What a compiler command does.

use super::anchor::Family;
use super::argument::Argument;

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
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = file.rsplit_once('.').map_or("", |(_, e)| e);
    if SOURCES.contains(&extension) {
        InputKind::Source
    } else if OBJECTS.contains(&extension) || file.contains(".so.") {
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

/// What a command does; `None` when it is none (a sentence that names the compiler).
pub fn kind(family: Family, arguments: &[Argument]) -> Option<Kind> {
    let has = |names: &[&str]| arguments.iter().any(|a| names.iter().any(|name| a.is(name) || a.flag == *name));
    let language = has(&["-x"]);
    let inputs =
        || arguments.iter().filter(|a| a.spec().is_none() && !a.flag.starts_with('-')).map(|a| a.flag.as_str());
    let source = inputs().any(|name| input_kind(name, language) == InputKind::Source);
    let object = inputs().any(|name| input_kind(name, false) == InputKind::Object);
    let options = arguments.iter().any(|a| a.spec().is_some());
    if !source && !object && !options && !has(&["-?"]) {
        return None;
    }
    // A sentence: its second word is neither an option nor a file.
    if let Some(first) = arguments.first()
        && first.spec().is_none()
        && !first.flag.starts_with(['-', '@'])
        && input_kind(&first.flag, language) == InputKind::Other
        && !(source && options)
    {
        return None;
    }
    if family == Family::Clang && !compiles_cuda(arguments) {
        return None;
    }
    if inputs().any(is_probe_source) || (!source && !object && has(&["-?", "--version", "--help", "-V", "-h"])) {
        return Some(Kind::Probe);
    }
    if has(&["-dlink"]) {
        return Some(Kind::Dlink);
    }
    if has(&["-lib"]) {
        return Some(Kind::Archive);
    }
    if has(&["-M", "-MM"]) {
        return Some(Kind::Depscan);
    }
    if has(&["-E"]) {
        return Some(Kind::Preprocess);
    }
    if !source && object && family == Family::Nvcc {
        return Some(Kind::Link);
    }
    Some(Kind::Compile)
}

/// Whether a clang command compiles CUDA.
fn compiles_cuda(arguments: &[Argument]) -> bool {
    let words: Vec<&str> = arguments.iter().flat_map(|a| a.words.iter().map(|w| w.text.as_str())).collect();
    words.windows(2).any(|pair| pair[0] == "-x" && matches!(pair[1], "cuda" | "cu" | "hip"))
        || words.iter().any(|word| {
            matches!(*word, "-xcuda" | "-xhip") || word.starts_with("--cuda-gpu-arch=") || word.ends_with(".cu")
        })
}
