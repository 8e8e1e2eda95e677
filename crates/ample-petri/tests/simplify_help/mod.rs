//! State graphs of small nets by plain enumeration, and what it means that two of them are equivalent.
//!
//! Each test uses a part of it.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use ample_petri::net::{Net, Place, Transition};
use ample_random::Random;

pub fn place(name: impl ToString, initial: u64) -> Place {
    Place { name: name.to_string(), initial, bound: None }
}

pub fn transition(name: impl ToString, takes: &[(u32, u64)], adds: &[(u32, u64)]) -> Transition {
    let sorted = |arcs: &[(u32, u64)]| {
        let sum: BTreeMap<u32, u64> = arcs.iter().copied().collect();
        sum.into_iter().collect()
    };
    Transition { name: name.to_string(), takes: sorted(takes), adds: sorted(adds) }
}

/// A random net. Seeds differ in size and in how many weights, choices and meetings there are.
pub fn random_net(random: &mut Random) -> Net {
    let places = 2 + random.below(7);
    let transitions = 1 + random.below(9);
    let heavy = random.below(3) * 15;
    // Nets in which each transition adds as much as it takes go on longest.
    let (is_even, wide, ends) = (random.percent(60), random.below(3) * 20, random.below(3) * 7);
    let marked = 20 + random.below(3) * 20;
    let side = |random: &mut Random| {
        let mut arcs = Vec::new();
        let mut count = u64::from(!random.percent(ends));
        while count > 0 && count < 3 && random.percent(wide) {
            count += 1;
        }
        for _ in 0..count {
            let tokens = if random.percent(heavy) { 2 + random.below(2) } else { 1 };
            arcs.push((random.below(places) as u32, tokens));
        }
        arcs
    };
    let mut net = Net::default();
    for number in 0..places {
        let initial = if random.percent(marked) { 1 + random.below(3) } else { 0 };
        net.places.push(place(format!("p{number}"), initial));
    }
    for number in 0..transitions {
        let (mut takes, mut adds) = (side(random), side(random));
        if is_even {
            adds = takes.iter().map(|(_, tokens)| (random.below(places) as u32, *tokens)).collect();
        }
        // Variants of others: copies with one more arc or another place, so that rules about pairs have work.
        if number > 0 && random.percent(20) {
            let other = &net.transitions[random.below(number) as usize];
            (takes, adds) = (other.takes.clone(), other.adds.clone());
            match random.below(3) {
                0 => {
                    let read = random.below(places) as u32;
                    takes.push((read, 1));
                    adds.push((read, 1));
                }
                1 if !takes.is_empty() => takes[0].0 = random.below(places) as u32,
                _ if !adds.is_empty() => adds[0].0 = random.below(places) as u32,
                _ => {}
            }
        }
        net.transitions.push(transition(format!("t{number}"), &takes, &adds));
    }
    net
}

/// Reachable markings, breadth first.
pub struct Graph {
    pub markings: Vec<Vec<u64>>,
    pub next: Vec<Vec<usize>>,
    /// For each marking but the first where it was found first, and by which transition.
    pub parents: Vec<(usize, u32)>,
    /// All were found.
    pub complete: bool,
}

impl Graph {
    pub fn of(net: &Net, most: usize) -> Graph {
        let mut graph =
            Graph { markings: vec![net.initial()], next: Vec::new(), parents: vec![(0, 0)], complete: true };
        let mut numbers = HashMap::from([(net.initial(), 0)]);
        while graph.next.len() < graph.markings.len() {
            let at = graph.next.len();
            let mut next = BTreeSet::new();
            for (transition, arcs) in net.transitions.iter().enumerate() {
                if !arcs.is_enabled(&graph.markings[at]) {
                    continue;
                }
                let after = arcs.fire(&graph.markings[at]).unwrap();
                let number = *numbers.entry(after.clone()).or_insert(graph.markings.len());
                if number == graph.markings.len() {
                    graph.markings.push(after);
                    graph.parents.push((at, transition as u32));
                }
                next.insert(number);
            }
            graph.next.push(next.into_iter().collect());
            if graph.markings.len() > most {
                graph.complete = false;
                break;
            }
        }
        graph
    }

    pub fn path(&self, mut to: usize) -> Vec<u32> {
        let mut run = Vec::new();
        while to != 0 {
            run.push(self.parents[to].1);
            to = self.parents[to].0;
        }
        run.reverse();
        run
    }

    pub fn is_dead(&self, at: usize) -> bool {
        self.next.get(at).is_some_and(Vec::is_empty)
    }

    /// The number of pairs of markings that follow each other.
    pub fn edges(&self) -> usize {
        self.next.iter().map(Vec::len).sum()
    }
}

/// Two complete graphs as one with labels: what the places have that are seen. The second one begins at `second`.
pub struct Pair {
    pub labels: Vec<u32>,
    pub next: Vec<Vec<usize>>,
    pub second: usize,
}

