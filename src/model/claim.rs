//! What somebody says is wrong.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What somebody says is wrong in production.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Claim {
    /// The output is this many times too large.
    Ratio(f64),
    /// The output holds NaN or infinity.
    Nan,
    /// The kernel does not end.
    Hang,
    /// The relative L2 error is this large.
    RelL2(f64),
    /// The largest absolute error is this large.
    MaxAbs(f64),
    /// At least this share (0 to 1) of the output is zero.
    Zeros(f64),
    /// Two equal launches differ.
    Nondeterministic,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Ratio(x) => write!(f, "ratio={x}"),
            Claim::Nan => f.write_str("nan"),
            Claim::Hang => f.write_str("hang"),
            Claim::RelL2(x) => write!(f, "rel_l2={x}"),
            Claim::MaxAbs(x) => write!(f, "max_abs={x}"),
            Claim::Zeros(x) => write!(f, "zeros={x}"),
            Claim::Nondeterministic => f.write_str("nondeterministic"),
        }
    }
}

/// The forms, for errors and help.
const FORMS: &str = "ratio=10, rel_l2=0.3, max_abs=5, zeros=0.5, nan, hang, nondeterministic";

impl FromStr for Claim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        let number = || -> Result<f64, String> {
            let value = value.ok_or_else(|| format!("the claim `{name}` needs a number: {name}=NUMBER"))?;
            let x: f64 = value.parse().map_err(|_| format!("`{value}` in the claim `{text}` is no number"))?;
            if x.is_finite() {
                Ok(x)
            } else {
                Err(format!("`{value}` in the claim `{text}` is not finite; claim `nan` instead"))
            }
        };
        let at_least_zero =
            |x: f64| if x >= 0.0 { Ok(x) } else { Err(format!("`{name}` is never negative, but the claim says {x}")) };
        let bare = |claim: Claim| match value {
            None => Ok(claim),
            Some(value) => Err(format!("the claim `{name}` takes no value, but `{value}` was given")),
        };
        match name {
            "ratio" => number().map(Claim::Ratio),
            "rel_l2" => number().and_then(at_least_zero).map(Claim::RelL2),
            "max_abs" => number().and_then(at_least_zero).map(Claim::MaxAbs),
            "zeros" if value.is_none() => Ok(Claim::Zeros(1.0)),
            "zeros" => {
                let share = number().and_then(at_least_zero)?;
                if share > 1.0 {
                    return Err(format!("`zeros` is a share of the output, 0 to 1, but the claim says {share}"));
                }
                Ok(Claim::Zeros(share))
            }
            "nan" | "inf" => bare(Claim::Nan),
            "hang" => bare(Claim::Hang),
            "nondeterministic" => bare(Claim::Nondeterministic),
            _ => Err(format!("`{text}` is no claim; the forms are {FORMS}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Claim;

    #[test]
    fn every_form_is_read_and_written_back() {
        for text in ["ratio=10", "rel_l2=0.3", "max_abs=5", "zeros=0.5", "nan", "hang", "nondeterministic"] {
            assert_eq!(text.parse::<Claim>().unwrap().to_string(), text);
        }
        assert_eq!("zeros".parse(), Ok(Claim::Zeros(1.0)));
    }

    #[test]
    fn an_error_says_what_to_type() {
        let error = |text: &str| text.parse::<Claim>().unwrap_err();
        assert!(error("x10").contains("ratio=10"));
        assert!(error("ratio").contains("ratio=NUMBER"));
        assert!(error("ratio=ten").contains("no number"));
        assert!(error("rel_l2=-1").contains("never negative"));
        assert!(error("zeros=50").contains("0 to 1"));
        assert!(error("nan=3").contains("no value"));
        assert!(error("ratio=inf").contains("`nan`"));
    }
}
