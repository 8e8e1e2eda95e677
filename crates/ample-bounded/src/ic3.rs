//! IC3: proofs of invariants by clauses that are inductive relative to each other (A. Bradley, *SAT-Based Model Checking
//! without Unrolling*, VMCAI 2011), in the form of N. Eén, A. Mishchenko and R. Brayton, *Efficient Implementation of
//! Property Directed Reachability*, FMCAD 2011.
//!
//! `F1 ⊇ … ⊇ Fk` are clauses that hold of all states reachable in up to 1, …, k steps. A cube of states that lead to a bad
//! one is refuted by a clause that holds in the frame before it and thus after a step. Cubes are enlarged by the core of
//! the solver's refutation, and by looking whether they need each of their literals, where counterexamples to
//! generalisation are refuted on the way (Z. Hassan, A. Bradley, F. Somenzi, *Better Generalization in IC3*, FMCAD 2013).
//! Predecessors are enlarged by a second question: which of their bits make the step possible under the same inputs.
//!
//! Clauses that are inductive without those of any frame hold in all reachable states: they are in a frame of their own, the
//! infinite one.
//!
//! All targets are worked on over the same frames. When two neighbouring frames are equal, their clauses are an inductive
//! invariant that excludes the bad states of all targets that were refuted there. A target that takes much longer than that is
//! postponed until the others are proved, so that it does not delay them; what was learnt for these is kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use ample_boolean::{Lit, Node};
use ample_budget::{Budget, Interrupted};

use crate::bmc::Path;
use crate::cdcl::{ALWAYS, Cdcl, Frame, Lemma, Query};
use crate::clauses::Clauses;
use crate::machine::Machine;
use crate::solver::{Batsat, Effort, Literal, Solver};

/// The values of the state bits, and of the inputs.
type Valuation = (Vec<bool>, Vec<bool>);

/// Literals of state bits: the position of the bit among those of the machine, and its value. Sorted.
pub type Cube = Vec<(u32, bool)>;

/// So many counterexamples to generalisation are refuted for one literal. More make clauses that hold in few frames only,
/// and the frames of counters go up one by one.
const MAX_CTGS: usize = 1;
/// Later occurrences of a bit in refuted cubes count for more, by this factor.
const ACTIVITY_GROWTH: f64 = 1.01;
/// A target is postponed if there are others, after so many obligations in one frame; twice as many each time.
const PATIENCE: usize = 1000;
/// The frame whose clauses hold in all reachable states.
const INFINITE: usize = ALWAYS as usize - 1;

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The bad states of that target are reachable.
    Violated(usize, Path),
    /// For these targets: clauses, as negated cubes, that are inductive and exclude their bad states.
    Proved(Vec<usize>, Vec<Cube>),
}

/// A cube from which a bad state is reached.
struct Obligation {
    cube: Rc<Cube>,
    /// The inputs by which it leads to the next one, or by which it is bad.
    inputs: Vec<bool>,
    /// The one that it leads to.
    next: Option<Rc<Obligation>>,
}

/// What became of a target in a frame.
enum Refutation {
    /// None of its bad states is left there.
    Done,
    /// It takes long, and others wait.
    Postponed,
    /// A run to a bad state was found.
    Violated(Path),
}

/// An obligation in the queue: the frame, how many steps to the bad state, its number.
type Queued = Reverse<(usize, usize, usize)>;

/// A cube that is refuted in a frame.
struct Refuted {
    cube: Cube,
    /// A bit for each literal, by its hash.
    signature: u64,
    lemma: Lemma,
}

fn signature(cube: &Cube) -> u64 {
    cube.iter().fold(0, |all, (bit, value)| all | 1 << ((2 * bit + u32::from(*value)).wrapping_mul(0x9E37_79B1) >> 26))
}

impl Refuted {
    /// All its literals are in the cube, which has that signature.
    fn is_part_of(&self, cube: &Cube, signature: u64) -> bool {
        self.signature & !signature == 0 && is_part(&self.cube, cube)
    }
}

