//! Never claims that assign to variables: against a naive product made with the reference interpreter, and by hand.

use std::collections::{HashMap, HashSet};

use ample::{CheckOptions, Fairness, LoadOptions, Move, Property, Question, Report, System, Verdict};
use ample_model::{Interpreter, LocationId, ProcessId, State};
use ample_random::Random;

fn load(text: &str) -> System {
    ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap().system
}

fn claim_of(system: &System) -> Property {
    let is_claim = |property: &&Property| matches!(property.question, Question::Never(_));
    system.properties.iter().find(is_claim).unwrap().clone()
}

fn check(system: &System, fairness: Fairness) -> Report {
    let options = CheckOptions { properties: Some(vec![claim_of(system)]), fairness, ..CheckOptions::default() };
    ample::check(system, &options)
}

#[test]
fn claims_that_assign_change_what_the_system_does() {
    // The model, the claim, and whether it is violated without and with weak fairness; all as `pan -a` and `-a -f` say.
    let lamp = "byte x, y; active proctype P() { do :: x == 1 -> y = 1 :: else -> y = 2 od }";
    let two = "byte x, y; active proctype P() { do :: x == 1 -> y = 1 od } active proctype Q() { do :: x = 0 od }";
    let table = [
        (lamp, "T: do :: x == 0 -> x = 1 :: y == 1 -> goto accept :: else od; accept: do :: true od", [true, true]),
        (lamp, "T: do :: y == 1 -> goto accept :: else od; accept: do :: true od", [false, false]),
        (
            lamp,
            "T: do :: atomic { x == 0 -> x = 1; x == 1 -> goto end_T } :: y == 2 -> break od; end_T: skip",
            [true, true],
        ),
        (lamp, "do :: atomic { x == 0 -> x = 1; x == 2; break } od", [false, false]),
        (lamp, "do :: d_step { x == 0 -> x = 1; x++ } :: x == 2 -> x = 1 :: x == 1 -> assert(y != 1) od", [true, true]),
        // What the claim does can set a process free that is stuck, and keep one from moving.
        (
            "byte x; active proctype P() { x == 1; x = 2 }",
            "do :: x == 0 -> x = 1 :: x == 2 -> break :: else od",
            [true, true],
        ),
        ("byte x; active proctype P() { x == 1; x = 2 }", "do :: x == 0 :: x == 2 -> break od", [false, false]),
        ("byte x; active proctype P() { x == 1; x = 2 }", "accept: do :: x = 1 - x :: false od", [true, true]),
        (two, "accept: do :: y == 0 -> x = 0 od", [true, true]),
        (two, "accept: do :: y == 0 -> x = 1 od", [true, true]),
        (two, "accept: do :: atomic { y == 0 -> x = 1 } od", [true, false]),
    ];
    for (model, claim, violated) in table {
        let text = format!("{model}\nnever {{ {claim} }}\n");
        let system = load(&text);
        for (fairness, violated) in [Fairness::None, Fairness::Weak].into_iter().zip(violated) {
            let report = check(&system, fairness);
            let expected = if violated { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(report.answers[0].verdict(), expected, "{fairness:?}: {text}{:?}", report.answers[0].outcome);
            if let Some(trace) = report.answers[0].trace() {
                Interpreter::new(&system).replay(trace).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }
}

#[test]
fn a_run_time_error_in_a_claim_that_assigns_violates_it() {
    let model = "byte a[2]; byte x = 5; active proctype P() { do :: x = 5 od }";
    for claim in ["do :: a[x] = 1 od", "do :: a[x] == 1 -> x = 0 :: else od", "do :: x = 4; assert(a[x] == 0) od"] {
        let system = load(&format!("{model} never {{ {claim} }}"));
        let report = check(&system, Fairness::None);
        let text = format!("{:?}", report.answers[0].outcome);
        assert_eq!(report.answers[0].verdict(), Verdict::Violated, "{claim}: {text}");
        assert!(text.contains("run-time error in claim: "), "{claim}: {text}");
        Interpreter::new(&system).replay(report.answers[0].trace().unwrap()).unwrap();
    }
}

#[test]
fn random_claims_that_assign_are_what_a_naive_product_says() {
    let seeds = std::env::var("AMPLE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds: Vec<u64> = seeds.map_or_else(|| (0..400).collect(), |seed| vec![seed]);
    let mut violated = 0;
    for seed in &seeds {
        let text = Author(Random::new(*seed)).model();
        let system = load(&text);
        let Question::Never(claim) = claim_of(&system).question else { unreachable!() };
        let expected = Naive::new(&system, claim).accepts();
        violated += usize::from(expected);
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            let report = check(&system, fairness);
            let verdict = report.answers[0].verdict();
            let because = || format!("seed {seed}, {fairness:?}: {:?}\n{text}", report.answers[0].outcome);
            // A fair run is a run; and whatever is found has been replayed.
            assert_ne!(verdict, Verdict::Unknown, "{}", because());
            assert!(expected || verdict == Verdict::Holds, "{}", because());
            assert!(fairness != Fairness::None || expected == (verdict == Verdict::Violated), "{}", because());
        }
    }
    assert!(seeds.len() == 1 || violated > 50 && violated < 350, "{violated} violated");
}

/// A claim that comes to its end, an atomic sequence that may have none, and fairness: then a beginning is not enough, and
/// a fair run has to be found that goes on from there. Whatever is found must replay.
#[test]
fn claims_that_end_are_decided_beside_endless_atomic_sequences_whatever_is_fair() {
    let seeds = std::env::var("AMPLE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds: Vec<u64> = seeds.map_or_else(|| (0..300).collect(), |seed| vec![seed]);
    let mut counts = [0, 0];
    for seed in &seeds {
        let text = Author(Random::new(*seed)).wild_model();
        let system = load(&text);
        let mut before = Verdict::Violated;
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            let report = check(&system, fairness);
            let answer = &report.answers[0];
            assert_ne!(answer.verdict(), Verdict::Unknown, "seed {seed}, {fairness:?}: {:?}\n{text}", answer.outcome);
            // Fair runs are runs, and those that are strongly fair are weakly fair.
            assert!(before <= answer.verdict(), "seed {seed}, {fairness:?}: {:?}\n{text}", answer.outcome);
            before = answer.verdict();
            counts[usize::from(before == Verdict::Violated)] += 1;
        }
    }
    assert!(seeds.len() == 1 || counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// Writes models and claims.
struct Author(Random);

impl Author {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.0.below(all.len() as u64) as usize]
    }

    fn condition(&mut self) -> &'static str {
        self.one_of(&["x == 0", "x == 1", "x != 2", "y == 0", "y == 1", "x == y", "true"])
    }

    fn assignment(&mut self) -> &'static str {
        self.one_of(&["x = (x + 1) % 3", "x = 0", "y = 1 - y", "y = 1", "x = y", "y = x % 2"])
    }

    fn process(&mut self, name: &str) -> String {
        let mut text = format!("active proctype {name}() {{ do ");
        for _ in 0..=self.0.below(2) {
            let (condition, first, second) = (self.condition(), self.assignment(), self.assignment());
            text += &match self.0.below(4) {
                0 => format!(":: {condition} -> {first} "),
                1 => format!(":: atomic {{ {condition} -> {first}; {second} }} "),
                2 => format!(":: {condition} -> {first}; {second} "),
                _ => format!(":: {first} "),
            };
        }
        if self.0.below(3) == 0 {
            text += &format!(":: {} -> break ", self.condition());
        }
        text + "od }\n"
    }

    fn claim(&mut self) -> String {
        let mut text = "never {\n".to_owned();
        let names = ["T0", "accept_1", "T2"];
        for name in names {
            text += &format!("{name}: do ");
            for _ in 0..=self.0.below(3) {
                let (condition, act, goal) = (self.condition(), self.assignment(), self.one_of(&names));
                text += &match self.0.below(7) {
                    0 => format!(":: {condition} -> goto {goal} "),
                    1 => format!(":: {condition} -> {act}; goto {goal} "),
                    2 => format!(":: atomic {{ {condition} -> {act}; goto {goal} }} "),
                    3 => format!(":: atomic {{ {act}; {condition} -> goto {goal} }} "),
                    4 => format!(":: {act} "),
                    5 => format!(":: {condition} "),
                    _ => format!(":: {condition} -> goto end_it "),
                };
            }
            if self.0.below(3) == 0 {
                text += ":: else ";
            }
            text += "od;\n";
        }
        // The last location of a claim is its end; that one is not.
        let end = self.one_of(&["end_it: false", "end_it: do :: true od", "end_it: skip"]);
        text + end + "\n}\n"
    }

    /// A statement that may block, fail or go on for ever.
    fn wild(&mut self, depth: u32) -> String {
        if depth > 2 {
            return self.assignment().into();
        }
        match self.0.below(9) {
            0 => self.condition().into(),
            1 => self.one_of(&["rv!1", "rv?1", "rv!0", "rv?_", "q!1", "q?_"]).into(),
            2 => format!("if :: {} :: {} fi", self.wild(depth + 1), self.wild(depth + 1)),
            3 => format!("do :: {} :: {} od", self.wild(depth + 1), self.wild(depth + 1)),
            4 => format!("do :: {} :: {} -> break od", self.wild(depth + 1), self.condition()),
            5 => format!("atomic {{ {}; {} }}", self.wild(depth + 1), self.wild(depth + 1)),
            6 => "a[x] = 1".into(),
            _ => self.assignment().into(),
        }
    }

    fn wild_process(&mut self, name: &str) -> String {
        let (first, second) = (self.wild(0), self.wild(0));
        let body = match self.0.below(5) {
            0 => format!("do :: {first} :: {second} od"),
            1 => format!("atomic {{ do :: {first} :: {second} od }}"),
            2 => format!("do :: atomic {{ {first} }} :: {second} od"),
            3 => format!("do :: atomic {{ {first}; do :: {second} :: break od }} od"),
            _ => format!("{first}; {second}"),
        };
        format!("active proctype {name}() {{ {body} }}\n")
    }

    /// A claim that only observes, and may come to its end.
    fn observer(&mut self) -> String {
        let mut text = "never {\n".to_owned();
        let names = ["T0", "accept_1", "T2"];
        for name in names {
            text += &format!("{name}: do ");
            for _ in 0..=self.0.below(3) {
                let (condition, other, goal) = (self.condition(), self.condition(), self.one_of(&names));
                text += &match self.0.below(5) {
                    0 => format!(":: {condition} -> goto {goal} "),
                    1 => format!(":: {condition} "),
                    2 => format!(":: atomic {{ {condition} -> {other}; goto {goal} }} "),
                    3 => format!(":: atomic {{ {condition} -> assert({other}) }} "),
                    _ => format!(":: {condition} -> goto end_it "),
                };
            }
            text += self.one_of(&["od;\n", ":: else od;\n"]);
        }
        let end = self.one_of(&["end_it: skip", "end_it: x == 1"]);
        text + end + "\n}\n"
    }

    fn wild_model(&mut self) -> String {
        let head = "byte x, y; byte a[2]; chan rv = [0] of { bit }; chan q = [1] of { bit };\n";
        format!("{head}{}{}{}", self.wild_process("P"), self.wild_process("Q"), self.observer())
    }

    fn model(&mut self) -> String {
        format!("byte x, y;\n{}{}{}", self.process("P"), self.process("Q"), self.claim())
    }
}

/// Whose turn it is, where the claim stands, and the state.
type Node = (bool, LocationId, State);

/// The product of system and claim, made with the interpreter only.
struct Naive<'a> {
    interpreter: Interpreter<'a>,
    system: &'a System,
    claim: ProcessId,
}

