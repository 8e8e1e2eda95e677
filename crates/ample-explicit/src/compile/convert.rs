//! Packed states and the reference interpreter's, from one to the other.

use ample_model::interpret::{ChannelState, Object, ProcessState};
use ample_model::{ChannelId, LocationId, ProcessId, RecordId, Scalar, State};

use super::Compiled;
use super::layout::Layout;
use super::layout::{Base, Slot, VariableLayout};
use super::memory::{Reading, Writing, set_cell};

impl Compiled {
    /// The state in the reference interpreter's form.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    pub fn decode(&mut self, state: &[u8]) -> State {
        let program = &*self.program;
        let layout = &program.layout;
        let memory = Reading::open(state, &mut self.layouts, layout);
        let read = |visible: u32, hidden: u32, slot: &Slot| {
            let base = if is_hidden(slot) { hidden } else { visible };
            memory.cell(base, &slot.cell).wrapping_add(slot.low)
        };
        let cells = |visible, hidden, variables: &[VariableLayout]| -> Vec<i64> {
            let slots =
                variables.iter().flat_map(|variable| variable.slots.iter().map(|slot| (slot, variable.is_input)));
            slots.map(|(slot, is_input)| if is_input { 0 } else { read(visible, hidden, slot) }).collect()
        };
        let channels = (memory.layout.channels.iter())
            .map(|place| {
                let channel = &layout.channels[usize::from(place.kind)];
                let length = super::layout::Cell::whole(Base::Global, channel.length, place.offset);
                let count = if channel.capacity == 0 { 0 } else { memory.cell(0, &length) as u32 };
                let messages = (0..count.min(channel.capacity))
                    .map(|position| {
                        let at = place.offset + channel.first_message() + position * channel.message;
                        channel.fields.iter().map(|field| read(at, at, &field.slot)).collect()
                    })
                    .collect();
                ChannelState { kind: ChannelId(place.kind.into()), messages }
            })
            .collect();
        let processes = (memory.layout.frames.iter())
            .map(|frame| {
                let segment = &layout.segments[usize::from(frame.process)];
                let priority = match &segment.priority {
                    Some(cell) => memory.cell(frame.offset(), cell) as u8,
                    None => program.processes[usize::from(frame.process)].priority,
                };
                ProcessState {
                    process: ProcessId(frame.process.into()),
                    location: LocationId((memory.location(frame) - frame.first_location as usize) as u32),
                    locals: cells(frame.offset(), frame.hidden(), &segment.locals),
                    priority,
                }
            })
            .collect();
        let heap = &layout.heap;
        let objects = (0..heap.objects.len()).flat_map(|place| {
            let object = &heap.objects[place];
            let section = heap.section(state, memory.layout.length, place as u16) as u32;
            (0..heap.count(state, place as u16)).map(move |number| {
                let at = section + number * object.bytes;
                Object { record: object.record, cells: object.slots.iter().map(|slot| read(at, at, slot)).collect() }
            })
        });
        let decoded = State {
            globals: cells(0, memory.layout.tail, &layout.globals),
            channels,
            processes,
            control: super::successors::control(program, &memory),
            last: layout.last.map_or(0, |cell| memory.cell(0, &cell) as u32),
            monitor: layout.monitor.map_or(0, |cell| memory.cell(0, &cell) as u32),
            heap: objects.collect(),
        };
        if decoded.heap.is_empty() { decoded } else { Numbering::of(layout).globally(decoded) }
    }

    /// The packed form of a state; `None` if it is no state of this system.
    pub fn encode(&mut self, state: &State) -> Option<Vec<u8>> {
        let mut place = 0;
        for process in &state.processes {
            let ty =
                u16::try_from(process.process.0).ok().filter(|ty| usize::from(*ty) < self.program.processes.len())?;
            place = self.layouts.child(&self.program.layout, place, ty).ok()?;
        }
        let layout = &self.program.layout;
        let known = self.layouts.at(place).clone();
        let mut bytes = vec![0; known.length as usize];
        self.layouts.write_number(place, &mut bytes);
        let local = Numbering::of(layout).locally(state)?;
        let state = &local;
        for object in &state.heap {
            layout.heap.allocate(&mut bytes, known.length, layout.heap.place_of(object.record)?)?;
        }
        let mut counts = vec![0u32; layout.heap.objects.len()];
        for object in &state.heap {
            let place = layout.heap.place_of(object.record)?;
            let count = &mut counts[usize::from(place)];
            let at = layout.heap.find(&bytes, known.length, place, i64::from(*count) + 1)?;
            *count += 1;
            for (slot, value) in layout.heap.objects[usize::from(place)].slots.iter().zip(&object.cells) {
                set_cell(&mut bytes, at as u32, &slot.cell, value.wrapping_sub(slot.low));
            }
        }
        let mut memory = Writing::new(&mut bytes, &mut self.layouts);
        let mut write = |visible: u32, hidden: u32, slot: &Slot, value: i64| {
            let base = if is_hidden(slot) { hidden } else { visible };
            memory.set(base, &slot.cell, value.wrapping_sub(slot.low));
        };
        let mut cells = |visible, hidden, variables: &[VariableLayout], values: &[i64]| -> Option<()> {
            let mut values = values.iter();
            for variable in variables {
                for slot in &variable.slots {
                    let value = *values.next()?;
                    if !variable.is_input {
                        write(visible, hidden, slot, value);
                    }
                }
            }
            values.next().is_none().then_some(())
        };
        cells(0, known.tail, &layout.globals, &state.globals)?;
        for (frame, process) in known.frames.iter().zip(&state.processes) {
            let segment = &layout.segments[usize::from(frame.process)];
            cells(frame.offset(), frame.hidden(), &segment.locals, &process.locals)?;
        }
        for (frame, process) in known.frames.iter().zip(&state.processes) {
            let segment = &layout.segments[usize::from(frame.process)];
            if process.location.0 >= frame.locations {
                return None;
            }
            memory.set_location(frame.into(), process.location.0);
            if let Some(cell) = &segment.priority {
                memory.set(frame.offset(), cell, process.priority.into());
            }
        }
        if known.channels.len() != state.channels.len() {
            return None;
        }
        for (place, channel) in known.channels.iter().zip(&state.channels) {
            let kind = &layout.channels[usize::from(place.kind)];
            if u32::from(place.kind) != channel.kind.0 || channel.messages.len() > kind.capacity as usize {
                return None;
            }
            if kind.capacity == 0 {
                continue;
            }
            let length = super::layout::Cell::whole(Base::Global, kind.length, place.offset);
            memory.set(0, &length, channel.messages.len() as i64);
            for (position, message) in channel.messages.iter().enumerate() {
                let at = place.offset + kind.first_message() + position as u32 * kind.message;
                for (field, value) in kind.fields.iter().zip(message) {
                    memory.set(at, &field.slot.cell, value.wrapping_sub(field.slot.low));
                }
            }
        }
        if let Some(cell) = &layout.control {
            memory.set(0, cell, state.control.map_or(0, |holder| i64::from(holder) + 1));
        }
        if let Some(cell) = &layout.last {
            memory.set(0, cell, state.last.into());
        }
        if let Some(cell) = &layout.monitor {
            memory.set(0, cell, state.monitor.into());
        }
        self.canonicalise_objects(&mut bytes);
        Some(bytes)
    }
}

