//! Checking Petri nets.
//!
//! Properties are taken apart into `tasks`, and two workers find out about them side by side: one looks at single
//! markings (`explicit`), the other at all of them as a decision diagram (`diagrams`, in `rounds`). What one of them finds is on
//! the `board` for both, and the work ends when every answer follows from it. Runs are replayed by the reference
//! interpreter like those of any other model. Where binary diagrams are asked for, `binary` gives the net to the
//! symbolic engine for all models.

mod answers;
mod binary;
mod board;
mod constants;
mod deduction;
mod diagrams;
mod explanation;
mod explicit;
pub mod options;
mod rounds;
mod tasks;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::diagram::Method;
use crate::explicit::Limits;
use crate::explicit::search::count;
use crate::net::{Condition, Net};
use crate::structure::bounds;
use ample_budget::{Budget, Cancellation, Interrupted};
use ample_model::{Property, Question, Reason, Statistics, System};

use self::board::Board;
pub use self::options::{DiagramKind, PetriOptions};
use self::rounds::Linear;
use self::tasks::{Answerable, Tasks};
use ample_engine::board::Board as Answers;
use ample_engine::engine::{Engine, Fit, Suits, Task};
use ample_engine::justice;
use ample_engine::registry::{Choice, Refusal};
use ample_engine::report::DiagramStatistics;
use ample_engine::report::{Answer, Report};
use ample_engine::settings::{Fairness, PartialOrder, Settings};
use ample_engine::workers::run_workers;
use ample_symbolic::engine::{Reach, Symbolic};

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// After so long it is looked, for twice as long, which conditions in formulas never change.
const FIRST_ATTEMPT: Duration = Duration::from_millis(1500);
/// Counting starts with single markings, and for so long with them alone.
const HEAD_START: Duration = Duration::from_millis(300);

/// When markings are counted, bounds of places are looked for that long.
const FOR_BOUNDS: Duration = Duration::from_secs(2);

/// So long a formula of linear time is checked on single markings alone.
const BEFORE_PRODUCTS: Duration = Duration::from_secs(2);

/// Who looks at a net.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workers {
    /// All of them, side by side.
    #[default]
    All,
    /// Those that look at single markings.
    Explicit,
    /// The one with decision diagrams.
    Symbolic,
}

/// How a net is checked, and what the engine is told like all others.
#[derive(Clone, Debug, Default)]
struct Options {
    /// What all engines are told.
    settings: Settings,
    /// Who looks at the net.
    workers: Workers,
    /// How nets are checked.
    petri: PetriOptions,
    /// How diagrams are made.
    symbolic: Symbolic,
}

impl Options {
    /// Orders of independent steps may be left out.
    fn reduces(&self) -> bool {
        self.settings.partial_order != PartialOrder::None
    }
}

/// The engine for Petri nets.
pub struct Petri {
    /// The net.
    pub net: Net,
    /// Who looks at the net.
    pub workers: Workers,
    /// How nets are checked.
    pub options: PetriOptions,
    /// How diagrams are made.
    pub symbolic: Symbolic,
}

impl Petri {
    /// Its name, which is also that of all its workers together.
    pub const NAME: &'static str = "petri";
    /// On a net it is also the engine of these names, with a part of its workers.
    pub const STANDS_FOR: &'static [&'static str] = &["explicit", "symbolic"];

    /// For the net that a system is, if it is one and is to be checked as one: nets know neither fairness nor depth.
    pub fn of(system: &System, settings: &Settings, budget: &Budget) -> Result<Option<Petri>, Interrupted> {
        let is_plain = settings.fairness == Fairness::None && settings.max_depth.is_none();
        let net = if is_plain { Net::within(system, budget)? } else { None };
        let (workers, symbolic) = (Workers::default(), Symbolic::default());
        Ok(net.map(|net| Petri { net, workers, symbolic, options: PetriOptions::default() }))
    }

    /// The engine for a task, under one of its names.
    pub fn engine(
        options: PetriOptions,
        symbolic: Symbolic,
        task: &Task<'_>,
        choice: Choice,
        budget: &Budget,
    ) -> Result<Box<dyn Engine>, Refusal> {
        let workers = match choice {
            Choice::Named("explicit") => Workers::Explicit,
            Choice::Named("symbolic") => Workers::Symbolic,
            Choice::Auto | Choice::Named(_) => Workers::All,
        };
        let is_automaton = |property: &Property| matches!(property.question, Question::Automaton(_));
        // Automata are for the search for all models.
        if workers != Workers::Symbolic && task.properties.iter().any(is_automaton) {
            return Err(Refusal::Unsuitable(tasks::NO_AUTOMATA.to_owned()));
        }
        match Petri::of(task.system, task.settings, budget)? {
            Some(petri) => Ok(Box::new(Petri { workers, options, symbolic, ..petri })),
            None => Err(Refusal::Unsuitable(NO_NET.to_owned())),
        }
    }

    fn options(&self, settings: &Settings) -> Options {
        let Petri { workers, options: petri, symbolic, .. } = *self;
        Options { settings: settings.clone(), workers, petri, symbolic }
    }
}

