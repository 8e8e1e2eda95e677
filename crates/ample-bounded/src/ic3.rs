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
//! All targets are worked on at once, over the same frames. When two neighbouring frames are equal, their clauses are an
//! inductive invariant that excludes the bad states of all targets that are left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use crate::bmc::Path;
use crate::clauses::Clauses;
use crate::machine::Machine;
use crate::solver::{Batsat, Effort, Literal, Solver};

/// The values of the state bits, and of the inputs.
type Valuation = (Vec<bool>, Vec<bool>);

/// Literals of state bits: the position of the bit among those of the machine, and its value. Sorted.
pub type Cube = Vec<(u32, bool)>;

/// So many counterexamples to generalisation are refuted for one literal.
const MAX_CTGS: usize = 3;
/// The solver is set up anew after so many clauses that were needed for one question only.
const MAX_RETIRED: usize = 3000;

/// What a search has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The bad states of that target are reachable.
    Violated(usize, Path),
    /// For the targets that are left: clauses, as negated cubes, that are inductive and exclude their bad states.
    Proved(Vec<Cube>),
}

/// A cube from which a bad state is reached.
struct Obligation {
    cube: Rc<Cube>,
    /// The inputs by which it leads to the next one, or by which it is bad.
    inputs: Vec<bool>,
    /// The one that it leads to.
    next: Option<Rc<Obligation>>,
}

/// An obligation in the queue: the frame, how many steps to the bad state, its number.
type Queued = Reverse<(usize, usize, usize)>;

/// A search by IC3. It can be interrupted and resumed.
pub struct Ic3 {
    machine: Rc<Machine>,
    targets: Vec<(usize, Lit)>,
    /// By frame: the cubes that are refuted in it, and in no later one. The frame 0 is not used.
    frames: Vec<Vec<Cube>>,
    question: Question,
    /// How often a literal was in a cube that was refuted, by bit.
    activity: Vec<f64>,
    /// Effort of solvers that were set up before.
    before: Effort,
}

impl Ic3 {
    /// Looks for the bad states of targets, which have numbers.
    pub fn new(machine: &Rc<Machine>, targets: Vec<(usize, Lit)>, budget: &Budget) -> Result<Ic3, Interrupted> {
        let bad: Vec<Lit> = targets.iter().map(|(_, lit)| *lit).collect();
        Ok(Ic3 {
            machine: Rc::clone(machine),
            targets,
            frames: vec![Vec::new(), Vec::new()],
            question: Question::new(machine, &bad, budget)?,
            activity: vec![0.0; machine.state.len()],
            before: Effort::default(),
        })
    }

    /// The target is not looked for any more.
    pub fn leave(&mut self, number: usize) {
        self.targets.retain(|(target, _)| *target != number);
    }

    /// How many frames there are.
    pub fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// How many clauses the frames have.
    pub fn lemmas(&self) -> usize {
        self.frames.iter().map(Vec::len).sum()
    }

    /// What the solvers have done.
    pub fn effort(&self) -> Effort {
        let now = self.question.solver.effort();
        Effort { clauses: now.clauses, conflicts: self.before.conflicts + now.conflicts }
    }

    /// Goes on until something is known.
    pub fn run(&mut self, budget: &Budget) -> Result<Outcome, Interrupted> {
        loop {
            budget.check()?;
            for number in 0..self.targets.len() {
                if let Some(path) = self.refute_target(number, budget)? {
                    let (target, _) = self.targets.remove(number);
                    return Ok(Outcome::Violated(target, path));
                }
            }
            self.frames.push(Vec::new());
            self.question.add_frame();
            if let Some(invariant) = self.propagate(budget)? {
                return Ok(Outcome::Proved(invariant));
            }
        }
    }

