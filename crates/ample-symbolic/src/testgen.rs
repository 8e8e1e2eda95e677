//! Test generation: the inputs that lead a synchronous system through a sequence of states.
//!
//! Given are sets of states `t_0 … t_n`; wanted are an initial state and inputs such that the run that begins with them comes,
//! after any number of steps, through states of `t_0`, …, `t_n`, one after the other; or the proof that there is no such run:
//! K. Yorav, *Exploiting Syntactic Structure for Automatic Verification* (2000), sections 4.2 and 4.4. The first stage goes
//! backward, from `t_n` to `t_0` and on to an initial state, by preimages with [dynamic transition relations](crate::joint::Parts).
//! The second stage (`choose`) goes forward through the sets that the first one found, and gives values to as few inputs as
//! it can, from which `open` takes those that turn out not to matter; all others may have any value. A sequence is simulated by
//! the reference interpreter before anybody sees it (`simulate`).
//!
//! Inputs are part of the states here, so that targets may speak of them: those of a state are the inputs of its cycle.

mod choose;
mod open;
mod simulate;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ample_boolean::{Functional, JointEncoding, Lit, NotEncoded};
use ample_budget::{Budget, Progress};
use ample_model::{Expr, Reason, System, VariableKind};

use crate::diagram::{Bdd, Diagrams, NODE_BYTES};
use crate::error::Maybe;
use crate::joint::{Formulas, Parts, Relations, arrange};

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// Variables are moved first when so many nodes are in use.
const FIRST_REORDERING: usize = 10_000;

/// How sequences are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The relations of preimages.
    pub relations: Relations,
    /// The first target may come so many cycles after the initial state, at most.
    pub max_cycles: Option<u64>,
    /// Keep the initial variable order.
    pub no_reorder: bool,
    /// In how many ways, at random, the values that are left open are completed when a sequence is simulated.
    pub completions: u32,
    /// The seed of these ways.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { relations: Relations::Dynamic, max_cycles: None, no_reorder: false, completions: 16, seed: 1 }
    }
}

/// What became of a sequence of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generated {
    /// Inputs that lead through it.
    Sequence(Sequence),
    /// No run goes through it: the backward search came to its end.
    Unreachable {
        /// After so many preimages.
        preimages: u64,
        /// No state begins such a run, be it reachable or not.
        is_contradictory: bool,
    },
}

/// A sequence of inputs, from an initial state on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The cycle of the first target: so many steps lead there.
    pub before: usize,
    /// For each cycle the bits of the state and of the inputs: those that the test gives a value (inputs, choices, and in the
    /// first cycle the initial state) and those that follow from them. What is open may have any value that is possible.
    pub given: Vec<Vec<Option<bool>>>,
}

impl Sequence {
    /// How many cycles it has, the one of the last target included.
    pub fn cycles(&self) -> usize {
        self.given.len()
    }
}

/// A synchronous system whose inputs are part of its states: see [`System::keep_inputs`].
pub fn with_inputs(system: &System) -> System {
    let mut kept = system.clone();
    for variable in &mut kept.globals {
        if variable.kind == VariableKind::Input {
            variable.kind = VariableKind::State;
        }
    }
    kept
}

/// Generates sequences for one system.
pub struct Generator<'a> {
    system: &'a System,
    options: Options,
    encoding: JointEncoding,
    functional: Functional,
    parts: Parts,
    initial: Bdd,
    /// For each bit the bits of its cell.
    cell_of: Vec<std::ops::Range<u32>>,
    /// Preimages so far: what depth is to a search over sets.
    preimages: Arc<AtomicU64>,
}

/// What the backward search came to.
enum Backward {
    /// The sets of states from an initial one through the targets to the last one, and how many of them come before the first
    /// target.
    Found { sets: Vec<Bdd>, leading: usize },
    /// No run goes through the targets.
    Exhausted { is_contradictory: bool },
}

/// What the search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bits of a state, with those of inputs.
    pub bits: u32,
    /// The sizes of the relations of preimages.
    pub sizes: crate::joint::Sizes,
    /// The most nodes that there were at once.
    pub peak_nodes: usize,
    /// How often variables were moved.
    pub reorderings: usize,
}

