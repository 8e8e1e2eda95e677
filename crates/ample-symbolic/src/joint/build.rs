//! From the formulas of a synchronous system to its diagrams.

use std::cell::RefCell;
use std::collections::HashMap;

use ample_boolean::{Dag, Functional, JointEncoding, Lit, Node};

use super::JointSpace;
use super::dynamic::{Parts, Relations};
use super::schedule::{Conjunct, Direction, Schedule, clustered};
use crate::diagram::{Bdd, Diagrams, Maybe};

/// Makes diagrams of the formulas of a synchronous system. A diagram is kept only as long as others are made of it.
pub struct Formulas<'a> {
    dag: &'a Dag,
    diagrams: &'a Diagrams,
    /// Bits from this number on are those of the next state.
    next: u32,
    /// For each node that is needed, how often it still is.
    uses: HashMap<u32, usize>,
    known: HashMap<u32, Bdd>,
}

impl<'a> Formulas<'a> {
    /// For these formulas, each once.
    pub fn new(dag: &'a Dag, diagrams: &'a Diagrams, next: u32, roots: &[Lit]) -> Formulas<'a> {
        let mut uses: HashMap<u32, usize> = HashMap::new();
        let mut open: Vec<Lit> = roots.to_vec();
        while let Some(lit) = open.pop() {
            let count = uses.entry(lit.0 >> 1).or_default();
            *count += 1;
            if *count == 1
                && let Node::And(x, y) = dag.node(Lit(lit.0 & !1))
            {
                open.extend([x, y]);
            }
        }
        Formulas { dag, diagrams, next, uses, known: HashMap::new() }
    }

    /// The diagram of one of the formulas.
    pub fn diagram(&mut self, lit: Lit) -> Maybe<Bdd> {
        let mut stack = vec![lit.0 >> 1];
        while let Some(&number) = stack.last() {
            if self.known.contains_key(&number) {
                stack.pop();
                continue;
            }
            let made = match self.dag.node(Lit(number << 1)) {
                Node::Constant => self.diagrams.constant(false),
                Node::Input(bit) if bit >= self.next => self.diagrams.next(bit - self.next)?,
                Node::Input(bit) => self.diagrams.now(bit)?,
                Node::And(x, y) => {
                    let missing = [x, y].into_iter().filter(|lit| !self.known.contains_key(&(lit.0 >> 1)));
                    let missing: Vec<u32> = missing.map(|lit| lit.0 >> 1).collect();
                    if !missing.is_empty() {
                        stack.extend(missing);
                        continue;
                    }
                    self.used(x).and(&self.used(y))?
                }
            };
            self.known.insert(number, made);
            stack.pop();
        }
        Ok(self.used(lit))
    }

    fn used(&mut self, lit: Lit) -> Bdd {
        let number = lit.0 >> 1;
        let left = self.uses.get_mut(&number).map_or(1, |count| {
            *count = count.saturating_sub(1);
            *count
        });
        let bdd = self.known[&number].clone();
        if left == 0 {
            self.known.remove(&number);
        }
        if lit.is_negated() { bdd.not() } else { bdd }
    }
}

/// The space of an encoding. The order of the variables is that of the diagrams. With static relations the clusters of the step
/// relation are made at once; with dynamic ones, parts of it are made when they are first needed.
pub fn build(
    encoding: &mut JointEncoding,
    diagrams: &Diagrams,
    only_infinite: bool,
    is_dynamic: bool,
) -> Maybe<JointSpace> {
    let functional = (encoding.fault != Lit::FALSE).then(|| encoding.functional());
    let initial: Vec<Lit> = encoding.initial.iter().flat_map(|lit| encoding.dag.conjuncts(*lit)).collect();
    let fault = functional.as_ref().map_or(Lit::FALSE, |functional| functional.fault);
    let mut roots: Vec<Lit> = [&initial[..], &[fault]].concat();
    let mut relations = Vec::new();
    if !is_dynamic {
        relations = encoding.relations.iter().flat_map(|lit| encoding.dag.conjuncts(*lit)).collect();
        roots.extend(encoding.functions.iter().map(|(_, lit)| *lit).chain(relations.iter().copied()));
    }
    let mut formulas = Formulas::new(&encoding.dag, diagrams, encoding.next_bits.start, &roots);
    let mut parts = Vec::new();
    for lit in initial {
        parts.push(formulas.diagram(lit)?);
    }
    let initial = conjunction(diagrams, parts)?;
    let (mut forward, mut backward, mut dynamic) = Default::default();
    if is_dynamic {
        dynamic = Some(RefCell::new(Parts::new(encoding, diagrams, Relations::Dynamic)?));
    } else {
        let mut conjuncts = Vec::new();
        for (bit, lit) in &encoding.functions {
            let value = formulas.diagram(*lit)?;
            conjuncts.push(diagrams.next(*bit)?.iff(&value)?);
        }
        for lit in relations {
            conjuncts.push(formulas.diagram(lit)?);
        }
        let conjuncts: Vec<Conjunct> = conjuncts.into_iter().map(Conjunct::new).collect();
        let clusters = clustered(diagrams, &conjuncts, encoding.bits)?;
        forward = Schedule::of(diagrams, &clusters, encoding.bits, Direction::Image)?.into();
        backward = Schedule::of(diagrams, &clusters, encoding.bits, Direction::Preimage)?.into();
    }
    let fault = formulas.diagram(fault)?;
    let faulty = fault.exists(&free_bits(encoding, diagrams, functional.as_ref())?)?;
    Ok(JointSpace {
        diagrams: diagrams.clone(),
        bits: encoding.bits,
        initial,
        forward,
        backward,
        is_total: encoding.is_total,
        only_infinite,
        faulty,
        fault,
        dead: None,
        care: None,
        dynamic,
    })
}

/// The conjunction, small diagrams first.
pub(crate) fn conjunction(diagrams: &Diagrams, mut parts: Vec<Bdd>) -> Maybe<Bdd> {
    parts.sort_by_key(Bdd::nodes);
    parts.iter().try_fold(diagrams.constant(true), |all, part| all.and(part))
}

/// What an attempt of a step chooses: the inputs and the next bits that are free.
fn free_bits(encoding: &JointEncoding, diagrams: &Diagrams, functional: Option<&Functional>) -> Maybe<Bdd> {
    let inputs = encoding.inputs.clone().map(|bit| (bit, false));
    let free = functional.into_iter().flat_map(|functional| &functional.free);
    let free = free.map(|bit| (bit - encoding.next_bits.start, true));
    diagrams.cube_of(&inputs.chain(free).collect::<Vec<_>>())
}
