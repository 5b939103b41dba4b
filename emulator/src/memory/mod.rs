//! The simulated device memory: numbered allocations, and nothing but them.
//!
//! A device address is a handle: 64 bits that name a byte of a simulated allocation. No address of the emulator's own
//! process is ever formed from one, so a hostile kernel or program can reach only what was allocated for it.
//! Addresses are never given out twice, which makes use after free an error and not a coincidence.

mod block;
mod fault;
mod map;
mod view;

pub use block::Block;
pub use fault::{MemoryFault, Near, OutOfMemory};
pub use map::{Allocation, Memory};
pub use view::View;

/// First address given to an allocation. The windows of shared, local and parameter space lie far below it.
pub const FIRST_ADDRESS: u64 = 0x7f00_0000_0000;
/// Generic addresses with these upper 32 bits lie in shared memory (lower half: CTA rank in the cluster << 24 | offset).
pub const SHARED_WINDOW: u64 = 0x0500_0000_0000;
/// Generic addresses with these upper 32 bits lie in the thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x0600_0000_0000;
/// Generic addresses with these upper 32 bits lie in the kernel's parameters.
pub const PARAMETER_WINDOW: u64 = 0x0700_0000_0000;
