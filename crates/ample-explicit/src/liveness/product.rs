//! The product of a state space with an automaton.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use ample_model::Move;

use super::automaton::{Arc, BuchiAutomaton};
use super::stopping::{Stops, note_stop};
use super::{Concurrent, GeneralisedBuchi, Processes};
use crate::space::{Buffer, Checked, Fork, StateSpace};
use crate::store::Visible;

/// The automaton has read a state: a run that never leaves an atomic sequence lacks this mark.
const READ: u64 = 1 << 32;

/// The run has stopped in this state: a part of the tag.
const STOPPED: u32 = 1 << 15;

/// The automaton stays where it is while the state space passes over states.
pub(super) const IDLE: u32 = u32::MAX;

/// A state with a small number beside it: how a product with an automaton keeps its states.
pub trait Tagged: ToOwned {
    /// The two together.
    type With: ?Sized + ToOwned;

    /// The number.
    fn tag(with: &Self::With) -> u32;

    /// The state.
    fn plain(with: &Self::With) -> &Self;

    /// Puts them together.
    fn join(tag: u32, state: &Self, out: &mut <Self::With as ToOwned>::Owned);
}

/// How many bytes the number takes in front of a state of bytes.
const TAG: usize = 2;

/// The number comes first, in two bytes, so that what comes last is still what may be hidden.
impl Tagged for [u8] {
    type With = [u8];

    #[inline]
    fn tag(with: &[u8]) -> u32 {
        u16::from_le_bytes([with[0], with[1]]).into()
    }

    #[inline]
    fn plain(with: &[u8]) -> &[u8] {
        &with[TAG..]
    }

    #[inline]
    fn join(tag: u32, state: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&(tag as u16).to_le_bytes());
        out.extend_from_slice(state);
    }
}

impl<T: Clone> Tagged for T {
    type With = (u32, T);

    fn tag(with: &(u32, T)) -> u32 {
        with.0
    }

    fn plain(with: &(u32, T)) -> &T {
        &with.1
    }

    fn join(tag: u32, state: &T, out: &mut (u32, T)) {
        *out = (tag, state.clone());
    }
}

/// A transition of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<T> {
    /// That of the state space; none where a deadlocked state repeats.
    pub base: Option<T>,
    /// The atoms that hold in the state.
    valuation: u64,
    /// The arc that the automaton takes.
    pub(super) arc: u32,
    universal: bool,
    marks: u32,
}

/// A state space with an automaton beside it.
///
/// The automaton reads each visible state when it is left. The atoms of the automaton are the
/// [invariants](Checked::invariant) of the space; the product's own invariant number 0 says that the automaton has not
/// seen enough to accept whatever follows.
///
/// ```
/// use ample_explicit::liveness::{Options, Product, BuchiAutomaton, components};
/// use ample_explicit::space::{Checked, StateSpace};
/// use ample_explicit::store::HashStore;
/// use ample_logic::{Atoms, Dialect, parse, translate};
///
/// /// Counts up to three, and may then begin again. Atom 0: the count is zero.
/// struct Counter;
///
/// impl StateSpace for Counter {
///     type State = u8;
///     type Transition = u8;
///     fn initial(&mut self, index: usize, out: &mut u8) -> bool {
///         *out = 0;
///         index == 0
///     }
///     fn first(&mut self, state: &u8) -> Option<u8> {
///         Some((*state + 1).min(3))
///     }
///     fn next(&mut self, state: &u8, last: &u8) -> Option<u8> {
///         (*state == 3 && *last == 3).then_some(0)
///     }
///     fn target(&mut self, _: &u8, transition: &u8, out: &mut u8) {
///         *out = *transition;
///     }
/// }
/// # impl Checked for Counter {
/// #     fn is_valid_end(&mut self, _: &u8) -> bool { true }
/// #     fn violation(&self) -> Option<String> { None }
/// #     fn is_dead(&self) -> bool { false }
/// #     fn is_transient(&self, _: &u8) -> bool { false }
/// #     fn atomic_steps(&self) -> u32 { 0 }
/// #     fn invariant(&mut self, _: usize, state: &u8) -> bool { *state == 0 }
/// # }
/// # impl ample_explicit::liveness::Concurrent for Counter {
/// #     fn mover(&self, _: &u8) -> Option<u32> { Some(0) }
/// #     fn participants(&self) -> ample_explicit::liveness::Processes { Default::default() }
/// #     fn note_participants(&mut self) {}
/// #     fn actions(&mut self, _: &u8, _: &u8) -> Vec<ample_model::Move> { Vec::new() }
/// # }
///
/// let mut atoms = Atoms::new();
/// let never = !parse("[] <> zero", Dialect::Spin, &mut atoms)?;
/// let automaton = BuchiAutomaton::of(&translate(&never, &atoms, Default::default())?)?;
/// let mut product = Product::new(Counter, automaton);
/// let mut store = HashStore::default();
/// let report = components(&mut product, &mut store, &Options::default(), &ample_budget::Budget::unlimited());
///
/// // It may stay at three for ever.
/// let lasso = report.found.unwrap();
/// assert_eq!(lasso.prefix.len(), 3);
/// assert_eq!(lasso.cycle.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Product<S: StateSpace> {
    space: S,
    automaton: BuchiAutomaton,
    stutters: bool,
    hasty: bool,
    /// The state after the last transition of the space.
    after: Buffer<S>,
    /// The transitions of the space in a state.
    bases: Vec<S::Transition>,
    /// What was computed last was no move of the space.
    stuttered: bool,
    /// It was an initial state that is a fault.
    dead: bool,
    stops: Stops,
}

