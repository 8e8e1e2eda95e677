//! Deadlocks, violated assertions and invariants.
//!
//! Breadth first, all workers at the same level: a worker expands its states of a level, and sends those that it reaches to
//! their owners, who keep them for the next one. So the first violation of each kind has a shortest path.
//!
//! With persistent sets a level takes three rounds. In the first one, states are expanded with what was chosen, and the
//! owners are asked whether one of the successors is a state of the next level; they answer in the second; and what has
//! no such successor is expanded fully in the third. A chain of such successors goes from level to level, so that it ends
//! in a state that was expanded fully: nothing is ignored for ever. It does not matter who owns which state, and the
//! reduced graph is the same for any number of workers, unless processes are created: what a persistent set leaves out then
//! depends on which processes a worker has met.

use std::collections::BTreeMap;

use ample_explicit::check::Cut;
use ample_explicit::compile::{Compiled, NotReduced, Reduced, Transition};
use ample_explicit::engine::distributed::{NUMBERED_TWICE, SafetyFound, Trace};
use ample_explicit::partial::{Labelled, Partial};
use ample_explicit::space::{Checked, Culprit};
use ample_explicit::store::{ExactStore, FlatStore, Handle, Inserted, Store, Visible, Whole};
use ample_explicit::targets::Targets;
use ample_model::{Interrupted, Reason, Statistics, System};
use serde::{Deserialize, Serialize};

use super::origin::{Arriving, HANDLE, Origin, Recent, TOGETHER, read_number, write_number};
use super::trace::trace;
use super::{ANSWERS, Announced, FOUND, PROCESSES, REPORT, STATES, SafetyJob, begin, compile, owner};
use crate::control::TallySnapshot;
use crate::exchange::Message;
use crate::session::Seat;

/// A worker looks for messages after it has expanded so many states.
const POLL_EVERY: u32 = 64;

/// What may be violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Asked {
    Deadlock,
    Assertions,
    Invariant(usize),
}

/// A violation, as its worker knows it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Found {
    asked: Asked,
    /// How long the path is.
    depth: u64,
    /// The last state before what is wrong, or the one that is; zero if that is an initial state that is a fault.
    state: u64,
}

/// What a worker tells at the end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct WorkerReport {
    found: Vec<Found>,
    cuts: Vec<(Option<Culprit>, String, u64)>,
    statistics: Statistics,
    ended: Option<Reason>,
    /// A limit of the representation.
    limit: Option<Reason>,
}

/// Searches with all workers.
pub(super) fn search(seat: &mut Seat<'_>, system: &System, job: &SafetyJob) -> Result<SafetyFound, Interrupted> {
    let compiled = compile(seat, system, job.is_native);
    let mut irreducible = None;
    let mut reduced = None;
    if let (Some(persistent), Ok(compiled)) = (job.persistent(), &compiled) {
        let algorithm = persistent.algorithm;
        match Reduced::of(compiled, &job.invariants, persistent.keeps_assertions, algorithm, seat.budget) {
            Ok(space) => reduced = Some((space, persistent.has_proviso)),
            Err(NotReduced::Irreducible(why)) => irreducible = Some(why),
            Err(NotReduced::NotCompiled(error)) => {
                let why = begin(seat, Err(error.into()), job.has_hidden)?;
                return Ok(SafetyFound { ended: why, ..SafetyFound::default() });
            }
        }
    }
    if let Some((space, has_proviso)) = reduced {
        let (space, why) = ready(seat, job, Ok(space), |space| space.compiled())?;
        let Some(space) = space else { return Ok(SafetyFound { ended: why, ..SafetyFound::default() }) };
        let visible = space.visible_bytes();
        return if job.has_hidden {
            Search::new(seat, space, visible, job).with_proviso(has_proviso).reduced()
        } else {
            Search::new(seat, space, Whole, job).with_proviso(has_proviso).reduced()
        };
    }
    let space = compiled.and_then(|compiled| compiled.space(&job.invariants, seat.budget)).map_err(Reason::from);
    let (space, why) = ready(seat, job, space, |space| space)?;
    let Some(space) = space else { return Ok(SafetyFound { ended: why, ..SafetyFound::default() }) };
    let found = if job.has_hidden {
        let visible = space.visible();
        Search::new(seat, space, visible, job).plain()
    } else {
        Search::new(seat, space, Whole, job).plain()
    };
    Ok(SafetyFound { irreducible, ..found? })
}

