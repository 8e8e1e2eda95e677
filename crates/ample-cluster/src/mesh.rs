//! A mesh: the connected processes of a group, and the workers that run in them.
//!
//! ```
//! use ample_budget::Budget;
//! use ample_cluster::group::Group;
//! use ample_cluster::mesh::{Identity, Mesh, Tallies};
//! use timely::dataflow::operators::{Exchange, Inspect, ToStream};
//!
//! let budget = Budget::unlimited();
//! let identity = Identity { version: "0.1.0".into(), digest: 0, threads: 2 };
//! let mesh = Mesh::form(&Group::alone(), &identity, &budget)?;
//! let tallies = Tallies::new(mesh.processes(), mesh.threads());
//! let results = mesh.run(&budget, 1 << 20, &tallies, |worker, _, _| {
//!     let index = worker.index() as u64;
//!     worker.dataflow::<u64, _, _>(|scope| {
//!         let numbers = (0..10).to_stream(scope).container::<Vec<u64>>();
//!         let own = numbers.exchange(|number| *number);
//!         Inspect::<u64, Vec<u64>>::inspect(own, move |number| assert_eq!(number % 2, index));
//!     });
//!     Ok(index)
//! })?;
//! assert_eq!(results, [0, 1]);
//! # Ok::<(), ample_cluster::mesh::End>(())
//! ```

use std::any::Any;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Interrupted};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use timely::WorkerConfig;
use timely::communication::AllocatorBuilder;
use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::thread::ThreadBuilder;
use timely::communication::allocator::zero_copy::initialize::{CommsGuard, initialize_networking_from_sockets};
use timely::worker::Worker;

use crate::connect::{Connections, connect};
use crate::control::{Control, check_limits};
pub use crate::control::{End, Tallies, Tally, TallySnapshot, Traffic};
use crate::group::Group;
use crate::link::Wire;

/// How often the limits are looked at while workers run, and how long a worker that waits for others sleeps at most.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// As often while the last data is sent: nobody computes then.
const FLUSH_EVERY: Duration = Duration::from_millis(2);

/// What all processes of a group have to agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The version of ample.
    pub version: String,
    /// Of the model, the properties and the options that have an influence on the result.
    pub digest: u128,
    /// The workers of each process.
    pub threads: usize,
}

