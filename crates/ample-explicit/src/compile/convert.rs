//! Packed states and the reference interpreter's, from one to the other.

use ample_model::interpret::{ChannelState, ProcessState};
use ample_model::{ChannelId, LocationId, ProcessId, State};

use super::Compiled;
use super::layout::{Base, Slot, VariableLayout};
use super::memory::{Reading, Writing};

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
        State {
            globals: cells(0, memory.layout.tail, &layout.globals),
            channels,
            processes,
            control: super::successors::control(program, &memory),
            last: layout.last.map_or(0, |cell| memory.cell(0, &cell) as u32),
            monitor: layout.monitor.map_or(0, |cell| memory.cell(0, &cell) as u32),
            heap: Vec::new(),
        }
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
        Some(bytes)
    }
}

fn is_hidden(slot: &Slot) -> bool {
    matches!(slot.cell.base, Base::HiddenGlobal | Base::HiddenLocal)
}
