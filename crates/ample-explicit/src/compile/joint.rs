//! The joint steps of a compiled synchronous system, one after the other, and its initial states.
//!
//! A candidate is put together in a work area: the current state, the inputs behind it, and the next state. The stages of
//! a [plan](super::program::PlanCode) give cells their values, by definition or by choice, and refuse what does not satisfy
//! a conjunct as soon as it can be evaluated; then the latest choice that has another value is made anew. What was chosen
//! is one number, in a mixed radix with a digit for each choice: that is what a transition keeps, and from it the step
//! can be repeated without a search. If the number would be too large, it is the position of the step instead, and the
//! steps before it are found again.
//!
//! The order is that of the reference interpreter, and so is what counts as a step: different inputs that lead to the
//! same state are different steps.

use ample_model::{Budget, Combinations, Fault, Interrupted, Move, StartNumber};

use super::bytecode::NOWHERE;
use super::layout::fit;
use super::machine::{Faulted, Machine, Timeout};
use super::memory::Work;
use super::program::{JointCode, PlanCode, Program, StageCode, TargetCode};
use super::state_layout::StateLayout;

/// So many stages lie between two looks at the budget.
const ASK_EVERY: u32 = 1 << 10;

/// A choice that was made: the value of that number.
#[derive(Clone, Copy, Debug)]
struct Tried {
    stage: u32,
    number: u64,
    count: u64,
    /// Where the values of its alternatives are.
    first: usize,
    end: usize,
    value: i64,
}

/// Where an enumeration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Nothing was found yet.
    #[default]
    Begin,
    /// At the candidate of that position.
    At(u64),
    /// Behind the last one.
    End,
}

/// Goes through the candidates of one plan.
#[derive(Clone, Debug, Default)]
struct Enumeration {
    work: Vec<u8>,
    tried: Vec<Tried>,
    /// The values of alternatives, of all choices that have some.
    values: Vec<i64>,
    position: Position,
    /// The candidate ends in a fault.
    fault: Option<Fault>,
}

/// What the enumerations of a space remember.
#[derive(Clone, Debug)]
pub struct Joint {
    steps: Enumeration,
    starts: Enumeration,
    /// How many initial states there are, once that is known.
    start_count: Option<u128>,
    budget: Budget,
    /// So many stages may be gone through before the budget is asked.
    left: u32,
    /// The budget has ended an enumeration: what was left of it is not known.
    pub interrupted: Option<Interrupted>,
}

impl Joint {
    pub fn new(budget: &Budget) -> Joint {
        Joint {
            steps: Enumeration::default(),
            starts: Enumeration::default(),
            start_count: None,
            budget: budget.clone(),
            left: ASK_EVERY,
            interrupted: None,
        }
    }

    /// Another stage may be gone through.
    #[inline]
    fn may_go_on(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return true;
        }
        self.left = ASK_EVERY;
        if let Err(interrupted) = self.budget.check() {
            self.interrupted = Some(interrupted);
        }
        self.interrupted.is_none()
    }
}

/// What code is run with.
pub struct Context<'a> {
    pub program: &'a Program,
    pub code: &'a JointCode,
    pub layout: &'a StateLayout,
    pub machine: &'a mut Machine,
}

/// How a stage ends.
enum Stage {
    On,
    Refused,
    Choice { count: u64, first: usize },
    Fault,
}

impl Context<'_> {
    fn state_bytes(&self) -> usize {
        self.layout.length as usize
    }

    /// Where the next state begins in the work area.
    fn next_state(&self) -> usize {
        self.state_bytes() + self.program.layout.inputs as usize
    }

    /// From here on code reads and writes the work area.
    fn enter(&mut self) {
        let (tail, next) = (self.layout.tail, self.next_state() as u32);
        let surroundings = &mut self.machine.surroundings;
        surroundings.timeout = Timeout::No;
        surroundings.by_mask = false;
        surroundings.offered = false;
        self.machine.enter_joint([0, next, tail, next + tail]);
        self.machine.forget();
    }

    fn evaluate(&mut self, work: &mut [u8], code: u32) -> Result<i64, Faulted> {
        let mut memory = Work::new(work, self.layout);
        self.machine.evaluate_in(self.program, &mut memory, code)
    }

    /// Gives a cell in the work area a value.
    fn set(&self, work: &mut [u8], target: &TargetCode, value: i64) {
        let base = self.machine.base(target.slot.cell.base);
        super::memory::set_cell(work, base, &target.slot.cell, value.wrapping_sub(target.slot.low));
    }
}

impl Enumeration {
    /// Gets ready for the candidates that begin with a state.
    fn begin(&mut self, context: &mut Context<'_>, state: Option<&[u8]>) {
        let (length, next) = (context.state_bytes(), context.next_state());
        self.work.clear();
        self.work.resize(next + length, 0);
        if let Some(state) = state {
            self.work[..length].copy_from_slice(state);
            self.work[next..].copy_from_slice(state);
        }
        self.tried.clear();
        self.values.clear();
        self.position = Position::Begin;
        self.fault = None;
    }

