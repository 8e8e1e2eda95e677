//! A budget that is cancelled from another thread, at random moments, in every engine and phase: loading, setting up,
//! searching, validating. The work ends soon after that, and what it says until then is the truth.

use std::thread;
use std::time::{Duration, Instant};

use ample::{Budget, Cancellation, CheckOptions, Choice, LoadOptions, Outcome, Property, Question, Reason, Verdict};
use ample_random::Random;

/// So long after a cancellation work may go on. Replays have a quarter of a second of grace; the rest is for a machine that
/// is busy with other tests.
const SOON: Duration = Duration::from_secs(3);
/// Every case is cancelled so many times, at moments up to this late.
const TIMES: u64 = 6;
const LATEST: Duration = Duration::from_millis(400);

/// Performs work whose budget is cancelled after a while; how long it went on after that.
fn cancelled_after<T>(delay: Duration, work: impl FnOnce(Budget) -> T) -> (T, Duration) {
    let cancellation = Cancellation::new();
    let budget = Budget::unlimited().with_memory(3 << 30).with_cancellation(&cancellation);
    thread::scope(|scope| {
        let cancelling = scope.spawn(|| {
            thread::sleep(delay);
            cancellation.cancel();
            Instant::now()
        });
        let result = work(budget);
        let done = Instant::now();
        let cancelled = cancelling.join().expect("it only sleeps");
        (result, done.saturating_duration_since(cancelled))
    })
}

/// Does it at several moments, each time it ends soon.
fn ends_soon<T>(what: &str, mut work: impl FnMut(Budget) -> T, check: impl Fn(&T)) {
    let mut random = Random::new(what.len() as u64);
    for round in 0..TIMES {
        // Most moments are early: that is where setting up happens.
        let share = random.below(1000_u64) * (round + 1);
        let delay = LATEST * share as u32 / (1000 * TIMES as u32);
        let (result, late) = cancelled_after(delay, &mut work);
        assert!(late < SOON, "{what}: it went on for {late:?} after it was cancelled after {delay:?}");
        check(&result);
    }
}

/// Philosophers that lock in the same order, far too many for any engine to be done at once.
fn philosophers(count: usize) -> String {
    format!(
        "byte fork[{count}]; byte meals;
         active [{count}] proctype P() {{
             do
             :: atomic {{ fork[_pid] == 0 -> fork[_pid] = 1 }};
                atomic {{ fork[(_pid + 1) % {count}] == 0 -> fork[(_pid + 1) % {count}] = 1 }};
                meals = (meals + 1) % 200;
                fork[(_pid + 1) % {count}] = 0; fork[_pid] = 0
             od
         }}"
    )
}

/// A net of independent rings, as PNML.
fn rings(count: usize) -> String {
    let mut text = String::from(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">",
    );
    for ring in 0..count {
        for at in 0..4 {
            let tokens = if at == 0 { 3 } else { 0 };
            text += &format!(
                "<place id=\"p{ring}_{at}\"><initialMarking><text>{tokens}</text></initialMarking></place>\
                 <transition id=\"t{ring}_{at}\"/>\
                 <arc id=\"a{ring}_{at}\" source=\"p{ring}_{at}\" target=\"t{ring}_{at}\"/>\
                 <arc id=\"b{ring}_{at}\" source=\"t{ring}_{at}\" target=\"p{ring}_{}\"/>",
                (at + 1) % 4
            );
        }
    }
    text + "</page></net></pnml>"
}

fn options(engine: &'static str, budget: Budget) -> CheckOptions {
    CheckOptions { engine: ample::engine(engine).expect("an engine"), budget, ..CheckOptions::default() }
}

/// Nothing but the interrupt is a reason not to know; and what is said is what is so.
fn is_true_or_open(report: &ample::Report, is_violated: &dyn Fn(&str) -> bool) {
    for answer in &report.answers {
        match &*answer.outcome {
            Outcome::Unknown(_) => {}
            _ => {
                assert_eq!(answer.verdict() == Verdict::Violated, is_violated(&answer.property), "{}", answer.property)
            }
        }
    }
}

fn ltl(system: &ample::System, name: &str, text: &str) -> Property {
    let question = Question::Ltl(ample::ltl(system, text).expect("a formula"));
    Property { name: name.into(), question, text: text.into(), span: None }
}

#[test]
fn loading_ends_when_it_is_cancelled() {
    let statements: String = (0..60_000).map(|number| format!("x = (x + {number}) % 1000;\n")).collect();
    let promela = format!("int x; active proctype P() {{ {statements} }}");
    let nets = rings(20_000);
    for (name, text) in [("large.pml", promela), ("large.pnml", nets)] {
        ends_soon(
            name,
            |budget| {
                let options = LoadOptions { budget, ..LoadOptions::default() };
                ample::load_text(name, text.clone(), &options).map(|_| ())
            },
            |loaded| {
                if let Err(error) = loaded {
                    assert!(matches!(error, ample::LoadError::Interrupted { .. }), "{error}");
                }
            },
        );
    }
}

