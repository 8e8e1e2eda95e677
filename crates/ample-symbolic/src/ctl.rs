//! CTL over sets of states: backward, forward, and forward with partial exploration (evalCTLX).
//!
//! A formula is rewritten into `EX`, `E[f U g]` and `EG f`. Backward evaluation is the textbook's; forward evaluation
//! asks whether some state of a set satisfies a formula, and follows its outermost operators from that set (Iwashita,
//! Nakata and Hirose), going backward only where it must. With a process model, the states that are followed are those
//! of a reduced system (thesis §3.4).
//!
//! A run that a fault has stopped repeats its last state for ever: on it `EX f` and `EG f` are `f`, and `E[f U g]` is
//! `g`. That needs no state of its own: the set of states in which a stopped run satisfies a formula is computed beside.
//!
//! If only fair runs count, `E` means: on some fair run. Whether a run is fair does not depend on how it begins, so a
//! state is as good as one from which `f` leads to where a fair run stays in `f`; and where something must hold next or
//! some time, some fair run must go on from there. That is evaluated backward.

use std::collections::HashMap;

use ample_logic::{Binary, Formula, Unary};

use crate::diagram::{Bdd, Maybe};
use crate::fair::{FairSearch, Fairness};
use crate::partial::{self, Preserve, Variant};
use crate::process_model::Safe;
use crate::reach::Effort;
use crate::space::Space;

/// A formula over atoms with the operators that are evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ctl {
    /// Truth or falsity.
    Const(bool),
    /// An atom.
    Atom(u32),
    /// ¬
    Not(Box<Ctl>),
    /// ∧
    And(Box<Ctl>, Box<Ctl>),
    /// ∨
    Or(Box<Ctl>, Box<Ctl>),
    /// In some next state.
    Next(Box<Ctl>),
    /// On some run the second, and until then the first.
    Until(Box<Ctl>, Box<Ctl>),
    /// On some run always.
    Always(Box<Ctl>),
}

impl Ctl {
    /// A formula in these operators; `None` if it is not CTL.
    pub fn of(formula: &Formula) -> Option<Ctl> {
        Some(match formula {
            Formula::True => Ctl::Const(true),
            Formula::False => Ctl::Const(false),
            Formula::Atom(atom) => Ctl::Atom(atom.0),
            Formula::Unary(Unary::Not, f) => Ctl::of(f)?.not(),
            Formula::Unary(Unary::Exists, path) => Ctl::some_run(path, true)?,
            Formula::Unary(Unary::All, path) => Ctl::some_run(path, false)?.not(),
            Formula::Unary(..) => return None,
            Formula::Binary(op, f, g) => {
                let (f, g) = (Ctl::of(f)?, Ctl::of(g)?);
                match op {
                    Binary::And => f.and(g),
                    Binary::Or => f.or(g),
                    Binary::Implies => f.not().or(g),
                    Binary::Iff => f.clone().and(g.clone()).or(f.not().and(g.not())),
                    Binary::Xor => f.clone().and(g.clone().not()).or(f.not().and(g)),
                    _ => return None,
                }
            }
        })
    }

