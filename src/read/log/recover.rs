//! The one command that is meant, as the flags of an executable.

use std::io::BufRead;

use serde::Serialize;

use super::anchor::Family;
use super::choose::{Choice, choose};
use super::executable::executable;
use super::found::Found;
use super::kind::Kind;
use super::lines::LONGEST_LINE;
use super::locate::Style;
use super::notices::{Notices, notices};
use super::options::{Options, Select};
use super::response;
use super::scan::{Scan, scan};
use super::table::OptionTable;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::CompileCommand;
use crate::source::Place;

/// How far the command can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As it is.
    Ok,
    /// As it is, but the reader should know something.
    OkWithWarnings,
    /// Part of it is missing: not enough for a build.
    Partial,
    /// It was no nvcc command; its options are said in nvcc's words.
    Translate,
}

/// A command that was seen, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Where it begins.
    pub at: Place,
    /// What it does.
    pub kind: Kind,
    /// What it compiles.
    pub sources: Vec<String>,
    /// What it makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Lines of its repetitions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<usize>,
}

/// The outcome.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The flags of an executable, and what was dropped or changed.
    pub command: CompileCommand,
    /// The command as it was logged.
    pub logged: Found,
    /// How far it can be used.
    pub verdict: Verdict,
    /// Why this command.
    pub why: String,
    /// The other compiler commands, in the order of the log.
    pub others: Vec<Seen>,
    /// Commands beyond those that are listed.
    pub beyond: usize,
    /// What is missing, each a short noun (`sources`, `gencode`).
    pub missing: Vec<String>,
    /// Warnings and notes.
    pub diagnostics: Diagnostics,
}

/// Reads a log and recovers the command that is meant.
///
/// # Errors
/// Diagnostics with at least one error: nothing usable is in the log, or it cannot be read.
pub fn recover<R: BufRead>(stream: R, options: &Options) -> Result<Recovered, Diagnostics> {
    let scan = scan(stream, options).map_err(|e| {
        Diagnostics::from(Diagnostic::error("K-LOG-READ", format!("`{}` cannot be read: {e}", options.name)))
    })?;
    from_scan(&scan, options)
}

/// The command that is meant, and why.
pub fn chosen(scan: &Scan, options: &Options) -> Option<(Found, String)> {
    let choice = choose(&scan.commands, options.select.as_ref())?;
    Some((whole(scan, choice.index, options), choice.why))
}

/// A command with the texts of its response files in their place.
fn whole(scan: &Scan, index: usize, options: &Options) -> Found {
    let mut found = scan.commands[index].clone();
    let files = response::Files { pasted: &scan.pasted, given: &options.responses };
    (found.arguments, found.absent_responses) = response::expand(found.arguments, &files, OptionTable::nvcc());
    found
}

/// The same, of a log that was scanned before.
///
/// # Errors
/// As [`recover`].
pub fn from_scan(scan: &Scan, options: &Options) -> Result<Recovered, Diagnostics> {
    let Some(choice) = choose(&scan.commands, options.select.as_ref()) else {
        return Err(nothing(scan, options).into());
    };
    let found = whole(scan, choice.index, options);
    if let Some(refusal) = refusal(&found) {
        return Err(refusal.into());
    }
    let made = executable(&found, options);
    let mut notes = notices(&found, &made);
    notes.diagnostics.append(long_line(scan).into_iter().collect());
    several(scan, &choice, &mut notes);
    let verdict = match (notes.missing.is_empty(), notes.warns()) {
        (true, _) if found.family == Family::Nvrtc => Verdict::Translate,
        (false, _) => Verdict::Partial,
        (true, true) => Verdict::OkWithWarnings,
        (true, false) => Verdict::Ok,
    };
    let others = scan.commands.iter().enumerate().filter(|(i, _)| *i != choice.index).map(|(_, f)| seen(f)).collect();
    let command = CompileCommand {
        compiler: found.compiler.text.clone(),
        arguments: made.kept,
        changes: made.changes,
        directory: found.directory.clone(),
        sources: found.compiled().into_iter().map(str::to_owned).collect(),
        at: found.place(found.at()),
        warnings: notes.warning_texts(),
    };
    Ok(Recovered {
        command,
        logged: found,
        verdict,
        why: choice.why,
        others,
        beyond: scan.beyond,
        missing: notes.missing,
        diagnostics: notes.diagnostics,
    })
}

