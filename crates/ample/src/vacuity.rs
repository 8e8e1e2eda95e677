//! Vacuity: a property that holds only because what it speaks of never happens.
//!
//! `[] (request -> <> grant)` holds in a model without requests, and any formula holds of the runs of a justice that no
//! run has. Both are true, and hardly what was meant. For a property that holds it is asked whether there is a run at
//! all, and, for each implication in it, whether some run makes the antecedent true where the implication counts: the
//! antecedent's *trigger*, a formula that no run satisfies if the implication is never put to the test (I. Beer,
//! S. Ben-David, C. Eisner, Y. Rodeh: Efficient detection of vacuity in temporal model checking, 2001).
//!
//! A warning is given only where that is proved. The search for it is cut off early, in most models it ends with the
//! first states, and what it does not decide is not mentioned.

use std::time::{Duration, Instant};

use ample_logic::{Acceptance, Binary, Dialect, Formula, Unary, print_with};
use ample_model::{Expr, Interpreter, Observer, Progress, Property, Question, Reason, System, Temporal, UnaryOp};

use ample_engine::justice;
use ample_engine::report::{Report, Verdict};
use ample_engine::settings::Fairness;
use ample_explicit::engine::automaton::negation;
use ample_explicit::engine::branching::look_at;
use ample_explicit::engine::liveness::{Specification, look_for};
use ample_explicit::engine::options::Search;
use ample_explicit::engine::reduction::PartialOrder;
use ample_explicit::engine::{self as explicit, Request, atomic};
use ample_petri::engine::Petri;
use ample_symbolic::engine as symbolic;

use crate::check::{CheckOptions, Engine, check_all};

/// So many states are always looked at, and one more for so many that the check itself has looked at.
const STATES: u64 = 50_000;
const STATES_SHARE: u64 = 8;
/// And that long at most, and a part of the time that the check itself took.
const TIME: Duration = Duration::from_millis(300);
const TIME_SHARE: u32 = 4;
/// Initial states that are run-time errors are counted up to here.
const MAX_STARTS: u64 = 1_000;

/// Adds warnings to the answers of a report: to those that hold vacuously. The properties are those that were asked.
pub fn warn(
    report: &mut Report,
    system: &System,
    properties: &[Property],
    options: &CheckOptions,
    took: Duration,
    observer: &mut dyn Observer,
) {
    let answers = report.answers.iter().zip(properties).enumerate();
    let holding: Vec<usize> = answers
        .filter(|(_, (answer, property))| answer.verdict() == Verdict::Holds && answer.property == property.id())
        .filter(|(_, (_, property))| is_about_runs(property))
        .map(|(number, _)| number)
        .collect();
    let left = options.time.map_or(Duration::MAX, |time| time.saturating_sub(took));
    if options.no_vacuity || holding.is_empty() || left.is_zero() {
        return;
    }
    let time = left.min(TIME + took / TIME_SHARE);
    let states = STATES + report.statistics.states / STATES_SHARE;
    let used_diagrams = options.engine == Engine::Symbolic || report.diagrams.is_some();
    let mut asking = Asking {
        system,
        options: CheckOptions {
            engine: Engine::Auto,
            properties: None,
            search: Search::DepthFirst,
            partial_order: PartialOrder::Auto,
            stop_at_first: false,
            max_depth: None,
            time: Some(time),
            no_vacuity: true,
            budget: options.budget.clone().with_time(time),
            board: None,
            ..options.clone()
        },
        used_diagrams,
        cut_off: CutOff { observer, deadline: Instant::now() + time, states },
    };
    if let Some(why) = asking.no_run(&holding, properties) {
        for number in holding {
            if options.justice.is_empty() && matches!(properties[number].question, Question::Ctl(_)) {
                continue;
            }
            report.answers[number].warnings.push(format!("vacuous: {why}"));
        }
        return;
    }
    let asked: Vec<(usize, Implication<'_>)> = holding
        .into_iter()
        .flat_map(|number| implications(&properties[number].question).into_iter().map(move |one| (number, one)))
        .collect();
    let never = asking.never(&asked.iter().map(|(_, implication)| implication).collect::<Vec<_>>());
    for ((number, implication), never) in asked.iter().zip(never) {
        let warnings = &mut report.answers[*number].warnings;
        let warning = implication.warning(system);
        if never && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

fn is_about_runs(property: &Property) -> bool {
    !matches!(
        property.question,
        Question::Deadlock | Question::Assertions | Question::Invariant(_) | Question::Bound(_)
    )
}

/// What lies between the whole formula and an implication in it, from outside to inside.
#[derive(Clone, Copy, Debug)]
enum Layer<'a> {
    /// Now or later.
    Finally,
    /// In the next state.
    Next,
    /// Where this holds, which is the antecedent of an implication around it.
    Where(&'a Formula),
}

/// An implication that a property relies on.
struct Implication<'a> {
    /// The property, whose atom table the formulas below are over.
    temporal: &'a Temporal,
    antecedent: &'a Formula,
    /// The implication itself, to be shown.
    whole: &'a Formula,
    around: Vec<Layer<'a>>,
    is_branching: bool,
}

/// The implications of a formula that have to be true for it to be true.
fn implications(question: &Question) -> Vec<Implication<'_>> {
    let (Question::Ltl(temporal) | Question::Ctl(temporal)) = question else { return Vec::new() };
    let is_branching = matches!(question, Question::Ctl(_));
    let mut collector = Collector { temporal, is_branching, around: Vec::new(), found: Vec::new() };
    collector.collect(&temporal.formula, true);
    collector.found
}

struct Collector<'a> {
    temporal: &'a Temporal,
    is_branching: bool,
    around: Vec<Layer<'a>>,
    found: Vec<Implication<'a>>,
}

