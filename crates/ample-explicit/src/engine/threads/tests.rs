use ample_engine::board::Board;
use ample_engine::report::Verdict;
use ample_engine::settings::{PartialOrder, Settings};
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::{Property, Statistics, System};

use super::*;
use crate::engine::options::Explicit;
use crate::engine::work;

/// More states than several threads begin with, on one large cycle.
const COUNTERS: &str = "
    byte x[4];
    active [4] proctype Counter() { do :: atomic { x[_pid] < 15 -> x[_pid]++ } od }
    active proctype Reset() {
        do
        :: d_step { x[0] == 15 && x[1] == 15 && x[2] == 15 && x[3] == 15 -> x[0] = 0; x[1] = 0; x[2] = 0; x[3] = 0 }
        od
    }
    ltl again { [] <> (x[0] == 0) }
    ltl bounded { [] (x[0] <= 15) }
    ltl stays { <> [] (x[1] > 0) }
";

fn model(text: &str) -> System {
    match promela::read("test.pml", text.into(), &mut FileLoader, &[]) {
        Ok(lowered) => lowered.system,
        Err(why) => panic!("{why:?}"),
    }
}

fn options() -> Options {
    let settings = Settings { partial_order: PartialOrder::None, ..Settings::default() };
    Options { explicit: Explicit::default(), settings }
}

fn counts(statistics: &Statistics) -> [u64; 4] {
    [statistics.states, statistics.transitions, statistics.atomic_steps, statistics.depth]
}

#[test]
fn a_large_model_is_counted_as_by_one_thread() {
    let system = model(COUNTERS);
    let counted = |threads| {
        let report = work::states(&system, &options(), &Budget::unlimited().with_threads(threads));
        assert_eq!(report.ended, None);
        counts(&report.statistics)
    };
    let expected = counted(1);
    assert_eq!((expected[0], expected[3]), (65_536, 60));
    for threads in [2, 4] {
        assert_eq!(counted(threads), expected, "{threads} threads");
    }
}

#[test]
fn formulas_have_the_verdict_that_one_thread_finds() {
    let system = model(COUNTERS);
    let expected = [("again", Verdict::Holds), ("bounded", Verdict::Holds), ("stays", Verdict::Violated)];
    for (name, verdict) in expected {
        let is_it = |property: &&Property| property.name.ends_with(name);
        let property = system.properties.iter().find(is_it).cloned().into_iter().collect::<Vec<_>>();
        let mut states = None;
        for threads in [1, 2, 4, 2] {
            let budget = Budget::unlimited().with_threads(threads);
            let report = work::check(&system, &property, &options(), &Board::of(&property), &budget);
            assert_eq!(report.answers[0].verdict(), verdict, "{name}, {threads} threads: {:?}", report.answers[0]);
            if verdict == Verdict::Holds {
                let found = report.statistics.states;
                assert_eq!(*states.get_or_insert(found), found, "{name}, {threads} threads");
                assert!(found > 60_000, "{name}: {found} states");
            }
        }
    }
}
