//! Inputs of a generated sequence that do not matter: they are left open.
//!
//! The second stage gives values to all inputs that the needed functions read, although with the values of others they may not
//! matter any more. So each value is taken away once, from the last cycle to the first, and three-valued simulation shows
//! whether the targets are reached all the same.

use ample_boolean::Lit;
use ample_model::{Expr, Reason};

use super::choose::Given;
use super::{Generator, Sequence};

/// So many nodes are evaluated at most: a sequence stays as it is if there would be more.
const MAX_WORK: usize = 1 << 29;

impl Generator<'_> {
    /// The same sequence, with more inputs open where that is seen.
    pub(super) fn opened(&mut self, sequence: Sequence, targets: &[Expr]) -> Result<Sequence, Reason> {
        let cells = self.inputs();
        let cycles = sequence.cycles();
        let trials = sequence.given.iter().map(|given| cells.iter().filter(|cell| is_given(given, cell)).count());
        let work = trials.sum::<usize>().saturating_mul(cycles).saturating_mul(self.encoding.dag.len());
        if work > MAX_WORK {
            return Ok(sequence);
        }
        let goals = self.formulas(targets)?;
        let goal = |cycle: usize| cycle.checked_sub(sequence.before).and_then(|number| goals.get(number)).copied();
        let mut given = sequence.given.clone();
        // Values that follow are found again, now without those of the second stage.
        if !self.follows(&mut given, None, &goal) {
            return Ok(sequence);
        }
        let initial: Vec<u32> = self.initial.literals().into_iter().map(|(bit, _)| bit).collect();
        for cycle in (0..cycles).rev() {
            self.parts.diagrams.budget().check()?;
            for cell in cells.iter().filter(|cell| is_given(&sequence.given[cycle], cell)) {
                if cycle == 0 && cell.iter().any(|bit| initial.contains(bit)) {
                    continue;
                }
                let mut trial = given.clone();
                cell.iter().for_each(|bit| trial[cycle][*bit as usize] = None);
                if self.follows(&mut trial, Some(cycle), &goal) {
                    given = trial;
                }
            }
        }
        Ok(Sequence { given, ..sequence })
    }

    /// The cells that a test gives a value in every cycle and that may have any: neither defined nor chosen.
    fn inputs(&self) -> Vec<Vec<u32>> {
        let mut is_free = vec![true; self.encoding.bits as usize];
        self.encoding.functions.iter().for_each(|(bit, _)| is_free[*bit as usize] = false);
        self.parts.choices().iter().flat_map(|(_, bits)| bits).for_each(|(bit, _)| is_free[*bit as usize] = false);
        let cells = self.encoding.cells.iter().map(|cell| (cell.first..cell.first + cell.bits).collect::<Vec<u32>>());
        cells.filter(|cell| cell.iter().all(|bit| is_free[*bit as usize])).collect()
    }

    /// Computes what follows from the values of the cycle that has changed, or of all. True if all targets hold and all steps
    /// are possible, that into the cycle included, whatever is open.
    fn follows(&self, given: &mut [Given], changed: Option<usize>, goal: &dyn Fn(usize) -> Option<Lit>) -> bool {
        let is_restricted = !self.encoding.relations.is_empty();
        let first = changed.map_or(0, |cycle| cycle.saturating_sub(1));
        for cycle in first..given.len() {
            let mut next = given.get(cycle + 1).cloned().unwrap_or_default();
            if !next.is_empty() {
                self.encoding.functions.iter().for_each(|(bit, _)| next[*bit as usize] = None);
            }
            let values = self.ternary(&given[cycle], &next);
            if goal(cycle).is_some_and(|goal| values.of(goal) != Some(true)) {
                return false;
            }
            if next.is_empty() {
                break;
            }
            if is_restricted && values.of(self.functional.step) != Some(true) {
                return false;
            }
            for (bit, _) in &self.encoding.functions {
                next[*bit as usize] = values.of(self.functional.next[*bit as usize]);
            }
            // What comes after it was looked at before.
            if changed.is_some_and(|changed| cycle >= changed) && next == given[cycle + 1] {
                break;
            }
            given[cycle + 1] = next;
        }
        true
    }
}

/// All bits of a cell have values.
fn is_given(given: &Given, cell: &[u32]) -> bool {
    cell.iter().all(|bit| given[*bit as usize].is_some())
}
