//! Aggregates and their successors, by set operations only.
//!
//! An aggregate is a set of equally labelled states that is closed under the unobserved actions that keep the label. It
//! has `dead` if a run may end in it and `divergent` if a run may stay in it for ever (H. Ouni's thesis, §2.6
//! and §2.7).
//!
//! States inside an atomic sequence are transient: they have no label of their own, but that of the visible state in which
//! the sequence began. So an aggregate also contains the transient states that its visible ones lead to, and one that an
//! observed action inside a sequence leads to may consist of transient states alone. A sequence that never ends is no
//! run: it is no reason for `divergent`. A run-time error inside a sequence stops the run where it is, and
//! there the actual label counts. If it is another one, an arc τ leads to an aggregate of its own, with the mark [`STOPPED`].

use serde::{Deserialize, Serialize};

use crate::model::{Error, Labelled, Maybe};
use crate::observed::{Label, Observed, STOPPED};
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
    /// How many nodes its diagram has; if only representatives are kept, the diagram of these.
    pub nodes: usize,
}

/// An arc that leaves an aggregate: the observed action, or τ, where to, and the label there.
pub type Arc<Set> = (Option<usize>, Label, Set);

/// The states of the set in which exactly the atoms of that label hold, transient ones among them.
fn matching<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed, label: Label) -> Maybe<S::Set> {
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

/// Of the states that equally labelled ones lead to, those with the same label: transient states keep it.
pub fn labelled<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed, label: Label) -> Maybe<S::Set> {
    if !sets.has_transient() {
        return matching(sets, set, observed, label);
    }
    let visible = sets.visible(set)?;
    let transient = sets.minus(set, &visible)?;
    let matching = matching(sets, &visible, observed, label)?;
    Ok(sets.union(&matching, &transient)?)
}

/// The states that steps from states of another label may lead to: a transient state has the label that it comes from.
pub fn entered<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, before: Label, label: Label) -> Maybe<S::Set> {
    if before == label || !sets.has_transient() { Ok(set.clone()) } else { Ok(sets.visible(set)?) }
}

/// What states of one label lead to, by labels, in their order.
pub fn by_next_label<S: Portable>(
    sets: &mut Labelled<S>,
    set: &S::Set,
    observed: &Observed,
    before: Label,
) -> Maybe<Vec<(Label, S::Set)>> {
    if !sets.has_transient() {
        return by_label(sets, set, observed);
    }
    let visible = sets.visible(set)?;
    let transient = sets.minus(set, &visible)?;
    let mut parts = by_label(sets, &visible, observed)?;
    if sets.is_empty(&transient) {
        return Ok(parts);
    }
    match parts.binary_search_by_key(&before, |(label, _)| *label) {
        Ok(place) => parts[place].1 = sets.union(&parts[place].1, &transient)?,
        Err(place) => parts.insert(place, (before, transient)),
    }
    Ok(parts)
}

/// The set by the labels of its states, in their order.
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
///
/// Actions that change nothing that an atom reads are taken to a fixpoint first, without a look at labels. Only transient
/// states whose actual label is another one must not be completed so: what such actions lead to from there may be visible.
pub fn closed<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed, label: Label) -> Maybe<S::Set> {
    if label & STOPPED != 0 {
        return Ok(set.clone());
    }
    if observed.is_quiet {
        return Ok(sets.closure(set, &observed.unobserved)?);
    }
    let actions = sets.divided(observed);
    let mut all = sets.empty();
    let mut new = set.clone();
    while !sets.is_empty(&new) {
        let matching = if sets.has_transient() { matching(sets, &new, observed, label)? } else { new.clone() };
        let differing = sets.minus(&new, &matching)?;
        let matching = sets.closure(&matching, &actions.still)?;
        let differing = transient_closure(sets, &differing, &actions.still)?;
        let found = sets.union(&matching, &differing)?;
        let found = sets.minus(&found, &all)?;
        all = sets.union(&all, &found)?;
        let image = sets.images(&found, &actions.moving)?;
        let image = sets.minus(&image, &all)?;
        new = labelled(sets, &image, observed, label)?;
    }
    Ok(all)
}

/// What actions lead to from transient states within atomic sequences, these states among it.
fn transient_closure<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, actions: &[usize]) -> Maybe<S::Set> {
    let (mut all, mut new) = (set.clone(), set.clone());
    while !sets.is_empty(&new) {
        let image = transient_images(sets, &new, actions)?;
        new = sets.minus(&image, &all)?;
        all = sets.union(&all, &new)?;
    }
    Ok(all)
}

fn transient_images<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, actions: &[usize]) -> Maybe<S::Set> {
    let image = sets.images(set, actions)?;
    let visible = sets.visible(&image)?;
    Ok(sets.minus(&image, &visible)?)
}

