//! Split-K and groups of one instantiation.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::Facts;
use super::terms::Terms;
use crate::diag::{Diagnostic, Diagnostics};
use crate::model::{ElementType, Fact, GroupIndex, Groups, SplitK, SplitOrder, SplitThrough};
use crate::read::manifest::{Expression, GroupsRule, SplitRule};
use crate::source::Place;

/// The first rule whose condition holds.
fn first<'r, R>(
    rules: &'r [R],
    when: fn(&R) -> Option<&Expression>,
    terms: &Terms<'_>,
    problems: &mut Diagnostics,
) -> Option<&'r R> {
    rules.iter().find(|rule| {
        terms.holds(when(rule)).unwrap_or_else(|problem| {
            problems.push(problem);
            false
        })
    })
}

/// A value that is one of some names: as the user gave it, or as the manifest has it.
fn named<'a, T: Deserialize<'a>>(
    key: &str,
    ruled: Option<T>,
    facts: &'a Facts<'_>,
    place: &Place,
) -> Result<Option<Fact<T>>, Diagnostic> {
    match facts.overrides.contract(key) {
        Some((text, by)) => match T::deserialize(IntoDeserializer::<Error>::into_deserializer(text)) {
            Ok(value) => Ok(Some(Fact::given(value, by))),
            Err(why) => Err(Diagnostic::error("K-OPTION", format!("{by}: {why}"))),
        },
        None => Ok(ruled.map(|value| Fact::read(value, place.clone(), None))),
    }
}

fn quantity(
    key: &str,
    ruled: Option<&Expression>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
) -> Result<Option<Fact<u64>>, Diagnostic> {
    match facts.overrides.contract(key) {
        Some((text, by)) => terms.given(text, by).map(Some),
        None => ruled.map(|expression| terms.quantity(expression)).transpose(),
    }
}

/// What came out well; a problem goes to the others.
fn kept<T>(result: Result<T, Diagnostic>, problems: &mut Diagnostics) -> Option<T> {
    result.map_err(|problem| problems.push(problem)).ok()
}

/// How the reduction is shared; nothing where there is one split.
pub(super) fn split_k(
    rules: &[SplitRule],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<SplitK> {
    let rule = first(rules, |rule| rule.when.as_ref(), terms, problems);
    let count = kept(quantity("split_k.count", rule.map(|r| &r.count), facts, terms), problems);
    let length = quantity("split_k.length", rule.and_then(|r| r.length.as_ref()), facts, terms);
    let length = kept(length, problems);
    // Without a count nobody is asked the rest.
    count.as_ref().is_none_or(Option::is_some).then_some(())?;
    let through = kept(named("split_k.through", rule.map(|r| r.through), facts, place), problems);
    let partial = kept(named("split_k.partial", rule.map(|r| r.partial), facts, place), problems);
    let sum = kept(named("split_k.sum", rule.map(|r| r.sum), facts, place), problems);
    let order = kept(named("split_k.order", rule.map(|r| r.order), facts, place), problems);
    let (count, length, through, partial, sum, order) = (count??, length?, through?, partial?, sum?, order?);
    if count.value < 2 {
        return None;
    }
    let why = "nothing says how the splits are added";
    Some(SplitK {
        count,
        length,
        through: through.unwrap_or_else(|| Fact::assumed(SplitThrough::Workspace, why)),
        partial: partial.unwrap_or_else(|| Fact::assumed(ElementType::F32, why)),
        sum: sum.unwrap_or_else(|| Fact::assumed(ElementType::F32, why)),
        order: order.unwrap_or_else(|| Fact::assumed(SplitOrder::Any, why)),
    })
}

/// Numbers with commas between them.
fn numbers(key: &str, facts: &Facts<'_>, terms: &Terms<'_>) -> Result<Option<Fact<Vec<u64>>>, Diagnostic> {
    let Some((text, by)) = facts.overrides.contract(key) else { return Ok(None) };
    let list: Result<Vec<_>, _> = text.split(',').map(|one| terms.given(one.trim(), by.clone())).collect();
    Ok(Some(Fact::given(list?.into_iter().map(|fact| fact.value).collect(), by)))
}

/// The groups of rows; nothing where all rows multiply with all of b.
pub(super) fn groups(
    rules: &[GroupsRule],
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Groups> {
    let rule = first(rules, |rule| rule.when.as_ref(), terms, problems);
    assembled(rule, facts, terms, place).map_err(|problem| problems.push(problem)).ok().flatten()
}

fn assembled(
    rule: Option<&GroupsRule>,
    facts: &Facts<'_>,
    terms: &Terms<'_>,
    place: &Place,
) -> Result<Option<Groups>, Diagnostic> {
    let rows = match (numbers("group_rows", facts, terms)?, rule) {
        (Some(rows), _) => rows,
        (None, Some(rule)) => {
            let list: Result<Vec<_>, _> = rule.rows.iter().map(|expression| terms.quantity(expression)).collect();
            Fact::read(list?.into_iter().map(|fact| fact.value).collect(), place.clone(), None)
        }
        (None, None) => return Ok(None),
    };
    let align =
        quantity("group_align", rule.and_then(|r| r.align.as_ref()), facts, terms)?.map_or(1, |fact| fact.value.max(1));
    let stride = quantity("group_stride", rule.and_then(|r| r.stride.as_ref()), facts, terms)?;
    let mut next = 0_u64;
    let first = rows.value.iter().map(|rows| {
        let first = next.div_ceil(align).saturating_mul(align);
        next = stride.as_ref().map_or(first.saturating_add(*rows), |stride| first.saturating_add(stride.value));
        first
    });
    let first = Fact { value: first.collect(), origin: rows.origin.clone() };
    let index = named::<GroupIndex>("group_index", rule.and_then(|r| r.index), facts, place)?;
    Ok(Some(Groups { first, rows, index }))
}
