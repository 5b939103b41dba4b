//! Expansion of compressed images.

use super::{Compression, FatbinError, Image};
use std::io::Read as _;

/// No PTX is larger; a claim beyond this is damage or malice.
const MOST: u64 = 1 << 30;

/// No PTX shrinks further than by this factor, so a larger claim is not worth its memory.
const RATIO: u64 = 1 << 12;

impl Image<'_> {
    /// The image as stored before compression.
    ///
    /// # Errors
    ///
    /// [`FatbinError::Expand`] when the payload is damaged or expands to another size than claimed.
    pub fn expand(&self) -> Result<Vec<u8>, FatbinError> {
        match self.compression {
            Compression::None => Ok(self.payload.to_vec()),
            Compression::Lz4 => self.expand_with("LZ4", |size| {
                lz4_flex::block::decompress(self.payload, size).map_err(|error| error.to_string())
            }),
            Compression::Zstd => self.expand_with("zstd", |size| zstd(self.payload, size)),
        }
    }

    /// PTX text without the NUL bytes behind it.
    ///
    /// # Errors
    ///
    /// As [`Image::expand`], and [`FatbinError::NotText`].
    pub fn text(&self) -> Result<String, FatbinError> {
        let mut bytes = self.expand()?;
        bytes.truncate(bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1));
        String::from_utf8(bytes).map_err(|error| FatbinError::NotText { at: error.utf8_error().valid_up_to() })
    }

    fn expand_with(
        &self,
        method: &'static str,
        decode: impl FnOnce(usize) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<u8>, FatbinError> {
        let most = MOST.min((self.payload.len() as u64).saturating_mul(RATIO));
        let fail = |reason: String| FatbinError::Expand { method, reason };
        let size = match usize::try_from(self.expanded_size) {
            Ok(size) if self.expanded_size <= most => size,
            _ => return Err(fail(format!("it claims {} bytes", self.expanded_size))),
        };
        let bytes = decode(size).map_err(fail)?;
        if bytes.len() != size {
            return Err(fail(format!("it is {} bytes, {size} were claimed", bytes.len())));
        }
        Ok(bytes)
    }
}

/// Expands at most one byte more than `size`, so that a longer stream is noticed and not stored.
fn zstd(payload: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(payload).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    decoder.take(size as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
