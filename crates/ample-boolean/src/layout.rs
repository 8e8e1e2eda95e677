//! Where the parts of a state lie: cells, and the bits of each.
//!
//! The order is that of the state: who holds control, how many processes there are, who moved last,
//! where the monitor stands; the globals and their channels; then slot by slot the type, the location,
//! whether it holds control, the priority, the locals and the channels of the process. A cell with one value only has no bits.

use ample_model::{ChannelId, LocationId, ProcessId, ProcessType, Scalar, State, System, Variable};

use crate::Unsupported;
use crate::bounds::{Bounds, ChannelBounds, Coding, SlotBounds, Span, kinds, offsets};

/// Handles are kept in a byte.
pub(crate) const MAX_CHANNELS: usize = 255;

/// The most cells, with or without bits.
const MAX_CELLS: usize = 1_000_000;

/// The number of a cell.
pub(crate) type Number = usize;

/// What is known of a cell inside.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub name: String,
    pub owner: Option<u32>,
    pub coding: Coding,
    /// Its first bit.
    pub first: u32,
    /// Not part of the state.
    pub hidden: bool,
}

/// A place in the process table.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// What may stand in it; the type cell holds an index into this.
    pub types: Vec<ProcessId>,
    pub of: Number,
    pub location: Number,
    /// It holds control, where each slot says so itself.
    pub control: Option<Number>,
    pub priority: Number,
    pub locals: std::ops::Range<Number>,
    /// Its channels, by index.
    pub channels: std::ops::Range<usize>,
}

impl Slot {
    /// All its cells but those of its channels.
    pub fn cells(&self) -> impl Iterator<Item = Number> + use<> {
        [self.of, self.location, self.priority].into_iter().chain(self.control).chain(self.locals.clone())
    }
}

/// A channel that may exist; its handle is its index plus one.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// The slot of its process, if it is not global.
    pub owner: Option<usize>,
    /// Its kind, for each type that its process may have.
    pub kinds: Vec<(Option<ProcessId>, ChannelId)>,
    pub length: Number,
    /// The first cell of the oldest message.
    pub messages: Number,
    /// Cells from one message to the next.
    pub fields: usize,
    pub capacity: usize,
}

impl Queue {
    pub fn cell(&self, message: usize, field: usize) -> Number {
        self.messages + message * self.fields + field
    }

    pub fn cells(&self) -> impl Iterator<Item = Number> + use<> {
        std::iter::once(self.length).chain(self.messages..self.messages + self.fields * self.capacity)
    }
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub places: Vec<Place>,
    pub bits: u32,
    /// 0, or the holder of control plus one; where each slot says whether it is the holder, somebody is.
    pub control: Number,
    /// By process type and location: whoever stands there may hold control.
    held_at: Vec<Vec<bool>>,
    pub count: Number,
    pub last: Number,
    pub monitor: Number,
    pub globals: std::ops::Range<Number>,
    pub global_offsets: Vec<usize>,
    pub local_offsets: Vec<Vec<usize>>,
    pub queues: Vec<Queue>,
    pub slots: Vec<Slot>,
}

impl Layout {
    pub fn new(system: &System, bounds: &Bounds) -> Result<Layout, Unsupported> {
        let mut layout = Layout {
            places: Vec::new(),
            bits: 0,
            control: 0,
            held_at: system.processes.iter().map(held_at).collect(),
            count: 0,
            last: 0,
            monitor: 0,
            globals: 0..0,
            global_offsets: offsets(system, &system.globals),
            local_offsets: system.processes.iter().map(|process| offsets(system, &process.locals)).collect(),
            queues: Vec::new(),
            slots: Vec::new(),
        };
        layout.header(system, bounds);
        layout.global_cells(system, bounds)?;
        for number in 0..bounds.slots.len() {
            layout.slot(system, bounds, number)?;
        }
        Ok(layout)
    }

    fn push(&mut self, name: String, owner: Option<usize>, span: Span) -> Number {
        let coding = Coding::of(span);
        let owner = owner.map(|slot| slot as u32);
        self.places.push(Place { name, owner, coding, first: self.bits, hidden: false });
        self.bits = self.bits.saturating_add(coding.bits);
        self.places.len() - 1
    }

    fn header(&mut self, system: &System, bounds: &Bounds) {
        let most = bounds.slots.len() as i64;
        let keeps = self.held_at.iter().flatten().any(|is_held| *is_held);
        let holders = if bounds.spreads_control { 1 } else { most };
        self.control = self.push("control".into(), None, Span { low: 0, high: if keeps { holders } else { 0 } });
        let least = i64::from(bounds.least).min(most);
        self.count = self.push("count".into(), None, Span { low: least, high: most });
        let movers = if system.uses_last { (most - 1).max(0) } else { 0 };
        self.last = self.push("last".into(), None, Span { low: 0, high: movers });
        let locations = system.monitor.as_ref().map_or(1, |monitor| monitor.locations.len().max(1));
        self.monitor = self.push("monitor".into(), None, Span { low: 0, high: locations as i64 - 1 });
    }

