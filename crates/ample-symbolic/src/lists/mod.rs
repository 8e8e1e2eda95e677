//! List decision diagrams: sets of vectors of natural numbers. As in a Petri net, such a vector is called a marking, its
//! components are the tokens of places, and what changes it is a transition.
//!
//! A set is a diagram with one level for each place. A node says how many tokens the place has (`value`), which
//! markings of the places below go with that (`down`), and what there is with more tokens (`right`); values that lead
//! to nothing are left out. So places need no bound that is known before, and a set that was computed is the same node
//! as every equal one (S. Blom and J. van de Pol, *Symbolic reachability for process algebras with recursive data types*,
//! 2008).
//!
//! [`Diagrams`] is the table of nodes for some [`Transition`]s and one order of the places. [`Set`] is a handle: as long
//! as there is one, the nodes stay. All else is garbage, collected when the table gets full. A table belongs to one thread at a
//! time, and may be sent to another.
//!
//! ```
//! use ample_symbolic::lists::{Diagrams, Limits, Method, Transition};
//! use ample_symbolic::reach::run_to;
//!
//! // Five tokens go from one place to another.
//! let step = Transition { takes: vec![(0, 1)], adds: vec![(1, 1)] };
//! let mut diagrams = Diagrams::new(vec![5, 0], vec![step], &[0, 1], Limits::default())?;
//! let reached = diagrams.reachable(Method::Saturation)?;
//! assert_eq!(diagrams.count(&reached)?, 6u32.into());
//! let dead = diagrams.deadlocks(&reached)?;
//! assert_eq!(diagrams.pick(&dead), Some(vec![0, 5]));
//! let initial = diagrams.initial()?;
//! let run = run_to(&mut diagrams, &initial, &reached, &dead)?.expect("a dead state is reached");
//! assert_eq!(run.steps.len(), 5);
//! # Ok::<(), ample_symbolic::SetError>(())
//! ```

mod algebra;
mod codec;
mod fire;
mod reach;
mod saturate;
mod sets;
mod stack;
mod sums;
mod table;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ample_budget::Budget;
use num_bigint::BigUint;

pub use self::reach::Method;
pub use self::stack::{check_depth, trust_stack, with_stack};
pub use crate::error::{Maybe, SetError};
pub use crate::table::Size;

use self::fire::{Event, Group, Step};
use self::table::{ANY, EMPTY, Id, Root, Table, What};

/// When operations end without a result.
#[derive(Clone, Debug)]
pub struct Limits {
    /// So many nodes at once at most. A node takes about 40 bytes with its share of the tables.
    pub max_nodes: usize,
    /// What operations may take, and who hears of them.
    pub budget: Budget,
}

impl Default for Limits {
    /// 64 million nodes, and whatever time it takes.
    fn default() -> Limits {
        Limits { max_nodes: 1 << 26, budget: Budget::unlimited() }
    }
}

/// A set of markings. As long as it is kept, so are its nodes. Equal sets of one table are equal handles.
#[derive(Clone)]
pub struct Set(Arc<Root>);

impl Set {
    /// There is no marking in it.
    pub fn is_empty(&self) -> bool {
        self.0.node == EMPTY
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.0.node == other.0.node && self.0.table == other.0.table
    }
}

impl Eq for Set {}

impl std::hash::Hash for Set {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.node, self.0.table).hash(state);
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Set").field(&self.0.node).finish()
    }
}

/// What changes a marking. It is enabled where every place has at least what is taken from it; places that are not named
/// stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transition {
    /// What is taken from places.
    pub takes: Vec<(u32, u64)>,
    /// What is added to places.
    pub adds: Vec<(u32, u64)>,
}

/// Some transitions, sorted for closures and images. Made by [`Diagrams::select`].
#[derive(Clone, Debug)]
pub struct Selection(Arc<Selected>);

#[derive(Debug)]
struct Selected {
    table: u64,
    transitions: Vec<u32>,
    forward: Group,
    backward: Group,
}

impl Selection {
    /// The transitions, sorted.
    pub fn transitions(&self) -> &[u32] {
        &self.0.transitions
    }
}

