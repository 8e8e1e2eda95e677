//! Certificates: a proof that bad states are not reachable, as an inductive invariant, and its verification.
//!
//! The verification shares nothing with the search that found the invariant but the encoding of the system. It has a
//! solver of its own, and takes steps move by move, without the inputs by which a [`Machine`]
//! chooses one: the invariant holds initially, no move leads out of it, and nothing bad is in it. What does not fit into
//! the encoding is bad, too: otherwise states would be missing.
//!
//! Beside clauses over state bits an invariant may have facts: formulas over a state and the inputs of a step that are equal
//! in every reachable state, whatever the inputs are.

use ample_boolean::{Dag, Lit, Node, Substitution};
use ample_budget::{Budget, Interrupted};
use serde::Serialize;

use crate::clauses::Clauses;
use crate::ic3::Cube;
use crate::machine::Machine;
use crate::project::cone;
use crate::solver::{Batsat, Literal, Solver};

/// A move: where it is possible, and the next values of the bits that it changes, by their position among the state bits.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where it is possible.
    pub guard: Lit,
    /// The bits that it changes.
    pub updates: Vec<(usize, Lit)>,
}

/// What an invariant is verified against: a system and its bad states.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// All formulas.
    pub dag: &'a Dag,
    /// The state bits, as inputs of the graph.
    pub state: &'a [u32],
    /// The initial states.
    pub initial: Lit,
    /// The moves.
    pub transitions: &'a [Transition],
    /// What must not be.
    pub bad: &'a [Lit],
}

/// Two formulas over a state and the inputs of a step that have the same value in every reachable state.
pub type Fact = (Lit, Lit);

/// Why an invariant was not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotVerified {
    /// It does not hold initially.
    #[error("clause {0} of the invariant does not hold in an initial state")]
    Initially(usize),
    /// A move leads out of it.
    #[error("move {0} leads out of the invariant")]
    NotInductive(usize),
    /// A fact does not hold initially, or after a step.
    #[error("fact {0} is not inductive")]
    NoFact(usize),
    /// Something bad is in it.
    #[error("the invariant does not exclude what is bad")]
    NotSafe,
    /// A clause speaks of bits that there are not.
    #[error("the invariant speaks of bits that there are not")]
    NoSuchBit,
    /// It could not be found out.
    #[error("{0}")]
    Interrupted(Interrupted),
}

impl From<Interrupted> for NotVerified {
    fn from(interrupted: Interrupted) -> NotVerified {
        NotVerified::Interrupted(interrupted)
    }
}

/// Verifies an invariant, which is given by the cubes that it excludes, and by facts.
pub fn verify(subject: &Subject<'_>, excluded: &[Cube], facts: &[Fact], budget: &Budget) -> Result<(), NotVerified> {
    if excluded.iter().flatten().any(|(bit, _)| *bit as usize >= subject.state.len()) {
        return Err(NotVerified::NoSuchBit);
    }
    let dag = subject.dag.clone();
    let mut check = Check { subject, dag, solver: Batsat::default(), clauses: Clauses::default(), budget };
    check.dag.set_budget(budget);
    let mut now = Vec::new();
    for bit in subject.state {
        let input = check.dag.input(*bit);
        now.push(check.literal(input)?);
    }
    let initial = check.literal(subject.initial)?;
    for (number, cube) in excluded.iter().enumerate() {
        let mut assumptions: Vec<Literal> = cube.iter().map(|(bit, value)| of(&now, *bit, *value)).collect();
        assumptions.push(initial);
        if check.solver.solve(&assumptions, budget)? {
            return Err(NotVerified::Initially(number));
        }
    }
    check.hold_initially(initial, facts)?;
    for cube in excluded {
        let clause: Vec<Literal> = cube.iter().map(|(bit, value)| !of(&now, *bit, *value)).collect();
        check.solver.add(&clause);
    }
    for (one, other) in facts {
        let (one, other) = (check.literal(*one)?, check.literal(*other)?);
        check.solver.add(&[!one, other]);
        check.solver.add(&[one, !other]);
    }
    for bad in subject.bad {
        let bad = check.literal(*bad)?;
        if check.solver.solve(&[bad], budget)? {
            return Err(NotVerified::NotSafe);
        }
    }
    for (number, transition) in subject.transitions.iter().enumerate() {
        if check.leads_out(transition, excluded, &now)? {
            return Err(NotVerified::NotInductive(number));
        }
        check.hold_after(transition, facts)?;
    }
    Ok(())
}

