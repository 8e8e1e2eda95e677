//! Checking by decision diagrams: all questions about a model in one session, since they share its diagrams.
//!
//! The work is done by a thread with a deep stack. Sizes of variables and the number of processes are guessed from a sample of states
//! (unless the language declares them), and after the search it is looked whether a state was met that does not fit: if
//! so, everything starts again with more room. Nothing is ever cut off silently.

mod answers;
mod fair;
mod joint;
pub mod modular;
pub mod options;
mod session;
mod turns;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::BigUint;
pub use crate::partial::Variant;
pub use crate::reach::Method;
use ample_budget::{Budget, Progress};
use ample_model::visit::{Folder, Made, fold_expr};
use ample_model::{Expr, Feature, Property, Question, Reason, Scope, Shared, StartNumber, Statistics, System};
pub use options::{Direction, Exploration, Options, Preserve, Reach, StepRelations, Symbolic};

use ample_engine::board::Board;
use ample_engine::engine::{Engine, Fit, Suits, Task, knows};
use ample_engine::justice;
use ample_engine::report::{Answer, Cut, DiagramStatistics, Report};
use ample_engine::workers::with_deep_stack;

/// What is noted while a session goes on.
#[derive(Default)]
struct Notes {
    /// Images so far: what depth is to a search over sets.
    images: Arc<AtomicU64>,
    left: Mutex<Left>,
}

/// What is known of a search that does not come to its end.
#[derive(Clone, Debug, Default)]
struct Left {
    /// The states so far, as they were counted last, and the nodes of their set.
    states: Option<(BigUint, usize)>,
    diagrams: DiagramStatistics,
    /// The encoding that was solved last.
    alternative: Option<String>,
}

impl Notes {
    /// The budget of a session, whose progress is told with its images.
    fn counting_images(&self, budget: &Budget) -> Budget {
        let (images, whole) = (Arc::clone(&self.images), budget.clone());
        budget.clone().without_sinks().with_sink(move |progress| {
            whole.tell(&Progress { depth: images.load(Ordering::Relaxed), ..*progress });
        })
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many states so far.
    fn so_far(&self, states: BigUint, nodes: usize) {
        self.left().states = Some((states, nodes));
    }

    /// The diagrams, as they are when it ends.
    fn leave(&self, diagrams: DiagramStatistics) {
        self.left().diagrams = diagrams;
    }
}

/// The states, as statistics.
fn counted(states: &BigUint) -> Statistics {
    let few = u64::try_from(states);
    Statistics {
        states: few.unwrap_or(u64::MAX),
        many_states: few.is_err().then(|| states.to_string()),
        complete: true,
        ..Statistics::default()
    }
}

/// A system over other variables that has the same moves: what is found out about it is told of the system itself.
pub struct AlternativeEncoding {
    /// With the edges of the system itself, each under its own number.
    pub system: System,
    /// What the system's global variables, which have one cell each, are in this one.
    pub values: Vec<Expr>,
    /// Its variables are as wide as their types say; otherwise that is found out.
    pub is_declared: bool,
    /// It stands for the system only if none of its assertions can be broken.
    pub is_promised: bool,
    /// It has one initial state, which is that one of the system's; otherwise as many as the system.
    pub start: Option<StartNumber>,
    /// What it is, for a report.
    pub description: String,
}

impl AlternativeEncoding {
    /// A condition on the system as one in this encoding.
    fn condition(&self, expr: &Expr) -> Expr {
        Encoded { values: &self.values, made: Made::default() }.expr(expr)
    }
}

/// Variables become what they are in this encoding; processes are the same.
struct Encoded<'a> {
    values: &'a [Expr],
    made: Made,
}

impl Folder for Encoded<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Read(cell) if cell.scope == Scope::Global => {
                self.values.get(cell.variable.index()).unwrap_or(expr).clone()
            }
            _ => fold_expr(self, expr),
        }
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        self.made.get(shared).unwrap_or_else(|| {
            let made = self.expr(shared);
            self.made.keep(shared, made)
        })
    }
}

