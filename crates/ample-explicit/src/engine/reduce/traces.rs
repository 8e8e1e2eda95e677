//! The trace automaton of a model (P. Godefroid's thesis, Def. 6.4): the graph that a search with persistent sets, sleep
//! sets and the proviso explores (Fig. 6.2), state by state.
//!
//! For every run of the model the automaton has one of which it is a prefix, up to the order of independent transitions.
//! Deadlocks and all that can be said of single processes are the same as in the model (Thms. 6.12 to 6.14); global
//! states are not. The search is written for graphs that are looked at: it is short, and it ends at a limit.

use std::collections::HashMap;

use crate::compile::{Reduced, Transition};
use crate::partial::{Label, Labelled, Partial};
use crate::space::{Checked, StateSpace};
use ample_model::{Budget, System};
use serde::Serialize;

use super::{ReduceError, ReduceOptions, Scheme, TOO_MANY, space_with_sleep};

/// The automaton is not built beyond so many states, unless another number is given.
pub const MOST_TRACE_STATES: u64 = 1_000;

/// A state of the automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceState {
    /// It lies inside an atomic sequence.
    pub is_transient: bool,
    /// Nothing is enabled.
    pub is_dead: bool,
    /// The sleep set: transitions that are enabled, and not executed because they were before, in another order.
    pub sleep: Vec<u32>,
    /// How many transitions are enabled.
    pub enabled: usize,
}

/// A transition of the automaton.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// The state that it leaves.
    pub from: usize,
    /// The state that it leads to; none if it ends in a run-time error.
    pub to: Option<usize>,
    /// The transition; none inside an atomic sequence.
    pub transition: Option<u32>,
}

/// A trace automaton. The initial state is number 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TraceAutomaton {
    /// The states.
    pub states: Vec<TraceState>,
    /// The transitions, in the order in which they were explored.
    pub steps: Vec<TraceStep>,
}

/// The trace automaton of a model, and its transitions; an error if it has more states than are asked for.
///
/// ```
/// use ample_explicit::engine::reduce::{ReduceOptions, trace_automaton};
/// use ample_lang::promela::{self, preprocess::FileLoader};
///
/// let text = "byte x, y; active proctype P() { x = 1 } active proctype Q() { y = 2 }";
/// let model = promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap();
/// let options = ReduceOptions { most_states: 100, ..ReduceOptions::default() };
/// let (_, traces) = trace_automaton(&model.system, &options, &ample_budget::Budget::unlimited()).unwrap();
/// assert_eq!(traces.steps.len() + 1, traces.states.len());
/// ```
pub fn trace_automaton<'a>(
    system: &'a System,
    options: &ReduceOptions,
    budget: &Budget,
) -> Result<(Scheme<'a>, TraceAutomaton), ReduceError> {
    let mut space = space_with_sleep(system, options)?;
    let automaton = Search::new(&mut space, options.most_states as usize, budget).run()?;
    if space.unfolding().is_full() {
        return Err(ReduceError::Unsupported(TOO_MANY.into()));
    }
    Ok((Scheme::new(system, space, options.algorithm), automaton))
}

/// A state on the stack.
struct Frame {
    state: usize,
    enabled: Vec<Labelled<Transition>>,
    /// Positions among the enabled transitions, the next one last.
    open: Vec<usize>,
    sleep: Vec<Label>,
    /// Nothing can be added to what was chosen.
    is_whole: bool,
    /// Something that was executed leads off the stack.
    has_escaped: bool,
}

struct Search<'s, 'a> {
    space: &'s mut Reduced<'a>,
    budget: &'s Budget,
    most: usize,
    numbers: HashMap<Vec<u8>, usize>,
    stored: Vec<Vec<u8>>,
    on_stack: Vec<bool>,
    /// The sleep sets with which states on the stack are to be visited again.
    delayed: Vec<Vec<Vec<Label>>>,
    frames: Vec<Frame>,
    automaton: TraceAutomaton,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(space: &'s mut Reduced<'a>, most: usize, budget: &'s Budget) -> Self {
        Search {
            space,
            budget,
            most,
            numbers: HashMap::new(),
            stored: Vec::new(),
            on_stack: Vec::new(),
            delayed: Vec::new(),
            frames: Vec::new(),
            automaton: TraceAutomaton::default(),
        }
    }

    fn run(mut self) -> Result<TraceAutomaton, ReduceError> {
        let mut state = Vec::new();
        let mut index = 0;
        while self.space.initial(index, &mut state) {
            index += 1;
            if !self.numbers.contains_key(&state) {
                let number = self.add(&state)?;
                self.enter_new(number, Vec::new());
                self.search()?;
            }
        }
        Ok(self.automaton)
    }

    fn search(&mut self) -> Result<(), ReduceError> {
        while let Some(frame) = self.frames.last_mut() {
            self.budget.check().map_err(|why| ReduceError::Ended(why.into()))?;
            match frame.open.pop() {
                Some(position) => self.execute(position)?,
                None if !frame.has_escaped && !frame.is_whole => self.choose_rest(),
                None => self.leave(),
            }
        }
        Ok(())
    }

    /// A new state.
    fn add(&mut self, state: &[u8]) -> Result<usize, ReduceError> {
        if self.stored.len() >= self.most {
            return Err(ReduceError::TooLarge(self.most));
        }
        let number = self.stored.len();
        let is_transient = self.space.is_transient(state);
        self.numbers.insert(state.to_vec(), number);
        self.stored.push(state.to_vec());
        self.on_stack.push(false);
        self.delayed.push(Vec::new());
        self.automaton.states.push(TraceState { is_transient, ..TraceState::default() });
        Ok(number)
    }

