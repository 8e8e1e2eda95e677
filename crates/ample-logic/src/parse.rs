//! Formulas from text, in the [dialects](Dialect) of several tools: the [grammar](crate::grammar) over characters.
//!
//! Only operators about the future are known. NuSMV's operators about the past (`O H S T Y Z`) are refused with a
//! message that says so.
//!
//! An atom is an identifier, any text between double quotes, or whatever the caller's recogniser accepts
//! (see [`parse_with`]), so that a front end can read its own expressions.

use crate::dialect::{Dialect, Word};
use crate::formula::{Atom, Atoms, Binary, Formula, Unary};
use crate::grammar::{Context, Infix, Logic, Prefix, Problem, Read, Source, climb, formula, parenthesised};
use crate::words::{Reading, is_reserved, reading, word_at};

/// Why a text is not a formula, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {message}")]
pub struct ParseError {
    /// Where in the text, in bytes.
    pub offset: usize,
    /// What was expected there, or what is wrong with what is there.
    pub message: String,
}

/// Recognises an atom at the beginning of a text, see [`parse_with`].
pub type AtomReader<'a> = dyn FnMut(&str) -> Result<Option<(usize, Atom)>, String> + 'a;

/// Reads a formula; identifiers and quoted texts become atoms of that name. Names that the table already has are
/// declared, see [`reading`].
///
/// ```
/// use ample_logic::{Atoms, Dialect, parse};
/// let mut atoms = Atoms::new();
/// let f = parse("[] (request -> <> \"x > 3\")", Dialect::Spin, &mut atoms)?;
/// assert_eq!(atoms.len(), 2);
/// assert_eq!(f, parse("G (request -> F \"x > 3\")", Dialect::Smv, &mut atoms)?);
/// # Ok::<(), ample_logic::ParseError>(())
/// ```
pub fn parse(text: &str, dialect: Dialect, atoms: &mut Atoms) -> Result<Formula, ParseError> {
    let is_declared = {
        let declared = atoms.clone();
        move |word: &str| declared.get(word).is_some()
    };
    parse_with(text, dialect, &mut |rest: &str| {
        let named = match declared_atom(rest, dialect, &is_declared)? {
            // What is not declared is read as a tool without declarations does.
            Some((_, name)) if !rest.starts_with('"') && !is_declared(&name) => named_atom(rest, dialect)?,
            named => named,
        };
        Ok(named.map(|(length, name)| (length, atoms.intern(&name))))
    })
}

/// Reads a formula whose atoms the caller recognises.
///
/// Wherever an operand may begin, `atom` gets the rest of the text. It returns the length of the atom there
/// and its number, `None` if no atom begins there (the text is then read as an operator or a parenthesis), or
/// a message if it is an atom but a wrong one. [`named_atom`] is what [`parse`] uses.
///
/// ```
/// use ample_logic::{Atom, Dialect, parse_with};
/// // atoms are comparisons of a digit with a digit, such as 1<2
/// let f = parse_with("[] (1<2 -> <> 3<4)", Dialect::Spin, &mut |rest: &str| {
///     let text: Vec<char> = rest.chars().take(3).collect();
///     Ok(match text[..] {
///         [a, '<', b] if a.is_ascii_digit() && b.is_ascii_digit() => Some((3, Atom(a as u32 - 48))),
///         _ => None,
///     })
/// })?;
/// assert_eq!(f.atoms(), [Atom(1), Atom(3)]);
/// # Ok::<(), ample_logic::ParseError>(())
/// ```
pub fn parse_with(text: &str, dialect: Dialect, atom: &mut AtomReader<'_>) -> Result<Formula, ParseError> {
    let context = Context::default();
    let mut source = Text { text, at: 0, dialect, context, atom, recognised: None, pending: None };
    let read = formula(&mut source)?;
    source.skip_space();
    match source.at == text.len() {
        true => Ok(read.tree),
        false => source.fail("expected an operator or the end of the formula"),
    }
}

/// The identifier or quoted text at the beginning of `rest`, if there is one that can name an atom: its length
/// in the text, and the name.
pub fn named_atom(rest: &str, dialect: Dialect) -> Result<Option<(usize, String)>, String> {
    if rest.starts_with('"') {
        return quoted(rest).map(Some);
    }
    let word = word_at(rest);
    if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) || is_reserved(word, dialect) {
        return Ok(None);
    }
    Ok(Some((word.len(), word.to_owned())))
}

