//! What a build was made of, so that nothing is built again when nothing changed.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::sys::System;
use crate::toolchain::Toolchain;

/// The record beside an executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Hash of the command and the compilers.
    pub command: String,
    /// blake3 of every file that was read, the source first among them.
    pub files: BTreeMap<Utf8PathBuf, String>,
    /// How long the build took, in milliseconds.
    pub milliseconds: u64,
}

/// Hash of the arguments with the versions of both compilers.
pub fn command(arguments: &[String], toolchain: &Toolchain) -> String {
    let mut hasher = blake3::Hasher::new();
    let host = &toolchain.host;
    let compilers = format!("{} {} {} {} {}", toolchain.nvcc, toolchain.version, host.path, host.family, host.version);
    for word in std::iter::once(&compilers).chain(arguments) {
        hasher.update(word.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex().to_string()
}

impl Stamp {
    /// The record of a build that has just ended; `files` may be relative to `folder`. `None` when one cannot be read.
    pub fn of(
        system: &dyn System,
        command: String,
        folder: &Utf8Path,
        files: &[Utf8PathBuf],
        milliseconds: u64,
    ) -> Option<Self> {
        let hashed = files.iter().map(|file| Some((file.clone(), hash(system, &folder.join(file))?)));
        Some(Stamp { command, files: hashed.collect::<Option<_>>()?, milliseconds })
    }

    /// Reads it back; `None` when it is not there or is not one.
    pub fn read(system: &dyn System, path: &Utf8Path) -> Option<Self> {
        serde_json::from_slice(&system.read(path).ok()?).ok()
    }

    /// The first file that is not as it was.
    pub fn changed(&self, system: &dyn System, folder: &Utf8Path) -> Option<&Utf8Path> {
        let differs = |(file, was): &(&Utf8PathBuf, &String)| hash(system, &folder.join(file)).as_ref() != Some(was);
        self.files.iter().find(differs).map(|(file, _)| file.as_path())
    }

    /// As the bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// blake3 of a file, hex.
pub fn hash(system: &dyn System, path: &Utf8Path) -> Option<String> {
    Some(blake3::hash(&system.read(path).ok()?).to_hex().to_string())
}
