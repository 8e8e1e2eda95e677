//! Puts what is known of a process into its edges: its id, the parameters that nobody assigns, constant globals.
//!
//! An array of flags indexed by `_pid` becomes a flag of its own for each process, and a channel that was passed as a
//! parameter becomes that channel.

use std::collections::HashMap;

use ample_model::facts::Lens;
use ample_model::{
    Action, BinaryOp, Communication, Edge, Expr, Index, Initial, Instruction, Pattern, Place, Scope, System, UnaryOp,
    VariableId,
};

/// What is known of a process.
pub struct Fold<'a> {
    /// The system.
    pub system: &'a System,
    /// What its variables are.
    pub lens: &'a Lens<'a>,
    /// Its id, if that is known.
    pub id: Option<u32>,
    /// The values of its local cells that never change.
    pub constants: HashMap<(VariableId, u32), i64>,
}

impl Fold<'_> {
    /// The edge of this process.
    pub fn edge(&self, edge: &Edge) -> Edge {
        Edge {
            guard: edge.guard.iter().map(|conjunct| self.expr(conjunct)).collect(),
            communication: edge.communication.as_ref().map(|communication| self.communication(communication)),
            effect: edge.effect.iter().map(|instruction| self.instruction(instruction)).collect(),
            ..edge.clone()
        }
    }

    fn instruction(&self, instruction: &Instruction) -> Instruction {
        match instruction {
            Instruction::Do(action) => Instruction::Do(self.action(action)),
            Instruction::Try(action, target) => Instruction::Try(self.action(action), *target),
            other => other.clone(),
        }
    }

    fn action(&self, action: &Action) -> Action {
        match action {
            Action::Test(condition) => Action::Test(self.expr(condition)),
            Action::Assign(place, value) => Action::Assign(self.place(place), self.expr(value)),
            Action::Communicate(communication) => Action::Communicate(self.communication(communication)),
            Action::Spawn { process, arguments, priority } => Action::Spawn {
                process: *process,
                arguments: arguments.iter().map(|argument| self.expr(argument)).collect(),
                priority: *priority,
            },
            Action::Assert { condition, text } => {
                Action::Assert { condition: self.expr(condition), text: text.clone() }
            }
            Action::Print { format, arguments } => Action::Print {
                format: format.clone(),
                arguments: arguments.iter().map(|argument| self.expr(argument)).collect(),
            },
            Action::SetPriority(process, priority) => Action::SetPriority(self.expr(process), self.expr(priority)),
            Action::End => Action::End,
        }
    }

    fn communication(&self, communication: &Communication) -> Communication {
        match communication {
            Communication::Send { channel, values, sorted } => Communication::Send {
                channel: self.expr(channel),
                values: values.iter().map(|value| self.expr(value)).collect(),
                sorted: *sorted,
            },
            Communication::Receive { channel, patterns, anywhere, keep } => Communication::Receive {
                channel: self.expr(channel),
                patterns: patterns.iter().map(|pattern| self.pattern(pattern)).collect(),
                anywhere: *anywhere,
                keep: *keep,
            },
        }
    }

    fn pattern(&self, pattern: &Pattern) -> Pattern {
        match pattern {
            Pattern::Match(expr) => Pattern::Match(self.expr(expr)),
            Pattern::Bind(place) => Pattern::Bind(self.place(place)),
            Pattern::Ignore => Pattern::Ignore,
        }
    }

    fn place(&self, place: &Place) -> Place {
        let index = |index: &Index| Index { at: self.expr(&index.at), ..index.clone() };
        Place { indices: place.indices.iter().map(index).collect(), ..place.clone() }
    }

    /// The expression as this process evaluates it.
    pub fn expr(&self, expr: &Expr) -> Expr {
        let boxed = |x: &Expr| Box::new(self.expr(x));
        match expr {
            Expr::SelfId => self.id.map_or(Expr::SelfId, |id| Expr::Const(id.into())),
            Expr::Read(place) => {
                let place = self.place(place);
                self.known(&place).map_or(Expr::Read(place), Expr::Const)
            }
            Expr::Unary(op, x) => unary(*op, self.expr(x)),
            Expr::Binary(op, x, y) => binary(*op, self.expr(x), self.expr(y)),
            Expr::Cast(scalar, x) => match self.expr(x) {
                Expr::Const(value) => match scalar.fit(value) {
                    Some(value) => Expr::Const(value),
                    None => Expr::Cast(*scalar, Box::new(Expr::Const(value))),
                },
                x => Expr::Cast(*scalar, Box::new(x)),
            },
            Expr::Conditional(condition, x, y) => match self.expr(condition) {
                Expr::Const(0) => self.expr(y),
                Expr::Const(_) => self.expr(x),
                condition => Expr::Conditional(Box::new(condition), boxed(x), boxed(y)),
            },
            Expr::Shared(x) => self.expr(x),
            Expr::Enabled(x) => Expr::Enabled(boxed(x)),
            Expr::LocationOf(x) => Expr::LocationOf(boxed(x)),
            Expr::Length(x) => Expr::Length(boxed(x)),
            Expr::Full(x) => Expr::Full(boxed(x)),
            Expr::Priority(x) => Expr::Priority(boxed(x)),
            Expr::At { process, of, locations } => {
                Expr::At { process: process.as_deref().map(boxed), of: *of, locations: locations.clone() }
            }
            Expr::Remote { process, of, place } => {
                Expr::Remote { process: process.as_deref().map(boxed), of: *of, place: self.place(place) }
            }
            Expr::Poll { channel, patterns, anywhere } => Expr::Poll {
                channel: boxed(channel),
                patterns: patterns.iter().map(|pattern| self.pattern(pattern)).collect(),
                anywhere: *anywhere,
            },
            Expr::Const(_)
            | Expr::ProcessCount
            | Expr::LastMover
            | Expr::Timeout
            | Expr::Blocked(_)
            | Expr::NonProgress
            | Expr::Accepting => expr.clone(),
        }
    }

    /// The value of a cell that never changes.
    fn known(&self, place: &Place) -> Option<i64> {
        let slot = fixed_slot(place)?;
        match place.scope {
            Scope::Local => self.constants.get(&(place.variable, slot)).copied(),
            Scope::Global if self.lens.is_assigned(place.variable) => None,
            Scope::Global => {
                if let Some(handle) = self.lens.global_channel(place.variable, slot) {
                    return Some(handle.into());
                }
                let initial = &self.system.globals[place.variable.index()].initial;
                match initial.iter().find(|(listed, _)| *listed == slot) {
                    None => Some(0),
                    Some((_, Initial::Value(Expr::Const(value)))) => place.scalar.fit(*value),
                    Some(_) => None,
                }
            }
        }
    }
}

