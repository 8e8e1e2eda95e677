//! What is taken in one state, and why.

use std::collections::HashSet;

use crate::partial::{Label, Partial};
use crate::space::{Checked, StateSpace};
use ample_model::{Budget, Interpreter, Move, Progress, StartNumber, State, System, Trace};
use serde::Serialize;

use super::{Cap, Point, ReduceError, ReduceOptions, Scheme, TOO_MANY, space};
use crate::engine::reduction::Algorithm;
use ample_engine::evidence::EndState;

/// What is taken in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The moves that lead there, each by its number among those that were possible, the first of which is 1.
    pub after: Vec<usize>,
    /// The state.
    pub state: EndState,
    /// What is enabled.
    pub enabled: Vec<Enabled>,
    /// Why there is no set to be found, if there is none.
    pub note: Option<String>,
    /// The sets that were tried.
    pub closures: Vec<Closure>,
    /// Which of them was taken.
    pub chosen: Option<usize>,
}

/// An enabled transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Enabled {
    /// Its number among the moves.
    pub number: usize,
    /// Its number among the transitions; none inside of an atomic sequence.
    pub transition: Option<u32>,
    /// Who moves: `name(id)`, and in a rendez-vous the partner.
    pub process: String,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// The statement.
    pub text: String,
    /// It is in the set.
    pub taken: bool,
}

/// A set of transitions that is closed under what its members need, or was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Closure {
    /// In the order in which they came into it.
    pub members: Vec<Member>,
    /// How many of them are enabled.
    pub enabled: usize,
}

/// A transition in a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Member {
    /// The transition.
    pub transition: u32,
    /// It is enabled.
    pub enabled: bool,
    /// The member that brought it along; none for the first one.
    pub because_of: Option<u32>,
    /// Why.
    pub why: String,
}

const BEGINNING: &str = "the set begins with it";

/// Moves, and the states that they lead through, the first one included.
struct ReplayedPath {
    after: Vec<usize>,
    states: Vec<State>,
}

/// A state that was met, and the one from which, by which moves.
struct Met {
    state: Vec<u8>,
    from: Option<(usize, Vec<Move>)>,
}

/// Tells what is taken in a state, and what was met on the way there.
///
/// ```
/// use ample_explicit::engine::reduce::{Point, ReduceOptions, choice};
/// use ample_lang::promela::{self, preprocess::FileLoader};
///
/// let text = "byte x; active proctype P() { byte y; y = 1 } active [2] proctype Q() { x++ }";
/// let model = promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap();
/// let start = Point::Moves(vec![]);
/// let (_, choice) = choice(&model.system, &start, &ReduceOptions::default(), &ample_budget::Budget::unlimited()).unwrap();
/// assert_eq!((choice.enabled.len(), choice.enabled.iter().filter(|one| one.taken).count()), (3, 1));
/// ```
pub fn choice<'a>(
    system: &'a System,
    point: &Point,
    options: &ReduceOptions,
    budget: &Budget,
) -> Result<(Scheme<'a>, Choice), ReduceError> {
    // A space that has searched may remember choices, and not how they came about.
    let space = space(system, options)?;
    let mut scheme = Scheme::new(system, space, options.algorithm);
    let interpreter = Interpreter::new(system);
    let path = match point {
        Point::Moves(numbers) => by_numbers(&interpreter, numbers)?,
        Point::Trace(trace, steps) => along(&interpreter, trace, *steps)?,
        Point::Number(number) => {
            let moves = scheme.moves_to(*number, &Cap::new(budget, options.most_states))?;
            by_moves(&interpreter, &StartNumber::default(), &moves)?
        }
    };
    let choice = scheme.choose(&interpreter, path)?;
    Ok((scheme, choice))
}

