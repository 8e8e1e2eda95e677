//! The thesis's systems, to be run: processes, objects with the semantics of the library, transitions (§2.1).

use ample_reduce::algorithms::independent;
use ample_reduce::objects::{self, Table, Value};
use ample_reduce::scheme::{
    Condition, ConditionNumber, Kind, Object, ObjectNumber, Operation, ProcessNumber, Scheme, Step, Transition,
    TransitionNumber, Verb, View,
};

/// Where the processes stand, and the values of the objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub control: Vec<u32>,
    pub values: Vec<OrderedValue>,
}

/// The value of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrderedValue(pub Value);

impl PartialOrd for OrderedValue {
    fn partial_cmp(&self, other: &OrderedValue) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedValue {
    fn cmp(&self, other: &OrderedValue) -> std::cmp::Ordering {
        let key = |value: &Value| match value {
            Value::Nothing => vec![],
            Value::Number(number) => vec![*number],
            Value::Messages(messages) => messages.clone(),
        };
        key(&self.0).cmp(&key(&other.0))
    }
}

/// A condition: an operation that changes nothing answers that, or does not.
#[derive(Clone, Debug)]
pub struct Guard {
    pub object: ObjectNumber,
    pub verb: Verb,
    pub answer: Value,
    pub is_wanted: bool,
}

/// The variable has that value.
pub fn is(object: ObjectNumber, value: i64) -> Guard {
    Guard { object, verb: Verb::Read, answer: Value::Number(value), is_wanted: true }
}

/// The question is answered with yes, or with no.
pub fn says(object: ObjectNumber, verb: Verb, truth: bool) -> Guard {
    Guard { object, verb, answer: Value::Number(1), is_wanted: truth }
}

/// An operation of a command, with its input.
pub type Action = (ObjectNumber, Verb, i64);

/// The variable gets that value.
pub fn write(object: ObjectNumber, value: i64) -> Action {
    (object, Verb::Write, value)
}

/// A system that can be run.
#[derive(Clone, Debug)]
pub struct System {
    pub scheme: Scheme,
    pub initial: State,
    /// Per condition: what is asked. None for definedness.
    guards: Vec<Option<Guard>>,
    /// Per transition: the inputs of its command.
    inputs: Vec<Vec<i64>>,
}

impl System {
    pub fn new() -> System {
        let initial = State { control: Vec::new(), values: Vec::new() };
        System { scheme: Scheme::default(), initial, guards: Vec::new(), inputs: Vec::new() }
    }

    /// A process that begins there.
    pub fn process(&mut self, location: u32) -> ProcessNumber {
        self.initial.control.push(location);
        self.scheme.processes.push(format!("P{}", self.scheme.processes.len()));
        self.scheme.processes.len() as ProcessNumber - 1
    }

    /// An object with that value.
    pub fn object(&mut self, kind: Kind, value: Value) -> ObjectNumber {
        self.initial.values.push(OrderedValue(value));
        self.scheme.objects.push(Object { kind, name: format!("o{}", self.scheme.objects.len()) });
        self.scheme.objects.len() as ObjectNumber - 1
    }

    pub fn variable(&mut self) -> ObjectNumber {
        self.object(Kind::Variable, Value::Number(0))
    }

    pub fn channel(&mut self, capacity: u32, messages: &[i64]) -> ObjectNumber {
        self.object(Kind::Channel { capacity }, Value::Messages(messages.to_vec()))
    }

    /// A transition: which processes go from where to where, the conditions, the command. That the operations of the
    /// command are defined is a condition too (restriction R2). After an operation that changes an object, no other one
    /// of the command may be on it (restriction R1).
    pub fn transition(
        &mut self,
        moves: &[(ProcessNumber, u32, u32)],
        guards: &[Guard],
        command: &[Action],
    ) -> TransitionNumber {
        let operation = |&(object, verb, _): &Action| Operation { object, verb };
        for (place, action) in command.iter().enumerate() {
            let is_touched = command[place + 1..].iter().any(|later| later.0 == action.0);
            assert!(!(is_touched && changes(action.1)), "R1: an object is used after it was changed");
        }
        let mut conditions = Vec::new();
        for guard in guards {
            assert!(!changes(guard.verb), "a condition changes an object");
            let operations = vec![Operation { object: guard.object, verb: guard.verb }];
            conditions.push(self.condition(operations, Some(guard.clone())));
        }
        for action in command.iter().filter(|action| is_partial(action.1)) {
            conditions.push(self.condition(vec![operation(action)], None));
        }
        let step = |&(process, from, to)| Step { process, from, to: vec![to] };
        self.inputs.push(command.iter().map(|action| action.2).collect());
        self.scheme.transitions.push(Transition {
            steps: moves.iter().map(step).collect(),
            conditions,
            command: command.iter().map(operation).collect(),
            is_global: false,
            is_timeout: false,
            label: format!("t{}", self.scheme.transitions.len() + 1),
        });
        self.scheme.transitions.len() as TransitionNumber - 1
    }

