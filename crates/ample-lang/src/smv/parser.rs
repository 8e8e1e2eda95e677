//! Tokens to trees: the grammar of NuSMV 2.6.
//!
//! Operators bind as in its `grammar.y`, from the loosest: `->` (to the right), `<->`, `? :`, `| xor xnor`, `&`,
//! `U V S T`, temporal operators before an operand, `= != < > <= >=`, `in`, `union`, `..`, `<< >>`, `+ -`, `* / mod`, `::`,
//! then `!`, `-` and what is in brackets. After a syntax error, reading goes on with the next part of a module.

mod psl;

use ample_model::{Source, Span};

use super::ast::{
    Assignment, Binary, Bounds, Chain, Declaration, Function, Infix, Item, Kind, Logic, Module, Name, Node, Prefix,
    Quantifier, Section, Specification, TypeKind, TypeNode, Unary, Value, When,
};
use super::lexer::{self, RESERVED, SECTIONS, Token};
use crate::diagnostic::{Diagnostic, Rejected, closest};
use crate::watch::Watch;

/// How deep expressions may be nested where the stack is deep.
pub const MAX_DEPTH: u32 = 5000;

/// How deep they may be nested on any stack.
pub const SMALL_DEPTH: u32 = 100;

/// A word may have this many bits.
pub const MAX_BITS: u32 = 62;

/// What a parsing function gives.
type Parse<T> = Result<T, Diagnostic>;

/// Reads the modules of a text. Expressions may be nested `most` deep.
pub fn parse(source: &Source, tokens: &[Token], most: u32, watch: &Watch<'_>) -> Result<Vec<Module>, Rejected> {
    let mut parser = Parser { text: &source.text, tokens, next: 0, depth: 0, most, bound: Vec::new(), watch };
    let mut diagnostics = Vec::new();
    let modules = parser.modules(&mut diagnostics);
    if diagnostics.is_empty() { Ok(modules) } else { Err(Rejected::new(vec![source.clone()], diagnostics)) }
}

/// Reads one expression or formula, and nothing else.
pub fn parse_expression(source: &Source, tokens: &[Token], most: u32, watch: &Watch<'_>) -> Result<Node, Rejected> {
    let mut parser = Parser { text: &source.text, tokens, next: 0, depth: 0, most, bound: Vec::new(), watch };
    let read = parser.expression().and_then(|node| match parser.peek().kind {
        lexer::Kind::End => Ok(node),
        _ => Err(parser.expected("an operator or the end")),
    });
    read.map_err(|diagnostic| Rejected::new(vec![source.clone()], vec![diagnostic]))
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    depth: u32,
    /// How deep expressions may be nested, and how many operators of a chain may group to one side.
    most: u32,
    /// The variables of `forall`, with their values.
    bound: Vec<(String, i64)>,
    watch: &'a Watch<'a>,
}

impl<'a> Parser<'a> {
    // Tokens.

    fn token_at(&self, ahead: usize) -> Token {
        self.tokens[(self.next + ahead).min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> Token {
        self.token_at(0)
    }

    fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The word that comes next, if it is one.
    fn word(&self) -> Option<&'a str> {
        self.word_at(0)
    }

    fn word_at(&self, ahead: usize) -> Option<&'a str> {
        let token = self.token_at(ahead);
        (token.kind == lexer::Kind::Word).then(|| self.text_of(token.span))
    }

    fn at(&self, text: &str) -> bool {
        match self.peek().kind {
            lexer::Kind::Sign(sign) => sign == text,
            lexer::Kind::Word => self.word() == Some(text),
            _ => false,
        }
    }