/// A search by IC3. It can be interrupted and resumed.
pub struct Ic3 {
    machine: Rc<Machine>,
    targets: Vec<(usize, Lit)>,
    /// By frame: the cubes that are refuted in it, and in no later one. The frame 0 is not used.
    frames: Vec<Vec<Refuted>>,
    /// The cubes that are refuted in all frames, and hold no reachable state.
    infinite: Vec<Refuted>,
    /// Targets that are not worked on until the others are proved, and how long others are worked on.
    postponed: Vec<(usize, Lit)>,
    patience: usize,
    /// These are never postponed: all others depend on them.
    required: Vec<usize>,
    /// Targets that no initial state violates.
    begun: Vec<usize>,
    question: Question,
    /// How often a literal was in a cube that was refuted, by bit.
    activity: Vec<f64>,
    increment: f64,
}

impl Ic3 {
    /// Looks for the bad states of targets, which have numbers.
    pub fn new(machine: &Rc<Machine>, targets: Vec<(usize, Lit)>, budget: &Budget) -> Result<Ic3, Interrupted> {
        let bad: Vec<Lit> = targets.iter().map(|(_, lit)| *lit).collect();
        Ok(Ic3 {
            machine: Rc::clone(machine),
            targets,
            frames: vec![Vec::new(), Vec::new()],
            infinite: Vec::new(),
            postponed: Vec::new(),
            patience: PATIENCE,
            required: Vec::new(),
            begun: Vec::new(),
            question: Question::new(machine, &bad, budget)?,
            activity: vec![0.0; machine.state.len()],
            increment: 1.0,
        })
    }

    /// The target is not looked for any more.
    pub fn leave(&mut self, number: usize) {
        self.targets.retain(|(target, _)| *target != number);
        self.postponed.retain(|(target, _)| *target != number);
    }

    /// The target is part of every proof.
    pub fn require(&mut self, number: usize) {
        self.required.push(number);
    }

    /// The cubes that hold no reachable state, from the one with that number on. There may be more later, and never fewer.
    pub fn unreachable(&self, first: usize) -> impl Iterator<Item = &Cube> {
        self.infinite.iter().skip(first).map(|refuted| &refuted.cube)
    }

    /// How many frames there are.
    pub fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// How many clauses the frames have.
    pub fn lemmas(&self) -> usize {
        self.frames.iter().map(Vec::len).sum::<usize>() + self.infinite.len()
    }

    /// What the solvers have done.
    pub fn effort(&self) -> Effort {
        self.question.solver.effort()
    }

    /// Goes on until something is known.
    pub fn run(&mut self, budget: &Budget) -> Result<Outcome, Interrupted> {
        loop {
            budget.check()?;
            if self.targets.iter().all(|(number, _)| self.required.contains(number)) && !self.postponed.is_empty() {
                self.targets.append(&mut self.postponed);
                self.patience *= 2;
            }
            let mut number = 0;
            while number < self.targets.len() {
                match self.refute_target(number, budget)? {
                    Refutation::Done => number += 1,
                    Refutation::Postponed => {
                        let target = self.targets.remove(number);
                        self.postponed.push(target);
                    }
                    Refutation::Violated(path) => {
                        let (target, _) = self.targets.remove(number);
                        return Ok(Outcome::Violated(target, path));
                    }
                }
            }
            self.frames.push(Vec::new());
            if let Some(invariant) = self.propagate(budget)? {
                let proved = self.targets.iter().map(|(number, _)| *number).collect();
                return Ok(Outcome::Proved(proved, invariant));
            }
        }
    }

    /// Refutes all bad states of a target in the last frame; or finds a run to one.
    fn refute_target(&mut self, number: usize, budget: &Budget) -> Result<Refutation, Interrupted> {
        let (target, bad) = self.targets[number];
        if !self.begun.contains(&target) {
            if let Some((state, last_inputs)) = self.question.initial_and(bad, budget)? {
                return Ok(Refutation::Violated(Path { states: vec![state], inputs: Vec::new(), last_inputs }));
            }
            self.begun.push(target);
        }
        let others = self.targets.iter().filter(|(other, _)| *other != target && !self.required.contains(other));
        let may_wait = others.count() > 0 && !self.required.contains(&target);
        let mut patience = if may_wait { self.patience } else { usize::MAX };
        loop {
            let found = self.question.bad_state(bad, self.depth(), &self.activity, budget)?;
            let Some((cube, inputs)) = found else { return Ok(Refutation::Done) };
            let obligation = Obligation { cube: Rc::new(cube), inputs, next: None };
            match self.refute(obligation, &mut patience, budget)? {
                Refutation::Done => {}
                other => return Ok(other),
            }
        }
    }

