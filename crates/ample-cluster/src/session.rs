//! What the workers of all processes do together, one job after the other.
//!
//! Process 0 decides: the engine runs there as it always does, and where it would search, it asks the [`Cluster`], whose
//! orders worker 0 hands on to all other workers. What is asked is in the order, the system that is searched included, so
//! that no other process has to come to the same decisions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ample_budget::{Budget, Interrupted, Progress};
use ample_engine::report::{Spread, WorkerShare};
use ample_explicit::engine::distributed::{EmptinessFound, EmptinessSearch, SafetyFound, SafetySearch, Searcher};
use ample_model::{Reason, Statistics, System};
use serde::{Deserialize, Serialize};
use timely::worker::Worker;

use crate::control::{End, Tallies, Tally, TallySnapshot, lock};
use crate::exchange::{Exchange, Kind, Message, WAIT};
use crate::explicit::{self, EmptinessJob, SafetyJob};
use crate::mesh::Mesh;
use crate::sog::{self, Shared, SogFound, SogJob};

/// Messages that mean the same in all jobs; a job has the kinds from [`OWN_KINDS`] on for itself.
pub(crate) const ORDER: Kind = 0;
/// The job ends early.
const STOP: Kind = 1;
/// The first kind that a job may use as it likes.
pub(crate) const OWN_KINDS: Kind = 2;

/// How often process 0 looks whether there is an answer, and tells how it goes.
const TELL_EVERY: Duration = Duration::from_millis(20);

/// What a process may need beside the stores of its workers while they search.
const MARGIN: u64 = 2 << 20;

/// So long workers may take to end a job that is stopped: what has been counted so far is told then.
const PATIENCE: Duration = Duration::from_millis(250);

/// What workers may have to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// The system of the jobs that follow.
    System(Box<System>),
    /// A search for violations of safety properties.
    Safety(SafetyJob),
    /// A search for runs that an automaton accepts.
    Emptiness(EmptinessJob),
    /// A symbolic observation graph, or a formula on one.
    Sog(Box<SogJob>),
    /// There is nothing more to do.
    End,
}

/// What came of a job.
#[derive(Debug)]
pub(crate) enum Outcome {
    Safety(SafetyFound),
    Emptiness(EmptinessFound),
    Sog(Box<SogFound>),
}

/// A job, who waits for its outcome, and whether it shall be stopped.
struct Order {
    job: Vec<u8>,
    outcome: Sender<Outcome>,
    stop: Arc<AtomicBool>,
}

/// The workers of a group, for the engines of process 0.
pub struct Cluster {
    orders: Mutex<Sender<Order>>,
    waiting: Mutex<Option<Receiver<Order>>>,
    /// The system that the workers have, as it was sent.
    system: Mutex<Vec<u8>>,
    tallies: Tallies,
    ended: Mutex<Option<End>>,
    /// What the workers of this process have in common.
    shared: Shared,
    processes: usize,
    threads: usize,
    is_apart: bool,
}

impl Cluster {
    /// For the processes of a mesh.
    pub fn new(mesh: &Mesh) -> Cluster {
        let (orders, waiting) = channel();
        Cluster {
            orders: Mutex::new(orders),
            waiting: Mutex::new(Some(waiting)),
            system: Mutex::default(),
            tallies: Tallies::new(mesh.processes(), mesh.threads()),
            ended: Mutex::default(),
            shared: Shared::default(),
            processes: mesh.processes(),
            threads: mesh.threads(),
            is_apart: false,
        }
    }

    /// Workers of one process share no more than if each of them had a process of its own: for comparisons.
    pub fn apart(self) -> Cluster {
        Cluster { is_apart: true, ..self }
    }

    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// Runs the workers of this process until process 0 has [finished](Cluster::finish), or something ends all of them.
    pub fn serve(&self, mesh: Mesh, stack: usize, budget: &Budget) -> Result<(), End> {
        let orders = if mesh.process() == 0 { lock(&self.waiting).take() } else { None };
        let orders = Mutex::new(orders);
        let served = mesh.run(budget, stack, &self.tallies, |worker, local, budget| {
            let orders = if worker.index() == 0 { lock(&orders).take() } else { None };
            let (tallies, exchange) = (&self.tallies, Exchange::new(worker));
            let tally = tallies.local(local);
            let base = TallySnapshot::default();
            let (threads, shared) = (self.threads, &self.shared);
            let (stop, is_stopped, before) = (None, false, (0, Duration::ZERO));
            let mut seat = Seat {
                worker,
                exchange,
                budget,
                tally,
                tallies,
                threads,
                stop,
                is_stopped,
                base,
                before,
                shared,
                stack,
            };
            seat.serve(orders.as_ref())
        });
        // Who still waits for an outcome learns that there is none: the senders are gone with the workers.
        drop(orders);
        if let Err(end) = &served {
            *lock(&self.ended) = Some(end.clone());
        }
        served.map(|_| ())
    }

