//! The tables of a program: every location, edge and first value, and which code belongs to it.

use ample_model::{Communication, Edge, EdgeId, Expr, Initial, Pattern, ProcessType, Scalar};

use super::channel::field_number;
use super::survey::initial_value;
use super::{Compiler, MAX_LISTS};
use crate::compile::bytecode::{NO_BIT, NOWHERE, Op, Pc, REGISTERS, Register};
use crate::compile::layout::{Interval, Slot};
use crate::compile::program::{
    EdgeCode, FirstStep, FirstTest, GlobalCode, LocationCode, MonitorCode, MonitorEdgeCode, ProcessCode, Program,
    StartCode, Values,
};
use crate::compile::{CompileError, verify};

impl<'a> Compiler<'a> {
    /// Gives every location and edge its number.
    pub(super) fn declare(&mut self) -> Result<(), CompileError> {
        for (_, initial) in self.system.globals.iter().flat_map(|variable| &variable.initial) {
            initial_value(initial).map_or(Ok(()), |expr| self.check_depth(expr))?;
        }
        for (number, process) in self.system.processes.iter().enumerate() {
            let limit = 1 << 16;
            if process.locations.len() > limit {
                return Err(CompileError::TooManyLocations { process: process.name.clone(), limit });
            }
            if process.initial.index() >= process.locations.len() {
                return Err(CompileError::Malformed("a process that starts nowhere"));
            }
            let initials = process.locals.iter().flat_map(|variable| &variable.initial);
            for expr in process.provided.iter().chain(initials.filter_map(|(_, initial)| initial_value(initial))) {
                self.check_depth(expr)?;
            }
            self.program.processes.push(ProcessCode {
                provided: NOWHERE,
                start: NOWHERE,
                initial: process.initial.0,
                priority: process.priority,
            });
            for location in &process.locations {
                let first_edge = self.program.edges.len() as u32;
                let mut receives = false;
                self.pace.steps(1 + location.edges.len())?;
                for id in &location.edges {
                    let edge =
                        process.edges.get(id.index()).ok_or(CompileError::Malformed("a location with no such edge"))?;
                    if edge.to.index() >= process.locations.len() {
                        return Err(CompileError::Malformed("an edge that leads nowhere"));
                    }
                    for expr in edge.expressions() {
                        self.check_depth(expr)?;
                    }
                    receives |= matches!(edge.communication, Some(Communication::Receive { keep: false, .. }));
                    self.program.edges.push(EdgeCode {
                        first: FirstTest::ALWAYS,
                        blocked: NO_BIT,
                        guard: NOWHERE,
                        unblocked: NOWHERE,
                        step: FirstStep::NOTHING,
                        effect: NOWHERE,
                        lists: 0,
                        to: edge.to.0,
                        id: id.0,
                        fields: match &edge.communication {
                            Some(Communication::Receive { patterns, .. }) => patterns.len() as u16,
                            _ => 0,
                        },
                        process: number as u16,
                        offer: NOWHERE,
                        handle: NOWHERE,
                        accept: NOWHERE,
                        half: NOWHERE,
                        keeps_control: edge.keeps_control,
                        ends: edge.ends_process(),
                        disturbs_objects: !self.program.layout.heap.objects.is_empty()
                            && crate::compile::heap::disturbs(&edge.effect),
                    });
                }
                self.all_lists.push(Vec::new());
                self.program.locations.push(LocationCode {
                    first_edge,
                    end_edge: self.program.edges.len() as u32,
                    number: location.number,
                    end: location.end,
                    progress: location.progress,
                    accept: location.accept,
                    receives,
                });
            }
        }
        Ok(())
    }

    /// Calls `make` for every edge of every location, in order, with its number.
    pub(super) fn each_edge(
        &mut self,
        mut make: impl FnMut(&mut Self, usize, &'a Edge) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        for (number, process) in self.system.processes.iter().enumerate() {
            self.owner = Some(number);
            for location in 0..process.locations.len() {
                self.each_edge_of(process, number, location, &mut make)?;
            }
        }
        self.owner = None;
        Ok(())
    }

