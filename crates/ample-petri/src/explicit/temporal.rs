//! LTL and CTL on nets, by the generic searches of `ample_explicit`: formulas over numbered atoms, each a condition.
//!
//! In LTL a run that is stuck repeats its last marking for ever; in CTL a dead marking has no next one, as the model
//! checking contest reads them. What is only a question of reachability (`G p`, `AG p`, `EF p`) is handed to
//! [`reduced`](super::reduced), which is better at it.

use std::collections::HashMap;

use ample_explicit::ctl::{self, Dead};
use ample_explicit::liveness::{self, BuchiAutomaton, Concurrent, Lasso, MAX_STATES, Number, Product, Step};
use ample_explicit::partial::Taken;
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::FlatStore;
use ample_logic::{Atoms, Binary, Formula, TranslateError, Unary, is_stutter_invariant_within};
use ample_model::{Budget, Cancellation, Reason, Statistics};

use super::ample::Ample;
use super::reduced::{Strategy, reach};
use super::relations::Relations;
use super::space::{Fire, NetSpace, TooNarrow};
use super::stubborn::{Aim, Stubborn};
use super::{Limits, widening};
use crate::evidence::Evidence;
use crate::net::{Condition, Net};

/// How an endless run goes on after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its cycle, for ever.
    Cycle,
    /// Its last marking is dead, and repeats for ever.
    Stutters,
    /// Anyhow: every run that begins so will do, and none that comes back was found soon.
    Open,
}

/// An endless run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The transitions to the cycle.
    pub prefix: Vec<u32>,
    /// Those of the cycle.
    pub cycle: Vec<u32>,
    /// How it goes on.
    pub ending: Ending,
}

/// What is known of an LTL formula.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    /// It holds on all runs; none if the search ended early.
    pub verdict: Option<bool>,
    /// A run on which it does not.
    pub counterexample: Option<Endless>,
    /// Why the search ended early.
    pub ended: Option<Reason>,
    /// Stubborn sets were used.
    pub reduced: bool,
    /// What was done.
    pub statistics: Statistics,
}

/// What is known of a CTL formula.
#[derive(Clone, Debug, Default)]
pub struct Branching {
    /// It holds in the initial marking; none if the search ended early.
    pub verdict: Option<bool>,
    /// A path that shows it, at least in part: all of it if the formula is `EF p` and true, or `AG p` and false, and
    /// `p` has no temporal operators.
    pub run: Option<Vec<u32>>,
    /// So many transitions at the end of the run are a cycle that shows it.
    pub cycle: usize,
    /// All that shows it, where a run can.
    pub evidence: Option<Evidence>,
    /// Why the search ended early.
    pub ended: Option<Reason>,
    /// What was done.
    pub statistics: Statistics,
}

/// Whether an LTL formula holds on all runs from the initial marking. With `stubborn`, orders of transitions that make
/// no difference are left out if the formula cannot count repetitions.
///
/// ```
/// use ample_logic::{Atom, Formula};
/// use ample_budget::Budget;
/// use ample_petri::explicit::temporal::{Ending, ltl};
/// use ample_petri::net::{Condition, Net, Place, Transition};
///
/// // A token goes to and fro, and may be lost.
/// let place = |initial| Place { name: String::new(), initial, bound: Some(1) };
/// let arc = |takes: &[u32], adds: &[u32]| Transition {
///     name: String::new(),
///     takes: takes.iter().map(|place| (*place, 1)).collect(),
///     adds: adds.iter().map(|place| (*place, 1)).collect(),
/// };
/// let transitions = vec![arc(&[0], &[1]), arc(&[1], &[0]), arc(&[1], &[])];
/// let net = Net { places: vec![place(1), place(0)], transitions, exclusive: vec![] };
///
/// // Again and again it is back? Not if it is lost.
/// let back = Condition::AtMost { terms: vec![(0, -1)], most: -1 };
/// let formula = Formula::atom(Atom(0)).finally().globally();
/// let linear = ltl(&net, &formula, &[back], true, &Default::default(), &Budget::unlimited());
/// assert_eq!(linear.verdict, Some(false));
/// let run = linear.counterexample.unwrap();
/// assert_eq!((run.prefix, run.ending), (vec![0, 2], Ending::Stutters));
/// ```
pub fn ltl(
    net: &Net,
    formula: &Formula,
    atoms: &[Condition],
    stubborn: bool,
    limits: &Limits<'_>,
    budget: &Budget,
) -> Linear {
    let ends = |reason| Linear { ended: Some(reason), ..Linear::default() };
    if let Err(reason) = check_atoms(formula, atoms) {
        return ends(reason);
    }
    if let Some(bad) = never(formula, atoms) {
        return by_reachability(net, &bad, stubborn, limits, budget);
    }
    let (automaton, invariant) = match translate(formula, budget) {
        Ok(translated) => translated,
        Err(reason) => return ends(reason),
    };
    if automaton.len() > MAX_STATES {
        return ends(Reason::Unsupported("the automaton of the formula has too many states".into()));
    }
    let reduced = stubborn && invariant;
    let linear = widening(net, limits, |relations, widths| {
        let space = match NetSpace::with_widths(net, relations, atoms, widths) {
            Ok(space) => space,
            Err(reason) => return Ok(ends(reason)),
        };
        if !reduced {
            return emptiness(net, (space.clone(), &space), &automaton, |fire| fire.transition, limits, budget);
        }
        let aim = Aim::Runs { visible: visible(relations, formula, atoms) };
        let stubborn = match Stubborn::with(relations.clone(), &aim) {
            Ok(stubborn) => stubborn,
            Err(reason) => return Ok(ends(reason)),
        };
        let ample = Ample::new(space.clone(), stubborn);
        let linear = emptiness(
            net,
            (ample, &space),
            &automaton,
            |taken: &Taken<Fire>| taken.transition.transition,
            limits,
            budget,
        )?;
        Ok(Linear { reduced, ..linear })
    });
    linear.unwrap_or_else(ends)
}

