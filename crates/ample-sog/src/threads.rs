//! Several threads on one graph (Chapter 3 of the thesis), and aggregates on demand for a checker that follows it
//! (§7.2.2).
//!
//! Every thread has an engine of its own, with its own nodes and its own cache of operations, and what two threads both
//! need of these they both make. So threads should work on different parts of the state space: the waiting aggregates are
//! sorted by one state of each, the first of two threads takes them from the beginning and the second from the end. What
//! a thread expands one after the other is similar then, which finds more in the cache, also if there is one thread only. Other
//! distributions can be chosen: a thread that finds a new aggregate puts it on the stack of the thread with the fewest
//! waiting ones (as in the thesis), or on its own, from which idle threads steal the oldest. What a thread has made itself it need
//! not read again.
//!
//! The thesis looks at the loads of all threads to see whether it is done, which may be seen too early. Here one counter
//! tells how many aggregates are not yet expanded; it goes up before an aggregate is put anywhere, and down when all its
//! successors have been counted.
//!
//! On demand, nothing is expanded that the checker has not asked for, and it asks for one aggregate at a time (§7.2.3). So that
//! there is work for several threads, they divide what it takes to expand one: each takes an observed action at a time, and
//! computes where it leads. Node tables belong to one thread each, so that a single closure is not divided.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use ample_budget::{Budget, Cancellation, Progress};
use serde::{Deserialize, Serialize};

use crate::aggregate::{Facts, arcs_by, closed, facts, first, successors};
use crate::canonical::{Canonical, kept_nodes, representatives};
use crate::graph::Graph;
use crate::model::{Error, Labelled, Maybe, Model};
use crate::observed::{Label, Observed};
use crate::table::{Entry, Expansion, Id, Table, lock};
use ample_symbolic::Portable;

/// Who gets a new aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Balance {
    /// The thread that works on similar ones: aggregates are sorted, and threads take them from different places.
    #[default]
    Order,
    /// The thread that made it; others steal what has waited longest (work stealing).
    Steal,
    /// The thread with the fewest waiting.
    MinLoad,
}

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// How many threads, at least one.
    pub threads: usize,
    /// Who gets what.
    pub balance: Balance,
    /// What is kept of an aggregate.
    pub canonical: Canonical,
    /// The sets of all aggregates as bytes may need so much room.
    pub max_bytes: u64,
    /// What the work may take.
    pub budget: Budget,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            threads: 1,
            balance: Balance::default(),
            canonical: Canonical::default(),
            max_bytes: 1 << 30,
            budget: Budget::unlimited(),
        }
    }
}

/// What the threads did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// How many aggregates each thread expanded.
    pub expanded: Vec<usize>,
    /// How many aggregates a thread got from another, and their bytes.
    pub received: usize,
    /// The bytes of these.
    pub received_bytes: u64,
}

/// Recursion in diagrams goes as deep as there are levels.
pub(crate) const STACK: usize = 256 << 20;
/// So many sets are kept by the thread that made them.
const MOST_KEPT: usize = 1 << 16;
/// So many aggregates a thread knows again without their bytes.
const MOST_KNOWN: usize = 1 << 16;
/// How long an idle thread sleeps before it looks again.
const NAP: Duration = Duration::from_millis(1);

/// The bytes of a set, or of states from which it can be made.
#[derive(Clone)]
enum Parcel {
    Whole(Arc<[u8]>),
    Representatives(Arc<[u8]>),
}

/// An aggregate to be expanded; `from` is the thread that made it.
struct Task {
    id: Id,
    from: usize,
    parcel: Parcel,
}

/// The place of an aggregate among those that wait: a state of it, the last level first, and its number.
type Place = (Vec<u64>, Id);

/// An aggregate that several threads expand together: part 0 is what it is like, the others are its arcs by an action each.
struct Job {
    id: Id,
    entry: Arc<Entry>,
    /// The first part that nobody has begun with.
    next: AtomicUsize,
    /// How many parts are not done.
    left: AtomicUsize,
    found: Mutex<Parts>,
}

