//! Random systems, for tests that compare one engine with another.
//!
//! Every system passes [`check`](crate::check::check), is small enough to be explored in full, and makes
//! use of most of what a system can contain, in combinations that nobody would write by hand. The seed
//! decides everything: put it into the failure message.

mod sequential;
mod sharing;
mod synchronous;

use ample_random::Random;
pub use sequential::sequential;
pub use sharing::with_shared;
pub use synchronous::synchronous;

use crate::expr::{BinaryOp, Expr, Index, Pattern, Place, Scope, UnaryOp};
use crate::system::{
    Action, ActionId, Channel, ChannelId, Communication, Coupling, Edge, EdgeId, EventKind, Initial, Instance,
    Instruction, Location, LocationId, Monitor, MonitorEdge, NamedAction, Overflow, ProcessId, ProcessType, Role,
    Scalar, System, Type, Variable, VariableKind,
};

const BIT: Scalar = Scalar::Int { bits: 1, signed: false };
const CRUMB: Scalar = Scalar::Int { bits: 2, signed: true };

/// How long the array among the globals is.
const LENGTH: u32 = 3;

/// What a random system may contain beyond plain processes, variables and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Steps may end in faults: divisions, subscripts, ranges, handles, blocked effects.
    pub faults: bool,
    /// Exclusive control.
    pub control: bool,
    /// Processes are spawned and end.
    pub spawn: bool,
    /// `Timeout`, `Enabled`, `At`, `Remote`, `LastMover`, `ProcessCount`, `NonProgress` and the like.
    pub looks: bool,
    /// Priorities and `provided` clauses.
    pub priorities: bool,
    /// A monitor.
    pub monitor: bool,
    /// Actions that several processes take together.
    pub actions: bool,
}

impl Features {
    /// Everything that all engines know.
    pub const ALL: Features = Features {
        faults: true,
        control: true,
        spawn: true,
        looks: true,
        priorities: true,
        monitor: true,
        actions: false,
    };
    /// Everything.
    pub const MOST: Features = Features { actions: true, ..Features::ALL };
    /// Plain processes, variables and channels.
    pub const NONE: Features = Features {
        faults: false,
        control: false,
        spawn: false,
        looks: false,
        priorities: false,
        monitor: false,
        actions: false,
    };
}

/// The random system of that seed.
///
/// ```
/// use ample_model::random::{Features, system};
/// use ample_model::{check::check, interpret::explore};
///
/// let system = system(42, Features::ALL);
/// assert!(check(&system).is_ok());
/// let explored = explore(&system, 1000);
/// assert!(explored.states > 0 || explored.violations > 0);
/// ```
pub fn system(seed: u64, features: Features) -> System {
    Maker { random: Random::new(seed), features }.system(seed)
}

/// The edge that an expression belongs to, as far as it is known.
#[derive(Clone, Copy)]
struct Site<'a> {
    /// There is a process, with locals.
    local: bool,
    /// The edges of the location that come before.
    earlier: &'a [EdgeId],
}

const NOWHERE: Site<'static> = Site { local: false, earlier: &[] };

struct Maker {
    random: Random,
    features: Features,
}

/// Every process type has this many locations; the first local of each is its parameter.
const LOCATIONS: u32 = 3;
const TYPES: u32 = 2;
const ACTIONS: u32 = 2;

impl Maker {
    fn system(&mut self, seed: u64) -> System {
        let mut globals = vec![
            variable("a", Type::Scalar(CRUMB)),
            variable("b", Type::Scalar(BIT)),
            variable("array", Type::Array { element: Box::new(Type::Scalar(BIT)), length: LENGTH }),
            variable("q", Type::Scalar(Scalar::Channel)),
            variable("rv", Type::Scalar(Scalar::Channel)),
            variable("handle", Type::Scalar(Scalar::Channel)),
            variable("range", Type::Scalar(self.range())),
        ];
        globals[0].initial = vec![(0, if self.random.one_in(4) { Initial::AnyOf(vec![-1, 1]) } else { value(1) })];
        globals[3].initial = vec![(0, Initial::Channel(ChannelId(0)))];
        globals[4].initial = vec![(0, Initial::Channel(ChannelId(1)))];
        let handle = if self.features.faults { self.random.below(4) } else { 1 };
        globals[5].initial = vec![(0, value(handle.into()))];
        let channels = vec![self.channel("q", 1), self.channel("rv", 0), self.channel("own", 1)];
        let processes: Vec<ProcessType> = (0..TYPES).map(|number| self.process(number)).collect();
        let start = (0..2 + self.random.below(2)).map(|_| self.instance()).collect();
        let monitor = (self.features.monitor && self.random.one_in(2)).then(|| self.monitor());
        System {
            name: format!("random {seed}"),
            language: "random".into(),
            sources: Vec::new(),
            enumerations: Vec::new(),
            records: Vec::new(),
            channels,
            globals,
            processes,
            start,
            max_processes: 3,
            max_objects: crate::interpret::MAX_OBJECTS,
            monitor,
            properties: Vec::new(),
            uses_last: self.features.looks,
            uses_priorities: self.features.priorities && self.random.one_in(2),
            exclusive: Vec::new(),
            dead_ends: false,
            coupling: Coupling::Interleaving,
            actions: (0..if self.features.actions { ACTIONS } else { 0 })
                .map(|number| NamedAction { name: format!("action{number}"), span: None })
                .collect(),
            exact_types: false,
            signals: Vec::new(),
            original: None,
        }
    }

