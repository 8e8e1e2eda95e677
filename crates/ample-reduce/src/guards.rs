//! Stubborn sets by guards: the persistent sets that are used unless another algorithm is asked for.
//!
//! The strong stubborn sets of P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, §4.5
//! (Definition 4.15), computed as Algorithm 3 does, but from more precise relations. A condition knows who can make it true
//! and who can make it false: an assignment of a constant is considered with its value, a message with its fields, an
//! addition by what it can do to an interval. Two transitions *accord* if, wherever both are enabled, neither disables the other and both orders lead to the same state; where their
//! conditions contradict each other they always do. What must be added for a disabled transition is chosen in each
//! state, among all its false conditions, so that as few enabled transitions as possible come along:
//!
//! - a process that stands elsewhere must arrive, by a transition that leads there;
//! - a false condition must be made true; a channel that is not empty does not get another first message by a send;
//! - `else` and `timeout` wait for an enabled transition to be disabled; one of them will do.
//!
//! An enabled member of the set stays enabled until a member is taken. So its process stays where it is, and whatever
//! cannot be enabled together with the member need not be looked at: it is *closed* (`Search::open`).
//!
//! The relations are rows of bits, computed when they are first asked for (`relations`). If runs have to be weakly fair,
//! more transitions do not accord (`fair`).

mod fair;
mod relations;
mod successes;

use std::cell::RefCell;

use ample_model::VariableId;
use rapidhash::RapidHashMap;

use crate::bits::Bits;
use crate::scheme::{ConditionNumber, Kind, ProcessNumber, TransitionNumber, Verb, View};
use crate::unfold::{Hope, Test, Unfolding};
use relations::{Changes, Relations, Rows};
use successes::Successes;

/// The relations, and memory for the search of a set.
#[derive(Default)]
pub struct Guards {
    relations: Relations,
    /// Runs have to be weakly fair.
    is_fair: bool,
    variants: Variants,
    search: Search,
}

/// Transitions as they are in some states.
#[derive(Default)]
struct Variants {
    known: RapidHashMap<(TransitionNumber, Vec<i64>), u32>,
    rows: Vec<Rows>,
    /// Per transition: when it was looked up last, and what was found.
    current: Vec<(u64, u32)>,
    time: u64,
    key: (TransitionNumber, Vec<i64>),
}

/// So many are kept.
const MAX_VARIANTS: usize = 20_000;

/// So many steps of the analysis one is worth at least.
const STEPS_PER_VARIANT: usize = 200;

/// The memory of a search.
#[derive(Default)]
struct Search {
    /// What may be part of a set: the transitions of processes that are there or may come.
    alive: Bits,
    enabled: Bits,
    /// What may become enabled before a member of the set is taken.
    open: Bits,
    set: Bits,
    pending: Vec<TransitionNumber>,
    /// The seeds that are to be tried in this state, and those that were.
    seeds: Vec<TransitionNumber>,
    tried: Bits,
    successes: Successes,
    /// While something is added: words of enabled transitions.
    able: Vec<(u32, u64)>,
    count: usize,
    best: Vec<TransitionNumber>,
    /// How the closures came about, if somebody wants to know.
    log: RefCell<Option<Vec<Reason>>>,
}

/// A step of a closure: what a member of the set has brought along, and why.
///
/// If nothing else is said, the others do not accord with the member, which is enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// The member.
    pub member: TransitionNumber,
    /// It is the one that the closure began with.
    pub is_seed: bool,
    /// The process of that step of the member must get to where the step begins.
    pub step: Option<usize>,
    /// That condition of the member must become true.
    pub condition: Option<ConditionNumber>,
    /// That transition must be disabled before the member is enabled.
    pub until: Option<TransitionNumber>,
    /// That process must end before.
    pub youngest: Option<ProcessNumber>,
    /// What came into the set.
    pub added: Vec<TransitionNumber>,
}

impl Guards {
    /// Computes the relations of all that is known so far. The transitions that are visible to a property do not
    /// accord with each other. Where that takes too much effort there are none, and the unfolding is full.
    pub fn update(&mut self, unfolding: &Unfolding<'_>, visible: &Bits) {
        self.relations = Relations::of(unfolding, visible, self.is_fair).unwrap_or_default();
        self.variants = Variants { time: self.variants.time, ..Variants::default() };
    }

