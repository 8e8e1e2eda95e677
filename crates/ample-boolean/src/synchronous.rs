//! Synchronous systems as formulas: what a joint step does, as functions and conjuncts over three kinds of bits.
//!
//! A [`JointEncoding`] has bits for the current state (`0..bits`), for the inputs of a step ([`inputs`]), and for the next
//! state ([`next_bits`]: the next value of state bit `b` is bit `next_bits.start + b`). It says of a step
//!
//! - for state bits that are defined, the next value as a [function](JointEncoding::functions) of current bits, inputs, and
//!   next bits of cells that come before it; all other next bits are free;
//! - what has to hold: [conjuncts](JointEncoding::relations) over bits of all three kinds. Among them are the conditions of
//!   choices, the relations, the invariant in the next state, and that nothing is a fault.
//!
//! A client that works with relations takes the conjunction of `next ↔ function` and of the conjuncts, and may quantify bits
//! early; one that works with functions gives the next bits that are defined [their functions](JointEncoding::functional),
//! and takes those that are free for inputs.
//!
//! Cells get values in the order of the [`Plan`](ample_model::plan::Plan), which the interpreter follows too: what it does
//! not evaluate because a conjunct has refused the candidate before is no fault here either.
//!
//! [`inputs`]: JointEncoding::inputs
//! [`next_bits`]: JointEncoding::next_bits

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use ample_model::plan::{Options, Part, Plan, Stage, Target};
use ample_model::{
    Budget, Choice, Expr, Feature, Initial, Move, NextValue, Scalar, Scope, State, System, VariableKind,
};

use crate::bounds::{Bounds, Span};
use crate::dag::{Dag, Lit, Node};
use crate::encoding::{Cell, NotEncoded};
use crate::evaluate::View;
use crate::layout::{Layout, Number};
use crate::symbolic::{Maker, Symbolic, Truth};
use crate::word::Word;
use crate::{MAX_BITS, Unsupported};

/// The most values that a choice lists one by one.
const MAX_LISTED: u64 = 4096;

/// A synchronous system as formulas.
#[derive(Clone, Debug)]
pub struct JointEncoding {
    /// All formulas.
    pub dag: Dag,
    /// What the bits of a state mean; those of inputs come after them.
    pub cells: Vec<Cell>,
    /// The bits of a state are `0..bits`.
    pub bits: u32,
    /// The bits of the inputs of a step.
    pub inputs: Range<u32>,
    /// The bits of the next state, as many as those of a state.
    pub next_bits: Range<u32>,
    /// What holds initially: conjuncts over state bits. The invariant is among them.
    pub initial: Vec<Lit>,
    /// The attempts of an initial state that are faults, over state bits. A run that begins with one has no state that
    /// could be told.
    pub initial_fault: Lit,
    /// What holds in every state: conjuncts over state bits.
    pub invariant: Vec<Lit>,
    /// The state bits whose next value is defined, with the function, over current bits, inputs, and next bits that are
    /// free or defined before it.
    pub functions: Vec<(u32, Lit)>,
    /// What holds in every step: conjuncts over current bits, inputs and next bits.
    pub relations: Vec<Lit>,
    /// For each of [the relations](JointEncoding::relations) the bits, inputs or next ones, of the cell whose value it chooses,
    /// if that is what it does: stages before it do not read them.
    pub chosen: Vec<Option<Range<u32>>>,
    /// The attempt of a step that is a fault, where the defined next bits have their values: over bits of all kinds.
    pub fault: Lit,
    /// It is plain that every state has a step, and that none is a fault: nothing is required beyond that chosen values are
    /// among those to choose from.
    pub is_total: bool,
    /// What the stages of a step do, in their order.
    stages: Vec<StageInfo>,
    layout: Layout,
    /// For each global slot: it is an input.
    is_input: Vec<bool>,
    budget: Budget,
}

/// What is known of a stage of a step.
#[derive(Clone, Copy, Debug)]
struct StageInfo {
    /// All stages before it have gone well, and this one is a fault.
    fault: Lit,
    /// The cell that it chooses a value for.
    chosen: Option<(Part, u32)>,
}

