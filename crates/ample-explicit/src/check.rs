//! The safety check: deadlocks, assertions and invariants over any state space that is [`Checked`].
//!
//! It is a [`Feedback`] and leaves the walking to the strategies of [`search`](crate::search).
//! [`breadth_first`] gives shortest counterexamples; [`depth_first`] needs no links between the stored
//! states. The [directed] searches go where a violation seems near. All go on after a violation until everything that was asked is decided or the state space is
//! exhausted, and keep what they found when a limit ends them.
//!
//! The counts mean what they mean in Spin: states of atomic sequences do not count, a transition is an
//! arrival at a state, stored or matched and the initial ones included, and the depth is that of the
//! deepest state: breadth-first its level, depth-first the steps on the stack, among them those inside
//! atomic sequences that a transition passed over.
//!
//! ```
//! use ample_explicit::check::{self, Options};
//! use ample_explicit::space::{Checked, StateSpace};
//! use ample_explicit::store::{ExactStore, HashStore, Parent};
//! use ample_budget::Budget;
//!
//! /// Two jugs for so many litres that can be filled, emptied, and poured into each other.
//! struct Jugs([u8; 2]);
//!
//! impl StateSpace for Jugs {
//!     type State = [u8; 2];
//!     type Transition = u8;
//!
//!     fn initial(&mut self, index: usize, out: &mut [u8; 2]) -> bool {
//!         *out = [0, 0];
//!         index == 0
//!     }
//!     fn first(&mut self, _: &[u8; 2]) -> Option<u8> {
//!         Some(0)
//!     }
//!     fn next(&mut self, _: &[u8; 2], last: &u8) -> Option<u8> {
//!         (*last < 5).then_some(last + 1)
//!     }
//!     fn target(&mut self, state: &[u8; 2], step: &u8, out: &mut [u8; 2]) {
//!         *out = *state;
//!         let (from, to) = (usize::from(step % 2), usize::from(1 - step % 2));
//!         match step / 2 {
//!             0 => out[from] = self.0[from],
//!             1 => out[from] = 0,
//!             _ => {
//!                 let poured = state[from].min(self.0[to] - state[to]);
//!                 out[from] -= poured;
//!                 out[to] += poured;
//!             }
//!         }
//!     }
//! }
//!
//! impl Checked for Jugs {
//!     /// Nobody can measure four litres.
//!     fn invariant(&mut self, _: usize, state: &[u8; 2]) -> bool {
//!         !state.contains(&4)
//!     }
//!     // Nothing can go wrong, and there are no atomic sequences.
//!     fn is_valid_end(&mut self, _: &[u8; 2]) -> bool {
//!         true
//!     }
//!     fn violation(&self) -> Option<String> {
//!         None
//!     }
//!     fn is_dead(&self) -> bool {
//!         false
//!     }
//!     fn is_transient(&self, _: &[u8; 2]) -> bool {
//!         false
//!     }
//!     fn atomic_steps(&self) -> u32 {
//!         0
//!     }
//! }
//!
//! let options = Options { invariants: 1, ..Options::default() };
//! let mut store: HashStore<[u8; 2], Parent> = HashStore::default();
//! let report = check::breadth_first(&mut Jugs([3, 5]), &mut store, &options, &Budget::unlimited());
//! let path = &report.invariants[0].as_ref().unwrap().path;
//! let states: Vec<_> = path.states().map(|handle| *store.get(handle)).collect();
//! assert_eq!(states, [[0, 0], [0, 5], [3, 2], [0, 2], [2, 0], [2, 5], [3, 4]]);
//! assert_eq!(report.statistics.states, 16);
//!
//! // Depth-first the states need no parents, and the path may be longer.
//! let report = check::depth_first(&mut Jugs([3, 5]), &mut HashStore::new(), &options, &Budget::unlimited());
//! assert!(report.invariants[0].as_ref().is_some_and(|violation| violation.path.len() >= 6));
//! ```

pub mod directed;
mod parallel;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Progress};
use ample_model::outcome::{Reason, Statistics};

use crate::pacing::Pacing;
use crate::search::{
    Arrivals, Backtrack, BreadthFirst, DepthFirst, Explore, Feedback, InsertionOrder, Path, Pause, Position, Visit,
};
use crate::space::{Buffer, Checked, Culprit};
use crate::store::{ExactStore, Inserted, Linked};

pub(crate) use parallel::{Searched, breadth_first_together};

/// How many arrivals wait for the memory together.
const WINDOW: usize = 32;

