//! `PSLSPEC`: the formulas of PSL (IEEE 1850) that NuSMV 2.6 checks, as formulas of linear or branching time.
//!
//! From the loosest: `always never G forall`, then `-> <->` (to the left), then the operators before an operand (`next`,
//! `eventually!`, `X`, `F`, and those with path quantifiers), then `until before` (to the left), then the operators on truth
//! values. A weak operator differs from a strong one on finite runs only, of which there are none. Sequences (`{a; b} |-> c`)
//! are refused, as NuSMV does.

use ample_model::Span;

use super::super::ast::{Binary, Chain, Infix, Item, Kind, Logic, Node, Prefix, Quantifier, Specification, Unary};
use super::super::lexer;
use super::{Parse, Parser, TEMPORAL, prefix_of};
use crate::diagnostic::Diagnostic;

/// A `forall` may stand for so many formulas.
const MAX_VALUES: i64 = 1000;

impl Parser<'_> {
    /// `PSLSPEC always a;`
    pub(super) fn psl_specification(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let start = self.take().span;
        let mut name = None;
        if self.eat("NAME") {
            name = Some(self.declared_name("a specification")?);
            self.expect(":=")?;
        }
        let formula = self.psl()?;
        let span = self.since(start);
        self.expect(";")?;
        let logic = if branches(&formula) { Logic::Ctl } else { Logic::Ltl };
        items.push(Item::Specification(Specification { logic, name, formulas: vec![formula], context: None, span }));
        Ok(())
    }

    fn psl(&mut self) -> Parse<Node> {
        self.nested(|parser| {
            let start = parser.peek().span;
            match parser.word() {
                Some("always" | "G") => {
                    parser.take();
                    let inner = parser.psl()?;
                    Ok(parser.prefixed(Prefix::Globally, inner, start))
                }
                Some("never") => {
                    parser.take();
                    let inner = parser.psl()?;
                    let not = parser.negated(inner);
                    Ok(parser.prefixed(Prefix::Globally, not, start))
                }
                Some("forall") => parser.psl_forall(),
                _ => parser.psl_implication(),
            }
        })
    }

    /// `forall i in {0 : 3} : a[i]`, which is a conjunction.
    fn psl_forall(&mut self) -> Parse<Node> {
        let start = self.take().span;
        let name = self.name("a variable")?;
        self.expect("in")?;
        self.expect("{")?;
        let mut values = Vec::new();
        loop {
            let span = self.peek().span;
            let first = self.integer()?;
            let last = if self.eat(":") { self.integer()? } else { first };
            if !(first..first + MAX_VALUES).contains(&last) {
                return Err(Diagnostic::error(span, format!("expected at most {MAX_VALUES} values, the least first")));
            }
            values.extend(first..=last);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        self.expect(":")?;
        let (body, mut parts) = (self.next, Vec::new());
        for value in values {
            self.next = body;
            self.bound.push((name.text.clone(), value));
            let part = self.psl();
            self.bound.pop();
            parts.push(part?);
        }
        Ok(Node { kind: Kind::Chain(Chain::And, parts), span: self.since(start) })
    }

    fn psl_implication(&mut self) -> Parse<Node> {
        let mut left = self.psl_prefix()?;
        let mut count = 0;
        loop {
            let op = match () {
                () if self.eat("->") => Binary::Implies,
                () if self.eat("<->") => Binary::Iff,
                () => return Ok(left),
            };
            self.count(&mut count)?;
            let right = self.psl_prefix()?;
            left = self.two(op, left, right);
        }
    }

    /// `next`, `eventually!` and the like before an operand.
    fn psl_prefix(&mut self) -> Parse<Node> {
        let start = self.peek().span;
        let word = self.word().unwrap_or_default();
        match word {
            "always" | "never" | "G" | "forall" => self.psl(),
            "next" | "X" | "next_a" | "next_e" => {
                self.take();
                self.eat_strong();
                let (from, to) = self.psl_steps(word)?;
                let inner = self.nested(Self::psl_prefix)?;
                let op = if word == "next_e" { Chain::Or } else { Chain::And };
                Ok(self.after(from, to, op, inner, start))
            }
            "eventually" | "F" => {
                self.take();
                if word == "eventually" && !self.eat_strong() {
                    return Err(self.expected("`eventually!`"));
                }
                let inner = self.nested(Self::psl_prefix)?;
                Ok(self.prefixed(Prefix::Finally, inner, start))
            }
            _ => match prefix_of(word) {
                Some((Some(quantifier), prefix, false)) => {
                    self.take();
                    let inner = Box::new(self.nested(Self::psl_prefix)?);
                    Ok(Node { kind: Kind::Quantified(quantifier, prefix, None, inner), span: self.since(start) })
                }
                _ => self.psl_until(),
            },
        }
    }

    /// `[2]`, or `[1 : 3]` after `next_a` and `next_e`: how many steps it is about.
    fn psl_steps(&mut self, word: &str) -> Parse<(u32, u32)> {
        let span = self.peek().span;
        if !self.at("[") {
            return if matches!(word, "next" | "X") { Ok((1, 1)) } else { Err(self.expected("`[`")) };
        }
        self.take();
        let from = self.integer()?;
        let to = if self.eat(":") { self.integer()? } else { from };
        self.expect("]")?;
        match (u32::try_from(from), u32::try_from(to)) {
            (Ok(from), Ok(to)) if from <= to && i64::from(to) <= MAX_VALUES => Ok((from, to)),
            _ => Err(Diagnostic::error(span, "the bounds must be numbers of steps, the least first")),
        }
    }

    /// A `!` right behind the word before it: the operator is the strong one.
    fn eat_strong(&mut self) -> bool {
        let is_close = self.next > 0 && self.tokens[self.next - 1].span.end == self.peek().span.start;
        is_close && self.eat("!")
    }

    fn psl_until(&mut self) -> Parse<Node> {
        let mut left = self.psl_or()?;
        if self.eat("?") {
            let then = self.psl_or()?;
            self.expect(":")?;
            let otherwise = self.nested(Self::psl_until)?;
            let span = self.since(left.span);
            return Ok(Node { kind: Kind::Conditional(Box::new(left), Box::new(then), Box::new(otherwise)), span });
        }
        let mut count = 0;
        while let Some(word @ ("until" | "until_" | "before" | "before_")) = self.word() {
            self.count(&mut count)?;
            self.take();
            let is_strong = self.eat_strong();
            let is_inclusive = word.ends_with('_') || is_strong && self.eat("_");
            let right = match self.word() {
                Some("next" | "X" | "F" | "eventually" | "next_a" | "next_e") => self.psl_prefix()?,
                _ => self.psl_or()?,
            };
            left = if word.starts_with("until") {
                let end = if is_inclusive { self.all(vec![left.clone(), right]) } else { right };
                self.held_until(left, end, is_strong)
            } else {
                let not = self.negated(right);
                let end = if is_inclusive { left } else { self.all(vec![left, not.clone()]) };
                self.held_until(not, end, is_strong)
            };
        }
        Ok(left)
    }

    fn psl_or(&mut self) -> Parse<Node> {
        let mut left = self.psl_and()?;
        let mut count = 0;
        loop {
            let op = match self.word() {
                Some("xor") => Some(Binary::Xor),
                Some("xnor") => Some(Binary::Xnor),
                _ if self.at("|") => None,
                _ => return Ok(left),
            };
            self.count(&mut count)?;
            self.take();
            if op.is_none() {
                self.eat("|");
            }
            let right = self.psl_and()?;
            left = match op {
                Some(op) => self.two(op, left, right),
                None => self.chained(Chain::Or, left, right),
            };
        }
    }

    fn psl_and(&mut self) -> Parse<Node> {
        let mut left = self.psl_operand()?;
        while self.eat("&") {
            self.eat("&");
            let right = self.psl_operand()?;
            left = self.chained(Chain::And, left, right);
        }
        Ok(left)
    }

    fn psl_operand(&mut self) -> Parse<Node> {
        let start = self.peek().span;
        if matches!(self.word(), Some("forall")) {
            return self.psl();
        }
        if self.word().is_some_and(|word| matches!(word, "A" | "E")) {
            let quantifier = if self.at("A") { Quantifier::All } else { Quantifier::Exists };
            self.take();
            return self.until(quantifier, start);
        }
        if self.eat("[") {
            let left = self.psl()?;
            let is_strong = self.eat("U");
            if !is_strong {
                self.expect("W")?;
            }
            let right = self.psl()?;
            self.expect("]")?;
            return Ok(self.held_until(left, right, is_strong));
        }
        if self.at("{") {
            return Err(Diagnostic::error(start, "sequences of PSL are not supported")
                .with_help("write the property with `next` and `until`, or as `LTLSPEC`"));
        }
        if self.eat("!") {
            let inner = self.nested(Self::psl_operand)?;
            return Ok(Node { kind: Kind::Unary(Unary::Not, Box::new(inner)), span: self.since(start) });
        }
        if self.at("(") {
            let before = self.next;
            self.take();
            let inner = self.psl();
            let is_whole = inner.is_ok() && self.eat(")") && !self.begins_operation();
            match inner {
                Ok(inner) if is_whole => return Ok(Node { kind: inner.kind, span: self.since(start) }),
                // What is in brackets is an operand of a comparison.
                _ => self.next = before,
            }
        }
        self.binary(TEMPORAL + 1)
    }

    /// Whether an operator on numbers or words comes next.
    fn begins_operation(&self) -> bool {
        match self.peek().kind {
            lexer::Kind::Sign(sign) => {
                !matches!(sign, ")" | "]" | "}" | ";" | ":" | "," | "&" | "|" | "->" | "<->" | "?")
            }
            lexer::Kind::Word => matches!(self.word(), Some("mod" | "in" | "union")),
            _ => false,
        }
    }

    fn prefixed(&self, prefix: Prefix, inner: Node, start: Span) -> Node {
        Node { kind: Kind::Prefix(prefix, None, Box::new(inner)), span: self.since(start) }
    }

    fn negated(&self, inner: Node) -> Node {
        let span = inner.span;
        Node { kind: Kind::Unary(Unary::Not, Box::new(inner)), span }
    }

    fn all(&self, parts: Vec<Node>) -> Node {
        let span = parts[0].span;
        Node { kind: Kind::Chain(Chain::And, parts), span }
    }

    /// The operand after so many steps: at all, or one, from the first to the second number of them.
    fn after(&self, from: u32, to: u32, op: Chain, inner: Node, start: Span) -> Node {
        let next = |node| self.prefixed(Prefix::Next, node, start);
        let mut formula = inner.clone();
        for _ in from..to {
            let parts = vec![inner.clone(), next(formula)];
            formula = Node { kind: Kind::Chain(op, parts), span: start };
        }
        (0..from).fold(formula, |formula, _| next(formula))
    }

    /// `a U b`, or `a W b`, which is `b V (a | b)`.
    fn held_until(&self, left: Node, right: Node, is_strong: bool) -> Node {
        let span = self.since(left.span);
        if is_strong {
            return Node { kind: Kind::Infix(Infix::Until, Box::new(left), Box::new(right)), span };
        }
        let either = Node { kind: Kind::Chain(Chain::Or, vec![left, right.clone()]), span };
        Node { kind: Kind::Infix(Infix::Release, Box::new(right), Box::new(either)), span }
    }
}

/// Whether there is a path quantifier in it.
fn branches(node: &Node) -> bool {
    let mut found = matches!(node.kind, Kind::Quantified(..) | Kind::Until(..));
    node.children(&mut |child| found |= branches(child));
    found
}
