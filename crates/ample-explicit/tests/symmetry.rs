//! Symmetry: what is detected is a symmetry, representatives are canonical, and verdicts are those of the unreduced search.
//!
//! Random models of processes of the same type are compared. `AMPLE_SEED=n` looks at one model only and shows it. The
//! long run, `cargo test -p ample-explicit --release --test symmetry -- --ignored --nocapture`, looks at `AMPLE_MODELS`
//! symmetric models, beginning with the seed `AMPLE_SEED`.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use ample_engine::board::Board;
use ample_engine::report::Verdict;
use ample_engine::settings::{PartialOrder, Settings};
use ample_explicit::compile::{Choice, Compiled, Representatives};
use ample_explicit::engine::options::{Explicit, Options, Search};
use ample_explicit::engine::symmetry::SymmetryReduction;
use ample_explicit::engine::work;
use ample_explicit::space::{Checked, StateSpace};
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_lang::promplus::{self, Widths};
use ample_model::{Budget, Property, Question, System};
use ample_random::Random;
use ample_reduce::symmetry::{Group, Symmetry};

/// Larger models are left out.
const MOST_STATES: usize = 600;

fn read(text: &str) -> System {
    let read = promela::read("m.pml", text.into(), &mut FileLoader, &[]);
    read.unwrap_or_else(|error| panic!("{error:?}\n{text}")).system
}

fn detect(system: &System) -> Result<Symmetry, String> {
    Symmetry::detect(system, &[], &Budget::unlimited()).map_err(|refusal| refusal.text(system))
}

/// Writes a random model of processes that mostly do not tell each other apart.
struct Writer {
    random: Random,
    /// What a process calls itself.
    own: &'static str,
    next: String,
    count: usize,
    /// How often processes are told apart, in a thousand.
    asymmetry: u32,
    text: String,
    /// No process comes to its end.
    is_endless: bool,
}

impl Writer {
    fn model(seed: u64) -> String {
        let mut random = Random::new(seed);
        let count = 2 + random.below(3_usize);
        let own = random.pick(&["_pid", "_pid", "i"]);
        let next = format!("(({own} + 1) % N)");
        let is_endless = random.percent(70);
        let asymmetry = if random.percent(20) { 60 } else { 0 };
        let mut writer = Writer { random, own, next, count, asymmetry, text: String::new(), is_endless };
        writer.write();
        writer.text
    }

    fn write(&mut self) {
        let count = self.count;
        self.text = format!(
            "#define N {count}\nbyte g, owner;\nbyte a[N];\nchan q = [2] of {{ byte }};\nchan c[N] = [1] of {{ bit }};\n\
             chan h = [0] of {{ byte, bit }};\n"
        );
        let rings = self.random.percent(40);
        let spawns = self.own == "i" || self.random.percent(20);
        let parameters = if self.own == "i" { "byte i" } else { "" };
        let head = if spawns { "proctype".to_owned() } else { "active [N] proctype".to_owned() };
        self.text += &format!("{head} P({parameters}) {{ byte x, other;\n");
        if !self.is_endless || self.random.percent(30) {
            self.sequence(1, rings);
        }
        if self.is_endless {
            self.text += "do\n";
            for _ in 0..1 + self.random.below(3) {
                self.text += ":: ";
                self.sequence(2, rings);
            }
            self.text += "od\n";
        }
        self.text += "}\n";
        if self.random.percent(30) {
            let before = std::mem::replace(&mut self.own, "w");
            let next = std::mem::replace(&mut self.next, "w".into());
            self.text += "active proctype M() { byte x, other, w;\ndo\n:: ";
            self.sequence(2, false);
            self.text += ":: q?w; a[w] = 0\nod }\n";
            self.own = before;
            self.next = next;
        }
        if spawns {
            let takes = self.own == "i";
            if self.random.percent(25) {
                let argument = if takes { "k" } else { "" };
                let body = format!("do :: k < N -> run P({argument}); k++ :: else -> break od");
                let body = if self.random.percent(70) { format!("atomic {{ {body} }}") } else { body };
                self.text += &format!("init {{ byte k; {body} }}\n");
                return;
            }
            let argument = |at: usize| if takes { at.to_string() } else { String::new() };
            let runs: Vec<String> = (0..count).map(|at| format!("run P({})", argument(at))).collect();
            let runs = runs.join("; ");
            // Where ids are used, processes have to be those that arrays have elements for.
            let runs = if self.random.percent(70) { format!("atomic {{ {runs} }}") } else { runs };
            self.text += &format!("init {{ {runs} }}\n");
        }
    }