fn of(now: &[Literal], bit: u32, value: bool) -> Literal {
    now[bit as usize].negated_if(!value)
}

struct Check<'a> {
    subject: &'a Subject<'a>,
    /// The graph of the subject, and what is added to it.
    dag: Dag,
    solver: Batsat,
    clauses: Clauses,
    budget: &'a Budget,
}

impl Check<'_> {
    fn literal(&mut self, lit: Lit) -> Result<Literal, Interrupted> {
        self.clauses.literal(&self.dag, lit, &mut self.solver, self.budget)
    }

    /// All facts hold initially. They hold for one another: in one question each is one more that is known.
    fn hold_initially(&mut self, initial: Literal, facts: &[Fact]) -> Result<(), NotVerified> {
        for (number, (one, other)) in facts.iter().enumerate() {
            let differ = self.dag.xor(*one, *other);
            let differ = self.literal(differ)?;
            if self.solver.solve(&[initial, differ], self.budget)? {
                return Err(NotVerified::NoFact(number));
            }
            self.solver.add(&[!initial, !differ]);
        }
        Ok(())
    }

    /// All facts hold after the move, with any inputs of the next step.
    fn hold_after(&mut self, transition: &Transition, facts: &[Fact]) -> Result<(), NotVerified> {
        if facts.is_empty() {
            return Ok(());
        }
        let mut after = Substitution::default();
        let is_state: std::collections::HashSet<u32> = self.subject.state.iter().copied().collect();
        for (bit, value) in &transition.updates {
            after.insert(self.subject.state[*bit], *value);
        }
        let reached = cone(&self.dag, facts.iter().flat_map(|(one, other)| [*one, *other]));
        let is_seen = |bit: &u32| self.dag.find_input(*bit).is_some_and(|lit| reached[lit.index()]);
        let mut seen: Vec<u32> = self.dag.all_inputs().filter(is_seen).collect();
        seen.sort_unstable();
        let unused = self.dag.all_inputs().max().map_or(0, |highest| highest + 1);
        for (number, bit) in (unused..).zip(seen.into_iter().filter(|bit| !is_state.contains(bit))) {
            let input = self.dag.input(number);
            after.insert(bit, input);
        }
        let guard = self.literal(transition.guard)?;
        for (number, (one, other)) in facts.iter().enumerate() {
            let (one, other) = (after.apply(&mut self.dag, *one), after.apply(&mut self.dag, *other));
            let differ = self.dag.xor(one, other);
            if let Some(interrupted) = self.dag.interrupted() {
                return Err(interrupted.into());
            }
            let differ = self.literal(differ)?;
            if self.solver.solve(&[guard, differ], self.budget)? {
                return Err(NotVerified::NoFact(number));
            }
            self.solver.add(&[!guard, !differ]);
        }
        Ok(())
    }

    /// From a state of the invariant the move leads into an excluded cube.
    fn leads_out(&mut self, transition: &Transition, excluded: &[Cube], now: &[Literal]) -> Result<bool, Interrupted> {
        let guard = self.literal(transition.guard)?;
        let mut next = now.to_vec();
        let mut is_changed = vec![false; now.len()];
        for (bit, value) in &transition.updates {
            next[*bit] = self.literal(*value)?;
            is_changed[*bit] = true;
        }
        // One of the cubes is entered; those of which nothing changes are not.
        let some = self.solver.new_variable();
        let mut one_of = vec![!some];
        for cube in excluded.iter().filter(|cube| cube.iter().any(|(bit, _)| is_changed[*bit as usize])) {
            self.budget.check()?;
            let entered = self.solver.new_variable();
            for (bit, value) in cube {
                self.solver.add(&[!entered, of(&next, *bit, *value)]);
            }
            one_of.push(entered);
        }
        self.solver.add(&one_of);
        let found = self.solver.solve(&[guard, some], self.budget)?;
        self.solver.add(&[!some]);
        Ok(found)
    }
}

/// A certificate, as it is written to a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// The version of the format.
    pub schema: u32,
    /// The model.
    pub model: String,
    /// The property.
    pub property: String,
    /// What it is.
    pub kind: String,
    /// The cells of a state: name, first bit, number of bits.
    pub cells: Vec<(String, u32, u32)>,
    /// The clauses of the invariant: bit `b` is `b + 1` if it is set, `-(b + 1)` if it is not.
    pub clauses: Vec<Vec<i64>>,
    /// Gates that facts speak of: a new number, and the two whose conjunction it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<(i64, i64, i64)>,
    /// Facts: these have the same value in every state, whatever the inputs are. The constant true is 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<(i64, i64)>,
}

