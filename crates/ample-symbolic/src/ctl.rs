//! CTL over sets of states: backward over any algebra of sets; with binary diagrams also forward, and forward with
//! partial exploration (evalCTLX).
//!
//! A formula is rewritten into `EX`, `E[f U g]` and `EG f`. Backward evaluation is the textbook's. A deadlocked state is
//! its own successor or has none, as [`Sets::stutters`] says; where it has none, `EX f` is false, `AX f` true, and `EG f`
//! is `f`. Forward evaluation asks whether some state of a set satisfies a formula, and follows its outermost operators from that set (Iwashita,
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
use std::ops::Deref;

use ample_logic::{Binary, Formula, Unary};

use crate::diagram::Bdd;
use crate::error::{Maybe, SetError};
use crate::fair::{FairSearch, Fairness};
use crate::partial::{self, Preserve, Variant};
use crate::process_model::Safe;
use crate::reach::Effort;
use crate::sets::Sets;
use crate::space::{Space, SpaceSets};

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
pub struct FairRuns<Set = Bdd> {
    /// Those that are fair in that way.
    pub fairness: Fairness<Set>,
    /// The states in which a run that a fault has stopped there is fair.
    pub stopped: Set,
}

/// Says in which states of a set an atom holds.
pub type Atoms<'a, S> = Box<dyn Fn(&mut S, &<S as Sets>::Set, u32) -> Maybe<<S as Sets>::Set> + 'a>;

/// Atoms whose states are known, in binary diagrams.
pub fn known_atoms<'a, P: Deref<Target = Space>>(atoms: &'a [Bdd]) -> Atoms<'a, SpaceSets<P>> {
    Box::new(|_, set, atom| atoms.get(atom as usize).ok_or(SetError::Foreign)?.and(set))
}

/// Evaluates formulas over one algebra of sets.
pub struct Evaluator<'a, S: Sets> {
    sets: &'a mut S,
    /// What the atoms mean.
    atoms: Atoms<'a, S>,
    /// Nothing outside of these states matters.
    within: S::Set,
    /// The visible ones of them.
    domain: S::Set,
    /// Those in which a run may be stopped by a fault.
    faulty: S::Set,
    known: HashMap<Ctl, S::Set>,
    known_stopped: HashMap<Ctl, S::Set>,
    fair: Option<&'a FairRuns<S::Set>>,
    /// The visible states from which there are fair runs, if not all runs are.
    fair_states: Option<S::Set>,
    /// What was done.
    pub effort: Effort,
}

