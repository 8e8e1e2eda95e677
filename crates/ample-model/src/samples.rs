//! A few words to build small systems with, for the tests.

use crate::expr::{BinaryOp, Expr, Index, Pattern, Place, Scope};
use crate::system::*;

impl System {
    /// Nothing at all.
    pub fn empty() -> System {
        System::new("sample", "none")
    }

    /// Adds a global cell.
    pub fn global(&mut self, name: &str, scalar: Scalar) -> Place {
        self.globals.push(variable(name, Type::Scalar(scalar)));
        global(self.globals.len() - 1, scalar)
    }

    /// Adds a global channel variable with its channel; the handle as an expression.
    pub fn channel(&mut self, name: &str, capacity: u32, fields: &[Scalar]) -> Expr {
        let channel = Channel { name: name.into(), capacity, fields: fields.into(), span: None };
        self.channels.push(channel);
        let place = self.global(name, Scalar::Channel);
        let kind = Initial::Channel((self.channels.len() - 1).into());
        self.globals[place.variable.index()].initial.push((0, kind));
        Expr::Read(place)
    }

    /// Adds a process type and lets one process of it start.
    pub fn start(&mut self, process: ProcessType) -> ProcessId {
        let id = self.declare(process);
        self.start.push(Instance { process: id, arguments: Vec::new(), priority: None });
        id
    }

    /// Adds a process type.
    pub fn declare(&mut self, process: ProcessType) -> ProcessId {
        self.processes.push(process);
        (self.processes.len() - 1).into()
    }
}

/// A variable that starts with 0.
pub fn variable(name: &str, ty: Type) -> Variable {
    Variable { name: name.into(), ty, initial: Vec::new(), hidden: false, kind: VariableKind::State, span: None }
}

/// A global cell.
pub fn global(variable: usize, scalar: Scalar) -> Place {
    Place { scope: Scope::Global, variable: variable.into(), offset: 0, indices: Vec::new(), scalar }
}

/// A local cell.
pub fn local(variable: usize, scalar: Scalar) -> Place {
    Place { scope: Scope::Local, ..global(variable, scalar) }
}

/// `place[at]`
pub fn element(place: &Place, at: Expr, length: u32) -> Place {
    Place { indices: vec![Index { at, length, stride: 1 }], ..place.clone() }
}

/// The value of a cell.
pub fn read(place: &Place) -> Expr {
    Expr::Read(place.clone())
}

/// `x == y`
pub fn equal(x: Expr, y: i64) -> Expr {
    Expr::binary(BinaryOp::Equal, x, Expr::Const(y))
}

/// `x + y`
pub fn plus(x: Expr, y: i64) -> Expr {
    Expr::binary(BinaryOp::Add, x, Expr::Const(y))
}

/// A process type whose locations are those that the edges name; those in `ends` are end locations.
pub fn process(name: &str, locals: Vec<Variable>, edges: Vec<Edge>, ends: &[usize]) -> ProcessType {
    let count = edges.iter().map(|edge| edge.from.index().max(edge.to.index()) + 1).max().unwrap_or(1);
    let mut locations = vec![Location::default(); count];
    for (number, location) in locations.iter_mut().enumerate() {
        location.number = number as u32 + 1;
        location.end = ends.contains(&number);
    }
    for (id, edge) in edges.iter().enumerate() {
        locations[edge.from.index()].edges.push(id.into());
    }
    ProcessType {
        name: name.into(),
        role: Role::Process,
        parameters: 0,
        locals,
        locations,
        edges,
        initial: LocationId(0),
        provided: None,
        priority: 1,
        unreachable_labels: Vec::new(),
        dead_code: Vec::new(),
        structure: None,
        span: None,
    }
}

/// An edge that does nothing.
pub fn edge(from: u32, to: u32) -> Edge {
    Edge {
        from: LocationId(from),
        to: LocationId(to),
        guard: Vec::new(),
        communication: None,
        effect: Vec::new(),
        keeps_control: false,
        action: None,
        origin: Vec::new(),
        span: None,
        label: format!("{from}->{to}"),
    }
}

impl Edge {
    /// Only if that holds.
    pub fn when(mut self, condition: Expr) -> Edge {
        self.guard.push(condition);
        self
    }

    /// Sends the values.
    pub fn sends(mut self, channel: &Expr, values: Vec<Expr>) -> Edge {
        self.communication = Some(Communication::Send { channel: channel.clone(), values, sorted: false });
        self
    }

    /// Receives a message that fits.
    pub fn receives(mut self, channel: &Expr, patterns: Vec<Pattern>) -> Edge {
        self.communication =
            Some(Communication::Receive { channel: channel.clone(), patterns, anywhere: false, keep: false });
        self
    }

    /// Does that, too.
    pub fn does(mut self, action: Action) -> Edge {
        self.effect.push(Instruction::Do(action));
        self
    }

    /// `place = value`
    pub fn sets(self, place: &Place, value: Expr) -> Edge {
        self.does(Action::Assign(place.clone(), value))
    }

    /// `assert(condition)`
    pub fn asserts(self, condition: Expr, text: &str) -> Edge {
        self.does(Action::Assert { condition, text: text.into() })
    }

    /// Stays in control.
    pub fn keeping_control(mut self) -> Edge {
        self.keeps_control = true;
        self
    }
}