/// Why another engine is needed.
const NO_NET: &str = "the engine for Petri nets takes nets only, without fairness and without a limit of depth; `--engine \
                      auto` checks all models";

impl Engine for Petri {
    fn name(&self) -> &'static str {
        match self.workers {
            Workers::All => Petri::NAME,
            Workers::Explicit => "explicit",
            Workers::Symbolic => "symbolic",
        }
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        let why = match &task.properties[number].question {
            Question::Never(_) => Some("a net has no never claim".to_owned()),
            Question::Automaton(_) => Some(tasks::NO_AUTOMATA.to_owned()),
            question => justice::refusal(question, &task.settings.justice).map(str::to_owned),
        };
        why.map_or(Ok(Fit::Made), Err)
    }

    fn threads(&self, _: &Task<'_>, budget: &Budget) -> usize {
        budget.threads()
    }

    fn check(&self, task: &Task<'_>, board: &Answers, budget: &Budget) -> Report {
        check(task.system, &self.net, task.properties, &self.options(task.settings), board, budget)
    }

    fn count(&self, task: &Task<'_>, budget: &Budget) -> Report {
        states(task.system, &self.net, &self.options(task.settings), budget)
    }
}

/// The memory that each of so many workers may take.
fn memory(budget: &Budget, workers: u64) -> u64 {
    budget.room().unwrap_or(DEFAULT_MEMORY) / 10 * 8 / workers
}

/// How diagrams are made.
fn method(options: &Options) -> Method {
    match options.symbolic.reach {
        Reach::Frontier | Reach::BreadthFirst => Method::Bfs,
        Reach::Chaining => Method::Chaining,
        Reach::Saturation | Reach::None => Method::Saturation,
    }
}

/// Binary decision diagrams are asked for.
fn is_binary(options: &Options) -> bool {
    options.workers == Workers::Symbolic && options.petri.diagrams == DiagramKind::Binary
}

/// Checks properties of a net: all of them as they are, and, if it turns out meanwhile that conditions in their formulas
/// never change, those that are left once more with what they come to then.
fn check(
    system: &System,
    net: &Net,
    properties: &[Property],
    options: &Options,
    answered: &Answers,
    budget: &Budget,
) -> Report {
    if is_binary(options) {
        return binary::check(system, net, properties, options, answered, budget);
    }
    let begun = Instant::now();
    let has_formulas = properties.iter().any(|one| matches!(one.question, Question::Ctl(_) | Question::Ltl(_)));
    let first = options.petri.first_slice.unwrap_or(FIRST_ATTEMPT);
    let most = budget.time_left().map_or(2 * first, |time| (time / 20).min(2 * first));
    let constants = has_formulas.then_some((first, most));
    let numbers: Vec<usize> = (0..properties.len()).collect();
    let mut all = attempt((system, net), (properties, &numbers), Tasks::new(net), options, constants, answered, budget);
    all.answers.iter().enumerate().for_each(|(number, answer)| answered.post(number, answer));
    if let Some(known) = all.constants.take()
        && !all.open.is_empty()
    {
        let left: Vec<Property> = all.open.iter().map(|number| properties[*number].clone()).collect();
        let tasks = Tasks::knowing(net, known);
        let mut rest = attempt((system, net), (&left, &all.open), tasks, options, None, answered, budget);
        for (number, answer) in all.open.iter().zip(rest.answers.drain(..)) {
            answered.post(*number, &answer);
            all.answers[*number] = answer;
        }
        all = Attempt { answers: all.answers, ..rest };
    }
    let statistics = Statistics { time_s: begun.elapsed().as_secs_f64(), ..all.statistics };
    report(system, all.answers, all.ended, statistics, all.diagrams)
}

/// After how long it is looked, beside everything else, which conditions never change, and for how long.
type WhenConstants = Option<(Duration, Duration)>;

/// What an attempt at some properties came to.
struct Attempt {
    answers: Vec<Answer>,
    /// The properties that have no answer, and might have one.
    open: Vec<usize>,
    /// Conditions in their formulas that never change, for which the attempt was given up.
    constants: Option<HashMap<Condition, bool>>,
    ended: Option<Reason>,
    statistics: Statistics,
    diagrams: Option<DiagramStatistics>,
}

