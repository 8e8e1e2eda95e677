//! Sets of markings against plain sets: everything that the diagrams compute is computed once more by enumeration, on
//! random sets and random small nets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use ample_budget::{Budget, Cancellation};
use ample_logic::{Atom, Atoms, Binary, Formula, Options, Unary, semantics, translate};
use ample_petri::diagram::{
    Diagrams, Limits, Method, Set, atoms as atoms_of, diagrams as diagrams_of, filter, order, run_to_goal, with_stack,
};
use ample_petri::explicit::temporal::ltl;
use ample_petri::net::{Condition, Net, Place, Transition};
use ample_random::Random;
use ample_symbolic::ctl::{Ctl, Evaluator};
use ample_symbolic::product::{Lasso, accepted_run};
use ample_symbolic::reach::Effort;
use ample_symbolic::{Maybe, SetError, Sets};

type Marking = Vec<u64>;
type Markings = BTreeSet<Marking>;

/// Makes what tests need, at random.
struct Author(Random);

impl Author {
    fn new(seed: u64) -> Author {
        Author(Random::new(seed))
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn order(&mut self, places: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..places as u32).collect();
        self.0.shuffle(&mut order);
        order
    }

    fn some(&mut self, all: &Markings) -> Markings {
        all.iter().filter(|_| self.coin()).cloned().collect()
    }

    fn transitions(&mut self, net: &Net) -> Vec<u32> {
        (0..net.transitions.len() as u32).filter(|_| self.coin()).collect()
    }

    fn terms(&mut self, net: &Net) -> Vec<(u32, i64)> {
        let mut terms: Vec<(u32, i64)> = Vec::new();
        for place in 0..net.places.len() as u32 {
            let factor = self.below(7) as i64 - 3;
            if factor != 0 && self.coin() {
                terms.push((place, factor));
            }
        }
        if terms.is_empty() && !net.places.is_empty() { vec![(0, 1)] } else { terms }
    }

    fn condition(&mut self, net: &Net, depth: u32) -> Condition {
        match self.below(if depth == 0 { 3 } else { 5 }) {
            0..=2 if !net.places.is_empty() => {
                Condition::AtMost { terms: self.terms(net), most: self.below(9) as i64 - 3 }
            }
            3 => Condition::And((0..self.below(3)).map(|_| self.condition(net, depth - 1)).collect()),
            4 => Condition::Or((0..self.below(3)).map(|_| self.condition(net, depth - 1)).collect()),
            _ => Condition::Const(self.coin()),
        }
    }

    /// A net with self-loops, weights, sources and sinks; many are unbounded.
    fn net(&mut self) -> Net {
        let places = self.below(6) as usize;
        let transitions = self.below(7) as usize;
        let place = |number: usize, initial| Place { name: format!("p{number}"), initial, bound: None };
        Net {
            places: (0..places).map(|number| place(number, self.below(4))).collect(),
            transitions: (0..transitions)
                .map(|number| Transition {
                    name: format!("t{number}"),
                    takes: self.arcs(places),
                    adds: self.arcs(places),
                })
                .collect(),
            exclusive: Vec::new(),
        }
    }

    fn arcs(&mut self, places: usize) -> Vec<(u32, u64)> {
        let mut arcs = BTreeMap::new();
        if places > 0 {
            for _ in 0..self.below(3) {
                arcs.insert(self.below(places as u64) as u32, 1 + self.below(5) / 3);
            }
        }
        arcs.into_iter().collect()
    }

    fn formula(&mut self, atoms: u32, depth: u32) -> Formula {
        if depth == 0 {
            return Formula::Atom(Atom(self.below(u64::from(atoms)) as u32));
        }
        let unary = |op, f| Formula::Unary(op, Arc::new(f));
        let path = if self.coin() { Unary::Exists } else { Unary::All };
        let f = self.formula(atoms, depth - 1);
        match self.below(8) {
            0 => unary(Unary::Not, f),
            1 => unary(path, unary(Unary::Next, f)),
            2 => unary(path, unary(Unary::Finally, f)),
            3 => unary(path, unary(Unary::Globally, f)),
            choice => {
                let g = Arc::new(self.formula(atoms, depth - 1));
                let pick = self.below(5) as usize;
                if choice == 4 {
                    let op = [Binary::And, Binary::Or, Binary::Implies, Binary::Iff, Binary::Xor][pick];
                    return Formula::Binary(op, Arc::new(f), g);
                }
                let op = [Binary::Until, Binary::Release, Binary::WeakUntil, Binary::StrongRelease][pick % 4];
                unary(path, Formula::Binary(op, Arc::new(f), g))
            }
        }
    }
}

