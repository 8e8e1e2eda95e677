//! Random nets, random formulas: every construction gives the same graph, every verdict is that of a plain search, and
//! every run that is shown can be run.

mod common;

use std::sync::Arc;

use ample_budget::{Budget, Cancellation};
use ample_logic::{Atom, Formula};
use ample_petri::net::{Condition, Net};
use ample_random::Random;
use ample_sog::check::collapsed_word;
use ample_sog::engine::{self, Said, SogFormula, SogOptions};
use ample_sog::{
    Balance, Binary, BuildOptions, Canonical, CheckOptions, Checked, Ending, Error, Explicit, Graph, Labelled, Lists,
    Meaning, Model, Observed, Question, Rule, Witness, build, build_with_threads, check, check_graph, is_insensitive,
};
use ample_symbolic::{Portable, Sets};
use common::{Generate, Says, Space, is_marked, marked, system};

const MEMORY: u64 = 1 << 28;

fn sequential<M: Model>(model: &M, observed: &Observed, canonical: Canonical) -> Graph {
    let budget = Budget::unlimited();
    build(&mut model.sets(1, &budget).unwrap(), observed, canonical, MEMORY, &budget).unwrap()
}

fn atoms(net: &Net) -> Vec<(String, Condition)> {
    (0..net.places.len() as u32).map(|place| (format!("p{place}"), marked(place))).collect()
}

/// One of each kind.
fn kinds(random: &mut Random, net: &Net, sets: &Labelled<impl Portable>) -> Vec<Observed> {
    let count = net.transitions.len();
    let actions: Vec<usize> = (0..count).filter(|_| random.below(3) == 0).collect();
    let atoms: Vec<usize> = (0..net.places.len()).filter(|_| random.below(2) == 0).collect();
    vec![
        Observed::events(count, &actions).unwrap(),
        Observed::split(count, &actions, 3).unwrap(),
        Observed::events_and_states(count, &actions, &atoms).unwrap(),
        Observed::events_and_states(count, &[], &atoms).unwrap(),
        Observed::by_reading(sets, count, &actions, &atoms).unwrap(),
    ]
}

#[test]
fn all_engines_and_threads_build_the_same_graph() {
    let mut repeats = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let net = random.net();
        let explicit = Explicit::new(net.clone(), atoms(&net));
        let lists = Lists::new(net.clone(), atoms(&net), MEMORY);
        let expressions: Vec<_> = (0..net.places.len() as u32).map(|p| (format!("p{p}"), is_marked(p))).collect();
        let binary = Binary::new(&system(&net), &expressions, MEMORY, &Arc::default()).unwrap();
        // Moves that are never possible are no actions there.
        let is_whole = binary.actions().len() == net.transitions.len();
        let sets = explicit.sets(1, &Arc::default()).unwrap();
        for observed in kinds(&mut random, &net, &sets) {
            let graph = sequential(&explicit, &observed, Canonical::None);
            let others = sequential(&lists, &observed, Canonical::None);
            check_definition(&explicit, &graph, seed);
            if observed.parts == 1 {
                assert!(same(&graph, &others), "seed {seed} {observed:?}\n{graph:?}\n{others:?}");
                if is_whole {
                    let third = sequential(&binary, &observed, Canonical::None);
                    assert!(same(&graph, &third), "seed {seed} {observed:?}");
                }
            }
            let reduced = sequential(&lists, &observed, Canonical::Full);
            assert!(same(&others, &reduced), "seed {seed} {observed:?}");
            for threads in 1..=8 {
                let balance = [Balance::Order, Balance::Steal, Balance::MinLoad][random.below(3usize)];
                let canonical = [Canonical::None, Canonical::Full, Canonical::Sent][random.below(3)];
                let options = BuildOptions { threads, balance, canonical, ..BuildOptions::default() };
                let (built, _) = build_with_threads(&lists, &observed, &options).unwrap();
                let expected = if canonical == Canonical::Full { &reduced } else { &others };
                assert_eq!(&built, expected, "seed {seed}, {threads} threads, {balance:?}, {canonical:?}");
                repeats += 1;
            }
        }
    }
    assert!(repeats > 2000);
}

