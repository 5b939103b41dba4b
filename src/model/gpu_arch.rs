//! The name of a GPU architecture, and nvcc's options that hold one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `90a`: compute capability without the dot, and a suffix that says whether it is this architecture alone (`a`) or its
/// family (`f`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct GpuArch {
    /// Compute capability without the dot.
    pub number: u32,
    /// `a` or `f`.
    pub suffix: Option<char>,
}

impl GpuArch {
    /// The virtual architecture, `compute_90a`.
    pub fn compute(self) -> String {
        format!("compute_{}", self.digits())
    }

    /// Whether code for `self` runs on a device of `device`'s number: equal, the same family for `f`, the same major number
    /// and not newer otherwise.
    pub fn runs_on(self, device: GpuArch) -> bool {
        match self.suffix {
            Some('a') => self.number == device.number,
            _ => self.number / 10 == device.number / 10 && self.number <= device.number,
        }
    }

    fn digits(self) -> String {
        format!("{}{}", self.number, self.suffix.map_or_else(String::new, String::from))
    }
}

/// `sm_90a`.
impl fmt::Display for GpuArch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "sm_{}", self.digits())
    }
}

impl From<GpuArch> for String {
    fn from(arch: GpuArch) -> String {
        arch.to_string()
    }
}

impl TryFrom<String> for GpuArch {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for GpuArch {
    type Err = String;

    /// `sm_90a`, `compute_90a`, `lto_90a` or `90a`.
    fn from_str(text: &str) -> Result<Self, String> {
        let rest = ["sm_", "compute_", "lto_"].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
        let digits = rest.trim_end_matches(['a', 'f']);
        let number = digits.parse().ok().filter(|n| (10..10_000).contains(n));
        let suffix = rest[digits.len()..].chars().collect::<Vec<char>>();
        match (number, suffix.as_slice()) {
            (Some(number), []) => Ok(GpuArch { number, suffix: None }),
            (Some(number), [suffix]) => Ok(GpuArch { number, suffix: Some(*suffix) }),
            _ => Err(format!("`{text}` is not a GPU architecture such as sm_90a")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::GpuArch;

    fn arch(text: &str) -> GpuArch {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_read_and_written() {
        assert_eq!(arch("compute_103a").to_string(), "sm_103a");
        assert_eq!(arch("sm_90").compute(), "compute_90");
        assert_eq!(arch("100f").compute(), "compute_100f");
        for wrong in ["native", "sm_", "sm_90ab", "sm_x", "", "gfx942"] {
            assert!(wrong.parse::<GpuArch>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn code_runs_where_it_may() {
        assert!(arch("sm_90a").runs_on(arch("sm_90")));
        assert!(!arch("sm_100a").runs_on(arch("sm_103")));
        assert!(arch("sm_100f").runs_on(arch("sm_103")));
        assert!(arch("sm_80").runs_on(arch("sm_86")));
        assert!(!arch("sm_86").runs_on(arch("sm_80")));
        assert!(!arch("sm_89").runs_on(arch("sm_90")));
    }
}
