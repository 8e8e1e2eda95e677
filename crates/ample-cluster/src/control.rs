//! The life of a group: how far each process has come, and why all of them end.
//!
//! Every process but the first has a connection to the first one, beside those that carry the data. Lines of JSON go over
//! it in both directions: a beat every 200 ms with the figures of the workers, and the reason when a process has to end,
//! which the first process hands on to all others. A process from which nothing is heard for eight seconds is lost.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Cancellation, Interrupted};
use ample_model::Reason;
use serde::{Deserialize, Serialize};

/// The processes of a group have to be connected within that time.
pub(crate) const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// How often a process says that it is alive.
const BEAT: Duration = Duration::from_millis(200);
/// A process from which nothing is heard for so long is lost.
const SILENCE: Duration = Duration::from_secs(8);
/// A process whose own beat is so late was stopped itself.
const STOPPED: Duration = Duration::from_secs(2);
/// A connection for data that fails may be the first that is seen of an end whose reason takes so long.
const REASON_LIMIT: Duration = Duration::from_millis(1500);
/// So long a process that ends waits for the others to know.
const FAREWELL_LIMIT: Duration = Duration::from_secs(1);
/// A line is written within that time.
const WRITE_LIMIT: Duration = Duration::from_secs(1);
/// How often threads look at what they wait for.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A line has at most so many bytes, and so many more for each worker.
const MAX_LINE: usize = 16 << 10;
const MAX_FIGURES: usize = 512;
/// A reason has at most so many letters.
const MAX_REASON: usize = 1000;
/// Threads that wait for the network need little.
pub(crate) const SMALL_STACK: usize = 1 << 20;

/// Why the work of a group ended early, in all of its processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum End {
    /// A limit was reached in a process, or it was interrupted.
    #[error("process {process}: {why}")]
    Interrupted {
        /// The process.
        process: usize,
        /// The limit.
        why: Reason,
    },
    /// The connection to a process was lost: it was killed, has stopped, or the network has failed.
    #[error("process {process} was lost: {why}")]
    Lost {
        /// The process.
        process: usize,
        /// How that was noticed.
        why: String,
    },
    /// The processes do not belong together.
    #[error("{why}")]
    Refused {
        /// What differs.
        why: String,
    },
    /// A process could not do its part, or there was an error in it.
    #[error("process {process} failed: {why}")]
    Failed {
        /// The process.
        process: usize,
        /// What went wrong.
        why: String,
    },
}

impl End {
    /// The same, with a reason that fits a line.
    fn shortened(mut self) -> End {
        if let End::Lost { why, .. } | End::Refused { why } | End::Failed { why, .. } = &mut self
            && let Some((end, _)) = why.char_indices().nth(MAX_REASON)
        {
            why.truncate(end);
            why.push_str(" ...");
        }
        self
    }
}

impl From<End> for Reason {
    /// Why there is no answer.
    fn from(end: End) -> Reason {
        match end {
            End::Interrupted { why, .. } => why,
            End::Failed { .. } => Reason::Internal(end.to_string()),
            End::Lost { .. } | End::Refused { .. } => Reason::Unsupported(end.to_string()),
        }
    }
}

/// How far a worker has come; it is the only one to write.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Tally {
    /// Distinct states.
    pub states: AtomicU64,
    /// Transitions.
    pub transitions: AtomicU64,
    /// The depth reached.
    pub depth: AtomicU64,
    /// States found but not yet expanded.
    pub pending: AtomicU64,
    /// States sent to other workers.
    pub messages: AtomicU64,
    /// The bytes of those.
    pub message_bytes: AtomicU64,
    /// Bytes held by the store.
    pub memory: AtomicU64,
    /// Rounds of messages.
    pub rounds: AtomicU64,
    /// Microseconds of waiting for others.
    pub waited: AtomicU64,
}

