//! Expressions and variable references.

use ample_logic as logic;
use ample_model::{Action, BinaryOp, Expr, Field, Index, Pattern, Place, RecordId, Scalar, Scope, Span, Type, UnaryOp};

use super::{Lower, Reference, Result, RunSlot, UNDECLARED};
use crate::diagnostic::{Diagnostic, counted};
use crate::promela::ast::{self, Binary, ExprKind, Probe, ReceiveArg, Unary, VarRef};
use crate::promela::parser::Notation;

/// What a reference begins with.
#[derive(Clone)]
pub(super) enum Root {
    /// A variable.
    Variable(Scope, ample_model::VariableId),
    /// An object of that type, which the expression refers to.
    Object(Expr, RecordId),
}

/// A variable reference with its type: a cell, or a whole record or array.
pub(super) struct Target {
    pub(super) root: Root,
    pub(super) offset: u32,
    pub(super) indices: Vec<Index>,
    pub(super) ty: Type,
}

impl Target {
    /// The cell of a variable; none if it is one of an object.
    pub(super) fn place(&self, scalar: Scalar) -> Option<Place> {
        let Root::Variable(scope, variable) = self.root else { return None };
        Some(Place { scope, variable, offset: self.offset, indices: self.indices.clone(), scalar })
    }

    /// The cell of an object, and what refers to it.
    pub(super) fn field(&self, scalar: Scalar) -> Option<(Expr, Field)> {
        let Root::Object(object, record) = &self.root else { return None };
        let field = Field { record: *record, offset: self.offset, indices: self.indices.clone(), scalar };
        Some((object.clone(), field))
    }

    fn read(&self, scalar: Scalar) -> Option<Expr> {
        let field = || self.field(scalar).map(|(object, field)| Expr::Field(Box::new(object), field));
        self.place(scalar).map(Expr::Read).or_else(field)
    }

    /// The type of the objects that it refers to, if it is a pointer.
    pub(super) fn refers_to(&self) -> Option<RecordId> {
        if let Type::Scalar(Scalar::Reference(record)) = self.ty { Some(record) } else { None }
    }
}

fn wrapped(e: Expr) -> Expr {
    Expr::Cast(Scalar::INT, Box::new(e))
}

/// `left op right` in 32-bit arithmetic, folded where both sides are known and nothing can go wrong.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    if let (Expr::Const(x), Expr::Const(y)) = (&left, &right)
        && let Some(value) = fold(op, *x as i32, *y as i32)
    {
        return Expr::Const(value.into());
    }
    let result = Expr::binary(op, left, right);
    match op {
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::ShiftLeft => {
            wrapped(result)
        }
        _ => result,
    }
}

fn fold(op: BinaryOp, x: i32, y: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Subtract => x.wrapping_sub(y),
        BinaryOp::Multiply => x.wrapping_mul(y),
        BinaryOp::Divide => x.checked_div(y)?,
        BinaryOp::Remainder => x.checked_rem(y)?,
        BinaryOp::BitAnd => x & y,
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        BinaryOp::ShiftLeft => x.wrapping_shl(y as u32),
        BinaryOp::ShiftRight => x.wrapping_shr(y as u32),
        BinaryOp::Equal => (x == y).into(),
        BinaryOp::NotEqual => (x != y).into(),
        BinaryOp::Less => (x < y).into(),
        BinaryOp::LessEqual => (x <= y).into(),
        BinaryOp::Greater => (x > y).into(),
        BinaryOp::GreaterEqual => (x >= y).into(),
        BinaryOp::And => (x != 0 && y != 0).into(),
        BinaryOp::Or => (x != 0 || y != 0).into(),
    })
}

pub(super) fn negation(e: Expr) -> Expr {
    match e {
        Expr::Const(x) => Expr::Const((x == 0).into()),
        e => Expr::unary(UnaryOp::Not, e),
    }
}