/// The same up to the order of arcs with one label, which depends on bytes of sets.
fn same(one: &Graph, other: &Graph) -> bool {
    if one.aggregates.len() != other.aggregates.len() || one.initial.len() != other.initial.len() {
        return false;
    }
    // Aggregates get finer classes as long as their successors tell them apart.
    let classes = |graph: &Graph| {
        let mut class: Vec<u64> = vec![0; graph.aggregates.len()];
        for _ in 0..graph.aggregates.len().min(40) {
            let next = graph.aggregates.iter().map(|a| {
                let mut arcs: Vec<_> = a.arcs.iter().map(|(action, to)| (*action, class[*to])).collect();
                arcs.sort_unstable();
                let facts = (a.label, a.facts.dead, a.facts.divergent, a.facts.states);
                use std::hash::BuildHasher;
                std::hash::BuildHasherDefault::<std::collections::hash_map::DefaultHasher>::default()
                    .hash_one((facts, arcs))
            });
            class = next.collect();
        }
        class.sort_unstable();
        class
    };
    classes(one) == classes(other)
}

/// Looks at each aggregate state by state.
fn check_definition(model: &Explicit, graph: &Graph, seed: u64) {
    let mut sets = model.sets(1, &Arc::default()).unwrap();
    let observed = &graph.observed;
    let mut covered = sets.empty();
    for aggregate in &graph.aggregates {
        let set = sets.decode(&aggregate.set).unwrap();
        covered = sets.union(&covered, &set).unwrap();
        assert_eq!(sets.count(&set).unwrap(), aggregate.facts.states.into());
        for (bit, atom) in observed.atoms.iter().enumerate() {
            let holding = sets.holding(&set, *atom).unwrap();
            let expected = if aggregate.label >> bit & 1 == 1 { aggregate.facts.states } else { 0 };
            assert_eq!(sets.count(&holding).unwrap(), expected.into(), "seed {seed}: one label for an aggregate");
        }
        for action in 0..model.actions().len() {
            let image = sets.image(&set, action).unwrap();
            let is_observed = observed.actions.contains(&action);
            let has_arc = aggregate.arcs.iter().any(|(label, _)| *label == Some(action));
            assert_eq!(is_observed && !sets.is_empty(&image), has_arc, "seed {seed}: an arc for what is enabled");
            // Nothing gets lost: what is reached is in the aggregate or in one that an arc leads to.
            let mut there = if is_observed { sets.empty() } else { set.clone() };
            for (label, to) in &aggregate.arcs {
                if *label == is_observed.then_some(action) {
                    let other = sets.decode(&graph.aggregates[*to].set).unwrap();
                    there = sets.union(&there, &other).unwrap();
                }
            }
            let lost = sets.minus(&image, &there).unwrap();
            assert!(sets.is_empty(&lost), "seed {seed}: a successor is missing");
        }
    }
    let all: Vec<usize> = (0..model.actions().len()).collect();
    let initial = sets.initial().unwrap();
    assert!(sets.closure(&initial, &all).unwrap() == covered, "seed {seed}: aggregates cover the reachable states");
}

/// Atoms of formulas: three conditions and two events.
fn says(random: &mut Random, net: &Net) -> (Vec<Says>, Vec<Meaning>, Vec<(String, Condition)>) {
    let mut conditions = Vec::new();
    for number in 0..3 {
        let place = random.below(net.places.len()) as u32;
        let most = if number == 2 { -2 } else { -1 };
        conditions.push((format!("c{number}"), Condition::AtMost { terms: vec![(place, -1)], most }));
    }
    let mut says: Vec<Says> = conditions.iter().map(|(_, condition)| Says::State(condition.clone())).collect();
    let mut meanings: Vec<Meaning> = (0..3).map(Meaning::State).collect();
    for _ in 0..2 {
        let action = random.below(net.transitions.len());
        says.push(Says::Event(action));
        meanings.push(Meaning::Event(vec![action]));
    }
    (says, meanings, conditions)
}

/// Runs the witness on the net itself.
fn replay(net: &Net, witness: &Witness) {
    assert_eq!(witness.start, net.initial());
    let mut marking = net.initial();
    let fire = |marking: &mut Vec<u64>, action: &usize| {
        assert!(net.transitions[*action].is_enabled(marking), "not enabled");
        *marking = net.transitions[*action].fire(marking).unwrap();
    };
    witness.prefix.iter().for_each(|action| fire(&mut marking, action));
    let base = marking.clone();
    witness.cycle.iter().for_each(|action| fire(&mut marking, action));
    match witness.ending {
        Ending::Cycle => assert!(!witness.cycle.is_empty() && base == marking),
        Ending::Stuck => assert!(!net.transitions.iter().any(|t| t.is_enabled(&marking))),
        Ending::Fault => panic!("a net has no faults"),
    }
}

