//! AIGER, the exchange format of and-inverter graphs (A. Biere, *The AIGER And-Inverter Graph (AIG) Format*, 2007; A.
//! Biere, K. Heljanko, S. Wieringa, *AIGER 1.9 and beyond*, 2011), in its ASCII form (`aag`) and its binary form (`aig`).
//!
//! A literal is twice the number of a variable, plus one for its complement. In the binary form inputs, latches and gates are
//! numbered in this order, so that only differences between the literals of a gate are written, seven bits a byte. Bad
//! states, constraints, justice and fairness are sections of version 1.9; in a file without bad states and justice the
//! outputs are what must not happen, as in the first version.
//!
//! The header is never believed: nothing is allocated for what the rest of the file is too short to define.

use std::collections::{HashMap, HashSet};

use super::netlist::{Driver, Justice, Latch, Literal, Named, Netlist, Place, Reset};
use super::{Read, Reader};
use crate::diagnostic::counted;

/// Variables are numbered by 31 bits here, so that a literal has 32.
const MAX_VARIABLES: u64 = 1 << 30;

/// The counts of the header.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    variables: u64,
    inputs: u64,
    latches: u64,
    outputs: u64,
    gates: u64,
    bad: u64,
    constraints: u64,
    justice: u64,
    fairness: u64,
}

/// The names of the counts, as the format's description has them.
const COUNTS: [(&str, &str); 9] = [
    ("M", "the largest variable"),
    ("I", "inputs"),
    ("L", "latches"),
    ("O", "outputs"),
    ("A", "and gates"),
    ("B", "bad states"),
    ("C", "constraints"),
    ("J", "justice properties"),
    ("F", "fairness constraints"),
];

/// A literal as it is written, with its place.
type Written = (u64, Place);

/// Reads a circuit.
pub(super) fn read(reader: &mut Reader<'_, '_>) -> Read<Netlist> {
    let is_binary = reader.bytes.starts_with(b"aig");
    let header = header(reader)?;
    let mut aiger = Aiger { reader, header, is_binary, defined: HashMap::new(), netlist: Netlist::new() };
    aiger.definitions()?;
    let mut netlist = aiger.netlist;
    if netlist.bad.is_empty() && netlist.justice.is_empty() {
        netlist.bad.clone_from(&netlist.outputs);
    }
    Ok(netlist)
}

fn header(reader: &mut Reader<'_, '_>) -> Read<Header> {
    if !reader.bytes.starts_with(b"aag") && !reader.bytes.starts_with(b"aig") {
        return Err(reader.error(0, reader.bytes.len().min(3), "an AIGER file begins with `aag` or `aig`"));
    }
    reader.at = 3;
    let mut counts = [0u64; 9];
    let mut given = 0;
    let mut place = Place::new(0, 3);
    while !reader.at_line_end() {
        if given == counts.len() {
            let message = "a header has at most nine numbers: `M I L O A B C J F`";
            return Err(reader.error(reader.at, reader.word_end(), message));
        }
        let (letter, what) = COUNTS[given];
        (counts[given], place) = reader.number(&format!("{letter}, the number of {what}"))?;
        if counts[given] > MAX_VARIABLES {
            let message = format!("{letter} is {}, and at most {MAX_VARIABLES} are read", counts[given]);
            return Err(reader.error_at(place, &message));
        }
        given += 1;
    }
    if given < 5 {
        let message = format!("a header has at least five numbers, `M I L O A`, and this one has {given}");
        return Err(reader.error_at(place, &message));
    }
    reader.end_line()?;
    let [variables, inputs, latches, outputs, gates, bad, constraints, justice, fairness] = counts;
    let header = Header { variables, inputs, latches, outputs, gates, bad, constraints, justice, fairness };
    header.check(reader)?;
    Ok(header)
}

impl Header {
    fn check(&self, reader: &Reader<'_, '_>) -> Read<()> {
        let whole = Place::new(0, reader.at.saturating_sub(1));
        let sum = self.inputs + self.latches + self.gates;
        let is_binary = reader.bytes.starts_with(b"aig");
        if is_binary && self.variables != sum || self.variables < sum {
            let than = if is_binary { "must be" } else { "is less than" };
            let message = format!("M is {}, and {than} I + L + A = {sum}", self.variables);
            return Err(reader.error_at(whole, &message));
        }
        let cells = self.inputs + self.latches;
        if cells > u64::from(super::MAX_CELLS) {
            let message = format!("it has {cells} inputs and latches, and at most {} are read", super::MAX_CELLS);
            return Err(reader.error_at(whole, &message));
        }
        let inputs = if is_binary { 0 } else { self.inputs };
        let lines = inputs + self.latches + self.outputs + self.bad + self.constraints + self.justice + self.fairness;
        let least = 2 * (lines + self.gates);
        let left = reader.bytes.len() - reader.at;
        // The last line may lack its end.
        if least > left as u64 + 1 {
            let message = format!(
                "what the header announces has at least {least} bytes, and the file has {} behind it",
                counted(left, "byte")
            );
            return Err(reader.error_at(whole, &message));
        }
        Ok(())
    }
}

