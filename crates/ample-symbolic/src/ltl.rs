//! LTL over sets of states: a tableau of the negated formula, its product with the system, and the search for a fair
//! cycle, forward or backward, in all states or in those of a partial exploration (thesis, chapter 4).
//!
//! The tableau has a bit for each atom and one for each `X f` among its elementary formulas, and one more for the sink
//! that makes it total. The bits of the atoms are its own: pairs of a state and a tableau state that disagree about them
//! are kept, so that the product steps as the system does and the process model of the system is one of the product;
//! but a run that counts goes through pairs that agree only.
//!
//! The tableau moves when a visible state is left, and rests in transient ones; a run that meets visible states only
//! finitely often does not count. A state without a move repeats itself, and so does a run that a fault has stopped,
//! unless such runs are not asked about. Which runs count beyond that is [`Fairness`] of the system.

use std::cell::OnceCell;
use std::collections::HashMap;

use ample_logic::{Binary, Formula, Unary};

use crate::diagram::{Bdd, Diagrams, Maybe};
use crate::fair::{Condition, FairSearch, Fairness};
use crate::partial::{self, Preserve, Variant, reduced_space};
use crate::process_model::Safe;
use crate::reach::{Effort, Run};
use crate::save::Saving;
use crate::space::{Companion, Space, SpaceSets, Step};

/// An LTL formula in the operators of the tableau.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ltl {
    True,
    Atom(u32),
    Not(Box<Ltl>),
    Or(Box<Ltl>, Box<Ltl>),
    Next(Box<Ltl>),
    Until(Box<Ltl>, Box<Ltl>),
}

impl Ltl {
    /// `None` if the formula has path quantifiers, or operators about the past.
    fn of(formula: &Formula) -> Option<Ltl> {
        Some(match formula {
            Formula::True => Ltl::True,
            Formula::False => Ltl::True.not(),
            Formula::Atom(atom) => Ltl::Atom(atom.0),
            Formula::Unary(op, f) => {
                let f = Ltl::of(f)?;
                match op {
                    Unary::Not => f.not(),
                    Unary::Next => Ltl::Next(Box::new(f)),
                    Unary::Finally => Ltl::True.until(f),
                    Unary::Globally => Ltl::True.until(f.not()).not(),
                    Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically => return None,
                    Unary::All | Unary::Exists => return None,
                }
            }
            Formula::Binary(op, f, g) => {
                let (f, g) = (Ltl::of(f)?, Ltl::of(g)?);
                match op {
                    Binary::And => f.and(g),
                    Binary::Or => f.or(g),
                    Binary::Implies => f.not().or(g),
                    Binary::Iff => f.clone().and(g.clone()).or(f.not().and(g.not())),
                    Binary::Xor => f.clone().and(g.clone().not()).or(f.not().and(g)),
                    Binary::Until => f.until(g),
                    Binary::Release => f.not().until(g.not()).not(),
                    Binary::WeakUntil => g.clone().not().until(f.or(g).not()).not(),
                    Binary::StrongRelease => g.clone().until(f.and(g)),
                    Binary::Since | Binary::Triggered => return None,
                }
            }
        })
    }

    fn not(self) -> Ltl {
        match self {
            Ltl::Not(f) => *f,
            f => Ltl::Not(Box::new(f)),
        }
    }

    fn or(self, other: Ltl) -> Ltl {
        Ltl::Or(Box::new(self), Box::new(other))
    }

    fn and(self, other: Ltl) -> Ltl {
        self.not().or(other.not()).not()
    }

    fn until(self, other: Ltl) -> Ltl {
        Ltl::Until(Box::new(self), Box::new(other))
    }

    /// The formulas of which each set of the tableau says whether they hold: atoms, and what holds next.
    fn elementary(&self, into: &mut Vec<Ltl>) {
        let mut add = |f: Ltl| {
            if !into.contains(&f) {
                into.push(f);
            }
        };
        match self {
            Ltl::True => {}
            Ltl::Atom(_) => add(self.clone()),
            Ltl::Not(f) => f.elementary(into),
            Ltl::Or(f, g) => {
                f.elementary(into);
                g.elementary(into);
            }
            Ltl::Next(f) => {
                add(self.clone());
                f.elementary(into);
            }
            Ltl::Until(f, g) => {
                add(Ltl::Next(Box::new(self.clone())));
                f.elementary(into);
                g.elementary(into);
            }
        }
    }

