//! The transitions of a state together with their targets, made by native code in one go.
//!
//! A search that takes all transitions of a state asks for them one after the other: which there are, and where each leads.
//! Here the function of a location performs each executable edge right away, in a copy of the state in the next *slot* of
//! an area, so that a target needs no second call, no second look at its edge and no buffer of its own. What native code
//! cannot do alone is done for it here: partners of handshakes are found and both halves performed, and steps of a process
//! that holds control are followed. What is left is listed as a transition without a target, which the evaluator takes.

use std::ops::Range;
use std::sync::Arc;

use super::super::bytecode::{FIELDS, NOWHERE};
use super::super::executed::Executed;
use super::super::machine::Machine;
use super::super::memory::{Reading, set_cell};
use super::super::program::Program;
use super::super::state_layout::{Frame, StateLayout, StateLayouts};
use super::super::successors::{Transition, control};
use super::{Context, NOT_RESPONSIBLE, NativeCode};

/// What is known of a transition on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    /// Its target is in its slot.
    Reached = 0,
    /// The same, but a process holds control there, who goes on if there is no choice.
    Controlled = 1,
    /// Its target is found by the evaluator.
    Evaluated = 2,
    /// It needs partners; the message is there.
    Offered = 4,
    /// It needs partners, whom the evaluator finds.
    Searched = 8,
    /// Its process has ended; its target is in its slot, but for the layout.
    Ended = 16,
}

impl Kind {
    /// There is a target in a slot.
    #[inline(always)]
    pub(super) fn has_target(self) -> bool {
        matches!(self, Kind::Reached | Kind::Controlled | Kind::Ended)
    }

    /// In a set of kinds.
    pub(super) fn bit(self) -> u64 {
        self as u64
    }
}

/// The kinds that need more work.
const OPEN: u64 = Kind::Controlled as u64 | PARTNERS | Kind::Ended as u64;

/// Those that need partners.
const PARTNERS: u64 = Kind::Offered as u64 | Kind::Searched as u64;

/// In a set of kinds: steps were taken together with an edge.
pub(super) const CHAINED: u64 = 32;

/// Nothing is known: the evaluator has to look.
const UNKNOWN: u64 = u64::MAX;

/// A message that a handshake offers. Native code writes and reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Message {
    pub(super) handle: i64,
    /// The kind of the channel.
    pub(super) kind: u64,
    pub(super) fields: [i64; FIELDS],
}

impl Message {
    const NONE: Message = Message { handle: 0, kind: 0, fields: [0; FIELDS] };
}

/// A transition and where its target is. Native code writes it as four words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Successor {
    transition: Transition,
    /// The number of a slot.
    slot: u32,
    kind: Kind,
    /// Steps of an atomic sequence that were taken behind it.
    steps: u16,
}

const _: () = assert!(size_of::<Successor>() == 32);

/// Room for targets: slots of equal size. The first one has the state itself.
///
/// Behind a state there are at least [`MARGIN`] bytes, which are zero.
#[derive(Clone, Debug, Default)]
struct Area {
    /// Sixteen bytes at a time, as native code copies them.
    chunks: Vec<u128>,
    /// Chunks of a slot.
    size: usize,
    /// Slots in use.
    used: usize,
    /// Slots that there are.
    slots: usize,
    /// Bytes of a state, and of one without its youngest process.
    length: usize,
    shorter: usize,
}

/// Bytes behind a state in its slot.
const MARGIN: usize = 8;

impl Area {
    /// The state goes to the first slot.
    #[inline]
    fn begin(&mut self, state: &[u8]) {
        let size = (state.len() + MARGIN).div_ceil(16);
        if size != self.size {
            self.size = size;
            self.slots = self.chunks.len() / size;
        }
        self.length = state.len();
        self.used = 1;
        if self.slots == 0 {
            self.grow(1);
        }
        self.chunks[size - 1] = 0;
        if let Some(last) = size.checked_sub(2) {
            self.chunks[last] = 0;
        }
        self.bytes_mut()[..state.len()].copy_from_slice(state);
    }

    /// Makes room for so many slots more.
    #[inline(always)]
    fn reserve(&mut self, slots: usize) {
        if self.used + slots > self.slots {
            self.grow(self.used + slots);
        }
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        self.chunks.resize((slots * self.size).next_power_of_two(), 0);
        self.slots = self.chunks.len() / self.size;
    }

    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [u8] {
        let (start, length) = (self.chunks.as_mut_ptr(), self.chunks.len());
        // SAFETY: any bytes are numbers, and any numbers bytes.
        unsafe { std::slice::from_raw_parts_mut(start.cast(), 16 * length) }
    }

