//! The Hanoi omega-automata format, version 1, for generalised Büchi automata.
//!
//! Written are the header items that tools expect, labels as sums of products, and acceptance on states or on edges.
//! Read is all of the format that has a meaning here: labels on edges, on states or implicit, aliases, acceptance on
//! states or edges, several initial states. Refused, with the place and the reason, are alternation and acceptance
//! conditions other than a conjunction of `Inf`. See <http://adl.github.io/hoaf/>.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use crate::automaton::{Automaton, Cube, Edge};
use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::formula::Atoms;

/// Why a text is not an automaton in the HOA format that can be read here, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct HoaError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The byte in the text, from 0.
    pub offset: usize,
    /// What was expected there, or what cannot be read.
    pub message: String,
}

/// Writes an automaton.
///
/// ```
/// use ample_logic::{Atoms, Dialect, Options, hoa, parse, translate};
/// let mut atoms = Atoms::new();
/// let f = parse("G F a", Dialect::Plain, &mut atoms)?;
/// let automaton = translate(&f, &atoms, Options::default())?;
/// let text = hoa::write(&automaton, "G F a");
/// assert_eq!(hoa::read(&text, &mut atoms)?, automaton);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(automaton: &Automaton, name: &str) -> String {
    let mut text = String::from("HOA: v1\n");
    // writing to a string cannot fail
    let _ = write_header(automaton, name, &mut text).and_then(|()| write_body(automaton, &mut text));
    text
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

fn write_header(a: &Automaton, name: &str, out: &mut String) -> std::fmt::Result {
    if !name.is_empty() {
        writeln!(out, "name: {}", quote(name))?;
    }
    writeln!(out, "States: {}\nStart: {}", a.states, a.initial)?;
    write!(out, "AP: {}", a.atoms.len())?;
    for name in &a.names {
        write!(out, " {}", quote(name))?;
    }
    let acceptance = match a.sets {
        0 => "all".to_owned(),
        1 => "Buchi".to_owned(),
        n => format!("generalized-Buchi {n}"),
    };
    let infinitely: Vec<String> = (0..a.sets).map(|i| format!("Inf({i})")).collect();
    let condition = if a.sets == 0 { "t".to_owned() } else { infinitely.join("&") };
    writeln!(out, "\nacc-name: {acceptance}\nAcceptance: {} {condition}", a.sets)?;
    write!(out, "properties: trans-labels explicit-labels {}", if a.state_based { "state-acc" } else { "trans-acc" })?;
    if a.is_deterministic() {
        write!(out, " deterministic")?;
    }
    if a.is_complete() {
        write!(out, " complete")?;
    }
    writeln!(out)
}

fn write_body(a: &Automaton, out: &mut String) -> std::fmt::Result {
    writeln!(out, "--BODY--")?;
    for q in 0..a.states {
        writeln!(out, "State: {q}{}", if a.is_accepting(q) { " {0}" } else { "" })?;
        for e in a.successors(q) {
            let cubes: Vec<String> = e.label.iter().map(|c| write_cube(*c)).collect();
            write!(out, "[{}] {}", cubes.join(" | "), e.to)?;
            if !a.state_based && e.marks != 0 {
                let marks: Vec<String> = (0..a.sets).filter(|i| e.marks >> i & 1 == 1).map(|i| i.to_string()).collect();
                write!(out, " {{{}}}", marks.join(" "))?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out, "--END--")
}

fn write_cube(cube: Cube) -> String {
    let literal = |i: u32| match (cube.positive >> i & 1, cube.negative >> i & 1) {
        (1, _) => Some(i.to_string()),
        (_, 1) => Some(format!("!{i}")),
        _ => None,
    };
    let literals: Vec<String> = (0..64).filter_map(literal).collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}

/// Reads one automaton; its propositions become atoms of these names.
pub fn read(text: &str, atoms: &mut Atoms) -> Result<Automaton, HoaError> {
    let mut reader =
        Reader { tokens: tokens(text)?, at: 0, text, bdds: Bdds::new(), aliases: HashMap::new(), names: None };
    reader.automaton(atoms)
}

/// Where the names of the atomic propositions stand in the text of an automaton, their quotation marks included.
///
/// ```
/// let text = "HOA: v1 States: 1 Start: 0 AP: 2 \"a\" \"x > 3\" Acceptance: 0 t --BODY-- State: 0 [t] 0 --END--";
/// let places = ample_logic::hoa::propositions(text);
/// assert_eq!(&text[places[1].clone()], "\"x > 3\"");
/// ```
pub fn propositions(text: &str) -> Vec<Range<usize>> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let list = tokens.iter().skip_while(|(_, token)| *token != Token::Header("AP".to_owned())).skip(2);
    let names = list.take_while(|(_, token)| matches!(token, Token::Text(_)));
    names.filter_map(|(start, _)| Some(*start..start + string(&text[*start..])?.0)).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// `name:`
    Header(String),
    Word(String),
    Alias(String),
    Number(usize),
    Text(String),
    Symbol(char),
    /// `--BODY--` and the like.
    Mark(String),
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Header(name) => write!(f, "`{name}:`"),
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Alias(name) => write!(f, "`@{name}`"),
            Token::Number(n) => write!(f, "`{n}`"),
            Token::Text(text) => write!(f, "{text:?}"),
            Token::Symbol(c) => write!(f, "`{c}`"),
            Token::Mark(mark) => write!(f, "`--{mark}--`"),
            Token::End => write!(f, "the end of the text"),
        }
    }
}