/// As [`named_atom`] where names are declared: a declared name is a name even if it begins like an operator, and letters
/// are operators only before what is declared. What is ambiguous is refused, see [`reading`].
pub fn declared_atom(
    rest: &str,
    dialect: Dialect,
    is_declared: &dyn Fn(&str) -> bool,
) -> Result<Option<(usize, String)>, String> {
    if rest.starts_with('"') {
        return quoted(rest).map(Some);
    }
    let word = word_at(rest);
    let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !is_declared(word);
    if word.is_empty() || is_number {
        return Ok(None);
    }
    Ok(match reading(word, &rest[word.len()..], dialect, is_declared)? {
        Reading::Name => Some((word.len(), word.to_owned())),
        Reading::Operator => None,
    })
}

fn quoted(rest: &str) -> Result<(usize, String), String> {
    let mut name = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((at + 1, name)),
            '\\' => match chars.next() {
                Some((_, escaped)) => name.push(escaped),
                None => break,
            },
            _ => name.push(c),
        }
    }
    Err("this quotation mark has no partner".to_owned())
}

/// A text whose atoms somebody else recognises.
struct Text<'a, 'b> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    context: Context<Written>,
    atom: &'a mut AtomReader<'b>,
    /// The atom that stands here, and its length, if it has been recognised.
    recognised: Option<(usize, Atom)>,
    /// The operator of a word like `AG` that has not been read yet.
    pending: Option<Unary>,
}

/// Where an operator stands, in bytes, and the other operator that its word stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Written {
    start: usize,
    end: usize,
    second: Option<Unary>,
}

impl Source for Text<'_, '_> {
    type Tree = Formula;
    type Place = Written;
    type Unary = Unary;
    type Binary = Binary;
    type Bracket = ();
    type Error = ParseError;

    const MAX_DEPTH: usize = 1000;
    const MAX_HEIGHT: usize = 1000;

    fn context(&mut self) -> &mut Context<Written> {
        &mut self.context
    }

    fn logic(&self) -> Logic {
        Logic::Any
    }

    fn position(&self) -> usize {
        self.at
    }

    fn prefix(&mut self) -> Result<Option<Prefix<Unary, Written>>, ParseError> {
        if let Some(operator) = self.pending {
            let place = Written { start: self.at, end: self.at, second: None };
            return Ok(Some(Prefix { operator, place }));
        }
        self.skip_space();
        let rest = self.rest();
        match (self.atom)(rest) {
            Ok(atom) => self.recognised = atom,
            Err(message) => return self.fail(message),
        }
        match self.recognised {
            Some((length, _)) if !self.rest().is_char_boundary(length) => self.fail("the atom ends outside the text"),
            Some(_) => Ok(None),
            None => self.operator_before(),
        }
    }

    fn infix(&mut self) -> Result<Option<Infix<Binary, Written>>, ParseError> {
        self.skip_space();
        if let Some((operator, length)) = self.dialect.infix_sign(self.rest()) {
            let place = self.here(length);
            return Ok(Some(Infix { operator, binding: self.dialect.binding(operator), place }));
        }
        let word = word_at(self.rest());
        let place = self.here(word.len());
        match self.dialect.word(word) {
            Some(Word::PastInfix) => Err(self.refuse(Problem::Past(place))),
            Some(Word::Infix(operator, binding)) => Ok(Some(Infix { operator, binding, place })),
            _ => Ok(None),
        }
    }

    fn step_over(&mut self, operator: Written) {
        self.at = operator.end;
        self.pending = operator.second;
    }

    fn atom(&mut self) -> Result<Read<Formula>, ParseError> {
        let start = self.at;
        let read = |tree| Ok(Read { tree, start, height: 1 });
        if let Some((length, atom)) = self.recognised.take() {
            self.at += length;
            return read(Formula::Atom(atom));
        }
        if self.eat("(") {
            let inner = parenthesised(self, |text| climb(text, 0))?;
            self.expect(")")?;
            return Ok(inner);
        }
        let word = word_at(self.rest());
        if let Some(Word::Constant(value)) = self.dialect.word(word) {
            self.at += word.len();
            return read(if value { Formula::True } else { Formula::False });
        }
        self.fail("expected an atom, a constant, `(` or a prefix operator")
    }

