//! A [`System`] as a [`Scheme`]: its processes, one by one, as the search meets them.
//!
//! A process type says little about who disturbs whom: two processes of a type may use different channels and
//! different elements of an array. What tells them apart is known as soon as a process is there: its id, and the
//! parameters that nobody assigns. So every process is unfolded with these values put in (`fold`), and a *newcomer*
//! with new values makes the scheme grow. Processes that may still be created are there from the beginning as an
//! unborn one for each type, of which nothing is known.
//!
//! An edge that begins an atomic sequence is a transition that may do all that the sequence may do.

mod anonymous;
pub(crate) mod fold;
mod operations;
mod tests;
mod variant;
mod visible;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ample_model::facts::Lens;
use ample_model::{
    Budget, ChannelId, Communication, Edge, EdgeId, Expr, Feature, Initial, ProcessId, RecordId, Scalar, System,
    VariableId,
};

use crate::bits::Bits;
use crate::effort::Effort;
use crate::scheme::{
    Condition, ConditionNumber, Kind, Object, ObjectNumber, Operation, ProcessNumber, Scheme, Step, Transition,
    TransitionNumber, Verb,
};
use fold::Fold;
pub use tests::{Channels, Sent, Test, Values};
pub use variant::Variant;
pub use visible::Watch;

/// So many transitions are looked at, and no more.
pub const MAX_TRANSITIONS: usize = 6_000;

/// So many objects are looked at, and no more.
const MAX_OBJECTS: usize = 50_000;

/// So many operations of transitions and conditions are looked at, and no more.
const MAX_OPERATIONS: usize = 1_000_000;

/// Why nothing is left out of a system that is too large for an analysis.
const TOO_MANY: &str = "the processes have too many transitions to compare them all";

/// So many cells of an array are objects of their own.
const MAX_CELLS: u32 = 256;

/// So many steps of the analysis an edge is worth, and so many an operation.
const STEPS_PER_EDGE: usize = 200;
const STEPS_PER_OPERATION: usize = 20;

/// The number of local cells by which a process is distinguished from others.
const MAX_CONSTANTS: usize = 24;

/// What an object is in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A cell of a global variable.
    Global(VariableId, u32),
    /// All of a global variable.
    Array(VariableId),
    /// A cell of a local variable of a process.
    Local(ProcessNumber, VariableId, u32),
    /// A local variable that others look at, of all processes of a type.
    Remote(ProcessId, VariableId),
    /// Where the processes of a type stand.
    Place(ProcessId),
    /// A channel, by its handle and its kind.
    Channel(u32, ChannelId),
    /// Which processes there are.
    Processes,
    /// The state of the monitor.
    Monitor,
    /// The cells of all objects of a type.
    Objects(RecordId),
    /// Which objects there are: there may be too many.
    Heap,
    /// All local variables of a process together.
    Locals(ProcessNumber),
}

/// A process that was not there before.
pub struct Newcomer<'a> {
    /// Its type.
    pub process: ProcessId,
    /// Its id.
    pub id: u32,
    /// How many channels are older than its own.
    pub first_channel: u32,
    /// The values of [`Unfolding::constants`] of its type.
    pub constants: &'a [i64],
    /// The kinds of all channels; handle `h` is at `h - 1`.
    pub channels: &'a [ChannelId],
}

/// What is known of a process of the scheme.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its type.
    pub process: ProcessId,
    /// Its id; none if it is unborn.
    pub id: Option<u32>,
    /// The transition of its first edge; that of edge `e` is so many further on.
    pub first: TransitionNumber,
    /// Per location: the transitions that leave it.
    pub leaving: Vec<Vec<TransitionNumber>>,
    /// Per location: the transitions that lead to it, from elsewhere.
    pub arriving: Vec<Vec<TransitionNumber>>,
    /// Per location: an assertion, a fault or a wrong event may come after it, in this process or one that it creates.
    pub matters: Vec<bool>,
    /// What never changes in it.
    origin: Origin,
}

/// What never changes in a process.
#[derive(Clone, Debug, Default)]
struct Origin {
    constants: HashMap<(VariableId, u32), i64>,
    channels: Vec<ChannelId>,
    own: Vec<u32>,
}

