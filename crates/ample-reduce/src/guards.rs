//! Stubborn sets by guards: the persistent sets that are used unless another algorithm is asked for.
//!
//! The strong stubborn sets of P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, §4.5
//! (Definition 4.15), computed as Algorithm 3 does, but from more precise relations. A condition knows who can make it true
//! and who can make it false: an assignment of a constant is considered with its value, a message with its fields, an addition by what it can do to an interval. Two transitions *accord*
//! if, wherever both are enabled, neither disables the other and both orders lead to the same state; where their
//! conditions contradict each other they always do. What must be added for a disabled transition is chosen in each
//! state, among all its false conditions, so that as few enabled transitions as possible come along:
//!
//! - a process that stands elsewhere must arrive, by a transition that leads there;
//! - a false condition must be made true; a channel that is not empty does not get another first message by a send;
//! - `else` and `timeout` wait for an enabled transition to be disabled; one of them will do.
//!
//! The relations are bit matrices, computed when the scheme has grown.

use std::cell::RefCell;
use std::collections::HashMap;

use ample_model::VariableId;

use crate::bits::{Bits, Matrix};
use crate::scheme::{
    ConditionNumber, Kind, ObjectNumber, Operation, ProcessNumber, Step, TransitionNumber, Verb, View,
};
use crate::unfold::{Hope, Question, Test, Unfolding};

/// The relations, and memory for the search of a set.
#[derive(Default)]
pub struct Guards {
    /// Per condition: who may make it true.
    enablers: Vec<Bits>,
    /// Per condition that waits for a message: who may make it true if the channel is not empty.
    later: Vec<Option<Bits>>,
    /// Per condition: who may make it false.
    disablers: Vec<Bits>,
    /// Per transition: who may disable it.
    disable: Vec<Bits>,
    /// Per transition: who does not accord with it.
    discord: Matrix,
    /// Per transition: who else does not accord with it while the channel has no message, or no room.
    hopes: Vec<Vec<(ObjectNumber, Hope, Bits)>>,
    /// Per process: its transitions that end it.
    ends: Vec<Bits>,
    /// Per process and location: the transitions that lead to it, and those that leave it.
    arriving: Vec<Vec<Bits>>,
    leaving: Vec<Vec<Bits>>,
    /// Per process: the transitions that create it.
    starting: Vec<Bits>,
    /// Per process and location: the transitions that may still be taken, by it or by those that it may create.
    future: Vec<Vec<Bits>>,
    /// Transitions that may do anything.
    globals: Bits,
    /// Transitions that all have to be taken in the same order.
    visible: Bits,
    uses: Uses,
    /// Per object: the conditions that look at it.
    looked_at: Vec<Vec<ConditionNumber>>,
    /// Conditions that look at channels that nobody knows.
    wild_looks: Vec<ConditionNumber>,
    /// Conditions that wait for siblings to be blocked.
    waiting: Vec<ConditionNumber>,
    /// Per condition: whose it is.
    owners: Vec<Vec<TransitionNumber>>,
    variants: Variants,
    search: Search,
}

/// Who uses what.
#[derive(Default)]
struct Uses {
    /// Per object: the transitions whose commands use it, and how.
    users: Vec<Vec<(TransitionNumber, Verb)>>,
    /// Uses of channels that nobody knows.
    wild: Vec<(TransitionNumber, Verb)>,
    /// Uses of channels that are known.
    tame: Vec<(TransitionNumber, Verb)>,
}

/// Transitions as they are in some states.
#[derive(Default)]
struct Variants {
    known: HashMap<(TransitionNumber, Vec<i64>), u32>,
    rows: Vec<Rows>,
    /// Per transition: when it was looked up last, and what was found.
    current: Vec<(u64, u32)>,
    time: u64,
    key: (TransitionNumber, Vec<i64>),
}

