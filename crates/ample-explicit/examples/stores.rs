//! The stores side by side: bytes per state, and how long a search takes. Reads Promela files; nothing is reduced.
//!
//!     cargo run --release -p ample-explicit --example stores -- [bfs|dfs] models/promela/*.pml
//!
//! Seconds are those of the processor. `bench/stores.py` does the same with the command, and beside pan.

use std::time::Instant;

use ample_budget::Budget;
use ample_engine::settings::{PartialOrder, Settings};
use ample_explicit::engine::options::{Explicit, Options, Search, StoreKind};
use ample_explicit::engine::work;
use ample_lang::promela::{self, preprocess::FileLoader};

/// Seconds that this thread has run; where the system does not tell, seconds that have passed.
fn seconds(begun: Instant) -> f64 {
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ran.map_or_else(|| begun.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

const STORES: [StoreKind; 7] = [
    StoreKind::Exact,
    StoreKind::Tree,
    StoreKind::Collapse,
    StoreKind::Compact,
    StoreKind::BitState,
    StoreKind::Disk,
    StoreKind::Automaton,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let begun = Instant::now();
    let mut search = Search::BreadthFirst;
    for path in std::env::args().skip(1) {
        match path.as_str() {
            "bfs" => search = Search::BreadthFirst,
            "dfs" => search = Search::DepthFirst,
            _ => compare(&path, search, begun)?,
        }
    }
    Ok(())
}

fn compare(path: &str, search: Search, begun: Instant) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(path)?;
    let lowered = match promela::read(path, text, &mut FileLoader, &[]) {
        Ok(lowered) => lowered,
        Err(why) => {
            println!("{path}: {why:?}");
            return Ok(());
        }
    };
    let settings = Settings { partial_order: PartialOrder::None, ..Settings::default() };
    let mut exact = None;
    for store in STORES {
        if store == StoreKind::Disk && search == Search::DepthFirst {
            continue;
        }
        let options =
            Options { explicit: Explicit { search, store, ..Explicit::default() }, settings: settings.clone() };
        let before = seconds(begun);
        let report = work::states(&lowered.system, &options, &Budget::unlimited().with_memory(4 << 30));
        let took = seconds(begun) - before;
        let statistics = report.statistics;
        let stored = statistics.states + statistics.atomic_states;
        let speed = *exact.get_or_insert(took) / took;
        println!(
            "{path:40} {store:10} {:>10} states {:>4} bytes {:>8.2} bytes/state {took:>8.2} s {speed:>6.2}  {}",
            statistics.states,
            statistics.state_bytes,
            statistics.store_bytes as f64 / stored as f64,
            report.ended.map_or_else(String::new, |why| why.to_string()),
            store = format!("{store:?}").to_lowercase(),
        );
    }
    Ok(())
}
