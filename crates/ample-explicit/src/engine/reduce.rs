//! What partial-order reduction makes of a model: which transitions disturb each other, what that leaves to be left
//! out, and what is chosen in a state, with the reasons.
//!
//! A search meets the processes of a model one by one. So the model is searched first, with the reduction and not too
//! far; then it is told what was met.
//!
//! ```
//! use ample_explicit::engine::reduce::{ReduceOptions, Safety, reduce};
//! use ample_lang::promela::{self, preprocess::FileLoader};
//!
//! let text = "byte x, y; active proctype P() { x = 1; y = 1 } active proctype Q() { y = 2 }";
//! let model = promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap();
//! let found = reduce(&model.system, &ReduceOptions::default(), &ample_budget::Budget::unlimited()).unwrap();
//! let scheme = found.scheme.as_ref().unwrap();
//! let safety = |text: &str| scheme.transitions().iter().find(|t| t.text == text).unwrap().safe;
//! assert_eq!(safety("x = 1"), Safety::Always);
//! assert_eq!(safety("y = 1"), Safety::Never);
//! ```

mod choice;
mod scheme;
mod traces;

use crate::check as safety;
use crate::compile::{NotReduced, Reduced};
use crate::partial::{self, Partial};
use crate::space::{Checked, StateSpace};
use crate::store::FlatStore;
use ample_model::{Budget, Cancellation, Reason, System, Trace};
use serde::Serialize;
use thiserror::Error;

use ample_engine::settings::{PartialOrder, Settings};

use super::options::{Explicit, Options};
use super::reduction::{Algorithm, Dependency};
use super::room_for_the_store;
use super::work::states;

pub use choice::{Choice, Closure, Enabled, Member, choice};
pub use scheme::{Condition, Dependence, Object, Operation, Process, Safety, Scheme, Step, Transition, Why};
pub use traces::{MOST_TRACE_STATES, TraceAutomaton, TraceState, TraceStep, trace_automaton};

/// How many new states lie between two looks at the limits.
const REPORT_EVERY: u64 = 256;

/// So many states are looked at unless another number is given.
pub const MOST_STATES: u64 = 100_000;

const TOO_MANY: &str = "the processes have too many transitions to compare them all";

/// What to look at.
#[derive(Clone, Debug)]
pub struct ReduceOptions {
    /// How persistent sets are computed.
    pub algorithm: Algorithm,
    /// Which transitions count as dependent, for the algorithms of Godefroid's thesis.
    pub dependency: Dependency,
    /// Each of the two searches ends after so many states.
    pub most_states: u64,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        let algorithm = Algorithm::default();
        ReduceOptions { algorithm, dependency: Dependency::default(), most_states: MOST_STATES }
    }
}

/// A state, by the path that leads there.
#[derive(Clone, Debug)]
pub enum Point {
    /// After these moves, each by its number among those that are possible, the first of which is 1.
    Moves(Vec<usize>),
    /// The state of that number, breadth first and without reduction; the initial state is number 0.
    Number(u64),
    /// After so many steps of a trace; after all if nothing is said.
    Trace(Box<Trace>, Option<usize>),
}

/// Why there is nothing to tell.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReduceError {
    /// The model cannot be searched.
    #[error("{0}")]
    Unsupported(String),
    /// Nothing can be left out.
    #[error("nothing can be left out, because {0}")]
    Irreducible(String),
    /// There is no such state.
    #[error("{0}")]
    NoSuchState(String),
    /// There are more states than were to be shown.
    #[error("the trace automaton has more than {0} states; `--max-states` sets another limit")]
    TooLarge(usize),
    /// A limit or the user ended the search for the state.
    #[error("the state was not reached, because {0}")]
    Ended(Reason),
}

/// What a search has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// States.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// Why the search ended early, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// It ended after the number of states that was asked for.
    #[serde(skip)]
    pub is_enough: bool,
}

/// What partial-order reduction makes of a model.
pub struct Reduction<'a> {
    /// The states and transitions that there are.
    pub whole: Count,
    /// Those that are left.
    pub reduced: Option<Count>,
    /// How many states there were with a choice, and in how many of them something was left out.
    pub choices: (u64, u64),
    /// Processes and transitions, and who disturbs whom; or why nothing can be left out.
    pub scheme: Result<Scheme<'a>, String>,
}

