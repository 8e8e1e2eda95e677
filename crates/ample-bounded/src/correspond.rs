//! Signal correspondence: nodes of a machine that have the same value, or opposite values, in all reachable states, are made
//! one (C. A. J. van Eijk, *Sequential Equivalence Checking without State Space Traversal*, DATE 1998; A. Mishchenko et al.,
//! *Scalable and Scalably-Verifiable Sequential Synthesis*, ICCAD 2008).
//!
//! Simulation says which nodes may be equal. Then it is proved by induction, for all of them at once: that they are equal
//! initially, and after a step if they are all equal before it. Classes are split where nodes differ in a solution, until
//! nothing changes. Constants are nodes that are equal to false. The equalities are an invariant over state bits and inputs,
//! which is part of the certificate of what is proved in the smaller machine.

use std::collections::HashMap;
use std::time::Duration;

use ample_boolean::{Dag, Lit, Node};
use ample_budget::{Budget, Interrupted};
use ample_random::Random;

use crate::cdcl::{ALWAYS, Cdcl, Query};
use crate::clauses::Clauses;
use crate::machine::Machine;
use crate::project::{cone, sequential_cone};
use crate::solver::{Batsat, Literal, Solver};

/// Words of 64 runs that are simulated side by side.
const WORDS: usize = 4;
/// Steps of the simulation.
const STEPS: usize = 96;
/// How often inputs are drawn again that do not satisfy the constraint.
const DRAWS: usize = 4;
/// One question to the solver takes no longer.
const LONGEST_QUESTION: Duration = Duration::from_millis(200);

/// A machine of so many nodes is small.
const SMALL: usize = 6000;

/// What corresponds in a machine.
pub struct Subject<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What a step requires except for the constraint.
    pub own: Lit,
    /// What holds in all states that count, with the inputs that count there. It stays as it is.
    pub constraint: Lit,
    /// The formulas that matter.
    pub bad: &'a [Lit],
}

/// A machine in which nodes that correspond are one.
pub struct Corresponding {
    /// The machine, with the same state bits and inputs.
    pub machine: Machine,
    /// The formulas that matter.
    pub bad: Vec<Lit>,
    /// The nodes that are equal, in the graph of the machine that it was made from.
    pub equal: Vec<(Lit, Lit)>,
}

/// What a search for nodes that correspond has come to.
pub enum Correspondence {
    /// There are some.
    Found(Box<Corresponding>),
    /// There are none.
    Nothing,
    /// It takes longer.
    Unfinished,
}

/// Makes nodes one that correspond, if they are found in that time.
pub fn corresponding(subject: &Subject<'_>, limit: Duration, budget: &Budget) -> Result<Correspondence, Interrupted> {
    let part = budget.clone().with_time(limit);
    match classes(subject, &part) {
        Ok(classes) => {
            let equal = classes.equal();
            Ok(match equal.is_empty() {
                true => Correspondence::Nothing,
                false => Correspondence::Found(Box::new(merged(subject, &classes, equal))),
            })
        }
        Err(_) => budget.check().map(|()| Correspondence::Unfinished),
    }
}

/// The nodes that correspond.
fn classes(subject: &Subject<'_>, budget: &Budget) -> Result<Classes, Interrupted> {
    let nodes = relevant(subject);
    let mut classes = simulated(subject, &nodes, budget)?;
    if classes.members.is_empty() {
        return Ok(classes);
    }
    while Round::new(subject, &nodes, budget).initially(&mut classes)? {}
    while !classes.members.is_empty() && Round::new(subject, &nodes, budget).after_a_step(&mut classes)? {}
    Ok(classes)
}

/// The nodes that matter, now or after some steps, in topological order.
fn relevant(subject: &Subject<'_>) -> Vec<usize> {
    let roots = subject.bad.iter().copied().chain([subject.own, subject.constraint, Lit::FALSE]);
    let reached = sequential_cone(subject.machine, roots);
    (0..reached.len()).filter(|index| reached[*index]).collect()
}

/// Nodes that may correspond.
struct Classes {
    /// By node: the value that it has where the first of its class is false.
    phase: Vec<bool>,
    /// By node: its class.
    class: Vec<Option<u32>>,
    /// The nodes of each class, in topological order, two at least; empty ones are left.
    members: Vec<Vec<u32>>,
}

