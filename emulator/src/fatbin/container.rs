//! The container format.
//!
//! Container: magic 0xBA55ED50, u16 version, u16 header size, u64 size of the images. Image: u16 kind, u16 version, u32
//! header size, u64 padded payload size, u32 payload size when compressed (at 16), u32 architecture (28), u64 flags
//! (40), u64 expanded size (56), then the payload.

use super::FatbinError;
use crate::arch::{Arch, Suffix};

const MAGIC: u32 = 0xBA55_ED50;
const HEADER: usize = 16;
/// The last field that is read ends here.
const IMAGE_HEADER: u32 = 64;

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_EXACT: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// PTX text.
    Ptx,
    /// Machine code in an ELF file.
    Elf,
    /// Something newer than this reader.
    Other(u16),
}

/// How an image's payload is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As it is (`--no-compress`).
    None,
    /// An LZ4 block (`--compress-mode=speed`).
    Lz4,
    /// zstd (the default since CUDA 13).
    Zstd,
}

/// One image of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<'a> {
    /// What it holds.
    pub kind: Kind,
    /// The architecture it was compiled for.
    pub arch: Arch,
    /// How the payload is stored.
    pub compression: Compression,
    /// The payload as stored.
    pub payload: &'a [u8],
    /// Bytes it expands to, as claimed; the payload's size when it is not compressed.
    pub expanded_size: u64,
}

/// Reads the container at the start of `bytes`; what follows it is ignored.
///
/// # Errors
///
/// [`FatbinError`] for a container that is none or does not fit into `bytes`.
pub fn read(bytes: &[u8]) -> Result<Vec<Image<'_>>, FatbinError> {
    read_one(bytes, 0).map(|(images, _)| images)
}

/// Reads every container of an executable's `.nv_fatbin` or `__nv_relfatbin` section.
///
/// # Errors
///
/// As [`read`]; zero padding between containers is skipped.
pub fn read_section(bytes: &[u8]) -> Result<Vec<Image<'_>>, FatbinError> {
    let mut images = Vec::new();
    let mut at = 0;
    while let Some(gap) = bytes[at..].iter().position(|&byte| byte != 0) {
        // A container starts at a multiple of 8 and never with a zero byte.
        let start = at + gap;
        let (found, end) = read_one(bytes, start)?;
        images.extend(found);
        at = end;
    }
    Ok(images)
}

fn read_one(bytes: &[u8], start: usize) -> Result<(Vec<Image<'_>>, usize), FatbinError> {
    let header = part(bytes, start, HEADER as u64, "the container's header")?;
    let found = u32_at(header, 0);
    if found != MAGIC {
        return Err(FatbinError::Magic { found });
    }
    let header_size = u16::from_le_bytes([header[6], header[7]]);
    if usize::from(header_size) < HEADER {
        return Err(FatbinError::Header { at: start, size: header_size.into() });
    }
    part(bytes, start, header_size.into(), "the container's header")?;
    let body_start = start + usize::from(header_size);
    let body = part(bytes, body_start, u64_at(header, 8), "the container's body")?;
    let mut images = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let (image, next) = read_image(body, at)?;
        images.push(image);
        at = next;
    }
    Ok((images, body_start + body.len()))
}

fn read_image(body: &[u8], at: usize) -> Result<(Image<'_>, usize), FatbinError> {
    let fixed = part(body, at, IMAGE_HEADER.into(), "an image's header")?;
    let header_size = u32_at(fixed, 4);
    if header_size < IMAGE_HEADER {
        return Err(FatbinError::Header { at, size: header_size });
    }
    part(body, at, header_size.into(), "an image's header")?;
    let payload_at = at + header_size as usize;
    let padded = part(body, payload_at, u64_at(fixed, 8), "an image")?;
    let flags = u64_at(fixed, 40);
    let compression = match (flags & FLAG_ZSTD != 0, flags & FLAG_LZ4 != 0) {
        (true, _) => Compression::Zstd,
        (_, true) => Compression::Lz4,
        _ => Compression::None,
    };
    let (payload, expanded_size) = match compression {
        Compression::None => (padded, padded.len() as u64),
        _ => (part(padded, 0, u32_at(fixed, 16).into(), "a compressed image")?, u64_at(fixed, 56)),
    };
    let suffix = match (flags & FLAG_EXACT != 0, flags & FLAG_FAMILY != 0) {
        (true, _) => Suffix::Exact,
        (_, true) => Suffix::Family,
        _ => Suffix::None,
    };
    let kind = match u16::from_le_bytes([fixed[0], fixed[1]]) {
        1 => Kind::Ptx,
        2 => Kind::Elf,
        other => Kind::Other(other),
    };
    let image = Image { kind, arch: Arch { number: u32_at(fixed, 28), suffix }, compression, payload, expanded_size };
    Ok((image, payload_at + padded.len()))
}

fn part<'a>(bytes: &'a [u8], at: usize, size: u64, what: &'static str) -> Result<&'a [u8], FatbinError> {
    let left = bytes.len().saturating_sub(at);
    match usize::try_from(size) {
        Ok(size) if size <= left => Ok(&bytes[at..at + size]),
        _ => Err(FatbinError::CutShort { what, at, needed: size, left }),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