/// The slot that a place means in every state.
pub fn fixed_slot(place: &Place) -> Option<u32> {
    let mut slot = place.offset;
    for index in &place.indices {
        let Expr::Const(at) = index.at else { return None };
        let at = u32::try_from(at).ok().filter(|at| *at < index.length)?;
        slot = slot.checked_add(at.checked_mul(index.stride)?)?;
    }
    Some(slot)
}

fn unary(op: UnaryOp, x: Expr) -> Expr {
    let value = match (op, &x) {
        (UnaryOp::Negate, Expr::Const(x)) => x.checked_neg(),
        (UnaryOp::Not, Expr::Const(x)) => Some(i64::from(*x == 0)),
        (UnaryOp::Complement, Expr::Const(x)) => Some(!x),
        _ => None,
    };
    value.map_or_else(|| Expr::unary(op, x), Expr::Const)
}

fn binary(op: BinaryOp, x: Expr, y: Expr) -> Expr {
    match (op, &x, &y) {
        // The right side is not evaluated.
        (BinaryOp::And, Expr::Const(0), _) => return Expr::FALSE,
        (BinaryOp::Or, Expr::Const(1), _) => return Expr::TRUE,
        (_, Expr::Const(x), Expr::Const(y)) => {
            if let Ok(value) = op.apply(*x, *y) {
                return Expr::Const(value);
            }
        }
        _ => {}
    }
    Expr::binary(op, x, y)
}
