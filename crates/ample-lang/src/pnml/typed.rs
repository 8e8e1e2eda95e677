//! Formulas about a net as a user types them.
//!
//! The operators are those of [`ample_logic`], whose parser is used; read here are the atoms: comparisons of sums of
//! tokens, a place alone (it is marked), `fireable(t, u)`, `deadlock`. Names that are not made of letters, digits and
//! `_`, or that are operators, are written between quotation marks.

use ample_logic::{Atom, Binary, Dialect, ParseError, Unary, named_atom, parse_with};
use ample_model::{BinaryOp, Expr, Formula, Source, SourceId, Span, System};

use super::Names;
use super::atoms::{Atoms, Problem};
use super::tree::Tree;
use crate::diagnostic::{Diagnostic, Rejected};

/// Words that are operators even where a node has that name: it stands between quotation marks then.
const OPERATORS: [&str; 20] = [
    "A", "E", "G", "F", "X", "U", "W", "R", "V", "M", "AG", "AF", "AX", "EG", "EF", "EX", "xor", "true", "false",
    "deadlock",
];
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
    let tree = parse(system, names, text, Dialect::Plain)?;
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
pub fn ltl(system: &System, names: &Names, text: &str) -> Result<Formula, Rejected> {
    let tree = parse(system, names, text, Dialect::Plain)?;
    match (&tree, tree.is_ltl()) {
        (Tree::All(_), _) | (_, false) => {
            Err(whole(text, "formulas of linear time have no quantifiers, they are about all runs"))
        }
        _ => Ok(tree.formula()),
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
pub fn ctl(system: &System, names: &Names, text: &str) -> Result<Formula, Rejected> {
    // Brackets around an until are those of NuSMV.
    let has_brackets = text.replace("[]", "").contains('[');
    let tree = parse(system, names, text, if has_brackets { Dialect::Smv } else { Dialect::Plain })?;
    match tree.is_ctl() {
        true => Ok(tree.branching()),
        false => Err(whole(text, "in branching time each operator about runs stands right behind `A` or `E`")),
    }
}

/// A name as it is typed.
pub fn quoted(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name != "fireable"
        && !OPERATORS.contains(&name);
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

fn parse(system: &System, names: &Names, text: &str, dialect: Dialect) -> Result<Tree, Rejected> {
    let mut atoms = Atoms::new(system, names);
    let (spaced, added) = if dialect == Dialect::Plain { spaced(text) } else { (text.to_owned(), Vec::new()) };
    let mut known: Vec<(Expr, String)> = Vec::new();
    let mut help = None;
    let parsed = parse_with(&spaced, dialect, &mut |rest| {
        let mut scanner = Scanner { text: rest, at: 0, nesting: 0, dialect, atoms: &mut atoms };
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
        Ok(formula) => Ok(tree(&formula, &known)),
        Err(ParseError { offset, message }) => {
            let offset = offset - added.iter().filter(|at| **at < offset).count();
            let end = offset + text.get(offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            Err(rejected(text, offset.min(text.len()), end, message, help))
        }
    }
}

/// The text with a blank inside of `AG`, `EF` and the like, since the parser knows quantifiers and operators one by
/// one; and where blanks were added.
fn spaced(text: &str) -> (String, Vec<usize>) {
    let (mut out, mut added) = (String::with_capacity(text.len()), Vec::new());
    let mut in_quotes = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let word = &rest[..end.max(first.len_utf8())];
        match word {
            "\"" => in_quotes = !in_quotes,
            "AG" | "AF" | "AX" | "EG" | "EF" | "EX" if !in_quotes => {
                out.push_str(&word[..1]);
                added.push(out.len());
                out.push(' ');
                out.push_str(&word[1..]);
                rest = &rest[word.len()..];
                continue;
            }
            _ => {}
        }
        out.push_str(word);
        rest = &rest[word.len()..];
        // What is escaped inside of quotation marks does not end them.
        if word == "\\"
            && in_quotes
            && let Some(escaped) = rest.chars().next()
        {
            out.push(escaped);
            rest = &rest[escaped.len_utf8()..];
        }
    }
    (out, added)
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
    dialect: Dialect,
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
        match word {
            "deadlock" => {
                self.at += word.len();
                return self.atoms.deadlock().map(Some);
            }
            "true" | "false" => {
                self.at += word.len();
                return Ok(Some(Expr::Const((word == "true").into())));
            }
            "fireable" if self.text[word.len()..].trim_start().starts_with('(') => {
                self.at += word.len();
                return self.fireable().map(Some);
            }
            _ => {}
        }
        let begins = self.text.starts_with(|c: char| c.is_ascii_digit() || c == '"' || c == '(' || c == '-');
        if !begins && !self.is_place(word) {
            return self.no_place(word);
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

    /// A word that is no place: an operator, or a mistake.
    fn no_place(&mut self, word: &str) -> Result<Option<Expr>, Problem> {
        match named_atom(self.text, self.dialect) {
            Ok(Some(_)) if self.atoms.is_transition(word) => {
                let message = format!("`{word}` is a transition");
                Err(Problem { message, help: Some(format!("write `fireable({word})`")) })
            }
            Ok(Some(_)) if !OPERATORS.contains(&word) => self.atoms.tokens(&[word]).map(Some),
            _ => Ok(None),
        }
    }

    /// The word names a place without quotation marks.
    fn is_place(&self, word: &str) -> bool {
        self.atoms.is_place(word) && !OPERATORS.contains(&word)
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
                let is_known = self.is_place(word);
                if word.is_empty() || OPERATORS.contains(&word) || self.nesting > 0 && !is_known {
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
    Problem { message: message.to_owned(), help: None }
}