    /// There are no more jobs.
    pub fn finish(&self) {
        let (outcome, _) = channel();
        self.order(&Job::End, outcome, &Arc::default());
    }

    /// Why all workers have ended early, if they have.
    pub fn ended(&self) -> Option<End> {
        lock(&self.ended).clone()
    }

    /// The figures of each worker, in the order of their numbers.
    pub fn workers(&self) -> Vec<TallySnapshot> {
        self.tallies.all()
    }

    /// How the work was spread so far.
    pub fn spread(&self) -> Spread {
        let workers = self.tallies.all();
        let most = workers.iter().map(|worker| worker.states).max().unwrap_or(0);
        let sum: u64 = workers.iter().map(|worker| worker.states).sum();
        let balance = if most == 0 { 1.0 } else { sum as f64 / workers.len() as f64 / most as f64 };
        let shares = workers.iter().enumerate().map(|(number, tally)| WorkerShare {
            process: number / self.threads,
            worker: number % self.threads,
            states: Some(tally.states),
            waited_s: Some(tally.waited as f64 / 1e6),
            ..WorkerShare::default()
        });
        Spread {
            processes: self.processes,
            threads: self.threads,
            messages: workers.iter().map(|worker| worker.messages).sum(),
            message_bytes: workers.iter().map(|worker| worker.message_bytes).sum(),
            wire_bytes: self.wire_bytes(),
            workers: shares.collect(),
            rounds: workers.iter().map(|worker| worker.rounds).max().unwrap_or(0),
            balance,
        }
    }

    /// What has gone over the network so far.
    fn wire_bytes(&self) -> u64 {
        self.tallies.traffic().iter().map(|traffic| traffic.sent).sum()
    }

    fn order(&self, job: &Job, outcome: Sender<Outcome>, stop: &Arc<AtomicBool>) {
        // What consists of plain data can be written.
        let job = serde_json::to_vec(job).unwrap_or_default();
        // If the workers have ended, nobody is there to take it.
        let _ = lock(&self.orders).send(Order { job, outcome, stop: Arc::clone(stop) });
    }

