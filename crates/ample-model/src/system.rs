//! The `System`: the one kind of model that every language is translated into and every engine works on.
//!
//! Plain data. A system is a set of global variables and of process types; a process type is a
//! control-flow graph whose edges carry a guard, at most one communication, and an effect. Or it is
//! [synchronous](Coupling::Synchronous): no processes, but definitions and relations that say which
//! states follow which. How a state moves is defined by the
//! [reference interpreter](crate::interpret) and nowhere else.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::expr::{Expr, Field, Pattern, Place, Scope, Shared};
use crate::property::Property;
use crate::visit::{Seen, Visitor};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the vector it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            fn from(index: usize) -> Self {
                $name(u32::try_from(index).expect("fewer than 2^32 items"))
            }
        }
    )*};
}

ids! {
    /// Index into [`System::globals`] or [`ProcessType::locals`], by the place's scope.
    VariableId;
    /// Index into [`System::processes`].
    ProcessId;
    /// Index into [`ProcessType::locations`].
    LocationId;
    /// Index into [`ProcessType::edges`].
    EdgeId;
    /// Index into [`System::channels`].
    ChannelId;
    /// Index into [`System::records`].
    RecordId;
    /// Index into [`System::enumerations`].
    EnumerationId;
    /// Index into [`System::sources`].
    SourceId;
    /// Index into [`System::actions`].
    ActionId;
}

/// A stretch of source text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// Which file.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A source file, kept so that a report can speak of lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// As the user named it, or as an include named it.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Line and column (both from 1, the column in characters) of a byte offset.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// What happens to a value that does not fit its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Overflow {
    /// Keep the low bits (two's complement if signed).
    Wrap,
    /// The step is a fault.
    Fault,
    /// The nearest value of the range.
    Saturate,
}

/// The type of one cell. It says how many bits a state needs and what an assignment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scalar {
    /// `bits` bits; an assignment keeps the low bits. Promela's `bit` to `int`, Milestones' words.
    Int {
        /// 1 to 32.
        bits: u8,
        /// Two's complement.
        signed: bool,
    },
    /// The integers `low..=high`.
    Range {
        /// Smallest value.
        low: i64,
        /// Largest value.
        high: i64,
        /// What an assignment from outside does ([`Overflow::Wrap`] is modulo the size of the range).
        overflow: Overflow,
    },
    /// A value of an enumeration, kept in a byte; 0 is "unset".
    Enumeration(EnumerationId),
    /// A channel handle, kept in a byte; 0 is "no channel".
    Channel,
    /// A process id, kept in a byte.
    Process,
    /// A reference to an object of that record type; 0 is "none". Objects are created by [`Action::Allocate`].
    Reference(RecordId),
    /// An integer with no known bound (places of a net before analysis); 64 bits, a fault beyond.
    Unbounded,
}

impl Scalar {
    /// A truth value.
    pub const BOOL: Scalar = Scalar::Int { bits: 1, signed: false };
    /// 0..=255.
    pub const BYTE: Scalar = Scalar::Int { bits: 8, signed: false };
    /// Sixteen bits, signed.
    pub const SHORT: Scalar = Scalar::Int { bits: 16, signed: true };
    /// Thirty-two bits, signed.
    pub const INT: Scalar = Scalar::Int { bits: 32, signed: true };

    /// The value as the type would keep it; `None` where that is a fault.
    pub fn fit(self, value: i64) -> Option<i64> {
        match self {
            Scalar::Int { bits, signed } => {
                let shift = 64 - u32::from(bits);
                Some(if signed { value << shift >> shift } else { ((value as u64) << shift >> shift) as i64 })
            }
            Scalar::Range { low, high, overflow } => {
                if (low..=high).contains(&value) {
                    return Some(value);
                }
                match overflow {
                    Overflow::Fault => None,
                    Overflow::Saturate => Some(value.clamp(low, high)),
                    Overflow::Wrap => {
                        let size = i128::from(high) - i128::from(low) + 1;
                        let wrapped = (i128::from(value) - i128::from(low)).rem_euclid(size);
                        Some((wrapped + i128::from(low)) as i64)
                    }
                }
            }
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => Some(value & 0xff),
            Scalar::Reference(_) | Scalar::Unbounded => Some(value),
        }
    }