/// A transition in three roles.
struct Compiled {
    forward: Arc<Event>,
    backward: Arc<Event>,
    /// Leads from each marking that enables it to itself.
    test: Arc<Event>,
}

/// Sets of markings.
pub struct Diagrams {
    table: Table,
    /// The places from the root down, and the level of each.
    order: Vec<u32>,
    level_of: Vec<u32>,
    initial: Vec<u64>,
    transitions: Vec<Transition>,
    compiled: Vec<Compiled>,
    selections: HashMap<Vec<u32>, Selection>,
    /// The actions that were selected last.
    last: Option<(Vec<usize>, Selection)>,
    /// Numbers that are still free.
    next_group: u32,
    next_event: u32,
}

/// The number of the next table.
static TABLES: AtomicU64 = AtomicU64::new(0);

impl Diagrams {
    /// A table for markings of as many places as the initial one has. `order` has all of them, from the root of the
    /// diagrams down.
    pub fn new(initial: Vec<u64>, transitions: Vec<Transition>, order: &[u32], limits: Limits) -> Maybe<Diagrams> {
        let level_of = inverse(order, initial.len()).ok_or(SetError::Foreign)?;
        let mut compiled = Vec::with_capacity(transitions.len());
        for (number, transition) in transitions.iter().enumerate() {
            let number =
                u32::try_from(number).ok().filter(|number| *number < What::LIMIT / 4).ok_or(SetError::Memory)?;
            compiled.push(compile(transition, number, &level_of)?);
        }
        Ok(Diagrams {
            table: Table::new(TABLES.fetch_add(1, Ordering::Relaxed), limits.max_nodes, limits.budget),
            order: order.to_vec(),
            level_of,
            initial,
            transitions,
            compiled,
            selections: HashMap::new(),
            last: None,
            next_group: 0,
            next_event: 0,
        })
    }

    /// What operations may take.
    pub fn budget(&self) -> &Budget {
        &self.table.nodes.budget
    }

    /// From now on operations ask that one.
    pub fn set_budget(&mut self, budget: Budget) {
        self.table.nodes.budget = budget;
    }

    /// How large the table is and was.
    pub fn size(&self) -> Size {
        self.table.size()
    }

    /// The places from the root down.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// How many nodes the set has.
    pub fn nodes(&mut self, set: &Set) -> Maybe<usize> {
        let set = self.own(set)?;
        self.table.enter()?;
        Ok(self.table.nodes_of(set)?.len())
    }

    /// Throws away all nodes that no handle reaches.
    pub fn collect(&mut self) {
        self.table.lists.clear();
        self.table.protected.clear();
        self.table.collect();
    }

    /// The empty set.
    pub fn empty(&mut self) -> Set {
        Set(self.table.root(EMPTY))
    }

    /// The set of the initial marking.
    pub fn initial(&mut self) -> Maybe<Set> {
        let initial = self.initial.clone();
        self.marking(&initial)
    }

    /// The set of one marking: the tokens of the places, in the net's order.
    pub fn marking(&mut self, marking: &[u64]) -> Maybe<Set> {
        let values = self.values(marking)?;
        self.perform(|table| table.single(&values))
    }

