//! The software layer: the models of M. Kattenbelt's thesis with its figures, run by the unmodified searches, stores and
//! simulation.

mod models;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use ample_budget::Budget;
use ample_engine::settings::{PartialOrder, Settings};
use ample_explicit::check;
use ample_explicit::engine::options::{Explicit, Options as EngineOptions, Search};
use ample_explicit::search::handlers::{
    Accept, Always, Call as Tell, Deadlock, Goal, Handlers, Insert, InsertRepresentative,
};
use ample_explicit::search::{breadth_first, depth_first};
use ample_explicit::simulate::{AtMost, Ending, Guided, Random, SimulationObserver, simulate};
use ample_explicit::software::data::{Boolean, Comparing, DataType};
use ample_explicit::software::expression::{Literal, TypeError};
use ample_explicit::software::flow::{Code, ControlFlow};
use ample_explicit::software::linear::Overflow;
use ample_explicit::software::state::{Node, TypingError};
use ample_explicit::software::types::{TypeGraph, TypeId};
use ample_explicit::software::{BitvectorModel, Linearisation, ProcessOrder, SoftwareModel, SoftwareState};
use ample_explicit::space::{Buffer, Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Parent, Side, Store};
use models::*;

/// The states of a model, and the arrivals at states that were known: `Vis` and `Rev` of table 6.2.
fn depth_first_counts<S, St>(space: &mut S, store: &mut St) -> (usize, usize)
where
    S: StateSpace,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    let mut arrivals = 0;
    let mut feedback =
        Handlers::new().on_explore(Always, Tell(|_: &S::State| arrivals += 1)).on_explore(Always, Insert);
    depth_first(space, store, &mut feedback);
    (store.len(), arrivals - store.len())
}

fn states<S: Clone + Eq + Hash, D: Side>(store: &HashStore<S, D>) -> Vec<S> {
    std::iter::successors(store.first(), |&handle| store.after(handle))
        .map(|handle| store.get(handle).clone())
        .collect()
}

/// All states of a model.
fn reachable(model: &SoftwareModel) -> Vec<SoftwareState> {
    let mut store: HashStore<SoftwareState> = HashStore::default();
    depth_first_counts(&mut model.clone(), &mut store);
    states(&store)
}

/// Table 6.2 with the corrections of the recomputation: states, revisits, and the bytes of a vector without and with
/// process identifiers, where all vectors have the same length.
#[test]
fn the_models_of_the_thesis_have_its_states_and_vectors() {
    let table = [
        ("D.1", peterson(false), 64, 77, Some((10, 13))),
        ("D.2", peterson_with_references(), 126, 138, None),
        ("D.3", dekker(), 288, 397, Some((10, 13))),
        ("D.4", dekker_with_references(), 356, 467, None),
        ("D.5", dijkstra(), 860, 1247, Some((13, 16))),
        ("D.6", dijkstra_with_references(), 942, 1338, None),
        ("D.7 (3)", philosophers(3), 875, 1490, Some((8, 11))),
        ("D.8 (3)", philosophers_with_references(3), 1082, 1861, None),
        ("D.7 (4)", philosophers(4), 8545, 22288, Some((10, 14))),
        ("D.8 (4)", philosophers_with_references(4), 11124, 29539, None),
    ];
    for (name, model, visited, revisited, bytes) in table {
        let mut graphs: HashStore<SoftwareState> = HashStore::default();
        assert_eq!(depth_first_counts(&mut model.clone(), &mut graphs), (visited, revisited), "{name}");
        for inline in [false, true] {
            let mut vectors = BitvectorModel::new(model.clone()).inline(inline);
            let mut store = FlatStore::new();
            assert_eq!(depth_first_counts(&mut vectors, &mut store), (visited, revisited), "{name}, {inline}");
            assert_eq!(vectors.overflow(), None);
        }
        let Some((without, with)) = bytes else { continue };
        let plain = Linearisation::new(model.types().clone());
        let symmetric = plain.clone().process_order(ProcessOrder::Control);
        for state in states(&graphs).iter().filter(|state| state.processes(model.types()).len() == 3 || name > "D.6") {
            assert_eq!(plain.encode(state).unwrap().len(), with, "{name}");
            assert_eq!(symmetric.encode(state).unwrap().len(), without, "{name}");
        }
    }
}

