//! One walk over everything that is made of expressions.
//!
//! A [`Visitor`] looks at edges, instructions, actions, communications, patterns, places and expressions; a [`Folder`] makes
//! new ones of them. Both do for every part what is always done, and let an implementation say what is special. The matches
//! here are complete, so that whoever adds an expression or an action is told by the compiler, here, and once.
//!
//! ```
//! use ample_model::visit::{Seen, Visitor, walk_expr};
//! use ample_model::{BinaryOp, Expr, Shared, UnaryOp};
//!
//! /// Counts the negations, those in a shared expression once.
//! #[derive(Default)]
//! struct Negations<'a> {
//!     count: usize,
//!     seen: Seen<'a>,
//! }
//!
//! impl<'a> Visitor<'a> for Negations<'a> {
//!     fn expr(&mut self, expr: &'a Expr) {
//!         self.count += usize::from(matches!(expr, Expr::Unary(UnaryOp::Not, _)));
//!         walk_expr(self, expr);
//!     }
//!
//!     fn shared(&mut self, shared: &'a Shared) {
//!         for part in self.seen.unseen(shared) {
//!             self.expr(part);
//!         }
//!     }
//! }
//!
//! let not = Shared::new(Expr::unary(UnaryOp::Not, Expr::TRUE));
//! let expr = Expr::unary(UnaryOp::Not, Expr::binary(BinaryOp::And, Expr::Shared(not.clone()), Expr::Shared(not)));
//! let mut negations = Negations::default();
//! negations.expr(&expr);
//! assert_eq!(negations.count, 2);
//! ```
//!
//! Expressions with [shared](Shared) parts are graphs, and the trees that they stand for may be larger than any memory.
//! Therefore nobody can forget to say what is done with a shared part: a visitor asks [`Seen`], a folder [`Made`].
//! Shared parts may be nested as deep as a circuit is, and no call stack is: they are [listed](innermost_first) without
//! recursion, those inside before those around them, so that whoever goes along the list finds what is inside done.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use crate::expr::{Expr, Field, Index, Pattern, Place, Shared};
use crate::system::{Action, Communication, Edge, Instruction};

/// The shared expressions that were looked at, of those that live as long as `'a`.
#[derive(Clone, Debug, Default)]
pub struct Seen<'a>(HashSet<usize>, PhantomData<&'a Shared>);

impl<'a> Seen<'a> {
    /// It was not looked at before; from now on it was.
    pub fn is_new(&mut self, shared: &'a Shared) -> bool {
        self.0.insert(shared.address())
    }

    /// What was not looked at before of a shared expression and those inside it, innermost first; from now on it was.
    pub fn unseen(&mut self, shared: &'a Shared) -> Vec<&'a Shared> {
        if self.0.contains(&shared.address()) {
            return Vec::new();
        }
        innermost_first(shared, &mut |part| self.0.insert(part.address()))
    }
}

/// Collects the shared expressions that stand directly in one.
struct Direct<'a>(Vec<&'a Shared>);

impl<'a> Visitor<'a> for Direct<'a> {
    fn shared(&mut self, shared: &'a Shared) {
        self.0.push(shared);
    }
}