    fn untils(&self, into: &mut Vec<(Ltl, Ltl)>) {
        match self {
            Ltl::True | Ltl::Atom(_) => {}
            Ltl::Not(f) | Ltl::Next(f) => f.untils(into),
            Ltl::Or(f, g) => {
                f.untils(into);
                g.untils(into);
            }
            Ltl::Until(f, g) => {
                let pair = (self.clone(), g.as_ref().clone());
                if !into.contains(&pair) {
                    into.push(pair);
                }
                f.untils(into);
                g.untils(into);
            }
        }
    }
}

/// A tableau: its bits are pairs of variables of their own.
struct Tableau {
    pairs: Vec<u32>,
    initial: Bdd,
    relation: Bdd,
    /// Sets that a run must visit again and again.
    fair: Vec<Bdd>,
    /// The bit of each atom that occurs.
    atoms: Vec<(u32, Bdd)>,
    sink: Bdd,
}

impl Tableau {
    fn of(diagrams: &Diagrams, formula: &Ltl) -> Maybe<Tableau> {
        let mut elementary = Vec::new();
        formula.elementary(&mut elementary);
        let count = elementary.len() as u32 + 1;
        let first = diagrams.add_pairs(count);
        let pairs: Vec<u32> = (first..first + count).collect();
        let mut bits = HashMap::new();
        for (number, f) in elementary.iter().enumerate() {
            bits.insert(f.clone(), diagrams.now(first + number as u32)?);
        }
        let sink_pair = first + count - 1;
        let (sink, sink_next) = (diagrams.now(sink_pair)?, diagrams.next(sink_pair)?);
        let mut steps = diagrams.constant(true);
        for f in &elementary {
            if let Ltl::Next(inner) = f {
                let after = satisfied(diagrams, inner, &bits)?.primed()?;
                steps = steps.and(&bits[f].iff(&after)?)?;
            }
        }
        let mut at_zero = sink_next.clone();
        for number in 0..count - 1 {
            at_zero = at_zero.minus(&diagrams.next(first + number)?)?;
        }
        let next_cube = pairs[..pairs.len() - 1]
            .iter()
            .try_fold(diagrams.constant(true), |cube, pair| cube.and(&diagrams.next(*pair)?))?;
        let dead = steps.exists(&next_cube)?.not();
        let inner = steps.minus(&sink)?.minus(&sink_next)?;
        let falling = sink.or(&dead)?.and(&at_zero)?;
        let relation = inner.or(&falling)?;
        let initial = satisfied(diagrams, formula, &bits)?.minus(&sink)?;
        let mut untils = Vec::new();
        formula.untils(&mut untils);
        let mut fair = Vec::new();
        for (until, end) in &untils {
            let promised = satisfied(diagrams, until, &bits)?;
            fair.push(promised.not().or(&satisfied(diagrams, end, &bits)?)?);
        }
        let atoms = elementary
            .iter()
            .filter_map(|f| if let Ltl::Atom(atom) = f { Some((*atom, bits[f].clone())) } else { None });
        Ok(Tableau { pairs, initial, relation, fair, atoms: atoms.collect(), sink })
    }
}

/// The tableau states in which a formula holds.
fn satisfied(diagrams: &Diagrams, formula: &Ltl, bits: &HashMap<Ltl, Bdd>) -> Maybe<Bdd> {
    Ok(match formula {
        Ltl::True => diagrams.constant(true),
        Ltl::Atom(_) | Ltl::Next(_) => bits[formula].clone(),
        Ltl::Not(f) => satisfied(diagrams, f, bits)?.not(),
        Ltl::Or(f, g) => satisfied(diagrams, f, bits)?.or(&satisfied(diagrams, g, bits)?)?,
        Ltl::Until(f, g) => {
            let again = &bits[&Ltl::Next(Box::new(formula.clone()))];
            satisfied(diagrams, f, bits)?.and(again)?.or(&satisfied(diagrams, g, bits)?)?
        }
    })
}

/// The product of a system with the tableau of a formula's negation.
pub struct Product {
    space: Space,
    /// The number of the system's step behind each step; none where the system stands still.
    origins: Vec<Option<usize>>,
    /// The number of the step by which a fault stops a run.
    falling: Option<usize>,
    /// The pairs that agree about the atoms, and the transient ones.
    agreeing: Bdd,
    fairness: Fairness,
    model: Vec<Safe>,
    /// The pairs of variables of the tableau, and the one that says that a run was stopped.
    tableau: Vec<u32>,
    stopped: Option<u32>,
}

/// Why there is no product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoProduct {
    /// The formula has path quantifiers.
    NotLtl,
}

/// How states are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// By a partial exploration (evalLTLX of the thesis).
    Explored(Variant),
    /// By the static reduction of Kurshan et al.: which steps leave a state is fixed before the search, and depends on
    /// the state of the system only. Every cycle has a state that all steps leave, so that LTL without X is preserved.
    Static,
}

