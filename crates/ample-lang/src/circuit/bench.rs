//! The format of the ISCAS'89 benchmarks (F. Brglez, D. Bryan, K. Kozminski, *Combinational profiles of sequential
//! benchmark circuits*, 1989).
//!
//! `INPUT(x)`, `OUTPUT(x)`, and `x = GATE(y, z, …)` on lines of their own; `#` begins a comment. A flip-flop `DFF` starts
//! at 0: the format does not say, and that is what all tools take it for. So it is with signals that nothing drives, of
//! which published circuits have some: they are 0, with a warning.

use std::collections::HashMap;

use super::netlist::{Driver, Function, Latch, Literal, Named, Netlist, Place, Reset};
use super::{Read, Word};
use crate::diagnostic::{Diagnostic, Severity, closest, counted};
use crate::watch::Watch;

/// The gates.
const GATES: [&str; 12] = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR", "NOT", "BUF", "BUFF", "DFF", "VDD", "GND"];

pub(super) fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_declaration = |line: &str| {
        let word = line.split('(').next().unwrap_or("").trim();
        line.contains('(') && (word.eq_ignore_ascii_case("INPUT") || word.eq_ignore_ascii_case("OUTPUT"))
    };
    lines.next().is_some_and(is_declaration)
}

/// So many signals that nothing drives are told.
const MAX_UNDRIVEN: usize = 10;

/// A gate that is still to be resolved: its operands may be defined later.
struct Gate<'t> {
    signal: u32,
    kind: &'static str,
    operands: Vec<Word<'t>>,
}

struct Bench<'t> {
    netlist: Netlist,
    /// The signals by their names.
    defined: HashMap<&'t str, u32>,
    outputs: Vec<Word<'t>>,
    gates: Vec<Gate<'t>>,
    /// The names of signals that nothing drives.
    undriven: Vec<Word<'t>>,
}

pub(super) fn read(text: &str, watch: &Watch<'_>, warnings: &mut Vec<Diagnostic>) -> Read<Netlist> {
    let mut bench = Bench {
        netlist: Netlist::new(),
        defined: HashMap::new(),
        outputs: Vec::new(),
        gates: Vec::new(),
        undriven: Vec::new(),
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        watch.step()?;
        bench.line(Line { line: line.split(['#', '\n', '\r']).next().unwrap_or(""), start, at: 0 })?;
        start += line.len();
    }
    bench.resolve(watch, warnings)
}

/// A line that is read word by word.
struct Line<'t> {
    line: &'t str,
    /// Where it begins in the text.
    start: usize,
    at: usize,
}

impl<'t> Line<'t> {
    fn skip_blanks(&mut self) {
        self.at = self.line.len() - self.line[self.at..].trim_start().len();
    }

    fn place(&self, from: usize, to: usize) -> Place {
        Place::new(self.start + from, self.start + to)
    }

    /// The sign here, or the end.
    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.line[self.at..].chars().next()
    }

    /// A name: anything but blanks, parentheses, commas and `=`.
    fn name(&mut self, what: &str) -> Read<Word<'t>> {
        self.skip_blanks();
        let rest = &self.line[self.at..];
        let length = rest.find(|c: char| c.is_whitespace() || "(),=".contains(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.unexpected(what));
        }
        let word = Word { text: &rest[..length], at: self.place(self.at, self.at + length) };
        self.at += length;
        Ok(word)
    }

    fn unexpected(&mut self, what: &str) -> Diagnostic {
        match self.peek() {
            Some(c) => {
                let at = self.place(self.at, self.at + c.len_utf8());
                Diagnostic::error(at.span(), format!("expected {what}, but found `{c}`"))
            }
            None => {
                let end = self.line.trim_end().len();
                Diagnostic::error(self.place(end, end).span(), format!("expected {what}, but the line ends here"))
            }
        }
    }

    fn expect(&mut self, sign: char) -> Read<()> {
        if self.peek() != Some(sign) {
            return Err(self.unexpected(&format!("`{sign}`")));
        }
        self.at += sign.len_utf8();
        Ok(())
    }

    /// Nothing is left on it.
    fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }

    /// Names in parentheses.
    fn operands(&mut self) -> Read<Vec<Word<'t>>> {
        self.expect('(')?;
        let mut operands = Vec::new();
        if self.peek() == Some(')') {
            self.at += 1;
            return Ok(operands);
        }
        loop {
            operands.push(self.name("the name of a signal")?);
            match self.peek() {
                Some(',') => self.at += 1,
                Some(')') => break,
                _ => return Err(self.unexpected("`,` or `)`")),
            }
        }
        self.at += 1;
        Ok(operands)
    }
}

impl<'t> Bench<'t> {
    fn line(&mut self, mut line: Line<'t>) -> Read<()> {
        if line.peek().is_none() {
            return Ok(());
        }
        let first = line.name("`INPUT`, `OUTPUT` or the name of a signal")?;
        if line.peek() == Some('(') {
            return self.declaration(first, line);
        }
        line.expect('=')?;
        let gate = line.name("the name of a gate")?;
        let operands = if line.peek().is_none() { Vec::new() } else { line.operands()? };
        line.end()?;
        let kind = kind_of(gate)?;
        check_arity(kind, gate, operands.len())?;
        let driver = if kind == "DFF" { Driver::Latch } else { Driver::Constant };
        let signal = self.define(first, driver)?;
        self.gates.push(Gate { signal, kind, operands });
        Ok(())
    }

