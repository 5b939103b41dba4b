//! S34 and S40: macros that the headers demand, and names that they do not have.

use crate::model::{Finding, Findings, Reproducer, Weight};

pub(super) fn check(reproducer: &Reproducer, out: &mut Findings) {
    demands(reproducer, out);
    for unknown in &reproducer.kernel.unknown_names {
        let finding = Finding::new(
            "K-S40",
            Weight::Note,
            format!("the headers open the namespace of `{}`, and have no such name in it", unknown.name.value),
        )
        .of("emitted name", &unknown.name.origin)
        .then("the build fails: namespace has no member; generator and headers are of different versions, or a header is missing");
        out.push(match unknown.near.as_slice() {
            [] => finding.help("no name of the headers is like it: another header of the same project has it"),
            near => finding.help(format!("nearest in the headers: {}", near.join(", "))),
        });
    }
}

/// S34: `#error` of a header, unless one of these macros is defined.
fn demands(reproducer: &Reproducer, out: &mut Findings) {
    for demand in &reproducer.kernel.demands {
        let defined = |name: &String| defines(reproducer).any(|defined| defined == *name);
        if demand.value.iter().any(defined) {
            continue;
        }
        let options: Vec<String> = demand.value.iter().map(|name| format!("-D{name}")).collect();
        out.push(
            Finding::new(
                "K-S34",
                Weight::Predict,
                format!("a header demands {}, and the command has none of them", options.join(" or ")),
            )
            .of("demand", &demand.origin)
            .then("the build stops at that #error")
            .help(format!(
                "take the one of production's command; krepro lost it, or the log is of another build: {}",
                options.join(", ")
            )),
        );
    }
}

/// Macros that the command defines.
fn defines(reproducer: &Reproducer) -> impl Iterator<Item = &str> {
    let arguments = &reproducer.compile.arguments;
    arguments.iter().enumerate().filter_map(|(index, argument)| {
        let text = argument.text.as_str();
        let value = match text {
            "-D" | "--define-macro" => arguments.get(index + 1)?.text.as_str(),
            _ => text.strip_prefix("--define-macro=").or_else(|| text.strip_prefix("-D"))?,
        };
        value.split(['=', '(']).next()
    })
}
