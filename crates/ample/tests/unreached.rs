//! Unreached code: the statements that no run executes, against the reference interpreter and against Spin.

mod support;

use ample::{Budget, CheckOptions, PartialOrder, StaticReduction, System, UnreachedCode};
use ample_model::random::{self, Features};
use support::coverage::unreached_by_interpreter;

/// The random system of that seed, with a name for every edge.
fn system(seed: u64, features: Features) -> System {
    let mut system = random::system(seed, features);
    for process in &mut system.processes {
        for (number, edge) in process.edges.iter_mut().enumerate() {
            edge.label = format!("edge {number}");
        }
    }
    system
}

fn options(reductions: &[StaticReduction], partial_order: PartialOrder, unreached: UnreachedCode) -> CheckOptions {
    let budget = Budget::unlimited().until(|progress| progress.states > 100_000).0;
    let reductions = reductions.to_vec();
    CheckOptions { reductions, partial_order, unreached, budget, no_vacuity: true, ..CheckOptions::default() }
}

#[test]
fn random_systems_have_the_unreached_statements_of_the_interpreter() {
    let most = 3_000;
    let (mut known, mut all, mut some) = (0, 0, 0);
    let sets = [Features::ALL, Features::NONE, Features { faults: false, looks: false, ..Features::ALL }];
    for seed in 0..600 {
        let features = sets[seed as usize % sets.len()];
        let system = system(seed, features);
        let Some(expected) = unreached_by_interpreter(&system, most) else { continue };
        some += u64::from(!expected.is_empty());
        for reductions in [&[][..], &StaticReduction::ALL] {
            for partial_order in [PartialOrder::Auto, PartialOrder::None, PartialOrder::TwoPhase] {
                all += 1;
                let report = ample::check(&system, &options(reductions, partial_order, UnreachedCode::IfKnown));
                if let Some(Ok(told)) = &report.unreached {
                    known += 1;
                    assert_eq!(told, &expected, "seed {seed}, {features:?}, {reductions:?}, {partial_order:?}");
                }
                let report = ample::check(&system, &options(reductions, partial_order, UnreachedCode::Required));
                assert_eq!(
                    report.unreached,
                    Some(Ok(expected.clone())),
                    "seed {seed}, {features:?}, {reductions:?}, {partial_order:?}"
                );
            }
        }
    }
    println!("{known} of {all} known without asking, {some} systems with unreached statements");
    assert!(known * 4 > all && some > 100, "{known} of {all} known, {some} with unreached statements");
}
