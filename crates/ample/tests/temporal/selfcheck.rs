//! The judge is judged: hand-made models with known answers, and random runs.

use ample::{CheckOptions, Fairness, Outcome, Question};
use ample_logic::{Atom, Binary, Formula as Logic, Unary, semantics};
use ample_model::{Expr, Interpreter};

use super::claim::Claim;
use super::emptiness::{Anything, Search};
use super::evidence::is_fair;
use super::faults::formula_of;
use super::generate;
use super::graph::{Graph, Lasso};
use super::linear;
use super::naive::Naive;
use super::suite::{FAIRNESS, Subject, Suite, can_be_fair, load, property, questions};
use super::tree::Formula;
use super::word::Word;
use ample_random::Random;

/// The naive answers to a question for all runs, the weakly and the strongly fair ones, as `v`iolated or `h`olds.
/// The same question is then put to all algorithms.
fn verdicts(suite: &mut Suite, text: &str, question: &Question) -> String {
    let subject = Subject { seed: 0, system: load(text), text: text.to_owned() };
    let interpreter = Interpreter::new(&subject.system);
    let graph = Graph::of(&interpreter, 1000).expect("the model is small");
    let naive = Naive { interpreter: &interpreter, graph: &graph };
    suite.confront(&subject, naive, std::slice::from_ref(question), &mut Random::new(1));
    let asked = if can_be_fair(question) { &FAIRNESS[..] } else { &FAIRNESS[..1] };
    asked.iter().map(|fairness| if naive.is_violated(question, *fairness) { 'v' } else { 'h' }).collect()
}

/// Models, questions and their answers.
fn agree(cases: &[(&str, Question, &str)]) {
    let mut suite = Suite::default();
    for (text, question, expected) in cases {
        assert_eq!(verdicts(&mut suite, text, question), *expected, "{question:?}\n{text}");
    }
    suite.finish();
}

fn atom(text: &str, condition: &str) -> Box<Formula> {
    Box::new(Formula::Atom(ample::expression(&load(text), condition).expect("a condition over the model's names")))
}

const SWITCH: &str = "bit b; active proctype P() { do :: b = 1 - b od }";
const STEPS: &str = "byte x; active proctype P() { x = 1; x = 2; x == 7 }";
const BESIDE: &str = "bit b; byte x; active proctype P() { do :: b = 1 - b od } active proctype Q() { x = 1 }";
const BETWEEN: &str = "bit b; byte x; active proctype P() { do :: b = 1 - b od } active proctype Q() { b -> x = 1 }";
const ATOMIC: &str = "byte x; active proctype P() { do :: atomic { x = 1; x = 2; x = 0 } od }";
const INSIDE: &str = "byte x; active proctype P() { atomic { do :: x = 1 - x od } }";
const FAULT: &str = "byte x; active proctype P() { x = 1; x = 10 / (x - 1) }";
const FAULT_INSIDE: &str = "byte x; active proctype P() { atomic { x = 1; x = 2; x = 1; x = 10 / (x - 1) } }";
const LOST: &str = "byte x; bit b; active proctype P() { do :: b = 1 - b od }
    active proctype Q() { atomic { do :: x = 1 - x od } }";
const CHOICE: &str = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; x == 7 }";
const SHAKE: &str = "chan r = [0] of { bit }; byte x;
    active proctype P() { do :: r!0 od } active proctype Q() { do :: r?0 -> x = 1 - x od }
    active proctype R() { do :: skip od }";

