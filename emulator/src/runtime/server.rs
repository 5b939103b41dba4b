//! The listening end: one session for each process that connects.

use super::session::{Log, Session};
use crate::exec::Options;
use crate::gpu::SimulatedGpu;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// A socket in a folder of its own that only this user can enter; both go away with it.
pub(super) struct Socket {
    folder: PathBuf,
    pub(super) path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    /// Opens one.
    pub(super) fn open() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir().join(format!("krepro-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let path = folder.join("s");
            let listener = UnixListener::bind(&path)?;
            return Ok(Socket { folder, path, listener });
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A socket left behind in the temporary folder harms nothing.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Serves every process that connects until the run is over: the child may start others.
pub(super) fn serve(socket: &Socket, over: &AtomicBool, gpu: &SimulatedGpu, options: &Options, log: &Mutex<Log>) {
    thread::scope(|scope| {
        while let Ok((stream, _)) = socket.listener.accept() {
            if over.load(Ordering::Relaxed) {
                break;
            }
            // An error of the stream is the end of the process at its other end, which the caller sees by itself.
            scope.spawn(move || Session::new(gpu, options, log).serve(&stream, &stream));
        }
    });
}

/// Ends a [`serve`] that waits for a connection.
pub(super) fn wake(socket: &Socket) {
    // Fails only if nobody listens, and then nobody waits.
    let _ = UnixStream::connect(&socket.path);
}