    /// How many bits a cell needs in a packed state.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int { bits, .. } => u32::from(bits),
            Scalar::Range { low, high, .. } => {
                let size = (i128::from(high) - i128::from(low)) as u128;
                (128 - size.leading_zeros()).max(1)
            }
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => 8,
            Scalar::Reference(_) => 32,
            Scalar::Unbounded => 64,
        }
    }
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// One cell.
    Scalar(Scalar),
    /// `length` elements.
    Array {
        /// What each element is.
        element: Box<Type>,
        /// How many; at least 1.
        length: u32,
    },
    /// A record.
    Record(RecordId),
}

/// A record type: named fields one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its name in the source.
    pub name: String,
    /// The fields in order. A field's type may name only records declared before this one.
    pub fields: Vec<(String, Type)>,
}

/// A set of named values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enumeration {
    /// Its name in the source; empty for Promela's unnamed `mtype`.
    pub name: String,
    /// Name and value.
    pub values: Vec<(String, i64)>,
}

/// How a cell starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Initial {
    /// With the value of an expression. For a local it is evaluated when the process is spawned, in
    /// the new process, after the parameters and the locals before it.
    Value(Expr),
    /// With the handle of a channel of its own, created with the variable.
    Channel(ChannelId),
    /// With any of these values: one initial state for each. Not for locals of a type that is spawned.
    AnyOf(Vec<i64>),
    /// With any value from the first to the second: one initial state for each. Not for locals of a type that is spawned.
    Between(i64, i64),
}

/// What a variable is to a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VariableKind {
    /// A part of it, which steps change.
    #[default]
    State,
    /// Fresh in every joint step, and no part of the state: its cells are 0 there. Only in a synchronous system.
    Input,
    /// A part of it that is chosen initially and never changes. Only in a synchronous system.
    Frozen,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// How its slots start, in slot order; a slot not listed starts with 0, or in a synchronous system with any value of
    /// its type.
    pub initial: Vec<(u32, Initial)>,
    /// What it is to a state.
    #[serde(default)]
    pub kind: VariableKind,
    /// Not part of the state: two states that differ only here are the same state.
    pub hidden: bool,
    /// Where it is declared.
    pub span: Option<Span>,
}

impl Variable {
    /// A part of the state that starts with 0, or in a synchronous system with any value.
    pub fn new(name: &str, ty: Type) -> Variable {
        let kind = VariableKind::State;
        Variable { name: name.into(), ty, initial: Vec::new(), hidden: false, kind, span: None }
    }
}

/// A kind of channel: all that a handle of it needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The variable that declares it, for reports.
    pub name: String,
    /// How many messages it holds; 0 is a handshake (rendez-vous) channel.
    pub capacity: u32,
    /// The types of a message's fields (records flattened). A sent value is fitted to its field's type.
    pub fields: Vec<Scalar>,
    /// Where it is declared.
    pub span: Option<Span>,
}

/// The communication of an edge. It is part of the edge's guard: the edge is executable only if the
/// communication can happen. On a channel of capacity 0 it is a handshake with an edge of another
/// process; which channel is meant is known only at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Communication {
    /// Put a message into the channel; blocks while it is full.
    Send {
        /// The channel handle.
        channel: Expr,
        /// One value per field.
        values: Vec<Expr>,
        /// Insert before the first message that is greater (field by field), instead of at the end.
        sorted: bool,
    },
    /// Take a message that fits the patterns.
    Receive {
        /// The channel handle.
        channel: Expr,
        /// One pattern per field.
        patterns: Vec<Pattern>,
        /// The first message that fits, anywhere in the buffer; otherwise only the oldest is looked at.
        anywhere: bool,
        /// Leave the message in the channel (only the bindings happen). Not possible on a handshake.
        keep: bool,
    },
}

impl Communication {
    /// The channel handle.
    pub fn channel(&self) -> &Expr {
        match self {
            Communication::Send { channel, .. } | Communication::Receive { channel, .. } => channel,
        }
    }

    /// A receive that leaves the message where it is.
    pub fn keeps(&self) -> bool {
        matches!(self, Communication::Receive { keep: true, .. })
    }
}

