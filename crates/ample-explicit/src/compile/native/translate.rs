//! From bytecode to machine code.
//!
//! Registers of the bytecode become variables of Cranelift's SSA builder, jumps become branches between basic blocks, and
//! cells become loads and stores at constant offsets from the state or the segment of the process. What the evaluator
//! checks while it runs (subscripts, overflow, the number of messages) is checked here too; where it would be a fault the
//! function returns that it is not responsible.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use ample_model::interpret::MAX_INSTRUCTIONS;
use ample_model::{Overflow, Scalar};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, Block, Endianness, InstBuilder, MemFlagsData, UserFuncName, Value, types};
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

use super::super::bytecode::{Array, FIELDS, NO_BIT, NOWHERE, Op, Pc, REGISTERS, Register, ZERO};
use super::super::layout::{Base, Cell, ChannelLayout, Kind};
use super::super::machine::arity;
use super::super::program::{EdgeCode, FirstStep, FirstTest, Program};
use super::super::successors::Transition;
use super::listing::{CHAINED, Kind as Entry, Message, Successor};
use super::{EffectFn, GuardFn, NOT_RESPONSIBLE, NativeCode, Part, field};

/// More kinds of channels are not told apart by native code.
const MOST_KINDS: usize = 8;

/// Longer contents of channels are not moved by native code.
const MOST_CHANNEL_BYTES: u32 = 128;

/// More steps of an atomic sequence are not taken together.
const LONGEST_CHAIN: usize = 16;

/// An instruction without native code.
#[derive(Debug)]
struct Unknown;

type Translated<T = ()> = Result<T, Unknown>;

/// Translates what can be translated of one part; `None` if there is no code for this machine.
pub(super) fn translate(program: &Program, part: Part) -> Option<NativeCode> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "none"),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).ok()?;
    }
    let isa = cranelift_native::builder().ok()?.finish(Flags::new(flags)).ok()?;
    if isa.pointer_bits() != 64 || cfg!(target_endian = "big") {
        return None;
    }
    let mut functions = Functions {
        module: JITModule::new(JITBuilder::with_isa(isa, default_libcall_names())),
        builder: FunctionBuilderContext::new(),
    };
    let mut guards = vec![None; program.locations.len()];
    let mut successors = vec![None; program.locations.len()];
    let mut receivers = vec![None; program.locations.len()];
    let mut effects = vec![None; program.edges.len()];
    let mut halves = vec![None; program.edges.len()];
    let mut chains = vec![Box::default(); program.edges.len()];
    let mut widest = 0;
    for (process, segment) in program.layout.segments.iter().enumerate() {
        let first = segment.first_location as usize;
        let locations = first..first + segment.locations as usize;
        for number in locations {
            let code = &program.locations[number];
            let edges = code.first_edge..code.end_edge;
            widest = widest.max(edges.len());
            if part == Part::Steps {
                for edge in edges.clone().map(|edge| edge as usize) {
                    effects[edge] = functions.define(|code| code.effect(program, process, edge))?;
                }
                if !segment.restrained {
                    guards[number] = functions.define(|code| code.guards(program, edges, None))?;
                }
                continue;
            }
            for edge in edges.clone().map(|edge| edge as usize).filter(|edge| program.edges[*edge].half != NOWHERE) {
                halves[edge] = functions.define(|code| code.half(program, edge))?;
            }
            if segment.restrained {
                continue;
            }
            successors[number] = functions.successors(program, process, edges.clone(), &mut chains)?;
            if code.receives {
                receivers[number] = functions.define(|code| code.receivers(program, edges))?;
            }
        }
    }
    functions.module.finalize_definitions().ok()?;
    let address = |id: FuncId| functions.module.get_finalized_function(id);
    // SAFETY: the functions were defined with this signature.
    let listing = |id: FuncId| unsafe { std::mem::transmute::<*const u8, GuardFn>(address(id)) };
    let listings = |ids: Vec<Option<FuncId>>| ids.into_iter().map(|id| id.map(listing)).collect();
    // SAFETY: as above.
    let changing = |id: FuncId| unsafe { std::mem::transmute::<*const u8, EffectFn>(address(id)) };
    let changes = |ids: Vec<Option<FuncId>>| ids.into_iter().map(|id| id.map(changing)).collect();
    Some(NativeCode {
        guards: listings(guards),
        successors: listings(successors),
        receivers: listings(receivers),
        effects: changes(effects),
        halves: changes(halves),
        chains: chains.into(),
        widest,
        module: Some(functions.module),
    })
}

/// The functions that have been defined.
struct Functions {
    module: JITModule,
    builder: FunctionBuilderContext,
}

impl Functions {
    /// Defines the function that lists successors by these edges. Effects that cannot be translated are left to the evaluator.
    fn successors(
        &mut self,
        program: &Program,
        process: usize,
        edges: std::ops::Range<u32>,
        chains: &mut [Box<[u32]>],
    ) -> Option<Option<FuncId>> {
        let mut evaluated = BTreeSet::new();
        loop {
            let failed = std::cell::Cell::new(None);
            let then = Then { process, evaluated: &evaluated, failed: &failed };
            let defined = self.define(|code| code.guards(program, edges.clone(), Some(then)))?;
            match failed.get() {
                Some(edge) if defined.is_none() => evaluated.insert(edge),
                _ => {
                    for edge in edges.map(|edge| edge as usize) {
                        chains[edge] = chain(program, &program.edges[edge], &evaluated).collect();
                    }
                    return Some(defined);
                }
            };
        }
    }

    /// Defines a function; `Some(None)` if it cannot be translated, `None` if nothing can.
    fn define(&mut self, body: impl FnOnce(&mut Code<'_>) -> Translated) -> Option<Option<FuncId>> {
        let mut signature = self.module.make_signature();
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.returns.push(AbiParam::new(types::I64));
        let mut context = self.module.make_context();
        context.func.signature = signature.clone();
        let config = self.module.target_config();
        {
            let builder = FunctionBuilder::new(&mut context.func, &mut self.builder);
            let mut code = Code::new(builder);
            let translated = body(&mut code);
            if translated.is_err() {
                self.builder = FunctionBuilderContext::new();
                return Some(None);
            }
            code.builder.seal_all_blocks();
            code.builder.finalize(config);
        }
        let id = self.module.declare_anonymous_function(&signature).ok()?;
        context.func.name = UserFuncName::user(0, id.as_u32());
        self.module.define_function(id, &mut context).ok()?;
        Some(Some(id))
    }
}

/// Where code goes on when it has ended.
#[derive(Clone, Copy)]
struct Exits {
    /// The guard holds, or the effect is done.
    yes: Block,
    no: Block,
    handshake: Option<Block>,
}

/// A function under construction.
struct Code<'f> {
    builder: FunctionBuilder<'f>,
    context: Value,
    state: Value,
    local: Value,
    registers: [Option<Variable>; REGISTERS],
    /// The fields of the message that was received.
    fields: [Option<Variable>; FIELDS],
    /// Fields are those of the message on offer.
    is_offered: bool,
    /// The lists of edges of which one was executable; none in effects.
    executable: Option<Variable>,
    ticks: Option<Variable>,
    /// Where the message on offer is.
    message: Option<Value>,
    /// The kind of its channel, while it is made.
    offered_kind: Option<u16>,
    /// Where code goes on when its process has ended, if that may be.
    ended: Option<Block>,
    /// Where the function returns that it is not responsible.
    refuse: Block,
}

/// What is made of executable edges: their targets.
#[derive(Clone, Copy)]
struct Then<'a> {
    /// The process type.
    process: usize,
    /// Edges whose effects cannot be translated.
    evaluated: &'a BTreeSet<u32>,
    /// One more that turns out to be such an edge.
    failed: &'a std::cell::Cell<Option<u32>>,
}

/// A list that is being written.
struct List {
    /// The lists of edges of which one was executable.
    executable: Variable,
    /// How many elements there are.
    count: Variable,
    /// The number of the next slot for a target, and where it is.
    slot: Variable,
    address: Variable,
    /// Which kinds of elements there are, as bits.
    kinds: Variable,
}

impl<'f> Code<'f> {
    fn new(mut builder: FunctionBuilder<'f>) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [context, state, local] = [0, 1, 2].map(|number| builder.block_params(entry)[number]);
        let refuse = builder.create_block();
        builder.set_cold_block(refuse);
        Code {
            builder,
            context,
            state,
            local,
            registers: [None; REGISTERS],
            fields: [None; FIELDS],
            is_offered: false,
            executable: None,
            ticks: None,
            message: None,
            offered_kind: None,
            ended: None,
            refuse,
        }
    }

