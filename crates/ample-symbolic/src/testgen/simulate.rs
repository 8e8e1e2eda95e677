//! Simulation of generated sequences: what follows from the values that are given, and the validation of sequences by the
//! reference interpreter.
//!
//! Three-valued simulation tells which bits have the same value however the others are chosen. Beside that every sequence is
//! completed at random, several times, and performed by the interpreter; in each of these runs the targets must hold.

use ample_boolean::{Lit, TernaryValues};
use ample_model::{Expr, Interpreter, Reason, State};
use ample_random::Random;

use super::choose::Given;
use super::{Generator, Sequence, not_encoded};
use crate::error::Maybe;

impl Generator<'_> {
    /// The sequence with all that follows from what is given.
    pub(super) fn completed(&self, before: usize, mut given: Vec<Given>) -> Result<Sequence, Reason> {
        if let Some(first) = given.first_mut() {
            self.complete_initial(first)?;
        }
        for cycle in 1..given.len() {
            self.parts.diagrams.budget().check()?;
            let values = self.ternary(&given[cycle - 1], &given[cycle]);
            for (bit, next) in self.functional.next.iter().enumerate() {
                let value = &mut given[cycle][bit];
                *value = value.or(values.of(*next));
            }
        }
        Ok(Sequence { before, given })
    }

    /// What all initial states with these values have in common.
    fn complete_initial(&self, given: &mut Given) -> Maybe<()> {
        let states = self.parts.diagrams.minterm(&literals(given))?.and(&self.initial)?;
        for (bit, value) in (0..).zip(given.iter_mut()) {
            if value.is_none() {
                let holds = self.parts.diagrams.now(bit)?;
                *value = match (states.is_subset(&holds)?, states.is_disjoint(&holds)?) {
                    (true, _) => Some(true),
                    (false, true) => Some(false),
                    (false, false) => None,
                };
            }
        }
        Ok(())
    }

    pub(super) fn ternary(&self, now: &Given, next: &Given) -> TernaryValues {
        let start = self.encoding.next_bits.start;
        self.encoding.dag.ternary(&|bit| {
            let known = if bit < start { now.get(bit as usize) } else { next.get((bit - start) as usize) };
            known.copied().flatten()
        })
    }

    /// For each cycle whether a condition holds in it, if that does not depend on what is open.
    pub fn holds(&mut self, sequence: &Sequence, condition: &Expr) -> Result<Vec<Option<bool>>, Reason> {
        let (lit, _) = self.encoding.condition_within(self.system, condition).map_err(not_encoded)?;
        Ok(self.values(sequence, &[lit]).into_iter().map(|values| values[0]).collect())
    }

    /// The formulas of conditions, for [`values`](Self::values).
    pub fn formulas(&mut self, conditions: &[Expr]) -> Result<Vec<Lit>, Reason> {
        let formula = |condition| self.encoding.condition_within(self.system, condition).map(|(lit, _)| lit);
        conditions.iter().map(formula).collect::<Result<_, _>>().map_err(not_encoded)
    }

    /// For each cycle the values of formulas, as far as they do not depend on what is open.
    pub fn values(&self, sequence: &Sequence, formulas: &[Lit]) -> Vec<Vec<Option<bool>>> {
        let none = Given::new();
        let in_cycle = |given: &Given| {
            let values = self.ternary(given, &none);
            formulas.iter().map(|lit| values.of(*lit)).collect()
        };
        sequence.given.iter().map(in_cycle).collect()
    }

    /// The values of all cells of variables in a cycle, by their slots, as far as they are known.
    pub fn cells(&self, sequence: &Sequence, cycle: usize) -> Vec<Option<i64>> {
        let given = &sequence.given[cycle];
        let state = self.encoding.state(&|bit| given[bit as usize].unwrap_or(false));
        let known = |slot: usize| self.encoding.bits_of_slot(slot).all(|bit| given[bit as usize].is_some());
        state.globals.iter().enumerate().map(|(slot, value)| known(slot).then_some(*value)).collect()
    }

    /// Performs the sequence with the reference interpreter, with the values that are open chosen at random, several times:
    /// the targets must hold in each of these runs.
    pub(super) fn validate(&mut self, sequence: &Sequence, targets: &[Expr]) -> Result<(), Reason> {
        let mut random = Random::new(self.options.seed);
        for _ in 0..self.options.completions.max(1) {
            self.perform(sequence, targets, &mut random)?;
        }
        Ok(())
    }

    fn perform(&mut self, sequence: &Sequence, targets: &[Expr], random: &mut Random) -> Result<(), Reason> {
        let interpreter = Interpreter::new(self.system);
        let states = self.parts.diagrams.minterm(&literals(&sequence.given[0]))?.and(&self.initial)?;
        let Some([mut bits, _]) = states.pick_step_with(&mut || random.one_in(2)) else {
            return Err(wrong("it begins with no initial state"));
        };
        let mut state = self.state(&bits);
        let start = interpreter.number_of(&state).and_then(|number| interpreter.initial_state(number));
        if start.and_then(Result::ok).as_ref() != Some(&state) {
            return Err(wrong("its first state is none of the interpreter's initial states"));
        }
        for (cycle, given) in sequence.given.iter().enumerate() {
            self.parts.diagrams.budget().check()?;
            if cycle > 0 {
                let next = self.random_step(&bits, given, random)?;
                let start = self.encoding.next_bits.start;
                let value = |bit: u32| if bit < start { bits[bit as usize] } else { next[(bit - start) as usize] };
                let successor = interpreter.step(&state, &self.encoding.taken(&value));
                let expected = self.state(&next);
                if !successor.violations.is_empty() || successor.state.as_ref() != Some(&expected) {
                    return Err(wrong(&format!("the step to cycle {cycle} is another one")));
                }
                (bits, state) = (next, expected);
            }
            if bits.iter().zip(given).any(|(value, given)| given.is_some_and(|given| given != *value)) {
                return Err(wrong(&format!("values in cycle {cycle} are others")));
            }
            if let Some(target) = cycle.checked_sub(sequence.before).and_then(|number| targets.get(number))
                && !interpreter.evaluate(&state, None, target).is_ok_and(|value| value != 0)
            {
                return Err(wrong(&format!("the target of cycle {cycle} does not hold")));
            }
        }
        Ok(())
    }

    fn state(&self, bits: &[bool]) -> State {
        self.encoding.state(&|bit| bits[bit as usize])
    }

    /// The next state with the given values and any others that are possible.
    fn random_step(&mut self, now: &[bool], given: &Given, random: &mut Random) -> Result<Vec<bool>, Reason> {
        let mut next: Vec<bool> = given.iter().map(|value| value.unwrap_or_else(|| random.one_in(2))).collect();
        let start = self.encoding.next_bits.start;
        for (part, chosen) in self.parts.choices() {
            if chosen.iter().all(|(bit, _)| given[*bit as usize].is_some()) {
                continue;
            }
            let conjunct = self.parts.conjunct(part)?.clone();
            let mut known = Vec::new();
            for literal in conjunct.literals().iter().filter(|literal| !chosen.contains(literal)) {
                let value = |bit: u32| if bit < start { now[bit as usize] } else { next[(bit - start) as usize] };
                known.push((
                    *literal,
                    match literal {
                        (bit, true) => self.encoding.dag.evaluate(self.functional.next[*bit as usize], &value),
                        (bit, false) => now[*bit as usize],
                    },
                ));
            }
            let given = chosen.iter().filter_map(|literal| Some((*literal, given[literal.0 as usize]?)));
            known.extend(given);
            let left = conjunct.relation.and(&self.parts.diagrams.minterm(&known)?)?;
            let Some([_, values]) = left.pick_step_with(&mut || random.one_in(2)) else {
                return Err(wrong("a choice has no value"));
            };
            chosen.iter().for_each(|(bit, _)| next[*bit as usize] = values[*bit as usize]);
        }
        let values = self.encoding.dag.values(&|bit| {
            if bit < start { now.get(bit as usize) == Some(&true) } else { next[(bit - start) as usize] }
        });
        Ok(self.functional.next.iter().map(|lit| values.of(*lit)).collect())
    }
}

fn literals(given: &Given) -> Vec<((u32, bool), bool)> {
    (0..).zip(given).filter_map(|(bit, value)| Some(((bit, false), (*value)?))).collect()
}

fn wrong(what: &str) -> Reason {
    Reason::Internal(format!("a generated sequence does not do what it should: {what}"))
}
