//! The evaluator: runs the code of a [`Program`] on the bytes of a state.
//!
//! One loop over flat instructions, with the registers, the message at hand and the surroundings (who
//! evaluates, and where its segment lies) kept in between, so that nothing is allocated. Guards run on a
//! borrowed state and cannot write; effects run on a buffer that may grow and shrink as processes come
//! and go. What goes wrong is put aside as a [`Fault`], and the code that asked hears [`Verdict::Fault`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ample_model::interpret::MAX_INSTRUCTIONS;
use ample_model::{EventKind, Fault};

use super::bytecode::{FIELDS, NO_BIT, Op, Pc, REGISTERS, Register, ZERO};
use super::layout::{Base, ChannelLayout, Kind, fit};
use super::memory::{Memory, Reading, Writing, load, store};
use super::native::NativeCode;
use super::program::{FirstStep, FirstTest, Program};
use super::state_layout::{Frame, LayoutError};
use super::successors::Transition;

/// How a piece of code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The guard does not hold.
    No,
    /// The guard holds; the value is there; the effect is done.
    Yes,
    /// The guard holds, but the message needs somebody to take it at once.
    Handshake,
    /// The process has ended.
    Ended,
    /// It went wrong; [`Machine::fault`] says how.
    Fault,
}

/// It went wrong; [`Machine::fault`] says how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faulted;

/// What `timeout` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// False.
    No,
    /// True.
    Yes,
    /// Still to be found out.
    Open,
}

/// No process.
pub const NOBODY: u32 = u32::MAX;

/// Who evaluates, and where.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Where the stretches of the state begin, by [`Base`].
    bases: [u32; 4],
    /// Who evaluates.
    pub me: u32,
    /// The lists of edges (a bit each) of which one was executable.
    pub executable: u64,
    /// `executable` tells all about the edges looked at so far.
    pub by_mask: bool,
    /// A message is on offer: this is the second half of a handshake.
    pub offered: bool,
    /// What `timeout` is.
    pub timeout: Timeout,
    /// The values of shared expressions that were computed at this time are known.
    time: u64,
}

/// The value of a shared expression, and the time at which it was computed.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    time: u64,
    value: i64,
}

/// A shared expression that is being computed: where to go on with its value.
#[derive(Clone, Copy, Debug)]
struct Asked {
    pc: usize,
    to: Register,
    /// Where the registers below `to` were put aside.
    registers: usize,
}

/// A message on its way: of a handshake, or just received.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The channel's handle.
    pub handle: i64,
    /// The channel's kind.
    pub kind: u16,
    /// The fields.
    pub fields: [i64; FIELDS],
}

/// All that an evaluation changes besides the state: put aside while another one is made in between.
#[derive(Clone, Copy)]
pub struct Scratch {
    registers: [i64; REGISTERS],
    message: Message,
    surroundings: Surroundings,
}

impl Scratch {
    /// It was the second half of a handshake that was looked at.
    pub fn is_offered(&self) -> bool {
        self.surroundings.offered
    }
}

/// An open channel in a register: its offset and its kind.
#[inline(always)]
fn opened(offset: usize, kind: u16) -> i64 {
    (offset as i64) << 16 | i64::from(kind)
}

#[inline(always)]
fn channel_of(program: &Program, open: i64) -> (usize, &ChannelLayout) {
    ((open >> 16) as usize, &program.layout.channels[usize::from(open as u16)])
}

/// The evaluator and what it remembers.
#[derive(Clone)]
pub struct Machine {
    registers: [i64; REGISTERS],
    /// The message on offer or just received.
    pub message: Message,
    /// Who evaluates, and where.
    pub surroundings: Surroundings,
    /// What went wrong last.
    pub fault: Option<Fault>,
    /// What went wrong without ending the step.
    pub violations: Vec<Fault>,
    /// The processes that are being asked whether they are enabled.
    pub asking: Vec<u32>,
    /// A limit that a spawn has run into.
    pub limit: Option<LayoutError>,
    ticks: u32,
    /// The values of shared expressions.
    shared: Vec<Remembered>,
    /// The latest time.
    now: u64,
    /// The shared expressions that are being computed, and the registers of those who asked.
    asked: Vec<Asked>,
    aside: Vec<i64>,
    /// Native code, when it is there.
    pub native: Option<Arc<NativeCode>>,
    /// Moves of a process.
    pub found: Vec<Transition>,
    /// Moves of a process whose partners are still to be found.
    pub listed: Vec<Transition>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            registers: [0; REGISTERS],
            message: Message { handle: 0, kind: 0, fields: [0; FIELDS] },
            surroundings: Surroundings {
                bases: [0; 4],
                me: NOBODY,
                executable: 0,
                by_mask: false,
                offered: false,
                timeout: Timeout::No,
                time: 0,
            },
            fault: None,
            violations: Vec::new(),
            asking: Vec::new(),
            limit: None,
            ticks: 0,
            shared: Vec::new(),
            now: 0,
            asked: Vec::new(),
            aside: Vec::new(),
            native: None,
            found: Vec::new(),
            listed: Vec::new(),
        }
    }
}

impl Machine {
    /// What to put back after another evaluation.
    pub fn save(&self) -> Scratch {
        Scratch { registers: self.registers, message: self.message, surroundings: self.surroundings }
    }

    /// Puts it back.
    pub fn restore(&mut self, scratch: &Scratch) {
        self.registers = scratch.registers;
        self.message = scratch.message;
        self.surroundings = scratch.surroundings;
    }

