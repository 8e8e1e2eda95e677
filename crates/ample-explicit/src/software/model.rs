//! Software models as state spaces.

use std::collections::BTreeSet;
use std::sync::Arc;

use ample_model::{EdgeId, Move};

use super::expression::{Expr, Fault, Frame, TypeError};
use super::flow::{ControlFlow, FlowTransition, Location};
use super::state::{Node, Order, SoftwareState};
use super::statement::Execution;
use super::types::{TypeGraph, TypeId};
use crate::liveness::{Concurrent, Processes};
use crate::partial::{Label, Labelled, Partial};
use crate::space::{Checked, StateSpace};

/// A transition of a software model: a process, and the step of the control flow at the top of its call stack that it
/// takes. It is the one in all states in which the process is at the same location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SoftwareTransition {
    /// The identifier of the process.
    pub pid: u32,
    /// The process or function type whose control flow it is.
    pub of: TypeId,
    /// The location that is left.
    pub from: Location,
    /// Which of the steps out of the location it is.
    pub step: u32,
}

/// Identifiers of processes have as many bits at most.
const MAX_PID_BITS: u32 = 8;

/// A condition that the states of a model are asked for, by its number: an invariant, or an atom of a formula.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The state is a graph over the type graph of the model.
    Typing,
    /// An expression over global variables is true.
    Global(Expr),
}

/// A model: types, and the processes there are at the beginning.
///
/// ```
/// use std::sync::Arc;
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Always, Deadlock, Goal, Handlers, Insert};
/// use ample_explicit::software::data::Integer;
/// use ample_explicit::software::expression::{Arithmetic, Literal, NumericalExpression, Value};
/// use ample_explicit::software::flow::Code;
/// use ample_explicit::software::statement::Assign;
/// use ample_explicit::software::types::{TypeGraph, TypeId};
/// use ample_explicit::software::SoftwareModel;
/// use ample_explicit::store::{HashStore, Parent, Store};
///
/// // byte x; active [2] proctype P() { x = x + 1 }
/// let mut types = TypeGraph::new();
/// let byte = types.data(Integer::unsigned("byte", 8));
/// types.variable(TypeId::GLOBAL, "x", byte);
/// let process = types.process("P");
/// let x = types.place(process, "x")?;
/// let sum = NumericalExpression(Arc::new(Value(x.clone())), Arithmetic::Add, Arc::new(Literal::Number(1)));
/// types.set_body(process, &[Code::step(Assign(x, Arc::new(sum)))]);
/// let mut model = SoftwareModel::new(types, &[process, process])?;
///
/// let mut store: HashStore<_, Parent> = HashStore::default();
/// let mut feedback = Handlers::new().on_explore(Always, Insert);
/// breadth_first(&mut model, &mut store, &mut feedback);
/// // Each process takes a step and ends, the one with the larger identifier first.
/// assert_eq!(store.len(), 7);
/// # Ok::<(), ample_explicit::software::expression::TypeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SoftwareModel {
    types: Arc<TypeGraph>,
    active: Vec<TypeId>,
    conditions: Vec<Condition>,
    pid_bits: u32,
    /// For each type the number of its first step.
    first_step: Vec<u32>,
    /// Which steps are independent of all that other processes do. None is where atomic sequences give one process
    /// control over all others.
    is_local_step: Vec<bool>,
    violation: Option<String>,
    fault: Option<Fault>,
    participant: Option<u32>,
    order: Order,
    scratch: SoftwareState,
}

impl SoftwareModel {
    /// A model with a process of each of these types, if the types of all statements are right.
    pub fn new(types: TypeGraph, active: &[TypeId]) -> Result<SoftwareModel, TypeError> {
        types.check_parts()?;
        if active.len() > 1 << MAX_PID_BITS {
            return Err(TypeError::TooManyProcesses(active.len()));
        }
        for id in types.ids() {
            let Some(flow) = types.get(id).flow() else { continue };
            flow.all_transitions().try_for_each(|step| step.statement.check(&types, id))?;
        }
        if let Some(other) = active.iter().find(|id| !types.is_process(**id)) {
            return Err(TypeError::Callee(types.get(*other).name.clone()));
        }
        let (mut first_step, mut is_local_step) = (Vec::new(), Vec::new());
        for id in types.ids() {
            first_step.push(is_local_step.len() as u32);
            let steps = types.get(id).flow().into_iter().flat_map(|flow| flow.all_transitions());
            is_local_step.extend(steps.map(|step| !types.is_atomic() && step.statement.is_local(&types)));
        }
        Ok(SoftwareModel {
            first_step,
            is_local_step,
            types: Arc::new(types),
            active: active.to_vec(),
            conditions: vec![Condition::Typing],
            pid_bits: MAX_PID_BITS,
            violation: None,
            fault: None,
            participant: None,
            order: Order::default(),
            scratch: SoftwareState::default(),
        })
    }

    /// Sets the number of bits of process identifiers, 8 at first and at most: where all are used, no process can be run.
    pub fn with_pid_bits(mut self, bits: u32) -> Self {
        self.pid_bits = bits.min(MAX_PID_BITS);
        self
    }

