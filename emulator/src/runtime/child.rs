//! The executable as a child process: started with the shim in front of it, watched, and its output taken.

use super::{End, Output, RunRequest, shim};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Starts the executable so that it finds the shim instead of the CUDA libraries.
///
/// The search path alone would do, but a DT_RPATH in the executable comes before it; a preloaded library with the same
/// name comes before both.
pub(super) fn start(request: &RunRequest, runtime: &str, shim: &Path, socket: &Path) -> io::Result<Child> {
    // A relative path is one of the caller's folder, whatever folder the child runs in.
    let executable = request.executable.canonicalize()?;
    let mut command = Command::new(executable);
    command.args(&request.arguments).envs(request.environment.iter().map(|(name, value)| (name, value)));
    let own =
        |name: &str| request.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let before = |first: OsString, name: &str| match own(name).or_else(|| std::env::var_os(name)) {
        Some(rest) if !rest.is_empty() => [first, OsString::from(":"), rest].into_iter().collect(),
        _ => first,
    };
    command.env("LD_LIBRARY_PATH", before(shim.into(), "LD_LIBRARY_PATH"));
    let preload = [shim.join(runtime), shim.join("libcuda.so.1")].map(OsString::from);
    command.env("LD_PRELOAD", before(preload.join(&OsString::from(":")), "LD_PRELOAD"));
    command.env(shim::SOCKET_VARIABLE, socket);
    if let Some(folder) = &request.working_dir {
        command.current_dir(folder);
    }
    if request.output == Output::Capture {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    command.spawn()
}

/// What a child that has ended left behind.
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Waits for the child, at most until `deadline`, then kills it; `at_end` is called once it has ended.
pub(super) fn wait(mut child: Child, deadline: Option<Duration>, at_end: impl FnOnce()) -> io::Result<Ended> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stdout = scope.spawn(|| drain(stdout));
        let stderr = scope.spawn(|| drain(stderr));
        let end = wait_or_kill(&mut child, deadline);
        at_end();
        let take = |reader: thread::ScopedJoinHandle<'_, Vec<u8>>| reader.join().unwrap_or_default();
        Ok(Ended { end: end?, stdout: take(stdout), stderr: take(stderr) })
    })
}

fn wait_or_kill(child: &mut Child, deadline: Option<Duration>) -> io::Result<End> {
    let Some(deadline) = deadline else {
        return Ok(end_of(child.wait()?));
    };
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(end_of(status));
        }
        let left = deadline.saturating_sub(start.elapsed());
        if left.is_zero() {
            child.kill()?;
            child.wait()?;
            return Ok(End::Stopped);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => End::Stopped,
    }
}

/// Everything until the other end closes. An error ends it too: what was read is still worth having.
fn drain(from: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        let _ = from.read_to_end(&mut bytes);
    }
    bytes
}
