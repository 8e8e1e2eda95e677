//! Circuits in the language of NuSMV: a variable for each latch, a definition for each gate.
//!
//! Inputs that a property, a constraint or a condition of fairness reads are variables without a next value, because NuSMV
//! lets only relations read inputs; all others are inputs.

use std::collections::HashSet;
use std::fmt::Write;

use ample_logic::{Atom, Dialect, print_with};

use super::aig::{Aig, Literal, Reset};
use super::smv::RESERVED;
use super::{Names, one_line};

/// The circuit as a NuSMV file.
///
/// ```
/// use ample_lang::circuit::{Format, read};
/// use ample_lang::export::{aig::Aig, circuit_smv};
///
/// let circuit = read(Format::Bench, "c.bench", "INPUT(a)\nOUTPUT(b)\nl = DFF(b)\nb = AND(a, l)\n")?;
/// let aig = Aig::of(&circuit.system, &[], &ample_budget::Budget::unlimited()).unwrap();
/// assert!(circuit_smv::model(&aig, "c").contains("next(l) := g3;"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn model(aig: &Aig, name: &str) -> String {
    let mut out = format!("-- {}\nMODULE main\n", one_line(name));
    let writer = Writer::new(aig);
    writer.variables(&mut out);
    writer.definitions(&mut out);
    writer.assignments(&mut out);
    writer.conditions(&mut out);
    writer.properties(&mut out);
    out
}

struct Writer<'a> {
    aig: &'a Aig,
    /// Of each number: its name.
    names: Vec<String>,
    /// Inputs that are variables.
    kept: HashSet<usize>,
}

impl<'a> Writer<'a> {
    fn new(aig: &'a Aig) -> Writer<'a> {
        let mut names = Names::new(RESERVED);
        let mut all = vec![String::new()];
        for name in aig.inputs.iter().chain(aig.latches.iter().map(|latch| &latch.name)) {
            all.push(names.give(&identifier(name)));
        }
        for number in all.len()..=aig.variables() as usize {
            all.push(names.give(&format!("g{number}")));
        }
        Writer { aig, names: all, kept: kept_inputs(aig) }
    }

    fn literal(&self, literal: Literal) -> String {
        match literal {
            0 => "FALSE".into(),
            1 => "TRUE".into(),
            _ if literal % 2 == 1 => format!("!{}", self.names[(literal / 2) as usize]),
            _ => self.names[(literal / 2) as usize].clone(),
        }
    }

    fn latch(&self, number: usize) -> &str {
        &self.names[self.aig.inputs.len() + number + 1]
    }

    fn variables(&self, out: &mut String) {
        let inputs = self.aig.inputs.len();
        let declare = |out: &mut String, title: &str, numbers: &[usize]| {
            if !numbers.is_empty() {
                let _ = writeln!(out, "{title}");
            }
            for number in numbers {
                let _ = writeln!(out, "  {} : boolean;", self.names[*number]);
            }
        };
        let (kept, others): (Vec<usize>, Vec<usize>) = (1..=inputs).partition(|number| self.kept.contains(number));
        declare(out, "IVAR", &others);
        let states: Vec<usize> = kept.into_iter().chain(inputs + 1..=inputs + self.aig.latches.len()).collect();
        declare(out, "VAR", &states);
    }

    fn definitions(&self, out: &mut String) {
        let first = self.aig.inputs.len() + self.aig.latches.len() + 1;
        if !self.aig.gates.is_empty() {
            let _ = writeln!(out, "DEFINE");
        }
        for (number, [x, y]) in self.aig.gates.iter().enumerate() {
            let _ = writeln!(out, "  {} := {} & {};", self.names[first + number], self.literal(*x), self.literal(*y));
        }
    }

    fn assignments(&self, out: &mut String) {
        if !self.aig.latches.is_empty() {
            let _ = writeln!(out, "ASSIGN");
        }
        for (number, latch) in self.aig.latches.iter().enumerate() {
            let name = self.latch(number);
            if let Reset::Value(value) = latch.reset {
                let _ = writeln!(out, "  init({name}) := {};", self.literal(value.into()));
            }
            let _ = writeln!(out, "  next({name}) := {};", self.literal(latch.next));
        }
    }

    fn conditions(&self, out: &mut String) {
        let lists = [("INIT", &self.aig.initial), ("INVAR", &self.aig.constraints), ("TRANS", &self.aig.steps)];
        for (keyword, literals) in lists.into_iter().chain([("FAIRNESS", &self.aig.fairness)]) {
            for literal in literals {
                let _ = writeln!(out, "{keyword} {};", self.literal(*literal));
            }
        }
        for [first, second] in &self.aig.compassion {
            let _ = writeln!(out, "COMPASSION ({}, {});", self.literal(*first), self.literal(*second));
        }
    }

    fn properties(&self, out: &mut String) {
        for (name, literal) in &self.aig.bad {
            let _ = writeln!(out, "-- {}\nINVARSPEC {};", one_line(name), self.literal(literal ^ 1));
        }
        for (name, literals) in &self.aig.justice {
            let all: Vec<String> = literals.iter().map(|literal| format!("G F {}", self.literal(*literal))).collect();
            let all = if all.is_empty() { "TRUE".into() } else { all.join(" & ") };
            let _ = writeln!(out, "-- {}\nLTLSPEC !({all});", one_line(name));
        }
        for specification in &self.aig.specifications {
            let mut atom = |atom: Atom| {
                specification
                    .atoms
                    .get(atom.0 as usize)
                    .map_or_else(|| "FALSE".into(), |literal| self.literal(*literal))
            };
            let keyword = if specification.is_branching { "CTLSPEC" } else { "LTLSPEC" };
            let name = one_line(&specification.name);
            let _ = match print_with(&specification.formula, Dialect::Smv, &mut atom) {
                Ok(text) => writeln!(out, "-- {name}\n{keyword} {text};"),
                Err(error) => writeln!(out, "-- {name} is left out: {error}"),
            };
        }
    }
}

/// The inputs that something other than a latch or a step reads.
fn kept_inputs(aig: &Aig) -> HashSet<usize> {
    let named = aig.bad.iter().map(|(_, literal)| *literal);
    let repeated = aig.justice.iter().flat_map(|(_, literals)| literals).copied();
    let atoms = aig.specifications.iter().flat_map(|specification| &specification.atoms).copied();
    let pairs = aig.compassion.iter().flatten().copied();
    let single = aig.constraints.iter().chain(&aig.fairness).chain(&aig.initial).copied();
    let mut open: Vec<usize> =
        named.chain(repeated).chain(atoms).chain(pairs).chain(single).map(|literal| (literal / 2) as usize).collect();
    let first = aig.inputs.len() + aig.latches.len() + 1;
    let (mut seen, mut kept) = (vec![false; aig.variables() as usize + 1], HashSet::new());
    while let Some(number) = open.pop() {
        if std::mem::replace(&mut seen[number], true) {
            continue;
        }
        if (1..=aig.inputs.len()).contains(&number) {
            kept.insert(number);
        }
        if let Some(gate) = number.checked_sub(first).and_then(|gate| aig.gates.get(gate)) {
            open.extend(gate.iter().map(|literal| (literal / 2) as usize));
        }
    }
    kept
}

/// A name that NuSMV reads.
fn identifier(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match word.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => word,
        _ => format!("v_{word}"),
    }
}
