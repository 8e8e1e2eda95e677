//! Where everything lives in a packed state.
//!
//! A state is a header (the number of its sequence of processes, and control, last mover and monitor where the system has them), the
//! globals, their channels, and a segment for each live process: location, priority, locals, channels.
//! Hidden variables come after everything else, so that a store can leave them out. Cells narrower than
//! a byte share bytes unless they are array elements, so that an element is always an offset away.
//! All offsets inside a segment are fixed here, once; where a segment starts depends only on which
//! process types are alive, in order, and that is what a [state layout](super::state_layout) knows.

use ample_model::{Action, Channel, Initial, Overflow, ProcessId, Scalar, System, Type, Variable, VariableKind};

use super::CompileError;
use super::compiler::actions;
use super::heap::{HeapLayout, ObjectLayout, referenced};

/// A state may be this long.
pub const MAX_STATE_BYTES: u32 = 1 << 20;

/// What an offset is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Base {
    /// The beginning of the state.
    Global = 0,
    /// The segment of the process at work.
    Local = 1,
    /// The hidden tail.
    HiddenGlobal = 2,
    /// The part of the hidden tail that belongs to the process at work.
    HiddenLocal = 3,
}

/// How the bytes of a cell become a number. All little endian, all unaligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Some bits of one byte, by shift and mask; a whole byte is shift 0 and mask 255.
    Bits,
    /// One byte, signed.
    I8,
    /// Two bytes.
    U16,
    /// Two bytes, signed.
    I16,
    /// Four bytes.
    U32,
    /// Four bytes, signed.
    I32,
    /// Eight bytes, signed.
    I64,
}

impl Kind {
    /// How many bytes it takes.
    pub fn bytes(self) -> u32 {
        match self {
            Kind::Bits | Kind::I8 => 1,
            Kind::U16 | Kind::I16 => 2,
            Kind::U32 | Kind::I32 => 4,
            Kind::I64 => 8,
        }
    }
}

/// A cell of the state: all that a load or a store needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// In bytes from the base.
    pub offset: u32,
    /// What the offset is relative to.
    pub base: Base,
    /// How its bytes are read.
    pub kind: Kind,
    /// For [`Kind::Bits`].
    pub shift: u8,
    /// For [`Kind::Bits`]: after the shift.
    pub mask: u8,
}

impl Cell {
    /// A cell that does not share its bytes.
    pub fn whole(base: Base, kind: Kind, offset: u32) -> Cell {
        Cell { offset, base, kind, shift: 0, mask: 0xff }
    }
}

/// The values that an expression or a cell may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Smallest.
    pub low: i64,
    /// Largest.
    pub high: i64,
}

impl Interval {
    /// Anything.
    pub const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX };
    /// A truth value.
    pub const BOOL: Interval = Interval { low: 0, high: 1 };

    /// Just this value.
    pub fn of(value: i64) -> Interval {
        Interval { low: value, high: value }
    }

    /// The values that a cell of this type takes.
    pub fn of_scalar(scalar: Scalar) -> Interval {
        match scalar {
            Scalar::Int { bits, signed: false } => Interval { low: 0, high: ((1u64 << bits.min(62)) - 1) as i64 },
            Scalar::Int { bits, signed: true } => {
                let high = ((1u64 << (bits.clamp(1, 63) - 1)) - 1) as i64;
                Interval { low: -high - 1, high }
            }
            Scalar::Range { low, high, .. } => Interval { low, high },
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => Interval { low: 0, high: 0xff },
            Scalar::Reference(_) => Interval { low: 0, high: u32::MAX.into() },
            Scalar::Unbounded => Interval::ALL,
        }
    }

    /// Every value of the other is one of this.
    pub fn contains(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest interval with both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// A cell and what it means: the value is what the bytes say plus `low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where it is.
    pub cell: Cell,
    /// Subtracted before storing, added after loading. 0 wherever that costs no space.
    pub low: i64,
    /// Its type.
    pub scalar: Scalar,
    /// The values it takes.
    pub values: Interval,
}

