//! Initial states and successors, one by one: nobody waits for all of them, and a search for the next one can be
//! interrupted.

use std::vec::IntoIter;

use ample_budget::{Interrupted, Pace};

use super::joint::Search;
use super::perform::Successor;
use super::{Fault, Interpreter, State};
use crate::initial::{Combinations, StartNumber, free_cells};
use crate::trace::Move;

/// An initial state, or the fault that it is, with its number.
pub type Start = (StartNumber, Result<State, Fault>);

/// The initial states of a system with their numbers. Ends after an interruption.
pub struct Starts<'a> {
    interpreter: &'a Interpreter<'a>,
    pace: Option<Pace<'a>>,
    combinations: Combinations,
    source: StartSource<'a>,
}

enum StartSource<'a> {
    /// Every combination is an initial state.
    Combinations(Box<dyn Iterator<Item = Vec<u64>> + 'a>),
    /// Those that are found are; with the slots of the cells that have a choice.
    Search(Box<Search<'a>>, Vec<u32>),
    Exhausted,
}

impl<'a> Starts<'a> {
    pub(super) fn new(interpreter: &'a Interpreter<'a>, pace: Option<Pace<'a>>) -> Starts<'a> {
        let combinations = Combinations::of(interpreter.system);
        let source = match interpreter.system.synchronous() {
            Some(_) => {
                let slots = free_cells(interpreter.system).map(|cell| cell.slot).collect();
                StartSource::Search(Box::new(Search::initial(interpreter)), slots)
            }
            None => StartSource::Combinations(Box::new(combinations.iter())),
        };
        Starts { interpreter, pace, combinations, source }
    }

    fn find(&mut self) -> Result<Option<Start>, Interrupted> {
        match &mut self.source {
            StartSource::Combinations(all) => {
                if let Some(pace) = &mut self.pace {
                    pace.step()?;
                }
                Ok(all.next().map(|one| (self.combinations.number(&one), self.interpreter.start(&one))))
            }
            StartSource::Search(search, slots) => {
                let state = match search.find(&mut self.pace)? {
                    Ok(true) => Ok(search.state()),
                    Ok(false) => return Ok(None),
                    Err(fault) => Err(fault),
                };
                Ok(Some((self.combinations.number(&search.numbers(slots)), state)))
            }
            StartSource::Exhausted => Ok(None),
        }
    }
}

impl Iterator for Starts<'_> {
    type Item = Result<Start, Interrupted>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find();
        if !matches!(found, Ok(Some(_))) {
            self.source = StartSource::Exhausted;
        }
        found.transpose()
    }
}

/// The moves of a state with what they lead to. Ends after an interruption.
pub struct Steps<'a> {
    interpreter: &'a Interpreter<'a>,
    state: &'a State,
    pace: Option<Pace<'a>>,
    source: StepSource<'a>,
}

enum StepSource<'a> {
    /// These moves of processes, with the value of `timeout`.
    Moves(IntoIter<Move>, bool),
    Search(Box<Search<'a>>),
    Exhausted,
}

impl<'a> Steps<'a> {
    pub(super) fn new(interpreter: &'a Interpreter<'a>, state: &'a State, pace: Option<Pace<'a>>) -> Steps<'a> {
        let source = match interpreter.system.synchronous() {
            Some(_) => StepSource::Search(Box::new(Search::steps(interpreter, state))),
            None => {
                let moves = interpreter.moves(state);
                StepSource::Moves(moves.moves.into_iter(), moves.timeout)
            }
        };
        Steps { interpreter, state, pace, source }
    }

    fn find(&mut self) -> Result<Option<(Move, Successor)>, Interrupted> {
        match &mut self.source {
            StepSource::Moves(moves, timeout) => {
                if let Some(pace) = &mut self.pace {
                    pace.step()?;
                }
                let Some(taken) = moves.next() else { return Ok(None) };
                let successor = self.interpreter.perform(self.state, *timeout, &taken);
                Ok(Some((taken, successor)))
            }
            StepSource::Search(search) => {
                let successor = match search.find(&mut self.pace)? {
                    Ok(true) => Successor { state: Some(search.next_state()), ..Successor::default() },
                    Ok(false) => return Ok(None),
                    Err(fault) => Successor::fault(fault),
                };
                Ok(Some((search.taken(), successor)))
            }
            StepSource::Exhausted => Ok(None),
        }
    }
}

impl Iterator for Steps<'_> {
    type Item = Result<(Move, Successor), Interrupted>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find();
        if !matches!(found, Ok(Some(_))) {
            self.source = StepSource::Exhausted;
        }
        found.transpose()
    }
}
