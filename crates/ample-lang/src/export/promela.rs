//! A Milestones model in Promela, in two forms.
//!
//! [`model`] is the form of the thesis: one process that chooses among all actions. [`processes`] gives each process of
//! the model a process that does its local actions, and has one more for the global actions, so that a reduction by
//! partial orders has something to work on. In both all variables are global, because a global command may read those
//! of every process.
//!
//! A step is an atomic sequence. A global command writes globals only, a command of a process under a global action
//! reads and writes only what is its own: so the global command comes first, then the processes in their order, and
//! each reads the state before the step. Inside one command the assignments are put in an order in which none disturbs
//! another; where there is none, values wait in shadows, which are 0 between steps.
//!
//! If variables have no first value, there is one more state, the first, in which the values are chosen; formulas begin
//! behind it, where `begun` holds. Spin refuses X unless it was built with `NXT`, and with it the whole model: so no
//! formula gets one that it has not, and those that have one stand behind `#ifdef NXT`.

use std::fmt::Write;

use ample_logic::{Atom, Binary, Formula, Unary};

use super::{Limits, Names, Untranslatable, one_line, refuse, sequence};
use crate::milestones::model::{
    ActionId, Arithmetic, Assignment, Command, Comparison, Condition, GlobalCommand, Label, Logic, Model, Number,
    Process, Property, Value, Variable,
};

/// Numbers have 31 bits and a sign.
const LIMITS: Limits = Limits { language: "Promela", variable: 31, computation: 31 };

/// What means something else there.
const RESERVED: &str = "\
    D_proctype F G R STDIN U V W X _ _last _nr_pr _pid _priority active always assert atomic bit bool break byte \
    c_code c_decl c_expr c_state c_track chan d_step do else empty enabled equivalent eval eventually false fi for \
    full get_priority goto hidden i386 if implies in init inline int len linux local ltl mtype nempty never next \
    nfull nonprogress notrace np_ nr_pr od of pc_value pid printf printm priority proctype provided release return \
    run select set_priority short show skip stronguntil timeout trace true typedef unix unless unsigned until \
    weakuntil xr xs";

/// The model as one Promela process.
///
/// ```
/// let text = "LOCAL P ACTIONS up; END VARIABLES pc : 2 := 0; END CASE [0] [up] true : pc := 1; END END
///             GLOBAL PROC p : P[1]; END END";
/// let model = ample_lang::milestones::parse("up.mil", text)?;
/// let promela = ample_lang::export::promela::model(&model).unwrap();
/// assert!(promela.contains(":: atomic { p[0].pc == 0 -> p[0].pc = 1 }"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn model(model: &Model) -> Result<String, Untranslatable> {
    refuse(model, &LIMITS)?;
    let mut writer = Writer::new(model);
    let mut options: Vec<String> =
        (0..model.processes.len()).flat_map(|process| writer.local_options(process)).collect();
    options.extend(writer.global_options());
    let mut body = String::from("init {\n");
    let choices = writer.first_values();
    if !choices.is_empty() {
        let _ = writeln!(body, "  atomic {{\n{choices}    {} = 1\n  }};", writer.begun);
    }
    let _ = writeln!(body, "{}}}", loop_over(&options));
    Ok(writer.file(&body))
}

/// The names of the formulas that are behind `#ifdef NXT`, because of their X.
pub fn with_next(model: &Model) -> Vec<&str> {
    let has_next = |property: &&Property| property.logic == Logic::Ltl && property.formula.has_next();
    model.properties.iter().filter(has_next).map(|property| property.name.as_str()).collect()
}

/// The model as a Promela process for each of its processes, and one for the global actions.
pub fn processes(model: &Model) -> Result<String, Untranslatable> {
    refuse(model, &LIMITS)?;
    let mut writer = Writer::new(model);
    let mut bodies: Vec<(String, Vec<String>)> = Vec::new();
    for (number, process) in model.processes.iter().enumerate() {
        let options = writer.local_options(number);
        if !options.is_empty() {
            let wish = format!("{}_{}_{}", process.of, process.group, process.index);
            bodies.push((writer.names.give(&wish), options));
        }
    }
    let options = writer.global_options();
    if !options.is_empty() || bodies.is_empty() {
        bodies.push((writer.names.give("global_actions"), options));
    }
    let choices = writer.first_values();
    let active = if choices.is_empty() { "active " } else { "" };
    let mut body = String::new();
    for (name, options) in &bodies {
        let _ = writeln!(body, "{active}proctype {name}() {{\n{}}}\n", loop_over(options));
    }
    if !choices.is_empty() {
        let runs: Vec<String> = bodies.iter().map(|(name, _)| format!("    run {name}()")).collect();
        let begun = &writer.begun;
        let _ = writeln!(body, "init {{\n  atomic {{\n{choices}{};\n    {begun} = 1\n  }}\n}}", runs.join(";\n"));
    }
    Ok(writer.file(body.trim_end()))
}