    fn take(&mut self) -> Token {
        let token = self.peek();
        if token.kind != lexer::Kind::End {
            self.next += 1;
        }
        token
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Parse<Span> {
        if self.at(text) { Ok(self.take().span) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// The end of what was read last.
    fn since(&self, start: Span) -> Span {
        let last = self.next.checked_sub(1).map_or(start, |at| self.tokens[at].span);
        Span { end: last.end.max(start.end), ..start }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            lexer::Kind::End => "the end of the text".to_owned(),
            lexer::Kind::OpenComment => return Diagnostic::error(token.span, "a comment `/--` without its end `--/`"),
            lexer::Kind::OtherNumber => {
                let help = "integers and words are the only numbers here";
                return Diagnostic::error(token.span, "real numbers are not supported").with_help(help);
            }
            _ => format!("`{}`", self.text_of(token.span)),
        };
        let error = Diagnostic::error(token.span, format!("expected {what}, but found {found}"));
        match (token.kind, self.word()) {
            (lexer::Kind::Word, Some(word)) if RESERVED.contains(&word) && what.contains("name") => {
                error.with_help(format!("`{word}` is a word of the language"))
            }
            _ => error,
        }
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        match self.word() {
            Some(word) if !RESERVED.contains(&word) => {
                let span = self.take().span;
                Ok(Name { text: word.to_owned(), span })
            }
            _ => Err(self.expected(&format!("the name of {what}"))),
        }
    }

    /// The name of something declared: `a`, `a.b`, `a[2]`.
    fn declared_name(&mut self, what: &str) -> Parse<Name> {
        let mut name = self.name(what)?;
        loop {
            if self.eat(".") {
                match self.peek().kind {
                    lexer::Kind::Number => {
                        let span = self.take().span;
                        name.text = format!("{}.{}", name.text, self.text_of(span));
                    }
                    _ => name.text = format!("{}.{}", name.text, self.name(what)?.text),
                }
            } else if self.eat("[") {
                let value = self.integer()?;
                self.expect("]")?;
                name.text = format!("{}[{value}]", name.text);
            } else {
                name.span = self.since(name.span);
                return Ok(name);
            }
        }
    }

    fn integer(&mut self) -> Parse<i64> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let token = self.peek();
        if token.kind != lexer::Kind::Number {
            return Err(self.expected("an integer"));
        }
        self.take();
        let value = self.value_of(token.span)?;
        Ok(if negative { -value } else { value })
    }

    fn value_of(&self, span: Span) -> Parse<i64> {
        let value = self.text_of(span).parse::<i64>().ok().filter(|value| *value <= i64::from(i32::MAX));
        value.ok_or_else(|| Diagnostic::error(span, "an integer may be at most 2147483647"))
    }

    // Modules.

    fn modules(&mut self, diagnostics: &mut Vec<Diagnostic>) -> Vec<Module> {
        let mut modules: Vec<Module> = Vec::new();
        while self.peek().kind != lexer::Kind::End {
            let read = match modules.last_mut() {
                Some(module) if !self.at("MODULE") => self.part(&mut module.items),
                _ => self.module().map(|module| modules.push(module)),
            };
            if let Err(diagnostic) = read {
                diagnostics.push(diagnostic);
                if diagnostics.len() >= 20 || self.watch.ended().is_some() {
                    break;
                }
                // A module without its head is one, so that its parts are read as such.
                if modules.is_empty() {
                    break;
                }
                self.skip();
            }
        }
        if modules.is_empty() && diagnostics.is_empty() {
            diagnostics.push(self.expected("`MODULE`"));
        }
        modules
    }

    /// Goes on to the next part of a module.
    fn skip(&mut self) {
        if self.peek().kind != lexer::Kind::End {
            self.next += 1;
        }
        while self.peek().kind != lexer::Kind::End && !self.word().is_some_and(|word| SECTIONS.contains(&word)) {
            self.next += 1;
        }
    }

    fn module(&mut self) -> Parse<Module> {
        self.expect("MODULE")?;
        let name = self.name("a module")?;
        let mut parameters = Vec::new();
        if self.eat("(") && !self.eat(")") {
            loop {
                parameters.push(self.name("a parameter")?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Ok(Module { name, parameters, items: Vec::new() })
    }

    fn part(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let Some(word) = self.word() else { return Err(self.expected_part()) };
        match word {
            "VAR" | "IVAR" | "FROZENVAR" => self.declarations(word, items),
            "DEFINE" | "MDEFINE" => self.defines(items),
            "CONSTANTS" => self.constants(items),
            "ASSIGN" => self.assignments(items),
            "INIT" | "INVAR" | "TRANS" | "FAIRNESS" | "JUSTICE" => {
                self.take();
                let node = self.expression()?;
                self.eat(";");
                items.push(match word {
                    "INIT" => Item::Init(node),
                    "INVAR" => Item::Invariant(node),
                    "TRANS" => Item::Trans(node),
                    _ => Item::Justice(node),
                });
                Ok(())
            }
            "COMPASSION" => {
                self.take();
                self.expect("(")?;
                let first = self.expression()?;
                self.expect(",")?;
                let second = self.expression()?;
                self.expect(")")?;
                self.eat(";");
                items.push(Item::Compassion(first, second));
                Ok(())
            }
            "SPEC" | "CTLSPEC" | "LTLSPEC" | "INVARSPEC" | "COMPUTE" => self.specification(word, items),
            "ISA" => {
                self.take();
                let name = self.name("a module")?;
                self.eat(";");
                items.push(Item::Isa(name));
                Ok(())
            }
            "PSLSPEC" => self.psl_specification(items),
            "FUN" => Err(self.refused("FUN", "uninterpreted functions have no finite meaning")),
            "PRED" | "MIRROR" => Err(self.refused(word, "predicate abstraction is not done")),
            _ => Err(self.expected_part()),
        }
    }

    fn refused(&self, word: &str, help: &str) -> Diagnostic {
        Diagnostic::error(self.peek().span, format!("`{word}` is not supported")).with_help(help)
    }

    fn expected_part(&self) -> Diagnostic {
        let error = self.expected("a part of a module (`VAR`, `ASSIGN`, `SPEC`, …)");
        match self.word().and_then(|word| closest(word, SECTIONS.iter().copied())) {
            Some(near) => error.with_help(format!("is `{near}` meant?")),
            None => error,
        }
    }

    /// Whether what comes next can be a name: the list of a section goes on.
    fn at_name(&self) -> bool {
        self.word().is_some_and(|word| !RESERVED.contains(&word) && !SECTIONS.contains(&word))
    }

    fn declarations(&mut self, word: &str, items: &mut Vec<Item>) -> Parse<()> {
        self.take();
        let section = match word {
            "IVAR" => Section::Input,
            "FROZENVAR" => Section::Frozen,
            _ => Section::State,
        };
        while self.at_name() {
            self.watch.step()?;
            let name = self.declared_name("a variable")?;
            self.expect(":")?;
            let ty = self.ty()?;
            self.expect(";")?;
            items.push(Item::Declaration(Declaration { name, ty, section }));
        }
        self.section_ends()
    }

    /// What follows a list of declarations is the next part, or the end.
    fn section_ends(&self) -> Parse<()> {
        match self.word() {
            Some(word) if SECTIONS.contains(&word) => Ok(()),
            None if self.peek().kind == lexer::Kind::End => Ok(()),
            _ => Err(self.expected("a name or the next part of the module")),
        }
    }

    fn defines(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.take();
        while self.at_name() {
            self.watch.step()?;
            let name = self.declared_name("a definition")?;
            self.expect(":=")?;
            let node = if self.at("[") { self.array()? } else { self.expression()? };
            self.expect(";")?;
            items.push(Item::Define(name, node));
        }
        self.section_ends()
    }

    /// `[a, b]`, `[[a, b], [c, d]]`
    fn array(&mut self) -> Parse<Node> {
        self.nested(|parser| {
            let start = parser.expect("[")?;
            let mut elements = Vec::new();
            loop {
                elements.push(if parser.at("[") { parser.array()? } else { parser.expression()? });
                if !parser.eat(",") {
                    break;
                }
            }
            parser.expect("]")?;
            Ok(Node { kind: Kind::Array(elements), span: parser.since(start) })
        })
    }

    fn constants(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.take();
        while self.at_name() {
            items.push(Item::Constant(self.declared_name("a constant")?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(())
    }

    fn assignments(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.take();
        loop {
            self.watch.step()?;
            let start = self.peek().span;
            let when = match self.word() {
                Some("init") => When::Init,
                Some("next") => When::Next,
                Some("self") => When::Now,
                _ if self.at_name() => When::Now,
                _ => return self.section_ends(),
            };
            let target = if when == When::Now {
                self.variable()?
            } else {
                self.take();
                self.expect("(")?;
                let target = self.variable()?;
                self.expect(")")?;
                target
            };
            self.expect(":=")?;
            let value = self.expression()?;
            let span = self.since(start);
            self.expect(";")?;
            items.push(Item::Assign(Assignment { when, target, value, span }));
        }
    }

    /// What can be assigned: `a.b[2]`.
    fn variable(&mut self) -> Parse<Node> {
        let token = self.peek();
        let kind = match self.word() {
            Some("self") => Kind::Itself,
            _ => Kind::Name(self.name("a variable")?.text),
        };
        if matches!(kind, Kind::Itself) {
            self.take();
        }
        self.postfix(Node { kind, span: token.span })
    }

    fn specification(&mut self, word: &str, items: &mut Vec<Item>) -> Parse<()> {
        let start = self.take().span;
        let mut name = None;
        if self.eat("NAME") {
            name = Some(self.declared_name("a specification")?);
            self.expect(":=")?;
        }
        let mut logic = match word {
            "LTLSPEC" => Logic::Ltl,
            "INVARSPEC" => Logic::Invariant,
            _ => Logic::Ctl,
        };
        let mut formulas = Vec::new();
        if word == "COMPUTE" {
            logic = match self.word() {
                Some("MIN") => Logic::Min,
                Some("MAX") => Logic::Max,
                _ => return Err(self.expected("`MIN` or `MAX`")),
            };
            self.take();
            self.expect("[")?;
            formulas.push(self.expression()?);
            self.expect(",")?;
            formulas.push(self.expression()?);
            self.expect("]")?;
        } else {
            formulas.push(self.expression()?);
        }
        let context = if self.eat("IN") { Some(self.variable()?) } else { None };
        let span = self.since(start);
        self.eat(";");
        items.push(Item::Specification(Specification { logic, name, formulas, context, span }));
        Ok(())
    }

    // Types.

    fn ty(&mut self) -> Parse<TypeNode> {
        self.nested(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Parse<TypeNode> {
        let start = self.peek().span;
        let kind = match self.word() {
            Some("boolean") => {
                self.take();
                TypeKind::Boolean
            }
            Some(word @ ("integer" | "real")) => {
                let help = "give the range of values, as in `0..7`";
                let error = Diagnostic::error(start, format!("the type `{word}` is not supported")).with_help(help);
                return Err(error);
            }
            Some("word" | "signed" | "unsigned") => {
                let signed = self.eat("signed");
                if !signed {
                    self.eat("unsigned");
                }
                self.expect("word")?;
                self.expect("[")?;
                let width = self.expression()?;
                self.expect("]")?;
                TypeKind::Word { signed, width }
            }
            Some("array") => {
                self.take();
                if self.at("word") || self.at("integer") {
                    let help = "use an array over a range: `array 0..3 of …`";
                    return Err(Diagnostic::error(start, "arrays over a type are not supported").with_help(help));
                }
                let low = self.binary(SHIFT)?;
                self.expect("..")?;
                let high = self.binary(SHIFT)?;
                self.expect("of")?;
                TypeKind::Array(low, high, Box::new(self.ty()?))
            }
            Some("process") => {
                self.take();
                let name = self.name("a module")?;
                TypeKind::Module { name, arguments: self.arguments()?, process: true }
            }
            _ if self.at("{") => TypeKind::Enumeration(self.enumeration()?),
            Some(word) if !RESERVED.contains(&word) && !self.begins_range() => {
                let name = self.name("a module")?;
                TypeKind::Module { name, arguments: self.arguments()?, process: false }
            }
            _ => {
                if self.peek().kind == lexer::Kind::Word && !self.begins_range() {
                    return Err(self.expected("a type"));
                }
                let low = self.binary(SHIFT).map_err(|_| self.expected("a type"))?;
                self.expect("..")?;
                TypeKind::Range(low, self.binary(SHIFT)?)
            }
        };
        Ok(TypeNode { kind, span: self.since(start) })
    }

    /// Whether a word begins a range, `low..high`, and is not the name of a module.
    fn begins_range(&self) -> bool {
        let mut depth = 0u32;
        for ahead in 0..64 {
            match self.token_at(ahead).kind {
                lexer::Kind::Sign("..") if depth == 0 => return true,
                lexer::Kind::Sign("(" | "[") => depth += 1,
                lexer::Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                lexer::Kind::Sign(";") | lexer::Kind::End => return false,
                _ => {}
            }
        }
        false
    }

    fn arguments(&mut self) -> Parse<Vec<Node>> {
        let mut arguments = Vec::new();
        if !self.eat("(") || self.eat(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn enumeration(&mut self) -> Parse<Vec<Value>> {
        self.expect("{")?;
        let mut values = Vec::new();
        loop {
            self.watch.step()?;
            let span = self.peek().span;
            values.push(match self.word() {
                Some(word @ ("TRUE" | "FALSE")) => {
                    self.take();
                    Value::Boolean(word == "TRUE", span)
                }
                Some(_) => Value::Symbol(self.declared_name("a value")?),
                None => Value::Number(self.integer()?, span),
            });
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(values)
    }

    // Expressions.

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= self.most {
            let message = format!("an expression may be nested {} deep", self.most);
            return Err(Diagnostic::error(self.peek().span, message).with_help("give names to its parts in `DEFINE`"));
        }
        self.watch.step()?;
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> Parse<Node> {
        self.nested(Self::implication)
    }

    fn implication(&mut self) -> Parse<Node> {
        let left = self.equivalence()?;
        if !self.eat("->") {
            return Ok(left);
        }
        let right = self.nested(Self::implication)?;
        Ok(self.two(Binary::Implies, left, right))
    }

    fn equivalence(&mut self) -> Parse<Node> {
        let mut left = self.conditional()?;
        let mut count = 0;
        while self.eat("<->") {
            self.count(&mut count)?;
            let right = self.conditional()?;
            left = self.two(Binary::Iff, left, right);
        }
        Ok(left)
    }

    fn conditional(&mut self) -> Parse<Node> {
        let condition = self.binary(OR)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.nested(Self::conditional)?;
        let span = self.since(condition.span);
        Ok(Node { kind: Kind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)), span })
    }

    /// Operators between operands from one level on, all of which group to the left.
    fn binary(&mut self, level: usize) -> Parse<Node> {
        let mut left = self.operand(level)?;
        let mut count = 0;
        loop {
            let Some(operator) = self.operator(level) else { return Ok(left) };
            self.watch.step()?;
            self.take();
            let right = self.operand(level)?;
            left = match operator {
                Operator::Chain(chain) => self.chained(chain, left, right),
                Operator::Binary(op) => {
                    self.count(&mut count)?;
                    self.two(op, left, right)
                }
                Operator::Infix(op) => {
                    self.count(&mut count)?;
                    let span = self.since(left.span);
                    Node { kind: Kind::Infix(op, Box::new(left), Box::new(right)), span }
                }
                Operator::Range => {
                    let span = self.since(left.span);
                    return Ok(Node { kind: Kind::Range(Box::new(left), Box::new(right)), span });
                }
            };
        }
    }

    fn count(&self, count: &mut u32) -> Parse<()> {
        *count += 1;
        if *count <= self.most {
            return Ok(());
        }
        let message = format!("there may be {} such operators in a row", self.most);
        Err(Diagnostic::error(self.peek().span, message).with_help("give names to parts in `DEFINE`"))
    }

    fn chained(&self, chain: Chain, left: Node, right: Node) -> Node {
        let span = self.since(left.span);
        // These operators group as one likes, so that brackets do not matter.
        let mut operands = match left.kind {
            Kind::Chain(same, operands) if same == chain => operands,
            _ => vec![left],
        };
        match right.kind {
            Kind::Chain(same, more) if same == chain && matches!(chain, Chain::And | Chain::Or) => {
                operands.extend(more);
            }
            _ => operands.push(right),
        }
        Node { kind: Kind::Chain(chain, operands), span }
    }

    fn two(&self, op: Binary, left: Node, right: Node) -> Node {
        let span = self.since(left.span);
        Node { kind: Kind::Binary(op, Box::new(left), Box::new(right)), span }
    }

    fn operator(&self, level: usize) -> Option<Operator> {
        let text = match self.peek().kind {
            lexer::Kind::Sign(sign) => sign,
            lexer::Kind::Word => self.word()?,
            _ => return None,
        };
        LEVELS[level].iter().find(|(written, _)| *written == text).map(|(_, operator)| *operator)
    }

    fn operand(&mut self, level: usize) -> Parse<Node> {
        match level {
            _ if level == TEMPORAL => self.temporal(),
            _ if level + 1 == LEVELS.len() => self.primary(),
            _ => self.binary(level + 1),
        }
    }

    /// Temporal operators before an operand.
    fn temporal(&mut self) -> Parse<Node> {
        let start = self.peek().span;
        let mut ahead = 0;
        while self.token_at(ahead).kind == lexer::Kind::Sign("!") {
            ahead += 1;
        }
        let is_temporal =
            self.word_at(ahead).is_some_and(|word| prefix_of(word).is_some() || matches!(word, "A" | "E"));
        if !is_temporal {
            return self.binary(TEMPORAL + 1);
        }
        if self.eat("!") {
            let inner = self.nested(Self::temporal)?;
            return Ok(Node { kind: Kind::Unary(Unary::Not, Box::new(inner)), span: self.since(start) });
        }
        let word = self.word().unwrap_or_default();
        self.take();
        let Some((quantifier, prefix, is_bounded)) = prefix_of(word) else {
            return self.until(if word == "A" { Quantifier::All } else { Quantifier::Exists }, start);
        };
        let bounds = match quantifier {
            Some(_) if is_bounded => Some(self.bounds()?),
            None if self.at("[") => Some(self.bracketed_bounds()?),
            _ => None,
        };
        let inner = Box::new(self.nested(Self::temporal)?);
        let kind = match quantifier {
            Some(quantifier) => Kind::Quantified(quantifier, prefix, bounds, inner),
            None => Kind::Prefix(prefix, bounds, inner),
        };
        Ok(Node { kind, span: self.since(start) })
    }

    /// `1..3`
    fn bounds(&mut self) -> Parse<Bounds> {
        let start = self.peek().span;
        let from = self.integer()?;
        self.expect("..")?;
        let to = self.integer()?;
        self.bounds_of(start, from, to)
    }

    /// `[1, 3]`
    fn bracketed_bounds(&mut self) -> Parse<Bounds> {
        let start = self.expect("[")?;
        let from = self.integer()?;
        self.expect(",")?;
        let to = self.integer()?;
        self.expect("]")?;
        self.bounds_of(start, from, to)
    }

    fn bounds_of(&self, start: Span, from: i64, to: i64) -> Parse<Bounds> {
        let span = self.since(start);
        match (u32::try_from(from), u32::try_from(to)) {
            (Ok(from), Ok(to)) if from <= to => Ok(Bounds { from, to }),
            _ => Err(Diagnostic::error(span, "the bounds must be numbers of steps, the least first")),
        }
    }

    /// `[a U b]`, `[a BU 1..3 b]`
    fn until(&mut self, quantifier: Quantifier, start: Span) -> Parse<Node> {
        self.expect("[")?;
        let left = self.nested(Self::until_operand)?;
        let bounds = if self.eat("BU") {
            Some(self.bounds()?)
        } else {
            self.expect("U")?;
            None
        };
        let right = self.nested(Self::until_operand)?;
        self.expect("]")?;
        let span = self.since(start);
        Ok(Node { kind: Kind::Until(quantifier, bounds, Box::new(left), Box::new(right)), span })
    }

    /// Between these brackets a `U` ends an operand.
    fn until_operand(&mut self) -> Parse<Node> {
        let left = self.until_equivalence()?;
        if !self.eat("->") {
            return Ok(left);
        }
        let right = self.nested(Self::until_operand)?;
        Ok(self.two(Binary::Implies, left, right))
    }

    fn until_equivalence(&mut self) -> Parse<Node> {
        let mut left = self.until_or()?;
        let mut count = 0;
        while self.eat("<->") {
            self.count(&mut count)?;
            let right = self.until_or()?;
            left = self.two(Binary::Iff, left, right);
        }
        Ok(left)
    }

    fn until_or(&mut self) -> Parse<Node> {
        let mut left = self.until_and()?;
        let mut count = 0;
        while let Some(operator) = self.operator(OR) {
            self.take();
            let right = self.until_and()?;
            left = match operator {
                Operator::Binary(op) => {
                    self.count(&mut count)?;
                    self.two(op, left, right)
                }
                _ => self.chained(Chain::Or, left, right),
            };
        }
        Ok(left)
    }

    fn until_and(&mut self) -> Parse<Node> {
        let mut left = self.temporal()?;
        while self.eat("&") {
            let right = self.temporal()?;
            left = self.chained(Chain::And, left, right);
        }
        Ok(left)
    }

    fn primary(&mut self) -> Parse<Node> {
        let token = self.peek();
        match token.kind {
            lexer::Kind::Sign(sign @ ("!" | "-")) => {
                self.take();
                let inner = self.nested(Self::primary)?;
                let op = if sign == "!" { Unary::Not } else { Unary::Negate };
                Ok(Node { kind: Kind::Unary(op, Box::new(inner)), span: self.since(token.span) })
            }
            lexer::Kind::Sign("+") if self.token_at(1).kind == lexer::Kind::Number => {
                self.take();
                self.primary()
            }
            lexer::Kind::Sign("(") => {
                self.take();
                let inner = self.expression()?;
                self.expect(")")?;
                self.postfix(Node { kind: inner.kind, span: self.since(token.span) })
            }
            lexer::Kind::Sign("{") => self.set(),
            lexer::Kind::Number => {
                self.take();
                Ok(Node { kind: Kind::Number(self.value_of(token.span)?), span: token.span })
            }
            lexer::Kind::WordConstant => {
                self.take();
                let node = self.word_constant(token.span)?;
                self.postfix(node)
            }
            lexer::Kind::Word => self.word_expression(token.span),
            _ => Err(self.expected("an expression")),
        }
    }

    fn set(&mut self) -> Parse<Node> {
        let start = self.expect("{")?;
        let mut elements = Vec::new();
        loop {
            elements.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Node { kind: Kind::Set(elements), span: self.since(start) })
    }

    fn word_expression(&mut self, span: Span) -> Parse<Node> {
        let word = self.word().unwrap_or_default();
        let kind = match word {
            "TRUE" | "FALSE" => {
                self.take();
                return Ok(Node { kind: Kind::Boolean(word == "TRUE"), span });
            }
            "case" => self.case()?,
            "next" => {
                self.take();
                self.expect("(")?;
                let inner = self.expression()?;
                self.expect(")")?;
                Kind::Next(Box::new(inner))
            }
            "self" => {
                self.take();
                Kind::Itself
            }
            _ => match function_of(word) {
                Some(function) => {
                    self.take();
                    self.at("(").then_some(()).ok_or_else(|| self.expected("`(`"))?;
                    Kind::Call(function, self.arguments()?)
                }
                None => match self.name("a variable") {
                    Ok(name) => match self.bound.iter().rev().find(|(bound, _)| *bound == name.text) {
                        Some((_, value)) => Kind::Number(*value),
                        None => Kind::Name(name.text),
                    },
                    Err(_) => return Err(self.expected("an expression")),
                },
            },
        };
        let node = Node { kind, span: self.since(span) };
        self.postfix(node)
    }

    fn case(&mut self) -> Parse<Kind> {
        self.expect("case")?;
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            self.expect(";")?;
            branches.push((condition, value));
            if self.eat("esac") {
                return Ok(Kind::Case(branches));
            }
        }
    }

    /// `.b`, `[i]`, `[7 : 4]` behind an expression.
    fn postfix(&mut self, mut node: Node) -> Parse<Node> {
        let mut count = 0;
        loop {
            let kind = if self.eat(".") {
                if self.peek().kind == lexer::Kind::Number {
                    let span = self.take().span;
                    Kind::Dot(Box::new(node), Name { text: self.text_of(span).to_owned(), span })
                } else {
                    let name = match self.word() {
                        // Of a module that is called like an operator there are none; what is inside may be.
                        Some("self") => return Err(self.expected("the name of a variable")),
                        _ => self.name("a variable")?,
                    };
                    Kind::Dot(Box::new(node), name)
                }
            } else if self.eat("[") {
                let first = self.expression()?;
                if self.eat(":") {
                    let second = self.expression()?;
                    self.expect("]")?;
                    Kind::Bits(Box::new(node), Box::new(first), Box::new(second))
                } else {
                    self.expect("]")?;
                    Kind::Index(Box::new(node), Box::new(first))
                }
            } else {
                return Ok(node);
            };
            self.count(&mut count)?;
            let start = match &kind {
                Kind::Dot(inner, _) | Kind::Index(inner, _) | Kind::Bits(inner, ..) => inner.span,
                _ => return Err(self.expected("an expression")),
            };
            node = Node { kind, span: self.since(start) };
        }
    }

    /// `0ud8_255`, `0sb4_1010`, `0h_ff`: sign, base, width, digits. Without a width, every digit has that of its base.
    fn word_constant(&self, span: Span) -> Parse<Node> {
        let text = &self.text_of(span)[1..];
        let (signed, text) = match text.as_bytes()[0] {
            b's' => (true, &text[1..]),
            b'u' => (false, &text[1..]),
            _ => (false, text),
        };
        let (base, bits_of_digit) = match text.as_bytes()[0] {
            b'b' | b'B' => (2, 1),
            b'o' | b'O' => (8, 3),
            b'd' | b'D' => (10, 0),
            _ => (16, 4),
        };
        let wrong = |message: String| Diagnostic::error(span, message);
        let Some((width, digits)) = text[1..].split_once('_') else {
            return Err(wrong("expected a constant like `0ud8_255`: base, width, `_`, digits".into()));
        };
        let digits: String = digits.chars().filter(|c| *c != '_').collect();
        let bits = match width {
            "" if bits_of_digit > 0 => Some(digits.len() as u32 * bits_of_digit),
            "" => return Err(wrong("a decimal constant needs its width, as in `0ud8_255`".into())),
            width => width.parse::<u32>().ok(),
        };
        let bits = bits.filter(|bits| (1..=MAX_BITS).contains(bits));
        let bits = bits.ok_or_else(|| wrong(format!("a word may have 1 to {MAX_BITS} bits")))?;
        let value = u64::from_str_radix(&digits, base).ok();
        let value = value.ok_or_else(|| wrong(format!("the digits are not those of a number to the base {base}")))?;
        let fits = value >> bits == 0 || signed && base == 10 && value == 1 << (bits - 1);
        if !fits || signed && base == 10 && value > 1 << (bits - 1) {
            return Err(wrong(format!("the constant does not fit into {bits} bits")));
        }
        let value = value as i64;
        let value = if signed && value >> (bits - 1) != 0 { value - (1 << bits) } else { value };
        Ok(Node { kind: Kind::Word { value, bits, signed }, span })
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Chain(Chain),
    Binary(Binary),
    Infix(Infix),
    Range,
}

const OR: usize = 0;
/// The operands of this level may begin with temporal operators.
const TEMPORAL: usize = 2;
const SHIFT: usize = 7;

/// Operators that group to the left, the loosest first.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[
        ("|", Operator::Chain(Chain::Or)),
        ("xor", Operator::Binary(Binary::Xor)),
        ("xnor", Operator::Binary(Binary::Xnor)),
    ],
    &[("&", Operator::Chain(Chain::And))],
    &[
        ("U", Operator::Infix(Infix::Until)),
        ("V", Operator::Infix(Infix::Release)),
        ("S", Operator::Infix(Infix::Since)),
        ("T", Operator::Infix(Infix::Triggered)),
    ],
    &[
        ("=", Operator::Binary(Binary::Equal)),
        ("!=", Operator::Binary(Binary::NotEqual)),
        ("<=", Operator::Binary(Binary::LessEqual)),
        (">=", Operator::Binary(Binary::GreaterEqual)),
        ("<", Operator::Binary(Binary::Less)),
        (">", Operator::Binary(Binary::Greater)),
    ],
    &[("in", Operator::Binary(Binary::In))],
    &[("union", Operator::Chain(Chain::Union))],
    &[("..", Operator::Range)],
    &[("<<", Operator::Binary(Binary::ShiftLeft)), (">>", Operator::Binary(Binary::ShiftRight))],
    &[("+", Operator::Chain(Chain::Add)), ("-", Operator::Binary(Binary::Subtract))],
    &[
        ("*", Operator::Chain(Chain::Multiply)),
        ("/", Operator::Binary(Binary::Divide)),
        ("mod", Operator::Binary(Binary::Mod)),
    ],
    &[("::", Operator::Chain(Chain::Concatenate))],
];

/// The temporal operators that are words: quantifier, operator, and whether bounds follow.
fn prefix_of(word: &str) -> Option<(Option<Quantifier>, Prefix, bool)> {
    let (all, exists) = (Some(Quantifier::All), Some(Quantifier::Exists));
    Some(match word {
        "X" => (None, Prefix::Next, false),
        "F" => (None, Prefix::Finally, false),
        "G" => (None, Prefix::Globally, false),
        "Y" => (None, Prefix::Previous, false),
        "Z" => (None, Prefix::WeakPrevious, false),
        "O" => (None, Prefix::Once, false),
        "H" => (None, Prefix::Historically, false),
        "AX" => (all, Prefix::Next, false),
        "AF" => (all, Prefix::Finally, false),
        "AG" => (all, Prefix::Globally, false),
        "EX" => (exists, Prefix::Next, false),
        "EF" => (exists, Prefix::Finally, false),
        "EG" => (exists, Prefix::Globally, false),
        "ABF" => (all, Prefix::Finally, true),
        "ABG" => (all, Prefix::Globally, true),
        "EBF" => (exists, Prefix::Finally, true),
        "EBG" => (exists, Prefix::Globally, true),
        _ => return None,
    })
}

fn function_of(word: &str) -> Option<Function> {
    Some(match word {
        "bool" => Function::Bool,
        "word1" => Function::Word1,
        "signed" => Function::Signed,
        "unsigned" => Function::Unsigned,
        "extend" => Function::Extend,
        "resize" => Function::Resize,
        "sizeof" => Function::SizeOf,
        "toint" => Function::ToInt,
        "count" => Function::Count,
        "uwconst" => Function::UnsignedConstant,
        "swconst" => Function::SignedConstant,
        "abs" => Function::Abs,
        "max" => Function::Max,
        "min" => Function::Min,
        _ => return None,
    })
}
