//! Random Promela: processes with loops of steps of their own, of steps that others wait for, and of waiting.
//!
//! The variables are few and each is used by several processes, so that who enables a process and who disables it are often
//! different ones; but most processes have steps of their own too, so that there is something to be left out.

use std::fmt::Write;

use ample_random::Random;

const GLOBALS: &str = "bool a, b, c;\nbool d, e;\nbyte n;\nbyte o[4];\n";

/// What a model may contain.
struct Features {
    channels: bool,
    handshakes: bool,
    atomic: bool,
    otherwise: bool,
    timeout: bool,
    ends: bool,
    spawns: bool,
}

/// A random model with one formula, now and then with two.
pub fn model(random: &mut Random) -> String {
    let features = Features {
        channels: random.one_in(3),
        handshakes: random.one_in(4),
        atomic: random.one_in(3),
        otherwise: random.one_in(4),
        timeout: random.one_in(12),
        ends: random.one_in(3),
        spawns: random.one_in(12),
    };
    let mut text = GLOBALS.to_owned();
    if features.channels {
        let _ = writeln!(text, "chan q = [{}] of {{ bit }};", 1 + random.below(2));
    }
    if features.handshakes {
        text.push_str("chan r = [0] of { bit };\n");
    }
    if random.one_in(5) {
        return text + &contested(random, &features);
    }
    let names = ["P", "Q", "R", "S"];
    let count = 2 + random.below(3);
    for name in &names[..count] {
        let active = if features.spawns { "" } else { "active " };
        let mut body = Body { random, features: &features, local: false };
        let statements = body.process();
        let local = if body.local { "bit l; " } else { "" };
        let _ = writeln!(text, "{active}proctype {name}() {{ {local}{statements} }}");
    }
    if features.spawns {
        let runs = names[..count].iter().map(|name| format!("run {name}()")).collect::<Vec<_>>().join("; ");
        let _ = writeln!(text, "init {{ {} }}", if random.one_in(2) { format!("atomic {{ {runs} }}") } else { runs });
    }
    for number in 0..if random.one_in(6) { 2 } else { 1 } {
        let _ = writeln!(text, "ltl f{number} {{ {} }}", formula(random, 3));
    }
    text
}

/// Processes that change variables to and fro, and one that is disabled while several of these have the wrong values at
/// once: whether that happens depends on the order of independent steps.
fn contested(random: &mut Random, features: &Features) -> String {
    let mut text = String::new();
    let variables = ["a", "b", "c"];
    let count = 2 + random.below(2);
    let waits = random.below(count + 1);
    for place in 0..=count {
        let mut body = Body { random, features, local: false };
        let statements = if place == waits {
            let options = variables[..count].iter().map(|variable| {
                let is_wanted = body.random.one_in(4);
                format!(":: {}{variable} ", if is_wanted { "" } else { "!" })
            });
            let options: String = options.collect();
            format!("if {options}fi; {}", body.random.pick(&["d = true", "d = true; do :: e = !e od", "e = true"]))
        } else {
            let variable = variables[place - usize::from(place > waits)];
            let own: Vec<String> =
                (0..4).map(|_| if body.random.one_in(2) { body.own() + "; " } else { String::new() }).collect();
            let [first, second, third, fourth] = &own[..] else { unreachable!("four") };
            format!("do :: {first}{variable} = true; {second}{variable} = false; {third}{fourth} od")
                .replace(";  od", " od")
        };
        let local = if body.local { "bit l; " } else { "" };
        let _ = writeln!(text, "active proctype {}() {{ {local}{statements} }}", ["P", "Q", "R", "S"][place]);
    }
    let formula = random.pick(&["<> (d || e)", "<> d", "[] (!d && !e)", "<>[] (!d)", "!d U e"]);
    let _ = writeln!(text, "ltl f0 {{ {formula} }}");
    text
}

/// The body of a process under way.
struct Body<'a> {
    random: &'a mut Random,
    features: &'a Features,
    /// It has a variable of its own.
    local: bool,
}

