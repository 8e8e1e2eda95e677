//! Synchronous systems: which initial states and joint steps there are, by a search along a [`Plan`], and what a given one
//! is, without a search.

use ample_budget::{Interrupted, Pace};

use super::evaluate::{Memo, fit};
use super::perform::Successor;
use super::{Fault, Interpreter, State};
use crate::expr::Expr;
use crate::initial::Choice;
use crate::plan::{Options, Part, Plan, Stage, Target};
use crate::trace::Move;

/// A state or a step that is being put together.
struct Candidate<'a> {
    interpreter: &'a Interpreter<'a>,
    /// The current state with the inputs of the step; or the initial state.
    current: State,
    /// The next state.
    next: State,
    /// The values of shared expressions. They are those of before until a cell gets another value: one that gets its first
    /// value by definition was not read before.
    memo: Memo,
}

/// The values that a cell may get.
enum Values<'a> {
    Any(Choice<'a>),
    Listed(Vec<i64>),
}

impl Values<'_> {
    fn len(&self) -> u64 {
        match self {
            Values::Any(choice) => choice.len(),
            Values::Listed(values) => values.len() as u64,
        }
    }

    fn get(&self, number: u64) -> i64 {
        match self {
            Values::Any(choice) => choice.get(number),
            Values::Listed(values) => values[number as usize],
        }
    }

    fn contains(&self, value: i64, target: &Target) -> bool {
        match self {
            Values::Any(choice) => choice.position(value, |value| target.scalar.fit(value)).is_some(),
            Values::Listed(values) => values.contains(&value),
        }
    }
}

/// What a stage comes to.
enum Come<'a> {
    /// To the next stage.
    On,
    /// To nothing: a conjunct does not hold.
    Refused,
    /// To a choice.
    Choice(Target, Values<'a>),
}

impl<'a> Candidate<'a> {
    /// Of an initial state.
    fn initial(interpreter: &'a Interpreter<'a>) -> Candidate<'a> {
        let state = State { globals: vec![0; interpreter.globals.scalars.len()], ..State::default() };
        Candidate { interpreter, next: state.clone(), current: state, memo: Memo::default() }
    }

    /// Of a joint step. What is frozen stays as it is.
    fn step(interpreter: &'a Interpreter<'a>, state: &State) -> Candidate<'a> {
        Candidate { interpreter, current: state.clone(), next: state.clone(), memo: Memo::default() }
    }

    fn value(&self, expr: &Expr) -> Result<i64, Fault> {
        self.interpreter.context(&self.current, None, None).with_next(&self.next, &self.memo).value(expr)
    }

    fn stage(&mut self, stage: &Stage<'a>) -> Result<Come<'a>, Fault> {
        let holds = |holds| if holds { Come::On } else { Come::Refused };
        match stage {
            Stage::Define(target, value) => {
                let value = fit(target.scalar, self.value(value)?)?;
                self.set(target, value);
                Ok(Come::On)
            }
            Stage::Choose(target, Options::Any(choice)) => Ok(Come::Choice(*target, Values::Any(*choice))),
            Stage::Choose(target, Options::Alternatives(alternatives)) => {
                let mut values = Vec::new();
                for alternative in *alternatives {
                    if let Some(condition) = &alternative.when
                        && self.value(condition)? == 0
                    {
                        continue;
                    }
                    let value = fit(target.scalar, self.value(&alternative.value)?)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Ok(Come::Choice(*target, Values::Listed(values)))
            }
            Stage::Require(condition) => Ok(holds(self.value(condition)? != 0)),
            Stage::RequireNext(condition) => Ok(holds(self.interpreter.evaluate(&self.next, None, condition)? != 0)),
        }
    }

    fn choose(&mut self, target: &Target, value: i64) {
        self.memo.get_mut().clear();
        self.set(target, value);
    }

    fn set(&mut self, target: &Target, value: i64) {
        let state = if target.part == Part::Next { &mut self.next } else { &mut self.current };
        state.globals[target.slot as usize] = value;
    }

    /// Goes through all stages with the values that `choose` gives, which may be one that is not to be had. False if that
    /// is so, or if a conjunct does not hold.
    fn follow(&mut self, plan: &Plan<'a>, choose: &mut dyn FnMut(&Target) -> Option<i64>) -> Result<bool, Fault> {
        for stage in &plan.stages {
            match self.stage(stage)? {
                Come::On => {}
                Come::Refused => return Ok(false),
                Come::Choice(target, values) => match choose(&target) {
                    Some(value) if values.contains(value, &target) => self.choose(&target, value),
                    _ => return Ok(false),
                },
            }
        }
        Ok(true)
    }
}

/// A choice on the way: the stage, what there is to choose from, and the number of the value that is tried.
struct Tried<'a> {
    stage: usize,
    target: Target,
    values: Values<'a>,
    number: u64,
}

impl Tried<'_> {
    fn value(&self) -> i64 {
        fit(self.target.scalar, self.values.get(self.number)).unwrap_or_default()
    }
}

