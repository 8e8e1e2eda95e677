//! Why an operation on sets has no result.

use ample_budget::Interrupted;
use ample_model::Reason;

/// Why an operation on sets has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The table of nodes is full.
    #[error("the decision diagrams do not fit into the memory")]
    Memory,
    /// Somebody wanted it to end.
    #[error("interrupted")]
    Cancelled,
    /// The deadline has passed.
    #[error("not in time")]
    Deadline,
    /// The variables should be moved before it goes on. Nobody outside gets to see it.
    #[doc(hidden)]
    #[error("the variables have to be moved")]
    Reorder,
    /// A value of a state does not fit into 32 bits.
    #[error("a place has more tokens than 32 bits can hold")]
    Overflow,
    /// The stack of the thread is too small for so many levels: see [`with_stack`](crate::lists::with_stack).
    #[error("the stack is too small for so many places")]
    Depth,
    /// A set, an action, a state, an order or encoded bytes do not belong to this table.
    #[error("it does not belong to this table of nodes")]
    Foreign,
    /// The formula is not in CTL.
    #[error("the formula is not in CTL")]
    NotCtl,
}

impl From<Interrupted> for SetError {
    fn from(interrupted: Interrupted) -> SetError {
        match interrupted {
            Interrupted::Deadline => SetError::Deadline,
            Interrupted::Memory => SetError::Memory,
            Interrupted::Cancelled => SetError::Cancelled,
        }
    }
}

impl From<SetError> for Reason {
    fn from(error: SetError) -> Reason {
        match error {
            SetError::Memory => Reason::Memory,
            SetError::Deadline => Reason::Time,
            SetError::Cancelled | SetError::Reorder => Reason::Interrupted,
            SetError::Overflow | SetError::Depth | SetError::Foreign | SetError::NotCtl => {
                Reason::Internal(error.to_string())
            }
        }
    }
}

/// What an operation gives.
pub type Maybe<T> = Result<T, SetError>;