/// An action inside an effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Does nothing; executable if the expression is true.
    Test(Expr),
    /// Store a value, under the rule of the place's type.
    Assign(Place, Expr),
    /// Store values all at once: values and subscripts are evaluated before anything is stored, one pair after the other.
    /// A cell that is named twice keeps the later value.
    AssignAll(Vec<(Place, Expr)>),
    /// Store a value into a field of the object that the expression refers to.
    AssignField(Box<(Expr, Field, Expr)>),
    /// Create an object, whose cells are 0, and store a reference to it.
    Allocate(Place, RecordId),
    /// A communication; inside an effect a handshake is a fault.
    Communicate(Communication),
    /// Create a process at the end of the process list. A fault if the table is full.
    Spawn {
        /// Its type.
        process: ProcessId,
        /// One value per parameter slot.
        arguments: Vec<Expr>,
        /// Its priority, if it is not the type's.
        priority: Option<u8>,
    },
    /// Continue, but report a violation if the condition is false.
    Assert {
        /// What must hold.
        condition: Expr,
        /// The condition as the user wrote it.
        text: String,
    },
    /// Text for a simulation: a format with `%d %u %x %o %c %e` and its arguments.
    Print {
        /// The format, escapes resolved.
        format: String,
        /// One expression per conversion.
        arguments: Vec<Expr>,
    },
    /// Set the priority of a process.
    SetPriority(Expr, Expr),
    /// The process ends and is removed. Only the youngest process can: the guard says so.
    End,
}

/// One instruction of an effect: a flat program, so that a deterministic block of the source with its
/// branches and loops is a single edge. Execution starts at 0 and ends by running off the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Instruction {
    /// Perform the action; a fault if it is not executable.
    Do(Action),
    /// Perform the action if it is executable, else go to that instruction.
    Try(Action, u32),
    /// Go to that instruction (the length of the program is the end).
    Jump(u32),
    /// A fault with this message (a selection none of whose options is executable, …).
    Fail(String),
}

/// An edge of a control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it starts.
    pub from: LocationId,
    /// Where it leads. After [`Action::End`] there is no process left to stand there.
    pub to: LocationId,
    /// All of these must hold. Evaluated in order; a false one ends the evaluation.
    pub guard: Vec<Expr>,
    /// The communication, after the guard and before the effect.
    pub communication: Option<Communication>,
    /// What it does then.
    pub effect: Vec<Instruction>,
    /// Afterwards the process holds exclusive control: no other moves until it gives it up (by an
    /// edge without this mark) or blocks. In a handshake the receiving edge decides, for its process.
    pub keeps_control: bool,
    /// It is taken only together with all who list this action.
    #[serde(default)]
    pub action: Option<ActionId>,
    /// The edges of the original process type that a reduction has put together here, in the order in which they are taken;
    /// none if this is itself one. See [`check_origins`](crate::check::check_origins).
    #[serde(default)]
    pub origin: Vec<EdgeId>,
    /// Where it comes from.
    pub span: Option<Span>,
    /// What to show: the statement in the words of the source.
    pub label: String,
}

/// Collects the outermost expressions.
#[derive(Default)]
struct Outermost<'a>(Vec<&'a Expr>);

impl<'a> Visitor<'a> for Outermost<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        self.0.push(expr);
    }

    fn shared(&mut self, _: &'a Shared) {}
}

/// Collects the places that are written.
#[derive(Default)]
struct Written<'a>(Vec<&'a Place>);

impl<'a> Visitor<'a> for Written<'a> {
    fn write(&mut self, place: &'a Place) {
        self.0.push(place);
    }

    fn expr(&mut self, _: &'a Expr) {}

    fn shared(&mut self, _: &'a Shared) {}
}

/// Collects the global variables that are read.
#[derive(Default)]
struct Globals<'a> {
    variables: BTreeSet<VariableId>,
    seen: Seen<'a>,
}

impl<'a> Visitor<'a> for Globals<'a> {
    fn read(&mut self, place: &'a Place) {
        if place.scope == Scope::Global {
            self.variables.insert(place.variable);
        }
        self.place(place);
    }

    fn shared(&mut self, shared: &'a Shared) {
        for part in self.seen.unseen(shared) {
            self.expr(part);
        }
    }
}

impl Communication {
    /// Its expressions, the outermost ones: the handle, what is sent, what must match, and subscripts of what is received into.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut outermost = Outermost::default();
        outermost.communication(self);
        outermost.0
    }
}

impl Edge {
    /// All its expressions, the outermost ones.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut outermost = Outermost::default();
        outermost.edge(self);
        outermost.0
    }

    /// All places that it assigns or receives into.
    pub fn written_places(&self) -> Vec<&Place> {
        let mut written = Written::default();
        written.edge(self);
        written.0
    }

    /// The effect may remove the process: the edge is executable only for the youngest process.
    pub fn ends_process(&self) -> bool {
        self.effect.iter().any(|i| matches!(i, Instruction::Do(Action::End) | Instruction::Try(Action::End, _)))
    }
}

