//! Functions: calls are expanded before a model is lowered.
//!
//! The abstract layer of the thesis (section 4.1) has function instances: a call pushes one onto the call stack of the process,
//! with the parameters and variables of the function as its own and the location to return to; a return pops it. Here an
//! instance is an object. Every function has a record for its instances, with a pointer to the instance below it on the
//! stack (`caller`), the number of the call (`return`), and the `result`; a process has a pointer to the uppermost instance
//! of each function that it may call. So recursion needs nothing more, and garbage is never part of a state.
//!
//! The body of a function stands once in each process type that may call it, in front of the process's own statements:
//!
//! ```text
//! goto body
//! f:      … return e …                          { top.result = e; goto f.end }
//! f.end:  if :: d_step { top.return == k; … pop, assign the result … } goto f.k … fi
//! body:   … v = f(a) …                          do :: d_step { … push … } goto f; f.k: break od
//! ```
//!
//! A call is one step, `return e` is one, and so is going back to the caller.

use std::collections::{BTreeMap, BTreeSet};

use ample_model::{BinaryOp, Span};

use crate::diagnostic::{Diagnostic, closest, counted};
use crate::promela::ast::{
    Binary, Declaration, Declarator, Expr, ExprKind, Function, Model, Name, OptionSequence, Proctype, Stmt, StmtKind,
    TypeName, Unit, VarRef, Visibility,
};

/// The fields of an instance that the language adds.
const CALLER: &str = "caller";
const RESULT: &str = "result";
const RETURN: &str = "return";

/// The model without functions and calls.
pub(super) fn expand(model: Model) -> Result<Model, Vec<Diagnostic>> {
    let functions: BTreeMap<String, Function> = (model.units.iter())
        .filter_map(|unit| if let Unit::Function(f) = unit { Some((f.name.text.clone(), f.clone())) } else { None })
        .collect();
    if functions.is_empty() {
        return Ok(model);
    }
    let mut expander = Expander { functions: &functions, globals: globals(&model), errors: Vec::new() };
    expander.check_names(&model);
    let mut units = Vec::new();
    for unit in model.units {
        units.push(match unit {
            Unit::Function(function) => expander.record(function),
            Unit::Proctype(proctype) => Unit::Proctype(expander.proctype(proctype)),
            other => other,
        });
    }
    if expander.errors.is_empty() { Ok(Model { units }) } else { Err(expander.errors) }
}

/// The names of global variables.
fn globals(model: &Model) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for unit in &model.units {
        if let Unit::Declaration(declaration) = unit {
            names.extend(declaration.variables.iter().map(|variable| variable.name.text.clone()));
        }
    }
    names
}

/// The variables that a body begins with.
fn declarations(body: &[Stmt]) -> impl Iterator<Item = &Declaration> {
    body.iter()
        .map_while(|stmt| if let StmtKind::Declaration(declaration) = &stmt.kind { Some(declaration) } else { None })
}

/// Parameters and variables.
fn variables<'a>(parameters: &'a [Declaration], body: &'a [Stmt]) -> impl Iterator<Item = &'a Declarator> {
    parameters.iter().chain(declarations(body)).flat_map(|declaration| &declaration.variables)
}

struct Expander<'a> {
    functions: &'a BTreeMap<String, Function>,
    globals: BTreeSet<String>,
    errors: Vec<Diagnostic>,
}

