//! Temporal properties: from the question of a property to an automaton that accepts what must not be.

pub mod claim;

use ample_explicit::liveness::{Edge, Watcher};
use ample_logic::{Acceptance, Atoms};
use ample_model::observer::ask_meanwhile;
use ample_model::{Budget, Expr, Observer, ProcessId, Reason, System, Temporal};

/// An automaton that accepts the runs that must not be, in a form that can be run and checked.
pub struct Forbidden {
    /// The edges of each state.
    pub edges: Vec<Vec<Edge>>,
    /// Where it begins.
    pub initial: u32,
    /// How many acceptance sets it has.
    pub sets: u32,
    /// What its atoms stand for.
    pub atoms: Vec<Expr>,
    /// A run that does not go on repeats its last state for ever.
    pub stutters: bool,
    /// The state in which a claim has come to its end; in the one after it, an assertion of its own has failed; and in
    /// the one after that, one of its conditions was a fault.
    pub end: u32,
}

impl Forbidden {
    /// To be run.
    pub fn watcher(&self) -> Result<Watcher, String> {
        Watcher::new(self.initial, self.sets, &self.edges).map_err(|error| error.to_string())
    }

    /// From that state on, every word is accepted.
    pub fn accepts_all_from(&self, state: u32) -> bool {
        let edges = &self.edges[state as usize];
        edges.iter().any(|edge| edge.to == state && edge.marks != 0 && edge.when.iter().any(Vec::is_empty))
    }

    /// A never claim.
    pub fn claim(system: &System, claim: ProcessId) -> Result<Forbidden, String> {
        claim::read(system, claim)
    }

    /// Runs that pass locations marked `accept` again and again.
    pub fn acceptance() -> Forbidden {
        let edge = |value, marks| Edge { when: vec![vec![(0, value)]], to: 0, marks };
        let edges = vec![vec![edge(true, 1), edge(false, 0)]];
        Forbidden { edges, initial: 0, sets: 1, atoms: vec![Expr::Accepting], stutters: true, end: u32::MAX }
    }

    /// Runs that pass locations marked `progress` only so many times.
    pub fn non_progress() -> Forbidden {
        let leaves = Edge { when: vec![vec![(0, true)]], to: 1, marks: 0 };
        let waits = Edge { when: vec![vec![]], to: 0, marks: 0 };
        let stays = Edge { when: vec![vec![(0, true)]], to: 1, marks: 1 };
        let edges = vec![vec![leaves, waits], vec![stays]];
        Forbidden { edges, initial: 0, sets: 1, atoms: vec![Expr::NonProgress], stutters: false, end: u32::MAX }
    }
}

/// Why there is no automaton.
pub enum NoAutomaton {
    /// There cannot be one, for this reason.
    Refused(String),
    /// The observer has ended the work.
    Ended(Reason),
}

impl From<String> for NoAutomaton {
    fn from(why: String) -> Self {
        NoAutomaton::Refused(why)
    }
}

/// The automaton of the runs that do not satisfy a formula. A large formula may take long: the observer is asked.
pub fn negation(
    temporal: &Temporal,
    acceptance: Acceptance,
    observer: &mut dyn Observer,
) -> Result<Watcher, NoAutomaton> {
    match ask_meanwhile(observer, |budget| translate(temporal, acceptance, budget)) {
        Ok(Some(watcher)) => Ok(watcher?),
        Ok(None) => Err(NoAutomaton::Refused("internal error: the formula could not be translated".into())),
        Err(reason) => Err(NoAutomaton::Ended(reason)),
    }
}

fn translate(temporal: &Temporal, acceptance: Acceptance, budget: &Budget) -> Result<Watcher, String> {
    let names: Atoms = (0..temporal.atoms.len()).map(|number| format!("p{number}")).collect();
    let options = ample_logic::Options { acceptance, ..ample_logic::Options::default() };
    let automaton = ample_logic::translate_within(&!temporal.formula.clone(), &names, options, budget);
    Watcher::of(&automaton.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