/// Checks with one engine; a violation must be a run of the net.
fn verdict<M: Model>(model: &M, net: &Net, question: &Question, options: &CheckOptions) -> (bool, Checked) {
    let checked = check(model, question, options).unwrap();
    if let Some(witness) = &checked.violation {
        replay(net, witness);
    }
    (checked.violation.is_none(), checked)
}

#[test]
fn verdicts_are_those_of_a_plain_search() {
    let (mut violated, mut insensitive, mut total) = (0, 0, 0);
    for seed in 1000..1400 {
        let mut random = Random::new(seed);
        let net = random.net();
        let space = Space::of(&net);
        if space.markings.len() > 300 {
            continue;
        }
        let (says, meanings, conditions) = says(&mut random, &net);
        let explicit = Explicit::new(net.clone(), conditions.clone());
        let lists = Lists::new(net.clone(), conditions, MEMORY);
        for _ in 0..4 {
            let with_events = random.below(2) == 1;
            let size = 2 + random.below(7);
            let formula = random.formula(size, if with_events { 5 } else { 3 });
            // Only events that are in the formula are observed.
            let used = formula.atoms();
            let is_used = |number: usize| used.iter().any(|atom| atom.0 as usize == number);
            let said: Vec<Says> = says
                .iter()
                .enumerate()
                .map(|(n, s)| if is_used(n) { s.clone() } else { Says::State(Condition::Const(false)) })
                .collect();
            let question = Question { formula: formula.clone(), meanings: meanings.clone() };
            let expected = space.satisfies(&formula, &said, true);
            let context = format!("seed {seed}, {formula:?} on {net:?} with {said:?}");
            if is_insensitive(&question).unwrap() {
                assert_eq!(space.satisfies(&formula, &said, false), expected, "strict and collapsed, {context}");
                insensitive += 1;
            } else {
                let refused = check(&lists, &question, &CheckOptions::default());
                assert!(matches!(refused, Err(Error::Unsupported(_))), "{context}");
            }
            for rule in [Rule::Static, Rule::Definition] {
                let threads = 1 + random.below(3);
                let canonical = [Canonical::None, Canonical::Full, Canonical::Sent][random.below(3)];
                let build = BuildOptions { threads, canonical, ..BuildOptions::default() };
                let options = CheckOptions { build, rule, on_demand: random.below(2) == 0, collapsed: true };
                let (holds, checked) = verdict(&lists, &net, &question, &options);
                assert_eq!(holds, expected, "{rule:?}, {context}");
                if let (Some(graph), true) = (&checked.graph, seed % 4 == 0) {
                    let again = check_graph(&lists, graph, &question, true, &Arc::default()).unwrap();
                    assert_eq!(again.violation.is_none(), expected, "{rule:?}, again, {context}");
                }
                if seed % 3 == 0 {
                    assert_eq!(verdict(&explicit, &net, &question, &options).0, expected, "{rule:?}, {context}");
                }
            }
            total += 1;
            violated += usize::from(!expected);
        }
    }
    println!("{total} formulas, {violated} violated, {insensitive} insensitive");
    assert!(total > 1000 && violated > total / 5 && violated < total * 9 / 10);
}

#[test]
fn verdicts_are_the_same_with_binary_diagrams() {
    for seed in 3000..3060 {
        let mut random = Random::new(seed);
        let net = random.net();
        let space = Space::of(&net);
        let (mut says, mut meanings) = (Vec::new(), Vec::new());
        for place in 0..2 {
            says.push(Says::State(marked(place)));
            meanings.push(Meaning::State(place as usize));
        }
        let expressions = vec![("p0".to_owned(), is_marked(0)), ("p1".to_owned(), is_marked(1))];
        let model = Binary::new(&system(&net), &expressions, MEMORY, &Arc::default()).unwrap();
        for _ in 0..3 {
            let formula = random.formula(6, 2);
            let expected = space.satisfies(&formula, &says, true);
            let question = Question { formula: formula.clone(), meanings: meanings.clone() };
            for rule in [Rule::Static, Rule::Definition] {
                let options = CheckOptions { rule, ..CheckOptions::default() };
                let checked = check(&model, &question, &options).unwrap();
                assert_eq!(checked.violation.is_none(), expected, "seed {seed} {rule:?} {formula:?} {net:?}");
                if let Some(witness) = checked.violation {
                    let moves = model.moves();
                    let edges = |actions: &[usize]| {
                        actions.iter().map(|a| moves[*a].movers().next().unwrap().1.index()).collect::<Vec<_>>()
                    };
                    let on_net = Witness {
                        start: net.initial(),
                        prefix: edges(&witness.prefix),
                        cycle: edges(&witness.cycle),
                        ending: witness.ending,
                    };
                    replay(&net, &on_net);
                }
            }
        }
    }
}