    /// The two accord.
    pub fn accord(&self, unfolding: &Unfolding<'_>, first: TransitionNumber, second: TransitionNumber) -> bool {
        !self.discord(unfolding, first).contains(second)
            && !self.discord(unfolding, second).contains(first)
            && !self.relations.globals.contains(first)
            && !self.relations.globals.contains(second)
    }

    /// Two transitions that are both enabled are independent, and weakly uniformly so (Godefroid's thesis, ch. 6).
    pub fn independent(&self, unfolding: &Unfolding<'_>, first: TransitionNumber, second: TransitionNumber) -> bool {
        let enables = |one: TransitionNumber, other: TransitionNumber| {
            let conditions = &unfolding.scheme().transitions[other as usize].conditions;
            conditions.iter().any(|condition| {
                let buffered = matches!(unfolding.question(*condition).test, Test::Room(_) | Test::Message { .. });
                !buffered && self.enablers(unfolding, *condition).contains(one)
            })
        };
        // What follows a `timeout` may end the wait of another one.
        let waits = |transition: TransitionNumber| unfolding.detail(transition).timeout;
        let apart = first != second && !waits(first) && !waits(second);
        apart && self.accord(unfolding, first, second) && !enables(first, second) && !enables(second, first)
    }

    /// Who does not accord with the transition.
    pub fn discord(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber) -> &Bits {
        self.relations.discord(unfolding, transition)
    }

    /// Who may make the condition true.
    pub fn enablers(&self, unfolding: &Unfolding<'_>, condition: ConditionNumber) -> &Bits {
        &self.relations.changes(unfolding, condition).enablers
    }

    /// Who may make the condition false.
    pub fn disablers(&self, unfolding: &Unfolding<'_>, condition: ConditionNumber) -> &Bits {
        &self.relations.changes(unfolding, condition).disablers
    }

    /// From now on a transition whose closures have come to nothing is tried less often.
    pub fn with_pauses(&mut self, has_pauses: bool) {
        self.search.successes = Successes::new(has_pauses);
    }

    /// From now on it is kept how closures come about.
    pub fn record(&self) {
        self.search.log.replace(Some(Vec::new()));
    }

    /// How the closures since [`record`](Guards::record) came about, one after the other; each begins with its seed.
    pub fn recorded(&self) -> Vec<Reason> {
        self.search.log.take().unwrap_or_default()
    }

    /// The transitions that may still be taken by a process at a location, or by those that it may create.
    pub fn future(&self, unfolding: &Unfolding<'_>, process: ProcessNumber, location: u32) -> &Bits {
        self.relations.future(unfolding, process, location)
    }

    /// Writes the smallest stubborn set that it finds: the enabled part of it.
    ///
    /// `alive` are the transitions of all processes that are there, or may come. If the set has to be `invisible` and there
    /// is no such set, it is the set of all enabled transitions.
    pub fn smallest<V: View>(
        &mut self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        alive: &Bits,
        invisible: bool,
        out: &mut Vec<TransitionNumber>,
    ) {
        out.clear();
        let count = view.enabled().len();
        if !self.begin(unfolding, view, alive) || count <= 1 {
            out.extend_from_slice(view.enabled());
            return;
        }
        self.collect_seeds(unfolding, view, invisible);
        let mut least = count;
        for position in 0..self.search.seeds.len() {
            let seed = self.search.seeds[position];
            let found = self.close(unfolding, view, seed, least);
            if least == count {
                self.search.successes.note(seed, found.is_some());
            }
            self.search.tried.insert(seed);
            if let Some(found) = found {
                if invisible && self.search.sees(&self.relations.visible) {
                    continue;
                }
                least = found;
                self.search.best.clear();
                let Search { best, enabled, set, .. } = &mut self.search;
                best.extend(enabled.iter().filter(|transition| set.contains(*transition)));
                if least == 1 {
                    break;
                }
            }
        }
        if least == count {
            out.extend_from_slice(view.enabled());
        } else {
            out.extend_from_slice(&self.search.best);
        }
    }

