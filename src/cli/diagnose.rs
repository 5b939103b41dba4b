//! The loop of probes that names the stage: the judge says what to run, the executable runs it, the judge is asked again.

use camino::Utf8Path;

use super::{Failure, Session};
use crate::judge::diagnosed;
use crate::judge::diagnosis::target::Target;
use crate::judge::diagnosis::{Next, next};
use crate::model::{Answer, Contract, Plan, RawLaunch};
use crate::read::observation::observation_file;
use crate::run::{Ran, Start};
use crate::sys::Ending;

/// Runs the executable, on whatever executes it.
pub(super) type Launch<'l> = &'l mut dyn FnMut(&mut Session<'_>, &Start<'_>) -> Result<Ran, Failure>;

/// Seed of the random probes.
const SEED: u64 = 1;

/// Runs probes until the judge is done, and adds what they show to `answer`. Whatever goes wrong on the way leaves the answer as it
/// is, with a note. Plans and raw outputs lie in `folder` while they are used.
///
/// # Errors
/// When a file there cannot be written or the executable cannot be started.
pub(super) fn diagnose(
    session: &mut Session<'_>,
    folder: &Utf8Path,
    start: &Start<'_>,
    contract: &Contract,
    mut answer: Answer,
    launch: Launch<'_>,
) -> Result<Answer, Failure> {
    let target = match Target::new(contract) {
        Ok(target) => target,
        Err(why) => {
            answer.notes.push(format!("no diagnosis: {why}"));
            return Ok(answer);
        }
    };
    let mut rounds = Vec::new();
    loop {
        let plan = match next(&target, SEED, &rounds) {
            Next::Done(diagnosis) => return Ok(diagnosed(answer, contract, &diagnosis)),
            Next::Run(plan) => plan,
        };
        match observe(session, folder, start, &plan, &mut *launch)? {
            Ok(launches) => rounds.push(launches),
            Err(why) => {
                answer.notes.push(format!("no diagnosis: {why}"));
                return Ok(answer);
            }
        }
    }
}

/// The launches of a plan, or why there are none. Plan and raw outputs lie in `folder` while they are used.
///
/// # Errors
/// When a file there cannot be written or the executable cannot be started.
pub(super) fn observe(
    session: &mut Session<'_>,
    folder: &Utf8Path,
    start: &Start<'_>,
    plan: &Plan,
    launch: Launch<'_>,
) -> Result<Result<Vec<RawLaunch>, String>, Failure> {
    let (plan_file, observations) = (folder.join("diagnosis.plan"), folder.join("diagnosis.observations"));
    session.system.write(&plan_file, plan.text().as_bytes())?;
    let start = Start { plan: Some((plan_file.as_path(), observations.as_path())), ..start.clone() };
    let ran = launch(session, &start)?;
    if !matches!(ran.ending, Ending::Code(0 | 1)) {
        return Ok(Err(format!("the executable did not end its probes ({:?})", ran.ending)));
    }
    let bytes = session.system.read(&observations)?;
    session.system.remove(&observations)?;
    Ok(observation_file(&bytes).map_err(|error| error.to_string()))
}