/// What was found of an aggregate so far.
#[derive(Default)]
struct Parts {
    facts: Option<Facts>,
    arcs: Vec<(Option<usize>, Id)>,
}

/// What builders share.
pub(crate) struct Site<'a> {
    pub table: Table,
    observed: &'a Observed,
    balance: Balance,
    canonical: Canonical,
    stacks: Vec<Mutex<VecDeque<Task>>>,
    loads: Vec<AtomicUsize>,
    /// What waits, if aggregates are sorted.
    sorted: Mutex<BTreeMap<Place, Task>>,
    /// What a checker is waiting for, while others are expanded too.
    wanted: Mutex<Vec<Id>>,
    /// The same if only this is expanded; the last one comes first.
    jobs: Mutex<Vec<Arc<Job>>>,
    /// Aggregates that are not yet expanded; one more until the initial ones are there.
    pending: AtomicUsize,
    /// Builders do only what is wanted.
    on_demand: bool,
    /// Builders should end.
    cancellation: Cancellation,
    /// What builders may take; it ends when they should.
    budget: Budget,
    error: Mutex<Option<Error>>,
    bell: (Mutex<()>, Condvar),
    received: AtomicUsize,
    received_bytes: AtomicU64,
}

impl<'a> Site<'a> {
    pub fn new(observed: &'a Observed, options: &BuildOptions, on_demand: bool) -> Site<'a> {
        let threads = options.threads.max(1);
        let cancellation = Cancellation::new();
        let budget = options.budget.clone().with_cancellation(&cancellation);
        Site {
            table: Table::new(options.max_bytes),
            observed,
            balance: options.balance,
            canonical: options.canonical,
            stacks: (0..threads).map(|_| Mutex::default()).collect(),
            loads: (0..threads).map(|_| AtomicUsize::new(0)).collect(),
            sorted: Mutex::default(),
            wanted: Mutex::default(),
            jobs: Mutex::default(),
            pending: AtomicUsize::new(1),
            on_demand,
            cancellation,
            budget,
            error: Mutex::default(),
            bell: Default::default(),
            received: AtomicUsize::new(0),
            received_bytes: AtomicU64::new(0),
        }
    }

    /// Everything is expanded.
    fn is_complete(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    fn has_ended(&self) -> bool {
        self.is_complete() || self.cancellation.is_cancelled()
    }

    fn ring(&self) {
        let _held = lock(&self.bell.0);
        self.bell.1.notify_all();
    }

    fn nap(&self, most: Duration) {
        let held = lock(&self.bell.0);
        let _ = self.bell.1.wait_timeout(held, most).unwrap_or_else(PoisonError::into_inner);
    }

    /// Ends all builders, because of this unless there was another reason before.
    fn fail(&self, why: Error) {
        lock(&self.error).get_or_insert(why);
        self.end();
    }

    /// Ends all builders.
    pub fn end(&self) {
        self.cancellation.cancel();
        self.ring();
    }

    fn push_to(&self, to: usize, task: Task) {
        self.loads[to].fetch_add(1, Ordering::Relaxed);
        lock(&self.stacks[to]).push_back(task);
        if self.stacks.len() > 1 {
            self.ring();
        }
    }

    fn push_sorted(&self, state: Vec<u64>, task: Task) {
        lock(&self.sorted).insert((state, task.id), task);
        if self.stacks.len() > 1 {
            self.ring();
        }
    }

    /// The next aggregate of a thread: the first, the last, or for those between the one that is nearest to where the thread has
    /// been.
    fn pop_sorted(&self, me: usize, been: &mut Option<Place>) -> Option<Task> {
        let mut sorted = lock(&self.sorted);
        let (place, task) = match been.take() {
            _ if me == 0 => sorted.pop_first()?,
            Some(been) if me + 1 < self.stacks.len() => {
                let near = sorted.range(&been..).next().or_else(|| sorted.range(..&been).next_back())?.0.clone();
                sorted.remove_entry(&near)?
            }
            _ => sorted.pop_last()?,
        };
        *been = Some(place);
        Some(task)
    }

    /// The thread that would get an aggregate now.
    fn receiver(&self, me: usize) -> usize {
        let load = |thread: &usize| (self.loads[*thread].load(Ordering::Relaxed), *thread != me);
        (0..self.loads.len()).min_by_key(load).unwrap_or(me)
    }

    fn pop(&self, me: usize, been: &mut Option<Place>) -> Option<Task> {
        if let Some(task) = self.pop_wanted() {
            return Some(task);
        }
        if self.balance == Balance::Order {
            return self.pop_sorted(me, been);
        }
        let count = self.stacks.len();
        let others = if self.balance == Balance::Steal { count } else { 1 };
        for victim in (0..others).map(|distance| (me + distance) % count) {
            let mut stack = lock(&self.stacks[victim]);
            let task = if victim == me { stack.pop_back() } else { stack.pop_front() };
            drop(stack);
            if let Some(task) = task {
                self.loads[victim].fetch_sub(1, Ordering::Relaxed);
                return Some(task);
            }
        }
        None
    }

    fn pop_wanted(&self) -> Option<Task> {
        let id = lock(&self.wanted).pop()?;
        Some(self.wanted_task(id))
    }

    fn wanted_task(&self, id: Id) -> Task {
        let bytes = Arc::clone(&self.table.entry(id).bytes);
        let parcel =
            if self.canonical == Canonical::Full { Parcel::Representatives(bytes) } else { Parcel::Whole(bytes) };
        // Whoever made it may still have it; whether it is this thread is not known here.
        Task { id, from: usize::MAX, parcel }
    }

    /// What is there to expand together with others.
    fn job(&self) -> Option<Arc<Job>> {
        let mut jobs = lock(&self.jobs);
        while let Some(job) = jobs.last() {
            if job.next.load(Ordering::Relaxed) < self.parts() {
                return Some(Arc::clone(job));
            }
            jobs.pop();
        }
        None
    }

    /// How many parts there are in an expansion.
    fn parts(&self) -> usize {
        1 + self.observed.actions.len() + usize::from(!self.observed.is_quiet)
    }

    /// An aggregate is wanted and comes next.
    fn want(&self, id: Id, entry: &Arc<Entry>) {
        if !self.on_demand {
            lock(&self.wanted).push(id);
        } else if entry.claim() {
            let parts = self.parts();
            lock(&self.jobs).push(Arc::new(Job {
                id,
                entry: Arc::clone(entry),
                next: AtomicUsize::new(0),
                left: AtomicUsize::new(parts),
                found: Mutex::default(),
            }));
        }
        self.ring();
    }

    /// The initial aggregates, once they are there.
    pub fn initial(&self, budget: &Budget) -> Maybe<Vec<Id>> {
        loop {
            if let Some(initial) = self.table.initial() {
                return Ok(initial.to_vec());
            }
            self.wait(budget)?;
        }
    }

    /// Waits until an aggregate is expanded; it comes next if nobody has begun with it.
    pub fn expansion(&self, id: Id, budget: &Budget) -> Maybe<Arc<Entry>> {
        let entry = self.table.entry(id);
        if entry.expansion().is_none() {
            self.want(id, &entry);
        }
        while entry.expansion().is_none() {
            self.wait(budget)?;
        }
        Ok(entry)
    }

    fn wait(&self, budget: &Budget) -> Maybe<()> {
        budget.check()?;
        if self.cancellation.is_cancelled() {
            return Err(lock(&self.error).clone().unwrap_or(Error::Cancelled));
        }
        self.nap(NAP);
        Ok(())
    }

    /// The whole graph, if all is expanded.
    pub fn graph(&self) -> Option<Graph> {
        self.is_complete().then(|| self.table.graph(self.observed, self.canonical == Canonical::Full)).flatten()
    }

    /// Lets threads work; `meanwhile` runs in this one and must come to an end when `cancellation` is set.
    pub fn work<M: Model, T>(&self, model: &M, share: usize, meanwhile: impl FnOnce() -> T) -> Maybe<(T, Work)> {
        std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for me in 0..self.stacks.len() {
                let builder = std::thread::Builder::new().name(format!("builder {me}")).stack_size(STACK);
                match builder.spawn_scoped(scope, move || self.builder(model, me, share)) {
                    Ok(handle) => handles.push(handle),
                    Err(error) => self.fail(Error::Unsupported(format!("no thread for the graph: {error}"))),
                }
            }
            let result = meanwhile();
            let mut work = Work { expanded: Vec::new(), received: 0, received_bytes: 0 };
            for handle in handles {
                match handle.join() {
                    Ok(expanded) => work.expanded.push(expanded),
                    Err(_) => self.fail(Error::Internal("a builder has failed".into())),
                }
            }
            work.received = self.received.load(Ordering::Relaxed);
            work.received_bytes = self.received_bytes.load(Ordering::Relaxed);
            Ok((result, work))
        })
    }

