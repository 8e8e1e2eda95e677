//! A unit of work: a machine, what is looked for in it, a search by bounded model checking and a proof, side by side.

use std::rc::Rc;
use std::time::Duration;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use super::options::{Liveness, Method};
use super::session::{NotBegun, ProductMachine, SafetyMachine, Session, whole_step};
use crate::bmc::{self, Bmc, Path};
use crate::certificate::{Definitions, Fact, NotVerified, Subject, Transition, verify};
use crate::ic3::{Cube, Ic3, Outcome};
use crate::induction::Induction;
use crate::lasso::{FoundLasso, LassoSearch};
use crate::machine::Machine;
use crate::partial::Schedule;
use crate::product::{Counting, Fair, counting, saving};
use crate::simplify::Simplified;
use crate::solver::{Effort, SolverKind};

/// The target that stands for what does not fit.
const OVERFLOW: usize = usize::MAX;

/// What a unit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bad states of goals.
    Safety,
    /// A property automaton of which a beginning decides.
    Beginning(usize),
    /// A fair lasso of a product.
    Lasso(usize),
}

/// Something that was found out.
pub enum Event {
    /// A run to a bad state of a goal.
    Reached(usize, Path, Shortest),
    /// A run that violates a property of runs.
    Lasso(usize, FoundLasso),
    /// A run to a state with a step that does not fit.
    Overflow(Path),
    /// What is proved, and how.
    Proved(Vec<usize>, Proof),
    /// Nothing yet.
    Nothing,
}

/// Whether a run is a shortest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortest {
    Yes,
    Unknown,
}

/// How something was proved.
pub enum Proof {
    /// There are no longer runs than these.
    AllRuns(usize),
    /// By an inductive invariant, which excludes these cubes.
    Invariant(Vec<Cube>),
    /// All that a fair run has to do again and again is done fewer times than this, by an inductive invariant of a machine
    /// that counts, which excludes these cubes.
    Counted(usize, Vec<Cube>),
    /// By k-induction, over paths without these cubes, which hold no reachable state.
    Induction(usize, Vec<Cube>),
}

/// A search for runs of growing length.
enum Search {
    Reach(Bmc),
    Lasso(LassoSearch),
}

enum Prover {
    Ic3(Box<Ic3>),
    Induction(Box<Induction>),
    Nobody,
}

/// A proof by k-liveness, for growing bounds.
struct Counter {
    /// What is counted in.
    base: Rc<Machine>,
    fair: Fair,
    overflow: Lit,
    bound: usize,
    /// The bound can be exceeded.
    is_exceeded: bool,
    ic3: Box<Ic3>,
}

/// The largest bound of a counter.
const LARGEST_BOUND: usize = 1 << 12;

/// The target of a counter.
const EXCEEDED: usize = 0;

impl Counter {
    fn new(
        base: &Rc<Machine>,
        fair: &Fair,
        overflow: Lit,
        bound: usize,
        budget: &Budget,
    ) -> Result<Counter, Interrupted> {
        let Counting { machine, exceeded } = counting(base, fair, bound);
        let mut targets = vec![(OVERFLOW, overflow), (EXCEEDED, exceeded)];
        targets.retain(|(_, bad)| *bad != Lit::FALSE);
        let mut ic3 = Ic3::new(&Rc::new(machine), targets, budget)?;
        ic3.require(OVERFLOW);
        Ok(Counter {
            base: Rc::clone(base),
            fair: fair.clone(),
            overflow,
            bound,
            is_exceeded: false,
            ic3: Box::new(ic3),
        })
    }

    /// Goes on with the proof. If the bound can be exceeded, a larger one is next.
    fn prove(&mut self, numbers: &[usize], slice: &Budget) -> Result<Event, Interrupted> {
        loop {
            if self.is_exceeded && self.bound >= LARGEST_BOUND {
                return Ok(Event::Nothing);
            }
            if self.is_exceeded {
                *self = Counter::new(&self.base, &self.fair, self.overflow, 2 * self.bound, slice)?;
            }
            match self.ic3.run(slice)? {
                Outcome::Violated(OVERFLOW, path) => return Ok(Event::Overflow(path)),
                Outcome::Violated(..) => self.is_exceeded = true,
                Outcome::Proved(_, excluded) => {
                    return Ok(Event::Proved(numbers.to_vec(), Proof::Counted(self.bound, excluded)));
                }
            }
        }
    }

