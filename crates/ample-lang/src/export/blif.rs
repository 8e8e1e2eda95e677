//! Circuits in the Berkeley Logic Interchange Format. It has no properties: what must never happen becomes an output.

use std::fmt::Write;

use super::Names;
use super::aig::{Aig, Literal, Reset};

/// The circuit as a model of that name. Constraints and justice properties cannot be written.
///
/// ```
/// use ample_lang::circuit::{Format, read};
/// use ample_lang::export::{aig::Aig, blif};
///
/// let circuit = read(Format::Bench, "c.bench", "INPUT(a)\nOUTPUT(b)\nl = DFF(b)\nb = AND(a, l)\n")?;
/// let aig = Aig::of(&circuit.system, &[], &ample_budget::Budget::unlimited()).unwrap();
/// assert!(blif::model(&aig, "c").contains(".names l a n3\n11 1\n"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn model(aig: &Aig, name: &str) -> String {
    let mut names = Names::new("");
    let mut give = |name: &str| names.give(&word(name));
    let inputs: Vec<String> = aig.inputs.iter().map(|name| give(name)).collect();
    let latches: Vec<String> = aig.latches.iter().map(|latch| give(&latch.name)).collect();
    let bad = aig.bad.iter().map(|(name, literal)| (format!("bad_{name}"), *literal));
    // An output that is an input or a latch has its name already.
    let own = |number: usize| aig.inputs.iter().chain(aig.latches.iter().map(|latch| &latch.name)).nth(number);
    let is_variable = |name: &str, literal: Literal| {
        literal >= 2 && literal.is_multiple_of(2) && own((literal / 2 - 1) as usize).is_some_and(|own| own == name)
    };
    let mut outputs: Vec<(String, Option<Literal>)> = Vec::new();
    for (name, literal) in aig.outputs.iter().cloned().chain(bad) {
        outputs.push(match is_variable(&name, literal) {
            true => {
                let number = (literal / 2 - 1) as usize;
                (inputs.iter().chain(&latches).nth(number).cloned().unwrap_or_default(), None)
            }
            false => (give(&name), Some(literal)),
        });
    }
    let first = inputs.len() + latches.len() + 1;
    let gates: Vec<String> = (0..aig.gates.len()).map(|number| give(&format!("n{}", first + number))).collect();
    let constant = give("zero");
    let all: Vec<&String> = [&constant].into_iter().chain(&inputs).chain(&latches).chain(&gates).collect();
    let mut out = format!(".model {}\n.inputs {}\n.outputs", word(name), inputs.join(" "));
    outputs.iter().for_each(|(name, _)| out.push_str(&format!(" {name}")));
    out.push('\n');
    // A latch has a signal before it.
    let nexts: Vec<String> = latches.iter().map(|name| give(&format!("{name}_next"))).collect();
    for ((latch, name), next) in aig.latches.iter().zip(&latches).zip(&nexts) {
        let reset = match latch.reset {
            Reset::Value(value) => u32::from(value),
            Reset::Any => 3,
        };
        let _ = writeln!(out, ".latch {next} {name} {reset}");
    }
    let _ = writeln!(out, ".names {constant}");
    for ([x, y], name) in aig.gates.iter().zip(&gates) {
        let [x_name, y_name] = [x, y].map(|literal| all[(*literal / 2) as usize]);
        let _ = writeln!(out, ".names {x_name} {y_name} {name}\n{}{} 1", 1 - x % 2, 1 - y % 2);
    }
    let nexts = aig.latches.iter().map(|latch| latch.next).zip(&nexts);
    let outputs = outputs.iter().filter_map(|(name, literal)| Some(((*literal)?, name)));
    for (literal, name) in outputs.chain(nexts) {
        let _ = writeln!(out, ".names {} {name}\n{} 1", all[(literal / 2) as usize], 1 - literal % 2);
    }
    out.push_str(".end\n");
    out
}

/// A name that is one word of the format.
fn word(name: &str) -> String {
    let word: String =
        name.chars().map(|c| if c.is_whitespace() || c.is_control() || "#=\\".contains(c) { '_' } else { c }).collect();
    if word.is_empty() || word.starts_with('.') { format!("_{word}") } else { word }
}