impl<S: StateSpace> Product<S>
where
    Buffer<S>: Default,
{
    /// The product, in which a run that is stuck repeats its last state for ever.
    ///
    /// # Panics
    /// If the automaton has more than [`MAX_STATES`] states.
    pub fn new(space: S, automaton: BuchiAutomaton) -> Self {
        assert!(automaton.len() <= MAX_STATES, "an automaton with {} states", automaton.len());
        Product {
            space,
            automaton,
            stutters: true,
            hasty: true,
            after: Buffer::<S>::default(),
            bases: Vec::new(),
            stuttered: false,
            dead: false,
            stops: Stops::default(),
        }
    }

    /// The same with another automaton, over the same atoms.
    pub(crate) fn with_automaton(self, automaton: BuchiAutomaton) -> Self {
        Product { automaton, ..self }
    }

    /// The automaton.
    pub(crate) fn automaton(&self) -> &BuchiAutomaton {
        &self.automaton
    }

    /// The faults that have stopped runs, and what went wrong when each was first met.
    pub fn stops(&self) -> &Stops {
        &self.stops
    }

    /// Whether a run that is stuck, or is stopped by a fault, repeats its last state for ever; else it ends, and is none.
    pub fn stutters(mut self, stutters: bool) -> Self {
        self.stutters = stutters;
        self
    }

    /// Whether a beginning is enough where all that can follow is accepted. Not so with fairness, if a run may get lost
    /// in an endless atomic sequence: the only fair way to go on may be that.
    pub fn hasty(mut self, hasty: bool) -> Self {
        self.hasty = hasty;
        self
    }

    /// The state space.
    pub fn space(&mut self) -> &mut S {
        &mut self.space
    }
}

impl<S: StateSpace<State: Tagged>> Product<S> {
    /// The state of the automaton in a state of the product, whether the run has stopped there or not.
    #[inline]
    pub fn automaton_state(state: &<S::State as Tagged>::With) -> u32 {
        <S::State>::tag(state) & !STOPPED
    }
}

/// How many states an automaton may have.
pub const MAX_STATES: usize = STOPPED as usize;

/// Whether a run goes on is looked for in so many states.
const MAX_LOOK: usize = 100_000;

impl<S> Product<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default + Clone + Eq + Hash,
{
    /// Some run goes on from the state, and does not end in an endless atomic sequence: only such a run counts, however
    /// bad its beginning is. A run that stops by itself or by a fault goes on for ever where it stops.
    fn goes_on(&mut self, state: &S::State) -> bool {
        self.space.put_off(false);
        let goes_on = self.walks_on(state) || self.can_go_on(state);
        self.space.put_off(true);
        goes_on
    }

