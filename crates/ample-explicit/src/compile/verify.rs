//! What the evaluator relies on, checked once for every instruction that was made.
//!
//! The evaluator reads and writes the bytes of a state without looking at bounds. It may, because here
//! every cell of every instruction is found to lie inside the header, the globals, or the segment of the
//! process type whose code it is, every jump to stay within that code, and every code to come to an end.

use ample_budget::Pace;

use super::CompileError;
use super::bytecode::{Array, FIELDS, NOWHERE, Op, Pc, REGISTERS, Register, ZERO};
use super::layout::{Base, Cell, Kind, Layout};
use super::program::{EdgeCode, FirstStep, FirstTest, Program, StageCode};

/// Whose code an instruction is: that of a process type, or of nobody in particular.
pub type Owner = Option<usize>;

/// The owner of the code that runs in the work area of a joint step, where the next state is behind the bases of locals.
pub const JOINT: Owner = Some(usize::MAX);

/// Checks the code of a program from the instruction of that number on, where what is before has been checked already;
/// `owners` says whose code each instruction is.
pub fn verify(program: &Program, first: usize, owners: &[Owner], pace: &mut Pace<'_>) -> Result<(), CompileError> {
    let verifier = Verifier { program, first, owners };
    for (at, op) in program.ops.iter().enumerate().skip(first) {
        pace.step()?;
        if !verifier.is_sound(at, op) {
            return Err(CompileError::Malformed("code that does not verify (this is a bug of the compiler)"));
        }
    }
    if verifier.entries_are_sound() { Ok(()) } else { Err(CompileError::Malformed("code with an unsound entry")) }
}

struct Verifier<'a> {
    program: &'a Program,
    first: usize,
    owners: &'a [Owner],
}

