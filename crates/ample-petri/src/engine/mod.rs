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
mod explicit;
mod rounds;
mod shown;
mod tasks;

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::diagram::Method;
use crate::explicit::Limits;
use crate::explicit::search::count;
use crate::net::{Condition, Net};
use crate::structure::bounds;
use ample_budget::Interrupted;
use ample_model::{Observer, Progress, Property, Question, Reason, Statistics, System};

use self::board::Board;
use self::rounds::Linear;
use self::tasks::{Answerable, Tasks};
use ample_engine::engine::{Engine, Task};
use ample_engine::justice;
use ample_engine::report::DiagramStatistics;
use ample_engine::report::{Answer, Report};
use ample_engine::settings::{Fairness, Settings};
use ample_engine::workers::run_workers;
use ample_symbolic::engine::{DiagramKind, Reach, Symbolic};

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// After so long it is looked, for twice as long, which conditions in formulas never change.
const FIRST_ATTEMPT: Duration = Duration::from_millis(1500);
/// Counting starts with single markings, and for so long with them alone.
const HEAD_START: Duration = Duration::from_millis(300);

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
pub struct Options {
    /// What all engines are told.
    pub settings: Settings,
    /// Who looks at the net.
    pub workers: Workers,
    /// Orders of independent steps may be left out.
    pub reduces: bool,
    /// How diagrams are made.
    pub symbolic: Symbolic,
    /// Methods that are tried in turn get so long at first; a moment if nobody says.
    pub first_turn: Option<Duration>,
}

/// The engine for Petri nets.
pub struct Petri {
    /// The net.
    pub net: Net,
    /// Who looks at the net.
    pub workers: Workers,
    /// Orders of independent steps may be left out.
    pub reduces: bool,
    /// How diagrams are made.
    pub symbolic: Symbolic,
    /// Methods that are tried in turn get so long at first; a moment if nobody says.
    pub first_turn: Option<Duration>,
}

impl Petri {
    /// For the net that a system is, if it is one and is to be checked as one: nets know neither fairness nor depth.
    pub fn of(system: &System, settings: &Settings) -> Result<Option<Petri>, Interrupted> {
        let is_plain = settings.fairness == Fairness::None && settings.max_depth.is_none();
        let net = if is_plain { Net::within(system, &settings.budget)? } else { None };
        let (workers, symbolic) = (Workers::default(), Symbolic::default());
        Ok(net.map(|net| Petri { net, workers, reduces: true, symbolic, first_turn: None }))
    }

    fn options(&self, settings: &Settings) -> Options {
        let Petri { workers, reduces, symbolic, first_turn, .. } = *self;
        Options { settings: settings.clone(), workers, reduces, symbolic, first_turn }
    }
}

impl Engine for Petri {
    fn name(&self) -> &'static str {
        match self.workers {
            Workers::All => "petri",
            Workers::Explicit => "explicit",
            Workers::Symbolic => "symbolic",
        }
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Result<(), String> {
        let why = match &task.properties[number].question {
            Question::Never(_) => Some("a net has no never claim".to_owned()),
            Question::Automaton(_) => Some(tasks::NO_AUTOMATA.to_owned()),
            question => justice::refusal(question, &task.settings.justice).map(str::to_owned),
        };
        why.map_or(Ok(()), Err)
    }

