//! Branching time: CTL formulas, checked locally and on the fly.
//!
//! [`check`] asks whether a formula is true in the initial states, and looks at no more states than the answer needs.
//! Each temporal subformula is searched for at most once in each state, depth-first with an explicit stack (after
//! Vergauwen and Lewi, *A linear local model checking algorithm for CTL*, CONCUR 1993), so that the time is linear
//! in states and subformulas and no path is too long.
//!
//! What the formula speaks of are the *visible* states, those that are not [transient](Checked::is_transient): the
//! next state is the next visible one. A transition that ends in a [fault](Checked::is_dead) leads nowhere, and from
//! a state that has only such transitions there is no path at all; a violated assertion is no fault and is ignored.
//! What a state without transitions means is an [option](Dead). The atoms are the
//! [invariants](Checked::invariant) of the state space.
//!
//! The answer comes with [evidence](Evidence): a path, with branches where the formula is nested.
//!
//! ```
//! use ample_explicit::ctl::{self, Number, Options};
//! use ample_explicit::space::{Checked, StateSpace};
//! use ample_explicit::store::{ExactStore, HashStore};
//! use ample_logic::{Atoms, Dialect, parse};
//! use ample_budget::Budget;
//!
//! #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
//! enum Lamp {
//!     #[default]
//!     Off,
//!     On,
//!     Broken,
//! }
//!
//! /// A switch; but each time the lamp is on, it may break.
//! struct Switch;
//!
//! impl StateSpace for Switch {
//!     type State = Lamp;
//!     type Transition = Lamp;
//!
//!     fn initial(&mut self, index: usize, out: &mut Lamp) -> bool {
//!         *out = Lamp::Off;
//!         index == 0
//!     }
//!     fn first(&mut self, lamp: &Lamp) -> Option<Lamp> {
//!         match lamp {
//!             Lamp::Off => Some(Lamp::On),
//!             Lamp::On => Some(Lamp::Off),
//!             Lamp::Broken => None,
//!         }
//!     }
//!     fn next(&mut self, lamp: &Lamp, last: &Lamp) -> Option<Lamp> {
//!         (*lamp == Lamp::On && *last == Lamp::Off).then_some(Lamp::Broken)
//!     }
//!     fn target(&mut self, _: &Lamp, next: &Lamp, out: &mut Lamp) {
//!         *out = *next;
//!     }
//! }
//!
//! impl Checked for Switch {
//!     /// There is one atom: the lamp is on.
//!     fn invariant(&mut self, _: usize, lamp: &Lamp) -> bool {
//!         *lamp == Lamp::On
//!     }
//!     // Nothing can go wrong, and there are no atomic sequences.
//!     fn is_valid_end(&mut self, _: &Lamp) -> bool {
//!         true
//!     }
//!     fn violation(&self) -> Option<String> {
//!         None
//!     }
//!     fn is_dead(&self) -> bool {
//!         false
//!     }
//!     fn is_transient(&self, _: &Lamp) -> bool {
//!         false
//!     }
//!     fn atomic_steps(&self) -> u32 {
//!         0
//!     }
//! }
//!
//! let mut atoms = Atoms::from_iter(["on"]);
//! let mut ask = |text: &str, store: &mut HashStore<Lamp, Number>| {
//!     let formula = parse(text, Dialect::Smv, &mut atoms).unwrap();
//!     ctl::check(&mut Switch, store, &formula, &Options::default(), &Budget::unlimited()).unwrap()
//! };
//!
//! assert_eq!(ask("AF on", &mut HashStore::default()).verdict, Some(true));
//!
//! // It can always be switched on again? Not when it is broken.
//! let mut store = HashStore::default();
//! let report = ask("AG EF on", &mut store);
//! assert_eq!(report.verdict, Some(false));
//! let path = report.evidence.unwrap().path;
//! let states: Vec<Lamp> = path.states().map(|handle| *store.get(handle)).collect();
//! assert_eq!(states, [Lamp::Off, Lamp::On, Lamp::Broken]);
//!
//! // For ever on and off: that is possible, and there is a cycle to show it.
//! let evidence = ask("EG EF on", &mut HashStore::default()).evidence.unwrap();
//! assert_eq!((evidence.path.len(), evidence.cycle), (2, 2));
//! ```

mod evaluate;
mod evidence;
mod kripke;
mod nodes;
mod number;
mod region;

pub use evidence::Evidence;
pub use nodes::NotCtl;
pub use number::Number;

use std::time::Instant;

use ample_budget::Budget;
use ample_logic::Formula;
use ample_model::outcome::{Reason, Statistics};

use crate::search::Terminated;
use crate::space::{Buffer, Checked};
use crate::store::{ExactStore, Handle};
use evaluate::Evaluator;
use evidence::Explainer;
use kripke::{Kripke, Start};
use nodes::{Id, Nodes};

/// What happens in a state without transitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dead {
    /// Nothing, for ever: the state is its own and only successor.
    #[default]
    Stutters,
    /// Paths end: `EX f` is false there, `AX f` is true, and `EG f` is as true as `f`.
    Ends,
    /// Paths that come there do not count: `EX f` and `EG f` are false. That a path to where `f` holds goes on for ever has
    /// to be said in the formula.
    Discards,
}

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// What happens in a state without transitions.
    pub dead: Dead,
    /// Only paths on which each of these atoms holds again and again count. That a path to where `f` holds can be continued
    /// like that has to be said in the formula, by `EG true`.
    pub justice: Vec<u32>,
    /// The budget is told after every so many states, new ones or ones that a search comes back to. It may end
    /// the search, for one when the memory that it is told of is more than there should be.
    pub report_every: u64,
}

