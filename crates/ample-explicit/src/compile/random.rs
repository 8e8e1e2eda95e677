//! Random systems that are hard to lay out and to compile.
//!
//! [`ample_model::random`] makes small systems for every engine. These are for this one: cells of every
//! width and rule, arrays of records of arrays, hidden variables, channels of many layouts handed on as
//! parameters, effects that loop, and lists of blocked edges in any order. Every other system is tame: it
//! seldom ends in a fault, so that there is more to explore. The seed decides everything.

use ample_model::{
    Action, BinaryOp, Channel, ChannelId, Communication, Coupling, Edge, EdgeId, Enumeration, EnumerationId, EventKind,
    Expr, Index, Initial, Instance, Instruction, Location, LocationId, Monitor, MonitorEdge, Overflow, Pattern, Place,
    ProcessId, ProcessType, Record, RecordId, Role, Scalar, Scope, System, Type, UnaryOp, Variable, VariableId,
    VariableKind,
};
use ample_random::Random;

/// The random system of that seed.
pub fn system(seed: u64) -> System {
    let tame = seed.is_multiple_of(2);
    let mut maker = Maker { random: Random::new(seed ^ 0x5eed), system: empty(seed), kinds: 0, tame };
    maker.make();
    maker.system
}

struct Maker {
    random: Random,
    system: System,
    /// How many kinds of channels there are.
    kinds: u32,
    /// Without most of what can go wrong.
    tame: bool,
}

/// Whose expression it is: a process type under construction (its locals), and the edges before.
#[derive(Clone, Copy)]
struct Site<'a> {
    locals: &'a [Variable],
    earlier: &'a [EdgeId],
}

const NOBODY: Site<'static> = Site { locals: &[], earlier: &[] };

fn empty(seed: u64) -> System {
    System {
        name: format!("random {seed}"),
        language: "random".into(),
        sources: Vec::new(),
        enumerations: vec![Enumeration { name: "colour".into(), values: vec![("red".into(), 1), ("blue".into(), 2)] }],
        records: Vec::new(),
        channels: Vec::new(),
        globals: Vec::new(),
        processes: Vec::new(),
        start: Vec::new(),
        max_processes: 4,
        max_objects: ample_model::interpret::MAX_OBJECTS,
        monitor: None,
        properties: Vec::new(),
        uses_last: seed.is_multiple_of(3),
        uses_priorities: seed.is_multiple_of(5),
        exclusive: Vec::new(),
        dead_ends: false,
        coupling: Coupling::Interleaving,
        actions: Vec::new(),
        exact_types: false,
        signals: Vec::new(),
        original: None,
    }
}

impl Maker {
    fn make(&mut self) {
        self.records();
        for number in 0..3 + self.random.below(2) {
            let capacity = self.random.pick(&[0, 0, 1, 2, 3, 300]);
            let fields = if self.tame { 2 } else { 1 + self.random.below(3) };
            let fields = (0..fields).map(|_| self.scalar()).collect();
            self.system.channels.push(Channel { name: format!("k{number}"), capacity, fields, span: None });
            self.kinds += 1;
        }
        self.system.globals.push(plain("byte", Type::Scalar(Scalar::BYTE)));
        for number in 0..3 + self.random.below(4) {
            let variable = self.variable(&format!("g{number}"), true, NOBODY);
            self.system.globals.push(variable);
        }
        for number in 0..2 {
            let channels = self.channel_variable(&format!("c{number}"));
            self.system.globals.push(channels);
        }
        let mut any = plain("any", Type::Scalar(Scalar::Channel));
        any.initial = vec![(0, Initial::Value(Expr::Const(i64::from(self.tame || self.random.one_in(2)))))];
        self.system.globals.push(any);
        let types = 1 + self.random.below(3);
        // Signatures first: processes spawn each other.
        for number in 0..types {
            let process = self.signature(number);
            self.system.processes.push(process);
        }
        for number in 0..types as usize {
            self.body(number);
        }
        for _ in 0..1 + self.random.below(3) {
            let process = ProcessId(self.random.below(types));
            let arguments = (0..self.parameter_slots(process)).map(|slot| match slot {
                0 if self.tame => 1 + i64::from(self.random.below(2)),
                _ => self.constant(),
            });
            let arguments = arguments.collect();
            let priority = self.random.one_in(4).then(|| 1 + self.random.below(3) as u8);
            self.system.start.push(Instance { process, arguments, priority });
        }
        if self.random.one_in(3) {
            self.system.monitor = Some(self.monitor());
        }
    }

