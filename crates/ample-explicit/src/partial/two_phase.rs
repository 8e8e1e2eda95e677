//! Two-Phase (R. Nalumasu, G. Gopalakrishnan: An efficient partial order reduction algorithm with an alternative
//! proviso implementation, 2002): steps that nobody can disturb and nobody sees are taken at once, and only where there
//! is none left all orders are looked at.
//!
//! A step is *safe* in a state if it is the only one of its process there, invisible, and a persistent set by itself.
//! *Phase 1* takes safe steps, process by process in a fixed order, and again while that leads anywhere. It looks for
//! cycles among its own states only, so that a cycle of safe steps is left: a process that has closed one is done. *Phase
//! 2* takes all that is enabled. Every state is therefore followed by safe steps and then by a state of which nothing is
//! left out, which is all that branching-time properties without *next* need (R. Gerth, R. Kuiper, D. Peled,
//! W. Penczek: A partial order approach to branching time logic model checking, 1999); there is no proviso.
//!
//! Here this is a transformation: in [`TwoPhase`] a transition is one of the space with the safe steps that follow it,
//! and so the states between are not kept. It is right wherever Phase 1 ends, which is why it may end after
//! [`MAX_LOOKS`], and why an initial state is expanded as it is.
//!
//! ```
//! use ample_explicit::check::{self, Options};
//! use ample_explicit::partial::{Label, Labelled, Partial, ProcessModel, TwoPhase};
//! use ample_explicit::space::{Checked, StateSpace};
//! use ample_explicit::store::{HashStore, Parent};
//! use ample_budget::Budget;
//!
//! /// Three runners with nine steps to go. The invariant looks at the first one.
//! struct Race;
//!
//! impl ProcessModel for Race {
//!     fn owner(&self, runner: &usize) -> u32 {
//!         *runner as u32
//!     }
//!     fn is_invisible(&mut self, _: &[u8; 3], step: &Labelled<usize>, _: bool) -> bool {
//!         step.transition != 0
//!     }
//! }
//! # impl StateSpace for Race {
//! #     type State = [u8; 3];
//! #     type Transition = usize;
//! #     fn initial(&mut self, index: usize, out: &mut [u8; 3]) -> bool {
//! #         *out = [9; 3];
//! #         index == 0
//! #     }
//! #     fn first(&mut self, state: &[u8; 3]) -> Option<usize> { (0..3).find(|&runner| state[runner] > 0) }
//! #     fn next(&mut self, state: &[u8; 3], last: &usize) -> Option<usize> {
//! #         (last + 1..3).find(|&runner| state[runner] > 0)
//! #     }
//! #     fn target(&mut self, state: &[u8; 3], runner: &usize, out: &mut [u8; 3]) {
//! #         *out = *state;
//! #         out[*runner] -= 1;
//! #     }
//! # }
//! # impl Checked for Race {
//! #     fn is_valid_end(&mut self, _: &[u8; 3]) -> bool { true }
//! #     fn violation(&self) -> Option<String> { None }
//! #     fn is_dead(&self) -> bool { false }
//! #     fn is_transient(&self, _: &[u8; 3]) -> bool { false }
//! #     fn atomic_steps(&self) -> u32 { 0 }
//! #     fn invariant(&mut self, _: usize, state: &[u8; 3]) -> bool { state[0] != 5 }
//! # }
//! # impl Partial for Race {
//! #     fn enabled(&mut self, state: &[u8; 3], out: &mut Vec<Labelled<usize>>) {
//! #         let runners = (0..3).filter(|&runner| state[runner] > 0);
//! #         out.extend(runners.map(|runner| Labelled { transition: runner, label: runner as Label }));
//! #     }
//! #     fn persistent(&mut self, state: &[u8; 3], enabled: &[Labelled<usize>], out: &mut Vec<u32>) {
//! #         self.persistent_with(state, enabled, 0, out);
//! #     }
//! #     fn persistent_with(&mut self, _: &[u8; 3], _: &[Labelled<usize>], member: u32, out: &mut Vec<u32>) {
//! #         out.push(member);
//! #     }
//! #     fn independent(&mut self, _: &[u8; 3], first: Label, second: Label) -> bool { first != second }
//! # }
//!
//! let options = Options { invariants: 1, ..Options::default() };
//! let mut store: HashStore<[u8; 3], Parent> = HashStore::default();
//! let report = check::breadth_first(&mut TwoPhase::new(Race), &mut store, &options, &Budget::unlimited());
//! // Of 1000 states there are left the first, and one for each place of the first runner.
//! assert_eq!(report.statistics.states, 11);
//! assert!(report.invariants[0].is_some());
//! ```

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use ample_model::Move;
use rapidhash::quality::RapidHasher;