#[test]
fn the_trap_of_unobserved_steps_is_refused_or_judged_without_them() {
    // u leads to where a loops: `a` and `G a` are false, for u comes first; without u they are true.
    let mut net = common::NetBuilder::default();
    net.place("before", 1);
    net.place("after", 0);
    net.transition("u", "before", "after");
    net.transition("a", "after", "after");
    let model = Explicit::new(net.done(), vec![]);
    let a = || ample_logic::Formula::atom(ample_logic::Atom(0));
    let ask = |formula| Question { formula, meanings: vec![Meaning::Event(vec![1])] };
    for formula in [a(), a().globally()] {
        let question = ask(formula);
        assert!(!is_insensitive(&question).unwrap());
        assert!(matches!(check(&model, &question, &CheckOptions::default()), Err(Error::Unsupported(_))));
        let options = CheckOptions { collapsed: true, ..CheckOptions::default() };
        assert!(check(&model, &question, &options).unwrap().violation.is_none());
    }
    for formula in [a().finally(), a().finally().globally(), (!a()).until(a())] {
        let question = ask(formula);
        assert!(is_insensitive(&question).unwrap());
        assert!(check(&model, &question, &CheckOptions::default()).unwrap().violation.is_none());
    }
    let next = ask(a().next());
    assert!(matches!(check(&model, &next, &CheckOptions::default()), Err(Error::Unsupported(_))));
}

#[test]
fn a_violation_is_found_before_the_graph_is_complete() {
    let net = common::philosophers(8);
    let eats = common::named(&net, |name| name.starts_with("Release"));
    let model = Lists::new(net, vec![], MEMORY);
    let formula = !ample_logic::Formula::atom(ample_logic::Atom(0)).finally();
    let question = Question { formula, meanings: vec![Meaning::Event(eats)] };
    let options = CheckOptions { on_demand: true, ..CheckOptions::default() };
    let checked = check(&model, &question, &options).unwrap();
    let witness = checked.violation.unwrap();
    assert!(checked.aggregates.1 <= 10, "{:?}", checked.aggregates);
    let mut sets = model.sets(1, &Arc::default()).unwrap();
    let observed = Observed::events(model.actions().len(), &question.events()).unwrap();
    assert!(collapsed_word(&mut sets, &observed, &witness).is_ok());
}

#[test]
fn it_ends_when_it_is_told_to() {
    let net = common::ring(7);
    let actions = common::named(&net, |name| name.starts_with("give") || name.starts_with("put"));
    let model = Lists::new(net, vec![], MEMORY);
    let observed = Observed::events(model.actions().len(), &actions).unwrap();
    let cancellation = Cancellation::new();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    let options = BuildOptions { threads: 2, budget, ..BuildOptions::default() };
    let begun = std::time::Instant::now();
    let timer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        cancellation.cancel();
    });
    assert_eq!(build_with_threads(&model, &observed, &options).unwrap_err(), Error::Cancelled);
    timer.join().unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    let small = BuildOptions { max_bytes: 10_000, ..BuildOptions::default() };
    assert_eq!(build_with_threads(&model, &observed, &small).unwrap_err(), Error::Memory);
}

/// A condition of the formula's table that the formula does not mention is not observed: a run that changes it has a shorter
/// collapsed word.
#[test]
fn atoms_that_a_formula_does_not_mention_do_not_count_in_its_collapsed_words() {
    let mut net = common::NetBuilder::default();
    net.place("a", 1);
    net.place("b", 0);
    net.place("c", 1);
    net.transition("there", "a", "b");
    net.transition("used", "b c", "c");
    let system = system(&net.done());
    let atoms = vec![Said::State(is_marked(0)), Said::State(is_marked(2)), Said::Event("used".into())];
    let formula = !(Formula::atom(Atom(2)) & Formula::atom(Atom(1)));
    let options = SogOptions { collapsed: true, compare_labels: true, ..SogOptions::default() };
    let judged = engine::check(&system, &SogFormula::over(formula, atoms), &options, &Budget::unlimited()).unwrap();
    assert_eq!(judged.violation.unwrap().violation().trace.prefix.len(), 2);
}