    /// The set of these markings.
    pub fn markings_set<'a>(&mut self, markings: impl IntoIterator<Item = &'a [u64]>) -> Maybe<Set> {
        let mut all = self.empty();
        for marking in markings {
            let one = self.marking(marking)?;
            all = self.union(&all, &one)?;
        }
        Ok(all)
    }

    /// `f ∪ g`
    pub fn union(&mut self, f: &Set, g: &Set) -> Maybe<Set> {
        let (f, g) = (self.own(f)?, self.own(g)?);
        self.perform(|table| table.union(f, g))
    }

    /// `f \ g`
    pub fn minus(&mut self, f: &Set, g: &Set) -> Maybe<Set> {
        let (f, g) = (self.own(f)?, self.own(g)?);
        self.perform(|table| table.minus(f, g))
    }

    /// `f ∩ g`
    pub fn intersect(&mut self, f: &Set, g: &Set) -> Maybe<Set> {
        let (f, g) = (self.own(f)?, self.own(g)?);
        self.perform(|table| table.intersect(f, g))
    }

    /// `f ⊆ g`
    pub fn is_subset(&mut self, f: &Set, g: &Set) -> Maybe<bool> {
        let (f, g) = (self.own(f)?, self.own(g)?);
        self.table.enter()?;
        self.table.is_subset(f, g)
    }

    /// How many markings there are.
    pub fn count(&mut self, set: &Set) -> Maybe<BigUint> {
        let set = self.own(set)?;
        self.table.enter()?;
        self.table.count(set)
    }

    /// The marking is in the set.
    pub fn contains(&self, set: &Set, marking: &[u64]) -> bool {
        match (self.own(set), self.values(marking)) {
            (Ok(set), Ok(values)) => self.table.contains(set, &values),
            _ => false,
        }
    }

    /// A marking of the set: the first one in the order of the places. `None` if it is empty.
    pub fn pick(&self, set: &Set) -> Option<Vec<u64>> {
        let values = self.table.first(self.own(set).ok()?)?;
        Some(self.tokens(&values))
    }

    /// The first markings of the set, not more than `most`.
    pub fn markings(&self, set: &Set, most: usize) -> Vec<Vec<u64>> {
        let Ok(set) = self.own(set) else { return Vec::new() };
        self.table.sequences(set, most).iter().map(|values| self.tokens(values)).collect()
    }

    /// The set in two: the markings with the fewest tokens on that level of the order, and the others.
    pub fn split(&mut self, set: &Set, level: u32) -> Maybe<(Set, Set)> {
        let place = *self.order.get(level as usize).ok_or(SetError::Foreign)?;
        let id = self.own(set)?;
        self.table.enter()?;
        let Some(lowest) = self.table.lowest(id, level)? else { return Ok((self.empty(), self.empty())) };
        let first = self.at_most(set, &[(place, 1)], i64::from(lowest))?;
        let rest = self.minus(set, &first)?;
        Ok((first, rest))
    }

    /// The markings that the transition leads to.
    pub fn fire(&mut self, set: &Set, transition: u32) -> Maybe<Set> {
        let (set, event) = (self.own(set)?, Arc::clone(&self.compiled(transition)?.forward));
        self.perform(|table| table.fire(&event, 0, 0, set, ANY))
    }

    /// The markings of `within` that the transition leads from into the set.
    pub fn unfire(&mut self, set: &Set, transition: u32, within: &Set) -> Maybe<Set> {
        let (set, within) = (self.own(set)?, self.own(within)?);
        let event = Arc::clone(&self.compiled(transition)?.backward);
        self.perform(|table| table.fire(&event, 0, 0, set, within))
    }

    /// The markings that enable the transition.
    pub fn enabled(&mut self, set: &Set, transition: u32) -> Maybe<Set> {
        let (set, event) = (self.own(set)?, Arc::clone(&self.compiled(transition)?.test));
        self.perform(|table| table.fire(&event, 0, 0, set, ANY))
    }

    /// The markings that do not enable the transition.
    pub fn disabled(&mut self, set: &Set, transition: u32) -> Maybe<Set> {
        let (set, event) = (self.own(set)?, Arc::clone(&self.compiled(transition)?.test));
        self.perform(|table| table.disabled(&event, 0, 0, set))
    }

    /// Some marking enables the transition.
    pub fn can_fire(&mut self, set: &Set, transition: u32) -> Maybe<bool> {
        let (set, event) = (self.own(set)?, Arc::clone(&self.compiled(transition)?.test));
        self.table.enter()?;
        self.table.can_fire(&event, 0, 0, set)
    }

    /// The markings of the set that enable no transition at all.
    pub fn deadlocks(&mut self, set: &Set) -> Maybe<Set> {
        let all = self.all()?;
        let (set, selected) = (self.own(set)?, self.selected(&all)?);
        self.perform(|table| table.dead(&selected.forward, 0, set))
    }

    /// These transitions, for closures and images. Asking again for the same costs little.
    pub fn select(&mut self, transitions: &[u32]) -> Maybe<Selection> {
        let mut sorted = transitions.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if let Some(known) = self.selections.get(&sorted) {
            return Ok(known.clone());
        }
        if sorted.last().is_some_and(|last| *last as usize >= self.compiled.len()) {
            return Err(SetError::Foreign);
        }
        let chosen = |role: fn(&Compiled) -> &Arc<Event>| -> Vec<Arc<Event>> {
            sorted.iter().map(|transition| Arc::clone(role(&self.compiled[*transition as usize]))).collect()
        };
        let (forward, backward) = (chosen(|compiled| &compiled.forward), chosen(|compiled| &compiled.backward));
        let selected = Selected {
            table: self.table.number(),
            transitions: sorted.clone(),
            forward: self.group(forward)?,
            backward: self.group(backward)?,
        };
        let selection = Selection(Arc::new(selected));
        self.selections.insert(sorted, selection.clone());
        Ok(selection)
    }

    /// All transitions.
    pub fn all(&mut self) -> Maybe<Selection> {
        let all: Vec<u32> = (0..self.compiled.len() as u32).collect();
        self.select(&all)
    }

    fn group(&mut self, mut events: Vec<Arc<Event>>) -> Maybe<Group> {
        let levels = self.order.len();
        let top = |event: &Arc<Event>| event.steps.first().map_or(0, |step| step.level);
        events.sort_by_key(top);
        let (number, first) = (self.next_group, self.next_event);
        self.next_group += 1;
        self.next_event = first.checked_add(events.len() as u32).ok_or(SetError::Memory)?;
        if self.next_event >= What::LIMIT || self.next_group >= What::LIMIT {
            return Err(SetError::Memory);
        }
        let starts = (0..=levels as u32).map(|level| events.partition_point(|event| top(event) < level) as u32);
        let starts = starts.collect();
        Ok(Group { number, first, events, starts })
    }

    /// The markings that one of the transitions leads to.
    pub fn image_by(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let (set, selected) = (self.own(set)?, self.selected(selection)?);
        self.one_step(&selected.forward, set, ANY)
    }

    /// The markings of `within` that one of the transitions leads to.
    pub fn image_within_by(&mut self, set: &Set, selection: &Selection, within: &Set) -> Maybe<Set> {
        let (set, within, selected) = (self.own(set)?, self.own(within)?, self.selected(selection)?);
        self.one_step(&selected.forward, set, within)
    }

    /// The markings of `within` that one of the transitions leads from into the set.
    pub fn preimage_by(&mut self, set: &Set, selection: &Selection, within: &Set) -> Maybe<Set> {
        let (set, within, selected) = (self.own(set)?, self.own(within)?, self.selected(selection)?);
        self.one_step(&selected.backward, set, within)
    }

    fn one_step(&mut self, group: &Group, set: Id, limit: Id) -> Maybe<Set> {
        if self.order.is_empty() && !group.events.is_empty() {
            return self.perform(|table| table.within(set, limit));
        }
        self.perform(|table| table.image(group, 0, set, limit))
    }

    /// The markings that the transitions lead to in any number of steps, with those of the set.
    pub fn closure_by(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let (set, selected) = (self.own(set)?, self.selected(selection)?);
        self.many_steps(&selected.forward, set, ANY)
    }

    /// The same without leaving `within`; what of the set lies outside does not count.
    pub fn closure_within_by(&mut self, set: &Set, selection: &Selection, within: &Set) -> Maybe<Set> {
        let (set, within, selected) = (self.own(set)?, self.own(within)?, self.selected(selection)?);
        self.many_steps(&selected.forward, set, within)
    }

    /// The markings of `within` from which the transitions lead into the set in any number of steps, without leaving
    /// `within`; what of the set lies outside does not count.
    pub fn backward_closure_by(&mut self, set: &Set, selection: &Selection, within: &Set) -> Maybe<Set> {
        let (set, within, selected) = (self.own(set)?, self.own(within)?, self.selected(selection)?);
        self.many_steps(&selected.backward, set, within)
    }

    fn many_steps(&mut self, group: &Group, set: Id, limit: Id) -> Maybe<Set> {
        if self.order.is_empty() {
            return self.perform(|table| table.within(set, limit));
        }
        self.table.enter()?;
        let inside = self.table.within(set, limit)?;
        // It collects garbage by itself; a second try would be none.
        let closed = self.table.saturate(group, 0, inside, limit)?;
        Ok(Set(self.table.root(closed)))
    }

    /// Performs an operation of the table; once more after collecting garbage if the table was full.
    fn perform(&mut self, operation: impl Fn(&mut Table) -> Maybe<Id>) -> Maybe<Set> {
        self.table.enter()?;
        let node = match operation(&mut self.table) {
            Err(SetError::Memory) => {
                self.collect();
                if !self.table.has_room() {
                    return Err(SetError::Memory);
                }
                operation(&mut self.table)?
            }
            other => other?,
        };
        Ok(Set(self.table.root(node)))
    }

    /// The node of a set, if it is in this table.
    fn own(&self, set: &Set) -> Maybe<Id> {
        if set.0.table == self.table.number() { Ok(set.0.node) } else { Err(SetError::Foreign) }
    }

    fn compiled(&self, transition: u32) -> Maybe<&Compiled> {
        self.compiled.get(transition as usize).ok_or(SetError::Foreign)
    }

    fn selected(&self, selection: &Selection) -> Maybe<Arc<Selected>> {
        if selection.0.table == self.table.number() { Ok(Arc::clone(&selection.0)) } else { Err(SetError::Foreign) }
    }

    /// The tokens of a marking from the root down.
    fn values(&self, marking: &[u64]) -> Maybe<Vec<u32>> {
        if marking.len() != self.order.len() {
            return Err(SetError::Foreign);
        }
        let value = |place: &u32| u32::try_from(marking[*place as usize]).map_err(|_| SetError::Overflow);
        self.order.iter().map(value).collect()
    }

    fn tokens(&self, values: &[u32]) -> Vec<u64> {
        let mut marking = vec![0; values.len()];
        self.order.iter().zip(values).for_each(|(place, value)| marking[*place as usize] = u64::from(*value));
        marking
    }
}

