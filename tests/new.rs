//! `krepro new` on the examples, and on everything that can be wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn krepro(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_krepro")).current_dir(root()).args(arguments).output().expect("krepro starts")
}

/// A good command line for an example, to be spoiled.
struct New {
    options: Vec<(String, String)>,
    _folder: tempfile::TempDir,
    output: PathBuf,
}

impl New {
    fn simt() -> Self {
        Self::of(
            "simt_linear",
            "simt_linear.cuh:linear_kernel",
            "site.cc:emit_simt_linear",
            &["batch_size=16", "output_size=1024", "reduction_size=6144", "defect=0"],
        )
    }

    fn sm90() -> Self {
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

    fn of(example: &str, kernel: &str, site: &str, leaves: &[&str]) -> Self {
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

    fn with(mut self, option: &str, value: &str) -> Self {
        self.options.retain(|(name, _)| name != option);
        self.also(option, value)
    }

    fn also(mut self, option: &str, value: &str) -> Self {
        self.options.push((option.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, option: &str, prefix: &str) -> Self {
        self.options.retain(|(name, value)| name != option || !value.starts_with(prefix));
        self
    }

    fn run(&self) -> Output {
        let mut words = vec!["new".to_owned(), "-o".to_owned(), self.output.display().to_string()];
        words.extend(self.options.iter().flat_map(|(name, value)| [name.clone(), value.clone()]));
        krepro(&words)
    }

    /// Exit 2, these words in the message, and nothing written.
    fn refused(&self, words: &[&str]) {
        let output = self.run();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in:\n{text}");
        }
        assert!(!self.output.exists(), "something was written");
    }

    fn made(&self) -> String {
        let output = self.run();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).expect("text")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.output.join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.output.join(name)).expect("a file")
    }
}

#[test]
fn the_simt_example_becomes_a_reproducer_with_every_value_placed() {
    let new = New::simt();
    new.made();
    let record = new.read("repro.toml");
    assert!(record.contains("m = { value = 16, from = \"read\", at = \"examples/simt_linear/site.cc:"), "{record}");
    let unit = new.read("linear_kernel.cu");
    assert!(unit.contains("simt::linear_kernel<__nv_bfloat16, 16, 1024, 6144, 32, 2, 0>"), "{unit}");
    assert!(new.read("inputs/site.txt").contains("emit_simt_linear"));
}

#[test]
fn a_new_reproducer_is_the_same_bytes_twice_and_reads_back_equal() {
    let (first, second) = (New::sm90(), New::sm90());
    first.made();
    second.made();
    for name in ["repro.toml", "linear_task.cu", "build.sh"] {
        assert_eq!(first.read(name), second.read(name), "{name}");
    }
    let text = first.read("repro.toml");
    let record =
        krepro::read::record::parse(&krepro::source::Source::new("repro.toml", text.clone())).expect("a record");
    assert_eq!(krepro::render::sealed(&record.to_toml().expect("text"), "#"), text);
}

#[test]
fn an_edited_record_and_files_of_others_are_kept() {
    let new = New::sm90();
    new.made();
    new.made();
    let record = new.path("repro.toml");
    let edited = fs_err::read_to_string(&record)
        .unwrap()
        .replace("padding_zero = { value = false", "padding_zero = { value = true");
    fs_err::write(&record, &edited).unwrap();
    let again = new.run();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains("repro.toml was edited by hand and is kept"), "{said}");
    assert_eq!(fs_err::read_to_string(&record).unwrap(), edited);

    let other = New::sm90();
    fs_err::create_dir_all(other.path("inputs")).unwrap();
    fs_err::write(other.path("inputs/site.txt"), "mine").unwrap();
    let refused = other.run();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("the folder is no reproducer's"), "{said}");
    assert_eq!(fs_err::read_to_string(other.path("inputs/site.txt")).unwrap(), "mine");
}

#[test]
fn a_profile_that_flags_wrote_takes_the_place_of_its_log() {
    let profile = krepro(&["flags", "examples/simt_linear/jit.log", "--format", "toml"].map(str::to_owned));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flags.toml");
    std::fs::write(&path, profile.stdout).expect("a profile");
    let (by_log, by_profile) = (New::simt(), New::simt().without("--log", ""));
    let by_profile = by_profile.also("--profile", &path.display().to_string());
    by_log.made();
    by_profile.made();
    for name in ["repro.toml", "linear_kernel.cu", "build.sh"] {
        assert_eq!(by_log.read(name), by_profile.read(name), "{name}");
    }
    std::fs::write(&path, "version = 9\n").expect("a profile");
    let wrong = New::simt().without("--log", "").also("--profile", &path.display().to_string());
    wrong.refused(&["flags.toml"]);
}

