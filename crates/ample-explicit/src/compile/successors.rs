//! Which moves a state allows, one after the other, and what a move does.
//!
//! The moves of a state are a sequence that is never built: a [`Transition`] says where the search for
//! the next one goes on. Processes are looked at from the youngest to the oldest, the edges of a location
//! in their order; a bit mask remembers what the edges before were, so that `else` costs nothing. What is
//! rare (priorities, `enabled`, a `Blocked` that the mask cannot answer) is done by asking again.

use std::mem;

use ample_model::{EventKind, Fault};

use super::bytecode::{NO_BIT, NOWHERE, Pc};
use super::machine::{Faulted, Machine, Timeout, Verdict, arity};
use super::memory::{Memory, Reading, Seat, Writing};
use super::native::Site;
use super::program::{EdgeCode, Program};
use super::state_layout::Frame;

/// What to say of a transition that the state does not have.
const OTHER_STATE: &str = "a transition of another state";

/// How many processes may ask after each other in one evaluation; the reference interpreter's number.
const MAX_ASKING: usize = 16;

/// No partner.
const ALONE: u16 = u16::MAX;

/// The move was found with `timeout` true.
const TIMEOUT: u8 = 1;
/// The move was found while its process holds control.
const CONTROLLED: u8 = 2;
/// Looking at the edge (or at the partner's) was a fault.
const FAULT: u8 = 4;
/// Looking at an edge before it was a fault: the mask does not tell all.
const UNMASKED: u8 = 8;
/// Whether the process may move at all is a fault.
const HALTED: u8 = 16;

/// The move needs a partner, who is still to be found. Only native code says so.
const HANDSHAKE: u8 = 32;

/// A move out of a state, and where to look for the next one. Native code writes it as three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Transition {
    /// The lists of edges that were executable before this one.
    executable: u64,
    edge: u32,
    partner_edge: u32,
    process: u16,
    partner: u16,
    flags: u8,
}

/// Many of them lie on the stack of a depth-first search.
const _: () = assert!(size_of::<Transition>() == 24);

impl Transition {
    /// The joint step of that number.
    pub(super) fn joint(code: u128) -> Transition {
        let [low, high] = [code as u64, (code >> 64) as u64];
        let (edge, partner_edge) = (high as u32, (high >> 32) as u32);
        Transition { executable: low, edge, partner_edge, process: 0, partner: ALONE, flags: 0 }
    }

    /// The number of a joint step.
    pub(super) fn code(&self) -> u128 {
        u128::from(self.executable) | u128::from(self.edge) << 64 | u128::from(self.partner_edge) << 96
    }

    /// Of a transition whose partner is still to be found.
    #[cfg(feature = "native")]
    pub(super) const HANDSHAKE: u8 = HANDSHAKE;

    /// Of the transitions of the process that holds control.
    #[cfg(feature = "native")]
    pub(super) const CONTROLLED: u8 = CONTROLLED;

    /// Of transitions that are found with `timeout` true.
    #[cfg(feature = "native")]
    pub(super) const TIMEOUT: u8 = TIMEOUT;

    /// The same with a partner, who was still to be found.
    #[cfg(feature = "native")]
    pub(super) fn with_partner(&self, partner: u32, partner_edge: u32) -> Transition {
        Transition { partner: partner as u16, partner_edge, flags: self.flags & !HANDSHAKE, ..*self }
    }

    /// Transitions with these flags are found with `timeout` true.
    #[cfg(feature = "native")]
    #[inline(always)]
    pub(super) fn is_timeout(flags: u8) -> bool {
        flags & TIMEOUT != 0
    }

    /// The last word of a transition without a partner.
    #[cfg(feature = "native")]
    #[inline(always)]
    pub(super) fn mark(process: u32, flags: u8) -> u64 {
        u64::from(process as u16) | u64::from(ALONE) << 16 | Transition::mark_flags(flags)
    }

    /// The flags in the last word.
    #[cfg(feature = "native")]
    #[inline(always)]
    pub(super) fn mark_flags(flags: u8) -> u64 {
        u64::from(flags) << 32
    }

