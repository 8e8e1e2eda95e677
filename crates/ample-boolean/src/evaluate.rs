//! The formula of an expression in a symbolic state, as seen by one process.
//!
//! The twin of the interpreter's evaluation, case by case: a value comes with the condition under which
//! asking for it is a fault, and what the interpreter does not look at cannot be one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use ample_model::visit::{MAX_RECURSION, innermost_first};
use ample_model::{
    BinaryOp, Channel, ChannelId, EdgeId, Expr, Location, LocationId, Pattern, Place, ProcessId, Scope, Shared, UnaryOp,
};

use crate::Unsupported;
use crate::dag::Lit;
use crate::symbolic::{Maker, Symbolic, Truth, Value};
use crate::word::Word;

/// How many processes may ask after each other by `enabled` in one evaluation: as in the interpreter.
const MAX_ASKING: usize = 16;

/// Cells or slots, each with the condition under which it is the one.
pub(crate) type Cases = Vec<(usize, Lit)>;

/// A process, of a type that is known.
#[derive(Clone, Copy)]
pub(crate) struct Me {
    pub slot: usize,
    pub of: ProcessId,
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub state: &'a Symbolic,
    pub me: Option<Me>,
    /// The value of `timeout`.
    pub timeout: Lit,
    /// The message on offer while a receive is tried as the second half of a handshake.
    pub offer: Option<&'a Offer>,
    /// The processes that are being asked whether they are enabled, innermost first.
    pub asking: Option<&'a Asking<'a>>,
    /// In a joint step: the next state.
    pub next: Option<&'a Symbolic>,
    /// The values of shared expressions, seen from here.
    pub memo: Option<&'a Memo>,
}

/// The values of shared expressions, by their addresses: each is made once.
pub(crate) type Memo = RefCell<HashMap<usize, Value>>;

/// One half of a handshake: a message that waits to be taken.
#[derive(Clone)]
pub(crate) struct Offer {
    pub queue: usize,
    pub kind: ChannelId,
    pub message: Vec<Word>,
}

/// A link in the chain of processes that are asked whether they are enabled.
pub(crate) struct Asking<'a> {
    slot: usize,
    before: Option<&'a Asking<'a>>,
    depth: usize,
}

impl<'a> View<'a> {
    pub fn of(state: &'a Symbolic, me: Me, timeout: Lit) -> View<'a> {
        View { state, me: Some(me), timeout, offer: None, asking: None, next: None, memo: None }
    }

    /// As seen by nobody in particular, where there is no `timeout`.
    pub fn anybody(state: &'a Symbolic) -> View<'a> {
        View { state, me: None, timeout: Lit::FALSE, offer: None, asking: None, next: None, memo: None }
    }

    /// The same moment seen by another process.
    pub fn seen_by(self, me: Me) -> View<'a> {
        View { me: Some(me), offer: None, memo: None, ..self }
    }
}

/// Where a message was found: in which position, if anywhere.
pub(crate) struct Search {
    pub at: Vec<Lit>,
    pub found: Lit,
    pub fault: Lit,
}

impl Maker<'_> {
    pub fn value(&mut self, view: View<'_>, expr: &Expr) -> Result<Value, Unsupported> {
        match expr {
            Expr::Const(value) => Ok(Value::sound(Word::constant((*value).into()))),
            Expr::Read(place) => self.read(view, place),
            Expr::Field(..) => Err(Unsupported("objects on a heap have no encoding yet".into())),
            Expr::Next(place) => self.next(view, place),
            Expr::Unary(op, x) => self.unary(view, *op, x),
            Expr::Binary(op, x, y) => self.binary(view, *op, x, y),
            Expr::Cast(scalar, x) => {
                let x = self.value(view, x)?;
                let (word, misfit) = self.dag.fit(*scalar, &x.word);
                Ok(Value { word, fault: self.dag.or(x.fault, misfit) })
            }
            Expr::Conditional(condition, x, y) => self.conditional(view, condition, x, y),
            Expr::SelfId => Ok(match view.me {
                Some(me) => Value::sound(Word::constant(me.slot as i128)),
                None => Value::faulty(),
            }),
            Expr::ProcessCount => Ok(Value::sound(self.count(view.state))),
            Expr::LastMover => Ok(Value::sound(self.plain(view.state, self.layout.last))),
            Expr::Timeout => Ok(Value::sound(Word::truth(view.timeout))),
            Expr::Blocked(edges) => {
                let blocked = self.blocked(view, edges)?;
                Ok(as_value(blocked))
            }
            Expr::Enabled(process) => self.enabled(view, process),
            Expr::LocationOf(process) => self.location_of(view, process),
            Expr::At { process, of, locations } => self.stands_at(view, process.as_deref(), *of, locations),
            Expr::Remote { process, of, place } => self.remote(view, process.as_deref(), *of, place),
            Expr::NonProgress => {
                let progress = self.somebody(view.state, &|location| location.progress);
                Ok(Value::sound(Word::truth(!progress)))
            }
            Expr::Accepting => {
                let accepting = self.somebody(view.state, &|location| location.accept);
                Ok(Value::sound(Word::truth(accepting)))
            }
            Expr::Length(handle) => self.length(view, handle),
            Expr::Full(handle) => self.full(view, handle),
            Expr::Poll { channel, patterns, anywhere } => self.poll(view, channel, patterns, *anywhere),
            Expr::Priority(process) => self.priority(view, process),
            Expr::Shared(x) => self.shared(view, x),
        }
    }

