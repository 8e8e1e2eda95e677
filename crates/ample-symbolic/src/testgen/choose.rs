//! The second stage of test generation: values for inputs, forward through the sets that the backward search found.
//!
//! As the thesis prints it (section 4.4), the algorithm loses inputs that only a target speaks of, and guesses values of
//! flip-flops that the sets do not depend on although later values of others do. So the bits that are *needed* in each cycle
//! are determined first, backward: those that its set depends on, and those that the parts of the next step read which give
//! values to needed bits of the next cycle. Exactly these get values, forward: a bit that is defined gets the value of its
//! definition, one that is not gets one with which the state is in its set. A bit that is not needed may have any value.
//!
//! A cell is needed as a whole: some combinations of its bits may be no value.

use ample_model::Reason;

use super::Generator;
use crate::diagram::Bdd;
use crate::error::Maybe;
use crate::joint::Literal;

/// The values of bits, as far as they are given.
pub(super) type Given = Vec<Option<bool>>;

impl Generator<'_> {
    /// Values of the needed bits in each cycle, such that every run with these values goes through the sets.
    pub(super) fn choose(&mut self, sets: &[Bdd]) -> Result<Vec<Given>, Reason> {
        let steps = self.needs(sets)?;
        let Some(first) = sets.first() else { return Ok(Vec::new()) };
        let Some([start, _]) = first.and(&self.initial)?.pick_step() else { return Err(lost()) };
        let mut chosen = vec![given(&steps[0].needed, &start)];
        for (set, step) in sets[1..].iter().zip(&steps[1..]) {
            let before = &chosen[chosen.len() - 1];
            let states = self.after(before, step, set)?;
            let Some([_, next]) = states.pick_step() else { return Err(lost()) };
            chosen.push(given(&step.needed, &next));
        }
        Ok(chosen)
    }

    /// For each cycle what is needed, and the parts of the step that leads there.
    fn needs(&mut self, sets: &[Bdd]) -> Maybe<Vec<Step>> {
        let mut steps = Vec::new();
        let mut read: Vec<u32> = Vec::new();
        for (cycle, set) in sets.iter().enumerate().rev() {
            let mut needed = vec![false; self.encoding.bits as usize];
            let bits = set.literals().into_iter().map(|(bit, _)| bit).chain(read.drain(..));
            self.need(&mut needed, bits.collect::<Vec<_>>());
            let mut parts = Vec::new();
            if cycle > 0 {
                // What the parts read of the next state is needed there, and has parts of its own.
                loop {
                    let literals: Vec<Literal> = numbers(&needed).map(|bit| (bit, true)).collect();
                    parts = self.parts.needed(&literals)?;
                    let mut more = Vec::new();
                    read.clear();
                    for part in &parts {
                        for (bit, is_next) in self.parts.conjunct(*part)?.literals() {
                            if *is_next { more.push(*bit) } else { read.push(*bit) }
                        }
                    }
                    if !self.need(&mut needed, more) {
                        break;
                    }
                }
            }
            steps.push(Step { needed, parts });
        }
        steps.reverse();
        Ok(steps)
    }

    /// The cells of these bits are needed. True if some were not before.
    fn need(&self, needed: &mut [bool], bits: impl IntoIterator<Item = u32>) -> bool {
        let mut is_new = false;
        for bit in bits {
            if !needed[bit as usize] {
                is_new = true;
                self.cell_of[bit as usize].clone().for_each(|bit| needed[bit as usize] = true);
            }
        }
        is_new
    }

    /// The states of a set after a step from the given values, over next bits.
    fn after(&mut self, before: &Given, step: &Step, set: &Bdd) -> Maybe<Bdd> {
        let mut values: Vec<(Literal, bool)> = Vec::new();
        let mut others = Vec::new();
        for part in &step.parts {
            let conjunct = self.parts.conjunct(*part)?.clone();
            let now = conjunct.literals().iter().filter(|(_, is_next)| !is_next);
            let now = now.filter_map(|(bit, _)| Some(((*bit, false), before[*bit as usize]?)));
            let now: Vec<(Literal, bool)> = now.collect();
            let rest = conjunct.relation.restrict(&self.parts.diagrams.minterm(&now)?)?;
            match rest.literals()[..] {
                [(bit, true)] => values.push(((bit, true), rest == self.parts.diagrams.next(bit)?)),
                _ => others.push(rest),
            }
        }
        // Two parts may contradict each other; then there is no such state.
        values.sort_unstable();
        values.dedup();
        if values.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Ok(self.parts.diagrams.constant(false));
        }
        let mut states = set.primed()?.and(&self.parts.diagrams.minterm(&values)?)?;
        for other in others {
            states = states.and(&other)?;
        }
        Ok(states)
    }
}

/// What a cycle needs.
struct Step {
    /// For each bit whether it is needed.
    needed: Vec<bool>,
    /// The parts of the step that leads to it.
    parts: Vec<usize>,
}

fn numbers(needed: &[bool]) -> impl Iterator<Item = u32> + '_ {
    (0..).zip(needed).filter(|(_, is_needed)| **is_needed).map(|(bit, _)| bit)
}

fn given(needed: &[bool], values: &[bool]) -> Given {
    needed.iter().zip(values).map(|(is_needed, value)| is_needed.then_some(*value)).collect()
}

fn lost() -> Reason {
    Reason::Internal("the way through the sets of the backward search is lost".into())
}