/// What to check, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// Look for states without outgoing transitions that are no valid end.
    pub deadlock: bool,
    /// Look for violated assertions and other faults.
    pub assertions: bool,
    /// Look for states that violate the first so many invariants of the state space.
    pub invariants: usize,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
    /// Do not expand states at this depth.
    pub max_depth: u64,
    /// The budget is told after every so many arrivals at a state. It may end the search, for one when
    /// the memory that it is told of, stack included, is more than there should be.
    pub report_every: u64,
}

impl Default for Options {
    /// Deadlock and assertions, without limits.
    fn default() -> Self {
        Options {
            deadlock: true,
            assertions: true,
            invariants: 0,
            stop_at_first: false,
            max_depth: u64::MAX,
            report_every: 10_000,
        }
    }
}

/// The first violation of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation<T> {
    /// What went wrong, in a sentence.
    pub message: String,
    /// How to get there from an initial state.
    pub path: Path<T>,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<T> {
    /// A deadlock.
    pub deadlock: Option<Violation<T>>,
    /// A violated assertion or another fault.
    pub assertions: Option<Violation<T>>,
    /// For each invariant that was asked for: a violation.
    pub invariants: Vec<Option<Violation<T>>>,
    /// The steps that were faults, after which there is no state.
    pub cuts: Vec<Cut>,
    /// Why the search ended early: what has not been found to be violated is not decided then. None if
    /// the state space was exhausted or everything was found to be violated.
    pub ended: Option<Reason>,
    /// The search has not left out anything but what its reduction allows: it has neither ended early, nor once everything
    /// was found to be violated.
    pub exhausted: bool,
    /// What the search did.
    pub statistics: Statistics,
}

/// A step that ended in a fault, so that no run goes on after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which step, if the state space tells.
    pub by: Option<Culprit>,
    /// What went wrong when it was first met, in a sentence.
    pub message: String,
    /// How often it was met: the states in which it was taken, in a search that leaves nothing out.
    pub count: u64,
}

/// Checks breadth-first. The paths to violations are shortest ones. The store must be empty.
pub fn breadth_first<S, St>(space: &mut S, store: &mut St, options: &Options, budget: &Budget) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    St::Side: Linked,
    Buffer<S>: Default,
{
    let mut safety = Safety::new(options, budget);
    let strategy = BreadthFirst { max_depth: options.max_depth, window: WINDOW };
    strategy.run_with(InsertionOrder::default(), space, store, &mut safety);
    safety.report(store.bytes(), store.state_bytes())
}

/// What a search has counted so far, if it has found nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tally {
    pub(crate) statistics: Statistics,
    pub(crate) cuts: Vec<Cut>,
}

/// Checks breadth-first, from the beginning or from where another search was, and looks at it now and then.
pub(crate) fn breadth_first_from<S, St>(
    begun: Option<(Position, Tally)>,
    space: &mut S,
    store: &mut St,
    options: &Options,
    budget: &Budget,
    pause: &mut impl for<'a> Pause<St, Safety<'a, S::Transition>>,
) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    St::Side: Linked,
    Buffer<S>: Default,
{
    let mut safety = Safety::new(options, budget);
    let (position, tally) = begun.unzip();
    if let Some(tally) = tally {
        let earlier = Duration::try_from_secs_f64(tally.statistics.time_s).unwrap_or_default();
        safety.start = safety.start.checked_sub(earlier).unwrap_or(safety.start);
        safety.cuts = tally.cuts.into_iter().map(|cut| (cut.by, cut)).collect();
        safety.statistics = tally.statistics;
    }
    let strategy = BreadthFirst { max_depth: options.max_depth, window: WINDOW };
    strategy.run_from(position, space, store, &mut safety, pause);
    safety.report(store.bytes(), store.state_bytes())
}

/// Checks depth-first. The store must be empty.
pub fn depth_first<S, St>(space: &mut S, store: &mut St, options: &Options, budget: &Budget) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    let mut safety = Safety { stack: Some(Vec::new()), ..Safety::new(options, budget) };
    DepthFirst { max_depth: options.max_depth }.run(space, store, &mut safety);
    safety.report(store.bytes(), store.state_bytes())
}

