//! Compiling the test programs with nvcc, and running them on the CPU backend.

use krepro_emulator::exec::Options;
use krepro_emulator::runtime::{Output, RunError, RunOutcome, RunRequest, run};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A toolchain and a folder for what it makes.
pub struct Nvcc {
    nvcc: PathBuf,
    shim: PathBuf,
}

/// What is built by default: machine code and PTX for sm_90a.
pub const SM_90A: &[&str] = &["-gencode=arch=compute_90a,code=[sm_90a,compute_90a]", "-cudart=shared", "-lineinfo"];

fn work() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

impl Nvcc {
    /// The nvcc that `$NVCC` names; `None`, with a note, where there is none. With `KREPRO_REQUIRE_NVCC` set, as in CI, that
    /// is a failure.
    pub fn find() -> Option<Self> {
        let Some(nvcc) = std::env::var_os("NVCC").map(PathBuf::from) else {
            assert!(std::env::var_os("KREPRO_REQUIRE_NVCC").is_none(), "nvcc is required here: set NVCC");
            eprintln!("skipped: NVCC is not set");
            return None;
        };
        let shim = krepro_emulator::runtime::shim::build(Path::new("c++"), &work()).unwrap();
        Some(Nvcc { nvcc, shim })
    }

    /// The toolkit's folder.
    pub fn toolkit(&self) -> &Path {
        self.nvcc.parent().unwrap().parent().unwrap()
    }

    /// Compiles a text.
    pub fn executable_of(&self, name: &str, text: &str, options: &[&str]) -> PathBuf {
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        let folder = work().join(format!("{:016x}", hash.finish()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
        self.compile(&folder, &[name], options)
    }

    /// Compiles programs of `tests/programs` into one executable, which is kept for the next time.
    pub fn executable(&self, sources: &[&str], options: &[&str]) -> PathBuf {
        self.compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"), sources, options)
    }

    fn compile(&self, folder: &Path, sources: &[&str], options: &[&str]) -> PathBuf {
        let mut hash = DefaultHasher::new();
        (&self.nvcc, &self.shim, options).hash(&mut hash);
        for source in sources.iter().chain(&["check.h"]) {
            std::fs::read(folder.join(source)).unwrap_or_default().hash(&mut hash);
        }
        let stem = sources[0].trim_end_matches(".cu");
        let made = work().join(format!("{stem}-{:016x}", hash.finish()));
        if made.exists() {
            return made;
        }
        // Tests run at once and may want the same program: each builds its own and the last rename wins.
        let draft = made.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
        let mut command = Command::new(&self.nvcc);
        command.current_dir(folder).args(options).args(sources).arg("-o").arg(&draft);
        // The wheels' libraries lie in lib, where nvcc does not look; libcudart.so and libcuda.so to link with are the shim's.
        command.arg("-L").arg(&self.shim).arg("-L").arg(self.toolkit().join("lib"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        std::fs::rename(&draft, &made).unwrap();
        made
    }
}

/// A run of an executable with default options.
pub fn request(executable: &Path, arguments: &[&str]) -> RunRequest {
    RunRequest {
        executable: executable.to_owned(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: Vec::new(),
        working_dir: None,
        host_compiler: "c++".into(),
        cache_dir: work(),
        gpu: None,
        options: Options::default(),
        trace: None,
        uninitialised: false,
        deadline: Some(Duration::from_secs(120)),
        output: Output::Capture,
    }
}

/// Runs it.
pub fn run_with(executable: &Path, arguments: &[&str]) -> Result<RunOutcome, RunError> {
    run(&request(executable, arguments))
}

/// Standard output and standard error, for messages of failed tests.
pub fn output_of(outcome: &RunOutcome) -> String {
    let RunOutcome { stdout, stderr, reports, .. } = outcome;
    format!("{}{}{reports:#?}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
}
