//! Aggregates and their successors, by set operations only.
//!
//! An aggregate is a set of equally labelled states that is closed under the unobserved actions that keep the label. It
//! has `dead` if a run may end in it and `divergent` if a run may stay in it for ever (H. Ouni's thesis, §2.6
//! and §2.7).

use serde::{Deserialize, Serialize};

use crate::model::{Labelled, Maybe};
use crate::observed::{Label, Observed};
use ample_symbolic::Portable;

/// What is found when an aggregate is expanded.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// It contains a state without a successor.
    pub dead: bool,
    /// It contains a cycle of unobserved actions that keep the label.
    pub divergent: bool,
    /// How many states it has.
    pub states: u128,
    /// How many nodes its diagram has.
    pub nodes: usize,
}

/// An arc that leaves an aggregate: the observed action, or τ, where to, and the label there.
pub type Arc<Set> = (Option<usize>, Label, Set);

/// The states of the set with that label.
pub fn labelled<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed, label: Label) -> Maybe<S::Set> {
    let mut left = set.clone();
    for (bit, atom) in observed.atoms.iter().enumerate() {
        if sets.is_empty(&left) {
            break;
        }
        let holding = sets.holding(&left, *atom)?;
        left = if label >> bit & 1 == 1 { holding } else { sets.minus(&left, &holding)? };
    }
    Ok(left)
}

/// The set by labels, in their order.
pub fn by_label<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed) -> Maybe<Vec<(Label, S::Set)>> {
    let mut parts = vec![(0, set.clone())];
    for (bit, atom) in observed.atoms.iter().enumerate() {
        let mut finer = Vec::new();
        for (label, part) in parts {
            let holding = sets.holding(&part, *atom)?;
            let others = sets.minus(&part, &holding)?;
            finer.push((label, others));
            finer.push((label | 1 << bit, holding));
        }
        finer.retain(|(_, part)| !sets.is_empty(part));
        parts = finer;
    }
    parts.retain(|(_, part)| !sets.is_empty(part));
    parts.sort_by_key(|(label, _)| *label);
    Ok(parts)
}

/// All that equally labelled states reach by unobserved actions without a change of the label.
pub fn closed<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed, label: Label) -> Maybe<S::Set> {
    if observed.is_quiet {
        return Ok(sets.closure(set, &observed.unobserved)?);
    }
    let mut all = set.clone();
    let mut new = set.clone();
    while !sets.is_empty(&new) {
        let image = sets.images(&new, &observed.unobserved)?;
        let image = sets.minus(&image, &all)?;
        new = labelled(sets, &image, observed, label)?;
        all = sets.union(&all, &new)?;
    }
    Ok(all)
}

/// What there is to know about an aggregate.
pub fn facts<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed) -> Maybe<Facts> {
    let resting = sets.resting(set)?;
    Ok(Facts {
        dead: !sets.is_empty(&resting),
        divergent: is_divergent(sets, set, observed)?,
        states: u128::try_from(sets.count(set)?).unwrap_or(u128::MAX),
        nodes: sets.nodes(set)?,
    })
}

fn is_divergent<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed) -> Maybe<bool> {
    // Where labels may change, the set is not closed.
    if observed.is_quiet
        && let Some(known) = sets.repeats(set, &observed.unobserved)?
    {
        return Ok(known);
    }
    let cycles = sets.after_cycles(set, &observed.unobserved)?;
    Ok(!sets.is_empty(&cycles))
}

/// The aggregates in which runs begin, one for each label of initial states.
pub fn first<S: Portable>(sets: &mut Labelled<S>, observed: &Observed) -> Maybe<Vec<(Label, S::Set)>> {
    let initial = sets.initial()?;
    let parts = by_label(sets, &initial, observed)?;
    parts.into_iter().map(|(label, part)| Ok((label, closed(sets, &part, observed, label)?))).collect()
}

/// The arcs that leave an aggregate.
pub fn successors<S: Portable>(
    sets: &mut Labelled<S>,
    set: &S::Set,
    label: Label,
    observed: &Observed,
    look: &mut dyn FnMut() -> Maybe<()>,
) -> Maybe<Vec<Arc<S::Set>>> {
    let mut arcs = Vec::new();
    for action in &observed.actions {
        look()?;
        let image = sets.image(set, *action)?;
        for (label, part) in by_label(sets, &image, observed)? {
            for part in cut(sets, part, observed.parts)? {
                arcs.push((Some(*action), label, closed(sets, &part, observed, label)?));
            }
        }
    }
    if !observed.is_quiet {
        look()?;
        let image = sets.images(set, &observed.unobserved)?;
        let same = labelled(sets, &image, observed, label)?;
        let others = sets.minus(&image, &same)?;
        for (label, part) in by_label(sets, &others, observed)? {
            arcs.push((None, label, closed(sets, &part, observed, label)?));
        }
    }
    Ok(arcs)
}

/// At most so many disjoint parts: see [`Observed::split`].
fn cut<S: Portable>(sets: &mut Labelled<S>, set: S::Set, parts: usize) -> Maybe<Vec<S::Set>> {
    let mut done = Vec::new();
    let mut left = set;
    while done.len() + 1 < parts {
        match cut_once(sets, &left)? {
            Some((first, rest)) => {
                done.push(first);
                left = rest;
            }
            None => break,
        }
    }
    done.push(left);
    Ok(done)
}

/// Two parts, cut on the first level where the states differ.
pub fn cut_once<S: Portable>(sets: &mut Labelled<S>, set: &S::Set) -> Maybe<Option<(S::Set, S::Set)>> {
    for level in 0..sets.levels() {
        let (low, high) = sets.halves(set, level)?;
        if !sets.is_empty(&low) && !sets.is_empty(&high) {
            return Ok(Some((low, high)));
        }
    }
    Ok(None)
}