impl Pair {
    /// `seen`: for each seen place its number in both nets.
    pub fn of(first: &Graph, other: &Graph, seen: &[(u32, u32)]) -> Pair {
        let mut numbers: HashMap<Vec<u64>, u32> = HashMap::new();
        let mut pair = Pair { labels: Vec::new(), next: Vec::new(), second: first.markings.len() };
        for (graph, offset, is_first) in [(first, 0, true), (other, pair.second, false)] {
            for (marking, next) in graph.markings.iter().zip(&graph.next) {
                let tokens = |(old, new): &(u32, u32)| marking[*(if is_first { old } else { new }) as usize];
                let label: Vec<u64> = seen.iter().map(tokens).collect();
                let number = numbers.len() as u32;
                pair.labels.push(*numbers.entry(label).or_insert(number));
                pair.next.push(next.iter().map(|to| to + offset).collect());
            }
        }
        pair
    }

    /// The states from which one can get to a cycle, or to a dead state, on the way having always the same class.
    fn ends(&self, class: &[u32]) -> Vec<(bool, bool)> {
        let count = self.next.len();
        let same = |from: usize| self.next[from].iter().copied().filter(move |to| class[from] == class[*to]);
        // Those that cannot go on forever are peeled off.
        let mut left: Vec<usize> = (0..count).map(|from| same(from).count()).collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
        for from in 0..count {
            for to in same(from) {
                before[to].push(from);
            }
        }
        let mut open: Vec<usize> = (0..count).filter(|state| left[*state] == 0).collect();
        let mut endless = vec![true; count];
        while let Some(state) = open.pop() {
            endless[state] = false;
            for from in &before[state] {
                left[*from] -= 1;
                if left[*from] == 0 {
                    open.push(*from);
                }
            }
        }
        let mut dead = vec![false; count];
        let mut open: Vec<usize> = (0..count).filter(|state| self.next[*state].is_empty()).collect();
        while let Some(state) = open.pop() {
            if !std::mem::replace(&mut dead[state], true) {
                open.extend(&before[state]);
            }
        }
        endless.into_iter().zip(dead).collect()
    }

    /// The states that can be reached with the same class all the way.
    fn closure(&self, from: &BTreeSet<usize>, class: &[u32]) -> BTreeSet<usize> {
        let mut found = from.clone();
        let mut open: Vec<usize> = from.iter().copied().collect();
        while let Some(state) = open.pop() {
            for to in &self.next[state] {
                if class[*to] == class[state] && found.insert(*to) {
                    open.push(*to);
                }
            }
        }
        found
    }

    /// Both have the same maximal runs up to stuttering: the same sequences of labels, after which they can stop for
    /// good or go on unseen in the same cases. (With finitely many states endless sequences follow.)
    pub fn same_runs(&self) -> bool {
        if self.labels[0] != self.labels[self.second] {
            return false;
        }
        let ends = self.ends(&self.labels);
        let begin = |state| self.closure(&BTreeSet::from([state]), &self.labels);
        let start = (begin(0), begin(self.second));
        let mut known = BTreeSet::from([start.clone()]);
        let mut open = VecDeque::from([start]);
        while let Some((left, right)) = open.pop_front() {
            let end = |states: &BTreeSet<usize>| {
                states.iter().fold((false, false), |end, state| (end.0 | ends[*state].0, end.1 | ends[*state].1))
            };
            if end(&left) != end(&right) {
                return false;
            }
            let (left, right) = (self.labelled_steps(&left), self.labelled_steps(&right));
            if !left.keys().eq(right.keys()) {
                return false;
            }
            for pair in left.into_values().zip(right.into_values()) {
                if known.insert(pair.clone()) {
                    open.push_back(pair);
                }
            }
        }
        true
    }

    fn labelled_steps(&self, states: &BTreeSet<usize>) -> BTreeMap<u32, BTreeSet<usize>> {
        let mut steps: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
        for state in states {
            for to in &self.next[*state] {
                if self.labels[*to] != self.labels[*state] {
                    steps.entry(self.labels[*to]).or_default().insert(*to);
                }
            }
        }
        steps.into_iter().map(|(label, states)| (label, self.closure(&states, &self.labels))).collect()
    }

    /// Both begin in states that are equivalent in the sense of branching bisimulation that respects divergence and
    /// dead states: the coarsest such partition, refined until it is stable.
    pub fn bisimilar(&self) -> bool {
        let mut class = self.labels.clone();
        loop {
            let ends = self.ends(&class);
            let mut numbers: HashMap<(u32, bool, bool, BTreeSet<u32>), u32> = HashMap::new();
            let mut refined = Vec::with_capacity(class.len());
            for state in 0..class.len() {
                let around = self.closure(&BTreeSet::from([state]), &class);
                let leaves = around.iter().flat_map(|from| self.next[*from].iter().map(|to| class[*to]));
                let leaves: BTreeSet<u32> = leaves.filter(|to| *to != class[state]).collect();
                let number = numbers.len() as u32;
                let signature = (class[state], ends[state].0, ends[state].1, leaves);
                refined.push(*numbers.entry(signature).or_insert(number));
            }
            let count = |class: &[u32]| class.iter().collect::<BTreeSet<_>>().len();
            if count(&refined) == count(&class) {
                return class[0] == class[self.second];
            }
            class = refined;
        }
    }
}