    fn sequence(&mut self, depth: u32, rings: bool) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth, rings);
            self.text += ";\n";
        }
    }

    fn statement(&mut self, depth: u32, rings: bool) {
        if depth < 3 && self.random.percent(25) {
            let (open, close) = self.random.pick(&[("if", "fi"), ("atomic {", "}"), ("d_step {", "}")]);
            self.text += &format!("{open}\n");
            if open == "if" {
                for _ in 0..1 + self.random.below(2) {
                    self.text += ":: ";
                    self.sequence(depth + 1, rings);
                }
                if self.random.percent(50) {
                    self.text += ":: else\n";
                }
            } else if open == "atomic {" {
                self.sequence(depth + 1, rings);
            } else {
                self.text += "x = 1 - x; g = (g + 1) % 3\n";
            }
            self.text += close;
            return;
        }
        let number = self.random.below(3);
        let own = self.own;
        let next = if rings { self.next.clone() } else { own.to_owned() };
        let statement = if self.random.below(1_000_u32) < self.asymmetry {
            match self.random.below(4) {
                0 => "a[0] = 1".to_owned(),
                1 => format!("{own} == 1"),
                2 => "owner = 1".to_owned(),
                _ => format!("x = ({own} + g) % 2"),
            }
        } else {
            match self.random.below(24) {
                0 | 1 => format!("a[{own}] = {number}"),
                2 => format!("a[{own}] == {number}"),
                3 | 4 => "g = (g + 1) % 3".to_owned(),
                5 => format!("g != {number}"),
                6 => format!("x = {number}"),
                7 => format!("x != {number}"),
                8 => format!("owner = {own}"),
                9 => format!("owner == {own}"),
                10 => format!("owner != {own}"),
                11 => "other = owner".to_owned(),
                12 => format!("a[other] = {number}"),
                13 => format!("a[{next}] = {number}"),
                14 => format!("a[{next}] != {number}"),
                15 => format!("q!{own}"),
                16 => "q?other".to_owned(),
                17 => format!("q?eval({own})"),
                18 => format!("c[{own}]!1"),
                19 => format!("c[{next}]?_"),
                20 => format!("h!{own}, 1"),
                21 => "h?other, _".to_owned(),
                22 => format!("assert(g != {number} || x != {number} || a[{own}] != {number})"),
                _ => self.random.pick(&["timeout", "skip", "len(q) < 2"]).to_owned(),
            }
        };
        self.text += &statement;
    }
}

