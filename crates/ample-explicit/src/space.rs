//! State spaces: the one interface between models and the generic algorithms.
//!
//! A state space has initial states, and for every state a *sequence* of outgoing transitions that is
//! walked with [`first`](StateSpace::first) and [`next`](StateSpace::next), so that no list is ever
//! built. The search code knows nothing else about states and transitions; a puzzle written as a Rust
//! type and a compiled Promela model run through the same, monomorphised, code.
//!
//! Methods take `&mut self` so that an implementation can keep scratch memory; a state space that is
//! searched by several threads is cloned, one for each.

use crate::targets::Targets;

/// A state space, explored on the fly.
pub trait StateSpace {
    /// A state. May be unsized: compiled models use `[u8]`.
    type State: ?Sized + ToOwned;

    /// A transition out of a known state: which one it is, and what is needed to find the next one.
    type Transition: Copy;

    /// Writes the initial state of that number to `out`; false when there are no more.
    fn initial(&mut self, index: usize, out: &mut Buffer<Self>) -> bool;

    /// The first transition out of `state`.
    fn first(&mut self, state: &Self::State) -> Option<Self::Transition>;

    /// The transition out of `state` after `transition`.
    fn next(&mut self, state: &Self::State, transition: &Self::Transition) -> Option<Self::Transition>;

    /// Appends some of the transitions out of `state` that come after that one, or the first ones: at least one, unless
    /// there are none. True if these are all; otherwise there may be more. For a search that takes all of them one after
    /// the other, a state space may find many at once faster than one by one.
    fn list(&mut self, state: &Self::State, after: Option<&Self::Transition>, out: &mut Vec<Self::Transition>) -> bool {
        out.extend(match after {
            None => self.first(state),
            Some(transition) => self.next(state, transition),
        });
        false
    }

    /// Writes the state that `transition` leads to from `state` to `out`.
    fn target(&mut self, state: &Self::State, transition: &Self::Transition, out: &mut Buffer<Self>);

    /// Adds all transitions out of `state`, with the states that they lead to as far as those are found together. False if
    /// this state space does nothing of that kind, or not now; then nothing is added.
    #[inline]
    fn targets(&mut self, _state: &Self::State, _out: &mut Targets<Self::Transition>) -> bool {
        false
    }

    /// The state that consists of these bytes: of a space that finds [targets](StateSpace::targets).
    #[inline]
    fn of_bytes(_: &[u8]) -> Option<&Self::State> {
        None
    }

    /// The bytes that a state consists of.
    #[inline]
    fn to_bytes(_: &Self::State) -> Option<&[u8]> {
        None
    }
}

/// The owned form of a state: what a state is written into.
pub type Buffer<S> = <<S as StateSpace>::State as ToOwned>::Owned;

/// How many initial states there are, but no more than `most`. There may be too many to count them one by one, but they
/// have the numbers from 0 on, so that the last one is found by doubling and halving.
pub(crate) fn initial_count<S: StateSpace>(space: &mut S, most: usize, out: &mut Buffer<S>) -> usize {
    if most == 0 || !space.initial(0, out) {
        return 0;
    }
    // So many there are, and so many or more there are not.
    let (mut few, mut many) = (1, None);
    while few < most && many.is_none() {
        let more = few.saturating_mul(2).min(most);
        if space.initial(more - 1, out) {
            few = more;
        } else {
            many = Some(more);
        }
    }
    let Some(mut many) = many else { return few };
    while few + 1 < many {
        let middle = few + (many - few) / 2;
        if space.initial(middle - 1, out) {
            few = middle;
        } else {
            many = middle;
        }
    }
    few
}

/// A step that can be a fault, as a state space numbers it: in a compiled system the process type and its edge.
pub type Culprit = (u32, u32);

/// What a state space may know beyond its transitions: the questions that a safety check asks.
///
/// An additional interface, so that the basic one stays small.
pub trait Checked: StateSpace {
    /// In a state without outgoing transitions: is that a proper end, not a deadlock?
    fn is_valid_end(&mut self, state: &Self::State) -> bool;

    /// Does the last call of [`target`](StateSpace::target) (or [`initial`](StateSpace::initial)) break
    /// an assertion or end in a fault? Then what went wrong, in a sentence.
    fn violation(&self) -> Option<String>;

    /// The last call of [`target`](StateSpace::target) ended in a fault: there is no state after it.
    fn is_dead(&self) -> bool;

    /// Which step ended the last call of [`target`](StateSpace::target) in a fault: numbers that the state space
    /// understands. None if it was no step, or if that is not told.
    fn culprit(&self) -> Option<Culprit> {
        None
    }

    /// Where a transition stops whose [`target`](StateSpace::target) ended in a fault: the state in which the step was
    /// taken that is the fault. Not that of `state` itself if the transition stands for several steps.
    fn stopped(&mut self, state: &Self::State, _: &Self::Transition, out: &mut Buffer<Self>) {
        *out = state.to_owned();
    }

    /// The state is only passed through (inside an atomic sequence): it is stored where it must be, but
    /// not counted, and properties are not looked at.
    fn is_transient(&self, state: &Self::State) -> bool;

    /// How many steps were passed over inside the last [`target`](StateSpace::target).
    fn atomic_steps(&self) -> u32;

    /// Does the invariant of that number hold in the state?
    fn invariant(&mut self, number: usize, state: &Self::State) -> bool;

    /// The first of the transitions out of the state that were put off, when all others have been taken, of which this
    /// was the last. Nothing is put off unless the state space says so.
    fn rest(&mut self, _state: &Self::State, _last: &Self::Transition) -> Option<Self::Transition> {
        None
    }

    /// Whether transitions may be put off from now on.
    fn put_off(&mut self, _may: bool) {}
}

/// A state space that several threads can search together, each with a space of its own.
pub trait Fork: StateSpace + Sized + Send {
    /// A space for another thread, for which states and transitions mean the same; none if one thread has to do.
    fn fork(&self) -> Option<Self>;

    /// The other thread is done: takes over what its space has noted.
    fn join(&mut self, other: Self);
}