    /// Puts aside what went wrong.
    #[cold]
    #[inline(never)]
    pub fn fail(&mut self, fault: Fault) -> Verdict {
        self.fault = Some(fault);
        Verdict::Fault
    }

    /// From here on that process evaluates.
    #[inline(always)]
    pub fn enter(&mut self, frame: &Frame, process: u32) {
        self.surroundings.bases = frame.bases;
        self.surroundings.me = process;
    }

    /// From here on nobody in particular evaluates.
    pub fn leave(&mut self, tail: u32) {
        self.surroundings.bases = [0, 0, tail, 0];
        self.surroundings.me = NOBODY;
    }

    /// From here on nobody in particular evaluates, and the stretches of a work area begin there.
    pub fn enter_joint(&mut self, bases: [u32; 4]) {
        self.surroundings.bases = bases;
        self.surroundings.me = NOBODY;
    }

    /// From here on the values of shared expressions are computed anew.
    #[inline]
    pub fn forget(&mut self) {
        self.now += 1;
        self.surroundings.time = self.now;
    }

    /// Where to go on for the value of a shared expression that is not known; none if it is, then it is in its register.
    fn share(&mut self, program: &Program, pc: usize, to: Register, shared: u32) -> Option<usize> {
        let to_register = usize::from(to) & (REGISTERS - 1);
        if let Some(known) = self.shared.get(shared as usize)
            && known.time == self.surroundings.time
        {
            self.registers[to_register] = known.value;
            return None;
        }
        self.asked.push(Asked { pc, to, registers: self.aside.len() });
        self.aside.extend_from_slice(&self.registers[..to_register]);
        Some(program.shared[shared as usize] as usize)
    }

    /// Remembers the value of a shared expression: where it was asked for.
    fn keep(&mut self, program: &Program, shared: u32) -> Option<usize> {
        let value = self.registers[0];
        if self.shared.len() <= shared as usize {
            self.shared.resize(program.shared.len(), Remembered::default());
        }
        self.shared[shared as usize] = Remembered { time: self.surroundings.time, value };
        let Asked { pc, to, registers } = self.asked.pop()?;
        let aside = &self.aside[registers..];
        self.registers[..aside.len()].copy_from_slice(aside);
        self.aside.truncate(registers);
        self.registers[usize::from(to) & (REGISTERS - 1)] = value;
        Some(pc)
    }

    /// Where a stretch begins.
    pub fn base(&self, base: Base) -> u32 {
        self.surroundings.bases[base as usize]
    }

    /// The first test of a guard of the process that evaluates now.
    #[inline(always)]
    pub fn passes(&self, memory: &Reading<'_>, test: &FirstTest) -> bool {
        let at = self.surroundings.bases[test.base as usize & 3] as usize + test.offset as usize;
        // SAFETY: the byte was verified to lie behind its base, whatever the state's layout.
        let byte = unsafe { *memory.start().add(at) };
        let value = (byte >> (test.shift & 7)) & test.mask;
        (value.wrapping_sub(test.low) <= test.span) == test.inside
    }

    /// The first step of an effect of the process that evaluates now.
    #[inline(always)]
    pub fn step(&self, memory: &mut Writing<'_>, step: &FirstStep) {
        let FirstStep { shift, mask, keep, value, .. } = *step;
        let at = self.surroundings.bases[step.base as usize & 3] as usize + step.offset as usize;
        // SAFETY: the byte was verified to lie behind its base, whatever the state's layout.
        let byte = unsafe { &mut *memory.pointer().add(at) };
        let new = ((*byte >> (shift & 7)) & keep).wrapping_add(value) & mask;
        *byte = *byte & !(mask << (shift & 7)) | new << (shift & 7);
    }

    /// Puts values where code expects its arguments.
    pub fn give(&mut self, values: &[i64]) {
        self.registers[..values.len()].copy_from_slice(values);
    }

    /// The value of an expression that was compiled for whoever evaluates now.
    pub fn evaluate(&mut self, program: &Program, memory: &Reading<'_>, code: Pc) -> Result<i64, Faulted> {
        self.evaluate_in(program, &mut { memory }, code)
    }

    /// The same in any memory; it may give cells values on the way.
    pub fn evaluate_in<M: Memory>(&mut self, program: &Program, memory: &mut M, code: Pc) -> Result<i64, Faulted> {
        match self.run(program, memory, code) {
            Verdict::Fault => Err(Faulted),
            _ => Ok(self.registers[0]),
        }
    }

    /// Runs code that was compiled for the process that evaluates now.
    ///
    /// The memory has the length of its layout, the surroundings describe a process of that layout whose
    /// type the code was compiled for, and every cell of the code was found to lie inside its stretch of
    /// the state when it was [verified](super::verify). This is why addresses are not checked here.
    pub fn run<M: Memory>(&mut self, program: &Program, memory: &mut M, code: Pc) -> Verdict {
        let asked = self.asked.len();
        let verdict = self.run_to_end(program, memory, code);
        if verdict == Verdict::Fault
            && let Some(first) = self.asked.get(asked)
        {
            // It went wrong inside a shared expression.
            self.aside.truncate(first.registers);
            self.asked.truncate(asked);
        }
        verdict
    }