fn seen(found: &Found) -> Seen {
    Seen {
        at: found.place(found.at()),
        kind: found.kind,
        sources: found.sources().into_iter().map(str::to_owned).collect(),
        output: found.output().map(str::to_owned),
        repeated: found.duplicates.clone(),
    }
}

/// What is said about a line that is longer than lines are read.
fn long_line(scan: &Scan) -> Option<Diagnostic> {
    let line = scan.long_line?;
    let text = format!(
        "line {line} is longer than {} MiB or holds too many commands; its rest was not read",
        LONGEST_LINE >> 20
    );
    Some(
        Diagnostic::note("K-LOG-LONG", text).help(
            "a compile_commands.json in one line: `jq . FILE` or `python3 -m json.tool FILE` breaks it into lines",
        ),
    )
}

fn several(scan: &Scan, choice: &Choice, notes: &mut Notices) {
    if choice.rivals == 0 {
        return;
    }
    let found = &scan.commands[choice.index];
    let rivals = match choice.rivals {
        1 => "another command would have done as well".to_owned(),
        n => format!("{n} other commands would have done as well"),
    };
    notes.diagnostics.push(
        Diagnostic::note("K-LOG-SEVERAL", rivals)
            .at(found.spot(found.at(), found.compiler.text.len()), "this one was taken")
            .help("choose another with --select FILE or --select LINE"),
    );
}

fn nothing(scan: &Scan, options: &Options) -> Diagnostic {
    let name = &options.name;
    match &options.select {
        Some(select) if !scan.commands.is_empty() => {
            let what = match select {
                Select::Line(line) => format!("begins in line {line}"),
                Select::File(file) => format!("reads or makes `{file}`"),
            };
            let lines: Vec<String> = scan.commands.iter().take(20).map(|f| f.line().to_string()).collect();
            Diagnostic::error("K-LOG-SELECT", format!("no compiler command in `{name}` {what}")).help(
                match lines.as_slice() {
                    [one] => format!("the only command begins in line {one}"),
                    lines => format!("commands begin in lines {}", lines.join(", ")),
                },
            )
        }
        _ => Diagnostic::error("K-LOG-NONE", format!("no nvcc command in `{name}` ({})", lines(scan.lines))).help(
            "paste the line that starts nvcc: ninja -v, make VERBOSE=1, or the framework's verbose switch prints it",
        ),
    }
}

fn lines(count: usize) -> String {
    match count {
        0 => "it is empty".to_owned(),
        1 => "one line".to_owned(),
        n => format!("{n} lines"),
    }
}

fn refusal(found: &Found) -> Option<Diagnostic> {
    let spot = found.spot(found.at(), found.compiler.text.len());
    let windows = found.style == Style::Windows || found.compiler.text.contains('\\');
    match found.family {
        Family::Nvcc if windows => Some(
            Diagnostic::error("K-LOG-WINDOWS", "this nvcc ran on Windows with MSVC: its paths and host options mean nothing here")
                .at(spot, "a Windows path")
                .help("krepro flags --format json on a Linux build of the same kernel, or build it once under WSL and paste that log"),
        ),
        Family::Nvcc | Family::Nvrtc => None,
        Family::Hipcc => Some(
            Diagnostic::error("K-LOG-HIP", "a hipcc command builds for AMD GPUs, not CUDA")
                .at(spot, "hipcc")
                .help("paste the log of an nvcc build of the same kernel"),
        ),
        Family::Clang => Some(
            Diagnostic::error("K-LOG-CLANG", "clang compiled this CUDA code, and its numbers differ from nvcc's")
                .at(spot, "clang")
                .because("clang optimises device code by -O, contracts floating point and links libdevice by rules of its own")
                .help("paste the log of an nvcc build of the same kernel"),
        ),
    }
}

impl Recovered {
    /// Whether enough is there for a build.
    pub fn buildable(&self) -> bool {
        self.verdict != Verdict::Partial && self.logged.kind != Kind::Probe
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, recover};
    use crate::read::log::{Options, Select};

