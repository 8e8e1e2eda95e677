//! Evidence about a reduced system, expanded into steps of the system that it was made from.
//!
//! Every edge of a reduced system knows the edges that it stands for. Which process type a process has, and so which edge
//! a move means, depends on the state: both systems are performed side by side.

use std::collections::HashMap;
use std::ops::Range;

use ample_model::{
    EdgeId, Evidence, Fault, Interpreter, Lasso, Move, Original, ProcessId, Run, StartNumber, State, System, Tree,
};

use super::{Invalid, Patience, refuted};

/// A cycle is repeated until the original system is in the same state again, because variables that are dead may have other
/// values at first; but not more often than that if it gets longer than [`MAX_MOVES`].
const MAX_TURNS: usize = 8;
/// So many moves.
const MAX_MOVES: usize = 4096;

/// The evidence as steps of the original system.
pub(super) fn expanded(
    reduced: &System,
    original: &Original,
    evidence: &Evidence,
    patience: &mut Patience<'_>,
) -> Result<Evidence, Invalid> {
    let unsliced = original.without_sliced();
    let mut expansion = Expansion {
        reduced: Interpreter::new(reduced),
        original: Interpreter::new(&original.system),
        unsliced: Interpreter::new(&unsliced),
        essential: original.essential.as_ref().map(Interpreter::new),
        removed: &original.removed,
        patience,
        steps: 0,
    };
    match evidence {
        Evidence::Run(run) => {
            let mut at = expansion.start(&run.start)?;
            let moves = expansion.moves(&mut at, &run.moves)?.concat();
            Ok(Evidence::Run(Run { start: run.start.clone(), moves }))
        }
        Evidence::Lasso(lasso) => expansion.lasso(lasso).map(Evidence::Lasso),
        Evidence::Tree(start, tree) => {
            let at = expansion.start(start)?;
            Ok(Evidence::Tree(start.clone(), expansion.tree(&at, tree)?))
        }
    }
}

struct Expansion<'a, 'b> {
    reduced: Interpreter<'a>,
    original: Interpreter<'a>,
    /// The original, without regard to variables that nothing depends on.
    unsliced: Interpreter<'a>,
    /// The original, without anything that nothing depends on.
    essential: Option<Interpreter<'a>>,
    /// The process types that move without effect, or stand at their end.
    removed: &'a [ProcessId],
    patience: &'a mut Patience<'b>,
    steps: usize,
}

/// Where the systems are; nowhere after a fault.
#[derive(Clone)]
struct At {
    reduced: Option<State>,
    original: Option<State>,
    essential: Option<State>,
}

impl Expansion<'_, '_> {
    fn start(&self, start: &StartNumber) -> Result<At, Invalid> {
        let first = |interpreter: &Interpreter<'_>| interpreter.initial_state(start).and_then(Result::ok);
        let essential = self.essential.as_ref().and_then(first);
        Ok(At { reduced: first(&self.reduced), original: first(&self.original), essential })
    }

    /// By move of the reduced system: the moves of the original. Nothing comes after a fault.
    fn moves(&mut self, at: &mut At, moves: &[Move]) -> Result<Vec<Vec<Move>>, Invalid> {
        moves.iter().map(|taken| self.one(at, taken)).collect()
    }

    fn one(&mut self, at: &mut At, taken: &Move) -> Result<Vec<Move>, Invalid> {
        self.steps += 1;
        self.patience.ask(self.steps)?;
        let mut performed = self.moves_to_ends(at)?;
        let Some(state) = &at.reduced else { return refuted("a run goes on after a fault".into()) };
        let expanded = match self.any_move(at, taken) {
            Some(any) => vec![any],
            None => self.edges(state, taken)?,
        };
        let successor = self.reduced.step(state, taken);
        if successor.violations.contains(&Fault::NotEnabled) {
            return refuted(format!("step {} of the reduced system is not executable", self.steps));
        }
        at.reduced = successor.state;
        for step in expanded {
            if !self.perform(at, &step) {
                break;
            }
            performed.push(step);
        }
        Ok(performed)
    }