/// What is known of a transition beside its part of the scheme.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// Local cells whose values would say more about it while its process stands before it.
    pub unknowns: Vec<(VariableId, u32)>,
    /// The operations of its command, of which that of the scheme may have more: here it is told apart, by
    /// [`hopes`](Detail::hopes), when it matters whether a channel is empty or full.
    pub command: Vec<Operation>,
    /// Operations of its command on channels that nobody knows.
    pub wild: Vec<Verb>,
    /// The messages that it sends, as far as they are known.
    pub sent: Vec<Sent>,
    /// It waits for `timeout`.
    pub timeout: bool,
    /// The process types that it may create processes of.
    pub spawns: Vec<ProcessId>,
    /// It may end its process.
    pub ends: bool,
    /// For a handshake: the transitions of the two edges.
    pub halves: Option<(TransitionNumber, TransitionNumber)>,
    /// For an edge: its handshakes.
    pub handshakes: Vec<TransitionNumber>,
    /// It asserts, may fault, or is an event that the monitor may find wrong.
    pub matters: bool,
    /// It may do anything: nothing is independent of it.
    pub is_global: bool,
    /// An atomic sequence may hand a message to one of these processes, if it stands at that location.
    pub reaches: Vec<(ProcessNumber, u32)>,
    /// Inside of it, a message is taken from that channel if there is one, or put into it if there is room.
    pub hopes: Vec<(ObjectNumber, Hope)>,
}

/// What a communication inside of an atomic sequence hopes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hope {
    /// A message.
    Message,
    /// Room for one.
    Room,
}

impl Hope {
    /// The operation may make it come true.
    pub fn is_helped_by(self, verb: Verb) -> bool {
        match self {
            Hope::Message => matches!(verb, Verb::Send | Verb::SendSorted),
            Hope::Room => matches!(verb, Verb::Receive | Verb::ReceiveAnywhere),
        }
    }
}

/// What is known of a condition beside its part of the scheme.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it asks.
    pub test: Test,
    /// The objects that it looks at.
    pub objects: Vec<ObjectNumber>,
    /// It looks at a channel that nobody knows.
    pub is_wild: bool,
    /// It looks at variables of its own process.
    pub reads_locals: bool,
    /// Its number among [`Unfolding::expressions`], and who evaluates it.
    pub expression: Option<(u32, ProcessNumber)>,
    /// For siblings that must be blocked: asking them may go wrong, so that all they look at matters.
    pub may_fault: bool,
}

/// What is known of a process type.
#[derive(Default)]
struct TypeFacts {
    /// The local cells that never change.
    constants: Vec<(VariableId, u32)>,
    /// Per location: the locations that may come after it, or are it.
    reach: Vec<Bits>,
    /// Per edge: the expressions of its conditions, one after the other.
    expressions: Vec<std::ops::Range<u32>>,
    /// Per location: the locations that may come after it, or are it, while control is kept.
    kept: Vec<Bits>,
    /// The locations that are reached with control.
    controlled: Bits,
    /// Two transitions may leave a location and return to it, so that what they do to locals matters.
    loops: bool,
}

/// A system, unfolded as far as is known.
pub struct Unfolding<'a> {
    system: &'a System,
    lens: Arc<Lens<'a>>,
    types: Vec<TypeFacts>,
    expressions: Vec<(ProcessId, Expr)>,
    objects: HashMap<Key, ObjectNumber>,
    /// Per object: its handle and kind if it is a channel.
    handles: Vec<Option<(u32, ChannelId)>>,
    scheme: Scheme,
    members: Vec<Member>,
    details: Vec<Detail>,
    questions: Vec<Question>,
    unborn: HashMap<ProcessId, ProcessNumber>,
    handshakes: HashMap<(TransitionNumber, TransitionNumber), TransitionNumber>,
    /// The locals of these types are looked at by others.
    remote: Vec<(ProcessId, VariableId)>,
    /// Others ask where processes of these types stand.
    watched: Vec<ProcessId>,
    /// Half handshakes: transition, process, the edge with what is known put in.
    senders: Vec<Half>,
    receivers: Vec<Half>,
    /// Sends inside of atomic sequences that may be handshakes.
    inner_senders: Vec<Half>,
    /// Those that were put together with a receiver.
    linked: HashSet<(TransitionNumber, TransitionNumber)>,
    /// Nobody sees which ids processes have.
    anonymous: bool,
    /// The operations of all transitions and conditions.
    operations: usize,
    effort: Effort,
}

