//! Safety properties with partial-order reduction.
//!
//! The verdict comes from a reduced search; a counterexample is then looked for once more without reduction, breadth
//! first and not too far, because people read it.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::check as safety;
use crate::compile::{NotReduced, Reduced, Tally};
use crate::partial::{self, Counts, Mark};
use crate::store::{FlatStore, Key, Parent, SetStore, StateSet, Visible, Whole};
use ample_engine::settings::UnreachedCode;
use ample_model::facts::Facts;
use ample_model::{Budget, Cancellation, Reason, System};

use super::options::{Options, Search};
use super::reduction::{Methods, Proviso, Reduction};
use super::stores::{Work, estimated, with_set};
use super::subject::Subject;
use super::symmetry;
use super::{KnownCoverage, Request, Run, collect, has_hidden_variables, notes_executed, room_for_the_store};

/// After so many states with a choice a reduction that has left out nothing at all is abandoned.
const FIRST_TRIAL: u64 = 2_000;

/// So many states are worth looking at before it is decided whether a reduction pays.
const TRIAL: u64 = 50_000;

/// A reduction that leaves something out in fewer than one state in so many does not pay.
const WORTH: u64 = 50;

/// Why it is not known which statements are never executed.
const IGNORED: &str = "partial-order reduction may have ignored some of them; `--unreached` looks for all";

/// What came of a reduced search.
pub enum Attempt {
    /// An answer.
    Done(Box<Run>),
    /// There is nothing to be left out, and why.
    Irreducible(String),
    /// It was begun, and left out nearly nothing.
    Useless,
}

/// Searches with a reduction.
pub fn run(system: &Subject<'_>, request: &Request, methods: Methods, options: &Options, budget: &Budget) -> Attempt {
    // A run-time error cuts runs whatever is asked, and is told. Who names a method gets that method.
    let may_fault = may_fault(system);
    let is_auto = options.reduction() == Reduction::Auto;
    let is_required = options.settings.unreached == UnreachedCode::Required;
    // Who counts states wants those of the usual check.
    let counts = request.is_empty() && !is_required;
    let assertions = request.assertions || counts || is_auto && may_fault;
    let looks_further = assertions || !request.invariants.is_empty() || is_required;
    let algorithm = methods.persistent.unwrap_or_default();
    let reduced = |compiled| Reduced::of(compiled, &request.invariants, assertions, algorithm, budget);
    let mut space = match system.compiled().map_err(NotReduced::from).and_then(reduced) {
        Ok(space) => space.with_pauses(is_auto),
        Err(NotReduced::Irreducible(why)) => return Attempt::Irreducible(why),
        Err(NotReduced::NotCompiled(error)) => {
            let ended = Some(error.into());
            return Attempt::Done(Box::new(Run { ended, ..Run::default() }));
        }
    };
    if notes_executed(system, options) {
        space.note_executed(is_required);
    }
    let mut methods = Methods { proviso: proviso(&methods, options, looks_further), ..methods };
    let symmetry = symmetry(system, &mut space, request, &mut methods, options, budget);
    // Sleep sets with a proviso need a weakly uniform dependency (Thm. 6.12); nothing else does.
    let is_uniform = methods.sleep && methods.proviso != Proviso::None;
    let space = space.with_dependency(methods.dependency, methods.sleep, is_uniform);
    let attempt = if has_hidden_variables(system) {
        let visible = space.visible_bytes();
        search(space, visible, request, methods, options, budget)
    } else {
        search(space, Whole, request, methods, options, budget)
    };
    match attempt {
        Attempt::Done(run) => {
            let may_miss_faults = run.only_deadlocks && may_fault;
            Attempt::Done(Box::new(Run { may_miss_faults, symmetry, ..*run }))
        }
        other => other,
    }
}

/// Replaces states by representatives, if that is asked for; which symmetry that is, or why there is none.
///
/// A persistent set is that of the representative, and the proviso is about representatives. The one on components asks which
/// transitions are taken somewhere, by their names; but processes change their places, so that the one on the stack is used.
fn symmetry(
    system: &Subject<'_>,
    space: &mut Reduced<'_>,
    request: &Request,
    methods: &mut Methods,
    options: &Options,
    budget: &Budget,
) -> Option<String> {
    let wanted = symmetry::wanted(system, &request.invariants, options, budget)?;
    let used = if methods.sleep || methods.cache.is_some() {
        Err("sleep sets and caches name transitions, and processes change their places".to_owned())
    } else {
        wanted.and_then(|using| using.attach(space.compiled()).map(|()| using))
    };
    match used {
        Err(why) => Some(format!("none, because {why}")),
        Ok(using) => {
            if methods.proviso == Proviso::Components {
                methods.proviso = Proviso::Stack;
            }
            Some(using.describe())
        }
    }
}

/// Some step may be a run-time error.
pub(super) fn may_fault(system: &System) -> bool {
    let facts = Facts::of(system);
    let provided = (0..system.processes.len()).filter_map(|process| facts.provided(process.into()));
    facts.edges().any(|edge| edge.all.traits.may_fault || edge.monitored)
        || provided.into_iter().any(|usage| usage.traits.may_fault)
}

/// The proviso that suits the question.
fn proviso(methods: &Methods, options: &Options, looks_further: bool) -> Proviso {
    match methods.proviso {
        Proviso::Auto if methods.persistent.is_none() || !looks_further => Proviso::None,
        Proviso::Auto if options.explicit.search == Search::BreadthFirst && !methods.sleep => Proviso::Queue,
        Proviso::Auto if methods.sleep || methods.cache.is_some() || options.explicit.store.is_set() => Proviso::Stack,
        Proviso::Auto => Proviso::Components,
        asked => asked,
    }
}

