//! From a `System` to a [`Program`].
//!
//! One pass over every expression, with a little knowledge: which values an expression can have (an
//! interval), so that overflow checks and casts that cannot matter are left out; which channels a variable
//! can name (its own, if nothing is ever assigned to it), so that tests of a buffer become tests of a
//! cell at a known offset; and which fault an expression can end in, so that the order of evaluation is
//! the reference interpreter's wherever it can be seen.

mod channel;
mod condition;
mod effect;
mod heap;
mod joint;
mod known;
mod place;
mod shared;
mod shortcut;
mod survey;
mod tables;
mod value;

use std::collections::HashSet;
use std::sync::Arc;

use ample_budget::{Budget, Pace};
use ample_model::facts::Ranges;
use ample_model::{Action, Combinations, EdgeId, Expr, Fault, Feature, ProcessId, Scalar, System};

use self::joint::Reads;
use self::shared::Sharing;
pub use self::survey::actions;
use self::survey::{MAX_NESTING, assigned_variables, deeper_than};
use super::CompileError;
use super::bytecode::{Op, Pc, REGISTERS, Register};
use super::layout::{Interval, Layout};
use super::program::Program;
use super::sequences::Sequences;
use super::verify;

/// A process id is kept in a byte, and one value is needed for "nobody".
const MAX_PROCESSES: u32 = 255;

/// Bits of [`EdgeCode::lists`](super::program::EdgeCode::lists).
const MAX_LISTS: usize = 64;

/// A compiled system, and what is needed to add code to it.
#[derive(Debug)]
pub struct Compilation {
    /// The code.
    pub program: Arc<Program>,
    /// The variables that something is assigned to: global, or of a process type.
    assigned: Arc<HashSet<(Option<usize>, u32)>>,
}

/// Compiles a system.
pub fn compile(system: &System, budget: &Budget) -> Result<Compilation, CompileError> {
    let mut pace = budget.pace();
    let sequences = Sequences::of(system, &mut pace)?;
    let layout = Layout::new(system, sequences.number_bytes())?;
    let assigned = Arc::new(assigned_variables(system));
    // Who moves all at once is not packed.
    let ranges = if system.synchronous().is_some() { Ranges::default() } else { Ranges::of(system, &mut pace)? };
    let program = empty(system, layout, sequences, ranges)?;
    let mut compiler = Compiler::new(system, program, Arc::clone(&assigned), pace);
    compiler.declare()?;
    compiler.guards()?;
    compiler.handshakes()?;
    compiler.effects()?;
    compiler.starts()?;
    compiler.monitor()?;
    compiler.joint()?;
    let program = Arc::new(compiler.finish()?);
    Ok(Compilation { program, assigned })
}

/// Adds expressions over the states of the system, and conditions that are evaluated by processes of the types beside
/// them.
pub fn extend(
    system: &System,
    compilation: &Compilation,
    invariants: &[Expr],
    conditions: &[(ProcessId, Expr)],
    budget: &Budget,
) -> Result<Arc<Program>, CompileError> {
    let Compilation { program, assigned } = compilation;
    if invariants.is_empty() && conditions.is_empty() {
        return Ok(Arc::clone(program));
    }
    budget.check_allocation((program.ops.len() * size_of::<Op>()) as u64)?;
    let mut compiler = Compiler::new(system, Program::clone(program), Arc::clone(assigned), budget.pace());
    for invariant in invariants {
        compiler.at = "an invariant".into();
        compiler.check_depth(invariant)?;
        let code = compiler.expression(invariant)?;
        compiler.program.invariants.push(code);
    }
    for (process, condition) in conditions {
        compiler.owner = Some(process.index());
        compiler.at = "a condition".into();
        compiler.check_depth(condition)?;
        let code = compiler.expression(condition)?;
        compiler.program.conditions.push((process.index() as u16, code));
    }
    compiler.owner = None;
    compiler.finish().map(Arc::new)
}

/// A program without code.
fn empty(system: &System, layout: Layout, sequences: Sequences, ranges: Ranges) -> Result<Program, CompileError> {
    let is_known = |feature: &Feature| matches!(feature, Feature::Synchronous | Feature::Heap);
    if let Some(feature) = system.features().into_iter().find(|feature| !is_known(feature)) {
        return Err(CompileError::Feature(feature));
    }
    let is_reference = |scalar: &Scalar| matches!(scalar, Scalar::Reference(_));
    let mut messages = system.channels.iter().flat_map(|channel| &channel.fields);
    if system.synchronous().is_some() && !layout.heap.objects.is_empty() || messages.any(is_reference) {
        return Err(CompileError::Feature(Feature::Heap));
    }
    let grows = actions(system).any(|(_, action)| matches!(action, Action::Spawn { .. }));
    if system.start.len() > MAX_PROCESSES as usize || grows && system.max_processes > MAX_PROCESSES {
        return Err(CompileError::TooMany { what: "processes", limit: MAX_PROCESSES as usize });
    }
    if system.processes.len() >= usize::from(u16::MAX) {
        return Err(CompileError::TooMany { what: "process types", limit: usize::from(u16::MAX) - 1 });
    }
    Ok(Program {
        layout,
        sequences: Arc::new(sequences),
        ranges: Arc::new(ranges),
        ops: Vec::new(),
        shared: Vec::new(),
        wide: Vec::new(),
        scalars: Vec::new(),
        faults: Vec::new(),
        texts: Vec::new(),
        location_sets: Vec::new(),
        lists: Vec::new(),
        processes: Vec::new(),
        locations: Vec::new(),
        edges: Vec::new(),
        globals: Vec::new(),
        combinations: Combinations::of(system),
        start: Vec::new(),
        monitor: None,
        joint: None,
        invariants: Vec::new(),
        conditions: Vec::new(),
        max_processes: system.max_processes,
        is_full: Arc::default(),
        uses_timeout: false,
        uses_priorities: system.uses_priorities,
    })
}

