//! The searches that answer properties: one for all safety properties together, one for each of the others.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::{EXPLICIT, Engine, Fit, Suits, Task, knows};
use ample_engine::evidence::{one_of_starts, without_run};
use ample_engine::faults::{Fallible, Survey};
use ample_engine::justice;
use ample_engine::report::{Answer, Cut, Report, ValidOutcome, Verdict};
use ample_engine::settings::{Fairness, Settings, UnreachedCode};
use ample_engine::temporal::ClaimAutomaton;
use ample_engine::temporal::claim::Acting;
use ample_engine::unreached::{Unreached, unreached};
use ample_engine::workers::run_workers;
use ample_logic::{Acceptance, StutterError, TranslateError};
use ample_model::{
    Action, Certainty, Edge, EdgeId, Evidence, Expr, Feature, Instruction, Interrupted, ProcessId, Property,
    PropertyAutomaton, Question, Reason, Statistics, System, Temporal,
};

use super::automaton::{NoAutomaton, automaton, negation};
use super::branching::look_at;
use super::distributed::{self, Searcher};
use super::liveness::{Specification, look_for};
use super::options::{Emptiness, Explicit, Options, StoreKind};
use super::subject::Subject;
use super::{Request, Run, claimed, has_hidden_variables};
use crate::liveness::{BuchiAutomaton, Stops};
use crate::space::Culprit;
use crate::store::Omission;

/// Who it is.
const ENGINE: &str = "explicit";

impl Explicit {
    fn options(&self, settings: &Settings) -> Options {
        Options { settings: settings.clone(), explicit: *self }
    }
}

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        ENGINE
    }

    fn features(&self) -> &'static [Feature] {
        EXPLICIT
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        knows(self, task.system)?;
        knows_fairness(task.system, task.settings)?;
        match &task.properties[number].question {
            Question::Ctl(_) => knows_branching(task.system, task.settings).map(|()| Fit::Possible),
            Question::Bound(_) => Err(NO_BOUNDS.into()),
            Question::Distance(_) => Err(NO_DISTANCES.into()),
            question => justice::refusal(question, &task.settings.justice).map_or(Ok(Fit::Well), |why| Err(why.into())),
        }
    }

    fn threads(&self, task: &Task<'_>, budget: &Budget) -> usize {
        workers(searches(task.properties, task.settings).count(), task.settings, budget)
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        check(task.system, task.properties, &self.options(task.settings), board, budget)
    }

    fn count(&self, task: &Task<'_>, budget: &Budget) -> Report {
        states(task.system, &self.options(task.settings), budget)
    }
}

/// Of a property that asks for a number.
const NO_BOUNDS: &str = "the largest value of an expression is found for Petri nets only";
/// Of a number of steps.
const NO_DISTANCES: &str = "the explicit engine does not compute distances; `--engine symbolic` does";

/// Fairness in branching time is for another engine.
fn knows_branching(system: &System, settings: &Settings) -> Result<(), String> {
    if settings.fairness != Fairness::None {
        return Err("the explicit engine knows fairness in linear time only; `--engine symbolic` knows fair CTL".into());
    }
    // In a synchronous system the formula says which paths count.
    if !settings.justice.is_empty() && system.synchronous().is_none() {
        return Err("the explicit engine knows justice in linear time only; `--engine symbolic` knows fair CTL".into());
    }
    Ok(())
}

/// Fairness is a matter of processes.
fn knows_fairness(system: &System, settings: &Settings) -> Result<(), String> {
    if system.synchronous().is_some() && settings.fairness != Fairness::None {
        return Err("weak and strong fairness are about processes, and a synchronous system has none; \
                    `--justice CONDITION` works: only runs on which it holds again and again count"
            .into());
    }
    Ok(())
}

/// Checks properties.
pub fn check(system: &System, properties: &[Property], options: &Options, board: &Board, budget: &Budget) -> Report {
    check_with(system, properties, options, None, board, budget)
}

/// The same with the workers of a searcher, if there is one.
pub(super) fn check_with(
    system: &System,
    properties: &[Property],
    options: &Options,
    searcher: Option<&dyn Searcher>,
    board: &Board,
    budget: &Budget,
) -> Report {
    let subject = Subject::new(system, options, budget).searched_by(searcher);
    let mut work = Work::new(&subject, options, properties, board);
    work.perform(budget);
    work.report(budget)
}

