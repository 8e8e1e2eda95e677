//! Dynamic transition relations: of the step of a synchronous system, only the parts that a preimage needs.
//!
//! A step is a conjunction of parts. A *definition* gives some next bits, or inputs, a value whatever the bits before them are:
//! the next-state function of a latch, or a choice that always has an alternative. Where nothing else speaks of these bits,
//! quantifying them leaves nothing of the definition. So the preimage of a set takes the definitions of the bits that the set
//! depends on, those of bits that they read themselves, and no others: K. Yorav, *Exploiting Syntactic Structure for Automatic
//! Verification* (2000), section 4.3, whose `Pred_D` equals `Pred`. What is not a definition (an invariant, a relation, the
//! absence of faults) may be violated and is a *constraint*: it takes part in every step.
//!
//! Images are another matter (section 4.5). With the definitions alone that read bits the set depends on they are an
//! over-approximation ([`Parts::image_over`]), and they stay one, against what the thesis says, if those are added that share
//! bits with them: parts that are left out still restrict each other. [`Parts::image`] therefore adds the joint image of the
//! parts that were left out, which does not depend on the set.

use std::collections::HashMap;

use ample_boolean::{Dag, JointEncoding, Lit};

use super::build::Formulas;
use super::schedule::{Conjunct, Direction, Literal, Schedule, clustered};
use crate::diagram::{Bdd, Diagrams, Maybe};

/// So many schedules are kept: the next preimage often needs the same parts.
const SCHEDULES: usize = 16;

/// Which parts of a step take part in a preimage, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relations {
    /// Those that the set needs.
    #[default]
    Dynamic,
    /// All, in clusters.
    Static,
    /// All, as one diagram.
    Monolithic,
}

/// The parts of a step.
#[derive(Debug)]
pub struct Parts {
    /// Where the diagrams live.
    pub diagrams: Diagrams,
    relations: Relations,
    dag: Dag,
    /// The pairs of numbers below are bits of the state, the others inputs.
    bits: u32,
    /// Bits from this number on are those of the next state.
    next: u32,
    parts: Vec<Part>,
    /// For each bit the part that defines it.
    definer: Vec<[Option<usize>; 2]>,
    /// The parts that are no definitions.
    constraints: Vec<usize>,
    schedules: HashMap<(Direction, Vec<usize>), Schedule>,
    /// The joint images of parts.
    images: HashMap<Vec<usize>, Bdd>,
    sizes: Sizes,
}

/// A part of a step: its diagram is made when it is first needed.
#[derive(Debug)]
struct Part {
    source: Source,
    conjunct: Option<Conjunct>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// The next value of a bit.
    Function(u32, Lit),
    /// A relation.
    Relation(Lit),
}

/// How large the relations of preimages were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// How many preimages there were.
    pub preimages: u64,
    /// The nodes of their relations, all together.
    pub nodes: u64,
    /// The most parts that took part in one of them.
    pub max_parts: usize,
    /// How many parts there are.
    pub parts: usize,
}

impl Sizes {
    /// The nodes of a relation, on average.
    pub fn average(&self) -> u64 {
        self.nodes.checked_div(self.preimages).unwrap_or(0)
    }
}

impl Parts {
    /// The parts of a system's step.
    pub fn new(encoding: &JointEncoding, diagrams: &Diagrams, relations: Relations) -> Maybe<Parts> {
        let next = encoding.next_bits.start;
        let mut parts = Parts {
            diagrams: diagrams.clone(),
            relations,
            dag: encoding.dag.clone(),
            bits: encoding.bits,
            next,
            parts: Vec::new(),
            definer: vec![[None; 2]; diagrams.pairs() as usize],
            constraints: Vec::new(),
            schedules: HashMap::new(),
            images: HashMap::new(),
            sizes: Sizes::default(),
        };
        for (bit, lit) in &encoding.functions {
            let number = parts.add(Source::Function(*bit, *lit));
            parts.definer[*bit as usize][1] = Some(number);
        }
        for (lit, chosen) in encoding.relations.iter().zip(&encoding.chosen) {
            let literals: Vec<Literal> = chosen.clone().into_iter().flatten().map(|bit| parts.literal(bit)).collect();
            if !literals.is_empty() && parts.always_chooses(*lit, &literals)? {
                let number = parts.add(Source::Relation(*lit));
                literals
                    .iter()
                    .for_each(|(pair, next)| parts.definer[*pair as usize][usize::from(*next)] = Some(number));
                continue;
            }
            for conjunct in encoding.dag.conjuncts(*lit) {
                let number = parts.add(Source::Relation(conjunct));
                parts.constraints.push(number);
            }
        }
        parts.sizes.parts = parts.parts.len();
        Ok(parts)
    }

