//! Statements: a body becomes a [`Flow`] whose leaves say what a step does.

use ample_model::{Action, BinaryOp, Communication, Expr, Place, RecordId, Scalar, Scope, Span, Type, VariableId};

use super::expression::{Target, binary, negation, reference};
use super::flow::{Closing, ElementId, Flow, LabelName, Node, ScopePath, SequenceId};
use super::names::Locals;
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::promela::ast::{self, Declaration, Initializer, Stmt, StmtKind, TypeName, VarRef};

/// What a statement does: when it is executable, what it communicates, what it changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaf {
    pub(super) guard: Vec<Expr>,
    pub(super) communication: Option<Communication>,
    pub(super) actions: Vec<Action>,
    pub(super) label: String,
}

/// A body while it is lowered.
pub(super) struct Body {
    pub(super) locals: Locals,
    pub(super) flow: Flow<Leaf>,
    /// Declarations still stand before the first statement: their initialisers belong to the process's
    /// creation. Later ones are steps.
    initialisable: bool,
    /// Inside a claim, where skips are kept.
    is_claim: bool,
    /// Inside a trace, where only events are allowed.
    is_trace: bool,
}

impl Body {
    pub(super) fn new(is_claim: bool, is_trace: bool) -> Body {
        Body { locals: Locals::new(), flow: Flow::new(), initialisable: true, is_claim, is_trace }
    }
}

type Labels = [(ast::Name, ScopePath)];

fn conjuncts(e: Expr, out: &mut Vec<Expr>) {
    match e {
        Expr::Binary(BinaryOp::And, x, y) => {
            conjuncts(*x, out);
            conjuncts(*y, out);
        }
        e => out.push(e),
    }
}

/// A test that can never succeed: Spin drops an option that begins with one.
pub(super) fn is_dead(node: &Node<Leaf>) -> bool {
    matches!(node, Node::Leaf(leaf) if leaf.guard[..] == [Expr::Const(0)] && leaf.actions.is_empty())
}

