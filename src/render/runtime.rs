//! The harness runtime of `scaffolds/cuda`, as it is put into a generated file.

/// What the launch function needs, before the kernel.
const FIRST: [(&str, &str); 2] = [
    ("contract.h", include_str!("../../scaffolds/cuda/contract.h")),
    ("launch.h", include_str!("../../scaffolds/cuda/launch.h")),
];

/// Everything else, each after what it includes.
const REST: [(&str, &str); 23] = [
    ("hot.h", include_str!("../../scaffolds/cuda/hot.h")),
    ("element.h", include_str!("../../scaffolds/cuda/element.h")),
    ("fill.h", include_str!("../../scaffolds/cuda/fill.h")),
    ("plan.h", include_str!("../../scaffolds/cuda/plan.h")),
    ("storage.h", include_str!("../../scaffolds/cuda/storage.h")),
    ("reference.h", include_str!("../../scaffolds/cuda/reference.h")),
    ("sums.h", include_str!("../../scaffolds/cuda/sums.h")),
    ("expected.h", include_str!("../../scaffolds/cuda/expected.h")),
    ("json.h", include_str!("../../scaffolds/cuda/json.h")),
    ("compare.h", include_str!("../../scaffolds/cuda/compare.h")),
    ("ladder.h", include_str!("../../scaffolds/cuda/ladder.h")),
    ("device.h", include_str!("../../scaffolds/cuda/device.h")),
    ("watchdog.h", include_str!("../../scaffolds/cuda/watchdog.h")),
    ("observations.h", include_str!("../../scaffolds/cuda/observations.h")),
    ("options.h", include_str!("../../scaffolds/cuda/options.h")),
    ("shared_memory.h", include_str!("../../scaffolds/cuda/shared_memory.h")),
    ("session.h", include_str!("../../scaffolds/cuda/session.h")),
    ("prologue.h", include_str!("../../scaffolds/cuda/prologue.h")),
    ("sequence.h", include_str!("../../scaffolds/cuda/sequence.h")),
    ("safetensors.h", include_str!("../../scaffolds/cuda/safetensors.h")),
    ("input_file.h", include_str!("../../scaffolds/cuda/input_file.h")),
    ("report.h", include_str!("../../scaffolds/cuda/report.h")),
    ("run.h", include_str!("../../scaffolds/cuda/run.h")),
];

pub(super) fn first() -> String {
    inline(&FIRST)
}

pub(super) fn rest() -> String {
    inline(&REST)
}

/// One text without guards and without includes of one another.
fn inline(headers: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, header) in headers {
        text.push_str(&format!("// scaffolds/cuda/{name}\n"));
        for line in header.lines() {
            if line != "#pragma once" && !line.starts_with("#include \"") {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FIRST, REST};

    #[test]
    fn every_header_stands_after_what_it_includes() {
        let mut seen = BTreeSet::new();
        for (name, text) in FIRST.iter().chain(&REST) {
            for line in text.lines() {
                if let Some(wanted) = line.strip_prefix("#include \"") {
                    let wanted = wanted.trim_end_matches('"');
                    assert!(seen.contains(wanted), "{name} includes {wanted}, which stands later or not at all");
                }
            }
            seen.insert(*name);
        }
    }
}