    #[inline(always)]
    fn run_to_end<M: Memory>(&mut self, program: &Program, memory: &mut M, code: Pc) -> Verdict {
        let mut pc = code as usize;
        let mut state = memory.pointer();
        macro_rules! reg {
            ($register:expr) => {
                self.registers[usize::from($register) & (REGISTERS - 1)]
            };
        }
        macro_rules! reg_or_zero {
            ($register:expr) => {
                if $register == ZERO { 0 } else { reg!($register) }
            };
        }
        macro_rules! address {
            ($base:expr, $offset:expr) => {
                state.wrapping_add(self.surroundings.bases[$base as usize & 3] as usize + $offset as usize)
            };
        }
        macro_rules! get {
            ($cell:expr) => {
                // SAFETY: all bytes of the cell were verified to lie behind its base.
                unsafe { load(address!($cell.base, $cell.offset), $cell.kind, $cell.shift, $cell.mask) }
            };
        }
        macro_rules! byte {
            ($cell:expr) => {
                // SAFETY: as above; it was verified to be of this kind.
                unsafe { load(address!($cell.base, $cell.offset), Kind::Bits, $cell.shift, $cell.mask) }
            };
        }
        macro_rules! set {
            ($cell:expr, $value:expr) => {{
                let value = $value;
                // SAFETY: as above, and `M::WRITES`.
                unsafe { store(address!($cell.base, $cell.offset), $cell.kind, $cell.shift, $cell.mask, value) }
            }};
        }
        macro_rules! binary {
            ($to:expr, $with:expr, |$x:ident, $y:ident| $value:expr) => {{
                let ($x, $y) = (reg!($to), reg!($with));
                reg!($to) = $value;
            }};
        }
        macro_rules! checked {
            ($to:expr, $value:expr) => {
                match $value {
                    Some(value) => reg!($to) = value,
                    None => return self.fail(Fault::Overflow),
                }
            };
        }
        loop {
            debug_assert!(pc < program.ops.len());
            // SAFETY: code was verified to come to an end before the last instruction.
            let op = unsafe { program.ops.get_unchecked(pc) };
            pc += 1;
            match *op {
                Op::Const { to, value } => reg!(to) = value.into(),
                Op::Wide { to, index } => reg!(to) = program.wide[index as usize],
                Op::Byte { to, cell } => reg!(to) = byte!(cell),
                Op::Load { to, cell } => reg!(to) = get!(cell),
                Op::ByteAt { to, index, array } => {
                    let index = reg!(index);
                    if index as u64 >= u64::from(array.length) {
                        return self.fail(Fault::Index { value: index, length: array.length });
                    }
                    let offset = array.offset as usize + index as usize * usize::from(array.stride);
                    // SAFETY: the last element was verified to lie behind the base, and this is no later one.
                    reg!(to) = unsafe { i64::from(*address!(array.base, offset)) };
                }
                Op::LoadAt { to, index, array } => {
                    let index = reg!(index);
                    if index as u64 >= u64::from(array.length) {
                        return self.fail(Fault::Index { value: index, length: array.length });
                    }
                    let offset = array.offset as usize + index as usize * usize::from(array.stride);
                    // SAFETY: as above.
                    reg!(to) = unsafe { load(address!(array.base, offset), array.kind, 0, 0xff) };
                }
                Op::Scale { to, length, stride } => {
                    let index = reg!(to);
                    if index as u64 >= u64::from(length) {
                        return self.fail(Fault::Index { value: index, length });
                    }
                    reg!(to) = index.wrapping_mul(stride.into());
                }
                Op::LoadFrom { to, distance, cell, limit } => {
                    let distance = (reg!(distance) as u64).min(limit.into());
                    let offset = cell.offset as usize + distance as usize;
                    // SAFETY: the cell was verified to lie behind its base even at the greatest distance.
                    reg!(to) = unsafe { load(address!(cell.base, offset), cell.kind, cell.shift, cell.mask) };
                }
                Op::Add { to, with } => binary!(to, with, |x, y| x.wrapping_add(y)),
                Op::Sub { to, with } => binary!(to, with, |x, y| x.wrapping_sub(y)),
                Op::Mul { to, with } => binary!(to, with, |x, y| x.wrapping_mul(y)),
                Op::AddChecked { to, with } => checked!(to, reg!(to).checked_add(reg!(with))),
                Op::SubChecked { to, with } => checked!(to, reg!(to).checked_sub(reg!(with))),
                Op::MulChecked { to, with } => checked!(to, reg!(to).checked_mul(reg!(with))),
                Op::Div { to, with } => {
                    if reg!(with) == 0 {
                        return self.fail(Fault::DivisionByZero);
                    }
                    checked!(to, reg!(to).checked_div(reg!(with)));
                }
                Op::Rem { to, with } => {
                    if reg!(with) == 0 {
                        return self.fail(Fault::DivisionByZero);
                    }
                    binary!(to, with, |x, y| x.wrapping_rem(y));
                }
                Op::BitAnd { to, with } => binary!(to, with, |x, y| x & y),
                Op::BitOr { to, with } => binary!(to, with, |x, y| x | y),
                Op::BitXor { to, with } => binary!(to, with, |x, y| x ^ y),
                Op::Shl { to, with } => {
                    let (x, distance) = (reg!(to), reg!(with) & 31);
                    let shifted = x << distance;
                    if shifted >> distance != x {
                        return self.fail(Fault::Overflow);
                    }
                    reg!(to) = shifted;
                }
                Op::Shr { to, with } => binary!(to, with, |x, y| x >> (y & 31)),
                Op::AddConst { to, value } => reg!(to) = reg!(to).wrapping_add(value.into()),
                Op::AddWide { to, index } => reg!(to) = reg!(to).wrapping_add(program.wide[index as usize]),
                Op::Negate { to } => checked!(to, reg!(to).checked_neg()),
                Op::Complement { to } => reg!(to) = !reg!(to),
                Op::Int { to } => reg!(to) = i64::from(reg!(to) as i32),
                Op::Wrap { to, shift, signed } => {
                    let value = reg!(to) << (shift & 63);
                    reg!(to) = if signed { value >> (shift & 63) } else { (value as u64 >> (shift & 63)) as i64 };
                }
                Op::Fit { to, scalar } => {
                    let value = reg!(to);
                    match fit(program.scalars[scalar as usize], value) {
                        Some(fitted) => reg!(to) = fitted,
                        None => return self.fail(Fault::OutOfRange { value }),
                    }
                }
                Op::Equal { to, with } => binary!(to, with, |x, y| (x == y).into()),
                Op::NotEqual { to, with } => binary!(to, with, |x, y| (x != y).into()),
                Op::Less { to, with } => binary!(to, with, |x, y| (x < y).into()),
                Op::LessEqual { to, with } => binary!(to, with, |x, y| (x <= y).into()),
                Op::In { to, low, high } => reg!(to) = within(reg!(to), low, high).into(),
                Op::NotIn { to, low, high } => reg!(to) = (!within(reg!(to), low, high)).into(),
                Op::ByteIn { to, cell, low, high } => reg!(to) = within(byte!(cell), low, high).into(),
                Op::ByteNotIn { to, cell, low, high } => reg!(to) = (!within(byte!(cell), low, high)).into(),
                Op::Not { to } => reg!(to) = (reg!(to) == 0).into(),
                Op::Truth { to } => reg!(to) = (reg!(to) != 0).into(),
                Op::Jump { to } => pc = to as usize,
                Op::Fresh => self.forget(),
                Op::Share { to, shared } => {
                    if let Some(body) = self.share(program, pc, to, shared) {
                        pc = body;
                    }
                }
                Op::Keep { shared } => match self.keep(program, shared) {
                    Some(asked) => pc = asked,
                    None => return self.fail(Fault::NotEnabled),
                },
                Op::JumpIfZero { test, to } => {
                    if reg!(test) == 0 {
                        pc = to as usize;
                    }
                }
                Op::JumpIfNotZero { test, to } => {
                    if reg!(test) != 0 {
                        pc = to as usize;
                    }
                }
                Op::SelfId { to } => reg!(to) = self.surroundings.me.into(),
                Op::ProcessCount { to } => reg!(to) = memory.reading().layout.frames.len() as i64,
                Op::Timeout { to } => reg!(to) = self.timeout(program, &memory.reading()).into(),
                Op::Blocked { to, bit, list } => match self.blocked(program, &memory.reading(), bit, list) {
                    Ok(blocked) => reg!(to) = blocked.into(),
                    Err(Faulted) => return Verdict::Fault,
                },
                Op::Enabled { to } => match self.is_enabled(program, &memory.reading(), reg!(to)) {
                    Ok(enabled) => reg!(to) = enabled.into(),
                    Err(Faulted) => return Verdict::Fault,
                },
                Op::LocationOf { to } => {
                    let reading = memory.reading();
                    let frame = u32::try_from(reg!(to)).ok().and_then(|process| reading.frame(process));
                    reg!(to) = frame.map_or(0, |frame| program.locations[reading.location(frame)].number.into());
                }
                Op::Priority { to } => {
                    let process = u32::try_from(reg!(to)).unwrap_or(NOBODY);
                    reg!(to) = self.priority(program, &memory.reading(), process);
                }
                Op::Subject { to, of, otherwise } => {
                    let process = u32::try_from(reg!(to)).unwrap_or(NOBODY);
                    let frame = memory.reading().frame(process).copied();
                    if frame.is_none_or(|frame| frame.process != of) {
                        pc = otherwise as usize;
                    }
                }
                Op::FirstOf { to, of, otherwise } => {
                    let reading = memory.reading();
                    match reading.layout.frames.iter().position(|frame| frame.process == of) {
                        Some(process) => reg!(to) = process as i64,
                        None => pc = otherwise as usize,
                    }
                }
                Op::StandsAt { to, set } => {
                    let reading = memory.reading();
                    let location = reading
                        .frame(reg!(to) as u32)
                        .map_or(usize::MAX, |frame| reading.location(frame) - frame.first_location as usize);
                    let word = program.location_sets[set as usize].get(location / 64);
                    reg!(to) = word.map_or(0, |word| (word >> (location % 64) & 1) as i64);
                }
                Op::LoadRemote { to, distance, of, cell, limit } => {
                    let distance = (reg_or_zero!(distance) as u64).min(limit.into()) as u32;
                    let reading = memory.reading();
                    reg!(to) = match reading.frame(reg!(to) as u32) {
                        Some(frame) if frame.process == of => {
                            let base = if cell.base == Base::Local { frame.offset() } else { frame.hidden() };
                            reading.cell(base + distance, &cell)
                        }
                        _ => 0,
                    };
                }
                Op::NonProgress { to } => {
                    let reading = memory.reading();
                    let progress =
                        reading.layout.frames.iter().any(|f| program.locations[reading.location(f)].progress);
                    reg!(to) = (!progress).into();
                }
                Op::Accepting { to } => {
                    let reading = memory.reading();
                    reg!(to) =
                        reading.layout.frames.iter().any(|f| program.locations[reading.location(f)].accept).into();
                }
                Op::Object { to, from, object } => {
                    let reading = memory.reading();
                    let found = program.layout.heap.find(reading.bytes(), reading.layout.length, object, reg!(from));
                    match found {
                        Some(at) => reg!(to) = at as i64,
                        None => return self.fail(Fault::NoObject),
                    }
                }
                Op::LoadField { to, object, distance, cell, limit } => {
                    let distance = (reg_or_zero!(distance) as u64).min(limit.into());
                    let base = reg!(object) as u64 + distance;
                    reg!(to) = memory.reading().cell(base as u32, &cell);
                }
                Op::Open { to, handle } => {
                    let handle = reg!(handle);
                    match memory.reading().channel(handle) {
                        Some(channel) => reg!(to) = opened(channel.offset as usize, channel.kind),
                        None => return self.fail(Fault::NoChannel { handle }),
                    }
                }
                Op::OpenOlder { to, handle, own } => {
                    let handle = reg!(handle);
                    let reading = memory.reading();
                    let older = reading.frame(self.surroundings.me).map_or(0, |f| f.first_channel);
                    match reading.channel(handle) {
                        Some(channel) if handle <= i64::from(older + own) => {
                            reg!(to) = opened(channel.offset as usize, channel.kind);
                        }
                        _ => return self.fail(Fault::NoChannel { handle }),
                    }
                }
                Op::Fixed { to, base, kind, offset } => {
                    let base = self.surroundings.bases[base as usize & 3] as usize;
                    reg!(to) = opened(base + offset as usize, kind);
                }
                Op::Length { to } => {
                    let (at, channel) = channel_of(program, reg!(to));
                    // SAFETY: `at` is where an open channel of this kind lies.
                    reg!(to) = unsafe { length(state, at, channel) }.into();
                }
                Op::Full { to } => {
                    let (at, channel) = channel_of(program, reg!(to));
                    // SAFETY: as above.
                    let length = unsafe { length(state, at, channel) };
                    reg!(to) = (channel.capacity > 0 && length >= channel.capacity).into();
                }
                Op::Arity { channel, given, exact } => {
                    let (_, channel) = channel_of(program, reg!(channel));
                    if let Some(fault) = arity(channel, given, exact) {
                        return self.fail(fault);
                    }
                }
                Op::HasMessage { to, channel, position } => {
                    let (at, channel) = channel_of(program, reg!(channel));
                    // SAFETY: as above.
                    let length = unsafe { length(state, at, channel) };
                    reg!(to) = (reg_or_zero!(position) < i64::from(length)).into();
                }
                Op::Field { to, channel, position, field } => {
                    let (at, channel) = channel_of(program, reg!(channel));
                    let position = reg_or_zero!(position) as usize;
                    // SAFETY: as above.
                    reg!(to) = unsafe { message_field(state, at, channel, position, usize::from(field)) };
                }
                Op::NoHandshake { channel, polls } => {
                    let (_, channel) = channel_of(program, reg!(channel));
                    if channel.capacity == 0 {
                        return self.fail(if polls { Fault::PollHandshake } else { Fault::HandshakeInEffect });
                    }
                }
                Op::FitField { to, channel, field } => {
                    let (_, channel) = channel_of(program, reg!(channel));
                    let value = reg!(to);
                    match fit(channel.fields[usize::from(field)].slot.scalar, value) {
                        Some(fitted) => reg!(to) = fitted,
                        None => return self.fail(Fault::OutOfRange { value }),
                    }
                }
                Op::Require { test } => {
                    if reg!(test) == 0 {
                        return Verdict::No;
                    }
                }
                Op::RequireNot { test } => {
                    if reg!(test) != 0 {
                        return Verdict::No;
                    }
                }
                Op::RequireByteIn { cell, low, high } => {
                    if !within(byte!(cell), low, high) {
                        return Verdict::No;
                    }
                }
                Op::RequireByteNotIn { cell, low, high } => {
                    if within(byte!(cell), low, high) {
                        return Verdict::No;
                    }
                }
                Op::RequireEqual { x, with } => {
                    if reg!(x) != reg!(with) {
                        return Verdict::No;
                    }
                }
                Op::RequireLess { x, with } => {
                    if reg!(x) >= reg!(with) {
                        return Verdict::No;
                    }
                }
                Op::RequireLessEqual { x, with } => {
                    if reg!(x) > reg!(with) {
                        return Verdict::No;
                    }
                }
                Op::RequireTimeout => {
                    if !self.timeout(program, &memory.reading()) {
                        return Verdict::No;
                    }
                }
                Op::RequireBlocked { bit, list } => match self.blocked(program, &memory.reading(), bit, list) {
                    Ok(true) => {}
                    Ok(false) => return Verdict::No,
                    Err(Faulted) => return Verdict::Fault,
                },
                Op::RequireRoom { channel: open, handle } => {
                    let (at, channel) = channel_of(program, reg!(open));
                    if channel.capacity == 0 {
                        self.message.handle = reg!(handle);
                        self.message.kind = reg!(open) as u16;
                        return Verdict::Handshake;
                    }
                    // SAFETY: as above.
                    if unsafe { length(state, at, channel) } >= channel.capacity {
                        return Verdict::No;
                    }
                }
                Op::RequireMessage { channel, keep } => {
                    let (at, channel) = channel_of(program, reg!(channel));
                    if channel.capacity == 0 && keep {
                        return self.fail(Fault::PollHandshake);
                    }
                    // SAFETY: as above.
                    if unsafe { length(state, at, channel) } == 0 {
                        return Verdict::No;
                    }
                }
                Op::RequireOffered { handle } => {
                    if reg!(handle) != self.message.handle {
                        return Verdict::No;
                    }
                }
                Op::OfferArity { given, exact } => {
                    let channel = &program.layout.channels[usize::from(self.message.kind)];
                    if let Some(fault) = arity(channel, given, exact) {
                        return self.fail(fault);
                    }
                }
                Op::Offered { to, field } => reg!(to) = self.message.fields[usize::from(field) % FIELDS],
                Op::Offer { from, field } => {
                    let value = reg!(from);
                    let field = usize::from(field);
                    match fit(program.layout.channels[usize::from(self.message.kind)].fields[field].slot.scalar, value)
                    {
                        Some(fitted) => self.message.fields[field] = fitted,
                        None => return self.fail(Fault::OutOfRange { value }),
                    }
                }
                Op::Yes | Op::Done => return Verdict::Yes,
                Op::No => return Verdict::No,
                Op::Trap { fault } => return self.fail(program.faults[fault as usize].clone()),

                Op::SetByte { cell, value } if M::WRITES => {
                    // SAFETY: as for every cell.
                    unsafe { *address!(cell.base, cell.offset) = value };
                }
                Op::Set { cell, value } if M::WRITES => set!(cell, value.into()),
                Op::Bump { cell, value } if M::WRITES => set!(cell, get!(cell).wrapping_add(value.into())),
                Op::Move { from, to } if M::WRITES => set!(to, get!(from)),
                Op::Store { from, cell } if M::WRITES => set!(cell, reg!(from)),
                Op::StoreAt { from, index, array } if M::WRITES => {
                    let index = reg!(index);
                    if index as u64 >= u64::from(array.length) {
                        return self.fail(Fault::Index { value: index, length: array.length });
                    }
                    let offset = array.offset as usize + index as usize * usize::from(array.stride);
                    // SAFETY: as for loading an element.
                    unsafe { store(address!(array.base, offset), array.kind, 0, 0xff, reg!(from)) };
                }
                Op::StoreTo { from, distance, cell, limit } if M::WRITES => {
                    let distance = (reg!(distance) as u64).min(limit.into());
                    let offset = cell.offset as usize + distance as usize;
                    // SAFETY: as for loading from a distance.
                    unsafe { store(address!(cell.base, offset), cell.kind, cell.shift, cell.mask, reg!(from)) };
                }
                Op::StoreField { from, object, distance, cell, limit } if M::WRITES => {
                    let distance = (reg_or_zero!(distance) as u64).min(limit.into());
                    let at = (reg!(object) as u64 + distance) as usize + cell.offset as usize;
                    assert!(
                        at + cell.kind.bytes() as usize <= memory.reading().bytes().len(),
                        "an object of the state"
                    );
                    // SAFETY: all bytes of the cell lie inside the state, which is writable.
                    unsafe { store(state.add(at), cell.kind, cell.shift, cell.mask, reg!(from)) };
                }
                Op::Allocate { to, object } if M::WRITES => match memory.allocate(&program.layout, object) {
                    Some(reference) => {
                        reg!(to) = reference;
                        state = memory.pointer();
                    }
                    None => return self.fail(Fault::TooManyObjects { limit: program.layout.heap.most }),
                },
                Op::StoreHandle { cell, number } if M::WRITES => {
                    let reading = memory.reading();
                    let frame = reading.frame(self.surroundings.me);
                    let handle = frame.map_or(0, |frame| frame.first_channel) + number + 1;
                    if handle > 255 {
                        return self.fail(Fault::TooManyChannels);
                    }
                    set!(cell, handle.into());
                }
                Op::Bind { field, cell } if M::WRITES => set!(cell, self.message.fields[usize::from(field) % FIELDS]),
                Op::HasRoom { to, channel } => {
                    let (at, channel) = channel_of(program, reg!(channel));
                    // SAFETY: as above.
                    reg!(to) = (unsafe { length(state, at, channel) } < channel.capacity).into();
                }
                Op::Send { channel, handle, first, sorted } if M::WRITES => {
                    let open = reg!(channel);
                    let handle = reg!(handle);
                    // SAFETY: an open channel of the state, which is writable.
                    if let Err(fault) = unsafe { self.send(program, state, open, first, sorted) } {
                        return self.fail(fault);
                    }
                    if program.monitor.is_some() {
                        self.message.handle = handle;
                        self.message.kind = open as u16;
                        if self.event(program, memory, EventKind::Send).is_err() {
                            return Verdict::Fault;
                        }
                    }
                }
                Op::Peek { channel, position } => {
                    let open = reg!(channel);
                    let (at, channel) = channel_of(program, open);
                    let position = reg_or_zero!(position) as usize;
                    self.message.kind = open as u16;
                    for field in 0..channel.fields.len().min(FIELDS) {
                        // SAFETY: as above.
                        let value = unsafe { message_field(state, at, channel, position, field) };
                        self.message.fields[field] = value;
                    }
                }
                Op::Remove { channel: open, handle, position } if M::WRITES => {
                    let (at, channel) = channel_of(program, reg!(open));
                    let position = reg_or_zero!(position);
                    let handle = reg!(handle);
                    // SAFETY: an open channel of the state, which is writable.
                    unsafe { remove(state, at, channel, position) };
                    if program.monitor.is_some() {
                        self.message.handle = handle;
                        if self.event(program, memory, EventKind::Receive).is_err() {
                            return Verdict::Fault;
                        }
                    }
                }
                Op::Spawn { process, priority } if M::WRITES => {
                    if self.spawn(program, memory, process, priority).is_err() {
                        return Verdict::Fault;
                    }
                    state = memory.pointer();
                }
                Op::Assert { test, text } => {
                    if reg!(test) == 0 {
                        self.violate(program, text);
                    }
                }
                Op::SetPriority { process, priority } if M::WRITES => {
                    let (process, value) = (u32::try_from(reg!(process)).unwrap_or(NOBODY), reg!(priority));
                    let frame = memory.reading().frame(process).copied();
                    if let Some(frame) = frame {
                        if !(1..=255).contains(&value) {
                            return self.fail(Fault::PriorityOutOfRange { value });
                        }
                        if let Some(cell) = program.layout.segments[usize::from(frame.process)].priority {
                            // SAFETY: the cell lies in the segment of a live process of its type.
                            unsafe { *state.add(frame.offset() as usize + cell.offset as usize) = value as u8 };
                        }
                    }
                }
                Op::IsYoungest { to } => {
                    reg!(to) =
                        (memory.reading().layout.frames.len() as u32 == self.surroundings.me.wrapping_add(1)).into();
                }
                Op::End if M::WRITES => {
                    memory.end();
                    return Verdict::Ended;
                }
                Op::Tick => {
                    if self.ticks == MAX_INSTRUCTIONS {
                        return self.fail(Fault::EffectTooLong { limit: MAX_INSTRUCTIONS });
                    }
                    self.ticks += 1;
                }
                _ => unreachable!("a guard does not write"),
            }
        }
    }

