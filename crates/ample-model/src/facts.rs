//! Facts: everything an analysis asks about an edge, computed once, from the edge, in one place.
//!
//! What it reads and writes, which channels it uses and how, what it depends on beyond its own
//! variables, and whether it may go wrong. All answers are conservative: a cell not listed is not
//! touched, an edge that "may not fault" never does. What lies outside of the edge is not part of its
//! facts: the `provided` clause of its process (see [`Facts::provided`]), and the priority rule, which
//! asks whether others are enabled.

mod bounds;
mod ranges;

use std::cell::RefCell;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

pub(crate) use bounds::Bounds;
pub use ranges::Ranges;

use crate::expr::{BinaryOp, Expr, Field, Pattern, Place, Scope, Shared};
use crate::system::{
    Action, ChannelId, Communication, Definition, Edge, EdgeId, EventKind, Initial, Instruction, NextValue, ProcessId,
    RecordId, Scalar, Synchronous, System, Variable, VariableId,
};
use crate::visit::innermost_first;

/// Some cells of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cells {
    /// Whose variable it is: global, or local to the process that takes the edge.
    pub scope: Scope,
    /// Which variable.
    pub variable: VariableId,
    /// The first slot and one past the last; `None` is all of it.
    pub slots: Option<(u32, u32)>,
}

impl Cells {
    /// Both may mean the same cell (of the same process, if local).
    pub fn overlaps(&self, other: &Cells) -> bool {
        let apart = match (self.slots, other.slots) {
            (Some((first, end)), Some((other_first, other_end))) => end <= other_first || other_end <= first,
            _ => false,
        };
        self.scope == other.scope && self.variable == other.variable && !apart
    }
}

/// What is done with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChannelOperation {
    /// A message is put at the end.
    Send,
    /// A message is put where it belongs in the order.
    SendSorted,
    /// The oldest message is taken.
    Receive,
    /// The first message that fits is taken.
    ReceiveAnywhere,
    /// A message is looked at: a poll, or a receive that keeps the message.
    Poll,
    /// The number of messages is asked for.
    Length,
    /// Whether it is full is asked for.
    Full,
}

/// Which channels a handle expression can mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    /// These handles, which belong to global variables and are the same in every state.
    Global(Vec<u32>),
    /// A channel that was created with this local variable of the process itself.
    Own(VariableId),
    /// Any channel.
    Unknown,
}

/// One use of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChannelUse {
    /// What is done.
    pub operation: ChannelOperation,
    /// The handle as the edge computes it.
    pub handle: Expr,
    /// Which channels that can be.
    pub target: Target,
    /// Of which kinds they are; `None` if that is not known.
    pub kinds: Option<Vec<ChannelId>>,
}

/// What a part of an edge depends on besides its own variables, and what it does besides writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Traits {
    /// Uses [`Expr::Timeout`].
    pub timeout: bool,
    /// Uses [`Expr::Enabled`].
    pub enabled: bool,
    /// Uses [`Expr::LocationOf`].
    pub location_of: bool,
    /// Uses [`Expr::At`].
    pub at: bool,
    /// Uses [`Expr::Remote`].
    pub remote: bool,
    /// Uses [`Expr::LastMover`].
    pub last_mover: bool,
    /// Uses [`Expr::ProcessCount`].
    pub process_count: bool,
    /// Uses [`Expr::NonProgress`].
    pub non_progress: bool,
    /// Uses [`Expr::Accepting`].
    pub accepting: bool,
    /// Uses [`Expr::Priority`].
    pub priority: bool,
    /// Looks at objects on the heap, creates or changes them.
    #[serde(default)]
    pub heap: bool,
    /// Sets the priority of a process.
    pub sets_priority: bool,
    /// Prints.
    pub prints: bool,
    /// Asserts something that is not plainly true.
    pub asserts: bool,
    /// May go wrong in a way that ends the step.
    pub may_fault: bool,
}

impl Traits {
    fn merge(&mut self, other: &Traits) {
        self.timeout |= other.timeout;
        self.enabled |= other.enabled;
        self.location_of |= other.location_of;
        self.at |= other.at;
        self.remote |= other.remote;
        self.last_mover |= other.last_mover;
        self.process_count |= other.process_count;
        self.non_progress |= other.non_progress;
        self.accepting |= other.accepting;
        self.priority |= other.priority;
        self.heap |= other.heap;
        self.sets_priority |= other.sets_priority;
        self.prints |= other.prints;
        self.asserts |= other.asserts;
        self.may_fault |= other.may_fault;
    }
}

/// What an expression, or a part of an edge, touches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The cells it may read, its subscripts' included.
    pub reads: Vec<Cells>,
    /// The cells whose next values it may read, in a joint step.
    #[serde(default)]
    pub next_reads: Vec<Cells>,
    /// The cells it may write.
    pub writes: Vec<Cells>,
    /// The local cells of other processes it may read, by their type.
    pub remote_reads: Vec<(ProcessId, Cells)>,
    /// The types whose locations it asks for by [`Expr::At`].
    pub locations_of: Vec<ProcessId>,
    /// The channels it uses.
    pub channels: Vec<ChannelUse>,
    /// The sibling edges it waits for to be blocked. What those touch is not repeated here.
    pub blocked: Vec<EdgeId>,
    /// The types of the objects whose cells it may read or write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<RecordId>,
    /// The rest.
    pub traits: Traits,
}

