//! How deep a recursion may go.
//!
//! Operations go down one call per place. A net with many places needs a large stack, and nobody should die of a small
//! one: every step down compares its address with a floor, and an operation that would fall through it ends with
//! [`SetError::Depth`]. [`with_stack`] runs something on a stack that is large enough.

use std::cell::Cell;

use crate::error::{Maybe, SetError};

/// What a thread of unknown size is trusted to have left, in bytes. Threads have two megabytes unless told.
const TRUSTED: usize = 1 << 20;
/// What a step down takes at most, in bytes, in a build without optimisation.
const A_LEVEL: usize = 4 << 10;
/// What is needed beside, in bytes.
const BESIDE: usize = 4 << 20;

thread_local! {
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Where the stack is now.
#[inline(always)]
pub(super) fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(std::hint::black_box(&local)).addr()
}

/// The lowest address that the stack of this thread may reach. The first operation of a thread sets it.
pub(super) fn floor() -> usize {
    FLOOR.with(|floor| {
        if floor.get() == 0 {
            floor.set(here().saturating_sub(TRUSTED).max(1));
        }
        floor.get()
    })
}

/// The stack of this thread has so many bytes, nearly all of which are left.
pub fn trust_stack(bytes: usize) {
    FLOOR.with(|floor| floor.set(here().saturating_sub(bytes.saturating_sub(TRUSTED)).max(1)));
}

/// There is room for one more step down a condition or a formula, before any operation has begun.
pub fn check_depth() -> Maybe<()> {
    if here() < floor() { Err(SetError::Depth) } else { Ok(()) }
}

/// Runs something on a thread with a stack for sets of markings of so many places.
///
/// Everything is done on the calling thread if there cannot be another one; then operations may end with
/// [`SetError::Depth`].
///
/// ```
/// assert_eq!(ample_symbolic::lists::with_stack(100_000, || 6 * 7), 42);
/// ```
pub fn with_stack<R: Send>(places: usize, work: impl FnOnce() -> R + Send) -> R {
    let size = BESIDE + places.saturating_mul(A_LEVEL).min(1 << 33);
    let mut work = Some(work);
    let mut result = None;
    std::thread::scope(|scope| {
        let (work, result) = (&mut work, &mut result);
        let run = move || {
            FLOOR.with(|floor| floor.set(here().saturating_sub(size - (1 << 20)).max(1)));
            *result = work.take().map(|work| work());
        };
        if let Ok(thread) =
            std::thread::Builder::new().name("diagrams".into()).stack_size(size).spawn_scoped(scope, run)
            && let Err(panic) = thread.join()
        {
            std::panic::resume_unwind(panic);
        }
    });
    match (result, work) {
        (Some(result), _) => result,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work was done or is still there"),
    }
}