impl Lower<'_> {
    fn body(&mut self) -> &mut Body {
        self.body.as_mut().expect("statements are lowered inside a body")
    }

    fn flow(&mut self) -> &mut Flow<Leaf> {
        &mut self.body().flow
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            if self.watch.step().is_err() {
                return;
            }
            let done = self.statement(statement, &[]);
            if done.is_err() {
                // Something stands here, so that the sequence is not reported as empty as well.
                let done = self.add(Node::Skip, statement.span, &[]);
                self.keep_error(done);
            }
            self.keep_error(done);
        }
    }

    fn statement(&mut self, stmt: &Stmt, labels: &Labels) -> Result<()> {
        if let StmtKind::Declaration(declaration) = &stmt.kind {
            if !labels.is_empty() {
                return Err(Diagnostic::error(stmt.span, "a label cannot stand before a declaration"));
            }
            return self.declaration(declaration);
        }
        if let StmtKind::Exclusive { channels, .. } = &stmt.kind {
            if !labels.is_empty() {
                return Err(Diagnostic::error(stmt.span, "a label cannot stand before an xr or xs claim"));
            }
            for channel in channels {
                let target = self.target(channel)?;
                if !self.system.scalars(&target.ty).contains(&Scalar::Channel) {
                    return Err(Diagnostic::error(channel.span, "xr and xs are for channels only"));
                }
            }
            return Ok(());
        }
        if self.body().is_trace {
            self.check_event(stmt)?;
        } else if self.body().is_claim {
            self.check_observer(stmt)?;
        }
        self.executable(stmt, labels)?;
        self.body().initialisable = false;
        Ok(())
    }

    fn check_event(&self, stmt: &Stmt) -> Result<()> {
        match stmt.kind {
            StmtKind::Send { sorted: false, .. }
            | StmtKind::Receive { random: false, keep: false, .. }
            | StmtKind::Label(..)
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Break
            | StmtKind::Goto(_)
            | StmtKind::Block(_) => Ok(()),
            _ => Err(Diagnostic::error(stmt.span, "a trace can contain only sends and receives")),
        }
    }

    /// A claim only observes: it must not take part in the steps.
    fn check_observer(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Label(_, inner) => self.check_observer(inner),
            StmtKind::Send { .. } | StmtKind::Receive { .. } => {
                Err(Diagnostic::error(stmt.span, "a never claim cannot send or receive")
                    .with_help("a channel is looked into with `channel?[message]`, `len` and the like"))
            }
            StmtKind::Assign(..) => {
                self.warn(stmt.span, "a never claim should not change the state".into());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn executable(&mut self, stmt: &Stmt, labels: &Labels) -> Result<()> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Declaration(_) | StmtKind::Exclusive { .. } => Ok(()),
            StmtKind::Label(name, inner) => {
                let mut all = labels.to_vec();
                all.push((name.clone(), self.body().locals.scope_path()));
                match &inner.kind {
                    StmtKind::Declaration(_) | StmtKind::Exclusive { .. } => self.statement(inner, &all),
                    _ => self.executable(inner, &all),
                }
            }
            StmtKind::Unless(main, escape) => self.unless(main, escape, span, labels),
            StmtKind::For { var, from, to, body } => {
                if let (ast::ExprKind::Const(low), ast::ExprKind::Const(high)) = (&*from.kind, &*to.kind)
                    && low > high
                {
                    return Err(empty_range(span, *low, *high));
                }
                let cell = self.loop_variable(var)?;
                let (from, to) = (self.expression(from)?, self.expression(to)?);
                self.for_loop(cell, from, to, &[], body, span, labels)
            }
            StmtKind::ForIn { var, over, body } => self.for_in(var, over, body, span, labels),
            StmtKind::Select { var, from, to, in_numbers } => {
                let written_out = *in_numbers && stmt.inline == 0;
                self.select(var, from, to, written_out, span, labels)
            }
            StmtKind::If(options) => {
                let options = self.options(options)?;
                let prune = !self.body().is_claim;
                self.flow().add_select(options, false, prune, span, labels)?;
                Ok(())
            }
            StmtKind::Do(options) => {
                self.flow().push_exit();
                let options = self.options(options)?;
                let prune = !self.body().is_claim;
                self.flow().add_select(options, true, prune, span, labels)?;
                Ok(())
            }
            StmtKind::Break => {
                let Some(exit) = self.flow().exit() else {
                    return Err(Diagnostic::error(span, "`break` outside a loop"));
                };
                self.add(Node::Goto(exit, Vec::new()), span, labels)
            }
            StmtKind::Goto(name) => {
                let scope = self.body().locals.scope_path();
                self.add(Node::Goto(LabelName::Named(name.text.clone()), scope), span, labels)
            }
            StmtKind::Else => self.add(Node::Else, span, labels),
            StmtKind::Atomic(body) => {
                let inner = self.block(body, Closing::Atomic, span)?;
                self.flow().make_atomic(inner, false);
                self.add(Node::Atomic(inner), span, labels)
            }
            StmtKind::DStep(body) => {
                let inner = self.block(body, Closing::DStep, span)?;
                self.flow().make_atomic(inner, true);
                self.add(Node::DStep(inner), span, labels)
            }
            StmtKind::Block(body) => {
                let inner = self.block(body, Closing::Block, span)?;
                self.add(Node::Block(inner), span, labels)
            }
            StmtKind::Printf(..) | StmtKind::Printm(_) => {
                let leaf = self.leaf(stmt)?;
                self.flow().add_print(leaf, span, labels)?;
                Ok(())
            }
            StmtKind::Expr(e) if matches!(&*e.kind, ast::ExprKind::Const(1)) => self.add(Node::Skip, span, labels),
            _ => {
                let leaf = self.leaf(stmt)?;
                self.add(Node::Leaf(leaf), span, labels)
            }
        }
    }

    fn add(&mut self, node: Node<Leaf>, span: Span, labels: &Labels) -> Result<()> {
        self.flow().add(node, span, labels).map(|_: ElementId| ())
    }

    fn block(&mut self, body: &[Stmt], closing: Closing, span: Span) -> Result<SequenceId> {
        self.body().initialisable = false;
        self.flow().open_sequence();
        self.body().locals.open_scope();
        self.statements(body);
        self.body().locals.close_scope();
        self.flow().close_sequence(closing, span)
    }

    fn options(&mut self, options: &[ast::OptionSequence]) -> Result<Vec<SequenceId>> {
        let mut sequences = Vec::new();
        let mut failed = None;
        for option in options {
            self.body().initialisable = false;
            if let Some(Stmt { kind: StmtKind::Label(name, _), .. }) = option.body.first() {
                let message = format!("label `{}` at the start of an option marks the whole selection", name.text);
                let help = "write it before the `if` or `do`";
                self.diagnostics.push(Diagnostic::warning(name.span, message).with_help(help));
            }
            self.flow().open_sequence();
            self.statements(&option.body);
            match self.flow().close_sequence(Closing::Option, option.span) {
                Ok(sequence) => sequences.push(sequence),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(sequences), Err)
    }

    fn single(&mut self, stmt: &Stmt, closing: Closing) -> Result<SequenceId> {
        self.flow().open_sequence();
        let done = self.statement(stmt, &[]);
        let closed = self.flow().close_sequence(closing, stmt.span);
        done?;
        closed
    }

    /// `main unless escape`: a plain block on either side is the sequence itself.
    fn unless(&mut self, main: &Stmt, escape: &Stmt, span: Span, labels: &Labels) -> Result<()> {
        self.body().initialisable = false;
        if let StmtKind::Label(name, inner) = &main.kind {
            let wrapper = match &inner.kind {
                StmtKind::Block(body) | StmtKind::Atomic(body) | StmtKind::DStep(body) => Some(body),
                _ => None,
            };
            if let Some(body) = wrapper {
                return self.labelled_unless(name, inner, body, escape, span, labels);
            }
        }
        let main = match &main.kind {
            StmtKind::Block(body) => self.block(body, Closing::Block, main.span)?,
            _ => self.single(main, Closing::Main)?,
        };
        let escape = self.escape(escape)?;
        self.flow().add_unless(main, escape, span, labels)?;
        Ok(())
    }

    fn escape(&mut self, escape: &Stmt) -> Result<SequenceId> {
        match &escape.kind {
            StmtKind::Block(body) => self.block(body, Closing::Block, escape.span),
            _ => self.single(escape, Closing::Escape),
        }
    }

    /// `L: { … } unless …`: the label is lifted to a block around the whole.
    fn labelled_unless(
        &mut self,
        name: &ast::Name,
        inner: &Stmt,
        body: &[Stmt],
        escape: &Stmt,
        span: Span,
        labels: &Labels,
    ) -> Result<()> {
        let mut all = labels.to_vec();
        all.push((name.clone(), self.body().locals.scope_path()));
        self.flow().open_sequence();
        let main = self.block(body, Closing::Block, inner.span)?;
        match inner.kind {
            StmtKind::Atomic(_) => self.flow().make_atomic(main, false),
            StmtKind::DStep(_) => self.flow().make_atomic(main, true),
            _ => {}
        }
        let escape = self.escape(escape)?;
        self.flow().add_unless(main, escape, span, &[])?;
        let whole = self.flow().close_sequence(Closing::Body, span)?;
        let node = match inner.kind {
            StmtKind::Atomic(_) => Node::Atomic(whole),
            StmtKind::DStep(_) => Node::DStep(whole),
            _ => Node::Block(whole),
        };
        self.add(node, span, &all)
    }

    fn declaration(&mut self, declaration: &Declaration) -> Result<()> {
        for declarator in &declaration.variables {
            let name = &declarator.name;
            let initialise = self.body().initialisable;
            let id = self.add_local(declaration, declarator, initialise)?;
            if initialise {
                continue;
            }
            // A declaration among the statements is a step that assigns to the (first) cell.
            let label = match &declarator.initial {
                Some(Initializer::Value(_)) => self.text(name.span),
                _ => format!("{} = 0", name.text),
            };
            if matches!(declaration.ty, TypeName::User(_)) {
                self.add(Node::Leaf(Leaf { label, ..Leaf::default() }), name.span, &[])?;
                continue;
            }
            let value = match &declarator.initial {
                None => Expr::Const(0),
                Some(Initializer::Value(value)) => self.expression(value)?,
                Some(Initializer::List(_)) => {
                    let message =
                        format!("array `{}` can be given a list of values only before the first statement", name.text);
                    return Err(Diagnostic::error(name.span, message));
                }
                Some(Initializer::Channel { span, .. }) => {
                    let message = format!(
                        "channel `{}` must be initialised before the first statement of the proctype",
                        name.text
                    );
                    return Err(Diagnostic::error(*span, message));
                }
            };
            let place = self.first_cell(id);
            let actions = vec![Action::Assign(place, value)];
            self.add(Node::Leaf(Leaf { actions, label, ..Leaf::default() }), name.span, &[])?;
        }
        Ok(())
    }

    fn first_cell(&self, id: VariableId) -> Place {
        let ty = &self.variable(Scope::Local, id).ty;
        let scalar = self.system.scalars(ty).first().copied().unwrap_or(Scalar::INT);
        Place { scope: Scope::Local, variable: id, offset: 0, indices: Vec::new(), scalar }
    }

    fn loop_variable(&mut self, var: &VarRef) -> Result<Place> {
        let place = self.cell(var)?;
        if place.scalar == Scalar::Channel || !place.indices.is_empty() {
            return Err(Diagnostic::error(var.span, "the loop variable must be a plain variable"));
        }
        Ok(place)
    }

    fn assign(&mut self, place: Place, value: Expr, label: String, span: Span) -> Result<()> {
        let actions = vec![Action::Assign(place, value)];
        self.add(Node::Leaf(Leaf { actions, label, ..Leaf::default() }), span, &[])
    }

    fn test(&mut self, condition: Expr, label: String, span: Span) -> Result<()> {
        self.add(Node::Leaf(Leaf { guard: vec![condition], label, ..Leaf::default() }), span, &[])
    }

    /// `v = from; do :: v <= to -> prologue; body; v++ :: else -> break od`
    #[allow(clippy::too_many_arguments)]
    fn for_loop(
        &mut self,
        cell: Place,
        from: Expr,
        to: Expr,
        prologue: &[Leaf],
        body: &[Stmt],
        span: Span,
        labels: &Labels,
    ) -> Result<()> {
        self.body().initialisable = false;
        self.flow().push_exit();
        let name = self.place_text(&cell);
        self.assign(cell.clone(), from, format!("{name} = first value of the loop"), span)?;
        self.flow().open_sequence();
        let condition = Expr::binary(BinaryOp::LessEqual, Expr::Read(cell.clone()), to);
        self.test(condition, format!("{name} <= last value of the loop"), span)?;
        for leaf in prologue {
            self.add(Node::Leaf(leaf.clone()), span, &[])?;
        }
        self.body().locals.open_scope();
        self.statements(body);
        self.body().locals.close_scope();
        let next = binary(BinaryOp::Add, Expr::Read(cell.clone()), Expr::Const(1));
        self.assign(cell, next, format!("{name} = {name} + 1"), span)?;
        let repeat = self.flow().close_sequence(Closing::Option, span)?;
        self.close_loop(repeat, true, span, labels)
    }

    fn close_loop(&mut self, repeat: SequenceId, with_else: bool, span: Span, labels: &Labels) -> Result<()> {
        self.flow().open_sequence();
        if with_else {
            self.add(Node::Else, span, &[])?;
        }
        let exit = self.flow().exit().expect("the loop pushed its exit");
        self.add(Node::Goto(exit, Vec::new()), span, &[])?;
        let leave = self.flow().close_sequence(Closing::Option, span)?;
        self.flow().add_select(vec![leave, repeat], true, false, span, labels)?;
        Ok(())
    }

    fn for_in(&mut self, var: &VarRef, over: &VarRef, body: &[Stmt], span: Span, labels: &Labels) -> Result<()> {
        let target = self.target(over)?;
        match target.ty {
            Type::Array { length, .. } => {
                let cell = self.loop_variable(var)?;
                let last = Expr::Const(i64::from(length) - 1);
                self.for_loop(cell, Expr::Const(0), last, &[], body, span, labels)
            }
            Type::Scalar(Scalar::Channel) => {
                let record = self.target(var)?;
                if !matches!(record.ty, Type::Record(_)) {
                    return Err(Diagnostic::error(
                        var.span,
                        "to walk a channel the variable must be of its message's typedef",
                    ));
                }
                let places = self.flat_places(&record);
                let channel = self.channel(over)?;
                let name = ast::Name { text: format!("_messages_{}", span.start), span };
                let id = self.add_hidden_local(name, Scalar::SHORT)?;
                let cell = self.first_cell(id);
                let values: Vec<Expr> = places.iter().cloned().map(Expr::Read).collect();
                let patterns = places.into_iter().map(ample_model::Pattern::Bind).collect();
                let handle = channel.clone();
                let receive =
                    Communication::Receive { channel: handle.clone(), patterns, anywhere: false, keep: false };
                let send = Communication::Send { channel: handle, values, sorted: false };
                let text = self.text(over.span);
                let prologue = [
                    Leaf { communication: Some(receive), label: format!("{text} ? next message"), ..Leaf::default() },
                    Leaf { communication: Some(send), label: format!("{text} ! same message"), ..Leaf::default() },
                ];
                let last = Expr::binary(BinaryOp::Subtract, Expr::Length(Box::new(channel)), Expr::Const(1));
                self.for_loop(cell, Expr::Const(0), last, &prologue, body, span, labels)
            }
            _ => Err(Diagnostic::error(over.span, "only an array or a channel can be walked with `for … in`")),
        }
    }

    /// `select (v : from .. to)`: Spin writes out one assignment for each value if the range is short and
    /// written in plain numbers, and else walks up the range and stops anywhere.
    fn select(
        &mut self,
        var: &VarRef,
        from: &ast::Expr,
        to: &ast::Expr,
        written_out: bool,
        span: Span,
        labels: &Labels,
    ) -> Result<()> {
        let cell = self.loop_variable(var)?;
        let (from, to) = (self.expression(from)?, self.expression(to)?);
        if let (Expr::Const(low), Expr::Const(high)) = (&from, &to) {
            if written_out && low > high {
                return Err(empty_range(span, *low, *high));
            }
            let plain = var.parts.len() == 1 && var.parts[0].0.text.chars().all(|c| c.is_ascii_alphanumeric());
            if written_out && plain && *low >= 0 && high - low <= 32 {
                return self.select_by_value(&cell, *low, *high, span, labels);
            }
        }
        self.select_by_walk(cell, from, to, span, labels)
    }

    /// `if :: v = low … :: v = high fi`
    fn select_by_value(&mut self, cell: &Place, low: i64, high: i64, span: Span, labels: &Labels) -> Result<()> {
        let name = self.place_text(cell);
        let mut options = Vec::new();
        for value in low..=high {
            self.flow().open_sequence();
            self.assign(cell.clone(), Expr::Const(value), format!("{name} = {value}"), span)?;
            options.push(self.flow().close_sequence(Closing::Option, span)?);
        }
        self.flow().add_select(options, false, false, span, labels)?;
        Ok(())
    }

    /// `v = from; do :: break :: v < to -> v++ od`
    fn select_by_walk(&mut self, cell: Place, from: Expr, to: Expr, span: Span, labels: &Labels) -> Result<()> {
        let name = self.place_text(&cell);
        self.assign(cell.clone(), from, format!("{name} = smallest choice"), span)?;
        self.flow().open_sequence();
        let condition = Expr::binary(BinaryOp::Less, Expr::Read(cell.clone()), to);
        self.test(condition, format!("{name} < largest choice"), span)?;
        let next = binary(BinaryOp::Add, Expr::Read(cell.clone()), Expr::Const(1));
        self.assign(cell, next, format!("{name} = {name} + 1"), span)?;
        let repeat = self.flow().close_sequence(Closing::Option, span)?;
        self.flow().push_exit();
        self.close_loop(repeat, false, span, labels)
    }

    fn place_text(&self, place: &Place) -> String {
        let variable = self.variable(place.scope, place.variable);
        self.system.slot_name(variable, place.offset)
    }

    fn leaf(&mut self, stmt: &Stmt) -> Result<Leaf> {
        let label = self.text(stmt.span);
        let mut leaf = Leaf { label, ..Leaf::default() };
        match &stmt.kind {
            StmtKind::Send { channel, args, sorted } => {
                let handle = self.channel(channel)?;
                let mut values = Vec::new();
                for arg in args {
                    if self.body().is_trace && is_underscore(arg) {
                        // Any expression that is not a constant fits every message of a trace.
                        values.push(Expr::SelfId);
                    } else {
                        self.flat_values(arg, &mut values)?;
                    }
                }
                self.check_arity(channel, values.len(), stmt.span);
                leaf.communication = Some(Communication::Send { channel: handle, values, sorted: *sorted });
            }
            StmtKind::Receive { channel, args, random, keep } => {
                let handle = self.channel(channel)?;
                let patterns = self.patterns(args)?;
                refuse_repeated(args)?;
                self.check_arity(channel, patterns.len(), stmt.span);
                leaf.communication =
                    Some(Communication::Receive { channel: handle, patterns, anywhere: *random, keep: *keep });
            }
            StmtKind::Assign(var, value) if self.widths.is_some() => {
                self.assignment_with_pointers(var, value, &mut leaf)?
            }
            StmtKind::Assign(var, value) => self.assignment(var, value, &mut leaf)?,
            StmtKind::New(var, ty, span) => {
                let target = self.pointer(var)?;
                let record = self.object_type(ty, *span)?;
                let expected = target.refers_to().unwrap_or(record);
                if record != expected {
                    let name = |id: RecordId| &self.system.records[id.index()].name;
                    let message = format!(
                        "`{}` is a pointer to `{}`, not to `{}`",
                        self.text(var.span),
                        name(expected),
                        name(record)
                    );
                    return Err(Diagnostic::error(*span, message));
                }
                self.allocate(&target, record, &mut leaf)?;
            }
            StmtKind::Reset(var) => {
                let target = self.pointer(var)?;
                self.store(&target, var, Expr::Const(0), &mut leaf)?;
            }
            StmtKind::SetPriority(process, priority) => {
                self.system.uses_priorities = true;
                let (process, priority) = (self.expression(process)?, self.expression(priority)?);
                leaf.actions.push(Action::SetPriority(process, priority));
            }
            StmtKind::Printf(format, args) => {
                let mut arguments = Vec::new();
                for arg in args {
                    arguments.push(self.expression(arg)?);
                }
                leaf.actions.push(Action::Print { format: format.clone(), arguments });
            }
            StmtKind::Printm(value) => {
                let arguments = vec![self.expression(value)?];
                leaf.actions.push(Action::Print { format: "%e".into(), arguments });
            }
            StmtKind::Assert(condition, text) => {
                let condition = self.expression(condition)?;
                leaf.actions.push(Action::Assert { condition, text: text.clone() });
            }
            StmtKind::Expr(e) => {
                let (value, spawned) = self.running_expression(e)?;
                if let (Some(_), Some(widths)) = (&spawned, self.widths) {
                    let most = Expr::Const(widths.processes().into());
                    leaf.guard.push(Expr::binary(BinaryOp::Less, Expr::ProcessCount, most));
                }
                // A new process never has the id 0, so a bare 'run' is always executable.
                if !(spawned.is_some() && value == Expr::ProcessCount) {
                    conjuncts(value, &mut leaf.guard);
                }
                leaf.actions.extend(spawned);
            }
            _ => return Err(Diagnostic::error(stmt.span, "this cannot stand here")),
        }
        Ok(leaf)
    }

    /// A pointer that is assigned to.
    fn pointer(&mut self, var: &VarRef) -> Result<Target> {
        let target = self.target(var)?;
        if target.refers_to().is_none() {
            let message = format!("`{}` is not a pointer", self.text(var.span));
            return Err(Diagnostic::error(var.span, message));
        }
        Ok(target)
    }

    /// Creates an object. Where the pointer is part of another one, it is kept in between, in a variable of its own.
    fn allocate(&mut self, target: &Target, record: RecordId, leaf: &mut Leaf) -> Result<()> {
        let scalar = Scalar::Reference(record);
        if let Some(place) = target.place(scalar) {
            leaf.actions.push(Action::Allocate(place, record));
            return Ok(());
        }
        let Some((object, field)) = target.field(scalar) else { return Ok(()) };
        let id = self.fresh_object(record)?;
        let fresh = Place { scope: Scope::Local, variable: id, offset: 0, indices: Vec::new(), scalar };
        leaf.actions.push(Action::Allocate(fresh.clone(), record));
        leaf.actions.push(Action::AssignField(Box::new((object, field, Expr::Read(fresh.clone())))));
        leaf.actions.push(Action::Assign(fresh, Expr::Const(0)));
        Ok(())
    }

    /// The variable of the process that holds a new object for the time of a step.
    fn fresh_object(&mut self, record: RecordId) -> Result<VariableId> {
        let text = format!("new {}", self.system.records[record.index()].name);
        let known = self.body().locals.variables.iter().position(|variable| variable.name == text);
        match known {
            Some(known) => Ok(VariableId::from(known)),
            None => {
                let span = Span { source: ample_model::SourceId(0), start: 0, end: 0 };
                self.add_hidden_local(ast::Name { text, span }, Scalar::Reference(record))
            }
        }
    }

    /// Stores a value in a cell of a variable or of an object.
    fn store(&mut self, target: &Target, var: &VarRef, value: Expr, leaf: &mut Leaf) -> Result<()> {
        let scalar = self.scalar_of(target, var)?;
        if let Some(place) = target.place(scalar) {
            leaf.actions.push(Action::Assign(place, value));
        } else if let Some((object, field)) = target.field(scalar) {
            leaf.actions.push(Action::AssignField(Box::new((object, field, value))));
        }
        Ok(())
    }

    /// An assignment of PROM+: of a number to a number, or of a pointer to one of its type.
    fn assignment_with_pointers(&mut self, var: &VarRef, value: &ast::Expr, leaf: &mut Leaf) -> Result<()> {
        if let [(name, None)] = &var.parts[..]
            && self.find_variable(&name.text).is_none()
        {
            // What is predefined, and what is not declared.
            return self.assignment(var, value, leaf);
        }
        let target = self.target(var)?;
        self.scalar_of(&target, var)?;
        let Some(expected) = target.refers_to() else {
            if target.place(Scalar::INT).is_some() {
                return self.assignment(var, value, leaf);
            }
            let value = self.expression(value)?;
            return self.store(&target, var, value, leaf);
        };
        let new = self.any_expression(value)?;
        match reference(&new) {
            Some(given) if given == expected => {}
            None if self.is_null(value) => {}
            given => {
                let name = |id: RecordId| &self.system.records[id.index()].name;
                let found = match given {
                    Some(given) => format!("a pointer to `{}`", name(given)),
                    None => "a number".into(),
                };
                let message = format!("`{}` is a pointer to `{}`, not {found}", self.text(var.span), name(expected));
                let error = Diagnostic::error(value.span, message);
                let basic = self.is_basic(expected) && given.is_none();
                return Err(if basic {
                    error.with_help(format!("what it refers to is `*{}`", self.text(var.span)))
                } else {
                    error
                });
            }
        }
        self.store(&target, var, new, leaf)
    }

    fn assignment(&mut self, var: &VarRef, value: &ast::Expr, leaf: &mut Leaf) -> Result<()> {
        let (value, spawned) = self.running_expression(value)?;
        let place = match &var.parts[..] {
            [(name, None)] if name.text == "_" => None,
            [(name, None)] if name.text == "_priority" => {
                self.system.uses_priorities = true;
                leaf.actions.push(Action::SetPriority(Expr::SelfId, value));
                return Ok(());
            }
            [(name, None)] if self.globals.mtypes.contains_key(&name.text) => {
                return Err(Diagnostic::error(
                    name.span,
                    format!("`{}` is an mtype name and cannot be assigned", name.text),
                ));
            }
            [(name, None)] if matches!(name.text.as_str(), "_pid" | "_nr_pr" | "_last") => {
                return Err(Diagnostic::error(name.span, format!("`{}` cannot be assigned", name.text)));
            }
            _ => Some(self.cell(var)?),
        };
        if let Some(place) = &place
            && place.scalar == Scalar::Channel
            && var.parts.len() == 1
            && matches!(value, Expr::Const(_))
        {
            return Err(Diagnostic::error(var.span, "a constant cannot be assigned to a channel"));
        }
        let value = if let Some(spawned) = spawned {
            leaf.actions.push(spawned);
            // The arguments see the old value, so the process is created first; its id is now one less
            // than the number of processes.
            after_spawn(value)
        } else {
            value
        };
        if let Some(place) = place {
            leaf.actions.push(Action::Assign(place, value));
        }
        Ok(())
    }
}

