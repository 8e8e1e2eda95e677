//! A compiled system: what is to be computed, not how.
//!
//! Flat tables that a search walks through by index. All code is in one vector; the guards of the edges
//! of a location lie one after the other, in the order in which they are tried. The evaluator in
//! [`machine`](super::machine) is one way to run it, native code could be another.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ample_model::facts::Ranges;
use ample_model::{Choice, Combinations, EventKind, Fault, Scalar};

use super::bytecode::{Op, Pc};
use super::layout::{Base, Layout, Slot};
use super::sequences::Sequences;

/// A compiled system.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where everything lies in a state.
    pub layout: Layout,
    /// Which processes can be alive together.
    pub sequences: Arc<Sequences>,
    /// Which values cells can have.
    pub ranges: Arc<Ranges>,
    /// All code.
    pub ops: Vec<Op>,
    /// The code of shared expressions, which ends with [`Op::Keep`].
    pub shared: Vec<Pc>,
    /// Constants of more than 32 bits.
    pub wide: Vec<i64>,
    /// Types whose rule needs more than dropping bits.
    pub scalars: Vec<Scalar>,
    /// Faults that code may end in.
    pub faults: Vec<Fault>,
    /// The texts of assertions.
    pub texts: Vec<String>,
    /// Sets of locations, as bits.
    pub location_sets: Vec<Vec<u64>>,
    /// Lists of edges that [`Expr::Blocked`](ample_model::Expr::Blocked) asks after, by their number in `edges`.
    pub lists: Vec<Vec<u32>>,
    /// Per process type.
    pub processes: Vec<ProcessCode>,
    /// The locations of all process types.
    pub locations: Vec<LocationCode>,
    /// The edges of all locations, in the order in which they are tried.
    pub edges: Vec<EdgeCode>,
    /// Gives the globals their first values; choices are in registers.
    pub globals: Vec<GlobalCode>,
    /// The choices of first values.
    pub combinations: Combinations,
    /// The processes that are there from the beginning.
    pub start: Vec<StartCode>,
    /// What watches the communication.
    pub monitor: Option<MonitorCode>,
    /// How everything moves at once, if it does.
    pub joint: Option<JointCode>,
    /// Expressions over whole states.
    pub invariants: Vec<Pc>,
    /// Expressions that processes evaluate, and their types.
    pub conditions: Vec<(u16, Pc)>,
    /// At most this many processes may be alive.
    pub max_processes: u32,
    /// So many were, in some state: of all spaces of the system.
    pub is_full: Arc<AtomicBool>,
    /// Some guard asks for `timeout`.
    pub uses_timeout: bool,
    /// Higher priorities go first.
    pub uses_priorities: bool,
}

/// A process type.
#[derive(Clone, Copy, Debug)]
pub struct ProcessCode {
    /// When it may move, if that is not always.
    pub provided: Pc,
    /// Gives parameters (in registers) and locals their first values.
    pub start: Pc,
    /// Where a new process stands.
    pub initial: u32,
    /// Its priority, where priorities are not kept in the state.
    pub priority: u8,
}

/// A location.
#[derive(Clone, Copy, Debug)]
pub struct LocationCode {
    /// Its first edge in [`Program::edges`].
    pub first_edge: u32,
    /// One past its last edge.
    pub end_edge: u32,
    /// The number that the source language shows.
    pub number: u32,
    /// A process may stay here.
    pub end: bool,
    /// Marked as progress.
    pub progress: bool,
    /// Marked as accepting.
    pub accept: bool,
    /// Some edge can be the second half of a handshake.
    pub receives: bool,
}

/// The first test of a guard: some bits of one byte lie in an interval, or outside of it.
///
/// Most guards are no more than that, and most that fail, fail here, so that it is made without calling
/// the evaluator. A test that always holds looks at no bits.
#[derive(Clone, Copy, Debug)]
pub struct FirstTest {
    /// From the base.
    pub offset: u32,
    /// What the offset is relative to.
    pub base: Base,
    /// How far the bits are from the right.
    pub shift: u8,
    /// Which bits, after the shift.
    pub mask: u8,
    /// The smallest value.
    pub low: u8,
    /// How many more values after it.
    pub span: u8,
    /// Inside or outside.
    pub inside: bool,
}

impl FirstTest {
    /// Holds.
    pub const ALWAYS: FirstTest =
        FirstTest { offset: 0, base: Base::Global, shift: 0, mask: 0, low: 0, span: 0, inside: true };
}

/// The first step of an effect: some bits of one byte are set, or added to.
#[derive(Clone, Copy, Debug)]
pub struct FirstStep {
    /// From the base.
    pub offset: u32,
    /// What the offset is relative to.
    pub base: Base,
    /// How far the bits are from the right.
    pub shift: u8,
    /// Which bits, after the shift.
    pub mask: u8,
    /// The bits of the old value that are added to.
    pub keep: u8,
    /// What is added.
    pub value: u8,
}

impl FirstStep {
    /// Changes nothing.
    pub const NOTHING: FirstStep = FirstStep { offset: 0, base: Base::Global, shift: 0, mask: 0, keep: 0, value: 0 };
}

