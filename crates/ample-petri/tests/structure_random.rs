//! Structural analysis on random nets, beside all markings that can be reached.

use std::collections::{HashMap, VecDeque};

use ample_budget::Budget;
use ample_petri::net::{Condition, Net, Place, Transition};
use ample_petri::structure::bounds::bounds;
use ample_petri::structure::equation::{Answer, Effort, Equation};
use ample_petri::structure::semiflows::{Limits, invariants, semiflows};
use ample_petri::structure::traps::{Arcs, has_marked_traps, maximal_siphon, maximal_trap, never_fires};
use ample_petri::structure::units::{order, order_by_units, units};
use ample_random::Random;

fn go_on() -> Budget {
    Budget::unlimited()
}

fn random_net(random: &mut Random) -> Net {
    let places = 2 + random.below(6);
    let transitions = 1 + random.below(7);
    let heaviest = 1 + random.below(3) / 2 * 2;
    // Without sources and sinks, most of the time, so that enough nets are bounded.
    let balanced = random.below(3) > 0;
    let most: u64 = 3 + random.below(2) * 2;
    let initial = |random: &mut Random| random.below(most).saturating_sub(random.below(2));
    let side = |random: &mut Random, size: u64| {
        let mut arcs: Vec<(u32, u64)> = Vec::new();
        for _ in 0..size {
            let place = random.below(places) as u32;
            let weight = 1 + random.below(heaviest);
            if arcs.iter().all(|arc| arc.0 != place) {
                arcs.push((place, weight));
            }
        }
        arcs.sort_unstable();
        arcs
    };
    let mut net = Net::default();
    for number in 0..places {
        net.places.push(Place { name: format!("p{number}"), initial: initial(random), bound: None });
    }
    for number in 0..transitions {
        let size = if balanced { 1 + random.below(2) } else { random.below(4) };
        let takes = side(random, size);
        let size = if balanced { size } else { random.below(4) };
        net.transitions.push(Transition { name: format!("t{number}"), takes, adds: side(random, size) });
    }
    net
}

/// The first markings that can be reached, and whether these are all.
fn reachable(net: &Net) -> (Vec<Vec<u64>>, bool) {
    let mut seen = HashMap::from([(net.initial(), ())]);
    let mut queue = VecDeque::from([net.initial()]);
    let mut all = Vec::new();
    while let Some(marking) = queue.pop_front() {
        if all.len() >= 600 {
            return (all, false);
        }
        for transition in net.transitions.iter().filter(|transition| transition.is_enabled(&marking)) {
            let after = transition.fire(&marking).expect("few steps");
            if seen.insert(after.clone(), ()).is_none() {
                queue.push_back(after);
            }
        }
        all.push(marking);
    }
    (all, true)
}

fn random_goal(random: &mut Random, places: u64, depth: u64) -> Condition {
    if depth > 0 && random.below(3) > 0 {
        let parts = (0..2 + random.below(2)).map(|_| random_goal(random, places, depth - 1)).collect();
        return if random.below(2) == 0 { Condition::all(parts) } else { Condition::any(parts) };
    }
    let mut terms: Vec<(u32, i64)> = Vec::new();
    for place in 0..places as u32 {
        if random.below(places) == 0 || (terms.is_empty() && u64::from(place) + 1 == places) {
            let factor = 1 + random.below(2) as i64;
            terms.push((place, if random.below(2) == 0 { factor } else { -factor }));
        }
    }
    Condition::AtMost { terms, most: random.below(6) as i64 - 3 }
}

fn is_solution(net: &Net, counts: &[(u32, u64)], goal: &Condition) -> bool {
    let mut marking: Vec<i64> = net.places.iter().map(|place| place.initial as i64).collect();
    for (transition, count) in counts {
        let effect = net.transitions[*transition as usize].effect();
        effect.iter().for_each(|(place, by)| marking[*place as usize] += by * *count as i64);
    }
    marking.iter().all(|tokens| *tokens >= 0)
        && goal.holds(&marking.iter().map(|tokens| *tokens as u64).collect::<Vec<_>>())
}

