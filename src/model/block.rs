//! The threads of a block.

use serde::{Deserialize, Serialize};

use super::{Fact, Origin};

/// Threads of a block in x, y and z. In TOML one fact where all lie along x, else a list of three.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Block {
    /// Extents in x, y, z.
    pub extents: [Fact<u64>; 3],
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "one value with its origin, or a list of three: the extents in x, y and z")]
enum Written {
    AlongX(Fact<u64>),
    Extents([Fact<u64>; 3]),
}

impl Block {
    /// A block whose threads all lie along x.
    pub fn along_x(threads: Fact<u64>) -> Self {
        let one = Fact { value: 1, origin: threads.origin.clone() };
        Self { extents: [threads, one.clone(), one] }
    }

    /// How many threads it has.
    pub fn threads(&self) -> u64 {
        self.extents.iter().fold(1, |all, extent| all.saturating_mul(extent.value))
    }

    /// Where the extent along x comes from; the others come from the same text.
    pub fn origin(&self) -> &Origin {
        &self.extents[0].origin
    }
}

impl From<Written> for Block {
    fn from(written: Written) -> Self {
        match written {
            Written::AlongX(threads) => Self::along_x(threads),
            Written::Extents(extents) => Self { extents },
        }
    }
}

impl From<Block> for Written {
    fn from(block: Block) -> Self {
        match block.extents {
            [x, y, z] if y.value == 1 && z.value == 1 => Self::AlongX(x),
            extents => Self::Extents(extents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Holder {
        threads: Block,
    }

    #[test]
    fn one_fact_or_three_and_both_come_back() {
        let given = |value| Fact::given(value, "--launch threads=…".to_owned());
        for (block, lines) in [
            (Block::along_x(given(256)), "[threads]\nvalue = 256\n"),
            (Block { extents: [given(16), given(8), given(1)] }, "[[threads]]\nvalue = 16\n"),
        ] {
            let holder = Holder { threads: block };
            let text = toml::to_string(&holder).unwrap();
            assert!(text.starts_with(lines), "{text}");
            let back: Holder = toml::from_str(&text).unwrap();
            assert_eq!(back.threads.threads(), holder.threads.threads());
            assert_eq!(back.threads.extents.map(|e| e.value), holder.threads.extents.map(|e| e.value));
        }
        let problem = toml::from_str::<Holder>("threads = [16, 16]").unwrap_err().to_string();
        assert!(problem.contains("a list of three"), "{problem}");
    }
}
