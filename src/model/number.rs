//! Numbers that JSON has no form for.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that JSON may carry as `"nan"`, `"inf"` or `"-inf"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_nan() => serializer.serialize_str("nan"),
            f64::INFINITY => serializer.serialize_str("inf"),
            f64::NEG_INFINITY => serializer.serialize_str("-inf"),
            x => serializer.serialize_f64(x),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(f64),
            Word(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(x) => Ok(Number(x)),
            Form::Word(word) => match word.as_str() {
                "nan" => Ok(Number(f64::NAN)),
                "inf" => Ok(Number(f64::INFINITY)),
                "-inf" => Ok(Number(f64::NEG_INFINITY)),
                other => Err(serde::de::Error::custom(format!("`{other}` is no number; words are nan, inf and -inf"))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn words_are_numbers_that_json_has_not() {
        let three: Vec<Number> = serde_json::from_str(r#"["nan", "-inf", 2]"#).unwrap();
        assert!(three[0].0.is_nan());
        assert_eq!((three[1].0, three[2].0), (f64::NEG_INFINITY, 2.0));
        assert_eq!(serde_json::to_string(&three).unwrap(), r#"["nan","-inf",2.0]"#);
        assert!(serde_json::from_str::<Number>(r#""x""#).is_err());
    }
}
