//! Representatives: of states that a [symmetry](ample_reduce::symmetry) maps to each other one is enough.
//!
//! A permutation moves the segments of processes, the elements of arrays and the channels that belong to them, and replaces
//! process ids, subscripts and handles wherever they are kept. The representative of a state is found by sorting: each index
//! (a process, or several that belong together, with all that is theirs) has a *signature*, which
//! says everything about it except which of the others it refers to. Indices whose signatures differ are in order then.
//! Those that have the same one are either really the same, or all their orders are tried and the least state is taken.
//! So the representative is canonical, unless there are more orders than [`MOST_ORDERS`].
//!
//! Lazy representatives are those of M. Kattenbelt's thesis (§5.4.2): processes of a type are sorted by their locations,
//! and by their ids where these agree.
//!
//! A permutation changes the order in which objects on the heap are discovered; they are numbered anew
//! ([`HeapLayout::canonicalise`]), so that references need no sorts, and states with isomorphic heaps are equal.
//!
//! Where processes come to their end, one that waits to be removed is taken for one that has been removed: its locals are
//! forgotten, it comes after those that still do something, and it is removed as soon as it is the last. Nobody sees any of
//! that ([`Symmetry::terminates`]). What it has forgotten is the same for all states that are symmetric: no permutation changes
//! it, not even where a forgotten zero would be somebody's id.

use std::sync::Arc;

use ample_reduce::symmetry::{Group, Role, Symmetry};

use super::heap::{Discovery, HeapLayout};
use super::layout::{Cell, Kind, Layout, Slot};
use super::memory::{load, set_cell, store};
use super::program::Program;
use super::sequences::SequenceNumber;
use super::state_layout::{StateLayout, StateLayouts};

/// So many orders of indices with the same signature are tried.
const MOST_ORDERS: u64 = 720;

/// Bytes of a reference in a signature.
const REFERENCE: usize = 9;

/// No index.
const NO_ORBIT: u16 = u16::MAX;

/// The largest value that a permutation may change.
const MOST_VALUES: i64 = 1 << 12;

/// How a representative is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Processes of a type in the order of their locations.
    Lazy,
    /// The same one for all states that symmetries map to each other.
    #[default]
    Canonical,
}

/// A slot whose value a permutation changes.
#[derive(Clone, Copy, Debug)]
struct Valued {
    slot: Slot,
    sort: usize,
}

/// A slot that a permutation moves.
#[derive(Clone, Debug)]
struct Moved {
    slot: Slot,
    sort: Option<usize>,
    subscripts: Box<[(usize, u32, u32)]>,
    /// Its number among the slots of its variable, and where these are.
    number: u32,
    variable: usize,
}

/// Slots that permutations change; offsets are from the beginning of the state or of the segment.
#[derive(Clone, Debug, Default)]
struct Slots {
    valued: Vec<Valued>,
    moved: Vec<Moved>,
    /// The slots of the variables that have moved ones.
    variables: Vec<Vec<Slot>>,
}

impl Slots {
    fn add(&mut self, slots: &[Slot], roles: &[Role]) -> Option<()> {
        if roles.iter().all(Role::is_fixed) {
            return Some(());
        }
        let variable = self.variables.len();
        for (number, (slot, role)) in slots.iter().zip(roles).enumerate() {
            if !role.subscripts.is_empty() {
                self.moved.push(Moved {
                    slot: *slot,
                    sort: role.sort,
                    subscripts: role.subscripts.clone().into(),
                    number: number as u32,
                    variable,
                });
            } else if let Some(sort) = role.sort {
                self.valued.push(Valued { slot: *slot, sort });
            }
        }
        self.variables.push(slots.to_vec());
        Some(())
    }
}

/// A process.
#[derive(Clone, Debug)]
struct ProcessSlots {
    offset: usize,
    length: usize,
    location: Cell,
    /// Per location: states are not permuted while it stands there.
    avoided: Option<Box<[bool]>>,
    /// Where it only waits to be removed.
    last: Option<u32>,
    /// Its locals may be forgotten then.
    forgets: bool,
    /// What must be in its cells.
    constants: Vec<(Slot, i64)>,
    /// Its type.
    process: usize,
}

/// A channel that is not part of a segment.
#[derive(Clone, Debug)]
struct ChannelSlots {
    handle: i64,
    offset: usize,
    bytes: usize,
    length: Kind,
    first: usize,
    message: usize,
    fields: Vec<Valued>,
}

/// What belongs to an index, beside its processes.
#[derive(Clone, Debug, Default)]
struct IndexedSlots {
    slots: Vec<(Slot, Option<usize>)>,
    /// Indices into the channels.
    channels: Vec<usize>,
}

