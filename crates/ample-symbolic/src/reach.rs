//! The reachable states, by four methods.
//!
//! Breadth first, from the last layer or from all states so far; chaining, where each relation starts from what the ones
//! before it have found; saturation, which completes the diagram from the bottom up (Ciardo, Lüttgen, Siminiscu). Only
//! the first keeps layers, from which shortest runs are read.

use crate::diagram::{Bdd, Maybe};
use crate::sets::Sets;
use crate::space::Space;

/// How to find the reachable states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Layer by layer, each from the one before.
    Frontier,
    /// Layer by layer, each from all states so far.
    BreadthFirst,
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
        Method::Frontier | Method::BreadthFirst => layers(space, from, method == Method::BreadthFirst, effort, watch),
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

/// A run: where it starts, and the number of each action that it takes with the state after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run<State = Vec<bool>> {
    /// The first state.
    pub start: State,
    /// The actions, each with the state that it leads to.
    pub steps: Vec<(usize, State)>,
}

impl<State> Run<State> {
    /// Its last state.
    pub fn end(&self) -> &State {
        self.steps.last().map_or(&self.start, |(_, state)| state)
    }
}

/// A shortest run from one of these states to a goal, leaving only states of `within`.
///
/// Both ends search towards each other, layer by layer, whichever has the smaller diagram first.
pub fn run_to<S: Sets>(sets: &mut S, from: &S::Set, within: &S::Set, goal: &S::Set) -> Maybe<Option<Run<S::State>>> {
    let around = sets.union(within, goal)?;
    let mut forward = Side::new(sets, from)?;
    let mut backward = Side::new(sets, goal)?;
    loop {
        let met = sets.intersection(forward.last(), backward.last())?;
        if let Some(state) = sets.pick(&met)? {
            return walk(sets, &forward.layers, &backward.layers, within, state);
        }
        let is_forward = forward.nodes <= backward.nodes;
        let side = if is_forward { &mut forward } else { &mut backward };
        let new = if is_forward {
            let left = sets.intersection(side.last(), within)?;
            sets.post(&left, &around)?
        } else {
            sets.pre(side.last(), within)?
        };
        if !side.push(sets, &new)? {
            return Ok(None);
        }
    }
}

/// A shortest run of at least one step, within a set, from the state to the goal.
pub fn run_away<S: Sets>(
    sets: &mut S,
    from: &S::State,
    within: &S::Set,
    goal: &S::Set,
) -> Maybe<Option<Run<S::State>>> {
    let start = sets.only(from)?;
    let first = sets.post(&start, within)?;
    let goal = sets.intersection(goal, within)?;
    let Some(rest) = run_to(sets, &first, within, &goal)? else { return Ok(None) };
    preceded(sets, from, rest)
}

/// The run, with a step before it from that state.
pub fn preceded<S: Sets>(sets: &mut S, from: &S::State, rest: Run<S::State>) -> Maybe<Option<Run<S::State>>> {
    let after = sets.only(&rest.start)?;
    Ok(sets.step_into(from, &after)?.map(|step| {
        let mut steps = vec![step];
        steps.extend(rest.steps);
        Run { start: from.clone(), steps }
    }))
}

/// The layers of one side of a search.
struct Side<Set> {
    layers: Vec<Set>,
    all: Set,
    nodes: usize,
}

impl<Set: Clone> Side<Set> {
    fn new<S: Sets<Set = Set>>(sets: &mut S, first: &Set) -> Maybe<Side<Set>> {
        Ok(Side { layers: vec![first.clone()], all: first.clone(), nodes: sets.nodes(first)? })
    }

    fn last(&self) -> &Set {
        &self.layers[self.layers.len() - 1]
    }

    /// One more layer, without what was there before; false if nothing is left.
    fn push<S: Sets<Set = Set>>(&mut self, sets: &mut S, new: &Set) -> Maybe<bool> {
        let new = sets.minus(new, &self.all)?;
        self.all = sets.union(&self.all, &new)?;
        self.nodes = sets.nodes(&new)?;
        let is_empty = sets.is_empty(&new);
        self.layers.push(new);
        Ok(!is_empty)
    }
}

/// The run through the layers on both sides of a state in which they meet.
fn walk<S: Sets>(
    sets: &mut S,
    forward: &[S::Set],
    backward: &[S::Set],
    within: &S::Set,
    middle: S::State,
) -> Maybe<Option<Run<S::State>>> {
    let mut steps = Vec::new();
    let mut state = middle.clone();
    for layer in forward.iter().rev().skip(1) {
        // A layer may hold states outside of `within`, which are never left.
        let left = sets.intersection(layer, within)?;
        let Some((number, before)) = sets.step_from(&left, &state)? else { return Ok(None) };
        steps.push((number, std::mem::replace(&mut state, before)));
    }
    steps.reverse();
    let start = state;
    let mut state = middle;
    for layer in backward.iter().rev().skip(1) {
        let Some((number, after)) = sets.step_into(&state, layer)? else { return Ok(None) };
        steps.push((number, after.clone()));
        state = after;
    }
    Ok(Some(Run { start, steps }))
}
