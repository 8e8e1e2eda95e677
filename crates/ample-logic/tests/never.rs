//! Never claims: what is written accepts the same words, and Spin takes it.

mod common;
#[path = "../../ample/tests/support/oracle.rs"]
mod oracle;

use std::collections::HashMap;
use std::process::Command;

use ample_logic::{
    Acceptance, Atom, Atoms, Automaton, Cube, Dialect, Edge, Formula, Options, never, parse, semantics, translate,
};
use ample_random::Random;
use common::Generate;

const BUCHI: Options = Options { acceptance: Acceptance::Buchi, reduce: true, max_states: 100_000 };
const PLAIN: Options = Options { acceptance: Acceptance::Buchi, reduce: false, max_states: 100_000 };

fn claim(f: &Formula, options: Options) -> String {
    let automaton = translate(f, &Atoms::new(), options).expect("small");
    never::write(&automaton, "", &mut |atom| format!("p{}", atom.0)).expect("state-based")
}

/// Reads a claim of this form again, over the atoms `p0`, `p1`, ….
fn read(text: &str) -> Automaton {
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_suffix(':')).collect();
    let number: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    assert_eq!(names.len(), number.len(), "labels are unique\n{text}");
    let (mut edges, mut from) = (Vec::new(), 0);
    let accepting = |state: usize| u32::from(names[state].starts_with("accept"));
    for line in text.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            from = number[label];
        } else if let Some(option) = line.strip_prefix(":: ") {
            let (guard, to) = option.split_once(" -> goto ").expect("an option");
            let label = guard.split(" || ").map(cube).collect();
            edges.push(Edge { from, label, to: number[to], marks: accepting(from) });
        } else if line == "skip" {
            // behind it the claim ends, whatever comes
            edges.push(Edge { from, label: vec![Cube::TRUE], to: from, marks: 1 });
        }
    }
    let atoms: Vec<Atom> = (0..4).map(Atom).collect();
    let labels = atoms.iter().map(|a| format!("p{}", a.0)).collect();
    Automaton { states: names.len(), initial: 0, edges, sets: 1, state_based: true, atoms, names: labels }
}

fn cube(text: &str) -> Cube {
    let inside = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).expect("parentheses");
    let mut cube = Cube::TRUE;
    for literal in inside.split(" && ").filter(|literal| *literal != "1") {
        let bit = |atom: &str| 1_u64 << atom.trim_matches(['(', 'p', ')']).parse::<u32>().expect("an atom");
        match literal.strip_prefix('!') {
            Some(atom) => cube.negative |= bit(atom),
            None => cube.positive |= bit(literal),
        }
    }
    cube
}

#[test]
fn claims_look_like_those_of_spin() {
    let buchi = |text: &str| {
        let mut atoms = Atoms::new();
        let f = parse(text, Dialect::Spin, &mut atoms).expect("a formula");
        let automaton = translate(&f, &atoms, BUCHI).expect("small");
        never::write(&automaton, text, &mut |atom| atoms.label(atom)).expect("state-based")
    };
    let expected = "\
never { /* <> \"x > 3\" */
T0_init:
    if
    :: (!(x > 3)) -> goto T0_init
    :: ((x > 3)) -> goto accept_all
    fi;
accept_all:
    skip
}
";
    assert_eq!(buchi("<> \"x > 3\""), expected);
    assert_eq!(buchi("true"), "never { /* true */\naccept_init:\n    if\n    :: (1) -> goto accept_init\n    fi;\n}\n");
    assert_eq!(buchi("false"), "never { /* false */\nT0_init:\n    false;\n}\n");
    assert!(buchi("a && \"*/\"").starts_with("never { /* a && \"* /\" */\n"));
}

#[test]
fn an_automaton_that_accepts_by_its_edges_is_refused() {
    let mut atoms = Atoms::new();
    let f = parse("GFa & GFb", Dialect::Plain, &mut atoms).expect("a formula");
    let automaton = translate(&f, &atoms, Options::default()).expect("small");
    let error = never::write(&automaton, "", &mut |atom| atoms.label(atom)).unwrap_err();
    assert!(error.to_string().contains("Acceptance::Buchi"));
}

#[test]
fn a_claim_accepts_the_words_of_its_formula() {
    for seed in 0..300 {
        let mut random = Random::new(seed ^ 0x6e65);
        let size = 1 + random.below(8);
        let f = random.formula(size, 3);
        for options in [BUCHI, PLAIN] {
            let text = claim(&f, options);
            let automaton = read(&text);
            automaton.check().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            for _ in 0..40 {
                let word = random.lasso(3);
                let truth = semantics::holds(&f, &word).expect("LTL");
                assert_eq!(automaton.accepts(&word), truth, "seed {seed}: {f:?} on {word:?}\n{text}");
            }
        }
    }
}

#[test]
fn spin_takes_the_claims() {
    let directory = std::env::temp_dir().join(format!("ample-never-{}", std::process::id()));
    let Some(spin) = oracle::spin() else { return };
    std::fs::create_dir_all(&directory).expect("a directory for temporary files");
    let model = "bool p0, p1, p2;\nactive proctype P() { do :: p0 = !p0 :: p1 = !p1 :: p2 = !p2 od }\n";
    for seed in 0..25 {
        let mut random = Random::new(seed ^ 0x7370);
        let f = random.formula(6, 3);
        let text = format!("{model}{}", claim(&f, BUCHI));
        std::fs::write(directory.join("m.pml"), &text).expect("a temporary file");
        let run = Command::new(&spin).args(["-a", "m.pml"]).current_dir(&directory).output().expect("spin runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && !said.contains("rror"), "seed {seed}: {said}\n{text}");
    }
    let _ = std::fs::remove_dir_all(&directory);
}
