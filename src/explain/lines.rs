//! Build output cut into messages: which tool said what, where.

use std::sync::LazyLock;

use regex::Regex;

use super::Tool;
use crate::diag::Severity;

/// One message of a build, with the lines that belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Who says it.
    pub tool: Tool,
    /// How much it matters, in the tool's own view.
    pub severity: Severity,
    /// File and line as printed, where it names them.
    pub at: Option<(String, usize)>,
    /// The message without its prefix.
    pub text: String,
    /// Lines below it that belong to it: source, caret, instantiations.
    pub around: Vec<String>,
    /// Line of the output, from 1.
    pub line: usize,
}

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

pattern!(
    EDG,
    r"^(?P<file>[^()]+)\((?P<line>\d+)\): (?P<severity>catastrophic error|[Ee]rror|[Ww]arning|remark)(?: #[\w-]+)?: (?P<text>.*)$"
);
pattern!(
    GCC,
    r"^(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:\d+:)? (?P<severity>fatal error|error|warning|note): (?P<text>.*)$"
);
pattern!(
    PTXAS,
    r"^ptxas (?:(?P<file>.+?), line (?P<line>\d+); )?(?P<severity>fatal|error|warning|info)\s*: (?P<text>.*)$"
);
pattern!(NVCC, r"^nvcc (?P<severity>fatal|error|warning)\s*: (?P<text>.*)$");
pattern!(NVLINK, r"^nvlink (?P<severity>fatal|error|warning|info)\s*: (?P<text>.*)$");
pattern!(
    LINKER,
    r"^(?:(?:\S*/)?(?:ld|ld\.bfd|ld\.gold|ld\.lld|mold|collect2)(?: error)?: )?(?:(?P<file>[^:]+):(?:\([^)]*\):)? )?(?P<text>(?:undefined reference to .*|cannot find -l.*|multiple definition of .*))$"
);
pattern!(MISSING, r"^(?P<text>(?:sh: \d+: )?\S+: (?:No such file or directory|not found))$");

/// Cuts output into messages; lines of no known form become messages of [`Tool::Any`], each alone.
pub fn reported(output: &str) -> Vec<Reported> {
    let forms: [(&LazyLock<Option<Regex>>, Tool); 7] = [
        (&PTXAS, Tool::Ptxas),
        (&NVCC, Tool::Nvcc),
        (&NVLINK, Tool::Nvlink),
        (&EDG, Tool::Compiler),
        (&GCC, Tool::Compiler),
        (&LINKER, Tool::Linker),
        (&MISSING, Tool::Compiler),
    ];
    let mut out: Vec<Reported> = Vec::new();
    for (index, raw) in output.lines().enumerate() {
        let line = plain(raw);
        // Source lines, carets and instantiation lists are indented and belong to the message above.
        if line.starts_with([' ', '\t'])
            && let Some(last) = out.last_mut()
            && last.tool == Tool::Compiler
        {
            last.around.push(line.trim().to_owned());
            continue;
        }
        // `ptxas -v` continues a message in an indented line.
        if line.starts_with("    ")
            && let Some(last) = out.last()
            && last.tool == Tool::Ptxas
        {
            let (severity, at) = (last.severity, last.at.clone());
            let text = line.trim().to_owned();
            out.push(Reported { tool: Tool::Ptxas, severity, at, text, around: vec![], line: index + 1 });
            continue;
        }
        let Some((captures, tool)) =
            forms.iter().find_map(|(form, tool)| form.as_ref()?.captures(&line).map(|c| (c, *tool)))
        else {
            if !line.trim().is_empty() {
                out.push(Reported {
                    tool: Tool::Any,
                    severity: Severity::Error,
                    at: None,
                    text: line.trim().to_owned(),
                    around: vec![],
                    line: index + 1,
                });
            }
            continue;
        };
        let severity = match captures.name("severity").map(|m| m.as_str()) {
            Some("warning" | "Warning") => Severity::Warning,
            Some("info" | "note" | "remark") => Severity::Note,
            _ => Severity::Error,
        };
        let file = captures.name("file").map(|m| m.as_str().to_owned());
        let number = captures.name("line").and_then(|m| m.as_str().parse().ok()).unwrap_or(0);
        out.push(Reported {
            tool,
            severity,
            at: file.map(|file| (file, number)),
            text: captures.name("text").map_or("", |m| m.as_str()).trim_end().to_owned(),
            around: vec![],
            line: index + 1,
        });
    }
    out
}

/// Without terminal escapes and control characters: the text is somebody else's.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' {
            if characters.peek() == Some(&'[') {
                characters.next();
                while characters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else if c == '\t' || !c.is_control() {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Reported, reported};
    use crate::diag::Severity;
    use crate::explain::Tool;

    fn one(text: &str) -> Reported {
        let mut all = reported(text);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn each_tools_form_is_known() {
        let front = one("k.cu(12): error: no\n  source\n  ^\n");
        assert_eq!((front.tool, front.at, front.around.len()), (Tool::Compiler, Some(("k.cu".into(), 12)), 2));
        let numbered = one("k.cu(3): warning #20013-D: calling");
        assert_eq!((numbered.severity, numbered.text.as_str()), (Severity::Warning, "calling"));
        let host = one("k.cu:5:10: fatal error: x.h: No such file or directory");
        assert_eq!((host.tool, host.at, host.severity), (Tool::Compiler, Some(("k.cu".into(), 5)), Severity::Error));
        let ptxas = one("ptxas /tmp/x.ptx, line 21; error   : Instruction 'a' not supported");
        assert_eq!((ptxas.tool, ptxas.at), (Tool::Ptxas, Some(("/tmp/x.ptx".into(), 21))));
        let info = one("ptxas info    : (C7508) Potential");
        assert_eq!((info.tool, info.severity), (Tool::Ptxas, Severity::Note));
        assert_eq!(one("nvcc fatal   : Unknown option '-x'").tool, Tool::Nvcc);
        assert_eq!(one("nvlink error   : Undefined reference to 'f' in 'a.o'").tool, Tool::Nvlink);
        assert_eq!(one("/usr/bin/ld: cannot find -lcuda: No such file or directory").tool, Tool::Linker);
        assert_eq!(one("k.cu:(.text+0x1e): undefined reference to `cuInit'").tool, Tool::Linker);
        assert_eq!(one("CUDA error 700").tool, Tool::Any);
    }

    #[test]
    fn escapes_of_a_terminal_are_taken_out() {
        assert_eq!(one("\u{1b}[31mk.cu(1): error: bad\u{7}\u{1b}[0m").text, "bad");
    }
}