impl Classes {
    /// The literal that a node is equal to, if it is not the first of its class.
    fn representative(&self, node: usize) -> Option<Lit> {
        let class = &self.members[self.class[node]? as usize];
        let first = *class.first().filter(|first| **first as usize != node)? as usize;
        Some(Lit((first as u32) << 1 | u32::from(self.phase[node] != self.phase[first])))
    }

    /// Tells nodes of a class apart where the key differs. True if some are.
    fn refine<K: std::hash::Hash + Eq>(&mut self, key: impl Fn(usize, bool) -> K) -> bool {
        let mut changed = false;
        for number in 0..self.members.len() {
            let key_of = |node: &u32| key(*node as usize, self.phase[*node as usize]);
            let Some(first) = self.members[number].first().map(key_of) else { continue };
            if self.members[number].iter().all(|node| key_of(node) == first) {
                continue;
            }
            let members = std::mem::take(&mut self.members[number]);
            let mut parts: Vec<Vec<u32>> = Vec::new();
            let mut known: HashMap<K, usize> = HashMap::new();
            for node in members {
                let place = *known.entry(key(node as usize, self.phase[node as usize])).or_insert(parts.len());
                match parts.get_mut(place) {
                    Some(part) => part.push(node),
                    None => parts.push(vec![node]),
                }
            }
            changed = true;
            for (place, part) in parts.into_iter().enumerate() {
                self.put(part, if place == 0 { number } else { self.members.len() });
            }
        }
        changed
    }

    fn put(&mut self, part: Vec<u32>, number: usize) {
        let is_class = part.len() > 1;
        part.iter().for_each(|node| self.class[*node as usize] = is_class.then_some(number as u32));
        let part = if is_class { part } else { Vec::new() };
        match self.members.get_mut(number) {
            Some(members) => *members = part,
            None if is_class => self.members.push(part),
            None => {}
        }
    }

    /// The node is alone.
    fn remove(&mut self, node: usize) {
        if let Some(class) = self.class[node].take() {
            let rest = std::mem::take(&mut self.members[class as usize]);
            let rest = rest.into_iter().filter(|other| *other as usize != node).collect();
            self.put(rest, class as usize);
        }
    }

    fn equal(&self) -> Vec<(Lit, Lit)> {
        let nodes = 0..self.class.len();
        nodes.filter_map(|node| Some((Lit((node as u32) << 1), self.representative(node)?))).collect()
    }
}

type Word = [u64; WORDS];

/// The nodes that are equal in a simulation.
fn simulated(subject: &Subject<'_>, nodes: &[usize], budget: &Budget) -> Result<Classes, Interrupted> {
    let machine = subject.machine;
    let dag = &machine.dag;
    let mut random = Random::new(1);
    let starts = Starts::new(machine, budget)?;
    let mut values: Vec<Word> = vec![[0; WORDS]; dag.len()];
    let mut classes = Classes {
        phase: vec![false; dag.len()],
        class: vec![None; dag.len()],
        members: vec![nodes.iter().map(|node| *node as u32).collect()],
    };
    nodes.iter().for_each(|node| classes.class[*node] = Some(0));
    let place = |bit: &u32| dag.find_input(*bit).map_or(0, Lit::index);
    let (bits, inputs): (Vec<usize>, Vec<usize>) =
        (machine.state.iter().map(place).collect(), machine.inputs.iter().map(place).collect());
    let mut state: Vec<Word> = starts.draw(&mut random);
    let mut is_first = true;
    for _ in 0..STEPS {
        budget.check()?;
        bits.iter().zip(&state).for_each(|(place, word)| values[*place] = *word);
        let mut counts = [0; WORDS];
        for _ in 0..DRAWS {
            for input in &inputs {
                let drawn: Word = std::array::from_fn(|_| random.next_u64());
                let kept = values[*input];
                values[*input] = std::array::from_fn(|word| kept[word] & counts[word] | drawn[word] & !counts[word]);
            }
            values[0] = [0; WORDS];
            evaluate(dag, nodes, &mut values);
            counts = word_of(&values, subject.constraint);
            if counts == [u64::MAX; WORDS] {
                break;
            }
        }
        if std::mem::take(&mut is_first) && counts[0] & 1 == 1 {
            nodes.iter().for_each(|node| classes.phase[*node] = values[*node][0] & 1 == 1);
        }
        classes.refine(|node, phase| -> Word {
            let flip = if phase { u64::MAX } else { 0 };
            std::array::from_fn(|word| (values[node][word] ^ flip) & counts[word])
        });
        let goes_on = word_of(&values, subject.own);
        let anew = starts.draw(&mut random);
        for (number, next) in machine.next.iter().enumerate() {
            let after = word_of(&values, *next);
            state[number] = std::array::from_fn(|word| {
                let on = counts[word] & goes_on[word];
                after[word] & on | anew[number][word] & !on
            });
        }
    }
    Ok(classes)
}

