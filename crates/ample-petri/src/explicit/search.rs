//! Everything that can be reached, breadth first: counts, shortest runs to goals and deadlocks, the largest sums.
//!
//! The loop is one of its own and not that of `ample_explicit::search`, because a net allows for more: successors are
//! written straight into a window where they wait for the memory, and a goal is looked at only after transitions that
//! can make it true. The store, its prefetching and the retracing of runs are the generic ones.

use std::collections::HashMap;
use std::time::Instant;

use ample_explicit::search::retrace;
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, Handle, Inserted, Parent, Side, Store};
use ample_model::{Budget, Progress, Reason, Statistics};

use super::layout::Widths;
use super::relations::{Relations, Rows};
use super::space::{NetSpace, Table, TooNarrow};
use super::test::{Terms, Test, Tests, terms};
use super::{Limits, ProgressReports, widening};
use crate::net::{Condition, Net, Sum};

/// What is looked for, all of it in one exploration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Questions<'a> {
    /// Is there a marking where this holds?
    pub goals: &'a [Condition],
    /// Is there a deadlock?
    pub deadlock: bool,
    /// How large does this get?
    pub sums: &'a [Sum],
    /// By sum: it cannot get larger, if that is known. A sum that has got there is decided.
    pub ceilings: &'a [Option<i128>],
}

/// The largest value of a sum that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The value.
    pub value: i128,
    /// A marking that has it.
    pub marking: Vec<u64>,
    /// How to get there.
    pub run: Vec<u32>,
}

/// What an exploration found.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// By goal: a shortest run there.
    pub goals: Vec<Option<Vec<u32>>>,
    /// A shortest run to a deadlock.
    pub deadlock: Option<Vec<u32>>,
    /// By sum: the most that was met.
    pub peaks: Vec<Peak>,
    /// Why the exploration ended before everything was decided. None if it did not: then a goal without a run cannot
    /// be reached, and peaks are the largest values.
    pub ended: Option<Reason>,
    /// What was done.
    pub statistics: Statistics,
}

/// The size of a state space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// The markings.
    pub states: u64,
    /// The transitions between them, as pairs of a marking and a transition that can fire there.
    pub transitions: u64,
    /// The most tokens in a place.
    pub most_in_place: u64,
    /// The most tokens in a marking.
    pub most_in_marking: u128,
    /// The markings without successors.
    pub deadlocks: u64,
    /// Why the count is not complete, if it is not.
    pub ended: Option<Reason>,
    /// What was done.
    pub statistics: Statistics,
}

/// Counts all markings.
pub fn count(net: &Net, limits: &Limits<'_>, budget: &Budget) -> Counts {
    let sum = Sum { terms: (0..net.places.len() as u32).map(|place| (place, 1)).collect(), plus: 0 };
    let sums = [sum];
    let questions = Questions { sums: &sums, ..Questions::default() };
    let counted = widening(net, limits, |relations, widths| {
        let mut explorer = Explorer::<()>::new(net, relations, widths, &questions, limits, budget)?;
        explorer.raised = Some(net.initial());
        explorer.is_exhaustive = true;
        explorer.run()?;
        Ok(Counts {
            states: explorer.statistics.states,
            transitions: explorer.statistics.transitions,
            most_in_place: explorer.raised.iter().flatten().copied().max().unwrap_or(0),
            most_in_marking: explorer.sums[0].best.unsigned_abs(),
            deadlocks: explorer.deadlocks,
            ended: explorer.ended.take(),
            statistics: explorer.finish(),
        })
    });
    counted.unwrap_or_else(|reason| Counts { ended: Some(reason), ..Counts::default() })
}