impl<'a, S: Sets> Evaluator<'a, S> {
    /// For these atoms. Nothing outside of `within` matters: all states, or a superset of the reachable ones.
    pub fn new(sets: &'a mut S, atoms: Atoms<'a, S>, within: S::Set) -> Maybe<Evaluator<'a, S>> {
        let domain = sets.visible(&within)?;
        let faulty = sets.faulty(&within)?;
        let (known, known_stopped) = Default::default();
        let (fair, fair_states, effort) = (None, None, Effort::default());
        Ok(Evaluator { sets, atoms, within, domain, faulty, known, known_stopped, fair, fair_states, effort })
    }

    /// Only these runs count. Which states are deadlocked should be known to the sets.
    pub fn over(mut self, fair: &'a FairRuns<S::Set>) -> Maybe<Evaluator<'a, S>> {
        self.fair = Some(fair);
        let states = self.domain.clone();
        self.fair_states = Some(self.always_fairly(&states, &fair.stopped, fair)?);
        Ok(self)
    }

    /// `EG` is about runs that count: these, and infinite ones where the sets say so. Of the other operators the formula says
    /// itself where a run goes on that counts.
    #[must_use]
    pub fn counting(mut self, fair: Option<&'a FairRuns<S::Set>>) -> Evaluator<'a, S> {
        self.fair = fair;
        self
    }

    /// Which runs count, where not all do.
    pub fn fair_runs(&self) -> Option<&'a FairRuns<S::Set>> {
        self.fair
    }

    /// The sets, to do more with them.
    pub fn sets(&mut self) -> &mut S {
        self.sets
    }

    /// Nothing outside of these states matters.
    pub fn within(&self) -> &S::Set {
        &self.within
    }

    /// The sets of the formulas that were evaluated, for [`Evaluator::knowing`].
    pub fn into_known(self) -> HashMap<Ctl, S::Set> {
        self.known
    }

    /// With sets that are known from before, on the same states.
    #[must_use]
    pub fn knowing(self, known: HashMap<Ctl, S::Set>) -> Evaluator<'a, S> {
        Evaluator { known, ..self }
    }

    /// The visible states, among those that matter, that satisfy the formula.
    pub fn states(&mut self, formula: &Ctl) -> Maybe<S::Set> {
        if let Some(known) = self.known.get(formula) {
            return Ok(known.clone());
        }
        self.sets.check_depth()?;
        let set = match formula {
            Ctl::Const(true) => self.domain.clone(),
            Ctl::Const(false) => self.sets.empty(),
            Ctl::Atom(atom) => (self.atoms)(self.sets, &self.domain, *atom)?,
            Ctl::Not(f) => {
                let set = self.states(f)?;
                self.sets.minus(&self.domain, &set)?
            }
            Ctl::And(f, g) => {
                let (f, g) = (self.states(f)?, self.states(g)?);
                self.sets.intersection(&f, &g)?
            }
            Ctl::Or(f, g) => {
                let (f, g) = (self.states(f)?, self.states(g)?);
                self.sets.union(&f, &g)?
            }
            Ctl::Next(f) => {
                let set = self.states(f)?;
                let set = self.with_fair_run(&set)?;
                self.effort.posts += 1;
                let before = self.sets.previous(&set, &self.within)?;
                let stopping = self.stopping(f)?;
                self.sets.union(&before, &stopping)?
            }
            Ctl::Until(f, g) => {
                let through = self.states(f)?;
                let goal = self.goal(f, g)?;
                self.sets.until(&through, &goal, &self.within, &mut self.effort)?
            }
            Ctl::Always(f) => self.always(f)?,
        };
        self.known.insert(formula.clone(), set.clone());
        Ok(set)
    }

    /// Where `E[f U g]` is decided: `g` holds, and some fair run goes on; or a run that satisfies it is stopped by a fault.
    pub fn goal(&mut self, f: &Ctl, g: &Ctl) -> Maybe<S::Set> {
        let (through, goal) = (self.states(f)?, self.states(g)?);
        let goal = self.with_fair_run(&goal)?;
        let stopping = self.stopping(g)?;
        let stopping = self.sets.intersection(&through, &stopping)?;
        self.sets.union(&goal, &stopping)
    }

    /// The states of the set from which there are fair runs.
    fn with_fair_run(&mut self, set: &S::Set) -> Maybe<S::Set> {
        match &self.fair_states {
            Some(fair) => self.sets.intersection(set, fair),
            None => Ok(set.clone()),
        }
    }

    /// The states from which a run may be stopped by a fault, and then satisfies the formula.
    fn stopping(&mut self, formula: &Ctl) -> Maybe<S::Set> {
        if self.sets.is_empty(&self.faulty) {
            return Ok(self.sets.empty());
        }
        let mut stopped = self.stopped(formula)?;
        if let Some(fair) = self.fair {
            stopped = self.sets.intersection(&stopped, &fair.stopped)?;
        }
        self.sets.intersection(&self.faulty, &stopped)
    }

    /// The states, among those that matter, in which a stopped run satisfies the formula.
    pub fn stopped(&mut self, formula: &Ctl) -> Maybe<S::Set> {
        if let Some(known) = self.known_stopped.get(formula) {
            return Ok(known.clone());
        }
        let set = match formula {
            Ctl::Const(true) => self.within.clone(),
            Ctl::Const(false) => self.sets.empty(),
            Ctl::Atom(atom) => (self.atoms)(self.sets, &self.within, *atom)?,
            Ctl::Not(f) => {
                let set = self.stopped(f)?;
                self.sets.minus(&self.within, &set)?
            }
            Ctl::And(f, g) => {
                let (f, g) = (self.stopped(f)?, self.stopped(g)?);
                self.sets.intersection(&f, &g)?
            }
            Ctl::Or(f, g) => {
                let (f, g) = (self.stopped(f)?, self.stopped(g)?);
                self.sets.union(&f, &g)?
            }
            Ctl::Next(f) | Ctl::Always(f) | Ctl::Until(_, f) => {
                let set = self.stopped(f)?;
                match self.fair {
                    Some(fair) => self.sets.intersection(&set, &fair.stopped)?,
                    None => set,
                }
            }
        };
        self.known_stopped.insert(formula.clone(), set.clone());
        Ok(set)
    }

    /// `EG f`
    fn always(&mut self, f: &Ctl) -> Maybe<S::Set> {
        let set = self.states(f)?;
        if let Some(fair) = self.fair {
            let stopped = self.stopped(f)?;
            let stopped = self.sets.intersection(&stopped, &fair.stopped)?;
            return self.always_fairly(&set, &stopped, fair);
        }
        // Every run stays in all states.
        let all_count = !self.sets.only_infinite();
        if set == self.domain && self.sets.is_empty(&self.faulty) && !self.sets.has_transient() && all_count {
            return Ok(set);
        }
        let stopping = self.stopping(f)?;
        let mut may_end = self.sets.intersection(&stopping, &set)?;
        if !self.sets.stutters() && all_count {
            let deadlocked = self.sets.deadlocked(&set)?;
            may_end = self.sets.union(&may_end, &deadlocked)?;
        }
        let mut all = set;
        loop {
            self.sets.note(&all, &mut self.effort);
            self.effort.posts += 1;
            let scope = self.sets.scope(&all, &self.within)?;
            let before = self.sets.previous(&all, &scope)?;
            let next = self.sets.union(&before, &may_end)?;
            let next = self.sets.intersection(&next, &all)?;
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }

    /// The visible states of the set from which a fair run stays in it: for ever, in a deadlocked state, or stopped in one
    /// of those states by a fault.
    fn always_fairly(&mut self, set: &S::Set, stopped: &S::Set, fair: &FairRuns<S::Set>) -> Maybe<S::Set> {
        let scope = self.sets.scope(set, &self.within)?;
        let mut goal = FairSearch::new(self.sets, &fair.fairness).backward(&scope, &mut self.effort)?;
        if !self.sets.only_infinite() {
            // Nothing is enabled in a deadlocked state, so only what must be visited matters there.
            let visible = self.sets.visible(set)?;
            let mut deadlocked = self.sets.deadlocked(&visible)?;
            for condition in &fair.fairness.justice {
                deadlocked = self.sets.intersection(&deadlocked, &condition.states)?;
            }
            goal = self.sets.union(&goal, &deadlocked)?;
        }
        let stopping = self.sets.intersection(&self.faulty, stopped)?;
        let stopping = self.sets.intersection(&stopping, set)?;
        goal = self.sets.union(&goal, &stopping)?;
        let all = self.sets.backward_closure(&goal, &scope, &mut self.effort)?;
        self.sets.intersection(&all, set)
    }
}

