//! CTL over the whole graph of markings, for many formulas at once.
//!
//! Local evaluation looks at as little of the graph as a formula needs, and once more for the next formula. Where the
//! graph is small and the formulas are many, as where every transition is asked whether it is live, it is built once:
//! all markings with their successors, and a set of markings for every part of a formula. A marking without a successor
//! ends its run: there `EX f` is false, `AX f` true, and `EG f` is `f`.

use std::collections::HashMap;
use std::rc::Rc;

use ample_explicit::store::{FlatStore, Handle, Inserted, Store};
use ample_logic::{Binary, Formula, Unary};
use ample_model::{Budget, Progress, Reason};

use super::layout::Widths;
use super::relations::Relations;
use super::space::{Table, TooNarrow};
use super::test::{Test, Tests};
use super::{Limits, ProgressReports, widening};
use crate::evidence::Evidence;
use crate::net::{Condition, Net};

/// The value of a formula, and a run that shows it where one run does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The value at the start.
    pub holds: bool,
    /// What shows it.
    pub evidence: Option<Evidence>,
}

/// Evaluates formulas of branching time, whose atoms are conditions, and gives each value to `found` with the number of
/// the formula as soon as it is known. What `is_open` does not ask for any more is left out. The reason is why it ended
/// before it was done.
///
/// ```
/// use ample_logic::{Atom, Formula};
/// use ample_budget::Budget;
/// use ample_petri::explicit::graph::evaluate;
/// use ample_petri::net::{Condition, Net, Place, Transition};
///
/// // A token goes from one place to the other.
/// let place = |initial| Place { name: String::new(), initial, bound: Some(1) };
/// let step = Transition { name: "step".into(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
/// let net = Net { places: vec![place(1), place(0)], transitions: vec![step], exclusive: vec![] };
///
/// let there = [Condition::AtMost { terms: vec![(1, -1)], most: -1 }];
/// let formulas = [Formula::atom(Atom(0)).finally().all(), Formula::atom(Atom(0)).globally().exists()];
/// let mut values = Vec::new();
/// evaluate(&net, &formulas, &there, &Default::default(), &Budget::unlimited(), &|_| true, &mut |_, value| values.push(value.holds));
/// assert_eq!(values, [true, false]);
/// ```
pub fn evaluate(
    net: &Net,
    formulas: &[Formula],
    atoms: &[Condition],
    limits: &Limits<'_>,
    budget: &Budget,
    is_open: &dyn Fn(usize) -> bool,
    found: &mut dyn FnMut(usize, Value),
) -> Option<Reason> {
    let built = widening(net, limits, |relations, widths| Graph::build(net, relations, widths, atoms, limits, budget));
    let graph = match built {
        Ok(Ok(graph)) => graph,
        Ok(Err(reason)) | Err(reason) => return Some(reason),
    };
    let mut evaluation = Evaluation { graph: &graph, atoms: HashMap::new(), work: 0, budget };
    for (number, formula) in formulas.iter().enumerate() {
        if !is_open(number) {
            continue;
        }
        match evaluation.formula(formula, &mut HashMap::new()) {
            Ok(set) => {
                let holds = set.has(0);
                let evidence = evaluation.evidence(formula, holds);
                found(number, Value { holds, evidence });
            }
            Err(reason) => return Some(reason),
        }
        if let Err(interrupted) = budget.report(&graph.progress()) {
            return Some(interrupted.into());
        }
    }
    None
}

