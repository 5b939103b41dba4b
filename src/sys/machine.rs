//! The machine that krepro runs on.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Ending, Finished, HostTool, Request, Stream, System};

/// The machine that krepro runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

/// The moment that [`System::now`] counts from.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl System for Machine {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read(&self, path: &Utf8Path) -> io::Result<Vec<u8>> {
        fs_err::read(path)
    }

    fn stream(&self, path: &Utf8Path) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(fs_err::File::open(path)?))
    }

    fn stdin(&self) -> Box<dyn Read + '_> {
        Box::new(io::stdin())
    }

    fn write(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().filter(|p| !p.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
        fs_err::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".krepro-").tempfile_in(folder)?;
        file.write_all(bytes).map_err(|e| named(e, "write", path))?;
        let mode = fs_err::metadata(path).map_or(0o644, |m| std::os::unix::fs::MetadataExt::mode(&m) & 0o777);
        let permissions = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
        file.as_file().set_permissions(permissions).map_err(|e| named(e, "write", path))?;
        file.persist(path).map_err(|e| named(e.error, "write", path))?;
        Ok(())
    }

    fn make_program(&self, path: &Utf8Path) -> io::Result<()> {
        let permissions = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs_err::set_permissions(path, permissions)
    }

    fn append(&self, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = path.parent().filter(|p| !p.as_str().is_empty()) {
            fs_err::create_dir_all(folder)?;
        }
        let mut file = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn is_file(&self, path: &Utf8Path) -> bool {
        path.is_file()
    }

    fn is_folder(&self, path: &Utf8Path) -> bool {
        path.is_dir()
    }

    fn list(&self, path: &Utf8Path) -> Vec<String> {
        let mut names: Vec<String> = fs_err::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn real_path(&self, path: &Utf8Path) -> Utf8PathBuf {
        path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
    }

    fn make_folder(&self, path: &Utf8Path) -> io::Result<()> {
        fs_err::create_dir_all(path)
    }

    fn link(&self, target: &Utf8Path, link: &Utf8Path) -> io::Result<()> {
        if fs_err::symlink_metadata(link).is_ok() {
            fs_err::remove_file(link)?;
        }
        fs_err::os::unix::fs::symlink(target, link)
    }

    fn rename(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        fs_err::rename(from, to)
    }

    fn remove(&self, path: &Utf8Path) -> io::Result<()> {
        let result = match fs_err::symlink_metadata(path) {
            Ok(facts) if facts.is_dir() => fs_err::remove_dir_all(path),
            Ok(_) => fs_err::remove_file(path),
            Err(error) => Err(error),
        };
        result.or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
    }

    fn usage(&self, path: &Utf8Path) -> Option<(u64, u64)> {
        let mut total = 0;
        let mut newest = SystemTime::UNIX_EPOCH;
        let mut waiting = vec![path.to_owned()];
        fs_err::symlink_metadata(path).ok()?;
        while let Some(next) = waiting.pop() {
            let Ok(facts) = fs_err::symlink_metadata(&next) else { continue };
            if facts.is_dir() {
                waiting.extend(self.list(&next).into_iter().map(|name| next.join(name)));
            } else {
                total += facts.len();
            }
            newest = newest.max(facts.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        }
        let age = SystemTime::now().duration_since(newest).unwrap_or_default();
        Some((total, age.as_secs()))
    }

    fn which(&self, program: &str) -> Option<Utf8PathBuf> {
        which::which(program).ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok())
    }

    fn host_compiler(&self) -> Result<HostTool, String> {
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let tool = cc::Build::new()
            .cpp(true)
            .target(&triple)
            .host(&triple)
            .opt_level(0)
            .cargo_metadata(false)
            .cargo_output(false)
            .cargo_warnings(false)
            .inherit_rustflags(false)
            .try_get_compiler()
            .map_err(|error| error.to_string())?;
        let path = tool.path().to_str().ok_or("its path is not UTF-8")?;
        let path = self.which(path).ok_or_else(|| format!("{path} is not there"))?;
        Ok(HostTool { path, clang: tool.is_like_clang() })
    }

    fn run_streaming(&self, request: &Request, on_line: &mut dyn FnMut(Stream, &str)) -> io::Result<Finished> {
        let start = Instant::now();
        let mut command = Command::new(&request.program);
        command.args(&request.arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if request.deadline.is_some() {
            // A group of its own can be killed whole; without a deadline it stays in ours, so that Ctrl-C reaches it.
            command.process_group(0);
        }
        if let Some(folder) = &request.folder {
            command.current_dir(folder);
        }
        for (name, value) in &request.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command.spawn().map_err(|e| named(e, "start", Utf8Path::new(&request.program)))?;
        let (sender, receiver) = channel();
        if let (Some(output), Some(error)) = (child.stdout.take(), child.stderr.take()) {
            let other = sender.clone();
            std::thread::spawn(move || pump(output, Stream::Output, &sender));
            std::thread::spawn(move || pump(error, Stream::Error, &other));
        }
        let end = request.deadline.map(|deadline| start + deadline);
        let mut gathered = Gathered::default();
        let mut late = !gathered.take(&receiver, end, on_line);
        // Both ends of the pipes are closed, or the deadline has passed; a program may close its pipes and live on.
        let status = loop {
            if late {
                kill_group(&child);
                gathered.take(&receiver, Some(Instant::now() + Duration::from_secs(1)), on_line);
                break child.wait()?;
            }
            match end {
                None => break child.wait()?,
                Some(end) => match child.try_wait()? {
                    Some(status) => break status,
                    None => {
                        std::thread::sleep(Duration::from_millis(2));
                        late = Instant::now() >= end;
                    }
                },
            }
        };
        let ending = match (late, status.code(), status.signal()) {
            (true, ..) => Ending::Deadline,
            (false, Some(code), _) => Ending::Code(code),
            (false, None, signal) => Ending::Signal(signal.unwrap_or(0)),
        };
        Ok(Finished { ending, output: gathered.output, error: gathered.error, elapsed: start.elapsed() })
    }

    fn now(&self) -> Duration {
        START.elapsed()
    }

    fn capacity(&self) -> (usize, u64) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let facts = fs_err::read_to_string("/proc/meminfo").unwrap_or_default();
        let kilobytes = facts
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        (processors, kilobytes.map_or(u64::MAX, |k| k * 1024))
    }
}

fn named(error: io::Error, what: &str, path: &Utf8Path) -> io::Error {
    io::Error::new(error.kind(), format!("failed to {what} {path}: {error}"))
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // An error means that the group is gone already, which is what is wanted.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Passes the lines of a pipe on until it is closed.
fn pump(mut pipe: impl Read, stream: Stream, sender: &Sender<(Stream, Vec<u8>)>) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        if sender.send((stream, buffer[..count].to_vec())).is_err() {
            return;
        }
    }
}

