//! Certificates of circuits as witness circuits (E. Yu, A. Biere, K. Heljanko, *Progress in Certifying Hardware Model
//! Checking Results*, CAV 2021; E. Yu, N. Froleyks, A. Biere, K. Heljanko, *Stratified Certification for k-Induction*, FMCAD
//! 2022), the format of the hardware model checking competition.
//!
//! A witness circuit simulates the circuit that was checked, and has a property that is inductive and implies the one that was
//! proved. Here it has the same inputs, latches, gates and constraints, and its bad states are those outside of the inductive
//! invariant. The symbol table says which input or latch of the circuit each of its own stands for: `= 4`. What is written is
//! read again and [verified](verify) by five questions to a SAT solver.

use std::collections::HashMap;

use ample_boolean::{Dag, Lit};
use ample_bounded::clauses::Clauses;
use ample_bounded::solver::{Batsat, Solver};
use ample_budget::{Budget, Interrupted};
use ample_lang::export::aig::{Aig, Literal, Reset};
use ample_lang::export::aiger;
use ample_model::{Property, System};
use serde::Deserialize;
use thiserror::Error;

/// The letter that a name of the symbol table begins with.
const STANDS_FOR: &str = "= ";

/// Why there is no witness circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoWitness {
    /// The system is no circuit.
    #[error("{0}")]
    NoCircuit(String),
    /// The proof is not an inductive invariant of the circuit.
    #[error("the proof is no inductive invariant of the circuit, but of another kind: {0}")]
    NoInvariant(String),
    /// It speaks of something that the circuit does not have.
    #[error("the certificate speaks of a bit that the circuit does not have")]
    NoSuchBit,
    /// One of the five conditions does not hold.
    #[error("the witness circuit does not satisfy the condition '{0}'")]
    Wrong(&'static str),
    /// It could not be verified in time.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The parts of a certificate that are needed.
#[derive(Deserialize)]
struct Parts {
    kind: String,
    cells: Vec<(String, u32, u32)>,
    clauses: Vec<Vec<i64>>,
    #[serde(default)]
    gates: Vec<(i64, i64, i64)>,
    #[serde(default)]
    equal: Vec<(i64, i64)>,
}

/// The circuit with one property: its bad states.
pub fn model(system: &System, property: &Property, budget: &Budget) -> Result<Aig, NoWitness> {
    let mut alone = system.clone();
    alone.properties.clear();
    let aig = Aig::of(&alone, std::slice::from_ref(property), budget);
    let aig = aig.map_err(|why| NoWitness::NoCircuit(why.to_string()))?;
    match aig.bad.len() {
        1 if aig.initial.is_empty() && aig.steps.is_empty() => {
            Ok(Aig { outputs: Vec::new(), justice: Vec::new(), fairness: Vec::new(), ..aig })
        }
        _ => Err(NoWitness::NoCircuit("only an invariant of a circuit has a witness circuit".into())),
    }
}

/// The literals of the inputs and of the latches of a circuit, as its file has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// Of the inputs.
    pub inputs: Vec<Literal>,
    /// Of the latches.
    pub latches: Vec<Literal>,
}

impl Numbering {
    /// The one of a file; of one that is not AIGER as text, inputs and latches are numbered one after the other.
    pub fn of(aig: &Aig, text: &str) -> Numbering {
        let (inputs, latches) = (aig.inputs.len(), aig.latches.len());
        let plain = Numbering {
            inputs: (1..).take(inputs).map(|number| 2 * number).collect(),
            latches: (inputs as Literal + 1..).take(latches).map(|number| 2 * number).collect(),
        };
        if !text.starts_with("aag ") {
            return plain;
        }
        let first = |line: &str| line.split_whitespace().next().and_then(|word| word.parse().ok());
        let written: Option<Vec<Literal>> = text.lines().skip(1).take(inputs + latches).map(first).collect();
        match written {
            Some(mut written) if written.len() == inputs + latches => {
                let latches = written.split_off(inputs);
                Numbering { inputs: written, latches }
            }
            _ => plain,
        }
    }
}

