//! What conditions ask, sharply enough to say who can make them true or false.

use ample_model::{BinaryOp, Communication, Expr, Pattern, Scalar, System, UnaryOp};

use super::{Half, ObjectNumber};
use crate::scheme::{Operation, TransitionNumber, Verb};

/// Which channels a communication may be on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One of these objects.
    These(Vec<ObjectNumber>),
    /// Any.
    Any,
}

/// A message as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The channel it is put into.
    pub object: ObjectNumber,
    /// The values of its fields that are the same in every state.
    pub fields: Vec<Option<i64>>,
}

impl Sent {
    /// Among the operations there is a message to the same channel.
    pub fn is_one_of(&self, operations: &[Operation]) -> bool {
        let sends = |verb: Verb| matches!(verb, Verb::Send | Verb::SendSorted);
        operations.iter().any(|operation| operation.object == self.object && sends(operation.verb))
    }
}

/// What a condition asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// It never holds.
    Never,
    /// Nothing else can move.
    Timeout,
    /// The process is the youngest.
    Youngest,
    /// None of these edges can be taken.
    Blocked(Vec<TransitionNumber>),
    /// There is room in the channel.
    Room(ObjectNumber),
    /// There is a message that fits: the oldest, or anywhere.
    Message {
        /// In this channel.
        object: ObjectNumber,
        /// Any message will do, not only the oldest.
        anywhere: bool,
        /// What its fields must be, as far as that is the same in every state.
        fields: Vec<Option<i64>>,
    },
    /// There are so many messages, true at these numbers.
    Length(ObjectNumber, Vec<bool>),
    /// The cell has one of these values.
    Cell(ObjectNumber, Values),
    /// The messages of a handshake agree.
    Fits,
    /// Something about its objects.
    Other,
}

/// A set of values of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// Values up to 255, as bits; the second is the largest that the type has.
    Small([u64; 4], u8),
    /// Only this one.
    Equal(i64),
    /// All but this one.
    Unequal(i64),
}

impl Values {
    /// Those for which the condition on a cell of that type holds, if that can be told.
    pub fn of(condition: &Expr, scalar: Scalar) -> Option<Values> {
        let most = match scalar {
            Scalar::Int { bits, signed: false } if bits <= 8 => (1u32 << bits) - 1,
            Scalar::Range { low, high, .. } if low >= 0 && high <= 255 => high as u32,
            Scalar::Enumeration(_) => 255,
            _ => return equality(condition),
        };
        let mut bits = [0; 4];
        for value in 0..=most {
            if evaluate(condition, value.into())? != 0 {
                bits[value as usize / 64] |= 1 << (value % 64);
            }
        }
        Some(Values::Small(bits, most as u8))
    }

    /// Is the value among them?
    pub fn contains(&self, value: i64) -> bool {
        match self {
            Values::Small(bits, _) => {
                usize::try_from(value).is_ok_and(|v| v < 256 && bits[v / 64] >> (v % 64) & 1 != 0)
            }
            Values::Equal(only) => value == *only,
            Values::Unequal(not) => value != *not,
        }
    }

    /// Is there a value in both?
    pub fn meets(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::Small(x, _), Values::Small(y, _)) => x.iter().zip(y).any(|(x, y)| x & y != 0),
            (Values::Equal(x), other) | (other, Values::Equal(x)) => other.contains(*x),
            _ => true,
        }
    }

    /// Can the operation make the value one of these, and can it make it none of them?
    pub fn changed_by(&self, verb: Verb) -> (bool, bool) {
        match (verb, self) {
            (Verb::Read, _) => (false, false),
            (Verb::Set(value), Values::Small(_, most)) => {
                // The type keeps the low bits, or the value lies in its range.
                let inside = (0..=i64::from(*most)).contains(&value);
                if inside { (self.contains(value), !self.contains(value)) } else { (true, true) }
            }
            (Verb::Set(value), _) => (self.contains(value), !self.contains(value)),
            (Verb::Add(by), Values::Small(_, most)) => {
                let size = i64::from(*most) + 1;
                let changes = |to: bool| {
                    let differs =
                        |value: i64| self.contains(value) != to && self.contains((value + by).rem_euclid(size)) == to;
                    (0..size).any(differs)
                };
                (changes(true), changes(false))
            }
            (Verb::Add(_), Values::Equal(_) | Values::Unequal(_)) => (true, true),
            _ => (true, true),
        }
    }
}

fn equality(condition: &Expr) -> Option<Values> {
    match condition {
        Expr::Read(_) => Some(Values::Unequal(0)),
        Expr::Unary(UnaryOp::Not, x) => Some(match equality(x)? {
            Values::Equal(value) => Values::Unequal(value),
            Values::Unequal(value) => Values::Equal(value),
            small => small,
        }),
        Expr::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), x, y) => {
            let value = match (&**x, &**y) {
                (Expr::Read(_), Expr::Const(value)) | (Expr::Const(value), Expr::Read(_)) => *value,
                _ => return None,
            };
            Some(if *op == BinaryOp::Equal { Values::Equal(value) } else { Values::Unequal(value) })
        }
        _ => None,
    }
}

