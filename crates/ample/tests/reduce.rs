//! `ample reduce`: the shape of what it tells, and that what it tells is what the search does.

mod support;

use std::path::PathBuf;

use ample::reduce::{Choice, Point, ReduceOptions, Reduction, Safety, Scheme};
use ample::{Algorithm, Budget, LoadOptions, Loaded};
use serde_json::Value;
use support::{Folder, ample, errors, json, text};

fn model(name: &str) -> PathBuf {
    support::model("promela").join(name)
}

fn load(name: &str) -> Loaded {
    ample::load(&model(name), &LoadOptions::default()).unwrap()
}

fn load_text(text: &str) -> Loaded {
    ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap()
}

fn reduce(loaded: &Loaded) -> Reduction<'_> {
    ample::reduce::reduce(&loaded.system, &ReduceOptions::default(), &Budget::unlimited()).unwrap()
}

/// Why the transitions with those texts do not accord; empty if they do.
fn why(scheme: &Scheme<'_>, first: &str, second: &str) -> Vec<String> {
    let find = |text: &str| scheme.living().find(|transition| transition.text == text).unwrap();
    let (first, second) = (find(first), find(second));
    if !first.discord.contains(&second.number) {
        return Vec::new();
    }
    scheme.why(first.number, second.number).into_iter().map(|why| why.text).collect()
}

#[test]
fn a_summary_tells_what_is_left_out_and_what_stands_in_the_way() {
    let output = ample(&["reduce"], &model("peterson.pml"));
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output);
    for part in [
        "2 processes, 16 transitions, 4 objects are shared",
        " safe (in accord with all of other processes)\n",
        " of 16 locations a process can be let go alone\n",
        "without reduction        58 states,       105 transitions",
        "with reduction",
        "stubborn sets by guards: in ",
        "\n  in_critical ",
        "peterson.pml:46  (!flag[other] || turn == me)  ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let quiet = ample(&["reduce", "--quiet"], &model("peterson.pml"));
    assert!(!self::text(&quiet).contains("in_critical"));
}

