//! The output of compute-sanitizer.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::{SanitizerFinding, SanitizerReport, SanitizerTool};

/// What stands before every line of the tool's own.
const PREFIX: &str = "=========";

/// First words of lines that are no finding of the tool about device code.
const FRAME: [&str; 9] = [
    "COMPUTE-SANITIZER",
    "ERROR SUMMARY",
    "RACECHECK SUMMARY",
    "LEAK SUMMARY",
    "Target application returned",
    "Program hit",
    "Process didn't terminate",
    "No CUDA-MEMCHECK",
    "This tool is deprecated",
];

/// Reads what `tool` printed.
pub fn report(tool: SanitizerTool, text: &str) -> SanitizerReport {
    let mut out = SanitizerReport { tool, findings: vec![], trouble: None };
    let mut open: Option<SanitizerFinding> = None;
    let mut ended = false;
    for line in text.lines() {
        let Some(rest) = line.trim_end().strip_prefix(PREFIX) else { continue };
        let said = rest.trim_start();
        if rest.starts_with("  ") {
            if let Some(finding) = &mut open {
                detail(finding, said);
            }
            continue;
        }
        close(&mut out.findings, open.take());
        if said.is_empty() {
            continue;
        }
        ended |= said.starts_with("ERROR SUMMARY") || said.starts_with("RACECHECK SUMMARY");
        if is_trouble(said) {
            out.trouble.get_or_insert_with(|| said.to_owned());
        } else if !FRAME.iter().any(|frame| said.starts_with(frame)) {
            open = Some(begun(said));
        }
    }
    close(&mut out.findings, open);
    if !ended {
        out.trouble.get_or_insert_with(|| "its output has no summary: it was ended before its end".to_owned());
    }
    out
}

/// What the tool says of itself and not of the kernel.
fn is_trouble(said: &str) -> bool {
    let own = said.starts_with("Error: ") && !said.starts_with("Error: Race") && !said.starts_with("Error: Potential");
    own || said.starts_with("Internal") || said.starts_with("Unable") || said.starts_with("Could not")
}

fn begun(said: &str) -> SanitizerFinding {
    let warning = said.starts_with("Warning");
    let mut finding = SanitizerFinding { text: String::new(), places: vec![], thread: None, count: 1, warning };
    let text = said.trim_start_matches("Error: ").trim_start_matches("Warning: ");
    // `Race reported between Write access at KERNEL+0x1a0 in FILE:40`
    match text.split_once(" at ") {
        Some((what, place)) if text.starts_with("Race") || text.starts_with("Potential") => {
            what.clone_into(&mut finding.text);
            finding.places.extend(location(place));
        }
        _ => text.trim_end_matches('.').clone_into(&mut finding.text),
    }
    finding
}

/// An indented line of a finding.
fn detail(finding: &mut SanitizerFinding, said: &str) {
    static HAZARDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[(\d+) hazards?\]").ok());
    if let Some(place) = said.strip_prefix("at ") {
        finding.places.extend(location(place));
    } else if let Some(second) = said.strip_prefix("and ").filter(|rest| rest.contains(" access at ")) {
        if let Some((what, place)) = second.split_once(" at ") {
            finding.text = format!("{} and {what}", finding.text);
            finding.places.extend(location(place));
        }
        let counted = HAZARDS.as_ref().and_then(|r| r.captures(said)).and_then(|found| found[1].parse().ok());
        finding.count = counted.unwrap_or(finding.count);
    } else if let Some(thread) = said.strip_prefix("by ") {
        finding.thread.get_or_insert_with(|| thread.to_owned());
    } else if let Some(bytes) = said.strip_prefix("and is ") {
        // "… 1 bytes after the nearest allocation at 0x… of size 16 bytes"
        let (distance, size) = (bytes.split(" at 0x").next(), bytes.split(" of size ").nth(1));
        // An address that is nowhere near an allocation says nothing about that one.
        let near = |text: &str| text.split(' ').next().is_some_and(|count| count.replace(',', "").len() <= 7);
        if let (Some(distance), Some(size)) = (distance.filter(|text| near(text)), size) {
            finding.text = format!("{}, {distance} (of {size})", finding.text);
        }
    }
}

/// `FILE:LINE` in `KERNEL+0x70 in FILE:LINE`, or in the older `0x70 in FILE:LINE:KERNEL`.
fn location(text: &str) -> Option<String> {
    static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r" in (?P<place>\S+?:\d+)(?::|\s|$)").ok());
    Some(PLACE.as_ref()?.captures(text)?["place"].to_owned())
}