    /// Those inside it are made once, too.
    fn shared(&mut self, view: View<'_>, expr: &Shared) -> Result<Value, Unsupported> {
        let Some(memo) = view.memo else {
            let memo = Memo::default();
            return self.value(View { memo: expr.is_nested().then_some(&memo), ..view }, expr);
        };
        if let Some(value) = memo.borrow().get(&expr.address()) {
            return Ok(value.clone());
        }
        // What is nested deeper than calls is made along a list; without the last of it, which is the expression itself.
        if expr.height() > MAX_RECURSION {
            let mut seen = HashSet::new();
            let mut new = |part: &Shared| !memo.borrow().contains_key(&part.address()) && seen.insert(part.address());
            let mut parts = innermost_first(expr, &mut new);
            parts.pop();
            for part in parts {
                let value = self.value(view, part)?;
                memo.borrow_mut().insert(part.address(), value);
            }
        }
        let value = self.value(view, expr)?;
        memo.borrow_mut().insert(expr.address(), value.clone());
        Ok(value)
    }

    pub fn holds(&mut self, view: View<'_>, expr: &Expr) -> Result<Truth, Unsupported> {
        let value = self.value(view, expr)?;
        Ok(Truth { holds: self.dag.is_true(&value.word), fault: value.fault })
    }

    fn unary(&mut self, view: View<'_>, op: UnaryOp, x: &Expr) -> Result<Value, Unsupported> {
        let x = self.value(view, x)?;
        Ok(match op {
            UnaryOp::Negate => {
                let negated = self.dag.negate(&x.word);
                let (word, lost) = self.dag.kept(negated);
                Value { word, fault: self.dag.or(x.fault, lost) }
            }
            UnaryOp::Not => Value { word: Word::truth(!self.dag.is_true(&x.word)), fault: x.fault },
            UnaryOp::Complement => Value { word: self.dag.complement(&x.word), fault: x.fault },
        })
    }

    fn binary(&mut self, view: View<'_>, op: BinaryOp, x: &Expr, y: &Expr) -> Result<Value, Unsupported> {
        self.check_size()?;
        let x = self.value(view, x)?;
        if !matches!(op, BinaryOp::And | BinaryOp::Or) {
            let y = self.value(view, y)?;
            let (word, fault) = self.dag.apply(op, &x.word, &y.word);
            return Ok(Value { word, fault: self.dag.any(&[x.fault, y.fault, fault]) });
        }
        let left = self.dag.is_true(&x.word);
        // Where the right side is looked at.
        let open = if op == BinaryOp::And { left } else { !left };
        if open == Lit::FALSE {
            return Ok(Value { word: Word::truth(left), fault: x.fault });
        }
        let right = self.holds(view, y)?;
        let fault = self.dag.and(open, right.fault);
        let fault = self.dag.or(x.fault, fault);
        let word = if op == BinaryOp::And { self.dag.and(left, right.holds) } else { self.dag.or(left, right.holds) };
        Ok(Value { word: Word::truth(word), fault })
    }

    fn conditional(&mut self, view: View<'_>, condition: &Expr, x: &Expr, y: &Expr) -> Result<Value, Unsupported> {
        let condition = self.holds(view, condition)?;
        if condition.holds.is_constant() {
            let chosen = self.value(view, if condition.holds == Lit::TRUE { x } else { y })?;
            return Ok(Value { fault: self.dag.or(condition.fault, chosen.fault), ..chosen });
        }
        let (x, y) = (self.value(view, x)?, self.value(view, y)?);
        let word = self.dag.select(condition.holds, &x.word, &y.word);
        let fault = self.dag.ite(condition.holds, x.fault, y.fault);
        Ok(Value { word, fault: self.dag.or(condition.fault, fault) })
    }

