//! The meaning of SoftVer programs. The semantics of K. Yorav's thesis (definitions 3.3 and 3.4) is computed from the
//! syntax tree, by what is left to be executed, and compared with the system that is made of it: states and steps are the
//! same on random programs. Besides, what control-flow graphs and the structure of a text look like.
//!
//! `AMPLE_SEED=n` looks at one program only and shows it.

#[path = "softver/random.rs"]
mod random;

use std::collections::{BTreeSet, HashMap, VecDeque};

use ample_lang::softver::{
    self,
    ast::{
        Arithmetic, Binary, Comparison, Declaration, Expr, ExprKind, Process, Statement, StatementKind, Target, Text,
        TypeName,
    },
};
use ample_logic::{self as logic, Unary};
use ample_model::{Block, Interpreter, LocationId, State, System};
use ample_random::Random;

fn system(text: &str) -> System {
    match softver::read("m.softver", text) {
        Ok(lowered) => {
            ample_model::check::check(&lowered.system).expect("it is well-formed");
            lowered.system
        }
        Err(rejected) => panic!("{rejected}: {:?}\n{text}", rejected.diagnostics),
    }
}

// The semantics of the thesis.

/// How many statements each process has executed up to, by their numbers in the text, and the values of all cells.
type Configuration = (Vec<usize>, Vec<i64>);

struct Meaning<'t> {
    text: &'t Text,
    modulus: i64,
    /// For each process, the first cell of each variable, and how many there are.
    variables: Vec<HashMap<&'t str, (usize, Option<i64>)>>,
    /// The size of each variable's values.
    sizes: Vec<i64>,
    values: HashMap<&'t str, i64>,
    /// For each process, its statements in the order of the text.
    statements: Vec<Vec<&'t Statement>>,
}