    fn add(&mut self, source: Source) -> usize {
        self.parts.push(Part { source, conjunct: None });
        self.parts.len() - 1
    }

    fn literal(&self, bit: u32) -> Literal {
        if bit < self.next { (bit, false) } else { (bit - self.next, true) }
    }

    /// Whatever the other bits are, there is something to choose for these.
    fn always_chooses(&self, lit: Lit, literals: &[Literal]) -> Maybe<bool> {
        let relation = Formulas::new(&self.dag, &self.diagrams, self.next, &[lit]).diagram(lit)?;
        Ok(relation.exists(&self.diagrams.cube_of(literals)?)?.is_true())
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// The step is not restricted at all.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The definitions that are choices, with the bits that they choose, in an order in which none reads what comes after it.
    pub fn choices(&self) -> Vec<(usize, Vec<Literal>)> {
        let mut choices: Vec<(usize, Vec<Literal>)> = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            if matches!(part.source, Source::Relation(_)) && !self.constraints.contains(&number) {
                choices.push((number, Vec::new()));
            }
        }
        for (pair, definers) in (0..).zip(&self.definer) {
            for (definer, is_next) in definers.iter().zip([false, true]) {
                if let Some(choice) = choices.iter_mut().find(|(number, _)| Some(*number) == *definer) {
                    choice.1.push((pair, is_next));
                }
            }
        }
        choices
    }

    /// How large the relations of preimages were.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The bit is an input, or one of the next state.
    fn is_given(&self, (pair, is_next): Literal) -> bool {
        is_next || pair >= self.bits
    }

    /// The diagram of a part, which is made when it is first needed.
    pub fn conjunct(&mut self, number: usize) -> Maybe<&Conjunct> {
        if self.parts[number].conjunct.is_none() {
            let made = match self.parts[number].source {
                Source::Function(bit, lit) => self.diagrams.next(bit)?.iff(&self.made(lit)?)?,
                Source::Relation(lit) => self.made(lit)?,
            };
            self.parts[number].conjunct = Some(Conjunct::new(made));
        }
        self.parts[number].conjunct.as_ref().ok_or(crate::SetError::Foreign)
    }

    fn made(&self, lit: Lit) -> Maybe<Bdd> {
        Formulas::new(&self.dag, &self.diagrams, self.next, &[lit]).diagram(lit)
    }

    /// The parts that a step needs whose next bits, or inputs, matter as far as they are among these: definitions of them, of
    /// what these read, and all constraints. Sorted.
    pub fn needed(&mut self, literals: &[Literal]) -> Maybe<Vec<usize>> {
        let mut is_needed = vec![false; self.parts.len()];
        let mut open: Vec<usize> = self.constraints.clone();
        open.extend(literals.iter().filter_map(|(pair, is_next)| self.definer[*pair as usize][usize::from(*is_next)]));
        while let Some(number) = open.pop() {
            if std::mem::replace(&mut is_needed[number], true) {
                continue;
            }
            let read = self.conjunct(number)?.literals().to_vec();
            let given = read.into_iter().filter(|literal| self.is_given(*literal));
            open.extend(given.filter_map(|(pair, is_next)| self.definer[pair as usize][usize::from(is_next)]));
        }
        Ok((0..self.parts.len()).filter(|number| is_needed[*number]).collect())
    }

    /// The states, with the inputs that are part of them, before a step into the set.
    pub fn preimage(&mut self, set: &Bdd) -> Maybe<Bdd> {
        if set.is_false() {
            return Ok(set.clone());
        }
        let primed = set.primed()?;
        let numbers = match self.relations {
            Relations::Dynamic => self.needed(&primed.literals())?,
            Relations::Static | Relations::Monolithic => (0..self.parts.len()).collect(),
        };
        let taking_part = numbers.len();
        let schedule = self.schedule(Direction::Preimage, numbers)?;
        let nodes = Bdd::nodes_of_all(schedule.relations()) as u64;
        let before = schedule.product(&primed)?;
        self.sizes.preimages += 1;
        self.sizes.nodes += nodes;
        self.sizes.max_parts = self.sizes.max_parts.max(taking_part);
        Ok(before)
    }