fn error_at<T>(text: &str, offset: usize, message: impl Into<String>) -> Result<T, HoaError> {
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    Err(HoaError { line, column: before[start..].chars().count() + 1, offset, message: message.into() })
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, HoaError> {
    let mut result = Vec::new();
    let mut at = 0;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        let word = &rest[..rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())];
        let token = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let Some(end) = rest.find("*/") else { return error_at(text, at, "this comment does not end") };
                at += end + 2;
                continue;
            }
            '"' => {
                let (length, string) = match string(rest) {
                    Some(found) => found,
                    None => return error_at(text, at, "this string does not end"),
                };
                at += length;
                Token::Text(string)
            }
            '-' if rest.starts_with("--") => match rest[2..].find("--") {
                Some(end) if rest[2..2 + end].chars().all(|c| c.is_ascii_uppercase()) => {
                    at += end + 4;
                    Token::Mark(rest[2..2 + end].to_owned())
                }
                _ => return error_at(text, at, "expected `--BODY--`, `--END--` or `--ABORT--`"),
            },
            '@' => {
                let name = &rest[1..1 + rest[1..].find(|c: char| !is_word(c)).unwrap_or(rest.len() - 1)];
                at += 1 + name.len();
                Token::Alias(name.to_owned())
            }
            '0'..='9' => {
                let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
                at += digits.len();
                match digits.parse::<u32>() {
                    Ok(n) if n <= i32::MAX as u32 => Token::Number(n as usize),
                    _ => return error_at(text, start, "this number is too large"),
                }
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                at += word.len();
                match text[at..].starts_with(':') {
                    true => {
                        at += 1;
                        Token::Header(word.to_owned())
                    }
                    false => Token::Word(word.to_owned()),
                }
            }
            '(' | ')' | '[' | ']' | '{' | '}' | '!' | '&' | '|' => {
                at += 1;
                Token::Symbol(c)
            }
            _ => return error_at(text, at, format!("unexpected character `{c}`")),
        };
        result.push((start, token));
    }
    result.push((text.len(), Token::End));
    Ok(result)
}

/// The string literal at the beginning of `rest`: its length and what it says.
fn string(rest: &str) -> Option<(usize, String)> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((at + 1, value)),
            '\\' => value.push(chars.next()?.1),
            _ => value.push(c),
        }
    }
    None
}

struct Reader<'a> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    text: &'a str,
    bdds: Bdds,
    aliases: HashMap<String, Bdd>,
    names: Option<Vec<String>>,
}

/// Labels are expressions that may nest this deep.
const MAX_DEPTH: usize = 500;

/// More states than this are not believed.
const MAX_STATES: usize = 10_000_000;