    /// Runs an effect from its beginning; false if it ended the process.
    #[inline]
    pub fn effect(&mut self, program: &Program, memory: &mut Writing<'_>, code: Pc) -> Result<bool, Faulted> {
        self.ticks = 0;
        match self.run(program, memory, code) {
            Verdict::Fault => Err(Faulted),
            Verdict::Ended => Ok(false),
            _ => Ok(true),
        }
    }

    #[cold]
    fn violate(&mut self, program: &Program, text: u32) {
        self.violations.push(Fault::AssertionViolated { text: program.texts[text as usize].clone() });
    }

    #[inline(always)]
    fn timeout(&mut self, program: &Program, memory: &Reading<'_>) -> bool {
        match self.surroundings.timeout {
            Timeout::No => false,
            Timeout::Yes => true,
            Timeout::Open => self.is_stuck(program, memory),
        }
    }

    #[inline(always)]
    fn blocked(&mut self, program: &Program, memory: &Reading<'_>, bit: u8, list: u32) -> Result<bool, Faulted> {
        if bit != NO_BIT && self.surroundings.by_mask {
            return Ok(self.surroundings.executable >> (bit & 63) & 1 == 0);
        }
        self.all_blocked(program, memory, list)
    }

    /// Puts the values in the registers from `first` on into an open channel.
    ///
    /// # Safety
    /// `open` must be an open channel of the state, and the state writable.
    #[inline]
    unsafe fn send(
        &mut self,
        program: &Program,
        state: *mut u8,
        open: i64,
        first: Register,
        sorted: bool,
    ) -> Result<(), Fault> {
        let (at, channel) = channel_of(program, open);
        let first = usize::from(first);
        let values = &mut self.registers[first..][..channel.fields.len()];
        for (value, field) in values.iter_mut().zip(&channel.fields) {
            if !field.wraps || sorted || program.monitor.is_some() {
                *value = fit(field.slot.scalar, *value).ok_or(Fault::OutOfRange { value: *value })?;
            }
        }
        if program.monitor.is_some() {
            self.message.fields[..values.len()].copy_from_slice(values);
        }
        // SAFETY: the message number `count` lies inside the channel if `count` is below the capacity, and
        // so does all that is moved up by one.
        unsafe {
            let count = length(state, at, channel);
            if count >= channel.capacity {
                return Err(Fault::Blocked);
            }
            let mut position = count as usize;
            if sorted {
                let greater = |position: &usize| {
                    let fields = (0..values.len()).map(|field| message_field(state, at, channel, *position, field));
                    fields.cmp(values.iter().copied()).is_gt()
                };
                position = (0..position).find(greater).unwrap_or(position);
            }
            let size = channel.message as usize;
            let message = state.add(at + channel.first_message() as usize + position * size);
            if position < count as usize {
                std::ptr::copy(message, message.add(size), (count as usize - position) * size);
            }
            for (value, field) in values.iter().zip(&channel.fields) {
                let cell = &field.slot.cell;
                let raw = value.wrapping_sub(field.slot.low);
                store(message.add(cell.offset as usize), cell.kind, cell.shift, cell.mask, raw);
            }
            store(state.add(at), channel.length, 0, 0xff, i64::from(count + 1));
        }
        Ok(())
    }

