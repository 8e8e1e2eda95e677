//! Simplified nets against the original ones, on random small nets whose state graphs are enumerated.

mod simplify_help;

use std::time::Duration;

use std::collections::BTreeSet;

use ample_budget::Budget;
use ample_petri::net::{Condition, Net};
use ample_petri::simplify::{Fate, Keep, Preserve, Simplified, simplify};
use ample_random::Random;
use simplify_help::{Graph, Pair, place, random_net, transition};

/// Original nets with more markings are left out, or explored in part where that is enough.
const MARKINGS: usize = 200;

struct Case {
    seed: u64,
    net: Net,
    seen: Vec<bool>,
    small: Simplified,
    /// Seen places in both nets.
    pairs: Vec<(u32, u32)>,
    graph: Graph,
    small_graph: Graph,
}

impl Case {
    fn of(seed: u64, what: Preserve) -> Case {
        let mut random = Random::new(seed);
        let net = random_net(&mut random);
        let share = random.below(4) * 15;
        let seen: Vec<bool> = net.places.iter().map(|_| random.percent(share)).collect();
        let small = simplify(&net, Keep { places: &seen, what }, &Budget::unlimited());
        Case::with(seed, net, seen, small)
    }

    fn with(seed: u64, net: Net, seen: Vec<bool>, small: Simplified) -> Case {
        let both = |old: usize| match small.fates[old] {
            Fate::Kept(new) => (old as u32, new),
            fate => panic!("seed {seed}: seen place {old} is {fate:?}"),
        };
        let pairs = (0..seen.len()).filter(|place| seen[*place]).map(both).collect();
        let (graph, small_graph) = (Graph::of(&net, MARKINGS), Graph::of(&small.net, 2 * MARKINGS));
        Case { seed, net, seen, small, pairs, graph, small_graph }
    }

    fn projection(&self, marking: &[u64]) -> Vec<u64> {
        self.pairs.iter().map(|(old, _)| marking[*old as usize]).collect()
    }

    fn small_projection(&self, marking: &[u64]) -> Vec<u64> {
        self.pairs.iter().map(|(_, new)| marking[*new as usize]).collect()
    }

    fn show(&self) -> String {
        format!("seed {}: {:#?}\nseen {:?}\nbecomes {:#?}", self.seed, self.net, self.seen, self.small.net)
    }

    fn is_smaller(&self) -> bool {
        self.small.net.places.len() < self.net.places.len()
            || self.small.net.transitions.len() < self.net.transitions.len()
    }

    fn replay(&self, run: &[u32]) -> Vec<u64> {
        replay(&self.net, &self.net.initial(), run).unwrap_or_else(|| panic!("{}\nno run: {run:?}", self.show()))
    }

    /// Runs of the simplified net are runs of the original net with the same end.
    fn runs_expand(&self, what: Preserve) {
        let states = self.small_graph.next.len();
        for state in (0..states).step_by(1 + states / 40) {
            let run = self.small_graph.path(state);
            let expanded = self.small.expand(&run).unwrap_or_else(|| panic!("{}\n{run:?} is lost", self.show()));
            let end = self.replay(&expanded);
            let is_dead = self.small_graph.is_dead(state);
            let same = self.projection(&end) == self.small_projection(&self.small_graph.markings[state]);
            assert!(same, "{}\n{run:?} as {expanded:?} ends elsewhere", self.show());
            if is_dead && what != Preserve::Reach {
                let dead = !self.net.transitions.iter().any(|transition| transition.is_enabled(&end));
                assert!(dead, "{}\n{run:?} as {expanded:?} is not stuck", self.show());
            }
        }
    }