    fn range(&mut self) -> Scalar {
        let rules: &[Overflow] = if self.features.faults {
            &[Overflow::Wrap, Overflow::Saturate, Overflow::Fault]
        } else {
            &[Overflow::Wrap, Overflow::Saturate]
        };
        Scalar::Range { low: -1, high: 1, overflow: self.random.pick(rules) }
    }

    fn channel(&mut self, name: &str, capacity: u32) -> Channel {
        let capacity = if capacity > 0 { 1 + self.random.below(2) } else { 0 };
        Channel { name: name.into(), capacity, fields: vec![BIT, CRUMB], span: None }
    }

    fn instance(&mut self) -> Instance {
        let priority = (self.features.priorities && self.random.one_in(3)).then(|| (1 + self.random.below(3)) as u8);
        Instance { process: self.process_id(), arguments: vec![self.random.below(4).into()], priority }
    }

    fn process_id(&mut self) -> ProcessId {
        ProcessId(self.random.below(TYPES))
    }

    fn process(&mut self, number: u32) -> ProcessType {
        let mut locals = vec![variable("n", Type::Scalar(CRUMB)), variable("m", Type::Scalar(BIT))];
        locals[1].initial = vec![(0, Initial::Value(place(Scope::Local, 0, CRUMB)))];
        let mut own = variable("own", Type::Scalar(Scalar::Channel));
        own.initial = vec![(0, Initial::Channel(ChannelId(2)))];
        locals.push(own);
        let mut locations = Vec::new();
        let mut edges = Vec::new();
        for from in 0..LOCATIONS {
            let (mut ids, mut alone) = (Vec::new(), Vec::new());
            for _ in 0..2 + self.random.below(2) {
                let edge = self.edge(from, &alone);
                let id = EdgeId(edges.len() as u32);
                ids.push(id);
                alone.extend(edge.action.is_none().then_some(id));
                edges.push(edge);
            }
            let mut location = Location { number: from + 1, edges: ids, ..Location::default() };
            location.end = self.random.one_in(2);
            location.progress = self.random.one_in(3);
            locations.push(location);
        }
        let provided = (self.features.priorities && self.random.one_in(4)).then(|| self.expr(NOWHERE, 1));
        ProcessType {
            name: format!("p{number}"),
            role: Role::Process,
            parameters: 1,
            locals,
            locations,
            edges,
            initial: LocationId(0),
            provided,
            priority: if self.features.priorities { (1 + self.random.below(3)) as u8 } else { 1 },
            unreachable_labels: Vec::new(),
            dead_code: Vec::new(),
            structure: None,
            span: None,
        }
    }

    fn edge(&mut self, from: u32, earlier: &[EdgeId]) -> Edge {
        let site = Site { local: true, earlier };
        let to = self.random.below(LOCATIONS);
        let guards = self.random.pick(&[0, 0, 0, 1, 1, 2]);
        let guard = (0..guards).map(|_| self.expr(site, 2)).collect();
        let communication = self.random.one_in(2).then(|| self.communication(site, false));
        let mut effect = Vec::new();
        for _ in 0..self.random.below(3) {
            self.instruction(site, &mut effect);
        }
        let keeps_control = self.features.control && self.random.one_in(3);
        if self.features.spawn && self.random.one_in(8) {
            effect.push(Instruction::Do(Action::End));
        }
        let label = format!("{from} -> {to}");
        let action = self.features.actions && self.random.one_in(3);
        let action = action.then(|| ActionId(self.random.below(ACTIONS)));
        let (communication, keeps_control) =
            if action.is_some() { (None, false) } else { (communication, keeps_control) };
        Edge {
            from: LocationId(from),
            to: LocationId(to),
            guard,
            communication,
            effect,
            keeps_control,
            action,
            origin: Vec::new(),
            span: None,
            label,
        }
    }

