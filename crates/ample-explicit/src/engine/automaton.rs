//! The automaton that the product is built with: of a negated formula, of a never claim, of labels.

use ample_engine::temporal::ClaimAutomaton;
use ample_logic::{Acceptance, Atoms, TranslateError};
use ample_model::{Budget, Reason, Temporal};

use crate::liveness::BuchiAutomaton;

/// An automaton to be run.
pub fn automaton(claim: &ClaimAutomaton) -> Result<BuchiAutomaton, String> {
    BuchiAutomaton::new(claim.initial, claim.sets, &claim.edges).map_err(|error| error.to_string())
}

/// Why there is no automaton.
pub enum NoAutomaton {
    /// There cannot be one, for this reason.
    Refused(String),
    /// The budget has ended the work.
    Ended(Reason),
}

/// The automaton of the runs that do not satisfy a formula. A large formula may take long: the budget is asked.
pub fn negation(temporal: &Temporal, acceptance: Acceptance, budget: &Budget) -> Result<BuchiAutomaton, NoAutomaton> {
    let names: Atoms = (0..temporal.atoms.len()).map(|number| format!("p{number}")).collect();
    let options = ample_logic::Options { acceptance, ..ample_logic::Options::default() };
    match ample_logic::translate_within(&!temporal.formula.clone(), &names, options, budget) {
        Ok(automaton) => BuchiAutomaton::of(&automaton).map_err(|error| NoAutomaton::Refused(error.to_string())),
        Err(TranslateError::Interrupted(interrupted)) => Err(NoAutomaton::Ended(interrupted.into())),
        Err(error) => Err(NoAutomaton::Refused(error.to_string())),
    }
}
