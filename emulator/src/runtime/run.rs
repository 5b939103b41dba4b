//! One run, from the executable's headers to its outcome.

use super::session::{Log, Trace};
use super::{End, Output, RunError, RunOutcome, RunRequest, child, elf, server, shim};
use crate::arch::Arch;
use crate::exec::{Options, Stop, Watch};
use crate::fatbin;
use crate::gpu::SimulatedGpu;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Runs the executable to its end.
///
/// # Errors
///
/// [`RunError`] says in one sentence what to change when the executable cannot run here, or ran elsewhere: an executable
/// whose calls never reached the simulated device is an error, never an outcome.
pub fn run(request: &RunRequest) -> Result<RunOutcome, RunError> {
    let start_error = |source| RunError::Start { path: request.executable.clone(), source };
    let file = std::fs::read(&request.executable).map_err(start_error)?;
    let facts = elf::read(&file);
    if let Some(facts) = &facts {
        check(request, facts)?;
    }
    let gpu = match &request.gpu {
        Some(gpu) => gpu.clone(),
        None => gpu_for(request, &file, facts.as_ref())?,
    };
    let shim = shim::build(&request.host_compiler, &request.cache_dir)?;
    if shim.to_string_lossy().contains([' ', ':', ';']) {
        return Err(RunError::CacheDir { path: shim });
    }
    let socket = server::Socket::open().map_err(RunError::Listen)?;
    // The run's own switch: a request can be run again.
    let trace = request.options.trace || request.trace.is_some();
    let options = Options { stop: Stop::default(), trace, ..request.options.clone() };
    let watch = if request.uninitialised { Watch::Record } else { Watch::Off };
    let options = Options { watch, ..options };
    let trace_error = |source| RunError::Trace { path: request.trace.clone().unwrap_or_default(), source };
    let trace = request.trace.as_ref().map(Trace::create).transpose().map_err(trace_error)?;
    let log = Mutex::new(Log { trace, ..Log::default() });
    let over = AtomicBool::new(false);
    let needed = facts.iter().flat_map(|facts| &facts.needed).map(String::as_str);
    let runtime = needed.into_iter().find(|name| shim::RUNTIMES.contains(name)).unwrap_or("libcudart.so.13");
    let child = child::start(request, runtime, &shim, &socket.path).map_err(start_error)?;
    let ended = thread::scope(|scope| {
        scope.spawn(|| server::serve(&socket, &over, &gpu, &options, &log));
        child::wait(child, request.deadline, || {
            over.store(true, Ordering::Relaxed);
            options.stop.pull();
            server::wake(&socket);
        })
    });
    let ended = ended.map_err(start_error)?;
    let log = log.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let traced = log.trace.map_or(Ok(0), Trace::finish).map_err(trace_error)?;
    if log.sessions == 0 && facts.as_ref().is_none_or(|facts| facts.has_device_code) {
        return Err(unseen(request, ended));
    }
    Ok(RunOutcome {
        end: ended.end,
        stdout: ended.stdout,
        stderr: ended.stderr,
        gpu: gpu.name,
        arch: gpu.arch,
        launches: log.launches,
        reports: log.reports,
        traced,
    })
}

/// What the headers already rule out.
fn check(request: &RunRequest, facts: &elf::Facts) -> Result<(), RunError> {
    let path = || request.executable.clone();
    let runtime = facts.needed.iter().find(|name| name.starts_with("libcudart.so"));
    match runtime {
        Some(library) if !shim::RUNTIMES.contains(&library.as_str()) => {
            Err(RunError::OtherRuntime { path: path(), library: library.clone() })
        }
        None if facts.has_device_code && !facts.needed.iter().any(|name| name.starts_with("libcuda.so")) => {
            Err(RunError::StaticRuntime { path: path() })
        }
        _ => Ok(()),
    }
}

/// The GPU that the executable was built for: that of its newest PTX.
fn gpu_for(request: &RunRequest, file: &[u8], facts: Option<&elf::Facts>) -> Result<SimulatedGpu, RunError> {
    let path = || request.executable.clone();
    let sections = facts.map_or(&[][..], |facts| &facts.images);
    let newest = |range: &std::ops::Range<usize>| -> Option<Arch> {
        fatbin::newest_ptx(&fatbin::read_section(file.get(range.clone())?).ok()?)
    };
    let arch = sections.iter().filter_map(newest).max().ok_or_else(|| RunError::NoDeviceCode { path: path() })?;
    SimulatedGpu::for_arch(arch).ok_or_else(|| RunError::UnknownGpu {
        path: path(),
        arch: arch.to_string(),
        known: SimulatedGpu::known().collect::<Vec<_>>().join(", "),
    })
}

fn unseen(request: &RunRequest, ended: child::Ended) -> RunError {
    let stderr = match request.output {
        Output::Capture => String::from_utf8_lossy(&ended.stderr).into_owned(),
        Output::Inherit => "(not captured)".into(),
    };
    let hint = match ended.end {
        End::Exited(0) => {
            "; is it linked with -cudart shared, and is it the program itself and not a script around it?"
        }
        _ => "",
    };
    RunError::NotIntercepted { path: request.executable.clone(), end: ended.end, hint, stderr }
}