/// Builds the whole state space and counts it.
pub fn states(system: &System, options: &Options, budget: &Budget) -> Report {
    states_with(system, options, None, budget)
}

/// The same with the workers of a searcher, if there is one.
pub(super) fn states_with(
    system: &System,
    options: &Options,
    searcher: Option<&dyn Searcher>,
    budget: &Budget,
) -> Report {
    let subject = Subject::new(system, options, budget).searched_by(searcher);
    let run = super::run(&subject, &Request::default(), options, budget);
    let cut = cut(system, &run, is_partial(&run, &Request::default(), options));
    Report { cut, ..report(system, Vec::new(), run) }
}

/// The searches that a check consists of.
struct Work<'a> {
    system: &'a Subject<'a>,
    options: &'a Options,
    properties: &'a [Property],
    board: &'a Board,
    request: Request,
    /// What the search for all safety properties found.
    safety: Run,
    /// The answers to the others, each from a search of its own.
    answers: HashMap<usize, (Answer, Option<Reason>)>,
    /// How long it all took.
    took: Duration,
}

/// One search.
#[derive(Clone, Copy)]
enum Job {
    /// For all safety properties together.
    Safety,
    /// For the property of that number.
    Temporal(usize),
}

/// The searches for properties: one for all safety properties, if there are any, and one for each of the others.
fn searches(properties: &[Property], settings: &Settings) -> impl Iterator<Item = Job> {
    let is_required = settings.unreached == UnreachedCode::Required;
    let safety = (is_required || !properties.iter().all(is_temporal)).then_some(Job::Safety);
    let temporal = (0..properties.len()).filter(|number| is_temporal(&properties[*number]));
    safety.into_iter().chain(temporal.map(Job::Temporal))
}

/// How many of so many searches are under way at once.
fn workers(searches: usize, settings: &Settings, budget: &Budget) -> usize {
    // To end at the first violation, one has to look at one after the other.
    let threads = if settings.stop_at_first { 1 } else { budget.threads() };
    threads.clamp(1, searches.max(1))
}