    /// The operand of a quantifier is in brackets, which `[]` is not; in NuSMV always.
    fn open(&mut self) -> Result<Option<()>, ParseError> {
        self.skip_space();
        let bracket = self.rest().starts_with('[') && !self.rest().starts_with("[]");
        if self.pending.is_some() || !bracket && self.dialect != Dialect::Smv {
            return Ok(None);
        }
        self.expect("[").map(Some)
    }

    fn close(&mut self, (): ()) -> Result<(), ParseError> {
        self.expect("]")
    }

    fn is_path(formula: &Formula) -> bool {
        match formula {
            Formula::Unary(op, _) => matches!(op, Unary::Next | Unary::Finally | Unary::Globally),
            Formula::Binary(op, ..) => op.is_temporal(),
            _ => false,
        }
    }

    fn unary(&mut self, prefix: Prefix<Unary, Written>, operand: Formula) -> Result<Formula, ParseError> {
        Ok(Formula::unary(prefix.operator, operand))
    }

    fn binary(
        &mut self,
        infix: Infix<Binary, Written>,
        left: Read<Formula>,
        right: Formula,
    ) -> Result<Formula, ParseError> {
        Ok(Formula::binary(infix.operator, left.tree, right))
    }

    fn refuse(&mut self, problem: Problem<Written>) -> ParseError {
        let offset = problem.place().map_or(self.at, |place| place.start);
        let written = problem.place().map_or("", |place| &self.text[place.start..place.end]);
        let message = match problem {
            Problem::NoUntil if self.dialect == Dialect::Smv => {
                "expected an operator, `U` or `V` between the brackets".to_owned()
            }
            problem => problem.message(written),
        };
        self.error(offset, message)
    }
}

