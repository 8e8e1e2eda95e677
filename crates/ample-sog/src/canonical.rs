//! An aggregate as a few of its states, from which it can be made again (Chapter 6 of the thesis, Algorithm 5, after
//! Haddad, Ilié and Klai 2004).
//!
//! In the graph of an aggregate's unobserved steps, every state is reached from a component that none leads to. One
//! state of each such component is kept. Which one depends only on the set, the unobserved actions and the order of the
//! levels. The components are never computed: the set is cut on a level, and from each half goes what the other reaches.
//!
//! The thesis's listing asks whether a part has fewer than one state where it must ask whether it has at most one, and
//! it lets images run where they like. Here paths may leave a part, which they must be allowed to, but not the
//! aggregate.

use serde::{Deserialize, Serialize};

use crate::model::{Labelled, Maybe};
use crate::observed::Observed;
use ample_symbolic::Portable;

/// Which aggregates are kept as representatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Canonical {
    /// None.
    #[default]
    None,
    /// All: less memory for more time.
    Full,
    /// Those that another thread gets.
    ///
    /// The table keeps whole sets. With work stealing every aggregate may be one.
    #[value(name = "send")]
    Sent,
}

/// One state of each component of the aggregate that no other leads to.
pub fn representatives<S: Portable>(sets: &mut Labelled<S>, aggregate: &S::Set, observed: &Observed) -> Maybe<S::Set> {
    reduce(sets, aggregate.clone(), 0, &Inside { aggregate, observed })
}

/// How many nodes there are in the diagram of what is kept of an aggregate, which is given as bytes.
pub fn kept_nodes<S: Portable>(sets: &mut Labelled<S>, bytes: &[u8]) -> Maybe<usize> {
    let kept = sets.decode(bytes)?;
    Ok(sets.nodes(&kept)?)
}

/// Where paths may go.
struct Inside<'a, Set> {
    aggregate: &'a Set,
    observed: &'a Observed,
}

fn reduce<S: Portable>(
    sets: &mut Labelled<S>,
    set: S::Set,
    level: usize,
    inside: &Inside<'_, S::Set>,
) -> Maybe<S::Set> {
    let mut kept = sets.empty();
    let mut work = vec![(set, level)];
    while let Some((set, level)) = work.pop() {
        if sets.is_empty(&set) || level >= sets.levels() || sets.is_single(&set)? {
            kept = sets.union(&kept, &set)?;
            continue;
        }
        let (low, high) = sets.halves(&set, level)?;
        let low = without_reached(sets, low, &high, inside)?;
        let high = without_reached(sets, high, &low, inside)?;
        work.push((low, level + 1));
        work.push((high, level));
    }
    Ok(kept)
}

/// What cannot be reached from these.
fn without_reached<S: Portable>(
    sets: &mut Labelled<S>,
    mut set: S::Set,
    from: &S::Set,
    inside: &Inside<'_, S::Set>,
) -> Maybe<S::Set> {
    if inside.observed.is_quiet {
        let reached =
            if sets.is_empty(&set) { return Ok(set) } else { sets.closure(from, &inside.observed.unobserved)? };
        return Ok(sets.minus(&set, &reached)?);
    }
    let mut reached = from.clone();
    let mut new = from.clone();
    while !sets.is_empty(&new) && !sets.is_empty(&set) {
        let image = sets.images(&new, &inside.observed.unobserved)?;
        let image = sets.intersection(&image, inside.aggregate)?;
        new = sets.minus(&image, &reached)?;
        reached = sets.union(&reached, &new)?;
        set = sets.minus(&set, &new)?;
    }
    Ok(set)
}