impl Reader<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, HoaError> {
        error_at(self.text, self.tokens[self.at].0, message)
    }

    fn expected<T>(&self, what: &str) -> Result<T, HoaError> {
        self.fail(format!("expected {what}, found {}", self.peek()))
    }

    fn eat(&mut self, symbol: char) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), HoaError> {
        if self.eat(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    fn number(&mut self, what: &str) -> Result<usize, HoaError> {
        let &Token::Number(n) = self.peek() else { return self.expected(what) };
        self.take();
        Ok(n)
    }

    fn automaton(&mut self, atoms: &mut Atoms) -> Result<Automaton, HoaError> {
        if *self.peek() != Token::Header("HOA".to_owned()) {
            return self.expected("`HOA: v1`");
        }
        self.take();
        if *self.peek() != Token::Word("v1".to_owned()) {
            return self.expected("version `v1`");
        }
        self.take();
        let mut header = Head::default();
        while let Token::Header(name) = self.peek().clone() {
            self.take();
            self.header_item(&name, &mut header)?;
        }
        if *self.peek() != Token::Mark("BODY".to_owned()) {
            return self.expected("a header item or `--BODY--`");
        }
        let Some(sets) = header.sets else { return self.fail("the header has no `Acceptance:`") };
        self.take();
        self.body(header, sets, atoms)
    }

    fn header_item(&mut self, name: &str, head: &mut Head) -> Result<(), HoaError> {
        match name {
            "States" => {
                head.states = Some(self.number("the number of states")?);
                if head.states > Some(MAX_STATES) {
                    return self.fail("there are too many states");
                }
            }
            "Start" => {
                head.start.push(self.number("an initial state")?);
                if *self.peek() == Token::Symbol('&') {
                    return self.fail("alternating automata (several initial states at once) cannot be read");
                }
            }
            "AP" => {
                let count = self.number("the number of atomic propositions")?;
                let mut names = Vec::new();
                while let Token::Text(name) = self.peek().clone() {
                    if names.contains(&name) {
                        return self.fail("this atomic proposition is listed twice");
                    }
                    self.take();
                    names.push(name);
                }
                if names.len() != count {
                    return self.fail(format!("expected {count} atomic propositions, found {}", names.len()));
                }
                if count > 64 {
                    return self.fail("there are more than 64 atomic propositions");
                }
                self.names = Some(names);
            }
            "Alias" => {
                let Token::Alias(name) = self.peek().clone() else { return self.expected("an alias, `@` and a name") };
                self.take();
                let value = self.disjunction(0)?;
                self.aliases.insert(name, value);
            }
            "Acceptance" => {
                let sets = self.number("the number of acceptance sets")?;
                if sets > 32 {
                    return self.fail("there are more than 32 acceptance sets");
                }
                head.sets = Some(sets as u32);
                self.acceptance(sets)?;
            }
            "properties" => {
                while let Token::Word(word) = self.peek().clone() {
                    self.take();
                    head.state_based |= word == "state-acc";
                }
            }
            _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                return self.fail(format!("the header item `{name}:` is not known and cannot be ignored"));
            }
            _ => {
                while !matches!(self.peek(), Token::Header(_) | Token::Mark(_) | Token::End) {
                    self.take();
                }
            }
        }
        Ok(())
    }

    /// `t`, or all of `Inf(0)`, `Inf(1)`, … joined by `&`.
    fn acceptance(&mut self, sets: usize) -> Result<(), HoaError> {
        let refuse = "only generalised Büchi acceptance, a conjunction of `Inf(…)`, can be read";
        if sets == 0 && *self.peek() == Token::Word("t".to_owned()) {
            self.take();
            return Ok(());
        }
        let (mut seen, mut open) = (vec![false; sets], 0);
        loop {
            while self.eat('(') {
                open += 1;
            }
            if *self.peek() != Token::Word("Inf".to_owned()) {
                return self.fail(refuse);
            }
            self.take();
            self.expect('(')?;
            if *self.peek() == Token::Symbol('!') {
                return self.fail(refuse);
            }
            let set = self.number("an acceptance set")?;
            match seen.get_mut(set) {
                Some(seen) => *seen = true,
                None => return self.fail(format!("there is no acceptance set {set}")),
            }
            self.expect(')')?;
            while open > 0 && self.eat(')') {
                open -= 1;
            }
            if !self.eat('&') {
                break;
            }
        }
        if open > 0 || matches!(self.peek(), Token::Symbol(_)) {
            return self.fail(refuse);
        }
        match seen.iter().position(|s| !s) {
            Some(set) => self.fail(format!("acceptance set {set} is not used in the acceptance condition")),
            None => Ok(()),
        }
    }

    fn disjunction(&mut self, depth: usize) -> Result<Bdd, HoaError> {
        let mut any = self.conjunction(depth)?;
        while self.eat('|') {
            let next = self.conjunction(depth)?;
            any = self.bdds.or(any, next);
        }
        Ok(any)
    }

    fn conjunction(&mut self, depth: usize) -> Result<Bdd, HoaError> {
        let mut all = self.factor(depth)?;
        while self.eat('&') {
            let next = self.factor(depth)?;
            all = self.bdds.and(all, next);
        }
        Ok(all)
    }

    fn factor(&mut self, depth: usize) -> Result<Bdd, HoaError> {
        if depth > MAX_DEPTH {
            return self.fail("the label is nested too deeply");
        }
        match self.peek().clone() {
            Token::Symbol('!') => {
                self.take();
                let f = self.factor(depth + 1)?;
                return Ok(self.bdds.not(f));
            }
            Token::Symbol('(') => {
                self.take();
                let f = self.disjunction(depth + 1)?;
                self.expect(')')?;
                return Ok(f);
            }
            _ => {}
        }
        let value = match self.peek().clone() {
            Token::Word(word) if word == "t" => TRUE,
            Token::Word(word) if word == "f" => FALSE,
            // aliases may come before the list of propositions
            Token::Number(n) if n < self.names.as_ref().map_or(64, Vec::len) => self.bdds.literal(n as u32, true),
            Token::Number(n) => return self.fail(format!("there is no atomic proposition {n}")),
            Token::Alias(name) => match self.aliases.get(&name) {
                Some(&value) => value,
                None => return self.fail(format!("the alias `@{name}` is not defined")),
            },
            _ => return self.expected("a label expression"),
        };
        self.take();
        Ok(value)
    }

    fn marks(&mut self, sets: u32) -> Result<Option<u32>, HoaError> {
        if !self.eat('{') {
            return Ok(None);
        }
        let mut marks = 0;
        while !self.eat('}') {
            let set = self.number("an acceptance set or `}`")?;
            if set >= sets as usize {
                return self.fail(format!("there is no acceptance set {set}"));
            }
            marks |= 1 << set;
        }
        Ok(Some(marks))
    }

    fn label(&mut self) -> Result<Option<Bdd>, HoaError> {
        if !self.eat('[') {
            return Ok(None);
        }
        let label = self.disjunction(0)?;
        self.expect(']')?;
        Ok(Some(label))
    }

    fn body(&mut self, head: Head, sets: u32, atoms: &mut Atoms) -> Result<Automaton, HoaError> {
        let names = self.names.get_or_insert_default().clone();
        let mut edges: Vec<(usize, Bdd, usize, u32)> = Vec::new();
        let mut on_edges = false;
        let mut on_states = false;
        let mut highest = head.start.iter().copied().max().map_or(0, |q| q + 1).max(head.states.unwrap_or(0));
        while *self.peek() == Token::Header("State".to_owned()) {
            self.take();
            let state_label = self.label()?;
            let from = self.number("a state")?;
            if let Token::Text(_) = self.peek() {
                self.take();
            }
            let state_marks = self.marks(sets)?;
            on_states |= state_marks.is_some();
            highest = highest.max(from + 1);
            let mut implicit = 0u64;
            while matches!(self.peek(), Token::Symbol('[') | Token::Number(_)) {
                let place = self.at;
                let label = match (self.label()?, state_label) {
                    (Some(label), None) | (None, Some(label)) => label,
                    (Some(_), Some(_)) => return self.fail("there are labels on a state and on its edges"),
                    (None, None) => self.implicit_label(&mut implicit, names.len())?,
                };
                let to = self.number("a state")?;
                if *self.peek() == Token::Symbol('&') {
                    return self.fail("alternating automata (edges to several states at once) cannot be read");
                }
                let own = self.marks(sets)?;
                on_edges |= own.is_some();
                highest = highest.max(to + 1);
                if highest > head.states.unwrap_or(MAX_STATES) {
                    self.at = place;
                    return self.fail("this state number is too large");
                }
                if label != FALSE {
                    edges.push((from, label, to, own.unwrap_or(0) | state_marks.unwrap_or(0)));
                }
            }
        }
        match self.peek() {
            Token::Mark(mark) if mark == "END" => {}
            Token::Mark(mark) if mark == "ABORT" => return self.fail("the automaton was aborted by its writer"),
            _ => return self.expected("`State:`, an edge or `--END--`"),
        }
        if highest > head.states.unwrap_or(MAX_STATES) {
            return self.fail("a state number is too large");
        }
        let state_based = sets == 1 && !on_edges && (head.state_based || on_states);
        let (states, initial) = self.starts(&head.start, highest, &mut edges, state_based);
        edges.sort_by_key(|e| e.0);
        let mut result = Vec::with_capacity(edges.len());
        for (from, label, to, marks) in edges {
            let cubes = self.bdds.cubes(label).into_iter().map(|literals| {
                literals.into_iter().fold(Cube::TRUE, |mut cube, (var, sign)| {
                    *(if sign { &mut cube.positive } else { &mut cube.negative }) |= 1 << var;
                    cube
                })
            });
            result.push(Edge { from, label: cubes.collect(), to, marks });
        }
        let atoms = names.iter().map(|name| atoms.intern(name)).collect();
        let automaton = Automaton { states, initial, edges: result, sets, state_based, atoms, names };
        automaton.check().or_else(|e| self.fail(e.to_string()))?;
        Ok(automaton)
    }

    /// One initial state for several: a new one with the edges of them all.
    fn starts(
        &self,
        start: &[usize],
        states: usize,
        edges: &mut Vec<(usize, Bdd, usize, u32)>,
        state_based: bool,
    ) -> (usize, usize) {
        match start[..] {
            [initial] => (states, initial),
            // without an initial state nothing is accepted
            [] => (states + 1, states),
            _ => {
                let copies: Vec<_> = edges.iter().filter(|e| start.contains(&e.0)).copied().collect();
                // it is visited once: its acceptance does not matter, but must be uniform if it belongs to states
                edges.extend(copies.into_iter().map(|e| (states, e.1, e.2, if state_based { 0 } else { e.3 })));
                (states + 1, states)
            }
        }
    }

    /// The valuation that an edge without a label stands for: the next one in binary order.
    fn implicit_label(&mut self, next: &mut u64, atoms: usize) -> Result<Bdd, HoaError> {
        if atoms >= 32 || *next >> atoms != 0 {
            return self.fail("there are more edges without labels than valuations");
        }
        let mut label = TRUE;
        for i in (0..atoms as u32).rev() {
            let literal = self.bdds.literal(i, *next >> i & 1 == 1);
            label = self.bdds.and(literal, label);
        }
        *next += 1;
        Ok(label)
    }
}

