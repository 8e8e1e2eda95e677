//! Symmetry, as the engine uses it: which symmetry a search has, and runs of the system out of runs of the quotient.
//!
//! A search whose states are [representatives](crate::compile::Representatives) is a search of the quotient, whatever else it does:
//! partial-order reduction, products with automata, any order. Its runs consist of representatives, in which processes
//! have changed their places; `Lift` follows them in the system itself, step by step, so that what is shown is what
//! real processes do. With lazy representatives a search without reduction is one over states of the system
//! (`Keyed`), of which the store compares the representatives: the symmetric store of M. Kattenbelt's thesis (§5.4.2).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;

use ample_model::{Budget, Cancellation, Expr, Move, StartNumber, System};
use ample_reduce::symmetry::{Refusal, Symmetry};

use super::OfCompiled;
use super::options::Options;
use crate::compile::{Choice, Compiled, Representatives, Transition};
use crate::liveness::{Concurrent, Processes};
use crate::space::{Checked, Culprit, StateSpace};

/// When a search has found so many states, it is tried whether there is a symmetry.
const LARGE: u64 = 20_000;

/// Whether states that differ in the places of processes only are taken for the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SymmetryReduction {
    /// In large models, where symmetry is found: `canonical`.
    Auto,
    /// No.
    #[default]
    None,
    /// Processes of a type are sorted by their locations.
    ///
    /// That is fast, and leaves more states.
    Lazy,
    /// One representative for all states that are symmetric.
    Canonical,
}

/// What a search with symmetry uses.
#[derive(Clone)]
pub(super) struct Using {
    symmetry: Arc<Symmetry>,
    choice: Choice,
}

impl Using {
    /// In words.
    pub fn describe(&self) -> String {
        let choice = match self.choice {
            Choice::Lazy => ", lazy representatives",
            Choice::Canonical => "",
        };
        format!("{}{choice}", self.symmetry)
    }

    /// Runs differ in how often states are repeated.
    pub fn stutters(&self) -> bool {
        self.symmetry.terminates
    }

    /// How representatives are chosen.
    pub fn choice(&self) -> Choice {
        self.choice
    }

    /// Replaces the states of a space by representatives; or why not.
    pub fn attach(&self, space: &mut Compiled) -> Result<(), String> {
        let representatives = self.representatives(space)?;
        space.represent_by(Some(representatives));
        Ok(())
    }

    /// What computes representatives of the states of a space; or why not.
    pub fn representatives(&self, space: &Compiled) -> Result<Representatives, String> {
        space.representatives(&self.symmetry, self.choice).ok_or_else(|| "its states cannot be permuted".to_owned())
    }
}

/// The symmetry that a search may use which looks at these expressions; or why there is none, in words. None at all if it
/// is not asked for.
pub(super) fn wanted(
    system: &System,
    observed: &[Expr],
    options: &Options,
    budget: &Budget,
) -> Option<Result<Using, String>> {
    let choice = match options.explicit.symmetry {
        SymmetryReduction::Auto | SymmetryReduction::None => return None,
        SymmetryReduction::Lazy => Choice::Lazy,
        SymmetryReduction::Canonical => Choice::Canonical,
    };
    let types = declared(system);
    let found = Symmetry::of_types(system, observed, types.as_deref(), budget);
    let text = |refusal: Refusal| refusal.text(system);
    Some(found.map(|symmetry| Using { symmetry: Arc::new(symmetry), choice }).map_err(text))
}

/// A budget that ends a search which has become large if there is a symmetry for it, and whether it has. Where there is none, the
/// search goes on.
pub(super) fn until_large(
    system: &System,
    observed: &[Expr],
    options: &Options,
    is_suitable: impl Fn(&Using) -> bool + Send + Sync + 'static,
    budget: &Budget,
) -> (Budget, Cancellation) {
    let (system, observed, within) = (system.clone(), observed.to_vec(), budget.clone());
    let options = options.with_symmetry(SymmetryReduction::Canonical);
    let is_judged = AtomicBool::new(false);
    budget.until(move |progress| {
        progress.states > LARGE
            && !is_judged.swap(true, Ordering::Relaxed)
            && wanted(&system, &observed, &options, &within)
                .is_some_and(|using| using.is_ok_and(|using| is_suitable(&using)))
    })
}

