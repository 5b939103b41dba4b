//! Names of architectures: `sm_90a`, `compute_100f`.

use std::fmt;

/// What a target's suffix promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// Runs on every later architecture.
    None,
    /// `f`: runs on later architectures of the same family (same major number).
    Family,
    /// `a`: runs on exactly this one.
    Exact,
}

/// An architecture, real (`sm_…`) or virtual (`compute_…`): 90 and `a` for `sm_90a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// Ten times the major number plus the minor one.
    pub number: u32,
    /// The letter behind the number.
    pub suffix: Suffix,
}

impl Arch {
    /// Reads `sm_90a`, `compute_90a` or `90a`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let (digits, suffix) = match name.as_bytes().last()? {
            b'a' => (&name[..name.len() - 1], Suffix::Exact),
            b'f' => (&name[..name.len() - 1], Suffix::Family),
            _ => (name, Suffix::None),
        };
        let plain = (2..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten().map(|number| Arch { number, suffix })
    }

    /// Major number: 9 for `sm_90a`.
    pub fn major(self) -> u32 {
        self.number / 10
    }

    /// Minor number: 3 for `sm_103a`.
    pub fn minor(self) -> u32 {
        self.number % 10
    }

    /// Whether PTX for this target runs on a GPU of architecture `gpu`, whose suffix does not matter: every GPU has the
    /// features of its own `a` target.
    pub fn runs_on(self, gpu: Arch) -> bool {
        match self.suffix {
            Suffix::Exact => self.number == gpu.number,
            Suffix::Family => self.major() == gpu.major() && self.number <= gpu.number,
            Suffix::None => self.number <= gpu.number,
        }
    }

    fn letter(self) -> &'static str {
        match self.suffix {
            Suffix::None => "",
            Suffix::Family => "f",
            Suffix::Exact => "a",
        }
    }

    /// The virtual architecture's name: `compute_90a`.
    pub fn compute(self) -> String {
        format!("compute_{}{}", self.number, self.letter())
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, self.letter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(text: &str) -> Arch {
        Arch::parse(text).unwrap()
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["sm_90a", "sm_103f", "sm_120", "sm_80"] {
            assert_eq!(arch(name).to_string(), name);
        }
        assert_eq!(arch("compute_100f").compute(), "compute_100f");
        for wrong in ["", "sm_", "sm_9", "sm_90b", "sm_12345", "a", "sm_+90"] {
            assert_eq!(Arch::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn suffixes_bind_as_nvcc_documents() {
        assert!(arch("compute_90").runs_on(arch("sm_103a")));
        assert!(!arch("compute_90a").runs_on(arch("sm_100a")));
        assert!(arch("compute_90a").runs_on(arch("sm_90")));
        assert!(arch("compute_100f").runs_on(arch("sm_103a")));
        assert!(!arch("compute_103f").runs_on(arch("sm_100a")));
        assert!(!arch("compute_100f").runs_on(arch("sm_110a")));
        assert!(!arch("compute_100").runs_on(arch("sm_90a")));
    }
}