/// Everything that is computed once.
#[derive(Debug)]
struct Plan {
    symmetry: Symmetry,
    choice: Choice,
    /// By the number of processes: the number of the sequence, and the bytes of a state.
    prefixes: Vec<(SequenceNumber, usize)>,
    number_bytes: usize,
    control: Option<Cell>,
    processes: Vec<ProcessSlots>,
    globals: Slots,
    /// Per process type.
    locals: Vec<Slots>,
    channels: Vec<ChannelSlots>,
    /// Channels that are part of segments, from the beginning of these: per process type.
    own_channels: Vec<Vec<ChannelSlots>>,
    /// Per orbit and index.
    indexed: Vec<Vec<IndexedSlots>>,
    /// Per sort and value: the orbit, the index, and the position.
    owners: Vec<Vec<(u16, u16, u8)>>,
    /// Values that processes keep who are in no orbit: the processes, and the slots.
    kept: Vec<(usize, Valued)>,
    /// Some slot belongs to several indices, or there are objects: signatures do not say everything.
    is_entangled: bool,
    /// The objects, if there may be any.
    heap: Option<HeapLayout>,
    /// Where everything lies when all processes are there.
    layout: StateLayout,
}

/// A permutation, as it is applied.
#[derive(Clone, Debug, Default)]
struct Permutation {
    /// Where each process goes.
    processes: Vec<u32>,
    /// Per sort: what each value becomes.
    values: Vec<Vec<i64>>,
}

/// Computes representatives.
#[derive(Clone, Debug)]
pub struct Representatives {
    plan: Arc<Plan>,
    permutation: Permutation,
    full: Vec<u8>,
    best: Vec<u8>,
    other: Vec<u8>,
    dead: Vec<bool>,
    signatures: Vec<u8>,
    /// Per orbit, one after the other: which index comes to each position.
    orders: Vec<Vec<u16>>,
    base: Vec<Vec<u16>>,
    /// Per orbit and index: it refers to another one, or another one to it.
    flagged: Vec<Vec<bool>>,
    ties: Vec<(usize, usize, usize)>,
    open: Vec<(usize, usize, usize)>,
    discovery: Discovery,
    most_orders: u64,
    is_key: bool,
}

/// The value of a slot.
#[inline(always)]
fn value(bytes: &[u8], base: usize, slot: &Slot) -> i64 {
    let at = base + slot.cell.offset as usize;
    let bytes = &bytes[at..at + slot.cell.kind.bytes() as usize];
    // SAFETY: the slice has as many bytes as the kind reads.
    unsafe { load(bytes.as_ptr(), slot.cell.kind, slot.cell.shift, slot.cell.mask) + slot.low }
}

#[inline(always)]
fn set_value(bytes: &mut [u8], base: usize, slot: &Slot, value: i64) {
    let at = base + slot.cell.offset as usize;
    let bytes = &mut bytes[at..at + slot.cell.kind.bytes() as usize];
    // SAFETY: the slice has as many bytes as the kind writes.
    unsafe { store(bytes.as_mut_ptr(), slot.cell.kind, slot.cell.shift, slot.cell.mask, value - slot.low) }
}

/// Clears the bits of a slot.
#[inline(always)]
fn clear(bytes: &mut [u8], base: usize, slot: &Slot) {
    set_value(bytes, base, slot, slot.low);
}

fn messages(bytes: &[u8], base: usize, channel: &ChannelSlots) -> usize {
    let at = base + channel.offset;
    match channel.length {
        _ if channel.bytes == 0 => 0,
        Kind::Bits => bytes[at].into(),
        Kind::U16 => u16::from_le_bytes([bytes[at], bytes[at + 1]]).into(),
        _ => u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize,
    }
}

impl Representatives {
    /// For the states of a program; `None` if its states cannot be permuted.
    pub fn new(
        program: &Program,
        layouts: &StateLayouts,
        symmetry: &Symmetry,
        choice: Choice,
    ) -> Option<Representatives> {
        let plan = Plan::of(program, layouts, symmetry, choice)?;
        let processes = plan.processes.len();
        let orders: Vec<Vec<u16>> =
            symmetry.orbits.iter().map(|orbit| (0..orbit.indices.len() as u16).collect()).collect();
        let values = plan.owners.iter().map(|owners| (0..owners.len() as i64).collect()).collect();
        Some(Representatives {
            permutation: Permutation { processes: (0..processes as u32).collect(), values },
            full: Vec::new(),
            best: Vec::new(),
            other: Vec::new(),
            dead: vec![false; processes],
            signatures: Vec::new(),
            flagged: symmetry.orbits.iter().map(|orbit| vec![false; orbit.indices.len()]).collect(),
            base: orders.clone(),
            orders,
            ties: Vec::new(),
            open: Vec::new(),
            discovery: Discovery::default(),
            most_orders: MOST_ORDERS,
            is_key: false,
            plan: Arc::new(plan),
        })
    }

    /// The same for keys, which are compared and not explored: how many processes there are stays to be seen, because a state
    /// and the one after the removal of a process that has ended must not be taken for the same.
    #[must_use]
    pub fn keys(self) -> Representatives {
        Representatives { is_key: true, ..self }
    }