fn is_hidden(slot: &Slot) -> bool {
    matches!(slot.cell.base, Base::HiddenGlobal | Base::HiddenLocal)
}

/// References are numbers among the objects of one type here, and among all objects in the interpreter.
struct Numbering<'a> {
    layout: &'a Layout,
}

impl<'a> Numbering<'a> {
    fn of(layout: &'a Layout) -> Numbering<'a> {
        Numbering { layout }
    }

    /// The cells that refer to objects, with the types of these: those of the globals, of a process, or of an object.
    fn visit(&self, state: &mut State, visit: &mut dyn FnMut(RecordId, &mut i64)) {
        let cells = |variables: &[VariableLayout], cells: &mut [i64], visit: &mut dyn FnMut(RecordId, &mut i64)| {
            let slots = variables.iter().flat_map(|variable| &variable.slots);
            slots.zip(cells).for_each(|(slot, cell)| look(slot.scalar, cell, visit));
        };
        cells(&self.layout.globals, &mut state.globals, visit);
        for process in &mut state.processes {
            cells(&self.layout.segments[process.process.index()].locals, &mut process.locals, visit);
        }
    }

    fn visit_object(&self, object: &mut Object, visit: &mut dyn FnMut(RecordId, &mut i64)) {
        let Some(place) = self.layout.heap.place_of(object.record) else { return };
        let slots = &self.layout.heap.objects[usize::from(place)].slots;
        slots.iter().zip(&mut object.cells).for_each(|(slot, cell)| look(slot.scalar, cell, visit));
    }

    /// From numbers among those of a type, one type after the other, to numbers in the order of discovery.
    fn globally(&self, mut state: State) -> State {
        let old = std::mem::take(&mut state.heap);
        let first = |record: RecordId| old.iter().position(|object| object.record == record).unwrap_or(0);
        let mut numbers = vec![0i64; old.len()];
        let mut order: Vec<usize> = Vec::new();
        let mut discover = |order: &mut Vec<usize>, record: RecordId, cell: &mut i64| {
            let Some(at) = usize::try_from(*cell).ok().and_then(|cell| cell.checked_sub(1)) else { return };
            let at = first(record) + at;
            let Some(number) = numbers.get_mut(at) else { return };
            if *number == 0 {
                order.push(at);
                *number = order.len() as i64;
            }
            *cell = *number;
        };
        self.visit(&mut state, &mut |record, cell| discover(&mut order, record, cell));
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            let mut object = old[at].clone();
            self.visit_object(&mut object, &mut |record, cell| discover(&mut order, record, cell));
            state.heap.push(object);
        }
        state
    }

    /// The other way round; none if something refers to an object of another type.
    fn locally(&self, state: &State) -> Option<State> {
        let mut local = state.clone();
        let mut sound = true;
        let mut renumber = |record: RecordId, cell: &mut i64| {
            if *cell == 0 {
                return;
            }
            let Some(found) = state.object(record, *cell) else {
                sound = false;
                return;
            };
            let before = &state.heap[..*cell as usize];
            *cell = before.iter().filter(|object| object.record == found.record).count() as i64;
        };
        self.visit(&mut local, &mut renumber);
        let mut heap = std::mem::take(&mut local.heap);
        for object in &mut heap {
            self.visit_object(object, &mut renumber);
        }
        local.heap = heap;
        sound.then_some(local)
    }
}

fn look(scalar: Scalar, cell: &mut i64, visit: &mut dyn FnMut(RecordId, &mut i64)) {
    if let Scalar::Reference(record) = scalar {
        visit(record, cell);
    }
}
