//! The option grammar as data: `build-flags/nvcc.toml`.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use serde::Deserialize;

/// How many values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Takes {
    /// None.
    Nothing,
    /// One; a repeat replaces it.
    One,
    /// A list that nvcc splits at commas outside double quotes.
    List,
}

/// What an option acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Phase {
    Output,
    Dependencies,
    Link,
    Preprocess,
    Arch,
    Language,
    Device,
    Host,
    Tool,
    Driver,
    Diagnostics,
}

/// What becomes of an option when an executable is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Stays as it stands.
    Keep,
    /// Goes.
    Drop,
    /// Is rewritten.
    Change,
    /// `-l` and `-L`: decided by `[library]`.
    Library,
    /// `-ccbin`: decided by its value.
    Ccbin,
    /// `-cudart`: decided by its value.
    Cudart,
    /// A response file: its text takes its place.
    Response,
}

/// One option of nvcc.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionSpec {
    /// Every spelling, with its dashes.
    pub names: Vec<String>,
    /// Its values.
    pub takes: Takes,
    /// The spelling that may carry its value without a separator.
    #[serde(default)]
    pub joined: Option<String>,
    /// What it acts on.
    pub phase: Phase,
    /// What becomes of it.
    pub action: Action,
    /// It can change the numbers that a kernel gives.
    #[serde(default)]
    pub numerics: bool,
    /// It makes nvcc or the host compiler run or load a program.
    #[serde(default)]
    pub runs: bool,
    /// `nvcc --help` does not show it.
    #[serde(default)]
    pub hidden: bool,
    /// Why, as a text for the user.
    pub why: String,
}

/// What becomes of a library.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryRule {
    /// Names without `lib`; a `*` at the end matches any rest.
    pub names: Vec<String>,
    /// Keep or drop.
    pub action: Action,
    /// Macros that only make sense with the library.
    #[serde(default)]
    pub with_define: Vec<String>,
    /// Whether the `-L` paths go with it.
    #[serde(default)]
    pub with_paths: bool,
    /// Why.
    pub why: String,
}

/// Names that go for one reason: wrappers around a host compiler, options of NVRTC.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrapperRule {
    /// Names.
    pub names: Vec<String>,
    /// Why they go.
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    option: Vec<OptionSpec>,
    host_runs: Vec<String>,
    device_runs: Vec<String>,
    host_compilers: Vec<String>,
    #[serde(rename = "library")]
    linked: Vec<LibraryRule>,
    ccbin_wrapper: Vec<WrapperRule>,
    foreign_values: Vec<String>,
    foreign_architectures: Vec<String>,
    nvrtc_only: Vec<WrapperRule>,
}

/// The grammar, with its look-ups.
#[derive(Debug)]
pub struct OptionTable {
    file: File,
    by_name: HashMap<String, usize, BuildHasherDefault<Fnv>>,
    joined: Vec<(String, usize)>,
    longest: usize,
}

