//! One algebra of sets: what algorithms over sets of states ask for, whatever diagrams the sets are.
//!
//! Reachability, CTL, fair cycles, explanation and observation graphs are written over [`Sets`]. Binary decision diagrams
//! implement it ([`SpaceSets`](crate::space::SpaceSets)), list decision diagrams ([`lists::Diagrams`](crate::lists::Diagrams)),
//! and the product of either with a property automaton ([`Product`](crate::product::Product)).
//!
//! ```
//! use ample_symbolic::SetError;
//! use ample_symbolic::lists::{Diagrams, Limits, Transition};
//! use ample_symbolic::sets::Sets;
//!
//! /// How many states can be reached.
//! fn reachable<S: Sets>(sets: &mut S) -> Result<num_bigint::BigUint, SetError> {
//!     let all: Vec<usize> = (0..sets.actions()).collect();
//!     let initial = sets.initial()?;
//!     let reached = sets.closure(&initial, &all)?;
//!     sets.count(&reached)
//! }
//!
//! let step = Transition { takes: vec![(0, 1)], adds: vec![(1, 1)] };
//! let mut diagrams = Diagrams::new(vec![5, 0], vec![step], &[0, 1], Limits::default())?;
//! assert_eq!(reachable(&mut diagrams)?, 6u32.into());
//! # Ok::<(), SetError>(())
//! ```

use num_bigint::BigUint;

use crate::error::Maybe;
use crate::reach::Effort;

/// Sets of states, and the actions between states.
///
/// Every action is a partial function on states: what is not determined is the choice among actions. Diagrams live in a
/// table that belongs to one thread, so that all operations take the algebra by a mutable reference.
pub trait Sets {
    /// A set of states.
    type Set: Clone + Eq;
    /// A single state.
    type State: Clone + Eq;

    /// How many actions there are. They are numbered from 0.
    fn actions(&self) -> usize;

    /// The initial states.
    fn initial(&mut self) -> Maybe<Self::Set>;

    /// No state.
    fn empty(&mut self) -> Self::Set;

    /// There is no state in it.
    fn is_empty(&self, set: &Self::Set) -> bool;

