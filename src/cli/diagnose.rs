//! The loop of probes that names the stage: the judge says what to run, the executable runs it, the judge is asked again.

use camino::Utf8Path;

use super::Failure;
use crate::judge::diagnosed;
use crate::judge::diagnosis::target::Target;
use crate::judge::diagnosis::{Next, next};
use crate::model::{Answer, Contract, Event, Plan, RawLaunch};
use crate::read::observation::{json_lines, observation_file};
use crate::run::{Ran, Start};
use crate::sys::{Ending, System};

/// Runs the executable, on whatever executes it.
pub(super) type Launch<'l> = &'l mut dyn FnMut(&Start<'_>) -> Result<Ran, Failure>;

/// Seed of the random probes.
const SEED: u64 = 1;

/// Runs probes until the judge is done, and adds what they show to `answer`. Whatever goes wrong on the way leaves the answer as it
/// is, with a note. Plans and raw outputs lie in `folder` while they are used.
///
/// # Errors
/// When a file there cannot be written or the executable cannot be started.
pub(super) fn diagnose(
    system: &dyn System,
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
        match survived(system, folder, start, &plan, &mut answer, &mut *launch)? {
            Ok(launches) => rounds.push(launches),
            Err(why) => {
                answer.notes.push(format!("no diagnosis: {why}"));
                return Ok(answer);
            }
        }
    }
}

/// A CUDA error ends the process: what comes after it is run in another one, at most so often.
const CRASHES: usize = 4;

/// All launches of a plan, those that crash among them; with a note for each of these.
fn survived(
    system: &dyn System,
    folder: &Utf8Path,
    start: &Start<'_>,
    plan: &Plan,
    answer: &mut Answer,
    launch: Launch<'_>,
) -> Result<Result<Vec<RawLaunch>, String>, Failure> {
    let mut all = Vec::new();
    let mut from = 0;
    for _ in 0..=CRASHES {
        let rest = Plan { probes: plan.probes[from..].to_vec() };
        let observed = match observe(system, folder, start, &rest, &mut *launch)? {
            Ok(observed) => observed,
            Err(why) => return Ok(Err(why)),
        };
        let first = from;
        let crashed = observed.launches.iter().find(|l| l.cuda_error).map(|l| first + l.probe as usize);
        all.extend(observed.launches.into_iter().map(|l| RawLaunch { probe: l.probe + first as u32, ..l }));
        let Some(probe) = crashed.and_then(|at| plan.probes.get(at).map(|probe| (at, probe))) else {
            return Ok(Ok(all));
        };
        answer.notes.push(format!("probe `{}` crashes: {}", probe.1.name, observed.error));
        from = probe.0 + 1;
        if from == plan.probes.len() {
            return Ok(Ok(all));
        }
    }
    answer.notes.push(format!("{} further probes are not run", plan.probes.len() - from));
    Ok(Ok(all))
}

/// What the executable left of a plan.
pub(super) struct Observed {
    /// In the order in which they were made.
    pub(super) launches: Vec<RawLaunch>,
    /// The CUDA error that ended it, if one did.
    pub(super) error: String,
}

/// The launches of a plan, or why there are none. Plan and raw outputs lie in `folder` while they are used.
///
/// # Errors
/// When a file there cannot be written or the executable cannot be started.
pub(super) fn observe(
    system: &dyn System,
    folder: &Utf8Path,
    start: &Start<'_>,
    plan: &Plan,
    launch: Launch<'_>,
) -> Result<Result<Observed, String>, Failure> {
    let (plan_file, observations) = (folder.join("diagnosis.plan"), folder.join("diagnosis.observations"));
    system.write(&plan_file, plan.text().as_bytes())?;
    let start = Start { plan: Some((plan_file.as_path(), observations.as_path())), ..start.clone() };
    let ran = launch(&start)?;
    if !matches!(ran.ending, Ending::Code(0 | 1)) {
        return Ok(Err(format!("the executable did not end its probes ({:?})", ran.ending)));
    }
    let bytes = system.read(&observations)?;
    system.remove(&observations)?;
    let mut errors = json_lines(&ran.events).events.into_iter().filter_map(|event| match event {
        Event::CudaError { call, name, text, .. } => Some(format!("{call}: {name} ({text})")),
        _ => None,
    });
    let error = errors.next_back().unwrap_or_default();
    Ok(observation_file(&bytes).map(|launches| Observed { launches, error }).map_err(|error| error.to_string()))
}