    /// A random endless run expands to one that can be repeated.
    fn lassos_expand(&self, random: &mut Random) {
        let mut run = Vec::new();
        let mut visited = vec![self.small.net.initial()];
        for _ in 0..60 {
            let marking = visited.last().unwrap().clone();
            let enabled = |at: &usize| self.small.net.transitions[*at].is_enabled(&marking);
            let choices: Vec<usize> = (0..self.small.net.transitions.len()).filter(enabled).collect();
            if choices.is_empty() {
                return;
            }
            let chosen = choices[random.below(choices.len() as u64) as usize];
            run.push(chosen as u32);
            let after = self.small.net.transitions[chosen].fire(&marking).unwrap();
            if let Some(start) = visited.iter().position(|before| *before == after) {
                let (prefix, cycle) = self.small.expand_lasso(&run[..start], &run[start..]).unwrap_or_else(|| {
                    panic!("{}\n{run:?} from {start} is lost", self.show());
                });
                assert!(!cycle.is_empty(), "{}", self.show());
                let first = self.replay(&prefix);
                let mut now = first.clone();
                for _ in 0..3 {
                    now = replay(&self.net, &now, &cycle).unwrap_or_else(|| panic!("{}\nno cycle", self.show()));
                    assert_eq!(self.projection(&first), self.projection(&now), "{}", self.show());
                }
                return;
            }
            visited.push(after);
        }
    }
}

fn replay(net: &Net, from: &[u64], run: &[u32]) -> Option<Vec<u64>> {
    let mut marking = from.to_vec();
    for transition in run {
        let transition = &net.transitions[*transition as usize];
        marking = transition.is_enabled(&marking).then(|| transition.fire(&marking))??;
    }
    Some(marking)
}

/// Checks so many nets, of which at least the given number must have been small enough to be compared and must have
/// become smaller.
fn check(what: Preserve, nets: u64, at_least: usize, compare: impl Fn(&Case) -> bool) {
    let (mut compared, mut smaller, mut lively) = (0, 0, 0);
    for seed in 1..=nets {
        let case = Case::of(seed, what);
        case.runs_expand(what);
        case.lassos_expand(&mut Random::new(seed));
        if compare(&case) {
            compared += 1;
            smaller += usize::from(case.is_smaller());
            lively += usize::from(case.is_smaller() && case.small.net.transitions.len() > 1);
        }
    }
    println!("{what:?}: {compared} of {nets} compared, {smaller} of them smaller, {lively} not trivially so");
    assert!(smaller >= at_least, "{what:?}: only {smaller} nets became smaller");
}

const NETS: u64 = 12_000;

#[test]
fn dead_markings_are_the_same_as_far_as_they_are_seen() {
    check(Preserve::Deadlock, NETS, 5_000, |case| {
        let found = |graph: &Graph, project: &dyn Fn(&[u64]) -> Vec<u64>| -> BTreeSet<Vec<u64>> {
            let dead = (0..graph.next.len()).filter(|state| graph.is_dead(*state));
            dead.map(|state| project(&graph.markings[state])).collect()
        };
        let before = found(&case.graph, &|marking| case.projection(marking));
        let after = found(&case.small_graph, &|marking| case.small_projection(marking));
        if case.small_graph.complete {
            assert!(before.is_subset(&after), "{}", case.show());
        }
        if case.graph.complete {
            assert!(case.small_graph.complete && after.is_subset(&before), "{}", case.show());
        }
        case.graph.complete
    });
}

#[test]
fn seen_parts_of_reachable_markings_are_the_same() {
    check(Preserve::Reach, NETS, 5_000, |case| {
        let project = |marking: &Vec<u64>| case.projection(marking);
        let before: BTreeSet<Vec<u64>> = case.graph.markings.iter().map(project).collect();
        let project = |marking: &Vec<u64>| case.small_projection(marking);
        let after: BTreeSet<Vec<u64>> = case.small_graph.markings.iter().map(project).collect();
        if case.small_graph.complete {
            assert!(before.is_subset(&after), "{}", case.show());
        }
        if case.graph.complete {
            assert!(case.small_graph.complete && after.is_subset(&before), "{}", case.show());
        }
        let mut random = Random::new(case.seed);
        for _ in 0..5 {
            let condition = random_condition(&mut random, &case.pairs);
            let small = case.small.translate(&condition).unwrap();
            if case.graph.complete {
                let here = case.graph.markings.iter().any(|marking| condition.holds(marking));
                let there = case.small_graph.markings.iter().any(|marking| small.holds(marking));
                assert_eq!(here, there, "{condition:?} as {small:?} in {}", case.show());
            }
        }
        case.graph.complete || case.small_graph.complete
    });
}

