//! Reader of fat binaries: the container that nvcc embeds in an executable and registers at start.
//!
//! A container holds images, each PTX text or an ELF file of machine code for one architecture. Only PTX can be
//! interpreted; [`choose`] finds the image that a GPU would have been given, and says what to change when there is none.
//! Everything here treats the bytes as hostile: no length in them is believed.

mod choose;
mod container;
mod error;
mod expand;
#[cfg(test)]
mod tests;

pub use choose::{choose, newest_ptx};
pub use container::{Compression, Image, Kind, read, read_section};
pub use error::{FatbinError, NoPtx};
