//! One worker's part of the construction.
//!
//! Rounds are only timestamps here: a worker never waits for others as long as there are aggregates to expand. It closes a round
//! when there is nothing to do in its process, or after a short time, and goes on; what it sends from then on belongs to the next
//! round. The construction is complete after a round in which nobody has sent anything and, at its end, nobody had anything left
//! to do: all that was sent before had arrived when the round began.
//!
//! Since workers of a process do each other's work, each of them tells at the end of a round what the whole process has sent since
//! its own last one, and whether the whole process has anything left. So what a worker does after it has closed a round, with
//! what another one has received in it, does not escape: that one closes the round later.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ample_model::Interrupted;
use ample_sog::aggregate::{closed, facts, first, successors};
use ample_sog::canonical::{kept_nodes, representatives};
use ample_sog::digest::digest;
use ample_sog::engine::SogError;
use ample_sog::model::Labelled;
use ample_sog::observed::Label;
use ample_sog::remote::{Moves, Source};
use ample_sog::{Canonical, Error, Observed};
use ample_symbolic::Portable;

use super::site::{Owners, Site};
use super::table::{Arcs, ByDigest, Entry};
use super::wire::{Expanded, Parcel, read_digest};
use super::{AGGREGATES, EXPANDED, WANTED};
use crate::control::TallySnapshot;
use crate::exchange::Message;
use crate::session::Seat;

/// A worker that has work closes a round after so long.
const SLICE: Duration = Duration::from_millis(1);
/// So many sets are kept by the worker that made and owns them.
const MOST_KEPT: usize = 1 << 16;
/// So many aggregates a worker knows again without their bytes.
const MOST_KNOWN: usize = 1 << 16;
/// A worker looks so often whether another one of its process has something for it to do.
const NAP: Duration = Duration::from_micros(200);

/// How the construction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// There is nothing left to do.
    Complete,
    /// Somebody has stopped it.
    Stopped,
}

/// The rounds of the construction.
pub(super) struct Post<'s, 'a> {
    pub(super) seat: &'s mut Seat<'a>,
    pub(super) site: Arc<Site>,
    inbox: VecDeque<Message>,
    is_closed: bool,
    /// When the round began.
    since: Instant,
    /// What the process had sent when the last round was closed.
    sent: u64,
    /// So many rounds ended since something was asked for in which nobody had anything to do.
    quiet: u32,
    /// The checker, which is with worker 0, has not come to its end.
    pub(super) is_searching: bool,
    /// Why this worker cannot go on.
    pub(super) failure: Option<SogError>,
    pub(super) over: Option<Over>,
}

impl<'s, 'a> Post<'s, 'a> {
    pub(super) fn new(seat: &'s mut Seat<'a>, site: Arc<Site>) -> Post<'s, 'a> {
        Post {
            seat,
            site,
            inbox: VecDeque::new(),
            is_closed: false,
            since: Instant::now(),
            sent: 0,
            quiet: 0,
            is_searching: false,
            failure: None,
            over: None,
        }
    }

    /// Writes a message into the next batch for a worker; how long it is.
    fn append(&mut self, kind: u8, to: usize, write: impl FnOnce(&mut Vec<u8>)) -> u64 {
        let mut length = 0;
        self.site.count_message();
        self.seat.exchange.append(kind, to, |batch| {
            let before = batch.len();
            write(batch);
            length = batch.len() - before;
        });
        length as u64
    }

    /// Something is to be expanded, or is being expanded, in this process.
    fn has_work(&self) -> bool {
        !self.seat.is_stopped && self.site.work().is_left()
    }

    /// Takes what has arrived, closes a round if it is time, and begins the next one if it is over.
    fn attend(&mut self) -> Result<(), Interrupted> {
        if self.over.is_some() {
            return Ok(());
        }
        while let Some(message) = self.seat.poll()? {
            self.inbox.push_back(message);
        }
        if self.is_closed {
            if self.seat.exchange.is_over() {
                self.begin_round();
            }
        } else if self.since.elapsed() >= SLICE || self.inbox.is_empty() && !self.has_work() {
            self.close();
        }
        Ok(())
    }

