//! The operations of an edge: what it waits for and what it does, on which objects.

use std::sync::Arc;

use ample_model::facts::{ChannelOperation, Target, Usage};
use ample_model::visit::{Folder, Made, fold_expr};
use ample_model::{
    Action, BinaryOp, ChannelId, Communication, Edge, Expr, Instruction, Pattern, Place, ProcessId, ProcessType,
    Scalar, Scope, Shared, UnaryOp,
};

use super::fold::{Fold, fixed_slot};
use super::tests::{self, Channels, Sent, Test, Values};
use super::{Bits, Detail, Half, Hope, Key, MAX_CELLS, Question, Unfolding, step};
use crate::scheme::{
    Condition, ConditionNumber, ObjectNumber, Operation, ProcessNumber, Transition, TransitionNumber, Verb,
};

/// Where edges are read.
pub struct Site<'s> {
    /// The type of the process.
    pub process: ProcessId,
    /// The process.
    pub number: ProcessNumber,
    /// Its edges, with what is known put in.
    pub edges: &'s [Edge],
    /// What is known.
    pub fold: &'s Fold<'s>,
    /// The kinds of all channels.
    pub channels: &'s [ChannelId],
    /// The handles of the process's own channels.
    pub own: &'s [u32],
}

/// The types of the processes that an edge creates.
pub fn spawned(edge: &Edge) -> Vec<ProcessId> {
    let mut types = Vec::new();
    for instruction in &edge.effect {
        if let Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) =
            instruction
        {
            types.push(*process);
        }
    }
    types
}

/// All conditions of an edge as expressions: the `provided` clause, the guard, and last the communication.
pub fn conditions(ty: &ProcessType, edge: &Edge) -> Vec<Expr> {
    let mut out = Vec::new();
    for expr in ty.provided.iter().chain(&edge.guard) {
        conjuncts(expr, &mut out);
    }
    if let Some(communication) = &edge.communication {
        let channel = Box::new(communication.channel().clone());
        out.push(match communication {
            Communication::Send { .. } => Expr::unary(UnaryOp::Not, Expr::Full(channel)),
            Communication::Receive { patterns, anywhere, .. } => {
                Expr::Poll { channel, patterns: patterns.clone(), anywhere: *anywhere }
            }
        });
    }
    out
}

fn conjuncts(expr: &Expr, out: &mut Vec<Expr>) {
    if let Expr::Binary(BinaryOp::And, x, y) = expr {
        conjuncts(x, out);
        conjuncts(y, out);
    } else {
        out.push(expr.clone());
    }
}

/// What a part of an edge looks at.
#[derive(Default)]
pub(super) struct Looks {
    /// Operations for the scheme alone.
    pub(super) extra: Vec<Operation>,
    /// What the conditions say of channels.
    pub(super) sure: Vec<(ObjectNumber, Hope)>,
    /// The edge communicates on one of these, before anything else.
    begins: Option<Channels>,
    /// What is looked at may happen more than once.
    repeats: bool,
    /// Sends inside of an atomic sequence that may be handshakes.
    inner: Vec<(Option<Vec<u32>>, Communication)>,
    pub(super) operations: Vec<Operation>,
    is_wild: bool,
    pub(super) wild: Vec<Verb>,
    reads_locals: bool,
    pub(super) is_global: bool,
}

impl Looks {
    fn push(&mut self, object: ObjectNumber, verb: Verb) {
        let operation = Operation { object, verb };
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }

    fn push_wild(&mut self, verb: Verb) {
        self.is_wild = true;
        if !self.wild.contains(&verb) {
            self.wild.push(verb);
        }
    }

    /// The channel may have been used before: by the edge itself, or by what was looked at so far.
    fn may_have_used(&self, channel: ObjectNumber) -> bool {
        let begins = match &self.begins {
            Some(Channels::These(channels)) => channels.contains(&channel),
            Some(Channels::Any) => true,
            None => false,
        };
        let before = || self.operations.iter().any(|operation| operation.object == channel);
        begins || self.repeats || !self.wild.is_empty() || before()
    }

    fn objects(&self) -> Vec<ObjectNumber> {
        let mut objects: Vec<ObjectNumber> = self.operations.iter().map(|operation| operation.object).collect();
        objects.dedup();
        objects
    }
}

