//! What to launch: fills given as formulas of the index. Formulas and the text form are defined in `docs/harness.md`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Role;

/// A formula for the value at (r, c). C++ and Rust evaluate it to equal bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fill {
    /// The same everywhere.
    Constant {
        /// The value.
        value: f64,
    },
    /// Uniform integers in low..=high.
    Integers {
        /// Smallest.
        low: i64,
        /// Largest.
        high: i64,
        /// Seed of the hash.
        seed: u64,
    },
    /// Sum of twelve uniform pieces: variance `scale`².
    Gaussian {
        /// Seed of the hash.
        seed: u64,
        /// Standard deviation.
        scale: f64,
    },
    /// Uniform in low..high.
    Uniform {
        /// Smallest.
        low: f64,
        /// One past the largest.
        high: f64,
        /// Seed of the hash.
        seed: u64,
    },
    /// Gaussian with one in 200 elements 64 times larger.
    Outlier {
        /// Seed of the hash.
        seed: u64,
        /// Standard deviation of the rest.
        scale: f64,
    },
    /// `value` at column (r · stride + offset) mod C.
    OneHot {
        /// Columns from one row's to the next row's.
        stride: u64,
        /// Column of row 0.
        offset: u64,
        /// The value.
        value: f64,
    },
    /// `value` at column start + r.
    Window {
        /// Column of row 0.
        start: u64,
        /// The value.
        value: f64,
    },
    /// 1 in the column block r mod (number of blocks).
    Blocks {
        /// Columns of a block.
        width: u64,
    },
    /// A digit of the element's own address r · pitch + c.
    Address {
        /// Base of the digits.
        base: u64,
        /// Which digit, from 0.
        digit: u32,
        /// Elements from row to row.
        pitch: u64,
        /// Added to the digit.
        first: i64,
    },
    /// A digit of the row.
    RowDigits {
        /// Base of the digits.
        base: u64,
        /// Which digit, from 0.
        digit: u32,
        /// Added to the digit.
        first: i64,
    },
    /// A digit of the column.
    ColumnDigits {
        /// Base of the digits.
        base: u64,
        /// Which digit, from 0.
        digit: u32,
        /// Added to the digit.
        first: i64,
    },
    /// Random powers of two, 2^low to 2^high.
    Powers {
        /// Smallest exponent.
        low: i64,
        /// Largest exponent.
        high: i64,
        /// Seed of the hash.
        seed: u64,
    },
    /// Storage codes (step · r + c) mod 2^bits; zero in the place of one that is no finite number.
    Codes {
        /// Codes from row to row.
        step: u64,
    },
    /// Raw storage codes of the logical elements, in (r, c) order.
    File {
        /// Path of the file.
        path: String,
    },
}

/// What storage outside the logical elements of the inputs holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    /// Zero.
    #[default]
    Zero,
    /// NaN, or the largest magnitude of a type without one.
    Poison,
}

/// What the output holds before a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutFill {
    /// A value that no kernel writes, so that unwritten elements show.
    #[default]
    Sentinel,
    /// This value, for kernels that accumulate.
    Constant(f64),
}

/// One set of inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Its name: letters, digits, `_`, `-`, `.`.
    pub name: String,
    /// Fills by role; others as `docs/harness.md` says.
    pub fills: Vec<(Role, Fill)>,
    /// Padding of the inputs.
    pub padding: Padding,
    /// Output before each launch.
    pub out: OutFill,
    /// How many launches.
    pub launches: u32,
}

/// Probes in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// In order of execution.
    pub probes: Vec<Probe>,
}

impl Fill {
    /// The text after the role, as in a plan file.
    pub fn text(&self) -> String {
        match self {
            Fill::Constant { value } => format!("constant value={value:?}"),
            Fill::Integers { low, high, seed } => format!("integers low={low} high={high} seed={seed}"),
            Fill::Gaussian { seed, scale } => format!("gaussian seed={seed} scale={scale:?}"),
            Fill::Uniform { low, high, seed } => format!("uniform low={low:?} high={high:?} seed={seed}"),
            Fill::Outlier { seed, scale } => format!("outlier seed={seed} scale={scale:?}"),
            Fill::OneHot { stride, offset, value } => {
                format!("one_hot stride={stride} offset={offset} value={value:?}")
            }
            Fill::Window { start, value } => format!("window start={start} value={value:?}"),
            Fill::Blocks { width } => format!("blocks width={width}"),
            Fill::Address { base, digit, pitch, first } => {
                format!("address base={base} digit={digit} pitch={pitch} first={first}")
            }
            Fill::RowDigits { base, digit, first } => format!("row_digits base={base} digit={digit} first={first}"),
            Fill::ColumnDigits { base, digit, first } => {
                format!("column_digits base={base} digit={digit} first={first}")
            }
            Fill::Powers { low, high, seed } => format!("powers low={low} high={high} seed={seed}"),
            Fill::Codes { step } => format!("codes step={step}"),
            Fill::File { path } => format!("file path={path}"),
        }
    }
}

impl Plan {
    /// The plan file.
    pub fn text(&self) -> String {
        let mut text = String::from("krepro-plan 1\n");
        for probe in &self.probes {
            let _ = writeln!(text, "probe {}", probe.name);
            for (role, fill) in &probe.fills {
                let _ = writeln!(text, "fill {role} {}", fill.text());
            }
            let padding = match probe.padding {
                Padding::Zero => "zero",
                Padding::Poison => "poison",
            };
            let _ = writeln!(text, "padding {padding}");
            match probe.out {
                OutFill::Sentinel => text.push_str("out sentinel\n"),
                OutFill::Constant(value) => {
                    let _ = writeln!(text, "out constant value={value:?}");
                }
            }
            let _ = writeln!(text, "launches {}\nend", probe.launches);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Fill, OutFill, Padding, Plan, Probe};
    use crate::model::Role;

    #[test]
    fn a_plan_is_written_as_the_harness_reads_it() {
        let probe = Probe {
            name: "onehot.a".into(),
            fills: vec![
                (Role::A, Fill::OneHot { stride: 7, offset: 3, value: 1.0 }),
                (Role::B, Fill::Integers { low: -2, high: 2, seed: 9 }),
            ],
            padding: Padding::Poison,
            out: OutFill::Sentinel,
            launches: 2,
        };
        assert_eq!(
            Plan { probes: vec![probe] }.text(),
            "krepro-plan 1\nprobe onehot.a\nfill a one_hot stride=7 offset=3 value=1.0\n\
             fill b integers low=-2 high=2 seed=9\npadding poison\nout sentinel\nlaunches 2\nend\n"
        );
    }
}