    /// Refutes an obligation in the last frame, and all that lead to it.
    fn refute(
        &mut self,
        obligation: Obligation,
        patience: &mut usize,
        budget: &Budget,
    ) -> Result<Refutation, Interrupted> {
        let mut obligations: Vec<Rc<Obligation>> = vec![Rc::new(obligation)];
        let mut queue: BinaryHeap<Queued> = BinaryHeap::from([Reverse((self.depth(), 0, 0))]);
        while let Some(Reverse((frame, steps, number))) = queue.pop() {
            let obligation = Rc::clone(&obligations[number]);
            if let Some(state) = self.question.initial_in(&obligation.cube, budget)? {
                return Ok(Refutation::Violated(self.path(state, &obligation)));
            }
            if *patience == 0 {
                return Ok(Refutation::Postponed);
            }
            *patience -= 1;
            if frame == 0 {
                // An initial state would have been found.
                continue;
            }
            if self.is_refuted(&obligation.cube, frame) {
                if frame < self.depth() {
                    queue.push(Reverse((frame + 1, steps, number)));
                }
                continue;
            }
            match self.question.predecessor(&obligation.cube, frame - 1, true, budget)? {
                Step::Possible(model) => {
                    let (cube, inputs) = self.question.enlarge(&obligation.cube, &model, &self.activity, budget)?;
                    let before = Obligation { cube: Rc::new(cube), inputs, next: Some(Rc::clone(&obligation)) };
                    obligations.push(Rc::new(before));
                    queue.push(Reverse((frame - 1, steps + 1, obligations.len() - 1)));
                    queue.push(Reverse((frame, steps, number)));
                }
                Step::Impossible(core) => {
                    let cube = self.generalise(core, frame, 0, budget)?;
                    let frame = self.push_forward(&cube, frame, budget)?;
                    self.add(cube, frame);
                    if frame < self.depth() {
                        queue.push(Reverse((frame + 1, steps, number)));
                    }
                }
            }
        }
        Ok(Refutation::Done)
    }

    /// A clause of the frame, or of a later one, refutes the cube.
    fn is_refuted(&self, cube: &Cube, frame: usize) -> bool {
        let signature = signature(cube);
        let here = self.frames[frame..].iter().flatten().chain(&self.infinite);
        here.into_iter().any(|refuted| refuted.is_part_of(cube, signature))
    }

    /// Leaves out literals of a cube as long as it is refuted in that frame.
    fn generalise(&mut self, mut cube: Cube, frame: usize, depth: usize, budget: &Budget) -> Result<Cube, Interrupted> {
        let mut order: Vec<u32> = cube.iter().map(|(bit, _)| *bit).collect();
        order.sort_by(|a, b| self.activity[*a as usize].total_cmp(&self.activity[*b as usize]));
        for bit in order {
            if cube.len() <= 1 || !cube.iter().any(|(other, _)| *other == bit) {
                continue;
            }
            let smaller: Cube = cube.iter().copied().filter(|(other, _)| *other != bit).collect();
            if let Some(refuted) = self.refuted_part(smaller, frame, depth, budget)? {
                cube = refuted;
            }
        }
        Ok(cube)
    }

    /// A part of the cube that is refuted in that frame, where counterexamples may be refuted first.
    fn refuted_part(
        &mut self,
        cube: Cube,
        frame: usize,
        depth: usize,
        budget: &Budget,
    ) -> Result<Option<Cube>, Interrupted> {
        let mut ctgs = 0;
        loop {
            if self.question.initial_in(&cube, budget)?.is_some() {
                return Ok(None);
            }
            let model = match self.question.predecessor(&cube, frame - 1, true, budget)? {
                Step::Impossible(core) => return Ok(Some(core)),
                Step::Possible(model) => model,
            };
            if depth > 0 || ctgs >= MAX_CTGS || frame < 2 {
                return Ok(None);
            }
            let (ctg, _) = self.question.enlarge(&cube, &model, &self.activity, budget)?;
            if self.question.initial_in(&ctg, budget)?.is_some() {
                return Ok(None);
            }
            let Step::Impossible(core) = self.question.predecessor(&ctg, frame - 2, true, budget)? else {
                return Ok(None);
            };
            ctgs += 1;
            let lemma = self.generalise(core, frame - 1, depth + 1, budget)?;
            let at = self.push_forward(&lemma, frame - 1, budget)?;
            self.add(lemma, at);
        }
    }

