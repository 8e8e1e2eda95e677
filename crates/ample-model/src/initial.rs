//! Initial states: which there are, and which is which.
//!
//! A cell may start with one of several values ([`Initial::AnyOf`], [`Initial::Between`]), and there is an initial state
//! for every combination. Four cells of 16 bits have 2^64 of them, forty cells 2^640: they are enumerated one by one and
//! never counted in machine words. The number of an initial state is read in a mixed radix, a digit for each cell with a
//! choice, the last cell's being the least; a [`StartNumber`] has as many digits as that needs.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::system::{Initial, Scalar, System, VariableKind};

/// The values that a cell may start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// One of these.
    Listed(&'a [i64]),
    /// One from the first to the second.
    Between(i64, i64),
    /// One of these named ones.
    Named(&'a [(String, i64)]),
}

impl Choice<'_> {
    /// How many there are, one at least: a choice of nothing is that of 0.
    pub fn len(&self) -> u64 {
        match self {
            Choice::Listed(values) => (values.len() as u64).max(1),
            Choice::Between(least, most) => most.checked_sub(*least).map_or(1, |more| more.max(0) as u64 + 1),
            Choice::Named(values) => (values.len() as u64).max(1),
        }
    }

    /// Never: there is always a value.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The value of that number.
    pub fn get(&self, number: u64) -> i64 {
        match self {
            Choice::Listed(values) => values.get(number as usize).copied().unwrap_or(0),
            Choice::Between(least, _) => least.saturating_add_unsigned(number),
            Choice::Named(values) => values.get(number as usize).map_or(0, |(_, value)| *value),
        }
    }

    /// The number of the first value that is stored as `stored`, where `fit` says how a value is stored.
    pub fn position(&self, stored: i64, fit: impl Fn(i64) -> Option<i64>) -> Option<u64> {
        match self {
            Choice::Listed(values) => values.iter().position(|value| fit(*value) == Some(stored)).map(|at| at as u64),
            Choice::Between(least, most) => (*least..=*most)
                .contains(&stored)
                .then(|| stored.abs_diff(*least))
                .filter(|_| fit(stored) == Some(stored)),
            Choice::Named(values) => {
                values.iter().position(|(_, value)| fit(*value) == Some(stored)).map(|at| at as u64)
            }
        }
    }
}

impl Initial {
    /// What there is to choose from, if there is a choice.
    pub fn choice(&self) -> Option<Choice<'_>> {
        match self {
            Initial::AnyOf(values) => Some(Choice::Listed(values)),
            Initial::Between(least, most) => Some(Choice::Between(*least, *most)),
            Initial::Value(_) | Initial::Channel(_) => None,
        }
    }
}

impl System {
    /// The values of a type, if it has an end of them.
    pub fn values_of(&self, scalar: Scalar) -> Option<Choice<'_>> {
        let few = |least: i64, most: i64| most.checked_sub(least).is_some_and(|more| more < i64::MAX);
        match scalar {
            Scalar::Int { bits, signed: false } => Some(Choice::Between(0, (1 << bits) - 1)),
            Scalar::Int { bits, signed: true } => Some(Choice::Between(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Scalar::Range { low, high, .. } => few(low, high).then_some(Choice::Between(low, high)),
            Scalar::Enumeration(id) => {
                let values = &self.enumerations.get(id.index())?.values;
                (!values.is_empty()).then_some(Choice::Named(values))
            }
            Scalar::Channel | Scalar::Process | Scalar::Reference(_) | Scalar::Unbounded => None,
        }
    }
}

/// A global cell of a synchronous system that may start with one of several values.
pub(crate) struct FreeCell<'a> {
    /// Its slot among all global slots.
    pub slot: u32,
    pub choice: Choice<'a>,
}

