//! Pasted text and symbols end as an instantiation or as errors.
#![no_main]

use krepro::read::instantiation::{Select, parse_text, symbol};
use krepro::source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let source = Source::new("-", text);
    let _ = parse_text(&source, &Select::default());
    let _ = symbol::parse_symbol(&source);
});