/// A variable cannot take two fields of one message.
fn refuse_repeated(args: &[ast::ReceiveArg]) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for arg in args {
        let ast::ReceiveArg::Var(var) = arg else { continue };
        let [(name, None)] = &var.parts[..] else { continue };
        if name.text != "_" && seen.contains(&name.text.as_str()) {
            let message = format!("`{}` cannot receive two fields of one message", name.text);
            return Err(Diagnostic::error(name.span, message));
        }
        seen.push(&name.text);
    }
    Ok(())
}

/// The expression with "the id the new process will get" as seen after it was created.
fn after_spawn(value: Expr) -> Expr {
    super::patch::map(value, &mut |e| match e {
        Expr::ProcessCount => Expr::binary(BinaryOp::Subtract, Expr::ProcessCount, Expr::Const(1)),
        e => e,
    })
}

/// Spin refuses this only where both limits are plain numbers.
fn empty_range(span: Span, low: i64, high: i64) -> Diagnostic {
    Diagnostic::error(span, format!("the range {low} .. {high} is empty"))
}

fn is_underscore(e: &ast::Expr) -> bool {
    matches!(&*e.kind, ast::ExprKind::Var(var) if matches!(&var.parts[..], [(name, None)] if name.text == "_"))
}

/// `!full(c)`
pub(super) fn not_full(channel: &Expr) -> Expr {
    negation(Expr::Full(Box::new(channel.clone())))
}
