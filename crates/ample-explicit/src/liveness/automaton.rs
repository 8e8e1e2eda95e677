//! Büchi automata, laid out to be run beside a state space.

use ample_logic::Automaton;
use thiserror::Error;

pub use ample_engine::temporal::Edge;
pub use ample_logic::Cube;

/// A state that looks at too many atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a state of the automaton looks at {0} different conditions, and at most 64 are supported")]
pub struct TooManyAtoms(pub usize);

/// A Büchi automaton that reads states: generalised, with its acceptance on the edges.
#[derive(Clone, Debug)]
pub struct BuchiAutomaton {
    states: Vec<Place>,
    initial: u32,
    all_marks: u32,
}

/// A state of the automaton.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The atoms that its edges look at; a bit of a valuation for each.
    pub atoms: Vec<u32>,
    pub arcs: Vec<Arc>,
}

#[derive(Clone, Debug)]
pub(super) struct Arc {
    label: Vec<Cube>,
    pub to: u32,
    pub marks: u32,
    /// It leads to a universal state, where every word is accepted.
    pub universal: bool,
}

impl Arc {
    #[inline]
    pub fn matches(&self, valuation: u64) -> bool {
        self.label.iter().any(|cube| cube.matches(valuation))
    }
}

/// A disjunction of conjunctions of literals: an atom, and whether it is true.
pub type Disjunction = Vec<Vec<(u32, bool)>>;

impl BuchiAutomaton {
    /// From the edges of each state, with acceptance sets `0..sets`.
    pub fn new(initial: u32, sets: u32, edges: &[Vec<Edge>]) -> Result<BuchiAutomaton, TooManyAtoms> {
        let all_marks = if sets >= 32 { u32::MAX } else { (1 << sets) - 1 };
        let universal: Vec<bool> =
            edges.iter().enumerate().map(|(q, out)| is_universal(q as u32, out, all_marks)).collect();
        let states = edges.iter().map(|out| place(out, &universal)).collect::<Result<_, _>>()?;
        Ok(BuchiAutomaton { states, initial, all_marks })
    }

