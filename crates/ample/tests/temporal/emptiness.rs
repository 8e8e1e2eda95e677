//! Is there an endless run that an automaton accepts, and that is fair? The plain way: the whole product, its
//! components by two depth-first searches (Kosaraju), and once more without the states that make a component unfair.

use std::collections::{HashMap, HashSet, VecDeque};

use ample::{Fairness, Move};

use super::graph::{Graph, Lasso};

/// A generalised Büchi automaton that reads the visible nodes of a graph.
pub trait Automaton {
    /// Its states after the first visible node.
    fn start(&self, node: usize) -> Vec<usize>;
    /// Its states after one more.
    fn next(&self, state: usize, node: usize) -> Vec<usize>;
    /// Which of its acceptance sets a state after reading a visible node belongs to.
    fn marks(&self, state: usize, node: usize) -> u64;
    /// How many acceptance sets there are.
    fn sets(&self) -> u32;
}

/// Accepts everything.
pub struct Anything;

impl Automaton for Anything {
    fn start(&self, _: usize) -> Vec<usize> {
        vec![0]
    }

    fn next(&self, _: usize, _: usize) -> Vec<usize> {
        vec![0]
    }

    fn marks(&self, _: usize, _: usize) -> u64 {
        0
    }

    fn sets(&self) -> u32 {
        0
    }
}

/// Another automaton, and beside what it accepts each of these sets of nodes is visited again and again.
pub struct Also<'a> {
    pub first: &'a dyn Automaton,
    pub sets: &'a [Vec<bool>],
}

impl Automaton for Also<'_> {
    fn start(&self, node: usize) -> Vec<usize> {
        self.first.start(node)
    }

    fn next(&self, state: usize, node: usize) -> Vec<usize> {
        self.first.next(state, node)
    }

    fn marks(&self, state: usize, node: usize) -> u64 {
        let visited = self.sets.iter().enumerate().map(|(number, set)| u64::from(set[node]) << number);
        self.first.marks(state, node) | visited.sum::<u64>() << self.first.sets()
    }

    fn sets(&self) -> u32 {
        self.first.sets() + self.sets.len() as u32
    }
}

/// Which runs are looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    pub graph: &'a Graph,
    pub automaton: &'a dyn Automaton,
    pub fairness: Fairness,
    /// A deadlock is an endless run.
    pub stutters: bool,
}

/// A step of the product.
struct Step {
    taken: Option<Move>,
    to: usize,
    marks: u64,
}

/// The reachable part of the product.
struct Product {
    /// Node and automaton state; a transient node has the automaton state of the visible one before it.
    pairs: Vec<(usize, usize)>,
    marks: Vec<u64>,
    steps: Vec<Vec<Step>>,
    /// From which pair, by which of its steps, each was found.
    parents: Vec<Option<(usize, usize)>>,
}