/// What there is to know about an aggregate.
pub fn facts<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, label: Label, observed: &Observed) -> Maybe<Facts> {
    let resting = resting(sets, set, label, observed)?;
    let visible = sets.visible(set)?;
    Ok(Facts {
        dead: !sets.is_empty(&resting),
        divergent: label & STOPPED == 0 && is_divergent(sets, set, observed)?,
        states: u128::try_from(sets.count(&visible)?).unwrap_or(u128::MAX),
        nodes: sets.nodes(set)?,
    })
}

/// The states of an aggregate in which a run may end.
pub fn resting<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, label: Label, observed: &Observed) -> Maybe<S::Set> {
    if label & STOPPED != 0 {
        return Ok(set.clone());
    }
    let resting = sets.resting(set)?;
    if !sets.has_transient() {
        return Ok(resting);
    }
    matching(sets, &resting, observed, label)
}

/// The transient state with another actual label than the aggregate's in which a run may be stopped by a run-time error,
/// one for each label.
fn stopped<S: Portable>(
    sets: &mut Labelled<S>,
    set: &S::Set,
    label: Label,
    observed: &Observed,
) -> Maybe<Vec<(Label, S::Set)>> {
    let faulty = sets.faulty(set)?;
    let visible = sets.visible(&faulty)?;
    let transient = sets.minus(&faulty, &visible)?;
    let mut stopped = Vec::new();
    if sets.is_empty(&transient) {
        return Ok(stopped);
    }
    for (actual, part) in by_label(sets, &transient, observed)? {
        if actual != label
            && let Some(state) = sets.pick(&part)?
        {
            stopped.push((actual | STOPPED, sets.only(&state)?));
        }
    }
    Ok(stopped)
}

fn is_divergent<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed) -> Maybe<bool> {
    // Where labels may change, the set is not closed.
    if observed.is_quiet
        && let Some(known) = sets.repeats(set, &observed.unobserved)?
    {
        return Ok(known);
    }
    let cycles = if sets.endless().is_some() {
        visible_after_cycles(sets, set, observed)?
    } else {
        sets.after_cycles(set, &observed.unobserved)?
    };
    Ok(!sets.is_empty(&cycles))
}

/// The visible states of an aggregate that can be reached from cycles of unobserved actions in it that are not inside of
/// one atomic sequence.
pub fn visible_after_cycles<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, observed: &Observed) -> Maybe<S::Set> {
    let mut left = sets.visible(set)?;
    loop {
        let image = visible_images(sets, &left, set, observed)?;
        let next = sets.intersection(&image, &left)?;
        if next == left {
            return Ok(left);
        }
        left = next;
    }
}

/// The visible states of an aggregate that unobserved actions lead to from these, past transient states in it.
pub fn visible_images<S: Portable>(
    sets: &mut Labelled<S>,
    from: &S::Set,
    within: &S::Set,
    observed: &Observed,
) -> Maybe<S::Set> {
    let mut found = sets.empty();
    let mut passed = sets.empty();
    let mut new = from.clone();
    while !sets.is_empty(&new) {
        let image = sets.images_within(&new, &observed.unobserved, within)?;
        let visible = sets.visible(&image)?;
        found = sets.union(&found, &visible)?;
        let transient = sets.minus(&image, &visible)?;
        new = sets.minus(&transient, &passed)?;
        passed = sets.union(&passed, &new)?;
    }
    Ok(found)
}

/// The visible states of a set from which runs of unobserved actions that pass a visible state of the set again and again
/// stay in the aggregate.
pub fn visible_before_cycles<S: Portable>(
    sets: &mut Labelled<S>,
    set: &S::Set,
    within: &S::Set,
    observed: &Observed,
) -> Maybe<S::Set> {
    let mut left = sets.visible(set)?;
    loop {
        let before = visible_preimages(sets, &left, within, observed)?;
        let next = sets.intersection(&before, &left)?;
        if next == left {
            return Ok(left);
        }
        left = next;
    }
}

/// The visible states of an aggregate from which unobserved actions lead to these, past transient states in it.
pub fn visible_preimages<S: Portable>(
    sets: &mut Labelled<S>,
    to: &S::Set,
    within: &S::Set,
    observed: &Observed,
) -> Maybe<S::Set> {
    let mut found = sets.empty();
    let mut passed = sets.empty();
    let mut new = to.clone();
    while !sets.is_empty(&new) {
        let before = sets.preimages(&new, &observed.unobserved, within)?;
        let visible = sets.visible(&before)?;
        found = sets.union(&found, &visible)?;
        let transient = sets.minus(&before, &visible)?;
        new = sets.minus(&transient, &passed)?;
        passed = sets.union(&passed, &new)?;
    }
    Ok(found)
}