    fn close(&mut self) {
        // What is left first: who does it has sent everything when it is done.
        let has_work = self.has_work() || !self.inbox.is_empty();
        let sent = self.site.messages();
        let is_ending = self.failure.is_some() || self.seat.is_stopped;
        let numbers = [sent - self.sent, has_work.into(), self.is_searching.into(), is_ending.into()];
        self.seat.exchange.close(&numbers);
        self.sent = sent;
        self.is_closed = true;
    }

    fn begin_round(&mut self) {
        let sums = self.seat.exchange.next_round();
        self.is_closed = false;
        self.since = Instant::now();
        self.quiet = if sums[..2] == [0, 0] { self.quiet + 1 } else { 0 };
        self.over = match sums[..] {
            [.., ending] if ending > 0 => Some(Over::Stopped),
            [0, 0, 0, _] => Some(Over::Complete),
            _ => None,
        };
    }

    /// Waits for a message, for the end of the round if it is closed, or for something to do in this process.
    fn wait(&mut self) -> Result<(), Interrupted> {
        if !self.is_closed || self.has_work() {
            self.seat.budget.check()?;
            self.seat.exchange.wait(self.seat.worker, NAP);
            return Ok(());
        }
        match self.seat.receive()? {
            Some(message) => self.inbox.push_back(message),
            None => self.begin_round(),
        }
        Ok(())
    }
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) busy: Duration,
    /// Aggregates that it has expanded.
    pub(super) expanded: u64,
    /// Aggregates sent to other workers, and the bytes of these messages.
    pub(super) messages: u64,
    pub(super) message_bytes: u64,
    /// Aggregates received from others, and their bytes.
    pub(super) received: u64,
    pub(super) received_bytes: u64,
    /// Messages from and to the checker, and their bytes.
    pub(super) checker_messages: u64,
    pub(super) checker_bytes: u64,
}

/// What the checker has been told: aggregates by numbers of its own.
#[derive(Default)]
struct View {
    numbers: ByDigest<usize>,
    seen: Vec<Seen>,
}

#[derive(Default)]
struct Seen {
    digest: u128,
    is_wanted: bool,
    moves: Option<Moves>,
}

impl View {
    fn number(&mut self, digest: u128) -> usize {
        let next = self.seen.len();
        let number = *self.numbers.entry(digest).or_insert(next);
        if number == next {
            self.seen.push(Seen { digest, ..Seen::default() });
        }
        number
    }

    fn note(&mut self, told: Expanded) {
        let arcs = told.arcs.into_iter().map(|(action, to)| (action, self.number(to))).collect();
        let number = self.number(told.digest);
        self.seen[number].moves = Some(Moves { label: told.label, may_stay: told.may_stay, arcs });
    }
}

/// How the graph is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) canonical: Canonical,
    /// Worker 0 is told where aggregates lead.
    pub(super) is_checked: bool,
}

/// A worker that expands the aggregates that it owns.
pub(super) struct Builder<'s, 'a, 'o, S: Portable> {
    pub(super) post: Post<'s, 'a>,
    pub(super) sets: Labelled<S>,
    pub(super) done: Done,
    pub(super) owners: Owners,
    /// How long it had waited before, and what its process had sent over the network.
    before: (Duration, u64),
    /// Of worker 0: where runs begin.
    pub(super) initial: Vec<u128>,
    observed: &'o Observed,
    how: How,
    /// Sets that it made, that its process owns, and that it has not expanded.
    kept: HashMap<u32, S::Set>,
    /// Sets that it has seen: most arcs lead to one of them.
    known: HashMap<u64, (Label, S::Set, u128)>,
    view: View,
    arcs: u64,
}

