//! Statements: the labels of a software model (§4.1.6 of the thesis).
//!
//! A statement says when it is enabled and what it does. A new kind of statement is a new implementation of
//! [`Statement`].

use std::fmt::Debug;

use super::expression::{Datum, DatumKind, Expr, Expression, Fault, Frame, LogicalExpression, Place, TypeError};
use super::state::{Node, SoftwareState};
use super::types::{TypeGraph, TypeId, VariableId};

/// The execution of a statement: the state that it changes, and who executes it.
#[derive(Debug)]
pub struct Execution<'a> {
    /// The types.
    pub types: &'a TypeGraph,
    /// The state, which is the one before the statement at first.
    pub state: &'a mut SoftwareState,
    /// The process.
    pub process: Node,
    /// The top of its call stack.
    pub top: Node,
    /// Processes have identifiers of that many bits.
    pub pid_bits: u32,
    /// The assertion that is violated.
    pub violation: &'a mut Option<String>,
}

impl Execution<'_> {
    /// Where expressions are evaluated.
    pub fn frame(&self) -> Frame<'_> {
        Frame { types: self.types, state: self.state, process: self.process, top: self.top, pid_bits: self.pid_bits }
    }

    /// Sets a variable of an instance to a datum: its value, or what it refers to.
    fn set(&mut self, node: Node, variable: VariableId, datum: Datum, text: &str) -> Result<(), Fault> {
        let of = self.types.get_variable(variable);
        if let Datum::Reference(to) = datum {
            self.state.set_value(self.types, node, variable, to);
            return Ok(());
        }
        let word = self.frame().word(datum, of.data, || text.to_owned())?;
        let value = self.state.value(self.types, node, variable).ok_or_else(|| Fault::Null(text.to_owned()))?;
        self.state.set_word(value, word);
        Ok(())
    }

    /// Sets the parameters of a new process or function.
    fn pass(&mut self, callee: Node, arguments: &[Datum], text: &str) -> Result<(), Fault> {
        let of = self.state.get(callee).of;
        for (position, datum) in arguments.iter().enumerate() {
            let parameter = self.types.get(of).parameters[position];
            self.set(callee, parameter, *datum, text)?;
        }
        Ok(())
    }
}

/// A statement.
pub trait Statement: Debug + Send + Sync {
    /// Are its types right where the variables of `scope` and the global ones are seen?
    fn check(&self, _types: &TypeGraph, _scope: TypeId) -> Result<(), TypeError> {
        Ok(())
    }

    /// Can it be executed? What cannot be evaluated can: its execution is a fault.
    fn is_enabled(&self, _at: &Frame<'_>) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Changes the state. The program counter has been changed already.
    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault>;

    /// It is enabled only where no other statement is that leaves the same location.
    fn is_else(&self) -> bool {
        false
    }

    /// The function that it calls.
    fn callee(&self) -> Option<TypeId> {
        None
    }

    /// It reads and writes nothing that others can read or write, and it is no assertion: it is independent of what
    /// other processes do.
    fn is_local(&self, _types: &TypeGraph) -> bool {
        false
    }

    /// It as text.
    fn text(&self) -> String;
}

fn check_assignment(
    types: &TypeGraph,
    scope: TypeId,
    (is_reference, data): (bool, TypeId),
    value: &Expr,
    text: impl Fn() -> String,
) -> Result<(), TypeError> {
    match value.check(types, scope)? {
        DatumKind::Reference(_) if !is_reference => Err(TypeError::NoReference(text())),
        DatumKind::Reference(of) if of.is_none_or(|of| of == data) => Ok(()),
        kind if kind.is_assignable(types, data) => Ok(()),
        _ => Err(TypeError::Mismatch(text())),
    }
}

/// Sets the value of a variable, or of what it refers to; or, if the expression is a reference, what it refers to.
#[derive(Clone, Debug)]
pub struct Assign(pub Place, pub Expr);

impl Statement for Assign {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        self.0.check(types, scope)?;
        let to = (self.0.is_reference(types), self.0.data(types));
        check_assignment(types, scope, to, &self.1, || self.text())
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let datum = self.1.eval(&run.frame())?;
        let (node, variable) = self.0.owner(&run.frame())?;
        run.set(node, variable, datum, self.0.text())
    }