    /// The same for a few states, of which more orders are tried.
    #[must_use]
    pub fn thorough(self) -> Representatives {
        Representatives { most_orders: MOST_ORDERS * MOST_ORDERS, ..self }
    }

    /// The symmetry.
    pub fn symmetry(&self) -> &Symmetry {
        &self.plan.symmetry
    }

    /// Replaces a state by its representative.
    pub fn represent(&mut self, state: &mut Vec<u8>) {
        let plan = Arc::clone(&self.plan);
        let Some(count) = self.prepare(&plan, state) else { return };
        if plan.symmetry.terminates {
            self.forget(&plan, state, count);
        }
        self.sort(&plan);
        self.permutation.set(&plan, &self.orders);
        plan.apply(&self.permutation, &self.full, &self.dead, &mut self.best, &mut self.discovery);
        if plan.choice == Choice::Canonical {
            self.try_orders(&plan);
        }
        if self.is_key {
            state.truncate(plan.number_bytes);
            state.extend_from_slice(&self.best[plan.number_bytes..]);
            return;
        }
        let count = if plan.symmetry.terminates { self.alive(&plan) } else { count };
        let (number, length) = plan.prefixes[count];
        let objects = plan.layout.length as usize;
        state.clear();
        state.extend_from_slice(&self.best[..length]);
        state.extend_from_slice(&self.best[objects..]);
        let bytes = number.to_le_bytes();
        state[..plan.number_bytes].copy_from_slice(&bytes[..plan.number_bytes]);
    }

    /// The state that one permutation makes of a state, in which all processes are there; for tests. The permutation says of each orbit
    /// which index comes to each position.
    pub fn permuted(&mut self, state: &mut Vec<u8>, orders: &[Vec<u16>]) -> bool {
        let plan = Arc::clone(&self.plan);
        let Some(count) = self.prepare(&plan, state) else { return false };
        if count != plan.processes.len() {
            return false;
        }
        self.permutation.set(&plan, orders);
        plan.apply(&self.permutation, &self.full, &self.dead, &mut self.best, &mut self.discovery);
        state.clear();
        state.extend_from_slice(&self.best);
        true
    }

    /// The state with segments for all processes; how many of them are there. `None` if it is not permuted.
    fn prepare(&mut self, plan: &Plan, state: &[u8]) -> Option<usize> {
        let mut number = [0; 4];
        number[..plan.number_bytes].copy_from_slice(state.get(..plan.number_bytes)?);
        let number = SequenceNumber::from_le_bytes(number);
        let found = plan.prefixes.iter().rposition(|(known, length)| {
            *known == number && (*length == state.len() || plan.heap.is_some() && *length < state.len())
        });
        let count = found?;
        if !plan.symmetry.terminates && count < plan.needed() {
            return None;
        }
        for process in &plan.processes[..count] {
            let location = process.location_in(state);
            if process.avoided.as_ref().is_some_and(|avoided| avoided[location as usize]) {
                return None;
            }
            if process.constants.iter().any(|(slot, known)| value(state, process.offset, slot) != *known) {
                return None;
            }
        }
        let segments = plan.prefixes[count].1;
        self.full.clear();
        self.full.extend_from_slice(&state[..segments]);
        self.full.resize(plan.layout.length as usize, 0);
        self.full.extend_from_slice(&state[segments..]);
        for (id, process) in plan.processes.iter().enumerate() {
            self.dead[id] = id >= count;
            if id >= count {
                process.forget(&mut self.full);
            }
        }
        Some(count)
    }

    /// Processes that wait to be removed are as if they were.
    fn forget(&mut self, plan: &Plan, state: &[u8], count: usize) {
        let control = plan.control.map_or(0, |cell| state[cell.offset as usize]);
        for (id, process) in plan.processes[..count].iter().enumerate() {
            let Some(last) = process.last else { continue };
            if !process.forgets || process.location_in(state) != last || usize::from(control) == id + 1 {
                continue;
            }
            self.dead[id] = true;
            process.forget(&mut self.full);
        }
    }

    /// How many processes have to be there.
    fn alive(&self, plan: &Plan) -> usize {
        let moved = &self.permutation.processes;
        let mut count = 0;
        for (id, dead) in self.dead.iter().enumerate() {
            if !dead {
                count = count.max(moved[id] as usize + 1);
            }
        }
        // One that is not there, and of whom nobody knows where it would stand, stays away.
        debug_assert!(plan.processes.len() >= count);
        count
    }