impl Usage {
    fn merge(&mut self, other: &Usage) {
        other.reads.iter().for_each(|cells| add(&mut self.reads, *cells));
        other.next_reads.iter().for_each(|cells| add(&mut self.next_reads, *cells));
        other.writes.iter().for_each(|cells| add(&mut self.writes, *cells));
        other.remote_reads.iter().for_each(|cells| add(&mut self.remote_reads, *cells));
        other.locations_of.iter().for_each(|process| add(&mut self.locations_of, *process));
        other.channels.iter().for_each(|channel| add(&mut self.channels, channel.clone()));
        other.blocked.iter().for_each(|edge| add(&mut self.blocked, *edge));
        other.objects.iter().for_each(|record| add(&mut self.objects, *record));
        self.traits.merge(&other.traits);
    }
}

/// The facts about an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeFacts {
    /// The process type that takes it.
    pub process: ProcessId,
    /// The edge.
    pub edge: EdgeId,
    /// What each conjunct of its guard touches.
    pub conjuncts: Vec<Usage>,
    /// What its communication touches.
    pub communication: Option<Usage>,
    /// What its effect touches.
    pub effect: Usage,
    /// All of that together.
    pub all: Usage,
    /// The types of the processes that it may spawn.
    pub spawns: Vec<ProcessId>,
    /// It may end its process.
    pub ends: bool,
    /// The monitor may see an event of it, and find it wrong.
    pub monitored: bool,
}

/// The facts about all edges of a system.
///
/// ```
/// use ample_model::facts::Facts;
/// use ample_model::{ProcessId, System};
///
/// /// The edges that touch nothing but their own process.
/// fn local_edges(system: &System) -> usize {
///     let facts = Facts::of(system);
///     facts.edges().filter(|edge| edge.all.channels.is_empty() && !edge.touches_globals()).count()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    edges: Vec<Vec<EdgeFacts>>,
    provided: Vec<Option<Usage>>,
    #[serde(default)]
    joint: JointFacts,
}

/// What the parts of a [synchronous](crate::Coupling::Synchronous) system touch; a definition writes the cell that it
/// defines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointFacts {
    /// The conjuncts of `init`.
    pub init: Vec<Usage>,
    /// Those of the invariant.
    pub invariant: Vec<Usage>,
    /// The definitions.
    pub definitions: Vec<Usage>,
    /// The relations.
    pub relations: Vec<Usage>,
}

impl EdgeFacts {
    /// It reads or writes a global variable.
    pub fn touches_globals(&self) -> bool {
        self.all.reads.iter().chain(&self.all.writes).any(|cells| cells.scope == Scope::Global)
    }

    /// Asking whether it is executable may go wrong.
    pub fn guard_may_fault(&self) -> bool {
        self.conjuncts.iter().chain(&self.communication).any(|usage| usage.traits.may_fault)
    }
}

impl Facts {
    /// Computes the facts. The system must pass [`check`](crate::check::check).
    pub fn of(system: &System) -> Facts {
        let handles = Handles::of(system);
        let mut facts = Facts { edges: Vec::new(), provided: Vec::new(), joint: JointFacts::default() };
        if let Some(synchronous) = system.synchronous() {
            facts.joint = Reader::new(system, &handles, ProcessId(0)).joint(synchronous);
        }
        for (number, process) in system.processes.iter().enumerate() {
            let reader = Reader::new(system, &handles, number.into());
            let edges = process.edges.iter().enumerate();
            let mut edges: Vec<EdgeFacts> = edges.map(|(id, edge)| reader.edge(id.into(), edge)).collect();
            process.locations.iter().for_each(|location| inherit_faults(&mut edges, &location.edges));
            facts.edges.push(edges);
            facts.provided.push(process.provided.as_ref().map(|condition| reader.usage_of(condition)));
        }
        facts
    }

    /// The facts about that edge of that process type.
    pub fn edge(&self, process: ProcessId, edge: EdgeId) -> &EdgeFacts {
        &self.edges[process.index()][edge.index()]
    }

    /// What the `provided` clause of the process type touches, if it has one.
    pub fn provided(&self, process: ProcessId) -> Option<&Usage> {
        self.provided[process.index()].as_ref()
    }

    /// What the parts of a synchronous system touch; nothing in another.
    pub fn joint(&self) -> &JointFacts {
        &self.joint
    }

    /// The facts about all edges, process type by process type.
    pub fn edges(&self) -> impl Iterator<Item = &EdgeFacts> {
        self.edges.iter().flatten()
    }

    /// What an expression touches; one of a property has no process.
    pub fn of_expr(system: &System, process: Option<ProcessId>, expr: &Expr) -> Usage {
        // Without a process there are no locals, so that any type will do.
        let process = process.unwrap_or(ProcessId(0));
        Reader::new(system, &Handles::of(system), process).usage_of(expr)
    }
}

/// Looks at expressions and edges that need not be part of the system, such as edges that were made from its own by
/// putting known values in.
///
/// ```
/// use ample_model::facts::Lens;
/// use ample_model::{Expr, ProcessId, System};
///
/// fn reads_nothing(system: &System, expr: &Expr) -> bool {
///     Lens::new(system).expr(ProcessId(0), expr).reads.is_empty()
/// }
/// ```
pub struct Lens<'a> {
    system: &'a System,
    handles: Handles,
}