    /// It has no partner, and looking at it was no fault.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.partner == ALONE && self.flags & FAULT == 0
    }

    /// The id of the process that moves.
    pub fn process(&self) -> u32 {
        self.process.into()
    }

    /// The number of its edge in [`Program::edges`].
    pub(super) fn edge(&self) -> u32 {
        self.edge
    }

    /// In a handshake: the receiver and the number of its edge.
    pub(super) fn partner(&self) -> Option<(u32, u32)> {
        (self.partner != ALONE).then_some((self.partner.into(), self.partner_edge))
    }
}

/// Where a process stands.
struct Standing<'a> {
    /// The first edge of its location.
    first: u32,
    /// One past the last.
    end: u32,
    /// Its place in the state.
    frame: &'a Frame,
}

/// What a move needs to know of the state before it changes.
pub struct Prepared {
    seat: Seat,
    /// Of the receiver in a handshake.
    partner: Seat,
}

/// What looking at an edge says.
enum Outcome {
    No,
    Alone,
    Handshake,
    Fault,
}

impl Machine {
    /// The first move of a state.
    pub fn first(&mut self, program: &Program, memory: &Reading<'_>) -> Option<Transition> {
        let controlled = self.first_controlled(program, memory);
        if controlled.is_some() {
            return controlled;
        }
        let found = self.everybody(program, memory, 0);
        if found.is_some() || !program.uses_timeout {
            return found;
        }
        self.everybody(program, memory, TIMEOUT)
    }

    /// The first move of the process that holds control.
    #[inline]
    pub fn first_controlled(&mut self, program: &Program, memory: &Reading<'_>) -> Option<Transition> {
        let holder = control(program, memory)?;
        self.first_of(program, memory, holder, CONTROLLED)
    }

    /// The move after that one.
    pub fn next(&mut self, program: &Program, memory: &Reading<'_>, after: &Transition) -> Option<Transition> {
        let found = self.rest_of(program, memory, after);
        if found.is_some() || after.flags & CONTROLLED != 0 {
            return found;
        }
        let flags = after.flags & TIMEOUT;
        (0..u32::from(after.process)).rev().find_map(|process| self.first_of(program, memory, process, flags))
    }

    fn everybody(&mut self, program: &Program, memory: &Reading<'_>, flags: u8) -> Option<Transition> {
        let processes = memory.layout.frames.len() as u32;
        (0..processes).rev().find_map(|process| self.first_of(program, memory, process, flags))
    }

    /// Does a condition hold that the process evaluates? If asking goes wrong it is taken to.
    pub fn condition(&mut self, program: &Program, memory: &Reading<'_>, process: u32, code: Pc) -> bool {
        if self.stand(program, memory, process).is_none() {
            return true;
        }
        self.begin(UNMASKED);
        self.evaluate(program, memory, code) != Ok(0)
    }

    /// The process has an executable edge, and a partner where it needs one. It is not asked who holds control.
    pub fn can_move(&mut self, program: &Program, memory: &Reading<'_>, process: u32) -> bool {
        self.first_of(program, memory, process, 0).is_some()
    }

    /// No process can move without `timeout`.
    #[cold]
    pub fn is_stuck(&mut self, program: &Program, memory: &Reading<'_>) -> bool {
        let saved = self.save();
        // With `timeout` false this is another question: whoever asks it may be asked again whether he is enabled.
        let asking = mem::take(&mut self.asking);
        let moves = self.first_controlled(program, memory).is_some() || self.everybody(program, memory, 0).is_some();
        self.asking = asking;
        self.restore(&saved);
        !moves
    }

    /// All moves of a state, in their order.
    pub fn list(&mut self, program: &Program, memory: &Reading<'_>, out: &mut Vec<Transition>) {
        let before = out.len();
        if let Some(holder) = control(program, memory) {
            self.list_of(program, memory, holder, CONTROLLED, out);
            if out.len() > before {
                return;
            }
        }
        let processes = memory.layout.frames.len() as u32;
        for process in (0..processes).rev() {
            self.list_of(program, memory, process, 0, out);
        }
        if out.len() == before && program.uses_timeout {
            for process in (0..processes).rev() {
                self.list_of(program, memory, process, TIMEOUT, out);
            }
        }
    }

