//! Modular checking against definitions: an explicit evaluation of CTL over the states that the interpreter finds.

use std::collections::HashMap;

use ample_budget::Budget;
use ample_logic::{Atom, Binary, Formula, Unary};
use ample_model::random::sequential;
use ample_model::{BinaryOp, Block, Expr, Interpreter, LocationId, Place, Scalar, Scope, State, System, Temporal};
use ample_random::Random;

use super::assumptions::Keeper;
use super::closure::{Condition, Quantifier, Subformula};
use super::head::Head;
use super::partition::{Kind, To};
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
        reachability: random.pick(&[Reachability::Auto, Reachability::None, Reachability::Local, Reachability::Full]),
        no_reorder: random.one_in(3),
        in_files: random.one_in(8),
        no_cache: random.one_in(6),
    }
}

fn checked(system: &System, temporal: &Temporal, options: Options) -> (Option<State>, Statistics) {
    let budget = Budget::unlimited();
    let mut session = Session::new(system, options, &budget).unwrap();
    if options.size.is_multiple_of(2) {
        // Diagrams are large soon.
        session.small = 60;
    }
    let closure = Closure::of(temporal).unwrap();
    let checked = session.check(&closure, &budget, &|_| {}).unwrap();
    let state = |bits: Vec<bool>| session.program().encoding.state(system, &|bit| bits[bit as usize]);
    (checked.violating.map(state), checked.statistics)
}