    /// Takes a step of the original; false after a fault.
    fn perform(&self, at: &mut At, step: &Move) -> bool {
        let Some(state) = &at.original else { return false };
        at.original = self.original.step(state, step).state;
        if let (Some(essential), Some(state)) = (&self.essential, &at.essential) {
            at.essential = essential.step(state, step).state;
        }
        true
    }

    /// The first step that a process can take by itself.
    fn first_move(&self, state: &State, id: u32) -> Option<Move> {
        let is_own = |taken: &Move| matches!(taken, Move::Process { process, .. } if *process == id);
        self.original.enabled(state).into_iter().find(is_own)
    }

    /// Any step of a process that moves without effect in the reduced system.
    fn any_move(&self, at: &At, taken: &Move) -> Option<Move> {
        let Move::Process { process, edge } = taken else { return None };
        let ty = at.reduced.as_ref()?.processes.get(*process as usize)?.process;
        let ends = self.reduced.system().process(ty).edges.get(edge.index())?.ends_process();
        if ends || !self.removed.contains(&ty) {
            return None;
        }
        self.first_move(at.original.as_ref()?, *process)
    }

    /// Processes that stand at their end in the reduced system go there in the original.
    fn moves_to_ends(&mut self, at: &mut At) -> Result<Vec<Move>, Invalid> {
        let mut performed = Vec::new();
        let Some(state) = at.original.as_ref().filter(|_| !self.removed.is_empty()) else { return Ok(performed) };
        for id in 0..state.processes.len() as u32 {
            while let Some(step) = self.step_to_end(at, id) {
                self.steps += 1;
                self.patience.ask(self.steps)?;
                if performed.len() > MAX_MOVES {
                    return refuted(format!("process {id} does not come to its end"));
                }
                self.perform(at, &step);
                performed.push(step);
            }
        }
        Ok(performed)
    }