impl Scheme<'_> {
    fn choose(&mut self, interpreter: &Interpreter<'_>, mut path: ReplayedPath) -> Result<Choice, ReduceError> {
        let last = path.states.pop().unwrap_or_default();
        for state in &path.states {
            self.meet(&interpreter.normalise(state))?;
        }
        let state = interpreter.normalise(&last);
        let is_atomic = state.control.is_some();
        let enabled = self.enabled(interpreter, &state, is_atomic)?;
        let mut closures = self.closures(&enabled);
        let count = enabled.iter().filter(|one| one.taken).count();
        let leaves_out = count < enabled.len();
        if self.algorithm != Algorithm::Guards && leaves_out {
            closures.push(self.reconstructed(&enabled));
        }
        let taken = |transition: u32| enabled.iter().any(|one| one.taken && one.transition == Some(transition));
        let is_chosen = |closure: &Closure| {
            closure.enabled == count && closure.members.iter().all(|m| !m.enabled || taken(m.transition))
        };
        let chosen = closures.iter().rposition(is_chosen).filter(|_| leaves_out);
        let note = self.note(&enabled, is_atomic, closures.is_empty());
        Ok(Choice { after: path.after, state: EndState::of(interpreter, &state), enabled, note, closures, chosen })
    }

    /// The state in the form of the engine, after its processes have been met.
    fn meet(&mut self, state: &State) -> Result<Vec<u8>, ReduceError> {
        let no_bytes = || ReduceError::Unsupported("the explicit engine cannot represent the state".into());
        let bytes = self.space.compiled().encode(state).ok_or_else(no_bytes)?;
        self.space.enabled(&bytes, &mut Vec::new());
        Ok(bytes)
    }

    /// What is enabled, and what of it is taken, in the order of the moves. How that came about is recorded.
    fn enabled(
        &mut self,
        interpreter: &Interpreter<'_>,
        state: &State,
        is_atomic: bool,
    ) -> Result<Vec<Enabled>, ReduceError> {
        let bytes = self.meet(state)?;
        let mut labelled = Vec::new();
        self.space.enabled(&bytes, &mut labelled);
        self.space.guards().record();
        let mut positions = Vec::new();
        self.space.persistent(&bytes, &labelled, &mut positions);
        if self.space.unfolding().is_full() {
            return Err(ReduceError::Unsupported(TOO_MANY.into()));
        }
        self.read();
        let moves = interpreter.enabled(state);
        let mut enabled = Vec::new();
        for (position, one) in labelled.iter().enumerate() {
            let taken = self.space.compiled().first_move(&one.transition);
            let number = moves.iter().position(|possible| *possible == taken).map_or(0, |number| number + 1);
            let step = interpreter.describe(state, &taken, &interpreter.step(state, &taken));
            let with = step.partner.map_or(String::new(), |(name, text, _)| format!(" / {name} {text}"));
            enabled.push(Enabled {
                number,
                transition: (!is_atomic && one.label != Label::MAX).then_some(one.label),
                process: step.process,
                at: step.at,
                text: step.text + &with,
                taken: positions.contains(&(position as u32)),
            });
        }
        enabled.sort_by_key(|one| one.number);
        Ok(enabled)
    }

    /// The closures that were recorded, in words.
    fn closures(&self, enabled: &[Enabled]) -> Vec<Closure> {
        let mut closures: Vec<Closure> = Vec::new();
        for reason in &self.space.guards().recorded() {
            if reason.is_seed {
                closures.push(Closure::default());
            }
            let Some(closure) = closures.last_mut() else { continue };
            let mut add = |transition: u32, because_of: Option<u32>, why: String| {
                let enabled = enabled.iter().any(|one| one.transition == Some(transition));
                closure.enabled += usize::from(enabled);
                closure.members.push(Member { transition, enabled, because_of, why });
            };
            if reason.is_seed {
                add(reason.member, None, BEGINNING.into());
            }
            for added in &reason.added {
                let why = if let Some(step) = reason.step {
                    self.needs_place(reason.member, step)
                } else if let Some(condition) = reason.condition {
                    self.needs_condition(reason.member, condition, *added)
                } else if let Some(until) = reason.until {
                    format!("[{}] waits until [{until}] is disabled", reason.member)
                } else if let Some(process) = reason.youngest {
                    let name = &self.processes()[process as usize].name;
                    format!("[{}] waits until {name} has ended", reason.member)
                } else {
                    self.quarrels(*added, reason.member)
                };
                add(*added, Some(reason.member), why);
            }
        }
        closures
    }

    fn quarrels(&self, added: u32, member: u32) -> String {
        let why: Vec<String> = self.why(added, member).into_iter().map(|why| why.text).collect();
        format!("does not accord with [{member}]: {}", why.join("; "))
    }

    /// The enabled part of a set whose making was not watched, with what its members have to do with each other.
    fn reconstructed(&self, enabled: &[Enabled]) -> Closure {
        let taken: Vec<u32> = enabled.iter().filter(|one| one.taken).filter_map(|one| one.transition).collect();
        let mut closure = Closure { members: Vec::new(), enabled: taken.len() };
        for (position, transition) in taken.iter().copied().enumerate() {
            let link = taken[..position].iter().find_map(|other| Some((*other, self.link(transition, *other)?)));
            let (because_of, why) = match link {
                Some((other, why)) => (Some(other), format!("{why} [{other}]")),
                None if position == 0 => (None, BEGINNING.into()),
                None => (None, "needed by way of transitions that are not enabled".into()),
            };
            closure.members.push(Member { transition, enabled: true, because_of, why });
        }
        closure
    }

    /// What two transitions have in common, in the terms of the classic algorithms.
    fn link(&self, first: u32, second: u32) -> Option<String> {
        let scheme = self.space.unfolding().scheme();
        if !scheme.transitions[first as usize].is_parallel(&scheme.transitions[second as usize]) {
            return Some("the same process as".into());
        }
        let used = scheme.used(second);
        for operation in scheme.used(first) {
            let guards = self.space.guards();
            if used.iter().any(|o| o.object == operation.object && !guards.commute(operation.verb, o.verb)) {
                return Some(format!("uses {} like", self.objects()[operation.object as usize].name));
            }
        }
        None
    }

    /// Why there is no set to be found.
    fn note(&self, enabled: &[Enabled], is_atomic: bool, is_untold: bool) -> Option<String> {
        let asks = |one: &Enabled| one.transition.is_some_and(|t| self.space.unfolding().detail(t).timeout);
        let is_one = enabled.iter().filter(|one| one.taken).count() < enabled.len();
        Some(match () {
            () if is_atomic => "inside an atomic sequence only the process in control moves".into(),
            () if enabled.is_empty() => "nothing is enabled".into(),
            () if enabled.len() == 1 => "only one transition is enabled".into(),
            () if self.algorithm != Algorithm::Guards && is_one => {
                format!("{}: of the set only the enabled part is told", self.algorithm)
            }
            () if self.algorithm != Algorithm::Guards => format!("{}: there is no smaller set", self.algorithm),
            () if !is_untold => return None,
            () if enabled.iter().any(asks) => "with `timeout` nothing else can move".into(),
            () => match self.living().find(|transition| transition.is_global) {
                Some(global) => {
                    format!("[{}] {} may do anything, and may still be taken", global.number, self.actors(global))
                }
                None => "not enough is known of the state".into(),
            },
        })
    }

    fn needs_place(&self, member: u32, step: usize) -> String {
        let step = &self.transitions()[member as usize].steps[step];
        let place = step
            .at
            .as_deref()
            .and_then(|at| at.rsplit(':').next())
            .map_or(String::new(), |line| format!(" (line {line})"));
        let name = &self.processes()[step.process as usize].name;
        format!("for [{member}] {name} must get to location {}{place}", step.from)
    }

    fn needs_condition(&self, member: u32, condition: u32, added: u32) -> String {
        let text = self.condition(condition);
        if self.space.guards().enablers(self.space.unfolding(), condition).contains(added) {
            return format!("it may make `{text}` true, for which [{member}] waits");
        }
        format!("an alternative of [{member}], which waits for `{text}`")
    }

    /// The moves to the state of that number, breadth first.
    fn moves_to(&mut self, number: u64, cap: &Cap) -> Result<Vec<Move>, ReduceError> {
        let mut states: Vec<Met> = Vec::new();
        let mut known = HashSet::new();
        let mut next = Vec::new();
        if !self.space.initial(0, &mut next) || self.space.is_dead() {
            return Err(ReduceError::NoSuchState("there is no initial state".into()));
        }
        known.insert(next.clone());
        states.push(Met { state: next.clone(), from: None });
        let mut seen = 0;
        let mut position = 0;
        while position < states.len() {
            let state = states[position].state.clone();
            if !self.space.is_transient(&state) {
                if seen == number {
                    return Ok(path(&states, position));
                }
                seen += 1;
            }
            if position % 256 == 0
                && let Err(interrupted) = cap.budget.report(&Progress { states: seen, ..Progress::default() })
            {
                let far = format!("state {number} is not among the first {}", cap.most);
                return Err(if cap.is_full() {
                    ReduceError::NoSuchState(far)
                } else {
                    ReduceError::Ended(interrupted.into())
                });
            }
            let mut cursor = self.space.first(&state);
            while let Some(transition) = cursor {
                self.space.target(&state, &transition, &mut next);
                if !self.space.is_dead() && known.insert(next.clone()) {
                    let moves = self.space.compiled().expand(&state, &transition);
                    states.push(Met { state: next.clone(), from: Some((position, moves)) });
                }
                cursor = self.space.next(&state, &transition);
            }
            position += 1;
        }
        Err(ReduceError::NoSuchState(format!("there are {seen} states, numbered from 0: none has number {number}")))
    }
}

