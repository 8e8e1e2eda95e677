//! Progress: a line on a terminal, JSON lines for a program, silence in a pipe.

use std::io::{IsTerminal, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ample::{Progress, Workers};
use serde_json::json;

use super::arguments::Progress as How;
use super::text::{bytes, count};

/// How often something is shown.
const EVERY: Duration = Duration::from_millis(200);

/// Shows how a search goes, on standard error. Any thread may tell.
pub struct Display {
    how: How,
    begun: Instant,
    state: Mutex<State>,
    /// Workers of several processes, if there are some.
    workers: Option<Workers>,
}

#[derive(Default)]
struct State {
    /// When something was shown last.
    shown: Duration,
    /// There is a line on the terminal that must be wiped before anything else is written.
    dirty: bool,
}

impl Display {
    pub fn new(how: How, quiet: bool) -> Display {
        let silent = how == How::Auto && (quiet || !stderr().is_terminal());
        Display {
            how: if silent { How::Never } else { how },
            begun: Instant::now(),
            state: Mutex::default(),
            workers: None,
        }
    }

    /// The same for a search by the workers of several processes.
    pub fn of(self, workers: Option<Workers>) -> Display {
        Display { workers, ..self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called often; shows something now and then.
    pub fn show(&self, progress: &Progress) {
        if self.how == How::Never || progress.states + progress.aggregates + progress.nodes + progress.clauses == 0 {
            return;
        }
        let elapsed = self.begun.elapsed();
        let mut state = self.state();
        if elapsed < state.shown + EVERY {
            return;
        }
        state.shown = elapsed;
        let spread = self.workers.as_ref().map(|Workers(cluster)| cluster.spread());
        let text = match self.how {
            How::Json => {
                let mut told = in_json(progress, elapsed);
                if let Some(spread) = spread {
                    told["progress"]["cluster"] = json!(spread);
                }
                format!("{told}\n")
            }
            _ => {
                let balance = spread.map(|spread| {
                    let states: Vec<String> = spread.workers.iter().map(|w| count(w.states.unwrap_or(0))).collect();
                    format!(", by worker {}, balance {:.2}", states.join(" "), spread.balance)
                });
                format!("\r\x1b[2K{}{}", line(progress, elapsed), balance.unwrap_or_default())
            }
        };
        // Nobody to see it is no reason to stop.
        let _ = stderr().write_all(text.as_bytes());
        state.dirty = self.how == How::Auto;
    }

    /// Wipes the line.
    pub fn finish(&self) {
        if std::mem::take(&mut self.state().dirty) {
            let mut out = stderr().lock();
            let _ = write!(out, "\r\x1b[2K").and_then(|()| out.flush());
        }
    }
}

fn in_json(progress: &Progress, elapsed: Duration) -> serde_json::Value {
    let mut told = json!({"progress": {
        "states": progress.states,
        "transitions": progress.transitions,
        "depth": progress.depth,
        "aggregates": progress.aggregates,
        "pending": progress.pending,
        "memory_bytes": progress.memory,
        "nodes": progress.nodes,
        "clauses": progress.clauses,
        "conflicts": progress.conflicts,
        "frames": progress.frames,
        "time_s": elapsed.as_secs_f64(),
    }});
    if progress.parts > 0 {
        told["progress"]["part"] = progress.part.into();
        told["progress"]["parts_done"] = progress.parts_done.into();
        told["progress"]["parts"] = progress.parts.into();
    }
    told
}

fn line(progress: &Progress, elapsed: Duration) -> String {
    if progress.aggregates > 0 {
        return format!(
            "{} aggregates, {} arcs, {} pending, {}, {:.0} s",
            count(progress.aggregates),
            count(progress.transitions),
            count(progress.pending),
            bytes(progress.memory),
            elapsed.as_secs_f64()
        );
    }
    if progress.states + progress.nodes == 0 {
        return format!(
            "bound {}, {} frames, {} clauses, {} conflicts, {:.0} s",
            progress.depth,
            progress.frames,
            count(progress.clauses),
            count(progress.conflicts),
            elapsed.as_secs_f64()
        );
    }
    if progress.states == 0 && progress.parts > 0 {
        return format!(
            "part {} of {}, {} done, {} nodes, {} images, {:.0} s",
            progress.part,
            progress.parts,
            progress.parts_done,
            count(progress.nodes),
            progress.depth,
            elapsed.as_secs_f64()
        );
    }
    if progress.states == 0 {
        return format!("{} nodes, {} images, {:.0} s", count(progress.nodes), progress.depth, elapsed.as_secs_f64());
    }
    let rate = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    format!(
        "{} states, {} transitions, depth {}, {} pending, {}, {:.0} s, {} states/s",
        count(progress.states),
        count(progress.transitions),
        progress.depth,
        count(progress.pending),
        bytes(progress.memory),
        elapsed.as_secs_f64(),
        count(rate as u64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_checked_is_told_where_there_are_parts() {
        let progress = Progress { part: 2, parts_done: 3, parts: 5, nodes: 10, ..Progress::default() };
        assert!(line(&progress, Duration::ZERO).starts_with("part 2 of 5, 3 done, 10 nodes"));
        let told = in_json(&progress, Duration::ZERO);
        assert_eq!((&told["progress"]["part"], &told["progress"]["parts"]), (&json!(2), &json!(5)));
        let told = in_json(&Progress { nodes: 10, ..Progress::default() }, Duration::ZERO);
        assert_eq!(told["progress"].get("part"), None);
    }
}