    fn condition(&mut self, operations: Vec<Operation>, guard: Option<Guard>) -> ConditionNumber {
        let is_definedness = guard.is_none();
        self.scheme.conditions.push(Condition { operations, is_definedness, text: String::new() });
        self.guards.push(guard);
        self.guards.len() as ConditionNumber - 1
    }

    pub fn kind(&self, object: ObjectNumber) -> Kind {
        self.scheme.objects[object as usize].kind
    }

    /// Does the condition of the transition hold?
    fn holds(&self, state: &State, transition: TransitionNumber, condition: ConditionNumber) -> bool {
        let Some(guard) = &self.guards[condition as usize] else {
            let operation = self.scheme.conditions[condition as usize].operations[0];
            let command = &self.scheme.transitions[transition as usize].command;
            let inputs = &self.inputs[transition as usize];
            let mut same = command.iter().zip(inputs).filter(|(other, _)| **other == operation);
            return same.all(|(operation, input)| self.apply(state, *operation, *input).is_some());
        };
        let operation = Operation { object: guard.object, verb: guard.verb };
        self.apply(state, operation, 0).is_some_and(|(answer, _)| (answer == guard.answer) == guard.is_wanted)
    }

    fn apply(&self, state: &State, operation: Operation, input: i64) -> Option<(Value, Value)> {
        let value = &state.values[operation.object as usize].0;
        objects::apply(self.kind(operation.object), operation.verb, input, value)
    }

    pub fn is_enabled(&self, state: &State, number: TransitionNumber) -> bool {
        let transition = &self.scheme.transitions[number as usize];
        transition.steps.iter().all(|step| state.control[step.process as usize] == step.from)
            && transition.conditions.iter().all(|condition| self.holds(state, number, *condition))
    }

    pub fn enabled(&self, state: &State) -> Vec<TransitionNumber> {
        let numbers = 0..self.scheme.transitions.len() as TransitionNumber;
        numbers.filter(|number| self.is_enabled(state, *number)).collect()
    }

    /// The state after an enabled transition.
    pub fn successor(&self, state: &State, number: TransitionNumber) -> State {
        let transition = &self.scheme.transitions[number as usize];
        let mut next = state.clone();
        for (operation, input) in transition.command.iter().zip(&self.inputs[number as usize]) {
            let (_, value) = self.apply(&next, *operation, *input).expect("the transition is enabled");
            next.values[operation.object as usize] = OrderedValue(value);
        }
        for step in &transition.steps {
            next.control[step.process as usize] = step.to[0];
        }
        next
    }

    /// The state after a transition, if it is enabled.
    pub fn step(&self, state: &State, number: TransitionNumber) -> Option<State> {
        self.is_enabled(state, number).then(|| self.successor(state, number))
    }

    pub fn view<'s>(&'s self, state: &'s State) -> Seen<'s> {
        Seen { system: self, state, enabled: self.enabled(state) }
    }

    pub fn independent(&self, state: &State, one: TransitionNumber, other: TransitionNumber, table: Table) -> bool {
        let mut view = Seen { system: self, state, enabled: Vec::new() };
        independent(&self.scheme, &mut view, one, other, table)
    }
}

/// The operation may change its object.
fn changes(verb: Verb) -> bool {
    use Verb::{Empty, Full, Held, Length, Peek, Read, Search, Zero};
    !matches!(verb, Empty | Full | Held | Length | Peek | Read | Search | Zero)
}

/// The operation is not always defined.
fn is_partial(verb: Verb) -> bool {
    use Verb::{Acquire, Down, Receive, ReceiveAnywhere, Release, Send, SendSorted, Up};
    matches!(verb, Acquire | Down | Receive | ReceiveAnywhere | Release | Send | SendSorted | Up)
}

/// A state, as the algorithms see it.
pub struct Seen<'s> {
    system: &'s System,
    state: &'s State,
    pub enabled: Vec<TransitionNumber>,
}

impl View for Seen<'_> {
    fn location(&self, process: ProcessNumber) -> Option<u32> {
        self.state.control.get(process as usize).copied()
    }

    fn enabled(&self) -> &[TransitionNumber] {
        &self.enabled
    }

    fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.enabled.contains(&transition)
    }

    fn holds(&mut self, transition: TransitionNumber, condition: ConditionNumber) -> bool {
        self.system.holds(self.state, transition, condition)
    }

    fn asks_ahead(&self, _: TransitionNumber, _: ConditionNumber) -> bool {
        true
    }

    fn fill(&mut self, object: ObjectNumber) -> u32 {
        objects::fill(self.system.kind(object), &self.state.values[object as usize].0)
    }
}
