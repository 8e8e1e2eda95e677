//! What is printed is read again as the same formula, in every dialect.

use ample_logic::{Atom, Atoms, Binary, Dialect, Formula, Options, Unary, expressible, hoa, parse, print, translate};
use proptest::prelude::*;

fn formula(quantifiers: bool) -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![Just(Formula::True), Just(Formula::False), (0..14u32).prop_map(|i| Formula::atom(Atom(i))),];
    let unary = if quantifiers { 6 } else { 4usize };
    leaf.prop_recursive(6, 40, 2, move |inner| {
        use Binary::*;
        use Unary::*;
        let ops = [Not, Next, Finally, Globally, All, Exists];
        let binary = prop::sample::select(vec![And, Or, Implies, Iff, Xor, Until, WeakUntil, Release, StrongRelease]);
        prop_oneof![
            (0..unary, inner.clone()).prop_map(move |(i, f)| Formula::unary(ops[i], f)),
            (binary, inner.clone(), inner).prop_map(|(op, f, g)| Formula::binary(op, f, g)),
        ]
    })
}

/// CTL formulas.
fn ctl() -> impl Strategy<Value = Formula> {
    let leaf = (0..14u32).prop_map(|i| Formula::atom(Atom(i)));
    leaf.prop_recursive(5, 30, 2, |inner| {
        use Binary::*;
        use Unary::*;
        let path = prop::sample::select(vec![All, Exists]);
        prop_oneof![
            inner.clone().prop_map(|f| !f),
            (path.clone(), prop::sample::select(vec![Next, Finally, Globally]), inner.clone())
                .prop_map(|(q, op, f)| Formula::unary(q, Formula::unary(op, f))),
            (path, prop::sample::select(vec![Until, Release]), inner.clone(), inner.clone())
                .prop_map(|(q, op, f, g)| Formula::unary(q, Formula::binary(op, f, g))),
            (prop::sample::select(vec![And, Or, Implies, Iff, Xor]), inner.clone(), inner)
                .prop_map(|(op, f, g)| Formula::binary(op, f, g)),
        ]
    })
}

fn names() -> Atoms {
    let names =
        ["a", "F1_1", "x > 3", "True", "GFoo", "U", "say \"\\\"", "Fa", "X", "AG1", "GoEat_0", "true_", "AG", "1"];
    names.iter().collect()
}

fn round_trip(f: &Formula, dialect: Dialect) -> Result<(), TestCaseError> {
    let mut atoms = names();
    let text = print(f, &atoms, dialect).expect("expressible");
    let again = parse(&text, dialect, &mut atoms);
    prop_assert_eq!(again.as_ref(), Ok(&expressible(f, dialect).expect("expressible")), "{}", text);
    prop_assert_eq!(atoms, names());
    Ok(())
}

#[test]
fn automata_keep_the_names_of_their_atoms() {
    let mut atoms = names();
    for number in 0..atoms.len() as u32 {
        let name = atoms.label(Atom(number));
        let f = Formula::unary(Unary::Globally, Formula::unary(Unary::Finally, Formula::atom(Atom(number))));
        let automaton = translate(&f, &atoms, Options::default()).unwrap();
        assert_eq!(hoa::read(&hoa::write(&automaton, &name), &mut atoms).unwrap(), automaton, "{name}");
        assert_eq!(atoms, names(), "{name}");
    }
}

proptest! {
    #[test]
    fn ltl_in_all_dialects(f in formula(false)) {
        for dialect in [Dialect::Spin, Dialect::Smv, Dialect::Plain] {
            round_trip(&f, dialect)?;
        }
    }

    #[test]
    fn ctl_star_in_the_plain_dialect(f in formula(true)) {
        round_trip(&f, Dialect::Plain)?;
    }

    #[test]
    fn ctl_in_the_smv_dialect(f in ctl()) {
        prop_assert!(f.is_ctl());
        round_trip(&f, Dialect::Smv)?;
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ab(){}!&|<>GFXUWRMVAE\\[\\]\"\\\\ é-]{0,30}") {
        for dialect in [Dialect::Spin, Dialect::Smv, Dialect::Plain] {
            let _ = parse(&text, dialect, &mut Atoms::new());
        }
    }

    #[test]
    fn no_text_makes_the_hoa_reader_panic(
        text in "(HOA: v1|States: [0-9]|Start: [0-9]|AP: [0-2] |\"a\"|Acceptance: [0-2]|Inf\\(0\\)|t|--BODY--|--END--|State: [0-3]|\\[[01!&|t]{1,4}\\]|[0-3]|\\{[01]\\}| |@a|Alias:){0,20}"
    ) {
        let _ = ample_logic::hoa::read(&text, &mut Atoms::new());
        let valid = format!("HOA: v1 Acceptance: 1 Inf(0) AP: 2 \"a\" \"b\" Start: 0 --BODY-- {text} --END--");
        let _ = ample_logic::hoa::read(&valid, &mut Atoms::new());
    }
}
