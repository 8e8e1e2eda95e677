//! The product of a graph with an automaton, and whether it has an accepting run.
//!
//! A letter is the label of an aggregate with the action of the arc that leaves it. A run that ends in an aggregate, or
//! stays in it for ever, goes on with letters that have the label and no action; it never leaves again, so that what is
//! accepted is exactly a collapsed word of some maximal run.
//!
//! Emptiness is decided by strongly connected components as they are found, depth first (Couvreur 1999; Geldenhuys and
//! Valmari 2005), so that a violation is seen long before the graph is complete.

use std::collections::{HashMap, VecDeque};

use ample_logic::Automaton;

use crate::model::Maybe;
use crate::observed::Label;

/// Where an aggregate leads.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// Which atoms hold.
    pub label: Label,
    /// A run may end in it, or stay in it for ever.
    pub may_stay: bool,
    /// The arcs.
    pub arcs: Vec<(Option<usize>, usize)>,
}

/// A graph that is asked for what it needs to tell.
pub trait Source {
    /// Where runs begin.
    fn initial(&mut self) -> Maybe<Vec<usize>>;

    /// Where an aggregate leads.
    fn moves(&mut self, aggregate: usize) -> Maybe<Moves>;
}

/// One step of a run through the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The action, or τ.
    pub action: Option<usize>,
    /// The aggregate after it.
    pub to: usize,
}

/// A run through the graph that the automaton accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Where it begins.
    pub start: usize,
    /// The steps before the cycle.
    pub prefix: Vec<Hop>,
    /// The steps of the cycle; none if the run ends in the last aggregate or stays there.
    pub cycle: Vec<Hop>,
}

impl Loop {
    /// The same run where actions have other numbers; `None` if one has none.
    pub fn renumbered(&self, number: &dyn Fn(usize) -> Option<usize>) -> Option<Loop> {
        let hop = |hop: &Hop| {
            let action = match hop.action {
                Some(action) => Some(number(action)?),
                None => None,
            };
            Some(Hop { action, to: hop.to })
        };
        let hops = |hops: &[Hop]| hops.iter().map(hop).collect::<Option<Vec<Hop>>>();
        Some(Loop { start: self.start, prefix: hops(&self.prefix)?, cycle: hops(&self.cycle)? })
    }
}

/// How large the product got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProductSize {
    /// States.
    pub states: usize,
    /// Transitions.
    pub transitions: usize,
}

/// An aggregate, a state of the automaton, and whether the run stays in the aggregate for ever.
type State = (usize, usize, bool);

#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    marks: u32,
    hop: Option<Hop>,
}

/// Letters for an automaton: which of its atoms hold.
pub type Letters<'a> = &'a dyn Fn(Label, Option<usize>) -> u64;

/// An accepting run, if there is one.
pub fn accepted(
    source: &mut dyn Source,
    automaton: &Automaton,
    letters: Letters<'_>,
    look: &mut dyn FnMut() -> Maybe<()>,
) -> Maybe<(Option<Loop>, ProductSize)> {
    let mut search = Search {
        source,
        automaton,
        letters,
        numbers: HashMap::new(),
        states: Vec::new(),
        edges: Vec::new(),
        order: Vec::new(),
        is_live: Vec::new(),
        roots: Vec::new(),
        live: Vec::new(),
        visited: 0,
    };
    let mut found = None;
    for aggregate in search.source.initial()? {
        let root = search.number((aggregate, automaton.initial, false));
        if search.order[root as usize] == 0
            && let Some(inside) = search.explore(root, look)?
        {
            found = search.lasso(root, &inside);
            break;
        }
    }
    let transitions = search.edges.iter().flatten().map(Vec::len).sum();
    Ok((found, ProductSize { states: search.visited as usize, transitions }))
}

struct Search<'s, 'a> {
    source: &'s mut dyn Source,
    automaton: &'a Automaton,
    letters: Letters<'a>,
    numbers: HashMap<State, u32>,
    states: Vec<State>,
    edges: Vec<Option<Vec<Edge>>>,
    /// When a state was visited, from 1 on; 0 if it was not.
    order: Vec<u32>,
    /// It is in a component that is not yet closed.
    is_live: Vec<bool>,
    /// The first state of each open component, the marks inside it, and those of the edge that led to it.
    roots: Vec<(u32, u32, u32)>,
    /// The states of all open components.
    live: Vec<u32>,
    visited: u32,
}

impl Search<'_, '_> {
    fn number(&mut self, state: State) -> u32 {
        let next = self.states.len() as u32;
        let number = *self.numbers.entry(state).or_insert(next);
        if number == next {
            self.states.push(state);
            self.edges.push(None);
            self.order.push(0);
            self.is_live.push(false);
        }
        number
    }

