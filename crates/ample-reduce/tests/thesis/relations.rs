//! The relations between transitions: they grow with the scheme, and say the same as the definitions.

use super::random::system;
use super::search::full;
use ample_reduce::algorithms::{Algorithm, Chooser, Relations, independent};
use ample_reduce::objects::Table;
use ample_reduce::scheme::{ProcessNumber, Scheme, Step, Transition, TransitionNumber, View};

fn all_pairs(scheme: &Scheme) -> Vec<(TransitionNumber, TransitionNumber)> {
    let numbers = 0..scheme.transitions.len() as TransitionNumber;
    numbers.clone().flat_map(|one| numbers.clone().map(move |other| (one, other))).collect()
}

#[test]
fn relations_that_grew_are_the_relations_of_the_whole() {
    for seed in 0..200 {
        let system = system(seed);
        let mut whole = Chooser::new(Table::WeaklyUniform);
        whole.update(&system.scheme);
        let mut grown = Chooser::new(Table::WeaklyUniform);
        let mut part = system.scheme.clone();
        for end in 0..=system.scheme.transitions.len() {
            part.transitions = system.scheme.transitions[..end].to_vec();
            grown.update(&part);
        }
        let mut view = system.view(&system.initial);
        for algorithm in Algorithm::ALL {
            for seed in system.enabled(&system.initial) {
                let (mut one, mut other) = (Vec::new(), Vec::new());
                whole.persistent(algorithm, &system.scheme, &mut view, seed, &mut one);
                grown.persistent(algorithm, &system.scheme, &mut view, seed, &mut other);
                assert_eq!(one, other, "{algorithm:?}");
            }
        }
        for (one, other) in all_pairs(&system.scheme) {
            assert_eq!(whole.relations().are_parallel(one, other), grown.relations().are_parallel(one, other));
            assert_eq!(whole.relations().are_independent(one, other), grown.relations().are_independent(one, other));
            assert_eq!(whole.relations().do_not_accord(one, other), grown.relations().do_not_accord(one, other));
        }
    }
}

#[test]
fn static_relations_say_the_same_as_the_scheme() {
    for seed in 0..200 {
        let system = system(seed);
        let graph = full(&system);
        let transition = |number: u32| &system.scheme.transitions[number as usize];
        for table in Table::ALL {
            let mut relations = Relations::new(table);
            relations.update(&system.scheme);
            for (one, other) in all_pairs(&system.scheme) {
                let (first, second) = (transition(one), transition(other));
                assert_eq!(relations.are_in_conflict(one, other), first.is_in_conflict(second));
                assert_eq!(relations.are_parallel(one, other), first.is_parallel(second));
                let always = graph.states.keys().all(|state| system.independent(state, one, other, table));
                assert!(always || !relations.are_independent(one, other));
                let mut view = system.view(&system.initial);
                let asked = independent(&system.scheme, &mut view, one, other, table);
                assert_eq!(relations.are_independent_in(&system.scheme, &mut view, one, other), asked);
            }
        }
    }
}

/// A state by what it is asked.
struct Given {
    locations: Vec<Option<u32>>,
    enabled: Vec<TransitionNumber>,
}

impl View for Given {
    fn location(&self, process: ProcessNumber) -> Option<u32> {
        self.locations[process as usize]
    }

    fn enabled(&self) -> &[TransitionNumber] {
        &self.enabled
    }

    fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.enabled.contains(&transition)
    }

    fn holds(&mut self, _: TransitionNumber, _: u32) -> bool {
        true
    }

    fn fill(&mut self, _: u32) -> u32 {
        0
    }
}

fn transition(process: ProcessNumber, from: u32, to: &[u32]) -> Transition {
    let steps = vec![Step { process, from, to: to.to_vec() }];
    Transition { steps, conditions: vec![], command: vec![], is_global: false, is_timeout: false, label: String::new() }
}

fn smallest(algorithm: Algorithm, scheme: &Scheme, view: &mut Given) -> Vec<TransitionNumber> {
    let mut chooser = Chooser::new(Table::Conditional);
    chooser.update(scheme);
    let mut set = Vec::new();
    chooser.smallest(algorithm, scheme, view, &mut set);
    set
}

#[test]
fn everything_depends_on_a_global_transition() {
    let mut scheme = Scheme { processes: vec!["A".into(), "B".into()], ..Scheme::default() };
    scheme.transitions = vec![transition(0, 0, &[1]), transition(1, 0, &[1])];
    let mut view = Given { locations: vec![Some(0), Some(0)], enabled: vec![0, 1] };
    for is_global in [false, true] {
        scheme.transitions[1].is_global = is_global;
        for algorithm in Algorithm::ALL {
            let expected: &[u32] = if is_global { &[0, 1] } else { &[0] };
            assert_eq!(smallest(algorithm, &scheme, &mut view), expected, "{algorithm:?}");
        }
        for table in Table::ALL {
            assert_eq!(independent(&scheme, &mut view, 0, 1, table), !is_global);
        }
    }
}

