//! Running kernels: code preparation, SIMT execution, launches and their reports.

mod access;
mod alu;
mod atomics;
mod barrier;
mod bulk;
mod bulk_run;
mod cluster;
mod code;
mod collective;
mod deadlock;
mod failure;
mod launch;
mod lower;
mod matrix;
mod matrix_run;
mod mbarrier;
mod op;
mod print;
mod program;
mod registers;
mod run;
mod step;
mod stop;
mod warp;
mod work;

pub(crate) use alu::half_to_single;
pub use deadlock::{Deadlock, Ledger, Wait, Waiter};
pub use failure::{Cause, Failure, Site, Window};
pub use launch::{Launch, Options, Report};
pub use program::{LoadError, Program};
pub use run::launch;
pub use stop::Stop;
pub use warp::MULTIPROCESSORS;