    /// Has a job done for a system, and tells the budget how it goes; why there is no outcome, if there is none.
    pub(crate) fn perform(
        &self,
        system: &System,
        job: &Job,
        budget: &Budget,
    ) -> Result<(Outcome, Option<Reason>), Reason> {
        let (outcome, outcomes) = channel();
        self.send_system(system, &outcome);
        let stop = Arc::new(AtomicBool::new(false));
        self.order(job, outcome, &stop);
        let before: Vec<TallySnapshot> = self.tallies.all();
        let mut stopped: Option<(Interrupted, Instant)> = None;
        loop {
            match outcomes.recv_timeout(TELL_EVERY) {
                Ok(outcome) => return Ok((outcome, stopped.map(|(why, _)| why.into()))),
                Err(RecvTimeoutError::Disconnected) => {
                    // The workers are at their end, and `serve` says why as soon as they all are.
                    let deadline = Instant::now() + PATIENCE;
                    while self.ended().is_none() && Instant::now() < deadline {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    return Err(match (stopped, self.ended()) {
                        (Some((why, _)), _) => why.into(),
                        (None, Some(end)) => end.into(),
                        (None, None) => Reason::Internal("the workers have ended".into()),
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            match &stopped {
                None => {
                    let mut progress = self.progress(&before);
                    if let Job::Sog(_) = job {
                        // What workers have expanded.
                        progress.aggregates = progress.states + progress.pending;
                        progress.states = 0;
                    }
                    if let Err(why) = budget.report(&progress) {
                        stop.store(true, Ordering::Relaxed);
                        stopped = Some((why, Instant::now()));
                    }
                }
                Some((why, when)) if when.elapsed() > PATIENCE => return Err((*why).into()),
                Some(_) => {}
            }
        }
    }

    fn send_system(&self, system: &System, outcome: &Sender<Outcome>) {
        let job = serde_json::to_vec(&SystemJob::System(system)).unwrap_or_default();
        let mut sent = lock(&self.system);
        if *sent != job {
            sent.clone_from(&job);
            let _ = lock(&self.orders).send(Order { job, outcome: outcome.clone(), stop: Arc::default() });
        }
    }

    /// What all workers have done since then.
    fn progress(&self, before: &[TallySnapshot]) -> Progress {
        let mut progress = Progress::default();
        for (now, before) in self.tallies.all().iter().zip(before) {
            progress.states += now.states.saturating_sub(before.states);
            progress.transitions += now.transitions.saturating_sub(before.transitions);
            progress.depth = progress.depth.max(now.depth);
            progress.pending += now.pending;
            progress.memory += now.memory;
        }
        progress
    }

    /// What is known of a search that ended without an outcome.
    fn counted(&self, before: &[TallySnapshot]) -> Statistics {
        let progress = self.progress(before);
        Statistics {
            states: progress.states,
            transitions: progress.transitions,
            depth: progress.depth,
            store_bytes: progress.memory,
            counts_transitions: true,
            counts_depth: true,
            ..Statistics::default()
        }
    }
}

/// As [`Job::System`], without a copy.
#[derive(Serialize)]
enum SystemJob<'a> {
    System(&'a System),
}

impl Searcher for Cluster {
    fn safety(&self, system: &System, search: &SafetySearch, budget: &Budget) -> SafetyFound {
        let before = self.tallies.all();
        let begun = Instant::now();
        let mut found = match self.perform(system, &Job::Safety(SafetyJob::of(search)), budget) {
            Ok((Outcome::Safety(found), stopped)) => {
                SafetyFound { ended: if found.ended.is_some() { stopped.or(found.ended) } else { None }, ..found }
            }
            Ok(_) => SafetyFound { ended: Some(mixed_up()), ..SafetyFound::default() },
            Err(why) => SafetyFound { ended: Some(why), statistics: self.counted(&before), ..SafetyFound::default() },
        };
        found.invariants.resize(search.invariants.len(), None);
        found.statistics.time_s = begun.elapsed().as_secs_f64();
        found
    }

    fn emptiness(&self, system: &System, search: &EmptinessSearch<'_>, budget: &Budget) -> EmptinessFound {
        let before = self.tallies.all();
        let begun = Instant::now();
        let mut found = match self.perform(system, &Job::Emptiness(EmptinessJob::of(search)), budget) {
            Ok((Outcome::Emptiness(found), stopped)) => {
                EmptinessFound { ended: if found.ended.is_some() { stopped.or(found.ended) } else { None }, ..found }
            }
            Ok(_) => EmptinessFound { ended: Some(mixed_up()), ..EmptinessFound::default() },
            Err(why) => {
                EmptinessFound { ended: Some(why), statistics: self.counted(&before), ..EmptinessFound::default() }
            }
        };
        found.statistics.time_s = begun.elapsed().as_secs_f64();
        found
    }
}

pub(crate) fn mixed_up() -> Reason {
    Reason::Internal("the workers have answered another question".into())
}

/// A worker, and what it needs to work with the others.
pub(crate) struct Seat<'a> {
    pub(crate) worker: &'a mut Worker,
    pub(crate) exchange: Exchange,
    pub(crate) budget: &'a Budget,
    tally: &'a Tally,
    tallies: &'a Tallies,
    /// How many workers share the memory of the process.
    threads: usize,
    /// Of worker 0: the job shall be stopped.
    stop: Option<Arc<AtomicBool>>,
    /// The job ends early, and all workers will know.
    pub(crate) is_stopped: bool,
    /// What the tally said before the job.
    base: TallySnapshot,
    /// The rounds, and the waiting, that were not for jobs.
    before: (u64, Duration),
    /// What the workers of this process have in common.
    pub(crate) shared: &'a Shared,
    /// How large the stack of this worker is.
    pub(crate) stack: usize,
}

impl Seat<'_> {
    /// The number of this worker.
    pub(crate) fn me(&self) -> usize {
        self.exchange.me()
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.exchange.workers()
    }

    /// How many workers the process has.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// What this process has sent over the network so far.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.tallies.sent()
    }

    /// How many bytes this worker's store may take.
    pub(crate) fn room(&self) -> usize {
        let room = self.budget.room().map_or(u64::MAX, |room| room.saturating_sub(MARGIN) / self.threads as u64);
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    /// A message of this round that has arrived, for a worker that has something else to do.
    pub(crate) fn poll(&mut self) -> Result<Option<Message>, Interrupted> {
        if !self.is_stopped && self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            self.stop_all();
        }
        loop {
            match self.exchange.poll(self.worker) {
                Some(message) if message.kind == STOP => self.is_stopped = true,
                Some(message) => return Ok(Some(message)),
                None => {
                    self.budget.check()?;
                    return Ok(None);
                }
            }
        }
    }

    /// The next message of this round, which this worker has closed; none if there is nothing more to come.
    pub(crate) fn receive(&mut self) -> Result<Option<Message>, Interrupted> {
        loop {
            match self.exchange.receive(self.worker, self.budget)? {
                Some(message) if message.kind == STOP => self.is_stopped = true,
                other => return Ok(other),
            }
        }
    }

    /// All workers shall end the job.
    pub(crate) fn stop_all(&mut self) {
        if !self.is_stopped {
            self.is_stopped = true;
            self.exchange.broadcast(STOP, &[]);
        }
    }

    /// Closes the round with some numbers, waits for its end, and gives the messages of the round to a function; the sums.
    pub(crate) fn round(
        &mut self,
        numbers: &[u64],
        mut take: impl FnMut(&mut Self, Message),
    ) -> Result<Vec<u64>, Interrupted> {
        self.exchange.close(numbers);
        while let Some(message) = self.receive()? {
            take(self, message);
        }
        Ok(self.exchange.next_round())
    }

    /// Tells how far the job has come.
    pub(crate) fn tell(&self, now: &TallySnapshot) {
        let (messages, bytes) = self.exchange.sent();
        let (tally, base) = (self.tally, &self.base);
        tally.states.store(base.states + now.states, Ordering::Relaxed);
        tally.transitions.store(base.transitions + now.transitions, Ordering::Relaxed);
        tally.depth.store(now.depth, Ordering::Relaxed);
        tally.pending.store(now.pending, Ordering::Relaxed);
        tally.memory.store(now.memory, Ordering::Relaxed);
        tally.messages.store(messages, Ordering::Relaxed);
        tally.message_bytes.store(bytes, Ordering::Relaxed);
        let (rounds, waited) = self.exchange.waited();
        tally.rounds.store(rounds - self.before.0, Ordering::Relaxed);
        let waited = (waited - self.before.1).as_micros();
        tally.waited.store(waited as u64, Ordering::Relaxed);
    }

    /// Does one job after the other.
    fn serve(&mut self, orders: Option<&Receiver<Order>>) -> Result<(), Interrupted> {
        let mut system = None;
        loop {
            let mut order = None;
            let before = self.exchange.waited();
            if let Some(orders) = orders {
                let next = self.next_order(orders)?;
                let job = match &next {
                    Some(order) => order.job.clone(),
                    None => serde_json::to_vec(&Job::End).unwrap_or_default(),
                };
                self.exchange.broadcast(ORDER, &job);
                order = next;
            }
            let mut job = None;
            self.round(&[], |_, message| job = Some(parse(&message.bytes)))?;
            let after = self.exchange.waited();
            self.before = (self.before.0 + after.0 - before.0, self.before.1 + after.1 - before.1);
            self.stop = order.as_ref().map(|order| Arc::clone(&order.stop));
            self.is_stopped = false;
            self.base = self.tally.snapshot();
            let outcome = match (job, &system) {
                (Some(Ok(Job::System(new))), _) => {
                    system = Some(new);
                    continue;
                }
                (Some(Ok(Job::Safety(job))), Some(system)) => Outcome::Safety(explicit::safety(self, system, &job)?),
                (Some(Ok(Job::Emptiness(job))), Some(system)) => {
                    Outcome::Emptiness(explicit::emptiness(self, system, &job)?)
                }
                (Some(Ok(Job::Sog(job))), Some(system)) => Outcome::Sog(Box::new(sog::perform(self, system, &job)?)),
                (Some(Ok(Job::End)), _) => return Ok(()),
                // All workers have read the same bytes.
                _ => return Err(Interrupted::Cancelled),
            };
            if let Some(order) = order {
                // Nobody waits for it if the time is over.
                let _ = order.outcome.send(outcome);
            }
        }
    }

    /// What is to be done next; nothing if nobody gives orders any more.
    fn next_order(&mut self, orders: &Receiver<Order>) -> Result<Option<Order>, Interrupted> {
        loop {
            match orders.try_recv() {
                Ok(order) => return Ok(Some(order)),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {
                    self.budget.check()?;
                    self.exchange.wait(self.worker, WAIT / 4);
                }
            }
        }
    }
}

/// What was written by [`Cluster::order`].
fn parse(bytes: &[u8]) -> serde_json::Result<Job> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    Job::deserialize(&mut deserializer)
}
