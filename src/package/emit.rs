//! A build as lines for another build system.

use crate::template::shell;

/// A command with the folder that it runs in, what it reads and what it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'s> {
    /// Folder, absolute.
    pub folder: &'s str,
    /// Words.
    pub command: &'s [String],
    /// What it makes, absolute.
    pub output: &'s str,
    /// What it reads, absolute.
    pub input: &'s str,
    /// The file that it writes its dependencies to, absolute.
    pub dependencies: &'s str,
}

/// One line a step, for a shell.
pub fn shell_lines(steps: &[Step<'_>]) -> String {
    steps.iter().map(|step| format!("cd {} && {}\n", shell(step.folder), words(step.command))).collect()
}

/// A `build.ninja` with dependency files.
pub fn ninja(steps: &[Step<'_>]) -> String {
    let mut out = "ninja_required_version = 1.5\n\nrule nvcc\n  command = cd $folder && $words\n  deps = gcc\n  \
                   description = nvcc $out\n"
        .to_owned();
    for step in steps {
        let escaped = |text: &str| text.replace('$', "$$");
        out += &format!(
            "\nbuild {}: nvcc {}\n  depfile = {}\n  folder = {}\n  words = {}\n",
            ninja_path(step.output),
            ninja_path(step.input),
            escaped(step.dependencies),
            escaped(&shell(step.folder)),
            escaped(&words(step.command))
        );
    }
    out
}

fn words(command: &[String]) -> String {
    command.iter().map(|word| shell(word)).collect::<Vec<_>>().join(" ")
}

fn ninja_path(path: &str) -> String {
    path.replace('$', "$$").replace(' ', "$ ").replace(':', "$:")
}

#[cfg(test)]
mod tests {
    use super::{Step, ninja, shell_lines};

    #[test]
    fn words_survive_both_quotings() {
        let command: Vec<String> = ["nvcc", "-DX=a b", "-rpath,$ORIGIN/link"].map(str::to_owned).to_vec();
        let steps = [Step {
            folder: "/a b/build",
            command: &command,
            output: "/a b/build/x",
            input: "/a b/x.cu",
            dependencies: "/a b/build/x.d",
        }];
        assert_eq!(shell_lines(&steps), "cd '/a b/build' && nvcc '-DX=a b' '-rpath,$ORIGIN/link'\n");
        let text = ninja(&steps);
        assert!(text.contains("build /a$ b/build/x: nvcc /a$ b/x.cu\n  depfile = /a b/build/x.d\n"), "{text}");
        assert!(text.contains("words = nvcc '-DX=a b' '-rpath,$$ORIGIN/link'\n"), "{text}");
    }
}