impl<'a> Text<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn here(&self, length: usize) -> Written {
        Written { start: self.at, end: self.at + length, second: None }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(self.error(self.at, message.into()))
    }

    fn error(&self, offset: usize, mut message: String) -> ParseError {
        if message.starts_with("expected") {
            match self.rest().chars().next() {
                Some(_) if !word_at(self.rest()).is_empty() => {
                    message.push_str(&format!(", found `{}`", word_at(self.rest())));
                }
                Some(c) => message.push_str(&format!(", found `{c}`")),
                None => message.push_str(", found the end of the text"),
            }
        }
        ParseError { offset, message }
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.eat(token) { Ok(()) } else { self.fail(format!("expected `{token}`")) }
    }

    /// The operator that stands here, where no atom does.
    fn operator_before(&mut self) -> Result<Option<Prefix<Unary, Written>>, ParseError> {
        if let Some((operator, length)) = self.dialect.prefix_sign(self.rest()) {
            return Ok(Some(Prefix { operator, place: self.here(length) }));
        }
        let word = word_at(self.rest());
        let place = self.here(word.len());
        match self.dialect.word(word) {
            Some(Word::Prefix(&[operator])) => return Ok(Some(Prefix { operator, place })),
            Some(Word::Prefix(&[operator, second])) => {
                return Ok(Some(Prefix { operator, place: Written { second: Some(second), ..place } }));
            }
            Some(Word::PastPrefix | Word::PastInfix) => return Err(self.refuse(Problem::Past(place))),
            Some(_) => return Ok(None),
            None => {}
        }
        // `GFa` is read letter by letter.
        let operator = match word.chars().next().filter(|_| self.dialect.joins_letters()) {
            Some('X') => Unary::Next,
            Some('F') => Unary::Finally,
            Some('G') => Unary::Globally,
            _ => return Ok(None),
        };
        Ok(Some(Prefix { operator, place: self.here(1) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, dialect: Dialect) -> String {
        let mut atoms = Atoms::from_iter(["a", "b", "c", "d"]);
        match parse(text, dialect, &mut atoms) {
            Ok(f) => shape(&f, &atoms),
            Err(e) => e.to_string(),
        }
    }

    fn shape(f: &Formula, atoms: &Atoms) -> String {
        match f {
            Formula::Atom(a) => atoms.label(*a),
            Formula::Unary(op, f) => format!("{op:?}({})", shape(f, atoms)),
            Formula::Binary(op, f, g) => format!("{op:?}({},{})", shape(f, atoms), shape(g, atoms)),
            _ => format!("{f:?}"),
        }
    }

    #[test]
    fn precedence_is_that_of_each_tool() {
        let cases = [
            (Dialect::Spin, "a || b && c", "Or(a,And(b,c))"),
            (Dialect::Spin, "a -> b -> c", "Implies(Implies(a,b),c)"),
            (Dialect::Spin, "a <-> b -> c", "Implies(Iff(a,b),c)"),
            (Dialect::Spin, "[] a U b", "Until(Globally(a),b)"),
            (Dialect::Spin, "a U b U c", "Until(Until(a,b),c)"),
            (Dialect::Spin, "always a implies eventually b", "Implies(Globally(a),Finally(b))"),
            (Dialect::Spin, "a weakuntil b || c release d", "Or(WeakUntil(a,b),Release(c,d))"),
            (Dialect::Smv, "a -> b -> c", "Implies(a,Implies(b,c))"),
            (Dialect::Smv, "a -> b <-> c", "Implies(a,Iff(b,c))"),
            (Dialect::Smv, "a | b xor c & d", "Xor(Or(a,b),And(c,d))"),
            (Dialect::Smv, "a xnor b", "Iff(a,b)"),
            (Dialect::Smv, "AG (a -> AF b)", "All(Globally(Implies(a,All(Finally(b)))))"),
            (Dialect::Smv, "a U b V c", "Release(Until(a,b),c)"),
            (Dialect::Smv, "a & b U c & d", "And(And(a,Until(b,c)),d)"),
            (Dialect::Smv, "!X a U b", "Until(Not(Next(a)),b)"),
            (Dialect::Smv, "!E [ a U b ]", "Not(Exists(Until(a,b)))"),
            (Dialect::Smv, "E [ a U b & c ]", "Exists(Until(a,And(b,c)))"),
            (Dialect::Smv, "A [ a -> b U c | d ] & a", "And(All(Until(Implies(a,b),Or(c,d))),a)"),
            (Dialect::Smv, "A [ E [ a U b ] V c ]", "All(Release(Exists(Until(a,b)),c))"),
            (Dialect::Smv, "A [ (a U b) U c ]", "All(Until(Until(a,b),c))"),
            (
                Dialect::Smv,
                "A [ a & b ]",
                "at byte 10: expected an operator, `U` or `V` between the brackets, found `]`",
            ),
            (Dialect::Smv, "A [ a U b U c ]", "at byte 10: expected `]`, found `U`"),
            (Dialect::Plain, "a U b R c", "Until(a,Release(b,c))"),
            (Dialect::Plain, "a -> b -> c", "Implies(a,Implies(b,c))"),
            (Dialect::Plain, "GFa & XGb", "And(Globally(Finally(a)),Next(Globally(b)))"),
            (Dialect::Plain, "a M b | c W !d", "Or(StrongRelease(a,b),WeakUntil(c,Not(d)))"),
            (Dialect::Plain, "a /\\ b \\/ 1 xor 0", "Or(And(a,b),Xor(True,False))"),
            (Dialect::Plain, "a | b xor c & d", "Or(a,Xor(b,And(c,d)))"),
            (Dialect::Plain, "a xor b | c", "Or(Xor(a,b),c)"),
            (Dialect::Plain, "a <-> b -> c", "Iff(a,Implies(b,c))"),
            (Dialect::Plain, "a & b U c U d", "And(a,Until(b,Until(c,d)))"),
            (Dialect::Plain, "FALSE W True", "WeakUntil(False,True)"),
            (Dialect::Plain, "F a1 & F1 & Fa", "And(And(Finally(a1),F1),Finally(a))"),
            (Dialect::Plain, "!a U b", "Until(Not(a),b)"),
            (Dialect::Plain, "A(G a) & E(F b)", "And(All(Globally(a)),Exists(Finally(b)))"),
            (
                Dialect::Plain,
                "A [ a -> b U c | d ] & E[] a",
                "And(All(Until(Implies(a,b),Or(c,d))),Exists(Globally(a)))",
            ),
            (Dialect::Plain, "always (a implies eventually b) until c", "Until(Globally(Implies(a,Finally(b))),c)"),
            (Dialect::Promela, "a -> b -> c <-> d", "Iff(Implies(Implies(a,b),c),d)"),
            (Dialect::Promela, "G a -> F b U c U d", "Implies(Globally(a),Until(Until(Finally(b),c),d))"),
            (Dialect::Milestones, "a -> b -> c <-> d", "Iff(Implies(a,Implies(b,c)),d)"),
            (Dialect::Milestones, "a U b U c & d", "And(Until(a,Until(b,c)),d)"),
        ];
        for (dialect, text, expected) in cases {
            assert_eq!(plain(text, dialect), expected, "{text}");
        }
    }

    #[test]
    fn declared_names_are_names_and_what_is_ambiguous_is_refused() {
        let ambiguous = |word: &str| format!("`{word}` is an operator and also a name of the model");
        let names = ["a", "Fa", "GoEat", "X1", "U", "X", "AG", "true_", "TRUE", "true"];
        let cases = [
            (Dialect::Plain, "G F Fa", "Globally(Finally(Fa))".to_owned()),
            (Dialect::Plain, "GoEat U Ga", "Until(GoEat,Globally(a))".to_owned()),
            (Dialect::Plain, "XX1 & Gtrue_", "And(Next(X1),Globally(true_))".to_owned()),
            (Dialect::Plain, "Gb & Fab", "And(Globally(b),Finally(ab))".to_owned()),
            (
                Dialect::Plain,
                "GFa",
                "`GFa` can be read as `G Fa` and as `G F a`: write `G \"Fa\"` or `G F a`".to_owned(),
            ),
            (Dialect::Plain, "G \"Fa\" & G F a", "And(Globally(Fa),Globally(Finally(a)))".to_owned()),
            (Dialect::Plain, "U U U & !U", "And(Until(U,U),Not(U))".to_owned()),
            (Dialect::Plain, "X X & (X) & X a", "And(And(Next(X),X),Next(a))".to_owned()),
            (Dialect::Plain, "F AG & AG AG", "And(Finally(AG),All(Globally(AG)))".to_owned()),
            (Dialect::Plain, "X U a", "Until(X,a)".to_owned()),
            (Dialect::Plain, "X U", "Next(U)".to_owned()),
            (Dialect::Plain, "X U U a", "Until(Next(U),a)".to_owned()),
            (Dialect::Plain, "X - 1", ambiguous("X")),
            (Dialect::Plain, "true U a", "`true` is a constant and also a name of the model: write".to_owned()),
            (Dialect::Plain, "\"X\" U \"true\"", "Until(X,true)".to_owned()),
            (Dialect::Spin, "[] (X && U U Fa)", "Globally(And(X,Until(U,Fa)))".to_owned()),
            (Dialect::Spin, "X X U a", "Until(Next(X),a)".to_owned()),
            (Dialect::Spin, "true && a", "`true` is a constant".to_owned()),
            (Dialect::Smv, "AG (Fa & AG & U)", "All(Globally(And(And(Fa,AG),U)))".to_owned()),
            (Dialect::Smv, "A [ U U X ]", "All(Until(U,X))".to_owned()),
            (Dialect::Smv, "X TRUE", "`TRUE` is a constant".to_owned()),
        ];
        for (dialect, text, expected) in cases {
            let mut atoms = Atoms::from_iter(names);
            let read = parse(text, dialect, &mut atoms).map_or_else(|e| e.message, |f| shape(&f, &atoms));
            assert!(read.starts_with(&expected), "{text}: {read}");
        }
    }

    #[test]
    fn errors_name_the_place_and_what_was_expected() {
        let cases = [
            (
                Dialect::Spin,
                "a && ",
                "at byte 5: expected an atom, a constant, `(` or a prefix operator, found the end of the text",
            ),
            (Dialect::Spin, "(a", "at byte 2: expected `)`, found the end of the text"),
            (Dialect::Spin, "a b", "at byte 2: expected an operator or the end of the formula, found `b`"),
            (Dialect::Smv, "G (O a)", "at byte 3: `O` is an operator about the past, which is not supported"),
            (Dialect::Smv, "a S b", "at byte 2: `S` is an operator about the past, which is not supported"),
            (Dialect::Plain, "\"a", "at byte 0: this quotation mark has no partner"),
        ];
        for (dialect, text, expected) in cases {
            assert_eq!(plain(text, dialect), expected, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_not_fatal() {
        for text in ["(".repeat(100_000), "!".repeat(100_000), "a U ".repeat(100_000), "a & ".repeat(100_000) + "a"] {
            assert!(parse(&text, Dialect::Plain, &mut Atoms::new()).is_err());
        }
    }
}