#[test]
fn an_explanation_has_reasons_and_a_matrix() {
    let text = text(&ample(&["reduce", "--explain"], &model("peterson.pml")));
    for part in [
        "\nprocess(0)\n  location 0\n    [0]  peterson.pml:44  flag[me] = true  not safe\n",
        "         it may make `!flag[0] || (turn == 1)` of the other false\n           [10]  process(1)  peterson.pml:46",
        "         both write turn\n           [9]  process(1)  peterson.pml:45  turn = other\n",
        "  location 7: let go alone\n    [7]  peterson.pml:43  true  safe\n",
        "\n   [1]  process(0)  .\\.......vd.....\n",
        "v same variable",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_wide_matrix_is_grouped_by_processes() {
    let text = text(&ample(&["reduce", "--explain"], &model("leader_dolev_klawe_rodeh.pml")));
    assert!(text.contains(" pairs\n") && !text.contains("v same variable"), "{text}");
}

#[test]
fn json_is_complete_and_symmetric() {
    for name in ["peterson.pml", "bounded_buffer.pml", "philosophers_deadlock.pml", "rendezvous_atomic.pml"] {
        let value = json(&ample(&["reduce", "--json", "--explain"], &model(name)));
        assert_eq!(value["schema"], 1);
        assert_eq!(value["off"], Value::Null);
        let transitions = value["transitions"].as_array().unwrap();
        let objects = value["objects"].as_array().unwrap().len() as u64;
        let conditions = value["conditions"].as_array().unwrap();
        let row = |number: usize| transitions[number]["discord"].as_array().unwrap();
        for (number, transition) in transitions.iter().enumerate() {
            assert_eq!(transition["number"], number, "{name}");
            assert!(["always", "later", "never"].contains(&transition["safe"].as_str().unwrap()));
            for other in row(number) {
                let other = other.as_u64().unwrap() as usize;
                assert!(row(other).contains(&number.into()), "{name}: {number} and {other}");
            }
            for operation in transition["operations"].as_array().unwrap() {
                assert!(operation["object"].as_u64().is_none_or(|object| object < objects), "{name}");
                assert!(!operation["verb"].as_str().unwrap().is_empty());
            }
            for condition in transition["conditions"].as_array().unwrap() {
                assert!((condition.as_u64().unwrap() as usize) < conditions.len());
            }
        }
        let reasons = value["reasons"].as_array().unwrap();
        assert!(!reasons.is_empty());
        assert!(reasons.iter().all(|reason| !reason["why"][0]["text"].as_str().unwrap().is_empty()));
        let known = |reason: &Value| !reason["why"].to_string().contains("not known well enough");
        assert!(reasons.iter().all(known), "{name}");
    }
}

#[test]
fn the_counts_are_those_of_the_searches() {
    for name in ["peterson.pml", "bounded_buffer.pml", "philosophers_deadlock.pml"] {
        let value = json(&ample(&["reduce", "--json"], &model(name)));
        let whole = json(&ample(&["states", "--json"], &model(name)));
        assert_eq!(value["whole"]["states"], whole["stats"]["states"], "{name}");
        let words = ["states", "--json", "--por", "persistent", "--proviso", "components"];
        let reduced = json(&ample(&words, &model(name)));
        assert_eq!(value["reduced"]["states"], reduced["stats"]["states"], "{name}");
        assert_eq!(value["reduced"]["transitions"], reduced["stats"]["transitions"], "{name}");
    }
}

#[test]
fn reasons_name_what_is_shared() {
    let loaded = load_text(
        "byte x, y; chan q = [2] of { byte };
         active proctype A() { x = 1; q!1; y == 0; q!3 }
         active proctype B() { x = 2; q!2; y = 5 }
         active proctype C() { byte z; q?z; x++ }",
    );
    let reduction = reduce(&loaded);
    let scheme = reduction.scheme.as_ref().unwrap();
    assert_eq!(why(scheme, "x = 1", "x = 2"), ["both write x"]);
    assert_eq!(why(scheme, "x = 1", "x++"), ["both write x"]);
    let sends = why(scheme, "q!1", "q!2");
    assert!(sends.contains(&"both send to q".to_owned()), "{sends:?}");
    assert_eq!(why(scheme, "q!1", "q?z"), [""; 0]);
    assert_eq!(why(scheme, "y == 0", "y = 5"), ["the other may make `y == 0` false"]);
    assert_eq!(why(scheme, "y = 5", "y == 0"), ["it may make `y == 0` of the other false"]);
    let safe = |text: &str| scheme.living().find(|transition| transition.text == text).unwrap().safe;
    assert_eq!((safe("q?z"), safe("x = 1")), (Safety::Always, Safety::Never));
    assert_eq!(scheme.shared()[0].0.name, "x");
}

/// What is chosen in the first states of a model.
fn choices(loaded: &Loaded, algorithm: Algorithm, most: u64) -> Vec<(Choice, Vec<usize>)> {
    let options = ReduceOptions { algorithm, ..ReduceOptions::default() };
    let mut all = Vec::new();
    for number in 0..most {
        let point = Point::Number(number);
        let Ok((scheme, choice)) = ample::reduce::choice(&loaded.system, &point, &options, &Budget::unlimited()) else {
            break;
        };
        // For each process that can be let go alone here: how many transitions it has.
        let mut alone = Vec::new();
        for process in scheme.processes() {
            let at = |location: &u32| {
                let leaves = |transition: u32| {
                    let steps = &scheme.transitions()[transition as usize].steps;
                    steps.iter().any(|step| (step.process, step.from) == (process.number, *location))
                };
                choice.enabled.iter().filter(|one| one.transition.is_some_and(leaves)).count()
            };
            alone.extend(process.alone.iter().map(at).filter(|count| *count > 0));
        }
        all.push((choice, alone));
    }
    all
}

#[test]
fn the_set_that_is_told_is_the_set_that_is_taken() {
    for name in ["peterson.pml", "bounded_buffer.pml", "philosophers_deadlock.pml", "alternating_bit.pml"] {
        let loaded = load(name);
        let mut left_out = 0;
        for (choice, alone) in choices(&loaded, Algorithm::Guards, 60) {
            let taken: Vec<u32> =
                choice.enabled.iter().filter(|one| one.taken).filter_map(|one| one.transition).collect();
            if let Some(chosen) = choice.chosen {
                let closure = &choice.closures[chosen];
                let enabled = closure.members.iter().filter(|member| member.enabled);
                assert!(enabled.clone().all(|member| taken.contains(&member.transition)), "{name}: {choice:?}");
                assert_eq!(enabled.count(), taken.len(), "{name}: {choice:?}");
                let known = |member: u32| closure.members.iter().any(|other| other.transition == member);
                assert!(closure.members[1..].iter().all(|member| member.because_of.is_some_and(known)));
            }
            assert_eq!(
                choice.chosen.is_some(),
                taken.len() < choice.enabled.len() && choice.note.is_none(),
                "{choice:?}"
            );
            left_out += choice.enabled.len() - choice.enabled.iter().filter(|one| one.taken).count();
            // Who can be let go alone needs nobody else.
            assert!(alone.iter().all(|count| taken.len() <= *count), "{name}: {choice:?}");
        }
        assert!(left_out > 0, "{name}");
    }
}

#[test]
fn every_algorithm_tells_what_it_takes() {
    let loaded = load_text("byte g; active [3] proctype P() { byte x; x = 1; x = 2; g++ }");
    for algorithm in [Algorithm::Conflicting, Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional] {
        let mut told = 0;
        for (choice, _) in choices(&loaded, algorithm, 40) {
            let taken = choice.enabled.iter().filter(|one| one.taken).count();
            assert_eq!(taken == 0, choice.enabled.is_empty());
            told += usize::from(choice.chosen.is_some_and(|chosen| choice.closures[chosen].members.len() == taken));
        }
        assert!(told > 0, "{algorithm}");
    }
}

#[test]
fn a_state_is_found_by_moves_by_number_and_on_a_trace() {
    let file = model("philosophers_deadlock.pml");
    let by_number = text(&ample(&["reduce", "--state", "7"], &file));
    for part in
        ["after 4 moves: 1,1,2,1\n", "4 enabled, ", "left out", "How the set came about\n", "the set begins with it"]
    {
        assert!(by_number.contains(part), "{part}: {by_number}");
    }
    let by_moves = text(&ample(&["reduce", "--after", "1,1,2,1"], &file));
    assert_eq!(by_moves, by_number);

    let folder = Folder::new("trace");
    let trace = folder.0.join("trace.json");
    let path = trace.to_str().unwrap();
    ample(&["check", "--deadlock", "--trace", path], &file);
    let on_trace = json(&ample(&["reduce", "--json", "--trace", path, "--step", "4"], &file));
    let enabled = on_trace["choice"]["enabled"].as_array().unwrap();
    assert!(enabled.len() > 1 && enabled.iter().any(|one| one["taken"] == true));
    let at_its_end = text(&ample(&["reduce", "--trace", path], &file));
    assert!(at_its_end.contains("0 enabled, 0 taken\n  nothing is enabled\n"), "{at_its_end}");
    let other = ample(&["reduce", "--trace", path], &model("peterson.pml"));
    assert_eq!(other.status.code(), Some(2));
    assert!(errors(&other).contains("there is no run of"), "{}", errors(&other));
}

#[test]
fn a_disabled_member_tells_what_it_waits_for() {
    let folder = Folder::new("waits");
    let file = folder.file(
        "waits.pml",
        "bool go; byte x;
         active proctype A() { x = 1 }
         active proctype B() { go; x = 2 }
         active proctype C() { skip; skip; go = true }
         active proctype D() { byte y; y = 1; y = 2 }",
    );
    // All are where they begin.
    let text = text(&ample(&["reduce", "--after", "", "--json"], &file));
    let value: Value = serde_json::from_str(&text).unwrap();
    let reasons = value["choice"]["closures"].to_string();
    assert!(reasons.contains("the set begins with it"), "{reasons}");
    let loaded = load_text(&std::fs::read_to_string(&file).unwrap());
    // D has ended: A would disturb B, which waits for C.
    let point = Point::Moves(vec![1, 1, 1]);
    let (_, choice) =
        ample::reduce::choice(&loaded.system, &point, &ReduceOptions::default(), &Budget::unlimited()).unwrap();
    let told: Vec<&str> = choice.closures.iter().flat_map(|c| &c.members).map(|m| m.why.as_str()).collect();
    for part in ["both write x", "must get to location", "it may make `go` true, for which"] {
        assert!(told.iter().any(|why| why.contains(part)), "{part}: {told:#?}");
    }
}

#[test]
fn wrong_places_are_refused() {
    let file = model("peterson.pml");
    for (words, message) in [
        (["--after", "1,9"], "there is no move 9 at step 2: the moves are numbered 1 to 2"),
        (["--after", "0"], "they count from 1"),
        (["--state", "99999"], "there are 58 states, numbered from 0"),
        (["--trace", "nowhere.json"], "cannot read nowhere.json"),
        (["--step", "3"], "--trace"),
    ] {
        let output = ample(&["reduce", words[0], words[1]], &file);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(errors(&output).contains(message), "{words:?}: {}", errors(&output));
    }
    let folder = Folder::new("wrong");
    let wrong = folder.file("wrong.pml", "active proctype P() {\n  y = 1\n}");
    let output = ample(&["reduce", "--json"], &wrong);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(json(&output)["diagnostics"][0]["line"], 2);
}

#[test]
fn it_is_told_why_nothing_can_be_left_out() {
    let folder = Folder::new("last");
    let file = folder.file("last.pml", "byte x; active [2] proctype P() { x = _last }");
    let output = ample(&["reduce"], &file);
    assert_eq!(output.status.code(), Some(0));
    let expected = "nothing can be left out, because the model uses `_last`";
    assert!(text(&output).contains(expected), "{}", text(&output));
    let value = json(&ample(&["reduce", "--json"], &file));
    assert!(value["off"].as_str().unwrap().contains("`_last`") && value["whole"]["states"] == 11);
    let at_a_state = ample(&["reduce", "--after", ""], &file);
    assert!(text(&at_a_state).contains(expected), "{}", text(&at_a_state));
    let fault = folder.file("fault.pml", "byte x = 1 / 0; proctype Q() { x = 1 } active proctype P() { run Q() }");
    let output = ample(&["reduce"], &fault);
    assert!(output.status.code() != Some(101) && !errors(&output).contains("panicked"), "{}", errors(&output));
    let timeout = text(&ample(&["reduce"], &model("par_timeout.pml")));
    assert!(timeout.contains("waits for `timeout`"), "{timeout}");
}

#[test]
fn a_search_that_is_cut_says_so() {
    let output = ample(&["reduce", "--max-states", "1000"], &model("go_back_n.pml"));
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("(cut: it was to end after 1000 states)"), "{}", text(&output));
    let output = ample(&["reduce", "--time-limit", "0"], &model("go_back_n.pml"));
    assert_eq!(output.status.code(), Some(3));
    // There is no time even to read the model.
    assert!(errors(&output).contains("the time limit was reached"), "{}", errors(&output));
}

#[test]
fn dependency_relations_are_shown() {
    let pairs = |dependency: &str| {
        let output = ample(&["reduce", "--json", "--dependency", dependency], &model("producer_consumer_reduced.pml"));
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        json(&output)["dependent"].as_array().unwrap().clone()
    };
    assert_eq!(pairs("constant").len(), 1);
    assert_eq!(pairs("operation")[0]["when"], "always");
    assert_eq!(pairs("conditional")[0]["when"], "sometimes");
    let output =
        ample(&["reduce", "--explain", "--dependency", "conditional"], &model("producer_consumer_reduced.pml"));
    let text = text(&output);
    for part in [
        "conditional stubborn sets: in ",
        "conditional dependency: 1 of 1 pair of transitions of different processes are dependent, 1 of them only in some",
        "dependent in some states",
        "Who depends on whom: conditional dependency",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let refused = ["reduce", "--dependency", "constant", "--por-algorithm", "guards"];
    let output = ample(&refused, &model("producer_consumer_reduced.pml"));
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("--por-algorithm"), "{}", errors(&output));
}

#[test]
fn a_trace_automaton_is_printed_if_it_is_small() {
    let output = ample(&["reduce", "--traces", "--sleep-sets"], &model("producer_consumer_reduced.pml"));
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let text = text(&output);
    for part in ["digraph ", "start -> s0;", "s0 -> s1 [label=\"[", "producer(1): queue!1", "consumer(0): queue?_"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let output = ample(&["reduce", "--traces", "--max-states", "5"], &model("peterson.pml"));
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("more than 5 states"), "{}", errors(&output));
    let output = ample(&["reduce", "--traces", "--json"], &model("peterson.pml"));
    let report = json(&output);
    let steps = report["traces"]["steps"].as_array().unwrap();
    assert!(steps.len() + 1 >= report["traces"]["states"].as_array().unwrap().len());
}
