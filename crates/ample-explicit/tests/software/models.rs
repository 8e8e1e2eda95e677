//! The models of M. Kattenbelt's thesis (listing 4.1 and appendix D), put together from the parts of the software layer.

use std::sync::Arc;

use ample_explicit::software::SoftwareModel;
use ample_explicit::software::data::{Boolean, Integer};
use ample_explicit::software::expression::{
    Arithmetic, ComparingExpression, Comparison, Expr, Literal, LogicalExpression, NumericalExpression, Reference,
    Value,
};
use ample_explicit::software::flow::Code;
use ample_explicit::software::statement::{Assert, Assign, Call, Else, Guard, New, Reset, Run, Skip};
use ample_explicit::software::types::{TypeGraph, TypeId};

/// A model under construction. Data types are declared when they are first used, as only used ones count.
pub struct Builder {
    pub types: TypeGraph,
    pub active: Vec<TypeId>,
}

/// The body of a process or function, and the scope that its names are seen in.
pub struct In<'a>(pub &'a TypeGraph, pub TypeId);

pub fn n(number: i64) -> Expr {
    Arc::new(Literal::Number(number))
}

fn compare(one: Expr, comparison: Comparison, other: Expr) -> Expr {
    Arc::new(ComparingExpression(one, comparison, other))
}

pub fn eq(one: Expr, other: Expr) -> Expr {
    compare(one, Comparison::Equal, other)
}

pub fn ne(one: Expr, other: Expr) -> Expr {
    compare(one, Comparison::NotEqual, other)
}

pub fn lt(one: Expr, other: Expr) -> Expr {
    compare(one, Comparison::Less, other)
}

pub fn or(one: Expr, other: Expr) -> Expr {
    Arc::new(LogicalExpression::Or(one, other))
}

pub fn and(one: Expr, other: Expr) -> Expr {
    Arc::new(LogicalExpression::And(one, other))
}

pub fn not(one: Expr) -> Expr {
    Arc::new(LogicalExpression::Not(one))
}

pub fn plus(one: Expr, number: i64) -> Expr {
    Arc::new(NumericalExpression(one, Arithmetic::Add, n(number)))
}

pub fn when(condition: Expr) -> Code {
    Code::step(Guard(condition))
}

pub fn skip() -> Code {
    Code::step(Skip)
}

impl In<'_> {
    pub fn v(&self, name: &str) -> Expr {
        Arc::new(Value(self.0.place(self.1, name).unwrap()))
    }

    pub fn r(&self, name: &str) -> Expr {
        Arc::new(Reference(self.0.place(self.1, name).unwrap()))
    }

    pub fn set(&self, name: &str, value: Expr) -> Code {
        Code::step(Assign(self.0.place(self.1, name).unwrap(), value))
    }

    pub fn allocate(&self, name: &str) -> Code {
        Code::step(New(self.0.place(self.1, name).unwrap()))
    }

    pub fn reset(&self, name: &str) -> Code {
        Code::step(Reset(self.0.place(self.1, name).unwrap()))
    }

    pub fn run(&self, process: &str, arguments: &[&str]) -> Code {
        let arguments = arguments.iter().map(|name| self.r(name)).collect();
        Code::step(Run { process: self.0.named(process).unwrap(), name: process.to_owned(), arguments })
    }

    pub fn call(&self, function: &str, arguments: &[&str]) -> Code {
        let arguments = arguments.iter().map(|name| self.r(name)).collect();
        Code::step(Call { function: self.0.named(function).unwrap(), name: function.to_owned(), arguments })
    }

    fn critical_section(&self) -> [Code; 2] {
        [1, -1].map(|change| self.set("mutex", plus(self.v("mutex"), change)))
    }
}

impl Builder {
    pub fn new() -> Builder {
        Builder { types: TypeGraph::new(), active: Vec::new() }
    }

