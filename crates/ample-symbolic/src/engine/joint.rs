//! Questions about synchronous systems, and their answers.
//!
//! States are explored layer by layer, and only as far as the properties need it: an invariant is violated as soon as a
//! layer has a bad state, and the layers before it are the way there. Formulas of branching time are evaluated backward
//! within the reachable states; formulas of linear time become a product with a property automaton. Where the system says
//! which runs count, properties of linear time have that for a premise, which becomes fairness of the search, and in
//! branching time `EG` is about those runs.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use ample_boolean::{JointEncoding, Lit, NotEncoded};
use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::evidence::{Ending, Evidence, Lasso as Run, Tree, needs_run, one_of_starts, without_run};
use ample_engine::report::{Answer, Cut, DiagramStatistics, DynamicStatistics, Length, Verdict};
use ample_engine::settings::Fairness as ProcessFairness;
use ample_logic::{Atom, Atoms, Binary, Formula, TranslateError, Unary};
use ample_model::{
    Certainty, Distance, Expr, Interpreter, Move, Property, Question, Reason, StartNumber, Statistics, System, Temporal,
};

use super::answers::{Asked, Conditions, ENGINE, add, answer, asked, may_be_shown_by_runs, nothing, unbuilt};
use super::options::{Direction, Reach, StepRelations, Symbolic};
use super::session::NODE_BYTES;
use super::{Done, Notes, Options};
use crate::ctl::{self, Ctl, Evaluator, FairRuns};
use crate::diagram::{Bdd, Diagrams};
use crate::error::{Maybe, SetError};
use crate::evidence::{self, Explainer};
use crate::fair::{Condition, Fairness};
use crate::joint::{Formulas, JointSets, JointSpace, arrange, build};
use crate::product::accepted_fair_run;
use crate::reach::Effort;
use crate::sets::Sets;

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// Variables are moved first when so many nodes are in use.
const FIRST_REORDERING: usize = 10_000;

/// Of weak and strong fairness.
const NO_PROCESSES: &str = "weak and strong fairness are about processes, and a synchronous system has none; \
                            `--justice CONDITION` works: only runs on which it holds again and again count";
/// Of formulas where runs stop at faults.
const STOPPED: &str =
    "runs of the system stop at run-time errors; `--engine explicit` knows what that means for formulas";

/// Of `--reach`.
const ONE_RELATION: &str = "the step of a synchronous system is one relation, so that there is nothing to chain; \
                            `--reach frontier`, `--reach bfs` and `--reach none` work";
/// Of `--direction`.
const ONLY_BACKWARD: &str = "formulas are evaluated backward, within the reachable states, where the system is \
                             synchronous; `--direction forward` is for systems of processes";
/// Of `--liveness-to-safety`.
const NO_COPIES: &str = "the symbolic engine has `--liveness-to-safety` for systems of processes only; without that option \
                         it looks for fair cycles in a synchronous system";

/// A synchronous system as diagrams, explored as far as was needed.
struct Session<'a> {
    system: &'a System,
    encoding: JointEncoding,
    space: JointSpace,
    /// The states in which each condition holds.
    conditions: Vec<Bdd>,
    /// The layers of states so far, each without the ones before. The last one may be empty: then these are all.
    layers: Vec<Bdd>,
    /// Layers before the last one are kept: shortest runs are read from them.
    keeps_layers: bool,
    /// Images are those of all states so far, not of the last layer.
    from_all: bool,
    /// Formulas of branching time are evaluated over all states, reachable or not.
    over_all: bool,
    reached: Bdd,
    effort: Effort,
    notes: &'a Notes,
}

/// The first state of a run, its moves, and its last state.
type Walk = (Vec<bool>, Vec<Move>, Vec<bool>);

