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

use std::time::Duration;

use ample_engine::board::Board;
use ample_engine::justice;
use ample_engine::registry::Choice;
use ample_engine::report::{Answer, Report, Verdict};
use ample_engine::settings::{Fairness, PartialOrder, UnreachedCode};
use ample_explicit::engine::atomic;
use ample_logic::{Binary, Dialect, Formula, Unary, print_with};
use ample_model::{Budget, Expr, Interpreter, Property, Question, System, Temporal, UnaryOp};
use ample_symbolic::engine::Symbolic;

use crate::check::{CheckOptions, check_all};
use crate::engines::EngineOptions;

/// So many states are always looked at, and one more for so many that the check itself has looked at.
const STATES: u64 = 50_000;
const STATES_SHARE: u64 = 8;
/// And that long at most, and a part of the time that the check itself took.
const TIME: Duration = Duration::from_millis(300);
const TIME_SHARE: u32 = 4;
/// Initial states that are run-time errors are counted up to here.
const MAX_STARTS: usize = 1_000;

/// Adds warnings to the answers of a report: to those that hold vacuously. The properties are those that were asked.
pub fn warn(report: &mut Report, system: &System, properties: &[Property], options: &CheckOptions, took: Duration) {
    let answers = report.answers.iter().zip(properties).enumerate();
    let holding: Vec<usize> = answers
        .filter(|(_, (answer, property))| answer.verdict() == Verdict::Holds && answer.property == property.id())
        .filter(|(_, (_, property))| is_about_runs(property))
        .map(|(number, _)| number)
        .collect();
    if options.no_vacuity || holding.is_empty() || options.budget.check().is_err() {
        return;
    }
    let used_diagrams = options.engine == Choice::Named("symbolic") || report.diagrams.is_some();
    let states = STATES + report.statistics.states / STATES_SHARE;
    let budget = options.budget.clone().without_sinks().with_threads(1).with_time(TIME + took / TIME_SHARE);
    let mut asking = Asking {
        system,
        options: CheckOptions {
            engine: Choice::Auto,
            engines: EngineOptions::default(),
            properties: None,
            partial_order: PartialOrder::Auto,
            stop_at_first: false,
            max_depth: None,
            checkpoint: None,
            no_vacuity: true,
            unreached: UnreachedCode::Ignored,
            budget,
            board: None,
            ..options.clone()
        },
        states,
        diagrams: used_diagrams.then_some(options.engines.symbolic),
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
            // What is said of the past is not looked into.
            Formula::Unary(Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically, _)
            | Formula::Binary(Binary::Since | Binary::Triggered, ..) => {}
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
    /// So many states are looked at for one question.
    states: u64,
    /// The check itself had decision diagrams: where single states do not decide, they may.
    diagrams: Option<Symbolic>,
}

impl Asking<'_> {
    /// Why no run counts, if none does.
    fn no_run(&mut self, holding: &[usize], properties: &[Property]) -> Option<String> {
        if let Some(reason) = no_start(self.system, &self.options.budget) {
            return Some(reason.into());
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

    /// Which of these invariants hold for sure.
    fn unreached(&self, invariants: Vec<Expr>) -> Vec<bool> {
        let questions: Vec<Question> = invariants.into_iter().map(Question::Invariant).collect();
        self.hold(&questions)
    }

    /// The property holds for sure.
    fn holds(&self, question: &Question) -> bool {
        self.hold(std::slice::from_ref(question)) == [true]
    }

    /// Which properties hold for sure. What single states do not decide is left to diagrams, if the check had some.
    fn hold(&self, questions: &[Question]) -> Vec<bool> {
        if questions.is_empty() {
            return Vec::new();
        }
        let asked = justice::under(&questions.iter().map(property).collect::<Vec<_>>(), &self.options.justice);
        let most = self.states;
        let (budget, _) = self.options.budget.until(move |progress| progress.states > most);
        let mut verdicts = verdicts(self.system, &asked, &CheckOptions { budget, ..self.options.clone() });
        if let Some(symbolic) = self.diagrams
            && verdicts.contains(&Verdict::Unknown)
        {
            let engine = Choice::Named("symbolic");
            let options = CheckOptions { engine, engines: symbolic.into(), ..self.options.clone() };
            verdicts = self::verdicts(self.system, &asked, &options);
        }
        verdicts.into_iter().map(|verdict| verdict == Verdict::Holds).collect()
    }
}

fn verdicts(system: &System, properties: &[Property], options: &CheckOptions) -> Vec<Verdict> {
    let report = check_all(system, properties, options, &Board::of(properties));
    let mut verdicts: Vec<Verdict> = report.answers.iter().map(Answer::verdict).collect();
    verdicts.resize(properties.len(), Verdict::Unknown);
    verdicts
}

fn property(question: &Question) -> Property {
    Property { name: String::new(), question: question.clone(), text: String::new(), span: None }
}

/// Why there is no run at all: no initial state but run-time errors, or none whatever.
fn no_start(system: &System, budget: &Budget) -> Option<&'static str> {
    let interpreter = Interpreter::new(system);
    let mut reason = "there is no initial state, and no run";
    for (number, start) in interpreter.starts_within(budget).enumerate() {
        match start {
            Ok((_, Err(_))) if number < MAX_STARTS => {
                reason = "every initial state is a run-time error, and there is no run";
            }
            _ => return None,
        }
    }
    Some(reason)
}
