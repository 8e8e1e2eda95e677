//! What Promela has and PROM+ has not: refused, with what to write instead.

use ample_model::Span;

use crate::diagnostic::Diagnostic;
use crate::promela::ast::{
    Declaration, Expr, ExprKind, Model, Proctype, Stmt, StmtKind, TypeName, Unit, VarRef, Visibility,
};

/// More errors than this help nobody.
const MAX_ERRORS: usize = 20;

/// All that the model has and PROM+ has not.
pub(super) fn errors(model: &Model) -> Vec<Diagnostic> {
    let mut refused = Restrict { errors: Vec::new() };
    for unit in &model.units {
        refused.unit(unit);
    }
    refused.errors.truncate(MAX_ERRORS);
    refused.errors
}

struct Restrict {
    errors: Vec<Diagnostic>,
}

impl Restrict {
    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        self.errors.push(Diagnostic::error(span, message).with_help(help));
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Init(proctype) => {
                let help = "write `active [1] proctype Init() { … }`";
                self.refuse(proctype.name.span, "PROM+ has no `init`", help);
            }
            Unit::Never(proctype) => {
                self.refuse(proctype.name.span, "PROM+ has no never claims", "write an `ltl` block, or use --ltl");
            }
            Unit::Trace { span, .. } => {
                self.refuse(*span, "PROM+ has no channels, and so no traces", "write an `ltl` block, or use --ltl");
            }
            Unit::Function(function) => {
                function.parameters.iter().for_each(|parameter| self.declaration(parameter));
                self.body(&function.body, function.end);
            }
            Unit::Declaration(declaration) => self.declaration(declaration),
            Unit::Typedef { fields, .. } => fields.iter().for_each(|field| self.declaration(field)),
            Unit::Ltl { .. } | Unit::Mtype { .. } => {}
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        if let Some(priority) = &proctype.priority {
            self.priority(priority.span);
        }
        if let Some(provided) = &proctype.provided {
            let help = "put the condition before the statements that wait for it";
            self.refuse(provided.span, "PROM+ has no `provided`", help);
        }
        proctype.parameters.iter().for_each(|parameter| self.declaration(parameter));
        self.body(&proctype.body, proctype.end);
    }

    /// Declarations, and then statements.
    fn body(&mut self, body: &[Stmt], end: Span) {
        let mut statements = body.iter().peekable();
        while let Some(Stmt { kind: StmtKind::Declaration(declaration), .. }) = statements.peek() {
            self.declaration(declaration);
            statements.next();
        }
        if statements.peek().is_none() {
            let help = "a statement that does nothing is written `skip`";
            self.refuse(end, "expected a statement, found the end of the body", help);
        }
        self.statements(statements);
    }

    fn priority(&mut self, span: Span) {
        self.refuse(span, "PROM+ has no priorities", "all processes are equal");
    }

    fn channel(&mut self, span: Span) {
        self.refuse(span, "PROM+ has no channels", "processes share global variables and objects");
    }

    fn declaration(&mut self, declaration: &Declaration) {
        if matches!(declaration.ty, TypeName::Chan) {
            return self.channel(declaration.span);
        }
        if declaration.visibility != Visibility::Plain {
            let help = "all variables are part of the state";
            self.refuse(declaration.span, "a declaration of PROM+ begins with its type", help);
        }
        for variable in &declaration.variables {
            if variable.initial.is_some() {
                let help = format!(
                    "give it a value by a statement: variables are 0 and pointers null initially, `{} = …` is a step",
                    variable.name.text
                );
                self.refuse(variable.name.span, "a declaration of PROM+ has no initial value", &help);
            }
        }
    }

    fn statements<'s>(&mut self, statements: impl IntoIterator<Item = &'s Stmt>) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declaration(_) => {
                let help = "declarations stand at the beginning of a proctype or a function";
                self.refuse(stmt.span, "a declaration stands behind a statement", help);
            }
            StmtKind::Exclusive { .. } | StmtKind::Send { .. } | StmtKind::Receive { .. } => self.channel(stmt.span),
            StmtKind::Label(_, inner) => self.statement(inner),
            StmtKind::Unless(..) => {
                self.refuse(
                    stmt.span,
                    "PROM+ has no `unless`",
                    "write the condition as an option of the selections inside",
                );
            }
            StmtKind::For { var, from, to, body } => {
                self.variable(var);
                self.expressions([from, to]);
                self.statements(body);
            }
            StmtKind::ForIn { var, over, body } => {
                self.variable(var);
                self.variable(over);
                self.statements(body);
            }
            StmtKind::Select { var, from, to, .. } => {
                self.variable(var);
                self.expressions([from, to]);
            }
            StmtKind::If(options) | StmtKind::Do(options) => {
                options.iter().for_each(|option| self.statements(&option.body));
            }
            StmtKind::Atomic(body) | StmtKind::DStep(body) | StmtKind::Block(body) => self.statements(body),
            StmtKind::SetPriority(..) => self.priority(stmt.span),
            StmtKind::New(var, ..) | StmtKind::Reset(var) => self.variable(var),
            StmtKind::Assign(var, value) => {
                self.variable(var);
                self.expression(value);
            }
            StmtKind::Call { result, args, .. } => {
                result.iter().for_each(|var| self.variable(var));
                self.expressions(args);
            }
            StmtKind::Return(value) => self.expressions(value),
            StmtKind::Printf(_, arguments) => self.expressions(arguments),
            StmtKind::Printm(value) | StmtKind::Assert(value, _) => self.expression(value),
            StmtKind::Expr(e) => match &*e.kind {
                // A process is created by a statement of its own.
                ExprKind::Run { args, priority, .. } => {
                    self.expressions(args);
                    if let Some(priority) = priority {
                        self.priority(priority.span);
                    }
                }
                _ => self.expression(e),
            },
            StmtKind::Break | StmtKind::Goto(_) | StmtKind::Else => {}
        }
    }

    fn variable(&mut self, var: &VarRef) {
        self.expressions(var.parts.iter().filter_map(|(_, index)| index.as_ref()));
    }

    fn expressions<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) {
        for e in all {
            self.expression(e);
        }
    }

    fn expression(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Const(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
            ExprKind::Var(var) => self.variable(var),
            ExprKind::Unary(_, x) | ExprKind::Enabled(x) | ExprKind::PcValue(x) => self.expression(x),
            ExprKind::Binary(_, x, y) => self.expressions([x, y]),
            ExprKind::Conditional(c, x, y) => self.expressions([c, x, y]),
            ExprKind::Run { .. } => {
                self.refuse(e.span, "`run` is a statement of PROM+ and has no value", "write it on its own");
            }
            ExprKind::Probe(..) | ExprKind::Poll { .. } => self.channel(e.span),
            ExprKind::GetPriority(_) => self.priority(e.span),
            ExprKind::RemoteLabel { index, .. } => self.expressions(index),
            ExprKind::RemoteVar { index, var, .. } => {
                self.expressions(index);
                self.variable(var);
            }
        }
    }
}
