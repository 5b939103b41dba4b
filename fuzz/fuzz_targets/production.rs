//! Debug output and fill code end on any text; the first byte chooses a leaf.
#![no_main]

use std::collections::BTreeMap;

use krepro::read::{fill, prints};
use krepro::source::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let source = Source::new("x", text);
    let printed = prints::read(&source);
    for launch in 0..printed.launches.len() {
        assert!(printed.maps_of(Some(launch)).len() <= printed.maps.len());
    }
    let leaves = BTreeMap::from([("n".to_owned(), first.to_string()), ("t.k".to_owned(), "A".to_owned())]);
    let _ = fill::evaluate(&[source], "fill", &leaves);
});
