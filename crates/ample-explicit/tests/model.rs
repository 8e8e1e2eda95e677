//! Models as Rust values: verdicts and paths compared with plain computations on random graphs, and what users see.

mod generic_graph;

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ample_explicit::model::{Budget, Cancellation, Ending, Fairness, Model, Path, Reason, Verdict};
use ample_random::Random;

/// A graph whose nodes are strings, so that states are owned; a node is coloured or not.
#[derive(Debug)]
struct Graph {
    initial: Vec<usize>,
    edges: Vec<Vec<usize>>,
    coloured: Vec<bool>,
    ends: Vec<bool>,
}

impl Graph {
    fn random(seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let nodes = 1 + random.below(12);
        let degree = 1 + random.below(3);
        let mut edges = Vec::new();
        for _ in 0..nodes {
            let count = random.below(degree + 1);
            edges.push((0..count).map(|_| random.below(nodes)).collect());
        }
        let initial = (0..1 + random.below(2)).map(|_| random.below(nodes)).collect();
        let coloured = (0..nodes).map(|_| random.below(3) == 0).collect();
        let ends = (0..nodes).map(|_| random.below(2) == 0).collect();
        Graph { initial, edges, coloured, ends }
    }

    fn node(state: &str) -> usize {
        state.parse().unwrap()
    }

    /// How many steps away each node is, by a plain breadth-first search.
    fn distances(&self) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.edges.len()];
        let mut queue = VecDeque::new();
        for &node in &self.initial {
            distances[node] = Some(0);
            queue.push_back(node);
        }
        while let Some(node) = queue.pop_front() {
            for &to in &self.edges[node] {
                if distances[to].is_none() {
                    distances[to] = distances[node].map(|distance| distance + 1);
                    queue.push_back(to);
                }
            }
        }
        distances
    }

    fn nearest(&self, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let distances = self.distances().into_iter().enumerate();
        distances.filter(|(node, _)| wanted(*node)).filter_map(|(_, distance)| distance).min()
    }

    /// A node without successors is its own successor.
    fn successors(&self, node: usize) -> Vec<usize> {
        if self.edges[node].is_empty() { vec![node] } else { self.edges[node].clone() }
    }

    /// The nodes where the step function is at its fixpoint, from `start` on.
    fn fixpoint(&self, start: bool, step: impl Fn(&[bool], usize) -> bool) -> Vec<bool> {
        let mut values = vec![start; self.edges.len()];
        loop {
            let next: Vec<bool> = (0..values.len()).map(|node| step(&values, node)).collect();
            if next == values {
                return values;
            }
            values = next;
        }
    }

    /// `EG` of uncoloured.
    fn can_avoid(&self) -> Vec<bool> {
        self.fixpoint(true, |values, node| !self.coloured[node] && self.successors(node).iter().any(|to| values[*to]))
    }

    /// `EF` of a set.
    fn can_reach(&self, goal: &[bool]) -> Vec<bool> {
        self.fixpoint(false, |values, node| goal[node] || self.successors(node).iter().any(|to| values[*to]))
    }
}

impl Model for Graph {
    type State = String;
    type Action = usize;

    fn init(&self) -> Vec<String> {
        self.initial.iter().map(usize::to_string).collect()
    }

    /// One more than there are edges, so that `next` has something to refuse.
    fn actions(&self, state: &String) -> Vec<usize> {
        (0..=self.edges[Graph::node(state)].len()).collect()
    }

    fn next(&self, state: &String, action: &usize) -> Option<String> {
        Some(self.edges[Graph::node(state)].get(*action)?.to_string())
    }

    fn is_valid_end(&self, state: &String) -> bool {
        self.ends[Graph::node(state)]
    }
}

/// Performs a path on the graph itself.
fn assert_is_path(graph: &Graph, path: &Path<String, usize>) {
    let states: Vec<usize> = path.states().map(|state| Graph::node(state)).collect();
    assert!(graph.initial.contains(&states[0]));
    for (step, action) in path.actions().enumerate() {
        assert_eq!(graph.edges[states[step]][*action], states[step + 1]);
    }
    match path.ending() {
        Ending::Open => {}
        Ending::Stuck => assert!(graph.edges[states[path.len()]].is_empty()),
        Ending::Cycle(from) => assert_eq!(states[from], states[path.len()]),
    }
}