    /// Refutes all bad states of a target in the last frame; or finds a run to one.
    fn refute_target(&mut self, number: usize, budget: &Budget) -> Result<Option<Path>, Interrupted> {
        let bad = self.targets[number].1;
        loop {
            self.renew(budget)?;
            if self.depth() == 1
                && let Some((state, last_inputs)) = self.question.initial_and(bad, budget)?
            {
                return Ok(Some(Path { states: vec![state], inputs: Vec::new(), last_inputs }));
            }
            let Some((cube, inputs)) = self.question.bad_state(bad, self.depth(), budget)? else { return Ok(None) };
            let obligation = Obligation { cube: Rc::new(cube), inputs, next: None };
            if let Some(path) = self.refute(obligation, budget)? {
                return Ok(Some(path));
            }
        }
    }

    /// Refutes an obligation in the last frame, and all that lead to it.
    fn refute(&mut self, obligation: Obligation, budget: &Budget) -> Result<Option<Path>, Interrupted> {
        let mut obligations: Vec<(Rc<Obligation>, usize)> = vec![(Rc::new(obligation), 0)];
        let mut queue: BinaryHeap<Queued> = BinaryHeap::from([Reverse((self.depth(), 0, 0))]);
        while let Some(Reverse((frame, steps, number))) = queue.pop() {
            budget.check()?;
            self.renew(budget)?;
            let obligation = Rc::clone(&obligations[number].0);
            if let Some(state) = self.question.initial_in(&obligation.cube, budget)? {
                return Ok(Some(self.path(state, &obligation)));
            }
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
                    let (cube, inputs) = self.question.enlarge(&obligation.cube, &model, budget)?;
                    let before = Obligation { cube: Rc::new(cube), inputs, next: Some(Rc::clone(&obligation)) };
                    obligations.push((Rc::new(before), steps + 1));
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
        Ok(None)
    }

    /// A clause of the frame, or of a later one, refutes the cube.
    fn is_refuted(&self, cube: &Cube, frame: usize) -> bool {
        self.frames[frame..].iter().flatten().any(|refuted| is_part(refuted, cube))
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
            budget.check()?;
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
            let (ctg, _) = self.question.enlarge(&cube, &model, budget)?;
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
        for (bit, _) in &cube {
            self.activity[*bit as usize] += 1.0;
        }
        self.activity.iter_mut().for_each(|activity| *activity *= 0.99);
        for older in &mut self.frames[1..=frame] {
            older.retain(|other| !is_part(&cube, other));
        }
        self.question.refute(&cube, frame);
        self.frames[frame].push(cube);
    }

    /// Moves clauses to later frames. If all clauses of a frame can go, they are the invariant.
    fn propagate(&mut self, budget: &Budget) -> Result<Option<Vec<Cube>>, Interrupted> {
        for frame in 1..self.depth() {
            for cube in self.frames[frame].clone() {
                if !self.frames[frame].contains(&cube) {
                    continue;
                }
                if let Step::Impossible(_) = self.question.predecessor(&cube, frame, false, budget)? {
                    self.add(cube, frame + 1);
                }
            }
            if self.frames[frame].is_empty() {
                return Ok(Some(self.frames[frame + 1..].iter().flatten().cloned().collect()));
            }
        }
        Ok(None)
    }

    /// Sets the solver up anew if it holds many clauses that nobody needs.
    fn renew(&mut self, budget: &Budget) -> Result<(), Interrupted> {
        if self.question.retired < MAX_RETIRED {
            return Ok(());
        }
        self.before.conflicts += self.question.solver.effort().conflicts;
        let bad: Vec<Lit> = self.targets.iter().map(|(_, lit)| *lit).collect();
        self.question = Question::new(&self.machine, &bad, budget)?;
        for frame in 2..self.frames.len() {
            debug_assert!(frame > 1);
            self.question.add_frame();
        }
        for (frame, cubes) in self.frames.iter().enumerate() {
            cubes.iter().for_each(|cube| self.question.refute(cube, frame));
        }
        Ok(())
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

/// A step that the solver has found.
struct Model {
    state: Vec<Literal>,
    inputs: Vec<Literal>,
}

/// The questions to solvers.
struct Question {
    machine: Rc<Machine>,
    solver: Batsat,
    clauses: Clauses,
    /// By state bit: its literal, and that of its next value.
    now: Vec<Literal>,
    next: Vec<Literal>,
    inputs: Vec<Literal>,
    step: Literal,
    /// By frame: its clauses hold.
    frames: Vec<Literal>,
    /// Clauses that are not needed any more.
    retired: usize,
    initial: Initially,
}

/// A solver for initial states.
struct Initially {
    solver: Batsat,
    clauses: Clauses,
    now: Vec<Literal>,
}

impl Question {
    fn new(machine: &Rc<Machine>, bad: &[Lit], budget: &Budget) -> Result<Question, Interrupted> {
        let (mut solver, mut clauses) = (Batsat::default(), Clauses::default());
        let dag = &machine.dag;
        let mut literal = |lit: Lit| clauses.literal(dag, lit, &mut solver, budget);
        let input = |bit: &u32| dag.find_input(*bit).unwrap_or(Lit::FALSE);
        let now = machine.state.iter().map(|bit| literal(input(bit))).collect::<Result<_, _>>()?;
        let inputs = machine.inputs.iter().map(|bit| literal(input(bit))).collect::<Result<_, _>>()?;
        let next = machine.next.iter().map(|lit| literal(*lit)).collect::<Result<_, _>>()?;
        let step = literal(machine.step)?;
        for lit in bad {
            literal(*lit)?;
        }
        let initial = Initially::new(machine, bad, budget)?;
        let frames = vec![solver.new_variable(), solver.new_variable()];
        Ok(Question {
            machine: Rc::clone(machine),
            solver,
            clauses,
            now,
            next,
            inputs,
            step,
            frames,
            retired: 0,
            initial,
        })
    }

    fn add_frame(&mut self) {
        self.frames.push(self.solver.new_variable());
    }

    fn literal(&self, bit: u32, value: bool) -> Literal {
        self.now[bit as usize].negated_if(!value)
    }

    /// The clause that refutes the cube, in a frame and those before it.
    fn refute(&mut self, cube: &Cube, frame: usize) {
        let mut clause: Vec<Literal> = cube.iter().map(|(bit, value)| !self.literal(*bit, *value)).collect();
        clause.push(!self.frames[frame]);
        self.solver.add(&clause);
    }

    /// The clauses of a frame hold; of frame 0, all there are.
    fn assume_frame(&self, frame: usize) -> Vec<Literal> {
        self.frames[frame..].to_vec()
    }

    /// The formula, which has a literal.
    fn known(&self, lit: Lit) -> Literal {
        self.clauses.known(lit).unwrap_or(self.step)
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
        let literal = |(bit, value): &(u32, bool)| self.initial.now[*bit as usize].negated_if(!value);
        let assumptions: Vec<Literal> = cube.iter().map(literal).collect();
        self.initial.find(&assumptions, budget)
    }

    /// A cube of states of a frame in which the formula holds with certain inputs.
    fn bad_state(&mut self, bad: Lit, frame: usize, budget: &Budget) -> Result<Option<(Cube, Vec<bool>)>, Interrupted> {
        let bad = self.known(bad);
        let mut assumptions = self.assume_frame(frame);
        assumptions.push(bad);
        if !self.solver.solve(&assumptions, budget)? {
            return Ok(None);
        }
        let model = self.model();
        let mut assumptions: Vec<Literal> = vec![!bad];
        assumptions.extend(&model.inputs);
        assumptions.extend(&model.state);
        let cube = self.core(&model.state, &assumptions, budget)?;
        Ok(Some((cube, self.input_values(&model))))
    }

    /// The state and the inputs that the solver has found.
    fn model(&self) -> Model {
        let found = |bits: &[Literal]| bits.iter().map(|bit| bit.negated_if(!self.solver.value(*bit))).collect();
        Model { state: found(&self.now), inputs: found(&self.inputs) }
    }

    fn input_values(&self, model: &Model) -> Vec<bool> {
        model.inputs.iter().zip(&self.inputs).map(|(literal, bit)| literal == bit).collect()
    }

    /// Of a state the bits that the assumptions contradict.
    fn core(&mut self, state: &[Literal], assumptions: &[Literal], budget: &Budget) -> Result<Cube, Interrupted> {
        let whole = |bit: usize| (bit as u32, state[bit] == self.now[bit]);
        if self.solver.solve(assumptions, budget)? {
            // It should not be possible; the whole state is right in any case.
            return Ok((0..state.len()).map(whole).collect());
        }
        Ok((0..state.len()).filter(|bit| self.solver.is_in_core(state[*bit])).map(whole).collect())
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
        let once = self.solver.new_variable();
        self.retired += 1;
        let mut assumptions = vec![once, self.step];
        if frame == 0 {
            // Initial states, given by the formula of the machine.
            assumptions.push(self.known_initial(budget)?);
        } else {
            assumptions.extend(self.assume_frame(frame));
        }
        if from_outside {
            let mut clause: Vec<Literal> = cube.iter().map(|(bit, value)| !self.literal(*bit, *value)).collect();
            clause.push(!once);
            self.solver.add(&clause);
        }
        let after: Vec<Literal> = cube.iter().map(|(bit, value)| self.next[*bit as usize].negated_if(!value)).collect();
        assumptions.extend(&after);
        let is_possible = self.solver.solve(&assumptions, budget)?;
        if !is_possible {
            let part = cube.iter().zip(&after).filter(|(_, literal)| self.solver.is_in_core(**literal));
            let mut part: Cube = part.map(|(literal, _)| *literal).collect();
            self.solver.add(&[!once]);
            self.keep_out_of_initial(&mut part, cube, budget)?;
            return Ok(Step::Impossible(part));
        }
        let model = self.model();
        self.solver.add(&[!once]);
        Ok(Step::Possible(model))
    }

    /// The states from which the step of a model is possible and leads into the cube, with the same inputs, as far as the
    /// solver sees that; and the inputs.
    fn enlarge(&mut self, cube: &Cube, model: &Model, budget: &Budget) -> Result<(Cube, Vec<bool>), Interrupted> {
        let once = self.solver.new_variable();
        self.retired += 1;
        let mut clause: Vec<Literal> =
            cube.iter().map(|(bit, value)| self.next[*bit as usize].negated_if(*value)).collect();
        clause.extend([!self.step, !once]);
        self.solver.add(&clause);
        let mut assumptions = vec![once];
        assumptions.extend(&model.inputs);
        assumptions.extend(&model.state);
        let part = self.core(&model.state, &assumptions, budget)?;
        self.solver.add(&[!once]);
        Ok((part, self.input_values(model)))
    }

    /// The formula of the initial states.
    fn known_initial(&mut self, budget: &Budget) -> Result<Literal, Interrupted> {
        let Question { machine, clauses, solver, .. } = self;
        clauses.literal(&machine.dag, machine.initial, solver, budget)
    }

    /// Puts literals of the cube back into a part of it until no initial state is in the part.
    fn keep_out_of_initial(&mut self, part: &mut Cube, cube: &Cube, budget: &Budget) -> Result<(), Interrupted> {
        while let Some(state) = self.initial_in(part, budget)? {
            // One of the literals of the cube is false in that state.
            let Some(missing) = cube.iter().find(|(bit, value)| state[*bit as usize] != *value) else { return Ok(()) };
            part.push(*missing);
            part.sort_unstable();
        }
        Ok(())
    }
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
        for conjunct in dag.conjuncts(machine.initial) {
            let literal = clauses.literal(dag, conjunct, &mut solver, budget)?;
            solver.add(&[literal]);
        }
        for lit in bad {
            clauses.literal(dag, *lit, &mut solver, budget)?;
        }
        Ok(Initially { solver, clauses, now })
    }

    /// An initial state that satisfies the assumptions.
    fn find(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<Option<Vec<bool>>, Interrupted> {
        if !self.solver.solve(assumptions, budget)? {
            return Ok(None);
        }
        Ok(Some(self.now.iter().map(|bit| self.solver.value(*bit)).collect()))
    }
}