impl<'a> Collector<'a> {
    fn inside(&mut self, layer: Layer<'a>, formula: &'a Formula, positive: bool) {
        self.around.push(layer);
        self.collect(formula, positive);
        self.around.pop();
    }

    fn collect(&mut self, formula: &'a Formula, positive: bool) {
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => {}
            Formula::Unary(Unary::Not, f) => self.collect(f, !positive),
            Formula::Unary(Unary::All | Unary::Exists, f) => self.collect(f, positive),
            Formula::Unary(Unary::Next, f) => self.inside(Layer::Next, f, positive),
            Formula::Unary(Unary::Globally | Unary::Finally, f) => self.inside(Layer::Finally, f, positive),
            // Of two formulas that are the same neither is an antecedent.
            Formula::Binary(Binary::Iff | Binary::Xor, ..) => {}
            Formula::Binary(Binary::And | Binary::Or, f, g) => {
                self.collect(f, positive);
                self.collect(g, positive);
            }
            Formula::Binary(Binary::Implies, f, g) if positive => {
                self.collect(f, false);
                self.inside(Layer::Where(f), g, true);
                let Collector { temporal, is_branching, .. } = *self;
                let around = self.around.clone();
                self.found.push(Implication { temporal, antecedent: f, whole: formula, around, is_branching });
            }
            Formula::Binary(Binary::Implies, f, g) => {
                self.collect(f, true);
                self.collect(g, false);
            }
            Formula::Binary(_, f, g) => {
                self.inside(Layer::Finally, f, positive);
                self.inside(Layer::Finally, g, positive);
            }
        }
    }
}

impl Implication<'_> {
    /// What a run satisfies on which the antecedent is true where the implication counts.
    fn trigger(&self) -> Formula {
        let exists = |path: Formula| if self.is_branching { path.exists() } else { path };
        let mut trigger = self.antecedent.clone();
        let mut outer_is_finally = false;
        for layer in self.around.iter().rev() {
            trigger = match layer {
                Layer::Finally if outer_is_finally => trigger,
                Layer::Finally => exists(trigger.finally()),
                Layer::Next => exists(trigger.next()),
                Layer::Where(condition) => (*condition).clone() & trigger,
            };
            outer_is_finally = matches!(layer, Layer::Finally);
        }
        trigger
    }

    /// The condition of states that no state may satisfy, if the trigger is that some state does.
    fn condition(&self) -> Option<Expr> {
        let at_any_time = matches!(self.around.as_slice(), [Layer::Finally, rest @ ..]
            if rest.iter().all(|layer| matches!(layer, Layer::Finally)));
        if at_any_time { self.temporal.state_expr(self.antecedent) } else { None }
    }

    /// The antecedents say nothing about paths.
    fn is_about_states(&self) -> bool {
        let conditions = self.around.iter().filter_map(|layer| match layer {
            Layer::Where(condition) => Some(*condition),
            Layer::Finally | Layer::Next => None,
        });
        conditions.chain([self.antecedent]).all(Formula::is_propositional)
    }

    /// What to tell of an implication that is never put to the test.
    fn warning(&self, system: &System) -> String {
        let show = |formula: &Formula| show(system, self.temporal, formula);
        let whole = show(self.whole);
        let antecedent = show(self.antecedent);
        let is_state = self.antecedent.is_propositional();
        let plainly = !self.around.iter().any(|layer| matches!(layer, Layer::Where(_) | Layer::Next));
        let why = match (self.around.is_empty(), plainly) {
            (true, _) if is_state || self.is_branching => format!("`{antecedent}` is false in every initial state"),
            (true, _) => format!("no run satisfies `{antecedent}`"),
            (false, true) if is_state => format!("`{antecedent}` is false in every state of every run"),
            (false, true) => format!("no run ever satisfies `{antecedent}`"),
            (false, false) if self.is_branching => {
                format!("no initial state satisfies `{}`", show(&self.trigger()))
            }
            (false, false) => format!("no run satisfies `{}`", show(&self.trigger())),
        };
        format!("vacuous: {why}, so that `{whole}` asks for nothing")
    }
}