impl<'a> Lens<'a> {
    /// For expressions and edges over the variables of that system.
    pub fn new(system: &'a System) -> Lens<'a> {
        Lens { system, handles: Handles::of(system) }
    }

    fn reader(&self, process: ProcessId) -> Reader<'_> {
        Reader::new(self.system, &self.handles, process)
    }

    /// What an expression touches that a process of that type evaluates.
    pub fn expr(&self, process: ProcessId, expr: &Expr) -> Usage {
        self.reader(process).usage_of(expr)
    }

    /// The facts about an edge of a process of that type. Faults of siblings' guards are not part of them.
    pub fn edge(&self, process: ProcessId, id: EdgeId, edge: &Edge) -> EdgeFacts {
        self.reader(process).edge(id, edge)
    }

    /// The cells that a place can mean, and what finding it touches.
    pub fn place(&self, process: ProcessId, place: &Place) -> (Cells, Usage) {
        let reader = self.reader(process);
        let mut usage = Usage::default();
        reader.subscripts(place, &mut usage);
        (reader.cells(place), usage)
    }

    /// Which channels a handle can mean.
    pub fn target(&self, process: ProcessId, handle: &Expr) -> Target {
        self.reader(process).target(handle).0
    }

    /// Of which kinds the channels are that a handle can mean; `None` if that is not known.
    pub fn kinds(&self, process: ProcessId, handle: &Expr) -> Option<Vec<ChannelId>> {
        self.reader(process).target(handle).1
    }

    /// The global variable is assigned somewhere.
    pub fn is_assigned(&self, variable: VariableId) -> bool {
        self.handles.assigned[variable.index()]
    }

    /// The local variable is assigned somewhere after its process has begun.
    pub fn is_assigned_local(&self, process: ProcessId, variable: VariableId) -> bool {
        self.handles.written_locals[process.index()][variable.index()]
    }

    /// The handle of the channel that was created with that cell of a global variable.
    pub fn global_channel(&self, variable: VariableId, slot: u32) -> Option<u32> {
        let cell = self.handles.globals[variable.index()].get(slot as usize)?;
        cell.map(|(handle, _)| handle)
    }

    /// The kinds of the global channels; handle `h` is at `h - 1`.
    pub fn global_kinds(&self) -> &[ChannelId] {
        &self.handles.kinds
    }
}

/// A fault in a sibling's guard is one of the edge that waits for the sibling to be blocked.
fn inherit_faults(edges: &mut [EdgeFacts], siblings: &[EdgeId]) {
    for id in siblings {
        let inherits = |usage: &Usage| usage.blocked.iter().any(|other| edges[other.index()].guard_may_fault());
        let EdgeFacts { conjuncts, communication, effect, all, .. } = &edges[id.index()];
        let conjuncts: Vec<bool> = conjuncts.iter().map(inherits).collect();
        let communication = communication.as_ref().is_some_and(inherits);
        let (effect, all) = (inherits(effect), inherits(all));
        let edge = &mut edges[id.index()];
        for (usage, inherited) in edge.conjuncts.iter_mut().zip(conjuncts) {
            usage.traits.may_fault |= inherited;
        }
        if let Some(usage) = &mut edge.communication {
            usage.traits.may_fault |= communication;
        }
        edge.effect.traits.may_fault |= effect;
        edge.all.traits.may_fault |= all;
    }
}

/// Adds what is not there yet.
fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// What is known about the handles in channel variables.
struct Handles {
    /// For every global slot of every variable: the handle of the channel that was created with it.
    globals: Vec<Vec<Option<(u32, ChannelId)>>>,
    /// The global variables that are assigned somewhere.
    assigned: Vec<bool>,
    /// The local variables that are assigned somewhere, or are parameters, by process type.
    assigned_locals: Vec<Vec<bool>>,
    /// The same without the parameters that nothing is assigned to.
    written_locals: Vec<Vec<bool>>,
    /// The kinds of the global channels; handle `h` is at `h - 1`.
    kinds: Vec<ChannelId>,
}

impl Handles {
    fn of(system: &System) -> Handles {
        let mut handles = Handles {
            globals: Vec::new(),
            assigned: vec![false; system.globals.len()],
            assigned_locals: Vec::new(),
            written_locals: Vec::new(),
            kinds: Vec::new(),
        };
        for variable in &system.globals {
            let mut slots = vec![None; system.slots(&variable.ty) as usize];
            for (slot, initial) in &variable.initial {
                if let Initial::Channel(kind) = initial {
                    handles.kinds.push(*kind);
                    slots[*slot as usize] = Some((handles.kinds.len() as u32, *kind));
                }
            }
            handles.globals.push(slots);
        }
        for process in &system.processes {
            let parameters = process.parameters as usize;
            handles.assigned_locals.push((0..process.locals.len()).map(|number| number < parameters).collect());
            handles.written_locals.push(vec![false; process.locals.len()]);
        }
        for (number, process) in system.processes.iter().enumerate() {
            for edge in &process.edges {
                for place in edge.written_places() {
                    match place.scope {
                        Scope::Global => handles.assigned[place.variable.index()] = true,
                        Scope::Local => {
                            handles.assigned_locals[number][place.variable.index()] = true;
                            handles.written_locals[number][place.variable.index()] = true;
                        }
                    }
                }
            }
        }
        handles
    }
}