/// A number that stands for some texts.
///
/// ```
/// use ample_cluster::mesh::digest;
///
/// assert_eq!(digest(&[b"one", b"two"]), digest(&[b"one", b"two"]));
/// assert_ne!(digest(&[b"one", b"two"]), digest(&[b"onetwo", b""]));
/// ```
pub fn digest(texts: &[&[u8]]) -> u128 {
    let half = |seed: u64| {
        texts.iter().fold(seed, |hash, text| {
            let hash = hash.rotate_left(17) ^ rapidhash_v3_seeded(text, &RapidSecrets::seed(hash));
            hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ text.len() as u64
        })
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

/// The connected processes of a group.
#[derive(Debug)]
pub struct Mesh {
    process: usize,
    processes: usize,
    threads: usize,
    control: Arc<Control>,
    connections: Connections,
}

impl Drop for Mesh {
    fn drop(&mut self) {
        // If the work has not even begun, the others must not wait for it.
        self.control.interrupt(Interrupted::Cancelled);
        self.control.close();
        self.connections.children.reap();
    }
}

impl Mesh {
    /// Starts and connects the processes of a group.
    pub fn form(group: &Group, identity: &Identity, budget: &Budget) -> Result<Mesh, End> {
        let (process, processes, threads) = (group.process(), group.processes(), identity.threads.max(1));
        check_limits(budget).map_err(|why| End::Interrupted { process, why: why.into() })?;
        let control = Arc::new(Control::new(process, processes, threads));
        let connections = if processes > 1 {
            control.start()?;
            connect(group, identity, &control, budget)?
        } else {
            Connections::default()
        };
        Ok(Mesh { process, processes, threads, control, connections })
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.processes
    }

    /// How many workers each process has.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs the workers of this process, each in a thread with a stack of so many bytes, until all dataflows of the group
    /// are complete, and returns what they return. `work` is told the number of the worker within its process, and the
    /// budget that it has to look at.
    ///
    /// An error of any process is an error in all of them: an interrupt, a limit, a panic, a lost process.
    pub fn run<T: Send>(
        mut self,
        budget: &Budget,
        stack: usize,
        tallies: &Tallies,
        work: impl Fn(&mut Worker, usize, &Budget) -> Result<T, Interrupted> + Sync,
    ) -> Result<Vec<T>, End> {
        let control = Arc::clone(&self.control);
        control.begin(tallies);
        let data = std::mem::take(&mut self.connections.data);
        let result = self.work(data, budget, stack, tallies, work).and_then(|results| {
            if self.processes > 1 {
                control.done(budget)?;
            }
            Ok(results)
        });
        if result.is_err() {
            control.farewell();
        }
        control.close();
        let result = result.map_err(|end| self.connections.children.explain(end));
        self.connections.children.reap();
        result
    }

    /// Runs the workers, and ends the connections for the data.
    fn work<T: Send>(
        &self,
        data: Vec<Option<TcpStream>>,
        budget: &Budget,
        stack: usize,
        tallies: &Tallies,
        work: impl Fn(&mut Worker, usize, &Budget) -> Result<T, Interrupted> + Sync,
    ) -> Result<Vec<T>, End> {
        let control = &*self.control;
        let own = budget.clone().with_cancellation(&control.cancellation);
        let is_joined = Arc::new(AtomicBool::new(false));
        // The engine owns the connections; these are here to close them.
        let others: Vec<TcpStream> = data.iter().flatten().filter_map(|stream| stream.try_clone().ok()).collect();
        let mut data = Some(data);
        let (results, guard) = thread::scope(|scope| {
            let (done, is_done) = mpsc::channel();
            let mut starts: Vec<Sender<AllocatorBuilder>> = Vec::with_capacity(self.threads);
            let mut handles = Vec::with_capacity(self.threads);
            for local in 0..self.threads {
                let (start, builder) = mpsc::channel();
                let (own, work, done) = (&own, &work, done.clone());
                let perform = move || {
                    let result = perform(&builder, local, own, work, control);
                    drop(done);
                    result
                };
                let name = format!("worker {local}");
                match thread::Builder::new().name(name).stack_size(stack).spawn_scoped(scope, perform) {
                    Ok(handle) => handles.push(handle),
                    Err(error) => {
                        self.fail(format!("there is no thread for worker {local}: {error}"));
                        break;
                    }
                }
                starts.push(start);
            }
            drop(done);
            // Builders wait for each other: they are only handed out when there is a thread for each.
            let mut guard = None;
            if starts.len() == self.threads {
                match self.builders(data.take().unwrap_or_default(), tallies, &is_joined) {
                    Ok((builders, own)) => {
                        guard = own;
                        starts.iter().zip(builders).for_each(|(start, builder)| drop(start.send(builder)));
                    }
                    Err(error) => self.fail(format!("its connections cannot be used: {error}")),
                }
            }
            drop(starts);
            watch(&is_done, budget, control, || handles.iter().for_each(|handle| handle.thread().unpark()));
            let results: Vec<_> = handles.into_iter().map(|handle| handle.join().ok().flatten()).collect();
            (results, guard)
        });
        control.workers_have_ended();
        if let Some(guard) = guard {
            self.flush(guard, budget, &is_joined, &others);
        }
        if let Some(end) = control.ended() {
            return Err(end);
        }
        let lacking = || End::Failed { process: self.process, why: "a worker ended without a result".into() };
        results.into_iter().collect::<Option<Vec<T>>>().ok_or_else(lacking)
    }

    fn fail(&self, why: String) {
        self.control.end(End::Failed { process: self.process, why });
    }

    /// Waits until all that was sent has arrived and the other processes have nothing more to send; if the group ends early,
    /// nobody waits for that.
    fn flush(&self, guard: CommsGuard, budget: &Budget, is_joined: &AtomicBool, others: &[TcpStream]) {
        let control = &*self.control;
        if !control.has_ended() {
            is_joined.store(true, Ordering::SeqCst);
            let (done, is_done) = mpsc::channel();
            let join = move || {
                drop(guard);
                drop(done);
            };
            match thread::Builder::new().name("flush".into()).spawn(join) {
                Ok(_) => watch_until_end(&is_done, budget, control),
                Err(error) => self.fail(format!("there is no thread: {error}")),
            }
        } else {
            // Its threads may wait for processes that are gone.
            std::mem::forget(guard);
        }
        if control.has_ended() {
            others.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
    }

    /// What the workers of this process exchange data by.
    fn builders(
        &self,
        data: Vec<Option<TcpStream>>,
        tallies: &Tallies,
        is_joined: &Arc<AtomicBool>,
    ) -> io::Result<(Vec<AllocatorBuilder>, Option<CommsGuard>)> {
        let hooks = Hooks::default();
        if self.processes == 1 && self.threads == 1 {
            return Ok((vec![AllocatorBuilder::Thread(ThreadBuilder)], None));
        }
        let builders = ProcessBuilder::new_typed_vector(self.threads, hooks.refill.clone(), None);
        if self.processes == 1 {
            return Ok((builders.into_iter().map(AllocatorBuilder::Process).collect(), None));
        }
        let wire = |(peer, stream): (usize, Option<TcpStream>)| {
            Some(Wire::new(peer, stream?, &self.control, tallies, is_joined))
        };
        let wires = data.into_iter().enumerate().map(wire).collect();
        let (builders, guard) = initialize_networking_from_sockets(builders, wires, self.process, self.threads, hooks)?;
        Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Some(guard)))
    }
}

/// Looks at the limits until all senders of `done` are gone.
fn watch(done: &Receiver<()>, budget: &Budget, control: &Control, wake: impl Fn()) {
    while done.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        if let Err(why) = check_limits(budget) {
            control.interrupt(why);
        }
        if control.cancellation.is_cancelled() {
            wake();
        }
    }
}