    /// The states that are in one of the two.
    fn union(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

    /// The states that are in both.
    fn intersection(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

    /// The states that are in the first only.
    fn minus(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

    /// All states of the first are in the second.
    fn is_subset(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<bool> {
        let rest = self.minus(one, other)?;
        Ok(self.is_empty(&rest))
    }

    /// The states that an action leads to from these. An action without effect leads back: it is not left out.
    fn image(&mut self, set: &Self::Set, action: usize) -> Maybe<Self::Set>;

    /// The states of `within` from which an action leads into the set.
    fn preimage(&mut self, set: &Self::Set, action: usize, within: &Self::Set) -> Maybe<Self::Set>;

    /// The states that some of these actions lead to.
    fn images(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        let mut all = self.empty();
        for action in actions {
            let image = self.image(set, *action)?;
            all = self.union(&all, &image)?;
        }
        Ok(all)
    }

    /// The states of `within` that some of these actions lead to.
    fn images_within(&mut self, set: &Self::Set, actions: &[usize], within: &Self::Set) -> Maybe<Self::Set> {
        let image = self.images(set, actions)?;
        self.intersection(&image, within)
    }

    /// The states of `within` from which some of these actions lead into the set.
    fn preimages(&mut self, set: &Self::Set, actions: &[usize], within: &Self::Set) -> Maybe<Self::Set> {
        let mut all = self.empty();
        for action in actions {
            let image = self.preimage(set, *action, within)?;
            all = self.union(&all, &image)?;
        }
        Ok(all)
    }

    /// The states of `within` that some action leads to.
    fn post(&mut self, set: &Self::Set, within: &Self::Set) -> Maybe<Self::Set> {
        let all: Vec<usize> = (0..self.actions()).collect();
        self.images_within(set, &all, within)
    }

    /// The states of `within` from which some action leads into the set.
    fn pre(&mut self, set: &Self::Set, within: &Self::Set) -> Maybe<Self::Set> {
        let all: Vec<usize> = (0..self.actions()).collect();
        self.preimages(set, &all, within)
    }

    /// All states that these actions lead to from the set in any number of steps, the set itself among them.
    fn closure(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        closed(self, set, &mut Effort::default(), |sets, set| sets.images(set, actions))
    }

    /// The states that actions lead to from the set without leaving `within`, the set itself among them.
    fn forward_closure(&mut self, set: &Self::Set, within: &Self::Set, effort: &mut Effort) -> Maybe<Self::Set> {
        closed(self, set, effort, |sets, set| sets.post(set, within))
    }

    /// The states from which actions lead into the set without leaving `within`, the set itself among them.
    fn backward_closure(&mut self, set: &Self::Set, within: &Self::Set, effort: &mut Effort) -> Maybe<Self::Set> {
        closed(self, set, effort, |sets, set| sets.pre(set, within))
    }

    /// The states of the set that can be reached from cycles of these actions in it: each has a predecessor among them.
    /// There are none if there is no such cycle.
    fn after_cycles(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        let mut left = set.clone();
        loop {
            let next = self.images_within(&left, actions, &left)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// The states of the set from which runs of these actions can stay in it for ever.
    fn before_cycles(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        let mut left = set.clone();
        loop {
            let next = self.preimages(&left, actions, &left)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// An action is enabled in some state of the set.
    fn is_enabled(&mut self, set: &Self::Set, action: usize) -> Maybe<bool> {
        let image = self.image(set, action)?;
        Ok(!self.is_empty(&image))
    }

    /// The states of the set in which no action is enabled.
    fn deadlocked(&mut self, set: &Self::Set) -> Maybe<Self::Set>;

    /// No action is enabled in this state.
    fn is_deadlocked(&mut self, state: &Self::State) -> Maybe<bool> {
        let set = self.only(state)?;
        let deadlocked = self.deadlocked(&set)?;
        Ok(!self.is_empty(&deadlocked))
    }

    /// A deadlocked state is its own successor; else a run is over there.
    fn stutters(&self) -> bool {
        false
    }

    /// Only infinite runs count: one that is over in a deadlocked state is none. Such a state must not be its own successor.
    fn only_infinite(&self) -> bool {
        false
    }

    /// The states of the set in which some action is a run-time error: it ends the run and leads nowhere.
    fn faulty(&mut self, _set: &Self::Set) -> Maybe<Self::Set> {
        Ok(self.empty())
    }

    /// An action that is a run-time error in this state.
    fn fault(&mut self, _state: &Self::State) -> Maybe<Option<usize>> {
        Ok(None)
    }

    /// The states of the set in which a run may come to its end: deadlocked or faulty ones.
    fn resting(&mut self, set: &Self::Set) -> Maybe<Self::Set> {
        let (deadlocked, faulty) = (self.deadlocked(set)?, self.faulty(set)?);
        self.union(&deadlocked, &faulty)
    }

    /// Some states are transient: properties are not evaluated in them.
    fn has_transient(&self) -> bool {
        false
    }

    /// The states of the set that are not transient.
    fn visible(&mut self, set: &Self::Set) -> Maybe<Self::Set> {
        Ok(set.clone())
    }

    /// The visible states from which actions lead into the set, with no visible state in between, through states of
    /// `within` only; and the deadlocked states of the set, if they are their own successors.
    fn previous(&mut self, set: &Self::Set, within: &Self::Set) -> Maybe<Self::Set> {
        let before = self.pre(set, within)?;
        if !self.stutters() {
            return Ok(before);
        }
        let deadlocked = self.deadlocked(set)?;
        self.union(&before, &deadlocked)
    }

    /// `E[through U goal]` for sets of visible states: the visible states of `within` from which a run leads through the
    /// first into the second.
    fn until(
        &mut self,
        through: &Self::Set,
        goal: &Self::Set,
        within: &Self::Set,
        effort: &mut Effort,
    ) -> Maybe<Self::Set> {
        let mut all = goal.clone();
        let mut frontier = goal.clone();
        let either = self.union(through, goal)?;
        let scope = self.scope(&either, within)?;
        while !self.is_empty(&frontier) {
            self.note(&frontier, effort);
            effort.posts += 1;
            let before = self.previous(&frontier, &scope)?;
            let before = self.intersection(&before, through)?;
            frontier = self.minus(&before, &all)?;
            all = self.union(&all, &frontier)?;
        }
        Ok(all)
    }

    /// These states, and the transient ones of `within`.
    fn scope(&mut self, set: &Self::Set, within: &Self::Set) -> Maybe<Self::Set> {
        if !self.has_transient() {
            return Ok(set.clone());
        }
        let visible = self.visible(within)?;
        let transient = self.minus(within, &visible)?;
        self.union(set, &transient)
    }

    /// One state of the set, always the same one. None if it is empty.
    fn pick(&mut self, set: &Self::Set) -> Maybe<Option<Self::State>>;

    /// The set with this state alone.
    fn only(&mut self, state: &Self::State) -> Maybe<Self::Set>;

    /// The state is in the set.
    fn contains(&mut self, set: &Self::Set, state: &Self::State) -> bool;

    /// A step from the state into the set: its action, and the state after it.
    fn step_into(&mut self, state: &Self::State, set: &Self::Set) -> Maybe<Option<(usize, Self::State)>> {
        let before = self.only(state)?;
        for action in 0..self.actions() {
            let after = self.images_within(&before, &[action], set)?;
            if let Some(after) = self.pick(&after)? {
                return Ok(Some((action, after)));
            }
        }
        Ok(None)
    }

    /// A step from the set to the state: its action, and the state before it.
    fn step_from(&mut self, set: &Self::Set, state: &Self::State) -> Maybe<Option<(usize, Self::State)>> {
        let after = self.only(state)?;
        for action in 0..self.actions() {
            let before = self.preimage(&after, action, set)?;
            if let Some(before) = self.pick(&before)? {
                return Ok(Some((action, before)));
            }
        }
        Ok(None)
    }

    /// How many states there are in it.
    fn count(&mut self, set: &Self::Set) -> Maybe<BigUint>;

    /// There is exactly one state in it.
    fn is_single(&mut self, set: &Self::Set) -> Maybe<bool> {
        Ok(self.count(set)? == BigUint::from(1u8))
    }

    /// How many nodes its diagram has; for a set without a diagram, how many states.
    fn nodes(&mut self, set: &Self::Set) -> Maybe<usize>;

    /// Takes note of the size of a frontier, where that is reported.
    fn note(&mut self, _frontier: &Self::Set, _effort: &mut Effort) {}

    /// There is room on the stack for one more step down a formula.
    fn check_depth(&self) -> Maybe<()> {
        Ok(())
    }
}

/// What steps lead to in any number, the set itself among it, layer by layer.
pub fn closed<S: Sets + ?Sized>(
    sets: &mut S,
    set: &S::Set,
    effort: &mut Effort,
    step: impl Fn(&mut S, &S::Set) -> Maybe<S::Set>,
) -> Maybe<S::Set> {
    let (mut all, mut new) = (set.clone(), set.clone());
    while !sets.is_empty(&new) {
        effort.posts += 1;
        let image = step(sets, &new)?;
        new = sets.minus(&image, &all)?;
        all = sets.union(&all, &new)?;
    }
    Ok(all)
}

/// Sets that can be told to another thread or machine, and cut into parts. The bytes of a set depend on its states and on
/// the order of the levels only, never on how or where it was made.
pub trait Portable: Sets {
    /// A number that equal sets of this table have in common, if there is one that costs next to nothing.
    fn digest(&self, _set: &Self::Set) -> Option<u64> {
        None
    }

    /// The set as bytes.
    fn encode(&mut self, set: &Self::Set) -> Maybe<Vec<u8>>;

    /// The set that the bytes stand for.
    fn decode(&mut self, bytes: &[u8]) -> Maybe<Self::Set>;

    /// The values of a state, as numbers.
    fn values(&self, state: &Self::State) -> Vec<u64>;

    /// The state with these values.
    fn state(&self, values: &[u64]) -> Maybe<Self::State>;

    /// How many levels there are.
    fn levels(&self) -> usize;

    /// The states with the smallest value on a level, and the others.
    fn halves(&mut self, set: &Self::Set, level: usize) -> Maybe<(Self::Set, Self::Set)>;
}
