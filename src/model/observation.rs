//! What a run showed: the events of the executable, and raw outputs of a plan. Forms are defined in `docs/harness.md`.

use serde::{Deserialize, Serialize};

use super::{ElementType, Number, PrologueMap, PrologueResult};

/// How a rung ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RungStatus {
    /// Every element equal, or within its tolerance; nothing unwritten, no guard hit, launches equal.
    Pass,
    /// Not so.
    Fail,
    /// Not run.
    Skip,
}

/// Figures of one comparison. Counts are of elements, bytes for the hits.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// Whether every element had to be equal.
    pub exact: bool,
    /// Compared.
    pub elements: u64,
    /// Unequal, or outside the tolerance.
    pub wrong: u64,
    /// Still holding the sentinel.
    pub unwritten: u64,
    /// NaN or infinite where the expectation is not.
    pub non_finite: u64,
    /// Bytes changed outside the buffers.
    pub guard_hits: u64,
    /// Bytes changed between the rows of the output.
    pub padding_hits: u64,
    /// Bytes of inputs that changed.
    pub input_hits: u64,
    /// Largest absolute error.
    pub max_abs: Number,
    /// Mean absolute error.
    pub mean_abs: Number,
    /// Largest relative error.
    pub max_rel: Number,
    /// ‖observed - expected‖ / ‖expected‖.
    pub rel_l2: Number,
    /// The same for the exact result rounded once to the output's type.
    pub rel_l2_floor: Number,
    /// Cosine of the angle between observed and expected.
    pub cosine: Number,
    /// 20·log10 of rms(expected) over rms(error), in dB.
    pub snr_db: Number,
    /// Least-squares slope of observed on expected.
    pub ratio: Number,
    /// Largest error in units of its tolerance.
    pub max_err_over_tol: Number,
    /// Share of outputs that are zero.
    pub zeros: Number,
}

/// One wrong element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Row of the output.
    pub row: u64,
    /// Column of the output.
    pub column: u64,
    /// What the kernel wrote.
    pub observed: Number,
    /// What it should have written.
    pub expected: Number,
    /// Allowed difference.
    #[serde(default)]
    pub tolerance: Number,
    /// Storage code of the observed value, hexadecimal.
    #[serde(default)]
    pub bits: String,
}

/// One rung of the ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RungResult {
    /// Family, or family and variant after a point.
    pub name: String,
    /// How it ended.
    pub status: RungStatus,
    /// Why it was skipped, or in what it fails.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How many launches.
    #[serde(default)]
    pub launches: u32,
    /// Whether all launches gave the same bits.
    #[serde(default = "yes")]
    pub deterministic: bool,
    /// Whether they are equal but for what shared memory held before them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows_shared: bool,
    /// Whether shared memory was overwritten before each.
    #[serde(default)]
    pub shared_filled: bool,
    /// Figures; none when skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// The first wrong elements, in row order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Wall time.
    #[serde(default)]
    pub milliseconds: f64,
}

fn yes() -> bool {
    true
}

impl RungResult {
    /// The part of the name before the first point.
    pub fn family(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.status == RungStatus::Fail
    }
}

/// What the executable said about itself and its device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// Name of the device.
    pub device: String,
    /// `"9.0"`.
    pub compute_capability: String,
    /// Version of the driver.
    pub driver: String,
    /// Version of the runtime.
    pub runtime: String,
    /// Seed of the random fills.
    pub seed: u64,
    /// Name of the kernel.
    pub kernel: String,
    /// Rungs in order.
    pub rungs: Vec<String>,
}

/// One JSON line of the executable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The device is ready.
    Start(Start),
    /// A rung ended or was skipped.
    Rung(RungResult),
    /// What a launch before the kernel left, alone.
    Prologue(PrologueResult),
    /// Where its elements come from.
    PrologueMap(PrologueMap),
    /// All launches of a sequence together, on the values of a rung.
    Sequence(RungResult),
    /// A descriptor was encoded.
    Descriptor {
        /// Its name at the call.
        name: String,
        /// `ok`, or the driver's error.
        status: String,
    },
    /// A CUDA call failed.
    CudaError {
        /// The call, as written.
        call: String,
        /// Its number.
        #[serde(default)]
        code: i64,
        /// Its enumerator.
        #[serde(default)]
        name: String,
        /// The driver's sentence.
        #[serde(default)]
        text: String,
        /// The rung it happened in; empty before the first.
        #[serde(default)]
        rung: String,
    },
    /// A launch did not end.
    Hang {
        /// The rung.
        rung: String,
        /// How long it was given, seconds.
        deadline_s: f64,
        /// cuda-gdb's text, or the emulator's; or empty.
        #[serde(default)]
        backtrace: String,
        /// What to type for one.
        #[serde(default)]
        command: String,
    },
    /// Production's own output, compared.
    Observed {
        /// The rung of the real inputs.
        rung: String,
        /// The run's output equals production's bit for bit.
        same: bool,
        /// The run's output against production's.
        run: Metrics,
        /// Production's output against the host reference.
        production: Metrics,
    },
    /// Why there is no result.
    Error {
        /// The exit code that follows: 2, 74 or 125.
        exit: i32,
        /// The sentence.
        #[serde(default)]
        text: String,
    },
    /// The last line.
    End {
        /// The exit code that follows.
        exit: i32,
        /// Rungs passed.
        #[serde(default)]
        passed: u32,
        /// Rungs failed.
        #[serde(default)]
        failed: u32,
        /// Rungs skipped.
        #[serde(default)]
        skipped: u32,
    },
}

/// One launch of a probe, as the observation file holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLaunch {
    /// Index of the probe in the plan.
    pub probe: u32,
    /// Index of the launch of that probe.
    pub launch: u32,
    /// Whether a CUDA error ended it.
    pub cuda_error: bool,
    /// Whether shared memory was overwritten before it.
    pub shared_filled: bool,
    /// Type of the output.
    pub element: ElementType,
    /// Logical rows.
    pub rows: u64,
    /// Logical columns.
    pub columns: u64,
    /// Elements from one line to the next: from row to row, or from column to column where columns are contiguous.
    pub leading_dimension: u64,
    /// Bytes changed before and after any buffer.
    pub guard_hits: u64,
    /// Bytes of inputs that changed.
    pub input_hits: u64,
    /// The output's storage after the launch.
    pub storage: Vec<u8>,
    /// One bit an element of storage, lowest first: 1 = written.
    pub mask: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn an_event_is_told_by_its_name_and_survives_new_members() {
        let event: Event =
            serde_json::from_str(r#"{"krepro":1,"event":"end","exit":1,"passed":3,"failed":1,"skipped":0,"new":7}"#)
                .unwrap();
        assert_eq!(event, Event::End { exit: 1, passed: 3, failed: 1, skipped: 0 });
    }
}
