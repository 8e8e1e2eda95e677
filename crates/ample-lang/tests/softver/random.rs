//! Random SoftVer programs and formulas about them.

#![allow(dead_code)] // Not every test uses all of it.

use std::fmt::Write as _;

use ample_random::Random;

/// A program: its text, and the names that formulas may use.
pub struct Program {
    /// The text, without formulas.
    pub text: String,
    /// Conditions that a formula may be about.
    pub atoms: Vec<String>,
}

struct Writer<'r> {
    random: &'r mut Random,
    /// The names of the other processes.
    others: Vec<&'static str>,
    labels: usize,
}

const PROCESSES: [&str; 3] = ["P", "Q", "R"];

/// A program of so many processes; one of them is a sequential program. Integers have two bits, and an array has three
/// cells, so that a subscript may lie outside of it.
pub fn program(random: &mut Random, processes: usize) -> Program {
    let mut text = "#INTEGER_LENGTH# 2\n".to_owned();
    let mut atoms = Vec::new();
    for (number, name) in PROCESSES.iter().enumerate().take(processes) {
        let is_parallel = processes > 1;
        let prefix = if is_parallel { format!("{name}.") } else { String::new() };
        if is_parallel {
            writeln!(text, "process {name}").unwrap();
        }
        text.push_str(&declarations(random, is_parallel));
        let others = (0..processes).filter(|other| *other != number).map(|other| PROCESSES[other]).collect();
        let mut writer = Writer { random, others, labels: 0 };
        let body = writer.block(if is_parallel { 1 } else { 2 }, 1);
        let labels = writer.labels;
        writeln!(text, "{{ {body}}}").unwrap();
        for atom in ["x = 0", "x < y", "b", "a[1] >= y", "c = red", "a[x] = 1"] {
            let mut atom = atom.to_owned();
            for name in ["x", "y", "b", "a", "c"] {
                atom = qualified(&atom, name, &prefix);
            }
            atoms.push(atom);
        }
        atoms.extend((0..labels).map(|label| format!("label({prefix}l{label})")));
        atoms.push(format!("label({prefix}terminate)"));
    }
    Program { text, atoms }
}

/// The text with a prefix before a name of one letter that stands alone.
fn qualified(text: &str, name: &str, prefix: &str) -> String {
    let is_letter = |at: Option<char>| at.is_some_and(char::is_alphanumeric);
    let mut out = String::new();
    for (at, c) in text.char_indices() {
        let before = text[..at].chars().next_back();
        let after = text[at + c.len_utf8()..].chars().next();
        if c.to_string() == name && !is_letter(before) && before != Some('.') && !is_letter(after) {
            out.push_str(prefix);
        }
        out.push(c);
    }
    out
}

/// Variables, few of which may begin with any value.
fn declarations(random: &mut Random, is_parallel: bool) -> String {
    let mut out = String::new();
    let open = if is_parallel { 10 } else { 40 };
    for (declaration, values) in [
        ("int x", &["0", "3", "{0, 2}"][..]),
        ("int y", &["1", "2", "{1, 3}"]),
        ("boolean b", &["TRUE", "FALSE"]),
        ("int(1) n", &["0", "1"]),
        ("int a[3]", &["0", "2"]),
        ("enum {red, green, blue} c", &["green", "{red, blue}"]),
    ] {
        let may_be_open = !declaration.contains('[') && random.percent(open);
        match may_be_open {
            true => writeln!(out, "{declaration};").unwrap(),
            false => writeln!(out, "{declaration} = {};", random.pick(values)).unwrap(),
        }
    }
    out
}