/// The same thing at the same place, in another thread, is counted.
fn close(list: &mut Vec<SanitizerFinding>, finding: Option<SanitizerFinding>) {
    let Some(finding) = finding else { return };
    // Distances differ from thread to thread.
    let kind = |finding: &SanitizerFinding| finding.text.split(", ").next().unwrap_or_default().to_owned();
    match list.iter_mut().find(|old| kind(old) == kind(&finding) && old.places == finding.places) {
        Some(old) => old.count += finding.count,
        None => list.push(finding),
    }
}

#[cfg(test)]
mod tests {
    use super::report;
    use crate::model::SanitizerTool;

    #[test]
    fn accesses_outside_are_counted_by_place() {
        let text = "========= COMPUTE-SANITIZER\n\
            ========= Invalid __global__ read of size 2 bytes\n\
            =========     at void a::kernel<int>(const int *)+0x2f0 in scale.cuh:58\n\
            =========     by thread (3,0,0) in block (1,0,0)\n\
            =========     Access to 0x7f3500001 is out of bounds\n\
            =========     and is 2 bytes after the nearest allocation at 0x7f3500000 of size 4,096 bytes\n\
            =========     Saved host backtrace up to driver entry point at kernel launch time\n\
            =========         Host Frame: main [0x1] in x\n\
            ========= \n\
            ========= Invalid __global__ read of size 2 bytes\n\
            =========     at void a::kernel<int>(const int *)+0x2f0 in scale.cuh:58\n\
            =========     by thread (4,0,0) in block (1,0,0)\n\
            =========     and is 4 bytes after the nearest allocation at 0x7f3500000 of size 4,096 bytes\n\
            ========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch failure\" on CUDA API call\n\
            =========     Saved host backtrace up to driver entry point at error\n\
            ========= ERROR SUMMARY: 3 errors\n";
        let found = report(SanitizerTool::Memcheck, text);
        assert_eq!(found.trouble, None);
        assert_eq!(found.findings.len(), 1, "{found:?}");
        let only = &found.findings[0];
        assert_eq!(
            only.text,
            "Invalid __global__ read of size 2 bytes, 2 bytes after the nearest allocation (of 4,096 bytes)"
        );
        assert_eq!((only.places.as_slice(), only.count), (&["scale.cuh:58".to_owned()][..], 2));
        assert_eq!(only.thread.as_deref(), Some("thread (3,0,0) in block (1,0,0)"));
        let far = text.replace("is 2 bytes after", "is 140,578,046,083,056 bytes before");
        assert_eq!(report(SanitizerTool::Memcheck, &far).findings[0].text, "Invalid __global__ read of size 2 bytes");
    }

    #[test]
    fn a_hazard_has_two_places() {
        let text = "========= COMPUTE-SANITIZER\n\
            ========= Error: Race reported between Write access at k(int *)+0x1a0 in ring.cuh:40\n\
            =========     and Read access at k(int *)+0x2b0 in ring.cuh:52 [96 hazards]\n\
            =========\n\
            ========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";
        let found = report(SanitizerTool::Racecheck, text);
        let only = &found.findings[0];
        assert_eq!(only.text, "Race reported between Write access and Read access");
        assert_eq!((only.places.join(" "), only.count), ("ring.cuh:40 ring.cuh:52".to_owned(), 96));
    }

    #[test]
    fn barriers_and_unwritten_memory_are_read_in_both_forms() {
        let text = "========= Barrier error detected. Divergent thread(s) in block.\n\
            =========     at 0x60 in /src/step.cu:21:k(int*)\n\
            =========     by thread (32,0,0) in block (0,0,0)\n\
            ========= ERROR SUMMARY: 1 error\n";
        let found = report(SanitizerTool::Synccheck, text);
        assert_eq!(found.findings[0].places, ["/src/step.cu:21"]);
        let text = "========= Uninitialized __global__ memory read of size 4 bytes\n\
            =========     at k+0x50 in step.cu:12\n========= ERROR SUMMARY: 1 error\n";
        assert!(report(SanitizerTool::Initcheck, text).findings[0].text.starts_with("Uninitialized __global__"));
    }

    #[test]
    fn silence_counts_only_when_the_tool_came_to_its_end() {
        assert_eq!(report(SanitizerTool::Memcheck, "========= ERROR SUMMARY: 0 errors\n").trouble, None);
        assert!(report(SanitizerTool::Memcheck, "========= COMPUTE-SANITIZER\n").trouble.is_some());
        let text = "========= Error: Target application terminated before first instrumented API call\n";
        assert!(report(SanitizerTool::Memcheck, text).trouble.unwrap().contains("terminated before"));
    }
}
