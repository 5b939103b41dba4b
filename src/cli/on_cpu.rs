//! Options of `krepro run` that only the CPU backend has.

use camino::Utf8PathBuf;

use super::Failure;
use crate::diag::{Diagnostic, Diagnostics};
use crate::run::CpuOptions;

/// How the CPU backend executes.
#[derive(Debug, clap::Args)]
pub struct OnCpu {
    /// CPU backend: write what every matrix instruction reads and adds up to, a JSON object a line (docs/cpu-backend.md)
    #[arg(long, value_name = "FILE")]
    trace: Option<Utf8PathBuf>,
    /// CPU backend: asynchronous work ends as late as the kernel's waits allow, warps take turns by the seed, and stores that the
    /// asynchronous proxy reads without a fence are told
    #[arg(long, value_name = "seed=N", value_parser = seed)]
    schedule: Option<u64>,
    /// CPU backend: the 32-bit word that shared memory holds when a block begins; 0x41204120 is bf16 10.0 twice
    #[arg(long, value_name = "WORD", value_parser = word)]
    poison_shared: Option<u32>,
    /// CPU backend: run every launch twice, the second time with other bytes in memory that nobody initialised, and tell which
    /// stores to the device and which branches depend on them
    #[arg(long)]
    uninitialised: bool,
}

impl OnCpu {
    /// What was asked for.
    pub fn options(&self) -> CpuOptions {
        let OnCpu { trace, schedule, poison_shared, uninitialised } = self;
        CpuOptions {
            trace: trace.clone(),
            schedule: *schedule,
            shared_poison: *poison_shared,
            uninitialised: *uninitialised,
        }
    }

    /// The same for the probes of a diagnosis: they leave the ladder's trace alone and look for what nobody initialised.
    pub fn probing(&self) -> CpuOptions {
        CpuOptions { trace: None, uninitialised: true, ..self.options() }
    }

    /// Refuses what a GPU does not have.
    ///
    /// # Errors
    /// When there is such an option (2).
    pub fn refuse_on_a_gpu(&self) -> Result<(), Failure> {
        let given = [
            ("--trace", self.trace.is_some()),
            ("--schedule", self.schedule.is_some()),
            ("--poison-shared", self.poison_shared.is_some()),
            ("--uninitialised", self.uninitialised),
        ];
        let problem = |(name, _): &(&str, bool)| {
            Diagnostic::error("K-OPTION", format!("`{name}` is an option of the CPU backend, and this run is on a GPU"))
                .help("add --backend cpu")
        };
        let mut problems = Diagnostics::new();
        given.iter().filter(|(_, given)| *given).for_each(|option| problems.push(problem(option)));
        if problems.is_empty() { Ok(()) } else { Err(Failure::input(problems)) }
    }
}

/// `seed=7`, or the number alone.
fn seed(text: &str) -> Result<u64, String> {
    let number = text.strip_prefix("seed=").unwrap_or(text);
    number.parse().map_err(|_| format!("`{text}` is no seed: write seed=7"))
}

/// A number in decimal or hexadecimal.
fn word(text: &str) -> Result<u32, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| format!("`{text}` is no 32-bit word: write 0x41204120"))
}

#[cfg(test)]
mod tests {
    use super::{OnCpu, seed, word};

    #[test]
    fn seeds_and_words_are_read_in_both_forms() {
        assert_eq!([seed("seed=7"), seed("12")], [Ok(7), Ok(12)]);
        assert!(seed("seed=").is_err() && seed("seed=-1").is_err() && seed("sed=1").is_err());
        assert_eq!([word("0x41204120"), word("10")], [Ok(0x4120_4120), Ok(10)]);
        assert!(word("0x1_0000_0000").is_err() && word("4294967296").is_err() && word("").is_err());
    }

    #[test]
    fn a_gpu_refuses_each_of_them_by_name() {
        let none = OnCpu { trace: None, schedule: None, poison_shared: None, uninitialised: false };
        assert!(none.refuse_on_a_gpu().is_ok());
        let two = OnCpu { trace: Some("t".into()), schedule: None, poison_shared: Some(1), uninitialised: false };
        let problems = two.refuse_on_a_gpu().unwrap_err().diagnostics;
        let messages: Vec<String> = problems.iter().map(|d| d.message.clone()).collect();
        assert_eq!(messages.len(), 2);
        assert!(messages[0].starts_with("`--trace`") && messages[1].starts_with("`--poison-shared`"), "{messages:?}");
    }
}
