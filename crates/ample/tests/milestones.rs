//! Milestones models from text to answer: the thesis's examples with its figures, and what the language promises.

use ample::{CheckOptions, Property, Question, System, Verdict};

const RUNNING: &str = "
ACTION Gpp; GE0; xExMy; END
VARIABLE g:1:=0; END
LOCAL A
  ACTION Xpp; Zpp; END
  VARIABLE pc:2:=0; x:1:=0; z:1:=0; END
  CASE
    [0][Xpp] true: pc:=1; x:=x+1;
    [1][Zpp] true: pc:=2; z:=z+1;
    [2][xExMy] true:
  END
  SYNC xExMy; END
END
LOCAL B
  ACTION Ypp; YE0; END
  VARIABLE pc:1:=0; y:1:=0; END
  CASE
    [0][Ypp] g==0: pc:=1; y:=y+1;
    [1][YE0] g==0: pc:=0; y:=0;
    [1][xExMy] true:
  END
  SYNC xExMy; END
END
GLOBAL
  PROC a: A[1]; b: B[1]; END
  CASE
    [Gpp] a[0].pc==2 & b[0].pc==1 & g==0: g:=g+1;
    [GE0] a[0].pc==2 & b[0].pc==1 & g==1: g:=0;
    [xExMy] a[0].pc==2 & b[0].pc==1:
  END
END
CTL AG EF (g == 1); END
LTL F(G g == 1); END
";

