//! Nearest legal values.

/// The largest multiple of `unit` that is not above `value`.
pub(super) fn down(value: u64, unit: u64) -> u64 {
    value / unit * unit
}

/// The smallest multiple of `unit` that is not below `value`.
pub(super) fn up(value: u64, unit: u64) -> u64 {
    value.div_ceil(unit).saturating_mul(unit)
}