impl Search<'_> {
    /// A run from an initial state.
    pub fn run(&self) -> Option<Lasso> {
        self.lasso(&self.product(self.starts()))
    }

    /// A run from that node on, whatever the automaton says.
    pub fn run_from(&self, node: usize) -> Option<Lasso> {
        let search = Search { automaton: &Anything, ..*self };
        search.lasso(&search.product(vec![(node, 0)]))
    }

    /// A run from that node on.
    pub fn lasso_from(&self, node: usize) -> Option<Lasso> {
        let starts = self.automaton.start(node).into_iter().map(|state| (node, state)).collect();
        self.lasso(&self.product(starts))
    }

    fn starts(&self) -> Vec<(usize, usize)> {
        let initial = self.graph.initial.iter();
        initial.flat_map(|&node| self.automaton.start(node).into_iter().map(move |state| (node, state))).collect()
    }

    fn product(&self, starts: Vec<(usize, usize)>) -> Product {
        let mut product = Product { pairs: Vec::new(), marks: Vec::new(), steps: Vec::new(), parents: Vec::new() };
        let mut numbers = HashMap::new();
        for pair in starts {
            self.enter(&mut product, &mut numbers, pair, None);
        }
        let mut at = 0;
        while at < product.pairs.len() {
            let (node, state) = product.pairs[at];
            let from = &self.graph.nodes[node];
            let mut moves: Vec<(Option<Move>, usize)> =
                from.steps.iter().map(|(m, to)| (Some(m.clone()), *to)).collect();
            if from.is_deadlocked() && self.stutters {
                moves.push((None, node));
            }
            for (taken, target) in moves {
                let visible = self.graph.nodes[target].visible;
                let states = if visible { self.automaton.next(state, target) } else { vec![state] };
                for next in states {
                    let way = (at, product.steps[at].len());
                    let to = self.enter(&mut product, &mut numbers, (target, next), Some(way));
                    product.steps[at].push(Step { taken: taken.clone(), to, marks: self.step_marks(taken.as_ref()) });
                }
            }
            at += 1;
        }
        product
    }

    fn enter(
        &self,
        product: &mut Product,
        numbers: &mut HashMap<(usize, usize), usize>,
        pair: (usize, usize),
        way: Option<(usize, usize)>,
    ) -> usize {
        *numbers.entry(pair).or_insert_with(|| {
            product.pairs.push(pair);
            product.marks.push(self.node_marks(pair));
            product.steps.push(Vec::new());
            product.parents.push(way);
            product.pairs.len() - 1
        })
    }

    // The marks: a visible node, the sets of the automaton, and one for each process where fairness is weak.

    fn all_marks(&self) -> u64 {
        let processes = if self.fairness == Fairness::Weak { self.graph.processes() } else { 0 };
        (1 << (1 + self.automaton.sets() + processes)) - 1
    }

    fn process_mark(&self, process: u32) -> u64 {
        1 << (1 + self.automaton.sets() + process)
    }

    fn node_marks(&self, (number, state): (usize, usize)) -> u64 {
        let node = &self.graph.nodes[number];
        if !node.visible {
            return 0;
        }
        let mut marks = 1 | self.automaton.marks(state, number) << 1;
        for process in 0..self.graph.processes() {
            if !node.enabled.iter().any(|enabled| enabled.mover() == Some(process)) {
                marks |= self.process_mark(process);
            }
        }
        marks & self.all_marks()
    }

    fn step_marks(&self, taken: Option<&Move>) -> u64 {
        let Some(taken) = taken else { return 0 };
        let marks = taken.movers().fold(0, |marks, (process, _)| marks | self.process_mark(process));
        marks & self.all_marks()
    }

    // Components.

    fn lasso(&self, product: &Product) -> Option<Lasso> {
        let all: Vec<usize> = (0..product.pairs.len()).collect();
        let component = self.accepting(product, &all)?;
        Some(self.through(product, &component))
    }

    /// A set of pairs that a run can go through for ever, all of them and all steps between them, and be accepted.
    fn accepting(&self, product: &Product, among: &[usize]) -> Option<Vec<usize>> {
        for component in components(product, among) {
            let inside: HashSet<usize> = component.iter().copied().collect();
            let mut steps = Vec::new();
            for &pair in &component {
                steps.extend(product.steps[pair].iter().filter(|step| inside.contains(&step.to)));
            }
            let marks = component.iter().fold(0, |marks, &pair| marks | product.marks[pair]);
            let marks = steps.iter().fold(marks, |marks, step| marks | step.marks);
            if steps.is_empty() || marks != self.all_marks() {
                continue;
            }
            if self.fairness != Fairness::Strong {
                return Some(component);
            }
            let taken: HashSet<Move> = steps.iter().filter_map(|step| step.taken.clone()).collect();
            let fair = |&pair: &usize| {
                let node = &self.graph.nodes[product.pairs[pair].0];
                node.enabled.iter().all(|enabled| taken.contains(enabled))
            };
            let rest: Vec<usize> = component.iter().copied().filter(fair).collect();
            if rest.len() == component.len() {
                return Some(component);
            }
            if let Some(found) = self.accepting(product, &rest) {
                return Some(found);
            }
        }
        None
    }

    // A run.

    /// A run that goes around the component so that it has every mark, and takes every action that occurs in it.
    fn through(&self, product: &Product, component: &[usize]) -> Lasso {
        let inside: HashSet<usize> = component.iter().copied().collect();
        let anchor = component[0];
        let mut path = Vec::new();
        let mut at = anchor;
        while let Some((from, step)) = product.parents[at] {
            path.push((from, step));
            at = from;
        }
        path.reverse();
        let (first, turn) = (product.pairs[at].0, path.len());
        let (mut at, mut marks, mut taken) = (anchor, product.marks[anchor], HashSet::new());
        for &pair in component {
            for (number, step) in product.steps[pair].iter().enumerate().filter(|(_, step)| inside.contains(&step.to)) {
                let there = step.marks | product.marks[pair] | product.marks[step.to];
                let new_action = self.fairness == Fairness::Strong && !taken.contains(&step.taken);
                if there & !marks == 0 && !new_action {
                    continue;
                }
                path.extend(way(product, &inside, at, pair));
                path.push((pair, number));
                at = step.to;
                marks |= there;
                taken.insert(step.taken.clone());
            }
        }
        path.extend(way(product, &inside, at, anchor));
        if path.len() == turn {
            let (number, step) = product.steps[anchor]
                .iter()
                .enumerate()
                .find(|(_, step)| inside.contains(&step.to))
                .expect("a component has a step");
            path.push((anchor, number));
            path.extend(way(product, &inside, step.to, anchor));
        }
        let step = |&(from, step): &(usize, usize)| {
            let step = &product.steps[from][step];
            (step.taken.clone(), product.pairs[step.to].0)
        };
        Lasso { first, steps: path.iter().map(step).collect(), turn }
    }
}