/// Looks for goals, deadlocks and large sums in one exploration, until all that was asked is decided.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::explicit::search::{Questions, explore};
/// use ample_petri::net::{Condition, Net, Place, Transition};
///
/// // Three tokens that can be taken away one by one.
/// let place = Place { name: "p".into(), initial: 3, bound: Some(3) };
/// let take = Transition { name: "take".into(), takes: vec![(0, 1)], adds: vec![] };
/// let net = Net { places: vec![place], transitions: vec![take], exclusive: vec![] };
///
/// let goals = [Condition::AtMost { terms: vec![(0, 1)], most: 1 }];
/// let questions = Questions { goals: &goals, deadlock: true, ..Questions::default() };
/// let answers = explore(&net, &questions, &Default::default(), &Budget::unlimited());
/// assert_eq!(answers.goals[0], Some(vec![0, 0]));
/// assert_eq!(answers.deadlock, Some(vec![0, 0, 0]));
/// assert!(answers.ended.is_none());
/// ```
pub fn explore(net: &Net, questions: &Questions<'_>, limits: &Limits<'_>, budget: &Budget) -> Answers {
    let nothing =
        |reason| Answers { goals: vec![None; questions.goals.len()], ended: Some(reason), ..Answers::default() };
    let answers = widening(net, limits, |relations, widths| {
        let fits = questions.goals.iter().try_for_each(|goal| relations.check(goal));
        if let Err(reason) = fits.and_then(|()| questions.sums.iter().try_for_each(|sum| relations.check_sum(sum))) {
            return Ok(nothing(reason));
        }
        let mut explorer = Explorer::<Parent>::new(net, relations, widths, questions, limits, budget)?;
        explorer.run()?;
        Ok(explorer.answers())
    });
    answers.unwrap_or_else(nothing)
}

/// How many arrivals wait for the memory together.
const WINDOW: usize = 32;

/// A sum and the most that was met.
struct Tally {
    terms: Terms,
    plus: i128,
    ceiling: Option<i128>,
    best: i128,
    at: Option<Handle>,
}

/// An arrival that waits.
#[derive(Clone, Copy)]
struct Arrival {
    hash: u64,
    from: Option<Handle>,
    transition: u32,
}

/// An exploration under way.
struct Explorer<'a, D: Side> {
    space: NetSpace,
    store: FlatStore<D>,
    relations: &'a Relations,
    reports: ProgressReports<'a>,
    goals: Vec<Test>,
    found: Vec<Option<Handle>>,
    /// Goals that are open.
    open: usize,
    /// By transition: the goals that it can make true.
    helps: Rows<u32>,
    sums: Vec<Tally>,
    /// By transition: the sums that it makes larger.
    raises: Rows<u32>,
    /// Sums whose ceiling has not been met.
    growing: usize,
    asks_deadlock: bool,
    deadlock: Option<Handle>,
    deadlocks: u64,
    /// By place: the most tokens that were met, if that is asked for.
    raised: Option<Vec<u64>>,
    /// Not to be ended because everything is decided.
    is_exhaustive: bool,
    arrivals: Vec<Arrival>,
    window: Vec<u8>,
    statistics: Statistics,
    ended: Option<Reason>,
    start: Instant,
}

impl<'a, D: Side> Explorer<'a, D> {
    fn new(
        net: &Net,
        relations: &'a Relations,
        widths: &Widths,
        questions: &Questions<'_>,
        limits: &Limits<'_>,
        budget: &'a Budget,
    ) -> Result<Self, TooNarrow> {
        let start = Instant::now();
        let table = Table::new(net, relations, widths);
        let layout = &table.layout;
        let tally = |(number, sum): (usize, &Sum)| Tally {
            terms: Terms::of(layout, terms(sum)),
            plus: i128::from(sum.plus),
            ceiling: questions.ceilings.get(number).copied().flatten(),
            best: i128::MIN,
            at: None,
        };
        let sums: Vec<Tally> = questions.sums.iter().enumerate().map(tally).collect();
        let goals: Vec<Test> = {
            let mut tests = Tests::new(layout);
            questions.goals.iter().map(|goal| tests.of(goal)).collect()
        };
        let room = limits.memory.saturating_sub(table.bytes());
        let explorer = Explorer {
            store: FlatStore::<D>::default().limit(room),
            helps: helps(relations, questions.goals),
            raises: raises(relations, questions.sums),
            reports: ProgressReports::new(limits, budget),
            found: vec![None; goals.len()],
            open: goals.len(),
            growing: sums.len(),
            asks_deadlock: questions.deadlock,
            deadlock: None,
            deadlocks: 0,
            raised: None,
            is_exhaustive: false,
            arrivals: Vec::with_capacity(WINDOW),
            window: vec![0; WINDOW * layout.len],
            statistics: Statistics::default(),
            ended: None,
            start,
            space: NetSpace::of_table(table),
            relations,
            goals,
            sums,
        };
        Ok(explorer)
    }

    /// Nothing is left to be found out.
    fn is_decided(&self) -> bool {
        !self.is_exhaustive && self.open == 0 && self.growing == 0 && (!self.asks_deadlock || self.deadlock.is_some())
    }

