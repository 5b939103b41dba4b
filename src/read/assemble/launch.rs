//! Launch facts of one instantiation.

use std::collections::BTreeMap;

use super::Facts;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Fact, Launch, LaunchKind, Origin};
use crate::read::manifest::{Expression, KernelRule, LaunchRule};

pub(super) fn launch(
    rule: Option<&KernelRule>,
    facts: &Facts<'_>,
    printed: &BTreeMap<&'static str, Vec<Fact<u64>>>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<Launch> {
    let own = rule.and_then(|r| r.launch.as_ref());
    let general = &facts.manifest.launch;
    let sources = || own.into_iter().chain(std::iter::once(general));
    let kind = kind(sources().find_map(|r| r.kind), facts);
    // Production's host code decides grid and block: a table that holds 1 stands for nothing.
    let decided = kind.value.decides_its_launch();
    let theirs = || Fact::assumed(1, "production's host code decides it");
    let bounds = bounds(sources(), facts, terms);
    let mut keep = |result: Result<Fact<u64>, Diagnostic>| result.map_err(|problem| problems.push(problem)).ok();
    let threads = keep(match (facts.overrides.launch("threads"), sources().find_map(|r| r.threads.as_ref())) {
        (Some((text, by)), _) => terms.given(text, by),
        (None, _) if printed.contains_key("block") => Ok(product(&printed["block"])),
        (None, Some(expression)) => terms.quantity(expression),
        (None, None) if decided => Ok(theirs()),
        (None, None) => threads_from_bounds(bounds.as_ref(), terms),
    });
    let shared = match facts.overrides.launch("shared_memory") {
        Some((text, by)) => terms.given(text, by),
        None if printed.contains_key("shared_memory") => Ok(product(&printed["shared_memory"])),
        None => shared_memory(sources(), facts, terms),
    };
    let shared_memory = keep(shared);
    let workspace = keep(match (facts.overrides.launch("workspace"), sources().find_map(|r| r.workspace.as_ref())) {
        (Some((text, by)), _) => terms.given(text, by),
        (None, Some(expression)) => terms.quantity(expression),
        (None, None) => Ok(Fact::assumed(0, "nothing says that it needs a workspace")),
    });
    let fill = match facts.overrides.launch("workspace_fill") {
        Some((text, by)) => terms.given(text, by),
        None => Ok(Fact::assumed(
            u64::from(own.unwrap_or(general).workspace_fill),
            "a workspace is zeroed unless told otherwise",
        )),
    };
    let workspace_fill = keep(fill)?;
    let grid = sources().find_map(|r| r.grid.as_ref());
    let grid = match printed.get("grid").filter(|_| facts.overrides.launch("grid").is_none()) {
        Some(extents) => Some(three(extents)),
        None => triple("grid", grid, decided.then(theirs), facts, terms, problems),
    };
    let one = Fact::assumed(1, "nothing says that it is launched in clusters");
    let cluster = match printed.get("cluster").filter(|_| facts.overrides.launch("cluster").is_none()) {
        Some(extents) => Some(three(extents)),
        None => triple("cluster", sources().find_map(|r| r.cluster.as_ref()), Some(one), facts, terms, problems),
    };
    let workspace_fill = Fact { value: u8::try_from(workspace_fill.value).unwrap_or(0), origin: workspace_fill.origin };
    Some(Launch {
        kind,
        threads: threads?,
        grid: grid?,
        cluster: cluster?,
        shared_memory: shared_memory?,
        launch_bounds: bounds,
        workspace: workspace?,
        workspace_fill,
    })
}

/// Extents of x, y and z, 1 where none is given.
fn three(extents: &[Fact<u64>]) -> [Fact<u64>; 3] {
    let one = || Fact::assumed(1, "no more extents are printed");
    std::array::from_fn(|axis| extents.get(axis).cloned().unwrap_or_else(one))
}

/// All extents in one, with the origin of the first.
fn product(extents: &[Fact<u64>]) -> Fact<u64> {
    let value = extents.iter().map(|extent| extent.value).product();
    match extents.first() {
        Some(first) => Fact { value, origin: first.origin.clone() },
        None => Fact::assumed(value, "nothing is printed"),
    }
}

fn kind(said: Option<LaunchKind>, facts: &Facts<'_>) -> Fact<LaunchKind> {
    let value = match said {
        Some(kind) if kind != LaunchKind::Global || facts.signature.global => kind,
        _ if facts.signature.global => LaunchKind::Global,
        _ => LaunchKind::Wrapped,
    };
    Fact { value, origin: facts.signature.text.origin.clone() }
}

/// The text within `__launch_bounds__`: the signature's, exactly, else the manifest's for its wrapper.
fn bounds<'r>(
    mut sources: impl Iterator<Item = &'r LaunchRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Option<Fact<String>> {
    if let Some((text, by)) = facts.overrides.launch("launch_bounds") {
        return Some(Fact::given(text.to_owned(), by));
    }
    facts.signature.launch_bounds.clone().or_else(|| {
        let expression = sources.find_map(|r| r.launch_bounds.as_ref())?;
        Some(Fact::transcribed(expression.get_ref().clone(), terms.spot(expression).place()))
    })
}

fn threads_from_bounds(bounds: Option<&Fact<String>>, terms: &Terms<'_>) -> Result<Fact<u64>, Diagnostic> {
    let question = || Diagnostic::error("K-QUESTION", "how many threads has a block?").help("--launch threads=EXPR");
    let bounds = bounds.ok_or_else(question)?;
    let first = bounds.value.split(',').next().unwrap_or_default().trim();
    let fact = terms.given(first, format!("__launch_bounds__({})", bounds.value)).map_err(|_| question())?;
    let origin = match &bounds.origin {
        Origin::Transcribed { at } => Origin::Read { at: at.clone(), expr: Some(first.to_owned()) },
        other => other.clone(),
    };
    Ok(Fact { value: fact.value, origin })
}

fn shared_memory<'r>(
    sources: impl Iterator<Item = &'r LaunchRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<Fact<u64>, Diagnostic> {
    for rule in sources {
        if let Some(expression) = terms.first(&rule.shared_memory)? {
            return terms.quantity(expression);
        }
    }
    match &facts.dynamic_shared {
        None => Ok(Fact::assumed(0, "nothing says that it uses dynamic shared memory")),
        Some(place) => {
            Err(Diagnostic::error("K-QUESTION", "how many bytes of dynamic shared memory is it launched with?")
                .because(format!("{place} declares `extern __shared__`"))
                .help("--launch shared_memory=EXPR, in bytes (0 if this kernel does not use it)"))
        }
    }
}

fn triple(
    key: &str,
    ruled: Option<&[Expression; 3]>,
    otherwise: Option<Fact<u64>>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<[Fact<u64>; 3]> {
    let result: Result<Vec<_>, Diagnostic> = match (facts.overrides.launch(key), ruled, otherwise) {
        (Some((text, by)), _, _) => {
            let mut parts: Vec<&str> = split_top_level(text);
            parts.resize(3, "1");
            parts.iter().map(|part| terms.given(part.trim(), by.clone())).collect()
        }
        (None, Some(expressions), _) => expressions.iter().map(|e| terms.quantity(e)).collect(),
        (None, None, Some(one)) => Ok(vec![one.clone(), one.clone(), one]),
        (None, None, None) => Err(Diagnostic::error("K-QUESTION", format!("how large is the {key}?"))
            .help(format!("--launch {key}=X,Y,Z, numbers or expressions over the template parameters"))),
    };
    match result {
        Ok(list) => list.try_into().ok(),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Splits at commas outside parentheses.
fn split_top_level(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