/// A [`Tally`] at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallySnapshot {
    /// Distinct states.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// The depth reached.
    pub depth: u64,
    /// States found but not yet expanded.
    pub pending: u64,
    /// States sent to other workers.
    pub messages: u64,
    /// The bytes of those.
    pub message_bytes: u64,
    /// Bytes held by the store.
    pub memory: u64,
    /// Rounds of messages.
    #[serde(default)]
    pub rounds: u64,
    /// Microseconds of waiting for others.
    #[serde(default)]
    pub waited: u64,
}

impl Tally {
    /// Its values now.
    pub fn snapshot(&self) -> TallySnapshot {
        TallySnapshot {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            pending: self.pending.load(Ordering::Relaxed),
            messages: self.messages.load(Ordering::Relaxed),
            message_bytes: self.message_bytes.load(Ordering::Relaxed),
            memory: self.memory.load(Ordering::Relaxed),
            rounds: self.rounds.load(Ordering::Relaxed),
            waited: self.waited.load(Ordering::Relaxed),
        }
    }
}

/// What a process has sent to the others and received from them, headers of messages included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

/// The tallies of all workers of a group. Those of other processes are a beat old, and only process 0 knows them; a clone
/// has the same tallies.
#[derive(Clone, Debug)]
pub struct Tallies(Arc<AllTallies>);

#[derive(Debug)]
struct AllTallies {
    threads: usize,
    /// The number of this process.
    process: AtomicUsize,
    local: Vec<Tally>,
    sent: AtomicU64,
    received: AtomicU64,
    /// What the processes have told last.
    told: Mutex<Vec<(Vec<TallySnapshot>, Traffic)>>,
}

impl Tallies {
    /// For so many processes with so many workers each.
    pub fn new(processes: usize, threads: usize) -> Tallies {
        Tallies(Arc::new(AllTallies {
            threads,
            process: AtomicUsize::new(0),
            local: (0..threads).map(|_| Tally::default()).collect(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            told: Mutex::new(vec![(vec![TallySnapshot::default(); threads], Traffic::default()); processes]),
        }))
    }

    /// That of a worker of this process.
    pub fn local(&self, worker: usize) -> &Tally {
        &self.0.local[worker]
    }

    /// Those of all workers of the group, in the order of their numbers.
    pub fn all(&self) -> Vec<TallySnapshot> {
        let (own, _) = self.own();
        let mut all: Vec<_> = lock(&self.0.told).iter().flat_map(|(workers, _)| workers.clone()).collect();
        let first = self.0.process.load(Ordering::Relaxed) * self.0.threads;
        if let Some(place) = all.get_mut(first..first + own.len()) {
            place.copy_from_slice(&own);
        }
        all
    }

    /// What has gone over the network, for each process.
    pub fn traffic(&self) -> Vec<Traffic> {
        let mut all: Vec<_> = lock(&self.0.told).iter().map(|(_, traffic)| *traffic).collect();
        if let Some(place) = all.get_mut(self.0.process.load(Ordering::Relaxed)) {
            *place = self.own().1;
        }
        all
    }

    /// What this process has sent over the network so far.
    pub(crate) fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    fn begin(&self, process: usize) {
        self.0.process.store(process, Ordering::Relaxed);
    }

    fn note(&self, process: usize, workers: Vec<TallySnapshot>, traffic: Traffic) {
        if let Some(place) = lock(&self.0.told).get_mut(process) {
            *place = (workers, traffic);
        }
    }

    pub(crate) fn count_sent(&self, bytes: usize) {
        self.0.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_received(&self, bytes: usize) {
        self.0.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn own(&self) -> (Vec<TallySnapshot>, Traffic) {
        let traffic =
            Traffic { sent: self.0.sent.load(Ordering::Relaxed), received: self.0.received.load(Ordering::Relaxed) };
        (self.0.local.iter().map(Tally::snapshot).collect(), traffic)
    }
}

/// A thread that panics leaves figures behind that are still good to show.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A line that a process sends to the first one, or the first one to another.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// The process has all of its connections; from the first one: all have, the work begins.
    Ready,
    /// The process is alive.
    Beat(Figures),
    /// The workers of the process have ended; from the first one: those of all have.
    Done(Figures),
    /// The work ends.
    End(End),
}

/// The figures of a process.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Figures {
    workers: Vec<TallySnapshot>,
    traffic: Traffic,
}

/// How far a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Connecting,
    Ready,
    Done,
}

