//! The simulated GPU: what the executable is told about its device, and the limits that launches are held to.
//!
//! The numbers are data (`gpus/`), one file an architecture with what differs from `gpus/base.txt`.

mod attributes;
mod properties;

use crate::arch::{Arch, Suffix};
use std::collections::BTreeMap;

const BASE: &str = include_str!("../../gpus/base.txt");

/// Architecture number, name of the GPU whose numbers the file holds, the file.
const FILES: &[(u32, &str, &str)] = &[
    (75, "T4", include_str!("../../gpus/sm_75.txt")),
    (80, "A100", include_str!("../../gpus/sm_80.txt")),
    (86, "RTX A6000", include_str!("../../gpus/sm_86.txt")),
    (87, "Orin", include_str!("../../gpus/sm_87.txt")),
    (89, "L40S", include_str!("../../gpus/sm_89.txt")),
    (90, "H200", include_str!("../../gpus/sm_90.txt")),
    (100, "B200", include_str!("../../gpus/sm_100.txt")),
    (103, "B300", include_str!("../../gpus/sm_103.txt")),
    (110, "Thor", include_str!("../../gpus/sm_110.txt")),
    (120, "RTX PRO 6000", include_str!("../../gpus/sm_120.txt")),
    (121, "GB10", include_str!("../../gpus/sm_121.txt")),
];

/// Device memory of a simulated GPU unless it is changed, in bytes. Only what is written takes host memory.
const MEMORY: u64 = 32 << 30;

/// A GPU as the executable sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedGpu {
    /// The device's name; says that it is emulated.
    pub name: String,
    /// The architecture, with the suffix `a`: a GPU has all features of its own architecture.
    pub arch: Arch,
    /// Device memory, in bytes.
    pub memory: u64,
    attributes: BTreeMap<u32, i32>,
}

impl SimulatedGpu {
    /// The GPU for an architecture; `None` where there are no numbers.
    pub fn for_arch(arch: Arch) -> Option<Self> {
        let &(number, model, file) = FILES.iter().find(|(number, ..)| *number == arch.number)?;
        let mut attributes: BTreeMap<u32, i32> =
            attributes::ATTRIBUTES.iter().map(|&(number, _)| (number, 0)).collect();
        for (name, value) in BASE.lines().chain(file.lines()).filter_map(line) {
            attributes.insert(attributes::number(name)?, value);
        }
        let arch = Arch { number, suffix: Suffix::Exact };
        attributes.insert(COMPUTE_CAPABILITY_MAJOR, arch.major() as i32);
        attributes.insert(COMPUTE_CAPABILITY_MINOR, arch.minor() as i32);
        Some(SimulatedGpu {
            name: format!("krepro CPU backend ({model}, {arch}, emulated)"),
            arch,
            memory: MEMORY,
            attributes,
        })
    }

    /// Names of the architectures that have numbers: `sm_75`, `sm_80`, …
    pub fn known() -> impl Iterator<Item = String> {
        FILES.iter().map(|(number, ..)| format!("sm_{number}"))
    }

    /// The attribute with this number of `cudaDeviceAttr`; `None` for one that the table does not know.
    pub fn attribute(&self, number: u32) -> Option<i32> {
        self.attributes.get(&number).copied()
    }

    /// The attribute with this name of `cudaDeviceAttr`, without its prefix; 0 for a name that is none.
    fn named(&self, name: &str) -> i32 {
        attributes::number(name).and_then(|number| self.attribute(number)).unwrap_or(0)
    }

    /// Changes an attribute; false when there is none of this name.
    pub fn set_attribute(&mut self, name: &str, value: i32) -> bool {
        attributes::number(name).is_some_and(|number| self.attributes.insert(number, value).is_some())
    }

