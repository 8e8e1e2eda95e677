//! Sets of states as the observation graph needs them: what one thread works with.
//!
//! A graph is built over any engine that can do this much. Diagrams live in a table that belongs to one thread, so every
//! thread has an engine of its own, made by the same [`Model`]; what threads tell each other are bytes. The bytes of a
//! set depend on its states only, never on how or where it was made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Halt {
    /// Somebody wanted it to end.
    #[error("ended")]
    Asked,
    /// The sets do not fit into the memory.
    #[error("the sets of states do not fit into the memory")]
    Memory,
    /// The model, or what is asked about it, is of a kind that is not known here: a whole sentence.
    #[error("{0}")]
    Unsupported(String),
    /// Something that cannot be: a bug of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

/// What an operation gives.
pub type Maybe<T> = Result<T, Halt>;

/// A model from which every thread makes its own engine. All engines number actions, atoms and levels alike, and give
/// the same bytes to the same set.
pub trait Model: Sync {
    /// The engine.
    type Sets: Sets;

    /// The names of the actions.
    fn actions(&self) -> &[String];

    /// The names of the atoms.
    fn atoms(&self) -> &[String];

    /// An engine that ends when the flag is set. `share` is the part of the memory that it may use: one in so many.
    fn sets(&self, share: usize, stop: &StopFlag) -> Maybe<Self::Sets>;

    /// Does something with an engine, which may want a stack of its own for it.
    fn with_stack<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        work()
    }
}

/// The sets of one thread.
///
/// Every action is a partial function on states: what is not determined is the choice among actions.
pub trait Sets {
    /// A set of states.
    type Set: Clone + Eq;

    /// The initial states.
    fn initial(&mut self) -> Maybe<Self::Set>;

    /// No state.
    fn empty(&mut self) -> Self::Set;

    /// There is no state in it.
    fn is_empty(&self, set: &Self::Set) -> bool;

    /// There is exactly one state in it.
    fn is_single(&mut self, set: &Self::Set) -> Maybe<bool> {
        Ok(self.count(set)? == 1)
    }

    /// The states that are in one of the two.
    fn union(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

    /// The states that are in both.
    fn intersection(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

    /// The states that are in the first only.
    fn minus(&mut self, one: &Self::Set, other: &Self::Set) -> Maybe<Self::Set>;

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

    /// All states that these actions lead to from the set in any number of steps, the set itself among them.
    fn closure(&mut self, set: &Self::Set, actions: &[usize]) -> Maybe<Self::Set> {
        let mut all = set.clone();
        let mut new = set.clone();
        while !self.is_empty(&new) {
            let image = self.images(&new, actions)?;
            new = self.minus(&image, &all)?;
            all = self.union(&all, &new)?;
        }
        Ok(all)
    }

    /// Whether these actions, under which the set is closed, can go on in it for ever: `None` if that is not seen at
    /// once.
    fn repeats(&mut self, _set: &Self::Set, _actions: &[usize]) -> Maybe<Option<bool>> {
        Ok(None)
    }

    /// An action is enabled in some state of the set.
    fn is_enabled(&mut self, set: &Self::Set, action: usize) -> Maybe<bool> {
        let image = self.image(set, action)?;
        Ok(!self.is_empty(&image))
    }

    /// The states of the set in which a run may come to its end: no action is enabled at all, or one of them is a fault
    /// ([`Sets::fault`]).
    fn resting(&mut self, set: &Self::Set) -> Maybe<Self::Set>;

    /// In this one state some action is a fault: it ends the run and leads nowhere.
    fn fault(&mut self, _state: &Self::Set) -> Maybe<Option<usize>> {
        Ok(None)
    }

    /// The states of the set in which an atom holds.
    fn holding(&mut self, set: &Self::Set, atom: usize) -> Maybe<Self::Set>;

    /// The action may change something that the atom reads.
    fn touches(&self, action: usize, atom: usize) -> bool;

    /// How many states there are in it; the largest number if there are more.
    fn count(&mut self, set: &Self::Set) -> Maybe<u128>;

    /// How many nodes its diagram has; for a set without a diagram, how many states.
    fn nodes(&mut self, set: &Self::Set) -> Maybe<usize>;

    /// A number that equal sets of this engine have in common, if there is one that costs next to nothing.
    fn digest(&self, _set: &Self::Set) -> Option<u64> {
        None
    }

    /// The set as bytes. The same states give the same bytes in every engine of a model.
    fn encode(&mut self, set: &Self::Set) -> Maybe<Vec<u8>>;

    /// The set that the bytes stand for.
    fn decode(&mut self, bytes: &[u8]) -> Maybe<Self::Set>;

    /// One state of the set, always the same one: what it looks like, and the set with this state alone.
    fn pick(&mut self, set: &Self::Set) -> Maybe<Option<(Vec<u64>, Self::Set)>>;

    /// The set with the state alone that looks like that.
    fn only(&mut self, state: &[u64]) -> Maybe<Self::Set>;

    /// How many values a state has.
    fn levels(&self) -> usize;

    /// The states with the smallest value on a level, and the others.
    fn halves(&mut self, set: &Self::Set, level: usize) -> Maybe<(Self::Set, Self::Set)>;
}

/// A flag by which others say that it should end.
pub type StopFlag = Arc<AtomicBool>;

/// An error if the flag is set.
pub fn look(stop: &AtomicBool) -> Maybe<()> {
    if stop.load(Ordering::Relaxed) { Err(Halt::Asked) } else { Ok(()) }
}
