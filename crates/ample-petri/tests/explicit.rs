//! The explicit engine for nets against plain enumeration, on random nets.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use ample_budget::Budget;
use ample_logic::{Atom, Atoms, Formula, Lasso, semantics};
use ample_model::outcome::Reason;
use ample_petri::explicit::graph::evaluate;
use ample_petri::explicit::reduced::{Order, Strategy, deadlock, reach};
use ample_petri::explicit::search::{Questions, count, explore};
use ample_petri::explicit::temporal::{Ending, Endless, ctl, ltl};
use ample_petri::explicit::walk::{Patience, walk};
use ample_petri::explicit::{Limits, NetSpace};
use ample_petri::net::{Condition, Net, Place, Sum, Transition};
use ample_random::Random;

fn place(initial: u64, bound: Option<u64>) -> Place {
    Place { name: String::new(), initial, bound }
}

fn arcs(random: &mut Random, places: u64, most: u64, weight: u64) -> Vec<(u32, u64)> {
    let count = random.below(most + 1);
    let mut arcs: Vec<(u32, u64)> =
        (0..count).map(|_| (random.below(places) as u32, 1 + random.below(weight))).collect();
    arcs.sort_unstable();
    arcs.dedup_by_key(|arc| arc.0);
    arcs
}

fn random_net(seed: u64) -> Net {
    let mut random = Random::new(seed);
    let places = 1 + random.below(7);
    let weight = if random.below(3) == 0 { 3 } else { 1 };
    let mut transitions = Vec::new();
    for number in 0..random.below(9) {
        let takes = arcs(&mut random, places, 3, weight);
        let adds = arcs(&mut random, places, 3, weight);
        transitions.push(Transition { name: format!("t{number}"), takes, adds });
    }
    let places = (0..places).map(|_| place(random.below(3), None)).collect();
    Net { places, transitions, exclusive: vec![] }
}

/// Two or three small nets side by side, now and then with a transition that two of them take part in: many orders of
/// transitions that make no difference.
fn side_by_side(seed: u64) -> Net {
    let mut random = Random::new(seed ^ 0x51de);
    let mut net = Net::default();
    for _ in 0..2 + random.below(2) {
        let (start, own) = (net.places.len() as u32, 2 + random.below(2));
        for _ in 0..2 + random.below(2) {
            let mut ends = [random.below(own) as u32 + start, random.below(own) as u32 + start];
            let weight = 1 + random.below(8) / 7;
            // Now and then one from a part of the net that is there already, to be needed and given back.
            let other = random.below(u64::from(start)) as u32;
            let needs = start > 0 && random.below(5) == 0;
            if random.below(6) == 0 {
                ends[1] = other;
            }
            let shared = needs.then_some((other, 1));
            let mut arcs =
                [(ends[0], weight), (ends[1], weight)].map(|arc| Vec::from_iter(shared.into_iter().chain([arc])));
            for arcs in &mut arcs {
                arcs.sort_unstable();
                arcs.dedup_by_key(|arc| arc.0);
            }
            let [takes, adds] = arcs;
            net.transitions.push(Transition { name: String::new(), takes, adds });
        }
        net.places.extend((0..own).map(|number| place(u64::from(number == 0) + random.below(5) / 4, None)));
    }
    net
}

/// Everything that can be reached, if it is not too much: markings in breadth-first order, with successors.
struct Graph {
    markings: Vec<Vec<u64>>,
    next: Vec<Vec<usize>>,
    depth: Vec<usize>,
}

fn graph(net: &Net, most: usize) -> Option<Graph> {
    let mut numbers = HashMap::from([(net.initial(), 0)]);
    let mut graph = Graph { markings: vec![net.initial()], next: vec![], depth: vec![0] };
    let mut pending = VecDeque::from([0]);
    while let Some(state) = pending.pop_front() {
        let marking = graph.markings[state].clone();
        let mut next = Vec::new();
        for transition in net.transitions.iter().filter(|t| t.is_enabled(&marking)) {
            let after = transition.fire(&marking)?;
            let fresh = graph.markings.len();
            let number = *numbers.entry(after.clone()).or_insert(fresh);
            if number == fresh {
                graph.markings.push(after);
                graph.depth.push(graph.depth[state] + 1);
                pending.push_back(fresh);
            }
            next.push(number);
        }
        graph.next.push(next);
        if graph.markings.len() > most {
            return None;
        }
    }
    Some(graph)
}

/// Random nets whose state space is finite and small.
fn bounded_nets(seeds: std::ops::Range<u64>, most: usize) -> impl Iterator<Item = (u64, Net, Graph)> {
    bounded(seeds, most, random_net)
}

