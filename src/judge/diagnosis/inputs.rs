//! What a probe puts into the operands.

use crate::model::{ElementType, Fill, OutFill, Padding, Probe, Role};

use super::fill::evaluate;
use super::format;
use super::target::{Side, Target, Tensor};
use super::values::Values;

/// Values of all operands under one probe.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// m × k.
    pub a: Values,
    /// n × k.
    pub b: Values,
    /// What storage outside the logical elements of a holds.
    pub a_padding: f64,
    /// The same for b.
    pub b_padding: f64,
    /// Block scales of a.
    pub a_scale: Vec<f64>,
    /// Block scales of b.
    pub b_scale: Vec<f64>,
    /// One for each row of b.
    pub bias: Vec<f64>,
    /// m × n.
    pub residual: Vec<f64>,
    /// m.
    pub row_scale: Vec<f64>,
    /// One for each row of b.
    pub column_scale: Vec<f64>,
    /// One, or one a group.
    pub alpha: Vec<f64>,
    /// Scalar.
    pub beta: f64,
    /// Scalar.
    pub zero_point: f64,
    /// Σ_k b\[n, k\], of each row of b.
    pub column_sum: Vec<f64>,
    /// Whether padding is poisoned.
    pub poisoned: bool,
    /// What the output holds before the launch; NaN for the sentinel.
    pub before: f64,
}

/// The fill of a role, or its default.
pub fn fill_of(probe: &Probe, role: Role) -> Fill {
    let default = match role {
        Role::Bias | Role::Residual | Role::ZeroPoint => 0.0,
        _ => 1.0,
    };
    probe.fills.iter().find(|(r, _)| *r == role).map_or(Fill::Constant { value: default }, |(_, fill)| fill.clone())
}

impl Inputs {
    /// Evaluates the fills; none when a file is among them.
    pub fn new(target: &Target, probe: &Probe) -> Option<Self> {
        let operand = |role, side: &Side, other| {
            let few = matches!(fill_of(probe, other), Fill::OneHot { .. });
            Values::new(&fill_of(probe, role), side.element, (side.rows, target.k), few)
        };
        let a = operand(Role::A, &target.a, Role::B)?;
        let b = operand(Role::B, &target.b, Role::A)?;
        let padding = |side: &Side| if probe.padding == Padding::Poison { format::poison(side.element) } else { 0.0 };
        let block = |role, side: &Side| -> Option<Vec<f64>> {
            match (side.scale, side.scale_extent(target.k)) {
                (Some(scale), Some((rows, columns))) => {
                    evaluate(&fill_of(probe, role), scale.element, rows as u64, columns as u64)
                }
                _ => Some(vec![]),
            }
        };
        let (m, n, columns) = (target.m() as u64, target.n() as u64, target.b.rows as u64);
        let groups = target.groups.as_ref().map_or(1, |groups| groups.len() as u64);
        let plain = |tensor: Tensor, role, rows, columns| {
            let used = matches!(tensor, Tensor::Alpha | Tensor::Beta) || target.uses(tensor);
            if used { evaluate(&fill_of(probe, role), target.type_of(tensor), rows, columns) } else { Some(vec![]) }
        };
        let alpha = plain(Tensor::Alpha, Role::Alpha, if target.alpha_of_group { groups } else { 1 }, 1)?;
        let beta = plain(Tensor::Beta, Role::Beta, 1, 1)?[0];
        let zero_point = evaluate(&fill_of(probe, Role::ZeroPoint), ElementType::F32, 1, 1)?[0];
        let column_sum = if target.has_zero_point() { (0..target.b.rows).map(|n| b.sum(n)).collect() } else { vec![] };
        Some(Inputs {
            a_padding: padding(&target.a),
            b_padding: padding(&target.b),
            a_scale: block(Role::ScaleA, &target.a)?,
            b_scale: block(Role::ScaleB, &target.b)?,
            bias: plain(Tensor::Bias, Role::Bias, 1, columns)?,
            residual: plain(Tensor::Residual, Role::Residual, m, n)?,
            row_scale: plain(Tensor::ScaleA, Role::ScaleA, m, 1)?,
            column_scale: plain(Tensor::ScaleB, Role::ScaleB, columns, 1)?,
            alpha,
            beta,
            zero_point,
            column_sum,
            poisoned: probe.padding == Padding::Poison,
            before: match probe.out {
                OutFill::Sentinel => f64::NAN,
                OutFill::Constant(value) => format::convert(target.out, value, format::Rounding::NearestEven, true),
            },
            a,
            b,
        })
    }
}