#[test]
fn an_older_standard_of_the_log_is_raised_in_the_build_and_said() {
    let log = std::fs::read_to_string(root().join("examples/simt_linear/jit.log")).expect("a log");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jit.log");
    std::fs::write(&path, log.replace("-std=c++17", "-std=c++14")).expect("a log");
    let new = New::simt().with("--log", &path.display().to_string());
    new.made();
    let script = new.read("build.sh");
    assert!(
        script.contains("-std=c++17") && script.contains("-std=c++14") && script.contains("the harness"),
        "{script}"
    );
}

#[test]
fn the_awaited_bytes_come_from_the_header_and_a_changed_header_changes_the_finding() {
    let right = New::sm90();
    assert!(!right.made().contains("predicted[K-S09]"));
    let awaits_more = New::sm90().without("--set", "defect=").also("--set", "defect=8");
    let text = awaits_more.made();
    assert!(text.contains("predicted[K-S09]") && text.contains("await"), "{text}");
}

#[test]
fn every_problem_of_what_was_given_is_said_at_once() {
    New::simt().without("--set", "batch_size").without("--set", "defect").refused(&[
        "`batch_size` is not known",
        "--set batch_size=VALUE",
        "`defect` is not known",
        "site.cc:",
    ]);
}

#[test]
fn a_missing_site_function_names_the_nearest() {
    New::simt()
        .with("--site", "examples/simt_linear/site.cc:emit_simt_liner")
        .refused(&["emit_simt_liner", "emit_simt_linear"]);
}

#[test]
fn a_header_without_the_kernel_names_the_nearest() {
    New::simt()
        .with("--kernel", "examples/simt_linear/simt_linear.cuh:linear_kernal")
        .refused(&["linear_kernal", "linear_kernel"]);
}

#[test]
fn names_with_metacharacters_are_refused_before_anything_is_read() {
    for name in ["k;touch owned", "k$(touch owned)", "k\"<int>", "k`x`"] {
        New::simt()
            .with("--kernel", &format!("examples/simt_linear/simt_linear.cuh:{name}"))
            .refused(&["is no C++ name"]);
    }
    New::simt().also("--name", "a/../b").refused(&["cannot be the stem"]);
}

#[test]
fn a_log_without_a_command_and_a_truncated_one_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("none.log"), "nothing to see\n").expect("written");
    std::fs::write(path("cut.log"), "+ /usr/local/cuda/bin/nvcc -std=c++17 -gencode arch=compute_90a,code=sm_9")
        .expect("written");
    New::simt().with("--log", &path("none.log")).refused(&["none.log"]);
    New::simt().with("--log", &path("cut.log")).refused(&["cut.log"]);
}

#[test]
fn a_wrong_arity_is_shown_in_both_texts() {
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site.cc");
    std::fs::write(&site, "void f(C &code) { code.e(\"simt::linear_kernel<__nv_bfloat16, 16, 1024>;\"); }\n")
        .expect("written");
    New::simt()
        .with("--site", &format!("{}:f", site.display()))
        .without("--set", "")
        .refused(&["template arguments", "simt_linear.cuh:"]);
}

#[test]
fn what_the_plain_scaffold_cannot_know_is_asked_not_guessed() {
    New::simt().with("--scaffold", "plain").refused(&[
        "how large is `m`",
        "--contract m=EXPR",
        "how large is the grid",
        "--launch grid=X,Y,Z",
    ]);
}

#[test]
fn an_option_that_nothing_asks_is_an_error() {
    New::simt().also("--contract", "mm=16").refused(&["--contract mm"]);
}

#[test]
fn an_edited_unit_is_never_overwritten() {
    let new = New::simt();
    new.made();
    let path = new.output.join("linear_kernel.cu");
    let edited = format!("{}// mine\n", new.read("linear_kernel.cu"));
    std::fs::write(&path, &edited).expect("written");
    let before = new.read("repro.toml");
    for output in [new.run(), krepro(&["render".to_owned(), new.output.display().to_string()])] {
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("was edited by hand"));
    }
    assert_eq!(new.read("linear_kernel.cu"), edited);
    assert_eq!(new.read("repro.toml"), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_file_error() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "").expect("written");
    let mut new = New::simt();
    new.output = folder.path().join("file/repro");
    let output = new.run();
    assert_eq!(output.status.code(), Some(74), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_usage_error_is_json_too_when_json_is_asked_for() {
    for words in [&["new", "--json"][..], &["run", "x", "--json", "--claim", "foo"], &["flags", "--json", "--bogus"]] {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let output = krepro(&words);
        assert_eq!(output.status.code(), Some(2));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((&value["version"], &value["exit"]), (&1.into(), &2.into()), "{value}");
        assert!(!value["diagnostics"].as_array().expect("a list").is_empty());
    }
}

#[test]
fn a_named_file_that_is_not_there_is_a_wrong_option() {
    New::simt().with("--log", "examples/simt_linear/none.log").refused(&["none.log"]);
    New::simt().with("--kernel", "examples/simt_linear/none.cuh:linear_kernel").refused(&["none.cuh"]);
}
