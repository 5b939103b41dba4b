//! Command lines of `krepro new`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn krepro(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_krepro")).current_dir(root()).args(arguments).output().expect("krepro starts")
}

/// A good command line for an example, to be spoiled.
pub struct New {
    pub options: Vec<(String, String)>,
    _folder: tempfile::TempDir,
    pub output: PathBuf,
}

impl New {
    pub fn simt() -> Self {
        Self::of(
            "simt_linear",
            "simt_linear.cuh:linear_kernel",
            "site.cc:emit_simt_linear",
            &["batch_size=16", "output_size=1024", "reduction_size=6144", "defect=0"],
        )
    }

    pub fn sm90() -> Self {
        let leaves = [
            "batch_size=16",
            "output_size=1024",
            "reduction_size=6144",
            "output_stride=1024",
            "with_residual=false",
            "defect=0",
        ];
        Self::of("linear_sm90", "linear_sm90.cuh:linear_task", "site.cc:register_linear_sm90", &leaves)
    }

    pub fn of(example: &str, kernel: &str, site: &str, leaves: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("repro");
        let file = |name: &str| format!("examples/{example}/{name}");
        let mut options = vec![
            ("--kernel".to_owned(), file(kernel)),
            ("--site".to_owned(), file(site)),
            ("--log".to_owned(), file("jit.log")),
            ("--scaffold".to_owned(), file("scaffold.toml")),
        ];
        options.extend(leaves.iter().map(|leaf| ("--set".to_owned(), (*leaf).to_owned())));
        New { options, _folder: folder, output }
    }

    pub fn with(mut self, option: &str, value: &str) -> Self {
        self.options.retain(|(name, _)| name != option);
        self.also(option, value)
    }

    pub fn also(mut self, option: &str, value: &str) -> Self {
        self.options.push((option.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, option: &str, prefix: &str) -> Self {
        self.options.retain(|(name, value)| name != option || !value.starts_with(prefix));
        self
    }

    pub fn run(&self) -> Output {
        let mut words = vec!["new".to_owned(), "-o".to_owned(), self.output.display().to_string()];
        words.extend(self.options.iter().flat_map(|(name, value)| [name.clone(), value.clone()]));
        krepro(&words)
    }

    /// Exit 2, these words in the message, and nothing written.
    pub fn refused(&self, words: &[&str]) {
        let output = self.run();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in:\n{text}");
        }
        assert!(!self.output.exists(), "something was written");
    }

    pub fn made(&self) -> String {
        let output = self.run();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).expect("text")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.output.join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.output.join(name)).expect("a file")
    }
}