    #[inline(always)]
    fn pointer(&mut self, slot: usize) -> *mut u8 {
        debug_assert!(slot <= self.slots);
        self.chunks.as_mut_ptr().wrapping_add(slot * self.size).cast()
    }

    /// A slot as a whole.
    #[inline(always)]
    fn slot(&self, slot: usize) -> &[u8] {
        let chunks = &self.chunks[slot * self.size..(slot + 1) * self.size];
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(chunks.as_ptr().cast(), 16 * chunks.len()) }
    }

    #[inline(always)]
    fn state(&self, slot: usize) -> &[u8] {
        &self.slot(slot)[..self.length]
    }

    /// The target of an entry.
    #[inline(always)]
    fn target(&self, entry: &Successor) -> Target<'_> {
        let slot = self.slot(entry.slot as usize);
        let length = if entry.kind == Kind::Ended { self.shorter } else { self.length };
        Target { slot, length, steps: entry.steps.into() }
    }

    fn state_mut(&mut self, slot: usize) -> &mut [u8] {
        let (start, length) = (16 * slot * self.size, self.length);
        &mut self.bytes_mut()[start..start + length]
    }

    fn copy(&mut self, from: usize, to: usize) {
        let size = self.size;
        self.chunks.copy_within(from * size..(from + 1) * size, to * size);
    }
}

/// The target of a transition.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Target<'a> {
    slot: &'a [u8],
    length: usize,
    /// Steps of an atomic sequence that were taken behind the first one.
    pub(in super::super) steps: u32,
}

impl<'a> Target<'a> {
    /// The state.
    #[inline(always)]
    pub(in super::super) fn state(&self) -> &'a [u8] {
        &self.slot[..self.length]
    }

    /// The state with some bytes more, which are the same in all targets with the same layout.
    #[inline(always)]
    pub(in super::super) fn padded(&self) -> &'a [u8] {
        self.slot
    }
}

/// The successors of the state that was listed last.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Listing {
    /// What it is made by.
    native: Option<Arc<NativeCode>>,
    /// The state, as whoever asks for targets knows it; nothing if there is no list.
    key: Vec<u8>,
    entries: Vec<Successor>,
    area: Area,
    messages: Vec<Message>,
    /// The entry that is asked for next.
    next: usize,
    /// Entries that are being replaced.
    replaced: Vec<Successor>,
    /// Edges that receive.
    receivers: Vec<u64>,
    /// The steps that are taken together with others are to be noted.
    notes: bool,
}

impl Listing {
    /// There is code for lists.
    #[inline(always)]
    pub(in super::super) fn is_ready(&self) -> bool {
        self.native.is_some()
    }

    /// From now on lists are made.
    pub(in super::super) fn use_code(&mut self, native: Arc<NativeCode>) {
        self.native = Some(native);
    }