#[test]
fn modular_checking_agrees_with_the_definition_on_random_programs() {
    let formulas = 6;
    for seed in 0..pairs().div_ceil(formulas) {
        let mut system = sequential(seed, seed % 3 == 0);
        if seed % 4 == 1 {
            // It is recovered from the control-flow graph.
            system.processes[0].structure = None;
        }
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

/// The locations of the pieces of a partition graph, and their steps.
fn pieces(part: &Part, program: &Program, locations: &mut Vec<LocationId>, steps: &mut Vec<(LocationId, LocationId)>) {
    match &part.kind {
        Kind::Empty | Kind::Sequence(_) => {}
        Kind::Node(inner) => {
            for from in inner {
                let targets = program.locations[from.index()].steps.iter().map(|step| step.to);
                for to in targets {
                    assert!(inner.contains(&to) || part.exit == Some(to), "a step leaves its node for the exit alone");
                    steps.push((*from, to));
                }
            }
            locations.extend(inner);
        }
        Kind::Choice(fork) | Kind::Loop(fork) => {
            locations.push(part.entry);
            for to in &fork.edges {
                let to = match to {
                    To::Part(number) => fork.parts[*number].entry,
                    To::Exit => part.exit.unwrap(),
                    To::Head => part.entry,
                };
                steps.push((part.entry, to));
            }
        }
    }
    for inner in part.kind.parts() {
        pieces(inner, program, locations, steps);
    }
}

/// The pieces of a partition graph are the program: each location is in one node or is one where something is decided, and
/// each step is in one of them or is a step edge. Null edges join a part to the one that begins at its exit.
#[test]
fn the_pieces_of_a_partition_graph_are_the_program() {
    fn follow(part: &Part) {
        if let Kind::Sequence(parts) = &part.kind {
            for pair in parts.windows(2) {
                assert_eq!(pair[0].exit, Some(pair[1].entry));
            }
            assert_eq!(parts.last().unwrap().exit, part.exit);
        }
        part.kind.parts().iter().for_each(follow);
    }
    let mut sizes = Vec::new();
    for seed in 0..60 {
        let mut system = sequential(seed, false);
        if seed % 3 == 0 {
            system.processes[0].structure = None;
        }
        for (partitioning, size) in [
            (Partitioning::None, 1),
            (Partitioning::Marks, 1),
            (Partitioning::Auto, 3),
            (Partitioning::Size, 1),
            (Partitioning::Size, 4),
        ] {
            let options = Options { partitioning, size, ..Options::default() };
            let session = Session::new(&system, options, &Budget::unlimited()).unwrap();
            let (mut all, mut steps) = (Vec::new(), Vec::new());
            pieces(session.graph(), session.program(), &mut all, &mut steps);
            follow(session.graph());
            all.sort_unstable();
            steps.sort_unstable();
            // What control cannot come to is in no recovered structure.
            let is_there = |at: &LocationId| seed % 3 != 0 || all.contains(at);
            let locations = session.program().locations.iter();
            let numbers = (0..locations.len()).map(LocationId::from);
            let expected: Vec<LocationId> = numbers.filter(is_there).collect();
            assert_eq!(all, expected, "seed {seed}, {partitioning:?}");
            let numbered = locations.enumerate().map(|(number, location)| (LocationId::from(number), location));
            let there = numbered.filter(|(number, _)| is_there(number));
            let mut expected: Vec<_> =
                there.flat_map(|(from, location)| location.steps.iter().map(move |step| (from, step.to))).collect();
            expected.sort_unstable();
            assert_eq!(steps, expected, "seed {seed}, {partitioning:?}");
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
    Limits {
        budget: Budget::unlimited(),
        default_nodes: 1 << 20,
        reorders: false,
        first_reordering: structure::FIRST_REORDERING,
        most_nodes: usize::MAX,
    }
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
                let guard = condition.guards[outcome].clone();
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
        if seed % 3 == 2 {
            add_steps(&mut program);
        }
        let source = Source { program: &program, closure: &closure, conditions: &conditions };
        let mut random = Random::new(seed);
        let block = Block::Sequence(blocks);
        let split = |how, size| partition::part_of(&program, &block, end, how, size).unwrap();
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

/// Where something is decided, both steps may be possible now, and none where neither was.
fn add_steps(program: &mut Program) {
    for location in &mut program.locations {
        if let [first, second] = location.steps.as_mut_slice()
            && first.to != second.to
        {
            (first.guard, second.guard) = (program.valuations, program.encoding.dag.and(second.guard, !first.guard));
        }
    }
}

#[test]
fn iterates_at_the_heads_of_loops_grow() {
    let closure = every_operator();
    let mut grown = 0;
    for seed in 0..40 {
        let system = if seed == 0 { nested() } else { sequential(seed, seed % 4 == 0) };
        let mut program = Program::of(&system, &Budget::unlimited()).unwrap();
        let conditions = program.conditions(&system, &closure, &Budget::unlimited()).unwrap();
        let source = Source { program: &program, closure: &closure, conditions: &conditions };
        let parts = partition::partition(&program, Partitioning::Size, 1).unwrap();
        let limits = limits();
        let options = Options { no_cache: seed % 2 == 0, ..Options::default() };
        let mut checker = Checker::new(source, &parts, &limits, options, &|_| {}).unwrap();
        let nothing = checker.nothing().unwrap();
        checker.check(&parts, &nothing).unwrap();
        let bits: Vec<u32> = (0..program.encoding.bits).collect();
        let diagrams = limits.table(program.encoding.bits, &bits);
        let mut last: HashMap<(usize, usize), Bdd> = HashMap::new();
        for (part, subformula, is_first, set) in &checker.iterates {
            let set = set.load(&diagrams).unwrap();
            if !is_first {
                let before = &last[&(*part, *subformula)];
                assert!(before.is_subset(&set).unwrap() && *before != set, "seed {seed}");
                grown += 1;
            }
            last.insert((*part, *subformula), set);
        }
    }
    assert!(grown > 20, "{grown}");
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

/// The reachable states by location, as bits.
fn reachable(system: &System, program: &Program) -> Vec<std::collections::HashSet<Vec<bool>>> {
    let interpreter = Interpreter::new(system);
    let mut found = vec![std::collections::HashSet::new(); program.locations.len()];
    for state in &Graph::of(system).states {
        let state = interpreter.identity(state);
        let at = state.processes[0].location.index();
        found[at].insert(program.encoding.bits_of(system, &state).unwrap());
    }
    found
}

/// Local reachability (§5.5) is exact on programs without loops, and leaves out nothing that is reachable on others; full
/// reachability is exact on all.
#[test]
fn reachability_is_exact_without_loops_and_leaves_out_nothing() {
    fn has_loop(block: &Block) -> bool {
        match block {
            Block::Leaf(_) => false,
            Block::Loop(..) => true,
            Block::Module(inner) => has_loop(inner),
            Block::Sequence(all) | Block::Choice(_, all) => all.iter().any(has_loop),
        }
    }
    let closure = every_operator();
    let [mut loop_free, mut wider] = [0; 2];
    for seed in 0..150 {
        let system = sequential(seed, seed % 5 == 0);
        let mut program = Program::of(&system, &Budget::unlimited()).unwrap();
        let conditions = program.conditions(&system, &closure, &Budget::unlimited()).unwrap();
        let source = Source { program: &program, closure: &closure, conditions: &conditions };
        let parts = partition::partition(&program, Partitioning::Size, 1 + seed as usize % 3).unwrap();
        let expected = reachable(&system, &program);
        let free = program.encoding.location_bits(0, program.initial).unwrap().len();
        let limits = limits();
        for reachability in [Reachability::Local, Reachability::Full] {
            let options = Options { reachability, ..Options::default() };
            let mut checker = Checker::new(source, &parts, &limits, options, &|_| {}).unwrap();
            let start = checker.start().unwrap();
            checker.reach(&parts, &start).unwrap();
            let bits: Vec<u32> = (0..program.encoding.bits).collect();
            let diagrams = limits.table(program.encoding.bits, &bits);
            let is_exact = reachability == Reachability::Full || !has_loop(&program.structure);
            loop_free += usize::from(reachability == Reachability::Local && is_exact);
            for node in parts.nodes() {
                let Kind::Node(locations) = &node.kind else { panic!() };
                for (at, domain) in locations.iter().zip(checker.domains(node)) {
                    let domain = domain.load(&diagrams).unwrap();
                    let states = &expected[at.index()];
                    assert!(states.iter().all(|state| domain.contains(state)), "seed {seed}, {reachability:?}, {at:?}");
                    let count = crate::BigUint::from(states.len()) << free;
                    if is_exact {
                        assert_eq!(domain.count(), count, "seed {seed}, {reachability:?}, {at:?}");
                    } else {
                        wider += usize::from(domain.count() > count);
                    }
                }
            }
        }
    }
    assert!(loop_free > 10 && wider > 10, "{loop_free} {wider}");
}

#[test]
fn sets_are_read_from_files_in_any_order() {
    let mut random = Random::new(7);
    let bits = 40;
    let (order, reverse): (Vec<u32>, Vec<u32>) = ((0..bits).collect(), (0..bits).rev().collect());
    let (one, other) = (limits().table(bits, &order), limits().table(bits, &reverse));
    let mut set = one.constant(false);
    for _ in 0..300 {
        let state: Vec<bool> = (0..bits).map(|_| random.one_in(2)).collect();
        set = set.or(&set.only(&state).unwrap()).unwrap();
    }
    let mut keeper = Keeper::new(true);
    let saved = keeper.save(&set, &one).unwrap();
    assert!(keeper.written > 0, "it is large enough for a file");
    let there = saved.load(&other).unwrap();
    assert_eq!(there.count(), set.count());
    let again = keeper.save(&there, &other).unwrap();
    assert_ne!(saved.order(), again.order());
    assert_eq!(again.load(&one).unwrap(), set);
}

/// Nodes whose variables are moved come to orders of their own, and what holds in them stays as it is.
#[test]
fn the_orders_of_nodes_differ_and_change_nothing() {
    let closure = every_operator();
    let mut differing = 0;
    for seed in 0..20 {
        let system = if seed == 0 { nested() } else { sequential(seed, false) };
        let mut program = Program::of(&system, &Budget::unlimited()).unwrap();
        let conditions = program.conditions(&system, &closure, &Budget::unlimited()).unwrap();
        let source = Source { program: &program, closure: &closure, conditions: &conditions };
        let parts = partition::partition(&program, Partitioning::Size, 3).unwrap();
        let bits: Vec<u32> = (0..program.encoding.bits).collect();
        let mut random = Random::new(seed);
        let mut keeper = Keeper::new(false);
        let mut orders = Vec::new();
        for node in parts.nodes() {
            let Kind::Node(locations) = &node.kind else { panic!() };
            let mut structure = Structure::of(source, locations, node.exit, &bits, &limits()).unwrap();
            let given = random_assumptions(&closure, &structure.diagrams, &mut random);
            let mut save = |set: &Bdd| keeper.save(set, &structure.diagrams).unwrap();
            let given: Vec<Option<Saved>> = given.iter().map(|set| set.as_ref().map(&mut save)).collect();
            let before: Vec<Option<States>> = checked_in(&mut structure, &closure, &given);
            structure.diagrams.sift().unwrap();
            orders.push(structure.diagrams.order());
            let mut moved =
                Structure::of(source, locations, node.exit, &structure.diagrams.order(), &limits()).unwrap();
            for (before, after) in before.iter().zip(checked_in(&mut moved, &closure, &given)) {
                let after = after.map(|states| keeper.save(&states.inner[0], &moved.diagrams).unwrap());
                let after = after.map(|set| set.load(&structure.diagrams).unwrap());
                assert_eq!(before.as_ref().map(|states| states.inner[0].clone()), after, "seed {seed}");
            }
        }
        differing += usize::from(orders.iter().any(|order| *order != orders[0]));
    }
    assert!(differing > 5, "{differing}");
}