/// A space that all workers have, or why one of them has none.
fn ready<P>(
    seat: &mut Seat<'_>,
    job: &SafetyJob,
    space: Result<P, Reason>,
    compiled: impl Fn(&mut P) -> &mut Compiled,
) -> Result<(Option<P>, Option<Reason>), Interrupted> {
    match space {
        Ok(mut space) => {
            let why = begin(seat, Ok(compiled(&mut space)), job.has_hidden)?;
            Ok((why.is_none().then_some(space), why))
        }
        Err(why) => Ok((None, begin(seat, Err(why), job.has_hidden)?)),
    }
}

/// A space with a compiled system in it.
pub(super) trait OfCompiled: Checked<State = [u8], Transition = Transition> {
    /// The compiled system.
    fn inner(&mut self) -> &mut Compiled;
}

impl OfCompiled for Compiled {
    fn inner(&mut self) -> &mut Compiled {
        self
    }
}

impl OfCompiled for Reduced<'_> {
    fn inner(&mut self) -> &mut Compiled {
        self.compiled()
    }
}

/// A state that has been expanded with some of its transitions, and is waiting for the answer.
struct Waiting {
    state: Handle,
    /// Where its chosen transitions begin.
    chosen: usize,
    /// One of its successors is new, or it has been expanded fully.
    has_escaped: bool,
}

struct Search<'s, 'a, P, V> {
    seat: &'s mut Seat<'a>,
    space: P,
    store: FlatStore<Origin, V>,
    job: &'s SafetyJob,
    has_proviso: bool,
    /// The level of the states that are expanded.
    level: u64,
    /// The last state of the level before.
    before: Option<Handle>,
    /// The last state of this level.
    last: Option<Handle>,
    /// The state that was stored last.
    newest: Option<Handle>,
    announced: Announced,
    out: Vec<u8>,
    listed: Vec<Transition>,
    targets: Targets<Transition>,
    statistics: Statistics,
    cuts: BTreeMap<Option<Culprit>, Cut>,
    /// The invariants that this worker has found no violation of.
    open: Vec<usize>,
    found: Vec<Found>,
    /// Worker 0: what somebody has found.
    known: Vec<Asked>,
    ended: Option<Reason>,
    pending: u64,
    waiting: Vec<Waiting>,
    /// What was chosen in the states that wait.
    chosen: Vec<u32>,
    /// A persistent set.
    set: Vec<u32>,
    /// States that this worker has reached and owns, which are stored together.
    own: Vec<Arriving>,
    own_bytes: Vec<u8>,
    /// Some states of a message.
    arriving: Vec<Arriving>,
    recent: Recent,
    countdown: u32,
}

impl<'s, 'a, P: OfCompiled, V: Visible> Search<'s, 'a, P, V> {
    fn new(seat: &'s mut Seat<'a>, mut space: P, visible: V, job: &'s SafetyJob) -> Self {
        let room = seat.room();
        let announced = Announced::new(space.inner(), seat.workers());
        Search {
            seat,
            space,
            store: FlatStore::with_visible(visible).limit(room),
            job,
            has_proviso: false,
            level: 0,
            before: None,
            last: None,
            newest: None,
            announced,
            out: Vec::new(),
            listed: Vec::new(),
            targets: Targets::default(),
            statistics: Statistics::default(),
            cuts: BTreeMap::new(),
            open: (0..job.invariants.len()).collect(),
            found: Vec::new(),
            known: Vec::new(),
            ended: None,
            pending: 0,
            waiting: Vec::new(),
            chosen: Vec::new(),
            set: Vec::new(),
            own: Vec::new(),
            own_bytes: Vec::new(),
            arriving: Vec::new(),
            recent: Recent::default(),
            countdown: POLL_EVERY,
        }
    }

    fn with_proviso(self, has_proviso: bool) -> Self {
        Search { has_proviso, ..self }
    }

    /// Takes everything.
    fn plain(mut self) -> Result<SafetyFound, Interrupted> {
        self.begin()?;
        loop {
            let expanded = self.expand_level(Self::expand)?;
            if self.ends_level(expanded)? {
                return self.finish();
            }
        }
    }