    /// An assignment to a reference that is local may be one to a value that others see, so that it must not be one.
    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types, false) && self.1.is_local(types)
    }

    fn text(&self) -> String {
        format!("{} = {}", self.0.text(), self.1.text())
    }
}

/// Lets a reference refer to a new instance.
#[derive(Clone, Debug)]
pub struct New(pub Place);

impl Statement for New {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        self.0.check(types, scope)?;
        if self.0.is_reference(types) { Ok(()) } else { Err(TypeError::NoReference(self.0.text().to_owned())) }
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let (node, variable) = self.0.owner(&run.frame())?;
        let new = run.state.create(run.types, run.types.get_variable(variable).data);
        run.state.set_value(run.types, node, variable, Some(new));
        Ok(())
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types, true)
    }

    fn text(&self) -> String {
        format!("{} = new", self.0.text())
    }
}

/// Lets a reference refer to nothing.
#[derive(Clone, Debug)]
pub struct Reset(pub Place);

impl Statement for Reset {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        New(self.0.clone()).check(types, scope)
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let (node, variable) = self.0.owner(&run.frame())?;
        run.state.set_value(run.types, node, variable, None);
        Ok(())
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types, true)
    }

    fn text(&self) -> String {
        format!("reset {}", self.0.text())
    }
}

/// Waits until the expression is true.
#[derive(Clone, Debug)]
pub struct Guard(pub Expr);

pub(super) fn check_truth(types: &TypeGraph, scope: TypeId, value: &Expr) -> Result<(), TypeError> {
    // What can be negated is a truth value.
    LogicalExpression::Not(value.clone()).check(types, scope).map(|_| ())
}

impl Statement for Guard {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        check_truth(types, scope, &self.0)
    }

    fn is_enabled(&self, at: &Frame<'_>) -> Result<bool, Fault> {
        at.truth(self.0.eval(at)?, || self.text())
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        self.0.eval(&run.frame()).map(|_| ())
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types)
    }

    fn text(&self) -> String {
        self.0.text()
    }
}

/// Is violated if the expression is not true.
#[derive(Clone, Debug)]
pub struct Assert(pub Expr);

impl Statement for Assert {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        check_truth(types, scope, &self.0)
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let datum = self.0.eval(&run.frame())?;
        if !run.frame().truth(datum, || self.text())? {
            *run.violation = Some(format!("assertion violated: {}", self.0.text()));
        }
        Ok(())
    }

    fn text(&self) -> String {
        format!("assert({})", self.0.text())
    }
}

/// Does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Skip;

impl Statement for Skip {
    fn execute(&self, _: &mut Execution<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn is_local(&self, _: &TypeGraph) -> bool {
        true
    }

    fn text(&self) -> String {
        "skip".to_owned()
    }
}

/// Does nothing, where nothing else can be done.
#[derive(Clone, Copy, Debug)]
pub struct Else;

impl Statement for Else {
    fn execute(&self, _: &mut Execution<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn is_else(&self) -> bool {
        true
    }

    /// Its siblings may be.
    fn is_local(&self, _: &TypeGraph) -> bool {
        true
    }

    fn text(&self) -> String {
        "else".to_owned()
    }
}

fn check_arguments(
    types: &TypeGraph,
    scope: TypeId,
    callee: TypeId,
    arguments: &[Expr],
    text: impl Fn() -> String,
) -> Result<(), TypeError> {
    let parameters = types.get(callee).parameters();
    if parameters.len() != arguments.len() {
        return Err(TypeError::Arguments(text()));
    }
    for (parameter, argument) in parameters.iter().zip(arguments) {
        let variable = types.get_variable(*parameter);
        if variable.is_reference && !matches!(argument.check(types, scope)?, DatumKind::Reference(_)) {
            return Err(TypeError::Mismatch(text()));
        }
        check_assignment(types, scope, (variable.is_reference, variable.data), argument, &text)?;
    }
    Ok(())
}

fn list(arguments: &[Expr]) -> String {
    arguments.iter().map(|argument| argument.text()).collect::<Vec<_>>().join(", ")
}

/// Creates a process, with the smallest identifier that is free. Not enabled if there is none.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its type.
    pub process: TypeId,
    /// The name of its type.
    pub name: String,
    /// The values of its parameters.
    pub arguments: Vec<Expr>,
}

impl Statement for Run {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        if !types.is_process(self.process) {
            return Err(TypeError::Callee(self.text()));
        }
        check_arguments(types, scope, self.process, &self.arguments, || self.text())
    }

