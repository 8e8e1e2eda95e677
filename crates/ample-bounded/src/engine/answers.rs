//! Questions and answers of a session.

use std::time::Duration;

use ample_budget::{Budget, Interrupted, Progress};
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Task};
use ample_engine::evidence::{Ending, Evidence, Lasso, Run};
use ample_engine::faults::{Fallible, Survey};
use ample_engine::justice;
use ample_engine::report::{Answer, Report, SolvingStatistics, Verdict};
use ample_engine::settings::Fairness;
use ample_engine::temporal::ClaimAutomaton;
use ample_logic::{Acceptance, Atoms, TranslateError};
use ample_model::{Certainty, Expr, Move, Outcome, Property, Question, Reason, Temporal};

use super::options::Method;
use super::session::{Goal, NotBegun, Session, Taken};
use super::unit::{Event, Kind, Methods, Proof, Shortest, Unit};
use super::{Bounded, ENGINE};
use crate::bmc::Path;
use crate::certificate::{Certificate, Definitions, NotVerified};
use crate::lasso::FoundLasso;
use crate::product::Watcher;

/// How long each part of the work gets in the first turn; twice as long in each that follows.
const FIRST_SLICE: Duration = Duration::from_millis(100);
/// The longest turn.
const LONGEST_SLICE: Duration = Duration::from_secs(20);

/// So long signals that correspond are looked for at first; and later, when turns are as long as this.
const FOR_CORRESPONDENCE: Duration = Duration::from_millis(400);
const FOR_MORE_CORRESPONDENCE: Duration = Duration::from_secs(20);
const BEFORE_MORE_CORRESPONDENCE: Duration = Duration::from_millis(1600);

/// So many safe steps a process has in turn, if nothing else is said.
const PARTIAL_STEPS: u16 = 8;

/// So long shorter runs are looked for after one was found.
const FOR_SHORTER: Duration = Duration::from_secs(5);

/// Of a run whose beginning cannot be told.
const TOO_MANY_STARTS: &str =
    "it is violated, but the initial state of the run has a number beyond what a trace can tell";
/// Of a fault where no state counts.
const IN_PASSING: &str =
    "a fault inside an atomic sequence can stop a run there; `--engine explicit` knows what that means";
/// Of properties of runs where a step is a set of transitions.
const ONLY_GOALS: &str = "the methods steps, processes and commuting are for deadlocks, assertions and invariants; `--sat-method bmc` is for \
                          formulas, too";
/// Of a run that is not known to be a shortest one.
const MAY_BE_SHORTER: &str = "found by IC3: there may be a shorter run";

/// Answers all properties.
pub fn all(options: &Bounded, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
    let mut work = Work::new(options, task, board, budget);
    let ended = work.run().err().map(Reason::from);
    let mut report = Report::of(task.system);
    report.statistics.complete = ended.is_none();
    report.solving = Some(work.statistics.clone());
    report.answers = work.into_answers(ended.clone());
    report.ended = ended.filter(|reason| !matches!(reason, Reason::Unsupported(_)));
    report
}

/// A property of runs as an automaton.
struct Linear {
    watcher: Watcher,
    atoms: Vec<Expr>,
    stutters: bool,
}

/// What is asked.
enum Asked {
    Goal(Goal),
    Linear(Linear),
}

/// What is to be found out: the properties, and after them that formulas can be evaluated.
struct Work<'a> {
    options: &'a Bounded,
    task: &'a Task<'a>,
    board: &'a Board,
    budget: &'a Budget,
    /// The properties, and the invariants that formulas need.
    properties: Vec<Property>,
    asked: Vec<Option<Asked>>,
    answers: Vec<Option<Answer>>,
    /// The formulas that may be faults, with the number of the invariant that says that they are none.
    fallible: Vec<(usize, usize, Fallible)>,
    statistics: SolvingStatistics,
    /// Steps may be faults.
    may_fault: bool,
}

