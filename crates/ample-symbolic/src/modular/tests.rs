//! Modular checking against definitions: an explicit evaluation of CTL over the states that the interpreter finds.

use std::collections::HashMap;

use ample_budget::Budget;
use ample_logic::{Atom, Binary, Formula, Unary};
use ample_model::random::sequential;
use ample_model::{BinaryOp, Block, Expr, Interpreter, LocationId, Place, Scalar, Scope, State, System, Temporal};
use ample_random::Random;

use super::assumptions::Keeper;
use super::closure::{Condition, Quantifier, Subformula};
use super::partition::Kind;
use super::structure::{States, Structure};
use super::*;
use crate::diagram::Bdd;

/// How many programs are checked, each with several formulas: `AMPLE_PAIRS` says how many pairs.
fn pairs() -> u64 {
    std::env::var("AMPLE_PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(600)
}

/// The states of a system, those in which a run was stopped by a fault, and their successors.
struct Graph {
    states: Vec<State>,
    successors: Vec<Vec<usize>>,
    initial: Vec<usize>,
}

impl Graph {
    fn of(system: &System) -> Graph {
        let interpreter = Interpreter::new(system);
        let mut graph = Graph { states: Vec::new(), successors: Vec::new(), initial: Vec::new() };
        let mut numbers: HashMap<State, usize> = HashMap::new();
        let mut waiting = Vec::new();
        let mut number_of = |state: State, graph: &mut Graph, waiting: &mut Vec<usize>| {
            *numbers.entry(interpreter.identity(&state)).or_insert_with(|| {
                waiting.push(graph.states.len());
                graph.states.push(state);
                graph.successors.push(Vec::new());
                graph.states.len() - 1
            })
        };
        for state in interpreter.initial_states() {
            let number = number_of(state.unwrap(), &mut graph, &mut waiting);
            graph.initial.push(number);
        }
        while let Some(number) = waiting.pop() {
            let state = graph.states[number].clone();
            let mut next = Vec::new();
            for (_, successor) in interpreter.successors(&state) {
                match successor.state {
                    Some(state) => next.push(number_of(state, &mut graph, &mut waiting)),
                    None => {
                        // Stopped here: it repeats itself.
                        let stopped = graph.states.len();
                        graph.states.push(state.clone());
                        graph.successors.push(vec![stopped]);
                        next.push(stopped);
                    }
                }
            }
            if next.is_empty() {
                next.push(number);
            }
            graph.successors[number] = next;
        }
        graph
    }

    fn truth(&self, system: &System, temporal: &Temporal, formula: &Formula) -> Vec<bool> {
        let part = |f: &Formula| self.truth(system, temporal, f);
        let each = |value: &dyn Fn(usize) -> bool| (0..self.states.len()).map(value).collect::<Vec<bool>>();
        match formula {
            Formula::True => each(&|_| true),
            Formula::False => each(&|_| false),
            Formula::Atom(atom) => {
                let interpreter = Interpreter::new(system);
                let expr = &temporal.atoms[atom.0 as usize];
                each(&|state| interpreter.evaluate(&self.states[state], None, expr).unwrap() != 0)
            }
            Formula::Unary(Unary::Not, f) => part(f).iter().map(|value| !value).collect(),
            Formula::Unary(Unary::Exists, path) => self.paths(path, &part, true),
            Formula::Unary(Unary::All, path) => self.paths(path, &part, false),
            Formula::Binary(op, f, g) => {
                let (f, g) = (part(f), part(g));
                each(&|state| match op {
                    Binary::And => f[state] && g[state],
                    Binary::Or => f[state] || g[state],
                    Binary::Implies => !f[state] || g[state],
                    Binary::Iff => f[state] == g[state],
                    _ => f[state] != g[state],
                })
            }
            Formula::Unary(..) => panic!("not CTL"),
        }
    }

    fn paths(&self, path: &Formula, part: &dyn Fn(&Formula) -> Vec<bool>, some: bool) -> Vec<bool> {
        let before = |set: &[bool], state: usize| {
            let mut next = self.successors[state].iter();
            if some { next.any(|next| set[*next]) } else { next.all(|next| set[*next]) }
        };
        let least = |start: Vec<bool>, through: &[bool]| {
            let mut set = start;
            loop {
                let grown: Vec<bool> =
                    (0..set.len()).map(|state| set[state] || through[state] && before(&set, state)).collect();
                if grown == set {
                    return set;
                }
                set = grown;
            }
        };
        let greatest = |start: Vec<bool>, or: &[bool]| {
            let mut set = start.clone();
            loop {
                let shrunk: Vec<bool> = (0..set.len())
                    .map(|state| start[state] && (or[state] || set[state] && before(&set, state)))
                    .collect();
                if shrunk == set {
                    return set;
                }
                set = shrunk;
            }
        };
        let (all, none) = (vec![true; self.states.len()], vec![false; self.states.len()]);
        match path {
            Formula::Unary(Unary::Next, f) => {
                let f = part(f);
                (0..f.len()).map(|state| before(&f, state)).collect()
            }
            Formula::Unary(Unary::Finally, f) => least(part(f), &all),
            Formula::Unary(Unary::Globally, f) => greatest(part(f), &none),
            Formula::Binary(op, f, g) => {
                let (f, g) = (part(f), part(g));
                let both: Vec<bool> = f.iter().zip(&g).map(|(f, g)| *f && *g).collect();
                let either: Vec<bool> = f.iter().zip(&g).map(|(f, g)| *f || *g).collect();
                match op {
                    Binary::Until => least(g, &f),
                    Binary::Release => greatest(g, &f),
                    Binary::WeakUntil => greatest(either, &g),
                    Binary::StrongRelease => least(both, &g),
                    _ => panic!("not CTL"),
                }
            }
            _ => panic!("not CTL"),
        }
    }
}

fn scalar_read(variable: usize, scalar: Scalar) -> Expr {
    let (scope, indices) = (Scope::Global, Vec::new());
    Expr::Read(Place { scope, variable: variable.into(), offset: 0, indices, scalar })
}

/// Conditions on the variables of a random program, and on where it is.
fn atoms(system: &System, random: &mut Random) -> Vec<Expr> {
    let crumb = Scalar::Int { bits: 2, signed: false };
    let bit = Scalar::Int { bits: 1, signed: false };
    let equal = |place: Expr, value: i64| Expr::binary(BinaryOp::Equal, place, Expr::Const(value));
    let locations = system.processes[0].locations.len();
    let at = |random: &mut Random| Expr::At {
        process: None,
        of: 0usize.into(),
        locations: vec![LocationId::from(random.below(locations))],
    };
    vec![
        equal(scalar_read(0, crumb), random.below(3)),
        scalar_read(2, bit),
        equal(scalar_read(1, Scalar::Int { bits: 8, signed: false }), random.below(3)),
        at(random),
        at(random),
    ]
}

fn formula(random: &mut Random, atoms: usize, depth: u32) -> Formula {
    if depth == 0 || random.one_in(6) {
        return Formula::atom(Atom(random.below(atoms as u32)));
    }
    let next = |random: &mut Random| formula(random, atoms, depth - 1);
    let quantified = |path: Formula, random: &mut Random| if random.one_in(2) { path.all() } else { path.exists() };
    match random.below(12) {
        0 => !next(random),
        1 => Formula::binary(Binary::And, next(random), next(random)),
        2 => Formula::binary(Binary::Or, next(random), next(random)),
        3 => Formula::binary(random.pick(&[Binary::Iff, Binary::Xor, Binary::Implies]), next(random), next(random)),
        4 | 5 => quantified(next(random).next(), random),
        6 => quantified(next(random).finally(), random),
        7 => quantified(next(random).globally(), random),
        8 | 9 => quantified(next(random).until(next(random)), random),
        _ => {
            let op = random.pick(&[Binary::Release, Binary::WeakUntil, Binary::StrongRelease]);
            quantified(Formula::binary(op, next(random), next(random)), random)
        }
    }
}

fn options(random: &mut Random) -> Options {
    Options {
        partitioning: random.pick(&[
            Partitioning::Auto,
            Partitioning::None,
            Partitioning::Marks,
            Partitioning::Size,
            Partitioning::Size,
        ]),
        size: 1 + random.below(6usize),
        reachability: random.pick(&[Reachability::None, Reachability::Local, Reachability::Full]),
        no_reorder: random.one_in(3),
        in_files: random.one_in(8),
        no_cache: random.one_in(6),
    }
}

fn checked(system: &System, temporal: &Temporal, options: Options) -> (Option<State>, Statistics) {
    let budget = Budget::unlimited();
    let mut session = Session::new(system, options, &budget).unwrap();
    let closure = Closure::of(temporal).unwrap();
    let checked = session.check(&closure, &budget, &|_| {}).unwrap();
    let state = |bits: Vec<bool>| session.program().encoding.state(system, &|bit| bits[bit as usize]);
    (checked.violating.map(state), checked.statistics)
}

#[test]
fn modular_checking_agrees_with_the_definition_on_random_programs() {
    let formulas = 6;
    for seed in 0..pairs().div_ceil(formulas) {
        let system = sequential(seed, seed % 3 == 0);
        let graph = Graph::of(&system);
        let interpreter = Interpreter::new(&system);
        let mut random = Random::new(seed ^ 0x5eed);
        for _ in 0..formulas {
            let atoms = atoms(&system, &mut random);
            let temporal = Temporal { formula: formula(&mut random, atoms.len(), 3), atoms };
            let options = options(&mut random);
            let truth = graph.truth(&system, &temporal, &temporal.formula);
            let holds = graph.initial.iter().all(|state| truth[*state]);
            let (violating, _) = checked(&system, &temporal, options);
            assert_eq!(violating.is_none(), holds, "seed {seed}, {:?}, {options:?}", temporal.formula);
            if let Some(state) = violating {
                let state = interpreter.identity(&state);
                let number = graph.initial.iter().find(|number| interpreter.identity(&graph.states[**number]) == state);
                assert!(number.is_some_and(|number| !truth[*number]), "seed {seed}, {:?}", temporal.formula);
            }
        }
    }
}

/// A loop in a loop, with a condition in it: the partition graph has a node for every statement.
fn nested() -> System {
    (0..)
        .map(|seed| sequential(seed, false))
        .find(|system| {
            fn depth(block: &Block) -> usize {
                match block {
                    Block::Leaf(_) => 0,
                    Block::Module(inner) => depth(inner),
                    Block::Sequence(all) | Block::Choice(_, all) => all.iter().map(depth).max().unwrap_or(0),
                    Block::Loop(_, all) => 1 + all.iter().map(depth).max().unwrap_or(0),
                }
            }
            system.processes[0].structure.as_ref().is_some_and(|structure| depth(structure) >= 3)
        })
        .unwrap()
}

#[test]
fn known_results_save_calls_and_change_nothing() {
    let mut saved = 0;
    for seed in 0..40 {
        let system = if seed == 0 { nested() } else { sequential(seed, false) };
        let mut random = Random::new(seed);
        let atoms = atoms(&system, &mut random);
        let temporal = Temporal { formula: formula(&mut random, atoms.len(), 3), atoms };
        let size = Options { partitioning: Partitioning::Size, size: 1, ..Options::default() };
        let (with, few) = checked(&system, &temporal, size);
        let (without, many) = checked(&system, &temporal, Options { no_cache: true, ..size });
        assert_eq!(with.is_some(), without.is_some(), "seed {seed}");
        assert!(few.checks <= many.checks, "seed {seed}: {few:?} {many:?}");
        saved += many.checks - few.checks;
    }
    assert!(saved > 0);
}

/// The pieces of a partition graph are the program: each location is in one node or is a condition.
#[test]
fn every_location_is_in_one_part() {
    fn locations(part: &Part, all: &mut Vec<LocationId>) {
        match &part.kind {
            Kind::Empty => {}
            Kind::Node(inner) => all.extend(inner),
            Kind::Sequence(parts) => parts.iter().for_each(|part| locations(part, all)),
            Kind::Choice(branches) => {
                all.push(part.entry);
                branches.iter().for_each(|part| locations(part, all));
            }
            Kind::Loop(body) => {
                all.push(part.entry);
                locations(body, all);
            }
        }
    }
    let mut sizes = Vec::new();
    for seed in 0..60 {
        let system = sequential(seed, false);
        for (partitioning, size) in [
            (Partitioning::None, 1),
            (Partitioning::Marks, 1),
            (Partitioning::Auto, 3),
            (Partitioning::Size, 1),
            (Partitioning::Size, 4),
        ] {
            let options = Options { partitioning, size, ..Options::default() };
            let session = Session::new(&system, options, &Budget::unlimited()).unwrap();
            let mut all = Vec::new();
            locations(session.graph(), &mut all);
            all.sort_unstable();
            let expected: Vec<LocationId> = (0..system.processes[0].locations.len()).map(LocationId::from).collect();
            assert_eq!(all, expected, "seed {seed}, {partitioning:?}");
            if partitioning == Partitioning::None {
                assert_eq!(session.graph().nodes().len(), 1);
            }
            sizes.push(session.graph().nodes().len());
        }
    }
    assert!(sizes.iter().any(|nodes| *nodes > 8));
}

/// A closure with every operator over two conditions.
fn every_operator() -> Closure {
    let atoms = vec![
        scalar_read(2, Scalar::Int { bits: 1, signed: false }),
        Expr::binary(BinaryOp::Equal, scalar_read(0, Scalar::Int { bits: 2, signed: false }), Expr::Const(1)),
    ];
    let (p, q) = (Formula::atom(Atom(0)), Formula::atom(Atom(1)));
    let all = [
        p.clone().next().exists(),
        p.clone().next().all(),
        p.clone().until(q.clone()).exists(),
        p.clone().until(q.clone()).all(),
        !p.clone().next().exists(),
        q.finally().all(),
        p.globally().exists(),
    ];
    let formula = all.into_iter().reduce(|f, g| Formula::binary(Binary::And, f, g)).unwrap();
    Closure::of(&Temporal { formula, atoms }).unwrap()
}

/// Random border states for every subformula, such that an `until` holds where its goal does.
fn random_assumptions(closure: &Closure, diagrams: &crate::diagram::Diagrams, random: &mut Random) -> Vec<Option<Bdd>> {
    let bits = diagrams.pairs();
    let mut all: Vec<Option<Bdd>> = Vec::new();
    for subformula in &closure.subformulas {
        let mut set = diagrams.constant(false);
        for _ in 0..random.below(12) {
            let state: Vec<bool> = (0..bits).map(|_| random.one_in(2)).collect();
            set = set.or(&set.only(&state).unwrap()).unwrap();
        }
        if let Subformula::Until(_, _, goal) = subformula {
            set = all[*goal].as_ref().map_or(set.clone(), |goal| goal.or(&set).unwrap());
        }
        let is_known = subformula.operands().all(|operand| all[operand].is_some()) && !random.one_in(12);
        all.push(is_known.then_some(set));
    }
    all
}

fn limits() -> Limits {
    Limits { budget: Budget::unlimited(), default_nodes: 1 << 20, reorders: false }
}

/// `CheckStepEdge` is model checking in the structure of the edge: a single location whose only step is the edge.
#[test]
fn step_edges_are_checked_as_their_structures() {
    let closure = every_operator();
    let mut edges = 0;
    for seed in 0..30 {
        let system = sequential(seed, false);
        let mut program = Program::of(&system, &Budget::unlimited()).unwrap();
        let conditions = program.conditions(&system, &closure, &Budget::unlimited()).unwrap();
        let heads: Vec<usize> = (0..program.locations.len())
            .filter(|number| {
                let steps = &program.locations[*number].steps;
                steps.len() == 2 && steps.iter().all(|step| step.updates.is_empty())
            })
            .collect();
        for head in heads {
            for outcome in 0..2 {
                let whole = program.locations[head].clone();
                let step = whole.steps[outcome].clone();
                if step.to.index() == head {
                    continue;
                }
                edges += 1;
                let at = LocationId::from(head);
                let source = Source { program: &program, closure: &closure, conditions: &conditions };
                let condition =
                    Head::of(source, at, None, &structure::order(source, &limits()).unwrap(), &limits()).unwrap();
                let mut random = Random::new(seed);
                let given = random_assumptions(&closure, &condition.diagrams, &mut random);
                let found = condition.step_edge(&closure, outcome, &given).unwrap();
                let mut keeper = Keeper::new(false);
                let saved: Vec<_> = given
                    .iter()
                    .map(|set| set.as_ref().map(|set| keeper.save(set, &condition.diagrams).unwrap()))
                    .collect();

                program.locations[head].steps = vec![step.clone()];
                let source = Source { program: &program, closure: &closure, conditions: &conditions };
                let bits: Vec<u32> = (0..program.encoding.bits).collect();
                let mut structure = Structure::of(source, &[at], Some(step.to), &bits, &limits()).unwrap();
                let guard = condition.outcomes[outcome].clone();
                let known = checked_in(&mut structure, &closure, &saved);
                for (number, (found, known)) in found.iter().zip(&known).enumerate() {
                    let expected = known.as_ref().map(|states| {
                        let set = keeper.save(&states.inner[0], &structure.diagrams).unwrap();
                        set.load(&condition.diagrams).unwrap().and(&guard).unwrap()
                    });
                    assert_eq!(*found, expected, "seed {seed}, {:?}", closure.subformulas[number]);
                }
                program.locations[head] = whole;
            }
        }
    }
    assert!(edges > 50, "{edges}");
}

/// What holds in a node, subformula by subformula; nothing where nothing is assumed.
fn checked_in(structure: &mut Structure, closure: &Closure, given: &[Option<Saved>]) -> Vec<Option<States>> {
    let mut all: Vec<Option<States>> = Vec::new();
    for (subformula, given) in closure.subformulas.iter().zip(given) {
        let states = given.as_ref().map(|given| {
            let assumed = given.load(&structure.diagrams).unwrap();
            let known = |f: usize| all[f].clone().unwrap();
            let stopped = |structure: &Structure, f: usize, place: usize| structure.stopped(closure, f, place);
            structure.check(subformula, &known, &stopped, assumed, None).unwrap()
        });
        all.push(states);
    }
    all
}

/// `CheckGraph` is model checking under assumptions in the whole part, whatever is assumed, and ⊥ stays ⊥.
#[test]
fn parts_are_checked_as_one_node_under_any_assumptions() {
    let closure = every_operator();
    let mut unknown = 0;
    for seed in 0..60 {
        let system = sequential(seed, seed % 4 == 0);
        let mut program = Program::of(&system, &Budget::unlimited()).unwrap();
        let conditions = program.conditions(&system, &closure, &Budget::unlimited()).unwrap();
        let Block::Sequence(mut blocks) = program.structure.clone() else { panic!() };
        let Some(Block::Leaf(end)) = blocks.pop() else { panic!() };
        let source = Source { program: &program, closure: &closure, conditions: &conditions };
        let mut random = Random::new(seed);
        let block = Block::Sequence(blocks);
        let split = |how, size| {
            let mut is_condition = |at| {
                Head::of(source, at, None, &structure::order(source, &limits()).unwrap(), &limits())
                    .unwrap()
                    .is_condition()
                    .unwrap()
            };
            partition::part_of(&program, &block, end, how, size, &mut is_condition).unwrap()
        };
        let whole = split(Partitioning::None, 1);
        let Kind::Node(locations) = &whole.kind else { continue };
        let parts = split(Partitioning::Size, 1 + seed as usize % 4);
        let limits = limits();
        let bits: Vec<u32> = (0..program.encoding.bits).collect();
        let mut structure = Structure::of(source, locations, whole.exit, &bits, &limits).unwrap();
        let assumed = random_assumptions(&closure, &structure.diagrams, &mut random);
        let mut keeper = Keeper::new(false);
        let given: Vec<Option<Saved>> =
            assumed.iter().map(|set| set.as_ref().map(|set| keeper.save(set, &structure.diagrams).unwrap())).collect();
        let expected = checked_in(&mut structure, &closure, &given);
        let mut checker = Checker::new(source, &parts, &limits, Options::default(), &|_| {}).unwrap();
        let found = checker.check(&parts, &given).unwrap();
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let found = found.as_ref().map(|set| set.load(&structure.diagrams).unwrap());
            unknown += usize::from(found.is_none());
            assert_eq!(
                found,
                expected.as_ref().map(|states| states.inner[0].clone()),
                "seed {seed}, subformula {number}"
            );
        }
    }
    assert!(unknown > 0);
}

#[test]
fn one_node_is_in_memory_at_a_time() {
    let system = nested();
    let temporal = Temporal { formula: Formula::atom(Atom(0)).finally().all(), atoms: vec![Expr::Const(0)] };
    let size = Options { partitioning: Partitioning::Size, size: 1, ..Options::default() };
    let (_, statistics) = checked(&system, &temporal, size);
    assert!(statistics.nodes > 3 && statistics.largest_node == 1, "{statistics:?}");
    assert!(statistics.loads >= statistics.nodes as u64, "{statistics:?}");
}

#[test]
fn the_operators_are_rewritten_into_next_and_until() {
    let closure = Closure::never(Condition::Deadlock);
    assert!(matches!(closure.subformulas[closure.last()], Subformula::Not(_)));
    let until = |subformula: &Subformula| matches!(subformula, Subformula::Until(Quantifier::Some, ..));
    assert!(closure.subformulas.iter().any(until));
    assert_eq!(closure.batches().concat(), (0..closure.subformulas.len()).collect::<Vec<_>>());
}
