//! A scalar that the launch's text prints, and the one that is passed in its place.

use crate::diag::Diagnostic;
use crate::model::{Fact, Piece};
use crate::source::Spot;

/// Who says what is passed.
pub(super) enum By {
    /// An option, as it was typed.
    Option(String),
    /// The manifest, with the value's origin in words.
    Manifest(Spot, String),
}

impl By {
    /// The manifest's expression at `spot`.
    pub(super) fn manifest(spot: Spot, value: &Fact<u64>) -> Self {
        By::Manifest(spot, value.origin.detail())
    }
}

/// What is said where the launch prints another number for the parameter `name`: an error about a manifest, a warning about
/// an option. Nothing where it prints no number.
pub(super) fn differs(name: &str, printed: &Piece, passed: &str, by: &By) -> Option<Diagnostic> {
    let (theirs, ours) = (number(&printed.value)?, number(passed)?);
    if theirs == ours {
        return None;
    }
    let text = printed.value.trim();
    let place = format!("the launch's text passes `{text}` at {}", printed.origin.detail());
    Some(match by {
        By::Option(by) => {
            let message = format!("{by} passes {passed} for `{name}`, for which production's launch passes {text}");
            Diagnostic::warning("K-SCALAR-DIFFERS", message)
                .because(place)
                .help("leave the option out, to pass what production passes")
        }
        By::Manifest(spot, origin) => {
            let message =
                format!("the scaffold passes {passed} for `{name}`, for which production's launch passes {text}");
            Diagnostic::error("K-SCALAR-DIFFERS", message)
                .at(spot.clone(), format!("{passed}, from {origin}"))
                .because(place)
                .help(format!(
                    "--scalar {name}={text} passes what production passes; or correct the scaffold or the leaf"
                ))
        }
    })
}

/// A literal as a number; `true` and null pointers too.
fn number(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    match text.as_str() {
        "true" => return Some(1.0),
        "false" | "nullptr" | "null" => return Some(0.0),
        _ => {}
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text.as_str()), |digits| (-1.0, digits));
    let whole = digits.trim_end_matches(['u', 'l']);
    let value = match whole.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok().map(|value| value as f64),
        None => whole.strip_suffix('f').unwrap_or(whole).parse().ok(),
    };
    value
        .filter(|value: &f64| value.is_finite() && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        .map(|value| sign * value)
}

#[cfg(test)]
mod tests {
    use super::{By, differs};
    use crate::diag::draw;
    use crate::model::Fact;
    use crate::source::{Source, Spot};

    #[test]
    fn another_number_than_the_launchs_is_told_with_both_places() {
        let host = Source::new("host.cu", "k<1><<<1, 2>>>(a, 64);");
        let manifest = Source::new("scaffold.toml", "rows = \"32\"");
        let printed = |text: &str| Fact::read(text.to_owned(), Spot::new(&host, 18..20).place(), None);
        let option = || By::Option("--scalar rows=32".to_owned());
        for (text, passed) in
            [("64", "64"), ("0x40u", "64"), ("1.5f", "1.5"), ("true", "1"), ("nullptr", "0"), ("n", "3")]
        {
            assert!(differs("rows", &printed(text), passed, &option()).is_none(), "{text} {passed}");
        }
        for (text, passed) in [("64", "32"), ("1.5f", "2"), ("-1", "1"), ("false", "1"), ("0x10", "10")] {
            assert!(differs("rows", &printed(text), passed, &option()).is_some(), "{text} {passed}");
        }
        let by = By::manifest(Spot::new(&manifest, 8..10), &Fact::given(32, "--set rows=32"));
        let said = draw(&differs("rows", &printed("64"), "32", &by).unwrap(), false);
        for part in
            ["error[K-SCALAR-DIFFERS]", "host.cu:1:19", "scaffold.toml:1:9", "--set rows=32", "--scalar rows=64"]
        {
            assert!(said.contains(part), "{part} in {said}");
        }
        let said = draw(&differs("rows", &printed("64"), "32", &option()).unwrap(), false);
        assert!(said.contains("warning[K-SCALAR-DIFFERS]") && said.contains("--scalar rows=32 passes 32"), "{said}");
    }
}