#[test]
fn every_reachable_marking_keeps_invariants_and_bounds() {
    let (mut flows, mut bounded, mut tight, mut places) = (0, 0, 0, 0);
    for seed in 0..3_000 {
        let net = random_net(&mut Random::new(seed));
        let (markings, is_all) = reachable(&net);
        let found = semiflows(&net, Limits::default(), &go_on());
        let basis = invariants(&net, &go_on());
        let limits = bounds(&net, &go_on());
        let grouped = units(&net, &found);
        assert!(found.complete && basis.rank.is_some(), "seed {seed}");
        assert_eq!(basis.rank.map(|rank| rank + basis.basis.len()), Some(net.places.len()), "seed {seed}");
        let sum = |weights: &[(u32, i64)], marking: &[u64]| {
            weights.iter().map(|(place, weight)| weight * marking[*place as usize] as i64).sum::<i64>()
        };
        for marking in &markings {
            for flow in &found.flows {
                let tokens: u64 = flow.weights.iter().map(|(place, by)| by * marking[*place as usize]).sum();
                assert_eq!(tokens, flow.tokens, "seed {seed}");
            }
            for weights in &basis.basis {
                assert_eq!(sum(weights, marking), sum(weights, &net.initial()), "seed {seed}");
            }
            for (tokens, limit) in marking.iter().zip(&limits) {
                assert!(limit.is_none_or(|limit| *tokens <= limit), "seed {seed}");
            }
            for unit in grouped.iter().filter(|unit| unit.len() > 1) {
                assert!(unit.iter().map(|place| marking[*place as usize]).sum::<u64>() <= 1, "seed {seed}");
            }
        }
        for places in [order(&net, &go_on()), order_by_units(&net, &grouped, &go_on())] {
            let mut places = places;
            places.sort_unstable();
            assert!(places.into_iter().eq(0..net.places.len() as u32), "seed {seed}");
        }
        flows += found.flows.len();
        if is_all {
            places += limits.len();
            bounded += limits.iter().flatten().count();
            let most = |place: usize| markings.iter().map(|marking| marking[place]).max();
            tight +=
                (0..limits.len()).filter(|place| limits[*place].is_some() && limits[*place] == most(*place)).count();
        }
    }
    println!("{flows} semiflows; of {places} places in finite nets {bounded} bounded, {tight} tightly");
    assert!(bounded * 2 > places);
}

#[test]
fn nothing_that_is_reachable_is_refuted() {
    let (mut asked, mut unreachable, mut refuted, mut solved) = (0u64, 0u64, 0u64, 0u64);
    for seed in 0..4_000 {
        let mut random = Random::new(1_000_000 + seed);
        let net = random_net(&mut random);
        let (markings, is_all) = reachable(&net);
        let mut equation = match seed % 2 {
            0 => Equation::new(&net),
            _ => Equation::with_bounds(&net, bounds(&net, &go_on())),
        }
        .expect("small numbers");
        for round in 0..10 {
            let goal = random_goal(&mut random, net.places.len() as u64, 2);
            let is_reached = markings.iter().any(|marking| goal.holds(marking));
            let budget = Effort { cases: 200, pivots: 2_000, budget: &go_on() };
            let answer = equation.refute(&goal, budget);
            assert!(!(is_reached && answer.is_refuted()), "seed {seed}, round {round}: {goal:?}");
            if let Answer::Maybe(Some(counts)) = &answer {
                assert!(is_solution(&net, counts, &goal), "seed {seed}, round {round}: {goal:?}");
                solved += 1;
            }
            asked += 1;
            unreachable += u64::from(is_all && !is_reached);
            refuted += u64::from(is_all && answer.is_refuted());
        }
    }
    println!("{asked} goals, {solved} solutions, {refuted} of {unreachable} unreachable ones refuted");
    assert!(refuted * 10 > unreachable * 9);
}

#[test]
fn deadlocks_and_transitions_that_fire_are_never_excluded() {
    let (mut free, mut proved, mut by_traps, mut dead, mut found) = (0u64, 0u64, 0u64, 0u64, 0u64);
    for seed in 0..4_000 {
        let net = random_net(&mut Random::new(2_000_000 + seed));
        let (markings, is_all) = reachable(&net);
        let is_stuck = |marking: &Vec<u64>| !net.transitions.iter().any(|transition| transition.is_enabled(marking));
        let has_deadlock = markings.iter().any(is_stuck);
        let mut equation = Equation::new(&net).expect("small numbers");
        let budget = Effort { cases: 200, pivots: 2_000, budget: &go_on() };
        let (excluded, trapped) = (equation.excludes_deadlock(budget), has_marked_traps(&net, 1_000, &go_on()));
        assert!(!(has_deadlock && (excluded || trapped)), "seed {seed}");
        free += u64::from(is_all && !has_deadlock);
        proved += u64::from(is_all && excluded);
        by_traps += u64::from(is_all && trapped);
        let never = never_fires(&net);
        for (number, transition) in net.transitions.iter().enumerate() {
            let fires = markings.iter().any(|marking| transition.is_enabled(marking));
            let is_dead = equation.is_dead(number as u32, budget);
            assert!(!(fires && (is_dead || never[number])), "seed {seed}, transition {number}");
            dead += u64::from(is_all && !fires);
            found += u64::from(is_all && is_dead);
        }
    }
    println!(
        "{free} without deadlock: {proved} by the equation, {by_traps} by traps; {found} of {dead} dead transitions"
    );
    assert!(proved * 10 > free * 8 && found * 10 > dead * 9);
}

