//! The algorithms word by word, Algorithms 3 and 4 with any choice of what may enable a disabled transition (§4.5,
//! §4.7).

use super::examples::A2;
use super::oracle::is_persistent;
use super::random::system;
use super::search::{Set, full};
use super::system::{State, System};
use ample_random::Random;
use ample_reduce::algorithms::{Algorithm, Choice, Chooser, Interference};
use ample_reduce::objects::{self, Table};
use ample_reduce::scheme::{Operation, Step, TransitionNumber, View};
use std::collections::BTreeSet;

const TABLE: Table = Table::Conditional;

/// A state with the two algorithms' relations.
struct Here<'s> {
    system: &'s System,
    state: &'s State,
    is_conditional: bool,
}

impl Here<'_> {
    fn numbers(&self) -> std::ops::Range<TransitionNumber> {
        0..self.system.scheme.transitions.len() as TransitionNumber
    }

    fn fill(&self, operation: Operation) -> u32 {
        self.system.view(self.state).fill(operation.object)
    }

    /// The transitions with an operation that is related to one of these.
    fn related(&self, operations: &[Operation], related: impl Fn(Operation, Operation) -> bool) -> Set {
        let scheme = &self.system.scheme;
        let is_related = |number: &TransitionNumber| {
            let used = scheme.used(*number);
            let mut pairs = operations.iter().flat_map(|one| used.iter().map(move |other| (*one, *other)));
            scheme.transitions[*number as usize].is_global
                || pairs.any(|(one, other)| one.object == other.object && related(one, other))
        };
        self.numbers().filter(is_related).collect()
    }

    fn may_enable(&self, one: Operation, other: Operation) -> bool {
        let kind = self.system.kind(one.object);
        match self.is_conditional {
            true => objects::disturbs(kind, one.verb, other.verb, self.fill(one), TABLE),
            false => objects::can_be_dependent(kind, one.verb, other.verb, TABLE),
        }
    }

    fn may_disturb(&self, one: Operation, other: Operation) -> bool {
        let kind = self.system.kind(one.object);
        match self.is_conditional {
            true => objects::disturbs(kind, one.verb, other.verb, self.fill(one), TABLE),
            false => objects::do_not_accord(kind, one.verb, other.verb, TABLE),
        }
    }

    /// The sets that may enable a disabled transition.
    fn options(&self, number: TransitionNumber) -> Vec<Set> {
        let scheme = &self.system.scheme;
        let transition = &scheme.transitions[number as usize];
        let mut options = Vec::new();
        for step in &transition.steps {
            if self.state.control[step.process as usize] != step.from {
                let arrives = |number: &TransitionNumber| {
                    let other = &scheme.transitions[*number as usize];
                    let lands = other.steps.iter().any(|o| o.process == step.process && o.to.contains(&step.from));
                    other.is_global || lands
                };
                options.push(self.numbers().filter(arrives).collect());
            }
        }
        let mut view = self.system.view(self.state);
        for &condition in transition.conditions.iter().filter(|_| !transition.is_global) {
            if !view.holds(number, condition) {
                let operations = &scheme.conditions[condition as usize].operations;
                options.push(self.related(operations, |one, other| self.may_enable(one, other)));
            }
        }
        if options.is_empty() {
            options.push(self.numbers().collect());
        }
        options
    }

    /// What an enabled transition needs.
    fn disturbing(&self, number: TransitionNumber) -> Set {
        let scheme = &self.system.scheme;
        let transition = &scheme.transitions[number as usize];
        let mut set = match transition.is_global {
            true => self.numbers().collect(),
            false => self.related(&scheme.used(number), |one, other| self.may_disturb(one, other)),
        };
        set.retain(|other| transition.is_parallel(&scheme.transitions[*other as usize]));
        set.extend(self.numbers().filter(|other| transition.is_in_conflict(&scheme.transitions[*other as usize])));
        set
    }

    /// The parallel transitions that can interfere, by the relation of Algorithms 1 and 2.
    fn interfering(&self, number: TransitionNumber) -> Set {
        let scheme = &self.system.scheme;
        let transition = &scheme.transitions[number as usize];
        let mut set = match transition.is_global {
            true => self.numbers().collect(),
            false => self.related(&scheme.used(number), |one, other| self.may_enable(one, other)),
        };
        set.retain(|other| transition.is_parallel(&scheme.transitions[*other as usize]));
        set
    }

    /// Algorithm 1.
    fn conflicting(&self, seed: TransitionNumber) -> Set {
        let transitions = &self.system.scheme.transitions;
        let mut members = Set::from([seed]);
        let mut work = vec![seed];
        while let Some(number) = work.pop() {
            if !self.system.is_enabled(self.state, number) {
                return self.system.enabled(self.state).into_iter().collect();
            }
            let mut needs = self.interfering(number);
            let one = &transitions[number as usize];
            needs.extend(self.numbers().filter(|other| one.is_in_conflict(&transitions[*other as usize])));
            work.extend(needs.into_iter().filter(|need| members.insert(*need)));
        }
        members
    }

    /// Algorithm 2.
    fn overman(&self, seed: TransitionNumber) -> Set {
        let transitions = &self.system.scheme.transitions;
        let active = |number: TransitionNumber| transitions[number as usize].steps.iter().map(|step| step.process);
        let mut processes: BTreeSet<u32> = active(seed).collect();
        loop {
            let before = processes.len();
            for number in self.numbers() {
                let mut steps = transitions[number as usize].steps.iter();
                let is_ahead = |step: &Step| self.state.control[step.process as usize] == step.from;
                if steps.any(|step| processes.contains(&step.process) && is_ahead(step)) {
                    processes.extend(active(number));
                    processes.extend(self.interfering(number).into_iter().flat_map(active));
                }
            }
            if processes.len() == before {
                let is_within = |number: &TransitionNumber| active(*number).all(|process| processes.contains(&process));
                return self.system.enabled(self.state).into_iter().filter(is_within).collect();
            }
        }
    }

    /// The set that a run finds, and the disabled transitions for which it chose, each with its number of options.
    fn run(
        &self,
        seed: TransitionNumber,
        choose: impl Fn(TransitionNumber, usize) -> usize,
    ) -> (Set, Vec<(u32, usize)>) {
        let mut members = Set::from([seed]);
        let mut work = vec![seed];
        let mut choices = Vec::new();
        while let Some(number) = work.pop() {
            let needs = if self.system.is_enabled(self.state, number) {
                self.disturbing(number)
            } else {
                let mut options = self.options(number);
                choices.push((number, options.len()));
                options.swap_remove(choose(number, options.len()))
            };
            work.extend(needs.into_iter().filter(|need| members.insert(*need)));
        }
        members.retain(|number| self.system.is_enabled(self.state, *number));
        (members, choices)
    }

    /// Is there a run of which the set is good? None if there are too many runs.
    fn some_run(&self, seed: TransitionNumber, is_good: impl Fn(&Set) -> bool) -> Option<bool> {
        let mut open = vec![Vec::<(u32, usize)>::new()];
        for _ in 0..400 {
            let Some(made) = open.pop() else { return Some(false) };
            let place = |number| made.iter().find(|(other, _)| *other == number).map(|(_, place)| *place);
            let (set, choices) = self.run(seed, |number, _| place(number).unwrap_or(0));
            if is_good(&set) {
                return Some(true);
            }
            let mut made = made.clone();
            for (number, options) in choices.into_iter().filter(|(number, _)| place(*number).is_none()) {
                for option in 1..options {
                    let mut other = made.clone();
                    other.push((number, option));
                    open.push(other);
                }
                made.push((number, 0));
            }
        }
        None
    }
}

