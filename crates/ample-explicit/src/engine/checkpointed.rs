//! A search that is saved from time to time, and goes on from what was saved.
//!
//! It is breadth first, with the exact store, and leaves nothing out: the store is the queue, so that a position in it and
//! a few counts are all there is to save beside it. Once something is violated nothing is saved any more; the search finds
//! it again when it goes on from before.

use std::time::{Duration, Instant};

use ample_engine::settings::Checkpoint;
use ample_model::{Budget, Reason};

use super::options::Options;
use super::subject::Subject;
use super::{KnownCoverage, Request, Run, collect, has_hidden_variables, notes_executed, room_for_the_store};
use crate::check::{self as safety, Safety};
use crate::checkpoint::{self, CheckpointError};
use crate::compile::Compiled;
use crate::search::{Pause, Position};
use crate::store::{FlatStore, Parent, Visible, Whole};

/// How many expansions lie between two looks at the clock.
const LOOK_EVERY: u32 = 1 << 10;

/// Saving takes at most one part in so many of the time.
const SHARE: u32 = 10;

/// Why a search cannot be saved.
const MANY_PROCESSES: &str =
    "a model that can create very many combinations of processes cannot be checked with `--checkpoint`";

/// Why it is not known which statements are never executed.
const RESUMED: &str = "the search has gone on from a checkpoint, which does not tell what was executed before";

/// Searches the state space of the system, from where a search was that is saved if there is one.
pub fn run(
    system: &Subject<'_>,
    request: &Request,
    options: &Options,
    checkpoint: &Checkpoint,
    budget: &Budget,
) -> Run {
    let mut space = match system.space(&request.invariants, budget) {
        Ok(space) => space,
        Err(error) => return Run { ended: Some(error.into()), ..Run::default() },
    };
    if !space.is_self_contained() {
        return Run { ended: Some(Reason::Unsupported(MANY_PROCESSES.into())), ..Run::default() };
    }
    if notes_executed(system, options) {
        space.note_executed();
    }
    if !has_hidden_variables(system) {
        return search(space, Whole, request, options, checkpoint, budget);
    }
    let visible = space.visible();
    search(space, visible, request, options, checkpoint, budget)
}

fn search(
    mut space: Compiled,
    visible: impl Visible,
    request: &Request,
    options: &Options,
    checkpoint: &Checkpoint,
    budget: &Budget,
) -> Run {
    let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room_for_the_store(budget));
    let begun = match checkpoint::load(&checkpoint.path, checkpoint.subject, &mut store) {
        Ok(begun) => Some(begun),
        Err(CheckpointError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(CheckpointError::Io(error)) if error.kind() == std::io::ErrorKind::OutOfMemory => {
            return Run { ended: Some(Reason::Memory), ..Run::default() };
        }
        Err(error) => return Run { ended: Some(Reason::Unsupported(error.to_string())), ..Run::default() },
    };
    let is_resumed = begun.is_some();
    let mut saver = Saver { checkpoint, countdown: LOOK_EVERY, due: Instant::now() + checkpoint.every, failed: None };
    let safety = request.safety(options);
    let report = safety::breadth_first_from(begun, &mut space, &mut store, &safety, budget, &mut saver);
    let failed = saver.failed;
    let mut run = collect(&mut space, &store, report);
    if run.ended.is_none() {
        let _ = std::fs::remove_file(&checkpoint.path);
    }
    if is_resumed && run.coverage.0.is_ok() {
        run.coverage = KnownCoverage(Err(RESUMED));
    }
    // Who has asked for it should know that there is none.
    if let (Some(why), Some(Reason::Time | Reason::Memory | Reason::Interrupted)) = (failed, &run.ended) {
        run.ended =
            Some(Reason::Unsupported(format!("the search ended early, and no checkpoint could be written: {why}")));
    }
    run
}

/// Saves a search when it is time.
struct Saver<'a> {
    checkpoint: &'a Checkpoint,
    countdown: u32,
    due: Instant,
    /// Why the last attempt has failed.
    failed: Option<String>,
}

impl<V: Visible, T> Pause<FlatStore<Parent, V>, Safety<'_, T>> for Saver<'_> {
    #[inline]
    fn is_due(&mut self) -> bool {
        self.countdown -= 1;
        if self.countdown > 0 {
            return false;
        }
        self.countdown = LOOK_EVERY;
        Instant::now() >= self.due
    }

    fn pause(&mut self, position: &Position, store: &FlatStore<Parent, V>, safety: &Safety<'_, T>) -> bool {
        let Some(tally) = safety.tally() else {
            // There will be nothing to save any more.
            self.due += Duration::from_secs(3600);
            return true;
        };
        let begun = Instant::now();
        let saved = checkpoint::save(&self.checkpoint.path, self.checkpoint.subject, position, &tally, store);
        self.failed = saved.err().map(|error| error.to_string());
        self.due = Instant::now() + self.checkpoint.every.max(SHARE * begun.elapsed());
        true
    }
}
