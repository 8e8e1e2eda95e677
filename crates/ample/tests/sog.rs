//! `ample sog`: graphs and verdicts of models as a user gets them.

mod support;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use ample::sog::{Balance, Canonical, Graph, Kind, SavedGraph, SogError, SogOptions, build, check, formula};
use ample::{Budget, CheckOptions, LoadOptions, Loaded, Verdict};
use ample_model::Expr;
use ample_petri::net::{Condition, Net};
use ample_sog::{Lists, Model, Observed};
use serde_json::Value;

fn net(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/petri").join(name)
}

fn ample(words: &[&str]) -> Output {
    support::command(words).output().unwrap()
}

#[test]
fn the_command_builds_a_graph_and_writes_it() {
    let file = net("philosophers_4.pnml");
    let loaded = ample::load(&file, &LoadOptions::default()).unwrap();
    let edges = &loaded.system.processes[0].edges;
    let names: Vec<&str> = edges.iter().map(|edge| edge.label.as_str()).collect();
    // Two of the four transitions of each philosopher, as the literature has it.
    let wanted: Vec<&str> =
        names.iter().copied().filter(|name| name.starts_with("GoEat") || name.starts_with("Release")).collect();
    assert_eq!(wanted.len(), 8, "{names:?}");
    let dot = std::env::temp_dir().join(format!("sog-{}.dot", std::process::id()));
    let (file, path) = (file.display().to_string(), dot.display().to_string());
    let output =
        ample(&["sog", "--json", "--threads", "2", "--observe", &wanted.join(","), "--dot", &path, file.as_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["statistics"]["aggregates"], &value["statistics"]["arcs"]), (&16.into(), &64.into()));
    assert_eq!(value["statistics"]["states"], "322");
    assert!(std::fs::read_to_string(&dot).unwrap().starts_with("digraph"));
    std::fs::remove_file(dot).unwrap();
    let output = ample(&["sog", "--observe", "nobody", file.as_str()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn formulas_are_checked_with_a_run_that_shows_it() {
    let file = net("erk_4.pnml").display().to_string();
    let output = ample(&["sog", "--ltl", "G F k5", file.as_str()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = ample(&["sog", "--json", "--ltl", "(!k5) W k3", file.as_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["verdict"], "holds");
    let sensitive = ["sog", "--ltl", "k1", file.as_str()];
    assert_eq!(ample(&sensitive).status.code(), Some(3));
    // k6 can come first.
    let collapsed = ["sog", "--collapsed", "--ltl", "k1", file.as_str()];
    assert_eq!(ample(&collapsed).status.code(), Some(1));
    // Without the steps before it, k5 comes first in some run.
    let collapsed = ["sog", "--collapsed", "--ltl", "!k5", file.as_str()];
    assert_eq!(ample(&collapsed).status.code(), Some(1));
}

/// Models of other languages, with formulas over their states.
const MODELS: [(&str, &str, &[&str]); 2] = [
    (
        "mutex.pml",
        "bool busy; byte inside;
         active [2] proctype P() { do :: !busy; busy = true; inside++; inside--; busy = false od }",
        &["[] (inside < 2)", "[] <> (inside == 0)", "<> [] busy", "[] <> (inside == 1)"],
    ),
    (
        "count.pml",
        "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> break od }",
        &["<> (x == 5)", "[] (x < 5)", "(x < 3) U (x == 3)", "<> [] (x == 5)"],
    ),
];

#[test]
fn verdicts_are_those_of_the_explicit_engine() {
    for (name, text, formulas) in MODELS {
        let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
        for text in formulas {
            let ltl = loaded.ltl(text).unwrap();
            let question = ample::Question::Ltl(ltl);
            let property = ample::Property { name: "it".into(), question, text: (*text).into(), span: None };
            let options = CheckOptions { properties: Some(vec![property]), ..CheckOptions::default() };
            let expected = ample::check(&loaded.system, &options).answers[0].verdict();
            for compare_labels in [false, true] {
                let options = SogOptions { threads: 2, compare_labels, ..SogOptions::default() };
                let judged =
                    check(&loaded.system, &formula(&loaded, text).unwrap(), &options, &Budget::unlimited()).unwrap();
                let found = if judged.violation.is_some() { Verdict::Violated } else { Verdict::Holds };
                assert_eq!(found, expected, "{name}: {text} {compare_labels}");
            }
        }
    }
}

#[test]
fn states_and_events_are_observed_together() {
    let (name, text, _) = MODELS[1];
    let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
    let atoms = vec![loaded.expression("x > 2").unwrap()];
    let options = SogOptions { atoms, kind: Kind::State, ..SogOptions::default() };
    let built = build(&loaded.system, &options, &Budget::unlimited()).unwrap();
    assert_eq!((built.graph.size().aggregates, built.graph.size().silent), (2, 1));
    let mixed = formula(&loaded, "G (\"x == 5\" -> G !\"x < 5\")").unwrap();
    assert!(check(&loaded.system, &mixed, &SogOptions::default(), &Budget::unlimited()).unwrap().violation.is_none());
}

/// A formula with an event groups as one without: to the left about a Promela model, to the right about others.
#[test]
fn operators_group_as_in_the_language_of_the_model() {
    let promela = "bool a, b, c; byte x; active proctype P() { do :: x == 0 -> x++ :: x == 1 -> x = 0 od }";
    let milestones = "VARIABLE a:1:=0; b:1:=0; c:1:=0; x:1:=0; END ACTION up; down; END
        MAIN CASE [up] x == 0: x := 1; [down] x == 1: x := 0; END END";
    let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
        <place id="a"/><place id="b"/><place id="c"/><transition id="t"/></page></net></pnml>"#;
    // All are false, so that (a -> b) -> c is, and a -> (b -> c) is not; and the event does occur.
    for (name, text, states, with_event, holds) in [
        ("m.pml", promela, "a -> b -> c", "(a -> b -> c) || G !\"x++\"", false),
        ("m.mil", milestones, "a == 1 -> b == 1 -> c == 1", "(\"a == 1\" -> \"b == 1\" -> \"c == 1\") | G !up", true),
        ("n.pnml", net, "a -> b -> c", "(a -> b -> c) | G !t", true),
    ] {
        let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
        let question = ample::Question::Ltl(loaded.ltl(states).unwrap());
        let property = ample::Property { name: "f".into(), question, text: states.into(), span: None };
        let options = CheckOptions { properties: Some(vec![property]), ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        assert_eq!(report.answers[0].verdict() == Verdict::Holds, holds, "{name}");
        let mixed = formula(&loaded, with_event).unwrap();
        let judged = check(&loaded.system, &mixed, &SogOptions::default(), &Budget::unlimited()).unwrap();
        assert_eq!(judged.violation.is_none(), holds, "{name}");
    }
}

#[test]
fn an_atomic_sequence_is_one_step() {
    let text = "byte x; active [2] proctype P() { do :: atomic { x = 1; x = 0 } od }";
    let loaded = ample::load_text("atomic.pml", text.into(), &LoadOptions::default()).unwrap();
    let atoms = vec![loaded.expression("x == 1").unwrap()];
    let options = SogOptions { atoms, kind: Kind::State, ..SogOptions::default() };
    let built = build(&loaded.system, &options, &Budget::unlimited()).unwrap();
    let size = built.graph.size();
    assert_eq!((size.aggregates, size.states, size.divergent, built.has_endless_sequences), (1, 1, 1, false));
    let judged = |text: &str| {
        check(&loaded.system, &formula(&loaded, text).unwrap(), &SogOptions::default(), &Budget::unlimited()).unwrap()
    };
    assert!(judged("[] (x == 0)").violation.is_none());
    // The statement inside is an event all the same.
    assert!(judged("[] <> \"x = 0\"").violation.is_none());
}

/// Models whose atomic sequences are special in some way; the explicit engine passes over them in its own way.
#[test]
fn verdicts_with_atomic_sequences_are_those_of_the_explicit_engine() {
    let models = [
        "byte x, y; active [2] proctype P() { do :: atomic { x = 1; x = 0 } :: y = 1 - y od }",
        "byte x, y; active proctype P() { do :: atomic { x = 1; y == 1; x = 2; y = 0 } od }
         active proctype Q() { do :: y = 1 od }",
        "byte x, y; active proctype P() { do :: y = 1 - y :: atomic { x = 1; do :: y = y od } od }",
        "byte x, y; active proctype P() { atomic { x = 1; do :: x = 1 - x od } } active proctype Q() { y = 1 }",
        "byte x, y; active proctype P() { do :: atomic { x = 1; do :: x = 2 :: break od; x = 0 } :: y = 1 - y od }",
        "byte x, y; active proctype P() { do :: atomic { x = 1; y = 5 / y; x = 0 } :: y = 1 - y od }",
        "byte x, y; active proctype P() { do :: atomic { x = 1; y = y + 1; y = 5 / (3 - y); x = 0 } od }",
        "byte x, y; active proctype P() { do :: atomic { y = 1; assert(x == 0); x = 1; x = 0 } od }",
        "chan c = [0] of { byte }; byte x, y;
         active proctype P() { do :: atomic { x = 1; c ! 1; x = 2 } od }
         active proctype Q() { byte z; do :: atomic { c ? z; y = 1 - y; x = 0 } od }",
    ];
    let formulas = [
        "[] <> (x == 0)",
        "<> [] (x == 0)",
        "[] <> (y == 1)",
        "[] (x == 1 -> <> (y == 1))",
        "(x == 0) U (y == 1)",
        "[] (x < 2)",
        "<> (x == 1)",
        "[] (y < 2)",
    ];
    for model in models {
        let loaded = ample::load_text("m.pml", model.into(), &LoadOptions::default()).unwrap();
        for text in formulas {
            let question = ample::Question::Ltl(loaded.ltl(text).unwrap());
            let property = ample::Property { name: "it".into(), question, text: text.into(), span: None };
            let [explicit, sog] = ["explicit", "sog"].map(|engine| {
                let mut options = CheckOptions { properties: Some(vec![property.clone()]), ..CheckOptions::default() };
                options.engine = ample::engine(engine).unwrap();
                ample::check(&loaded.system, &options).answers[0].verdict()
            });
            assert_eq!(sog, explicit, "{model}: {text}");
            let options = SogOptions { threads: 2, ..SogOptions::default() };
            let judged =
                check(&loaded.system, &formula(&loaded, text).unwrap(), &options, &Budget::unlimited()).unwrap();
            let found = if judged.violation.is_some() { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(found, explicit, "{model}: {text}");
        }
    }
}

/// Into how many parts successors are split.
const PARTS: usize = 3;

const KINDS: [Kind; 4] = [Kind::Event, Kind::Split, Kind::State, Kind::EventState];
const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
const BALANCES: [Balance; 3] = [Balance::Order, Balance::Steal, Balance::MinLoad];
/// A graph whose sets take more bytes is not small,
const SMALL_SETS: u64 = 500_000;
/// nor is one that takes longer than this.
const PATIENCE: Duration = Duration::from_secs(3);
/// Nets with more nodes or arcs are not small.
const SMALL_NET: usize = 300;

/// All nets that lie with the project, and those of the contest where they lie beside it.
fn nets() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = |folder: PathBuf| {
        let found = std::fs::read_dir(&folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
        let mut found: Vec<PathBuf> = found.unwrap_or_else(|_| {
            eprintln!("skipped: there is no {}", folder.display());
            Vec::new()
        });
        found.sort();
        found
    };
    let mut nets = entries(here.join("../../models/petri"));
    nets.retain(|path| path.extension().is_some_and(|extension| extension == "pnml"));
    assert!(!nets.is_empty());
    let contest = entries(here.join("../../../shared/corpora/petri"));
    nets.extend(contest.iter().map(|folder| folder.join("model.pnml")).filter(|file| file.is_file()));
    nets
}

/// A net with what is observed of it: three transitions and two conditions, taken from all over the net.
struct Product {
    loaded: Loaded,
    net: Net,
    observe: Vec<String>,
    atoms: Vec<Expr>,
}

impl Product {
    fn small(path: &Path) -> Option<Product> {
        let loaded = ample::load(path, &LoadOptions::default()).ok()?;
        let net = Net::of(&loaded.system)?;
        if net.places.len() > SMALL_NET || net.transitions.len() > SMALL_NET {
            return None;
        }
        let spread = |count: usize, most: usize| (0..count).step_by(count.div_ceil(most).max(1));
        let name = |transition: usize| net.transitions[transition].name.clone();
        let observe = spread(net.transitions.len(), 3).map(name).collect();
        let marked = |place: usize| loaded.expression(&format!("\"{}\" >= 1", net.places[place].name)).ok();
        let atoms = spread(net.places.len(), 2).map(marked).collect::<Option<Vec<Expr>>>()?;
        Some(Product { loaded, net, observe, atoms })
    }

    fn options(&self, kind: Kind) -> SogOptions {
        SogOptions {
            observe: self.observe.clone(),
            atoms: self.atoms.clone(),
            kind,
            parts: PARTS,
            ..SogOptions::default()
        }
    }

    /// The graph as one engine builds it, aggregate after aggregate; `None` if it is not small.
    fn sequential(&self, observed: &Observed) -> Option<Graph> {
        let condition = |expr: &Expr| (String::new(), Condition::of(expr).expect("a place is compared"));
        let model = Lists::new(self.net.clone(), self.atoms.iter().map(condition).collect(), 1 << 28);
        let budget = Budget::unlimited().with_time(PATIENCE);
        model.with_stack(|| {
            let mut sets = model.sets(1, &budget).ok()?;
            ample_sog::build(&mut sets, observed, Canonical::None, SMALL_SETS, &budget).ok()
        })
    }

    fn observed(&self, kind: Kind) -> Observed {
        let is_observed = |number: &usize| self.observe.contains(&self.net.transitions[*number].name);
        let count = self.net.transitions.len();
        let actions: Vec<usize> = (0..count).filter(is_observed).collect();
        let atoms: Vec<usize> = (0..self.atoms.len()).collect();
        let observed = match kind {
            Kind::Event => Observed::events(count, &actions),
            Kind::Split => Observed::split(count, &actions, PARTS),
            Kind::State => Observed::events_and_states(count, &[], &atoms),
            Kind::EventState => Observed::events_and_states(count, &actions, &atoms),
        };
        observed.expect("actions and atoms exist")
    }
}

/// Builds every small kind of graph of a net, with different numbers of threads and both ways of balancing, at least so
/// often in all, and compares it with the sequential one. How many were built.
fn builds_are_equal(path: &Path, threads: &[usize], wanted: usize) -> usize {
    let Some(product) = Product::small(path) else { return 0 };
    let small = |kind: &Kind| Some((*kind, product.sequential(&product.observed(*kind))?));
    let expected: Vec<(Kind, Graph)> = KINDS.iter().filter_map(small).collect();
    let (mut builds, mut round) = (0, 0);
    while builds < wanted && !expected.is_empty() {
        let canonical = [Canonical::None, Canonical::Sent][round % 2];
        for (kind, expected) in &expected {
            for (threads, balance) in threads.iter().flat_map(|n| BALANCES.map(|balance| (*n, balance))) {
                let options = SogOptions { threads, balance, canonical, ..product.options(*kind) };
                let budget = Budget::unlimited().with_time(Duration::from_secs(600));
                let built = build(&product.loaded.system, &options, &budget);
                let what = format!("{} {kind:?} {threads} {balance:?} round {round}", path.display());
                let built = built.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(built.graph == *expected, "{what}: another graph than the sequential one");
                assert_eq!(built.work.expanded.iter().sum::<usize>(), expected.size().aggregates, "{what}");
                builds += 1;
            }
        }
        round += 1;
    }
    builds
}

fn all_builds_are_equal(nets: &[PathBuf], threads: &[usize], wanted: usize) {
    let begun = Instant::now();
    let (mut used, mut builds) = (0, 0);
    for path in nets {
        let here = Instant::now();
        match builds_are_equal(path, threads, wanted) {
            0 => println!("skipped, not small enough: {}", path.display()),
            number => {
                println!("{}: {number} builds in {:.1} s", path.display(), here.elapsed().as_secs_f64());
                (used, builds) = (used + 1, builds + number);
            }
        }
    }
    println!("{used} of {} nets, {builds} builds, {:.1} s", nets.len(), begun.elapsed().as_secs_f64());
    assert!(used > 0);
}

#[test]
fn threads_build_the_sequential_graph() {
    let nets: Vec<PathBuf> =
        ["philosophers_4", "ring_3", "token_ring_5", "erk_4"].iter().map(|n| net(&format!("{n}.pnml"))).collect();
    all_builds_are_equal(&nets, &THREADS, 24);
}

/// Every net, at least a hundred builds each: `cargo test --release -p ample --test sog -- --ignored --nocapture`.
#[test]
#[ignore = "minutes"]
fn threads_build_the_sequential_graph_of_every_net() {
    all_builds_are_equal(&nets(), &THREADS, 100);
}

/// A model, what is observed of it, and formulas about that.
struct Saved {
    text: &'static str,
    observe: &'static [&'static str],
    atoms: &'static [&'static str],
    formulas: &'static [&'static str],
}

const SAVED: [Saved; 3] = [
    Saved {
        text: "bool busy; byte inside;
            active [2] proctype P() { do :: atomic { !busy; busy = true }; inside++; inside--; busy = false od }",
        observe: &["inside++"],
        atoms: &["inside == 1", "busy"],
        formulas: &[
            "[] (inside == 1 -> <> !busy)",
            "[] <> busy",
            "<> [] busy",
            "[] <> \"inside++\"",
            "[] (!busy || busy)",
        ],
    },
    Saved {
        text: "byte x, y; active proctype P() { do :: atomic { x = 1; y = 5 / y; x = 0 } :: y = 1 - y od }",
        observe: &[],
        atoms: &["x == 1", "y == 1"],
        formulas: &["[] (x != 1)", "[] !(x == 1)", "<> [] (x == 1)", "<> (y == 1)", "[] <> (y == 1)"],
    },
    Saved {
        text: "byte turn; active [3] proctype P() { do :: turn == _pid -> turn = (turn + 1) % 3 od }",
        observe: &[],
        atoms: &["turn == 0"],
        formulas: &["[] <> (turn == 0)", "<> [] (turn == 0)", "[] (turn == 0)"],
    },
];

#[test]
fn a_saved_graph_gives_the_verdicts_of_one_that_is_built() {
    let budget = Budget::unlimited();
    let (mut checked, mut violated) = (0, 0);
    for Saved { text, observe, atoms, formulas } in SAVED {
        let name = "saved.pml";
        let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
        let atoms = atoms.iter().map(|text| loaded.expression(text).unwrap()).collect();
        let observe = observe.iter().map(|name| (*name).to_owned()).collect();
        let options = SogOptions { observe, atoms, kind: Kind::EventState, threads: 2, ..SogOptions::default() };
        let built = build(&loaded.system, &options, &budget).unwrap();
        let saved = SavedGraph::of(&loaded.system, &built, &options, &budget).unwrap();
        let saved = SavedGraph::parse(&saved.to_bytes(&budget).unwrap(), &budget).unwrap();
        assert_eq!(saved.size().aggregates, built.graph.size().aggregates);
        for text in formulas {
            let formula = formula(&loaded, text).unwrap();
            let expected = check(&loaded.system, &formula, &SogOptions::default(), &budget).unwrap();
            match saved.check(&loaded.system, &formula, &SogOptions::default(), &budget) {
                Ok(found) => {
                    assert_eq!(found.violation.is_some(), expected.violation.is_some(), "{name}: {text}");
                    checked += 1;
                    violated += usize::from(found.violation.is_some());
                }
                Err(SogError::Formula(why)) => assert!(why.contains("does not observe"), "{name}: {text}: {why}"),
                Err(error) => panic!("{name}: {text}: {error}"),
            }
        }
        // The same text under another name is the same model; another text is not.
        let again = ample::load_text("other.pml", text.into(), &LoadOptions::default()).unwrap();
        let truth = formula(&again, "[] true").unwrap();
        assert!(saved.check(&again.system, &truth, &SogOptions::default(), &budget).is_ok());
        let other = ample::load_text(name, format!("bool other; {text}"), &LoadOptions::default()).unwrap();
        let refused = saved.check(&other.system, &truth, &SogOptions::default(), &budget);
        assert!(matches!(refused, Err(SogError::File(_))), "{name}");
    }
    assert!(checked >= 8 && violated >= 4, "{checked} {violated}");
}

#[test]
fn files_that_are_no_graph_are_refused() {
    let folder = std::env::temp_dir().join(format!("sog-saved-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (model, graph) = (net("erk_4.pnml").display().to_string(), folder.join("graph").display().to_string());
    let built = ample(&["sog", "--observe", "k3,k5", "--save", &graph, &model]);
    assert_eq!(built.status.code(), Some(0), "{built:?}");
    let formula = "G (k3 -> F k5)";
    for words in [["sog", "--graph"], ["check", "--graph"]] {
        let checked = ample(&[words[0], words[1], &graph, "--ltl", formula, &model]);
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        let unobserved = ample(&[words[0], words[1], &graph, "--ltl", "G F k1", &model]);
        assert_eq!(unobserved.status.code(), Some(2), "{unobserved:?}");
        assert!(String::from_utf8_lossy(&unobserved.stderr).contains("does not observe the action `k1`"));
    }
    let bytes = std::fs::read(&graph).unwrap();
    let wrong = folder.join("wrong").display().to_string();
    let refused = |content: &[u8], why: &str| {
        std::fs::write(&wrong, content).unwrap();
        let output = ample(&["check", "--graph", &wrong, "--ltl", formula, &model]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(said.contains(why) && said.contains(&wrong), "{why}: {said}");
    };
    refused(&bytes[..bytes.len() / 2], "truncated");
    refused(&bytes[..30], "damaged");
    refused(&[], "no observation graph");
    refused(&[&bytes[..], b" "].concat(), "damaged");
    refused(b"digraph sog {}", "no observation graph");
    let mut changed = bytes.clone();
    changed[bytes.len() - 20] ^= 1;
    refused(&changed, "checksum");
    refused(&[b"ample observation graph 2", &bytes[25..]].concat(), "version");
    let output =
        ample(&["check", "--graph", &graph, "--ltl", "G F \"A_0 >= 1\"", &net("ring_3.pnml").display().to_string()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("another model"));
    // What is cut off or changed anywhere is noticed.
    let budget = Budget::unlimited();
    for length in 0..bytes.len() {
        assert!(SavedGraph::parse(&bytes[..length], &budget).is_err(), "{length}");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        assert!(SavedGraph::parse(&changed, &budget).is_err(), "{place}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_aggregates_cost_is_written_for_simulations() {
    let folder = support::Folder::new("costs");
    let (file, path) = (net("erk_4.pnml").display().to_string(), folder.0.join("costs.json").display().to_string());
    let output = ample(&["sog", "--json", "--observe", "k3,k5,k9,k11", "--costs", &path, &file]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let costs: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let (rows, aggregates) =
        (costs["aggregates"].as_array().unwrap(), graph["graph"]["aggregates"].as_array().unwrap());
    assert_eq!(rows.len(), aggregates.len());
    for (number, (row, aggregate)) in rows.iter().zip(aggregates).enumerate() {
        assert_eq!(row["id"], number);
        assert!(row["build_s"].as_f64().unwrap() > 0.0 && row["bytes"].as_u64().unwrap() > 0);
        assert!(u128::from_str_radix(row["owner_digest"].as_str().unwrap(), 16).is_ok());
        let arcs: Vec<&Value> = aggregate["arcs"].as_array().unwrap().iter().map(|arc| &arc["to"]).collect();
        assert_eq!(row["successors"].as_array().unwrap().iter().collect::<Vec<_>>(), arcs);
    }
    // What several processes do is not measured so.
    let output = ample(&["sog", "--observe", "k3", "--costs", &path, "--processes", "2", &file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