    /// Stores the initial states that this worker owns.
    fn begin(&mut self) -> Result<(), Interrupted> {
        let mut out = std::mem::take(&mut self.out);
        for index in 0.. {
            if !self.space.initial(index, &mut out) {
                break;
            }
            let hash = self.store.hash(&out);
            let (is_dead, is_mine) = (self.space.is_dead(), owner(hash, self.seat.workers()) == self.seat.me());
            // An initial state that is a fault is nobody's.
            if is_dead && self.seat.me() == 0 || !is_dead && is_mine {
                let violates = self.job.assertions && self.space.violation().is_some();
                self.statistics.atomic_steps += u64::from(self.space.atomic_steps());
                if violates {
                    self.find(Asked::Assertions, 0, None);
                }
                if is_dead {
                    self.cut();
                } else {
                    self.count_arrival(&out);
                    self.arrive(&out, hash, Origin(None), 0);
                }
            }
            self.rest()?;
            if self.is_ending() {
                break;
            }
        }
        self.out = out;
        self.last = self.newest;
        // What is found so far is known to all before the first level.
        let sums = self.seat.round(&[0], |_, _| {});
        sums.map(|_| ())
    }

    /// Expands the states of this level; how many there are.
    fn expand_level(
        &mut self,
        mut expand: impl FnMut(&mut Self, Handle) -> Result<(), Interrupted>,
    ) -> Result<u64, Interrupted> {
        let mut next = match self.before {
            None => self.store.first(),
            Some(before) => self.store.after(before),
        };
        let mut expanded = 0;
        while let Some(state) = next.filter(|state| Some(*state) <= self.last) {
            if self.is_ending() {
                break;
            }
            expanded += 1;
            self.pending -= 1;
            expand(self, state)?;
            self.rest()?;
            next = self.store.after(state);
        }
        self.store_own();
        Ok(expanded)
    }

    /// The job is to end before the level does.
    fn is_ending(&self) -> bool {
        self.seat.is_stopped || matches!(self.ended, Some(Reason::Memory | Reason::Unsupported(_)))
    }

    /// Looks for messages now and then.
    #[inline]
    fn rest(&mut self) -> Result<(), Interrupted> {
        self.countdown -= 1;
        if self.countdown > 0 {
            return Ok(());
        }
        self.countdown = POLL_EVERY;
        while let Some(message) = self.seat.poll()? {
            self.take(message);
        }
        self.tell();
        Ok(())
    }

    fn tell(&self) {
        self.seat.tell(&TallySnapshot {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            pending: self.pending,
            memory: self.store.bytes() as u64,
            ..TallySnapshot::default()
        });
    }

    /// Expands a state with all its transitions.
    fn expand(&mut self, source: Handle) -> Result<(), Interrupted> {
        if self.level < self.job.max_depth && self.expand_at_once(source) {
            return Ok(());
        }
        let mut listed = std::mem::take(&mut self.listed);
        listed.clear();
        let mut is_all = self.space.list(self.store.get(source), None, &mut listed);
        if listed.is_empty() {
            self.leaf(source);
        } else if self.level >= self.job.max_depth {
            self.ended.get_or_insert(Reason::Depth);
            listed.clear();
        }
        while let Some(&last) = listed.last() {
            for transition in &listed {
                self.step(source, transition, None);
            }
            listed.clear();
            if !is_all {
                is_all = self.space.list(self.store.get(source), Some(&last), &mut listed);
            }
        }
        self.listed = listed;
        Ok(())
    }

    /// Expands a state if the space finds all successors together.
    #[inline]
    fn expand_at_once(&mut self, source: Handle) -> bool {
        let mut targets = std::mem::take(&mut self.targets);
        targets.begin(source);
        let is_done = self.space.targets(self.store.get(source), &mut targets);
        if is_done {
            let mut is_leaf = true;
            for (state, atomic_steps, is_transient) in targets.iter() {
                is_leaf = false;
                let statistics = &mut self.statistics;
                statistics.atomic_steps += u64::from(atomic_steps) + u64::from(is_transient);
                statistics.transitions += u64::from(!is_transient);
                self.reach(source, state);
            }
            for transition in targets.without_target() {
                is_leaf = false;
                self.step(source, transition, None);
            }
            if is_leaf {
                self.leaf(source);
            }
        }
        self.targets = targets;
        is_done
    }