    /// The next step of a process to its end, if it stands there in the reduced system and not in the original.
    fn step_to_end(&self, at: &At, id: u32) -> Option<Move> {
        let ends = |interpreter: &Interpreter<'_>, state: &State| {
            let process = state.processes.get(id as usize)?;
            let ty = interpreter.system().process(process.process);
            let edges = &ty.locations[process.location.index()].edges;
            let is_end = edges.iter().all(|edge| ty.edges[edge.index()].ends_process());
            Some(self.removed.contains(&process.process) && is_end)
        };
        let is_ended = ends(&self.reduced, at.reduced.as_ref()?)?;
        let state = at.original.as_ref()?;
        if !is_ended || ends(&self.original, state)? { None } else { self.first_move(state, id) }
    }

    /// The moves that a move stands for.
    fn edges(&self, state: &State, taken: &Move) -> Result<Vec<Move>, Invalid> {
        let origin = |(process, edge): (u32, EdgeId)| -> Result<Vec<EdgeId>, Invalid> {
            let Some(at) = state.processes.get(process as usize) else {
                return refuted(format!("there is no process {process}"));
            };
            let edges = &self.reduced.system().process(at.process).edges;
            match edges.get(edge.index()) {
                Some(edge) if !edge.origin.is_empty() => Ok(edge.origin.clone()),
                _ => Ok(vec![edge]),
            }
        };
        let rest = |process: u32, edges: &[EdgeId]| -> Vec<Move> {
            edges.iter().skip(1).map(|edge| Move::Process { process, edge: *edge }).collect()
        };
        Ok(match taken {
            Move::Process { process, edge } => {
                origin((*process, *edge))?.into_iter().map(|edge| Move::Process { process: *process, edge }).collect()
            }
            Move::Handshake { sender, receiver } => {
                let (sent, received) = (origin(*sender)?, origin(*receiver)?);
                let first = Move::Handshake { sender: (sender.0, sent[0]), receiver: (receiver.0, received[0]) };
                let after = [rest(receiver.0, &received), rest(sender.0, &sent)].concat();
                [vec![first], after].concat()
            }
            Move::Action { action, participants } => {
                let edges: Result<Box<[(u32, EdgeId)]>, Invalid> =
                    participants.iter().map(|one| Ok((one.0, origin(*one)?[0]))).collect();
                vec![Move::Action { action: *action, participants: edges? }]
            }
            Move::Joint { .. } | Move::Claim { .. } => vec![taken.clone()],
        })
    }

    /// The cycle is repeated until the original is in a state again in which it was after a repetition: in the same state,
    /// or else in one that differs in sliced variables only, or in what nothing depends on.
    fn lasso(&mut self, lasso: &Lasso) -> Result<Lasso, Invalid> {
        let mut at = self.start(&lasso.start)?;
        let mut moves = self.moves(&mut at, &lasso.prefix)?.concat();
        if lasso.cycle.is_empty() {
            return Ok(Lasso { prefix: moves, ..lasso.clone() });
        }
        // Where the original was before a repetition, and after how many moves; and the same without sliced variables.
        let (mut known, mut unsliced, mut essential) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (mut almost, mut in_essence) = (None, None);
        for turn in 0.. {
            let Some(state) = &at.original else { return refuted("a step of the cycle is a fault".into()) };
            if let Some(first) = known.insert(self.original.identity(state), moves.len()) {
                return Ok(split(lasso, moves, first));
            }
            if almost.is_none() {
                let before = unsliced.insert(self.unsliced.identity(state), moves.len());
                almost = before.map(|first| (first, moves.len()));
            }
            if let (None, Some(system), Some(state)) = (in_essence, &self.essential, &at.essential) {
                let before = essential.insert(system.identity(state), moves.len());
                in_essence = before.map(|first| (first, moves.len()));
            }
            if turn >= MAX_TURNS && moves.len() > MAX_MOVES {
                break;
            }
            moves.extend(self.moves(&mut at, &lasso.cycle)?.concat());
        }
        match almost.or(in_essence) {
            Some((first, end)) => Ok(split(lasso, moves[..end].to_vec(), first)),
            None => refuted("the cycle does not close".into()),
        }
    }

    fn tree(&mut self, from: &At, tree: &Tree) -> Result<Tree, Invalid> {
        let mut at = from.clone();
        let mut moves = Vec::new();
        let mut branches = Vec::new();
        let within = |range: Range<usize>| tree.branches.iter().filter(move |(after, _)| range.contains(after));
        let first = tree.prefix.len();
        self.along(&mut at, &tree.prefix, (0, within(0..first).collect()), &mut moves, &mut branches)?;
        // What is seen along the cycle is seen in every repetition.
        let rest: Vec<&(usize, Tree)> = within(first..usize::MAX).collect();
        if tree.cycle.is_empty() {
            self.along(&mut at, &[], (first, rest), &mut moves, &mut branches)?;
            return Ok(Tree { prefix: moves, branches, ..tree.clone() });
        }
        let mut known = HashMap::new();
        let mut cycle = moves.len();
        for _ in 0..=MAX_TURNS {
            let Some(state) = &at.original else { return refuted("a step of the cycle is a fault".into()) };
            if let Some(before) = known.insert(self.original.identity(state), moves.len()) {
                cycle = before;
                break;
            }
            cycle = moves.len();
            self.along(&mut at, &tree.cycle, (first, rest.clone()), &mut moves, &mut branches)?;
        }
        let cycle = moves.split_off(cycle);
        Ok(Tree { prefix: moves, cycle, branches, ..tree.clone() })
    }

    /// Goes along a part of a tree, and adds its moves and what branches off it: after so many moves of the tree, the first
    /// of them being that number.
    fn along(
        &mut self,
        at: &mut At,
        part: &[Move],
        (first, seen): (usize, Vec<&(usize, Tree)>),
        moves: &mut Vec<Move>,
        branches: &mut Vec<(usize, Tree)>,
    ) -> Result<(), Invalid> {
        for number in 0..=part.len() {
            let is_last = number == part.len();
            let is_here = |after: usize| after == first + number || is_last && after > first + number;
            for (_, branch) in seen.iter().filter(|(after, _)| is_here(*after)) {
                branches.push((moves.len(), self.tree(at, branch)?));
            }
            if let Some(taken) = part.get(number) {
                moves.extend(self.one(at, taken)?);
            }
        }
        Ok(())
    }
}

fn split(lasso: &Lasso, mut moves: Vec<Move>, first: usize) -> Lasso {
    let cycle = moves.split_off(first);
    Lasso { prefix: moves, cycle, ..lasso.clone() }
}