    fn of(log: &str, select: Option<Select>) -> Result<super::Recovered, crate::diag::Diagnostics> {
        recover(log.as_bytes(), &Options { name: "jit.log".into(), select, ..Options::default() })
    }

    #[test]
    fn a_list_becomes_the_flags_of_an_executable() {
        let log = "[default0]:['/cuda/bin/nvcc', 't.cu', '-O3', '-I/a b', '-shared', '-lcuda', '-arch=sm_90a', '-o', 't.so']\n";
        let recovered = of(log, None).unwrap();
        let kept: Vec<&str> = recovered.command.arguments.iter().map(|a| a.text.as_str()).collect();
        assert_eq!(kept, ["-O3", "-I/a b", "-gencode=arch=compute_90a,code=sm_90a"]);
        assert_eq!(recovered.command.sources, ["t.cu"]);
        assert_eq!(recovered.command.arguments[1].at.to_string(), "jit.log:1:47");
        let dropped: Vec<(String, bool)> = recovered.command.changes.iter().map(|c| (c.was.join(" "), c.own)).collect();
        assert_eq!(
            dropped,
            [
                ("-shared".into(), false),
                ("-lcuda".into(), true),
                ("-arch=sm_90a".into(), true),
                ("-o t.so".into(), false)
            ]
        );
        assert_eq!(recovered.verdict, Verdict::Ok);
    }

    #[test]
    fn the_selected_command_is_taken_and_the_others_are_listed() {
        let log = "[1/2] nvcc -DA -c a.cu -o a.o\n[2/2] nvcc -DB -c b.cu -o b.o\nnvcc -DB -c b.cu -o b.o\n";
        let recovered = of(log, Some(Select::File("b.cu".into()))).unwrap();
        assert_eq!(recovered.command.arguments[0].text, "-DB");
        assert_eq!(recovered.logged.duplicates, [3]);
        assert_eq!(recovered.others[0].sources, ["a.cu"]);
    }

    #[test]
    fn nothing_that_runs_or_loads_a_program_is_kept_unless_the_log_is_trusted() {
        let table = crate::read::log::OptionTable::nvcc();
        let mut commands: Vec<Vec<String>> = table
            .options()
            .iter()
            .filter(|spec| spec.runs && spec.action == crate::read::log::Action::Keep)
            .map(|spec| vec![spec.names[0].clone(), "/tmp/evil".into()])
            .collect();
        assert!(commands.len() > 5);
        for words in [
            ["-ccbin", "/tmp/evil"],
            ["-Xcompiler", "-fplugin=/tmp/evil.so"],
            ["-Xcompiler", "-fPIC,-B/tmp/evil"],
            ["-Xcompiler", "-wrapper /tmp/evil"],
            ["-Xcompiler", "-specs=/tmp/evil"],
            ["-Xcompiler", "@/tmp/evil"],
            ["-Xcompiler", "x;/tmp/evil"],
            ["-Xnvlink", "-nvvmpath=/tmp/evil"],
            ["-DX=`/tmp/evil`", "-O3"],
            ["-I$(/tmp/evil)", "-O3"],
            ["-frandom-seed", "a\";/tmp/evil;\""],
            ["-run", "-O3"],
            ["-Xlinker", "-plugin=/tmp/evil"],
            ["-forward-unknown-to-host-compiler", "-B/tmp/evil"],
        ] {
            commands.push(words.map(String::from).into());
        }
        for words in commands {
            let list =
                format!("{:?}", [vec!["nvcc".into(), "k.cu".into(), "-std=c++17".into()], words.clone()].concat());
            let recovered = of(&list, None).unwrap();
            let kept: Vec<&str> = recovered.command.arguments.iter().map(|a| a.text.as_str()).collect();
            assert!(!kept.iter().any(|a| a.contains("evil") || *a == "-run"), "{words:?}: {kept:?}");
            assert!(!recovered.command.changes.is_empty(), "{words:?} is gone without a word");
            assert!(kept.contains(&"-std=c++17"), "{kept:?}");
        }
        let trusted = Options { name: "log".into(), trust: true, ..Options::default() };
        let recovered =
            recover(&b"['nvcc', 'k.cu', '-ccbin', '/opt/my/g++', '-Xcompiler', '-fplugin=a.so']"[..], &trusted)
                .unwrap();
        assert_eq!(recovered.command.arguments.len(), 4);
    }

