//! Simulation: one run through a model, step by step, with the reference interpreter.

use ample_model::{Fault, Interpreter, Move, State, Step, System};

use crate::evidence::EndState;

/// A run in the making.
///
/// ```
/// use ample::simulate::{Ending, Simulation};
///
/// let text = "byte x; active proctype P() { x = 1; x = 2 }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let mut run = Simulation::new(&model.system, 0).unwrap();
/// while let Some(taken) = run.moves().first() {
///     println!("{}", run.take(taken).text);
/// }
/// assert_eq!(run.ending(), Some(Ending::EndState));
/// # Ok::<(), ample::LoadError>(())
/// ```
pub struct Simulation<'a> {
    interpreter: Interpreter<'a>,
    state: State,
    fault: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every process is where it may stay.
    EndState,
    /// No process can move, and some should.
    Deadlock,
    /// A step after which there is no state.
    Fault(String),
}

/// Where a run was, to come back to.
#[derive(Clone, Debug)]
pub struct Bookmark {
    state: State,
    fault: Option<String>,
}

impl<'a> Simulation<'a> {
    /// Begins in the initial state of that number; `None` if there are not so many.
    pub fn new(system: &'a System, start: u32) -> Result<Simulation<'a>, Option<Fault>> {
        let interpreter = Interpreter::new(system);
        match interpreter.initial_state(start) {
            Some(Ok(state)) => Ok(Simulation { interpreter, state, fault: None }),
            Some(Err(fault)) => Err(Some(fault)),
            None => Err(None),
        }
    }

    /// The moves that are possible now.
    pub fn moves(&self) -> Vec<Move> {
        if self.fault.is_some() { Vec::new() } else { self.interpreter.enabled(&self.state) }
    }

    /// The move is possible now; it may be one of a never claim that changes the state, as a counterexample has them.
    pub fn allows(&self, taken: &Move) -> bool {
        self.fault.is_none() && self.interpreter.allows(&self.state, taken)
    }

    /// What the move would do, without doing it.
    pub fn preview(&self, taken: &Move) -> Step {
        self.interpreter.describe(&self.state, taken, &self.interpreter.step(&self.state, taken))
    }

    /// Takes a move and tells what it did. One that is not possible does nothing but to say so.
    pub fn take(&mut self, taken: &Move) -> Step {
        let successor = self.interpreter.step(&self.state, taken);
        let step = self.interpreter.describe(&self.state, taken, &successor);
        match successor.state {
            Some(state) => self.state = state,
            None if successor.violations.contains(&Fault::NotEnabled) => {}
            None => self.fault = step.violation.clone(),
        }
        step
    }

    /// How the run ended; `None` if it can go on.
    pub fn ending(&self) -> Option<Ending> {
        if let Some(fault) = &self.fault {
            return Some(Ending::Fault(fault.clone()));
        }
        if !self.interpreter.enabled(&self.state).is_empty() {
            return None;
        }
        Some(if self.interpreter.is_end_state(&self.state) { Ending::EndState } else { Ending::Deadlock })
    }

    /// The state in words.
    pub fn state(&self) -> EndState {
        EndState::of(&self.interpreter, &self.state)
    }

    /// Where the run is.
    pub fn bookmark(&self) -> Bookmark {
        Bookmark { state: self.state.clone(), fault: self.fault.clone() }
    }

    /// Goes back to where the run was.
    pub fn return_to(&mut self, bookmark: Bookmark) {
        (self.state, self.fault) = (bookmark.state, bookmark.fault);
    }
}

/// A small generator of random numbers (SplitMix64): the same seed gives the same run on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}