    /// Sets the [conditions](Checked::invariant) that states are asked for. At first there is one,
    /// [`Condition::Typing`].
    pub fn with_conditions(mut self, conditions: Vec<Condition>) -> Result<Self, TypeError> {
        for condition in &conditions {
            if let Condition::Global(expression) = condition {
                super::statement::check_truth(&self.types, TypeId::GLOBAL, expression)?;
            }
        }
        self.conditions = conditions;
        Ok(self)
    }

    /// The types.
    pub fn types(&self) -> &TypeGraph {
        &self.types
    }

    pub(super) fn shared_types(&self) -> &Arc<TypeGraph> {
        &self.types
    }

    pub(super) fn pid_bits(&self) -> u32 {
        self.pid_bits
    }

    /// Why the last transition has no state after it, if it was a run-time error.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The step of the control flow that a transition takes.
    pub fn step(&self, transition: &SoftwareTransition) -> &FlowTransition {
        let flow = self.types.get(transition.of).flow();
        &flow.expect("transitions are steps of processes and functions").steps(transition.from)
            [transition.step as usize]
    }

    /// The label of a transition: its statement.
    pub fn statement(&self, transition: &SoftwareTransition) -> String {
        self.step(transition).statement.text()
    }

    fn frame<'a>(&'a self, state: &'a SoftwareState, process: Node) -> Frame<'a> {
        let top = state.top(&self.types, process);
        Frame { types: &self.types, state, process, top, pid_bits: self.pid_bits }
    }

    /// The processes of a state that is normalised.
    fn processes<'a>(&'a self, state: &'a SoftwareState) -> impl Iterator<Item = Node> + 'a {
        state.nodes().skip(1).take_while(|node| self.types.is_process(state.get(*node).of))
    }

    fn process(&self, state: &SoftwareState, pid: u32) -> Option<Node> {
        self.processes(state).find(|node| state.get(*node).pid == pid)
    }

    /// The first enabled transition of a process from that step on.
    fn enabled_step(&self, state: &SoftwareState, process: Node, step: usize) -> Option<SoftwareTransition> {
        let frame = self.frame(state, process);
        let instance = state.get(frame.top);
        let steps = self.types.get(instance.of).flow()?.steps(instance.location);
        let is_enabled = |one: &FlowTransition| one.statement.is_enabled(&frame).unwrap_or(true);
        let can_take = |one: &FlowTransition| {
            if one.statement.is_else() {
                !steps.iter().any(|other| !other.statement.is_else() && is_enabled(other))
            } else {
                is_enabled(one)
            }
        };
        let step = (step..steps.len()).find(|step| can_take(&steps[*step]))?;
        let pid = state.get(process).pid;
        Some(SoftwareTransition { pid, of: instance.of, from: instance.location, step: step as u32 })
    }

    /// The process that nobody may interrupt.
    fn exclusive(&self, state: &SoftwareState) -> Option<Node> {
        let exclusive = self.processes(state).find(|node| state.get(*node).is_atomic)?;
        self.enabled_step(state, exclusive, 0).map(|_| exclusive)
    }

    /// Executes a transition; a fault leaves the state as it was.
    fn execute(&mut self, state: &SoftwareState, transition: &SoftwareTransition, out: &mut SoftwareState) {
        (self.violation, self.fault, self.participant) = (None, None, Some(transition.pid));
        out.clone_from(state);
        let Some(process) = self.process(state, transition.pid) else { return };
        let top = state.top(&self.types, process);
        let step = self.step(transition).clone();
        out.set_location(top, step.to);
        out.instances[process.number()].is_atomic = step.is_atomic;
        let mut run = Execution {
            types: &self.types,
            state: out,
            process,
            top,
            pid_bits: self.pid_bits,
            violation: &mut self.violation,
        };
        if let Err(fault) = step.statement.execute(&mut run) {
            self.fault = Some(fault);
            out.clone_from(state);
            return;
        }
        let processes = out.processes(&self.types);
        out.rearrange(&self.types, &processes, &mut self.order, &mut self.scratch);
    }
}

impl StateSpace for SoftwareModel {
    type State = SoftwareState;
    type Transition = SoftwareTransition;

    fn initial(&mut self, index: usize, out: &mut SoftwareState) -> bool {
        (self.violation, self.fault, self.participant) = (None, None, None);
        if index > 0 {
            return false;
        }
        *out = SoftwareState::new(&self.types);
        for (pid, of) in self.active.iter().enumerate() {
            out.create_process(&self.types, *of, pid as u32);
        }
        out.normalise(&self.types);
        true
    }

    fn first(&mut self, state: &SoftwareState) -> Option<SoftwareTransition> {
        if let Some(exclusive) = self.exclusive(state) {
            return self.enabled_step(state, exclusive, 0);
        }
        self.processes(state).find_map(|process| self.enabled_step(state, process, 0))
    }

