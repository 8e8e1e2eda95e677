//! A sequential program as Boolean formulas, location by location: what its steps read and write are the bits of its
//! variables only. Where control is, is known at every location, so that no bits are needed for it.

use ample_boolean::{Bounds, Dag, Encoding, Lit, NotEncoded, Substitution, Unsupported};
use ample_budget::Budget;
use ample_model::{Action, Block, Coupling, Edge, Instruction, LocationId, Move, ProcessType, Role, System};

use super::closure::{Closure, Condition};
use super::{Failure, recover};
use crate::build::Builder;

/// One process that is there from the beginning, and nobody else.
#[derive(Debug)]
pub struct Program {
    /// The system as bits.
    pub encoding: Encoding,
    /// The steps by location. If the process may end, there is one more location than it has: where it is no more.
    pub locations: Vec<Location>,
    /// How the source nests its statements; where it does not say so, what its control flow shows of it.
    pub structure: Block,
    /// Where it begins.
    pub initial: LocationId,
    /// The valuations that it begins with.
    pub valuations: Lit,
    substitutions: Vec<Substitution>,
}

/// The steps that leave a location.
#[derive(Clone, Debug)]
pub struct Location {
    /// They, in the order of the source.
    pub steps: Vec<Step>,
    /// Where one of them is a fault without a successor.
    pub fault: Lit,
    /// Where one of them breaks an assertion, or is a fault.
    pub violation: Lit,
    /// Where the outcome of one does not fit into the encoding.
    pub overflow: Lit,
}

/// A step from one location to another: a function on valuations.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where it leads.
    pub to: LocationId,
    /// The valuations in which it can be taken.
    pub guard: Lit,
    /// The bits that may change, with their next values.
    pub updates: Vec<(u32, Lit)>,
}

/// The only process of a system without communication; or the sentence that says why a system is no sequential program.
pub fn sequential(system: &System) -> Result<&ProcessType, String> {
    let not = |why: &str| {
        Err(format!("modular checking is for single sequential programs: {why}; `--engine symbolic` takes the model"))
    };
    if system.coupling != Coupling::Interleaving {
        return not("the system is synchronous");
    }
    if !system.features().is_empty() || system.monitor.is_some() || system.uses_last || system.uses_priorities {
        return not("the model has what only other engines know");
    }
    if system.processes.iter().any(|process| process.role == Role::Claim) {
        return not("there is a never claim");
    }
    let [instance] = system.start.as_slice() else {
        return not(&format!("there are {} processes", system.start.len()));
    };
    let process = system.process(instance.process);
    if !system.channels.is_empty() || process.edges.iter().any(|edge| edge.communication.is_some()) {
        return not("there are channels");
    }
    if process.edges.iter().any(starts_processes) {
        return not("it starts other processes");
    }
    if process.edges.iter().any(|edge| edge.keeps_control) || process.provided.is_some() {
        return not("there are atomic sequences or conditions on moving at all");
    }
    if process.edges.iter().any(|edge| edge.action.is_some()) {
        return not("there are actions that are taken together");
    }
    Ok(process)
}

fn starts_processes(edge: &Edge) -> bool {
    let is_start = |i: &Instruction| {
        matches!(i, Instruction::Do(Action::Spawn { .. }) | Instruction::Try(Action::Spawn { .. }, _))
    };
    edge.effect.iter().any(is_start)
}

impl Program {
    /// The program of a system, within a budget.
    pub fn of(system: &System, budget: &Budget) -> Result<Program, NotEncoded> {
        let process = sequential(system).map_err(Unsupported)?;
        let ends = process.edges.iter().any(Edge::ends_process);
        let bounds = Bounds::declared(system);
        let bounds = if ends { bounds.with_ending_processes() } else { bounds };
        let mut encoding = Encoding::within(system, &bounds, budget)?;
        let mut substitutions = Vec::new();
        let mut is_location = vec![false; encoding.bits as usize];
        for number in 0..process.locations.len() + usize::from(ends) {
            let mut substitution = Substitution::default();
            let is_alive = number < process.locations.len();
            // What is left of a process that has ended is as at the first location.
            let at = encoding.location_bits(0, LocationId::from(if is_alive { number } else { 0 }));
            let (Some(at), Some(count)) = (at, encoding.count_bits(usize::from(is_alive))) else {
                return Err(Unsupported("a location has no number".into()).into());
            };
            for (bit, value) in at.into_iter().chain(count) {
                is_location[bit as usize] = true;
                substitution.insert(bit, if value { Lit::TRUE } else { Lit::FALSE });
            }
            substitutions.push(substitution);
        }
        let is_variable = |bit: u32| !is_location[bit as usize];
        let locations = locations(process, &mut encoding, &mut substitutions, &is_variable, budget)?;
        let begin = process.initial.index();
        let valuations = substitutions[begin].apply(&mut encoding.dag, encoding.initial);
        let structure = match &process.structure {
            Some(structure) if !ends => structure.clone(),
            _ => {
                let targets = |location: &Location| location.steps.iter().map(|step| step.to.index()).collect();
                recover::structure(&locations.iter().map(targets).collect::<Vec<_>>(), begin)
            }
        };
        Ok(Program { encoding, locations, structure, initial: process.initial, valuations, substitutions })
    }

