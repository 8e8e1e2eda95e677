//! The notations of formulas: which words and signs are operators, how strongly they bind, and on which side they group.
//!
//! | dialect | loosest … tightest |
//! |---|---|
//! | [`Dialect::Spin`], [`Dialect::Promela`] | `-> <->` (left), `\|\|`, `&&`, `U V W R M` (left), prefix; as in Spin's inline `ltl` blocks |
//! | [`Dialect::Smv`] | `->` (right), `<->`, `\| xor xnor`, `&`, `U V` (left), prefix; as in NuSMV's `LTLSPEC`, `CTLSPEC` |
//! | [`Dialect::Milestones`] | `<->` (left), `->` (right), `\| xor`, `&`, `U W R M` (right), prefix |
//! | [`Dialect::Plain`] | `-> <->` (right), `\|`, `xor`, `&`, `U W R M` (right), prefix; as in Spot |
//!
//! These are the tables of the tools' own grammars: `spin.y` of Spin 6.5, `grammar.y` of NuSMV 2.5, `parsetl.yy` of
//! Spot 2. (Spot's manual puts `xor` below `|`, but its parser does not.) Whoever reads formulas reads them by these
//! tables, which the [grammar](crate::grammar) asks for.

use crate::formula::{Binary, Unary};

/// A notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Spin: `[] <> U V W X -> <-> && || !`, and the words `always`, `eventually`, `until`, `weakuntil`,
    /// `release`, `next`, `implies`, `equivalent`.
    Spin,
    /// NuSMV: `G F X U V & | xor xnor -> <-> !`, `AG EF AX …`, `A [ f U g ]`, `TRUE`, `FALSE`.
    Smv,
    /// Spot and plain words: `G F X U W R M & | xor -> <-> ! 1 0`, also `/\ \/ && || [] <>` and Spin's words, the path
    /// quantifiers `A` and `E`, `A [ f U g ]`, and `AG EF AX …` in one word. A word that begins with `F`, `G` or `X` is
    /// read as these operators, as in `GFa`, unless it is declared or a digit follows: `F1` is an atom. `true` and
    /// `false` may be written in capitals.
    Plain,
    /// The operators of [`Dialect::Plain`], which bind as in Spin: formulas beside a Promela model.
    Promela,
    /// The operators of [`Dialect::Plain`], which bind as in Milestones.
    Milestones,
}

/// How operators group that bind equally strongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a -> b -> c` is `a -> (b -> c)`.
    Right,
}

/// How an operator between operands binds: more strongly than all of a lower level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// How strongly, from 1.
    pub level: u8,
    /// How operators of this level group.
    pub grouping: Grouping,
}

impl Binding {
    /// An operator that groups to the left.
    pub const fn left(level: u8) -> Binding {
        Binding { level, grouping: Grouping::Left }
    }

    /// An operator that groups to the right.
    pub const fn right(level: u8) -> Binding {
        Binding { level, grouping: Grouping::Right }
    }

    /// The least level of an operator that belongs to the right operand.
    pub fn right_operand(self) -> u8 {
        match self.grouping {
            Grouping::Left => self.level + 1,
            Grouping::Right => self.level,
        }
    }
}

/// What a word means, beside a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A truth value.
    Constant(bool),
    /// An operator before its operand; several for words like `AG`.
    Prefix(&'static [Unary]),
    /// An operator between operands.
    Infix(Binary, Binding),
    /// An operator about the past before its operand, which is refused.
    PastPrefix,
    /// An operator about the past between its operands, which is refused.
    PastInfix,
}

impl Dialect {
    /// How an operator binds.
    ///
    /// ```
    /// use ample_logic::{Binary, Dialect, Grouping};
    /// assert_eq!(Dialect::Spin.binding(Binary::Implies).grouping, Grouping::Left);
    /// assert_eq!(Dialect::Plain.binding(Binary::Implies).grouping, Grouping::Right);
    /// assert!(Dialect::Plain.binding(Binary::Until).level > Dialect::Plain.binding(Binary::And).level);
    /// ```
    pub fn binding(self, op: Binary) -> Binding {
        use Binary::{And, Iff, Implies, Or, Xor};
        match (self, op) {
            (Dialect::Spin | Dialect::Promela, Implies | Iff) => Binding::left(1),
            (Dialect::Spin | Dialect::Promela, Or | Xor) => Binding::left(2),
            (Dialect::Spin | Dialect::Promela, And) => Binding::left(3),
            (Dialect::Spin | Dialect::Promela, _) => Binding::left(4),
            (Dialect::Smv, Implies) | (Dialect::Plain, Implies | Iff) => Binding::right(1),
            (Dialect::Milestones, Iff) => Binding::left(1),
            (Dialect::Milestones, Implies) => Binding::right(2),
            (Dialect::Smv, Iff) | (Dialect::Plain, Or) => Binding::left(2),
            (Dialect::Smv | Dialect::Milestones, Or | Xor) | (Dialect::Plain, Xor) => Binding::left(3),
            (Dialect::Smv | Dialect::Plain | Dialect::Milestones, And) => Binding::left(4),
            (Dialect::Smv, _) => Binding::left(5),
            (Dialect::Plain | Dialect::Milestones, _) => Binding::right(5),
        }
    }

    /// What a word means where it is no name.
    pub fn word(self, word: &str) -> Option<Word> {
        match self {
            Dialect::Spin => self.constant(word).or_else(|| self.spin_word(word)),
            Dialect::Smv => self.constant(word).or_else(|| self.smv_word(word)),
            Dialect::Plain | Dialect::Promela | Dialect::Milestones => {
                self.constant(word).or_else(|| self.spin_word(word)).or_else(|| self.letter_word(word))
            }
        }
    }