    fn next(&mut self, state: &SoftwareState, last: &SoftwareTransition) -> Option<SoftwareTransition> {
        let process = self.process(state, last.pid)?;
        let next = self.enabled_step(state, process, last.step as usize + 1);
        if next.is_some() || self.exclusive(state).is_some() {
            return next;
        }
        let later = self.processes(state).filter(|node| state.get(*node).pid > last.pid);
        later.into_iter().find_map(|process| self.enabled_step(state, process, 0))
    }

    fn target(&mut self, state: &SoftwareState, transition: &SoftwareTransition, out: &mut SoftwareState) {
        self.execute(state, transition, out);
    }
}

impl Checked for SoftwareModel {
    /// All processes have ended.
    fn is_valid_end(&mut self, state: &SoftwareState) -> bool {
        self.processes(state).next().is_none()
    }

    fn violation(&self) -> Option<String> {
        self.violation.clone().or_else(|| self.fault.as_ref().map(Fault::to_string))
    }

    fn is_dead(&self) -> bool {
        self.fault.is_some()
    }

    fn is_transient(&self, _: &SoftwareState) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, number: usize, state: &SoftwareState) -> bool {
        match &self.conditions[number] {
            Condition::Typing => state.check_types(&self.types).is_ok(),
            Condition::Global(expression) => {
                let (process, top) = (Node::GLOBAL, Node::GLOBAL);
                let frame = Frame { types: &self.types, state, process, top, pid_bits: self.pid_bits };
                let datum = expression.eval(&frame);
                datum.and_then(|datum| frame.truth(datum, || expression.text())).unwrap_or(false)
            }
        }
    }
}

impl Concurrent for SoftwareModel {
    fn mover(&self, transition: &SoftwareTransition) -> Option<u32> {
        Some(transition.pid)
    }

    fn participants(&self) -> Processes {
        let mut processes = Processes::NONE;
        self.participant.iter().for_each(|pid| processes.insert(*pid));
        processes
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &SoftwareState, transition: &SoftwareTransition) -> Vec<Move> {
        let edge = EdgeId(self.number(transition));
        vec![Move::Process { process: transition.pid, edge }]
    }
}

/// Persistent sets: the steps of a process that can only take local steps, if it can take one; else all steps.
impl Partial for SoftwareModel {
    fn enabled(&mut self, state: &SoftwareState, out: &mut Vec<Labelled<SoftwareTransition>>) {
        let mut cursor = self.first(state);
        while let Some(transition) = cursor {
            out.push(Labelled { transition, label: self.label(&transition) });
            cursor = self.next(state, &transition);
        }
    }

    fn persistent(&mut self, state: &SoftwareState, enabled: &[Labelled<SoftwareTransition>], out: &mut Vec<u32>) {
        let pids: BTreeSet<u32> = enabled.iter().map(|one| one.transition.pid).collect();
        let all = 0..enabled.len() as u32;
        let local = pids.into_iter().find(|pid| self.is_local(state, *pid));
        out.extend(all.filter(|one| local.is_none_or(|pid| enabled[*one as usize].transition.pid == pid)));
    }

    fn persistent_with(
        &mut self,
        state: &SoftwareState,
        enabled: &[Labelled<SoftwareTransition>],
        member: u32,
        out: &mut Vec<u32>,
    ) {
        let pid = enabled[member as usize].transition.pid;
        let is_local = self.is_local(state, pid);
        let all = 0..enabled.len() as u32;
        out.extend(all.filter(|one| !is_local || enabled[*one as usize].transition.pid == pid));
    }

    /// One of two processes takes a step that is local.
    fn independent(&mut self, _: &SoftwareState, first: Label, second: Label) -> bool {
        let steps = self.is_local_step.len() as u32;
        let is_local = |label: Label| self.is_local_step[(label % steps) as usize];
        first / steps != second / steps && (is_local(first) || is_local(second))
    }
}

impl SoftwareModel {
    /// The number of the step that a transition takes, among all steps of the model.
    fn number(&self, transition: &SoftwareTransition) -> u32 {
        let flow = self.types.get(transition.of).flow();
        let before = |flow: &ControlFlow| (0..transition.from).map(|from| flow.steps(from).len() as u32).sum::<u32>();
        self.first_step[transition.of.index()] + flow.map_or(0, before) + transition.step
    }

    /// The process and the step.
    fn label(&self, transition: &SoftwareTransition) -> Label {
        transition.pid * self.is_local_step.len() as u32 + self.number(transition)
    }

    /// All steps of the process where it is now, enabled or not, are local.
    fn is_local(&self, state: &SoftwareState, pid: u32) -> bool {
        let Some(process) = self.process(state, pid) else { return false };
        let instance = state.get(state.top(&self.types, process));
        let steps = self.types.get(instance.of).flow().map_or(0, |flow| flow.steps(instance.location).len() as u32);
        let transition = |step| SoftwareTransition { pid, of: instance.of, from: instance.location, step };
        (0..steps).all(|step| self.is_local_step[self.number(&transition(step)) as usize])
    }
}