impl<'a> Session<'a> {
    fn begin(
        system: &'a System,
        conditions: &[&Expr],
        options: &Options,
        (budget, notes): (&Budget, &'a Notes),
    ) -> Result<Session<'a>, Reason> {
        if let Some(why) = refused(&options.symbolic) {
            return Err(Reason::Unsupported(why.into()));
        }
        let mut encoding = JointEncoding::unproved_within(system, budget).map_err(not_encoded)?;
        let mut literals = Vec::new();
        for condition in conditions {
            literals.push(encoding.condition_within(system, condition).map_err(not_encoded)?.0);
        }
        let max_nodes = (budget.room().unwrap_or(DEFAULT_MEMORY) / 10 * 8 / NODE_BYTES) as usize;
        let diagrams = Diagrams::new(encoding.inputs.end, max_nodes, budget.clone());
        diagrams.make_room_for(max_nodes);
        diagrams.set_order(&arrange(&encoding, &|| budget.check().is_err()));
        if !options.symbolic.no_reorder {
            diagrams.reorder_when_large(true);
            diagrams.reorder_early(FIRST_REORDERING);
        }
        let only_infinite = system.synchronous().is_some_and(|synchronous| synchronous.infinite_runs);
        let is_dynamic = options.symbolic.relations == StepRelations::Dynamic;
        let space = build(&mut encoding, &diagrams, only_infinite, is_dynamic);
        let space = space.inspect_err(|_| notes.leave(unbuilt(encoding.bits, &diagrams)))?;
        let initial_fault = diagrams_of(&encoding, &diagrams, &[encoding.initial_fault])?;
        if initial_fault.iter().any(|fault| !fault.is_false()) {
            return Err(Reason::Unsupported(JointEncoding::begins_with_fault().0));
        }
        let conditions = diagrams_of(&encoding, &diagrams, &literals)?;
        let reached = space.initial.clone();
        let (layers, effort) = (vec![reached.clone()], Effort::default());
        let (keeps_layers, from_all) = (true, options.symbolic.reach == Reach::BreadthFirst);
        // Where some states have steps that are faults, it matters whether these are reached.
        let over_all = options.symbolic.reach == Reach::None && space.faulty.is_false();
        Ok(Session {
            system,
            encoding,
            space,
            conditions,
            layers,
            keeps_layers,
            from_all,
            over_all,
            reached,
            effort,
            notes,
        })
    }

    /// All reachable states are known.
    fn is_complete(&self) -> bool {
        self.layers.last().is_some_and(Bdd::is_false)
    }

    /// One more layer.
    fn advance(&mut self) -> Maybe<()> {
        let Some(last) = self.layers.last() else { return Ok(()) };
        self.effort.note(last);
        self.effort.posts += 1;
        self.notes.images.fetch_add(1, Ordering::Relaxed);
        let from = if self.from_all { &self.reached } else { last };
        let new = self.space.post(from)?.minus(&self.reached)?;
        self.reached = self.reached.or(&new)?;
        if !self.keeps_layers {
            self.layers.clear();
        }
        self.layers.push(new);
        Ok(())
    }

    fn reached(&mut self) -> Maybe<Bdd> {
        while !self.is_complete() {
            self.advance()?;
        }
        Ok(self.reached.clone())
    }

    /// The states over which formulas of branching time are evaluated: those that are reachable, or all. No others matter from
    /// now on.
    fn domain(&mut self) -> Maybe<Bdd> {
        let is_all = self.over_all && !self.is_complete();
        let domain = if is_all { self.space.diagrams.constant(true) } else { self.reached()? };
        self.space.confine(&domain)?;
        Ok(domain)
    }

    /// All runs of the system are infinite, or others count too. All states are reached to find out, if it is not plain.
    fn all_count(&mut self) -> Maybe<bool> {
        if self.space.only_infinite && !self.space.is_total {
            self.domain()?;
        }
        Ok(self.space.is_total || !self.space.only_infinite)
    }

    /// A shortest run to a state of the set, as moves; none if no state of it is reached.
    fn run_into(&mut self, bad: &Bdd) -> Result<Option<Walk>, Reason> {
        let mut depth = 0;
        while self.layers[depth].is_disjoint(bad)? {
            if depth + 1 == self.layers.len() {
                if self.is_complete() {
                    return Ok(None);
                }
                self.advance()?;
            }
            depth += 1;
        }
        let mut sets = JointSets::new(&self.space, &self.encoding);
        let Some(end) = sets.pick(&self.layers[depth].and(bad)?)? else { return Ok(None) };
        let (mut moves, mut state) = (Vec::new(), end.clone());
        for layer in self.layers[..depth].iter().rev() {
            let Some((number, before)) = sets.step_from(layer, &state)? else {
                return Err(Reason::Internal("no step leads to a state that was reached".into()));
            };
            moves.push(sets.taken(number));
            state = before;
        }
        moves.reverse();
        Ok(Some((state, moves, end)))
    }

    /// The number of an initial state.
    fn start(&self, state: &[bool]) -> Option<StartNumber> {
        let state = self.encoding.state(&|bit| state[bit as usize]);
        Interpreter::new(self.system).number_of(&state)
    }

    fn statistics(&self) -> DiagramStatistics {
        let size = self.space.diagrams.size();
        let relations = self.space.relations();
        DiagramStatistics {
            bits: self.encoding.bits,
            relations: relations.len(),
            relation_nodes: Bdd::nodes_of_all(relations.iter().copied()),
            max_relation_nodes: relations.iter().map(|relation| relation.nodes()).max().unwrap_or(0),
            reached_nodes: self.reached.nodes(),
            posts: self.effort.posts,
            average_frontier: self.effort.average_frontier(),
            max_frontier: self.effort.max_frontier,
            peak_nodes: size.peak,
            reorderings: size.reorderings,
            restarts: 0,
            modular: None,
            rounds: Vec::new(),
            dynamic: self.space.dynamic.as_ref().map(|parts| {
                let sizes = parts.borrow().sizes();
                DynamicStatistics {
                    preimages: sizes.preimages,
                    average_nodes: sizes.average(),
                    max_parts: sizes.max_parts,
                    parts: sizes.parts,
                }
            }),
        }
    }