    fn global_cells(&mut self, system: &System, bounds: &Bounds) -> Result<(), Unsupported> {
        let first = self.places.len();
        for (variable, offset) in system.globals.iter().zip(self.global_offsets.clone()) {
            let spans = &bounds.globals[offset..offset + system.slots(&variable.ty) as usize];
            self.variable(system, variable, spans, "", None);
        }
        self.globals = first..self.places.len();
        for (number, kind) in kinds(&system.globals).into_iter().enumerate() {
            let room = bounds.channels.get(number).cloned().unwrap_or_default();
            self.queue(system, None, vec![(None, kind.into())], &room)?;
        }
        Ok(())
    }

    /// Refuses to lay out more cells than there may be.
    fn make_room(&self, cells: usize) -> Result<(), Unsupported> {
        if self.places.len().saturating_add(cells) > MAX_CELLS {
            return Err(Unsupported(format!(
                "a state of the system has more than {MAX_CELLS} cells, too many for the symbolic engine"
            )));
        }
        Ok(())
    }

    fn variable(&mut self, system: &System, variable: &Variable, spans: &[Span], prefix: &str, owner: Option<usize>) {
        for ((slot, scalar), span) in (0..).zip(system.scalars(&variable.ty)).zip(spans) {
            let name = format!("{prefix}{}", system.slot_name(variable, slot));
            let span = roomy(*span, scalar);
            let span = if variable.hidden { Span { low: 0, high: 0 } } else { span };
            let cell = self.push(name, owner, span);
            self.places[cell].hidden = variable.hidden;
        }
    }

    fn queue(
        &mut self,
        system: &System,
        owner: Option<usize>,
        mut kinds: Vec<(Option<ProcessId>, ChannelId)>,
        room: &ChannelBounds,
    ) -> Result<(), Unsupported> {
        if kinds.iter().all(|(_, kind)| *kind == kinds[0].1) {
            kinds = vec![(None, kinds[0].1)];
        }
        let handle = self.queues.len() + 1;
        let of = |(_, kind): &(Option<ProcessId>, ChannelId)| &system.channels[kind.index()];
        let capacity = kinds.iter().map(|kind| of(kind).capacity as usize).max().unwrap_or(0);
        let fields = kinds.iter().map(|kind| of(kind).fields.len()).max().unwrap_or(0);
        self.make_room(capacity.saturating_mul(fields).saturating_add(1))?;
        let longest = room.length.min(capacity as u32);
        let length = self.push(format!("chan#{handle}.length"), owner, Span { low: 0, high: longest.into() });
        let messages = self.places.len();
        for message in 0..capacity {
            for field in 0..fields {
                let span = room.fields.get(field).copied().unwrap_or(Span::NONE);
                // Places that are not used all have the same value.
                let unused = Coding::of(span).low;
                let used = (message as u32) < longest;
                let span = if used { span } else { Span { low: unused, high: unused } };
                self.push(format!("chan#{handle}[{message}].{field}"), owner, span);
            }
        }
        self.queues.push(Queue { owner, kinds, length, messages, fields, capacity });
        Ok(())
    }

    fn slot(&mut self, system: &System, bounds: &Bounds, number: usize) -> Result<(), Unsupported> {
        let room = &bounds.slots[number];
        let types: Vec<ProcessId> = room.types.iter().copied().collect();
        let names: Vec<&str> = types.iter().map(|of| system.process(*of).name.as_str()).collect();
        let name = format!("{}({number})", names.join("|"));
        let of = self.push(format!("{name}#"), Some(number), Span { low: 0, high: types.len() as i64 - 1 });
        let locations = types.iter().map(|of| system.process(*of).locations.len()).max().unwrap_or(1);
        let location = self.push(format!("{name}@"), Some(number), Span { low: 0, high: locations as i64 - 1 });
        let holds = types.iter().any(|of| self.held_at[of.index()].contains(&true));
        let span = Span { low: 0, high: holds.into() };
        let control = bounds.spreads_control.then(|| self.push(format!("{name}!"), Some(number), span));
        let priority = self.push(format!("{name}:_priority"), Some(number), room.priority);
        let locals = self.locals(system, room, &types, &name, number)?;
        let first = self.queues.len();
        self.own_queues(system, room, &types, number)?;
        let channels = first..self.queues.len();
        self.slots.push(Slot { types, of, location, control, priority, locals, channels });
        Ok(())
    }

    /// The cells of the locals. Types that may stand in the same slot share them, one by one.
    fn locals(
        &mut self,
        system: &System,
        room: &SlotBounds,
        types: &[ProcessId],
        name: &str,
        owner: usize,
    ) -> Result<std::ops::Range<Number>, Unsupported> {
        let first = self.places.len();
        let cells: Vec<Vec<LocalCell>> = types.iter().map(|of| local_cells(system, *of)).collect();
        let count = cells.iter().map(Vec::len).max().unwrap_or(0);
        self.make_room(count)?;
        for number in 0..count {
            let sharers: Vec<&LocalCell> = cells.iter().filter_map(|cells| cells.get(number)).collect();
            let mut names: Vec<&str> = sharers.iter().map(|cell| cell.name.as_str()).collect();
            names.dedup();
            let hidden = sharers.iter().any(|cell| cell.hidden);
            if hidden && !sharers.iter().all(|cell| cell.hidden) {
                return Err(Unsupported(format!("the symbolic engine cannot hide {} of {name}", names.join("|"))));
            }
            let span = room.locals.get(number).copied().unwrap_or(Span::NONE);
            let span = sharers.iter().fold(span, |span, cell| roomy(span, cell.scalar));
            let span = if hidden { Span { low: 0, high: 0 } } else { span };
            let cell = self.push(format!("{name}:{}", names.join("|")), Some(owner), span);
            self.places[cell].hidden = hidden;
        }
        Ok(first..self.places.len())
    }