    fn run(&mut self) -> Result<(), TooNarrow> {
        let table = self.space.table.clone();
        let Inserted::New(first) = self.store.insert(&table.initial) else {
            self.ended = Some(Reason::Memory);
            return Ok(());
        };
        self.statistics.states = 1;
        self.first_state(first);
        let mut current = vec![0; table.layout.len];
        let (mut next, mut level_end) = (Some(first), first);
        let mut newest = first;
        while let Some(state) = next {
            if self.is_decided() || self.ended.is_some() {
                return Ok(());
            }
            current.copy_from_slice(self.store.get(state));
            self.expand(&table, state, &current, &mut newest)?;
            if state == level_end {
                self.flush(&mut newest);
                if newest != level_end {
                    self.statistics.depth += 1;
                }
                level_end = newest;
            }
            next = self.store.after(state);
        }
        Ok(())
    }

    /// Sends all successors of a state to the window.
    #[inline]
    fn expand(&mut self, table: &Table, state: Handle, current: &[u8], newest: &mut Handle) -> Result<(), TooNarrow> {
        let len = table.layout.len;
        let mut failed = None;
        let mut count = 0;
        table.successors(current, |transition| {
            if failed.is_some() {
                return;
            }
            count += 1;
            let at = self.arrivals.len() * len;
            let out = &mut self.window[at..at + len];
            out.copy_from_slice(current);
            if let Err(too_narrow) = table.fire(transition, out) {
                failed = Some(too_narrow);
                return;
            }
            let hash = self.store.hash(out);
            self.store.prefetch(hash);
            self.arrivals.push(Arrival { hash, from: Some(state), transition });
            if self.arrivals.len() == WINDOW {
                self.flush(newest);
            }
        });
        self.statistics.transitions += count;
        if count == 0 {
            self.deadlocks += 1;
            self.deadlock.get_or_insert(state);
        }
        if self.reports.is_due(count + 1) {
            self.report();
        }
        failed.map_or(Ok(()), Err)
    }

    /// Stores what waits in the window.
    fn flush(&mut self, newest: &mut Handle) {
        self.arrivals.iter().for_each(|arrival| self.store.prefetch_state(arrival.hash));
        let len = self.space.table.layout.len;
        for index in 0..self.arrivals.len() {
            let Arrival { hash, from, transition } = self.arrivals[index];
            let state = &self.window[index * len..(index + 1) * len];
            match self.store.insert_hashed(state, hash, D::fresh(from)) {
                Inserted::Seen(_) => {}
                Inserted::Full => {
                    self.ended.get_or_insert(Reason::Memory);
                }
                Inserted::New(handle) => {
                    *newest = handle;
                    self.statistics.states += 1;
                    self.look(index, handle, transition);
                }
            }
        }
        self.arrivals.clear();
    }

    /// Looks at a new state: only at what the transition to it can have changed for the better, as nothing that is
    /// still open was so before.
    #[inline]
    fn look(&mut self, index: usize, handle: Handle, transition: u32) {
        let len = self.space.table.layout.len;
        let state = &self.window[index * len..(index + 1) * len];
        for &goal in self.helps.row(transition) {
            let found = &mut self.found[goal as usize];
            if found.is_none() && self.goals[goal as usize].holds(state) {
                *found = Some(handle);
                self.open -= 1;
            }
        }
        for &sum in self.raises.row(transition) {
            self.growing -= usize::from(self.sums[sum as usize].meet(state, handle));
        }
        if let Some(raised) = &mut self.raised {
            for &(place, change) in self.relations.changes.row(transition) {
                if change > 0 {
                    let most = &mut raised[place as usize];
                    *most = self.space.table.layout.cells[place as usize].get(state).max(*most);
                }
            }
        }
    }

    /// Looks at everything in the initial state.
    fn first_state(&mut self, handle: Handle) {
        let state = self.store.get(handle);
        for (goal, found) in self.goals.iter().zip(&mut self.found) {
            if goal.holds(state) {
                *found = Some(handle);
                self.open -= 1;
            }
        }
        for sum in &mut self.sums {
            self.growing -= usize::from(sum.meet(state, handle));
        }
    }

    fn memory(&self) -> usize {
        self.store.bytes() + self.window.capacity() + self.space.table.bytes()
    }

    #[cold]
    fn report(&mut self) {
        let progress = Progress {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            pending: 0,
            memory: self.memory() as u64,
            ..Progress::default()
        };
        if let Some(reason) = self.reports.report(&progress) {
            self.ended.get_or_insert(reason);
        }
    }

