//! Questions and answers of a session.

use ample_model::{Certainty, Expr, Formula, Outcome, Property, Question, Reason, Silent, Statistics, System};
use ample_symbolic::ctl::{Ctl, Evaluator};
use ample_symbolic::diagram::Bdd;
use ample_symbolic::evidence::{Evidence, Explainer};
use ample_symbolic::ltl::{Lasso, Product, Way};
use ample_symbolic::partial::{self, areduce, explore, improviso, reduced_space};
use ample_symbolic::process_model::{Demand, Safe, process_model};
use ample_symbolic::reach::{Effort, Method, reachable, run_to};

use super::session::{Session, Setting};
use super::{Desk, DiagramStatistics, Direction, Done, Exploration, Preserve, Reach, Symbolic, Trouble, Variant};
use crate::check::{CheckOptions, Fairness};
use crate::evidence::{Charge, Claim, Unconfirmed, confirm, confirm_run, confirm_tree};
use crate::explicit::branching::Tree;
use crate::explicit::liveness::{Ending, Run};
use crate::report::Answer;
use crate::temporal::Numbered;

/// A property with its conditions numbered.
enum Asked {
    Deadlock,
    Assertions,
    /// The number of its condition.
    Invariant(usize),
    /// The numbers of its atoms.
    Ctl(Numbered, Vec<usize>),
    Ltl(Numbered, Vec<usize>),
    /// It is not for this engine.
    Not(&'static str),
}

/// The conditions of all properties, each once.
#[derive(Default)]
struct Conditions<'a> {
    all: Vec<std::borrow::Cow<'a, Expr>>,
}

impl<'a> Conditions<'a> {
    fn number(&mut self, expr: std::borrow::Cow<'a, Expr>) -> usize {
        match self.all.iter().position(|known| *known == expr) {
            Some(number) => number,
            None => {
                self.all.push(expr);
                self.all.len() - 1
            }
        }
    }

    fn numbers(&mut self, numbered: &Numbered) -> Vec<usize> {
        numbered.atoms.iter().map(|atom| self.number(std::borrow::Cow::Owned(atom.clone()))).collect()
    }
}

fn asked<'a>(property: &'a Property, options: &CheckOptions, conditions: &mut Conditions<'a>) -> Asked {
    let temporal = !matches!(property.question, Question::Deadlock | Question::Assertions | Question::Invariant(_));
    if temporal && options.fairness != Fairness::None {
        return Asked::Not("the symbolic engine knows no fairness; `--engine explicit` does");
    }
    match &property.question {
        Question::Deadlock => Asked::Deadlock,
        Question::Assertions => Asked::Assertions,
        Question::Invariant(expr) => Asked::Invariant(conditions.number(std::borrow::Cow::Borrowed(expr))),
        Question::Ctl(formula) => {
            let numbered = Numbered::of(formula);
            let numbers = conditions.numbers(&numbered);
            Asked::Ctl(numbered, numbers)
        }
        Question::Ltl(formula) => {
            let numbered = Numbered::of(formula);
            let numbers = conditions.numbers(&numbered);
            Asked::Ltl(numbered, numbers)
        }
        Question::Acceptance => {
            // From some moment on, nobody stands at such a label.
            let atom = Formula::Not(Box::new(Formula::Atom(Expr::Accepting)));
            let numbered = Numbered::of(&Formula::Eventually(Box::new(Formula::Always(Box::new(atom)))));
            let numbers = conditions.numbers(&numbered);
            Asked::Ltl(numbered, numbers)
        }
        Question::Bound(_) => Asked::Not("the largest value of an expression is found for Petri nets only"),
        Question::Never(_) => Asked::Not("the symbolic engine does not run never claims; `--engine explicit` does"),
        Question::Progress => {
            Asked::Not("the symbolic engine does not check progress labels; `--engine explicit` does")
        }
    }
}