/// An edge that may be half of a handshake.
#[derive(Clone)]
struct Half {
    transition: TransitionNumber,
    process: ProcessNumber,
    channels: Option<Vec<u32>>,
    communication: Communication,
    /// The conditions beside the communication.
    conditions: Vec<ConditionNumber>,
    /// The operations beside the communication.
    command: Vec<Operation>,
    wild: Vec<Verb>,
    /// What the scheme's command has more.
    extra: Vec<Operation>,
}

/// Why nothing can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Irreducible(pub String);

impl<'a> Unfolding<'a> {
    /// Nothing but the unborn processes.
    ///
    /// `looks` are expressions of properties: what they look at is an object even if no process does.
    pub fn new(system: &'a System, looks: &[Expr]) -> Result<Unfolding<'a>, Irreducible> {
        Unfolding::within(system, looks, &Budget::unlimited())
    }

    /// As [`new`](Self::new), within a budget.
    pub fn within(system: &'a System, looks: &[Expr], budget: &Budget) -> Result<Unfolding<'a>, Irreducible> {
        refuse(system)?;
        let is_used = used_types(system)?;
        let lens = Arc::new(Lens::new(system));
        let mut unfolding = Unfolding {
            system,
            lens: Arc::clone(&lens),
            types: Vec::new(),
            expressions: Vec::new(),
            objects: HashMap::new(),
            handles: Vec::new(),
            scheme: Scheme::default(),
            members: Vec::new(),
            details: Vec::new(),
            questions: Vec::new(),
            unborn: HashMap::new(),
            handshakes: HashMap::new(),
            remote: Vec::new(),
            watched: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            inner_senders: Vec::new(),
            linked: HashSet::new(),
            anonymous: anonymous::is_anonymous(system, looks, &lens),
            operations: 0,
            effort: Effort::within(budget),
        };
        unfolding.survey(looks, &is_used);
        unfolding.add_unborn();
        Ok(unfolding)
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// Processes, objects, transitions, as far as they are known.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// What is known of a process of the scheme.
    pub fn member(&self, process: ProcessNumber) -> &Member {
        &self.members[process as usize]
    }

    /// What is known of a transition.
    pub fn detail(&self, transition: TransitionNumber) -> &Detail {
        &self.details[transition as usize]
    }

    /// What is known of a condition.
    pub fn question(&self, condition: ConditionNumber) -> &Question {
        &self.questions[condition as usize]
    }

    /// The local cells by which processes of the type are distinguished: [`Newcomer::constants`] are their values.
    pub fn constants(&self, process: ProcessId) -> &[(VariableId, u32)] {
        &self.types[process.index()].constants
    }

    /// The conditions of all edges, and the types of the processes that evaluate them.
    pub fn expressions(&self) -> &[(ProcessId, Expr)] {
        &self.expressions
    }

    /// The location may come after that one, or be it.
    pub fn reaches(&self, process: ProcessId, from: u32, to: u32) -> bool {
        self.types[process.index()].reach[from as usize].contains(to)
    }

    /// The unborn processes, by their types.
    pub fn unborn(&self) -> impl Iterator<Item = (ProcessId, ProcessNumber)> + '_ {
        self.unborn.iter().map(|(process, number)| (*process, *number))
    }

    /// The transition of an edge, alone.
    pub fn transition(&self, process: ProcessNumber, edge: EdgeId) -> TransitionNumber {
        self.members[process as usize].first + edge.0
    }

    /// The transition of a handshake.
    pub fn handshake(&self, sender: TransitionNumber, receiver: TransitionNumber) -> Option<TransitionNumber> {
        self.handshakes.get(&(sender, receiver)).copied()
    }

    /// There is too much to go on.
    pub fn is_full(&self) -> bool {
        self.scheme.transitions.len() > MAX_TRANSITIONS
            || self.scheme.objects.len() > MAX_OBJECTS
            || self.operations > MAX_OPERATIONS
            || self.effort.is_exhausted()
    }

    /// What the analysis may still take.
    pub fn effort(&self) -> &Effort {
        &self.effort
    }

    /// What has to be known of all types before the first process.
    fn survey(&mut self, looks: &[Expr], is_used: &[bool]) {
        let mut note = |expr: &Expr| match expr {
            Expr::Remote { of, place, .. } => self.remote.push((*of, place.variable)),
            Expr::At { of, .. } => self.watched.push(*of),
            Expr::LocationOf(_) => self.watched.extend((0..self.system.processes.len()).map(ProcessId::from)),
            _ => {}
        };
        for process in &self.system.processes {
            for expr in process.edges.iter().flat_map(Edge::expressions).chain(&process.provided) {
                expr.walk(&mut note);
            }
        }
        looks.iter().for_each(|expr| expr.walk(&mut note));
        for (number, is_used) in is_used.iter().enumerate() {
            let facts = if *is_used { self.type_facts(number.into()) } else { TypeFacts::default() };
            self.types.push(facts);
        }
    }

    fn type_facts(&mut self, process: ProcessId) -> TypeFacts {
        let ty = self.system.process(process);
        let mut expressions = Vec::new();
        for edge in &ty.edges {
            let start = self.expressions.len() as u32;
            let conditions = operations::conditions(ty, edge);
            self.expressions.extend(conditions.into_iter().map(|expr| (process, expr)));
            expressions.push(start..self.expressions.len() as u32);
        }
        let mut constants = Vec::new();
        for (number, variable) in ty.locals.iter().enumerate() {
            let id = VariableId::from(number);
            let slots = self.system.slots(&variable.ty);
            // The number of an object changes when others come and go.
            let refers = self.system.scalars(&variable.ty).iter().any(|scalar| matches!(scalar, Scalar::Reference(_)));
            if variable.hidden || refers || self.lens.is_assigned_local(process, id) {
                continue;
            }
            if constants.len() + slots as usize <= MAX_CONSTANTS {
                constants.extend((0..slots).map(|slot| (id, slot)));
            }
        }
        // One that takes messages from several partners is several transitions.
        let returning = |edge: &EdgeId| {
            let edge = &ty.edges[edge.index()];
            let returns = edge.from == edge.to && !edge.ends_process();
            usize::from(returns) + usize::from(returns && self.may_take_by_hand(edge))
        };
        let loops = ty.locations.iter().any(|location| location.edges.iter().map(returning).sum::<usize>() > 1);
        let controlled = ty.edges.iter().filter(|edge| edge.keeps_control).map(|edge| edge.to.0).collect();
        let kept = reach_by(ty, |edge| edge.keeps_control);
        TypeFacts { constants, reach: reach(ty), expressions, kept, controlled, loops }
    }

    /// The edge may be the receiving half of a handshake.
    fn may_take_by_hand(&self, edge: &Edge) -> bool {
        let Some(Communication::Receive { patterns, .. }) = &edge.communication else { return false };
        let kinds = self.system.channels.iter().filter(|kind| kind.capacity == 0);
        kinds.map(|kind| kind.fields.len()).any(|fields| fields == patterns.len())
    }

    /// One unborn process for each type that may be created.
    fn add_unborn(&mut self) {
        let mut types: Vec<ProcessId> = Vec::new();
        for edge in self.system.processes.iter().flat_map(|process| &process.edges) {
            for process in operations::spawned(edge) {
                if !types.contains(&process) {
                    types.push(process);
                }
            }
        }
        for process in types {
            let lens = Arc::clone(&self.lens);
            let fold = Fold {
                system: self.system,
                lens: &lens,
                id: None,
                constants: HashMap::new(),
                made: Default::default(),
            };
            let number = self.admit(process, None, &fold, &[], None);
            self.unborn.insert(process, number);
        }
        self.link_starts();
    }

    /// Adds a process that is there now.
    pub fn add(&mut self, newcomer: &Newcomer<'_>) -> ProcessNumber {
        let cells = self.types[newcomer.process.index()].constants.iter().copied();
        let constants: HashMap<(VariableId, u32), i64> = cells.zip(newcomer.constants.iter().copied()).collect();
        let lens = Arc::clone(&self.lens);
        let fold =
            Fold { system: self.system, lens: &lens, id: Some(newcomer.id), constants, made: Default::default() };
        let number =
            self.admit(newcomer.process, Some(newcomer.id), &fold, newcomer.channels, Some(newcomer.first_channel));
        self.link_starts();
        number
    }

    fn admit(
        &mut self,
        process: ProcessId,
        id: Option<u32>,
        fold: &Fold<'_>,
        channels: &[ChannelId],
        first_channel: Option<u32>,
    ) -> ProcessNumber {
        let number = self.members.len() as ProcessNumber;
        let ty = self.system.process(process);
        let name = id.map_or_else(|| format!("{} (to come)", ty.name), |id| format!("{}:{id}", ty.name));
        self.scheme.processes.push(name);
        let first = self.scheme.transitions.len() as TransitionNumber;
        self.members.push(Member {
            process,
            id,
            first,
            leaving: vec![Vec::new(); ty.locations.len()],
            arriving: vec![Vec::new(); ty.locations.len()],
            matters: vec![false; ty.locations.len()],
            origin: Origin {
                constants: fold.constants.clone(),
                channels: channels.to_vec(),
                own: match first_channel {
                    Some(first) => (1..=own_channels(self.system, process)).map(|channel| first + channel).collect(),
                    None => Vec::new(),
                },
            },
        });
        let edges: Vec<Edge> = ty.edges.iter().map(|edge| fold.edge(edge)).collect();
        let own = self.members[number as usize].origin.own.clone();
        let site = operations::Site { process, number, edges: &edges, fold, channels, own: &own };
        for (number, edge) in edges.iter().enumerate() {
            if self.is_full() {
                self.add_unknown(site.number, edge);
                continue;
            }
            self.add_edge(&site, number);
            self.count_operations();
        }
        self.add_handshakes(number);
        self.link_inner();
        self.mark_what_matters(number);
        number
    }

    /// An edge that nobody looks at any more: whatever it does, nothing is left out.
    fn add_unknown(&mut self, process: ProcessNumber, edge: &Edge) {
        let steps = vec![step(process, edge, vec![edge.to.0])];
        let transition = Transition {
            steps,
            conditions: Vec::new(),
            command: Vec::new(),
            is_global: true,
            is_timeout: false,
            label: String::new(),
        };
        self.push_transition(transition, Detail { is_global: true, matters: true, ..Detail::default() });
    }

    /// Counts the operations of the last transition.
    fn count_operations(&mut self) {
        let Some((transition, detail)) = self.scheme.transitions.last().zip(self.details.last()) else { return };
        let conditions = transition.conditions.iter().map(|number| &self.scheme.conditions[*number as usize]);
        let operations = conditions.map(|condition| condition.operations.len()).sum::<usize>();
        let operations = operations + transition.command.len() + detail.command.len();
        self.operations += operations;
        self.effort.spend(STEPS_PER_EDGE + STEPS_PER_OPERATION * operations);
    }

    /// Locations after which something may go wrong.
    fn mark_what_matters(&mut self, number: ProcessNumber) {
        let member = &self.members[number as usize];
        let edges = &self.system.process(member.process).edges;
        let bad: Vec<u32> = edges
            .iter()
            .enumerate()
            .filter(|(id, _)| self.details[member.first as usize + id].matters)
            .map(|(_, edge)| edge.from.0)
            .collect();
        let reach = &self.types[member.process.index()].reach;
        let matters = reach.iter().map(|after| bad.iter().any(|from| after.contains(*from))).collect();
        self.members[number as usize].matters = matters;
    }

    /// Who may create which unborn process.
    fn link_starts(&mut self) {
        let mut starts = vec![Vec::new(); self.members.len()];
        for (number, detail) in self.details.iter().enumerate() {
            for process in &detail.spawns {
                if let Some(unborn) = self.unborn.get(process) {
                    starts[*unborn as usize].push(number as TransitionNumber);
                }
            }
        }
        self.scheme.starts = starts;
    }

    fn object(&mut self, key: Key) -> ObjectNumber {
        if let Some(number) = self.objects.get(&key) {
            return *number;
        }
        let kind = match key {
            Key::Channel(_, kind) => Kind::Channel { capacity: self.system.channels[kind.index()].capacity.max(1) },
            _ => Kind::Variable,
        };
        let name = match key {
            Key::Global(variable, slot) => self.system.slot_name(&self.system.globals[variable.index()], slot),
            Key::Array(variable) => self.system.globals[variable.index()].name.clone(),
            Key::Local(process, variable, slot) => {
                let ty = self.members[process as usize].process;
                let variable = &self.system.process(ty).locals[variable.index()];
                format!("{}.{}", self.scheme.processes[process as usize], self.system.slot_name(variable, slot))
            }
            Key::Remote(process, variable) => {
                let ty = self.system.process(process);
                format!("{}:{}", ty.name, ty.locals[variable.index()].name)
            }
            Key::Place(process) => format!("where {} is", self.system.process(process).name),
            Key::Channel(handle, kind) => format!("{}#{handle}", self.system.channels[kind.index()].name),
            Key::Processes => "the processes there are".into(),
            Key::Monitor => "the monitor".into(),
            Key::Objects(record) => format!("the objects of type {}", self.system.records[record.index()].name),
            Key::Heap => "the objects there are".into(),
            Key::Locals(process) => format!("the variables of {}", self.scheme.processes[process as usize]),
        };
        let number = self.scheme.objects.len() as ObjectNumber;
        self.scheme.objects.push(Object { kind, name });
        self.handles.push(match key {
            Key::Channel(handle, kind) => Some((handle, kind)),
            _ => None,
        });
        self.objects.insert(key, number);
        number
    }

    /// The handle of a channel object.
    #[inline]
    pub fn handle(&self, object: ObjectNumber) -> Option<u32> {
        self.handles[object as usize].map(|(handle, _)| handle)
    }

    fn push_transition(&mut self, transition: Transition, detail: Detail) -> TransitionNumber {
        let number = self.scheme.transitions.len() as TransitionNumber;
        for step in &transition.steps {
            let member = &mut self.members[step.process as usize];
            member.leaving[step.from as usize].push(number);
            for to in step.to.iter().filter(|to| **to != step.from) {
                member.arriving[*to as usize].push(number);
            }
        }
        self.scheme.transitions.push(transition);
        self.details.push(detail);
        number
    }

    fn push_condition(&mut self, condition: Condition, question: Question) -> ConditionNumber {
        self.scheme.conditions.push(condition);
        self.questions.push(question);
        (self.questions.len() - 1) as ConditionNumber
    }

    /// The handshakes of a new process with all others.
    fn add_handshakes(&mut self, number: ProcessNumber) {
        let mut pairs = Vec::new();
        for (s, sender) in self.senders.iter().enumerate() {
            if !self.effort.spend(2 * self.receivers.len()) {
                return;
            }
            for (r, receiver) in self.receivers.iter().enumerate() {
                let concerned = sender.process == number || receiver.process == number;
                // An unborn process stands for several.
                let unborn = |process: ProcessNumber| self.members[process as usize].id.is_none();
                let same = sender.process == receiver.process && !unborn(sender.process);
                if concerned && !same && tests::may_shake(self.system, sender, receiver) {
                    pairs.push((s, r));
                }
            }
        }
        for (sender, receiver) in pairs {
            if self.is_full() {
                return;
            }
            self.add_handshake(sender, receiver);
        }
    }

    fn add_handshake(&mut self, sender: usize, receiver: usize) {
        let (sender, receiver) = (&self.senders[sender], &self.receivers[receiver]);
        let (s, r) = (sender.transition, receiver.transition);
        let [sending, receiving] = [s, r].map(|half| &self.scheme.transitions[half as usize]);
        let mut steps = sending.steps.clone();
        // The receiver decides who is in control afterwards.
        let edge = &self.system.process(self.members[sender.process as usize].process).edges;
        let id = s - self.members[sender.process as usize].first;
        steps[0].to = vec![edge[id as usize].to.0];
        steps.extend(receiving.steps.iter().cloned());
        let mut conditions = sender.conditions.clone();
        conditions.extend(&receiver.conditions);
        let mut command = sender.command.clone();
        command.extend(&receiver.command);
        let wild: Vec<Verb> = sender.wild.iter().chain(&receiver.wild).copied().collect();
        let extra: Vec<Operation> = sender.extra.iter().chain(&receiver.extra).copied().collect();
        let (first, second) = (&self.details[s as usize], &self.details[r as usize]);
        let hopes: Vec<_> = first.hopes.iter().chain(&second.hopes).copied().collect();
        let vain = vain(&hopes, (&sender.command, &sender.wild), (&receiver.command, &receiver.wild));
        command.extend(vain);
        let detail = Detail {
            unknowns: Vec::new(),
            command: command.clone(),
            wild,
            sent: Vec::new(),
            timeout: first.timeout || second.timeout,
            spawns: first.spawns.iter().chain(&second.spawns).copied().collect(),
            ends: first.ends || second.ends,
            halves: Some((s, r)),
            handshakes: Vec::new(),
            matters: first.matters || second.matters,
            is_global: first.is_global || second.is_global,
            reaches: Vec::new(),
            hopes,
        };
        let label = format!("{} / {}", sending.label, receiving.label);
        let is_global = sending.is_global || receiving.is_global || !detail.wild.is_empty();
        command.extend(extra);
        let (communications, numbers) =
            ([sender.communication.clone(), receiver.communication.clone()], [sender.process, receiver.process]);
        let fits = self.add_match(&communications, &numbers);
        conditions.push(fits);
        let is_timeout = detail.timeout;
        let transition = Transition { steps, conditions, command, is_global, is_timeout, label };
        let number = self.push_transition(transition, detail);
        self.handshakes.insert((s, r), number);
        self.details[s as usize].handshakes.push(number);
        self.details[r as usize].handshakes.push(number);
        self.inherit(r, number);
    }

    /// What goes on with an edge may send what the edge sends later.
    fn inherit(&mut self, from: TransitionNumber, to: TransitionNumber) {
        let inner: Vec<Half> = self.inner_senders.iter().filter(|half| half.transition == from).cloned().collect();
        self.inner_senders.extend(inner.into_iter().map(|half| Half { transition: to, ..half }));
    }

    /// Messages inside of atomic sequences and who may take them at once.
    fn link_inner(&mut self) {
        let mut next = 0;
        while next < self.inner_senders.len() && self.effort.spend(10 * self.receivers.len()) {
            for receiver in 0..self.receivers.len() {
                let (sender, receiver) = (&self.inner_senders[next], &self.receivers[receiver]);
                let unborn = self.members[sender.process as usize].id.is_none();
                let pair = (sender.transition, receiver.transition);
                if (sender.process != receiver.process || unborn)
                    && tests::may_shake(self.system, sender, receiver)
                    && self.linked.insert(pair)
                {
                    let receiver = receiver.clone();
                    self.link(pair.0, &receiver);
                }
            }
            next += 1;
        }
    }

    fn link(&mut self, number: TransitionNumber, receiver: &Half) {
        let step = self.scheme.transitions[receiver.transition as usize].steps[0].clone();
        let taking = self.details[receiver.transition as usize].clone();
        let transition = &mut self.scheme.transitions[number as usize];
        transition.is_global = true;
        let detail = &mut self.details[number as usize];
        detail.hopes.extend(taking.hopes);
        let vain = vain(&detail.hopes, (&detail.command, &detail.wild), (&receiver.command, &receiver.wild));
        detail.sent.retain(|sent| receiver.wild.is_empty() && !sent.is_one_of(&receiver.command));
        for operation in receiver.command.iter().chain(&vain) {
            if !detail.command.contains(operation) {
                detail.command.push(*operation);
            }
        }
        detail.wild.extend(&receiver.wild);
        detail.spawns.extend(taking.spawns);
        detail.ends |= taking.ends;
        detail.matters |= taking.matters;
        detail.is_global |= taking.is_global;
        if !detail.reaches.contains(&(step.process, step.from)) {
            detail.reaches.push((step.process, step.from));
        }
        let member = &mut self.members[step.process as usize];
        let arrivals = step.to.iter().map(|to| *to as usize);
        if !member.leaving[step.from as usize].contains(&number) {
            member.leaving[step.from as usize].push(number);
        }
        for to in arrivals {
            if !member.arriving[to].contains(&number) {
                member.arriving[to].push(number);
            }
        }
        // The receiver may go on with its own sequence.
        self.inherit(receiver.transition, number);
    }
}

/// Two parts of a transition may use the same channel: then the state before it does not tell what one of them finds
/// there, and it looks at all of the channel.
fn vain(
    hopes: &[(ObjectNumber, Hope)],
    (one, wild): (&[Operation], &[Verb]),
    (other, others_wild): (&[Operation], &[Verb]),
) -> Vec<Operation> {
    let uses = |command: &[Operation], object: ObjectNumber| command.iter().any(|o| o.object == object);
    let touched = hopes
        .iter()
        .map(|(object, _)| *object)
        .filter(|object| !wild.is_empty() || !others_wild.is_empty() || uses(one, *object) && uses(other, *object));
    touched.flat_map(|object| [Verb::Search, Verb::Length].map(|verb| Operation { object, verb })).collect()
}

/// How many channels are created with a process of the type.
pub(crate) fn own_channels(system: &System, process: ProcessId) -> u32 {
    let locals = &system.process(process).locals;
    let initials = locals.iter().flat_map(|variable| &variable.initial);
    initials.filter(|(_, initial)| matches!(initial, Initial::Channel(_))).count() as u32
}

/// Per location: what may come after it.
pub(crate) fn reach(ty: &ample_model::ProcessType) -> Vec<Bits> {
    reach_by(ty, |_| true)
}

/// Per location: what may come after it by such edges. By strongly connected components: those of a component have the
/// same future, which is the component and the futures of those that come after it.
fn reach_by(ty: &ample_model::ProcessType, by: impl Fn(&Edge) -> bool) -> Vec<Bits> {
    let after = |location: u32| {
        let edges = ty.locations[location as usize].edges.iter().map(|edge| &ty.edges[edge.index()]);
        edges.filter(|edge| by(edge)).map(|edge| edge.to.0).collect::<Vec<u32>>()
    };
    let count = ty.locations.len();
    let mut reach = vec![Bits::new(); count];
    // Tarjan's algorithm, which completes a component after those that it leads to. A location that has not been met
    // has the number 0, and one of a complete component the largest.
    let (mut low, mut met) = (vec![0u32; count], 0);
    let mut stack: Vec<u32> = Vec::new();
    let mut frames: Vec<(u32, u32, Vec<u32>)> = Vec::new();
    for start in 0..count as u32 {
        let mut enter = (low[start as usize] == 0).then_some(start);
        loop {
            if let Some(location) = enter.take() {
                met += 1;
                low[location as usize] = met;
                stack.push(location);
                frames.push((location, met, after(location)));
            }
            let Some((location, index, rest)) = frames.last_mut() else { break };
            let location = *location as usize;
            match rest.pop() {
                Some(next) if low[next as usize] == 0 => enter = Some(next),
                Some(next) => low[location] = low[location].min(low[next as usize]),
                None => {
                    let is_root = low[location] == *index;
                    frames.pop();
                    if is_root {
                        complete(location as u32, &mut stack, &mut low, &mut reach, &after);
                    } else if let Some((parent, ..)) = frames.last() {
                        low[*parent as usize] = low[*parent as usize].min(low[location]);
                    }
                }
            }
        }
    }
    reach
}

/// Takes a complete component off the stack, and says what comes after its locations.
fn complete(root: u32, stack: &mut Vec<u32>, low: &mut [u32], reach: &mut [Bits], after: &impl Fn(u32) -> Vec<u32>) {
    let begin = stack.iter().rposition(|location| *location == root).unwrap_or(0);
    let members = stack.split_off(begin);
    let mut row: Bits = members.iter().copied().collect();
    for member in &members {
        for next in after(*member).into_iter().filter(|next| low[*next as usize] == u32::MAX) {
            row.extend(&reach[next as usize]);
        }
    }
    for member in members {
        low[member as usize] = u32::MAX;
        reach[member as usize] = row.clone();
    }
}

/// Per process type: there are processes of it, or may be some. There may be too many transitions to begin with.
fn used_types(system: &System) -> Result<Vec<bool>, Irreducible> {
    let mut is_used = vec![false; system.processes.len()];
    let size = |process: ProcessId| {
        let ty = system.process(process);
        ty.edges.len().max(ty.locations.len())
    };
    let mut total = 0;
    for instance in &system.start {
        is_used[instance.process.index()] = true;
        total += size(instance.process);
    }
    let mut to_come = vec![false; system.processes.len()];
    for edge in system.processes.iter().flat_map(|process| &process.edges) {
        for process in operations::spawned(edge) {
            is_used[process.index()] = true;
            if !std::mem::replace(&mut to_come[process.index()], true) {
                total += size(process);
            }
        }
    }
    if total > MAX_TRANSITIONS { Err(Irreducible(TOO_MANY.into())) } else { Ok(is_used) }
}

/// Systems in which whether a process may move depends on all others.
fn refuse(system: &System) -> Result<(), Irreducible> {
    let no = |why: &str| Err(Irreducible(why.into()));
    if system.uses_priorities {
        return no("processes have priorities, and so every step may enable or disable any other");
    }
    if system.uses_last {
        return no("the model uses `_last`, which every step changes");
    }
    for feature in system.features() {
        return no(match feature {
            Feature::Synchronous => "everything moves at once, and no two steps are independent",
            Feature::Actions => "processes take actions together, of which the reduction knows nothing yet",
            // They make no difference to what steps do; what is done to objects is known.
            Feature::LocalChoices | Feature::Heap => continue,
        });
    }
    Ok(())
}

/// Steps of a transition that begins with that edge: where its process may be afterwards.
fn step(process: ProcessNumber, edge: &Edge, to: Vec<u32>) -> Step {
    Step { process, from: edge.from.0, to }
}
