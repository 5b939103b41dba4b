//! `krepro demo`: the whole path on a bundled example, step by step.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser;
use include_dir::{Dir, include_dir};

use super::{Cli, Failure, Session};
use crate::diag::Diagnostic;
use crate::exit::Exit;

/// The example, as it lies in the repository.
static EXAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/linear_sm90");

/// Run the whole path on a bundled Hopper kernel, with every command explained
///
/// Writes the example and two reproducers: the correct kernel, and one whose last K tile is planted to be skipped.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// The folder to write
    #[arg(default_value = "krepro-demo")]
    dir: Utf8PathBuf,
    /// The nvcc to use, or the toolkit folder it is in
    #[arg(long, value_name = "PATH")]
    nvcc: Option<String>,
}

/// One command of the demo.
struct Step {
    why: &'static str,
    words: Vec<String>,
    expected: &'static [u8],
}

impl Demo {
    /// Runs it.
    ///
    /// # Errors
    /// The example cannot be written (74); a step ends otherwise than it should, with that step's code.
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let example = self.dir.join("linear_sm90");
        for file in EXAMPLE.files() {
            let name = Utf8Path::from_path(file.path()).and_then(Utf8Path::file_name).unwrap_or_default();
            session.system.write(&example.join(name), file.contents())?;
        }
        writeln!(session.out(), "The example (header, code-generation site, JIT log, scaffold) is in {example}.\n")?;
        for step in self.steps(&example) {
            writeln!(session.out(), "{}\n\n  $ krepro {}\n", step.why, shown(&step.words))?;
            let code = Cli::try_parse_from(std::iter::once("krepro".to_owned()).chain(step.words.iter().cloned()))
                .map_err(|error| Failure {
                    exit: Exit::Bug,
                    diagnostics: Diagnostic::error("K-BUG", error.to_string()).into(),
                })
                .map(|cli| super::dispatch(cli.command, session))?;
            writeln!(session.out(), "\n  (exit code {code})\n")?;
            if code == Exit::CannotTest as u8 {
                writeln!(
                    session.out(),
                    "This machine cannot go further: the message above says what is missing. What was written stays."
                )?;
                return Ok(Exit::CannotTest);
            }
            if !step.expected.contains(&code) {
                let message = format!("the step should end with {:?} and ended with {code}", step.expected);
                let diagnostic = Diagnostic::error("K-DEMO", message).help("please report it with the output above");
                return Err(Failure { exit: Exit::Bug, diagnostics: diagnostic.into() });
            }
        }
        writeln!(
            session.out(),
            "That is all: read {}, edit it, and `krepro render` writes the .cu again.",
            self.dir.join("correct/repro.toml")
        )?;
        Ok(Exit::Success)
    }

    fn steps(&self, example: &Utf8Path) -> Vec<Step> {
        let tools = self.nvcc.iter().flat_map(|path| ["--nvcc".to_owned(), path.clone()]);
        let run = |folder: &str| -> Vec<String> {
            ["run".to_owned(), self.dir.join(folder).to_string()].into_iter().chain(tools.clone()).collect()
        };
        vec![
            Step {
                why: "Production reported an output ten times too large. `flags` shows the compile command in its JIT log.",
                words: vec!["flags".to_owned(), example.join("jit.log").to_string()],
                expected: &[0],
            },
            Step {
                why: "`new` reads the site, the header and the log, and writes a reproducer. What the site cannot know is given with --set.",
                words: self.new_words(example, "correct", 0),
                expected: &[0],
            },
            Step {
                why: "`run` builds it with production's flags and runs a ladder of controlled inputs. The claim is put to the test.",
                words: run("correct").into_iter().chain(["--claim".to_owned(), "ratio=10".to_owned()]).collect(),
                expected: &[0, 3],
            },
            Step {
                why: "The same kernel with a planted fault: the last K tile is skipped.",
                words: self.new_words(example, "missing_tail", MISSING_TAIL),
                expected: &[0],
            },
            Step { why: "The ladder sees it.", words: run("missing_tail"), expected: &[1, 3] },
        ]
    }

    fn new_words(&self, example: &Utf8Path, folder: &str, defect: u32) -> Vec<String> {
        let set = |name: &str, value: &str| ["--set".to_owned(), format!("{name}={value}")];
        let file = |name: &str| example.join(name).to_string();
        let mut words = vec!["new".to_owned()];
        words.extend(["--kernel".to_owned(), format!("{}:linear_task", file("linear_sm90.cuh"))]);
        words.extend(["--site".to_owned(), format!("{}:register_linear_sm90", file("site.cc"))]);
        let leaves =
            [("batch_size", "16"), ("output_size", "1024"), ("reduction_size", "6144"), ("output_stride", "1024")];
        words.extend(leaves.iter().flat_map(|(name, value)| set(name, value)));
        words.extend(set("with_residual", "false"));
        words.extend(set("defect", &defect.to_string()));
        words.extend(["--log".to_owned(), file("jit.log"), "--scaffold".to_owned(), file("scaffold.toml")]);
        words.extend(["-o".to_owned(), self.dir.join(folder).to_string()]);
        words
    }
}

/// Value of the example's `defect` that skips the last K tile.
const MISSING_TAIL: u32 = 2;

/// A command line as a person types it.
fn shown(words: &[String]) -> String {
    words.join(" ")
}