    fn own_queues(
        &mut self,
        system: &System,
        room: &SlotBounds,
        types: &[ProcessId],
        owner: usize,
    ) -> Result<(), Unsupported> {
        let own: Vec<Vec<usize>> = types.iter().map(|of| kinds(&system.process(*of).locals)).collect();
        let count = own.first().map_or(0, Vec::len);
        if own.iter().any(|kinds| kinds.len() != count) {
            let names: Vec<&str> = types.iter().map(|of| system.process(*of).name.as_str()).collect();
            return Err(Unsupported(format!(
                "the symbolic engine cannot tell channels apart where processes with different numbers of channels \
                 ({}) may have the same id ({owner})",
                names.join(", ")
            )));
        }
        for number in 0..count {
            let kinds = types.iter().zip(&own).map(|(of, kinds)| (Some(*of), kinds[number].into())).collect();
            let room = room.channels.get(number).cloned().unwrap_or_default();
            self.queue(system, Some(owner), kinds, &room)?;
        }
        Ok(())
    }

    /// Whoever has come to that location may hold control.
    pub fn may_hold(&self, of: ProcessId, location: LocationId) -> bool {
        self.held_at[of.index()][location.index()]
    }

    /// The coding of a cell.
    pub fn coding(&self, cell: Number) -> Coding {
        self.places[cell].coding
    }

    /// The value of a cell that is not in use: all its bits are 0.
    pub fn filler(&self, cell: Number) -> i64 {
        self.coding(cell).low
    }

    /// The first value of a cell before anything is initialised.
    pub fn blank(&self, cell: Number) -> i64 {
        let counted = [self.control, self.count, self.last].contains(&cell);
        if counted || self.globals.contains(&cell) { 0 } else { self.filler(cell) }
    }

    /// Every cell of a state with its value; cells that are not in use are left out. `None` if there is no
    /// place for part of it.
    pub fn values(&self, state: &State) -> Option<Vec<(Number, i64)>> {
        let is_spread = self.slots.iter().any(|slot| slot.control.is_some());
        let holder = state.control.map_or(0, |holder| if is_spread { 1 } else { i64::from(holder) + 1 });
        let mut out = vec![
            (self.control, holder),
            (self.count, state.processes.len() as i64),
            (self.last, state.last.into()),
            (self.monitor, state.monitor.into()),
        ];
        out.extend(state.globals.iter().enumerate().map(|(slot, value)| (self.globals.start + slot, *value)));
        for (number, process) in state.processes.iter().enumerate() {
            let slot = self.slots.get(number)?;
            let of = slot.types.iter().position(|of| *of == process.process)?;
            out.push((slot.of, of as i64));
            out.push((slot.location, process.location.0.into()));
            out.extend(slot.control.map(|cell| (cell, i64::from(state.control == Some(number as u32)))));
            out.push((slot.priority, process.priority.into()));
            out.extend(slot.locals.clone().zip(process.locals.iter().copied()));
        }
        for (queue, channel) in self.queues.iter().zip(&state.channels) {
            out.push((queue.length, channel.messages.len() as i64));
            for (position, message) in channel.messages.iter().enumerate() {
                out.extend(message.iter().enumerate().map(|(field, value)| (queue.cell(position, field), *value)));
            }
        }
        out.retain(|(cell, _)| !self.places[*cell].hidden);
        Some(out)
    }
}

/// The locations that a step which keeps control leads to.
fn held_at(process: &ProcessType) -> Vec<bool> {
    let mut held = vec![false; process.locations.len()];
    process.edges.iter().filter(|edge| edge.keeps_control).for_each(|edge| held[edge.to.index()] = true);
    held
}

/// A local cell of a process type.
struct LocalCell {
    name: String,
    scalar: Scalar,
    hidden: bool,
}

fn local_cells(system: &System, of: ProcessId) -> Vec<LocalCell> {
    let cells = |variable| {
        let cell =
            move |(slot, scalar)| LocalCell { name: system.slot_name(variable, slot), scalar, hidden: variable.hidden };
        (0..).zip(system.scalars(&variable.ty)).map(cell).collect::<Vec<_>>()
    };
    system.process(of).locals.iter().flat_map(cells).collect()
}

/// A cell of one bit gets it in any case: it costs nothing, and saves a second try.
fn roomy(span: Span, scalar: Scalar) -> Span {
    let declared = Span::of(scalar);
    if declared.high.checked_sub(declared.low) == Some(1) { span.union(declared) } else { span }
}
