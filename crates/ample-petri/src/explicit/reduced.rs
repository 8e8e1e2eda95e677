//! One goal, or a deadlock: a search that leaves out what stubborn sets allow, and goes first where it looks best.
//!
//! For a goal the state with the fewest tokens too many or too few comes first, the newest among equals, so that a
//! witness is often found after a few steps. Whatever the order, a search that runs dry has shown that there is none.

use std::collections::BinaryHeap;
use std::time::Instant;

use ample_explicit::store::{ExactStore, FlatStore, Handle, Inserted, Parent, Side, Store};
use ample_model::{Budget, Progress, Reason, Statistics};

use super::layout::Widths;
use super::relations::Relations;
use super::search::run_to;
use super::space::{NetSpace, Table, TooNarrow};
use super::stubborn::{Aim, Stubborn};
use super::test::Test;
use super::{Limits, ProgressReports, widening};
use crate::net::{Condition, Net};

/// Which state comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The one that is nearest to the goal.
    #[default]
    BestFirst,
    /// The newest.
    DepthFirst,
    /// The oldest: runs are shortest ones.
    BreadthFirst,
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Which state comes next.
    pub order: Order,
    /// Leave out what stubborn sets allow.
    pub stubborn: bool,
}

impl Default for Strategy {
    /// What is nearest first, with stubborn sets.
    fn default() -> Self {
        Strategy { order: Order::BestFirst, stubborn: true }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// A run to what was looked for.
    pub run: Option<Vec<u32>>,
    /// Why the search ended without an answer. If it did not and there is no run, there can be none.
    pub ended: Option<Reason>,
    /// What was done.
    pub statistics: Statistics,
}

/// Looks for a marking where the condition holds.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::explicit::reduced::{Strategy, reach};
/// use ample_petri::net::{Condition, Net, Place, Transition};
///
/// let place = |initial| Place { name: String::new(), initial, bound: None };
/// let copy = Transition { name: "copy".into(), takes: vec![(0, 1)], adds: vec![(0, 1), (1, 2)] };
/// let net = Net { places: vec![place(1), place(0)], transitions: vec![copy], exclusive: vec![] };
///
/// // At least 600 tokens: a byte is not enough for them, and that makes no difference.
/// let goal = Condition::AtMost { terms: vec![(1, -1)], most: -600 };
/// let reached = reach(&net, &goal, Strategy::default(), &Default::default(), &Budget::unlimited());
/// assert_eq!(reached.run.unwrap().len(), 300);
/// ```
pub fn reach(net: &Net, goal: &Condition, strategy: Strategy, limits: &Limits<'_>, budget: &Budget) -> Reached {
    look_for(net, &Aim::Goal(goal.clone()), strategy, limits, budget)
}

/// Looks for a marking in which no transition can fire.
pub fn deadlock(net: &Net, strategy: Strategy, limits: &Limits<'_>, budget: &Budget) -> Reached {
    look_for(net, &Aim::Deadlocks, strategy, limits, budget)
}

fn look_for(net: &Net, aim: &Aim, strategy: Strategy, limits: &Limits<'_>, budget: &Budget) -> Reached {
    let nothing = |reason| Reached { ended: Some(reason), ..Reached::default() };
    let reached = widening(net, limits, |relations, widths| {
        let stubborn = match Stubborn::with(relations.clone(), aim) {
            Ok(stubborn) => stubborn,
            Err(reason) => return Ok(nothing(reason)),
        };
        let mut search = Search::new(net, relations, widths, aim, stubborn, strategy, limits, budget);
        let found = search.run()?;
        Ok(search.reached(found))
    });
    reached.unwrap_or_else(nothing)
}

/// A reduction that has left out less than a fiftieth after so many transitions is given up.
const TRIAL: u64 = 100_000;

/// A search under way.
struct Search<'a> {
    space: NetSpace,
    store: FlatStore<Parent>,
    /// None where deadlocks are looked for.
    goal: Option<Test>,
    /// By transition: it can make the goal true.
    helps: Vec<bool>,
    stubborn: Stubborn,
    reduces: bool,
    /// Transitions that were enabled, and those that were taken, while it reduced.
    tried: u64,
    kept: u64,
    order: Order,
    /// States that wait: how good they are, when they came, and what they are.
    waiting: BinaryHeap<(u64, u64, Handle)>,
    reports: ProgressReports<'a>,
    statistics: Statistics,
    ended: Option<Reason>,
    start: Instant,
}

