//! A log, line by line, to the compiler commands in it.

use std::io::{self, BufRead};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::anchor::Family;
use super::context::{self, Context, PastedFile};
use super::dryrun::DryRun;
use super::excerpt;
use super::flagfile;
use super::found::Found;
use super::kind::{self, Kind};
use super::lines::{Line, Lines};
use super::locate::{self, Located, Style};
use super::logical::{Logical, continues, logical};
use super::ninja::Ninja;
use super::nvrtc;
use super::options::Options;
use super::retain::Retained;
use super::secrets;
use super::table::OptionTable;
use super::word::Mapped;

/// What was seen in a log.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The commands, in the order of the log, without repetitions.
    pub commands: Vec<Found>,
    /// Commands that were not kept.
    pub beyond: usize,
    /// Response files whose text stands in the log.
    pub(super) pasted: Vec<PastedFile>,
    /// Lines read.
    pub lines: usize,
    /// Bytes read.
    pub bytes: u64,
    /// The first line whose end was not read, for it is longer than lines are.
    pub long_line: Option<usize>,
}

/// Reads a log to its end.
///
/// # Errors
/// The stream's own.
pub fn scan<R: BufRead>(stream: R, options: &Options) -> io::Result<Scan> {
    let mut scanner = Scanner {
        options,
        table: OptionTable::nvcc(),
        context: Context::default(),
        ninja: Ninja::default(),
        dryrun: DryRun::default(),
        dryrun_line: Logical::default(),
        kept: Retained::default(),
    };
    let mut lines = Lines::new(stream);
    let (mut line, mut before) = (Line::default(), Line::default());
    let (mut count, mut bytes, mut long_line) = (0, 0, None);
    while lines.next_into(&mut line)? {
        if scanner.matters(&line.bytes) {
            let mut whole = logical(std::mem::take(&mut line), &before, &mut lines)?;
            let found = whole.found.take();
            if found.iter().flatten().map(|located| located.arguments.len()).sum::<usize>() > locate::MOST_WORDS {
                long_line = long_line.or(whole.lines.first().map(|l| l.number));
            }
            scanner.line(&whole, found);
            before = whole.lines.into_iter().next_back().unwrap_or_default();
        } else {
            std::mem::swap(&mut line, &mut before);
        }
        if before.cut {
            long_line = long_line.or(Some(before.number));
        }
        count = before.number;
        bytes = before.offset + before.bytes.len() as u64;
    }
    Ok(Scan { long_line, ..scanner.finish(count, bytes) })
}

/// What makes a line worth a closer look.
static NEEDLES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"nvcc|hipcc|clang|NVRTC|nvrtc|#\$ |NVCC_(?:AP|PRE)PEND_FLAGS|(?:Enter|Leav)ing directory|cat |==> |"directory""#)
        .unwrap_or_else(|e| panic!("needles: {e}"))
});

struct Scanner<'o> {
    options: &'o Options,
    table: &'static OptionTable,
    context: Context,
    ninja: Ninja,
    dryrun: DryRun,
    dryrun_line: Logical,
    kept: Retained,
}