/// A location of a control-flow graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// A number that the source language may show (`pc_value` of Promela).
    pub number: u32,
    /// Labels of the source that name it.
    pub labels: Vec<String>,
    /// A process may stay here for ever without that being a deadlock.
    pub end: bool,
    /// Marked as progress.
    pub progress: bool,
    /// Marked as accepting.
    pub accept: bool,
    /// The edges that leave it, in the order in which they are tried.
    pub edges: Vec<EdgeId>,
    /// Where it is in the source.
    pub span: Option<Span>,
}

/// What a process type is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Part of the system.
    Process,
    /// A never claim: an automaton that reads the states of the others. Kept for the liveness engine.
    Claim,
}

/// Nested structure beside the control-flow graph: how the source puts its statements together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// A location, before the statement that leaves it.
    Leaf(LocationId),
    /// One after the other.
    Sequence(Vec<Block>),
    /// One of these, chosen at that location.
    Choice(LocationId, Vec<Block>),
    /// Again and again one of these, chosen at that location.
    Loop(LocationId, Vec<Block>),
    /// A part that the source marks as a module: modular checking may treat it on its own.
    Module(Box<Block>),
}

impl Block {
    /// The location where it begins; `None` if it is empty.
    pub fn entry(&self) -> Option<LocationId> {
        match self {
            Block::Leaf(at) | Block::Choice(at, _) | Block::Loop(at, _) => Some(*at),
            Block::Sequence(blocks) => blocks.iter().find_map(Block::entry),
            Block::Module(inner) => inner.entry(),
        }
    }

    /// The locations where control comes from one part to another: where choices and loops are decided, where their branches and
    /// modules begin, and what comes after them.
    ///
    /// ```
    /// use ample_model::{Block, LocationId};
    ///
    /// let leaf = |number| Block::Leaf(LocationId(number));
    /// let body = Block::Sequence(vec![leaf(2), leaf(3)]);
    /// let program = Block::Sequence(vec![leaf(0), Block::Loop(LocationId(1), vec![body]), leaf(4), leaf(5)]);
    /// assert_eq!(program.borders(), [1, 2, 4].map(LocationId));
    /// ```
    pub fn borders(&self) -> Vec<LocationId> {
        let mut borders = Vec::new();
        self.add_borders(None, &mut borders);
        borders.sort_unstable();
        borders.dedup();
        borders
    }

    fn add_borders(&self, after: Option<LocationId>, borders: &mut Vec<LocationId>) {
        match self {
            Block::Leaf(_) => {}
            Block::Sequence(blocks) => {
                let mut after = after;
                for block in blocks.iter().rev() {
                    block.add_borders(after, borders);
                    after = block.entry().or(after);
                }
            }
            Block::Module(inner) => {
                borders.extend(inner.entry().into_iter().chain(after));
                inner.add_borders(after, borders);
            }
            Block::Choice(at, blocks) | Block::Loop(at, blocks) => {
                let after_block = if matches!(self, Block::Loop(..)) { Some(*at) } else { after };
                borders.extend([Some(*at), after].into_iter().flatten());
                for block in blocks {
                    borders.extend(block.entry());
                    block.add_borders(after_block, borders);
                }
            }
        }
    }

    /// The structure without the locations that no process stands at. What was decided at one of them is a sequence then:
    /// whether control follows it is for its reader to see.
    #[must_use]
    pub fn retained(&self, is_there: &dyn Fn(LocationId) -> bool) -> Block {
        let all = |blocks: &[Block]| blocks.iter().map(|block| block.retained(is_there)).collect();
        match self {
            Block::Leaf(at) if is_there(*at) => self.clone(),
            Block::Leaf(_) => Block::Sequence(Vec::new()),
            Block::Choice(at, blocks) if is_there(*at) => Block::Choice(*at, all(blocks)),
            Block::Loop(at, blocks) if is_there(*at) => Block::Loop(*at, all(blocks)),
            Block::Sequence(blocks) | Block::Choice(_, blocks) | Block::Loop(_, blocks) => Block::Sequence(all(blocks)),
            Block::Module(inner) => Block::Module(Box::new(inner.retained(is_there))),
        }
    }
}

/// An action that all processes take together whose type lists it: that have an edge of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedAction {
    /// Its name in the source.
    pub name: String,
    /// Where it is declared.
    pub span: Option<Span>,
}

/// A statement of the source to which control never comes, whatever the values of the variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadStatement {
    /// The statement in the words of the source.
    pub label: String,
    /// Where it is in the source.
    pub span: Option<Span>,
}