fn for_each_seed(systems: u64, mut look: impl FnMut(&System, &State, TransitionNumber, &str)) {
    for number in 0..systems {
        let system = system(number);
        for state in full(&system).states.keys().take(12) {
            for seed in system.enabled(state) {
                look(&system, state, seed, &format!("system {number}, {state:?}, t{}", seed + 1));
            }
        }
    }
}

fn found(system: &System, state: &State, algorithm: Algorithm, seed: TransitionNumber) -> Set {
    let mut chooser = Chooser::new(TABLE);
    chooser.update(&system.scheme);
    let mut set = Vec::new();
    chooser.persistent(algorithm, &system.scheme, &mut system.view(state), seed, &mut set);
    set.into_iter().collect()
}

#[test]
fn our_algorithms_1_and_2_are_those_of_the_thesis() {
    for_each_seed(600, |system, state, seed, place| {
        for (interference, is_conditional) in [(Interference::Possible, false), (Interference::First, true)] {
            let here = Here { system, state, is_conditional };
            let first = found(system, state, Algorithm::Conflicting(interference), seed);
            let second = found(system, state, Algorithm::Overman(interference), seed);
            assert_eq!(first, here.conflicting(seed), "{place}, {interference:?}");
            assert_eq!(second, here.overman(seed), "{place}, {interference:?}");
        }
    });
}

/// Thms. 4.18 and 4.27 for all choices; and for each run of Algorithm 3 there is one of Algorithm 4 that finds a subset,
/// the one with the same choices.
#[test]
fn every_choice_is_good_and_better_with_first_interference() {
    for_each_seed(300, |system, state, seed, place| {
        for salt in 0..4 {
            let choose = |number: u32, options: usize| Random::new(u64::from(number) * 1_000 + salt).below(options);
            let sets = [false, true].map(|is_conditional| {
                let set = Here { system, state, is_conditional }.run(seed, choose).0;
                let members: Vec<_> = set.iter().copied().collect();
                assert!(is_persistent(system, state, &members, TABLE), "{place}");
                set
            });
            assert!(sets[1].is_subset(&sets[0]), "{place}");
        }
    });
}

/// Thm. 4.20; and ours are runs.
#[test]
fn some_run_of_algorithm_3_is_within_algorithm_2() {
    let mut judged = 0;
    for_each_seed(250, |system, state, seed, place| {
        let here = Here { system, state, is_conditional: false };
        let overman = found(system, state, A2, seed);
        if let Some(is_there) = here.some_run(seed, |set| set.is_subset(&overman)) {
            judged += 1;
            assert!(is_there, "{place}");
        }
    });
    assert!(judged > 500);
}

#[test]
fn our_sets_are_those_of_some_run() {
    for_each_seed(120, |system, state, seed, place| {
        for choice in [Choice::Greedy, Choice::Fixed] {
            for (algorithm, is_conditional) in
                [(Algorithm::Stubborn(choice), false), (Algorithm::Conditional(choice), true)]
            {
                let ours = found(system, state, algorithm, seed);
                let is_there = Here { system, state, is_conditional }.some_run(seed, |set| *set == ours);
                assert_ne!(is_there, Some(false), "{place}, {algorithm:?}");
            }
        }
    });
}