    /// Writes a stubborn set that contains the transition: the enabled part of it.
    pub fn with<V: View>(
        &mut self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        alive: &Bits,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        out.clear();
        if !self.begin(unfolding, view, alive) || self.close(unfolding, view, seed, usize::MAX).is_none() {
            out.extend_from_slice(view.enabled());
            return;
        }
        let Search { enabled, set, .. } = &self.search;
        out.extend(enabled.iter().filter(|transition| set.contains(*transition)));
    }

    /// Gets ready for a state; false if all must be taken.
    fn begin<V: View>(&mut self, unfolding: &Unfolding<'_>, view: &V, alive: &Bits) -> bool {
        let fairness = self.relations.fairness.as_ref();
        if self.relations.globals.meets(alive) || fairness.is_some_and(|fair| fair.needs_all(unfolding, alive)) {
            return false;
        }
        let search = &mut self.search;
        search.alive.clone_from(alive);
        search.tried.clear();
        search.enabled.clear();
        for transition in view.enabled() {
            // With `timeout` nothing else can move.
            if unfolding.detail(*transition).timeout {
                return false;
            }
            search.enabled.insert(*transition);
        }
        true
    }

    /// The transitions that closures begin with: first those that were successful in other states, and of these the
    /// ones of the oldest processes, which often serve the others. Those that only send come last: what is received at
    /// once does not fill channels.
    fn collect_seeds<V: View>(&mut self, unfolding: &Unfolding<'_>, view: &V, invisible: bool) {
        let mut seeds = std::mem::take(&mut self.search.seeds);
        seeds.clear();
        let mut last = None;
        for seed in view.enabled().iter().rev().copied() {
            // The transitions of one location come together, unless they return to it.
            let process = unfolding.scheme().transitions[seed as usize].steps[0].process;
            let is_one_of_many = last == Some(process) && !self.returns(unfolding, seed);
            last = Some(process);
            let is_seen = invisible && self.relations.visible.contains(seed);
            if !is_one_of_many && !is_seen {
                seeds.push(seed);
            }
        }
        let successes = &mut self.search.successes;
        seeds.retain(|seed| !successes.is_pause(*seed));
        seeds.sort_by_key(|seed| (unfolding.scheme().only_sends(*seed), successes.failures(*seed)));
        self.search.seeds = seeds;
    }

    fn returns(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber) -> bool {
        unfolding.scheme().transitions[transition as usize].steps.iter().all(|step| step.to == [step.from])
    }

    /// The closure of a set with that transition: how many enabled transitions are in it, if fewer than the limit.
    fn close<V: View>(
        &mut self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        seed: TransitionNumber,
        limit: usize,
    ) -> Option<usize> {
        let search = &mut self.search;
        search.set.clear();
        search.pending.clear();
        search.count = 0;
        search.open.clone_from(&search.alive);
        search.add_one(seed);
        search.begin_note(seed);
        while let Some(transition) = self.search.pending.pop() {
            if self.search.count >= limit {
                return None;
            }
            if !self.search.open.contains(transition) {
                continue;
            }
            let before = self.search.pending.len();
            if view.is_enabled(transition) {
                // What needs another seed needs all that it does, and more.
                if self.search.tried.contains(transition) {
                    return None;
                }
                self.add_enabled(unfolding, view, transition);
                self.search.note(transition, None, before);
            } else {
                let choice = self.enable(unfolding, view, transition);
                self.search.note(transition, choice, before);
            }
        }
        (self.search.count < limit).then_some(self.search.count)
    }