fn path(states: &[Met], mut position: usize) -> Vec<Move> {
    let mut parts = Vec::new();
    while let Some((parent, moves)) = &states[position].from {
        parts.push(moves);
        position = *parent;
    }
    parts.into_iter().rev().flatten().cloned().collect()
}

fn start(interpreter: &Interpreter<'_>, number: &StartNumber) -> Result<State, ReduceError> {
    match interpreter.initial_state(number) {
        Some(Ok(state)) => Ok(state),
        Some(Err(fault)) => Err(ReduceError::NoSuchState(format!("the initial state is a fault: {fault}"))),
        None => Err(ReduceError::NoSuchState(format!("the model has no initial state number {number}"))),
    }
}

/// Takes a move; `step` counts from 1.
fn take(interpreter: &Interpreter<'_>, state: &State, taken: &Move, step: usize) -> Result<State, ReduceError> {
    let successor = interpreter.step(state, taken);
    let fault = successor.violation().unwrap_or_default();
    successor.state.ok_or_else(|| ReduceError::NoSuchState(format!("move {step} leads nowhere: {fault}")))
}

fn by_numbers(interpreter: &Interpreter<'_>, numbers: &[usize]) -> Result<ReplayedPath, ReduceError> {
    let mut state = start(interpreter, &StartNumber::default())?;
    let mut states = vec![state.clone()];
    for (step, number) in numbers.iter().enumerate() {
        let moves = interpreter.enabled(&state);
        let Some(taken) = number.checked_sub(1).and_then(|number| moves.get(number)) else {
            let range = match moves.len() {
                0 => "nothing can move".into(),
                1 => "move 1 is the only one".into(),
                most => format!("the moves are numbered 1 to {most}"),
            };
            return Err(ReduceError::NoSuchState(format!("there is no move {number} at step {}: {range}", step + 1)));
        };
        state = take(interpreter, &state, taken, step + 1)?;
        states.push(state.clone());
    }
    Ok(ReplayedPath { after: numbers.to_vec(), states })
}