    fn verify(&self, bound: usize, excluded: &[Cube], budget: &Budget) -> Result<(), NotVerified> {
        let Counting { machine, exceeded } = counting(&self.base, &self.fair, bound);
        let (transitions, bad) = (whole_step(&machine), [exceeded, self.overflow]);
        let Machine { dag, state, initial, .. } = &machine;
        let subject = Subject { dag, state, initial: *initial, transitions: &transitions, bad: &bad };
        verify(&subject, excluded, &[], budget)
    }
}

/// How a unit works.
#[derive(Clone, Copy, Debug)]
pub struct Methods {
    pub method: Method,
    pub liveness: Liveness,
    /// What looks for runs.
    pub solver: SolverKind,
}

/// A unit of work.
pub struct Unit {
    pub kind: Kind,
    /// The numbers of what it may answer.
    pub numbers: Vec<usize>,
    search: Option<Search>,
    prover: Prover,
    /// For properties of infinite runs: a proof by counting.
    counter: Option<Counter>,
    /// Beside IC3: induction over short paths.
    induction: Option<Box<Induction>>,
    /// The machine in which it is proved, its bad states by target, and its moves.
    proved_in: Rc<Machine>,
    targets: Vec<(usize, Lit)>,
    transitions: Vec<Transition>,
    overflow: Lit,
    /// The smaller machine in which runs and proofs are found, if there is one.
    simplified: Option<Simplified>,
    /// What was proved before, and verified.
    settled: Vec<Fact>,
    /// The properties among these that another engine has proved.
    assumptions: Vec<String>,
    /// In the machine in which it is proved: the input that saves a state.
    save: Option<usize>,
    /// Runs of the depth of the search were looked at.
    examined: bool,
}

impl Unit {
    /// For goals, whose numbers are given.
    pub fn safety(
        session: &Session<'_>,
        numbers: Vec<usize>,
        made: SafetyMachine,
        since: usize,
        methods: Methods,
        for_correspondence: Duration,
        budget: &Budget,
    ) -> Result<Unit, NotBegun> {
        let SafetyMachine { machine, schedule, bad, overflow } = made;
        let targets: Vec<(usize, Lit)> = numbers.iter().copied().zip(bad.iter().copied()).collect();
        let simplified = match session.requirements() {
            Some(requirements) => Some(Simplified::of(&machine, requirements, &bad, for_correspondence, budget)?),
            None => None,
        };
        let (working, smaller) = match &simplified {
            Some(simplified) => {
                let bad = simplified.bad.iter().copied();
                (Rc::clone(&simplified.machine), numbers.iter().copied().zip(bad).collect())
            }
            None => (Rc::clone(&machine), targets.clone()),
        };
        let search = reach(&working, schedule.as_ref(), &smaller, overflow, since, methods.solver, budget)?;
        let transitions = session.transitions();
        let unit =
            Unit::of(Kind::Safety, numbers, search, working, smaller, transitions, overflow, methods.method, budget)?;
        Ok(Unit { proved_in: machine, targets, simplified, ..unit })
    }

    /// Its machine may be made smaller if signals that correspond are looked for longer.
    pub fn may_be_smaller(&self) -> bool {
        self.simplified.as_ref().is_some_and(|simplified| simplified.is_unfinished)
    }

    /// Looks for signals that correspond for a longer time, and goes on in the smaller machine if there are some.
    pub fn make_smaller(
        &mut self,
        session: &Session<'_>,
        methods: Methods,
        for_correspondence: Duration,
        budget: &Budget,
    ) -> Result<(), NotBegun> {
        let (numbers, bad) = self.targets.iter().copied().unzip();
        let made = SafetyMachine { machine: Rc::clone(&self.proved_in), schedule: None, bad, overflow: self.overflow };
        let unit = Unit::safety(session, numbers, made, self.depth(), methods, for_correspondence, budget)?;
        if unit.may_be_smaller() {
            // Not again.
            self.simplified.iter_mut().for_each(|simplified| simplified.is_unfinished = false);
        } else {
            let settled = std::mem::take(&mut self.settled);
            let assumptions = std::mem::take(&mut self.assumptions);
            *self = Unit { settled, assumptions, ..unit };
        }
        Ok(())
    }

