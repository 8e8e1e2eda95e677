//! The searches of the thesis, as short as they can be written: all states (Fig. 2.1), persistent sets (Fig. 4.1), sleep
//! sets (Fig. 5.2), both with the proviso (Fig. 6.2), and the proviso by components (Def. 6.15).

use super::system::{State, System};
use ample_random::Random;
use ample_reduce::algorithms::{Algorithm, Chooser};
use ample_reduce::objects::Table;
use ample_reduce::scheme::TransitionNumber;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A set of transitions.
pub type Set = BTreeSet<TransitionNumber>;

/// The part of the state space that a search has seen.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The states, each with the transitions that were executed there.
    pub states: HashMap<State, Set>,
    /// How many transitions were executed.
    pub transitions: usize,
    /// How often a state was met again.
    pub matched: usize,
    /// The largest sleep set.
    pub most_asleep: usize,
}

impl Graph {
    pub fn size(&self) -> (usize, usize) {
        (self.states.len(), self.transitions)
    }

    pub fn executed(&self) -> Set {
        self.states.values().flatten().copied().collect()
    }

    pub fn deadlocks(&self, system: &System) -> BTreeSet<State> {
        self.states.keys().filter(|state| system.enabled(state).is_empty()).cloned().collect()
    }

    /// Where each process has been.
    pub fn local_states(&self) -> BTreeSet<(usize, u32)> {
        self.states.keys().flat_map(|state| state.control.iter().copied().enumerate()).collect()
    }

    pub fn contains(&self, state: &State) -> bool {
        self.states.contains_key(state)
    }

    fn execute(&mut self, state: &State, transition: TransitionNumber) {
        self.transitions += 1;
        let is_new = self.states.entry(state.clone()).or_default().insert(transition);
        assert!(is_new, "a transition is executed twice in a state");
    }
}

/// What is to be executed in a state.
pub enum Choose {
    Everything,
    Smallest(Algorithm, Box<Chooser>),
}

impl Choose {
    /// The smallest persistent sets that the algorithm finds.
    pub fn smallest(system: &System, algorithm: Algorithm, table: Table) -> Choose {
        let mut chooser = Chooser::new(table);
        chooser.update(&system.scheme);
        Choose::Smallest(algorithm, Box::new(chooser))
    }

    pub fn set(&mut self, system: &System, state: &State) -> Vec<TransitionNumber> {
        let Choose::Smallest(algorithm, chooser) = self else { return system.enabled(state) };
        let mut set = Vec::new();
        chooser.smallest(*algorithm, &system.scheme, &mut system.view(state), &mut set);
        set
    }

    /// The sets of all seeds, the smallest first.
    fn candidates(&mut self, system: &System, state: &State) -> Vec<Vec<TransitionNumber>> {
        let mut view = system.view(state);
        let Choose::Smallest(algorithm, chooser) = self else { return vec![view.enabled] };
        let persistent = |seed: &TransitionNumber| {
            let mut set = Vec::new();
            chooser.persistent(*algorithm, &system.scheme, &mut view, *seed, &mut set);
            set
        };
        let mut candidates: Vec<_> = system.enabled(state).iter().map(persistent).collect();
        candidates.sort_by_key(Vec::len);
        candidates
    }
}

/// Figs. 2.1 and 4.1.
pub fn search(system: &System, mut choose: Choose) -> Graph {
    let mut graph = Graph::default();
    let mut stack = vec![system.initial.clone()];
    while let Some(state) = stack.pop() {
        if graph.contains(&state) {
            graph.matched += 1;
            continue;
        }
        graph.states.insert(state.clone(), Set::new());
        for transition in choose.set(system, &state) {
            graph.execute(&state, transition);
            stack.push(system.successor(&state, transition));
        }
    }
    graph
}

/// All reachable states.
pub fn full(system: &System) -> Graph {
    search(system, Choose::Everything)
}