    /// The states that were reached, if these are all.
    fn counted(&self) -> Statistics {
        if !self.is_complete() {
            return Statistics::default();
        }
        let states = self.space.count(&self.reached);
        // A system without an initial state has none, which has to be said: a plain 0 means that they were not counted.
        let none = (states == 0u8.into()).then(|| "0".to_owned());
        let statistics = super::counted(&states);
        Statistics { many_states: statistics.many_states.or(none), ..statistics }
    }

    /// The run-time errors among the steps out of the reachable states.
    fn cut(&mut self) -> Result<Option<Cut>, Reason> {
        if self.space.faulty.is_false() || !self.is_complete() {
            return Ok(None);
        }
        let faulty = self.reached.and(&self.space.faulty)?;
        let mut sets = JointSets::new(&self.space, &self.encoding);
        let Some(bits) = sets.pick(&faulty)? else { return Ok(None) };
        let Some(number) = sets.fault(&bits)? else { return Ok(None) };
        let state = self.encoding.state(&|bit| bits[bit as usize]);
        let error = Interpreter::new(self.system).step(&state, &sets.taken(number)).violation().unwrap_or_default();
        let steps = u64::try_from(&self.space.count(&faulty)).unwrap_or(u64::MAX);
        Ok(Cut::of(self.system, [(None, error, steps)], true))
    }
}

/// What is asked for and only systems of processes have.
fn refused(options: &Symbolic) -> Option<&'static str> {
    if options.reach == Reach::Chaining {
        return Some(ONE_RELATION);
    }
    if options.direction == Direction::Forward {
        return Some(ONLY_BACKWARD);
    }
    options.liveness_to_safety.then_some(NO_COPIES)
}

fn not_encoded(not: NotEncoded) -> Reason {
    match not {
        NotEncoded::Unsupported(why) => Reason::Unsupported(why.0),
        NotEncoded::Interrupted(interrupted) => interrupted.into(),
    }
}

fn diagrams_of(encoding: &JointEncoding, diagrams: &Diagrams, literals: &[Lit]) -> Maybe<Vec<Bdd>> {
    let mut formulas = Formulas::new(&encoding.dag, diagrams, encoding.next_bits.start, literals);
    literals.iter().map(|lit| formulas.diagram(*lit)).collect()
}

