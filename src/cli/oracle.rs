//! `krepro run --oracle kernel:DIR`: a second reproducer on the same probes.

use camino::{Utf8Path, Utf8PathBuf};

use super::Failure;
use super::diagnose::{Launch, observe};
use crate::diag::Diagnostic;
use crate::judge::diagnosis::target::Target;
use crate::judge::oracle;
use crate::model::{Answer, Contract};
use crate::run::Start;
use crate::sys::System;

/// Seed of the random probes.
const SEED: u64 = 1;

/// What stands beside the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oracle(pub Utf8PathBuf);

impl std::str::FromStr for Oracle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("kernel:").filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(Oracle(folder.into())),
            None => Err("write kernel:DIR, the folder of another reproducer".to_owned()),
        }
    }
}

/// Runs both and adds the comparison to the answer.
///
/// # Errors
/// When the two contracts cannot be compared (2), or one of the executables does not end its probes (125).
pub(super) fn beside(
    system: &dyn System,
    folder: &Utf8Path,
    (here, contract): (&Start<'_>, &Contract),
    (there, other, dir): (&Start<'_>, &Contract, &Utf8Path),
    answer: &mut Answer,
    launch: Launch<'_>,
) -> Result<(), Failure> {
    let unlike = |why: String| {
        Failure::input(Diagnostic::error(
            "K-ORACLE",
            format!("the kernel of {dir} cannot stand beside this one: {why}"),
        ))
    };
    let target = Target::new(contract).map_err(unlike)?;
    let second = Target::new(other).map_err(unlike)?;
    if let Some(why) = oracle::unlike(&target, &second) {
        return Err(unlike(why));
    }
    let plan = oracle::plan(&target, SEED);
    let mut run = |start: &Start<'_>| {
        let ended = |why| Failure::cannot_test(Diagnostic::error("K-RUN", why));
        let observed = observe(system, folder, start, &plan, &mut *launch)?.map_err(ended)?;
        match observed.launches.iter().any(|l| l.cuda_error) {
            true => Err(ended(format!("a probe crashes: {}", observed.error))),
            false => Ok(observed.launches),
        }
    };
    let (own, others) = (run(here)?, run(there)?);
    let rungs = oracle::beside(&target, SEED, &own, &others, &second);
    answer.evidence.push(oracle::says(dir.as_str(), &rungs));
    answer.details.oracle = Some((dir.to_string(), rungs));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Oracle;

    #[test]
    fn an_oracle_is_a_kernel_in_a_folder() {
        assert_eq!("kernel:a/b".parse(), Ok(Oracle("a/b".into())));
        assert!("a/b".parse::<Oracle>().is_err() && "kernel:".parse::<Oracle>().is_err());
    }
}