/// What the header says.
#[derive(Default)]
struct Head {
    states: Option<usize>,
    start: Vec<usize>,
    sets: Option<u32>,
    state_based: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semantics::Lasso;

    #[test]
    fn every_kind_of_label_is_read() {
        let text = r#"HOA: v1 /* comment */
            States: 2 Start: 0 acc-name: Buchi Acceptance: 1 Inf(0) AP: 2 "a" "b"
            Alias: @c 0 & !1
            --BODY--
            State: 0 "first" [@c | (1 & !0)] 1 [t] 0
            State: [0] 1 {0} 1
            --END--"#;
        let a = read(text, &mut Atoms::new()).expect("valid");
        assert!(a.state_based && a.is_accepting(1) && !a.is_accepting(0));
        assert!(a.accepts(&Lasso { prefix: vec![0b10], cycle: vec![0b01] }));
        assert!(!a.accepts(&Lasso { prefix: vec![], cycle: vec![0b11, 0b10] }));
        let implicit = r#"HOA: v1 Start: 0 Start: 1 Acceptance: 1 Inf(0) AP: 1 "a" --BODY--
            State: 0 0 0 {0} State: 1 1 {0} 1 --END--"#;
        let a = read(implicit, &mut Atoms::new()).expect("valid");
        assert!(a.accepts(&Lasso { prefix: vec![], cycle: vec![0, 1] }));
        assert_eq!(a.states, 3);
    }