    fn check(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report {
        check(task.system, &self.net, task.properties, &self.options(task.settings), observer)
    }

    fn count(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report {
        states(task.system, &self.net, &self.options(task.settings), observer)
    }
}

/// The memory that each of so many workers may take.
fn memory(options: &Options, workers: u64) -> u64 {
    let used = ample_budget::resident_memory().unwrap_or(0);
    options.settings.memory_limit.unwrap_or(DEFAULT_MEMORY).saturating_sub(used) / 10 * 8 / workers
}

/// How diagrams are made.
fn method(options: &Options) -> Method {
    use ample_symbolic::reach::Method as Asked;
    match options.symbolic.reach {
        Reach::By(Asked::Frontier | Asked::Whole) => Method::Bfs,
        Reach::By(Asked::Chaining) => Method::Chaining,
        _ => Method::Saturation,
    }
}

/// Binary decision diagrams are asked for.
fn is_binary(options: &Options) -> bool {
    options.workers == Workers::Symbolic && options.symbolic.diagrams == DiagramKind::Binary
}

/// Checks properties of a net: all of them as they are, and, if it turns out meanwhile that conditions in their formulas
/// never change, those that are left once more with what they come to then.
pub fn check(
    system: &System,
    net: &Net,
    properties: &[Property],
    options: &Options,
    observer: &mut dyn Observer,
) -> Report {
    if is_binary(options) {
        return binary::check(system, net, properties, options, observer);
    }
    let begun = Instant::now();
    let deadline = options.settings.time.and_then(|time| begun.checked_add(time));
    let has_formulas = properties.iter().any(|one| matches!(one.question, Question::Ctl(_) | Question::Ltl(_)));
    let first = options.first_turn.unwrap_or(FIRST_ATTEMPT);
    let most = options.settings.time.map_or(2 * first, |time| (time / 20).min(2 * first));
    let times = Times { deadline, constants: has_formulas.then_some((first, most)) };
    let numbers: Vec<usize> = (0..properties.len()).collect();
    let mut all = attempt((system, net), (properties, &numbers), Tasks::new(net), options, times, observer);
    all.answers.iter().enumerate().for_each(|(number, answer)| options.settings.post(number, answer));
    if let Some(known) = all.constants.take()
        && !all.open.is_empty()
    {
        let left: Vec<Property> = all.open.iter().map(|number| properties[*number].clone()).collect();
        let times = Times { deadline, constants: None };
        let mut rest = attempt((system, net), (&left, &all.open), Tasks::knowing(net, known), options, times, observer);
        for (number, answer) in all.open.iter().zip(rest.answers.drain(..)) {
            all.answers[*number] = answer;
        }
        all = Attempt { answers: all.answers, ..rest };
    }
    let statistics = Statistics { time_s: begun.elapsed().as_secs_f64(), ..all.statistics };
    report(system, all.answers, all.ended, statistics, all.diagrams)
}

/// When what is done.
#[derive(Clone, Copy)]
struct Times {
    /// All of it ends.
    deadline: Option<Instant>,
    /// After how long it is looked, beside everything else, which conditions never change, and for how long.
    constants: Option<(Duration, Duration)>,
}

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
    times: Times,
    observer: &mut dyn Observer,
) -> Attempt {
    let add = |property: &Property| match options.settings.budget.check() {
        Ok(()) => tasks.add(property),
        Err(interrupted) => Answerable::Ended(interrupted.into()),
    };
    let wanted: Vec<Answerable> = properties.iter().map(add).collect();
    let board = Board::new(&tasks, &wanted, times.deadline);
    let mut dismissing = Dismissing { observer, board: &board, answered: options.settings.board.as_deref(), numbers };
    let (done, constants) = work_beside_constants(net, &board, options, times, &mut dismissing);
    let answers = answers::all(system, net, properties, &board, done.reason.as_ref(), observer);
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

/// Leaves alone what another engine has answered.
struct Dismissing<'a, 'b> {
    observer: &'a mut dyn Observer,
    board: &'a Board<'b>,
    answered: Option<&'a ample_engine::board::Board>,
    /// The numbers of the properties there.
    numbers: &'a [usize],
}

impl Observer for Dismissing<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        if let Some(answered) = self.answered {
            let settled = self.numbers.iter().enumerate().filter(|(_, number)| answered.is_answered(**number));
            settled.for_each(|(answer, _)| self.board.dismiss(answer));
        }
        self.observer.progress(progress)
    }
}