impl Expander<'_> {
    fn error(&mut self, span: Span, message: String, help: &str) {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
    }

    /// A function has a name of its own, and so have its variables.
    fn check_names(&mut self, model: &Model) {
        let mut seen = BTreeSet::new();
        for unit in &model.units {
            let (name, what) = match unit {
                Unit::Function(function) => (&function.name, "function"),
                Unit::Proctype(proctype) => (&proctype.name, "proctype"),
                Unit::Typedef { name, .. } => (name, "typedef"),
                _ => continue,
            };
            let is_taken = !seen.insert(name.text.clone()) && self.functions.contains_key(&name.text);
            if is_taken || what == "function" && self.globals.contains(&name.text) {
                let message = format!("the name `{}` is used twice", name.text);
                self.error(name.span, message, "a function needs a name of its own");
            }
            let Unit::Function(function) = unit else { continue };
            for variable in variables(&function.parameters, &function.body) {
                if self.functions.contains_key(&variable.name.text) {
                    let message = format!("`{}` is the name of a function", variable.name.text);
                    self.error(variable.name.span, message, "call the variable something else");
                } else if [CALLER, RESULT].contains(&variable.name.text.as_str()) {
                    let message = format!("a variable of a function cannot be called `{}`", variable.name.text);
                    self.error(variable.name.span, message, "every instance of a function has such a field already");
                }
            }
        }
    }

    /// The record of the instances of a function.
    fn record(&mut self, function: Function) -> Unit {
        let Function { name, parameters, result, body, .. } = function;
        let mut fields = parameters;
        fields.extend(declarations(&body).cloned());
        let field = |text: &str, ty: TypeName, pointer: Option<Span>| {
            declaration(Name { text: text.into(), span: name.span }, ty, pointer)
        };
        if let Some((ty, pointer)) = result {
            fields.push(field(RESULT, ty, pointer));
        }
        fields.push(field(RETURN, TypeName::Short, None));
        fields.push(field(CALLER, TypeName::User(name.clone()), Some(name.span)));
        Unit::Typedef { name, fields }
    }

    /// A process type with the functions that it may call in front of its own statements.
    fn proctype(&mut self, mut proctype: Proctype) -> Proctype {
        let called = self.called(&proctype.body);
        if called.is_empty() {
            return proctype;
        }
        let locals: BTreeSet<String> =
            variables(&proctype.parameters, &proctype.body).map(|variable| variable.name.text.clone()).collect();
        for variable in variables(&proctype.parameters, &proctype.body) {
            if self.functions.contains_key(&variable.name.text) {
                let message = format!("`{}` is the name of a function", variable.name.text);
                self.error(variable.name.span, message, "call the variable something else");
            }
        }
        let count = declarations(&proctype.body).count();
        let own = proctype.body.split_off(count);
        let mut calls = BTreeMap::new();
        let mut body = Body { expander: self, inside: None, calls: &mut calls };
        let own = body.statements(own);
        // All calls are known only when all bodies are expanded.
        let mut bodies = Vec::new();
        for function in &called {
            let Some(function) = self.functions.get(function) else { continue };
            self.check_free_names(function, &locals, &proctype.name);
            let statements = function.body[declarations(&function.body).count()..].to_vec();
            let mut body = Body { expander: self, inside: Some(function), calls: &mut calls };
            bodies.push((function, body.statements(statements)));
        }
        let start = own.first().map_or(proctype.end, |stmt| stmt.span);
        let mut statements = proctype.body;
        for function in &called {
            for name in [top(function, start), fresh(function, start)] {
                let ty = TypeName::User(Name { text: function.clone(), span: start });
                let made = declaration(name.parts[0].0.clone(), ty, Some(start));
                statements.push(stmt(StmtKind::Declaration(made), start));
            }
        }
        let begin = Name { text: format!("{}()", proctype.name.text), span: start };
        statements.push(stmt(StmtKind::Goto(begin.clone()), start));
        for (function, body) in bodies {
            let text = &function.name.text;
            let first = body.first().map_or(function.end, |stmt| stmt.span);
            statements.extend(labelled(label(text, "", first), body));
            let returns = calls.get(text).map(|calls| returns(function, calls));
            statements.extend(labelled(label(text, "end", function.end), returns.into_iter().collect()));
        }
        statements.extend(labelled(begin, own));
        proctype.body = statements;
        proctype
    }

    /// The functions that statements call, and those that these call.
    fn called(&mut self, body: &[Stmt]) -> BTreeSet<String> {
        let mut called = BTreeSet::new();
        let mut pending = Vec::new();
        for stmt in body {
            calls_in(stmt, &mut pending);
        }
        while let Some(name) = pending.pop() {
            let Some(function) = self.functions.get(&name) else { continue };
            if called.insert(name) {
                function.body.iter().for_each(|stmt| calls_in(stmt, &mut pending));
            }
        }
        called
    }

    /// A function knows its own variables and the global ones, not those of the process that calls it.
    fn check_free_names(&mut self, function: &Function, locals: &BTreeSet<String>, process: &Name) {
        let own: BTreeSet<&str> =
            variables(&function.parameters, &function.body).map(|variable| variable.name.text.as_str()).collect();
        let mut wrong = Vec::new();
        let mut pending: Vec<&Stmt> = function.body.iter().collect();
        while let Some(stmt) = pending.pop() {
            inner(stmt, &mut |stmt| pending.push(stmt));
            own_variables(&mut stmt.clone(), &mut |var| {
                let name = &var.parts[0].0;
                if locals.contains(&name.text) && !own.contains(name.text.as_str()) {
                    wrong.push(name.clone());
                }
            });
        }
        for name in wrong {
            let message = if self.globals.contains(&name.text) {
                format!("`{}` is also a variable of `{}`, which calls this function", name.text, process.text)
            } else {
                format!("`{}` is not a variable of this function", name.text)
            };
            self.error(name.span, message, "pass the value as an argument, or rename one of the variables");
        }
    }
}