impl<'t> Meaning<'t> {
    fn of(text: &'t Text) -> Meaning<'t> {
        let modulus = 1 << text.integer_length.map_or(8, |length| length.value);
        let (mut variables, mut sizes, mut values) = (Vec::new(), Vec::new(), HashMap::new());
        for process in &text.processes {
            let mut own = HashMap::new();
            for Declaration { ty, name, cells, .. } in &process.declarations {
                let count = cells.map_or(1, |cells| cells.value as usize);
                own.insert(name.text.as_str(), (sizes.len(), cells.map(|cells| cells.value as i64)));
                let size = match ty {
                    TypeName::Boolean => 2,
                    TypeName::Int(bits) => bits.map_or(modulus, |bits| 1 << bits.value),
                    // Values of enumerations are counted from 1.
                    TypeName::Enum(names) => names.len() as i64 + 1,
                };
                if let TypeName::Enum(names) = ty {
                    values.extend(names.iter().zip(1..).map(|(name, value)| (name.text.as_str(), value)));
                }
                sizes.extend(vec![size; count]);
            }
            variables.push(own);
        }
        let statements = text.processes.iter().map(|process| in_order(&process.body.statements)).collect();
        Meaning { text, modulus, variables, sizes, values, statements }
    }

    fn starts(&self) -> Vec<Configuration> {
        let mut all = vec![Vec::new()];
        for (number, process) in self.text.processes.iter().enumerate() {
            for declaration in &process.declarations {
                let (first, cells) = self.variables[number][declaration.name.text.as_str()];
                let is_enumeration = matches!(declaration.ty, TypeName::Enum(_));
                let first_value = i64::from(is_enumeration);
                let choices: Vec<i64> = match declaration.initial.as_slice() {
                    [] => (first_value..self.sizes[first]).collect(),
                    some => some.iter().map(|e| self.value(number, e, &[])).collect(),
                };
                for _ in 0..cells.unwrap_or(1) {
                    let with = |before: &Vec<i64>| {
                        let before = before.clone();
                        choices.iter().map(move |value| [before.as_slice(), &[*value]].concat()).collect::<Vec<_>>()
                    };
                    all = all.iter().flat_map(with).collect();
                }
            }
        }
        let first: Vec<usize> = vec![0; self.text.processes.len()];
        all.into_iter().map(|values| (first.clone(), values)).collect()
    }

    fn value(&self, own: usize, e: &Expr, values: &[i64]) -> i64 {
        let of = |e: &Expr| self.value(own, e, values);
        let wrapped = |value: i64| value.rem_euclid(self.modulus);
        match &*e.kind {
            ExprKind::Number(value) => *value as i64,
            ExprKind::Truth(value) => (*value).into(),
            ExprKind::Variable { name, index, .. } => match self.cell(own, &name.text, index.as_ref(), values) {
                Some(Some(cell)) => values[cell],
                Some(None) => 0,
                None => self.values[name.text.as_str()],
            },
            ExprKind::Negate(x) => wrapped(-of(x)),
            ExprKind::Unary(Unary::Not, x) => 1 - of(x),
            ExprKind::Binary(Binary::Arithmetic(Arithmetic::Add), x, y) => wrapped(of(x) + of(y)),
            ExprKind::Binary(Binary::Arithmetic(Arithmetic::Subtract), x, y) => wrapped(of(x) - of(y)),
            ExprKind::Binary(Binary::Compare(op), x, y) => {
                let order = of(x).cmp(&of(y));
                i64::from(match op {
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessEqual => order.is_le(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterEqual => order.is_ge(),
                })
            }
            ExprKind::Binary(Binary::Logical(op), x, y) => {
                let (x, y) = (of(x) == 1, of(y) == 1);
                i64::from(match op {
                    logic::Binary::And => x && y,
                    logic::Binary::Or => x || y,
                    logic::Binary::Implies => !x || y,
                    _ => x == y,
                })
            }
            ExprKind::Label { .. } | ExprKind::Unary(..) => unreachable!("no statement has these"),
        }
    }

    /// The cell that a name means, `Some(None)` if it lies outside of its array.
    fn cell(&self, own: usize, name: &str, index: Option<&Expr>, values: &[i64]) -> Option<Option<usize>> {
        let (first, cells) = *self.variables[own].get(name)?;
        let Some(index) = index else { return Some(Some(first)) };
        let at = self.value(own, index, values);
        Some((at < cells.expect("it is an array")).then_some(first + at as usize))
    }

    fn store(&self, own: usize, target: &Target, value: i64, values: &mut [i64]) {
        let cell = self.cell(own, &target.name.text, target.index.as_ref(), values).expect("it is a variable");
        if let Some(cell) = cell {
            values[cell] = value % self.sizes[cell];
        }
    }

    /// What is left to be executed when a process stands before the statement with this number.
    fn left(&self, own: usize, number: usize) -> Vec<&'t Statement> {
        fn search<'t>(statements: &'t [Statement], wanted: *const Statement, after: &mut Vec<&'t Statement>) -> bool {
            let depth = after.len();
            for (at, statement) in statements.iter().enumerate() {
                after.truncate(depth);
                after.extend(statements[at..].iter().rev());
                if std::ptr::eq(statement, wanted) {
                    return true;
                }
                // Behind a block comes what follows the statement, or the loop once more.
                if !matches!(statement.kind, StatementKind::While(..)) {
                    after.pop();
                }
                let found = match &statement.kind {
                    StatementKind::If(_, first, second) => {
                        let outer = after.clone();
                        search(&first.statements, wanted, after) || {
                            *after = outer;
                            search(&second.statements, wanted, after)
                        }
                    }
                    StatementKind::While(_, body) => search(&body.statements, wanted, after),
                    _ => false,
                };
                if found {
                    return true;
                }
            }
            after.truncate(depth);
            false
        }
        let mut left = Vec::new();
        if let Some(statement) = self.statements[own].get(number) {
            assert!(search(&self.text.processes[own].body.statements, *statement, &mut left));
        }
        left
    }

    /// The number of the statement that is executed next.
    fn number(&self, own: usize, left: &[&Statement]) -> usize {
        let all = &self.statements[own];
        left.last().map_or(all.len(), |next| {
            all.iter().position(|one| std::ptr::eq(*one, *next)).expect("it is a statement of the process")
        })
    }

