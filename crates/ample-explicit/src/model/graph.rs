//! The state graph of a model: states are numbered as they are found, and each is expanded once.

use ample_model::{Budget, EdgeId, Move, Reason};

use super::{Ending, Model, Path};
use crate::liveness::{Concurrent, Processes};
use crate::simulate::{AtMost, Random, SimulationObserver, simulate};
use crate::space::{Checked, StateSpace};
use crate::store::{ExactStore, Handle, HashStore, Store};

/// The number of a state, in the order in which states are found.
pub(super) type StateNumber = u32;

/// What leads from a state to another.
#[derive(Clone, Copy, Debug)]
struct Edge {
    /// The position of the action among those of the state.
    action: u32,
    process: Option<u8>,
    target: StateNumber,
}

/// The part of the state graph that has been looked at.
pub(super) struct Graph<'m, M: Model> {
    pub model: &'m M,
    budget: Budget,
    states: HashStore<M::State>,
    initial: Vec<StateNumber>,
    /// For each state that has been expanded.
    edges: Vec<Option<Box<[Edge]>>>,
    /// How many edges there are in all.
    pub transitions: u64,
    /// Why states may lack successors: what is found from now on about the absence of something means nothing.
    pub interrupted: Option<Reason>,
}

impl<'m, M: Model> Graph<'m, M> {
    pub fn new(model: &'m M, budget: &Budget) -> Self {
        let mut graph = Graph {
            model,
            budget: budget.clone(),
            states: HashStore::new(),
            initial: Vec::new(),
            edges: Vec::new(),
            transitions: 0,
            interrupted: None,
        };
        graph.initial = model.init().iter().map_while(|state| graph.number(state)).collect();
        graph
    }

    /// How many states have been found.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn state(&self, number: StateNumber) -> &M::State {
        self.states.get(Handle::at(number.into()).expect("handles have more bits than numbers"))
    }

    /// The number of a state that may be new. None if there are too many.
    fn number(&mut self, state: &M::State) -> Option<StateNumber> {
        let handle = self.states.insert(state).handle();
        let number = handle.and_then(|handle| StateNumber::try_from(handle.position()).ok());
        match number {
            Some(number) if number as usize == self.edges.len() => self.edges.push(None),
            Some(_) => {}
            None => self.interrupted = Some(Reason::Memory),
        }
        number
    }

    /// The edges out of a state.
    fn edges(&mut self, number: StateNumber) -> &[Edge] {
        if self.edges[number as usize].is_none() {
            let edges = self.expand(number);
            self.transitions += edges.len() as u64;
            self.edges[number as usize] = Some(edges);
        }
        self.edges[number as usize].as_deref().unwrap_or_default()
    }

    fn expand(&mut self, number: StateNumber) -> Box<[Edge]> {
        let model = self.model;
        let actions = model.actions(self.state(number));
        let mut edges = Vec::with_capacity(actions.len());
        for (position, action) in actions.iter().enumerate() {
            if position % 256 == 255
                && let Err(interrupted) = self.budget.check()
            {
                self.interrupted = Some(interrupted.into());
                break;
            }
            let Some(next) = model.next(self.state(number), action) else { continue };
            let Some(target) = self.number(&next) else { break };
            edges.push(Edge { action: position as u32, process: model.process(action), target });
        }
        edges.into()
    }

    /// The first edge out of a state: the position of its action, and where it leads.
    pub fn first_step(&mut self, number: StateNumber) -> Option<(u32, StateNumber)> {
        self.edges(number).first().map(|edge| (edge.action, edge.target))
    }

    /// Whose actions are possible in a state.
    pub fn processes(&mut self, number: StateNumber) -> impl Iterator<Item = u8> {
        self.edges(number).iter().filter_map(|edge| edge.process)
    }
}

/// A condition on states.
pub(super) type Condition<'m, S> = Box<dyn Fn(&S) -> bool + 'm>;

/// A condition by its number, and the value that it should have.
pub(super) type Literal = (usize, bool);

