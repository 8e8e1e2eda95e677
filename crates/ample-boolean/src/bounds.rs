//! How much room a state gets: guessed from states that were seen, and checked by the encoding.
//!
//! A guess may be too small. Then the encoding says so, as an overflow of the step that left it, and
//! [`Bounds`] are made larger by what the step led to. It is never silently cut.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use ample_model::interpret::ChannelState;
use ample_model::{
    Action, Budget, EdgeId, Initial, Instruction, Interpreter, ProcessId, Scalar, State, System, Variable,
};
use ample_random::Random;

/// The values `low..=high`; none if `low` is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub low: i64,
    pub high: i64,
}

impl Span {
    pub const NONE: Span = Span { low: i64::MAX, high: i64::MIN };

    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub fn contains(self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub fn union(self, other: Span) -> Span {
        Span { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub fn within(self, other: Span) -> Span {
        Span { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// How many values there are, less one.
    fn extent(self) -> u128 {
        (i128::from(self.high) - i128::from(self.low)).max(0) as u128
    }

    /// All that a cell of that type may hold.
    pub fn of(scalar: Scalar) -> Span {
        match scalar {
            Scalar::Int { bits, signed: false } => Span { low: 0, high: (1i64 << bits) - 1 },
            Scalar::Int { bits, signed: true } => Span { low: -1i64 << (bits - 1), high: (1i64 << (bits - 1)) - 1 },
            Scalar::Range { low, high, .. } => Span { low, high },
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => Span { low: 0, high: 255 },
            Scalar::Reference(_) => Span { low: 0, high: u32::MAX.into() },
            Scalar::Unbounded => Span { low: i64::MIN, high: i64::MAX },
        }
    }

    /// Takes the value in; true if it was outside.
    fn take(&mut self, value: i64) -> bool {
        let outside = !self.contains(value);
        *self = self.union(Span { low: value, high: value });
        outside
    }

    /// Takes the value in and makes room for more of the kind: twice as many bits, as long as they are few.
    fn grow(&mut self, value: i64, declared: Span) -> bool {
        let before = *self;
        if !self.take(value) {
            return false;
        }
        let bits = (128 - self.extent().leading_zeros()).clamp(1, 62);
        let bits = if bits <= 4 { bits * 2 } else { (bits + 4).min(62) };
        if value > before.high && !before.is_empty() {
            self.high = self.high.max((1i64 << bits) - 1);
        }
        if value < before.low && value < 0 {
            self.low = self.low.min(-1i64 << bits);
        }
        *self = self.within(declared).union(Span { low: value, high: value });
        true
    }
}

/// How a number lies in bits: as `low` plus what the bits say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coding {
    pub low: i64,
    pub bits: u32,
    /// Two's complement; else the bits are not negative.
    pub signed: bool,
}

impl Coding {
    /// For these values, with as few bits as possible.
    pub fn of(span: Span) -> Coding {
        if span.is_empty() || span.low == span.high {
            return Coding { low: if span.is_empty() { 0 } else { span.low }, bits: 0, signed: false };
        }
        let length = |value: u128| 128 - value.leading_zeros();
        let shifted = length(span.extent());
        if span.low >= 0 {
            let plain = length(span.high as u128);
            return Coding { low: if shifted < plain { span.low } else { 0 }, bits: shifted.min(plain), signed: false };
        }
        let negative = length((-(i128::from(span.low) + 1)) as u128) + 1;
        let positive = length(span.high.max(0) as u128) + 1;
        let plain = negative.max(positive);
        if shifted < plain {
            return Coding { low: span.low, bits: shifted, signed: false };
        }
        Coding { low: 0, bits: plain, signed: true }
    }

    /// The bits of a value; `None` if it does not fit.
    pub fn encode(self, value: i64) -> Option<Vec<bool>> {
        let offset = i128::from(value) - i128::from(self.low);
        let bits: Vec<bool> = (0..self.bits).map(|bit| offset >> bit & 1 == 1).collect();
        (self.offset(&bits) == offset).then_some(bits)
    }

    pub fn decode(self, bits: &[bool]) -> i64 {
        (i128::from(self.low) + self.offset(bits)) as i64
    }

    fn offset(self, bits: &[bool]) -> i128 {
        let sum: i128 = (0..).zip(bits).map(|(number, bit)| i128::from(*bit) << number).sum();
        if self.signed && bits.last() == Some(&true) { sum - (1i128 << bits.len()) } else { sum }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct ChannelBounds {
    /// The most messages.
    pub length: u32,
    /// The values of each field.
    pub fields: Vec<Span>,
}

/// A place in the process table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotBounds {
    /// The types of the processes that may stand in it.
    pub types: BTreeSet<ProcessId>,
    /// The values of the local cells.
    pub locals: Vec<Span>,
    pub priority: Span,
    pub channels: Vec<ChannelBounds>,
}

impl Default for SlotBounds {
    fn default() -> SlotBounds {
        SlotBounds { types: BTreeSet::new(), locals: Vec::new(), priority: Span::NONE, channels: Vec::new() }
    }
}

/// Guessed, then checked: which values each cell may have, how many messages a channel may hold, and
/// which process types may stand in which slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Cells are as wide as their types say.
    pub(crate) exact: bool,
    pub(crate) globals: Vec<Span>,
    /// The channels of the globals.
    pub(crate) channels: Vec<ChannelBounds>,
    pub(crate) slots: Vec<SlotBounds>,
    /// At least so many processes are alive.
    pub(crate) least: u32,
    /// Each process has a bit that says whether it holds control; else the number of the holder is in one place.
    pub(crate) spreads_control: bool,
}

/// So many cells of states are kept while states are sampled.
const MAX_SAMPLED_CELLS: usize = 4_000_000;

/// The states that are nearest to the initial ones.
#[derive(Default)]
struct Nearest {
    /// How many there are.
    count: usize,
    /// Some of them.
    kept: Vec<State>,
}

impl Bounds {
    /// What the types say. Of processes there is room for those of the beginning; more come by
    /// [widening](crate::Encoding::widen).
    pub fn declared(system: &System) -> Bounds {
        let mut bounds = Bounds::none(system, true);
        if let Some(Ok(state)) = Interpreter::new(system).initial_state(0) {
            bounds.take(system, &state, false);
        }
        bounds
    }

    /// The same, where any process may end.
    #[must_use]
    pub fn with_ending_processes(self) -> Bounds {
        Bounds { least: 0, ..self }
    }

    /// The same, with a bit for each process that says whether it holds control. Steps of different processes then have
    /// no more than one bit in common for it, and the bits of a process stand together: diagrams are smaller.
    #[must_use]
    pub fn with_spread_control(self) -> Bounds {
        Bounds { spreads_control: true, ..self }
    }

    /// What is seen in `effort` states: most of them the nearest, the others along random runs.
    pub fn sampled(system: &System, effort: usize) -> Bounds {
        Bounds::sampled_within(system, effort, &Budget::unlimited())
    }

    /// As [`sampled`](Self::sampled), but no more states than the budget allows for.
    pub fn sampled_within(system: &System, effort: usize, budget: &Budget) -> Bounds {
        let mut bounds = Bounds::none(system, false);
        bounds.take_choices(system);
        let interpreter = Interpreter::new(system);
        let nearest = bounds.take_nearest(&interpreter, effort - effort / 4, budget);
        if nearest.count >= effort - effort / 4 {
            bounds.take_runs(&interpreter, &nearest.kept, effort / 4, budget);
            bounds.share_flags(system);
        }
        bounds
    }

    /// What is a flag in some elements of an array, or in some processes of a type, is one in the others, though the sample
    /// has not seen it change there: a bit costs little, and a second encoding much.
    fn share_flags(&mut self, system: &System) {
        for (variable, offset) in system.globals.iter().zip(offsets(system, &system.globals)) {
            let size = system.slots(&variable.ty) as usize;
            let cells = &mut self.globals[offset..offset + size];
            let flag = flag(cells.iter());
            cells.iter_mut().for_each(|cell| become_flag(cell, flag));
        }
        for number in 0..system.processes.len() {
            let of = ProcessId::from(number);
            let cells = system.process(of).locals.iter().map(|variable| system.slots(&variable.ty) as usize).sum();
            for cell in 0..cells {
                let is_alone = |slot: &&SlotBounds| slot.types.len() == 1 && slot.types.contains(&of);
                let flag = flag(self.slots.iter().filter(is_alone).filter_map(|slot| slot.locals.get(cell)));
                let mine = self.slots.iter_mut().filter(|slot| is_alone(&&**slot));
                mine.filter_map(|slot| slot.locals.get_mut(cell)).for_each(|cell| become_flag(cell, flag));
            }
        }
    }

    /// How many cells of variables there are.
    pub(crate) fn cells(&self) -> usize {
        self.globals.len() + self.slots.iter().map(|slot| slot.locals.len()).sum::<usize>()
    }

    /// No room at all.
    fn none(system: &System, exact: bool) -> Bounds {
        let cells = system.globals.iter().flat_map(|variable| system.scalars(&variable.ty));
        let globals = vec![Span::NONE; cells.count()];
        Bounds { exact, globals, channels: Vec::new(), slots: Vec::new(), least: u32::MAX, spreads_control: false }
    }

    /// The choices of first values, which may be more than there are states to be looked at.
    fn take_choices(&mut self, system: &System) {
        for (variable, offset) in system.globals.iter().zip(offsets(system, &system.globals)) {
            for (slot, initial) in &variable.initial {
                let cell = &mut self.globals[offset + *slot as usize];
                let ends;
                let values = match initial {
                    Initial::AnyOf(values) => &values[..],
                    Initial::Between(least, most) => {
                        ends = [*least, *most];
                        &ends
                    }
                    Initial::Value(_) | Initial::Channel(_) => &[],
                };
                for value in values {
                    cell.take(*value);
                }
            }
        }
    }

    fn take_nearest(&mut self, interpreter: &Interpreter<'_>, most: usize, budget: &Budget) -> Nearest {
        let system = interpreter.system();
        // Large states are not kept in large numbers. Two that are taken for the same do no harm in a sample.
        let locals = system.processes.iter().flat_map(|process| &process.locals);
        let cells = self.globals.len() + locals.map(|variable| system.slots(&variable.ty) as usize).sum::<usize>();
        let room = (MAX_SAMPLED_CELLS / cells.max(1)).clamp(2, most.max(2));
        let mut seen = HashSet::new();
        let mut nearest = Nearest::default();
        let mut initial = interpreter.initial_states().take(most.max(1)).flatten();
        let mut frontier: VecDeque<State> = initial.by_ref().take(room).collect();
        while let Some(state) = frontier.pop_front().or_else(|| initial.next()) {
            if budget.check().is_err() {
                break;
            }
            let state = interpreter.identity(&state);
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            self.take(system, &state, false);
            if nearest.count < most && frontier.len() < room {
                if room >= most {
                    frontier.extend(interpreter.successors(&state).into_iter().filter_map(|(_, next)| next.state));
                } else {
                    let moves = interpreter.enabled(&state).into_iter().take(room - frontier.len());
                    let within = moves.take_while(|_| budget.check().is_ok());
                    frontier.extend(within.filter_map(|taken| interpreter.step(&state, &taken).state));
                }
            }
            nearest.count += 1;
            if nearest.kept.len() < room {
                nearest.kept.push(state);
            }
            if nearest.count >= most.max(1) {
                break;
            }
        }
        nearest
    }

    /// Runs that begin among the states that were seen.
    fn take_runs(&mut self, interpreter: &Interpreter<'_>, from: &[State], steps: usize, budget: &Budget) {
        const LENGTH: usize = 100;
        let mut random = Random::new(1);
        for run in 0..steps.div_ceil(LENGTH) {
            let Some(mut state) = from.get(random.below(from.len())).cloned() else { return };
            for _ in 0..LENGTH.min(steps - run * LENGTH) {
                if budget.check().is_err() {
                    return;
                }
                let moves = interpreter.enabled(&state);
                if moves.is_empty() {
                    break;
                }
                let Some(next) = interpreter.step(&state, &random.pick(&moves)).state else { break };
                state = interpreter.identity(&next);
                self.take(interpreter.system(), &state, false);
            }
        }
    }

    /// Makes room for a state; `grow` for more than that. True if there was no room before.
    pub(crate) fn take(&mut self, system: &System, state: &State, grow: bool) -> bool {
        let mut changed = self.take_globals(system, state, grow);
        let own: usize = state.processes.iter().map(|p| own_channels(system, p.process)).sum();
        let (shared, mut rest) = state.channels.split_at(state.channels.len() - own.min(state.channels.len()));
        changed |= take_channels(system, &mut self.channels, shared, grow, self.exact);
        changed |= self.least > state.processes.len() as u32;
        self.least = self.least.min(state.processes.len() as u32);
        for (number, process) in state.processes.iter().enumerate() {
            if self.slots.len() <= number {
                self.slots.push(SlotBounds::default());
                changed = true;
            }
            let (mine, others) = rest.split_at(own_channels(system, process.process).min(rest.len()));
            rest = others;
            let slot = &mut self.slots[number];
            changed |= slot.types.insert(process.process);
            changed |= slot.priority.take(process.priority.into());
            changed |= take_channels(system, &mut slot.channels, mine, grow, self.exact);
            changed |= self.take_locals(system, number, process.process, &process.locals, grow);
        }
        changed
    }

    fn take_globals(&mut self, system: &System, state: &State, grow: bool) -> bool {
        let mut changed = false;
        let mut offset = 0;
        for variable in &system.globals {
            let scalars = system.scalars(&variable.ty);
            let cells = &mut self.globals[offset..offset + scalars.len()];
            changed |= take_variable(cells, &scalars, &state.globals[offset..], variable.hidden, grow, self.exact);
            offset += scalars.len();
        }
        changed
    }

    fn take_locals(&mut self, system: &System, slot: usize, of: ProcessId, values: &[i64], grow: bool) -> bool {
        let locals = &system.process(of).locals;
        let cells = &mut self.slots[slot].locals;
        if cells.len() < values.len() {
            cells.resize(values.len(), Span::NONE);
        }
        let mut changed = false;
        let mut offset = 0;
        for variable in locals {
            let scalars = system.scalars(&variable.ty);
            let range = offset..offset + scalars.len();
            let cells = &mut self.slots[slot].locals[range.clone()];
            let larger = take_variable(cells, &scalars, &values[offset..], variable.hidden, grow, self.exact);
            if larger && grow {
                self.share(range.clone(), slot, of);
            }
            changed |= larger;
            offset += scalars.len();
        }
        changed
    }

    /// What became larger in one process does so in all of its kind.
    fn share(&mut self, cells: std::ops::Range<usize>, slot: usize, of: ProcessId) {
        let larger: Vec<Span> = self.slots[slot].locals[cells.clone()].to_vec();
        for other in self.slots.iter_mut().filter(|other| other.types.contains(&of)) {
            for (cell, span) in other.locals.iter_mut().skip(cells.start).zip(&larger) {
                *cell = cell.union(*span);
            }
        }
    }

    /// Room for what the edges may spawn next, and for longer queues: for steps of which more is not known.
    pub(crate) fn make_room(&mut self, system: &System, state: &State, edges: &[(u32, EdgeId)]) {
        let edges = edges.iter().filter_map(|(process, edge)| {
            let of = state.process((*process).into())?.process;
            system.process(of).edges.get(edge.index())
        });
        for instruction in edges.flat_map(|edge| &edge.effect) {
            let (Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _)) =
                instruction
            else {
                continue;
            };
            for number in state.processes.len()..=self.slots.len() {
                self.admit(system, number, *process);
            }
        }
    }

    /// A process of that type may stand in that slot.
    fn admit(&mut self, system: &System, number: usize, of: ProcessId) {
        if self.slots.len() <= number {
            self.slots.push(SlotBounds::default());
        }
        let slot = &mut self.slots[number];
        slot.types.insert(of);
        slot.priority.take(system.process(of).priority.into());
        let process = system.process(of);
        let scalars = process.locals.iter().flat_map(|variable| system.scalars(&variable.ty));
        for (number, scalar) in scalars.enumerate() {
            if slot.locals.len() <= number {
                slot.locals.push(Span::NONE);
            }
            slot.locals[number] = slot.locals[number].union(Span::of(scalar));
        }
        let kinds = kinds(&process.locals).into_iter().map(|kind| &system.channels[kind]);
        for (number, kind) in kinds.enumerate() {
            if slot.channels.len() <= number {
                slot.channels.push(ChannelBounds::default());
            }
            slot.channels[number].length = slot.channels[number].length.max(kind.capacity);
            for (field, scalar) in kind.fields.iter().enumerate() {
                let fields = &mut slot.channels[number].fields;
                if fields.len() <= field {
                    fields.push(Span::NONE);
                }
                fields[field] = fields[field].union(Span::of(*scalar));
            }
        }
    }
}

/// The two values that those of the cells have that change.
fn flag<'a>(cells: impl Iterator<Item = &'a Span>) -> Option<Span> {
    let changing = cells.copied().filter(|cell| !cell.is_empty() && cell.extent() > 0);
    changing.reduce(Span::union).filter(|flag| flag.extent() == 1)
}

/// The cell gets room for both values if it has one of them.
fn become_flag(cell: &mut Span, flag: Option<Span>) {
    if let Some(flag) = flag.filter(|flag| !cell.is_empty() && flag.union(*cell) == *flag) {
        *cell = flag;
    }
}

/// The first slot of every variable.
pub(crate) fn offsets(system: &System, variables: &[Variable]) -> Vec<usize> {
    let mut next = 0;
    let mut out = Vec::new();
    for variable in variables {
        out.push(next);
        next += system.slots(&variable.ty) as usize;
    }
    out
}

/// The kinds of the channels that come with these variables, in the order of their handles.
pub(crate) fn kinds(variables: &[Variable]) -> Vec<usize> {
    let initials = variables.iter().flat_map(|variable| &variable.initial);
    let kind = |(_, initial): &(u32, Initial)| match initial {
        Initial::Channel(kind) => Some(kind.index()),
        _ => None,
    };
    initials.filter_map(kind).collect()
}

fn own_channels(system: &System, of: ProcessId) -> usize {
    kinds(&system.process(of).locals).len()
}

fn take_variable(
    cells: &mut [Span],
    scalars: &[Scalar],
    values: &[i64],
    hidden: bool,
    grow: bool,
    exact: bool,
) -> bool {
    if hidden {
        return false;
    }
    let mut larger = None;
    let mut changed = false;
    for ((cell, scalar), value) in cells.iter_mut().zip(scalars).zip(values) {
        let declared = Span::of(*scalar);
        if exact {
            changed |= *cell != cell.union(declared);
            *cell = cell.union(declared);
        } else if grow && cell.grow(*value, declared) {
            larger = Some(larger.map_or(*cell, |span: Span| span.union(*cell)));
        } else {
            changed |= cell.take(*value);
        }
    }
    if let Some(larger) = larger {
        // The elements of an array are alike.
        for (cell, scalar) in cells.iter_mut().zip(scalars) {
            *cell = cell.union(larger.within(Span::of(*scalar)));
        }
        return true;
    }
    changed
}

fn take_channels(
    system: &System,
    bounds: &mut Vec<ChannelBounds>,
    channels: &[ChannelState],
    grow: bool,
    exact: bool,
) -> bool {
    let mut changed = false;
    for (number, channel) in channels.iter().enumerate() {
        let kind = &system.channels[channel.kind.index()];
        if bounds.len() <= number {
            bounds.push(ChannelBounds::default());
            changed = true;
        }
        let bounds = &mut bounds[number];
        let length = if exact { kind.capacity } else { channel.messages.len() as u32 };
        if length > bounds.length {
            bounds.length = if grow { kind.capacity.min(length * 2) } else { length };
            changed = true;
        }
        if bounds.fields.len() < kind.fields.len() {
            bounds.fields.resize(kind.fields.len(), Span::NONE);
        }
        for (field, (span, scalar)) in bounds.fields.iter_mut().zip(&kind.fields).enumerate() {
            let declared = Span::of(*scalar);
            if exact {
                changed |= *span != span.union(declared);
                *span = span.union(declared);
            }
            for message in &channel.messages {
                changed |= if grow { span.grow(message[field], declared) } else { span.take(message[field]) };
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_keep_their_values_with_few_bits() {
        let cases = [
            ((0, 0), 0),
            ((7, 7), 0),
            ((0, 1), 1),
            ((0, 5), 3),
            ((9, 12), 2),
            ((-1, 1), 2),
            ((-4, -1), 2),
            ((-128, 127), 8),
            ((i64::MIN, i64::MAX), 64),
            ((0, i64::MAX), 63),
        ];
        for ((low, high), bits) in cases {
            let coding = Coding::of(Span { low, high });
            assert_eq!(coding.bits, bits, "{low}..={high}");
            for value in [low, high, ((i128::from(low) + i128::from(high)) / 2) as i64] {
                let encoded = coding.encode(value).unwrap();
                assert_eq!(coding.decode(&encoded), value, "{low}..={high}");
            }
        }
        assert_eq!(Coding::of(Span { low: 0, high: 5 }).encode(8), None);
        assert_eq!(Coding::of(Span { low: 7, high: 7 }).encode(8), None);
        assert_eq!(Coding::of(Span { low: 0, high: 5 }).encode(-1), None);
    }

    #[test]
    fn a_span_grows_by_more_than_it_must_and_stays_in_its_type() {
        let byte = Span::of(Scalar::BYTE);
        let mut span = Span { low: 0, high: 3 };
        assert!(!span.grow(2, byte));
        assert!(span.grow(4, byte));
        assert_eq!((span.low, span.high), (0, 63));
        assert!(span.grow(64, byte));
        assert_eq!(span.high, 255);
        let mut span = Span { low: 0, high: 3 };
        span.grow(-1, Span::of(Scalar::SHORT));
        assert!(span.low < -4 && span.high == 3);
    }
}