    fn steps(&self, (places, values): &Configuration) -> Vec<Configuration> {
        let mut steps = Vec::new();
        for own in 0..places.len() {
            let mut left = self.left(own, places[own]);
            let Some(statement) = left.pop() else {
                // `terminate` repeats itself, in a sequential program.
                if places.len() == 1 {
                    steps.push((places.clone(), values.clone()));
                }
                continue;
            };
            let mut go = |left: &[&Statement], values: Vec<i64>| {
                let mut places = places.clone();
                places[own] = self.number(own, left);
                steps.push((places, values));
            };
            match &statement.kind {
                StatementKind::Skip | StatementKind::Label(_) => go(&left, values.clone()),
                StatementKind::Assign { target, values: assigned, .. } => {
                    for e in assigned {
                        let mut after = values.clone();
                        self.store(own, target, self.value(own, e, values), &mut after);
                        go(&left, after);
                    }
                }
                StatementKind::If(condition, first, second) => {
                    let chosen = if self.value(own, condition, values) == 1 { first } else { second };
                    left.extend(chosen.statements.iter().rev());
                    go(&left, values.clone());
                }
                StatementKind::While(condition, body) => {
                    if self.value(own, condition, values) == 1 {
                        left.push(statement);
                        left.extend(body.statements.iter().rev());
                    }
                    go(&left, values.clone());
                }
                StatementKind::Send(to, e) => steps.extend(self.joint(own, &to.text, e, &left, (places, values))),
                // The sender takes the step of both.
                StatementKind::Receive(..) => {}
            }
        }
        steps
    }

    /// The step of a sender and its receiver, if that waits for it.
    fn joint(
        &self,
        own: usize,
        to: &str,
        e: &Expr,
        left: &[&Statement],
        (places, values): (&[usize], &[i64]),
    ) -> Option<Configuration> {
        let name = |process: &Process| process.name.as_ref().expect("it is parallel").text.clone();
        let other = self.text.processes.iter().position(|process| name(process) == to)?;
        let mut behind = self.left(other, places[other]);
        let StatementKind::Receive(from, target) = &behind.pop()?.kind else { return None };
        if from.text != name(&self.text.processes[own]) {
            return None;
        }
        let (mut places, mut after) = (places.to_vec(), values.to_vec());
        self.store(other, target, self.value(own, e, values), &mut after);
        places[own] = self.number(own, left);
        places[other] = self.number(other, &behind);
        Some((places, after))
    }
}

fn in_order(statements: &[Statement]) -> Vec<&Statement> {
    let mut all = Vec::new();
    for statement in statements {
        all.push(statement);
        match &statement.kind {
            StatementKind::If(_, first, second) => {
                all.extend(in_order(&first.statements));
                all.extend(in_order(&second.statements));
            }
            StatementKind::While(_, body) => all.extend(in_order(&body.statements)),
            _ => {}
        }
    }
    all
}

/// States and steps.
type Space = (BTreeSet<Configuration>, BTreeSet<(Configuration, Configuration)>);

fn explore(
    starts: Vec<Configuration>,
    steps: impl Fn(&Configuration) -> Vec<Configuration>,
    limit: usize,
) -> Option<Space> {
    let mut seen: BTreeSet<Configuration> = starts.iter().cloned().collect();
    let mut frontier: VecDeque<Configuration> = seen.iter().cloned().collect();
    let mut all = BTreeSet::new();
    while let Some(state) = frontier.pop_front() {
        if seen.len() > limit {
            return None;
        }
        for next in steps(&state) {
            all.insert((state.clone(), next.clone()));
            if seen.insert(next.clone()) {
                frontier.push_back(next);
            }
        }
    }
    Some((seen, all))
}

/// The same of the system, by the reference interpreter.
fn explore_system(system: &System, cells: usize, limit: usize) -> Option<Space> {
    let interpreter = Interpreter::new(system);
    let shown = |state: &State| -> Configuration {
        let places = state.processes.iter().map(|process| process.location.index()).collect();
        (places, state.globals[..cells].to_vec())
    };
    let mut known: HashMap<Configuration, State> = HashMap::new();
    let mut frontier = VecDeque::new();
    for start in interpreter.initial_states().take(limit + 1) {
        let start = start.expect("no fault");
        known.insert(shown(&start), start.clone());
        frontier.push_back(start);
    }
    let mut all = BTreeSet::new();
    while let Some(state) = frontier.pop_front() {
        if known.len() > limit {
            return None;
        }
        for (_, successor) in interpreter.successors(&state) {
            assert!(successor.violation().is_none(), "no step is a fault");
            let next = successor.state.expect("there is a next state");
            all.insert((shown(&state), shown(&next)));
            if known.insert(shown(&next), next.clone()).is_none() {
                frontier.push_back(next);
            }
        }
    }
    Some((known.into_keys().collect(), all))
}

