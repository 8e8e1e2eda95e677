//! Questions and answers of a session.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::ctl::{Ctl, Evaluator, FairRuns, known_atoms};
use crate::diagram::{Bdd, Diagrams};
use crate::evidence::{self, Explainer};
use crate::ltl::{self, Lasso, Product, Reduction, Runs};
use crate::partial::{self, areduce, explore, improviso, reduced_space};
use crate::process_model::{Demand, Safe, process_model};
use crate::reach::{Effort, reachable, run_to};
use crate::sets::Sets;
use crate::space::SpaceSets;
use ample_logic::explain::sufficient;
use ample_logic::{Formula, Unary};
use ample_model::{
    BinaryOp, Certainty, Distance, EdgeId, Expr, Interpreter, ProcessId, Property, Question, Reason, StartNumber,
    Statistics, System, Temporal,
};

use super::Options;
use super::session::{Session, Setting};
use super::turns::{Strategy, in_time, take_turns};
use super::{AlternativeEncoding, Direction, Done, Exploration, Notes, Preserve, Reach, Symbolic, Variant};
use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::evidence::{Ending, Evidence, Lasso as Run, Tree, one_of_starts, validate, without_run};
use ample_engine::faults::{Fallible, Survey};
use ample_engine::justice;
use ample_engine::report::{Answer, Cut, DiagramStatistics, ValidOutcome, Verdict};
use ample_engine::settings::Fairness;

/// So long at least it is looked for what shows an answer that another strategy has found.
const FOR_EVIDENCE: Duration = Duration::from_secs(5);
/// So long a formula of linear time is looked at as one of branching time.
const AS_BRANCHING: Duration = Duration::from_secs(30);

/// A property with its conditions numbered.
pub(super) enum Asked {
    Deadlock,
    Assertions,
    /// The number of its condition.
    Invariant(usize),
    /// The numbers of its atoms.
    Ctl(Temporal, Vec<usize>),
    Ltl(Temporal, Vec<usize>),
    /// The numbers of the conditions that a value is positive, and that it has each of its bits, the highest first.
    Bound(usize, Vec<usize>),
    /// The numbers of its atoms.
    Distance(Distance, Vec<usize>),
    /// It is not for this engine.
    Not(&'static str),
}

/// The conditions of all properties, each once.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    pub(super) all: Vec<std::borrow::Cow<'a, Expr>>,
}

impl<'a> Conditions<'a> {
    pub(super) fn number(&mut self, expr: std::borrow::Cow<'a, Expr>) -> usize {
        match self.all.iter().position(|known| *known == expr) {
            Some(number) => number,
            None => {
                self.all.push(expr);
                self.all.len() - 1
            }
        }
    }

    fn numbers(&mut self, temporal: &Temporal) -> Vec<usize> {
        temporal.atoms.iter().map(|atom| self.number(std::borrow::Cow::Owned(atom.clone()))).collect()
    }
}

pub(super) fn asked<'a>(property: &'a Property, options: &Options, conditions: &mut Conditions<'a>) -> Asked {
    if let Some(why) = justice::refusal(&property.question, &options.settings.justice) {
        return Asked::Not(why);
    }
    match &property.question {
        Question::Deadlock => Asked::Deadlock,
        Question::Assertions => Asked::Assertions,
        Question::Invariant(expr) => Asked::Invariant(conditions.number(std::borrow::Cow::Borrowed(expr))),
        Question::Ctl(temporal) => Asked::Ctl(temporal.clone(), conditions.numbers(temporal)),
        Question::Ltl(temporal) => Asked::Ltl(temporal.clone(), conditions.numbers(temporal)),
        Question::Acceptance => {
            let temporal = justice::no_acceptance();
            let numbers = conditions.numbers(&temporal);
            Asked::Ltl(temporal, numbers)
        }
        Question::Progress => {
            // Again and again, somebody is at such a label.
            let waits = Temporal::state(Expr::NonProgress);
            let temporal = waits.with((!waits.formula.clone()).finally().globally());
            let numbers = conditions.numbers(&temporal);
            Asked::Ltl(temporal, numbers)
        }
        Question::Bound(expr) => {
            let positive = Expr::binary(BinaryOp::Greater, expr.clone(), Expr::Const(0));
            let positive = conditions.number(std::borrow::Cow::Owned(positive));
            let bits = (0..VALUE_BITS).rev().map(|bit| conditions.number(std::borrow::Cow::Owned(has_bit(expr, bit))));
            Asked::Bound(positive, bits.collect())
        }
        Question::Distance(distance) => {
            let atoms = distance.atoms.iter().map(|atom| conditions.number(std::borrow::Cow::Borrowed(atom)));
            Asked::Distance(distance.clone(), atoms.collect())
        }
        Question::Automaton(_) => Asked::Not(NO_AUTOMATA),
        Question::Never(_) => Asked::Not(NO_CLAIMS),
    }
}

/// Of numbers of steps.
const NO_DISTANCES: &str = "distances are computed in synchronous systems only";
/// Of never claims.
pub(super) const NO_CLAIMS: &str = "the symbolic engine does not run never claims; `--engine explicit` does";
/// Of automata.
pub(super) const NO_AUTOMATA: &str =
    "the symbolic engine does not take automata as properties; `--engine explicit` does";
/// Of what comes next, where there may be nothing.
pub(super) const NO_NEXT: &str = "where a state without moves has no next one, X in branching time is for nets only";

/// Bits of a value that is not negative.
const VALUE_BITS: i64 = 63;