impl Default for Options {
    /// Deadlocks stutter.
    fn default() -> Self {
        Options { dead: Dead::Stutters, justice: Vec::new(), report_every: 10_000 }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<T> {
    /// Is the formula true in all initial states? None if the search ended early.
    pub verdict: Option<bool>,
    /// What shows it, in the handles of the store. If the formula is false: for the first initial state where it is.
    /// If it is true, for the first initial state, provided that a path can show it. None also if the budget ended the
    /// search for evidence or the store was full.
    pub evidence: Option<Evidence<T>>,
    /// In how many initial states, or visible ones that they lead to, the formula was evaluated.
    pub starts: u64,
    /// Why the search ended before there was a verdict.
    pub ended: Option<Reason>,
    /// A transition or an initial state was met that ends in a fault, and led nowhere.
    pub met_fault: bool,
    /// What the search did until there was a verdict. The depth is the length of the longest stack.
    pub statistics: Statistics,
}

/// Checks whether a formula is true in every initial state. The store must be empty.
///
/// An initial state that is a fault is skipped; one that is transient stands for the visible states that it leads to.
/// See the [module](self) for an example.
pub fn check<S, St>(
    space: &mut S,
    store: &mut St,
    formula: &Formula,
    options: &Options,
    budget: &Budget,
) -> Result<Report<S::Transition>, NotCtl>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    let start = Instant::now();
    let mut nodes = Nodes::default();
    let root = nodes.read(formula)?;
    let keep_lists = nodes.temporal() > 1;
    let kripke = Kripke::new(space, store, budget, options, keep_lists);
    let mut evaluator = Evaluator::new(kripke, nodes);
    let decision = decide(&mut evaluator, root).ok();
    let statistics = Statistics { complete: decision.is_some(), ..statistics(&evaluator) };
    let ended = evaluator.kripke.ended.take();
    let starts = decision.map_or(0, |decision| decision.starts);
    let evidence = decision.and_then(|decision| explain(&mut evaluator, formula, decision).ok().flatten());
    Ok(Report {
        verdict: decision.map(|decision| decision.verdict),
        evidence,
        starts,
        ended,
        met_fault: evaluator.kripke.met_fault,
        statistics: Statistics { time_s: start.elapsed().as_secs_f64(), ..statistics },
    })
}

/// The answer.
#[derive(Clone, Copy)]
struct Decision {
    verdict: bool,
    /// Where the formula is false; or the first state where it is true.
    origin: Option<Origin>,
    /// In how many states it was evaluated.
    starts: u64,
}

/// A visible state to begin in.
#[derive(Clone, Copy)]
struct Origin {
    /// The number of the initial state.
    index: usize,
    /// That state, if it is transient and only leads to this one.
    through: Option<Handle>,
    state: u32,
}

/// Evaluates the formula in the initial states.
fn decide<S, St>(evaluator: &mut Evaluator<'_, S, St>, formula: Id) -> Result<Decision, Terminated>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    let mut origins = Origins { first: None, last: None, is_one: true, count: 0 };
    for index in 0.. {
        evaluator.report_if_due()?;
        let Some(start) = evaluator.kripke.initial(index)? else { break };
        let verdict = match start {
            Start::Fault => true,
            Start::Visible(state) => {
                origins.add(Origin { index, through: None, state });
                evaluator.evaluate(formula, state)?
            }
            Start::Transient(through) => {
                let mut list = evaluator.kripke.open_transient(through)?;
                let mut verdict = true;
                while verdict && let Some(state) = evaluator.kripke.advance(&mut list) {
                    origins.add(Origin { index, through: Some(through), state });
                    verdict = evaluator.evaluate(formula, state)?;
                }
                evaluator.kripke.close(list);
                verdict
            }
        };
        if !verdict {
            return Ok(Decision { verdict, origin: origins.last, starts: origins.count() });
        }
    }
    Ok(Decision { verdict: true, origin: origins.first, starts: origins.count() })
}

/// Where the formula was evaluated.
struct Origins {
    first: Option<Origin>,
    last: Option<Origin>,
    /// All were the same state.
    is_one: bool,
    count: u64,
}

impl Origins {
    fn add(&mut self, origin: Origin) {
        self.is_one &= self.last.is_none_or(|last| last.state == origin.state);
        self.last = Some(origin);
        self.first = self.first.or(self.last);
        self.count += 1;
    }

    fn count(&self) -> u64 {
        if self.is_one { self.count.min(1) } else { self.count }
    }
}

/// What shows the answer.
fn explain<S, St>(
    evaluator: &mut Evaluator<'_, S, St>,
    formula: &Formula,
    Decision { verdict, origin, .. }: Decision,
) -> Result<Option<Evidence<S::Transition>>, Terminated>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    let Some(Origin { index, through, state }) = origin else { return Ok(None) };
    let mut explainer = Explainer::new(evaluator);
    let evidence = match explainer.explain(formula, state)? {
        Some(evidence) => evidence,
        None if verdict => return Ok(None),
        None => explainer.bare(formula, verdict, state),
    };
    let evidence = match through {
        Some(transient) => explainer.lead_in(transient, state, evidence)?,
        None => evidence,
    };
    Ok(Some(Evidence { start: index, ..evidence }))
}

/// What was done so far.
fn statistics<S, St>(evaluator: &Evaluator<'_, S, St>) -> Statistics
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    let store = evaluator.kripke.store();
    Statistics {
        memory_bytes: (evaluator.kripke.bytes() + evaluator.held()) as u64,
        store_bytes: store.bytes() as u64,
        state_bytes: store.state_bytes() as u64,
        counts_transitions: true,
        counts_depth: true,
        ..evaluator.kripke.statistics.clone()
    }
}