/// All markings that the net reaches from some by some transitions, staying within; `None` if there are too many.
fn closure(net: &Net, from: &Markings, transitions: &[u32], within: Option<&Markings>) -> Option<Markings> {
    let is_inside = |marking: &Marking| within.is_none_or(|within| within.contains(marking));
    let mut seen: Markings = from.iter().filter(|marking| is_inside(marking)).cloned().collect();
    let mut open: Vec<Marking> = seen.iter().cloned().collect();
    while let Some(marking) = open.pop() {
        for next in successors(net, &marking, transitions) {
            if is_inside(&next) && seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > 400 {
            return None;
        }
    }
    Some(seen)
}

fn successors(net: &Net, marking: &Marking, transitions: &[u32]) -> Vec<Marking> {
    let fired = |number: &u32| {
        let transition = &net.transitions[*number as usize];
        transition.is_enabled(marking).then(|| transition.fire(marking)).flatten()
    };
    transitions.iter().filter_map(fired).collect()
}

fn all_of(net: &Net) -> Vec<u32> {
    (0..net.transitions.len() as u32).collect()
}

fn image(net: &Net, from: &Markings, transitions: &[u32]) -> Markings {
    from.iter().flat_map(|marking| successors(net, marking, transitions)).collect()
}

fn preimage(net: &Net, to: &Markings, transitions: &[u32], within: &Markings) -> Markings {
    let leads = |marking: &&Marking| successors(net, marking, transitions).iter().any(|next| to.contains(next));
    within.iter().filter(leads).cloned().collect()
}

fn dead(net: &Net, set: &Markings) -> Markings {
    set.iter().filter(|marking| !net.transitions.iter().any(|t| t.is_enabled(marking))).cloned().collect()
}

/// Random nets with few markings, with their diagrams in a random order of the places.
fn for_random_nets(seeds: std::ops::Range<u64>, mut check: impl FnMut(&mut Author, &Net, &Markings, &mut Diagrams)) {
    let mut checked = 0;
    for seed in seeds.clone() {
        let mut random = Author::new(seed);
        let net = random.net();
        let start = Markings::from([net.initial()]);
        let Some(reached) = closure(&net, &start, &all_of(&net), None) else { continue };
        let order = random.order(net.places.len());
        let mut diagrams = diagrams_of(&net, &order, Limits::default()).unwrap();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&mut random, &net, &reached, &mut diagrams);
        }));
        assert!(result.is_ok(), "seed {seed}: {net:?}");
        checked += 1;
    }
    assert!(checked > (seeds.end - seeds.start) / 3, "only {checked} nets were bounded");
}

fn set(diagrams: &mut Diagrams, markings: &Markings) -> Set {
    diagrams.markings_set(markings.iter().map(Vec::as_slice)).unwrap()
}

fn plain(diagrams: &Diagrams, set: &Set) -> Markings {
    diagrams.markings(set, usize::MAX).into_iter().collect()
}

fn assert_same(diagrams: &mut Diagrams, got: &Set, wanted: &Markings) {
    assert_eq!(&plain(diagrams, got), wanted);
    // Equal sets are equal handles.
    assert_eq!(got, &set(diagrams, wanted));
}

fn net_of_places(places: usize) -> Net {
    let place = |number| Place { name: format!("p{number}"), initial: 0, bound: None };
    Net { places: (0..places).map(place).collect(), ..Net::default() }
}

#[test]
fn set_algebra_is_that_of_plain_sets() {
    for seed in 0..600 {
        let mut random = Author::new(seed);
        let places = 1 + random.below(5) as usize;
        let mut diagrams = diagrams_of(&net_of_places(places), &random.order(places), Limits::default()).unwrap();
        let most = 1 + random.below(6);
        let mut some = || -> Markings {
            let count = random.below(40);
            (0..count).map(|_| (0..places).map(|_| random.below(most)).collect()).collect()
        };
        let (f, g) = (some(), some());
        let (x, y) = (set(&mut diagrams, &f), set(&mut diagrams, &g));
        let union = diagrams.union(&x, &y).unwrap();
        assert_same(&mut diagrams, &union, &f.union(&g).cloned().collect());
        let minus = diagrams.minus(&x, &y).unwrap();
        assert_same(&mut diagrams, &minus, &f.difference(&g).cloned().collect());
        let both = diagrams.intersect(&x, &y).unwrap();
        assert_same(&mut diagrams, &both, &f.intersection(&g).cloned().collect());
        assert_eq!(diagrams.is_subset(&x, &y).unwrap(), f.is_subset(&g), "seed {seed}");
        assert!(diagrams.is_subset(&both, &x).unwrap() && diagrams.is_subset(&x, &union).unwrap());
        assert_eq!(diagrams.count(&x).unwrap(), f.len().into());
        assert_eq!(x.is_empty(), f.is_empty());
        assert!(diagrams.pick(&x).is_none_or(|marking| f.contains(&marking)));
        for marking in &g {
            assert_eq!(diagrams.contains(&x, marking), f.contains(marking), "seed {seed}");
        }
    }
}