    /// An action, a branch around one, or one that is skipped if it is not executable.
    fn instruction(&mut self, site: Site<'_>, effect: &mut Vec<Instruction>) {
        let after = effect.len() as u32 + 2;
        match self.random.below(6) {
            0 => {
                effect.push(Instruction::Try(Action::Test(self.expr(site, 1)), after));
                effect.push(Instruction::Do(self.action(site)));
            }
            1 => {
                let communication = self.communication(site, true);
                effect.push(Instruction::Try(Action::Communicate(communication), after - 1));
            }
            2 if self.features.faults && self.random.one_in(4) => {
                effect.push(Instruction::Do(Action::Test(self.expr(site, 1))));
            }
            _ => effect.push(Instruction::Do(self.action(site))),
        }
    }

    fn action(&mut self, site: Site<'_>) -> Action {
        match self.random.below(12) {
            0 if self.features.spawn && self.random.one_in(2) => {
                let arguments = vec![self.expr(site, 1)];
                Action::Spawn { process: self.process_id(), arguments, priority: None }
            }
            1 => Action::Assert { condition: self.expr(site, 2), text: "random".into() },
            2 => Action::Print { format: "%d\n".into(), arguments: vec![self.expr(site, 1)] },
            3 if self.features.priorities => {
                let priority =
                    if self.features.faults && self.random.one_in(4) { self.expr(site, 1) } else { Expr::Const(2) };
                Action::SetPriority(Expr::SelfId, priority)
            }
            4 if self.features.faults => {
                let handle = Place { scalar: Scalar::Channel, ..global(5, Scalar::Channel) };
                Action::Assign(handle, self.handle(true))
            }
            5 => {
                let count = 2 + self.random.below(2);
                Action::AssignAll((0..count).map(|_| (self.place(site), self.expr(site, 1))).collect())
            }
            _ => Action::Assign(self.place(site), self.expr(site, 2)),
        }
    }

    /// A handle: of the buffer, of the handshake, of the process's own channel, or of one that changes.
    fn handle(&mut self, buffered: bool) -> Expr {
        match self.random.below(6) {
            0..=2 if !buffered => place(Scope::Global, 4, Scalar::Channel),
            3 => place(Scope::Local, 2, Scalar::Channel),
            4 if self.features.faults && self.random.one_in(3) => place(Scope::Global, 5, Scalar::Channel),
            _ => place(Scope::Global, 3, Scalar::Channel),
        }
    }

    fn communication(&mut self, site: Site<'_>, in_effect: bool) -> Communication {
        if self.random.one_in(2) {
            let values = vec![self.expr(site, 1), self.expr(site, 1)];
            return Communication::Send { channel: self.handle(in_effect), values, sorted: self.random.one_in(3) };
        }
        let keep = self.random.one_in(6);
        let patterns = vec![self.pattern(site), self.pattern(site)];
        let channel = self.handle(in_effect || (keep && !self.features.faults));
        Communication::Receive { channel, patterns, anywhere: self.random.one_in(3), keep }
    }

    fn pattern(&mut self, site: Site<'_>) -> Pattern {
        match self.random.below(6) {
            0 => Pattern::Match(self.expr(site, 1)),
            1..=3 if site.local => Pattern::Bind(self.place(site)),
            _ => Pattern::Ignore,
        }
    }

    fn place(&mut self, site: Site<'_>) -> Place {
        match self.random.below(6) {
            0 if site.local => local(0, CRUMB),
            1 if site.local => local(1, BIT),
            2 => global(1, BIT),
            3 => {
                // Without faults, the subscript is brought into range.
                let at = self.expr(site, 0);
                let rule = if self.features.faults { Overflow::Fault } else { Overflow::Wrap };
                let index = Scalar::Range { low: 0, high: i64::from(LENGTH) - 1, overflow: rule };
                let at = if self.features.faults && self.random.one_in(2) { at } else { Expr::Cast(index, at.into()) };
                Place { indices: vec![Index { at, length: LENGTH, stride: 1 }], ..global(2, BIT) }
            }
            _ => global(0, CRUMB),
        }
    }

    fn expr(&mut self, site: Site<'_>, depth: u32) -> Expr {
        if depth == 0 {
            return self.leaf(site);
        }
        let deeper = depth - 1;
        match self.random.below(10) {
            0..=3 => self.leaf(site),
            4 => Expr::unary(self.random.pick(&[UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement]), {
                self.expr(site, deeper)
            }),
            5 => Expr::Conditional(
                self.expr(site, deeper).into(),
                self.expr(site, deeper).into(),
                self.expr(site, deeper).into(),
            ),
            6 if self.features.looks => self.look(site),
            7 => self.question(site),
            _ => Expr::binary(self.operator(), self.expr(site, deeper), self.expr(site, deeper)),
        }
    }

