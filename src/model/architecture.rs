//! The GPU architectures that krepro knows: one file each in `build-flags/arch/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::ArchLimits;

/// What a target must be for an instruction to assemble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Needs {
    /// No target of this architecture has it.
    Never,
    /// Any target has it.
    Plain,
    /// Only targets with one of these suffixes.
    Suffix(Vec<char>),
}

impl From<String> for Needs {
    fn from(text: String) -> Self {
        match text.as_str() {
            "never" => Needs::Never,
            "plain" => Needs::Plain,
            suffixes => Needs::Suffix(suffixes.chars().collect()),
        }
    }
}

impl From<Needs> for String {
    fn from(needs: Needs) -> Self {
        match needs {
            Needs::Never => "never".to_owned(),
            Needs::Plain => "plain".to_owned(),
            Needs::Suffix(suffixes) => suffixes.into_iter().collect(),
        }
    }
}

/// One architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// Shared memory and clusters.
    #[serde(flatten)]
    pub limits: ArchLimits,
    /// Suffixes that its targets may have: `a` (this architecture alone), `f` (its family).
    pub suffixes: Vec<char>,
    /// Threads of a block.
    pub threads_per_block: u64,
    /// 32-bit registers of a block.
    pub registers_per_block: u64,
    /// 32-bit registers of a thread.
    pub registers_per_thread: u64,
    /// Bytes of kernel parameters.
    pub parameter_bytes: u64,
    /// Needs by instruction: `wgmma`, `tcgen05`, `setmaxnreg`, `tensormap_replace`, `cvt_e2m1x2`, `cvt_e4m3x2`,
    /// `cp_async_bulk_tensor`, `mbarrier_tx`, `griddepcontrol`, `clusters`.
    pub features: BTreeMap<String, Needs>,
}

const FILES: [&str; 11] = [
    include_str!("../../build-flags/arch/sm_75.toml"),
    include_str!("../../build-flags/arch/sm_80.toml"),
    include_str!("../../build-flags/arch/sm_86.toml"),
    include_str!("../../build-flags/arch/sm_87.toml"),
    include_str!("../../build-flags/arch/sm_89.toml"),
    include_str!("../../build-flags/arch/sm_90.toml"),
    include_str!("../../build-flags/arch/sm_100.toml"),
    include_str!("../../build-flags/arch/sm_103.toml"),
    include_str!("../../build-flags/arch/sm_110.toml"),
    include_str!("../../build-flags/arch/sm_120.toml"),
    include_str!("../../build-flags/arch/sm_121.toml"),
];

static ALL: LazyLock<Vec<Architecture>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| toml::from_str(text).ok()).collect());

impl Architecture {
    /// All that are known, by number.
    pub fn all() -> &'static [Architecture] {
        &ALL
    }

    /// The one with this number (90 for `sm_90`, `sm_90a`).
    pub fn of(number: u32) -> Option<&'static Architecture> {
        ALL.iter().find(|a| a.limits.number == number)
    }

    /// Whether `feature` assembles for a target with this suffix; `None` for a feature that the tables do not name.
    pub fn takes(&self, feature: &str, suffix: Option<char>) -> Option<bool> {
        Some(match self.features.get(feature)? {
            Needs::Never => false,
            Needs::Plain => true,
            Needs::Suffix(suffixes) => suffix.is_some_and(|s| suffixes.contains(&s)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Architecture, FILES};

    #[test]
    fn every_file_is_read_whole() {
        assert_eq!(ALL.len(), FILES.len());
        assert!(ALL.is_sorted_by_key(|a| a.limits.number));
        assert!(ALL.iter().all(|a| a.features.len() == 10));
    }

    #[test]
    fn a_feature_is_told_from_its_suffix() {
        let hopper = Architecture::of(90).unwrap();
        assert_eq!(hopper.limits.shared_memory, 232_448);
        assert_eq!(hopper.takes("wgmma", None), Some(false));
        assert_eq!(hopper.takes("wgmma", Some('a')), Some(true));
        assert_eq!(hopper.takes("cp_async_bulk_tensor", None), Some(true));
        let blackwell = Architecture::of(103).unwrap();
        assert_eq!(blackwell.takes("tcgen05", Some('f')), Some(true));
        assert_eq!(blackwell.takes("wgmma", Some('a')), Some(false));
        assert_eq!(blackwell.takes("telepathy", Some('a')), None);
        assert_eq!(Architecture::of(7), None);
    }
}