impl Slot {
    /// Does storing alone do what the type's rule asks for, since it drops just the right bits?
    pub fn wraps_by_itself(&self) -> bool {
        let Scalar::Int { bits, signed } = self.scalar else {
            return self.low == 0 && matches!(self.scalar, Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process)
                || self.scalar == Scalar::Unbounded;
        };
        self.low == 0
            && match self.cell.kind {
                Kind::Bits => !signed && u32::from(self.cell.mask) == (1 << bits) - 1,
                Kind::I8 => signed && bits == 8,
                Kind::U16 => !signed && bits == 16,
                Kind::I16 => signed && bits == 16,
                Kind::U32 => !signed && bits == 32,
                Kind::I32 => signed && bits == 32,
                Kind::I64 => false,
            }
    }
}

/// How many bits, which kind and which `low` a scalar gets.
fn representation(values: Interval, may_share: bool) -> (u32, Kind, i64) {
    let size = (i128::from(values.high) - i128::from(values.low)) as u128;
    let bits = (128 - size.leading_zeros()).max(1);
    let plain = |interval: Interval| interval.contains(values);
    if may_share && bits < 8 {
        let low = if plain(Interval { low: 0, high: (1 << bits) - 1 }) { 0 } else { values.low };
        return (bits, Kind::Bits, low);
    }
    let unbiased = [
        (Kind::Bits, Interval { low: 0, high: 0xff }),
        (Kind::I8, Interval { low: i64::from(i8::MIN), high: i64::from(i8::MAX) }),
        (Kind::U16, Interval { low: 0, high: 0xffff }),
        (Kind::I16, Interval { low: i64::from(i16::MIN), high: i64::from(i16::MAX) }),
        (Kind::U32, Interval { low: 0, high: 0xffff_ffff }),
        (Kind::I32, Interval { low: i64::from(i32::MIN), high: i64::from(i32::MAX) }),
        (Kind::I64, Interval::ALL),
    ];
    let kind = unbiased.iter().find(|(_, interval)| plain(*interval)).map_or(Kind::I64, |(kind, _)| *kind);
    let biased = match bits {
        0..=8 => Kind::Bits,
        9..=16 => Kind::U16,
        17..=32 => Kind::U32,
        _ => Kind::I64,
    };
    if biased.bytes() < kind.bytes() { (bits, biased, values.low) } else { (bits, kind, 0) }
}

/// A stretch of bytes that cells are put into one after the other.
struct Region {
    base: Base,
    length: u32,
    /// Bytes with room left: offset and bits in use.
    open: Vec<(u32, u32)>,
}

impl Region {
    fn new(base: Base, length: u32) -> Region {
        Region { base, length, open: Vec::new() }
    }

    fn bytes(&mut self, count: u32) -> Result<u32, CompileError> {
        let offset = self.length;
        self.length =
            offset.checked_add(count).filter(|end| *end <= MAX_STATE_BYTES).ok_or(CompileError::StateTooLong)?;
        Ok(offset)
    }

    fn slot(&mut self, scalar: Scalar, values: Interval, may_share: bool) -> Result<Slot, CompileError> {
        let (bits, kind, low) = representation(values, may_share);
        let cell = if may_share && bits < 8 {
            let (offset, shift) = self.share(bits)?;
            Cell { offset, base: self.base, kind, shift, mask: ((1u32 << bits) - 1) as u8 }
        } else {
            Cell::whole(self.base, kind, self.bytes(kind.bytes())?)
        };
        Ok(Slot { cell, low, scalar, values })
    }

    fn share(&mut self, bits: u32) -> Result<(u32, u8), CompileError> {
        if let Some((offset, used)) = self.open.iter_mut().find(|(_, used)| used + bits <= 8) {
            let place = (*offset, *used as u8);
            *used += bits;
            return Ok(place);
        }
        let offset = self.bytes(1)?;
        self.open.push((offset, bits));
        Ok((offset, 0))
    }
}

/// The slots of a variable.
#[derive(Clone, Debug)]
pub struct VariableLayout {
    /// In slot order.
    pub slots: Vec<Slot>,
    /// It is an input: no part of a state, but of the work area of a joint step, behind the hidden tail.
    pub is_input: bool,
}

fn collect_slots(system: &System, ty: &Type, in_array: bool, out: &mut Vec<(Scalar, bool)>) {
    match ty {
        Type::Scalar(scalar) => out.push((*scalar, in_array)),
        Type::Array { element, length } => {
            for _ in 0..*length {
                collect_slots(system, element, true, out);
            }
        }
        Type::Record(record) => {
            for (_, ty) in &system.records[record.index()].fields {
                collect_slots(system, ty, in_array, out);
            }
        }
    }
}