    /// The slots that the place may mean, each with the condition, and where a subscript is a fault.
    fn slots_of(&mut self, view: View<'_>, base: usize, place: &Place) -> Result<(Cases, Lit), Unsupported> {
        let mut slots = vec![(base + place.offset as usize, Lit::TRUE)];
        let mut fault = Lit::FALSE;
        for index in &place.indices {
            let at = self.value(view, &index.at)?;
            let mut next = Vec::new();
            let mut inside = Vec::new();
            for element in 0..index.length as usize {
                let meant = self.dag.equals(&at.word, element as i128);
                if meant == Lit::FALSE {
                    continue;
                }
                inside.push(meant);
                for (slot, when) in &slots {
                    let when = self.dag.and(*when, meant);
                    next.push((slot + element * index.stride as usize, when));
                }
            }
            // That it is one of these may be known without a look at the bits.
            let inside = if index.at.lies_below(index.length) { Lit::TRUE } else { self.dag.any(&inside) };
            fault = self.dag.any(&[fault, at.fault, !inside]);
            slots = next;
            self.check_size()?;
        }
        slots.retain(|(_, when)| *when != Lit::FALSE);
        Ok((slots, fault))
    }

    /// The cells that a place may mean for the viewer; `None` if there is no such process.
    pub fn cells_of(&mut self, view: View<'_>, place: &Place) -> Result<Option<(Cases, Lit)>, Unsupported> {
        let variable = place.variable.index();
        let (first, base) = match (place.scope, view.me) {
            (Scope::Global, _) => (self.layout.globals.start, self.layout.global_offsets.get(variable)),
            (Scope::Local, Some(me)) => {
                (self.layout.slots[me.slot].locals.start, self.layout.local_offsets[me.of.index()].get(variable))
            }
            (Scope::Local, None) => return Ok(None),
        };
        let Some(base) = base.copied() else { return Ok(None) };
        let (slots, fault) = self.slots_of(view, base, place)?;
        Ok(Some((slots.into_iter().map(|(slot, when)| (first + slot, when)).collect(), fault)))
    }

    fn read(&mut self, view: View<'_>, place: &Place) -> Result<Value, Unsupported> {
        let Some((cells, fault)) = self.cells_of(view, place)? else { return Ok(Value::faulty()) };
        let word = self.choose(view.state, &cells)?;
        Ok(Value { word, fault })
    }

    /// The next value of a place, whose subscripts are evaluated now.
    fn next(&mut self, view: View<'_>, place: &Place) -> Result<Value, Unsupported> {
        let (Some(next), Some((cells, fault))) = (view.next, self.cells_of(view, place)?) else {
            return Ok(Value::faulty());
        };
        let word = self.choose(next, &cells)?;
        Ok(Value { word, fault })
    }

    /// The value of the cell whose condition holds; where none does it means nothing.
    fn choose(&mut self, state: &Symbolic, cells: &[(usize, Lit)]) -> Result<Word, Unsupported> {
        let mut chosen: Option<Word> = None;
        for (cell, when) in cells.iter().rev() {
            let word = self.get(state, *cell)?;
            chosen = Some(match chosen {
                Some(others) => self.dag.select(*when, &word, &others),
                None => word,
            });
        }
        Ok(chosen.unwrap_or_else(Word::zero))
    }

    /// For every slot whether it is the process of that id, and alive.
    fn process_of(&mut self, state: &Symbolic, id: &Word) -> Cases {
        let mut out = Vec::new();
        for slot in 0..self.layout.slots.len() {
            let meant = self.dag.equals(id, slot as i128);
            if meant == Lit::FALSE {
                continue;
            }
            let alive = self.alive(state, slot);
            let when = self.dag.and(meant, alive);
            if when != Lit::FALSE {
                out.push((slot, when));
            }
        }
        out
    }