/// The connection to another process.
#[derive(Debug)]
struct Peer {
    /// None before there is a connection, and after an error of it.
    writer: Option<TcpStream>,
    is_attached: bool,
    heard: Instant,
    stage: Stage,
    /// It has said that the work ends, or is gone.
    has_ended: bool,
}

/// What the threads of a process share: the connections to other processes, and whether and why the group ends.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) process: usize,
    threads: usize,
    /// The first process has a connection to each other one, and the others have one to the first.
    peers: Mutex<Vec<Peer>>,
    end: Mutex<Option<End>>,
    /// Ends the workers of this process.
    pub(crate) cancellation: Cancellation,
    /// The workers of this process have ended.
    workers_ended: AtomicBool,
    /// The workers of all processes have ended: connections may be closed.
    is_finished: AtomicBool,
    /// Nobody needs the connections any more.
    is_closed: AtomicBool,
    tallies: OnceLock<Tallies>,
}

impl Control {
    pub(crate) fn new(process: usize, processes: usize, threads: usize) -> Control {
        let peer = |_| Peer {
            writer: None,
            is_attached: false,
            heard: Instant::now(),
            stage: Stage::Connecting,
            has_ended: false,
        };
        Control {
            process,
            threads,
            peers: Mutex::new((0..processes).map(peer).collect()),
            end: Mutex::new(None),
            cancellation: Cancellation::new(),
            workers_ended: AtomicBool::new(false),
            is_finished: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            tallies: OnceLock::new(),
        }
    }

    /// Begins to send beats, and to look whether those of others come.
    pub(crate) fn start(self: &Arc<Control>) -> Result<(), End> {
        let control = Arc::clone(self);
        self.spawn("beats", move || control.beats())
    }

    /// There is a connection to a process now.
    pub(crate) fn attach(self: &Arc<Control>, peer: usize, stream: TcpStream) -> Result<(), End> {
        let failed = |error: io::Error| self.lost_end(peer, &error.to_string());
        stream.set_write_timeout(Some(WRITE_LIMIT)).map_err(failed)?;
        let writer = stream.try_clone().map_err(failed)?;
        {
            let place = &mut lock(&self.peers)[peer];
            (place.writer, place.is_attached, place.heard) = (Some(writer), true, Instant::now());
        }
        let control = Arc::clone(self);
        self.spawn("control", move || control.listen(peer, stream))?;
        // What happened before this process was there.
        if let Some(end) = self.ended() {
            self.send(peer, &Line::End(end));
        }
        Ok(())
    }

    pub(crate) fn begin(&self, tallies: &Tallies) {
        tallies.begin(self.process);
        let _ = self.tallies.set(tallies.clone());
    }

    /// The first reason is the one that counts. It is told to the others.
    pub(crate) fn end(&self, end: End) {
        let end = end.shortened();
        {
            let mut place = lock(&self.end);
            if place.is_some() || self.is_finished.load(Ordering::SeqCst) {
                return;
            }
            *place = Some(end.clone());
        }
        self.cancellation.cancel();
        self.send_all(&Line::End(end));
    }