/// The cells of a synchronous system that may start with one of several values, in slot order: those that have a choice of
/// first values, and those of which nothing is said.
pub(crate) fn free_cells(system: &System) -> impl Iterator<Item = FreeCell<'_>> {
    let mut first = 0;
    system.globals.iter().flat_map(move |variable| {
        let (offset, scalars) = (first, system.scalars(&variable.ty));
        first += scalars.len() as u32;
        let is_state = variable.kind != VariableKind::Input;
        (0u32..).zip(scalars).filter(move |_| is_state).filter_map(move |(slot, scalar)| {
            let choice = match variable.initial.iter().find(|(listed, _)| *listed == slot) {
                Some((_, initial)) => initial.choice()?,
                None => system.values_of(scalar)?,
            };
            Some(FreeCell { slot: offset + slot, choice })
        })
    })
}

/// The combinations of first values: one for each initial state.
///
/// ```
/// use ample_model::{Combinations, StartNumber};
///
/// let all = Combinations::new(vec![2, 3]);
/// assert_eq!(all.iter().nth(4), Some(vec![1, 1]));
/// assert_eq!(all.get(&StartNumber::from(4)), Some(vec![1, 1]));
/// assert_eq!(all.number(&[1, 1]), StartNumber::from(4));
/// assert_eq!(all.get(&StartNumber::from(6)), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combinations {
    /// How many values each cell with a choice has, in slot order.
    sizes: Vec<u64>,
}

impl Combinations {
    /// Of cells with so many values each, one at least.
    pub fn new(sizes: Vec<u64>) -> Combinations {
        Combinations { sizes: sizes.into_iter().map(|size| size.max(1)).collect() }
    }

    /// Of the first values of a system: those of its globals, then those of the locals of every process that is there from
    /// the beginning. Those that do not satisfy the `init` and the invariant of a synchronous system are not left out.
    pub fn of(system: &System) -> Combinations {
        if system.synchronous().is_some() {
            return Combinations { sizes: free_cells(system).map(|cell| cell.choice.len()).collect() };
        }
        let locals = system.start.iter().flat_map(|instance| &system.process(instance.process).locals);
        let initials = system.globals.iter().chain(locals).flat_map(|variable| &variable.initial);
        Combinations { sizes: initials.filter_map(|(_, initial)| Some(initial.choice()?.len())).collect() }
    }

    /// All of them, one by one, the last cell's choice varying fastest.
    pub fn iter(&self) -> impl Iterator<Item = Vec<u64>> + use<> {
        let all = self.clone();
        std::iter::successors(Some(vec![0; self.sizes.len()]), move |choices| all.after(choices))
    }

    /// The next one; `None` after the last.
    fn after(&self, choices: &[u64]) -> Option<Vec<u64>> {
        let mut next = choices.to_vec();
        for (choice, size) in next.iter_mut().zip(&self.sizes).rev() {
            *choice += 1;
            if *choice < *size {
                return Some(next);
            }
            *choice = 0;
        }
        None
    }

    /// The one of that number; `None` if there are not so many.
    pub fn get(&self, number: &StartNumber) -> Option<Vec<u64>> {
        let mut rest = number.clone();
        let mut choices = vec![0; self.sizes.len()];
        for (choice, size) in choices.iter_mut().zip(&self.sizes).rev() {
            *choice = rest.divide(*size);
        }
        rest.is_zero().then_some(choices)
    }

    /// Like [`get`](Self::get), for those who enumerate: writes the one of that number to `out`; false if there are not
    /// so many.
    pub fn write(&self, mut number: u64, out: &mut Vec<u64>) -> bool {
        out.clear();
        out.resize(self.sizes.len(), 0);
        for (choice, size) in out.iter_mut().zip(&self.sizes).rev() {
            (*choice, number) = (number % size, number / size);
        }
        number == 0
    }

    /// The number of one.
    pub fn number(&self, choices: &[u64]) -> StartNumber {
        let mut number = StartNumber::default();
        for (choice, size) in choices.iter().zip(&self.sizes) {
            number.multiply_add(*size, *choice);
        }
        number
    }
}

/// The number of an initial state, counted from 0. There may be more than a machine word can count.
///
/// In JSON it is a number up to 2^53, and a string of decimal digits beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StartNumber {
    /// In base 2^32, the least digit first, no zeros at the end.
    digits: Vec<u32>,
}