impl Writer<'_> {
    /// Statements with blocks in them up to that depth, at least so many.
    fn block(&mut self, depth: usize, least: usize) -> String {
        let count = least + self.random.below(3_usize);
        (0..count).map(|_| format!("{}; ", self.statement(depth))).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        let kinds = if depth > 0 { 12 } else { 9 };
        match self.random.below(kinds) {
            0 if !self.others.is_empty() || self.random.one_in(2) => self.communication(),
            0 => "skip".into(),
            1 => {
                self.labels += 1;
                format!("label l{}", self.labels - 1)
            }
            2 => format!("{} := {}", self.random.pick(&["x", "y", "n"]), self.integer(2)),
            3 => format!("a[{}] := {}", self.subscript(), self.integer(1)),
            4 => format!("b := {}", self.condition(2)),
            5 => format!("c := {}", self.random.pick(&["red", "green", "blue", "c"])),
            6 => format!("{} := {{{}, {}}}", self.random.pick(&["x", "y"]), self.integer(1), self.integer(0)),
            7 => "b := {TRUE, FALSE}".into(),
            8 => format!("x := a[{}]", self.subscript()),
            9 => format!("while {} do {}od", self.condition(1), self.block(depth - 1, 0)),
            _ => {
                let (condition, first) = (self.condition(1), self.block(depth - 1, 0));
                format!("if {condition} then {first}else {}fi", self.block(depth - 1, 0))
            }
        }
    }

    fn communication(&mut self) -> String {
        if self.others.is_empty() {
            return "skip".into();
        }
        let other = self.random.pick(&self.others);
        match self.random.one_in(2) {
            true => format!("send({other}, {})", self.integer(1)),
            false => format!("receive({other}, {})", self.random.pick(&["x", "y", "n"])),
        }
    }

    /// A subscript: a cell that there is, or something that need not be one.
    fn subscript(&mut self) -> String {
        let variable = self.random.pick(&["x", "y", "n"]);
        match self.random.below(4) {
            0 => self.random.below(3_u8).to_string(),
            1 => variable.into(),
            2 => format!("{variable} + {}", self.integer(1)),
            _ => format!("a[{variable}] - 1"),
        }
    }

    fn integer(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(3) {
            return self.random.pick(&["0", "1", "2", "3", "x", "y", "n"]).into();
        }
        match self.random.below(4) {
            0 => format!("{} + {}", self.integer(depth - 1), self.integer(depth - 1)),
            1 => format!("{} - ({})", self.integer(depth - 1), self.integer(depth - 1)),
            2 => format!("-({})", self.integer(depth - 1)),
            _ => format!("a[{}]", self.random.pick(&["0", "1", "2", "x", "y", "n"])),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let comparison = self.random.pick(&["=", "!=", "<", "<=", ">", ">="]);
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(5) {
                0 => "b".into(),
                1 => format!("c {} red", self.random.pick(&["=", "!="])),
                _ => format!("{} {comparison} {}", self.integer(1), self.integer(0)),
            };
        }
        let (x, y) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.random.below(5) {
            0 => format!("!({x})"),
            1 => format!("({x}) = ({y})"),
            2 => format!("({x}) -> {y}"),
            3 => format!("({x}) || {y}"),
            _ => format!("({x}) && ({y})"),
        }
    }
}

/// A formula of computation tree logic over conditions; without X if `stutters`.
pub fn ctl(random: &mut Random, atoms: &[String], depth: usize, stutters: bool) -> String {
    if depth == 0 {
        return format!("({})", random.pick(atoms));
    }
    let mut f = || ctl(random, atoms, depth - 1, stutters);
    let (x, y) = (f(), f());
    match random.below(if stutters { 9 } else { 11 }) {
        0 => format!("!{x}"),
        1 => format!("({x} && {y})"),
        2 => format!("({x} -> {y})"),
        3 => format!("EF {x}"),
        4 => format!("AF {x}"),
        5 => format!("EG {x}"),
        6 => format!("AG {x}"),
        7 => format!("A [{x} U {y}]"),
        8 => format!("E [{x} U {y}]"),
        9 => format!("EX {x}"),
        _ => format!("AX {x}"),
    }
}