/// The value of an expression whose only unknown has that value.
pub fn evaluate(expr: &Expr, unknown: i64) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Read(_) | Expr::Length(_) => Some(unknown),
        Expr::Unary(UnaryOp::Negate, x) => evaluate(x, unknown)?.checked_neg(),
        Expr::Unary(UnaryOp::Not, x) => Some((evaluate(x, unknown)? == 0).into()),
        Expr::Unary(UnaryOp::Complement, x) => Some(!evaluate(x, unknown)?),
        Expr::Binary(op, x, y) => {
            let x = evaluate(x, unknown)?;
            match (op, x) {
                (BinaryOp::And, 0) => Some(0),
                (BinaryOp::Or, x) if x != 0 => Some(1),
                _ => op.apply(x, evaluate(y, unknown)?).ok(),
            }
        }
        Expr::Cast(scalar, x) => scalar.fit(evaluate(x, unknown)?),
        Expr::Shared(x) => evaluate(x, unknown),
        Expr::Conditional(condition, x, y) => {
            if evaluate(condition, unknown)? != 0 {
                evaluate(x, unknown)
            } else {
                evaluate(y, unknown)
            }
        }
        _ => None,
    }
}

/// The known fields do not contradict each other.
pub fn agree(these: &[Option<i64>], those: &[Option<i64>]) -> bool {
    let contradicts = |(x, y): (&Option<i64>, &Option<i64>)| matches!((x, y), (Some(x), Some(y)) if x != y);
    !these.iter().zip(those).any(contradicts)
}

/// The fields of a message that are the same in every state, as the channel keeps them.
pub fn sent_fields(values: &[Expr], fields: &[Scalar]) -> Vec<Option<i64>> {
    let fitted = |(value, scalar): (&Expr, &Scalar)| match value {
        Expr::Const(value) => scalar.fit(*value),
        _ => None,
    };
    values.iter().zip(fields).map(fitted).collect()
}

/// The fields that a pattern asks for that are the same in every state.
pub fn wanted_fields(patterns: &[Pattern]) -> Vec<Option<i64>> {
    let wanted = |pattern: &Pattern| match pattern {
        Pattern::Match(Expr::Const(value)) => Some(*value),
        _ => None,
    };
    patterns.iter().map(wanted).collect()
}

impl Test {
    /// Can an operation on the object, in which that message is sent if any, make it true, and can it make it false?
    /// Not for `Timeout`, `Blocked` and `Youngest`.
    pub fn changed_by(&self, verb: Verb, sent: Option<&[Option<i64>]>) -> (bool, bool) {
        let fits = |fields: &[Option<i64>]| sent.is_none_or(|sent| agree(sent, fields));
        match (self, verb) {
            (Test::Never, _) => (false, false),
            (Test::Room(_), Verb::Send | Verb::SendSorted) => (false, true),
            (Test::Room(_), Verb::Receive | Verb::ReceiveAnywhere) => (true, false),
            (Test::Message { fields, .. }, Verb::Send) => (fits(fields), false),
            (Test::Message { anywhere: true, fields, .. }, Verb::SendSorted) => (fits(fields), false),
            (Test::Message { anywhere: false, fields, .. }, Verb::SendSorted) => (fits(fields), true),
            (Test::Message { anywhere, .. }, Verb::Receive | Verb::ReceiveAnywhere) => (!anywhere, true),
            (Test::Length(_, holds), Verb::Send | Verb::SendSorted) => steps(holds.windows(2).map(|w| (w[0], w[1]))),
            (Test::Length(_, holds), Verb::Receive | Verb::ReceiveAnywhere) => {
                steps(holds.windows(2).map(|w| (w[1], w[0])))
            }
            (Test::Cell(_, values), verb) => values.changed_by(verb),
            (_, Verb::Read | Verb::Peek | Verb::Search | Verb::Length | Verb::Empty | Verb::Full) => (false, false),
            _ => (true, true),
        }
    }

    /// Both may hold in one state.
    pub fn agrees(&self, other: &Test) -> bool {
        match (self, other) {
            (Test::Never, _) | (_, Test::Never) => false,
            (Test::Cell(x, these), Test::Cell(y, those)) => x != y || these.meets(those),
            (
                Test::Message { object: x, anywhere: false, fields: these },
                Test::Message { object: y, anywhere: false, fields: those },
            ) => x != y || agree(these, those),
            (Test::Length(x, these), Test::Length(y, those)) => {
                x != y || these.iter().zip(those).any(|(x, y)| *x && *y)
            }
            (Test::Length(x, holds), Test::Message { object: y, .. })
            | (Test::Message { object: y, .. }, Test::Length(x, holds)) => x != y || holds[1..].contains(&true),
            (Test::Length(x, holds), Test::Room(y)) | (Test::Room(y), Test::Length(x, holds)) => {
                x != y || holds[..holds.len() - 1].contains(&true)
            }
            _ => true,
        }
    }
}

fn steps(steps: impl Iterator<Item = (bool, bool)> + Clone) -> (bool, bool) {
    (steps.clone().any(|step| step == (false, true)), steps.clone().any(|step| step == (true, false)))
}

/// The two may shake hands: on one channel, with a message that fits.
pub(super) fn may_shake(system: &System, sender: &Half, receiver: &Half) -> bool {
    let common: Option<Vec<u32>> = match (&sender.channels, &receiver.channels) {
        (Some(these), Some(those)) => Some(these.iter().copied().filter(|handle| those.contains(handle)).collect()),
        _ => None,
    };
    if common.is_some_and(|common| common.is_empty()) {
        return false;
    }
    let (Communication::Send { values, .. }, Communication::Receive { patterns, .. }) =
        (&sender.communication, &receiver.communication)
    else {
        return false;
    };
    // The message is fitted to the types of the channel, which may be any of these.
    let kinds = system.channels.iter().filter(|kind| kind.capacity == 0 && kind.fields.len() == values.len());
    let mut possible = kinds.map(|kind| sent_fields(values, &kind.fields));
    possible.any(|sent| agree(&sent, &wanted_fields(patterns)))
}
