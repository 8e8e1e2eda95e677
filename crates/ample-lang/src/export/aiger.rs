//! Circuits in AIGER's format, as text and binary.

use std::fmt::Write;

use super::aig::{Aig, Literal, Reset};

/// The circuit as text (`aag`).
///
/// ```
/// use ample_lang::circuit::{Format, read};
/// use ample_lang::export::{aig::Aig, aiger};
///
/// let circuit = read(Format::Bench, "c.bench", "OUTPUT(l)\nl = DFF(n)\nn = NOT(l)\n")?;
/// let aig = Aig::of(&circuit.system, &[], &ample_budget::Budget::unlimited()).unwrap();
/// assert!(aiger::text(&aig).starts_with("aag 1 0 1 1 0\n2 3\n2\n"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn text(aig: &Aig) -> String {
    let mut out = header("aag", aig);
    for number in 1..=aig.inputs.len() {
        let _ = writeln!(out, "{}", 2 * number);
    }
    for (number, latch) in aig.latches.iter().enumerate() {
        let own = own(aig, number);
        let _ = writeln!(out, "{own} {}{}", latch.next, reset(latch.reset, own));
    }
    sections(&mut out, aig);
    let first = aig.inputs.len() + aig.latches.len() + 1;
    for (number, [x, y]) in aig.gates.iter().enumerate() {
        let _ = writeln!(out, "{} {x} {y}", 2 * (first + number));
    }
    symbols(&mut out, aig);
    out
}

/// The circuit in the binary form (`aig`).
pub fn binary(aig: &Aig) -> Vec<u8> {
    let mut head = header("aig", aig);
    for (number, latch) in aig.latches.iter().enumerate() {
        let _ = writeln!(head, "{}{}", latch.next, reset(latch.reset, own(aig, number)));
    }
    sections(&mut head, aig);
    let mut out = head.into_bytes();
    let first = aig.inputs.len() + aig.latches.len() + 1;
    for (number, [x, y]) in aig.gates.iter().enumerate() {
        difference(&mut out, 2 * (first + number) as Literal - x);
        difference(&mut out, x - y);
    }
    let mut tail = String::new();
    symbols(&mut tail, aig);
    out.extend(tail.into_bytes());
    out
}

/// The literal of a latch.
fn own(aig: &Aig, number: usize) -> usize {
    2 * (aig.inputs.len() + number + 1)
}

fn reset(reset: Reset, own: usize) -> String {
    match reset {
        Reset::Value(false) => String::new(),
        Reset::Value(true) => " 1".to_owned(),
        Reset::Any => format!(" {own}"),
    }
}

/// Counts at its end are left out where they are 0.
fn header(format: &str, aig: &Aig) -> String {
    let (inputs, latches, gates) = (aig.inputs.len(), aig.latches.len(), aig.gates.len());
    let mut line = format!("{format} {} {inputs} {latches} {} {gates}", aig.variables(), aig.outputs.len());
    let more = [aig.bad.len(), aig.constraints.len(), aig.justice.len()];
    let last = more.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    more[..last].iter().for_each(|count| line.push_str(&format!(" {count}")));
    line.push('\n');
    line
}

fn sections(out: &mut String, aig: &Aig) {
    let named = aig.outputs.iter().chain(&aig.bad).map(|(_, literal)| literal);
    for literal in named.chain(&aig.constraints) {
        let _ = writeln!(out, "{literal}");
    }
    for (_, literals) in &aig.justice {
        let _ = writeln!(out, "{}", literals.len());
    }
    for literal in aig.justice.iter().flat_map(|(_, literals)| literals) {
        let _ = writeln!(out, "{literal}");
    }
}

fn symbols(out: &mut String, aig: &Aig) {
    let mut list = |letter: char, names: &mut dyn Iterator<Item = &String>| {
        for (number, name) in names.enumerate() {
            let name = name.replace(['\n', '\r'], " ");
            // What a reader would call it anyway is left out.
            if name != format!("{letter}{number}") && !name.trim().is_empty() {
                let _ = writeln!(out, "{letter}{number} {name}");
            }
        }
    };
    list('i', &mut aig.inputs.iter());
    list('l', &mut aig.latches.iter().map(|latch| &latch.name));
    list('o', &mut aig.outputs.iter().map(|(name, _)| name));
    list('b', &mut aig.bad.iter().map(|(name, _)| name));
    list('j', &mut aig.justice.iter().map(|(name, _)| name));
}

/// Seven bits a byte, the least significant first.
fn difference(out: &mut Vec<u8>, mut value: Literal) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