impl<'a> Work<'a> {
    fn new(options: &'a Bounded, task: &'a Task<'a>, board: &'a Board, budget: &'a Budget) -> Work<'a> {
        let mut work = Work {
            options,
            task,
            board,
            budget,
            properties: task.properties.to_vec(),
            asked: Vec::new(),
            answers: Vec::new(),
            fallible: Vec::new(),
            statistics: SolvingStatistics::default(),
            may_fault: false,
        };
        let survey = Survey::of(task.system);
        for (number, property) in task.properties.iter().enumerate() {
            let asked = options.suits(task, number).map_err(Reason::Unsupported);
            let refused = (options.method == Method::Partial).then(|| not_partial(property, task)).flatten();
            let is_stepping = options.method.semantics().is_some() && Goal::of(&property.question).is_none();
            let refused = refused.or(is_stepping.then_some(ONLY_GOALS));
            let asked = asked.and_then(|_| refused.map_or(Ok(()), |why| Err(Reason::Unsupported(why.into()))));
            match asked.and_then(|()| asked_by(property, budget)) {
                Ok(asked) => {
                    work.asked.push(Some(asked));
                    work.answers.push(None);
                }
                Err(reason) => {
                    work.asked.push(None);
                    work.answers.push(Some(Answer::to(property, ENGINE, reason)));
                }
            }
            let fallible = survey.fallible(property, &task.settings.justice);
            if work.asked[number].is_some() && !fallible.is_empty() {
                work.fallible.push((number, 0, fallible));
            }
        }
        for (_, invariant, fallible) in &mut work.fallible {
            *invariant = work.properties.len();
            let expr = fallible.invariant();
            work.properties.push(Property { question: Question::Invariant(expr.clone()), ..Property::assertions() });
            work.asked.push(Some(Asked::Goal(Goal::Not(expr))));
            work.answers.push(None);
        }
        work
    }

    /// The number has no answer yet, from this engine or another, and somebody needs one.
    fn is_open(&self, number: usize) -> bool {
        let needed = match self.fallible.iter().find(|(_, invariant, _)| *invariant == number) {
            Some((formula, ..)) => *formula,
            None => number,
        };
        let is_violated = self.answers[needed].as_ref().is_some_and(|answer| answer.verdict() == Verdict::Violated);
        self.answers[number].is_none() && !is_violated && !self.board.is_answered(needed)
    }

    /// What another engine has proved, if that is the property of the number.
    fn fact(&self, number: usize) -> Option<String> {
        let answer = self.board.answer(number).filter(|_| self.answers[number].is_none())?;
        matches!(*answer.outcome, Outcome::Holds(Certainty::Proved)).then_some(answer.property)
    }

    fn open(&self) -> Vec<usize> {
        (0..self.answers.len()).filter(|number| self.is_open(*number)).collect()
    }

    /// An answer, which is posted unless it waits for another one.
    fn answer(&mut self, number: usize, answer: Answer) {
        self.answers[number] = Some(answer);
        let pair = self.fallible.iter().position(|(formula, invariant, _)| number == *formula || number == *invariant);
        let Some(pair) = pair else {
            if let Some(answer) = &self.answers[number] {
                self.board.post(number, answer);
            }
            return;
        };
        let (formula, invariant, fallible) = &self.fallible[pair];
        let (formula, system) = (*formula, self.task.system);
        let unknown = || Answer::to(&self.properties[formula], ENGINE, Reason::Interrupted);
        let joined = match (&self.answers[formula], &self.answers[*invariant]) {
            (Some(answer), None) if answer.verdict() != Verdict::Violated => return,
            (Some(answer), None) => fallible.told(system, answer.clone()),
            (None, Some(evaluated)) if evaluated.verdict() != Verdict::Violated => return,
            (answer, Some(evaluated)) => {
                let answer = answer.clone().unwrap_or_else(unknown);
                fallible.joined(system, answer, &evaluated.outcome)
            }
            (None, None) => return,
        };
        self.board.post(formula, &joined);
        self.answers[formula] = Some(joined);
    }

    fn into_answers(mut self, ended: Option<Reason>) -> Vec<Answer> {
        let reason = ended.unwrap_or(Reason::Interrupted);
        let waiting: Vec<(usize, usize)> =
            self.fallible.iter().map(|(formula, invariant, _)| (*formula, *invariant)).collect();
        for (formula, invariant) in waiting {
            let holds = self.answers[formula].as_ref().is_some_and(|answer| answer.verdict() == Verdict::Holds);
            if holds && self.answers[invariant].is_none() {
                self.answers[formula] = None;
            }
        }
        let open = |number: usize| {
            let answer = Answer::to(&self.properties[number], ENGINE, reason.clone());
            let note = (self.statistics.bound > 0)
                .then(|| format!("no counterexample of up to {} steps was found", self.statistics.bound));
            Answer { note, ..answer }
        };
        let answers = self.answers.into_iter().take(self.task.properties.len()).enumerate();
        answers.map(|(number, answer)| answer.unwrap_or_else(|| open(number))).collect()
    }

    fn run(&mut self) -> Result<(), NotBegun> {
        let mut session = Session::begin(self.task.system, self.budget)?;
        self.may_fault = session.may_fault();
        for number in 0..self.task.properties.len() {
            if let Some(why) = session.refusal(&self.properties[number].question)
                && self.answers[number].is_none()
            {
                let answer = Answer::to(&self.properties[number], ENGINE, Reason::Unsupported(why.into()));
                self.answers[number] = Some(answer);
            }
        }
        let mut since = 0;
        while let Some((wider, depth)) = self.search(&mut session, since)? {
            (session, since) = (wider, depth);
            self.statistics.restarts = session.restarts;
        }
        Ok(())
    }

    fn method(&self) -> Method {
        match (self.options.method, self.options.bound) {
            (Method::Auto, Some(_)) => Method::Bmc,
            (method, _) => method,
        }
    }

    /// With partial exploration: how many safe steps a process has in turn.
    fn turns(&self) -> Option<usize> {
        let steps = self.options.partial_steps.unwrap_or(PARTIAL_STEPS);
        (self.method() == Method::Partial).then_some(usize::from(steps))
    }

    /// Works until all is answered, or there must be more room: then it returns a session that has it, and how long the
    /// runs are that need not be looked at again.
    fn search(&mut self, session: &mut Session<'a>, since: usize) -> Result<Option<(Session<'a>, usize)>, NotBegun> {
        self.statistics.bits = session.bits();
        let mut units = self.units(session, since)?;
        let mut slice = FIRST_SLICE;
        loop {
            for unit in &mut units {
                for number in unit.numbers.clone() {
                    match self.fact(number) {
                        Some(property) => unit.assume(number, property),
                        None if !self.is_open(number) => unit.leave(number),
                        None => {}
                    }
                }
            }
            units.retain(|unit| !unit.numbers.is_empty());
            if units.is_empty() {
                return Ok(None);
            }
            for number in 0..units.len() {
                if let Some(wider) = self.turn(session, &mut units[number], slice)? {
                    let safe = units.iter().find(|unit| unit.kind == Kind::Safety).map_or(0, Unit::depth);
                    return Ok(Some((wider, safe)));
                }
                self.report(&units)?;
            }
            slice = (2 * slice).min(LONGEST_SLICE);
            if slice >= BEFORE_MORE_CORRESPONDENCE {
                let (methods, budget) = (self.methods(), self.budget);
                for unit in units.iter_mut().filter(|unit| unit.may_be_smaller()) {
                    unit.make_smaller(session, methods, FOR_MORE_CORRESPONDENCE, budget)?;
                    self.end_induction(unit);
                }
            }
        }
    }

    fn methods(&self) -> Methods {
        let Bounded { liveness, solver, .. } = *self.options;
        Methods { method: self.method(), liveness, solver }
    }

    /// Induction is not wanted where certificates are to be invariants.
    fn end_induction(&self, unit: &mut Unit) {
        if self.options.invariants_only {
            unit.end_induction();
        }
    }

    fn units(&mut self, session: &mut Session<'a>, since: usize) -> Result<Vec<Unit>, NotBegun> {
        let (methods, budget) = (self.methods(), self.budget);
        let open = self.open();
        // What another engine has proved strengthens proofs.
        let known = (0..self.asked.len()).filter(|number| self.is_open(*number) || self.fact(*number).is_some());
        let goals: Vec<(usize, &Goal)> = known
            .filter_map(|number| match &self.asked[number] {
                Some(Asked::Goal(goal)) => Some((number, goal)),
                _ => None,
            })
            .collect();
        let mut units = Vec::new();
        if goals.iter().any(|(number, _)| self.is_open(*number)) {
            let numbers: Vec<usize> = goals.iter().map(|(number, _)| *number).collect();
            let goals: Vec<&Goal> = goals.iter().map(|(_, goal)| *goal).collect();
            let made = session.safety(&goals, self.turns(), self.method().semantics(), budget)?;
            let mut unit = Unit::safety(session, numbers, made, since, methods, FOR_CORRESPONDENCE, budget)?;
            self.end_induction(&mut unit);
            units.push(unit);
        }
        for number in open {
            let Some(Asked::Linear(linear)) = &self.asked[number] else { continue };
            let Linear { watcher, atoms, stutters } = linear;
            let fairness = self.task.settings.fairness;
            let made = session.product(watcher, atoms, *stutters, fairness, self.turns(), budget)?;
            let goes_on = *stutters && session.every_run_goes_on();
            let by_beginning =
                goes_on && session.all_visible() && fairness == Fairness::None && watcher.deciding().is_some();
            units.push(Unit::linear(number, made, by_beginning, methods, budget)?);
        }
        Ok(units)
    }

    /// Lets a unit search and prove for a while.
    fn turn(
        &mut self,
        session: &Session<'a>,
        unit: &mut Unit,
        slice: Duration,
    ) -> Result<Option<Session<'a>>, NotBegun> {
        let part = self.budget.clone().with_time(slice);
        while part.check().is_ok() && unit.numbers.iter().any(|number| self.is_open(*number)) {
            let Some(events) = self.in_slice(unit.search(&part, self.budget))? else { break };
            for event in events {
                if let Some(wider) = self.take(session, unit, event)? {
                    return Ok(Some(wider));
                }
            }
            self.reached_bound(unit);
            if self.method() == Method::Induction && !unit.numbers.is_empty() {
                let part = self.budget.clone();
                let event = unit.prove(&part)?;
                if let Some(wider) = self.take(session, unit, event)? {
                    return Ok(Some(wider));
                }
            }
            if self.method() == Method::Ic3 {
                break;
            }
            self.budget.check()?;
        }
        self.budget.check()?;
        let is_open = unit.numbers.iter().any(|number| self.is_open(*number));
        if self.method() == Method::Induction || !is_open {
            return Ok(None);
        }
        let part = self.budget.clone().with_time(slice / 4);
        if let Some(event) = self.in_slice(unit.induct(&part))? {
            if let Some(wider) = self.take(session, unit, event)? {
                return Ok(Some(wider));
            }
            if unit.numbers.is_empty() {
                return Ok(None);
            }
        }
        let part = self.budget.clone().with_time(slice);
        if let Some(event) = self.in_slice(unit.count(&part))? {
            if let Some(wider) = self.take(session, unit, event)? {
                return Ok(Some(wider));
            }
            if unit.numbers.is_empty() {
                return Ok(None);
            }
        }
        // Most proofs are found by IC3, and deep runs, too.
        let part = self.budget.clone().with_time(2 * slice);
        match self.in_slice(unit.prove(&part))? {
            Some(event) => self.take(session, unit, event),
            None => Ok(None),
        }
    }

