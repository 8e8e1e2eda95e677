//! A sequential program as Boolean formulas, location by location: what its steps read and write are the bits of its
//! variables only. Where control is, is known at every location, so that no bits are needed for it.

use ample_boolean::{Bounds, Dag, Encoding, Lit, NotEncoded, Substitution, Unsupported};
use ample_budget::Budget;
use ample_model::{Block, Communication, Coupling, LocationId, Move, ProcessType, Role, System};

use super::closure::{Closure, Condition};

/// One process that is there from the beginning, and nobody else.
#[derive(Debug)]
pub struct Program {
    /// The system as bits.
    pub encoding: Encoding,
    /// The steps by location.
    pub locations: Vec<Location>,
    /// How the source nests its statements.
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

/// The process type of a program that is sequential and has a block structure; or the sentence that says why a system is
/// none.
pub fn sequential(system: &System) -> Result<(&ProcessType, &Block), String> {
    let process = alone(system)?;
    let structure = process.structure.as_ref().ok_or_else(|| {
        "modular checking follows the nesting of statements in the source, and the model does not come with one; \
         `--engine symbolic` needs none"
            .to_owned()
    })?;
    Ok((process, structure))
}

/// The only process of a system without communication.
fn alone(system: &System) -> Result<&ProcessType, String> {
    let not = |why: &str| Err(format!("modular checking is for single sequential programs: {why}"));
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
    let talks = |communication: &Option<Communication>| communication.is_some();
    if !system.channels.is_empty() || process.edges.iter().any(|edge| talks(&edge.communication)) {
        return not("there are channels");
    }
    if process.edges.iter().any(|edge| edge.keeps_control) || process.provided.is_some() {
        return not("there are atomic sequences or conditions on moving at all");
    }
    Ok(process)
}

impl Program {
    /// The program of a system, within a budget.
    pub fn of(system: &System, budget: &Budget) -> Result<Program, NotEncoded> {
        let (process, structure) = sequential(system).map_err(Unsupported)?;
        let mut encoding = Encoding::within(system, &Bounds::declared(system), budget)?;
        let mut substitutions = Vec::new();
        let mut is_location = vec![false; encoding.bits as usize];
        for number in 0..process.locations.len() {
            let mut substitution = Substitution::default();
            let bits = encoding.location_bits(0, LocationId::from(number));
            for (bit, value) in bits.ok_or_else(|| Unsupported("a location has no number".into()))? {
                is_location[bit as usize] = true;
                substitution.insert(bit, if value { Lit::TRUE } else { Lit::FALSE });
            }
            substitutions.push(substitution);
        }
        let is_variable = |bit: u32| !is_location[bit as usize];
        let locations = locations(process, &mut encoding, &mut substitutions, &is_variable, budget)?;
        let begin = process.initial.index();
        let valuations = substitutions[begin].apply(&mut encoding.dag, encoding.initial);
        let structure = structure.clone();
        Ok(Program { encoding, locations, structure, initial: process.initial, valuations, substitutions })
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
    let mut locations = vec![none; process.locations.len()];
    // A step that is never possible has no partition, but it is one of the outcomes of a condition all the same.
    let mut place = vec![0; process.edges.len()];
    for (location, steps) in process.locations.iter().zip(&mut locations) {
        for edge in &location.edges {
            place[edge.index()] = steps.steps.len();
            let to = process.edges[edge.index()].to;
            steps.steps.push(Step { to, guard: Lit::FALSE, updates: Vec::new() });
        }
    }
    for number in 0..encoding.partitions.len() {
        budget.check()?;
        let partition = encoding.partitions[number].clone();
        let Move::Process { edge: number, .. } = partition.taken else { continue };
        let edge = &process.edges[number.index()];
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
        let updates = updates.map(|(bit, lit)| (*bit, here.apply(dag, *lit))).collect();
        location.steps[place[number.index()]] = Step { to: edge.to, guard, updates };
    }
    Ok(locations)
}
