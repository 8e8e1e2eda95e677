//! Is evidence what it says, and is the answer right?

use ample_budget::Budget;
use ample_explicit::ctl::{self, Dead, Evidence, Number, Options, Report};
use ample_explicit::store::{ExactStore, HashStore};
use ample_logic::{Binary, Formula, Unary};

use crate::graph::Labelled;
use crate::meaning::Meaning;

/// Asserts that evidence is what it says.
struct Witness<'a> {
    meaning: &'a Meaning<'a>,
    store: &'a HashStore<u32, Number>,
    dead: Dead,
}

impl Witness<'_> {
    /// The states of a path, after asserting that its transitions lead from one to the next.
    fn walk(&self, evidence: &Evidence<usize>) -> Vec<u32> {
        let graph = self.meaning.graph;
        let states: Vec<u32> = evidence.path.states().map(|handle| *self.store.get(handle)).collect();
        assert_eq!(states.len(), evidence.path.len() + 1);
        for (step, &edge) in evidence.path.transitions().enumerate() {
            assert_eq!(graph.edges[states[step] as usize][edge], states[step + 1]);
            assert!(!graph.faults.contains(&(states[step], edge)));
        }
        states
    }

    /// Evidence that begins in a visible state.
    fn assert(&self, evidence: &Evidence<usize>) {
        let graph = self.meaning.graph;
        let states = self.walk(evidence);
        assert_eq!(self.meaning.holds(&evidence.formula, states[0]), evidence.holds, "{evidence:?}");
        if evidence.cycle > 0 {
            assert_eq!(states[states.len() - 1 - evidence.cycle], states[states.len() - 1]);
            assert!(!evidence.stutters);
        }
        if evidence.stutters {
            assert!(graph.edges[states[states.len() - 1] as usize].is_empty());
        }
        for (after, branch) in &evidence.branches {
            assert!(!graph.transient.contains(&states[*after]), "a branch at a transient state");
            assert_eq!(self.walk(branch)[0], states[*after]);
            assert_eq!(branch.start, 0);
            self.assert(branch);
        }
        let visible: Vec<u32> = states.iter().copied().filter(|state| !graph.transient.contains(state)).collect();
        match &evidence.formula {
            Formula::Unary(quantifier @ (Unary::All | Unary::Exists), path)
                if (*quantifier == Unary::Exists) == evidence.holds =>
            {
                self.assert_path(evidence, path, &visible);
            }
            _ => assert!(evidence.path.is_empty(), "a path of what is no path formula"),
        }
    }

    /// The path satisfies the formula if it holds, and violates it if not.
    fn assert_path(&self, evidence: &Evidence<usize>, path: &Formula, states: &[u32]) {
        let (last, before) = states.split_last().unwrap();
        let is = |f: &Formula, value: bool| {
            let set = self.meaning.set(f);
            move |state: &u32| set[*state as usize] == value
        };
        let complete = evidence.cycle > 0 || evidence.stutters;
        let value = evidence.holds;
        let until = |f: &Formula, g: &Formula| {
            assert!(!complete && before.iter().all(is(f, value)) && is(g, value)(last), "{evidence:?}");
        };
        let release = |f: &Formula, g: &Formula| {
            assert!(states.iter().all(is(g, value)), "{evidence:?}");
            assert!(complete || is(f, value)(last), "{evidence:?}");
        };
        let always = |f: &Formula| release(&if value { Formula::False } else { Formula::True }, f);
        let sometime = |f: &Formula| until(&if value { Formula::True } else { Formula::False }, f);
        match path {
            Formula::Unary(Unary::Next, f) => {
                assert_eq!(states.len(), if evidence.stutters { 1 } else { 2 });
                assert!(!evidence.stutters || self.dead == Dead::Stutters);
                assert!(is(f, value)(last));
            }
            Formula::Unary(Unary::Finally, f) if value => sometime(f),
            Formula::Unary(Unary::Finally, f) => always(f),
            Formula::Unary(Unary::Globally, f) if value => always(f),
            Formula::Unary(Unary::Globally, f) => sometime(f),
            Formula::Binary(Binary::Until, f, g) if value => until(f, g),
            Formula::Binary(Binary::Until, f, g) => release(f, g),
            Formula::Binary(Binary::Release, f, g) if value => release(f, g),
            Formula::Binary(Binary::Release, f, g) => until(f, g),
            Formula::Binary(op, f, g) => {
                let both = |op: Binary| Formula::Binary(op, f.clone(), g.clone());
                match (op, value) {
                    (Binary::WeakUntil, true) => release(g, &both(Binary::Or)),
                    (Binary::WeakUntil, false) => until(g, &both(Binary::Or)),
                    (Binary::StrongRelease, true) => until(g, &both(Binary::And)),
                    (Binary::StrongRelease, false) => release(g, &both(Binary::And)),
                    _ => panic!("not CTL"),
                }
            }
            _ => panic!("not CTL"),
        }
    }
}

/// Checks, and asserts that the answer and its evidence are right.
pub fn check(graph: &Labelled, formula: &Formula, dead: Dead) -> Report<usize> {
    let mut store = HashStore::<u32, Number>::default();
    let options = Options { dead, report_every: 3, ..Options::default() };
    let report = ctl::check(&mut graph.clone(), &mut store, formula, &options, &Budget::unlimited()).unwrap();
    let meaning = Meaning::new(graph, dead);
    let starts: Vec<(usize, u32)> = (0..graph.initial.len())
        .filter(|index| !graph.faulty_initial.contains(index))
        .flat_map(|index| {
            let vertex = graph.initial[index];
            let past = if graph.transient.contains(&vertex) { graph.successors(vertex) } else { [vertex].into() };
            past.into_iter().map(move |state| (index, state))
        })
        .collect();
    let violating = starts.iter().find(|(_, state)| !meaning.holds(formula, *state));
    assert_eq!(report.verdict, Some(violating.is_none()));
    assert!(report.ended.is_none() && report.statistics.complete);
    let witness = Witness { meaning: &meaning, store: &store, dead };
    if let Some((index, _)) = violating {
        assert_eq!(report.evidence.as_ref().map(|evidence| evidence.start), Some(*index));
    }
    let by_path = shown_by_path(formula, report.verdict == Some(true));
    assert!(!by_path || starts.len() != 1 || report.evidence.is_some(), "no evidence");
    if let Some(evidence) = &report.evidence {
        if graph.transient.contains(&graph.initial[evidence.start]) {
            let states = witness.walk(evidence);
            let [(after, branch)] = &evidence.branches[..] else { panic!("not one branch") };
            assert_eq!((states[0], *after), (graph.initial[evidence.start], evidence.path.len()));
            assert_eq!((&branch.formula, branch.holds), (&evidence.formula, evidence.holds));
            witness.assert(branch);
        } else {
            witness.assert(evidence);
        }
    }
    report
}

/// Is there a path that shows this value of the formula?
fn shown_by_path(formula: &Formula, value: bool) -> bool {
    match formula {
        Formula::Unary(Unary::Not, f) => shown_by_path(f, !value),
        Formula::Unary(quantifier, _) => (*quantifier == Unary::Exists) == value,
        _ => false,
    }
}
