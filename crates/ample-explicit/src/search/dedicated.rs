//! Depth-first search for one purpose: is a goal state reachable?
//!
//! What one would write without the strategies and their feedback. It is here to measure what the
//! modular design costs, in the example `modularity`, and as a second opinion in tests.

use std::borrow::Borrow;

use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Inserted};

/// A recursive search. As deep as the call stack; the path is not known afterwards. A full store counts
/// as not found.
///
/// ```
/// use ample_explicit::search::dedicated::recursive;
/// use ample_explicit::store::HashStore;
/// # use ample_explicit::space::StateSpace;
/// # struct Ring(u8);
/// # impl StateSpace for Ring {
/// #     type State = u8;
/// #     type Transition = i8;
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<i8> { Some(1) }
/// #     fn next(&mut self, _: &u8, last: &i8) -> Option<i8> { (*last == 1).then_some(-1) }
/// #     fn target(&mut self, state: &u8, step: &i8, out: &mut u8) {
/// #         *out = (*state as i8 + self.0 as i8 + step) as u8 % self.0;
/// #     }
/// # }
///
/// assert!(recursive(&mut Ring(10), &mut HashStore::new(), &mut |&at: &u8| at == 9));
/// assert!(!recursive(&mut Ring(10), &mut HashStore::new(), &mut |&at: &u8| at == 10));
/// ```
pub fn recursive<S, St>(space: &mut S, store: &mut St, goal: &mut impl FnMut(&S::State) -> bool) -> bool
where
    S: StateSpace,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    let mut state = Buffer::<S>::default();
    let mut index = 0;
    while space.initial(index, &mut state) {
        if reach(space, store, goal, &mut state) {
            return true;
        }
        index += 1;
    }
    false
}

/// Searches from the state in `out`, which may be written over.
fn reach<S, St>(space: &mut S, store: &mut St, goal: &mut impl FnMut(&S::State) -> bool, out: &mut Buffer<S>) -> bool
where
    S: StateSpace,
    St: ExactStore<S::State>,
{
    let Inserted::New(state) = store.insert(Borrow::<S::State>::borrow(out)) else { return false };
    if goal(store.get(state)) {
        return true;
    }
    let mut cursor = space.first(store.get(state));
    while let Some(transition) = cursor {
        space.target(store.get(state), &transition, out);
        if reach(space, store, goal, out) {
            return true;
        }
        cursor = space.next(store.get(state), &transition);
    }
    false
}

/// The same without recursion, and with the path: each transition with the state it starts from.
///
/// ```
/// use ample_explicit::search::dedicated::iterative;
/// use ample_explicit::store::HashStore;
/// # use ample_explicit::space::StateSpace;
/// # struct Ring(u8);
/// # impl StateSpace for Ring {
/// #     type State = u8;
/// #     type Transition = i8;
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<i8> { Some(1) }
/// #     fn next(&mut self, _: &u8, last: &i8) -> Option<i8> { (*last == 1).then_some(-1) }
/// #     fn target(&mut self, state: &u8, step: &i8, out: &mut u8) {
/// #         *out = (*state as i8 + self.0 as i8 + step) as u8 % self.0;
/// #     }
/// # }
///
/// let path = iterative(&mut Ring(10), &mut HashStore::new(), &mut |&at: &u8| at == 9).unwrap();
/// assert_eq!(path.len(), 9);
/// ```
pub fn iterative<S, St>(
    space: &mut S,
    store: &mut St,
    goal: &mut impl FnMut(&S::State) -> bool,
) -> Option<Vec<(Handle, S::Transition)>>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    let mut out = Buffer::<S>::default();
    let mut stack = Vec::new();
    let mut index = 0;
    while space.initial(index, &mut out) {
        index += 1;
        let Inserted::New(mut current) = store.insert(out.borrow()) else { continue };
        if goal(store.get(current)) {
            return Some(stack);
        }
        let mut cursor = space.first(store.get(current));
        loop {
            let Some(transition) = cursor else {
                let Some((source, transition)) = stack.pop() else { break };
                current = source;
                cursor = space.next(store.get(current), &transition);
                continue;
            };
            space.target(store.get(current), &transition, &mut out);
            let Inserted::New(new) = store.insert(out.borrow()) else {
                cursor = space.next(store.get(current), &transition);
                continue;
            };
            stack.push((current, transition));
            current = new;
            if goal(store.get(current)) {
                return Some(stack);
            }
            cursor = space.first(store.get(current));
        }
    }
    None
}
