//! Büchi automata as never claims of Promela, in the style in which Spin writes its own.
//!
//! The claim begins in the state of the label `…_init`; states whose label begins with `accept_` are accepting. A state
//! that accepts whatever comes is written `accept_all: skip` at the end: behind it the claim ends, which Spin reports
//! at once.

use std::fmt::Write;

use crate::automaton::{Automaton, Cube, Edge};
use crate::formula::Atom;

/// A never claim has accepting states, which the automaton does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a never claim needs accepting states, and this automaton accepts by its edges: translate with Acceptance::Buchi"
)]
pub struct NotStateBased;

/// Writes an automaton with accepting states as a never claim. `comment` says what it stands for (nothing if it is empty);
/// `atom` gives the Promela expression of an atom, which is put in parentheses.
///
/// ```
/// use ample_logic::{Acceptance, Atoms, Dialect, Options, never, parse, translate};
/// let mut atoms = Atoms::new();
/// let f = parse("!([] (p -> <> q))", Dialect::Spin, &mut atoms)?;
/// let automaton = translate(&f, &atoms, Options { acceptance: Acceptance::Buchi, ..Options::default() })?;
/// let text = never::write(&automaton, "!([] (p -> <> q))", &mut |atom| atoms.label(atom))?;
/// assert_eq!(text, "\
/// never { /* !([] (p -> <> q)) */
/// T0_init:
///     if
///     :: (1) -> goto T0_init
///     :: ((p) && !(q)) -> goto accept_S1
///     fi;
/// accept_S1:
///     if
///     :: (!(q)) -> goto accept_S1
///     fi;
/// }
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(
    automaton: &Automaton,
    comment: &str,
    atom: &mut dyn FnMut(Atom) -> String,
) -> Result<String, NotStateBased> {
    if !automaton.state_based {
        return Err(NotStateBased);
    }
    let atoms: Vec<String> = automaton.atoms.iter().map(|&a| atom(a)).collect();
    let claim = Claim { automaton, atoms };
    let mut text = String::new();
    // writing to a string cannot fail
    let _ = claim.write(comment, &mut text);
    Ok(text)
}

struct Claim<'a> {
    automaton: &'a Automaton,
    atoms: Vec<String>,
}

impl Claim<'_> {
    fn write(&self, comment: &str, out: &mut String) -> std::fmt::Result {
        match comment {
            "" => writeln!(out, "never {{")?,
            // a comment would end at its first end mark
            comment => writeln!(out, "never {{ /* {} */", comment.replace("*/", "* /"))?,
        }
        // the first state of the text is where a claim begins
        let initial = self.automaton.initial;
        self.write_state(initial, out)?;
        for state in (0..self.automaton.states).filter(|&state| state != initial && !self.accepts_all(state)) {
            self.write_state(state, out)?;
        }
        if (0..self.automaton.states).any(|state| state != initial && self.accepts_all(state)) {
            writeln!(out, "accept_all:\n    skip")?;
        }
        writeln!(out, "}}")
    }

    fn write_state(&self, state: usize, out: &mut String) -> std::fmt::Result {
        writeln!(out, "{}:", self.label(state))?;
        let edges = self.automaton.successors(state);
        if edges.is_empty() {
            return writeln!(out, "    false;");
        }
        writeln!(out, "    if")?;
        for edge in edges {
            writeln!(out, "    :: {} -> goto {}", self.guard(edge), self.label(edge.to))?;
        }
        writeln!(out, "    fi;")
    }

    fn label(&self, state: usize) -> String {
        let kind = if self.automaton.is_accepting(state) { "accept" } else { "T0" };
        match state {
            _ if state == self.automaton.initial => format!("{kind}_init"),
            _ if self.accepts_all(state) => "accept_all".to_owned(),
            _ => format!("{kind}_S{state}"),
        }
    }

    /// Whether nothing but a loop that is always possible leaves an accepting state.
    fn accepts_all(&self, state: usize) -> bool {
        let edges = self.automaton.successors(state);
        let loops = matches!(edges, [edge] if edge.to == state && edge.label.contains(&Cube::TRUE));
        loops && self.automaton.is_accepting(state)
    }

    fn guard(&self, edge: &Edge) -> String {
        let cubes: Vec<String> = edge.label.iter().map(|&cube| self.cube(cube)).collect();
        cubes.join(" || ")
    }

    fn cube(&self, cube: Cube) -> String {
        let literal = |(i, atom): (usize, &String)| match (cube.positive >> i & 1, cube.negative >> i & 1) {
            (1, _) => Some(format!("({atom})")),
            (_, 1) => Some(format!("!({atom})")),
            _ => None,
        };
        let literals: Vec<String> = self.atoms.iter().enumerate().filter_map(literal).collect();
        if literals.is_empty() { "(1)".to_owned() } else { format!("({})", literals.join(" && ")) }
    }
}