    #[test]
    fn errors_name_the_place() {
        let cases = [
            ("HOA: v2", "line 1, column 6: expected version `v1`, found `v2`"),
            (
                "HOA: v1\nAcceptance: 1 Fin(0)",
                "line 2, column 15: only generalised Büchi acceptance, a conjunction of `Inf(…)`, can be read",
            ),
            (
                "HOA: v1\nAcceptance: 0 t\nStart: 0&1",
                "line 3, column 9: alternating automata (several initial states at once) cannot be read",
            ),
            (
                "HOA: v1 Acceptance: 0 t --BODY-- State: 0 [0] 0 --END--",
                "line 1, column 44: there is no atomic proposition 0",
            ),
            ("HOA: v1 Acceptance: 0 t --BODY-- State: 0 {1}", "line 1, column 45: there is no acceptance set 1"),
            (
                "HOA: v1 Acceptance: 0 t States: 1 Start: 0 --BODY-- State: 0 [t] 1 --END--",
                "line 1, column 62: this state number is too large",
            ),
            ("HOA: v1 \"", "line 1, column 9: this string does not end"),
        ];
        for (text, message) in cases {
            match read(text, &mut Atoms::new()) {
                Err(e) => assert_eq!(e.to_string(), message),
                Ok(a) => panic!("{text} was read as {a:?}"),
            }
        }
    }
}