/// Reads the edges of one process type.
struct Reader<'a> {
    system: &'a System,
    handles: &'a Handles,
    process: ProcessId,
    /// While a shared expression is looked at: those inside it that were, too.
    inside: RefCell<Option<HashSet<usize>>>,
}

impl<'a> Reader<'a> {
    fn new(system: &'a System, handles: &'a Handles, process: ProcessId) -> Reader<'a> {
        Reader { system, handles, process, inside: RefCell::new(None) }
    }

    fn edge(&self, id: EdgeId, edge: &Edge) -> EdgeFacts {
        let conjuncts: Vec<Usage> = edge.guard.iter().map(|conjunct| self.usage_of(conjunct)).collect();
        let communication = edge.communication.as_ref().map(|communication| {
            let mut usage = Usage::default();
            self.communication(communication, false, &mut usage);
            usage
        });
        let mut facts = EdgeFacts {
            process: self.process,
            edge: id,
            conjuncts,
            communication,
            effect: Usage::default(),
            all: Usage::default(),
            spawns: Vec::new(),
            ends: edge.ends_process(),
            monitored: false,
        };
        self.effect(edge, &mut facts);
        let mut all = Usage::default();
        facts.conjuncts.iter().chain(&facts.communication).for_each(|usage| all.merge(usage));
        all.merge(&facts.effect);
        facts.monitored = all.channels.iter().any(|channel| self.is_monitored(channel));
        facts.all = all;
        facts
    }

    fn joint(&self, synchronous: &Synchronous) -> JointFacts {
        let all = |exprs: &[Expr]| exprs.iter().map(|expr| self.usage_of(expr)).collect();
        JointFacts {
            init: all(&synchronous.init),
            invariant: all(&synchronous.invariant),
            definitions: synchronous.definitions.iter().map(|definition| self.definition(definition)).collect(),
            relations: all(&synchronous.relations),
        }
    }

    fn definition(&self, definition: &Definition) -> Usage {
        let Definition { variable, slot, next, .. } = definition;
        let mut usage = Usage::default();
        let scalars = self.system.scalars(&self.system.globals[variable.index()].ty);
        let mut value = |value: &Expr| {
            self.expr(value, &mut usage);
            usage.traits.may_fault |= self.bounds(value).may_fault_in(scalars[*slot as usize]);
        };
        match next {
            NextValue::Function(expr) => value(expr),
            NextValue::Choice(alternatives) => alternatives.iter().for_each(|one| value(&one.value)),
        }
        if let NextValue::Choice(alternatives) = next {
            alternatives.iter().flat_map(|one| &one.when).for_each(|when| self.expr(when, &mut usage));
        }
        usage.writes.push(Cells { scope: Scope::Global, variable: *variable, slots: Some((*slot, *slot + 1)) });
        usage
    }

    fn usage_of(&self, expr: &Expr) -> Usage {
        let mut usage = Usage::default();
        self.expr(expr, &mut usage);
        usage
    }

    fn effect(&self, edge: &Edge, facts: &mut EdgeFacts) {
        let spawns = edge
            .effect
            .iter()
            .any(|i| matches!(i, Instruction::Do(Action::Spawn { .. }) | Instruction::Try(Action::Spawn { .. }, _)));
        for (position, instruction) in edge.effect.iter().enumerate() {
            match instruction {
                Instruction::Do(action) => {
                    // Inside an effect, what is not executable is a fault.
                    let may_block = match action {
                        Action::Test(condition) => !self.is_true(condition),
                        Action::Communicate(_) => true,
                        // The guard has asked for the youngest process, but there may be a younger one since.
                        Action::End => spawns || edge.communication.is_some(),
                        Action::Assign(..)
                        | Action::AssignAll(_)
                        | Action::AssignField(_)
                        | Action::Allocate(..)
                        | Action::Spawn { .. }
                        | Action::Assert { .. }
                        | Action::Print { .. }
                        | Action::SetPriority(..) => false,
                    };
                    facts.effect.traits.may_fault |= may_block;
                    self.action(action, facts);
                }
                Instruction::Try(action, target) => {
                    facts.effect.traits.may_fault |= *target as usize <= position;
                    self.action(action, facts);
                }
                Instruction::Jump(target) => facts.effect.traits.may_fault |= *target as usize <= position,
                Instruction::Fail(_) => facts.effect.traits.may_fault = true,
            }
        }
    }

    fn action(&self, action: &Action, facts: &mut EdgeFacts) {
        let usage = &mut facts.effect;
        match action {
            Action::Test(condition) => self.expr(condition, usage),
            Action::Assign(place, value) => {
                self.expr(value, usage);
                self.write(place, self.bounds(value), usage);
            }
            Action::AssignAll(pairs) => {
                pairs.iter().for_each(|(_, value)| self.expr(value, usage));
                pairs.iter().for_each(|(place, value)| self.write(place, self.bounds(value), usage));
            }
            Action::AssignField(parts) => {
                let (object, field, value) = &**parts;
                self.expr(object, usage);
                self.expr(value, usage);
                self.field(field, usage);
            }
            Action::Allocate(place, _) => {
                self.write(place, Bounds::new(0, u32::MAX.into()), usage);
                usage.traits.heap = true;
                usage.traits.may_fault = true;
            }
            Action::Communicate(communication) => self.communication(communication, true, usage),
            Action::Spawn { process, arguments, .. } => {
                arguments.iter().for_each(|argument| self.expr(argument, usage));
                // The table may be full, and the first values are computed in the new process.
                usage.traits.may_fault = true;
                self.spawn(*process, usage);
                add(&mut facts.spawns, *process);
            }
            Action::Assert { condition, .. } => {
                self.expr(condition, usage);
                usage.traits.asserts |= !self.is_true(condition);
            }
            Action::Print { arguments, .. } => {
                arguments.iter().for_each(|argument| self.expr(argument, usage));
                usage.traits.prints = true;
            }
            Action::SetPriority(process, priority) => {
                self.expr(process, usage);
                self.expr(priority, usage);
                usage.traits.sets_priority = true;
                usage.traits.may_fault |= !self.bounds(priority).within(1, 255);
            }
            Action::End => {}
        }
    }

    /// The first values of a new process's locals may read globals.
    fn spawn(&self, process: ProcessId, usage: &mut Usage) {
        let reader = Reader::new(self.system, self.handles, process);
        let locals = &self.system.process(process).locals;
        for (_, initial) in locals.iter().flat_map(|variable| &variable.initial) {
            if let Initial::Value(expr) = initial {
                let mut inner = reader.usage_of(expr);
                inner.reads.retain(|cells| cells.scope == Scope::Global);
                usage.merge(&inner);
            }
        }
    }

    fn communication(&self, communication: &Communication, in_effect: bool, usage: &mut Usage) {
        let (operation, arity) = match communication {
            Communication::Send { values, sorted, .. } => {
                values.iter().for_each(|value| self.expr(value, usage));
                let operation = if *sorted { ChannelOperation::SendSorted } else { ChannelOperation::Send };
                (operation, values.len())
            }
            Communication::Receive { patterns, anywhere, keep, .. } => {
                self.patterns(patterns, usage);
                let operation = match (keep, anywhere) {
                    (true, _) => ChannelOperation::Poll,
                    (false, true) => ChannelOperation::ReceiveAnywhere,
                    (false, false) => ChannelOperation::Receive,
                };
                (operation, patterns.len())
            }
        };
        let kinds = self.channel(communication.channel(), operation, usage);
        let sound = kinds.as_ref().is_some_and(|kinds| {
            kinds.iter().all(|kind| {
                let kind = &self.system.channels[kind.index()];
                let possible = kind.capacity > 0 || !(in_effect || communication.keeps());
                kind.fields.len() == arity && possible
            })
        });
        usage.traits.may_fault |= !sound;
        self.fields(communication, kinds.as_deref(), usage);
    }

    /// The values that a send puts into the channel's fields, or a receive into its places.
    fn fields(&self, communication: &Communication, kinds: Option<&[ChannelId]>, usage: &mut Usage) {
        let scalars = |field: usize| {
            let kinds = kinds.unwrap_or_default().iter();
            kinds.map(move |kind| self.system.channels[kind.index()].fields.get(field).copied())
        };
        match communication {
            Communication::Send { values, .. } => {
                for (number, value) in values.iter().enumerate() {
                    let bounds = self.bounds(value);
                    let refused = scalars(number).flatten().any(|scalar| bounds.may_fault_in(scalar));
                    usage.traits.may_fault |= refused;
                }
            }
            Communication::Receive { patterns, .. } => {
                for (number, pattern) in patterns.iter().enumerate() {
                    if let Pattern::Bind(place) = pattern {
                        let known = kinds.is_some_and(|kinds| !kinds.is_empty());
                        let bounds = scalars(number).map(|scalar| scalar.map_or(Bounds::ANY, Bounds::of));
                        let bounds =
                            if known { bounds.reduce(Bounds::join).unwrap_or(Bounds::ANY) } else { Bounds::ANY };
                        self.write(place, bounds, usage);
                    }
                }
            }
        }
    }

    fn patterns(&self, patterns: &[Pattern], usage: &mut Usage) {
        for pattern in patterns {
            if let Pattern::Match(expr) = pattern {
                self.expr(expr, usage);
            }
        }
    }

    /// Notes the use of a channel; the kinds that it can be.
    fn channel(&self, handle: &Expr, operation: ChannelOperation, usage: &mut Usage) -> Option<Vec<ChannelId>> {
        self.expr(handle, usage);
        let (target, kinds) = self.target(handle);
        add(&mut usage.channels, ChannelUse { operation, handle: handle.clone(), target, kinds: kinds.clone() });
        kinds
    }

    /// Which channels a handle can mean, and of which kinds they are.
    fn target(&self, handle: &Expr) -> (Target, Option<Vec<ChannelId>>) {
        let unknown = (Target::Unknown, None);
        match handle {
            Expr::Cast(Scalar::Channel, inner) => self.target(inner),
            Expr::Const(value) => {
                let index = usize::try_from(*value).ok().and_then(|value| value.checked_sub(1));
                match index.and_then(|index| self.handles.kinds.get(index)) {
                    Some(kind) => (Target::Global(vec![*value as u32]), Some(vec![*kind])),
                    None => unknown,
                }
            }
            Expr::Read(place) => self.channel_cell(place).unwrap_or(unknown),
            _ => unknown,
        }
    }

    /// A cell that keeps the channel it was created with.
    fn channel_cell(&self, place: &Place) -> Option<(Target, Option<Vec<ChannelId>>)> {
        let number = place.variable.index();
        let (first, end) = self.slots(place)?;
        match place.scope {
            Scope::Global => {
                if self.handles.assigned[number] {
                    return None;
                }
                let cells = self.handles.globals[number].get(first as usize..end as usize)?;
                let cells: Vec<(u32, ChannelId)> = cells.iter().copied().collect::<Option<_>>()?;
                let mut kinds = Vec::new();
                cells.iter().for_each(|(_, kind)| add(&mut kinds, *kind));
                Some((Target::Global(cells.iter().map(|(handle, _)| *handle).collect()), Some(kinds)))
            }
            Scope::Local => {
                if self.handles.assigned_locals[self.process.index()][number] {
                    return None;
                }
                let variable: &Variable = &self.system.process(self.process).locals[number];
                let mut kinds = Vec::new();
                for slot in first..end {
                    match variable.initial.iter().find(|(listed, _)| *listed == slot) {
                        Some((_, Initial::Channel(kind))) => add(&mut kinds, *kind),
                        _ => return None,
                    }
                }
                Some((Target::Own(place.variable), Some(kinds)))
            }
        }
    }

    /// The observed channels are over globals, so that a local or unknown handle may be one of them.
    fn is_monitored(&self, channel: &ChannelUse) -> bool {
        let Some(monitor) = &self.system.monitor else { return false };
        let event = match channel.operation {
            ChannelOperation::Send | ChannelOperation::SendSorted => EventKind::Send,
            ChannelOperation::Receive | ChannelOperation::ReceiveAnywhere => EventKind::Receive,
            ChannelOperation::Poll | ChannelOperation::Length | ChannelOperation::Full => return false,
        };
        monitor.observed.iter().filter(|(kind, _)| *kind == event).any(|(_, observed)| {
            match (self.target(observed).0, &channel.target) {
                (Target::Global(these), Target::Global(those)) => these.iter().any(|handle| those.contains(handle)),
                _ => true,
            }
        })
    }

    fn expr(&self, expr: &Expr, usage: &mut Usage) {
        match expr {
            Expr::Const(_) | Expr::SelfId => {}
            Expr::Shared(x) => self.shared(x, usage),
            Expr::ProcessCount => usage.traits.process_count = true,
            Expr::LastMover => usage.traits.last_mover = true,
            Expr::Timeout => usage.traits.timeout = true,
            Expr::NonProgress => usage.traits.non_progress = true,
            Expr::Accepting => usage.traits.accepting = true,
            Expr::Blocked(edges) => edges.iter().for_each(|edge| add(&mut usage.blocked, *edge)),
            Expr::Read(place) => {
                self.subscripts(place, usage);
                add(&mut usage.reads, self.cells(place));
            }
            Expr::Next(place) => {
                self.subscripts(place, usage);
                add(&mut usage.next_reads, self.cells(place));
            }
            Expr::Field(object, field) => {
                self.expr(object, usage);
                self.field(field, usage);
            }
            Expr::Unary(_, x) => {
                self.expr(x, usage);
                usage.traits.may_fault |= self.overflows(expr);
            }
            Expr::Binary(op, x, y) => {
                self.expr(x, usage);
                self.expr(y, usage);
                let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
                usage.traits.may_fault |= self.overflows(expr) || (divides && self.bounds(y).contains(0));
            }
            Expr::Cast(scalar, x) => {
                self.expr(x, usage);
                usage.traits.may_fault |= self.bounds(x).may_fault_in(*scalar);
            }
            Expr::Conditional(condition, x, y) => {
                self.expr(condition, usage);
                self.expr(x, usage);
                self.expr(y, usage);
            }
            Expr::Enabled(process) => {
                self.expr(process, usage);
                usage.traits.enabled = true;
                usage.traits.may_fault = true;
            }
            Expr::LocationOf(process) => {
                self.expr(process, usage);
                usage.traits.location_of = true;
            }
            Expr::Priority(process) => {
                self.expr(process, usage);
                usage.traits.priority = true;
            }
            Expr::At { process, of, .. } => {
                process.iter().for_each(|process| self.expr(process, usage));
                usage.traits.at = true;
                add(&mut usage.locations_of, *of);
            }
            Expr::Remote { process, of, place } => {
                process.iter().for_each(|process| self.expr(process, usage));
                self.subscripts(place, usage);
                usage.traits.remote = true;
                add(&mut usage.remote_reads, (*of, self.cells(place)));
            }
            Expr::Length(handle) => {
                usage.traits.may_fault |= self.channel(handle, ChannelOperation::Length, usage).is_none();
            }
            Expr::Full(handle) => {
                usage.traits.may_fault |= self.channel(handle, ChannelOperation::Full, usage).is_none();
            }
            Expr::Poll { channel, patterns, .. } => {
                self.patterns(patterns, usage);
                let kinds = self.channel(channel, ChannelOperation::Poll, usage);
                let sound = kinds.is_some_and(|kinds| {
                    let mut kinds = kinds.iter().map(|kind| &self.system.channels[kind.index()]);
                    kinds.all(|kind| kind.capacity > 0 && kind.fields.len() == patterns.len())
                });
                usage.traits.may_fault |= !sound;
            }
        }
    }

    /// Once, however often it stands in another one.
    fn shared(&self, shared: &Shared, usage: &mut Usage) {
        if !shared.is_nested() && self.inside.borrow().is_none() {
            return self.expr(shared, usage);
        }
        let is_outermost = self.inside.borrow().is_none();
        let parts = {
            let mut inside = self.inside.borrow_mut();
            let seen = inside.get_or_insert_default();
            innermost_first(shared, &mut |part| seen.insert(part.address()))
        };
        parts.into_iter().for_each(|part| self.expr(part, usage));
        if is_outermost {
            self.inside.replace(None);
        }
    }

    fn write(&self, place: &Place, value: Bounds, usage: &mut Usage) {
        self.subscripts(place, usage);
        usage.traits.may_fault |= value.may_fault_in(place.scalar);
        add(&mut usage.writes, self.cells(place));
    }

    /// There may be no object.
    fn field(&self, field: &Field, usage: &mut Usage) {
        field.indices.iter().for_each(|index| self.expr(&index.at, usage));
        add(&mut usage.objects, field.record);
        usage.traits.heap = true;
        usage.traits.may_fault = true;
    }

    fn subscripts(&self, place: &Place, usage: &mut Usage) {
        for index in &place.indices {
            self.expr(&index.at, usage);
            usage.traits.may_fault |= !self.bounds(&index.at).within(0, i128::from(index.length) - 1);
        }
    }

    fn cells(&self, place: &Place) -> Cells {
        Cells { scope: place.scope, variable: place.variable, slots: self.slots(place) }
    }

    /// The slots between the first and the last that the place can mean.
    fn slots(&self, place: &Place) -> Option<(u32, u32)> {
        let (mut first, mut last) = (place.offset, place.offset);
        for index in &place.indices {
            let bounds = self.bounds(&index.at);
            let most = index.length.checked_sub(1)?;
            let low = bounds.low.clamp(0, most.into()) as u32;
            let high = bounds.high.clamp(0, most.into()) as u32;
            first = first.checked_add(low.checked_mul(index.stride)?)?;
            last = last.checked_add(high.checked_mul(index.stride)?)?;
        }
        Some((first, last.checked_add(1)?))
    }

    fn is_true(&self, expr: &Expr) -> bool {
        !self.bounds(expr).contains(0)
    }

    /// The exact result may not fit 64 bits.
    fn overflows(&self, expr: &Expr) -> bool {
        !Bounds::exact(expr).within(i64::MIN.into(), i64::MAX.into())
    }

    /// Between which values the expression lies, if it has a value at all.
    fn bounds(&self, expr: &Expr) -> Bounds {
        Bounds::of_expr(expr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::*;
    use crate::system::{Instance, Type};

    const BYTE: Scalar = Scalar::BYTE;

    fn only_edge(mut system: System, edge: Edge) -> EdgeFacts {
        system.start(process("p", vec![variable("n", Type::Scalar(BYTE))], vec![edge], &[]));
        assert_eq!(crate::check::check(&system), Ok(()));
        Facts::of(&system).edge(ProcessId(0), EdgeId(0)).clone()
    }

    fn cells(scope: Scope, variable: usize, first: u32, end: u32) -> Cells {
        Cells { scope, variable: variable.into(), slots: Some((first, end)) }
    }

    fn array(system: &mut System, length: u32) -> Place {
        system.globals.push(variable("a", Type::Array { element: Box::new(Type::Scalar(BYTE)), length }));
        global(system.globals.len() - 1, BYTE)
    }

    #[test]
    fn reads_and_writes_are_told_by_cell() {
        let mut system = System::empty();
        let a = array(&mut system, 300);
        let x = system.global("x", BYTE);
        let n = local(0, BYTE);
        let edge = edge(0, 0)
            .when(equal(read(&element(&a, Expr::Const(7), 300)), 1))
            .sets(&element(&a, read(&n), 300), read(&x));
        let facts = only_edge(system, edge);
        assert_eq!(facts.conjuncts[0].reads, [cells(Scope::Global, 0, 7, 8)]);
        assert_eq!(facts.effect.reads, [cells(Scope::Global, 1, 0, 1), cells(Scope::Local, 0, 0, 1)]);
        // The subscript is a byte: the last elements are out of its reach, and it is never out of range.
        assert_eq!(facts.all.writes, [cells(Scope::Global, 0, 0, 256)]);
        assert!(!facts.all.traits.may_fault && facts.touches_globals());
        assert!(facts.all.writes[0].overlaps(&facts.conjuncts[0].reads[0]));
        assert!(!facts.all.writes[0].overlaps(&cells(Scope::Global, 0, 256, 300)));
        assert!(!facts.all.writes[0].overlaps(&cells(Scope::Local, 0, 0, 300)));
    }

    #[test]
    fn what_may_fault_is_told() {
        let mut system = System::empty();
        let a = array(&mut system, 3);
        let (x, y) = (system.global("x", BYTE), system.global("y", Scalar::INT));
        let range = system.global("r", Scalar::Range { low: 0, high: 255, overflow: crate::system::Overflow::Fault });
        let q = system.channel("q", 1, &[BYTE]);
        let rv = system.channel("rv", 0, &[BYTE]);
        let handle = system.global("handle", Scalar::Channel);
        let one = || vec![Expr::Const(1)];
        let binary = Expr::binary;
        let poll = |channel: &Expr| Expr::Poll {
            channel: Box::new(channel.clone()),
            patterns: vec![Pattern::Ignore],
            anywhere: false,
        };
        let remainder = binary(BinaryOp::Remainder, read(&x), Expr::Const(3));
        let bits = binary(BinaryOp::BitAnd, read(&x), Expr::Const(1));
        let table = [
            (edge(0, 0).when(plus(read(&y), 1)), false),
            (edge(0, 0).when(plus(Expr::Const(i64::MAX), 1)), true),
            (edge(0, 0).when(binary(BinaryOp::Divide, read(&y), Expr::Const(2))), false),
            (edge(0, 0).when(binary(BinaryOp::Divide, read(&y), read(&x))), true),
            (edge(0, 0).when(read(&element(&a, Expr::Const(2), 3))), false),
            (edge(0, 0).when(read(&element(&a, Expr::Const(3), 3))), true),
            (edge(0, 0).when(read(&element(&a, remainder, 3))), false),
            (edge(0, 0).when(read(&element(&a, bits, 3))), false),
            (edge(0, 0).when(read(&element(&a, read(&x), 3))), true),
            (edge(0, 0).sets(&range, read(&x)), false),
            (edge(0, 0).sets(&range, read(&y)), true),
            (edge(0, 0).sends(&q, one()), false),
            (edge(0, 0).sends(&rv, one()), false),
            (edge(0, 0).sends(&q, vec![]), true),
            (edge(0, 0).sends(&read(&handle), one()), true),
            (edge(0, 0).when(poll(&q)), false),
            (edge(0, 0).when(poll(&rv)), true),
            (edge(0, 0).does(Action::Test(Expr::TRUE)), false),
            (edge(0, 0).does(Action::Test(read(&x))), true),
            (edge(0, 0).does(Action::End), false),
            (edge(0, 0).asserts(Expr::FALSE, "false"), false),
        ];
        for (edge, may_fault) in table {
            let facts = only_edge(system.clone(), edge.clone());
            assert_eq!(facts.all.traits.may_fault, may_fault, "{edge:?}");
        }
    }

    #[test]
    fn channels_are_known_while_nobody_assigns_them() {
        let mut system = System::empty();
        let q = system.channel("q", 1, &[BYTE]);
        let r = system.channel("r", 1, &[BYTE]);
        let Expr::Read(place) = r.clone() else { panic!("a place") };
        let facts = only_edge(system.clone(), edge(0, 0).sends(&r, vec![Expr::Const(1)]));
        let used = &facts.all.channels[0];
        assert_eq!((used.operation, &used.target), (ChannelOperation::Send, &Target::Global(vec![2])));
        assert_eq!(used.kinds, Some(vec![ChannelId(1)]));

        let facts = only_edge(system, edge(0, 0).sends(&r, vec![Expr::Const(1)]).sets(&place, q));
        assert_eq!((&facts.all.channels[0].target, &facts.all.channels[0].kinds), (&Target::Unknown, &None));
        assert!(facts.all.traits.may_fault);
    }

    #[test]
    fn own_channels_spawns_and_ends() {
        let mut system = System::empty();
        system.channels.push(crate::system::Channel { name: "c".into(), capacity: 1, fields: vec![BYTE], span: None });
        let mut own = variable("c", Type::Scalar(Scalar::Channel));
        own.initial = vec![(0, Initial::Channel(ChannelId(0)))];
        let handle = read(&local(0, Scalar::Channel));
        let run = Action::Spawn { process: ProcessId(0), arguments: vec![], priority: None };
        let edges = vec![
            edge(0, 1).receives(&handle, vec![Pattern::Ignore]),
            edge(1, 2).does(run),
            edge(2, 3).when(Expr::Blocked(vec![])).does(Action::End),
        ];
        let id = system.declare(process("p", vec![own], edges, &[]));
        system.start.push(Instance { process: id, arguments: vec![], priority: None });
        let facts = Facts::of(&system);
        assert_eq!(facts.edges().count(), 3);
        assert_eq!(facts.edge(id, EdgeId(0)).all.channels[0].target, Target::Own(VariableId(0)));
        assert_eq!(facts.edge(id, EdgeId(1)).spawns, [id]);
        assert!(facts.edge(id, EdgeId(2)).ends && !facts.edge(id, EdgeId(1)).ends);
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(serde_json::from_str::<Facts>(&json).unwrap(), facts);
    }

    #[test]
    fn dependence_on_others_is_told() {
        let mut system = System::empty();
        system.uses_last = true;
        let id = || Box::new(Expr::Const(0));
        let of = ProcessId(0);
        let place = local(0, BYTE);
        let all = [
            Expr::Timeout,
            Expr::Enabled(id()),
            Expr::LocationOf(id()),
            Expr::At { process: Some(id()), of, locations: vec![] },
            Expr::Remote { process: None, of, place },
            Expr::LastMover,
            Expr::ProcessCount,
            Expr::NonProgress,
            Expr::Accepting,
            Expr::Priority(id()),
        ];
        let facts = only_edge(system, all.into_iter().fold(edge(0, 0), Edge::when));
        assert_eq!(facts.all.remote_reads, [(of, cells(Scope::Local, 0, 0, 1))]);
        assert_eq!(facts.all.locations_of, [of]);
        let traits = Traits {
            timeout: true,
            enabled: true,
            location_of: true,
            at: true,
            remote: true,
            last_mover: true,
            process_count: true,
            non_progress: true,
            accepting: true,
            priority: true,
            may_fault: true,
            ..Traits::default()
        };
        assert_eq!(facts.all.traits, traits);
    }
}
