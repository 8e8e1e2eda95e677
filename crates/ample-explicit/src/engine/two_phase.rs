//! Two-Phase: steps that nobody can disturb and nobody sees are taken at once (spec 000 §2.4).
//!
//! The reduced space is a state space like any other, and branches as the whole one does, up to steps that nobody sees.
//! So the ordinary searches run on it, whatever they are for; only what counts steps must stay away from it: *next*,
//! claims that may count, and fairness.

use std::rc::Rc;

use crate::check as safety;
use crate::compile::{Method, NotReduced, Reduced, Tally};
use crate::partial::{Phases, TwoPhase};
use crate::store::{FlatStore, Parent, Visible, Whole};
use ample_model::{Expr, Observer, Progress, Reason, System};

use super::options::{Options, Search};
use super::partial::Attempt;
use super::{Request, Run, collect, has_hidden_variables, room_for_the_store};

/// A compiled system with safe steps taken at once.
pub type Space<'a> = TwoPhase<Reduced<'a>>;

/// How many arrivals lie between two looks of the observer: few, since many steps may lie between two states.
const ASK_EVERY: u64 = 16;

/// Why a search with safe steps was given up.
pub const FULL: &str = "there are too many transitions to look for safe ones";

/// The space in which steps that these expressions cannot see may be safe, and what is known of its progress.
pub fn space<'a>(system: &'a System, looks: &[Expr], options: &Options) -> Result<(Space<'a>, Rc<Tally>), NotReduced> {
    let space = Reduced::within(system, looks, true, Method::Guards, &options.settings.budget)?;
    let tally = space.tally();
    Ok((TwoPhase::new(space), tally))
}

/// Searches for what is wrong in single states and steps.
pub fn run(system: &System, request: &Request, options: &Options, observer: &mut dyn Observer) -> Attempt {
    let (space, tally) = match space(system, &request.invariants, options) {
        Ok(ready) => ready,
        Err(NotReduced::Irreducible(why)) => return Attempt::Irreducible(why),
        Err(NotReduced::Unsupported(unsupported)) => {
            let ended = Some(Reason::Unsupported(unsupported.to_string()));
            return Attempt::Done(Box::new(Run { ended, ..Run::default() }));
        }
    };
    let mut guard = Guard { observer, tally };
    let run = if has_hidden_variables(system) {
        let visible = visible(&space);
        search(space, visible, request, options, &mut guard)
    } else {
        search(space, Whole, request, options, &mut guard)
    };
    if guard.tally.full.get() { Attempt::Irreducible(FULL.into()) } else { Attempt::Done(Box::new(run)) }
}

/// Tells a store how many bytes of a state count.
pub fn visible(space: &Space<'_>) -> impl Visible + Clone + use<> {
    space.inner().visible_bytes()
}

fn search(
    mut space: Space<'_>,
    visible: impl Visible,
    request: &Request,
    options: &Options,
    observer: &mut dyn Observer,
) -> Run {
    let safety = safety::Options {
        deadlock: request.deadlock,
        assertions: request.assertions,
        invariants: request.invariants.len(),
        stop_at_first: options.settings.stop_at_first,
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        report_every: ASK_EVERY,
    };
    let room = options.settings.memory_limit.map_or(usize::MAX, room_for_the_store);
    let run = if options.search == Search::BreadthFirst {
        let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
        let report = safety::breadth_first(&mut space, &mut store, &safety, observer);
        collect(&mut space, &store, report)
    } else {
        let mut store = FlatStore::<(), _>::with_visible(visible).limit(room);
        let report = safety::depth_first(&mut space, &mut store, &safety, observer);
        collect(&mut space, &store, report)
    };
    Run { reduction: Some(describe(space.phases())), is_reduced: true, ..run }
}

/// What Phase 1 did, in a few words.
pub fn describe(phases: Phases) -> String {
    let Phases { steps, longest, .. } = phases;
    format!("two-phase, {steps} safe steps, at most {longest} in a row")
}

/// Ends a search in which safe steps are not looked for any more.
pub struct Guard<'a> {
    /// Who is told.
    pub observer: &'a mut dyn Observer,
    /// What is known of the search.
    pub tally: Rc<Tally>,
}

impl Observer for Guard<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let reason = self.observer.progress(progress);
        if self.tally.full.get() { Some(Reason::Memory) } else { reason }
    }
}
