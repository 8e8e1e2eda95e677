//! A Milestones model in the language of NuSMV.
//!
//! One module: the action is an input, each variable a range, and the transition relation a disjunction with a line for
//! each command. A rendez-vous is one disjunct too: inside it stands, for each process that takes part, a disjunction
//! over its commands, so that the text does not grow with the number of combinations. Whatever is not assigned keeps
//! its value, which is said each time.
//!
//! Arithmetic on ranges is exact in NuSMV and modular here, so that the remainder is written down. A state in which no
//! action is possible has a step to itself: paths are infinite in NuSMV.

use std::fmt::Write;

use ample_logic::{Atom, Binary, Formula, Unary};

use super::{Limits, Names, Untranslatable, one_line, refuse};
use crate::milestones::model::{
    ActionId, Arithmetic, Assignment, Command, Comparison, Condition, Label, Logic, Model, Number, Process, Property,
    Value, VariableId,
};

/// NuSMV handles the values of a range one by one, and its numbers have 32 bits.
const LIMITS: Limits = Limits { language: "NuSMV", variable: 15, computation: 15 };

/// What means something else there.
pub(super) const RESERVED: &str = "\
    A ABF ABG AF AG ASSIGN AX BU COMPASSION COMPID COMPUTE COMPWFF CONSTANTS CONSTARRAY CONSTRAINT CTLSPEC CTLWFF \
    DEFINE E EBF EBG EF EG EX F FAIRNESS FALSE FROZENVAR FUN G H IN INIT INVAR INVARSPEC ISA ITYPE IVAR JUSTICE \
    LTLSPEC LTLWFF MAX MDEFINE MIN MIRROR MODULE NAME O PRED PREDICATES PSLSPEC PSLWFF READ S SIMPWFF SPEC T TRANS \
    TRUE U V VALID VAR WRITE X Y Z abs action array bool boolean case clock cos count esac exp extend floor in init \
    integer ln main max min mod next noncontinuous of pi pow process real resize self signed sin sizeof swconst tan \
    time toint typeof union unsigned uwconst word word1 xnor xor";

/// The model as a NuSMV file.
///
/// ```
/// let text = "LOCAL P ACTIONS up; END VARIABLES pc : 2 := 0; END CASE [0] [up] true : pc := 1; END END
///             GLOBAL PROC p : P[1]; END END";
/// let model = ample_lang::milestones::parse("up.mil", text)?;
/// let smv = ample_lang::export::smv::model(&model).unwrap();
/// assert!(smv.contains("p_pc : 0..3;"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn model(model: &Model) -> Result<String, Untranslatable> {
    refuse(model, &LIMITS)?;
    let mut smv = Smv::new(model);
    let mut out = format!("-- {}, from Milestones\nMODULE main\n\n", one_line(&model.name));
    smv.declarations(&mut out);
    smv.initial(&mut out);
    smv.relation(&mut out);
    for property in &model.properties {
        smv.property(&mut out, property);
    }
    Ok(out)
}

/// The order of the variables, as NuSMV reads it (`-i FILE`): the action, then the variables as they were declared. It
/// puts the bits of the next state beside those of the present one by itself.
pub fn order(model: &Model) -> Result<String, Untranslatable> {
    refuse(model, &LIMITS)?;
    let smv = Smv::new(model);
    Ok(smv.variables.iter().fold("action\n".to_owned(), |text, variable| text + variable + "\n"))
}

struct Smv<'a> {
    model: &'a Model,
    names: Names,
    /// The names of the variables.
    variables: Vec<String>,
    /// The names of the global actions.
    actions: Vec<String>,
    /// The names of the local actions of each process.
    locals: Vec<Vec<String>>,
    /// The name of the action of a model that is stuck.
    stuck: String,
}

