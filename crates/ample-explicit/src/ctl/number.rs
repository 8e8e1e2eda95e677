//! What lies beside each state in the store.

use crate::store::{Handle, Side};

/// The number of a visible state, beside it in the store. Only [`check`](super::check) gives numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub(super) u32);

impl Number {
    /// No number: the state is transient.
    pub(super) const TRANSIENT: Number = Number(u32::MAX);
    /// No number either, and the expansion under way has come by.
    pub(super) const PASSED: Number = Number(u32::MAX - 1);
}

impl Side for Number {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Number::TRANSIENT
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Number(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
