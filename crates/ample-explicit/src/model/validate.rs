//! Validation: every path is performed again by the model, and every run evaluated again by the meaning of its formula,
//! before it is shown.

use ample_logic::{Formula, semantics};

use super::graph::{Condition, Graph, StateNumber};
use super::{Ending, Fairness, Model, Path};

/// A run whose end is open is followed for so many steps.
const MAX_STEPS: usize = 100_000;

/// A path in numbers.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub states: Vec<StateNumber>,
    /// For each step the position of its action among those of the state.
    pub actions: Vec<u32>,
    pub ending: Ending,
}

/// A path that the model does not perform again.
pub(super) struct NotValid(pub &'static str);

const NOT_PERFORMED: NotValid =
    NotValid("the model does not perform the path again: `actions` and `next` must depend on nothing but the state");
const NOT_CONFIRMED: NotValid =
    NotValid("the path that was found does not show it: conditions must depend on nothing but the state");

impl Run {
    /// The path in states and actions, as the model performs it.
    pub fn path<M: Model>(&self, graph: &Graph<'_, M>) -> Result<Path<M::State, M::Action>, NotValid> {
        let model = graph.model;
        let mut steps = Vec::with_capacity(self.actions.len());
        let mut state = graph.state(*self.states.first().ok_or(NOT_PERFORMED)?).clone();
        if !model.init().contains(&state) {
            return Err(NOT_PERFORMED);
        }
        for (number, position) in self.states[1..].iter().zip(&self.actions) {
            let mut actions = model.actions(&state);
            if *position as usize >= actions.len() {
                return Err(NOT_PERFORMED);
            }
            let action = actions.swap_remove(*position as usize);
            let next = model.next(&state, &action).filter(|next| next == graph.state(*number)).ok_or(NOT_PERFORMED)?;
            steps.push((std::mem::replace(&mut state, next), action));
        }
        let path = Path { steps, end: state, ending: self.ending };
        let closes = match self.ending {
            Ending::Open => true,
            Ending::Stuck => is_stuck(model, &path.end),
            Ending::Cycle(from) => path.steps.get(from).is_some_and(|(state, _)| *state == path.end),
        };
        if closes { Ok(path) } else { Err(NOT_PERFORMED) }
    }

    /// The path, if the condition has that value at its end.
    pub fn to_condition<M: Model>(
        &self,
        graph: &Graph<'_, M>,
        condition: &Condition<'_, M::State>,
        value: bool,
    ) -> Result<Path<M::State, M::Action>, NotValid> {
        let path = self.path(graph)?;
        if condition(path.last()) == value { Ok(path) } else { Err(NOT_CONFIRMED) }
    }

    /// The path, if it ends in a deadlock.
    pub fn to_deadlock<M: Model>(&self, graph: &Graph<'_, M>) -> Result<Path<M::State, M::Action>, NotValid> {
        let path = self.path(graph)?;
        let is_deadlock = is_stuck(graph.model, path.last()) && !graph.model.is_valid_end(path.last());
        if is_deadlock { Ok(path) } else { Err(NOT_CONFIRMED) }
    }

    /// The path, if it is a fair run that violates the formula, whose atoms are the conditions.
    pub fn violating<M: Model>(
        &self,
        graph: &mut Graph<'_, M>,
        conditions: &[Condition<'_, M::State>],
        formula: &Formula,
        fairness: Fairness,
    ) -> Result<Path<M::State, M::Action>, NotValid> {
        let path = self.path(graph)?;
        if !self.is_fair(graph, fairness) {
            return Err(NOT_CONFIRMED);
        }
        // A run that is open at its end violates the formula however it goes on; if it can be followed into a cycle,
        // that is evaluated.
        let Some((states, prefix)) = self.followed(graph) else { return Ok(path) };
        let cycle = states.len() - prefix;
        let value =
            |position: usize, atom: ample_logic::Atom| conditions[atom.0 as usize](graph.state(states[position]));
        match semantics::holds_with(formula, prefix, cycle, &value) {
            Ok(false) => Ok(path),
            Ok(true) | Err(_) => Err(NOT_CONFIRMED),
        }
    }

    /// The states of the run up to where they are repeated, and how many come before the cycle.
    fn followed<M: Model>(&self, graph: &mut Graph<'_, M>) -> Option<(Vec<StateNumber>, usize)> {
        let mut states = self.states.clone();
        match self.ending {
            Ending::Cycle(from) => {
                states.pop();
                return Some((states, from));
            }
            Ending::Stuck => {
                let prefix = states.len() - 1;
                return Some((states, prefix));
            }
            Ending::Open => {}
        }
        let known = states.len() - 1;
        let mut after = std::collections::HashMap::new();
        let mut last = states[known];
        while states.len() < known + MAX_STEPS {
            if let Some(before) = after.insert(last, states.len() - 1) {
                states.pop();
                return Some((states, before));
            }
            let Some((_, next)) = graph.first_step(last) else {
                let prefix = states.len() - 1;
                return Some((states, prefix));
            };
            states.push(next);
            last = next;
        }
        None
    }

    /// No process is passed over for ever; a run that is open at its end can always go on fairly.
    fn is_fair<M: Model>(&self, graph: &mut Graph<'_, M>, fairness: Fairness) -> bool {
        let Ending::Cycle(from) = self.ending else { return true };
        let cycle = &self.states[from..self.states.len() - 1];
        let mut can_move = [0_usize; 256];
        let mut moves = [false; 256];
        for (state, position) in cycle.iter().zip(&self.actions[from..]) {
            let mut here = [false; 256];
            graph.processes(*state).for_each(|process| here[usize::from(process)] = true);
            can_move.iter_mut().zip(here).for_each(|(count, here)| *count += usize::from(here));
            let actions = graph.model.actions(graph.state(*state));
            let process = actions.get(*position as usize).and_then(|action| graph.model.process(action));
            process.into_iter().for_each(|process| moves[usize::from(process)] = true);
        }
        let neglected = |process: usize| match fairness {
            Fairness::None => false,
            Fairness::Weak => !moves[process] && can_move[process] == cycle.len(),
            Fairness::Strong => !moves[process] && can_move[process] > 0,
        };
        !(0..256).any(neglected)
    }
}

fn is_stuck<M: Model>(model: &M, state: &M::State) -> bool {
    model.actions(state).iter().all(|action| model.next(state, action).is_none())
}