    fn records(&mut self) {
        for number in 0..2 {
            let fields = (0..1 + self.random.below(3)).map(|field| {
                let scalar = self.zero_scalar();
                let ty = match self.random.below(4) {
                    0 => array(Type::Scalar(scalar), 1 + self.random.below(3)),
                    1 if number > 0 => Type::Record(RecordId(0)),
                    _ => Type::Scalar(scalar),
                };
                (format!("f{field}"), ty)
            });
            let fields = fields.collect();
            self.system.records.push(Record { name: format!("r{number}"), fields });
        }
    }

    fn scalar(&mut self) -> Scalar {
        let rules = [Overflow::Wrap, Overflow::Saturate, Overflow::Fault];
        let overflow = self.random.pick(if self.tame { &rules[..2] } else { &rules });
        let range = |low, high| Scalar::Range { low, high, overflow };
        match self.random.below(16) {
            0..=2 => Scalar::BOOL,
            3..=6 => {
                let bits = self.random.pick(&[2, 3, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32]);
                Scalar::Int { bits, signed: self.random.one_in(2) }
            }
            7 => range(0, 5),
            8 => range(-3, 4),
            9 => range(2, 9),
            10 => range(1000, 1100),
            11 => range(-200, 100),
            12 => {
                self.random.pick(&[range(1 << 40, (1 << 40) + 5), range(i64::MIN, i64::MAX), range(-1 << 40, 1 << 40)])
            }
            13 => Scalar::Enumeration(EnumerationId(0)),
            14 => Scalar::Process,
            _ => Scalar::Unbounded,
        }
    }

    /// A type that can start with 0.
    fn zero_scalar(&mut self) -> Scalar {
        loop {
            let scalar = self.scalar();
            if scalar.fit(0) == Some(0) {
                return scalar;
            }
        }
    }

    fn variable(&mut self, name: &str, global: bool, site: Site<'_>) -> Variable {
        let scalar = self.zero_scalar();
        let ty = match self.random.below(8) {
            0 => array(Type::Scalar(scalar), 1 + self.random.below(4)),
            1 => array(array(Type::Scalar(scalar), 2), 3),
            2 => array(Type::Record(RecordId(self.random.below(2))), 2),
            3 => Type::Record(RecordId(self.random.below(2))),
            _ => Type::Scalar(self.scalar()),
        };
        let mut variable = plain(name, ty);
        variable.hidden = self.random.one_in(5);
        let scalars = self.system.scalars(&variable.ty);
        for (slot, scalar) in scalars.into_iter().enumerate() {
            let needed = scalar.fit(0) != Some(0);
            let first = self.constant();
            let initial = match self.random.below(6) {
                0 if global => scalar.fit(first).map(|one| Initial::AnyOf(vec![one, one])),
                1 | 2 => Some(Initial::Value(self.expr(site, 1))),
                _ => None,
            };
            let fallback = || needed.then(|| Initial::Value(Expr::Cast(wrapping(scalar), Expr::Const(first).into())));
            if let Some(initial) = initial.or_else(fallback) {
                variable.initial.push((slot as u32, initial));
            }
        }
        variable
    }

    /// A channel, or two of them, of its own.
    fn channel_variable(&mut self, name: &str) -> Variable {
        let kind = |this: &mut Self| Initial::Channel(ChannelId(this.random.below(this.kinds)));
        if self.random.one_in(3) {
            let mut variable = plain(name, array(Type::Scalar(Scalar::Channel), 2));
            variable.initial = vec![(0, kind(self)), (1, kind(self))];
            return variable;
        }
        let mut variable = plain(name, Type::Scalar(Scalar::Channel));
        variable.initial = vec![(0, kind(self))];
        variable
    }