/// A set of markings.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn empty(states: usize) -> Set {
        Set(vec![0; states.div_ceil(64)])
    }

    fn has(&self, state: usize) -> bool {
        self.0[state / 64] >> (state % 64) & 1 == 1
    }

    /// False if it was there before.
    fn insert(&mut self, state: usize) -> bool {
        let (word, bit) = (&mut self.0[state / 64], 1 << (state % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn remove(&mut self, state: usize) {
        self.0[state / 64] &= !(1 << (state % 64));
    }

    fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|word| *word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    fn zip(&self, other: &Set, op: impl Fn(u64, u64) -> u64) -> Set {
        Set(self.0.iter().zip(&other.0).map(|(one, other)| op(*one, *other)).collect())
    }
}

/// All markings, numbered breadth first, and what leads where.
struct Graph {
    states: usize,
    /// Bytes of a marking, one after the other.
    markings: Vec<u8>,
    len: usize,
    tests: Vec<Test>,
    /// Where the successors of each marking begin.
    starts: Vec<usize>,
    successors: Vec<u32>,
    /// Where the predecessors of each marking begin.
    back_starts: Vec<usize>,
    predecessors: Vec<u32>,
    /// By marking but the first: from where it was found, and by which transition.
    parents: Vec<(u32, u32)>,
}

impl Graph {
    fn build(
        net: &Net,
        relations: &Relations,
        widths: &Widths,
        atoms: &[Condition],
        limits: &Limits<'_>,
        budget: &Budget,
    ) -> Result<Result<Graph, Reason>, TooNarrow> {
        if let Err(reason) = atoms.iter().try_for_each(|atom| relations.check(atom)) {
            return Ok(Err(reason));
        }
        let table = Table::new(net, relations, widths);
        let mut tests = Tests::new(&table.layout);
        let tests = atoms.iter().map(|atom| tests.of(atom)).collect();
        let len = table.layout.len;
        let mut graph = Graph {
            states: 0,
            markings: Vec::new(),
            len,
            tests,
            starts: vec![0],
            successors: Vec::new(),
            back_starts: Vec::new(),
            predecessors: Vec::new(),
            parents: Vec::new(),
        };
        // Half of the memory is for the store, which is let go of in the end.
        let mut store = FlatStore::<()>::default().limit(limits.memory / 2);
        let mut handles: Vec<Handle> = Vec::new();
        let mut reports = ProgressReports::new(limits, budget);
        let mut arrive = |graph: &mut Graph, state: &[u8], from: u32, transition: u32| -> Option<u32> {
            match store.insert(state) {
                Inserted::Full => None,
                Inserted::Seen(handle) => handles.binary_search(&handle).ok().map(|number| number as u32),
                Inserted::New(handle) => {
                    handles.push(handle);
                    graph.markings.extend_from_slice(state);
                    graph.parents.push((from, transition));
                    graph.states += 1;
                    u32::try_from(graph.states - 1).ok()
                }
            }
        };
        if arrive(&mut graph, &table.initial, 0, 0).is_none() {
            return Ok(Err(Reason::Memory));
        }
        let (mut current, mut next) = (vec![0; len], vec![0; len]);
        let mut number = 0;
        while number < graph.states {
            current.copy_from_slice(&graph.markings[number * len..(number + 1) * len]);
            let mut failed = None;
            let before = graph.successors.len();
            table.successors(&current, |transition| {
                if failed.is_some() {
                    return;
                }
                next.copy_from_slice(&current);
                if let Err(too_narrow) = table.fire(transition, &mut next) {
                    failed = Some(Err(too_narrow));
                    return;
                }
                match arrive(&mut graph, &next, number as u32, transition) {
                    Some(to) => graph.successors.push(to),
                    None => failed = Some(Ok(Err(Reason::Memory))),
                }
            });
            if let Some(failed) = failed {
                return failed;
            }
            graph.starts.push(graph.successors.len());
            number += 1;
            if reports.is_due((graph.successors.len() - before) as u64 + 1)
                && let Some(reason) = reports.report(&graph.progress())
            {
                return Ok(Err(reason));
            }
        }
        drop(store);
        graph.turn_round();
        Ok(Ok(graph))
    }

    /// Finds the predecessors.
    fn turn_round(&mut self) {
        let mut counts = vec![0; self.states + 1];
        self.successors.iter().for_each(|to| counts[*to as usize + 1] += 1);
        for state in 0..self.states {
            counts[state + 1] += counts[state];
        }
        self.back_starts = counts.clone();
        self.predecessors = vec![0; self.successors.len()];
        for state in 0..self.states {
            for to in &self.successors[self.starts[state]..self.starts[state + 1]] {
                let at = &mut counts[*to as usize];
                self.predecessors[*at] = state as u32;
                *at += 1;
            }
        }
    }

    fn successors(&self, state: usize) -> &[u32] {
        &self.successors[self.starts[state]..self.starts[state + 1]]
    }

    fn predecessors(&self, state: usize) -> &[u32] {
        &self.predecessors[self.back_starts[state]..self.back_starts[state + 1]]
    }

    /// The transitions that lead to a marking, one of the shortest runs.
    fn run_to(&self, mut state: usize) -> Vec<u32> {
        let mut run = Vec::new();
        while state != 0 {
            let (from, transition) = self.parents[state];
            run.push(transition);
            state = from as usize;
        }
        run.reverse();
        run
    }

    fn progress(&self) -> Progress {
        // Twice for the predecessors, and the store beside the markings.
        let memory = 2 * self.markings.len() + 8 * self.successors.len() + 32 * self.states;
        Progress {
            states: self.states as u64,
            transitions: self.successors.len() as u64,
            memory: memory as u64,
            ..Progress::default()
        }
    }
}

/// The budget is asked after so many looks at a marking or an edge.
const ASK_EVERY: usize = 2_000_000;
/// The sets of so many atoms are kept.
const KEPT: usize = 64;

/// The evaluation of formulas on a graph.
struct Evaluation<'a> {
    graph: &'a Graph,
    /// The sets of atoms that were needed before.
    atoms: HashMap<u32, Rc<Set>>,
    /// What was done since the budget was asked.
    work: usize,
    budget: &'a Budget,
}

impl Evaluation<'_> {
    fn spend(&mut self, work: usize) -> Result<(), Reason> {
        self.work += work;
        if self.work < ASK_EVERY {
            return Ok(());
        }
        self.work = 0;
        Ok(self.budget.report(&self.graph.progress())?)
    }

    /// A run that shows the value, where one without branches does.
    fn evidence(&mut self, formula: &Formula, holds: bool) -> Option<Evidence> {
        let mut formula = formula;
        let mut holds = holds;
        while let Formula::Unary(Unary::Not, inner) = formula {
            (formula, holds) = (inner, !holds);
        }
        let Formula::Unary(quantifier, path) = formula else { return None };
        let goal = match (quantifier, &**path, holds) {
            // What comes at the end of the run would have to branch.
            (_, Formula::Unary(_, f), value) if f.is_shown_by_runs(value) => return None,
            (Unary::Exists, Formula::Unary(Unary::Finally, f), true) => self.formula(f, &mut HashMap::new()).ok()?,
            (Unary::All, Formula::Unary(Unary::Globally, f), false) => {
                let f = self.formula(f, &mut HashMap::new()).ok()?;
                Rc::new(self.not(&f))
            }
            _ => return None,
        };
        Some(Evidence::run(formula, holds, self.graph.run_to(goal.first()?)))
    }

    fn all(&self) -> Set {
        let mut all = Set(vec![u64::MAX; self.graph.states.div_ceil(64)]);
        let used = self.graph.states % 64;
        if let Some(last) = all.0.last_mut().filter(|_| used != 0) {
            *last = (1 << used) - 1;
        }
        all
    }

    fn not(&self, set: &Set) -> Set {
        self.all().zip(set, |all, set| all & !set)
    }

    fn atom(&mut self, atom: u32) -> Result<Rc<Set>, Reason> {
        if let Some(known) = self.atoms.get(&atom) {
            return Ok(Rc::clone(known));
        }
        let missing = || Reason::Unsupported("the formula has an atom that stands for nothing".into());
        let test = self.graph.tests.get(atom as usize).ok_or_else(missing)?;
        let mut set = Set::empty(self.graph.states);
        let len = self.graph.len;
        for state in 0..self.graph.states {
            if test.holds(&self.graph.markings[state * len..(state + 1) * len]) {
                set.insert(state);
            }
        }
        self.spend(8 * self.graph.states)?;
        let set = Rc::new(set);
        if self.atoms.len() < KEPT {
            self.atoms.insert(atom, Rc::clone(&set));
        }
        Ok(set)
    }

    /// The markings that satisfy a formula.
    fn formula(&mut self, formula: &Formula, known: &mut HashMap<Formula, Rc<Set>>) -> Result<Rc<Set>, Reason> {
        if let Some(set) = known.get(formula) {
            return Ok(Rc::clone(set));
        }
        let set = match formula {
            Formula::True => Rc::new(self.all()),
            Formula::False => Rc::new(Set::empty(self.graph.states)),
            Formula::Atom(atom) => return self.atom(atom.0),
            Formula::Unary(Unary::Not, f) => {
                let f = self.formula(f, known)?;
                Rc::new(self.not(&f))
            }
            Formula::Unary(Unary::Exists, path) => Rc::new(self.some_run(path, true, known)?),
            Formula::Unary(Unary::All, path) => {
                let others = self.some_run(path, false, known)?;
                Rc::new(self.not(&others))
            }
            Formula::Unary(..) => return Err(not_branching()),
            Formula::Binary(op, f, g) => {
                let (f, g) = (self.formula(f, known)?, self.formula(g, known)?);
                Rc::new(match op {
                    Binary::And => f.zip(&g, |f, g| f & g),
                    Binary::Or => f.zip(&g, |f, g| f | g),
                    Binary::Implies => self.not(&f).zip(&g, |not_f, g| not_f | g),
                    Binary::Xor => f.zip(&g, |f, g| f ^ g),
                    Binary::Iff => self.not(&f.zip(&g, |f, g| f ^ g)),
                    _ => return Err(not_branching()),
                })
            }
        };
        known.insert(formula.clone(), Rc::clone(&set));
        Ok(set)
    }

    /// From here some run satisfies the path formula, or its opposite.
    fn some_run(
        &mut self,
        path: &Formula,
        positive: bool,
        known: &mut HashMap<Formula, Rc<Set>>,
    ) -> Result<Set, Reason> {
        let (op, f, g) = match path {
            Formula::Unary(op @ (Unary::Next | Unary::Finally | Unary::Globally), f) => {
                let f = self.side(f, positive, known)?;
                let all = Rc::new(self.all());
                return match (op, positive) {
                    (Unary::Next, _) => self.next(&f),
                    (Unary::Finally, true) | (Unary::Globally, false) => self.until(&all, &f),
                    _ => self.always(&f),
                };
            }
            Formula::Binary(op, f, g) => (*op, f, g),
            _ => return Err(not_branching()),
        };
        let (f, g) = (self.side(f, positive, known)?, self.side(g, positive, known)?);
        match (op, positive) {
            (Binary::Until, true) | (Binary::Release, false) => self.until(&f, &g),
            (Binary::Until, false) | (Binary::Release, true) => self.release(&f, &g),
            // f W g is g R (f ∨ g), and its opposite ¬g U (¬f ∧ ¬g).
            (Binary::WeakUntil, true) => self.release(&g, &f.zip(&g, |f, g| f | g)),
            (Binary::WeakUntil, false) => self.until(&g, &f.zip(&g, |f, g| f & g)),
            // f M g is g U (f ∧ g), and its opposite ¬g R (¬f ∨ ¬g).
            (Binary::StrongRelease, true) => self.until(&g, &f.zip(&g, |f, g| f & g)),
            (Binary::StrongRelease, false) => self.release(&g, &f.zip(&g, |f, g| f | g)),
            _ => Err(not_branching()),
        }
    }

    fn side(
        &mut self,
        formula: &Formula,
        positive: bool,
        known: &mut HashMap<Formula, Rc<Set>>,
    ) -> Result<Rc<Set>, Reason> {
        let set = self.formula(formula, known)?;
        Ok(if positive { set } else { Rc::new(self.not(&set)) })
    }

    /// `EX f`
    fn next(&mut self, f: &Set) -> Result<Set, Reason> {
        let mut set = Set::empty(self.graph.states);
        for state in 0..self.graph.states {
            if self.graph.successors(state).iter().any(|to| f.has(*to as usize)) {
                set.insert(state);
            }
        }
        self.spend(self.graph.successors.len() + self.graph.states)?;
        Ok(set)
    }

    /// `E[f U g]`
    fn until(&mut self, f: &Set, g: &Set) -> Result<Set, Reason> {
        let mut set = g.clone();
        let mut open: Vec<usize> = (0..self.graph.states).filter(|state| g.has(*state)).collect();
        while let Some(state) = open.pop() {
            for from in self.graph.predecessors(state) {
                let from = *from as usize;
                if f.has(from) && set.insert(from) {
                    open.push(from);
                }
            }
        }
        self.spend(self.graph.successors.len() + self.graph.states)?;
        Ok(set)
    }

    /// `EG f`: a run on which it holds for ever, or up to a marking without a successor.
    fn always(&mut self, f: &Set) -> Result<Set, Reason> {
        let mut set = f.clone();
        let inside = |state: usize| self.graph.successors(state).iter().filter(|to| f.has(**to as usize)).count();
        let mut inner: Vec<usize> =
            (0..self.graph.states).map(|state| if f.has(state) { inside(state) } else { 0 }).collect();
        let is_stuck = |state: usize, inner: usize| inner == 0 && !self.graph.successors(state).is_empty();
        let mut open: Vec<usize> =
            (0..self.graph.states).filter(|state| f.has(*state) && is_stuck(*state, inner[*state])).collect();
        while let Some(state) = open.pop() {
            set.remove(state);
            for from in self.graph.predecessors(state) {
                let from = *from as usize;
                if !f.has(from) {
                    continue;
                }
                inner[from] -= 1;
                if inner[from] == 0 {
                    open.push(from);
                }
            }
        }
        self.spend(2 * self.graph.successors.len() + self.graph.states)?;
        Ok(set)
    }

    /// `E[f R g]`, which is `E[g U f∧g] ∨ EG g`.
    fn release(&mut self, f: &Set, g: &Set) -> Result<Set, Reason> {
        let ends = self.until(g, &f.zip(g, |f, g| f & g))?;
        let always = self.always(g)?;
        Ok(ends.zip(&always, |one, other| one | other))
    }
}

fn not_branching() -> Reason {
    Reason::Unsupported("the formula is not one of branching time".into())
}