fn bounded(
    seeds: std::ops::Range<u64>,
    most: usize,
    make: impl Fn(u64) -> Net,
) -> impl Iterator<Item = (u64, Net, Graph)> {
    seeds.filter_map(move |seed| {
        let mut net = make(seed);
        let graph = graph(&net, most)?;
        // Some bounds are known, and some are wrong: that must be noticed.
        let mut random = Random::new(seed ^ 0xabcd);
        for (number, place) in net.places.iter_mut().enumerate() {
            let real = graph.markings.iter().map(|marking| marking[number]).max();
            place.bound = match random.below(4) {
                0 => None,
                1 => Some(1),
                _ => real,
            };
        }
        Some((seed, net, graph))
    })
}

fn random_condition(random: &mut Random, places: usize, depth: u64) -> Condition {
    if depth > 0 && random.below(2) == 0 {
        let parts = (0..2 + random.below(2)).map(|_| random_condition(random, places, depth - 1)).collect();
        return if random.below(2) == 0 { Condition::all(parts) } else { Condition::any(parts) };
    }
    let mut terms: Vec<(u32, i64)> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let factor = [1, -1, 1, -1, 2, -3][random.below(6) as usize];
        terms.push((random.below(places as u64) as u32, factor));
    }
    terms.sort_unstable();
    terms.dedup_by_key(|term| term.0);
    Condition::AtMost { terms, most: random.below(7) as i64 - 4 }
}

fn replay(net: &Net, run: &[u32]) -> Vec<u64> {
    let mut marking = net.initial();
    for transition in run {
        let transition = &net.transitions[*transition as usize];
        assert!(transition.is_enabled(&marking), "{run:?} cannot be fired");
        marking = transition.fire(&marking).unwrap();
    }
    marking
}

#[test]
fn counts_are_those_of_plain_enumeration() {
    let mut nets = 0;
    for (seed, net, graph) in bounded_nets(0..6000, 2000) {
        let counts = count(&net, &Limits::default(), &Budget::unlimited());
        assert_eq!(counts.ended, None, "seed {seed}");
        assert_eq!(counts.states, graph.markings.len() as u64, "seed {seed}");
        assert_eq!(counts.transitions, graph.next.iter().map(Vec::len).sum::<usize>() as u64, "seed {seed}");
        assert_eq!(counts.deadlocks, graph.next.iter().filter(|next| next.is_empty()).count() as u64, "seed {seed}");
        assert_eq!(Some(counts.most_in_place), graph.markings.iter().flatten().copied().max(), "seed {seed}");
        let most = graph.markings.iter().map(|marking| marking.iter().map(|n| u128::from(*n)).sum()).max();
        assert_eq!(Some(counts.most_in_marking), most, "seed {seed}");
        assert_eq!(Some(counts.statistics.depth), graph.depth.iter().max().map(|depth| *depth as u64), "seed {seed}");
        nets += 1;
    }
    assert!(nets > 2000, "only {nets} nets");
}

#[test]
fn goals_deadlocks_and_sums_are_found_together() {
    for (seed, net, graph) in bounded_nets(10_000..14_000, 1000) {
        let mut random = Random::new(seed ^ 77);
        let goals: Vec<Condition> = (0..4).map(|_| random_condition(&mut random, net.places.len(), 2)).collect();
        let mut sums = Vec::new();
        for _ in 0..2 {
            let terms = (0..net.places.len() as u32).map(|place| (place, random.below(5) as i64 - 2)).collect();
            sums.push(Sum { terms, plus: random.below(9) as i64 - 4 });
        }
        let questions = Questions { goals: &goals, deadlock: true, sums: &sums, ceilings: &[] };
        let answers = explore(&net, &questions, &Limits::default(), &Budget::unlimited());
        assert_eq!(answers.ended, None, "seed {seed}");
        let nearest = |test: &dyn Fn(usize) -> bool| {
            (0..graph.markings.len()).find(|state| test(*state)).map(|state| graph.depth[state])
        };
        for (goal, run) in goals.iter().zip(&answers.goals) {
            let expected = nearest(&|state| goal.holds(&graph.markings[state]));
            assert_eq!(run.as_ref().map(Vec::len), expected, "seed {seed}, {goal:?}");
            assert!(run.iter().all(|run| goal.holds(&replay(&net, run))), "seed {seed}, {goal:?}");
        }
        let expected = nearest(&|state| graph.next[state].is_empty());
        assert_eq!(answers.deadlock.as_ref().map(Vec::len), expected, "seed {seed}");
        for (sum, peak) in sums.iter().zip(&answers.peaks) {
            let value = |marking: &[u64]| {
                let each =
                    sum.terms.iter().map(|(place, factor)| i128::from(*factor) * marking[*place as usize] as i128);
                each.sum::<i128>() + i128::from(sum.plus)
            };
            assert_eq!(Some(peak.value), graph.markings.iter().map(|m| value(m)).max(), "seed {seed}");
            assert_eq!(value(&peak.marking), peak.value, "seed {seed}");
            assert_eq!(replay(&net, &peak.run), peak.marking, "seed {seed}");
        }
    }
}