/// All reachable states; `None` if there are too many.
fn states(space: &mut Compiled) -> Option<Vec<Vec<u8>>> {
    let mut seen = HashSet::new();
    let mut queue = VecDeque::new();
    let mut out = Vec::new();
    let mut position = 0;
    while space.initial(position, &mut out) {
        if !space.is_dead() && seen.insert(out.clone()) {
            queue.push_back(out.clone());
        }
        position += 1;
    }
    let mut all = Vec::new();
    while let Some(state) = queue.pop_front() {
        let mut cursor = space.first(&state);
        while let Some(transition) = cursor {
            space.target(&state, &transition, &mut out);
            if !space.is_dead() && seen.insert(out.clone()) {
                queue.push_back(out.clone());
            }
            cursor = space.next(&state, &transition);
        }
        all.push(state);
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(all)
}

/// The successors of a state, each with how often and whether something was violated; permuted, if so told.
fn successors(
    space: &mut Compiled,
    state: &[u8],
    mut permute: impl FnMut(&mut Vec<u8>),
) -> BTreeMap<(Vec<u8>, bool), usize> {
    let mut all = BTreeMap::new();
    let mut cursor = space.first(state);
    while let Some(transition) = cursor {
        let mut out = Vec::new();
        space.target(state, &transition, &mut out);
        let violates = space.violation().is_some();
        if space.is_dead() {
            out.clear();
        } else {
            permute(&mut out);
        }
        *all.entry((out, violates)).or_default() += 1;
        cursor = space.next(state, &transition);
    }
    all
}

fn random_orders(symmetry: &Symmetry, random: &mut Random) -> Vec<Vec<u16>> {
    let order = |orbit: &ample_reduce::symmetry::Orbit| {
        let mut order: Vec<u16> = (0..orbit.indices.len() as u16).collect();
        match orbit.group {
            Group::Symmetric => random.shuffle(&mut order),
            Group::Cyclic => order.rotate_left(random.below(orbit.indices.len())),
        }
        order
    };
    symmetry.orbits.iter().map(order).collect()
}

/// The symmetry maps steps to steps, and symmetric states have the same representative.
fn verify(seed: u64, text: &str, system: &System, symmetry: &Symmetry) -> bool {
    let mut space = Compiled::new(system, &[]).unwrap();
    let Some(all) = states(&mut space) else { return false };
    let Some(mut canonical) = space.representatives(symmetry, Choice::Canonical) else {
        println!("seed {seed}: states cannot be permuted, {symmetry}");
        return false;
    };
    let mut random = Random::new(seed);
    for state in all.iter().take(400) {
        let orders = random_orders(symmetry, &mut random);
        let mut image = state.clone();
        if !canonical.permuted(&mut image, &orders) {
            continue;
        }
        assert_eq!(represented(&mut canonical, state), represented(&mut canonical, &image), "seed {seed}\n{text}");
        if symmetry.terminates {
            // The removal of a process that has ended is no step of the quotient: it comes first, so that `timeout` is as in the
            // representative.
            let own = (represented(&mut canonical, state), false);
            let mut quotient = |from: &[u8]| {
                let from = without_removable(&mut space, &mut canonical, from);
                let next = successors(&mut space, &from, |next| canonical.represent(next));
                next.into_keys().filter(|next| *next != own).collect::<BTreeSet<_>>()
            };
            let (here, there) = (quotient(state), quotient(&image));
            assert_eq!(here, there, "seed {seed}, {symmetry}, {orders:?}\n{text}");
            continue;
        }
        let there = successors(&mut space, &image, |_| {});
        let here = successors(&mut space, state, |next| {
            assert!(canonical.permuted(next, &orders), "seed {seed}\n{text}");
        });
        assert_eq!(here, there, "seed {seed}, {symmetry}, {orders:?}\n{text}");
    }
    true
}

/// The state after the removal of processes that have ended, as far as they can be removed.
fn without_removable(space: &mut Compiled, representatives: &mut Representatives, state: &[u8]) -> Vec<u8> {
    let own = represented(representatives, state);
    let mut state = state.to_vec();
    let mut out = Vec::new();
    let mut cursor = space.first(&state);
    while let Some(transition) = cursor {
        space.target(&state, &transition, &mut out);
        if !space.is_dead() && out.len() < state.len() && represented(representatives, &out) == own {
            state.clone_from(&out);
            cursor = space.first(&state);
        } else {
            cursor = space.next(&state, &transition);
        }
    }
    state
}

fn represented(representatives: &mut Representatives, state: &[u8]) -> Vec<u8> {
    let mut out = state.to_vec();
    representatives.represent(&mut out);
    let once = out.clone();
    representatives.represent(&mut out);
    assert_eq!(once, out, "the representative of a representative is itself: of {state:?}");
    out
}

/// The properties of a model that runs of finite length violate.
fn safety(system: &System) -> Vec<Property> {
    let text = "g != 1 || len(q) < 2";
    let invariant = promela::expression(system, text).unwrap_or_else(|error| panic!("{error:?}"));
    let question = Question::Invariant(invariant);
    let invariant = Property { name: text.into(), question, text: text.into(), span: None };
    vec![Property::deadlock(), Property::assertions(), invariant]
}

fn verdicts(
    system: &System,
    properties: &[Property],
    symmetry: SymmetryReduction,
    partial_order: PartialOrder,
    search: Search,
) -> Vec<Verdict> {
    let explicit = Explicit { symmetry, search, ..Explicit::default() };
    let options = Options { settings: Settings { partial_order, ..Settings::default() }, explicit };
    let report = work::check(system, properties, &options, &Board::of(properties), &Budget::unlimited());
    for answer in &report.answers {
        assert!(answer.verdict() != Verdict::Unknown, "{symmetry:?}: {:?}", *answer.outcome);
    }
    report.answers.iter().map(|answer| answer.verdict()).collect()
}

/// What random models were like.
#[derive(Debug, Default)]
struct Tally {
    symmetric: usize,
    rings: usize,
    terminating: usize,
    violated: usize,
    refused: usize,
    /// Verdicts that were compared with those of the unreduced search.
    comparisons: usize,
}

const FORMULAS: &str = "ltl p { []<>(g == 0) }\nltl q { <>[](g != 1 || len(q) == 0) }\nltl r { [](a[0] != 2) }\n";

fn compare(seed: u64, tally: &mut Tally, shows: bool) {
    let text = Writer::model(seed) + FORMULAS;
    if shows {
        println!("{text}");
    }
    let system = read(&text);
    let symmetry = match detect(&system) {
        Ok(symmetry) => symmetry,
        Err(why) => {
            if shows {
                println!("{why}");
            }
            tally.refused += 1;
            return;
        }
    };
    if shows {
        println!("{symmetry}");
    }
    if !verify(seed, &text, &system, &symmetry) {
        return;
    }
    tally.symmetric += 1;
    tally.rings += usize::from(symmetry.orbits.iter().any(|orbit| orbit.group == Group::Cyclic));
    tally.terminating += usize::from(symmetry.terminates);
    let safety = safety(&system);
    let all: Vec<Property> = safety.iter().chain(&system.properties).cloned().collect();
    let plain = verdicts(&system, &all, SymmetryReduction::None, PartialOrder::None, Search::BreadthFirst);
    tally.violated += usize::from(plain.contains(&Verdict::Violated));
    for symmetry in [SymmetryReduction::Lazy, SymmetryReduction::Canonical] {
        for partial_order in [PartialOrder::None, PartialOrder::Auto, PartialOrder::Persistent] {
            for search in [Search::BreadthFirst, Search::DepthFirst] {
                let found = verdicts(&system, &all, symmetry, partial_order, search);
                tally.comparisons += found.len();
                assert_eq!(plain, found, "seed {seed}: {symmetry:?}, {partial_order:?}, {search:?}\n{text}");
            }
        }
        for search in [Search::BestFirst, Search::HillClimbing, Search::AStar] {
            let found = verdicts(&system, &safety, symmetry, PartialOrder::Auto, search);
            tally.comparisons += found.len();
            assert_eq!(plain[..safety.len()], found, "seed {seed}: {symmetry:?}, {search:?}\n{text}");
        }
    }
}

fn seeds(default: u64) -> (std::ops::Range<u64>, bool) {
    match std::env::var("AMPLE_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => (seed..seed + 1, true),
        None => (0..default, false),
    }
}

#[test]
fn symmetric_models_have_the_verdicts_of_the_unreduced_search() {
    let (seeds, shows) = seeds(30);
    let mut tally = Tally::default();
    for seed in seeds {
        compare(seed, &mut tally, shows);
    }
    println!("{tally:?}");
    assert!(shows || tally.symmetric > 8 && tally.rings > 0 && tally.violated > 3, "{tally:?}");
}

#[test]
#[ignore = "long"]
fn many_symmetric_models_have_the_verdicts_of_the_unreduced_search() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let models = number("AMPLE_MODELS").unwrap_or(10_000) as usize;
    let mut tally = Tally::default();
    let mut seed = number("AMPLE_SEED").unwrap_or(1_000_000);
    while tally.symmetric < models {
        compare(seed, &mut tally, false);
        seed += 1;
        if seed % 500 == 0 {
            println!("{seed}: {tally:?}");
        }
    }
    println!("{tally:?}");
}

