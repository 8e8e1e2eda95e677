//! Checking by decision diagrams: all questions about a model in one session, since they share its diagrams.
//!
//! The work is done by a thread of its own with a deep stack; the calling thread tells the observer how it goes, and
//! tells the worker when to end. Sizes of variables and the number of processes are guessed from a sample of states
//! (unless the language declares them), and after the search it is looked whether a state was met that does not fit: if
//! so, everything starts again with more room. Nothing is ever cut off silently.

mod answers;
mod fair;
mod session;
mod turns;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::BigUint;
pub use crate::partial::Variant;
pub use crate::reach::Method;
use ample_model::{Expr, Observer, Outcome, Progress, Property, Question, Reason, Scope, Statistics, System};

use ample_engine::engine::{Engine, Task};
use ample_engine::justice;
use ample_engine::report::{Answer, Cut, DiagramStatistics, Report};
use ample_engine::settings::Settings;

/// How the symbolic engine works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbolic {
    /// How the reachable states are found; `None`: they are not, and formulas are evaluated over all states.
    pub reach: Reach,
    /// Which way formulas are evaluated.
    pub direction: Direction,
    /// Safe steps of single processes first.
    pub exploration: Option<Exploration>,
    /// What a reduced set of states must preserve, when states are only counted.
    pub preserve: Preserve,
    /// Variables are moved when the diagrams have grown.
    pub reorder: Reorder,
    /// Endless runs are looked for as for states that are met again.
    pub liveness_to_safety: bool,
    /// Which diagrams hold the markings of a Petri net.
    pub diagrams: DiagramKind,
}

/// How the symbolic engine works, and what it is told like all others.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all engines are told.
    pub settings: Settings,
    /// How it works.
    pub symbolic: Symbolic,
}

/// Which diagrams hold the markings of a Petri net. Other models have binary ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiagramKind {
    /// List decision diagrams, with a level for each place.
    #[default]
    Lists,
    /// Binary decision diagrams, over variables each of which stands for places that share one token.
    Binary,
}

/// Whether variables may be moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// When the diagrams have grown much.
    #[default]
    Auto,
    /// Never: they stay as the first guess put them.
    Never,
}

/// How the reachable states are found before formulas are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// By saturation.
    #[default]
    Auto,
    /// In that way.
    By(Method),
    /// Not at all, if the model does not need it.
    Not,
}

/// Which way formulas are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The one that suits.
    #[default]
    Auto,
    /// From where they hold, back to the initial states.
    Backward,
    /// From the initial states on.
    Forward,
}

/// Which states a process may expand by its safe steps alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// Partial exploration in one of its variants.
    Partial(Variant),
    /// As ImProviso does it: reachable states only.
    ImProviso,
    /// As AReduce does it: reachable states only.
    AReduce,
    /// Once and for all, before the search: reachable states only.
    Static,
}

/// What a reduced set of states preserves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preserve {
    /// Deadlocks.
    Deadlocks,
    /// LTL without X.
    Ltl,
    /// CTL without X.
    #[default]
    Ctl,
}

/// How often the observer is told.
const TELL_EVERY: Duration = Duration::from_millis(10);
/// Recursion goes as deep as there are variables.
const STACK: usize = 512 << 20;

/// What the two threads tell each other.
struct Supervisor {
    stop: Arc<AtomicBool>,
    images: AtomicU64,
    nodes: AtomicU64,
    left: Mutex<Left>,
}

/// What is known of a search that does not come to its end.
#[derive(Clone, Debug, Default)]
struct Left {
    /// The states so far, as they were counted last, and the nodes of their set.
    states: Option<(BigUint, usize)>,
    diagrams: DiagramStatistics,
    /// The shape that was solved last.
    shape: Option<String>,
}

impl Supervisor {
    fn new() -> Supervisor {
        let stop = Arc::new(AtomicBool::new(false));
        Supervisor { stop, images: AtomicU64::new(0), nodes: AtomicU64::new(0), left: Mutex::default() }
    }