    /// Takes a transition: its target goes to its owner. Whoever waits for an answer is named. True if there is no target,
    /// because the transition is a fault.
    fn step(&mut self, source: Handle, transition: &Transition, waiting: Option<u32>) -> bool {
        let mut out = std::mem::take(&mut self.out);
        self.space.target(self.store.get(source), transition, &mut out);
        self.statistics.atomic_steps += u64::from(self.space.atomic_steps());
        if self.job.assertions && self.space.violation().is_some() {
            self.find(Asked::Assertions, self.level + 1, Some(source));
        }
        let is_dead = self.space.is_dead();
        if is_dead {
            self.cut();
        } else {
            self.count_arrival(&out);
            self.send(source, &out, waiting);
        }
        self.out = out;
        is_dead
    }

    /// Counts an arrival, which has a target.
    #[inline]
    fn count_arrival(&mut self, state: &[u8]) {
        let is_transient = self.space.is_transient(state);
        *if is_transient { &mut self.statistics.atomic_steps } else { &mut self.statistics.transitions } += 1;
    }

    /// A transition leads to a state, and nobody waits for what its owner says.
    #[inline]
    fn reach(&mut self, source: Handle, state: &[u8]) {
        let hash = self.store.hash(state);
        let to = owner(hash, self.seat.workers());
        if to != self.seat.me() {
            if self.recent.is_new(state, hash, |one, other| self.store.same(one, other)) {
                self.post(source, state, to, None);
            }
            return;
        }
        self.store.prefetch(hash);
        self.own.push(Arriving::added(state, hash, source, &mut self.own_bytes));
        if self.own.len() == TOGETHER {
            self.store_own();
        }
    }

    /// Stores what this worker has reached and owns.
    fn store_own(&mut self) {
        let (own, bytes) = (std::mem::take(&mut self.own), std::mem::take(&mut self.own_bytes));
        self.arrive_together(self.seat.me(), &own, &bytes);
        (self.own, self.own_bytes) = (own, bytes);
        self.own.clear();
        self.own_bytes.clear();
    }

    /// Arrives at states whose places in the table have been asked for.
    #[inline]
    fn arrive_together(&mut self, from: usize, states: &[Arriving], bytes: &[u8]) {
        states.iter().for_each(|one| self.store.prefetch_state(one.hash));
        for one in states {
            if self.is_ending() {
                return;
            }
            let origin = Origin(one.source.map(|source| (from as u16, source)));
            let reached = self.arrive(one.state(bytes), one.hash, origin, self.level + 1);
            let [waiting, _] = one.numbers;
            if waiting > 0 && reached.is_some_and(|reached| self.is_next(reached)) {
                self.seat.exchange.append(ANSWERS, from, |bytes| write_number(waiting - 1, bytes));
            }
        }
    }

    #[inline]
    fn send(&mut self, source: Handle, state: &[u8], waiting: Option<u32>) {
        let hash = self.store.hash(state);
        let to = owner(hash, self.seat.workers());
        if to == self.seat.me() {
            let origin = Origin(Some((self.seat.me() as u16, source)));
            let reached = self.arrive(state, hash, origin, self.level + 1);
            if let Some(waiting) = waiting {
                let is_next = reached.is_some_and(|reached| self.is_next(reached));
                self.waiting[waiting as usize].has_escaped |= is_next;
            }
            return;
        }
        self.post(source, state, to, waiting);
    }

    /// Puts a state into the next message for its owner.
    #[inline]
    fn post(&mut self, source: Handle, state: &[u8], to: usize, waiting: Option<u32>) {
        self.announced.announce(self.seat, self.space.inner(), state, to);
        self.seat.exchange.append(STATES, to, |bytes| {
            bytes.extend_from_slice(&source.number().to_le_bytes()[..HANDLE]);
            // Zero, if nobody waits.
            write_number(waiting.map_or(0, |waiting| u64::from(waiting) + 1), bytes);
            write_number(state.len() as u64, bytes);
            bytes.extend_from_slice(state);
        });
    }

    /// The state belongs to the next level, and is no state that is only passed through.
    fn is_next(&mut self, state: Handle) -> bool {
        Some(state) > self.last && !self.space.is_transient(self.store.get(state))
    }