impl Unfolding<'_> {
    /// Adds the transition of an edge.
    pub(super) fn add_edge(&mut self, site: &Site<'_>, id: usize) {
        let edge = &site.edges[id];
        let original = &self.system.process(site.process).edges[id];
        let mut detail = Detail::default();
        let begins = edge.communication.as_ref().map(|communication| self.channels(site, communication.channel()).0);
        let mut looks = Looks { begins, ..Looks::default() };
        let expressions = self.types[site.process.index()].expressions[id].clone();
        let mut plain = Vec::new();
        for number in expressions.clone() {
            let is_communication = edge.communication.is_some() && number + 1 == expressions.end;
            let expr = site.fold.expr(&self.expressions[number as usize].1);
            if is_communication || edge.ends_process() && self.counts_processes(site, &expr) {
                continue;
            }
            plain.extend(self.add_condition(site, &expr, number, &mut detail, &mut looks.is_global));
        }
        if edge.ends_process() {
            plain.push(self.add_youngest());
        }
        for condition in &plain {
            if let Test::Length(object, holds) = &self.questions[*condition as usize].test {
                looks.sure.extend((!holds[0]).then_some((*object, Hope::Message)));
                looks.sure.extend((!holds[holds.len() - 1]).then_some((*object, Hope::Room)));
            }
        }
        let mut all = plain.clone();
        // First what is done beside the communication.
        let mut to = vec![edge.to.0];
        self.effect(site, edge, &mut looks, &mut detail);
        self.binds(site, edge, &mut looks);
        if edge.keeps_control {
            self.sequence(site, edge, &mut looks, &mut detail, &mut to);
        }
        self.control(site, edge, &to, &mut looks, &detail);
        let locals = self.object(Key::Locals(site.number));
        looks.extra.push(Operation { object: locals, verb: Verb::Write });
        let (beside, beside_wild) = (looks.operations.clone(), looks.wild.clone());
        let mut halves = None;
        if let Some(communication) = &edge.communication {
            let number = expressions.end - 1;
            let expr = site.fold.expr(&self.expressions[number as usize].1);
            let (condition, question, handles) =
                self.communicate(site, communication, &expr, number, &mut looks, &mut detail);
            all.push(self.push_condition(condition, question));
            // Of a message it is known what it is only if it is the only one.
            detail.sent.retain(|sent| beside_wild.is_empty() && !sent.is_one_of(&beside));
            if !communication.keeps() && handles.as_ref().is_none_or(|handles| !handles.is_empty()) {
                halves = Some(handles);
            }
        }
        let facts = self.lens.edge(site.process, id.into(), edge);
        detail.matters |= facts.all.traits.asserts || facts.all.traits.may_fault || facts.monitored;
        let mut command = looks.operations.clone();
        command.extend(&looks.extra);
        // What the scheme cannot express: siblings that wait for a partner.
        let waits = all.clone().into_iter().any(|condition| self.waits_for_partner(site, condition));
        self.absorb_conditions(&plain, &looks.operations);
        // Nor does it say who looks at a channel that nobody knows.
        let is_wild = !looks.wild.is_empty() || all.iter().any(|number| self.questions[*number as usize].is_wild);
        let transition = Transition {
            steps: vec![step(site.number, edge, to)],
            is_global: looks.is_global || is_wild || waits,
            is_timeout: detail.timeout,
            conditions: all,
            command,
            label: original.label.clone(),
        };
        detail.command = std::mem::take(&mut looks.operations);
        detail.wild = looks.wild;
        detail.is_global = looks.is_global;
        detail.unknowns = self.unknowns(site, edge, &detail);
        let number = self.push_transition(transition, detail);
        for (channels, communication) in looks.inner {
            let (conditions, command, wild) = (Vec::new(), Vec::new(), Vec::new());
            let process = site.number;
            let extra = Vec::new();
            let half = Half { transition: number, process, channels, communication, conditions, command, wild, extra };
            self.inner_senders.push(half);
        }
        if let (Some(channels), Some(communication)) = (halves, &edge.communication) {
            let half = Half {
                transition: number,
                process: site.number,
                channels,
                communication: communication.clone(),
                conditions: plain,
                command: beside,
                wild: beside_wild,
                extra: looks.extra,
            };
            match communication {
                Communication::Send { .. } => self.senders.push(half),
                Communication::Receive { .. } => self.receivers.push(half),
            }
        }
    }

    /// The condition waits for siblings to be blocked, one of which may be half of a handshake.
    fn waits_for_partner(&mut self, site: &Site<'_>, condition: ConditionNumber) -> bool {
        let Test::Blocked(siblings) = &self.questions[condition as usize].test else { return false };
        let first = self.members[site.number as usize].first;
        let channels: Vec<Expr> = siblings
            .iter()
            .filter_map(|sibling| site.edges[(sibling - first) as usize].communication.as_ref())
            .map(|communication| communication.channel().clone())
            .collect();
        channels.iter().any(|channel| self.channels(site, channel).1.is_none_or(|handles| !handles.is_empty()))
    }

    /// A guard that asks whether a send has room, or a receive a message, says no more than that the operation of the
    /// command is defined (restriction R2), and uses no operation of its own.
    fn absorb_conditions(&mut self, conditions: &[ConditionNumber], command: &[Operation]) {
        for condition in conditions {
            let Test::Length(object, holds) = &self.questions[*condition as usize].test else { continue };
            let last = holds.len() - 1;
            let verb = match holds.iter().position(|holds| !holds) {
                Some(0) if holds[1..].iter().all(|holds| *holds) => Verb::Receive,
                Some(place) if place == last && last > 0 => Verb::Send,
                _ => continue,
            };
            let operation = Operation { object: *object, verb };
            if command.contains(&operation) {
                let condition = &mut self.scheme.conditions[*condition as usize];
                (condition.operations, condition.is_definedness) = (vec![operation], true);
            }
        }
    }

    /// The condition is about the number of processes and nothing else: an edge that ends its process says in other words
    /// that it must be the youngest.
    fn counts_processes(&self, site: &Site<'_>, expr: &Expr) -> bool {
        let usage = self.lens.expr(site.process, expr);
        let traits = ample_model::facts::Traits { process_count: true, ..Default::default() };
        let plain = usage.reads.is_empty() && usage.channels.is_empty() && usage.remote_reads.is_empty();
        usage.traits == traits && plain && usage.blocked.is_empty() && expr == &site.fold.expr(&youngest())
    }

    /// What the rest of an atomic sequence may do, and where it may end. Its guards decide that, so that what they look
    /// at is looked at by the transition.
    fn sequence(&mut self, site: &Site<'_>, edge: &Edge, looks: &mut Looks, detail: &mut Detail, to: &mut Vec<u32>) {
        let locations = &self.system.process(site.process).locations;
        let types = &self.types[site.process.index()];
        let mut inside: Vec<(&Edge, bool)> = Vec::new();
        let mut known: Bits = to.iter().copied().collect();
        let mut next = 0;
        while let Some(location) = to.get(next).copied() {
            // Only where control is kept does the sequence go on.
            let goes_on = next == 0 && edge.keeps_control || types.controlled.contains(location);
            next += 1;
            if !goes_on {
                continue;
            }
            for id in &locations[location as usize].edges {
                let inner = &site.edges[id.index()];
                let repeats = inner.keeps_control && types.kept[inner.to.index()].contains(inner.from.0);
                inside.push((inner, repeats));
                if known.insert(inner.to.0) {
                    to.push(inner.to.0);
                }
            }
        }
        for (inner, repeats) in inside {
            looks.repeats = repeats;
            self.inner(site, inner, looks, detail);
        }
        looks.repeats = false;
    }

    /// An edge inside of an atomic sequence.
    fn inner(&mut self, site: &Site<'_>, edge: &Edge, looks: &mut Looks, detail: &mut Detail) {
        let provided = self.system.process(site.process).provided.as_ref().map(|provided| site.fold.expr(provided));
        let guard = edge.guard.iter().chain(&provided);
        let usages: Vec<Usage> = guard.map(|expr| self.lens.expr(site.process, expr)).collect();
        for usage in usages {
            // Nobody else can move: `timeout` and siblings are a matter of what the guards look at.
            looks.is_global |= usage.traits.timeout;
            self.look(site, &usage, looks);
        }
        self.effect(site, edge, looks, detail);
        self.binds(site, edge, looks);
        if edge.ends_process() && !self.anonymous {
            let processes = self.object(Key::Processes);
            looks.push(processes, Verb::Read);
        }
        let Some(communication) = &edge.communication else { return };
        let usage = self.communication_usage(site, communication);
        self.look(site, &usage, looks);
        let (channels, handles) = self.channels(site, communication.channel());
        // Another process may take the message at once, and go on.
        let is_send = matches!(communication, Communication::Send { .. });
        if is_send && handles.as_ref().is_none_or(|handles| !handles.is_empty()) {
            looks.inner.push((handles, communication.clone()));
        }
        self.hope(channels, communication, looks, detail);
    }

    /// A communication that fails if it cannot happen at once: what comes of it depends on the channel.
    fn hope(&mut self, channels: Channels, communication: &Communication, looks: &mut Looks, detail: &mut Detail) {
        let verb = verb_of(communication);
        let verbs = [verb, Verb::Search, Verb::Length];
        let hope = match verb {
            Verb::Send => Some(Hope::Room),
            Verb::Receive => Some(Hope::Message),
            _ => None,
        };
        match (channels, hope) {
            (Channels::These(objects), Some(hope)) if objects.len() == 1 => {
                if looks.may_have_used(objects[0]) {
                    // The state before determines only the first communication on a channel.
                    verbs.iter().for_each(|verb| looks.push(objects[0], *verb));
                } else {
                    looks.push(objects[0], verb);
                    if !looks.sure.contains(&(objects[0], hope)) {
                        detail.hopes.push((objects[0], hope));
                        let told = [Verb::Search, Verb::Length].map(|verb| Operation { object: objects[0], verb });
                        looks.extra.extend(told);
                    }
                }
            }
            (Channels::These(objects), _) => {
                for object in objects {
                    verbs.iter().for_each(|verb| looks.push(object, *verb));
                }
            }
            (Channels::Any, _) => verbs.iter().for_each(|verb| looks.push_wild(*verb)),
        }
    }

    /// The process leaves its location, if somebody looks at that.
    pub(super) fn control(&mut self, site: &Site<'_>, edge: &Edge, to: &[u32], looks: &mut Looks, detail: &Detail) {
        if self.watched.contains(&site.process) && (to != [edge.from.0] || detail.ends) {
            let place = self.object(Key::Place(site.process));
            looks.push(place, Verb::Write);
        }
    }

    /// What an effect does.
    pub(super) fn effect(&mut self, site: &Site<'_>, edge: &Edge, looks: &mut Looks, detail: &mut Detail) {
        let is_straight = edge.effect.iter().all(|instruction| matches!(instruction, Instruction::Do(_)));
        // Cells that are written more than once, or read and written, are written somehow.
        let mut once: Vec<(ObjectNumber, Option<Verb>)> = Vec::new();
        let repeats = looks.repeats;
        looks.repeats |= has_loop(&edge.effect);
        for instruction in &edge.effect {
            let (Instruction::Do(action) | Instruction::Try(action, _)) = instruction else { continue };
            match action {
                Action::Assign(place, value) => {
                    self.assign(site, place, value, is_straight, looks, &mut once);
                    self.refers(place.scalar, looks);
                }
                // The cells are written somehow, whatever the values are.
                Action::AssignAll(pairs) => {
                    pairs.iter().for_each(|(place, value)| self.assign(site, place, value, false, looks, &mut once));
                    pairs.iter().for_each(|(place, _)| self.refers(place.scalar, looks));
                }
                Action::AssignField(parts) => {
                    let (object, field, value) = &**parts;
                    let read = Expr::Field(Box::new(object.clone()), field.clone());
                    for expr in [&read, value] {
                        let usage = self.lens.expr(site.process, expr);
                        self.look(site, &usage, looks);
                    }
                    let cells = self.object(Key::Objects(field.record));
                    looks.push(cells, Verb::Write);
                    self.refers(field.scalar, looks);
                }
                Action::Allocate(place, _) => {
                    // Whatever is assigned, it is not known before.
                    self.assign(site, place, &Expr::SelfId, false, looks, &mut once);
                    self.refers(place.scalar, looks);
                }
                Action::Test(expr) | Action::Assert { condition: expr, .. } => {
                    let usage = self.lens.expr(site.process, expr);
                    self.look(site, &usage, looks);
                }
                Action::Print { arguments, .. } => {
                    for expr in arguments {
                        let usage = self.lens.expr(site.process, expr);
                        self.look(site, &usage, looks);
                    }
                }
                Action::Communicate(communication) => self.communicate_inside(site, communication, looks, detail),
                Action::Spawn { process, arguments, .. } => self.spawn(site, *process, arguments, looks, detail),
                Action::SetPriority(..) => looks.is_global = true,
                Action::End => {
                    detail.ends = true;
                    let scalars = self.system.process(site.process).locals.iter();
                    let scalars: Vec<Scalar> = scalars.flat_map(|variable| self.system.scalars(&variable.ty)).collect();
                    scalars.into_iter().for_each(|scalar| self.refers(scalar, looks));
                    self.end(site, looks);
                }
            }
        }
        looks.repeats = repeats;
        for (object, verb) in once {
            let touched = looks.operations.iter().any(|operation| operation.object == object);
            looks.push(object, if touched { Verb::Write } else { verb.unwrap_or(Verb::Write) });
        }
        let usage = self.lens.edge(site.process, 0usize.into(), edge);
        if usage.monitored {
            let monitor = self.object(Key::Monitor);
            looks.push(monitor, Verb::Write);
        }
    }

    /// A reference is changed: the object that it referred to may be garbage, and so there may be room for another one.
    fn refers(&mut self, scalar: Scalar, looks: &mut Looks) {
        if matches!(scalar, Scalar::Reference(_)) {
            let heap = self.object(Key::Heap);
            looks.push(heap, Verb::Write);
        }
    }

    fn assign(
        &mut self,
        site: &Site<'_>,
        place: &Place,
        value: &Expr,
        is_straight: bool,
        looks: &mut Looks,
        once: &mut Vec<(ObjectNumber, Option<Verb>)>,
    ) {
        let (cells, usage) = self.lens.place(site.process, place);
        self.look(site, &usage, looks);
        let objects = self.cells(site, &cells, true);
        let fixed = is_straight && fixed_slot(place).is_some() && objects.len() == 1;
        let verb = if fixed { verb_for(place, value) } else { None };
        if !matches!(verb, Some(Verb::Add(_) | Verb::Complement)) {
            let usage = self.lens.expr(site.process, value);
            self.look(site, &usage, looks);
        }
        for object in objects {
            match once.iter_mut().find(|(other, _)| *other == object) {
                Some((_, before)) => *before = None,
                None => once.push((object, verb)),
            }
        }
    }

    /// A communication inside of an effect: it may fail, and what happens then depends on the channel.
    fn communicate_inside(
        &mut self,
        site: &Site<'_>,
        communication: &Communication,
        looks: &mut Looks,
        detail: &mut Detail,
    ) {
        let usage = self.communication_usage(site, communication);
        self.look(site, &usage, looks);
        let (channels, _) = self.channels(site, communication.channel());
        self.hope(channels, communication, looks, detail);
        if let Communication::Receive { patterns, .. } = communication {
            self.bind(site, patterns, looks);
        }
    }

    fn spawn(
        &mut self,
        site: &Site<'_>,
        process: ProcessId,
        arguments: &[Expr],
        looks: &mut Looks,
        detail: &mut Detail,
    ) {
        let spawn = Action::Spawn { process, arguments: arguments.to_vec(), priority: None };
        let edge = Edge {
            from: 0usize.into(),
            to: 0usize.into(),
            guard: Vec::new(),
            communication: None,
            effect: vec![Instruction::Do(spawn)],
            keeps_control: false,
            action: None,
            origin: Vec::new(),
            span: None,
            label: String::new(),
        };
        let usage = self.lens.edge(site.process, 0usize.into(), &edge).effect;
        self.look(site, &usage, looks);
        self.change_processes(looks);
        self.come_or_go(process, looks);
        if !detail.spawns.contains(&process) {
            detail.spawns.push(process);
        }
    }

    fn end(&mut self, site: &Site<'_>, looks: &mut Looks) {
        self.change_processes(looks);
        self.come_or_go(site.process, looks);
        for handle in site.own {
            let Some(kind) = site.channels.get(*handle as usize - 1) else { continue };
            if self.system.channels[kind.index()].capacity > 0 {
                let object = self.object(Key::Channel(*handle, *kind));
                for verb in [Verb::Send, Verb::Receive, Verb::Search, Verb::Length] {
                    looks.push(object, verb);
                }
            }
        }
        if site.own.is_empty() && super::own_channels(self.system, site.process) > 0 {
            for verb in [Verb::Send, Verb::Receive, Verb::Search, Verb::Length] {
                looks.push_wild(verb);
            }
        }
    }

    fn change_processes(&mut self, looks: &mut Looks) {
        if !self.anonymous {
            let processes = self.object(Key::Processes);
            looks.push(processes, Verb::Write);
        }
    }

    /// What others see of a process that comes or goes.
    fn come_or_go(&mut self, process: ProcessId, looks: &mut Looks) {
        if self.watched.contains(&process) {
            let place = self.object(Key::Place(process));
            looks.push(place, Verb::Write);
        }
        let variables: Vec<_> = self.remote.iter().filter(|(of, _)| *of == process).map(|(_, v)| *v).collect();
        for variable in variables {
            let object = self.object(Key::Remote(process, variable));
            looks.push(object, Verb::Write);
        }
    }

    /// The places that a receive writes to.
    pub(super) fn binds(&mut self, site: &Site<'_>, edge: &Edge, looks: &mut Looks) {
        if let Some(Communication::Receive { patterns, .. }) = &edge.communication {
            self.bind(site, patterns, looks);
        }
    }

    fn bind(&mut self, site: &Site<'_>, patterns: &[Pattern], looks: &mut Looks) {
        for pattern in patterns {
            let Pattern::Bind(place) = pattern else { continue };
            let (cells, usage) = self.lens.place(site.process, place);
            self.look(site, &usage, looks);
            for object in self.cells(site, &cells, true) {
                looks.push(object, Verb::Write);
            }
        }
    }

    /// What a communication reads, the channel itself aside.
    fn communication_usage(&self, site: &Site<'_>, communication: &Communication) -> Usage {
        let mut all = Usage::default();
        for expr in communication.expressions() {
            let usage = self.lens.expr(site.process, expr);
            all.reads.extend(usage.reads);
            all.remote_reads.extend(usage.remote_reads);
            all.locations_of.extend(usage.locations_of);
            all.channels.extend(usage.channels);
            all.blocked.extend(usage.blocked);
            all.objects.extend(usage.objects);
            all.traits.enabled |= usage.traits.enabled;
            all.traits.timeout |= usage.traits.timeout;
            all.traits.location_of |= usage.traits.location_of;
            all.traits.process_count |= usage.traits.process_count;
            all.traits.priority |= usage.traits.priority;
        }
        all
    }

    /// Notes what is read.
    fn look(&mut self, site: &Site<'_>, usage: &Usage, looks: &mut Looks) {
        let traits = &usage.traits;
        looks.is_global |= traits.enabled
            || traits.last_mover
            || traits.priority
            || traits.sets_priority
            || traits.non_progress
            || traits.accepting;
        for cells in &usage.reads {
            looks.reads_locals |= cells.scope == Scope::Local && !self.types[site.process.index()].loops;
            for object in self.cells(site, cells, false) {
                looks.push(object, Verb::Read);
            }
        }
        for (process, cells) in &usage.remote_reads {
            let object = self.object(Key::Remote(*process, cells.variable));
            looks.push(object, Verb::Read);
        }
        for record in &usage.objects {
            let object = self.object(Key::Objects(*record));
            looks.push(object, Verb::Read);
        }
        let types: Vec<ProcessId> = if traits.location_of {
            (0..self.system.processes.len()).map(ProcessId::from).collect()
        } else {
            usage.locations_of.clone()
        };
        for process in types {
            let object = self.object(Key::Place(process));
            looks.push(object, Verb::Read);
        }
        if traits.process_count && !self.anonymous {
            let object = self.object(Key::Processes);
            looks.push(object, Verb::Read);
        }
        for used in &usage.channels {
            let verbs: &[Verb] = match used.operation {
                ChannelOperation::Length => &[Verb::Length],
                ChannelOperation::Full => &[Verb::Full],
                ChannelOperation::Poll => &[Verb::Search],
                _ => continue,
            };
            match self.channels(site, &used.handle).0 {
                Channels::These(objects) => {
                    for object in objects {
                        verbs.iter().for_each(|verb| looks.push(object, *verb));
                    }
                }
                Channels::Any => verbs.iter().for_each(|verb| looks.push_wild(*verb)),
            }
        }
    }

    /// The objects that cells are part of. Cells that nobody writes are none, and cells that only their own process
    /// sees neither, unless its transitions can be taken in any order.
    fn cells(&mut self, site: &Site<'_>, cells: &ample_model::facts::Cells, write: bool) -> Vec<ObjectNumber> {
        let variable = cells.variable;
        match cells.scope {
            Scope::Global => {
                if !self.lens.is_assigned(variable) {
                    return Vec::new();
                }
                let slots = self.system.slots(&self.system.globals[variable.index()].ty);
                if slots > MAX_CELLS {
                    return vec![self.object(Key::Array(variable))];
                }
                let (first, end) = cells.slots.unwrap_or((0, slots));
                (first..end.min(slots)).map(|slot| self.object(Key::Global(variable, slot))).collect()
            }
            Scope::Local => {
                let mut objects = Vec::new();
                if write && self.remote.contains(&(site.process, variable)) {
                    objects.push(self.object(Key::Remote(site.process, variable)));
                }
                if self.types[site.process.index()].loops {
                    let slots = self.system.slots(&self.system.process(site.process).locals[variable.index()].ty);
                    let (first, end) = if slots > MAX_CELLS { (0, 1) } else { cells.slots.unwrap_or((0, slots)) };
                    for slot in first..end.min(slots) {
                        objects.push(self.object(Key::Local(site.number, variable, slot)));
                    }
                }
                objects
            }
        }
    }

    /// The buffered channels that a handle may mean, and those of capacity 0; none of the latter is known if it may
    /// mean any.
    fn channels(&mut self, site: &Site<'_>, handle: &Expr) -> (Channels, Option<Vec<u32>>) {
        let handles = match handle {
            Expr::Const(handle) => u32::try_from(*handle).ok().map(|handle| vec![handle]),
            other => match self.lens.target(site.process, other) {
                Target::Global(handles) => Some(handles),
                Target::Own(_) | Target::Unknown => None,
            },
        };
        let global = self.lens.global_kinds().to_vec();
        let kind_of = |handle: u32| {
            let index = (handle as usize).checked_sub(1)?;
            global.get(index).or_else(|| site.channels.get(index)).copied()
        };
        let Some(handles) = handles else { return (Channels::Any, None) };
        let mut buffered = Vec::new();
        let mut immediate = Vec::new();
        for handle in handles {
            match kind_of(handle) {
                Some(kind) if self.system.channels[kind.index()].capacity == 0 => immediate.push(handle),
                Some(kind) => buffered.push(self.object(Key::Channel(handle, kind))),
                // No channel at all: a fault, which depends on the handle.
                None if handle == 0 => {}
                None => return (Channels::Any, None),
            }
        }
        (Channels::These(buffered), Some(immediate))
    }

    /// Adds a condition of the guard; none if it always holds.
    fn add_condition(
        &mut self,
        site: &Site<'_>,
        expr: &Expr,
        number: u32,
        detail: &mut Detail,
        is_global: &mut bool,
    ) -> Option<ConditionNumber> {
        let (condition, question) = self.condition(site, expr, number, detail, is_global)?;
        Some(self.push_condition(condition, question))
    }

    /// A condition of the guard; none if it always holds.
    pub(super) fn condition(
        &mut self,
        site: &Site<'_>,
        expr: &Expr,
        number: u32,
        detail: &mut Detail,
        is_global: &mut bool,
    ) -> Option<(Condition, Question)> {
        let text = self.system.show_expr(Some(site.process), expr);
        let expression = Some((number, site.number));
        let nothing = Question {
            test: Test::Never,
            objects: vec![],
            is_wild: false,
            reads_locals: false,
            expression,
            may_fault: false,
        };
        let simple = |operations: Vec<Operation>| Condition { operations, is_definedness: false, text: text.clone() };
        match expr {
            Expr::Const(0) => return Some((simple(vec![]), nothing)),
            Expr::Const(_) => return None,
            Expr::Timeout => {
                detail.timeout = true;
                let question = Question { test: Test::Timeout, ..nothing };
                return Some((simple(vec![]), question));
            }
            Expr::Blocked(edges) => {
                let first = self.members[site.number as usize].first;
                let siblings: Vec<TransitionNumber> = edges.iter().map(|edge| first + edge.0).collect();
                let mut looks = Looks::default();
                let mut may_fault = false;
                for id in edges {
                    let edge = &site.edges[id.index()];
                    self.inner_guard(site, edge, &mut looks);
                    may_fault |= self.lens.edge(site.process, *id, edge).guard_may_fault();
                }
                *is_global |= looks.is_global;
                let question = Question {
                    test: Test::Blocked(siblings),
                    objects: looks.objects(),
                    is_wild: looks.is_wild,
                    reads_locals: true,
                    expression,
                    may_fault,
                };
                let operations = self.with_locals(site, looks.operations, true);
                return Some((simple(operations), question));
            }
            _ => {}
        }
        let usage = self.lens.expr(site.process, expr);
        let mut looks = Looks::default();
        self.look(site, &usage, &mut looks);
        *is_global |= looks.is_global || usage.traits.timeout || !usage.blocked.is_empty();
        let test = self.classify(expr, &usage, &looks);
        let question = Question {
            test,
            objects: looks.objects(),
            is_wild: looks.is_wild,
            reads_locals: looks.reads_locals,
            expression,
            may_fault: false,
        };
        let mut operations = looks.operations;
        if let Test::Length(object, holds) = &question.test {
            operations = vec![Operation { object: *object, verb: length_verb(holds) }];
        }
        let operations = self.with_locals(site, operations, looks.reads_locals);
        Some((simple(operations), question))
    }

    /// The operations of a condition, with a look at all local variables if it looks at one.
    fn with_locals(&mut self, site: &Site<'_>, mut operations: Vec<Operation>, reads_locals: bool) -> Vec<Operation> {
        if reads_locals {
            let object = self.object(Key::Locals(site.number));
            operations.push(Operation { object, verb: Verb::Read });
        }
        operations
    }

    /// What the guard and the communication of an edge look at.
    fn inner_guard(&mut self, site: &Site<'_>, edge: &Edge, looks: &mut Looks) {
        for expr in &edge.guard {
            let usage = self.lens.expr(site.process, expr);
            looks.is_global |= usage.traits.timeout;
            self.look(site, &usage, looks);
        }
        let Some(communication) = &edge.communication else { return };
        let usage = self.communication_usage(site, communication);
        self.look(site, &usage, looks);
        match self.channels(site, communication.channel()).0 {
            Channels::These(objects) => {
                for object in objects {
                    looks.push(object, Verb::Search);
                    looks.push(object, Verb::Length);
                }
            }
            Channels::Any => {
                looks.push_wild(Verb::Search);
                looks.push_wild(Verb::Length);
            }
        }
    }

    /// A condition on one cell, or on the length of one channel.
    fn classify(&self, expr: &Expr, usage: &Usage, looks: &Looks) -> Test {
        let plain = !looks.is_wild && usage.remote_reads.is_empty() && usage.locations_of.is_empty();
        let [operation] = looks.operations[..] else { return Test::Other };
        if !plain || looks.reads_locals && !usage.channels.is_empty() {
            return Test::Other;
        }
        if operation.verb == Verb::Read && usage.channels.is_empty() {
            // The only unknown must be one cell of a known type.
            let mut scalars = Vec::new();
            expr.walk(&mut |part| {
                if let Expr::Read(place) = part {
                    scalars.push((place.scalar, fixed_slot(place).is_some(), place.scope));
                }
            });
            if let Some((scalar, ..)) = scalars.first()
                && scalars.iter().all(|(other, fixed, scope)| {
                    other == scalar && *fixed && (*scope == Scope::Global || scalars.len() == 1)
                })
                && let Some(values) = Values::of(expr, *scalar)
                && !looks.reads_locals
            {
                return Test::Cell(operation.object, values);
            }
            return Test::Other;
        }
        if usage.reads.is_empty()
            && let crate::scheme::Kind::Channel { capacity } = self.scheme.objects[operation.object as usize].kind
            && capacity <= 64
            && matches!(operation.verb, Verb::Length | Verb::Full)
        {
            let full = |length: u32| replace_full(expr, length == capacity);
            let holds: Option<Vec<bool>> =
                (0..=capacity).map(|n| tests::evaluate(&full(n), n.into()).map(|value| value != 0)).collect();
            if let Some(holds) = holds {
                return Test::Length(operation.object, holds);
            }
        }
        Test::Other
    }

    fn add_youngest(&mut self) -> ConditionNumber {
        // Who has come to his end is as good as gone, if nobody can tell.
        let objects = if self.anonymous { Vec::new() } else { vec![self.object(Key::Processes)] };
        let operations = objects.iter().map(|object| Operation { object: *object, verb: Verb::Read }).collect();
        let condition = Condition { operations, is_definedness: false, text: "it is the youngest process".into() };
        let question = Question {
            test: Test::Youngest,
            objects,
            is_wild: false,
            reads_locals: false,
            expression: None,
            may_fault: false,
        };
        self.push_condition(condition, question)
    }

    /// The communication of an edge: its operations, its condition, and the handles of the channels of capacity 0 that
    /// it may mean.
    pub(super) fn communicate(
        &mut self,
        site: &Site<'_>,
        communication: &Communication,
        ready: &Expr,
        number: u32,
        looks: &mut Looks,
        detail: &mut Detail,
    ) -> (Condition, Question, Option<Vec<u32>>) {
        let usage = self.communication_usage(site, communication);
        let mut reads = Looks::default();
        self.look(site, &usage, &mut reads);
        looks.is_global |= reads.is_global || usage.traits.timeout || !usage.blocked.is_empty();
        let (channels, immediate) = self.channels(site, communication.channel());
        let verb = verb_of(communication);
        let is_fixed = matches!(communication.channel(), Expr::Const(_));
        let sees_nothing = reads.operations.is_empty() && !reads.is_wild;
        // What it sends is read when it moves, and who waits for room does not ask for it.
        let handle = self.lens.expr(site.process, communication.channel());
        let mut asked = Looks::default();
        let is_send = matches!(communication, Communication::Send { .. });
        // Without a buffer it is a fault that can happen alone, if anything.
        let is_sound = self.is_sound(site, communication, immediate.as_deref());
        let is_buffered = immediate.as_ref().is_some_and(Vec::is_empty);
        if is_send && (is_sound || is_buffered) {
            self.look(site, &handle, &mut asked);
        } else {
            self.look(site, &usage, &mut asked);
        }
        let mut question = Question {
            test: Test::Other,
            objects: asked.objects(),
            is_wild: asked.is_wild,
            reads_locals: asked.reads_locals,
            expression: Some((number, site.number)),
            may_fault: false,
        };
        let mut operations = asked.operations.clone();
        match &channels {
            Channels::These(objects) => {
                for object in objects {
                    question.objects.push(*object);
                    operations.push(Operation { object: *object, verb });
                    looks.push(*object, verb);
                    if let Communication::Send { values, .. } = communication
                        && let Some(fields) = self.fields_of(*object)
                    {
                        detail.sent.push(Sent { object: *object, fields: tests::sent_fields(values, &fields) });
                    }
                }
                question.test = match (objects.as_slice(), communication) {
                    ([], _) if is_sound => Test::Never,
                    ([object], Communication::Send { .. }) if is_fixed => Test::Room(*object),
                    ([object], Communication::Receive { patterns, anywhere, .. }) if is_fixed && sees_nothing => {
                        Test::Message { object: *object, anywhere: *anywhere, fields: tests::wanted_fields(patterns) }
                    }
                    _ => Test::Other,
                };
            }
            Channels::Any => {
                question.is_wild = true;
                looks.push_wild(verb);
            }
        }
        for operation in reads.operations {
            looks.push(operation.object, operation.verb);
        }
        reads.wild.iter().for_each(|verb| looks.push_wild(*verb));
        let text = self.system.show_expr(Some(site.process), ready);
        let operations = self.with_locals(site, operations, question.reads_locals);
        let is_definedness = matches!(question.test, Test::Room(_) | Test::Message { .. });
        let condition = Condition { operations, is_definedness, text };
        (condition, question, immediate)
    }

    /// A communication on one of these channels of capacity 0 is no fault; if it may be on any, neither for its fields.
    fn is_sound(&self, site: &Site<'_>, communication: &Communication, immediate: Option<&[u32]>) -> bool {
        let may_fault = |expr: &&Expr| self.lens.expr(site.process, expr).traits.may_fault;
        let count = match communication {
            Communication::Send { values, .. } => values.len(),
            Communication::Receive { patterns, .. } => patterns.len(),
        };
        let global = self.lens.global_kinds();
        let fits = |handle: &u32| {
            let index = *handle as usize - 1;
            let kind = global.get(index).or_else(|| site.channels.get(index));
            kind.is_some_and(|kind| self.system.channels[kind.index()].fields.len() == count)
        };
        let fitting = immediate.is_none_or(|handles| !handles.is_empty() && handles.iter().all(fits));
        fitting && !communication.keeps() && !communication.expressions().iter().any(may_fault)
    }

    fn fields_of(&self, object: ObjectNumber) -> Option<Vec<Scalar>> {
        let (_, kind) = self.handles[object as usize]?;
        Some(self.system.channels[kind.index()].fields.clone())
    }

    /// The condition that the two halves of a handshake fit.
    pub(super) fn add_match(
        &mut self,
        communications: &[Communication; 2],
        numbers: &[ProcessNumber; 2],
    ) -> ConditionNumber {
        let mut looks = Looks::default();
        let mut operations = Vec::new();
        for (communication, number) in communications.iter().zip(numbers) {
            let process = self.members[*number as usize].process;
            let lens = Arc::clone(&self.lens);
            let fold = Fold {
                system: self.system,
                lens: &lens,
                id: None,
                constants: Default::default(),
                made: Default::default(),
            };
            let site = Site { process, number: *number, edges: &[], fold: &fold, channels: &[], own: &[] };
            let usage = self.communication_usage(&site, communication);
            self.look(&site, &usage, &mut looks);
            let object = self.object(Key::Locals(*number));
            operations.push(Operation { object, verb: Verb::Read });
        }
        operations.extend(&looks.operations);
        let condition = Condition { operations, is_definedness: false, text: "the message fits".into() };
        let question = Question {
            test: Test::Fits,
            objects: looks.objects(),
            is_wild: looks.is_wild,
            reads_locals: true,
            expression: None,
            may_fault: false,
        };
        self.push_condition(condition, question)
    }

    /// What an expression over whole states asks, and what it looks at.
    pub(super) fn seen(&mut self, site: &Site<'_>, expr: &Expr) -> (Test, Vec<ObjectNumber>, bool) {
        let usage = self.lens.expr(site.process, expr);
        let mut looks = Looks::default();
        self.look(site, &usage, &mut looks);
        (self.classify(expr, &usage, &looks), looks.objects(), looks.is_wild)
    }
}