    fn signature(&mut self, number: u32) -> ProcessType {
        let mut locals = vec![plain("in", Type::Scalar(Scalar::Channel))];
        if self.random.one_in(2) {
            let scalar = self.scalar();
            locals.push(plain("n", Type::Scalar(scalar)));
        }
        if self.random.one_in(4) {
            locals.push(plain("r", Type::Record(RecordId(0))));
        }
        let parameters = locals.len() as u32;
        for local in 0..1 + self.random.below(3) {
            let before = locals.clone();
            let site = Site { locals: &before, earlier: &[] };
            let variable = self.variable(&format!("l{local}"), false, site);
            locals.push(variable);
        }
        if self.random.one_in(2) {
            let own = self.channel_variable("own");
            locals.push(own);
        }
        ProcessType {
            name: format!("p{number}"),
            role: Role::Process,
            parameters,
            locals,
            locations: vec![Location::default(); 2 + self.random.below(3) as usize],
            edges: Vec::new(),
            initial: LocationId(0),
            provided: None,
            priority: 1 + self.random.below(3) as u8,
            unreachable_labels: Vec::new(),
            dead_code: Vec::new(),
            structure: None,
            span: None,
        }
    }

    fn parameter_slots(&self, process: ProcessId) -> u32 {
        let process = self.system.process(process);
        process.locals.iter().take(process.parameters as usize).map(|v| self.system.slots(&v.ty)).sum()
    }

    fn body(&mut self, number: usize) {
        let locals = self.system.processes[number].locals.clone();
        let count = self.system.processes[number].locations.len() as u32;
        let (mut locations, mut edges) = (Vec::new(), Vec::new());
        for from in 0..count {
            let mut ids: Vec<EdgeId> = Vec::new();
            for position in 0..1 + self.random.below(3) {
                let site = Site { locals: &locals, earlier: &ids };
                let mut edge = self.edge(from, count, site);
                if position > 0 && self.random.one_in(3) {
                    edge.guard.insert(0, Expr::Blocked(self.some_of(&ids)));
                }
                ids.push(EdgeId(edges.len() as u32));
                edges.push(edge);
            }
            let (end, progress) = (self.random.one_in(2), self.random.one_in(3));
            let accept = progress && end;
            locations.push(Location { number: from + 7, edges: ids, end, progress, accept, ..Location::default() });
        }
        let site = Site { locals: &locals, earlier: &[] };
        let provided = self.random.one_in(8).then(|| self.expr(site, 1));
        let process = &mut self.system.processes[number];
        (process.locations, process.edges, process.provided) = (locations, edges, provided);
    }

    /// All of them, or some, seldom in another order.
    fn some_of(&mut self, ids: &[EdgeId]) -> Vec<EdgeId> {
        let mut some: Vec<EdgeId> = ids.to_vec();
        if self.random.one_in(3) {
            some.retain(|_| !self.random.one_in(2));
        }
        if self.random.one_in(4) {
            some.reverse();
        }
        some
    }

    fn edge(&mut self, from: u32, locations: u32, site: Site<'_>) -> Edge {
        let to = self.random.below(locations);
        let guards = self.random.pick(&[0, 0, 1, 1, 2]);
        let guard = (0..guards).map(|_| self.expr(site, 2)).collect();
        let communication = self.random.one_in(2).then(|| self.communication(site));
        let mut effect = Vec::new();
        for _ in 0..self.random.below(3) {
            self.instruction(site, &mut effect);
        }
        if self.random.one_in(8) {
            effect.push(Instruction::Do(Action::End));
        }
        Edge {
            from: LocationId(from),
            to: LocationId(to),
            guard,
            communication,
            effect,
            keeps_control: self.random.one_in(3),
            action: None,
            origin: Vec::new(),
            span: None,
            label: format!("{from} -> {to}"),
        }
    }

    fn instruction(&mut self, site: Site<'_>, effect: &mut Vec<Instruction>) {
        let here = effect.len() as u32;
        match self.random.below(8) {
            0 => {
                // Until the condition fails, or for ever.
                effect.push(Instruction::Try(Action::Test(self.expr(site, 1)), here + 3));
                effect.push(Instruction::Do(self.action(site)));
                let again = !self.tame && self.random.one_in(3);
                effect.push(Instruction::Jump(if again { here } else { here + 3 }));
            }
            1 => {
                effect.push(Instruction::Try(Action::Test(self.expr(site, 1)), here + 2));
                effect.push(Instruction::Do(self.action(site)));
            }
            2 if !self.tame || self.random.one_in(4) => {
                effect.push(Instruction::Try(Action::Communicate(self.communication(site)), here + 1));
            }
            3 if !self.tame && self.random.one_in(8) => effect.push(Instruction::Fail("no option".into())),
            4 if self.random.one_in(4) => effect.push(Instruction::Try(Action::End, here + 1)),
            5 if !self.tame && self.random.one_in(4) => effect.push(Instruction::Do(Action::Test(self.expr(site, 1)))),
            _ => effect.push(Instruction::Do(self.action(site))),
        }
    }