#[test]
fn random_graphs_have_the_verdicts_of_plain_computations() {
    for seed in 0..2_000 {
        let graph = Graph::random(seed);
        let coloured = |state: &String| graph.coloured[Graph::node(state)];
        let check = || {
            graph
                .check()
                .always("uncoloured", move |s| !coloured(s))
                .sometimes("coloured", coloured)
                .deadlock_free()
                .eventually("seen", coloured)
                .ltl("again and again", "always eventually seen")
                .ctl("reachable", "AG EF seen")
        };
        let report = check().run();
        let context = format!("seed {seed}: {graph:?}\n{report}");
        let distance = |name: &str| report.path(name).map(Path::len);

        let nearest = graph.nearest(|node| graph.coloured[node]);
        assert_eq!(report.holds("uncoloured"), nearest.is_none(), "{context}");
        assert_eq!(report.holds("coloured"), nearest.is_some(), "{context}");
        assert_eq!((distance("uncoloured"), distance("coloured")), (nearest, nearest), "{context}");

        let deadlock = graph.nearest(|node| graph.edges[node].is_empty() && !graph.ends[node]);
        assert_eq!((report.holds("deadlock"), distance("deadlock")), (deadlock.is_none(), deadlock), "{context}");

        let avoid = graph.can_avoid();
        let escapes = |set: &[bool]| graph.initial.iter().any(|node| set[*node]);
        assert_eq!(report.holds("seen"), !escapes(&avoid), "{context}");
        assert_eq!(report.holds("again and again"), !escapes(&graph.can_reach(&avoid)), "{context}");
        let lost: Vec<bool> = graph.can_reach(&graph.coloured).iter().map(|can| !can).collect();
        assert_eq!(report.holds("reachable"), !escapes(&graph.can_reach(&lost)), "{context}");

        let deeper = check().depth_first().run();
        for (answer, other) in report.answers.iter().zip(&deeper.answers) {
            assert_eq!(answer.verdict, other.verdict, "{context}");
            answer.path.iter().chain(&other.path).for_each(|path| assert_is_path(&graph, path));
        }
        let reachable = graph.distances().iter().flatten().count() as u64;
        assert_eq!(graph.check().run().states(), reachable, "{context}");
    }
}

/// Two processes: the first sets a flag, the second idles.
struct Idler;

impl Model for Idler {
    type State = bool;
    type Action = &'static str;

    fn init(&self) -> Vec<bool> {
        vec![false]
    }
    fn actions(&self, _: &bool) -> Vec<&'static str> {
        vec!["set", "idle"]
    }
    fn next(&self, state: &bool, action: &&'static str) -> Option<bool> {
        match *action {
            "set" => (!state).then_some(true),
            _ => Some(*state),
        }
    }
    fn process(&self, action: &&'static str) -> Option<u8> {
        Some(u8::from(*action == "idle"))
    }
}

#[test]
fn fairness_leaves_out_runs_that_pass_a_process_over() {
    let verdict = |fairness| Idler.check().eventually("set", |s| *s).fairness(fairness).run().holds("set");
    assert_eq!([Fairness::None, Fairness::Weak, Fairness::Strong].map(verdict), [false, true, true]);
}

/// A lock that the second process takes and releases; the first waits for it.
struct Lock;

impl Model for Lock {
    type State = (bool, bool);
    type Action = &'static str;

    fn init(&self) -> Vec<(bool, bool)> {
        vec![(false, false)]
    }
    fn actions(&self, _: &(bool, bool)) -> Vec<&'static str> {
        vec!["enter", "take", "release"]
    }
    fn next(&self, &(inside, taken): &(bool, bool), action: &&'static str) -> Option<(bool, bool)> {
        match *action {
            "enter" if !taken && !inside => Some((true, taken)),
            "take" if !taken => Some((inside, true)),
            "release" if taken => Some((inside, false)),
            _ => None,
        }
    }
    fn process(&self, action: &&'static str) -> Option<u8> {
        Some(u8::from(*action != "enter"))
    }
}

#[test]
fn what_is_possible_only_now_and_then_needs_strong_fairness() {
    let check = |fairness| Lock.check().eventually("inside", |s| s.0).fairness(fairness).run();
    assert!(!check(Fairness::Weak).holds("inside"));
    assert_eq!(check(Fairness::Weak).path("inside").unwrap().cycle().map(<[_]>::len), Some(2));
    assert!(check(Fairness::Strong).holds("inside"));
}

/// Three coins; turning over two at a time.
struct Coins;

impl Model for Coins {
    type State = [bool; 3];
    type Action = (usize, usize);

    fn init(&self) -> Vec<[bool; 3]> {
        vec![[true, false, false]]
    }
    fn actions(&self, _: &[bool; 3]) -> Vec<(usize, usize)> {
        vec![(0, 1), (0, 2), (1, 2)]
    }
    fn next(&self, state: &[bool; 3], &(one, other): &(usize, usize)) -> Option<[bool; 3]> {
        let mut next = *state;
        next[one] ^= true;
        next[other] ^= true;
        Some(next)
    }
}

