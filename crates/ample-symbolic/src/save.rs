//! Liveness as safety: a fair cycle is a state that is met again (Biere, Artho and Schuppan).
//!
//! A state has a copy of itself beside it. At some moment, guessed, the state is saved there; from then on a flag for
//! each fairness condition says whether it was met. A fair cycle is found when the state is the saved one again, after
//! at least one step, and all flags are set: that is reachability. The number of variables is doubled, so each should
//! stand beside its copy in the order.

use std::cell::OnceCell;

use crate::diagram::{Bdd, Diagrams, Maybe};
use crate::fair::Fairness;
use crate::reach::{Effort, Run, run_to};
use crate::space::{Companion, Space, SpaceSets, Step};

/// A space whose states can be saved.
pub struct Saving {
    space: Space,
    /// The pair that says that a state was saved.
    saved: u32,
    /// The saved state has come back, and all was met in between.
    goal: Bdd,
}

/// A flag: its pair, and what sets it.
struct Flag<'a> {
    pair: u32,
    /// The states that do, when they are left.
    states: Bdd,
    /// The steps that do.
    steps: &'a [usize],
}

impl Saving {
    /// Of a space with these conditions, of which at least one is of justice. Only states of `within` are left. `copies`
    /// has each pair that a state consists of with the one that its copy is kept in, and `moving` those that the companion
    /// writes.
    pub fn of(
        space: &Space,
        within: &Bdd,
        fairness: &Fairness,
        (copies, moving): (&[(u32, u32)], &[u32]),
    ) -> Maybe<Saving> {
        let diagrams = &space.diagrams;
        let saved = diagrams.add_pairs(1);
        let (flags, all_met) = flags(diagrams, fairness)?;
        let mut steps = Vec::new();
        for (number, step) in space.steps.iter().enumerate() {
            let step = Step { relation: step.relation.and(within)?, ..step.clone() };
            steps.push(flagged(diagrams, number, &step, &flags, saved)?);
        }
        let mut nothing = diagrams.now(saved)?.not();
        let mut same = diagrams.now(saved)?;
        let mut unset = diagrams.constant(true);
        for (pair, copy) in copies.iter().rev() {
            nothing = nothing.minus(&diagrams.now(*copy)?)?;
            same = same.and(&diagrams.now(*pair)?.iff(&diagrams.now(*copy)?)?)?;
        }
        for flag in &flags {
            unset = unset.minus(&diagrams.now(flag.pair)?)?;
        }
        let initial = space.initial.and(&unset)?.and(&nothing.or(&same)?)?;
        let companion = Some(saving(space, copies, moving, saved)?);
        let goal = same.and(&all_met)?;
        let clusters = OnceCell::new();
        Ok(Saving { space: Space { initial, steps, clusters, companion, ..space.clone() }, saved, goal })
    }

    /// A shortest run to a fair cycle, and the cycle, both in the set.
    pub fn lasso(&self, set: &Bdd, effort: &mut Effort) -> Maybe<Option<(Run, Run)>> {
        let from = self.space.initial.and(set)?;
        let mut reached = from.clone();
        let mut frontier = from.clone();
        while frontier.is_disjoint(&self.goal)? {
            effort.note(&frontier);
            effort.posts += 1;
            frontier = self.space.post(&frontier)?.and(set)?.minus(&reached)?;
            if frontier.is_false() {
                return Ok(None);
            }
            reached = reached.or(&frontier)?;
        }
        let goal = self.goal.and(&reached)?;
        let Some(run) = run_to(&mut SpaceSets::new(&self.space), &from, &reached, &goal)? else { return Ok(None) };
        Ok(Some(self.split(run)))
    }

    /// The run up to where the state is saved, and on from there.
    fn split(&self, run: Run) -> (Run, Run) {
        let is_saved = |state: &[bool]| state[self.saved as usize];
        let mut prefix = Run { start: run.start, steps: run.steps };
        let turn = if is_saved(&prefix.start) {
            0
        } else {
            prefix.steps.iter().position(|(_, state)| is_saved(state)).map_or(prefix.steps.len(), |place| place + 1)
        };
        let steps = prefix.steps.split_off(turn);
        let cycle = Run { start: prefix.end().to_vec(), steps };
        (prefix, cycle)
    }
}

/// The flags, and when all that is wanted was met.
fn flags<'f>(diagrams: &Diagrams, fairness: &'f Fairness) -> Maybe<(Vec<Flag<'f>>, Bdd)> {
    let mut flags = Vec::new();
    let mut all_met = diagrams.constant(true);
    for condition in &fairness.justice {
        let pair = diagrams.add_pairs(1);
        all_met = all_met.and(&diagrams.now(pair)?)?;
        flags.push(Flag { pair, states: condition.states.clone(), steps: &condition.steps });
    }
    for condition in &fairness.compassion {
        let (asked, taken) = (diagrams.add_pairs(1), diagrams.add_pairs(1));
        all_met = all_met.and(&diagrams.now(asked)?.not().or(&diagrams.now(taken)?)?)?;
        flags.push(Flag { pair: asked, states: condition.states.clone(), steps: &[] });
        flags.push(Flag { pair: taken, states: diagrams.constant(false), steps: &condition.steps });
    }
    Ok((flags, all_met))
}

/// The step, which sets flags once the state is saved.
fn flagged(diagrams: &Diagrams, number: usize, step: &Step, flags: &[Flag<'_>], saved: u32) -> Maybe<Step> {
    let saved = diagrams.now(saved)?;
    let mut relation = step.relation.clone();
    let mut writes = step.writes.clone();
    for flag in flags {
        let met = if flag.steps.contains(&number) { saved.clone() } else { saved.and(&flag.states)? };
        let value = diagrams.now(flag.pair)?.or(&met)?;
        relation = relation.and(&diagrams.next(flag.pair)?.iff(&value)?)?;
        writes.push(flag.pair);
    }
    Ok(Step { relation, written: diagrams.written(&writes), writes, ..step.clone() })
}

/// The companion, which may save the state that a step has led to.
fn saving(space: &Space, copies: &[(u32, u32)], moving: &[u32], saved: u32) -> Maybe<Companion> {
    let diagrams = &space.diagrams;
    let (is_saved, is_saved_then) = (diagrams.now(saved)?, diagrams.next(saved)?);
    let mut keeps = is_saved.iff(&is_saved_then)?;
    let mut saves = is_saved_then.minus(&is_saved)?;
    let mut writes = moving.to_vec();
    for (pair, copy) in copies.iter().rev() {
        let (now, then) = (diagrams.now(*copy)?, diagrams.next(*copy)?);
        keeps = keeps.and(&now.iff(&then)?)?;
        // What the companion writes has its new value in the next state; steps have written theirs already.
        let value = if moving.contains(pair) { diagrams.next(*pair)? } else { diagrams.now(*pair)? };
        saves = saves.and(&value.iff(&then)?)?;
        writes.push(*copy);
    }
    writes.push(saved);
    let mut relation = keeps.or(&saves)?;
    if let Some(companion) = &space.companion {
        relation = relation.and(&companion.relation)?;
    }
    Ok(Companion { relation, written: diagrams.written(&writes) })
}
