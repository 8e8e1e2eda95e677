//! Models that have nothing in common, under the same unmodified algorithms.

use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
use ample_explicit::search::{BreadthFirst, breadth_first, dedicated, depth_first};
use ample_explicit::simulate::{AtMost, Ending, Guided, Random, simulate};
use ample_explicit::software::{BitvectorModel, SoftwareState};
use ample_explicit::space::{Buffer, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Parent, Store};

use crate::generic_graph::Graph;
use crate::layers::cube::{Configuration, Cube};
use crate::layers::petri::Net;
use crate::layers::rewriting::Grammar;
use crate::models::{peterson, philosophers};

/// Every algorithm on a state space of any kind: all find as many states, and a run follows a path that was found.
fn explore<S, St>(mut space: S, store: impl Fn() -> St, states: usize)
where
    S: StateSpace<State: PartialEq, Transition: PartialEq>,
    St: ExactStore<S::State, Side = Parent>,
    Buffer<S>: Default,
{
    let (mut breadth, mut depth, mut iterative, mut recursive) = (store(), store(), store(), store());
    breadth_first(&mut space, &mut breadth, &mut Handlers::new().on_explore(Always, Insert));
    depth_first(&mut space, &mut depth, &mut Handlers::new().on_explore(Always, Insert));
    assert!(dedicated::iterative(&mut space, &mut iterative, &mut |_| false).is_none());
    assert!(!dedicated::recursive(&mut space, &mut recursive, &mut |_| false));
    assert_eq!([breadth.len(), depth.len(), iterative.len(), recursive.len()], [states; 4]);

    let last = std::iter::successors(breadth.first(), |&handle| breadth.after(handle)).last().unwrap();
    let goal = breadth.get(last);
    let mut feedback =
        Handlers::new().on_explore(Accept(|state: &S::State| state == goal), Goal).on_explore(Always, Insert);
    let path = breadth_first(&mut space, &mut store(), &mut feedback).goal().unwrap();
    let mut guide = Guided::along(0, &path);
    let ending = simulate(&mut space, &mut guide, &mut ());
    assert!(guide.is_complete() && matches!(ending, Ending::Stopped | Ending::NoTransition));
    simulate(&mut space, &mut AtMost::new(50, Random::new(9)), &mut ());
}

#[test]
fn unrelated_models_run_under_the_same_algorithms() {
    explore(Net::buffer(5), FlatStore::<Parent>::default, 4 * 6);
    explore(Grammar::token_ring(3), HashStore::default, 6);
    explore(Grammar::token_ring(6), HashStore::default, 12);
    explore(Graph::line(30), HashStore::default, 30);
    explore(peterson(false), HashStore::<SoftwareState, Parent>::default, 64);
    explore(BitvectorModel::new(philosophers(3)), FlatStore::<Parent>::default, 875);
}

/// How many configurations are at most so many quarter turns away from the solved one.
#[test]
fn the_cube_has_as_many_configurations_as_is_known() {
    let levels = [1, 6, 27, 120, 534, 2256, 8969];
    for depth in 0..levels.len() {
        let mut store: HashStore<Configuration, Parent> = HashStore::default();
        let strategy = BreadthFirst { max_depth: depth as u64, ..Default::default() };
        strategy.run(&mut Cube, &mut store, &mut Handlers::new().on_explore(Always, Insert));
        assert_eq!(store.len(), levels[..=depth].iter().sum::<usize>());
    }
    // A scrambled cube is solved by as many turns as scrambled it, or fewer.
    struct Scrambled(Configuration);
    impl StateSpace for Scrambled {
        type State = Configuration;
        type Transition = <Cube as StateSpace>::Transition;
        fn initial(&mut self, index: usize, out: &mut Configuration) -> bool {
            *out = self.0;
            index == 0
        }
        fn first(&mut self, state: &Configuration) -> Option<Self::Transition> {
            Cube.first(state)
        }
        fn next(&mut self, state: &Configuration, last: &Self::Transition) -> Option<Self::Transition> {
            Cube.next(state, last)
        }
        fn target(&mut self, state: &Configuration, turn: &Self::Transition, out: &mut Configuration) {
            Cube.target(state, turn, out);
        }
    }
    struct Last(Configuration);
    impl ample_explicit::simulate::SimulationObserver<Cube> for Last {
        fn taken(&mut self, _: &<Cube as StateSpace>::Transition, state: &Configuration) {
            self.0 = *state;
        }
    }
    let mut last = Last(Configuration::SOLVED);
    simulate(&mut Cube, &mut AtMost::new(6, Random::new(11)), &mut last);
    let solved = |state: &Configuration| *state == Configuration::SOLVED;
    let mut feedback = Handlers::new().on_explore(Accept(solved), Goal).on_explore(Always, Insert);
    let mut store: HashStore<Configuration, Parent> = HashStore::default();
    assert!(breadth_first(&mut Scrambled(last.0), &mut store, &mut feedback).goal().unwrap().len() <= 6);
}