#[test]
fn all_methods_reach_the_same_markings() {
    for_random_nets(0..4000, |_, _, reached, diagrams| {
        for method in [Method::Bfs, Method::Chaining, Method::Saturation] {
            let found = diagrams.reachable(method).unwrap();
            assert_same(diagrams, &found, reached);
        }
    });
}

#[test]
fn transitions_lead_where_they_should() {
    for_random_nets(0..1500, |random, net, reached, diagrams| {
        let (from, within) = (random.some(reached), random.some(reached));
        let (x, y) = (set(diagrams, &from), set(diagrams, &within));
        for number in all_of(net) {
            let transition = &net.transitions[number as usize];
            let fired = diagrams.fire(&x, number).unwrap();
            assert_same(diagrams, &fired, &image(net, &from, &[number]));
            let before = diagrams.unfire(&x, number, &y).unwrap();
            assert_same(diagrams, &before, &preimage(net, &from, &[number], &within));
            let (can, cannot): (Markings, Markings) = from.iter().cloned().partition(|m| transition.is_enabled(m));
            let enabled = diagrams.enabled(&x, number).unwrap();
            assert_same(diagrams, &enabled, &can);
            let disabled = diagrams.disabled(&x, number).unwrap();
            assert_same(diagrams, &disabled, &cannot);
            assert_eq!(diagrams.can_fire(&x, number).unwrap(), !can.is_empty());
        }
        let transitions = random.transitions(net);
        let selection = diagrams.select(&transitions).unwrap();
        let after = diagrams.image_by(&x, &selection).unwrap();
        let wanted = image(net, &from, &transitions);
        assert_same(diagrams, &after, &wanted);
        let after = diagrams.image_within_by(&x, &selection, &y).unwrap();
        assert_same(diagrams, &after, &wanted.intersection(&within).cloned().collect());
        let before = diagrams.preimage_by(&x, &selection, &y).unwrap();
        assert_same(diagrams, &before, &preimage(net, &from, &transitions, &within));
    });
}

#[test]
fn closures_by_some_transitions_and_within_limits() {
    for_random_nets(0..2500, |random, net, reached, diagrams| {
        let (from, within) = (random.some(reached), random.some(reached));
        let (x, y) = (set(diagrams, &from), set(diagrams, &within));
        for _ in 0..3 {
            let transitions = random.transitions(net);
            let selection = diagrams.select(&transitions).unwrap();
            let closed = diagrams.closure_by(&x, &selection).unwrap();
            assert_same(diagrams, &closed, &closure(net, &from, &transitions, None).unwrap());
            let closed = diagrams.closure_within_by(&x, &selection, &y).unwrap();
            assert_same(diagrams, &closed, &closure(net, &from, &transitions, Some(&within)).unwrap());
            let closed = diagrams.backward_closure_by(&x, &selection, &y).unwrap();
            let mut wanted: Markings = from.intersection(&within).cloned().collect();
            loop {
                let more = preimage(net, &wanted, &transitions, &within);
                let before = wanted.len();
                wanted.extend(more);
                if wanted.len() == before {
                    break;
                }
            }
            assert_same(diagrams, &closed, &wanted);
        }
    });
}