/// Puts variables into their regions; how many bytes inputs take, behind the hidden ones.
fn lay_out(
    system: &System,
    variables: &[Variable],
    parameters: usize,
    visible: &mut Region,
    hidden: &mut Region,
) -> Result<(Vec<VariableLayout>, u32), CompileError> {
    let mut layouts = vec![VariableLayout { slots: Vec::new(), is_input: false }; variables.len()];
    let is_input = |number: &usize| variables[*number].kind == VariableKind::Input;
    let (inputs, others): (Vec<usize>, Vec<usize>) = (0..variables.len()).partition(is_input);
    let mut length = None;
    for number in others.into_iter().chain(inputs) {
        let variable = &variables[number];
        let is_input = is_input(&number);
        if is_input && length.is_none() {
            // What is shared with a byte of the tail would be part of a state.
            hidden.open.clear();
            length = Some(hidden.length);
        }
        if system.slots(&variable.ty) > MAX_STATE_BYTES {
            return Err(CompileError::StateTooLong);
        }
        let mut scalars = Vec::new();
        collect_slots(system, &variable.ty, false, &mut scalars);
        let region = if variable.hidden || is_input { &mut *hidden } else { &mut *visible };
        let mut slots = Vec::with_capacity(scalars.len());
        // All elements of an array must look alike, so that what holds for one slot (it starts with 0,
        // which may lie outside its range) is taken to hold for all of them.
        let all_listed = number < parameters || are_all_listed(variable, scalars.len());
        for (scalar, in_array) in scalars {
            let mut values = values_of(system, scalar);
            if !all_listed {
                values = values.hull(Interval::of(0));
            }
            slots.push(region.slot(scalar, values, !in_array)?);
        }
        layouts[number] = VariableLayout { slots, is_input };
    }
    let inputs = length.map_or(0, |length| hidden.length - length);
    hidden.length -= inputs;
    Ok((layouts, inputs))
}

/// The values that a cell of this type takes in this system.
fn values_of(system: &System, scalar: Scalar) -> Interval {
    match scalar {
        Scalar::Reference(_) => Interval { low: 0, high: system.max_objects.into() },
        other => Interval::of_scalar(other),
    }
}

/// Where the objects of the record types that something refers to are; how many of them there are is part of a state.
fn lay_out_objects(system: &System, visible: &mut Region) -> Result<HeapLayout, CompileError> {
    let mut heap = HeapLayout { most: system.max_objects, ..HeapLayout::default() };
    for record in referenced(system) {
        let ty = Type::Record(record);
        if system.slots(&ty) > MAX_STATE_BYTES {
            return Err(CompileError::StateTooLong);
        }
        let mut scalars = Vec::new();
        collect_slots(system, &ty, false, &mut scalars);
        let mut region = Region::new(Base::Global, 0);
        let mut slots = Vec::with_capacity(scalars.len());
        for (scalar, in_array) in scalars {
            let values = values_of(system, scalar).hull(Interval::of(0));
            slots.push(region.slot(scalar, values, !in_array)?);
        }
        let kind = Layout::counting(system.max_objects);
        let count = Cell::whole(Base::Global, kind, visible.bytes(kind.bytes())?);
        heap.objects.push(ObjectLayout { record, slots, bytes: region.length.max(1), count, references: Vec::new() });
    }
    Ok(heap)
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Relative to the beginning of the message (the base means nothing).
    pub slot: Slot,
    /// Storing is enough, see [`Slot::wraps_by_itself`].
    pub wraps: bool,
}

/// How a kind of channel lies in memory: the number of messages, then the messages.
#[derive(Clone, Debug)]
pub struct ChannelLayout {
    /// How many messages it holds; 0 takes no bytes at all.
    pub capacity: u32,
    /// How the number of messages is kept.
    pub length: Kind,
    /// Bytes of one message.
    pub message: u32,
    /// The fields of a message.
    pub fields: Vec<Field>,
    /// All bytes together.
    pub bytes: u32,
}

