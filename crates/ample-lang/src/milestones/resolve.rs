//! Syntax tree to flattened model: names are looked up, instances written out, and the static rules checked.
//!
//! Errors in a process type are reported once, however many instances it has, and also if it has none.

mod expression;
mod names;

use std::collections::{HashMap, HashSet};

use ample_model::{Source, Span};

use super::ast::{self, Declaration, Name, Text};
use super::model::{
    ActionId, Assignment, Command, GlobalCommand, Label, Logic, Model, Process, Property, Variable, VariableId,
};
use super::parser::MAX_ERRORS;
use crate::diagnostic::{Diagnostic, Rejected, Severity, closest, counted};
use crate::watch::Watch;
use expression::Resolver;
pub(super) use expression::{May, alone};
pub(super) use names::{Known, Names};

/// Process ids are kept in a byte, and the global actions need one.
const MAX_PROCESSES: u64 = 254;

/// Resolves a parsed text; what it gives when the budget is exhausted is of no use.
pub(super) fn resolve(name: &str, source: Source, text: &Text, watch: &Watch<'_>) -> Result<Model, Rejected> {
    let mut work = Work { watch, text, diagnostics: Vec::new(), names: Names::default(), model: empty(name, source) };
    work.globals();
    let types = work.types();
    work.processes(&types);
    work.local_commands(&types);
    work.global_commands();
    work.properties();
    let failed = work.failed();
    let Work { mut diagnostics, mut model, .. } = work;
    if !failed {
        diagnostics.extend(never_firing(&model, text, watch));
        diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
        model.warnings = diagnostics;
        return Ok(model);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    let mut errors = 0;
    diagnostics.retain(|diagnostic| {
        errors += usize::from(diagnostic.severity == Severity::Error);
        errors <= MAX_ERRORS
    });
    Err(Rejected::new(vec![model.source], diagnostics))
}

fn empty(name: &str, source: Source) -> Model {
    Model {
        name: name.to_owned(),
        source,
        actions: Vec::new(),
        variables: Vec::new(),
        processes: Vec::new(),
        commands: Vec::new(),
        properties: Vec::new(),
        warnings: Vec::new(),
    }
}

/// What is known of a process type before its commands are read.
struct Type<'a> {
    tree: &'a ast::ProcessType,
    variables: Vec<Variable>,
    actions: HashMap<&'a str, usize>,
    sync: Vec<ActionId>,
    /// One that was declared before has the same name.
    repeated: bool,
}

struct Work<'a> {
    watch: &'a Watch<'a>,
    text: &'a Text,
    diagnostics: Vec<Diagnostic>,
    names: Names,
    model: Model,
}

