//! What was read, kept beside the reproducer.

use std::sync::Arc;

use crate::model::{InputFile, Origin, Reproducer};
use crate::read::site::Language;
use crate::source::{Place, Source, Spot};

/// Copies for `inputs/`, so that later commands need nothing else.
pub(super) struct Inputs {
    list: Vec<(InputFile, Vec<u8>)>,
}

impl Inputs {
    /// The site's function, the kernel's signature, the manifest and the chosen command.
    pub(super) fn of(reproducer: &Reproducer, extent: &Spot, manifest: &Arc<Source>) -> Self {
        let mut list = Vec::new();
        let mut add = |what: &str, copy: &str, at: Place, bytes: Vec<u8>| {
            let hash = blake3::hash(&bytes).to_hex().to_string();
            list.push((InputFile { what: what.to_owned(), at, copy: format!("inputs/{copy}"), hash }, bytes));
        };
        // The name tells the language when the copy is read again.
        let copy = match Language::of(&extent.source) {
            Language::Cpp => "site.txt",
            Language::Jinja => "site.j2",
            Language::Python => "site.py",
            Language::Rust => "site.rs",
        };
        add("site", copy, extent.place(), extent.source.bytes()[extent.span.range()].to_vec());
        let signature = &reproducer.kernel.signature.text;
        if let Origin::Transcribed { at } = &signature.origin {
            add("header", "signature.txt", at.clone(), signature.value.clone().into_bytes());
        }
        let whole = Place { file: manifest.name().to_owned(), line: 1, column: 1 };
        add("manifest", "manifest.toml", whole, manifest.bytes().to_vec());
        let command = &reproducer.compile;
        let words: String = command.arguments.iter().map(|argument| format!("{}\n", argument.text)).collect();
        add("log", "command.txt", command.at.clone(), words.into_bytes());
        Inputs { list }
    }

    /// The records for `repro.toml`.
    pub(super) fn records(&self) -> Vec<InputFile> {
        self.list.iter().map(|(record, _)| record.clone()).collect()
    }

    /// Path in the folder and bytes of each.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.list.iter().map(|(record, bytes)| (record.copy.as_str(), bytes.as_slice()))
    }
}