#[test]
fn conditions_bounds_and_sums() {
    for_random_nets(0..1500, |random, net, reached, diagrams| {
        let some = random.some(reached);
        let x = set(diagrams, &some);
        for _ in 0..6 {
            let condition = random.condition(net, 2);
            let filtered = filter(diagrams, &x, &condition).unwrap();
            assert_same(diagrams, &filtered, &some.iter().filter(|m| condition.holds(m)).cloned().collect());
            let terms = random.terms(net);
            let value = |marking: &Marking| -> i128 {
                terms.iter().map(|(place, by)| i128::from(*by) * i128::from(marking[*place as usize])).sum()
            };
            assert_eq!(diagrams.max_sum(&x, &terms).unwrap(), some.iter().map(value).max());
        }
        let bounds: Vec<u32> =
            (0..net.places.len()).map(|place| some.iter().map(|m| m[place] as u32).max().unwrap_or(0)).collect();
        assert_eq!(diagrams.max_tokens(&x).unwrap(), bounds.iter().copied().max().unwrap_or(0));
        assert_eq!(diagrams.bounds(&x).unwrap(), bounds);
        for level in 0..net.places.len() as u32 {
            let place = diagrams.order()[level as usize] as usize;
            let lowest = some.iter().map(|marking| marking[place]).min();
            let (first, rest) = diagrams.split(&x, level).unwrap();
            let (low, high): (Markings, Markings) = some.iter().cloned().partition(|m| Some(m[place]) == lowest);
            assert_same(diagrams, &first, &low);
            assert_same(diagrams, &rest, &high);
        }
    });
}

#[test]
fn dead_markings_and_cycles() {
    for_random_nets(0..2500, |random, net, reached, diagrams| {
        let some = random.some(reached);
        let x = set(diagrams, &some);
        let found = diagrams.deadlocks(&x).unwrap();
        assert_same(diagrams, &found, &dead(net, &some));
        let transitions = random.transitions(net);
        let actions: Vec<usize> = transitions.iter().map(|transition| *transition as usize).collect();
        // Markings without a way on inside are taken away until none is left, or only cycles and what leads to them.
        let mut left = some.clone();
        loop {
            let next = preimage(net, &left, &transitions, &left);
            if next == left {
                break;
            }
            left = next;
        }
        let before = diagrams.before_cycles(&x, &actions).unwrap();
        assert_same(diagrams, &before, &left);
        assert_eq!(diagrams.after_cycles(&x, &actions).unwrap().is_empty(), left.is_empty());
    });
}

/// Formulas by enumeration, with the meaning written down once more: over maximal runs, that may end.
struct Naive<'a> {
    net: &'a Net,
    reached: &'a Markings,
    atoms: &'a [Condition],
}

impl Naive<'_> {
    fn states(&self, formula: &Formula) -> Markings {
        match formula {
            Formula::True => self.reached.clone(),
            Formula::False => Markings::new(),
            Formula::Atom(atom) => self.which(|marking| self.atoms[atom.0 as usize].holds(marking)),
            Formula::Unary(Unary::Not, f) => self.not(&self.states(f)),
            Formula::Unary(quantifier, path) => self.runs(*quantifier == Unary::Exists, path),
            Formula::Binary(op, f, g) => {
                let (f, g) = (self.states(f), self.states(g));
                self.which(|marking| {
                    let (f, g) = (f.contains(marking), g.contains(marking));
                    match op {
                        Binary::And => f && g,
                        Binary::Or => f || g,
                        Binary::Implies => !f || g,
                        Binary::Iff => f == g,
                        _ => f != g,
                    }
                })
            }
        }
    }

    fn which(&self, is_in: impl Fn(&Marking) -> bool) -> Markings {
        self.reached.iter().filter(|marking| is_in(marking)).cloned().collect()
    }

    fn not(&self, set: &Markings) -> Markings {
        self.reached.difference(set).cloned().collect()
    }

    /// Fixpoints of the expansion laws, for some run or for all.
    fn runs(&self, some: bool, path: &Formula) -> Markings {
        let none = Markings::new();
        match path {
            Formula::Unary(Unary::Next, f) => self.next(some, &self.states(f), !some),
            Formula::Unary(Unary::Finally, f) => self.fixpoint(some, self.reached, &self.states(f), false),
            Formula::Unary(_, f) => self.fixpoint(some, &self.states(f), &none, true),
            Formula::Binary(op, f, g) => {
                let (f, g) = (self.states(f), self.states(g));
                let (either, both) = (f.union(&g).cloned().collect(), f.intersection(&g).cloned().collect());
                match op {
                    Binary::Until => self.fixpoint(some, &f, &g, false),
                    Binary::WeakUntil => self.fixpoint(some, &either, &g, true),
                    Binary::Release => self.fixpoint(some, &g, &both, true),
                    _ => self.fixpoint(some, &g, &both, false),
                }
            }
            _ => unreachable!("not made"),
        }
    }

    /// Some successor is in the set, or all are; `at_end` where there is none.
    fn next(&self, some: bool, set: &Markings, at_end: bool) -> Markings {
        self.which(|marking| {
            let after = successors(self.net, marking, &all_of(self.net));
            match (after.is_empty(), some) {
                (true, _) => at_end,
                (false, true) => after.iter().any(|next| set.contains(next)),
                (false, false) => after.iter().all(|next| set.contains(next)),
            }
        })
    }

    /// `Z = g ∨ (f ∧ next Z)`, the greatest or the least; where a run ends the greatest one goes on.
    fn fixpoint(&self, some: bool, f: &Markings, g: &Markings, greatest: bool) -> Markings {
        let mut z = if greatest { self.reached.clone() } else { Markings::new() };
        loop {
            let step = self.next(some, &z, greatest);
            let next = self.which(|marking| g.contains(marking) || f.contains(marking) && step.contains(marking));
            if next == z {
                return z;
            }
            z = next;
        }
    }
}