impl Scanner<'_> {
    fn matters(&self, bytes: &[u8]) -> bool {
        self.context.pasting()
            || continues(bytes)
            || bytes.ends_with(b"[")
            || context::is_brace(bytes)
            || NEEDLES.is_match(bytes)
            || self.ninja.matters(bytes)
    }

    fn line(&mut self, line: &Logical, found: Option<Vec<Located>>) {
        let bytes = line.text.bytes();
        let body = &bytes[line.from..];
        if self.ninja.matters(bytes)
            && let Some((command, edge)) = self.ninja.line(line)
        {
            self.commands(&command, 0, &edge);
        }
        if let Some((index, folder)) = self.context.line(line)
            && let Some(found) = self.kept.commands.get_mut(index)
        {
            found.directory = Some(folder);
        }
        if body.starts_with(b"#$ ") {
            return self.sub_command(line);
        }
        if flagfile::compiler(body).is_some() {
            self.context.flag_compiler = Some(line.clone());
        }
        if nvrtc::matters(body)
            && let Some(located) = nvrtc::options(&line.text, line.from)
        {
            return self.command(located, &line.text, line);
        }
        for located in found.unwrap_or_else(|| locate::commands(&line.text, line.from)) {
            self.command(located, &line.text, line);
        }
    }

    fn sub_command(&mut self, line: &Logical) {
        let body = line.from + 3;
        if line.text.bytes()[body..].starts_with(b"NVCC_") {
            self.shown_environment();
        }
        if DryRun::begins(&line.text.bytes()[body..]) {
            self.end_dryrun();
        }
        if self.dryrun.is_empty() {
            self.dryrun_line = line.clone();
        }
        self.dryrun.line(&line.text, body);
    }

    /// nvcc shows its environment flags behind the command that was typed with -v or --dryrun: they belong to that one.
    fn shown_environment(&mut self) {
        let environment = &self.context.environment;
        let Some(last) = self.kept.commands.last_mut() else { return };
        let shows = last.arguments.iter().any(|a| a.is("-v") || a.is("--dryrun"));
        if shows && last.from_environment == 0 {
            last.from_environment = environment.add(&last.before, last.at(), &mut last.arguments, self.table);
        }
    }

    /// Rebuilds the command of a run, unless it was typed in the log.
    fn end_dryrun(&mut self) {
        let run = std::mem::take(&mut self.dryrun);
        let typed = run.source().is_some_and(|source| {
            let name = source.rsplit('/').next();
            self.kept.commands.iter().any(|c| c.inputs().any(|input| input.rsplit('/').next() == name))
        });
        if run.is_empty() || typed {
            return;
        }
        if let Some(rebuilt) = run.rebuild() {
            let line = std::mem::take(&mut self.dryrun_line);
            let located = Located::inferred(Family::Nvcc, Style::DryRun, rebuilt.compiler, rebuilt.arguments);
            self.command(located, &Mapped::new(), &line);
        }
    }

    fn commands(&mut self, text: &Mapped, from: usize, line: &Logical) {
        for located in locate::commands(text, from) {
            self.command(located, text, line);
        }
    }

    fn command(&mut self, located: Located, text: &Mapped, line: &Logical) {
        let inferred = matches!(located.style, Style::DryRun | Style::Flags);
        let mut arguments = located.arguments;
        let Some(kind) = kind::kind(located.family, &arguments) else {
            return;
        };
        let kind = if matches!(located.style, Style::Flags | Style::Nvrtc) { Kind::Flags } else { kind };
        let last = arguments.last().and_then(|a| a.words().last()).unwrap_or(&located.compiler);
        let (excerpt, excerpt_offset) = excerpt::of(line, self.options.name.as_str(), located.compiler.at, last);
        let added = if inferred || located.family != Family::Nvcc {
            0
        } else {
            self.context.environment.add(&located.before, located.compiler.at, &mut arguments, self.table)
        };
        let directory =
            context::folder_of(text, located.compiler.at).or_else(|| self.context.directory().map(str::to_owned));
        self.context.command_in_object = Some(self.kept.commands.len());
        let line_cut = line.lines.iter().any(|l| l.cut);
        self.kept.add(
            Found {
                family: located.family,
                kind,
                style: located.style,
                compiler: located.compiler,
                before: located.before.into_iter().map(secrets::masked).collect(),
                arguments,
                cut: located.cut || (line_cut && located.to_the_end),
                mended: line.mended.clone(),
                from_environment: added,
                absent_responses: vec![],
                directory,
                duplicates: vec![],
                excerpt,
                excerpt_offset,
            },
            &located.raw,
            self.options.select.as_ref(),
        );
    }

    fn finish(mut self, lines: usize, bytes: u64) -> Scan {
        if let Some((command, edge)) = self.ninja.end() {
            self.commands(&command, 0, &edge);
        }
        self.end_dryrun();
        if self.kept.commands.is_empty()
            && let Some((located, line)) = flagfile::flags(&self.ninja, self.context.flag_compiler.as_ref())
        {
            self.command(located, &Mapped::new(), &line);
        }
        Scan {
            commands: self.kept.commands,
            pasted: self.context.pasted,
            beyond: self.kept.beyond,
            lines,
            bytes,
            long_line: None,
        }
    }
}