/// The bit of that number in the value of an expression. Distances of shifts are less than 32.
fn has_bit(expr: &Expr, bit: i64) -> Expr {
    let shifted = |expr, by| Expr::binary(BinaryOp::ShiftRight, expr, Expr::Const(by));
    let lowest = shifted(shifted(shifted(expr.clone(), bit / 3), bit / 3), bit - bit / 3 * 2);
    Expr::binary(BinaryOp::BitAnd, lowest, Expr::Const(1))
}

/// Answers all properties. A formula that may be a fault somewhere is asked for that too, as an invariant.
pub fn all(
    system: &System,
    alternatives: &[AlternativeEncoding],
    properties: &[Property],
    options: &Options,
    board: &Board,
    (budget, notes): (&Budget, &Notes),
) -> Done {
    let survey = Survey::of(system);
    let fallible: Vec<Fallible> =
        properties.iter().map(|property| survey.fallible(property, &options.settings.justice)).collect();
    let mut asked = properties.to_vec();
    let mut formulas = Vec::new();
    for (number, one) in fallible.iter().enumerate().filter(|(_, one)| !one.is_empty()) {
        asked.push(Property { question: Question::Invariant(one.invariant()), ..Property::assertions() });
        formulas.push(number);
    }
    let mut done = each(system, alternatives, (&asked, &formulas), options, board, (budget, notes));
    let evaluated = done.answers.split_off(properties.len().min(done.answers.len()));
    for (number, evaluated) in formulas.into_iter().zip(evaluated) {
        let answer = done.answers[number].clone();
        done.answers[number] = fallible[number].joined(system, answer, &evaluated.outcome);
    }
    if let Some(cut) = &done.cut {
        cut.tell(&mut done.answers);
    }
    done.answers.iter().enumerate().for_each(|(number, answer)| board.post(number, answer));
    done
}

/// Answers properties, the last of which say that the formulas of these numbers can be evaluated.
fn each(
    system: &System,
    alternatives: &[AlternativeEncoding],
    (properties, formulas): (&[Property], &[usize]),
    options: &Options,
    board: &Board,
    (budget, notes): (&Budget, &Notes),
) -> Done {
    if system.synchronous().is_some() {
        return super::joint::each(system, (properties, formulas), options, board, (budget, notes));
    }
    let mut symbolic = options.symbolic;
    if options.exploration().is_some() && symbolic.reach == Reach::Saturation {
        // What is reduced is not searched in full first.
        symbolic.reach = Reach::None;
    }
    let setting = Setting { symbolic, budget, notes };
    let mut conditions = Conditions::default();
    let mut asked: Vec<Asked> = properties.iter().map(|property| asked(property, options, &mut conditions)).collect();
    if system.dead_ends {
        asked
            .iter_mut()
            .filter(|one| matches!(one, Asked::Ctl(temporal, _) if temporal.formula.has_next()))
            .for_each(|one| *one = Asked::Not(NO_NEXT));
    }
    let branches = asked.iter().any(|asked| matches!(asked, Asked::Ctl(..)));
    let just = options.settings.justice.iter().filter(|_| branches);
    let justice: Vec<usize> = just.map(|expr| conditions.number(std::borrow::Cow::Borrowed(expr))).collect();
    let expressions: Vec<&Expr> = conditions.all.iter().map(AsRef::as_ref).collect();
    let mut session = match Session::begin(system, alternatives, &expressions, &setting) {
        Ok(session) => session,
        Err(reason) => return nothing(properties, reason),
    };
    let mut answers: Vec<Answer> = Vec::new();
    let mut ended = None;
    let first = properties.len() - formulas.len();
    for (number, (property, asked)) in properties.iter().zip(&asked).enumerate() {
        let formula = number.checked_sub(first).map(|number| &answers[formulas[number]]);
        if formula.is_some_and(|formula| formula.verdict() == Verdict::Violated) {
            answers.push(answer(property, Reason::Unsupported("nobody needs to know".into())));
            continue;
        }
        // It is left alone as soon as another engine has the answer.
        let answered = board.answered(&[number.checked_sub(first).map_or(number, |number| formulas[number])]);
        let setting = Setting { budget: &budget.clone().with_cancellation(&answered), ..setting };
        session.space.diagrams.set_budget(setting.budget.clone());
        let known = HashMap::new();
        let mut checker =
            Checker { session: &mut session, setting: &setting, options, property, justice: &justice, known };
        let judged = setting.budget.check().map_err(Reason::from).and_then(|()| checker.judge(asked));
        session.space.diagrams.set_budget(budget.clone());
        match judged {
            Ok(answer) => {
                // What may have to be said beside an answer is not known yet, nor whether a formula can be evaluated.
                let is_final = answer.verdict() == Verdict::Violated || session.space.faulty.is_false();
                if is_final && number < first && !formulas.contains(&number) {
                    board.post(number, &answer);
                }
                answers.push(answer);
            }
            Err(why) => {
                answers.push(answer(property, why.clone()));
                // Memory may do for another property; a wish to end is for all.
                if !answered.is_cancelled() {
                    ended = ended.or(Some(why));
                }
            }
        }
    }
    let reduction = options.exploration().map(exploration_text);
    let statistics = match &session.reached {
        Some(reached) => counted(&session, reached),
        None => Ok(Statistics::default()),
    };
    let statistics = statistics.unwrap_or_default();
    let cut = cut(&mut session, options).unwrap_or_else(|why| {
        ended = ended.take().or(Some(why));
        None
    });
    Done { answers, ended, statistics, diagrams: session.statistics(), reduction, cut }
}