/// The graph as a state space of numbers, with some conditions as its invariants.
pub(super) struct Space<'g, 'm, M: Model> {
    graph: &'g mut Graph<'m, M>,
    conditions: &'g [Condition<'m, M::State>],
    invariants: Vec<Literal>,
    /// Whose action the last transition was.
    moved: Option<u8>,
}

impl<'g, 'm, M: Model> Space<'g, 'm, M> {
    pub fn new(
        graph: &'g mut Graph<'m, M>,
        conditions: &'g [Condition<'m, M::State>],
        invariants: Vec<Literal>,
    ) -> Self {
        Space { graph, conditions, invariants, moved: None }
    }
}

/// A transition out of a known state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    /// Its position among the edges of the state.
    position: u32,
    /// The position of the action among those of the state.
    pub action: u32,
    process: Option<u8>,
    target: StateNumber,
}

impl<M: Model> Space<'_, '_, M> {
    fn transition(&mut self, state: StateNumber, position: u32) -> Option<Transition> {
        let Edge { action, process, target } = *self.graph.edges(state).get(position as usize)?;
        Some(Transition { position, action, process, target })
    }
}

impl<M: Model> StateSpace for Space<'_, '_, M> {
    type State = StateNumber;
    type Transition = Transition;

    fn initial(&mut self, index: usize, out: &mut StateNumber) -> bool {
        let number = self.graph.initial.get(index);
        *out = number.copied().unwrap_or_default();
        number.is_some()
    }

    fn first(&mut self, state: &StateNumber) -> Option<Transition> {
        self.transition(*state, 0)
    }

    fn next(&mut self, state: &StateNumber, last: &Transition) -> Option<Transition> {
        self.transition(*state, last.position + 1)
    }

    fn target(&mut self, _: &StateNumber, transition: &Transition, out: &mut StateNumber) {
        self.moved = transition.process;
        *out = transition.target;
    }
}

impl<M: Model> Checked for Space<'_, '_, M> {
    fn is_valid_end(&mut self, state: &StateNumber) -> bool {
        self.graph.interrupted.is_some() || self.graph.model.is_valid_end(self.graph.state(*state))
    }

    fn violation(&self) -> Option<String> {
        None
    }

    fn is_dead(&self) -> bool {
        false
    }

    fn is_transient(&self, _: &StateNumber) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, number: usize, state: &StateNumber) -> bool {
        let (condition, value) = self.invariants[number];
        self.conditions[condition](self.graph.state(*state)) == value
    }
}

/// What is taken under strong fairness is a move of a process, whichever.
impl<M: Model> Concurrent for Space<'_, '_, M> {
    fn mover(&self, transition: &Transition) -> Option<u32> {
        transition.process.map(u32::from)
    }

    fn participants(&self) -> Processes {
        let mut processes = Processes::NONE;
        self.moved.into_iter().for_each(|process| processes.insert(process.into()));
        processes
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &StateNumber, transition: &Transition) -> Vec<Move> {
        let of = |process: u8| Move::Process { process: process.into(), edge: EdgeId(0) };
        transition.process.map(of).into_iter().collect()
    }
}

/// A run as it goes on.
#[derive(Default)]
struct Record {
    states: Vec<StateNumber>,
    actions: Vec<u32>,
}

impl<M: Model> SimulationObserver<Space<'_, '_, M>> for Record {
    fn started(&mut self, state: &StateNumber) {
        self.states.push(*state);
    }

    fn taken(&mut self, transition: &Transition, state: &StateNumber) {
        self.states.push(*state);
        self.actions.push(transition.action);
    }
}

/// A random run of at most so many steps.
pub(super) fn random_run<M: Model>(model: &M, seed: u64, steps: u64) -> Option<Path<M::State, M::Action>> {
    let mut graph = Graph::new(model, &Budget::unlimited());
    let mut record = Record::default();
    let mut strategy = AtMost::new(steps, Random::new(seed));
    let ended = simulate(&mut Space::new(&mut graph, &[], Vec::new()), &mut strategy, &mut record);
    let stuck = ended == crate::simulate::Ending::NoTransition;
    let run = super::validate::Run {
        states: record.states,
        actions: record.actions,
        ending: if stuck { Ending::Stuck } else { Ending::Open },
    };
    run.states.last()?;
    run.path(&graph).ok()
}