/// A shared expression and those inside it, each after those inside it, as far as they are `new`, which is asked about each
/// place where one stands. One that is not new is left out with all that is inside it.
pub fn innermost_first<'a>(shared: &'a Shared, new: &mut dyn FnMut(&'a Shared) -> bool) -> Vec<&'a Shared> {
    /// The inner ones of an expression are still to be put on the list; or it is itself.
    enum Open<'a> {
        Inside(&'a Shared),
        Itself(&'a Shared),
    }
    let mut list = Vec::new();
    let mut open = vec![Open::Inside(shared)];
    while let Some(next) = open.pop() {
        match next {
            Open::Itself(shared) => list.push(shared),
            Open::Inside(shared) if !new(shared) => {}
            Open::Inside(shared) if !shared.is_nested() => list.push(shared),
            Open::Inside(shared) => {
                open.push(Open::Itself(shared));
                let mut direct = Direct(Vec::new());
                direct.expr(shared);
                open.extend(direct.0.into_iter().rev().map(Open::Inside));
            }
        }
    }
    list
}

/// So many levels may be gone through by recursion; what is nested deeper is gone through along a list.
pub const MAX_RECURSION: u32 = 100;

/// What was made of shared expressions, so that it is shared as well.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// By address. The expression is kept, so that no other one gets its address.
    known: HashMap<usize, (Shared, Expr)>,
}

impl Made {
    /// What was made of it before.
    pub fn get(&self, shared: &Shared) -> Option<Expr> {
        self.known.get(&shared.address()).map(|(_, made)| made.clone())
    }

    /// Keeps what was made of it, and returns it, to be shared by all who ask.
    pub fn keep(&mut self, shared: &Shared, made: Expr) -> Expr {
        let made = match made {
            Expr::Const(_) | Expr::Shared(_) => made,
            made => Expr::Shared(Shared::new(made)),
        };
        self.known.insert(shared.address(), (shared.clone(), made.clone()));
        made
    }
}

/// Looks at every part of what it is shown.
///
/// A method that does not call the `walk_…` function of its name ends the walk there.
pub trait Visitor<'a> {
    /// An edge.
    fn edge(&mut self, edge: &'a Edge) {
        walk_edge(self, edge);
    }

    /// An instruction of an effect.
    fn instruction(&mut self, instruction: &'a Instruction) {
        walk_instruction(self, instruction);
    }

    /// An action of an effect.
    fn action(&mut self, action: &'a Action) {
        walk_action(self, action);
    }

    /// The communication of an edge or an action.
    fn communication(&mut self, communication: &'a Communication) {
        walk_communication(self, communication);
    }

    /// A pattern of a receive or a poll.
    fn pattern(&mut self, pattern: &'a Pattern) {
        walk_pattern(self, pattern);
    }

    /// A cell that is read.
    fn read(&mut self, place: &'a Place) {
        self.place(place);
    }

    /// A cell that is written: assigned, or received into.
    fn write(&mut self, place: &'a Place) {
        self.place(place);
    }

    /// A cell.
    fn place(&mut self, place: &'a Place) {
        walk_place(self, place);
    }

    /// A cell of an object.
    fn field(&mut self, field: &'a Field) {
        walk_field(self, field);
    }

    /// An expression.
    fn expr(&mut self, expr: &'a Expr) {
        walk_expr(self, expr);
    }

    /// A shared expression, wherever it stands. One that was looked at before is left out if that is right; see [`Seen`].
    fn shared(&mut self, shared: &'a Shared);
}

/// The parts of an edge: its guard, its communication, its effect.
pub fn walk_edge<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, edge: &'a Edge) {
    edge.guard.iter().for_each(|conjunct| visitor.expr(conjunct));
    edge.communication.iter().for_each(|communication| visitor.communication(communication));
    edge.effect.iter().for_each(|instruction| visitor.instruction(instruction));
}

/// The parts of an instruction.
pub fn walk_instruction<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, instruction: &'a Instruction) {
    match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => visitor.action(action),
        Instruction::Jump(_) | Instruction::Fail(_) => {}
    }
}

/// The parts of an action.
pub fn walk_action<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, action: &'a Action) {
    match action {
        Action::Test(condition) | Action::Assert { condition, .. } => visitor.expr(condition),
        Action::Assign(place, value) => {
            visitor.write(place);
            visitor.expr(value);
        }
        Action::AssignAll(pairs) => {
            for (place, value) in pairs {
                visitor.write(place);
                visitor.expr(value);
            }
        }
        Action::AssignField(parts) => {
            let (object, field, value) = &**parts;
            visitor.expr(object);
            visitor.field(field);
            visitor.expr(value);
        }
        Action::Allocate(place, _) => visitor.write(place),
        Action::Communicate(communication) => visitor.communication(communication),
        Action::Spawn { arguments, .. } | Action::Print { arguments, .. } => {
            arguments.iter().for_each(|argument| visitor.expr(argument));
        }
        Action::SetPriority(process, priority) => {
            visitor.expr(process);
            visitor.expr(priority);
        }
        Action::End => {}
    }
}

/// The parts of a communication: the handle, then what is sent or must match.
pub fn walk_communication<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, communication: &'a Communication) {
    match communication {
        Communication::Send { channel, values, .. } => {
            visitor.expr(channel);
            values.iter().for_each(|value| visitor.expr(value));
        }
        Communication::Receive { channel, patterns, .. } => {
            visitor.expr(channel);
            patterns.iter().for_each(|pattern| visitor.pattern(pattern));
        }
    }
}

/// The parts of a pattern.
pub fn walk_pattern<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, pattern: &'a Pattern) {
    match pattern {
        Pattern::Match(expr) => visitor.expr(expr),
        Pattern::Bind(place) => visitor.write(place),
        Pattern::Ignore => {}
    }
}

/// The subscripts of a place.
pub fn walk_place<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, place: &'a Place) {
    place.indices.iter().for_each(|index| visitor.expr(&index.at));
}

/// The subscripts of a cell of an object.
pub fn walk_field<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, field: &'a Field) {
    field.indices.iter().for_each(|index| visitor.expr(&index.at));
}