#[test]
fn every_engine_ends_when_it_is_cancelled() {
    let system = ample::load_text("philosophers.pml", philosophers(9), &LoadOptions::default()).unwrap().system;
    let properties = vec![
        Property::deadlock(),
        Property::assertions(),
        ltl(&system, "again", "[] <> (meals == 0)"),
        ltl(&system, "few", "[] (meals < 200)"),
    ];
    let is_violated = |property: &str| property == "deadlock" || property == "ltl:again";
    for engine in ["auto", "explicit", "symbolic", "sog"] {
        let check = |budget| {
            let properties = Some(properties.clone());
            ample::check(&system, &CheckOptions { properties, ..options(engine, budget) })
        };
        ends_soon(engine, check, |report| is_true_or_open(report, &is_violated));
    }
    for engine in ["auto", "explicit", "symbolic"] {
        ends_soon(
            engine,
            |budget| ample::states(&system, &options(engine, budget)),
            |report| {
                assert!(matches!(report.ended, None | Some(Reason::Interrupted)), "{engine}: {:?}", report.ended);
            },
        );
    }
}

#[test]
fn engines_for_nets_end_when_they_are_cancelled() {
    let loaded = ample::load_text("rings.pnml", rings(60), &LoadOptions::default()).unwrap();
    let formula = loaded.ltl("G (p0_0 >= 3 -> F p1_1 >= 2)").unwrap();
    let branching = loaded.ctl("AG (EF (p0_1 >= 3 & p5_2 >= 3))").unwrap();
    let property = |name: &str, question| Property { name: name.into(), question, text: String::new(), span: None };
    let properties = vec![
        Property::deadlock(),
        property("linear", Question::Ltl(formula)),
        property("branching", Question::Ctl(branching)),
    ];
    for engine in ["auto", "petri", "explicit", "symbolic", "sog"] {
        let check = |budget| {
            let properties = Some(properties.clone());
            ample::check(&loaded.system, &CheckOptions { properties, ..options(engine, budget) })
        };
        ends_soon(engine, check, |report| is_true_or_open(report, &|property| property == "ltl:linear"));
    }
    for engine in ["auto", "explicit", "symbolic"] {
        ends_soon(engine, |budget| ample::states(&loaded.system, &options(engine, budget)), |_| {});
    }
}

#[test]
fn the_translation_of_a_formula_ends_when_it_is_cancelled() {
    let text = "byte x; active proctype P() { do :: x = (x + 1) % 12 od }";
    let system = ample::load_text("x.pml", text.into(), &LoadOptions::default()).unwrap().system;
    let goals: Vec<String> = (0..12).map(|value| format!("([] <> (x == {value}))")).collect();
    let large = format!("!({}) || ({})", goals.join(" && "), goals.join(" U "));
    let property = ltl(&system, "large", &large);
    for engine in ["auto", "explicit", "symbolic", "sog"] {
        let check = |budget| {
            let properties = Some(vec![property.clone()]);
            ample::check(&system, &CheckOptions { properties, ..options(engine, budget) })
        };
        ends_soon(engine, check, |_| {});
    }
}

#[test]
fn validation_ends_when_it_is_cancelled() {
    // Half a million steps to the end, and all of them are replayed.
    let text = "int n; active proctype P() { do :: n < 500000 -> n++ :: n == 500000 -> break od; assert(false) }";
    let system = ample::load_text("long.pml", text.into(), &LoadOptions::default()).unwrap().system;
    for engine in ["auto", "explicit"] {
        let check = |budget| ample::check(&system, &options(engine, budget));
        ends_soon(engine, check, |report| is_true_or_open(report, &|property| property == "assertions"));
    }
    let reason = |engine: Choice| {
        let (report, _) = cancelled_after(Duration::ZERO, |budget| {
            ample::check(&system, &CheckOptions { engine, budget, ..CheckOptions::default() })
        });
        report.ended
    };
    assert_eq!(reason(Choice::Auto), Some(Reason::Interrupted));
}

/// To know its macros, the model is preprocessed again.
#[test]
fn formulas_are_read_within_the_budget() {
    let macros: String = (0..5_000).map(|number| format!("#define M{number} (x == {number})\n")).collect();
    let text = format!("{macros}int x; active proctype P() {{ x = 1 }}");
    let loaded = ample::load_text("macros.pml", text, &LoadOptions::default()).unwrap();
    let cancellation = Cancellation::new();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    assert!(loaded.ltl_within("[] !M4999", &budget).is_ok());
    assert!(ample::sog::formula_within(&loaded, "[] !M4999", &budget).is_ok());
    cancellation.cancel();
    let is_interrupted = |what: &str, error: Option<ample::LoadError>| {
        assert!(matches!(error, Some(ample::LoadError::Interrupted { .. })), "{what}: {error:?}");
    };
    is_interrupted("ltl", loaded.ltl_within("[] !M4999", &budget).err());
    is_interrupted("ctl", loaded.ctl_within("AG !M4999", &budget).err());
    is_interrupted("expression", loaded.expression_within("M4999", &budget).err());
    is_interrupted("sog", ample::sog::formula_within(&loaded, "[] !M4999", &budget).err());
}