/// An edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgeCode {
    /// The guard begins with this test.
    pub first: FirstTest,
    /// The guard begins with asking whether the edges of a list are blocked: its bit.
    pub blocked: u8,
    /// The rest of the guard, and the readiness of the communication.
    pub guard: Pc,
    /// What is left of it if that bit is known not to be set.
    pub unblocked: Pc,
    /// The communication and the effect begin with this step.
    pub step: FirstStep,
    /// The rest of the communication and the effect.
    pub effect: Pc,
    /// The lists (by bit) of [`Expr::Blocked`](ample_model::Expr::Blocked) that it belongs to.
    pub lists: u64,
    /// Where it leads.
    pub to: u32,
    /// Its number in the process type.
    pub id: u32,
    /// The process type.
    pub process: u16,
    /// How many fields its receive names.
    pub fields: u16,
    /// As the first half of a handshake: makes the message.
    pub offer: Pc,
    /// As the second half: the handle, if finding it can be a fault.
    pub handle: Pc,
    /// As the second half: the guard, and whether the message fits.
    pub accept: Pc,
    /// As one half: the effect, with the bindings of a receive before it.
    pub half: Pc,
    /// Its process holds exclusive control afterwards.
    pub keeps_control: bool,
    /// Its process must be the youngest.
    pub ends: bool,
    /// Afterwards objects may have to be numbered anew.
    pub disturbs_objects: bool,
}

/// How one cell of the globals starts.
#[derive(Clone, Debug)]
pub struct GlobalCode {
    /// Puts it there; a chosen value is in register 0.
    pub code: Pc,
    /// What there is to choose from.
    pub choices: Option<Values>,
}

/// The values that a cell may start with.
#[derive(Clone, Debug)]
pub enum Values {
    /// One of these.
    Listed(Vec<i64>),
    /// One from the first to the second.
    Between(i64, i64),
}

impl Values {
    /// As the model has it.
    pub fn as_choice(&self) -> Choice<'_> {
        match self {
            Values::Listed(values) => Choice::Listed(values),
            Values::Between(least, most) => Choice::Between(*least, *most),
        }
    }
}

/// A process that is there from the beginning.
#[derive(Clone, Debug)]
pub struct StartCode {
    /// Its type.
    pub process: u16,
    /// Its priority.
    pub priority: u8,
    /// Its parameters.
    pub arguments: Vec<i64>,
}

/// An automaton over communication events.
#[derive(Clone, Debug)]
pub struct MonitorCode {
    /// `notrace`
    pub forbids: bool,
    /// Where it starts.
    pub initial: u32,
    /// Where all has been seen.
    pub last: u32,
    /// Locations in which a run may stop.
    pub ends: Vec<u32>,
    /// Which events it looks at: the kind and the channel handle.
    pub observed: Vec<(EventKind, Pc)>,
    /// The edges of every location.
    pub locations: Vec<Vec<MonitorEdgeCode>>,
}

/// An edge of the monitor.
#[derive(Clone, Copy, Debug)]
pub struct MonitorEdgeCode {
    /// Sending or receiving.
    pub kind: EventKind,
    /// The channel handle.
    pub channel: Pc,
    /// How many fields it expects.
    pub fields: u16,
    /// Whether the message fits.
    pub fits: Pc,
    /// The location after it.
    pub to: u32,
}

/// The plans of a synchronous system.
#[derive(Clone, Debug)]
pub struct JointCode {
    /// How initial states are found.
    pub initial: PlanCode,
    /// How joint steps are found.
    pub step: PlanCode,
}

/// The stages on the way to an initial state or through a joint step.
#[derive(Clone, Debug)]
pub struct PlanCode {
    /// One after the other.
    pub stages: Vec<StageCode>,
    /// How many combinations of choices there are, if that can be told.
    pub codes: Option<u128>,
}

impl PlanCode {
    /// A plan with these stages.
    pub fn new(stages: Vec<StageCode>) -> PlanCode {
        let mut counts = stages.iter().filter(|stage| stage.target().is_some()).map(StageCode::count);
        let codes = counts.try_fold(1u128, |codes, count| codes.checked_mul(u128::from(count.max(1))));
        PlanCode { stages, codes }
    }

    /// How many values there are at most in each choice.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.stages.iter().filter(|stage| stage.target().is_some()).map(|stage| stage.count().max(1))
    }
}

/// One thing to do on the way.
#[derive(Clone, Debug)]
pub enum StageCode {
    /// A cell gets a value.
    Define(Pc),
    /// The cell gets one of these values.
    Any(TargetCode, Values),
    /// The cell gets one of the values whose condition, if there is one, holds.
    Alternatives(TargetCode, Vec<(Pc, Pc)>),
    /// This must hold.
    Require(Pc),
}

impl StageCode {
    /// The cell that a choice is made for.
    pub fn target(&self) -> Option<&TargetCode> {
        match self {
            StageCode::Any(target, _) | StageCode::Alternatives(target, _) => Some(target),
            StageCode::Define(_) | StageCode::Require(_) => None,
        }
    }

    /// How many values there are at most.
    pub fn count(&self) -> u64 {
        self.target().map_or(1, |target| target.count)
    }
}

/// A cell that a choice is made for.
#[derive(Clone, Copy, Debug)]
pub struct TargetCode {
    /// Where it is in the work area.
    pub slot: Slot,
    /// Its number among all global slots.
    pub number: u32,
    /// It is an input.
    pub is_input: bool,
    /// How many values there are at most.
    pub count: u64,
}
