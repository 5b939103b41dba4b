//! The pass rules of other tools, on the same outputs: what each lets through.

/// What a rule needs of one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    count: f64,
    cross: f64,
    observed: f64,
    expected: f64,
    error: f64,
    /// Elements with an absolute and a relative error above 1e-2.
    loose: f64,
    /// Elements that differ at all.
    unequal: f64,
    /// Elements outside |x - e| ≤ 0.05 (|x| + |e|), with a floor of 1/256.
    unrelated: f64,
    /// Elements outside |x - e| ≤ 1e-3 + 1e-3 |e|.
    thousandth: f64,
    /// Elements outside |x - e| ≤ 0.15 + 0.5 |e|.
    half: f64,
    not_finite: bool,
}

/// Sums over pairs of observed and expected values; an unwritten element is what the caller left there.
pub fn sums(observed: &[f64], expected: &[f64]) -> Sums {
    let mut s = Sums::default();
    for (&x, &e) in observed.iter().zip(expected) {
        s.count += 1.0;
        if !x.is_finite() && e.is_finite() {
            s.not_finite = true;
            continue;
        }
        let d = (x - e).abs();
        s.cross += x * e;
        s.observed += x * x;
        s.expected += e * e;
        s.error += d * d;
        let flag = |wrong: bool| f64::from(u8::from(wrong));
        s.loose += flag(d > 1e-2 && d > 1e-2 * e.abs());
        s.unequal += flag(x != e);
        s.unrelated += flag(d > 0.05 * (x.abs() + e.abs()).max(1.0 / 256.0));
        s.thousandth += flag(d > 1e-3 + 1e-3 * e.abs());
        s.half += flag(d > 0.15 + 0.5 * e.abs());
    }
    s
}

impl Sums {
    fn calc_diff(&self) -> f64 {
        1.0 - 2.0 * self.cross / (self.observed + self.expected)
    }

    fn cosine(&self) -> f64 {
        self.cross / (self.observed * self.expected).sqrt()
    }

    fn rel_l2(&self) -> f64 {
        (self.error / self.expected).sqrt()
    }
}

/// A rule: where it is used, and whether it passes.
#[derive(Clone, Copy)]
pub struct Rule {
    /// Tool and threshold.
    pub name: &'static str,
    passes: fn(&Sums) -> bool,
}

impl Rule {
    /// Whether the rule calls the output right.
    pub fn passes(&self, sums: &Sums) -> bool {
        !sums.not_finite && (self.passes)(sums)
    }
}

/// The rules, re-implemented from the tools' sources.
pub const RULES: [Rule; 9] = [
    Rule { name: "relL2 < 0.02 (gpu-perf-tune)", passes: |s| s.rel_l2() < 0.02 },
    Rule { name: "calc_diff < 1e-5 (DeepGEMM bf16)", passes: |s| s.calc_diff() < 1e-5 },
    Rule { name: "calc_diff < 1e-3 (DeepGEMM fp8)", passes: |s| s.calc_diff() < 1e-3 },
    Rule { name: "abs and rel 1e-2 (flashinfer-bench)", passes: |s| s.loose == 0.0 },
    Rule { name: "the same for 95 % (flashinfer-bench, low bit)", passes: |s| s.loose <= 0.05 * s.count },
    Rule { name: "relatively equal 0.05 (CUTLASS profiler)", passes: |s| s.unrelated == 0.0 },
    Rule {
        // allclose(1e-3), else the error within three times that of an honest half-precision result plus a tenth of it.
        name: "allclose 1e-3 or RMSE (PyTorch minifier)",
        passes: |s| {
            let root = |x: f64| (x / s.count).sqrt();
            s.thousandth == 0.0 || root(s.error) <= 3.0 * 1.66e-3 * root(s.expected) + 1e-4
        },
    },
    Rule { name: "cosine > 0.99 (FlashInfer)", passes: |s| s.cosine() > 0.99 },
    Rule { name: "rtol 0.5, atol 0.15 (vLLM fp8)", passes: |s| s.half == 0.0 },
];

/// Whether every element is equal: usable where arithmetic is exact.
pub const EXACT: Rule = Rule { name: "every element equal", passes: |s| s.unequal == 0.0 };

#[cfg(test)]
mod tests {
    use super::{EXACT, RULES, sums};

    fn missed(observed: &[f64], expected: &[f64]) -> Vec<&'static str> {
        let sums = sums(observed, expected);
        RULES.iter().filter(|rule| rule.passes(&sums)).map(|rule| rule.name.split(' ').next().unwrap()).collect()
    }

    /// 64 rows of 64 sums of about the size that K = 4096 gives.
    fn expected() -> Vec<f64> {
        (0..4096_u64).map(|i| ((i.wrapping_mul(2_654_435_761) >> 7) % 401) as f64 - 200.0).collect()
    }

    #[test]
    fn a_tenfold_output_passes_the_cosine_alone() {
        let e = expected();
        let x: Vec<f64> = e.iter().map(|e| e * 10.0).collect();
        assert_eq!(missed(&x, &e), ["cosine"]);
    }

    #[test]
    fn four_per_cent_pass_the_loose_rules() {
        let e = expected();
        let x: Vec<f64> = e.iter().map(|e| e * 1.04).collect();
        assert_eq!(missed(&x, &e), ["calc_diff", "relatively", "cosine", "rtol"]);
    }

    #[test]
    fn one_zero_row_of_sixty_four_passes_the_share() {
        let e = expected();
        let x: Vec<f64> = e.iter().enumerate().map(|(i, e)| if i / 64 == 3 { 0.0 } else { *e }).collect();
        assert_eq!(missed(&x, &e), ["the", "cosine"]);
        assert!(!EXACT.passes(&sums(&x, &e)) && EXACT.passes(&sums(&e, &e)));
    }

    #[test]
    fn a_nan_passes_nothing() {
        let mut x = expected();
        x[7] = f64::NAN;
        assert!(missed(&x, &expected()).is_empty());
    }
}