/// The witness circuit for a circuit with one property, from the certificate of a proof.
pub fn witness_circuit(model: &Aig, numbering: &Numbering, certificate: &str) -> Result<Aig, NoWitness> {
    let parts: Parts = serde_json::from_str(certificate).map_err(|error| NoWitness::NoInvariant(error.to_string()))?;
    if parts.kind != "inductive invariant" {
        return Err(NoWitness::NoInvariant(parts.kind));
    }
    let mut witness = model.clone();
    let names = model.inputs.iter().chain(model.latches.iter().map(|latch| &latch.name));
    let literals: HashMap<&str, Literal> = names.map(String::as_str).zip((1..).map(|number| 2 * number)).collect();
    let mut known: HashMap<i64, Literal> = HashMap::new();
    for (name, first, bits) in &parts.cells {
        if let (Some(literal), 1) = (literals.get(name.as_str()), *bits) {
            known.insert(i64::from(*first) + 1, *literal);
        }
    }
    let signed = |known: &HashMap<i64, Literal>, number: i64| match number {
        0 => Ok(1),
        _ => match known.get(&number.abs()) {
            Some(literal) => Ok(literal ^ Literal::from(number < 0)),
            None => Err(NoWitness::NoSuchBit),
        },
    };
    for (number, x, y) in &parts.gates {
        let gate = witness.gate(signed(&known, *x)?, signed(&known, *y)?);
        known.insert(*number, gate);
    }
    let mut invariant = witness.bad[0].1 ^ 1;
    for (one, other) in &parts.equal {
        let (one, other) = (signed(&known, *one)?, signed(&known, *other)?);
        let (only_one, only_other) = (witness.gate(one, other ^ 1), witness.gate(one ^ 1, other));
        let equal = witness.gate(only_one ^ 1, only_other ^ 1);
        invariant = witness.gate(invariant, equal);
    }
    for clause in &parts.clauses {
        let mut none = 1;
        for number in clause {
            let literal = signed(&known, *number)?;
            none = witness.gate(none, literal ^ 1);
        }
        invariant = witness.gate(invariant, none ^ 1);
    }
    witness.bad[0].1 = invariant ^ 1;
    let told = |literal: &Literal| format!("{STANDS_FOR}{literal}");
    witness.inputs = numbering.inputs.iter().map(told).collect();
    witness.latches.iter_mut().zip(&numbering.latches).for_each(|(latch, literal)| latch.name = told(literal));
    Ok(witness)
}

/// The file of a witness circuit, as text or in the binary form.
pub fn written(witness: &Aig, is_binary: bool, property: &str, file: &str) -> Vec<u8> {
    let mut out = if is_binary { aiger::binary(witness) } else { aiger::text(witness).into_bytes() };
    let file = file.replace(['\n', '\r'], " ");
    out.extend(format!("c\nWITNESS {property} {file}\n").bytes());
    out
}

/// Verifies a witness circuit: in the initial states of the circuit it is in one of its own (*reset*); its steps follow those
/// of the circuit (*transition*); its property implies that of the circuit (*property*), holds initially (*base*) and after
/// every step from a state in which it holds (*step*).
pub fn verify(model: &Aig, numbering: &Numbering, witness: &Aig, budget: &Budget) -> Result<(), NoWitness> {
    let mut check = Check::new(model, numbering, witness, budget)?;
    let Check { dag, now, after, .. } = &mut check;
    let (m, w) = (&now[0], &now[1]);
    let (reset, own_reset) = (m.reset(dag, model), w.reset(dag, witness));
    let (c0, d0) = (m.constraint, w.constraint);
    let (c1, d1) = (after[0].constraint, after[1].constraint);
    let (step, own_step) = (m.step(dag, model, &after[0]), w.step(dag, witness, &after[1]));
    let (good, p0, p1) = (!m.bad, !w.bad, !after[1].bad);
    let conditions = [
        ("reset", vec![reset, c0], vec![own_reset, d0]),
        ("transition", vec![step, c0, c1, d0], vec![own_step, d1]),
        ("property", vec![c0, d0, p0], vec![good]),
        ("base", vec![own_reset, d0], vec![p0]),
        ("step", vec![p0, own_step, d0, d1], vec![p1]),
    ];
    for (name, premise, conclusion) in conditions {
        if !check.implies(&premise, &conclusion)? {
            return Err(NoWitness::Wrong(name));
        }
    }
    Ok(())
}

/// A circuit at one time.
struct Frame {
    latches: Vec<Lit>,
    /// By variable.
    values: Vec<Lit>,
    constraint: Lit,
    bad: Lit,
}