    fn location_of(&mut self, view: View<'_>, process: &Expr) -> Result<Value, Unsupported> {
        let id = self.value(view, process)?;
        let mut word = Word::zero();
        for (slot, when) in self.process_of(view.state, &id.word) {
            for of in self.layout.slots[slot].types.clone() {
                let is_of = self.is_of(view.state, slot, of);
                for (number, location) in self.system.process(of).locations.iter().enumerate() {
                    let stands = self.stands(view.state, slot, number);
                    let here = self.dag.all(&[when, is_of, stands]);
                    word = self.dag.select(here, &Word::constant(location.number.into()), &word);
                }
            }
        }
        Ok(Value { word, fault: id.fault })
    }

    fn priority(&mut self, view: View<'_>, process: &Expr) -> Result<Value, Unsupported> {
        let id = self.value(view, process)?;
        let mut word = Word::zero();
        for (slot, when) in self.process_of(view.state, &id.word) {
            let priority = self.plain(view.state, self.layout.slots[slot].priority);
            word = self.dag.select(when, &priority, &word);
        }
        Ok(Value { word, fault: id.fault })
    }

    /// The process that `At` and `Remote` speak of, if it is alive and of that type.
    fn subject(&mut self, view: View<'_>, process: Option<&Expr>, of: ProcessId) -> Result<(Cases, Lit), Unsupported> {
        if let Some(id) = process {
            let id = self.value(view, id)?;
            let mut subjects = self.process_of(view.state, &id.word);
            for (slot, when) in &mut subjects {
                let is_of = self.is_of(view.state, *slot, of);
                *when = self.dag.and(*when, is_of);
            }
            subjects.retain(|(_, when)| *when != Lit::FALSE);
            return Ok((subjects, id.fault));
        }
        let mut subjects = Vec::new();
        let mut nobody = Lit::TRUE;
        for slot in 0..self.layout.slots.len() {
            let lives = self.lives_as(view.state, slot, of);
            let first = self.dag.and(nobody, lives);
            if first != Lit::FALSE {
                subjects.push((slot, first));
            }
            nobody = self.dag.and(nobody, !lives);
        }
        Ok((subjects, Lit::FALSE))
    }

    fn stands_at(
        &mut self,
        view: View<'_>,
        process: Option<&Expr>,
        of: ProcessId,
        locations: &[LocationId],
    ) -> Result<Value, Unsupported> {
        let (subjects, fault) = self.subject(view, process, of)?;
        let mut there = Vec::new();
        for (slot, when) in subjects {
            let at: Vec<Lit> =
                locations.iter().map(|location| self.stands(view.state, slot, location.index())).collect();
            let at = self.dag.any(&at);
            there.push(self.dag.and(when, at));
        }
        Ok(Value { word: Word::truth(self.dag.any(&there)), fault })
    }

    fn remote(
        &mut self,
        view: View<'_>,
        process: Option<&Expr>,
        of: ProcessId,
        place: &Place,
    ) -> Result<Value, Unsupported> {
        let (subjects, mut fault) = self.subject(view, process, of)?;
        if subjects.is_empty() {
            return Ok(Value { word: Word::zero(), fault });
        }
        let Some(base) = self.layout.local_offsets[of.index()].get(place.variable.index()).copied() else {
            return Ok(Value::faulty());
        };
        let (slots, outside) = self.slots_of(view, base, place)?;
        let mut word = Word::zero();
        for (slot, when) in subjects {
            let first = self.layout.slots[slot].locals.start;
            let cells: Cases = slots.iter().map(|(slot, when)| (first + slot, *when)).collect();
            let there = self.choose(view.state, &cells)?;
            word = self.dag.select(when, &there, &word);
            let outside = self.dag.and(when, outside);
            fault = self.dag.or(fault, outside);
        }
        Ok(Value { word, fault })
    }

    /// Some process stands at a location of that sort.
    pub fn somebody(&mut self, state: &Symbolic, sort: &dyn Fn(&Location) -> bool) -> Lit {
        let mut there = Vec::new();
        for slot in 0..self.layout.slots.len() {
            for of in self.layout.slots[slot].types.clone() {
                let lives = self.lives_as(state, slot, of);
                let mut at = Vec::new();
                for (number, location) in self.system.process(of).locations.iter().enumerate() {
                    if sort(location) {
                        at.push(self.stands(state, slot, number));
                    }
                }
                let at = self.dag.any(&at);
                there.push(self.dag.and(lives, at));
            }
        }
        self.dag.any(&there)
    }

    pub fn kind(&self, kind: ChannelId) -> &Channel {
        &self.system.channels[kind.index()]
    }