    /// The run that always takes the first transition goes on. Nearly always it does.
    fn walks_on(&mut self, state: &S::State) -> bool {
        let mut current = state.to_owned();
        let mut out = Buffer::<S>::default();
        // How many visible states there are before each state.
        let mut known: HashMap<Buffer<S>, usize> = HashMap::new();
        let mut visible = 0;
        while known.len() < MAX_LOOK {
            if let Some(before) = known.insert(current.clone(), visible) {
                return before < visible;
            }
            visible += usize::from(!self.space.is_transient(current.borrow()));
            let Some(transition) = self.space.first(current.borrow()) else { return true };
            self.space.target(current.borrow(), &transition, &mut out);
            if self.space.is_dead() {
                return true;
            }
            std::mem::swap(&mut current, &mut out);
        }
        true
    }

    /// Some run goes on.
    fn can_go_on(&mut self, state: &S::State) -> bool {
        let mut numbers: HashMap<Buffer<S>, usize> = HashMap::from([(state.to_owned(), 0)]);
        let mut states: Vec<Buffer<S>> = vec![state.to_owned()];
        let mut arcs: Vec<Vec<usize>> = Vec::new();
        let mut out = Buffer::<S>::default();
        while let Some(current) = states.get(arcs.len()).cloned() {
            let mut targets = Vec::new();
            let mut cursor = self.space.first(current.borrow());
            if cursor.is_none() || states.len() > MAX_LOOK {
                return true;
            }
            while let Some(transition) = cursor {
                self.space.target(current.borrow(), &transition, &mut out);
                if self.space.is_dead() {
                    return true;
                }
                let known = numbers.get::<Buffer<S>>(&out).copied();
                targets.push(known.unwrap_or(states.len()));
                if known.is_none() {
                    numbers.insert(out.clone(), states.len());
                    states.push(out.clone());
                }
                cursor = self.space.next(current.borrow(), &transition);
            }
            arcs.push(targets);
        }
        let visible: Vec<bool> = states.iter().map(|state| !self.space.is_transient(state.borrow())).collect();
        returns_to(&arcs, &visible)
    }
}

/// One of these nodes lies on a cycle.
fn returns_to(arcs: &[Vec<usize>], these: &[bool]) -> bool {
    let cycles = |start: usize| {
        let mut seen = vec![false; arcs.len()];
        let mut pending = arcs[start].clone();
        while let Some(node) = pending.pop() {
            if node == start {
                return true;
            }
            if !std::mem::replace(&mut seen[node], true) {
                pending.extend(&arcs[node]);
            }
        }
        false
    };
    (0..arcs.len()).filter(|node| these[*node]).any(cycles)
}

impl<S: Checked<State: Tagged>> Product<S> {
    /// The atoms that hold in a state, as far as the automaton looks at them.
    #[inline]
    fn valuation(&mut self, tag: u32, state: &S::State) -> u64 {
        let mut valuation = 0;
        for (bit, atom) in self.automaton.place(tag).atoms.iter().enumerate() {
            valuation |= u64::from(self.space.invariant(*atom as usize, state)) << bit;
        }
        valuation
    }

    /// The first arc from that one on that can be taken.
    #[inline]
    fn arc(&self, tag: u32, valuation: u64, from: u32) -> Option<(u32, &Arc)> {
        let arcs = self.automaton.place(tag).arcs.iter().enumerate().skip(from as usize);
        arcs.map(|(number, arc)| (number as u32, arc)).find(|(_, arc)| arc.matches(valuation))
    }

    #[inline]
    fn step(&self, tag: u32, base: Option<S::Transition>, valuation: u64, from: u32) -> Option<Step<S::Transition>> {
        let (number, arc) = self.arc(tag, valuation, from)?;
        Some(Step { base, valuation, arc: number, universal: arc.universal, marks: arc.marks })
    }
}

fn idle<T>(base: T) -> Step<T> {
    Step { base: Some(base), valuation: 0, arc: IDLE, universal: false, marks: 0 }
}

impl<S> StateSpace for Product<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default,
{
    type State = <S::State as Tagged>::With;
    type Transition = Step<S::Transition>;

