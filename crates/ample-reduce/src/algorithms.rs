//! Persistent sets (Godefroid's thesis, ch. 4): in a state, a few of the enabled transitions that suffice, because nothing that the
//! others can do before one of the few is taken has to do with them (Def. 4.1).
//!
//! All four algorithms of the thesis close a seed under a relation "needs". It is a relation between transitions that
//! are all enabled ([`Algorithm::Conflicting`]), between processes ([`Algorithm::Overman`]), or between transitions of
//! which those that are disabled need whatever could enable them ([`Algorithm::Stubborn`], [`Algorithm::Conditional`]).
//! What does not depend on the state is kept in [`Relations`]; a [`Chooser`] has the memory that a closure takes, and
//! allocates nothing once it has been used for a while.
//!
//! The smallest set over all seeds is not found by trying them: a closure that contains no smaller one is a strongly
//! connected component of "needs" (see [`Chooser::smallest`]).

mod closures;
mod components;
mod relations;

pub use relations::Relations;

use crate::bits::Bits;
use crate::effort::Effort;
use crate::objects::{self, Table};
use crate::scheme::{Operation, Scheme, Transition, TransitionNumber, View};

/// What counts as the interference of one transition with another: in Algorithms 1 and 2 there is the choice, Algorithm 4
/// differs from Algorithm 3 by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interference {
    /// They use operations that can be dependent in some state.
    Possible,
    /// They use operations of which one disturbs the other, from this state on: op ▷ₛ op′ (Def. 4.26).
    First,
}

/// Which of the sets that may enable a disabled transition is included in Algorithms 3 and 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The one that adds the fewest enabled transitions, then the fewest transitions, to what there is.
    Greedy,
    /// The one with the fewest enabled transitions, then the fewest transitions, whatever there is.
    Fixed,
}

/// How a persistent set is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Algorithm 1: conflicting transitions (Fig. 4.2).
    Conflicting(Interference),
    /// Algorithm 2: Overman's (Fig. 4.3).
    Overman(Interference),
    /// Algorithm 3: stubborn sets (Fig. 4.4).
    Stubborn(Choice),
    /// Algorithm 4: conditional stubborn sets (Fig. 4.5).
    Conditional(Choice),
}

impl Algorithm {
    /// All of them, in all variants.
    pub const ALL: [Algorithm; 8] = [
        Algorithm::Conflicting(Interference::Possible),
        Algorithm::Conflicting(Interference::First),
        Algorithm::Overman(Interference::Possible),
        Algorithm::Overman(Interference::First),
        Algorithm::Stubborn(Choice::Greedy),
        Algorithm::Stubborn(Choice::Fixed),
        Algorithm::Conditional(Choice::Greedy),
        Algorithm::Conditional(Choice::Fixed),
    ];
}

/// Computes persistent sets of the states of one scheme.
///
/// ```
/// use ample_reduce::algorithms::{Algorithm, Choice, Chooser};
/// use ample_reduce::objects::Table;
/// use ample_reduce::scheme::{Scheme, Step, Transition, View};
///
/// // Two processes that have nothing to do with each other, each with one step to go.
/// struct Start;
/// impl View for Start {
///     fn location(&self, _: u32) -> Option<u32> { Some(0) }
///     fn enabled(&self) -> &[u32] { &[0, 1] }
///     fn is_enabled(&self, transition: u32) -> bool { transition < 2 }
///     fn holds(&mut self, _: u32, _: u32) -> bool { true }
///     fn fill(&mut self, _: u32) -> u32 { 0 }
/// }
/// let transition = |process| Transition {
///     steps: vec![Step { process, from: 0, to: vec![1] }],
///     conditions: vec![],
///     command: vec![],
///     is_global: false,
///     is_timeout: false,
///     label: String::new(),
/// };
/// let transitions = vec![transition(0), transition(1)];
/// let scheme = Scheme { processes: vec!["A".into(), "B".into()], transitions, ..Scheme::default() };
///
/// let mut chooser = Chooser::new(Table::Conditional);
/// chooser.update(&scheme);
/// let mut set = Vec::new();
/// chooser.smallest(Algorithm::Stubborn(Choice::Greedy), &scheme, &mut Start, &mut set);
/// assert_eq!(set, [0]);
/// ```
#[derive(Clone, Debug)]
pub struct Chooser {
    relations: Relations,
    closure: closures::Closure,
    components: components::Components,
}

impl Chooser {
    /// For no transitions yet, with that dependency.
    pub fn new(table: Table) -> Chooser {
        Chooser {
            relations: Relations::new(table),
            closure: closures::Closure::default(),
            components: components::Components::default(),
        }
    }

    /// What is known of the scheme.
    pub fn relations(&self) -> &Relations {
        &self.relations
    }

