//! `krepro explain`: the long text of a code, or the meaning of build output.

use std::io::Read;

use camino::Utf8PathBuf;
use serde_json::json;

use super::{Failure, Session};
use crate::diag::{Diagnostic, Severity};
use crate::exit::Exit;
use crate::explain::{Catalogue, Codes, Explained, Explanation, Known, explain};
use crate::sys;

/// Explain a code of krepro's, or pasted output of a build or of a run
///
/// CODE is a code as findings and errors show it (K-S09, or S09). A file, or `-` for standard input, is output of nvcc, ptxas,
/// the linkers or a program: each message that is known is told with its cause and its remedy, the first error first.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The code, a file with output, or `-` for standard input; without it, all codes are listed
    #[arg(value_name = "CODE|FILE|-")]
    what: Option<String>,
}

impl Explain {
    /// Runs it.
    ///
    /// # Errors
    /// An unknown code (2), or input that cannot be read (74).
    pub fn run(self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let codes = Codes::builtin().map_err(|e| bug(&e))?;
        let Some(what) = self.what else { return list(session, &codes) };
        if let Some(code) = codes.find(&what) {
            if session.global.json {
                session.print_json(&json!({ "version": 1, "code": code }))?;
            } else {
                let (title, text) = (&code.title, code.text.trim());
                writeln!(session.out(), "{}: {title}\n\n{text}\n\nSource: {}", code.code, code.source)?;
            }
            return Ok(Exit::Success);
        }
        let path = Utf8PathBuf::from(&what);
        if what != "-" && (looks_like_a_code(&what) || session.system.read(&path).is_err()) {
            return Err(Failure::input(unknown(&what, &codes)));
        }
        let mut bytes = Vec::new();
        sys::open(session.system, &path)?.stream.read_to_end(&mut bytes)?;
        let catalogue = Catalogue::builtin().map_err(|e| bug(&e))?;
        let found = explain(&String::from_utf8_lossy(&bytes), &catalogue, &Known::default());
        if session.global.json {
            session.print_json(&json!({ "version": 1, "explanation": found }))?;
        } else {
            output(session, &found)?;
        }
        Ok(if found.messages.iter().all(|m| m.cause.is_none()) { Exit::Draft } else { Exit::Success })
    }
}

fn bug(error: &dyn std::error::Error) -> Failure {
    Failure { exit: Exit::Bug, diagnostics: Diagnostic::error("K-BUG", error.to_string()).into() }
}

fn looks_like_a_code(text: &str) -> bool {
    text.starts_with("K-") || text.starts_with("k-")
}

fn unknown(what: &str, codes: &Codes) -> Diagnostic {
    let near = codes.near(what);
    let diagnostic =
        Diagnostic::error("K-USAGE", format!("`{what}` is no code of krepro and no file that can be read"))
            .help("`krepro explain` lists all codes; `krepro explain -` explains pasted output");
    if near.is_empty() { diagnostic } else { diagnostic.help(format!("near it: {}", near.join(", "))) }
}

fn list(session: &mut Session<'_>, codes: &Codes) -> Result<Exit, Failure> {
    if session.global.json {
        session.print_json(&json!({ "version": 1, "codes": codes.all() }))?;
        return Ok(Exit::Success);
    }
    let width = codes.all().iter().map(|code| code.code.len()).max().unwrap_or(0);
    for code in codes.all() {
        writeln!(session.out(), "{:width$}  {}", code.code, code.title)?;
    }
    Ok(Exit::Success)
}

fn output(session: &mut Session<'_>, found: &Explanation) -> Result<(), Failure> {
    for message in &found.messages {
        one(session, message)?;
    }
    if found.messages.is_empty() {
        writeln!(session.out(), "Nothing in it is known to krepro.")?;
    }
    if found.others > 0 {
        writeln!(session.out(), "{} more warnings or notes, of which nothing is known.", found.others)?;
    }
    Ok(())
}

fn one(session: &mut Session<'_>, message: &Explained) -> Result<(), Failure> {
    let word = match message.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let out = session.out();
    writeln!(out, "{word}: {}", message.text)?;
    let at = message.at.as_deref().map(|at| format!("{at}, ")).unwrap_or_default();
    let count = if message.count > 1 { format!(", and {} like it", message.count - 1) } else { String::new() };
    writeln!(out, "  at {at}line {} of the output{count}", message.line)?;
    for line in &message.instantiations {
        writeln!(out, "  in {line}")?;
    }
    match &message.cause {
        Some(cause) => writeln!(out, "  cause: {cause}")?,
        None => writeln!(out, "  cause: not known to krepro")?,
    }
    for remedy in &message.remedy {
        writeln!(out, "  remedy: {remedy}")?;
    }
    if !message.rules.is_empty() {
        writeln!(out, "  before the build: krepro check ({})", message.rules.join(", "))?;
    }
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ColorChoice;

    use super::Explain;
    use crate::cli::{Global, Session};
    use crate::exit::Exit;
    use crate::sys::Fake;

    fn run(fake: &Fake, what: Option<&str>, json: bool) -> (Result<Exit, Exit>, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let global = Global { json, color: ColorChoice::Never };
        let exit = {
            let mut session = Session::with(fake, global, &mut out, &mut err);
            Explain { what: what.map(str::to_owned) }.run(&mut session).map_err(|failure| failure.exit)
        };
        (exit, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_code_is_told_at_length_however_it_is_typed() {
        for typed in ["K-S09", "s09", "k-s09"] {
            let (exit, out) = run(&Fake::new(), Some(typed), false);
            assert_eq!(exit, Ok(Exit::Success));
            assert!(out.starts_with("K-S09: Bytes delivered") && out.contains("Source: mbarrier"), "{out}");
        }
        let (_, out) = run(&Fake::new(), Some("K-S09"), true);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["code"]["code"], "K-S09");
    }

    #[test]
    fn an_unknown_code_is_an_input_error() {
        assert_eq!(run(&Fake::new(), Some("K-S99"), false).0, Err(Exit::Input));
        assert_eq!(run(&Fake::new(), Some("no-such-file"), false).0, Err(Exit::Input));
    }

    #[test]
    fn pasted_output_is_explained_and_what_nobody_knows_is_said() {
        let paste = |text: &str| Fake { input: text.as_bytes().to_vec(), ..Fake::new() };
        let (exit, out) = run(&paste("nvcc fatal   : Unknown option '--expt-foo'\n"), Some("-"), false);
        assert_eq!(exit, Ok(Exit::Success));
        assert!(out.contains("remedy: behind -Xcompiler"), "{out}");
        let (exit, out) = run(&paste("nvcc fatal   : Something new\n"), Some("-"), false);
        assert_eq!(exit, Ok(Exit::Draft));
        assert!(out.contains("cause: not known to krepro"), "{out}");
    }

    #[test]
    fn without_a_word_all_codes_are_listed() {
        let (exit, out) = run(&Fake::new(), None, false);
        assert_eq!(exit, Ok(Exit::Success));
        assert!(out.lines().count() > 10 && out.contains("K-S36"), "{out}");
    }
}