    /// For a property of runs. Where a beginning decides and every run goes on, it is reachability.
    pub fn linear(
        number: usize,
        made: ProductMachine,
        by_beginning: bool,
        methods: Methods,
        budget: &Budget,
    ) -> Result<Unit, NotBegun> {
        let Methods { method, liveness, .. } = methods;
        let ProductMachine { machine, schedule, fair, decided, overflow } = made;
        if by_beginning {
            let targets = vec![(number, decided)];
            let search = reach(&machine, schedule.as_ref(), &targets, overflow, 0, methods.solver, budget)?;
            let transitions = whole_step(&machine);
            let kind = Kind::Beginning(number);
            return Unit::of(kind, vec![number], search, machine, targets, transitions, overflow, method, budget);
        }
        let search = match schedule {
            Some(schedule) => {
                LassoSearch::scheduled(&(Rc::clone(&machine), schedule), &fair, overflow, methods.solver, budget)?
            }
            None => LassoSearch::new(&machine, &fair, overflow, methods.solver, budget)?,
        };
        let search = Search::Lasso(search);
        let counts = matches!(method, Method::Auto | Method::Ic3) && liveness != Liveness::LivenessToSafety;
        let counter = match counts {
            true => Some(Counter::new(&machine, &fair, overflow, 1, budget)?),
            false => None,
        };
        let saving = saving(&machine, &fair);
        let (targets, transitions) = (vec![(number, saving.closed)], whole_step(&saving.machine));
        let machine = Rc::new(saving.machine);
        let kind = Kind::Lasso(number);
        let mut unit = Unit::of(kind, vec![number], search, machine, targets, transitions, overflow, method, budget)?;
        // Without bounded model checking nothing else finds runs.
        if liveness == Liveness::KLiveness && counts && unit.search.is_some() {
            unit.prover = Prover::Nobody;
        }
        Ok(Unit { save: Some(saving.save), counter, ..unit })
    }

    #[allow(clippy::too_many_arguments)]
    fn of(
        kind: Kind,
        numbers: Vec<usize>,
        search: Search,
        machine: Rc<Machine>,
        targets: Vec<(usize, Lit)>,
        transitions: Vec<Transition>,
        overflow: Lit,
        method: Method,
        budget: &Budget,
    ) -> Result<Unit, NotBegun> {
        let prover = match method {
            Method::Auto | Method::Ic3 => {
                let mut all = vec![(OVERFLOW, overflow)];
                all.extend(&targets);
                all.retain(|target| *target != (OVERFLOW, Lit::FALSE));
                let mut ic3 = Ic3::new(&machine, all, budget)?;
                ic3.require(OVERFLOW);
                Prover::Ic3(Box::new(ic3))
            }
            Method::Induction => {
                Prover::Induction(Box::new(Induction::new(&machine, targets.clone(), overflow, budget)?))
            }
            Method::Bmc | Method::Partial | Method::Steps | Method::Processes | Method::Commuting => Prover::Nobody,
        };
        let by_induction = method == Method::Auto && matches!(search, Search::Reach(_));
        let induction = match by_induction {
            true => Some(Box::new(Induction::new(&machine, targets.clone(), overflow, budget)?)),
            false => None,
        };
        let search = (method != Method::Ic3).then_some(search);
        Ok(Unit {
            kind,
            numbers,
            search,
            prover,
            counter: None,
            induction,
            proved_in: machine,
            targets,
            transitions,
            overflow,
            simplified: None,
            settled: Vec::new(),
            assumptions: Vec::new(),
            save: None,
            examined: false,
        })
    }

