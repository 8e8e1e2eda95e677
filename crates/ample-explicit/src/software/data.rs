//! Data types: what the values of variables are.
//!
//! The value of a data instance is a word of up to 64 bits that only its type can interpret. What can be done with
//! values is said by additional interfaces, [`Comparing`], [`Logical`] and [`Numerical`]: a data type opts into them, and
//! the [expressions](super::expression) that use them need not know it.

use std::cmp::Ordering;
use std::fmt::Debug;

/// A type of data.
///
/// ```
/// use std::cmp::Ordering;
/// use ample_explicit::software::data::{Comparing, DataType};
///
/// /// Traffic lights can be compared, and nothing else can be done with them.
/// #[derive(Debug)]
/// struct Light;
///
/// impl DataType for Light {
///     fn name(&self) -> &str {
///         "Light"
///     }
///     fn bits(&self) -> u32 {
///         2
///     }
///     fn comparing(&self) -> Option<&dyn Comparing> {
///         Some(self)
///     }
/// }
///
/// impl Comparing for Light {
///     fn compare(&self, one: u64, other: u64) -> Option<Ordering> {
///         (one == other).then_some(Ordering::Equal) // There is no order.
///     }
/// }
///
/// assert!(Light.logical().is_none());
/// ```
pub trait DataType: Debug + Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// How many bits, 64 at most, are enough for every value.
    fn bits(&self) -> u32;

    /// The value of a new instance.
    fn initial(&self) -> u64 {
        0
    }

    /// A value as text.
    fn show(&self, word: u64) -> String {
        word.to_string()
    }

    /// How values are compared, if they can be.
    fn comparing(&self) -> Option<&dyn Comparing> {
        None
    }

    /// Which truth values there are, if there are any.
    fn logical(&self) -> Option<&dyn Logical> {
        None
    }

    /// Which numbers there are, if there are any.
    fn numerical(&self) -> Option<&dyn Numerical> {
        None
    }
}

/// Values that can be compared.
pub trait Comparing {
    /// How one is related to the other; not at all if they are different and there is no order.
    fn compare(&self, one: u64, other: u64) -> Option<Ordering>;
}

/// Values that are true or false.
pub trait Logical {
    /// Is that value true?
    fn truth(&self, word: u64) -> bool;

    /// The value for a truth value.
    fn word(&self, truth: bool) -> u64;
}

/// Values that are numbers.
pub trait Numerical {
    /// The number.
    fn number(&self, word: u64) -> i64;

    /// The value for a number: it is truncated as the type does it.
    fn word(&self, number: i64) -> u64;
}

/// Truth values in one bit. They can be compared, but are no numbers.
#[derive(Clone, Copy, Debug)]
pub struct Boolean;

impl DataType for Boolean {
    fn name(&self) -> &str {
        "Boolean"
    }

    fn bits(&self) -> u32 {
        1
    }

    fn show(&self, word: u64) -> String {
        (word != 0).to_string()
    }

    fn comparing(&self) -> Option<&dyn Comparing> {
        Some(self)
    }

    fn logical(&self) -> Option<&dyn Logical> {
        Some(self)
    }
}

impl Comparing for Boolean {
    fn compare(&self, one: u64, other: u64) -> Option<Ordering> {
        Some(one.cmp(&other))
    }
}

impl Logical for Boolean {
    fn truth(&self, word: u64) -> bool {
        word != 0
    }

    fn word(&self, truth: bool) -> u64 {
        truth.into()
    }
}

/// Integers of a fixed width, truncated as in Promela: modulo their range, and in two's complement if they have a sign.
/// Every number but zero is true.
///
/// ```
/// use ample_explicit::software::data::{DataType, Integer};
///
/// let byte = Integer::unsigned("byte", 8);
/// let short = Integer::signed("short", 16);
/// assert_eq!(byte.numerical().unwrap().word(257), 1);
/// let numbers = short.numerical().unwrap();
/// assert_eq!(numbers.number(numbers.word(-3)), -3);
/// ```
#[derive(Clone, Debug)]
pub struct Integer {
    name: String,
    bits: u32,
    signed: bool,
}

impl Integer {
    /// Numbers from 0 on, in that many bits, of which there are 1 to 63.
    pub fn unsigned(name: &str, bits: u32) -> Integer {
        Integer { name: name.to_owned(), bits: bits.clamp(1, 63), signed: false }
    }

    /// Numbers with a sign, in that many bits, of which there are 1 to 63.
    pub fn signed(name: &str, bits: u32) -> Integer {
        Integer { signed: true, ..Integer::unsigned(name, bits) }
    }
}

impl DataType for Integer {
    fn name(&self) -> &str {
        &self.name
    }

    fn bits(&self) -> u32 {
        self.bits
    }

    fn show(&self, word: u64) -> String {
        self.number(word).to_string()
    }

    fn comparing(&self) -> Option<&dyn Comparing> {
        Some(self)
    }

    fn logical(&self) -> Option<&dyn Logical> {
        Some(self)
    }

    fn numerical(&self) -> Option<&dyn Numerical> {
        Some(self)
    }
}

impl Comparing for Integer {
    fn compare(&self, one: u64, other: u64) -> Option<Ordering> {
        Some(self.number(one).cmp(&self.number(other)))
    }
}

impl Logical for Integer {
    fn truth(&self, word: u64) -> bool {
        word != 0
    }

    fn word(&self, truth: bool) -> u64 {
        truth.into()
    }
}

impl Numerical for Integer {
    fn number(&self, word: u64) -> i64 {
        let sign = 1 << (self.bits - 1);
        if self.signed && word & sign != 0 { word as i64 - (1 << self.bits) } else { word as i64 }
    }

    fn word(&self, number: i64) -> u64 {
        number as u64 & ((1 << self.bits) - 1)
    }
}

/// A composite type: no value of its own, only the variables that are declared in it.
#[derive(Clone, Debug)]
pub struct Record(pub String);

impl DataType for Record {
    fn name(&self) -> &str {
        &self.0
    }

    fn bits(&self) -> u32 {
        0
    }

    fn show(&self, _: u64) -> String {
        self.0.clone()
    }
}
