//! How fast are the compiled successors? Reads Promela files; for each, the search as a whole (depth first,
//! exact store), and the successors alone, over the states that the search found.
//!
//!     cargo run --release -p ample-explicit --example throughput -- models/promela/*.pml

use std::sync::LazyLock;
use std::time::Instant;

use ample_budget::Budget;
use ample_explicit::check::{Options, depth_first};
use ample_explicit::compile::Compiled;
use ample_explicit::space::StateSpace;
use ample_explicit::store::FlatStore;
use ample_lang::promela::{self, preprocess::FileLoader};

/// Seconds that this thread has run, which other people's jobs do not stretch; where the system does not
/// tell, seconds that have passed.
fn seconds() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ran.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

/// How many states the successors are measured over.
const SAMPLE: usize = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:32} {:>10} {:>11} {:>6} {:>8} {:>9}   ns per transition alone",
        "", "states", "transitions", "bytes", "s", "states/s"
    );
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let lowered = match promela::read(&path, text, &mut FileLoader, &[]) {
            Ok(lowered) => lowered,
            Err(why) => {
                println!("{path}: {why:?}");
                continue;
            }
        };
        let mut space = Compiled::new(&lowered.system, &[])?;
        let alone = if asked("SEARCH") { f64::NAN } else { successors_alone(&mut space) };
        if asked("ALONE") {
            println!("{path}: {alone:.1}");
            continue;
        }
        let mut store = FlatStore::new();
        let begin = seconds();
        let report = depth_first(&mut space, &mut store, &Options::default(), &Budget::unlimited());
        let taken = seconds() - begin;
        let statistics = report.statistics;
        let name = path.rsplit('/').next().unwrap_or(&path);
        let rate = statistics.states as f64 / taken;
        println!(
            "{name:32} {:10} {:11} {:6} {taken:8.3} {rate:9.0}   {alone:6.1}",
            statistics.states,
            statistics.transitions,
            space.max_state_bytes(),
        );
    }
    Ok(())
}

/// The environment asks for just one of the two measurements (for a profiler): `ALONE=1` or `SEARCH=1`.
fn asked(what: &str) -> bool {
    std::env::var_os(what).is_some()
}

/// Nanoseconds per transition: finding it and writing its target, over a sample of the reachable states.
fn successors_alone(space: &mut Compiled) -> f64 {
    let mut seen = std::collections::HashSet::new();
    let (mut states, mut out) = (Vec::new(), Vec::new());
    for number in 0.. {
        if !space.initial(number, &mut out) {
            break;
        }
        if seen.insert(out.clone()) {
            states.push(out.clone());
        }
    }
    let mut at = 0;
    while at < states.len() && states.len() < SAMPLE {
        let state = states[at].clone();
        at += 1;
        let mut next = space.first(&state);
        while let Some(transition) = next {
            space.target(&state, &transition, &mut out);
            if seen.insert(out.clone()) {
                states.push(out.clone());
            }
            next = space.next(&state, &transition);
        }
    }
    let rounds = 1 + 500_000 / states.len();
    let begin = seconds();
    let mut transitions = 0u64;
    for state in states.iter().cycle().take(states.len() * rounds) {
        let mut next = space.first(state);
        while let Some(transition) = next {
            space.target(state, &transition, &mut out);
            transitions += 1;
            next = space.next(state, &transition);
        }
    }
    (seconds() - begin) * 1e9 / transitions as f64
}