#[test]
fn formulas_of_ctl() {
    for_random_nets(0..2000, |random, net, reached, diagrams| {
        let atoms: Vec<Condition> = (0..3).map(|_| random.condition(net, 1)).collect();
        let x = set(diagrams, reached);
        let mut evaluator = Evaluator::new(diagrams, atoms_of(&atoms), x).unwrap();
        let naive = Naive { net, reached, atoms: &atoms };
        for _ in 0..4 {
            let depth = 1 + random.below(3) as u32;
            let formula = random.formula(3, depth);
            let found = evaluator.states(&Ctl::of(&formula).unwrap()).unwrap();
            let wanted = naive.states(&formula);
            assert_eq!(plain(evaluator.sets(), &found), wanted, "{formula:?} over {atoms:?}");
        }
    });
}

/// The run is one of the net, and the formula is false on it, by its plain meaning.
fn assert_violates(net: &Net, formula: &Formula, atoms: &[Condition], run: &Lasso) {
    let mut markings = vec![net.initial()];
    for number in run.prefix.iter().chain(&run.cycle) {
        let (transition, last) = (&net.transitions[*number], &markings[markings.len() - 1]);
        assert!(transition.is_enabled(last), "{formula:?}: {run:?}");
        markings.push(transition.fire(last).unwrap());
    }
    let last = &markings[markings.len() - 1];
    if run.cycle.is_empty() {
        assert!(net.transitions.iter().all(|transition| !transition.is_enabled(last)), "{formula:?}: {run:?}");
    } else {
        assert_eq!(*last, markings[run.prefix.len()], "{formula:?}: {run:?}");
        markings.pop();
    }
    let holds = |at: usize, atom: Atom| atoms[atom.0 as usize].holds(&markings[at]);
    let result = semantics::holds_with(formula, run.prefix.len(), run.cycle.len().max(1), &holds);
    assert_eq!(result, Ok(false), "{formula:?}: {run:?}");
}

/// Formulas of LTL: the verdicts of the search over single markings, and runs that show them. How many are violated.
fn confront_ltl(seeds: std::ops::Range<u64>) -> usize {
    let mut violated = 0;
    for_random_nets(seeds, |random, net, reached, diagrams| {
        let atoms: Vec<Condition> = (0..3).map(|_| random.condition(net, 1)).collect();
        let x = set(diagrams, reached);
        for _ in 0..4 {
            let depth = 1 + random.below(4) as u32;
            let formula = without_quantifiers(&random.formula(3, depth));
            let automaton = translate(&!formula.clone(), &Atoms::new(), Options::default()).unwrap();
            let effort = &mut Effort::default();
            let run = accepted_run(diagrams, &automaton, &atoms_of(&atoms), &x, effort).unwrap();
            let expected = ltl(net, &formula, &atoms, false, &Default::default(), &Budget::unlimited()).verdict;
            assert_eq!(Some(run.is_none()), expected, "{formula:?} over {atoms:?}");
            if let Some(run) = run {
                assert_violates(net, &formula, &atoms, &run);
                violated += 1;
            }
        }
    });
    violated
}

fn without_quantifiers(formula: &Formula) -> Formula {
    match formula {
        Formula::Unary(Unary::All | Unary::Exists, f) => without_quantifiers(f),
        Formula::Unary(op, f) => Formula::unary(*op, without_quantifiers(f)),
        Formula::Binary(op, f, g) => Formula::binary(*op, without_quantifiers(f), without_quantifiers(g)),
        formula => formula.clone(),
    }
}

#[test]
fn formulas_of_ltl_have_the_verdicts_of_the_search_over_single_markings() {
    let violated = confront_ltl(0..300);
    assert!(violated > 200, "only {violated} formulas are violated");
}