    #[test]
    fn secrets_of_the_environment_are_in_no_output() {
        let log = "env TOKEN=hunter2 HF_KEY=\"a hunter2\" NVCC_APPEND_FLAGS='-lineinfo' nvcc -c k.cu -o k.o -isystem\n";
        let recovered = of(log, None).unwrap();
        let drawn: String = recovered.diagnostics.iter().map(|d| crate::diag::draw(d, false)).collect();
        let all = format!("{recovered:?}{drawn}");
        assert!(!all.contains("hunter2"), "{all}");
        assert!(drawn.contains("TOKEN=*"), "{drawn}");
        assert_eq!(recovered.logged.from_environment, 1);
        assert_eq!(recovered.logged.before[1].text, "TOKEN=…");
    }

    #[test]
    fn options_of_nvrtc_are_said_in_nvccs_words() {
        let log = "Compiling JIT runtime with NVRTC options: -std=c++20 -I/dg --gpu-architecture=sm_90a -default-device --pch --device-int128 \n";
        let recovered = of(log, None).unwrap();
        assert_eq!(recovered.verdict, Verdict::Translate);
        let kept: Vec<&str> = recovered.command.arguments.iter().map(|a| a.text.as_str()).collect();
        assert_eq!(kept, ["-std=c++20", "-I/dg", "-gencode=arch=compute_90a,code=sm_90a"]);
        assert_eq!(recovered.command.changes.len(), 4);
    }

    #[test]
    fn flags_of_the_environment_are_honoured_where_they_count() {
        let flags = |log: &str| {
            let recovered = of(log, None).unwrap();
            recovered.command.arguments.iter().map(|a| a.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            flags("export NVCC_PREPEND_FLAGS='-DA'\nexport NVCC_APPEND_FLAGS=-DC\nnvcc -DB -c k.cu\n"),
            ["-DA", "-DB", "-DC"]
        );
        assert_eq!(
            flags("nvcc -v -DB -c k.cu\n#$ NVCC_APPEND_FLAGS=\"-DC\"\n#$ _NVVM_BRANCH_=nvvm\n"),
            ["-v", "-DB", "-DC"]
        );
        assert_eq!(flags("export NVCC_APPEND_FLAGS=-DC\n+ env -u NVCC_APPEND_FLAGS nvcc -DB -c k.cu\n"), ["-DB"]);
        assert_eq!(flags("NVCC_APPEND_FLAGS = None\nnvcc -DB -c k.cu\n"), ["-DB"]);
    }

    #[test]
    fn a_terminal_that_cuts_words_is_mended() {
        let whole =
            "nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a -DNAME='a b' -lineinfo -c src/gemm.cu -o gemm.o";
        for width in [60, 61, 62, 63, 66, 70, 75, 80, 90] {
            let lines: Vec<&str> = whole.as_bytes().chunks(width).map(|c| std::str::from_utf8(c).unwrap()).collect();
            let recovered = of(&format!("make\n{}\nptxas info : 0 bytes gmem\n", lines.join("\n")), None).unwrap();
            let words: Vec<&str> = recovered.logged.argv().collect();
            let expected = shlex::split(whole).unwrap();
            assert_eq!(words, expected, "width {width}");
        }
    }

    #[test]
    fn a_cut_command_is_partial_and_says_what_is_missing() {
        let recovered = of("nvcc -I/a -isystem\n", None).unwrap();
        assert_eq!(recovered.verdict, Verdict::Partial);
        assert_eq!(recovered.missing, ["gencode", "std", "sources", "output"]);
    }

    #[test]
    fn a_log_without_nvcc_and_other_compilers_are_refused() {
        let code = |log: &str| of(log, None).unwrap_err().iter().next().unwrap().code.clone();
        assert_eq!(code("make: nothing to be done\n"), "K-LOG-NONE");
        assert_eq!(code("hipcc -c k.hip -o k.o\n"), "K-LOG-HIP");
        assert_eq!(code("clang++ -x cuda -c k.cu -o k.o\n"), "K-LOG-CLANG");
    }
}
