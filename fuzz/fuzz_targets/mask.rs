//! Masking keeps lengths; the parser and the signature reader end on what it gives.
#![no_main]

use krepro::read::cxx::mask::{MaskOptions, mask};
use krepro::read::signature::{SignatureOptions, find};
use krepro::source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let branches = Some(vec![("A".to_owned(), Some("1".to_owned()))]);
    for options in [MaskOptions::default(), MaskOptions { branches, ..MaskOptions::default() }] {
        assert_eq!(mask(text, &options).text.len(), text.len());
    }
    let _ = find(&Source::new("k.cuh", text), "k", &SignatureOptions::default());
});
