//! What names mean: the variables, labels and values of a program.

use std::collections::HashMap;

use ample_model::{Enumeration, EnumerationId, LocationId, Scalar, Source, Span, VariableId};

use super::ast::{Block, Declaration, Name, Number, Process, StatementKind, Text, TypeName};
use crate::diagnostic::Diagnostic;

/// How many bits an integer has if the text does not say.
pub(super) const INTEGER_LENGTH: u8 = 8;
/// How many bits it may have.
const MAX_INTEGER_LENGTH: u64 = 32;
/// A value of an enumeration is kept in a byte.
const MAX_VALUES: usize = 255;
/// How many cells all variables may have together.
const MAX_CELLS: u64 = 1 << 16;
/// Process ids are kept in a byte.
const MAX_PROCESSES: usize = 254;

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Boolean,
    Integer,
    Enumeration(EnumerationId),
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    /// Its number among the globals of the system.
    pub id: VariableId,
    /// Its type, or that of its cells.
    pub ty: Ty,
    /// How a cell is kept.
    pub scalar: Scalar,
    /// How many cells it has, if it is an array.
    pub cells: Option<u32>,
}

/// What is known of a process.
#[derive(Debug)]
pub(super) struct Scope {
    /// Its name; a sequential program has none.
    pub name: Option<String>,
    pub variables: HashMap<String, Variable>,
    pub labels: HashMap<String, LocationId>,
    /// Its last location.
    pub terminate: LocationId,
}

/// What is known of a program.
#[derive(Debug)]
pub(super) struct Names {
    /// How many bits an integer has.
    pub integer_length: u8,
    pub enumerations: Vec<Enumeration>,
    /// The values of enumerations.
    pub values: HashMap<String, (EnumerationId, i64)>,
    /// The processes, in the order of the text.
    pub scopes: Vec<Scope>,
}

impl Names {
    /// The names of a text; what is wrong with them is reported.
    pub fn of(text: &Text, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Names {
        let names = Names {
            integer_length: INTEGER_LENGTH,
            enumerations: Vec::new(),
            values: HashMap::new(),
            scopes: Vec::new(),
        };
        let mut work = Work { names, source, diagnostics, variables: 0, cells: 0, processes: HashMap::new() };
        if let Some(length) = text.integer_length {
            work.integer_length(length);
        }
        // A value is known in all processes, also in those before the one that declares it.
        for process in &text.processes {
            work.values(process);
        }
        for process in &text.processes {
            work.process(process);
        }
        work.names
    }

    /// The largest integer.
    pub fn largest(&self) -> u64 {
        (1 << self.integer_length) - 1
    }

    pub fn is_parallel(&self) -> bool {
        self.scopes.first().is_some_and(|scope| scope.name.is_some())
    }

    /// A type, in words.
    pub fn describe(&self, ty: Ty) -> String {
        match ty {
            Ty::Boolean => "a truth value".to_owned(),
            Ty::Integer => "an integer".to_owned(),
            Ty::Enumeration(id) => {
                let values = &self.enumerations[id.index()].values;
                let names: Vec<&str> = values.iter().take(4).map(|(name, _)| name.as_str()).collect();
                let more = if values.len() > names.len() { ", …" } else { "" };
                format!("one of {{{}{more}}}", names.join(", "))
            }
        }
    }
}

struct Work<'a> {
    names: Names,
    source: &'a Source,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// How many variables and cells there are.
    variables: usize,
    cells: u64,
    processes: HashMap<&'a str, Span>,
}

