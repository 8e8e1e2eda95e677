//! Checking by SAT solving: all questions about a model in one session.
//!
//! How large variables get is estimated from a sample of states, as in the symbolic engine. A state with a step whose
//! outcome does not fit is looked for like a violation; if one is reached, the model is encoded again with more room, and
//! the search goes on at the same bound. So nothing is ever cut off silently.

mod answers;
pub mod options;
pub(crate) mod session;
mod unit;

use std::time::Instant;

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Fit, Suits, Task, knows};
use ample_engine::justice;
use ample_engine::report::Report;
use ample_engine::workers::with_deep_stack;
use ample_model::{Feature, Question, Reason, Statistics};

pub use crate::solver::SolverKind;
pub use options::{Bounded, Liveness, Method};

/// Its name.
pub(crate) const ENGINE: &str = "bounded";

/// Of states.
const NO_COUNT: &str = "the bounded engine does not count states; `--engine explicit` and `--engine symbolic` do";

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        ENGINE
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Synchronous]
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        knows(self, task.system)?;
        let question = &task.properties[number].question;
        let why = match question {
            Question::Deadlock
            | Question::Assertions
            | Question::Invariant(_)
            | Question::Ltl(_)
            | Question::Automaton(_)
            | Question::Acceptance
            | Question::Progress => None,
            Question::Ctl(_) => Some("the bounded engine does not check CTL; `--engine symbolic` does"),
            Question::Bound(_) => Some("the bounded engine does not look for largest values; `--engine symbolic` does"),
            Question::Distance(_) => Some("the bounded engine does not compute distances; `--engine symbolic` does"),
            Question::Never(_) => Some("the bounded engine does not run never claims; `--engine explicit` does"),
        };
        let why = why.or_else(|| justice::refusal(question, &task.settings.justice));
        // Inputs, of which synchronous systems have many, cost a bit each.
        let fit = if task.system.synchronous().is_some() { Fit::Made } else { Fit::Possible };
        why.map_or(Ok(fit), |why| Err(why.into()))
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        let begun = Instant::now();
        let done = with_deep_stack(ENGINE, || answers::all(self, task, board, budget));
        let mut report = done.unwrap_or_else(|why| Report::unfinished(task.system, Vec::new(), why));
        report.statistics.time_s = begun.elapsed().as_secs_f64();
        report
    }

    fn counts(&self) -> Result<(), String> {
        Err(NO_COUNT.into())
    }

    fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
        let report = Report::unfinished(task.system, Vec::new(), Reason::Unsupported(NO_COUNT.into()));
        Report { statistics: Statistics::default(), ..report }
    }
}