fn random_condition(random: &mut Random, seen: &[(u32, u32)]) -> Condition {
    let mut terms: Vec<(u32, i64)> = Vec::new();
    for (place, _) in seen {
        let factor = random.below(5) as i64 - 2;
        if factor != 0 {
            terms.push((*place, factor));
        }
    }
    if terms.is_empty() {
        return Condition::Const(random.percent(50));
    }
    let simple = Condition::AtMost { terms, most: random.below(7) as i64 - 3 };
    match random.below(4) {
        0 => Condition::all(vec![simple, random_condition(random, seen).negated()]),
        1 => Condition::any(vec![simple, random_condition(random, seen)]),
        _ => simple,
    }
}

#[test]
fn maximal_runs_are_the_same_up_to_stuttering() {
    check(Preserve::Stutter, NETS, 4_000, |case| {
        if !case.graph.complete {
            return false;
        }
        assert!(case.small_graph.complete, "{}", case.show());
        assert!(Pair::of(&case.graph, &case.small_graph, &case.pairs).same_runs(), "{}", case.show());
        true
    });
}

#[test]
fn state_graphs_are_branching_bisimilar() {
    check(Preserve::Branching, NETS, 4_000, |case| {
        if !case.graph.complete {
            return false;
        }
        assert!(case.small_graph.complete, "{}", case.show());
        assert!(Pair::of(&case.graph, &case.small_graph, &case.pairs).bisimilar(), "{}", case.show());
        true
    });
}

/// Whoever pays more has decided, unseen, that there will be no second one: only `finish` is visible.
#[test]
fn a_choice_among_fillers_is_kept_for_branching_time() {
    let net = Net {
        places: vec![place("done", 0), place("work", 2), place("money", 2), place("begun", 0)],
        transitions: vec![
            transition("cheap", &[(1, 1), (2, 1)], &[(3, 1)]),
            transition("dear", &[(1, 1), (2, 2)], &[(3, 1)]),
            transition("finish", &[(3, 1)], &[(0, 1)]),
        ],
        exclusive: Vec::new(),
    };
    let seen = vec![true, false, false, false];
    let simplified = |what| simplify(&net, Keep { places: &seen, what }, &Budget::unlimited());
    let case = |what| Case::with(0, net.clone(), seen.clone(), simplified(what));
    let linear = case(Preserve::Stutter);
    assert_eq!(linear.small.net.transitions.len(), 2, "{}", linear.show());
    let pair = Pair::of(&linear.graph, &linear.small_graph, &linear.pairs);
    assert!(pair.same_runs() && !pair.bisimilar(), "{}", linear.show());
    let branching = case(Preserve::Branching);
    assert!(Pair::of(&branching.graph, &branching.small_graph, &branching.pairs).bisimilar(), "{}", branching.show());
}

/// Portions that meet others of another origin, or part on their way: joining them two by two would lose `meet`.
#[test]
fn portions_may_mix() {
    let places = || {
        let names = [("done", 0), ("begin", 2), ("begun", 0), ("between", 0), ("left", 0), ("right", 0)];
        names.iter().map(|(name, tokens)| place(name, *tokens)).collect::<Vec<_>>()
    };
    let parting = vec![
        transition("both", &[(1, 2)], &[(2, 1), (3, 2)]),
        transition("to the left", &[(3, 1)], &[(4, 1)]),
        transition("to the right", &[(3, 1)], &[(5, 1)]),
        transition("meet", &[(4, 1), (5, 1)], &[(0, 1)]),
    ];
    let gathering = vec![
        transition("begin", &[(1, 2)], &[(2, 1), (4, 3), (5, 3)]),
        transition("from the left", &[(4, 2)], &[(3, 1)]),
        transition("from the right", &[(5, 2)], &[(3, 1)]),
        transition("meet", &[(3, 2)], &[(0, 1)]),
    ];
    for (number, places, transitions) in [(0, places(), parting), (1, places(), gathering)] {
        let net = Net { places, transitions, exclusive: Vec::new() };
        // That `begin` is seen keeps other rules from going first.
        let seen = vec![true, true, true, false, false, false];
        for what in [Preserve::Deadlock, Preserve::Reach, Preserve::Stutter, Preserve::Branching] {
            let small = simplify(&net, Keep { places: &seen, what }, &Budget::unlimited());
            let case = Case::with(number, net.clone(), seen.clone(), small);
            case.runs_expand(what);
            let met = |graph: &Graph, at: u32| graph.markings.iter().any(|marking| marking[at as usize] == 1);
            assert!(met(&case.graph, 0) && met(&case.small_graph, case.pairs[0].1), "{what:?} {}", case.show());
        }
    }
}

