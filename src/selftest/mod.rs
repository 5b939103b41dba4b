//! Proof that the diagnosis can be trusted: a structural simulator of a tiled kernel with plantable defects, and mutants of
//! predicted outputs. The simulator shares number formats and fills with `judge`, and nothing of its host model.

mod contracts;
mod defects;
mod device;
mod epilogue;
mod load;
mod memory;
mod mutants;
mod peers;
mod store;
mod validation;

pub use contracts::{Random, random_target};
pub use defects::{Defect, Kindred, Planted};
pub use device::Device;
pub use mutants::{MutantReport, mutants, predicted};
pub use peers::{PeerTable, peers};
pub use validation::{Outcome, Row, Set, confusion, diagnose, is_failure, many, run};