impl<'a> Work<'a> {
    fn new(system: &'a Subject<'a>, options: &'a Options, properties: &'a [Property], board: &'a Board) -> Work<'a> {
        let mut request = Request::default();
        for property in properties {
            match &property.question {
                Question::Deadlock => request.deadlock = true,
                Question::Assertions => request.assertions = true,
                Question::Invariant(condition) => request.invariants.push(condition.clone()),
                _ => {}
            }
        }
        let safety = Run { statistics: Statistics { complete: true, ..Statistics::default() }, ..Run::default() };
        Work { system, options, properties, board, request, safety, answers: HashMap::new(), took: Duration::ZERO }
    }

    /// Performs all searches. If the time is limited, all of them get a little of it first, so that none has to wait
    /// for one that does not end; those that are open then share what is left.
    fn perform(&mut self, budget: &Budget) {
        let begun = Instant::now();
        let mut open: VecDeque<Job> = searches(self.properties, &self.options.settings).collect();
        let workers = workers(open.len(), &self.options.settings, budget);
        let clock = Clock { begun: Instant::now(), time: budget.time_left(), workers: workers as u32 };
        if clock.time.is_some() && open.len() > 1 {
            let share = clock.first_share(open.len());
            open = self.round(open, workers, budget, &|_| share);
        }
        open = self.round(open, workers, budget, &|left| clock.share(left));
        // What has found the memory taken by others has it for itself now.
        self.round(open, 1, budget, &|left| Clock { workers: 1, ..clock }.share(left));
        self.took = begun.elapsed();
    }

    /// Performs searches, each until its share of the time is used up, which depends on how many are left; those that
    /// were cut short.
    fn round(
        &mut self,
        jobs: VecDeque<Job>,
        workers: usize,
        budget: &Budget,
        deadline: &(dyn Fn(usize) -> Option<Instant> + Sync),
    ) -> VecDeque<Job> {
        if workers == 1 || jobs.len() < 2 {
            let mut cut = VecDeque::new();
            for (number, job) in jobs.iter().enumerate() {
                let done = self.slice(*job, 1, deadline(jobs.len() - number), budget);
                if self.keep(*job, done) {
                    cut.push_back(*job);
                }
            }
            return cut;
        }
        let queue = Mutex::new(jobs);
        let finished = Mutex::new(Vec::new());
        let this = &*self;
        // Each search has a core while it is under way; who is left over leaves its core to the others.
        let _waiting = budget.yield_core();
        run_workers(workers, budget, |budget, _| {
            loop {
                let (job, left) = {
                    let Ok(mut queue) = queue.lock() else { return };
                    let Some(job) = queue.pop_front() else { return };
                    (job, queue.len() + 1)
                };
                let core = budget.occupy_core();
                let done = this.slice(job, workers, deadline(left), budget);
                drop(core);
                if let Ok(mut finished) = finished.lock() {
                    finished.push((job, done));
                }
            }
        });
        let finished = finished.into_inner().unwrap_or_default();
        let cut = finished.into_iter().filter_map(|(job, done)| self.keep(job, done).then_some(job));
        cut.collect()
    }

    /// Performs a search until then, with its part of the memory; it ends too when another engine has the answer.
    fn slice(&self, job: Job, parts: usize, deadline: Option<Instant>, budget: &Budget) -> Done {
        let answered = match job {
            Job::Safety => self.board.answered(&self.safety_numbers()),
            Job::Temporal(number) => self.board.answered(&[number]),
        };
        let mut slice = budget.clone().with_cancellation(&answered);
        if let Some(deadline) = deadline {
            slice = slice.with_deadline(deadline);
        }
        if parts > 1 {
            slice = slice.with_memory_share(parts as u64);
        }
        let result = match job {
            Job::Safety => JobResult::Safety(super::run(self.system, &self.request, self.options, &slice)),
            Job::Temporal(number) => {
                let property = &self.properties[number];
                let (answer, ended) = match self.unwanted() {
                    Some(outcome) => (answer(property, outcome), None),
                    None => temporal(self.system, property, self.options, &slice),
                };
                JobResult::Temporal(answer, ended)
            }
        };
        let ended = match &result {
            JobResult::Safety(run) => &run.ended,
            JobResult::Temporal(_, ended) => ended,
        };
        let is_late = *ended == Some(Reason::Time) && budget.check() != Err(Interrupted::Deadline);
        let cut = is_late || parts > 1 && *ended == Some(Reason::Memory);
        if let JobResult::Safety(run) = &result
            && !cut
        {
            self.post_safety(run, budget);
        }
        Done { result, cut }
    }

    /// The properties that the search for safety properties answers.
    fn safety_numbers(&self) -> Vec<usize> {
        (0..self.properties.len()).filter(|number| !is_temporal(&self.properties[*number])).collect()
    }

    /// Posts what the search for safety properties has found so far.
    fn post_safety(&self, run: &Run, budget: &Budget) {
        for (number, answer) in self.safety_answers(run, budget) {
            self.board.post(number, &answer);
        }
    }

    /// Keeps what a search has found; true if it has to be done again.
    fn keep(&mut self, job: Job, done: Done) -> bool {
        match (job, done.result) {
            (Job::Temporal(number), JobResult::Temporal(mut answer, ended)) => {
                self.tell_waiting(&mut answer);
                self.board.post(number, &answer);
                self.answers.insert(number, (answer, ended));
            }
            (_, JobResult::Safety(run)) => {
                let before = std::mem::take(&mut self.safety);
                self.safety = if before.found_something() { before.completed_by(run) } else { run };
            }
            (Job::Safety, JobResult::Temporal(..)) => {}
        }
        done.cut
    }

    /// Why there is no need to look at another property.
    fn unwanted(&self) -> Option<ValidOutcome> {
        let violated = || self.answers.values().any(|(answer, _)| answer.verdict() == Verdict::Violated);
        (self.options.settings.stop_at_first && (self.safety.found_something() || violated())).then(stopped)
    }

    /// The answers to the safety properties, by their numbers, that follow from what their search has found.
    fn safety_answers(&self, run: &Run, budget: &Budget) -> Vec<(usize, Answer)> {
        let undisturbed = undisturbed(run, self.options);
        let mut invariants = run.invariants.iter();
        let mut answers = Vec::new();
        let cut = self.cut(run);
        for (number, property) in self.properties.iter().enumerate() {
            let found = match &property.question {
                Question::Deadlock => &run.deadlock,
                Question::Assertions => &run.assertions,
                Question::Invariant(_) => invariants.next().unwrap_or(&None),
                _ => continue,
            };
            let is_deadlock = matches!(property.question, Question::Deadlock);
            let undecided = run.only_deadlocks && !is_deadlock && run.ended.is_none();
            let mut answer = match found {
                Some(found) => {
                    let evidence = Evidence::Run(found.clone());
                    violated(self.system, property, &evidence, &self.options.settings, budget)
                }
                None if undecided => answer(property, Reason::Unsupported(NO_PROVISO.into())),
                None => answer(property, undisturbed.clone()),
            };
            if let Some(cut) = &cut {
                cut.tell(std::slice::from_mut(&mut answer));
            } else if run.may_miss_faults && answer.verdict() == Verdict::Holds {
                answer.note = Some(MISSED_FAULTS.into());
            }
            self.tell_waiting(&mut answer);
            answers.push((number, answer));
        }
        answers
    }

    /// Where statements wait while there are as many processes as there may be, says that this was the case.
    fn tell_waiting(&self, answer: &mut Answer) {
        let is_full = self.system.compiled().is_ok_and(|compiled| compiled.is_full());
        if is_full && answer.verdict() != Verdict::Unknown && run_waits(self.system) {
            let most = self.system.max_processes;
            let note = format!("all {most} process ids were taken in some state, and `run` waits then (--pid-bits)");
            answer.note = Some(answer.note.take().map_or(note.clone(), |before| format!("{before}; {note}")));
        }
    }

    /// The run-time errors that the search for safety properties has met.
    fn cut(&self, run: &Run) -> Option<Cut> {
        cut(self.system, run, is_partial(run, &self.request, self.options))
    }

    fn report(mut self, budget: &Budget) -> Report {
        let mut run = std::mem::take(&mut self.safety);
        let cut = self.cut(&run);
        let unreached = self.unreached(&mut run);
        let mut safety: HashMap<usize, Answer> = self.safety_answers(&run, budget).into_iter().collect();
        let alone = self.answers.is_empty();
        let mut answers = Vec::new();
        for number in 0..self.properties.len() {
            if let Some(answer) = safety.remove(&number) {
                answers.push(answer);
            } else if let Some((answer, ended)) = self.answers.remove(&number) {
                if let Some(statistics) = &answer.statistics {
                    run.add(statistics);
                }
                run.ended = run.ended.or(ended);
                run.reduction = run.reduction.or_else(|| answer.reduction.clone());
                run.symmetry = run.symmetry.or_else(|| answer.symmetry.clone());
                answers.push(answer);
            }
        }
        if !alone {
            run.statistics.time_s = self.took.as_secs_f64();
        }
        Report { cut, unreached, ..report(self.system, answers, run) }
    }

    /// The statements that no run executes, or why they are not known; none if they are not asked for.
    fn unreached(&self, run: &mut Run) -> Option<Result<Vec<Unreached>, String>> {
        let unknown = match std::mem::take(&mut run.coverage).0 {
            _ if self.options.settings.unreached == UnreachedCode::Ignored => return None,
            Ok(coverage) => return Some(Ok(unreached(self.system, coverage))),
            Err(_) if self.system.synchronous().is_some() => "a synchronous system has no statements",
            Err(_) if has_hidden_variables(self.system) => {
                "states that differ in hidden variables only are not told apart"
            }
            Err(why) => why,
        };
        Some(Err(unknown.into()))
    }
}

/// Statements that create processes wait while there are too many.
fn run_waits(system: &System) -> bool {
    let creates = |edge: &Edge| {
        let spawns = |i: &Instruction| matches!(i, Instruction::Do(Action::Spawn { .. }));
        let counts = |guard: &Expr| {
            let mut counts = false;
            guard.walk(&mut |part| counts |= *part == Expr::ProcessCount);
            counts
        };
        edge.effect.iter().any(spawns) && edge.guard.iter().any(counts)
    };
    system.processes.iter().any(|process| process.edges.iter().any(creates))
}

/// The result of a job.
enum JobResult {
    Safety(Run),
    Temporal(Answer, Option<Reason>),
}

/// A search that was performed.
struct Done {
    result: JobResult,
    /// It would need more time or memory than its share.
    cut: bool,
}

/// One part in so many of the time is for the first, short attempts.
const FIRST_SHARE: u32 = 8;

/// How the time is shared.
#[derive(Clone, Copy)]
struct Clock {
    begun: Instant,
    time: Option<Duration>,
    workers: u32,
}

impl Clock {
    /// When the first attempt of one of so many searches ends.
    fn first_share(&self, jobs: usize) -> Option<Instant> {
        Some(Instant::now() + self.time? * self.workers / (FIRST_SHARE * jobs as u32))
    }