impl<'a> Generator<'a> {
    /// For a system whose inputs are part of its states ([`with_inputs`]).
    pub fn new(system: &'a System, options: &Options, budget: &Budget) -> Result<Generator<'a>, Reason> {
        let mut encoding = JointEncoding::unproved_within(system, budget).map_err(not_encoded)?;
        let functional = encoding.functional();
        let preimages = Arc::new(AtomicU64::new(0));
        let max_nodes = (budget.room().unwrap_or(DEFAULT_MEMORY) / 10 * 8 / NODE_BYTES as u64) as usize;
        let diagrams = Diagrams::new(encoding.inputs.end, max_nodes, counting(&preimages, budget));
        diagrams.make_room_for(max_nodes);
        diagrams.set_order(&arrange(&encoding, &|| budget.check().is_err()));
        if !options.no_reorder {
            diagrams.reorder_when_large(true);
            diagrams.reorder_early(FIRST_REORDERING);
        }
        let initial: Vec<Lit> = encoding.initial.iter().flat_map(|lit| encoding.dag.conjuncts(*lit)).collect();
        let fault = diagram(&encoding, &diagrams, encoding.initial_fault)?;
        if !fault.is_false() {
            return Err(Reason::Unsupported(JointEncoding::begins_with_fault().0));
        }
        let mut formulas = Formulas::new(&encoding.dag, &diagrams, encoding.next_bits.start, &initial);
        let initial = initial.iter().map(|lit| formulas.diagram(*lit)).collect::<Maybe<Vec<Bdd>>>()?;
        let initial = crate::joint::conjunction(&diagrams, initial)?;
        let parts = Parts::new(&encoding, &diagrams, options.relations)?;
        let mut cell_of = vec![0..0; encoding.bits as usize];
        for cell in &encoding.cells {
            let bits = cell.first..cell.first + cell.bits;
            bits.clone().for_each(|bit| cell_of[bit as usize] = bits.clone());
        }
        Ok(Generator { system, options: *options, encoding, functional, parts, initial, cell_of, preimages })
    }

    /// From now on the work has to do with that budget.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.parts.diagrams.set_budget(counting(&self.preimages, budget));
    }

    /// The states, with inputs, in which a condition holds.
    pub fn condition(&mut self, expr: &Expr) -> Result<Bdd, Reason> {
        let (lit, _) = self.encoding.condition_within(self.system, expr).map_err(not_encoded)?;
        Ok(diagram(&self.encoding, &self.parts.diagrams, lit)?)
    }

    /// Looks for inputs that lead through states in which these conditions hold, one after the other.
    pub fn generate(&mut self, targets: &[Expr]) -> Result<Generated, Reason> {
        let mut sets = Vec::new();
        for target in targets {
            sets.push(self.condition(target)?);
        }
        let before = self.preimages.load(Ordering::Relaxed);
        let (sets, leading) = match self.backward(&sets)? {
            Backward::Found { sets, leading } => (sets, leading),
            Backward::Exhausted { is_contradictory } => {
                let preimages = self.preimages.load(Ordering::Relaxed) - before;
                return Ok(Generated::Unreachable { preimages, is_contradictory });
            }
        };
        let chosen = self.choose(&sets)?;
        let sequence = self.completed(leading, chosen)?;
        let sequence = self.opened(sequence, targets)?;
        self.validate(&sequence, targets)?;
        Ok(Generated::Sequence(sequence))
    }

    /// The first stage.
    fn backward(&mut self, targets: &[Bdd]) -> Result<Backward, Reason> {
        // From the last to the first.
        let mut sets: Vec<Bdd> = Vec::new();
        for target in targets.iter().rev() {
            let set = match sets.last() {
                Some(after) => self.preimage(after)?.and(target)?,
                None => target.clone(),
            };
            if set.is_false() {
                return Ok(Backward::Exhausted { is_contradictory: true });
            }
            sets.push(set);
        }
        let mut first = sets.last().cloned().unwrap_or_else(|| self.parts.diagrams.constant(true));
        let mut all = self.parts.diagrams.constant(false);
        let mut leading = 0;
        while first.is_disjoint(&self.initial)? {
            if first.is_subset(&all)? {
                return Ok(Backward::Exhausted { is_contradictory: false });
            }
            if self.options.max_cycles.is_some_and(|most| leading as u64 >= most) {
                return Err(Reason::Depth);
            }
            all = all.or(&first)?;
            first = self.preimage(&first)?;
            sets.push(first.clone());
            leading += 1;
        }
        sets.reverse();
        Ok(Backward::Found { sets, leading })
    }

    fn preimage(&mut self, set: &Bdd) -> Maybe<Bdd> {
        self.preimages.fetch_add(1, Ordering::Relaxed);
        self.parts.preimage(set)
    }

    /// What the search took so far.
    pub fn work(&self) -> Work {
        let size = self.parts.diagrams.size();
        Work {
            bits: self.encoding.bits,
            sizes: self.parts.sizes(),
            peak_nodes: size.peak,
            reorderings: size.reorderings,
        }
    }

    /// The system, with its inputs in the states.
    pub fn system(&self) -> &'a System {
        self.system
    }
}

/// The budget, whose progress is told with the preimages so far.
fn counting(preimages: &Arc<AtomicU64>, budget: &Budget) -> Budget {
    let (preimages, whole) = (Arc::clone(preimages), budget.clone());
    budget.clone().without_sinks().with_sink(move |progress| {
        whole.tell(&Progress { depth: preimages.load(Ordering::Relaxed), ..*progress });
    })
}

fn diagram(encoding: &JointEncoding, diagrams: &Diagrams, lit: Lit) -> Maybe<Bdd> {
    Formulas::new(&encoding.dag, diagrams, encoding.next_bits.start, &[lit]).diagram(lit)
}

fn not_encoded(not: NotEncoded) -> Reason {
    match not {
        NotEncoded::Unsupported(why) => Reason::Unsupported(why.0),
        NotEncoded::Interrupted(interrupted) => interrupted.into(),
    }
}

#[cfg(test)]
mod tests;