#[test]
fn vectors_of_pointer_models_are_as_long_on_average_as_in_the_thesis() {
    let average = |model: &SoftwareModel, order| {
        let linear = Linearisation::new(model.types().clone()).process_order(order);
        let states = reachable(model);
        let bytes: usize = states.iter().map(|state| linear.encode(state).unwrap().len()).sum();
        (bytes as f64 / states.len() as f64 * 10.0).round() / 10.0
    };
    let table = [
        (peterson_with_references(), 23.2),
        (dekker_with_references(), 26.2),
        (dijkstra_with_references(), 26.7),
        (philosophers_with_references(3), 18.9),
        (philosophers_with_references(4), 24.0),
    ];
    for (model, bytes) in table {
        assert_eq!(average(&model, ProcessOrder::Pid), bytes);
    }
}

#[test]
fn inlining_makes_vectors_shorter() {
    let longest = |model: &SoftwareModel| {
        let linear = Linearisation::new(model.types().clone()).inline(true);
        reachable(model).iter().map(|state| linear.encode(state).unwrap().len()).max().unwrap()
    };
    assert_eq!(longest(&peterson(false)), 7);
    assert_eq!(longest(&philosophers(4)), 8);
}

#[test]
fn references_keep_instances_alive() {
    let mut model = references();
    let mut store: HashStore<SoftwareState> = HashStore::default();
    assert_eq!(depth_first_counts(&mut model, &mut store), (9, 0));
    let last = states(&store).pop().unwrap();
    assert!(last.processes(model.types()).is_empty() && model.is_valid_end(&last));
    assert_eq!(states(&store).iter().map(SoftwareState::len).max(), Some(3));
}