impl ChannelLayout {
    fn new(channel: &Channel) -> Result<ChannelLayout, CompileError> {
        let mut message = Region::new(Base::Global, 0);
        let mut fields = Vec::with_capacity(channel.fields.len());
        for scalar in &channel.fields {
            let slot = message.slot(*scalar, Interval::of_scalar(*scalar), false)?;
            fields.push(Field { slot, wraps: slot.wraps_by_itself() });
        }
        if fields.len() > super::bytecode::FIELDS {
            return Err(CompileError::TooManyFields { channel: channel.name.clone(), limit: super::bytecode::FIELDS });
        }
        let length = match channel.capacity {
            0..=0xff => Kind::Bits,
            0x100..=0xffff => Kind::U16,
            _ => Kind::U32,
        };
        let bytes = match channel.capacity {
            0 => 0,
            capacity => (capacity.checked_mul(message.length))
                .and_then(|messages| messages.checked_add(length.bytes()))
                .filter(|bytes| *bytes <= MAX_STATE_BYTES)
                .ok_or(CompileError::StateTooLong)?,
        };
        Ok(ChannelLayout { capacity: channel.capacity, length, message: message.length, fields, bytes })
    }

    /// Where the first message lies, from the beginning of the channel.
    pub fn first_message(&self) -> u32 {
        self.length.bytes()
    }
}

/// A channel created with a variable: which kind, and where its bytes are.
#[derive(Clone, Copy, Debug)]
pub struct OwnChannel {
    /// Relative to the state for a global, to the segment for a local.
    pub offset: u32,
    /// Index into [`Layout::channels`].
    pub kind: u16,
    /// The variable it belongs to.
    pub variable: u32,
    /// The slot of that variable.
    pub slot: u32,
}

/// Every slot has a first value.
fn are_all_listed(variable: &Variable, slots: usize) -> bool {
    if variable.initial.len() < slots {
        return false;
    }
    let mut is_listed = vec![false; slots];
    for (slot, _) in &variable.initial {
        if let Some(listed) = is_listed.get_mut(*slot as usize) {
            *listed = true;
        }
    }
    is_listed.into_iter().all(|listed| listed)
}

fn own_channels(
    variables: &[Variable],
    parameters: usize,
    kinds: &[ChannelLayout],
    region: &mut Region,
) -> Result<Vec<OwnChannel>, CompileError> {
    let mut own = Vec::new();
    for (variable, declared) in variables.iter().enumerate().skip(parameters) {
        for (slot, initial) in &declared.initial {
            let Initial::Channel(kind) = initial else { continue };
            let layout = kinds.get(kind.index()).ok_or(CompileError::Malformed("a channel of no declared kind"))?;
            let offset = region.bytes(layout.bytes)?;
            own.push(OwnChannel { offset, kind: kind.index() as u16, variable: variable as u32, slot: *slot });
        }
    }
    Ok(own)
}

/// The segment of a process of one type.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its location: the very first bytes.
    pub location: Cell,
    /// The number of its first location among those of all process types.
    pub first_location: u32,
    /// How many locations the type has.
    pub locations: u32,
    /// Its processes do not always move when an edge is executable: `provided`, priorities.
    pub restrained: bool,
    /// Its priority, where priorities have to be kept.
    pub priority: Option<Cell>,
    /// Parameters and locals.
    pub locals: Vec<VariableLayout>,
    /// The channels that come with its locals.
    pub channels: Vec<OwnChannel>,
    /// Bytes of the segment.
    pub length: u32,
    /// Bytes in the hidden tail.
    pub hidden: u32,
}

/// All offsets of a system.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Bytes of the number that a state begins with.
    pub number_bytes: u32,
    /// Who has exclusive control: 0, or the process id plus 1.
    pub control: Option<Cell>,
    /// The process that moved last.
    pub last: Option<Cell>,
    /// The location of the monitor.
    pub monitor: Option<Cell>,
    /// The global variables.
    pub globals: Vec<VariableLayout>,
    /// The channels that come with them.
    pub global_channels: Vec<OwnChannel>,
    /// Bytes before the first segment.
    pub length: u32,
    /// Bytes of the hidden globals.
    pub hidden: u32,
    /// Bytes of the inputs, which are no part of a state.
    pub inputs: u32,
    /// Per process type.
    pub segments: Vec<Segment>,
    /// Per kind of channel.
    pub channels: Vec<ChannelLayout>,
    /// Where the objects are.
    pub heap: HeapLayout,
}