fn word_of(values: &[Word], lit: Lit) -> Word {
    let word = values[lit.index()];
    if lit.is_negated() { word.map(|word| !word) } else { word }
}

fn evaluate(dag: &Dag, nodes: &[usize], values: &mut [Word]) {
    for node in nodes {
        if let Node::And(x, y) = dag.node(Lit((*node as u32) << 1)) {
            let (x, y) = (word_of(values, x), word_of(values, y));
            values[*node] = std::array::from_fn(|word| x[word] & y[word]);
        }
    }
}

/// Initial states to begin with.
struct Starts {
    /// By state bit: its value, if it is not drawn.
    fixed: Vec<Option<bool>>,
}

impl Starts {
    fn new(machine: &Machine, budget: &Budget) -> Result<Starts, Interrupted> {
        let dag = &machine.dag;
        let (mut solver, mut clauses) = (Batsat::default(), Clauses::default());
        let (mut fixed, mut is_cube) = (HashMap::new(), true);
        for conjunct in dag.conjuncts(machine.initial) {
            let literal = clauses.literal(dag, conjunct, &mut solver, budget)?;
            solver.add(&[literal]);
            match dag.node(conjunct) {
                Node::Input(bit) => {
                    fixed.insert(bit, !conjunct.is_negated());
                }
                _ => is_cube &= conjunct == Lit::TRUE,
            }
        }
        if is_cube {
            return Ok(Starts { fixed: machine.state.iter().map(|bit| fixed.get(bit).copied()).collect() });
        }
        // One initial state will do: what it does not tell apart, the solver does.
        solver.solve(&[], budget)?;
        let value = |bit: &u32| {
            let literal = dag.find_input(*bit).and_then(|lit| clauses.known(lit));
            Some(literal.is_some_and(|literal| solver.value(literal)))
        };
        Ok(Starts { fixed: machine.state.iter().map(value).collect() })
    }

    fn draw(&self, random: &mut Random) -> Vec<Word> {
        let mut word = |fixed: &Option<bool>| match fixed {
            Some(value) => [if *value { u64::MAX } else { 0 }; WORDS],
            None => std::array::from_fn(|_| random.next_u64()),
        };
        self.fixed.iter().map(&mut word).collect()
    }
}

/// One proof for all classes, which splits those whose nodes are not equal.
///
/// Nodes are taken to be equal before the step by building everything else from the first of their class. In small machines
/// it is required besides that they are. In larger ones it is not, so that each question is about a small part of the graph;
/// some nodes that correspond are not found then.
struct Round<'a> {
    subject: &'a Subject<'a>,
    nodes: &'a [usize],
    budget: &'a Budget,
    dag: Dag,
    solver: Cdcl,
    clauses: Clauses,
    inputs: Vec<Lit>,
    /// What all questions assume.
    required: Vec<Lit>,
    assumed: Vec<Literal>,
    solutions: Solutions,
    /// The machine is small enough to require that nodes are equal.
    is_small: bool,
}

/// Solutions that tell nodes apart, up to 64, which are simulated side by side.
#[derive(Default)]
struct Solutions {
    /// By input of the graph of a round.
    words: Vec<u64>,
    /// The nodes that each tells from the first of their class, and that.
    apart: Vec<(usize, Lit)>,
}

