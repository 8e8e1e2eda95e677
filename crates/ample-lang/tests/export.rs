//! Milestones models as text for NuSMV and as Promela: how things are said there. That they mean the same is tested
//! where models are checked.

use ample_lang::export::{Untranslatable, promela, smv};
use ample_lang::milestones::{Model, parse};
use ample_lang::promela::preprocess::FileLoader;

fn model(text: &str) -> Model {
    parse("model.mil", text).unwrap_or_else(|rejected| panic!("{rejected}\n{text}"))
}

/// A model with one global action.
fn global(variables: &str, command: &str) -> Model {
    model(&format!("ACTIONS a; END VARIABLES {variables} END MAIN CASE [a] {command} END END"))
}

#[test]
fn arithmetic_is_modular_in_both_languages() {
    let cases = [
        ("y := 2 * x + y;", "(((((2 * x) mod 16) + y) mod 16))", "((((2 * x) & 15) + y) & 15)"),
        ("x := x - 1;", "((x + 4 - 1) mod 4)", "((x - 1) & 3)"),
        ("x := y;", "y mod 4", "y & 3"),
        ("y := x;", "next(y) = x", "y = x"),
        ("y := y % 3;", "(y mod 3)", "(y % 3)"),
    ];
    for (command, in_smv, in_promela) in cases {
        let model = global("x : 2 := 3; y : 4 := 12;", &format!("true : {command}"));
        let (smv, promela) = (smv::model(&model).unwrap(), promela::model(&model).unwrap());
        assert!(smv.contains(in_smv.trim_start_matches('(').trim_end_matches(')')), "{command}: {smv}");
        assert!(promela.contains(in_promela), "{command}: {promela}");
    }
}

#[test]
fn names_that_mean_something_else_get_an_underscore() {
    let text = "ACTIONS next; END VARIABLES empty : 1 := 0; mod : 1 := 0; END
                LOCAL init ACTIONS do; END VARIABLES pc : 1 := 0; len : 1 := 0; END
                  CASE [0] [do] true : pc := 1; len := 1; empty := 1; END END
                MAIN PROC run : init[1]; END CASE [next] mod = 0 : mod := 1; END END
                LTL next : G (empty = 0); END";
    let model = model(text);
    let smv = smv::model(&model).unwrap();
    for wanted in ["empty : 0..1", "mod_ : 0..1", "action : {next_, run_do, stuck}", "LTLSPEC NAME next__ :="] {
        assert!(smv.contains(wanted), "{wanted}: {smv}");
    }
    let promela = promela::model(&model).unwrap();
    for wanted in ["unsigned empty_ : 1", "typedef init_ { unsigned pc : 1; unsigned len_ : 1 }", "init_ run_[1];"] {
        assert!(promela.contains(wanted), "{wanted}: {promela}");
    }
}

#[test]
fn assignments_are_put_in_order_and_wait_in_shadows_only_if_they_must() {
    let rotate = promela::model(&global("x : 2 := 1; y : 2 := 2; z : 2 := 0;", "true : y := x; x := 0; z := y;"));
    assert!(rotate.unwrap().contains("z = y; y = x; x = 0 }"));
    let swap = promela::model(&global("x : 2 := 1; y : 2 := 2;", "true : x := y; y := x;")).unwrap();
    assert!(swap.contains("x_0 = y; y_0 = x; x = x_0; y = y_0; x_0 = 0; y_0 = 0 }"), "{swap}");
    assert!(swap.contains("unsigned x_0 : 2;"), "{swap}");
}

#[test]
fn what_has_no_first_value_is_chosen_first() {
    let model = model(
        "ACTIONS a; END VARIABLES g : 2; END MAIN CASE [a] true : g := 0; END END
         CTL AG EF (g = 0); END LTL F (g = 0); END",
    );
    let smv = smv::model(&model).unwrap();
    assert!(smv.contains("INIT\n  TRUE"), "{smv}");
    let promela = promela::processes(&model).unwrap();
    assert!(promela.contains("do :: g < 3 -> g = g + 1 :: break od;"), "{promela}");
    assert!(promela.contains("{ (!begun) U (begun && (<> ((g == 0)))) }"), "{promela}");
    assert!(promela.contains("/* CTL ctl1 : AG EF (g = 0) */"), "{promela}");
}

#[test]
fn a_rendezvous_does_not_grow_with_the_number_of_combinations() {
    let local = |count: usize| {
        format!(
            "ACTIONS a; END LOCAL P VARIABLES pc : 1 := 0; x : 1 := 0; END
               CASE [0] [a] x = 0 : x := 1; [0] [a] x = 1 : x := 0; [1] [a] true : END SYNC a; END END
             MAIN PROC p : P[{count}]; END CASE [a] true : END END"
        )
    };
    let sizes = |count| {
        let model = model(&local(count));
        [smv::model(&model).unwrap().len(), promela::model(&model).unwrap().len()]
    };
    let (small, large) = (sizes(10), sizes(40));
    assert!(large[0] < 5 * small[0] && large[1] < 5 * small[1], "{small:?} {large:?}");
}

#[test]
fn what_the_other_language_cannot_say_is_refused() {
    let both = |model: &Model| [smv::model(model).err(), promela::model(model).err(), promela::processes(model).err()];
    for command in ["true : g := 3 / g;", "1 % g = 0 : g := 0;"] {
        let errors = both(&global("g : 2 := 1;", command));
        assert!(errors.iter().all(|error| *error == Some(Untranslatable::Division)), "{command}: {errors:?}");
    }
    let errors = both(&global("g : 32 := 1;", "true : g := 0;"));
    assert!(errors.iter().all(|error| matches!(error, Some(Untranslatable::Wide { .. }))), "{errors:?}");
    let wide = global("g : 8 := 1;", "true : g := g + 100000;");
    assert_eq!(
        smv::model(&wide).unwrap_err().to_string(),
        "a computation has 17 bits, and NuSMV can compute with 15 at most"
    );
    assert!(promela::model(&wide).is_ok());
}

#[test]
fn every_model_of_ours_becomes_promela_that_is_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/milestones");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "mil")).collect();
    assert!(files.len() >= 20, "only {} models", files.len());
    for path in files {
        let name = path.display().to_string();
        let parsed = parse(&name, &std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{error}"));
        assert!(smv::model(&parsed).is_ok(), "{name}");
        for text in [promela::model(&parsed).unwrap(), promela::processes(&parsed).unwrap()] {
            let read = ample_lang::promela::read("model.pml", text, &mut FileLoader, &[]);
            assert!(read.is_ok(), "{name}: {}", read.err().map(|error| error.to_string()).unwrap_or_default());
        }
    }
}