impl Layout {
    /// Lays out a system.
    ///
    /// A state begins with a number of so many bytes.
    pub fn new(system: &System, number_bytes: u32) -> Result<Layout, CompileError> {
        if system.channels.len() > usize::from(u16::MAX) {
            return Err(CompileError::TooMany { what: "kinds of channels", limit: usize::from(u16::MAX) });
        }
        let channels = system.channels.iter().map(ChannelLayout::new).collect::<Result<Vec<_>, _>>()?;
        let mut visible = Region::new(Base::Global, number_bytes);
        let mut hidden = Region::new(Base::HiddenGlobal, 0);
        let keeps_control = system.processes.iter().any(|p| p.edges.iter().any(|e| e.keeps_control));
        let mut header = |wanted: bool, wide: bool| -> Result<Option<Cell>, CompileError> {
            let kind = if wide { Kind::U16 } else { Kind::Bits };
            if wanted { Ok(Some(Cell::whole(Base::Global, kind, visible.bytes(kind.bytes())?))) } else { Ok(None) }
        };
        let control = header(keeps_control, false)?;
        let last = header(system.uses_last, false)?;
        let wide = system.monitor.as_ref().is_some_and(|m| m.locations.len() > 256);
        let monitor = header(system.monitor.is_some(), wide)?;
        let mut heap = lay_out_objects(system, &mut visible)?;
        let (globals, inputs) = lay_out(system, &system.globals, 0, &mut visible, &mut hidden)?;
        let global_channels = own_channels(&system.globals, 0, &channels, &mut visible)?;
        let keeps_priority = keeps_priority(system);
        let mut next_location = 0;
        let segments = (system.processes.iter())
            .map(|process| {
                let mut visible = Region::new(Base::Local, 0);
                let mut hidden = Region::new(Base::HiddenLocal, 0);
                let kind = if process.locations.len() <= 256 { Kind::Bits } else { Kind::U16 };
                let location = Cell::whole(Base::Local, kind, visible.bytes(kind.bytes())?);
                let priority = match keeps_priority {
                    true => Some(Cell::whole(Base::Local, Kind::Bits, visible.bytes(1)?)),
                    false => None,
                };
                let parameters = process.parameters as usize;
                let (locals, _) = lay_out(system, &process.locals, parameters, &mut visible, &mut hidden)?;
                let channels = own_channels(&process.locals, parameters, &channels, &mut visible)?;
                let (length, hidden) = (visible.length, hidden.length);
                let restrained = system.uses_priorities || process.provided.is_some();
                let locations = process.locations.len() as u32;
                let first_location = next_location;
                next_location += locations;
                Ok(Segment {
                    location,
                    first_location,
                    locations,
                    restrained,
                    priority,
                    locals,
                    channels,
                    length,
                    hidden,
                })
            })
            .collect::<Result<Vec<_>, CompileError>>()?;
        heap.find_references(&globals, segments.iter().map(|segment| segment.locals.clone()))?;
        let (length, hidden) = (visible.length, hidden.length);
        if !heap.objects.is_empty() && (hidden > 0 || segments.iter().any(|segment| segment.hidden > 0)) {
            return Err(CompileError::HiddenReferences);
        }
        Ok(Layout {
            number_bytes,
            control,
            last,
            monitor,
            globals,
            global_channels,
            length,
            hidden,
            inputs,
            segments,
            channels,
            heap,
        })
    }
}

/// Do priorities have to be kept? They decide who moves, or at least they can be seen.
fn keeps_priority(system: &System) -> bool {
    let special =
        |process: ProcessId, priority: Option<u8>| priority.is_some_and(|p| p != system.process(process).priority);
    let changes = |action: &Action| match action {
        Action::SetPriority(..) => true,
        Action::Spawn { process, priority, .. } => special(*process, *priority),
        _ => false,
    };
    system.uses_priorities
        || system.start.iter().any(|instance| special(instance.process, instance.priority))
        || actions(system).any(|(_, action)| changes(action))
}

/// Brings a value into a type, as [`Scalar::fit`] does; kept apart so that the common rule is inlined.
#[inline]
pub fn fit(scalar: Scalar, value: i64) -> Option<i64> {
    match scalar {
        Scalar::Range { low, high, overflow: Overflow::Fault } => (low..=high).contains(&value).then_some(value),
        other => other.fit(value),
    }
}
