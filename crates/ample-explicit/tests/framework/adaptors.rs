//! What was written for a software model runs unchanged on its transformations: on bit vectors, on the product with a
//! property automaton, and on the product of the bit vectors.

use ample_budget::Budget;
use ample_explicit::liveness::{AutomatonPart, BuchiAutomaton, Options, Product, SystemPart, components};
use ample_explicit::search::handlers::{
    Accept, Always, Effect, Goal, Handlers, Insert, InsertInto, InsertRepresentative, Perform, Predicate,
};
use ample_explicit::search::{Explore, breadth_first, depth_first};
use ample_explicit::simulate::{AtMost, Guided, Random, SimulationObserver, SimulationStrategy, simulate};
use ample_explicit::software::{
    BitvectorModel, Condition, Decoded, Linearisation, SoftwareModel, SoftwareState, SoftwareTransition,
};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{FlatStore, HashStore, Parent, Store};
use ample_explicit::transform::{Orbit, Projection, Quotient, StoreThrough, Through};
use ample_logic::{Atoms, Dialect, parse, translate};

use crate::models::*;

/// Peterson's algorithm with two conditions: mutual exclusion, and the flag of the first process.
fn peterson_with_conditions() -> SoftwareModel {
    let model = peterson(false);
    let mutex = lt(In(model.types(), Default::default()).v("mutex"), n(2));
    let flag = In(model.types(), Default::default()).v("flag_a");
    model.with_conditions(vec![Condition::Global(mutex), Condition::Global(flag)]).unwrap()
}

fn automaton(formula: &str) -> BuchiAutomaton {
    let mut atoms = Atoms::new();
    // The atoms get the numbers of the conditions.
    parse("[] mutex && [] flag", Dialect::Spin, &mut atoms).unwrap();
    let never = !parse(formula, Dialect::Spin, &mut atoms).unwrap();
    BuchiAutomaton::of(&translate(&never, &atoms, Default::default()).unwrap()).unwrap()
}

/// An observer for software models.
#[derive(Default)]
struct Trace {
    states: Vec<SoftwareState>,
    taken: Vec<SoftwareTransition>,
    ended: usize,
}

impl SimulationObserver<SoftwareModel> for Trace {
    fn started(&mut self, state: &SoftwareState) {
        self.states.push(state.clone());
    }

    fn taken(&mut self, transition: &SoftwareTransition, state: &SoftwareState) {
        self.taken.push(*transition);
        self.states.push(state.clone());
    }

    fn ended(&mut self) {
        self.ended += 1;
    }
}

/// An observer for automata.
#[derive(Default)]
struct Places(Vec<u32>);

impl SimulationObserver<BuchiAutomaton> for Places {
    fn started(&mut self, state: &u32) {
        self.0.push(*state);
    }

    fn taken(&mut self, _: &u32, state: &u32) {
        self.0.push(*state);
    }
}

#[test]
fn an_observer_sees_the_same_run_on_vectors_and_on_the_product() {
    let mut model = peterson_with_conditions();
    let mut trace = Trace::default();
    simulate(&mut model, &mut AtMost::new(40, Random::new(5)), &mut trace);
    let guide = || Guided::new(0, trace.taken.clone());

    // On bit vectors: the strategy, too, is one for the model.
    let mut vectors = BitvectorModel::new(model.clone());
    let decoded = Decoded::of(&vectors);
    let mut strategy: Through<SoftwareModel, _, _> = Through::new(decoded.clone(), guide());
    let mut observer: Through<SoftwareModel, _, _> = Through::new(decoded.clone(), Trace::default());
    simulate(&mut vectors, &mut strategy, &mut observer);
    assert!(strategy.into_inner().is_complete());
    let on_vectors = observer.into_inner();
    assert_eq!((&on_vectors.states, &on_vectors.taken, on_vectors.ended), (&trace.states, &trace.taken, 1));

    // On the product, with an observer of each part.
    let property = automaton("[] (flag -> <> !flag)");
    let mut product = Product::new(model, property.clone());
    let mut strategy: Through<SoftwareModel, _, _> = Through::new(SystemPart, guide());
    let system: Through<SoftwareModel, _, _> = Through::new(SystemPart, Trace::default());
    let places: Through<BuchiAutomaton, _, _> = Through::new(AutomatonPart, Places::default());
    let mut both = (system, places);
    simulate(&mut product, &mut strategy, &mut both);
    let (system, places) = (both.0.into_inner(), both.1.into_inner());
    assert_eq!(system.states[..], trace.states[..system.states.len()]);
    assert_eq!(places.0.len(), system.states.len());
    assert!(!system.taken.is_empty() && is_path(property, &places.0));

    // On the product of the bit vectors: one adaptor over the other.
    let mut product = Product::new(vectors, automaton("[] (flag -> <> !flag)"));
    let inner: Through<SoftwareModel, _, _> = Through::new(decoded.clone(), guide());
    let mut strategy: Through<BitvectorModel, _, _> = Through::new(SystemPart, inner);
    let inner: Through<SoftwareModel, _, _> = Through::new(decoded, Trace::default());
    let mut observer: Through<BitvectorModel, _, _> = Through::new(SystemPart, inner);
    simulate(&mut product, &mut strategy, &mut observer);
    assert_eq!(observer.into_inner().into_inner().states, system.states);
}