    pub fn data(&mut self, name: &str) -> TypeId {
        self.types.named(name).unwrap_or_else(|| {
            let bits = match name {
                "bit" | "bool" => 1,
                "byte" => 8,
                "int" => 32,
                _ => panic!("{name}"),
            };
            self.types.data(Integer::unsigned(name, bits))
        })
    }

    /// Global variables; those with a `*` are references.
    pub fn globals(&mut self, data: &str, names: &[&str]) {
        self.variables(TypeId::GLOBAL, data, names);
    }

    fn variables(&mut self, scope: TypeId, data: &str, names: &[&str]) {
        let data = self.data(data);
        for name in names {
            match name.strip_prefix('*') {
                Some(name) => self.types.reference(scope, name, data),
                None => self.types.variable(scope, name, data),
            };
        }
    }

    /// A process type with parameters that are references.
    pub fn declare(&mut self, name: &str, parameters: &[(&str, &str)]) -> TypeId {
        let id = self.types.process(name);
        let declared: Vec<_> = parameters
            .iter()
            .map(|(data, name)| {
                let data = self.data(data);
                self.types.reference(id, name, data)
            })
            .collect();
        self.types.set_parameters(id, &declared);
        id
    }

    pub fn body(&mut self, id: TypeId, body: impl FnOnce(&In<'_>) -> Vec<Code>) {
        let body = body(&In(&self.types, id));
        self.types.set_body(id, &body);
    }

    pub fn active(&mut self, name: &str, body: impl FnOnce(&In<'_>) -> Vec<Code>) -> TypeId {
        let id = self.declare(name, &[]);
        self.body(id, body);
        self.active.push(id);
        id
    }

    pub fn model(self) -> SoftwareModel {
        SoftwareModel::new(self.types, &self.active).unwrap()
    }

    fn property(&mut self) {
        self.active("Property", |s| vec![Code::step(Assert(lt(s.v("mutex"), n(2))))]);
    }
}

/// D.1; with `broken`, the processes do not wait for each other.
pub fn peterson(broken: bool) -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex"]);
    b.globals("bit", &["flag_a", "flag_b", "turn"]);
    b.property();
    for (name, mine, other, turn) in [("Process_A", "flag_a", "flag_b", 0), ("Process_B", "flag_b", "flag_a", 1)] {
        b.active(name, |s| {
            let wait = or(eq(s.v(other), n(0)), ne(s.v("turn"), n(turn)));
            let mut round = vec![s.set(mine, n(1)), s.set("turn", n(turn))];
            round.push(if broken { skip() } else { when(wait) });
            round.extend(s.critical_section());
            round.push(s.set(mine, n(0)));
            vec![Code::Loop(vec![round])]
        });
    }
    b.model()
}

/// D.2.
pub fn peterson_with_references() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex"]);
    b.globals("bit", &["*flag_1", "*flag_2", "*turn", "*turn_1", "*turn_2"]);
    b.globals("bool", &["startGuard"]);
    b.property();
    let process = b.declare("Process", &[("bit", "my_flag"), ("bit", "other_flag"), ("bit", "turn_value")]);
    b.body(process, |s| {
        let mut round = vec![
            s.set("my_flag", n(1)),
            s.set("turn", s.r("turn_value")),
            when(or(eq(s.v("other_flag"), n(0)), ne(s.r("turn"), s.r("turn_value")))),
        ];
        round.extend(s.critical_section());
        round.push(s.set("my_flag", n(0)));
        vec![when(s.v("startGuard")), Code::Loop(vec![round])]
    });
    b.active("Init", |s| {
        vec![
            s.set("mutex", n(0)),
            s.set("startGuard", n(0)),
            s.allocate("flag_1"),
            s.set("flag_1", n(0)),
            s.allocate("flag_2"),
            s.set("flag_2", n(0)),
            s.allocate("turn_1"),
            s.set("turn", s.r("turn_1")),
            s.allocate("turn_2"),
            s.run("Process", &["flag_1", "flag_2", "turn_1"]),
            s.run("Process", &["flag_2", "flag_1", "turn_2"]),
            s.reset("flag_1"),
            s.reset("flag_2"),
            s.reset("turn_1"),
            s.reset("turn_2"),
            s.set("startGuard", n(1)),
        ]
    });
    b.model()
}