fn exploration_text(exploration: Exploration) -> String {
    match exploration {
        Exploration::Partial(Variant::All) => "partial exploration",
        Exploration::Partial(Variant::New) => "partial exploration, new states only",
        Exploration::Partial(Variant::NotExpanded) => "partial exploration, states not yet expanded only",
        Exploration::ImProviso => "ImProviso",
        Exploration::AReduce => "AReduce",
        Exploration::Static => "static, by the first process that has a safe step",
    }
    .into()
}

pub(super) fn nothing(properties: &[Property], reason: Reason) -> Done {
    let answers = properties.iter().map(|property| answer(property, reason.clone())).collect();
    Done {
        answers,
        // What is not supported is said with each property.
        ended: Some(reason).filter(|reason| properties.is_empty() || !matches!(reason, Reason::Unsupported(_))),
        statistics: Statistics::default(),
        diagrams: DiagramStatistics::default(),
        reduction: None,
        cut: None,
    }
}

/// What is known of diagrams if the work ended before the relations were complete.
pub(super) fn unbuilt(bits: u32, diagrams: &Diagrams) -> DiagramStatistics {
    let size = diagrams.size();
    DiagramStatistics { bits, peak_nodes: size.peak, reorderings: size.reorderings, ..DiagramStatistics::default() }
}

/// The run-time errors among the steps out of the states that were reached, or of those that an exploration reaches. They
/// are not looked for if nobody needed the reachable states.
fn cut(session: &mut Session<'_>, options: &Options) -> Result<Option<Cut>, Reason> {
    if session.space.faulty.is_false() || session.alternative.is_some() {
        return Ok(None);
    }
    let (states, at_least) = match (&session.reached, options.exploration()) {
        (Some(reached), None) => (reached.clone(), false),
        (None, None) => return Ok(None),
        (_, Some(exploration)) => {
            let seen = session.seen(std::slice::from_ref(&session.space.faulty));
            let symbolic = Symbolic { preserve: Preserve::Ltl, ..options.symbolic };
            (reduced_states(session, exploration, symbolic, &seen)?, true)
        }
    };
    let interpreter = Interpreter::new(session.system);
    let mut met: BTreeMap<(u32, u32), (String, u64)> = BTreeMap::new();
    for (number, step) in session.space.steps.iter().enumerate() {
        let faulty = states.and(&step.fault)?;
        let Some(bits) = faulty.pick() else { continue };
        let state = session.encoding.state(session.system, &|bit| bits[bit as usize]);
        let taken = session.taken(number);
        let Some((process, edge)) = taken.movers().next() else { continue };
        let Some(process) = state.processes.get(process as usize) else { continue };
        let error = || interpreter.step(&state, &taken).violation().unwrap_or_default();
        let entry = met.entry((process.process.0, edge.0)).or_insert_with(|| (error(), 0));
        entry.1 = entry.1.saturating_add(u64::try_from(&session.space.count_all(&faulty)).unwrap_or(u64::MAX));
    }
    let met = met
        .into_iter()
        .map(|((process, edge), (error, steps))| (Some((ProcessId(process), EdgeId(edge))), error, steps));
    Ok(Cut::of(session.system, met, at_least))
}

/// Counts the states.
pub fn count(
    system: &System,
    alternatives: &[AlternativeEncoding],
    options: &Options,
    (budget, notes): (&Budget, &Notes),
) -> Done {
    if system.synchronous().is_some() {
        return super::joint::count(system, options, (budget, notes));
    }
    let mut symbolic = options.symbolic;
    if options.exploration().is_some() {
        symbolic.reach = Reach::None;
    }
    let setting = Setting { symbolic, budget, notes };
    let mut session = match Session::begin(system, alternatives, &[], &setting) {
        Ok(session) => session,
        Err(reason) => return nothing(&[], reason),
    };
    let counted = match options.exploration() {
        Some(exploration) => {
            let deadlocks = options.symbolic.preserve == Preserve::Deadlocks;
            let seen = if deadlocks { Vec::new() } else { seen_by_all(&mut session) };
            reduced_states(&mut session, exploration, options.symbolic, &seen)
        }
        None => session.reached(&setting),
    };
    let counted = counted.and_then(|set| {
        session.reached = Some(set.clone());
        self::counted(&session, &set)
    });
    let counted = counted.and_then(|statistics| Ok((statistics, cut(&mut session, options)?)));
    let reduction = options.exploration().map(exploration_text);
    let diagrams = session.statistics();
    let (statistics, cut, ended) = match counted {
        Ok((statistics, cut)) => (statistics, cut, None),
        Err(reason) => (Statistics::default(), None, Some(reason)),
    };
    Done { answers: Vec::new(), ended, statistics, diagrams, reduction, cut }
}

/// The bits that the properties of the model look at.
fn seen_by_all(session: &mut Session<'_>) -> Vec<u32> {
    let mut seen = Vec::new();
    for property in &session.system.properties {
        property.walk(&mut |expr| {
            let expr = session.alternative.map_or_else(|| expr.clone(), |alternative| alternative.condition(expr));
            if let Ok((value, fault)) = session.encoding.condition(session.solved(), &expr) {
                seen.extend(session.encoding.dag.support(value));
                seen.extend(session.encoding.dag.support(fault));
            }
        });
    }
    seen.sort_unstable();
    seen.dedup();
    seen
}