    /// What was found within a slice of time; `None` if the slice was too short.
    fn in_slice<T>(&self, found: Result<T, Interrupted>) -> Result<Option<T>, NotBegun> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(Interrupted::Deadline) if self.budget.check().is_ok() => Ok(None),
            Err(interrupted) => Err(interrupted.into()),
        }
    }

    /// What was found, as answers.
    fn take(&mut self, session: &Session<'a>, unit: &mut Unit, event: Event) -> Result<Option<Session<'a>>, NotBegun> {
        match event {
            Event::Nothing => {}
            Event::Reached(number, path, Shortest::Unknown) if self.method() == Method::Auto => {
                return self.reached(session, unit, number, &path);
            }
            Event::Reached(number, path, shortest) => {
                let answer = self.violated(session, unit.kind, number, &path, shortest);
                self.answer(number, answer);
                unit.leave(number);
            }
            Event::Lasso(number, lasso) => {
                let answer = self.violated_by_lasso(session, number, &lasso);
                self.answer(number, answer);
                unit.leave(number);
            }
            Event::Overflow(path) => {
                if let Some(wider) = session.widen(path.end(), self.budget)? {
                    return Ok(Some(wider));
                }
                for number in std::mem::take(&mut unit.numbers) {
                    let answer = Answer::to(&self.properties[number], ENGINE, Reason::Unsupported(IN_PASSING.into()));
                    self.answer(number, answer);
                }
            }
            Event::Proved(numbers, proof) => self.proved(session, unit, &numbers, &proof)?,
        }
        Ok(None)
    }

    /// A run was found that may not be a shortest one: for a while shorter ones are looked for.
    fn reached(
        &mut self,
        session: &Session<'a>,
        unit: &mut Unit,
        number: usize,
        path: &Path,
    ) -> Result<Option<Session<'a>>, NotBegun> {
        let part = self.budget.clone().with_time(FOR_SHORTER);
        while part.check().is_ok() && self.is_open(number) && unit.depth() < path.inputs.len() {
            let Some(events) = self.in_slice(unit.search(&part, self.budget))? else { break };
            for event in events {
                if let Some(wider) = self.take(session, unit, event)? {
                    return Ok(Some(wider));
                }
            }
        }
        if self.is_open(number) {
            let is_shortest = unit.depth() >= path.inputs.len();
            let shortest = if is_shortest { Shortest::Yes } else { Shortest::Unknown };
            let answer = self.violated(session, unit.kind, number, path, shortest);
            self.answer(number, answer);
        }
        unit.leave(number);
        Ok(None)
    }

    /// All runs up to the bound were looked at: no more is asked for.
    fn reached_bound(&mut self, unit: &mut Unit) {
        let depth = unit.depth() as u64;
        if let Some(bound) = self.options.bound
            && depth >= bound
            && unit.is_examined()
            && (matches!(self.method(), Method::Bmc | Method::Partial) || self.method().semantics().is_some())
        {
            for number in std::mem::take(&mut unit.numbers) {
                if self.is_open(number) {
                    let answer = Answer::to(&self.properties[number], ENGINE, Certainty::Bounded(bound));
                    self.answer(number, answer);
                }
            }
        }
    }

    fn proved(
        &mut self,
        session: &Session<'a>,
        unit: &mut Unit,
        numbers: &[usize],
        proof: &Proof,
    ) -> Result<(), NotBegun> {
        let verified = unit.verify(numbers, proof, self.budget);
        // In the machine as it is more states of a path are different than in a smaller one.
        let is_weaker = matches!((proof, &verified), (Proof::Induction(..), Err(NotVerified::NotInductive(_))));
        if is_weaker && unit.end_induction() {
            return Ok(());
        }
        for number in numbers.iter().copied() {
            let property = &self.properties[number];
            let answer = match &verified {
                Ok(()) => {
                    let certificate = self.certificate(session, unit, number, proof);
                    Answer { certificate, ..Answer::to(property, ENGINE, Certainty::Proved) }
                }
                Err(NotVerified::Interrupted(interrupted)) => return Err((*interrupted).into()),
                Err(why) => {
                    let why = format!("a proof was found that is none ({why}); this is a bug in ample");
                    Answer::to(property, ENGINE, Reason::Internal(why))
                }
            };
            let answer = Answer { note: self.note(number).filter(|_| verified.is_ok()), ..answer };
            if self.is_open(number) {
                self.answer(number, answer);
            }
            unit.settle(number);
        }
        Ok(())
    }

    /// What has to be said beside an answer that something holds.
    fn note(&self, number: usize) -> Option<String> {
        let is_about_faults = matches!(self.properties[number].question, Question::Assertions);
        (self.may_fault && !is_about_faults).then(|| "a run ends where a step is a run-time error".to_owned())
    }

    fn certificate(&self, session: &Session<'_>, unit: &Unit, number: usize, proof: &Proof) -> Option<String> {
        let definitions = unit.definitions();
        let (kind, clauses) = match (proof, unit.kind) {
            (Proof::Invariant(excluded), Kind::Safety) => {
                ("inductive invariant".to_owned(), Certificate::clauses(excluded))
            }
            (Proof::Invariant(excluded), Kind::Beginning(_) | Kind::Lasso(_)) => {
                ("inductive invariant of a product with an automaton".to_owned(), Certificate::clauses(excluded))
            }
            (Proof::Counted(bound, excluded), _) => {
                let kind = format!(
                    "inductive invariant of a product with an automaton and a counter of fair cycles, of which there are \
                     fewer than {bound}"
                );
                (kind, Certificate::clauses(excluded))
            }
            (Proof::Induction(depth, excluded), _) => {
                let mut kind = format!("{depth}-induction over paths of different states");
                if !unit.assumptions().is_empty() {
                    kind += &format!(", where these hold: {}", unit.assumptions().join(", "));
                }
                (kind, Certificate::clauses(excluded))
            }
            (Proof::AllRuns(depth), _) => (format!("all runs have fewer than {depth} steps"), Vec::new()),
        };
        let Definitions { gates, equal } = definitions;
        let cells = if equal.is_empty() { session.cells() } else { session.all_cells() };
        let certificate = Certificate {
            schema: 1,
            model: self.task.system.name.clone(),
            property: self.properties[number].id(),
            kind,
            cells,
            clauses,
            gates,
            equal,
        };
        Some(certificate.text())
    }

    fn report(&mut self, units: &[Unit]) -> Result<(), NotBegun> {
        let statistics = &mut self.statistics;
        let open = units.iter().filter(|unit| !unit.numbers.is_empty()).map(Unit::depth).min();
        let depth = open.or_else(|| units.iter().map(Unit::depth).max()).unwrap_or(0);
        statistics.bound = depth as u64;
        statistics.clauses = units.iter().map(|unit| unit.effort().clauses).sum();
        statistics.conflicts = units.iter().map(|unit| unit.effort().conflicts).sum();
        statistics.frames = units.iter().map(|unit| unit.lemmas().0).max().unwrap_or(0) as u64;
        statistics.lemmas = units.iter().map(|unit| unit.lemmas().1).sum::<usize>() as u64;
        let progress = Progress {
            depth: depth as u64,
            clauses: statistics.clauses,
            conflicts: statistics.conflicts,
            frames: statistics.frames,
            ..Progress::default()
        };
        Ok(self.budget.report(&progress)?)
    }

    /// The answer that a run to a bad state gives.
    fn violated(&self, session: &Session<'_>, kind: Kind, number: usize, path: &Path, shortest: Shortest) -> Answer {
        let property = &self.properties[number];
        let Some(start) = session.start(path) else {
            return Answer::to(property, ENGINE, Reason::Unsupported(TOO_MANY_STARTS.into()));
        };
        let evidence = match (kind, &self.asked[number]) {
            (Kind::Safety, Some(Asked::Goal(goal))) => {
                let (mut moves, _) = moves(&session.steps(path));
                if matches!(goal, Goal::Violation) {
                    moves.extend(session.last_violation(path));
                }
                Evidence::Run(Run { start, moves })
            }
            _ => beginning(session, path, start),
        };
        let note = (shortest == Shortest::Unknown).then(|| MAY_BE_SHORTER.to_owned());
        let answer = self.validated(property, &evidence);
        Answer { note: answer.note.clone().or(note), ..answer }
    }

    fn validated(&self, property: &Property, evidence: &Evidence) -> Answer {
        Answer::violated(self.task.system, property, ENGINE, evidence, self.task.settings, self.budget)
    }

    /// The answer that a lasso gives.
    fn violated_by_lasso(&self, session: &Session<'_>, number: usize, lasso: &FoundLasso) -> Answer {
        let property = &self.properties[number];
        let Some(start) = session.start(&lasso.path) else {
            return Answer::to(property, ENGINE, Reason::Unsupported(TOO_MANY_STARTS.into()));
        };
        let steps = session.steps(&lasso.path);
        let (before, after) = steps.split_at(lasso.prefix.min(steps.len()));
        let (mut prefix, stopped_before) = moves(before);
        let (cycle, stopped) = moves(after);
        if stopped_before || stopped {
            prefix.extend(session.fault_in(lasso.path.end()));
        }
        let ending = if cycle.is_empty() { Ending::Stutter } else { Ending::Cycle };
        let (prefix_tags, cycle_tags) = (Vec::new(), Vec::new());
        let evidence = Evidence::Lasso(Lasso { start, prefix, cycle, ending, prefix_tags, cycle_tags });
        self.validated(property, &evidence)
    }
}

