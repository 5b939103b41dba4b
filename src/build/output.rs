//! The first error in the output of nvcc and what it runs, with its place.

use serde::Serialize;

/// An error of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompilerError {
    /// The message, without place and kind.
    pub message: String,
    /// File, as printed.
    pub file: Option<String>,
    /// Line in it, from 1.
    pub line: Option<usize>,
    /// Where the templates were instantiated that led there: file and line, innermost first.
    pub through: Vec<(String, usize)>,
    /// Line of the output, from 1.
    pub output_line: usize,
}

/// Finds the first error; `None` in an output without one.
pub fn first_error(output: &str) -> Option<CompilerError> {
    let lines: Vec<&str> = output.lines().collect();
    let (index, mut error) = lines.iter().enumerate().find_map(|(index, line)| Some((index, error(line)?)))?;
    error.output_line = index + 1;
    // g++ prints the instantiations before the error, the front end after it.
    let before = lines[..index].iter().rev().take_while(|l| l.contains("required from") || l.contains("In "));
    let after = lines[index + 1..].iter().take_while(|line| !is_error(line) && !line.contains("error detected"));
    error.through = before.chain(after).filter_map(|line| instantiation(line)).collect();
    Some(error)
}

fn is_error(line: &str) -> bool {
    error(line).is_some()
}

fn error(line: &str) -> Option<CompilerError> {
    let plain = |message: &str| CompilerError {
        message: message.trim().to_owned(),
        file: None,
        line: None,
        through: vec![],
        output_line: 0,
    };
    for tool in [
        "ptxas error   :",
        "ptxas fatal   :",
        "nvlink error   :",
        "nvlink fatal   :",
        "nvcc fatal   :",
        "nvcc error   :",
    ] {
        if let Some(message) = line.strip_prefix(tool) {
            return Some(plain(message));
        }
    }
    // ptxas /tmp/x.ptx, line 41; error   : Instruction …
    if let Some((place, message)) = line.split_once("; error   :") {
        let (file, number) = place.strip_prefix("ptxas ")?.rsplit_once(", line ")?;
        return Some(CompilerError { file: Some(file.into()), line: number.parse().ok(), ..plain(message) });
    }
    for kind in ["error", "catastrophic error", "fatal error"] {
        if let Some(found) = placed(line, kind) {
            return Some(CompilerError { file: Some(found.0.into()), line: Some(found.1), ..plain(found.2) });
        }
    }
    for mark in ["undefined reference to", "cannot find -l"] {
        if line.contains(mark) {
            return Some(plain(line.rsplit_once(": ").map_or(line, |_| line)));
        }
    }
    None
}

/// `FILE(LINE): error: …` of the front end, `FILE(LINE): error #N: …`, `FILE:LINE:COLUMN: error: …` of the host compiler.
fn placed<'l>(line: &'l str, kind: &str) -> Option<(&'l str, usize, &'l str)> {
    let (place, rest) = line.split_once(&format!(": {kind}"))?;
    let message = match rest.strip_prefix(": ") {
        Some(message) => message,
        None => rest.strip_prefix(" #")?.split_once(": ")?.1,
    };
    if let Some((file, number)) = place.strip_suffix(')').and_then(|p| p.rsplit_once('(')) {
        return Some((file, number.parse().ok()?, message));
    }
    let (front, last) = place.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    match front.rsplit_once(':').map(|(file, number)| (file, number.parse::<usize>())) {
        Some((file, Ok(number))) => Some((file, number, message)),
        _ => Some((front, last, message)),
    }
}

/// `… at line 12 of FILE` of the front end, `FILE:12:5:   required from …` of g++.
fn instantiation(line: &str) -> Option<(String, usize)> {
    if let Some((_, tail)) = line.split_once(" at line ") {
        let (number, file) = tail.split_once(" of ")?;
        return Some((file.trim().trim_end_matches(['"', ':']).to_owned(), number.trim().parse().ok()?));
    }
    let (place, _) = line.split_once("required from")?;
    let mut parts = place.split(':');
    Some((parts.next()?.trim().to_owned(), parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{CompilerError, first_error};

    fn found(output: &str) -> CompilerError {
        first_error(output).unwrap()
    }

    fn place(output: &str) -> (String, usize) {
        let error = found(output);
        (error.file.unwrap_or_default(), error.line.unwrap_or_default())
    }

    #[test]
    fn the_front_end_names_file_and_line() {
        let text = "/h/a.cuh(41): warning #177-D: variable unused\n\
            /h/a.cuh(67): error: static assertion failed with \"too long\"\n\
            \x20     static_assert(N <= 8, \"too long\");\n\
            \x20     ^\n\
            \x20         detected during:\n\
            \x20           instantiation of \"void f<N>() [with N=9]\" at line 12 of /h/b.cuh\n\
            \x20           instantiation of \"void g<N>() [with N=9]\" at line 30 of ../x.cu\n\n\
            1 error detected in the compilation of \"../x.cu\".\n";
        assert_eq!(place(text), ("/h/a.cuh".into(), 67));
        assert_eq!(found(text).through, [("/h/b.cuh".into(), 12), ("../x.cu".into(), 30)]);
        assert_eq!(found(text).output_line, 2);
    }

    #[test]
    fn other_tools_are_understood() {
        assert_eq!(place("../x.cu:7:10: fatal error: nothing.h: No such file or directory\n"), ("../x.cu".into(), 7));
        assert_eq!(place("../x.cu(3): error #20: identifier \"y\" is undefined\n"), ("../x.cu".into(), 3));
        assert_eq!(place("ptxas /tmp/t.ptx, line 41; error   : Instruction 'x' not supported\n").1, 41);
        assert_eq!(
            found("nvcc fatal   : Unsupported gpu architecture 'compute_104a'\n").message,
            "Unsupported gpu architecture 'compute_104a'"
        );
        assert!(found("/usr/bin/ld: cannot find -lfoo: No such file\n").message.contains("-lfoo"));
        assert!(found("x.cu:(.text+0x1): undefined reference to `cuInit'\n").message.contains("cuInit"));
    }

    #[test]
    fn g_plus_plus_tells_instantiations_first() {
        let text = "a.h: In instantiation of 'void f(T)':\nx.cu:9:4:   required from here\na.h:2:3: error: no match\n";
        assert_eq!(found(text).through, [("x.cu".into(), 9)]);
    }

    #[test]
    fn an_output_without_error_has_none() {
        assert_eq!(first_error("x.cu(3): warning #20-D: hm\nptxas info    : 0 bytes gmem\n"), None);
    }
}