    fn is_of(&self, state: &[u8]) -> bool {
        self.work.get(..state.len()) == Some(state)
    }

    fn stage(&mut self, context: &mut Context<'_>, stage: &StageCode) -> Stage {
        match stage {
            StageCode::Define(code) => match context.evaluate(&mut self.work, *code) {
                Ok(_) => Stage::On,
                Err(Faulted) => Stage::Fault,
            },
            StageCode::Require(code) => match context.evaluate(&mut self.work, *code) {
                Ok(0) => Stage::Refused,
                Ok(_) => Stage::On,
                Err(Faulted) => Stage::Fault,
            },
            StageCode::Any(target, _) => Stage::Choice { count: target.count, first: self.values.len() },
            StageCode::Alternatives(_, alternatives) => {
                let first = self.values.len();
                for (when, value) in alternatives {
                    if *when != NOWHERE {
                        match context.evaluate(&mut self.work, *when) {
                            Ok(0) => continue,
                            Ok(_) => {}
                            Err(Faulted) => return Stage::Fault,
                        }
                    }
                    let Ok(value) = context.evaluate(&mut self.work, *value) else { return Stage::Fault };
                    if !self.values[first..].contains(&value) {
                        self.values.push(value);
                    }
                }
                Stage::Choice { count: (self.values.len() - first) as u64, first }
            }
        }
    }

    /// Makes the choice of that number at a stage; the stage after it.
    fn choose(&mut self, context: &mut Context<'_>, plan: &PlanCode) -> usize {
        let Some(last) = self.tried.last_mut() else { return 0 };
        let (target, value) = match &plan.stages[last.stage as usize] {
            StageCode::Any(target, values) => {
                (target, fit(target.slot.scalar, values.as_choice().get(last.number)).unwrap_or_default())
            }
            StageCode::Alternatives(target, _) => (target, self.values[last.first + last.number as usize]),
            StageCode::Define(_) | StageCode::Require(_) => return last.stage as usize + 1,
        };
        last.value = value;
        let next = last.stage as usize + 1;
        context.set(&mut self.work, target, value);
        // What was computed before may depend on it. Definitions give values only to cells that nobody has read before.
        context.machine.forget();
        next
    }

    /// Makes the last choice anew: the stage after it.
    fn back(&mut self, context: &mut Context<'_>, plan: &PlanCode) -> Option<usize> {
        loop {
            let last = self.tried.last_mut()?;
            last.number += 1;
            if last.number < last.count {
                self.values.truncate(last.end);
                return Some(self.choose(context, plan));
            }
            self.values.truncate(last.first);
            self.tried.pop();
        }
    }

    /// Puts the first of several values, or that of that number, on the list of choices.
    fn push(&mut self, stage: usize, number: u64, count: u64, first: usize) {
        self.tried.push(Tried { stage: stage as u32, number, count, first, end: self.values.len(), value: 0 });
    }

    /// Finds the next candidate that satisfies all conjuncts, or ends in a fault. False if there is none.
    fn find(&mut self, context: &mut Context<'_>, plan: &PlanCode, mut may_go_on: impl FnMut() -> bool) -> bool {
        context.enter();
        let (mut at, number) = match self.position {
            Position::Begin => (Some(0), 0),
            Position::At(number) => (self.back(context, plan), number + 1),
            Position::End => return false,
        };
        self.fault = None;
        while let Some(stage) = at {
            if !may_go_on() {
                break;
            }
            let Some(code) = plan.stages.get(stage) else {
                self.position = Position::At(number);
                return true;
            };
            at = match self.stage(context, code) {
                Stage::On => Some(stage + 1),
                Stage::Refused | Stage::Choice { count: 0, .. } => self.back(context, plan),
                Stage::Choice { count, first } => {
                    self.push(stage, 0, count, first);
                    Some(self.choose(context, plan))
                }
                Stage::Fault => {
                    self.fault = Some(context.machine.fault.take().unwrap_or(Fault::NotEnabled));
                    self.position = Position::At(number);
                    return true;
                }
            };
        }
        self.position = Position::End;
        false
    }

    /// The number of the choices that were made; none if it would be too large.
    fn code(&self, plan: &PlanCode) -> Option<u128> {
        plan.codes?;
        let mut numbers = self.tried.iter().map(|tried| tried.number);
        Some(plan.counts().fold(0, |code, count| code * u128::from(count) + u128::from(numbers.next().unwrap_or(0))))
    }

    /// Makes the choices of that number: the candidate, or the fault that it ends in.
    fn follow(&mut self, context: &mut Context<'_>, plan: &PlanCode, mut code: u128) {
        context.enter();
        let mut unit = plan.codes.unwrap_or(1);
        for (number, stage) in plan.stages.iter().enumerate() {
            match self.stage(context, stage) {
                Stage::On | Stage::Refused => {}
                Stage::Choice { count, first } => {
                    unit /= u128::from(stage.count().max(1));
                    let digit = (code / unit) as u64;
                    code %= unit;
                    let digit = digit.min(count.saturating_sub(1));
                    self.push(number, digit, count, first);
                    self.choose(context, plan);
                }
                Stage::Fault => {
                    self.fault = Some(context.machine.fault.take().unwrap_or(Fault::NotEnabled));
                    break;
                }
            }
        }
        // Which one it is does not matter to what follows.
        self.position = Position::At(0);
    }
}