/// The functions that a statement calls.
fn calls_in(stmt: &Stmt, out: &mut Vec<String>) {
    if let StmtKind::Call { function, .. } = &stmt.kind {
        out.push(function.text.clone());
    }
    inner(stmt, &mut |stmt| calls_in(stmt, out));
}

/// A call, as the function that returns sees it.
struct Call {
    /// Where the result goes, as the caller names it: when it is assigned, the instance of the caller is uppermost again.
    result: Option<VarRef>,
    /// The name of the function, where it is called.
    name: Span,
}

/// The statements of a process or a function while they are expanded.
struct Body<'x, 'a> {
    expander: &'x mut Expander<'a>,
    /// The function whose statements these are.
    inside: Option<&'x Function>,
    /// The calls of each function so far.
    calls: &'x mut BTreeMap<String, Vec<Call>>,
}

impl Body<'_, '_> {
    fn statements(&mut self, statements: Vec<Stmt>) -> Vec<Stmt> {
        statements.into_iter().map(|stmt| self.statement(stmt, false)).collect()
    }

    fn statement(&mut self, mut whole: Stmt, is_atomic: bool) -> Stmt {
        let span = whole.span;
        if let Some(function) = self.inside {
            own_variables(&mut whole, &mut |var| rename(var, function));
        }
        whole.kind = match whole.kind {
            StmtKind::Call { function, .. } if is_atomic => {
                let help = "put the atomic sequence into the function";
                self.expander.error(span, format!("`{}` is called in an atomic sequence", function.text), help);
                StmtKind::Break
            }
            StmtKind::Return(_) if is_atomic => {
                self.expander.error(
                    span,
                    "`return` stands in an atomic sequence".into(),
                    "write it behind the sequence",
                );
                StmtKind::Break
            }
            StmtKind::Call { result, function, args } => self.call(result, &function, args, span),
            StmtKind::Return(value) => self.returned(value, span),
            StmtKind::Label(name, inner) => StmtKind::Label(name, Box::new(self.statement(*inner, is_atomic))),
            StmtKind::If(options) => StmtKind::If(self.options(options, is_atomic)),
            StmtKind::Do(options) => StmtKind::Do(self.options(options, is_atomic)),
            StmtKind::Atomic(body) => StmtKind::Atomic(self.within(body, true)),
            StmtKind::DStep(body) => StmtKind::DStep(self.within(body, true)),
            StmtKind::Block(body) => StmtKind::Block(self.within(body, is_atomic)),
            StmtKind::For { var, from, to, body } => {
                StmtKind::For { var, from, to, body: self.within(body, is_atomic) }
            }
            StmtKind::ForIn { var, over, body } => StmtKind::ForIn { var, over, body: self.within(body, is_atomic) },
            other => other,
        };
        whole
    }

    fn within(&mut self, body: Vec<Stmt>, is_atomic: bool) -> Vec<Stmt> {
        body.into_iter().map(|stmt| self.statement(stmt, is_atomic)).collect()
    }

    fn options(&mut self, options: Vec<OptionSequence>, is_atomic: bool) -> Vec<OptionSequence> {
        let option = |OptionSequence { body, span }| OptionSequence { body: self.within(body, is_atomic), span };
        options.into_iter().map(option).collect()
    }