    /// The target of a transition, if it was listed for that state and they are asked for in their order; the same one may be
    /// asked for several times.
    #[inline]
    pub(in super::super) fn target(&mut self, key: &[u8], transition: &Transition) -> Option<Target<'_>> {
        let is_at = |number: usize| self.entries.get(number).is_some_and(|entry| entry.transition == *transition);
        let number = match self.next {
            next if is_at(next) => next,
            next if next > 0 && is_at(next - 1) => next - 1,
            _ => return None,
        };
        if self.key != key {
            return None;
        }
        self.next = number + 1;
        let entry = &self.entries[number];
        entry.kind.has_target().then(|| self.area.target(entry))
    }

    /// There is no list.
    #[inline]
    pub(in super::super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// From now on the state has another name.
    #[inline]
    pub(in super::super) fn rename(&mut self, key: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    /// The transitions.
    #[inline]
    pub(in super::super) fn transitions(&self) -> impl Iterator<Item = Transition> + '_ {
        self.entries.iter().map(|entry| entry.transition)
    }

    /// Lists all transitions of a state, in their order. False if there is no native code.
    #[inline]
    pub(in super::super) fn list(
        &mut self,
        machine: &mut Machine,
        program: &Program,
        memory: &Reading<'_>,
        layouts: &StateLayouts,
        executed: &mut Executed,
        most_steps: u32,
    ) -> bool {
        let Some(native) = self.native.take() else {
            self.clear();
            return false;
        };
        self.next = 0;
        self.entries.clear();
        self.area.begin(memory.bytes());
        self.messages.resize(native.widest, Message::NONE);
        let layout = memory.layout;
        let context = Context::of_all(layout);
        let most_steps = most_steps.min(u32::from(u16::MAX));
        self.notes = executed.is_noted();
        let mut work =
            Work { listing: self, native: &native, machine, program, layouts, layout, context, executed, most_steps };
        work.run(memory);
        self.native = Some(native);
        true
    }

    /// Calls a function with each transition, and with its target unless the evaluator has to find that.
    #[inline(always)]
    pub(in super::super) fn each(&self, mut visit: impl FnMut(&Transition, Option<Target<'_>>)) {
        for entry in &self.entries {
            visit(&entry.transition, entry.kind.has_target().then(|| self.area.target(entry)));
        }
    }

    /// The state that was listed, with the bytes that targets have behind theirs.
    #[inline(always)]
    pub(in super::super) fn padded(&self) -> &[u8] {
        self.area.slot(0)
    }
}

/// A list in the making.
struct Work<'a> {
    listing: &'a mut Listing,
    native: &'a NativeCode,
    machine: &'a mut Machine,
    program: &'a Program,
    layouts: &'a StateLayouts,
    /// Of the state, and of all that are reached from it without the evaluator, but for an end.
    layout: &'a StateLayout,
    context: Context,
    executed: &'a mut Executed,
    most_steps: u32,
}