    /// The last frame in which the cube is refuted, from that one on.
    fn push_forward(&mut self, cube: &Cube, mut frame: usize, budget: &Budget) -> Result<usize, Interrupted> {
        while frame < self.depth() {
            match self.question.predecessor(cube, frame, true, budget)? {
                Step::Impossible(_) => frame += 1,
                Step::Possible(_) => break,
            }
        }
        Ok(frame)
    }

    /// The cube is refuted in the frame, and those before it.
    fn add(&mut self, cube: Cube, frame: usize) {
        self.increment *= ACTIVITY_GROWTH;
        for (bit, _) in &cube {
            self.activity[*bit as usize] += self.increment;
        }
        if self.increment > 1e100 {
            self.activity.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.increment *= 1e-100;
        }
        let lemma = self.question.refute(&cube, frame);
        let added = Refuted { signature: signature(&cube), cube, lemma };
        let (solver, last) = (&mut self.question.solver, frame.min(self.frames.len() - 1));
        for older in &mut self.frames[1..=last] {
            older.retain(|other| {
                let is_covered = added.is_part_of(&other.cube, other.signature);
                if is_covered {
                    solver.remove(other.lemma);
                }
                !is_covered
            });
        }
        match self.frames.get_mut(frame) {
            Some(refuted) => refuted.push(added),
            None => self.infinite.push(added),
        }
    }

    /// Moves clauses to later frames. If all clauses of a frame can go, they are the invariant.
    fn propagate(&mut self, budget: &Budget) -> Result<Option<Vec<Cube>>, Interrupted> {
        for frame in 1..self.depth() {
            // Short ones first: they may cover others.
            let mut cubes: Vec<Cube> = self.frames[frame].iter().map(|refuted| refuted.cube.clone()).collect();
            cubes.sort_by_key(Vec::len);
            for cube in cubes {
                if !self.frames[frame].iter().any(|refuted| refuted.cube == cube) {
                    continue;
                }
                let Step::Impossible(part) = self.question.predecessor(&cube, frame, false, budget)? else { continue };
                if frame + 1 == self.depth()
                    && let Step::Impossible(part) = self.question.predecessor(&part, INFINITE, true, budget)?
                {
                    self.add(part, INFINITE);
                    continue;
                }
                self.add(part, frame + 1);
            }
            if self.frames[frame].is_empty() {
                return Ok(Some(self.settle(frame)));
            }
        }
        Ok(None)
    }

    /// The clauses after a frame that has none of its own: they are inductive, and so part of the infinite frame from now on.
    fn settle(&mut self, frame: usize) -> Vec<Cube> {
        let settled: Vec<Refuted> = self.frames[frame + 1..].iter_mut().flat_map(std::mem::take).collect();
        for refuted in settled {
            self.question.solver.raise(refuted.lemma, INFINITE as Frame);
            self.infinite.push(refuted);
        }
        self.infinite.iter().map(|refuted| refuted.cube.clone()).collect()
    }

    /// The run from an initial state of an obligation to a bad state.
    fn path(&self, start: Vec<bool>, obligation: &Rc<Obligation>) -> Path {
        let mut path = Path { states: vec![start], inputs: Vec::new(), last_inputs: Vec::new() };
        let mut at = Rc::clone(obligation);
        while let Some(next) = at.next.clone() {
            let after = self.machine.successor(path.end(), &at.inputs);
            path.states.push(after);
            path.inputs.push(at.inputs.clone());
            at = next;
        }
        path.last_inputs = at.inputs.clone();
        path
    }
}

/// All literals of the first are in the second.
fn is_part(part: &Cube, of: &Cube) -> bool {
    let mut all = of.iter();
    part.len() <= of.len() && part.iter().all(|literal| all.by_ref().any(|other| other == literal))
}

/// Whether a cube can be reached by a step.
enum Step {
    /// From this state, by these inputs.
    Possible(Model),
    /// No: not even this part of it.
    Impossible(Cube),
}

