//! Paths: how a state was reached.

use std::borrow::Borrow;

use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Side};

/// A path from an initial state, in the handles of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<T> {
    /// Each step: the state it starts from, and the transition that it takes there.
    pub steps: Vec<(Handle, T)>,
    /// The state after the last step; none if that step, or the start itself, ended in a fault, or if the
    /// state is not in the store, or cannot be given back by it.
    pub end: Option<Handle>,
}

impl<T> Path<T> {
    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Is it only an initial state?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The handles of all states on it, in order.
    pub fn states(&self) -> impl Iterator<Item = Handle> + '_ {
        self.steps.iter().map(|&(state, _)| state).chain(self.end)
    }

    /// The transitions on it, in order.
    pub fn transitions(&self) -> impl Iterator<Item = &T> + '_ {
        self.steps.iter().map(|(_, transition)| transition)
    }
}

/// The steps to a stored state along the parents that the store remembers beside its states; the transitions between
/// them are found again by walking them. A transition is left out of consideration if `skip` says so
/// right after its target was computed: it has no target.
pub fn retrace<S, St>(space: &mut S, store: &St, end: Handle, skip: impl Fn(&S) -> bool) -> Vec<(Handle, S::Transition)>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    let mut steps = Vec::new();
    let mut out = Buffer::<S>::default();
    let mut child = end;
    while let Some(parent) = store.side(child).parent() {
        let state = store.get(parent);
        let mut cursor = space.first(state);
        while let Some(transition) = cursor {
            space.target(state, &transition, &mut out);
            if !skip(space) && store.find(out.borrow()) == Some(child) {
                steps.push((parent, transition));
                break;
            }
            cursor = space.next(state, &transition);
        }
        child = parent;
    }
    steps.reverse();
    steps
}
