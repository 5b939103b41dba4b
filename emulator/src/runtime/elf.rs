//! What an executable's ELF headers say before it is started: which CUDA runtime it takes, and from where.

use std::ops::Range;

/// Facts of an executable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Libraries it needs, in order.
    pub(crate) needed: Vec<String>,
    /// Whether it carries device images.
    pub(crate) has_device_code: bool,
    /// Where its device images lie in the file: `.nv_fatbin` and `__nv_relfatbin`.
    pub(crate) images: Vec<Range<usize>>,
}

const SECTION_DYNAMIC: u32 = 6;
const TAG_NEEDED: u64 = 1;

/// Reads a 64-bit little-endian ELF file; `None` when it is no such file or is damaged.
pub(crate) fn read(file: &[u8]) -> Option<Facts> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let sections = sections(file)?;
    let mut facts = Facts::default();
    for section in &sections {
        match section.name(file, &sections) {
            Some(b".nv_fatbin" | b"__nv_relfatbin") => {
                facts.images.push(section.range());
                facts.has_device_code = true;
            }
            Some(b".nvFatBinSegment") => facts.has_device_code = true,
            _ => {}
        }
        if section.kind == SECTION_DYNAMIC {
            let strings = sections.get(section.link as usize)?;
            facts.needed = needed(file.get(section.range())?, file.get(strings.range())?);
        }
    }
    Some(facts)
}

struct Section {
    name_at: usize,
    kind: u32,
    link: u32,
    at: usize,
    size: usize,
    /// Index of the section with the names.
    names: usize,
}

impl Section {
    fn range(&self) -> Range<usize> {
        self.at..self.at.saturating_add(self.size)
    }

    fn name<'a>(&self, file: &'a [u8], sections: &[Section]) -> Option<&'a [u8]> {
        string(file.get(sections.get(self.names)?.range())?, self.name_at)
    }
}

fn sections(file: &[u8]) -> Option<Vec<Section>> {
    let (table, size, count) = (word(file, 40)?, half(file, 58)?, half(file, 60)?);
    let names = half(file, 62)?;
    let mut sections = Vec::new();
    for i in 0..count {
        let at = table.checked_add(i * size)?;
        sections.push(Section {
            name_at: quarter(file, at)? as usize,
            kind: quarter(file, at + 4)?,
            link: quarter(file, at.checked_add(40)?)?,
            at: word(file, at + 24)?,
            size: word(file, at + 32)?,
            names,
        });
    }
    Some(sections)
}

fn needed(dynamic: &[u8], strings: &[u8]) -> Vec<String> {
    let entries = dynamic.chunks_exact(16).map(|entry| (word(entry, 0), word(entry, 8)));
    let names = entries.filter(|(tag, _)| *tag == Some(TAG_NEEDED as usize));
    names.filter_map(|(_, at)| Some(String::from_utf8_lossy(string(strings, at?)?).into_owned())).collect()
}

fn string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    bytes.get(at..)?.split(|&byte| byte == 0).next()
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
}

fn quarter(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(|bytes| u16::from_le_bytes(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn the_libraries_of_this_test_are_read() {
        let facts = read(&own()).unwrap();
        assert!(facts.needed.iter().any(|name| name.starts_with("libc.so")), "{facts:?}");
        assert!(!facts.has_device_code);
        assert_eq!(read(b"#!/bin/sh\n"), None);
    }

    proptest! {
        #[test]
        fn damaged_headers_never_panic(changes in prop::collection::vec((0usize..64, any::<u8>()), 1..8)) {
            let mut file = own()[..4096].to_vec();
            for (at, value) in changes {
                file[at] = value;
            }
            if let Some(facts) = read(&file) {
                prop_assert!(facts.needed.len() <= file.len());
            }
        }
    }
}
