//! Ending a launch from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A switch that ends the launches that were started with it (or a clone of it). Two are equal when they are one switch.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends them, at their next turn; there is no way back.
    pub fn pull(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it was pulled.
    pub fn is_pulled(&self) -> bool {
        self.0.load(Relaxed)
    }
}

impl PartialEq for Stop {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stop {}
