//! Two-Phase: steps that nobody can disturb and nobody sees are taken at once (R. Nalumasu, G. Gopalakrishnan:
//! An efficient partial order reduction algorithm with an alternative proviso implementation, 2002).
//!
//! The reduced space is a state space like any other, and branches as the whole one does, up to steps that nobody sees.
//! So the ordinary searches run on it, whatever they are for; only what counts steps must stay away from it: *next*,
//! claims that may count, and fairness.

use std::sync::Arc;

use crate::check as safety;
use crate::compile::{Algorithm, NotReduced, Reduced, Tally};
use crate::partial::{Phases, TwoPhase};
use crate::store::{FlatStore, Parent, Visible, Whole};
use ample_model::{Budget, Expr};

use super::options::{Options, Search};
use super::partial::Attempt;
use super::subject::Subject;
use super::{Request, Run, collect, has_hidden_variables, notes_executed, room_for_the_store, stores};

/// A compiled system with safe steps taken at once.
pub type Space<'a> = TwoPhase<Reduced<'a>>;

/// How many arrivals lie between two looks at the budget: few, since many steps may lie between two states.
const ASK_EVERY: u64 = 16;

/// Why a search with safe steps was given up.
pub const FULL: &str = "there are too many transitions to look for safe ones";

/// The space in which steps that these expressions cannot see may be safe, and what is known of its progress.
pub fn space<'a>(system: &Subject<'a>, looks: &[Expr], budget: &Budget) -> Result<(Space<'a>, Arc<Tally>), NotReduced> {
    let space = Reduced::of(system.compiled()?, looks, true, Algorithm::Guards, budget)?;
    let tally = space.tally();
    Ok((TwoPhase::new(space), tally))
}

/// Searches for what is wrong in single states and steps.
pub fn run(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget) -> Attempt {
    let (mut space, tally) = match space(system, &request.invariants, budget) {
        Ok(ready) => ready,
        Err(NotReduced::Irreducible(why)) => return Attempt::Irreducible(why),
        Err(NotReduced::NotCompiled(error)) => {
            let ended = Some(error.into());
            return Attempt::Done(Box::new(Run { ended, ..Run::default() }));
        }
    };
    if notes_executed(system, options) {
        space.space().compiled().note_executed();
    }
    let guarded = guarded(budget, &tally);
    let run = if has_hidden_variables(system) {
        let visible = visible(&space);
        search(space, visible, request, options, &guarded)
    } else {
        search(space, Whole, request, options, &guarded)
    };
    if tally.is_full() { Attempt::Irreducible(FULL.into()) } else { Attempt::Done(Box::new(run)) }
}

/// Tells a store how many bytes of a state count.
pub fn visible(space: &Space<'_>) -> impl Visible + Clone + use<> {
    space.inner().visible_bytes()
}

fn search(
    mut space: Space<'_>,
    visible: impl Visible + 'static,
    request: &Request,
    options: &Options,
    budget: &Budget,
) -> Run {
    let safety = safety::Options { report_every: ASK_EVERY, ..request.safety(options) };
    let room = room_for_the_store(budget);
    let run = if !options.explicit.store.is_exact() {
        stores::plain(&mut space, visible.key(), request, &safety, options, room, budget)
    } else if options.explicit.search == Search::BreadthFirst {
        let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
        let report = safety::breadth_first(&mut space, &mut store, &safety, budget);
        collect(&mut space, &store, report)
    } else {
        let mut store = FlatStore::<(), _>::with_visible(visible).limit(room);
        let report = safety::depth_first(&mut space, &mut store, &safety, budget);
        collect(&mut space, &store, report)
    };
    Run { reduction: Some(describe(space.phases())), is_reduced: true, ..run }
}

/// What Phase 1 did, in a few words.
pub fn describe(phases: Phases) -> String {
    let Phases { steps, longest, .. } = phases;
    format!("two-phase, {steps} safe steps, at most {longest} in a row")
}

/// A budget that ends a search in which safe steps are not looked for any more.
pub fn guarded(budget: &Budget, tally: &Arc<Tally>) -> Budget {
    let tally = Arc::clone(tally);
    budget.until(move |_| tally.is_full()).0
}