impl<'s, 'a, 'o, S: Portable> Builder<'s, 'a, 'o, S> {
    pub(super) fn new(
        seat: &'s mut Seat<'a>,
        (site, owners): (Arc<Site>, Owners),
        sets: Labelled<S>,
        observed: &'o Observed,
        how: How,
    ) -> Builder<'s, 'a, 'o, S> {
        let before = (seat.exchange.waited().1, seat.sent_bytes());
        Builder {
            before,
            post: Post::new(seat, site),
            sets,
            done: Done::default(),
            owners,
            initial: Vec::new(),
            observed,
            how,
            kept: HashMap::new(),
            known: HashMap::new(),
            view: View::default(),
            arcs: 0,
        }
    }

    fn me(&self) -> usize {
        self.post.seat.me()
    }

    /// How long it has waited for others.
    pub(super) fn waited(&self) -> Duration {
        self.post.seat.exchange.waited().1.saturating_sub(self.before.0)
    }

    /// What its process has sent over the network.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.post.seat.sent_bytes().saturating_sub(self.before.1)
    }

    /// The number of this worker in its process.
    pub(super) fn place(&self) -> usize {
        self.me() % self.owners.threads
    }

    fn is_own(&self, digest: u128) -> bool {
        self.owners.owner(digest) == self.owners.process(self.me())
    }

    /// The initial aggregates, which worker 0 makes.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        for (label, set) in first(&mut self.sets, self.observed)? {
            let digest = self.name(label, set)?;
            self.initial.push(digest);
        }
        self.done.busy += begun.elapsed();
        Ok(())
    }

    /// Expands aggregates until the construction is over for all.
    pub(super) fn drive(&mut self) -> Result<(), Interrupted> {
        while self.post.over.is_none() {
            if let Err(why) = self.turn() {
                self.fail(why)?;
            }
        }
        self.tell();
        Ok(())
    }

    /// All workers end because of this, unless the group does.
    pub(super) fn fail(&mut self, why: Error) -> Result<(), Interrupted> {
        self.post.seat.budget.check()?;
        if why != Error::Cancelled || !self.post.seat.is_stopped {
            self.post.failure.get_or_insert(why.into());
            self.post.seat.stop_all();
        }
        Ok(())
    }

    /// Forgets the sets that are only kept to save time.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.known.clear();
    }

    /// Takes what has arrived, and expands one aggregate or waits.
    fn turn(&mut self) -> Result<(), Error> {
        self.post.attend()?;
        while let Some(message) = self.post.inbox.pop_front() {
            self.take(&message)?;
        }
        if self.post.over.is_some() {
            return Ok(());
        }
        let place = self.place();
        let next = if self.post.seat.is_stopped { None } else { self.post.site.work().next(place) };
        match next {
            Some(number) => self.expand(number),
            None => Ok(self.post.wait()?),
        }
    }

    fn take(&mut self, message: &Message) -> Result<(), Error> {
        let mut bytes = message.bytes.as_slice();
        while !bytes.is_empty() {
            let before = bytes.len();
            let read = match message.kind {
                AGGREGATES => Parcel::read(&mut bytes).map(|parcel| self.arrive(&parcel)),
                EXPANDED => Expanded::read(&mut bytes).map(|told| {
                    self.view.note(told);
                    Ok(())
                }),
                WANTED => read_digest(&mut bytes).map(|digest| {
                    self.post.site.work().want(digest);
                    Ok(())
                }),
                _ => None,
            };
            read.ok_or_else(|| Error::Internal("a message about aggregates is not readable".into()))??;
            if message.kind == AGGREGATES {
                self.done.received += 1;
                self.done.received_bytes += (before - bytes.len()) as u64;
            }
        }
        Ok(())
    }

    /// An aggregate that this process owns, from another one.
    fn arrive(&mut self, parcel: &Parcel<'_>) -> Result<(), Error> {
        let digest = parcel.digest.unwrap_or_else(|| digest(parcel.label, parcel.bytes));
        let work = self.post.site.work();
        let (is_known, is_sorted) = (work.table.find(digest).is_some(), work.is_sorted());
        drop(work);
        if is_known {
            return Ok(());
        }
        let is_whole = parcel.digest.is_none() && self.how.canonical != Canonical::Full;
        let set = if is_sorted { Some(self.decode(parcel.bytes)?) } else { None };
        let state = set.as_ref().map_or_else(Vec::new, |set| state_of(&mut self.sets, set));
        let mut work = self.post.site.work();
        // Another worker of the process may have made it meanwhile.
        if work.table.find(digest).is_none() {
            let number = work.insert(digest, parcel.label, (parcel.bytes.to_vec(), is_whole), None, state)?;
            drop(work);
            if let Some(set) = set.filter(|_| is_whole) {
                self.keep(number, set);
            }
        }
        Ok(())
    }

    /// The set with those bytes. Where the memory is full of sets that are only kept to save time, once more without them.
    fn decode(&mut self, bytes: &[u8]) -> Result<S::Set, Error> {
        let decoded = self.sets.decode(bytes);
        if decoded.is_ok() || self.kept.is_empty() && self.known.is_empty() {
            return Ok(decoded?);
        }
        self.forget();
        Ok(self.sets.decode(bytes)?)
    }

    /// Remembers the set of an aggregate that is not expanded.
    fn keep(&mut self, number: u32, set: S::Set) {
        if self.kept.len() >= MOST_KEPT {
            self.kept.clear();
        }
        self.kept.insert(number, set);
    }

    /// Expands an aggregate. Where the memory is full of sets that are only kept to save time, once more without them.
    fn expand(&mut self, number: u32) -> Result<(), Error> {
        let begun = Instant::now();
        let result = match self.try_to_expand(number) {
            Err(Error::Memory) if !self.kept.is_empty() || !self.known.is_empty() => {
                self.forget();
                self.try_to_expand(number)
            }
            done => done,
        };
        self.done.busy += begun.elapsed();
        self.done.expanded += u64::from(result.is_ok());
        self.post.site.work().done();
        self.tell();
        result
    }

    fn try_to_expand(&mut self, number: u32) -> Result<(), Error> {
        let entry = self.post.site.work().table.entry(number).clone();
        let set = self.open(number, &entry)?;
        let Entry { digest, label, .. } = entry;
        let mut facts = facts(&mut self.sets, &set, label, self.observed)?;
        if self.how.canonical == Canonical::Full {
            facts.nodes = kept_nodes(&mut self.sets, &entry.bytes)?;
        }
        let post = &mut self.post;
        let leaving = successors(&mut self.sets, &set, label, self.observed, &mut || {
            post.attend()?;
            if post.seat.is_stopped { Err(Error::Cancelled) } else { Ok(()) }
        })?;
        let mut arcs = Vec::with_capacity(leaving.len());
        for (action, label, set) in leaving {
            arcs.push((action, self.name(label, set)?));
        }
        arcs.sort_unstable();
        arcs.dedup();
        self.arcs += arcs.len() as u64;
        if self.how.is_checked {
            self.tell_checker(digest, label, &facts, &arcs);
        }
        self.post.site.work().table.expand(number, facts, arcs)
    }

    /// The set of an aggregate that is to be expanded.
    fn open(&mut self, number: u32, entry: &Entry) -> Result<S::Set, Error> {
        if let Some(set) = self.kept.remove(&number) {
            return Ok(set);
        }
        let set = self.sets.decode(&entry.bytes)?;
        if entry.is_whole {
            return Ok(set);
        }
        let set = closed(&mut self.sets, &set, self.observed, entry.label)?;
        if self.how.canonical != Canonical::Full {
            let bytes = self.sets.encode(&set)?;
            if digest(entry.label, &bytes) != entry.digest {
                return Err(Error::Internal("an aggregate is not what its representatives lead to".into()));
            }
            self.post.site.work().table.complete(number, bytes)?;
        }
        Ok(set)
    }

    fn tell_checker(&mut self, digest: u128, label: Label, facts: &ample_sog::aggregate::Facts, arcs: &Arcs) {
        if self.me() == 0 {
            let may_stay = facts.dead || facts.divergent;
            return self.view.note(Expanded { digest, label, may_stay, arcs: arcs.clone() });
        }
        self.done.checker_messages += 1;
        self.done.checker_bytes +=
            self.post.append(EXPANDED, 0, |out| Expanded::write(digest, label, facts, arcs, out));
    }

    /// The digest of an aggregate, whose owner has it or gets it.
    fn name(&mut self, label: Label, set: S::Set) -> Result<u128, Error> {
        let short = self.sets.digest(&set);
        if let Some(short) = short
            && let Some((of, known, digest)) = self.known.get(&short)
            && (*of, known) == (label, &set)
        {
            return Ok(*digest);
        }
        let bytes = match self.how.canonical {
            Canonical::Full => self.reduced(&set)?,
            Canonical::None | Canonical::Sent => self.sets.encode(&set)?,
        };
        let digest = digest(label, &bytes);
        if self.is_own(digest) {
            let (place, is_whole) = (self.place(), self.how.canonical != Canonical::Full);
            let mut work = self.post.site.work();
            if work.table.find(digest).is_none() {
                let state = if work.is_sorted() { state_of(&mut self.sets, &set) } else { Vec::new() };
                let number = work.insert(digest, label, (bytes, is_whole), Some(place), state)?;
                drop(work);
                self.keep(number, set.clone());
            }
        } else if !self.post.site.work().was_sent(digest) {
            // Only what is complete counts as sent: there may be no memory for it now, but later.
            let (bytes, named) = match self.how.canonical {
                Canonical::Sent => (self.reduced(&set)?, Some(digest)),
                Canonical::None | Canonical::Full => (bytes, None),
            };
            if self.post.site.work().send(digest)? {
                let to = self.owners.receiver(digest);
                self.done.messages += 1;
                self.done.message_bytes +=
                    self.post.append(AGGREGATES, to, |out| Parcel { label, digest: named, bytes: &bytes }.write(out));
            }
        }
        if let Some(short) = short {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.insert(short, (label, set, digest));
        }
        Ok(digest)
    }

    fn reduced(&mut self, set: &S::Set) -> Result<Vec<u8>, Error> {
        let kept = representatives(&mut self.sets, set, self.observed)?;
        Ok(self.sets.encode(&kept)?)
    }

    fn tell(&self) {
        let mut now = TallySnapshot { transitions: self.arcs, ..TallySnapshot::default() };
        now.states = self.done.expanded;
        // What all have in common is told by the first one.
        if self.place() == 0 {
            let work = self.post.site.work();
            let (found, expanded) = work.table.len();
            (now.pending, now.memory) = ((found - expanded) as u64, work.table.bytes() as u64);
        }
        self.post.seat.tell(&now);
    }

    /// The digest of an aggregate that the checker knows.
    pub(super) fn digest_of(&self, seen: usize) -> u128 {
        self.view.seen[seen].digest
    }

    /// The digests of what the checker asks for go to their owners.
    fn ask(&mut self, seen: usize) {
        let digest = self.view.seen[seen].digest;
        self.view.seen[seen].is_wanted = true;
        if self.is_own(digest) {
            return self.post.site.work().want(digest);
        }
        let to = self.owners.receiver(digest);
        self.done.checker_messages += 1;
        self.done.checker_bytes += self.post.append(WANTED, to, |out| out.extend_from_slice(&digest.to_le_bytes()));
    }
}