    /// Multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.named("MultiProcessorCount") as u32
    }

    /// Most threads of a block.
    pub fn threads_per_block(&self) -> u32 {
        self.named("MaxThreadsPerBlock") as u32
    }

    /// Most threads of a block along x, y and z.
    pub fn block_limits(&self) -> [u32; 3] {
        ["MaxBlockDimX", "MaxBlockDimY", "MaxBlockDimZ"].map(|name| self.named(name) as u32)
    }

    /// Most blocks of a grid along x, y and z.
    pub fn grid_limits(&self) -> [u32; 3] {
        ["MaxGridDimX", "MaxGridDimY", "MaxGridDimZ"].map(|name| self.named(name) as u32)
    }

    /// Shared memory of a block, in bytes: without and with the attribute that opts in to more.
    pub fn shared_per_block(&self) -> (u32, u32) {
        (self.named("MaxSharedMemoryPerBlock") as u32, self.named("MaxSharedMemoryPerBlockOptin") as u32)
    }

    /// Blocks of these threads and this shared memory (static and dynamic, in bytes) that fit on one multiprocessor.
    /// Registers are not counted: PTX does not say how many a kernel takes.
    pub fn blocks_per_multiprocessor(&self, threads: u32, shared: u64) -> u32 {
        if threads == 0 || threads > self.threads_per_block() {
            return 0;
        }
        let by_threads = self.named("MaxThreadsPerMultiProcessor") as u32 / threads.next_multiple_of(32);
        let each = shared + self.named("ReservedSharedMemoryPerBlock") as u64;
        let by_shared = (self.named("MaxSharedMemoryPerMultiprocessor") as u64).checked_div(each).unwrap_or(u64::MAX);
        by_threads.min(self.named("MaxBlocksPerMultiprocessor") as u32).min(by_shared.min(u64::from(u32::MAX)) as u32)
    }

    /// Blocks of a cluster: the most that every such GPU takes, and the most with non-portable sizes allowed. 1 and 1
    /// where there are no clusters.
    pub fn cluster_limits(&self) -> (u32, u32) {
        match self.arch.number {
            _ if self.named("ClusterLaunch") == 0 => (1, 1),
            90 | 100 | 103 => (8, 16),
            _ => (8, 8),
        }
    }
}

const COMPUTE_CAPABILITY_MAJOR: u32 = 75;
const COMPUTE_CAPABILITY_MINOR: u32 = 76;

fn line(text: &str) -> Option<(&str, i32)> {
    let (name, value) = text.split_once(' ')?;
    Some((name, value.parse().ok()?)).filter(|_| !text.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str) -> SimulatedGpu {
        SimulatedGpu::for_arch(Arch::parse(name).unwrap()).unwrap()
    }

    #[test]
    fn every_file_is_read_whole() {
        for (number, _, file) in FILES {
            let gpu = gpu(&format!("sm_{number}"));
            for text in BASE.lines().chain(file.lines()).filter(|text| !text.starts_with('#')) {
                let (name, _) = line(text).unwrap_or_else(|| panic!("{text}"));
                assert!(attributes::number(name).is_some(), "{name}");
            }
            assert_eq!(gpu.attribute(75).unwrap() * 10 + gpu.attribute(76).unwrap(), *number as i32);
            let (plain, most) = gpu.shared_per_block();
            assert!(plain == 49152 && most >= plain);
        }
        assert_eq!(SimulatedGpu::for_arch(Arch::parse("sm_52").unwrap()), None);
    }

    #[test]
    fn the_attributes_of_an_h200_are_its_own() {
        let h200 = gpu("sm_90a");
        assert_eq!((h200.multiprocessors(), h200.shared_per_block()), (132, (49152, 232448)));
        assert_eq!(h200.attribute(97), Some(232448));
        assert_eq!(h200.attribute(92), None);
        assert_eq!(h200.cluster_limits(), (8, 16));
        assert_eq!(gpu("sm_80").cluster_limits(), (1, 1));
    }

    #[test]
    fn occupancy_is_held_by_the_scarcest_resource() {
        let h200 = gpu("sm_90");
        assert_eq!(h200.blocks_per_multiprocessor(1024, 0), 2);
        assert_eq!(h200.blocks_per_multiprocessor(32, 0), 32);
        assert_eq!(h200.blocks_per_multiprocessor(128, 100 * 1024), 2);
        assert_eq!(h200.blocks_per_multiprocessor(128, 232448), 1);
        assert_eq!(h200.blocks_per_multiprocessor(1025, 0), 0);
    }
}
