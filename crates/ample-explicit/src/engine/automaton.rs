//! The automaton that the product is built with: of a negated formula, of a never claim, of labels.

use ample_engine::temporal::ClaimAutomaton;
use ample_logic::{Acceptance, Atoms};
use ample_model::observer::ask_meanwhile;
use ample_model::{Budget, Observer, Reason, Temporal};

use crate::liveness::BuchiAutomaton;

/// An automaton to be run.
pub fn automaton(claim: &ClaimAutomaton) -> Result<BuchiAutomaton, String> {
    BuchiAutomaton::new(claim.initial, claim.sets, &claim.edges).map_err(|error| error.to_string())
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
) -> Result<BuchiAutomaton, NoAutomaton> {
    match ask_meanwhile(observer, |budget| translate(temporal, acceptance, budget)) {
        Ok(Some(automaton)) => Ok(automaton?),
        Ok(None) => Err(NoAutomaton::Refused("internal error: the formula could not be translated".into())),
        Err(reason) => Err(NoAutomaton::Ended(reason)),
    }
}

fn translate(temporal: &Temporal, acceptance: Acceptance, budget: &Budget) -> Result<BuchiAutomaton, String> {
    let names: Atoms = (0..temporal.atoms.len()).map(|number| format!("p{number}")).collect();
    let options = ample_logic::Options { acceptance, ..ample_logic::Options::default() };
    let automaton = ample_logic::translate_within(&!temporal.formula.clone(), &names, options, budget);
    BuchiAutomaton::of(&automaton.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
