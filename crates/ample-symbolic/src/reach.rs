//! The reachable states, in four ways.
//!
//! Breadth first, from the last layer or from all states so far; chaining, where each relation starts from what the ones
//! before it have found; saturation, which completes the diagram from the bottom up (Ciardo, Lüttgen, Siminiscu). Only
//! the first keeps layers, from which shortest runs are read.

use crate::diagram::{Bdd, Maybe};
use crate::space::Space;

/// How to find the reachable states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Layer by layer, each from the one before.
    Frontier,
    /// Layer by layer, each from all states so far.
    Whole,
    /// Relation by relation, each from all states so far.
    Chaining,
    /// From the bottom of the diagram up.
    #[default]
    Saturation,
}

/// After so many images, the states are not counted any more on the way.
const MAX_ROUNDS: usize = 100;

/// What was done and how large it was: the figures of the thesis's tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    /// Images taken, under all steps or under those of one process.
    pub posts: usize,
    /// The nodes of all frontiers together, and how many there were.
    pub frontier_nodes: usize,
    /// How many frontiers there were.
    pub frontiers: usize,
    /// The nodes of the largest frontier.
    pub max_frontier: usize,
    /// Of a search layer by layer: the states after each image, and the nodes of their set.
    pub rounds: Vec<(num_bigint::BigUint, usize)>,
}

impl Effort {
    /// Takes note of a frontier.
    pub fn note(&mut self, frontier: &Bdd) {
        let nodes = frontier.nodes();
        self.frontier_nodes += nodes;
        self.frontiers += 1;
        self.max_frontier = self.max_frontier.max(nodes);
    }

    /// Takes note of the states so far, as long as it is no work.
    fn round(&mut self, space: &Space, reached: &Bdd) -> Maybe<()> {
        if self.rounds.len() < MAX_ROUNDS {
            self.rounds.push((space.count(reached)?, reached.nodes()));
        }
        Ok(())
    }

    /// The nodes of a frontier on average.
    pub fn average_frontier(&self) -> usize {
        self.frontier_nodes / self.frontiers.max(1)
    }
}

/// Told after each layer: the states so far. Says whether to go on.
pub type Watch<'a> = &'a mut dyn FnMut(&Bdd) -> Maybe<bool>;

/// The states that can be reached from these, these among them.
pub fn reachable(space: &Space, from: &Bdd, method: Method, effort: &mut Effort, watch: Watch<'_>) -> Maybe<Bdd> {
    match method {
        Method::Frontier | Method::Whole => layers(space, from, method == Method::Whole, effort, watch),
        Method::Chaining => chained(space, from, effort, watch),
        Method::Saturation => from.saturated(&space.relations()),
    }
}

fn layers(space: &Space, from: &Bdd, whole: bool, effort: &mut Effort, watch: Watch<'_>) -> Maybe<Bdd> {
    let mut reached = from.clone();
    let mut frontier = from.clone();
    effort.round(space, &reached)?;
    while !frontier.is_false() {
        effort.note(&frontier);
        effort.posts += 1;
        let image = space.post(if whole { &reached } else { &frontier })?;
        frontier = image.minus(&reached)?;
        reached = reached.or(&frontier)?;
        effort.round(space, &reached)?;
        if !watch(&reached)? {
            break;
        }
    }
    Ok(reached)
}

fn chained(space: &Space, from: &Bdd, effort: &mut Effort, watch: Watch<'_>) -> Maybe<Bdd> {
    let mut reached = from.clone();
    loop {
        let before = reached.clone();
        for step in &space.steps {
            loop {
                let image = reached.image(&step.relation, step.written)?;
                let union = reached.or(&image)?;
                if union == reached {
                    break;
                }
                reached = union;
            }
        }
        effort.posts += 1;
        effort.note(&reached);
        if reached == before || !watch(&reached)? {
            return Ok(reached);
        }
    }
}

/// A run: where it starts, and the number of each step that it takes with the state after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The bits of the first state.
    pub start: Vec<bool>,
    /// The steps, each with the bits of the state that it leads to.
    pub steps: Vec<(usize, Vec<bool>)>,
}

impl Run {
    /// The bits of its last state.
    pub fn end(&self) -> &[bool] {
        self.steps.last().map_or(&self.start, |(_, state)| state)
    }
}

/// A shortest run from one of these states to a goal, leaving only states of `within`.
///
/// Both ends search towards each other, layer by layer, whichever has the smaller diagram first.
pub fn run_to(space: &Space, from: &Bdd, within: &Bdd, goal: &Bdd) -> Maybe<Option<Run>> {
    let mut forward = Side::new(from);
    let mut backward = Side::new(goal);
    loop {
        let met = forward.last().and(backward.last())?;
        if let Some(state) = met.pick() {
            // A layer forward may hold states outside of `within`, which are never left.
            let left = forward.layers.iter().map(|layer| layer.and(within)).collect::<Maybe<Vec<_>>>()?;
            return walk(space, &left, &backward.layers, state);
        }
        let is_forward = forward.last().nodes() <= backward.last().nodes();
        let new =
            if is_forward { space.post(&forward.last().and(within)?)? } else { space.pre(backward.last(), within)? };
        let side = if is_forward { &mut forward } else { &mut backward };
        if !side.push(&new)? {
            return Ok(None);
        }
    }
}

/// The layers of one side of a search.
struct Side {
    layers: Vec<Bdd>,
    all: Bdd,
}

impl Side {
    fn new(first: &Bdd) -> Side {
        Side { layers: vec![first.clone()], all: first.clone() }
    }

    fn last(&self) -> &Bdd {
        &self.layers[self.layers.len() - 1]
    }

    /// One more layer, without what was there before; false if nothing is left.
    fn push(&mut self, new: &Bdd) -> Maybe<bool> {
        let new = new.minus(&self.all)?;
        self.all = self.all.or(&new)?;
        self.layers.push(new.clone());
        Ok(!new.is_false())
    }
}

/// The run through the layers on both sides of a state in which they meet.
fn walk(space: &Space, forward: &[Bdd], backward: &[Bdd], middle: Vec<bool>) -> Maybe<Option<Run>> {
    let mut steps = Vec::new();
    let mut state = middle.clone();
    for layer in forward.iter().rev().skip(1) {
        let Some((number, before)) = step_back(space, layer, &state)? else { return Ok(None) };
        steps.push((number, std::mem::replace(&mut state, before)));
    }
    steps.reverse();
    let start = state;
    let mut state = middle;
    for layer in backward.iter().rev().skip(1) {
        let Some((number, after)) = step_into(space, &state, layer)? else { return Ok(None) };
        steps.push((number, after.clone()));
        state = after;
    }
    Ok(Some(Run { start, steps }))
}

/// A step from a state of the set to that state.
fn step_back(space: &Space, set: &Bdd, state: &[bool]) -> Maybe<Option<(usize, Vec<bool>)>> {
    let after = set.only(state)?;
    for (number, step) in space.steps.iter().enumerate() {
        if let Some(before) = space.preimage(&after, std::slice::from_ref(step), set)?.pick() {
            return Ok(Some((number, before)));
        }
    }
    Ok(None)
}

/// A step from that state into the set.
pub fn step_into(space: &Space, state: &[bool], set: &Bdd) -> Maybe<Option<(usize, Vec<bool>)>> {
    let before = set.only(state)?;
    for (number, step) in space.steps.iter().enumerate() {
        if let Some(after) = space.image(&before, std::slice::from_ref(step))?.and(set)?.pick() {
            return Ok(Some((number, after)));
        }
    }
    Ok(None)
}
