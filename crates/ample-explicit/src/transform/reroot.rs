//! The same state space from another state.

use std::borrow::Borrow;

use crate::space::{Buffer, Checked, StateSpace};

/// A state space whose only initial state is one that was chosen.
///
/// ```
/// # use ample_explicit::space::StateSpace;
/// use ample_explicit::transform::Reroot;
/// # struct Ring;
/// # impl StateSpace for Ring {
/// #     type State = u8;
/// #     type Transition = ();
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<()> { Some(()) }
/// #     fn next(&mut self, _: &u8, _: &()) -> Option<()> { None }
/// #     fn target(&mut self, state: &u8, _: &(), out: &mut u8) { *out = (state + 1) % 10 }
/// # }
///
/// let mut elsewhere = Reroot::new(Ring, 7);
/// let mut state = 0;
/// assert!(elsewhere.initial(0, &mut state));
/// assert_eq!(state, 7);
/// ```
pub struct Reroot<S: StateSpace> {
    space: S,
    root: Buffer<S>,
    /// The last call was that of [`initial`](StateSpace::initial): nothing has gone wrong.
    at_root: bool,
}

impl<S: StateSpace> Reroot<S> {
    /// The space from that state.
    pub fn new(space: S, root: Buffer<S>) -> Self {
        Reroot { space, root, at_root: true }
    }

    /// The state it starts from.
    pub fn root(&self) -> &S::State {
        self.root.borrow()
    }

    /// The original space.
    pub fn into_inner(self) -> S {
        self.space
    }
}

impl<S: StateSpace> StateSpace for Reroot<S> {
    type State = S::State;
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut Buffer<S>) -> bool {
        self.at_root = true;
        self.root().clone_into(out);
        index == 0
    }

    #[inline]
    fn first(&mut self, state: &S::State) -> Option<S::Transition> {
        self.space.first(state)
    }

    #[inline]
    fn next(&mut self, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        self.space.next(state, transition)
    }

    #[inline]
    fn target(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        self.at_root = false;
        self.space.target(state, transition, out);
    }
}

impl<S: Checked> Checked for Reroot<S> {
    #[inline]
    fn is_valid_end(&mut self, state: &S::State) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        if self.at_root { None } else { self.space.violation() }
    }

    #[inline]
    fn is_dead(&self) -> bool {
        !self.at_root && self.space.is_dead()
    }

    #[inline]
    fn is_transient(&self, state: &S::State) -> bool {
        self.space.is_transient(state)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        if self.at_root { 0 } else { self.space.atomic_steps() }
    }

    #[inline]
    fn invariant(&mut self, number: usize, state: &S::State) -> bool {
        self.space.invariant(number, state)
    }
}