/// Searches a model with and without reduction, and tells what that came to.
pub fn reduce<'a>(system: &'a System, options: &ReduceOptions, budget: &Budget) -> Result<Reduction<'a>, ReduceError> {
    let mut reduced = None;
    let mut choices = (0, 0);
    let scheme = match space(system, options) {
        Err(ReduceError::Irreducible(why)) => Err(why),
        Err(error) => return Err(error),
        Ok(mut space) => {
            let half = budget.time_left().map_or(budget.clone(), |time| budget.clone().with_time(time / 2));
            reduced = Some(search(&mut space, &Cap::new(&half, options.most_states))?);
            choices = space.tally().choices();
            if space.unfolding().is_full() {
                Err(TOO_MANY.into())
            } else {
                Ok(Scheme::new(system, space, options.algorithm))
            }
        }
    };
    let whole = count(system, &Cap::new(budget, options.most_states));
    Ok(Reduction { whole, reduced, choices, scheme })
}

/// A space in which the processes of the initial state have been met.
fn space<'a>(system: &'a System, options: &ReduceOptions) -> Result<Reduced<'a>, ReduceError> {
    space_for(system, options, false)
}

/// The same for a search with sleep sets and a proviso.
fn space_with_sleep<'a>(system: &'a System, options: &ReduceOptions) -> Result<Reduced<'a>, ReduceError> {
    space_for(system, options, true)
}

fn space_for<'a>(system: &'a System, options: &ReduceOptions, sleep: bool) -> Result<Reduced<'a>, ReduceError> {
    let space = Reduced::new(system, &[], true, options.algorithm).map_err(|error| match error {
        NotReduced::Irreducible(why) => ReduceError::Irreducible(why),
        NotReduced::NotCompiled(why) => ReduceError::Unsupported(why.to_string()),
    })?;
    let mut space = space.with_dependency(options.dependency, sleep, sleep);
    let mut state = Vec::new();
    if !space.initial(0, &mut state) || space.is_dead() {
        return Err(ReduceError::Irreducible("the initial state is a fault".into()));
    }
    space.enabled(&state, &mut Vec::new());
    if space.unfolding().is_full() {
        return Err(ReduceError::Irreducible(TOO_MANY.into()));
    }
    Ok(space)
}

/// The search that `ample check` makes, as far as it is allowed to go.
fn search(space: &mut Reduced<'_>, cap: &Cap) -> Result<Count, ReduceError> {
    let reduction =
        partial::Reduction { persistent: true, sleep: false, proviso: partial::Proviso::Components, cache: None };
    let safety = safety::Options {
        deadlock: true,
        assertions: true,
        invariants: 0,
        stop_at_first: false,
        max_depth: u64::MAX,
        report_every: REPORT_EVERY,
    };
    let room = room_for_the_store(&cap.budget);
    let mut store = FlatStore::<partial::Mark, _>::with_visible(space.visible_bytes()).limit(room);
    let done = partial::depth_first(space, &mut store, &safety, &reduction, &cap.budget)
        .map_err(|why| ReduceError::Unsupported(why.to_string()))?;
    let limit = space.compiled().limit_reached();
    let statistics = done.report.statistics;
    let ended = cap.end_of(limit.or(done.report.ended));
    Ok(Count { states: statistics.states, transitions: statistics.transitions, ended, is_enough: cap.is_full() })
}

fn count(system: &System, cap: &Cap) -> Count {
    let plain = Options {
        settings: Settings { partial_order: PartialOrder::None, ..Settings::default() },
        explicit: Explicit::default(),
    };
    let report = states(system, &plain, &cap.budget);
    let ended = cap.end_of(report.ended);
    let statistics = report.statistics;
    Count { states: statistics.states, transitions: statistics.transitions, ended, is_enough: cap.is_full() }
}

/// Ends a search after so many states.
struct Cap {
    budget: Budget,
    most: u64,
    full: Cancellation,
}

impl Cap {
    fn new(budget: &Budget, most: u64) -> Cap {
        let (budget, full) = budget.until(move |progress| progress.states >= most);
        Cap { budget, most, full }
    }

    fn is_full(&self) -> bool {
        self.full.is_cancelled()
    }

    fn end_of(&self, ended: Option<Reason>) -> Option<String> {
        match ended {
            Some(_) if self.is_full() => Some(format!("it was to end after {} states", self.most)),
            ended => ended.map(|reason| reason.to_string()),
        }
    }
}