/// The next state, as functions: see [`JointEncoding::functional`].
#[derive(Clone, Debug)]
pub struct Functional {
    /// The next value of each state bit, over current bits, inputs and free next bits.
    pub next: Vec<Lit>,
    /// The next bits that are free.
    pub free: Vec<u32>,
    /// The step is possible.
    pub step: Lit,
    /// What the step requires, except for the invariant in the next state. `None` if that could not be told apart.
    pub own: Option<Vec<Lit>>,
    /// The attempt of the step is a fault.
    pub fault: Lit,
}

/// Bits replaced by formulas.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    bits: HashMap<u32, Lit>,
    made: HashMap<u32, Lit>,
}

impl Substitution {
    /// The bit stands for that formula. It must not be part of formulas that were substituted before.
    pub fn insert(&mut self, bit: u32, lit: Lit) {
        self.bits.insert(bit, lit);
    }

    /// The formula with all bits replaced.
    pub fn apply(&mut self, dag: &mut Dag, lit: Lit) -> Lit {
        let mut stack = vec![lit.0 >> 1];
        let signed = |made: Lit, lit: Lit| if lit.is_negated() { !made } else { made };
        while let Some(&number) = stack.last() {
            if self.made.contains_key(&number) {
                stack.pop();
                continue;
            }
            let here = Lit(number << 1);
            let made = match dag.node(here) {
                Node::Constant => here,
                Node::Input(bit) => self.bits.get(&bit).copied().unwrap_or(here),
                Node::And(x, y) => match (self.made.get(&(x.0 >> 1)), self.made.get(&(y.0 >> 1))) {
                    (Some(a), Some(b)) => dag.and(signed(*a, x), signed(*b, y)),
                    (a, b) => {
                        let missing = [a.is_none().then_some(x.0 >> 1), b.is_none().then_some(y.0 >> 1)];
                        stack.extend(missing.into_iter().flatten());
                        continue;
                    }
                },
            };
            self.made.insert(number, made);
            stack.pop();
        }
        signed(self.made[&(lit.0 >> 1)], lit)
    }
}

impl JointEncoding {
    /// The formulas of a synchronous system that passes [`check`](ample_model::check::check).
    ///
    /// ```
    /// use ample_boolean::JointEncoding;
    /// use ample_model::{Budget, random::synchronous};
    ///
    /// let system = synchronous(42, false);
    /// let encoding = JointEncoding::within(&system, &Budget::unlimited())?;
    /// assert_eq!(encoding.next_bits.len(), encoding.bits as usize);
    /// assert!(encoding.functions.iter().all(|(bit, _)| *bit < encoding.bits));
    /// # Ok::<(), ample_boolean::NotEncoded>(())
    /// ```
    pub fn within(system: &System, budget: &Budget) -> Result<JointEncoding, NotEncoded> {
        let encoding = JointEncoding::unproved_within(system, budget)?;
        if encoding.initial_fault != Lit::FALSE {
            return Err(JointEncoding::begins_with_fault().into());
        }
        Ok(encoding)
    }

    /// Why a system is refused whose initial states may be faults.
    pub fn begins_with_fault() -> Unsupported {
        Unsupported("an initial state of the system may be a fault".into())
    }

    /// The same, for a client that finds out whether an initial state is a [fault](JointEncoding::initial_fault) where that
    /// is not plain.
    pub fn unproved_within(system: &System, budget: &Budget) -> Result<JointEncoding, NotEncoded> {
        budget.check()?;
        let mut dag = Dag::within(budget);
        let mut made = JointEncoding::make(system, &mut dag);
        let dag = made.as_mut().map_or(&mut dag, |encoding| &mut encoding.dag);
        if let Some(interrupted) = dag.interrupted() {
            return Err(interrupted.into());
        }
        dag.set_budget(&Budget::unlimited());
        Ok(JointEncoding { budget: budget.clone(), ..made? })
    }