/// All atoms are there.
fn check_atoms(formula: &Formula, atoms: &[Condition]) -> Result<(), Reason> {
    if formula.atoms().iter().all(|atom| (atom.0 as usize) < atoms.len()) {
        return Ok(());
    }
    Err(Reason::Unsupported("the formula has an atom that stands for nothing".into()))
}

/// The transitions that may change an atom of the formula.
fn visible(relations: &Relations, formula: &Formula, atoms: &[Condition]) -> Vec<bool> {
    let mut visible = vec![false; relations.transitions()];
    for atom in formula.atoms() {
        relations.touches(&atoms[atom.0 as usize], &mut |t| visible[t as usize] = true);
    }
    visible
}

/// A formula without temporal operators as a condition.
fn condition(formula: &Formula, atoms: &[Condition]) -> Option<Condition> {
    Some(match formula {
        Formula::True => Condition::Const(true),
        Formula::False => Condition::Const(false),
        Formula::Atom(atom) => atoms.get(atom.0 as usize)?.clone(),
        Formula::Unary(Unary::Not, f) => condition(f, atoms)?.negated(),
        Formula::Unary(..) => return None,
        Formula::Binary(op, f, g) => {
            let (f, g) = (condition(f, atoms)?, condition(g, atoms)?);
            match op {
                Binary::And => Condition::all(vec![f, g]),
                Binary::Or => Condition::any(vec![f, g]),
                Binary::Implies => Condition::any(vec![f.negated(), g]),
                _ => return None,
            }
        }
    })
}

/// Where `G p` is violated.
fn never(formula: &Formula, atoms: &[Condition]) -> Option<Condition> {
    match formula {
        Formula::Unary(Unary::Globally, f) => condition(f, atoms).map(|f| f.negated()),
        Formula::Unary(Unary::Not, f) => match &**f {
            Formula::Unary(Unary::Finally, f) => condition(f, atoms),
            _ => None,
        },
        _ => None,
    }
}

fn by_reachability(net: &Net, bad: &Condition, stubborn: bool, limits: &Limits<'_>, budget: &Budget) -> Linear {
    let reached = reach(net, bad, Strategy { stubborn, ..Strategy::default() }, limits, budget);
    let verdict = if reached.run.is_some() { Some(false) } else { reached.ended.is_none().then_some(true) };
    Linear {
        verdict,
        counterexample: reached.run.map(|run| close(net, run, limits)),
        ended: reached.ended,
        reduced: stubborn,
        statistics: reached.statistics,
    }
}

/// Larger formulas are not asked whether they can count repetitions, if they look as if they could.
const MAX_ASKED: usize = 30;