    fn infix(self, op: Binary) -> Word {
        Word::Infix(op, self.binding(op))
    }

    fn constant(self, word: &str) -> Option<Word> {
        let value = match (self, word) {
            (Dialect::Smv, "TRUE") => true,
            (Dialect::Smv, "FALSE") => false,
            (Dialect::Smv, _) => return None,
            (_, "true" | "1") => true,
            (_, "false" | "0") => false,
            (Dialect::Spin, _) => return None,
            (_, word) if word.eq_ignore_ascii_case("true") => true,
            (_, word) if word.eq_ignore_ascii_case("false") => false,
            _ => return None,
        };
        Some(Word::Constant(value))
    }

    fn spin_word(self, word: &str) -> Option<Word> {
        Some(match word {
            "X" | "next" => Word::Prefix(&[Unary::Next]),
            "always" => Word::Prefix(&[Unary::Globally]),
            "eventually" => Word::Prefix(&[Unary::Finally]),
            "U" | "until" | "stronguntil" => self.infix(Binary::Until),
            "W" | "weakuntil" => self.infix(Binary::WeakUntil),
            "V" | "release" => self.infix(Binary::Release),
            "implies" => self.infix(Binary::Implies),
            "equivalent" => self.infix(Binary::Iff),
            _ => return None,
        })
    }

    /// The letters of Spot and the pairs of CTL.
    fn letter_word(self, word: &str) -> Option<Word> {
        Some(match word {
            "G" => Word::Prefix(&[Unary::Globally]),
            "F" => Word::Prefix(&[Unary::Finally]),
            "R" => self.infix(Binary::Release),
            "M" => self.infix(Binary::StrongRelease),
            "xor" => self.infix(Binary::Xor),
            "O" | "H" | "Y" | "Z" if self == Dialect::Promela => Word::PastPrefix,
            "S" | "T" if self == Dialect::Promela => Word::PastInfix,
            _ => return quantified(word),
        })
    }

    fn smv_word(self, word: &str) -> Option<Word> {
        Some(match word {
            "X" => Word::Prefix(&[Unary::Next]),
            "G" => Word::Prefix(&[Unary::Globally]),
            "F" => Word::Prefix(&[Unary::Finally]),
            "U" => self.infix(Binary::Until),
            "V" => self.infix(Binary::Release),
            "xor" => self.infix(Binary::Xor),
            // As strong as `xor`, whose negation it is.
            "xnor" => Word::Infix(Binary::Iff, self.binding(Binary::Xor)),
            "O" | "H" | "Y" | "Z" => Word::PastPrefix,
            "S" | "T" => Word::PastInfix,
            _ => return quantified(word),
        })
    }

    /// The operator between operands whose sign a text begins with, and the length of the sign.
    pub fn infix_sign(self, rest: &str) -> Option<(Binary, usize)> {
        let signs: &[(&str, Binary)] = match self {
            Dialect::Spin => SPIN_SIGNS,
            Dialect::Smv => SMV_SIGNS,
            Dialect::Plain | Dialect::Promela | Dialect::Milestones => PLAIN_SIGNS,
        };
        signs.iter().find(|(sign, _)| rest.starts_with(sign)).map(|(sign, op)| (*op, sign.len()))
    }

    /// The operator before an operand whose sign a text begins with, and the length of the sign.
    pub fn prefix_sign(self, rest: &str) -> Option<(Unary, usize)> {
        let signs: &[(&str, Unary)] = &[("!", Unary::Not), ("[]", Unary::Globally), ("<>", Unary::Finally)];
        let signs = if self == Dialect::Smv { &signs[..1] } else { signs };
        signs.iter().find(|(sign, _)| rest.starts_with(sign)).map(|(sign, op)| (*op, sign.len()))
    }

    /// Whether letters are written together with each other and with what follows, as in `GFa`.
    pub(crate) fn joins_letters(self) -> bool {
        matches!(self, Dialect::Plain | Dialect::Promela | Dialect::Milestones)
    }
}

/// Longer signs come before those that they begin with.
const SPIN_SIGNS: &[(&str, Binary)] = &[
    ("<->", Binary::Iff),
    ("->", Binary::Implies),
    ("||", Binary::Or),
    ("\\/", Binary::Or),
    ("&&", Binary::And),
    ("/\\", Binary::And),
];
const SMV_SIGNS: &[(&str, Binary)] =
    &[("<->", Binary::Iff), ("->", Binary::Implies), ("|", Binary::Or), ("&", Binary::And)];
const PLAIN_SIGNS: &[(&str, Binary)] = &[
    ("<->", Binary::Iff),
    ("<=>", Binary::Iff),
    ("->", Binary::Implies),
    ("=>", Binary::Implies),
    ("||", Binary::Or),
    ("|", Binary::Or),
    ("\\/", Binary::Or),
    ("^", Binary::Xor),
    ("&&", Binary::And),
    ("&", Binary::And),
    ("/\\", Binary::And),
];

fn quantified(word: &str) -> Option<Word> {
    use Unary::{All, Exists, Finally, Globally, Next};
    Some(Word::Prefix(match word {
        "A" => &[All],
        "E" => &[Exists],
        "AX" => &[All, Next],
        "AF" => &[All, Finally],
        "AG" => &[All, Globally],
        "EX" => &[Exists, Next],
        "EF" => &[Exists, Finally],
        "EG" => &[Exists, Globally],
        _ => return None,
    }))
}