/// A global transition further on must be waited for: the step that leads to it comes along.
#[test]
fn a_global_transition_further_on_comes_along() {
    let mut scheme = Scheme { processes: vec!["A".into(), "B".into()], ..Scheme::default() };
    scheme.transitions = vec![transition(0, 0, &[1]), transition(1, 0, &[7, 1]), transition(1, 1, &[2])];
    scheme.transitions[2].is_global = true;
    let mut view = Given { locations: vec![Some(0), Some(0)], enabled: vec![0, 1] };
    for algorithm in Algorithm::ALL {
        let mut chooser = Chooser::new(Table::Conditional);
        chooser.update(&scheme);
        let mut set = Vec::new();
        chooser.persistent(algorithm, &scheme, &mut view, 0, &mut set);
        assert_eq!(set, [0, 1], "{algorithm:?}");
    }
}

/// Process 2 is not there; a transition of process 1 may start it, and then it would write what process 0 writes.
#[test]
fn a_process_that_is_not_there_waits_for_its_start() {
    use ample_reduce::scheme::{Kind, Object, Operation, Verb};
    let mut scheme = Scheme { processes: vec!["A".into(), "B".into(), "C".into()], ..Scheme::default() };
    scheme.objects = vec![Object { kind: Kind::Variable, name: "x".into() }];
    scheme.transitions = vec![transition(0, 0, &[1]), transition(1, 0, &[1]), transition(2, 0, &[1])];
    for writer in [0, 2] {
        scheme.transitions[writer].command = vec![Operation { object: 0, verb: Verb::Write }];
    }
    let mut view = Given { locations: vec![Some(0), Some(0), None], enabled: vec![0, 1] };
    for algorithm in Algorithm::ALL {
        let sets = [vec![], vec![vec![], vec![], vec![1]]].map(|starts| {
            scheme.starts = starts;
            let mut chooser = Chooser::new(Table::Conditional);
            chooser.update(&scheme);
            let mut set = Vec::new();
            chooser.persistent(algorithm, &scheme, &mut view, 0, &mut set);
            set
        });
        let unstarted = if matches!(algorithm, Algorithm::Conflicting(_)) { vec![0, 1] } else { vec![0] };
        assert_eq!(sets, [unstarted, vec![0, 1]], "{algorithm:?}");
    }
}

/// A transition that is disabled though nothing is known to be wrong with it may wait for anything.
#[test]
fn what_is_disabled_for_no_known_reason_waits_for_everything() {
    use ample_reduce::algorithms::Choice;
    let mut scheme = Scheme { processes: vec!["A".into(), "B".into()], ..Scheme::default() };
    scheme.transitions = vec![transition(0, 0, &[1]), transition(0, 0, &[2]), transition(1, 0, &[1])];
    let mut view = Given { locations: vec![Some(0), Some(0)], enabled: vec![0, 2] };
    let mut chooser = Chooser::new(Table::Conditional);
    chooser.update(&scheme);
    let mut set = Vec::new();
    for choice in [Choice::Greedy, Choice::Fixed] {
        for algorithm in [Algorithm::Stubborn(choice), Algorithm::Conditional(choice)] {
            chooser.persistent(algorithm, &scheme, &mut view, 0, &mut set);
            assert_eq!(set, [0, 2]);
        }
    }
}

/// What a condition waits for may be a global transition; what a global transition waits for may be anything.
#[test]
fn conditions_and_global_transitions_wait_for_each_other() {
    use ample_reduce::algorithms::Choice;
    use ample_reduce::scheme::Condition;
    let mut scheme = Scheme { processes: vec!["A".into(), "B".into()], ..Scheme::default() };
    scheme.conditions = vec![Condition { operations: vec![], is_definedness: false, text: "timeout".into() }];
    scheme.transitions = vec![transition(0, 0, &[1]), transition(0, 0, &[2]), transition(1, 0, &[1])];
    scheme.transitions[1].is_global = true;
    scheme.transitions[1].conditions = vec![0];
    let mut chooser = Chooser::new(Table::Conditional);
    chooser.update(&scheme);
    assert!(chooser.relations().changing(0).contains(1) && !chooser.relations().changing(0).contains(2));
    let mut view = Refused(Given { locations: vec![Some(0), Some(0)], enabled: vec![0, 2] });
    let mut set = Vec::new();
    for choice in [Choice::Greedy, Choice::Fixed] {
        for algorithm in [Algorithm::Stubborn(choice), Algorithm::Conditional(choice)] {
            chooser.persistent(algorithm, &scheme, &mut view, 0, &mut set);
            assert_eq!(set, [0, 2]);
        }
    }
}

/// A state in which no condition holds.
struct Refused(Given);

impl View for Refused {
    fn location(&self, process: ProcessNumber) -> Option<u32> {
        self.0.location(process)
    }

    fn enabled(&self) -> &[TransitionNumber] {
        self.0.enabled()
    }

    fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.0.is_enabled(transition)
    }

    fn holds(&mut self, _: TransitionNumber, _: u32) -> bool {
        false
    }

    fn fill(&mut self, object: u32) -> u32 {
        self.0.fill(object)
    }
}
