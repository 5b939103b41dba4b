//! Running kernels: code preparation, SIMT execution, launches and their reports.

mod access;
mod alu;
mod atomics;
mod barrier;
mod cluster;
mod code;
mod collective;
mod deadlock;
mod failure;
mod launch;
mod lower;
mod op;
mod print;
mod program;
mod registers;
mod run;
mod step;
mod stop;
mod warp;

pub use deadlock::{Deadlock, Ledger, Wait, Waiter};
pub use failure::{Cause, Failure, Site, Window};
pub use launch::{Launch, Options, Report};
pub use program::{LoadError, Program};
pub use run::launch;
pub use stop::Stop;
pub use warp::MULTIPROCESSORS;