    /// Lists the executable ones of some edges, in their order: as transitions, or as successors.
    fn guards(&mut self, program: &Program, edges: std::ops::Range<u32>, then: Option<Then<'_>>) -> Translated {
        let executable = self.builder.declare_var(types::I64);
        let list = List {
            executable,
            count: self.builder.declare_var(types::I64),
            slot: self.builder.declare_var(types::I64),
            address: self.builder.declare_var(types::I64),
            kinds: self.builder.declare_var(types::I64),
        };
        self.executable = Some(executable);
        let zero = self.constant(0);
        for variable in [executable, list.count, list.kinds] {
            self.builder.def_var(variable, zero);
        }
        if then.is_some() {
            for (variable, offset) in [(list.slot, field::SLOT), (list.address, field::ADDRESS)] {
                let value = self.context_field(offset);
                self.builder.def_var(variable, value);
            }
        }
        for edge in edges {
            self.guard(program, edge, &list, then)?;
        }
        if then.is_some() {
            for (variable, offset) in [(list.slot, field::SLOT), (list.address, field::ADDRESS)] {
                let value = self.builder.use_var(variable);
                self.builder.ins().store(plain(), value, self.context, offset);
            }
        }
        let mut count = self.builder.use_var(list.count);
        if then.is_some() {
            let (kinds, distance) = (self.builder.use_var(list.kinds), self.constant(32));
            let kinds = self.builder.ins().ishl(kinds, distance);
            count = self.builder.ins().bor(count, kinds);
        }
        self.builder.ins().return_(&[count]);
        self.finish();
        Ok(())
    }