    /// Adds whoever does not accord with an enabled transition, and closes whatever cannot become enabled while it is.
    fn add_enabled<V: View>(&mut self, unfolding: &Unfolding<'_>, view: &mut V, transition: TransitionNumber) {
        let Guards { relations, variants, search, .. } = self;
        let rows = variants.rows_of(transition);
        let discord = rows.map_or_else(|| relations.discord(unfolding, transition), |rows| &rows.discord);
        search.add(discord);
        let hopes = rows.map_or_else(|| relations.hopes(unfolding, transition), |rows| &rows.hopes);
        for (object, hope, row) in hopes {
            let fill = view.fill(*object);
            let fails = match (hope, unfolding.scheme().objects[*object as usize].kind) {
                (Hope::Message, _) => fill == 0,
                (Hope::Room, Kind::Channel { capacity }) => fill >= capacity,
                (Hope::Room, _) => true,
            };
            if fails {
                search.add(row);
            }
        }
        for step in &unfolding.scheme().transitions[transition as usize].steps {
            if unfolding.member(step.process).id.is_some() {
                let at = &relations.leaving[step.process as usize][step.from as usize];
                search.close_elsewhere(&relations.own[step.process as usize], at);
            }
        }
    }

    /// The cheapest necessary enabling set of a disabled transition.
    fn cheapest<V: View>(
        &self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        transition: TransitionNumber,
    ) -> Option<(Choice, Cost)> {
        let this = &unfolding.scheme().transitions[transition as usize];
        let mut best: Option<(Choice, Cost)> = None;
        // True if nothing can be cheaper.
        let mut offer = |choice: Choice, cost: Cost| {
            if best.as_ref().is_none_or(|(_, least)| cost < *least) {
                best = Some((choice, cost));
            }
            cost == Cost::default()
        };
        let mut stands = true;
        for (number, step) in this.steps.iter().enumerate() {
            if view.location(step.process) != Some(step.from) {
                stands = false;
                let (choice, row) = match self.blocked_at(view, step.process) {
                    Some(leaving) => (Choice::Leave(number), leaving),
                    None => (Choice::Step(number), self.arrivals(view, step.process, step.from)),
                };
                if offer(choice, self.search.cost(row)) {
                    return best;
                }
            }
        }
        let mut held = true;
        for condition in &this.conditions {
            let question = unfolding.question(*condition);
            let is_false = if stands {
                if matches!(question.test, Test::Fits) { held } else { !view.holds(transition, *condition) }
            } else {
                // What does not look at local variables can be asked ahead.
                let waits = matches!(question.test, Test::Blocked(_) | Test::Timeout | Test::Youngest | Test::Fits);
                !waits && !question.reads_locals && !view.holds(transition, *condition)
            };
            if is_false {
                held = false;
                let (choice, cost) = self.cost_of(unfolding, view, *condition, transition);
                if offer(choice, cost) {
                    return best;
                }
            }
        }
        best
    }

    /// Adds a necessary enabling set of a disabled transition, the cheapest one.
    fn enable<V: View>(
        &mut self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        transition: TransitionNumber,
    ) -> Option<Choice> {
        let scheme = unfolding.scheme();
        let steps = &scheme.transitions[transition as usize].steps;
        let conditions = &scheme.transitions[transition as usize].conditions;
        let best = self.cheapest(unfolding, view, transition);
        let choice = best.map(|(choice, _)| choice);
        match choice {
            Some(Choice::Step(number)) => {
                let step = &steps[number];
                self.add_step(view, step.process, step.from);
            }
            Some(Choice::Leave(number)) => {
                let process = steps[number].process as usize;
                let Guards { relations, search, .. } = self;
                if let Some(at) = view.location(process as ProcessNumber) {
                    search.add(&relations.leaving[process][at as usize]);
                    search.close_elsewhere(&relations.own[process], &relations.leaving[process][at as usize]);
                }
            }
            Some(Choice::Condition(condition)) => self.add_condition(unfolding, view, condition, transition),
            Some(Choice::Until(enabled)) => {
                self.search.add(self.relations.disable(unfolding, enabled));
                self.search.add_one(enabled);
            }
            Some(Choice::Youngest(process)) => self.search.add(&self.relations.ends[process as usize]),
            // Nothing is known to be false: whoever may make any of it true.
            None => {
                for condition in conditions {
                    self.add_condition(unfolding, view, *condition, transition);
                }
                for step in steps {
                    self.add_step(view, step.process, step.from);
                }
            }
        }
        choice
    }