impl<'a> Smv<'a> {
    fn new(model: &'a Model) -> Smv<'a> {
        let mut names = Names::new(RESERVED);
        let variable = |variable: &crate::milestones::model::Variable| match variable.owner {
            Some(owner) => format!("{}_{}", process_name(&model.processes[owner]), variable.short),
            None => variable.name.clone(),
        };
        let variables = model.variables.iter().map(|one| names.give(&variable(one))).collect();
        let actions = model.actions.iter().map(|action| names.give(action)).collect();
        let mut local = |process: &Process| {
            let name = process_name(process);
            process.actions.iter().map(|action| names.give(&format!("{name}_{action}"))).collect()
        };
        let locals = model.processes.iter().map(&mut local).collect();
        let stuck = names.give("stuck");
        Smv { model, names, variables, actions, locals, stuck }
    }

    fn declarations(&self, out: &mut String) {
        let locals = self.locals.iter().flatten();
        let all: Vec<&str> = self.actions.iter().chain(locals).chain([&self.stuck]).map(String::as_str).collect();
        let _ = writeln!(out, "IVAR\n  action : {{{}}};\n\nVAR", all.join(", "));
        for (variable, name) in self.model.variables.iter().zip(&self.variables) {
            let _ = writeln!(out, "  {name} : 0..{};", variable.largest());
        }
    }

    fn initial(&self, out: &mut String) {
        let first = |(variable, name): (&crate::milestones::model::Variable, &String)| {
            variable.initial.map(|value| format!("{name} = {value}"))
        };
        let all: Vec<String> = self.model.variables.iter().zip(&self.variables).filter_map(first).collect();
        let _ = writeln!(out, "\nINIT\n  {}", if all.is_empty() { "TRUE".into() } else { all.join(" & ") });
    }

    /// The transition relation, and the condition under which it would be empty.
    fn relation(&mut self, out: &mut String) {
        let (mut possible, mut steps) = (Vec::new(), Vec::new());
        for (process, locals) in self.model.processes.iter().zip(&self.locals) {
            for command in &process.commands {
                let Label::Local(action) = command.action else { continue };
                let guard = self.guard(process, command);
                let effect = self.effect(&command.assignments, 0..self.variables.len());
                steps.push(format!("action = {} & {guard} & {effect}", locals[action]));
                possible.push(guard);
            }
        }
        for (number, name) in self.actions.iter().enumerate() {
            if let Some((guard, step)) = self.rendezvous(ActionId(number)) {
                steps.push(format!("action = {name} & {step}"));
                possible.push(guard);
            }
        }
        let possible = either(&possible, "\n    ");
        let can_move = self.names.give("can_move");
        let idle = self.frame(0..self.variables.len(), &[]);
        steps.push(format!("action = {} & !{can_move} & {idle}", self.stuck));
        let _ = writeln!(out, "\nDEFINE\n  {can_move} :=\n    {possible};\n\nTRANS\n  {}", either(&steps, "\n  "));
    }

    /// A global action: when it is possible, and what it does. `None` if it never is.
    fn rendezvous(&self, action: ActionId) -> Option<(String, String)> {
        let globals = 0..self.model.globals().len();
        let (mut guards, mut steps) = (Vec::new(), Vec::new());
        let (mut guard, mut step): (Vec<String>, Vec<String>) = Default::default();
        for command in self.model.commands_of(action) {
            guard.push(self.condition(&command.guard));
            step.push(format!("{} & {}", guard[guard.len() - 1], self.effect(&command.assignments, globals.clone())));
        }
        let mut idle = Vec::new();
        guards.push(guard);
        steps.push(step);
        for process in &self.model.processes {
            if !process.sync.contains(&action) {
                idle.extend(process.variables.clone());
                continue;
            }
            let commands = || process.commands_of(action);
            let step = |command: &Command| {
                let effect = self.effect(&command.assignments, process.variables.clone());
                format!("{} & {effect}", self.guard(process, command))
            };
            guards.push(commands().map(|command| self.guard(process, command)).collect());
            steps.push(commands().map(step).collect());
        }
        if guards.iter().any(Vec::is_empty) {
            return None;
        }
        let guards: Vec<String> = guards.iter().map(|choices| either(choices, " ")).collect();
        let mut steps: Vec<String> = steps.iter().map(|choices| either(choices, "\n      ")).collect();
        if !idle.is_empty() {
            steps.push(self.frame(idle.into_iter(), &[]));
        }
        Some((guards.join(" & "), steps.join("\n    & ")))
    }

    fn guard(&self, process: &Process, command: &Command) -> String {
        let pc = format!("{} = {}", self.variables[process.pc.0], command.pc);
        match &command.guard {
            Condition::Const(true) => pc,
            guard => format!("{pc} & {}", self.condition(guard)),
        }
    }

    /// What assignments do to those variables; the others keep their values.
    fn effect(&self, assignments: &[Assignment], variables: std::ops::Range<usize>) -> String {
        let assign = |assignment: &Assignment| {
            let Assignment { target, value, .. } = assignment;
            let bits = self.model.variable(*target).bits;
            let text = self.value(value);
            let text = if value.bits > bits { format!("{text} mod {}", 1_u64 << bits) } else { text };
            format!("next({}) = {text}", self.variables[target.0])
        };
        let mut all: Vec<String> = assignments.iter().map(assign).collect();
        let targets: Vec<VariableId> = assignments.iter().map(|assignment| assignment.target).collect();
        let frame = self.frame(variables, &targets);
        if frame != "TRUE" || all.is_empty() {
            all.push(frame);
        }
        all.join(" & ")
    }

    /// That variables keep their values, except some.
    fn frame(&self, variables: impl Iterator<Item = usize>, except: &[VariableId]) -> String {
        let kept = variables.filter(|number| !except.contains(&VariableId(*number)));
        let kept = kept.map(|number| format!("next({0}) = {0}", self.variables[number]));
        let kept: Vec<String> = kept.collect();
        if kept.is_empty() { "TRUE".into() } else { kept.join(" & ") }
    }

    fn condition(&self, condition: &Condition) -> String {
        let both = |x: &Condition, operator: &str, y: &Condition| {
            format!("({} {operator} {})", self.condition(x), self.condition(y))
        };
        match condition {
            Condition::Const(value) => if *value { "TRUE" } else { "FALSE" }.into(),
            Condition::Compare(comparison, x, y) => {
                format!("({} {} {})", self.value(x), comparison_sign(*comparison), self.value(y))
            }
            Condition::Not(x) => format!("!{}", self.condition(x)),
            Condition::And(x, y) => both(x, "&", y),
            Condition::Or(x, y) => both(x, "|", y),
            Condition::Implies(x, y) => both(x, "->", y),
            Condition::Iff(x, y) => both(x, "<->", y),
        }
    }

    fn value(&self, value: &Value) -> String {
        self.number(&value.number, 1_u64 << value.bits)
    }

    /// A number below `modulus`.
    fn number(&self, number: &Number, modulus: u64) -> String {
        let (operator, x, y) = match number {
            Number::Const(value) => return (u64::from(*value) % modulus).to_string(),
            Number::Read(variable) => return self.variables[variable.0].clone(),
            Number::Binary(operator, x, y) => (*operator, self.number(x, modulus), self.number(y, modulus)),
        };
        match operator {
            Arithmetic::Add => format!("(({x} + {y}) mod {modulus})"),
            Arithmetic::Subtract => format!("(({x} + {modulus} - {y}) mod {modulus})"),
            Arithmetic::Multiply => format!("(({x} * {y}) mod {modulus})"),
            Arithmetic::Divide => format!("({x} / {y})"),
            Arithmetic::Remainder => format!("({x} mod {y})"),
        }
    }

    fn property(&mut self, out: &mut String, property: &Property) {
        let name = self.names.give(&property.name);
        let writer = Writer { smv: self, atoms: &property.atoms };
        let (keyword, formula) = match property.logic {
            Logic::Ctl => ("CTLSPEC", writer.branching(&property.formula)),
            Logic::Ltl => ("LTLSPEC", writer.linear(&property.formula)),
        };
        let _ = writeln!(out, "\n{keyword} NAME {name} :=\n  {formula};");
    }
}

/// Writes a formula.
struct Writer<'a> {
    smv: &'a Smv<'a>,
    /// What its atoms stand for.
    atoms: &'a [Condition],
}

