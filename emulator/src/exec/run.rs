//! Running a launch: clusters on all cores.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::cluster::{Cluster, Env, Turn};
use super::code::{Code, RESERVED_SHARED};
use super::failure::{Cause, Failure};
use super::launch::{Launch, Options, Report};
use super::program::Program;
use super::trace::Step;
use super::warp::Shape;
use super::watch::Watch;
use crate::memory::Memory;

/// Warp instructions a cluster executes before another that may wait for it gets the thread.
const SHARE: u64 = 2_000_000;
/// Clusters that one thread keeps under way.
const RESIDENT: usize = 512;

/// Runs a kernel to its end.
pub fn launch(program: &Program, memory: &Memory, launch: &Launch, options: &Options) -> Result<Report, Box<Failure>> {
    let code = program.code(&launch.kernel).map_err(Failure::from)?;
    let shape = shape(&code, launch).map_err(|text| Failure::from(Cause::Launch(text)))?;
    let env = Env {
        code: &code,
        module: program.module(),
        launch,
        options,
        view: memory.view(),
        shape,
        effects: AtomicU64::new(0),
        clusters: (0..3).map(|i| u64::from(shape.grid[i] / shape.cluster[i])).product(),
        next: AtomicU64::new(0),
        wide: Mutex::new(()),
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = match options.threads {
        _ if code.ordered || options.watch != Watch::Off => 1,
        0 => cores,
        n => n,
    };
    let pool = Pool { env: &env, failed: AtomicU64::new(u64::MAX), ended: Mutex::new(Ended::default()) };
    let threads = threads.min(env.clusters.try_into().unwrap_or(usize::MAX));
    if threads <= 1 {
        pool.work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| pool.work());
            }
        });
    }
    let Ended { mut outputs, mut traces, mut report, mut failures } =
        pool.ended.into_inner().unwrap_or_else(|e| e.into_inner());
    outputs.sort_by_key(|(number, _)| *number);
    failures.sort_by_key(|(number, _)| *number);
    traces.sort_by_key(|(number, _)| *number);
    report.trace = traces.into_iter().flat_map(|(_, trace)| trace).collect();
    report.findings.sort_unstable();
    report.findings.dedup();
    report.uninitialised.sort_unstable();
    report.uninitialised.dedup();
    report.output = outputs.into_iter().map(|(_, output)| output).collect();
    match failures.into_iter().next() {
        None => Ok(report),
        Some((_, mut failure)) => {
            failure.output = report.output + &failure.output;
            failure.findings.extend(report.findings);
            Err(failure)
        }
    }
}

/// Checks a launch against the kernel and gives the shape it runs in.
fn shape(code: &Code, launch: &Launch) -> Result<Shape, String> {
    let Launch { grid, block, .. } = *launch;
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if grid.contains(&0) || block.contains(&0) {
        return Err(format!("a grid of {grid:?} CTAs of {block:?} threads is empty"));
    }
    if threads > 1024 {
        return Err(format!("{threads} threads in a block, at most 1024 are possible"));
    }
    if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
        return Err(format!("a grid of {grid:?} CTAs: at most 2147483647, 65535, 65535 are possible"));
    }
    let directives = &code.directives;
    if let Some(required) = directives.required_block
        && required != block
    {
        return Err(format!("the kernel requires blocks of {required:?} threads, not {block:?}"));
    }
    if let Some(most) = directives.maximum_block
        && threads > most.iter().map(|&n| u64::from(n)).product()
    {
        return Err(format!("the kernel allows at most {most:?} threads in a block, not {block:?}"));
    }
    let cluster = match directives.required_cluster {
        Some(required) if launch.cluster == [1, 1, 1] || launch.cluster == required => required,
        Some(required) => {
            return Err(format!("the kernel requires clusters of {required:?}, not {:?}", launch.cluster));
        }
        None => launch.cluster,
    };
    if cluster.contains(&0) || cluster.iter().map(|&n| u64::from(n)).product::<u64>() > 16 {
        return Err(format!("clusters of {cluster:?} CTAs: 1 to 16 are possible"));
    }
    if let Some(i) = (0..3).find(|&i| grid[i] % cluster[i] != 0) {
        return Err(format!("a grid of {} CTAs does not divide into clusters of {}", grid[i], cluster[i]));
    }
    if (launch.parameters.len() as u64) < u64::from(code.parameter_bytes) {
        return Err(format!(
            "{} bytes of parameters, the kernel has {}",
            launch.parameters.len(),
            code.parameter_bytes
        ));
    }
    let total_shared = code.shared_end.saturating_add(launch.dynamic_shared);
    if total_shared > RESERVED_SHARED + 227 * 1024 {
        return Err(format!(
            "{} bytes of shared memory ({} of them dynamic), at most {} are possible",
            total_shared - RESERVED_SHARED,
            launch.dynamic_shared,
            227 * 1024
        ));
    }
    Ok(Shape { grid, block, cluster, dynamic_shared: launch.dynamic_shared, total_shared })
}