use super::{Labelled, Partial};
use crate::liveness::{Concurrent, Processes};
use crate::space::{Buffer, Checked, Culprit, StateSpace};

/// So often a phase looks whether a step is safe, and no more: a process may count for ever, and there may be hundreds of
/// processes that have none.
pub const MAX_LOOKS: usize = 256;

/// A state space whose transitions belong to processes, and which knows what can be seen of them: what it takes to tell
/// which steps are safe, beside persistent sets.
pub trait ProcessModel: Partial {
    /// The process that the transition belongs to.
    fn owner(&self, transition: &Self::Transition) -> u32;

    /// No property that is asked about can tell whether the transition was taken in that state or not, and what is
    /// independent of it can change places with it exactly. Asked right after [`enabled`](Partial::enabled) of the same
    /// state. If it `is_alone`, nothing else is enabled there, and it need not change places with anything.
    fn is_invisible(&mut self, state: &Self::State, one: &Labelled<Self::Transition>, is_alone: bool) -> bool;
}

/// A state space in which safe steps are taken at once; see the [module](self).
///
/// What it says of its last transition (a violation, a fault, steps inside atomic sequences) is what the space said of
/// the transition before the safe steps: those neither violate nor fault, or they are not taken.
pub struct TwoPhase<S: StateSpace> {
    space: S,
    phase: Phase<S>,
    counts: Phases,
    last: Last,
}

/// What Phase 1 has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Safe steps that were taken.
    pub steps: u64,
    /// So many of them in a row, at most.
    pub longest: u64,
    /// So often a cycle of safe steps was left.
    pub cycles: u64,
}

/// What the space said of the last transition.
#[derive(Default)]
struct Last {
    violation: Option<String>,
    is_dead: bool,
    culprit: Option<Culprit>,
    atomic_steps: u32,
}

/// The memory of Phase 1.
struct Phase<S: StateSpace> {
    enabled: Vec<Labelled<S::Transition>>,
    set: Vec<u32>,
    next: Buffer<S>,
    /// The states of this phase, by their hashes. That two states have the same one only ends the phase sooner.
    queue: HashSet<u64>,
    /// The processes that have closed a cycle.
    done: Vec<u32>,
    /// How many steps this phase has looked at.
    looks: usize,
}

impl<S> TwoPhase<S>
where
    S: ProcessModel<State: Hash>,
    Buffer<S>: Default,
{
    /// The space, with Phase 1 after every transition.
    pub fn new(space: S) -> Self {
        let phase = Phase {
            enabled: Vec::new(),
            set: Vec::new(),
            next: Buffer::<S>::default(),
            queue: HashSet::new(),
            done: Vec::new(),
            looks: 0,
        };
        TwoPhase { space, phase, counts: Phases::default(), last: Last::default() }
    }

    /// The state space.
    pub fn space(&mut self) -> &mut S {
        &mut self.space
    }

    /// The same, to be looked at.
    pub fn inner(&self) -> &S {
        &self.space
    }

    /// What Phase 1 has done so far.
    pub fn phases(&self) -> Phases {
        self.counts
    }

    /// Keeps what the space says of the transition that it has just computed; false if there is no state after it.
    fn keep(&mut self) -> bool {
        let is_dead = self.space.is_dead();
        self.last = Last {
            violation: self.space.violation(),
            is_dead,
            culprit: self.space.culprit(),
            atomic_steps: self.space.atomic_steps(),
        };
        !is_dead
    }

    /// Phase 1: takes safe steps from the state, each of which is visited.
    fn take_safe_steps(&mut self, current: &mut Buffer<S>, mut visit: impl FnMut(&mut S, &S::State, &S::Transition)) {
        self.phase.begin(Borrow::borrow(current));
        let mut steps = 0;
        let mut from = 0;
        // Whether this round has led anywhere.
        let mut has_moved = false;
        while self.phase.looks < MAX_LOOKS {
            let Some((owner, transition)) = self.phase.safe_step(&mut self.space, Borrow::borrow(current), from) else {
                if !std::mem::take(&mut has_moved) {
                    break;
                }
                from = 0;
                continue;
            };
            // Once a process has moved it goes on, before the next one has its turn.
            from = owner;
            if !self.phase.is_new() {
                self.phase.done.push(owner);
                self.counts.cycles += 1;
                continue;
            }
            visit(&mut self.space, Borrow::borrow(current), &transition);
            std::mem::swap(current, &mut self.phase.next);
            steps += 1;
            has_moved = true;
        }
        self.counts.steps += steps;
        self.counts.longest = self.counts.longest.max(steps);
    }
}