    fn operator(&mut self) -> BinaryOp {
        if self.features.faults && self.random.one_in(20) {
            return self.random.pick(&[BinaryOp::Divide, BinaryOp::Remainder]);
        }
        self.random.pick(&[
            BinaryOp::Add,
            BinaryOp::Subtract,
            BinaryOp::Multiply,
            BinaryOp::BitAnd,
            BinaryOp::BitXor,
            BinaryOp::ShiftRight,
            BinaryOp::Equal,
            BinaryOp::NotEqual,
            BinaryOp::Less,
            BinaryOp::GreaterEqual,
            BinaryOp::And,
            BinaryOp::Or,
        ])
    }

    fn leaf(&mut self, site: Site<'_>) -> Expr {
        match self.random.below(6) {
            0 => Expr::Const(i64::from(self.random.below(4)) - 1),
            1 if site.local => place(Scope::Local, 0, CRUMB),
            2 if site.local => place(Scope::Local, 1, BIT),
            3 => place(Scope::Global, 1, BIT),
            4 if site.local => Expr::SelfId,
            _ => place(Scope::Global, 0, CRUMB),
        }
    }

    /// Something about channels, or about the edges before.
    fn question(&mut self, site: Site<'_>) -> Expr {
        let handle = place(Scope::Global, 3, Scalar::Channel);
        match self.random.below(4) {
            0 => Expr::Length(handle.into()),
            1 => Expr::Full(handle.into()),
            2 if !site.earlier.is_empty() => Expr::Blocked(site.earlier.to_vec()),
            _ => {
                let patterns = vec![Pattern::Ignore, Pattern::Match(self.leaf(site))];
                Expr::Poll { channel: handle.into(), patterns, anywhere: self.random.one_in(2) }
            }
        }
    }

    /// Something about the other processes.
    fn look(&mut self, site: Site<'_>) -> Expr {
        let id = Box::new(Expr::Const(self.random.below(4).into()));
        let process = self.random.one_in(2).then(|| id.clone());
        let of = self.process_id();
        match self.random.below(8) {
            0 => Expr::Timeout,
            1 if self.features.faults => Expr::Enabled(id),
            2 => Expr::LocationOf(id),
            3 => Expr::At { process, of, locations: vec![LocationId(self.random.below(LOCATIONS))] },
            4 => Expr::Remote { process, of, place: local(0, CRUMB) },
            5 => Expr::LastMover,
            6 => Expr::NonProgress,
            7 => Expr::Priority(id),
            _ if site.local => Expr::SelfId,
            _ => Expr::ProcessCount,
        }
    }

    fn monitor(&mut self) -> Monitor {
        let channel = || place(Scope::Global, 3, Scalar::Channel);
        let kinds = [EventKind::Send, EventKind::Receive];
        let locations = 3;
        let mut all = Vec::new();
        for _ in 1..locations {
            let mut edges = Vec::new();
            for kind in kinds {
                let first = if self.random.one_in(2) { Pattern::Match(self.leaf(NOWHERE)) } else { Pattern::Ignore };
                let patterns = vec![first, Pattern::Ignore];
                edges.push(MonitorEdge { kind, channel: channel(), patterns, to: self.random.below(3), span: None });
            }
            all.push(edges);
        }
        all.push(Vec::new());
        let observed = kinds.map(|kind| (kind, channel())).to_vec();
        let forbids = self.random.one_in(2);
        Monitor { forbids, locations: all, initial: 0, last: locations - 1, ends: vec![0], observed, span: None }
    }
}

fn variable(name: &str, ty: Type) -> Variable {
    Variable { name: name.into(), ty, initial: Vec::new(), hidden: false, kind: VariableKind::State, span: None }
}

fn value(value: i64) -> Initial {
    Initial::Value(Expr::Const(value))
}

fn cell(scope: Scope, variable: u32, scalar: Scalar) -> Place {
    Place { scope, variable: (variable as usize).into(), offset: 0, indices: Vec::new(), scalar }
}

fn global(variable: u32, scalar: Scalar) -> Place {
    cell(Scope::Global, variable, scalar)
}

fn local(variable: u32, scalar: Scalar) -> Place {
    cell(Scope::Local, variable, scalar)
}

fn place(scope: Scope, variable: u32, scalar: Scalar) -> Expr {
    Expr::Read(cell(scope, variable, scalar))
}