#[test]
#[ignore = "long: AMPLE_NETS of them, from AMPLE_FROM on"]
fn many_formulas_of_ltl_have_the_verdicts_of_the_search_over_single_markings() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (from, nets) = (number("AMPLE_FROM", 1000), number("AMPLE_NETS", 5000));
    eprintln!("{nets} nets, {} formulas violated", confront_ltl(from..from + nets));
}

#[test]
fn a_run_over_time_is_not_ctl() {
    assert_eq!(Ctl::of(&Formula::Unary(Unary::Finally, Arc::new(Formula::True))), None);
}

#[test]
fn runs_are_shortest_and_replay() {
    for_random_nets(0..1500, |random, net, reached, diagrams| {
        let goal: Markings = reached.iter().filter(|_| random.below(5) == 0).cloned().collect();
        let (x, y) = (set(diagrams, reached), set(diagrams, &goal));
        let mut distance = BTreeMap::from([(net.initial(), 0usize)]);
        let mut open = VecDeque::from([net.initial()]);
        while let Some(marking) = open.pop_front() {
            for next in successors(net, &marking, &all_of(net)) {
                if !distance.contains_key(&next) {
                    distance.insert(next.clone(), distance[&marking] + 1);
                    open.push_back(next);
                }
            }
        }
        let run = run_to_goal(diagrams, &x, &y).unwrap();
        assert_eq!(run.as_ref().map(Vec::len), goal.iter().map(|marking| distance[marking]).min());
        let Some(run) = run else { return };
        let mut marking = net.initial();
        for number in run {
            let transition = &net.transitions[number as usize];
            assert!(transition.is_enabled(&marking));
            marking = transition.fire(&marking).unwrap();
        }
        assert!(goal.contains(&marking));
    });
}

#[test]
fn bytes_are_canonical_and_come_back() {
    for_random_nets(0..1500, |random, net, reached, diagrams| {
        let sets: Vec<Markings> = (0..6).map(|_| random.some(reached)).collect();
        // The same order, another table, other nodes before.
        let mut other = diagrams_of(net, diagrams.order(), Limits::default()).unwrap();
        let encoded: Vec<Vec<u8>> = sets
            .iter()
            .map(|markings| {
                let x = set(diagrams, markings);
                diagrams.encode(&x).unwrap()
            })
            .collect();
        for (markings, bytes) in sets.iter().zip(&encoded).rev() {
            let decoded = other.decode(bytes).unwrap();
            assert_same(&mut other, &decoded, markings);
            assert_eq!(&other.encode(&decoded).unwrap(), bytes);
        }
        for (one, x) in sets.iter().zip(&encoded) {
            for (two, y) in sets.iter().zip(&encoded) {
                assert_eq!(one == two, x == y);
            }
        }
    });
}

#[test]
fn broken_bytes_are_refused() {
    let mut random = Author::new(1);
    let mut diagrams = diagrams_of(&net_of_places(3), &[0, 1, 2], Limits::default()).unwrap();
    let markings: Markings = (0..20).map(|_| (0..3).map(|_| random.below(4)).collect()).collect();
    let x = set(&mut diagrams, &markings);
    let bytes = diagrams.encode(&x).unwrap();
    for length in 0..bytes.len() {
        assert_eq!(diagrams.decode(&bytes[..length]), Err(SetError::Foreign));
    }
    for _ in 0..20_000 {
        let mut broken = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(broken.len() as u64) as usize;
            broken[at] = random.below(256) as u8;
        }
        // Whatever is taken is a proper set again.
        if let Ok(decoded) = diagrams.decode(&broken) {
            let markings = plain(&diagrams, &decoded);
            assert_same(&mut diagrams, &decoded, &markings);
        }
    }
}

/// Philosophers, with places `fork, idle, wait left, has left, wait right, has right` each.
fn philosophers(count: u32) -> Net {
    let place = |name: String, initial| Place { name, initial, bound: None };
    let mut net = Net::default();
    for number in 0..count {
        let (fork, idle, wait_left, has_left, wait_right, has_right) =
            (6 * number, 6 * number + 1, 6 * number + 2, 6 * number + 3, 6 * number + 4, 6 * number + 5);
        let next_fork = (fork + 6) % (6 * count);
        for (name, initial) in [("Fork", 1), ("Idle", 1), ("WaitL", 0), ("HasL", 0), ("WaitR", 0), ("HasR", 0)] {
            net.places.push(place(format!("{name}{number}"), initial));
        }
        let mut add = |name: &str, takes: &[u32], adds: &[u32]| {
            let arcs = |places: &[u32]| {
                let mut arcs: Vec<(u32, u64)> = places.iter().map(|place| (*place, 1)).collect();
                arcs.sort_unstable();
                arcs
            };
            net.transitions.push(Transition { name: format!("{name}{number}"), takes: arcs(takes), adds: arcs(adds) });
        };
        add("GoEat", &[idle], &[wait_left, wait_right]);
        add("GetL", &[wait_left, fork], &[has_left]);
        add("GetR", &[wait_right, next_fork], &[has_right]);
        add("Release", &[has_left, has_right], &[idle, fork, next_fork]);
    }
    net
}