fn search(
    mut space: Reduced<'_>,
    visible: impl Visible + Clone + 'static,
    request: &Request,
    methods: Methods,
    options: &Options,
    budget: &Budget,
) -> Attempt {
    let safety = request.safety(options);
    let reduction = partial::Reduction {
        persistent: methods.persistent.is_some(),
        sleep: methods.sleep,
        proviso: match methods.proviso {
            Proviso::Auto | Proviso::None => partial::Proviso::None,
            Proviso::Stack => partial::Proviso::Stack,
            Proviso::Components => partial::Proviso::Components,
            Proviso::Queue => partial::Proviso::Queue,
        },
        cache: methods.cache,
    };
    let room = room_for_the_store(budget);
    let is_trial = options.reduction() == Reduction::Auto;
    let (trial, useless) = trial(budget, is_trial.then(|| space.tally()));
    let by_queue = reduction.proviso == partial::Proviso::Queue && options.explicit.search != Search::DepthFirst;
    let is_wide = by_queue || options.explicit.search == Search::BreadthFirst;
    let (run, counts) = if options.explicit.store.is_set() {
        let components = Rc::new(space.compiled().components());
        let (safety, budget) = (&safety, &trial);
        let work = InSet { space: &mut space, key: visible.key(), safety, reduction, is_wide, room, budget };
        match with_set(&options.explicit, components, room, work) {
            Ok(Ok(done)) => done,
            Ok(Err(incompatible)) => return refused(incompatible),
            Err(reason) => return Attempt::Done(Box::new(Run { ended: Some(reason), ..Run::default() })),
        }
    } else if is_wide {
        let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
        match partial::breadth_first(&mut space, &mut store, &safety, &reduction, &trial) {
            Ok(done) => (collect(space.compiled(), &store, done.report), done.counts),
            Err(incompatible) => return refused(incompatible),
        }
    } else {
        let mut store = FlatStore::<Mark, _>::with_visible(visible).limit(room);
        match partial::depth_first(&mut space, &mut store, &safety, &reduction, &trial) {
            Ok(done) => (collect(space.compiled(), &store, done.report), done.counts),
            Err(incompatible) => return refused(incompatible),
        }
    };
    if useless.is_cancelled() {
        return Attempt::Useless;
    }
    let mut run = run;
    if methods.cache.is_some() && run.ended == Some(Reason::Memory) {
        let why = "the cache is too small for the stack of the search, or the memory limit was reached";
        run.ended = Some(Reason::Unsupported(why.into()));
    }
    let only_deadlocks = methods.persistent.is_some() && methods.proviso == Proviso::None;
    let may_ignore = if only_deadlocks { space.has_unexecuted() } else { space.ignores_edges() };
    if methods.persistent.is_some() && may_ignore && run.coverage.0.is_ok() {
        run.coverage = KnownCoverage(Err(IGNORED));
    }
    let mut reduction = describe(&methods, &counts);
    if space.unfolding().is_full() {
        reduction.push_str(", given up because there are too many transitions to compare them all");
    }
    Attempt::Done(Box::new(Run { reduction: Some(reduction), only_deadlocks, is_reduced: true, ..run }))
}

/// A search with a reduction and a set of states of any kind.
struct InSet<'a, 'b> {
    space: &'a mut Reduced<'b>,
    key: Key,
    safety: &'a safety::Options,
    reduction: partial::Reduction,
    /// Breadth first.
    is_wide: bool,
    room: usize,
    budget: &'a Budget,
}

impl Work for InSet<'_, '_> {
    type Output = Result<(Run, Counts), partial::Incompatible>;

    fn with<C: StateSet>(self, mut set: C) -> Self::Output {
        let InSet { space, key, safety, reduction, is_wide, room, budget } = self;
        reduction.for_set()?;
        if is_wide {
            let mut store = SetStore::queue(set, key, true).limit(room);
            let done = partial::breadth_first(space, &mut store, safety, &reduction, budget)?;
            let run = collect(space.compiled(), &store, done.report);
            return Ok((estimated(run, store.set_bytes(), store.omission()), done.counts));
        }
        let mut store = FlatStore::<Mark, _>::with_visible(key.clone());
        let visited = (&mut set, key);
        let done = partial::depth_first_in_set(space, &mut store, visited, room, safety, &reduction, budget)?;
        let run = collect(space.compiled(), &store, done.report);
        Ok((estimated(run, set.bytes(), set.omission()), done.counts))
    }
}

fn refused(why: partial::Incompatible) -> Attempt {
    let ended = Some(Reason::Unsupported(why.to_string()));
    Attempt::Done(Box::new(Run { ended, ..Run::default() }))
}

fn describe(methods: &Methods, counts: &Counts) -> String {
    let mut text = methods.to_string();
    if methods.cache.is_some() {
        let Counts { stored, cleared, matched, deepest, .. } = counts;
        text.push_str(&format!(": {stored} stored, {cleared} cleared, {matched} matched, stack {deepest}"));
    }
    text
}

/// A budget that ends a search whose reduction does not pay, if that is to be decided; and whether it has.
pub fn trial(budget: &Budget, tally: Option<Arc<Tally>>) -> (Budget, Cancellation) {
    let Some(tally) = tally else { return (budget.clone(), Cancellation::new()) };
    let is_judged = AtomicBool::new(false);
    budget.until(move |progress| {
        let (asked, left) = tally.choices();
        if left == 0 && asked >= FIRST_TRIAL {
            return true;
        }
        let is_time = progress.states > TRIAL && !is_judged.swap(true, Ordering::Relaxed);
        is_time && left * WORTH < asked
    })
}