/// A step that the solver has found, as far as it matters.
struct Model {
    state: Cube,
    /// Inputs, by their position, that have values.
    inputs: Cube,
}

/// The questions to solvers.
struct Question {
    machine: Rc<Machine>,
    solver: Cdcl,
    clauses: Clauses,
    /// By state bit: its literal, and that of its next value.
    now: Vec<Literal>,
    next: Vec<Literal>,
    inputs: Vec<Literal>,
    /// A step is possible; `None` if there always is one.
    step: Option<Literal>,
    /// A literal that is in no clause but those of questions.
    last: Literal,
    initial: Initially,
}

impl Question {
    fn new(machine: &Rc<Machine>, bad: &[Lit], budget: &Budget) -> Result<Question, Interrupted> {
        let (mut solver, mut clauses) = (Cdcl::default(), Clauses::default());
        let dag = &machine.dag;
        let mut literal = |lit: Lit| clauses.literal(dag, lit, &mut solver, budget);
        let input = |bit: &u32| dag.find_input(*bit).unwrap_or(Lit::FALSE);
        let now: Vec<Literal> = machine.state.iter().map(|bit| literal(input(bit))).collect::<Result<_, _>>()?;
        let inputs = machine.inputs.iter().map(|bit| literal(input(bit))).collect::<Result<_, _>>()?;
        let next = machine.next.iter().map(|lit| literal(*lit)).collect::<Result<_, _>>()?;
        let step = if machine.step == Lit::TRUE { None } else { Some(literal(machine.step)?) };
        for lit in bad {
            literal(*lit)?;
        }
        for conjunct in dag.conjuncts(machine.initial) {
            let made = clauses.literal(dag, conjunct, &mut solver, budget)?;
            match dag.node(conjunct) {
                Node::Input(_) => solver.add_start(made),
                _ => drop(solver.add_lemma(&[made], 0)),
            }
        }
        let (initial, last) = (Initially::new(machine, bad, budget)?, solver.new_variable());
        Ok(Question { machine: Rc::clone(machine), solver, clauses, now, next, inputs, step, last, initial })
    }

    fn literal(&self, (bit, value): &(u32, bool)) -> Literal {
        self.now[*bit as usize].negated_if(!value)
    }

    fn next_literal(&self, (bit, value): &(u32, bool)) -> Literal {
        self.next[*bit as usize].negated_if(!value)
    }

    /// The clause that refutes the cube, in a frame and those before it.
    fn refute(&mut self, cube: &Cube, frame: usize) -> Lemma {
        let clause: Vec<Literal> = cube.iter().map(|literal| !self.literal(literal)).collect();
        self.solver.add_lemma(&clause, frame as Frame)
    }

    /// The formula, which has a literal.
    fn known(&self, lit: Lit) -> Literal {
        self.clauses.known(lit).unwrap_or(Literal(0))
    }

    /// An initial state in which the formula holds, with certain inputs.
    fn initial_and(&mut self, lit: Lit, budget: &Budget) -> Result<Option<Valuation>, Interrupted> {
        let Some(literal) = self.initial.clauses.known(lit) else { return Ok(None) };
        let found = self.initial.find(&[literal], budget)?;
        let dag = &self.machine.dag;
        let input = |bit: &u32| dag.find_input(*bit).and_then(|lit| self.initial.clauses.known(lit));
        let value = |bit: &u32| input(bit).is_some_and(|literal| self.initial.solver.value(literal));
        Ok(found.map(|state| (state, self.machine.inputs.iter().map(value).collect())))
    }

    /// An initial state in a cube.
    fn initial_in(&mut self, cube: &Cube, budget: &Budget) -> Result<Option<Vec<bool>>, Interrupted> {
        if cube.iter().any(|(bit, value)| self.initial.fixed[*bit as usize] == Some(!value)) {
            return Ok(None);
        }
        if self.initial.is_cube {
            let mut state: Vec<bool> = self.initial.fixed.iter().map(|value| value.unwrap_or(false)).collect();
            cube.iter().for_each(|(bit, value)| state[*bit as usize] = *value);
            return Ok(Some(state));
        }
        let literal = |(bit, value): &(u32, bool)| self.initial.now[*bit as usize].negated_if(!value);
        let assumptions: Vec<Literal> = cube.iter().map(literal).collect();
        self.initial.find(&assumptions, budget)
    }

