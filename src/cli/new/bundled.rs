//! Which scaffold manifest is used.

use std::sync::Arc;

use camino::Utf8Path;

use crate::cli::Failure;
use crate::diag::Diagnostic;
use crate::read::manifest::{Manifest, parse};
use crate::source::Source;
use crate::sys::System;

/// The manifests inside krepro.
const BUNDLED: [(&str, &str); 6] = [
    ("mirage", include_str!("../../../scaffolds/mirage.toml")),
    ("deepgemm", include_str!("../../../scaffolds/deepgemm.toml")),
    ("cutlass", include_str!("../../../scaffolds/cutlass.toml")),
    ("flashinfer", include_str!("../../../scaffolds/flashinfer.toml")),
    ("tilelang", include_str!("../../../scaffolds/tilelang.toml")),
    PLAIN,
];

const PLAIN: (&str, &str) = ("plain", include_str!("../../../scaffolds/plain.toml"));

/// The manifest named or lying at `wanted`; without one the bundled manifest that knows `kernel`, else `plain`.
pub(super) fn manifest(
    system: &dyn System,
    wanted: Option<&str>,
    kernel: &str,
) -> Result<(Arc<Source>, Manifest), Failure> {
    let source = |(name, text): &(&str, &str)| Source::new(format!("scaffolds/{name}.toml"), *text);
    let read = |source: Arc<Source>| parse(&source).map(|manifest| (source, manifest)).map_err(Failure::input);
    match wanted {
        Some(name) => match BUNDLED.iter().find(|(known, _)| *known == name) {
            Some(entry) => read(source(entry)),
            None if system.is_file(Utf8Path::new(name)) => read(Source::new(name, system.read(Utf8Path::new(name))?)),
            None => {
                let names: Vec<_> = BUNDLED.iter().map(|(name, _)| *name).collect();
                Err(Failure::input(
                    Diagnostic::error("K-OPTION", format!("`{name}` is neither a bundled scaffold nor a file"))
                        .because(format!("bundled are {}", names.join(", ")))
                        .help("docs/scaffolds.md shows how to write one"),
                ))
            }
        },
        None => {
            for entry in &BUNDLED {
                let (source, manifest) = read(source(entry))?;
                if manifest.kernel(kernel).is_some() {
                    return Ok((source, manifest));
                }
            }
            read(source(&PLAIN))
        }
    }
}