    /// Makes a new process; its arguments are in the first registers.
    #[cold]
    #[inline(never)]
    fn spawn<M: Memory>(
        &mut self,
        program: &Program,
        memory: &mut M,
        process: u16,
        priority: u8,
    ) -> Result<(), Faulted> {
        let surroundings = self.surroundings;
        let me = memory.reading().layout.frames.len() as u32;
        if me >= program.max_processes {
            self.fail(Fault::TooManyProcesses { limit: program.max_processes });
            return Err(Faulted);
        }
        if let Err(limit) = memory.spawn(&program.layout, process) {
            self.limit = Some(limit);
            self.fail(Fault::Fail(limit.to_string()));
            return Err(Faulted);
        }
        if me + 1 == program.max_processes {
            program.is_full.store(true, Ordering::Relaxed);
        }
        let code = &program.processes[usize::from(process)];
        let segment = &program.layout.segments[usize::from(process)];
        let frame = *memory.reading().frame(me).expect("the process just made");
        let state = memory.pointer();
        // SAFETY: both cells lie in the segment of the process just made.
        unsafe {
            let at = state.add(frame.offset() as usize);
            store(at.add(segment.location.offset as usize), segment.location.kind, 0, 0xff, code.initial.into());
            if let Some(cell) = segment.priority {
                *at.add(cell.offset as usize) = priority;
            }
        }
        self.enter(&frame, me);
        let verdict = self.run(program, memory, code.start);
        self.surroundings = surroundings;
        let reading = memory.reading();
        match reading.frame(surroundings.me) {
            Some(frame) => self.enter(frame, surroundings.me),
            None => self.leave(reading.layout.tail),
        }
        if verdict == Verdict::Fault { Err(Faulted) } else { Ok(()) }
    }