impl<S> Phase<S>
where
    S: ProcessModel<State: Hash>,
    Buffer<S>: Default,
{
    fn begin(&mut self, state: &S::State) {
        self.queue.clear();
        self.done.clear();
        self.looks = 0;
        self.queue.insert(hash(state));
    }

    /// The state after the step has not been in the phase before.
    fn is_new(&mut self) -> bool {
        let next: &S::State = self.next.borrow();
        self.queue.insert(hash(next))
    }

    /// The safe step of the first process from that one on that has one, if it is not done; where it leads is in `next`.
    fn safe_step(&mut self, space: &mut S, state: &S::State, from: u32) -> Option<(u32, S::Transition)> {
        if space.is_transient(state) {
            return None;
        }
        self.enabled.clear();
        space.enabled(state, &mut self.enabled);
        let mut least = from;
        while self.looks < MAX_LOOKS {
            let owners = self.enabled.iter().map(|one| space.owner(&one.transition));
            let owner = owners.filter(|owner| *owner >= least && !self.done.contains(owner)).min()?;
            if let Some(transition) = self.safe_step_of(space, state, owner) {
                return Some((owner, transition));
            }
            least = owner.checked_add(1)?;
        }
        None
    }

    fn safe_step_of(&mut self, space: &mut S, state: &S::State, owner: u32) -> Option<S::Transition> {
        let mut own = (0..self.enabled.len()).filter(|at| space.owner(&self.enabled[*at].transition) == owner);
        let (Some(at), None) = (own.next(), own.next()) else { return None };
        let one = self.enabled[at];
        let is_alone = self.enabled.len() == 1;
        if !space.is_invisible(state, &one, is_alone) {
            return None;
        }
        self.looks += 1;
        space.target(state, &one.transition, &mut self.next);
        // Nothing is independent of a step that ends the run, and a sequence that is not over may go on in several ways.
        if space.is_dead() || space.violation().is_some() || space.is_transient(self.next.borrow()) {
            return None;
        }
        if !is_alone {
            self.set.clear();
            space.persistent_with(state, &self.enabled, at as u32, &mut self.set);
        }
        (is_alone || self.set[..] == [at as u32]).then_some(one.transition)
    }
}

fn hash<T: Hash + ?Sized>(state: &T) -> u64 {
    let mut hasher = RapidHasher::default();
    state.hash(&mut hasher);
    hasher.finish()
}

impl<S> StateSpace for TwoPhase<S>
where
    S: ProcessModel<State: Hash>,
    Buffer<S>: Default,
{
    type State = S::State;
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut Buffer<S>) -> bool {
        let there = self.space.initial(index, out);
        self.keep();
        there
    }

    #[inline]
    fn first(&mut self, state: &S::State) -> Option<S::Transition> {
        self.space.first(state)
    }

    #[inline]
    fn next(&mut self, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        self.space.next(state, transition)
    }

    fn target(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        self.space.target(state, transition, out);
        if self.keep() {
            self.take_safe_steps(out, |_, _, _| {});
        }
    }
}

impl<S> Checked for TwoPhase<S>
where
    S: ProcessModel<State: Hash>,
    Buffer<S>: Default,
{
    fn is_valid_end(&mut self, state: &S::State) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        self.last.violation.clone()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.last.is_dead
    }

    fn culprit(&self) -> Option<Culprit> {
        self.last.culprit
    }

    fn stopped(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        self.space.stopped(state, transition, out);
    }

    #[inline]
    fn is_transient(&self, state: &S::State) -> bool {
        self.space.is_transient(state)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        self.last.atomic_steps
    }

    fn invariant(&mut self, number: usize, state: &S::State) -> bool {
        self.space.invariant(number, state)
    }
}

/// For the moves of a run. Fairness counts every step of every process, and is nothing to be asked of such a space.
impl<S> Concurrent for TwoPhase<S>
where
    S: ProcessModel<State: Hash> + Concurrent,
    Buffer<S>: Default,
{
    fn mover(&self, transition: &S::Transition) -> Option<u32> {
        self.space.mover(transition)
    }

    fn participants(&self) -> Processes {
        self.space.participants()
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    fn actions(&mut self, state: &S::State, transition: &S::Transition) -> Vec<Move> {
        let mut moves = self.space.actions(state, transition);
        let mut out = Buffer::<S>::default();
        self.space.target(state, transition, &mut out);
        if self.keep() {
            self.take_safe_steps(&mut out, |space, state, step| moves.extend(space.actions(state, step)));
        }
        moves
    }
}
