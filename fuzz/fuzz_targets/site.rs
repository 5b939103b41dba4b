//! The interpreter and the placeholder readers end on any text; the first byte chooses the language.
#![no_main]

use std::collections::BTreeMap;

use krepro::read::site::read;
use krepro::source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let name = ["a.cc", "a.jinja", "a.py", "a.rs"][usize::from(*first) % 4];
    let leaves = BTreeMap::from([("n".to_owned(), "8".to_owned()), ("t".to_owned(), "x".to_owned())]);
    if let Ok(emission) = read(&Source::new(name, text), None, &leaves) {
        for line in &emission.lines {
            let covered: usize = line.segments.iter().map(|segment| segment.range.len()).sum();
            assert_eq!(covered, line.text.len());
        }
    }
});