/// Up to here every reader of JSON keeps a number as it is.
const EXACT: u64 = 1 << 53;

impl StartNumber {
    /// The first initial state?
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn small(&self) -> Option<u64> {
        match self.digits[..] {
            [] => Some(0),
            [low] => Some(low.into()),
            [low, high] => Some(u64::from(low) | u64::from(high) << 32),
            _ => None,
        }
    }

    fn multiply_add(&mut self, factor: u64, summand: u64) {
        let mut carry = u128::from(summand);
        for digit in &mut self.digits {
            carry += u128::from(*digit) * u128::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.digits.push(carry as u32);
            carry >>= 32;
        }
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }

    /// Divides by a number that is not 0, and returns the remainder.
    fn divide(&mut self, divisor: u64) -> u64 {
        let mut rest = 0u128;
        for digit in self.digits.iter_mut().rev() {
            let value = rest << 32 | u128::from(*digit);
            *digit = (value / u128::from(divisor)) as u32;
            rest = value % u128::from(divisor);
        }
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        rest as u64
    }

    fn parse(text: &str) -> Option<StartNumber> {
        let mut number = StartNumber::default();
        for byte in text.bytes() {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            number.multiply_add(10, digit.into());
        }
        (!text.is_empty()).then_some(number)
    }
}

impl From<u64> for StartNumber {
    fn from(number: u64) -> StartNumber {
        let mut result = StartNumber::default();
        result.multiply_add(1, number);
        result
    }
}

impl From<&StartNumber> for StartNumber {
    fn from(number: &StartNumber) -> StartNumber {
        number.clone()
    }
}

impl fmt::Display for StartNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(small) = self.small() {
            return write!(f, "{small}");
        }
        let mut rest = self.clone();
        let mut text = Vec::new();
        while !rest.is_zero() {
            text.push(b'0' + rest.divide(10) as u8);
        }
        text.iter().rev().try_for_each(|digit| write!(f, "{}", char::from(*digit)))
    }
}

impl Serialize for StartNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.small() {
            Some(small) if small <= EXACT => serializer.serialize_u64(small),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for StartNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StartNumber, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Digits(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number.into()),
            Written::Digits(digits) => StartNumber::parse(&digits)
                .ok_or_else(|| D::Error::custom("the number of an initial state has decimal digits only")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_have_numbers_however_many_there_are() {
        let all = Combinations::new(vec![1 << 16; 40]);
        let last = vec![(1 << 16) - 1; 40];
        let number = all.number(&last);
        assert_eq!(all.get(&number), Some(last));
        let mut beyond = number.clone();
        beyond.multiply_add(1, 1);
        assert_eq!(all.get(&beyond), None);
        // 2^640, in decimal.
        assert_eq!(beyond.to_string().len(), 193);
        assert!(beyond.to_string().starts_with("45624406176221952"));
        assert!(all.iter().take(70_000).enumerate().all(|(at, one)| all.number(&one) == (at as u64).into()));
    }

    #[test]
    fn numbers_survive_json() {
        for number in [0, 7, u64::from(u32::MAX), EXACT, EXACT + 1, u64::MAX] {
            let number = StartNumber::from(number);
            let text = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<StartNumber>(&text).unwrap(), number, "{text}");
        }
        assert_eq!(serde_json::to_string(&StartNumber::from(EXACT)).unwrap(), "9007199254740992");
        assert_eq!(serde_json::to_string(&StartNumber::from(EXACT + 1)).unwrap(), "\"9007199254740993\"");
        assert!(serde_json::from_str::<StartNumber>("\"1x\"").is_err());
        assert!(serde_json::from_str::<StartNumber>("-1").is_err());
    }

    #[test]
    fn enumeration_by_machine_words_agrees() {
        let all = Combinations::new(vec![3, 1, 4]);
        let mut out = Vec::new();
        for number in 0..13 {
            let there = all.write(number, &mut out).then(|| out.clone());
            assert_eq!(there, all.get(&number.into()), "{number}");
            assert_eq!(there, all.iter().nth(number as usize), "{number}");
        }
    }
}