/// A program in the making.
struct Compiler<'a> {
    system: &'a System,
    program: Program,
    /// So many instructions were there before.
    first: usize,
    /// Whose code each instruction after them is.
    owners: Vec<Option<usize>>,
    /// The process type whose code is being made.
    owner: Option<usize>,
    /// The position in its location of the edge whose guard is being made.
    position: Option<usize>,
    /// The edges of that location.
    siblings: &'a [EdgeId],
    /// The lists of siblings asked after so far: a bit each.
    lists: Vec<(Vec<EdgeId>, u32)>,
    /// Those of the other locations.
    all_lists: Vec<Vec<(Vec<EdgeId>, u32)>>,
    /// The variables that something is assigned to: global, or of a process type.
    assigned: Arc<HashSet<(Option<usize>, u32)>>,
    /// There are channels of capacity 0.
    has_handshakes: bool,
    /// While first values are made: how many of the owner's channels there are already.
    created: Option<u32>,
    /// Whose values code reads.
    reads: Reads,
    /// The shared expressions of the code that is being made.
    sharing: Sharing,
    /// The shared expressions that are not too deep, by their addresses.
    not_deep: HashSet<usize>,
    /// What to say if an expression is too deep.
    at: String,
    pace: Pace<'a>,
}

impl<'a> Compiler<'a> {
    fn new(
        system: &'a System,
        program: Program,
        assigned: Arc<HashSet<(Option<usize>, u32)>>,
        pace: Pace<'a>,
    ) -> Compiler<'a> {
        Compiler {
            system,
            first: program.ops.len(),
            program,
            owners: Vec::new(),
            owner: None,
            position: None,
            siblings: &[],
            lists: Vec::new(),
            all_lists: Vec::new(),
            assigned,
            created: None,
            has_handshakes: system.channels.iter().any(|channel| channel.capacity == 0),
            reads: Reads::State,
            sharing: Sharing::default(),
            not_deep: HashSet::new(),
            at: String::new(),
            pace,
        }
    }

    fn here(&self) -> Pc {
        self.program.ops.len() as Pc
    }

    fn emit(&mut self, op: Op) -> Result<usize, CompileError> {
        self.pace.step()?;
        if self.program.ops.len() >= (1 << 28) {
            return Err(CompileError::TooMany { what: "instructions", limit: 1 << 28 });
        }
        self.program.ops.push(op);
        self.owners.push(if self.reads == Reads::State { self.owner } else { verify::JOINT });
        Ok(self.program.ops.len() - 1)
    }

    fn patch(&mut self, jump: usize, target: Pc) {
        match &mut self.program.ops[jump] {
            Op::Jump { to } | Op::JumpIfZero { to, .. } | Op::JumpIfNotZero { to, .. } => *to = target,
            Op::Subject { otherwise, .. } | Op::FirstOf { otherwise, .. } => *otherwise = target,
            _ => {}
        }
    }

    fn patch_here(&mut self, jumps: &[usize]) {
        let here = self.here();
        for jump in jumps {
            self.patch(*jump, here);
        }
    }

    fn trap(&mut self, fault: Fault) -> Result<(), CompileError> {
        let index = self.program.faults.len() as u32;
        self.program.faults.push(fault);
        self.emit(Op::Trap { fault: index })?;
        Ok(())
    }

    fn check_depth(&mut self, expr: &Expr) -> Result<(), CompileError> {
        let is_deep = deeper_than(expr, MAX_NESTING, &mut self.not_deep);
        if is_deep { Err(CompileError::TooDeep { at: self.at.clone() }) } else { Ok(()) }
    }

    fn register(&self, to: usize) -> Result<Register, CompileError> {
        if to < REGISTERS { Ok(to as Register) } else { Err(CompileError::TooDeep { at: self.at.clone() }) }
    }

    fn after(&self, to: Register) -> Result<Register, CompileError> {
        self.register(usize::from(to) + 1)
    }

    fn constant(&mut self, value: i64, to: Register) -> Result<Interval, CompileError> {
        match i32::try_from(value) {
            Ok(value) => self.emit(Op::Const { to, value })?,
            Err(_) => {
                let index = self.program.wide.len() as u32;
                self.program.wide.push(value);
                self.emit(Op::Wide { to, index })?
            }
        };
        Ok(Interval::of(value))
    }

    /// Adds what a cell's bytes leave out, or takes it away.
    fn shift_by(&mut self, to: Register, value: i64) -> Result<(), CompileError> {
        if value == 0 {
            return Ok(());
        }
        match i32::try_from(value) {
            Ok(value) => self.emit(Op::AddConst { to, value })?,
            Err(_) => {
                let index = self.program.wide.len() as u32;
                self.program.wide.push(value);
                self.emit(Op::AddWide { to, index })?
            }
        };
        Ok(())
    }
}