impl Writer<'_> {
    /// A formula of linear time.
    fn linear(&self, formula: &Formula) -> String {
        let text = |formula: &Formula| self.linear(formula);
        self.temporal(formula, &|formula| match formula {
            Formula::Unary(Unary::Next, f) => format!("X {}", text(f)),
            Formula::Unary(Unary::Globally, f) => format!("G {}", text(f)),
            Formula::Unary(Unary::Finally, f) => format!("F {}", text(f)),
            Formula::Binary(Binary::Until, f, g) => format!("({} U {})", text(f), text(g)),
            Formula::Binary(Binary::Release, f, g) => format!("({} V {})", text(f), text(g)),
            Formula::Binary(Binary::WeakUntil, f, g) => {
                let (f, g) = (text(f), text(g));
                format!("({g} V ({f} | {g}))")
            }
            Formula::Binary(Binary::StrongRelease, f, g) => {
                let (f, g) = (text(f), text(g));
                format!("({g} U ({f} & {g}))")
            }
            // No quantifier stands in a formula of linear time; an outermost A would say nothing new.
            Formula::Unary(Unary::All | Unary::Exists, f) => text(f),
            _ => String::new(),
        })
    }

    /// A formula of branching time. NuSMV knows neither W nor R there, so that they are said by U and G.
    fn branching(&self, formula: &Formula) -> String {
        self.temporal(formula, &|formula| match formula {
            Formula::Unary(Unary::All, path) => self.quantified("A", "E", path),
            Formula::Unary(Unary::Exists, path) => self.quantified("E", "A", path),
            // An operator without a quantifier is not branching time.
            other => self.linear(other),
        })
    }

    fn quantified(&self, quantifier: &str, dual: &str, path: &Formula) -> String {
        let text = |formula: &Formula| self.branching(formula);
        match path {
            Formula::Unary(Unary::Next, f) => format!("{quantifier}X {}", text(f)),
            Formula::Unary(Unary::Globally, f) => format!("{quantifier}G {}", text(f)),
            Formula::Unary(Unary::Finally, f) => format!("{quantifier}F {}", text(f)),
            Formula::Binary(Binary::Until, f, g) => format!("{quantifier}[{} U {}]", text(f), text(g)),
            Formula::Binary(Binary::Release, f, g) => format!("!{dual}[!{} U !{}]", text(f), text(g)),
            Formula::Binary(Binary::WeakUntil, f, g) => {
                let (f, g) = (text(f), text(g));
                format!("!{dual}[!{g} U (!{f} & !{g})]")
            }
            Formula::Binary(Binary::StrongRelease, f, g) => {
                let (f, g) = (text(f), text(g));
                format!("{quantifier}[{g} U ({f} & {g})]")
            }
            state => text(state),
        }
    }

    /// What all formulas have in common; `other` writes the rest.
    fn temporal(&self, formula: &Formula, other: &dyn Fn(&Formula) -> String) -> String {
        let both = |x: &Formula, operator: &str, y: &Formula| {
            format!("({} {operator} {})", self.temporal(x, other), self.temporal(y, other))
        };
        match formula {
            Formula::True => "TRUE".into(),
            Formula::False => "FALSE".into(),
            Formula::Atom(Atom(number)) => self.smv.condition(&self.atoms[*number as usize]),
            Formula::Unary(Unary::Not, f) => format!("!{}", self.temporal(f, other)),
            Formula::Binary(Binary::And, f, g) => both(f, "&", g),
            Formula::Binary(Binary::Or, f, g) => both(f, "|", g),
            Formula::Binary(Binary::Implies, f, g) => both(f, "->", g),
            Formula::Binary(Binary::Iff, f, g) => both(f, "<->", g),
            Formula::Binary(Binary::Xor, f, g) => both(f, "xor", g),
            temporal => format!("({})", other(temporal)),
        }
    }
}

/// `a`, or `a_0` if there are several.
fn process_name(process: &Process) -> String {
    if process.count == 1 { process.group.clone() } else { format!("{}_{}", process.group, process.index) }
}

/// A disjunction, each part in parentheses; false if there are none.
fn either(parts: &[String], gap: &str) -> String {
    match parts {
        [] => "FALSE".into(),
        [one] => format!("({one})"),
        _ => {
            format!("({})", parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(&format!("{gap}| ")))
        }
    }
}

fn comparison_sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterEqual => ">=",
    }
}
