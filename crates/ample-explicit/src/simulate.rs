//! Simulation: one run through a state space.
//!
//! A [`SimulationStrategy`] chooses among the transitions of each state: a person ([`Interactive`]), chance
//! ([`Random`]) or a path that is already known, such as a counterexample ([`Guided`]). A
//! [`SimulationObserver`] is told what happens and cannot interfere.
//!
//! ```
//! use ample_explicit::simulate::{Ending, Random, SimulationObserver, simulate};
//! use ample_explicit::space::StateSpace;
//!
//! /// Even numbers are halved; odd ones tripled, and one added, or one taken away.
//! struct Hailstones(u64);
//!
//! impl StateSpace for Hailstones {
//!     type State = u64;
//!     type Transition = i8;
//!     fn initial(&mut self, index: usize, out: &mut u64) -> bool {
//!         *out = self.0;
//!         index == 0
//!     }
//!     fn first(&mut self, state: &u64) -> Option<i8> {
//!         if *state <= 1 { None } else if state % 2 == 0 { Some(0) } else { Some(1) }
//!     }
//!     fn next(&mut self, _: &u64, transition: &i8) -> Option<i8> {
//!         (*transition == 1).then_some(-1)
//!     }
//!     fn target(&mut self, state: &u64, transition: &i8, out: &mut u64) {
//!         *out = match transition {
//!             0 => state / 2,
//!             1 => 3 * state + 1,
//!             _ => state - 1,
//!         };
//!     }
//! }
//!
//! struct Record(Vec<u64>);
//!
//! impl SimulationObserver<Hailstones> for Record {
//!     fn started(&mut self, state: &u64) {
//!         self.0.push(*state);
//!     }
//!     fn taken(&mut self, _: &i8, state: &u64) {
//!         self.0.push(*state);
//!     }
//! }
//!
//! let mut record = Record(Vec::new());
//! assert_eq!(simulate(&mut Hailstones(7), &mut Random::new(42), &mut record), Ending::NoTransition);
//! assert_eq!((record.0.first(), record.0.last()), (Some(&7), Some(&1)));
//! ```

use std::borrow::Borrow;
use std::mem;

pub use ample_random::Random;

use crate::search::Path;
use crate::space::{Buffer, Checked, StateSpace, initial_count};

/// Chooses the way of a run.
pub trait SimulationStrategy<S: StateSpace> {
    /// Which of so many initial states, one at least, to start from.
    fn start(&mut self, _count: usize) -> usize {
        0
    }

    /// Which of the transitions out of a state, one at least, to take; none to stop.
    fn choose(&mut self, state: &S::State, transitions: &[S::Transition]) -> Option<usize>;
}

/// Is told how a run goes.
pub trait SimulationObserver<S: StateSpace> {
    /// The run starts in that state.
    fn started(&mut self, _state: &S::State) {}

    /// The transition is taken, and leads to that state.
    fn taken(&mut self, _transition: &S::Transition, _state: &S::State) {}

    /// The run is over.
    fn ended(&mut self) {}
}

/// Looks away.
impl<S: StateSpace> SimulationObserver<S> for () {}

/// Both are told.
impl<S: StateSpace, A: SimulationObserver<S>, B: SimulationObserver<S>> SimulationObserver<S> for (A, B) {
    fn started(&mut self, state: &S::State) {
        self.0.started(state);
        self.1.started(state);
    }

    fn taken(&mut self, transition: &S::Transition, state: &S::State) {
        self.0.taken(transition, state);
        self.1.taken(transition, state);
    }

