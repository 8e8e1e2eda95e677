//! Evidence without the transitions that its formula does not need.
//!
//! What is found on a simplified net is expanded to transitions of the net that was asked about, some of which do nothing
//! for the formula. Parts of a run are left out, large ones first, as long as what is left still shows what it should,
//! which is looked at by the meaning of the formula, marking by marking. Where that is not known (not every state has
//! a branch, if there are very many) the run stays as it is.

use ample_logic::explain::{PathFormula, sufficient};
use ample_logic::{Atom, Formula, Unary, semantics};

use super::{Evidence, fired};
use crate::net::{Condition, Net};
use ample_budget::Budget;

/// Longer runs stay as they are: every part that is left out costs a look at all of the rest.
const LONG: usize = 2_000;

impl Evidence {
    /// Leaves out what the formula does not need, as far as time allows. Atom `i` is condition `i`.
    pub fn shorten(&mut self, net: &Net, atoms: &[Condition], budget: &Budget) {
        let work = Work { net, atoms, budget };
        let start = net.initial();
        if self.steps() <= LONG && work.shows(self, &start) {
            work.shorten(self, &start);
        }
    }
}

struct Work<'a> {
    net: &'a Net,
    atoms: &'a [Condition],
    budget: &'a Budget,
}

impl Work<'_> {
    /// Leaves out parts of the run, and then of what branches off it.
    fn shorten(&self, evidence: &mut Evidence, start: &[u64]) {
        let mut size = evidence.prefix.len();
        while size > 0 {
            let mut at = 0;
            while at < evidence.prefix.len() {
                if self.budget.check().is_err() {
                    return;
                }
                match self.without(evidence, start, at, size) {
                    Some(shorter) => *evidence = shorter,
                    None => at += size,
                }
            }
            size /= 2;
        }
        for (after, branch) in &mut evidence.branches {
            let run: Vec<u32> = evidence.prefix.iter().chain(&evidence.cycle).take(*after).copied().collect();
            if let Some(marking) = fired(self.net, start.to_vec(), &run) {
                self.shorten(branch, &marking);
            }
        }
    }

    /// The evidence without that part of its run, and without what cannot fire then; if it shows the same.
    fn without(&self, evidence: &Evidence, start: &[u64], at: usize, size: usize) -> Option<Evidence> {
        let mut marking = fired(self.net, start.to_vec(), &evidence.prefix[..at])?;
        let mut prefix = evidence.prefix[..at].to_vec();
        for transition in evidence.prefix.iter().skip(at + size) {
            if let Some(next) = fired(self.net, marking.clone(), &[*transition]) {
                marking = next;
                prefix.push(*transition);
            }
        }
        let (before, now) = (evidence.prefix.len(), prefix.len());
        let mut branches = Vec::new();
        for (after, branch) in &evidence.branches {
            let after = match *after {
                after if after <= at => after,
                after if after >= before => after - before + now,
                // Where its marking has gone to is not known.
                _ => return None,
            };
            branches.push((after, branch.clone()));
        }
        let shorter = Evidence { prefix, branches, ..evidence.clone() };
        self.shows(&shorter, start).then_some(shorter)
    }

    /// The evidence shows, from that marking on, that its formula has its value.
    fn shows(&self, evidence: &Evidence, start: &[u64]) -> bool {
        let Evidence { formula, holds, prefix, cycle, .. } = evidence;
        let path = match formula {
            Formula::Unary(Unary::Exists, path) if *holds => path,
            Formula::Unary(Unary::All, path) if !*holds => path,
            _ => return prefix.is_empty() && cycle.is_empty() && self.value(evidence, 0, formula, *holds, start),
        };
        let mut markings = vec![start.to_vec()];
        for transition in prefix.iter().chain(cycle) {
            match fired(self.net, markings[markings.len() - 1].clone(), &[*transition]) {
                Some(next) => markings.push(next),
                None => return false,
            }
        }
        let last = &markings[markings.len() - 1];
        if evidence.stutters && self.net.transitions.iter().any(|transition| transition.is_enabled(last)) {
            return false;
        }
        if !cycle.is_empty() && *last != markings[prefix.len()] {
            return false;
        }
        self.is_path(evidence, path, &markings)
    }

    /// The markings are such a path, its operands having the value of the evidence.
    fn is_path(&self, evidence: &Evidence, path: &Formula, markings: &[Vec<u64>]) -> bool {
        let holds = evidence.holds;
        let (last, is_endless) = (markings.len() - 1, !evidence.cycle.is_empty());
        let value = |at: usize, operand: &Formula| self.value(evidence, at, operand, holds, &markings[at]);
        match PathFormula::showing(path, holds) {
            Some(PathFormula::Next(f)) => last == 1 && !is_endless && value(1, &f),
            Some(PathFormula::Until(f, g)) => !is_endless && value(last, &g) && (0..last).all(|at| value(at, &f)),
            Some(PathFormula::Release(f, g)) => {
                let decided = is_endless || evidence.stutters || value(last, &f);
                let count = if is_endless { last } else { last + 1 };
                decided && (0..count).all(|at| value(at, &g))
            }
            None => false,
        }
    }

    /// A formula has a value in the marking after so many transitions, as can be seen there or on a branch.
    fn value(&self, evidence: &Evidence, after: usize, formula: &Formula, value: bool, marking: &[u64]) -> bool {
        if formula.is_propositional() {
            let holds = |_: usize, atom: Atom| self.atoms.get(atom.0 as usize).is_some_and(|c| c.holds(marking));
            return semantics::holds_with(formula, 0, 1, &holds) == Ok(value);
        }
        let seen = |operand: &Formula, value: bool| self.value(evidence, after, operand, value, marking);
        match formula {
            Formula::Unary(Unary::Not, f) => seen(f, !value),
            Formula::Binary(op, f, g) => sufficient(*op, value).iter().any(|[first, second]| {
                first.is_none_or(|value| seen(f, value)) && second.is_none_or(|value| seen(g, value))
            }),
            _ => evidence.branches.iter().any(|(at, branch)| {
                *at == after && branch.formula == *formula && branch.holds == value && self.shows(branch, marking)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use ample_logic::Binary;

    use super::*;
    use crate::net::{Place, Transition};

    /// Four tokens that go from one place to the next, and the next, each on its own.
    fn lines() -> Net {
        let place =
            |number: u32| Place { name: String::new(), initial: u64::from(number.is_multiple_of(3)), bound: None };
        let step = |from: u32| Transition { name: String::new(), takes: vec![(from, 1)], adds: vec![(from + 1, 1)] };
        let transitions = (0..4).flat_map(|line| [step(3 * line), step(3 * line + 1)]).collect();
        Net { places: (0..12).map(place).collect(), transitions, exclusive: vec![] }
    }

    /// Atom `i`: there is a token in place `i`.
    fn atoms() -> Vec<Condition> {
        (0..12).map(|place| Condition::AtMost { terms: vec![(place, -1)], most: -1 }).collect()
    }

    fn atom(number: u32) -> Formula {
        Formula::Atom(Atom(number))
    }

    fn shortened(mut evidence: Evidence) -> Evidence {
        evidence.shorten(&lines(), &atoms(), &Budget::unlimited());
        evidence
    }

    #[test]
    fn what_other_tokens_do_is_left_out() {
        let run = Evidence::run(&atom(2).finally().exists(), true, vec![2, 4, 0, 6, 3, 1]);
        assert_eq!(shortened(run).prefix, [0, 1]);
        let until = Formula::binary(Binary::Until, atom(0), atom(2)).all();
        assert_eq!(shortened(Evidence::run(&until, false, vec![2, 4, 6, 0])).prefix, [0]);
    }

    #[test]
    fn a_branch_moves_with_the_end_of_its_run() {
        let next = atom(2).next().exists();
        let mut run = Evidence::run(&next.clone().finally().exists(), true, vec![2, 4, 0, 6]);
        run.branches = vec![(4, Evidence::run(&next, true, vec![1]))];
        let short = shortened(run);
        assert_eq!((short.prefix, short.branches[0].0), (vec![0], 1));
    }

    #[test]
    fn a_step_that_a_formula_asks_for_stays() {
        let next = Formula::True.next().exists();
        assert_eq!(shortened(Evidence::run(&next, true, vec![2])).prefix, [2]);
        // A run to where nothing can fire needs all of them.
        let always = (!(atom(0) & atom(2))).globally().exists();
        let mut run = Evidence::run(&always, true, vec![0, 1, 2, 3, 4, 5, 6, 7]);
        run.stutters = true;
        assert_eq!(shortened(run.clone()), run);
    }

    #[test]
    fn what_cannot_be_seen_to_show_it_stays() {
        let deep = atom(2).next().exists().finally().exists();
        let run = Evidence::run(&deep, true, vec![2, 0, 4]);
        assert_eq!(shortened(run.clone()), run);
    }
}