    /// When a search ends if so many are left, itself counted; none if nobody waits for it.
    fn share(&self, left: usize) -> Option<Instant> {
        if left as u32 <= self.workers {
            return None;
        }
        let rest = self.time?.saturating_sub(self.begun.elapsed());
        Some(Instant::now() + rest * self.workers / left as u32)
    }
}

fn is_temporal(property: &Property) -> bool {
    !matches!(property.question, Question::Deadlock | Question::Assertions | Question::Invariant(_))
}

fn report(system: &System, answers: Vec<Answer>, run: Run) -> Report {
    let Run { ended, statistics, reduction, symmetry, .. } = run;
    Report { answers, ended, statistics, reduction, symmetry, ..Report::of(system) }
}

/// The search has not looked at all steps.
fn is_partial(run: &Run, request: &Request, options: &Options) -> bool {
    let is_open = request.deadlock && run.deadlock.is_none()
        || request.assertions && run.assertions.is_none()
        || run.invariants.iter().any(Option::is_none);
    let is_done = options.settings.stop_at_first && run.found_something() || !request.is_empty() && !is_open;
    run.is_reduced || run.ended.is_some() || is_done
}

/// The run-time errors that a search has met.
fn cut(system: &System, run: &Run, is_partial: bool) -> Option<Cut> {
    let met = run.cuts.iter().map(|cut| (statement(cut.by), cut.message.clone(), cut.count));
    Cut::of(system, met, is_partial)
}

fn answer(property: &Property, outcome: impl Into<ValidOutcome>) -> Answer {
    Answer::to(property, ENGINE, outcome)
}

/// The answer where no violation was found.
fn undisturbed(run: &Run, options: &Options) -> ValidOutcome {
    match &run.ended {
        Some(reason) => reason.clone().into(),
        None if options.settings.stop_at_first && run.found_something() => stopped(),
        None => without_violation(&run.statistics),
    }
}

/// The answer of a search that came to its end and found nothing.
fn without_violation(statistics: &Statistics) -> ValidOutcome {
    match statistics.omitted {
        Some(expected) => Certainty::Probable(Omission { expected }.probability()).into(),
        None => Certainty::Proved.into(),
    }
}

fn violated(system: &System, property: &Property, evidence: &Evidence, settings: &Settings, budget: &Budget) -> Answer {
    Answer::violated(system, property, ENGINE, evidence, settings, budget)
}

/// Of a search that may ignore steps for ever.
const NO_PROVISO: &str =
    "without a proviso only deadlocks are decided: steps may have been ignored (the ignoring problem)";

/// Of a search that looks for deadlocks only.
const MISSED_FAULTS: &str =
    "a run-time error may end runs early, and without a proviso not all of them are met; `--assertions` looks for them";

fn stopped() -> ValidOutcome {
    Reason::Unsupported("the search stopped at the first violation".into()).into()
}

/// A property of endless runs, in a search of its own: the answer, and why the search ended early if it did.
fn temporal(system: &Subject<'_>, property: &Property, options: &Options, budget: &Budget) -> (Answer, Option<Reason>) {
    match decide(system, property, options, budget) {
        Ok(answered) => {
            let fallible = Survey::of(system).fallible(property, &options.settings.justice);
            if fallible.is_empty() {
                answered
            } else {
                evaluable(system, property, &fallible, options, budget, answered)
            }
        }
        Err(why) => (answer(property, Reason::Unsupported(why)), None),
    }
}

/// The answer to a property in which a fault was taken for false: if it holds, it is looked whether there is one.
fn evaluable(
    system: &Subject<'_>,
    property: &Property,
    fallible: &Fallible,
    options: &Options,
    budget: &Budget,
    (answer, ended): (Answer, Option<Reason>),
) -> (Answer, Option<Reason>) {
    if answer.verdict() == Verdict::Violated || matches!(ended, Some(Reason::Time | Reason::Interrupted)) {
        return (fallible.told(system, answer), ended);
    }
    let request = Request { invariants: vec![fallible.invariant()], ..Request::default() };
    let mut run = super::run(system, &request, &options.without_checkpoint(), budget);
    if let Some(statistics) = &answer.statistics {
        run.add(statistics);
    }
    let outcome = match run.invariants.first() {
        Some(Some(found)) => {
            violated(system, property, &Evidence::Run(found.clone()), &options.settings, budget).outcome
        }
        _ if run.only_deadlocks && run.ended.is_none() => Reason::Unsupported(NO_PROVISO.into()).into(),
        _ => undisturbed(&run, options),
    };
    let answer = Answer { statistics: Some(run.statistics), ..answer };
    let answer = fallible.joined(system, answer, &outcome);
    let is_decided = answer.verdict() == Verdict::Violated;
    (answer, if is_decided { None } else { ended.or(run.ended) })
}

/// A property in branching time.
fn branching(
    system: &Subject<'_>,
    property: &Property,
    temporal: &Temporal,
    options: &Options,
    budget: &Budget,
) -> Result<(Answer, Option<Reason>), String> {
    knows_branching(system, &options.settings)?;
    let found = look_at(system, temporal, options, budget)?;
    let answer = match (found.verdict, found.evidence) {
        (Some(true), Some((start, tree))) => {
            Answer::witnessed(system, property, ENGINE, &Evidence::Tree(start, tree), budget)
        }
        (Some(true), None) => answer(property, Certainty::Proved),
        (Some(false), Some((start, tree))) => {
            violated(system, property, &Evidence::Tree(start, tree), &options.settings, budget)
        }
        (Some(false), None) => answer(property, without_run(&property.question, "by explicit search")),
        (None, _) => answer(property, found.ended.clone().unwrap_or(Reason::Interrupted)),
    };
    let one_of = (found.starts > 1 && answer.witness.is_some()).then(|| one_of_starts(found.starts));
    let notes: Vec<String> = found.note.into_iter().chain(one_of).collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    let (statistics, reduction) = (Some(found.statistics), found.reduction);
    let answer = Answer { statistics, note, reduction, ..answer };
    Ok((tell_stops(system, &found.stops, answer), found.ended))
}

/// A never claim that changes the state.
fn acted_upon(
    system: &Subject<'_>,
    property: &Property,
    claim: &Acting,
    options: &Options,
    budget: &Budget,
) -> (Answer, Option<Reason>) {
    let found = claimed::look_for(system, claim, options, budget);
    let answer = match found.run {
        None => answer(property, found.ended.clone().map_or(Certainty::Proved.into(), ValidOutcome::from)),
        Some(lasso) => violated(system, property, &Evidence::Lasso(lasso), &options.settings, budget),
    };
    let answer = Answer { statistics: Some(found.statistics), ..answer };
    (tell_stops(system, &found.stops, answer), found.ended)
}

fn decide(
    system: &Subject<'_>,
    property: &Property,
    options: &Options,
    budget: &Budget,
) -> Result<(Answer, Option<Reason>), String> {
    knows_fairness(system, &options.settings)?;
    if let Some(why) = no_endless_runs(property, options) {
        return Err(why.into());
    }
    if let Some(why) = justice::refusal(&property.question, &options.settings.justice) {
        return Err(why.into());
    }
    if let Question::Never(claim) = property.question
        && let Some(acting) = Acting::of(system, claim)?
    {
        if options.explicit.store.is_set() {
            return Err(super::stores::NO_ACTING.into());
        }
        refuse_directed(options)?;
        if system.searcher().is_some() {
            return Err(distributed::NO_ACTING.into());
        }
        return Ok(acted_upon(system, property, &acting, options, budget));
    }
    let simple = options.explicit.emptiness == Emptiness::Nested || options.explicit.store.is_set();
    let claim;
    let specification = match &property.question {
        Question::Ltl(temporal) => {
            let acceptance = if simple { Acceptance::Buchi } else { Acceptance::Generalised };
            let automaton = match negation(temporal, acceptance, budget) {
                Ok(automaton) => automaton,
                Err(NoAutomaton::Refused(why)) => return Err(why),
                Err(NoAutomaton::Ended(reason)) => {
                    return Ok((answer(property, reason.clone()), Some(reason)));
                }
            };
            let formula = &temporal.formula;
            let invariant = match ample_logic::is_stutter_invariant_within(formula, budget) {
                Ok(invariant) => Some(invariant),
                Err(StutterError::Translate(TranslateError::Interrupted(interrupted))) => {
                    let reason = Reason::from(interrupted);
                    return Ok((answer(property, reason.clone()), Some(reason)));
                }
                Err(_) => None,
            };
            let stutter_invariant = match invariant {
                Some(true) => Ok(()),
                Some(false) => Err("the formula depends on how often a state is repeated (it uses X)"),
                None => Err("it is not known whether the formula depends on how often a state is repeated"),
            };
            let atoms = &temporal.atoms;
            let stutters = system.synchronous().is_none_or(|synchronous| !synchronous.infinite_runs);
            Specification { automaton, atoms, stutters, is_simple: simple, stutter_invariant }
        }
        Question::Automaton(given) => {
            let PropertyAutomaton { automaton, atoms } = &**given;
            if simple && !automaton.state_based {
                return Err("the nested search takes automata with one set of accepting states; \
                     `--emptiness components` takes all"
                    .into());
            }
            let automaton = BuchiAutomaton::of(automaton).map_err(|error| error.to_string())?;
            let stutter_invariant = Err("an automaton may count steps");
            Specification { automaton, atoms, stutters: true, is_simple: simple, stutter_invariant }
        }
        Question::Ctl(temporal) => {
            refuse_directed(options)?;
            if system.searcher().is_some() {
                return Err(distributed::NO_BRANCHING.into());
            }
            return branching(system, property, temporal, options, budget);
        }
        Question::Bound(_) => return Err(NO_BOUNDS.into()),
        Question::Distance(_) => return Err(NO_DISTANCES.into()),
        question => {
            claim = match question {
                Question::Never(claim) => ClaimAutomaton::claim(system, *claim)?,
                Question::Acceptance => ClaimAutomaton::acceptance(),
                Question::Progress => ClaimAutomaton::non_progress(),
                other => {
                    return Err(format!("internal error: the explicit engine does not know this question: {other:?}"));
                }
            };
            let automaton = automaton(&claim)?;
            let stutter_invariant = match question {
                Question::Never(_) => Err("a never claim may count steps"),
                _ => Ok(()),
            };
            let ClaimAutomaton { atoms, stutters, .. } = &claim;
            Specification { automaton, atoms, stutters: *stutters, is_simple: true, stutter_invariant }
        }
    };
    let found = look_for(system, specification, options, budget);
    let mut answer = match found.run {
        None => answer(property, found.ended.clone().map_or_else(|| without_violation(&found.statistics), Into::into)),
        Some(lasso) => violated(system, property, &Evidence::Lasso(lasso), &options.settings, budget),
    };
    answer.statistics = Some(found.statistics);
    answer.note = found.note;
    answer.reduction = found.reduction;
    answer.symmetry = found.symmetry;
    Ok((tell_stops(system, &found.stops, answer), found.ended))
}

/// Why the store cannot be used for a property of endless runs.
fn no_endless_runs(property: &Property, options: &Options) -> Option<&'static str> {
    use super::stores::{NO_BRANCHING, NO_COMPONENTS, NO_FAIRNESS, ONLY_SAFETY};
    let explicit = &options.explicit;
    if explicit.store == StoreKind::Disk {
        return Some(ONLY_SAFETY);
    }
    if !explicit.store.is_set() {
        return None;
    }
    if matches!(property.question, Question::Ctl(_)) {
        return Some(NO_BRANCHING);
    }
    if options.settings.fairness != Fairness::None {
        return Some(NO_FAIRNESS);
    }
    (explicit.emptiness == Emptiness::Components).then_some(NO_COMPONENTS)
}

/// What a beginning of a run cannot violate is not for a directed search.
fn refuse_directed(options: &Options) -> Result<(), String> {
    let search = options.explicit.search;
    if search.is_directed() { Err(super::directed::only_safety(search)) } else { Ok(()) }
}

/// Says at which run-time errors runs stop, if nothing is wrong with those that do.
fn tell_stops(system: &System, stops: &Stops, mut answer: Answer) -> Answer {
    let met = stops.iter().map(|(by, message)| (statement(*by), message.clone(), 1));
    if let Some(cut) = Cut::of(system, met, true) {
        cut.tell(std::slice::from_mut(&mut answer));
    }
    answer
}

/// A step of a compiled system.
fn statement(by: Option<Culprit>) -> Option<(ProcessId, EdgeId)> {
    by.map(|(process, edge)| (ProcessId(process), EdgeId(edge)))
}