    fn enter_new(&mut self, number: usize, sleep: Vec<Label>) {
        let state = &self.stored[number];
        let is_transient = self.automaton.states[number].is_transient;
        let (mut enabled, mut chosen) = (Vec::new(), Vec::new());
        self.space.enabled(state, &mut enabled);
        if !is_transient {
            self.space.persistent(state, &enabled, &mut chosen);
        }
        let is_whole = is_transient || chosen.len() == enabled.len();
        let is_open = |position: &usize| {
            is_transient || chosen.contains(&(*position as u32)) && !sleep.contains(&enabled[*position].label)
        };
        let open = (0..enabled.len()).rev().filter(is_open).collect();
        let known = &mut self.automaton.states[number];
        (known.enabled, known.is_dead, known.sleep) = (enabled.len(), enabled.is_empty(), sleep.clone());
        self.push(Frame { state: number, enabled, open, sleep, is_whole, has_escaped: is_whole });
    }

    /// Visits a state that was left with a sleep set that contains more: what slept then and does not now is executed.
    fn enter_again(&mut self, number: usize, sleep: Vec<Label>) {
        let is_transient = self.automaton.states[number].is_transient;
        let mut enabled = Vec::new();
        self.space.enabled(&self.stored[number], &mut enabled);
        let stored = std::mem::take(&mut self.automaton.states[number].sleep);
        let is_awake = |label: Label| stored.contains(&label) && !sleep.contains(&label);
        let is_open = |position: &usize| is_transient || is_awake(enabled[*position].label);
        let open = (0..enabled.len()).rev().filter(is_open).collect();
        let sleep: Vec<Label> = sleep.into_iter().filter(|label| stored.contains(label)).collect();
        self.automaton.states[number].sleep.clone_from(&sleep);
        self.push(Frame { state: number, enabled, open, sleep, is_whole: true, has_escaped: true });
    }

    fn push(&mut self, frame: Frame) {
        self.on_stack[frame.state] = true;
        self.frames.push(frame);
    }

    fn execute(&mut self, position: usize) -> Result<(), ReduceError> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let taken = frame.enabled[position];
        let (from, is_transient) = (frame.state, self.automaton.states[frame.state].is_transient);
        let transition = (!is_transient).then_some(taken.label);
        let mut out = Vec::new();
        self.space.target(&self.stored[from], &taken.transition, &mut out);
        if self.space.is_dead() {
            // Nothing is independent of a run-time error.
            self.record(TraceStep { from, to: None, transition });
            self.choose_rest();
            return Ok(());
        }
        let sleep = self.inherited(&taken);
        let known = self.numbers.get(&out).copied();
        let to = match known {
            Some(to) => to,
            None => self.add(&out)?,
        };
        self.record(TraceStep { from, to: Some(to), transition });
        if let Some(frame) = self.frames.last_mut() {
            frame.has_escaped |= !self.on_stack[to] && !self.automaton.states[to].is_transient;
            if !is_transient && !frame.sleep.contains(&taken.label) {
                frame.sleep.push(taken.label);
            }
        }
        if known.is_none() {
            self.enter_new(to, sleep);
        } else if self.sleeps_more(to, &sleep) {
            match self.on_stack[to] {
                true => self.delayed[to].push(sleep),
                false => self.enter_again(to, sleep),
            }
        }
        Ok(())
    }

    /// What sleeps in the state after a transition.
    fn inherited(&mut self, taken: &Labelled<Transition>) -> Vec<Label> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let (space, state) = (&mut *self.space, &self.stored[frame.state]);
        let is_transient = self.automaton.states[frame.state].is_transient;
        let stays =
            |label: &&Label| is_transient || **label != taken.label && space.independent(state, **label, taken.label);
        frame.sleep.iter().filter(stays).copied().collect()
    }

    /// Something sleeps in the state that is not in the set.
    fn sleeps_more(&self, number: usize, sleep: &[Label]) -> bool {
        self.automaton.states[number].sleep.iter().any(|label| !sleep.contains(label))
    }

    /// An atomic sequence may be gone through again; its steps are told once.
    fn record(&mut self, step: TraceStep) {
        if step.transition.is_some() || !self.automaton.steps.contains(&step) {
            self.automaton.steps.push(step);
        }
    }

    /// All that is enabled in the last state is executed, unless it sleeps.
    fn choose_rest(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let executed: Vec<Label> = self
            .automaton
            .steps
            .iter()
            .filter(|step| step.from == frame.state)
            .filter_map(|step| step.transition)
            .collect();
        let Frame { enabled, open, sleep, .. } = frame;
        let is_open = |position: &usize| {
            let label = enabled[*position].label;
            !sleep.contains(&label) && !executed.contains(&label) && !open.contains(position)
        };
        let more: Vec<usize> = (0..enabled.len()).rev().filter(is_open).collect();
        frame.open.extend(more);
        frame.is_whole = true;
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.on_stack[frame.state] = false;
        while let Some(sleep) = self.delayed[frame.state].pop() {
            if self.sleeps_more(frame.state, &sleep) {
                return self.enter_again(frame.state, sleep);
            }
        }
    }
}
