//! A system as a sequential circuit with its properties, for tools that check circuits.
//!
//! Runs that end repeat their last state, as they do for temporal properties; so every state has a step. Properties of
//! safety become bad states, and formulas keep their operators, over conditions on bits.

use std::collections::HashMap;

use ample_boolean::Lit;
use ample_budget::Budget;
use ample_logic::Formula;
use ample_model::{Property, Question, Reason, System, Temporal};

use crate::engine::session::{Goal, NotBegun, Session};
use crate::machine::Machine;

/// The name of the bad states in which a step does not fit into the bits.
pub const OVERFLOW: &str = "overflow";

/// A formula over conditions on bits.
#[derive(Clone, Debug)]
pub struct Specification {
    /// The property.
    pub name: String,
    /// Of branching time; otherwise of linear time.
    pub is_branching: bool,
    /// The formula.
    pub formula: Formula,
    /// The conditions that its atoms stand for.
    pub atoms: Vec<Lit>,
}

/// A system as a circuit.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The circuit.
    pub machine: Machine,
    /// The names of the state bits.
    pub names: Vec<String>,
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// Bad states, with names: the properties of safety. In the last of them, [`OVERFLOW`], values do not fit into their
    /// bits; it is left out where all values do.
    pub bad: Vec<(String, Lit)>,
    /// Temporal properties.
    pub specifications: Vec<Specification>,
    /// For temporal properties only runs count on which each of these holds again and again.
    pub justice: Vec<Lit>,
    /// For properties of linear time only runs count on which the second holds again and again if the first does.
    pub compassion: Vec<(Lit, Lit)>,
    /// Properties that are not there, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

/// The circuit that a system is, with these properties.
///
/// ```
/// use ample_bounded::export::exported;
/// use ample_model::{Budget, Property, System};
///
/// let circuit = exported(&System::new("empty", "by hand"), &[Property::deadlock()], &Budget::unlimited()).unwrap();
/// assert_eq!(circuit.bad[0].0, "deadlock");
/// ```
pub fn exported(system: &System, properties: &[Property], budget: &Budget) -> Result<Exported, Reason> {
    let mut session = Session::begin(system, budget)?;
    Ok(session.exported(properties, budget)?)
}

const NO_CLAIMS: &str = "never claims, automata, acceptance and progress labels, and bounds are not translated";
const INVISIBLE: &str = "temporal properties of systems with atomic sequences are not translated";
const MAY_END: &str = "a state of the system may have no next one, and then a run repeats it, which is not translated";

impl Session<'_> {
    fn exported(&mut self, properties: &[Property], budget: &Budget) -> Result<Exported, NotBegun> {
        let mut machine = self.stuttering();
        machine.dag.set_budget(budget);
        let (mut bad, mut specifications, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for property in properties {
            let why_not = self.why_not(&property.question);
            match (&property.question, Goal::of(&property.question)) {
                _ if why_not.is_some() => left_out.extend(why_not.map(|why| (property.id(), why))),
                (_, Some(goal)) => bad.push((property.id(), self.bad(&mut machine, &goal)?)),
                (Question::Ltl(temporal) | Question::Ctl(temporal), None) => {
                    let Temporal { formula, atoms } = temporal;
                    let is_branching = matches!(property.question, Question::Ctl(_));
                    let atoms = atoms.iter().map(|atom| self.condition(&mut machine, atom));
                    let atoms = atoms.collect::<Result<_, _>>()?;
                    let (name, formula) = (property.id(), formula.clone());
                    specifications.push(Specification { name, is_branching, formula, atoms });
                }
                _ => left_out.push((property.id(), NO_CLAIMS)),
            }
        }
        let overflow = self.overflow();
        if !machine.dag.is_plainly_false(overflow) {
            bad.push((OVERFLOW.into(), overflow));
        }
        let (mut justice, mut compassion) = (Vec::new(), Vec::new());
        if let Some(synchronous) = self.system.synchronous() {
            for condition in &synchronous.justice {
                justice.push(self.condition(&mut machine, condition)?);
            }
            for (first, second) in &synchronous.compassion {
                compassion.push((self.condition(&mut machine, first)?, self.condition(&mut machine, second)?));
            }
        }
        self.finished(&machine)?;
        // Beyond the cells there is a bit of runs that a fault has ended.
        let (names, inputs) = (self.names(&machine.state, "stopped"), self.names(&machine.inputs, "choice"));
        Ok(Exported { machine, names, inputs, bad, specifications, justice, compassion, left_out })
    }

    fn why_not(&self, question: &Question) -> Option<&'static str> {
        match question {
            Question::Deadlock if self.system.synchronous().is_some() => self.refusal(question),
            Question::Ltl(_) | Question::Ctl(_) if !self.all_visible() => Some(INVISIBLE),
            Question::Ltl(_) | Question::Ctl(_) => {
                let parts = self.system.synchronous()?;
                (!parts.infinite_runs && self.refusal(&Question::Deadlock).is_some()).then_some(MAY_END)
            }
            _ => None,
        }
    }

    /// Of each of these bits: the cell, and which of its bits it is if it has several.
    fn names(&self, bits: &[u32], otherwise: &str) -> Vec<String> {
        let mut known = HashMap::new();
        for (cell, first, count) in self.all_cells() {
            for bit in 0..count {
                let name = if count == 1 { cell.clone() } else { format!("{cell}.{bit}") };
                if let Some(next) = self.next_bit(first + bit) {
                    known.insert(next, format!("next {name}"));
                }
                known.insert(first + bit, name);
            }
        }
        let name =
            |(number, bit): (usize, &u32)| known.get(bit).cloned().unwrap_or_else(|| format!("{otherwise} {number}"));
        bits.iter().enumerate().map(name).collect()
    }
}