impl<'a> Round<'a> {
    fn new(subject: &'a Subject<'a>, nodes: &'a [usize], budget: &'a Budget) -> Round<'a> {
        Round {
            subject,
            nodes,
            budget,
            dag: Dag::within(budget),
            solver: Cdcl::default(),
            clauses: Clauses::default(),
            inputs: Vec::new(),
            required: Vec::new(),
            assumed: Vec::new(),
            solutions: Solutions::default(),
            is_small: nodes.len() <= SMALL,
        }
    }

    fn fresh(&mut self) -> Lit {
        let input = self.dag.input(self.inputs.len() as u32);
        self.inputs.push(input);
        input
    }

    fn literal(&mut self, lit: Lit) -> Result<Literal, Interrupted> {
        self.clauses.literal(&self.dag, lit, &mut self.solver, self.budget)
    }

    fn require(&mut self, lit: Lit) -> Result<(), Interrupted> {
        for part in self.dag.conjuncts(lit).into_iter().filter(|part| *part != Lit::TRUE) {
            let literal = self.literal(part)?;
            self.required.push(part);
            self.assumed.push(literal);
        }
        Ok(())
    }

    /// Requires what questions about a part of the graph ignore.
    fn require_always(&mut self, lit: Lit) -> Result<(), Interrupted> {
        if lit != Lit::TRUE {
            let literal = self.literal(lit)?;
            self.solver.add(&[literal]);
        }
        Ok(())
    }

    /// A frame with these values of state bits, with new inputs.
    fn frame(&mut self, state: Vec<Lit>) -> Frame {
        let machine = self.subject.machine;
        let mut given = vec![Lit::FALSE; machine.unused as usize];
        machine.state.iter().zip(state).for_each(|(bit, lit)| given[*bit as usize] = lit);
        for bit in &machine.inputs {
            given[*bit as usize] = self.fresh();
        }
        Frame { given, made: vec![None; machine.dag.len()] }
    }

    /// A formula as it is, without classes.
    fn plain(&mut self, frame: &Frame, lit: Lit) -> Lit {
        let (machine, mut made) = (self.subject.machine, HashMap::new());
        let reached = cone(&machine.dag, [lit]);
        for index in (0..reached.len()).filter(|index| reached[*index]) {
            let value = match machine.dag.node(Lit((index as u32) << 1)) {
                Node::Constant => Lit::FALSE,
                Node::Input(number) => frame.given[number as usize],
                Node::And(x, y) => self.dag.and(signed(made[&x.index()], x), signed(made[&y.index()], y)),
            };
            made.insert(index, value);
        }
        signed(made[&lit.index()], lit)
    }

    /// The node, made of what is known of its operands.
    fn raw(&mut self, frame: &Frame, node: usize) -> Lit {
        match self.subject.machine.dag.node(Lit((node as u32) << 1)) {
            Node::Constant => Lit::FALSE,
            Node::Input(number) => frame.given[number as usize],
            Node::And(x, y) => {
                let (x, y) = (frame.value(x), frame.value(y));
                self.dag.and(x, y)
            }
        }
    }

    /// Splits classes whose nodes are not equal in initial states. True if there are some.
    fn initially(mut self, classes: &mut Classes) -> Result<bool, Interrupted> {
        let machine = self.subject.machine;
        let fixed: HashMap<u32, bool> = machine
            .dag
            .conjuncts(machine.initial)
            .into_iter()
            .filter_map(|lit| match machine.dag.node(lit) {
                Node::Input(bit) => Some((bit, !lit.is_negated())),
                _ => None,
            })
            .collect();
        let mut state = Vec::new();
        for bit in &machine.state {
            state.push(match fixed.get(bit) {
                Some(value) => (*value).into(),
                None => self.fresh(),
            });
        }
        let frame = self.frame(state);
        let initial = self.plain(&frame, machine.initial);
        self.require(initial)?;
        self.separate(frame, classes)
    }

    /// Splits classes whose nodes are not equal after a step, if all are equal before it. True if there are some.
    fn after_a_step(mut self, classes: &mut Classes) -> Result<bool, Interrupted> {
        let machine = self.subject.machine;
        let state = machine.state.iter().map(|_| self.fresh()).collect();
        let mut frame = self.frame(state);
        for node in self.nodes {
            let made = match classes.representative(*node) {
                Some(lit) if self.is_small => {
                    let (made, raw) = (frame.value(lit), self.raw(&frame, *node));
                    let equal = self.dag.iff(made, raw);
                    self.require_always(equal)?;
                    made
                }
                Some(lit) => frame.value(lit),
                None => self.raw(&frame, *node),
            };
            frame.made[*node] = Some(made);
        }
        let (own, constraint) = (frame.value(self.subject.own), frame.value(self.subject.constraint));
        self.require(own)?;
        self.require(constraint)?;
        // Bits that do not matter are not part of what is made.
        let next = machine.next.iter().map(|lit| frame.known(*lit).unwrap_or(Lit::FALSE)).collect();
        let frame = self.frame(next);
        self.separate(frame, classes)
    }

    /// Splits classes whose nodes are not equal in the frame. True if there are some.
    fn separate(&mut self, mut frame: Frame, classes: &mut Classes) -> Result<bool, Interrupted> {
        let constraint = self.plain(&frame, self.subject.constraint);
        self.require(constraint)?;
        let mut changed = false;
        let mut pace = self.budget.pace();
        for node in self.nodes {
            pace.step()?;
            let raw = self.raw(&frame, *node);
            let other = classes.representative(*node).map(|first| (first, frame.value(first)));
            let is_equal = match other {
                Some((_, other)) => self.is_equal(raw, other)?,
                None => Some(false),
            };
            frame.made[*node] = Some(match (is_equal, other) {
                (Some(true), Some((_, other))) => other,
                _ => raw,
            });
            match (is_equal, other) {
                (None, _) => {
                    changed = true;
                    classes.remove(*node);
                }
                (Some(false), Some((first, _))) => {
                    changed = true;
                    self.note(*node, first);
                    if self.solutions.apart.len() == 64 {
                        self.split(&frame, classes);
                    }
                }
                _ => {}
            }
            if let Some(interrupted) = self.dag.interrupted() {
                return Err(interrupted);
            }
        }
        self.split(&frame, classes);
        Ok(changed)
    }

    /// Whether two nodes are equal; `None` if it takes too long.
    fn is_equal(&mut self, one: Lit, other: Lit) -> Result<Option<bool>, Interrupted> {
        let differ = self.dag.xor(one, other);
        if differ == Lit::FALSE {
            return Ok(Some(true));
        }
        let literal = self.literal(differ)?;
        self.assumed.push(literal);
        let part = self.budget.clone().with_time(LONGEST_QUESTION);
        let roots: Option<&[Literal]> = if self.is_small { None } else { Some(&[]) };
        let query = Query { frame: ALWAYS, assumptions: &self.assumed, clause: None, roots };
        let found = self.solver.ask(&query, &part);
        self.assumed.pop();
        match found {
            Ok(found) => Ok(Some(!found)),
            Err(interrupted) => self.budget.check().map_err(|_| interrupted).map(|()| None),
        }
    }

    /// The solution that was found tells a node from the first of its class.
    fn note(&mut self, node: usize, first: Lit) {
        let place = self.solutions.apart.len();
        self.solutions.words.resize(self.inputs.len(), 0);
        for (input, word) in self.inputs.iter().zip(&mut self.solutions.words) {
            let value = self.clauses.known(*input).and_then(|literal| self.solver.model(literal));
            *word |= u64::from(value.unwrap_or(false)) << place;
        }
        self.solutions.apart.push((node, first));
    }

    /// Splits classes whose nodes differ in the solutions that were found.
    fn split(&mut self, frame: &Frame, classes: &mut Classes) {
        let Solutions { words, apart } = std::mem::take(&mut self.solutions);
        if apart.is_empty() {
            return;
        }
        let input = |number: u32| words.get(number as usize).copied().unwrap_or(0);
        let values = side_by_side(&self.dag, &input);
        let known = if apart.len() == 64 { u64::MAX } else { (1 << apart.len()) - 1 };
        let counts = self.required.iter().fold(known, |counts, lit| counts & signed_word(&values, *lit));
        let given = |number: u32| frame.given.get(number as usize).map_or(0, |lit| signed_word(&values, *lit));
        let values = side_by_side(&self.subject.machine.dag, &given);
        classes.refine(|node, phase| (values[node] ^ if phase { u64::MAX } else { 0 }) & counts);
        for (node, first) in apart {
            // What the solution has besides the question may violate an equality.
            if classes.representative(node) == Some(first) {
                classes.remove(node);
            }
        }
    }
}

