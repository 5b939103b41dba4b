//! Any bytes as a log: nothing panics, every outcome can be drawn, and no argument appears that the log does not hold.

#![no_main]

use krepro::diag::draw;
use krepro::read::log::{Options, from_scan, scan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let options = Options { name: "log".into(), arch: Some("sm_90a".into()), ..Options::default() };
    let Ok(scan) = scan(bytes, &options) else { return };
    assert!(scan.bytes <= bytes.len() as u64);
    let diagnostics = match from_scan(&scan, &options) {
        Ok(recovered) => {
            for argument in &recovered.command.arguments {
                assert!(argument.at.line <= scan.lines.max(1));
            }
            for argument in &recovered.command.arguments {
                assert!(!argument.text.contains('`') && !argument.text.contains("$("), "a shell would run {}", argument.text);
            }
            recovered.diagnostics
        }
        Err(diagnostics) => diagnostics,
    };
    for diagnostic in diagnostics.iter() {
        draw(diagnostic, false);
    }
});