    /// A cube of states of a frame in which the formula holds with certain inputs.
    fn bad_state(
        &mut self,
        bad: Lit,
        frame: usize,
        activity: &[f64],
        budget: &Budget,
    ) -> Result<Option<(Cube, Vec<bool>)>, Interrupted> {
        let bad = self.known(bad);
        let query = Query { frame: frame as Frame, assumptions: &[bad], clause: None, roots: Some(&[]) };
        if !self.solver.ask(&query, budget)? {
            return Ok(None);
        }
        let model = self.model();
        let cube = self.core(&model, &[!bad], activity, budget)?;
        Ok(Some((cube, self.input_values(&model))))
    }

    /// The state and the inputs that the solver has found.
    fn model(&self) -> Model {
        let found = |bits: &[Literal]| {
            let value = |(number, bit): (u32, &Literal)| self.solver.model(*bit).map(|value| (number, value));
            (0..).zip(bits).filter_map(value).collect()
        };
        Model { state: found(&self.now), inputs: found(&self.inputs) }
    }

    fn input_values(&self, model: &Model) -> Vec<bool> {
        let mut values = vec![false; self.inputs.len()];
        model.inputs.iter().for_each(|(number, value)| values[*number as usize] = *value);
        values
    }

    /// Of a state the bits that contradict a clause, together with the inputs.
    fn core(
        &mut self,
        model: &Model,
        clause: &[Literal],
        activity: &[f64],
        budget: &Budget,
    ) -> Result<Cube, Interrupted> {
        let inputs = model.inputs.iter().map(|(number, value)| self.inputs[*number as usize].negated_if(!value));
        let mut assumptions: Vec<Literal> = inputs.collect();
        // Bits that were needed before are likely to be needed again; what is needed first is seen first.
        let mut state = model.state.clone();
        state.sort_by(|(a, _), (b, _)| activity[*b as usize].total_cmp(&activity[*a as usize]));
        assumptions.extend(state.iter().map(|literal| self.literal(literal)));
        // The clause comes last: so it is values of gates that lead to values of other gates, and the core justifies them.
        // Otherwise what follows from the clause would be part of the reasons.
        assumptions.push(self.last);
        let clause: Vec<Literal> = clause.iter().copied().chain([!self.last]).collect();
        let query = Query { frame: ALWAYS, assumptions: &assumptions, clause: Some(&clause), roots: Some(&[]) };
        if self.solver.ask(&query, budget)? {
            // It should not be possible; the whole state is right in any case.
            return Ok(model.state.clone());
        }
        let is_needed = |literal: &&(u32, bool)| self.solver.is_in_core(self.literal(literal));
        Ok(model.state.iter().filter(is_needed).copied().collect())
    }

    /// Whether a step from a state of the frame, outside of the cube if that is asked for, leads into the cube. Of frame 0
    /// there are the initial states only.
    fn predecessor(
        &mut self,
        cube: &Cube,
        frame: usize,
        from_outside: bool,
        budget: &Budget,
    ) -> Result<Step, Interrupted> {
        let outside: Vec<Literal> = cube.iter().map(|literal| !self.literal(literal)).collect();
        let mut assumptions: Vec<Literal> = self.step.into_iter().collect();
        assumptions.extend(cube.iter().map(|literal| self.next_literal(literal)));
        let clause = from_outside.then_some(&outside[..]);
        let query = Query { frame: frame as Frame, assumptions: &assumptions, clause, roots: Some(&[]) };
        if self.solver.ask(&query, budget)? {
            return Ok(Step::Possible(self.model()));
        }
        let is_needed = |literal: &&(u32, bool)| self.solver.is_in_core(self.next_literal(literal));
        let mut part: Cube = cube.iter().filter(is_needed).copied().collect();
        self.keep_out_of_initial(&mut part, cube, budget)?;
        Ok(Step::Impossible(part))
    }

    /// The states from which the step of a model is possible and leads into the cube, with the same inputs, as far as the
    /// solver sees that; and the inputs.
    fn enlarge(
        &mut self,
        cube: &Cube,
        model: &Model,
        activity: &[f64],
        budget: &Budget,
    ) -> Result<(Cube, Vec<bool>), Interrupted> {
        let mut clause: Vec<Literal> = cube.iter().map(|literal| !self.next_literal(literal)).collect();
        clause.extend(self.step.map(|step| !step));
        let part = self.core(model, &clause, activity, budget)?;
        Ok((part, self.input_values(model)))
    }

