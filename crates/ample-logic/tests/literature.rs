//! The formulas that papers on translation have used, and their negations: right automata, and small ones.

mod common;

use ample_logic::semantics::holds;
use ample_logic::{Acceptance, Atoms, Dialect, Formula, Options, parse, translate};
use ample_random::Random;
use common::Generate;

const SETS: [&str; 5] = ["DwyerAC98", "EtessamiH00", "SomenziB00", "Liberouter04", "Pelanek07"];

const MORE: [&str; 3] = ["Parametrised", "Parametrised-Hardness", "SickertEJK16"];

/// The formulas of the sets, where they lie beside the project; none otherwise.
fn formulas(sets: &[&str]) -> Vec<(Formula, Atoms)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/ltl");
    let mut all = Vec::new();
    for set in sets {
        let Ok(text) = std::fs::read_to_string(folder.join(set).with_extension("ltl")) else {
            eprintln!("skipped: the set {set} is not beside the project");
            return Vec::new();
        };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut atoms = Atoms::new();
            let f = parse(line, Dialect::Plain, &mut atoms).unwrap_or_else(|e| panic!("{line}: {e}"));
            all.push((f, atoms));
        }
    }
    all
}

#[test]
fn automata_of_known_formulas_are_right() {
    let buchi = Options { acceptance: Acceptance::Buchi, ..Options::default() };
    for (f, atoms) in formulas(&[&SETS[..], &MORE[..]].concat()) {
        let mut random = Random::new(17);
        let yes = [Options::default(), buchi].map(|o| translate(&f, &atoms, o).expect("small"));
        let no = [Options::default(), buchi].map(|o| translate(&!f.clone(), &atoms, o).expect("small"));
        for a in &yes {
            for b in &no {
                assert_eq!(a.intersects(b), Ok(false), "{f:?}");
            }
        }
        for _ in 0..200 {
            let word = random.lasso(atoms.len());
            let truth = holds(&f, &word).expect("LTL");
            assert!(yes.iter().all(|a| a.accepts(&word) == truth), "{f:?} on {word:?}");
            assert!(no.iter().all(|a| a.accepts(&word) != truth), "{f:?} on {word:?}");
        }
    }
}

/// The sums of the states of generalised and of ordinary automata.
fn sums(sets: &[&str]) -> (usize, usize) {
    let (mut generalised, mut buchi) = (0, 0);
    for (f, atoms) in formulas(sets) {
        for f in [f.clone(), !f] {
            generalised += translate(&f, &atoms, Options::default()).expect("small").states;
            let options = Options { acceptance: Acceptance::Buchi, ..Options::default() };
            buchi += translate(&f, &atoms, options).expect("small").states;
        }
    }
    (generalised, buchi)
}

/// The sums that Spot 2.12 needs are 1176 and 1260.
#[test]
fn automata_of_known_formulas_are_small() {
    let (generalised, buchi) = sums(&SETS);
    assert!(generalised <= 1176, "{generalised} states");
    assert!(buchi <= 1260, "{buchi} states");
}

#[test]
fn large_formulas_are_no_catastrophe() {
    let options = Options { max_states: 2000, ..Options::default() };
    let check = |text: String| {
        let mut atoms = Atoms::new();
        let f = parse(&text, Dialect::Plain, &mut atoms).expect("valid");
        let _ = translate(&f, &atoms, options);
    };
    check("X".repeat(900) + "a");
    check(format!("{}a", "a U !".repeat(400)));
    check((0..60).map(|i| format!("G F a{i}")).collect::<Vec<_>>().join(" & "));
    check((0..200).map(|i| format!("F a{}", i % 64)).collect::<Vec<_>>().join(" & "));
    check((0..900).map(|i| format!("a{i}")).collect::<Vec<_>>().join(" | "));
}