impl fmt::Debug for Diagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagrams").field("places", &self.order.len()).field("size", &self.size()).finish()
    }
}

/// Where each place stands; `None` if it is not an order of so many.
fn inverse(order: &[u32], places: usize) -> Option<Vec<u32>> {
    let mut level_of = vec![u32::MAX; places];
    for (level, place) in order.iter().enumerate() {
        let entry = level_of.get_mut(*place as usize).filter(|entry| **entry == u32::MAX)?;
        *entry = level as u32;
    }
    (order.len() == places).then_some(level_of)
}

fn compile(transition: &Transition, number: u32, level_of: &[u32]) -> Maybe<Compiled> {
    let mut arcs: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (place, weight) in &transition.takes {
        let level = *level_of.get(*place as usize).ok_or(SetError::Foreign)?;
        let entry = arcs.entry(level).or_default();
        entry.0 = entry.0.saturating_add(*weight);
    }
    for (place, weight) in &transition.adds {
        let level = *level_of.get(*place as usize).ok_or(SetError::Foreign)?;
        let entry = arcs.entry(level).or_default();
        entry.1 = entry.1.saturating_add(*weight);
    }
    if arcs.is_empty() && !level_of.is_empty() {
        // It can always fire and does nothing, wherever that is said.
        arcs.insert(0, (0, 0));
    }
    let changes = arcs.values().any(|(need, give)| need != give);
    let event = |role: u32, step: fn(u64, u64) -> (u64, u64)| {
        let steps = arcs.iter().map(|(level, (takes, adds))| {
            let (need, give) = step(*takes, *adds);
            Step { level: *level, need, give }
        });
        Arc::new(Event { number: number * 3 + role, steps: steps.collect(), changes })
    };
    Ok(Compiled {
        forward: event(0, |takes, adds| (takes, adds)),
        backward: event(1, |takes, adds| (adds, takes)),
        test: event(2, |takes, _| (takes, takes)),
    })
}