/// D.3.
pub fn dekker() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex"]);
    b.globals("bit", &["flag_a", "flag_b", "turn"]);
    b.property();
    for (name, mine, other, me, you) in
        [("Process_A", "flag_a", "flag_b", 0, 1), ("Process_B", "flag_b", "flag_a", 1, 0)]
    {
        b.active(name, |s| {
            let yields =
                vec![when(eq(s.v("turn"), n(you))), s.set(mine, n(0)), when(eq(s.v("turn"), n(me))), s.set(mine, n(1))];
            let stays = vec![when(eq(s.v("turn"), n(me))), skip()];
            let mut round = vec![
                s.set(mine, n(1)),
                Code::Loop(vec![
                    vec![when(eq(s.v(other), n(0))), Code::Break],
                    vec![when(eq(s.v(other), n(1))), Code::If(vec![yields, stays])],
                ]),
            ];
            round.extend(s.critical_section());
            round.extend([s.set("turn", n(you)), s.set(mine, n(0))]);
            vec![Code::Loop(vec![round])]
        });
    }
    b.model()
}

/// D.4.
pub fn dekker_with_references() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex"]);
    b.globals("bool", &["startGuard"]);
    b.globals("bit", &["*flag_1", "*flag_2", "*turn_1", "*turn_2", "*turn"]);
    b.property();
    let parameters = ["my_flag", "other_flag", "my_turn_value", "other_turn_value"].map(|name| ("bit", name));
    let process = b.declare("Process", &parameters);
    b.body(process, |s| {
        let yields = vec![
            when(eq(s.r("turn"), s.r("other_turn_value"))),
            s.set("my_flag", n(0)),
            when(eq(s.r("turn"), s.r("my_turn_value"))),
            s.set("my_flag", n(1)),
        ];
        let stays = vec![when(eq(s.r("turn"), s.r("my_turn_value"))), skip()];
        let mut round = vec![
            s.set("my_flag", n(1)),
            Code::Loop(vec![
                vec![when(eq(s.v("other_flag"), n(0))), Code::Break],
                vec![when(eq(s.v("other_flag"), n(1))), Code::If(vec![yields, stays])],
            ]),
        ];
        round.extend(s.critical_section());
        round.extend([s.set("turn", s.r("other_turn_value")), s.set("my_flag", n(0))]);
        vec![when(s.v("startGuard")), Code::Loop(vec![round])]
    });
    b.active("Init", |s| {
        vec![
            s.set("startGuard", n(0)),
            s.set("mutex", n(0)),
            s.allocate("flag_1"),
            s.set("flag_1", n(0)),
            s.allocate("flag_2"),
            s.set("flag_2", n(0)),
            s.allocate("turn_1"),
            s.set("turn", s.r("turn_1")),
            s.allocate("turn_2"),
            s.run("Process", &["flag_1", "flag_2", "turn_1", "turn_2"]),
            s.run("Process", &["flag_2", "flag_1", "turn_2", "turn_1"]),
            s.reset("flag_1"),
            s.reset("turn_1"),
            s.reset("flag_2"),
            s.reset("turn_2"),
            s.set("startGuard", n(1)),
        ]
    });
    b.model()
}