    /// The transitions that leave the location where a process stands, if none of them is enabled. One of them has to be
    /// taken before the process gets anywhere else.
    fn blocked_at<V: View>(&self, view: &V, process: ProcessNumber) -> Option<&Bits> {
        let leaving = &self.relations.leaving[process as usize][view.location(process)? as usize];
        (!leaving.meets(&self.search.enabled)).then_some(leaving)
    }

    /// The transitions by which a process arrives at a location, or begins.
    fn arrivals<V: View>(&self, view: &V, process: ProcessNumber, to: u32) -> &Bits {
        match view.location(process) {
            Some(_) => &self.relations.arriving[process as usize][to as usize],
            None => &self.relations.starting[process as usize],
        }
    }

    fn add_step<V: View>(&mut self, view: &V, process: ProcessNumber, to: u32) {
        match view.location(process) {
            Some(_) => self.search.add(&self.relations.arriving[process as usize][to as usize]),
            None => self.search.add(&self.relations.starting[process as usize]),
        }
    }

    /// The transitions of the same location, if the condition looks at variables of its process.
    fn siblings<'g>(
        &'g self,
        unfolding: &'g Unfolding<'_>,
        condition: ConditionNumber,
        transition: TransitionNumber,
    ) -> impl Iterator<Item = &'g Bits> {
        let reads_locals = unfolding.question(condition).reads_locals;
        let steps = &unfolding.scheme().transitions[transition as usize].steps;
        let steps = steps.iter().filter(move |_| reads_locals);
        steps.map(|step| &self.relations.leaving[step.process as usize][step.from as usize])
    }

    /// Where it says who may make a false condition true, in this state.
    fn place_of_row<V: View>(
        &self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        condition: ConditionNumber,
        transition: TransitionNumber,
    ) -> RowPlace {
        let place = || {
            let conditions = &unfolding.scheme().transitions[transition as usize].conditions;
            conditions.iter().position(|other| *other == condition)
        };
        let variant = self.variants.number_of(transition).and_then(|number| {
            let place = place()?;
            self.variants.rows[number as usize].changes[place].as_ref().map(|_| (number, place))
        });
        // A channel that is the same in every state; else it is not known which one is empty.
        let later = match &unfolding.question(condition).test {
            Test::Message { object, .. } => view.fill(*object) > 0,
            _ => false,
        };
        RowPlace { variant, later }
    }

    /// Who may make a false condition true, in this state.
    fn row<V: View>(
        &self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        condition: ConditionNumber,
        transition: TransitionNumber,
    ) -> &Bits {
        let place = self.place_of_row(unfolding, view, condition, transition);
        place.of(&self.variants.rows, || self.relations.changes(unfolding, condition))
    }

    fn cost_of<V: View>(
        &self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        condition: ConditionNumber,
        transition: TransitionNumber,
    ) -> (Choice, Cost) {
        let until = |candidates: &mut dyn Iterator<Item = TransitionNumber>| {
            let cost = |enabled: TransitionNumber| {
                let mut cost = self.search.cost(self.relations.disable(unfolding, enabled));
                self.search.count_one(enabled, &mut cost);
                (Choice::Until(enabled), cost)
            };
            candidates.map(cost).min_by_key(|(_, cost)| *cost)
        };
        let found = match &unfolding.question(condition).test {
            Test::Timeout => until(&mut view.enabled().iter().copied()),
            Test::Blocked(siblings) => {
                let taken = |transition: &&TransitionNumber| view.is_enabled(**transition);
                let handshakes = |sibling: &TransitionNumber| unfolding.detail(*sibling).handshakes.iter();
                let all = siblings.iter().chain(siblings.iter().flat_map(handshakes));
                until(&mut all.filter(taken).copied())
            }
            Test::Youngest => view
                .youngest()
                .map(|process| (Choice::Youngest(process), self.search.cost(&self.relations.ends[process as usize]))),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let mut cost = self.search.cost(self.row(unfolding, view, condition, transition));
            for siblings in self.siblings(unfolding, condition, transition) {
                let more = self.search.cost(siblings);
                cost.enabled += more.enabled;
                cost.disabled += more.disabled;
            }
            (Choice::Condition(condition), cost)
        })
    }

    fn add_condition<V: View>(
        &mut self,
        unfolding: &Unfolding<'_>,
        view: &mut V,
        condition: ConditionNumber,
        transition: TransitionNumber,
    ) {
        let row = self.place_of_row(unfolding, view, condition, transition);
        let Guards { relations, variants, search, .. } = self;
        search.add(row.of(&variants.rows, || relations.changes(unfolding, condition)));
        if unfolding.question(condition).reads_locals {
            for step in &unfolding.scheme().transitions[transition as usize].steps {
                self.search.add(&self.relations.leaving[step.process as usize][step.from as usize]);
            }
        }
    }
}