    /// Of an automaton whose atoms are numbered as those of the state space that it will watch.
    ///
    /// ```
    /// use ample_explicit::liveness::BuchiAutomaton;
    /// use ample_logic::{Atoms, Dialect, Options, parse, translate};
    ///
    /// let mut atoms = Atoms::new();
    /// let never = !parse("[] (request -> <> grant)", Dialect::Spin, &mut atoms)?;
    /// let automaton = BuchiAutomaton::of(&translate(&never, &atoms, Options::default())?)?;
    /// assert!(!automaton.is_terminal());
    ///
    /// let never = !parse("[] !bad", Dialect::Spin, &mut atoms)?;
    /// assert!(BuchiAutomaton::of(&translate(&never, &atoms, Options::default())?)?.is_terminal());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(automaton: &Automaton) -> Result<BuchiAutomaton, TooManyAtoms> {
        let literals = |cube: &Cube| {
            let atoms = automaton.atoms.iter().enumerate();
            let used = atoms.filter(|(bit, _)| (cube.positive | cube.negative) >> bit & 1 == 1);
            used.map(|(bit, atom)| (atom.0, cube.positive >> bit & 1 == 1)).collect()
        };
        let edge = |edge: &ample_logic::Edge| Edge {
            when: edge.label.iter().map(literals).collect(),
            to: edge.to as u32,
            marks: edge.marks,
        };
        let edges: Vec<Vec<Edge>> =
            (0..automaton.states).map(|q| automaton.successors(q).iter().map(edge).collect()).collect();
        BuchiAutomaton::new(automaton.initial as u32, automaton.sets, &edges)
    }

    /// The state in which it begins, the number of its acceptance sets, and the edges of each state: what
    /// [`new`](BuchiAutomaton::new) makes the same automaton of.
    pub fn parts(&self) -> (u32, u32, Vec<Vec<Edge>>) {
        let literals = |place: &Place, cube: &Cube| {
            let atoms = place.atoms.iter().enumerate();
            let used = atoms.filter(|(bit, _)| (cube.positive | cube.negative) >> bit & 1 == 1);
            used.map(|(bit, atom)| (*atom, cube.positive >> bit & 1 == 1)).collect::<Vec<_>>()
        };
        let edge = |place: &Place, arc: &Arc| Edge {
            when: arc.label.iter().map(|cube| literals(place, cube)).collect(),
            to: arc.to,
            marks: arc.marks,
        };
        let edges = self.states.iter().map(|place| place.arcs.iter().map(|arc| edge(place, arc)).collect()).collect();
        (self.initial, self.all_marks.count_ones(), edges)
    }

    /// How many states it has.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Has it no states?
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// It accepts only words of which a beginning tells so: to look for that beginning is enough.
    pub fn is_terminal(&self) -> bool {
        let component = self.components();
        let mut marks: Vec<Option<u32>> = vec![None; self.states.len()];
        for (q, place) in self.states.iter().enumerate() {
            for arc in place.arcs.iter().filter(|arc| !arc.universal && component[arc.to as usize] == component[q]) {
                *marks[component[q]].get_or_insert(0) |= arc.marks;
            }
        }
        !marks.into_iter().flatten().any(|marks| marks & self.all_marks == self.all_marks)
    }

    /// The same with acceptance by states: all arcs out of a state have all marks, or none has any. Where a run cannot come
    /// back, marks do not matter. None if that takes more states.
    pub(crate) fn by_states(&self) -> Option<BuchiAutomaton> {
        let reached = self.reachability();
        let mut automaton = self.clone();
        for (q, place) in automaton.states.iter_mut().enumerate() {
            let comes_back = |arc: &&Arc| reached[arc.to as usize][q];
            let mut on_cycles = place.arcs.iter().filter(comes_back).map(|arc| arc.marks & self.all_marks);
            let marks = on_cycles.next().unwrap_or(0);
            if marks != 0 && marks != self.all_marks || on_cycles.any(|other| other != marks) {
                return None;
            }
            place.arcs.iter_mut().for_each(|arc| arc.marks = marks);
        }
        Some(automaton)
    }

    /// It is weak: the states of a strongly connected component are all accepting, or none is. Of an automaton that accepts
    /// [by states](BuchiAutomaton::by_states).
    pub(crate) fn is_weak(&self) -> bool {
        let reached = self.reachability();
        let accepts =
            |q: usize| self.states[q].arcs.first().is_some_and(|arc| arc.marks & self.all_marks == self.all_marks);
        let all = 0..self.states.len();
        all.clone().all(|p| all.clone().all(|q| accepts(p) == accepts(q) || !reached[p][q] || !reached[q][p]))
    }

    /// For each state which states can be reached from it, itself among them.
    fn reachability(&self) -> Vec<Vec<bool>> {
        let reached = |start: usize| {
            let mut reached = vec![false; self.states.len()];
            let mut pending = vec![start];
            while let Some(q) = pending.pop() {
                if !std::mem::replace(&mut reached[q], true) {
                    pending.extend(self.states[q].arcs.iter().map(|arc| arc.to as usize));
                }
            }
            reached
        };
        (0..self.states.len()).map(reached).collect()
    }

    /// For each state its arcs from which a universal state can be reached: how many arcs it is from there at least, and
    /// the disjunction of conjunctions of literals under which the arc is taken.
    pub fn arcs_to_acceptance(&self) -> Vec<Vec<(u32, Disjunction)>> {
        let mut distances: Vec<Option<u32>> = vec![None; self.states.len()];
        let after = |distances: &[Option<u32>], arc: &Arc| match arc.universal {
            true => Some(0),
            false => distances[arc.to as usize].map(|distance| distance + 1),
        };
        loop {
            let mut is_final = true;
            for (state, place) in self.states.iter().enumerate() {
                let nearest = place.arcs.iter().filter_map(|arc| after(&distances, arc)).min();
                if nearest.is_some() && distances[state].is_none_or(|known| nearest < Some(known)) {
                    distances[state] = nearest;
                    is_final = false;
                }
            }
            if is_final {
                break;
            }
        }
        let literals = |place: &Place, cube: &Cube| {
            let atoms = place.atoms.iter().enumerate();
            let used = atoms.filter(|(bit, _)| (cube.positive | cube.negative) >> bit & 1 == 1);
            used.map(|(bit, atom)| (*atom, cube.positive >> bit & 1 == 1)).collect()
        };
        let arcs = |place: &Place| {
            let arc = |arc: &Arc| {
                Some((after(&distances, arc)?, arc.label.iter().map(|cube| literals(place, cube)).collect()))
            };
            place.arcs.iter().filter_map(arc).collect()
        };
        self.states.iter().map(arcs).collect()
    }

    /// For each state the number of its strongly connected component, over arcs that do not decide.
    fn components(&self) -> Vec<usize> {
        let targets = |q: usize| self.states[q].arcs.iter().filter(|arc| !arc.universal).map(|arc| arc.to as usize);
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        (0..self.states.len()).for_each(|q| targets(q).for_each(|to| back[to].push(q)));
        // In the order in which a depth-first search leaves them; then backwards, the last one first.
        let mut seen = vec![false; self.states.len()];
        let mut left = Vec::new();
        for start in 0..self.states.len() {
            let mut path = vec![(start, targets(start))];
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            while let Some((q, rest)) = path.last_mut() {
                match rest.next() {
                    Some(to) if !std::mem::replace(&mut seen[to], true) => path.push((to, targets(to))),
                    Some(_) => {}
                    None => {
                        left.push(*q);
                        path.pop();
                    }
                }
            }
        }
        let mut component = vec![usize::MAX; self.states.len()];
        for (number, start) in left.into_iter().rev().enumerate() {
            let mut pending = vec![start];
            while let Some(q) = pending.pop() {
                if component[q] == usize::MAX {
                    component[q] = number;
                    pending.extend(&back[q]);
                }
            }
        }
        component
    }

    pub(super) fn initial(&self) -> u32 {
        self.initial
    }

    pub(super) fn all_marks(&self) -> u32 {
        self.all_marks
    }

    #[inline]
    pub(super) fn place(&self, state: u32) -> &Place {
        &self.states[state as usize]
    }
}