/// Looks at the limits until the sender of `done` is gone or the group ends.
fn watch_until_end(done: &Receiver<()>, budget: &Budget, control: &Control) {
    while !control.has_ended() && done.recv_timeout(FLUSH_EVERY) == Err(RecvTimeoutError::Timeout) {
        if let Err(why) = check_limits(budget) {
            control.interrupt(why);
        }
    }
}

/// What a worker does, from its start to its end; nothing if the group ends early.
fn perform<T>(
    builder: &Receiver<AllocatorBuilder>,
    local: usize,
    budget: &Budget,
    work: &impl Fn(&mut Worker, usize, &Budget) -> Result<T, Interrupted>,
    control: &Control,
) -> Option<T> {
    let builder = builder.recv().ok()?;
    let mut worker = Worker::new(WorkerConfig::default(), build(builder), Some(Instant::now()));
    // The worker outlives the panic: its queues tell who panics while they are dropped, and others would panic, too.
    let result = catch_unwind(AssertUnwindSafe(|| {
        let result = work(&mut worker, local, budget)?;
        while worker.has_dataflows() {
            budget.check()?;
            worker.step_or_park(Some(LOOK_EVERY));
        }
        Ok(result)
    }));
    let result = match result {
        Ok(Ok(result)) => Some(result),
        Ok(Err(why)) => {
            control.interrupt(why);
            None
        }
        Err(panic) => {
            control.fail(local, message(&*panic));
            None
        }
    };
    if catch_unwind(AssertUnwindSafe(|| drop(worker))).is_err() {
        control.fail(local, "the dataflow could not be dropped");
        return None;
    }
    result
}

/// The trait of builders is not public, its instances are.
fn build(builder: AllocatorBuilder) -> timely::communication::Allocator {
    use timely::communication::Allocator;
    match builder {
        AllocatorBuilder::Thread(_) => Allocator::Thread(Default::default()),
        AllocatorBuilder::Process(builder) => Allocator::Process(builder.build()),
        AllocatorBuilder::Tcp(builder) => Allocator::Tcp(builder.build()),
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

#[cfg(test)]
mod tests {
    use ample_model::Reason;
    use timely::dataflow::operators::{Exchange, Inspect, ToStream};

    use super::*;

    fn identity(threads: usize) -> Identity {
        Identity { version: "1".into(), digest: 1, threads }
    }

    fn run<T: Send>(
        threads: usize,
        budget: &Budget,
        work: impl Fn(&mut Worker, usize, &Budget) -> Result<T, Interrupted> + Sync,
    ) -> Result<Vec<T>, End> {
        let mesh = Mesh::form(&Group::alone(), &identity(threads), budget)?;
        mesh.run(budget, 1 << 20, &Tallies::new(1, threads), work)
    }

    #[test]
    fn threads_of_one_process_exchange_data() {
        for threads in 1..5 {
            let mesh = Mesh::form(&Group::alone(), &identity(threads), &Budget::unlimited()).unwrap();
            let tallies = Tallies::new(1, threads);
            let work = |worker: &mut Worker, local: usize, _: &Budget| {
                let tallies = tallies.clone();
                worker.dataflow::<u64, _, _>(|scope| {
                    let numbers = (0..100).to_stream(scope).container::<Vec<u64>>();
                    let numbers = numbers.exchange(|number| *number);
                    Inspect::<u64, Vec<u64>>::inspect(numbers, move |_| {
                        tallies.local(local).states.fetch_add(1, Ordering::Relaxed);
                    });
                });
                Ok(())
            };
            mesh.run(&Budget::unlimited(), 1 << 20, &tallies, work).unwrap();
            assert_eq!(tallies.all().iter().map(|tally| tally.states).sum::<u64>(), 100 * threads as u64);
        }
    }

    #[test]
    fn a_deadline_ends_all_workers() {
        let budget = Budget::unlimited().with_time(Duration::from_millis(50));
        let endless = |_: &mut Worker, _: usize, budget: &Budget| -> Result<(), Interrupted> {
            loop {
                budget.check()?;
                thread::park();
            }
        };
        let end = run(3, &budget, endless).unwrap_err();
        assert_eq!(end, End::Interrupted { process: 0, why: Reason::Time });
        assert_eq!(end.to_string(), "process 0: the time limit was reached");
    }

    #[test]
    fn a_panic_ends_all_workers() {
        let work = |_: &mut Worker, local: usize, budget: &Budget| -> Result<(), Interrupted> {
            if local == 1 {
                std::panic::resume_unwind(Box::new("out of range"));
            }
            loop {
                budget.check()?;
                thread::park();
            }
        };
        let end = run(3, &Budget::unlimited(), work).unwrap_err();
        assert_eq!(end.to_string(), "process 0 failed: worker 1: out of range");
    }

    #[test]
    fn more_stack_than_there_is_memory_is_an_error() {
        let mesh = Mesh::form(&Group::alone(), &identity(2), &Budget::unlimited()).unwrap();
        let end = mesh.run(&Budget::unlimited(), 1 << 52, &Tallies::new(1, 2), |_, _, _| Ok(())).unwrap_err();
        assert!(end.to_string().starts_with("process 0 failed: there is no thread for worker 0: "), "{end}");
    }
}