/// The strongly connected components of that part of the product.
fn components(product: &Product, among: &[usize]) -> Vec<Vec<usize>> {
    let inside: HashSet<usize> = among.iter().copied().collect();
    let mut backwards: HashMap<usize, Vec<usize>> = HashMap::new();
    for &pair in among {
        for step in product.steps[pair].iter().filter(|step| inside.contains(&step.to)) {
            backwards.entry(step.to).or_default().push(pair);
        }
    }
    let mut finished = Vec::new();
    let mut seen = HashSet::new();
    for &root in among {
        if !seen.insert(root) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((pair, step)) = stack.last_mut() {
            let Some(next) = product.steps[*pair].get(*step) else {
                finished.push(*pair);
                stack.pop();
                continue;
            };
            *step += 1;
            if inside.contains(&next.to) && seen.insert(next.to) {
                stack.push((next.to, 0));
            }
        }
    }
    let mut components = Vec::new();
    let mut assigned = HashSet::new();
    for &root in finished.iter().rev() {
        if !assigned.insert(root) {
            continue;
        }
        let mut component = vec![root];
        let mut at = 0;
        while at < component.len() {
            for &before in backwards.get(&component[at]).map_or(&[][..], Vec::as_slice) {
                if assigned.insert(before) {
                    component.push(before);
                }
            }
            at += 1;
        }
        components.push(component);
    }
    components
}

/// The shortest way from one pair to another without leaving the set, as pairs and the numbers of their steps.
fn way(product: &Product, inside: &HashSet<usize>, from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut parents: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(pair) = queue.pop_front() {
        if pair == to {
            break;
        }
        for (number, step) in product.steps[pair].iter().enumerate() {
            if inside.contains(&step.to) && step.to != from && !parents.contains_key(&step.to) {
                parents.insert(step.to, (pair, number));
                queue.push_back(step.to);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = to;
    while at != from {
        path.push(parents[&at]);
        at = parents[&at].0;
    }
    path.reverse();
    path
}