/// The expressions directly inside an expression.
pub fn walk_expr<'a, V: Visitor<'a> + ?Sized>(visitor: &mut V, expr: &'a Expr) {
    match expr {
        Expr::Const(_)
        | Expr::SelfId
        | Expr::ProcessCount
        | Expr::LastMover
        | Expr::Timeout
        | Expr::Blocked(_)
        | Expr::NonProgress
        | Expr::Accepting => {}
        Expr::Read(place) | Expr::Next(place) => visitor.read(place),
        Expr::Field(object, field) => {
            visitor.expr(object);
            visitor.field(field);
        }
        Expr::Unary(_, x)
        | Expr::Cast(_, x)
        | Expr::Enabled(x)
        | Expr::LocationOf(x)
        | Expr::Length(x)
        | Expr::Full(x)
        | Expr::Priority(x) => visitor.expr(x),
        Expr::Shared(x) => visitor.shared(x),
        Expr::Binary(_, x, y) => {
            visitor.expr(x);
            visitor.expr(y);
        }
        Expr::Conditional(condition, x, y) => {
            visitor.expr(condition);
            visitor.expr(x);
            visitor.expr(y);
        }
        Expr::At { process, .. } => process.iter().for_each(|process| visitor.expr(process)),
        Expr::Remote { process, place, .. } => {
            process.iter().for_each(|process| visitor.expr(process));
            visitor.read(place);
        }
        Expr::Poll { channel, patterns, .. } => {
            visitor.expr(channel);
            // A place in a poll is not written.
            for pattern in patterns {
                match pattern {
                    Pattern::Bind(place) => visitor.place(place),
                    Pattern::Match(_) | Pattern::Ignore => visitor.pattern(pattern),
                }
            }
        }
    }
}

/// Makes a new one of every part of what it is shown.
///
/// A method that does not call the `fold_…` function of its name leaves what is inside as it makes it.
pub trait Folder {
    /// An edge.
    fn edge(&mut self, edge: &Edge) -> Edge {
        fold_edge(self, edge)
    }

    /// An instruction of an effect.
    fn instruction(&mut self, instruction: &Instruction) -> Instruction {
        fold_instruction(self, instruction)
    }

    /// An action of an effect.
    fn action(&mut self, action: &Action) -> Action {
        fold_action(self, action)
    }

    /// The communication of an edge or an action.
    fn communication(&mut self, communication: &Communication) -> Communication {
        fold_communication(self, communication)
    }

    /// A pattern of a receive or a poll.
    fn pattern(&mut self, pattern: &Pattern) -> Pattern {
        fold_pattern(self, pattern)
    }

    /// A cell.
    fn place(&mut self, place: &Place) -> Place {
        fold_place(self, place)
    }

    /// A cell of another process, in [`Expr::Remote`].
    fn remote_place(&mut self, place: &Place) -> Place {
        fold_place(self, place)
    }

    /// An expression.
    fn expr(&mut self, expr: &Expr) -> Expr {
        fold_expr(self, expr)
    }

    /// A shared expression, wherever it stands. What is made of it is made once; see [`Made`].
    fn shared(&mut self, shared: &Shared) -> Expr;
}

/// The edge with its parts made anew.
pub fn fold_edge<F: Folder + ?Sized>(folder: &mut F, edge: &Edge) -> Edge {
    Edge {
        guard: edge.guard.iter().map(|conjunct| folder.expr(conjunct)).collect(),
        communication: edge.communication.as_ref().map(|communication| folder.communication(communication)),
        effect: edge.effect.iter().map(|instruction| folder.instruction(instruction)).collect(),
        ..edge.clone()
    }
}

/// The instruction with its parts made anew.
pub fn fold_instruction<F: Folder + ?Sized>(folder: &mut F, instruction: &Instruction) -> Instruction {
    match instruction {
        Instruction::Do(action) => Instruction::Do(folder.action(action)),
        Instruction::Try(action, target) => Instruction::Try(folder.action(action), *target),
        Instruction::Jump(_) | Instruction::Fail(_) => instruction.clone(),
    }
}

/// The action with its parts made anew.
pub fn fold_action<F: Folder + ?Sized>(folder: &mut F, action: &Action) -> Action {
    match action {
        Action::Test(condition) => Action::Test(folder.expr(condition)),
        Action::Assign(place, value) => Action::Assign(folder.place(place), folder.expr(value)),
        Action::AssignAll(pairs) => {
            let pair = |(place, value): &(Place, Expr)| (folder.place(place), folder.expr(value));
            Action::AssignAll(pairs.iter().map(pair).collect())
        }
        Action::AssignField(parts) => {
            let (object, field, value) = &**parts;
            Action::AssignField(Box::new((folder.expr(object), fold_field(folder, field), folder.expr(value))))
        }
        Action::Allocate(place, record) => Action::Allocate(folder.place(place), *record),
        Action::Communicate(communication) => Action::Communicate(folder.communication(communication)),
        Action::Spawn { process, arguments, priority } => {
            Action::Spawn { process: *process, arguments: fold_all(folder, arguments), priority: *priority }
        }
        Action::Assert { condition, text } => Action::Assert { condition: folder.expr(condition), text: text.clone() },
        Action::Print { format, arguments } => {
            Action::Print { format: format.clone(), arguments: fold_all(folder, arguments) }
        }
        Action::SetPriority(process, priority) => Action::SetPriority(folder.expr(process), folder.expr(priority)),
        Action::End => Action::End,
    }
}

