//! S18, S19, S23, S32 and S41: the compile command.

use crate::model::{CompilerArgument, Finding, Findings, GpuArch, Origin, Reproducer, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    pairs(reproducer, out);
    short_form(reproducer, out);
    register_budget(reproducer, out);
    differences(reproducer, out);
    paths(reproducer, out);
}

fn transcribed(argument: &CompilerArgument) -> Origin {
    Origin::Transcribed { at: argument.at.clone() }
}

/// The arguments with the values that follow them joined on, as `OPTION=VALUE`.
fn joined<'a>(reproducer: &'a Reproducer, options: &[&str]) -> Vec<(String, &'a CompilerArgument)> {
    let arguments = &reproducer.compile.arguments;
    let mut out = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        if options.contains(&argument.text.as_str()) {
            if let Some(value) = arguments.get(index + 1) {
                out.push((value.text.clone(), argument));
            }
        } else if let Some((option, value)) = argument.text.split_once('=')
            && options.contains(&option)
        {
            out.push((value.to_owned(), argument));
        }
    }
    out
}

/// S18: code can be made only from PTX that is its ancestor.
fn pairs(reproducer: &Reproducer, out: &mut Findings) {
    for (value, argument) in joined(reproducer, &["-gencode", "--generate-code"]) {
        let Some((from, codes)) = value.strip_prefix("arch=").and_then(|rest| rest.split_once(",code=")) else {
            continue;
        };
        let Ok(from) = from.parse::<GpuArch>() else { continue };
        for code in codes.trim_matches(['[', ']', '"', '\'']).split(',') {
            let Ok(to) = code.trim_matches(['"', '\'']).parse::<GpuArch>() else { continue };
            if fits(from, to) {
                continue;
            }
            out.push(
                Finding::new("K-S18", Weight::Refuse, format!("{to} cannot be made from {}", from.compute()))
                    .of("compile command", &transcribed(argument))
                    .then("nvcc or ptxas refuses it: Incompatible code generation requested, or cannot be compiled to future architecture")
                    .help(format!("-gencode=arch={},code={to}", to.compute())),
            );
        }
    }
}

fn fits(from: GpuArch, to: GpuArch) -> bool {
    match from.suffix {
        Some('a') => from == to,
        Some(_) => from.number / 10 == to.number / 10 && from.number <= to.number && to.suffix.is_some(),
        None => from.number <= to.number,
    }
}

/// S19: `-arch=sm_90a` alone also builds a plain image.
fn short_form(reproducer: &Reproducer, out: &mut Findings) {
    let code = joined(reproducer, &["-code", "--gpu-code"]);
    let suffixed = ["wgmma", "tcgen05", "setmaxnreg", "tensormap_replace", "cvt_e2m1x2"];
    let Some(used) = reproducer.kernel.uses.iter().find(|used| suffixed.contains(&used.value.as_str())) else { return };
    if !code.is_empty() {
        return;
    }
    for (value, argument) in joined(reproducer, &["-arch", "--gpu-architecture"]) {
        let Ok(arch) = value.parse::<GpuArch>() else { continue };
        if arch.suffix.is_some() && value.starts_with("sm_") {
            out.push(
                Finding::new(
                    "K-S19",
                    Weight::Predict,
                    format!(
                        "-arch={arch} also builds a plain sm_{} image, which has no {}",
                        arch.number,
                        used.value.replace('_', ".")
                    ),
                )
                .of("compile command", &transcribed(argument))
                .of(used.value.as_str(), &used.origin)
                .then("ptxas refuses bare assembly in that pass, and its message names a target without suffix")
                .help(format!("-gencode=arch={},code={arch}", arch.compute())),
            );
        }
    }
}