#[test]
fn linear_time_is_what_it_should_be() {
    let ltl = |text: &'static str, formula: Formula, expected: &'static str| {
        (text, Question::Ltl(formula.temporal()), expected)
    };
    let is = |text: &str, condition: &str| atom(text, condition);
    let again = |x: Box<Formula>| Formula::Always(Box::new(Formula::Eventually(x)));
    let settles = |x: Box<Formula>| Formula::Eventually(Box::new(Formula::Always(x)));
    let b = || is(SWITCH, "b");
    let not_b = || Box::new(Formula::Not(b()));
    agree(&[
        ltl(SWITCH, again(b()), "hhh"),
        ltl(SWITCH, settles(b()), "vvv"),
        ltl(SWITCH, *b(), "vvv"),
        ltl(SWITCH, Formula::Next(b()), "hhh"),
        ltl(SWITCH, Formula::Always(Box::new(Formula::Iff(b(), Box::new(Formula::Next(not_b()))))), "hhh"),
        ltl(SWITCH, Formula::Until(not_b(), b()), "hhh"),
        ltl(SWITCH, Formula::WeakUntil(b(), not_b()), "hhh"),
        ltl(SWITCH, Formula::Release(b(), not_b()), "vvv"),
        // A deadlock stutters.
        ltl(STEPS, again(is(STEPS, "x == 2")), "hhh"),
        ltl(STEPS, settles(is(STEPS, "x == 1")), "vvv"),
        ltl(STEPS, Formula::Next(Box::new(Formula::Next(Box::new(Formula::Next(is(STEPS, "x == 2")))))), "hhh"),
        // Weakly fair runs let a process move that always can, strongly fair ones one that often can.
        ltl(BESIDE, Formula::Eventually(is(BESIDE, "x == 1")), "vhh"),
        ltl(BETWEEN, Formula::Eventually(is(BETWEEN, "x == 1")), "vvh"),
        // One that waits for a message is not enabled; who takes it takes part.
        ltl(SHAKE, Formula::Eventually(is(SHAKE, "x == 1")), "vhh"),
        ltl(SHAKE, again(is(SHAKE, "x == 1")), "vhh"),
        // What happens inside atomic sequences is not seen, and an endless one is no run.
        ltl(ATOMIC, Formula::Always(is(ATOMIC, "x == 0")), "hhh"),
        ltl(ATOMIC, Formula::Eventually(is(ATOMIC, "x > 0")), "vvv"),
        ltl(INSIDE, Formula::Eventually(is(INSIDE, "x == 5")), "hhh"),
        // A run that ends in a fault stays where it is.
        ltl(FAULT, Formula::Eventually(is(FAULT, "x == 5")), "vvv"),
    ]);
}

#[test]
fn acceptance_and_progress_are_what_they_should_be() {
    let model = |body: &str| format!("bit b; active proctype P() {{ {body} }}");
    let beside = "bit b; active proctype P() { accept_p: do :: b = 1 - b od }
        active proctype Q() { do :: b = 0; progress_q: b = 0 od }";
    let loops = model("do :: b = 0 od");
    let marked = model("do :: progress_1: b = 0; b = 1 od");
    let ends = model("b = 0; b = 1");
    let stuck = model("b = 1; accept_1: !b");
    let passed = model("accept_1: b = 1; do :: b = 0 od");
    let again = model("do :: b = 1; accept_1: b = 0 od");
    agree(&[
        (&loops, Question::Progress, "vvv"),
        (&marked, Question::Progress, "hhh"),
        (&ends, Question::Progress, "hhh"),
        (beside, Question::Progress, "vhh"),
        (&loops, Question::Acceptance, "hhh"),
        (&stuck, Question::Acceptance, "vvv"),
        (&passed, Question::Acceptance, "hhh"),
        (&again, Question::Acceptance, "vvv"),
        (beside, Question::Acceptance, "vvv"),
    ]);
}