impl Verifier<'_> {
    fn is_sound(&self, at: usize, op: &Op) -> bool {
        let owner = self.owners[at - self.first];
        let goes_on = self.is_code_of(at + 1, owner);
        let ends =
            matches!(op, Op::Yes | Op::No | Op::Done | Op::End | Op::Trap { .. } | Op::Jump { .. } | Op::Keep { .. });
        (ends || goes_on) && self.operands_are_sound(owner, op)
    }

    /// The instruction of that number is one of those, and its owner's code.
    fn is_code_of(&self, at: usize, owner: Owner) -> bool {
        at.checked_sub(self.first).and_then(|at| self.owners.get(at)) == Some(&owner)
    }

    fn operands_are_sound(&self, owner: Owner, op: &Op) -> bool {
        let program = self.program;
        let layout = &program.layout;
        let cell = |cell: &Cell| inside(layout, owner, cell, 0);
        let bits = |cell: &Cell| cell.kind == Kind::Bits && inside(layout, owner, cell, 0);
        let jump = |to: &Pc| self.is_code_of(*to as usize, owner);
        let r = |registers: &[Register]| registers.iter().all(|register| usize::from(*register) < REGISTERS);
        let zero = |register: &Register| *register == ZERO || r(&[*register]);
        match op {
            Op::Const { to, .. }
            | Op::AddConst { to, .. }
            | Op::Negate { to }
            | Op::Complement { to }
            | Op::Int { to }
            | Op::In { to, .. }
            | Op::NotIn { to, .. }
            | Op::Not { to }
            | Op::Truth { to }
            | Op::SelfId { to }
            | Op::ProcessCount { to }
            | Op::Timeout { to }
            | Op::Enabled { to }
            | Op::LocationOf { to }
            | Op::Priority { to }
            | Op::NonProgress { to }
            | Op::Accepting { to }
            | Op::Length { to }
            | Op::Full { to }
            | Op::Scale { to, .. }
            | Op::IsYoungest { to } => r(&[*to]),
            Op::Wide { to, index } | Op::AddWide { to, index } => r(&[*to]) && (*index as usize) < program.wide.len(),
            Op::Wrap { to, shift, .. } => r(&[*to]) && *shift < 64,
            Op::Fit { to, scalar } => r(&[*to]) && (*scalar as usize) < program.scalars.len(),
            Op::Byte { to, cell } => r(&[*to]) && bits(cell),
            Op::ByteIn { to, cell, .. } | Op::ByteNotIn { to, cell, .. } => r(&[*to]) && bits(cell),
            Op::Load { to, cell: c } => r(&[*to]) && cell(c),
            Op::ByteAt { to, index, array } => {
                r(&[*to, *index]) && array.kind == Kind::Bits && elements(layout, owner, array)
            }
            Op::LoadAt { to: x, index, array } | Op::StoreAt { from: x, index, array } => {
                r(&[*x, *index]) && elements(layout, owner, array)
            }
            Op::LoadFrom { to: x, distance, cell, limit } | Op::StoreTo { from: x, distance, cell, limit } => {
                r(&[*x, *distance]) && inside(layout, owner, cell, *limit)
            }
            Op::Add { to, with }
            | Op::Sub { to, with }
            | Op::Mul { to, with }
            | Op::AddChecked { to, with }
            | Op::SubChecked { to, with }
            | Op::MulChecked { to, with }
            | Op::Div { to, with }
            | Op::Rem { to, with }
            | Op::BitAnd { to, with }
            | Op::BitOr { to, with }
            | Op::BitXor { to, with }
            | Op::Shl { to, with }
            | Op::Shr { to, with }
            | Op::Equal { to, with }
            | Op::NotEqual { to, with }
            | Op::Less { to, with }
            | Op::LessEqual { to, with } => r(&[*to, *with]),
            Op::Jump { to } => jump(to),
            Op::Share { to, shared } => r(&[*to]) && program.shared.get(*shared as usize).is_some_and(jump),
            Op::Keep { shared } => (*shared as usize) < program.shared.len(),
            Op::JumpIfZero { test, to } | Op::JumpIfNotZero { test, to } => r(&[*test]) && jump(to),
            Op::Blocked { to, list, .. } => owner.is_some() && r(&[*to]) && self.list_is_sound(owner, *list),
            Op::RequireBlocked { list, .. } => owner.is_some() && self.list_is_sound(owner, *list),
            Op::Subject { to, of, otherwise } | Op::FirstOf { to, of, otherwise } => {
                r(&[*to]) && usize::from(*of) < program.processes.len() && jump(otherwise)
            }
            Op::StandsAt { to, set } => r(&[*to]) && (*set as usize) < program.location_sets.len(),
            Op::LoadRemote { to, distance, of, cell, limit } => {
                r(&[*to])
                    && zero(distance)
                    && matches!(cell.base, Base::Local | Base::HiddenLocal)
                    && inside(layout, Some(usize::from(*of)), cell, *limit)
            }
            Op::Object { to, from, object } => r(&[*to, *from]) && usize::from(*object) < layout.heap.objects.len(),
            // Whether the cell is part of the state is seen when it is used.
            Op::LoadField { to: x, object, distance, .. } | Op::StoreField { from: x, object, distance, .. } => {
                r(&[*x, *object]) && zero(distance)
            }
            Op::Allocate { to, object } => r(&[*to]) && usize::from(*object) < layout.heap.objects.len(),
            Op::Open { to, handle } | Op::OpenOlder { to, handle, .. } => r(&[*to, *handle]),
            Op::Fixed { to, base, kind, offset } => {
                let Some(channel) = layout.channels.get(usize::from(*kind)) else { return false };
                let end = u64::from(*offset) + u64::from(channel.bytes);
                r(&[*to])
                    && matches!(base, Base::Global | Base::Local)
                    && end <= u64::from(region(layout, owner, *base))
            }
            Op::Arity { channel, .. } | Op::NoHandshake { channel, .. } => r(&[*channel]),
            Op::HasMessage { to, channel, position } | Op::Field { to, channel, position, .. } => {
                r(&[*to, *channel]) && zero(position)
            }
            Op::FitField { to, channel, .. } | Op::HasRoom { to, channel } => r(&[*to, *channel]),
            Op::Require { test } | Op::RequireNot { test } => r(&[*test]),
            Op::RequireByteIn { cell, .. } | Op::RequireByteNotIn { cell, .. } => bits(cell),
            Op::RequireEqual { x, with } | Op::RequireLess { x, with } | Op::RequireLessEqual { x, with } => {
                r(&[*x, *with])
            }
            Op::RequireTimeout | Op::OfferArity { .. } | Op::Yes | Op::No | Op::Tick | Op::Done | Op::Fresh => true,
            Op::RequireRoom { channel, handle } => r(&[*channel, *handle]),
            Op::RequireMessage { channel, .. } => r(&[*channel]),
            Op::RequireOffered { handle } => r(&[*handle]),
            Op::Offered { to: x, field } | Op::Offer { from: x, field } => r(&[*x]) && usize::from(*field) < FIELDS,
            Op::SetByte { cell, .. } => bits(cell),
            Op::Set { cell: c, .. } | Op::Bump { cell: c, .. } => cell(c),
            Op::Move { from, to } => cell(from) && cell(to),
            Op::Store { from, cell: c } => r(&[*from]) && cell(c),
            Op::StoreHandle { cell, .. } => bits(cell),
            Op::Bind { field, cell: c } => usize::from(*field) < FIELDS && cell(c),
            Op::Send { channel, handle, first, .. } => r(&[*channel, *handle, *first]),
            Op::Peek { channel, position } => r(&[*channel]) && zero(position),
            Op::Remove { channel, handle, position } => r(&[*channel, *handle]) && zero(position),
            Op::Spawn { process, .. } => usize::from(*process) < program.processes.len(),
            Op::Assert { test, text } => r(&[*test]) && (*text as usize) < program.texts.len(),
            Op::SetPriority { process, priority } => r(&[*process, *priority]),
            Op::End => owner.is_some() && owner != JOINT,
            Op::Trap { fault } => (*fault as usize) < program.faults.len(),
        }
    }

    fn list_is_sound(&self, owner: Owner, list: u32) -> bool {
        let edges = self.program.lists.get(list as usize);
        edges.is_some_and(|edges| edges.iter().all(|edge| self.owner_of_edge(*edge) == owner))
    }

    /// The process type that an edge belongs to.
    fn owner_of_edge(&self, edge: u32) -> Owner {
        self.program.edges.get(edge as usize).map(|edge| usize::from(edge.process))
    }

    fn shortcuts_are_sound(&self, owner: Owner, edge: &EdgeCode) -> bool {
        let FirstTest { offset, base, shift, mask, .. } = edge.first;
        let tested = Cell { offset, base, kind: Kind::Bits, shift, mask };
        let FirstStep { offset, base, shift, mask, .. } = edge.step;
        let changed = Cell { offset, base, kind: Kind::Bits, shift, mask };
        [tested, changed].iter().all(|cell| inside(&self.program.layout, owner, cell, 0))
    }

    /// Every table points to code of the right owner.
    fn entries_are_sound(&self) -> bool {
        let program = self.program;
        let is_old = |pc: Pc| (pc as usize) < self.first;
        let entry = |pc: Pc, owner: Owner| pc == NOWHERE || is_old(pc) || self.is_code_of(pc as usize, owner);
        let globals = program.globals.iter().all(|global| entry(global.code, None));
        let invariants = program.invariants.iter().all(|pc| entry(*pc, None));
        let conditions = program.conditions.iter().all(|(owner, pc)| entry(*pc, Some(usize::from(*owner))));
        let monitor = program.monitor.iter().all(|monitor| {
            let edges = monitor.locations.iter().flatten();
            monitor.observed.iter().all(|(_, pc)| entry(*pc, None))
                && edges.into_iter().all(|edge| entry(edge.channel, None) && entry(edge.fits, None))
        });
        let processes = program.processes.iter().enumerate().all(|(number, process)| {
            let owner = Some(number);
            let segment = &program.layout.segments[number];
            let locations = &program.locations[segment.first_location as usize..][..segment.locations as usize];
            let edges = locations.iter().flat_map(|l| &program.edges[l.first_edge as usize..l.end_edge as usize]);
            entry(process.provided, owner)
                && entry(process.start, owner)
                && process.initial < segment.locations
                && edges.into_iter().all(|edge| {
                    let codes =
                        [edge.guard, edge.unblocked, edge.effect, edge.offer, edge.handle, edge.accept, edge.half];
                    usize::from(edge.process) == number
                        && edge.to < segment.locations
                        && self.shortcuts_are_sound(owner, edge)
                        && codes.into_iter().all(|pc| entry(pc, owner))
                })
        });
        globals && invariants && conditions && monitor && processes && self.joint_is_sound()
    }
}