/// S23: what makes ptxas ignore setmaxnreg.
fn register_budget(reproducer: &Reproducer, out: &mut Findings) {
    let Some(used) = reproducer.kernel.uses.iter().find(|used| used.value == "setmaxnreg") else { return };
    let arguments = &reproducer.compile.arguments;
    let relocatable = joined(reproducer, &["-rdc", "--relocatable-device-code"]);
    let device_c = arguments.iter().find(|a| matches!(a.text.as_str(), "-dc" | "--device-c"));
    if let Some(argument) = relocatable.iter().find(|(value, _)| value == "true").map(|(_, a)| *a).or(device_c) {
        out.push(
            Finding::new(
                "K-S23",
                Weight::Predict,
                format!("the kernel uses setmaxnreg, and `{}` makes it ignored", argument.text),
            )
            .of("setmaxnreg", &used.origin)
            .of("compile command", &transcribed(argument))
            .then("note C7504: the kernel runs with other registers than it was written for; wgmma may be serialised")
            .help("keep it if production has it; else drop it"),
        );
    }
    let bounds = reproducer.launch.launch_bounds.as_ref().or(reproducer.kernel.signature.launch_bounds.as_ref());
    let counted = !joined(reproducer, &["-maxrregcount", "--maxrregcount"]).is_empty();
    let one_argument = bounds.is_none_or(|bounds| !bounds.value.contains(','));
    // ptxas: a one-argument bound spoils even -maxrregcount.
    if one_argument && (!counted || bounds.is_some()) {
        let written = bounds.map_or("no __launch_bounds__".to_owned(), |b| format!("`__launch_bounds__({})`", b.value));
        let mut finding = Finding::new(
            "K-S23",
            Weight::Predict,
            format!("the kernel uses setmaxnreg with {written}: the register count at entry is not fixed"),
        )
        .of("setmaxnreg", &used.origin);
        if let Some(bounds) = bounds {
            finding = finding.of("launch bounds", &bounds.origin);
        }
        out.push(
            finding
                .then(
                    "note C7508: setmaxnreg is ignored, so another kernel is built: other registers, and a hang by register \
                     budget disappears",
                )
                .help(format!("__launch_bounds__({}, 1)", reproducer.launch.threads.threads())),
        );
    }
}

/// S32: what krepro changed of production's command, where it can change results.
fn differences(reproducer: &Reproducer, out: &mut Findings) {
    const WATCHED: [&str; 17] = [
        "-D",
        "-U",
        "-std",
        "-rdc",
        "--relocatable-device-code",
        "-dc",
        "--expt-relaxed-constexpr",
        "--extended-lambda",
        "-use_fast_math",
        "--use_fast_math",
        "-ftz",
        "-prec-",
        "-fmad",
        "-G",
        "-maxrregcount",
        "-Xptxas",
        "--default-stream",
    ];
    for change in &reproducer.compile.changes {
        let watched = |text: &String| WATCHED.iter().any(|option| text.starts_with(option));
        if change.was == change.now || !change.was.iter().chain(&change.now).any(watched) {
            continue;
        }
        let (was, now) = (change.was.join(" "), change.now.join(" "));
        let message = match (was.is_empty(), now.is_empty()) {
            (false, false) => format!("`{was}` of production's command became `{now}`"),
            (false, true) => format!("`{was}` of production's command was dropped"),
            _ => format!("`{now}` is not in production's command"),
        };
        let mut finding = Finding::new("K-S32", Weight::Note, message);
        if let Some(at) = &change.at {
            finding = finding.of("compile command", &Origin::Transcribed { at: at.clone() });
        }
        out.push(
            finding
                .then(format!("the machine code may differ from production's: {}", change.why))
                .help("compare the kernel's machine code with production's where a verdict depends on it"),
        );
    }
}

/// S41: include paths that cannot mean what they did.
fn paths(reproducer: &Reproducer, out: &mut Findings) {
    let arguments = &reproducer.compile.arguments;
    for (index, argument) in arguments.iter().enumerate() {
        let text = argument.text.as_str();
        let path = match text {
            "-I" | "-isystem" | "--include-path" | "--system-include" => match arguments.get(index + 1) {
                Some(next) => next.text.as_str(),
                None => continue,
            },
            _ => match text.strip_prefix("-isystem=").or_else(|| text.strip_prefix("-I")) {
                Some(path) => path.trim_start_matches('='),
                None => continue,
            },
        };
        let (what, help) = if path.is_empty() || path.starts_with(':') {
            (
                "is empty or begins with a colon",
                "an environment variable with an empty element was pasted in: strip it".to_owned(),
            )
        } else if !path.starts_with('/') && !path.starts_with('$') {
            (
                "is relative",
                format!("give the absolute path of `{path}` as production's build saw it (--map can rewrite it)"),
            )
        } else {
            continue;
        };
        out.push(
            Finding::new("K-S41", Weight::Note, format!("the include path `{path}` {what}"))
                .of("compile command", &transcribed(argument))
                .then("another header, or none, is found than in production")
                .help(help),
        );
    }
}