fn model(text: &str) -> System {
    match ample::load_text("model.mil", text.into(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn states(system: &System) -> u64 {
    ample::states(system, &CheckOptions::default()).statistics.states
}

fn verdict(system: &System, property: Property) -> Verdict {
    let id = property.id();
    let options = CheckOptions { properties: Some(vec![property]), ..CheckOptions::default() };
    ample::check(system, &options).answer(&id).expect("it was asked").verdict()
}

fn ctl(system: &System, text: &str) -> Verdict {
    let question = Question::Ctl(ample::ctl(system, text).expect(text));
    verdict(system, Property { name: "asked".into(), question, text: text.into(), span: None })
}

fn ltl(system: &System, text: &str) -> Verdict {
    let question = Question::Ltl(ample::ltl(system, text).expect(text));
    verdict(system, Property { name: "asked".into(), question, text: text.into(), span: None })
}

fn invariant(system: &System, text: &str) -> Verdict {
    let question = Question::Invariant(ample::expression(system, text).expect(text));
    verdict(system, Property { name: "asked".into(), question, text: text.into(), span: None })
}

/// A model of globals only, with one action.
fn globals(variables: &str, commands: &str) -> System {
    model(&format!("ACTION go; END VARIABLE {variables} END MAIN CASE {commands} END END"))
}

#[test]
fn the_running_example_has_seven_states_and_its_formulas_their_verdicts() {
    let system = model(RUNNING);
    assert_eq!(states(&system), 7);
    let report = ample::check(&system, &CheckOptions::default());
    for (property, expected) in [
        ("deadlock", Verdict::Holds),
        ("assertions", Verdict::Holds),
        ("ctl:ctl1", Verdict::Holds),
        ("ltl:ltl1", Verdict::Violated),
    ] {
        assert_eq!(report.answer(property).expect(property).verdict(), expected, "{property}");
    }
    let trace = report.answer("ltl:ltl1").and_then(ample::Answer::trace).expect("a run shows it");
    assert_eq!(trace.cycle.iter().map(|step| step.text.as_str()).collect::<Vec<_>>(), ["Gpp", "GE0"]);
}

#[test]
fn formulas_beside_the_model_are_in_its_language() {
    let system = model(RUNNING);
    for (text, expected) in [
        ("AG EF g = 1", Verdict::Holds),
        ("AG (a.pc == 2 => EX g != 1)", Verdict::Holds),
        ("AG (a.pc == 2 => AX g != 1)", Verdict::Violated),
        ("A[g == 0 U a[0].pc == 2]", Verdict::Violated),
        ("E(g == 0 U a[0].pc == 2 & b.pc == 1)", Verdict::Holds),
        ("EX a[0].x == 1 & EX b[0].y == 1 & !EX g == 1", Verdict::Holds),
    ] {
        assert_eq!(ctl(&system, text), expected, "{text}");
    }
    for (text, expected) in [
        ("F(G g == 1)", Verdict::Violated),
        ("g == 0 W (a.pc == 2 & b.pc == 1)", Verdict::Holds),
        ("g == 0 W a.pc == 2 & b.pc == 1", Verdict::Violated),
        ("(g == 1) R (a.x <= 1)", Verdict::Holds),
        ("GF a.pc == 2", Verdict::Violated),
        ("[] (g == 1 -> a.pc == 2)", Verdict::Holds),
    ] {
        assert_eq!(ltl(&system, text), expected, "{text}");
    }
    assert_eq!(invariant(&system, "g == 1 -> a.pc == 2 & b.pc == 1"), Verdict::Holds);
    assert_eq!(invariant(&system, "a.x + b.y < 2"), Verdict::Holds, "a sum of bits is a bit");
    assert_eq!(invariant(&system, "!(a.x = 1 && b.y = 1)"), Verdict::Violated);
    assert!(ample::ltl(&system, "AG g == 1").is_err());
    assert!(ample::ctl(&system, "AG F g == 1").is_err());
    assert!(ample::expression(&system, "G g == 1").is_err());
}

#[test]
fn arithmetic_is_modulo_the_width_of_the_widest_operand() {
    // x and y as in the thesis: 2·3 + 12 is 18, which is 2 modulo 16.
    for (value, expected) in [
        ("2*x+y", 2),
        ("x+1", 0),
        ("x-y", 7),
        ("0-x", 1),
        ("y*y", 0),
        ("y+x*5", 11),
        ("y/x", 4),
        ("y%5", 2),
        ("(y+x+1)/2", 0),
        ("z*z", 1),
        ("z*z*z*z*2", 2),
        ("z+1", 0),
        ("z/2*3", 4_294_967_295_u64 / 2 * 3 % (1 << 32)),
        ("3+1", 4),
        ("x+16", 19),
    ] {
        let text = format!("[go] r == 0 & d == 0: r := {value}; d := 1;");
        let system = globals("x:2:=3; y:4:=12; z:32:=4294967295; r:32:=0; d:1:=0;", &text);
        let claim =
            format!("EF (d == 1 & r == {expected}) & AG (d == 1 -> r == {expected}) & EF {value} == {expected}");
        assert_eq!(ctl(&system, &claim), Verdict::Holds, "{value}");
    }
}

#[test]
fn a_target_keeps_the_low_bits() {
    let system = globals("x:2:=0; y:4:=13;", "[go] x == 0: x := y;");
    assert_eq!(ctl(&system, "AX x == 1"), Verdict::Holds);
}

#[test]
fn division_by_zero_is_a_fault() {
    let system = globals("x:2:=0; y:4:=13;", "[go] true: y := y / x;");
    assert_eq!(verdict(&system, Property::assertions()), Verdict::Violated);
    let system = globals("x:2:=0; y:4:=13;", "[go] x != 0 & y % x == 1: y := 0;");
    assert_eq!(verdict(&system, Property::assertions()), Verdict::Holds);
}

#[test]
fn assignments_of_a_command_happen_at_once() {
    let system = globals("x:4:=1; y:4:=2; z:4:=3;", "[go] true: x := y; y := z + 0; z := x;");
    assert_eq!(states(&system), 3);
    assert_eq!(ctl(&system, "AX (x == 2 & y == 3 & z == 1 & AX (x == 3 & y == 1 & z == 2))"), Verdict::Holds);
    let system = globals("x:4:=1; y:4:=2;", "[go] true: y := x; x := y;");
    assert_eq!(ctl(&system, "AX (x == 2 & y == 1 & AX (x == 1 & y == 2))"), Verdict::Holds);
    // Without a circle there is an order, and no variable is added.
    let system = globals("x:4:=1; y:4:=2;", "[go] true: y := x + y; x := x + 1;");
    assert_eq!(system.globals.len(), 2);
    assert_eq!(ctl(&system, "AX (x == 2 & y == 3 & AX (x == 3 & y == 5))"), Verdict::Holds);
}

#[test]
fn a_variable_without_a_first_value_has_every_value() {
    let system = globals("x:2; y:3; z:1:=0;", "[go] false:");
    assert_eq!(states(&system), 32);
    assert_eq!(ctl(&system, "x == 0"), Verdict::Violated);
    assert_eq!(ctl(&system, "z == 0 & x <= 3"), Verdict::Holds);
    let text = "LOCAL P VARIABLE pc:2; END END MAIN PROC p: P[3]; END END";
    assert_eq!(states(&model(text)), 64);
}

/// Three processes meet in `go`; the third waits for a guard of its own.
fn meeting(sync: &str, third: &str, global: &str) -> System {
    model(&format!(
        "ACTION go; END VARIABLE g:1:=0; END
         LOCAL P ACTION step; END VARIABLE pc:1:=0; n:2:=0; END
           CASE [0][step] true: pc := 1; [1][go] true: pc := 0; n := n + 1; END SYNC {sync} END END
         LOCAL Q ACTION a; END VARIABLE pc:1:=0; n:2:=0; END
           CASE [0][go] {third}: n := n + 1; END SYNC go; END END
         MAIN PROC p: P[2]; q: Q[1]; END CASE {global} END END"
    ))
}

#[test]
fn a_global_action_needs_a_global_command_and_every_process_that_lists_it() {
    let all = meeting("go;", "true", "[go] g == 0: g := 1;");
    // (0,0), (1,0), (0,1), (1,1), and the four after the rendez-vous.
    assert_eq!(states(&all), 8);
    assert_eq!(invariant(&all, "g == 0 -> q.n == 0 & p[0].n == 0 & p[1].n == 0"), Verdict::Holds);
    assert_eq!(invariant(&all, "g == 1 -> q.n == 1 & p[0].n == 1 & p[1].n == 1"), Verdict::Holds);
    assert_eq!(ctl(&all, "!E[p[0].pc == 0 | p[1].pc == 0 U g == 1 & q.n == 0]"), Verdict::Holds);
    assert_eq!(ctl(&all, "EF g == 1"), Verdict::Holds);

    let blocked_by_a_process = meeting("go;", "n == 1", "[go] g == 0: g := 1;");
    assert_eq!(ctl(&blocked_by_a_process, "AG g == 0"), Verdict::Holds);
    assert_eq!(verdict(&blocked_by_a_process, Property::deadlock()), Verdict::Violated);

    let blocked_by_the_global_guard = meeting("go;", "true", "[go] g == 1: g := 0;");
    assert_eq!(ctl(&blocked_by_the_global_guard, "AG q.n == 0"), Verdict::Holds);

    let without_a_global_command = meeting("go;", "true", "");
    assert_eq!(ctl(&without_a_global_command, "AG q.n == 0"), Verdict::Holds);

    // Who does not list it does not take part, and is not waited for.
    let alone = meeting("", "true", "[go] g == 0: g := 1;");
    assert_eq!(ctl(&alone, "EX (g == 1 & q.n == 1 & p[0].n == 0)"), Verdict::Holds);
}

#[test]
fn commands_for_one_action_that_are_enabled_together_are_choices() {
    let text = |second: &str| {
        format!(
            "ACTION go; END VARIABLE g:3:=0; END
             LOCAL P VARIABLE pc:2:=0; END
               CASE [0][go] true: pc := 1; [0][go] {second}: pc := 2; [1][go] true: pc := 0; END SYNC go; END END
             MAIN PROC p: P[2]; END CASE [go] g < 4: g := g + 1; [go] g == 0: g := 7; END END"
        )
    };
    let both = model(&text("true"));
    for pair in ["p[0].pc == 1 & p[1].pc == 1", "p[0].pc == 1 & p[1].pc == 2", "p[0].pc == 2 & p[1].pc == 2"] {
        assert_eq!(ctl(&both, &format!("EX (g == 1 & {pair}) & EX (g == 7 & {pair})")), Verdict::Holds, "{pair}");
    }
    let one = model(&text("pc != 0"));
    assert_eq!(ctl(&one, "AG p[0].pc != 2 & EX p[0].pc == 1"), Verdict::Holds);
}

/// Producers and consumers with their semaphores, as far as the thesis's figures tell (table 7.9).
fn producers_and_consumers(m: usize) -> String {
    let local =
        |first: usize| (0..8).map(move |i| format!("[{i}][w{i}] true: pc := {};", i + first)).collect::<String>();
    let process = |name: &str, start: usize, own: &str, sync: [&str; 4]| {
        let [take, enter, leave, give] = sync;
        format!(
            "LOCAL {name} ACTION w0;w1;w2;w3;w4;w5;w6;w7;{own}; END VARIABLE pc:4:={start}; END CASE {}
               [8][{take}] true: pc := 9; [9][{enter}] true: pc := 10; [10][{own}] true: pc := 11;
               [11][{leave}] true: pc := 12; [12][{give}] true: pc := 0; END
             SYNC {take};{enter};{leave};{give}; END END\n",
            local(1)
        )
    };
    format!(
        "ACTION pE;pMp;vMp;vF;pF;pMc;vMc;vE; END VARIABLE empty:3:=6; full:3:=0; mutex:1:=1; buffer:3:=0; END
         {}{}GLOBAL PROC c: Cons[{m}]; p: Prod[{m}]; END CASE
           [pE] empty>0: empty:=empty-1;  [pMp] mutex==1: mutex:=0; buffer:=buffer+1;
           [vMp] true: mutex:=1;          [vF] true: full:=full+1;
           [pF] full>0: full:=full-1;     [pMc] mutex==1: mutex:=0; buffer:=buffer-1;
           [vMc] true: mutex:=1;          [vE] true: empty:=empty+1; END END
         LTL P1: G buffer = 0; P2: G F buffer > 1; END",
        process("Cons", 8, "take", ["pF", "pMc", "vMc", "vE"]),
        process("Prod", 0, "put", ["pE", "pMp", "vMp", "vF"]),
    )
}

#[test]
fn producers_and_consumers_have_as_many_states_as_in_the_thesis() {
    for (m, expected) in [(1, 1_059), (2, 51_859)] {
        let system = model(&producers_and_consumers(m));
        assert_eq!(states(&system), expected, "m = {m}");
        let report = ample::check(&system, &CheckOptions::default());
        assert_eq!(report.answer("deadlock").expect("asked").verdict(), Verdict::Holds);
        for property in ["ltl:P1", "ltl:P2"] {
            assert_eq!(report.answer(property).expect(property).verdict(), Verdict::Violated, "m = {m}: {property}");
        }
    }
}

#[test]
fn the_language_is_known_by_extension_and_by_content() {
    let load = |name: &str, text: &str| {
        let loaded = ample::load_text(name, text.into(), &Default::default());
        loaded.map(|loaded| loaded.system.language)
    };
    for name in ["m.mil", "m.milestones", "m.ms", "m.MIL", "m.txt", "m"] {
        assert_eq!(load(name, RUNNING).expect(name), "milestones", "{name}");
    }
    for name in ["m.pml", "m.txt", "m"] {
        assert_eq!(load(name, "init { skip }").expect(name), "promela", "{name}");
    }
    assert!(load("m.pml", RUNNING).is_err());
    assert!(load("m.mil", "init { skip }").is_err());
    let options = ample::LoadOptions { defines: vec![("N".into(), "3".into())], ..Default::default() };
    let loaded = ample::load_text("m.mil", RUNNING.into(), &options).expect("macros are not forbidden");
    assert_eq!(loaded.warnings[0].message, "the macro `N` is not used: Milestones has no macros");
}