    /// `do :: d_step { push } goto f; f.k: break od`
    fn call(&mut self, result: Option<VarRef>, name: &Name, args: Vec<Expr>, span: Span) -> StmtKind {
        let Some(function) = self.expander.functions.get(&name.text) else {
            let message = format!("`{}` is not a function", name.text);
            let near = closest(&name.text, self.expander.functions.keys().map(String::as_str));
            let help = near
                .map_or("functions stand beside the proctypes".to_owned(), |near| format!("did you mean `{near}`?"));
            self.expander.error(name.span, message, &help);
            return StmtKind::Break;
        };
        let parameters: Vec<&Declarator> = function.parameters.iter().flat_map(|p| &p.variables).collect();
        if parameters.len() != args.len() {
            let expected = counted(parameters.len(), "argument");
            let message = format!("the function `{}` takes {expected}, not {}", name.text, args.len());
            self.expander.error(span, message, "every parameter gets one argument");
            return StmtKind::Break;
        }
        if let (Some(var), None) = (&result, &function.result) {
            let message = format!("the function `{}` has no result", name.text);
            self.expander.error(var.span, message, "its type is written behind the parameters: `function f() : byte`");
            return StmtKind::Break;
        }
        let calls = self.calls.entry(name.text.clone()).or_default();
        let number = calls.len();
        if number > i16::MAX as usize {
            self.expander.error(span, format!("`{}` is called too often", name.text), "write a loop");
            return StmtKind::Break;
        }
        calls.push(Call { result, name: name.span });
        let (top, fresh) = (top(&name.text, name.span), fresh(&name.text, name.span));
        let ty = TypeName::User(name.clone());
        let mut push = vec![stmt(StmtKind::New(fresh.clone(), ty, name.span), span)];
        for (parameter, argument) in parameters.iter().zip(args) {
            let mut field = field(&fresh, &parameter.name.text, parameter.name.span);
            // So that a message about the assignment speaks of the parameter.
            field.span = parameter.name.span;
            push.push(stmt(StmtKind::Assign(field, argument), span));
        }
        let number_expr = constant(number as i64, span);
        push.push(stmt(StmtKind::Assign(field(&fresh, RETURN, name.span), number_expr), span));
        push.push(stmt(StmtKind::Assign(field(&fresh, CALLER, name.span), value(&top)), span));
        push.push(stmt(StmtKind::Assign(top, value(&fresh)), span));
        push.push(stmt(StmtKind::Reset(fresh), span));
        let back = label(&name.text, &number.to_string(), span);
        let body = vec![
            stmt(StmtKind::DStep(push), span),
            stmt(StmtKind::Goto(label(&name.text, "", span)), span),
            stmt(StmtKind::Label(back, Box::new(stmt(StmtKind::Break, span))), span),
        ];
        StmtKind::Do(vec![OptionSequence { body, span }])
    }

    /// `{ top.result = e; goto f.end }`
    fn returned(&mut self, given: Option<Expr>, span: Span) -> StmtKind {
        let Some(function) = self.inside else { return StmtKind::Break };
        let name = &function.name.text;
        let end = stmt(StmtKind::Goto(label(name, "end", span)), span);
        match (given, &function.result) {
            (None, None) => end.kind,
            (Some(e), Some(_)) => {
                let mut result = field(&top(name, span), RESULT, span);
                result.span = function.name.span;
                StmtKind::Block(vec![stmt(StmtKind::Assign(result, e), span), end])
            }
            (None, Some(_)) => {
                self.expander.error(span, format!("the function `{name}` has a result"), "write `return e`");
                StmtKind::Break
            }
            (Some(e), None) => {
                let help = "its type is written behind the parameters: `function f() : byte`";
                self.expander.error(e.span, format!("the function `{name}` has no result"), help);
                StmtKind::Break
            }
        }
    }
}

/// Back to the callers: `if :: d_step { top.return == k; fresh = top; top = top.caller; v = fresh.result; reset fresh } goto f.k … fi`
fn returns(function: &Function, calls: &[Call]) -> Stmt {
    let (name, span) = (&function.name.text, function.end);
    let (top, fresh) = (top(name, span), fresh(name, span));
    let mut options = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let equal = Binary::Arithmetic(BinaryOp::Equal);
        let returns_here = ExprKind::Binary(equal, value(&field(&top, RETURN, span)), constant(number as i64, span));
        let mut pop = vec![
            stmt(StmtKind::Expr(Expr { kind: Box::new(returns_here), span }), span),
            stmt(StmtKind::Assign(fresh.clone(), value(&top)), span),
            stmt(StmtKind::Assign(top.clone(), value(&field(&top, CALLER, span))), span),
        ];
        if let Some(result) = &call.result {
            let mut returned = field(&fresh, RESULT, span);
            returned.span = call.name;
            pop.push(stmt(StmtKind::Assign(result.clone(), value(&returned)), span));
        }
        pop.push(stmt(StmtKind::Reset(fresh.clone()), span));
        let back = StmtKind::Goto(label(name, &number.to_string(), span));
        options.push(OptionSequence { body: vec![stmt(StmtKind::DStep(pop), span), stmt(back, span)], span });
    }
    stmt(StmtKind::If(options), span)
}

/// Puts a label before the first statement.
fn labelled(label: Name, statements: Vec<Stmt>) -> Vec<Stmt> {
    let mut statements = statements.into_iter();
    let Some(first) = statements.next() else { return Vec::new() };
    let span = first.span;
    let first = stmt(StmtKind::Label(label, Box::new(first)), span);
    std::iter::once(first).chain(statements).collect()
}

/// A label that no source can have.
fn label(function: &str, place: &str, span: Span) -> Name {
    Name { text: format!("{function}().{place}"), span }
}

/// The uppermost instance of a function.
fn top(function: &str, span: Span) -> VarRef {
    VarRef { parts: vec![(Name { text: function.to_owned(), span }, None)], deref: false, span }
}