/// In which order the open states are looked at.
pub enum Order {
    Stack,
    Queue,
    Random(Random),
}

impl Order {
    fn take<T>(&mut self, open: &mut Vec<T>) -> T {
        let place = match self {
            Order::Stack => open.len() - 1,
            Order::Queue => 0,
            Order::Random(random) => random.below(open.len()),
        };
        open.remove(place)
    }
}

/// What is done when a state is met again with another sleep set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Revisit {
    /// What was asleep then, and is not now, is executed.
    WakeUp,
    /// Nothing. This is wrong.
    Ignore,
}

/// Fig. 5.2.
pub fn sleep(system: &System, mut choose: Choose, table: Table, mut order: Order, revisit: Revisit) -> Graph {
    let mut graph = Graph::default();
    let mut slept: HashMap<State, Set> = HashMap::new();
    let mut open = vec![(system.initial.clone(), Set::new())];
    while !open.is_empty() {
        let (state, mut asleep) = order.take(&mut open);
        if revisit == Revisit::Ignore && graph.contains(&state) {
            continue;
        }
        graph.most_asleep = graph.most_asleep.max(asleep.len());
        let todo = wake(&mut slept, &state, &mut asleep, &mut graph, || choose.set(system, &state));
        for transition in todo {
            graph.execute(&state, transition);
            let still = asleep.iter().copied().filter(|other| system.independent(&state, transition, *other, table));
            open.push((system.successor(&state, transition), still.collect()));
            asleep.insert(transition);
        }
    }
    graph
}

/// What is to be executed on this visit, with the sleep set brought up to date.
fn wake(
    slept: &mut HashMap<State, Set>,
    state: &State,
    asleep: &mut Set,
    graph: &mut Graph,
    choose: impl FnOnce() -> Vec<TransitionNumber>,
) -> Vec<TransitionNumber> {
    let todo = if let Some(before) = slept.get(state) {
        graph.matched += 1;
        let awake = before.difference(asleep).copied().collect();
        asleep.retain(|transition| before.contains(transition));
        awake
    } else {
        graph.states.insert(state.clone(), Set::new());
        choose().into_iter().filter(|transition| !asleep.contains(transition)).collect::<Vec<_>>()
    };
    slept.insert(state.clone(), asleep.clone());
    todo
}

/// Fig. 6.2; without sleep sets if no table is given.
pub fn proviso(system: &System, choose: Choose, table: Option<Table>) -> Graph {
    let mut search = Proviso {
        system,
        choose,
        table,
        graph: Graph::default(),
        slept: HashMap::new(),
        stack: HashSet::new(),
        delayed: HashMap::new(),
    };
    search.visit(system.initial.clone(), Set::new());
    search.graph
}

struct Proviso<'s> {
    system: &'s System,
    choose: Choose,
    table: Option<Table>,
    graph: Graph,
    slept: HashMap<State, Set>,
    stack: HashSet<State>,
    delayed: HashMap<State, Vec<Set>>,
}

impl Proviso<'_> {
    fn visit(&mut self, state: State, mut asleep: Set) {
        assert!(self.stack.insert(state.clone()), "a state is on the stack twice");
        let Proviso { system, choose, stack, .. } = self;
        let before = asleep.clone();
        let first = || with_proviso(system, choose, &state, &before, stack);
        let todo = wake(&mut self.slept, &state, &mut asleep, &mut self.graph, first);
        for transition in todo {
            self.graph.execute(&state, transition);
            let next = self.system.successor(&state, transition);
            let still = self.still_asleep(&state, transition, &asleep);
            if self.stack.contains(&next) {
                self.delayed.entry(next).or_default().push(still);
            } else {
                self.visit(next, still);
            }
            if self.table.is_some() {
                asleep.insert(transition);
            }
        }
        self.stack.remove(&state);
        if let Some(asleep) = self.delayed.get_mut(&state).and_then(Vec::pop) {
            self.visit(state, asleep);
        }
    }

    fn still_asleep(&self, state: &State, transition: TransitionNumber, asleep: &Set) -> Set {
        let Some(table) = self.table else { return Set::new() };
        let is_independent = |other: &TransitionNumber| self.system.independent(state, transition, *other, table);
        asleep.iter().copied().filter(is_independent).collect()
    }
}

