//! Executables of other folders: the same command on the same bytes is not compiled again, wherever it stands.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::stamp::Stamp;
use crate::sys::System;

/// Entries beyond this many are removed, the oldest first.
const MOST: usize = 256;

/// An entry: `stamp.json`, written last, `program` and `log`.
#[derive(Debug)]
pub struct Entry {
    folder: Utf8PathBuf,
}

impl Entry {
    /// The entry for a command and the bytes of its source.
    pub fn of(cache: &Utf8Path, command: &str, source: &[u8]) -> Self {
        let key = blake3::Hasher::new().update(command.as_bytes()).update(source).finalize().to_hex();
        Entry { folder: cache.join(&key[..32]) }
    }

    /// Puts executable and log into the places given, when every file that was read is as it was, seen from `folder`.
    pub fn restore(
        &self,
        system: &dyn System,
        folder: &Utf8Path,
        executable: &Utf8Path,
        log: &Utf8Path,
    ) -> Option<Stamp> {
        let stamp = Stamp::read(system, &self.folder.join("stamp.json"))?;
        if stamp.changed(system, folder).is_some() {
            return None;
        }
        let (program, said) =
            (system.read(&self.folder.join("program")).ok()?, system.read(&self.folder.join("log")).ok()?);
        system.write(log, &said).ok()?;
        system.write(executable, &program).ok()?;
        system.make_program(executable).ok()?;
        Some(stamp)
    }

    /// Keeps a build. A cache that cannot be written to is no failure of the build; nothing half written stays.
    pub fn store(&self, system: &dyn System, stamp: &Stamp, executable: &Utf8Path, log: &Utf8Path) {
        if self.write(system, stamp, executable, log).is_err() {
            let _ = system.remove(&self.folder);
        }
        if let Some(cache) = self.folder.parent() {
            prune(system, cache);
        }
    }

    fn write(&self, system: &dyn System, stamp: &Stamp, executable: &Utf8Path, log: &Utf8Path) -> io::Result<()> {
        system.write(&self.folder.join("program"), &system.read(executable)?)?;
        system.write(&self.folder.join("log"), &system.read(log)?)?;
        system.write(&self.folder.join("stamp.json"), &stamp.to_bytes())
    }
}

fn prune(system: &dyn System, cache: &Utf8Path) {
    let names = system.list(cache);
    if names.len() <= MOST {
        return;
    }
    let age = |name: &String| system.usage(&cache.join(name)).map_or(u64::MAX, |(_, age)| age);
    let mut aged: Vec<(u64, String)> = names.into_iter().map(|name| (age(&name), name)).collect();
    aged.sort();
    for (_, name) in aged.split_off(MOST) {
        let _ = system.remove(&cache.join(name));
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::{Entry, MOST};
    use crate::build::Stamp;
    use crate::sys::{Fake, System};

    #[test]
    fn another_folder_with_the_same_bytes_gets_the_executable_and_one_with_others_does_not() {
        let system = Fake::new()
            .file("/a/build/x.cu", "source")
            .file("/a/build/x", "program")
            .file("/a/build/x.log", "said")
            .file("/b/build/x.cu", "source")
            .file("/h.cuh", "header");
        let files = ["x.cu".into(), "/h.cuh".into()];
        let entry = Entry::of("/cache".into(), "nvcc …", b"source");
        let stamp = Stamp::of(&system, "k".into(), "/a/build".into(), &files, 7).unwrap();
        entry.store(&system, &stamp, "/a/build/x".into(), "/a/build/x.log".into());
        let restored = entry.restore(&system, "/b/build".into(), "/b/build/x".into(), "/b/build/x.log".into()).unwrap();
        assert_eq!((restored.milliseconds, system.read("/b/build/x".into()).unwrap()), (7, b"program".to_vec()));
        system.write("/h.cuh".into(), b"other").unwrap();
        assert!(entry.restore(&system, "/b/build".into(), "/b/build/x".into(), "/b/build/x.log".into()).is_none());
        assert_ne!(entry.folder, Entry::of("/cache".into(), "nvcc …", b"other").folder);
    }

    #[test]
    fn the_cache_does_not_grow_for_ever() {
        let system = Fake::new();
        for index in 0..MOST + 3 {
            system.write(Utf8Path::new(&format!("/cache/{index}/stamp.json")), b"{}").unwrap();
        }
        super::prune(&system, "/cache".into());
        assert_eq!(system.list("/cache".into()).len(), MOST);
    }
}
