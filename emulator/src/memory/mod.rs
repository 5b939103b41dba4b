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

/// First address given to an allocation. No process maps anything here unless it asks for exactly this range: user space ends
/// at 2^47 on x86-64 and at 2^48 on aarch64. An address of the device that the host takes for its own faults at once.
pub const FIRST_ADDRESS: u64 = 0x0001_0000_0000_0000;
/// Generic addresses with these upper 32 bits lie in shared memory (lower half: CTA rank in the cluster << 24 | offset). The
/// windows lie above everything that is ever allocated, in the 49 bits that an address of the device has.
pub const SHARED_WINDOW: u64 = 0x0001_fd00_0000_0000;
/// Generic addresses with these upper 32 bits lie in the thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x0001_fe00_0000_0000;
/// Generic addresses with these upper 32 bits lie in the kernel's parameters.
pub const PARAMETER_WINDOW: u64 = 0x0001_ff00_0000_0000;
