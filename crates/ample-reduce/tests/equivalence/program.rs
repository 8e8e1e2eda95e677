//! Random Promela programs: small values, local variables, arrays, records, channels with several fields.

use ample_random::Random;

struct Maker {
    random: Random,
    /// Atomic sequences and deterministic steps.
    has_atomic: bool,
    labels: usize,
    /// Nothing that others see.
    is_silent: bool,
}

/// The program of that seed, with a formula over its global variables.
pub fn text(seed: u64) -> String {
    let mut random = Random::new(seed);
    let has_atomic = random.one_in(3);
    let mut maker = Maker { random, has_atomic, labels: 0, is_silent: false };
    let processes: Vec<String> = (0..1 + maker.random.below(2)).map(|number| maker.process(number)).collect();
    let mut processes = processes;
    if maker.random.one_in(3) {
        maker.is_silent = true;
        processes.extend((8..9 + maker.random.below(2)).map(|number| maker.process(number)));
    }
    let capacity = maker.random.below(3);
    let asked = ["g == 1", "(g == 0 || h == 2)", "h < 2", "g + h == 2"][maker.random.below(4)];
    format!(
        "byte g, h, unused, s; chan c = [{capacity}] of {{ byte, byte, bit }};\ntypedef T {{ byte f; byte s[2] }}\n{}\n\
         ltl p {{ [] ({asked}) }}\n",
        processes.join("\n")
    )
}

const LOCALS: [&str; 7] = ["x", "y", "z", "a[0]", "a[1]", "t.f", "t.s[1]"];

impl Maker {
    fn process(&mut self, number: usize) -> String {
        let body = self.sequence(3);
        format!("active proctype P{number}() {{ byte x, y = 1, z; byte a[2]; T t; bit b;\n{body} }}")
    }

    fn sequence(&mut self, depth: u32) -> String {
        let count = 1 + self.random.below(4);
        (0..count).map(|_| self.statement(depth)).collect::<Vec<_>>().join(";\n")
    }

    fn local(&mut self) -> &'static str {
        LOCALS[self.random.below(LOCALS.len())]
    }

    fn value(&mut self) -> String {
        match self.random.below(8) {
            0 => self.random.below(3).to_string(),
            1 => "g".into(),
            2 => format!("({} + 1) % 3", self.local()),
            3 => format!("({} + {}) % 3", self.local(), self.local()),
            4 => "a[b]".into(),
            _ => self.local().into(),
        }
    }

    fn condition(&mut self) -> String {
        let left = self.local();
        let right = self.random.below(3);
        match self.random.below(6) {
            0 => format!("{left} == {right}"),
            1 => format!("{left} < {right}"),
            2 => format!("{left} != {}", self.local()),
            3 => format!("({left} > {right} && {} <= 1)", self.local()),
            4 if self.is_silent => format!("s == {right}"),
            4 => format!("g == {right}"),
            _ => format!("{left} >= {right}"),
        }
    }

    fn statement(&mut self, depth: u32) -> String {
        let kinds = if depth > 0 { 16 } else { 9 };
        match self.random.below(kinds) {
            0 if self.is_silent => format!("s = {}", self.local()),
            1..=3 | 5 if self.is_silent => format!("{} = {}", self.local(), self.random.below(3)),
            4 if self.random.one_in(4) => "(s != 1)".into(),
            0 => format!("g = {}", self.value()),
            1 => ["h = 1 - h % 2", "h = x % 3", "unused++", "unused = x"][self.random.below(4)].into(),
            2 => format!("c!{},{},{}", self.value(), self.local(), self.random.below(2)),
            3 => {
                let pattern = |maker: &mut Maker| match maker.random.below(4) {
                    0 => "_".to_owned(),
                    1 => maker.random.below(2).to_string(),
                    _ => maker.local().into(),
                };
                let (one, mut two) = (pattern(self), pattern(self));
                if one == two {
                    two = "_".into();
                }
                format!("c?{one},{two},{}", ["_", "b"][self.random.below(2)])
            }
            4 => "b = 1 - b".into(),
            5 if self.random.one_in(3) => format!("assert({} < 3)", self.local()),
            5..=8 => format!("{} = {}", self.local(), self.value()),
            9 | 10 => {
                let (condition, then, other) = (self.condition(), self.sequence(depth - 1), self.sequence(depth - 1));
                format!("if :: {condition} -> {then} :: else -> {other} fi")
            }
            11 => format!("if :: {} :: {} fi", self.sequence(depth - 1), self.sequence(depth - 1)),
            12 => {
                let (condition, body) = (self.condition(), self.sequence(depth - 1));
                format!("do :: {condition} -> {body} :: else -> break od")
            }
            13 => format!("do :: {} :: break od", self.sequence(depth - 1)),
            14 if self.has_atomic => format!("atomic {{ {} }}", self.sequence(depth - 1)),
            15 if self.has_atomic => {
                let (condition, local, value) = (self.condition(), self.local(), self.value());
                format!(
                    "d_step {{ if :: {condition} -> {local} = {value} :: else fi; {} = {} }}",
                    self.local(),
                    self.value()
                )
            }
            _ => {
                self.labels += 1;
                let (label, local, value) = (self.labels, self.local(), self.value());
                format!("L{label}: {local} = {value}")
            }
        }
    }
}
