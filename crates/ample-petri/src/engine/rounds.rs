//! The time slices of the worker with decision diagrams.
//!
//! Which order of the places serves is not known before, nor whether the tasks are better looked at together, in a net
//! that is simplified for all of them, or each in a smaller net of its own. So all of them get slices of time, which
//! get longer from round to round. What has not fitted into the memory once is not tried again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::diagram::Method;
use crate::net::Net;
use ample_model::{Budget, Reason};

use super::board::Board;
use super::diagrams::{Done, Order, Plan, as_branching, attempt};
use super::tasks::Task;

/// The first slice of time, and the least.
const FIRST_SLICE: Duration = Duration::from_secs(2);
const LEAST_SLICE: Duration = Duration::from_micros(50);
/// The next ones are longer by this factor.
const GROWTH: u32 = 4;
/// A task on its own gets this part of a slice.
const PART: u32 = 4;
/// All of them together get so many slices.
const FOR_EACH: u32 = 2;

/// Which formulas of linear time are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linear {
    /// All of them.
    All,
    /// Those that a formula of branching time says as well, for which no product with an automaton is needed.
    AsBranching,
}

/// Looks at the open tasks, or counts the markings if nothing is asked.
pub fn work(
    net: &Net,
    board: &Board<'_>,
    (memory, method): (u64, Method),
    linear: Linear,
    first_slice: Option<Duration>,
    budget: &Budget,
) -> Done {
    let mut rounds = Rounds { net, board, memory, method, linear, budget, full: HashSet::new(), next: 0, peak: 0 };
    let mut slice = first_slice.unwrap_or(FIRST_SLICE).max(LEAST_SLICE);
    loop {
        if let Some(mut done) = rounds.round(slice) {
            done.diagrams.peak_nodes = done.diagrams.peak_nodes.max(rounds.peak);
            return done;
        }
        slice = slice.saturating_mul(GROWTH);
    }
}

/// The open tasks that diagrams are to look at.
fn answerable(board: &Board<'_>, linear: Linear) -> Vec<usize> {
    let can = |task: &usize| match &board.tasks.all[*task] {
        Task::Linear(formula) => linear == Linear::All || as_branching(formula).is_some(),
        Task::Reach(_) | Task::Dead | Task::Bound(_) | Task::Branching(_) => true,
    };
    board.open().into_iter().filter(can).collect()
}

struct Rounds<'a, 'b> {
    net: &'a Net,
    board: &'a Board<'b>,
    memory: u64,
    method: Method,
    linear: Linear,
    budget: &'a Budget,
    /// What has not fitted: all tasks together, or one of them, in an order.
    full: HashSet<(Option<usize>, Order)>,
    /// The task that is the next to be looked at on its own.
    next: usize,
    peak: usize,
}

/// How a turn ended.
enum Turn {
    /// Everything is to end.
    Interruption(Done),
    /// What was to be found out is known.
    Known(Done),
    /// The time was not enough.
    Late,
    /// Nor was the memory, now or before.
    Full,
}

impl Rounds<'_, '_> {
    /// One turn for everybody. `None` if there is to be another round.
    fn round(&mut self, slice: Duration) -> Option<Done> {
        let counts = self.board.tasks.all.is_empty();
        let mut is_full = true;
        for order in [Order::Near, Order::Written] {
            let tasks = answerable(self.board, self.linear);
            if tasks.is_empty() && !counts {
                return Some(Done::default());
            }
            match self.turn(None, tasks, order, slice) {
                Turn::Interruption(done) | Turn::Known(done) => return Some(done),
                Turn::Late => is_full = false,
                Turn::Full => {}
            }
        }
        let tasks = answerable(self.board, self.linear);
        if tasks.len() > 1 {
            let end = Instant::now() + slice * FOR_EACH;
            for _ in 0..tasks.len() {
                let task = tasks[self.next % tasks.len()];
                if Instant::now() >= end {
                    is_full = false;
                    break;
                }
                self.next += 1;
                let order = if self.next.is_multiple_of(2) { Order::Written } else { Order::Near };
                match self.turn(Some(task), vec![task], order, slice / PART) {
                    Turn::Interruption(done) => return Some(done),
                    Turn::Known(_) | Turn::Full => {}
                    Turn::Late => is_full = false,
                }
            }
        }
        is_full.then(|| Done { ended: Some(Reason::Memory), ..Done::default() })
    }

    fn turn(&mut self, task: Option<usize>, tasks: Vec<usize>, order: Order, slice: Duration) -> Turn {
        if self.full.contains(&(task, order)) {
            return Turn::Full;
        }
        let plan = Plan { tasks, order, until: Instant::now() + slice };
        let done = attempt(self.net, self.board, &plan, (self.memory, self.method), self.budget);
        self.peak = self.peak.max(done.diagrams.peak_nodes);
        match done.ended {
            None if done.is_late => Turn::Late,
            None => Turn::Known(done),
            Some(Reason::Memory) => {
                self.full.insert((task, order));
                Turn::Full
            }
            Some(_) => Turn::Interruption(done),
        }
    }
}