    fn make(system: &System, dag: &mut Dag) -> Result<JointEncoding, Unsupported> {
        if system.synchronous().is_none() {
            return Err(Unsupported("the system is not synchronous".into()));
        }
        if let Some(feature) = system.features().into_iter().find(|feature| *feature != Feature::Synchronous) {
            return Err(Unsupported(format!("the symbolic engine does not know {feature}")));
        }
        let layout = layout(system)?;
        let is_input: Vec<bool> = kinds(system).iter().map(|kind| *kind == VariableKind::Input).collect();
        let (layout, bits) = states_first(layout, &is_input);
        if layout.bits > MAX_BITS {
            return Err(Unsupported(format!(
                "a state of the system and its inputs have {} bits, more than the {MAX_BITS} that the symbolic engine \
                 knows",
                layout.bits
            )));
        }
        let (inputs, next_bits) = (bits..layout.bits, layout.bits..layout.bits + bits);
        let circular = |_| Unsupported("definitions of the system are circular".into());
        let initial_plan = Plan::initial(system).map_err(circular)?;
        let step_plan = Plan::step(system).map_err(circular)?;
        let mut joint = Joint::new(system, &layout, dag, &is_input, next_bits.start);
        let (initial, initial_fault) = joint.initial(&initial_plan)?;
        let invariant = joint.invariant()?;
        let step = joint.step(&step_plan)?;
        let cells = cells(&layout, bits);
        let dag = std::mem::take(dag);
        Ok(JointEncoding {
            dag,
            cells,
            bits,
            inputs,
            next_bits,
            initial,
            initial_fault,
            invariant,
            functions: step.functions,
            relations: step.relations,
            chosen: step.chosen,
            fault: step.fault,
            is_total: step.is_total,
            stages: step.stages,
            layout,
            is_input,
            budget: Budget::unlimited(),
        })
    }

    /// Where an expression over states holds, and where it is a fault. Where it is one, the first formula is false.
    pub fn condition_within(&mut self, system: &System, expr: &Expr) -> Result<(Lit, Lit), NotEncoded> {
        self.dag.set_budget(&self.budget.clone());
        let mut joint = Joint::new(system, &self.layout, &mut self.dag, &self.is_input, self.next_bits.start);
        let made = joint.holds_in_state(expr);
        let interrupted = self.dag.interrupted();
        self.dag.set_budget(&Budget::unlimited());
        if let Some(interrupted) = interrupted {
            return Err(interrupted.into());
        }
        let truth = made?;
        Ok((self.dag.and(truth.holds, !truth.fault), truth.fault))
    }

    /// Next values as functions of current bits, inputs and free next bits, in this graph.
    pub fn functional(&mut self) -> Functional {
        let mut substitution = Substitution::default();
        let mut next: Vec<Lit> = self.next_bits.clone().map(|bit| self.dag.input(bit)).collect();
        let mut is_free = vec![true; next.len()];
        for (bit, function) in &self.functions {
            let value = substitution.apply(&mut self.dag, *function);
            substitution.insert(self.next_bits.start + bit, value);
            next[*bit as usize] = value;
            is_free[*bit as usize] = false;
        }
        let maintained = self.next_invariant();
        let is_maintained = maintained.iter().all(|lit| *lit == Lit::TRUE || self.relations.contains(lit));
        let (mut relations, mut own) = (Vec::new(), Vec::new());
        for relation in &self.relations {
            let value = substitution.apply(&mut self.dag, *relation);
            relations.push(value);
            if !maintained.contains(relation) {
                own.push(value);
            }
        }
        let step = self.dag.all(&relations);
        let own = is_maintained.then_some(own);
        let fault = substitution.apply(&mut self.dag, self.fault);
        let free = (0..).zip(is_free).filter(|(_, free)| *free).map(|(bit, _)| self.next_bits.start + bit);
        Functional { next, free: free.collect(), step, own, fault }
    }

    /// The invariant, over next bits.
    fn next_invariant(&mut self) -> std::collections::HashSet<Lit> {
        let mut shift = Substitution::default();
        for bit in 0..self.bits {
            let next = self.dag.input(self.next_bits.start + bit);
            shift.insert(bit, next);
        }
        let conjuncts = self.invariant.clone();
        conjuncts.into_iter().map(|conjunct| shift.apply(&mut self.dag, conjunct)).collect()
    }

    /// The state that has these bits.
    pub fn state(&self, value: &dyn Fn(u32) -> bool) -> State {
        let slots = self.layout.globals.clone().zip(&self.is_input);
        let globals = slots.map(|(cell, is_input)| if *is_input { 0 } else { self.read(cell, 0, value) });
        State { globals: globals.collect(), ..State::default() }
    }

    fn read(&self, cell: Number, shift: u32, value: &dyn Fn(u32) -> bool) -> i64 {
        let place = &self.layout.places[cell];
        let bits = place.first + shift..place.first + shift + place.coding.bits;
        let bits: Vec<bool> = bits.map(value).collect();
        place.coding.decode(&bits)
    }

