//! The grammar of temporal formulas, for any kind of tokens and any kind of atoms.
//!
//! A [`Source`] recognises operators, reads atoms and builds trees; everything else is the same in all notations and is
//! here: precedence climbing (M. Richards and C. Whitby-Strevens, *BCPL: the language and its compiler*, 1979), operators
//! before an operand, path quantifiers and the brackets behind them, limits on nesting, and where LTL and CTL allow
//! quantifiers. [`crate::parse_with`] reads text by it, and so do the front ends for Promela and Milestones, whose atoms
//! are expressions of their own.
//!
//! Between the brackets of `A [ f U g ]` the operands are whole formulas, as in NuSMV: all other operators bind more
//! strongly there than the `U`.

use crate::dialect::Binding;
use crate::formula::{Binary, Unary};

/// An operator of a language in which formulas are written: one of the logic, or one of its own.
pub trait Operator<L>: Copy {
    /// The operator of the logic, if it is one.
    fn logical(self) -> Option<L>;
}

impl Operator<Unary> for Unary {
    fn logical(self) -> Option<Unary> {
        Some(self)
    }
}

impl Operator<Binary> for Binary {
    fn logical(self) -> Option<Binary> {
        Some(self)
    }
}

/// Which formulas are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Any formula of CTL*.
    Any,
    /// Formulas without path quantifiers.
    Linear,
    /// Formulas in which quantifiers and temporal operators come in pairs.
    Branching,
}

/// A tree that has been read.
#[derive(Clone, Copy, Debug)]
pub struct Read<T> {
    /// The tree.
    pub tree: T,
    /// The [position](Source::position) at which it begins.
    pub start: usize,
    /// Its height.
    pub height: usize,
}

/// An operator before an operand, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<O, P> {
    /// The operator.
    pub operator: O,
    /// Where it stands.
    pub place: P,
}

/// An operator between operands, how it binds, and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Infix<O, P> {
    /// The operator.
    pub operator: O,
    /// How it binds.
    pub binding: Binding,
    /// Where it stands.
    pub place: P,
}

/// What the grammar remembers while it reads from a source.
#[derive(Clone, Debug)]
pub struct Context<P> {
    depth: usize,
    /// Between the brackets of `A [ f U g ]`, where the until ends an operand.
    in_brackets: bool,
    /// The temporal operators that have no quantifier yet, in the order in which they were read. A quantifier removes the
    /// last one, which is its operand.
    unquantified: Vec<(P, Arity)>,
}

impl<P> Default for Context<P> {
    fn default() -> Self {
        Context { depth: 0, in_brackets: false, unquantified: Vec::new() }
    }
}

/// How many operands an operator has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// One.
    Unary,
    /// Two.
    Binary,
}

/// Why the grammar refuses a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem<P> {
    /// What follows here is nested deeper than this.
    TooDeep(usize),
    /// With this operator a tree is too high.
    TooHigh {
        /// The operator.
        operator: P,
        /// The position at which the tree begins.
        start: usize,
        /// How high it may be.
        limit: usize,
    },
    /// An operator about the past.
    Past(P),
    /// A path quantifier in a formula of LTL.
    QuantifierInLtl(P),
    /// A path quantifier whose operand does not begin with a temporal operator, in a formula of CTL.
    QuantifierAlone(P),
    /// A temporal operator without a path quantifier, in a formula of CTL.
    Unquantified(P, Arity),
    /// No temporal operator stands between the brackets behind a quantifier.
    NoUntil,
}

impl<P: Copy> Problem<P> {
    /// The operator that is at fault, if it is one.
    pub fn place(&self) -> Option<P> {
        match *self {
            Problem::TooDeep(_) | Problem::NoUntil => None,
            Problem::TooHigh { operator: place, .. }
            | Problem::Past(place)
            | Problem::QuantifierInLtl(place)
            | Problem::QuantifierAlone(place)
            | Problem::Unquantified(place, _) => Some(place),
        }
    }

    /// A sentence for the user, without a full stop. `written` is how the operator at [`Problem::place`] is written.
    pub fn message(&self, written: &str) -> String {
        match self {
            Problem::TooDeep(limit) => format!("this is nested more than {limit} levels deep"),
            Problem::TooHigh { limit, .. } => format!("this expression has more than {limit} operators in a row"),
            Problem::Past(_) => format!("`{written}` is an operator about the past, which is not supported"),
            Problem::QuantifierInLtl(_) => format!("`{written}` is a path quantifier, which LTL does not have"),
            Problem::QuantifierAlone(_) => format!("`{written}` does not stand before a temporal operator"),
            Problem::Unquantified(..) => format!("`{written}` has no path quantifier"),
            Problem::NoUntil => "expected an operator, `U`, `W`, `R` or `M` between the brackets".to_owned(),
        }
    }
}

