//! Formulas, automata and the textbook translation must agree on random words.

mod common;

use ample_logic::semantics::holds;
use ample_logic::{
    Acceptance, Atoms, Automaton, Formula, Lasso, Options, hoa, is_stutter_invariant, simplify, translate,
};
use ample_random::Random;
use common::{Generate, textbook};

const BUCHI: Options = Options { acceptance: Acceptance::Buchi, reduce: true, max_states: 100_000 };
const PLAIN: Options = Options { acceptance: Acceptance::Generalised, reduce: false, max_states: 100_000 };
const PLAIN_BUCHI: Options = Options { acceptance: Acceptance::Buchi, reduce: false, max_states: 100_000 };

fn seeds() -> u64 {
    std::env::var("AMPLE_LOGIC_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

fn automata(f: &Formula, names: &Atoms, context: &str) -> Vec<Automaton> {
    let all = [Options::default(), BUCHI, PLAIN, PLAIN_BUCHI].map(|options| {
        let a = translate(f, names, options).unwrap_or_else(|e| panic!("{context}: {e}"));
        a.check().unwrap_or_else(|e| panic!("{context}: {e}"));
        assert_eq!(a.state_based, options.acceptance == Acceptance::Buchi, "{context}");
        a
    });
    all.to_vec()
}

#[test]
fn automata_agree_with_the_semantics() {
    for seed in 0..seeds() {
        let mut random = Random::new(seed);
        let atoms = 1 + random.below(3);
        let size = 1 + random.below(9);
        let f = random.formula(size, atoms);
        let context = format!("seed {seed}, {f:?}");
        let names = Atoms::new();
        let simple = simplify(&f).expect("LTL");
        let positive = automata(&f, &names, &context);
        let negative = automata(&!f.clone(), &names, &context);
        let oracle = (size <= 6).then(|| textbook(&f));
        for _ in 0..60 {
            let word = random.lasso(atoms);
            let truth = holds(&f, &word).expect("LTL");
            let context = format!("{context} on {word:?}");
            assert_eq!(holds(&simple, &word), Ok(truth), "{context}: simplified to {simple:?}");
            for (i, a) in positive.iter().enumerate() {
                assert_eq!(a.accepts(&word), truth, "{context}: automaton {i}: {a:?}");
            }
            for (i, a) in negative.iter().enumerate() {
                assert_eq!(a.accepts(&word), !truth, "{context}: automaton {i} of the negation: {a:?}");
            }
            if let Some(a) = &oracle {
                assert_eq!(a.accepts(&word), truth, "{context}: textbook");
            }
        }
        // exactly, not only on samples
        for a in &positive {
            assert_eq!(a.intersects(&negative[0]), Ok(false), "{context}");
            assert_eq!(negative[1].intersects(a), Ok(false), "{context}");
        }
        if let Some(a) = &oracle {
            assert_eq!(a.intersects(&negative[0]), Ok(false), "{context}: textbook");
            let other = textbook(&!f.clone());
            assert_eq!(other.intersects(&positive[0]), Ok(false), "{context}: textbook of the negation");
            assert_eq!(other.intersects(&positive[1]), Ok(false), "{context}: textbook of the negation");
        }
        for a in positive.iter().chain(&negative) {
            match a.accepted_word() {
                Some(word) => assert!(a.accepts(&word), "{context}: {word:?}"),
                None => assert!(a.is_empty(), "{context}"),
            }
        }
    }
}

#[test]
fn negation_is_its_own_inverse_and_excludes() {
    for seed in 0..seeds() {
        let mut random = Random::new(seed ^ 0x2222);
        let size = 1 + random.below(8);
        let f = random.formula(size, 3);
        let context = format!("seed {seed}, {f:?}");
        let names = Atoms::new();
        let [once, twice, not, not_twice] =
            [f.clone(), !!f.clone(), !f.clone(), !!!f.clone()].map(|f| automata(&f, &names, &context));
        // no word of the one is outside of the other
        for (i, a) in once.iter().enumerate() {
            assert_eq!(a.intersects(&not_twice[i]), Ok(false), "{context}");
            assert_eq!(twice[i].intersects(&not[i]), Ok(false), "{context}");
        }
        for a in automata(&(f.clone() & !f.clone()), &names, &context) {
            assert!(a.is_empty() && a.accepted_word().is_none(), "{context}: f & !f");
        }
        for a in automata(&(f.clone() | !f.clone()), &names, &context) {
            for _ in 0..20 {
                assert!(a.accepts(&random.lasso(3)), "{context}: f | !f");
            }
        }
    }
}

#[test]
fn hoa_is_read_as_it_was_written() {
    for seed in 0..seeds() {
        let mut random = Random::new(seed ^ 0xabcd);
        let f = random.formula(6, 3);
        let mut names: Atoms = ["a", "b \"c\" \\", "d"].iter().collect();
        for a in automata(&f, &names.clone(), &format!("seed {seed}")) {
            let text = hoa::write(&a, "a name");
            let again = hoa::read(&text, &mut names).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            assert_eq!(again, a, "seed {seed}:\n{text}");
        }
    }
}

#[test]
fn stutter_invariance_agrees_with_stretched_words() {
    for seed in 0..seeds() {
        let mut random = Random::new(seed ^ 0x5717);
        let f = random.formula(5, 2);
        let invariant = is_stutter_invariant(&f).expect("small");
        assert!(invariant || f.has_next(), "seed {seed}");
        if !invariant {
            continue;
        }
        for _ in 0..100 {
            let word = random.lasso(2);
            let mut stretch =
                |letters: &[u64]| -> Vec<u64> { letters.iter().flat_map(|&l| vec![l; 1 + random.below(3)]).collect() };
            let longer = Lasso { prefix: stretch(&word.prefix), cycle: stretch(&word.cycle) };
            assert_eq!(holds(&f, &word), holds(&f, &longer), "seed {seed}: {f:?} on {word:?}, {longer:?}");
        }
    }
}
