//! Never claims that change the state: performed beside the system, as Spin does it.
//!
//! Claim and system take turns. In a visible state the claim moves first, if it can, and the system goes on from the
//! state that the claim leaves behind; where the system is stuck, or a fault has stopped it, the claim moves alone. In
//! the product these are two steps, with a state between them: what is enabled there is what fairness asks about.

use crate::compile::{Compiled, Transition};
use crate::liveness::{
    self, Behind, Concurrent, GeneralisedBuchi, Lasso, MAX_STATES, Number, Processes, Stops, Tagged,
};
use crate::space::{Checked, StateSpace};
use crate::store::{ExactStore, FlatStore, Handle, Visible, Whole};
use ample_model::{Budget, EdgeId, Move, Reason, Statistics};

use super::liveness::{EmptinessResult, limits};
use super::options::Options;
use super::subject::Subject;
use super::{has_hidden_variables, room_for_the_store, start_of};
use ample_engine::temporal::claim::Acting;
use ample_model::evidence::{self, Ending};

/// Parts of the number in front of a state, beside the location of the claim: the run has stopped there, and the claim
/// has moved.
const STOPPED: u32 = 1 << 15;
const MOVED: u32 = 1 << 14;

/// No move of the claim.
const NONE: u32 = u32::MAX;

/// The claim has moved: a run that never leaves an atomic sequence lacks this mark.
const READ: u64 = 1 << 1;
const ACCEPTING: u64 = 1;

/// So many moves may follow each other in an atomic sequence of the claim.
const MAX_DEPTH: usize = 100;

/// Looks for a run that the claim accepts.
pub fn look_for(system: &Subject<'_>, claim: &Acting, options: &Options, budget: &Budget) -> EmptinessResult {
    // The end of the claim, a failed assertion and a fault have numbers of their own.
    if claim.locations.len() + 3 > MAX_STATES / 2 {
        return EmptinessResult::unsupported("the never claim has too many locations");
    }
    let space = match system.space(&claim.atoms, budget) {
        Ok(space) => space,
        Err(error) => return EmptinessResult::not_compiled(error),
    };
    let visible = space.visible();
    let mut product =
        Claimed { space, claim, known: (Vec::new(), Vec::new()), refused: None, stops: Stops::new(), calm: true };
    if has_hidden_variables(system) {
        search(&mut product, visible, options, budget)
    } else {
        search(&mut product, Whole, options, budget)
    }
}

fn search(product: &mut Claimed<'_>, visible: impl Visible, options: &Options, budget: &Budget) -> EmptinessResult {
    let room = room_for_the_store(budget);
    let mut store = FlatStore::<Number, _>::with_visible(Behind(visible)).limit(room);
    let report = liveness::components(product, &mut store, &limits(options), budget);
    let run = report.found.map(|lasso| product.run(&store, &lasso));
    let limit = product.space.limit_reached().or(product.refused.take().map(Reason::Unsupported));
    // What a limit has hidden may be the reason why the claim accepts.
    let run = run.filter(|_| limit.is_none() && !matches!(report.ended, Some(Reason::Unsupported(_))));
    let ended = limit.or(report.ended);
    // States before a move of the claim are transient like those inside of atomic sequences, but not what is meant there.
    let statistics = Statistics { atomic_states: 0, ..report.statistics };
    let stops = std::mem::take(&mut product.stops);
    EmptinessResult { run, ended, statistics, stops, ..EmptinessResult::default() }
}

/// A move of the claim in a state.
#[derive(Clone)]
struct ClaimMove {
    /// The edges that it takes.
    edges: Vec<EdgeId>,
    /// Where it stands then.
    to: u32,
    /// The state that it leaves behind.
    state: Vec<u8>,
}

/// A transition of the product: a move of the claim or of the system, or none where the system is stuck.
#[derive(Clone, Copy, Debug)]
struct Turn {
    claim_move: u32,
    base: Option<Transition>,
    marks: u64,
    ends: bool,
}

struct Claimed<'a> {
    space: Compiled,
    claim: &'a Acting,
    /// A state of the product, and what the claim can do there.
    known: (Vec<u8>, Vec<ClaimMove>),
    /// Why the claim could not be performed.
    refused: Option<String>,
    /// The faults that have stopped runs.
    stops: Stops,
    /// What was computed last was no move of the system.
    calm: bool,
}