/// Where it says who may make a condition true.
struct RowPlace {
    /// A variant of the transition, and the place of the condition among its own.
    variant: Option<(u32, usize)>,
    /// The channel is not empty.
    later: bool,
}

impl RowPlace {
    fn of<'r>(&self, variants: &'r [Rows], otherwise: impl FnOnce() -> &'r Changes) -> &'r Bits {
        let variant = self.variant.and_then(|(rows, place)| variants[rows as usize].changes[place].as_ref());
        let changes = variant.unwrap_or_else(otherwise);
        changes.later.as_ref().filter(|_| self.later).unwrap_or(&changes.enablers)
    }
}

/// One of the necessary enabling sets of a disabled transition.
#[derive(Clone, Copy)]
enum Choice {
    /// The process of that step must get there.
    Step(usize),
    /// The process of that step is blocked, and must go on.
    Leave(usize),
    /// The condition must become true.
    Condition(ConditionNumber),
    /// That transition must be disabled.
    Until(TransitionNumber),
    /// That process must end.
    Youngest(ProcessNumber),
}

/// What a choice would add: enabled transitions first of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    enabled: u32,
    disabled: u32,
}

impl Variants {
    /// The transition as it is in the state at hand, if more is known of it there.
    fn rows_of(&self, transition: TransitionNumber) -> Option<&Rows> {
        self.number_of(transition).map(|number| &self.rows[number as usize])
    }

    #[inline]
    fn number_of(&self, transition: TransitionNumber) -> Option<u32> {
        let (time, rows) = *self.current.get(transition as usize)?;
        (time == self.time && time > 0).then_some(rows)
    }
}

impl Search {
    fn begin_note(&mut self, seed: TransitionNumber) {
        if let Some(log) = self.log.get_mut() {
            log.push(Reason { member: seed, is_seed: true, ..Reason::default() });
        }
    }

    /// Notes what a member has added to what was pending before.
    fn note(&mut self, member: TransitionNumber, choice: Option<Choice>, before: usize) {
        let Some(log) = self.log.get_mut() else { return };
        let mut reason = Reason { member, added: self.pending[before..].to_vec(), ..Reason::default() };
        match choice {
            Some(Choice::Step(number) | Choice::Leave(number)) => reason.step = Some(number),
            Some(Choice::Condition(condition)) => reason.condition = Some(condition),
            Some(Choice::Until(transition)) => reason.until = Some(transition),
            Some(Choice::Youngest(process)) => reason.youngest = Some(process),
            None => {}
        }
        log.push(reason);
    }

    fn add_one(&mut self, transition: TransitionNumber) {
        if self.open.contains(transition) && self.set.insert(transition) {
            self.pending.push(transition);
            self.count += usize::from(self.enabled.contains(transition));
        }
    }

    fn add(&mut self, row: &Bits) {
        let (open, enabled) = (self.open.words(), self.enabled.words());
        for (number, word) in row.words().iter().enumerate() {
            let old = self.set.words().get(number).copied().unwrap_or(0);
            let mut new = word & open.get(number).copied().unwrap_or(0) & !old;
            if new == 0 {
                continue;
            }
            let able = new & enabled.get(number).copied().unwrap_or(0);
            self.set.extend_word(number, new);
            new &= !able;
            while new != 0 {
                self.pending.push(number as u32 * 64 + new.trailing_zeros());
                new &= new - 1;
            }
            if able != 0 {
                self.count += able.count_ones() as usize;
                self.able.push((number as u32, able));
            }
        }
        // Enabled ones come first: they decide soonest that a set is too large.
        for (number, mut able) in self.able.drain(..) {
            while able != 0 {
                self.pending.push(number * 64 + able.trailing_zeros());
                able &= able - 1;
            }
        }
    }