#[derive(Default)]
struct Gathered {
    output: Vec<u8>,
    error: Vec<u8>,
    told: [usize; 2],
}

impl Gathered {
    /// Takes what comes until both pipes are closed (true) or `end` (false).
    fn take(
        &mut self,
        receiver: &Receiver<(Stream, Vec<u8>)>,
        end: Option<Instant>,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> bool {
        loop {
            let wait = end.map_or(Duration::from_secs(3600), |end| end.saturating_duration_since(Instant::now()));
            match receiver.recv_timeout(wait) {
                Ok((stream, bytes)) => self.add(stream, &bytes, on_line),
                Err(RecvTimeoutError::Timeout) if end.is_none() => {}
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for stream in [Stream::Output, Stream::Error] {
            let told = self.told[stream as usize];
            let rest = &self.of(stream)[told..];
            if !rest.is_empty() {
                on_line(stream, &String::from_utf8_lossy(rest));
            }
        }
        true
    }

    fn of(&self, stream: Stream) -> &Vec<u8> {
        if stream == Stream::Output { &self.output } else { &self.error }
    }

    fn add(&mut self, stream: Stream, bytes: &[u8], on_line: &mut dyn FnMut(Stream, &str)) {
        let (all, told) = match stream {
            Stream::Output => (&mut self.output, &mut self.told[0]),
            Stream::Error => (&mut self.error, &mut self.told[1]),
        };
        all.extend_from_slice(bytes);
        while let Some(length) = memchr::memchr(b'\n', &all[*told..]) {
            let line = String::from_utf8_lossy(&all[*told..*told + length]).into_owned();
            *told += length + 1;
            on_line(stream, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Ending, Request, Stream, System};
    use super::Machine;

    fn shell(script: &str) -> Request {
        Request::new("sh").arguments(["-c", script])
    }

    #[test]
    fn both_outputs_and_the_code_come_back() {
        let mut lines = vec![];
        let finished = Machine
            .run_streaming(&shell("echo one; echo two >&2; printf three; exit 7"), &mut |stream, line| {
                lines.push((stream, line.to_owned()));
            })
            .unwrap();
        assert_eq!(finished.ending, Ending::Code(7));
        assert_eq!(finished.output, b"one\nthree");
        assert_eq!(finished.error, b"two\n");
        assert!(lines.contains(&(Stream::Output, "three".into())), "{lines:?}");
        assert!(lines.contains(&(Stream::Error, "two".into())), "{lines:?}");
    }

    #[test]
    fn at_the_deadline_the_whole_group_is_killed() {
        let request = shell("sleep 30 & sleep 30; echo never").deadline(Duration::from_millis(200));
        let finished = Machine.run(&request).unwrap();
        assert_eq!(finished.ending, Ending::Deadline);
        assert!(finished.elapsed < Duration::from_secs(5), "{:?}", finished.elapsed);
        assert!(finished.output.is_empty());
    }

    #[test]
    fn a_program_that_closes_its_pipes_and_lives_on_meets_its_deadline() {
        let request = shell("exec >&- 2>&-; sleep 30").deadline(Duration::from_millis(200));
        assert_eq!(Machine.run(&request).unwrap().ending, Ending::Deadline);
    }

    #[test]
    fn a_signal_is_told_from_a_code() {
        assert_eq!(Machine.run(&shell("kill -SEGV $$")).unwrap().ending, Ending::Signal(11));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Machine.run(&Request::new("/no/such/program")).unwrap_err();
        assert!(error.to_string().contains("/no/such/program"), "{error}");
    }

    #[test]
    fn a_written_file_is_whole_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("a/b")).unwrap();
        Machine.write(&path, b"one").unwrap();
        assert_eq!(Machine.read(&path).unwrap(), b"one");
        assert_eq!(Machine.list(path.parent().unwrap()), ["b"]);
    }

    #[test]
    fn the_host_compiler_is_found() {
        let tool = Machine.host_compiler().unwrap();
        assert!(tool.path.is_absolute(), "{tool:?}");
    }
}