#[test]
fn branching_time_is_what_it_should_be() {
    let ctl = |text: &'static str, formula: Formula, expected: &'static str| {
        (text, Question::Ctl(formula.temporal()), expected)
    };
    let all = |path: Formula| Formula::All(Box::new(path));
    let some = |path: Formula| Formula::Exists(Box::new(path));
    let is = |value: u32| atom(CHOICE, &format!("x == {value}"));
    let no = || Box::new(Formula::Atom(Expr::FALSE));
    let yes = || Box::new(Formula::Atom(Expr::TRUE));
    agree(&[
        ctl(CHOICE, some(Formula::Eventually(is(1))), "h"),
        ctl(CHOICE, all(Formula::Eventually(is(1))), "v"),
        ctl(CHOICE, all(Formula::Next(Box::new(Formula::Or(is(1), is(2))))), "h"),
        ctl(CHOICE, some(Formula::Next(is(2))), "h"),
        ctl(CHOICE, some(Formula::Always(is(0))), "v"),
        ctl(CHOICE, all(Formula::Eventually(Box::new(all(Formula::Always(Box::new(Formula::Not(is(0)))))))), "h"),
        ctl(CHOICE, all(Formula::Until(is(0), Box::new(Formula::Or(is(1), is(2))))), "h"),
        ctl(CHOICE, some(Formula::WeakUntil(is(0), is(1))), "h"),
        ctl(CHOICE, all(Formula::Release(is(1), is(0))), "v"),
        ctl(CHOICE, all(Formula::Always(Box::new(some(Formula::Next(yes()))))), "h"),
        // After its first step there is none that leads on, and it stays where it is.
        ctl(FAULT, some(Formula::Always(yes())), "h"),
        ctl(FAULT, some(Formula::Eventually(Box::new(all(Formula::Next(no()))))), "v"),
        ctl(FAULT, all(Formula::Eventually(Box::new(all(Formula::Always(atom(FAULT, "x == 1")))))), "h"),
        ctl(FAULT, some(Formula::Release(atom(FAULT, "x == 1"), yes())), "h"),
        ctl(FAULT, some(Formula::Until(yes(), atom(FAULT, "x == 1"))), "h"),
        // What happens inside atomic sequences is not seen.
        ctl(ATOMIC, some(Formula::Eventually(atom(ATOMIC, "x > 0"))), "v"),
        ctl(INSIDE, some(Formula::Next(yes())), "v"),
    ]);
}

#[test]
fn never_claims_are_what_they_should_be() {
    let mut suite = Suite::default();
    for (model, claim, expected) in [
        (STEPS, "do :: x == 2 -> break :: else od", "vvv"),
        (STEPS, "do :: x == 3 -> break :: else od", "hhh"),
        // The first step of a claim sees the initial state.
        (STEPS, "if :: x == 0 fi", "vvv"),
        (STEPS, "if :: x == 1 fi", "hhh"),
        (STEPS, "x == 0; x == 1; x == 2; x == 2; x == 2", "vvv"),
        (STEPS, "x == 0; x == 2", "hhh"),
        // It goes on in a deadlock.
        (STEPS, "do :: x < 2 :: x == 2 -> goto accept_it od; accept_it: do :: x == 2 od", "vvv"),
        (STEPS, "do :: x < 1 :: x == 1 -> goto accept_it od; accept_it: do :: x == 1 od", "hhh"),
        (SWITCH, "do :: 1 :: !b -> goto accept_it od; accept_it: do :: !b od", "hhh"),
        (SWITCH, "accept_it: do :: !b -> b od", "vvv"),
        (ATOMIC, "do :: x == 0 :: x > 0 -> break od", "hhh"),
        // A run that a fault has stopped stays where it is, inside an atomic sequence too.
        (FAULT, "do :: x == 0 :: x == 1 -> goto accept_it od; accept_it: do :: x == 1 od", "vvv"),
        (FAULT, "do :: x < 2 :: x == 2 -> goto accept_it od; accept_it: do :: x == 2 od", "hhh"),
        (FAULT_INSIDE, "do :: x == 0 :: x == 1 -> goto accept_it od; accept_it: do :: x == 1 od", "vvv"),
        (FAULT_INSIDE, "do :: x == 0 :: x == 1 -> break od", "vvv"),
        (FAULT_INSIDE, "do :: x == 0 :: x == 2 -> break od", "hhh"),
        // A claim at its end asks for a run that goes on.
        (BESIDE, "do :: x == 0 :: x == 1 -> break od", "vvv"),
        (BESIDE, "accept_it: do :: x == 0 od", "vhh"),
        (BETWEEN, "accept_it: do :: x == 0 od", "vvh"),
        (INSIDE, "if :: x == 0 fi", "hhh"),
        (LOST, "if :: x == 0 fi", "vhh"),
        ("bit b; active proctype P() { accept_p: do :: b = 1 - b od }", "do :: 1 od", "vvv"),
        ("bit b; active proctype P() { accept_p: do :: b = 1 - b od }", "do :: !b od", "hhh"),
    ] {
        let text = format!("{model}\nnever {{ {claim} }}\n");
        let claims = load(&text).properties;
        assert_eq!(verdicts(&mut suite, &text, &claims[0].question), expected, "{text}");
    }
    suite.finish();
}