    pub(super) fn each_edge_of(
        &mut self,
        process: &'a ProcessType,
        number: usize,
        location: usize,
        make: &mut impl FnMut(&mut Self, usize, &'a Edge) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let location_number = self.program.layout.segments[number].first_location as usize + location;
        let first = self.program.locations[location_number].first_edge as usize;
        self.siblings = &process.locations[location].edges;
        self.lists = std::mem::take(&mut self.all_lists[location_number]);
        for (position, id) in self.siblings.iter().enumerate() {
            let edge = &process.edges[id.index()];
            self.position = Some(position);
            self.at = format!("{} of {}", if edge.label.is_empty() { "an edge" } else { &edge.label }, process.name);
            make(self, first + position, edge)?;
        }
        self.number_lists(first)?;
        self.all_lists[location_number] = std::mem::take(&mut self.lists);
        self.position = None;
        self.siblings = &[];
        Ok(())
    }

    /// All guards; those of a location one after the other.
    pub(super) fn guards(&mut self) -> Result<(), CompileError> {
        for (number, process) in self.system.processes.iter().enumerate() {
            let Some(provided) = &process.provided else { continue };
            self.owner = Some(number);
            self.at = format!("the provided clause of {}", process.name);
            self.program.processes[number].provided = self.here();
            self.require(provided)?;
            self.emit(Op::Yes)?;
        }
        self.each_edge(|this, at, edge| {
            let code = this.guard(edge)?;
            this.set_guard(at, code);
            Ok(())
        })
    }

    /// Every edge of the location learns which of the lists it belongs to.
    pub(super) fn number_lists(&mut self, first: usize) -> Result<(), CompileError> {
        for (position, id) in self.siblings.iter().enumerate() {
            self.pace.steps(self.lists.iter().take(MAX_LISTS).map(|(list, _)| list.len()).sum())?;
            let bits = self.lists.iter().take(MAX_LISTS).enumerate();
            let member = |(bit, (list, _)): (usize, &(Vec<EdgeId>, u32))| u64::from(list.contains(id)) << bit;
            self.program.edges[first + position].lists = bits.map(member).fold(0, |a, b| a | b);
        }
        Ok(())
    }

    /// What the two halves of a handshake need, if there are handshake channels at all.
    pub(super) fn handshakes(&mut self) -> Result<(), CompileError> {
        if !self.has_handshakes {
            return Ok(());
        }
        self.each_edge(|this, at, edge| {
            match &edge.communication {
                Some(Communication::Send { values, .. }) => {
                    let code = this.here();
                    this.emit(Op::OfferArity { given: values.len() as u16, exact: true })?;
                    for (field, value) in values.iter().enumerate() {
                        this.value(value, 0)?;
                        this.emit(Op::Offer { from: 0, field: field_number(field)? })?;
                    }
                    this.emit(Op::Done)?;
                    this.program.edges[at].offer = code;
                }
                Some(Communication::Receive { channel, patterns, keep: false, .. }) => {
                    this.accept(at, edge, channel, patterns)?;
                }
                _ => {}
            }
            Ok(())
        })
    }

    pub(super) fn accept(
        &mut self,
        at: usize,
        edge: &Edge,
        channel: &Expr,
        patterns: &[Pattern],
    ) -> Result<(), CompileError> {
        if self.may_fault(channel) {
            let handle = self.expression(channel)?;
            self.program.edges[at].handle = handle;
        }
        let code = self.here();
        if !self.may_fault(channel) {
            self.value(channel, 0)?;
            self.emit(Op::RequireOffered { handle: 0 })?;
        }
        for conjunct in &edge.guard {
            self.require(conjunct)?;
        }
        self.emit(Op::OfferArity { given: patterns.len() as u16, exact: false })?;
        self.offer_fits(patterns)?;
        self.program.edges[at].accept = code;
        Ok(())
    }

    /// The message on offer has what the patterns ask for.
    pub(super) fn offer_fits(&mut self, patterns: &[Pattern]) -> Result<(), CompileError> {
        for (field, pattern) in patterns.iter().enumerate() {
            if let Pattern::Match(expected) = pattern {
                self.value(expected, 0)?;
                self.emit(Op::Offered { to: 1, field: field_number(field)? })?;
                self.emit(Op::RequireEqual { x: 0, with: 1 })?;
            }
        }
        self.emit(Op::Yes)?;
        Ok(())
    }

    pub(super) fn effects(&mut self) -> Result<(), CompileError> {
        self.each_edge(|this, at, edge| {
            this.position = None;
            let has_communication = edge.communication.is_some();
            if has_communication || !edge.effect.is_empty() {
                let code = this.here();
                if let Some(communication) = &edge.communication {
                    this.communicate(communication)?;
                }
                this.effect(&edge.effect)?;
                this.set_effect(at, code);
            }
            let receives = matches!(edge.communication, Some(Communication::Receive { keep: false, .. }));
            if this.has_handshakes && (receives || has_communication && !edge.effect.is_empty()) {
                let code = this.here();
                if let Some(Communication::Receive { patterns, .. }) = &edge.communication {
                    this.bind_received(patterns, 0)?;
                }
                this.effect(&edge.effect)?;
                this.program.edges[at].half = code;
            }
            Ok(())
        })
    }

    /// First values: of the globals, of new processes, and of those that are there from the beginning.
    pub(super) fn starts(&mut self) -> Result<(), CompileError> {
        self.at = "the first value of a global variable".into();
        self.owner = None;
        if self.system.synchronous().is_some() {
            return Ok(());
        }
        let clear = self.here();
        let layouts = self.program.layout.globals.clone();
        self.clear_biased(layouts.iter().flat_map(|variable| &variable.slots))?;
        self.emit(Op::Done)?;
        self.program.globals.push(GlobalCode { code: clear, choices: None });
        let mut channels = 0;
        for (variable, layout) in self.system.globals.iter().zip(&layouts) {
            for (slot, initial) in &variable.initial {
                let slot =
                    *layout.slots.get(*slot as usize).ok_or(CompileError::Malformed("a first value of no slot"))?;
                let code = self.here();
                let choices = match initial {
                    Initial::AnyOf(values) => {
                        self.fit_and_store(0, &slot, Interval::ALL)?;
                        Some(Values::Listed(values.clone()))
                    }
                    Initial::Between(least, most) => {
                        self.fit_and_store(0, &slot, Interval::ALL)?;
                        Some(Values::Between(*least, *most))
                    }
                    other => {
                        self.first_value(other, &slot, 0, &mut channels)?;
                        None
                    }
                };
                self.emit(Op::Done)?;
                self.program.globals.push(GlobalCode { code, choices });
            }
        }
        for (number, process) in self.system.processes.iter().enumerate() {
            self.owner = Some(number);
            self.at = format!("the first value of a local variable of {}", process.name);
            self.program.processes[number].start = self.process_start(number, process)?;
        }
        self.owner = None;
        for instance in &self.system.start {
            let process = self.system.processes.get(instance.process.index());
            let process = process.ok_or(CompileError::Malformed("a process of no declared type"))?;
            if instance.arguments.len() > REGISTERS {
                return Err(CompileError::TooMany { what: "parameters of a process", limit: REGISTERS });
            }
            self.program.start.push(StartCode {
                process: instance.process.index() as u16,
                priority: instance.priority.unwrap_or(process.priority),
                arguments: instance.arguments.clone(),
            });
        }
        Ok(())
    }

    /// Arguments from registers, then the locals.
    pub(super) fn process_start(&mut self, number: usize, process: &ProcessType) -> Result<Pc, CompileError> {
        let layouts = self.program.layout.segments[number].locals.clone();
        let parameters = (process.parameters as usize).min(layouts.len());
        let code = self.here();
        self.clear_biased(layouts[parameters..].iter().flat_map(|variable| &variable.slots))?;
        let slots = layouts[..parameters].iter().flat_map(|variable| &variable.slots);
        for (argument, slot) in slots.enumerate() {
            if argument >= REGISTERS {
                return Err(CompileError::TooMany { what: "parameters of a process", limit: REGISTERS });
            }
            self.fit_and_store(argument as Register, slot, Interval::ALL)?;
        }
        let mut channels = 0;
        for (variable, layout) in process.locals.iter().zip(&layouts).skip(parameters) {
            for (slot, initial) in &variable.initial {
                let slot =
                    *layout.slots.get(*slot as usize).ok_or(CompileError::Malformed("a first value of no slot"))?;
                self.first_value(initial, &slot, 0, &mut channels)?;
            }
        }
        self.emit(Op::Done)?;
        Ok(code)
    }

    /// Zero is not always all bits zero.
    pub(super) fn clear_biased<'s>(&mut self, slots: impl Iterator<Item = &'s Slot>) -> Result<(), CompileError> {
        for slot in slots {
            if slot.low != 0 && slot.values.contains(Interval::of(0)) {
                self.store_constant(slot, 0)?;
            }
        }
        Ok(())
    }