    fn action(&mut self, site: Site<'_>) -> Action {
        match self.random.below(12) {
            0 => {
                let process = ProcessId(self.random.below(self.system.processes.len() as u32));
                let arguments = (0..self.parameter_slots(process)).map(|slot| self.argument(slot, site)).collect();
                let priority = self.random.one_in(4).then(|| 1 + self.random.below(3) as u8);
                Action::Spawn { process, arguments, priority }
            }
            1 => Action::Assert { condition: self.expr(site, 2), text: "random".into() },
            2 => Action::Print { format: "%d %% %e\n".into(), arguments: vec![self.expr(site, 1), self.expr(site, 1)] },
            3 => Action::SetPriority(self.expr(site, 0), Expr::Const(1 + i64::from(self.random.below(3)))),
            4 => {
                let any = self.system.globals.len() - 1;
                let place = cell(Scope::Global, any, Scalar::Channel);
                Action::Assign(place, self.handle(site))
            }
            5 | 6 => {
                let place = self.place(site);
                let step = Expr::Const(i64::from(self.random.below(3)) - 1);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Subtract]);
                let sum = Expr::binary(op, Expr::Read(place.clone()), step);
                Action::Assign(place, Expr::Cast(Scalar::INT, sum.into()))
            }
            7 => Action::Assign(self.place(site), Expr::Read(self.place(site))),
            8 => {
                let count = 2 + self.random.below(3);
                Action::AssignAll((0..count).map(|_| (self.place(site), self.expr(site, 1))).collect())
            }
            _ => Action::Assign(self.place(site), self.expr(site, 2)),
        }
    }

    fn argument(&mut self, slot: u32, site: Site<'_>) -> Expr {
        if slot == 0 && self.tame || self.random.one_in(2) { self.handle(site) } else { self.expr(site, 1) }
    }

    /// Any cell of a variable that is no channel.
    fn place(&mut self, site: Site<'_>) -> Place {
        loop {
            let local = !site.locals.is_empty() && self.random.one_in(2);
            let (scope, variables) =
                if local { (Scope::Local, site.locals.to_vec()) } else { (Scope::Global, self.system.globals.clone()) };
            let number = self.random.below(variables.len() as u32) as usize;
            let place = self.place_in(scope, number, &variables[number].ty, site);
            if place.scalar != Scalar::Channel {
                return place;
            }
        }
    }

    fn place_in(&mut self, scope: Scope, number: usize, ty: &Type, site: Site<'_>) -> Place {
        let mut place = cell(scope, number, Scalar::BOOL);
        let mut ty = ty.clone();
        loop {
            ty = match ty {
                Type::Scalar(scalar) => return Place { scalar, ..place },
                Type::Array { element, length } => {
                    let at = self.subscript(length, site);
                    let stride = self.system.slots(&element);
                    place.indices.push(Index { at, length, stride });
                    *element
                }
                Type::Record(record) => {
                    let fields = self.system.records[record.index()].fields.clone();
                    let field = self.random.below(fields.len() as u32) as usize;
                    place.offset += fields[..field].iter().map(|(_, ty)| self.system.slots(ty)).sum::<u32>();
                    fields[field].1.clone()
                }
            };
        }
    }

    fn subscript(&mut self, length: u32, site: Site<'_>) -> Expr {
        match self.random.below(8) {
            0..=3 => Expr::Const(self.random.below(length).into()),
            4 if !self.tame => self.leaf(site),
            5 if !self.tame && self.random.one_in(4) => Expr::Const(length.into()),
            _ => {
                let range = Scalar::Range { low: 0, high: i64::from(length) - 1, overflow: Overflow::Wrap };
                Expr::Cast(range, self.leaf(site).into())
            }
        }
    }

    /// A handle: of a variable's own channel, of a parameter, of a variable that changes, of anything.
    fn handle(&mut self, site: Site<'_>) -> Expr {
        for _ in 0..20 {
            let local = !site.locals.is_empty() && self.random.one_in(2);
            let (scope, variables) =
                if local { (Scope::Local, site.locals.to_vec()) } else { (Scope::Global, self.system.globals.clone()) };
            let number = self.random.below(variables.len() as u32) as usize;
            let place = self.place_in(scope, number, &variables[number].ty, site);
            if place.scalar == Scalar::Channel {
                return Expr::Read(place);
            }
        }
        Expr::Const(if self.tame { 1 } else { self.random.below(4).into() })
    }

    /// How many fields most channels have; seldom another number.
    fn arity(&mut self, handle: &Expr) -> usize {
        let variable = match handle {
            Expr::Read(place) if place.scope == Scope::Global => self.system.globals.get(place.variable.index()),
            _ => None,
        };
        let kind = variable.and_then(|variable| match variable.initial.first() {
            Some((_, Initial::Channel(kind))) => Some(kind.index()),
            _ => None,
        });
        let kind = kind.unwrap_or_else(|| self.random.below(self.kinds) as usize);
        let fields = self.system.channels[kind].fields.len();
        if !self.tame && self.random.one_in(10) {
            (fields + 2 * self.random.below(2) as usize).saturating_sub(1)
        } else {
            fields
        }
    }

    fn communication(&mut self, site: Site<'_>) -> Communication {
        let channel = self.handle(site);
        let arity = self.arity(&channel);
        if self.random.one_in(2) {
            let values = (0..arity).map(|_| self.expr(site, 1)).collect();
            return Communication::Send { channel, values, sorted: self.random.one_in(3) };
        }
        let patterns = (0..arity).map(|_| self.pattern(site, true)).collect();
        let keep = self.random.one_in(if self.tame { 20 } else { 6 });
        Communication::Receive { channel, patterns, anywhere: self.random.one_in(3), keep }
    }

    fn pattern(&mut self, site: Site<'_>, binds: bool) -> Pattern {
        match self.random.below(6) {
            0 => Pattern::Match(self.expr(site, 1)),
            1 => Pattern::Match(Expr::Const(self.random.below(2).into())),
            2..=4 if binds => Pattern::Bind(self.place(site)),
            _ => Pattern::Ignore,
        }
    }

    fn constant(&mut self) -> i64 {
        match self.random.below(12) {
            0 if !self.tame => {
                self.random.pick(&[-1, 100, 255, 256, 1000, -32768, 65535, 1 << 31, (1 << 40) + 1, i64::MIN, i64::MAX])
            }
            _ => self.random.below(4).into(),
        }
    }

    fn expr(&mut self, site: Site<'_>, depth: u32) -> Expr {
        let Some(deeper) = depth.checked_sub(1) else { return self.leaf(site) };
        match self.random.below(16) {
            0..=4 => self.leaf(site),
            5 => {
                let op = self.random.pick(&[UnaryOp::Not, UnaryOp::Not, UnaryOp::Negate, UnaryOp::Complement]);
                Expr::unary(op, self.expr(site, deeper))
            }
            6 => {
                let [c, x, y] = [0; 3].map(|_| Box::new(self.expr(site, deeper)));
                Expr::Conditional(c, x, y)
            }
            7 => {
                let scalar = self.scalar();
                Expr::Cast(scalar, self.expr(site, deeper).into())
            }
            8 => {
                let op = self.comparison();
                Expr::binary(op, Expr::Read(self.place(site)), Expr::Const(self.constant()))
            }
            9 => {
                let op = self.comparison();
                Expr::binary(op, Expr::Const(self.constant()), Expr::Read(self.place(site)))
            }
            10 => self.question(site),
            11 if !site.locals.is_empty() => self.look(site),
            12 => Expr::Cast(Scalar::INT, self.arithmetic(site, deeper).into()),
            13 => self.arithmetic(site, deeper),
            14 => {
                let op = self.comparison();
                Expr::binary(op, self.expr(site, deeper), self.expr(site, deeper))
            }
            _ => {
                let op = self.random.pick(&[BinaryOp::And, BinaryOp::Or]);
                Expr::binary(op, self.expr(site, deeper), self.expr(site, deeper))
            }
        }
    }

    fn comparison(&mut self) -> BinaryOp {
        use BinaryOp::*;
        self.random.pick(&[Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual])
    }

    fn arithmetic(&mut self, site: Site<'_>, depth: u32) -> Expr {
        use BinaryOp::*;
        let common = [Add, Subtract, Multiply, BitAnd, BitOr, BitXor];
        let op = if self.random.one_in(if self.tame { 50 } else { 6 }) {
            self.random.pick(&[Divide, Remainder, ShiftLeft, ShiftRight])
        } else {
            self.random.pick(&common)
        };
        Expr::binary(op, self.expr(site, depth), self.expr(site, depth))
    }

    fn leaf(&mut self, site: Site<'_>) -> Expr {
        match self.random.below(6) {
            0 | 1 => Expr::Const(self.constant()),
            2 if !site.locals.is_empty() => Expr::SelfId,
            _ => {
                // No subscripts within subscripts without end.
                let number = self.random.below(self.system.globals.len() as u32) as usize;
                match self.system.globals[number].ty {
                    Type::Scalar(scalar) => Expr::Read(cell(Scope::Global, number, scalar)),
                    _ => Expr::Const(1),
                }
            }
        }
    }

    fn question(&mut self, site: Site<'_>) -> Expr {
        if self.system.globals.last().is_none_or(|last| last.name != "any") {
            return Expr::ProcessCount;
        }
        let handle = self.handle(site);
        match self.random.below(4) {
            0 => Expr::Length(handle.into()),
            1 => Expr::Full(handle.into()),
            2 if !site.earlier.is_empty() => Expr::Blocked(self.some_of(site.earlier)),
            _ if self.tame && !self.random.one_in(4) => Expr::Length(handle.into()),
            _ => {
                let patterns = (0..self.arity(&handle)).map(|_| self.pattern(NOBODY, false)).collect();
                Expr::Poll { channel: handle.into(), patterns, anywhere: self.random.one_in(2) }
            }
        }
    }

    fn look(&mut self, site: Site<'_>) -> Expr {
        if self.system.processes.is_empty() || self.system.processes.iter().any(|p| p.locations.is_empty()) {
            return Expr::SelfId;
        }
        // Only where all signatures are known.
        let types = self.system.processes.len() as u32;
        let of = ProcessId(self.random.below(types));
        let process: Option<Box<Expr>> = self.random.one_in(2).then(|| self.leaf(site).into());
        match self.random.below(9) {
            0 if !site.earlier.is_empty() => Expr::Timeout,
            1 if !site.earlier.is_empty() && !self.tame => Expr::Enabled(self.leaf(site).into()),
            2 => Expr::LocationOf(self.leaf(site).into()),
            3 => {
                let count = self.system.process(of).locations.len() as u32;
                Expr::At { process, of, locations: vec![LocationId(self.random.below(count)), LocationId(0)] }
            }
            4 | 5 => {
                let locals = self.system.process(of).locals.clone();
                let number = self.random.below(locals.len() as u32) as usize;
                let place = self.place_in(Scope::Local, number, &locals[number].ty, site);
                Expr::Remote { process, of, place }
            }
            6 if self.system.uses_last => Expr::LastMover,
            7 => Expr::NonProgress,
            8 => Expr::Priority(self.leaf(site).into()),
            _ => Expr::ProcessCount,
        }
    }

    fn monitor(&mut self) -> Monitor {
        let channels: Vec<Expr> = (0..2).map(|_| self.handle(NOBODY)).collect();
        let kinds = [EventKind::Send, EventKind::Receive];
        let mut locations = Vec::new();
        for _ in 0..2 {
            let mut edges = Vec::new();
            for _ in 0..2 {
                let channel = self.random.pick(&[0usize, 1]);
                let channel = channels[channel].clone();
                let patterns = (0..self.arity(&channel)).map(|_| self.pattern(NOBODY, false)).collect();
                let kind = self.random.pick(&kinds);
                edges.push(MonitorEdge { kind, channel, patterns, to: self.random.below(3), span: None });
            }
            locations.push(edges);
        }
        locations.push(Vec::new());
        let observed = channels.iter().map(|channel| (self.random.pick(&kinds), channel.clone())).collect();
        let forbids = self.random.one_in(2);
        Monitor { forbids, locations, initial: 0, last: 2, ends: vec![1], observed, span: None }
    }
}

fn plain(name: &str, ty: Type) -> Variable {
    Variable { name: name.into(), ty, initial: Vec::new(), hidden: false, kind: VariableKind::State, span: None }
}

fn array(element: Type, length: u32) -> Type {
    Type::Array { element: element.into(), length }
}

fn cell(scope: Scope, variable: usize, scalar: Scalar) -> Place {
    Place { scope, variable: VariableId::from(variable), offset: 0, indices: Vec::new(), scalar }
}

/// The same range, without faults.
fn wrapping(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Range { low, high, .. } => Scalar::Range { low, high, overflow: Overflow::Wrap },
        other => other,
    }
}
