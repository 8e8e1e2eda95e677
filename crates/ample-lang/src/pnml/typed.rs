//! Formulas about a net as a user types them.
//!
//! The operators are those of [`ample_logic`], whose parser is used; read here are the atoms: comparisons of sums of
//! tokens, a place alone (it is marked), `fireable(t, u)`, `deadlock`. Names that are not made of letters, digits and
//! `_` are written between quotation marks. A name of the net is that name, even if it begins like an operator; what
//! could be both is refused, and quotation marks say which is meant.

use ample_budget::Budget;
use ample_logic::{Atom, Binary, Dialect, ParseError, Reading, Unary, parse_with, reading};
use ample_model::{BinaryOp, Expr, Source, SourceId, Span, System, Temporal};

use super::Names;
use super::atoms::{Atoms, Problem};
use super::tree::Tree;
use crate::diagnostic::{Diagnostic, Rejected};
use crate::watch::Watch;

/// The notation of formulas.
const DIALECT: Dialect = Dialect::Plain;

/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";
/// Parentheses around numbers nest at most so deep.
const MAX_NESTING: usize = 100;

/// A condition on the marking of a net, as a user types it.
///
/// ```
/// use ample_lang::pnml;
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
///   <place id="p.1"/><place id="q"/><transition id="t"/><arc id="a" source="t" target="q"/></page></net></pnml>"#;
/// let net = pnml::read("n.pnml", text)?;
/// assert!(pnml::expression(&net.system, &net.names, r#""p.1" + q <= 3 && fireable(t)"#).is_ok());
/// assert!(pnml::expression(&net.system, &net.names, "r <= 3").is_err());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn expression(system: &System, names: &Names, text: &str) -> Result<Expr, Rejected> {
    let tree = parse(system, names, text)?;
    match tree.is_plain() {
        true => Ok(tree.expression()),
        false => Err(whole(text, "a condition has no operators about runs")),
    }
}

/// A formula of linear temporal logic about a net.
///
/// ```
/// use ample_lang::pnml;
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
///   <place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
/// let net = pnml::read("n.pnml", text)?;
/// assert!(pnml::ltl(&net.system, &net.names, "G (p -> X p >= 1)").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ltl(system: &System, names: &Names, text: &str) -> Result<Temporal, Rejected> {
    let tree = parse(system, names, text)?;
    match (&tree, tree.is_ltl()) {
        (Tree::All(_), _) | (_, false) => {
            Err(whole(text, "formulas of linear time have no quantifiers, they are about all runs"))
        }
        _ => Ok(tree.linear()),
    }
}

/// A formula of computation tree logic about a net.
///
/// ```
/// use ample_lang::pnml;
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
///   <place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
/// let net = pnml::read("n.pnml", text)?;
/// assert!(pnml::ctl(&net.system, &net.names, "AG EF fireable(t) & A [p < 2 U p = 2]").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ctl(system: &System, names: &Names, text: &str) -> Result<Temporal, Rejected> {
    let tree = parse(system, names, text)?;
    match tree.is_ctl() {
        true => Ok(tree.branching()),
        false => Err(whole(text, "in branching time each operator about runs stands right behind `A` or `E`")),
    }
}