/// How an LTL formula is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The states are those of a reduced system. The process model must suit: safe, and fair if runs are weakly fair.
    pub reduced: Option<Reduction>,
    /// The fair cycle is looked for backward.
    pub backward: bool,
}

/// Which runs are asked about.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// Those that are fair in that sense, as far as the system is concerned.
    pub fairness: &'a Fairness,
    /// A run that is stuck, or that a fault has stopped, repeats its last state for ever; else it is none.
    pub stutters: bool,
}

/// A run of the system: `cycle` repeats for ever; if it is empty, the run stands still at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lasso {
    /// The first state.
    pub start: Vec<bool>,
    /// The numbers of the steps to the cycle.
    pub prefix: Vec<usize>,
    /// The numbers of the steps on the cycle.
    pub cycle: Vec<usize>,
    /// At the end of the prefix a step is a fault.
    pub stopped: bool,
    /// The state at the end of the prefix.
    pub end: Vec<bool>,
}

impl Product {
    /// Of a system, with the states in which each atom holds, and a formula that every run should satisfy. `model` is
    /// the safe process model of the system, or empty. Which states rest should be known to the space.
    pub fn of(
        space: &Space,
        formula: &Formula,
        atoms: &[Bdd],
        model: &[Safe],
        runs: Runs<'_>,
    ) -> Maybe<Result<Product, NoProduct>> {
        let Some(formula) = Ltl::of(formula) else { return Ok(Err(NoProduct::NotLtl)) };
        let diagrams = &space.diagrams;
        let tableau = Tableau::of(diagrams, &formula.not())?;
        let stops = runs.stutters && !space.faulty.is_false();
        let stopped = stops.then(|| diagrams.add_pairs(1));
        let running = match stopped {
            Some(pair) => diagrams.now(pair)?.not(),
            None => diagrams.constant(true),
        };
        let mut steps = Vec::new();
        for step in &space.steps {
            steps.push(while_running(step, &running)?);
        }
        let mut origins: Vec<Option<usize>> = (0..steps.len()).map(Some).collect();
        if runs.stutters {
            let resting = space.resting(&space.visible)?.or(&running.not())?;
            steps.push(standing_still(diagrams, &resting, &[], &resting));
            origins.push(None);
        }
        let mut falling = None;
        if let Some(pair) = stopped {
            let falls = space.faulty.and(&space.visible)?.and(&running)?;
            falling = Some(steps.len());
            steps.push(standing_still(diagrams, &falls, &[pair], &falls.and(&diagrams.next(pair)?)?));
            origins.push(None);
        }
        let mut safe_parts = Vec::new();
        for safe in model {
            let steps = safe.steps.iter().map(|step| while_running(step, &running)).collect::<Maybe<Vec<_>>>()?;
            let dead = safe.dead.or(&running.not())?;
            safe_parts.push(Safe { steps, dead, ..safe.clone() });
        }
        let mut agreeing = tableau.sink.not();
        for (atom, bit) in &tableau.atoms {
            agreeing = agreeing.and(&bit.iff(&atoms[*atom as usize])?)?;
        }
        let agreeing = agreeing.or(&space.visible.not())?;
        let fairness = fairness(space, &tableau, &running, runs.fairness)?;
        let initial = space.initial.and(&tableau.initial)?.and(&running)?;
        let written = diagrams.written(&tableau.pairs);
        let companion = Some(Companion { relation: tableau.relation, written });
        let clusters = OnceCell::new();
        let product =
            Space { initial, steps, clusters, idle: Some(diagrams.constant(false)), companion, ..space.clone() };
        Ok(Ok(Product {
            space: product,
            origins,
            falling,
            agreeing,
            fairness,
            model: safe_parts,
            tableau: tableau.pairs,
            stopped,
        }))
    }

    /// Looks for a run that violates the formula.
    pub fn check(&self, strategy: Strategy, effort: &mut Effort) -> Maybe<Option<Lasso>> {
        let reached = self.reach(strategy.reduced, effort)?.and(&self.agreeing)?;
        let mut sets = SpaceSets::new(&self.space);
        let mut search = FairSearch::new(&mut sets, &self.fairness);
        let mut inside = reached.clone();
        if !strategy.backward {
            inside = search.forward(&reached, effort)?;
            if inside.is_false() {
                return Ok(None);
            }
        }
        let from = self.space.initial.and(&self.agreeing)?;
        let hull = search.backward(&inside, effort)?;
        let found = search.lasso(&from, &reached, &hull, effort)?;
        Ok(found.map(|(prefix, cycle)| self.lasso(&prefix, &cycle)))
    }