#[test]
fn symmetric_stores_count_as_in_the_thesis() {
    let search = |model: &SoftwareModel, canonical: bool| {
        let linear = Linearisation::new(model.types().clone());
        let representative = |state: &SoftwareState, out: &mut SoftwareState| {
            if canonical {
                linear.canonical(state, out).unwrap();
            } else {
                linear.representative(state, out);
            }
        };
        let representatives: HashStore<SoftwareState> = HashStore::default();
        let mut action = InsertRepresentative::new(representative, representatives);
        let mut feedback = Handlers::new().on_explore(Always, &mut action);
        let mut store: HashStore<SoftwareState> = HashStore::default();
        depth_first(&mut model.clone(), &mut store, &mut feedback);
        store.len()
    };
    let table = [
        (peterson_with_references(), 82, 82),
        (dekker_with_references(), 206, 200),
        (dijkstra_with_references(), 498, 496),
        (philosophers_with_references(3), 462, 374),
        (philosophers_with_references(4), 4464, 2822),
        (peterson(false), 64, 64),
        (counters(5, "bit"), 32, 6),
    ];
    for (model, heuristic, canonical) in table {
        assert_eq!((search(&model, false), search(&model, true)), (heuristic, canonical));
    }
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

/// §4.1.1, figure 4.2, with the corrected names.
#[test]
fn the_type_graph_of_the_listing_is_that_of_the_figure() {
    let model = listing();
    let types = model.types();
    let nodes = ["global", "init", "Philosopher", "takeFork", "releaseFork", "Fork", "Boolean"];
    assert_eq!(types.nodes(), names(&nodes));
    assert_eq!(types.labels(), names(&["*", "f1", "f2", "f3", "left", "right", "fork", "value"]));
    let edges = [
        ("Philosopher", "*", "takeFork"),
        ("Philosopher", "*", "releaseFork"),
        ("init", "f1", "Fork"),
        ("init", "f2", "Fork"),
        ("init", "f3", "Fork"),
        ("Philosopher", "left", "Fork"),
        ("Philosopher", "right", "Fork"),
        ("takeFork", "fork", "Fork"),
        ("releaseFork", "fork", "Fork"),
        ("Fork", "value", "Boolean"),
    ];
    let edges = edges.map(|(from, label, to)| (from.to_owned(), label.to_owned(), to.to_owned()));
    assert_eq!(types.edges(), BTreeSet::from(edges));
}

/// Every state is a graph over the type graph, and so it is with garbage and in vectors.
#[test]
fn the_typing_condition_holds_in_all_states() {
    for model in [listing(), peterson_with_references(), dijkstra_with_references(), references()] {
        let options = check::Options { deadlock: false, invariants: 1, ..check::Options::default() };
        let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
        let report = check::breadth_first(&mut model.clone(), &mut store, &options, &Budget::unlimited());
        assert!(report.invariants.iter().all(Option::is_none) && report.ended.is_none());
        let mut vectors = BitvectorModel::new(model.clone());
        let mut store: FlatStore<Parent> = FlatStore::default();
        let again = check::breadth_first(&mut vectors, &mut store, &options, &Budget::unlimited());
        assert!(again.invariants.iter().all(Option::is_none));
        assert_eq!(again.statistics.states, report.statistics.states);
    }
    // A state that breaks it is found out.
    let model = listing();
    let types = model.types();
    let mut state = figure(&model, [0, 1, 2]);
    let left = types.place(types.named("Philosopher").unwrap(), "left").unwrap();
    assert_eq!(state.check_types(types), Ok(()));
    let philosopher = state.processes(types)[1];
    let variable = types.get(types.named("Philosopher").unwrap()).variables()[0];
    state.set_value(types, philosopher, variable, Some(Node::GLOBAL));
    assert!(matches!(state.check_types(types), Err(TypingError::Edge { .. })));
    assert_eq!(left.data(types), types.named("Fork").unwrap());
}

/// The state of figure 4.4, with the forks created in that order: the third philosopher releases the first fork.
fn figure(model: &SoftwareModel, order: [usize; 3]) -> SoftwareState {
    let types = model.types();
    let id = |name: &str| types.named(name).unwrap();
    let variable = |of: &str, name: &str| {
        let variables = types.get(id(of)).variables();
        *variables.iter().find(|variable| types.get_variable(**variable).name() == name).unwrap()
    };
    let mut state = SoftwareState::new(types);
    let mut forks = [Node::GLOBAL; 3];
    for fork in order {
        forks[fork] = state.create(types, id("Fork"));
    }
    let init = state.create_process(types, id("init"), 0);
    for (name, fork) in ["f1", "f2", "f3"].into_iter().zip(forks) {
        state.set_value(types, init, variable("init", name), Some(fork));
    }
    for (pid, left, right) in [(3, 0, 1), (7, 1, 2), (2, 2, 0)] {
        let philosopher = state.create_process(types, id("Philosopher"), pid);
        state.set_value(types, philosopher, variable("Philosopher", "left"), Some(forks[left]));
        state.set_value(types, philosopher, variable("Philosopher", "right"), Some(forks[right]));
        if pid == 2 {
            let function = state.call(types, philosopher, id("releaseFork"));
            state.set_value(types, function, variable("releaseFork", "fork"), Some(forks[0]));
        }
    }
    state
}

/// Tables 4.1 and 4.2.
#[test]
fn the_state_of_the_figure_is_linearised_as_in_the_tables() {
    let model = listing();
    let types = model.types();
    let state = figure(&model, [0, 1, 2]);
    assert_eq!(state.check_types(types), Ok(()));
    let linear = Linearisation::new(types.clone());
    let named = |linear: &Linearisation, state: &SoftwareState| -> Vec<(String, Vec<u32>)> {
        let rows = linear.rows(state).into_iter();
        rows.map(|(of, edges)| (types.get(of).name().to_owned(), edges)).collect()
    };
    let row = |name: &str, edges: &[u32]| (name.to_owned(), edges.to_vec());
    let mut rows = vec![
        row("global", &[]),
        row("init", &[6, 7, 8]),
        row("Philosopher", &[8, 6, 9]),
        row("Philosopher", &[6, 7, 0]),
        row("Philosopher", &[7, 8, 0]),
        row("Fork", &[10]),
        row("Fork", &[11]),
        row("Fork", &[12]),
        row("releaseFork", &[6]),
        row("Boolean", &[]),
        row("Boolean", &[]),
        row("Boolean", &[]),
    ];
    assert_eq!(named(&linear, &state), rows);
    rows.truncate(9);
    rows[5..8].iter_mut().for_each(|(_, edges)| edges.clear());
    let inlined = linear.clone().inline(true);
    assert_eq!(named(&inlined, &state), rows);

    // Without the garbage and with other numbers it is the same state.
    let vector = linear.encode(&state).unwrap();
    for order in [[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]] {
        let mut other = figure(&model, order);
        other.create(types, types.named("Fork").unwrap());
        assert_eq!(linear.encode(&other).unwrap(), vector);
        other.normalise(types);
        assert_eq!(linear.decode(&vector), Ok(other.clone()));
        assert_eq!(inlined.decode(&inlined.encode(&other).unwrap()), Ok(other.clone()));
        assert_eq!(other.len(), 12, "{}", other.show(types));
    }
}

#[test]
fn vectors_are_decoded_to_the_states_they_were_made_of() {
    let models = [listing(), peterson_with_references(), dijkstra(), philosophers_with_references(3), references()];
    for model in models {
        for inline in [false, true] {
            let linear = Linearisation::new(model.types().clone()).inline(inline);
            let states = reachable(&model);
            let mut vectors = BTreeSet::new();
            for state in &states {
                let vector = linear.encode(state).unwrap();
                assert_eq!(linear.decode(&vector).as_ref(), Ok(state));
                vectors.insert(vector);
            }
            assert_eq!(vectors.len(), states.len());
        }
    }
}

/// Random bytes are refused or are a state; nothing else happens.
#[test]
fn bytes_that_are_no_state_are_refused() {
    let linear = Linearisation::new(listing().types().clone());
    let mut random = ample_random::Random::new(7);
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
        let _ = linear.decode(&bytes);
    }
    assert!(linear.decode(&[]).is_err());
}

