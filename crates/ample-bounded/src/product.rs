//! LTL: the product of a machine with a property automaton, in which a run that violates the property is a fair lasso.
//!
//! The automaton accepts the runs that violate the property; its state is a few more bits, and an input chooses its edge.
//! It reads a state when a step leaves it, unless the state is transient. A state without a move repeats itself, and so does
//! one before a fault, where a run may be stopped: one more bit says so, and one more input each chooses these steps.
//! What a run must do again and again is a list of formulas over a state and the step that leaves it.

use ample_boolean::Lit;
use ample_engine::temporal::Edge;
use ample_logic::Automaton;

use crate::machine::{Choices, Machine, one_of};

/// Which runs count, and what a run has to do again and again.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    /// Each of these again and again: formulas over a state and the inputs of the step from it.
    pub justice: Vec<Lit>,
    /// If the first again and again, then the second, too.
    pub compassion: Vec<(Lit, Lit)>,
}

/// A property automaton.
#[derive(Clone, Debug)]
pub struct Watcher {
    /// The edges of each state.
    pub edges: Vec<Vec<Edge>>,
    /// Where it begins.
    pub initial: u32,
    /// How many acceptance sets it has.
    pub sets: u32,
}

impl Watcher {
    /// Of an automaton that was translated from a formula.
    pub fn of(automaton: &Automaton) -> Watcher {
        let literals = |cube: &ample_logic::Cube| {
            let atoms = automaton.atoms.iter().enumerate();
            let used = atoms.filter(|(bit, _)| (cube.positive | cube.negative) >> bit & 1 == 1);
            used.map(|(bit, atom)| (atom.0, cube.positive >> bit & 1 == 1)).collect()
        };
        let edge = |edge: &ample_logic::Edge| Edge {
            when: edge.label.iter().map(literals).collect(),
            to: edge.to as u32,
            marks: edge.marks,
        };
        let edges = (0..automaton.states).map(|q| automaton.successors(q).iter().map(edge).collect()).collect();
        Watcher { edges, initial: automaton.initial as u32, sets: automaton.sets }
    }

    fn all_marks(&self) -> u32 {
        if self.sets >= 32 { u32::MAX } else { (1 << self.sets) - 1 }
    }

    /// From that state on every word is accepted.
    fn is_universal(&self, state: usize) -> bool {
        let accepts = |edge: &Edge| {
            edge.to as usize == state
                && edge.marks & self.all_marks() == self.all_marks()
                && edge.when.iter().any(Vec::is_empty)
        };
        self.edges[state].iter().any(accepts)
    }

    /// The states from which every word is accepted, if no word is accepted without coming to one of them: then a
    /// violation has a beginning that decides.
    pub fn deciding(&self) -> Option<Vec<u32>> {
        let universal: Vec<bool> = (0..self.edges.len()).map(|state| self.is_universal(state)).collect();
        let reaches = self.closure(&universal);
        for state in (0..self.edges.len()).filter(|state| !universal[*state]) {
            let component = |other: usize| reaches[state][other] && reaches[other][state];
            let mut marks = None;
            for (from, edges) in self.edges.iter().enumerate().filter(|(from, _)| component(*from)) {
                let inside = edges.iter().filter(|edge| !universal[from] && component(edge.to as usize));
                inside.for_each(|edge| marks = Some(marks.unwrap_or(0) | edge.marks));
            }
            if marks.is_some_and(|marks| marks & self.all_marks() == self.all_marks()) {
                return None;
            }
        }
        Some((0u32..).zip(universal).filter(|(_, universal)| *universal).map(|(state, _)| state).collect())
    }

    /// The states in which it may begin: the initial one, and those whose edges it has, too. What such a state accepts, the
    /// initial one accepts, since of its first edge only the end matters.
    fn starts(&self) -> Vec<usize> {
        let initial = &self.edges[self.initial as usize];
        let has = |edge: &Edge| {
            let cubes = || initial.iter().filter(|other| other.to == edge.to).flat_map(|other| &other.when);
            edge.when.iter().all(|cube| cubes().any(|other| other.iter().all(|literal| cube.contains(literal))))
        };
        (0..self.edges.len())
            .filter(|state| *state == self.initial as usize || self.edges[*state].iter().all(has))
            .collect()
    }

