//! Any system as a circuit, bit by bit.

use std::collections::HashMap;

use ample_boolean::{Lit, Node};
use ample_bounded::export::{Exported, exported};
use ample_budget::{Budget, Pace};
use ample_lang::export::aig::{Aig, Latch, Literal, Reset, Specification};
use ample_model::{Interrupted, Property, Question, Reason, System};

const INPUTS: &str = "other properties read inputs, which makes them a part of the state";

/// The circuit that a system is, over the bits of its variables, with these properties. Initial states are a condition;
/// what does not fit into the bits is a bad state of its own.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// let circuit = ample::circuit(&model.system, &ample::stated(&model.system), &ample::Budget::unlimited()).unwrap();
/// assert_eq!(circuit.bad[0].0, "assertions");
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn circuit(system: &System, properties: &[Property], budget: &Budget) -> Result<Aig, Reason> {
    let mut kept = system.clone();
    kept.keep_inputs(properties.iter().flat_map(Property::expressions));
    let branches_elsewhere = |property: &Property| {
        let reads_none = system.inputs_in(property.expressions()).is_empty();
        matches!(property.question, Question::Ctl(_)) && reads_none && kept.globals != system.globals
    };
    let (apart, asked): (Vec<Property>, Vec<Property>) = properties.iter().cloned().partition(branches_elsewhere);
    let exported = exported(&kept, &asked, budget)?;
    let mut aig = built(&exported, &mut budget.pace())?;
    aig.left_out.extend(apart.iter().map(|property| format!("{} ({INPUTS})", property.id())));
    Ok(aig)
}

fn built(exported: &Exported, pace: &mut Pace<'_>) -> Result<Aig, Interrupted> {
    let machine = &exported.machine;
    let latch = |name: &String| Latch { name: name.clone(), next: 0, reset: Reset::Any };
    let aig =
        Aig { inputs: exported.inputs.clone(), latches: exported.names.iter().map(latch).collect(), ..Aig::default() };
    let mut bits = HashMap::new();
    for (number, bit) in machine.inputs.iter().chain(&machine.state).enumerate() {
        bits.insert(*bit, 2 * (number as Literal + 1));
    }
    let mut copy = Copy { exported, aig, bits, known: HashMap::new() };
    for (number, next) in machine.next.iter().enumerate() {
        let next = copy.literal(*next, pace)?;
        copy.aig.latches[number].next = next;
    }
    for lit in machine.dag.conjuncts(machine.initial) {
        copy.initially(lit, pace)?;
    }
    for lit in machine.dag.conjuncts(machine.step).into_iter().filter(|lit| *lit != Lit::TRUE) {
        let literal = copy.literal(lit, pace)?;
        copy.aig.steps.push(literal);
    }
    for (name, lit) in &exported.bad {
        let literal = copy.literal(*lit, pace)?;
        copy.aig.bad.push((name.clone(), literal));
    }
    for one in &exported.specifications {
        let atoms = one.atoms.iter().map(|lit| copy.literal(*lit, pace)).collect::<Result<_, _>>()?;
        let (name, is_branching, formula) = (one.name.clone(), one.is_branching, one.formula.clone());
        copy.aig.specifications.push(Specification { name, is_branching, formula, atoms });
    }
    for lit in &exported.justice {
        let literal = copy.literal(*lit, pace)?;
        copy.aig.fairness.push(literal);
    }
    for (first, second) in &exported.compassion {
        let pair = [copy.literal(*first, pace)?, copy.literal(*second, pace)?];
        copy.aig.compassion.push(pair);
    }
    copy.aig.left_out = exported.left_out.iter().map(|(name, why)| format!("{name} ({why})")).collect();
    Ok(copy.aig)
}

struct Copy<'a> {
    exported: &'a Exported,
    aig: Aig,
    /// The inputs of the graph.
    bits: HashMap<u32, Literal>,
    known: HashMap<usize, Literal>,
}

impl Copy<'_> {
    /// A conjunct of the initial condition: where it is about one bit, the latch starts with that value.
    fn initially(&mut self, lit: Lit, pace: &mut Pace<'_>) -> Result<(), Interrupted> {
        let literal = self.literal(lit, pace)?;
        let latch = ((literal / 2) as usize).checked_sub(self.aig.inputs.len() + 1);
        match latch.and_then(|number| self.aig.latches.get_mut(number)) {
            Some(latch) if latch.reset == Reset::Any => latch.reset = Reset::Value(literal.is_multiple_of(2)),
            _ if literal == 1 => {}
            _ => self.aig.initial.push(literal),
        }
        Ok(())
    }

    /// The same formula in the circuit, without recursion: graphs may be deep.
    fn literal(&mut self, lit: Lit, pace: &mut Pace<'_>) -> Result<Literal, Interrupted> {
        let dag = &self.exported.machine.dag;
        let mut open = vec![lit];
        while let Some(lit) = open.last().copied() {
            pace.step()?;
            let plain = if lit.is_negated() { !lit } else { lit };
            let made = match dag.node(plain) {
                _ if self.known.contains_key(&lit.index()) => None,
                Node::Constant => Some(0),
                Node::Input(bit) => Some(self.bits.get(&bit).copied().unwrap_or(0)),
                Node::And(x, y) => match (self.found(x), self.found(y)) {
                    (Some(x), Some(y)) => Some(self.aig.gate(x, y)),
                    _ => {
                        open.extend([x, y].into_iter().filter(|lit| self.found(*lit).is_none()));
                        continue;
                    }
                },
            };
            open.pop();
            if let Some(made) = made {
                self.known.insert(lit.index(), made);
            }
        }
        Ok(self.found(lit).unwrap_or(0))
    }

    fn found(&self, lit: Lit) -> Option<Literal> {
        Some(self.known.get(&lit.index())? ^ Literal::from(lit.is_negated()))
    }
}