    /// It is not looked for any more.
    pub fn leave(&mut self, number: usize) {
        self.numbers.retain(|other| *other != number);
        self.targets.retain(|(other, _)| *other != number);
        if let Some(Search::Reach(bmc)) = &mut self.search {
            bmc.leave(number);
        }
        if let Some(induction) = &mut self.induction {
            induction.leave(number);
        }
        match &mut self.prover {
            Prover::Ic3(ic3) => ic3.leave(number),
            Prover::Induction(induction) => induction.leave(number),
            Prover::Nobody => {}
        }
    }

    /// Runs of fewer steps were all looked at.
    pub fn depth(&self) -> usize {
        match &self.search {
            Some(Search::Reach(bmc)) => bmc.depth(),
            Some(Search::Lasso(lasso)) => lasso.depth(),
            None => 0,
        }
    }

    /// Runs of as many steps as there are now were looked at.
    pub fn is_examined(&self) -> bool {
        self.examined
    }

    /// What the solvers have done.
    pub fn effort(&self) -> Effort {
        let search = match &self.search {
            Some(Search::Reach(bmc)) => bmc.effort(),
            Some(Search::Lasso(lasso)) => lasso.effort(),
            None => Effort::default(),
        };
        let prover = match &self.prover {
            Prover::Ic3(ic3) => ic3.effort(),
            Prover::Induction(induction) => induction.effort(),
            Prover::Nobody => Effort::default(),
        };
        let beside = self.induction.as_ref().map_or(Effort::default(), |induction| induction.effort());
        let all = [search, prover, beside];
        Effort {
            clauses: all.iter().map(|one| one.clauses).sum(),
            conflicts: all.iter().map(|one| one.conflicts).sum(),
        }
    }

    /// The frames of a proof and the clauses in them.
    pub fn lemmas(&self) -> (usize, usize) {
        match &self.prover {
            Prover::Ic3(ic3) => (ic3.depth(), ic3.lemmas()),
            Prover::Induction(induction) => (induction.depth(), 0),
            Prover::Nobody => (0, 0),
        }
    }

    /// Looks at runs of the next length. `slice` may end a question, which is asked again then.
    pub fn search(&mut self, slice: &Budget, budget: &Budget) -> Result<Vec<Event>, Interrupted> {
        let Some(search) = &mut self.search else { return Ok(vec![Event::Nothing]) };
        if self.examined {
            self.examined = false;
            match search {
                Search::Reach(bmc) => {
                    bmc.limit(budget);
                    bmc.step()?;
                }
                Search::Lasso(lasso) => {
                    lasso.limit(budget);
                    lasso.step()?;
                }
            }
        }
        let mut events = Vec::new();
        match search {
            Search::Reach(bmc) => {
                bmc.limit(slice);
                let bmc::Found { violated, overflow, is_complete } = bmc.examine()?;
                for (number, path) in violated {
                    let path = restored(self.simplified.as_ref(), path);
                    events.push(Event::Reached(number, path, Shortest::Yes));
                }
                events.extend(overflow.map(Event::Overflow));
                let proved = || Event::Proved(self.numbers.clone(), Proof::AllRuns(bmc.depth()));
                events.extend(is_complete.then(proved));
            }
            Search::Lasso(search) => {
                search.limit(slice);
                let found = search.examine()?;
                if let Kind::Lasso(number) = self.kind {
                    events.extend(found.lasso.map(|lasso| Event::Lasso(number, lasso)));
                }
                events.extend(found.overflow.map(Event::Overflow));
                let proved = || Event::Proved(self.numbers.clone(), Proof::AllRuns(search.depth()));
                events.extend(found.is_complete.then(proved));
            }
        }
        self.examined = true;
        Ok(events)
    }

    /// Goes on with induction over paths that are as long as runs that were looked at, for a slice of time.
    pub fn induct(&mut self, slice: &Budget) -> Result<Event, Interrupted> {
        let depth = self.depth();
        let (Some(induction), Some(longest)) =
            (&mut self.induction, if self.examined { Some(depth) } else { depth.checked_sub(1) })
        else {
            return Ok(Event::Nothing);
        };
        if let Prover::Ic3(ic3) = &self.prover {
            let new: Vec<Cube> = ic3.unreachable(induction.excluded().len()).cloned().collect();
            induction.exclude(new)?;
        }
        let Some(depth) = induction.prove(longest, slice)? else { return Ok(Event::Nothing) };
        let excluded = restored_cubes(self.simplified.as_ref(), induction.excluded().to_vec());
        Ok(Event::Proved(self.numbers.clone(), Proof::Induction(depth, excluded)))
    }

