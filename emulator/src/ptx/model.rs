//! A parsed PTX module.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Location, Place};

/// Register classes: predicates, up to 32 bits (8- and 16-bit values are kept zero-extended), 64 bits, and 128 bits (two
/// consecutive registers of the 64-bit class).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `.pred`
    Predicate,
    /// 8, 16 and 32 bits.
    Word,
    /// 64 bits.
    Double,
    /// 128 bits.
    Quad,
}

/// A register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Its class.
    pub class: Class,
    /// Its number among the function's registers of that class.
    pub index: u32,
    /// Its declared width in bits; 1 for a predicate.
    pub bits: u8,
}

/// State spaces of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Device memory.
    Global,
    /// Constant memory (device memory that kernels do not write).
    Constant,
    /// Shared memory of a CTA.
    Shared,
    /// Memory of a thread.
    Local,
    /// Parameters of a kernel or of a call.
    Parameter,
}

/// An address inside an initialiser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Byte offset of the 8-byte address in the variable.
    pub offset: u64,
    /// Variable or function named.
    pub symbol: String,
    /// Bytes added to its address.
    pub addend: i64,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Alignment in bytes.
    pub alignment: u64,
    /// Size in bytes; 0 for an array without a size (dynamic shared memory).
    pub bytes: u64,
    /// Declared elsewhere (`.extern`).
    pub external: bool,
    /// First bytes of the initial value; the rest is zero.
    pub initial: Vec<u8>,
    /// Addresses in the initial value.
    pub references: Vec<Reference>,
}

/// A parameter of a kernel or function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Byte offset in the parameter block.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes.
    pub alignment: u64,
}

/// Performance and launch directives of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directives {
    /// `.reqntid`: the block must have exactly this shape.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the most threads in each dimension.
    pub maximum_block: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub minimum_ctas: Option<u32>,
    /// `.maxnreg`
    pub maximum_registers: Option<u32>,
    /// `.reqnctapercluster`: the cluster must have exactly this shape.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch must name its cluster shape.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`
    pub maximum_cluster_rank: Option<u32>,
}

/// A kernel (`.entry`) or function (`.func`).
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its (mangled) name.
    pub name: String,
    /// Whether it is a kernel.
    pub entry: bool,
    /// Line of the PTX text.
    pub line: u32,
    /// Return parameters of a function.
    pub returns: Vec<Parameter>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Launch directives.
    pub directives: Directives,
    /// Its code; `None` for a declaration.
    pub body: Option<Body>,
}

/// The code of a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Body {
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// Labels by scope and name.
    pub labels: HashMap<Label, usize>,
    /// `.branchtargets` lists by scope and name.
    pub tables: HashMap<Label, Vec<Arc<str>>>,
    /// The enclosing scope of each scope; scope 0 is the function's.
    pub scopes: Vec<u32>,
    /// Number of registers: predicates, words, doubles.
    pub registers: [u32; 3],
    /// Variables declared inside (local, shared and call parameters).
    pub variables: Vec<Variable>,
}

/// A label's name and the scope that it is declared in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    /// Scope number.
    pub scope: u32,
    /// Name.
    pub name: Arc<str>,
}

/// What an address operand names.
#[derive(Debug, Clone, PartialEq)]
pub enum Symbol {
    /// A variable of the function's body, by number.
    Inner(u32),
    /// A parameter of the function, by number (returns first).
    Parameter(u32),
    /// A module variable, function or label.
    Outer(Arc<str>),
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A special register such as `%tid.x`.
    Special(Arc<str>),
    /// An integer, sign applied.
    Integer(u64),
    /// A single-precision literal's bits.
    Single(u32),
    /// A double-precision literal's bits.
    Double(u64),
    /// The address of something plus bytes.
    Symbol(Symbol, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `[base + offset, more...]`
    Memory(Box<Operand>, i64, Vec<Operand>),
    /// `a|b`
    Pair(Box<Operand>, Box<Operand>),
    /// `!p`
    Not(Register),
    /// `_`
    Sink,
}

/// A call's names.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Where results go.
    pub returns: Vec<Operand>,
    /// The function, or a register for an indirect call.
    pub target: Operand,
    /// Arguments.
    pub arguments: Vec<Operand>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// Predicate register and whether it is negated.
    pub guard: Option<(Register, bool)>,
    /// Opcode with all modifiers.
    pub opcode: Arc<str>,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// Set for `call`.
    pub call: Option<Box<Call>>,
    /// Line of the PTX text.
    pub line: u32,
    /// Scope it stands in.
    pub scope: u32,
    /// Index of its location.
    pub location: Option<u32>,
}

/// A PTX module.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// `.version`, as written.
    pub version: String,
    /// `.target`, as written (first word).
    pub target: String,
    /// `.file` table.
    pub files: BTreeMap<u32, String>,
    /// Source locations that instructions name.
    pub locations: Vec<Location>,
    /// Module-scope variables.
    pub variables: Vec<Variable>,
    /// Kernels and functions in order.
    pub functions: Vec<Function>,
}

impl Module {
    /// The kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.entry && f.body.is_some())
    }

    /// The function or kernel of that name; a definition is preferred to a declaration.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let mut named = self.functions.iter().filter(|f| f.name == name);
        let first = named.next()?;
        if first.body.is_some() { Some(first) } else { named.find(|f| f.body.is_some()).or(Some(first)) }
    }

    /// The module-scope variable of that name; a definition is preferred to an `.extern` declaration.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        let mut named = self.variables.iter().filter(|v| v.name == name);
        let first = named.next()?;
        if !first.external { Some(first) } else { named.find(|v| !v.external).or(Some(first)) }
    }

    /// The source places of a location, innermost first; at most 32.
    pub fn places(&self, location: Option<u32>) -> Vec<Place> {
        let mut places = Vec::new();
        let mut next = location;
        while let Some(at) = next.and_then(|i| self.locations.get(i as usize)) {
            let file = self.files.get(&at.file).cloned().unwrap_or_else(|| format!("file {}", at.file));
            places.push(Place { file, line: at.line });
            if places.len() == 32 {
                break;
            }
            next = at.inlined_at;
        }
        places
    }
}