#[test]
fn stubborn_sets_change_no_verdict_on_goals_and_deadlocks() {
    let mut left_out = 0;
    let kinds = bounded_nets(20_000..26_000, 500).chain(bounded(26_000..30_000, 500, side_by_side));
    for (seed, net, graph) in kinds {
        let mut random = Random::new(seed ^ 99);
        let goal = random_condition(&mut random, net.places.len(), 2);
        let nearest = (0..graph.markings.len()).find(|state| goal.holds(&graph.markings[*state]));
        let stuck = graph.next.iter().any(Vec::is_empty);
        for order in [Order::BestFirst, Order::DepthFirst, Order::BreadthFirst] {
            for stubborn in [false, true] {
                let strategy = Strategy { order, stubborn };
                let reached = reach(&net, &goal, strategy, &Limits::default(), &Budget::unlimited());
                assert_eq!(reached.ended, None, "seed {seed}");
                assert_eq!(reached.run.is_some(), nearest.is_some(), "seed {seed}, {strategy:?}, {goal:?}");
                assert!(reached.run.iter().all(|run| goal.holds(&replay(&net, run))), "seed {seed}");
                if order == Order::BreadthFirst {
                    let depth = nearest.map(|state| graph.depth[state]);
                    assert_eq!(reached.run.map(|run| run.len()), depth, "seed {seed}, {strategy:?}, {goal:?}");
                }
                let dead = deadlock(&net, strategy, &Limits::default(), &Budget::unlimited());
                assert_eq!((dead.run.is_some(), dead.ended), (stuck, None), "seed {seed}, {strategy:?}");
                if let Some(run) = dead.run {
                    let end = replay(&net, &run);
                    assert!(!net.transitions.iter().any(|t| t.is_enabled(&end)), "seed {seed}");
                }
                if stubborn && !stuck && dead.statistics.states < graph.markings.len() as u64 {
                    left_out += 1;
                }
            }
        }
    }
    assert!(left_out > 100, "the reduction left out something only {left_out} times");
}

fn random_ltl(random: &mut Random, depth: u64, next: bool) -> Formula {
    let atom = Formula::atom(Atom(random.below(2) as u32));
    if depth == 0 {
        return if random.below(2) == 0 { atom } else { !atom };
    }
    let part = |random: &mut Random| random_ltl(random, depth - 1, next);
    match random.below(if next { 8 } else { 7 }) {
        0 => part(random) & part(random),
        1 => part(random) | part(random),
        2 => part(random).finally(),
        3 => part(random).globally(),
        4 => part(random).until(part(random)),
        5 => part(random).release(part(random)),
        6 => !part(random),
        _ => part(random).next(),
    }
}