/// D.5.
pub fn dijkstra() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex", "status_a", "status_b"]);
    b.globals("bit", &["turn"]);
    b.globals("bool", &["startGuard"]);
    b.property();
    for (name, mine, other, me) in [("Process_A", "status_a", "status_b", 0), ("Process_B", "status_b", "status_a", 1)]
    {
        b.active(name, |s| {
            let claim = vec![
                when(ne(s.v("turn"), n(me))),
                s.set(mine, n(0)),
                when(and(ne(s.v("turn"), n(me)), eq(s.v(other), n(0)))),
                s.set("turn", n(me)),
            ];
            let have = vec![when(eq(s.v("turn"), n(me))), Code::Break];
            let enter = vec![when(ne(s.v(other), n(2))), Code::Break];
            let again = vec![Code::step(Else), skip()];
            let attempt = vec![skip(), Code::Loop(vec![claim, have]), s.set(mine, n(2)), Code::If(vec![enter, again])];
            let mut round = vec![s.set(mine, n(1)), Code::Loop(vec![attempt])];
            round.extend(s.critical_section());
            round.push(s.set(mine, n(0)));
            vec![Code::Loop(vec![round])]
        });
    }
    b.model()
}

/// D.6.
pub fn dijkstra_with_references() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("byte", &["mutex", "*status_1", "*status_2"]);
    b.globals("bit", &["*turn", "*turn_1", "*turn_2"]);
    b.globals("bool", &["startGuard"]);
    b.property();
    let process = b.declare("Process", &[("byte", "my_status"), ("byte", "other_status"), ("bit", "turn_value")]);
    b.body(process, |s| {
        let mine = || s.r("turn_value");
        let claim = vec![
            when(ne(s.r("turn"), mine())),
            s.set("my_status", n(0)),
            when(and(ne(s.r("turn"), mine()), eq(s.v("other_status"), n(0)))),
            s.set("turn", mine()),
        ];
        let have = vec![when(eq(s.r("turn"), mine())), Code::Break];
        let enter = vec![when(ne(s.v("other_status"), n(2))), Code::Break];
        let again = vec![Code::step(Else), skip()];
        let attempt =
            vec![skip(), Code::Loop(vec![claim, have]), s.set("my_status", n(2)), Code::If(vec![enter, again])];
        let mut round = vec![s.set("my_status", n(1)), Code::Loop(vec![attempt])];
        round.extend(s.critical_section());
        round.push(s.set("my_status", n(0)));
        vec![when(s.v("startGuard")), Code::Loop(vec![round])]
    });
    b.active("Init", |s| {
        vec![
            s.set("startGuard", n(0)),
            s.set("mutex", n(0)),
            s.allocate("status_1"),
            s.set("status_1", n(0)),
            s.allocate("status_2"),
            s.set("status_2", n(0)),
            s.allocate("turn_1"),
            s.allocate("turn_2"),
            s.set("turn", s.r("turn_1")),
            s.run("Process", &["status_1", "status_2", "turn_1"]),
            s.run("Process", &["status_2", "status_1", "turn_2"]),
            s.reset("turn_1"),
            s.reset("status_1"),
            s.reset("turn_2"),
            s.reset("status_2"),
            s.set("startGuard", n(1)),
        ]
    });
    b.model()
}

/// D.7 for that many philosophers.
pub fn philosophers(number: usize) -> SoftwareModel {
    let mut b = Builder::new();
    let forks: Vec<String> = (1..=number).map(|fork| format!("f{fork}")).collect();
    b.globals("bool", &forks.iter().map(String::as_str).collect::<Vec<_>>());
    for at in 0..number {
        let (left, right) = (&forks[at], &forks[(at + 1) % number]);
        b.active(&format!("Philosopher{}", at + 1), |s| {
            vec![Code::Loop(vec![vec![
                when(not(s.v(left))),
                s.set(left, n(1)),
                when(not(s.v(right))),
                s.set(right, n(1)),
                s.set(right, n(0)),
                s.set(left, n(0)),
            ]])]
        });
    }
    b.model()
}