/// A process type: parameters, locals, and a control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessType {
    /// Its name in the source.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// How many of the locals are parameters; they come first.
    pub parameters: u32,
    /// Parameters and local variables.
    pub locals: Vec<Variable>,
    /// The locations.
    pub locations: Vec<Location>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Where a new process stands.
    pub initial: LocationId,
    /// It moves only while this holds.
    pub provided: Option<Expr>,
    /// The priority of a new process; 1 unless said otherwise. See [`System::uses_priorities`].
    pub priority: u8,
    /// Labels of the source at which it never stands, because no location has them: those of code that cannot be
    /// reached, and those inside a deterministic step.
    #[serde(default)]
    pub unreachable_labels: Vec<String>,
    /// Statements of the source that are no edges, because no path through the control-flow graph leads to them.
    #[serde(default)]
    pub dead_code: Vec<DeadStatement>,
    /// How the source nests its statements, where the front end says so.
    #[serde(default)]
    pub structure: Option<Block>,
    /// Where it is declared.
    pub span: Option<Span>,
}

impl ProcessType {
    /// A process type with one location and these edges, all of which begin and end there.
    pub fn of_edges(name: &str, edges: Vec<Edge>) -> ProcessType {
        let location = Location { edges: (0..edges.len()).map(EdgeId::from).collect(), ..Location::default() };
        ProcessType {
            name: name.to_owned(),
            role: Role::Process,
            parameters: 0,
            locals: Vec::new(),
            locations: vec![location],
            edges,
            initial: LocationId(0),
            provided: None,
            priority: 1,
            unreachable_labels: Vec::new(),
            dead_code: Vec::new(),
            structure: None,
            span: None,
        }
    }
}

/// A process that is there from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Its type.
    pub process: ProcessId,
    /// One value per parameter slot.
    pub arguments: Vec<i64>,
    /// Its priority, if it is not the type's.
    pub priority: Option<u8>,
}

/// Kinds of events that a [`Monitor`] sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// A message was sent.
    Send,
    /// A message was received.
    Receive,
}

/// An edge of a [`Monitor`]: this event takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorEdge {
    /// Sending or receiving.
    pub kind: EventKind,
    /// The channel handle: over globals only.
    pub channel: Expr,
    /// What the message must look like: `Match` or `Ignore`.
    pub patterns: Vec<Pattern>,
    /// The location after it.
    pub to: u32,
    /// Where it comes from.
    pub span: Option<Span>,
}

/// An automaton over communication events: Promela's `trace` and `notrace`.
///
/// Every event on one of the observed channels must be one that the automaton's current location
/// allows (`forbids` false: else a violation); or the automaton must never reach its last location
/// (`forbids` true; the first event that does not fit puts the monitor to rest, in that same location).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Monitor {
    /// `notrace`.
    pub forbids: bool,
    /// Outgoing edges of every location.
    pub locations: Vec<Vec<MonitorEdge>>,
    /// Where it starts.
    pub initial: u32,
    /// The location that means "all seen"; no edges leave it. If `forbids`, events are ignored there;
    /// otherwise a further observed event is a violation like any other that does not fit.
    pub last: u32,
    /// Other locations in which the run may stop; elsewhere a state without moves is a deadlock even if
    /// every process (there must be one) stands at an end location. Promela's `end` labels in a trace.
    #[serde(default)]
    pub ends: Vec<u32>,
    /// The observed events: a channel handle over globals, with the kind.
    pub observed: Vec<(EventKind, Expr)>,
    /// Where it is declared.
    pub span: Option<Span>,
}

/// One of the values that a cell may have next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// Only if this holds.
    pub when: Option<Expr>,
    /// The value.
    pub value: Expr,
}

/// The next value of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NextValue {
    /// The value of an expression.
    Function(Expr),
    /// Any of the values whose condition holds. All of them are evaluated: a fault in one is a fault of the step.
    Choice(Vec<Alternative>),
}

/// Which value a cell has after a joint step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// The variable, among the globals.
    pub variable: VariableId,
    /// The slot of the variable.
    pub slot: u32,
    /// The value, under the rule of the cell's type. It may refer to current values, inputs, and the
    /// [next values](Expr::Next) of other cells, but not in a circle.
    pub next: NextValue,
    /// Where it comes from.
    pub span: Option<Span>,
}