fn reduced_states(
    session: &mut Session<'_>,
    exploration: Exploration,
    Symbolic { preserve, reach, .. }: Symbolic,
    seen: &[u32],
) -> Result<Bdd, Reason> {
    let demand = if preserve == Preserve::Ctl { Demand::Linear } else { Demand::Safe };
    let space = &session.space;
    let model = process_model(space, seen, demand)?;
    let everything = space.diagrams.constant(true);
    let set = match (exploration, preserve) {
        (Exploration::ImProviso, _) => improviso(space, &model, &space.initial, &mut session.effort)?,
        (Exploration::AReduce, _) => areduce(space, &model, &space.initial, &mut session.effort)?,
        (Exploration::Static, _) => {
            let once = reduced_space(space, &model)?;
            reachable(&once, &once.initial, reach.method(), &mut session.effort, &mut |_| Ok(true))?
        }
        (Exploration::Partial(_), Preserve::Deadlocks) => {
            let preserve = partial::Preserve::Deadlocks;
            explore(space, &model, &space.initial, &everything, preserve, &mut session.effort)?
        }
        (Exploration::Partial(variant), _) => {
            let preserve = partial::Preserve::Properties(variant);
            explore(space, &model, &space.initial, &everything, preserve, &mut session.effort)?
        }
    };
    Ok(set)
}

fn counted(session: &Session<'_>, set: &Bdd) -> Result<Statistics, Reason> {
    Ok(super::counted(&session.space.count(set)?))
}

/// Who it is.
pub(super) const ENGINE: &str = "symbolic";

const NO_RUN: &str = "no run leads to a state that was reached";

pub(super) fn answer(property: &Property, outcome: impl Into<ValidOutcome>) -> Answer {
    Answer::to(property, ENGINE, outcome)
}

/// Judges one property.
pub(super) struct Checker<'c, 's> {
    pub(super) session: &'c mut Session<'s>,
    pub(super) setting: &'c Setting<'c>,
    pub(super) options: &'c Options,
    pub(super) property: &'c Property,
    /// The numbers of the conditions that must hold again and again on a run that counts, in branching time.
    pub(super) justice: &'c [usize],
    /// The reachable states in which parts of the formula hold, as far as they were computed to answer it.
    known: HashMap<Ctl, Bdd>,
}

impl Checker<'_, '_> {
    fn judge(&mut self, asked: &Asked) -> Result<Answer, Reason> {
        match asked {
            Asked::Deadlock => {
                let bad = self.session.space.end.not();
                self.reachable(&bad)
            }
            Asked::Assertions => {
                let mut bad = self.session.space.diagrams.constant(false);
                for step in &self.session.space.steps {
                    bad = bad.or(&step.violation)?;
                }
                self.reachable(&bad)
            }
            Asked::Invariant(number) => {
                let bad = self.session.conditions[*number].not().and(&self.session.space.visible)?;
                self.reachable(&bad)
            }
            Asked::Ctl(temporal, atoms) if self.is_fair() => self.branching_fairly(temporal, atoms),
            Asked::Ctl(temporal, atoms) => self.branching(temporal, atoms),
            Asked::Ltl(temporal, atoms) => self.linear(temporal, atoms),
            Asked::Bound(positive, bits) => self.largest(*positive, bits),
            Asked::Distance(..) => Ok(self.unknown(NO_DISTANCES)),
            Asked::Not(why) => Ok(self.unknown(why)),
        }
    }

    /// The largest value that an expression has in a reachable state, bit by bit; 0 if it is never positive.
    fn largest(&mut self, positive: usize, bits: &[usize]) -> Result<Answer, Reason> {
        let reached = self.session.reached(self.setting)?;
        let mut largest = reached.and(&self.session.space.visible)?.and(&self.session.conditions[positive])?;
        let mut value = 0u64;
        for bit in bits {
            let larger = largest.and(&self.session.conditions[*bit])?;
            value = value << 1 | u64::from(!larger.is_false());
            if !larger.is_false() {
                largest = larger;
            }
        }
        Ok(Answer { value: Some(value), ..self.holds() })
    }

    pub(super) fn unknown(&self, why: &str) -> Answer {
        answer(self.property, Reason::Unsupported(why.into()))
    }

    fn internal_error(&self, what: &str) -> Answer {
        answer(self.property, Reason::Internal(what.into()))
    }

    pub(super) fn holds(&self) -> Answer {
        answer(self.property, Certainty::Proved)
    }

    /// The answer that evidence gives, once it has been validated.
    pub(super) fn violated(&self, evidence: &Evidence) -> Answer {
        let settings = &self.options.settings;
        Answer::violated(self.session.system, self.property, ENGINE, evidence, settings, self.setting.budget)
    }

    /// Nothing bad is reachable; or a run to it.
    fn reachable(&mut self, bad: &Bdd) -> Result<Answer, Reason> {
        let question = &self.property.question;
        let reached = match (self.session.reached.is_some(), self.options.exploration()) {
            (false, Some(exploration)) => self.reduced(bad, exploration)?,
            _ => self.session.reached(self.setting)?,
        };
        let mut bad = bad.and(&reached)?;
        if matches!(question, Question::Deadlock) {
            bad = self.session.space.resting(&bad)?;
        }
        if bad.is_false() {
            return Ok(self.holds());
        }
        let space = &self.session.space;
        let Some(run) = run_to(&mut SpaceSets::new(space), &space.initial, &reached, &bad)? else {
            return Ok(self.internal_error(NO_RUN));
        };
        let mut moves: Vec<_> = run.steps.iter().map(|(number, _)| self.session.taken(*number)).collect();
        if matches!(question, Question::Assertions)
            && let Some(number) = space.steps.iter().position(|step| step.violation.contains(run.end()))
        {
            moves.push(self.session.taken(number));
        }
        let Some(start) = self.session.start(&run.start) else { return Ok(self.too_many_starts()) };
        Ok(self.violated(&Evidence::Run(ample_model::Run { start, moves })))
    }