/// Tokens with the operators and atoms of a language.
pub trait Source: Sized {
    /// What is built.
    type Tree;
    /// Where an operator stands: for messages, and to step over it. Places are ordered as in the text.
    type Place: Copy + Ord;
    /// Operators before an operand.
    type Unary: Operator<Unary>;
    /// Operators between operands.
    type Binary: Operator<Binary>;
    /// A bracket behind a quantifier.
    type Bracket: Copy;
    /// Why something cannot be read.
    type Error;

    /// How deep formulas may be nested, so that no input can exhaust the stack.
    const MAX_DEPTH: usize;
    /// How high a tree may be, for those who walk it.
    const MAX_HEIGHT: usize;
    /// Whether chains of `&` and of `|` become balanced trees, so that long ones are not high.
    const BALANCED: bool = false;

    /// What the grammar remembers.
    fn context(&mut self) -> &mut Context<Self::Place>;

    /// Which formulas are accepted.
    fn logic(&self) -> Logic;

    /// The position of what is read next.
    fn position(&self) -> usize;

    /// The operator before an operand that stands here, if one does. It is not taken.
    fn prefix(&mut self) -> Result<Option<PrefixOf<Self>>, Self::Error>;

    /// The operator between operands that stands here, if one does. It is not taken.
    fn infix(&mut self) -> Result<Option<InfixOf<Self>>, Self::Error>;

    /// Steps over the operator that stands here.
    fn step_over(&mut self, operator: Self::Place);

    /// Reads an atom, or something in [parentheses](parenthesised).
    fn atom(&mut self) -> Result<Read<Self::Tree>, Self::Error>;

    /// Takes the bracket behind a quantifier, if one stands here.
    fn open(&mut self) -> Result<Option<Self::Bracket>, Self::Error>;

    /// Takes the bracket that closes it.
    fn close(&mut self, bracket: Self::Bracket) -> Result<(), Self::Error>;

    /// Whether a tree is a temporal operator with its operands, of which a path quantifier can speak.
    fn is_path(tree: &Self::Tree) -> bool;

    /// An operator applied to the operand that was read last.
    fn unary(&mut self, prefix: PrefixOf<Self>, operand: Self::Tree) -> Result<Self::Tree, Self::Error>;

    /// An operator applied to two operands, of which the right one was read last.
    fn binary(
        &mut self,
        infix: InfixOf<Self>,
        left: Read<Self::Tree>,
        right: Self::Tree,
    ) -> Result<Self::Tree, Self::Error>;

    /// Reports a problem.
    fn refuse(&mut self, problem: Problem<Self::Place>) -> Self::Error;
}

/// An operator before an operand, of a source.
pub type PrefixOf<S> = Prefix<<S as Source>::Unary, <S as Source>::Place>;

/// An operator between operands, of a source.
pub type InfixOf<S> = Infix<<S as Source>::Binary, <S as Source>::Place>;

/// Reads a formula, in which quantifiers stand where its [logic](Source::logic) allows them.
pub fn formula<S: Source>(source: &mut S) -> Result<Read<S::Tree>, S::Error> {
    source.context().unquantified.clear();
    let read = parenthesised(source, |source| climb(source, 0))?;
    match source.context().unquantified.iter().min_by_key(|(operator, _)| *operator).copied() {
        Some((operator, arity)) => Err(source.refuse(Problem::Unquantified(operator, arity))),
        None => Ok(read),
    }
}

/// Reads an operand and the operators behind it that bind at least as strongly as `least`.
pub fn climb<S: Source>(source: &mut S, least: u8) -> Result<Read<S::Tree>, S::Error> {
    let left = operand(source)?;
    climb_on(source, left, least)
}

/// As [`climb`], where the first operand has been read.
pub fn climb_on<S: Source>(source: &mut S, mut left: Read<S::Tree>, least: u8) -> Result<Read<S::Tree>, S::Error> {
    while let Some(infix) = source.infix()?
        && infix.binding.level >= least
        && !(source.context().in_brackets && is_temporal(infix.operator))
    {
        left = match infix.operator.logical() {
            // It makes no difference how these group.
            Some(Binary::And | Binary::Or) if S::BALANCED => chain(source, left, infix)?,
            _ => {
                let right = right_operand(source, infix, infix.binding.right_operand())?;
                join(source, infix, left, right)?
            }
        };
    }
    Ok(left)
}

/// Reads an operand with the operators before it.
pub fn operand<S: Source>(source: &mut S) -> Result<Read<S::Tree>, S::Error> {
    let start = source.position();
    let Some(prefix) = source.prefix()? else { return source.atom() };
    let operator = prefix.operator.logical();
    let is_quantifier = matches!(operator, Some(Unary::All | Unary::Exists));
    if is_quantifier && source.logic() == Logic::Linear {
        return Err(source.refuse(Problem::QuantifierInLtl(prefix.place)));
    }
    source.step_over(prefix.place);
    let bracket = if is_quantifier { source.open()? } else { None };
    let operand = nested(source, |source| match bracket {
        Some(bracket) => bracketed(source, bracket),
        None => operand(source),
    })?;
    if is_quantifier && source.logic() == Logic::Branching {
        if !S::is_path(&operand.tree) {
            return Err(source.refuse(Problem::QuantifierAlone(prefix.place)));
        }
        source.context().unquantified.pop();
    }
    if matches!(operator, Some(Unary::Next | Unary::Finally | Unary::Globally)) {
        note(source, prefix.place, Arity::Unary);
    }
    let height = higher(source, prefix.place, start, operand.height)?;
    Ok(Read { tree: source.unary(prefix, operand.tree)?, start, height })
}