fn unary(op: Unary, e: Expr) -> Option<Expr> {
    Some(match (op, e) {
        (Unary::Logical(logic::Unary::Not) | Unary::Arithmetic(UnaryOp::Not), e) => negation(e),
        (Unary::Logical(_), _) => return None,
        (Unary::Arithmetic(UnaryOp::Negate), Expr::Const(x)) => Expr::Const((x as i32).wrapping_neg().into()),
        (Unary::Arithmetic(UnaryOp::Negate), e) => wrapped(Expr::unary(UnaryOp::Negate, e)),
        (Unary::Arithmetic(UnaryOp::Complement), Expr::Const(x)) => Expr::Const((!(x as i32)).into()),
        (Unary::Arithmetic(UnaryOp::Complement), e) => Expr::unary(UnaryOp::Complement, e),
    })
}

impl Lower<'_> {
    /// The value of an expression that must be known now.
    pub(super) fn constant(&mut self, e: &ast::Expr) -> Result<i64> {
        match &*e.kind {
            ExprKind::Const(value) => return Ok(i64::from(*value as i32)),
            ExprKind::Var(var) => {
                if let [(name, None)] = &var.parts[..]
                    && let Some((_, value)) = self.globals.mtypes.get(&name.text)
                {
                    return Ok(*value);
                }
            }
            ExprKind::Unary(op, x) => {
                let x = self.constant(x)?;
                if let Some(Expr::Const(value)) = unary(*op, Expr::Const(x)) {
                    return Ok(value);
                }
            }
            ExprKind::Binary(op, x, y) => {
                let (x, y) = (self.constant(x)?, self.constant(y)?);
                let op = match *op {
                    Binary::Logical(logic::Binary::And) => Some(BinaryOp::And),
                    Binary::Logical(logic::Binary::Or) => Some(BinaryOp::Or),
                    Binary::Logical(_) => None,
                    Binary::Arithmetic(op) => Some(op),
                };
                if let Some(op) = op
                    && let Some(value) = fold(op, x as i32, y as i32)
                {
                    return Ok(value.into());
                }
            }
            ExprKind::Conditional(c, x, y) => {
                return if self.constant(c)? != 0 { self.constant(x) } else { self.constant(y) };
            }
            _ => {}
        }
        Err(Diagnostic::error(e.span, "expected a constant"))
    }

    /// An expression in which `run` is not allowed.
    pub(super) fn expression(&mut self, e: &ast::Expr) -> Result<Expr> {
        let outer = std::mem::replace(&mut self.run_slot, RunSlot::Forbidden);
        let result = self.expression_with_run(e);
        self.run_slot = outer;
        result
    }

    /// An expression statement: at most one `run`, which is returned beside the value. In the value
    /// it stands as the id that the new process will get.
    pub(super) fn running_expression(&mut self, e: &ast::Expr) -> Result<(Expr, Option<Action>)> {
        let outer = std::mem::replace(&mut self.run_slot, RunSlot::Empty);
        let result = self.expression_with_run(e);
        let slot = std::mem::replace(&mut self.run_slot, outer);
        let spawned = if let RunSlot::Filled(action) = slot { Some(action) } else { None };
        Ok((result?, spawned))
    }

    /// A number, or a pointer: for who knows what to do with one.
    pub(super) fn any_expression(&mut self, e: &ast::Expr) -> Result<Expr> {
        let ExprKind::Var(var) = &*e.kind else { return self.expression(e) };
        if self.is_null(e) { Ok(Expr::Const(0)) } else { self.variable_value(var) }
    }

    /// The expression is the reference to nothing, of PROM+. A variable of that name hides it.
    pub(super) fn is_null(&self, e: &ast::Expr) -> bool {
        let ExprKind::Var(VarRef { parts, deref: false, .. }) = &*e.kind else { return false };
        let is_null = |name: &ast::Name| name.text == "null" && self.find_variable("null").is_none();
        self.widths.is_some() && matches!(&parts[..], [(name, None)] if is_null(name))
    }

    fn expression_with_run(&mut self, e: &ast::Expr) -> Result<Expr> {
        if self.is_null(e) {
            return Err(Diagnostic::error(e.span, "`null` is not a number"));
        }
        let value = self.value_with_run(e)?;
        match (reference(&value), &*e.kind) {
            (Some(record), ExprKind::Var(var)) => {
                let name = self.text(var.span);
                let error = Diagnostic::error(e.span, format!("`{name}` is a pointer and not a number"));
                Err(if self.is_basic(record) {
                    error.with_help(format!("what it refers to is `*{name}`"))
                } else {
                    error
                })
            }
            _ => Ok(value),
        }
    }

    /// `p == q` or `p != q`, if one of them is a pointer.
    fn comparison_of_pointers(&mut self, op: BinaryOp, x: &ast::Expr, y: &ast::Expr) -> Result<Option<Expr>> {
        let is_variable = |e: &ast::Expr| matches!(&*e.kind, ExprKind::Var(_));
        if self.widths.is_none() || !is_variable(x) && !is_variable(y) {
            return Ok(None);
        }
        let (left, right) = (self.any_expression(x)?, self.any_expression(y)?);
        let (first, second) = (reference(&left), reference(&right));
        let (x_null, y_null) = (self.is_null(x), self.is_null(y));
        match (first, second) {
            (None, None) if x_null && y_null => {}
            (None, None) => return Ok(None),
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let name = |id: RecordId| &self.system.records[id.index()].name;
                let message = format!("pointers to `{}` and to `{}` cannot be compared", name(a), name(b));
                return Err(Diagnostic::error(crate::promela::preprocess::join(x.span, y.span), message));
            }
            (Some(_), None) if y_null => {}
            (None, Some(_)) if x_null => {}
            (Some(_), None) => return Err(not_a_pointer(y.span)),
            (None, Some(_)) => return Err(not_a_pointer(x.span)),
        }
        Ok(Some(Expr::binary(op, left, right)))
    }

    fn value_with_run(&mut self, e: &ast::Expr) -> Result<Expr> {
        Ok(match &*e.kind {
            ExprKind::Const(value) => Expr::Const(i64::from(*value as i32)),
            ExprKind::Var(var) => self.variable_value(var)?,
            ExprKind::Unary(op, x) => {
                let x = self.expression_with_run(x)?;
                unary(*op, x).ok_or_else(|| temporal_outside(e.span))?
            }
            ExprKind::Binary(op, x, y) => {
                if let Binary::Arithmetic(op @ (BinaryOp::Equal | BinaryOp::NotEqual)) = op
                    && let Some(compared) = self.comparison_of_pointers(*op, x, y)?
                {
                    return Ok(compared);
                }
                let (left, right) = (self.expression_with_run(x)?, self.expression_with_run(y)?);
                let is_formula = x.is_temporal() || y.is_temporal();
                match *op {
                    Binary::Logical(logic::Binary::And) => binary(BinaryOp::And, left, right),
                    Binary::Logical(logic::Binary::Or) => binary(BinaryOp::Or, left, right),
                    Binary::Logical(logic::Binary::Implies) => binary(BinaryOp::Or, negation(left), right),
                    Binary::Logical(logic::Binary::Iff) => binary(BinaryOp::Equal, negation(left), negation(right)),
                    Binary::Logical(_) => return Err(temporal_outside(e.span)),
                    Binary::Arithmetic(BinaryOp::BitAnd) if is_formula => binary(BinaryOp::And, left, right),
                    Binary::Arithmetic(BinaryOp::BitOr) if is_formula => binary(BinaryOp::Or, left, right),
                    Binary::Arithmetic(op) => binary(op, left, right),
                }
            }
            ExprKind::Conditional(c, x, y) => {
                let c = self.expression_with_run(c)?;
                let x = self.expression_with_run(x)?;
                let y = self.expression_with_run(y)?;
                Expr::Conditional(Box::new(c), Box::new(x), Box::new(y))
            }
            ExprKind::Run { name, args, priority } => {
                let action = self.run(name, args, priority.as_ref(), e.span)?;
                match self.run_slot {
                    RunSlot::Empty => self.run_slot = RunSlot::Filled(action),
                    RunSlot::Filled(_) => {
                        return Err(Diagnostic::error(e.span, "an expression can contain only one `run`"));
                    }
                    RunSlot::Forbidden => return Err(Diagnostic::error(e.span, "`run` cannot be used here")),
                }
                Expr::ProcessCount
            }
            ExprKind::Probe(probe, channel) => {
                let channel = Box::new(self.channel(channel)?);
                match probe {
                    Probe::Len => Expr::Length(channel),
                    Probe::Full => Expr::Full(channel),
                    Probe::NotFull => negation(Expr::Full(channel)),
                    Probe::Empty => Expr::binary(BinaryOp::Equal, Expr::Length(channel), Expr::Const(0)),
                    Probe::NotEmpty => Expr::binary(BinaryOp::Greater, Expr::Length(channel), Expr::Const(0)),
                }
            }
            ExprKind::Poll { channel, args, random } => {
                let handle = self.channel(channel)?;
                let patterns = self.patterns(args)?;
                Expr::Poll { channel: Box::new(handle), patterns, anywhere: *random }
            }
            ExprKind::Enabled(x) => Expr::Enabled(Box::new(self.expression_with_run(x)?)),
            ExprKind::PcValue(x) => Expr::LocationOf(Box::new(self.expression_with_run(x)?)),
            ExprKind::GetPriority(x) => {
                self.system.uses_priorities = true;
                Expr::Priority(Box::new(self.expression_with_run(x)?))
            }
            ExprKind::Timeout => Expr::Timeout,
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::RemoteLabel { proctype, index, label } => {
                let of = self.process_named(proctype)?;
                let process = self.process_index(index.as_ref())?;
                let reference = self.refer(Reference::Label { of, label: label.clone() });
                Expr::At { process, of, locations: vec![ample_model::LocationId(reference)] }
            }
            ExprKind::RemoteVar { proctype, index, var } => {
                let of = self.process_named(proctype)?;
                let process = self.process_index(index.as_ref())?;
                let mut indices = Vec::new();
                for (_, index) in &var.parts {
                    indices.push(match index {
                        Some(index) => Some(self.expression(index)?),
                        None => None,
                    });
                }
                let reference = self.refer(Reference::Variable { of, var: var.clone(), indices });
                let place = Place {
                    scope: Scope::Local,
                    variable: ample_model::VariableId(reference),
                    offset: 0,
                    indices: Vec::new(),
                    scalar: Scalar::INT,
                };
                Expr::Remote { process, of, place }
            }
        })
    }

    fn process_index(&mut self, index: Option<&ast::Expr>) -> Result<Option<Box<Expr>>> {
        Ok(match index {
            Some(index) => Some(Box::new(self.expression(index)?)),
            None => None,
        })
    }

    fn run(
        &mut self,
        name: &ast::Name,
        args: &[ast::Expr],
        priority: Option<&ast::Expr>,
        span: Span,
    ) -> Result<Action> {
        if self.body.is_none() {
            return Err(Diagnostic::error(span, "`run` cannot be used outside a proctype"));
        }
        let process = self.process_named(name)?;
        if self.roles[process.index()] != ample_model::Role::Process {
            return Err(Diagnostic::error(name.span, format!("`{}` is a claim and cannot be run", name.text)));
        }
        let mut arguments = Vec::new();
        for (number, arg) in args.iter().enumerate() {
            if self.widths.is_some() {
                self.check_argument(process, number, arg)?;
            }
            self.flat_values(arg, &mut arguments)?;
        }
        let expected = self.parameter_slots[process.index()];
        if arguments.len() != expected {
            let expected = counted(expected, "argument");
            let message = format!("`{}` takes {expected}, not {}", name.text, arguments.len());
            return Err(Diagnostic::error(span, message));
        }
        let priority = match priority {
            None => None,
            Some(e) => Some(self.priority(e)?),
        };
        Ok(Action::Spawn { process, arguments, priority })
    }

    /// Numbers go to numbers, and pointers to pointers of their type.
    fn check_argument(&mut self, process: ample_model::ProcessId, number: usize, arg: &ast::Expr) -> Result<()> {
        let Some((name, ty)) = self.parameters[process.index()].get(number).cloned() else { return Ok(()) };
        let expected = if let Type::Scalar(Scalar::Reference(record)) = ty { Some(record) } else { None };
        let given = match (&*arg.kind, &ty) {
            (_, Type::Record(_) | Type::Array { .. }) => return Ok(()),
            (ExprKind::Var(_), _) => reference(&self.any_expression(arg)?),
            _ => None,
        };
        if expected == given || expected.is_some() && self.is_null(arg) {
            return Ok(());
        }
        let record = |id: RecordId| &self.system.records[id.index()].name;
        let message = match (expected, given) {
            (Some(expected), Some(given)) => {
                format!("`{name}` is a pointer to `{}`, not to `{}`", record(expected), record(given))
            }
            (Some(expected), None) => format!("`{name}` is a pointer to `{}`, not a number", record(expected)),
            (None, _) => format!("`{name}` is a number, not a pointer"),
        };
        Err(Diagnostic::error(arg.span, message))
    }

    /// A priority as it is written: 1 to 255.
    pub(super) fn priority(&mut self, e: &ast::Expr) -> Result<u8> {
        self.system.uses_priorities = true;
        match u8::try_from(self.constant(e)?) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(Diagnostic::error(e.span, "a priority must be between 1 and 255")),
        }
    }

    /// The values of an argument: one, or all the fields of a record.
    pub(super) fn flat_values(&mut self, arg: &ast::Expr, out: &mut Vec<Expr>) -> Result<()> {
        if let ExprKind::Var(var) = &*arg.kind
            && self.find_variable(&var.parts[0].0.text).is_some()
            && !self.globals.mtypes.contains_key(&var.parts[0].0.text)
        {
            let target = self.target(var)?;
            if matches!(target.ty, Type::Record(_)) {
                out.extend(self.flat_places(&target).into_iter().map(Expr::Read));
                return Ok(());
            }
        }
        out.push(if self.widths.is_some() { self.any_expression(arg)? } else { self.expression(arg)? });
        Ok(())
    }

    pub(super) fn flat_places(&self, target: &Target) -> Vec<Place> {
        let scalars = self.system.scalars(&target.ty);
        let places = scalars.into_iter().enumerate().filter_map(|(slot, scalar)| {
            let mut place = target.place(scalar)?;
            place.offset += slot as u32;
            Some(place)
        });
        places.collect()
    }

    pub(super) fn process_named(&self, name: &ast::Name) -> Result<ample_model::ProcessId> {
        if let Some(id) = self.globals.processes.get(&name.text) {
            return Ok(*id);
        }
        let error = Diagnostic::error(name.span, format!("there is no proctype `{}`", name.text));
        let near = crate::diagnostic::closest(&name.text, self.globals.processes.keys().map(String::as_str));
        Err(match near {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    fn variable_value(&mut self, var: &VarRef) -> Result<Expr> {
        if let [(name, None)] = &var.parts[..] {
            if let Some((_, value)) = self.globals.mtypes.get(&name.text) {
                return Ok(Expr::Const(*value));
            }
            match name.text.as_str() {
                "_pid" | "_priority" if self.notation != Notation::Model => {
                    let message = format!("`{}` has no value in a formula, which belongs to no process", name.text);
                    return Err(Diagnostic::error(name.span, message));
                }
                "_pid" => return Ok(Expr::SelfId),
                "_nr_pr" => return Ok(Expr::ProcessCount),
                "_last" => {
                    self.system.uses_last = true;
                    return Ok(Expr::LastMover);
                }
                "_priority" => return Ok(Expr::Priority(Box::new(Expr::SelfId))),
                "_" => return Err(Diagnostic::error(name.span, "the value of `_` cannot be read")),
                _ => {}
            }
        }
        let target = self.target(var)?;
        let scalar = self.scalar_of(&target, var)?;
        target.read(scalar).ok_or_else(|| Diagnostic::error(var.span, "this has no value"))
    }

    /// The cell of a variable that a reference names; an error if it names a whole record or array.
    pub(super) fn cell(&mut self, var: &VarRef) -> Result<Place> {
        let target = self.target(var)?;
        let scalar = self.scalar_of(&target, var)?;
        target.place(scalar).ok_or_else(|| {
            let error = Diagnostic::error(var.span, "expected a variable, found a part of an object");
            error.with_help("assign its value to a variable first")
        })
    }

    /// The type of a cell; an error if it is a whole record or array.
    pub(super) fn scalar_of(&self, target: &Target, var: &VarRef) -> Result<Scalar> {
        match target.ty {
            Type::Scalar(scalar) => Ok(scalar),
            Type::Array { .. } => {
                let name = &var.parts.last().expect("a reference has a name").0.text;
                Err(Diagnostic::error(var.span, format!("`{name}` is an array: an index is missing")))
            }
            Type::Record(id) => {
                let name = &self.system.records[id.index()].name;
                Err(Diagnostic::error(var.span, format!("`{name}` is a record: a field is missing")))
            }
        }
    }

    pub(super) fn target(&mut self, var: &VarRef) -> Result<Target> {
        let (name, index) = &var.parts[0];
        let Some((scope, variable)) = self.find_variable(&name.text) else {
            let error = Diagnostic::error(name.span, format!("{UNDECLARED} `{}`", name.text));
            if let Some(help) = self.found_in_process(&name.text) {
                return Err(error.with_help(help));
            }
            return Err(match self.similar_name(&name.text) {
                Some(near) if near == name.text => error.with_help("it is declared in a block that is closed here"),
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            });
        };
        let ty = self.variable(scope, variable).ty.clone();
        let mut target = Target { root: Root::Variable(scope, variable), offset: 0, indices: Vec::new(), ty };
        let index = match index {
            Some(e) => Some((self.expression(e)?, e.span)),
            None => None,
        };
        self.select_element(&mut target, &name.text, index)?;
        for (field, index) in &var.parts[1..] {
            self.select_field(&mut target, field)?;
            let index = match index {
                Some(e) => Some((self.expression(e)?, e.span)),
                None => None,
            };
            self.select_element(&mut target, &field.text, index)?;
        }
        if var.deref {
            self.dereference(&mut target, var)?;
        }
        Ok(target)
    }

    /// `*v`
    fn dereference(&self, target: &mut Target, var: &VarRef) -> Result<()> {
        let name = var.parts.iter().map(|(name, _)| name.text.as_str()).collect::<Vec<_>>().join(".");
        let Some(record) = target.refers_to() else {
            return Err(Diagnostic::error(var.span, format!("`{name}` is not a pointer")));
        };
        if !self.is_basic(record) {
            let message = format!("`{name}` refers to a record");
            return Err(
                Diagnostic::error(var.span, message).with_help(format!("its fields are written `{name}.field`"))
            );
        }
        follow(target);
        let field = &self.system.records[record.index()].fields[0];
        target.ty = field.1.clone();
        Ok(())
    }

    pub(super) fn select_element(&self, target: &mut Target, name: &str, index: Option<(Expr, Span)>) -> Result<()> {
        let Some((at, span)) = index else { return Ok(()) };
        let Type::Array { element, length } = target.ty.clone() else {
            if at == Expr::Const(0) {
                return Ok(());
            }
            return Err(Diagnostic::error(span, format!("`{name}` is not an array")));
        };
        let stride = self.system.slots(&element);
        match at {
            Expr::Const(i) if (0..i64::from(length)).contains(&i) => target.offset += i as u32 * stride,
            at => target.indices.push(Index { at, length, stride }),
        }
        target.ty = *element;
        Ok(())
    }

    pub(super) fn select_field(&self, target: &mut Target, field: &ast::Name) -> Result<()> {
        if let Some(record) = target.refers_to() {
            let name = &self.system.records[record.index()].name;
            if self.is_basic(record) {
                let message = format!("a pointer to `{name}` has no field `{}`", field.text);
                return Err(Diagnostic::error(field.span, message).with_help("what it refers to is written `*p`"));
            }
            follow(target);
        }
        let Type::Record(id) = target.ty else {
            let message = format!("this is not a record and has no field `{}`", field.text);
            return Err(Diagnostic::error(field.span, message));
        };
        let record = &self.system.records[id.index()];
        let mut offset = 0;
        for (name, ty) in &record.fields {
            if *name == field.text {
                target.offset += offset;
                target.ty = ty.clone();
                return Ok(());
            }
            offset += self.system.slots(ty);
        }
        let error = Diagnostic::error(field.span, format!("type `{}` has no field `{}`", record.name, field.text));
        let near = crate::diagnostic::closest(&field.text, record.fields.iter().map(|(n, _)| n.as_str()));
        Err(match near {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    /// The handle that a channel reference denotes.
    pub(super) fn channel(&mut self, var: &VarRef) -> Result<Expr> {
        let place = self.cell(var)?;
        if place.scalar != Scalar::Channel {
            let name = &var.parts.last().expect("a reference has a name").0.text;
            return Err(Diagnostic::error(var.span, format!("`{name}` is not a channel")));
        }
        Ok(Expr::Read(place))
    }

    /// Warns if a channel that is created with the variable has another number of fields.
    pub(super) fn check_arity(&mut self, var: &VarRef, given: usize, span: Span) {
        let Some((scope, id)) = self.find_variable(&var.parts[0].0.text) else { return };
        let Some((_, ample_model::Initial::Channel(kind))) = self.variable(scope, id).initial.first() else { return };
        if var.parts.len() > 1 {
            return;
        }
        let expected = self.system.channels[kind.index()].fields.len();
        if expected != given {
            let name = &var.parts[0].0.text;
            let expected = counted(expected, "field");
            self.warn(span, format!("the messages of `{name}` have {expected}, not {given}"));
        }
    }

    pub(super) fn patterns(&mut self, args: &[ReceiveArg]) -> Result<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for arg in args {
            match arg {
                ReceiveArg::Const(value, _) => patterns.push(Pattern::Match(Expr::Const(i64::from(*value as i32)))),
                ReceiveArg::Eval(e) => {
                    let mut values = Vec::new();
                    self.flat_values(e, &mut values)?;
                    patterns.extend(values.into_iter().map(Pattern::Match));
                }
                ReceiveArg::Var(var) => self.variable_pattern(var, &mut patterns)?,
            }
        }
        Ok(patterns)
    }

    fn variable_pattern(&mut self, var: &VarRef, patterns: &mut Vec<Pattern>) -> Result<()> {
        if let [(name, None)] = &var.parts[..] {
            if name.text == "_" {
                patterns.push(Pattern::Ignore);
                return Ok(());
            }
            if let Some((_, value)) = self.globals.mtypes.get(&name.text) {
                patterns.push(Pattern::Match(Expr::Const(*value)));
                return Ok(());
            }
            if matches!(name.text.as_str(), "_pid" | "_nr_pr" | "_last") {
                let message = format!("`{}` cannot be assigned", name.text);
                return Err(Diagnostic::error(name.span, message)
                    .with_help(format!("to compare with it, write eval({})", name.text)));
            }
        }
        let target = self.target(var)?;
        match target.ty {
            Type::Record(_) => patterns.extend(self.flat_places(&target).into_iter().map(Pattern::Bind)),
            _ => patterns.push(Pattern::Bind(self.cell(var)?)),
        }
        Ok(())
    }
}

/// From a pointer to the object that it refers to.
fn follow(target: &mut Target) {
    let Type::Scalar(scalar @ Scalar::Reference(record)) = target.ty else { return };
    if let Some(object) = target.read(scalar) {
        *target =
            Target { root: Root::Object(object, record), offset: 0, indices: Vec::new(), ty: Type::Record(record) };
    }
}

/// The type of the objects that an expression refers to.
pub(super) fn reference(e: &Expr) -> Option<RecordId> {
    match e {
        Expr::Read(Place { scalar: Scalar::Reference(record), .. })
        | Expr::Field(_, Field { scalar: Scalar::Reference(record), .. }) => Some(*record),
        _ => None,
    }
}

pub(super) fn not_a_pointer(span: Span) -> Diagnostic {
    Diagnostic::error(span, "expected a pointer")
}

fn temporal_outside(span: Span) -> Diagnostic {
    Diagnostic::error(span, "a temporal operator can be used only in an ltl formula")
}