    /// The values of a location must fit into the encoding, whatever they are.
    pub(super) fn refuse_overflow(&self, location: &Location, builder: &mut Builder<'_>) -> Result<(), Failure> {
        if builder.diagram(location.overflow)?.is_false() {
            return Ok(());
        }
        let why = "a value does not fit into the declared type of its variable; `--engine symbolic` finds bounds";
        Err(Failure::Unsupported(why.into()))
    }

    /// The formulas.
    pub fn dag(&self) -> &Dag {
        &self.encoding.dag
    }

    /// The conditions of a formula, by location.
    pub fn conditions(
        &mut self,
        system: &System,
        closure: &Closure,
        budget: &Budget,
    ) -> Result<Vec<Vec<Lit>>, NotEncoded> {
        let mut all = vec![Vec::new(); self.locations.len()];
        for condition in &closure.conditions {
            let lit = match condition {
                Condition::Expr(expr) | Condition::Fails(expr) => {
                    let (value, fault) = self.encoding.condition_within(system, expr)?;
                    let holds = self.encoding.dag.and(value, !fault);
                    if matches!(condition, Condition::Fails(_)) { !holds } else { holds }
                }
                Condition::Deadlock => self.encoding.stuck,
                Condition::Violation => Lit::FALSE,
            };
            for (number, conditions) in all.iter_mut().enumerate() {
                budget.check()?;
                conditions.push(match condition {
                    Condition::Violation => self.locations[number].violation,
                    _ => self.substitutions[number].apply(&mut self.encoding.dag, lit),
                });
            }
        }
        Ok(all)
    }
}

fn locations(
    process: &ProcessType,
    encoding: &mut Encoding,
    substitutions: &mut [Substitution],
    is_variable: &dyn Fn(u32) -> bool,
    budget: &Budget,
) -> Result<Vec<Location>, NotEncoded> {
    let none = Location { steps: Vec::new(), fault: Lit::FALSE, violation: Lit::FALSE, overflow: Lit::FALSE };
    let mut locations = vec![none; substitutions.len()];
    let count = encoding.count_bits(1).and_then(|bits| bits.first().copied());
    for number in 0..encoding.partitions.len() {
        budget.check()?;
        let partition = encoding.partitions[number].clone();
        let Move::Process { edge, .. } = partition.taken else { continue };
        let edge = &process.edges[edge.index()];
        let (location, here) = (&mut locations[edge.from.index()], &mut substitutions[edge.from.index()]);
        let dag = &mut encoding.dag;
        let mut joined = |sum: Lit, lit: Lit| {
            let lit = here.apply(dag, lit);
            dag.or(sum, lit)
        };
        location.fault = joined(location.fault, partition.fault);
        location.violation = joined(location.violation, partition.violation);
        location.overflow = joined(location.overflow, partition.overflow);
        let guard = here.apply(dag, partition.guard);
        let updates = partition.updates.iter().filter(|(bit, _)| is_variable(*bit));
        let updates: Vec<(u32, Lit)> = updates.map(|(bit, lit)| (*bit, here.apply(dag, *lit))).collect();
        // Whether the process is there afterwards.
        let is_there = partition.updates.iter().find(|(bit, _)| count.is_some_and(|(count, _)| count == *bit));
        let is_there = is_there.map_or(Lit::TRUE, |(_, lit)| here.apply(dag, *lit));
        let goes_on = dag.and(guard, is_there);
        let ends = dag.and(guard, !is_there);
        if goes_on != Lit::FALSE {
            location.steps.push(Step { to: edge.to, guard: goes_on, updates: updates.clone() });
        }
        if ends != Lit::FALSE {
            location.steps.push(Step { to: LocationId::from(process.locations.len()), guard: ends, updates });
        }
    }
    Ok(locations)
}
