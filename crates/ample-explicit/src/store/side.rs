//! What a store keeps beside each state, at a fixed number of bytes.

use super::Handle;

/// A few bytes beside each state.
pub trait Side: Copy {
    /// How many bytes it takes in a [`FlatStore`](super::FlatStore).
    const SIZE: usize;

    /// The data of a state that was just reached, from `parent` if it is not an initial one.
    fn fresh(parent: Option<Handle>) -> Self;

    /// Writes it to [`SIZE`](Side::SIZE) bytes.
    fn write(self, bytes: &mut [u8]);

    /// Reads it from [`SIZE`](Side::SIZE) bytes.
    fn read(bytes: &[u8]) -> Self;

    /// The state that this one was first reached from, if that is kept (see [`Linked`]) and it is not
    /// an initial one.
    fn parent(self) -> Option<Handle> {
        None
    }

    /// The cost of the path to each state is kept: see [`Costed`].
    const COSTS: bool = false;

    /// The cost of the path to the state, if that is kept.
    #[inline]
    fn cost(self) -> Option<u64> {
        None
    }

    /// The data of a state that was just reached by a path of that cost.
    #[inline]
    fn reached(parent: Option<Handle>, _cost: u64) -> Self {
        Self::fresh(parent)
    }

    /// The data after the state was reached once more, by another path, if that is cheaper than the one that is kept. None
    /// if it is not, or if no costs are kept.
    #[inline]
    fn improved(self, _parent: Option<Handle>, _cost: u64) -> Option<Self> {
        None
    }
}

/// Side data that remembers the cost of the path to each state, for a search that expands a state again when it finds a
/// cheaper path to it.
pub trait Costed: Linked {}

/// Side data that remembers the parent of each state, so that a path to it can be found again.
pub trait Linked: Side {}

/// Side data with marks, for searches that visit a state more than once for different reasons.
pub trait Marked: Side {
    /// The marks, one in each bit.
    fn marks(self) -> u8;

    /// The same data with other marks.
    fn with_marks(self, marks: u8) -> Self;
}

/// Nothing is kept.
impl Side for () {
    const SIZE: usize = 0;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {}

    #[inline]
    fn write(self, _: &mut [u8]) {}

    #[inline]
    fn read(_: &[u8]) -> Self {}
}

/// The state that this one was first reached from; none for an initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parent(pub Option<Handle>);

impl Side for Parent {
    const SIZE: usize = Handle::BITS as usize / 8;

    #[inline]
    fn fresh(parent: Option<Handle>) -> Self {
        Parent(parent)
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let number = self.0.map_or(0, Handle::number);
        bytes.copy_from_slice(&number.to_le_bytes()[..Self::SIZE]);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let mut number = [0; 8];
        number[..Self::SIZE].copy_from_slice(bytes);
        Parent(Handle::from_number(u64::from_le_bytes(number)))
    }

    #[inline]
    fn parent(self) -> Option<Handle> {
        self.0
    }
}

impl Linked for Parent {}

/// The state that this one was reached from on the cheapest path so far, and what that path costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCost {
    /// None for an initial state.
    pub parent: Option<Handle>,
    /// The cost; more than fits is as much as fits.
    pub cost: u32,
}

impl PathCost {
    fn of(parent: Option<Handle>, cost: u64) -> PathCost {
        PathCost { parent, cost: u32::try_from(cost).unwrap_or(u32::MAX) }
    }
}

impl Side for PathCost {
    const SIZE: usize = Parent::SIZE + 4;

    #[inline]
    fn fresh(parent: Option<Handle>) -> Self {
        PathCost { parent, cost: 0 }
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let (parent, cost) = bytes.split_at_mut(Parent::SIZE);
        Parent(self.parent).write(parent);
        cost.copy_from_slice(&self.cost.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (parent, rest) = bytes.split_at(Parent::SIZE);
        let mut cost = [0; 4];
        cost.copy_from_slice(rest);
        PathCost { parent: Parent::read(parent).0, cost: u32::from_le_bytes(cost) }
    }

    #[inline]
    fn parent(self) -> Option<Handle> {
        self.parent
    }

    const COSTS: bool = true;

    #[inline]
    fn cost(self) -> Option<u64> {
        Some(self.cost.into())
    }

    #[inline]
    fn reached(parent: Option<Handle>, cost: u64) -> Self {
        PathCost::of(parent, cost)
    }

    #[inline]
    fn improved(self, parent: Option<Handle>, cost: u64) -> Option<Self> {
        let other = PathCost::of(parent, cost);
        (other.cost < self.cost).then_some(other)
    }
}

impl Linked for PathCost {}

impl Costed for PathCost {}

/// No links, for a search that looks for nothing and only counts: a path over it would begin anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pathless;

impl Side for Pathless {
    const SIZE: usize = 0;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Pathless
    }

    #[inline]
    fn write(self, _: &mut [u8]) {}

    #[inline]
    fn read(_: &[u8]) -> Self {
        Pathless
    }
}

impl Linked for Pathless {}

/// Eight visited marks, one in each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub u8);

impl Side for Marks {
    const SIZE: usize = 1;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Marks(0)
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Marks(bytes[0])
    }
}

impl Marked for Marks {
    #[inline]
    fn marks(self) -> u8 {
        self.0
    }

    #[inline]
    fn with_marks(self, marks: u8) -> Self {
        Marks(marks)
    }
}

/// Both: a parent and marks, say. The parent is that of the first.
impl<A: Side, B: Side> Side for (A, B) {
    const SIZE: usize = A::SIZE + B::SIZE;

    #[inline]
    fn fresh(parent: Option<Handle>) -> Self {
        (A::fresh(parent), B::fresh(parent))
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let (a, b) = bytes.split_at_mut(A::SIZE);
        self.0.write(a);
        self.1.write(b);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (a, b) = bytes.split_at(A::SIZE);
        (A::read(a), B::read(b))
    }

    #[inline]
    fn parent(self) -> Option<Handle> {
        self.0.parent()
    }
}

impl<A: Linked, B: Side> Linked for (A, B) {}

impl<A: Side, B: Marked> Marked for (A, B) {
    #[inline]
    fn marks(self) -> u8 {
        self.1.marks()
    }

    #[inline]
    fn with_marks(self, marks: u8) -> Self {
        (self.0, self.1.with_marks(marks))
    }
}