/// The values of all nodes, for 64 valuations of the inputs.
fn side_by_side(dag: &Dag, input: &dyn Fn(u32) -> u64) -> Vec<u64> {
    let mut values = vec![0; dag.len()];
    for index in 1..dag.len() {
        values[index] = match dag.node(Lit((index as u32) << 1)) {
            Node::Constant => 0,
            Node::Input(number) => input(number),
            Node::And(x, y) => signed_word(&values, x) & signed_word(&values, y),
        };
    }
    values
}

fn signed_word(values: &[u64], lit: Lit) -> u64 {
    values[lit.index()] ^ if lit.is_negated() { u64::MAX } else { 0 }
}

/// The nodes of a machine at one time.
struct Frame {
    /// The values of the inputs of the machine's graph.
    given: Vec<Lit>,
    made: Vec<Option<Lit>>,
}

impl Frame {
    fn known(&self, lit: Lit) -> Option<Lit> {
        self.made[lit.index()].map(|made| signed(made, lit))
    }

    fn value(&self, lit: Lit) -> Lit {
        self.known(lit).unwrap_or(Lit::FALSE)
    }
}

fn signed(value: Lit, as_in: Lit) -> Lit {
    if as_in.is_negated() { !value } else { value }
}

/// The machine in which nodes that correspond are one.
fn merged(subject: &Subject<'_>, classes: &Classes, equal: Vec<(Lit, Lit)>) -> Corresponding {
    let machine = subject.machine;
    let mut dag = Dag::new();
    let (mut made, mut plain): (Vec<Lit>, Vec<Lit>) = (Vec::new(), Vec::new());
    for index in 0..machine.dag.len() {
        let (raw, same) = match machine.dag.node(Lit((index as u32) << 1)) {
            Node::Constant => (Lit::FALSE, Lit::FALSE),
            Node::Input(number) => {
                let input = dag.input(number);
                (input, input)
            }
            Node::And(x, y) => {
                let raw = dag.and(signed(made[x.index()], x), signed(made[y.index()], y));
                (raw, dag.and(signed(plain[x.index()], x), signed(plain[y.index()], y)))
            }
        };
        let one = classes.representative(index).map_or(raw, |lit| signed(made[lit.index()], lit));
        made.push(one);
        plain.push(same);
    }
    let of = |lit: Lit| signed(made[lit.index()], lit);
    let as_it_is = |lit: Lit| signed(plain[lit.index()], lit);
    let constraint = as_it_is(subject.constraint);
    let next = machine.next.iter().map(|lit| of(*lit)).collect();
    let bad = subject.bad.iter().map(|lit| dag.and(of(*lit), constraint)).collect();
    let step = dag.and(of(subject.own), constraint);
    let initial = as_it_is(machine.initial);
    let machine = Machine {
        dag,
        state: machine.state.clone(),
        inputs: machine.inputs.clone(),
        initial,
        next,
        step,
        unused: machine.unused,
    };
    Corresponding { machine, bad, equal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{self, NotVerified, Transition};

    /// Two shift registers of two bits with the same input, one of them inverted, with parity by other gates.
    fn twins() -> (Machine, Lit) {
        let mut dag = Dag::new();
        let bits: Vec<Lit> = (0..4).map(|bit| dag.input(bit)).collect();
        let input = dag.input(4);
        let initial = dag.all(&[!bits[0], !bits[1], bits[2], bits[3]]);
        let parity = dag.xor(bits[0], bits[1]);
        let (one, other) = (dag.and(bits[2], !bits[3]), dag.and(!bits[2], bits[3]));
        let again = dag.or(one, other);
        let bad = dag.xor(parity, again);
        let next = vec![input, bits[0], !input, bits[2]];
        let machine =
            Machine { dag, state: vec![0, 1, 2, 3], inputs: vec![4], initial, next, step: Lit::TRUE, unused: 5 };
        (machine, bad)
    }

    #[test]
    fn signals_that_correspond_are_one_and_the_equalities_are_verified() {
        let (machine, bad) = twins();
        let bad = [bad];
        let subject = Subject { machine: &machine, own: Lit::TRUE, constraint: Lit::TRUE, bad: &bad };
        let budget = Budget::unlimited();
        let Ok(Correspondence::Found(found)) = corresponding(&subject, Duration::from_secs(60), &budget) else {
            panic!("bits that are equal are not found");
        };
        assert_eq!(found.bad, [Lit::FALSE]);
        let updates = machine.next.iter().copied().enumerate().collect();
        let transitions = [Transition { guard: Lit::TRUE, updates }];
        let Machine { dag, state, initial, .. } = &machine;
        let verified = certificate::Subject { dag, state, initial: *initial, transitions: &transitions, bad: &bad };
        assert_eq!(certificate::verify(&verified, &[], &found.equal, &budget), Ok(()));
        // One that is none.
        let wrong = [(dag.find_input(0).unwrap(), dag.find_input(1).unwrap())];
        assert_eq!(certificate::verify(&verified, &[], &wrong, &budget), Err(NotVerified::NotSafe));
        let safe = certificate::Subject { bad: &[], ..verified };
        assert_eq!(certificate::verify(&safe, &[], &wrong, &budget), Err(NotVerified::NoFact(0)));
    }
}
