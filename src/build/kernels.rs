//! The kernels in a cubin, or in the fat binary of an executable.

use krepro_emulator::fatbin::{self, Kind};

use super::elf::{Elf, u32_at};

/// A kernel's machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its symbol.
    pub symbol: String,
    /// Its instructions.
    pub text: Vec<u8>,
    /// Registers of a thread.
    pub registers: Option<u32>,
}

/// Kernels of a cubin; of an executable, a library or an object the kernels of all images that are machine code.
pub fn of(bytes: &[u8]) -> Vec<Kernel> {
    let Some(elf) = Elf::parse(bytes) else {
        return images(fatbin::read(bytes).unwrap_or_default());
    };
    let own = of_cubin(&elf);
    if !own.is_empty() {
        return own;
    }
    // Relocatable device code lies in the second section; its images are not linked yet.
    let section = elf.section(".nv_fatbin").map(|section| section.bytes);
    images(section.and_then(|bytes| fatbin::read_section(bytes).ok()).unwrap_or_default())
}

/// The PTX texts in the fat binary of an executable, a library or an object.
pub fn ptx(bytes: &[u8]) -> Vec<String> {
    let section = Elf::parse(bytes).and_then(|elf| elf.section(".nv_fatbin").map(|section| section.bytes));
    let images = match section {
        Some(section) => fatbin::read_section(section).unwrap_or_default(),
        None => fatbin::read(bytes).unwrap_or_default(),
    };
    let text = images.iter().filter(|image| image.kind == Kind::Ptx).filter_map(|image| image.expand().ok());
    text.map(|bytes| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()).collect()
}

fn images(images: Vec<fatbin::Image<'_>>) -> Vec<Kernel> {
    let code = images.iter().filter(|image| image.kind == Kind::Elf).filter_map(|image| image.expand().ok());
    code.flat_map(|bytes| Elf::parse(&bytes).map(|elf| of_cubin(&elf)).unwrap_or_default()).collect()
}

fn of_cubin(elf: &Elf<'_>) -> Vec<Kernel> {
    let registers = registers(elf);
    let code = elf.sections.iter().filter_map(|section| Some((section.name.strip_prefix(".text.")?, section.bytes)));
    // Device functions have a `.text` of their own; only kernels have constants for their parameters.
    code.filter(|(symbol, _)| elf.section(&format!(".nv.info.{symbol}")).is_some())
        .map(|(symbol, bytes)| Kernel {
            symbol: symbol.to_owned(),
            text: bytes.to_vec(),
            registers: registers.iter().find(|(name, _)| name == symbol).map(|(_, count)| *count),
        })
        .collect()
}

/// `.nv.info` holds records of format, attribute, size and value; attribute 0x2f is (symbol index, registers).
fn registers(elf: &Elf<'_>) -> Vec<(String, u32)> {
    const SIZED: u8 = 4;
    const REGISTER_COUNT: u8 = 0x2f;
    let symbols = elf.symbols();
    let mut rest = elf.section(".nv.info").map_or(&[][..], |section| section.bytes);
    let mut out = vec![];
    while let [format, attribute, low, high, tail @ ..] = rest {
        let size = if *format == SIZED { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let Some(value) = tail.get(..size) else { break };
        if *attribute == REGISTER_COUNT
            && let (Some(index), Some(count)) = (u32_at(value, 0), u32_at(value, 4))
            && let Some(name) = usize::try_from(index).ok().and_then(|index| symbols.get(index))
        {
            out.push((name.clone(), count));
        }
        rest = &tail[size..];
    }
    out
}