impl Joint {
    /// The number of the step after the one of that number, or of the first one.
    pub fn next(&mut self, context: &mut Context<'_>, state: &[u8], after: Option<u128>) -> Option<u128> {
        let mut steps = std::mem::take(&mut self.steps);
        match after {
            Some(code) => self.seek(&mut steps, context, state, code),
            None => steps.begin(context, Some(state)),
        }
        let plan = &context.code.step;
        let found = steps.find(context, plan, || self.may_go_on());
        let code = found.then(|| steps.code(plan).unwrap_or(position_of(&steps)));
        self.steps = steps;
        code
    }

    /// Puts an enumeration at the step of that number.
    fn seek(&mut self, steps: &mut Enumeration, context: &mut Context<'_>, state: &[u8], code: u128) {
        let plan = &context.code.step;
        let is_there = matches!(steps.position, Position::At(_)) && steps.is_of(state);
        if is_there && steps.code(plan).unwrap_or(position_of(steps)) == code {
            return;
        }
        if plan.codes.is_some() {
            steps.begin(context, Some(state));
            steps.follow(context, plan, code);
            return;
        }
        if !is_there || position_of(steps) > code {
            steps.begin(context, Some(state));
        }
        // It has been found before, within the budget.
        while steps.find(context, plan, || true) && position_of(steps) < code {}
    }

    /// Where the step of that number leads; or the fault that it ends in.
    pub fn target(
        &mut self,
        context: &mut Context<'_>,
        state: &[u8],
        code: u128,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut steps = std::mem::take(&mut self.steps);
        self.seek(&mut steps, context, state, code);
        out.clear();
        let fault = steps.fault.clone();
        match fault {
            None => out.extend_from_slice(&steps.work[context.next_state()..]),
            Some(_) => out.extend_from_slice(state),
        }
        self.steps = steps;
        fault.map_or(Ok(()), Err)
    }

    /// The step of that number, as the reference interpreter tells it.
    pub fn step(&mut self, context: &mut Context<'_>, state: &[u8], code: u128) -> Move {
        let mut steps = std::mem::take(&mut self.steps);
        self.seek(&mut steps, context, state, code);
        let plan = &context.code.step;
        let of = |is_input: bool| {
            let tried = steps.tried.iter().filter_map(|tried| {
                let target = plan.stages[tried.stage as usize].target()?;
                (target.is_input == is_input).then_some((target.number, tried.value))
            });
            let mut cells: Vec<(u32, i64)> = tried.collect();
            cells.sort_unstable();
            cells.into_boxed_slice()
        };
        let taken = Move::Joint { inputs: of(true), choices: of(false) };
        self.steps = steps;
        taken
    }

    /// Writes the initial state of that position, or tells the fault that it is; none if there are not so many.
    pub fn start(
        &mut self,
        context: &mut Context<'_>,
        position: usize,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), Fault>> {
        let wanted = position as u128;
        if self.start_count.is_some_and(|count| wanted >= count) {
            return None;
        }
        let mut starts = std::mem::take(&mut self.starts);
        let is_before = match starts.position {
            Position::Begin => starts.work.is_empty(),
            Position::At(_) => position_of(&starts) > wanted,
            Position::End => true,
        };
        if is_before {
            starts.begin(context, None);
        }
        let plan = &context.code.initial;
        let is_there =
            |starts: &Enumeration| matches!(starts.position, Position::At(_)) && position_of(starts) == wanted;
        while !is_there(&starts) {
            let before = if starts.position == Position::Begin { 0 } else { position_of(&starts) + 1 };
            if !starts.find(context, plan, || self.may_go_on()) {
                self.start_count = self.interrupted.is_none().then_some(before);
                break;
            }
        }
        let found = is_there(&starts).then(|| {
            out.clear();
            out.extend_from_slice(&starts.work[..context.state_bytes()]);
            starts.fault.clone().map_or(Ok(()), Err)
        });
        self.starts = starts;
        found
    }

    /// The number that the reference interpreter gives to the initial state that was asked for last.
    pub fn start_number(&self, context: &Context<'_>, combinations: &Combinations) -> StartNumber {
        let plan = &context.code.initial;
        let mut free: Vec<(u32, u64)> = (plan.stages.iter().enumerate())
            .filter_map(|(stage, code)| {
                let tried = self.starts.tried.iter().find(|tried| tried.stage as usize == stage);
                Some((code.target()?.number, tried.map_or(0, |tried| tried.number)))
            })
            .collect();
        free.sort_unstable();
        combinations.number(&free.into_iter().map(|(_, number)| number).collect::<Vec<_>>())
    }
}

fn position_of(enumeration: &Enumeration) -> u128 {
    match enumeration.position {
        Position::At(number) => number.into(),
        Position::Begin | Position::End => 0,
    }
}
