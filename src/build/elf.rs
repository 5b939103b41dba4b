//! As much of an ELF file as a kernel's code needs: sections and function symbols.

/// A section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'b> {
    /// Its name.
    pub name: String,
    /// Its bytes; empty for one without file contents.
    pub bytes: &'b [u8],
    /// `sh_type`.
    pub kind: u32,
    /// `sh_link`.
    pub link: u32,
}

/// A 64-bit little-endian ELF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elf<'b> {
    /// Its sections, in order.
    pub sections: Vec<Section<'b>>,
}

const NO_BITS: u32 = 8;
const SYMBOL_TABLE: u32 = 2;

impl<'b> Elf<'b> {
    /// Reads the section table; `None` for anything else, or a broken file.
    pub fn parse(bytes: &'b [u8]) -> Option<Self> {
        if bytes.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let table = usize::try_from(u64_at(bytes, 0x28)?).ok()?;
        let (size, count, names) = (u16_at(bytes, 0x3a)?, u16_at(bytes, 0x3c)?, u16_at(bytes, 0x3e)?);
        let header = |index: u16| {
            let start = table.checked_add(usize::from(index) * usize::from(size))?;
            bytes.get(start..start.checked_add(0x40)?)
        };
        let contents = |header: &[u8]| -> Option<&'b [u8]> {
            if u32_at(header, 4)? == NO_BITS {
                return Some(&[]);
            }
            let start = usize::try_from(u64_at(header, 0x18)?).ok()?;
            bytes.get(start..start.checked_add(usize::try_from(u64_at(header, 0x20)?).ok()?)?)
        };
        let strings = contents(header(names)?)?;
        let mut sections = Vec::new();
        for index in 0..count {
            let header = header(index)?;
            sections.push(Section {
                name: text_at(strings, u32_at(header, 0)?)?,
                bytes: contents(header)?,
                kind: u32_at(header, 4)?,
                link: u32_at(header, 0x28)?,
            });
        }
        Some(Elf { sections })
    }

    /// The first section of this name.
    pub fn section(&self, name: &str) -> Option<&Section<'b>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Names in the symbol table, by index.
    pub fn symbols(&self) -> Vec<String> {
        let Some(table) = self.sections.iter().find(|s| s.kind == SYMBOL_TABLE) else { return vec![] };
        let strings = usize::try_from(table.link).ok().and_then(|link| self.sections.get(link));
        let Some(strings) = strings else { return vec![] };
        let name = |entry: &[u8]| text_at(strings.bytes, u32_at(entry, 0)?);
        table.bytes.chunks_exact(24).map(|entry| name(entry).unwrap_or_default()).collect()
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn text_at(strings: &[u8], at: u32) -> Option<String> {
    let tail = strings.get(usize::try_from(at).ok()?..)?;
    Some(String::from_utf8_lossy(tail.split(|b| *b == 0).next()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Elf;

    #[test]
    fn this_test_program_is_read() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::parse(&bytes).unwrap();
        assert!(!elf.section(".text").unwrap().bytes.is_empty());
        assert!(elf.symbols().iter().any(|name| name.contains("this_test_program_is_read")));
    }

    #[test]
    fn broken_files_are_none_and_never_a_panic() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(Elf::parse(b"MZ"), None);
        for length in [6, 40, 63, 64, 1000] {
            assert_eq!(Elf::parse(&bytes[..length]), None, "{length}");
        }
    }
}
