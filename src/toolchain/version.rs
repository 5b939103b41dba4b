//! The version of a compiler.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Major, minor and build, as a compiler prints them; missing parts are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = [0; 3];
        let mut count = 0;
        for (slot, part) in parts.iter_mut().zip(text.trim().split('.')) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            *slot = digits.parse().map_err(|_| format!("`{text}` is not a version"))?;
            count += 1;
        }
        if count == 0 { Err(format!("`{text}` is not a version")) } else { Ok(Version(parts[0], parts[1], parts[2])) }
    }
}

/// The version in the text of `nvcc --version` (`…release 13.0, V13.0.88`).
pub fn of_nvcc(text: &str) -> Option<Version> {
    let tail = text.lines().find(|line| line.contains("release "))?;
    let version = tail.rsplit_once(", V").map_or_else(|| tail.split_once("release ").map(|t| t.1), |t| Some(t.1))?;
    version.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Version, of_nvcc};

    #[test]
    fn the_build_number_of_nvcc_is_read() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild x\n";
        assert_eq!(of_nvcc(text), Some(Version(13, 0, 88)));
        assert_eq!(of_nvcc("Cuda compilation tools, release 9.1, V9.1.85\n"), Some(Version(9, 1, 85)));
        assert_eq!(of_nvcc("bash: nvcc: command not found"), None);
    }

    #[test]
    fn parts_may_be_missing_and_may_have_tails() {
        assert_eq!("12".parse(), Ok(Version(12, 0, 0)));
        assert_eq!("14.0.6-12+b1".parse(), Ok(Version(14, 0, 6)));
        assert!("x".parse::<Version>().is_err());
        assert!(Version(9, 9, 0) < Version(12, 0, 0));
    }
}