    /// A process that is there from the beginning.
    pub fn start(
        &mut self,
        program: &Program,
        memory: &mut Writing<'_>,
        process: u16,
        priority: u8,
    ) -> Result<(), Faulted> {
        self.spawn(program, memory, process, priority)
    }

    /// Shows the message to the monitor.
    pub fn event<M: Memory>(&mut self, program: &Program, memory: &mut M, kind: EventKind) -> Result<(), Faulted> {
        let (Some(monitor), Some(cell)) = (&program.monitor, program.layout.monitor) else { return Ok(()) };
        assert!(M::WRITES, "events happen in effects");
        let reading = memory.reading();
        let mut observed = false;
        for (observed_kind, channel) in &monitor.observed {
            if *observed_kind == kind && self.evaluate(program, &reading, *channel)? == self.message.handle {
                observed = true;
                break;
            }
        }
        let at = reading.cell(0, &cell) as u32;
        if !observed || monitor.forbids && at == monitor.last {
            return Ok(());
        }
        let mut fitting = [None, None];
        for edge in monitor.locations.get(at as usize).map_or(&[][..], Vec::as_slice) {
            if edge.kind != kind || self.evaluate(program, &reading, edge.channel)? != self.message.handle {
                continue;
            }
            let channel = &program.layout.channels[usize::from(self.message.kind)];
            if let Some(fault) = arity(channel, edge.fields, false) {
                self.fail(fault);
                return Err(Faulted);
            }
            match self.run(program, &mut &reading, edge.fits) {
                Verdict::Fault => return Err(Faulted),
                Verdict::Yes if fitting[0].is_none() => fitting[0] = Some(edge.to),
                Verdict::Yes => fitting[1] = Some(edge.to),
                _ => {}
            }
        }
        let to = match fitting {
            [None, _] if monitor.forbids => monitor.last,
            [None, _] => {
                self.violations.push(Fault::TraceViolated);
                return Ok(());
            }
            [Some(to), _] if monitor.forbids && to == monitor.last => {
                self.violations.push(Fault::TraceCompleted);
                to
            }
            [Some(to), None] => to,
            _ => {
                self.fail(Fault::TraceAmbiguous);
                return Err(Faulted);
            }
        };
        // SAFETY: a cell of the header, of what can be written.
        unsafe { store(memory.pointer().add(cell.offset as usize), cell.kind, cell.shift, cell.mask, to.into()) };
        Ok(())
    }
}