/// An instance while it is pushed or popped; of no source.
fn fresh(function: &str, span: Span) -> VarRef {
    VarRef { parts: vec![(Name { text: format!("{function}()"), span }, None)], deref: false, span }
}

fn field(of: &VarRef, name: &str, span: Span) -> VarRef {
    let mut var = of.clone();
    var.parts.push((Name { text: name.to_owned(), span }, None));
    var
}

fn value(var: &VarRef) -> Expr {
    Expr { kind: Box::new(ExprKind::Var(var.clone())), span: var.span }
}

fn constant(number: i64, span: Span) -> Expr {
    Expr { kind: Box::new(ExprKind::Const(number)), span }
}

fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span, inline: 0 }
}

fn declaration(name: Name, ty: TypeName, pointer: Option<Span>) -> Declaration {
    let span = name.span;
    let variable = Declarator { name, pointer, width: None, length: None, initial: None };
    Declaration { visibility: Visibility::Plain, ty, variables: vec![variable], span }
}

/// A variable of a function is one of its uppermost instance.
fn rename(var: &mut VarRef, function: &Function) {
    let name = &var.parts[0].0;
    if variables(&function.parameters, &function.body).any(|variable| variable.name.text == name.text) {
        let top = Name { text: function.name.text.clone(), span: name.span };
        var.parts.insert(0, (top, None));
    }
}

/// The variables in the expressions of a statement, those of statements inside of it left out.
fn own_variables(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut VarRef)) {
    match &mut stmt.kind {
        StmtKind::For { var, from, to, .. } | StmtKind::Select { var, from, to, .. } => {
            variable(var, visit);
            expression(from, visit);
            expression(to, visit);
        }
        StmtKind::ForIn { var, over, .. } => {
            variable(var, visit);
            variable(over, visit);
        }
        StmtKind::New(var, ..) | StmtKind::Reset(var) => variable(var, visit),
        StmtKind::Assign(var, e) => {
            variable(var, visit);
            expression(e, visit);
        }
        StmtKind::Call { result, args, .. } => {
            result.iter_mut().for_each(|var| variable(var, visit));
            args.iter_mut().for_each(|e| expression(e, visit));
        }
        StmtKind::Return(e) => e.iter_mut().for_each(|e| expression(e, visit)),
        StmtKind::Printf(_, args) => args.iter_mut().for_each(|e| expression(e, visit)),
        StmtKind::Printm(e) | StmtKind::Assert(e, _) | StmtKind::Expr(e) => expression(e, visit),
        _ => {}
    }
}

fn variable(var: &mut VarRef, visit: &mut dyn FnMut(&mut VarRef)) {
    var.parts.iter_mut().filter_map(|(_, index)| index.as_mut()).for_each(|e| expression(e, visit));
    visit(var);
}

fn expression(e: &mut Expr, visit: &mut dyn FnMut(&mut VarRef)) {
    match &mut *e.kind {
        ExprKind::Var(var) => variable(var, visit),
        ExprKind::Unary(_, x) | ExprKind::Enabled(x) | ExprKind::PcValue(x) | ExprKind::GetPriority(x) => {
            expression(x, visit);
        }
        ExprKind::Binary(_, x, y) => {
            expression(x, visit);
            expression(y, visit);
        }
        ExprKind::Conditional(c, x, y) => [c, x, y].into_iter().for_each(|e| expression(e, visit)),
        ExprKind::Run { args, .. } => args.iter_mut().for_each(|e| expression(e, visit)),
        ExprKind::RemoteLabel { index, .. } => index.iter_mut().for_each(|e| expression(e, visit)),
        // The variable is one of another process.
        ExprKind::RemoteVar { index, .. } => index.iter_mut().for_each(|e| expression(e, visit)),
        // Of channels, which PROM+ does not have.
        ExprKind::Probe(..) | ExprKind::Poll { .. } => {}
        ExprKind::Const(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
    }
}

/// The statements directly inside of a statement.
fn inner<'s>(stmt: &'s Stmt, visit: &mut dyn FnMut(&'s Stmt)) {
    match &stmt.kind {
        StmtKind::Label(_, body) => visit(body),
        StmtKind::If(options) | StmtKind::Do(options) => {
            options.iter().flat_map(|option| &option.body).for_each(visit);
        }
        StmtKind::Atomic(body)
        | StmtKind::DStep(body)
        | StmtKind::Block(body)
        | StmtKind::For { body, .. }
        | StmtKind::ForIn { body, .. } => body.iter().for_each(visit),
        _ => {}
    }
}