/// The communication with its parts made anew.
pub fn fold_communication<F: Folder + ?Sized>(folder: &mut F, communication: &Communication) -> Communication {
    match communication {
        Communication::Send { channel, values, sorted } => {
            Communication::Send { channel: folder.expr(channel), values: fold_all(folder, values), sorted: *sorted }
        }
        Communication::Receive { channel, patterns, anywhere, keep } => Communication::Receive {
            channel: folder.expr(channel),
            patterns: patterns.iter().map(|pattern| folder.pattern(pattern)).collect(),
            anywhere: *anywhere,
            keep: *keep,
        },
    }
}

/// The pattern with its parts made anew.
pub fn fold_pattern<F: Folder + ?Sized>(folder: &mut F, pattern: &Pattern) -> Pattern {
    match pattern {
        Pattern::Match(expr) => Pattern::Match(folder.expr(expr)),
        Pattern::Bind(place) => Pattern::Bind(folder.place(place)),
        Pattern::Ignore => Pattern::Ignore,
    }
}

/// The place with its subscripts made anew.
pub fn fold_place<F: Folder + ?Sized>(folder: &mut F, place: &Place) -> Place {
    let index = |index: &Index| Index { at: folder.expr(&index.at), ..*index };
    Place { indices: place.indices.iter().map(index).collect(), ..place.clone() }
}

/// The cell of an object with its subscripts made anew.
pub fn fold_field<F: Folder + ?Sized>(folder: &mut F, field: &Field) -> Field {
    let index = |index: &Index| Index { at: folder.expr(&index.at), ..*index };
    Field { indices: field.indices.iter().map(index).collect(), ..field.clone() }
}

fn fold_all<F: Folder + ?Sized>(folder: &mut F, exprs: &[Expr]) -> Vec<Expr> {
    exprs.iter().map(|expr| folder.expr(expr)).collect()
}

/// The expression with those directly inside it made anew.
pub fn fold_expr<F: Folder + ?Sized>(folder: &mut F, expr: &Expr) -> Expr {
    match expr {
        Expr::Const(_)
        | Expr::SelfId
        | Expr::ProcessCount
        | Expr::LastMover
        | Expr::Timeout
        | Expr::Blocked(_)
        | Expr::NonProgress
        | Expr::Accepting => expr.clone(),
        Expr::Read(place) => Expr::Read(folder.place(place)),
        Expr::Next(place) => Expr::Next(folder.place(place)),
        Expr::Field(object, field) => Expr::Field(folder.expr(object).into(), fold_field(folder, field)),
        Expr::Unary(op, x) => Expr::Unary(*op, folder.expr(x).into()),
        Expr::Cast(scalar, x) => Expr::Cast(*scalar, folder.expr(x).into()),
        Expr::Enabled(x) => Expr::Enabled(folder.expr(x).into()),
        Expr::LocationOf(x) => Expr::LocationOf(folder.expr(x).into()),
        Expr::Length(x) => Expr::Length(folder.expr(x).into()),
        Expr::Full(x) => Expr::Full(folder.expr(x).into()),
        Expr::Priority(x) => Expr::Priority(folder.expr(x).into()),
        Expr::Shared(x) => folder.shared(x),
        Expr::Binary(op, x, y) => Expr::Binary(*op, folder.expr(x).into(), folder.expr(y).into()),
        Expr::Conditional(condition, x, y) => {
            Expr::Conditional(folder.expr(condition).into(), folder.expr(x).into(), folder.expr(y).into())
        }
        Expr::At { process, of, locations } => Expr::At {
            process: process.as_ref().map(|process| folder.expr(process).into()),
            of: *of,
            locations: locations.clone(),
        },
        Expr::Remote { process, of, place } => Expr::Remote {
            process: process.as_ref().map(|process| folder.expr(process).into()),
            of: *of,
            place: folder.remote_place(place),
        },
        Expr::Poll { channel, patterns, anywhere } => Expr::Poll {
            channel: folder.expr(channel).into(),
            patterns: patterns.iter().map(|pattern| folder.pattern(pattern)).collect(),
            anywhere: *anywhere,
        },
    }
}