impl<'a> Naive<'a> {
    fn new(system: &'a System, claim: ProcessId) -> Self {
        Naive { interpreter: Interpreter::new(system), system, claim }
    }

    /// The claim comes to its end, or passes an accepting location for ever.
    fn accepts(&self) -> bool {
        let start = self.interpreter.initial_state(0).unwrap().unwrap();
        let mut known: HashMap<Node, usize> = HashMap::new();
        let mut nodes = vec![(true, self.system.process(self.claim).initial, self.interpreter.normalise(&start))];
        known.insert(nodes[0].clone(), 0);
        let mut arcs: Vec<Vec<usize>> = Vec::new();
        while let Some(node) = nodes.get(arcs.len()).cloned() {
            let mut targets = Vec::new();
            for target in self.successors(&node) {
                if self.system.process(self.claim).locations[target.1.index()].end {
                    return true;
                }
                let number = *known.entry(target.clone()).or_insert_with(|| {
                    nodes.push(target);
                    nodes.len() - 1
                });
                targets.push(number);
            }
            arcs.push(targets);
        }
        (0..nodes.len()).any(|node| self.is_accepting(&nodes[node]) && returns(&arcs, node))
    }

    fn is_accepting(&self, (claims_turn, location, state): &Node) -> bool {
        *claims_turn && state.control.is_none() && self.system.process(self.claim).locations[location.index()].accept
    }