/// Some instruction leads back.
fn has_loop(effect: &[Instruction]) -> bool {
    effect.iter().enumerate().any(|(number, instruction)| match instruction {
        Instruction::Try(_, to) | Instruction::Jump(to) => *to as usize <= number,
        _ => false,
    })
}

/// How a front end says that the process is the youngest.
pub fn youngest() -> Expr {
    let last = Expr::binary(BinaryOp::Subtract, Expr::ProcessCount, Expr::Const(1));
    Expr::binary(BinaryOp::Equal, Expr::SelfId, last)
}

/// The expression with the answer to whether the channel is full.
fn replace_full(expr: &Expr, full: bool) -> Expr {
    ReplaceFull { full, made: Made::default() }.expr(expr)
}

struct ReplaceFull {
    full: bool,
    made: Made,
}

impl Folder for ReplaceFull {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Full(_) => Expr::Const(self.full.into()),
            Expr::Unary(..) | Expr::Binary(..) | Expr::Cast(..) | Expr::Shared(_) => fold_expr(self, expr),
            other => other.clone(),
        }
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        if !shared.is_nested() {
            return self.expr(shared);
        }
        self.made.get(shared).unwrap_or_else(|| {
            let made = self.expr(shared);
            self.made.keep(shared, made)
        })
    }
}