    /// Why builders have ended before they were done.
    pub fn error(&self) -> Option<Error> {
        lock(&self.error).clone()
    }

    fn builder<M: Model>(&self, model: &M, me: usize, share: usize) -> usize {
        // A thread that fails must not let the others wait for it.
        let alarm = Alarm { site: self };
        let mut expanded = 0;
        if let Err(why) = model.with_stack(|| self.run(model, me, share, &mut expanded)) {
            self.fail(why);
        }
        std::mem::forget(alarm);
        self.ring();
        expanded
    }

    fn run<M: Model>(&self, model: &M, me: usize, share: usize, expanded: &mut usize) -> Maybe<()> {
        // One of them tells how it goes.
        let (outer, figures) = (self.budget.clone(), self.table.figures());
        let mut budget = self.budget.clone().without_sinks();
        if me == 0 {
            budget = budget.with_sink(move |progress| outer.tell(&figures.with(progress)));
        }
        let sets = model.sets(share, &budget)?;
        let mut builder = Builder { site: self, me, sets, kept: HashMap::new(), known: HashMap::new() };
        if me == 0 {
            builder.begin()?;
        }
        let mut been = None;
        while self.on_demand && !self.has_ended() {
            match self.job() {
                Some(job) => {
                    *expanded += usize::from(builder.help(&job)?);
                    budget.tell(&Progress::default());
                }
                None => {
                    self.nap(NAP);
                    budget.check()?;
                }
            }
        }
        while !self.has_ended() {
            let Some(task) = self.pop(me, &mut been) else {
                self.nap(NAP);
                budget.check()?;
                continue;
            };
            let entry = self.table.entry(task.id);
            if entry.claim() {
                builder.expand(&entry, &task)?;
                *expanded += 1;
                budget.tell(&Progress::default());
            }
        }
        Ok(())
    }
}