/// Works at all tasks. Beside that it is looked, after a while, which conditions never change; if there are some, the work
/// ends and they are given back.
fn work_beside_constants(
    net: &Net,
    board: &Board<'_>,
    options: &Options,
    times: Times,
    observer: &mut dyn Observer,
) -> (Ended, Option<HashMap<Condition, bool>>) {
    if board.is_settled() {
        return (Ended::default(), None);
    }
    let Some((after, most)) = times.constants else { return (work(net, board, options, observer), None) };
    let (over, given_up) = (AtomicBool::new(false), AtomicBool::new(false));
    let is_over = || over.load(Ordering::Relaxed) || board.is_over();
    std::thread::scope(|scope| {
        let finder = scope.spawn(|| {
            while board.begun.elapsed() < after {
                if is_over() {
                    return None;
                }
                std::thread::sleep(Duration::from_millis(2).min(after));
            }
            let known = constants::constants(net, board.conditions(), most, &is_over);
            if known.is_empty() || is_over() {
                return None;
            }
            given_up.store(true, Ordering::Relaxed);
            Some(known)
        });
        let done = work(net, board, options, &mut Until { observer, over: &given_up });
        over.store(true, Ordering::Relaxed);
        match finder.join() {
            Ok(known) => (done, known),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// How the work ended.
#[derive(Default)]
struct Ended {
    reason: Option<Reason>,
    diagrams: Option<DiagramStatistics>,
}

fn work(net: &Net, board: &Board<'_>, options: &Options, observer: &mut dyn Observer) -> Ended {
    let busy = Mutex::new(HashSet::new());
    let reduces = options.reduces;
    let explored = AtomicBool::new(false);
    let is_alone = options.settings.threads == Some(1) && options.workers != Workers::All;
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
            Ended { reason: worker(false, memory(options, 1)).work(observer), diagrams: None }
        }
        Workers::Explicit => {
            let memory = memory(options, 2);
            let ended = Mutex::new(None);
            run_workers(2, observer, |observer, number| {
                let worker = worker(false, memory);
                let reason = if number == 0 { worker.work(observer) } else { worker.explore(observer) };
                if let Ok(mut ended) = ended.lock() {
                    *ended = ended.take().or(reason);
                }
            });
            Ended { reason: ended.into_inner().unwrap_or_default(), diagrams: None }
        }
        Workers::Symbolic => {
            let limits = (memory(options, 1), method(options));
            let done = rounds::work(net, board, limits, Linear::All, options.first_turn, observer);
            let reason = done.ended.or_else(|| Some(not_simplified()));
            Ended { reason, diagrams: Some(done.diagrams) }
        }
        Workers::All => {
            let memory = memory(options, 3);
            let ended = Mutex::new(Ended::default());
            run_workers(3, observer, |observer, number| {
                let reason = if number == 0 {
                    worker(false, memory).work(observer)
                } else if number == 2 {
                    worker(false, memory).explore(observer)
                } else {
                    let diagrams = |linear: Linear, observer: &mut dyn Observer| {
                        rounds::work(net, board, (memory, method(options)), linear, options.first_turn, observer)
                    };
                    let mut done = diagrams(Linear::AsBranching, observer);
                    if done.ended.is_none() && is_left_to_products(board, observer) {
                        done = diagrams(Linear::All, observer);
                    }
                    if let Ok(mut ended) = ended.lock() {
                        ended.diagrams = Some(done.diagrams);
                    }
                    match done.ended {
                        // What diagrams cannot do, or not in the room that they have, is looked for in other ways.
                        None | Some(Reason::Memory | Reason::Unsupported(_)) => worker(true, memory).work(observer),
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
    Reason::Unsupported("internal error: a condition was lost when the net was simplified".into())
}

/// What is left is one formula of linear time that the other workers have had some time for. A worker that looks at single
/// markings would have nothing to do, since somebody has that formula.
fn is_left_to_products(board: &Board<'_>, observer: &mut dyn Observer) -> bool {
    while board.begun.elapsed() < BEFORE_PRODUCTS {
        if board.is_over() || board.open().len() > 1 || observer.progress(&Progress::default()).is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    !board.is_over() && matches!(board.open()[..], [task] if matches!(board.tasks.all[task], tasks::Task::Linear(_)))
}

/// Counts the markings of a net.
pub fn states(system: &System, net: &Net, options: &Options, observer: &mut dyn Observer) -> Report {
    if is_binary(options) {
        return binary::states(system, net, options, observer);
    }
    let begun = Instant::now();
    let (tasks, wanted) = (Tasks::new(net), Vec::new());
    let board = Board::new(&tasks, &wanted, None);
    let explicit = |memory: u64, over: &AtomicBool, observer: &mut dyn Observer| {
        let until = begun + Duration::from_secs(2);
        let known = bounds::bounds(net, &|| over.load(Ordering::Relaxed) || Instant::now() >= until);
        let limits = Limits { bounds: &known, memory: memory as usize, ..Limits::default() };
        let counts = count(net, &limits, &mut Until { observer, over });
        (counts.statistics, counts.ended)
    };
    let symbolic = |memory: u64, over: &AtomicBool, observer: &mut dyn Observer| {
        let done = rounds::work(
            net,
            &board,
            (memory, method(options)),
            Linear::All,
            options.first_turn,
            &mut Until { observer, over },
        );
        (board.statistics(), done.ended, done.diagrams)
    };
    let never = AtomicBool::new(false);
    let (statistics, ended, diagrams) = match options.workers {
        Workers::Explicit => {
            let (statistics, ended) = explicit(memory(options, 1), &never, observer);
            (statistics, ended, None)
        }
        Workers::Symbolic => {
            let (statistics, ended, diagrams) = symbolic(memory(options, 1), &never, observer);
            (statistics, ended, Some(diagrams))
        }
        Workers::All => {
            let memory = memory(options, 2);
            let results: Mutex<[Option<Counted>; 2]> = Mutex::new([None, None]);
            let over = AtomicBool::new(false);
            run_workers(2, observer, |observer, number| {
                let counted = if number == 0 {
                    let (statistics, ended) = explicit(memory, &over, observer);
                    (statistics, ended, None)
                } else {
                    while begun.elapsed() < HEAD_START && !over.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let (statistics, ended, diagrams) = symbolic(memory, &over, observer);
                    (statistics, ended, Some(diagrams))
                };
                if counted.1.is_none() {
                    over.store(true, Ordering::Relaxed);
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

/// Ends a search that is of no use any more.
struct Until<'a> {
    observer: &'a mut dyn Observer,
    over: &'a AtomicBool,
}

impl Observer for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let over = self.over.load(Ordering::Relaxed).then_some(Reason::Interrupted);
        self.observer.progress(progress).or(over)
    }
}

fn report(
    system: &System,
    answers: Vec<Answer>,
    ended: Option<Reason>,
    statistics: Statistics,
    diagrams: Option<DiagramStatistics>,
) -> Report {
    Report { answers, ended, statistics, diagrams, ..Report::of(system) }
}