#[test]
fn a_claim_that_comes_to_its_end_says_so_whatever_is_fair() {
    let model = "byte x; active proctype P() { do :: atomic { x = 1; x = 0 } od } active proctype Q() { x = 10 / x }";
    for (claim, expected) in [
        ("do :: x == 0 :: _nr_pr == 2 -> break od", "end state in claim reached"),
        ("do :: atomic { x == 0 -> assert(_nr_pr == 1) } od", "assertion violated in claim"),
    ] {
        let system = load(&format!("{model}\nnever {{ {claim} }}\n"));
        for fairness in FAIRNESS {
            let options =
                CheckOptions { properties: Some(system.properties.clone()), fairness, ..CheckOptions::default() };
            let report = ample::check(&system, &options);
            let Outcome::Violated(shown) = &*report.answers[0].outcome else {
                panic!("{claim}, {fairness:?}: {:?}", report.answers[0].outcome)
            };
            assert_eq!(shown.message, expected, "{fairness:?}");
        }
    }
}

/// A formula for the other crate; its atoms have the numbers of ours.
fn translated(formula: &Formula, atoms: &[Expr]) -> Logic {
    let go = |x: &Formula| translated(x, atoms).into();
    let two = |operator, x: &Formula, y: &Formula| Logic::Binary(operator, go(x), go(y));
    match formula {
        Formula::Atom(expr) => Logic::Atom(Atom(atoms.iter().position(|atom| atom == expr).unwrap() as u32)),
        Formula::Not(x) => Logic::Unary(Unary::Not, go(x)),
        Formula::And(x, y) => two(Binary::And, x, y),
        Formula::Or(x, y) => two(Binary::Or, x, y),
        Formula::Implies(x, y) => two(Binary::Implies, x, y),
        Formula::Iff(x, y) => two(Binary::Iff, x, y),
        Formula::Next(x) => Logic::Unary(Unary::Next, go(x)),
        Formula::Always(x) => Logic::Unary(Unary::Globally, go(x)),
        Formula::Eventually(x) => Logic::Unary(Unary::Finally, go(x)),
        Formula::Until(x, y) => two(Binary::Until, x, y),
        Formula::WeakUntil(x, y) => two(Binary::WeakUntil, x, y),
        Formula::Release(x, y) => two(Binary::Release, x, y),
        Formula::All(x) => Logic::Unary(Unary::All, go(x)),
        Formula::Exists(x) => Logic::Unary(Unary::Exists, go(x)),
    }
}

/// A random run: at random until it comes to a node again, now and then not at the first opportunity.
fn walk(random: &mut Random, graph: &Graph) -> Option<Lasso> {
    let first = *graph.initial.get(random.below(graph.initial.len()))?;
    let mut nodes = vec![first];
    let mut steps = Vec::new();
    loop {
        let at = nodes[nodes.len() - 1];
        let node = &graph.nodes[at];
        if node.is_deadlocked() {
            steps.push((None, at));
            return Some(Lasso { first, turn: steps.len() - 1, steps });
        }
        let (taken, to) = node.steps.get(random.below(node.steps.len()))?.clone();
        steps.push((Some(taken), to));
        let before: Vec<usize> = (0..nodes.len()).filter(|&place| nodes[place] == to).collect();
        if !before.is_empty() && (steps.len() > 200 || random.one_in(4)) {
            return Some(Lasso { first, steps, turn: random.pick(&before) });
        }
        nodes.push(to);
    }
}