/// Answers all properties.
pub fn all(system: &System, properties: &[Property], options: &CheckOptions, desk: &Desk) -> Done {
    let mut symbolic = options.symbolic;
    if symbolic.exploration.is_some() && symbolic.reach == Reach::Auto {
        // What is reduced is not searched in full first.
        symbolic.reach = Reach::Not;
    }
    let setting = Setting { symbolic, memory: options.memory_limit, desk };
    let mut conditions = Conditions::default();
    let asked: Vec<Asked> = properties.iter().map(|property| asked(property, options, &mut conditions)).collect();
    let expressions: Vec<&Expr> = conditions.all.iter().map(AsRef::as_ref).collect();
    let mut session = match Session::begin(system, &expressions, &setting) {
        Ok(session) => session,
        Err(trouble) => return nothing(properties, trouble),
    };
    let mut answers = Vec::new();
    let mut trouble = None;
    for (property, asked) in properties.iter().zip(&asked) {
        let mut court = Court { session: &mut session, setting: &setting, options, property };
        match court.judge(asked) {
            Ok(answer) => answers.push(answer),
            Err(why) => {
                answers.push(answer(property, Outcome::Unknown(reason(&why))));
                // Memory may do for another property; a wish to end is for all.
                trouble = trouble.or(Some(why));
            }
        }
    }
    let reduction = options.symbolic.exploration.map(exploration_text);
    let statistics = match &session.reached {
        Some(reached) => counted(&session, reached),
        None => Ok(Statistics::default()),
    };
    let statistics = statistics.unwrap_or_default();
    Done { answers, trouble, statistics, diagrams: session.statistics(), reduction }
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

fn reason(trouble: &Trouble) -> Reason {
    match trouble {
        Trouble::Asked => Reason::Interrupted,
        Trouble::Memory => Reason::Memory,
        Trouble::Unsupported(why) => Reason::Unsupported(why.clone()),
    }
}

fn nothing(properties: &[Property], trouble: Trouble) -> Done {
    let answers = properties.iter().map(|property| answer(property, Outcome::Unknown(reason(&trouble)))).collect();
    Done {
        answers,
        // What is not supported is said with each property.
        trouble: if matches!(trouble, Trouble::Unsupported(_)) && !properties.is_empty() {
            None
        } else {
            Some(trouble)
        },
        statistics: Statistics::default(),
        diagrams: DiagramStatistics::default(),
        reduction: None,
    }
}

/// Counts the states.
pub fn count(system: &System, options: &CheckOptions, desk: &Desk) -> Done {
    let mut symbolic = options.symbolic;
    if symbolic.exploration.is_some() {
        symbolic.reach = Reach::Not;
    }
    let setting = Setting { symbolic, memory: options.memory_limit, desk };
    let mut session = match Session::begin(system, &[], &setting) {
        Ok(session) => session,
        Err(trouble) => return nothing(&[], trouble),
    };
    let counted = match options.symbolic.exploration {
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
    let reduction = options.symbolic.exploration.map(exploration_text);
    let diagrams = session.statistics();
    match counted {
        Ok(statistics) => Done { answers: Vec::new(), trouble: None, statistics, diagrams, reduction },
        Err(trouble) => {
            Done { answers: Vec::new(), trouble: Some(trouble), statistics: Statistics::default(), diagrams, reduction }
        }
    }
}

/// The bits that the properties of the model look at.
fn seen_by_all(session: &mut Session<'_>) -> Vec<u32> {
    let mut seen = Vec::new();
    for property in &session.system.properties {
        property.walk(&mut |expr| {
            if let Ok((value, fault)) = session.encoding.condition(session.system, expr) {
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
    Symbolic { preserve, reach: method, .. }: Symbolic,
    seen: &[u32],
) -> Result<Bdd, Trouble> {
    let demand = if preserve == Preserve::Ctl { Demand::Linear } else { Demand::Safe };
    let space = &session.space;
    let model = process_model(space, seen, demand)?;
    let everything = space.diagrams.constant(true);
    let set = match (exploration, preserve) {
        (Exploration::ImProviso, _) => improviso(space, &model, &space.initial, &mut session.effort)?,
        (Exploration::AReduce, _) => areduce(space, &model, &space.initial, &mut session.effort)?,
        (Exploration::Static, _) => {
            let once = reduced_space(space, &model)?;
            let method = match method {
                Reach::By(method) => method,
                Reach::Auto | Reach::Not => Method::Saturation,
            };
            reachable(&once, &once.initial, method, &mut session.effort, &mut |_| Ok(true))?
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

fn counted(session: &Session<'_>, set: &Bdd) -> Result<Statistics, Trouble> {
    let number = session.space.count(set)?;
    let states = u64::try_from(&number);
    Ok(Statistics {
        states: states.unwrap_or(u64::MAX),
        many_states: states.is_err().then(|| number.to_string()),
        complete: true,
        ..Statistics::default()
    })
}

fn answer(property: &Property, outcome: Outcome) -> Answer {
    Answer {
        property: property.id(),
        formula: property.text.clone(),
        outcome,
        engine: "symbolic",
        value: None,
        end: None,
        note: None,
        statistics: None,
        reduction: None,
    }
}

/// Judges one property.
struct Court<'c, 's> {
    session: &'c mut Session<'s>,
    setting: &'c Setting<'c>,
    options: &'c CheckOptions,
    property: &'c Property,
}

impl Court<'_, '_> {
    fn judge(&mut self, asked: &Asked) -> Result<Answer, Trouble> {
        match asked {
            Asked::Deadlock => {
                let bad = self.session.space.end.not();
                self.reachable(&bad, Claim::Deadlock)
            }
            Asked::Assertions => {
                let mut bad = self.session.space.diagrams.constant(false);
                for step in &self.session.space.steps {
                    bad = bad.or(&step.violation)?;
                }
                self.reachable(&bad, Claim::Assertion)
            }
            Asked::Invariant(number) => {
                let bad = self.session.conditions[*number].not().and(&self.session.space.settled)?;
                let Question::Invariant(condition) = &self.property.question else {
                    return Ok(self.unknown("internal error: not an invariant"));
                };
                self.reachable(&bad, Claim::Invariant(condition))
            }
            Asked::Ctl(numbered, atoms) => self.branching(numbered, atoms),
            Asked::Ltl(numbered, atoms) => self.linear(numbered, atoms),
            Asked::Not(why) => Ok(self.unknown(why)),
        }
    }

    fn unknown(&self, why: &str) -> Answer {
        answer(self.property, Outcome::Unknown(Reason::Unsupported(why.into())))
    }

    fn holds(&self) -> Answer {
        answer(self.property, Outcome::Holds(Certainty::Proved))
    }

    fn unconfirmed(&self, unconfirmed: Unconfirmed, steps: usize) -> Answer {
        answer(self.property, crate::check::not_confirmed(unconfirmed, steps))
    }

    /// Nothing bad is reachable; or a run to it.
    fn reachable(&mut self, bad: &Bdd, claim: Claim<'_>) -> Result<Answer, Trouble> {
        let reached = match (self.session.reached.is_some(), self.options.symbolic.exploration) {
            (false, Some(exploration)) => self.reduced(bad, claim, exploration)?,
            _ => self.session.reached(self.setting)?,
        };
        let mut bad = bad.and(&reached)?;
        if matches!(claim, Claim::Deadlock) {
            bad = self.session.space.resting(&bad)?;
        }
        if bad.is_false() {
            return Ok(self.holds());
        }
        let space = &self.session.space;
        let Some(run) = run_to(space, &space.initial, &reached, &bad)? else {
            return Ok(self.unknown("internal error: no run leads to a state that was reached"));
        };
        let mut moves: Vec<_> = run.steps.iter().map(|(number, _)| self.session.taken(*number)).collect();
        if matches!(claim, Claim::Assertion)
            && let Some(number) = space.steps.iter().position(|step| step.violation.contains(run.end()))
        {
            moves.push(self.session.taken(number));
        }
        let Some(start) = self.session.start(&run.start) else { return Ok(self.too_many_starts()) };
        Ok(match confirm(self.session.system, start, &moves, claim, &mut Silent) {
            Ok((violation, end)) => {
                Answer { end: Some(end), ..answer(self.property, Outcome::Violated(Box::new(violation))) }
            }
            Err(unconfirmed) => self.unconfirmed(unconfirmed, moves.len()),
        })
    }

    /// The states of a reduced system in which something bad is met if it is in the full one.
    fn reduced(&mut self, bad: &Bdd, claim: Claim<'_>, exploration: Exploration) -> Result<Bdd, Trouble> {
        let seen =
            if matches!(claim, Claim::Deadlock) { Vec::new() } else { self.session.seen(std::slice::from_ref(bad)) };
        let preserve = if matches!(claim, Claim::Deadlock) { Preserve::Deadlocks } else { Preserve::Ltl };
        let symbolic = Symbolic { preserve, ..self.options.symbolic };
        reduced_states(self.session, exploration, symbolic, &seen)
    }

    fn too_many_starts(&self) -> Answer {
        self.unknown("it is violated, but the initial state of the run has a number beyond what a trace can tell")
    }

    /// A fault inside an atomic sequence stops a run where no state counts.
    fn stops_in_passing(&mut self) -> Result<bool, Trouble> {
        let space = &self.session.space;
        if space.faulty.is_false() || !space.passes_over() {
            return Ok(false);
        }
        let reached = self.session.reached(self.setting)?;
        let space = &self.session.space;
        Ok(!reached.and(&space.faulty)?.minus(&space.settled)?.is_false())
    }

    /// Finds the states without a move. If a reduced search for deadlocks meets none, there are none to be reached.
    fn know_what_rests(&mut self) -> Result<(), Trouble> {
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

    fn atoms(&self, numbers: &[usize]) -> Vec<Bdd> {
        numbers.iter().map(|number| self.session.conditions[*number].clone()).collect()
    }

    fn model(&self, atoms: &[Bdd], demand: Demand) -> Result<Vec<Safe>, Trouble> {
        Ok(process_model(&self.session.space, &self.session.seen(atoms), demand)?)
    }

    fn branching(&mut self, numbered: &Numbered, numbers: &[usize]) -> Result<Answer, Trouble> {
        if self.stops_in_passing()? {
            return Ok(self.unknown(IN_PASSING));
        }
        let Some(ctl) = Ctl::of(&numbered.formula) else {
            return Ok(self.unknown("the formula is not CTL: path quantifiers and temporal operators must alternate"));
        };
        let atoms = self.atoms(numbers);
        let exploration = match self.options.symbolic.exploration {
            Some(Exploration::Partial(variant)) if !ctl.has_next() => Some(variant),
            _ => None,
        };
        let model = if exploration.is_some() { self.model(&atoms, Demand::Linear)? } else { Vec::new() };
        let forward = exploration.is_some() || self.options.symbolic.direction == Direction::Forward;
        let within = match &self.session.reached {
            Some(reached) => reached.clone(),
            None => self.session.space.diagrams.constant(true),
        };
        let space = &self.session.space;
        let mut evaluator = Evaluator::new(space, &atoms, within);
        let holds = if forward {
            let reduced = exploration.map(|variant| (&model[..], variant));
            !evaluator.some(&start_states(self.session)?, &ctl.clone().not(), reduced)?
        } else {
            start_states(self.session)?.is_subset(&evaluator.states(&ctl)?)?
        };
        let effort = evaluator.effort.clone();
        drop(evaluator);
        add(&mut self.session.effort, &effort);
        if holds {
            return Ok(Answer { note: note(self.options, exploration.is_none()), ..self.holds() });
        }
        self.show_branching(numbered, &ctl, &atoms)
    }

    /// What shows that the formula does not hold.
    fn show_branching(&mut self, numbered: &Numbered, ctl: &Ctl, atoms: &[Bdd]) -> Result<Answer, Trouble> {
        let reached = self.session.reached(self.setting)?;
        let space = &self.session.space;
        let mut evaluator = Evaluator::new(space, atoms, reached);
        let states = evaluator.states(ctl)?;
        let Some(bad) = start_states(self.session)?.minus(&states)?.pick() else {
            return Ok(self.unknown("internal error: the ways to evaluate the formula disagree"));
        };
        let evidence = Explainer::new(space, &mut evaluator).evidence(&numbered.formula, &bad)?;
        drop(evaluator);
        let mut tree = self.tree(&evidence);
        let mut start_bits = bad;
        if !space.initial.contains(&start_bits) {
            // The initial state is passed over: the way from it comes first.
            let goal = space.settled.only(&start_bits)?;
            let Some(run) = run_to(space, &space.initial, &space.settled.not(), &goal)? else {
                return Ok(self.unknown("internal error: no run leads to a state that was reached"));
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
        let Some(start) = self.session.start(&start_bits) else { return Ok(self.too_many_starts()) };
        Ok(match confirm_tree(self.session.system, start, &tree, numbered) {
            Ok((violation, end)) => {
                Answer { end: Some(end), ..answer(self.property, Outcome::Violated(Box::new(violation))) }
            }
            Err(unconfirmed) => self.unconfirmed(unconfirmed, tree.prefix.len() + tree.cycle.len()),
        })
    }

    fn tree(&self, evidence: &Evidence) -> Tree {
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

    fn linear(&mut self, numbered: &Numbered, numbers: &[usize]) -> Result<Answer, Trouble> {
        if self.stops_in_passing()? {
            return Ok(self.unknown(IN_PASSING));
        }
        self.know_what_rests()?;
        let atoms = self.atoms(numbers);
        let stutters = matches!(ample_logic::is_stutter_invariant(&numbered.formula), Ok(true));
        let exploration = match self.options.symbolic.exploration {
            Some(Exploration::Partial(variant)) if stutters && !numbered.formula.has_next() => Some(variant),
            _ => None,
        };
        let model = if exploration.is_some() { self.model(&atoms, Demand::Safe)? } else { Vec::new() };
        let Ok(product) = Product::of(&self.session.space, &numbered.formula, &atoms, &model)? else {
            return Ok(self.unknown("the formula is not LTL: it has path quantifiers"));
        };
        let backward = match self.options.symbolic.direction {
            Direction::Auto => exploration.is_none(),
            Direction::Backward => true,
            Direction::Forward => false,
        };
        let mut effort = Effort::default();
        let lasso = product.check(Way { reduced: exploration, backward }, &mut effort)?;
        add(&mut self.session.effort, &effort);
        let Some(lasso) = lasso else {
            return Ok(Answer { note: note(self.options, exploration.is_none()), ..self.holds() });
        };
        let Some(run) = self.run(&lasso) else { return Ok(self.too_many_starts()) };
        let charge = match self.property.question {
            Question::Acceptance => Charge::Acceptance,
            _ => Charge::Formula(numbered),
        };
        Ok(match confirm_run(self.session.system, &run, charge, Fairness::None, &mut Silent) {
            Ok((violation, end)) => {
                Answer { end: Some(end), ..answer(self.property, Outcome::Violated(Box::new(violation))) }
            }
            Err(unconfirmed) => self.unconfirmed(unconfirmed, run.prefix.len() + run.cycle.len()),
        })
    }

    fn run(&self, lasso: &Lasso) -> Option<Run> {
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

/// Of a fault where no state counts.
const IN_PASSING: &str =
    "a fault inside an atomic sequence can stop a run there; `--engine explicit` knows what that means";

/// What the user should know about a reduction that was asked for.
fn note(options: &CheckOptions, is_full: bool) -> Option<String> {
    let asked = options.symbolic.exploration.is_some();
    (asked && is_full).then(|| "no partial exploration: the formula uses X, or the method is not for it".into())
}

/// The settled states in which runs begin.
fn start_states(session: &Session<'_>) -> Result<Bdd, Trouble> {
    let space = &session.space;
    let mut start = space.initial.and(&space.settled)?;
    let mut new = space.initial.minus(&space.settled)?;
    let mut passed = new.clone();
    while !new.is_false() {
        let after = space.post(&new)?;
        start = start.or(&after.and(&space.settled)?)?;
        new = after.minus(&space.settled)?.minus(&passed)?;
        passed = passed.or(&new)?;
    }
    Ok(start)
}

fn add(sum: &mut Effort, more: &Effort) {
    sum.posts += more.posts;
    sum.frontier_nodes += more.frontier_nodes;
    sum.frontiers += more.frontiers;
    sum.max_frontier = sum.max_frontier.max(more.max_frontier);
}
