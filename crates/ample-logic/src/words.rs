//! What a word is where an operand may begin: the name of an atom, or an operator.
//!
//! Operators are letters and names are words, so that `Fa` can be the atom `Fa`, or `F` before the atom `a`; and an
//! atom can be called `X`. A declared name is that name. Where it could as well be an operator, what follows decides:
//! behind a name there is no operand. What both make sense of is ambiguous, and is refused.

use crate::dialect::{Dialect, Word};

/// What a word is, see [`reading`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The name of an atom, whether declared or not.
    Name,
    /// An operator, a constant, or letters that begin with an operator.
    Operator,
}

/// Tells whether a word that stands where an operand may begin is a name, given what names are declared and the text
/// `after` the word; or, where it is ambiguous, how to write what is meant.
///
/// ```
/// use ample_logic::{Dialect, Reading, reading};
/// let names = |word: &str| ["Fa", "a", "X"].contains(&word);
/// let read = |word, after| reading(word, after, Dialect::Plain, &names);
/// assert_eq!(read("Fa", ""), Ok(Reading::Name));
/// assert_eq!(read("Ga", ""), Ok(Reading::Operator));
/// assert_eq!(read("Gb", ""), Ok(Reading::Name)); // though not a declared one
/// assert_eq!(read("X", " U a"), Ok(Reading::Name));
/// assert_eq!(read("X", " a"), Ok(Reading::Operator));
/// assert!(read("GFa", "").is_err());
/// ```
pub fn reading(
    word: &str,
    after: &str,
    dialect: Dialect,
    is_declared: &dyn Fn(&str) -> bool,
) -> Result<Reading, String> {
    match (is_declared(word), reserved(word, dialect)) {
        (true, None | Some(Word::Infix(..) | Word::PastPrefix | Word::PastInfix)) => Ok(Reading::Name),
        (true, Some(Word::Constant(_))) => {
            Err(format!("`{word}` is a constant and also a name of the model: write `\"{word}\"` for the name"))
        }
        (true, Some(Word::Prefix(_))) => match follower(followers(after, dialect, is_declared)) {
            Follower::Operand => Ok(Reading::Operator),
            Follower::Other => Ok(Reading::Name),
            Follower::Either | Follower::InfixName => Err(format!(
                "`{word}` is an operator and also a name of the model: write `\"{word}\"` for the name, \
                 and put parentheses behind the operator"
            )),
        },
        (false, Some(_)) => Ok(Reading::Operator),
        (false, None) if dialect.joins_letters() => joined_letters(word, is_declared),
        (false, None) => Ok(Reading::Name),
    }
}

/// A word that is not declared, in a dialect where `GFa` is `G F a`.
fn joined_letters(word: &str, is_declared: &dyn Fn(&str) -> bool) -> Result<Reading, String> {
    let is_operand = |rest: &str| is_declared(rest) || is_truth(rest);
    let splits: Vec<usize> = (1..=letters(word)).filter(|length| is_operand(&word[*length..])).collect();
    match splits[..] {
        [] => Ok(Reading::Name),
        [_] => Ok(Reading::Operator),
        [first, second, ..] => {
            let (one, name) = (apart(word, first, ""), apart(word, first, "\""));
            let other = apart(word, second, "");
            Err(format!("`{word}` can be read as `{one}` and as `{other}`: write `{name}` or `{other}`"))
        }
    }
}

/// So many operators at the beginning of a word, and the rest as a name, with blanks between them.
fn apart(word: &str, operators: usize, quote: &str) -> String {
    let letters: String = word[..operators].chars().flat_map(|letter| [letter, ' ']).collect();
    format!("{letters}{quote}{}{quote}", &word[operators..])
}

/// How many letters at the beginning of a word could be operators.
fn letters(word: &str) -> usize {
    word.bytes().take_while(|byte| b"FGX".contains(byte)).count()
}

fn is_truth(word: &str) -> bool {
    ["true", "false"].iter().any(|constant| word.eq_ignore_ascii_case(constant))
}

fn reserved(word: &str, dialect: Dialect) -> Option<Word> {
    let only_letters = || dialect.joins_letters() && !word.is_empty() && letters(word) == word.len();
    dialect.word(word).or_else(|| only_letters().then_some(Word::Prefix(&[])))
}

/// Whether a word means something other than an atom where no names are declared.
pub(crate) fn is_reserved(word: &str, dialect: Dialect) -> bool {
    let begins_with_operator = || {
        let rest = word.strip_prefix(['F', 'G', 'X']);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    reserved(word, dialect).is_some() || dialect.joins_letters() && begins_with_operator()
}

/// What stands behind a word that is an operator and also a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follower {
    /// An operand: the word is an operator.
    Operand,
    /// Something that stands behind operands, or nothing: the word is a name.
    Other,
    /// It could be both.
    Either,
    /// A name like `U`, which stands between operands or is one: as an operand follows it, or does not.
    InfixName,
}

/// More names in a row than this are not looked at.
const MOST_NAMES: usize = 100;

/// Tells what stands behind a word from what follows it, one thing after the other: never [`Follower::InfixName`].
pub fn follower(followers: impl Iterator<Item = Follower>) -> Follower {
    let mut is_turned = false;
    for next in followers.take(MOST_NAMES) {
        match next {
            Follower::InfixName => is_turned = !is_turned,
            Follower::Operand if is_turned => return Follower::Other,
            Follower::Other if is_turned => return Follower::Operand,
            next => return next,
        }
    }
    Follower::Either
}

fn followers(after: &str, dialect: Dialect, is_declared: &dyn Fn(&str) -> bool) -> impl Iterator<Item = Follower> {
    let is_infix = move |word: &str| matches!(reserved(word, dialect), Some(Word::Infix(..)));
    let mut after = after.trim_start();
    std::iter::from_fn(move || {
        let word = word_at(after);
        let next = match is_infix(word) && is_declared(word) {
            true => Follower::InfixName,
            false => first_follower(after, is_infix(word)),
        };
        after = after[word.len()..].trim_start();
        Some(next)
    })
}

fn first_follower(after: &str, is_infix: bool) -> Follower {
    let begins = |sign: &str| after.starts_with(sign);
    if !word_at(after).is_empty() {
        return if is_infix { Follower::Other } else { Follower::Operand };
    }
    if begins("-") && !begins("->") {
        return Follower::Either;
    }
    let is_negation = begins("!") && !begins("!=");
    if is_negation || ["(", "[", "<>", "\""].into_iter().any(begins) { Follower::Operand } else { Follower::Other }
}

/// The identifier (letters, digits, `_`, `.`, `@`, `$`) at the beginning of `rest`, or nothing.
pub(crate) fn word_at(rest: &str) -> &str {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '$'))).unwrap_or(rest.len());
    &rest[..end]
}
