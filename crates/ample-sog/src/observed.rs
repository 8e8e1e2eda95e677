//! What is observed of a model, and so which graph it has.
//!
//! | graph | observed actions | atoms | parts |
//! |---|---|---|---|
//! | event-based, deterministic | given | none | 1 |
//! | event-based, general | given | none | more |
//! | state-based | none | given | 1 |
//! | event-state | given | given | 1 |
//! | event-state by the static rule | given, and all that may change what an atom reads | given | 1 |
//!
//! With the static rule no unobserved action changes a label, so that labels are looked at only when an observed action
//! has been taken: closures are plain, and there are no arcs τ. The graph may be finer than the definition's.

use serde::{Deserialize, Serialize};

use crate::model::{Error, Labelled, Maybe};
use ample_symbolic::Portable;

/// The truth of each atom: bit *i* for the *i*-th atom of [`Observed::atoms`].
pub type Label = u64;

/// A bit of a label beside those of the atoms: a run-time error inside an atomic sequence has stopped the run.
pub const STOPPED: Label = 1 << MAX_ATOMS;

/// So many atoms can be observed.
const MAX_ATOMS: usize = 63;

/// What is observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The actions that are observed, in order.
    pub actions: Vec<usize>,
    /// All others.
    pub unobserved: Vec<usize>,
    /// The atoms that label aggregates, by their numbers in the model.
    pub atoms: Vec<usize>,
    /// No unobserved action changes a label.
    pub is_quiet: bool,
    /// What an observed action leads to is split into at most so many parts.
    pub parts: usize,
}

impl Observed {
    fn new(count: usize, actions: &[usize], atoms: &[usize]) -> Maybe<Observed> {
        if atoms.len() > MAX_ATOMS {
            let sentence = format!("{} atoms are observed, and at most {MAX_ATOMS} are supported", atoms.len());
            return Err(Error::Unsupported(sentence));
        }
        let mut is_observed = vec![false; count];
        for action in actions {
            match is_observed.get_mut(*action) {
                Some(mark) => *mark = true,
                None => return Err(Error::Unsupported(format!("there is no action number {action}"))),
            }
        }
        let those = |value| (0..count).filter(|action| is_observed[*action] == value).collect();
        let is_quiet = atoms.is_empty();
        Ok(Observed { actions: those(true), unobserved: those(false), atoms: atoms.to_vec(), is_quiet, parts: 1 })
    }

    /// Actions only: the deterministic graph (§2.6.1 of the thesis).
    pub fn events(count: usize, actions: &[usize]) -> Maybe<Observed> {
        Observed::new(count, actions, &[])
    }

    /// Actions only, and what an action leads to is split into at most so many parts (the general graph of §2.6.1).
    ///
    /// The rule: the first part is cut in two on the first level where its states differ, the states with the smallest
    /// value from the others, until there are enough parts or none can be cut. So it depends on the states alone.
    pub fn split(count: usize, actions: &[usize], parts: usize) -> Maybe<Observed> {
        Ok(Observed { parts: parts.max(1), ..Observed::events(count, actions)? })
    }

    /// Actions and atoms, as Definition 15 has it; without actions it is the state-based graph.
    pub fn events_and_states(count: usize, actions: &[usize], atoms: &[usize]) -> Maybe<Observed> {
        Observed::new(count, actions, atoms)
    }

    /// Actions and atoms by the static rule of §7.2.4: what may change something that an atom reads is observed too.
    pub fn by_reading<S: Portable>(
        sets: &Labelled<S>,
        count: usize,
        actions: &[usize],
        atoms: &[usize],
    ) -> Maybe<Observed> {
        let touches = |action: &usize| atoms.iter().any(|atom| sets.touches(*action, *atom));
        let mut all: Vec<usize> = (0..count).filter(touches).collect();
        all.extend(actions);
        Ok(Observed { is_quiet: true, ..Observed::new(count, &all, atoms)? })
    }
}
