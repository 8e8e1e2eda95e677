//! CTL on small graphs with known answers, and on random ones against plain fixpoints.

use ample_explicit::compile::Compiled;
use ample_explicit::ctl::{self, Dead, NotCtl, Number, Options};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{ExactStore, FlatStore, HashStore};
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_logic::{Atom, Atoms, Dialect, Formula, parse};
use std::sync::{Arc, Mutex};

use ample_budget::{Budget, Progress};
use ample_model::outcome::Reason;
use ample_model::{BinaryOp, Expr, Place, Scalar, Scope, VariableId};

#[path = "../generic_graph/mod.rs"]
mod generic_graph;
mod graph;
mod meaning;
mod witness;

use ample_random::Random;
use graph::{Labelled, random_formula};
use meaning::Meaning;
use witness::check;

fn formula(text: &str) -> Formula {
    parse(text, Dialect::Plain, &mut Atoms::from_iter(["p", "q", "r"])).unwrap()
}

#[test]
fn random_graphs_and_formulas_agree_with_fixpoints() {
    let mut shown = [0, 0];
    for seed in 0..6000 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let graph = Labelled::random(&mut random);
        let depth = 1 + random.below(4);
        let formula = random_formula(&mut random, depth);
        for dead in [Dead::Stutters, Dead::Ends] {
            let report = check(&graph, &formula, dead);
            if let Some(evidence) = report.evidence {
                shown[usize::from(evidence.holds)] += usize::from(!evidence.path.is_empty());
            }
        }
    }
    assert!(shown.iter().all(|&paths| paths > 300), "paths of true and of false formulas: {shown:?}");
}

/// What one search leaves behind must be right for the next one: a new atom gets the value of the formula in each
/// state, and then they are the same everywhere.
#[test]
fn values_are_right_in_all_states() {
    for seed in 0..4000 {
        println!("seed {seed}");
        let mut random = Random::new(!seed);
        let mut graph = Labelled::random(&mut random);
        let depth = 1 + random.below(3);
        let formula = random_formula(&mut random, depth);
        let dead = if random.below(2) == 0 { Dead::Stutters } else { Dead::Ends };
        let values = Meaning::new(&graph, dead).set(&formula);
        graph.labels.iter_mut().zip(values).for_each(|(label, value)| *label |= u8::from(value) << 3);
        let same = Formula::atom(Atom(3)).iff(formula);
        for always in [same.clone().globally().all(), same.next().all().globally().all()] {
            assert_eq!(check(&graph, &always, dead).verdict, Some(true));
        }
    }
}

/// p → q → r, where q and r may repeat themselves; r may also come to an end, s.
fn line() -> Labelled {
    Labelled::new(&[("p", &[1]), ("q", &[1, 2]), ("r", &[2, 3]), ("", &[])])
}

#[test]
fn every_operator_has_its_meaning() {
    let truths = [
        "E X q",
        "A X q",
        "E F r",
        "A F q",
        "E G (p | q)",
        "A G (p | q | r | E F 1)",
        "E (p U q)",
        "A (p U q)",
        "E ((p | q) U r)",
        "E (r R (p | q))",
        "A (q R (p | q))",
        "A ((p | q) W r)",
        "E (p W q)",
        "E (q M (p | q))",
        "A (q M (p | q))",
        "p xor q",
        "p <-> A X q",
        "q -> r",
        "E F A G !(p | q | r)",
        "E F E X E X E G r",
        "A G (r -> !E F q)",
        "!A F r",
    ];
    let untruths = [
        "E X r",
        "A X r",
        "E F (p & q)",
        "A F r",
        "E G p",
        "A G (p | q)",
        "E (p U r)",
        "A ((p | q) U r)",
        "E (r R p)",
        "A (r R (p | q))",
        "A (p W r)",
        "E (p M q)",
        "A (r M (p | q | r))",
        "p <-> q",
        "A G E F q",
        "!E F r",
    ];
    for dead in [Dead::Stutters, Dead::Ends] {
        for (texts, truth) in [(&truths[..], true), (&untruths[..], false)] {
            for text in texts {
                assert_eq!(check(&line(), &formula(text), dead).verdict, Some(truth), "{text}");
            }
        }
    }
}

