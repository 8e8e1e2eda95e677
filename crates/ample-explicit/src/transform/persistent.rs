//! The state space that partial-order reduction leaves.

use std::borrow::Borrow;

use crate::partial::{Labelled, Partial};
use crate::space::{Buffer, Checked, StateSpace};

/// A state space in which only a persistent set of transitions leaves each state: partial-order reduction as a
/// transformation (§5.4.1 of the thesis), under every strategy and every store.
///
/// It has the deadlocks of the original, and nothing else is promised: no condition keeps transitions from being ignored
/// for ever. The searches of [`partial`](crate::partial) have the provisos that other properties need.
///
/// ```
/// use ample_explicit::search::depth_first;
/// use ample_explicit::search::handlers::{Always, Deadlock, Goal, Handlers, Insert};
/// use ample_explicit::store::{HashStore, Store};
/// use ample_explicit::transform::Persistent;
/// # use ample_explicit::partial::{Label, Labelled, Partial};
/// # use ample_explicit::space::{Checked, StateSpace};
/// # struct Race;
/// # impl StateSpace for Race {
/// #     type State = [u8; 3];
/// #     type Transition = usize;
/// #     fn initial(&mut self, index: usize, out: &mut [u8; 3]) -> bool { *out = [9; 3]; index == 0 }
/// #     fn first(&mut self, state: &[u8; 3]) -> Option<usize> { (0..3).find(|&runner| state[runner] > 0) }
/// #     fn next(&mut self, state: &[u8; 3], last: &usize) -> Option<usize> {
/// #         (last + 1..3).find(|&runner| state[runner] > 0)
/// #     }
/// #     fn target(&mut self, state: &[u8; 3], runner: &usize, out: &mut [u8; 3]) {
/// #         *out = *state;
/// #         out[*runner] -= 1;
/// #     }
/// # }
/// # impl Checked for Race {
/// #     fn is_valid_end(&mut self, _: &[u8; 3]) -> bool { false }
/// #     fn violation(&self) -> Option<String> { None }
/// #     fn is_dead(&self) -> bool { false }
/// #     fn is_transient(&self, _: &[u8; 3]) -> bool { false }
/// #     fn atomic_steps(&self) -> u32 { 0 }
/// #     fn invariant(&mut self, _: usize, _: &[u8; 3]) -> bool { true }
/// # }
/// # impl Partial for Race {
/// #     fn enabled(&mut self, state: &[u8; 3], out: &mut Vec<Labelled<usize>>) {
/// #         let runners = (0..3).filter(|&runner| state[runner] > 0);
/// #         out.extend(runners.map(|runner| Labelled { transition: runner, label: runner as Label }));
/// #     }
/// #     fn persistent(&mut self, state: &[u8; 3], enabled: &[Labelled<usize>], out: &mut Vec<u32>) {
/// #         if !enabled.is_empty() { out.push(0) }
/// #     }
/// #     fn persistent_with(&mut self, _: &[u8; 3], _: &[Labelled<usize>], member: u32, out: &mut Vec<u32>) {
/// #         out.push(member);
/// #     }
/// #     fn independent(&mut self, _: &[u8; 3], first: Label, second: Label) -> bool { first != second }
/// # }
///
/// // Three runners, each of whom has nine steps to go: of the 1000 states 28 lie on the way to the end.
/// let mut store = HashStore::new();
/// let mut feedback = Handlers::new().on_explore(Deadlock, Goal).on_explore(Always, Insert);
/// assert!(depth_first(&mut Persistent::new(Race), &mut store, &mut feedback).goal().is_some());
/// assert_eq!(store.len(), 28);
/// ```
pub struct Persistent<S: StateSpace> {
    space: S,
    /// The state whose set is known, if there is one.
    of: Option<Buffer<S>>,
    set: Vec<S::Transition>,
    enabled: Vec<Labelled<S::Transition>>,
    positions: Vec<u32>,
}

impl<S: Partial> Persistent<S> {
    /// The reduced space.
    pub fn new(space: S) -> Self {
        Persistent { space, of: None, set: Vec::new(), enabled: Vec::new(), positions: Vec::new() }
    }

    /// The original space.
    pub fn into_inner(self) -> S {
        self.space
    }
}

impl<S: Partial<State: PartialEq>> Persistent<S> {
    fn choose(&mut self, state: &S::State) {
        if self.of.as_ref().is_some_and(|of| of.borrow() == state) {
            return;
        }
        self.enabled.clear();
        self.positions.clear();
        self.space.enabled(state, &mut self.enabled);
        self.space.persistent(state, &self.enabled, &mut self.positions);
        self.positions.sort_unstable();
        self.set.clear();
        self.set.extend(self.positions.iter().map(|position| self.enabled[*position as usize].transition));
        match &mut self.of {
            Some(of) => state.clone_into(of),
            None => self.of = Some(state.to_owned()),
        }
    }
}

impl<S: Partial<State: PartialEq, Transition: PartialEq>> StateSpace for Persistent<S> {
    type State = S::State;
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut Buffer<S>) -> bool {
        self.space.initial(index, out)
    }

    fn first(&mut self, state: &S::State) -> Option<S::Transition> {
        self.choose(state);
        self.set.first().copied()
    }

    fn next(&mut self, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        self.choose(state);
        let position = self.set.iter().position(|one| one == transition)?;
        self.set.get(position + 1).copied()
    }

    fn target(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        self.space.target(state, transition, out);
    }
}

impl<S: Partial<State: PartialEq, Transition: PartialEq>> Checked for Persistent<S> {
    fn is_valid_end(&mut self, state: &S::State) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn is_transient(&self, state: &S::State) -> bool {
        self.space.is_transient(state)
    }

    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    fn invariant(&mut self, number: usize, state: &S::State) -> bool {
        self.space.invariant(number, state)
    }
}
