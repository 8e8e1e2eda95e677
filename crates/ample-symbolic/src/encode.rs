//! From a system to its reachable states: encoded, built, and searched, as often as it takes until every reachable state
//! fits into the encoding.
//!
//! How large variables get is guessed from a sample, or as declared. Where a reachable state has a step whose outcome does
//! not fit, the bounds are widened by what that step needs, and all starts again.

use ample_boolean::{Bounds, Encoding, Lit, NotEncoded};
use ample_model::{Budget, Expr, Interrupted, System};

use crate::build::{Builder, Built, Grain, arrange, build};
use crate::diagram::{Bdd, Diagrams};
use crate::error::{Maybe, SetError};
use crate::space::Space;

/// How many states are looked at to guess how large variables get.
const SAMPLE: usize = 3000;
/// Relations that need more nodes while they are built are built in another order.
const ENOUGH_FOR_RELATIONS: usize = 1_000_000;
/// How often it starts again with wider bounds.
const MAX_RESTARTS: usize = 200;

/// Why there are no diagrams of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReached {
    /// The system is of a kind that has no encoding: a whole sentence.
    Unsupported(String),
    /// The encoding was interrupted.
    Interrupted(Interrupted),
    /// The diagrams came to no end.
    Sets(SetError),
}

impl From<NotEncoded> for NotReached {
    fn from(not: NotEncoded) -> NotReached {
        match not {
            NotEncoded::Unsupported(why) => NotReached::Unsupported(why.0),
            NotEncoded::Interrupted(interrupted) => NotReached::Interrupted(interrupted),
        }
    }
}

impl From<SetError> for NotReached {
    fn from(error: SetError) -> NotReached {
        NotReached::Sets(error)
    }
}

/// How a system is encoded.
pub struct Options<'a> {
    /// Variables are as large as they are declared; else that is guessed from a sample.
    pub is_declared: bool,
    /// What the encoding and all operations on its diagrams may take.
    pub budget: Budget,
    /// How many nodes there may be at once, asked when the diagrams are begun.
    pub max_nodes: &'a dyn Fn() -> usize,
    /// Variables may be moved once the relations are built.
    pub reorders: bool,
    /// The reachable states are wanted; else they are looked for only where something may not fit.
    pub reaches: bool,
    /// Told of the diagrams, and of the bits of a state, if the work ends before the relations are complete.
    pub unbuilt: &'a dyn Fn(u32, &Diagrams),
}

/// A system as diagrams in which all its reachable states fit.
pub struct Reached {
    /// The system as bits.
    pub encoding: Encoding,
    /// The same as relations.
    pub space: Space,
    /// The conditions, in terms of the encoding.
    pub literals: Vec<Lit>,
    /// The states in which each condition holds. Where it cannot be evaluated, it does not.
    pub conditions: Vec<Bdd>,
    /// The reachable states, if they were looked for.
    pub reached: Option<Bdd>,
    /// How often it started again with wider bounds.
    pub restarts: usize,
}

/// Looks for the reachable states of a space; told how often it has started again.
pub type Reach<'a> = &'a mut dyn FnMut(&Encoding, &Space, usize) -> Result<Bdd, NotReached>;

/// Encodes the system with these conditions until all its reachable states fit. Which they are is found by `reach`.
pub fn encode(
    system: &System,
    conditions: &[&Expr],
    options: &Options<'_>,
    reach: Reach<'_>,
) -> Result<Reached, NotReached> {
    let mut bounds = match options.is_declared {
        true => Bounds::declared(system),
        false => Bounds::sampled_within(system, SAMPLE, &options.budget),
    }
    .with_spread_control();
    for restarts in 0..MAX_RESTARTS {
        let mut encoding = Encoding::within(system, &bounds, &options.budget)?;
        let mut literals = Vec::new();
        for condition in conditions {
            let (value, fault) = encoding.condition_within(system, condition)?;
            literals.push(encoding.dag.and(value, !fault));
        }
        let (diagrams, built) = relations(&encoding, options)?;
        diagrams.reorder_when_large(options.reorders);
        let conditions = conditions_of(&encoding, &diagrams, &literals)?;
        let may_overflow = built.overflow.iter().any(|overflow| !overflow.is_false());
        let reached = match may_overflow || options.reaches {
            true => Some(reach(&encoding, &built.space, restarts)?),
            false => None,
        };
        if let Some(reached) = &reached
            && let Some((number, state)) = misfit(reached, &built.overflow)?
        {
            let state = encoding.state(system, &|bit| state[bit as usize]);
            bounds = encoding.widen(system, &bounds, &state, number);
            continue;
        }
        return Ok(Reached { encoding, space: built.space, literals, conditions, reached, restarts });
    }
    Err(NotReached::Unsupported("the values of some variables keep growing: no bound was found for them".into()))
}

/// The states in which conditions hold.
pub fn conditions_of(encoding: &Encoding, diagrams: &Diagrams, literals: &[Lit]) -> Maybe<Vec<Bdd>> {
    let mut builder = Builder::new(&encoding.dag, diagrams);
    literals.iter().map(|lit| builder.diagram(*lit)).collect()
}

/// The relations. If they need too many nodes with the bits of each cell together, as where many cells are copied at once,
/// bits are put beside those that they are copied from.
fn relations(encoding: &Encoding, options: &Options<'_>) -> Maybe<(Diagrams, Built)> {
    let most = (options.max_nodes)();
    let make = |grain, max_nodes| {
        let diagrams = Diagrams::new(encoding.bits, max_nodes, options.budget.clone());
        diagrams.make_room_for(most);
        arrange(encoding, &diagrams, grain);
        let built = build(encoding, &diagrams).inspect_err(|_| (options.unbuilt)(encoding.bits, &diagrams));
        built.map(|built| (diagrams, built))
    };
    match make(Grain::Cells, most.min(ENOUGH_FOR_RELATIONS)) {
        Err(SetError::Memory) => make(Grain::Bits, most),
        made => {
            let (diagrams, built) = made?;
            diagrams.set_max_nodes(most);
            Ok((diagrams, built))
        }
    }
}

/// A reachable state, and a step from it whose outcome does not fit.
fn misfit(reached: &Bdd, overflow: &[Bdd]) -> Maybe<Option<(usize, Vec<bool>)>> {
    for (number, overflow) in overflow.iter().enumerate() {
        if let Some(state) = reached.and(overflow)?.pick() {
            return Ok(Some((number, state)));
        }
    }
    Ok(None)
}
