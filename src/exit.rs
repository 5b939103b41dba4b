//! The one table of exit codes, for every command and for the generated executable (which uses 0, 1, 4 and 125).

/// What a process ends with.
///
/// `krepro run`: 0 not reproduced or refuted, 1 wrong or crashed, 3 draft, 4 hang with a named cause. Other commands: 0 done,
/// 1 a Refuse finding or a failed self-test, 3 usable or decided only in part. Everywhere: 2 usage or input error,
/// 70 a bug in krepro, 74 disk or file error, 125 cannot test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; or `run` found nothing wrong.
    Success = 0,
    /// `run`: wrong or crashed. `check`: a Refuse finding. `selftest`: failed.
    Wrong = 1,
    /// Usage or input error.
    Input = 2,
    /// The evidence does not decide.
    Draft = 3,
    /// Hang with a named cause.
    Hang = 4,
    /// A bug in krepro.
    Bug = 70,
    /// Disk or file error.
    File = 74,
    /// Cannot test: no or unfit nvcc, host compiler or device; build failed.
    CannotTest = 125,
}

impl Exit {
    /// The code for `git bisect run`: 0 good, 1 bad, 125 skip, 255 abort.
    pub fn for_bisect(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Wrong | Exit::Hang => 1,
            Exit::Draft | Exit::CannotTest => 125,
            Exit::Input | Exit::Bug | Exit::File => 255,
        }
    }
}

impl From<&crate::model::Outcome> for Exit {
    fn from(outcome: &crate::model::Outcome) -> Self {
        use crate::model::Outcome;
        match outcome {
            Outcome::NotReproduced | Outcome::Refuted { .. } => Exit::Success,
            Outcome::Reproduced { .. } => Exit::Wrong,
            Outcome::Draft { .. } => Exit::Draft,
            Outcome::Hang { .. } => Exit::Hang,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}
