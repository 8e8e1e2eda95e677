//! Models, and their sets of states with what is observed of them: what one thread works with.
//!
//! A graph is built over any [algebra of sets](ample_symbolic::sets). Diagrams live in a table that belongs to one thread,
//! so every thread has sets of its own, made by the same [`Model`]; what threads tell each other are bytes.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use ample_budget::{Budget, Interrupted};
use ample_symbolic::encode::NotReached;
use ample_symbolic::{Portable, SetError};
use thiserror::Error;

use crate::observed::Observed;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// Somebody wanted it to end.
    #[error("interrupted")]
    Cancelled,
    /// The deadline has passed.
    #[error("the time limit was reached")]
    Deadline,
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
pub type Maybe<T> = Result<T, Error>;

impl From<SetError> for Error {
    fn from(error: SetError) -> Error {
        match error {
            SetError::Memory => Error::Memory,
            SetError::Deadline => Error::Deadline,
            SetError::Cancelled | SetError::Reorder => Error::Cancelled,
            SetError::Overflow | SetError::Depth => Error::Unsupported(format!("the net is too large: {error}")),
            SetError::Foreign | SetError::NotCtl => Error::Internal(error.to_string()),
        }
    }
}

impl From<Interrupted> for Error {
    fn from(interrupted: Interrupted) -> Error {
        match interrupted {
            Interrupted::Memory => Error::Memory,
            Interrupted::Deadline => Error::Deadline,
            Interrupted::Cancelled => Error::Cancelled,
        }
    }
}

impl From<NotReached> for Error {
    fn from(not: NotReached) -> Error {
        match not {
            NotReached::Unsupported(why) => Error::Unsupported(why),
            NotReached::Interrupted(interrupted) => interrupted.into(),
            NotReached::Sets(error) => error.into(),
        }
    }
}

/// A model from which every thread makes its own sets. All of them number actions, atoms and levels alike, and give the
/// same bytes to the same set.
pub trait Model: Sync {
    /// The sets.
    type Sets: Portable;

    /// The names of the actions.
    fn actions(&self) -> &[String];

    /// The names of the atoms.
    fn atoms(&self) -> &[String];

    /// Sets whose operations ask the budget. `share` is the part of the memory that they may use: one in so many.
    fn sets(&self, share: usize, budget: &Budget) -> Maybe<Labelled<Self::Sets>>;

    /// Does something with the sets, which may want a stack of their own for it.
    fn with_stack<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        work()
    }
}

/// Of a set of states, those in which an atom holds.
pub type Holding<S> = Box<dyn FnMut(&mut S, &<S as ample_symbolic::Sets>::Set, usize) -> SetResult<S>>;
/// Whether actions can go on for ever in a set that is closed under them: `None` if that is not seen at once.
pub type Repeats<S> =
    Box<dyn FnMut(&mut S, &<S as ample_symbolic::Sets>::Set, &[usize]) -> Result<Option<bool>, SetError>>;

/// Whether an action may change something that an atom reads.
pub type Touches = Box<dyn Fn(usize, usize) -> bool>;

type SetResult<S> = Result<<S as ample_symbolic::Sets>::Set, SetError>;

/// Sets of states of which it is known in which of them atoms hold. It can be used as the sets themselves.
pub struct Labelled<S: Portable> {
    sets: S,
    holding: Holding<S>,
    touches: Touches,
    repeats: Option<Repeats<S>>,
    /// Transient states that lie on cycles of transient states, if there are any.
    endless: Option<S::Set>,
    /// What is unobserved was divided for this.
    divided: Option<(Observed, Rc<Divided>)>,
}

/// The actions that are not observed.
#[derive(Debug, Default)]
pub struct Divided {
    /// Those that change nothing that an observed atom reads.
    pub still: Vec<usize>,
    /// The others.
    pub moving: Vec<usize>,
}

impl<S: Portable> Labelled<S> {
    /// The sets, with what atoms mean, and which action may change something that which atom reads.
    pub fn new(sets: S, holding: Holding<S>, touches: Touches) -> Labelled<S> {
        Labelled { sets, holding, touches, repeats: None, endless: None, divided: None }
    }

    /// With a quick look at whether actions can go on for ever.
    #[must_use]
    pub fn with_repeats(self, repeats: Repeats<S>) -> Labelled<S> {
        Labelled { repeats: Some(repeats), ..self }
    }

    /// With the transient states that lie on cycles of transient states: atomic sequences that may not end.
    #[must_use]
    pub fn with_endless(self, endless: Option<S::Set>) -> Labelled<S> {
        Labelled { endless, ..self }
    }

    /// The transient states that lie on cycles of transient states, if there are any.
    pub fn endless(&self) -> Option<&S::Set> {
        self.endless.as_ref()
    }

    /// What is unobserved, by whether it may change the label.
    pub fn divided(&mut self, observed: &Observed) -> Rc<Divided> {
        if let Some((known, divided)) = &self.divided
            && known == observed
        {
            return Rc::clone(divided);
        }
        let is_moving = |action: &usize| observed.atoms.iter().any(|atom| self.touches(*action, *atom));
        let (moving, still) = observed.unobserved.iter().partition(|action| is_moving(action));
        let divided = Rc::new(Divided { still, moving });
        self.divided = Some((observed.clone(), Rc::clone(&divided)));
        divided
    }

    /// The states of the set in which an atom holds.
    pub fn holding(&mut self, set: &S::Set, atom: usize) -> SetResult<S> {
        (self.holding)(&mut self.sets, set, atom)
    }

    /// The action may change something that the atom reads.
    pub fn touches(&self, action: usize, atom: usize) -> bool {
        (self.touches)(action, atom)
    }

    /// Whether these actions, under which the set is closed, can go on in it for ever: `None` if that is not seen at
    /// once.
    pub fn repeats(&mut self, set: &S::Set, actions: &[usize]) -> Result<Option<bool>, SetError> {
        match &mut self.repeats {
            Some(repeats) => repeats(&mut self.sets, set, actions),
            None => Ok(None),
        }
    }

    /// An action that is a run-time error in the one state of the set.
    pub fn fault_in(&mut self, set: &S::Set) -> Result<Option<usize>, SetError> {
        match self.sets.pick(set)? {
            Some(state) => self.sets.fault(&state),
            None => Ok(None),
        }
    }
}

impl<S: Portable> Deref for Labelled<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.sets
    }
}

impl<S: Portable> DerefMut for Labelled<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.sets
    }
}
