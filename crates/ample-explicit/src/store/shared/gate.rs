//! Where workers meet to make the table of a [`SharedStore`](super::SharedStore) larger.
//!
//! A table is replaced only while nobody looks at it. A worker that finds it too full says so; then every worker comes here
//! before its next insertion, unless it rests: it waits for other workers, and has promised not to look at the table before
//! it comes back. When all are here or rest, one of them replaces the table by an empty one, and all that are here fill it
//! again, a chunk of the arena at a time. The old table is given back before the new one is taken: never both.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Who is where.
#[derive(Default)]
struct Presence {
    /// All workers.
    members: usize,
    /// Those that are here.
    waiting: usize,
    /// Those that rest.
    resting: usize,
    /// The table is being filled.
    filling: Option<Arc<Filling>>,
}

/// What is left to be put into the new table.
pub(super) struct Filling {
    parts: Vec<(u64, usize)>,
    next: AtomicUsize,
    /// Parts that are not done.
    open: AtomicUsize,
}

impl Filling {
    fn take(&self) -> Option<(u64, usize)> {
        self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }
}

/// The place where workers meet.
pub(super) struct Gate {
    /// The table is too full.
    is_wanted: AtomicBool,
    presence: Mutex<Presence>,
    changed: Condvar,
}

impl Gate {
    pub(super) fn new(members: usize) -> Gate {
        let presence = Presence { members, ..Presence::default() };
        Gate { is_wanted: AtomicBool::new(false), presence: Mutex::new(presence), changed: Condvar::new() }
    }

    fn presence(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, presence: MutexGuard<'a, Presence>) -> MutexGuard<'a, Presence> {
        self.changed.wait(presence).unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the table is too full.
    pub(super) fn call(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Workers have to come here.
    #[inline]
    pub(super) fn is_called(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// A worker comes here, and stays until the table is larger. If it is the last one, `replace` replaces the table and
    /// gives what has to be put into the new one; `fill` does that with a part of it.
    pub(super) fn enter(&self, replace: impl Fn() -> Vec<(u64, usize)>, fill: impl Fn((u64, usize))) {
        let mut presence = self.presence();
        presence.waiting += 1;
        loop {
            if let Some(filling) = presence.filling.clone() {
                drop(presence);
                while let Some(part) = filling.take() {
                    fill(part);
                    filling.open.fetch_sub(1, Ordering::AcqRel);
                }
                presence = self.presence();
                let is_done = filling.open.load(Ordering::Acquire) == 0;
                let is_it = presence.filling.as_ref().is_some_and(|current| Arc::ptr_eq(current, &filling));
                if is_done && is_it {
                    presence.filling = None;
                    self.is_wanted.store(false, Ordering::Relaxed);
                    self.changed.notify_all();
                } else if is_it {
                    // Others are still at it, and the last of them says so.
                    presence = self.wait(presence);
                }
            } else if !self.is_called() {
                break;
            } else if presence.waiting + presence.resting == presence.members {
                let parts = replace();
                let open = AtomicUsize::new(parts.len());
                presence.filling = Some(Arc::new(Filling { parts, next: AtomicUsize::new(0), open }));
                self.changed.notify_all();
            } else {
                presence = self.wait(presence);
            }
        }
        presence.waiting -= 1;
    }

    /// A worker rests.
    pub(super) fn rest(&self) {
        let mut presence = self.presence();
        presence.resting += 1;
        if presence.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// A worker has rested.
    pub(super) fn come_back(&self) {
        let mut presence = self.presence();
        while presence.filling.is_some() {
            presence = self.wait(presence);
        }
        presence.resting -= 1;
    }

    /// There is one worker more.
    pub(super) fn join(&self) {
        self.presence().members += 1;
    }

    /// A worker does not come any more.
    pub(super) fn leave(&self) {
        let mut presence = self.presence();
        presence.members -= 1;
        self.changed.notify_all();
    }
}