    fn is_enabled(&self, at: &Frame<'_>) -> Result<bool, Fault> {
        Ok(at.state.free_pid(at.types, at.pid_bits).is_some())
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let arguments = evaluate(&self.arguments, &run.frame())?;
        let Some(pid) = run.state.free_pid(run.types, run.pid_bits) else { return Ok(()) };
        let process = run.state.create_process(run.types, self.process, pid);
        run.pass(process, &arguments, &self.text())
    }

    fn text(&self) -> String {
        format!("run {}({})", self.name, list(&self.arguments))
    }
}

fn evaluate(arguments: &[Expr], at: &Frame<'_>) -> Result<Vec<Datum>, Fault> {
    arguments.iter().map(|argument| argument.eval(at)).collect()
}

/// Calls a function: its instance is pushed on the call stack, and the process goes on there.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its type.
    pub function: TypeId,
    /// The name of its type.
    pub name: String,
    /// The values of its parameters.
    pub arguments: Vec<Expr>,
}

impl Statement for Call {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        if !types.is_function(self.function) {
            return Err(TypeError::Callee(self.text()));
        }
        check_arguments(types, scope, self.function, &self.arguments, || self.text())
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let arguments = evaluate(&self.arguments, &run.frame())?;
        let callee = run.state.call(run.types, run.top, self.function);
        run.pass(callee, &arguments, &self.text())
    }

    fn callee(&self) -> Option<TypeId> {
        Some(self.function)
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.arguments.iter().all(|argument| argument.is_local(types))
    }

    fn text(&self) -> String {
        format!("{}({})", self.name, list(&self.arguments))
    }
}

/// The end of a function: its instance is popped from the call stack.
#[derive(Clone, Copy, Debug)]
pub struct Return;

impl Statement for Return {
    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        let mut caller = run.process;
        while let Some(callee) = run.state.callee(run.types, caller) {
            if callee == run.top {
                run.state.set_callee(run.types, caller, None);
                run.state.instances[callee.number()].is_removed = true;
                break;
            }
            caller = callee;
        }
        Ok(())
    }

    fn is_local(&self, _: &TypeGraph) -> bool {
        true
    }

    fn text(&self) -> String {
        "return".to_owned()
    }
}

/// The end of a process: it is gone. Enabled only if no process has a larger identifier.
#[derive(Clone, Copy, Debug)]
pub struct End;

impl Statement for End {
    fn is_enabled(&self, at: &Frame<'_>) -> Result<bool, Fault> {
        let pid = at.state.get(at.process).pid;
        let is_last = |node: Node| !at.state.is_process(at.types, node) || at.state.get(node).pid <= pid;
        Ok(at.state.nodes().all(is_last))
    }

    fn execute(&self, run: &mut Execution<'_>) -> Result<(), Fault> {
        run.state.instances[run.process.number()].is_removed = true;
        Ok(())
    }

    fn text(&self) -> String {
        "end".to_owned()
    }
}
