//! What can be wrong with a fat binary.

/// The container or one of its images is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FatbinError {
    /// The first four bytes are something else.
    #[error("not a fat binary: it starts with {found:#010x} instead of 0xba55ed50")]
    Magic {
        /// The first four bytes, little-endian.
        found: u32,
    },
    /// A header or payload reaches beyond the bytes that are there.
    #[error("the fat binary is cut short: {what} at byte {at} needs {needed} bytes, {left} are left")]
    CutShort {
        /// The part that does not fit.
        what: &'static str,
        /// Where it starts.
        at: usize,
        /// Bytes it claims.
        needed: u64,
        /// Bytes that are there.
        left: usize,
    },
    /// A header is too small to hold its own fields.
    #[error("the fat binary is damaged: the header at byte {at} claims to be {size} bytes")]
    Header {
        /// Where it starts.
        at: usize,
        /// Its claimed size.
        size: u32,
    },
    /// A compressed image does not expand.
    #[error("a {method} image of the fat binary does not expand: {reason}")]
    Expand {
        /// zstd or LZ4.
        method: &'static str,
        /// The decoder's words.
        reason: String,
    },
    /// The expanded PTX is no text.
    #[error("a PTX image of the fat binary is not UTF-8 text (byte {at})")]
    NotText {
        /// Where the first wrong byte is.
        at: usize,
    },
}

/// No image that can be interpreted on the wanted GPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPtx {
    /// No image at all.
    #[error("the fat binary holds no image")]
    Empty,
    /// Only machine code.
    #[error(
        "the fat binary holds machine code only ({held}), which the CPU backend cannot run: build with \
         -gencode=arch={compute},code=[{sm},{compute}], which adds the PTX and changes nothing else"
    )]
    MachineCodeOnly {
        /// The architectures it holds.
        held: String,
        /// The architecture to ask for.
        sm: String,
        /// The virtual architecture to add.
        compute: String,
    },
    /// PTX, but for other GPUs.
    #[error(
        "the fat binary holds no PTX that runs on {gpu} (it holds {held}): build with \
         -gencode=arch={compute},code=[{gpu},{compute}]"
    )]
    OtherGpu {
        /// The simulated GPU.
        gpu: String,
        /// The PTX targets it holds.
        held: String,
        /// The virtual architecture to add.
        compute: String,
    },
}