/// A state of the set, the last level first.
fn state_of<S: Portable>(sets: &mut Labelled<S>, set: &S::Set) -> Vec<u64> {
    // Where it is not known, the aggregate has to wait somewhere all the same.
    let state = sets.pick(set).unwrap_or(None);
    state.map_or_else(Vec::new, |state| sets.values(&state).into_iter().rev().collect())
}

/// The checker, which is with worker 0, goes on building while it waits.
impl<S: Portable> Source for Builder<'_, '_, '_, S> {
    fn initial(&mut self) -> Result<Vec<usize>, Error> {
        let initial = self.initial.clone();
        Ok(initial.into_iter().map(|digest| self.view.number(digest)).collect())
    }

    fn moves(&mut self, aggregate: usize) -> Result<Moves, Error> {
        self.post.attend()?;
        loop {
            if let Some(moves) = &self.view.seen[aggregate].moves {
                return Ok(moves.clone());
            }
            if self.post.over.is_some() || self.post.seat.is_stopped {
                return Err(Error::Cancelled);
            }
            if !self.view.seen[aggregate].is_wanted {
                self.ask(aggregate);
                self.post.quiet = 0;
            }
            if self.post.quiet > 2 {
                return Err(Error::Internal("nobody has an aggregate that the checker asks for".into()));
            }
            self.turn()?;
        }
    }
}