    fn declaration(&mut self, word: Word<'t>, mut line: Line<'t>) -> Read<()> {
        let is_input = word.text.eq_ignore_ascii_case("INPUT");
        if !is_input && !word.text.eq_ignore_ascii_case("OUTPUT") {
            let message = format!("expected `INPUT`, `OUTPUT` or `=` behind a name, but found `{}(`", word.text);
            return Err(Diagnostic::error(word.at.span(), message));
        }
        line.expect('(')?;
        let name = line.name("the name of a signal")?;
        line.expect(')')?;
        line.end()?;
        if is_input {
            let signal = self.define(name, Driver::Input)?;
            self.netlist.inputs.push(signal);
        } else {
            self.outputs.push(name);
        }
        Ok(())
    }

    fn define(&mut self, name: Word<'t>, driver: Driver) -> Read<u32> {
        if self.defined.contains_key(name.text) {
            return Err(Diagnostic::error(name.at.span(), format!("`{}` is driven twice", name.text)));
        }
        let signal = self.netlist.add(driver, Some(name.text.to_owned()), name.at);
        self.defined.insert(name.text, signal);
        Ok(signal)
    }

    fn signal(&mut self, name: Word<'t>) -> Read<Literal> {
        let signal = match self.defined.get(name.text) {
            Some(signal) => *signal,
            None => {
                self.undriven.push(name);
                self.define(name, Driver::Constant)?
            }
        };
        Ok(Literal::new(signal, false))
    }

    fn resolve(mut self, watch: &Watch<'_>, warnings: &mut Vec<Diagnostic>) -> Read<Netlist> {
        for gate in std::mem::take(&mut self.gates) {
            watch.steps(1 + gate.operands.len())?;
            let operands = gate.operands.iter().map(|name| self.signal(*name)).collect::<Read<Vec<_>>>()?;
            if gate.kind == "DFF" {
                self.netlist.latches.push(Latch { signal: gate.signal, next: operands[0], reset: Reset::Value(false) });
            } else {
                self.netlist.signals[gate.signal as usize].driver = driver(gate.kind, operands);
            }
        }
        for name in std::mem::take(&mut self.outputs) {
            let literal = self.signal(name)?;
            self.netlist.outputs.push(Named { name: name.text.to_owned(), literal, at: name.at });
        }
        for name in self.undriven.iter().take(MAX_UNDRIVEN) {
            let others = self.defined.keys().copied().filter(|other| *other != name.text);
            let Diagnostic { message, span, help, .. } = undriven(*name, others);
            let (severity, message) = (Severity::Warning, format!("{message}: it is always 0"));
            warnings.push(Diagnostic { severity, message, span, help });
        }
        Ok(self.netlist)
    }
}

/// The complaint about a signal that nothing drives.
pub(super) fn undriven<'a>(name: Word<'_>, others: impl Iterator<Item = &'a str>) -> Diagnostic {
    let diagnostic = Diagnostic::error(name.at.span(), format!("nothing drives `{}`", name.text));
    match closest(name.text, others) {
        Some(near) => diagnostic.with_help(format!("`{near}` has a similar name")),
        None => diagnostic,
    }
}

fn kind_of(gate: Word<'_>) -> Read<&'static str> {
    let known = GATES.iter().find(|known| known.eq_ignore_ascii_case(gate.text));
    known.copied().ok_or_else(|| {
        let help = format!("the gates are {}", GATES.join(", "));
        Diagnostic::error(gate.at.span(), format!("`{}` is no gate", gate.text)).with_help(help)
    })
}

fn check_arity(kind: &str, gate: Word<'_>, operands: usize) -> Read<()> {
    let (right, expected) = match kind {
        "VDD" | "GND" => (operands == 0, "no operands"),
        "NOT" | "BUF" | "BUFF" | "DFF" => (operands == 1, "one operand"),
        _ => (operands >= 1, "operands"),
    };
    match right {
        true => Ok(()),
        false => {
            let message = format!("`{}` has {expected}, and this one has {}", gate.text, counted(operands, "operand"));
            Err(Diagnostic::error(gate.at.span(), message))
        }
    }
}

fn driver(kind: &str, operands: Vec<Literal>) -> Driver {
    let inverted = |operands: Vec<Literal>| operands.into_iter().map(|literal| !literal).collect();
    let (function, is_inverted) = match kind {
        "OR" => (Function::And(inverted(operands)), true),
        "NOR" => (Function::And(inverted(operands)), false),
        "XOR" => (Function::Xor(operands), false),
        "XNOR" => (Function::Xor(operands), true),
        "NAND" | "NOT" | "GND" => (Function::And(operands), true),
        // A conjunction of nothing is true.
        _ => (Function::And(operands), false),
    };
    Driver::Gate(Box::new(function), is_inverted)
}