impl Claimed<'_> {
    fn end(&self) -> u32 {
        self.claim.locations.len() as u32
    }

    /// Finds out what the claim can do in a state of the product; what decides comes first.
    fn learn(&mut self, state: &[u8]) {
        if self.known.0 == state && !state.is_empty() {
            return;
        }
        let location = <[u8]>::tag(state) & !STOPPED;
        let mut moves = Vec::new();
        self.collect(location, <[u8]>::plain(state), &mut Vec::new(), &mut moves);
        let end = self.end();
        moves.sort_by_key(|claim_move| claim_move.to < end);
        self.known = (state.to_vec(), moves);
    }

    fn collect(&mut self, location: u32, state: &[u8], path: &mut Vec<EdgeId>, moves: &mut Vec<ClaimMove>) {
        if path.len() > MAX_DEPTH {
            self.refused = Some("an atomic sequence of the never claim may go on without end".into());
            return;
        }
        let claim = self.claim;
        let Some(from) = claim.locations.get(location as usize).filter(|from| !from.end) else {
            return moves.push(ClaimMove { edges: Vec::new(), to: self.end(), state: state.to_vec() });
        };
        for edge in &from.edges {
            let mut after = state.to_vec();
            let performed = match self.space.evaluate(edge.guard as usize, state) {
                Ok(0) => continue,
                // What is a fault in the guard of another edge is met there.
                Err(_) if edge.is_else => continue,
                Err(_) => None,
                Ok(_) if edge.acts => self.space.perform(claim.id, edge.id, state, &mut after).ok(),
                Ok(_) => Some(true),
            };
            path.push(edge.id);
            if performed != Some(true) {
                let to = self.end() + if performed.is_none() { 2 } else { 1 };
                moves.push(ClaimMove { edges: path.clone(), to, state: state.to_vec() });
            } else if claim.locations[edge.to as usize].end {
                moves.push(ClaimMove { edges: path.clone(), to: self.end(), state: after });
            } else if edge.keeps_control {
                self.collect(edge.to, &after, path, moves);
            } else {
                moves.push(ClaimMove { edges: path.clone(), to: edge.to, state: after });
            }
            path.pop();
        }
    }

    /// The turn of the claim by that move out of a state it has [learnt](Self::learn) about.
    fn turn(&mut self, state: &[u8], claim_move: u32) -> Option<Turn> {
        let to = self.known.1.get(claim_move as usize)?.to;
        let location = (<[u8]>::tag(state) & !STOPPED) as usize;
        let accepts = self.claim.locations.get(location).is_some_and(|from| from.accept)
            || self.claim.accepting.is_some_and(|atom| self.space.invariant(atom as usize, <[u8]>::plain(state)));
        let marks = READ | if accepts { ACCEPTING } else { 0 };
        Some(Turn { claim_move, base: None, marks, ends: to >= self.end() })
    }

    fn run(&mut self, store: &impl ExactStore<[u8]>, lasso: &Lasso<Turn>) -> evidence::Lasso {
        let first = lasso.prefix.first().map_or(lasso.end, |(state, _)| *state);
        let start = (start_of(self, store, Some(first)) as u64).into();
        let mut prefix = self.moves(store, &lasso.prefix);
        let cycle = self.moves(store, &lasso.cycle);
        if lasso.cycle.is_empty() {
            self.learn(store.get(lasso.end));
            prefix.extend(self.moves_of_claim(0));
        }
        let ending = if lasso.cycle.is_empty() { Ending::Open } else { Ending::Cycle };
        evidence::Lasso { start, prefix, cycle, ending, prefix_tags: Vec::new(), cycle_tags: Vec::new() }
    }

    fn moves(&mut self, store: &impl ExactStore<[u8]>, steps: &[(Handle, Turn)]) -> Vec<Move> {
        let mut moves = Vec::new();
        for (state, turn) in steps {
            let state = store.get(*state);
            match &turn.base {
                Some(base) => moves.extend(self.space.actions(<[u8]>::plain(state), base)),
                None if turn.claim_move != NONE => {
                    self.learn(state);
                    moves.extend(self.moves_of_claim(turn.claim_move));
                }
                None => {}
            }
        }
        moves
    }

    fn moves_of_claim(&self, claim_move: u32) -> Vec<Move> {
        let edges = self.known.1.get(claim_move as usize).map_or(&[][..], |one| &one.edges);
        edges.iter().map(|edge| Move::Claim { claim: self.claim.id, edge: *edge }).collect()
    }
}