/// A search for the candidates that satisfy all conjuncts, one after the other.
pub(super) struct Search<'a> {
    plan: &'a Plan<'a>,
    candidate: Candidate<'a>,
    tried: Vec<Tried<'a>>,
    /// The stage to go on with; none if the last choice has to be made anew.
    at: Option<usize>,
}

impl<'a> Search<'a> {
    /// For initial states.
    pub fn initial(interpreter: &'a Interpreter<'a>) -> Search<'a> {
        Search::new(&interpreter.initial_plan, Candidate::initial(interpreter))
    }

    /// For the joint steps of a state.
    pub fn steps(interpreter: &'a Interpreter<'a>, state: &State) -> Search<'a> {
        Search::new(&interpreter.step_plan, Candidate::step(interpreter, state))
    }

    fn new(plan: &'a Plan<'a>, candidate: Candidate<'a>) -> Search<'a> {
        Search { plan, candidate, tried: Vec::new(), at: Some(0) }
    }

    /// Finds the next one: true, or the fault that it ends in; false if there is none left.
    pub fn find(&mut self, pace: &mut Option<Pace<'_>>) -> Result<Result<bool, Fault>, Interrupted> {
        loop {
            if let Some(pace) = pace {
                pace.step()?;
            }
            let Some(at) = self.at.or_else(|| self.back()) else { return Ok(Ok(false)) };
            self.at = None;
            let Some(stage) = self.plan.stages.get(at) else { return Ok(Ok(true)) };
            match self.candidate.stage(stage) {
                Ok(Come::On) => self.at = Some(at + 1),
                Ok(Come::Refused) => {}
                Ok(Come::Choice(target, values)) => {
                    if values.len() > 0 {
                        self.tried.push(Tried { stage: at, target, values, number: 0 });
                        self.at = Some(self.choose());
                    }
                }
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }

    /// Makes the last choice anew: the stage after it. None if there is nothing left to choose.
    fn back(&mut self) -> Option<usize> {
        loop {
            let last = self.tried.last_mut()?;
            last.number += 1;
            if last.number < last.values.len() {
                return Some(self.choose());
            }
            self.tried.pop();
        }
    }

    /// Gives the cell of the last choice its value: the stage after it.
    fn choose(&mut self) -> usize {
        let Some(last) = self.tried.last() else { return 0 };
        let (target, value, stage) = (last.target, last.value(), last.stage);
        self.candidate.choose(&target, value);
        stage + 1
    }

    /// The choices of first values that were made, by slot, and 0 for those that were not.
    pub fn numbers(&self, slots: &[u32]) -> Vec<u64> {
        let number = |slot: &u32| self.tried.iter().find(|tried| tried.target.slot == *slot).map(|tried| tried.number);
        slots.iter().map(|slot| number(slot).unwrap_or(0)).collect()
    }

    /// The initial state that was found.
    pub fn state(&self) -> State {
        self.candidate.current.clone()
    }

    /// The next state that was found.
    pub fn next_state(&self) -> State {
        self.candidate.next.clone()
    }

    /// The joint step that was found.
    pub fn taken(&self) -> Move {
        let of = |part: Part| {
            let tried = self.tried.iter().filter(|tried| tried.target.part == part);
            let mut cells: Vec<(u32, i64)> = tried.map(|tried| (tried.target.slot, tried.value())).collect();
            cells.sort_unstable();
            cells.into_boxed_slice()
        };
        Move::Joint { inputs: of(Part::Input), choices: of(Part::Next) }
    }
}

impl Interpreter<'_> {
    /// What a joint step leads to: the definitions are evaluated, and the choices must be among those that there are.
    pub(super) fn joint_step(&self, state: &State, inputs: &[(u32, i64)], choices: &[(u32, i64)]) -> Successor {
        let mut candidate = Candidate::step(self, state);
        let mut used = 0;
        let outcome = candidate.follow(&self.step_plan, &mut |target| {
            let cells = if target.part == Part::Input { inputs } else { choices };
            let found = cells.binary_search_by_key(&target.slot, |(slot, _)| *slot).ok()?;
            used += 1;
            Some(cells[found].1)
        });
        if used != inputs.len() + choices.len() {
            return Successor::fault(Fault::NotEnabled);
        }
        match outcome {
            Ok(true) => Successor { state: Some(candidate.next), ..Successor::default() },
            Ok(false) => Successor::fault(Fault::NotEnabled),
            Err(fault) => Successor::fault(fault),
        }
    }

    /// The initial state with these choices of first values, by slot; `None` if a conjunct does not hold in it.
    pub(super) fn joint_start(&self, choices: &[u64]) -> Option<Result<State, Fault>> {
        let mut candidate = Candidate::initial(self);
        let cells: Vec<_> = crate::initial::free_cells(self.system).collect();
        let outcome = candidate.follow(&self.initial_plan, &mut |target| {
            let found = cells.binary_search_by_key(&target.slot, |cell| cell.slot).ok()?;
            fit(target.scalar, cells[found].choice.get(*choices.get(found)?)).ok()
        });
        match outcome {
            Ok(true) => Some(Ok(candidate.current)),
            Ok(false) => None,
            Err(fault) => Some(Err(fault)),
        }
    }
}