/// The feedback that checks safety.
pub(crate) struct Safety<'a, T> {
    pub(crate) options: &'a Options,
    budget: &'a Budget,
    start: Instant,
    pub(crate) deadlock: Option<Violation<T>>,
    pub(crate) assertions: Option<Violation<T>>,
    pub(crate) invariants: Vec<Option<Violation<T>>>,
    /// The numbers of the invariants that have not been found to be violated.
    pub(crate) open: Vec<usize>,
    cuts: BTreeMap<Option<Culprit>, Cut>,
    pub(crate) ended: Option<Reason>,
    /// Everything that was asked is violated.
    is_decided: bool,
    pub(crate) statistics: Statistics,
    /// Arrivals until the budget is told next.
    pub(crate) countdown: u64,
    pacing: Pacing,
    /// The bytes that the strategy holds.
    pub(crate) held: usize,
    /// Depth-first: the steps up to each state on the stack.
    stack: Option<Vec<u64>>,
    /// Directed: the search ends when this is found to be violated.
    aim: Option<directed::Aim>,
    /// A\*: a violation that is found is kept only until there is a shorter path to one, and final when there cannot be.
    is_shortest: bool,
    /// The violated assertion is not final yet.
    is_candidate: bool,
    /// What another worker has found to be violated.
    elsewhere: parallel::Elsewhere,
    /// Directed: how many states were expanded, and how many of them again.
    expanded: u64,
    reopened: u64,
}

impl<'a, T> Safety<'a, T> {
    pub(crate) fn new(options: &'a Options, budget: &'a Budget) -> Self {
        let pacing = Pacing::new(options.report_every);
        Safety {
            options,
            budget,
            start: Instant::now(),
            deadlock: None,
            assertions: None,
            invariants: (0..options.invariants).map(|_| None).collect(),
            open: (0..options.invariants).collect(),
            cuts: BTreeMap::new(),
            ended: None,
            is_decided: false,
            statistics: Statistics::default(),
            countdown: pacing.first(),
            pacing,
            held: 0,
            stack: None,
            aim: None,
            is_shortest: false,
            is_candidate: false,
            elsewhere: parallel::Elsewhere::default(),
            expanded: 0,
            reopened: 0,
        }
    }

    pub(crate) fn report(self, store_bytes: usize, state_bytes: usize) -> Report<T> {
        let statistics = Statistics {
            time_s: self.start.elapsed().as_secs_f64(),
            memory_bytes: (store_bytes + self.held) as u64,
            store_bytes: store_bytes as u64,
            state_bytes: state_bytes as u64,
            complete: self.ended.is_none(),
            counts_transitions: true,
            counts_depth: true,
            expanded: (self.expanded > 0).then_some(self.expanded),
            reopened: self.is_shortest.then_some(self.reopened),
            ..self.statistics
        };
        Report {
            deadlock: self.deadlock,
            assertions: self.assertions,
            invariants: self.invariants,
            cuts: self.cuts.into_values().collect(),
            exhausted: self.ended.is_none() && !self.is_decided,
            ended: self.ended,
            statistics,
        }
    }

    /// What was counted; none if something was found, or was left out.
    pub(crate) fn tally(&self) -> Option<Tally> {
        let found = self.deadlock.is_some() || self.assertions.is_some() || self.invariants.iter().any(Option::is_some);
        if found || self.ended.is_some() {
            return None;
        }
        let time_s = self.start.elapsed().as_secs_f64();
        let statistics = Statistics { time_s, ..self.statistics.clone() };
        Some(Tally { statistics, cuts: self.cuts.values().cloned().collect() })
    }

    pub(crate) fn asks_deadlock(&self) -> bool {
        self.options.deadlock && self.deadlock.is_none() && !self.elsewhere.deadlock
    }

    pub(crate) fn asks_assertions(&self) -> bool {
        self.options.assertions && (self.assertions.is_none() || self.is_candidate) && !self.elsewhere.assertions
    }

    /// After a violation: is there nothing left to look for?
    pub(crate) fn is_done(&mut self) -> bool {
        let is_aim_met = self.aim.is_some_and(|aim| self.is_met(aim));
        self.is_decided = self.options.stop_at_first
            || is_aim_met
            || !(self.asks_deadlock() || self.asks_assertions() || !self.open.is_empty());
        self.is_decided
    }

    /// What the search aims at is found, and final.
    fn is_met(&self, aim: directed::Aim) -> bool {
        match aim {
            directed::Aim::Deadlock => !self.asks_deadlock(),
            directed::Aim::Assertions => !self.asks_assertions(),
            directed::Aim::Invariant(number) => !self.open.contains(&number),
        }
    }

    /// Makes violations final to which there cannot be a shorter path than this. True if there were some.
    #[inline]
    fn confirm(&mut self, least: u64) -> bool {
        let is_final = |found: &Option<Violation<T>>| found.as_ref().is_some_and(|one| one.path.len() as u64 <= least);
        let assertions = self.is_candidate && is_final(&self.assertions);
        self.is_candidate &= !assertions;
        let before = self.open.len();
        self.open.retain(|number| !is_final(&self.invariants[*number]));
        assertions || self.open.len() < before
    }