impl Work<'_> {
    #[inline]
    fn run(&mut self, memory: &Reading<'_>) {
        self.context.messages = self.listing.messages.as_mut_ptr();
        self.context.size = 16 * self.listing.area.size as u64;
        if let Some(holder) = control(self.program, memory) {
            self.list(memory, holder..holder + 1, Transition::CONTROLLED);
            if !self.listing.entries.is_empty() {
                return;
            }
        }
        let all = 0..self.layout.frames.len() as u32;
        self.list(memory, all.clone(), 0);
        if self.listing.entries.is_empty() && self.program.uses_timeout {
            self.list(memory, all, Transition::TIMEOUT);
        }
    }

    /// All transitions of some processes, the youngest first.
    #[inline(always)]
    fn list(&mut self, memory: &Reading<'_>, processes: Range<u32>, flags: u8) {
        let open = if self.listing.notes { OPEN | CHAINED } else { OPEN };
        self.context.timeout = Transition::is_timeout(flags).into();
        for process in processes.rev() {
            let Some(frame) = memory.frame(process) else { continue };
            let before = self.listing.entries.len();
            let kinds = self.expand(0, memory.location(frame), frame, process, flags);
            if kinds & open != 0 {
                self.complete(memory, process, flags, before, kinds);
            }
        }
    }

    /// Appends the executable edges of a process in the state of a slot: which kinds there are, or [`UNKNOWN`] if the evaluator
    /// has to look at them.
    #[inline(always)]
    fn expand(&mut self, slot: usize, location: usize, frame: &Frame, process: u32, flags: u8) -> u64 {
        let Some(successors) = self.native.successors[location] else { return UNKNOWN };
        let (listing, widest) = (&mut *self.listing, self.native.widest);
        listing.area.reserve(widest);
        listing.entries.reserve(widest);
        let context = &mut self.context;
        context.me = process.into();
        context.mark = Transition::mark(process, flags);
        context.hidden = [frame.bases[2].into(), frame.bases[3].into()];
        context.slot = listing.area.used as u64;
        context.address = listing.area.pointer(listing.area.used);
        // SAFETY: the state in the slot has the length of its layout, in which the segment of the process lies; the code
        // reads and writes no cell outside of them, as was verified. There is room for as many entries, messages and
        // targets as the location has edges.
        let listed = unsafe {
            context.out = listing.entries.as_mut_ptr().add(listing.entries.len()).cast();
            let state = listing.area.pointer(slot);
            successors(context, state, state.add(frame.offset() as usize))
        };
        if listed <= 0 {
            return if listed == 0 { 0 } else { UNKNOWN };
        }
        let (count, kinds) = (listed as u32, listed as u64 >> 32);
        // SAFETY: so many were written.
        unsafe { listing.entries.set_len(listing.entries.len() + count as usize) };
        listing.area.used = context.slot as usize;
        kinds
    }

    /// Does what is left to do for the entries of a process, from there on.
    fn complete(&mut self, memory: &Reading<'_>, process: u32, flags: u8, before: usize, kinds: u64) {
        if kinds == UNKNOWN || kinds & PARTNERS != 0 && !self.find_partners(Some(memory), 0, before) {
            self.listing.entries.truncate(before);
            self.machine.list_by_evaluator(self.program, memory, process, flags, |transition| {
                let entry = Successor { transition, slot: 0, kind: Kind::Evaluated, steps: 0 };
                self.listing.entries.push(entry);
            });
            return;
        }
        for number in before..self.listing.entries.len() {
            let entry = self.listing.entries[number];
            if self.listing.notes && entry.steps > 0 {
                self.note_chain(&entry.transition);
            }
            match entry.kind {
                Kind::Controlled => self.follow(number),
                Kind::Ended => self.end(number),
                _ => {}
            }
        }
    }

    /// Notes the steps that were taken together with a transition.
    fn note_chain(&mut self, transition: &Transition) {
        self.native.chains[transition.edge() as usize].iter().for_each(|edge| self.executed.note_edge(*edge));
    }

    /// The youngest process of a target has ended. Where there are objects or hidden variables it is left to the evaluator.
    fn end(&mut self, number: usize) {
        let Some(shorter) = self.layouts.known(self.layout.parent) else {
            self.listing.entries[number].kind = Kind::Evaluated;
            return;
        };
        let is_simple = self.layout.tail == self.layout.length
            && shorter.tail == shorter.length
            && self.program.layout.heap.objects.is_empty();
        if !is_simple {
            self.listing.entries[number].kind = Kind::Evaluated;
            return;
        }
        self.listing.area.shorter = shorter.length as usize;
        let slot = self.listing.entries[number].slot as usize;
        self.layouts.write_number(self.layout.parent, self.listing.area.state_mut(slot));
    }

    /// Replaces entries that need partners, from there on, by one for each partner, in the state of a slot. False if it takes
    /// the evaluator, who knows only the state that is listed.
    fn find_partners(&mut self, listed: Option<&Reading<'_>>, source: usize, before: usize) -> bool {
        let mut replaced = std::mem::take(&mut self.listing.replaced);
        replaced.clear();
        replaced.extend(self.listing.entries.drain(before..));
        let is_done = replaced.iter().enumerate().all(|(number, entry)| match entry.kind {
            Kind::Offered => self.shake_hands(source, entry, number),
            Kind::Searched => listed.is_some_and(|memory| {
                self.machine.each_partner(self.program, memory, &entry.transition, |transition| {
                    self.listing.entries.push(Successor { transition, kind: Kind::Evaluated, ..*entry });
                })
            }),
            _ => {
                self.listing.entries.push(*entry);
                true
            }
        });
        self.listing.replaced = replaced;
        self.context.messages = self.listing.messages.as_mut_ptr();
        is_done
    }

    /// Appends a transition for each process that takes the message of that number. False if it takes the evaluator.
    fn shake_hands(&mut self, source: usize, entry: &Successor, number: usize) -> bool {
        let sender = entry.transition.process();
        for process in (0..self.layout.frames.len() as u32).rev().filter(|process| *process != sender) {
            let frame = &self.layout.frames[process as usize];
            let location = Reading::of(self.listing.area.state(source), self.layout).location(frame);
            if !self.program.locations[location].receives {
                continue;
            }
            let Some(receivers) = self.native.receivers[location] else { return false };
            self.listing.receivers.resize(self.native.widest, 0);
            self.enter(frame, process, number);
            self.context.out = self.listing.receivers.as_mut_ptr().cast();
            let state = self.listing.area.pointer(source);
            // SAFETY: as in `expand`; there is room for the numbers of all edges.
            let count = unsafe { receivers(&mut self.context, state, state.add(frame.offset() as usize)) };
            if count == NOT_RESPONSIBLE {
                return false;
            }
            for found in 0..count as usize {
                let edge = self.listing.receivers[found] as u32;
                self.join(source, entry, number, process, edge);
            }
        }
        true
    }

    /// From here on that process evaluates; the message of that number is on offer.
    fn enter(&mut self, frame: &Frame, process: u32, number: usize) {
        self.context.me = process.into();
        self.context.hidden = [frame.bases[2].into(), frame.bases[3].into()];
        self.context.messages = &raw mut self.listing.messages[number];
    }

    /// Appends a handshake.
    fn join(&mut self, source: usize, entry: &Successor, number: usize, partner: u32, partner_edge: u32) {
        let transition = entry.transition.with_partner(partner, partner_edge);
        let area = &mut self.listing.area;
        area.reserve(1);
        let slot = area.used;
        area.copy(source, slot);
        let (sender, sending) = (transition.process(), &self.program.edges[transition.edge() as usize]);
        let receiving = &self.program.edges[partner_edge as usize];
        // The receiver first, as in `Machine::take`.
        let is_done =
            self.half(slot, partner, partner_edge, number) && self.half(slot, sender, transition.edge(), number);
        let mut kind = Kind::Evaluated;
        if is_done {
            for (process, code) in [(sender, sending), (partner, receiving)] {
                self.arrive(slot, process, code.to, code.keeps_control);
            }
            self.listing.area.used += 1;
            kind = if receiving.keeps_control { Kind::Controlled } else { Kind::Reached };
        }
        self.listing.entries.push(Successor { transition, slot: slot as u32, kind, steps: 0 });
    }

    /// Performs the effect of an edge as one half of a handshake. False if the evaluator has to do it.
    fn half(&mut self, slot: usize, process: u32, edge: u32, number: usize) -> bool {
        if self.program.edges[edge as usize].half == NOWHERE {
            return true;
        }
        let Some(half) = self.native.halves[edge as usize] else { return false };
        let frame = &self.layout.frames[process as usize];
        self.enter(frame, process, number);
        let state = self.listing.area.pointer(slot);
        // SAFETY: as in `expand`.
        unsafe { half(&mut self.context, state, state.add(frame.offset() as usize)) != NOT_RESPONSIBLE }
    }

    fn arrive(&mut self, slot: usize, process: u32, to: u32, keeps_control: bool) {
        let frame = &self.layout.frames[process as usize];
        let layout = &self.program.layout;
        let state = self.listing.area.state_mut(slot);
        let [low, high, ..] = to.to_le_bytes();
        let at = frame.offset() as usize;
        state[at] = low;
        if frame.wide {
            state[at + 1] = high;
        }
        if let Some(cell) = &layout.control {
            set_cell(state, 0, cell, if keeps_control { i64::from(process) + 1 } else { 0 });
        }
        if let Some(cell) = &layout.last {
            set_cell(state, 0, cell, process.into());
        }
    }

    /// While control is held and there is no choice, takes the next step too. What takes the evaluator is left to it as a
    /// whole.
    fn follow(&mut self, number: usize) {
        let entry = self.listing.entries[number];
        let slot = entry.slot as usize;
        let (end, used) = (self.listing.entries.len(), self.listing.area.used);
        let mut steps = u32::from(entry.steps);
        // With control nobody waits for a timeout.
        let timeout = std::mem::take(&mut self.context.timeout);
        let is_followed = loop {
            let layout = self.layout;
            let memory = Reading::of(self.listing.area.state(slot), self.layout);
            let Some(holder) = control(self.program, &memory) else { break true };
            let Some(frame) = layout.frames.get(holder as usize) else { break false };
            let location = memory.location(frame);
            let kinds = self.expand(slot, location, frame, holder, Transition::CONTROLLED);
            if kinds == UNKNOWN {
                break false;
            }
            if kinds & PARTNERS != 0 && !self.find_partners(None, slot, end) {
                break false;
            }
            let found = &self.listing.entries[end..];
            let next = found.first().copied();
            let is_choice = found.len() > 1 || steps >= self.most_steps;
            self.listing.entries.truncate(end);
            self.listing.area.used = used;
            match next {
                None => {
                    if let Some(cell) = &self.program.layout.control {
                        set_cell(self.listing.area.state_mut(slot), 0, cell, 0);
                    }
                    break true;
                }
                Some(_) if is_choice => break true,
                Some(next) if matches!(next.kind, Kind::Reached | Kind::Controlled) => {
                    steps += 1 + u32::from(next.steps);
                    if steps > self.most_steps {
                        // An endless sequence is cut where the evaluator does it.
                        break false;
                    }
                    self.executed.note(&next.transition, false);
                    self.note_chain(&next.transition);
                    self.listing.area.copy(next.slot as usize, slot);
                }
                Some(_) => break false,
            }
        };
        self.context.timeout = timeout;
        self.listing.entries.truncate(end);
        self.listing.area.used = used;
        let entry = &mut self.listing.entries[number];
        (entry.kind, entry.steps) = if is_followed { (Kind::Reached, steps as u16) } else { (Kind::Evaluated, 0) };
    }
}