    fn initial(&mut self, index: usize, out: &mut Buffer<Self>) -> bool {
        self.stuttered = false;
        let there = self.space.initial(index, &mut self.after);
        self.dead = there && self.space.is_dead();
        if self.dead {
            note_stop(&self.space, &mut self.stops);
        }
        if there {
            <S::State>::join(self.automaton.initial(), self.after.borrow(), out);
        }
        there
    }

    #[inline]
    fn first(&mut self, state: &Self::State) -> Option<Self::Transition> {
        let (tag, state) = (<S::State>::tag(state), <S::State>::plain(state));
        if tag & STOPPED != 0 {
            let valuation = self.valuation(tag & !STOPPED, state);
            return self.step(tag & !STOPPED, None, valuation, 0).filter(|_| self.stutters);
        }
        if self.space.is_transient(state) {
            return self.space.first(state).map(idle);
        }
        let valuation = self.valuation(tag, state);
        self.arc(tag, valuation, 0)?;
        let base = self.space.first(state);
        if base.is_none() && !self.stutters {
            return None;
        }
        self.step(tag, base, valuation, 0)
    }

    /// As far as the space lists its transitions.
    fn list(&mut self, state: &Self::State, after: Option<&Self::Transition>, out: &mut Vec<Self::Transition>) -> bool {
        let (tag, plain) = (<S::State>::tag(state), <S::State>::plain(state));
        if let Some(after) = after {
            out.extend(self.next(state, after));
            return false;
        }
        if tag & STOPPED != 0 {
            out.extend(self.first(state));
            return false;
        }
        let is_transient = self.space.is_transient(plain);
        let valuation = if is_transient { 0 } else { self.valuation(tag, plain) };
        if !is_transient && self.arc(tag, valuation, 0).is_none() {
            return true;
        }
        let mut bases = std::mem::take(&mut self.bases);
        bases.clear();
        let is_all = self.space.list(plain, None, &mut bases);
        if is_transient {
            out.extend(bases.iter().copied().map(idle));
        } else {
            let stutters = bases.is_empty() && self.stutters;
            for base in bases.iter().copied().map(Some).chain(stutters.then_some(None)) {
                let mut step = self.step(tag, base, valuation, 0);
                while let Some(found) = step {
                    out.push(found);
                    step = self.step(tag, base, valuation, found.arc + 1);
                }
            }
        }
        let is_all = is_all || bases.is_empty();
        self.bases = bases;
        is_all
    }

    #[inline]
    fn next(&mut self, state: &Self::State, last: &Self::Transition) -> Option<Self::Transition> {
        let (tag, state) = (<S::State>::tag(state), <S::State>::plain(state));
        if last.arc == IDLE {
            return self.space.next(state, last.base.as_ref()?).map(idle);
        }
        if let Some(step) = self.step(tag & !STOPPED, last.base, last.valuation, last.arc + 1) {
            return Some(step);
        }
        let base = self.space.next(state, last.base.as_ref()?)?;
        self.step(tag, Some(base), last.valuation, 0)
    }

    #[inline]
    fn target(&mut self, state: &Self::State, step: &Self::Transition, out: &mut Buffer<Self>) {
        let (tag, state) = (<S::State>::tag(state), <S::State>::plain(state));
        let (stopped, tag) = (tag & STOPPED, tag & !STOPPED);
        let tag = if step.arc == IDLE { tag } else { self.automaton.place(tag).arcs[step.arc as usize].to };
        (self.stuttered, self.dead) = (step.base.is_none(), false);
        let Some(base) = &step.base else {
            return <S::State>::join(tag | stopped, state, out);
        };
        self.space.target(state, base, &mut self.after);
        if !self.space.is_dead() {
            return <S::State>::join(tag, self.after.borrow(), out);
        }
        note_stop(&self.space, &mut self.stops);
        self.space.stopped(state, base, &mut self.after);
        <S::State>::join(tag | STOPPED, self.after.borrow(), out);
    }
}

impl<S> Checked for Product<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default + Clone + Eq + Hash,
{
    fn is_valid_end(&mut self, state: &Self::State) -> bool {
        self.space.is_valid_end(<S::State>::plain(state))
    }

    fn violation(&self) -> Option<String> {
        if self.stuttered { None } else { self.space.violation() }
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.dead
    }