    fn successors(&self, (claims_turn, location, state): &Node) -> Vec<Node> {
        if *claims_turn && state.control.is_none() {
            let mut out = Vec::new();
            self.claim_moves(*location, state, &mut out);
            return out;
        }
        let moves = self.interpreter.enabled(state);
        if moves.is_empty() {
            return vec![(true, *location, state.clone())];
        }
        let step = |taken: &Move| self.interpreter.step(state, taken).state.unwrap();
        moves.iter().map(|taken| (true, *location, self.interpreter.normalise(&step(taken)))).collect()
    }

    fn claim_moves(&self, location: LocationId, state: &State, out: &mut Vec<Node>) {
        let claim = self.system.process(self.claim);
        for id in &claim.locations[location.index()].edges {
            let edge = &claim.edges[id.index()];
            let Some(after) = self.interpreter.step(state, &Move::Claim { claim: self.claim, edge: *id }).state else {
                continue;
            };
            if edge.keeps_control && !claim.locations[edge.to.index()].end {
                self.claim_moves(edge.to, &after, out);
            } else {
                out.push((false, edge.to, after));
            }
        }
    }
}

fn returns(arcs: &[Vec<usize>], start: usize) -> bool {
    let mut seen = HashSet::new();
    let mut pending = arcs[start].clone();
    while let Some(node) = pending.pop() {
        if node == start {
            return true;
        }
        if seen.insert(node) {
            pending.extend(&arcs[node]);
        }
    }
    false
}
