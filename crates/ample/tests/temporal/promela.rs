//! Random Promela: small models with labels, and never claims for them.

use std::fmt::Write;

use ample_random::Random;

/// What stands before the processes. Every variable keeps to 0..=2.
const GLOBALS: &str = "byte x;\nbyte y = 1;\nbit b;\nchan q = [1] of { byte };\nchan r = [0] of { byte };\n";

/// A random model, without a claim.
pub fn model(random: &mut Random) -> String {
    let mut text = GLOBALS.to_owned();
    let (spawns, faults) = (random.one_in(3), random.one_in(3));
    for name in ["A", "B"] {
        let active = if spawns { "" } else { "active " };
        let instances = if !spawns && random.one_in(4) { "[2] " } else { "" };
        let _ = writeln!(text, "{active}{instances}proctype {name}() {{");
        Body { random, text: &mut text, labels: 0, faults }.body();
        text.push_str("}\n");
    }
    if spawns {
        let runs = random.pick(&["run A(); run B()", "atomic { run A(); run B() }", "run B(); b; run A()"]);
        let _ = writeln!(text, "init {{ {runs} }}");
    }
    text
}

/// The body of a process under way.
struct Body<'a> {
    random: &'a mut Random,
    text: &'a mut String,
    labels: usize,
    /// There may be statements that stop the run.
    faults: bool,
}

impl Body<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str("  ");
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        let kind = self.random.pick(&["accept", "progress", "progress", "end"]);
        format!("{kind}_{}: ", self.labels)
    }

    fn labelled(&mut self, statement: &str) -> String {
        if self.random.one_in(4) { format!("{}{statement}", self.label()) } else { statement.to_owned() }
    }

    fn body(&mut self) {
        if self.random.one_in(3) {
            let statement = self.statement();
            let line = self.labelled(&format!("{statement};"));
            self.line(&line);
        }
        let head = self.labelled("do");
        self.line(&head);
        for _ in 0..1 + self.random.below(3) {
            let option = self.option();
            self.line(&format!(":: {option}"));
        }
        if self.random.one_in(4) {
            let otherwise =
                self.random.pick(&["else -> skip", "else -> b = 1 - b", "else -> break", "timeout -> b = 0"]);
            self.line(&format!(":: {otherwise}"));
        }
        self.line("od;");
        let last = self.labelled("skip");
        self.line(&last);
    }

    fn option(&mut self) -> String {
        let guard = condition(self.random);
        let first = self.statement();
        let second = self.statement();
        let second = self.labelled(&second);
        match self.random.below(10) {
            0 => first,
            1 => format!("{first}; {second}"),
            2 => format!("{guard} -> {first}"),
            3 => format!("{guard} -> {first}; {second}"),
            4 => format!("atomic {{ {guard} -> {first}; {second} }}"),
            5 => format!("atomic {{ {first}; if :: {guard} -> {second} :: else fi }}"),
            6 => format!("d_step {{ {guard} -> x = (x + 1) % 3; b = 1 - b }}"),
            7 => format!("{guard} -> break"),
            8 => format!("atomic {{ {first}; do :: {guard} -> {second} :: else -> break od }}"),
            _ => format!("atomic {{ {first}; {second} }}; b = 1 - b"),
        }
    }

    fn statement(&mut self) -> String {
        if self.faults && self.random.one_in(12) {
            return "x = 2 / y".to_owned();
        }
        let statements = [
            "x = (x + 1) % 3",
            "x = 2 - x",
            "y = (y + 2) % 3",
            "y = x",
            "b = 1 - b",
            "b = 0",
            "skip",
            "q!x",
            "q?y",
            "q?x",
            "r!1",
            "r?x",
            "r!b",
            "r?y",
            "assert(x < 3)",
        ];
        self.random.pick(&statements).to_owned()
    }
}

fn condition(random: &mut Random) -> String {
    let conditions =
        ["x == 0", "x == 1", "x > 0", "x != y", "y == 2", "y < 2", "b", "!b", "len(q) == 0", "nempty(q)", "x + y > 1"];
    format!("({})", random.pick(&conditions))
}

/// A random claim of a few sections one after the other, with jumps between them.
pub fn claim(random: &mut Random) -> String {
    let sections = 1 + random.below(3);
    let labels: Vec<String> =
        (0..sections).map(|n| format!("{}_{n}", if random.one_in(2) { "accept" } else { "S" })).collect();
    let ends = random.one_in(4);
    let mut text = "never {\n".to_owned();
    for (number, label) in labels.iter().enumerate() {
        let last = number + 1 == sections;
        let repeats = random.one_in(2) || (last && !ends);
        let _ = writeln!(text, "{label}: {}", if repeats { "do" } else { "if" });
        for _ in 0..1 + random.below(3) {
            let condition = observation(random);
            let way = match random.below(4) {
                0 if repeats && (!last || ends) => " -> break".to_owned(),
                1 => String::new(),
                2 => format!(" -> {}", observation(random)),
                _ => format!(" -> goto {}", random.pick(&labels)),
            };
            let _ = writeln!(text, "  :: {condition}{way}");
        }
        if random.one_in(2) {
            let _ = writeln!(text, "  :: else -> goto {}", random.pick(&labels));
        }
        text.push_str(if repeats { "od;\n" } else { "fi;\n" });
    }
    text.push_str("}\n");
    text
}

/// A condition that a claim may ask.
fn observation(random: &mut Random) -> String {
    match random.below(8) {
        0 => "(1)".into(),
        1 => "(np_)".into(),
        2 => "(_nr_pr > 1)".into(),
        3 if random.one_in(4) => "(2 / x == 1)".into(),
        3 if random.one_in(4) => "(y > 0 && 2 / y == 1)".into(),
        _ => condition(random),
    }
}
