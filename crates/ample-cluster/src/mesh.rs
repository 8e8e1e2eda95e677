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
//!         numbers.exchange(|number| *number).inspect(move |number| assert_eq!(number % 2, index));
//!     });
//!     Ok(index)
//! })?;
//! assert_eq!(results, [0, 1]);
//! # Ok::<(), ample_cluster::mesh::End>(())
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Interrupted};
use timely::WorkerConfig;
use timely::communication::AllocatorBuilder;
use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::thread::ThreadBuilder;
use timely::worker::Worker;

use crate::control::{Control, check_limits};
pub use crate::control::{End, Tallies, Tally, TallySnapshot, Traffic};
use crate::group::Group;

/// How often the limits are looked at while workers run, and how long a worker that waits for others sleeps at most.
const LOOK_EVERY: Duration = Duration::from_millis(20);

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

/// The connected processes of a group.
#[derive(Debug)]
pub struct Mesh {
    process: usize,
    processes: usize,
    threads: usize,
    control: Arc<Control>,
}

impl Mesh {
    /// Starts and connects the processes of a group.
    pub fn form(group: &Group, identity: &Identity, budget: &Budget) -> Result<Mesh, End> {
        let (process, processes, threads) = (group.process(), group.processes(), identity.threads.max(1));
        check_limits(budget).map_err(|why| End::Interrupted { process, why: why.into() })?;
        if processes > 1 {
            return Err(End::Failed { process, why: "groups of several processes are not there yet".into() });
        }
        Ok(Mesh { process, processes, threads, control: Arc::new(Control::new(process)) })
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
        self,
        budget: &Budget,
        stack: usize,
        tallies: &Tallies,
        work: impl Fn(&mut Worker, usize, &Budget) -> Result<T, Interrupted> + Sync,
    ) -> Result<Vec<T>, End> {
        tallies.begin(self.process);
        let control = &*self.control;
        let own = budget.clone().with_cancellation(&control.cancellation);
        let results = thread::scope(|scope| {
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
                        let why = format!("there is no thread for worker {local}: {error}");
                        control.end(End::Failed { process: self.process, why });
                        break;
                    }
                }
                starts.push(start);
            }
            drop(done);
            // Builders wait for each other: they are only handed out when there is a thread for each.
            if starts.len() == self.threads {
                for (start, builder) in starts.into_iter().zip(self.builders()) {
                    let _ = start.send(builder);
                }
            } else {
                drop(starts);
            }
            watch(&is_done, budget, control, || handles.iter().for_each(|handle| handle.thread().unpark()));
            handles.into_iter().map(|handle| handle.join().ok().flatten()).collect::<Vec<Option<T>>>()
        });
        control.workers_have_ended();
        if let Some(end) = control.ended() {
            return Err(end);
        }
        let lacking = || End::Failed { process: self.process, why: "a worker ended without a result".into() };
        results.into_iter().collect::<Option<Vec<T>>>().ok_or_else(lacking)
    }

    /// What the workers of this process exchange data by.
    fn builders(&self) -> Vec<AllocatorBuilder> {
        if self.threads == 1 {
            return vec![AllocatorBuilder::Thread(ThreadBuilder)];
        }
        let builders = ProcessBuilder::new_typed_vector(self.threads, Hooks::default().refill, None);
        builders.into_iter().map(AllocatorBuilder::Process).collect()
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
    use std::sync::atomic::Ordering;

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
                    numbers.inspect(move |_| {
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