    /// Goes on with the proof by counting, for a slice of time.
    pub fn count(&mut self, slice: &Budget) -> Result<Event, Interrupted> {
        match &mut self.counter {
            Some(counter) => counter.prove(&self.numbers, slice),
            None => Ok(Event::Nothing),
        }
    }

    /// Goes on with the proof, for a slice of time.
    pub fn prove(&mut self, slice: &Budget) -> Result<Event, Interrupted> {
        match &mut self.prover {
            Prover::Nobody => Ok(Event::Nothing),
            Prover::Induction(induction) => {
                let depth = match &self.search {
                    Some(Search::Reach(bmc)) => bmc.depth(),
                    Some(Search::Lasso(lasso)) => lasso.depth(),
                    None => 0,
                };
                if !self.examined {
                    return Ok(Event::Nothing);
                }
                while induction.depth() < depth {
                    induction.step()?;
                }
                Ok(match induction.is_inductive(slice)? {
                    true => Event::Proved(self.numbers.clone(), Proof::Induction(depth, Vec::new())),
                    false => Event::Nothing,
                })
            }
            Prover::Ic3(ic3) => Ok(match ic3.run(slice)? {
                Outcome::Violated(OVERFLOW, path) => Event::Overflow(path),
                Outcome::Violated(number, path) => match (self.kind, self.save) {
                    (Kind::Lasso(number), Some(save)) => Event::Lasso(number, unsaved(path, save)),
                    _ => Event::Reached(number, restored(self.simplified.as_ref(), path), Shortest::Unknown),
                },
                Outcome::Proved(proved, excluded) => {
                    let proved = proved.into_iter().filter(|number| *number != OVERFLOW).collect();
                    let excluded = restored_cubes(self.simplified.as_ref(), excluded);
                    Event::Proved(proved, Proof::Invariant(excluded))
                }
            }),
        }
    }

    /// What is known of all reachable states.
    pub fn facts(&self) -> &[Fact] {
        self.simplified.as_ref().map_or(&[], |simplified| &simplified.facts)
    }

    /// Facts in terms of a certificate.
    pub fn definitions(&self) -> Definitions {
        Definitions::of(&self.proved_in, self.facts())
    }

    /// Ends induction beside other proofs. False if there is none, nor a smaller machine.
    pub fn end_induction(&mut self) -> bool {
        self.induction.take().is_some() || self.simplified.is_some()
    }

    /// Another engine has proved it: it is assumed in proofs by induction, which say so.
    pub fn assume(&mut self, number: usize, property: String) {
        if self.kind == Kind::Safety && self.numbers.contains(&number) {
            self.assumptions.push(property);
            self.settle(number);
        }
        self.leave(number);
    }

    /// What proofs by induction assume.
    pub fn assumptions(&self) -> &[String] {
        &self.assumptions
    }

    /// It is proved, and not looked for any more. In paths of induction it goes on to be assumed.
    pub fn settle(&mut self, number: usize) {
        if let Some(induction) = &mut self.induction {
            induction.settle(number);
        }
        if let Prover::Induction(induction) = &mut self.prover {
            induction.settle(number);
        }
        self.settled.extend(self.targets_of(&[number]).into_iter().map(|(_, bad)| (bad, Lit::FALSE)));
        self.leave(number);
    }

    fn targets_of(&self, numbers: &[usize]) -> Vec<(usize, Lit)> {
        self.targets.iter().filter(|(number, _)| numbers.contains(number)).copied().collect()
    }