/// The automaton of the negation, and whether repetitions make no difference to the formula.
fn translate(formula: &Formula, budget: &Budget) -> Result<(BuchiAutomaton, bool), Reason> {
    let unsupported = |why: String| Reason::Unsupported(why);
    let options = ample_logic::Options::default();
    let automaton = match ample_logic::translate_within(&!formula.clone(), &Atoms::new(), options, budget) {
        Ok(automaton) => BuchiAutomaton::of(&automaton).map_err(|error| unsupported(error.to_string()))?,
        Err(TranslateError::Interrupted(interrupted)) => return Err(interrupted.into()),
        Err(error) => return Err(unsupported(error.to_string())),
    };
    let invariant =
        !formula.has_next() || formula.size() <= MAX_ASKED && is_stutter_invariant_within(formula, budget) == Ok(true);
    Ok((automaton, invariant))
}

/// A budget that ends a search as soon as a place was too narrow, or it holds more than its memory; and whether it did.
fn alert(budget: &Budget, space: &NetSpace, memory: usize) -> (Budget, Cancellation) {
    let space = space.clone();
    budget.until(move |progress| space.too_narrow().is_some() || progress.memory > memory as u64)
}

/// Longer states are not copied by the thousand to see that a run goes on.
const MAX_COPIED: usize = 1024;

/// Looks for a run that the automaton accepts.
fn emptiness<S>(
    net: &Net,
    (runs, space): (S, &NetSpace),
    automaton: &BuchiAutomaton,
    number: impl Fn(&S::Transition) -> u32,
    limits: &Limits<'_>,
    budget: &Budget,
) -> Result<Linear, TooNarrow>
where
    S: Checked<State = [u8]> + Concurrent,
{
    let mut product = Product::new(runs, automaton.clone()).hasty(space.state_len() <= MAX_COPIED);
    let mut store = FlatStore::<Number>::default().limit(limits.memory);
    let options = liveness::Options { report_every: limits.report_every, ..liveness::Options::default() };
    let (alert, full) = alert(budget, space, limits.memory);
    let report = liveness::components(&mut product, &mut store, &options, &alert);
    if let Some(too_narrow) = space.too_narrow() {
        return Err(too_narrow);
    }
    let counterexample = report.found.map(|lasso| endless(net, &lasso, number, limits));
    let verdict = if counterexample.is_some() { Some(false) } else { report.ended.is_none().then_some(true) };
    let ended = report.ended.map(|reason| if full.is_cancelled() { Reason::Memory } else { reason });
    Ok(Linear { verdict, counterexample, ended, reduced: false, statistics: report.statistics })
}

/// A run of the product as one of the net.
fn endless<T: Copy>(net: &Net, lasso: &Lasso<Step<T>>, number: impl Fn(&T) -> u32, limits: &Limits<'_>) -> Endless {
    let transitions = |steps: &[(_, Step<T>)]| -> Vec<u32> {
        steps.iter().filter_map(|(_, step)| step.base.as_ref().map(&number)).collect()
    };
    let (prefix, cycle) = (transitions(&lasso.prefix), transitions(&lasso.cycle));
    match (lasso.cycle.is_empty(), cycle.is_empty()) {
        (true, _) => close(net, prefix, limits),
        (false, true) => Endless { prefix, cycle, ending: Ending::Stutters },
        (false, false) => Endless { prefix, cycle, ending: Ending::Cycle },
    }
}

/// So many bytes of states are kept to see that a run comes back.
const MAX_KEPT: usize = 16 << 20;

/// Goes on after a beginning until the run is stuck or comes back.
fn close(net: &Net, prefix: Vec<u32>, limits: &Limits<'_>) -> Endless {
    let closed = widening(net, limits, |relations, widths| {
        let Ok(mut space) = NetSpace::with_widths(net, relations, &[], widths) else { return Ok(None) };
        close_packed(&mut space, prefix.clone())
    });
    closed.ok().flatten().unwrap_or(Endless { prefix, cycle: Vec::new(), ending: Ending::Open })
}

/// The same with states of a certain width; none if the run is not seen to come back.
fn close_packed(space: &mut NetSpace, mut prefix: Vec<u32>) -> Result<Option<Endless>, TooNarrow> {
    let mut state = space.table.initial.clone();
    prefix.iter().try_for_each(|transition| space.table.fire(*transition, &mut state))?;
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut turn = 0;
    while known.len() * (state.len() + 64) < MAX_KEPT {
        if let Some(at) = known.insert(state.clone(), prefix.len()) {
            let cycle = prefix.split_off(at);
            return Ok(Some(Endless { prefix, cycle, ending: Ending::Cycle }));
        }
        let Some(fire) = some_fire(space, &state, &mut turn) else {
            return Ok(Some(Endless { prefix, cycle: Vec::new(), ending: Ending::Stutters }));
        };
        space.table.fire(fire.transition, &mut state)?;
        prefix.push(fire.transition);
    }
    Ok(None)
}