/// A name as it is typed.
pub fn quoted(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !["deadlock", "fireable"].contains(&name)
        && DIALECT.word(name).is_none();
    match is_word {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn rejected(text: &str, from: usize, to: usize, message: String, help: Option<String>) -> Rejected {
    let span = Span { source: SourceId(0), start: from as u32, end: to as u32 };
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    Rejected::new(vec![source], vec![Diagnostic { help, ..Diagnostic::error(span, message) }])
}

fn whole(text: &str, message: &str) -> Rejected {
    rejected(text, 0, text.len(), message.to_owned(), None)
}

fn parse(system: &System, names: &Names, text: &str) -> Result<Tree, Rejected> {
    let budget = Budget::unlimited();
    let watch = Watch::new(&budget);
    let mut atoms = Atoms::new(system, names, &watch);
    let mut known: Vec<(Expr, String)> = Vec::new();
    let mut help = None;
    let parsed = parse_with(text, DIALECT, &mut |rest| {
        let mut scanner = Scanner { text: rest, at: 0, nesting: 0, atoms: &mut atoms };
        match scanner.atom() {
            Ok(None) => Ok(None),
            Ok(Some(expr)) => {
                let length = scanner.at;
                known.push((expr, rest[..length].to_owned()));
                Ok(Some((length, Atom(known.len() as u32 - 1))))
            }
            Err(problem) => {
                help = problem.help;
                Err(problem.message)
            }
        }
    });
    match parsed {
        Ok(formula) if formula.has_past() => {
            Err(rejected(text, 0, text.len(), "operators about the past are not supported".into(), help))
        }
        Ok(formula) => Ok(tree(&formula, &known)),
        Err(ParseError { offset, message }) => {
            let end = offset + text.get(offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            Err(rejected(text, offset.min(text.len()), end, message, help))
        }
    }
}

/// A formula of the logic with the atoms put in.
fn tree(formula: &ample_logic::Formula, atoms: &[(Expr, String)]) -> Tree {
    use ample_logic::Formula as F;
    let boxed = |f: &F| Box::new(tree(f, atoms));
    match formula {
        F::True => Tree::Const(true),
        F::False => Tree::Const(false),
        F::Atom(Atom(number)) => {
            let (expr, text) = atoms.get(*number as usize).cloned().unwrap_or((Expr::FALSE, String::new()));
            Tree::Atom(expr, text)
        }
        F::Unary(op, f) => match op {
            Unary::Not => Tree::Not(boxed(f)),
            Unary::Next => Tree::Next(boxed(f)),
            Unary::Finally => Tree::Finally(boxed(f)),
            Unary::Globally => Tree::Globally(boxed(f)),
            Unary::All => Tree::All(boxed(f)),
            Unary::Exists => Tree::Exists(boxed(f)),
            // Refused before.
            Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically => Tree::Const(false),
        },
        F::Binary(op, f, g) => match op {
            Binary::And => Tree::And(vec![tree(f, atoms), tree(g, atoms)]),
            Binary::Or => Tree::Or(vec![tree(f, atoms), tree(g, atoms)]),
            Binary::Implies => Tree::Implies(boxed(f), boxed(g)),
            Binary::Iff => Tree::Iff(boxed(f), boxed(g)),
            Binary::Xor => Tree::Not(Box::new(Tree::Iff(boxed(f), boxed(g)))),
            Binary::Until => Tree::Until(boxed(f), boxed(g)),
            Binary::WeakUntil => Tree::WeakUntil(boxed(f), boxed(g)),
            Binary::Release => Tree::Release(boxed(f), boxed(g)),
            // Refused before.
            Binary::Since | Binary::Triggered => Tree::Const(false),
            Binary::StrongRelease => {
                // g M f: the right side until both.
                let both = Tree::And(vec![tree(f, atoms), tree(g, atoms)]);
                Tree::Until(boxed(g), Box::new(both))
            }
        },
    }
}

/// Reads an atom at the beginning of a text.
struct Scanner<'t, 'a, 'n> {
    text: &'t str,
    at: usize,
    nesting: usize,
    atoms: &'a mut Atoms<'n>,
}

/// The comparisons, longer ones first.
const COMPARISONS: [(&str, BinaryOp); 9] = [
    ("<=", BinaryOp::LessEqual),
    (">=", BinaryOp::GreaterEqual),
    ("==", BinaryOp::Equal),
    ("!=", BinaryOp::NotEqual),
    ("≤", BinaryOp::LessEqual),
    ("≥", BinaryOp::GreaterEqual),
    ("<", BinaryOp::Less),
    (">", BinaryOp::Greater),
    ("=", BinaryOp::Equal),
];

impl<'t> Scanner<'t, '_, '_> {
    /// `None` if no atom begins here.
    fn atom(&mut self) -> Result<Option<Expr>, Problem> {
        let word = self.word();
        let called = self.text[word.len()..].trim_start().starts_with('(');
        match word {
            "deadlock" => return self.deadlock(called).map(Some),
            "fireable" if called => {
                self.at += word.len();
                return self.fireable().map(Some);
            }
            _ => {}
        }
        let begins = self.text.starts_with(|c: char| c.is_ascii_digit() || c == '"' || c == '(' || c == '-');
        if !begins {
            let is_declared = |name: &str| self.atoms.is_place(name) || self.atoms.is_transition(name);
            match reading(word, &self.text[word.len()..], DIALECT, &is_declared).map_err(|message| problem(&message))? {
                Reading::Name if self.atoms.is_place(word) => {}
                Reading::Name => return self.no_place(word),
                Reading::Operator => return Ok(None),
            }
        }
        let is_open = self.text.starts_with('(');
        let Some(left) = self.sum()? else { return Ok(None) };
        let after = self.at;
        match self.comparison() {
            Some(op) => match self.sum()? {
                Some(right) => Ok(Some(Expr::binary(op, left, right))),
                None => Err(problem("a comparison has a number on its right side, too")),
            },
            // A parenthesis around a formula.
            None if is_open => {
                self.at = 0;
                Ok(None)
            }
            // A number alone is a constant, or nothing.
            None if matches!(left, Expr::Const(_)) => {
                self.at = 0;
                Ok(None)
            }
            None => {
                self.at = after;
                Ok(Some(Expr::binary(BinaryOp::GreaterEqual, left, Expr::Const(1))))
            }
        }
    }

    /// A name that is no place.
    fn no_place(&mut self, word: &str) -> Result<Option<Expr>, Problem> {
        if word.is_empty() {
            return Ok(None);
        }
        if self.atoms.is_transition(word) {
            let message = format!("`{word}` is a transition");
            return Err(Problem { help: Some(format!("write `fireable({word})`")), ..Problem::new(message) });
        }
        self.atoms.tokens(&[word]).map(Some)
    }

    /// `deadlock`, or `deadlock()` where a place has that name.
    fn deadlock(&mut self, called: bool) -> Result<Expr, Problem> {
        let word = self.word();
        self.at += word.len();
        let after = self.rest().trim_start();
        let empty = after.strip_prefix('(').and_then(|inside| inside.trim_start().strip_prefix(')'));
        match empty.filter(|_| called) {
            Some(rest) => self.at = self.text.len() - rest.len(),
            None if self.atoms.is_place(word) => {
                let message = "`deadlock` says that nothing can fire, and is also the name of a place";
                let help = "write `\"deadlock\"` for the place, and `deadlock()` for the other".to_owned();
                return Err(Problem { help: Some(help), ..Problem::new(message) });
            }
            None => {}
        }
        self.atoms.deadlock()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The word here.
    fn word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    }

    fn comparison(&mut self) -> Option<BinaryOp> {
        self.skip_space();
        if self.rest().starts_with("<>") || self.rest().starts_with("<-") {
            return None;
        }
        let (sign, op) = COMPARISONS.iter().find(|(sign, _)| self.rest().starts_with(sign))?;
        // `=>` is no comparison.
        if *sign == "=" && self.rest().starts_with("=>") {
            return None;
        }
        self.at += sign.len();
        Some(*op)
    }

    /// Numbers, added and subtracted. `None` if there is none.
    fn sum(&mut self) -> Result<Option<Expr>, Problem> {
        let Some(mut sum) = self.product()? else { return Ok(None) };
        loop {
            let before = self.at;
            self.skip_space();
            let op = match self.rest().chars().next() {
                Some('+') => BinaryOp::Add,
                Some('-') if !self.rest().starts_with("->") => BinaryOp::Subtract,
                _ => {
                    self.at = before;
                    return Ok(Some(sum));
                }
            };
            self.at += 1;
            let Some(more) = self.product()? else { return Err(problem("expected a number or a place")) };
            self.atoms.spend(1)?;
            sum = Expr::binary(op, sum, more);
        }
    }

    /// A number, a place, or one times the other.
    fn product(&mut self) -> Result<Option<Expr>, Problem> {
        let Some(first) = self.operand()? else { return Ok(None) };
        let before = self.at;
        self.skip_space();
        if !self.rest().starts_with('*') {
            self.at = before;
            return Ok(Some(first));
        }
        self.at += 1;
        let Some(second) = self.operand()? else { return Err(problem("expected a number or a place")) };
        match (&first, &second) {
            (Expr::Const(_), _) | (_, Expr::Const(_)) => Ok(Some(Expr::binary(BinaryOp::Multiply, first, second))),
            _ => Err(problem("tokens can be multiplied by numbers only")),
        }
    }

    fn operand(&mut self) -> Result<Option<Expr>, Problem> {
        self.skip_space();
        match self.rest().chars().next() {
            Some('(') => self.enclosed(),
            Some('"') => {
                let name = self.name()?;
                self.atoms.tokens(&[&name]).map(Some)
            }
            Some('-') if !self.rest().starts_with("->") => {
                self.at += 1;
                let digits = self.word();
                let Some(number) = self.number(digits)? else { return Ok(None) };
                Ok(Some(Expr::Const(-number)))
            }
            Some(_) => {
                let word = self.word();
                if let Some(number) = self.number(word)? {
                    return Ok(Some(Expr::Const(number)));
                }
                if word.is_empty() || self.nesting > 0 && !self.atoms.is_place(word) {
                    return Ok(None);
                }
                let tokens = self.atoms.tokens(&[word])?;
                self.at += word.len();
                Ok(Some(tokens))
            }
            None => Ok(None),
        }
    }

    fn number(&mut self, word: &str) -> Result<Option<i64>, Problem> {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && self.atoms.is_place(word) {
            let message = format!("`{word}` is a number, and also the name of a place");
            let help = format!("write `\"{word}\"` for the place, and `0{word}` for the number");
            return Err(Problem { help: Some(help), ..Problem::new(message) });
        }
        if !word.starts_with(|c: char| c.is_ascii_digit()) || self.atoms.is_place(word) {
            return Ok(None);
        }
        let number = word.parse::<i64>().ok().filter(|number| *number <= i64::MAX / 4);
        let number = number.ok_or_else(|| problem(&format!("`{word}` is not a number, or too large")))?;
        self.at += word.len();
        Ok(Some(number))
    }

    /// A sum in parentheses; `None` if it is something else that stands there.
    fn enclosed(&mut self) -> Result<Option<Expr>, Problem> {
        if self.nesting >= MAX_NESTING {
            return Err(problem("the parentheses are nested too deeply"));
        }
        let start = self.at;
        self.at += 1;
        self.nesting += 1;
        let inner = self.sum();
        self.nesting -= 1;
        self.skip_space();
        match inner {
            Ok(Some(sum)) if self.rest().starts_with(')') => {
                self.at += 1;
                Ok(Some(sum))
            }
            _ => {
                self.at = start;
                Ok(None)
            }
        }
    }

    fn fireable(&mut self) -> Result<Expr, Problem> {
        self.skip_space();
        self.at += 1;
        let mut names = Vec::new();
        loop {
            names.push(self.name()?);
            self.skip_space();
            let next = self.rest().chars().next();
            self.at += next.map_or(0, char::len_utf8);
            match next {
                Some(',') => {}
                Some(')') => break,
                _ => return Err(problem("expected `,` or `)` after the name of a transition")),
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.atoms.fireable(&names)
    }

    /// A name, perhaps between quotation marks.
    fn name(&mut self) -> Result<String, Problem> {
        self.skip_space();
        if !self.rest().starts_with('"') {
            let word = self.word();
            self.at += word.len();
            return if word.is_empty() { Err(problem("expected a name")) } else { Ok(word.to_owned()) };
        }
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.at += at + 1;
                    return Ok(name);
                }
                '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => name.push(character),
            }
        }
        Err(problem("this quotation mark has no partner"))
    }
}

fn problem(message: &str) -> Problem {
    Problem::new(message)
}
