//! Containers made here, whole and damaged.

use super::*;
use crate::arch::Arch;
use proptest::prelude::*;

const TEXT: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n";

#[derive(Debug)]
struct Entry {
    kind: u16,
    arch: &'static str,
    compression: Compression,
}

impl Entry {
    fn bytes(&self) -> Vec<u8> {
        let arch = Arch::parse(self.arch).unwrap();
        let mut flags = match arch.suffix {
            crate::arch::Suffix::None => 0u64,
            crate::arch::Suffix::Family => 0x20_0000,
            crate::arch::Suffix::Exact => 0x10_0000,
        };
        let payload = match self.compression {
            Compression::None => TEXT.as_bytes().to_vec(),
            Compression::Lz4 => {
                flags |= 0x2000;
                lz4_flex::block::compress(TEXT.as_bytes())
            }
            Compression::Zstd => {
                flags |= 0x8000;
                ruzstd::encoding::compress_to_vec(TEXT.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
            }
        };
        let padded = payload.len().next_multiple_of(8);
        let mut bytes = vec![0; 72];
        bytes[0..2].copy_from_slice(&self.kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&72u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes[28..32].copy_from_slice(&arch.number.to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes[56..64].copy_from_slice(&(TEXT.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&payload);
        bytes.resize(72 + padded, 0);
        bytes
    }
}

fn ptx(arch: &'static str, compression: Compression) -> Entry {
    Entry { kind: 1, arch, compression }
}

fn elf(arch: &'static str) -> Entry {
    Entry { kind: 2, arch, compression: Compression::None }
}

fn container(entries: &[Entry]) -> Vec<u8> {
    let body: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    let mut bytes = 0xBA55_ED50u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[1, 0, 16, 0]);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

fn chosen(entries: &[Entry], gpu: &str) -> Result<String, String> {
    let bytes = container(entries);
    let images = read(&bytes).unwrap();
    let gpu = Arch::parse(gpu).unwrap();
    choose(&images, gpu).map(|image| image.arch.to_string()).map_err(|error| error.to_string())
}

#[test]
fn every_way_of_storing_gives_the_same_text() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let bytes = container(&[elf("sm_90a"), ptx("compute_90a", compression)]);
        let images = read(&bytes).unwrap();
        assert_eq!(images.len(), 2);
        assert_eq!((images[0].kind, images[1].kind), (Kind::Elf, Kind::Ptx));
        assert_eq!(images[1].compression, compression);
        assert_eq!(images[1].text().unwrap(), TEXT);
    }
}

#[test]
fn a_section_holds_several_containers_with_padding_between() {
    let mut section = container(&[ptx("compute_90a", Compression::Zstd)]);
    section.extend_from_slice(&[0; 24]);
    section.extend_from_slice(&container(&[ptx("compute_80", Compression::Lz4)]));
    section.extend_from_slice(&[0; 8]);
    let images = read_section(&section).unwrap();
    assert_eq!(images.iter().map(|image| image.arch.number).collect::<Vec<_>>(), [90, 80]);
    assert_eq!(newest_ptx(&images), Arch::parse("compute_90a"));
}

#[test]
fn the_most_specific_image_that_runs_is_chosen() {
    let all = || {
        ["compute_80", "compute_90", "compute_90a", "compute_100f", "compute_100"]
            .map(|arch| ptx(arch, Compression::None))
    };
    assert_eq!(chosen(&all(), "sm_90a").unwrap(), "sm_90a");
    assert_eq!(chosen(&all(), "sm_103a").unwrap(), "sm_100f");
    assert_eq!(chosen(&all(), "sm_120a").unwrap(), "sm_100");
    assert_eq!(chosen(&all(), "sm_86").unwrap(), "sm_80");
}

#[test]
fn a_binary_without_ptx_is_refused_with_the_option_to_add() {
    let error = chosen(&[elf("sm_103a")], "sm_103a").unwrap_err();
    assert_eq!(
        error,
        "the fat binary holds machine code only (sm_103a), which the CPU backend cannot run: build with \
         -gencode=arch=compute_103a,code=[sm_103a,compute_103a], which adds the PTX and changes nothing else"
    );
    let error = chosen(&[elf("sm_90a"), ptx("compute_90a", Compression::None)], "sm_100a").unwrap_err();
    assert_eq!(
        error,
        "the fat binary holds no PTX that runs on sm_100a (it holds compute_90a): build with \
         -gencode=arch=compute_100a,code=[sm_100a,compute_100a]"
    );
    assert_eq!(chosen(&[], "sm_90a").unwrap_err(), "the fat binary holds no image");
}

#[test]
fn damage_is_named() {
    assert_eq!(read(b"ELF!0123456789abcdef"), Err(FatbinError::Magic { found: u32::from_le_bytes(*b"ELF!") }));
    let bytes = container(&[ptx("compute_90a", Compression::Zstd)]);
    let error = read(&bytes[..bytes.len() - 8]).unwrap_err();
    assert!(matches!(error, FatbinError::CutShort { what: "the container's body", at: 16, .. }), "{error}");
    let mut endless = bytes.clone();
    endless[16 + 56..16 + 64].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = read(&endless).unwrap()[0].text().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a zstd image of the fat binary does not expand: it claims 18446744073709551615 bytes"
    );
    let mut longer = bytes;
    longer[16 + 56..16 + 64].copy_from_slice(&(TEXT.len() as u64 - 1).to_le_bytes());
    assert!(read(&longer).unwrap()[0].text().is_err());
}

fn any_container() -> impl Strategy<Value = Vec<u8>> {
    let entry = (any::<bool>(), 0usize..3, 0usize..4).prop_map(|(is_ptx, compression, arch)| Entry {
        kind: if is_ptx { 1 } else { 2 },
        arch: ["compute_90a", "compute_90", "compute_100f", "compute_103a"][arch],
        compression: [Compression::None, Compression::Lz4, Compression::Zstd][compression],
    });
    prop::collection::vec(entry, 0..4).prop_map(|entries: Vec<Entry>| container(&entries))
}

proptest! {
    #[test]
    fn damaged_containers_never_panic(
        bytes in any_container(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = bytes;
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let whole = read_section(&bytes);
        for image in whole.iter().flatten() {
            if let Ok(text) = image.text() {
                prop_assert!(text.len() as u64 <= image.expanded_size);
            }
        }
        if let Ok(images) = read(&bytes[..cut.index(bytes.len())]) {
            prop_assert_eq!(&images, &read(&bytes).unwrap(), "a prefix read whole is the whole");
        }
    }
}
