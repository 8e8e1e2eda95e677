//! Which cores are in use: how several pieces of work that run side by side keep from having more threads than cores.
//!
//! A thread that has work of its own [occupies](crate::Budget::occupy_core) a core, whether there is one left or not. A
//! thread that helps another one works only as long as there is a [spare](crate::Budget::spare_core) core for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cores are in use, by all that share a budget.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cores(Arc<AtomicUsize>);

impl Cores {
    pub(crate) fn in_use(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn occupy(&self) -> OccupiedCore {
        self.0.fetch_add(1, Ordering::Relaxed);
        OccupiedCore(self.clone())
    }

    pub(crate) fn occupy_spare(&self, all: usize) -> Option<OccupiedCore> {
        let one_more = |in_use: usize| (in_use < all).then_some(in_use + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        Some(OccupiedCore(self.clone()))
    }

    pub(crate) fn yield_one(&self) -> YieldedCore {
        let one_less = |in_use: usize| in_use.checked_sub(1);
        let is_counted = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok();
        YieldedCore(is_counted.then(|| self.clone()))
    }
}

/// A core in use, until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct OccupiedCore(Cores);

impl Drop for OccupiedCore {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The core of a thread that waits for others, until this is dropped.
#[derive(Debug)]
#[must_use]
pub struct YieldedCore(Option<Cores>);

impl Drop for YieldedCore {
    fn drop(&mut self) {
        if let Some(cores) = &self.0 {
            cores.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