/// A system in which all moves at once.
///
/// A joint step gives every input a value of its type, every cell with a definition its next value, and every other state
/// cell any value of its type, such that all relations hold, and the invariant in the next state. A state that has no
/// such step is a deadlock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synchronous {
    /// What holds initially: conjuncts over the state.
    pub init: Vec<Expr>,
    /// What holds in every state: conjuncts over the state. States in which it does not are not there.
    pub invariant: Vec<Expr>,
    /// The next values of cells, at most one for each.
    pub definitions: Vec<Definition>,
    /// What holds in every step: conjuncts over current values, inputs and [next values](Expr::Next).
    pub relations: Vec<Expr>,
    /// Only runs on which each of these holds again and again count for temporal properties. Inputs may be read.
    #[serde(default)]
    pub justice: Vec<Expr>,
    /// Only runs on which, for each of these pairs, the second holds again and again if the first does, count for
    /// properties of linear time. Inputs may be read.
    #[serde(default)]
    pub compassion: Vec<(Expr, Expr)>,
    /// Only infinite runs count for temporal properties: one that ends in a deadlock does not. Otherwise a state without a
    /// next one repeats itself.
    #[serde(default)]
    pub infinite_runs: bool,
    /// Nothing is asked of the model but what it states.
    #[serde(default)]
    pub only_stated: bool,
    /// Invariants that read inputs are about steps: about the inputs with which a state has a next one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observes_inputs: bool,
    /// How the values of the globals are written; as numbers for those beyond the end.
    #[serde(default)]
    pub notations: Vec<Notation>,
}

/// How the values of a variable are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notation {
    /// As numbers.
    #[default]
    Number,
    /// `TRUE`, `FALSE`.
    Truth,
    /// By these names, the first of which is that of 0.
    Names(Vec<String>),
    /// As words of SMV: `0ud8_255`.
    Word {
        /// How many bits.
        bits: u8,
        /// Two's complement.
        signed: bool,
    },
}

impl Notation {
    /// A value in this notation.
    ///
    /// ```
    /// use ample_model::Notation;
    /// assert_eq!(Notation::Word { bits: 8, signed: false }.show(5), "0ud8_5");
    /// assert_eq!(Notation::Names(vec!["idle".into()]).show(0), "idle");
    /// ```
    pub fn show(&self, value: i64) -> String {
        match self {
            Notation::Number => value.to_string(),
            Notation::Truth => if value == 0 { "FALSE" } else { "TRUE" }.into(),
            Notation::Names(names) => {
                let name = usize::try_from(value).ok().and_then(|at| names.get(at));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
            Notation::Word { bits, signed: false } => format!("0ud{bits}_{value}"),
            Notation::Word { bits, signed: true } => {
                format!("{}0sd{bits}_{}", if value < 0 { "-" } else { "" }, value.unsigned_abs())
            }
        }
    }
}

/// How a system moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coupling {
    /// One process, or the few that communicate, at a time.
    #[default]
    Interleaving,
    /// Everything at once.
    Synchronous(Synchronous),
}

/// A named expression: an output of a circuit, or a signal inside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// Its name in the source.
    pub name: String,
    /// Its value: over the state and, in a synchronous system, the inputs.
    pub value: Expr,
    /// It is an output.
    pub is_output: bool,
    /// Where it is declared.
    pub span: Option<Span>,
}

/// A model: everything that an engine may know about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// A name to show; the file's usually.
    pub name: String,
    /// The language it was written in, for reports: `"promela"`, ….
    pub language: String,
    /// The source text.
    pub sources: Vec<Source>,
    /// Enumerations.
    pub enumerations: Vec<Enumeration>,
    /// Record types.
    pub records: Vec<Record>,
    /// Kinds of channels.
    pub channels: Vec<Channel>,
    /// Global variables.
    pub globals: Vec<Variable>,
    /// Named expressions that properties may speak of.
    #[serde(default)]
    pub signals: Vec<Signal>,
    /// Process types.
    pub processes: Vec<ProcessType>,
    /// The processes that are there from the beginning, in the order of their ids.
    pub start: Vec<Instance>,
    /// At most this many processes may be alive.
    pub max_processes: u32,
    /// At most this many objects may be on the heap: as many as can be reached, and those that a step has created.
    #[serde(default = "max_objects")]
    pub max_objects: u32,
    /// Watches communication events.
    pub monitor: Option<Monitor>,
    /// What is to be checked.
    pub properties: Vec<Property>,
    /// The state keeps [`Expr::LastMover`].
    pub uses_last: bool,
    /// Processes have priorities: one may move only if no process of higher priority is executable.
    pub uses_priorities: bool,
    /// Sets of global variables of which at most one is not zero, and that one is 1, in every reachable state: what the
    /// source says about its own structure (the units of a Petri net).
    #[serde(default)]
    pub exclusive: Vec<Vec<VariableId>>,
    /// In branching time a state without moves has no next state. Otherwise it repeats itself, as it always does on runs.
    #[serde(default)]
    pub dead_ends: bool,
    /// How it moves.
    #[serde(default)]
    pub coupling: Coupling,
    /// The actions that several processes take together.
    #[serde(default)]
    pub actions: Vec<NamedAction>,
    /// The types say which values there are, and no cell could do with fewer bits: nobody need guess narrower ones.
    #[serde(default)]
    pub exact_types: bool,
    /// The system that this one is a reduction of: it has the same variables, locations and properties, and its edges are
    /// what the [origins](Edge::origin) of the edges here name. Evidence is told as steps of it.
    #[serde(skip)]
    pub original: Option<Arc<Original>>,
}

