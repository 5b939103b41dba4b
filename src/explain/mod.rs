//! What messages, findings and diagnostics mean, at length.
//!
//! Messages of nvcc and its parts are data (`build-flags/messages.toml`), and so are the long texts of krepro's own codes
//! (`build-flags/codes.toml`).

mod catalogue;
mod codes;
mod lines;
mod output;
mod shrink;

pub use catalogue::{Catalogue, CatalogueError, Message, Tool};
pub use codes::{Code, Codes};
pub use lines::{Reported, reported};
pub use output::{Explained, Explanation, Known, explain};
pub use shrink::shrink;