/// FNV-1a: the names are few, short and our own.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How an argument is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling<'t, 'a> {
    /// An option without a value in the same argument.
    Bare(&'t OptionSpec),
    /// `-x=value`.
    Equals(&'t OptionSpec, &'a str, &'a str),
    /// `-xvalue`.
    Joined(&'t OptionSpec, &'a str, &'a str),
    /// Begins with a dash and is no option of nvcc.
    Unknown,
    /// No option: an input.
    Input,
}

impl PartialEq for OptionSpec {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for OptionSpec {}

impl OptionTable {
    /// The grammar of nvcc 13.0.88, as shipped.
    pub fn nvcc() -> &'static OptionTable {
        static TABLE: LazyLock<OptionTable> = LazyLock::new(|| {
            OptionTable::parse(include_str!("../../../build-flags/nvcc.toml"))
                .unwrap_or_else(|e| panic!("nvcc.toml: {e}"))
        });
        &TABLE
    }

    /// Reads a grammar.
    ///
    /// # Errors
    /// The text is not TOML of this shape, or a spelling stands twice.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        let mut by_name = HashMap::default();
        let mut joined = vec![];
        for (index, spec) in file.option.iter().enumerate() {
            for name in &spec.names {
                if by_name.insert(name.clone(), index).is_some() {
                    return Err(format!("`{name}` stands twice"));
                }
            }
            joined.extend(spec.joined.iter().map(|name| (name.clone(), index)));
        }
        let longest = by_name.keys().map(String::len).max().unwrap_or_default();
        Ok(OptionTable { file, by_name, joined, longest })
    }

    /// All options.
    pub fn options(&self) -> &[OptionSpec] {
        &self.file.option
    }

    /// The option of exactly this spelling.
    pub fn find(&self, name: &str) -> Option<&OptionSpec> {
        if name.len() > self.longest {
            return None;
        }
        self.by_name.get(name).map(|index| &self.file.option[*index])
    }

    /// How nvcc reads one argument.
    pub fn spelling<'a>(&self, argument: &'a str) -> Spelling<'_, 'a> {
        if !argument.starts_with('-') || argument == "-" {
            return Spelling::Input;
        }
        if let Some(spec) = self.find(argument) {
            return Spelling::Bare(spec);
        }
        let equals = argument.as_bytes().iter().take(self.longest + 1).position(|b| *b == b'=');
        if let Some((name, value)) = equals.map(|at| (&argument[..at], &argument[at + 1..]))
            && let Some(spec) = self.find(name)
            && spec.takes != Takes::Nothing
        {
            return Spelling::Equals(spec, name, value);
        }
        for (name, index) in &self.joined {
            if argument.starts_with(name.as_str()) {
                let (name, value) = argument.split_at(name.len());
                return Spelling::Joined(&self.file.option[*index], name, value);
            }
        }
        Spelling::Unknown
    }

    /// The rule for a library, by its name without `lib`.
    pub fn linked_library(&self, name: &str) -> Option<&LibraryRule> {
        self.file.linked.iter().find(|rule| rule.names.iter().any(|pattern| matches(pattern, name)))
    }

    /// The rule for a wrapper around the host compiler, by file name.
    pub fn ccbin_wrapper(&self, program: &str) -> Option<&WrapperRule> {
        self.file.ccbin_wrapper.iter().find(|rule| rule.names.iter().any(|name| name == program))
    }

    /// Whether a host compiler is a usual one: a bare name with an optional version.
    pub fn usual_host_compiler(&self, program: &str) -> bool {
        self.file.host_compilers.iter().any(|name| {
            program.strip_prefix(name.as_str()).is_some_and(|rest| {
                rest.is_empty()
                    || rest.strip_prefix('-').is_some_and(|version| {
                        !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b'.')
                    })
            })
        })
    }

    /// Whether an option of a device tool makes it load a library or bitcode of one's own.
    pub fn device_runs(&self, option: &str) -> bool {
        self.file.device_runs.iter().any(|prefix| option.starts_with(prefix.as_str()))
    }

    /// The rule for an option that only NVRTC knows; a value may follow after "=".
    pub fn nvrtc_only(&self, option: &str) -> Option<&WrapperRule> {
        let name = option.split('=').next().unwrap_or(option);
        self.file.nvrtc_only.iter().find(|rule| rule.names.iter().any(|n| n == name))
    }

    /// Whether an option of another CUDA compiler takes the next argument as its value.
    pub fn foreign_value(&self, option: &str) -> bool {
        self.file.foreign_values.iter().any(|name| name == option)
    }

    /// Whether an option of another CUDA compiler names an architecture.
    pub fn foreign_architecture(&self, option: &str) -> bool {
        self.file.foreign_architectures.iter().any(|prefix| option.starts_with(prefix.as_str()))
    }

    /// Whether an option of the host compiler makes it run or load a program, or write files of its own.
    pub fn host_runs(&self, option: &str) -> bool {
        self.file.host_runs.iter().any(|prefix| option.starts_with(prefix.as_str()))
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |stem| name.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::{OptionTable, Spelling, Takes};

    #[test]
    fn joined_forms_are_only_those_that_nvcc_takes() {
        let table = OptionTable::nvcc();
        assert!(matches!(table.spelling("-Iinclude"), Spelling::Joined(_, "-I", "include")));
        assert!(matches!(table.spelling("-O3"), Spelling::Joined(_, "-O", "3")));
        assert!(matches!(table.spelling("-lineinfo"), Spelling::Bare(_)));
        assert!(matches!(table.spelling("-library-path"), Spelling::Joined(_, "-l", "ibrary-path")));
        assert!(matches!(table.spelling("-march=native"), Spelling::Unknown));
        assert!(matches!(table.spelling("--gencode"), Spelling::Unknown));
        assert!(matches!(table.spelling("--gpu-arch=sm_90"), Spelling::Unknown));
        assert!(matches!(table.spelling("k.cu"), Spelling::Input));
    }

    #[test]
    fn a_value_after_equals_keeps_what_follows() {
        let table = OptionTable::nvcc();
        let Spelling::Equals(spec, name, value) = table.spelling("-gencode=arch=compute_90a,code=sm_90a") else {
            panic!("not a value");
        };
        assert_eq!((spec.takes, name, value), (Takes::List, "-gencode", "arch=compute_90a,code=sm_90a"));
    }

    #[test]
    fn a_host_compiler_is_usual_only_by_its_bare_name() {
        let table = OptionTable::nvcc();
        assert!(table.usual_host_compiler("g++-12"));
        assert!(!table.usual_host_compiler("/tmp/g++"));
        assert!(!table.usual_host_compiler("g++-evil"));
    }
}