fn is_universal(state: u32, edges: &[Edge], all_marks: u32) -> bool {
    edges
        .iter()
        .any(|edge| edge.to == state && edge.marks & all_marks == all_marks && edge.when.iter().any(Vec::is_empty))
}

fn place(edges: &[Edge], universal: &[bool]) -> Result<Place, TooManyAtoms> {
    let mut atoms: Vec<u32> = edges.iter().flat_map(|edge| edge.when.iter().flatten()).map(|(atom, _)| *atom).collect();
    atoms.sort_unstable();
    atoms.dedup();
    if atoms.len() > 64 {
        return Err(TooManyAtoms(atoms.len()));
    }
    let mut arcs = Vec::new();
    for edge in edges {
        let cubes = edge.when.iter().filter_map(|literals| cube(literals, &atoms));
        let label: Vec<Cube> = cubes.collect();
        if !label.is_empty() {
            arcs.push(Arc { label, to: edge.to, marks: edge.marks, universal: universal[edge.to as usize] });
        }
    }
    // What decides comes first.
    arcs.sort_by_key(|arc| !arc.universal);
    Ok(Place { atoms, arcs })
}

/// The conjunction over the atoms of a place; none if it contradicts itself.
fn cube(literals: &[(u32, bool)], atoms: &[u32]) -> Option<Cube> {
    let mut cube = Cube::TRUE;
    for (atom, value) in literals {
        let bit = 1 << atoms.binary_search(atom).ok()?;
        *if *value { &mut cube.positive } else { &mut cube.negative } |= bit;
    }
    (cube.positive & cube.negative == 0).then_some(cube)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(when: &[(u32, bool)], to: u32, marks: u32) -> Edge {
        Edge { when: vec![when.to_vec()], to, marks }
    }

    #[test]
    fn a_terminal_watcher_only_looks_for_a_beginning() {
        let sink = vec![edge(&[], 1, 1)];
        let waits =
            BuchiAutomaton::new(0, 1, &[vec![edge(&[], 0, 0), edge(&[(7, true)], 1, 0)], sink.clone()]).unwrap();
        assert!(waits.is_terminal());
        assert!(waits.place(0).arcs[0].universal);
        let loops =
            BuchiAutomaton::new(0, 1, &[vec![edge(&[(3, false)], 0, 1), edge(&[(7, true)], 1, 0)], sink]).unwrap();
        assert!(!loops.is_terminal());
        assert_eq!(loops.place(0).atoms, [3, 7]);
    }

    #[test]
    fn labels_are_over_the_atoms_of_their_state() {
        let many: Vec<Edge> = (0..65).map(|atom| edge(&[(atom, true)], 0, 0)).collect();
        assert!(BuchiAutomaton::new(0, 0, &[many]).is_err());
        let automaton = BuchiAutomaton::new(
            0,
            0,
            &[vec![edge(&[(90, true), (40, false)], 0, 0), edge(&[(1, true), (1, false)], 0, 0)]],
        );
        let place = automaton.unwrap().place(0).clone();
        assert_eq!(place.atoms, [1, 40, 90]);
        assert_eq!(place.arcs.len(), 1);
        assert!(place.arcs[0].matches(0b100) && !place.arcs[0].matches(0b110));
    }
}