    /// There is a run that satisfies the path formula, or its negation.
    fn some_run(path: &Formula, positive: bool) -> Option<Ctl> {
        let side = |f: &Formula| Some(if positive { Ctl::of(f)? } else { Ctl::of(f)?.not() });
        Some(match path {
            Formula::Unary(Unary::Next, f) => Ctl::Next(Box::new(side(f)?)),
            Formula::Unary(Unary::Finally, f) if positive => Ctl::until(Ctl::Const(true), side(f)?),
            Formula::Unary(Unary::Finally, f) => Ctl::Always(Box::new(side(f)?)),
            Formula::Unary(Unary::Globally, f) if positive => Ctl::Always(Box::new(side(f)?)),
            Formula::Unary(Unary::Globally, f) => Ctl::until(Ctl::Const(true), side(f)?),
            Formula::Binary(op, f, g) => {
                let (f, g) = (side(f)?, side(g)?);
                // ¬(f U g) is ¬f R ¬g, and so on; f W g is g R (f ∨ g), f M g is g U (f ∧ g).
                match (op, positive) {
                    (Binary::Until, true) | (Binary::Release, false) => Ctl::until(f, g),
                    (Binary::Release, true) | (Binary::Until, false) => Ctl::release(f, g),
                    (Binary::WeakUntil, true) => Ctl::release(g.clone(), f.or(g)),
                    (Binary::WeakUntil, false) => Ctl::until(g.clone(), f.and(g)),
                    (Binary::StrongRelease, true) => Ctl::until(g.clone(), f.and(g)),
                    (Binary::StrongRelease, false) => Ctl::release(g.clone(), f.or(g)),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    fn until(f: Ctl, g: Ctl) -> Ctl {
        Ctl::Until(Box::new(f), Box::new(g))
    }

    /// `E[f R g]` is `E[g U f∧g] ∨ EG g`.
    fn release(f: Ctl, g: Ctl) -> Ctl {
        let ends = Ctl::until(g.clone(), f.and(g.clone()));
        ends.or(Ctl::Always(Box::new(g)))
    }

    /// The negation.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "it folds")]
    pub fn not(self) -> Ctl {
        match self {
            Ctl::Const(value) => Ctl::Const(!value),
            Ctl::Not(f) => *f,
            // Only so does forward evaluation meet the operators inside.
            Ctl::And(f, g) => f.not().or(g.not()),
            Ctl::Or(f, g) => f.not().and(g.not()),
            f => Ctl::Not(Box::new(f)),
        }
    }

    fn and(self, other: Ctl) -> Ctl {
        match (self, other) {
            (Ctl::Const(true), f) | (f, Ctl::Const(true)) => f,
            (Ctl::Const(false), _) | (_, Ctl::Const(false)) => Ctl::Const(false),
            (f, g) => Ctl::And(Box::new(f), Box::new(g)),
        }
    }

    fn or(self, other: Ctl) -> Ctl {
        match (self, other) {
            (Ctl::Const(false), f) | (f, Ctl::Const(false)) => f,
            (Ctl::Const(true), _) | (_, Ctl::Const(true)) => Ctl::Const(true),
            (f, g) => Ctl::Or(Box::new(f), Box::new(g)),
        }
    }

    /// Without a temporal operator.
    pub fn is_plain(&self) -> bool {
        match self {
            Ctl::Const(_) | Ctl::Atom(_) => true,
            Ctl::Not(f) => f.is_plain(),
            Ctl::And(f, g) | Ctl::Or(f, g) => f.is_plain() && g.is_plain(),
            Ctl::Next(_) | Ctl::Until(..) | Ctl::Always(_) => false,
        }
    }

    /// It speaks of next states.
    pub fn has_next(&self) -> bool {
        match self {
            Ctl::Const(_) | Ctl::Atom(_) => false,
            Ctl::Next(_) => true,
            Ctl::Not(f) | Ctl::Always(f) => f.has_next(),
            Ctl::And(f, g) | Ctl::Or(f, g) | Ctl::Until(f, g) => f.has_next() || g.has_next(),
        }
    }
}

/// How a formula is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the states where the parts hold to those from which they are reached.
    #[default]
    Backward,
    /// From the initial states on.
    Forward,
}

/// Which runs count, where not all do.
#[derive(Clone, Debug)]
pub struct FairRuns {
    /// Those that are fair in that way.
    pub fairness: Fairness,
    /// The states in which a run that a fault has stopped there is fair.
    pub stopped: Bdd,
}

/// Evaluates formulas over one space.
pub struct Evaluator<'a> {
    space: &'a Space,
    /// What the atoms mean.
    atoms: &'a [Bdd],
    /// Nothing outside of these states matters.
    within: Bdd,
    known: HashMap<Ctl, Bdd>,
    known_stopped: HashMap<Ctl, Bdd>,
    /// Of each `E[f U g]`, the states by how far they are from the goal.
    layers: HashMap<Ctl, Vec<Bdd>>,
    fair: Option<&'a FairRuns>,
    /// The settled states from which there are fair runs, if not all runs are.
    fair_states: Option<Bdd>,
    /// What was done.
    pub effort: Effort,
}

impl<'a> Evaluator<'a> {
    /// For these atoms. Nothing outside of `within` matters: all states, or a superset of the reachable ones.
    pub fn new(space: &'a Space, atoms: &'a [Bdd], within: Bdd) -> Evaluator<'a> {
        let (known, known_stopped, layers) = Default::default();
        let (fair, fair_states) = (None, None);
        Evaluator { space, atoms, within, known, known_stopped, layers, fair, fair_states, effort: Effort::default() }
    }

    /// Only these runs count. Which states rest must be known to the space.
    pub fn over(mut self, fair: &'a FairRuns) -> Maybe<Evaluator<'a>> {
        self.fair = Some(fair);
        let states = self.domain()?;
        self.fair_states = Some(self.always_fairly(&states, &fair.stopped.clone(), fair)?);
        Ok(self)
    }

    /// The settled states, among those that matter, that satisfy the formula.
    pub fn states(&mut self, formula: &Ctl) -> Maybe<Bdd> {
        if let Some(known) = self.known.get(formula) {
            return Ok(known.clone());
        }
        let set = match formula {
            Ctl::Const(value) => {
                if *value {
                    self.domain()?
                } else {
                    self.space.diagrams.constant(false)
                }
            }
            Ctl::Atom(atom) => self.atoms[*atom as usize].and(&self.domain()?)?,
            Ctl::Not(f) => {
                let set = self.states(f)?;
                self.domain()?.minus(&set)?
            }
            Ctl::And(f, g) => self.states(f)?.and(&self.states(g)?)?,
            Ctl::Or(f, g) => self.states(f)?.or(&self.states(g)?)?,
            Ctl::Next(f) => {
                let set = self.states(f)?;
                let set = self.with_fair_run(&set)?;
                self.before(&set)?.or(&self.stopping(f)?)?
            }
            Ctl::Until(f, g) => {
                let (f_states, g_states) = (self.states(f)?, self.states(g)?);
                let goal = self.with_fair_run(&g_states)?.or(&f_states.and(&self.stopping(g)?)?)?;
                let layers = self.until(&f_states, &goal)?;
                let mut all = self.space.diagrams.constant(false);
                for layer in &layers {
                    all = all.or(layer)?;
                }
                self.layers.insert(formula.clone(), layers);
                all
            }
            Ctl::Always(f) => {
                let f_states = self.states(f)?;
                match self.fair {
                    None => {
                        let stopping = self.stopping(f)?.and(&f_states)?;
                        self.always(&f_states, &stopping)?
                    }
                    Some(fair) => {
                        let stopped = self.stopped(f)?.and(&fair.stopped)?;
                        self.always_fairly(&f_states, &stopped, fair)?
                    }
                }
            }
        };
        self.known.insert(formula.clone(), set.clone());
        Ok(set)
    }

    fn domain(&self) -> Maybe<Bdd> {
        self.within.and(&self.space.settled)
    }

    /// The states of the set from which there are fair runs.
    fn with_fair_run(&self, set: &Bdd) -> Maybe<Bdd> {
        match &self.fair_states {
            Some(fair) => set.and(fair),
            None => Ok(set.clone()),
        }
    }

    fn before(&mut self, set: &Bdd) -> Maybe<Bdd> {
        self.effort.posts += 1;
        self.space.previous(set, &self.within)
    }

    /// These states, and those that are passed over.
    fn scope(&self, set: &Bdd) -> Maybe<Bdd> {
        set.or(&self.within.minus(&self.space.settled)?)
    }

    /// The states from which a run may be stopped by a fault, and then satisfies the formula.
    fn stopping(&mut self, formula: &Ctl) -> Maybe<Bdd> {
        if self.space.faulty.is_false() {
            return Ok(self.space.diagrams.constant(false));
        }
        let mut stopped = self.stopped(formula)?;
        if let Some(fair) = self.fair {
            stopped = stopped.and(&fair.stopped)?;
        }
        self.space.faulty.and(&stopped)?.and(&self.within)
    }

    /// The states in which a stopped run satisfies the formula.
    pub fn stopped(&mut self, formula: &Ctl) -> Maybe<Bdd> {
        if let Some(known) = self.known_stopped.get(formula) {
            return Ok(known.clone());
        }
        let set = match formula {
            Ctl::Const(value) => self.space.diagrams.constant(*value),
            Ctl::Atom(atom) => self.atoms[*atom as usize].clone(),
            Ctl::Not(f) => self.stopped(f)?.not(),
            Ctl::And(f, g) => self.stopped(f)?.and(&self.stopped(g)?)?,
            Ctl::Or(f, g) => self.stopped(f)?.or(&self.stopped(g)?)?,
            Ctl::Next(f) | Ctl::Always(f) | Ctl::Until(_, f) => {
                let set = self.stopped(f)?;
                match self.fair {
                    Some(fair) => set.and(&fair.stopped)?,
                    None => set,
                }
            }
        };
        self.known_stopped.insert(formula.clone(), set.clone());
        Ok(set)
    }

    /// The states of `E[f U g]`, by how far they are from where it is decided; `None` if the formula is not of that kind.
    pub fn layers(&mut self, formula: &Ctl) -> Maybe<Option<Vec<Bdd>>> {
        self.states(formula)?;
        Ok(self.layers.get(formula).cloned())
    }

    fn until(&mut self, through: &Bdd, goal: &Bdd) -> Maybe<Vec<Bdd>> {
        let mut all = goal.clone();
        let mut layers = vec![goal.clone()];
        let scope = self.scope(&through.or(goal)?)?;
        loop {
            let last = &layers[layers.len() - 1];
            self.effort.note(last);
            let new = self.space.previous(last, &scope)?.and(through)?.minus(&all)?;
            self.effort.posts += 1;
            if new.is_false() {
                return Ok(layers);
            }
            all = all.or(&new)?;
            layers.push(new);
        }
    }

    /// Runs that stay in the set for ever, or end where it may stop.
    fn always(&mut self, set: &Bdd, may_end: &Bdd) -> Maybe<Bdd> {
        let mut all = set.clone();
        loop {
            self.effort.note(&all);
            self.effort.posts += 1;
            let next = self.space.previous(&all, &self.scope(&all)?)?.or(may_end)?.and(&all)?;
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }

    /// The settled states of the set from which a fair run stays in it: for ever, in a state without a move, or stopped
    /// in one of those states by a fault.
    fn always_fairly(&mut self, set: &Bdd, stopped: &Bdd, fair: &FairRuns) -> Maybe<Bdd> {
        let search = FairSearch::new(self.space, &fair.fairness);
        let scope = self.scope(set)?;
        let mut goal = search.backward(&scope, &mut self.effort)?;
        // Nothing is enabled in a state without a move, so only what must be visited matters there.
        let mut resting = self.space.resting(&set.and(&self.space.settled)?)?;
        for condition in &fair.fairness.justice {
            resting = resting.and(&condition.states)?;
        }
        goal = goal.or(&resting)?.or(&self.space.faulty.and(stopped)?.and(set)?)?;
        search.backward_until(&goal, &scope, &mut self.effort)?.and(set)
    }

    /// Some state of the set satisfies the formula: forward as far as it goes, within a reduced system if there is a
    /// process model. All runs must count.
    pub fn some(&mut self, from: &Bdd, formula: &Ctl, reduced: Option<(&[Safe], Variant)>) -> Maybe<bool> {
        if from.is_false() {
            return Ok(false);
        }
        match formula {
            Ctl::Or(f, g) => Ok(self.some(from, f, reduced)? || self.some(from, g, reduced)?),
            Ctl::And(f, g) if f.is_plain() => {
                let part = from.and(&self.states(f)?)?;
                self.some(&part, g, reduced)
            }
            Ctl::And(f, g) if g.is_plain() => {
                let part = from.and(&self.states(g)?)?;
                self.some(&part, f, reduced)
            }
            Ctl::And(f, g) => {
                // One of the two has to go backward: the one with less to follow.
                let (forward, backward) = if weight(f) >= weight(g) { (f, g) } else { (g, f) };
                let part = from.and(&self.states(backward)?)?;
                self.some(&part, forward, reduced)
            }
            Ctl::Next(f) => {
                if self.meets(from, &self.space.faulty.clone(), f)? {
                    return Ok(true);
                }
                let next = self.space.next(from)?;
                self.effort.posts += 1;
                self.some(&next, f, reduced)
            }
            Ctl::Until(f, g) => {
                let through = self.states(f)?;
                let reached = self.follow(from, &through, reduced)?;
                if self.some(&reached, g, reduced)? {
                    return Ok(true);
                }
                self.meets(&reached.and(&through)?, &self.space.faulty.clone(), g)
            }
            Ctl::Always(f) => {
                let through = self.states(f)?;
                let reached = self.follow(from, &through, reduced)?.and(&through)?;
                if self.meets(&reached, &self.space.faulty.clone(), f)? {
                    return Ok(true);
                }
                Ok(!self.endless(&reached)?.is_false())
            }
            _ => {
                let set = self.states(formula)?;
                Ok(!from.is_disjoint(&set)?)
            }
        }
    }

    /// Some of these states may stop by a fault, and the stopped run satisfies the formula.
    fn meets(&mut self, from: &Bdd, faulty: &Bdd, formula: &Ctl) -> Maybe<bool> {
        if faulty.is_false() {
            return Ok(false);
        }
        let stopped = self.stopped(formula)?;
        Ok(!from.and(faulty)?.is_disjoint(&stopped)?)
    }

    /// The states reached from these, leaving only states of the filter.
    fn follow(&mut self, from: &Bdd, filter: &Bdd, reduced: Option<(&[Safe], Variant)>) -> Maybe<Bdd> {
        if let Some((model, variant)) = reduced {
            let preserve = Preserve::Properties(variant);
            // What is passed over is left whatever the filter says.
            let filter = filter.or(&self.space.settled.not())?;
            return partial::explore(self.space, model, from, &filter, preserve, &mut self.effort);
        }
        let mut reached = from.clone();
        let mut frontier = from.clone();
        while !frontier.is_false() {
            self.effort.note(&frontier);
            self.effort.posts += 1;
            frontier = self.space.next(&frontier.and(filter)?)?.minus(&reached)?;
            reached = reached.or(&frontier)?;
        }
        Ok(reached)
    }

    /// The states of the set to which endless runs backward lead that stay in it.
    fn endless(&mut self, set: &Bdd) -> Maybe<Bdd> {
        let mut all = set.clone();
        loop {
            self.effort.note(&all);
            self.effort.posts += 1;
            let next = self.space.next(&all)?.and(&all)?;
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }
}

/// How many temporal operators a formula has.
fn weight(formula: &Ctl) -> usize {
    match formula {
        Ctl::Const(_) | Ctl::Atom(_) => 0,
        Ctl::Not(f) => weight(f),
        Ctl::Next(f) | Ctl::Always(f) => 1 + weight(f),
        Ctl::And(f, g) | Ctl::Or(f, g) => weight(f) + weight(g),
        Ctl::Until(f, g) => 1 + weight(f) + weight(g),
    }
}