    pub(crate) fn ended(&self) -> Option<End> {
        lock(&self.end).clone()
    }

    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.end).is_some()
    }

    pub(crate) fn interrupt(&self, why: Interrupted) {
        self.end(End::Interrupted { process: self.process, why: why.into() });
    }

    /// A worker of this process has panicked.
    pub(crate) fn fail(&self, worker: usize, why: &str) {
        self.end(End::Failed { process: self.process, why: format!("worker {worker}: {why}") });
    }

    /// A process is gone.
    pub(crate) fn lose(&self, process: usize, why: &str) {
        lock(&self.peers)[process].has_ended = true;
        self.end(self.lost_end(process, why));
    }

    fn lost_end(&self, process: usize, why: &str) -> End {
        End::Lost { process, why: why.to_owned() }
    }

    /// The connection for the data of a process has failed. If that is because the group ends, the reason is about to come.
    pub(crate) fn suspect(&self, process: usize, why: &str) {
        let limit = Instant::now() + REASON_LIMIT;
        while Instant::now() < limit {
            if self.has_ended() || self.is_finished.load(Ordering::SeqCst) {
                return;
            }
            thread::sleep(LOOK_EVERY);
        }
        self.lose(process, why);
    }

    pub(crate) fn workers_have_ended(&self) {
        self.workers_ended.store(true, Ordering::Release);
    }

    pub(crate) fn wait_for_workers(&self) {
        while !self.workers_ended.load(Ordering::Acquire) {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// All connections of this process are there: waits until that is so in all processes.
    pub(crate) fn ready(&self, deadline: Instant, budget: &Budget) -> Result<(), End> {
        let is_late = |late: usize| {
            let why = format!("it was not connected to all others within {} s", CONNECT_LIMIT.as_secs());
            (Instant::now() >= deadline).then(|| self.lost_end(late, &why))
        };
        self.meet(Stage::Ready, || Line::Ready, budget, is_late)
    }

    /// The workers of this process have ended: waits until that is so in all processes.
    pub(crate) fn done(&self, budget: &Budget) -> Result<(), End> {
        self.meet(Stage::Done, || Line::Done(self.figures()), budget, |_| None)
    }

    /// Waits until all processes are in a stage. The others tell the first one, which tells all.
    fn meet(
        &self,
        stage: Stage,
        line: impl Fn() -> Line,
        budget: &Budget,
        is_late: impl Fn(usize) -> Option<End>,
    ) -> Result<(), End> {
        if self.process > 0 {
            self.send(0, &line());
        }
        loop {
            if let Some(end) = self.ended() {
                return Err(end);
            }
            let missing = {
                let peers = lock(&self.peers);
                let waits_for = |process: usize| process != self.process && (self.process == 0 || process == 0);
                (0..peers.len()).find(|process| waits_for(*process) && peers[*process].stage < stage)
            };
            let Some(missing) = missing else { break };
            if let Err(why) = check_limits(budget) {
                self.interrupt(why);
            } else if let Some(end) = is_late(missing) {
                self.end(end);
            } else {
                thread::sleep(LOOK_EVERY);
            }
        }
        if stage == Stage::Done {
            // Whatever happens from here on comes too late; unless it has come before.
            let end = lock(&self.end);
            if let Some(end) = &*end {
                return Err(end.clone());
            }
            self.is_finished.store(true, Ordering::SeqCst);
        }
        if self.process == 0 {
            self.send_all(&line());
        }
        Ok(())
    }

    /// Waits a moment for the other processes to know that the work ends.
    pub(crate) fn farewell(&self) {
        let limit = Instant::now() + FAREWELL_LIMIT;
        let is_heard = |peer: &Peer| !peer.is_attached || peer.has_ended;
        while Instant::now() < limit && !lock(&self.peers).iter().all(is_heard) {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Closes the connections.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        for peer in &mut *lock(&self.peers) {
            if let Some(writer) = peer.writer.take() {
                let _ = writer.shutdown(Shutdown::Both);
            }
        }
    }

    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), End> {
        let failed = |error| End::Failed { process: self.process, why: format!("there is no thread: {error}") };
        thread::Builder::new().name(name.into()).stack_size(SMALL_STACK).spawn(work).map(drop).map_err(failed)
    }

    fn figures(&self) -> Figures {
        let (workers, traffic) = self.tallies.get().map(Tallies::own).unwrap_or_default();
        Figures { workers, traffic }
    }

    fn send(&self, peer: usize, line: &Line) {
        send_line(&mut lock(&self.peers)[peer].writer, &encode(line));
    }

    fn send_all(&self, line: &Line) {
        let line = encode(line);
        lock(&self.peers).iter_mut().for_each(|peer| send_line(&mut peer.writer, &line));
    }

    /// Sends a beat now and then, and looks for peers that do not.
    fn beats(&self) {
        let mut last = Instant::now();
        while !self.is_closed.load(Ordering::SeqCst) {
            thread::sleep(BEAT);
            let now = Instant::now();
            let was_stopped = now - last > STOPPED;
            last = now;
            if self.has_ended() || self.is_finished.load(Ordering::SeqCst) {
                continue;
            }
            self.send_all(&Line::Beat(self.figures()));
            let mut silent = None;
            for (process, peer) in lock(&self.peers).iter_mut().enumerate().filter(|(_, peer)| peer.is_attached) {
                if was_stopped {
                    // What they have said in the meantime has not been read yet.
                    peer.heard = now;
                } else if now.saturating_duration_since(peer.heard) > SILENCE {
                    silent = Some(process);
                }
            }
            if let Some(process) = silent {
                self.lose(process, &format!("nothing was heard from it for {} s", SILENCE.as_secs()));
            }
        }
    }

    /// Reads what a process says, to the end of the connection.
    fn listen(&self, peer: usize, stream: TcpStream) {
        let limit = MAX_LINE + self.threads * MAX_FIGURES;
        let mut reader = BufReader::new(stream);
        let why = loop {
            let mut line = Vec::new();
            match (&mut reader).take(limit as u64).read_until(b'\n', &mut line) {
                Ok(0) => break "its connection was closed".to_owned(),
                Ok(_) if line.last() != Some(&b'\n') => break "a message of it is cut off, or too long".to_owned(),
                Ok(_) => {}
                Err(error) => break format!("its connection has failed: {error}"),
            }
            match serde_json::from_slice(&line) {
                Ok(line) => self.hear(peer, line),
                Err(error) => break format!("it sent a message that is none: {error}"),
            }
        };
        if !self.is_closed.load(Ordering::SeqCst) {
            self.lose(peer, &why);
        }
    }

    fn hear(&self, peer: usize, line: Line) {
        {
            let place = &mut lock(&self.peers)[peer];
            place.heard = Instant::now();
            match &line {
                Line::Ready => place.stage = place.stage.max(Stage::Ready),
                Line::End(_) => place.has_ended = true,
                _ => {}
            }
        }
        match line {
            Line::Ready => {}
            Line::Beat(figures) => self.note(peer, figures),
            Line::Done(figures) => {
                self.note(peer, figures);
                if peer == 0 && !self.has_ended() {
                    self.is_finished.store(true, Ordering::SeqCst);
                }
                lock(&self.peers)[peer].stage = Stage::Done;
            }
            Line::End(end) => self.end(end),
        }
    }

    fn note(&self, peer: usize, figures: Figures) {
        if let Some(tallies) = self.tallies.get()
            && figures.workers.len() == self.threads
        {
            tallies.note(peer, figures.workers, figures.traffic);
        }
    }
}

/// After an error nothing more is sent: part of a line may have been.
fn send_line(writer: &mut Option<TcpStream>, line: &[u8]) {
    if let Some(stream) = writer
        && stream.write_all(line).is_err()
    {
        let _ = stream.shutdown(Shutdown::Both);
        *writer = None;
    }
}

fn encode(line: &Line) -> Vec<u8> {
    let mut line = serde_json::to_vec(line).unwrap_or_default();
    line.push(b'\n');
    line
}

/// As [`Budget::check`], but without waiting for a turn.
pub(crate) fn check_limits(budget: &Budget) -> Result<(), Interrupted> {
    if budget.is_cancelled() {
        return Err(Interrupted::Cancelled);
    }
    if budget.time_left().is_some_and(|left| left.is_zero()) {
        return Err(Interrupted::Deadline);
    }
    if budget.memory_left() == Some(0) { Err(Interrupted::Memory) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// The control of process 0 of two, and what process 1 has.
    fn pair() -> (Arc<Control>, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let control = Arc::new(Control::new(0, 2, 1));
        control.attach(1, listener.accept().unwrap().0).unwrap();
        (control, other)
    }

    fn end(control: &Control) -> String {
        let limit = Instant::now() + Duration::from_secs(5);
        loop {
            match control.ended() {
                Some(end) => return end.to_string(),
                None if Instant::now() > limit => panic!("it has not ended"),
                None => thread::sleep(LOOK_EVERY),
            }
        }
    }

    #[test]
    fn what_is_no_message_ends_the_group() {
        let (long, deep) = (vec![b'x'; 1 << 20], vec![b'['; 10_000]);
        for (bytes, expected) in [
            (&b"hello\n"[..], "process 1 was lost: it sent a message that is none: expected value at line 1 column 1"),
            (b"{\"Beat\":", "process 1 was lost: a message of it is cut off, or too long"),
            (b"{\"Beat\":{\"workers\":[{}]}}\n", "process 1 was lost: it sent a message that is none: missing field"),
            (&long, "process 1 was lost: a message of it is cut off, or too long"),
            (&[&deep[..], b"\n"].concat(), "process 1 was lost: it sent a message that is none: "),
            (b"", "process 1 was lost: its connection was closed"),
        ] {
            let (control, mut other) = pair();
            // The other side may be closed before all is written.
            let _ = other.write_all(bytes);
            drop(other);
            let end = end(&control);
            assert!(end.starts_with(expected), "{end}");
            assert!(control.cancellation.is_cancelled());
        }
    }

    #[test]
    fn the_first_reason_counts_and_fits_a_line() {
        let (control, mut other) = pair();
        let why = "é".repeat(100_000);
        other.write_all(&encode(&Line::End(End::Failed { process: 1, why }.shortened()))).unwrap();
        assert!(end(&control).starts_with("process 1 failed: ééé"));
        control.interrupt(Interrupted::Cancelled);
        control.lose(1, "it is gone");
        let Some(End::Failed { why, .. }) = control.ended() else { panic!("{:?}", control.ended()) };
        assert_eq!(why.chars().count(), MAX_REASON + " ...".len());
        assert!(encode(&Line::End(End::Failed { process: 1, why: "\u{1}".repeat(MAX_REASON) })).len() < MAX_LINE);
    }

    #[test]
    fn figures_of_other_processes_come_with_beats() {
        let (control, mut other) = pair();
        let tallies = Tallies::new(2, 1);
        control.begin(&tallies);
        tallies.local(0).states.store(3, Ordering::Relaxed);
        let largest = TallySnapshot {
            states: u64::MAX,
            transitions: u64::MAX,
            depth: u64::MAX,
            pending: u64::MAX,
            messages: u64::MAX,
            message_bytes: u64::MAX,
            memory: u64::MAX,
            rounds: u64::MAX,
            waited: u64::MAX,
        };
        let traffic = Traffic { sent: u64::MAX, received: 7 };
        let beat = |workers: Vec<TallySnapshot>| encode(&Line::Beat(Figures { workers, traffic }));
        assert!(beat(vec![largest]).len() < MAX_FIGURES);
        // One with another number of workers is not believed.
        other.write_all(&beat(vec![largest; 2])).unwrap();
        other.write_all(&beat(vec![largest])).unwrap();
        let limit = Instant::now() + Duration::from_secs(5);
        while tallies.traffic()[1] != traffic && Instant::now() < limit {
            thread::sleep(LOOK_EVERY);
        }
        assert_eq!(tallies.all(), [TallySnapshot { states: 3, ..TallySnapshot::default() }, largest]);
        assert_eq!(tallies.traffic(), [Traffic::default(), traffic]);
    }
}