/// The smallest candidate with a transition that is awake and leads off the stack; everything if there is none.
fn with_proviso(
    system: &System,
    choose: &mut Choose,
    state: &State,
    asleep: &Set,
    stack: &HashSet<State>,
) -> Vec<TransitionNumber> {
    let leads_off = |transition: &TransitionNumber| {
        !asleep.contains(transition) && !stack.contains(&system.successor(state, *transition))
    };
    let candidates = choose.candidates(system, state);
    candidates.into_iter().find(|set| set.iter().any(leads_off)).unwrap_or_else(|| system.enabled(state))
}

/// The proviso by terminal components (Def. 6.15). It cannot be combined with sleep sets: it has no place for them.
pub fn terminal(system: &System, choose: Choose) -> Graph {
    let mut search =
        Terminal { system, choose, graph: Graph::default(), index: HashMap::new(), low: HashMap::new(), stack: vec![] };
    search.visit(&system.initial);
    search.graph
}

struct Terminal<'s> {
    system: &'s System,
    choose: Choose,
    graph: Graph,
    index: HashMap<State, usize>,
    /// Of the states on the stack.
    low: HashMap<State, usize>,
    stack: Vec<State>,
}

impl Terminal<'_> {
    fn visit(&mut self, state: &State) {
        let index = self.index.len();
        self.index.insert(state.clone(), index);
        self.low.insert(state.clone(), index);
        self.stack.push(state.clone());
        self.graph.states.insert(state.clone(), Set::new());
        let mut todo = self.choose.set(self.system, state);
        while !todo.is_empty() {
            for transition in todo {
                self.explore(state, transition);
            }
            todo = self.ignored(state, index);
        }
        if self.low[state] == index {
            let begin = self.stack.iter().rposition(|other| other == state).expect("the root is on the stack");
            for member in self.stack.split_off(begin) {
                self.low.remove(&member);
            }
        }
    }

    fn explore(&mut self, state: &State, transition: TransitionNumber) {
        self.graph.execute(state, transition);
        let next = self.system.successor(state, transition);
        if !self.index.contains_key(&next) {
            self.visit(&next);
        }
        if let Some(&low) = self.low.get(&next) {
            let own = self.low.get_mut(state).expect("the state is on the stack");
            *own = low.min(*own);
        }
    }

    /// If the state is the root of a terminal component that ignores a transition: more to be executed there.
    fn ignored(&mut self, state: &State, index: usize) -> Vec<TransitionNumber> {
        if self.low[state] != index {
            return Vec::new();
        }
        let begin = self.stack.iter().rposition(|other| other == state).expect("the root is on the stack");
        let component = &self.stack[begin..];
        let executed: Set = component.iter().flat_map(|member| &self.graph.states[member]).copied().collect();
        let leaves = |member: &State| {
            let successors = self.graph.states[member].iter().map(|number| self.system.successor(member, *number));
            successors.into_iter().any(|next| !component.contains(&next))
        };
        if component.iter().any(leaves) {
            return Vec::new();
        }
        let enabled = self.system.enabled(state);
        let Some(seed) = enabled.iter().find(|transition| !executed.contains(transition)) else { return Vec::new() };
        let mut set = Vec::new();
        match &mut self.choose {
            Choose::Everything => set = enabled,
            Choose::Smallest(algorithm, chooser) => {
                let mut view = self.system.view(state);
                chooser.persistent(*algorithm, &self.system.scheme, &mut view, *seed, &mut set);
            }
        }
        set.retain(|transition| !self.graph.states[state].contains(transition));
        set
    }
}