    pub(super) fn first_value(
        &mut self,
        initial: &Initial,
        slot: &Slot,
        to: Register,
        channels: &mut u32,
    ) -> Result<(), CompileError> {
        match initial {
            Initial::Value(expr) => {
                self.created = Some(*channels);
                let values = self.value(expr, to);
                self.created = None;
                self.fit_and_store(to, slot, values?)
            }
            Initial::Channel(_) => {
                let number = *channels;
                *channels += 1;
                if slot.scalar != Scalar::Channel {
                    return Err(CompileError::Malformed("a channel in a variable of another type"));
                }
                self.emit(Op::StoreHandle { cell: slot.cell, number })?;
                Ok(())
            }
            Initial::AnyOf(_) | Initial::Between(..) => {
                self.constant(initial.choice().map_or(0, |choice| choice.get(0)), to)?;
                self.fit_and_store(to, slot, Interval::ALL)
            }
        }
    }

    pub(super) fn monitor(&mut self) -> Result<(), CompileError> {
        let Some(monitor) = &self.system.monitor else { return Ok(()) };
        self.owner = None;
        self.at = "the trace".into();
        if monitor.locations.len() > 1 << 16 {
            return Err(CompileError::TooMany { what: "locations of a trace", limit: 1 << 16 });
        }
        let mut observed = Vec::new();
        for (kind, channel) in &monitor.observed {
            observed.push((*kind, self.expression(channel)?));
        }
        let mut locations = Vec::new();
        for edges in &monitor.locations {
            let mut codes = Vec::new();
            for edge in edges {
                let channel = self.expression(&edge.channel)?;
                let fits = self.here();
                self.offer_fits(&edge.patterns)?;
                let fields = edge.patterns.len() as u16;
                codes.push(MonitorEdgeCode { kind: edge.kind, channel, fields, fits, to: edge.to });
            }
            locations.push(codes);
        }
        self.program.monitor = Some(MonitorCode {
            forbids: monitor.forbids,
            initial: monitor.initial,
            last: monitor.last,
            ends: monitor.ends.clone(),
            observed,
            locations,
        });
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Program, CompileError> {
        let mut added = self.program.ops[self.first..].iter();
        self.program.uses_timeout |= added.any(|op| matches!(op, Op::Timeout { .. } | Op::RequireTimeout));
        verify::verify(&self.program, self.first, &self.owners, &mut self.pace)?;
        Ok(self.program)
    }
}