    fn guard(&mut self, program: &Program, edge: u32, list: &List, then: Option<Then<'_>>) -> Translated {
        let executable = list.executable;
        let code = &program.edges[edge as usize];
        let (yes, no, handshake) =
            (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        if code.ends {
            let youngest = self.is_youngest();
            self.go_on_if(youngest, no);
        }
        self.first_test(&code.first, no);
        let guard = if code.blocked == NO_BIT {
            code.guard
        } else {
            let blocked = self.is_blocked(executable, code.blocked);
            self.go_on_if(blocked, no);
            code.unblocked
        };
        let mut may_shake_hands = false;
        let mut message = Vec::new();
        if guard == NOWHERE {
            self.builder.ins().jump(yes, &[]);
        } else {
            // The message is written where the list would have its next element.
            if then.is_some() {
                message = message_kinds(program, guard, code.offer);
            }
            if !message.is_empty() {
                self.message = Some(self.nth(field::MESSAGES, size_of::<Message>(), list.count));
            }
            let shakes = self.code(program, guard, Exits { yes, no, handshake: Some(handshake) });
            self.message = None;
            may_shake_hands = shakes?;
        }
        self.builder.switch_to_block(yes);
        match then {
            Some(then) if !then.evaluated.contains(&edge) && !code.disturbs_objects => {
                self.successor(program, edge, list, then)?;
            }
            Some(_) => self.list_successor(edge, 0, Entry::Evaluated, 0, list),
            None => self.list(edge, 0, list),
        }
        if code.lists != 0 {
            let before = self.builder.use_var(executable);
            let lists = self.constant(code.lists as i64);
            let after = self.builder.ins().bor(before, lists);
            self.builder.def_var(executable, after);
        }
        self.builder.ins().jump(no, &[]);
        self.builder.switch_to_block(handshake);
        // Whether others are blocked depends on whether there is a partner.
        if code.lists != 0 || !may_shake_hands {
            self.builder.ins().jump(self.refuse, &[]);
        } else {
            match (then, message.as_slice()) {
                (None, _) => self.list(edge, Transition::HANDSHAKE, list),
                (Some(_), []) => self.list_successor(edge, Transition::HANDSHAKE, Entry::Searched, 0, list),
                (Some(_), kinds) => {
                    self.offer(program, code.offer, kinds, list)?;
                    self.list_successor(edge, Transition::HANDSHAKE, Entry::Offered, 0, list);
                }
            }
            self.builder.ins().jump(no, &[]);
        }
        self.builder.switch_to_block(no);
        Ok(())
    }

    /// Writes an executable edge to the list.
    fn list(&mut self, edge: u32, flags: u8, list: &List) {
        let at = self.nth(field::OUT, size_of::<Transition>(), list.count);
        self.write_transition(edge, flags, at, list);
    }

    fn write_transition(&mut self, edge: u32, flags: u8, at: Value, list: &List) {
        let executable = self.builder.use_var(list.executable);
        let edge = self.constant(edge.into());
        let mut mark = self.context_field(field::MARK);
        if flags != 0 {
            let flags = self.constant(Transition::mark_flags(flags) as i64);
            mark = self.builder.ins().bor(mark, flags);
        }
        for (value, offset) in [executable, edge, mark].into_iter().zip([0, 8, 16]) {
            self.builder.ins().store(plain(), value, at, offset);
        }
        self.increment(list.count, 1);
    }

    /// The element of that number in what a field of the context points to.
    fn nth(&mut self, field: i32, size: usize, number: Variable) -> Value {
        let start = self.context_field(field);
        let number = self.builder.use_var(number);
        let size = self.constant(size as i64);
        let distance = self.builder.ins().imul(number, size);
        self.builder.ins().iadd(start, distance)
    }

    fn increment(&mut self, variable: Variable, by: i64) {
        let (old, by) = (self.builder.use_var(variable), self.constant(by));
        let new = self.builder.ins().iadd(old, by);
        self.builder.def_var(variable, new);
    }

    /// Writes an executable edge to the list of successors, with the next slot if its target is there.
    fn list_successor(&mut self, edge: u32, flags: u8, kind: Entry, steps: i64, list: &List) {
        let at = self.nth(field::OUT, size_of::<Successor>(), list.count);
        let slot = if kind.has_target() { self.builder.use_var(list.slot) } else { self.constant(0) };
        let mark = self.constant((kind as i64) << 32 | steps << 48);
        let last = self.builder.ins().bor(slot, mark);
        self.builder.ins().store(plain(), last, at, size_of::<Transition>() as i32);
        self.write_transition(edge, flags, at, list);
        if kind != Entry::Reached || steps > 0 {
            let bits = kind.bit() | if steps > 0 { CHAINED } else { 0 };
            let (kinds, bit) = (self.builder.use_var(list.kinds), self.constant(bits as i64));
            let kinds = self.builder.ins().bor(kinds, bit);
            self.builder.def_var(list.kinds, kinds);
        }
    }

    /// Performs an edge in a copy of the state, and writes it to the list.
    fn successor(&mut self, program: &Program, edge: u32, list: &List, then: Then<'_>) -> Translated {
        let process = then.process;
        let code = &program.edges[edge as usize];
        let (state, local, refuse, executable) = (self.state, self.local, self.refuse, self.executable.take());
        let refused = self.builder.create_block();
        self.builder.set_cold_block(refused);
        let done = self.builder.create_block();
        let slot = self.builder.use_var(list.address);
        self.copy_state(slot);
        let distance = self.builder.ins().isub(local, state);
        (self.state, self.local, self.refuse) = (slot, self.builder.ins().iadd(slot, distance), refused);
        let (mut last, mut steps) = (code, 0);
        let ended = self.builder.create_block();
        self.builder.set_cold_block(ended);
        self.ended = Some(ended);
        self.perform(program, process, code).inspect_err(|_| then.failed.set(Some(edge)))?;
        self.ended = None;
        for next in chain(program, code, then.evaluated) {
            last = &program.edges[next as usize];
            steps += 1;
            self.perform(program, process, last).inspect_err(|_| then.failed.set(Some(next)))?;
        }
        (self.state, self.local, self.refuse, self.executable) = (state, local, refuse, executable);
        let kind = if last.keeps_control { Entry::Controlled } else { Entry::Reached };
        self.list_successor(edge, 0, kind, steps, list);
        self.next_slot(slot, list);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(ended);
        self.list_successor(edge, 0, Entry::Ended, 0, list);
        self.next_slot(slot, list);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(refused);
        self.list_successor(edge, 0, Entry::Evaluated, 0, list);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// The target in this slot stays.
    fn next_slot(&mut self, slot: Value, list: &List) {
        self.increment(list.slot, 1);
        let stride = self.context_field(field::SIZE);
        let next = self.builder.ins().iadd(slot, stride);
        self.builder.def_var(list.address, next);
    }

    /// Copies the state, sixteen bytes at a time.
    fn copy_state(&mut self, to: Value) {
        let (body, end) = (self.builder.create_block(), self.builder.create_block());
        let at = self.builder.append_block_param(body, types::I64);
        let (zero, size) = (self.constant(0), self.context_field(field::SIZE));
        self.builder.ins().jump(body, &[zero.into()]);
        self.builder.switch_to_block(body);
        let (from, to) = (self.builder.ins().iadd(self.state, at), self.builder.ins().iadd(to, at));
        let bytes = self.builder.ins().load(types::I8X16, plain(), from, 0);
        self.builder.ins().store(plain(), bytes, to, 0);
        let sixteen = self.constant(16);
        let next = self.builder.ins().iadd(at, sixteen);
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, next, size);
        self.builder.ins().brif(more, body, &[next.into()], end, &[]);
        self.builder.switch_to_block(end);
    }

    /// Makes the message that is on offer: its fields; the handle and the kind, which is one of these, are there.
    fn offer(&mut self, program: &Program, offer: Pc, kinds: &[u16], list: &List) -> Translated {
        let message = self.nth(field::MESSAGES, size_of::<Message>(), list.count);
        let offered = self.builder.ins().load(types::I64, plain(), message, offset_of!(Message, kind) as i32);
        let done = self.builder.create_block();
        self.message = Some(message);
        for kind in kinds {
            let (this, other) = (self.builder.create_block(), self.builder.create_block());
            let number = self.constant((*kind).into());
            let is_this = self.builder.ins().icmp(IntCC::Equal, offered, number);
            self.builder.ins().brif(is_this, this, &[], other, &[]);
            self.builder.switch_to_block(this);
            self.offered_kind = Some(*kind);
            self.code(program, offer, Exits { yes: done, no: self.refuse, handshake: None })?;
            self.builder.switch_to_block(other);
        }
        (self.message, self.offered_kind) = (None, None);
        self.builder.ins().jump(self.refuse, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// Lists which of some edges can receive the message on offer, in their order.
    fn receivers(&mut self, program: &Program, edges: std::ops::Range<u32>) -> Translated {
        let (executable, count) = (self.builder.declare_var(types::I64), self.builder.declare_var(types::I64));
        let zero = self.constant(0);
        self.builder.def_var(executable, zero);
        self.builder.def_var(count, zero);
        self.executable = Some(executable);
        self.is_offered = true;
        self.message = Some(self.context_field(field::MESSAGES));
        for edge in edges {
            let code = &program.edges[edge as usize];
            if code.accept == NOWHERE {
                continue;
            }
            let (yes, no) = (self.builder.create_block(), self.builder.create_block());
            if code.handle != NOWHERE {
                // A handle that cannot be evaluated is reported where the edge is looked at for itself.
                let refuse = std::mem::replace(&mut self.refuse, no);
                let known = self.builder.create_block();
                let found = self.code(program, code.handle, Exits { yes: known, no, handshake: None });
                self.refuse = refuse;
                found?;
                self.builder.switch_to_block(known);
                let handle = self.get(0);
                self.require_offered(handle, no)?;
            }
            if code.ends {
                let youngest = self.is_youngest();
                self.go_on_if(youngest, no);
            }
            self.code(program, code.accept, Exits { yes, no, handshake: None })?;
            self.builder.switch_to_block(yes);
            let at = self.nth(field::OUT, size_of::<u64>(), count);
            let number = self.constant(edge.into());
            self.builder.ins().store(plain(), number, at, 0);
            self.increment(count, 1);
            if code.lists != 0 {
                let (before, lists) = (self.builder.use_var(executable), self.constant(code.lists as i64));
                let after = self.builder.ins().bor(before, lists);
                self.builder.def_var(executable, after);
            }
            self.builder.ins().jump(no, &[]);
            self.builder.switch_to_block(no);
        }
        let count = self.builder.use_var(count);
        self.builder.ins().return_(&[count]);
        self.finish();
        Ok(())
    }

    /// Performs an edge as one half of a handshake, without the arrival of its process.
    fn half(&mut self, program: &Program, edge: usize) -> Translated {
        let code = &program.edges[edge];
        if code.disturbs_objects {
            return Err(Unknown);
        }
        self.is_offered = true;
        self.message = Some(self.context_field(field::MESSAGES));
        self.run_effect(program, code.half)?;
        let zero = self.constant(0);
        self.builder.ins().return_(&[zero]);
        self.finish();
        Ok(())
    }

    fn require_offered(&mut self, handle: Value, no: Block) -> Translated {
        let message = self.message.ok_or(Unknown)?;
        let offered = self.builder.ins().load(types::I64, plain(), message, offset_of!(Message, handle) as i32);
        let is_same = self.builder.ins().icmp(IntCC::Equal, handle, offered);
        self.go_on_if(is_same, no);
        Ok(())
    }

    /// Performs an edge: its communication and effect, and the arrival of its process.
    fn effect(&mut self, program: &Program, process: usize, edge: usize) -> Translated {
        let code = &program.edges[edge];
        if code.disturbs_objects {
            return Err(Unknown);
        }
        self.perform(program, process, code)?;
        let zero = self.constant(0);
        self.builder.ins().return_(&[zero]);
        self.finish();
        Ok(())
    }

    fn perform(&mut self, program: &Program, process: usize, code: &EdgeCode) -> Translated {
        self.first_step(&code.step);
        if code.effect != NOWHERE {
            self.run_effect(program, code.effect)?;
        }
        self.arrive(program, process, code);
        Ok(())
    }

    fn run_effect(&mut self, program: &Program, effect: Pc) -> Translated {
        let done = self.builder.create_block();
        let ticks = self.builder.declare_var(types::I64);
        let zero = self.constant(0);
        self.builder.def_var(ticks, zero);
        self.ticks = Some(ticks);
        self.code(program, effect, Exits { yes: done, no: self.refuse, handshake: None })?;
        self.builder.switch_to_block(done);
        Ok(())
    }

    fn arrive(&mut self, program: &Program, process: usize, code: &EdgeCode) {
        let location = program.layout.segments[process].location;
        let to = self.constant(code.to.into());
        self.store(&location, to);
        if let Some(cell) = &program.layout.control {
            let zero = self.constant(0);
            let holder = if code.keeps_control {
                let me = self.context_field(field::ME);
                let one = self.constant(1);
                self.builder.ins().iadd(me, one)
            } else {
                zero
            };
            self.store(cell, holder);
        }
        if let Some(cell) = &program.layout.last {
            let me = self.context_field(field::ME);
            self.store(cell, me);
        }
    }

    fn finish(&mut self) {
        self.builder.switch_to_block(self.refuse);
        let refused = self.constant(NOT_RESPONSIBLE);
        self.builder.ins().return_(&[refused]);
    }

    /// Translates the code that begins there. True if it may end with a handshake.
    fn code(&mut self, program: &Program, start: Pc, exits: Exits) -> Translated<bool> {
        let mut region =
            Region { blocks: BTreeMap::new(), exits, kinds: kinds(program, start)?, may_shake_hands: false };
        let mut open = vec![start];
        let entry = self.builder.create_block();
        self.builder.ins().jump(entry, &[]);
        region.blocks.insert(start, entry);
        let leaders = leaders(program, start);
        let mut done = BTreeSet::new();
        while let Some(at) = open.pop() {
            if !done.insert(at) {
                continue;
            }
            let block = region.block(self, at);
            self.builder.switch_to_block(block);
            let mut pc = at;
            loop {
                let op = &program.ops[pc as usize];
                pc += 1;
                match self.op(program, op, pc, &mut region)? {
                    Flow::On => {}
                    Flow::Ended => break,
                    Flow::To(targets) => {
                        open.extend(targets.into_iter().flatten());
                        break;
                    }
                }
                if leaders.contains(&pc) {
                    let next = region.block(self, pc);
                    self.builder.ins().jump(next, &[]);
                    open.push(pc);
                    break;
                }
            }
        }
        Ok(region.may_shake_hands)
    }

    fn op(&mut self, program: &Program, op: &Op, next: Pc, region: &mut Region) -> Translated<Flow> {
        let exits = region.exits;
        match *op {
            Op::Const { to, value } => {
                let value = self.constant(value.into());
                self.set(to, value);
            }
            Op::Wide { to, index } => {
                let value = self.constant(program.wide[index as usize]);
                self.set(to, value);
            }
            Op::Byte { to, cell } | Op::Load { to, cell } => {
                let value = self.load(&cell);
                self.set(to, value);
            }
            Op::ByteAt { to, index, array } | Op::LoadAt { to, index, array } => {
                let (at, cell) = self.element(index, &array);
                let value = self.load_at(at, 0, &cell);
                self.set(to, value);
            }
            Op::StoreAt { from, index, array } => {
                let value = self.get(from);
                let (at, cell) = self.element(index, &array);
                self.store_at(at, 0, &cell, value);
            }
            Op::Scale { to, length, stride } => {
                let index = self.get(to);
                self.refuse_unless_below(index, length.into());
                let stride = self.constant(stride.into());
                let distance = self.builder.ins().imul(index, stride);
                self.set(to, distance);
            }
            Op::LoadFrom { to, distance, cell, limit } => {
                let at = self.at_distance(distance, &cell, limit);
                let value = self.load_at(at, 0, &cell);
                self.set(to, value);
            }
            Op::StoreTo { from, distance, cell, limit } => {
                let value = self.get(from);
                let at = self.at_distance(distance, &cell, limit);
                self.store_at(at, 0, &cell, value);
            }
            Op::Add { to, with } => self.binary(to, with, |b, x, y| b.ins().iadd(x, y)),
            Op::Sub { to, with } => self.binary(to, with, |b, x, y| b.ins().isub(x, y)),
            Op::Mul { to, with } => self.binary(to, with, |b, x, y| b.ins().imul(x, y)),
            Op::AddChecked { to, with } => self.checked(to, with, |b, x, y| b.ins().sadd_overflow(x, y)),
            Op::SubChecked { to, with } => self.checked(to, with, |b, x, y| b.ins().ssub_overflow(x, y)),
            Op::MulChecked { to, with } => self.checked(to, with, |b, x, y| b.ins().smul_overflow(x, y)),
            Op::Div { to, with } | Op::Rem { to, with } => self.divide(to, with, matches!(op, Op::Rem { .. })),
            Op::BitAnd { to, with } => self.binary(to, with, |b, x, y| b.ins().band(x, y)),
            Op::BitOr { to, with } => self.binary(to, with, |b, x, y| b.ins().bor(x, y)),
            Op::BitXor { to, with } => self.binary(to, with, |b, x, y| b.ins().bxor(x, y)),
            Op::Shl { to, with } => {
                let (x, distance) = (self.get(to), self.distance(with));
                let shifted = self.builder.ins().ishl(x, distance);
                let back = self.builder.ins().sshr(shifted, distance);
                let same = self.builder.ins().icmp(IntCC::Equal, back, x);
                self.go_on_if(same, self.refuse);
                self.set(to, shifted);
            }
            Op::Shr { to, with } => {
                let (x, distance) = (self.get(to), self.distance(with));
                let shifted = self.builder.ins().sshr(x, distance);
                self.set(to, shifted);
            }
            Op::AddConst { to, value } => self.add(to, value.into()),
            Op::AddWide { to, index } => self.add(to, program.wide[index as usize]),
            Op::Negate { to } => {
                let (zero, x) = (self.constant(0), self.get(to));
                let (value, overflow) = self.builder.ins().ssub_overflow(zero, x);
                self.refuse_if(overflow);
                self.set(to, value);
            }
            Op::Complement { to } => {
                let x = self.get(to);
                let value = self.builder.ins().bnot(x);
                self.set(to, value);
            }
            Op::Int { to } => self.wrap(to, 32, true),
            Op::Wrap { to, shift, signed } => self.wrap(to, shift, signed),
            Op::Fit { to, scalar } => {
                let value = self.get(to);
                let fitted = self.fit(program.scalars[scalar as usize], value)?;
                self.set(to, fitted);
            }
            Op::Equal { to, with } => self.compare(to, with, IntCC::Equal),
            Op::NotEqual { to, with } => self.compare(to, with, IntCC::NotEqual),
            Op::Less { to, with } => self.compare(to, with, IntCC::SignedLessThan),
            Op::LessEqual { to, with } => self.compare(to, with, IntCC::SignedLessThanOrEqual),
            Op::In { to, low, high } | Op::NotIn { to, low, high } => {
                let x = self.get(to);
                let test = self.within(x, low, high, matches!(op, Op::In { .. }));
                self.set_truth(to, test);
            }
            Op::ByteIn { to, cell, low, high } | Op::ByteNotIn { to, cell, low, high } => {
                let x = self.load(&cell);
                let test = self.within(x, low, high, matches!(op, Op::ByteIn { .. }));
                self.set_truth(to, test);
            }
            Op::Not { to } => {
                let test = self.is_zero(to);
                self.set_truth(to, test);
            }
            Op::Truth { to } => {
                let (x, zero) = (self.get(to), self.constant(0));
                let test = self.builder.ins().icmp(IntCC::NotEqual, x, zero);
                self.set_truth(to, test);
            }
            Op::Jump { to } => {
                let block = region.block(self, to);
                self.builder.ins().jump(block, &[]);
                return Ok(Flow::To([Some(to), None]));
            }
            Op::JumpIfZero { test, to } | Op::JumpIfNotZero { test, to } => {
                let value = self.get(test);
                let (there, here) = (region.block(self, to), region.block(self, next));
                match op {
                    Op::JumpIfZero { .. } => self.builder.ins().brif(value, here, &[], there, &[]),
                    _ => self.builder.ins().brif(value, there, &[], here, &[]),
                };
                return Ok(Flow::To([Some(to), Some(next)]));
            }
            Op::SelfId { to } => {
                let me = self.context_field(field::ME);
                self.set(to, me);
            }
            Op::ProcessCount { to } => {
                let count = self.context_field(field::PROCESSES);
                self.set(to, count);
            }
            Op::IsYoungest { to } => {
                let youngest = self.is_youngest();
                self.set_truth(to, youngest);
            }
            // In effects it is not known who else could move.
            Op::Timeout { to } if self.executable.is_some() => {
                let timeout = self.context_field(field::TIMEOUT);
                self.set(to, timeout);
            }
            Op::RequireTimeout if self.executable.is_some() => {
                let timeout = self.context_field(field::TIMEOUT);
                self.go_on_if(timeout, exits.no);
            }
            Op::Blocked { to, bit, .. } if bit != NO_BIT => {
                let blocked = self.is_blocked(self.executable.ok_or(Unknown)?, bit);
                self.set_truth(to, blocked);
            }
            Op::RequireBlocked { bit, .. } if bit != NO_BIT => {
                let blocked = self.is_blocked(self.executable.ok_or(Unknown)?, bit);
                self.go_on_if(blocked, exits.no);
            }
            Op::Require { test } => {
                let value = self.get(test);
                self.go_on_if(value, exits.no);
            }
            Op::RequireNot { test } => {
                let zero = self.is_zero(test);
                self.go_on_if(zero, exits.no);
            }
            Op::RequireByteIn { cell, low, high } | Op::RequireByteNotIn { cell, low, high } => {
                let x = self.load(&cell);
                let test = self.within(x, low, high, matches!(op, Op::RequireByteIn { .. }));
                self.go_on_if(test, exits.no);
            }
            Op::RequireEqual { x, with } => self.require(x, with, IntCC::Equal, exits.no),
            Op::RequireLess { x, with } => self.require(x, with, IntCC::SignedLessThan, exits.no),
            Op::RequireLessEqual { x, with } => self.require(x, with, IntCC::SignedLessThanOrEqual, exits.no),
            Op::Yes | Op::Done => {
                self.builder.ins().jump(exits.yes, &[]);
                return Ok(Flow::Ended);
            }
            Op::No => {
                self.builder.ins().jump(exits.no, &[]);
                return Ok(Flow::Ended);
            }
            Op::Trap { .. } => {
                self.builder.ins().jump(self.refuse, &[]);
                return Ok(Flow::Ended);
            }
            Op::SetByte { cell, value } => {
                let value = self.constant(value.into());
                let whole = Cell { kind: Kind::Bits, shift: 0, mask: 0xff, ..cell };
                self.store(&whole, value);
            }
            Op::Set { cell, value } => {
                let value = self.constant(value.into());
                self.store(&cell, value);
            }
            Op::Bump { cell, value } => {
                let (old, more) = (self.load(&cell), self.constant(value.into()));
                let new = self.builder.ins().iadd(old, more);
                self.store(&cell, new);
            }
            Op::Move { from, to } => {
                let value = self.load(&from);
                self.store(&to, value);
            }
            Op::Store { from, cell } => {
                let value = self.get(from);
                self.store(&cell, value);
            }
            Op::Bind { field, cell } => {
                let value = self.message_field(field)?;
                self.store(&cell, value);
            }
            Op::Offered { to, field } => {
                let value = self.message_field(field)?;
                self.set(to, value);
            }
            Op::Assert { test, .. } => {
                let value = self.get(test);
                self.go_on_if(value, self.refuse);
            }
            Op::End => {
                let (ended, zero) = (self.ended.ok_or(Unknown)?, self.constant(0));
                for (cell, me) in [(&program.layout.control, false), (&program.layout.last, true)] {
                    if let Some(cell) = cell {
                        let value = if me { self.context_field(field::ME) } else { zero };
                        self.store(cell, value);
                    }
                }
                self.builder.ins().jump(ended, &[]);
                return Ok(Flow::Ended);
            }
            Op::Tick => {
                let ticks = self.ticks.ok_or(Unknown)?;
                let count = self.builder.use_var(ticks);
                self.refuse_unless_below(count, MAX_INSTRUCTIONS.into());
                let one = self.constant(1);
                let count = self.builder.ins().iadd(count, one);
                self.builder.def_var(ticks, count);
            }
            _ => self.channel_op(program, op, region)?,
        }
        Ok(Flow::On)
    }

    /// Instructions about channels; what is not known.
    fn channel_op(&mut self, program: &Program, op: &Op, region: &mut Region) -> Translated {
        let exits = region.exits;
        match *op {
            Op::Open { to, handle } => {
                let (handle, one) = (self.get(handle), self.constant(1));
                let number = self.builder.ins().isub(handle, one);
                let count = self.context_field(field::CHANNEL_COUNT);
                let there = self.builder.ins().icmp(IntCC::UnsignedLessThan, number, count);
                self.go_on_if(there, self.refuse);
                let channels = self.context_field(field::CHANNELS);
                let size = self.constant(size_of::<super::ChannelPlace>() as i64);
                let distance = self.builder.ins().imul(number, size);
                let at = self.builder.ins().iadd(channels, distance);
                let place = offset_of!(super::ChannelPlace, offset) as i32;
                let offset = self.builder.ins().uload32(plain(), at, place);
                let kind = offset_of!(super::ChannelPlace, kind) as i32;
                let kind = self.builder.ins().uload16(types::I64, plain(), at, kind);
                self.set_channel(to, offset, kind);
            }
            Op::Fixed { to, base, kind, offset } => {
                let start = match base {
                    Base::Global => self.constant(0),
                    Base::Local => self.builder.ins().isub(self.local, self.state),
                    _ => return Err(Unknown),
                };
                let distance = self.constant(offset.into());
                let offset = self.builder.ins().iadd(start, distance);
                let kind = self.constant(kind.into());
                self.set_channel(to, offset, kind);
            }
            Op::Length { to } => {
                let length =
                    self.by_kind(program, region, to, |code, at, channel| Ok(Some(code.length(at, channel))))?;
                self.set(to, length);
            }
            Op::Full { to } => {
                let full = self.by_kind(program, region, to, |code, at, channel| {
                    if channel.capacity == 0 {
                        return Ok(Some(code.constant(0)));
                    }
                    let (length, capacity) = (code.length(at, channel), code.constant(channel.capacity.into()));
                    let full = code.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, length, capacity);
                    Ok(Some(code.builder.ins().uextend(types::I64, full)))
                })?;
                self.set(to, full);
            }
            Op::HasRoom { to, channel } => {
                let room = self.by_kind(program, region, channel, |code, at, channel| {
                    let (length, capacity) = (code.length(at, channel), code.constant(channel.capacity.into()));
                    let room = code.builder.ins().icmp(IntCC::UnsignedLessThan, length, capacity);
                    Ok(Some(code.builder.ins().uextend(types::I64, room)))
                })?;
                self.set(to, room);
            }
            Op::Arity { channel, given, exact } => {
                self.by_kind(program, region, channel, |code, _, channel| {
                    Ok(if arity(channel, given, exact).is_some() { None } else { Some(code.constant(0)) })
                })?;
            }
            Op::NoHandshake { channel, .. } => {
                self.by_kind(program, region, channel, |code, _, channel| {
                    Ok(if channel.capacity == 0 { None } else { Some(code.constant(0)) })
                })?;
            }
            Op::HasMessage { to, channel, position } => {
                let position = self.get_or_zero(position);
                let has = self.by_kind(program, region, channel, |code, at, channel| {
                    let length = code.length(at, channel);
                    let has = code.builder.ins().icmp(IntCC::SignedLessThan, position, length);
                    Ok(Some(code.builder.ins().uextend(types::I64, has)))
                })?;
                self.set(to, has);
            }
            Op::Field { to, channel, position, field } => {
                let position = self.get_or_zero(position);
                let value = self.by_kind(program, region, channel, |code, at, channel| {
                    Ok(code.field_of(at, channel, position, usize::from(field)))
                })?;
                self.set(to, value);
            }
            Op::FitField { to, channel, field } => {
                let value = self.get(to);
                let fitted = self.by_kind(program, region, channel, |code, _, channel| {
                    match channel.fields.get(usize::from(field)) {
                        Some(field) => code.fit(field.slot.scalar, value).map(Some),
                        None => Ok(None),
                    }
                })?;
                self.set(to, fitted);
            }
            Op::RequireRoom { channel, handle } => {
                let handshake = exits.handshake.ok_or(Unknown)?;
                let kinds = region.kinds.of[usize::from(channel)].clone();
                let mut kinds = kinds.into_iter();
                let mut may_shake_hands = false;
                self.by_kind(program, region, channel, |code, at, channel| {
                    let zero = code.constant(0);
                    let kind = kinds.next().ok_or(Unknown)?;
                    if channel.capacity == 0 {
                        may_shake_hands = true;
                        code.begin_message(kind, handle);
                        let on = code.builder.create_block();
                        code.builder.ins().brif(zero, on, &[], handshake, &[]);
                        code.builder.switch_to_block(on);
                        return Ok(Some(zero));
                    }
                    let (length, capacity) = (code.length(at, channel), code.constant(channel.capacity.into()));
                    let room = code.builder.ins().icmp(IntCC::UnsignedLessThan, length, capacity);
                    code.go_on_if(room, exits.no);
                    Ok(Some(zero))
                })?;
                region.may_shake_hands |= may_shake_hands;
            }
            Op::RequireOffered { handle } => {
                let handle = self.get(handle);
                self.require_offered(handle, exits.no)?;
            }
            Op::OfferArity { given, exact } => {
                let message = self.message.ok_or(Unknown)?;
                let place = offset_of!(Message, kind) as i32;
                let offered = self.builder.ins().load(types::I64, plain(), message, place);
                let channels = program.layout.channels.iter().enumerate();
                for (kind, _) in channels.filter(|(_, channel)| arity(channel, given, exact).is_some()) {
                    let kind = self.constant(kind as i64);
                    let differs = self.builder.ins().icmp(IntCC::NotEqual, offered, kind);
                    self.go_on_if(differs, self.refuse);
                }
            }
            Op::Offer { from, field } => {
                let kind = self.offered_kind.ok_or(Unknown)?;
                let message = self.message.ok_or(Unknown)?;
                let Some(known) = program.layout.channels[usize::from(kind)].fields.get(usize::from(field)) else {
                    let (never, on) = (self.constant(0), self.builder.create_block());
                    self.builder.ins().brif(never, on, &[], self.refuse, &[]);
                    self.builder.switch_to_block(on);
                    return Ok(());
                };
                let value = self.get(from);
                let fitted = self.fit(known.slot.scalar, value)?;
                self.builder.ins().store(plain(), fitted, message, field_place(field));
            }
            Op::RequireMessage { channel, keep } => {
                self.by_kind(program, region, channel, |code, at, channel| {
                    if channel.capacity == 0 && keep {
                        return Ok(None);
                    }
                    let length = code.length(at, channel);
                    code.go_on_if(length, exits.no);
                    Ok(Some(length))
                })?;
            }
            Op::Send { channel, first, sorted: false, .. } => {
                let first = usize::from(first);
                self.by_kind(program, region, channel, |code, at, channel| code.send(at, channel, first))?;
            }
            Op::Peek { channel, position: ZERO } => {
                let used = region.kinds.fields;
                for field in (0..FIELDS).filter(|field| used >> field & 1 != 0) {
                    let value = self.by_kind(program, region, channel, |code, at, channel| {
                        let zero = code.constant(0);
                        Ok(code.field_of(at, channel, zero, field))
                    })?;
                    let variable = *self.fields[field].get_or_insert_with(|| self.builder.declare_var(types::I64));
                    self.builder.def_var(variable, value);
                }
            }
            Op::Remove { channel, position: ZERO, .. } => {
                self.by_kind(program, region, channel, |code, at, channel| code.remove(at, channel))?;
            }
            _ => return Err(Unknown),
        }
        Ok(())
    }

    /// Code for an open channel, for each kind that it may be of: its value. Where there is none it would be a fault.
    fn by_kind(
        &mut self,
        program: &Program,
        region: &Region,
        register: Register,
        mut code: impl FnMut(&mut Self, Value, &ChannelLayout) -> Translated<Option<Value>>,
    ) -> Translated<Value> {
        let open = self.get(register);
        let sixteen = self.constant(16);
        let offset = self.builder.ins().ushr(open, sixteen);
        let at = self.builder.ins().iadd(self.state, offset);
        let kinds = &region.kinds.of[usize::from(register)];
        if let [kind] = kinds.as_slice() {
            let value = code(self, at, &program.layout.channels[usize::from(*kind)])?;
            return Ok(match value {
                Some(value) => value,
                None => {
                    let (zero, on) = (self.constant(0), self.builder.create_block());
                    self.builder.ins().brif(zero, on, &[], self.refuse, &[]);
                    self.builder.switch_to_block(on);
                    zero
                }
            });
        }
        let mask = self.constant(0xffff);
        let number = self.builder.ins().band(open, mask);
        let end = self.builder.create_block();
        let result = self.builder.append_block_param(end, types::I64);
        let mut switch = Switch::new();
        let blocks: Vec<Block> = kinds.iter().map(|_| self.builder.create_block()).collect();
        for (kind, block) in kinds.iter().zip(&blocks) {
            switch.set_entry(u128::from(*kind), *block);
        }
        switch.emit(&mut self.builder, number, self.refuse);
        for (kind, block) in kinds.iter().zip(&blocks) {
            self.builder.switch_to_block(*block);
            match code(self, at, &program.layout.channels[usize::from(*kind)])? {
                Some(value) => self.builder.ins().jump(end, &[value.into()]),
                None => self.builder.ins().jump(self.refuse, &[]),
            };
        }
        self.builder.switch_to_block(end);
        Ok(result)
    }

    fn set_channel(&mut self, to: Register, offset: Value, kind: Value) {
        let sixteen = self.constant(16);
        let shifted = self.builder.ins().ishl(offset, sixteen);
        let open = self.builder.ins().bor(shifted, kind);
        self.set(to, open);
    }

    /// How many messages a channel holds; never more than it can.
    fn length(&mut self, at: Value, channel: &ChannelLayout) -> Value {
        if channel.capacity == 0 {
            return self.constant(0);
        }
        let length = self.load_at(at, 0, &Cell::whole(Base::Global, channel.length, 0));
        let capacity = self.constant(channel.capacity.into());
        self.builder.ins().umin(length, capacity)
    }

    /// A field of a message; 0 if the channel has no such position, `None` if it has no such field.
    fn field_of(&mut self, at: Value, channel: &ChannelLayout, position: Value, field: usize) -> Option<Value> {
        let slot = &channel.fields.get(field)?.slot;
        if channel.capacity == 0 {
            return Some(self.constant(0));
        }
        let (capacity, last) = (self.constant(channel.capacity.into()), self.constant(i64::from(channel.capacity) - 1));
        let there = self.builder.ins().icmp(IntCC::UnsignedLessThan, position, capacity);
        let clamped = self.builder.ins().umin(position, last);
        let size = self.constant(channel.message.into());
        let distance = self.builder.ins().imul(clamped, size);
        let message = self.builder.ins().iadd(at, distance);
        let raw = self.load_at(message, channel.first_message() + slot.cell.offset, &slot.cell);
        let low = self.constant(slot.low);
        let value = self.builder.ins().iadd(raw, low);
        let zero = self.constant(0);
        Some(self.builder.ins().select(there, value, zero))
    }

    /// Puts the values in the registers from `first` on into a channel.
    fn send(&mut self, at: Value, channel: &ChannelLayout, first: usize) -> Translated<Option<Value>> {
        if channel.capacity == 0 {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(channel.fields.len());
        for (number, field) in channel.fields.iter().enumerate() {
            let register = Register::try_from(first + number).ok().filter(|r| usize::from(*r) < REGISTERS);
            let value = self.get(register.ok_or(Unknown)?);
            values.push(if field.wraps { value } else { self.fit(field.slot.scalar, value)? });
        }
        let length = self.length(at, channel);
        self.refuse_unless_below(length, channel.capacity.into());
        let size = self.constant(channel.message.into());
        let distance = self.builder.ins().imul(length, size);
        let message = self.builder.ins().iadd(at, distance);
        for (value, field) in values.into_iter().zip(&channel.fields) {
            let low = self.constant(field.slot.low);
            let raw = self.builder.ins().isub(value, low);
            self.store_at(message, channel.first_message() + field.slot.cell.offset, &field.slot.cell, raw);
        }
        let one = self.constant(1);
        let length = self.builder.ins().iadd(length, one);
        self.store_at(at, 0, &Cell::whole(Base::Global, channel.length, 0), length);
        Ok(Some(length))
    }

    /// Takes the oldest message out. What lies behind the last one is zero, so that all of them are moved up.
    fn remove(&mut self, at: Value, channel: &ChannelLayout) -> Translated<Option<Value>> {
        let all = channel.capacity.saturating_mul(channel.message);
        if all > MOST_CHANNEL_BYTES {
            return Err(Unknown);
        }
        if channel.capacity == 0 {
            return Ok(Some(self.constant(0)));
        }
        let (first, size) = (channel.first_message(), channel.message);
        for (place, bytes) in pieces(all - size) {
            let ty = integer(bytes);
            let value = self.builder.ins().load(ty, plain(), at, (first + size + place) as i32);
            self.builder.ins().store(plain(), value, at, (first + place) as i32);
        }
        for (place, bytes) in pieces(size) {
            let zero = self.builder.ins().iconst(integer(bytes), 0);
            self.builder.ins().store(plain(), zero, at, (first + all - size + place) as i32);
        }
        let (length, one) = (self.length(at, channel), self.constant(1));
        let some = self.builder.ins().umin(length, one);
        let less = self.builder.ins().isub(length, some);
        self.store_at(at, 0, &Cell::whole(Base::Global, channel.length, 0), less);
        Ok(Some(less))
    }

    /// The handle and the kind of the message on offer, if it is made.
    fn begin_message(&mut self, kind: u16, handle: Register) {
        if let Some(message) = self.message {
            let (kind, handle) = (self.constant(kind.into()), self.get(handle));
            self.builder.ins().store(plain(), kind, message, offset_of!(Message, kind) as i32);
            self.builder.ins().store(plain(), handle, message, offset_of!(Message, handle) as i32);
        }
    }

    fn message_field(&mut self, field: u8) -> Translated<Value> {
        if self.is_offered {
            let message = self.message.ok_or(Unknown)?;
            return Ok(self.builder.ins().load(types::I64, plain(), message, field_place(field)));
        }
        let variable = self.fields[usize::from(field) % FIELDS].ok_or(Unknown)?;
        Ok(self.builder.use_var(variable))
    }

    fn first_test(&mut self, test: &FirstTest, no: Block) {
        if test.mask == 0 {
            let always = (0u8.wrapping_sub(test.low) <= test.span) == test.inside;
            let truth = self.constant(always.into());
            return self.go_on_if(truth, no);
        }
        let cell = Cell { offset: test.offset, base: test.base, kind: Kind::Bits, shift: test.shift, mask: test.mask };
        let x = self.load(&cell);
        let low = i32::from(test.low);
        let test = self.within(x, low, low + i32::from(test.span), test.inside);
        self.go_on_if(test, no);
    }

    fn first_step(&mut self, step: &FirstStep) {
        let FirstStep { offset, base, shift, mask, keep, value } = *step;
        if mask == 0 {
            return;
        }
        let cell = Cell { offset, base, kind: Kind::Bits, shift, mask };
        let mut new = self.constant(value.into());
        if keep != 0 {
            let (old, keep) = (self.load(&cell), self.constant(keep.into()));
            let kept = self.builder.ins().band(old, keep);
            new = self.builder.ins().iadd(kept, new);
        }
        self.store(&cell, new);
    }

    fn constant(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    fn context_field(&mut self, offset: i32) -> Value {
        self.builder.ins().load(types::I64, plain(), self.context, offset)
    }

    fn variable(&mut self, register: Register) -> Variable {
        let register = usize::from(register) & (REGISTERS - 1);
        *self.registers[register].get_or_insert_with(|| self.builder.declare_var(types::I64))
    }

    fn get(&mut self, register: Register) -> Value {
        let variable = self.variable(register);
        self.builder.use_var(variable)
    }

    fn get_or_zero(&mut self, register: Register) -> Value {
        if register == ZERO { self.constant(0) } else { self.get(register) }
    }

    fn set(&mut self, register: Register, value: Value) {
        let variable = self.variable(register);
        self.builder.def_var(variable, value);
    }

    fn set_truth(&mut self, register: Register, truth: Value) {
        let value = self.builder.ins().uextend(types::I64, truth);
        self.set(register, value);
    }

    fn is_zero(&mut self, register: Register) -> Value {
        let (x, zero) = (self.get(register), self.constant(0));
        self.builder.ins().icmp(IntCC::Equal, x, zero)
    }

    fn is_youngest(&mut self) -> Value {
        let (me, one) = (self.context_field(field::ME), self.constant(1));
        let after = self.builder.ins().iadd(me, one);
        let processes = self.context_field(field::PROCESSES);
        self.builder.ins().icmp(IntCC::Equal, after, processes)
    }

    fn is_blocked(&mut self, executable: Variable, bit: u8) -> Value {
        let (lists, mask) = (self.builder.use_var(executable), self.constant(1 << (bit & 63)));
        let set = self.builder.ins().band(lists, mask);
        let zero = self.constant(0);
        self.builder.ins().icmp(IntCC::Equal, set, zero)
    }

    /// Goes on if the value is not zero, else there.
    fn go_on_if(&mut self, test: Value, otherwise: Block) {
        let on = self.builder.create_block();
        self.builder.ins().brif(test, on, &[], otherwise, &[]);
        self.builder.switch_to_block(on);
    }

    fn refuse_if(&mut self, test: Value) {
        let on = self.builder.create_block();
        self.builder.ins().brif(test, self.refuse, &[], on, &[]);
        self.builder.switch_to_block(on);
    }

    fn refuse_unless_below(&mut self, value: Value, limit: i64) {
        let limit = self.constant(limit);
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, value, limit);
        self.go_on_if(below, self.refuse);
    }

    fn within(&mut self, x: Value, low: i32, high: i32, inside: bool) -> Value {
        let (low, high) = (i64::from(low), i64::from(high));
        if low > high {
            let never = self.builder.ins().iconst(types::I8, i64::from(!inside));
            return never;
        }
        let condition = if inside { IntCC::UnsignedLessThanOrEqual } else { IntCC::UnsignedGreaterThan };
        let (least, span) = (self.constant(low), self.constant(high - low));
        let distance = self.builder.ins().isub(x, least);
        self.builder.ins().icmp(condition, distance, span)
    }

    fn binary(&mut self, to: Register, with: Register, op: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> Value) {
        let (x, y) = (self.get(to), self.get(with));
        let value = op(&mut self.builder, x, y);
        self.set(to, value);
    }

    fn checked(
        &mut self,
        to: Register,
        with: Register,
        op: impl Fn(&mut FunctionBuilder<'_>, Value, Value) -> (Value, Value),
    ) {
        let (x, y) = (self.get(to), self.get(with));
        let (value, overflow) = op(&mut self.builder, x, y);
        self.refuse_if(overflow);
        self.set(to, value);
    }

    fn divide(&mut self, to: Register, with: Register, remainder: bool) {
        let (x, y) = (self.get(to), self.get(with));
        // Division by zero is a fault, and that by -1 may be one.
        let (one, two) = (self.constant(1), self.constant(2));
        let shifted = self.builder.ins().iadd(y, one);
        let usual = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, shifted, two);
        self.go_on_if(usual, self.refuse);
        let value = if remainder { self.builder.ins().srem(x, y) } else { self.builder.ins().sdiv(x, y) };
        self.set(to, value);
    }

    fn distance(&mut self, register: Register) -> Value {
        let (y, mask) = (self.get(register), self.constant(31));
        self.builder.ins().band(y, mask)
    }

    fn add(&mut self, to: Register, value: i64) {
        let (x, more) = (self.get(to), self.constant(value));
        let value = self.builder.ins().iadd(x, more);
        self.set(to, value);
    }

    fn wrap(&mut self, to: Register, shift: u8, signed: bool) {
        let (x, distance) = (self.get(to), self.constant(i64::from(shift & 63)));
        let shifted = self.builder.ins().ishl(x, distance);
        let back = if signed {
            self.builder.ins().sshr(shifted, distance)
        } else {
            self.builder.ins().ushr(shifted, distance)
        };
        self.set(to, back);
    }

    fn compare(&mut self, to: Register, with: Register, condition: IntCC) {
        let (x, y) = (self.get(to), self.get(with));
        let truth = self.builder.ins().icmp(condition, x, y);
        self.set_truth(to, truth);
    }

    fn require(&mut self, x: Register, with: Register, condition: IntCC, no: Block) {
        let (x, y) = (self.get(x), self.get(with));
        let truth = self.builder.ins().icmp(condition, x, y);
        self.go_on_if(truth, no);
    }

    /// The value as a type keeps it.
    fn fit(&mut self, scalar: Scalar, value: Value) -> Translated<Value> {
        Ok(match scalar {
            Scalar::Int { bits, signed } => {
                let distance = self.constant(64 - i64::from(bits));
                let shifted = self.builder.ins().ishl(value, distance);
                if signed {
                    self.builder.ins().sshr(shifted, distance)
                } else {
                    self.builder.ins().ushr(shifted, distance)
                }
            }
            Scalar::Range { low, high, overflow: Overflow::Fault } => {
                let (least, most) = (self.constant(low), self.constant(high));
                let above = self.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, value, least);
                self.go_on_if(above, self.refuse);
                let below = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, value, most);
                self.go_on_if(below, self.refuse);
                value
            }
            Scalar::Range { low, high, overflow: Overflow::Saturate } => {
                let (least, most) = (self.constant(low), self.constant(high));
                let raised = self.builder.ins().smax(value, least);
                self.builder.ins().smin(raised, most)
            }
            Scalar::Range { overflow: Overflow::Wrap, .. } => return Err(Unknown),
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => {
                let mask = self.constant(0xff);
                self.builder.ins().band(value, mask)
            }
            Scalar::Reference(_) | Scalar::Unbounded => value,
        })
    }

    /// The address that offsets from a base are added to.
    fn base(&mut self, base: Base) -> Value {
        let hidden = match base {
            Base::Global => return self.state,
            Base::Local => return self.local,
            Base::HiddenGlobal => self.context_field(field::HIDDEN),
            Base::HiddenLocal => self.context_field(field::HIDDEN + 8),
        };
        self.builder.ins().iadd(self.state, hidden)
    }

    /// An element of an array, and how it is read.
    fn element(&mut self, index: Register, array: &Array) -> (Value, Cell) {
        let index = self.get(index);
        self.refuse_unless_below(index, array.length.into());
        let stride = self.constant(array.stride.into());
        let distance = self.builder.ins().imul(index, stride);
        let base = self.base(array.base);
        let start = self.builder.ins().iadd(base, distance);
        let offset = self.constant(array.offset.into());
        let at = self.builder.ins().iadd(start, offset);
        (at, Cell::whole(array.base, array.kind, 0))
    }

    /// The address of a cell, that many bytes further on.
    fn at_distance(&mut self, distance: Register, cell: &Cell, limit: u32) -> Value {
        let (distance, limit) = (self.get(distance), self.constant(limit.into()));
        let clamped = self.builder.ins().umin(distance, limit);
        let base = self.base(cell.base);
        let start = self.builder.ins().iadd(base, clamped);
        let offset = self.constant(cell.offset.into());
        self.builder.ins().iadd(start, offset)
    }

    fn load(&mut self, cell: &Cell) -> Value {
        let base = self.base(cell.base);
        self.load_at(base, cell.offset, cell)
    }

    fn store(&mut self, cell: &Cell, value: Value) {
        let base = self.base(cell.base);
        self.store_at(base, cell.offset, cell, value);
    }

    fn load_at(&mut self, at: Value, offset: u32, cell: &Cell) -> Value {
        let (flags, offset) = (plain(), offset as i32);
        let ins = self.builder.ins();
        match cell.kind {
            Kind::Bits => {
                let mut value = ins.uload8(types::I64, flags, at, offset);
                let shift = cell.shift & 7;
                if shift > 0 {
                    let distance = self.constant(shift.into());
                    value = self.builder.ins().ushr(value, distance);
                }
                if cell.mask < 0xff >> shift {
                    let mask = self.constant(cell.mask.into());
                    value = self.builder.ins().band(value, mask);
                }
                value
            }
            Kind::I8 => ins.sload8(types::I64, flags, at, offset),
            Kind::U16 => ins.uload16(types::I64, flags, at, offset),
            Kind::I16 => ins.sload16(types::I64, flags, at, offset),
            Kind::U32 => ins.uload32(flags, at, offset),
            Kind::I32 => ins.sload32(flags, at, offset),
            Kind::I64 => ins.load(types::I64, flags, at, offset),
        }
    }

    fn store_at(&mut self, at: Value, offset: u32, cell: &Cell, value: Value) {
        let (flags, place) = (plain(), offset as i32);
        match cell.kind {
            Kind::Bits if cell.mask == 0xff && cell.shift == 0 => {
                self.builder.ins().istore8(flags, value, at, place);
            }
            Kind::Bits => {
                let shift = cell.shift & 7;
                let old = self.builder.ins().uload8(types::I64, flags, at, place);
                let others = self.constant(i64::from(!(cell.mask << shift)));
                let kept = self.builder.ins().band(old, others);
                let mask = self.constant(cell.mask.into());
                let mut new = self.builder.ins().band(value, mask);
                if shift > 0 {
                    let distance = self.constant(shift.into());
                    new = self.builder.ins().ishl(new, distance);
                }
                let byte = self.builder.ins().bor(kept, new);
                self.builder.ins().istore8(flags, byte, at, place);
            }
            Kind::I8 => {
                self.builder.ins().istore8(flags, value, at, place);
            }
            Kind::U16 | Kind::I16 => {
                self.builder.ins().istore16(flags, value, at, place);
            }
            Kind::U32 | Kind::I32 => {
                self.builder.ins().istore32(flags, value, at, place);
            }
            Kind::I64 => {
                self.builder.ins().store(flags, value, at, place);
            }
        }
    }
}

/// How the code goes on after an instruction.
enum Flow {
    /// With the next one.
    On,
    /// Not at all.
    Ended,
    /// At one of these.
    To([Option<Pc>; 2]),
}

/// A piece of bytecode that is being translated.
struct Region {
    blocks: BTreeMap<Pc, Block>,
    exits: Exits,
    kinds: Kinds,
    may_shake_hands: bool,
}

impl Region {
    fn block(&mut self, code: &mut Code<'_>, at: Pc) -> Block {
        *self.blocks.entry(at).or_insert_with(|| code.builder.create_block())
    }
}

/// What can be said about the registers of a piece of code.
struct Kinds {
    /// The kinds of the channel that is open in a register.
    of: Vec<Vec<u16>>,
    /// Which fields of a received message are used, as bits.
    fields: u64,
}

const _: () = assert!(FIELDS <= 64);

fn kinds(program: &Program, start: Pc) -> Translated<Kinds> {
    let mut kinds = Kinds { of: vec![Vec::new(); REGISTERS], fields: 0 };
    let all = 0..program.layout.channels.len() as u16;
    for pc in reachable(program, start) {
        match program.ops[pc as usize] {
            Op::Open { to, .. } => kinds.of[usize::from(to)] = all.clone().collect(),
            Op::Fixed { to, kind, .. } if !kinds.of[usize::from(to)].contains(&kind) => {
                kinds.of[usize::from(to)].push(kind);
            }
            Op::Bind { field, .. } | Op::Offered { field, .. } => kinds.fields |= 1 << (usize::from(field) % FIELDS),
            _ => {}
        }
    }
    if kinds.of.iter().any(|kinds| kinds.len() > MOST_KINDS) { Err(Unknown) } else { Ok(kinds) }
}

/// The steps that an atomic sequence takes after an edge whatever the state: edges that are alone in their location, and are
/// always executable.
pub(super) fn chain<'a>(
    program: &'a Program,
    first: &'a EdgeCode,
    evaluated: &'a BTreeSet<u32>,
) -> impl Iterator<Item = u32> + 'a {
    let segment = &program.layout.segments[usize::from(first.process)];
    let next = move |last: &EdgeCode| {
        let code = &program.locations[(segment.first_location + last.to) as usize];
        let edge = &program.edges[code.first_edge as usize];
        let is_free = last.keeps_control
            && !segment.restrained
            && code.end_edge == code.first_edge + 1
            && edge.guard == NOWHERE
            && edge.blocked == NO_BIT
            && edge.first.mask == 0
            && (0u8.wrapping_sub(edge.first.low) <= edge.first.span) == edge.first.inside
            && !edge.ends
            && !edge.disturbs_objects
            && !evaluated.contains(&code.first_edge);
        is_free.then_some(code.first_edge)
    };
    std::iter::successors(next(first), move |last| next(&program.edges[*last as usize])).take(LONGEST_CHAIN)
}