    fn ended(&mut self) {
        self.0.ended();
        self.1.ended();
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// There is no initial state, or no transition out of the last state.
    NoTransition,
    /// The strategy stopped it, or chose a transition that there is not.
    Stopped,
    /// The last transition ended in a fault: what went wrong, in a sentence.
    Fault(String),
}

/// Runs through a state space.
pub fn simulate<S, C, O>(space: &mut S, strategy: &mut C, observer: &mut O) -> Ending
where
    S: StateSpace,
    C: SimulationStrategy<S>,
    O: SimulationObserver<S>,
    Buffer<S>: Default,
{
    run(space, strategy, observer, |_| None)
}

/// Runs through a state space whose transitions may end in a fault. There is no state after one, so that
/// the observer is not told of the transition; the ending says what went wrong.
pub fn simulate_checked<S, C, O>(space: &mut S, strategy: &mut C, observer: &mut O) -> Ending
where
    S: Checked,
    C: SimulationStrategy<S>,
    O: SimulationObserver<S>,
    Buffer<S>: Default,
{
    run(space, strategy, observer, |space| space.is_dead().then(|| space.violation().unwrap_or_default()))
}

fn run<S, C, O>(space: &mut S, strategy: &mut C, observer: &mut O, fault: impl Fn(&S) -> Option<String>) -> Ending
where
    S: StateSpace,
    C: SimulationStrategy<S>,
    O: SimulationObserver<S>,
    Buffer<S>: Default,
{
    let mut state = Buffer::<S>::default();
    let count = initial_count(space, usize::MAX, &mut state);
    if count == 0 || !space.initial(strategy.start(count), &mut state) {
        return Ending::NoTransition;
    }
    observer.started(state.borrow());
    let mut target = Buffer::<S>::default();
    let mut transitions = Vec::new();
    let ending = loop {
        transitions.clear();
        let mut cursor = space.first(state.borrow());
        while let Some(transition) = cursor {
            transitions.push(transition);
            cursor = space.next(state.borrow(), &transition);
        }
        if transitions.is_empty() {
            break Ending::NoTransition;
        }
        let choice = strategy.choose(state.borrow(), &transitions);
        let Some(transition) = choice.and_then(|choice| transitions.get(choice)) else { break Ending::Stopped };
        space.target(state.borrow(), transition, &mut target);
        if let Some(message) = fault(space) {
            break Ending::Fault(message);
        }
        mem::swap(&mut state, &mut target);
        observer.taken(transition, state.borrow());
    };
    observer.ended();
    ending
}

/// Asks a function, which may ask a person, whenever there is more than one possibility.
#[derive(Clone, Copy, Debug)]
pub struct Interactive<F>(pub F);

impl<S, F> SimulationStrategy<S> for Interactive<F>
where
    S: StateSpace,
    F: FnMut(&S::State, &[S::Transition]) -> Option<usize>,
{
    fn choose(&mut self, state: &S::State, transitions: &[S::Transition]) -> Option<usize> {
        if transitions.len() > 1 { self.0(state, transitions) } else { Some(0) }
    }
}

/// Chooses by chance, all transitions being as likely. The same seed gives the same run.
impl<S: StateSpace> SimulationStrategy<S> for Random {
    fn start(&mut self, count: usize) -> usize {
        self.below(count)
    }

    fn choose(&mut self, _: &S::State, transitions: &[S::Transition]) -> Option<usize> {
        Some(self.below(transitions.len()))
    }
}

/// Follows given transitions, and stops after them or where the next one is not possible.
#[derive(Clone, Debug)]
pub struct Guided<T> {
    start: usize,
    transitions: Vec<T>,
    position: usize,
}

impl<T: Copy + PartialEq> Guided<T> {
    /// Along these transitions, from the initial state of that number.
    pub fn new(start: usize, transitions: Vec<T>) -> Self {
        Guided { start, transitions, position: 0 }
    }

    /// Along a path, from the initial state of that number.
    pub fn along(start: usize, path: &Path<T>) -> Self {
        Guided::new(start, path.transitions().copied().collect())
    }

    /// Has it come to the end of the transitions?
    pub fn is_complete(&self) -> bool {
        self.position == self.transitions.len()
    }
}

impl<S: StateSpace<Transition: PartialEq>> SimulationStrategy<S> for Guided<S::Transition> {
    fn start(&mut self, _: usize) -> usize {
        self.start
    }

    fn choose(&mut self, _: &S::State, transitions: &[S::Transition]) -> Option<usize> {
        let wanted = self.transitions.get(self.position)?;
        let choice = transitions.iter().position(|transition| transition == wanted)?;
        self.position += 1;
        Some(choice)
    }
}

/// Another strategy for a number of steps.
#[derive(Clone, Copy, Debug)]
pub struct AtMost<C> {
    steps: u64,
    strategy: C,
}

impl<C> AtMost<C> {
    /// `strategy` for that many steps.
    pub fn new(steps: u64, strategy: C) -> Self {
        AtMost { steps, strategy }
    }
}

impl<S: StateSpace, C: SimulationStrategy<S>> SimulationStrategy<S> for AtMost<C> {
    fn start(&mut self, count: usize) -> usize {
        self.strategy.start(count)
    }

    fn choose(&mut self, state: &S::State, transitions: &[S::Transition]) -> Option<usize> {
        self.steps = self.steps.checked_sub(1)?;
        self.strategy.choose(state, transitions)
    }
}
