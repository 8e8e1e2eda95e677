//! Simulation: one run through a model, step by step, with the reference interpreter.

use ample_model::{
    Branch, Budget, EndState, Fault, Interpreter, Interrupted, Move, Standing, StartNumber, State, Step, System, Trace,
};
pub use ample_random::Random;
use thiserror::Error;

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
    budget: Budget,
    start: StartNumber,
}

/// So many moves of a state are told.
const MAX_MOVES: usize = 4096;

/// The number of the first initial state; `None` if there is none.
///
/// ```
/// use ample::simulate::first_start;
/// use ample::{Budget, System};
///
/// let system = System::new("nothing", "by hand");
/// assert_eq!(first_start(&system, &Budget::unlimited()), Ok(Some(0.into())));
/// ```
pub fn first_start(system: &System, budget: &Budget) -> Result<Option<StartNumber>, Interrupted> {
    Ok(Interpreter::new(system).starts_within(budget).next().transpose()?.map(|(number, _)| number))
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
    pub fn new(system: &'a System, start: impl Into<StartNumber>) -> Result<Simulation<'a>, Option<Fault>> {
        let (interpreter, start) = (Interpreter::new(system), start.into());
        match interpreter.initial_state(&start) {
            Some(Ok(state)) => Ok(Simulation { interpreter, state, fault: None, budget: Budget::unlimited(), start }),
            Some(Err(fault)) => Err(Some(fault)),
            None => Err(None),
        }
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.interpreter.system()
    }

    /// The number of the initial state that it began in.
    pub fn start(&self) -> &StartNumber {
        &self.start
    }

    /// The same, with what the search for moves may take.
    pub fn within(self, budget: &Budget) -> Simulation<'a> {
        Simulation { budget: budget.clone(), ..self }
    }

    /// The moves that are possible now. A state of a synchronous system may have very many: the first few thousand of
    /// them, as far as the budget allows to find them.
    pub fn moves(&self) -> Vec<Move> {
        if self.fault.is_some() {
            return Vec::new();
        }
        if self.interpreter.system().synchronous().is_none() {
            return self.interpreter.enabled(&self.state);
        }
        let steps = self.interpreter.steps_within(&self.state, &self.budget);
        steps.map_while(Result::ok).map(|(taken, _)| taken).take(MAX_MOVES).collect()
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
        if self.interpreter.steps_within(&self.state, &self.budget).next().is_some() {
            return None;
        }
        Some(if self.interpreter.is_end_state(&self.state) { Ending::EndState } else { Ending::Deadlock })
    }

    /// The state in words.
    pub fn state(&self) -> EndState {
        EndState::of(&self.interpreter, &self.state)
    }

    /// The state as a graph of processes and objects, in the language of Graphviz.
    pub fn picture(&self) -> String {
        self.interpreter.picture(&self.state)
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

/// Why a trace is not a run of a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misfit {
    /// There is no such initial state.
    #[error("the model has no initial state number {0}")]
    Start(StartNumber),
    /// The initial state itself is a fault.
    #[error("the initial state is a fault: {0}")]
    BadStart(Fault),
    /// A step that is not one of the model's, or tells something else than what happens.
    #[error("step {step}{of}: {why}")]
    Step {
        /// Which one, from 1; those of a cycle are counted after those before it.
        step: usize,
        /// The branch, as ` of branch 1`; empty for the run itself.
        of: String,
        /// What is wrong with it.
        why: String,
    },
    /// The cycle does not lead back to where it begins.
    #[error("the cycle{of} does not close: {why}")]
    Open {
        /// The branch, as ` of branch 1`; empty for the run itself.
        of: String,
        /// What is different there.
        why: String,
    },
    /// A branch begins where there is no state.
    #[error("branch {branch} begins after {after} steps, but there are {steps}")]
    NoFork {
        /// Its number, after those of the branches that it branches off.
        branch: String,
        /// After how many steps.
        after: usize,
        /// How many there are.
        steps: usize,
    },
}

/// Looks whether a trace, and what branches off it, are runs of the model: every step can be taken and does what the
/// trace says, and a cycle leads back to where it begins.
///
/// ```
/// let text = "byte x; active proctype P() { do :: x = 1 - x od }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let mut run = ample::simulate::Simulation::new(&model.system, 0).unwrap();
/// let taken = run.moves()[0].clone();
/// let step = run.take(&taken);
/// let open = ample::Trace { cycle: vec![step], ..Default::default() };
/// let why = ample::simulate::validate(&model.system, &open, &[]).unwrap_err();
/// assert_eq!(why.to_string(), "the cycle does not close: x is 0 where it begins and 1 after it");
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn validate(system: &System, trace: &Trace, branches: &[Branch]) -> Result<(), Misfit> {
    let interpreter = Interpreter::new(system);
    match interpreter.initial_state(&trace.start) {
        Some(Ok(state)) => follow(&interpreter, state, false, trace, branches, ""),
        Some(Err(fault)) if length(trace) > 0 || !branches.is_empty() => Err(Misfit::BadStart(fault)),
        Some(Err(_)) => Ok(()),
        None => Err(Misfit::Start(trace.start.clone())),
    }
}

fn length(trace: &Trace) -> usize {
    trace.prefix.len() + trace.cycle.len()
}

/// Follows a run from a state, or from where a fault has ended the run; and what branches off it on the way.
fn follow(
    interpreter: &Interpreter<'_>,
    mut state: State,
    mut ended: bool,
    trace: &Trace,
    branches: &[Branch],
    name: &str,
) -> Result<(), Misfit> {
    let of = if name.is_empty() { String::new() } else { format!(" of branch {name}") };
    let steps = length(trace);
    let named = |number: usize| if name.is_empty() { number.to_string() } else { format!("{name}.{number}") };
    if let Some(number) = branches.iter().position(|branch| branch.after > steps) {
        return Err(Misfit::NoFork { branch: named(number + 1), after: branches[number].after, steps });
    }
    let mut turn = None;
    for at in 0..=steps {
        for (number, branch) in branches.iter().enumerate().filter(|(_, branch)| branch.after == at) {
            follow(interpreter, state.clone(), ended, &branch.trace, &branch.branches, &named(number + 1))?;
        }
        if at == trace.prefix.len() {
            turn = Some(state.clone());
        }
        let step = trace.prefix.get(at).or_else(|| trace.cycle.get(at - trace.prefix.len().min(at)));
        let Some(step) = step else { break };
        let refuse = |why: String| Misfit::Step { step: at + 1, of: of.clone(), why };
        if ended {
            return Err(refuse("the run has ended with a fault before it".into()));
        }
        match compare(interpreter, &state, step).map_err(refuse)? {
            Some(next) => state = next,
            None => ended = true,
        }
    }
    let Some(turn) = turn.filter(|_| !trace.cycle.is_empty()) else { return Ok(()) };
    if ended {
        return Err(Misfit::Open { of, why: "it ends with a fault".into() });
    }
    let (turn, state) = (interpreter.identity(&turn), interpreter.identity(&state));
    if turn == state {
        return Ok(());
    }
    Err(Misfit::Open { of, why: difference(interpreter, &turn, &state) })
}

/// The state after a step, none after a fault; or how the step is not what the trace says.
fn compare(interpreter: &Interpreter<'_>, state: &State, step: &Step) -> Result<Option<State>, String> {
    let successor = interpreter.step(state, &step.taken);
    let told = format!("{} `{}`", step.process, one_line(&step.text));
    if successor.violations.contains(&Fault::NotEnabled) {
        return Err(format!("{told} cannot be taken there"));
    }
    let taken = interpreter.describe(state, &step.taken, &successor);
    if (&taken.process, &taken.text) != (&step.process, &step.text) {
        return Err(format!("the trace has {told}, the model {} `{}`", taken.process, one_line(&taken.text)));
    }
    let partner = |step: &Step| step.partner.as_ref().map(|(name, text, _)| format!("{name} `{}`", one_line(text)));
    if partner(&taken) != partner(step) {
        let shown = |partner: Option<String>| partner.unwrap_or_else(|| "nobody".into());
        return Err(format!(
            "in the trace it is with {}, in the model with {}",
            shown(partner(step)),
            shown(partner(&taken))
        ));
    }
    if taken.violation != step.violation {
        let told = |violation: &Option<String>| violation.clone().unwrap_or_else(|| "nothing goes wrong".into());
        return Err(format!("the trace says: {}; the model: {}", told(&step.violation), told(&taken.violation)));
    }
    if taken.changes != step.changes {
        let (told, does) = (changes(step, &taken), changes(&taken, step));
        return Err(format!("{} `{}`: the trace says {told}, the model {does}", step.process, one_line(&step.text)));
    }
    if taken.messages != step.messages {
        return Err(format!("{} `{}` sends or receives other messages", step.process, one_line(&step.text)));
    }
    Ok(successor.state)
}

/// The first change of a step that another does not have.
fn changes(step: &Step, other: &Step) -> String {
    let missing = step.changes.iter().find(|change| !other.changes.contains(change));
    missing.map_or_else(|| "nothing of it".into(), |change| format!("{} becomes {}", change.name, change.after))
}

/// The first thing in which two states differ.
fn difference(interpreter: &Interpreter<'_>, before: &State, after: &State) -> String {
    let (before, after) = (EndState::of(interpreter, before), EndState::of(interpreter, after));
    let told = |what: &str, one: String, other: String| format!("{what} is {one} where it begins and {other} after it");
    for (one, other) in before.variables.iter().zip(&after.variables) {
        if one != other {
            return told(&one.name, one.value.clone(), other.value.clone());
        }
    }
    for (one, other) in before.channels.iter().zip(&after.channels) {
        if one != other {
            let held = |messages: &[Vec<String>]| match messages.len() {
                0 => "empty".to_owned(),
                _ => messages.iter().map(|fields| format!("[{}]", fields.join(","))).collect(),
            };
            return told(&format!("channel {}", one.channel), held(&one.messages), held(&other.messages));
        }
    }
    let place = |standing: &Standing| match &standing.at {
        Some(at) => format!("at {at} before `{}`", one_line(&standing.waits_for.join(" or "))),
        None => format!("before `{}`", one_line(&standing.waits_for.join(" or "))),
    };
    for (one, other) in before.processes.iter().zip(&after.processes) {
        if (&one.process, &one.at, &one.waits_for) != (&other.process, &other.at, &other.waits_for) {
            return told(&one.process, place(one), place(other));
        }
    }
    "the states before and after it differ".into()
}

/// A statement may be written over several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The state at the end of a trace, or where its cycle begins; none if it is not a run of the model.
///
/// ```
/// let text = "byte x; active proctype P() { x = 1; x = 2 }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let end = ample::simulate::end_of(&model.system, &ample::Trace::default()).unwrap();
/// assert_eq!(end.processes[0].waits_for, ["x = 1"]);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn end_of(system: &System, trace: &Trace) -> Option<EndState> {
    let mut simulation = Simulation::new(system, &trace.start).ok()?;
    for step in &trace.prefix {
        if simulation.interpreter.step(&simulation.state, &step.taken).violations.contains(&Fault::NotEnabled) {
            return None;
        }
        simulation.take(&step.taken);
    }
    Some(simulation.state())
}