/// Finds the encodings in which a system may be solved, the best first, within a budget.
pub type Alternatives<'a> = dyn Fn(&Budget) -> Vec<AlternativeEncoding> + Sync + 'a;

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn features(&self) -> &'static [Feature] {
        &[Feature::Synchronous]
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        knows(self, task.system)?;
        let question = &task.properties[number].question;
        let why = match question {
            Question::Never(_) => Some(answers::NO_CLAIMS),
            Question::Automaton(_) => Some(answers::NO_AUTOMATA),
            Question::Ctl(temporal) if task.system.dead_ends && temporal.formula.has_next() => Some(answers::NO_NEXT),
            question => justice::refusal(question, &task.settings.justice),
        };
        let fit = if matches!(question, Question::Ctl(_)) { Fit::Made } else { Fit::Well };
        why.map_or(Ok(fit), |why| Err(why.into()))
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        let options = Options { settings: task.settings.clone(), symbolic: *self };
        check(task.system, task.properties, &options, board, budget)
    }

    fn count(&self, task: &Task<'_>, budget: &Budget) -> Report {
        let options = Options { settings: task.settings.clone(), symbolic: *self };
        states(task.system, &options, budget)
    }
}

/// Checks properties.
pub fn check(system: &System, properties: &[Property], options: &Options, board: &Board, budget: &Budget) -> Report {
    check_in(&|_| Vec::new(), system, properties, options, board, budget)
}

/// Checks properties of a system that is solved in another encoding.
pub fn check_in(
    alternatives: &Alternatives<'_>,
    system: &System,
    properties: &[Property],
    options: &Options,
    board: &Board,
    budget: &Budget,
) -> Report {
    session(system, budget, &|budget, notes| {
        answers::all(system, &alternatives(budget), properties, options, board, (budget, notes))
    })
}

/// Counts the states.
pub fn states(system: &System, options: &Options, budget: &Budget) -> Report {
    states_in(&|_| Vec::new(), system, options, budget)
}

/// Counts the states of a system that is solved in another encoding.
pub fn states_in(alternatives: &Alternatives<'_>, system: &System, options: &Options, budget: &Budget) -> Report {
    session(system, budget, &|budget, notes| answers::count(system, &alternatives(budget), options, (budget, notes)))
}

/// What a session comes to.
struct Done {
    answers: Vec<Answer>,
    /// Why it ended early.
    ended: Option<Reason>,
    statistics: Statistics,
    diagrams: DiagramStatistics,
    reduction: Option<String>,
    /// The run-time errors that were met.
    cut: Option<Cut>,
}

/// Runs the work in a thread with a deep stack.
fn session(system: &System, budget: &Budget, work: &(dyn Fn(&Budget, &Notes) -> Done + Sync)) -> Report {
    let begun = Instant::now();
    let notes = Notes::default();
    let budget = notes.counting_images(budget);
    let done = with_deep_stack("symbolic", || work(&budget, &notes)).unwrap_or_else(|why| Done {
        answers: Vec::new(),
        ended: Some(why),
        statistics: Statistics::default(),
        diagrams: DiagramStatistics::default(),
        reduction: None,
        cut: None,
    });
    let left = notes.left();
    let report = report(system, with_what_is_left(done, &left), begun.elapsed());
    Report { choice: left.alternative.clone(), ..report }
}

/// A search that did not come to its end has reached something.
fn with_what_is_left(mut done: Done, left: &Left) -> Done {
    if done.ended.is_none() || done.statistics.states > 0 {
        return done;
    }
    if done.diagrams.bits == 0 {
        done.diagrams = left.diagrams.clone();
    }
    if let Some((states, nodes)) = &left.states {
        done.statistics = counted(states);
        done.diagrams.reached_nodes = *nodes;
    }
    done
}

fn report(system: &System, done: Done, took: Duration) -> Report {
    let Done { answers, ended, statistics, diagrams, reduction, cut } = done;
    let statistics = Statistics { time_s: took.as_secs_f64(), complete: ended.is_none(), ..statistics };
    Report { answers, ended, statistics, reduction, diagrams: Some(diagrams), cut, ..Report::of(system) }
}