impl Frame {
    fn of(dag: &mut Dag, aig: &Aig, inputs: &[Lit], latches: &[Lit]) -> Frame {
        let mut values = vec![Lit::FALSE];
        values.extend(inputs.iter().chain(latches));
        for [x, y] in &aig.gates {
            let gate = dag.and(literal(&values, *x), literal(&values, *y));
            values.push(gate);
        }
        let constraints: Vec<Lit> = aig.constraints.iter().map(|one| literal(&values, *one)).collect();
        let constraint = dag.all(&constraints);
        let bad = aig.bad.first().map_or(Lit::FALSE, |(_, bad)| literal(&values, *bad));
        Frame { latches: latches.to_vec(), values, constraint, bad }
    }

    /// All latches have their first values.
    fn reset(&self, dag: &mut Dag, aig: &Aig) -> Lit {
        let value = |(latch, lit): (&ample_lang::export::aig::Latch, &Lit)| match latch.reset {
            Reset::Value(true) => *lit,
            Reset::Value(false) => !*lit,
            Reset::Any => Lit::TRUE,
        };
        let all: Vec<Lit> = aig.latches.iter().zip(&self.latches).map(value).collect();
        dag.all(&all)
    }

    /// All latches of another frame have the next values of this one.
    fn step(&self, dag: &mut Dag, aig: &Aig, after: &Frame) -> Lit {
        let pairs = aig.latches.iter().zip(&after.latches);
        let all: Vec<Lit> = pairs.map(|(latch, next)| dag.iff(literal(&self.values, latch.next), *next)).collect();
        dag.all(&all)
    }
}

fn literal(values: &[Lit], literal: Literal) -> Lit {
    let value = values[(literal >> 1) as usize];
    if literal & 1 == 1 { !value } else { value }
}

/// The circuit and its witness, now and after a step.
struct Check<'a> {
    dag: Dag,
    now: [Frame; 2],
    after: [Frame; 2],
    budget: &'a Budget,
}

impl<'a> Check<'a> {
    fn new(model: &Aig, numbering: &Numbering, witness: &Aig, budget: &'a Budget) -> Result<Check<'a>, NoWitness> {
        let mut dag = Dag::within(budget);
        let mut count = 0;
        let frames: Vec<[Frame; 2]> = (0..2)
            .map(|_| {
                let mut fresh = |amount: usize| -> Vec<Lit> {
                    count += amount as u32;
                    (count - amount as u32..count).map(|bit| dag.input(bit)).collect()
                };
                let (inputs, latches) = (fresh(model.inputs.len()), fresh(model.latches.len()));
                let shared: HashMap<Literal, Lit> = numbering
                    .inputs
                    .iter()
                    .chain(&numbering.latches)
                    .copied()
                    .zip(inputs.iter().chain(&latches).copied())
                    .collect();
                let stands_for = |name: &str| name.strip_prefix(STANDS_FOR)?.trim().parse::<Literal>().ok();
                let mut of = |name: &String| match stands_for(name).and_then(|literal| shared.get(&literal)) {
                    Some(lit) => *lit,
                    None => fresh(1)[0],
                };
                let own_inputs: Vec<Lit> = witness.inputs.iter().map(&mut of).collect();
                let own_latches: Vec<Lit> = witness.latches.iter().map(|latch| of(&latch.name)).collect();
                let one = Frame::of(&mut dag, model, &inputs, &latches);
                [one, Frame::of(&mut dag, witness, &own_inputs, &own_latches)]
            })
            .collect();
        let Ok([now, after]) = <[_; 2]>::try_from(frames) else { return Err(NoWitness::NoSuchBit) };
        match dag.interrupted() {
            Some(interrupted) => Err(interrupted.into()),
            None => Ok(Check { dag, now, after, budget }),
        }
    }

    fn implies(&mut self, premise: &[Lit], conclusion: &[Lit]) -> Result<bool, Interrupted> {
        let conclusion = self.dag.all(conclusion);
        let (mut solver, mut clauses) = (Batsat::default(), Clauses::default());
        for lit in premise.iter().copied().chain([!conclusion]) {
            let literal = clauses.literal(&self.dag, lit, &mut solver, self.budget)?;
            solver.add(&[literal]);
        }
        Ok(!solver.solve(&[], self.budget)?)
    }
}
