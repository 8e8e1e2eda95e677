//! Taking an edge symbolically: communication, monitor, effect.
//!
//! A step runs in branches, each with the condition under which it is taken. Within a branch the state is
//! as plain as the interpreter's; where branches meet again, their states are merged cell by cell.
//! Faults, violations and lack of room are collected under the conditions of their branches.

use std::collections::BTreeMap;

use ample_model::{
    Action, ChannelId, Communication, Edge, EventKind, Expr, Initial, Instruction, LocationId, Monitor, Pattern, Place,
    ProcessId, Variable,
};

use crate::Unsupported;
use crate::dag::Lit;
use crate::evaluate::{Me, Offer, View};
use crate::layout::MAX_CHANNELS;
use crate::symbolic::{Candidate, Maker, Symbolic, Truth};
use crate::word::Word;

/// How many instructions are run before an effect counts as endless.
const MAX_INSTRUCTIONS: usize = 2_000;

/// The conditions under which something goes wrong in a step; in the midst of it, those so far.
pub(crate) struct Conditions {
    /// The value of `timeout`.
    pub timeout: Lit,
    pub fault: Lit,
    pub violation: Lit,
    /// A process has no slot.
    pub overflow: Lit,
}

impl Conditions {
    pub fn new(timeout: Lit) -> Conditions {
        Conditions { timeout, fault: Lit::FALSE, violation: Lit::FALSE, overflow: Lit::FALSE }
    }
}

/// A step under way.
#[derive(Clone)]
pub(crate) struct Branch {
    /// Where it is in this branch; relative to where the step is taken at all.
    pub path: Lit,
    pub state: Symbolic,
}

/// An event that the monitor may see.
struct Event<'a> {
    kind: EventKind,
    queue: usize,
    channel: ChannelId,
    message: &'a [Word],
}