/// Facts in terms of a certificate: bits and inputs have their numbers in the graph plus one, gates the numbers after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// The gates.
    pub gates: Vec<(i64, i64, i64)>,
    /// The facts.
    pub equal: Vec<(i64, i64)>,
}

impl Definitions {
    /// Facts about a machine.
    pub fn of(machine: &Machine, facts: &[Fact]) -> Definitions {
        let dag = &machine.dag;
        let reached = cone(dag, facts.iter().flat_map(|(one, other)| [*one, *other]));
        let mut numbers = vec![0; dag.len()];
        let mut made = Definitions::default();
        let signed = |numbers: &[i64], lit: Lit| {
            let number = numbers[lit.index()];
            if lit.is_negated() { -number } else { number }
        };
        for index in (0..dag.len()).filter(|index| reached[*index]) {
            match dag.node(Lit((index as u32) << 1)) {
                Node::Constant => {}
                Node::Input(bit) => numbers[index] = i64::from(bit) + 1,
                Node::And(x, y) => {
                    numbers[index] = i64::from(machine.unused) + 1 + made.gates.len() as i64;
                    made.gates.push((numbers[index], signed(&numbers, x), signed(&numbers, y)));
                }
            }
        }
        for (one, other) in facts {
            // That something is constant is said of it, with its sign.
            made.equal.push(match (one.is_constant(), other.is_constant()) {
                (_, true) => (signed(&numbers, if *other == Lit::TRUE { *one } else { !*one }), 0),
                (true, false) => (signed(&numbers, if *one == Lit::TRUE { *other } else { !*other }), 0),
                (false, false) => (signed(&numbers, *one), signed(&numbers, *other)),
            });
        }
        made
    }
}

impl Certificate {
    /// The clauses that exclude cubes.
    pub fn clauses(excluded: &[Cube]) -> Vec<Vec<i64>> {
        let literal = |(bit, value): &(u32, bool)| {
            let number = i64::from(*bit) + 1;
            if *value { -number } else { number }
        };
        excluded.iter().map(|cube| cube.iter().map(literal).collect()).collect()
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of two bits that goes 0, 1, 2, 0, …: it is never 3.
    fn counter(dag: &mut Dag) -> (Vec<Transition>, Lit, Lit) {
        let (low, high) = (dag.input(0), dag.input(1));
        let zero = dag.and(!low, !high);
        let three = dag.and(low, high);
        let step = Transition { guard: Lit::TRUE, updates: vec![(0, zero), (1, low)] };
        (vec![step], zero, three)
    }

    #[test]
    fn an_invariant_is_verified_and_one_that_is_none_is_not() {
        let mut dag = Dag::new();
        let (transitions, initial, three) = counter(&mut dag);
        let (low, bad) = (dag.input(0), [three]);
        let subject = Subject { dag: &dag, state: &[0, 1], initial, transitions: &transitions, bad: &bad };
        let budget = Budget::unlimited();
        let not_three: Vec<Cube> = vec![vec![(0, true), (1, true)]];
        assert_eq!(verify(&subject, &not_three, &[], &budget), Ok(()));
        // Tampered with: too weak, too strong, not inductive, out of range.
        assert_eq!(verify(&subject, &[], &[], &budget), Err(NotVerified::NotSafe));
        let flipped = vec![vec![(0, true), (1, false)]];
        assert_eq!(verify(&subject, &flipped, &[], &budget), Err(NotVerified::NotSafe));
        let mut too_strong = not_three.clone();
        too_strong.push(vec![(0, true)]);
        assert_eq!(verify(&subject, &too_strong, &[], &budget), Err(NotVerified::NotInductive(0)));
        let at_first = vec![vec![(0, false), (1, false)]];
        assert_eq!(verify(&subject, &at_first, &[], &budget), Err(NotVerified::Initially(0)));
        assert_eq!(verify(&subject, &[vec![(2, true)]], &[], &budget), Err(NotVerified::NoSuchBit));
        // What does not fit is bad.
        let overflow = [three, low];
        let subject = Subject { bad: &overflow, ..subject };
        assert_eq!(verify(&subject, &not_three, &[], &budget), Err(NotVerified::NotSafe));
    }
}