#[test]
fn state_graphs_stay_the_same_if_all_is_preserved() {
    check(Preserve::All, NETS, 1_500, |case| {
        if !case.graph.complete {
            return false;
        }
        let (before, after) = (&case.graph, &case.small_graph);
        assert!(after.complete, "{}", case.show());
        assert_eq!(before.markings.len(), after.markings.len(), "{}", case.show());
        assert_eq!(before.edges(), after.edges(), "{}", case.show());
        assert!(Pair::of(before, after, &case.pairs).bisimilar(), "{}", case.show());
        // Conditions on places that are gone are conditions on others.
        let all: Vec<(u32, u32)> = (0..case.net.places.len() as u32).map(|place| (place, 0)).collect();
        let condition = random_condition(&mut Random::new(case.seed), &all);
        if let Some(small) = case.small.translate(&condition) {
            let here = before.markings.iter().filter(|marking| condition.holds(marking)).count();
            let there = after.markings.iter().filter(|marking| small.holds(marking)).count();
            assert_eq!(here, there, "{condition:?} as {small:?} in {}", case.show());
        }
        true
    });
}

#[test]
fn stopping_early_leaves_a_correct_net() {
    for seed in 1..=500 {
        let mut random = Random::new(seed);
        let net = random_net(&mut random);
        let seen: Vec<bool> = net.places.iter().map(|_| random.percent(30)).collect();
        let stop = Budget::unlimited().with_time(Duration::from_micros(random.below(40_u64)));
        let small = simplify(&net, Keep { places: &seen, what: Preserve::Stutter }, &stop);
        let case = Case::with(seed, net, seen, small);
        if case.graph.complete {
            assert!(Pair::of(&case.graph, &case.small_graph, &case.pairs).same_runs(), "{}", case.show());
        }
    }
}

#[test]
fn unseen_places_are_not_translated_and_constant_ones_are() {
    let net = Net {
        places: vec![place("constant", 2), place("from", 1), place("to", 0)],
        transitions: vec![transition("move", &[(0, 2), (1, 1)], &[(0, 2), (2, 1)])],
        exclusive: Vec::new(),
    };
    let small = simplify(&net, Keep { places: &[false, false, true], what: Preserve::Reach }, &Budget::unlimited());
    let at_most = |place, most| Condition::AtMost { terms: vec![(place, 1)], most };
    assert_eq!(small.translate(&at_most(0, 2)), Some(Condition::Const(true)));
    assert_eq!(small.translate(&at_most(0, 1)), Some(Condition::Const(false)));
    assert_eq!(small.translate(&at_most(1, 0)), None);
    assert!(matches!(small.translate(&at_most(2, 0)), Some(Condition::AtMost { .. })));
    assert_eq!(small.translate(&at_most(7, 0)), None);
}

#[test]
fn heavy_weights_do_not_overflow() {
    let huge = u64::MAX;
    let net = Net {
        places: vec![place("a", huge), place("b", huge), place("c", 0), place("d", 0)],
        transitions: vec![
            transition("one", &[(0, huge)], &[(2, huge)]),
            transition("two", &[(2, huge - 1)], &[(3, huge)]),
            transition("three", &[(2, huge - 1)], &[(3, huge), (1, huge)]),
            transition("four", &[(3, 1)], &[(0, huge), (1, huge)]),
        ],
        exclusive: Vec::new(),
    };
    for what in [Preserve::Deadlock, Preserve::Reach, Preserve::Stutter, Preserve::Branching, Preserve::All] {
        for seen in [[false; 4], [true, false, false, false], [false, false, false, true]] {
            let small = simplify(&net, Keep { places: &seen, what }, &Budget::unlimited());
            small.expand(&[]);
            small.expand(&[0, 0, 7]);
            small.expand_lasso(&[0], &[1]);
        }
    }
}