    /// The states of a reduced system in which something bad is met if it is in the full one.
    fn reduced(&mut self, bad: &Bdd, exploration: Exploration) -> Result<Bdd, Reason> {
        let is_deadlock = matches!(self.property.question, Question::Deadlock);
        let seen = if is_deadlock { Vec::new() } else { self.session.seen(std::slice::from_ref(bad)) };
        let preserve = if is_deadlock { Preserve::Deadlocks } else { Preserve::Ltl };
        let symbolic = Symbolic { preserve, ..self.options.symbolic };
        reduced_states(self.session, exploration, symbolic, &seen)
    }

    pub(super) fn too_many_starts(&self) -> Answer {
        self.unknown("it is violated, but the initial state of the run has a number beyond what a trace can tell")
    }

    /// A fault inside an atomic sequence stops a run where no state counts.
    pub(super) fn stops_in_passing(&mut self) -> Result<bool, Reason> {
        let space = &self.session.space;
        if space.faulty.is_false() || !space.has_transient() {
            return Ok(false);
        }
        let reached = self.session.reached(self.setting)?;
        let space = &self.session.space;
        Ok(!reached.and(&space.faulty)?.minus(&space.visible)?.is_false())
    }

    /// Finds the states without a move. If a reduced search for deadlocks meets none, there are none to be reached.
    pub(super) fn know_what_rests(&mut self) -> Result<(), Reason> {
        if self.session.space.idle.is_some() {
            return Ok(());
        }
        if self.session.reached.is_none() {
            let partial = Exploration::Partial(Variant::All);
            let symbolic = Symbolic { preserve: Preserve::Deadlocks, ..self.options.symbolic };
            let met = reduced_states(self.session, partial, symbolic, &[])?;
            if self.session.space.resting(&met)?.is_false() {
                self.session.space.idle = Some(self.session.space.diagrams.constant(false));
                return Ok(());
            }
        }
        self.session.reached(self.setting)?;
        Ok(())
    }

    pub(super) fn atoms(&self, numbers: &[usize]) -> Vec<Bdd> {
        numbers.iter().map(|number| self.session.conditions[*number].clone()).collect()
    }

    fn model(&self, atoms: &[Bdd], demand: Demand) -> Result<Vec<Safe>, Reason> {
        Ok(process_model(&self.session.space, &self.session.seen(atoms), demand)?)
    }