    /// A process stays at a location until a member of the set is taken: its transitions from elsewhere are closed.
    fn close_elsewhere(&mut self, own: &Bits, at: &Bits) {
        self.open.remove_all_but(own, at);
    }

    /// One of these is enabled, and in the set.
    fn sees(&self, these: &Bits) -> bool {
        these.iter().any(|transition| self.set.contains(transition) && self.enabled.contains(transition))
    }

    fn cost(&self, row: &Bits) -> Cost {
        let (open, enabled, set) = (self.open.words(), self.enabled.words(), self.set.words());
        let mut cost = Cost::default();
        for (number, word) in row.words().iter().enumerate() {
            let at = |words: &[u64]| words.get(number).copied().unwrap_or(0);
            let new = word & at(open) & !at(set);
            if new == 0 {
                continue;
            }
            let able = new & at(enabled);
            if able != 0 {
                cost.enabled += able.count_ones();
            }
            cost.disabled += (new & !able).count_ones();
        }
        cost
    }

    fn count_one(&self, transition: TransitionNumber, cost: &mut Cost) {
        if self.open.contains(transition) && !self.set.contains(transition) {
            let enabled = self.enabled.contains(transition);
            *if enabled { &mut cost.enabled } else { &mut cost.disabled } += 1;
        }
    }
}

impl Guards {
    /// The transitions of which more is known in the state at hand, each with a number for what is known.
    pub fn variants_at<'g>(
        &'g self,
        leaving: &'g [TransitionNumber],
    ) -> impl Iterator<Item = (TransitionNumber, u32)> + 'g {
        leaving.iter().filter_map(|transition| Some((*transition, self.variants.number_of(*transition)?)))
    }

    /// Gets ready for a state in which these processes stand there: looks at their transitions as they are, given the
    /// values of local cells. To be called before a set is asked for.
    pub fn prepare(
        &mut self,
        unfolding: &mut Unfolding<'_>,
        standing: impl Iterator<Item = (ProcessNumber, u32)>,
        mut value: impl FnMut(ProcessNumber, VariableId, u32) -> i64,
    ) {
        self.variants.time += 1;
        self.variants.current.resize(unfolding.scheme().transitions.len(), (0, 0));
        for (process, location) in standing {
            for position in 0..unfolding.member(process).leaving[location as usize].len() {
                let transition = unfolding.member(process).leaving[location as usize][position];
                if !unfolding.detail(transition).unknowns.is_empty() {
                    self.look_up(unfolding, transition, process, &mut value);
                }
            }
        }
    }

    fn look_up(
        &mut self,
        unfolding: &mut Unfolding<'_>,
        transition: TransitionNumber,
        process: ProcessNumber,
        value: &mut impl FnMut(ProcessNumber, VariableId, u32) -> i64,
    ) {
        let Variants { known, rows, current, time, key } = &mut self.variants;
        key.0 = transition;
        key.1.clear();
        let unknowns = &unfolding.detail(transition).unknowns;
        key.1.extend(unknowns.iter().map(|(variable, slot)| value(process, *variable, *slot)));
        if let Some(found) = known.get(key) {
            current[transition as usize] = (*time, *found);
            return;
        }
        // To look at one more closely takes about as long as to look at all others once.
        let steps = STEPS_PER_VARIANT + unfolding.scheme().transitions.len();
        if rows.len() >= MAX_VARIANTS || !unfolding.effort().spend_if_possible(steps) {
            return;
        }
        let (time, key) = (*time, key.clone());
        let new = self.relations.rows(unfolding, transition, &key.1);
        let Variants { known, rows, current, .. } = &mut self.variants;
        rows.push(new);
        known.insert(key, rows.len() as u32 - 1);
        current[transition as usize] = (time, rows.len() as u32 - 1);
    }
}

impl Guards {
    /// Where both are enabled, the order of two operations on one object makes no difference.
    pub fn commute(&self, first: Verb, second: Verb) -> bool {
        relations::commute(first, second)
    }
}