/// How many objects there may be if nobody says.
fn max_objects() -> u32 {
    crate::interpret::MAX_OBJECTS
}

/// What a [reduced](System::original) system was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The system.
    pub system: System,
    /// The variables that the reduction no longer assigns, because nothing that is asked depends on them: global ones, or
    /// those of a process type.
    pub sliced: Vec<(Option<ProcessId>, VariableId)>,
    /// The system with the same edges, but without assignments and parts of messages on which nothing that is asked
    /// depends, if there are any.
    pub essential: Option<System>,
    /// The process types on which nothing that is asked depends: their processes move without effect, or stand at their
    /// end.
    pub removed: Vec<ProcessId>,
}

impl Original {
    /// The system, with states that differ in the sliced variables only taken for the same.
    pub fn without_sliced(&self) -> System {
        let mut system = self.system.clone();
        for (process, variable) in &self.sliced {
            let variables = match process {
                Some(process) => &mut system.processes[process.index()].locals,
                None => &mut system.globals,
            };
            variables[variable.index()].hidden = true;
        }
        system
    }
}

impl System {
    /// The system that people know: the one that this is a reduction of, or itself.
    pub fn source_system(&self) -> &System {
        self.original.as_ref().map_or(self, |original| &original.system)
    }

    /// A system without variables and processes, to be filled.
    ///
    /// ```
    /// use ample_model::System;
    ///
    /// let system = System::new("nothing", "by hand");
    /// assert!(ample_model::check::check(&system).is_ok());
    /// ```
    pub fn new(name: &str, language: &str) -> System {
        System {
            name: name.into(),
            language: language.into(),
            sources: Vec::new(),
            enumerations: Vec::new(),
            records: Vec::new(),
            channels: Vec::new(),
            globals: Vec::new(),
            signals: Vec::new(),
            processes: Vec::new(),
            start: Vec::new(),
            max_processes: 255,
            max_objects: max_objects(),
            monitor: None,
            properties: Vec::new(),
            uses_last: false,
            uses_priorities: false,
            exclusive: Vec::new(),
            dead_ends: false,
            coupling: Coupling::Interleaving,
            actions: Vec::new(),
            exact_types: false,
            original: None,
        }
    }

    /// How all moves at once, if it does.
    pub fn synchronous(&self) -> Option<&Synchronous> {
        match &self.coupling {
            Coupling::Synchronous(synchronous) => Some(synchronous),
            Coupling::Interleaving => None,
        }
    }

    /// Makes the inputs that these expressions read a part of the state: cells that may have any value, initially and after
    /// every step. A condition about inputs is one on such states; the runs are the same, and each state of a run shows the
    /// inputs of the step that leaves it. True if there were some.
    ///
    /// ```
    /// use ample_model::{Coupling, Expr, Place, Scalar, Scope, Synchronous, System, Type, Variable, VariableId, VariableKind};
    ///
    /// let mut system = System::new("wire", "by hand");
    /// system.coupling = Coupling::Synchronous(Synchronous::default());
    /// let input = Variable { kind: VariableKind::Input, ..Variable::new("x", Type::Scalar(Scalar::BOOL)) };
    /// system.globals.push(input);
    /// let (scope, variable, scalar) = (Scope::Global, VariableId(0), Scalar::BOOL);
    /// let x = Expr::Read(Place { scope, variable, offset: 0, indices: Vec::new(), scalar });
    /// assert!(system.keep_inputs([&x]));
    /// assert_eq!(system.globals[0].kind, VariableKind::State);
    /// ```
    pub fn keep_inputs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> bool {
        let inputs = self.inputs_in(exprs);
        for variable in &inputs {
            self.globals[variable.index()].kind = VariableKind::State;
        }
        !inputs.is_empty()
    }