#[test]
fn philosophers_are_counted_by_lucas_numbers() {
    let mut lucas: Vec<u64> = vec![2, 1];
    for count in [2u32, 6, 10, 15] {
        let net = philosophers(count);
        let mut diagrams = diagrams_of(&net, &order(&net), Limits::default()).unwrap();
        let reached = diagrams.reachable(Method::Saturation).unwrap();
        while lucas.len() <= 3 * count as usize {
            lucas.push(lucas[lucas.len() - 1] + lucas[lucas.len() - 2]);
        }
        assert_eq!(diagrams.count(&reached).unwrap(), lucas[3 * count as usize].into());
        let dead = diagrams.deadlocks(&reached).unwrap();
        assert_eq!(diagrams.count(&dead).unwrap(), 2u32.into());
    }
}

/// A bad order of the places of six philosophers, so that there is much to sweep.
fn bad_order() -> Vec<u32> {
    (0..6).flat_map(|kind| (0..6).map(move |number| 6 * number + kind)).collect()
}

/// Does the same with less and less room than it takes without sweeping. At least once it must get through sweeping.
fn under_pressure(what: &str, work: impl Fn(&mut Diagrams) -> Maybe<Set>) {
    let net = philosophers(6);
    let mut roomy = diagrams_of(&net, &bad_order(), Limits::default()).unwrap();
    let wanted = work(&mut roomy).unwrap();
    let bytes = roomy.encode(&wanted).unwrap();
    let mut sweeps = 0;
    for percent in [95, 80, 65, 50] {
        let max_nodes = (roomy.size().peak * percent / 100).max(4096);
        let mut tight = diagrams_of(&net, &bad_order(), Limits { max_nodes, ..Limits::default() }).unwrap();
        match work(&mut tight) {
            Ok(found) => {
                sweeps += tight.size().collections;
                assert_eq!(tight.encode(&found).unwrap(), bytes, "{what} with {max_nodes} nodes");
            }
            Err(stop) => assert_eq!(stop, SetError::Memory),
        }
        assert!(tight.size().peak <= max_nodes);
    }
    assert!(sweeps > 0, "{what} never got through sweeping, {:?}", roomy.size());
}

#[test]
fn sweeping_under_pressure_changes_nothing() {
    for method in [Method::Saturation, Method::Bfs, Method::Chaining] {
        under_pressure(&format!("{method:?}"), |diagrams| diagrams.reachable(method));
    }
}

#[test]
fn constrained_closures_survive_sweeping() {
    under_pressure("until", |diagrams| {
        let reached = diagrams.reachable(Method::Saturation)?;
        let goal = diagrams.deadlocks(&reached)?;
        let few = Condition::AtMost { terms: vec![(1, 1), (7, 1), (13, 1), (19, 1)], most: 2 };
        let within = filter(diagrams, &reached, &few)?;
        let all = diagrams.all()?;
        diagrams.backward_closure_by(&goal, &all, &within)
    });
}

#[test]
fn handles_keep_sets_and_nothing_else() {
    let net = philosophers(4);
    let mut diagrams = diagrams_of(&net, &order(&net), Limits::default()).unwrap();
    let reached = diagrams.reachable(Method::Bfs).unwrap();
    let count = diagrams.count(&reached).unwrap();
    diagrams.collect();
    let size = diagrams.size().nodes;
    assert_eq!(size, diagrams.nodes(&reached).unwrap() + 2);
    assert_eq!(diagrams.count(&reached).unwrap(), count);
    assert_eq!(diagrams.reachable(Method::Saturation).unwrap(), reached);
    drop(reached);
    diagrams.collect();
    assert_eq!(diagrams.size().nodes, 2);
}

