//! Reading within a budget: whenever it is exhausted, that is all that is said, and no fault is found in the half of the
//! text that was read.

use std::thread;
use std::time::Duration;

use ample_budget::{Budget, Cancellation, Interrupted};
use ample_lang::promela::preprocess::MemoryLoader;
use ample_lang::{Rejected, milestones, pnml, promela, softver};

/// Loops, labels, blocks, macros and inlines, one after the other.
fn promela_text() -> String {
    let part = |number: usize| {
        format!(
            "L{number}: do :: x > {number} -> break :: else -> x++ od unless {{ x < 0 }};
             atomic {{ STEP({number}); if :: x == 1 -> goto L{number} :: else fi }};
             d_step {{ twice(x); {{ int y{number} = x; x = y{number} }} }};\n"
        )
    };
    let parts: String = (0..300).map(part).collect();
    format!(
        "#define STEP(n) x = (x + n) % 100\ninline twice(v) {{ v = v * 2 }}\n
         int x; active proctype P() {{ {parts} skip }} ltl p {{ [] (x >= 0) }}"
    )
}

fn milestones_text() -> String {
    let commands = |action: &str| -> String {
        (0..500).map(|number| format!("[{action}] g == {number}: g := g + 1;\n")).collect()
    };
    format!("VARIABLE g:10:=0; END ACTION up; END MAIN CASE {} END END LTL F g == 3; END", commands("up"))
}

fn softver_text() -> String {
    let statements: String = (0..500).map(|number| format!("label l{number}; x := x + {};\n", number % 256)).collect();
    format!("int x; {{ {statements} }} SPEC AF x = 3")
}

fn pnml_text() -> String {
    let nodes: String =
        (0..500).map(|number| format!("<place id=\"p{number}\"/><transition id=\"t{number}\"/>")).collect();
    format!(
        "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">{nodes}</page></net></pnml>"
    )
}

/// Reads every language within a budget; the rejections.
fn read_all(budget: &Budget) -> Vec<(&'static str, Option<Rejected>)> {
    let mut loader = MemoryLoader::default();
    let promela_text = promela_text();
    let apart = promela::read_apart_from_refused("m.pml", promela_text.clone(), &mut loader, &[], budget);
    let milestones_apart = milestones::read_apart_from_refused("m.mil", &milestones_text(), budget);
    vec![
        ("promela", promela::read_within("m.pml", promela_text, &mut loader, &[], budget).err()),
        ("promela apart from refused formulas", apart.err()),
        ("milestones", milestones::read_within("m.mil", &milestones_text(), budget).err()),
        ("milestones apart from refused formulas", milestones_apart.err()),
        ("softver", softver::read_within("m.softver", &softver_text(), budget).err()),
        ("pnml", pnml::read_within("m.pnml", &pnml_text(), budget).err()),
    ]
}

#[test]
fn nothing_is_read_when_the_budget_is_exhausted_before() {
    for (language, rejected) in read_all(&Budget::unlimited().with_time(Duration::ZERO)) {
        let rejected = rejected.unwrap_or_else(|| panic!("{language} is read"));
        assert_eq!(rejected.interrupted, Some(Interrupted::Deadline), "{language}: {rejected}");
    }
}

#[test]
fn no_fault_is_found_in_a_text_that_is_read_in_part() {
    for (language, rejected) in read_all(&Budget::unlimited()) {
        assert!(rejected.is_none(), "{language}: {rejected:?}");
    }
    for delay in (0..40).map(|number| Duration::from_millis(3 * number)) {
        let cancellation = Cancellation::new();
        let budget = Budget::unlimited().with_cancellation(&cancellation);
        let read = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(delay);
                cancellation.cancel();
            });
            read_all(&budget)
        });
        for (language, rejected) in read {
            let Some(rejected) = rejected else { continue };
            assert_eq!(rejected.interrupted, Some(Interrupted::Cancelled), "{language}: {rejected}");
        }
    }
}