#[test]
fn calls_push_and_returns_pop() {
    let mut model = listing();
    let types = model.types().clone();
    let philosopher = types.named("Philosopher").unwrap();
    let (mut pushed, mut popped, mut deepest) = (0, 0, 0);
    let mut out = SoftwareState::default();
    let depth = |state: &SoftwareState| -> usize {
        let called = |node: &Node| state.callee(&types, *node).is_some();
        state.processes(&types).iter().filter(|node| called(node)).count()
    };
    for state in reachable(&model) {
        deepest = deepest.max(depth(&state));
        let mut cursor = model.first(&state);
        while let Some(transition) = cursor {
            model.target(&state, &transition, &mut out);
            let text = model.statement(&transition);
            let change = depth(&out) as i64 - depth(&state) as i64;
            let expected = match text.as_str() {
                "return" => -1,
                _ if transition.of == philosopher => 1,
                _ => 0,
            };
            assert_eq!(change, expected, "{text}");
            (pushed, popped) = (pushed + u32::from(change > 0), popped + u32::from(change < 0));
            cursor = model.next(&state, &transition);
        }
    }
    assert!(pushed > 0 && popped > 0);
    assert_eq!(deepest, 3);
}

/// Between waiting for a fork and taking it nobody else moves.
#[test]
fn atomic_sequences_are_not_interrupted() {
    let mut model = listing();
    let types = model.types().clone();
    let take = types.named("takeFork").unwrap();
    let mut inside = 0;
    for state in reachable(&model) {
        let middle = |node: &Node| {
            let top = state.get(state.top(&types, *node));
            let steps = types.get(top.of()).flow().unwrap().steps(top.location());
            top.of() == take && steps.iter().any(|step| step.statement.text().contains("= true"))
        };
        let Some(process) = state.processes(&types).into_iter().find(middle) else { continue };
        inside += 1;
        let first = model.first(&state).unwrap();
        assert_eq!(first.pid, state.get(process).pid());
        assert_eq!(model.next(&state, &first), None);
    }
    assert!(inside > 0);
    // All hold their left forks.
    let mut feedback = Handlers::new().on_explore(Deadlock, Goal).on_explore(Always, Insert);
    let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
    assert!(breadth_first(&mut model, &mut store, &mut feedback).goal().is_some());
}

/// Records what a simulation does.
#[derive(Default)]
struct Record(Vec<u32>, usize);

impl SimulationObserver<ControlFlow> for Record {
    fn started(&mut self, state: &u32) {
        self.0.push(*state);
    }

    fn taken(&mut self, _: &u32, state: &u32) {
        self.0.push(*state);
    }

    fn ended(&mut self) {
        self.1 += 1;
    }
}