/// The moves among steps, and whether a fault has stopped the run.
fn moves(steps: &[Taken]) -> (Vec<Move>, bool) {
    let taken = |step: &Taken| match step {
        Taken::Move(taken) => Some(taken.clone()),
        Taken::Rest | Taken::Stop => None,
    };
    (steps.iter().filter_map(taken).collect(), steps.contains(&Taken::Stop))
}

/// A run whose beginning decides.
fn beginning(session: &Session<'_>, path: &Path, start: ample_model::StartNumber) -> Evidence {
    let (mut prefix, stopped) = moves(&session.steps(path));
    if stopped {
        prefix.extend(session.fault_in(path.end()));
    }
    let ending = if stopped { Ending::Stutter } else { Ending::Open };
    let (prefix_tags, cycle_tags) = (Vec::new(), Vec::new());
    Evidence::Lasso(Lasso { start, prefix, cycle: Vec::new(), ending, prefix_tags, cycle_tags })
}

/// Why a property is not for partial exploration.
fn not_partial(property: &Property, task: &Task<'_>) -> Option<&'static str> {
    if task.settings.fairness != Fairness::None || !task.settings.justice.is_empty() {
        return Some("partial exploration does not know fairness; `--sat-method bmc` does");
    }
    match &property.question {
        Question::Ltl(temporal) if temporal.formula.has_next() => {
            Some("partial exploration is not for formulas with X; `--sat-method bmc` is")
        }
        Question::Automaton(_) | Question::Progress => {
            Some("partial exploration is for formulas without X; `--sat-method bmc` is for automata, too")
        }
        _ => None,
    }
}

/// A question in the terms of this engine.
fn asked_by(property: &Property, budget: &Budget) -> Result<Asked, Reason> {
    if let Some(goal) = Goal::of(&property.question) {
        return Ok(Asked::Goal(goal));
    }
    let of_claim = |claim: ClaimAutomaton| {
        let ClaimAutomaton { edges, initial, sets, atoms, stutters, .. } = claim;
        Asked::Linear(Linear { watcher: Watcher { edges, initial, sets }, atoms, stutters })
    };
    match &property.question {
        Question::Ltl(temporal) => negation(temporal, budget),
        Question::Acceptance => negation(&justice::no_acceptance(), budget),
        Question::Progress => Ok(of_claim(ClaimAutomaton::non_progress())),
        Question::Automaton(automaton) => {
            let watcher = Watcher::of(&automaton.automaton);
            Ok(Asked::Linear(Linear { watcher, atoms: automaton.atoms.clone(), stutters: true }))
        }
        _ => Err(Reason::Unsupported("the bounded engine does not check this".into())),
    }
}

/// The automaton of the runs that do not satisfy a formula.
fn negation(temporal: &Temporal, budget: &Budget) -> Result<Asked, Reason> {
    let names: Atoms = (0..temporal.atoms.len()).map(|number| format!("p{number}")).collect();
    let options = ample_logic::Options { acceptance: Acceptance::default(), ..ample_logic::Options::default() };
    match ample_logic::translate_within(&!temporal.formula.clone(), &names, options, budget) {
        Ok(automaton) => {
            let watcher = Watcher::of(&automaton);
            Ok(Asked::Linear(Linear { watcher, atoms: temporal.atoms.clone(), stutters: true }))
        }
        Err(TranslateError::Interrupted(interrupted)) => Err(interrupted.into()),
        Err(error) => Err(Reason::Unsupported(error.to_string())),
    }
}