impl<'a> Work<'a> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn declared_twice(&mut self, what: &str, name: &Name, first: Span) {
        let help = format!("the first one stands in line {}", self.source.position(first.start).0);
        let error = Diagnostic::error(name.span, format!("{what} `{}` is declared twice", name.text));
        self.diagnostics.push(error.with_help(help));
    }

    fn integer_length(&mut self, length: Number) {
        match u8::try_from(length.value) {
            Ok(bits) if (1..=MAX_INTEGER_LENGTH).contains(&length.value) => self.names.integer_length = bits,
            _ => {
                self.error(length.span, format!("an integer has 1 to {MAX_INTEGER_LENGTH} bits, not {}", length.value))
            }
        }
    }

    // Enumerations.

    fn values(&mut self, process: &'a Process) {
        for declaration in &process.declarations {
            if let TypeName::Enum(names) = &declaration.ty {
                self.enumeration(names);
            }
        }
    }

    /// Declares an enumeration, unless it is known: several variables may have it.
    fn enumeration(&mut self, names: &[Name]) {
        let written: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
        let is_known =
            |known: &Enumeration| known.values.iter().map(|(name, _)| name.as_str()).eq(written.iter().copied());
        if self.names.enumerations.iter().any(is_known) {
            return;
        }
        if names.len() > MAX_VALUES {
            let message = format!("an enumeration has at most {MAX_VALUES} values, not {}", names.len());
            return self.error(names[MAX_VALUES].span, message);
        }
        let id = EnumerationId::from(self.names.enumerations.len());
        let mut values = Vec::new();
        for (name, value) in names.iter().zip(1..) {
            if let Some((of, _)) = self.names.values.insert(name.text.clone(), (id, value)) {
                let message = match of == id {
                    true => format!("the value `{}` stands here twice", name.text),
                    false => format!("`{}` is a value of another enumeration", name.text),
                };
                self.error(name.span, message);
            }
            values.push((name.text.clone(), value));
        }
        self.names.enumerations.push(Enumeration { name: String::new(), values });
    }

    fn find_enumeration(&self, names: &[Name]) -> Option<EnumerationId> {
        let first = names.first()?;
        self.names.values.get(&first.text).map(|(id, _)| *id)
    }

    // Processes.

    fn process(&mut self, process: &'a Process) {
        if let Some(name) = &process.name
            && let Some(first) = self.processes.insert(&name.text, name.span)
        {
            self.declared_twice("the process", name, first);
        }
        if self.names.scopes.len() == MAX_PROCESSES {
            self.error(process.span, format!("a program has at most {MAX_PROCESSES} processes"));
        }
        let mut variables = HashMap::new();
        let mut seen = HashMap::new();
        for declaration in &process.declarations {
            if let Some(first) = seen.insert(declaration.name.text.as_str(), declaration.name.span) {
                self.declared_twice("the variable", &declaration.name, first);
            }
            if let Some(variable) = self.variable(declaration) {
                variables.insert(declaration.name.text.clone(), variable);
            }
        }
        let mut labels = Labels { next: 0, found: HashMap::new() };
        labels.block(&process.body, &mut |name, first| self.declared_twice("the label", name, first));
        self.names.scopes.push(Scope {
            name: process.name.as_ref().map(|name| name.text.clone()),
            variables,
            terminate: LocationId::from(labels.next),
            labels: labels.found.into_iter().map(|(name, (location, _))| (name.to_owned(), location)).collect(),
        });
    }

    fn variable(&mut self, declaration: &Declaration) -> Option<Variable> {
        let Declaration { ty, name, cells, .. } = declaration;
        if self.names.values.contains_key(&name.text) {
            self.error(name.span, format!("`{}` is a value of an enumeration", name.text));
        }
        let (ty, scalar) = match ty {
            TypeName::Boolean => (Ty::Boolean, Scalar::BOOL),
            TypeName::Int(bits) => (Ty::Integer, Scalar::Int { bits: self.bits(*bits), signed: false }),
            TypeName::Enum(names) => {
                let id = self.find_enumeration(names)?;
                (Ty::Enumeration(id), Scalar::Enumeration(id))
            }
        };
        let cells = cells.map(|number| self.array(name, number));
        self.cells += u64::from(cells.unwrap_or(1));
        if self.cells > MAX_CELLS {
            self.error(name.span, format!("the variables have more than {MAX_CELLS} cells together"));
            self.cells = 0;
        }
        let id = VariableId::from(self.variables);
        self.variables += 1;
        Some(Variable { id, ty, scalar, cells })
    }

    fn bits(&mut self, bits: Option<Number>) -> u8 {
        let length = self.names.integer_length;
        let Some(Number { value, span }) = bits else { return length };
        match u8::try_from(value) {
            Ok(bits) if (1..=length).contains(&bits) => bits,
            _ => {
                self.error(span, format!("a variable has 1 to {length} bits, as many as an integer, not {value}"));
                length
            }
        }
    }

    fn array(&mut self, name: &Name, Number { value, span }: Number) -> u32 {
        match u32::try_from(value) {
            Ok(cells) if cells > 0 && value <= MAX_CELLS => cells,
            _ => {
                self.error(span, format!("the array `{}` has 1 to {MAX_CELLS} cells, not {value}", name.text));
                1
            }
        }
    }
}

/// Finds labels: a location is before each statement, in the order of the text.
struct Labels<'a> {
    next: usize,
    found: HashMap<&'a str, (LocationId, Span)>,
}

impl<'a> Labels<'a> {
    fn block(&mut self, block: &'a Block, twice: &mut dyn FnMut(&Name, Span)) {
        for statement in &block.statements {
            let here = LocationId::from(self.next);
            self.next += 1;
            match &statement.kind {
                StatementKind::Label(name) => {
                    if let Some((_, first)) = self.found.insert(&name.text, (here, name.span)) {
                        twice(name, first);
                    }
                }
                StatementKind::If(_, first, second) => {
                    self.block(first, twice);
                    self.block(second, twice);
                }
                StatementKind::While(_, body) => self.block(body, twice),
                _ => {}
            }
        }
    }
}
