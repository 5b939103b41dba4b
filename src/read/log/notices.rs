//! What a careful reader of a command should know.

use super::argument::{Argument, ArgumentKind};
use super::executable::Executable;
use super::found::Found;
use super::kind::{InputKind, Kind, input_kind};
use super::locate::Style;
use super::table::{OptionTable, Phase};
use crate::diag::{Diagnostic, Diagnostics, Severity};

/// Warnings, notes and gaps of one command.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// In the order of the command.
    pub diagnostics: Diagnostics,
    /// What is missing.
    pub missing: Vec<String>,
}

impl Notices {
    /// Whether there is more than notes.
    pub fn warns(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity > Severity::Note)
    }

    /// The warnings as text.
    pub fn warning_texts(&self) -> Vec<String> {
        self.diagnostics.iter().filter(|d| d.severity > Severity::Note).map(|d| d.message.clone()).collect()
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// What is worth saying about a command.
pub fn notices(found: &Found, _made: &Executable) -> Notices {
    let mut out = Notices::default();
    gaps(found, &mut out);
    origin(found, &mut out);
    for argument in &found.arguments {
        one(found, argument, &mut out);
    }
    out
}

fn gaps(found: &Found, out: &mut Notices) {
    let has = |names: &[&str]| found.arguments.iter().any(|a| names.iter().any(|n| a.is(n)));
    let no_source = found.sources().is_empty() && found.style != Style::Nvrtc;
    if found.cut || (no_source && found.kind == Kind::Compile) {
        let checks = [
            ("gencode", has(&["-gencode", "-arch", "-code"])),
            ("std", has(&["-std"])),
            ("sources", !no_source),
            ("output", has(&["-o", "-odir"])),
        ];
        out.missing.extend(checks.iter().filter(|(_, there)| !there).map(|(what, _)| (*what).to_owned()));
    }
    let last = found.arguments.last();
    let open = last.filter(|a| matches!(a.kind, ArgumentKind::NoValue(_)));
    if found.cut || open.is_some() {
        let spot = last.map_or_else(|| found.spot(found.at(), 1), |a| found.spot_of(a));
        let missing = if out.missing.is_empty() { "its end".to_owned() } else { out.missing.join(", ") };
        out.push(
            Diagnostic::warning("K-LOG-CUT", format!("the command is cut; missing: {missing}"))
                .at(spot, "the text ends here")
                .help("paste the whole line; strace needs -s 100000, a terminal may have cut it"),
        );
        if out.missing.is_empty() {
            out.missing.push("end".into());
        }
    } else if no_source {
        if out.missing.is_empty() {
            out.missing.push("sources".into());
        }
        out.push(
            Diagnostic::warning("K-LOG-GAPS", format!("the command has no {}", out.missing.join(", no ")))
                .at(found.spot(found.at(), found.compiler.text.len()), "this command")
                .help("paste the whole line; logs and terminals cut long ones"),
        );
    }
}

/// What is to be said about how the command came to be known.
fn origin(found: &Found, out: &mut Notices) {
    let here = || found.spot(found.at(), found.compiler.text.len());
    match found.style {
        Style::DryRun => out.push(
            Diagnostic::warning("K-LOG-INFERRED", "the command was not in the log; it was rebuilt from what nvcc runs")
                .at(here(), "the first of its sub-commands")
                .help(
                    "paste the line that was typed, too: options without a trace in the sub-commands cannot be rebuilt",
                ),
        ),
        Style::Flags => out.push(
            Diagnostic::warning(
                "K-LOG-FLAGS",
                "these are flags without a command: no source, and the command may hold more",
            )
            .at(here(), "")
            .help("paste the line that starts nvcc"),
        ),
        Style::Nvrtc => out.push(
            Diagnostic::warning("K-LOG-NVRTC", "NVRTC compiled this kernel; its options are said in nvcc's words")
                .at(here(), "options of NVRTC")
                .because("NVRTC defines __CUDACC_RTC__ and brings its own headers: code behind #ifdef may differ"),
        ),
        _ => {}
    }
    if found.kind == Kind::Probe {
        out.missing.push("command".into());
        out.push(
            Diagnostic::warning(
                "K-LOG-PROBE",
                "this command only asks what the compiler is or can do; it is no kernel's",
            )
            .at(here(), "")
            .help("paste a log that reaches the compile of the kernel"),
        );
    }
    for at in &found.mended {
        out.push(
            Diagnostic::warning("K-LOG-MENDED", "a word was broken across lines here and joined again")
                .at(found.spot(*at, 1), "joined with nothing between"),
        );
    }
    for path in &found.absent_responses {
        out.missing.push(format!("response file {path}"));
        let folder = found.directory.as_deref().map(|d| format!(", relative to {d}")).unwrap_or_default();
        out.push(
            Diagnostic::warning("K-LOG-RESPONSE", format!("options are in `{path}`, which is not in the log"))
                .at(here(), "this command reads it")
                .help(format!("--response FILE names it{folder}; or paste its text behind a line `$ cat {path}`")),
        );
    }
    if found.from_environment > 0 {
        out.push(
            Diagnostic::note(
                "K-LOG-ENV",
                match found.from_environment {
                    1 => "one argument comes from NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS".to_owned(),
                    n => format!("{n} arguments come from NVCC_PREPEND_FLAGS or NVCC_APPEND_FLAGS"),
                },
            )
            .at(here(), "nvcc takes them from its environment"),
        );
    }
}

fn one(found: &Found, argument: &Argument, out: &mut Notices) {
    if argument.words().any(|w| w.replaced) {
        out.push(
            Diagnostic::warning("K-LOG-BYTES", "bytes that are not UTF-8 were replaced in this argument")
                .at(found.spot_of(argument), ""),
        );
    }
    match argument.kind {
        ArgumentKind::Unknown => unknown(found, argument, out),
        ArgumentKind::Input => {
            let name = argument.flag();
            if input_kind(name, found.language_given()) == InputKind::Source
                && !found.language_given()
                && host_source(name)
            {
                out.push(
                    Diagnostic::warning(
                        "K-LOG-HOST",
                        format!("nvcc compiles `{name}` as host C++: it can hold no device code"),
                    )
                    .at(found.spot_of(argument), "no .cu, and no -x cu")
                    .because("flags of this command never reached a kernel"),
                );
            } else if input_kind(name, found.language_given()) == InputKind::Other {
                if !out.missing.iter().any(|m| m == "boundaries of arguments") {
                    out.missing.push("boundaries of arguments".into());
                }
                out.push(
                    Diagnostic::warning(
                        "K-LOG-STRAY",
                        format!("`{name}` is neither an option nor a file that nvcc compiles"),
                    )
                    .at(found.spot_of(argument), "nvcc would stop here")
                    .because("ps and logs that join arguments by blanks lose where one ends")
                    .help("take /proc/PID/cmdline, a verbose build or the list that the framework prints"),
                );
            }
        }
        ArgumentKind::NoValue(_) => {}
        ArgumentKind::Option(spec) => {
            if spec.hidden && spec.phase == Phase::Driver {
                out.push(
                    Diagnostic::note(
                        "K-LOG-HIDDEN",
                        format!("`{}` is an option that nvcc does not document", argument.flag()),
                    )
                    .at(found.spot_of(argument), ""),
                );
            }
            option(found, argument, out);
        }
    }
}

fn host_source(name: &str) -> bool {
    [".c", ".cc", ".cpp", ".cxx", ".C", ".c++"].iter().any(|e| name.ends_with(e))
}

fn unknown(found: &Found, argument: &Argument, out: &mut Notices) {
    if found.style == Style::Nvrtc && OptionTable::nvcc().nvrtc_only(argument.flag()).is_some() {
        return;
    }
    let forwarded = found.arguments.iter().any(|a| {
        a.is("-forward-unknown-to-host-compiler")
            || a.is("-forward-unknown-opts")
            || a.is("-forward-unknown-to-host-linker")
    });
    let diagnostic = if forwarded {
        Diagnostic::note(
            "K-LOG-FORWARD",
            format!("`{}` is no option of nvcc; it goes to the host compiler", argument.flag()),
        )
    } else {
        Diagnostic::warning("K-LOG-UNKNOWN", format!("`{}` is no option of nvcc 13.0", argument.flag()))
            .because("nvcc refuses options that it does not know, unless -forward-unknown-to-host-compiler is there")
            .help("if a newer nvcc knows it, say what it is; krepro keeps it as it stands and does not guess whether a value follows")
    };
    out.push(diagnostic.at(found.spot_of(argument), ""));
}

fn option(found: &Found, argument: &Argument, out: &mut Notices) {
    let value = argument.value_or_empty();
    let spot = || found.spot_of(argument);
    if argument.is("-arch") && matches!(value, "native" | "all" | "all-major") {
        out.push(
            Diagnostic::warning("K-LOG-NATIVE", format!("-arch={value} depends on the machine that builds"))
                .at(spot(), "")
                .because("without a GPU nvcc 13 takes its default, sm_75, with only a warning")
                .help("say --arch sm_90a (the GPU of the failing run)"),
        );
    }
    if argument.is("-G") {
        let conflict = found.arguments.iter().find(|a| a.is("-lineinfo") || (a.is("-O") && a.value_or_empty() == "0"));
        let text = "-G turns device optimisation off: if production ran another build, these are not its flags";
        out.push(match conflict {
            Some(other) => Diagnostic::warning("K-LOG-DEBUG", text)
                .at(spot(), "")
                .at(found.spot_of(other), "a verbose or debug switch of a framework adds these together"),
            None => Diagnostic::note("K-LOG-DEBUG", text).at(spot(), ""),
        });
    }
    if argument.is("-D") && splits(value) {
        out.push(
            Diagnostic::warning("K-LOG-COMMA", format!("nvcc splits `{value}` at its commas into several macros"))
                .at(spot(), "-D takes a list")
                .because("what nvcc did is kept as it was")
                .help("to have one macro with a comma, write `\\,` for it"),
        );
    }
    if argument.is("-Xcompiler") {
        let hidden: Vec<&str> = value
            .split([',', ' '])
            .map(|item| item.trim_matches(['"', '\'']))
            .filter(|item| ["-D", "-I", "-U", "-isystem", "-include"].iter().any(|p| item.starts_with(p)))
            .collect();
        if !hidden.is_empty() {
            out.push(
                Diagnostic::note("K-LOG-HIDDEN-DEFINE", format!("{} also reaches the device code", hidden.join(", ")))
                    .at(spot(), "within -Xcompiler"),
            );
        }
    }
}

/// Whether nvcc splits a list value: a comma outside double quotes, without a backslash before it.
pub fn splits(value: &str) -> bool {
    let mut quoted = false;
    let mut escaped = false;
    value.bytes().any(|byte| {
        let bare = !escaped;
        escaped = byte == b'\\' && bare;
        quoted ^= byte == b'"' && bare;
        byte == b',' && bare && !quoted
    })
}
