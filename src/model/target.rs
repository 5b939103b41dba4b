//! The architectures that a compile command builds for.

use std::fmt;

use super::{CompileCommand, CompilerArgument, GpuArch};
use crate::source::Place;

/// One architecture of the command, for example `sm_90a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Number and suffix.
    pub arch: GpuArch,
    /// Where the option stood.
    pub at: Place,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arch.fmt(f)
    }
}

impl Target {
    /// `sm_90a` or `compute_90a`, found at `at`.
    pub fn parse(text: &str, at: &Place) -> Option<Self> {
        Some(Target { arch: text.parse().ok()?, at: at.clone() })
    }
}

impl CompileCommand {
    /// The architectures that the command builds for, each once, in order.
    pub fn targets(&self) -> Vec<Target> {
        let mut out: Vec<Target> = Vec::new();
        let mut arguments = self.arguments.iter().peekable();
        while let Some(argument) = arguments.next() {
            let Some((text, at)) = value(argument, &mut arguments) else { continue };
            for name in names(text) {
                if let Some(target) = Target::parse(name, at)
                    && !out.iter().any(|t| t.arch == target.arch)
                {
                    out.push(target);
                }
            }
        }
        out
    }
}

/// The value of an option that names architectures, joined to it or in the next argument.
fn value<'a>(
    argument: &'a CompilerArgument,
    rest: &mut std::iter::Peekable<std::slice::Iter<'a, CompilerArgument>>,
) -> Option<(&'a str, &'a Place)> {
    const OPTIONS: [&str; 6] = ["-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code"];
    let text = argument.text.as_str();
    if OPTIONS.contains(&text) {
        return rest.next().map(|next| (next.text.as_str(), &next.at));
    }
    let (option, value) = text.split_once('=')?;
    OPTIONS.contains(&option).then_some((value, &argument.at))
}

/// Architecture names within the value of one option; `code=` wins over `arch=`.
fn names(text: &str) -> Vec<&str> {
    let code = text.find("code=").map(|start| &text[start + 5..]);
    let list = code.unwrap_or_else(|| text.strip_prefix("arch=").unwrap_or(text));
    list.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{CompileCommand, CompilerArgument};
    use crate::source::Place;

    fn targets(arguments: &[&str]) -> Vec<String> {
        let at = Place { file: "log".into(), line: 1, column: 1 };
        let command = CompileCommand {
            compiler: "nvcc".into(),
            arguments: arguments.iter().map(|a| CompilerArgument { text: (*a).into(), at: at.clone() }).collect(),
            changes: vec![],
            directory: None,
            sources: vec![],
            at,
            warnings: vec![],
        };
        command.targets().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_spelling_of_the_architecture_is_understood() {
        assert_eq!(targets(&["-gencode=arch=compute_90a,code=sm_90a"]), ["sm_90a"]);
        assert_eq!(targets(&["-gencode", "arch=compute_100a,code=[sm_100a,compute_100a]"]), ["sm_100a"]);
        assert_eq!(targets(&["-arch=sm_90"]), ["sm_90"]);
        assert_eq!(targets(&["--gpu-architecture", "compute_80", "--gpu-code=sm_80,sm_86"]), ["sm_80", "sm_86"]);
        assert_eq!(targets(&["-gencode=arch=compute_120f,code=sm_120f", "-O3"]), ["sm_120f"]);
    }

    #[test]
    fn a_command_without_one_has_none() {
        assert!(targets(&["-std=c++17", "-arch=native"]).is_empty());
    }
}
