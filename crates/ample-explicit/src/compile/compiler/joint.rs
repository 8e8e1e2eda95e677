//! The code of a synchronous system: what gives the cells of a state or of a joint step their values, stage by stage, in
//! the order of the [`Plan`] that the reference interpreter follows.

use ample_model::plan::{Options, Part, Plan, Stage, Target};
use ample_model::{Choice, Expr, Place};

use super::Compiler;
use crate::compile::CompileError;
use crate::compile::bytecode::{NOWHERE, Op, Pc};
use crate::compile::layout::{Base, Slot};
use crate::compile::program::{JointCode, PlanCode, StageCode, TargetCode, Values};

/// Whose values code reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reads {
    /// Those of a state.
    State,
    /// Those of a state and of the next one, and inputs.
    Step,
    /// Those of the next state as if it were the current one.
    NextState,
}

/// Where the same cell of the next state is.
pub(super) fn next_cell(slot: Slot) -> Slot {
    let base = match slot.cell.base {
        Base::HiddenGlobal | Base::HiddenLocal => Base::HiddenLocal,
        Base::Global | Base::Local => Base::Local,
    };
    Slot { cell: crate::compile::layout::Cell { base, ..slot.cell }, ..slot }
}

impl Compiler<'_> {
    /// The plans of a synchronous system.
    pub(super) fn joint(&mut self) -> Result<(), CompileError> {
        if self.system.synchronous().is_none() {
            return Ok(());
        }
        let system = self.system;
        let circular = |_| CompileError::Malformed("a circular definition");
        let (initial, step) = (Plan::initial(system).map_err(circular)?, Plan::step(system).map_err(circular)?);
        // What is shared by several stages is computed once for all of them.
        for stage in initial.stages.iter().chain(&step.stages) {
            self.count_stage(stage);
        }
        self.begin_shared();
        self.at = "the initial states".into();
        let initial = self.plan(&initial)?;
        self.at = "the joint steps".into();
        let step = self.plan(&step)?;
        self.end_shared()?;
        self.reads = Reads::State;
        self.program.joint = Some(JointCode { initial, step });
        Ok(())
    }

    fn count_stage(&mut self, stage: &Stage<'_>) {
        match stage {
            Stage::Define(_, expr) | Stage::Require(expr) => self.count(expr, Reads::Step),
            Stage::RequireNext(expr) => self.count(expr, Reads::NextState),
            Stage::Choose(_, Options::Any(_)) => {}
            Stage::Choose(_, Options::Alternatives(alternatives)) => {
                for expr in alternatives.iter().flat_map(|one| one.when.iter().chain([&one.value])) {
                    self.count(expr, Reads::Step);
                }
            }
        }
    }

    fn plan(&mut self, plan: &Plan<'_>) -> Result<PlanCode, CompileError> {
        let mut stages = Vec::with_capacity(plan.stages.len());
        for stage in &plan.stages {
            self.reads = Reads::Step;
            stages.push(match stage {
                Stage::Define(target, value) => StageCode::Define(self.define(target, value)?),
                Stage::Choose(target, Options::Any(choice)) => {
                    StageCode::Any(self.target(target, choice.len())?, listed(choice))
                }
                Stage::Choose(target, Options::Alternatives(alternatives)) => {
                    let mut codes = Vec::with_capacity(alternatives.len());
                    for alternative in *alternatives {
                        let when = match &alternative.when {
                            Some(condition) => self.joint_expression(condition)?,
                            None => NOWHERE,
                        };
                        codes.push((when, self.alternative(target, &alternative.value)?));
                    }
                    StageCode::Alternatives(self.target(target, alternatives.len() as u64)?, codes)
                }
                Stage::Require(condition) => StageCode::Require(self.joint_expression(condition)?),
                Stage::RequireNext(condition) => {
                    self.reads = Reads::NextState;
                    StageCode::Require(self.joint_expression(condition)?)
                }
            });
        }
        Ok(PlanCode::new(stages))
    }

    fn joint_expression(&mut self, expr: &Expr) -> Result<Pc, CompileError> {
        self.check_depth(expr)?;
        self.expression(expr)
    }

    /// Code that gives the cell the value of an expression.
    fn define(&mut self, target: &Target, value: &Expr) -> Result<Pc, CompileError> {
        self.check_depth(value)?;
        let slot = self.slot_of(target)?;
        let code = self.here();
        let values = self.value(value, 0)?;
        self.fit_and_store(0, &slot, values)?;
        self.emit(Op::Done)?;
        Ok(code)
    }

    /// Code that leaves the value as the cell's type keeps it.
    fn alternative(&mut self, target: &Target, value: &Expr) -> Result<Pc, CompileError> {
        self.check_depth(value)?;
        let code = self.here();
        let values = self.value(value, 0)?;
        self.cast(target.scalar, values, 0)?;
        self.emit(Op::Done)?;
        Ok(code)
    }

    fn target(&self, target: &Target, count: u64) -> Result<TargetCode, CompileError> {
        let Target { part, slot: number, .. } = *target;
        Ok(TargetCode { slot: self.slot_of(target)?, number, is_input: part == Part::Input, count })
    }

    fn slot_of(&self, target: &Target) -> Result<Slot, CompileError> {
        let slots = self.program.layout.globals.iter().flat_map(|variable| &variable.slots);
        let slot = *slots.clone().nth(target.slot as usize).ok_or(CompileError::Malformed("a cell of no variable"))?;
        Ok(if target.part == Part::Next { next_cell(slot) } else { slot })
    }

    /// A global place is that of an input.
    pub(super) fn is_input(&self, place: &Place) -> bool {
        self.program.layout.globals.get(place.variable.index()).is_some_and(|variable| variable.is_input)
    }
}

fn listed(choice: &Choice<'_>) -> Values {
    match choice {
        Choice::Listed(values) => Values::Listed(values.to_vec()),
        Choice::Between(least, most) => Values::Between(*least, *most),
        Choice::Named(values) => Values::Listed(values.iter().map(|(_, value)| *value).collect()),
    }
}