fn attempt(
    (system, net): (&System, &Net),
    (properties, numbers): (&[Property], &[usize]),
    mut tasks: Tasks,
    options: &Options,
    constants: WhenConstants,
    answered: &Answers,
    budget: &Budget,
) -> Attempt {
    let add = |property: &Property| match budget.check() {
        Ok(()) => tasks.add(property),
        Err(interrupted) => Answerable::Ended(interrupted.into()),
    };
    let wanted: Vec<Answerable> = properties.iter().map(add).collect();
    let board = Board::new(&tasks, &wanted, budget);
    // What another engine has answered is left alone.
    let dismissing = board.dismissing(budget, numbers.iter().map(|number| answered.answered(&[*number])).collect());
    let (done, constants) = work_beside_constants(net, &board, options, constants, &dismissing);
    let answers = answers::all(system, net, properties, &board, done.reason.as_ref(), budget);
    let is_open = |wanted: &Answerable| match wanted {
        Answerable::Truth(wanted) => board.value(wanted).is_none(),
        Answerable::Value(task) => board.found(*task).is_none(),
        Answerable::Ended(_) => true,
        Answerable::Not(_) => false,
    };
    let open: Vec<usize> = (0..wanted.len()).filter(|number| is_open(&wanted[*number])).collect();
    let cut = wanted.iter().find_map(|wanted| match wanted {
        Answerable::Ended(reason) => Some(reason.clone()),
        _ => None,
    });
    let ended = (!open.is_empty()).then_some(cut.or(done.reason).unwrap_or(Reason::Interrupted));
    Attempt { answers, open, constants, ended, statistics: board.statistics(), diagrams: done.diagrams }
}