    fn finish(&mut self) -> Statistics {
        Statistics {
            time_s: self.start.elapsed().as_secs_f64(),
            memory_bytes: self.memory() as u64,
            store_bytes: self.store.bytes() as u64,
            state_bytes: self.space.table.layout.len as u64,
            complete: self.ended.is_none(),
            counts_transitions: true,
            counts_depth: true,
            ..self.statistics.clone()
        }
    }
}

impl Explorer<'_, Parent> {
    fn answers(mut self) -> Answers {
        if self.is_decided() {
            self.ended = None;
        }
        let statistics = self.finish();
        let (store, mut space) = (self.store, self.space);
        let mut runs = Runs { space: &mut space, store: &store, steps: HashMap::new() };
        let mut run_to = |handle: Handle| runs.to(handle);
        let goals = self.found.into_iter().map(|found| found.map(&mut run_to)).collect();
        let deadlock = self.deadlock.filter(|_| self.asks_deadlock).map(&mut run_to);
        let mut peaks = Vec::with_capacity(self.sums.len());
        for sum in self.sums {
            let run = sum.at.map(&mut run_to).unwrap_or_default();
            peaks.push((sum.best, sum.at, run));
        }
        let marking = |at: Option<Handle>| at.map(|at| space.marking(store.get(at))).unwrap_or_default();
        let peaks = peaks.into_iter().map(|(value, at, run)| Peak { value, marking: marking(at), run }).collect();
        Answers { goals, deadlock, peaks, ended: self.ended, statistics }
    }
}

/// Runs to many stored states: what leads from one of them to the next is looked for once, however many runs take it.
struct Runs<'a> {
    space: &'a mut NetSpace,
    store: &'a FlatStore<Parent>,
    /// By state: the transition from its parent.
    steps: HashMap<Handle, u32>,
}

impl Runs<'_> {
    fn to(&mut self, end: Handle) -> Vec<u32> {
        let mut run = Vec::new();
        let mut child = end;
        while let Some(parent) = self.store.side(child).parent() {
            if !self.steps.contains_key(&child) {
                self.expand(parent);
            }
            run.extend(self.steps.get(&child));
            child = parent;
        }
        run.reverse();
        run
    }

    /// Notes the transitions to all children of a state.
    fn expand(&mut self, parent: Handle) {
        let state = self.store.get(parent);
        let mut out = Vec::new();
        let mut cursor = self.space.first(state);
        while let Some(fire) = cursor {
            self.space.target(state, &fire, &mut out);
            if !self.space.is_dead()
                && let Some(child) = self.store.find(&out)
                && self.store.side(child).parent() == Some(parent)
            {
                self.steps.entry(child).or_insert(fire.transition);
            }
            cursor = self.space.next(state, &fire);
        }
    }
}

/// The transitions to a stored state.
pub(super) fn run_to(space: &mut NetSpace, store: &FlatStore<Parent>, end: Handle) -> Vec<u32> {
    retrace(space, store, end, NetSpace::is_dead).into_iter().map(|(_, fire)| fire.transition).collect()
}

impl Tally {
    /// Takes a state into account. True if the ceiling is met now and was not before.
    #[inline]
    fn meet(&mut self, state: &[u8], handle: Handle) -> bool {
        let value = self.terms.value(state).saturating_add(self.plus);
        if value <= self.best {
            return false;
        }
        let was_open = self.ceiling.is_none_or(|ceiling| self.best < ceiling);
        (self.best, self.at) = (value, Some(handle));
        was_open && self.ceiling.is_some_and(|ceiling| value >= ceiling)
    }
}

/// By transition: the goals that it can make true.
pub(super) fn helps(relations: &Relations, goals: &[Condition]) -> Rows<u32> {
    let helpers: Vec<Vec<u32>> = goals.iter().map(|goal| relations.helpers(goal)).collect();
    let pairs = helpers.iter().enumerate().flat_map(|(goal, all)| all.iter().map(move |t| (*t, goal as u32)));
    Rows::sorted(relations.transitions(), pairs)
}

/// By transition: the sums that it makes larger.
pub(super) fn raises(relations: &Relations, sums: &[Sum]) -> Rows<u32> {
    let changes: Vec<Vec<(u32, i128)>> = sums.iter().map(|sum| relations.changes_of(terms(sum))).collect();
    let raising = changes.iter().enumerate().flat_map(|(sum, all)| {
        all.iter().filter(|(_, change)| *change > 0).map(move |(transition, _)| (*transition, sum as u32))
    });
    Rows::sorted(relations.transitions(), raising)
}