/// How a condition looks at the length of a channel, by the lengths for which it holds.
fn length_verb(holds: &[bool]) -> Verb {
    let is_same = |holds: &[bool]| holds.windows(2).all(|pair| pair[0] == pair[1]);
    match holds {
        [_, rest @ ..] if is_same(rest) => Verb::Empty,
        [rest @ .., _] if is_same(rest) => Verb::Full,
        _ => Verb::Length,
    }
}

fn verb_of(communication: &Communication) -> Verb {
    match communication {
        Communication::Send { sorted: false, .. } => Verb::Send,
        Communication::Send { sorted: true, .. } => Verb::SendSorted,
        Communication::Receive { keep: true, anywhere: false, .. } => Verb::Peek,
        Communication::Receive { keep: true, anywhere: true, .. } => Verb::Search,
        Communication::Receive { anywhere: true, .. } => Verb::ReceiveAnywhere,
        Communication::Receive { .. } => Verb::Receive,
    }
}

/// What an assignment does to a cell that it does not otherwise depend on.
fn verb_for(place: &Place, value: &Expr) -> Option<Verb> {
    match value {
        Expr::Const(value) => place.scalar.fit(*value).map(Verb::Set),
        // Promela's arithmetic is modulo 2^32, and so is any smaller type's.
        Expr::Cast(Scalar::Int { bits, .. }, inner) => match place.scalar {
            Scalar::Int { bits: kept, .. } if kept <= *bits => verb_for_sum(place, inner),
            _ => None,
        },
        Expr::Unary(UnaryOp::Not, x) if **x == Expr::Read(place.clone()) => {
            (place.scalar == Scalar::BOOL).then_some(Verb::Complement)
        }
        _ => match place.scalar {
            Scalar::Int { .. } => verb_for_sum(place, value),
            _ => None,
        },
    }
}

fn verb_for_sum(place: &Place, value: &Expr) -> Option<Verb> {
    let Expr::Binary(op, x, y) = value else { return None };
    let is_place = |expr: &Expr| *expr == Expr::Read(place.clone());
    match (op, &**x, &**y) {
        (BinaryOp::Add, x, Expr::Const(by)) | (BinaryOp::Add, Expr::Const(by), x) if is_place(x) => {
            Some(Verb::Add(*by))
        }
        (BinaryOp::Subtract, x, Expr::Const(by)) if is_place(x) => by.checked_neg().map(Verb::Add),
        (BinaryOp::Subtract, Expr::Const(1), x) if is_place(x) && place.scalar == Scalar::BOOL => {
            Some(Verb::Complement)
        }
        _ => None,
    }
}