fn count(text: &str, symmetry: SymmetryReduction, search: Search) -> u64 {
    let system = read(text);
    let explicit = Explicit { symmetry, search, ..Explicit::default() };
    let options = Options { explicit, ..Options::default() };
    work::states(&system, &options, &Budget::unlimited()).statistics.states
}

/// Listing 7.1 of M. Kattenbelt's thesis, with two processes: sorting by locations leaves all states, and a canonical
/// representative half of them.
#[test]
fn the_worst_case_of_the_thesis() {
    let text = "active [2] proctype A() { byte x; do :: x = x + 1 od }";
    assert_eq!(count(text, SymmetryReduction::None, Search::DepthFirst), 65_536);
    assert_eq!(count(text, SymmetryReduction::Lazy, Search::DepthFirst), 65_536);
    assert_eq!(count(text, SymmetryReduction::Canonical, Search::DepthFirst), 32_896);
    let text = "active [5] proctype A() { bit x; do :: x = x + 1 od }";
    let counts = [SymmetryReduction::None, SymmetryReduction::Lazy, SymmetryReduction::Canonical]
        .map(|symmetry| count(text, symmetry, Search::DepthFirst));
    assert_eq!(counts, [32, 32, 6]);
}

/// The canonical representative is the same in every order of the search.
#[test]
fn a_canonical_quotient_has_the_same_states_in_every_search() {
    let mut compared = 0;
    for seed in 500..560 {
        let text = Writer::model(seed);
        let system = read(&text);
        let Ok(symmetry) = detect(&system) else { continue };
        let mut space = Compiled::new(&system, &[]).unwrap();
        let Some(all) = states(&mut space) else { continue };
        let mut canonical = space.representatives(&symmetry, Choice::Canonical).unwrap();
        let transient = |space: &Compiled, state: &[u8]| space.is_transient(state);
        let orbits: BTreeSet<Vec<u8>> = all
            .iter()
            .filter(|state| !transient(&space, state))
            .map(|state| represented(&mut canonical, state))
            .collect();
        let wide = count(&text, SymmetryReduction::Canonical, Search::BreadthFirst);
        let deep = count(&text, SymmetryReduction::Canonical, Search::DepthFirst);
        assert_eq!(wide, deep, "seed {seed}\n{text}");
        if !symmetry.terminates {
            assert_eq!(wide, orbits.len() as u64, "seed {seed}\n{text}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn asymmetric_use_is_refused_with_the_place() {
    let refused = |text: &str| detect(&read(text)).unwrap_err();
    let text = "byte a[2];\nactive [2] proctype P() { do\n:: a[_pid] = 1 - a[_pid]\n:: _pid < 1 -> a[0] = 0\nod }";
    assert!(refused(text).contains("m.pml:4"), "{}", refused(text));
    let text = "byte who;\nactive [2] proctype P() { do\n:: who = _pid\n:: who > 0 -> skip\nod }";
    assert!(refused(text).contains("m.pml:4"), "{}", refused(text));
    // Analyses rely on what never changes.
    let text = "byte owner;\nactive [2] proctype P() { byte x; do\n:: owner == _pid -> x = 1 - x\nod }";
    assert!(refused(text).contains("never change"), "{}", refused(text));
    assert!(refused("active proctype P() { skip }").contains("no two processes"));
}

#[test]
fn scalarsets_and_rings_are_recognised() {
    let order = |text: &str| detect(&read(text)).unwrap().order();
    assert_eq!(
        order("byte who, a[4];\nactive [4] proctype P() { do :: who = _pid :: a[who] = 1 :: who != _pid od }"),
        24
    );
    assert_eq!(order("byte f[5];\nactive [5] proctype P() { do :: f[_pid] = 1 :: f[(_pid + 1) % 5] = 0 od }"), 5);
    let text = "byte f[3];\nproctype P(byte i) { do :: f[i] = 1 - f[i] od }\ninit { run P(0); run P(1); run P(2) }";
    assert_eq!(order(text), 6);
    let text = "byte f[3];\nproctype P(byte i) { do :: f[i] = 1 - f[i] od }\n\
                init { byte k; do :: k < 3 -> run P(k); k++ :: else -> break od }";
    assert_eq!(order(text), 6);
    let text = "chan c[3] = [1] of { byte };\nproctype P(chan in, out) { do :: in?_ :: out!1 od }\n\
                init { run P(c[0], c[1]); run P(c[1], c[2]); run P(c[2], c[0]) }";
    assert_eq!(order(text), 3);
}

/// A PROM+ model of the project.
fn objects(name: &str) -> System {
    let path = format!("{}/../../models/promplus/{name}.promp", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let read = promplus::read_within(&path, text, &mut FileLoader, &[], Widths::default(), &Budget::unlimited());
    read.unwrap().system
}

fn count_states(system: &System, symmetry: SymmetryReduction) -> u64 {
    let explicit = Explicit { symmetry, search: Search::DepthFirst, ..Explicit::default() };
    let options = Options { explicit, ..Options::default() };
    work::states(system, &options, &Budget::unlimited()).statistics.states
}

/// Table 6.2 of M. Kattenbelt's thesis, column "visited", with thread symmetry; and the canonical representatives that it has
/// not.
#[test]
fn threads_and_objects_as_in_the_thesis() {
    for (name, plain, lazy, canonical) in [
        ("peterson_objects", 126, 82, 82),
        ("dekker_objects", 356, 206, 200),
        ("dijkstra_objects", 942, 498, 496),
        ("philosophers_3_objects", 1_082, 462, 374),
        ("philosophers_4_objects", 11_124, 4_464, 2_822),
    ] {
        let system = objects(name);
        let counts = [SymmetryReduction::None, SymmetryReduction::Lazy, SymmetryReduction::Canonical]
            .map(|symmetry| count_states(&system, symmetry));
        assert_eq!(counts, [plain, lazy, canonical], "{name}");
    }
}

#[test]
fn processes_of_different_types_are_not_symmetric() {
    for (name, states) in [("peterson", 64), ("dekker", 288), ("dijkstra", 860), ("philosophers_3", 875)] {
        let system = objects(name);
        for symmetry in [SymmetryReduction::None, SymmetryReduction::Lazy, SymmetryReduction::Canonical] {
            assert_eq!(count_states(&system, symmetry), states, "{name}");
        }
    }
}

/// Ten philosophers, to a deadlock: the states of the way there, and nothing else.
#[test]
fn ten_philosophers_starve_after_few_states() {
    let text = "#define N 10\nbool fork[N];\nactive [N] proctype P() { do\n\
                :: atomic { !fork[_pid]; fork[_pid] = true }; atomic { !fork[(_pid + 1) % N]; fork[(_pid + 1) % N] = true };\n\
                fork[(_pid + 1) % N] = false; fork[_pid] = false\nod }";
    let system = read(text);
    let properties = [Property::deadlock()];
    for (search, most) in [(Search::HillClimbing, 11), (Search::BestFirst, 70), (Search::DepthFirst, 40)] {
        let explicit = Explicit { symmetry: SymmetryReduction::Canonical, search, ..Explicit::default() };
        let partial_order = if search.is_directed() { PartialOrder::Auto } else { PartialOrder::None };
        let settings = Settings { partial_order, stop_at_first: true, ..Settings::default() };
        let options = Options { settings, explicit };
        let report = work::check(&system, &properties, &options, &Board::of(&properties), &Budget::unlimited());
        assert_eq!(report.answers[0].verdict(), Verdict::Violated);
        let symmetry = report.symmetry.unwrap_or_default();
        assert!(symmetry.contains("group order 10"), "{search:?}: {symmetry}");
        assert!(report.statistics.states <= most, "{search:?}: {}", report.statistics.states);
    }
}

/// The counterexample is a run of real processes: each of them takes its own fork.
#[test]
fn counterexamples_name_real_processes() {
    let text = "byte n, a[3];\nactive [3] proctype P() { do :: a[_pid] == 0 -> a[_pid] = 1; n++; assert(n < 3) od }";
    let system = read(text);
    let properties = [Property::assertions()];
    let explicit =
        Explicit { symmetry: SymmetryReduction::Canonical, search: Search::BreadthFirst, ..Explicit::default() };
    let options = Options { explicit, ..Options::default() };
    let report = work::check(&system, &properties, &options, &Board::of(&properties), &Budget::unlimited());
    let ample_model::Outcome::Violated(violation) = &*report.answers[0].outcome else { panic!("violated") };
    let processes: BTreeSet<String> = violation.trace.prefix.iter().map(|step| step.process.clone()).collect();
    assert_eq!(processes.len(), 3);
}
