//! The algorithms against plain enumeration and against each other, on random systems of a few processes.

use ample_budget::Budget;
use std::collections::{BTreeSet, HashMap};

use ample_logic::{Atom, Formula};
use ample_random::Random;

use crate::ctl::{Ctl, Evaluator, known_atoms};
use crate::diagram::{Bdd, Diagrams};
use crate::fair::Fairness;
use crate::ltl::{Lasso, Product, Reduction, Runs, Strategy};
use crate::partial::{Preserve, Variant, areduce, explore, improviso, reduced_space};
use crate::process_model::{Demand, process_model};
use crate::reach::{Effort, Method, reachable, run_to};
use crate::space::{Space, SpaceSets, Step};

/// So many of them, but each only once.
fn some(random: &mut Random, from: &[u32], count: u64) -> Vec<u32> {
    let mut chosen: Vec<u32> = (0..count).map(|_| random.pick(from)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// A step by tables over the bits that it reads.
struct Plain {
    process: u32,
    reads: Vec<u32>,
    guard: Vec<bool>,
    writes: Vec<u32>,
    values: Vec<Vec<bool>>,
}

impl Plain {
    fn index(&self, state: u32) -> usize {
        self.reads.iter().enumerate().map(|(k, bit)| ((state >> bit & 1) as usize) << k).sum()
    }

    fn next(&self, state: u32) -> Option<u32> {
        let index = self.index(state);
        if !self.guard[index] {
            return None;
        }
        let mut next = state;
        for (bit, values) in self.writes.iter().zip(&self.values) {
            next = next & !(1 << bit) | u32::from(values[index]) << bit;
        }
        Some(next)
    }
}

const PROCESSES: u32 = 3;
/// Two bits for each process, and two that are shared.
const BITS: u32 = PROCESSES * 2 + 2;
const SHARED: [u32; 2] = [BITS - 2, BITS - 1];

struct Sample {
    space: Space,
    steps: Vec<Plain>,
    initial: Vec<u32>,
}

fn sample(seed: u64) -> Sample {
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
    for process in 0..PROCESSES {
        let own = [process * 2, process * 2 + 1];
        for _ in 0..2 + random.below(3) {
            let is_local = random.below(5) > 1;
            let mut reads = own.to_vec();
            if !is_local {
                let others: Vec<u32> = (0..BITS).collect();
                let from = if random.below(6) == 0 { &others[..] } else { &SHARED[..] };
                reads.extend(some(&mut random, from, 1));
                reads.sort_unstable();
                reads.dedup();
            }
            let places: Vec<u32> = if is_local { own.to_vec() } else { own.into_iter().chain(SHARED).collect() };
            let writes = some(&mut random, &places, 2);
            let size = 1 << reads.len();
            let guard = (0..size).map(|_| random.below(3) == 0).collect();
            let values = writes.iter().map(|_| (0..size).map(|_| random.below(2) == 1).collect()).collect();
            steps.push(Plain { process, reads, guard, writes, values });
        }
    }
    let initial: Vec<u32> = (0..1 + random.below(2)).map(|_| random.below(1 << BITS) as u32).collect();
    let space = space(&steps, &initial);
    Sample { space, steps, initial }
}

fn bits_of(state: u32) -> Vec<bool> {
    (0..BITS).map(|bit| state >> bit & 1 == 1).collect()
}

fn table(diagrams: &Diagrams, reads: &[u32], values: &[bool]) -> Bdd {
    let mut all = diagrams.constant(false);
    for (index, value) in values.iter().enumerate() {
        if *value {
            let mut cube = diagrams.constant(true);
            for (k, bit) in reads.iter().enumerate() {
                let literal = diagrams.now(*bit).unwrap();
                let literal = if index >> k & 1 == 1 { literal } else { literal.not() };
                cube = cube.and(&literal).unwrap();
            }
            all = all.or(&cube).unwrap();
        }
    }
    all
}

fn space(steps: &[Plain], initial: &[u32]) -> Space {
    let diagrams = Diagrams::new(BITS, 1 << 22, Budget::unlimited());
    let nothing = diagrams.constant(false);
    let mut enabled = nothing.clone();
    let mut lifted = Vec::new();
    for step in steps {
        let guard = table(&diagrams, &step.reads, &step.guard);
        let mut relation = guard.clone();
        for (bit, values) in step.writes.iter().zip(&step.values) {
            let value = table(&diagrams, &step.reads, values);
            relation = relation.and(&diagrams.next(*bit).unwrap().iff(&value).unwrap()).unwrap();
        }
        enabled = enabled.or(&guard).unwrap();
        lifted.push(Step {
            relation,
            written: diagrams.written(&step.writes),
            guard,
            fault: nothing.clone(),
            violation: nothing.clone(),
            reads: step.reads.clone(),
            writes: step.writes.clone(),
            processes: vec![step.process],
        });
    }
    let mut start = nothing.clone();
    for state in initial {
        start = start.or(&start.only(&bits_of(*state)).unwrap()).unwrap();
    }
    Space {
        bits: BITS,
        initial: start,
        clusters: std::cell::OnceCell::new(),
        steps: lifted,
        visible: diagrams.constant(true),
        idle: if initial.len() > 1 { Some(enabled.not()) } else { None },
        end: nothing.clone(),
        faulty: nothing,
        companion: None,
        diagrams,
    }
}

impl Sample {
    fn successors(&self, state: u32) -> Vec<u32> {
        let next: Vec<u32> = self.steps.iter().filter_map(|step| step.next(state)).collect();
        if next.is_empty() { vec![state] } else { next }
    }

    fn reached(&self) -> BTreeSet<u32> {
        let mut seen: BTreeSet<u32> = self.initial.iter().copied().collect();
        let mut open: Vec<u32> = self.initial.clone();
        while let Some(state) = open.pop() {
            open.extend(self.successors(state).into_iter().filter(|next| seen.insert(*next)));
        }
        seen
    }
}

fn states_of(set: &Bdd) -> BTreeSet<u32> {
    (0..1 << BITS).filter(|state| set.contains(&bits_of(*state))).collect()
}

/// The states that satisfy a formula, by the definitions.
fn naive(sample: &Sample, formula: &Ctl, known: &mut HashMap<Ctl, BTreeSet<u32>>) -> BTreeSet<u32> {
    if let Some(set) = known.get(formula) {
        return set.clone();
    }
    let all: Vec<u32> = (0..1 << BITS).collect();
    let set: BTreeSet<u32> = match formula {
        Ctl::Const(value) => all.into_iter().filter(|_| *value).collect(),
        Ctl::Atom(atom) => all.into_iter().filter(|state| atom_holds(*atom, *state)).collect(),
        Ctl::Not(f) => {
            let inner = naive(sample, f, known);
            all.into_iter().filter(|state| !inner.contains(state)).collect()
        }
        Ctl::And(f, g) => naive(sample, f, known).intersection(&naive(sample, g, known)).copied().collect(),
        Ctl::Or(f, g) => naive(sample, f, known).union(&naive(sample, g, known)).copied().collect(),
        Ctl::Next(f) => {
            let inner = naive(sample, f, known);
            all.into_iter().filter(|state| sample.successors(*state).iter().any(|next| inner.contains(next))).collect()
        }
        Ctl::Until(f, g) => {
            let (f, mut set) = (naive(sample, f, known), naive(sample, g, known));
            loop {
                let more: Vec<u32> = f
                    .iter()
                    .filter(|state| !set.contains(state))
                    .filter(|state| sample.successors(**state).iter().any(|next| set.contains(next)))
                    .copied()
                    .collect();
                if more.is_empty() {
                    break set;
                }
                set.extend(more);
            }
        }
        Ctl::Always(f) => {
            let mut set = naive(sample, f, known);
            loop {
                let kept: BTreeSet<u32> = set
                    .iter()
                    .filter(|state| sample.successors(**state).iter().any(|next| set.contains(next)))
                    .copied()
                    .collect();
                if kept.len() == set.len() {
                    break set;
                }
                set = kept;
            }
        }
    };
    known.insert(formula.clone(), set.clone());
    set
}

fn atom_holds(atom: u32, state: u32) -> bool {
    state >> SHARED[atom as usize] & 1 == 1
}

fn atoms(space: &Space) -> Vec<Bdd> {
    SHARED.iter().map(|bit| space.diagrams.now(*bit).unwrap()).collect()
}

fn random_ctl(random: &mut Random, depth: u32, next: bool) -> Formula {
    let inner = |random: &mut Random| random_ctl(random, depth - 1, next);
    let wrap = |random: &mut Random, f: Formula| if random.below(2) == 0 { f.all() } else { f.exists() };
    if depth == 0 {
        return Formula::atom(Atom(random.below(2) as u32));
    }
    match random.below(if next { 9 } else { 8 }) {
        0 => !inner(random),
        1 => inner(random) & inner(random),
        2 => inner(random) | inner(random),
        3 | 4 => {
            let f = inner(random).finally();
            wrap(random, f)
        }
        5 => {
            let f = inner(random).globally();
            wrap(random, f)
        }
        6 => {
            let f = inner(random).until(inner(random));
            wrap(random, f)
        }
        7 => {
            let f = inner(random).release(inner(random));
            wrap(random, f)
        }
        _ => {
            let f = inner(random).next();
            wrap(random, f)
        }
    }
}

fn random_ltl(random: &mut Random, depth: u32, next: bool) -> Formula {
    let inner = |random: &mut Random| random_ltl(random, depth - 1, next);
    if depth == 0 {
        return Formula::atom(Atom(random.below(2) as u32));
    }
    match random.below(if next { 9 } else { 8 }) {
        0 => !inner(random),
        1 => inner(random) & inner(random),
        2 => inner(random) | inner(random),
        3 | 4 => inner(random).finally(),
        5 => inner(random).globally(),
        6 => inner(random).until(inner(random)),
        7 => inner(random).weak_until(inner(random)),
        _ => inner(random).next(),
    }
}

const VARIANTS: [Variant; 3] = [Variant::All, Variant::New, Variant::NotExpanded];

#[test]
fn all_ways_reach_the_same_states() {
    for seed in 0..400 {
        let sample = sample(seed);
        let expected = sample.reached();
        for method in [Method::Frontier, Method::BreadthFirst, Method::Chaining, Method::Saturation] {
            let mut effort = Effort::default();
            let reached =
                reachable(&sample.space, &sample.space.initial, method, &mut effort, &mut |_| Ok(true)).unwrap();
            assert_eq!(states_of(&reached), expected, "{method:?}, seed {seed}");
        }
        let goal = sample.space.resting(&sample.space.visible).unwrap();
        let all = sample.space.diagrams.constant(true);
        let run = run_to(&mut SpaceSets::new(&sample.space), &sample.space.initial, &all, &goal).unwrap();
        let stuck = expected.iter().any(|state| sample.steps.iter().all(|step| step.next(*state).is_none()));
        assert_eq!(run.is_some(), stuck, "seed {seed}");
    }
}

fn evaluator<'a, 'b>(
    sets: &'a mut SpaceSets<&'b Space>,
    atoms: &'a [Bdd],
    within: Bdd,
) -> Evaluator<'a, SpaceSets<&'b Space>> {
    Evaluator::new(sets, known_atoms(atoms), within).unwrap()
}

#[test]
fn every_way_to_evaluate_ctl_gives_the_same() {
    let mut reductions = 0;
    for seed in 0..700 {
        let sample = sample(seed);
        let mut random = Random::new(seed);
        let space = &sample.space;
        let atoms = atoms(space);
        let everything = space.diagrams.constant(true);
        let reached =
            reachable(space, &space.initial, Method::Saturation, &mut Effort::default(), &mut |_| Ok(true)).unwrap();
        let model = process_model(space, &SHARED, Demand::Linear).unwrap();
        for _ in 0..4 {
            let with_next = random.below(3) == 0;
            let formula = Ctl::of(&random_ctl(&mut random, 3, with_next)).unwrap();
            let expected = naive(&sample, &formula, &mut HashMap::new());
            let text = format!("seed {seed}: {formula:?}");
            let sets = &mut SpaceSets::new(space);
            let states = evaluator(sets, &atoms, everything.clone()).states(&formula).unwrap();
            assert_eq!(states_of(&states), expected, "{text}");
            let holds = sample.initial.iter().all(|state| expected.contains(state));
            let within = evaluator(sets, &atoms, reached.clone()).states(&formula).unwrap();
            assert_eq!(space.initial.is_subset(&within).unwrap(), holds, "within the reachable states, {text}");
            let negation = formula.clone().not();
            let mut forward = evaluator(sets, &atoms, everything.clone());
            assert_eq!(!forward.some(&space.initial, &negation, None).unwrap(), holds, "forward, {text}");
            drop(forward);
            if formula.has_next() {
                continue;
            }
            for variant in VARIANTS {
                let mut evaluator = evaluator(sets, &atoms, everything.clone());
                let some = evaluator.some(&space.initial, &negation, Some((&model, variant))).unwrap();
                assert_eq!(!some, holds, "reduced, {variant:?}, {text}");
            }
            reductions += usize::from(!model.is_empty());
        }
    }
    assert!(reductions > 500, "only {reductions} formulas were evaluated on a reduced system");
}

#[test]
fn partial_exploration_preserves_what_it_says() {
    let (mut fewer, mut samples) = (0, 0);
    for seed in 0..1000 {
        let sample = sample(seed);
        let space = &sample.space;
        let full = sample.reached();
        let everything = space.diagrams.constant(true);
        let labels = |set: &BTreeSet<u32>| -> BTreeSet<u32> { set.iter().map(|state| state >> SHARED[0]).collect() };
        let model = process_model(space, &SHARED, Demand::Safe).unwrap();
        for variant in VARIANTS {
            let preserve = Preserve::Properties(variant);
            let effort = &mut Effort::default();
            let reached = explore(space, &model, &space.initial, &everything, preserve, effort).unwrap();
            let reached = states_of(&reached);
            assert!(reached.is_subset(&full));
            assert_eq!(labels(&reached), labels(&full), "{variant:?}, seed {seed}");
            samples += 1;
            fewer += usize::from(reached.len() < full.len());
        }
        let effort = &mut Effort::default();
        let by_frontier = states_of(&areduce(space, &model, &space.initial, effort).unwrap());
        assert!(by_frontier.is_subset(&full));
        assert_eq!(labels(&by_frontier), labels(&full), "AReduce, seed {seed}");
        let once = reduced_space(space, &model).unwrap();
        let statically = reachable(&once, &once.initial, Method::Saturation, effort, &mut |_| Ok(true)).unwrap();
        assert!(states_of(&statically).is_subset(&full));
        assert_eq!(labels(&states_of(&statically)), labels(&full), "static, seed {seed}");
        let provisory = states_of(&improviso(space, &model, &space.initial, effort).unwrap());
        assert!(provisory.is_subset(&full));
        assert_eq!(labels(&provisory), labels(&full), "ImProviso, seed {seed}");
        let dead = explore(space, &model, &space.initial, &everything, Preserve::Deadlocks, effort).unwrap();
        let has_stuck =
            |set: &BTreeSet<u32>| set.iter().any(|s| sample.steps.iter().all(|step| step.next(*s).is_none()));
        assert_eq!(has_stuck(&states_of(&dead)), has_stuck(&full), "deadlocks, seed {seed}");
        let none = explore(space, &[], &space.initial, &everything, Preserve::Deadlocks, effort).unwrap();
        assert_eq!(states_of(&none), full, "without a model it is reachability");
    }
    assert!(fewer * 5 > samples, "only {fewer} of {samples} explorations left something out");
}

/// The lasso is a run of the system that violates the formula.
fn assert_violates(sample: &Sample, formula: &Formula, lasso: &Lasso, text: &str) {
    let mut state = lasso.start.iter().enumerate().map(|(bit, value)| u32::from(*value) << bit).sum::<u32>();
    assert!(sample.initial.contains(&state), "{text}");
    let mut words = vec![state >> SHARED[0]];
    let mut states = vec![state];
    for number in lasso.prefix.iter().chain(&lasso.cycle) {
        state = sample.steps[*number].next(state).unwrap_or_else(|| panic!("a step is not enabled, {text}"));
        words.push(state >> SHARED[0]);
        states.push(state);
    }
    let mut prefix = words;
    let cycle = match lasso.cycle.len() {
        0 => {
            assert!(sample.steps.iter().all(|step| step.next(state).is_none()), "it does not stand still, {text}");
            vec![prefix.pop().unwrap()]
        }
        // The last state is the first of the cycle again.
        length => {
            assert_eq!(states[lasso.prefix.len()], state, "the cycle does not close, {text}");
            prefix.pop();
            prefix.split_off(prefix.len() - length)
        }
    };
    let word = ample_logic::Lasso {
        prefix: prefix.into_iter().map(u64::from).collect(),
        cycle: cycle.into_iter().map(u64::from).collect(),
    };
    assert!(!ample_logic::semantics::holds(formula, &word).unwrap(), "the run satisfies the formula, {text}");
}

/// Every reduction for LTL without X, in both directions.
fn reduced_strategies() -> impl Iterator<Item = Strategy> {
    let reductions = VARIANTS.into_iter().map(Reduction::Explored).chain([Reduction::Static]);
    reductions.flat_map(|reduction| [false, true].map(|backward| Strategy { reduced: Some(reduction), backward }))
}

/// What a fair process model leaves out changes no verdict about weakly fair runs.
#[test]
fn every_way_to_check_ltl_under_weak_fairness_gives_the_same() {
    let (mut violated, mut hold) = (0, 0);
    for seed in 0..500 {
        let sample = sample(seed);
        let space = &sample.space;
        let formula = random_ltl(&mut Random::new(seed + 99), 3, false);
        let model = process_model(space, &SHARED, Demand::Fair).unwrap();
        let runs = Runs { fairness: &Fairness::weak(space).unwrap(), stutters: true };
        let product = Product::of(space, &formula, &atoms(space), &model, runs).unwrap().ok().unwrap();
        let check = |strategy: Strategy| product.check(strategy, &mut Effort::default()).unwrap().is_none();
        let expected = check(Strategy { reduced: None, backward: true });
        for strategy in reduced_strategies() {
            assert_eq!(check(strategy), expected, "seed {seed}, {strategy:?}: {formula:?}");
        }
        if expected { hold += 1 } else { violated += 1 }
    }
    assert!(violated > 50 && hold > 50, "{violated} violated, {hold} hold");
}

#[test]
fn every_way_to_check_ltl_gives_the_same_and_shows_a_run() {
    let (mut violated, mut hold) = (0, 0);
    for seed in 0..500 {
        let sample = sample(seed);
        let mut random = Random::new(seed + 77);
        let space = &sample.space;
        let atoms = atoms(space);
        let with_next = random.below(3) == 0;
        let formula = random_ltl(&mut random, 3, with_next);
        let text = format!("seed {seed}: {formula:?}");
        let model = process_model(space, &SHARED, Demand::Safe).unwrap();
        let runs = Runs { fairness: &Fairness::default(), stutters: true };
        let product = Product::of(space, &formula, &atoms, &model, runs).unwrap().ok().unwrap();
        let mut strategies =
            vec![Strategy { reduced: None, backward: false }, Strategy { reduced: None, backward: true }];
        if !formula.has_next() {
            strategies.extend(reduced_strategies());
        }
        let mut verdicts = Vec::new();
        for strategy in strategies {
            let lasso = product.check(strategy, &mut Effort::default()).unwrap();
            if let Some(lasso) = &lasso {
                assert_violates(&sample, &formula, lasso, &format!("{strategy:?}, {text}"));
            }
            verdicts.push(lasso.is_none());
        }
        // The copies are far from the bits here, which takes time.
        if seed % 10 == 0 {
            let first = space.diagrams.add_pairs(space.bits);
            let lasso = product.check_by_saving(&|bit| first + bit, &mut Effort::default()).unwrap();
            if let Some(lasso) = &lasso {
                assert_violates(&sample, &formula, lasso, &format!("as safety, {text}"));
            }
            verdicts.push(lasso.is_none());
        }
        assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "{verdicts:?}, {text}");
        // A formula and its negation cannot both hold.
        let negation = !formula.clone();
        let opposite = Product::of(space, &negation, &atoms, &[], runs).unwrap().ok().unwrap();
        let other = opposite.check(Strategy { reduced: None, backward: true }, &mut Effort::default()).unwrap();
        assert!(!(verdicts[0] && other.is_none()), "{text}");
        if verdicts[0] { hold += 1 } else { violated += 1 }
    }
    assert!(violated > 50 && hold > 50, "{violated} violated, {hold} hold");
}