/// Runs `read` for what stands in parentheses or brackets: an until there does not end what stands around them.
pub fn parenthesised<S: Source, T>(
    source: &mut S,
    read: impl FnOnce(&mut S) -> Result<T, S::Error>,
) -> Result<T, S::Error> {
    let outer = std::mem::replace(&mut source.context().in_brackets, false);
    let read = nested(source, read);
    source.context().in_brackets = outer;
    read
}

/// Runs `read` one level deeper, or reports that this is too deep.
pub fn nested<S: Source, T>(source: &mut S, read: impl FnOnce(&mut S) -> Result<T, S::Error>) -> Result<T, S::Error> {
    if source.context().depth >= S::MAX_DEPTH {
        return Err(source.refuse(Problem::TooDeep(S::MAX_DEPTH)));
    }
    source.context().depth += 1;
    let read = read(source);
    source.context().depth -= 1;
    read
}

fn is_temporal(operator: impl Operator<Binary>) -> bool {
    operator.logical().is_some_and(Binary::is_temporal)
}

/// Notes a temporal operator that has been read, for the rule of CTL.
fn note<S: Source>(source: &mut S, operator: S::Place, arity: Arity) {
    if source.logic() == Logic::Branching {
        source.context().unquantified.push((operator, arity));
    }
}

/// The height of a tree with an operator above others.
fn higher<S: Source>(source: &mut S, operator: S::Place, start: usize, height: usize) -> Result<usize, S::Error> {
    match height < S::MAX_HEIGHT {
        true => Ok(height + 1),
        false => Err(source.refuse(Problem::TooHigh { operator, start, limit: S::MAX_HEIGHT })),
    }
}

/// Takes an operator, and reads the operand behind it.
fn right_operand<S: Source>(source: &mut S, infix: InfixOf<S>, least: u8) -> Result<Read<S::Tree>, S::Error> {
    source.step_over(infix.place);
    nested(source, |source| climb(source, least))
}

fn join<S: Source>(
    source: &mut S,
    infix: InfixOf<S>,
    left: Read<S::Tree>,
    right: Read<S::Tree>,
) -> Result<Read<S::Tree>, S::Error> {
    let start = left.start;
    let height = higher(source, infix.place, start, left.height.max(right.height))?;
    if is_temporal(infix.operator) {
        note(source, infix.place, Arity::Binary);
    }
    Ok(Read { tree: source.binary(infix, left, right.tree)?, start, height })
}

/// The rest of `f & g & …`: a tree that is no higher than it must be, with the operands in their order.
fn chain<S: Source>(source: &mut S, first: Read<S::Tree>, infix: InfixOf<S>) -> Result<Read<S::Tree>, S::Error> {
    let least = infix.binding.level + 1;
    let mut operands = vec![first, right_operand(source, infix, least)?];
    while let Some(next) = source.infix()?
        && next.operator.logical() == infix.operator.logical()
    {
        operands.push(right_operand(source, next, least)?);
    }
    balanced(source, infix, operands)
}

fn balanced<S: Source>(
    source: &mut S,
    infix: InfixOf<S>,
    mut operands: Vec<Read<S::Tree>>,
) -> Result<Read<S::Tree>, S::Error> {
    loop {
        let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
        let mut rest = operands.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => join(source, infix, left, right)?,
                // The only one is the whole.
                None if halved.is_empty() => return Ok(left),
                None => left,
            });
        }
        operands = halved;
    }
}

/// `f U g ]` behind a quantifier and its bracket.
fn bracketed<S: Source>(source: &mut S, bracket: S::Bracket) -> Result<Read<S::Tree>, S::Error> {
    let outer = std::mem::replace(&mut source.context().in_brackets, true);
    let read = until(source);
    source.context().in_brackets = outer;
    let read = read?;
    source.close(bracket)?;
    Ok(read)
}

fn until<S: Source>(source: &mut S) -> Result<Read<S::Tree>, S::Error> {
    let left = nested(source, |source| climb(source, 0))?;
    match source.infix()? {
        Some(infix) if is_temporal(infix.operator) => {
            // All other operators bind more strongly here.
            let infix = Infix { binding: Binding::left(0), ..infix };
            let right = right_operand(source, infix, 0)?;
            join(source, infix, left, right)
        }
        _ if source.logic() == Logic::Any && !S::is_path(&left.tree) => Err(source.refuse(Problem::NoUntil)),
        _ => Ok(left),
    }
}