/// These states follow each other in the automaton.
fn is_path(mut automaton: BuchiAutomaton, states: &[u32]) -> bool {
    states.windows(2).all(|step| {
        let mut cursor = StateSpace::first(&mut automaton, &step[0]);
        while let Some(arc) = cursor {
            let mut to = 0;
            automaton.target(&step[0], &arc, &mut to);
            if to == step[1] {
                return true;
            }
            cursor = automaton.next(&step[0], &arc);
        }
        false
    })
}

/// In the critical section, at the beginning of the model's own types.
fn in_critical_section(model: &SoftwareModel) -> impl Predicate<SoftwareModel> + Clone + use<> {
    let types = model.types().clone();
    let mutex = types.get(Default::default()).variables()[2];
    move |state: &SoftwareState| {
        let node = state.nodes().next().unwrap();
        let value = state.value(&types, node, mutex).unwrap();
        state.get(value).word() == 1
    }
}

/// Counts the states that it is applied to.
struct Count<'a>(&'a mut usize);

impl<S: StateSpace> Effect<S, Explore> for Count<'_> {
    fn apply(&mut self, _: &S::State, _: Option<&S::Transition>) -> Explore {
        *self.0 += 1;
        Explore::New
    }
}

#[test]
fn conditions_actions_and_stores_for_the_model_work_on_vectors_and_on_the_product() {
    let mut model = peterson_with_conditions();
    let critical = in_critical_section(&model);
    let mut feedback = Handlers::new().on_explore(Accept(critical.clone()), Goal).on_explore(Always, Insert);
    let mut graphs: HashStore<SoftwareState, Parent> = HashStore::default();
    let shortest = breadth_first(&mut model, &mut graphs, &mut feedback).goal().unwrap().len();

    let mut vectors = BitvectorModel::new(model.clone());
    let decoded = Decoded::of(&vectors);
    let condition: Through<SoftwareModel, _, _> = Through::new(decoded.clone(), critical.clone());
    let mut feedback = Handlers::new().on_explore(Accept(condition), Goal).on_explore(Always, Insert);
    let mut store: FlatStore<Parent> = FlatStore::default();
    let path = breadth_first(&mut vectors, &mut store, &mut feedback).goal().unwrap();
    assert_eq!(path.len(), shortest);

    let mut product = Product::new(model.clone(), automaton("[] mutex"));
    let condition: Through<SoftwareModel, _, _> = Through::new(SystemPart, critical);
    let elsewhere: Through<BuchiAutomaton, _, _> = Through::new(AutomatonPart, |state: &u32| *state > 1000);
    let mut feedback = Handlers::new()
        .on_explore(Accept(condition), Goal)
        .on_explore(Accept(elsewhere), Goal)
        .on_explore(Always, Insert);
    let mut store: HashStore<_, Parent> = HashStore::default();
    assert_eq!(breadth_first(&mut product, &mut store, &mut feedback).goal().unwrap().len(), shortest);

    // A store of graphs for a search of vectors, and an action that counts the arrivals.
    let mut arrivals = 0;
    let effect: Through<SoftwareModel, _, _> = Through::new(decoded.clone(), Count(&mut arrivals));
    let graphs: HashStore<SoftwareState> = HashStore::default();
    let mut insert = InsertInto(StoreThrough::<BitvectorModel, SoftwareModel, _, _>::new(decoded, graphs));
    let mut feedback = Handlers::new().on_explore(Always, Perform(effect)).on_explore(Always, &mut insert);
    let mut kept = FlatStore::new();
    depth_first(&mut vectors, &mut kept, &mut feedback);
    assert_eq!((kept.len(), insert.0.len(), arrivals), (64, 64, 64 + 77));
}