/// Whether the formula holds on all runs: the product with the automaton of the negation, and its cycles, plainly.
fn plain_ltl(graph: &Graph, formula: &Formula, letter: &dyn Fn(usize) -> u64) -> bool {
    let automaton = ample_logic::translate(&!formula.clone(), &Atoms::new(), Default::default()).unwrap();
    let mut numbers: HashMap<(usize, usize), usize> = HashMap::from([((0, automaton.initial), 0)]);
    let mut nodes = vec![(0, automaton.initial)];
    let mut edges: Vec<Vec<(usize, u32)>> = Vec::new();
    while let Some(&(state, q)) = nodes.get(edges.len()) {
        let bits = automaton.atoms.iter().enumerate();
        let valuation = bits.fold(0, |sum, (bit, atom)| sum | (letter(state) >> atom.0 & 1) << bit);
        let mut next = graph.next[state].clone();
        if next.is_empty() {
            next.push(state);
        }
        let mut out = Vec::new();
        for edge in automaton.successors(q).iter().filter(|e| e.label.iter().any(|cube| cube.matches(valuation))) {
            for to in &next {
                let fresh = nodes.len();
                let number = *numbers.entry((*to, edge.to)).or_insert(fresh);
                if number == fresh {
                    nodes.push((*to, edge.to));
                }
                out.push((number, edge.marks));
            }
        }
        edges.push(out);
    }
    let reach = |from: usize| {
        let mut seen = vec![false; nodes.len()];
        let mut pending = vec![from];
        while let Some(node) = pending.pop() {
            for (to, _) in &edges[node] {
                if !std::mem::replace(&mut seen[*to], true) {
                    pending.push(*to);
                }
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..nodes.len()).map(reach).collect();
    !(0..nodes.len()).any(|node| {
        let inside = |other: usize| reached[node][other] && reached[other][node];
        let members = (0..nodes.len()).filter(|other| inside(*other));
        let inner = members.flat_map(|other| edges[other].iter().filter(|(to, _)| inside(*to)));
        reached[node][node] && inner.fold(0, |all, (_, marks)| all | marks) == automaton.all_marks()
    })
}

/// The letters of an endless run.
fn word(net: &Net, run: &Endless, letter: &dyn Fn(&[u64]) -> u64) -> Lasso {
    let mut letters = vec![letter(&net.initial())];
    let all: Vec<u32> = run.prefix.iter().chain(&run.cycle).copied().collect();
    (1..=all.len()).for_each(|length| letters.push(letter(&replay(net, &all[..length]))));
    let end = replay(net, &run.prefix);
    match run.ending {
        Ending::Stutters => {
            assert!(!net.transitions.iter().any(|t| t.is_enabled(&end)));
            Lasso { cycle: vec![letters.pop().unwrap()], prefix: letters }
        }
        Ending::Cycle => {
            assert_eq!(replay(net, &all), end);
            letters.pop();
            Lasso { cycle: letters.split_off(run.prefix.len()), prefix: letters }
        }
        Ending::Open => panic!("a bounded net comes back"),
    }
}

#[test]
fn ltl_agrees_with_a_plain_product_with_and_without_stubborn_sets() {
    let (mut verdicts, mut smaller) = ([0, 0], 0);
    let kinds = bounded_nets(40_000..45_000, 50).chain(bounded(45_000..50_000, 80, side_by_side));
    for (seed, net, graph) in kinds {
        let mut random = Random::new(seed ^ 55);
        // Only the first places are looked at.
        let seen = net.places.len().min(3);
        let atoms: Vec<Condition> = (0..2).map(|_| random_condition(&mut random, seen, 1)).collect();
        let with_next = random.below(4) == 0;
        let depth = 1 + random.below(3);
        let formula = random_ltl(&mut random, depth, with_next);
        let letter = |marking: &[u64]| u64::from(atoms[0].holds(marking)) | u64::from(atoms[1].holds(marking)) << 1;
        let expected = plain_ltl(&graph, &formula, &|state| letter(&graph.markings[state]));
        verdicts[usize::from(expected)] += 1;
        let mut states = [0, 0];
        for stubborn in [false, true] {
            let linear = ltl(&net, &formula, &atoms, stubborn, &Limits::default(), &Budget::unlimited());
            assert_eq!(linear.verdict, Some(expected), "seed {seed}, stubborn {stubborn}, {formula:?}");
            assert_eq!(linear.counterexample.is_some(), !expected, "seed {seed}");
            states[usize::from(stubborn)] = linear.statistics.states;
            if let Some(run) = linear.counterexample {
                let word = word(&net, &run, &letter);
                assert_eq!(semantics::holds(&formula, &word), Ok(false), "seed {seed}, {formula:?}, {run:?}");
            }
        }
        smaller += usize::from(states[1] < states[0]);
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
    assert!(smaller > 300, "the reduction left out something only {smaller} times");
}

fn random_ctl(random: &mut Random, depth: u64) -> Formula {
    let atom = Formula::atom(Atom(random.below(2) as u32));
    if depth == 0 {
        return atom;
    }
    let part = |random: &mut Random| random_ctl(random, depth - 1);
    let path = match random.below(7) {
        0 => return part(random) & part(random),
        1 => return part(random) | part(random),
        2 => return !part(random),
        3 => part(random).finally(),
        4 => part(random).globally(),
        5 => part(random).until(part(random)),
        _ => part(random).next(),
    };
    if random.below(2) == 0 { path.exists() } else { path.all() }
}

/// The states where a formula holds, by fixed points; a dead state has no next one.
fn plain_ctl(graph: &Graph, formula: &Formula, atom: &dyn Fn(u32, usize) -> bool) -> Vec<bool> {
    use ample_logic::{Binary, Unary};
    let all = graph.markings.len();
    let sat = |f: &Formula| plain_ctl(graph, f, atom);
    let fixed = |start: bool, step: &dyn Fn(usize, &[bool]) -> bool| {
        let mut set = vec![start; all];
        loop {
            let next: Vec<bool> = (0..all).map(|state| step(state, &set)).collect();
            if next == set {
                return set;
            }
            set = next;
        }
    };
    let some = |state: usize, set: &[bool]| graph.next[state].iter().any(|next| set[*next]);
    let every = |state: usize, set: &[bool]| graph.next[state].iter().all(|next| set[*next]);
    match formula {
        Formula::True => vec![true; all],
        Formula::False => vec![false; all],
        Formula::Atom(number) => (0..all).map(|state| atom(number.0, state)).collect(),
        Formula::Binary(op, f, g) => {
            let (f, g) = (sat(f), sat(g));
            let join = |(f, g): (&bool, &bool)| if *op == Binary::And { *f && *g } else { *f || *g };
            f.iter().zip(&g).map(join).collect()
        }
        Formula::Unary(Unary::Not, f) => sat(f).into_iter().map(|value| !value).collect(),
        Formula::Unary(quantifier, path) => {
            let exists = *quantifier == Unary::Exists;
            let is_dead = |state: usize| graph.next[state].is_empty();
            match &**path {
                Formula::Unary(Unary::Next, f) => {
                    let f = sat(f);
                    (0..all).map(|s| if exists { some(s, &f) } else { every(s, &f) }).collect()
                }
                Formula::Unary(Unary::Globally, f) => {
                    let f = sat(f);
                    fixed(true, &|s, set| f[s] && if exists { is_dead(s) || some(s, set) } else { every(s, set) })
                }
                Formula::Unary(Unary::Finally, f) => {
                    let f = sat(f);
                    fixed(false, &|s, set| f[s] || if exists { some(s, set) } else { !is_dead(s) && every(s, set) })
                }
                Formula::Binary(Binary::Until, f, g) => {
                    let (f, g) = (sat(f), sat(g));
                    fixed(false, &|s, set| {
                        g[s] || f[s] && if exists { some(s, set) } else { !is_dead(s) && every(s, set) }
                    })
                }
                _ => unreachable!("not generated"),
            }
        }
    }
}

#[test]
fn ctl_agrees_with_fixed_points() {
    let mut verdicts = [0, 0];
    for (seed, net, graph) in bounded_nets(60_000..70_000, 200) {
        let mut random = Random::new(seed ^ 33);
        let atoms: Vec<Condition> = (0..2).map(|_| random_condition(&mut random, net.places.len(), 1)).collect();
        let depth = 1 + random.below(3);
        let formula = random_ctl(&mut random, depth);
        let atom = |number: u32, state: usize| atoms[number as usize].holds(&graph.markings[state]);
        let expected = plain_ctl(&graph, &formula, &atom)[0];
        let branching = ctl(&net, &formula, &atoms, &Limits::default(), &Budget::unlimited());
        assert_eq!(branching.verdict, Some(expected), "seed {seed}, {formula:?}");
        verdicts[usize::from(expected)] += 1;
        branching.run.iter().for_each(|run| {
            replay(&net, run);
        });
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
}

#[test]
fn ctl_on_the_whole_graph_agrees_with_fixed_points() {
    let mut verdicts = [0, 0];
    for (seed, net, graph) in bounded_nets(70_000..76_000, 200) {
        let mut random = Random::new(seed ^ 34);
        let atoms: Vec<Condition> = (0..2).map(|_| random_condition(&mut random, net.places.len(), 1)).collect();
        let formulas: Vec<Formula> = (0..4).map(|depth| random_ctl(&mut random, depth)).collect();
        let atom = |number: u32, state: usize| atoms[number as usize].holds(&graph.markings[state]);
        let mut found = vec![None; formulas.len()];
        let ended =
            evaluate(&net, &formulas, &atoms, &Limits::default(), &Budget::unlimited(), &|_| true, &mut |at, value| {
                found[at] = Some(value);
            });
        assert_eq!(ended, None, "seed {seed}");
        for (formula, value) in formulas.iter().zip(found) {
            let (expected, value) = (plain_ctl(&graph, formula, &atom), value.expect("every formula is evaluated"));
            assert_eq!(value.holds, expected[0], "seed {seed}, {formula:?}");
            verdicts[usize::from(value.holds)] += 1;
            // What is shown leads to where it is decided.
            if let Some(evidence) = value.evidence {
                let end = replay(&net, &evidence.prefix);
                let end = graph.markings.iter().position(|marking| *marking == end).expect("it can be reached");
                let Formula::Unary(_, path) = &evidence.formula else { panic!("{evidence:?}") };
                let Formula::Unary(_, inner) = &**path else { panic!("{evidence:?}") };
                assert_eq!(plain_ctl(&graph, inner, &atom)[end], evidence.holds, "seed {seed}, {evidence:?}");
            }
        }
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
}

/// That a transition with many bindings can fire, or cannot, and sums over many places: such conditions have an index,
/// and are added up a word at a time.
#[test]
fn large_conditions_have_the_values_of_their_parts() {
    for seed in 0..400 {
        let mut random = Random::new(seed ^ 35);
        let places = 10 + random.below(150) as usize;
        let widest = [1, 1, 255, 1000][random.below(4) as usize];
        let marked = |random: &mut Random| if random.below(5) == 0 { random.below(widest + 1) } else { 0 };
        let place = |random: &mut Random| Place { name: String::new(), initial: marked(random), bound: Some(widest) };
        let net = Net { places: (0..places).map(|_| place(&mut random)).collect(), ..Net::default() };
        let at_least = |random: &mut Random| {
            let (place, tokens) = (random.below(places as u64) as u32, 1 + random.below(widest.min(3)) as i64);
            Condition::AtMost { terms: vec![(place, -1)], most: -tokens }
        };
        let binding = |random: &mut Random| match random.below(8) {
            0 => random_condition(random, places, 1),
            1 => at_least(random),
            _ => Condition::all((0..2 + random.below(2)).map(|_| at_least(random)).collect()),
        };
        let fireable = Condition::any((0..1 + random.below(60)).map(|_| binding(&mut random)).collect());
        let factor = |random: &mut Random| [1, 1, 1, -1, 2][random.below(5) as usize];
        let terms: Vec<(u32, i64)> = (0..places as u32).map(|place| (place, factor(&mut random))).collect();
        let sum = Condition::AtMost { terms, most: random.below(20) as i64 - 10 };
        let mixed = Condition::all(vec![fireable.negated(), Condition::any(vec![sum.clone(), fireable.clone()])]);
        for condition in [fireable.clone(), fireable.negated(), sum, mixed] {
            let goals = [condition.clone()];
            let questions = Questions { goals: &goals, ..Questions::default() };
            let found = explore(&net, &questions, &Limits::default(), &Budget::unlimited()).goals[0].is_some();
            assert_eq!(found, condition.holds(&net.initial()), "seed {seed}, {condition:?}, {:?}", net.initial());
            assert_eq!(condition.negated().holds(&net.initial()), !found, "seed {seed}");
        }
    }
}

#[test]
fn walks_find_only_what_is_there() {
    let mut found = 0;
    for (seed, net, graph) in bounded_nets(80_000..81_500, 300) {
        let mut random = Random::new(seed ^ 11);
        let goals: Vec<Condition> = (0..3).map(|_| random_condition(&mut random, net.places.len(), 1)).collect();
        let sums = [Sum { terms: (0..net.places.len() as u32).map(|place| (place, 1)).collect(), plus: 1 }];
        let questions = Questions { goals: &goals, deadlock: true, sums: &sums, ceilings: &[] };
        let patience = Patience { steps: 20_000, longest: 500, seed, ..Patience::default() };
        let answers = walk(&net, &questions, patience, &Budget::unlimited());
        for (goal, run) in goals.iter().zip(&answers.goals) {
            assert!(run.iter().all(|run| goal.holds(&replay(&net, run))), "seed {seed}");
            found += usize::from(run.is_some());
        }
        if let Some(run) = &answers.deadlock {
            let end = replay(&net, run);
            assert!(!net.transitions.iter().any(|t| t.is_enabled(&end)), "seed {seed}");
        }
        let peak = &answers.peaks[0];
        assert_eq!(replay(&net, &peak.run), peak.marking, "seed {seed}");
        assert_eq!(peak.marking.iter().sum::<u64>() as i128 + 1, peak.value, "seed {seed}");
        let most = graph.markings.iter().map(|marking| marking.iter().sum::<u64>()).max();
        assert!(peak.value <= most.unwrap() as i128 + 1, "seed {seed}");
        assert!(answers.ended.is_some(), "a sum without a ceiling is never decided");
    }
    assert!(found > 500, "only {found} goals were found");
}

/// One place gets all the tokens of others, many at a time.
fn growing_net(weight: u64, rounds: u64) -> Net {
    let pump = Transition { name: "pump".into(), takes: vec![(0, 1)], adds: vec![(1, weight)] };
    let back = Transition { name: "back".into(), takes: vec![(1, weight + 1)], adds: vec![(2, weight + 1)] };
    Net {
        places: vec![place(rounds, Some(rounds)), place(0, None), place(0, Some(1))],
        transitions: vec![pump, back],
        exclusive: vec![],
    }
}

#[test]
fn cells_grow_until_the_tokens_fit() {
    for (weight, rounds) in [(1, 2), (100, 5), (300, 4), (70_000, 3), (5_000_000_000, 6), (1 << 62, 3)] {
        let net = growing_net(weight, rounds);
        let graph = graph(&net, 1000).unwrap();
        let counts = count(&net, &Limits::default(), &Budget::unlimited());
        assert_eq!((counts.states, counts.ended), (graph.markings.len() as u64, None), "{weight}");
        assert_eq!(counts.most_in_place, weight * rounds, "{weight}");
        let atoms = [Condition::AtMost { terms: vec![(0, 1)], most: 0 }];
        let formula = Formula::atom(Atom(0)).finally();
        let linear = ltl(&net, &formula, &atoms, true, &Limits::default(), &Budget::unlimited());
        assert_eq!(linear.verdict, Some(true), "{weight}");
        let branching = ctl(&net, &formula.all(), &atoms, &Limits::default(), &Budget::unlimited());
        assert_eq!(branching.verdict, Some(true), "{weight}");
    }
}

#[test]
fn more_tokens_than_64_bits_are_refused() {
    let net = growing_net(i64::MAX as u64, 5);
    let counts = count(&net, &Limits::default(), &Budget::unlimited());
    assert!(matches!(counts.ended, Some(Reason::Unsupported(_))));
    let double = Transition { name: String::new(), takes: vec![], adds: vec![(0, u64::MAX)] };
    let net = Net { places: vec![place(0, None)], transitions: vec![double], exclusive: vec![] };
    assert!(matches!(count(&net, &Limits::default(), &Budget::unlimited()).ended, Some(Reason::Unsupported(_))));
    assert!(NetSpace::new(&net, &[], &[]).is_err());
}

#[test]
fn nets_without_places_or_transitions_are_nets() {
    let source = Transition::default();
    let still = Net { places: vec![place(2, Some(2))], ..Net::default() };
    let idle = Net { transitions: vec![source], ..Net::default() };
    for (net, transitions) in [(Net::default(), 0), (still, 0), (idle, 1)] {
        let limits = Limits::default();
        let counts = count(&net, &limits, &Budget::unlimited());
        assert_eq!((counts.states, counts.transitions), (1, transitions));
        let dead = deadlock(&net, Strategy::default(), &limits, &Budget::unlimited());
        assert_eq!(dead.run.is_some(), transitions == 0);
        for goal in [Condition::Const(true), Condition::Const(false)] {
            let reached = reach(&net, &goal, Strategy::default(), &limits, &Budget::unlimited());
            assert_eq!((reached.run.is_some(), reached.ended), (goal == Condition::Const(true), None));
        }
        let formula = Formula::atom(Atom(0)).globally().finally();
        let atoms = [Condition::Const(true)];
        assert_eq!(ltl(&net, &formula, &atoms, true, &limits, &Budget::unlimited()).verdict, Some(true));
        assert_eq!(ltl(&net, &!formula, &atoms, true, &limits, &Budget::unlimited()).verdict, Some(false));
        let next = Formula::True.next().exists();
        assert_eq!(ctl(&net, &next, &[], &limits, &Budget::unlimited()).verdict, Some(transitions == 1));
        let patience = Patience { steps: 10_000, ..Patience::default() };
        let questions = Questions { deadlock: true, ..Questions::default() };
        assert_eq!(walk(&net, &questions, patience, &Budget::unlimited()).deadlock.is_some(), transitions == 0);
    }
}

#[test]
fn what_reads_missing_places_is_refused() {
    let net = Net { places: vec![place(1, None)], ..Net::default() };
    let limits = Limits::default();
    let goal = Condition::AtMost { terms: vec![(7, 1)], most: 0 };
    let goals = [goal.clone()];
    let questions = Questions { goals: &goals, ..Questions::default() };
    assert!(explore(&net, &questions, &limits, &Budget::unlimited()).ended.is_some());
    assert!(walk(&net, &questions, Patience::default(), &Budget::unlimited()).ended.is_some());
    assert!(reach(&net, &goal, Strategy::default(), &limits, &Budget::unlimited()).ended.is_some());
    let formula = Formula::atom(Atom(0)).finally();
    assert!(ltl(&net, &formula, &goals, true, &limits, &Budget::unlimited()).ended.is_some());
    assert!(ltl(&net, &formula, &[], true, &limits, &Budget::unlimited()).ended.is_some());
    assert!(ctl(&net, &formula.all(), &goals, &limits, &Budget::unlimited()).ended.is_some());
}

/// Ends a search after so many states.
fn most(states: u64) -> Budget {
    Budget::unlimited().until(move |progress| progress.states >= states).0
}

/// Two places that fill up for ever.
fn unbounded() -> Net {
    let pump = |place| Transition { name: String::new(), takes: vec![], adds: vec![(place, 1)] };
    Net { places: vec![place(0, None), place(0, None)], transitions: vec![pump(0), pump(1)], exclusive: vec![] }
}

#[test]
fn unbounded_nets_end_by_a_limit() {
    let net = unbounded();
    let small = Limits { memory: 1 << 20, ..Limits::default() };
    let unreachable = Condition::AtMost { terms: vec![(0, 1)], most: -1 };
    assert_eq!(count(&net, &small, &Budget::unlimited()).ended, Some(Reason::Memory));
    assert_eq!(count(&net, &Limits::default(), &most(50_000)).ended, Some(Reason::Interrupted));
    let strategy = Strategy { stubborn: false, ..Strategy::default() };
    assert_eq!(reach(&net, &unreachable, strategy, &small, &Budget::unlimited()).ended, Some(Reason::Memory));
    // Nothing can help, which stubborn sets see at once.
    assert_eq!(reach(&net, &unreachable, Strategy::default(), &small, &Budget::unlimited()).ended, None);
    let dead = deadlock(&net, Strategy::default(), &small, &Budget::unlimited());
    assert_eq!((dead.run, dead.ended), (None, Some(Reason::Memory)));
    let atoms = [unreachable];
    let formula = Formula::atom(Atom(0)).finally();
    let linear = ltl(&net, &!formula.clone().globally(), &atoms, true, &small, &Budget::unlimited());
    assert_eq!((linear.verdict, linear.ended), (None, Some(Reason::Memory)));
    let branching = ctl(&net, &formula.all(), &atoms, &small, &Budget::unlimited());
    assert_eq!((branching.verdict, branching.ended), (None, Some(Reason::Memory)));
    let patience = Patience { time: Duration::from_millis(50), ..Patience::default() };
    let sums = [Sum { terms: [(0, 1)].into(), plus: 0 }];
    let answers = walk(&net, &Questions { sums: &sums, ..Questions::default() }, patience, &Budget::unlimited());
    assert_eq!(answers.ended, Some(Reason::Time));
    assert!(answers.peaks[0].value > 100);
}

#[test]
fn sums_with_a_ceiling_end_the_search() {
    let net = unbounded();
    let sums = [Sum { terms: [(0, 1), (1, 1)].into(), plus: 0 }];
    let questions = Questions { sums: &sums, ceilings: &[Some(20)], ..Questions::default() };
    let answers = explore(&net, &questions, &Limits::default(), &Budget::unlimited());
    assert_eq!((answers.peaks[0].value, answers.ended), (20, None));
    assert_eq!(answers.peaks[0].run.len(), 20);
    assert_eq!(walk(&net, &questions, Patience::default(), &Budget::unlimited()).ended, None);
}

#[test]
fn large_nets_are_searched() {
    // A ring of 100,000 places in which one token goes round.
    let size = 100_000_u32;
    let transitions =
        (0..size).map(|at| Transition { name: String::new(), takes: vec![(at, 1)], adds: vec![((at + 1) % size, 1)] });
    let places = (0..size).map(|at| place(u64::from(at == 0), Some(1))).collect();
    let net = Net { places, transitions: transitions.collect(), exclusive: vec![] };
    let goal = Condition::AtMost { terms: vec![(300, -1)], most: -1 };
    let reached = reach(&net, &goal, Strategy::default(), &Limits::default(), &Budget::unlimited());
    assert_eq!(reached.run.map(|run| run.len()), Some(300));
    let goals = [goal];
    let questions = Questions { goals: &goals, ..Questions::default() };
    assert_eq!(
        explore(&net, &questions, &Limits::default(), &Budget::unlimited()).goals[0].as_ref().map(Vec::len),
        Some(300)
    );
    let answers =
        walk(&net, &questions, Patience { time: Duration::from_secs(5), ..Patience::default() }, &Budget::unlimited());
    assert_eq!(answers.goals[0].as_ref().map(Vec::len), Some(300));
}