struct Aiger<'r, 't, 'b> {
    reader: &'r mut Reader<'t, 'b>,
    header: Header,
    is_binary: bool,
    /// The signals of variables, in the ASCII form: in the binary one they have the same number.
    defined: HashMap<u32, u32>,
    netlist: Netlist,
}

/// What is still to be resolved: literals may be used before they are defined.
#[derive(Default)]
struct Sections {
    latches: Vec<(u32, Written, Reset)>,
    outputs: Vec<Written>,
    bad: Vec<Written>,
    constraints: Vec<Written>,
    justice: Vec<(Place, Vec<Written>)>,
    fairness: Vec<Written>,
    /// The gates of the ASCII form: those of the binary one are in order.
    gates: Vec<(u32, [Written; 2])>,
}

impl Aiger<'_, '_, '_> {
    fn definitions(&mut self) -> Read<()> {
        let header = self.header;
        let mut sections = Sections::default();
        for number in 0..header.inputs {
            self.input(number)?;
        }
        for number in 0..header.latches {
            let latch = self.latch(number)?;
            sections.latches.push(latch);
        }
        sections.outputs = self.literals(header.outputs, "an output")?;
        sections.bad = self.literals(header.bad, "a bad state")?;
        sections.constraints = self.literals(header.constraints, "a constraint")?;
        sections.justice = self.justice()?;
        sections.fairness = self.literals(header.fairness, "a fairness constraint")?;
        for _ in 0..header.gates {
            self.reader.watch.step()?;
            if self.is_binary {
                self.binary_gate()?;
            } else {
                let gate = self.gate()?;
                sections.gates.push(gate);
            }
        }
        let names = self.symbols()?;
        self.resolve(&sections, names)
    }

    fn input(&mut self, number: u64) -> Read<()> {
        self.reader.watch.step()?;
        let at = match self.is_binary {
            true => Place::default(),
            false => {
                let written = self.reader.number("the literal of an input")?;
                self.reader.end_line()?;
                self.define(written, "an input")?;
                written.1
            }
        };
        let signal = self.netlist.add(Driver::Input, None, at);
        debug_assert_eq!(u64::from(signal), number + 1);
        self.netlist.inputs.push(signal);
        Ok(())
    }

    fn latch(&mut self, number: u64) -> Read<(u32, Written, Reset)> {
        self.reader.watch.step()?;
        let own = match self.is_binary {
            true => (2 * (self.header.inputs + number + 1), Place::default()),
            false => {
                let written = self.reader.number("the literal of a latch")?;
                self.define(written, "a latch")?;
                written
            }
        };
        let next = self.written("the next literal of a latch")?;
        let mut reset = Reset::Value(false);
        if !self.reader.at_line_end() {
            let (value, at) = self.reader.number("a reset value")?;
            reset = match value {
                0 => Reset::Value(false),
                1 => Reset::Value(true),
                value if value == own.0 => Reset::Any,
                _ => {
                    let message =
                        format!("a latch is reset to 0, to 1, or to its own literal {}, not to {value}", own.0);
                    return Err(self.reader.error_at(at, &message));
                }
            };
        }
        self.reader.end_line()?;
        let at = if self.is_binary { next.1 } else { own.1 };
        let signal = self.netlist.add(Driver::Latch, None, at);
        Ok((signal, next, reset))
    }

    /// The literal that a variable is defined by.
    fn define(&mut self, (literal, at): Written, what: &str) -> Read<()> {
        self.in_range((literal, at))?;
        if literal < 2 || literal % 2 == 1 {
            let message = format!("{what} is defined by an even literal that is not 0, not by {literal}");
            return Err(self.reader.error_at(at, &message));
        }
        let signal = self.netlist.signals.len() as u32;
        self.netlist.variables.push((literal / 2) as u32);
        if self.defined.insert((literal / 2) as u32, signal).is_some() {
            return Err(self.reader.error_at(at, &format!("the literal {literal} is defined twice")));
        }
        Ok(())
    }

    fn in_range(&self, (literal, at): Written) -> Read<()> {
        let most = 2 * self.header.variables + 1;
        if literal > most {
            let message = format!("the literal {literal} is too large: M = {} allows {most}", self.header.variables);
            return Err(self.reader.error_at(at, &message));
        }
        Ok(())
    }

    fn written(&mut self, what: &str) -> Read<Written> {
        let written = self.reader.number(what)?;
        self.in_range(written)?;
        Ok(written)
    }

    /// A section with a literal on each line.
    fn literals(&mut self, count: u64, what: &str) -> Read<Vec<Written>> {
        let what = format!("the literal of {what}");
        let mut all = Vec::new();
        for _ in 0..count {
            self.reader.watch.step()?;
            all.push(self.written(&what)?);
            self.reader.end_line()?;
        }
        Ok(all)
    }

    /// First how many literals each property has, then the literals of all of them.
    fn justice(&mut self) -> Read<Vec<(Place, Vec<Written>)>> {
        let mut counts = Vec::new();
        for _ in 0..self.header.justice {
            self.reader.watch.step()?;
            counts.push(self.reader.number("the number of literals of a justice property")?);
            self.reader.end_line()?;
        }
        let mut all = Vec::new();
        for (count, at) in counts {
            all.push((at, self.literals(count, "a justice property")?));
        }
        Ok(all)
    }

    fn gate(&mut self) -> Read<(u32, [Written; 2])> {
        let own = self.reader.number("the literal of an and gate")?;
        self.define(own, "an and gate")?;
        let signal = self.netlist.add(Driver::Constant, None, own.1);
        let operands = [self.written("an operand of an and gate")?, self.written("an operand of an and gate")?];
        self.reader.end_line()?;
        Ok((signal, operands))
    }

    /// The literal of the gate is known; its operands are smaller, and so is the second than the first.
    fn binary_gate(&mut self) -> Read<()> {
        let start = self.reader.at;
        let own = 2 * self.netlist.signals.len() as u64;
        let first = self.difference()?;
        if first == 0 || first > own {
            let message =
                format!("the first difference of gate {} is {first}, and must lie between 1 and {own}", own / 2);
            return Err(self.reader.error(start, self.reader.at, &message));
        }
        let (second_start, greater) = (self.reader.at, own - first);
        let second = self.difference()?;
        if second > greater {
            let message = format!("the second difference of gate {} is {second}, more than {greater}", own / 2);
            return Err(self.reader.error(second_start, self.reader.at, &message));
        }
        let literal = |written: u64| Literal::new((written / 2) as u32, written % 2 == 1);
        let driver = Driver::And([literal(greater), literal(greater - second)]);
        self.netlist.add(driver, None, Place::new(start, self.reader.at));
        Ok(())
    }

    /// Seven bits a byte, the least significant first; all but the last byte have their highest bit set.
    fn difference(&mut self) -> Read<u64> {
        let start = self.reader.at;
        let mut value = 0u64;
        for shift in (0..).step_by(7) {
            let Some(byte) = self.reader.bytes.get(self.reader.at) else {
                return Err(self.reader.error(start, start, "the file ends inside the and gates"));
            };
            self.reader.at += 1;
            if shift > 28 || shift == 28 && byte & 0x70 != 0 {
                let message = "a difference of more than 32 bits in the and gates";
                return Err(self.reader.error(start, self.reader.at, message));
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value)
    }

    /// The symbol table: a letter, a number, and a name on each line; then there may be comments.
    fn symbols(&mut self) -> Read<HashMap<(u8, u64), (String, Place)>> {
        let mut names = HashMap::new();
        while let Some(letter) = self.reader.bytes.get(self.reader.at).copied() {
            self.reader.watch.step()?;
            let start = self.reader.at;
            let next = self.reader.bytes.get(start + 1).copied();
            if letter == b'c' && next.is_none_or(|byte| !byte.is_ascii_digit()) {
                break;
            }
            if self.reader.at_line_end() {
                self.reader.end_line()?;
                continue;
            }
            let (count, what) = match letter {
                b'i' => (self.header.inputs, "inputs"),
                b'l' => (self.header.latches, "latches"),
                b'o' => (self.header.outputs, "outputs"),
                b'b' => (self.header.bad, "bad states"),
                b'c' => (self.header.constraints, "constraints"),
                b'j' => (self.header.justice, "justice properties"),
                b'f' => (self.header.fairness, "fairness constraints"),
                _ => {
                    let message =
                        "expected a line of the symbol table (a letter of `ilobcjf`, a number and a name) or `c`";
                    return Err(self.reader.error(start, self.reader.character_end(), message));
                }
            };
            self.reader.at += 1;
            let (number, at) = self.reader.number("the number of a symbol")?;
            if number >= count {
                let message = format!("there is a name for number {number} of {count} {what}");
                return Err(self.reader.error_at(Place::new(start, at.end as usize), &message));
            }
            let (name, place) = self.reader.rest_of_line();
            if name.is_empty() {
                return Err(self.reader.error_at(Place::new(start, at.end as usize), "a symbol without a name"));
            }
            if names.insert((letter, number), (name, place)).is_some() {
                let message = format!("number {number} of the {what} has two names");
                return Err(self.reader.error_at(Place::new(start, place.end as usize), &message));
            }
        }
        Ok(names)
    }

    fn literal(&self, (literal, at): Written) -> Read<Literal> {
        let (variable, inverted) = ((literal / 2) as u32, literal % 2 == 1);
        if self.is_binary || variable == 0 {
            return Ok(Literal::new(variable, inverted));
        }
        match self.defined.get(&variable) {
            Some(signal) => Ok(Literal::new(*signal, inverted)),
            None => Err(self.reader.error_at(at, &format!("the literal {literal} is defined nowhere"))),
        }
    }

    fn resolve(&mut self, sections: &Sections, names: HashMap<(u8, u64), (String, Place)>) -> Read<()> {
        for (signal, operands) in &sections.gates {
            self.reader.watch.step()?;
            let operands = [self.literal(operands[0])?, self.literal(operands[1])?];
            self.netlist.signals[*signal as usize].driver = Driver::And(operands);
        }
        for (signal, next, reset) in &sections.latches {
            let next = self.literal(*next)?;
            self.netlist.latches.push(Latch { signal: *signal, next, reset: *reset });
        }
        let reserved = names.values().map(|(name, _)| name.clone()).collect();
        let mut names = Symbols { given: names, reserved, taken: HashSet::new() };
        for (number, signal) in self.netlist.inputs.clone().into_iter().enumerate() {
            self.name(&mut names, b'i', number, signal);
        }
        for number in 0..self.netlist.latches.len() {
            self.name(&mut names, b'l', number, self.netlist.latches[number].signal);
        }
        let mut named = |this: &Self, letter: u8, written: &[Written]| -> Read<Vec<Named>> {
            let one = |(number, written): (usize, &Written)| {
                let literal = this.literal(*written)?;
                let (name, _) = names.take(letter, number);
                Ok(Named { name, literal, at: written.1 })
            };
            written.iter().enumerate().map(one).collect()
        };
        self.netlist.outputs = named(self, b'o', &sections.outputs)?;
        self.netlist.bad = named(self, b'b', &sections.bad)?;
        let all =
            |this: &Self, written: &[Written]| written.iter().map(|one| this.literal(*one)).collect::<Read<Vec<_>>>();
        self.netlist.constraints = all(self, &sections.constraints)?;
        self.netlist.fairness = all(self, &sections.fairness)?;
        for (number, (at, literals)) in sections.justice.iter().enumerate() {
            let (literals, (name, _)) = (all(self, literals)?, names.take(b'j', number));
            self.netlist.justice.push(Justice { name, literals, at: *at });
        }
        Ok(())
    }

    fn name(&mut self, names: &mut Symbols, letter: u8, number: usize, signal: u32) {
        let (name, at) = names.take(letter, number);
        let signal = &mut self.netlist.signals[signal as usize];
        signal.name = Some(name);
        if let Some(at) = at.filter(|_| signal.at == Place::default()) {
            signal.at = at;
        }
    }
}

/// The names in the symbol table.
struct Symbols {
    given: HashMap<(u8, u64), (String, Place)>,
    /// All of them: nothing without a name gets one of these.
    reserved: HashSet<String>,
    taken: HashSet<String>,
}

impl Symbols {
    /// The name of something: that of the symbol table, if nothing before has it, or else the letter and the number.
    fn take(&mut self, letter: u8, number: usize) -> (String, Option<Place>) {
        let given = self.given.remove(&(letter, number as u64));
        let at = given.as_ref().map(|(_, at)| *at);
        if let Some((name, _)) = given
            && self.taken.insert(name.clone())
        {
            return (name, at);
        }
        let mut name = format!("{}{number}", char::from(letter));
        while self.reserved.contains(&name) || !self.taken.insert(name.clone()) {
            name.push('_');
        }
        (name, at)
    }
}

/// It begins like a header.
pub(super) fn looks_like(text: &str) -> bool {
    let rest = text.strip_prefix("aag").or_else(|| text.strip_prefix("aig"));
    rest.is_some_and(|rest| rest.starts_with(' '))
}
