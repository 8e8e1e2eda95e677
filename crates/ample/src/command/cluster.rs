//! `--processes` and `--hosts`: this process becomes a part of a group.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use ample::{Budget, Cancellation, Cluster, ClusterOptions, End, Identity, Mesh, SOG_STACK, Spread, System, Workers};

use super::arguments::Common;
use super::{Context, Exit, complain, failed, supervisor};

/// The stack of a worker: systems may be nested deeply, and so may diagrams.
const STACK: usize = SOG_STACK;

/// What this process does.
pub enum Part {
    /// Everything: it is not in a group.
    Alone,
    /// It decides what the workers do.
    First(Leading),
    /// It has done what the first process wanted.
    Done(Exit),
}

/// The workers of a group, and those of this process in a thread of their own.
pub struct Leading {
    cluster: Arc<Cluster>,
    /// Ends the workers of this process at once.
    cancellation: Cancellation,
    serving: Option<JoinHandle<Result<(), End>>>,
}

/// How the group is to be formed.
pub struct Forming<'a> {
    pub options: &'a ClusterOptions,
    pub common: &'a Common,
    /// Workers of each process, if that is said.
    pub threads: Option<usize>,
    /// What all processes have to agree on beside the model.
    pub asked: &'a str,
}

/// Of a process that another one has started: does what that one wants. It needs no model, since its systems are sent.
pub fn follow(file: &Path, forming: &Forming<'_>, context: &Context) -> Option<Exit> {
    forming.options.member?;
    if let Ok(Some(group)) = forming.options.group(Vec::new()) {
        group.follow_parent();
    }
    match join(file, None, forming, context) {
        Ok(Part::Done(exit)) | Err(exit) => Some(exit),
        Ok(_) => Some(Exit::Wrong),
    }
}

/// Becomes a part of the group that is asked for, if one is.
pub fn join(file: &Path, system: Option<&System>, forming: &Forming<'_>, context: &Context) -> Result<Part, Exit> {
    let options = forming.options;
    let group = options.group(std::env::args_os().skip(1).collect());
    let Some(group) = group.map_err(|why| wrong(&why.to_string()))? else { return Ok(Part::Alone) };
    let is_local = options.hosts.is_none();
    let processes = group.processes();
    // On one machine the processes share what there is.
    let share = if is_local { processes } else { 1 };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = forming.threads.unwrap_or((cores / share).max(1));
    let limit = forming.common.memory_limit.or_else(ample::sensible_memory_limit);
    let cancellation = Cancellation::new();
    let mut budget = Budget::unlimited().with_cancellation(&cancellation);
    if let Some(limit) = limit {
        budget = budget.with_memory(limit / share as u64);
    }
    let identity = Identity {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        digest: system.filter(|_| !is_local).map_or(0, |system| digest(system, forming.asked)),
        threads,
    };
    // Until all have come, the user or the time may end it.
    let mut waiting = budget.clone().with_cancellation(&Arc::clone(&context.interrupt).into());
    if let Some(time) = forming.common.time_limit {
        waiting = waiting.with_time(time);
    }
    let mesh = Mesh::form(&group, &identity, &waiting).map_err(|end| ended(file, &end))?;
    let cluster = Arc::new(Cluster::new(&mesh));
    if group.process() > 0 {
        // The first process sees to it that the time is kept, and the user ends this one.
        let budget = budget.with_cancellation(&Arc::clone(&context.interrupt).into());
        supervisor::begin(file, &budget);
        return match cluster.serve(mesh, STACK, &budget) {
            Ok(()) => Ok(Part::Done(Exit::Fine)),
            Err(end) => Err(ended(file, &end)),
        };
    }
    let serving = Arc::clone(&cluster);
    let serve = move || serving.serve(mesh, STACK, &budget);
    let serving = std::thread::Builder::new().name("workers".into()).spawn(serve);
    let serving =
        serving.map_err(|error| failed(context, file, &format!("there is no thread for workers: {error}")))?;
    Ok(Part::First(Leading { cluster, cancellation, serving: Some(serving) }))
}

impl Leading {
    /// The workers.
    pub fn workers(&self) -> Workers {
        Workers(Arc::clone(&self.cluster))
    }

    /// The work is done: the other processes end. How it was spread.
    pub fn finish(mut self) -> Spread {
        self.cluster.finish();
        let _ = self.serving.take().map(JoinHandle::join);
        self.cluster.spread()
    }
}

impl Drop for Leading {
    /// Where the work ends in another way, so do the workers.
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            self.cancellation.cancel();
            let _ = serving.join();
        }
    }
}

/// A call that is wrong.
fn wrong(why: &str) -> Exit {
    complain(|out| {
        use std::io::Write;
        writeln!(out, "Error: {why}")
    });
    Exit::Wrong
}

/// The group has ended, or has not been formed.
fn ended(file: &Path, end: &End) -> Exit {
    complain(|out| {
        use std::io::Write;
        writeln!(out, "Error: {}: not decided, because {end}", file.display())
    });
    Exit::Undecided
}

/// A number that stands for a model and for what is asked.
fn digest(system: &System, asked: &str) -> u128 {
    let model = serde_json::to_vec(system).unwrap_or_default();
    ample::digest(&[&model, asked.as_bytes()])
}