    /// The inputs that these expressions read.
    pub fn inputs_in<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<VariableId> {
        let is_input = |variable: &Variable| variable.kind == VariableKind::Input;
        if !self.globals.iter().any(is_input) {
            return Vec::new();
        }
        let mut read = Globals::default();
        exprs.into_iter().for_each(|expr| read.expr(expr));
        let there = |id: &VariableId| self.globals.get(id.index()).is_some_and(is_input);
        read.variables.into_iter().filter(there).collect()
    }

    /// The process type of that id.
    pub fn process(&self, id: ProcessId) -> &ProcessType {
        &self.processes[id.index()]
    }

    /// How many scalar slots a variable of this type has.
    pub fn slots(&self, ty: &Type) -> u32 {
        match ty {
            Type::Scalar(_) => 1,
            Type::Array { element, length } => self.slots(element).saturating_mul(*length),
            Type::Record(record) => {
                let fields = &self.records[record.index()].fields;
                fields.iter().fold(0u32, |sum, (_, ty)| sum.saturating_add(self.slots(ty)))
            }
        }
    }

    /// The scalar types of all slots, in slot order.
    pub fn scalars(&self, ty: &Type) -> Vec<Scalar> {
        let mut out = Vec::new();
        self.collect_scalars(ty, &mut out);
        out
    }

    fn collect_scalars(&self, ty: &Type, out: &mut Vec<Scalar>) {
        match ty {
            Type::Scalar(s) => out.push(*s),
            Type::Array { element, length } => {
                for _ in 0..*length {
                    self.collect_scalars(element, out);
                }
            }
            Type::Record(record) => {
                for (_, ty) in &self.records[record.index()].fields {
                    self.collect_scalars(ty, out);
                }
            }
        }
    }

    /// How the user would write the slot: `name`, `name[2].field`, ….
    pub fn slot_name(&self, variable: &Variable, slot: u32) -> String {
        let mut name = variable.name.clone();
        let mut ty = &variable.ty;
        let mut slot = slot;
        loop {
            match ty {
                Type::Scalar(_) => return name,
                Type::Array { element, .. } => {
                    let stride = self.slots(element).max(1);
                    name.push_str(&format!("[{}]", slot / stride));
                    slot %= stride;
                    ty = element;
                }
                Type::Record(record) => {
                    let mut next = None;
                    for (field, field_ty) in &self.records[record.index()].fields {
                        let size = self.slots(field_ty);
                        if slot < size {
                            next = Some((field, field_ty));
                            break;
                        }
                        slot -= size;
                    }
                    let Some((field, field_ty)) = next else { return name };
                    name.push('.');
                    name.push_str(field);
                    ty = field_ty;
                }
            }
        }
    }

    /// A global cell in the words of the source, by its slot among all global slots.
    pub fn global_cell_name(&self, slot: u32) -> String {
        let mut within = slot;
        for variable in &self.globals {
            let slots = self.slots(&variable.ty);
            if within < slots {
                return self.slot_name(variable, within);
            }
            within -= slots;
        }
        format!("cell {slot}")
    }

    /// A value of a global in the words of the source.
    pub fn show_global(&self, variable: usize, scalar: Scalar, value: i64) -> String {
        match self.synchronous().and_then(|synchronous| synchronous.notations.get(variable)) {
            None | Some(Notation::Number) => self.show_value(scalar, value),
            Some(notation) => notation.show(value),
        }
    }

    /// A value in the words of the source: an enumeration's name where the type has one.
    pub fn show_value(&self, scalar: Scalar, value: i64) -> String {
        if let Scalar::Reference(_) = scalar {
            return if value == 0 { "none".into() } else { format!("#{value}") };
        }
        if let Scalar::Enumeration(id) = scalar {
            let values = &self.enumerations[id.index()].values;
            if let Some((name, _)) = values.iter().find(|(_, v)| *v == value) {
                return name.clone();
            }
        }
        value.to_string()
    }

    /// `file:line` of a span.
    pub fn place_of(&self, span: Span) -> String {
        let source = &self.sources[span.source.index()];
        format!("{}:{}", source.path, source.position(span.start).0)
    }
}
