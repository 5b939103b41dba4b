//! krepro: from a GPU kernel that gives a wrong number to the stage at fault, or to the refuted suspicion.

pub mod build;
pub mod check;
pub mod cli;
pub mod diag;
pub mod exit;
pub mod explain;
pub mod judge;
pub mod model;
pub mod package;
pub mod pipeline;
pub mod read;
pub mod render;
pub mod report;
pub mod run;
pub mod selftest;
pub mod source;
pub mod store;
pub mod sweep;
pub mod sys;
pub mod template;
pub mod toolchain;