    /// Arrives at a state that this worker owns.
    fn arrive(&mut self, state: &[u8], hash: u64, origin: Origin, depth: u64) -> Option<Handle> {
        match self.store.insert_hashed(state, hash, origin) {
            Inserted::New(new) => {
                self.newest = Some(new);
                self.pending += 1;
                let is_transient = self.space.is_transient(state);
                let statistics = &mut self.statistics;
                *if is_transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
                statistics.depth = statistics.depth.max(depth);
                if !is_transient {
                    self.look_at(state, new, depth);
                }
                Some(new)
            }
            Inserted::Seen(seen) => Some(seen),
            Inserted::Full => {
                self.ended = Some(Reason::Memory);
                self.seat.stop_all();
                None
            }
        }
    }

    /// Looks at the invariants in a new state.
    #[inline]
    fn look_at(&mut self, state: &[u8], new: Handle, depth: u64) {
        let mut next = 0;
        while let Some(&number) = self.open.get(next) {
            if self.space.invariant(number, state) {
                next += 1;
            } else {
                self.open.remove(next);
                self.find(Asked::Invariant(number), depth, Some(new));
            }
        }
    }

    /// Nothing is enabled in the state.
    #[cold]
    fn leaf(&mut self, handle: Handle) {
        let state = self.store.get(handle);
        if self.job.deadlock && !self.space.is_transient(state) && !self.space.is_valid_end(state) {
            self.find(Asked::Deadlock, self.level, Some(handle));
        }
    }

    /// Something is violated. Worker 0 is told when this worker finds something of that kind for the first time.
    #[cold]
    fn find(&mut self, asked: Asked, depth: u64, state: Option<Handle>) {
        if self.found.iter().any(|found| found.asked == asked) {
            return;
        }
        self.found.push(Found { asked, depth, state: state.map_or(0, Handle::number) });
        if self.seat.me() == 0 {
            self.found_by_somebody(asked);
        } else {
            let text = serde_json::to_vec(&asked).unwrap_or_default();
            self.seat.exchange.send(FOUND, 0, text);
        }
    }

    /// Of worker 0: if there is nothing left to look for, all workers shall end.
    fn found_by_somebody(&mut self, asked: Asked) {
        if !self.known.contains(&asked) {
            self.known.push(asked);
        }
        let job = self.job;
        let all = usize::from(job.deadlock) + usize::from(job.assertions) + job.invariants.len();
        if job.stop_at_first || self.known.len() == all {
            self.seat.stop_all();
        }
    }

    /// A transition was a fault.
    #[cold]
    fn cut(&mut self) {
        let by = self.space.culprit();
        let space = &self.space;
        let new = || Cut { by, message: space.violation().unwrap_or_default(), count: 0 };
        self.cuts.entry(by).or_insert_with(new).count += 1;
    }

    fn take(&mut self, message: Message) {
        match message.kind {
            STATES => self.take_states(message.from, &message.bytes),
            PROCESSES => self.learn(&message.bytes),
            ANSWERS => self.take_answers(&message.bytes),
            FOUND => {
                if let Ok(asked) = serde_json::from_slice(&message.bytes) {
                    self.found_by_somebody(asked);
                }
            }
            _ => {}
        }
    }

    /// Another worker tells which processes are behind a number.
    fn learn(&mut self, bytes: &[u8]) {
        if !Announced::learn(self.space.inner(), bytes) {
            self.ended = Some(Reason::Unsupported(NUMBERED_TWICE.into()));
            self.seat.stop_all();
        }
    }

    /// Other workers have reached states that this one owns.
    fn take_states(&mut self, from: usize, bytes: &[u8]) {
        let mut arriving = std::mem::take(&mut self.arriving);
        let mut at = 0;
        while !self.is_ending() {
            arriving.clear();
            while arriving.len() < TOGETHER
                && let Some((mut one, end)) = Arriving::read(bytes, at, 1)
            {
                at = end;
                one.hash = self.store.hash(one.state(bytes));
                debug_assert_eq!(owner(one.hash, self.seat.workers()), self.seat.me());
                self.store.prefetch(one.hash);
                arriving.push(one);
            }
            if arriving.is_empty() {
                break;
            }
            self.arrive_together(from, &arriving, bytes);
        }
        self.arriving = arriving;
    }

    fn take_answers(&mut self, mut bytes: &[u8]) {
        while let Some(waiting) = read_number(&mut bytes) {
            self.waiting[waiting as usize].has_escaped = true;
        }
    }