#[test]
fn unbounded_nets_end_without_a_verdict() {
    let place = Place { name: "p".into(), initial: 0, bound: None };
    let source = |weight| Transition { name: "t".into(), takes: vec![], adds: vec![(0, weight)] };
    let net = |weight| Net { places: vec![place.clone()], transitions: vec![source(weight)], exclusive: vec![] };
    for method in [Method::Saturation, Method::Chaining] {
        let limits = Limits { max_nodes: 5000, ..Limits::default() };
        let mut diagrams = diagrams_of(&net(1), &[0], limits.clone()).unwrap();
        assert_eq!(diagrams.reachable(method), Err(SetError::Memory));
        for weight in [1 << 30, u64::from(u32::MAX) + 1, u64::MAX] {
            let mut diagrams = diagrams_of(&net(weight), &[0], limits.clone()).unwrap();
            assert_eq!(diagrams.reachable(method), Err(SetError::Overflow), "{method:?}, {weight}");
        }
    }
}

#[test]
fn it_is_cancelled() {
    let net = philosophers(8);
    let cancellation = Cancellation::new();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    let limits = Limits { budget, ..Limits::default() };
    let mut diagrams = diagrams_of(&net, &order(&net), limits).unwrap();
    let reached = diagrams.reachable(Method::Saturation).unwrap();
    cancellation.cancel();
    assert_eq!(diagrams.union(&reached, &reached), Err(SetError::Cancelled));
    // From inside: by what it tells.
    let place = Place { name: "p".into(), initial: 0, bound: None };
    let source = Transition { name: "t".into(), takes: vec![], adds: vec![(0, 1)] };
    let endless = Net { places: vec![place], transitions: vec![source], exclusive: vec![] };
    let limits = Limits { budget: Budget::unlimited().until(|progress| progress.nodes > 0).0, ..Limits::default() };
    let mut diagrams = diagrams_of(&endless, &[0], limits).unwrap();
    assert_eq!(diagrams.reachable(Method::Saturation), Err(SetError::Cancelled));
}

#[test]
fn strangers_are_refused() {
    let net = philosophers(2);
    let mut one = diagrams_of(&net, &order(&net), Limits::default()).unwrap();
    let mut other = diagrams_of(&net, &order(&net), Limits::default()).unwrap();
    let (x, y) = (one.initial().unwrap(), other.initial().unwrap());
    assert_ne!(x, y);
    assert_eq!(one.union(&x, &y), Err(SetError::Foreign));
    assert_eq!(one.fire(&x, 99), Err(SetError::Foreign));
    assert!(one.select(&[99]).is_err());
    assert_eq!(one.marking(&[0]), Err(SetError::Foreign));
    assert_eq!(filter(&mut one, &x, &Condition::AtMost { terms: vec![(99, 1)], most: 0 }), Err(SetError::Foreign));
    let selection = other.all().unwrap();
    assert_eq!(one.closure_by(&x, &selection), Err(SetError::Foreign));
    for order in [vec![0; 12], (0..11).collect(), (1..13).collect()] {
        assert!(diagrams_of(&net, &order, Limits::default()).is_err());
    }
}

#[test]
fn many_places_need_a_large_stack_and_say_so() {
    // A token goes along a line.
    let places = 30_000u32;
    let mut net = net_of_places(places as usize);
    net.places[0].initial = 1;
    for place in 1..places {
        net.transitions.push(Transition { name: String::new(), takes: vec![(place - 1, 1)], adds: vec![(place, 1)] });
    }
    let order: Vec<u32> = (0..places).collect();
    let reach = || {
        let mut diagrams = diagrams_of(&net, &order, Limits::default())?;
        let reached = diagrams.reachable(Method::Saturation)?;
        diagrams.count(&reached)
    };
    assert_eq!(reach(), Err(SetError::Depth));
    assert_eq!(with_stack(places as usize, reach), Ok(places.into()));
}

#[test]
fn tables_and_sets_may_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Diagrams>();
    is_send::<Set>();
    // Threads have their stacks at different addresses; a table must not remember that of the last one.
    let net = philosophers(6);
    let mut diagrams = diagrams_of(&net, &order(&net), Limits::default()).unwrap();
    let reached = diagrams.reachable(Method::Saturation).unwrap();
    let idle = Condition::AtMost { terms: vec![(1, -1)], most: -1 };
    let here = filter(&mut diagrams, &reached, &idle).unwrap();
    for _ in 0..4 {
        let there = with_stack(1000, || filter(&mut diagrams, &reached, &idle));
        assert_eq!(there, Ok(here.clone()));
        assert_eq!(filter(&mut diagrams, &reached, &idle), Ok(here.clone()));
    }
}