fn not(expr: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, expr)
}

/// A formula as text.
fn show(system: &System, temporal: &Temporal, formula: &Formula) -> String {
    let alone = matches!(formula, Formula::Atom(_));
    let mut atom = |atom: ample_logic::Atom| {
        let text = system.show_expr(None, temporal.expr(atom));
        if alone || !text.contains(' ') || text.starts_with('(') { text } else { format!("({text})") }
    };
    let dialect = if formula.is_ltl() { Dialect::Spin } else { Dialect::Smv };
    print_with(formula, dialect, &mut atom).unwrap_or_default()
}

/// Asks about a system, for a while.
struct Asking<'a> {
    system: &'a System,
    options: CheckOptions,
    /// The check itself had decision diagrams: where single states do not decide, they may.
    used_diagrams: bool,
    cut_off: CutOff<'a>,
}

impl Asking<'_> {
    /// Why no run counts, if none does.
    fn no_run(&mut self, holding: &[usize], properties: &[Property]) -> Option<String> {
        if starts_with_errors(self.system) {
            return Some("every initial state is a run-time error, and there is no run".into());
        }
        let just = !self.options.justice.is_empty();
        let only_branching = holding.iter().all(|number| matches!(properties[*number].question, Question::Ctl(_)));
        if !just && (only_branching || !atomic::may_be_endless(self.system)) {
            return None;
        }
        let nothing = Temporal::state(Expr::FALSE);
        if !self.holds(&Question::Ltl(nothing)) {
            return None;
        }
        Some(match (just, self.options.fairness) {
            (true, Fairness::None) => "there is no run on which every `--justice` holds again and again".into(),
            (true, _) => "there is no fair run on which every `--justice` holds again and again".into(),
            (false, Fairness::None) => {
                "there is no run that counts, since each of them is lost in an endless atomic sequence".into()
            }
            (false, _) => {
                "there is no fair run that counts, since each of them is lost in an endless atomic sequence".into()
            }
        })
    }

    /// Which of the implications are never put to the test.
    fn never(&mut self, asked: &[&Implication<'_>]) -> Vec<bool> {
        // That some state is reached does not depend on fairness, but on justice it does.
        let restricted = self.options.fairness != Fairness::None || !self.options.justice.is_empty();
        self.options.fairness = Fairness::None;
        let conditions: Vec<Option<Expr>> = if self.options.justice.is_empty() {
            asked.iter().map(|implication| implication.condition()).collect()
        } else {
            vec![None; asked.len()]
        };
        let mut unreached = self.unreached(conditions.iter().flatten().cloned().map(not).collect()).into_iter();
        let mut never = Vec::new();
        for (implication, condition) in asked.iter().zip(&conditions) {
            never.push(match condition {
                Some(_) => unreached.next() == Some(true),
                // In branching time fairness changes what path quantifiers mean.
                None if restricted && implication.is_branching && !implication.is_about_states() => false,
                None => self.is_never(implication),
            });
        }
        never
    }

    fn is_never(&mut self, implication: &Implication<'_>) -> bool {
        let none = implication.temporal.with(!implication.trigger());
        self.holds(&if implication.is_branching { Question::Ctl(none) } else { Question::Ltl(none) })
    }

    /// It is a net, or there was no time to find out.
    fn is_net(&self) -> bool {
        !matches!(Petri::of(self.system, &self.options.settings()), Ok(None))
    }

    /// Which of these invariants hold for sure.
    fn unreached(&mut self, invariants: Vec<Expr>) -> Vec<bool> {
        if invariants.is_empty() {
            return Vec::new();
        }
        let questions: Vec<Question> = invariants.iter().cloned().map(Question::Invariant).collect();
        if self.is_net() {
            return self.by_checking(&questions);
        }
        let request = Request { invariants, ..Request::default() };
        let run = explicit::run(self.system, &request, &self.options.explicit(), &mut self.cut_off);
        if run.ended.is_some() || run.only_deadlocks {
            return if self.used_diagrams { self.by_diagrams(&questions) } else { vec![false; questions.len()] };
        }
        run.invariants.iter().map(Option::is_none).collect()
    }

    /// The property holds for sure.
    fn holds(&mut self, question: &Question) -> bool {
        if self.is_net() {
            return self.by_checking(std::slice::from_ref(question)) == [true];
        }
        let just = justice::under(&[property(question)], &self.options.justice);
        let found = match &just[0].question {
            Question::Ltl(temporal) => self.linear(temporal),
            Question::Ctl(temporal) => self.branching(temporal),
            _ => None,
        };
        match found {
            Some(holds) => holds,
            None if self.used_diagrams => self.by_diagrams(std::slice::from_ref(question)) == [true],
            None => false,
        }
    }

    fn linear(&mut self, temporal: &Temporal) -> Option<bool> {
        let automaton = negation(temporal, Acceptance::Generalised, &mut self.cut_off).ok()?;
        let stutter_invariant = match ample_logic::is_stutter_invariant(&temporal.formula) {
            Ok(true) => Ok(()),
            _ => Err("not asked"),
        };
        let atoms = &temporal.atoms;
        let specification = Specification { automaton, atoms, stutters: true, is_simple: false, stutter_invariant };
        let options = CheckOptions { emptiness: Default::default(), ..self.options.clone() };
        let found = look_for(self.system, specification, &options.explicit(), &mut self.cut_off);
        match (found.run, found.ended) {
            (Some(_), _) => Some(false),
            (None, None) => Some(true),
            (None, Some(_)) => None,
        }
    }

    fn branching(&mut self, temporal: &Temporal) -> Option<bool> {
        look_at(self.system, temporal, &self.options.explicit(), &mut self.cut_off).ok()?.verdict
    }

    fn by_diagrams(&mut self, questions: &[Question]) -> Vec<bool> {
        let just = justice::under(&questions.iter().map(property).collect::<Vec<_>>(), &self.options.justice);
        let mut in_time = InTime(&mut self.cut_off);
        sure(symbolic::check(self.system, &just, &self.options.symbolic(), &mut in_time))
    }

    fn by_checking(&mut self, questions: &[Question]) -> Vec<bool> {
        let just = justice::under(&questions.iter().map(property).collect::<Vec<_>>(), &self.options.justice);
        let mut in_time = InTime(&mut self.cut_off);
        sure(check_all(self.system, &just, &self.options, &mut in_time))
    }
}

fn sure(report: Report) -> Vec<bool> {
    report.answers.iter().map(|answer| answer.verdict() == Verdict::Holds).collect()
}

fn property(question: &Question) -> Property {
    Property { name: String::new(), question: question.clone(), text: String::new(), span: None }
}

/// There is no initial state but run-time errors.
fn starts_with_errors(system: &System) -> bool {
    let interpreter = Interpreter::new(system);
    let mut starts = (0..MAX_STARTS).map(|number| interpreter.initial_state(number));
    starts.find(|start| !matches!(start, Some(Err(_)))) == Some(None)
}

/// Ends a search that takes more than the question is worth.
struct CutOff<'a> {
    observer: &'a mut dyn Observer,
    deadline: Instant,
    states: u64,
}

impl Observer for CutOff<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let over = progress.states > self.states || Instant::now() >= self.deadline;
        if over { Some(Reason::Time) } else { self.observer.progress(progress) }
    }
}

/// The same where states are not counted one by one.
struct InTime<'a, 'b>(&'a mut CutOff<'b>);

impl Observer for InTime<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let CutOff { observer, deadline, .. } = &mut *self.0;
        if Instant::now() >= *deadline { Some(Reason::Time) } else { observer.progress(progress) }
    }
}
