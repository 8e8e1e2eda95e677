//! The meaning of random Milestones models, computed twice: from the flattened model, by the semantics as the thesis
//! states it, and from the system that is made of it, by the reference interpreter. States and labelled steps must be
//! the same, and so must the values of all formulas' atoms.
//!
//! `AMPLE_SEED=n` looks at one model only and shows it.

use std::collections::{BTreeSet, VecDeque};

use ample_lang::milestones;
use ample_lang::milestones::model::{
    ActionId, Arithmetic, Assignment, Comparison, Condition, Label, Model, Number, Process, Value,
};
use ample_logic::{Atom, Formula};
use ample_model::{Interpreter, Question};
use ample_random::Random;

type State = Vec<u32>;
/// From where, by which action, and where to; `None` is a fault.
type Step = (State, String, Option<State>);

// The meaning of the model.

/// `None` is a division by zero.
fn number(number_: &Number, width: u8, state: &State) -> Option<u64> {
    let (op, x, y) = match number_ {
        Number::Const(value) => return Some(u64::from(*value)),
        Number::Read(id) => return Some(u64::from(state[id.0])),
        Number::Binary(op, x, y) => (op, number(x, width, state)?, number(y, width, state)?),
    };
    let modulus = 1_u128 << width;
    let (x, y) = (u128::from(x), u128::from(y));
    let value = match op {
        Arithmetic::Add => (x + y) % modulus,
        Arithmetic::Subtract => (x + modulus - y) % modulus,
        Arithmetic::Multiply => (x * y) % modulus,
        Arithmetic::Divide => x.checked_div(y)?,
        Arithmetic::Remainder => x.checked_rem(y)?,
    };
    Some(value as u64)
}

fn value(value: &Value, state: &State) -> Option<u64> {
    number(&value.number, value.bits, state)
}

fn holds(condition: &Condition, state: &State) -> Option<bool> {
    Some(match condition {
        Condition::Const(truth) => *truth,
        Condition::Compare(op, x, y) => {
            let order = value(x, state)?.cmp(&value(y, state)?);
            match op {
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::Less => order.is_lt(),
                Comparison::LessEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                Comparison::GreaterEqual => order.is_ge(),
            }
        }
        Condition::Not(x) => !holds(x, state)?,
        Condition::And(x, y) => holds(x, state)? && holds(y, state)?,
        Condition::Or(x, y) => holds(x, state)? || holds(y, state)?,
        Condition::Implies(x, y) => !holds(x, state)? || holds(y, state)?,
        Condition::Iff(x, y) => holds(x, state)? == holds(y, state)?,
    })
}

/// All at once, reading the state before.
fn apply(model: &Model, assignments: &[&Assignment], state: &State) -> Option<State> {
    let mut next = state.clone();
    for assignment in assignments {
        let largest = model.variable(assignment.target).largest();
        next[assignment.target.0] = value(&assignment.value, state)? as u32 & largest;
    }
    Some(next)
}

fn local_steps(model: &Model, process: &Process, state: &State, steps: &mut BTreeSet<Step>) {
    for command in &process.commands {
        let Label::Local(action) = command.action else { continue };
        if state[process.pc.0] == command.pc && holds(&command.guard, state).expect("guards do not divide") {
            let next = apply(model, &command.assignments.iter().collect::<Vec<_>>(), state);
            steps.insert((state.clone(), format!("{}.{}", process.name, process.actions[action]), next));
        }
    }
}

fn global_steps(model: &Model, action: ActionId, state: &State, steps: &mut BTreeSet<Step>) {
    let mut together: Vec<Vec<&Assignment>> = Vec::new();
    for command in model.commands.iter().filter(|command| command.action == action) {
        if holds(&command.guard, state).expect("guards do not divide") {
            together.push(command.assignments.iter().collect());
        }
    }
    for process in model.processes.iter().filter(|process| process.sync.contains(&action)) {
        let mut extended = Vec::new();
        for command in process.commands.iter().filter(|command| command.action == Label::Global(action)) {
            if state[process.pc.0] == command.pc && holds(&command.guard, state).expect("guards do not divide") {
                let own: Vec<&Assignment> = command.assignments.iter().collect();
                extended.extend(together.iter().map(|before| [before.clone(), own.clone()].concat()));
            }
        }
        together = extended;
    }
    for assignments in together {
        let label = format!("main.{}", model.actions[action.0]);
        steps.insert((state.clone(), label, apply(model, &assignments, state)));
    }
}