impl<'a> Work<'a> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn error_with_help(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(Diagnostic { help, ..error });
    }

    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    fn line(&self, span: Span) -> usize {
        self.model.source.position(span.start).0
    }

    /// Reports names that were there before.
    fn distinct(&mut self, what: &str, names: impl Iterator<Item = &'a Name>) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(&name.text, name.span) {
                let help = format!("the first one stands in line {}", self.line(first));
                self.error_with_help(name.span, format!("{what} `{}` is declared twice", name.text), Some(help));
            }
        }
    }

    fn resolver<'b>(&'b mut self, own: Option<&'b HashMap<String, Known>>, may: May<'b>) -> Resolver<'b> {
        Resolver { names: &self.names, own, may, diagnostics: &mut self.diagnostics }
    }

    fn constant(&mut self, e: &ast::Expr) -> Option<u64> {
        self.resolver(None, May::Everything).constant(e)
    }

    // Declarations.

    fn globals(&mut self) {
        let text = self.text;
        self.distinct("the action", text.actions.iter());
        self.distinct("the variable", text.variables.iter().map(|variable| &variable.name));
        self.model.actions = text.actions.iter().map(|name| name.text.clone()).collect();
        self.model.variables = text.variables.iter().map(|variable| self.variable(variable)).collect();
        for (index, variable) in self.model.variables.iter().enumerate() {
            let known = Known { id: VariableId(index), bits: variable.bits };
            self.names.globals.insert(variable.name.clone(), known);
        }
    }

    fn variable(&mut self, declaration: &Declaration) -> Variable {
        let Declaration { name, bits, initial } = declaration;
        // After an error the widest is taken, so that nothing else seems not to fit.
        let bits = match self.constant(bits) {
            Some(width @ 1..=32) => width as u8,
            Some(width) => {
                let message = format!("`{}` has {}, but a variable has 1 to 32", name.text, counted_bits(width));
                self.error(bits.span, message);
                32
            }
            None => 32,
        };
        let mut variable = Variable {
            name: name.text.clone(),
            short: name.text.clone(),
            owner: None,
            bits,
            initial: None,
            span: name.span,
        };
        if let Some(initial) = initial
            && let Some(value) = self.constant(initial)
        {
            if value > u64::from(variable.largest()) {
                let largest = variable.largest();
                let message = format!("the first value {value} does not fit in {}", counted_bits(bits.into()));
                self.error_with_help(initial.span, message, Some(format!("`{}` is at most {largest}", name.text)));
            }
            variable.initial = u32::try_from(value).ok();
        }
        variable
    }

    fn types(&mut self) -> Vec<Type<'a>> {
        let text = self.text;
        let mut seen: HashSet<&str> = HashSet::new();
        self.distinct("the process type", text.types.iter().map(|one| &one.name));
        text.types.iter().map(|tree| self.process_type(tree, !seen.insert(&tree.name.text))).collect()
    }

    fn process_type(&mut self, tree: &'a ast::ProcessType, repeated: bool) -> Type<'a> {
        self.distinct("the action", tree.actions.iter());
        self.distinct("the variable", tree.variables.iter().map(|variable| &variable.name));
        for action in &tree.actions {
            if self.model.actions.contains(&action.text) {
                let help = "what the action means would depend on where it is used: rename one of the two";
                let message = format!("`{}` is a global action already", action.text);
                self.error_with_help(action.span, message, Some(help.into()));
            }
        }
        for variable in &tree.variables {
            if self.names.globals.contains_key(&variable.name.text) {
                let message = format!("`{0}` hides the global variable `{0}`", variable.name.text);
                self.diagnostics.push(Diagnostic::warning(variable.name.span, message));
            }
        }
        if !tree.variables.iter().any(|variable| variable.name.text == "pc") {
            let message = format!("the process type `{}` has no variable `pc`", tree.name.text);
            let help = "its commands say at which value of `pc` they may fire: declare `pc : 1 := 0;`";
            self.error_with_help(tree.name.span, message, Some(help.into()));
        }
        let sync = self.sync(tree);
        Type {
            tree,
            variables: tree.variables.iter().map(|variable| self.variable(variable)).collect(),
            actions: tree.actions.iter().enumerate().map(|(index, name)| (name.text.as_str(), index)).collect(),
            sync,
            repeated,
        }
    }

    fn sync(&mut self, tree: &'a ast::ProcessType) -> Vec<ActionId> {
        let mut seen = HashSet::new();
        let mut sync = Vec::new();
        for name in &tree.sync {
            if !seen.insert(&name.text) {
                self.error(name.span, format!("`{}` stands in SYNC twice", name.text));
                continue;
            }
            match self.model.actions.iter().position(|action| *action == name.text) {
                Some(index) => sync.push(ActionId(index)),
                None if tree.actions.iter().any(|action| action.text == name.text) => {
                    let message = format!("`{}` is a local action, and SYNC lists global ones", name.text);
                    let help = "processes take part together only in actions that are declared for the whole model";
                    self.error_with_help(name.span, message, Some(help.into()));
                }
                None => self.unknown_action(name, &self.model.actions.clone()),
            }
        }
        sync
    }

    fn unknown_action(&mut self, name: &Name, known: &[String]) {
        let near = closest(&name.text, known.iter().map(String::as_str));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        self.error_with_help(name.span, format!("the action `{}` is not declared", name.text), help);
    }

    // Processes.

    fn processes(&mut self, types: &[Type<'a>]) {
        let text = self.text;
        self.distinct("the process", text.processes.iter().map(|process| &process.name));
        let mut total = 0;
        for group in &text.processes {
            let of = types.iter().find(|one| one.tree.name.text == group.of.text);
            if of.is_none() {
                let near = closest(&group.of.text, types.iter().map(|one| one.tree.name.text.as_str()));
                let help = near.map(|near| format!("did you mean `{near}`?"));
                self.error_with_help(group.of.span, format!("there is no process type `{}`", group.of.text), help);
            }
            let Some(count) = self.constant(&group.count) else { continue };
            if count == 0 {
                self.error(group.count.span, format!("`{}` has no instances", group.name.text));
            }
            total += count;
            if total > MAX_PROCESSES {
                self.error(group.count.span, format!("more than {MAX_PROCESSES} processes"));
                return;
            }
            if let Some(of) = of {
                self.instances(group, of, count as usize);
            }
        }
        if text.processes.is_empty() && text.commands.is_empty() && !self.failed() {
            let start = Span { start: 0, end: 0, ..self.whole() };
            let help = "write `MAIN PROC a : A[1]; END CASE … END END`";
            self.error_with_help(start, "the model has neither processes nor global commands", Some(help.into()));
        }
    }

    fn whole(&self) -> Span {
        Span { source: ample_model::SourceId(0), start: 0, end: self.model.source.text.len() as u32 }
    }

    fn instances(&mut self, group: &ast::Instances, of: &Type<'_>, count: usize) {
        for index in 0..count {
            if self.watch.steps(1 + of.variables.len()).is_err() {
                return;
            }
            let name = format!("{}[{index}]", group.name.text);
            let first = self.model.variables.len();
            let owner = Some(self.model.processes.len());
            let own = of.variables.iter().map(|variable| Variable {
                name: format!("{name}.{}", variable.short),
                owner,
                ..variable.clone()
            });
            self.model.variables.extend(own);
            let table = table(of, first);
            let pc = table.get("pc").map_or(VariableId(first), |known| known.id);
            self.names.groups.entry(group.name.text.clone()).or_default().push(table);
            self.model.processes.push(Process {
                name,
                group: group.name.text.clone(),
                index,
                count,
                of: of.tree.name.text.clone(),
                variables: first..self.model.variables.len(),
                pc,
                actions: of.tree.actions.iter().map(|action| action.text.clone()).collect(),
                sync: of.sync.clone(),
                commands: Vec::new(),
                span: group.name.span,
            });
        }
    }

    // Commands.

    fn local_commands(&mut self, types: &[Type<'a>]) {
        for of in types {
            // Once for the errors; its variables get numbers that no others have.
            self.commands_of(of, &table(of, self.model.variables.len()));
            if of.repeated {
                continue;
            }
            let reported = self.diagnostics.len();
            let instances: Vec<usize> = (0..self.model.processes.len())
                .filter(|&index| self.model.processes[index].of == of.tree.name.text)
                .collect();
            for index in &instances {
                let table = table(of, self.model.processes[*index].variables.start);
                let commands = self.commands_of(of, &table);
                self.model.processes[*index].commands = commands;
            }
            self.diagnostics.truncate(reported);
            if instances.is_empty() && !self.failed() {
                let message = format!("there is no process of the type `{}`", of.tree.name.text);
                self.diagnostics.push(Diagnostic::warning(of.tree.name.span, message));
            }
        }
    }

    fn commands_of(&mut self, of: &Type<'_>, own: &HashMap<String, Known>) -> Vec<Command> {
        let watch = self.watch;
        let in_time = |_: &&ast::Command| watch.step().is_ok();
        let commands = of.tree.commands.iter().take_while(in_time);
        commands.filter_map(|command| self.command(of, command, own)).collect()
    }

    fn command(&mut self, of: &Type<'_>, tree: &ast::Command, own: &HashMap<String, Known>) -> Option<Command> {
        let pc = tree.pc.as_ref().and_then(|pc| self.pc(pc, own.get("pc").copied()));
        let global = self.model.actions.iter().position(|action| *action == tree.action.text);
        let action = match (of.actions.get(tree.action.text.as_str()), global) {
            (Some(&index), _) => Some(Label::Local(index)),
            (None, Some(index)) => Some(Label::Global(ActionId(index))),
            (None, None) => {
                let mut known = self.model.actions.clone();
                known.extend(of.tree.actions.iter().map(|action| action.text.clone()));
                self.unknown_action(&tree.action, &known);
                None
            }
        };
        if let Some(Label::Global(id)) = action
            && !of.sync.contains(&id)
        {
            let message = format!("this command never fires: `{}` is not in SYNC", tree.action.text);
            self.diagnostics.push(Diagnostic::warning(tree.action.span, message));
        }
        let may = match action {
            Some(Label::Global(_)) => May::OwnOnly { action: &tree.action.text },
            _ => May::OwnAndGlobals { of: &of.tree.name.text },
        };
        let guard = self.resolver(Some(own), may).condition(&tree.guard);
        let assignments = self.assignments(&tree.assignments, Some(own), may);
        Some(Command { pc: pc?, action: action?, guard: guard?, assignments: assignments?, span: tree.span })
    }

    fn pc(&mut self, e: &ast::Expr, pc: Option<Known>) -> Option<u32> {
        let value = self.constant(e)?;
        let bits = pc.map_or(32, |pc| pc.bits);
        let fits = value >> bits == 0;
        if !fits {
            let largest = (1_u64 << bits) - 1;
            let message = format!("`pc` is never {value}: it has {}", counted_bits(bits.into()));
            self.error_with_help(e.span, message, Some(format!("it is at most {largest}")));
        }
        u32::try_from(value).ok().filter(|_| fits)
    }

    fn global_commands(&mut self) {
        for tree in &self.text.commands {
            if self.watch.step().is_err() {
                return;
            }
            let action = self.model.actions.iter().position(|action| *action == tree.action.text).map(ActionId);
            if action.is_none() {
                self.unknown_global_action(&tree.action);
            }
            let guard = self.resolver(None, May::Everything).condition(&tree.guard);
            let assignments = self.assignments(&tree.assignments, None, May::Everything);
            if let (Some(action), Some(guard), Some(assignments)) = (action, guard, assignments) {
                self.model.commands.push(GlobalCommand { action, guard, assignments, span: tree.span });
            }
        }
    }

    fn unknown_global_action(&mut self, name: &Name) {
        let local = |one: &&ast::ProcessType| one.actions.iter().any(|action| action.text == name.text);
        if let Some(of) = self.text.types.iter().find(local) {
            let message = format!("`{}` is an action of `{}`, and no global one", name.text, of.name.text);
            self.error(name.span, message);
        } else {
            self.unknown_action(name, &self.model.actions.clone());
        }
    }

    fn assignments(
        &mut self,
        trees: &[ast::Assignment],
        own: Option<&HashMap<String, Known>>,
        may: May<'_>,
    ) -> Option<Vec<Assignment>> {
        let mut assignments = Some(Vec::new());
        let mut targets = HashSet::new();
        for tree in trees {
            let mut resolver = self.resolver(own, may);
            let (target, value) = (resolver.target(&tree.target), resolver.value(&tree.value));
            if let Some(target) = target
                && !targets.insert(target)
            {
                let help = "all assignments of a command happen at once";
                let message = "this variable is assigned twice in one command";
                self.error_with_help(tree.target.span, message, Some(help.into()));
            }
            let span = Span { end: tree.value.span.end, ..tree.target.span };
            match (target, value, &mut assignments) {
                (Some(target), Some(value), Some(all)) => all.push(Assignment { target, value, span }),
                _ => assignments = None,
            }
        }
        assignments
    }

    // Properties.

    fn properties(&mut self) {
        let mut numbers = HashMap::new();
        let mut seen: HashSet<(Logic, String)> = HashSet::new();
        for stated in &self.text.formulas {
            if self.watch.step().is_err() {
                return;
            }
            let number: &mut usize = numbers.entry(stated.logic).or_default();
            *number += 1;
            let prefix = if stated.logic == Logic::Ctl { "ctl" } else { "ltl" };
            let name = stated.name.as_ref().map_or_else(|| format!("{prefix}{number}"), |name| name.text.clone());
            if !seen.insert((stated.logic, name.clone())) {
                let span = stated.name.as_ref().map_or(stated.formula.span, |name| name.span);
                self.error(span, format!("there is another formula with the name `{name}`"));
            }
            let span = stated.formula.span;
            let written = self.model.source.text.get(span.start as usize..span.end as usize).unwrap_or("");
            let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut atoms = Vec::new();
            if let Some(formula) = self.resolver(None, May::Everything).formula(&stated.formula, &mut atoms) {
                self.model.properties.push(Property { name, logic: stated.logic, formula, atoms, text, span });
            }
        }
    }
}

fn counted_bits(bits: u64) -> String {
    counted(usize::try_from(bits).unwrap_or(usize::MAX), "bit")
}

/// The variables of an instance whose first one has this number.
fn table(of: &Type<'_>, first: usize) -> HashMap<String, Known> {
    let numbered = of.variables.iter().enumerate();
    numbered.map(|(at, v)| (v.short.clone(), Known { id: VariableId(first + at), bits: v.bits })).collect()
}

/// Warnings about global actions that can never fire.
fn never_firing(model: &Model, text: &Text, watch: &Watch<'_>) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for (index, name) in text.actions.iter().enumerate() {
        if watch.steps(1 + model.commands.len()).is_err() {
            break;
        }
        let action = ActionId(index);
        let lacking = model.participants(action).find(|process| process.commands_of(action).next().is_none());
        let reason = match lacking {
            _ if model.commands_of(action).next().is_none() => "it has no global command".to_owned(),
            Some(process) => format!("`{}` lists it in SYNC and has no command for it", process.name),
            None => continue,
        };
        warnings.push(Diagnostic::warning(name.span, format!("the action `{}` never fires: {reason}", name.text)));
    }
    warnings
}