/// What the naive judge looks at, and what a run must not be.
struct Checked<'a> {
    naive: Naive<'a>,
    question: &'a Question,
    atoms: Vec<Expr>,
    letters: Vec<u8>,
}

impl Checked<'_> {
    /// The run violates the property, by two independent readings of the formula; fairness aside.
    fn is_guilty(&self, lasso: &Lasso) -> bool {
        let graph = self.naive.graph;
        let (_, cycle) = lasso.visible(graph);
        let truth = |expr| graph.truth(self.naive.interpreter, expr).expect("a mark is no fault");
        if cycle.is_empty() {
            return false;
        }
        match self.question {
            Question::Ltl(temporal) => {
                let formula = &Formula::of(temporal);
                let word = Word::of(lasso, graph, &self.letters).expect("the cycle is visible");
                let satisfied = word.satisfies(formula, &self.atoms);
                let (prefix, cycle) = word.letters.split_at(word.turn);
                let wide = |letters: &[u8]| letters.iter().map(|&letter| letter.into()).collect();
                let other = semantics::Lasso { prefix: wide(prefix), cycle: wide(cycle) };
                let read_otherwise = semantics::holds(&translated(formula, &self.atoms), &other);
                assert_eq!(Ok(satisfied), read_otherwise, "{formula:?} on {other:?}");
                !satisfied
            }
            Question::Acceptance => cycle.iter().any(|&node| truth(&Expr::Accepting)[node]),
            Question::Never(id) => {
                let alone = graph.alone(lasso);
                let claim = Claim::new(self.naive.interpreter, &alone, *id);
                claim.violation(&alone, Fairness::None).is_some()
            }
            _ => {
                let stutters = lasso.steps[lasso.turn].0.is_none();
                !stutters && cycle.iter().all(|&node| truth(&Expr::NonProgress)[node])
            }
        }
    }
}

#[test]
fn naive_verdicts_are_those_of_the_runs() {
    for seed in 5000..5200 {
        let subject = Subject::random(seed);
        let interpreter = Interpreter::new(&subject.system);
        let Some(graph) = Graph::of(&interpreter, 100) else { continue };
        let naive = Naive { interpreter: &interpreter, graph: &graph };
        let mut random = Random::new(!seed);
        let questions = questions(&mut random, naive);
        let mut asked = subject.system.clone();
        asked.properties.extend(questions.iter().cloned().map(property));
        assert!(ample_model::check::check(&asked).is_ok(), "seed {seed}");
        let walks: Vec<Lasso> = (0..30).filter_map(|_| walk(&mut random, &graph)).collect();
        assert!(walks.iter().all(|walk| walk.is_run_of(&graph)), "seed {seed}");
        for question in questions.iter().filter(|question| can_be_fair(question)) {
            let atoms = formula_of(question).map_or_else(Vec::new, |formula| linear::atoms(&formula));
            let letters = linear::letters(&graph, &interpreter, &atoms);
            let checked = Checked { naive, question, atoms, letters };
            let found = FAIRNESS.map(|fairness| naive.counterexample(question, fairness));
            let weaker = found.windows(2).all(|pair| pair[0].is_some() || pair[1].is_none());
            assert!(weaker, "seed {seed}, {question:?}: fewer runs violate more");
            for (fairness, found) in FAIRNESS.into_iter().zip(&found) {
                let context = || format!("seed {seed}, {fairness:?}, {question:?}");
                if let Some(lasso) = found {
                    assert!(lasso.is_run_of(&graph), "{}: {lasso:?}", context());
                    assert_eq!(is_fair(&graph, lasso, fairness), Ok(()), "{}", context());
                    assert!(checked.is_guilty(lasso), "{}: {lasso:?}", context());
                }
                for walk in &walks {
                    let counts = is_fair(&graph, walk, fairness).is_ok() && checked.is_guilty(walk);
                    assert!(!counts || found.is_some(), "{}: {walk:?}", context());
                }
            }
        }
    }
}

