//! `krepro run --shrink`: the smallest shape that still fails, along the leaves that the instantiation has.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Failure, Session, new};
use crate::model::{Checked, Reproducer, Shrunk, Tried};
use crate::render::{self, Rendered};
use crate::store::Folder;

/// Whether the reproducer in a folder, written there already, fails; or why that is not known.
pub(super) type Fails<'f> = &'f mut dyn FnMut(&mut Session<'_>, &Utf8Path, &Reproducer) -> Result<bool, Failure>;

type Leaves = BTreeMap<String, String>;

fn shape(reproducer: &Reproducer) -> [u64; 3] {
    let c = &reproducer.contract;
    [c.m.value, c.n.value, c.k.value]
}

fn named(leaves: &Leaves) -> String {
    leaves.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Values to try in place of `value`: powers of two, and one and two tiles, in ascending order.
fn smaller(value: u64, tiles: &[u64]) -> Vec<u64> {
    let mut list: Vec<u64> = (0..63).map(|bit| 1 << bit).take_while(|x| *x < value).collect();
    list.extend(tiles.iter().flat_map(|tile| [*tile, 2 * tile]).filter(|x| *x < value));
    list.sort_unstable();
    list.dedup();
    list
}

struct Search<'s, 'f> {
    again: new::Again<'s>,
    from: &'s Folder,
    base: &'s Reproducer,
    place: Utf8PathBuf,
    fails: Fails<'f>,
    tried: Vec<Tried>,
}

impl Search<'_, '_> {
    fn checked(&self, session: &Session<'_>, leaves: &Leaves) -> Option<Checked> {
        self.again.with(session, leaves).ok().and_then(Result::ok)
    }

    /// Writes a reproducer of its own: rendered files, copies of what was read, and the record last.
    fn write(
        &self,
        session: &Session<'_>,
        own: &Folder,
        reproducer: &Reproducer,
        rendered: &Rendered,
    ) -> Result<(), Failure> {
        own.write(session.system, rendered)?;
        for input in &reproducer.inputs {
            let copy = self.from.file(&input.copy);
            if session.system.is_file(&copy) {
                session.system.write(&own.file(&input.copy), &session.system.read(&copy)?)?;
            }
        }
        new::write_record(session.system, own, reproducer)
    }

    /// Whether the reproducer with these leaves fails; `false` also where it cannot be made, built or run.
    fn try_one(&mut self, session: &mut Session<'_>, leaves: &Leaves) -> Result<bool, Failure> {
        let Some(checked) = self.checked(session, leaves) else { return Ok(false) };
        let reproducer = checked.reproducer();
        let rendered = render::render(&checked).map_err(Failure::input)?;
        let folder = self.place.join(named(leaves).replace([' ', '.', '='], "_"));
        self.write(session, &Folder::new(&folder), reproducer, &rendered)?;
        let answer = (self.fails)(session, &folder, reproducer);
        let word = match &answer {
            Ok(true) => "fails".to_owned(),
            Ok(false) => "passes".to_owned(),
            Err(failure) => failure.diagnostics.iter().next().map_or("no answer".to_owned(), |d| d.message.clone()),
        };
        writeln!(session.err(), "{}: {word}", named(leaves))?;
        self.tried.push(Tried { leaves: named(leaves), shape: shape(reproducer), answer: word });
        Ok(matches!(answer, Ok(true)))
    }

    /// The smallest value of one leaf that fails with the others as they are, by halving the list of values.
    fn axis(&mut self, session: &mut Session<'_>, best: &mut Leaves, name: &str, value: u64) -> Result<bool, Failure> {
        let tile = &self.base.contract.tile;
        let tiles: Vec<u64> = [&tile.m, &tile.n, &tile.k].into_iter().flatten().map(|fact| fact.value).collect();
        let with = |value: u64| {
            let mut leaves = best.clone();
            leaves.insert(name.to_owned(), value.to_string());
            leaves
        };
        let now = self.checked(session, best).map(|c| shape(c.reproducer()));
        let changes = |leaves: &Leaves| {
            let other = self.checked(session, leaves).map(|c| shape(c.reproducer()));
            other.is_some() && other != now
        };
        let list: Vec<Leaves> = smaller(value, &tiles).into_iter().map(with).filter(changes).collect();
        let (mut low, mut high) = (0, list.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.try_one(session, &list[middle])? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let Some(found) = list.get(high) else { return Ok(false) };
        best.clone_from(found);
        Ok(true)
    }
}

/// Shrinks a reproducer that fails: each leaf that is a number and that changes the shape, one after the other, until none can be
/// made smaller. Every shape that is called failing was built and run, in a folder of its own below the reproducer's.
///
/// # Errors
/// When the folder keeps no site to make it again from (2), or a file cannot be written (74).
pub(super) fn shrink(
    session: &mut Session<'_>,
    folder: &Folder,
    base: &Reproducer,
    fails: Fails<'_>,
) -> Result<Shrunk, Failure> {
    let place = folder.file("shrink");
    // What is missing for another instantiation is said once, and not as "passes".
    let again = new::Again::new(session, folder, base, &place)?;
    let mut search = Search { again, from: folder, base, place, fails, tried: vec![] };
    let mut best = Leaves::new();
    for _ in 0..2 {
        let mut moved = false;
        for (name, fact) in &base.leaves {
            let value = best.get(name).unwrap_or(&fact.value).parse::<u64>();
            if let Ok(value) = value.map_err(|_| ())
                && value > 1
            {
                moved |= search.axis(session, &mut best, name, value)?;
            }
        }
        if !moved {
            break;
        }
    }
    let smallest = search.checked(session, &best).map_or_else(|| shape(base), |c| shape(c.reproducer()));
    let own = if best.is_empty() {
        folder.path().to_string()
    } else {
        search.place.join(named(&best).replace([' ', '.', '='], "_")).to_string()
    };
    Ok(Shrunk { leaves: named(&best), shape: smallest, folder: own, tried: search.tried })
}

#[cfg(test)]
mod tests {
    use super::smaller;

    #[test]
    fn powers_of_two_and_tiles_are_tried() {
        assert_eq!(smaller(200, &[64, 96]), [1, 2, 4, 8, 16, 32, 64, 96, 128, 192]);
        assert_eq!(smaller(1, &[64]), Vec::<u64>::new());
    }
}