    /// The bits of a global slot.
    pub fn bits_of_slot(&self, slot: usize) -> Range<u32> {
        let place = &self.layout.places[self.layout.globals.start + slot];
        place.first..place.first + place.coding.bits
    }

    /// The bits of a state; `None` if a value does not fit.
    pub fn bits_of(&self, state: &State) -> Option<Vec<bool>> {
        let mut bits = vec![false; self.bits as usize];
        for ((cell, value), is_input) in self.layout.globals.clone().zip(&state.globals).zip(&self.is_input) {
            if *is_input {
                continue;
            }
            let place = &self.layout.places[cell];
            for (bit, value) in (place.first..).zip(place.coding.encode(*value)?) {
                bits[bit as usize] = value;
            }
        }
        Some(bits)
    }

    /// The next state of an attempt with these values of current bits, inputs and free next bits.
    pub fn completed(&self, value: &dyn Fn(u32) -> bool) -> Vec<bool> {
        let start = self.next_bits.start;
        let mut next: Vec<bool> = self.next_bits.clone().map(value).collect();
        for (bit, function) in &self.functions {
            let known = |bit: u32| if bit < start { value(bit) } else { next[(bit - start) as usize] };
            let made = self.dag.evaluate(*function, &known);
            next[*bit as usize] = made;
        }
        next
    }

    /// The joint step with these values of current bits, inputs and next bits; one that is a fault ends there.
    pub fn taken(&self, value: &dyn Fn(u32) -> bool) -> Move {
        let values = self.dag.values(value);
        let (mut inputs, mut choices) = (Vec::new(), Vec::new());
        for stage in &self.stages {
            if values.of(stage.fault) {
                break;
            }
            let Some((part, slot)) = stage.chosen else { continue };
            let cell = self.layout.globals.start + slot as usize;
            match part {
                Part::Next => choices.push((slot, self.read(cell, self.next_bits.start, value))),
                Part::Input | Part::Current => inputs.push((slot, self.read(cell, 0, value))),
            }
        }
        inputs.sort_unstable();
        choices.sort_unstable();
        Move::Joint { inputs: inputs.into(), choices: choices.into() }
    }
}

/// There is always something to choose.
fn is_free_choice(stage: &Stage<'_>) -> bool {
    match stage {
        Stage::Choose(_, Options::Any(_)) => true,
        Stage::Choose(_, Options::Alternatives(all)) => all.iter().any(|alternative| alternative.when.is_none()),
        Stage::Define(..) | Stage::Require(_) | Stage::RequireNext(_) => false,
    }
}

/// Of each global slot what it is.
fn kinds(system: &System) -> Vec<VariableKind> {
    let slots = |variable: &ample_model::Variable| vec![variable.kind; system.slots(&variable.ty) as usize];
    system.globals.iter().flat_map(slots).collect()
}

/// Cells as wide as their types say.
fn layout(system: &System) -> Result<Layout, Unsupported> {
    let enumerated = enumerations(system);
    let mut globals = Vec::new();
    for variable in &system.globals {
        for scalar in system.scalars(&variable.ty) {
            globals.push(match scalar {
                Scalar::Enumeration(id) => enumerated.get(id.index()).copied().unwrap_or(Span::of(scalar)),
                Scalar::Unbounded => {
                    return Err(Unsupported(format!("the values of {} have no bound", variable.name)));
                }
                scalar => Span::of(scalar),
            });
        }
    }
    let bounds =
        Bounds { exact: true, globals, channels: Vec::new(), slots: Vec::new(), least: 0, spreads_control: false };
    Layout::new(system, &bounds)
}