    fn schedule(&mut self, direction: Direction, numbers: Vec<usize>) -> Maybe<&Schedule> {
        let key = (direction, numbers);
        if !self.schedules.contains_key(&key) {
            if self.schedules.len() >= SCHEDULES {
                self.schedules.clear();
            }
            let mut conjuncts = Vec::with_capacity(key.1.len());
            for number in &key.1 {
                conjuncts.push(self.conjunct(*number)?.clone());
            }
            let clusters = match self.relations {
                Relations::Monolithic => {
                    let all = conjuncts.iter().map(|conjunct| conjunct.relation.clone()).collect();
                    vec![Conjunct::new(super::build::conjunction(&self.diagrams, all)?)]
                }
                Relations::Dynamic | Relations::Static => clustered(&self.diagrams, &conjuncts, self.bits)?,
            };
            let made = Schedule::of(&self.diagrams, &clusters, self.bits, direction)?;
            self.schedules.insert(key.clone(), made);
        }
        self.schedules.get(&key).ok_or(crate::SetError::Foreign)
    }

    /// The states of the set that have a step: a definition always has a value, so that only constraints are asked.
    pub fn moving(&mut self, set: &Bdd) -> Maybe<Bdd> {
        let numbers = self.needed(&[])?;
        self.schedule(Direction::Preimage, numbers)?.product(set)
    }

    /// All parts, in clusters.
    pub fn all(&mut self, direction: Direction) -> Maybe<Schedule> {
        self.schedule(direction, (0..self.parts.len()).collect()).cloned()
    }

    /// The parts that read bits of the current state, or inputs, among these; and all constraints.
    fn relevant(&mut self, read: &[Literal]) -> Maybe<Vec<usize>> {
        let mut found = Vec::new();
        for number in 0..self.parts.len() {
            let is_relevant = self.constraints.contains(&number)
                || self.conjunct(number)?.literals().iter().any(|literal| !literal.1 && read.contains(literal));
            if is_relevant {
                found.push(number);
            }
        }
        Ok(found)
    }

    /// States that contain all those after a step from the set: of the parts only those that read bits that the set depends on
    /// take part (`Succ_D`).
    pub fn image_over(&mut self, set: &Bdd) -> Maybe<Bdd> {
        let numbers = self.relevant(&set.literals())?;
        self.schedule(Direction::Image, numbers)?.product(set)?.unprimed()
    }

    /// The states after a step from the set: by the parts that read bits that the set depends on, those that share bits of the
    /// current state with them, and the joint image of all others, which is computed once.
    pub fn image(&mut self, set: &Bdd) -> Maybe<Bdd> {
        if set.is_false() {
            return Ok(set.clone());
        }
        let mut read = set.literals();
        let mut numbers = self.relevant(&read)?;
        loop {
            let before = numbers.len();
            for number in &numbers {
                let more = self.conjunct(*number)?.literals().to_vec();
                read.extend(more.into_iter().filter(|(_, is_next)| !is_next));
            }
            read.sort_unstable();
            read.dedup();
            numbers = self.relevant(&read)?;
            if numbers.len() == before {
                break;
            }
        }
        let others: Vec<usize> = (0..self.parts.len()).filter(|number| !numbers.contains(number)).collect();
        let others = self.joint_image(others)?;
        self.schedule(Direction::Image, numbers)?.product(set)?.and(&others)?.unprimed()
    }

    /// The next states of all states at once, as far as these parts say.
    fn joint_image(&mut self, numbers: Vec<usize>) -> Maybe<Bdd> {
        if let Some(image) = self.images.get(&numbers) {
            return Ok(image.clone());
        }
        let all = self.diagrams.constant(true);
        let image = self.schedule(Direction::Image, numbers.clone())?.product(&all)?;
        self.images.insert(numbers, image.clone());
        Ok(image)
    }
}