/// Where a field of the message on offer is.
fn field_place(field: u8) -> i32 {
    (offset_of!(Message, fields) + usize::from(field) % FIELDS * size_of::<i64>()) as i32
}

/// The kinds of handshake channels that a guard may offer a message on; none if that is left to the evaluator.
fn message_kinds(program: &Program, guard: Pc, offer: Pc) -> Vec<u16> {
    if offer == NOWHERE {
        return Vec::new();
    }
    let Ok(kinds) = kinds(program, guard) else { return Vec::new() };
    let rooms = reachable(program, guard).into_iter().filter_map(|pc| match program.ops[pc as usize] {
        Op::RequireRoom { channel, .. } => Some(usize::from(channel)),
        _ => None,
    });
    let is_handshake = |kind: &u16| program.layout.channels[usize::from(*kind)].capacity == 0;
    let mut found: Vec<u16> = rooms.flat_map(|channel| kinds.of[channel].clone()).filter(is_handshake).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The instructions that may follow one.
fn following(program: &Program, pc: Pc) -> [Option<Pc>; 2] {
    match program.ops[pc as usize] {
        Op::Jump { to } => [Some(to), None],
        Op::JumpIfZero { to, .. } | Op::JumpIfNotZero { to, .. } => [Some(to), Some(pc + 1)],
        Op::Yes | Op::No | Op::Done | Op::End | Op::Trap { .. } | Op::Keep { .. } => [None, None],
        _ => [Some(pc + 1), None],
    }
}

fn reachable(program: &Program, start: Pc) -> BTreeSet<Pc> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(pc) = open.pop() {
        if seen.insert(pc) {
            open.extend(following(program, pc).into_iter().flatten());
        }
    }
    seen
}

/// The instructions that basic blocks begin with.
fn leaders(program: &Program, start: Pc) -> BTreeSet<Pc> {
    let jumps = reachable(program, start).into_iter().flat_map(|pc| match program.ops[pc as usize] {
        Op::Jump { .. } | Op::JumpIfZero { .. } | Op::JumpIfNotZero { .. } => following(program, pc),
        _ => [None, None],
    });
    jumps.flatten().chain([start]).collect()
}

/// So many bytes in pieces that can be loaded at once: where each begins, and its size.
fn pieces(bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let size = [8, 4, 2, 1].into_iter().find(|size| at + size <= bytes)?;
        at += size;
        Some((at - size, size))
    })
}

fn integer(bytes: u32) -> types::Type {
    match bytes {
        8 => types::I64,
        4 => types::I32,
        2 => types::I16,
        _ => types::I8,
    }
}

/// An access that cannot go wrong, little endian, aligned or not.
fn plain() -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_endianness(Endianness::Little)
}
