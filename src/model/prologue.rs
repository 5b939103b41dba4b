//! Launches before the kernel's.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Block, Contract, ElementType, Fact, Layout, Major, Reproducer, Role};

/// What a launch before the kernel makes out of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prepares {
    /// The same elements, in the type and the layout of what it writes: a copy, a cast, a remap of scale factors.
    Copy,
    /// Elements divided by the scale of their block, which is its largest magnitude over the largest of the type; and the scales.
    Quantise,
}

/// What a launch before the kernel writes: an operand of the kernel, or the source of a later launch, `NAME.source`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Destination {
    /// An operand.
    Role(Role),
    /// The source of the launch of this name.
    Source(String),
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_suffix(".source") {
            return Ok(Destination::Source(name.to_owned()));
        }
        let role = Role::ALL.into_iter().find(|role| role.name() == text);
        role.map(Destination::Role).ok_or_else(|| format!("`{text}` is no operand and no `NAME.source`"))
    }
}

impl TryFrom<String> for Destination {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> String {
        destination.to_string()
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Role(role) => write!(f, "{role}"),
            Destination::Source(name) => write!(f, "{name}.source"),
        }
    }
}

/// What a launch reads: the logical elements of what it writes, in a type and a layout of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrologueSource {
    /// Type of one element.
    pub element: Fact<ElementType>,
    /// Elements from one row to the next (columns, for [`Major::Mn`]).
    pub leading_dimension: Fact<u64>,
    /// Which index is contiguous.
    pub major: Fact<Major>,
    /// How elements lie; by the leading dimension when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Fact<Layout>>,
}

/// A launch before the kernel that prepares what it reads: a remap of scale factors, a quantiser, a cast.
///
/// It is tried alone: out of known values in its source it must leave what the host says. Then the kernel is tried on what the host
/// says, and then all of them one after another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prologue {
    /// Its name, a C++ identifier.
    pub name: String,
    /// The `__global__` function, or the host function that launches it, with its template arguments, as production writes it.
    pub entry: Fact<String>,
    /// Whether `entry` is a host function, which decides grid and block by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host: bool,
    /// What it makes.
    pub does: Fact<Prepares>,
    /// What it reads.
    pub source: PrologueSource,
    /// What it writes.
    pub writes: Fact<Destination>,
    /// Where a quantiser writes the scales.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<Fact<Destination>>,
    /// Whether the caller zeroes what it writes before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zeroed: bool,
    /// Blocks in x, y, z.
    pub grid: [Fact<u64>; 3],
    /// Threads of a block.
    pub threads: Block,
    /// Bytes of dynamic shared memory.
    pub shared_memory: Fact<u64>,
    /// Argument expressions of its launch, in order; its source is `buffers.address("NAME.source")`.
    pub arguments: Vec<String>,
}

impl Reproducer {
    /// The operand that a destination is at the end of the launches; none where a name leads nowhere.
    pub fn role_of(&self, destination: &Destination) -> Option<Role> {
        let mut at = destination;
        for _ in 0..=self.prologue.len() {
            match at {
                Destination::Role(role) => return Some(*role),
                Destination::Source(name) => at = &self.prologue.iter().find(|one| one.name == *name)?.writes.value,
            }
        }
        None
    }

    /// Fields behind which stands no more than an assumption and on which the judgement of a launch before the kernel rests: the
    /// launch's name, the field, the reason.
    pub fn assumed_prologue(&self) -> Vec<(String, String, String)> {
        let mut list = Vec::new();
        for one in &self.prologue {
            let mut look = |field: String, origin: &super::Origin| {
                if let super::Origin::Assumed { why } = origin {
                    list.push((one.name.clone(), field, why.clone()));
                }
            };
            let own = |field: &str| format!("prologue {}.{field}", one.name);
            look(own("does"), &one.does.origin);
            look(own("source.element"), &one.source.element.origin);
            look(own("source.leading_dimension"), &one.source.leading_dimension.origin);
            look(own("source.major"), &one.source.major.origin);
            look(own("writes"), &one.writes.origin);
            look(own("threads"), one.threads.origin());
            look(own("shared_memory"), &one.shared_memory.origin);
            for destination in std::iter::once(&one.writes).chain(&one.scales) {
                for (field, why) in of_role(&self.contract, self.role_of(&destination.value)) {
                    list.push((one.name.clone(), field, why));
                }
            }
        }
        list
    }
}

/// What is assumed of the operand of a role.
fn of_role(contract: &Contract, role: Option<Role>) -> Vec<(String, String)> {
    let Some(role) = role else { return vec![] };
    let prefix = format!("{role}.");
    contract.assumed().into_iter().filter(|(field, _)| field.starts_with(&prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::Destination;
    use crate::model::Role;

    #[test]
    fn a_destination_is_an_operand_or_the_source_of_a_launch() {
        assert_eq!("scale_a".parse(), Ok(Destination::Role(Role::ScaleA)));
        let source: Destination = "remap.source".parse().unwrap();
        assert_eq!((source.to_string().as_str(), &source), ("remap.source", &Destination::Source("remap".into())));
        assert!("remap".parse::<Destination>().unwrap_err().contains("`remap` is no operand"));
    }
}