    /// Looks for a run that violates the formula as for a state that is met again. `copy` gives the pair of variables
    /// in which each bit of a state of the system may be kept; nobody else must use these.
    pub fn check_by_saving(&self, copy: &dyn Fn(u32) -> u32, effort: &mut Effort) -> Maybe<Option<Lasso>> {
        let diagrams = &self.space.diagrams;
        let mut copies: Vec<(u32, u32)> = (0..self.space.bits).map(|bit| (bit, copy(bit))).collect();
        copies.extend(self.tableau.iter().chain(&self.stopped).map(|pair| (*pair, diagrams.add_pairs(1))));
        let mut fairness = self.fairness.clone();
        if self.space.has_transient() || fairness.justice.is_empty() {
            fairness.justice.push(Condition { states: self.space.visible.clone(), steps: Vec::new() });
        }
        // Every step says for every action whether it is enabled. In all states, reachable or not, there are too many
        // combinations of that.
        let within = match fairness.compassion.is_empty() {
            true => diagrams.constant(true),
            false => self.reach_by(&self.space, effort)?,
        };
        let saving = Saving::of(&self.space, &within, &fairness, (&copies, &self.tableau))?;
        let found = saving.lasso(&self.agreeing, effort)?;
        Ok(found.map(|(prefix, cycle)| self.lasso(&prefix, &cycle)))
    }

    fn reach(&self, reduced: Option<Reduction>, effort: &mut Effort) -> Maybe<Bdd> {
        match reduced {
            Some(Reduction::Explored(variant)) => {
                let preserve = Preserve::Properties(variant);
                partial::explore(&self.space, &self.model, &self.space.initial, &self.agreeing, preserve, effort)
            }
            Some(Reduction::Static) => self.reach_by(&reduced_space(&self.space, &self.model)?, effort),
            None => self.reach_by(&self.space, effort),
        }
    }

    /// The pairs that agree, breadth first, by the steps of the product or of a reduced one.
    fn reach_by(&self, space: &Space, effort: &mut Effort) -> Maybe<Bdd> {
        let mut reached = self.space.initial.and(&self.agreeing)?;
        let mut frontier = reached.clone();
        while !frontier.is_false() {
            effort.note(&frontier);
            effort.posts += 1;
            frontier = space.post(&frontier)?.and(&self.agreeing)?.minus(&reached)?;
            reached = reached.or(&frontier)?;
        }
        Ok(reached)
    }

    /// The run of the system behind one of the product.
    fn lasso(&self, prefix: &Run, cycle: &Run) -> Lasso {
        let moves = |run: &Run| run.steps.iter().filter_map(|(number, _)| self.origins[*number]).collect::<Vec<_>>();
        let cycle_moves = moves(cycle);
        let bits = self.space.bits as usize;
        let stopped = prefix.steps.iter().any(|(number, _)| Some(*number) == self.falling);
        let end = prefix.end()[..bits].to_vec();
        Lasso { start: prefix.start[..bits].to_vec(), prefix: moves(prefix), cycle: cycle_moves, stopped, end }
    }
}

/// What runs of the product must do: all untils end, and the system is fair; nobody is enabled in a stopped run.
fn fairness(space: &Space, tableau: &Tableau, running: &Bdd, system: &Fairness) -> Maybe<Fairness> {
    let mut fairness = Fairness::default();
    for set in &tableau.fair {
        fairness.justice.push(Condition { states: set.and(&space.visible)?, steps: Vec::new() });
    }
    for Condition { states, steps } in &system.justice {
        fairness.justice.push(Condition { states: states.or(&running.not())?, steps: steps.clone() });
    }
    for Condition { states, steps } in &system.compassion {
        fairness.compassion.push(Condition { states: states.and(running)?, steps: steps.clone() });
    }
    Ok(fairness)
}

/// A step of a run that no fault has stopped.
fn while_running(step: &Step, running: &Bdd) -> Maybe<Step> {
    Ok(Step { relation: step.relation.and(running)?, guard: step.guard.and(running)?, ..step.clone() })
}

/// The system stands still while the tableau moves.
fn standing_still(diagrams: &Diagrams, guard: &Bdd, writes: &[u32], relation: &Bdd) -> Step {
    let nothing = diagrams.constant(false);
    Step {
        relation: relation.clone(),
        written: diagrams.written(writes),
        guard: guard.clone(),
        fault: nothing.clone(),
        violation: nothing,
        reads: Vec::new(),
        writes: writes.to_vec(),
        processes: Vec::new(),
    }
}