fn initial_states(model: &Model) -> Vec<State> {
    let mut states = vec![Vec::new()];
    for variable in &model.variables {
        let values: Vec<u32> = variable.initial.map_or((0..=variable.largest()).collect(), |value| vec![value]);
        let extend = |state: &State| values.iter().map(|v| [state.clone(), vec![*v]].concat()).collect::<Vec<_>>();
        states = states.iter().flat_map(extend).collect();
    }
    states
}

/// Explores up to a number of states; `None` if there are more.
fn explore(
    initial: Vec<State>,
    mut successors: impl FnMut(&State, &mut BTreeSet<Step>),
) -> Option<(BTreeSet<State>, BTreeSet<Step>)> {
    let mut seen: BTreeSet<State> = initial.iter().cloned().collect();
    let mut queue: VecDeque<State> = seen.iter().cloned().collect();
    let mut steps = BTreeSet::new();
    while let Some(state) = queue.pop_front() {
        let mut here = BTreeSet::new();
        successors(&state, &mut here);
        for next in here.iter().filter_map(|(_, _, next)| next.as_ref()) {
            if seen.insert(next.clone()) {
                queue.push_back(next.clone());
            }
        }
        steps.extend(here);
        if seen.len() > 3000 {
            return None;
        }
    }
    Some((seen, steps))
}

// The same by the interpreter.

fn visible(model: &Model, globals: &[i64]) -> State {
    assert!(globals[model.variables.len()..].iter().all(|temporary| *temporary == 0), "temporaries are cleared");
    globals[..model.variables.len()].iter().map(|value| u32::try_from(*value).expect("unsigned")).collect()
}

fn by_the_interpreter(model: &Model) -> Option<(BTreeSet<State>, BTreeSet<Step>)> {
    let system = milestones::lower::lower(model).expect("it is small").system;
    ample_model::check::check(&system).expect("well-formed");
    let interpreter = Interpreter::new(&system);
    let first: Vec<_> = interpreter.initial_states().map(|state| state.expect("no fault")).collect();
    let some = first[0].clone();
    let initial = first.iter().map(|state| visible(model, &state.globals)).collect();
    explore(initial, |state, steps| {
        let mut whole = some.clone();
        whole.globals = state.iter().map(|value| i64::from(*value)).collect();
        whole.globals.resize(system.globals.len(), 0);
        for (taken, successor) in interpreter.successors(&whole) {
            let (process, edge) = taken.movers().next().expect("a process");
            let process = &system.processes[whole.processes[process as usize].process.index()];
            let label = format!("{}.{}", process.name, process.edges[edge.index()].label);
            let next = successor.state.map(|next| visible(model, &next.globals));
            steps.insert((state.clone(), label, next));
        }
        for (property, lowered) in model.properties.iter().zip(&system.properties) {
            let Question::Ltl(temporal) = &lowered.question else { continue };
            let always = Formula::atom(Atom(0)).globally();
            if (&property.formula, &temporal.formula) != (&always, &always) {
                continue;
            }
            let (own, theirs) = (&property.atoms[0], &temporal.atoms[0]);
            let got = interpreter.evaluate(&whole, None, theirs).ok();
            assert_eq!(got.map(|value| value != 0), holds(own, state), "{} in {state:?}", property.text);
        }
    })
}

// Random models.

/// Writes models.
struct Author(Random);