impl<'a> Search<'a> {
    #[expect(clippy::too_many_arguments)]
    fn new(
        net: &Net,
        relations: &Relations,
        widths: &Widths,
        aim: &Aim,
        stubborn: Stubborn,
        strategy: Strategy,
        limits: &Limits<'_>,
        budget: &'a Budget,
    ) -> Self {
        let start = Instant::now();
        let table = Table::new(net, relations, widths);
        let mut helps = vec![false; relations.transitions()];
        let goal = match aim {
            Aim::Goal(goal) => {
                relations.helpers(goal).into_iter().for_each(|t| helps[t as usize] = true);
                Some(Test::of(&table.layout, goal))
            }
            Aim::Deadlocks | Aim::Runs { .. } => None,
        };
        Search {
            store: FlatStore::default().limit(limits.memory.saturating_sub(table.bytes())),
            space: NetSpace::of_table(table),
            goal,
            helps,
            stubborn,
            reduces: strategy.stubborn,
            tried: 0,
            kept: 0,
            order: strategy.order,
            waiting: BinaryHeap::new(),
            reports: ProgressReports::new(limits, budget),
            statistics: Statistics::default(),
            ended: None,
            start,
        }
    }

    /// Searches until something is found, nothing is left, or there is a reason to end.
    fn run(&mut self) -> Result<Option<Handle>, TooNarrow> {
        let table = self.space.table.clone();
        let Inserted::New(first) = self.store.insert(&table.initial) else {
            self.ended = Some(Reason::Memory);
            return Ok(None);
        };
        self.statistics.states = 1;
        if self.goal.as_ref().is_some_and(|goal| goal.holds(&table.initial)) {
            return Ok(Some(first));
        }
        self.wait(first, &table.initial);
        let (mut current, mut after) = (table.initial.clone(), table.initial.clone());
        let mut enabled = Vec::new();
        while let Some((_, _, state)) = self.waiting.pop() {
            current.copy_from_slice(self.store.get(state));
            enabled.clear();
            table.successors(&current, |transition| enabled.push(transition));
            if enabled.is_empty() && self.goal.is_none() {
                return Ok(Some(state));
            }
            self.reduce(&table, &current, &mut enabled);
            for &transition in &enabled {
                after.copy_from_slice(&current);
                table.fire(transition, &mut after)?;
                if let Some(found) = self.arrive(state, transition, &after) {
                    return Ok(Some(found));
                }
            }
            if self.reports.is_due(enabled.len() as u64 + 1) {
                self.report();
            }
            if self.ended.is_some() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Leaves out what can be left out, as long as that pays.
    fn reduce(&mut self, table: &Table, state: &[u8], enabled: &mut Vec<u32>) {
        if !self.reduces {
            return;
        }
        self.tried += enabled.len() as u64;
        self.stubborn.keep_packed(&table.layout, state, enabled);
        self.kept += enabled.len() as u64;
        if self.tried > TRIAL {
            self.reduces = self.kept < self.tried - self.tried / 50;
            (self.tried, self.kept) = (0, 0);
        }
    }

    /// Stores a state; its handle if it is what is looked for.
    #[inline]
    fn arrive(&mut self, from: Handle, transition: u32, state: &[u8]) -> Option<Handle> {
        self.statistics.transitions += 1;
        match self.store.insert_with(state, Parent::fresh(Some(from))) {
            Inserted::Seen(_) => None,
            Inserted::Full => {
                self.ended.get_or_insert(Reason::Memory);
                None
            }
            Inserted::New(handle) => {
                self.statistics.states += 1;
                let is_goal =
                    self.helps[transition as usize] && self.goal.as_ref().is_some_and(|goal| goal.holds(state));
                if is_goal {
                    return Some(handle);
                }
                self.wait(handle, state);
                None
            }
        }
    }

    fn wait(&mut self, handle: Handle, state: &[u8]) {
        let age = self.statistics.states;
        let rank = match (self.order, &self.goal) {
            (Order::BestFirst, Some(goal)) => (u64::MAX - goal.distance(state), age),
            (Order::BreadthFirst, _) => (0, u64::MAX - age),
            (Order::DepthFirst | Order::BestFirst, _) => (0, age),
        };
        self.waiting.push((rank.0, rank.1, handle));
    }

    fn memory(&self) -> usize {
        self.store.bytes() + self.waiting.capacity() * size_of::<(u64, u64, Handle)>() + self.space.table.bytes()
    }

    #[cold]
    fn report(&mut self) {
        let progress = Progress {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            pending: self.waiting.len() as u64,
            memory: self.memory() as u64,
            ..Progress::default()
        };
        if let Some(reason) = self.reports.report(&progress) {
            self.ended.get_or_insert(reason);
        }
    }

    fn reached(mut self, found: Option<Handle>) -> Reached {
        let ended = self.ended.take().filter(|_| found.is_none());
        let statistics = Statistics {
            time_s: self.start.elapsed().as_secs_f64(),
            memory_bytes: self.memory() as u64,
            store_bytes: self.store.bytes() as u64,
            state_bytes: self.space.table.layout.len as u64,
            complete: ended.is_none(),
            counts_transitions: true,
            ..self.statistics
        };
        let run = found.map(|handle| run_to(&mut self.space, &self.store, handle));
        Reached { run, ended, statistics }
    }
}