    fn expand(&mut self, number: u32) -> Maybe<()> {
        let (aggregate, from, stays) = self.states[number as usize];
        let moves = self.source.moves(aggregate)?;
        let mut edges = Vec::new();
        let automaton = self.automaton;
        let mut take = |search: &mut Self, letter: u64, to: usize, stays: bool, hop: Option<Hop>| {
            for edge in automaton.successors(from).iter().filter(|e| e.label.iter().any(|c| c.matches(letter))) {
                let to = search.number((to, edge.to, stays));
                edges.push(Edge { to, marks: edge.marks, hop });
            }
        };
        if moves.may_stay {
            take(self, (self.letters)(moves.label, None), aggregate, true, None);
        }
        if !stays {
            for (action, to) in moves.arcs {
                let letter = (self.letters)(moves.label, action);
                take(self, letter, to, false, Some(Hop { action, to }));
            }
        }
        self.edges[number as usize] = Some(edges);
        Ok(())
    }

    fn visit(&mut self, number: u32, marks: u32) -> Maybe<()> {
        self.visited += 1;
        self.order[number as usize] = self.visited;
        self.is_live[number as usize] = true;
        self.live.push(number);
        self.roots.push((number, 0, marks));
        self.expand(number)
    }

    /// The states of an open component with all marks, if one is found.
    fn explore(&mut self, root: u32, look: &mut dyn FnMut() -> Maybe<()>) -> Maybe<Option<Vec<u32>>> {
        self.visit(root, 0)?;
        let mut path = vec![(root, 0usize)];
        while let Some((at, next)) = path.last_mut() {
            let number = *at;
            let edge = self.edges[number as usize].as_ref().and_then(|edges| edges.get(*next)).copied();
            *next += 1;
            let Some(edge) = edge else {
                path.pop();
                self.close(number);
                continue;
            };
            if self.order[edge.to as usize] == 0 {
                look()?;
                self.visit(edge.to, edge.marks)?;
                path.push((edge.to, 0));
            } else if self.is_live[edge.to as usize] && self.merge(edge) {
                let first = self.roots[self.roots.len() - 1].0;
                let from = self.live.iter().position(|live| *live == first).unwrap_or(0);
                return Ok(Some(self.live[from..].to_vec()));
            }
        }
        Ok(None)
    }

    /// An edge back: all components since then are one. True if it has all marks.
    fn merge(&mut self, edge: Edge) -> bool {
        let mut marks = edge.marks;
        while let Some((first, inside, before)) = self.roots.pop() {
            marks |= inside;
            if self.order[first as usize] <= self.order[edge.to as usize] {
                self.roots.push((first, marks, before));
                break;
            }
            marks |= before;
        }
        marks == self.automaton.all_marks()
    }

    /// A state is left for good: if it is the first of its component, so is the component.
    fn close(&mut self, number: u32) {
        if self.roots.last().is_none_or(|(first, ..)| *first != number) {
            return;
        }
        self.roots.pop();
        while let Some(live) = self.live.pop() {
            self.is_live[live as usize] = false;
            if live == number {
                break;
            }
        }
    }

    /// A lasso to the component and around it with all marks.
    fn lasso(&self, root: u32, inside: &[u32]) -> Option<Loop> {
        let mut is_inside = vec![false; self.states.len()];
        inside.iter().for_each(|number| is_inside[*number as usize] = true);
        let (prefix, start) = if is_inside[root as usize] {
            (Vec::new(), root)
        } else {
            self.path(root, &|_| true, &|edge| is_inside[edge.to as usize])?
        };
        let all = self.automaton.all_marks();
        let (mut cycle, mut at, mut seen) = (Vec::new(), start, 0);
        let stay_inside = |edge: &Edge| is_inside[edge.to as usize];
        while seen != all || at != start || cycle.is_empty() {
            let is_done = seen == all;
            let wanted = |edge: &Edge| if is_done { edge.to == start } else { edge.marks & !seen != 0 };
            let (edges, to) = self.path(at, &stay_inside, &wanted)?;
            seen |= edges.iter().fold(0, |marks, edge| marks | edge.marks);
            cycle.extend(edges);
            at = to;
        }
        let hops = |edges: Vec<Edge>| edges.into_iter().filter_map(|edge| edge.hop).collect();
        Some(Loop { start: self.states[root as usize].0, prefix: hops(prefix), cycle: hops(cycle) })
    }

    /// A shortest path over allowed edges of expanded states whose last edge is wanted.
    fn path(
        &self,
        from: u32,
        allowed: &dyn Fn(&Edge) -> bool,
        wanted: &dyn Fn(&Edge) -> bool,
    ) -> Option<(Vec<Edge>, u32)> {
        let mut parents: HashMap<u32, (u32, Edge)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for edge in self.edges[at as usize].iter().flatten().filter(|edge| allowed(edge)) {
                if wanted(edge) {
                    let mut path = vec![*edge];
                    let mut at = at;
                    while at != from {
                        let (before, edge) = parents[&at];
                        path.push(edge);
                        at = before;
                    }
                    path.reverse();
                    return Some((path, edge.to));
                }
                if edge.to != from && !parents.contains_key(&edge.to) {
                    parents.insert(edge.to, (at, *edge));
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }
}