/// Now this transition and now that one, so that the run does not only fill a place.
fn some_fire(space: &mut NetSpace, state: &[u8], turn: &mut u32) -> Option<Fire> {
    let first = space.first(state)?;
    let mut fire = first;
    for _ in 0..*turn % 3 {
        fire = space.next(state, &fire).unwrap_or(first);
    }
    *turn += 1;
    Some(fire)
}

/// Whether a CTL formula holds in the initial marking.
pub fn ctl(net: &Net, formula: &Formula, atoms: &[Condition], limits: &Limits<'_>, budget: &Budget) -> Branching {
    let ends = |reason| Branching { ended: Some(reason), ..Branching::default() };
    if let Err(reason) = check_atoms(formula, atoms) {
        return ends(reason);
    }
    if let Some((goal, if_reached)) = reachable(formula, atoms) {
        let reached = reach(net, &goal, Strategy::default(), limits, budget);
        let verdict =
            if reached.run.is_some() { Some(if_reached) } else { reached.ended.is_none().then_some(!if_reached) };
        let statistics = reached.statistics;
        let evidence = reached.run.as_ref().map(|run| shown(formula, run));
        return Branching { verdict, run: reached.run, cycle: 0, evidence, ended: reached.ended, statistics };
    }
    let branching =
        widening(net, limits, |relations, widths| match NetSpace::with_widths(net, relations, atoms, widths) {
            Ok(space) => evaluate(space, formula, limits, budget),
            Err(reason) => Ok(ends(reason)),
        });
    branching.unwrap_or_else(ends)
}

/// A marking to look for, and the value of the formula if there is one.
fn reachable(formula: &Formula, atoms: &[Condition]) -> Option<(Condition, bool)> {
    let Formula::Unary(quantifier, path) = formula else { return None };
    match (quantifier, &**path) {
        (Unary::Not, f) => reachable(f, atoms).map(|(goal, value)| (goal, !value)),
        (Unary::Exists, Formula::Unary(Unary::Finally, f)) => Some((condition(f, atoms)?, true)),
        (Unary::All, Formula::Unary(Unary::Globally, f)) => Some((condition(f, atoms)?.negated(), false)),
        _ => None,
    }
}

/// What a run shows that ends in the marking of [`reachable`]. Negations are left out.
fn shown(formula: &Formula, run: &[u32]) -> Evidence {
    match formula {
        Formula::Unary(Unary::Not, f) => shown(f, run),
        Formula::Unary(quantifier, _) => Evidence::run(formula, *quantifier == Unary::Exists, run.to_vec()),
        _ => Evidence::bare(formula, true),
    }
}

fn evaluate(
    mut space: NetSpace,
    formula: &Formula,
    limits: &Limits<'_>,
    budget: &Budget,
) -> Result<Branching, TooNarrow> {
    let shared = space.clone();
    let (alert, full) = alert(budget, &shared, limits.memory);
    let mut store = FlatStore::<ctl::Number>::default().limit(limits.memory);
    let options = ctl::Options { dead: Dead::Ends, report_every: limits.report_every, ..ctl::Options::default() };
    let report = match ctl::check(&mut space, &mut store, formula, &options, &alert) {
        Ok(report) => report,
        Err(error) => {
            let ended = Some(Reason::Unsupported(error.to_string()));
            return Ok(Branching { ended, ..Branching::default() });
        }
    };
    if let Some(too_narrow) = shared.too_narrow() {
        return Err(too_narrow);
    }
    let run =
        report.evidence.as_ref().map(|evidence| evidence.path.transitions().map(|fire| fire.transition).collect());
    Ok(Branching {
        verdict: report.verdict,
        run,
        cycle: report.evidence.as_ref().map_or(0, |evidence| evidence.cycle),
        evidence: report.evidence.as_ref().map(Evidence::of),
        ended: report.ended.map(|reason| if full.is_cancelled() { Reason::Memory } else { reason }),
        statistics: report.statistics,
    })
}