#[test]
fn what_a_deadlock_means_is_an_option() {
    let graph = Labelled::new(&[("p", &[1]), ("q", &[])]);
    let cases = [
        // text, when it stutters, when it ends
        ("E X E X q", true, false),
        ("A X A X p", false, true),
        ("A G E X 1", true, false),
        ("E G (p | q)", true, true),
        ("E F E G q", true, true),
        ("A F A X 0", false, true),
        ("A F !(p | q)", false, false),
        ("E X E (p R q)", true, true),
    ];
    for (text, stutters, ends) in cases {
        assert_eq!(check(&graph, &formula(text), Dead::Stutters).verdict, Some(stutters), "{text}");
        assert_eq!(check(&graph, &formula(text), Dead::Ends).verdict, Some(ends), "{text}");
    }
    let evidence = check(&graph, &formula("E G (p | q)"), Dead::Stutters).evidence.unwrap();
    assert_eq!((evidence.path.len(), evidence.cycle, evidence.stutters), (1, 0, true));
}

#[test]
fn transient_states_are_passed_over() {
    // 0 → (1 → 2) → 3, where 1 and 2 also go round in circles, and from 4 there is no way out of them.
    let mut graph = Labelled::new(&[("p", &[1]), ("r", &[2]), ("r", &[1, 3]), ("q", &[0, 4]), ("q", &[5]), ("", &[5])]);
    graph.transient.extend([1, 2, 5]);
    for dead in [Dead::Stutters, Dead::Ends] {
        for text in ["A X q", "A G !r", "E F A X 0", "E G (p | q)", "!E F (q & E G q)", "A G (p -> A F q)"] {
            assert_eq!(check(&graph, &formula(text), dead).verdict, Some(true), "{text}");
        }
    }
    let report = check(&graph, &formula("E X q"), Dead::Stutters);
    assert_eq!(report.evidence.unwrap().path.transitions().copied().collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!((report.statistics.states, report.statistics.atomic_states), (2, 2));
    graph.initial = vec![1];
    let report = check(&graph, &formula("p"), Dead::Stutters);
    assert_eq!((report.verdict, report.evidence.unwrap().path.len()), (Some(false), 2));
}

#[test]
fn faults_lead_nowhere_and_are_told() {
    let mut graph = Labelled::new(&[("p", &[1, 2]), ("p", &[2, 2]), ("q", &[2])]);
    assert!(!check(&graph, &formula("A G p"), Dead::Stutters).met_fault);
    graph.faults.extend([(0, 1), (1, 0), (1, 1)]);
    for text in ["A G p", "!E F q", "A X A X 0", "A F 0", "!E G p", "E (E G 1 R p) | 1", "E F !E X 1", "!E G 1"] {
        let report = check(&graph, &formula(text), Dead::Ends);
        assert_eq!((report.verdict, report.met_fault), (Some(true), text != "E (E G 1 R p) | 1"), "{text}");
    }
    graph.faulty_initial.insert(0);
    let report = check(&graph, &formula("0"), Dead::Stutters);
    assert_eq!((report.verdict, report.met_fault, report.evidence), (Some(true), true, None));
}

#[test]
fn evidence_branches_where_the_formula_does() {
    let graph = Labelled::new(&[("", &[1]), ("", &[2]), ("p", &[3, 5]), ("", &[4]), ("", &[3]), ("q", &[5])]);
    let report = check(&graph, &formula("A G (p -> A F q)"), Dead::Stutters);
    let evidence = report.evidence.unwrap();
    assert_eq!((evidence.path.len(), evidence.holds, evidence.cycle), (2, false, 0));
    let [(2, implication)] = &evidence.branches[..] else { panic!("{evidence:?}") };
    let [(0, finally)] = &implication.branches[..] else { panic!("{evidence:?}") };
    assert_eq!((&finally.formula, finally.holds), (&formula("A F q"), false));
    assert_eq!((finally.path.len(), finally.cycle), (3, 2));

    let report = check(&graph, &formula("E (E X E F p U p)"), Dead::Stutters);
    let evidence = report.evidence.unwrap();
    let branches: Vec<(usize, usize)> = evidence.branches.iter().map(|(at, b)| (*at, b.branches.len())).collect();
    assert_eq!((evidence.path.len(), branches), (2, vec![(0, 1), (1, 1)]));

    // Two reasons for a conjunction, one for a disjunction, none where it can be seen without a path.
    let count = |text: &str| check(&graph, &formula(text), Dead::Ends).evidence.map(|evidence| evidence.branches.len());
    assert_eq!(count("E F p & (E F q & !p)"), Some(2));
    assert_eq!(count("A G p | A F p & A G q"), Some(2));
    assert_eq!(count("E F p | E F q"), Some(1));
    assert_eq!(count("E F p | !p"), None);
    assert_eq!(count("A X A X p"), None);
    assert_eq!(count("A G A F q & E F p"), Some(1));
    assert_eq!(count("E G p"), Some(0));
}

#[test]
fn evidence_is_short_and_not_too_much() {
    // A long way round, which comes first, and a short one; all along, q can be reached.
    let long = 5000;
    let mut vertices: Vec<(&str, Vec<u32>)> = (0..long).map(|vertex| ("", vec![vertex + 1, long + 1])).collect();
    vertices[0].1 = vec![1, long, long + 1];
    vertices.push(("p", vec![0]));
    vertices.push(("q", vec![0]));
    let vertices: Vec<(&str, &[u32])> = vertices.iter().map(|(label, edges)| (*label, &edges[..])).collect();
    let graph = Labelled::new(&vertices);
    let length = |text: &str| check(&graph, &formula(text), Dead::Stutters).evidence.unwrap().path.len();
    assert_eq!(length("E F p"), 1);
    assert_eq!(length("A G !p"), 1);
    assert_eq!(length("E G !p"), 2);
    assert_eq!(length("E X q"), 1);
    let evidence = check(&graph, &formula("E G (E F q | E F p)"), Dead::Stutters).evidence.unwrap();
    assert!(evidence.branches.len() <= 16);
    let evidence = check(&graph, &formula("E (E F (q & E F p) U (q & E F p))"), Dead::Ends).evidence.unwrap();
    assert_eq!(evidence.branches.len(), 2);
}

/// A long way without a branch: no stack may overflow.
#[test]
fn paths_may_be_long() {
    let last = 300_000;
    let mut edges: Vec<Vec<u32>> = (1..=last).map(|next| vec![next]).collect();
    edges.push(Vec::new());
    let mut labels = vec![0; last as usize];
    labels.push(1);
    let mut graph = Labelled { initial: vec![0], edges, labels, ..Labelled::default() };
    let depth = |graph: &mut Labelled, text: &str| {
        let mut store = HashStore::<u32, Number>::default();
        let report = ctl::check(graph, &mut store, &formula(text), &Options::default(), &Budget::unlimited()).unwrap();
        assert_eq!(report.verdict, Some(true), "{text}");
        (report.statistics.states, report.statistics.depth, report.evidence.map_or(0, |evidence| evidence.path.len()))
    };
    let long = u64::from(last);
    assert_eq!(depth(&mut graph, "E F p"), (long + 1, long, last as usize));
    assert_eq!(depth(&mut graph, "A F p"), (long + 1, long, 0));
    assert_eq!(depth(&mut graph, "E G E X 1"), (long + 1, long + 1, last as usize));
    assert_eq!(depth(&mut graph, "A G E F p").0, long + 1);
    let deep = format!("{}p", "A X !".repeat(199));
    depth(&mut graph, &format!("{deep} | {}p", "! ".repeat(600)));
    depth(&mut graph, &format!("{}p", "E F A F ".repeat(100)));
    assert_eq!(depth(&mut graph, &format!("{}1", "E X ".repeat(200))), (201, 0, 1));
}

#[test]
fn what_is_not_ctl_is_refused() {
    for (text, why) in [("F p", NotCtl::Mixed), ("A (F p & G q)", NotCtl::Mixed)] {
        let mut store = HashStore::<u32, Number>::default();
        let report = ctl::check(&mut line(), &mut store, &formula(text), &Options::default(), &Budget::unlimited());
        assert_eq!(report, Err(why));
    }
    let nested = formula(&format!("{}p", "E X ".repeat(201)));
    let mut store = HashStore::<u32, Number>::default();
    let report = ctl::check(&mut line(), &mut store, &nested, &Options::default(), &Budget::unlimited());
    assert_eq!(report, Err(NotCtl::TooDeep));
}

#[test]
fn the_budget_is_told_and_can_end_the_search() {
    let vertices = 10_000;
    let edges = (1..=vertices).map(|next| vec![next % vertices]).collect();
    let mut graph = Labelled { initial: vec![0], edges, labels: vec![0; 10_000], ..Labelled::default() };
    let options = Options { report_every: 1000, ..Options::default() };
    let mut ask = |text: &str, left: usize| {
        let told = Arc::new(Mutex::new(Vec::<Progress>::new()));
        let seen = Arc::clone(&told);
        let is_last = move |progress: &Progress| {
            let mut seen = seen.lock().unwrap();
            seen.push(*progress);
            seen.len() == left
        };
        let budget = Budget::unlimited().until(is_last).0;
        let mut store = HashStore::<u32, Number>::default();
        let report = ctl::check(&mut graph, &mut store, &formula(text), &options, &budget).unwrap();
        let told = told.lock().unwrap().clone();
        (report, told)
    };
    let (report, told) = ask("A G !p", 3);
    assert_eq!((report.verdict, report.ended, report.statistics.complete), (None, Some(Reason::Interrupted), false));
    assert_eq!(told.len(), 3);
    assert!(told.windows(2).all(|pair| pair[0].states + 1000 >= pair[1].states && pair[0].memory <= pair[1].memory));
    // A search over states that are known tells too; and evidence can be given up.
    let (report, told) = ask("E G !E F p", usize::MAX);
    assert_eq!((report.verdict, report.evidence.is_some()), (Some(true), true));
    assert!(told.iter().filter(|progress| progress.states == 10_000).count() > 10);
    let (report, _) = ask("E G !E F p", told.len());
    assert_eq!((report.verdict, report.evidence, report.ended), (Some(true), None, None));
}

#[test]
fn a_full_store_ends_the_search() {
    let edges = (1..=100_000).map(|next| vec![next % 100_000]).collect();
    let mut graph = Labelled { initial: vec![0], edges, labels: vec![0; 100_000], ..Labelled::default() };
    let mut store = HashStore::<u32, Number>::default().limit(100_000);
    let report =
        ctl::check(&mut graph, &mut store, &formula("E F p"), &Options::default(), &Budget::unlimited()).unwrap();
    assert_eq!((report.verdict, report.ended), (None, Some(Reason::Memory)));
    assert!(report.statistics.store_bytes <= 100_000 && report.statistics.memory_bytes > 100_000 / 2);
}

#[test]
fn compiled_models_are_checked_with_their_atomic_sequences() {
    let text = "byte x;
        active proctype p() {
            do
            :: atomic { x = 1; if :: x = 2 :: x = 3 fi; x = x + 2 }
            :: x > 0 -> x = 0
            :: x == 5 -> break
            od
        }";
    let lowered = promela::read("test.pml", text.into(), &mut FileLoader, &[]).unwrap();
    let scalar = Scalar::BYTE;
    let x = Place { scope: Scope::Global, variable: VariableId(0), offset: 0, indices: Vec::new(), scalar };
    let is = |value: i64| Expr::binary(BinaryOp::Equal, Expr::Read(x.clone()), Expr::Const(value));
    let atoms = [is(1), is(4), is(5)];
    let cases = [
        ("A G !p", true),
        ("A G (q -> E F r)", true),
        ("A X (q | r)", true),
        ("A G E F q", false),
        ("E F A G r", true),
        ("A F r", false),
    ];
    for (text, truth) in cases {
        let mut space = Compiled::new(&lowered.system, &atoms).unwrap();
        let mut store = FlatStore::<Number, _>::with_visible(space.visible());
        let options = Options::default();
        let report = ctl::check(&mut space, &mut store, &formula(text), &options, &Budget::unlimited()).unwrap();
        assert_eq!(report.verdict, Some(truth), "{text}");
        if let Some(evidence) = &report.evidence {
            let mut out = Vec::new();
            let states: Vec<&[u8]> = evidence.path.states().map(|handle| store.get(handle)).collect();
            for (step, transition) in evidence.path.transitions().enumerate() {
                space.target(states[step], transition, &mut out);
                assert_eq!(store.find(&out), store.find(states[step + 1]));
            }
        }
    }
}