#[test]
fn control_flow_is_simulated_and_searched_for_its_end() {
    let model = peterson(false);
    let types = model.types();
    let can_end = |name: &str| {
        let mut flow = types.get(types.named(name).unwrap()).flow().unwrap().clone();
        let end = flow.end();
        let mut feedback = Handlers::new().on_explore(Accept(|at: &u32| *at == end), Goal).on_explore(Always, Insert);
        breadth_first(&mut flow, &mut HashStore::<u32, Parent>::default(), &mut feedback).goal().is_some()
    };
    assert!(can_end("Property") && !can_end("Process_A"));

    let mut flow = types.get(types.named("Process_A").unwrap()).flow().unwrap().clone();
    let mut record = Record::default();
    assert_eq!(simulate(&mut flow, &mut AtMost::new(12, Random::new(1)), &mut record), Ending::Stopped);
    assert_eq!((record.0.len(), record.1), (13, 1));
    assert_eq!(record.0[0], record.0[6]); // Six statements in a loop.
    assert_eq!(record.0[..7], record.0[6..]);
    let mut property = types.get(types.named("Property").unwrap()).flow().unwrap().clone();
    let mut guide = Guided::new(0, vec![0, 0]);
    assert_eq!(simulate(&mut property, &mut guide, &mut ()), Ending::NoTransition);
    assert!(guide.is_complete());
}

#[test]
fn assertions_and_deadlocks_are_found_and_replayed() {
    let check = |mut model: SoftwareModel| {
        let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
        let report = check::breadth_first(&mut model, &mut store, &check::Options::default(), &Budget::unlimited());
        (report, model)
    };
    for model in [peterson(false), dekker(), dijkstra(), peterson_with_references()] {
        let (report, _) = check(model);
        assert!(report.assertions.is_none() && report.deadlock.is_none());
    }
    let (report, mut broken) = check(peterson(true));
    let violation = report.assertions.unwrap();
    let mut guide = Guided::along(0, &violation.path);
    simulate(&mut broken, &mut guide, &mut ());
    assert!(guide.is_complete());
    assert_eq!(broken.violation().as_deref(), Some("assertion violated: (mutex < 2)"));

    for mut model in [philosophers(3), philosophers_with_references(3)] {
        let (report, _) = check(model.clone());
        assert!(report.deadlock.is_some());
        let dead = reachable(&model).iter().filter(|state| model.first(state).is_none()).count();
        assert_eq!(dead, 1);
    }
}

#[test]
fn run_time_errors_are_reported() {
    let mut b = Builder::new();
    b.globals("int", &["*x"]);
    b.active("Main", |s| vec![s.set("x", n(1))]);
    let mut model = b.model();
    let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
    let report = check::breadth_first(&mut model, &mut store, &check::Options::default(), &Budget::unlimited());
    assert_eq!(report.assertions.unwrap().message, "`x` refers to nothing");
}

#[test]
fn process_identifiers_are_limited_by_their_width() {
    let mut b = Builder::new();
    let child = b.declare("Child", &[]);
    b.body(child, |s| vec![when(eq(n(0), n(1))), s.run("Child", &[])]);
    b.active("Parent", |s| vec![Code::Loop(vec![vec![s.run("Child", &[])]])]);
    let model = b.model();
    for bits in [1, 2, 3] {
        let states = reachable(&model.clone().with_pid_bits(bits));
        assert_eq!(states.len(), (1 << bits) as usize);
        let most = states.iter().map(|state| state.processes(model.types()).len()).max();
        assert_eq!(most, Some(1 << bits));
    }
}