    #[inline]
    fn is_transient(&self, state: &Self::State) -> bool {
        <S::State>::tag(state) & STOPPED == 0 && self.space.is_transient(<S::State>::plain(state))
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        if self.stuttered { 0 } else { self.space.atomic_steps() }
    }

    fn invariant(&mut self, _: usize, state: &Self::State) -> bool {
        let (stopped, tag) = (<S::State>::tag(state) & STOPPED, <S::State>::tag(state) & !STOPPED);
        let state = <S::State>::plain(state);
        let valuation = self.valuation(tag, state);
        let universal = self.arc(tag, valuation, 0).is_some_and(|(_, arc)| arc.universal);
        !universal || stopped == 0 && !self.goes_on(state)
    }

    fn rest(&mut self, state: &Self::State, last: &Self::Transition) -> Option<Self::Transition> {
        let (tag, state) = (<S::State>::tag(state), <S::State>::plain(state));
        let base = self.space.rest(state, last.base.as_ref()?)?;
        if last.arc == IDLE { Some(idle(base)) } else { self.step(tag, Some(base), last.valuation, 0) }
    }

    fn put_off(&mut self, may: bool) {
        self.space.put_off(may);
    }
}

impl<S> Fork for Product<S>
where
    S: Checked<State: Tagged, Transition: Send> + Fork,
    Buffer<S>: Default + Send,
{
    fn fork(&self) -> Option<Self> {
        Some(Product {
            space: self.space.fork()?,
            automaton: self.automaton.clone(),
            stutters: self.stutters,
            hasty: self.hasty,
            after: Buffer::<S>::default(),
            bases: Vec::new(),
            stuttered: false,
            dead: false,
            stops: self.stops.clone(),
        })
    }

    fn join(&mut self, other: Self) {
        self.space.join(other.space);
        other.stops.into_iter().for_each(|(by, message)| {
            self.stops.entry(by).or_insert(message);
        });
    }
}

impl<S> GeneralisedBuchi for Product<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default + Clone + Eq + Hash,
{
    #[inline]
    fn all_marks(&self) -> u64 {
        READ | u64::from(self.automaton.all_marks())
    }

    #[inline]
    fn marks(&self, step: &Self::Transition) -> u64 {
        if step.arc == IDLE { 0 } else { READ | u64::from(step.marks) }
    }

    fn is_weak(&self) -> bool {
        self.automaton.is_weak()
    }

    #[inline]
    fn is_universal(&mut self, state: &Self::State, step: &Self::Transition) -> bool {
        if !step.universal || !self.hasty {
            return false;
        }
        let stopped = <S::State>::tag(state) & STOPPED != 0;
        stopped || self.goes_on(<S::State>::plain(state))
    }

    #[inline]
    fn is_stutter(&self, step: &Self::Transition) -> bool {
        step.base.is_none()
    }
}

impl<S> Concurrent for Product<S>
where
    S: Checked<State: Tagged> + Concurrent,
    Buffer<S>: Default,
{
    #[inline]
    fn mover(&self, step: &Self::Transition) -> Option<u32> {
        self.space.mover(step.base.as_ref()?)
    }

    fn postponed_movers(&self, first: &Self::Transition) -> Processes {
        first.base.as_ref().map_or(Processes::NONE, |base| self.space.postponed_movers(base))
    }

    #[inline]
    fn participants(&self) -> Processes {
        if self.stuttered { Processes::NONE } else { self.space.participants() }
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    fn actions(&mut self, state: &Self::State, step: &Self::Transition) -> Vec<Move> {
        match &step.base {
            Some(base) => self.space.actions(<S::State>::plain(state), base),
            None => Vec::new(),
        }
    }
}

/// What is hidden of a state is hidden of it in the product.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behind<V>(pub V);

impl<V> Behind<V> {
    /// How many bytes come before the state.
    pub(crate) const BYTES: usize = TAG;
}

impl<V: Visible> Visible for Behind<V> {
    #[inline]
    fn visible(&self, state: &[u8]) -> usize {
        TAG + self.0.visible(&state[TAG..])
    }

    fn is_whole(&self) -> bool {
        self.0.is_whole()
    }
}