    /// Which states are reached from which, by one edge or more that does not come from a universal state.
    fn closure(&self, universal: &[bool]) -> Vec<Vec<bool>> {
        let count = self.edges.len();
        let mut reaches = vec![vec![false; count]; count];
        for (start, reached) in reaches.iter_mut().enumerate() {
            let mut open = vec![start];
            while let Some(state) = open.pop() {
                for edge in self.edges[state].iter().filter(|_| !universal[state]) {
                    if !std::mem::replace(&mut reached[edge.to as usize], true) {
                        open.push(edge.to as usize);
                    }
                }
            }
        }
        reaches
    }
}

/// The bits of a machine that are an automaton's state, and what it does.
pub struct Watched {
    /// For each edge, the state that it leads to, and that it is possible in a state of the product.
    pub edges: Vec<(u32, Lit)>,
    /// For each acceptance set, that the step belongs to it.
    pub marks: Vec<Lit>,
}

/// Adds an automaton to a machine, which reads states where `reads` holds; `atoms` are its atoms.
pub fn watch(machine: &mut Machine, watcher: &Watcher, atoms: &[Lit], reads: Lit) -> Watched {
    let count = watcher.edges.len();
    let width = usize::BITS - count.saturating_sub(1).leading_zeros();
    let bits: Vec<Lit> = (0..width).map(|_| machine.add_bit()).collect();
    let mut at = Vec::new();
    for state in 0..count {
        let same: Vec<Lit> = (0..).zip(&bits).map(|(bit, lit)| signed(*lit, state >> bit & 1 == 1)).collect();
        at.push(machine.dag.all(&same));
    }
    let starts: Vec<Lit> = watcher.starts().into_iter().map(|state| at[state]).collect();
    let starts = machine.dag.any(&starts);
    machine.require_initially(starts);
    let edges: Vec<(usize, &Edge)> =
        watcher.edges.iter().enumerate().flat_map(|(from, edges)| edges.iter().map(move |edge| (from, edge))).collect();
    let Choices { chosen, is_one } = one_of(machine, edges.len());
    let dag = &mut machine.dag;
    let (mut possible, mut able) = (Vec::new(), Vec::new());
    let (mut next, mut marks) = (vec![Vec::new(); bits.len()], vec![Vec::new(); watcher.sets as usize]);
    for ((from, edge), lit) in edges.iter().zip(&chosen) {
        let mut cubes = Vec::new();
        for cube in &edge.when {
            let literals: Vec<Lit> = cube.iter().map(|(atom, value)| signed(atoms[*atom as usize], *value)).collect();
            cubes.push(dag.all(&literals));
        }
        let label = dag.any(&cubes);
        let enabled = dag.and(at[*from], label);
        able.push((edge.to, dag.and(enabled, reads)));
        possible.push(dag.implies(*lit, enabled));
        (0..).zip(&mut next).filter(|(bit, _)| edge.to >> bit & 1 == 1).for_each(|(_, set)| set.push(*lit));
        (0..).zip(&mut marks).filter(|(set, _)| edge.marks >> set & 1 == 1).for_each(|(_, set)| set.push(*lit));
    }
    possible.push(is_one);
    let possible = dag.all(&possible);
    let moves = dag.implies(reads, possible);
    let marks = marks.into_iter().map(|set| {
        let set = dag.any(&set);
        dag.and(reads, set)
    });
    let marks: Vec<Lit> = marks.collect();
    for (bit, set) in bits.iter().zip(next) {
        let set = machine.dag.any(&set);
        let value = machine.dag.ite(reads, set, *bit);
        machine.set_next(*bit, value);
    }
    machine.require(moves);
    Watched { edges: able, marks }
}

fn signed(lit: Lit, value: bool) -> Lit {
    if value { lit } else { !lit }
}