/// For each enumeration the values that its cells may have: those that it names, if all that cells are given are such.
fn enumerations(system: &System) -> Vec<Span> {
    let span = |enumeration: &ample_model::Enumeration| {
        let values = enumeration.values.iter().map(|(_, value)| Span { low: *value, high: *value });
        values.reduce(Span::union).unwrap_or(Span { low: 0, high: 0 })
    };
    let spans: Vec<Span> = system.enumerations.iter().map(span).collect();
    let whole = |scalar: Scalar| match scalar {
        Scalar::Enumeration(id) => spans.get(id.index()).copied(),
        _ => None,
    };
    let mut producers: Vec<(Scalar, &Expr)> = Vec::new();
    for variable in &system.globals {
        let scalars = system.scalars(&variable.ty);
        for (slot, initial) in &variable.initial {
            match initial {
                Initial::Value(expr) => producers.extend(scalars.get(*slot as usize).map(|scalar| (*scalar, expr))),
                // Chosen values are not looked at here.
                _ if scalars.get(*slot as usize).is_some_and(|scalar| whole(*scalar).is_some()) => return Vec::new(),
                _ => {}
            }
        }
    }
    for definition in system.synchronous().iter().flat_map(|synchronous| &synchronous.definitions) {
        let Some(variable) = system.globals.get(definition.variable.index()) else { continue };
        let Some(scalar) = system.scalars(&variable.ty).get(definition.slot as usize).copied() else { continue };
        match &definition.next {
            NextValue::Function(value) => producers.push((scalar, value)),
            NextValue::Choice(all) => producers.extend(all.iter().map(|one| (scalar, &one.value))),
        }
    }
    let is_within = |(scalar, expr): &(Scalar, &Expr)| match whole(*scalar) {
        Some(span) => produced(expr, &whole).is_some_and(|made| span.contains(made.low) && span.contains(made.high)),
        None => true,
    };
    if producers.iter().all(is_within) { spans } else { Vec::new() }
}

/// The values of an expression that does no more than choose among constants and cells; `None` if it does more.
fn produced(expr: &Expr, whole: &dyn Fn(Scalar) -> Option<Span>) -> Option<Span> {
    match expr {
        Expr::Const(value) => Some(Span { low: *value, high: *value }),
        Expr::Read(place) | Expr::Next(place) if place.scope == Scope::Global => whole(place.scalar),
        Expr::Conditional(_, x, y) => Some(produced(x, whole)?.union(produced(y, whole)?)),
        Expr::Shared(x) => produced(x, whole),
        _ => None,
    }
}

/// The bits of states first, then those of inputs; with the number of the former.
fn states_first(mut layout: Layout, is_input: &[bool]) -> (Layout, u32) {
    let start = layout.globals.start;
    let of_input = |cell: usize| cell.checked_sub(start).is_some_and(|slot| is_input.get(slot) == Some(&true));
    let mut bits = 0;
    let mut number = |layout: &mut Layout, inputs: bool| {
        for cell in (0..layout.places.len()).filter(|cell| of_input(*cell) == inputs) {
            layout.places[cell].first = bits;
            bits += layout.places[cell].coding.bits;
        }
        bits
    };
    let states = number(&mut layout, false);
    layout.bits = number(&mut layout, true);
    (layout, states)
}

fn cells(layout: &Layout, bits: u32) -> Vec<Cell> {
    let shown = layout.places.iter().filter(|place| place.coding.bits > 0);
    let cell = |place: &crate::layout::Place| Cell {
        name: place.name.clone(),
        first: place.first,
        bits: place.coding.bits,
        owner: place.owner,
    };
    let (mut states, inputs): (Vec<Cell>, Vec<Cell>) = shown.map(cell).partition(|cell| cell.first < bits);
    states.extend(inputs);
    states
}

/// The formulas of a step.
struct Step {
    functions: Vec<(u32, Lit)>,
    relations: Vec<Lit>,
    chosen: Vec<Option<Range<u32>>>,
    fault: Lit,
    stages: Vec<StageInfo>,
    is_total: bool,
}

/// Makes the formulas of a synchronous system.
struct Joint<'a> {
    maker: Maker<'a>,
    is_input: &'a [bool],
    /// The next bit of state bit `b` is bit `shift + b`.
    shift: u32,
    /// States, in which inputs are 0.
    state: Symbolic,
    /// The current state with the inputs of the step.
    current: Symbolic,
    next: Symbolic,
}

