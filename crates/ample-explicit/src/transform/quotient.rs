//! The quotient of a state space by a symmetry.

use std::borrow::Borrow;

use super::Projection;
use crate::partial::{Label, Labelled, Partial};
use crate::space::{Buffer, Checked, StateSpace};

/// Chooses one of the states that are symmetric to a state, to stand for all of them. It is canonical if symmetric states
/// always have the same representative; if not, some orbits have several, and less is saved. Any function that writes the
/// representative of a state is one.
pub trait Representative<S: StateSpace> {
    /// Writes the representative of `state` to `out`.
    fn representative(&mut self, state: &S::State, out: &mut Buffer<S>);
}

impl<S: StateSpace, F: FnMut(&S::State, &mut Buffer<S>)> Representative<S> for F {
    #[inline]
    fn representative(&mut self, state: &S::State, out: &mut Buffer<S>) {
        self(state, out);
    }
}

/// The state space of the representatives: each transition leads to the representative of its target (§5.4.2 of the
/// thesis, quotient transformation).
///
/// Its paths consist of representatives, so that a path is a run up to symmetry only. To search the states themselves and
/// to store their representatives, see [`InsertRepresentative`](crate::search::handlers::InsertRepresentative).
///
/// ```
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Always, Handlers, Insert};
/// use ample_explicit::space::StateSpace;
/// use ample_explicit::store::{HashStore, Parent, Store};
/// use ample_explicit::transform::Quotient;
///
/// /// Four counters, each of which goes up to two.
/// struct Counters;
///
/// impl StateSpace for Counters {
///     type State = [u8; 4];
///     type Transition = usize;
///     fn initial(&mut self, index: usize, out: &mut [u8; 4]) -> bool {
///         *out = [0; 4];
///         index == 0
///     }
///     fn first(&mut self, state: &[u8; 4]) -> Option<usize> {
///         (0..4).find(|&counter| state[counter] < 2)
///     }
///     fn next(&mut self, state: &[u8; 4], last: &usize) -> Option<usize> {
///         (last + 1..4).find(|&counter| state[counter] < 2)
///     }
///     fn target(&mut self, state: &[u8; 4], counter: &usize, out: &mut [u8; 4]) {
///         *out = *state;
///         out[*counter] += 1;
///     }
/// }
///
/// fn states(mut space: impl StateSpace<State = [u8; 4]>) -> usize {
///     let mut store: HashStore<[u8; 4], Parent> = HashStore::default();
///     breadth_first(&mut space, &mut store, &mut Handlers::new().on_explore(Always, Insert));
///     store.len()
/// }
///
/// assert_eq!(states(Counters), 81);
/// let sorted = |state: &[u8; 4], out: &mut [u8; 4]| {
///     *out = *state;
///     out.sort();
/// };
/// assert_eq!(states(Quotient::new(Counters, sorted)), 15);
/// ```
pub struct Quotient<S: StateSpace, R> {
    space: S,
    representative: R,
    original: Buffer<S>,
}

impl<S: StateSpace, R: Representative<S>> Quotient<S, R>
where
    Buffer<S>: Default,
{
    /// The quotient by the symmetry that has these representatives.
    pub fn new(space: S, representative: R) -> Self {
        Quotient { space, representative, original: Buffer::<S>::default() }
    }

    /// The original space.
    pub fn into_inner(self) -> S {
        self.space
    }
}

impl<S: StateSpace, R: Representative<S>> StateSpace for Quotient<S, R> {
    type State = S::State;
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut Buffer<S>) -> bool {
        let there = self.space.initial(index, &mut self.original);
        if there {
            self.representative.representative(self.original.borrow(), out);
        }
        there
    }

    #[inline]
    fn first(&mut self, state: &S::State) -> Option<S::Transition> {
        self.space.first(state)
    }

    #[inline]
    fn next(&mut self, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        self.space.next(state, transition)
    }

    fn target(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        self.space.target(state, transition, &mut self.original);
        self.representative.representative(self.original.borrow(), out);
    }
}

/// Conditions must not tell symmetric states from each other.
impl<S: Checked, R: Representative<S>> Checked for Quotient<S, R> {
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

/// What is chosen for a representative is chosen in the quotient.
impl<S: Partial, R: Representative<S>> Partial for Quotient<S, R> {
    fn enabled(&mut self, state: &S::State, out: &mut Vec<Labelled<S::Transition>>) {
        self.space.enabled(state, out);
    }

    fn persistent(&mut self, state: &S::State, enabled: &[Labelled<S::Transition>], out: &mut Vec<u32>) {
        self.space.persistent(state, enabled, out);
    }

    fn persistent_with(
        &mut self,
        state: &S::State,
        enabled: &[Labelled<S::Transition>],
        member: u32,
        out: &mut Vec<u32>,
    ) {
        self.space.persistent_with(state, enabled, member, out);
    }

    /// A label may name another transition after the processes have changed their places.
    fn independent(&mut self, _: &S::State, _: Label, _: Label) -> bool {
        false
    }
}

/// From a quotient back to the original, whose states the representatives are.
#[derive(Clone, Copy, Debug)]
pub struct Orbit;

impl<S: StateSpace, R: Representative<S>> Projection<Quotient<S, R>, S> for Orbit {
    fn state<T>(&self, state: &S::State, then: impl FnOnce(&S::State) -> T) -> T {
        then(state)
    }

    fn transition(&self, transition: &S::Transition) -> Option<S::Transition> {
        Some(*transition)
    }
}