fn agree(text: &str, limit: usize) -> Option<usize> {
    let tree = softver::parse("m.softver", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let meaning = Meaning::of(&tree);
    let expected = explore(meaning.starts(), |state| meaning.steps(state), limit)?;
    let found = explore_system(&system(text), meaning.sizes.len(), limit).expect("no more states than there should be");
    assert!(expected.0 == found.0, "states: {} and {}\n{text}", expected.0.len(), found.0.len());
    assert!(expected.1 == found.1, "steps: {} and {}\n{text}", expected.1.len(), found.1.len());
    if meaning.statements.len() == 1 {
        let sources: BTreeSet<&Configuration> = found.1.iter().map(|(from, _)| from).collect();
        assert_eq!(sources.len(), found.0.len(), "the relation of a full program is total\n{text}");
    }
    Some(found.0.len())
}

#[test]
fn random_programs_mean_what_the_thesis_says() {
    let only: Option<u64> = std::env::var("AMPLE_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let (mut compared, mut largest) = (0, 0);
    for seed in only.map_or(0..300, |seed| seed..seed + 1) {
        let mut random = Random::new(seed);
        let processes = 1 + random.below(3_usize);
        let text = random::program(&mut random, processes).text;
        if only.is_some() {
            println!("{text}");
        }
        if let Some(states) = agree(&text, 3000) {
            compared += 1;
            largest = largest.max(states);
        }
    }
    assert!(only.is_some() || compared >= 200 && largest > 500, "{compared} programs, {largest} states");
}

#[test]
fn every_operator_is_modulo_the_length_of_integers() {
    let operands = "int x, y; int(2) n; boolean b;";
    for expression in ["x + y", "x - y", "-x", "-x + y", "x - -y", "7 + x", "-1", "n + 7", "n - 1"] {
        agree(&format!("#INTEGER_LENGTH# 3 {operands} {{ x := {expression}; }}"), 5000).expect("few states");
        agree(&format!("#INTEGER_LENGTH# 3 {operands} {{ n := {expression}; }}"), 5000).expect("few states");
    }
    for operator in ["=", "!=", "<", "<=", ">", ">="] {
        agree(&format!("#INTEGER_LENGTH# 3 {operands} {{ b := x {operator} y; }}"), 5000).expect("few states");
    }
    for expression in ["p && q", "p || q", "p -> q", "p <-> q", "p = q", "p != q", "!p", "!p = q", "p = !q || q && !p"]
    {
        agree(&format!("boolean p, q, r; {{ r := {expression}; }}"), 100).expect("few states");
    }
}

#[test]
fn cells_outside_of_an_array_are_zero_and_are_not_written() {
    for statement in ["x := a[i]", "a[i] := x", "b := t[i]", "t[i] := b", "a[a[i]] := 1", "x := a[a[i] + 1]"] {
        let text =
            format!("#INTEGER_LENGTH# 2 int i, x = {{0, 2}}; int a[3] = {{1, 3}}; boolean b, t[3]; {{ {statement}; }}");
        agree(&text, 5000).expect("few states");
    }
}

// Control-flow graphs.

/// How many edges leave each location, and whether one of them leads back to it.
fn degrees(system: &System) -> Vec<(usize, bool)> {
    let process = &system.processes[0];
    let loops = |from: &LocationId| process.edges.iter().any(|edge| edge.from == *from && edge.to == *from);
    (0..process.locations.len()).map(|at| (process.locations[at].edges.len(), loops(&LocationId::from(at)))).collect()
}

#[test]
fn the_graph_has_an_edge_for_each_value_and_each_side_of_a_condition() {
    let text = "int x; { skip; label h; x := 1; x := {1, 2, 3}; if x > 1 then x := {0, 1}; else skip; fi; \
                while x > 0 do x := x - 1; od; }";
    let degrees = degrees(&system(text));
    let edges: Vec<usize> = degrees.iter().map(|(edges, _)| *edges).collect();
    assert_eq!(edges, [1, 1, 1, 3, 2, 2, 1, 2, 1, 1]);
    // Only `terminate` has an edge to itself.
    assert!(degrees.iter().enumerate().all(|(at, (_, loops))| *loops == (at == 9)));
}

#[test]
fn the_bubble_sort_has_21_locations() {
    let system = system(include_str!("../../../models/softver/sort_3.softver"));
    let process = &system.processes[0];
    assert_eq!(process.locations.len(), 21);
    assert_eq!(process.locations[19].labels, ["halt"]);
    assert_eq!(process.locations[20].labels, ["terminate"]);
    // Four values are read, and there are four conditions.
    assert_eq!(process.edges.len(), 21 + 3 + 4);
}

fn leaves(range: std::ops::Range<usize>) -> Vec<Block> {
    range.map(|at| Block::Leaf(LocationId::from(at))).collect()
}

#[test]
fn the_structure_follows_the_text() {
    let text = "boolean b; { skip; if b then skip; skip; else fi; while b do skip; od; }";
    let structure = system(text).processes[0].structure.clone().expect("it has one");
    let choice = Block::Choice(LocationId(1), vec![Block::Sequence(leaves(2..4)), Block::Sequence(vec![])]);
    let repetition = Block::Loop(LocationId(4), vec![Block::Sequence(leaves(5..6))]);
    let expected = [leaves(0..1), vec![choice, repetition], leaves(6..7)].concat();
    assert_eq!(structure, Block::Sequence(expected));
}

#[test]
fn marks_divide_blocks_into_modules() {
    let text = "boolean b; { skip; #MODULE# skip; skip; #MODULE# while b do #MODULE# skip; #MODULE# skip; od; \
                #MODULE# skip; }";
    let structure = system(text).processes[0].structure.clone().expect("it has one");
    let module = |parts: Vec<Block>| Block::Module(Box::new(Block::Sequence(parts)));
    let body = Block::Sequence(vec![module(leaves(4..5)), module(leaves(5..6))]);
    let expected = vec![
        Block::Leaf(LocationId(0)),
        module(leaves(1..3)),
        module(vec![Block::Loop(LocationId(3), vec![body])]),
        module(leaves(6..7)),
        Block::Leaf(LocationId(7)),
    ];
    assert_eq!(structure, Block::Sequence(expected));
}

#[test]
fn the_first_edge_of_a_condition_leads_inside() {
    let system = system("boolean b; { while b do if b then skip; else skip; fi; od; skip; }");
    let process = &system.processes[0];
    let targets = |at: usize| -> Vec<usize> {
        process.locations[at].edges.iter().map(|edge| process.edges[edge.index()].to.index()).collect()
    };
    assert_eq!((targets(0), targets(1)), (vec![1, 4], vec![2, 3]));
    assert_eq!((targets(2), targets(3), targets(4), targets(5)), (vec![0], vec![0], vec![5], vec![5]));
}

// Communication.

#[test]
fn a_rendezvous_is_one_step_that_transfers_the_value() {
    let system = system("process P int x = 5; { send(Q, x + 1); } process Q int y = 0; { receive(P, y); label got; }");
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).expect("there is one").expect("no fault");
    let successors = interpreter.successors(&start);
    assert_eq!(successors.len(), 1);
    let next = successors[0].1.state.as_ref().expect("no fault");
    assert_eq!(next.globals[..2], [5, 6]);
    assert_eq!(next.processes.iter().map(|process| process.location.index()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn communications_that_do_not_match_block() {
    for (text, is_deadlock) in [
        ("process P int x; { send(Q, 1); } process Q int y; { send(P, 1); }", true),
        ("process P int x; { receive(Q, x); } process Q int y; { receive(P, y); }", true),
        ("process P { send(Q, 1); } process Q int y; { receive(R, y); } process R { skip; }", true),
        // One has terminated, and the other waits for it.
        ("process P { skip; } process Q int y; { receive(P, y); }", true),
        // All have terminated.
        ("process P { send(Q, 1); } process Q int y; { receive(P, y); }", false),
    ] {
        let text = format!("#INTEGER_LENGTH# 1 {text}");
        let explored = ample_model::interpret::explore(&system(&text), 1000);
        assert_eq!(explored.deadlocks > 0, is_deadlock, "{text}");
        agree(&text, 1000).expect("few states");
    }
}

#[test]
fn variables_start_with_any_value_unless_the_text_says_so() {
    let text = "int(2) x; boolean b; enum {red, green, blue} c; int y = 3; int(2) a[2] = {1, 2}; { skip; }";
    let count = Interpreter::new(&system(text)).initial_states().count();
    assert_eq!(count, 4 * 2 * 3 * 4);
}
