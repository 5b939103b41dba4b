//! Naming the stage: probes, the host model and its knobs, the dictionary of faults, measured maps, the decision.

mod contract;
mod coverage;
pub mod decide;
pub mod dictionary;
mod epilogue;
pub mod evidence;
pub mod fill;
mod fitted;
pub mod format;
pub mod function;
mod hint;
pub mod host;
pub mod inputs;
mod kind;
pub mod knobs;
mod map_fit;
mod map_probes;
pub mod maps;
mod measured;
mod next;
pub mod observable;
pub mod operand;
pub mod probes;
pub mod proof;
pub mod seen;
mod store;
pub mod target;
pub mod values;

pub use decide::{Conclusion, Sureness};
pub use epilogue::rounding_to;
pub use kind::Kind;
pub use next::{Diagnosis, Next, next};
pub use probes::{Builder, Rung, Rungs};