    fn length(&mut self, view: View<'_>, handle: &Expr) -> Result<Value, Unsupported> {
        let handle = self.value(view, handle)?;
        let (candidates, none) = self.candidates(view.state, &handle.word);
        let mut word = Word::zero();
        for candidate in candidates {
            let length = self.plain(view.state, self.layout.queues[candidate.queue].length);
            word = self.dag.select(candidate.when, &length, &word);
        }
        Ok(Value { word, fault: self.dag.or(handle.fault, none) })
    }

    /// There is no room for another message.
    pub fn is_full(&mut self, state: &Symbolic, queue: usize, kind: ChannelId) -> Lit {
        let length = self.plain(state, self.layout.queues[queue].length);
        let capacity = Word::constant(self.kind(kind).capacity.into());
        !self.dag.less(&length, &capacity)
    }

    fn full(&mut self, view: View<'_>, handle: &Expr) -> Result<Value, Unsupported> {
        let handle = self.value(view, handle)?;
        let (candidates, none) = self.candidates(view.state, &handle.word);
        let mut full = Vec::new();
        for candidate in candidates {
            if self.kind(candidate.kind).capacity > 0 {
                let here = self.is_full(view.state, candidate.queue, candidate.kind);
                full.push(self.dag.and(candidate.when, here));
            }
        }
        Ok(Value { word: Word::truth(self.dag.any(&full)), fault: self.dag.or(handle.fault, none) })
    }

    fn poll(
        &mut self,
        view: View<'_>,
        channel: &Expr,
        patterns: &[Pattern],
        anywhere: bool,
    ) -> Result<Value, Unsupported> {
        let handle = self.value(view, channel)?;
        let (candidates, none) = self.candidates(view.state, &handle.word);
        let mut found = Lit::FALSE;
        let mut fault = self.dag.or(handle.fault, none);
        for candidate in candidates {
            if self.kind(candidate.kind).capacity == 0 {
                fault = self.dag.or(fault, candidate.when);
                continue;
            }
            let here = self.find(view, candidate.queue, candidate.kind, patterns, anywhere)?;
            let (hit, wrong) = (self.dag.and(candidate.when, here.found), self.dag.and(candidate.when, here.fault));
            found = self.dag.or(found, hit);
            fault = self.dag.or(fault, wrong);
        }
        Ok(Value { word: Word::truth(found), fault })
    }

    /// Which message of a buffer a receive with these patterns would take.
    pub fn find(
        &mut self,
        view: View<'_>,
        queue: usize,
        kind: ChannelId,
        patterns: &[Pattern],
        anywhere: bool,
    ) -> Result<Search, Unsupported> {
        let mut out = Search { at: Vec::new(), found: Lit::FALSE, fault: Lit::FALSE };
        let room = &self.layout.queues[queue];
        let capacity = self.kind(kind).capacity as usize;
        let length = self.plain(view.state, room.length);
        for position in 0..if anywhere { capacity } else { capacity.min(1) } {
            let there = self.dag.less(&Word::constant(position as i128), &length);
            let looked_at = self.dag.all(&[there, !out.found, !out.fault]);
            if looked_at == Lit::FALSE {
                out.at.push(Lit::FALSE);
                continue;
            }
            let message = self.message_at(view.state, queue, kind, position);
            let fits = self.fits(view, kind, patterns, &message)?;
            let wrong = self.dag.and(looked_at, fits.fault);
            let hit = self.dag.all(&[looked_at, fits.holds, !fits.fault]);
            out.fault = self.dag.or(out.fault, wrong);
            out.found = self.dag.or(out.found, hit);
            out.at.push(hit);
        }
        Ok(out)
    }

    pub fn message_at(&self, state: &Symbolic, queue: usize, kind: ChannelId, position: usize) -> Vec<Word> {
        let fields = 0..self.kind(kind).fields.len();
        fields.map(|field| self.plain(state, self.layout.queues[queue].cell(position, field))).collect()
    }

    /// The message has what the patterns ask for.
    pub fn fits(
        &mut self,
        view: View<'_>,
        kind: ChannelId,
        patterns: &[Pattern],
        message: &[Word],
    ) -> Result<Truth, Unsupported> {
        if patterns.len() > self.kind(kind).fields.len() {
            return Ok(Truth { holds: Lit::FALSE, fault: Lit::TRUE });
        }
        let mut fits = Truth::TRUE;
        for (pattern, field) in patterns.iter().zip(message) {
            let Pattern::Match(expected) = pattern else { continue };
            if fits.holds == Lit::FALSE {
                break;
            }
            let expected = self.value(view, expected)?;
            let same = self.dag.equal(&expected.word, field);
            fits = self.then(fits, Truth { holds: same, fault: expected.fault });
        }
        Ok(fits)
    }

