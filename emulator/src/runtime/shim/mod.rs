//! The replacement `libcudart` and `libcuda`: C sources inside this crate, compiled on the spot by the host compiler.

mod build;
mod sources;

pub use build::{ShimError, build};
pub(crate) use sources::{SOCKET_VARIABLE, identity};

/// The runtime libraries that the shim stands in for.
pub(crate) const RUNTIMES: [&str; 2] = ["libcudart.so.12", "libcudart.so.13"];