impl Author {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        self.0.pick(choices)
    }

    fn number(&mut self, names: &[&str], depth: usize, divides: bool) -> String {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => self.below(6).to_string(),
            1 | 2 => self.of(names).to_owned(),
            _ => {
                let op = if divides { self.of(&["+", "-", "*", "/", "%"]) } else { self.of(&["+", "-", "*"]) };
                let (x, y) = (self.number(names, depth - 1, divides), self.number(names, depth - 1, divides));
                // A constant by itself might be negative or divide by zero, which is an error.
                let first = self.of(names);
                if self.below(2) == 0 {
                    format!("({first} + {x}) {op} ({first} + {y})")
                } else {
                    format!("{first} {op} ({x} + {first})")
                }
            }
        }
    }

    fn condition(&mut self, names: &[&str], depth: usize) -> String {
        if depth == 0 || self.below(3) == 0 {
            let op = self.of(&["=", "==", "!=", "<", "<=", ">", ">="]);
            return match self.below(5) {
                0 => "true".to_owned(),
                1 | 2 => format!("{} {op} {}", self.of(names), self.below(4)),
                _ => format!("{} {op} {}", self.number(names, 1, false), self.number(names, 1, false)),
            };
        }
        let x = self.condition(names, depth - 1);
        if self.below(4) == 0 {
            return format!("!({x})");
        }
        let op = self.of(&["&", "|", "&&", "||", "->", "<->", "=>", "<=>"]);
        format!("({x}) {op} ({})", self.condition(names, depth - 1))
    }

    /// Assignments to some of the targets, in any order.
    fn assignments(&mut self, targets: &[&str], names: &[&str]) -> String {
        let mut left: Vec<&str> = targets.to_vec();
        let mut text = String::new();
        for _ in 0..self.below(targets.len() + 1) {
            let target = left.swap_remove(self.below(left.len()));
            let divides = self.below(8) == 0;
            let value = if self.below(2) == 0 { self.of(names).to_owned() } else { self.number(names, 1, divides) };
            text.push_str(&format!(" {target} := {value};"));
        }
        text
    }

    fn variable(&mut self, name: &str) -> String {
        let bits = 1 + self.below(2);
        if self.below(4) == 0 {
            format!("{name}:{bits}; ")
        } else {
            format!("{name}:{bits}:={}; ", self.below(1 << bits))
        }
    }

    fn process_type(&mut self, name: &str) -> String {
        let own = ["pc", "x", "y"];
        let everything = ["pc", "x", "y", "g", "h"];
        let mut commands = String::new();
        for _ in 0..2 + self.below(4) {
            let action = self.of(&["a", "b", "s", "t", "t"]);
            let local = matches!(action, "a" | "b");
            let names: &[&str] = if local { &everything } else { &own };
            let guard = self.condition(names, 1);
            let assignments = self.assignments(names, names);
            commands.push_str(&format!("    [{}][{action}] {guard}:{assignments}\n", self.below(2)));
        }
        let sync = self.of(&["", "s", "t", "s t", "s; t;"]);
        let (x, y) = (self.variable("x"), self.variable("y"));
        format!(
            "LOCAL {name} ACTIONS a; b; END VARIABLES pc:1:=0; {x}{y}END\n  CASE\n{commands}  END SYNC {sync} END END\n"
        )
    }

    fn model(&mut self) -> String {
        let (g, h) = (self.variable("g"), self.variable("h"));
        let (p, q) = (self.process_type("P"), self.process_type("Q"));
        let (ps, qs) = (1 + self.below(2), 1 + self.below(2));
        let everything = ["g", "h", "p[0].x", "q[0].y", "p[0].pc", "q[0].pc"];
        let mut commands = String::new();
        for _ in 0..self.below(5) {
            let action = self.of(&["s", "t"]);
            let guard = if self.below(2) == 0 { "true".to_owned() } else { self.condition(&everything, 1) };
            commands.push_str(&format!("    [{action}] {guard}:{}\n", self.assignments(&["g", "h"], &everything)));
        }
        let properties: String = (0..2).map(|_| format!("  G ({});\n", self.condition(&everything, 2))).collect();
        format!(
            "ACTION s t END VARIABLE {g}{h}END\n{p}{q}\
             MAIN PROC p := P[{ps}]; q : Q[{qs}]; END CASE\n{commands}  END END\n\
             LTL\n{properties}END\n"
        )
    }
}

fn examine(seed: u64) -> bool {
    let text = Author(Random::new(seed)).model();
    let model = match milestones::parse("random.mil", &text) {
        Ok(model) => model,
        Err(rejected) => panic!("seed {seed}: {rejected}\n{text}"),
    };
    let expected = explore(initial_states(&model), |state, steps| {
        model.processes.iter().for_each(|process| local_steps(&model, process, state, steps));
        (0..model.actions.len()).for_each(|action| global_steps(&model, ActionId(action), state, steps));
    });
    let found = by_the_interpreter(&model);
    assert!(expected == found, "seed {seed}: the two meanings differ\n{text}");
    expected
        .is_some_and(|(states, steps)| states.len() > 5 && steps.iter().any(|(_, label, _)| label.starts_with("main.")))
}

#[test]
fn a_model_and_its_system_mean_the_same() {
    if let Some(seed) = std::env::var("AMPLE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        examine(seed);
        return;
    }
    let telling = (0..500).filter(|seed| examine(*seed)).count();
    assert!(telling > 100, "only {telling} models had a rendez-vous and more than five states");
}
