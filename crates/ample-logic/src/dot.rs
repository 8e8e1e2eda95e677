//! Automata as graphs for Graphviz.
//!
//! An edge is labelled with its condition, and with the acceptance sets that it belongs to; accepting states of an
//! ordinary Büchi automaton have a double line around them instead.

use std::fmt::Write;

use crate::automaton::{Automaton, Cube, Edge};

/// Writes an automaton in the language of Graphviz.
///
/// ```
/// use ample_logic::{Acceptance, Atoms, Dialect, Options, dot, parse, translate};
/// let mut atoms = Atoms::new();
/// let f = parse("G F a", Dialect::Plain, &mut atoms)?;
/// let automaton = translate(&f, &atoms, Options::default())?;
/// let text = dot::write(&automaton, "G F a");
/// assert!(text.contains("0 -> 0 [label=\"a {0}\"];"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(automaton: &Automaton, name: &str) -> String {
    let mut text = String::from("digraph automaton {\n  rankdir=LR;\n");
    // writing to a string cannot fail
    let _ = write_body(automaton, name, &mut text);
    text
}

fn write_body(a: &Automaton, name: &str, out: &mut String) -> std::fmt::Result {
    if !name.is_empty() {
        writeln!(out, "  label={};\n  labelloc=t;", quoted(name))?;
    }
    writeln!(out, "  node [shape=circle];\n  start [shape=point];\n  start -> {};", a.initial)?;
    for state in 0..a.states {
        let shape = if a.state_based && a.is_accepting(state) { " [shape=doublecircle]" } else { "" };
        writeln!(out, "  {state}{shape};")?;
    }
    for edge in &a.edges {
        writeln!(out, "  {} -> {} [label={}];", edge.from, edge.to, quoted(&label(a, edge)))?;
    }
    writeln!(out, "}}")
}

/// The condition of an edge, and its acceptance sets if accepting states do not say that.
pub fn label(a: &Automaton, edge: &Edge) -> String {
    let cubes: Vec<String> = edge.label.iter().map(|cube| conjunction(a, *cube)).collect();
    let sets: Vec<String> =
        (0..a.sets).filter(|set| !a.state_based && edge.marks >> set & 1 == 1).map(|set| set.to_string()).collect();
    let condition = cubes.join(" | ");
    if sets.is_empty() { condition } else { format!("{condition} {{{}}}", sets.join(",")) }
}

fn conjunction(a: &Automaton, cube: Cube) -> String {
    let literal = |(bit, name): (usize, &String)| match (cube.positive >> bit & 1, cube.negative >> bit & 1) {
        (1, _) => Some(name.clone()),
        (_, 1) => Some(if name.chars().all(is_word) { format!("!{name}") } else { format!("!({name})") }),
        _ => None,
    };
    let literals: Vec<String> = a.names.iter().enumerate().filter_map(literal).collect();
    if literals.is_empty() { "1".into() } else { literals.join(" & ") }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}