    fn branching(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Answer, Reason> {
        if self.stops_in_passing()? {
            return Ok(self.unknown(IN_PASSING));
        }
        let Some(ctl) = Ctl::of(&temporal.formula) else {
            return Ok(self.unknown("the formula is not CTL: path quantifiers and temporal operators must alternate"));
        };
        let atoms = self.atoms(numbers);
        let asked = match self.options.exploration() {
            Some(Exploration::Partial(variant)) if !ctl.has_next() => Some(variant),
            _ => None,
        };
        let strategies = self.strategies(asked, ctl.has_next());
        let begun = Instant::now();
        let diagrams = self.session.space.diagrams.clone();
        let (holds, turn) = take_turns(&diagrams, &strategies, |strategy| self.holds_by(*strategy, &ctl, &atoms))?;
        if holds {
            let note = note(self.options, asked.is_none()).or_else(|| turn.description());
            let patience = FOR_EVIDENCE.max(4 * begun.elapsed());
            let answer = self.with_witness(temporal, &ctl, &atoms, patience)?;
            let notes: Vec<String> = note.into_iter().chain(answer.note.clone()).collect();
            return Ok(Answer { note: (!notes.is_empty()).then(|| notes.join("; ")), ..answer });
        }
        if strategies.len() == 1 {
            return self.show_branching(temporal, &ctl, &atoms);
        }
        // The other strategy has not come to its end; what shows the answer may need it.
        let patience = FOR_EVIDENCE.max(4 * begun.elapsed());
        let shown = in_time(&diagrams, patience, || self.show_branching(temporal, &ctl, &atoms))?;
        let mut answer = shown.unwrap_or_else(|| self.violated_unseen());
        answer.note = answer.note.or_else(|| turn.description());
        Ok(answer)
    }

    /// The answer that the formula holds, with a witness from one of the start states if it asks for runs. The answer does
    /// not depend on it, so it may take no longer than that.
    fn with_witness(
        &mut self,
        temporal: &Temporal,
        ctl: &Ctl,
        atoms: &[Bdd],
        patience: Duration,
    ) -> Result<Answer, Reason> {
        if !may_be_shown_by_runs(&temporal.formula, true) {
            return Ok(self.holds());
        }
        let diagrams = self.session.space.diagrams.clone();
        let found = in_time(&diagrams, patience, || {
            let start = start_states(self.session)?;
            let mut sets = SpaceSets::new(&self.session.space);
            let starts = if sets.is_single(&start)? { None } else { Some(sets.count(&start)?) };
            Ok((self.explain(&temporal.formula, ctl, true, atoms, None)?, starts))
        });
        let ((start, tree), starts) = match found {
            Ok(Some((Ok(found), starts))) => (found, starts),
            Ok(Some((Err(answer), _))) => return Ok(*answer),
            Err(why @ Reason::Unsupported(_)) => return Err(why),
            // It holds, whether there is room and time for a witness or not.
            Ok(_) | Err(_) => return Ok(self.holds()),
        };
        let evidence = Evidence::Tree(start, tree);
        let answer = Answer::witnessed(self.session.system, self.property, ENGINE, &evidence, self.setting.budget);
        let note = starts.filter(|_| answer.witness.is_some()).map(one_of_starts);
        Ok(Answer { note, ..answer })
    }

    /// The strategies to evaluate a formula: the one that was asked for, or all that there are.
    fn strategies(&self, asked: Option<Variant>, has_next: bool) -> Vec<Strategy> {
        if let Some(variant) = asked {
            return vec![Strategy::Reduced(variant)];
        }
        match self.options.symbolic.direction {
            Direction::Backward => vec![Strategy::Backward],
            Direction::Forward => vec![Strategy::Forward],
            // Over all states there is nothing to choose from.
            Direction::Auto if self.session.reached.is_none() => vec![Strategy::Backward],
            Direction::Auto if has_next => vec![Strategy::Backward, Strategy::Forward],
            Direction::Auto => vec![Strategy::Backward, Strategy::Forward, Strategy::Reduced(Variant::All)],
        }
    }

    /// Whether a formula holds at the start.
    fn holds_by(&mut self, strategy: Strategy, ctl: &Ctl, atoms: &[Bdd]) -> Result<bool, Reason> {
        let model = if let Strategy::Reduced(_) = strategy { self.model(atoms, Demand::Linear)? } else { Vec::new() };
        let within = match &self.session.reached {
            Some(reached) => reached.clone(),
            None => self.session.space.diagrams.constant(true),
        };
        let start = start_states(self.session)?;
        let mut sets = SpaceSets::new(&self.session.space);
        let mut evaluator = Evaluator::new(&mut sets, known_atoms(atoms), within)?;
        let holds = match strategy {
            Strategy::Backward => start.is_subset(&evaluator.states(ctl)?)?,
            Strategy::Forward => !evaluator.some(&start, &ctl.clone().not(), None)?,
            Strategy::Reduced(variant) => !evaluator.some(&start, &ctl.clone().not(), Some((&model[..], variant)))?,
        };
        add(&mut self.session.effort, &evaluator.effort);
        let known = evaluator.into_known();
        if self.session.reached.is_some() {
            self.known = known;
        }
        Ok(holds)
    }

    /// It is known to be violated, and there is no run to show it.
    pub(super) fn violated_unseen(&self) -> Answer {
        answer(self.property, without_run(&self.property.question, "by decision diagrams"))
    }

    /// What shows that the formula does not hold.
    fn show_branching(&mut self, temporal: &Temporal, ctl: &Ctl, atoms: &[Bdd]) -> Result<Answer, Reason> {
        Ok(match self.explain(&temporal.formula, ctl, false, atoms, None)? {
            Ok((start, tree)) => self.violated(&Evidence::Tree(start, tree)),
            Err(answer) => *answer,
        })
    }

    /// A start state in which the formula has the value, and what shows it; or the answer if there is no such thing.
    pub(super) fn explain(
        &mut self,
        formula: &Formula,
        ctl: &Ctl,
        value: bool,
        atoms: &[Bdd],
        fair: Option<&FairRuns>,
    ) -> Result<Result<(StartNumber, Tree), Box<Answer>>, Reason> {
        let reached = self.session.reached(self.setting)?;
        let space = &self.session.space;
        let mut sets = SpaceSets::new(space);
        let mut evaluator = Evaluator::new(&mut sets, known_atoms(atoms), reached)?;
        evaluator = match fair {
            Some(fair) => evaluator.over(fair)?,
            None => evaluator.knowing(std::mem::take(&mut self.known)),
        };
        let states = evaluator.states(ctl)?;
        let start = start_states(self.session)?;
        let shown = if value { start.and(&states)? } else { start.minus(&states)? };
        let Some(mut start_bits) = shown.pick() else {
            return Ok(Err(Box::new(self.internal_error("the strategies for evaluating the formula disagree"))));
        };
        let explainer = Explainer::new(&mut evaluator);
        let mut explainer = if fair.is_some() { explainer.fairly() } else { explainer };
        let evidence = match value {
            true => explainer.runs(formula, &start_bits)?,
            false => Some(explainer.evidence(formula, &start_bits)?),
        };
        let Some(evidence) = evidence else { return Ok(Err(Box::new(self.holds()))) };
        drop(evaluator);
        let mut tree = self.tree(&evidence);
        if !space.initial.contains(&start_bits) {
            // The initial state is transient: the run from it comes first.
            let goal = space.visible.only(&start_bits)?;
            let Some(run) = run_to(&mut SpaceSets::new(space), &space.initial, &space.visible.not(), &goal)? else {
                return Ok(Err(Box::new(self.internal_error(NO_RUN))));
            };
            let moves: Vec<_> = run.steps.iter().map(|(number, _)| self.session.taken(*number)).collect();
            let after = moves.len();
            tree = Tree {
                formula: tree.formula.clone(),
                holds: tree.holds,
                prefix: moves,
                cycle: Vec::new(),
                stutters: false,
                branches: vec![(after, tree)],
            };
            start_bits = run.start;
        }
        Ok(match self.session.start(&start_bits) {
            Some(start) => Ok((start, tree)),
            None => Err(Box::new(if value { self.holds() } else { self.too_many_starts() })),
        })
    }

    fn tree(&self, evidence: &evidence::Evidence) -> Tree {
        let moves = |numbers: &[usize]| numbers.iter().map(|number| self.session.taken(*number)).collect();
        Tree {
            formula: evidence.formula.clone(),
            holds: evidence.holds,
            prefix: moves(&evidence.prefix),
            cycle: moves(&evidence.cycle),
            stutters: evidence.stutters,
            branches: evidence.branches.iter().map(|(after, branch)| (*after, self.tree(branch))).collect(),
        }
    }

    fn linear(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Answer, Reason> {
        if !temporal.formula.is_ltl() {
            return Ok(self.unknown(NOT_LINEAR));
        }
        // Where runs must go on, it does not matter how others end.
        if self.stutters() {
            if self.stops_in_passing()? {
                return Ok(self.unknown(IN_PASSING));
            }
            self.know_what_rests()?;
        }
        if let Some(answer) = self.as_branching(temporal, numbers)? {
            return Ok(answer);
        }
        let lasso = if self.options.symbolic.liveness_to_safety {
            self.lasso_by_saving(temporal, numbers)?
        } else {
            self.lasso(temporal, numbers, self.exploration(temporal))?
        };
        let Some(lasso) = lasso else {
            let reduced = self.exploration(temporal).is_some() && !self.options.symbolic.liveness_to_safety;
            return Ok(Answer { note: note(self.options, !reduced), ..self.holds() });
        };
        let Some(run) = self.run(&lasso) else { return Ok(self.too_many_starts()) };
        Ok(self.violated(&Evidence::Lasso(run)))
    }

    /// The answer to a formula that branching time can express, if nobody has said how to look at it and it does not take
    /// long.
    fn as_branching(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Option<Answer>, Reason> {
        let symbolic = &self.options.symbolic;
        let is_free = symbolic.direction == Direction::Auto
            && self.options.exploration().is_none()
            && !symbolic.liveness_to_safety
            && self.options.settings.fairness == Fairness::None
            && self.session.reached.is_some()
            && matches!(self.property.question, Question::Ltl(_));
        let formula = if is_free { ample_logic::as_ctl(&temporal.formula) } else { None };
        let Some(formula) = formula else { return Ok(None) };
        let Some(ctl) = Ctl::of(&formula) else { return Ok(None) };
        let atoms = self.atoms(numbers);
        let diagrams = self.session.space.diagrams.clone();
        let found = in_time(&diagrams, AS_BRANCHING, || self.holds_by(Strategy::Backward, &ctl, &atoms))?;
        match found {
            None => return Ok(None),
            Some(true) => return Ok(Some(self.holds())),
            Some(false) => {}
        }
        // What shows that a formula of this kind is false branches nowhere: it is a run.
        let Some(Ok((start, tree))) =
            in_time(&diagrams, AS_BRANCHING, || self.explain(&formula, &ctl, false, &atoms, None))?
        else {
            return Ok(None);
        };
        // Of a run that may go on anyhow it has to be seen that it does: an atomic sequence may have no end.
        let run = straightened(start, &tree).filter(|run| run.ending != Ending::Open);
        let Some(run) = run else { return Ok(None) };
        let settings = &self.options.settings;
        let validated =
            validate(self.session.system, self.property, &Evidence::Lasso(run), settings, self.setting.budget);
        Ok(validated.ok().map(|validated| Answer::refuted(self.property, ENGINE, validated)))
    }

    /// The reduction that the formula allows. It may postpone steps that strong fairness wants.
    fn exploration(&self, temporal: &Temporal) -> Option<Reduction> {
        let reduction = match self.options.exploration()? {
            Exploration::Partial(variant) => Reduction::Explored(variant),
            Exploration::Static => Reduction::Static,
            Exploration::ImProviso | Exploration::AReduce => return None,
        };
        let stutters =
            matches!(ample_logic::is_stutter_invariant_within(&temporal.formula, self.setting.budget), Ok(true));
        let allowed = stutters && !temporal.formula.has_next() && self.options.settings.fairness != Fairness::Strong;
        allowed.then_some(reduction)
    }

    /// A run that is stuck goes on for ever where it is, unless it is asked for progress.
    fn stutters(&self) -> bool {
        !matches!(self.property.question, Question::Progress)
    }

    /// A run that violates the formula.
    pub(super) fn lasso(
        &mut self,
        temporal: &Temporal,
        numbers: &[usize],
        reduced: Option<Reduction>,
    ) -> Result<Option<Lasso>, Reason> {
        let atoms = self.atoms(numbers);
        let runs = Runs { fairness: &self.fairness()?, stutters: self.stutters() };
        let is_fair = self.options.settings.fairness != Fairness::None;
        let demand = if is_fair { Demand::Fair } else { Demand::Safe };
        let model = if reduced.is_some() { self.model(&atoms, demand)? } else { Vec::new() };
        let Ok(product) = Product::of(&self.session.space, &temporal.formula, &atoms, &model, runs)? else {
            return Err(Reason::Unsupported(NOT_LINEAR.into()));
        };
        let strategies = match self.options.symbolic.direction {
            // Under fairness cycles are looked for backward.
            Direction::Auto if is_fair => vec![Strategy::Backward],
            Direction::Auto if reduced.is_some() => vec![Strategy::Forward],
            Direction::Auto => vec![Strategy::Backward, Strategy::Forward],
            Direction::Backward => vec![Strategy::Backward],
            Direction::Forward => vec![Strategy::Forward],
        };
        let diagrams = self.session.space.diagrams.clone();
        let mut effort = Effort::default();
        let (lasso, _) = take_turns(&diagrams, &strategies, |strategy| {
            let backward = *strategy == Strategy::Backward;
            Ok(product.check(ltl::Strategy { reduced, backward }, &mut effort)?)
        })?;
        add(&mut self.session.effort, &effort);
        Ok(lasso)
    }

    /// The same, as a state that is met again.
    fn lasso_by_saving(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Option<Lasso>, Reason> {
        let (space, atoms) = self.session.doubled(numbers, self.setting)?;
        let runs = Runs { fairness: &self.fairness_of(&space)?, stutters: self.stutters() };
        let Ok(product) = Product::of(&space, &temporal.formula, &atoms, &[], runs)? else {
            return Err(Reason::Unsupported(NOT_LINEAR.into()));
        };
        let mut effort = Effort::default();
        let bits = space.bits;
        let lasso = product.check_by_saving(&|bit| bits + bit, &mut effort)?;
        add(&mut self.session.effort, &effort);
        Ok(lasso)
    }

    /// The run in moves; `None` if its initial state has no number that can be told.
    pub(super) fn run(&self, lasso: &Lasso) -> Option<Run> {
        let moves = |numbers: &[usize]| numbers.iter().map(|number| self.session.taken(*number)).collect::<Vec<_>>();
        let mut prefix = moves(&lasso.prefix);
        if lasso.stopped {
            let steps = &self.session.space.steps;
            let number = steps.iter().position(|step| step.fault.contains(&lasso.end))?;
            prefix.push(self.session.taken(number));
        }
        let cycle = moves(&lasso.cycle);
        let ending = if cycle.is_empty() { Ending::Stutter } else { Ending::Cycle };
        let start = self.session.start(&lasso.start)?;
        Some(Run { start, prefix, cycle, ending, prefix_tags: Vec::new(), cycle_tags: Vec::new() })
    }
}

/// Whether runs can be what shows that a formula has that value: a true `E` or a false `A` outside of all others. See
/// [`ample_logic::Formula::is_shown_by_runs`] for where nothing else can.
pub(super) fn may_be_shown_by_runs(formula: &Formula, value: bool) -> bool {
    match formula {
        Formula::Unary(Unary::Not, f) => may_be_shown_by_runs(f, !value),
        Formula::Unary(Unary::Exists, _) => value,
        Formula::Unary(Unary::All, _) => !value,
        Formula::Binary(op, f, g) => sufficient(*op, value).iter().any(|operands| {
            let shown =
                |(f, value): (&Formula, Option<bool>)| value.is_some_and(|value| may_be_shown_by_runs(f, value));
            [&**f, &**g].into_iter().zip(*operands).any(shown)
        }),
        _ => false,
    }
}

/// A tree that branches only at the ends of its runs, as one run. Whether it shows anything is seen when it is replayed.
fn straightened(start: StartNumber, tree: &Tree) -> Option<Run> {
    let mut run = Run {
        start,
        prefix: Vec::new(),
        cycle: Vec::new(),
        ending: Ending::Open,
        prefix_tags: Vec::new(),
        cycle_tags: Vec::new(),
    };
    let mut tree = tree;
    loop {
        run.prefix.extend_from_slice(&tree.prefix);
        if !tree.cycle.is_empty() {
            run.cycle = tree.cycle.clone();
            run.ending = Ending::Cycle;
            return Some(run);
        }
        if tree.stutters {
            run.ending = Ending::Stutter;
            return Some(run);
        }
        let mut further = tree.branches.iter().filter(|(_, branch)| goes_on(branch));
        match (further.next(), further.next()) {
            (None, _) => return Some(run),
            (Some((after, branch)), None) if *after == tree.prefix.len() => tree = branch,
            _ => return None,
        }
    }
}

/// There is more in it than a look at one state.
fn goes_on(tree: &Tree) -> bool {
    !tree.prefix.is_empty()
        || !tree.cycle.is_empty()
        || tree.stutters
        || tree.branches.iter().any(|(_, branch)| goes_on(branch))
}

/// Of a fault where no state counts.
pub(super) const IN_PASSING: &str =
    "a fault inside an atomic sequence can stop a run there; `--engine explicit` knows what that means";

/// Of a formula for LTL.
const NOT_LINEAR: &str = "the formula is not LTL: it has path quantifiers";

/// What the user should know about a reduction that was asked for.
fn note(options: &Options, is_full: bool) -> Option<String> {
    let asked = options.exploration().is_some();
    let why = if options.settings.fairness == Fairness::Strong {
        "it may postpone steps that strong fairness wants"
    } else {
        "the formula uses X, or the method is not for it"
    };
    (asked && is_full).then(|| format!("no partial exploration: {why}"))
}

/// The visible states in which runs begin.
pub(super) fn start_states(session: &Session<'_>) -> Result<Bdd, Reason> {
    let space = &session.space;
    let mut start = space.initial.and(&space.visible)?;
    let mut new = space.initial.minus(&space.visible)?;
    let mut passed = new.clone();
    while !new.is_false() {
        let after = space.post(&new)?;
        start = start.or(&after.and(&space.visible)?)?;
        new = after.minus(&space.visible)?.minus(&passed)?;
        passed = passed.or(&new)?;
    }
    Ok(start)
}

pub(super) fn add(sum: &mut Effort, more: &Effort) {
    sum.posts += more.posts;
    sum.frontier_nodes += more.frontier_nodes;
    sum.frontiers += more.frontiers;
    sum.max_frontier = sum.max_frontier.max(more.max_frontier);
}