/// Forward, in binary diagrams.
impl<P: Deref<Target = Space>> Evaluator<'_, SpaceSets<P>> {
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
                if self.meets(from, &self.faulty.clone(), f)? {
                    return Ok(true);
                }
                let next = self.sets.space.next(from)?;
                self.effort.posts += 1;
                self.some(&next, f, reduced)
            }
            Ctl::Until(f, g) => {
                let through = self.states(f)?;
                let reached = self.follow(from, &through, reduced)?;
                if self.some(&reached, g, reduced)? {
                    return Ok(true);
                }
                self.meets(&reached.and(&through)?, &self.faulty.clone(), g)
            }
            Ctl::Always(f) => {
                let through = self.states(f)?;
                let reached = self.follow(from, &through, reduced)?.and(&through)?;
                if self.meets(&reached, &self.faulty.clone(), f)? {
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
            // Transient states are left whatever the filter says.
            let filter = filter.or(&self.sets.space.visible.not())?;
            return partial::explore(&self.sets.space, model, from, &filter, preserve, &mut self.effort);
        }
        let mut reached = from.clone();
        let mut frontier = from.clone();
        while !frontier.is_false() {
            self.effort.note(&frontier);
            self.effort.posts += 1;
            frontier = self.sets.space.next(&frontier.and(filter)?)?.minus(&reached)?;
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
            let next = self.sets.space.next(&all)?.and(&all)?;
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