/// Works at all tasks. Beside that it is looked, after a while, which conditions never change; if there are some, the work
/// ends and they are given back.
fn work_beside_constants(
    net: &Net,
    board: &Board<'_>,
    options: &Options,
    constants: WhenConstants,
    budget: &Budget,
) -> (Ended, Option<HashMap<Condition, bool>>) {
    if board.is_complete() {
        return (Ended::default(), None);
    }
    let Some((after, most)) = constants else { return (work(net, board, options, budget), None) };
    let (over, given_up) = (Cancellation::new(), Cancellation::new());
    let done = Mutex::new((Ended::default(), None));
    run_workers(2, budget, |budget, number| {
        if number == 0 {
            let ended = work(net, board, options, &budget.clone().with_cancellation(&given_up));
            over.cancel();
            lock(&done).0 = ended;
            return;
        }
        let budget = board.until_complete(budget).with_cancellation(&over);
        let known = look_for_constants(net, board, (after, most), &budget);
        if !known.is_empty() && budget.check().is_ok() {
            lock(&done).1 = Some(known);
            given_up.cancel();
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Waits, and then looks which conditions never change.
fn look_for_constants(
    net: &Net,
    board: &Board<'_>,
    (after, most): (Duration, Duration),
    budget: &Budget,
) -> HashMap<Condition, bool> {
    while board.begun.elapsed() < after {
        if budget.check().is_err() {
            return HashMap::new();
        }
        std::thread::sleep(Duration::from_millis(2).min(after));
    }
    constants::constants(net, board.conditions(), most, budget)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the work ended.
#[derive(Default)]
struct Ended {
    reason: Option<Reason>,
    diagrams: Option<DiagramStatistics>,
}

fn work(net: &Net, board: &Board<'_>, options: &Options, budget: &Budget) -> Ended {
    let busy = Mutex::new(HashSet::new());
    let reduces = options.reduces();
    let explored = AtomicBool::new(false);
    let is_alone = budget.thread_limit() == Some(1) && options.workers != Workers::All;
    let worker = |from_behind, memory: u64| explicit::Worker {
        net,
        board,
        memory: memory as usize,
        reduces,
        busy: &busy,
        from_behind,
        explored: (!is_alone).then_some(&explored),
    };
    match options.workers {
        Workers::Explicit if is_alone => {
            Ended { reason: worker(false, memory(budget, 1)).work(budget), diagrams: None }
        }
        Workers::Explicit => {
            let memory = memory(budget, 2);
            let ended = Mutex::new(None);
            run_workers(2, budget, |budget, number| {
                let worker = worker(false, memory);
                let reason = if number == 0 { worker.work(budget) } else { worker.explore(budget) };
                if let Ok(mut ended) = ended.lock() {
                    *ended = ended.take().or(reason);
                }
            });
            Ended { reason: ended.into_inner().unwrap_or_default(), diagrams: None }
        }
        Workers::Symbolic => {
            let limits = (memory(budget, 1), method(options));
            let done = rounds::work(net, board, limits, Linear::All, options.petri.first_slice, budget);
            let reason = done.ended.or_else(|| Some(not_simplified()));
            Ended { reason, diagrams: Some(done.diagrams) }
        }
        Workers::All => {
            let memory = memory(budget, 3);
            let ended = Mutex::new(Ended::default());
            run_workers(3, budget, |budget, number| {
                let reason = if number == 0 {
                    worker(false, memory).work(budget)
                } else if number == 2 {
                    worker(false, memory).explore(budget)
                } else {
                    let diagrams = |linear: Linear| {
                        rounds::work(net, board, (memory, method(options)), linear, options.petri.first_slice, budget)
                    };
                    let mut done = diagrams(Linear::AsBranching);
                    if done.ended.is_none() && is_left_to_products(board, budget) {
                        done = diagrams(Linear::All);
                    }
                    if let Ok(mut ended) = ended.lock() {
                        ended.diagrams = Some(done.diagrams);
                    }
                    match done.ended {
                        // What diagrams cannot do, or not in the room that they have, is looked for in other ways.
                        None | Some(Reason::Memory | Reason::Unsupported(_)) => worker(true, memory).work(budget),
                        reason => reason,
                    }
                };
                if let Ok(mut ended) = ended.lock() {
                    ended.reason = ended.reason.take().or(reason);
                }
            });
            ended.into_inner().unwrap_or_default()
        }
    }
}

fn not_simplified() -> Reason {
    Reason::Internal("a condition was lost when the net was simplified".into())
}

/// What is left is one formula of linear time that the other workers have had some time for. A worker that looks at single
/// markings would have nothing to do, since somebody has that formula.
fn is_left_to_products(board: &Board<'_>, budget: &Budget) -> bool {
    while board.begun.elapsed() < BEFORE_PRODUCTS {
        if board.is_over() || board.open().len() > 1 || budget.check().is_err() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    !board.is_over() && matches!(board.open()[..], [task] if matches!(board.tasks.all[task], tasks::Task::Linear(_)))
}

/// Counts the markings of a net.
fn states(system: &System, net: &Net, options: &Options, budget: &Budget) -> Report {
    if is_binary(options) {
        return binary::states(system, net, options, budget);
    }
    let begun = Instant::now();
    let (tasks, wanted) = (Tasks::new(net), Vec::new());
    let board = Board::new(&tasks, &wanted, budget);
    let explicit = |memory: u64, budget: &Budget| {
        let known = bounds::bounds(net, &budget.clone().with_time(FOR_BOUNDS));
        let limits = Limits { bounds: &known, memory: memory as usize, ..Limits::default() };
        let counts = count(net, &limits, budget);
        (counts.statistics, counts.ended)
    };
    let symbolic = |memory: u64, budget: &Budget| {
        let limits = (memory, method(options));
        let done = rounds::work(net, &board, limits, Linear::All, options.petri.first_slice, budget);
        (board.statistics(), done.ended, done.diagrams)
    };
    let (statistics, ended, diagrams) = match options.workers {
        Workers::Explicit => {
            let (statistics, ended) = explicit(memory(budget, 1), budget);
            (statistics, ended, None)
        }
        Workers::Symbolic => {
            let (statistics, ended, diagrams) = symbolic(memory(budget, 1), budget);
            (statistics, ended, Some(diagrams))
        }
        Workers::All => {
            let memory = memory(budget, 2);
            let results: Mutex<[Option<Counted>; 2]> = Mutex::new([None, None]);
            let over = Cancellation::new();
            run_workers(2, &budget.clone().with_cancellation(&over), |budget, number| {
                let counted = if number == 0 {
                    let (statistics, ended) = explicit(memory, budget);
                    (statistics, ended, None)
                } else {
                    while begun.elapsed() < HEAD_START && budget.check().is_ok() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    if budget.check().is_err() {
                        return;
                    }
                    let (statistics, ended, diagrams) = symbolic(memory, budget);
                    (statistics, ended, Some(diagrams))
                };
                if counted.1.is_none() {
                    over.cancel();
                }
                if let Ok(mut results) = results.lock() {
                    results[number] = Some(counted);
                }
            });
            let mut results = results.into_inner().unwrap_or_default();
            let winner = results.iter().position(|counted| matches!(counted, Some((_, None, _)))).unwrap_or(0);
            results[winner].take().unwrap_or((Statistics::default(), Some(Reason::Interrupted), None))
        }
    };
    let statistics = Statistics { time_s: begun.elapsed().as_secs_f64(), complete: ended.is_none(), ..statistics };
    report(system, Vec::new(), ended, statistics, diagrams)
}

/// A count, why it is not complete, and the diagrams if it was done with them.
type Counted = (Statistics, Option<Reason>, Option<DiagramStatistics>);

fn report(
    system: &System,
    answers: Vec<Answer>,
    ended: Option<Reason>,
    statistics: Statistics,
    diagrams: Option<DiagramStatistics>,
) -> Report {
    Report { answers, ended, statistics, diagrams, ..Report::of(system) }
}
