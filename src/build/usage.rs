//! What `ptxas -v` says of each kernel.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

/// Resources of one kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// The kernel's symbol.
    pub symbol: String,
    /// The architecture.
    pub arch: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread.
    pub stack: u64,
    /// Bytes of registers stored to local memory.
    pub spill_stores: u64,
    /// Bytes of registers loaded from local memory.
    pub spill_loads: u64,
    /// Bytes of static shared memory.
    pub shared_memory: u64,
    /// Named barriers.
    pub barriers: u32,
}

/// All kernels in the output of nvcc, in order.
pub fn of(output: &str) -> Vec<Usage> {
    static ENTRY: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"Compiling entry function '([^']+)' for '([^']+)'").ok());
    static SPILL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads").ok()
    });
    let mut out: Vec<Usage> = vec![];
    // Device functions that are not inlined have properties of their own, between an entry and its own.
    let mut subject = String::new();
    for line in output.lines() {
        if let Some(found) = ENTRY.as_ref().and_then(|r| r.captures(line)) {
            out.push(Usage { symbol: found[1].to_owned(), arch: found[2].to_owned(), ..Usage::default() });
        }
        if let Some((_, name)) = line.split_once("Function properties for ") {
            name.trim().clone_into(&mut subject);
        }
        let Some(last) = out.last_mut() else { continue };
        if let Some(found) = SPILL.as_ref().and_then(|r| r.captures(line)).filter(|_| subject == last.symbol) {
            let number = |index: usize| found[index].parse().unwrap_or(0);
            (last.stack, last.spill_stores, last.spill_loads) = (number(1), number(2), number(3));
        }
        if let Some((_, list)) = line.split_once(": Used ") {
            for part in list.split(", ") {
                let mut words = part.trim_start_matches("used ").split(' ');
                let (count, what) = (words.next().and_then(|w| w.parse().ok()), words.next_back());
                match (count, what) {
                    (Some(count), Some("registers")) => last.registers = count,
                    (Some(count), Some("barriers")) => last.barriers = count,
                    (Some(count), Some("smem")) => last.shared_memory = u64::from(count),
                    _ => {}
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Usage, of};

    #[test]
    fn registers_and_spills_of_each_kernel_are_read() {
        let output = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'k' for 'sm_90a'\n\
            ptxas info    : Function properties for k\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Function properties for helper\n    99 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 168 registers, used 1 barriers, 128 bytes smem\n";
        let expected = Usage {
            symbol: "k".into(),
            arch: "sm_90a".into(),
            registers: 168,
            stack: 8,
            spill_stores: 4,
            spill_loads: 12,
            shared_memory: 128,
            barriers: 1,
        };
        assert_eq!(of(output), [expected]);
        assert!(of("nothing").is_empty());
    }
}