    /// All moves of the process that holds control; none if nobody does, or it cannot move.
    pub fn list_controlled(&mut self, program: &Program, memory: &Reading<'_>, out: &mut Vec<Transition>) {
        if let Some(holder) = control(program, memory) {
            self.list_of(program, memory, holder, CONTROLLED, out);
        }
    }

    /// All moves of a process.
    #[inline]
    fn list_of(&mut self, program: &Program, memory: &Reading<'_>, process: u32, flags: u8, out: &mut Vec<Transition>) {
        if !self.list_natively(program, memory, process, flags, out) {
            self.list_by_evaluator(program, memory, process, flags, |found| out.push(found));
        }
    }

    /// The same by the evaluator.
    pub(super) fn list_by_evaluator(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        flags: u8,
        mut list: impl FnMut(Transition),
    ) {
        let mut next = self.evaluate_first_of(program, memory, process, flags);
        while let Some(found) = next {
            list(found);
            next = self.evaluate_rest_of(program, memory, &found);
        }
    }

    /// The same by native code; false if there is none, and nothing is listed then.
    #[inline]
    fn list_natively(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        flags: u8,
        out: &mut Vec<Transition>,
    ) -> bool {
        let (Some(native), Some(frame)) = (&self.native, memory.frame(process)) else { return false };
        let site = Site { state: memory.bytes(), layout: memory.layout, frame, process };
        let before = out.len();
        if !native.executable(&site, memory.location(frame), flags, out) {
            return false;
        }
        if out[before..].iter().all(|found| found.flags & HANDSHAKE == 0) {
            return true;
        }
        self.find_partners(program, memory, before, out)
    }

    /// Replaces transitions that need a partner by one for each partner. False if one of them is a fault; then all of
    /// them are removed.
    fn find_partners(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        before: usize,
        out: &mut Vec<Transition>,
    ) -> bool {
        let mut listed = mem::take(&mut self.listed);
        listed.clear();
        listed.extend(out.drain(before..));
        let mut is_done = true;
        for found in &listed {
            let flags = found.flags & !HANDSHAKE;
            if flags == found.flags {
                out.push(*found);
                continue;
            }
            if !self.each_partner(program, memory, found, |found| out.push(found)) {
                is_done = false;
                break;
            }
        }
        if !is_done {
            out.truncate(before);
        }
        self.listed = listed;
        is_done
    }

    /// Calls a function with a transition that needs a partner, with each one. False if looking at its edge is a fault.
    pub(super) fn each_partner(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        found: &Transition,
        mut list: impl FnMut(Transition),
    ) -> bool {
        let process = u32::from(found.process);
        let flags = found.flags & !HANDSHAKE;
        if self.stand(program, memory, process).is_none() {
            return true;
        }
        self.begin(flags);
        self.surroundings.executable = found.executable;
        if !matches!(self.look(program, memory, process, found.edge), Outcome::Handshake) {
            return false;
        }
        let mut last = None;
        while let Some((partner, partner_edge, fault)) = self.receiver(program, memory, process, last) {
            list(Transition { partner: partner as u16, partner_edge, flags: flags | fault, ..*found });
            last = Some((partner, partner_edge));
        }
        true
    }

    /// The first move of a process.
    #[inline]
    fn first_of(&mut self, program: &Program, memory: &Reading<'_>, process: u32, flags: u8) -> Option<Transition> {
        if self.native.is_some() {
            let mut found = mem::take(&mut self.found);
            found.clear();
            let is_listed = self.list_natively(program, memory, process, flags, &mut found);
            let first = found.first().copied();
            self.found = found;
            if is_listed {
                return first;
            }
        }
        self.evaluate_first_of(program, memory, process, flags)
    }