    /// Puts literals of the cube back into a part of it until no initial state is in the part.
    fn keep_out_of_initial(&mut self, part: &mut Cube, cube: &Cube, budget: &Budget) -> Result<(), Interrupted> {
        while let Some(state) = self.initial_in(part, budget)? {
            // One of the literals of the cube is false in that state, or in another one.
            let fixed = |(bit, value): &&(u32, bool)| self.initial.fixed[*bit as usize] == Some(!value);
            let differs = |(bit, value): &&(u32, bool)| state[*bit as usize] != *value;
            let Some(missing) = cube.iter().find(fixed).or_else(|| cube.iter().find(differs)) else { return Ok(()) };
            part.push(*missing);
            part.sort_unstable();
        }
        Ok(())
    }
}

/// A solver for initial states.
struct Initially {
    solver: Batsat,
    clauses: Clauses,
    now: Vec<Literal>,
    /// By state bit: the value that it has in all initial states, as far as that is seen at once.
    fixed: Vec<Option<bool>>,
    /// There is nothing else that initial states have in common.
    is_cube: bool,
}

impl Initially {
    fn new(machine: &Machine, bad: &[Lit], budget: &Budget) -> Result<Initially, Interrupted> {
        let (mut solver, mut clauses) = (Batsat::default(), Clauses::default());
        let dag = &machine.dag;
        let mut now = Vec::new();
        for bit in &machine.state {
            let input = dag.find_input(*bit).unwrap_or(Lit::FALSE);
            now.push(clauses.literal(dag, input, &mut solver, budget)?);
        }
        let (mut values, mut is_cube) = (std::collections::HashMap::new(), true);
        for conjunct in dag.conjuncts(machine.initial) {
            let literal = clauses.literal(dag, conjunct, &mut solver, budget)?;
            solver.add(&[literal]);
            match dag.node(conjunct) {
                Node::Input(bit) => is_cube &= values.insert(bit, !conjunct.is_negated()).is_none(),
                _ => is_cube &= conjunct == Lit::TRUE,
            }
        }
        for lit in bad {
            clauses.literal(dag, *lit, &mut solver, budget)?;
        }
        let fixed = machine.state.iter().map(|bit| values.get(bit).copied()).collect();
        Ok(Initially { solver, clauses, now, fixed, is_cube })
    }

    /// An initial state that satisfies the assumptions.
    fn find(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<Option<Vec<bool>>, Interrupted> {
        if !self.solver.solve(assumptions, budget)? {
            return Ok(None);
        }
        Ok(Some(self.now.iter().map(|bit| self.solver.value(*bit)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ample_boolean::Dag;

    /// A counter of three bits, and a bit that stays 0: one target is violated, the others are proved, with a clause that
    /// holds in all reachable states.
    #[test]
    fn targets_are_answered_one_by_one() {
        let mut dag = Dag::new();
        let bits: Vec<Lit> = (0..4).map(|bit| dag.input(bit)).collect();
        let (low, middle, high, never) = (bits[0], bits[1], bits[2], bits[3]);
        let carry = dag.and(low, middle);
        let next = vec![!low, dag.xor(low, middle), dag.xor(carry, high), dag.and(never, high)];
        let initial = dag.all(&[!low, !middle, !high, !never]);
        let seven = dag.all(&[low, middle, high]);
        let machine =
            Machine { dag, state: vec![0, 1, 2, 3], inputs: Vec::new(), initial, next, step: Lit::TRUE, unused: 4 };
        let budget = Budget::unlimited();
        let mut ic3 = Ic3::new(&Rc::new(machine), vec![(3, never), (7, seven)], &budget).unwrap();
        let Ok(Outcome::Violated(7, path)) = ic3.run(&budget) else { panic!("the counter reaches 7") };
        assert_eq!(path.inputs.len(), 7);
        let Ok(Outcome::Proved(proved, excluded)) = ic3.run(&budget) else { panic!("the bit stays 0") };
        assert_eq!(proved, [3]);
        assert!(excluded.contains(&vec![(3, true)]));
        assert_eq!(ic3.unreachable(0).count(), excluded.len());
    }
}