/// Ends all builders if its own ends without having said so.
struct Alarm<'s, 'a> {
    site: &'s Site<'a>,
}

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        self.site.fail(Error::Internal("a builder has failed".into()));
    }
}

/// One thread's part.
struct Builder<'s, 'a, S: Portable> {
    site: &'s Site<'a>,
    me: usize,
    sets: Labelled<S>,
    /// Sets that it made and has not expanded.
    kept: HashMap<Id, S::Set>,
    /// Sets that it has seen, by their digests: most arcs lead to one of them.
    known: HashMap<u64, (Label, S::Set, Id)>,
}

impl<S: Portable> Builder<'_, '_, S> {
    /// The initial aggregates.
    fn begin(&mut self) -> Maybe<()> {
        let mut initial = Vec::new();
        for (label, set) in first(&mut self.sets, self.site.observed)? {
            initial.push(self.insert(label, set)?);
        }
        self.site.table.set_initial(initial);
        self.count_down();
        Ok(())
    }

    fn count_down(&self) {
        self.site.pending.fetch_sub(1, Ordering::AcqRel);
        self.site.ring();
    }

    /// Does parts of an expansion as long as there are some; true if it has done the last.
    fn help(&mut self, job: &Job) -> Maybe<bool> {
        let site = self.site;
        let mut opened = None;
        loop {
            let part = job.next.fetch_add(1, Ordering::Relaxed);
            if part >= site.parts() {
                return Ok(false);
            }
            site.budget.check()?;
            match self.part(job, part, &mut opened) {
                Err(Error::Memory) if !self.kept.is_empty() || !self.known.is_empty() => {
                    self.kept.clear();
                    self.known.clear();
                    self.part(job, part, &mut opened)?;
                }
                done => done?,
            }
            if job.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                let Parts { facts, mut arcs } = std::mem::take(&mut *lock(&job.found));
                arcs.sort_unstable();
                arcs.dedup();
                let facts = facts.ok_or_else(|| Error::Internal("an aggregate without facts".into()))?;
                site.table.publish(&job.entry, Expansion { facts, arcs });
                self.count_down();
                return Ok(true);
            }
        }
    }

    fn part(&mut self, job: &Job, part: usize, opened: &mut Option<S::Set>) -> Maybe<()> {
        let site = self.site;
        let set = match opened.take() {
            Some(set) => set,
            None => self.open(&job.entry, &site.wanted_task(job.id))?,
        };
        let set = &*opened.insert(set);
        if part == 0 {
            let facts = self.facts(&job.entry, set)?;
            lock(&job.found).facts = Some(facts);
            return Ok(());
        }
        let action = site.observed.actions.get(part - 1).copied();
        for (action, label, to) in arcs_by(&mut self.sets, set, job.entry.label, action, site.observed)? {
            let id = self.insert(label, to)?;
            lock(&job.found).arcs.push((action, id));
        }
        Ok(())
    }

    fn facts(&mut self, entry: &Entry, set: &S::Set) -> Maybe<Facts> {
        let mut facts = facts(&mut self.sets, set, entry.label, self.site.observed)?;
        if self.site.canonical == Canonical::Full {
            facts.nodes = kept_nodes(&mut self.sets, &entry.bytes)?;
        }
        Ok(facts)
    }

    /// Expands an aggregate. Where the memory is full of sets that are only kept to save time, once more without them.
    fn expand(&mut self, entry: &Entry, task: &Task) -> Maybe<()> {
        match self.try_to_expand(entry, task) {
            Err(Error::Memory) if !self.kept.is_empty() || !self.known.is_empty() => {
                self.kept.clear();
                self.known.clear();
                self.try_to_expand(entry, task)
            }
            done => done,
        }
    }

    fn try_to_expand(&mut self, entry: &Entry, task: &Task) -> Maybe<()> {
        let site = self.site;
        let set = self.open(entry, task)?;
        let facts = self.facts(entry, &set)?;
        let leaving = successors(&mut self.sets, &set, entry.label, site.observed, &mut || Ok(site.budget.check()?))?;
        let mut arcs = Vec::with_capacity(leaving.len());
        for (action, label, set) in leaving {
            arcs.push((action, self.insert(label, set)?));
        }
        arcs.sort_unstable();
        arcs.dedup();
        site.table.publish(entry, Expansion { facts, arcs });
        self.count_down();
        Ok(())
    }

    /// The set of an aggregate that is to be expanded.
    fn open(&mut self, entry: &Entry, task: &Task) -> Maybe<S::Set> {
        if let Some(set) = self.kept.remove(&task.id) {
            return Ok(set);
        }
        let site = self.site;
        let (Parcel::Whole(bytes) | Parcel::Representatives(bytes)) = &task.parcel;
        if task.from != self.me {
            site.received.fetch_add(1, Ordering::Relaxed);
            site.received_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        let set = self.sets.decode(bytes)?;
        match &task.parcel {
            Parcel::Whole(_) => Ok(set),
            Parcel::Representatives(_) => closed(&mut self.sets, &set, site.observed, entry.label),
        }
    }

    /// Finds or inserts an aggregate.
    fn insert(&mut self, label: Label, set: S::Set) -> Maybe<Id> {
        let digest = self.sets.digest(&set);
        if let Some(digest) = digest
            && let Some((of, known, id)) = self.known.get(&digest)
            && (*of, known) == (label, &set)
        {
            return Ok(*id);
        }
        let id = self.find_or_insert(label, &set)?;
        if let Some(digest) = digest {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.insert(digest, (label, set, id));
        }
        Ok(id)
    }

    /// Finds or inserts an aggregate by its bytes; a new one is given to somebody.
    fn find_or_insert(&mut self, label: Label, set: &S::Set) -> Maybe<Id> {
        let site = self.site;
        let bytes = match site.canonical {
            Canonical::Full => self.reduced(set)?,
            Canonical::None | Canonical::Sent => self.sets.encode(set)?,
        };
        // Counted before others can find it; what this thread is expanding keeps the counter above zero.
        site.pending.fetch_add(1, Ordering::AcqRel);
        let found = site.table.find_or_insert(label, bytes);
        if !matches!(found, Ok((_, true))) {
            site.pending.fetch_sub(1, Ordering::AcqRel);
        }
        let (id, is_new) = found?;
        if is_new {
            self.give(id, set)?;
        }
        Ok(id)
    }

    /// A new aggregate is to be expanded by somebody.
    fn give(&mut self, id: Id, set: &S::Set) -> Maybe<()> {
        let site = self.site;
        let to = match site.balance {
            Balance::Order | Balance::Steal => self.me,
            Balance::MinLoad => site.receiver(self.me),
        };
        let bytes = || Arc::clone(&site.table.entry(id).bytes);
        let is_sent = site.balance != Balance::MinLoad || to != self.me;
        let parcel = match site.canonical {
            Canonical::Full => Parcel::Representatives(bytes()),
            Canonical::Sent if is_sent && !site.on_demand && site.stacks.len() > 1 => match self.reduced(set) {
                Ok(reduced) => Parcel::Representatives(reduced.into()),
                // It is in the table and must be given to somebody.
                Err(Error::Memory) => Parcel::Whole(bytes()),
                Err(why) => return Err(why),
            },
            Canonical::Sent | Canonical::None => Parcel::Whole(bytes()),
        };
        if to == self.me {
            if self.kept.len() >= MOST_KEPT {
                self.kept.clear();
            }
            self.kept.insert(id, set.clone());
        }
        let task = Task { id, from: self.me, parcel };
        match site.balance {
            // What is wanted is found by its number.
            _ if site.on_demand => {}
            Balance::Order => {
                // It is in the table and must be given to somebody, wherever it is sorted.
                let state = self.sets.pick(set).unwrap_or(None);
                let values = state.map_or_else(Vec::new, |state| self.sets.values(&state));
                site.push_sorted(values.into_iter().rev().collect(), task);
            }
            Balance::Steal | Balance::MinLoad => site.push_to(to, task),
        }
        Ok(())
    }

    fn reduced(&mut self, set: &S::Set) -> Maybe<Vec<u8>> {
        let kept = representatives(&mut self.sets, set, self.site.observed)?;
        Ok(self.sets.encode(&kept)?)
    }
}

/// Builds the graph with several threads. It is the same graph as [`build`](crate::build) gives.
pub fn build_with_threads<M: Model>(model: &M, observed: &Observed, options: &BuildOptions) -> Maybe<(Graph, Work)> {
    let site = Site::new(observed, options, false);
    let ((), work) = site.work(model, options.threads.max(1), || ())?;
    if let Some(why) = site.error() {
        return Err(why);
    }
    let missing = || Error::Internal("an aggregate was not expanded".into());
    Ok((site.graph().ok_or_else(missing)?, work))
}
