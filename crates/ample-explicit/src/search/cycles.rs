//! Accepting cycles by breadth-first search: a strategy inside another one (§3.3 and 5.2.1 of the thesis).
//!
//! On every cycle there is a *back-edge*, a transition to a state of the same or a lower level of the breadth-first search:
//! along a cycle the levels cannot grow for ever. Whenever the breadth-first search takes one, a nested depth-first search
//! from its target looks for an accepting cycle. What one of these searches has seen, the later ones need not see again,
//! so that all of them together visit each state twice at most.

use super::handlers::{Accept, Action, Always, Condition, Goal, Handlers, InsertMarked, IsSeed, NestedSearch};
use super::{BreadthFirst, Explore, Path, SearchResult, Strategy, Visit};
use crate::space::StateSpace;
use crate::store::{ExactStore, Handle, Inserted, Linked, Marked, Side};

/// Side data that remembers at which level of a breadth-first search a state is.
pub trait Levelled: Side {
    /// The level.
    fn level(self) -> u32;

    /// The same data with another level.
    fn with_level(self, level: u32) -> Self;
}

/// The level of a state in a breadth-first search: how many transitions lead to it at least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(pub u32);

impl Side for Level {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Level(0)
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Level(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

impl Levelled for Level {
    #[inline]
    fn level(self) -> u32 {
        self.0
    }

    #[inline]
    fn with_level(self, level: u32) -> Self {
        Level(level)
    }
}

impl<A: Side, B: Levelled> Levelled for (A, B) {
    #[inline]
    fn level(self) -> u32 {
        self.1.level()
    }

    #[inline]
    fn with_level(self, level: u32) -> Self {
        (self.0, self.1.with_level(level))
    }
}

/// Puts the state into the store with its level: new, or to be skipped if it is there already.
#[derive(Clone, Copy, Debug)]
pub struct InsertLevelled;

impl<S, St> Action<S, St, Explore> for InsertLevelled
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Levelled,
{
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        match visit.insert() {
            Inserted::New(handle) => {
                let level = u32::try_from(visit.depth()).unwrap_or(u32::MAX);
                let side = visit.store.side(handle).with_level(level);
                visit.store.set_side(handle, side);
                Explore::New
            }
            Inserted::Seen(_) => Explore::Skip,
            Inserted::Full => Explore::Interrupt,
        }
    }
}

/// Holds at a transition to a state of the same or a lower level, after [`InsertLevelled`].
#[derive(Clone, Copy, Debug)]
pub struct BackEdge;

impl<S, St> Condition<S, St> for BackEdge
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Levelled,
{
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        let (Some(source), Some(target)) = (visit.source(), visit.handle()) else { return false };
        visit.store.side(target).level() <= visit.store.side(source).level()
    }
}

/// A run through an accepting cycle, as transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptingCycle<T> {
    /// The initial state, in the store of the breadth-first search.
    pub initial: Handle,
    /// From there to the cycle.
    pub prefix: Vec<T>,
    /// The cycle, which begins and ends at an accepting state.
    pub cycle: Vec<T>,
}

/// What came of a search for an accepting cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CycleResult<T> {
    /// There is one.
    Found(AcceptingCycle<T>),
    /// There is none.
    Absent,
    /// A store is full.
    Interrupted,
}

/// Looks for a cycle through an accepting state by breadth-first search, with nested depth-first searches from the targets
/// of back-edges. `levels` is the store of the former, `marks` that of the latter; both must be empty.
///
/// ```
/// use ample_explicit::search::{CycleResult, Level, breadth_first_cycle};
/// use ample_explicit::store::{HashStore, Marks, Parent};
/// # use ample_explicit::space::StateSpace;
/// # struct Lasso;
/// # impl StateSpace for Lasso {
/// #     type State = u8;
/// #     type Transition = ();
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<()> { Some(()) }
/// #     fn next(&mut self, _: &u8, _: &()) -> Option<()> { None }
/// #     fn target(&mut self, state: &u8, _: &(), out: &mut u8) { *out = if *state == 14 { 10 } else { state + 1 } }
/// # }
///
/// // From 0 a ring is entered, at 10, which goes on to 14 and then back.
/// let search = |accepting: u8| {
///     let mut levels: HashStore<u8, (Parent, Level)> = HashStore::default();
///     let marks: HashStore<u8, Marks> = HashStore::default();
///     breadth_first_cycle(&mut Lasso, &mut levels, marks, |state: &u8| *state == accepting)
/// };
/// assert_eq!(search(5), CycleResult::Absent);
/// let CycleResult::Found(run) = search(12) else { panic!() };
/// assert_eq!(run.cycle.len(), 5);
/// ```
pub fn breadth_first_cycle<S, St, M, P>(
    space: &mut S,
    levels: &mut St,
    marks: M,
    accepts: P,
) -> CycleResult<S::Transition>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked + Levelled,
    M: ExactStore<S::State>,
    M::Side: Marked,
    P: FnMut(&S::State) -> bool,
    crate::space::Buffer<S>: Default,
{
    let second = NestedSearch::new(Handlers::new().on_explore(Always, InsertMarked(1)).on_explore(IsSeed, Goal));
    let first = Handlers::new().on_explore(Always, InsertMarked(0)).on_backtrack(Accept(accepts), second);
    let mut from_target = NestedSearch::new(first).with_store(marks);
    let mut feedback = Handlers::new().on_explore(Always, InsertLevelled).on_explore(BackEdge, &mut from_target);
    let path = match BreadthFirst::default().search(space, levels, &mut feedback) {
        SearchResult::Goal(path) => path,
        SearchResult::Exhausted => return CycleResult::Absent,
        SearchResult::Interrupted => return CycleResult::Interrupted,
    };
    let transitions = |path: &Path<S::Transition>| path.transitions().copied().collect::<Vec<_>>();
    let (Some(initial), Some(stem)) = (path.states().next(), from_target.found()) else {
        return CycleResult::Interrupted;
    };
    let mut prefix = transitions(&path);
    prefix.extend(transitions(stem));
    let second = from_target.feedback().last_backtrack();
    let cycle = second.found().map(transitions).unwrap_or_default();
    CycleResult::Found(AcceptingCycle { initial, prefix, cycle })
}