/// Mutual exclusion holds, and who wants to enter does; but without fairness a process may never want to.
#[test]
fn formulas_are_checked_on_the_product_with_graphs_and_with_vectors() {
    for (formula, holds) in [("[] mutex", true), ("[] (flag -> <> !flag)", true), ("[] <> flag", false)] {
        let model = peterson_with_conditions();
        let mut product = Product::new(model.clone(), automaton(formula));
        let mut store = HashStore::default();
        let report = components(&mut product, &mut store, &Options::default(), &Budget::unlimited());
        assert_eq!(report.found.is_none(), holds, "{formula}");
        assert!(report.found.is_none_or(|lasso| !lasso.cycle.is_empty()));
        let mut product = Product::new(BitvectorModel::new(model).inline(true), automaton(formula));
        let mut store = FlatStore::default();
        let report = components(&mut product, &mut store, &Options::default(), &Budget::unlimited());
        assert_eq!(report.found.is_none(), holds, "{formula}");
    }
}

#[test]
fn a_quotient_has_the_states_of_the_symmetric_store() {
    let table = [
        (peterson_with_references(), 82),
        (dekker_with_references(), 200),
        (dijkstra_with_references(), 496),
        (philosophers_with_references(3), 374),
        (counters(5, "bit"), 6),
    ];
    for (model, states) in table {
        let linear = Linearisation::new(model.types().clone());
        let canonical = |state: &SoftwareState, out: &mut SoftwareState| linear.canonical(state, out).unwrap();
        let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
        let mut quotient = Quotient::new(model.clone(), canonical);
        breadth_first(&mut quotient, &mut store, &mut Handlers::new().on_explore(Always, Insert));
        assert_eq!(store.len(), states);

        let representatives: HashStore<SoftwareState> = HashStore::default();
        let mut insert = InsertRepresentative::new(canonical, representatives);
        let mut store: HashStore<SoftwareState, Parent> = HashStore::default();
        breadth_first(&mut model.clone(), &mut store, &mut Handlers::new().on_explore(Always, &mut insert));
        assert_eq!((store.len(), insert.store().len()), (states, states));
    }
}

/// The projection of a quotient is the identity; a strategy of the original runs on it.
#[test]
fn a_run_of_the_quotient_is_seen_as_one_of_representatives() {
    let model = counters(3, "bit");
    let linear = Linearisation::new(model.types().clone());
    let canonical = |state: &SoftwareState, out: &mut SoftwareState| linear.canonical(state, out).unwrap();
    let mut quotient = Quotient::new(model, canonical);
    let mut strategy: Through<SoftwareModel, _, _> = Through::new(Orbit, AtMost::new(20, Random::new(3)));
    let mut observer: Through<SoftwareModel, _, _> = Through::new(Orbit, Trace::default());
    simulate(&mut quotient, &mut strategy, &mut observer);
    let trace = observer.into_inner();
    assert_eq!(trace.taken.len(), 20);
    for state in &trace.states {
        let mut out = SoftwareState::default();
        linear.canonical(state, &mut out).unwrap();
        assert_eq!(&out, state);
    }
}

/// A strategy that chooses among the steps of a part never makes the other part move alone.
#[test]
fn a_strategy_for_one_part_of_a_product_moves_only_that() {
    use ample_explicit::transform::{Left, Move, Product as Parallel};
    let mut product = Parallel::interleaved(crate::generic_graph::Graph::line(4), crate::generic_graph::Graph::line(3));
    let mut strategy: Through<crate::generic_graph::Graph, _, _> = Through::new(Left, Random::new(1));
    struct Moves(usize);
    impl<S: StateSpace<Transition = Move<usize, usize>>> SimulationObserver<S> for Moves {
        fn taken(&mut self, transition: &Move<usize, usize>, _: &S::State) {
            assert!(matches!(transition, Move::Left(_)));
            self.0 += 1;
        }
    }
    let mut moves = Moves(0);
    simulate(&mut product, &mut strategy, &mut moves);
    assert_eq!(moves.0, 3);
    let _: &dyn SimulationStrategy<crate::generic_graph::Graph> = &Random::new(1);
    let moved: Option<usize> =
        Projection::<Parallel<_, crate::generic_graph::Graph>, crate::generic_graph::Graph>::transition(
            &Left,
            &Move::Right(0),
        );
    assert_eq!(moved, None);
}
