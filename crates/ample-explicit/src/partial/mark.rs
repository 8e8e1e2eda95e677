//! What a depth-first search keeps beside each state: four bytes.

use crate::store::{Handle, Side};

/// Beside each state: whether it is on the stack and the number of its sleep set, or, for the proviso on components,
/// its place among the states whose component is not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u32);

const ON_STACK: u32 = 1 << 31;

impl Mark {
    /// Of a state whose component is complete.
    pub(super) const COMPLETE: Mark = Mark(u32::MAX);

    /// Of one whose component is complete, and consists of endless atomic sequences.
    pub(super) const TRAP: Mark = Mark(u32::MAX - 1);

    /// The greatest number of a sleep set, or of a live state.
    pub(super) const MOST: usize = ON_STACK as usize - 1;

    /// A state with that sleep set, on the stack or not.
    #[inline]
    pub(super) fn new(sleep: u32, on_stack: bool) -> Mark {
        Mark(sleep | if on_stack { ON_STACK } else { 0 })
    }

    /// The number of its sleep set.
    #[inline]
    pub(super) fn sleep(self) -> u32 {
        self.0 & !ON_STACK
    }

    /// The state is on the stack.
    #[inline]
    pub(super) fn is_on_stack(self) -> bool {
        self.0 & ON_STACK != 0
    }

    /// A state at that place among the live ones.
    #[inline]
    pub(super) fn live(place: u32) -> Mark {
        Mark(place)
    }

    /// The place among the live ones.
    #[inline]
    pub(super) fn place(self) -> u32 {
        self.0
    }
}

impl Side for Mark {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Mark::default()
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Mark(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