    /// The moves of the same process after that one.
    #[inline]
    fn rest_of(&mut self, program: &Program, memory: &Reading<'_>, after: &Transition) -> Option<Transition> {
        if self.native.is_some() && after.flags & (FAULT | UNMASKED | HALTED) == 0 {
            let mut found = mem::take(&mut self.found);
            found.clear();
            self.list_natively(program, memory, after.process.into(), after.flags, &mut found);
            let place = found.iter().position(|found| found == after);
            let next = place.map(|place| found.get(place + 1).copied());
            self.found = found;
            if let Some(next) = next {
                return next;
            }
        }
        self.evaluate_rest_of(program, memory, after)
    }

    /// The first move of a process, by the evaluator.
    #[inline]
    fn evaluate_first_of(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        flags: u8,
    ) -> Option<Transition> {
        let Standing { first: edge, end, frame } = self.stand(program, memory, process)?;
        self.begin(flags);
        if frame.restrained && edge < end {
            match self.may_move(program, memory, process) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(Faulted) => {
                    let flags = flags | FAULT | HALTED;
                    return Some(self.found(edge, process, flags));
                }
            }
        }
        self.search(program, memory, process, edge, end, flags)
    }

    /// The moves of the same process after that one, by the evaluator.
    #[inline]
    fn evaluate_rest_of(&mut self, program: &Program, memory: &Reading<'_>, after: &Transition) -> Option<Transition> {
        let process = u32::from(after.process);
        let Standing { first, end, .. } = self.stand(program, memory, process)?;
        assert!((first..end).contains(&after.edge), "{OTHER_STATE}");
        let flags = after.flags & (TIMEOUT | CONTROLLED | UNMASKED);
        self.begin(flags);
        if after.flags & HALTED != 0 {
            let edge = after.edge + 1;
            return (edge < end).then(|| self.found(edge, process, after.flags));
        }
        self.surroundings.executable = after.executable;
        if after.partner != ALONE
            && matches!(self.look(program, memory, process, after.edge), Outcome::Handshake)
            && let Some((partner, edge, fault)) =
                self.receiver(program, memory, process, Some((after.partner.into(), after.partner_edge)))
        {
            return Some(Transition { partner: partner as u16, partner_edge: edge, flags: flags | fault, ..*after });
        }
        let mut flags = flags;
        if after.flags & FAULT != 0 && after.partner == ALONE {
            flags |= UNMASKED;
            self.surroundings.by_mask = false;
        } else {
            self.surroundings.executable |= program.edges[after.edge as usize].lists;
        }
        self.search(program, memory, process, after.edge + 1, end, flags)
    }

    #[inline(always)]
    fn begin(&mut self, flags: u8) {
        let surroundings = &mut self.surroundings;
        surroundings.timeout = if flags & TIMEOUT != 0 { Timeout::Yes } else { Timeout::No };
        surroundings.executable = 0;
        surroundings.by_mask = flags & UNMASKED == 0;
        surroundings.offered = false;
    }

    #[inline(always)]
    fn found(&self, edge: u32, process: u32, flags: u8) -> Transition {
        let executable = self.surroundings.executable;
        Transition { executable, edge, partner_edge: 0, process: process as u16, partner: ALONE, flags }
    }

    /// From here on that process evaluates; the edges of its location.
    #[inline(always)]
    fn stand<'a>(&mut self, program: &Program, memory: &Reading<'a>, process: u32) -> Option<Standing<'a>> {
        let frame = memory.frame(process)?;
        self.enter(frame, process);
        let location = &program.locations[memory.location(frame)];
        Some(Standing { first: location.first_edge, end: location.end_edge, frame })
    }

    /// The first move by the edges from `edge` on.
    #[inline(always)]
    fn search(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        edge: u32,
        end: u32,
        flags: u8,
    ) -> Option<Transition> {
        for edge in edge..end {
            match self.look(program, memory, process, edge) {
                Outcome::No => {}
                Outcome::Alone => return Some(self.found(edge, process, flags)),
                Outcome::Fault => return Some(self.found(edge, process, flags | FAULT)),
                Outcome::Handshake => {
                    if let Some((partner, partner_edge, fault)) = self.receiver(program, memory, process, None) {
                        let found = self.found(edge, process, flags | fault);
                        return Some(Transition { partner: partner as u16, partner_edge, ..found });
                    }
                }
            }
        }
        None
    }

    /// Looks at an edge. In case of a handshake, the message is there afterwards.
    #[inline(always)]
    fn look(&mut self, program: &Program, memory: &Reading<'_>, process: u32, edge: u32) -> Outcome {
        let code = &program.edges[edge as usize];
        if code.ends && !self.is_youngest(memory, process) {
            return Outcome::No;
        }
        let Some(guard) = self.begins(memory, code) else { return Outcome::No };
        if guard == NOWHERE {
            return Outcome::Alone;
        }
        match self.run(program, &mut { memory }, guard) {
            Verdict::No => Outcome::No,
            Verdict::Fault => Outcome::Fault,
            Verdict::Handshake => match self.run(program, &mut { memory }, code.offer) {
                Verdict::Fault => Outcome::Fault,
                _ => Outcome::Handshake,
            },
            _ => Outcome::Alone,
        }
    }

    /// The shortcuts of a guard hold: what is left of it.
    #[inline(always)]
    fn begins(&self, memory: &Reading<'_>, code: &EdgeCode) -> Option<Pc> {
        if !self.passes(memory, &code.first) {
            return None;
        }
        if code.blocked == NO_BIT || !self.surroundings.by_mask {
            return Some(code.guard);
        }
        (self.surroundings.executable >> (code.blocked & 63) & 1 == 0).then_some(code.unblocked)
    }

    fn is_youngest(&self, memory: &Reading<'_>, process: u32) -> bool {
        process as usize + 1 == memory.layout.frames.len()
    }

    /// Who can take the message: the first receiver, or the first one after that one. Leaves the sender
    /// evaluating.
    fn receiver(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        sender: u32,
        after: Option<(u32, u32)>,
    ) -> Option<(u32, u32, u8)> {
        let surroundings = self.surroundings;
        let processes = memory.layout.frames.len() as u32;
        let start = after.map_or(processes, |(process, _)| process + 1);
        let mut found = None;
        for process in (0..start).rev().filter(|process| *process != sender) {
            let after = after.filter(|(other, _)| *other == process).map(|(_, edge)| edge);
            let receives = |frame| program.locations[memory.location(frame)].receives;
            if !memory.frame(process).is_some_and(receives) {
                continue;
            }
            found = self.receiving_edge(program, memory, process, after);
            if found.is_some() {
                break;
            }
        }
        self.surroundings = surroundings;
        found
    }

    fn receiving_edge(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        after: Option<u32>,
    ) -> Option<(u32, u32, u8)> {
        let Standing { first, end, .. } = self.stand(program, memory, process)?;
        self.surroundings.executable = 0;
        self.surroundings.by_mask = true;
        for edge in first..end {
            let code = &program.edges[edge as usize];
            let passed = after.is_some_and(|after| edge <= after);
            match self.accepts(program, memory, process, code) {
                Ok(false) => {}
                Ok(true) => {
                    self.surroundings.executable |= code.lists;
                    if passed {
                        continue;
                    }
                    match self.may_join(program, memory, process, code) {
                        Ok(true) => return Some((process, edge, 0)),
                        Ok(false) => {}
                        Err(Faulted) => return Some((process, edge, FAULT)),
                    }
                }
                Err(Faulted) => {
                    self.surroundings.by_mask = false;
                    if !passed {
                        return Some((process, edge, FAULT));
                    }
                }
            }
        }
        None
    }

    /// The edge of the evaluating process can receive the message on offer.
    fn accepts(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        code: &EdgeCode,
    ) -> Result<bool, Faulted> {
        if code.accept == NOWHERE {
            return Ok(false);
        }
        self.surroundings.offered = true;
        // A handle that cannot be evaluated is reported where the edge is looked at for itself.
        if code.handle != NOWHERE && self.evaluate(program, memory, code.handle) != Ok(self.message.handle) {
            return Ok(false);
        }
        if code.ends && !self.is_youngest(memory, process) {
            return Ok(false);
        }
        match self.run(program, &mut { memory }, code.accept) {
            Verdict::Fault => Err(Faulted),
            verdict => Ok(verdict == Verdict::Yes),
        }
    }

    fn may_join(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        process: u32,
        code: &EdgeCode,
    ) -> Result<bool, Faulted> {
        if !program.layout.segments[usize::from(code.process)].restrained {
            return Ok(true);
        }
        self.surroundings.offered = false;
        let may = self.may_move(program, memory, process);
        self.surroundings.offered = true;
        may
    }

    /// The evaluating process's `provided` clause holds, and nobody of higher priority goes first.
    fn may_move(&mut self, program: &Program, memory: &Reading<'_>, process: u32) -> Result<bool, Faulted> {
        if !self.is_provided(program, memory, process)? {
            return Ok(false);
        }
        if !program.uses_priorities {
            return Ok(true);
        }
        let saved = self.save();
        let mine = self.priority(program, memory, process);
        let processes = memory.layout.frames.len() as u32;
        let mut result = Ok(true);
        for other in (0..processes).filter(|other| *other != process) {
            if self.priority(program, memory, other) <= mine {
                continue;
            }
            let goes_first = match self.is_provided(program, memory, other) {
                Ok(true) => self.is_enabled(program, memory, other.into()),
                no => no,
            };
            if goes_first != Ok(false) {
                result = goes_first.map(|_| false);
                break;
            }
        }
        self.restore(&saved);
        result
    }

    fn is_provided(&mut self, program: &Program, memory: &Reading<'_>, process: u32) -> Result<bool, Faulted> {
        let Some(frame) = memory.frame(process) else {
            return Ok(false);
        };
        let code = program.processes[usize::from(frame.process)].provided;
        if code == NOWHERE {
            return Ok(true);
        }
        let surroundings = self.surroundings;
        self.stand(program, memory, process);
        self.surroundings.by_mask = false;
        let verdict = self.run(program, &mut { memory }, code);
        self.surroundings = surroundings;
        match verdict {
            Verdict::Fault => Err(Faulted),
            verdict => Ok(verdict == Verdict::Yes),
        }
    }

    /// The priority of a process; 0 if there is none.
    pub fn priority(&self, program: &Program, memory: &Reading<'_>, process: u32) -> i64 {
        let Some(frame) = memory.frame(process) else { return 0 };
        match program.layout.segments[usize::from(frame.process)].priority {
            Some(cell) => memory.cell(frame.offset(), &cell),
            None => program.processes[usize::from(frame.process)].priority.into(),
        }
    }

    /// [`Expr::Enabled`](ample_model::Expr::Enabled): some edge is executable, and nobody needs to receive.
    #[cold]
    pub fn is_enabled(&mut self, program: &Program, memory: &Reading<'_>, process: i64) -> Result<bool, Faulted> {
        let Some(process) = u32::try_from(process).ok().filter(|p| memory.frame(*p).is_some()) else {
            return Ok(false);
        };
        if self.asking.contains(&process) || self.asking.len() >= MAX_ASKING {
            self.fail(Fault::Circular);
            return Err(Faulted);
        }
        let saved = self.save();
        self.asking.push(process);
        let result = self.some_edge(program, memory, process);
        self.asking.pop();
        self.restore(&saved);
        result
    }

    fn some_edge(&mut self, program: &Program, memory: &Reading<'_>, process: u32) -> Result<bool, Faulted> {
        let Some(Standing { first, end, .. }) = self.stand(program, memory, process) else { return Ok(false) };
        // Every edge is looked at only if those before it are not executable, so the mask stays empty.
        self.surroundings.executable = 0;
        self.surroundings.by_mask = true;
        self.surroundings.offered = false;
        for edge in first..end {
            let code = &program.edges[edge as usize];
            if code.ends && !self.is_youngest(memory, process) {
                continue;
            }
            let Some(guard) = self.begins(memory, code) else { continue };
            if guard == NOWHERE {
                return Ok(true);
            }
            match self.run(program, &mut { memory }, guard) {
                Verdict::No => {}
                Verdict::Fault => return Err(Faulted),
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    /// [`Expr::Blocked`](ample_model::Expr::Blocked) where no mask can tell: looks at the edges again.
    #[cold]
    pub fn all_blocked(&mut self, program: &Program, memory: &Reading<'_>, list: u32) -> Result<bool, Faulted> {
        let saved = self.save();
        let process = self.surroundings.me;
        let mut result = Ok(true);
        for edge in &program.lists[list as usize] {
            self.surroundings.by_mask = false;
            let executable = if saved.is_offered() {
                self.accepts(program, memory, process, &program.edges[*edge as usize])
            } else {
                match self.look(program, memory, process, *edge) {
                    Outcome::No => Ok(false),
                    Outcome::Alone => Ok(true),
                    Outcome::Handshake => Ok(self.receiver(program, memory, process, None).is_some()),
                    Outcome::Fault => Err(Faulted),
                }
            };
            if executable != Ok(false) {
                result = executable.map(|_| false);
                break;
            }
        }
        self.restore(&saved);
        result
    }

    /// Gets ready to take the move in the state it belongs to: looks up all that depends on the state as it
    /// is. In a handshake, the message is there afterwards.
    ///
    /// # Panics
    /// If it belongs to another state, and that can be seen.
    #[inline(always)]
    pub fn prepare(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        taken: &Transition,
    ) -> Result<Prepared, Faulted> {
        let process = u32::from(taken.process);
        let Standing { first, end, frame } = self.stand(program, memory, process).expect(OTHER_STATE);
        assert!(first <= taken.edge && taken.edge < end, "{OTHER_STATE}");
        self.begin(taken.flags);
        if taken.flags & FAULT != 0 {
            self.explain(program, memory, taken);
            return Err(Faulted);
        }
        let seat = Seat::from(frame);
        let partner = if taken.partner == ALONE { seat } else { self.prepare_partner(program, memory, taken)? };
        self.surroundings.by_mask = false;
        Ok(Prepared { seat, partner })
    }

    /// The message and the receiver of a handshake, who evaluates from then on.
    fn prepare_partner(
        &mut self,
        program: &Program,
        memory: &Reading<'_>,
        taken: &Transition,
    ) -> Result<Seat, Faulted> {
        self.surroundings.executable = taken.executable;
        if !matches!(self.look(program, memory, taken.process.into(), taken.edge), Outcome::Handshake) {
            self.fail(Fault::NotEnabled);
            return Err(Faulted);
        }
        let Standing { first, end, frame } = self.stand(program, memory, taken.partner.into()).expect(OTHER_STATE);
        assert!(first <= taken.partner_edge && taken.partner_edge < end, "{OTHER_STATE}");
        let channel = &program.layout.channels[usize::from(self.message.kind)];
        if let Some(fault) = arity(channel, program.edges[taken.partner_edge as usize].fields, true) {
            self.fail(fault);
            return Err(Faulted);
        }
        Ok(frame.into())
    }

    /// Takes a move by native code, in a copy of the state that it belongs to. False if the evaluator has to do it, with
    /// another copy.
    ///
    /// # Panics
    /// If it belongs to another state, and that can be seen.
    #[inline(always)]
    pub fn take_natively(&mut self, program: &Program, memory: &mut Writing<'_>, taken: &Transition) -> bool {
        let Some(native) = &self.native else { return false };
        if !taken.is_plain() {
            return false;
        }
        let process = u32::from(taken.process);
        let (bytes, layout) = memory.parts();
        let frame = layout.frames.get(process as usize).expect(OTHER_STATE);
        let location = &program.locations[Reading::of(bytes, layout).location(frame)];
        assert!(location.first_edge <= taken.edge && taken.edge < location.end_edge, "{OTHER_STATE}");
        native.perform(taken.edge, bytes, layout, frame, process)
    }

    /// Takes the move for which it is prepared, in that very state.
    #[inline(always)]
    pub fn take(
        &mut self,
        program: &Program,
        memory: &mut Writing<'_>,
        taken: &Transition,
        prepared: &Prepared,
    ) -> Result<(), Faulted> {
        if taken.partner != ALONE {
            return self.shake_hands(program, memory, taken, prepared);
        }
        let code = &program.edges[taken.edge as usize];
        self.step(memory, &code.step);
        let alive = code.effect == NOWHERE || self.effect(program, memory, code.effect)?;
        arrive(program, memory, taken.process.into(), prepared.seat, code, alive);
        Ok(())
    }

    fn shake_hands(
        &mut self,
        program: &Program,
        memory: &mut Writing<'_>,
        taken: &Transition,
        prepared: &Prepared,
    ) -> Result<(), Faulted> {
        let sending = &program.edges[taken.edge as usize];
        let receiving = &program.edges[taken.partner_edge as usize];
        if program.monitor.is_some() {
            self.event(program, memory, EventKind::Send)?;
            self.event(program, memory, EventKind::Receive)?;
        }
        let receiver_lives = receiving.half == NOWHERE || self.effect(program, memory, receiving.half)?;
        let sender_lives = sending.half == NOWHERE || {
            // Processes may have come or gone, but the sender is still there.
            self.stand(program, &memory.reading(), taken.process.into());
            self.effect(program, memory, sending.half)?
        };
        arrive(program, memory, taken.process.into(), prepared.seat, sending, sender_lives);
        arrive(program, memory, taken.partner.into(), prepared.partner, receiving, receiver_lives);
        Ok(())
    }

    /// Looks again, for the sake of the fault.
    #[cold]
    fn explain(&mut self, program: &Program, memory: &Reading<'_>, taken: &Transition) {
        self.fault = None;
        self.surroundings.executable = taken.executable;
        let process = u32::from(taken.process);
        if taken.flags & HALTED != 0 {
            let _ = self.may_move(program, memory, process);
        } else {
            let outcome = self.look(program, memory, process, taken.edge);
            if taken.partner != ALONE && matches!(outcome, Outcome::Handshake) {
                self.fault = None;
                self.explain_partner(program, memory, taken);
            }
        }
        self.fault.get_or_insert(Fault::NotEnabled);
    }

    fn explain_partner(&mut self, program: &Program, memory: &Reading<'_>, taken: &Transition) {
        let process = u32::from(taken.partner);
        let Some(Standing { first, .. }) = self.stand(program, memory, process) else { return };
        self.surroundings.executable = 0;
        self.surroundings.by_mask = true;
        for edge in first..=taken.partner_edge {
            self.fault = None;
            let code = &program.edges[edge as usize];
            match self.accepts(program, memory, process, code) {
                Ok(true) if edge == taken.partner_edge => {
                    let _ = self.may_join(program, memory, process, code);
                }
                Ok(true) => self.surroundings.executable |= code.lists,
                Ok(false) => {}
                Err(Faulted) => self.surroundings.by_mask = false,
            }
        }
    }
}

/// The process stands at the end of the edge; it has moved last, and may keep control. Its segment is where
/// it was: processes come and go behind it.
#[inline(always)]
fn arrive(program: &Program, memory: &mut Writing<'_>, process: u32, seat: Seat, code: &EdgeCode, alive: bool) {
    if alive {
        memory.set_location(seat, code.to);
    }
    if let Some(cell) = &program.layout.control {
        let holder = if alive && code.keeps_control { process + 1 } else { 0 };
        memory.set(0, cell, holder.into());
    }
    if let Some(cell) = &program.layout.last {
        memory.set(0, cell, process.into());
    }
}

/// Who holds exclusive control.
#[inline]
pub fn control(program: &Program, memory: &Reading<'_>) -> Option<u32> {
    let cell = program.layout.control.as_ref()?;
    match memory.cell(0, cell) {
        0 => None,
        holder => Some(holder as u32 - 1),
    }
}