impl<'a> Joint<'a> {
    fn new(system: &'a System, layout: &'a Layout, dag: &'a mut Dag, is_input: &'a [bool], shift: u32) -> Joint<'a> {
        let mut maker = Maker { system, layout, dag };
        let current = maker.inputs();
        let zero = |cell: Number| {
            let slot = cell.checked_sub(layout.globals.start);
            slot.is_some_and(|slot| is_input.get(slot) == Some(&true))
        };
        let cells = 0..layout.places.len();
        let state = cells.clone().map(|cell| if zero(cell) { Word::zero() } else { current[cell].clone() }).collect();
        let next = cells.map(|cell| if zero(cell) { Word::zero() } else { maker.input_at(cell, shift) }).collect();
        Joint {
            maker,
            is_input,
            shift,
            state: Symbolic::new(Rc::new(state)),
            current: Symbolic::new(current),
            next: Symbolic::new(Rc::new(next)),
        }
    }

    fn holds_in_state(&mut self, expr: &Expr) -> Result<Truth, Unsupported> {
        let truth = self.maker.holds(View::anybody(&self.state), expr)?;
        self.maker.check_size()?;
        Ok(truth)
    }

    /// The invariant.
    fn invariant(&mut self) -> Result<Vec<Lit>, Unsupported> {
        let mut conjuncts = Vec::new();
        for expr in self.maker.system.synchronous().iter().flat_map(|synchronous| &synchronous.invariant) {
            let truth = self.holds_in_state(expr)?;
            conjuncts.push(self.maker.dag.and(truth.holds, !truth.fault));
        }
        Ok(conjuncts)
    }

    fn cell(&self, target: &Target) -> Number {
        self.maker.layout.globals.start + target.slot as usize
    }

    /// What holds initially, and the attempts of an initial state that are faults.
    fn initial(&mut self, plan: &Plan<'_>) -> Result<(Vec<Lit>, Lit), Unsupported> {
        let (mut conjuncts, mut fault, mut path) = (Vec::new(), Lit::FALSE, Lit::TRUE);
        let state = self.state.clone();
        for stage in &plan.stages {
            let view = View::anybody(&state);
            let (conjunct, wrong) = match stage {
                Stage::Define(target, value) => {
                    let (bits, wrong) = self.defined(view, target, value)?;
                    let first = self.maker.layout.places[self.cell(target)].first;
                    let same: Vec<Lit> = (first..)
                        .zip(bits)
                        .map(|(bit, value)| {
                            let input = self.maker.dag.input(bit);
                            self.maker.dag.iff(input, value)
                        })
                        .collect();
                    (self.maker.dag.all(&same), wrong)
                }
                Stage::Choose(target, options) => {
                    let word = self.maker.plain(&state, self.cell(target));
                    self.among(view, target, options, &word)?
                }
                Stage::Require(expr) | Stage::RequireNext(expr) => {
                    let truth = self.maker.holds(view, expr)?;
                    (truth.holds, truth.fault)
                }
            };
            self.maker.check_size()?;
            let here = self.maker.dag.and(path, wrong);
            fault = self.maker.dag.or(fault, here);
            let conjunct = self.maker.dag.and(conjunct, !wrong);
            path = self.maker.dag.and(path, conjunct);
            conjuncts.push(conjunct);
        }
        // Bits of cells that are not in use, as those of control, are 0; there are none with bits.
        let fault = if self.maker.dag.is_plainly_false(fault) { Lit::FALSE } else { fault };
        Ok((conjuncts, fault))
    }

    /// What a step does, stage by stage.
    fn step(&mut self, plan: &Plan<'_>) -> Result<Step, Unsupported> {
        let (mut functions, mut relations, mut stages) = (Vec::new(), Vec::new(), Vec::new());
        let mut choices = Vec::new();
        let (mut fault, mut path, mut is_total) = (Lit::FALSE, Lit::TRUE, true);
        let (current, next) = (self.current.clone(), self.next.clone());
        for slot in 0..self.is_input.len() {
            if self.is_frozen(slot) {
                let place = &self.maker.layout.places[self.maker.layout.globals.start + slot];
                for bit in place.first..place.first + place.coding.bits {
                    functions.push((bit, self.maker.dag.input(bit)));
                }
            }
        }
        for stage in &plan.stages {
            let view = View { next: Some(&next), ..View::anybody(&current) };
            let mut chosen = None;
            let (conjunct, wrong) = match stage {
                Stage::Define(target, value) => {
                    let (bits, wrong) = self.defined(view, target, value)?;
                    let first = self.maker.layout.places[self.cell(target)].first;
                    functions.extend((first..).zip(bits));
                    (Lit::TRUE, wrong)
                }
                Stage::Choose(target, options) => {
                    chosen = Some((target.part, target.slot));
                    let of = if target.part == Part::Next { &next } else { &current };
                    let word = self.maker.plain(of, self.cell(target));
                    self.among(view, target, options, &word)?
                }
                Stage::Require(expr) => {
                    let truth = self.maker.holds(view, expr)?;
                    (truth.holds, truth.fault)
                }
                Stage::RequireNext(expr) => {
                    let truth = self.maker.holds(View::anybody(&next), expr)?;
                    (truth.holds, truth.fault)
                }
            };
            self.maker.check_size()?;
            let here = self.maker.dag.and(path, wrong);
            fault = self.maker.dag.or(fault, here);
            let conjunct = self.maker.dag.and(conjunct, !wrong);
            path = self.maker.dag.and(path, conjunct);
            if conjunct != Lit::TRUE {
                is_total &= wrong == Lit::FALSE && is_free_choice(stage);
                relations.push(conjunct);
                choices.push(if let Stage::Choose(target, _) = stage { Some(self.chosen_bits(target)) } else { None });
            }
            stages.push(StageInfo { fault: here, chosen });
        }
        Ok(Step { functions, relations, chosen: choices, fault, stages, is_total })
    }

    /// The bits of a cell that gets a value in a step.
    fn chosen_bits(&self, target: &Target) -> Range<u32> {
        let place = &self.maker.layout.places[self.cell(target)];
        let shift = if target.part == Part::Next { self.shift } else { 0 };
        place.first + shift..place.first + shift + place.coding.bits
    }

    fn is_frozen(&self, slot: usize) -> bool {
        kinds(self.maker.system).get(slot) == Some(&VariableKind::Frozen)
    }

    /// The bits of a defined value, and where it is a fault. Where it is none, it fits: the type has seen to that.
    fn defined(&mut self, view: View<'_>, target: &Target, value: &Expr) -> Result<(Vec<Lit>, Lit), Unsupported> {
        let value = self.maker.value(view, value)?;
        let (word, misfit) = self.maker.dag.fit(target.scalar, &value.word);
        let fault = self.maker.dag.or(value.fault, misfit);
        let (bits, _) = self.maker.encode(self.cell(target), &word);
        Ok((bits, fault))
    }

    /// That a value is one of those to choose from, and where one of them is a fault.
    fn among(
        &mut self,
        view: View<'_>,
        target: &Target,
        options: &Options<'_>,
        word: &Word,
    ) -> Result<(Lit, Lit), Unsupported> {
        match options {
            Options::Any(choice) => Ok((self.among_values(target, choice, word)?, Lit::FALSE)),
            Options::Alternatives(alternatives) => {
                let (mut some, mut fault) = (Vec::new(), Vec::new());
                for alternative in *alternatives {
                    let when = match &alternative.when {
                        Some(condition) => self.maker.holds(view, condition)?,
                        None => Truth::TRUE,
                    };
                    let value = self.maker.value(view, &alternative.value)?;
                    let (value_word, misfit) = self.maker.dag.fit(target.scalar, &value.word);
                    let wrong = self.maker.dag.or(value.fault, misfit);
                    let wrong = self.maker.dag.and(when.holds, wrong);
                    fault.extend([when.fault, wrong]);
                    let same = self.maker.dag.equal(word, &value_word);
                    some.push(self.maker.dag.and(when.holds, same));
                }
                Ok((self.maker.dag.any(&some), self.maker.dag.any(&fault)))
            }
        }
    }

    fn among_values(&mut self, target: &Target, choice: &Choice<'_>, word: &Word) -> Result<Lit, Unsupported> {
        let fits = |value: i64| target.scalar.fit(value) == Some(value);
        if let Choice::Between(low, high) = choice
            && fits(*low)
            && fits(*high)
        {
            let below = self.maker.dag.less(word, &Word::constant((*low).into()));
            let above = self.maker.dag.less(&Word::constant((*high).into()), word);
            let outside = self.maker.dag.or(below, above);
            return Ok(if self.maker.dag.is_plainly_false(outside) { Lit::TRUE } else { !outside });
        }
        if choice.len() > MAX_LISTED {
            return Err(Unsupported(format!("a cell may have one of {} values, which are no range", choice.len())));
        }
        let values = (0..choice.len()).map(|number| target.scalar.fit(choice.get(number)).unwrap_or_default());
        let same: Vec<Lit> = values.map(|value| self.maker.dag.equals(word, value.into())).collect();
        Ok(self.maker.dag.any(&same))
    }
}