#[test]
fn references_that_do_not_fit_are_never_silent() {
    let model = philosophers(4); // 1 + 4 + 4 rows.
    let linear = Linearisation::new(model.types().clone()).reference_bits(3);
    let initial = &reachable(&model)[0];
    assert_eq!(linear.encode(initial), Err(Overflow::Reference { rows: 9, bits: 3 }));
    assert!(linear.clone().inline(true).encode(initial).is_ok());
    assert!(linear.clone().reference_bits(4).encode(initial).is_ok());
    let narrow = linear.reference_bits(8).pid_bits(1);
    assert_eq!(narrow.encode(initial), Err(Overflow::Pid { pid: 2, bits: 1 }));

    // In the middle of a search: the third instance is one too many.
    let mut b = Builder::new();
    b.globals("int", &["*x", "*y"]);
    b.active("Main", |s| vec![s.allocate("x"), s.allocate("y")]);
    let mut vectors = BitvectorModel::new(b.model()).reference_bits(2);
    let mut store: FlatStore<Parent> = FlatStore::default();
    let report = check::breadth_first(&mut vectors, &mut store, &check::Options::default(), &Budget::unlimited());
    let message = report.assertions.unwrap().message;
    assert_eq!(message, "a state has 4 instances, and references of 2 bits cannot refer to all of them");
    assert_eq!(vectors.overflow(), Some(Overflow::Reference { rows: 4, bits: 2 }));
}

/// Suits of cards can be compared for equality; nothing in the expressions knows them.
#[derive(Debug)]
struct Suit;

impl DataType for Suit {
    fn name(&self) -> &str {
        "Suit"
    }

    fn bits(&self) -> u32 {
        2
    }

    fn initial(&self) -> u64 {
        3
    }

    fn show(&self, word: u64) -> String {
        ["clubs", "diamonds", "hearts", "spades"][word as usize & 3].to_owned()
    }

    fn comparing(&self) -> Option<&dyn Comparing> {
        Some(self)
    }
}

impl Comparing for Suit {
    fn compare(&self, one: u64, other: u64) -> Option<Ordering> {
        (one == other).then_some(Ordering::Equal)
    }
}

#[test]
fn a_new_data_type_opts_into_expressions() {
    let build = |body: &dyn Fn(&In<'_>, TypeId) -> Vec<Code>| {
        let mut b = Builder::new();
        let suit = b.types.data(Suit);
        b.types.variable(TypeId::GLOBAL, "led", suit);
        b.types.variable(TypeId::GLOBAL, "played", suit);
        let id = b.types.process("Player");
        let code = body(&In(&b.types, id), suit);
        b.types.set_body(id, &code);
        SoftwareModel::new(b.types, &[id])
    };
    let hearts = |suit| Arc::new(Literal::Word(suit, 2));
    let mut model = build(&|s, suit| {
        vec![s.set("led", hearts(suit)), when(ne(s.v("led"), s.v("played"))), s.set("played", s.v("led"))]
    })
    .unwrap();
    assert_eq!(reachable(&model).len(), 5);
    let linear = Linearisation::new(model.types().clone()).inline(true);
    let mut initial = SoftwareState::default();
    model.initial(0, &mut initial);
    assert!(initial.show(model.types()).contains("Suit spades"));
    assert_eq!(linear.bits(&initial), Ok(1 + 2 * 2 + 1 + 8 + 3));
    // It is neither a truth value nor a number.
    assert!(matches!(build(&|s, _| vec![when(s.v("led"))]), Err(TypeError::Operands(_))));
    assert!(matches!(build(&|s, _| vec![s.set("led", plus(s.v("led"), 1))]), Err(TypeError::Operands(_))));
    assert!(matches!(build(&|s, _| vec![s.set("led", n(1))]), Err(TypeError::Mismatch(_))));
}

#[test]
fn wrong_types_are_refused() {
    let build = |body: &dyn Fn(&In<'_>) -> Vec<Code>| {
        let mut b = Builder::new();
        b.globals("byte", &["x", "*p"]);
        b.globals("bit", &["*q"]);
        let boolean = b.types.data(Boolean);
        b.types.variable(TypeId::GLOBAL, "t", boolean);
        let id = b.declare("P", &[("byte", "own")]);
        let other = b.types.process("Q");
        let byte = b.data("byte");
        b.types.variable(other, "local", byte);
        b.body(id, |s| body(s));
        SoftwareModel::new(b.types, &[id]).map(|_| ())
    };
    assert_eq!(build(&|s| vec![s.set("p", s.r("own")), s.set("x", s.v("p")), s.set("t", eq(n(1), n(2)))]), Ok(()));
    assert!(matches!(build(&|s| vec![s.set("p", s.r("q"))]), Err(TypeError::Mismatch(_))));
    assert!(matches!(build(&|s| vec![s.set("p", s.r("x"))]), Err(TypeError::NoReference(_))));
    assert!(matches!(build(&|s| vec![s.allocate("x")]), Err(TypeError::NoReference(_))));
    assert!(matches!(build(&|s| vec![s.run("P", &[])]), Err(TypeError::Arguments(_))));
    assert!(matches!(build(&|s| vec![s.set("t", s.v("x"))]), Err(TypeError::Mismatch(_))));
    let hidden = build(&|s| {
        let elsewhere = In(s.0, s.0.named("Q").unwrap());
        vec![elsewhere.set("local", n(1))]
    });
    assert!(matches!(hidden, Err(TypeError::Scope(_))));
    let mut recursive = TypeGraph::new();
    let list = recursive.record("List");
    recursive.variable(list, "rest", list);
    assert_eq!(SoftwareModel::new(recursive, &[]).err(), Some(TypeError::Recursive("List".into())));
    let types = TypeGraph::new();
    assert!(matches!(types.place(TypeId::GLOBAL, "x"), Err(TypeError::Unknown { .. })));
}

