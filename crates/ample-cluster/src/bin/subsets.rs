//! A breadth-first search over several processes: the states are the subsets of a set, and a step adds an element.
//!
//! The hash of a state says which worker keeps it. What the search has to find is known: a set of n elements has 2^n subsets,
//! and n 2^(n-1) steps lead from one to another. The tests of the crate start this program in many ways.
//!
//! ```text
//! cargo run -p ample-cluster --bin subsets -- --processes 3 --threads 2 --elements 16
//! ```

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ample_budget::{Budget, Interrupted};
use ample_cluster::{ClusterOptions, End, Identity, Mesh, Tallies};
use clap::Parser;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Concat, ConnectLoop, Feedback, ToStream};
use timely::worker::Worker;

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    cluster: ClusterOptions,
    /// The workers of each process.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// The size of the set.
    #[arg(long, default_value_t = 12)]
    elements: u32,
    /// So many searches, one after the other.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// The time limit, in milliseconds.
    #[arg(long)]
    time: Option<u64>,
    /// Says that it is another version.
    #[arg(long, default_value = "0.1.0")]
    claimed: String,
    /// Says that it has another model.
    #[arg(long, default_value_t = 0)]
    digest: u128,
    /// A worker of that process panics.
    #[arg(long)]
    panic_in: Option<usize>,
    /// Ends that process before it is connected.
    #[arg(long)]
    exit_in: Option<usize>,
    /// That process does nothing, not even what it has to.
    #[arg(long)]
    stuck_in: Option<usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let group = match arguments.cluster.group(std::env::args_os().skip(1).collect()) {
        Ok(group) => group.unwrap_or_else(ample_cluster::Group::alone),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    group.follow_parent();
    if arguments.stuck_in == Some(group.process()) {
        loop {
            std::thread::park();
        }
    }
    if arguments.exit_in == Some(group.process()) {
        eprintln!("this process ends early");
        return ExitCode::from(7);
    }
    let mut budget = Budget::unlimited();
    if let Some(time) = arguments.time {
        budget = budget.with_time(Duration::from_millis(time));
    }
    match search(&arguments, &group, &budget) {
        Ok((states, transitions, sent)) => {
            println!("states {states}, transitions {transitions}, bytes sent {sent}");
            ExitCode::SUCCESS
        }
        Err(end) => {
            println!("ended: {end}");
            ExitCode::from(3)
        }
    }
}

/// Counts states, transitions and the bytes that went over the network.
fn search(arguments: &Arguments, group: &ample_cluster::Group, budget: &Budget) -> Result<(u64, u64, u64), End> {
    let Arguments { claimed, digest, threads, .. } = arguments;
    let identity = Identity { version: claimed.clone(), digest: *digest, threads: *threads };
    let mesh = Mesh::form(group, &identity, budget)?;
    let process = mesh.process();
    let tallies = Tallies::new(mesh.processes(), mesh.threads());
    mesh.run(budget, 1 << 20, &tallies, |worker, local, budget| {
        for _ in 0..arguments.rounds {
            let tally = tallies.local(local);
            tally.states.store(0, Ordering::Relaxed);
            tally.transitions.store(0, Ordering::Relaxed);
            explore(worker, arguments, process, local, &tallies);
            while worker.has_dataflows() {
                budget.check()?;
                worker.step_or_park(Some(Duration::from_millis(10)));
            }
        }
        Ok::<(), Interrupted>(())
    })?;
    let all = tallies.all();
    let sent = tallies.traffic().iter().map(|traffic| traffic.sent).sum();
    Ok((all.iter().map(|tally| tally.states).sum(), all.iter().map(|tally| tally.transitions).sum(), sent))
}

fn explore(worker: &mut Worker, arguments: &Arguments, process: usize, local: usize, tallies: &Tallies) {
    let (elements, tallies) = (arguments.elements, tallies.clone());
    let panics = arguments.panic_in == Some(process) && local == 0;
    let initial = (worker.index() == 0).then_some(0u64);
    let mut stored = HashSet::new();
    worker.dataflow::<usize, _, _>(move |scope| {
        let (handle, found) = scope.feedback(1);
        let initial = initial.to_stream(scope).container::<Vec<u64>>();
        let by_owner = Exchange::new(|state: &u64| state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
        let found = initial.concat(found).unary(by_owner, "expand", move |_, _| {
            move |input, output| {
                input.for_each_time(|time, data| {
                    let tally = tallies.local(local);
                    let mut session = output.session(&time);
                    for state in data.flat_map(|states: &mut Vec<u64>| states.drain(..)) {
                        if !stored.insert(state) {
                            continue;
                        }
                        assert!(!panics || stored.len() < 100, "the hundredth state is one too many");
                        tally.states.fetch_add(1, Ordering::Relaxed);
                        for next in (0..elements).map(|element| state | 1 << element).filter(|next| *next != state) {
                            tally.transitions.fetch_add(1, Ordering::Relaxed);
                            session.give(next);
                        }
                    }
                });
            }
        });
        found.connect_loop(handle);
    });
}