/// Answers properties, the last of which say that the formulas of these numbers can be evaluated.
pub(super) fn each(
    system: &System,
    (properties, formulas): (&[Property], &[usize]),
    options: &Options,
    board: &Board,
    (budget, notes): (&Budget, &Notes),
) -> Done {
    let mut conditions = Conditions::default();
    let questions: Vec<Asked> = properties.iter().map(|property| asked(property, options, &mut conditions)).collect();
    let branches = questions.iter().any(|asked| matches!(asked, Asked::Ctl(..) | Asked::Distance(..)));
    let just = options.settings.justice.iter().filter(|_| branches);
    let justice: Vec<usize> = just.map(|expr| conditions.number(Cow::Borrowed(expr))).collect();
    let expressions: Vec<&Expr> = conditions.all.iter().map(AsRef::as_ref).collect();
    let mut session = match Session::begin(system, &expressions, options, (budget, notes)) {
        Ok(session) => session,
        Err(reason) => return nothing(properties, reason),
    };
    let mut answers: Vec<Answer> = Vec::new();
    let mut ended = None;
    let first = properties.len() - formulas.len();
    for (number, (property, asked)) in properties.iter().zip(&questions).enumerate() {
        let formula = number.checked_sub(first).map(|number| &answers[formulas[number]]);
        if formula.is_some_and(|formula| formula.verdict() == Verdict::Violated) {
            answers.push(answer(property, Reason::Unsupported("nobody needs to know".into())));
            continue;
        }
        // It is left alone as soon as another engine has the answer.
        let answered = board.answered(&[number.checked_sub(first).map_or(number, |number| formulas[number])]);
        let part = budget.clone().with_cancellation(&answered);
        session.space.diagrams.set_budget(part.clone());
        let mut checker = Checker { session: &mut session, budget: &part, options, property, justice: &justice };
        let judged = part.check().map_err(Reason::from).and_then(|()| checker.judge(asked));
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
    let cut = session.cut().unwrap_or_else(|why| {
        ended = ended.take().or(Some(why));
        None
    });
    let (statistics, diagrams) = (session.counted(), session.statistics());
    Done { answers, ended, statistics, diagrams, reduction: None, cut }
}

/// Counts the reachable states.
pub(super) fn count(system: &System, options: &Options, (budget, notes): (&Budget, &Notes)) -> Done {
    let mut session = match Session::begin(system, &[], options, (budget, notes)) {
        Ok(session) => session,
        Err(reason) => return nothing(&[], reason),
    };
    session.keeps_layers = false;
    let counted = session.reached().map_err(Reason::from).and_then(|_| session.cut());
    let (cut, ended) = match counted {
        Ok(cut) => (cut, None),
        Err(reason) => {
            notes.so_far(session.space.count(&session.reached), session.reached.nodes());
            (None, Some(reason))
        }
    };
    let (statistics, diagrams) = (session.counted(), session.statistics());
    Done { answers: Vec::new(), ended, statistics, diagrams, reduction: None, cut }
}

/// Judges one property.
struct Checker<'c, 's> {
    session: &'c mut Session<'s>,
    budget: &'c Budget,
    options: &'c Options,
    property: &'c Property,
    /// The numbers of the conditions of justice, in branching time.
    justice: &'c [usize],
}

impl Checker<'_, '_> {
    fn judge(&mut self, asked: &Asked) -> Result<Answer, Reason> {
        let is_about_runs = matches!(asked, Asked::Ctl(..) | Asked::Ltl(..) | Asked::Distance(..));
        if is_about_runs && self.options.settings.fairness != ProcessFairness::None {
            return Ok(self.unknown(NO_PROCESSES));
        }
        match asked {
            Asked::Deadlock => self.deadlock(),
            Asked::Assertions => self.faults(),
            Asked::Invariant(number) => {
                let bad = self.session.conditions[*number].not();
                self.never(&bad)
            }
            Asked::Ctl(temporal, numbers) => self.branching(temporal, numbers),
            Asked::Ltl(temporal, numbers) => self.linear(temporal, numbers),
            Asked::Bound(positive, bits) => self.largest(*positive, bits),
            Asked::Distance(distance, numbers) => self.distance(distance, numbers),
            Asked::Not(why) => Ok(self.unknown(why)),
        }
    }

    fn unknown(&self, why: &str) -> Answer {
        answer(self.property, Reason::Unsupported(why.into()))
    }

    fn holds(&self) -> Answer {
        answer(self.property, Certainty::Proved)
    }

    fn violated(&self, evidence: &Evidence) -> Answer {
        let settings = &self.options.settings;
        Answer::violated(self.session.system, self.property, ENGINE, evidence, settings, self.budget)
    }

    fn too_many_starts(&self) -> Answer {
        self.unknown("it is violated, but the initial state of the run has a number beyond what a trace can tell")
    }

    /// No state of the set is reached; or a run to one.
    fn never(&mut self, bad: &Bdd) -> Result<Answer, Reason> {
        let Some((start, moves, _)) = self.session.run_into(bad)? else { return Ok(self.holds()) };
        let Some(start) = self.session.start(&start) else { return Ok(self.too_many_starts()) };
        Ok(self.violated(&Evidence::Run(ample_model::Run { start, moves })))
    }

    fn deadlock(&mut self) -> Result<Answer, Reason> {
        let reached = self.session.reached()?;
        let bad = self.session.space.deadlocked(&reached)?;
        self.never(&bad)
    }

    /// No attempt of a step is a fault.
    fn faults(&mut self) -> Result<Answer, Reason> {
        let bad = self.session.space.faulty.clone();
        let Some((start, mut moves, end)) = self.session.run_into(&bad)? else { return Ok(self.holds()) };
        let mut sets = JointSets::new(&self.session.space, &self.session.encoding);
        if let Some(number) = sets.fault(&end)? {
            moves.push(sets.taken(number));
        }
        let Some(start) = self.session.start(&start) else { return Ok(self.too_many_starts()) };
        Ok(self.violated(&Evidence::Run(ample_model::Run { start, moves })))
    }

    /// The largest value that an expression has in a reachable state, bit by bit; 0 if it is never positive.
    fn largest(&mut self, positive: usize, bits: &[usize]) -> Result<Answer, Reason> {
        let mut largest = self.session.reached()?.and(&self.session.conditions[positive])?;
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

    /// The number of steps from states of one kind to the first of another, through states from which a run that counts
    /// goes on.
    fn distance(&mut self, distance: &Distance, numbers: &[usize]) -> Result<Answer, Reason> {
        if self.stops(true)? {
            return Ok(self.unknown(STOPPED));
        }
        let (Some(from), Some(to)) = (Ctl::of(&distance.from), Ctl::of(&distance.to)) else {
            return Ok(self.unknown("a distance is between states, which formulas of branching time describe"));
        };
        let atoms = self.atoms(numbers);
        let reached = self.session.reached()?;
        self.session.space.confine(&reached)?;
        let fair = self.fair_runs()?;
        let space = &self.session.space;
        let mut sets = JointSets::new(space, &self.session.encoding);
        let known: ctl::Atoms<'_, JointSets<'_>> =
            Box::new(|_, set, atom| atoms.get(atom as usize).ok_or(SetError::Foreign)?.and(set));
        let mut evaluator = Evaluator::new(&mut sets, known, reached)?.counting(fair.as_ref());
        let (from, to) = (evaluator.states(&from)?, evaluator.states(&to)?);
        let counted = evaluator.states(&Ctl::Always(Box::new(Ctl::Const(true))))?;
        let effort = evaluator.effort.clone();
        drop(evaluator);
        add(&mut self.session.effort, &effort);
        let length = match (from.is_false() || to.is_false(), distance.longest) {
            (true, true) => Length::Undefined,
            (true, false) => Length::Infinite,
            (false, true) => longest(&mut sets, &from, &to, &counted)?,
            (false, false) => shortest(&mut sets, &from, &to, &counted)?,
        };
        Ok(Answer { length: Some(length), ..self.holds() })
    }

    /// Some reachable state has a step that is a fault, and what that means for formulas is not known here.
    fn stops(&mut self, is_linear: bool) -> Result<bool, Reason> {
        if self.session.space.faulty.is_false() || !(is_linear || self.session.space.only_infinite) {
            return Ok(false);
        }
        let reached = self.session.reached()?;
        Ok(!reached.is_disjoint(&self.session.space.faulty)?)
    }

    fn atoms(&self, numbers: &[usize]) -> Vec<Bdd> {
        numbers.iter().map(|number| self.session.conditions[*number].clone()).collect()
    }

    /// The states in which a formula without temporal operators holds.
    fn plain(&self, formula: &Formula, atoms: &[Bdd]) -> Maybe<Bdd> {
        plain(&self.session.space.diagrams, formula, atoms)
    }

    fn branching(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Answer, Reason> {
        if self.stops(false)? {
            return Ok(self.unknown(STOPPED));
        }
        let atoms = self.atoms(numbers);
        // As it is if all paths count.
        let simple = if_all_count(&temporal.formula);
        if let Some(condition) = always(&simple, Some(Unary::All)).filter(|_| !self.session.over_all) {
            // What holds in all reachable states does so on all paths that count.
            let bad = self.plain(condition, &atoms)?.not();
            let Some((start, moves, _)) = self.session.run_into(&bad)? else { return Ok(self.holds()) };
            if self.justice.is_empty() && self.session.all_count()? {
                let Some(start) = self.session.start(&start) else { return Ok(self.too_many_starts()) };
                let tree = Tree {
                    formula: simple.clone(),
                    holds: false,
                    prefix: moves,
                    cycle: Vec::new(),
                    stutters: false,
                    branches: Vec::new(),
                };
                return Ok(self.violated(&Evidence::Tree(start, tree)));
            }
        }
        let all_count = self.justice.is_empty() && self.session.all_count()?;
        let formula = if all_count { &simple } else { &temporal.formula };
        self.evaluated(temporal, formula, &atoms)
    }

    /// A formula of CTL, backward within the reachable states or all.
    fn evaluated(&mut self, temporal: &Temporal, formula: &Formula, atoms: &[Bdd]) -> Result<Answer, Reason> {
        let Some(ctl) = Ctl::of(formula) else {
            return Ok(self.unknown("the formula is not CTL: path quantifiers and temporal operators must alternate"));
        };
        let domain = self.session.domain()?;
        let fair = self.fair_runs()?;
        let space = &self.session.space;
        let mut sets = JointSets::new(space, &self.session.encoding);
        let known: ctl::Atoms<'_, JointSets<'_>> =
            Box::new(|_, set, atom| atoms.get(atom as usize).ok_or(SetError::Foreign)?.and(set));
        let mut evaluator = Evaluator::new(&mut sets, known, domain)?.counting(fair.as_ref());
        let states = evaluator.states(&ctl)?;
        let bad = space.initial.minus(&states)?;
        let holds = bad.is_false();
        let is_shown = !holds || may_be_shown_by_runs(formula, true);
        let mut shown = None;
        let mut is_absence = false;
        if is_shown {
            let start = if holds { space.initial.clone() } else { bad };
            if let Some(state) = evaluator.sets().pick(&start)? {
                let mut explainer = Explainer::new(&mut evaluator);
                let evidence = match holds {
                    true => explainer.runs(formula, &state)?,
                    false => Some(explainer.evidence(formula, &state)?),
                };
                is_absence = !holds && lacks_run(&mut evaluator, formula, false, &state)?;
                shown = evidence.map(|evidence| (state, evidence));
            }
        }
        let effort = evaluator.effort.clone();
        drop(evaluator);
        let shown = shown.map(|(state, evidence)| (state, tree(&sets, &evidence)));
        add(&mut self.session.effort, &effort);
        let Some((state, tree)) = shown else { return Ok(self.holds()) };
        let Some(start) = self.session.start(&state) else {
            return Ok(if holds { self.holds() } else { self.too_many_starts() });
        };
        if holds {
            return Ok(self.witnessed(start, tree));
        }
        let is_bare = tree.prefix.is_empty() && tree.cycle.is_empty() && tree.branches.is_empty();
        let question = Question::Ctl(temporal.with(formula.clone()));
        if is_bare && !is_absence && !tree.formula.is_propositional() && needs_run(&question) {
            return Ok(answer(self.property, without_run(&question, "by decision diagrams")));
        }
        Ok(self.violated(&Evidence::Tree(start, tree)))
    }

    /// It holds, as a run from one of the initial states shows.
    fn witnessed(&self, start: StartNumber, tree: Tree) -> Answer {
        let evidence = Evidence::Tree(start, tree);
        let answer = Answer::witnessed(self.session.system, self.property, ENGINE, &evidence, self.budget);
        let starts = self.session.space.count(&self.session.space.initial);
        let note = (answer.witness.is_some() && starts != 1u8.into()).then(|| one_of_starts(starts));
        Answer { note, ..answer }
    }

    /// Which runs count in branching time, if not all infinite ones do.
    fn fair_runs(&self) -> Result<Option<FairRuns>, Reason> {
        if self.justice.is_empty() {
            return Ok(None);
        }
        let mut stopped = self.session.space.diagrams.constant(true);
        let mut fairness = Fairness::default();
        for states in self.atoms(self.justice) {
            stopped = stopped.and(&states)?;
            fairness.justice.push(Condition { states, steps: Vec::new() });
        }
        Ok(Some(FairRuns { fairness, stopped }))
    }

    fn linear(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Answer, Reason> {
        if !temporal.formula.is_ltl() {
            return Ok(self.unknown("the formula is not LTL: it has path quantifiers"));
        }
        if temporal.formula.has_past() {
            return Ok(
                self.unknown("the symbolic engine knows operators about the past in files and formulas of ample only")
            );
        }
        if self.stops(true)? {
            return Ok(self.unknown(STOPPED));
        }
        let mut atoms = self.atoms(numbers);
        let (premises, formula) = premises(&temporal.formula);
        if let Some(condition) = always(formula, None) {
            let bad = self.plain(condition, &atoms)?.not();
            let Some((start, prefix, _)) = self.session.run_into(&bad)? else { return Ok(self.holds()) };
            if premises.is_empty() && self.session.all_count()? {
                let Some(start) = self.session.start(&start) else { return Ok(self.too_many_starts()) };
                return Ok(self.violated(&Evidence::Lasso(run(start, prefix, Vec::new(), Ending::Open))));
            }
        }
        let mut fairness = Fairness::default();
        for premise in &premises {
            match premise {
                Premise::Justice(p) => {
                    fairness.justice.push(Condition { states: self.plain(p, &atoms)?, steps: Vec::new() });
                }
                Premise::Compassion(p, q) => {
                    fairness.responses.push((self.plain(p, &atoms)?, self.plain(q, &atoms)?));
                }
            }
        }
        let negation = collapsed(&self.session.space.diagrams, &!formula.clone(), &mut atoms)?;
        let options = ample_logic::Options::default();
        let automaton = match ample_logic::translate_within(&negation, &Atoms::new(), options, self.budget) {
            Ok(automaton) => automaton,
            Err(TranslateError::Interrupted(interrupted)) => return Err(interrupted.into()),
            Err(error) => return Err(Reason::Unsupported(error.to_string())),
        };
        let reached = self.session.reached()?;
        self.session.space.confine(&reached)?;
        let mut effort = Effort::default();
        let mut sets = JointSets::new(&self.session.space, &self.session.encoding);
        let known: ctl::Atoms<'_, JointSets<'_>> =
            Box::new(|_, set, atom| atoms.get(atom as usize).ok_or(SetError::Foreign)?.and(set));
        let found = accepted_fair_run(&mut sets, &automaton, &known, &reached, &fairness, &mut effort)?;
        let found = found.map(|(start, lasso)| {
            let moves = |numbers: &[usize]| numbers.iter().map(|number| sets.taken(*number)).collect::<Vec<_>>();
            (start, moves(&lasso.prefix), moves(&lasso.cycle))
        });
        add(&mut self.session.effort, &effort);
        let Some((start, prefix, cycle)) = found else { return Ok(self.holds()) };
        let Some(start) = self.session.start(&start) else { return Ok(self.too_many_starts()) };
        let ending = if cycle.is_empty() { Ending::Stutter } else { Ending::Cycle };
        Ok(self.violated(&Evidence::Lasso(run(start, prefix, cycle, ending))))
    }
}

/// Whether a formula has that value in a state because of conditions on it, and because there is no run of some kind: then
/// there is nothing that a run could show. `AG (p -> EX q)` may be false so in an initial state.
fn lacks_run<S: Sets>(
    evaluator: &mut Evaluator<'_, S>,
    formula: &Formula,
    value: bool,
    state: &S::State,
) -> Maybe<bool> {
    let has = |evaluator: &mut Evaluator<'_, S>, f: &Formula| {
        let states = evaluator.states(&Ctl::of(f).ok_or(SetError::NotCtl)?)?;
        Ok::<bool, SetError>(evaluator.sets().contains(&states, state))
    };
    Ok(match formula {
        Formula::True | Formula::False | Formula::Atom(_) => true,
        Formula::Unary(Unary::Not, f) => lacks_run(evaluator, f, !value, state)?,
        Formula::Unary(Unary::Exists, _) => !value || ample_engine::justice::is_counted(formula),
        Formula::Unary(Unary::All, _) if value => true,
        Formula::Unary(Unary::All, path) => match &**path {
            Formula::Unary(Unary::Globally, f) => !has(evaluator, f)? && lacks_run(evaluator, f, false, state)?,
            _ => false,
        },
        Formula::Unary(..) => false,
        Formula::Binary(op, f, g) => {
            let (first, second) = (has(evaluator, f)?, has(evaluator, g)?);
            let by_first = lacks_run(evaluator, f, first, state)?;
            let by_second = lacks_run(evaluator, g, second, state)?;
            // The operands that decide alone, if there are such.
            match op {
                Binary::And if !value => !first && by_first || !second && by_second,
                Binary::Or if value => first && by_first || second && by_second,
                Binary::Implies if value => !first && by_first || second && by_second,
                _ => by_first && by_second,
            }
        }
    })
}

/// The fewest steps from a set into another, forward within a third one.
fn shortest(sets: &mut JointSets<'_>, from: &Bdd, to: &Bdd, within: &Bdd) -> Maybe<Length> {
    let mut layer = from.and(within)?;
    let mut reached = layer.clone();
    for steps in 0.. {
        if layer.is_false() {
            break;
        }
        if !layer.is_disjoint(to)? {
            return Ok(Length::Steps(steps));
        }
        layer = sets.post(&layer, within)?.minus(&reached)?;
        reached = reached.or(&layer)?;
    }
    Ok(Length::Infinite)
}

/// The most steps that a run can make from a set before it comes into another: backward, over the states that can make so
/// many steps outside of the other set.
fn longest(sets: &mut JointSets<'_>, from: &Bdd, to: &Bdd, within: &Bdd) -> Maybe<Length> {
    let outside = within.minus(to)?;
    let mut avoiding = outside.clone();
    for steps in 0.. {
        if avoiding.is_disjoint(from)? {
            return Ok(Length::Steps(steps));
        }
        let next = sets.pre(&avoiding, &outside)?;
        if next == avoiding {
            break;
        }
        avoiding = next;
    }
    Ok(Length::Infinite)
}

fn run(start: StartNumber, prefix: Vec<Move>, cycle: Vec<Move>, ending: Ending) -> Run {
    Run { start, prefix, cycle, ending, prefix_tags: Vec::new(), cycle_tags: Vec::new() }
}

fn tree(sets: &JointSets<'_>, evidence: &evidence::Evidence) -> Tree {
    let moves = |numbers: &[usize]| numbers.iter().map(|number| sets.taken(*number)).collect();
    Tree {
        formula: evidence.formula.clone(),
        holds: evidence.holds,
        prefix: moves(&evidence.prefix),
        cycle: moves(&evidence.cycle),
        stutters: evidence.stutters,
        branches: evidence.branches.iter().map(|(after, branch)| (*after, tree(sets, branch))).collect(),
    }
}

/// The states in which a formula without temporal operators holds.
fn plain(diagrams: &Diagrams, formula: &Formula, atoms: &[Bdd]) -> Maybe<Bdd> {
    Ok(match formula {
        Formula::True => diagrams.constant(true),
        Formula::False => diagrams.constant(false),
        Formula::Atom(atom) => atoms.get(atom.0 as usize).ok_or(SetError::Foreign)?.clone(),
        Formula::Unary(Unary::Not, f) => plain(diagrams, f, atoms)?.not(),
        Formula::Unary(..) => return Err(SetError::NotCtl),
        Formula::Binary(op, f, g) => {
            let (f, g) = (plain(diagrams, f, atoms)?, plain(diagrams, g, atoms)?);
            match op {
                Binary::And => f.and(&g)?,
                Binary::Or => f.or(&g)?,
                Binary::Implies => f.not().or(&g)?,
                Binary::Iff => f.iff(&g)?,
                Binary::Xor => f.xor(&g)?,
                _ => return Err(SetError::NotCtl),
            }
        }
    })
}

/// The formula with an atom, which is added, for each of its largest parts without temporal operators.
fn collapsed(diagrams: &Diagrams, formula: &Formula, atoms: &mut Vec<Bdd>) -> Maybe<Formula> {
    if formula.is_propositional() {
        let states = plain(diagrams, formula, atoms)?;
        if states.is_true() || states.is_false() {
            return Ok(if states.is_true() { Formula::True } else { Formula::False });
        }
        // A condition and its negation are one atom.
        let place = atoms.iter().position(|known| *known == states);
        let negated = atoms.iter().position(|known| known.not() == states);
        return Ok(match (place, negated) {
            (Some(number), _) => Formula::atom(Atom(number as u32)),
            (None, Some(number)) => !Formula::atom(Atom(number as u32)),
            (None, None) => {
                atoms.push(states);
                Formula::atom(Atom(atoms.len() as u32 - 1))
            }
        });
    }
    Ok(match formula {
        Formula::Unary(op, f) => Formula::unary(*op, collapsed(diagrams, f, atoms)?),
        Formula::Binary(op, f, g) => {
            Formula::binary(*op, collapsed(diagrams, f, atoms)?, collapsed(diagrams, g, atoms)?)
        }
        other => other.clone(),
    })
}

/// The condition that holds always: `G p`, after a quantifier if one is named.
fn always(formula: &Formula, quantifier: Option<Unary>) -> Option<&Formula> {
    let path = match (formula, quantifier) {
        (Formula::Unary(op, path), Some(quantifier)) if *op == quantifier => path,
        (formula, None) => formula,
        _ => return None,
    };
    match path {
        Formula::Unary(Unary::Globally, condition) if condition.is_propositional() => Some(condition),
        _ => None,
    }
}

/// What a run has to do to be asked about.
enum Premise<'f> {
    Justice(&'f Formula),
    Compassion(&'f Formula, &'f Formula),
}

/// The premises of a formula that say what holds again and again, and the rest of it.
fn premises(formula: &Formula) -> (Vec<Premise<'_>>, &Formula) {
    let mut found = Vec::new();
    let mut rest = formula;
    while let Formula::Binary(Binary::Implies, premise, conclusion) = rest {
        let Some(more) = premise_parts(premise) else { break };
        found.extend(more);
        rest = conclusion;
    }
    (found, rest)
}

fn premise_parts(formula: &Formula) -> Option<Vec<Premise<'_>>> {
    if let Some(condition) = again(formula) {
        return Some(vec![Premise::Justice(condition)]);
    }
    match formula {
        Formula::Binary(Binary::And, f, g) => {
            let mut parts = premise_parts(f)?;
            parts.extend(premise_parts(g)?);
            Some(parts)
        }
        Formula::Binary(Binary::Implies, f, g) => Some(vec![Premise::Compassion(again(f)?, again(g)?)]),
        _ => None,
    }
}

/// The condition that holds again and again: `G F p`.
fn again(formula: &Formula) -> Option<&Formula> {
    let Formula::Unary(Unary::Globally, inner) = formula else { return None };
    match &**inner {
        Formula::Unary(Unary::Finally, condition) if condition.is_propositional() => Some(condition),
        _ => None,
    }
}

/// The formula of branching time where all paths count: from every state there is one (`EG true`).
fn if_all_count(formula: &Formula) -> Formula {
    if *formula == Formula::True.globally().exists() {
        return Formula::True;
    }
    match formula {
        Formula::Unary(op, f) => match (op, if_all_count(f)) {
            (Unary::Not, Formula::True) => Formula::False,
            (Unary::Not, Formula::False) => Formula::True,
            (op, f) => Formula::unary(*op, f),
        },
        Formula::Binary(op, f, g) => match (op, if_all_count(f), if_all_count(g)) {
            (Binary::Implies | Binary::And, Formula::True, g) => g,
            (Binary::And, f, Formula::True) => f,
            (op, f, g) => Formula::binary(*op, f, g),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use ample_logic::{Dialect, parse};

    use super::*;

    fn read(text: &str) -> Formula {
        parse(text, Dialect::Smv, &mut Atoms::new()).unwrap()
    }

    #[test]
    fn premises_are_what_runs_have_to_do_again_and_again() {
        for (text, justice, compassion) in [
            ("G F p -> (G F q & G F r -> X s)", 3, 0),
            ("(G F p -> G F q) -> F s", 0, 1),
            ("(F p) -> F s", 0, 0),
            ("G F p & F q -> F s", 0, 0),
        ] {
            let formula = read(text);
            let (found, _) = premises(&formula);
            let just = found.iter().filter(|premise| matches!(premise, Premise::Justice(_))).count();
            assert_eq!((just, found.len() - just), (justice, compassion), "{text}");
        }
    }

    #[test]
    fn that_paths_count_is_left_out_where_all_do() {
        for text in ["AG p", "E [p U q]", "AX (p -> EF q)", "!EG p"] {
            let formula = read(text);
            assert_eq!(if_all_count(&ample_engine::justice::over_counted_paths(&formula)), formula, "{text}");
        }
    }
}
