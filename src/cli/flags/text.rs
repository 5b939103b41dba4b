//! The words of `krepro flags`.

use serde_json::json;

use crate::cli::{Failure, Session};
use crate::read::log::{Fields, Recovered};

/// What was chosen and why, what changed, and what else was there.
pub fn explain(session: &mut Session<'_>, recovered: &Recovered) -> Result<(), Failure> {
    let command = &recovered.command;
    let err = session.err();
    writeln!(err, "{}: {} {}", command.at, command.compiler, command.sources.join(" "))?;
    writeln!(err, "  chosen: {}", recovered.why)?;
    for change in &command.changes {
        let at = change.at.as_ref().map(|p| format!("{}:{} ", p.line, p.column)).unwrap_or_default();
        let verb = match (change.now.is_empty(), change.own) {
            (true, false) => "dropped",
            (false, false) => "changed",
            (true, true) => "left to krepro",
            (false, true) => "changed by krepro",
        };
        let now = if change.now.is_empty() { String::new() } else { format!(" → {}", change.now.join(" ")) };
        writeln!(err, "  {verb}: {at}{}{now}: {}", change.was.join(" "), change.why)?;
    }
    if !recovered.others.is_empty() {
        writeln!(err, "  other commands:")?;
    }
    for other in recovered.others.iter().take(20) {
        let what =
            if other.sources.is_empty() { other.output.clone().unwrap_or_default() } else { other.sources.join(" ") };
        writeln!(err, "    {}: {:?} {what}", other.at, other.kind)?;
    }
    if recovered.others.len() > 20 || recovered.beyond > 0 {
        writeln!(err, "    and {} more", recovered.others.len().saturating_sub(20) + recovered.beyond)?;
    }
    writeln!(err)?;
    session.draw(&recovered.diagnostics)?;
    Ok(())
}

/// All that is known, as JSON.
pub fn document(recovered: &Recovered, absent: &[String]) -> serde_json::Value {
    json!({
        "version": 1,
        "verdict": recovered.verdict,
        "why": recovered.why,
        "command": recovered.command,
        "logged": {
            "kind": recovered.logged.kind,
            "style": recovered.logged.style,
            "arguments": recovered.logged.argv().skip(1).collect::<Vec<_>>(),
            "output": recovered.logged.output(),
            "launchers": recovered.logged.before.iter().map(|w| w.text.as_str()).collect::<Vec<_>>(),
            "fields": Fields::of(&recovered.logged),
        },
        "missing": recovered.missing,
        "absent_paths": absent,
        "others": recovered.others,
        "beyond": recovered.beyond,
        "diagnostics": recovered.diagnostics,
    })
}

/// One word for a POSIX shell.
pub fn quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