    fn shapes(&self, find: &Shapes<'_>) -> Vec<Shape> {
        find(&|| self.stop.load(Ordering::Relaxed))
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
pub struct Shape {
    /// With the edges of the system itself, each under its own number, and as many initial states.
    pub system: System,
    /// What the system's global variables, which have one cell each, are in this one.
    pub values: Vec<Expr>,
    /// Its variables are as wide as their types say; otherwise that is found out.
    pub is_declared: bool,
    /// It stands for the system only if none of its assertions can be broken.
    pub is_promised: bool,
    /// What it is, for a report.
    pub told: String,
}

impl Shape {
    /// A condition on the system as one on this shape.
    fn condition(&self, expr: &Expr) -> Expr {
        let inner = |expr: &Expr| Box::new(self.condition(expr));
        match expr {
            Expr::Read(cell) if cell.scope == Scope::Global => match self.values.get(cell.variable.index()) {
                Some(value) => value.clone(),
                None => expr.clone(),
            },
            Expr::Unary(op, x) => Expr::Unary(*op, inner(x)),
            Expr::Binary(op, x, y) => Expr::Binary(*op, inner(x), inner(y)),
            Expr::Cast(scalar, x) => Expr::Cast(*scalar, inner(x)),
            Expr::Shared(x) => self.condition(x),
            Expr::Conditional(c, x, y) => Expr::Conditional(inner(c), inner(x), inner(y)),
            // What is left speaks of processes, and these are the same.
            _ => expr.clone(),
        }
    }
}

/// Finds the shapes in which a system may be solved, the best first, until it is told to stop.
pub type Shapes<'a> = dyn Fn(&dyn Fn() -> bool) -> Vec<Shape> + Sync + 'a;

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Result<(), String> {
        let question = &task.properties[number].question;
        let why = match question {
            Question::Never(_) => Some(answers::NO_CLAIMS),
            Question::Automaton(_) => Some(answers::NO_AUTOMATA),
            Question::Ctl(temporal) if task.system.dead_ends && temporal.formula.has_next() => Some(answers::NO_NEXT),
            question => justice::refusal(question, &task.settings.justice),
        };
        why.map_or(Ok(()), |why| Err(why.into()))
    }

    fn check(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report {
        let options = Options { settings: task.settings.clone(), symbolic: *self };
        check(task.system, task.properties, &options, observer)
    }

    fn count(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report {
        let options = Options { settings: task.settings.clone(), symbolic: *self };
        states(task.system, &options, observer)
    }
}

/// Checks properties.
pub fn check(system: &System, properties: &[Property], options: &Options, observer: &mut dyn Observer) -> Report {
    check_in(&|_| Vec::new(), system, properties, options, observer)
}

/// Checks properties of a system that is solved in another shape.
pub fn check_in(
    shapes: &Shapes<'_>,
    system: &System,
    properties: &[Property],
    options: &Options,
    observer: &mut dyn Observer,
) -> Report {
    supervised(system, observer, &|supervisor| {
        answers::all(system, &supervisor.shapes(shapes), properties, options, supervisor)
    })
}

/// Counts the states.
pub fn states(system: &System, options: &Options, observer: &mut dyn Observer) -> Report {
    states_in(&|_| Vec::new(), system, options, observer)
}

/// Counts the states of a system that is solved in another shape.
pub fn states_in(shapes: &Shapes<'_>, system: &System, options: &Options, observer: &mut dyn Observer) -> Report {
    supervised(system, observer, &|supervisor| answers::count(system, &supervisor.shapes(shapes), options, supervisor))
}

/// What a session comes to.
struct Done {
    answers: Vec<Answer>,
    /// Why it ended early.
    interruption: Option<Interruption>,
    statistics: Statistics,
    diagrams: DiagramStatistics,
    reduction: Option<String>,
    /// The run-time errors that were met.
    cut: Option<Cut>,
}

/// Why a session has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Interruption {
    /// It was asked to end.
    Asked,
    /// It was another one's turn.
    Late,
    /// The diagrams do not fit into the memory.
    Memory,
    /// The system cannot be encoded.
    Unsupported(String),
}

/// Runs the work in a thread of its own.
fn supervised(system: &System, observer: &mut dyn Observer, work: &(dyn Fn(&Supervisor) -> Done + Sync)) -> Report {
    let begun = Instant::now();
    let supervisor = Supervisor::new();
    let (sender, receiver) = mpsc::channel();
    let mut reason = None;
    let done = std::thread::scope(|scope| {
        let supervisor = &supervisor;
        let worker =
            std::thread::Builder::new().name("symbolic".into()).stack_size(STACK).spawn_scoped(scope, move || {
                // Nobody waits for it if the other side is gone.
                let _ = sender.send(work(supervisor));
            });
        if let Err(error) = worker {
            return Err(format!("no thread for the symbolic engine: {error}"));
        }
        loop {
            match receiver.recv_timeout(TELL_EVERY) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => {
                    let nodes = supervisor.nodes.load(Ordering::Relaxed);
                    let depth = supervisor.images.load(Ordering::Relaxed);
                    let progress =
                        Progress { depth, nodes, memory: nodes * session::NODE_BYTES, ..Progress::default() };
                    if reason.is_none() {
                        reason = observer.progress(&progress);
                    }
                    if reason.is_some() {
                        supervisor.stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err("the symbolic engine has failed".into()),
            }
        }
    });
    let done = done.unwrap_or_else(|why| Done {
        answers: Vec::new(),
        interruption: Some(Interruption::Unsupported(why)),
        statistics: Statistics::default(),
        diagrams: DiagramStatistics::default(),
        reduction: None,
        cut: None,
    });
    let left = supervisor.left();
    let report = report(system, with_what_is_left(done, &left), reason, begun.elapsed());
    Report { choice: left.shape.clone(), ..report }
}

/// A search that did not come to its end has reached something.
fn with_what_is_left(mut done: Done, left: &Left) -> Done {
    if done.interruption.is_none() || done.statistics.states > 0 {
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

fn report(system: &System, done: Done, asked: Option<Reason>, took: Duration) -> Report {
    let ended = done.interruption.map(|interruption| match interruption {
        Interruption::Asked | Interruption::Late => asked.unwrap_or(Reason::Interrupted),
        Interruption::Memory => Reason::Memory,
        Interruption::Unsupported(why) => Reason::Unsupported(why),
    });
    let mut answers = done.answers;
    for answer in &mut answers {
        // The worker does not know why it was asked to end.
        if answer.outcome == Outcome::Unknown(Reason::Interrupted) {
            answer.outcome = Outcome::Unknown(ended.clone().unwrap_or(Reason::Interrupted));
        }
    }
    let statistics = Statistics { time_s: took.as_secs_f64(), complete: ended.is_none(), ..done.statistics };
    let (reduction, diagrams, cut) = (done.reduction, Some(done.diagrams), done.cut);
    Report { answers, ended, statistics, reduction, diagrams, cut, ..Report::of(system) }
}