impl Verifier<'_> {
    /// The stages of plans have code for the work area, and choose values for cells in it.
    fn joint_is_sound(&self) -> bool {
        let entry = |pc: &Pc| (*pc as usize) < self.first || self.is_code_of(*pc as usize, JOINT);
        let stage = |stage: &StageCode| match stage {
            StageCode::Define(code) | StageCode::Require(code) => entry(code),
            StageCode::Any(target, _) => inside(&self.program.layout, JOINT, &target.slot.cell, 0),
            StageCode::Alternatives(target, codes) => {
                let when = |when: &Pc| *when == NOWHERE || entry(when);
                inside(&self.program.layout, JOINT, &target.slot.cell, 0)
                    && codes.iter().all(|(condition, value)| when(condition) && entry(value))
            }
        };
        let mut plans = self.program.joint.iter().flat_map(|joint| [&joint.initial, &joint.step]);
        plans.all(|plan| plan.stages.iter().all(stage))
    }
}

/// How many bytes lie behind a base.
fn region(layout: &Layout, owner: Owner, base: Base) -> u32 {
    let segment = owner.and_then(|owner| layout.segments.get(owner));
    match base {
        Base::HiddenGlobal if owner == JOINT => layout.hidden + layout.inputs,
        Base::Local if owner == JOINT => layout.length,
        Base::HiddenLocal if owner == JOINT => layout.hidden,
        Base::Global => layout.length,
        Base::HiddenGlobal => layout.hidden,
        Base::Local => segment.map_or(0, |segment| segment.length),
        Base::HiddenLocal => segment.map_or(0, |segment| segment.hidden),
    }
}

fn inside(layout: &Layout, owner: Owner, cell: &Cell, further: u32) -> bool {
    let end = u64::from(cell.offset) + u64::from(further) + u64::from(cell.kind.bytes());
    cell.shift < 8 && end <= u64::from(region(layout, owner, cell.base))
}

fn elements(layout: &Layout, owner: Owner, array: &Array) -> bool {
    let further = u64::from(array.stride) * u64::from(array.length.saturating_sub(1));
    let cell = Cell::whole(array.base, array.kind, array.offset);
    u32::try_from(further).is_ok_and(|further| inside(layout, owner, &cell, further))
}