/// The relations of a transition as it is in some states.
struct Rows {
    discord: Bits,
    hopes: Vec<(ObjectNumber, Hope, Bits)>,
    /// Per condition: who may make it true, at all and while the channel is not empty.
    enablers: Vec<Option<(Bits, Option<Bits>)>>,
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
    set: Bits,
    pending: Vec<TransitionNumber>,
    /// The seeds that were tried in this state.
    tried: Bits,
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
        let builder = Builder::new(unfolding, visible);
        let time = self.variants.time;
        *self = Guards { search: std::mem::take(&mut self.search), ..builder.build().unwrap_or_default() };
        self.variants.time = time;
    }

    /// The two accord.
    pub fn accord(&self, first: TransitionNumber, second: TransitionNumber) -> bool {
        !self.discord.contains(first, second)
            && !self.discord.contains(second, first)
            && !self.globals.contains(first)
            && !self.globals.contains(second)
    }

    /// Two transitions that are both enabled are independent, and weakly uniformly so (Godefroid's thesis, ch. 6).
    pub fn independent(&self, unfolding: &Unfolding<'_>, first: TransitionNumber, second: TransitionNumber) -> bool {
        let enables = |one: TransitionNumber, other: TransitionNumber| {
            let conditions = &unfolding.scheme().transitions[other as usize].conditions;
            conditions.iter().any(|condition| {
                let buffered = matches!(unfolding.question(*condition).test, Test::Room(_) | Test::Message { .. });
                !buffered && self.enablers[*condition as usize].contains(one)
            })
        };
        // What follows a `timeout` may end the wait of another one.
        let waits = |transition: TransitionNumber| unfolding.detail(transition).timeout;
        let apart = first != second && !waits(first) && !waits(second);
        apart && self.accord(first, second) && !enables(first, second) && !enables(second, first)
    }

    /// Who does not accord with the transition.
    pub fn discord(&self, transition: TransitionNumber) -> &Bits {
        self.discord.row(transition)
    }

    /// Who may make the condition true.
    pub fn enablers(&self, condition: ConditionNumber) -> &Bits {
        &self.enablers[condition as usize]
    }

    /// Who may make the condition false.
    pub fn disablers(&self, condition: ConditionNumber) -> &Bits {
        &self.disablers[condition as usize]
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
    pub fn future(&self, process: ProcessNumber, location: u32) -> &Bits {
        &self.future[process as usize][location as usize]
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
        let mut least = count;
        let mut last = None;
        // The oldest processes come last, and first here: they often serve the others.
        for position in (0..count).rev() {
            let seed = view.enabled()[position];
            // The transitions of one location come together, unless they return to it.
            let process = unfolding.scheme().transitions[seed as usize].steps[0].process;
            if last == Some(process) && !self.returns(unfolding, seed) {
                continue;
            }
            last = Some(process);
            if invisible && self.visible.contains(seed) {
                continue;
            }
            // One that only sends makes way for another one.
            if least == 1 && unfolding.scheme().only_sends(seed) {
                continue;
            }
            let found = self.close(unfolding, view, seed, least.max(2));
            self.search.tried.insert(seed);
            if let Some(found) = found {
                if invisible && self.search.sees(&self.visible) {
                    continue;
                }
                least = found;
                self.search.best.clear();
                let Search { best, enabled, set, .. } = &mut self.search;
                best.extend(enabled.iter().filter(|transition| set.contains(*transition)));
                if least == 1 && !unfolding.scheme().only_sends(seed) {
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
        if self.globals.meets(alive) {
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
        search.add_one(seed);
        search.begin_note(seed);
        while let Some(transition) = self.search.pending.pop() {
            if self.search.count >= limit {
                return None;
            }
            let before = self.search.pending.len();
            if view.is_enabled(transition) {
                // What needs another seed needs all that it does, and more.
                if self.search.tried.contains(transition) {
                    return None;
                }
                let rows = self.variants.rows_of(transition);
                self.search.add(rows.map_or_else(|| self.discord.row(transition), |rows| &rows.discord));
                let hopes = rows.map_or(&self.hopes[transition as usize], |rows| &rows.hopes);
                for (object, hope, row) in hopes {
                    let fill = view.fill(*object);
                    let fails = match (hope, unfolding.scheme().objects[*object as usize].kind) {
                        (Hope::Message, _) => fill == 0,
                        (Hope::Room, Kind::Channel { capacity }) => fill >= capacity,
                        (Hope::Room, _) => true,
                    };
                    if fails {
                        self.search.add(row);
                    }
                }
                self.search.note(transition, None, before);
            } else {
                let choice = self.enable(unfolding, view, transition);
                self.search.note(transition, choice, before);
            }
        }
        (self.search.count < limit).then_some(self.search.count)
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
                if offer(Choice::Step(number), self.search.cost(self.arrivals(view, step.process, step.from))) {
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
            Some(Choice::Condition(condition)) => self.add_condition(unfolding, view, condition, transition),
            Some(Choice::Until(enabled)) => {
                self.search.add(&self.disable[enabled as usize]);
                self.search.add_one(enabled);
            }
            Some(Choice::Youngest(process)) => self.search.add(&self.ends[process as usize]),
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

    /// The transitions by which a process arrives at a location, or begins.
    fn arrivals<V: View>(&self, view: &V, process: ProcessNumber, to: u32) -> &Bits {
        match view.location(process) {
            Some(_) => &self.arriving[process as usize][to as usize],
            None => &self.starting[process as usize],
        }
    }

    fn add_step<V: View>(&mut self, view: &V, process: ProcessNumber, to: u32) {
        match view.location(process) {
            Some(_) => self.search.add(&self.arriving[process as usize][to as usize]),
            None => self.search.add(&self.starting[process as usize]),
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
        steps.map(|step| &self.leaving[step.process as usize][step.from as usize])
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
            self.variants.rows[number as usize].enablers[place].as_ref().map(|_| (number, place))
        });
        // A channel that is the same in every state; else it is not known which one is empty.
        let later = match &unfolding.question(condition).test {
            Test::Message { object, .. } => view.fill(*object) > 0,
            _ => false,
        };
        RowPlace { variant, condition, later }
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
        place.of(&self.variants.rows, &self.enablers, &self.later)
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
                let mut cost = self.search.cost(&self.disable[enabled as usize]);
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
                .map(|process| (Choice::Youngest(process), self.search.cost(&self.ends[process as usize]))),
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
        let (variants, enablers, later) = (&self.variants.rows, &self.enablers, &self.later);
        self.search.add(row.of(variants, enablers, later));
        if unfolding.question(condition).reads_locals {
            for step in &unfolding.scheme().transitions[transition as usize].steps {
                self.search.add(&self.leaving[step.process as usize][step.from as usize]);
            }
        }
    }
}

/// Where it says who may make a condition true.
struct RowPlace {
    /// A variant of the transition, and the place of the condition among its own.
    variant: Option<(u32, usize)>,
    condition: ConditionNumber,
    /// The channel is not empty.
    later: bool,
}

impl RowPlace {
    fn of<'r>(&self, variants: &'r [Rows], enablers: &'r [Bits], later: &'r [Option<Bits>]) -> &'r Bits {
        let variant = self.variant.and_then(|(rows, place)| variants[rows as usize].enablers[place].as_ref());
        let (enablers, later) = match variant {
            Some((enablers, later)) => (enablers, later),
            None => (&enablers[self.condition as usize], &later[self.condition as usize]),
        };
        later.as_ref().filter(|_| self.later).unwrap_or(enablers)
    }
}

/// One of the necessary enabling sets of a disabled transition.
#[derive(Clone, Copy)]
enum Choice {
    /// The process of that step must get there.
    Step(usize),
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
            Some(Choice::Step(number)) => reason.step = Some(number),
            Some(Choice::Condition(condition)) => reason.condition = Some(condition),
            Some(Choice::Until(transition)) => reason.until = Some(transition),
            Some(Choice::Youngest(process)) => reason.youngest = Some(process),
            None => {}
        }
        log.push(reason);
    }

    fn add_one(&mut self, transition: TransitionNumber) {
        if self.alive.contains(transition) && self.set.insert(transition) {
            self.pending.push(transition);
            self.count += usize::from(self.enabled.contains(transition));
        }
    }

    fn add(&mut self, row: &Bits) {
        let (alive, enabled) = (self.alive.words(), self.enabled.words());
        for (number, word) in row.words().iter().enumerate() {
            let old = self.set.words().get(number).copied().unwrap_or(0);
            let mut new = word & alive.get(number).copied().unwrap_or(0) & !old;
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

    /// One of these is enabled, and in the set.
    fn sees(&self, these: &Bits) -> bool {
        these.iter().any(|transition| self.set.contains(transition) && self.enabled.contains(transition))
    }

    fn cost(&self, row: &Bits) -> Cost {
        let (alive, enabled, set) = (self.alive.words(), self.enabled.words(), self.set.words());
        let mut cost = Cost::default();
        for (number, word) in row.words().iter().enumerate() {
            let at = |words: &[u64]| words.get(number).copied().unwrap_or(0);
            let new = word & at(alive) & !at(set);
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
        if self.alive.contains(transition) && !self.set.contains(transition) {
            let enabled = self.enabled.contains(transition);
            *if enabled { &mut cost.enabled } else { &mut cost.disabled } += 1;
        }
    }
}

/// Who may change a condition.
struct Changes {
    enablers: Bits,
    /// Who may make it true while the channel is not empty, if it waits for a message.
    later: Option<Bits>,
    disablers: Bits,
}

impl Uses {
    fn of(&self, object: ObjectNumber) -> &[(TransitionNumber, Verb)] {
        self.users.get(object as usize).map_or(&[], Vec::as_slice)
    }

    /// Who may change what is asked.
    fn changes(&self, unfolding: &Unfolding<'_>, question: &Question) -> Changes {
        let (mut enablers, mut later, mut disablers) = (Bits::new(), Bits::new(), Bits::new());
        let mut note = |user: TransitionNumber, verb: Verb, sent: Option<&[Option<i64>]>| {
            let (enables, disables) = question.test.changed_by(verb, sent);
            if enables {
                enablers.insert(user);
                if verb != Verb::Send {
                    later.insert(user);
                }
            }
            if disables {
                disablers.insert(user);
            }
        };
        for object in &question.objects {
            for (user, verb) in self.of(*object) {
                let mut sent = unfolding.detail(*user).sent.iter().filter(|sent| sent.object == *object);
                // Of several messages to one channel only the first is known.
                let (first, several) = (sent.next(), sent.next().is_some());
                note(*user, *verb, first.filter(|_| !several).map(|sent| sent.fields.as_slice()));
            }
        }
        if question.objects.iter().any(|object| is_channel(unfolding, *object)) || question.is_wild {
            self.wild.iter().for_each(|(user, verb)| note(*user, *verb, None));
        }
        if question.is_wild {
            self.tame.iter().for_each(|(user, verb)| note(*user, *verb, None));
        }
        let waits = matches!(question.test, Test::Message { anywhere: false, .. });
        Changes { enablers, later: waits.then_some(later), disablers }
    }

    /// Who uses the same objects by operations that do not commute.
    fn clashes(&self, unfolding: &Unfolding<'_>, command: &[Operation], wild: &[Verb], row: &mut Bits) {
        let mut note = |users: &[(TransitionNumber, Verb)], verb: Verb| {
            for (user, other) in users {
                if !commute(verb, *other) {
                    row.insert(*user);
                }
            }
        };
        for operation in command {
            note(self.of(operation.object), operation.verb);
            if is_channel(unfolding, operation.object) {
                note(&self.wild, operation.verb);
            }
        }
        for verb in wild {
            note(&self.wild, *verb);
            note(&self.tame, *verb);
        }
    }

    /// Who makes a hope come true.
    fn helpers(&self, object: ObjectNumber, hope: Hope) -> Bits {
        let users = self.of(object).iter().chain(&self.wild);
        users.filter(|(_, verb)| hope.is_helped_by(*verb)).map(|(user, _)| *user).collect()
    }
}

fn is_channel(unfolding: &Unfolding<'_>, object: ObjectNumber) -> bool {
    matches!(unfolding.scheme().objects[object as usize].kind, Kind::Channel { .. })
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
        let new = self.rows(unfolding, transition, &key.1);
        let Variants { known, rows, current, .. } = &mut self.variants;
        rows.push(new);
        known.insert(key, rows.len() as u32 - 1);
        current[transition as usize] = (time, rows.len() as u32 - 1);
    }

    /// The relations of a transition whose unknowns have these values.
    fn rows(&self, unfolding: &mut Unfolding<'_>, transition: TransitionNumber, values: &[i64]) -> Rows {
        let variant = unfolding.variant(transition, values);
        let unfolding = &*unfolding;
        let this = &unfolding.scheme().transitions[transition as usize];
        let mut row = self.globals.clone();
        self.leavers(unfolding, transition, &mut row);
        let mut enablers = Vec::new();
        let mut tests: Vec<&Test> = Vec::new();
        for (condition, question) in this.conditions.iter().zip(&variant.questions) {
            match question {
                Some(question) => {
                    let changes = self.uses.changes(unfolding, question);
                    row.extend(&changes.disablers);
                    enablers.push(Some((changes.enablers, changes.later)));
                    tests.push(&question.test);
                }
                None => {
                    row.extend(&self.disablers[*condition as usize]);
                    enablers.push(None);
                    tests.push(&unfolding.question(*condition).test);
                }
            }
        }
        self.uses.clashes(unfolding, &variant.command, &variant.wild, &mut row);
        // Whom it takes their process from, and whose hopes it fulfils.
        for step in this.steps.iter().filter(|step| step.to != [step.from]) {
            row.extend(&self.leaving[step.process as usize][step.from as usize]);
        }
        for (other, hopes) in self.hopes.iter().enumerate() {
            if hopes.iter().any(|(object, hope, _)| variant.helps(*object, *hope)) {
                row.insert(other as TransitionNumber);
            }
        }
        // Whom it may disable.
        let wild = variant.wild.iter().flat_map(|verb| self.wild_looks.iter().map(move |condition| (verb, condition)));
        let tame = variant.command.iter().flat_map(|operation| {
            let known = self.looked_at.get(operation.object as usize).map_or(&[][..], Vec::as_slice);
            let wild = if is_channel(unfolding, operation.object) { &self.wild_looks[..] } else { &[] };
            known.iter().chain(wild).map(move |condition| (&operation.verb, condition))
        });
        for (verb, condition) in tame.chain(wild) {
            let test = &unfolding.question(*condition).test;
            if !matches!(test, Test::Blocked(_)) && test.changed_by(*verb, None).1 {
                self.owners[*condition as usize].iter().for_each(|owner| {
                    row.insert(*owner);
                });
            }
        }
        if !variant.wild.is_empty() {
            for (object, conditions) in self.looked_at.iter().enumerate() {
                if is_channel(unfolding, object as u32) {
                    conditions.iter().flat_map(|c| &self.owners[*c as usize]).for_each(|owner| {
                        row.insert(*owner);
                    });
                }
            }
        }
        for condition in self.waiting.iter().filter(|c| self.disablers[**c as usize].contains(transition)) {
            self.owners[*condition as usize].iter().for_each(|owner| {
                row.insert(*owner);
            });
        }
        if self.visible.contains(transition) {
            row.extend(&self.visible);
        }
        row.remove(transition);
        let meets = |other: &u32| self.may_meet(unfolding, transition, &tests, *other);
        let hopes = variant.hopes.iter().map(|(object, hope)| {
            let mut helpers = self.uses.helpers(*object, *hope);
            helpers.remove(transition);
            (*object, *hope, helpers.iter().filter(meets).collect())
        });
        Rows { discord: row.iter().filter(meets).collect(), hopes: hopes.collect(), enablers }
    }

    /// Transitions that take a process of this one away.
    fn leavers(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber, row: &mut Bits) {
        for step in &unfolding.scheme().transitions[transition as usize].steps {
            for other in &unfolding.member(step.process).leaving[step.from as usize] {
                let steps = &unfolding.scheme().transitions[*other as usize].steps;
                let leaves = steps.iter().any(|o| o.process == step.process && o.to != [step.from])
                    || unfolding.detail(*other).reaches.contains(&(step.process, step.from));
                if *other != transition && leaves {
                    row.insert(*other);
                }
            }
        }
    }

    /// A transition with these conditions and another may both be enabled in one state.
    fn may_meet(
        &self,
        unfolding: &Unfolding<'_>,
        first: TransitionNumber,
        tests: &[&Test],
        second: TransitionNumber,
    ) -> bool {
        let scheme = unfolding.scheme();
        let (one, other) = (&scheme.transitions[first as usize], &scheme.transitions[second as usize]);
        if self.globals.contains(first) || self.globals.contains(second) {
            return true;
        }
        let unborn = |process: ProcessNumber| unfolding.member(process).id.is_none();
        for step in &one.steps {
            for o in other.steps.iter().filter(|o| o.process == step.process && !unborn(o.process)) {
                if o.from != step.from {
                    return false;
                }
            }
        }
        for test in tests {
            if other.conditions.iter().any(|condition| !test.agrees(&unfolding.question(*condition).test)) {
                return false;
            }
        }
        // Only one process is the youngest.
        let waits = |test: &Test| matches!(test, Test::Youngest);
        let both = tests.iter().any(|test| waits(test))
            && other.conditions.iter().any(|condition| waits(&unfolding.question(*condition).test));
        !(both && one.is_parallel(other) && !one.steps.iter().any(|step| unborn(step.process)))
    }
}

/// Computes the relations.
struct Builder<'b, 'a> {
    unfolding: &'b Unfolding<'a>,
    visible: &'b Bits,
    guards: Guards,
}

impl<'b, 'a> Builder<'b, 'a> {
    fn new(unfolding: &'b Unfolding<'a>, visible: &'b Bits) -> Self {
        let scheme = unfolding.scheme();
        let mut guards = Guards {
            owners: vec![Vec::new(); scheme.conditions.len()],
            looked_at: vec![Vec::new(); scheme.objects.len()],
            ..Guards::default()
        };
        guards.uses.users = vec![Vec::new(); scheme.objects.len()];
        for (number, transition) in scheme.transitions.iter().enumerate() {
            let number = number as TransitionNumber;
            for operation in &unfolding.detail(number).command {
                guards.uses.users[operation.object as usize].push((number, operation.verb));
                if matches!(scheme.objects[operation.object as usize].kind, Kind::Channel { .. }) {
                    guards.uses.tame.push((number, operation.verb));
                }
            }
            guards.uses.wild.extend(unfolding.detail(number).wild.iter().map(|verb| (number, *verb)));
            for condition in &transition.conditions {
                guards.owners[*condition as usize].push(number);
            }
        }
        for condition in 0..scheme.conditions.len() as ConditionNumber {
            let question = unfolding.question(condition);
            question.objects.iter().for_each(|object| guards.looked_at[*object as usize].push(condition));
            guards.wild_looks.extend(question.is_wild.then_some(condition));
            guards.waiting.extend(matches!(question.test, Test::Blocked(_)).then_some(condition));
        }
        Builder { unfolding, visible, guards }
    }

    fn build(mut self) -> Option<Guards> {
        let scheme = self.unfolding.scheme();
        let transitions = 0..scheme.transitions.len() as TransitionNumber;
        self.guards.globals = transitions.clone().filter(|number| self.unfolding.detail(*number).is_global).collect();
        self.guards.visible = self.visible.clone();
        for condition in 0..scheme.conditions.len() as ConditionNumber {
            self.condition(condition)?;
        }
        for transition in transitions.clone() {
            let row = self.disable(transition)?;
            self.guards.disable.push(row);
        }
        self.blocked()?;
        for transition in transitions.clone() {
            let row = self.disable(transition)?;
            self.guards.disable[transition as usize] = row;
        }
        self.ends();
        self.future()?;
        self.guards.hopes = vec![Vec::new(); scheme.transitions.len()];
        for transition in transitions {
            self.discord(transition)?;
            self.hopes(transition)?;
        }
        Some(self.guards)
    }

    /// Takes so many steps; none if they are too many.
    fn spend(&self, steps: usize) -> Option<()> {
        self.unfolding.effort().spend(steps).then_some(())
    }

    /// The words of a row.
    fn width(&self) -> usize {
        self.unfolding.scheme().transitions.len() / 64 + 1
    }

    /// Who may change a condition.
    fn condition(&mut self, condition: ConditionNumber) -> Option<()> {
        let question = self.unfolding.question(condition);
        let users = question.objects.iter().map(|object| self.guards.uses.of(*object).len()).sum::<usize>();
        let wild = if question.is_wild { self.guards.uses.tame.len() } else { 0 };
        self.spend(20 + 4 * (users + wild + self.guards.uses.wild.len()))?;
        let changes = self.guards.uses.changes(self.unfolding, question);
        self.guards.enablers.push(changes.enablers);
        self.guards.later.push(changes.later);
        self.guards.disablers.push(changes.disablers);
        Some(())
    }

    /// Who may disable a transition.
    fn disable(&self, transition: TransitionNumber) -> Option<Bits> {
        let mut row = self.guards.globals.clone();
        let this = &self.unfolding.scheme().transitions[transition as usize];
        let leaving = |step: &Step| self.unfolding.member(step.process).leaving[step.from as usize].len();
        let leaving = this.steps.iter().map(leaving).sum::<usize>();
        self.spend(20 + this.conditions.len() * self.width() / 4 + 4 * leaving)?;
        for condition in &this.conditions {
            row.extend(&self.guards.disablers[*condition as usize]);
        }
        self.guards.leavers(self.unfolding, transition, &mut row);
        Some(row)
    }

    /// Who may enable a transition that its process, or the first of the two, is ready for.
    fn enable(&self, transition: TransitionNumber) -> Option<Bits> {
        let mut row = self.guards.globals.clone();
        let this = &self.unfolding.scheme().transitions[transition as usize];
        for condition in &this.conditions {
            row.extend(&self.guards.enablers[*condition as usize]);
        }
        self.spend(this.conditions.len() * self.width() / 4)?;
        if this.steps.len() > 1 {
            for step in &this.steps {
                self.spend(4 * self.unfolding.scheme().transitions.len())?;
                for (number, other) in self.unfolding.scheme().transitions.iter().enumerate() {
                    let arrives = other.steps.iter().any(|o| o.process == step.process && o.to.contains(&step.from));
                    let reaches = &self.unfolding.detail(number as u32).reaches;
                    if arrives || reaches.iter().any(|(process, _)| *process == step.process) {
                        row.insert(number as u32);
                    }
                }
                let starts = &self.unfolding.scheme().starts;
                if let Some(starts) = starts.get(step.process as usize) {
                    starts.iter().for_each(|start| {
                        row.insert(*start);
                    });
                }
            }
        }
        Some(row)
    }

    /// A condition that waits for siblings to be blocked changes with them. They may wait for siblings themselves.
    fn blocked(&mut self) -> Option<()> {
        let conditions = 0..self.unfolding.scheme().conditions.len() as ConditionNumber;
        loop {
            let mut changed = false;
            for condition in conditions.clone() {
                let Test::Blocked(siblings) = &self.unfolding.question(condition).test else { continue };
                let (mut enablers, mut disablers) = (Bits::new(), Bits::new());
                if self.unfolding.question(condition).may_fault {
                    self.all_writers(condition, &mut enablers);
                    self.all_writers(condition, &mut disablers);
                }
                for sibling in siblings {
                    for transition in [sibling].into_iter().chain(&self.unfolding.detail(*sibling).handshakes) {
                        enablers.extend(&self.disable(*transition)?);
                        disablers.extend(&self.enable(*transition)?);
                    }
                }
                let (old, new) = (&mut self.guards.enablers[condition as usize], enablers);
                changed |= !new.is_within(old);
                old.extend(&new);
                let (old, new) = (&mut self.guards.disablers[condition as usize], disablers);
                changed |= !new.is_within(old);
                old.extend(&new);
            }
            if !changed {
                return Some(());
            }
        }
    }

    /// Whoever changes anything that a condition looks at.
    fn all_writers(&self, condition: ConditionNumber, out: &mut Bits) {
        let question = self.unfolding.question(condition);
        let uses = &self.guards.uses;
        let users = question.objects.iter().flat_map(|object| uses.of(*object));
        let wild = if question.is_wild { &uses.tame[..] } else { &[] };
        for (user, verb) in users.chain(wild).chain(&uses.wild) {
            if Test::Other.changed_by(*verb, None) != (false, false) {
                out.insert(*user);
            }
        }
    }

    fn ends(&mut self) {
        let processes = self.unfolding.scheme().processes.len();
        self.guards.ends = vec![Bits::new(); processes];
        for (number, transition) in self.unfolding.scheme().transitions.iter().enumerate() {
            if self.unfolding.detail(number as u32).ends {
                let reached = self.unfolding.detail(number as u32).reaches.iter().map(|(process, _)| *process);
                for process in transition.steps.iter().map(|step| step.process).chain(reached) {
                    self.guards.ends[process as usize].insert(number as u32);
                }
            }
        }
    }

    fn future(&mut self) -> Option<()> {
        let unfolding = self.unfolding;
        let members = 0..unfolding.scheme().processes.len() as ProcessNumber;
        let rows = |lists: &[Vec<TransitionNumber>]| lists.iter().map(|list| list.iter().copied().collect()).collect();
        for process in members.clone() {
            let member = unfolding.member(process);
            self.guards.arriving.push(rows(&member.arriving));
            self.guards.leaving.push(rows(&member.leaving));
            let starts = unfolding.scheme().starts.get(process as usize);
            self.guards.starting.push(starts.into_iter().flatten().copied().collect());
        }
        let unborn: Vec<_> = unfolding.unborn().collect();
        for process in members {
            let member = unfolding.member(process);
            let mut rows = Vec::new();
            for location in 0..member.leaving.len() as u32 {
                self.spend(20 + 2 * member.leaving.len())?;
                let mut row = Bits::new();
                self.add_future(process, location, &mut row);
                // Whom it creates, and whom they create.
                let mut born: Vec<ProcessNumber> = Vec::new();
                loop {
                    self.spend(10 * row.len())?;
                    let spawns = |number: u32| unfolding.detail(number).spawns.iter().copied();
                    let types: Vec<_> = row.iter().flat_map(spawns).collect();
                    let new = unborn.iter().find(|(ty, number)| types.contains(ty) && !born.contains(number));
                    let Some((ty, number)) = new else { break };
                    born.push(*number);
                    self.add_future(*number, unfolding.system().process(*ty).initial.0, &mut row);
                }
                rows.push(row);
            }
            self.guards.future.push(rows);
        }
        Some(())
    }

    fn add_future(&self, process: ProcessNumber, location: u32, row: &mut Bits) {
        let member = self.unfolding.member(process);
        for (from, leaving) in member.leaving.iter().enumerate() {
            if self.unfolding.reaches(member.process, location, from as u32) {
                leaving.iter().for_each(|transition| {
                    row.insert(*transition);
                });
            }
        }
    }

    /// Who does not accord with a transition.
    fn discord(&mut self, transition: TransitionNumber) -> Option<()> {
        let mut row = self.guards.disable[transition as usize].clone();
        let detail = self.unfolding.detail(transition);
        let users = detail.command.iter().map(|operation| self.guards.uses.of(operation.object).len()).sum::<usize>();
        let wild = detail.wild.len() * (self.guards.uses.tame.len() + self.guards.uses.wild.len());
        self.spend(20 + 2 * users + 2 * wild)?;
        self.guards.uses.clashes(self.unfolding, &detail.command, &detail.wild, &mut row);
        for (process, _) in &self.unfolding.detail(transition).reaches {
            let leaving = self.unfolding.member(*process).leaving.iter().flatten();
            leaving.for_each(|other| {
                row.insert(*other);
            });
        }
        if self.visible.contains(transition) {
            row.extend(self.visible);
        }
        row.remove(transition);
        self.spend(10 * row.len())?;
        for other in row.iter() {
            if self.may_meet(transition, other) {
                self.guards.discord.insert_both(transition, other);
            }
        }
        Some(())
    }

    /// Who makes a hope of a transition come true does not accord with it where it fails. For him it is not enough to look
    /// at the state: others may take the messages first.
    fn hopes(&mut self, transition: TransitionNumber) -> Option<()> {
        for (object, hope) in &self.unfolding.detail(transition).hopes {
            let mut row = self.guards.uses.helpers(*object, *hope);
            row.remove(transition);
            self.spend(10 * row.len())?;
            let met: Vec<_> = row.iter().filter(|other| self.may_meet(transition, *other)).collect();
            for helper in &met {
                self.guards.discord.insert(*helper, transition);
            }
            self.guards.hopes[transition as usize].push((*object, *hope, met.into_iter().collect()));
        }
        Some(())
    }

    /// Both may be enabled in one state.
    fn may_meet(&self, first: TransitionNumber, second: TransitionNumber) -> bool {
        let conditions = &self.unfolding.scheme().transitions[first as usize].conditions;
        let tests: Vec<&Test> = conditions.iter().map(|c| &self.unfolding.question(*c).test).collect();
        self.guards.may_meet(self.unfolding, first, &tests, second)
    }
}

impl Guards {
    /// Where both are enabled, the order of two operations on one object makes no difference.
    pub fn commute(&self, first: Verb, second: Verb) -> bool {
        commute(first, second)
    }
}

/// Where both are enabled, the order of two operations on one object makes no difference.
fn commute(first: Verb, second: Verb) -> bool {
    use Verb::*;
    let looks = |verb: Verb| matches!(verb, Read | Peek | Search | Length | Empty | Full | Zero | Held);
    match (first, second) {
        (x, y) if looks(x) && looks(y) => true,
        (Set(x), Set(y)) => x == y,
        (Add(_), Add(_)) | (Complement, Complement) => true,
        // A message at the end does not change which one is first.
        (Send, Receive | ReceiveAnywhere | Peek) | (Receive | ReceiveAnywhere | Peek, Send) => true,
        _ => false,
    }
}
