//! Where in an output errors lie.

use serde::{Deserialize, Serialize};

/// Shares of wrong elements over a grid of equal fields of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// Rows of the output in a field.
    pub row_span: u64,
    /// Columns of the output in a field.
    pub column_span: u64,
    /// Fields in a line.
    pub columns: u64,
    /// Share of wrong elements of each field, line by line, 0 to 1.
    pub share: Vec<f64>,
}

/// A slab of k, and how often it is summed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slab {
    /// First k.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// Least and largest count over the output, 1 where right.
    pub count: (f64, f64),
}

/// The structure of the error of one probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// The probe.
    pub probe: String,
    /// Wrong elements.
    pub wrong: u64,
    /// All elements.
    pub elements: u64,
    /// Uniform, or structured by rows, columns or tiles, in one clause.
    pub pattern: String,
    /// The map.
    pub heat: Heat,
    /// Slabs of k that are not summed once; empty where all are, or where it was not probed.
    pub slabs: Vec<Slab>,
}
