//! krepro's own folder for what it downloads and builds.

use camino::Utf8PathBuf;

use crate::diag::{Diagnostic, Diagnostics};
use crate::sys::System;

/// `$KREPRO_CACHE`, else `$XDG_CACHE_HOME/krepro`, else `~/.cache/krepro`.
///
/// # Errors
/// When none of the three variables is set.
pub fn folder(system: &dyn System) -> Result<Utf8PathBuf, Diagnostics> {
    let named = system.env("KREPRO_CACHE").map(Utf8PathBuf::from);
    let shared = system.env("XDG_CACHE_HOME").map(|base| Utf8PathBuf::from(base).join("krepro"));
    let home = || system.env("HOME").map(|home| Utf8PathBuf::from(home).join(".cache/krepro"));
    named.or(shared).or_else(home).ok_or_else(|| {
        Diagnostic::error("K-TOOL-CACHE", "there is no folder for krepro's cache: HOME is not set")
            .help("set KREPRO_CACHE to a folder that may hold 300 MB")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::folder;
    use crate::sys::Fake;

    #[test]
    fn the_most_particular_variable_wins() {
        let home = Fake::default().variable("HOME", "/h");
        assert_eq!(folder(&home).unwrap(), "/h/.cache/krepro");
        let shared = home.variable("XDG_CACHE_HOME", "/x");
        assert_eq!(folder(&shared).unwrap(), "/x/krepro");
        assert_eq!(folder(&shared.variable("KREPRO_CACHE", "/k")).unwrap(), "/k");
        assert!(folder(&Fake::default()).unwrap_err().iter().next().unwrap().help[0].contains("KREPRO_CACHE"));
    }
}