    /// Sorts the indices of orbits by their signatures.
    fn sort(&mut self, plan: &Plan) {
        self.ties.clear();
        self.flagged.iter_mut().for_each(|flags| flags.fill(false));
        for (number, orbit) in plan.symmetry.orbits.iter().enumerate() {
            let order = &mut self.orders[number];
            order.iter_mut().enumerate().for_each(|(at, index)| *index = at as u16);
            if orbit.group == Group::Cyclic && plan.choice == Choice::Canonical {
                continue;
            }
            self.signatures.clear();
            for index in 0..orbit.indices.len() {
                plan.signature(number, index, &self.full, &self.dead, &mut self.signatures, &mut self.flagged);
            }
            let width = self.signatures.len() / orbit.indices.len();
            let signatures = &self.signatures;
            let of = |index: u16| &signatures[usize::from(index) * width..][..width];
            let order = &mut self.orders[number];
            if orbit.group == Group::Cyclic {
                // The rotation that makes the sequence least; the first of several.
                let count = orbit.indices.len();
                let rotated = |by: usize| (0..count).map(move |at| of(((at + by) % count) as u16));
                let least = (0..count).min_by(|one, other| rotated(*one).cmp(rotated(*other))).unwrap_or(0);
                order.iter_mut().enumerate().for_each(|(at, index)| *index = ((at + least) % count) as u16);
                continue;
            }
            // Few indices, mostly in order: by insertion, which is stable.
            for at in 1..order.len() {
                let mut here = at;
                while here > 0 && of(order[here - 1]) > of(order[here]) {
                    order.swap(here - 1, here);
                    here -= 1;
                }
            }
            let mut start = 0;
            for at in 1..=order.len() {
                if at == order.len() || of(order[at]) != of(order[start]) {
                    if at - start > 1 {
                        self.ties.push((number, start, at));
                    }
                    start = at;
                }
            }
        }
    }

    /// Tries the orders that signatures leave open.
    fn try_orders(&mut self, plan: &Plan) {
        self.open.clear();
        let mut count: u64 = 1;
        for (number, orbit) in plan.symmetry.orbits.iter().enumerate() {
            if orbit.group == Group::Cyclic {
                self.open.push((number, 0, orbit.indices.len()));
                count = count.saturating_mul(orbit.indices.len() as u64);
            }
        }
        for (number, start, end) in std::mem::take(&mut self.ties) {
            let orders = (1..=(end - start) as u64).product::<u64>();
            if self.is_trivial(plan, number, start, end) || count.saturating_mul(orders) > self.most_orders {
                continue;
            }
            count *= orders;
            self.open.push((number, start, end));
        }
        if self.open.is_empty() {
            return;
        }
        for (base, order) in self.base.iter_mut().zip(&self.orders) {
            base.clone_from(order);
        }
        // Permutations are counted through like the digits of a number; each begins in ascending order.
        for (number, start, end) in &self.open {
            self.orders[*number][*start..*end].sort_unstable();
        }
        loop {
            self.permutation.set(plan, &self.orders);
            plan.apply(&self.permutation, &self.full, &self.dead, &mut self.other, &mut self.discovery);
            if self.other < self.best {
                std::mem::swap(&mut self.other, &mut self.best);
                for (base, order) in self.base.iter_mut().zip(&self.orders) {
                    base.clone_from(order);
                }
            }
            let mut wrapped = true;
            for (number, start, end) in &self.open {
                let digits = &mut self.orders[*number][*start..*end];
                let is_cyclic = plan.symmetry.orbits[*number].group == Group::Cyclic;
                if if is_cyclic { next_rotation(digits) } else { next_permutation(digits) } {
                    wrapped = false;
                    break;
                }
            }
            if wrapped {
                break;
            }
        }
        self.permutation.set(plan, &self.base);
    }

    /// The orders of indices with the same signature make no difference.
    fn is_trivial(&mut self, plan: &Plan, number: usize, start: usize, end: usize) -> bool {
        let flagged = &self.flagged[number];
        let is_flagged = self.orders[number][start..end].iter().any(|index| flagged[usize::from(*index)]);
        if !plan.is_entangled && !is_flagged {
            return true;
        }
        for at in start + 1..end {
            self.orders[number].swap(at - 1, at);
            self.permutation.set(plan, &self.orders);
            plan.apply(&self.permutation, &self.full, &self.dead, &mut self.other, &mut self.discovery);
            self.orders[number].swap(at - 1, at);
            if self.other != self.best {
                self.permutation.set(plan, &self.orders);
                return false;
            }
        }
        self.permutation.set(plan, &self.orders);
        true
    }
}

/// The next one in lexicographic order; false, and the first one, after the last.
fn next_permutation(digits: &mut [u16]) -> bool {
    let Some(at) = (1..digits.len()).rev().find(|at| digits[at - 1] < digits[*at]) else {
        digits.reverse();
        return false;
    };
    let pivot = at - 1;
    let other = (at..digits.len()).rev().find(|other| digits[*other] > digits[pivot]).unwrap_or(at);
    digits.swap(pivot, other);
    digits[at..].reverse();
    true
}

/// The next rotation; false after the last, when all is as it was in the beginning.
fn next_rotation(digits: &mut [u16]) -> bool {
    digits.rotate_left(1);
    digits[0] != 0
}

