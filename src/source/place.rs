//! Where a value stood, in the form that is written to files.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// File, line and column, both counted from 1; the column counts bytes. Written `FILE:LINE:COLUMN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name the user gave: a path, or `-` for standard input.
    pub file: String,
    /// Line from 1.
    pub line: usize,
    /// Byte column from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is no place: write FILE:LINE:COLUMN");
        let mut parts = text.rsplitn(3, ':');
        let column = parts.next().and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
        let line = parts.next().and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
        let file = parts.next().ok_or_else(wrong)?.to_owned();
        Ok(Place { file, line, column })
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_survives_its_text_even_with_colons_in_the_name() {
        let place = Place { file: "c:/a:b.cc".into(), line: 12, column: 3 };
        assert_eq!(place.to_string().parse::<Place>().as_ref(), Ok(&place));
    }

    #[test]
    fn text_without_numbers_is_no_place() {
        assert!("a.cc:12".parse::<Place>().is_err());
        assert!("a.cc:x:1".parse::<Place>().is_err());
    }
}
