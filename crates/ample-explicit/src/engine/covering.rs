//! Runs that execute statements: for each of some edges a run that takes it, as few runs as a greedy choice gives.
//!
//! One breadth-first search finds a shortest path to each edge, and ends as soon as all are found. Then paths are taken for
//! runs, the longest first: those to edges that lie on them are not needed any more. An edge that a complete search does not
//! take is not executed in any run.

use std::collections::HashMap;

use ample_model::{Budget, EdgeId, Move, ProcessId, Progress, Reason, StartNumber, System};

use crate::compile::{Compiled, CompiledSystem, Transition};
use crate::liveness::Concurrent;
use crate::space::{Checked, StateSpace};
use crate::store::{ExactStore, FlatStore, Handle, Inserted, Store, Whole};

/// How many new states lie between two looks at the budget.
const REPORT_EVERY: usize = 64;

/// An edge of a process type.
pub type Statement = (ProcessId, EdgeId);

/// A run from an initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringRun {
    /// The initial state.
    pub start: StartNumber,
    /// Its moves.
    pub moves: Vec<Move>,
    /// Which of the wanted edges it takes, each with the number of the first step that does so, from 1.
    pub covers: Vec<(Statement, usize)>,
}

/// Runs that take edges.
#[derive(Clone, Debug, Default)]
pub struct Covering {
    /// The runs.
    pub runs: Vec<CoveringRun>,
    /// The edges that were not found.
    pub missing: Vec<Statement>,
    /// Why the search ended before all states were looked at, if edges are missing. Otherwise no run takes these.
    pub ended: Option<Reason>,
    /// How many states were found.
    pub states: usize,
}

/// A state that was found, and how.
struct Found {
    state: Handle,
    /// The state before it and the transition; or the number of an initial state.
    from: Result<(u32, Transition), usize>,
    depth: u32,
}

/// Runs of an interleaving system that take these edges.
///
/// ```
/// use ample_explicit::engine::covering::cover;
/// use ample_lang::promela::{self, preprocess::FileLoader};
/// use ample_model::ProcessId;
///
/// let text = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; assert(x > 0); if :: x == 3 -> x = 0 :: else fi }";
/// let system = promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap().system;
/// let wanted: Vec<_> = (0..system.processes[0].edges.len()).map(|edge| (ProcessId(0), edge.into())).collect();
/// let found = cover(&system, &wanted, &ample_budget::Budget::unlimited()).unwrap();
/// // One run for each of the first two alternatives; `x == 3` is never executable.
/// assert_eq!(found.runs.len(), 2);
/// assert!(found.missing.len() >= 2 && found.ended.is_none());
/// ```
pub fn cover(system: &System, wanted: &[Statement], budget: &Budget) -> Result<Covering, Reason> {
    let mut space = CompiledSystem::new(system, budget)?.space(&[], budget)?;
    let mut search =
        Search { found: Vec::new(), known: FlatStore::with_visible(Whole), first: HashMap::new(), missing: Vec::new() };
    search.missing = wanted.to_vec();
    search.missing.sort_unstable();
    search.missing.dedup();
    let ended = search.perform(&mut space, budget).err();
    let ended = ended.or_else(|| space.limit_reached()).filter(|_| !search.missing.is_empty());
    let mut paths: Vec<(Statement, (u32, Transition))> = search.first.iter().map(|(edge, at)| (*edge, *at)).collect();
    paths.sort_unstable_by_key(|(edge, (state, _))| (std::cmp::Reverse(search.found[*state as usize].depth), *edge));
    let mut open: Vec<Statement> = paths.iter().map(|(edge, _)| *edge).collect();
    let mut runs = Vec::new();
    for (edge, (state, transition)) in paths {
        if open.contains(&edge) {
            let run = search.run(&mut space, state, &transition, &open);
            open.retain(|edge| !run.covers.iter().any(|(covered, _)| covered == edge));
            runs.push(run);
        }
    }
    let states = search.found.len();
    Ok(Covering { runs, missing: search.missing, ended, states })
}

struct Search {
    found: Vec<Found>,
    known: FlatStore<(), Whole>,
    /// Where each edge was taken first.
    first: HashMap<Statement, (u32, Transition)>,
    missing: Vec<Statement>,
}

impl Search {
    fn perform(&mut self, space: &mut Compiled, budget: &Budget) -> Result<(), Reason> {
        let mut out = Vec::new();
        let mut number = 0;
        while space.initial(number, &mut out) {
            budget.check()?;
            if !space.is_dead() {
                self.add(&out, Err(number), 0)?;
            }
            number += 1;
        }
        let (mut next, mut state, mut edges) = (0, Vec::new(), Vec::new());
        while next < self.found.len() && !self.missing.is_empty() {
            if next.is_multiple_of(REPORT_EVERY) {
                let (states, depth) = (self.found.len() as u64, u64::from(self.found[next].depth));
                let pending = (self.found.len() - next) as u64;
                budget.report(&Progress { states, depth, pending, ..Progress::default() })?;
            }
            let depth = self.found[next].depth;
            state.clear();
            state.extend_from_slice(self.known.get(self.found[next].state));
            let mut transition = space.first(&state);
            while let Some(taken) = transition {
                space.target_with_edges(&state, &taken, &mut out, &mut edges);
                let is_dead = space.is_dead();
                for edge in &edges {
                    if let Ok(place) = self.missing.binary_search(edge) {
                        self.missing.remove(place);
                        self.first.insert(*edge, (next as u32, taken));
                    }
                }
                if !is_dead {
                    self.add(&out, Ok((next as u32, taken)), depth + 1)?;
                }
                transition = space.next(&state, &taken);
            }
            next += 1;
        }
        Ok(())
    }

    fn add(&mut self, state: &[u8], from: Result<(u32, Transition), usize>, depth: u32) -> Result<(), Reason> {
        match self.known.insert(state) {
            Inserted::New(state) => self.found.push(Found { state, from, depth }),
            Inserted::Seen(_) => {}
            Inserted::Full => return Err(Reason::Memory),
        }
        Ok(())
    }

    /// The path to a state and on by a transition, and which of the open edges it takes.
    fn run(&self, space: &mut Compiled, state: u32, last: &Transition, open: &[Statement]) -> CoveringRun {
        let mut path = vec![(state, *last)];
        let mut at = state;
        let start = loop {
            match &self.found[at as usize].from {
                Ok((before, transition)) => {
                    path.push((*before, *transition));
                    at = *before;
                }
                Err(number) => break *number,
            }
        };
        path.reverse();
        let (mut moves, mut covers) = (Vec::new(), Vec::new());
        let (mut out, mut edges) = (Vec::new(), Vec::new());
        for (number, transition) in path {
            let state = self.known.get(self.found[number as usize].state);
            space.target_with_edges(state, &transition, &mut out, &mut edges);
            let mut taken = edges.iter();
            for step in space.expand(state, &transition) {
                let edges = if matches!(step, Move::Handshake { .. }) { 2 } else { 1 };
                moves.push(step);
                let open = taken.by_ref().take(edges).filter(|edge| open.contains(edge));
                covers.extend(open.map(|edge| (*edge, moves.len())));
            }
        }
        covers.sort_unstable();
        covers.dedup_by_key(|(edge, _)| *edge);
        CoveringRun { start: space.start_number(start), moves, covers }
    }
}