#[test]
fn siphons_stay_empty_and_traps_stay_marked() {
    for seed in 0..2_000 {
        let mut random = Random::new(3_000_000 + seed);
        let net = random_net(&mut random);
        let arcs = Arcs::of(&net);
        let within: Vec<bool> = net.places.iter().map(|_| random.below(3) > 0).collect();
        let (siphon, trap) = (maximal_siphon(&net, &arcs, &within), maximal_trap(&net, &arcs, &within));
        let tokens = |set: &[bool], marking: &[u64]| {
            marking.iter().zip(set).filter(|(_, inside)| **inside).map(|(tokens, _)| tokens).sum::<u64>()
        };
        for marking in reachable(&net).0 {
            for transition in net.transitions.iter().filter(|transition| transition.is_enabled(&marking)) {
                let after = transition.fire(&marking).expect("few steps");
                assert!(tokens(&siphon, &marking) > 0 || tokens(&siphon, &after) == 0, "seed {seed}");
                assert!(tokens(&trap, &marking) == 0 || tokens(&trap, &after) > 0, "seed {seed}");
            }
        }
    }
}

/// A net with many arcs of different weights, in which numbers grow beyond what fits.
fn dense_net(random: &mut Random, size: u64) -> Net {
    let mut net = Net::default();
    for number in 0..size {
        net.places.push(Place { name: format!("p{number}"), initial: random.below(9), bound: None });
    }
    for number in 0..size {
        let mut sides = [Vec::new(), Vec::new()];
        for side in &mut sides {
            for _ in 0..1 + random.below(4) {
                side.push((random.below(size) as u32, 1 + random.below(5)));
            }
            side.sort_unstable();
            side.dedup_by_key(|arc| arc.0);
        }
        let [takes, adds] = sides;
        net.transitions.push(Transition { name: format!("t{number}"), takes, adds });
    }
    net
}

#[test]
fn what_a_run_through_a_dense_net_reaches_is_not_refuted() {
    // Asked, with a solution in whole numbers, refuted: for markings that are reached, for some of their places alone,
    // and for markings with one token more, of which nothing is known.
    let mut counts = [[0u64; 3]; 3];
    for seed in 0..36 {
        let mut random = Random::new(4_000_000 + seed);
        let net = dense_net(&mut random, 10 + 10 * (seed % 6));
        let limits = bounds(&net, &go_on());
        let mut equation = Equation::with_bounds(&net, limits.clone()).expect("small numbers");
        let mut marking = net.initial();
        for step in 0..200 {
            let can_fire = |transition: &&Transition| transition.is_enabled(&marking);
            let enabled: Vec<&Transition> = net.transitions.iter().filter(can_fire).collect();
            if enabled.is_empty() {
                break;
            }
            marking = enabled[random.below(enabled.len() as u64) as usize].fire(&marking).expect("few steps");
            assert!(marking.iter().zip(&limits).all(|(tokens, limit)| limit.is_none_or(|limit| *tokens <= limit)));
            if random.below(8) > 0 {
                continue;
            }
            let mut more = marking.clone();
            more[random.below(net.places.len() as u64) as usize] += 1;
            let goals =
                [exactly(&marking, |_| true), exactly(&marking, |_| random.below(8) == 0), exactly(&more, |_| true)];
            for (kind, goal) in goals.iter().enumerate() {
                let answer = equation.refute(goal, Effort { cases: 50, pivots: 2_000, budget: &go_on() });
                assert!(kind == 2 || !answer.is_refuted(), "seed {seed}, step {step}, kind {kind}");
                counts[kind][0] += 1;
                counts[kind][1] += u64::from(matches!(answer, Answer::Maybe(Some(_))));
                counts[kind][2] += u64::from(answer.is_refuted());
            }
        }
    }
    println!("asked, solved, refuted: reached {:?}, in part {:?}, one more {:?}", counts[0], counts[1], counts[2]);
}

/// Some places have as many tokens as in a marking.
fn exactly(marking: &[u64], mut counts: impl FnMut(usize) -> bool) -> Condition {
    let mut parts = Vec::new();
    for (place, tokens) in marking.iter().enumerate().filter(|(place, _)| counts(*place)) {
        let (place, tokens) = (place as u32, *tokens as i64);
        parts.push(Condition::AtMost { terms: vec![(place, 1)], most: tokens });
        parts.push(Condition::AtMost { terms: vec![(place, -1)], most: -tokens });
    }
    Condition::all(parts)
}