/// Every atomic sequence comes to its end: nodes from which all ways lead out, found from their ends on.
fn atomic_sequences_end(graph: &Graph) -> bool {
    let mut ends: Vec<bool> = graph.nodes.iter().map(|node| node.visible).collect();
    for _ in 0..graph.nodes.len() {
        for (number, node) in graph.nodes.iter().enumerate() {
            ends[number] = ends[number] || node.steps.iter().all(|step| ends[step.1]);
        }
    }
    ends.iter().all(|ends| *ends)
}

#[test]
fn a_fair_run_goes_on_from_everywhere_unless_something_goes_wrong() {
    let mut examined = 0;
    for seed in 7000..7400 {
        let subject = Subject::random(seed);
        let interpreter = Interpreter::new(&subject.system);
        let Some(graph) = Graph::of(&interpreter, 100) else { continue };
        if !atomic_sequences_end(&graph) || graph.nodes.iter().any(|node| node.steps.len() < node.enabled.len()) {
            continue;
        }
        examined += 1;
        for fairness in FAIRNESS {
            let search = Search { graph: &graph, automaton: &Anything, fairness, stutters: true };
            for node in 0..graph.nodes.len() {
                assert!(search.run_from(node).is_some(), "seed {seed}, {fairness:?}, node {node}");
            }
        }
    }
    assert!(examined > 100, "only {examined}");
}

#[test]
fn branching_time_agrees_with_linear_time_where_they_meet() {
    let mut compared = [0, 0];
    for seed in 6000..6200 {
        let subject = Subject::random(seed);
        let interpreter = Interpreter::new(&subject.system);
        let Some(graph) = Graph::of(&interpreter, 100) else { continue };
        // Without a run from every node, the fixpoints of branching time mean something else.
        let everywhere = Search { graph: &graph, automaton: &Anything, fairness: Fairness::None, stutters: true };
        if graph.visible().any(|node| everywhere.run_from(node).is_none()) {
            continue;
        }
        let naive = Naive { interpreter: &interpreter, graph: &graph };
        let mut random = Random::new(!seed);
        for _ in 0..10 {
            let (linear, branching) = common(&mut random, naive);
            let violated = naive.is_violated(&Question::Ltl(linear.temporal()), Fairness::None);
            let also = naive.is_violated(&Question::Ctl(branching.temporal()), Fairness::None);
            assert_eq!(violated, also, "seed {seed}: {linear:?}, {branching:?}");
            compared[usize::from(violated)] += 1;
        }
    }
    assert!(compared[0] > 100 && compared[1] > 100, "{compared:?}");
}

/// A formula that says the same in linear and in branching time: its paths lie below conjunctions and `always` only.
fn common(random: &mut Random, naive: Naive<'_>) -> (Formula, Formula) {
    let atoms = generate::atoms(random, naive.interpreter, naive.graph);
    let atom = |random: &mut Random| Box::new(Formula::Atom(random.pick(&atoms)));
    let (x, y) = (atom(random), atom(random));
    let path = match random.below(6) {
        0 => Formula::Next(x),
        1 => Formula::Always(x),
        2 => Formula::Eventually(x),
        3 => Formula::Until(x, y),
        4 => Formula::WeakUntil(x, y),
        _ => Formula::Release(x, y),
    };
    let quantified = Formula::All(Box::new(path.clone()));
    let condition = atom(random);
    let always = |inner: Formula| Formula::Always(Box::new(Formula::Implies(condition.clone(), Box::new(inner))));
    match random.below(3) {
        0 => (path, quantified),
        1 => (Formula::Next(Box::new(path)), Formula::All(Box::new(Formula::Next(Box::new(quantified))))),
        _ => (always(path), Formula::All(Box::new(always(quantified)))),
    }
}