/// A process type, which becomes a record.
struct Type<'a> {
    name: String,
    /// Its name in the model.
    of: &'a str,
    fields: Vec<(String, &'a Variable)>,
}

/// A group of processes, which becomes an array of records.
struct Group {
    name: String,
    /// The name of the record.
    of: String,
    count: usize,
}

struct Writer<'a> {
    model: &'a Model,
    names: Names,
    /// How each variable is written.
    variables: Vec<String>,
    types: Vec<Type<'a>>,
    groups: Vec<Group>,
    /// The shadow of each variable that has needed one.
    shadows: Vec<Option<String>>,
    /// The flag that holds once first values are chosen; nothing if there is no choice.
    begun: String,
}

impl<'a> Writer<'a> {
    fn new(model: &'a Model) -> Writer<'a> {
        let names = Names::new(RESERVED);
        let shadows = vec![None; model.variables.len()];
        let (variables, types, groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut writer = Writer { model, names, variables, types, groups, shadows, begun: String::new() };
        writer.name_types();
        writer.variables = model.globals().iter().map(|variable| writer.names.give(&variable.name)).collect();
        writer.name_fields();
        if model.variables.iter().any(|variable| variable.initial.is_none()) {
            writer.begun = writer.names.give("begun");
        }
        writer
    }

    fn name_types(&mut self) {
        for process in &self.model.processes {
            if self.types.iter().all(|one| one.of != process.of) {
                let name = self.names.give(&process.of);
                self.types.push(Type { name, of: &process.of, fields: Vec::new() });
            }
            if process.index == 0 {
                let of = self.types.iter().find(|one| one.of == process.of).map(|one| one.name.clone());
                let name = self.names.give(&process.group);
                self.groups.push(Group { name, of: of.unwrap_or_default(), count: process.count });
            }
        }
    }

    /// A field may not be called like a type, and had better not be called like anything else.
    fn name_fields(&mut self) {
        let model = self.model;
        for Type { of, fields, .. } in &mut self.types {
            let Some(process) = model.processes.iter().find(|process| process.of == *of) else { continue };
            let mut names = Names { taken: self.names.taken.clone() };
            let members = &model.variables[process.variables.clone()];
            *fields = members.iter().map(|variable| (names.give(&variable.short), variable)).collect();
        }
        let mut groups = self.groups.iter();
        let mut group = None;
        for process in &model.processes {
            if process.index == 0 {
                group = groups.next();
            }
            let of = self.types.iter().find(|one| one.of == process.of);
            if let (Some(group), Some(of)) = (group, of) {
                let name = |field: &str| format!("{}[{}].{field}", group.name, process.index);
                self.variables.extend(of.fields.iter().map(|(field, _)| name(field)));
            }
        }
    }

    /// The whole file, with what the processes turned out to need.
    fn file(&mut self, body: &str) -> String {
        let mut out = format!("/* {}, from Milestones */\n\n", one_line(&self.model.name));
        for (variable, name) in self.model.globals().iter().zip(&self.variables) {
            let _ = writeln!(out, "{};", declaration(variable, name));
        }
        for Type { name, fields, .. } in &self.types {
            let fields: Vec<String> = fields.iter().map(|(field, variable)| declaration(variable, field)).collect();
            let _ = writeln!(out, "typedef {name} {{ {} }};", fields.join("; "));
        }
        for Group { name, of, count } in &self.groups {
            let _ = writeln!(out, "{of} {name}[{count}];");
        }
        for (variable, shadow) in self.model.variables.iter().zip(&self.shadows) {
            if let Some(shadow) = shadow {
                let _ = writeln!(out, "unsigned {shadow} : {};", variable.bits);
            }
        }
        if !self.begun.is_empty() {
            let _ = writeln!(out, "bit {};", self.begun);
        }
        let _ = writeln!(out, "\n{body}");
        let model = self.model;
        for property in &model.properties {
            self.property(&mut out, property);
        }
        out
    }

    /// The choice of the values that are not given, one after the other.
    fn first_values(&self) -> String {
        let mut out = String::new();
        for (variable, name) in self.model.variables.iter().zip(&self.variables) {
            if variable.initial.is_none() {
                let largest = variable.largest();
                let _ = writeln!(out, "    do :: {name} < {largest} -> {name} = {name} + 1 :: break od;");
            }
        }
        out
    }

    /// The local actions of a process, an option for each command.
    fn local_options(&mut self, number: usize) -> Vec<String> {
        let process = &self.model.processes[number];
        let is_local = |command: &&Command| matches!(command.action, Label::Local(_));
        let commands: Vec<&Command> = process.commands.iter().filter(is_local).collect();
        let option = |command: &Command| {
            let effect = self.effect(&command.assignments);
            let name = self.model.action_name(process, command.action);
            step(&self.guard(process, command), &[effect], &format!("{}.{name}", process.name))
        };
        commands.into_iter().map(option).collect()
    }

    /// The global actions, an option for each global command.
    fn global_options(&mut self) -> Vec<String> {
        let commands = &self.model.commands;
        commands.iter().filter_map(|command| self.rendezvous(command)).collect()
    }

    /// A rendez-vous under one global command; `None` if somebody can never take part.
    fn rendezvous(&mut self, command: &GlobalCommand) -> Option<String> {
        let model = self.model;
        let ActionId(number) = command.action;
        let mut guards = Vec::new();
        if command.guard != Condition::Const(true) {
            guards.push(self.condition(&command.guard));
        }
        let mut effects = vec![self.effect(&command.assignments)];
        for process in model.participants(command.action) {
            let choices: Vec<(String, String)> = process
                .commands_of(command.action)
                .map(|command| (self.guard(process, command), self.effect(&command.assignments)))
                .collect();
            let able: Vec<&str> = choices.iter().map(|(guard, _)| guard.as_str()).collect();
            match choices.as_slice() {
                [] => return None,
                [(guard, effect)] => {
                    guards.push(guard.clone());
                    effects.push(effect.clone());
                }
                _ => {
                    guards.push(format!("({})", able.join(" || ")));
                    effects.push(choose(&choices));
                }
            }
        }
        let guard = if guards.is_empty() { "true".into() } else { guards.join(" && ") };
        Some(step(&guard, &effects, &model.actions[number]))
    }

    fn guard(&self, process: &Process, command: &Command) -> String {
        let pc = format!("{} == {}", self.variables[process.pc.0], command.pc);
        match &command.guard {
            Condition::Const(true) => pc,
            guard => format!("({pc} && {})", self.condition(guard)),
        }
    }

    /// Assignments that take place at once, as a sequence; empty if there are none.
    fn effect(&mut self, assignments: &[Assignment]) -> String {
        let statements: Vec<String> = match sequence(assignments) {
            Some(ordered) => {
                ordered.iter().map(|one| format!("{} = {}", self.variables[one.target.0], self.kept(one))).collect()
            }
            None => self.through_shadows(assignments),
        };
        statements.join("; ")
    }

    fn through_shadows(&mut self, assignments: &[Assignment]) -> Vec<String> {
        let names: Vec<String> = assignments.iter().map(|one| self.shadow(one.target.0)).collect();
        let pairs = || assignments.iter().zip(&names);
        let load = pairs().map(|(one, shadow)| format!("{shadow} = {}", self.kept(one)));
        let store = pairs().map(|(one, shadow)| format!("{} = {shadow}", self.variables[one.target.0]));
        load.chain(store).chain(names.iter().map(|shadow| format!("{shadow} = 0"))).collect()
    }

    fn shadow(&mut self, variable: usize) -> String {
        let Writer { model, names, shadows, .. } = self;
        let wish = || match model.variables[variable].owner {
            Some(owner) => {
                let process = &model.processes[owner];
                format!("{}_{}_{}_0", process.group, process.index, model.variables[variable].short)
            }
            None => format!("{}_0", model.variables[variable].name),
        };
        shadows[variable].get_or_insert_with(|| names.give(&wish())).clone()
    }

    /// The value of an assignment, cut to what its target can hold.
    fn kept(&self, assignment: &Assignment) -> String {
        let target = self.model.variable(assignment.target);
        let value = self.value(&assignment.value);
        if assignment.value.bits > target.bits { format!("{value} & {}", target.largest()) } else { value }
    }

    fn condition(&self, condition: &Condition) -> String {
        let both = |x: &Condition, operator: &str, y: &Condition| {
            format!("({} {operator} {})", self.condition(x), self.condition(y))
        };
        match condition {
            Condition::Const(value) => value.to_string(),
            Condition::Compare(comparison, x, y) => {
                format!("({} {} {})", self.value(x), comparison_sign(*comparison), self.value(y))
            }
            // In parentheses, because two of them in a row would be a sorted send.
            Condition::Not(x) => format!("(!{})", self.condition(x)),
            Condition::And(x, y) => both(x, "&&", y),
            Condition::Or(x, y) => both(x, "||", y),
            Condition::Implies(x, y) => format!("(!{} || {})", self.condition(x), self.condition(y)),
            Condition::Iff(x, y) => both(x, "==", y),
        }
    }

    fn value(&self, value: &Value) -> String {
        self.number(&value.number, u32::MAX >> (32 - u32::from(value.bits.clamp(1, 32))))
    }

    /// A number cut to the bits of a mask. Where 32 bits overflow, the lower ones are right nevertheless.
    fn number(&self, number: &Number, mask: u32) -> String {
        let (operator, x, y) = match number {
            Number::Const(value) => return (value & mask).to_string(),
            Number::Read(variable) => return self.variables[variable.0].clone(),
            Number::Binary(operator, x, y) => (*operator, self.number(x, mask), self.number(y, mask)),
        };
        match operator {
            Arithmetic::Add => format!("(({x} + {y}) & {mask})"),
            Arithmetic::Subtract => format!("(({x} - {y}) & {mask})"),
            Arithmetic::Multiply => format!("(({x} * {y}) & {mask})"),
            Arithmetic::Divide => format!("({x} / {y})"),
            Arithmetic::Remainder => format!("({x} % {y})"),
        }
    }

    fn property(&mut self, out: &mut String, property: &Property) {
        if property.logic == Logic::Ctl {
            let _ = writeln!(out, "\n/* CTL {} : {} */", property.name, one_line(&property.text));
            return;
        }
        let name = self.names.give(&property.name);
        let formula = self.linear(property, &property.formula);
        let formula = match self.begun.as_str() {
            "" => formula,
            begun => format!("(!{begun}) U ({begun} && {formula})"),
        };
        let _ = match property.formula.has_next() {
            true => writeln!(
                out,
                "\n#ifdef NXT /* X is known to Spin only if it is built with NXT */\nltl {name} {{ {formula} }}\n#endif"
            ),
            false => writeln!(out, "\nltl {name} {{ {formula} }}"),
        };
    }

    fn linear(&self, property: &Property, formula: &Formula) -> String {
        let text = |f: &Formula| self.linear(property, f);
        let both = |x: &Formula, operator: &str, y: &Formula| format!("({} {operator} {})", text(x), text(y));
        match formula {
            Formula::True => "(true)".into(),
            Formula::False => "(false)".into(),
            Formula::Atom(Atom(number)) => format!("({})", self.condition(&property.atoms[*number as usize])),
            Formula::Unary(op, f) => match op {
                Unary::Not => format!("(! {})", text(f)),
                Unary::Next => format!("(X {})", text(f)),
                Unary::Globally => format!("([] {})", text(f)),
                Unary::Finally => format!("(<> {})", text(f)),
                // No quantifier stands in a formula of linear time; an outermost A would say nothing new.
                Unary::All | Unary::Exists => text(f),
                // Milestones has no operators about the past; Spin would refuse them.
                Unary::Previous => format!("(Y {})", text(f)),
                Unary::WeakPrevious => format!("(Z {})", text(f)),
                Unary::Once => format!("(O {})", text(f)),
                Unary::Historically => format!("(H {})", text(f)),
            },
            Formula::Binary(op, f, g) => match op {
                Binary::And => both(f, "&&", g),
                Binary::Or => both(f, "||", g),
                Binary::Implies => both(f, "->", g),
                Binary::Iff => both(f, "<->", g),
                Binary::Xor => format!("(! {})", both(f, "<->", g)),
                Binary::Until => both(f, "U", g),
                Binary::WeakUntil => both(f, "W", g),
                Binary::Release => both(f, "V", g),
                Binary::Since => both(f, "S", g),
                Binary::Triggered => both(f, "T", g),
                Binary::StrongRelease => format!("({} U ({} && {}))", text(g), text(f), text(g)),
            },
        }
    }
}

fn declaration(variable: &Variable, name: &str) -> String {
    match variable.initial {
        None | Some(0) => format!("unsigned {name} : {}", variable.bits),
        Some(value) => format!("unsigned {name} : {} = {value}", variable.bits),
    }
}

/// An option of a loop: a step, with the action's name behind it.
fn step(guard: &str, effects: &[String], action: &str) -> String {
    let effects: Vec<&str> = effects.iter().map(String::as_str).filter(|effect| !effect.is_empty()).collect();
    let effect = if effects.is_empty() { "skip".to_owned() } else { effects.join(";\n        ") };
    format!(":: atomic {{ {guard} -> {effect} }} /* {action} */")
}

/// One of the commands that a process can take part with.
fn choose(choices: &[(String, String)]) -> String {
    let option = |(guard, effect): &(String, String)| {
        format!(":: {guard} -> {}", if effect.is_empty() { "skip" } else { effect })
    };
    let options: Vec<String> = choices.iter().map(option).collect();
    format!("if {} fi", options.join(" "))
}

/// A loop; one without options waits for ever.
fn loop_over(options: &[String]) -> String {
    let mut out = String::from("  do\n");
    for option in options {
        let _ = writeln!(out, "  {option}");
    }
    if options.is_empty() {
        out.push_str("  :: false\n");
    }
    out + "  od\n"
}

fn comparison_sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterEqual => ">=",
    }
}