/// A machine that looks for a fair lasso by reachability (A. Biere, C. Artho, V. Schuppan, *Liveness Checking as Safety
/// Checking*, 2002): it saves a state once, and has found a lasso when it meets that state again after all that has to
/// happen again and again has happened.
pub struct Saving {
    /// The machine, with a copy of each state bit.
    pub machine: Machine,
    /// A lasso is closed.
    pub closed: Lit,
    /// The position of the input that saves a state.
    pub save: usize,
}

/// The machine that looks for a fair lasso of another.
pub fn saving(machine: &Machine, fair: &Fair) -> Saving {
    let mut saving = machine.clone();
    let bits: Vec<Lit> = machine.state.iter().map(|bit| saving.dag.input(*bit)).collect();
    let saved = saving.add_bit();
    saving.require_initially(!saved);
    let save = saving.add_input();
    let position = saving.inputs.len() - 1;
    let now = saving.dag.and(save, !saved);
    let in_loop = saving.dag.or(saved, save);
    saving.set_next(saved, in_loop);
    let mut closed = vec![saved];
    for bit in bits {
        let copy = saving.add_bit();
        saving.require_initially(!copy);
        let next = saving.dag.ite(now, bit, copy);
        saving.set_next(copy, next);
        closed.push(saving.dag.iff(bit, copy));
    }
    let seen = |saving: &mut Machine, what: Lit| {
        let bit = saving.add_bit();
        saving.require_initially(!bit);
        let here = saving.dag.and(in_loop, what);
        let next = saving.dag.or(bit, here);
        saving.set_next(bit, next);
        bit
    };
    for just in &fair.justice {
        closed.push(seen(&mut saving, *just));
    }
    for (asked, given) in &fair.compassion {
        let (asked, given) = (seen(&mut saving, *asked), seen(&mut saving, *given));
        closed.push(saving.dag.implies(asked, given));
    }
    let closed = saving.dag.all(&closed);
    Saving { machine: saving, closed, save: position }
}

/// A machine that counts how often a fair run has done all that it has to do again and again (K. Claessen, N. Sörensson, *A
/// Liveness Checking Algorithm That Counts*, FMCAD 2012). If the count has a bound in all runs, none is fair.
pub struct Counting {
    /// The machine, with a counter.
    pub machine: Machine,
    /// The counter has reached its bound.
    pub exceeded: Lit,
}

/// The machine that counts up to a bound, which is one at least.
pub fn counting(machine: &Machine, fair: &Fair, bound: usize) -> Counting {
    let mut counting = machine.clone();
    let mut justice = fair.justice.clone();
    for (asked, given) in &fair.compassion {
        // From some step on it is not asked for any more, or it is given again and again. Which of the two is chosen.
        let over = counting.add_bit();
        counting.require_initially(!over);
        let ends = counting.add_input();
        let next = counting.dag.or(over, ends);
        counting.set_next(over, next);
        let kept = counting.dag.and(over, *asked);
        counting.require(!kept);
        justice.push(counting.dag.or(over, *given));
    }
    let done = match justice[..] {
        [] => Lit::TRUE,
        [one] => one,
        _ => all_in_turn(&mut counting, &justice),
    };
    let mut before = Lit::TRUE;
    for _ in 0..bound.max(1) {
        let bit = counting.add_bit();
        counting.require_initially(!bit);
        let counted = counting.dag.and(before, done);
        let next = counting.dag.or(bit, counted);
        counting.set_next(bit, next);
        before = bit;
    }
    Counting { machine: counting, exceeded: before }
}

/// In this step the last of these happens that have not happened since it did before.
fn all_in_turn(machine: &mut Machine, justice: &[Lit]) -> Lit {
    let (mut bits, mut seen) = (Vec::new(), Vec::new());
    for just in justice {
        let bit = machine.add_bit();
        machine.require_initially(!bit);
        bits.push(bit);
        seen.push(machine.dag.or(bit, *just));
    }
    let done = machine.dag.all(&seen);
    for (bit, seen) in bits.into_iter().zip(seen) {
        let next = machine.dag.and(seen, !done);
        machine.set_next(bit, next);
    }
    done
}
