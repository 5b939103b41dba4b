//! Activation functions, and how far a correct kernel may be from them: it computes them in f32, by approximations of its own.

/// A function of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// Nothing but 1: as if the factor were left out.
    One,
    /// The value itself.
    Identity,
    /// max(v, 0).
    Relu,
    /// v · Φ(v).
    Gelu,
    /// The form with tanh.
    GeluTanh,
    /// v · σ(1.702 v).
    GeluSigmoid,
    /// v · σ(v).
    Silu,
    /// σ(v).
    Sigmoid,
    /// v within -127 and 127: what a symmetric quantiser keeps of an int8.
    Symmetric,
}

/// What is known of a value: the smallest and the largest that it may be; equal, where it is exact.
pub type Range = (f64, f64);

/// From here on every activation with a curve is the identity in f32.
pub const LINEAR: f64 = 32.0;
/// From here down it is zero in f32.
pub const FLAT: f64 = -128.0;

impl Function {
    /// All that are activations.
    pub const ACTIVATIONS: [Function; 5] =
        [Function::Relu, Function::Gelu, Function::GeluTanh, Function::GeluSigmoid, Function::Silu];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Function::One => "1",
            Function::Identity => "nothing",
            Function::Relu => "relu",
            Function::Gelu => "gelu",
            Function::GeluTanh => "gelu (tanh)",
            Function::GeluSigmoid => "gelu (sigmoid)",
            Function::Silu => "silu",
            Function::Sigmoid => "sigmoid",
            Function::Symmetric => "a clamp to -127..127",
        }
    }

    /// Whether kernels compute it by an approximation.
    pub fn is_curved(self) -> bool {
        !matches!(self, Function::One | Function::Identity | Function::Relu | Function::Symmetric)
    }

    fn at(self, v: f64) -> f64 {
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        match self {
            Function::One => 1.0,
            Function::Identity => v,
            Function::Relu | Function::Symmetric if v.is_nan() => v,
            Function::Symmetric => v.clamp(-127.0, 127.0),
            Function::Relu => v.max(0.0),
            Function::Sigmoid => sigmoid(v),
            // A product of infinity and zero.
            _ if v == f64::NEG_INFINITY => f64::NAN,
            _ if v >= LINEAR => v,
            _ if v <= FLAT => 0.0,
            Function::Gelu => v * complement(-v * std::f64::consts::FRAC_1_SQRT_2) / 2.0,
            Function::GeluTanh => {
                let inner = (2.0 / std::f64::consts::PI).sqrt() * (v + 0.044_715 * v * v * v);
                v / 2.0 * (1.0 + inner.tanh())
            }
            Function::GeluSigmoid => v * sigmoid(1.702 * v),
            Function::Silu => v * sigmoid(v),
        }
    }

    /// What a correct kernel may be away from the exact value: 2^-20 of the argument, 2^-11 with tanh (as tanh.approx has it).
    fn unit(self, v: f64) -> f64 {
        match self {
            Function::Sigmoid if v.abs() < LINEAR => 2_f64.powi(-20),
            Function::Sigmoid => 0.0,
            _ if !self.is_curved() || v >= LINEAR || v <= FLAT => 0.0,
            Function::GeluTanh => v.abs() * 2_f64.powi(-11),
            _ => v.abs() * 2_f64.powi(-20),
        }
    }

    /// Of a value in a range. No activation is steeper than 1.13, so what lies between the ends stays near them.
    pub fn of(self, v: Range) -> Range {
        let (a, b) = (self.at(v.0), self.at(v.1));
        let slack = if v.0 == v.1 { 0.0 } else { 1.13 * (v.1 - v.0) };
        let unit = if self.is_curved() { self.unit(v.0).max(self.unit(v.1)) + slack } else { 0.0 };
        if unit == 0.0 { (a.min(b), b.max(a)) } else { (a.min(b) - unit, a.max(b) + unit) }
    }
}

/// 1 - erf(z), to 1e-12 of 1.
fn complement(z: f64) -> f64 {
    if z < 0.0 {
        return 2.0 - complement(-z);
    }
    if z > 2.5 {
        // The continued fraction, from the inside.
        let tail = (1..=60).rev().fold(0.0, |inner, n| f64::from(n) / 2.0 / (z + inner));
        return (-z * z).exp() / std::f64::consts::PI.sqrt() / (z + tail);
    }
    let (mut term, mut sum) = (z, z);
    for n in 1..80 {
        term *= -z * z / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    1.0 - 2.0 / std::f64::consts::PI.sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::{Function, complement};

    #[test]
    fn the_complement_of_the_error_function_is_right() {
        let known = [
            (0.0, 1.0),
            (0.5, 0.479_500_122_186_953_5),
            (1.0, 0.157_299_207_050_285_13),
            (3.0, 2.209_049_699_858_544e-5),
        ];
        for (z, value) in known {
            assert!((complement(z) - value).abs() < 1e-12, "{z}");
            assert!((complement(-z) - (2.0 - value)).abs() < 1e-12, "{z}");
        }
        assert!((complement(2.5) - complement(2.500_000_000_1)).abs() < 1e-11);
    }

    #[test]
    fn activations_are_exact_away_from_their_curve() {
        for f in Function::ACTIVATIONS {
            for (v, value) in [(0.0, 0.0), (32.0, 32.0), (1e6, 1e6), (-128.0, 0.0), (-1e6, 0.0)] {
                assert_eq!(f.of((v, v)), (value, value), "{f:?}");
            }
        }
        let near = |f: Function, v: f64, value: f64| {
            let (low, high) = f.of((v, v));
            assert!(low <= value && value <= high && high - low < 0.01, "{f:?} {low} {high}");
        };
        near(Function::Gelu, -1.0, -0.158_655_253_931_457_05);
        near(Function::GeluTanh, -1.0, -0.158_808_009_357_4);
        near(Function::Silu, -1.0, -0.268_941_421_369_995_1);
        assert_eq!(Function::Relu.of((-1.0, -1.0)), (0.0, 0.0));
    }
}
