//! Control flow: the locations of a process or a function, and the statements between them.
//!
//! A control flow is a state space of its own (§4.1.6 of the thesis): its states are locations, its transitions carry
//! statements, and whether a statement is enabled does not matter to it. It can be simulated, or searched for its end.

use std::sync::Arc;

use super::statement::{End, Return, Skip, Statement};
use crate::space::StateSpace;

/// A location: a program counter.
pub type Location = u32;

/// Structured code, from which control flow is made.
#[derive(Clone, Debug)]
pub enum Code {
    /// One statement: one step.
    Do(Arc<dyn Statement>),
    /// One of these sequences.
    If(Vec<Vec<Code>>),
    /// One of these sequences, again and again, until [`Break`](Code::Break).
    Loop(Vec<Vec<Code>>),
    /// Leaves the innermost loop; the last of a sequence. It takes no step of its own if there is a statement before it.
    Break,
    /// Nobody else moves between the statements of this sequence, as long as they are enabled.
    Atomic(Vec<Code>),
}

impl Code {
    /// One statement.
    pub fn step(statement: impl Statement + 'static) -> Code {
        Code::Do(Arc::new(statement))
    }
}

/// A step between two locations.
#[derive(Clone, Debug)]
pub struct FlowTransition {
    /// What is done.
    pub statement: Arc<dyn Statement>,
    /// The location after it.
    pub to: Location,
    /// Nobody else moves right after it.
    pub is_atomic: bool,
}

/// The control flow of a process type or a function type.
///
/// ```
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::software::flow::{Code, ControlFlow};
/// use ample_explicit::software::statement::Skip;
/// use ample_explicit::store::{HashStore, Parent};
///
/// // A loop that is left after two steps, or goes round in one.
/// let step = || Code::step(Skip);
/// let body = [Code::Loop(vec![vec![step(), step(), Code::Break], vec![step()]])];
/// let mut flow = ControlFlow::of_process(&body);
///
/// let end = flow.end();
/// let mut feedback = Handlers::new().on_explore(Accept(|at: &u32| *at == end), Goal).on_explore(Always, Insert);
/// let mut store: HashStore<u32, Parent> = HashStore::default();
/// assert_eq!(breadth_first(&mut flow, &mut store, &mut feedback).goal().unwrap().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct ControlFlow {
    /// The steps out of each location.
    steps: Vec<Vec<FlowTransition>>,
    end: Location,
}

/// Which location is left for which, and where `break` leads.
#[derive(Clone, Copy)]
struct Between {
    from: Location,
    to: Location,
    after_loop: Location,
    /// The end of the atomic sequence that this is in.
    atomic_until: Option<Location>,
}

impl ControlFlow {
    /// The control flow of a process: its body, and then [`End`], after which it is at a location of its own.
    pub fn of_process(body: &[Code]) -> ControlFlow {
        let mut flow = ControlFlow::of(body);
        let dead = flow.add_location();
        flow.add(flow.end, Arc::new(End), dead, false);
        flow
    }

    /// The control flow of a function: its body, and then [`Return`].
    pub fn of_function(body: &[Code]) -> ControlFlow {
        let mut flow = ControlFlow::of(body);
        flow.add(flow.end, Arc::new(Return), flow.end, false);
        flow
    }

    fn of(body: &[Code]) -> ControlFlow {
        let mut flow = ControlFlow { steps: vec![Vec::new()], end: 0 };
        flow.end = flow.add_location();
        let between = Between { from: 0, to: flow.end, after_loop: flow.end, atomic_until: None };
        flow.sequence(body, between);
        flow
    }

    /// A control flow with one location, where it begins, and which is its end: to be completed by
    /// [`add_location`](ControlFlow::add_location) and [`add`](ControlFlow::add), with jumps of any kind.
    pub fn empty() -> ControlFlow {
        ControlFlow { steps: vec![Vec::new()], end: 0 }
    }

    /// Adds a location.
    pub fn add_location(&mut self) -> Location {
        self.steps.push(Vec::new());
        self.steps.len() as Location - 1
    }

    /// Adds a step.
    pub fn add(&mut self, from: Location, statement: Arc<dyn Statement>, to: Location, is_atomic: bool) {
        self.steps[from as usize].push(FlowTransition { statement, to, is_atomic });
    }

    /// The location where the code ends.
    pub fn end(&self) -> Location {
        self.end
    }

    /// Says where the code ends.
    pub fn set_end(&mut self, end: Location) {
        self.end = end;
    }

    /// How many locations there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// There is always a location.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The steps out of a location.
    pub fn steps(&self, from: Location) -> &[FlowTransition] {
        self.steps.get(from as usize).map_or(&[], Vec::as_slice)
    }

    /// All steps.
    pub fn all_transitions(&self) -> impl Iterator<Item = &FlowTransition> {
        self.steps.iter().flatten()
    }

    fn step(&mut self, between: Between, statement: Arc<dyn Statement>) {
        let is_atomic = between.atomic_until.is_some_and(|end| end != between.to);
        self.add(between.from, statement, between.to, is_atomic);
    }

    fn sequence(&mut self, code: &[Code], mut between: Between) {
        let code = match code {
            [before @ .., Code::Break] => {
                between.to = between.after_loop;
                before
            }
            _ => code,
        };
        let Some((last, before)) = code.split_last() else { return self.step(between, Arc::new(Skip)) };
        for one in before {
            let to = self.add_location();
            self.code(one, Between { to, ..between });
            between.from = to;
        }
        self.code(last, between);
    }

    fn code(&mut self, code: &Code, between: Between) {
        match code {
            Code::Do(statement) => self.step(between, Arc::clone(statement)),
            Code::If(branches) => branches.iter().for_each(|branch| self.sequence(branch, between)),
            Code::Loop(branches) => {
                let around = Between { to: between.from, after_loop: between.to, ..between };
                branches.iter().for_each(|branch| self.sequence(branch, around));
            }
            Code::Break => self.step(Between { to: between.after_loop, ..between }, Arc::new(Skip)),
            Code::Atomic(sequence) => {
                let atomic_until = between.atomic_until.or(Some(between.to));
                self.sequence(sequence, Between { atomic_until, ..between });
            }
        }
    }
}

impl StateSpace for ControlFlow {
    type State = Location;
    /// The position of the step among those that leave the location.
    type Transition = u32;

    fn initial(&mut self, index: usize, out: &mut Location) -> bool {
        *out = 0;
        index == 0
    }

    fn first(&mut self, state: &Location) -> Option<u32> {
        (!self.steps(*state).is_empty()).then_some(0)
    }

    fn next(&mut self, state: &Location, transition: &u32) -> Option<u32> {
        Some(transition + 1).filter(|next| (*next as usize) < self.steps(*state).len())
    }

    fn target(&mut self, state: &Location, transition: &u32, out: &mut Location) {
        *out = self.steps(*state)[*transition as usize].to;
    }
}