#[inline(always)]
fn within(value: i64, low: i32, high: i32) -> bool {
    i64::from(low) <= value && value <= i64::from(high)
}

/// A message of the channel has not as many fields as a communication names. Fields at the end that are
/// not named count only where it has to be exact.
#[inline(always)]
pub fn arity(channel: &ChannelLayout, given: u16, exact: bool) -> Option<Fault> {
    let (given, expected) = (u32::from(given), channel.fields.len() as u32);
    (given > expected || exact && given < expected).then_some(Fault::MessageArity { given, expected })
}

/// How many messages the channel at `at` holds; never more than it can.
///
/// # Safety
/// A channel of that kind must lie there.
#[inline(always)]
unsafe fn length(state: *const u8, at: usize, channel: &ChannelLayout) -> u32 {
    if channel.capacity == 0 {
        return 0;
    }
    // SAFETY: a channel with a capacity begins with its length.
    let length = unsafe { load(state.add(at), channel.length, 0, 0xff) };
    (length as u32).min(channel.capacity)
}

/// A field of a message; 0 if the channel has no such position.
///
/// # Safety
/// A channel of that kind must lie there.
#[inline(always)]
unsafe fn message_field(state: *const u8, at: usize, channel: &ChannelLayout, position: usize, field: usize) -> i64 {
    if position >= channel.capacity as usize {
        return 0;
    }
    let slot = &channel.fields[field].slot;
    let offset =
        at + channel.first_message() as usize + position * channel.message as usize + slot.cell.offset as usize;
    // SAFETY: by the contract; the position and the field are ones that the channel has.
    let raw = unsafe { load(state.add(offset), slot.cell.kind, slot.cell.shift, slot.cell.mask) };
    raw.wrapping_add(slot.low)
}

/// Takes a message out; what lies behind the last one is zero again.
///
/// # Safety
/// A channel of that kind must lie there, and the state be writable.
#[inline]
unsafe fn remove(state: *mut u8, at: usize, channel: &ChannelLayout, position: i64) {
    // SAFETY: messages below the length lie inside the channel.
    unsafe {
        let count = length(state, at, channel) as usize;
        if count == 0 {
            return;
        }
        let position = position.clamp(0, count as i64 - 1) as usize;
        let size = channel.message as usize;
        let message = state.add(at + channel.first_message() as usize + position * size);
        let behind = (count - 1 - position) * size;
        std::ptr::copy(message.add(size), message, behind);
        std::ptr::write_bytes(message.add(behind), 0, size);
        store(state.add(at), channel.length, 0, 0xff, count as i64 - 1);
    }
}