impl Maker<'_> {
    fn fault(&mut self, conditions: &mut Conditions, branch: &Branch, when: Lit) {
        let here = self.dag.and(branch.path, when);
        conditions.fault = self.dag.or(conditions.fault, here);
    }

    fn violation(&mut self, conditions: &mut Conditions, branch: &Branch, when: Lit) {
        let here = self.dag.and(branch.path, when);
        conditions.violation = self.dag.or(conditions.violation, here);
    }

    /// A step of one process.
    pub fn alone(
        &mut self,
        conditions: &mut Conditions,
        state: Symbolic,
        me: Me,
        edge: &Edge,
    ) -> Result<Symbolic, Unsupported> {
        let mut branch = Branch { path: Lit::TRUE, state };
        if let Some(communication) = &edge.communication {
            branch = self.communicate(conditions, branch, me, communication)?;
        }
        let (mut branch, lives) = self.effect(conditions, branch, me, edge)?;
        self.arrive(&mut branch.state, me, edge, lives);
        self.pass_control(&mut branch.state, &[(me, edge)], lives);
        Ok(branch.state)
    }

    /// Both events, then the receiver's bindings and effect, then the sender's effect.
    pub fn handshake(
        &mut self,
        conditions: &mut Conditions,
        branch: Branch,
        sender: (Me, &Edge),
        receiver: (Me, &Edge),
        offer: &Offer,
    ) -> Result<Branch, Unsupported> {
        let Some(Communication::Receive { patterns, .. }) = &receiver.1.communication else { return Ok(branch) };
        let mut branch = branch;
        if patterns.len() != self.kind(offer.kind).fields.len() {
            self.fault(conditions, &branch, Lit::TRUE);
        }
        for kind in [EventKind::Send, EventKind::Receive] {
            let event = Event { kind, queue: offer.queue, channel: offer.kind, message: &offer.message };
            self.event(conditions, &mut branch, &event)?;
        }
        self.bind(conditions, &mut branch, receiver.0, patterns, &offer.message)?;
        let (branch, receiver_lives) = self.effect(conditions, branch, receiver.0, receiver.1)?;
        let (mut branch, sender_lives) = self.effect(conditions, branch, sender.0, sender.1)?;
        self.arrive(&mut branch.state, sender.0, sender.1, sender_lives);
        self.arrive(&mut branch.state, receiver.0, receiver.1, receiver_lives);
        self.pass_control(&mut branch.state, &[sender, receiver], receiver_lives);
        Ok(branch)
    }

    /// The process stands at the end of the edge, and has moved last.
    fn arrive(&mut self, state: &mut Symbolic, me: Me, edge: &Edge, lives: Lit) {
        // Who does not leave its location writes nothing: a step is not to touch more than it must.
        if edge.from != edge.to || lives != Lit::TRUE {
            let cell = self.layout.slots[me.slot].location;
            let elsewhere = self.plain(state, cell);
            let location = self.dag.select(lives, &Word::constant(edge.to.0.into()), &elsewhere);
            state.set(cell, location);
        }
        if self.system.uses_last {
            state.set(self.layout.last, Word::constant(me.slot as i128));
        }
    }

    /// The process, which stands at that location, holds control.
    pub fn holds_control(&mut self, state: &Symbolic, me: Me, at: LocationId) -> Lit {
        if !self.layout.may_hold(me.of, at) {
            return Lit::FALSE;
        }
        let (cell, value) = match self.layout.slots[me.slot].control {
            Some(mine) => (mine, 1),
            None => (self.layout.control, me.slot as i128 + 1),
        };
        let control = self.plain(state, cell);
        self.dag.equals(&control, value)
    }

    /// After a step of these, of whom at most the first held control: the last keeps it if its edge says so and it lives.
    fn pass_control(&mut self, state: &mut Symbolic, movers: &[(Me, &Edge)], lives: Lit) {
        let Some((last, edge)) = movers.last() else { return };
        // A step is not to touch more than it must.
        let is_concerned = |(me, edge): &(Me, &Edge)| edge.keeps_control || self.layout.may_hold(me.of, edge.from);
        if !movers.iter().any(is_concerned) {
            return;
        }
        for (me, _) in movers {
            if let Some(cell) = self.layout.slots[me.slot].control {
                state.set(cell, Word::zero());
            }
        }
        self.set_control(state, *last, if edge.keeps_control { lives } else { Lit::FALSE });
    }

    /// Control is with that process if the condition holds, and else with nobody.
    fn set_control(&mut self, state: &mut Symbolic, me: Me, when: Lit) {
        let value = match self.layout.slots[me.slot].control {
            Some(mine) => {
                state.set(mine, Word::unsigned(vec![when]));
                1
            }
            None => me.slot as i128 + 1,
        };
        let holder = self.dag.select(when, &Word::constant(value), &Word::zero());
        state.set(self.layout.control, holder);
    }

    /// Releases control if its holder, who has just arrived, cannot move.
    pub fn normalise(&mut self, state: &mut Symbolic, me: Me, edge: &Edge) -> Result<(), Unsupported> {
        if !edge.keeps_control {
            return Ok(());
        }
        let view = View::of(state, me, Lit::FALSE);
        let can = self.can_move(view, me, edge.to.index())?;
        let holds = self.holds_control(state, me, edge.to);
        let holds = self.dag.and(holds, can);
        self.set_control(state, me, holds);
        Ok(())
    }

    /// The process has a move from that location, be it one that ends in a fault.
    fn can_move(&mut self, view: View<'_>, me: Me, location: usize) -> Result<Lit, Unsupported> {
        let system = self.system;
        let edges = &system.process(me.of).locations[location].edges;
        let may = self.may_move(view, me)?;
        if edges.is_empty() || (may.holds == Lit::FALSE && may.fault == Lit::FALSE) {
            return Ok(Lit::FALSE);
        }
        let mut cases = vec![may.fault];
        for id in edges {
            let ready = self.ready(view, &system.process(me.of).edges[id.index()])?;
            let some = self.is_executable(&ready);
            let some = self.dag.or(some, ready.fault);
            cases.push(self.dag.and(may.holds, some));
        }
        Ok(self.dag.any(&cases))
    }

    /// Runs an effect. With the state comes the condition that the process is still there.
    fn effect(
        &mut self,
        conditions: &mut Conditions,
        branch: Branch,
        me: Me,
        edge: &Edge,
    ) -> Result<(Branch, Lit), Unsupported> {
        let program = &edge.effect;
        let whole = branch.path;
        if whole == Lit::FALSE || program.is_empty() {
            return Ok((branch, Lit::TRUE));
        }
        let mut last = branch.state.clone();
        let mut open = BTreeMap::from([(0, branch)]);
        let mut done: Option<Branch> = None;
        let mut dead: Option<Branch> = None;
        let mut run = 0;
        // The earliest instruction first: what leaves a loop waits behind it until all of it has come.
        while let Some((at, branch)) = open.pop_first() {
            let Some(instruction) = program.get(at) else {
                done = Some(branch);
                continue;
            };
            run += 1;
            if run > MAX_INSTRUCTIONS {
                return Err(self.too_long(me, edge));
            }
            self.check_size()?;
            last = branch.state.clone();
            let (action, otherwise) = match instruction {
                Instruction::Do(action) => (action, None),
                Instruction::Try(action, otherwise) => (action, Some(*otherwise as usize)),
                Instruction::Jump(to) => {
                    self.go(conditions, &mut open, at, *to as usize, branch);
                    continue;
                }
                Instruction::Fail(_) => {
                    self.fault(conditions, &branch, Lit::TRUE);
                    continue;
                }
            };
            let executable = self.executable(conditions, &branch, me, action)?;
            self.fault(conditions, &branch, executable.fault);
            let mut branch = branch;
            match otherwise {
                Some(otherwise) => {
                    let path = self.dag.and(branch.path, !executable.holds);
                    self.go(conditions, &mut open, at, otherwise, Branch { path, state: branch.state.clone() });
                    branch.path = self.dag.and(branch.path, executable.holds);
                }
                None => self.fault(conditions, &branch, !executable.holds),
            }
            if branch.path == Lit::FALSE || (otherwise.is_none() && executable.holds == Lit::FALSE) {
                continue;
            }
            if matches!(action, Action::End) {
                self.end(&mut branch.state, me);
                dead = Some(match dead {
                    Some(other) => self.join(branch, other),
                    None => branch,
                });
                continue;
            }
            let branch = self.act(conditions, branch, me, action)?;
            self.go(conditions, &mut open, at, at + 1, branch);
        }
        let whole = self.dag.and(whole, !conditions.overflow);
        Ok(match (done, dead) {
            (Some(done), None) => (Branch { path: whole, ..done }, Lit::TRUE),
            (None, Some(dead)) => (Branch { path: whole, ..dead }, Lit::FALSE),
            (Some(done), Some(dead)) => {
                let lives = !dead.path;
                let state = self.merge(dead.path, dead.state, done.state);
                (Branch { path: whole, state }, lives)
            }
            // Whatever happens is a fault.
            (None, None) => (Branch { path: Lit::FALSE, state: last }, Lit::TRUE),
        })
    }

    fn too_long(&self, me: Me, edge: &Edge) -> Unsupported {
        let name = &self.system.process(me.of).name;
        let at = edge.span.map_or_else(String::new, |span| format!(" at {}", self.system.place_of(span)));
        Unsupported(format!(
            "the symbolic engine cannot unroll the loop in the step `{}` of {name}{at}: it knows no bound for it",
            edge.label
        ))
    }

    /// Goes on at that instruction, together with what is there already.
    fn go(
        &mut self,
        conditions: &Conditions,
        open: &mut BTreeMap<usize, Branch>,
        from: usize,
        to: usize,
        branch: Branch,
    ) {
        if branch.path == Lit::FALSE || (to <= from && self.is_unreachable(conditions, branch.path)) {
            return;
        }
        let joined = match open.remove(&to) {
            Some(other) => self.join(branch, other),
            None => branch,
        };
        open.insert(to, joined);
    }

    /// The branch is taken by nobody, or only after a fault.
    fn is_unreachable(&mut self, conditions: &Conditions, path: Lit) -> bool {
        let sound = self.dag.and(path, !conditions.fault);
        self.dag.is_plainly_false(path) || self.dag.is_plainly_false(sound)
    }

    /// Two branches that meet; never both are taken.
    fn join(&mut self, one: Branch, other: Branch) -> Branch {
        let state = self.merge(one.path, one.state, other.state);
        Branch { path: self.dag.or(one.path, other.path), state }
    }

    fn executable(
        &mut self,
        conditions: &Conditions,
        branch: &Branch,
        me: Me,
        action: &Action,
    ) -> Result<Truth, Unsupported> {
        let view = View::of(&branch.state, me, conditions.timeout);
        match action {
            Action::Test(condition) => self.holds(view, condition),
            Action::Communicate(communication) => {
                let (candidates, mut fault) = self.resolve(view, communication.channel())?;
                let mut holds = Lit::FALSE;
                for candidate in candidates {
                    let can = if self.kind(candidate.kind).capacity == 0 && !communication.keeps() {
                        Truth { holds: Lit::FALSE, fault: Lit::TRUE }
                    } else {
                        self.can_communicate(view, communication, candidate)?
                    };
                    let able = self.dag.and(candidate.when, can.holds);
                    let wrong = self.dag.and(candidate.when, can.fault);
                    holds = self.dag.or(holds, able);
                    fault = self.dag.or(fault, wrong);
                }
                Ok(Truth { holds, fault })
            }
            Action::End => Ok(self.is_youngest(view)),
            Action::Assign(..)
            | Action::AssignAll(_)
            | Action::AssignField(_)
            | Action::Allocate(..)
            | Action::Spawn { .. }
            | Action::Assert { .. }
            | Action::Print { .. }
            | Action::SetPriority(..) => Ok(Truth::TRUE),
        }
    }

    fn act(
        &mut self,
        conditions: &mut Conditions,
        mut branch: Branch,
        me: Me,
        action: &Action,
    ) -> Result<Branch, Unsupported> {
        match action {
            Action::Test(_) | Action::End => {}
            Action::Assign(place, value) => {
                let value = self.value(View::of(&branch.state, me, conditions.timeout), value)?;
                self.fault(conditions, &branch, value.fault);
                self.assign(conditions, &mut branch, me, place, &value.word)?;
            }
            Action::AssignAll(pairs) => self.assign_all(conditions, &mut branch, me, pairs)?,
            Action::AssignField(_) | Action::Allocate(..) => {
                return Err(Unsupported("objects on a heap have no encoding yet".into()));
            }
            Action::Communicate(communication) => return self.communicate(conditions, branch, me, communication),
            Action::Spawn { process, arguments, priority } => {
                return self.spawn_by(conditions, branch, me, *process, arguments, *priority);
            }
            Action::Assert { condition, .. } => {
                let holds = self.holds(View::of(&branch.state, me, conditions.timeout), condition)?;
                self.fault(conditions, &branch, holds.fault);
                self.violation(conditions, &branch, !holds.holds);
            }
            Action::Print { format, arguments } => {
                for argument in arguments.iter().take(conversions(format)) {
                    let value = self.value(View::of(&branch.state, me, conditions.timeout), argument)?;
                    self.fault(conditions, &branch, value.fault);
                }
            }
            Action::SetPriority(target, priority) => {
                self.set_priority(conditions, &mut branch, me, target, priority)?
            }
        }
        Ok(branch)
    }

    fn assign(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        place: &Place,
        word: &Word,
    ) -> Result<(), Unsupported> {
        let (cells, word) = self.target(conditions, branch, me, place, word)?;
        self.store(branch, &cells, &word);
        Ok(())
    }

    /// All values and cells are found before anything is stored.
    fn assign_all(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        pairs: &[(Place, Expr)],
    ) -> Result<(), Unsupported> {
        let mut stores = Vec::new();
        for (place, value) in pairs {
            let value = self.value(View::of(&branch.state, me, conditions.timeout), value)?;
            self.fault(conditions, branch, value.fault);
            stores.push(self.target(conditions, branch, me, place, &value.word)?);
        }
        for (cells, word) in stores {
            self.store(branch, &cells, &word);
        }
        Ok(())
    }

    /// The cells that a place can mean, when it means them, and the value as they keep it.
    fn target(
        &mut self,
        conditions: &mut Conditions,
        branch: &Branch,
        me: Me,
        place: &Place,
        word: &Word,
    ) -> Result<(Vec<(usize, Lit)>, Word), Unsupported> {
        let (word, misfit) = self.dag.fit(place.scalar, word);
        self.fault(conditions, branch, misfit);
        let view = View::of(&branch.state, me, conditions.timeout);
        let Some((cells, outside)) = self.cells_of(view, place)? else {
            self.fault(conditions, branch, Lit::TRUE);
            return Ok((Vec::new(), word));
        };
        self.fault(conditions, branch, outside);
        Ok((cells, word))
    }

    fn store(&mut self, branch: &mut Branch, cells: &[(usize, Lit)], word: &Word) {
        for &(cell, when) in cells {
            if when == Lit::TRUE {
                branch.state.set(cell, word.clone());
            } else if !self.layout.places[cell].hidden || branch.state.written.contains_key(&cell) {
                let old = self.plain(&branch.state, cell);
                let new = self.dag.select(when, word, &old);
                branch.state.set(cell, new);
            }
        }
    }

    fn set_priority(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        target: &Expr,
        priority: &Expr,
    ) -> Result<(), Unsupported> {
        let view = View::of(&branch.state, me, conditions.timeout);
        let (target, priority) = (self.value(view, target)?, self.value(view, priority)?);
        let low = self.dag.less(&priority.word, &Word::constant(1));
        let high = self.dag.less(&Word::constant(255), &priority.word);
        let outside = self.dag.or(low, high);
        for slot in 0..self.layout.slots.len() {
            let meant = self.dag.equals(&target.word, slot as i128);
            let alive = self.alive(&branch.state, slot);
            let when = self.dag.and(meant, alive);
            if when == Lit::FALSE {
                continue;
            }
            let wrong = self.dag.and(when, outside);
            self.fault(conditions, branch, wrong);
            let cell = self.layout.slots[slot].priority;
            let old = self.plain(&branch.state, cell);
            let new = self.dag.select(when, &priority.word, &old);
            branch.state.set(cell, new);
        }
        let fault = self.dag.or(target.fault, priority.fault);
        self.fault(conditions, branch, fault);
        Ok(())
    }

    /// A communication through a buffer that can happen.
    fn communicate(
        &mut self,
        conditions: &mut Conditions,
        branch: Branch,
        me: Me,
        communication: &Communication,
    ) -> Result<Branch, Unsupported> {
        let view = View::of(&branch.state, me, conditions.timeout);
        let (candidates, wrong) = self.resolve(view, communication.channel())?;
        self.fault(conditions, &branch, wrong);
        let mut out: Option<Symbolic> = None;
        for candidate in candidates {
            if self.kind(candidate.kind).capacity == 0 {
                continue;
            }
            let path = self.dag.and(branch.path, candidate.when);
            let mut here = Branch { path, state: branch.state.clone() };
            match communication {
                Communication::Send { values, sorted, .. } => {
                    self.send(conditions, &mut here, me, candidate, values, *sorted)?;
                }
                Communication::Receive { patterns, anywhere, keep, .. } => {
                    self.receive(conditions, &mut here, me, candidate, (patterns, *anywhere, *keep))?;
                }
            }
            out = Some(match out {
                Some(others) => self.merge(candidate.when, here.state, others),
                None => here.state,
            });
        }
        let path = branch.path;
        Ok(match out {
            Some(state) => Branch { path, state },
            None => branch,
        })
    }

    fn send(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        candidate: Candidate,
        values: &[Expr],
        sorted: bool,
    ) -> Result<(), Unsupported> {
        let view = View::of(&branch.state, me, conditions.timeout);
        let (message, wrong) = self.message(view, candidate, values)?;
        self.fault(conditions, branch, wrong);
        if wrong == Lit::TRUE {
            return Ok(());
        }
        self.insert(&mut branch.state, candidate, &message, sorted);
        let event = Event { kind: EventKind::Send, queue: candidate.queue, channel: candidate.kind, message: &message };
        self.event(conditions, branch, &event)
    }

    /// Puts the message at the end, or before the first that is greater.
    fn insert(&mut self, state: &mut Symbolic, candidate: Candidate, message: &[Word], sorted: bool) {
        let queue = &self.layout.queues[candidate.queue];
        let length = self.plain(state, queue.length);
        let capacity = self.kind(candidate.kind).capacity as usize;
        let old: Vec<Vec<Word>> =
            (0..capacity).map(|at| self.message_at(state, candidate.queue, candidate.kind, at)).collect();
        // The new message is already in place, further towards the front.
        let mut placed = Lit::FALSE;
        for at in 0..capacity {
            let mut here = self.dag.equals(&length, at as i128);
            if sorted {
                let there = self.dag.less(&Word::constant(at as i128), &length);
                let greater = self.greater(&old[at], message);
                let before = self.dag.and(there, greater);
                here = self.dag.or(here, before);
            }
            here = self.dag.and(here, !placed);
            for (field, new) in message.iter().enumerate() {
                let moved = match at {
                    0 => old[0][field].clone(),
                    _ => self.dag.select(placed, &old[at - 1][field], &old[at][field]),
                };
                let word = self.dag.select(here, new, &moved);
                state.set(queue.cell(at, field), word);
            }
            placed = self.dag.or(placed, here);
        }
        let longer = self.dag.add(&length, &Word::constant(1));
        state.set(queue.length, longer);
    }

    /// One message is greater than another, field by field.
    fn greater(&mut self, one: &[Word], other: &[Word]) -> Lit {
        let mut greater = Lit::FALSE;
        for (x, y) in one.iter().zip(other).rev() {
            let (above, same) = (self.dag.less(y, x), self.dag.equal(x, y));
            let later = self.dag.and(same, greater);
            greater = self.dag.or(above, later);
        }
        greater
    }

    fn receive(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        candidate: Candidate,
        (patterns, anywhere, keep): (&[Pattern], bool, bool),
    ) -> Result<(), Unsupported> {
        let view = View::of(&branch.state, me, conditions.timeout);
        let found = self.find(view, candidate.queue, candidate.kind, patterns, anywhere)?;
        let missing = self.dag.or(found.fault, !found.found);
        self.fault(conditions, branch, missing);
        if !keep && patterns.len() != self.kind(candidate.kind).fields.len() {
            self.fault(conditions, branch, Lit::TRUE);
            return Ok(());
        }
        let mut message: Vec<Word> = vec![Word::zero(); self.kind(candidate.kind).fields.len()];
        for (position, at) in found.at.iter().enumerate() {
            let there = self.message_at(&branch.state, candidate.queue, candidate.kind, position);
            for (field, word) in message.iter_mut().zip(there) {
                *field = if position == 0 { word } else { self.dag.select(*at, &word, field) };
            }
        }
        self.bind(conditions, branch, me, patterns, &message)?;
        if keep {
            return Ok(());
        }
        self.remove(&mut branch.state, candidate, &found.at);
        let event =
            Event { kind: EventKind::Receive, queue: candidate.queue, channel: candidate.kind, message: &message };
        self.event(conditions, branch, &event)
    }

    /// Takes the message out whose position is marked; those behind it move up.
    fn remove(&mut self, state: &mut Symbolic, candidate: Candidate, at: &[Lit]) {
        let queue = &self.layout.queues[candidate.queue];
        let capacity = self.kind(candidate.kind).capacity as usize;
        let fields = self.kind(candidate.kind).fields.len();
        let mut gone = Lit::FALSE;
        for position in 0..capacity {
            let here = at.get(position).copied().unwrap_or(Lit::FALSE);
            gone = self.dag.or(gone, here);
            for field in 0..fields {
                let cell = queue.cell(position, field);
                let next = if position + 1 < capacity {
                    self.plain(state, queue.cell(position + 1, field))
                } else {
                    Word::constant(self.layout.filler(cell).into())
                };
                let old = self.plain(state, cell);
                let word = self.dag.select(gone, &next, &old);
                state.set(cell, word);
            }
        }
        let length = self.plain(state, queue.length);
        let shorter = self.dag.subtract(&length, &Word::constant(1));
        state.set(queue.length, shorter);
    }

    fn bind(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        patterns: &[Pattern],
        message: &[Word],
    ) -> Result<(), Unsupported> {
        for (pattern, field) in patterns.iter().zip(message) {
            if let Pattern::Bind(place) = pattern {
                self.assign(conditions, branch, me, place, field)?;
            }
        }
        Ok(())
    }

    /// Shows the event to the monitor.
    fn event(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        event: &Event<'_>,
    ) -> Result<(), Unsupported> {
        let system = self.system;
        let Some(monitor) = &system.monitor else { return Ok(()) };
        let mut unseen = Truth::TRUE;
        for (kind, channel) in &monitor.observed {
            if *kind != event.kind || unseen.holds == Lit::FALSE {
                continue;
            }
            let same = self.is_on(conditions, branch, channel, event.queue)?;
            unseen = self.then(unseen, Truth { holds: !same.holds, fault: same.fault });
        }
        self.fault(conditions, branch, unseen.fault);
        if unseen.holds != Lit::TRUE {
            let path = self.dag.and(branch.path, !unseen.holds);
            let seen = Branch { path, state: branch.state.clone() };
            let word = self.watch(conditions, &seen, monitor, event)?;
            let rest = self.plain(&branch.state, self.layout.monitor);
            let word = self.dag.select(unseen.holds, &rest, &word);
            branch.state.set(self.layout.monitor, word);
        }
        Ok(())
    }

    /// The expression, over globals, means that channel.
    fn is_on(
        &mut self,
        conditions: &Conditions,
        branch: &Branch,
        channel: &Expr,
        queue: usize,
    ) -> Result<Truth, Unsupported> {
        let view = View {
            state: &branch.state,
            me: None,
            timeout: conditions.timeout,
            offer: None,
            asking: None,
            next: None,
            memo: None,
        };
        let handle = self.value(view, channel)?;
        Ok(Truth { holds: self.dag.equals(&handle.word, queue as i128 + 1), fault: handle.fault })
    }

    /// Where the monitor stands after an event that it observes.
    fn watch(
        &mut self,
        conditions: &mut Conditions,
        branch: &Branch,
        monitor: &Monitor,
        event: &Event<'_>,
    ) -> Result<Word, Unsupported> {
        let before = self.plain(&branch.state, self.layout.monitor);
        let mut after = before.clone();
        let last = Word::constant(monitor.last.into());
        for (number, edges) in (0..).zip(&monitor.locations) {
            let here = self.dag.equals(&before, number);
            if here == Lit::FALSE || (monitor.forbids && number == i128::from(monitor.last)) {
                continue;
            }
            let place = Branch { path: self.dag.and(branch.path, here), state: branch.state.clone() };
            let mut fits = Vec::new();
            for edge in edges.iter().filter(|edge| edge.kind == event.kind) {
                let on = self.is_on(conditions, branch, &edge.channel, event.queue)?;
                let view = View {
                    state: &branch.state,
                    me: None,
                    timeout: conditions.timeout,
                    offer: None,
                    asking: None,
                    next: None,
                    memo: None,
                };
                let fit = self.fits(view, event.channel, &edge.patterns, event.message)?;
                let taken = self.then(on, fit);
                self.fault(conditions, &place, taken.fault);
                fits.push((taken.holds, edge.to));
            }
            let mut next = if monitor.forbids { last.clone() } else { before.clone() };
            let mut none = Lit::TRUE;
            let mut ambiguous = Lit::FALSE;
            for (position, (taken, to)) in fits.iter().enumerate() {
                let first = self.dag.and(none, *taken);
                next = self.dag.select(first, &Word::constant((*to).into()), &next);
                none = self.dag.and(none, !*taken);
                if monitor.forbids && *to == monitor.last {
                    self.violation(conditions, &place, first);
                    continue;
                }
                let later: Vec<Lit> = fits[position + 1..].iter().map(|(taken, _)| *taken).collect();
                let later = self.dag.any(&later);
                let twice = self.dag.and(first, later);
                ambiguous = self.dag.or(ambiguous, twice);
            }
            self.fault(conditions, &place, ambiguous);
            if !monitor.forbids {
                self.violation(conditions, &place, none);
            }
            after = self.dag.select(here, &next, &after);
        }
        Ok(after)
    }

    /// A process creates another.
    fn spawn_by(
        &mut self,
        conditions: &mut Conditions,
        branch: Branch,
        me: Me,
        of: ProcessId,
        arguments: &[Expr],
        priority: Option<u8>,
    ) -> Result<Branch, Unsupported> {
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.value(View::of(&branch.state, me, conditions.timeout), argument)?;
            self.fault(conditions, &branch, value.fault);
            values.push(value.word);
        }
        self.spawn(conditions, branch, me.slot + 1, of, &values, priority)
    }

    /// Creates a process in the first free slot, which is not before that one.
    pub fn spawn(
        &mut self,
        conditions: &mut Conditions,
        branch: Branch,
        least: usize,
        of: ProcessId,
        arguments: &[Word],
        priority: Option<u8>,
    ) -> Result<Branch, Unsupported> {
        let count = self.count(&branch.state);
        let room = (self.system.max_processes as usize).min(self.layout.slots.len());
        let full = !self.dag.less(&count, &Word::constant(self.system.max_processes.into()));
        self.fault(conditions, &branch, full);
        let beyond = !self.dag.less(&count, &Word::constant(room as i128));
        let mut lacking = self.dag.and(beyond, !full);
        let mut out: Option<Symbolic> = None;
        for slot in least..room {
            let next = self.dag.equals(&count, slot as i128);
            if next == Lit::FALSE {
                continue;
            }
            if !self.layout.slots[slot].types.contains(&of) {
                lacking = self.dag.or(lacking, next);
                continue;
            }
            let path = self.dag.and(branch.path, next);
            let mut here = Branch { path, state: branch.state.clone() };
            self.create(conditions, &mut here, Me { slot, of }, arguments, priority)?;
            out = Some(match out {
                Some(others) => self.merge(next, here.state, others),
                None => here.state,
            });
        }
        let lacking = self.dag.and(branch.path, lacking);
        conditions.overflow = self.dag.or(conditions.overflow, lacking);
        // What comes after it is not known.
        let path = self.dag.and(branch.path, !lacking);
        Ok(match out {
            Some(state) => Branch { path, state },
            None => Branch { path, ..branch },
        })
    }

    /// A new process in that slot, with its channels.
    fn create(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        me: Me,
        arguments: &[Word],
        priority: Option<u8>,
    ) -> Result<(), Unsupported> {
        let system = self.system;
        let process = system.process(me.of);
        let slot = &self.layout.slots[me.slot];
        self.clear(&mut branch.state, me.slot);
        let scalars: Vec<_> = process.locals.iter().flat_map(|variable| system.scalars(&variable.ty)).collect();
        for (number, cell) in slot.locals.clone().enumerate().take(scalars.len()) {
            let (word, misfit) = match arguments.get(number) {
                Some(argument) => self.dag.fit(scalars[number], argument),
                None => (Word::zero(), Lit::FALSE),
            };
            self.fault(conditions, branch, misfit);
            branch.state.set(cell, word);
        }
        let of = slot.types.iter().position(|of| *of == me.of).unwrap_or(0);
        branch.state.set(slot.of, Word::constant(of as i128));
        branch.state.set(slot.location, Word::constant(process.initial.0.into()));
        branch.state.set(slot.priority, Word::constant(priority.unwrap_or(process.priority).into()));
        branch.state.set(self.layout.count, Word::constant(me.slot as i128 + 1));
        let mut handle = slot.channels.start;
        let offsets = &self.layout.local_offsets[me.of.index()];
        for (variable, offset) in process.locals.iter().zip(offsets).skip(process.parameters as usize) {
            let first = slot.locals.start + offset;
            self.initialise(conditions, branch, Some(me), first, variable, &mut handle)?;
        }
        Ok(())
    }

    /// Gives the cells of a variable their first values. The choices among several are the state's own.
    pub fn initialise(
        &mut self,
        conditions: &mut Conditions,
        branch: &mut Branch,
        owner: Option<Me>,
        first: usize,
        variable: &Variable,
        handle: &mut usize,
    ) -> Result<(), Unsupported> {
        let scalars = self.system.scalars(&variable.ty);
        for (slot, initial) in &variable.initial {
            let cell = first + *slot as usize;
            let word = match initial {
                Initial::Value(expr) => {
                    self.refuse_channels(variable, expr)?;
                    let view = View {
                        state: &branch.state,
                        me: owner,
                        timeout: conditions.timeout,
                        offer: None,
                        asking: None,
                        next: None,
                        memo: None,
                    };
                    let value = self.value(view, expr)?;
                    self.fault(conditions, branch, value.fault);
                    value.word
                }
                Initial::Channel(_) => {
                    self.fault(conditions, branch, (*handle >= MAX_CHANNELS).into());
                    *handle += 1;
                    Word::constant(*handle as i128)
                }
                Initial::AnyOf(values) => {
                    let chosen = self.input(cell);
                    let one: Vec<Lit> = values.iter().map(|value| self.dag.equals(&chosen, (*value).into())).collect();
                    let one = self.dag.any(&one);
                    branch.path = self.dag.and(branch.path, one);
                    chosen
                }
                Initial::Between(least, most) => {
                    let chosen = self.input(cell);
                    let below = self.dag.less(&chosen, &Word::constant((*least).into()));
                    let above = self.dag.less(&Word::constant((*most).into()), &chosen);
                    let outside = self.dag.or(below, above);
                    branch.path = self.dag.and(branch.path, !outside);
                    chosen
                }
            };
            let (word, misfit) = self.dag.fit(scalars[*slot as usize], &word);
            self.fault(conditions, branch, misfit);
            branch.state.set(cell, word);
        }
        Ok(())
    }

    /// A first value that asks after channels is asked for while they are being created.
    fn refuse_channels(&self, variable: &Variable, expr: &Expr) -> Result<(), Unsupported> {
        let mut asks = false;
        expr.walk(&mut |expr| asks |= matches!(expr, Expr::Length(_) | Expr::Full(_) | Expr::Poll { .. }));
        if asks {
            let name = &variable.name;
            return Err(Unsupported(format!(
                "the symbolic engine does not know how {name} starts: its first value asks after a channel"
            )));
        }
        Ok(())
    }

    /// Everything in the slot as it is when nobody is there.
    fn clear(&mut self, state: &mut Symbolic, slot: usize) {
        let slot = &self.layout.slots[slot];
        let queues = &self.layout.queues[slot.channels.clone()];
        for cell in slot.cells().chain(queues.iter().flat_map(|queue| queue.cells())) {
            state.set(cell, Word::constant(self.layout.filler(cell).into()));
        }
    }

    /// Removes the process, which is the youngest.
    fn end(&mut self, state: &mut Symbolic, me: Me) {
        self.clear(state, me.slot);
        state.set(self.layout.count, Word::constant(me.slot as i128));
    }
}

/// How many arguments a format uses.
fn conversions(format: &str) -> usize {
    let mut count = 0;
    let mut characters = format.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '%' {
            continue;
        }
        match characters.peek() {
            Some('%') => drop(characters.next()),
            Some('d' | 'u' | 'x' | 'o' | 'c' | 'e') => {
                characters.next();
                count += 1;
            }
            _ => {}
        }
    }
    count
}