fn by_moves(interpreter: &Interpreter<'_>, begin: &StartNumber, moves: &[Move]) -> Result<ReplayedPath, ReduceError> {
    let mut state = start(interpreter, begin)?;
    let mut states = vec![state.clone()];
    let mut after = Vec::new();
    for (step, taken) in moves.iter().enumerate() {
        let position = interpreter.enabled(&state).iter().position(|possible| possible == taken);
        let refused = || ReduceError::NoSuchState(format!("step {} is not possible there", step + 1));
        after.push(position.ok_or_else(refused)? + 1);
        state = take(interpreter, &state, taken, step + 1)?;
        states.push(state.clone());
    }
    Ok(ReplayedPath { after, states })
}

/// Along a trace, whose statements must be those of the model.
fn along(interpreter: &Interpreter<'_>, trace: &Trace, steps: Option<usize>) -> Result<ReplayedPath, ReduceError> {
    let all: Vec<_> = trace.prefix.iter().chain(&trace.cycle).collect();
    let count = steps.unwrap_or(all.len());
    if count > all.len() {
        return Err(ReduceError::NoSuchState(format!("the trace has {} steps: there is no step {count}", all.len())));
    }
    let mut state = start(interpreter, &trace.start)?;
    let mut moves = Vec::new();
    for (number, step) in all[..count].iter().enumerate() {
        let successor = interpreter.step(&state, &step.taken);
        let fits = interpreter.allows(&state, &step.taken) && {
            let described = interpreter.describe(&state, &step.taken, &successor);
            (&described.process, &described.text) == (&step.process, &step.text)
        };
        if !fits {
            let why = format!("step {}: {} cannot take `{}` there", number + 1, step.process, step.text);
            return Err(ReduceError::NoSuchState(format!("the trace does not fit the model: {why}")));
        }
        // After a fault there is no state; the one before it is the last.
        let Some(next) = successor.state else { break };
        moves.push(step.taken.clone());
        state = next;
    }
    by_moves(interpreter, &trace.start, &moves)
}