impl ProcessSlots {
    #[inline(always)]
    fn location_in(&self, state: &[u8]) -> u32 {
        let at = self.offset + self.location.offset as usize;
        match self.location.kind {
            Kind::Bits => state[at].into(),
            _ => u16::from_le_bytes([state[at], state[at + 1]]).into(),
        }
    }

    /// It waits to be removed, or has been, and has forgotten everything but what never changes.
    fn forget(&self, state: &mut [u8]) {
        state[self.offset..self.offset + self.length].fill(0);
        let Some(last) = self.last else { return };
        self.stand(state, last);
        for (slot, known) in &self.constants {
            set_value(state, self.offset, slot, *known);
        }
    }

    fn stand(&self, state: &mut [u8], location: u32) {
        let at = self.offset + self.location.offset as usize;
        let [low, high, ..] = location.to_le_bytes();
        state[at] = low;
        if self.location.kind != Kind::Bits {
            state[at + 1] = high;
        }
    }
}

impl Permutation {
    /// Indices come to the positions that the orders of the orbits say.
    fn set(&mut self, plan: &Plan, orders: &[Vec<u16>]) {
        for (orbit, order) in plan.symmetry.orbits.iter().zip(orders) {
            for (position, index) in orbit.indices.iter().zip(order) {
                let index = &orbit.indices[usize::from(*index)];
                for (from, to) in index.processes.iter().zip(&position.processes) {
                    self.processes[*from as usize] = *to;
                }
                for (sort, (from, to)) in index.values.iter().zip(&position.values).enumerate() {
                    for (from, to) in from.iter().zip(to) {
                        self.values[sort][*from as usize] = *to;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn value(&self, sort: usize, value: i64) -> i64 {
        let map = &self.values[sort];
        usize::try_from(value).ok().and_then(|value| map.get(value).copied()).unwrap_or(value)
    }

    /// Where a slot goes, by its number.
    #[inline(always)]
    fn target(&self, moved: &Moved) -> usize {
        let mut number = i64::from(moved.number);
        for (sort, at, stride) in &moved.subscripts {
            number += (self.value(*sort, (*at).into()) - i64::from(*at)) * i64::from(*stride);
        }
        number as usize
    }
}

impl Plan {
    fn of(program: &Program, layouts: &StateLayouts, symmetry: &Symmetry, choice: Choice) -> Option<Plan> {
        let layout = &program.layout;
        let mut layouts = layouts.clone();
        let mut place = 0;
        let mut prefixes = vec![(layouts.at(0).number, layouts.at(0).length as usize)];
        for instance in &symmetry.instances {
            place = layouts.child(layout, place, u16::try_from(instance.process.index()).ok()?).ok()?;
            prefixes.push((layouts.at(place).number, layouts.at(place).length as usize));
        }
        let full = layouts.at(place).clone();
        if full.tail != full.length || layout.last.is_some() || layout.monitor.is_some() {
            return None;
        }
        let mut owners = vec![Vec::new(); symmetry.sorts];
        for (number, orbit) in symmetry.orbits.iter().enumerate() {
            for (at, index) in orbit.indices.iter().enumerate() {
                for (sort, values) in index.values.iter().enumerate() {
                    for (position, value) in values.iter().enumerate() {
                        if !(0..MOST_VALUES).contains(value) {
                            return None;
                        }
                        let table = &mut owners[sort];
                        if table.len() <= *value as usize {
                            table.resize(*value as usize + 1, (NO_ORBIT, NO_ORBIT, 0));
                        }
                        table[*value as usize] = (number as u16, at as u16, u8::try_from(position).ok()?);
                    }
                }
            }
        }
        let mut globals = Slots::default();
        for (variable, roles) in layout.globals.iter().zip(&symmetry.globals) {
            globals.add(&variable.slots, roles)?;
        }
        let mut locals = Vec::new();
        for (segment, roles) in layout.segments.iter().zip(&symmetry.locals) {
            let mut slots = Slots::default();
            for (variable, roles) in segment.locals.iter().zip(roles) {
                slots.add(&variable.slots, roles)?;
            }
            locals.push(slots);
        }
        let processes = full.frames.iter().zip(&symmetry.instances).map(|(frame, instance)| {
            let number = instance.process.index();
            let segment = &layout.segments[number];
            let avoided = &symmetry.avoided[number];
            let constant = |((variable, slot), value): (&(ample_model::VariableId, u32), &i64)| {
                (segment.locals[variable.index()].slots[*slot as usize], *value)
            };
            ProcessSlots {
                offset: frame.offset() as usize,
                length: segment.length as usize,
                location: segment.location,
                avoided: avoided.contains(&true).then(|| avoided.clone().into()),
                last: symmetry.last[number].map(|last| last.0),
                forgets: segment.channels.is_empty(),
                constants: instance.constants.iter().map(constant).collect(),
                process: number,
            }
        });
        let processes: Vec<ProcessSlots> = processes.collect();
        let channel = |handle: i64, offset: u32, kind: u16| {
            let channel = &layout.channels[usize::from(kind)];
            let fields = (channel.fields.iter().zip(&symmetry.fields[usize::from(kind)]))
                .filter_map(|(field, sort)| sort.map(|sort| Valued { slot: field.slot, sort }));
            ChannelSlots {
                handle,
                offset: offset as usize,
                bytes: channel.bytes as usize,
                length: channel.length,
                first: channel.first_message() as usize,
                message: channel.message as usize,
                fields: fields.collect(),
            }
        };
        let channels = (layout.global_channels.iter().enumerate())
            .map(|(at, own)| channel(at as i64 + 1, own.offset, own.kind))
            .collect();
        let own_channels = (layout.segments.iter())
            .map(|segment| segment.channels.iter().map(|own| channel(0, own.offset, own.kind)).collect())
            .collect();
        let mut plan = Plan {
            symmetry: symmetry.clone(),
            choice,
            prefixes,
            number_bytes: layout.number_bytes as usize,
            control: layout.control,
            processes,
            globals,
            locals,
            channels,
            own_channels,
            indexed: Vec::new(),
            owners,
            kept: Vec::new(),
            is_entangled: !layout.heap.objects.is_empty(),
            heap: (!layout.heap.objects.is_empty()).then(|| layout.heap.clone()),
            layout: full,
        };
        let indices = symmetry.orbits.iter().flat_map(|orbit| &orbit.indices);
        let permuted: Vec<u32> = indices.flat_map(|index| index.processes.iter().copied()).collect();
        for (id, process) in plan.processes.iter().enumerate() {
            if !permuted.contains(&(id as u32)) {
                plan.kept.extend(plan.locals[process.process].valued.iter().map(|valued| (id, *valued)));
                plan.is_entangled |= plan.own_channels[process.process].iter().any(|own| !own.fields.is_empty());
            }
        }
        plan.distribute(layout)?;
        Some(plan)
    }

    /// So many processes must be there for a permutation.
    fn needed(&self) -> usize {
        let indices = self.symmetry.orbits.iter().flat_map(|orbit| &orbit.indices);
        indices.flat_map(|index| &index.processes).map(|id| *id as usize + 1).max().unwrap_or(0)
    }

    /// The index that a slot belongs to, if it is one alone.
    fn index_of(&self, moved: &Moved) -> Option<(u16, u16)> {
        let mut owner = None;
        for (sort, at, _) in &moved.subscripts {
            let (orbit, index, _) = self.owner(*sort, (*at).into())?;
            if owner.is_some_and(|owner| owner != (orbit, index)) {
                return None;
            }
            owner = Some((orbit, index));
        }
        owner
    }

    fn owner(&self, sort: usize, value: i64) -> Option<(u16, u16, u8)> {
        let known = usize::try_from(value).ok().and_then(|value| self.owners[sort].get(value).copied());
        known.filter(|(orbit, ..)| *orbit != NO_ORBIT)
    }

    /// Says what belongs to each index, in the same order for all.
    fn distribute(&mut self, layout: &Layout) -> Option<()> {
        debug_assert_eq!(layout.globals.len(), self.symmetry.globals.len());
        let orbits = self.symmetry.orbits.clone();
        for (number, orbit) in orbits.iter().enumerate() {
            let mut all = vec![IndexedSlots::default(); orbit.indices.len()];
            for moved in &self.globals.moved {
                match self.index_of(moved) {
                    Some((of, 0)) if usize::from(of) == number => {}
                    None => {
                        let is_mine = |(sort, at, _): &(usize, u32, u32)| self.owner(*sort, (*at).into()).is_some();
                        self.is_entangled |= moved.subscripts.iter().any(is_mine);
                        continue;
                    }
                    _ => continue,
                }
                for (index, indexed) in all.iter_mut().enumerate() {
                    let mut target = i64::from(moved.number);
                    for (sort, at, stride) in &moved.subscripts {
                        let (_, _, position) = self.owner(*sort, (*at).into())?;
                        let to = orbit.indices[index].values[*sort][usize::from(position)];
                        target += (to - i64::from(*at)) * i64::from(*stride);
                    }
                    let slot = *self.globals.variables[moved.variable].get(usize::try_from(target).ok()?)?;
                    indexed.slots.push((slot, moved.sort));
                }
            }
            if let Some(handles) = self.symmetry.handles {
                for (index, indexed) in all.iter_mut().enumerate() {
                    for handle in &orbit.indices[index].values[handles] {
                        let number = usize::try_from(handle - 1).ok()?;
                        if number < self.channels.len() {
                            indexed.channels.push(number);
                        }
                    }
                }
                // Global channels go to global ones, and those of a process to those of the process that takes its place.
                let origin = |index: usize, handle: i64| {
                    let handle = u32::try_from(handle).ok()?;
                    let owner = self.layout.frames.iter().rposition(|frame| frame.first_channel < handle);
                    let is_global = handle as usize <= self.channels.len();
                    match owner.filter(|_| !is_global) {
                        None => Some(None),
                        Some(owner) => {
                            let position =
                                orbit.indices[index].processes.iter().position(|id| *id as usize == owner)?;
                            Some(Some((position, handle - self.layout.frames[owner].first_channel)))
                        }
                    }
                };
                for (index, other) in orbit.indices.iter().enumerate() {
                    for (handle, first) in other.values[handles].iter().zip(&orbit.indices[0].values[handles]) {
                        if origin(index, *handle)? != origin(0, *first)? {
                            return None;
                        }
                    }
                }
            }
            self.indexed.push(all);
        }
        self.is_entangled |= self.locals.iter().any(|slots| !slots.moved.is_empty());
        Some(())
    }

    /// The state that a permutation makes of a state.
    fn apply(
        &self,
        permutation: &Permutation,
        from: &[u8],
        dead: &[bool],
        to: &mut Vec<u8>,
        discovery: &mut Discovery,
    ) {
        to.clear();
        to.extend_from_slice(from);
        for (id, target) in permutation.processes.iter().enumerate() {
            let (source, target) = (&self.processes[id], &self.processes[*target as usize]);
            if dead[id] {
                // What it has forgotten is nobody's id.
                target.forget(to);
                continue;
            }
            if source.offset != target.offset {
                let segment = &from[source.offset..source.offset + source.length];
                to[target.offset..target.offset + target.length].copy_from_slice(segment);
            }
            let slots = &self.locals[source.process];
            for moved in &slots.moved {
                let slot = &slots.variables[moved.variable][permutation.target(moved)];
                let mut kept = value(from, source.offset, &moved.slot);
                if let Some(sort) = moved.sort {
                    kept = permutation.value(sort, kept);
                }
                set_value(to, target.offset, slot, kept);
            }
            for valued in &slots.valued {
                let kept = value(from, source.offset, &valued.slot);
                set_value(to, target.offset, &valued.slot, permutation.value(valued.sort, kept));
            }
            for channel in &self.own_channels[source.process] {
                permute_messages(permutation, channel, target.offset, to);
            }
        }
        for moved in &self.globals.moved {
            let slot = &self.globals.variables[moved.variable][permutation.target(moved)];
            let mut kept = value(from, 0, &moved.slot);
            if let Some(sort) = moved.sort {
                kept = permutation.value(sort, kept);
            }
            set_value(to, 0, slot, kept);
        }
        for valued in &self.globals.valued {
            let kept = value(from, 0, &valued.slot);
            set_value(to, 0, &valued.slot, permutation.value(valued.sort, kept));
        }
        for channel in &self.channels {
            let mut target = channel;
            if let Some(handles) = self.symmetry.handles {
                let handle = permutation.value(handles, channel.handle);
                if handle != channel.handle {
                    target = &self.channels[(handle - 1) as usize];
                    let bytes = &from[channel.offset..channel.offset + channel.bytes];
                    to[target.offset..target.offset + target.bytes].copy_from_slice(bytes);
                }
            }
            permute_messages(permutation, target, 0, to);
        }
        if let Some(control) = self.control {
            let holder = from[control.offset as usize];
            if holder != 0 {
                to[control.offset as usize] = permutation.processes[usize::from(holder) - 1] as u8 + 1;
            }
        }
        if let Some(heap) = &self.heap {
            heap.canonicalise(to, &self.layout, discovery);
        }
    }

    /// Writes the signature of an index, and notes references between indices.
    fn signature(
        &self,
        number: usize,
        index: usize,
        state: &[u8],
        dead: &[bool],
        out: &mut Vec<u8>,
        flagged: &mut [Vec<bool>],
    ) {
        let of = &self.symmetry.orbits[number].indices[index];
        for id in &of.processes {
            let process = &self.processes[*id as usize];
            out.push(dead[*id as usize].into());
            if self.choice == Choice::Lazy {
                out.extend_from_slice(&process.location_in(state).to_be_bytes()[2..]);
                continue;
            }
            let start = out.len();
            let slots = &self.locals[process.process];
            if dead[*id as usize] {
                // As long as that of another one.
                out.resize(start + process.length + slots.valued.len() * REFERENCE + 1, 0);
                continue;
            }
            out.extend_from_slice(&state[process.offset..process.offset + process.length]);
            for slot in slots.moved.iter().map(|m| &m.slot).chain(slots.valued.iter().map(|v| &v.slot)) {
                clear(out, start, slot);
            }
            for reference in self.heap.iter().flat_map(|heap| &heap.locals[process.process]) {
                set_cell(&mut out[start..], 0, &reference.cell, 0);
            }
            for valued in &slots.valued {
                let kept = value(state, process.offset, &valued.slot);
                self.reference((number, index), valued.sort, kept, out, flagged);
            }
            for moved in &slots.moved {
                let kept = value(state, process.offset, &moved.slot);
                let own = self.index_of(moved) == Some((number as u16, index as u16));
                if own && moved.sort.is_none() {
                    // Positions of own elements are the same in all indices, but others lie between them.
                    continue;
                }
                if let Some(sort) = moved.sort
                    && let Some((orbit, index, _)) = self.owner(sort, kept)
                {
                    flagged[usize::from(orbit)][usize::from(index)] = true;
                }
            }
            for channel in &self.own_channels[process.process] {
                for at in 0..messages(state, process.offset, channel) {
                    let message = process.offset + channel.offset + channel.first + at * channel.message;
                    for valued in &channel.fields {
                        let kept = value(state, message, &valued.slot);
                        let within = start + message - process.offset;
                        clear(out, within, &valued.slot);
                        self.flag((number, index), valued.sort, kept, flagged);
                    }
                }
            }
            if self.control.is_some_and(|control| usize::from(state[control.offset as usize]) == *id as usize + 1) {
                out.push(1);
            } else {
                out.push(0);
            }
        }
        if self.choice == Choice::Lazy {
            return;
        }
        let indexed = &self.indexed[number][index];
        for (slot, sort) in &indexed.slots {
            let kept = value(state, 0, slot);
            match sort {
                Some(sort) => self.reference((number, index), *sort, kept, out, flagged),
                None => out.extend_from_slice(&kept.to_le_bytes()),
            }
        }
        for channel in &indexed.channels {
            let channel = &self.channels[*channel];
            let start = out.len();
            out.extend_from_slice(&state[channel.offset..channel.offset + channel.bytes]);
            for at in 0..messages(state, 0, channel) {
                let message = channel.first + at * channel.message;
                for valued in &channel.fields {
                    let kept = value(state, channel.offset + message, &valued.slot);
                    clear(out, start + message, &valued.slot);
                    self.flag((number, index), valued.sort, kept, flagged);
                }
            }
        }
        for valued in &self.globals.valued {
            let kept = value(state, 0, &valued.slot);
            out.push(self.mine((number, index), valued.sort, kept));
        }
        for (id, valued) in &self.kept {
            let kept = if dead[*id] { -1 } else { value(state, self.processes[*id].offset, &valued.slot) };
            out.push(self.mine((number, index), valued.sort, kept));
        }
        for channel in &self.channels {
            let is_moved = self.symmetry.handles.is_some_and(|handles| self.owner(handles, channel.handle).is_some());
            if is_moved || channel.fields.is_empty() || channel.bytes == 0 {
                continue;
            }
            let capacity = (channel.bytes - channel.first) / channel.message.max(1);
            let length = messages(state, 0, channel);
            for at in 0..capacity {
                let message = channel.offset + channel.first + at * channel.message;
                for valued in &channel.fields {
                    let is_there = at < length;
                    let kept = if is_there { value(state, message, &valued.slot) } else { -1 };
                    out.push(self.mine((number, index), valued.sort, kept));
                }
            }
        }
    }

    /// Which of the index's values it is, if it is one.
    fn mine(&self, (number, index): (usize, usize), sort: usize, value: i64) -> u8 {
        match self.owner(sort, value) {
            Some((orbit, at, position)) if (usize::from(orbit), usize::from(at)) == (number, index) => position,
            _ => u8::MAX,
        }
    }

    /// A value that an index keeps: of its own, of another one, or of nobody.
    fn reference(
        &self,
        (number, index): (usize, usize),
        sort: usize,
        value: i64,
        out: &mut Vec<u8>,
        flagged: &mut [Vec<bool>],
    ) {
        match self.owner(sort, value) {
            None => {
                out.push(0);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Some((orbit, at, position)) => {
                let is_own = (usize::from(orbit), usize::from(at)) == (number, index);
                out.push(if is_own { 1 } else { 2 });
                out.extend_from_slice(&u64::from(position).to_le_bytes());
                if !is_own {
                    flagged[number][index] = true;
                    flagged[usize::from(orbit)][usize::from(at)] = true;
                }
            }
        }
    }

    /// A value in a message that belongs to an index: that says that signatures may not say everything.
    fn flag(&self, (number, index): (usize, usize), sort: usize, value: i64, flagged: &mut [Vec<bool>]) {
        flagged[number][index] = true;
        if let Some((orbit, at, _)) = self.owner(sort, value) {
            flagged[usize::from(orbit)][usize::from(at)] = true;
        }
    }
}

/// Replaces the values in the messages of a channel.
fn permute_messages(permutation: &Permutation, channel: &ChannelSlots, base: usize, state: &mut [u8]) {
    if channel.fields.is_empty() {
        return;
    }
    for at in 0..messages(state, base, channel) {
        let message = base + channel.offset + channel.first + at * channel.message;
        for valued in &channel.fields {
            let kept = value(state, message, &valued.slot);
            set_value(state, message, &valued.slot, permutation.value(valued.sort, kept));
        }
    }
}
