//! Launch facts of one instantiation.

use std::collections::BTreeMap;

use super::Facts;
use super::seen_launch::{seen, within_dim3};
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{Block, Fact, Launch, LaunchKind, Origin};
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
    let seen = seen(facts, printed, terms);
    let ruled = sources().find_map(|r| r.block.as_ref().map(|list| &list[..]).or(r.threads.as_slice().get(..1)));
    let otherwise = || if decided { Ok(theirs()) } else { most_threads(bounds.as_ref(), terms).map(all_of_them) };
    let unread =
        |index: usize| facts.instantiation.launch.get(index).map(|piece| piece.value.as_str()).filter(|_| !decided);
    let unread_grid = unread(0).filter(|_| seen.grid.is_none() && facts.overrides.launch("grid").is_none());
    let threads = match (facts.overrides.launch("threads"), seen.block, ruled) {
        (Some((text, by)), _, _) => given_extents("threads", text, &by, terms),
        (None, Some(seen), _) => Ok(seen),
        (None, None, Some(list)) => {
            let list = list.iter().map(|e| terms.quantity(e)).collect::<Result<Vec<_>, _>>();
            list.map(|list| in_place_of(unread(1), three(&list)))
        }
        (None, None, None) => otherwise().map(|threads| Block::along_x(threads).extents),
    };
    let threads = threads.map_err(|problem| problems.push(problem)).ok();
    let mut keep = |result: Result<Fact<u64>, Diagnostic>| result.map_err(|problem| problems.push(problem)).ok();
    let shared = match (facts.overrides.launch("shared_memory"), seen.shared_memory) {
        (Some((text, by)), _) => terms.given(text, by),
        (None, Some(seen)) => Ok(seen),
        (None, None) => shared_memory(sources(), facts, terms, kind.value),
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
    let ruled = sources().find_map(|r| r.grid.as_ref());
    let grid = triple("grid", seen.grid, ruled, decided.then(theirs), facts, terms, problems);
    let grid = grid.map(|grid| in_place_of(unread_grid, grid));
    let one = Fact::assumed(1, "nothing says that it is launched in clusters");
    let ruled = sources().find_map(|r| r.cluster.as_ref());
    let cluster = triple("cluster", seen.cluster, ruled, Some(one), facts, terms, problems);
    let workspace_fill = Fact { value: u8::try_from(workspace_fill.value).unwrap_or(0), origin: workspace_fill.origin };
    Some(Launch {
        kind,
        threads: Block { extents: threads? },
        grid: grid?,
        cluster: cluster?,
        shared_memory: shared_memory?,
        most_threads: bounds.as_ref().and_then(|bounds| most_threads(Some(bounds), terms).ok()),
        declared_cluster: declared_cluster(facts, terms),
        launch_bounds: bounds,
        workspace: workspace?,
        workspace_fill,
    })
}

/// Extents of x, y and z; one that is left out is 1, as in `dim3(4)`.
pub(super) fn three(extents: &[Fact<u64>]) -> [Fact<u64>; 3] {
    let one = || match extents.first() {
        Some(first) => Fact { value: 1, origin: first.origin.clone() },
        None => Fact::assumed(1, "no extent is printed"),
    };
    std::array::from_fn(|axis| extents.get(axis).cloned().unwrap_or_else(one))
}

/// Extents that a manifest says where the launch's own text holds something that cannot be read.
fn in_place_of<const N: usize>(unread: Option<&str>, extents: [Fact<u64>; N]) -> [Fact<u64>; N] {
    match unread {
        Some(text) => extents.map(|fact| {
            let why = format!("`{text}` within the `<<<…>>>` of the text cannot be read: as the scaffold says");
            Fact::assumed(fact.value, why)
        }),
        None => extents,
    }
}

/// `X,Y,Z` of an option; missing extents are 1.
fn given_extents(key: &str, text: &str, by: &str, terms: &Terms<'_>) -> Result<[Fact<u64>; 3], Diagnostic> {
    let mut parts = split_top_level(within_dim3(text));
    if parts.len() > 3 {
        return Err(Diagnostic::error(
            "K-OPTION",
            format!("{by} names {} extents; there are three: x, y and z", parts.len()),
        )
        .help(format!("--launch {key}=X,Y,Z")));
    }
    parts.resize(3, "1");
    let [x, y, z] = [0, 1, 2].map(|axis| terms.given(parts[axis].trim(), by.to_owned()));
    Ok([x?, y?, z?])
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

/// How many threads a launch has of which nothing but the kernel's bound is known: a launch may have fewer.
fn all_of_them(most: Fact<u64>) -> Fact<u64> {
    Fact::assumed(most.value, "nothing says the threads of a block: as many as __launch_bounds__ allows")
}

fn most_threads(bounds: Option<&Fact<String>>, terms: &Terms<'_>) -> Result<Fact<u64>, Diagnostic> {
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

/// `__cluster_dims__` of the header in numbers; missing extents are 1.
fn declared_cluster(facts: &Facts<'_>, terms: &Terms<'_>) -> Option<[Fact<u64>; 3]> {
    let text = facts.signature.cluster_dims.as_ref()?;
    let at = text.origin.place()?;
    let mut parts = split_top_level(&text.value);
    parts.resize(3, "1");
    let extent = |part: &str| {
        let value = terms.given(part.trim(), String::new()).ok()?.value;
        Some(Fact::read(value, at.clone(), Some(part.trim().to_owned())))
    };
    parts.into_iter().map(extent).collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn shared_memory<'r>(
    sources: impl Iterator<Item = &'r LaunchRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    kind: LaunchKind,
) -> Result<Fact<u64>, Diagnostic> {
    for rule in sources {
        if let Some(expression) = terms.first(&rule.shared_memory)? {
            return terms.quantity(expression);
        }
    }
    match &facts.dynamic_shared {
        None => Ok(Fact::assumed(0, "nothing says that it uses dynamic shared memory")),
        Some(_) if kind.decides_its_launch() => Ok(Fact::assumed(0, "the kernel's own host code decides it")),
        Some(place) => {
            Err(Diagnostic::error("K-QUESTION", "how many bytes of dynamic shared memory is it launched with?")
                .because(format!("{place} declares `extern __shared__`"))
                .help("--launch shared_memory=EXPR, in bytes (0 if this kernel does not use it)"))
        }
    }
}

fn triple(
    key: &str,
    seen: Option<[Fact<u64>; 3]>,
    ruled: Option<&[Expression; 3]>,
    otherwise: Option<Fact<u64>>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<[Fact<u64>; 3]> {
    let said = facts.overrides.launch(key);
    if let (None, Some(seen)) = (&said, seen) {
        return Some(seen);
    }
    let result: Result<Vec<_>, Diagnostic> = match (said, ruled, otherwise) {
        (Some((text, by)), _, _) => given_extents(key, text, &by, terms).map(Vec::from),
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
pub(super) fn split_top_level(text: &str) -> Vec<&str> {
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