/// The process types that the text of the model declares to be symmetric, in a comment: `ample: symmetric P, Q`. Others are not
/// looked at then. A declaration is verified like any other symmetry.
fn declared(system: &System) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for source in &system.source_system().sources {
        for rest in source.text.split("ample: symmetric ").skip(1) {
            let line = rest.lines().next().unwrap_or("");
            let line = line.split("*/").next().unwrap_or("");
            names.extend(line.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Follows a run of representatives in the system itself.
pub(super) struct Lift {
    real: Compiled,
    representatives: Representatives,
    /// Where it is.
    state: Vec<u8>,
    next: Vec<u8>,
    representative: Vec<u8>,
    /// What was done since the moves were taken.
    pub moves: Vec<Move>,
}

/// What a step of the quotient led to.
pub(super) struct Expected<'a> {
    /// The representative, unless the step was a fault.
    pub state: &'a [u8],
    /// It was a fault.
    pub is_dead: bool,
    /// It violated something.
    pub violates: bool,
}

impl Lift {
    /// From an initial state of the system whose representative is that one, and the number of it.
    pub fn start(space: &Compiled, first: &[u8]) -> Option<(Lift, StartNumber)> {
        // Lazy representatives of symmetric states may differ.
        let symmetry = space.representing()?.symmetry().clone();
        let mut representatives = space.representatives(&symmetry, Choice::Canonical)?.thorough();
        let mut first = first.to_vec();
        representatives.represent(&mut first);
        let mut real = space.clone();
        real.represent_by(None);
        let (state, next, representative) = (Vec::new(), Vec::new(), Vec::new());
        let mut lift = Lift { real, representatives, state, next, representative, moves: Vec::new() };
        let mut position = 0;
        while lift.real.initial(position, &mut lift.state) {
            if !lift.real.is_dead() && lift.represents(true) == first {
                let number = lift.real.start_number(position);
                return Some((lift, number));
            }
            position += 1;
        }
        None
    }

    /// The representative of the state where it is, or of the next one.
    fn represents(&mut self, current: bool) -> &[u8] {
        self.representative.clear();
        self.representative.extend_from_slice(if current { &self.state } else { &self.next });
        self.representatives.represent(&mut self.representative);
        &self.representative
    }

    /// Where it is.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// Takes a step that leads to what is expected, after the removal of processes that have ended where that has to
    /// come first. False if there is none.
    pub fn step(&mut self, expected: &Expected<'_>) -> bool {
        let mut target = expected.state.to_vec();
        if !expected.is_dead {
            self.representatives.represent(&mut target);
        }
        loop {
            let state = std::mem::take(&mut self.state);
            let mut cursor = self.real.first(&state);
            while let Some(transition) = cursor {
                self.real.target(&state, &transition, &mut self.next);
                let is_alike = self.real.is_dead() == expected.is_dead
                    && self.real.violation().is_some() == expected.violates
                    && (expected.is_dead || self.represents(false) == target);
                if is_alike {
                    self.take(&state, &transition);
                    return true;
                }
                cursor = self.real.next(&state, &transition);
            }
            self.state = state;
            if !self.remove() {
                return false;
            }
        }
    }

    fn take(&mut self, state: &[u8], transition: &Transition) {
        self.moves.extend(self.real.expand(state, transition));
        std::mem::swap(&mut self.state, &mut self.next);
    }

    /// Removes a process that has ended, if that changes nothing else.
    fn remove(&mut self) -> bool {
        let before = self.represents(true).to_vec();
        let state = std::mem::take(&mut self.state);
        let mut cursor = self.real.first(&state);
        while let Some(transition) = cursor {
            self.real.target(&state, &transition, &mut self.next);
            let is_removal = !self.real.is_dead()
                && self.next.len() < state.len()
                && self.real.violation().is_none()
                && self.represents(false) == before;
            if is_removal {
                self.take(&state, &transition);
                return true;
            }
            cursor = self.real.next(&state, &transition);
        }
        self.state = state;
        false
    }

    /// Removes all processes that have ended.
    pub fn settle(&mut self) {
        while self.remove() {}
    }
}

/// A search over states of the system, of which the representatives are compared. A state is the representative, the state itself,
/// and the length of the first.
#[derive(Clone)]
pub(super) struct Keyed {
    space: Compiled,
    representatives: Representatives,
    out: Vec<u8>,
}

/// Bytes of the length.
const LENGTH: usize = size_of::<u32>();

/// How many bytes of a state are compared.
pub(super) fn key_length(state: &[u8]) -> usize {
    state.last_chunk::<LENGTH>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// The state itself.
fn itself(state: &[u8]) -> &[u8] {
    &state[key_length(state)..state.len().saturating_sub(LENGTH)]
}

impl Keyed {
    pub fn new(space: Compiled, representatives: Representatives) -> Keyed {
        Keyed { space, representatives: representatives.keys(), out: Vec::new() }
    }

    /// The first transition of the lowest process after that one that has any.
    fn first_above(&mut self, state: &[u8], process: Option<u32>) -> Option<Transition> {
        let mut found: Option<Transition> = None;
        let mut cursor = self.space.first(state);
        while let Some(transition) = cursor {
            if process.is_some_and(|process| transition.process() <= process) {
                break;
            }
            if found.is_none_or(|found| transition.process() != found.process()) {
                found = Some(transition);
            }
            cursor = self.space.next(state, &transition);
        }
        found
    }

    /// Writes the state that was computed, behind its representative.
    fn write(&mut self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.out);
        if !self.space.is_dead() {
            self.representatives.represent(out);
        }
        let length = out.len() as u32;
        out.extend_from_slice(&self.out);
        out.extend_from_slice(&length.to_le_bytes());
    }
}

impl StateSpace for Keyed {
    type State = [u8];
    type Transition = Transition;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        let mut state = std::mem::take(&mut self.out);
        let is_there = self.space.initial(index, &mut state);
        self.out = state;
        self.write(out);
        is_there
    }

    // Processes in the order of their ids, as in the thesis: how many states there are depends on it.
    fn first(&mut self, state: &[u8]) -> Option<Transition> {
        self.first_above(itself(state), None)
    }

    fn next(&mut self, state: &[u8], transition: &Transition) -> Option<Transition> {
        let state = itself(state);
        let next = self.space.next(state, transition).filter(|next| next.process() == transition.process());
        next.or_else(|| self.first_above(state, Some(transition.process())))
    }

    fn target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.space.target(itself(state), transition, &mut self.out);
        self.write(out);
    }
}

impl Checked for Keyed {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.space.is_valid_end(itself(state))
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn culprit(&self) -> Option<Culprit> {
        self.space.culprit()
    }

    fn is_transient(&self, state: &[u8]) -> bool {
        self.space.is_transient(itself(state))
    }

    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.space.invariant(number, itself(state))
    }
}

impl Concurrent for Keyed {
    fn mover(&self, transition: &Transition) -> Option<u32> {
        self.space.mover(transition)
    }

    fn participants(&self) -> Processes {
        self.space.participants()
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    fn actions(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        self.space.expand(itself(state), transition)
    }

    fn start_number(&mut self, position: usize) -> StartNumber {
        self.space.start_number(position)
    }
}

impl OfCompiled for Keyed {
    fn compiled(&mut self) -> &mut Compiled {
        &mut self.space
    }
}