impl Body<'_> {
    fn process(&mut self) -> String {
        match self.random.below(4) {
            0 | 1 => self.toggling(),
            2 => self.waiting(),
            _ => self.anything(),
        }
    }

    /// A loop in which something that others wait for changes to and fro, among steps that nobody else looks at.
    fn toggling(&mut self) -> String {
        let mut pairs = vec![
            ("a = true", "a = false"),
            ("b = true", "b = false"),
            ("c = true", "c = false"),
            ("a = !a", "a = !a"),
            ("atomic { n < 2 -> n++ }", "atomic { n > 0 -> n-- }"),
            ("n = 1", "n = 0"),
            ("e = true", "e = false"),
        ];
        if self.features.channels {
            pairs.extend([("q!0", "q?_"), ("q!1", "q?_")]);
        }
        if self.features.handshakes {
            pairs.extend([("r!0", "skip"), ("r?_", "skip"), ("r!1", "r!0")]);
        }
        let (there, back) = self.random.pick(&pairs);
        let mut steps = vec![there.to_owned()];
        for place in 0..3 {
            if place == 1 {
                steps.push(back.into());
            }
            if self.random.one_in(2) {
                let own = self.own();
                steps.push(own);
            }
        }
        if self.random.one_in(3) {
            steps.rotate_left(1);
        }
        format!("do :: {} od", steps.join("; "))
    }

    /// Waits for something, and says so.
    fn waiting(&mut self) -> String {
        let (guard, said) = (self.guard(), self.random.pick(&["d = true", "e = true", "d = !d"]));
        match self.random.below(6) {
            0 => format!("do :: {guard} -> {said}; {} od", self.own()),
            3 => format!("do :: {guard} -> {said} :: {} -> {said} od", self.guard()),
            4 | 5 => format!("if :: {guard} :: {} fi; {said}", self.guard()),
            1 => format!("{}; {guard} -> {said}", self.own()),
            _ => format!("{guard} -> {said}"),
        }
    }

    fn anything(&mut self) -> String {
        let mut text = String::new();
        if self.random.one_in(2) {
            text = self.sequence(1) + "; ";
        }
        if self.features.ends && self.random.one_in(3) {
            return text + &self.sequence(2);
        }
        text.push_str("do ");
        for _ in 0..1 + self.random.below(3) {
            let _ = write!(text, ":: {} ", self.sequence(3));
        }
        if self.features.otherwise && self.random.one_in(2) {
            let _ = write!(text, ":: else -> {} ", self.action());
        }
        if self.features.timeout && self.random.one_in(2) {
            let _ = write!(text, ":: timeout -> {} ", self.action());
        }
        if self.features.ends && self.random.one_in(2) {
            let _ = write!(text, ":: {} -> break ", self.guard());
        }
        text + "od"
    }

    fn sequence(&mut self, most: usize) -> String {
        let mut steps: Vec<String> = Vec::new();
        for _ in 0..1 + self.random.below(most) {
            let step = self.step();
            steps.push(step);
        }
        let text = steps.join("; ");
        if self.features.atomic && steps.len() > 1 && self.random.one_in(2) {
            format!("atomic {{ {text} }}")
        } else {
            text
        }
    }

    fn step(&mut self) -> String {
        match self.random.below(7) {
            0 | 1 => self.own(),
            2 | 3 => self.action(),
            4 | 5 => self.guard(),
            _ => format!("{} -> {}", self.guard(), self.action()),
        }
    }

    /// A step that nobody else looks at.
    fn own(&mut self) -> String {
        self.local = true;
        self.random.pick(&["l = 1 - l", "skip", "o[_pid % 4] = 1 - l", "l = 0"]).into()
    }

    fn action(&mut self) -> String {
        let mut actions = vec![
            "a = true",
            "a = false",
            "b = true",
            "b = false",
            "c = true",
            "c = false",
            "c = !c",
            "a = !a",
            "d = true",
            "e = true",
            "d = false",
            "e = !e",
            "n++",
            "n--",
            "n = 1",
            "n = 0",
        ];
        if self.features.channels {
            actions.extend(["q!0", "q!1", "q?0", "q?1", "q?_"]);
        }
        if self.features.handshakes {
            actions.extend(["r!0", "r!1", "r?0", "r?_", "r!0", "r?1"]);
        }
        let action = self.random.pick(&actions);
        match action {
            // It keeps to 0, 1 and 2.
            "n++" => "atomic { n < 2 -> n++ }".into(),
            "n--" => "atomic { n > 0 -> n-- }".into(),
            other => other.into(),
        }
    }

    fn guard(&mut self) -> String {
        let mut literals = vec!["a", "!a", "b", "!b", "c", "!c", "n > 0", "n < 2", "n == 1"];
        if self.features.channels {
            literals.extend(["nempty(q)", "nfull(q)", "empty(q)"]);
        }
        let one = self.random.pick(&literals);
        let other = self.random.pick(&literals);
        match self.random.below(4) {
            0 => format!("({one})"),
            1 | 2 if !one.contains('q') && !other.contains('q') => format!("({one} || {other})"),
            3 if !one.contains('q') && !other.contains('q') => format!("({one} && {other})"),
            _ => one.into(),
        }
    }
}

/// A formula without X, mostly about variables that few processes write.
fn formula(random: &mut Random, depth: usize) -> String {
    let atom = |random: &mut Random| random.pick(&["d", "e", "d", "e", "a", "(n == 2)", "!d", "!e", "(d && e)", "b"]);
    if depth == 0 {
        return atom(random).into();
    }
    let (x, y) = (atom(random), atom(random));
    match random.below(12) {
        0 => format!("<> {x}"),
        1 => format!("[]<> {x}"),
        2 => format!("<>[] {x}"),
        3 => format!("[] ({x} -> <> {y})"),
        4 => format!("({x} U {y})"),
        5 => format!("!([]<> {x} && []<> {y})"),
        6 => format!("[] {x}"),
        7 => format!("<> ({x} && <> {y})"),
        8 => format!("({}) || ({})", formula(random, depth - 1), formula(random, depth - 1)),
        9 => format!("({}) && ({})", formula(random, depth - 1), formula(random, depth - 1)),
        10 => format!("!({})", formula(random, depth - 1)),
        _ => format!("({}) U ({})", formula(random, depth - 1), formula(random, depth - 1)),
    }
}