#[derive(Default)]
struct Ended {
    outputs: Vec<(u64, String)>,
    traces: Vec<(u64, Vec<Step>)>,
    report: Report,
    failures: Vec<(u64, Box<Failure>)>,
}

/// The clusters of a launch, handed to threads in order.
struct Pool<'a> {
    env: &'a Env<'a>,
    /// Lowest cluster that failed; those behind it need not run.
    failed: AtomicU64,
    ended: Mutex<Ended>,
}

impl Pool<'_> {
    fn work(&self) {
        let mut resident: VecDeque<(u64, Cluster)> = VecDeque::new();
        let mut waiting = true;
        loop {
            if self.env.options.stop.is_pulled() {
                self.failed.store(0, SeqCst);
                self.lock().failures.push((0, Box::new(Failure::from(Cause::Stopped))));
                return;
            }
            // Clusters that do nothing may wait for one that has not started.
            let mut started = false;
            if waiting && resident.len() < RESIDENT {
                let next = self.env.take().filter(|&number| number < self.failed.load(SeqCst));
                if let Some(number) = next {
                    resident.push_front((number, Cluster::new(self.env, number)));
                    started = true;
                } else if resident.is_empty() {
                    return;
                }
            }
            // While clusters start and only wait, those under way are left alone: what they wait for has not happened.
            let turns = if started { 1 } else { resident.len() };
            waiting = true;
            for _ in 0..turns {
                let Some((number, mut cluster)) = resident.pop_front() else { break };
                if number > self.failed.load(SeqCst) {
                    continue;
                }
                match cluster.turn(SHARE) {
                    Ok(Turn::Busy) => {
                        waiting = false;
                        resident.push_back((number, cluster));
                    }
                    Ok(Turn::Idle) => resident.push_back((number, cluster)),
                    Ok(Turn::Done) => self.finish(number, cluster),
                    Err(failure) => {
                        self.failed.fetch_min(number, SeqCst);
                        self.lock().failures.push((number, failure));
                    }
                }
            }
        }
    }

    fn finish(&self, number: u64, cluster: Cluster) {
        let mut ended = self.lock();
        ended.report.instructions += cluster.steps;
        ended.report.matrix_instructions += cluster.matrix_steps;
        if let Some(watcher) = cluster.watcher {
            ended.report.uninitialised.extend(watcher.found.into_values());
            ended.report.journal.0.insert(number, watcher.events);
        }
        ended.report.findings.extend(cluster.findings.into_values());
        if !cluster.output.is_empty() {
            ended.outputs.push((number, cluster.output));
        }
        if !cluster.trace.is_empty() {
            ended.traces.push((number, cluster.trace));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ended> {
        self.ended.lock().unwrap_or_else(|e| e.into_inner())
    }
}