    /// Verifies a proof of some of its targets by means of its own.
    pub fn verify(&self, numbers: &[usize], proof: &Proof, budget: &Budget) -> Result<(), NotVerified> {
        let targets = self.targets_of(numbers);
        match proof {
            Proof::Invariant(excluded) => {
                let mut bad: Vec<Lit> = targets.iter().map(|(_, bad)| *bad).collect();
                bad.push(self.overflow);
                verify(&self.subject(&bad), excluded, self.facts(), budget)
            }
            Proof::Counted(bound, excluded) => match &self.counter {
                Some(counter) => counter.verify(*bound, excluded, budget),
                None => Err(NotVerified::NotSafe),
            },
            Proof::Induction(depth, excluded) => self.verify_induction(targets, *depth, excluded, budget),
            Proof::AllRuns(depth) => self.verify_runs(targets, *depth, budget),
        }
    }

    fn subject<'a>(&'a self, bad: &'a [Lit]) -> Subject<'a> {
        Subject {
            dag: &self.proved_in.dag,
            state: &self.proved_in.state,
            initial: self.proved_in.initial,
            transitions: &self.transitions,
            bad,
        }
    }

    /// Asks all questions of k-induction again, to new solvers, after what is known of reachable states is verified.
    fn verify_induction(
        &self,
        targets: Vec<(usize, Lit)>,
        depth: usize,
        excluded: &[Cube],
        budget: &Budget,
    ) -> Result<(), NotVerified> {
        let facts = self.facts();
        if !facts.is_empty() || !excluded.is_empty() {
            verify(&self.subject(&[]), excluded, facts, budget)?;
        }
        let mut runs = Bmc::new(&self.proved_in, targets.clone(), self.overflow, 0, SolverKind::Batsat, budget)?;
        let mut induction = Induction::new(&self.proved_in, targets, self.overflow, budget)?;
        induction.assume(facts)?;
        induction.assume(&self.settled)?;
        induction.exclude(excluded.to_vec())?;
        for length in 0..=depth {
            let found = runs.examine()?;
            if !found.violated.is_empty() || found.overflow.is_some() {
                return Err(NotVerified::NotSafe);
            }
            if length < depth {
                runs.step()?;
                induction.step()?;
            }
        }
        if induction.is_inductive(budget)? { Ok(()) } else { Err(NotVerified::NotInductive(depth)) }
    }

    /// Asks again for all runs, in the machine of the proof.
    fn verify_runs(&self, targets: Vec<(usize, Lit)>, depth: usize, budget: &Budget) -> Result<(), NotVerified> {
        let mut runs = Bmc::new(&self.proved_in, targets, self.overflow, 0, SolverKind::Batsat, budget)?;
        for _ in 0..=depth {
            let found = runs.examine()?;
            if !found.violated.is_empty() || found.overflow.is_some() {
                return Err(NotVerified::NotSafe);
            }
            if found.is_complete {
                return Ok(());
            }
            runs.step()?;
        }
        Err(NotVerified::NotInductive(depth))
    }
}

/// A search for bad states, in a machine that may follow a schedule.
fn reach(
    machine: &Rc<Machine>,
    schedule: Option<&Rc<Schedule>>,
    targets: &[(usize, Lit)],
    overflow: Lit,
    since: usize,
    solver: SolverKind,
    budget: &Budget,
) -> Result<Search, Interrupted> {
    Ok(Search::Reach(match schedule {
        Some(schedule) => {
            let scheduled = (Rc::clone(machine), Rc::clone(schedule));
            Bmc::scheduled(&scheduled, targets.to_vec(), overflow, solver, budget)?
        }
        None => Bmc::new(machine, targets.to_vec(), overflow, since, solver, budget)?,
    }))
}

fn restored_cubes(simplified: Option<&Simplified>, cubes: Vec<Cube>) -> Vec<Cube> {
    match simplified {
        Some(simplified) => simplified.restore_cubes(cubes),
        None => cubes,
    }
}

fn restored(simplified: Option<&Simplified>, path: Path) -> Path {
    match simplified {
        Some(simplified) => simplified.restore(path),
        None => path,
    }
}

/// A run of the machine that saves a state, as a lasso.
fn unsaved(path: Path, save: usize) -> FoundLasso {
    let prefix = path.inputs.iter().position(|inputs| inputs[save]).unwrap_or(0);
    FoundLasso { path, prefix }
}