/// The aggregates in which runs begin, one for each label of initial states.
pub fn first<S: Portable>(sets: &mut Labelled<S>, observed: &Observed) -> Maybe<Vec<(Label, S::Set)>> {
    let initial = sets.initial()?;
    if sets.has_transient() {
        accept_atomic(sets, &initial, observed)?;
    }
    let parts = by_label(sets, &initial, observed)?;
    parts.into_iter().map(|(label, part)| Ok((label, closed(sets, &part, observed, label)?))).collect()
}

/// The graph can be built although the model has atomic sequences.
fn accept_atomic<S: Portable>(sets: &mut Labelled<S>, initial: &S::Set, observed: &Observed) -> Maybe<()> {
    let refuse = |why: &str| Err(Error::Unsupported(why.into()));
    let visible = sets.visible(initial)?;
    if visible != *initial {
        return refuse("an initial state of the model is inside an atomic sequence");
    }
    let Some(endless) = sets.endless().cloned() else { return Ok(()) };
    for action in &observed.actions {
        let repeated = sets.preimage(&endless, *action, &endless)?;
        if !sets.is_empty(&repeated) {
            return refuse("an observed action can be repeated for ever inside an atomic sequence that does not end");
        }
    }
    Ok(())
}

/// What arcs may be labelled with: the observed actions, and τ where labels may change.
pub fn arc_labels(observed: &Observed) -> impl Iterator<Item = Option<usize>> {
    observed.actions.iter().copied().map(Some).chain((!observed.is_quiet).then_some(None))
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
    for action in arc_labels(observed) {
        look()?;
        arcs.extend(arcs_by(sets, set, label, action, observed)?);
    }
    Ok(arcs)
}

/// The arcs that leave an aggregate by an observed action, or those with τ.
pub fn arcs_by<S: Portable>(
    sets: &mut Labelled<S>,
    set: &S::Set,
    label: Label,
    action: Option<usize>,
    observed: &Observed,
) -> Maybe<Vec<Arc<S::Set>>> {
    let mut arcs = Vec::new();
    if label & STOPPED != 0 {
        return Ok(arcs);
    }
    let Some(action) = action else {
        let others = departing(sets, set, label, observed)?;
        for (label, part) in by_label(sets, &others, observed)? {
            arcs.push((None, label, closed(sets, &part, observed, label)?));
        }
        if sets.has_transient() {
            arcs.extend(stopped(sets, set, label, observed)?.into_iter().map(|(label, state)| (None, label, state)));
        }
        return Ok(arcs);
    };
    let image = sets.image(set, action)?;
    for (label, part) in by_next_label(sets, &image, observed, label)? {
        for part in cut(sets, part, observed.parts)? {
            arcs.push((Some(action), label, closed(sets, &part, observed, label)?));
        }
    }
    Ok(arcs)
}

/// The aggregate of that label that an action, or τ, leads to; none if there is no such arc.
pub fn successor<S: Portable>(
    sets: &mut Labelled<S>,
    (set, label): (&S::Set, Label),
    action: Option<usize>,
    to: Label,
    observed: &Observed,
) -> Maybe<Option<S::Set>> {
    if to & STOPPED != 0 {
        let stopped = stopped(sets, set, label, observed)?;
        return Ok(stopped.into_iter().find(|(label, _)| *label == to).map(|(_, state)| state));
    }
    let parts = match action {
        Some(action) => {
            let image = sets.image(set, action)?;
            by_next_label(sets, &image, observed, label)?
        }
        None => {
            let others = departing(sets, set, label, observed)?;
            by_label(sets, &others, observed)?
        }
    };
    match parts.into_iter().find(|(label, _)| *label == to) {
        Some((label, part)) => Ok(Some(closed(sets, &part, observed, label)?)),
        None => Ok(None),
    }
}

/// The states with another label that unobserved actions lead to from an aggregate.
fn departing<S: Portable>(sets: &mut Labelled<S>, set: &S::Set, label: Label, observed: &Observed) -> Maybe<S::Set> {
    let actions = sets.divided(observed);
    let mut image = sets.images(set, &actions.moving)?;
    if sets.has_transient() {
        // An atomic sequence that has changed the label may end with an action that changes nothing.
        let visible = sets.visible(set)?;
        let transient = sets.minus(set, &visible)?;
        let ends = sets.images(&transient, &actions.still)?;
        image = sets.union(&image, &ends)?;
        image = sets.visible(&image)?;
    }
    let same = matching(sets, &image, observed, label)?;
    Ok(sets.minus(&image, &same)?)
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