    /// The last round of a level: what others have reached is taken in, and the next level begins. True if there is none.
    fn ends_level(&mut self, expanded: u64) -> Result<bool, Interrupted> {
        let sums = self.exchange_round(&[expanded, 0])?;
        self.before = self.last;
        self.last = self.newest;
        self.level += 1;
        if sums[2] > 0 {
            // Unless everything is found that was looked for.
            self.ended.get_or_insert(Reason::Interrupted);
        }
        Ok(sums[0] == 0 || sums[2] > 0)
    }

    /// Ends a round of a level. The last of the sums says how many workers want to end the job.
    fn exchange_round(&mut self, numbers: &[u64]) -> Result<Vec<u64>, Interrupted> {
        let mut numbers = numbers.to_vec();
        numbers.push(u64::from(self.is_ending()));
        self.seat.exchange.close(&numbers);
        while let Some(message) = self.seat.receive()? {
            self.take(message);
        }
        self.tell();
        Ok(self.seat.exchange.next_round())
    }

    /// Worker 0 learns what all have found.
    fn finish(mut self) -> Result<SafetyFound, Interrupted> {
        self.statistics.state_bytes = self.store.state_bytes() as u64;
        self.statistics.store_bytes = self.store.bytes() as u64;
        let report = WorkerReport {
            found: std::mem::take(&mut self.found),
            cuts: self.cuts.values().map(|cut| (cut.by, cut.message.clone(), cut.count)).collect(),
            statistics: self.statistics.clone(),
            ended: self.ended.clone(),
            limit: self.space.inner().limit_reached(),
        };
        self.seat.exchange.send(REPORT, 0, serde_json::to_vec(&report).unwrap_or_default());
        let mut reports: Vec<(usize, WorkerReport)> = Vec::new();
        self.seat.round(&[], |_, message| {
            if message.kind == REPORT {
                reports.extend(serde_json::from_slice(&message.bytes).ok().map(|report| (message.from, report)));
            }
        })?;
        reports.sort_by_key(|(worker, _)| *worker);
        let (mut found, violations) = joined(reports, self.job);
        let ends: Vec<(usize, Handle)> =
            violations.iter().filter_map(|(worker, one)| Some((*worker, Handle::from_number(one.state)?))).collect();
        let mut runs = trace(self.seat, &self.store, |origin| origin, &ends)?.into_iter();
        for (_, one) in &violations {
            let states = if one.state == 0 { Vec::new() } else { runs.next().unwrap_or_default() };
            let violates = one.asked == Asked::Assertions;
            let trace = Some(Trace { states, violates });
            match one.asked {
                Asked::Deadlock => found.deadlock = trace,
                Asked::Assertions => found.assertions = trace,
                Asked::Invariant(number) => found.invariants[number] = trace,
            }
        }
        Ok(found)
    }
}

impl<P: OfCompiled + Partial, V: Visible> Search<'_, '_, P, V> {
    /// Takes what is in persistent sets.
    fn reduced(mut self) -> Result<SafetyFound, Interrupted> {
        self.begin()?;
        let mut enabled = Vec::new();
        loop {
            self.waiting.clear();
            self.chosen.clear();
            let expanded = self.expand_level(|this, state| {
                this.expand_some(state, &mut enabled);
                Ok(())
            })?;
            if self.has_proviso {
                let sums = self.exchange_round(&[expanded, self.waiting.len() as u64])?;
                if sums[1] > 0 && sums[2] == 0 {
                    self.exchange_round(&[0, 0])?;
                    self.expand_rest(&mut enabled)?;
                }
            }
            if self.ends_level(expanded)? {
                return self.finish();
            }
        }
    }

    /// Expands a state with a persistent set.
    fn expand_some(&mut self, source: Handle, enabled: &mut Vec<Labelled<Transition>>) {
        let state = self.store.get(source);
        enabled.clear();
        self.space.enabled(state, enabled);
        if enabled.is_empty() {
            return self.leaf(source);
        }
        if self.level >= self.job.max_depth {
            self.ended.get_or_insert(Reason::Depth);
            return;
        }
        let begin = self.chosen.len();
        let is_transient = self.space.is_transient(state);
        if !is_transient {
            let mut set = std::mem::take(&mut self.set);
            set.clear();
            self.space.persistent(state, enabled, &mut set);
            self.chosen.extend_from_slice(&set);
            self.set = set;
        }
        let count = self.chosen.len() - begin;
        let mut waiting = None;
        if is_transient || count == enabled.len() {
            self.chosen.truncate(begin);
            self.take_all(source, enabled, |_| true);
            return;
        }
        if self.has_proviso && self.space.may_matter(self.store.get(source)) {
            waiting = Some(self.waiting.len() as u32);
            self.waiting.push(Waiting { state: source, chosen: begin, has_escaped: false });
        }
        let mut is_fault = false;
        for next in begin..self.chosen.len() {
            let transition = enabled[self.chosen[next] as usize].transition;
            is_fault |= self.step(source, &transition, waiting);
        }
        if is_fault {
            // A run ends there: everything else is taken as well.
            let chosen = self.chosen[begin..].to_vec();
            self.take_all(source, enabled, |position| !chosen.contains(&position));
            if let Some(waiting) = waiting {
                self.waiting[waiting as usize].has_escaped = true;
            }
        }
        if waiting.is_none() {
            self.chosen.truncate(begin);
        }
    }