fn system_turn(base: Option<Transition>) -> Turn {
    Turn { claim_move: NONE, base, marks: 0, ends: false }
}

impl StateSpace for Claimed<'_> {
    type State = [u8];
    type Transition = Turn;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.calm = false;
        let mut state = Vec::new();
        let there = self.space.initial(index, &mut state);
        if there {
            <[u8] as Tagged>::join(self.claim.initial, &state, out);
        }
        there
    }

    fn first(&mut self, state: &[u8]) -> Option<Turn> {
        let (tag, plain) = (<[u8]>::tag(state), <[u8]>::plain(state));
        if tag & MOVED != 0 {
            let base = if tag & STOPPED != 0 { None } else { self.space.first(plain) };
            return Some(system_turn(base));
        }
        if tag & STOPPED == 0 && self.space.is_transient(plain) {
            return self.space.first(plain).map(|base| system_turn(Some(base)));
        }
        self.learn(state);
        self.turn(state, 0)
    }

    fn next(&mut self, state: &[u8], last: &Turn) -> Option<Turn> {
        if last.claim_move != NONE {
            self.learn(state);
            return self.turn(state, last.claim_move + 1);
        }
        self.space.next(<[u8]>::plain(state), last.base.as_ref()?).map(|base| system_turn(Some(base)))
    }

    fn target(&mut self, state: &[u8], turn: &Turn, out: &mut Vec<u8>) {
        let (tag, plain) = (<[u8]>::tag(state), <[u8]>::plain(state));
        let (stopped, location) = (tag & STOPPED, tag & !(STOPPED | MOVED));
        self.calm = turn.base.is_none();
        if turn.claim_move != NONE {
            self.learn(state);
            let moved = &self.known.1[turn.claim_move as usize];
            return <[u8] as Tagged>::join(moved.to | MOVED | stopped, &moved.state, out);
        }
        let Some(base) = &turn.base else { return <[u8] as Tagged>::join(location | stopped, plain, out) };
        let mut after = Vec::new();
        self.space.target(plain, base, &mut after);
        if !self.space.is_dead() {
            return <[u8] as Tagged>::join(location, &after, out);
        }
        let violation = || self.space.violation().unwrap_or_default();
        self.stops.entry(self.space.culprit()).or_insert_with(violation);
        self.space.stopped(plain, base, &mut after);
        <[u8] as Tagged>::join(location | STOPPED, &after, out);
        self.calm = true;
    }
}

impl Checked for Claimed<'_> {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.space.is_valid_end(<[u8]>::plain(state))
    }

    fn violation(&self) -> Option<String> {
        if self.calm { None } else { self.space.violation() }
    }

    /// Only an initial state: a fault later on leads to a state that has stopped.
    fn is_dead(&self) -> bool {
        !self.calm && self.space.is_dead()
    }

    /// The states between the two moves are those that count.
    fn is_transient(&self, state: &[u8]) -> bool {
        <[u8]>::tag(state) & MOVED == 0
    }

    fn atomic_steps(&self) -> u32 {
        if self.calm { 0 } else { self.space.atomic_steps() }
    }

    fn invariant(&mut self, _: usize, _: &[u8]) -> bool {
        true
    }
}

impl GeneralisedBuchi for Claimed<'_> {
    fn all_marks(&self) -> u64 {
        READ | ACCEPTING
    }

    fn marks(&self, turn: &Turn) -> u64 {
        turn.marks
    }

    /// The claim is violated as soon as it comes to its end, whatever follows.
    fn is_universal(&mut self, _: &[u8], turn: &Turn) -> bool {
        turn.ends
    }

    fn is_stutter(&self, turn: &Turn) -> bool {
        turn.claim_move == NONE && turn.base.is_none()
    }
}

impl Concurrent for Claimed<'_> {
    fn mover(&self, turn: &Turn) -> Option<u32> {
        self.space.mover(turn.base.as_ref()?)
    }

    fn participants(&self) -> Processes {
        if self.calm { Processes::NONE } else { self.space.participants() }
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    /// The claim is no process: fairness asks nothing of it.
    fn actions(&mut self, state: &[u8], turn: &Turn) -> Vec<Move> {
        match &turn.base {
            Some(base) => self.space.actions(<[u8]>::plain(state), base),
            None => Vec::new(),
        }
    }
}