/// D.8 for that many philosophers.
pub fn philosophers_with_references(number: usize) -> SoftwareModel {
    let mut b = Builder::new();
    let forks: Vec<String> = (1..=number).map(|fork| format!("f{fork}")).collect();
    let names: Vec<String> = forks.iter().map(|fork| format!("*{fork}")).collect();
    b.globals("bool", &names.iter().map(String::as_str).collect::<Vec<_>>());
    b.globals("bool", &["startGuard"]);
    let philosopher = b.declare("Philosopher", &[("bool", "left"), ("bool", "right")]);
    b.body(philosopher, |s| {
        let round = vec![
            when(not(s.v("left"))),
            s.set("left", n(1)),
            when(not(s.v("right"))),
            s.set("right", n(1)),
            s.set("right", n(0)),
            s.set("left", n(0)),
        ];
        vec![when(s.v("startGuard")), Code::Loop(vec![round])]
    });
    b.active("Init", |s| {
        let mut code = vec![s.set("startGuard", n(0))];
        code.extend(forks.iter().map(|fork| s.allocate(fork)));
        code.extend(forks.iter().map(|fork| s.set(fork, n(0))));
        code.extend((0..number).map(|at| s.run("Philosopher", &[&forks[at], &forks[(at + 1) % number]])));
        code.extend(forks.iter().map(|fork| s.reset(fork)));
        code.push(s.set("startGuard", n(1)));
        code
    });
    b.model()
}

/// 6.4: an instance is alive as long as something refers to it.
pub fn references() -> SoftwareModel {
    let mut b = Builder::new();
    b.globals("int", &["*x", "*y", "*null"]);
    b.active("Main", |s| {
        vec![
            s.allocate("x"),
            s.set("x", n(4)),
            s.set("y", s.r("x")),
            s.reset("x"),
            when(eq(s.v("y"), n(4))),
            s.reset("y"),
            when(eq(s.r("y"), s.r("null"))),
        ]
    });
    b.model()
}

/// 7.1, smaller: processes that count for themselves.
pub fn counters(number: usize, data: &str) -> SoftwareModel {
    let mut b = Builder::new();
    let process = b.types.process("A");
    b.variables(process, data, &["x"]);
    b.body(process, |s| vec![Code::Loop(vec![vec![s.set("x", plus(s.v("x"), 1))]])]);
    b.active = vec![process; number];
    b.model()
}

/// Listing 4.1: three philosophers, whose forks are records, and who take and release them by functions.
pub fn listing() -> SoftwareModel {
    let mut types = TypeGraph::new();
    let boolean = types.data(Boolean);
    let fork = types.record("Fork");
    types.variable(fork, "value", boolean);
    let init = types.process("init");
    for name in ["f1", "f2", "f3"] {
        types.reference(init, name, fork);
    }
    let philosopher = types.process("Philosopher");
    let sides = ["left", "right"].map(|name| types.reference(philosopher, name, fork));
    types.set_parameters(philosopher, &sides);
    for name in ["takeFork", "releaseFork"] {
        let function = types.function(name);
        let parameter = types.reference(function, "fork", fork);
        types.set_parameters(function, &[parameter]);
    }
    let truth = |truth| -> Expr { Arc::new(Literal::Truth(truth)) };
    let mut b = Builder { types, active: vec![init] };
    let (take, release) = (b.types.named("takeFork").unwrap(), b.types.named("releaseFork").unwrap());
    b.body(take, |s| vec![Code::Atomic(vec![when(not(s.v("fork.value"))), s.set("fork.value", truth(true))])]);
    b.body(release, |s| vec![s.set("fork.value", truth(false))]);
    b.body(philosopher, |s| {
        vec![Code::Loop(vec![vec![
            s.call("takeFork", &["left"]),
            s.call("takeFork", &["right"]),
            s.call("releaseFork", &["right"]),
            s.call("releaseFork", &["left"]),
        ]])]
    });
    b.body(init, |s| {
        let mut code: Vec<Code> = ["f1", "f2", "f3"].iter().map(|name| s.allocate(name)).collect();
        code.extend(["f1.value", "f2.value", "f3.value"].iter().map(|name| s.set(name, truth(false))));
        code.extend([["f1", "f2"], ["f2", "f3"], ["f3", "f1"]].iter().map(|forks| s.run("Philosopher", forks)));
        code
    });
    b.model()
}