    /// Both, where the second is looked at only if the first holds.
    pub fn then(&mut self, first: Truth, second: Truth) -> Truth {
        let late = self.dag.and(first.holds, second.fault);
        Truth { holds: self.dag.and(first.holds, second.holds), fault: self.dag.or(first.fault, late) }
    }

    /// `Blocked`: none of these edges is executable.
    fn blocked(&mut self, view: View<'_>, edges: &[EdgeId]) -> Result<Truth, Unsupported> {
        let Some(me) = view.me else { return Ok(Truth { holds: Lit::FALSE, fault: Lit::TRUE }) };
        let mut blocked = Truth::TRUE;
        for id in edges {
            if blocked.holds == Lit::FALSE {
                break;
            }
            let system = self.system;
            let Some(edge) = system.process(me.of).edges.get(id.index()) else {
                let missing = Truth { holds: Lit::FALSE, fault: Lit::TRUE };
                return Ok(self.then(blocked, missing));
            };
            let executable = match view.offer {
                Some(offer) => self.accepts(view, edge, offer)?,
                None => {
                    let ready = self.ready(view, edge)?;
                    Truth { holds: self.is_executable(&ready), fault: ready.fault }
                }
            };
            blocked = self.then(blocked, Truth { holds: !executable.holds, fault: executable.fault });
        }
        Ok(blocked)
    }

    fn enabled(&mut self, view: View<'_>, process: &Expr) -> Result<Value, Unsupported> {
        let id = self.value(view, process)?;
        let mut enabled = Lit::FALSE;
        let mut fault = id.fault;
        for (slot, when) in self.process_of(view.state, &id.word) {
            let there = self.is_enabled(view, slot)?;
            let (able, wrong) = (self.dag.and(when, there.holds), self.dag.and(when, there.fault));
            enabled = self.dag.or(enabled, able);
            fault = self.dag.or(fault, wrong);
        }
        Ok(Value { word: Word::truth(enabled), fault })
    }

    /// Some edge of the process in that slot is executable. It must be alive.
    pub fn is_enabled(&mut self, view: View<'_>, slot: usize) -> Result<Truth, Unsupported> {
        self.check_size()?;
        let depth = view.asking.map_or(0, |asking| asking.depth + 1);
        let mut link = view.asking;
        while let Some(asking) = link {
            if asking.slot == slot {
                return Ok(Truth { holds: Lit::FALSE, fault: Lit::TRUE });
            }
            link = asking.before;
        }
        if depth >= MAX_ASKING {
            return Ok(Truth { holds: Lit::FALSE, fault: Lit::TRUE });
        }
        let asking = Asking { slot, before: view.asking, depth };
        let mut out = Truth::FALSE;
        for of in self.layout.slots[slot].types.clone() {
            let is_of = self.is_of(view.state, slot, of);
            let inner = View { asking: Some(&asking), ..view.seen_by(Me { slot, of }) };
            for (number, location) in self.system.process(of).locations.iter().enumerate() {
                let stands = self.stands(view.state, slot, number);
                let here = self.dag.and(is_of, stands);
                if here == Lit::FALSE {
                    continue;
                }
                let able = self.some_edge(inner, location)?;
                let (holds, fault) = (self.dag.and(here, able.holds), self.dag.and(here, able.fault));
                out = Truth { holds: self.dag.or(out.holds, holds), fault: self.dag.or(out.fault, fault) };
            }
        }
        Ok(out)
    }

    /// Some edge of the location is executable, with or without a partner.
    fn some_edge(&mut self, view: View<'_>, location: &Location) -> Result<Truth, Unsupported> {
        let mut none = Truth::TRUE;
        let system = self.system;
        let Some(me) = view.me else { return Ok(Truth::FALSE) };
        for id in &location.edges {
            if none.holds == Lit::FALSE {
                break;
            }
            let ready = self.ready_without_partner(view, &system.process(me.of).edges[id.index()])?;
            none = self.then(none, Truth { holds: !ready.holds, fault: ready.fault });
        }
        Ok(Truth { holds: !none.holds, fault: none.fault })
    }
}

fn as_value(truth: Truth) -> Value {
    Value { word: Word::truth(truth.holds), fault: truth.fault }
}
