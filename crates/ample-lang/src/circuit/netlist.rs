//! Circuits as all formats give them: signals, and what drives each of them.
//!
//! A signal is driven by an input, a latch or a gate; gates may be listed in any order, but must not form a cycle. A
//! [`Literal`] is a signal or its complement, as in an and-inverter graph; signal 0 is the constant 0.

use ample_model::{SourceId, Span};

/// A place in the only source file there is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub start: u32,
    pub end: u32,
}

impl Place {
    pub fn new(start: usize, end: usize) -> Place {
        Place { start: start as u32, end: end as u32 }
    }

    pub fn span(self) -> Span {
        Span { source: SourceId(0), start: self.start, end: self.end }
    }
}

/// A signal or its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal(u32);

impl Literal {
    pub fn new(signal: u32, inverted: bool) -> Literal {
        Literal(signal << 1 | u32::from(inverted))
    }

    pub fn signal(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// What a gate computes.
#[derive(Clone, Debug)]
pub(super) enum Function {
    /// All of these; true if there are none.
    And(Vec<Literal>),
    /// An odd number of these.
    Xor(Vec<Literal>),
    /// Some product of these: a cover of BLIF.
    Sum(Vec<Vec<Literal>>),
}

/// What drives a signal.
#[derive(Clone, Debug)]
pub(super) enum Driver {
    /// It is always 0.
    Constant,
    Input,
    Latch,
    /// A gate of an and-inverter graph.
    And([Literal; 2]),
    /// Any other gate, and whether its value is inverted.
    Gate(Box<Function>, bool),
}

#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub driver: Driver,
    /// None if the format gives it none.
    pub name: Option<String>,
    pub at: Place,
}

/// How a latch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reset {
    Value(bool),
    /// With either value.
    Any,
}

#[derive(Clone, Debug)]
pub(super) struct Latch {
    pub signal: u32,
    pub next: Literal,
    pub reset: Reset,
}

/// A literal with a name: an output, or what a property says.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub literal: Literal,
    pub at: Place,
}

/// A justice property: all of these again and again.
#[derive(Clone, Debug)]
pub(super) struct Justice {
    pub name: String,
    pub literals: Vec<Literal>,
    pub at: Place,
}

/// A circuit.
#[derive(Clone, Debug, Default)]
pub(super) struct Netlist {
    /// Signal 0 is the constant.
    pub signals: Vec<Signal>,
    pub inputs: Vec<u32>,
    pub latches: Vec<Latch>,
    /// The literals that are outputs.
    pub outputs: Vec<Named>,
    /// What must never happen.
    pub bad: Vec<Named>,
    /// What always holds.
    pub constraints: Vec<Literal>,
    /// The numbers that the file gives to signals without names, where these are not the numbers of the signals; from the
    /// first one behind the constant on.
    pub variables: Vec<u32>,
    /// What must not happen again and again, while all of `fairness` does.
    pub justice: Vec<Justice>,
    pub fairness: Vec<Literal>,
}

impl Netlist {
    /// Nothing but the constant.
    pub fn new() -> Netlist {
        let constant = Signal { driver: Driver::Constant, name: None, at: Place::default() };
        Netlist { signals: vec![constant], ..Netlist::default() }
    }

    /// Another signal.
    pub fn add(&mut self, driver: Driver, name: Option<String>, at: Place) -> u32 {
        self.signals.push(Signal { driver, name, at });
        self.signals.len() as u32 - 1
    }

    /// What messages call a signal.
    pub fn name_of(&self, signal: usize) -> String {
        self.signals[signal].name.clone().unwrap_or_else(|| {
            let number = signal.checked_sub(1).and_then(|at| self.variables.get(at));
            format!("variable {}", number.map_or(signal as u64, |number| u64::from(*number)))
        })
    }
}

impl Driver {
    /// The literals that it depends on in the same cycle.
    pub fn operands(&self, visit: &mut dyn FnMut(Literal)) {
        match self {
            Driver::Constant | Driver::Input | Driver::Latch => {}
            Driver::And(operands) => operands.iter().copied().for_each(visit),
            Driver::Gate(function, _) => match &**function {
                Function::And(operands) | Function::Xor(operands) => operands.iter().copied().for_each(visit),
                Function::Sum(products) => products.iter().flatten().copied().for_each(visit),
            },
        }
    }
}