    /// What the state space says of the step it has just taken.
    #[inline]
    pub(crate) fn note<S: Checked>(&mut self, space: &S) -> Note {
        if space.is_dead() {
            self.cut(space);
        }
        Note {
            violation: if self.asks_assertions() { space.violation().map(String::into_boxed_str) } else { None },
            dead: space.is_dead(),
            atomic_steps: space.atomic_steps(),
        }
    }

    /// Counts a step that was a fault.
    #[cold]
    fn cut<S: Checked>(&mut self, space: &S) {
        let by = space.culprit();
        let new = || Cut { by, message: space.violation().unwrap_or_default(), count: 0 };
        self.cuts.entry(by).or_insert_with(new).count += 1;
    }

    /// Tells the budget how it goes.
    #[cold]
    pub(crate) fn report_progress(&mut self, pending: u64, memory: usize) -> bool {
        self.countdown = self.pacing.next();
        let progress = Progress {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            pending,
            memory: memory as u64,
            ..Progress::default()
        };
        match self.budget.report(&progress) {
            Ok(()) => false,
            Err(interrupted) => {
                self.ended = Some(interrupted.into());
                true
            }
        }
    }

    /// Records a violated assertion, if one is still looked for.
    #[cold]
    fn assertion_violated<S, St>(&mut self, visit: &mut Visit<'_, S, St>, message: String) -> bool
    where
        S: Checked<Transition = T>,
        St: ExactStore<S::State>,
        T: Copy,
        Buffer<S>: Default,
    {
        if !self.asks_assertions()
            || self.assertions.as_ref().is_some_and(|found| found.path.len() as u64 <= visit.depth())
        {
            return false;
        }
        self.is_candidate = self.is_shortest;
        self.assertions = Some(Violation { message, path: visit.path_avoiding(S::is_dead) });
        true
    }

    /// Counts an arrival at a state, and looks at the invariants if the state is new. True if one of them
    /// is violated.
    #[inline]
    fn arrived<S, St>(&mut self, visit: &mut Visit<'_, S, St>, new: bool, atomic_steps: u32) -> bool
    where
        S: Checked<Transition = T>,
        St: ExactStore<S::State>,
        T: Copy,
        Buffer<S>: Default,
    {
        let (space, state) = visit.parts();
        let transient = space.is_transient(state);
        let statistics = &mut self.statistics;
        *if transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
        let depth = self.depth(visit.depth(), atomic_steps, new);
        let statistics = &mut self.statistics;
        statistics.depth = statistics.depth.max(depth);
        if !new {
            return false;
        }
        *if transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
        self.held = visit.held() + self.stack.as_ref().map_or(0, |stack| stack.capacity() * size_of::<u64>());
        !transient && self.breaks_invariant(visit)
    }

    /// How deep an arrival has led, by so many transitions, the last of which passed over some steps.
    #[inline]
    fn depth(&mut self, transitions: u64, atomic_steps: u32, new: bool) -> u64 {
        let Some(stack) = &mut self.stack else { return if new { transitions } else { 0 } };
        stack.truncate(transitions as usize);
        let passed = stack.last().unwrap_or(&0) + u64::from(atomic_steps);
        if !new {
            return passed;
        }
        let depth = passed + u64::from(transitions > 0);
        stack.push(depth);
        depth
    }

    /// Looks at the invariants that are still open. True if one of them is violated.
    #[inline]
    fn breaks_invariant<S, St>(&mut self, visit: &mut Visit<'_, S, St>) -> bool
    where
        S: Checked<Transition = T>,
        St: ExactStore<S::State>,
        T: Copy,
        Buffer<S>: Default,
    {
        let mut is_violated = false;
        let mut next = 0;
        while let Some(&number) = self.open.get(next) {
            let (space, state) = visit.parts();
            if space.invariant(number, state) {
                next += 1;
                continue;
            }
            // In A* those that are open may have a candidate.
            if self.invariants[number].as_ref().is_some_and(|found| found.path.len() as u64 <= visit.depth()) {
                next += 1;
                continue;
            }
            let message = "invariant violated".to_owned();
            self.invariants[number] = Some(Violation { message, path: visit.path_avoiding(S::is_dead) });
            is_violated = true;
            if self.is_shortest {
                next += 1;
            } else {
                self.open.remove(next);
            }
        }
        is_violated
    }
}

/// What the state space says of a step, and only right after it.
#[derive(Default)]
pub(crate) struct Note {
    /// Behind a pointer: it is rare, and a note is moved at every arrival.
    pub(crate) violation: Option<Box<str>>,
    pub(crate) dead: bool,
    pub(crate) atomic_steps: u32,
}

impl<S, St> Feedback<S, St> for Safety<'_, S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    Buffer<S>: Default,
{
    type Note = Note;

    #[inline]
    fn arrive(&mut self, space: &mut S) -> Note {
        self.note(space)
    }

    #[inline]
    fn is_state(note: &Note) -> bool {
        !note.dead
    }

    #[inline]
    fn explore(&mut self, visit: &mut Visit<'_, S, St>, note: Note) -> Explore {
        self.statistics.atomic_steps += u64::from(note.atomic_steps);
        let inserted = if note.dead { None } else { Some(visit.insert()) };
        let mut violated = note.violation.is_some_and(|message| self.assertion_violated(visit, message.into()));
        let mut answer = match inserted {
            Some(Inserted::New(_)) => Explore::New,
            Some(Inserted::Seen(_)) if visit.reopen() => Explore::Reopen,
            Some(Inserted::Seen(_)) | None => Explore::Skip,
            Some(Inserted::Full) => Explore::Interrupt,
        };
        match inserted {
            Some(Inserted::New(_) | Inserted::Seen(_)) => {
                violated |= self.arrived(visit, answer == Explore::New, note.atomic_steps);
            }
            Some(Inserted::Full) => self.ended = Some(Reason::Memory),
            None => {}
        }
        if answer == Explore::Reopen {
            self.reopened += 1;
            let (space, state) = visit.parts();
            violated |= !space.is_transient(state) && self.breaks_invariant(visit);
        }
        self.countdown -= 1;
        if self.countdown == 0 && self.report_progress(visit.pending(), visit.store.bytes() + self.held) {
            answer = Explore::Interrupt;
        }
        if violated && !self.is_shortest && self.is_done() { Explore::Interrupt } else { answer }
    }

    const COUNTS: bool = true;

    #[inline]
    fn counted(&self, space: &S, state: &S::State, note: &Note) -> Option<(bool, u32)> {
        let is_plain = note.violation.is_none() && !note.dead;
        is_plain.then(|| (space.is_transient(state), note.atomic_steps))
    }

    #[inline]
    fn count(&mut self, arrivals: &Arrivals, store_bytes: impl FnOnce() -> usize) -> Explore {
        let statistics = &mut self.statistics;
        statistics.atomic_steps += arrivals.atomic_steps + arrivals.transient;
        statistics.transitions += arrivals.others;
        statistics.atomic_states += arrivals.new_transient;
        statistics.states += arrivals.new_others;
        if arrivals.new_transient + arrivals.new_others > 0 {
            statistics.depth = statistics.depth.max(arrivals.depth);
            self.held = arrivals.held;
        }
        if arrivals.is_full {
            self.ended = Some(Reason::Memory);
            return Explore::Interrupt;
        }
        self.countdown = self.countdown.saturating_sub(arrivals.transient + arrivals.others);
        if self.countdown == 0 && self.report_progress(arrivals.pending, store_bytes() + self.held) {
            return Explore::Interrupt;
        }
        Explore::Skip
    }

    #[inline]
    fn asks_new(&self) -> bool {
        !self.open.is_empty()
    }

    fn explore_new(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        let (space, state) = visit.parts();
        let is_violated = !space.is_transient(state) && self.breaks_invariant(visit);
        if is_violated && self.is_done() { Explore::Interrupt } else { Explore::New }
    }

    #[inline]
    fn expand(&mut self, least: u64) -> Backtrack {
        self.expanded += 1;
        if self.is_shortest && self.confirm(least) && self.is_done() {
            return Backtrack::Interrupt;
        }
        Backtrack::Continue
    }

    #[inline]
    fn leaf(&mut self, visit: &mut Visit<'_, S, St>) -> Backtrack {
        if !self.asks_deadlock() {
            return Backtrack::Continue;
        }
        let (space, state) = visit.parts();
        if space.is_transient(state) || space.is_valid_end(state) {
            return Backtrack::Continue;
        }
        let message = "invalid end state".to_owned();
        self.deadlock = Some(Violation { message, path: visit.path_avoiding(S::is_dead) });
        if self.is_done() { Backtrack::Interrupt } else { Backtrack::Continue }
    }

    fn truncated(&mut self, _: &mut Visit<'_, S, St>) {
        self.ended.get_or_insert(Reason::Depth);
    }
}