    fn take_all(&mut self, source: Handle, enabled: &[Labelled<Transition>], is_wanted: impl Fn(u32) -> bool) {
        for (position, labelled) in enabled.iter().enumerate() {
            if is_wanted(position as u32) {
                self.step(source, &labelled.transition, None);
            }
        }
    }

    /// Expands fully what has no new successor.
    fn expand_rest(&mut self, enabled: &mut Vec<Labelled<Transition>>) -> Result<(), Interrupted> {
        let waiting = std::mem::take(&mut self.waiting);
        for (position, one) in waiting.iter().enumerate().filter(|(_, one)| !one.has_escaped) {
            if self.is_ending() {
                break;
            }
            let end = waiting.get(position + 1).map_or(self.chosen.len(), |next| next.chosen);
            let chosen = self.chosen[one.chosen..end].to_vec();
            enabled.clear();
            self.space.enabled(self.store.get(one.state), enabled);
            self.take_all(one.state, enabled, |position| !chosen.contains(&position));
            self.rest()?;
        }
        self.waiting = waiting;
        Ok(())
    }
}

/// Of each kind the nearest violation, and everything that was counted.
fn joined(reports: Vec<(usize, WorkerReport)>, job: &SafetyJob) -> (SafetyFound, Vec<(usize, Found)>) {
    let mut found = SafetyFound { invariants: vec![None; job.invariants.len()], ..SafetyFound::default() };
    let mut violations: BTreeMap<Asked, (usize, Found)> = BTreeMap::new();
    let mut cuts: BTreeMap<Option<Culprit>, Cut> = BTreeMap::new();
    let mut limit = None;
    for (worker, report) in reports {
        for one in report.found {
            let nearest = violations.entry(one.asked).or_insert((worker, one));
            if one.depth < nearest.1.depth {
                *nearest = (worker, one);
            }
        }
        for (by, message, count) in report.cuts {
            cuts.entry(by).or_insert_with(|| Cut { by, message, count: 0 }).count += count;
        }
        let (all, one) = (&mut found.statistics, report.statistics);
        all.states += one.states;
        all.atomic_states += one.atomic_states;
        all.transitions += one.transitions;
        all.atomic_steps += one.atomic_steps;
        all.depth = all.depth.max(one.depth);
        all.store_bytes += one.store_bytes;
        all.state_bytes = all.state_bytes.max(one.state_bytes);
        // Where one worker has no room left, all others are interrupted.
        let is_why = matches!(report.ended, Some(Reason::Memory | Reason::Depth | Reason::Unsupported(_)));
        if is_why && found.ended != Some(Reason::Memory) || found.ended.is_none() {
            found.ended = report.ended;
        }
        limit = limit.or(report.limit);
    }
    found.cuts = cuts.into_values().collect();
    if let Some(limit) = limit {
        // A step that could not be represented is no fault of the model, and not an answer.
        violations.remove(&Asked::Assertions);
        found.cuts.clear();
        if !matches!(limit, Reason::Unsupported(_)) {
            violations.remove(&Asked::Deadlock);
        }
        found.ended = Some(limit);
    }
    let all = usize::from(job.deadlock) + usize::from(job.assertions) + job.invariants.len();
    if all > 0 && (violations.len() == all || job.stop_at_first && !violations.is_empty()) {
        found.ended = None;
    }
    let statistics = &mut found.statistics;
    statistics.complete = found.ended.is_none();
    statistics.counts_transitions = true;
    statistics.counts_depth = true;
    statistics.memory_bytes = statistics.store_bytes;
    (found, violations.into_values().collect())
}
