//! Paths: states and the actions between them.

use std::fmt::{self, Debug, Display};

/// How a run goes on after the last step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Anyhow.
    Open,
    /// The last state has no successors; the run stays there for ever.
    Stuck,
    /// The last state is the one before that step, and the steps from there on are repeated for ever.
    Cycle(usize),
}

/// A path through a model, from an initial state.
///
/// It prints as a list of the states and the actions taken in them:
///
/// ```
/// # use ample_explicit::model::Model;
/// # struct Walk;
/// # impl Model for Walk {
/// #     type State = u8;
/// #     type Action = &'static str;
/// #     fn init(&self) -> Vec<u8> { vec![1] }
/// #     fn actions(&self, _: &u8) -> Vec<&'static str> { vec!["double"] }
/// #     fn next(&self, state: &u8, _: &&'static str) -> Option<u8> { Some(state.checked_mul(2).unwrap_or(1)) }
/// # }
/// let report = Walk.check().eventually("large", |s| *s > 200).always("small", |s| *s < 4).run();
/// let path = report.path("small").unwrap();
/// assert_eq!(path.to_string(), "0: 1\n   -> \"double\"\n1: 2\n   -> \"double\"\n2: 4\n");
/// assert_eq!(path.states().copied().collect::<Vec<_>>(), [1, 2, 4]);
/// // Then again from the first state.
/// assert!(report.path("large").unwrap().to_string().ends_with("   -> \"double\"\n   back to 0\n"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<S, A> {
    pub(super) steps: Vec<(S, A)>,
    pub(super) end: S,
    pub(super) ending: Ending,
}

impl<S, A> Path<S, A> {
    /// The steps: each a state and the action that is taken there.
    pub fn steps(&self) -> &[(S, A)] {
        &self.steps
    }

    /// The state after the last step.
    pub fn last(&self) -> &S {
        &self.end
    }

    /// How the run goes on after the last step.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The steps that are repeated for ever, if the run ends in a cycle.
    pub fn cycle(&self) -> Option<&[(S, A)]> {
        match self.ending {
            Ending::Cycle(from) => self.steps.get(from..),
            Ending::Open | Ending::Stuck => None,
        }
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Is it only an initial state?
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The states, from the initial one to the last.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        self.steps.iter().map(|(state, _)| state).chain([&self.end])
    }

    /// The actions, in order.
    pub fn actions(&self) -> impl Iterator<Item = &A> {
        self.steps.iter().map(|(_, action)| action)
    }
}

impl<S: Debug, A: Debug> Display for Path<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.len().to_string().len();
        let margin = width + 1;
        for (number, (state, action)) in self.steps.iter().enumerate() {
            writeln!(f, "{number:width$}: {state:?}\n{:margin$} -> {action:?}", "")?;
        }
        match self.ending {
            Ending::Open => writeln!(f, "{:width$}: {:?}", self.steps.len(), self.end),
            Ending::Stuck => {
                writeln!(f, "{:width$}: {:?}\n{:margin$} and no action is possible", self.steps.len(), self.end, "")
            }
            Ending::Cycle(from) => writeln!(f, "{:margin$} back to {from}", ""),
        }
    }
}