#[test]
fn only_the_process_with_the_largest_identifier_ends() {
    let mut b = Builder::new();
    let process = b.declare("P", &[]);
    b.body(process, |_| vec![skip()]);
    b.active = vec![process; 3];
    let mut model = b.model();
    let mut ends = 0;
    for state in reachable(&model) {
        let largest = state.processes(model.types()).iter().map(|node| state.get(*node).pid()).max();
        let mut cursor = model.first(&state);
        while let Some(transition) = cursor {
            if model.statement(&transition) == "end" {
                assert_eq!(Some(transition.pid), largest);
                ends += 1;
            }
            cursor = model.next(&state, &transition);
        }
    }
    assert!(ends > 0);
}

/// Those models of the thesis that are valid Promela, too, by the front end and the compiled engine.
#[test]
fn the_compiled_engine_counts_the_same_states() {
    let mutual_exclusion = |globals: &str, a: &str, b: &str| {
        let section = "mutex = mutex + 1; mutex = mutex - 1;";
        let property = "active proctype Property() { assert(mutex < 2) }";
        let process = |name: &str, body: &str| {
            format!("active proctype {name}() {{ do :: {} od }}", body.replace("CRITICAL", section))
        };
        format!("byte mutex; {globals}; {property} {} {}", process("A", a), process("B", b))
    };
    let peterson_text = mutual_exclusion(
        "bit flag_a, flag_b, turn",
        "flag_a = 1; turn = 0; (flag_b == 0 || turn != 0); CRITICAL flag_a = 0",
        "flag_b = 1; turn = 1; (flag_a == 0 || turn != 1); CRITICAL flag_b = 0",
    );
    let half = |mine: &str, other: &str, me: u8, you: u8| {
        format!(
            "{mine} = 1; do :: {other} == 0 -> break :: {other} == 1 -> if :: turn == {you} -> {mine} = 0; \
             turn == {me}; {mine} = 1 :: turn == {me} -> skip fi od; CRITICAL turn = {you}; {mine} = 0"
        )
    };
    let dekker_text =
        mutual_exclusion("bit flag_a, flag_b, turn", &half("flag_a", "flag_b", 0, 1), &half("flag_b", "flag_a", 1, 0));
    let philosopher = |left: usize, right: usize| {
        format!(
            "active proctype P{left}() {{ do :: !f{left} -> f{left} = true; !f{right} -> f{right} = true; \
             f{right} = false; f{left} = false od }}"
        )
    };
    let philosophers_text =
        format!("bool f1, f2, f3; {} {} {}", philosopher(1, 2), philosopher(2, 3), philosopher(3, 1));
    let table = [(peterson_text, peterson(false)), (dekker_text, dekker()), (philosophers_text, philosophers(3))];
    for (text, model) in table {
        let mut loader = ample_lang::promela::preprocess::FileLoader;
        let system = ample_lang::promela::read("model.pml", text, &mut loader, &[]).unwrap().system;
        let settings = Settings { partial_order: PartialOrder::None, ..Settings::default() };
        let explicit = Explicit { search: Search::DepthFirst, ..Explicit::default() };
        let report =
            ample_explicit::engine::work::states(&system, &EngineOptions { settings, explicit }, &Budget::unlimited());
        assert_eq!(report.statistics.states as usize, reachable(&model).len());
    }
}