fn message_of(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).expect_err("it should panic");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_failed_assertion_shows_the_counterexamples() {
    let message = message_of(|| {
        Coins
            .check()
            .sometimes("all heads", |s| *s == [true; 3])
            .sometimes("no heads", |s| *s == [false; 3])
            .always("few heads", |s| *s != [true; 3])
            .eventually("all", |s| *s == [true; 3])
            .ltl("stuttering", "always nothing")
            .assert();
    });
    let expected = "\
violated: sometimes `no heads`, in no reachable state
violated: always `few heads`, counterexample of 1 step:
  0: [true, false, false]
     -> (1, 2)
  1: [true, true, true]
violated: eventually `all`, counterexample of 2 steps:
  0: [true, false, false]
     -> (0, 1)
  1: [false, true, false]
     -> (0, 1)
     back to 0
unknown: `stuttering`: always nothing, because `always nothing` is not a formula: there is no condition `nothing`; \
        there are `all heads`, `no heads`, `few heads`, `all`, at byte 7
4 states, 12 transitions
";
    assert_eq!(message, expected.replace("        there", "there"));
}

#[test]
fn names_of_several_words_are_quoted_in_formulas() {
    let report = Coins
        .check()
        .condition("all heads", |s| *s == [true; 3])
        .ltl("never", "always ! \"all heads\"")
        .ltl("with letters", "G F ! \"all heads\" -> F G \"all heads\"")
        .ltl("refused", "G F (\"all heads\" -> nothing)")
        .ctl("possible", "AG EF \"all heads\"")
        .run();
    assert_eq!(report.assert_violated("with letters").cycle().map(<[_]>::len), Some(2));
    assert!(report.answer("refused").unwrap().to_string().contains("there is no condition `nothing`"));
    assert_eq!(report.assert_violated("never").len(), 1);
    assert!(report.holds("possible"));
    assert!(message_of(|| drop(report.assert_violated("possible").clone())).contains("holds: `possible`"));
}

#[test]
fn two_conditions_of_one_name_are_not_confused() {
    let report = Coins.check().condition("c", |s| s[0]).condition("c", |s| s[1]).ltl("which", "eventually c").run();
    let Verdict::Unknown(Reason::Unsupported(why)) = &report.answer("which").unwrap().verdict else {
        panic!("{report}");
    };
    assert!(why.contains("several conditions are called `c`"), "{why}");
}

#[test]
fn a_run_that_is_stuck_stays_where_it_is() {
    struct Once;
    impl Model for Once {
        type State = u8;
        type Action = ();
        fn init(&self) -> Vec<u8> {
            vec![0]
        }
        fn actions(&self, _: &u8) -> Vec<()> {
            vec![()]
        }
        fn next(&self, state: &u8, _: &()) -> Option<u8> {
            (*state == 0).then_some(1)
        }
    }
    let report = Once.check().condition("start", |s| *s == 0).ltl("stays", "eventually always start").run();
    let path = report.assert_violated("stays");
    assert_eq!((path.len(), path.ending(), *path.last()), (1, Ending::Stuck, 1));
    assert!(path.to_string().ends_with("1: 1\n   and no action is possible\n"));
    assert_eq!(Once.random_run(1, 10).unwrap().ending(), Ending::Stuck);
}

/// A model that does not say the same thing twice.
struct Fickle(Cell<u32>);

impl Model for Fickle {
    type State = u32;
    type Action = ();
    fn init(&self) -> Vec<u32> {
        vec![0]
    }
    fn actions(&self, _: &u32) -> Vec<()> {
        vec![()]
    }
    fn next(&self, _: &u32, _: &()) -> Option<u32> {
        self.0.set(self.0.get() + 1);
        (self.0.get() < 100).then_some(self.0.get())
    }
}

#[test]
fn a_path_that_the_model_does_not_perform_again_is_no_counterexample() {
    let report = Fickle(Cell::new(0)).check().always("small", |s| *s < 5).run();
    let Verdict::Unknown(Reason::Unsupported(why)) = &report.answer("small").unwrap().verdict else {
        panic!("{report}");
    };
    assert!(why.contains("does not perform the path again"), "{why}");
}

/// A state with very many successors, and no end of them.
struct Wide;

impl Model for Wide {
    type State = u64;
    type Action = u64;
    fn init(&self) -> Vec<u64> {
        vec![1]
    }
    fn actions(&self, _: &u64) -> Vec<u64> {
        (0..100_000).collect()
    }
    fn next(&self, state: &u64, action: &u64) -> Option<u64> {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(*action))
    }
}

#[test]
fn an_exhausted_budget_leaves_everything_unknown() {
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    let report = Wide
        .check()
        .always("odd", |s| *s != 0)
        .sometimes("zero", |s| *s == 0)
        .deadlock_free()
        .eventually("zero some time", |s| *s == 0)
        .ctl("possible", "EF zero")
        .budget(budget)
        .run();
    for answer in &report.answers {
        assert_eq!(answer.verdict, Verdict::Unknown(Reason::Interrupted), "{}", answer.name);
    }
    assert_eq!(report.ended(), Some(&Reason::Interrupted));
}

#[test]
fn a_depth_limit_says_so() {
    let report = Idler.check().always("unset", |s| !s).sometimes("never", |_| false).max_depth(0).run();
    let depth = Verdict::Unknown(Reason::Depth);
    assert_eq!(report.answers.iter().map(|answer| answer.verdict.clone()).collect::<Vec<_>>(), [depth.clone(), depth]);
}