    /// Takes notice of what the scheme has more than it had. To be called before anything is asked about it.
    pub fn update(&mut self, scheme: &Scheme) {
        self.relations.update(scheme);
    }

    /// As [`update`](Self::update). Where that takes more than the effort allows, not all is known, and nothing may be
    /// asked.
    pub fn update_within(&mut self, scheme: &Scheme, effort: &Effort) {
        self.relations.update_within(scheme, effort);
    }

    /// A persistent set with an enabled transition, the seed; in the order of the enabled transitions.
    pub fn persistent<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        scheme: &Scheme,
        view: &mut V,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        let mut state = closures::State { relations: &self.relations, scheme, view };
        self.closure.persistent(algorithm, &mut state, seed, out);
    }

    /// The smallest of the persistent sets of all seeds, and of several the one whose seed comes first; empty only if
    /// nothing is enabled.
    ///
    /// All closures under a relation "needs" are compared at once: one that contains no smaller closure with an enabled
    /// transition in it has all its enabled transitions in one strongly connected component, the one of its seed. With
    /// the greedy choice there is no such relation, and the seeds are tried one by one.
    pub fn smallest<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        scheme: &Scheme,
        view: &mut V,
        out: &mut Vec<TransitionNumber>,
    ) {
        out.clear();
        match algorithm {
            Algorithm::Stubborn(Choice::Greedy) | Algorithm::Conditional(Choice::Greedy) => {
                self.smallest_by_trying(algorithm, scheme, view, out);
            }
            _ => self.smallest_by_components(algorithm, scheme, view, out),
        }
    }

    fn smallest_by_trying<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        scheme: &Scheme,
        view: &mut V,
        out: &mut Vec<TransitionNumber>,
    ) {
        let mut state = closures::State { relations: &self.relations, scheme, view };
        let Some(&first) = state.view.enabled().first() else { return };
        if !self.closure.see_enabled(&state) {
            out.extend_from_slice(state.view.enabled());
            return;
        }
        self.closure.persistent(algorithm, &mut state, first, out);
        for number in 1..state.view.enabled().len() {
            let seed = state.view.enabled()[number];
            match out.as_slice() {
                [only] if !scheme.only_sends(*only) => return,
                // One that only sends makes way for another one.
                [_] if scheme.only_sends(seed) => continue,
                _ => self.closure.improve(algorithm, &mut state, seed, out),
            }
        }
    }

    fn smallest_by_components<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        scheme: &Scheme,
        view: &mut V,
        out: &mut Vec<TransitionNumber>,
    ) {
        let mut state = closures::State { relations: &self.relations, scheme, view };
        if !self.closure.see_enabled(&state) {
            out.extend_from_slice(state.view.enabled());
            return;
        }
        match self.components.best_seed(algorithm, &mut state, &mut self.closure) {
            Some(seed) => self.closure.persistent(algorithm, &mut state, seed, out),
            None => out.extend_from_slice(state.view.enabled()),
        }
    }
}

/// The operations that a transition uses, without those that it uses twice being left out.
fn operations<'s>(scheme: &'s Scheme, transition: &'s Transition) -> impl Iterator<Item = Operation> + 's {
    let conditions = transition.conditions.iter().map(|number| &scheme.conditions[*number as usize]);
    conditions.flat_map(|condition| &condition.operations).chain(&transition.command).copied()
}

/// Are the two transitions independent in the state, by the rule of Def. 3.21: no process in common, and no two
/// operations on the same object that depend on each other at its value?
pub fn independent<V: View + ?Sized>(
    scheme: &Scheme,
    view: &mut V,
    one: TransitionNumber,
    other: TransitionNumber,
    table: Table,
) -> bool {
    let (one, other) = (&scheme.transitions[one as usize], &scheme.transitions[other as usize]);
    let is_local = |transition: &Transition| !transition.is_global && !transition.is_timeout;
    is_local(one)
        && is_local(other)
        && one.is_parallel(other)
        && operations(scheme, one)
            .all(|first| operations(scheme, other).all(|second| are_independent(scheme, view, first, second, table)))
}

fn are_independent<V: View + ?Sized>(
    scheme: &Scheme,
    view: &mut V,
    first: Operation,
    second: Operation,
    table: Table,
) -> bool {
    if first.object != second.object {
        return true;
    }
    let kind = scheme.objects[first.object as usize].kind;
    !objects::dependent(kind, first.verb, second.verb, view.fill(first.object), table)
}

/// How many numbers of the first set are in the second, and not in the third.
fn count_new(set: &Bits, within: &Bits, known: &Bits) -> u32 {
    let word = |bits: &Bits, number: usize| bits.words().get(number).copied().unwrap_or(0);
    let new = |number| (word(set, number) & word(within, number) & !word(known, number)).count_ones();
    (0..set.words().len()).map(new).sum()
}
