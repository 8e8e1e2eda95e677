//! Attempts with decision diagrams: all reachable markings once, and every task looked up in them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Interrupted};
use ample_logic::{Formula as Logic, TranslateError, as_ctl, translate_within};
use ample_model::{Reason, Statistics};
use ample_symbolic::ctl::{Ctl, Evaluator};
use ample_symbolic::diagram::NODE_BYTES;
use ample_symbolic::evidence::Explainer;
use ample_symbolic::product::{Lasso, accepted_run};
use ample_symbolic::reach::Effort;
use ample_symbolic::{Maybe, SetError};
use num_bigint::BigUint;

use crate::diagram::{Diagrams, Limits, Method, Set, atoms, diagrams, filter, run_to_goal, with_stack};
use crate::evidence::{Evidence, LONGEST, fired};
use crate::net::{Condition, Net, Sum};
use crate::simplify::Simplified;
use crate::structure::units;

use super::board::{Board, Finding, NetRun};
use super::explanation::has_evidence;
use super::tasks::Task;
use ample_engine::report::DiagramStatistics;

/// Who it is.
const ENGINE: &str = "symbolic";
/// So long runs are looked for when all is known, or a fifth of the time before, but not longer than that.
const TO_SHOW: (Duration, Duration) = (Duration::from_millis(300), Duration::from_secs(10));
/// With fewer nodes, sets that are needed again to show something are kept.
const FEW_NODES: usize = 2_000_000;

/// What the worker came to.
#[derive(Default)]
pub struct Done {
    /// Why it ended early.
    pub ended: Option<Reason>,
    /// It ended early because its turn was over, and might have got further.
    pub is_late: bool,
    /// How many markings there are.
    pub states: Option<BigUint>,
    /// What the diagrams were like.
    pub diagrams: DiagramStatistics,
}

/// How the places stand in a diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// What a transition touches is near each other.
    Near,
    /// As the source has them, which often follows an idea.
    Written,
}

/// What to do, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is to be found out; nothing if markings are counted.
    pub tasks: Vec<usize>,
    /// How the places stand.
    pub order: Order,
    /// When it has to end.
    pub until: Instant,
}

/// Makes diagrams of the net, simplified for the tasks of the plan, and looks them up there.
pub fn attempt(net: &Net, board: &Board<'_>, plan: &Plan, (memory, method): (u64, Method), budget: &Budget) -> Done {
    // Where nothing is asked the markings are counted, and that is never complete.
    let counts = board.tasks.all.is_empty();
    let part = if counts { budget.clone() } else { board.until_complete(budget) };
    let part = part.with_deadline(plan.until);
    with_stack(net.places.len(), || session(net, board, plan, (memory, method), (budget, &part)))
}

fn session(
    net: &Net,
    board: &Board<'_>,
    plan: &Plan,
    (memory, method): (u64, Method),
    (whole, budget): (&Budget, &Budget),
) -> Done {
    let mut done = Done::default();
    let small = if plan.tasks.is_empty() { None } else { Some(board.tasks.simplified(net, &plan.tasks, budget)) };
    let simple = small.as_ref().map_or(net, |small| &small.net);
    let order = match plan.order {
        Order::Near => units::order(simple, budget),
        Order::Written => (0..simple.places.len() as u32).collect(),
    };
    let limits = Limits { max_nodes: memory as usize / NODE_BYTES, budget: budget.clone() };
    let result = diagrams(simple, &order, limits).and_then(|mut diagrams| {
        let small = small.as_ref();
        let mut session = Session { net, diagrams: &mut diagrams, board, plan, whole, small, unsupported: None };
        let result = session.answer(method, &mut done);
        done.ended = session.unsupported.take().map(Reason::Unsupported);
        done.diagrams.peak_nodes = diagrams.size().peak;
        result
    });
    done.diagrams.relations = simple.transitions.len();
    if let Err(why) = result {
        done.is_late = why == SetError::Deadline && whole.check() != Err(Interrupted::Deadline);
        done.ended = if done.is_late { None } else { Some(ended(why)) };
    }
    done
}

/// Why an attempt has ended early.
fn ended(why: SetError) -> Reason {
    match why {
        SetError::Memory | SetError::Cancelled | SetError::Deadline => why.into(),
        other => Reason::Unsupported(other.to_string()),
    }
}

/// The tables of nodes, and what is asked of them.
struct Session<'a, 'b> {
    net: &'a Net,
    diagrams: &'a mut Diagrams,
    board: &'a Board<'b>,
    plan: &'a Plan,
    /// What there is when the plan's time is over, too.
    whole: &'a Budget,
    /// The net whose markings they hold, if it is not the one that was asked about.
    small: Option<&'a Simplified>,
    /// A formula has no automaton, and why.
    unsupported: Option<String>,
}

/// A formula whose truth is known, and the sets of its parts.
struct Evaluated {
    task: usize,
    formula: Logic,
    conditions: Vec<Condition>,
    /// What was evaluated, unless it is large.
    known: HashMap<Ctl, Set>,
}

const HOW: &str = "all markings as a diagram";
const WITH_AUTOMATON: &str = "all markings as a diagram, and an automaton";

/// A formula of branching time that says the same as one of linear time. A dead marking repeats itself in linear time,
/// and has no next one in branching time.
pub fn as_branching(formula: &Logic) -> Option<Logic> {
    if formula.has_next() { None } else { as_ctl(formula) }
}

impl Session<'_, '_> {
    fn answer(&mut self, method: Method, done: &mut Done) -> Maybe<()> {
        let reached = self.diagrams.reachable(method)?;
        done.diagrams.reached_nodes = self.diagrams.nodes(&reached)?;
        if self.small.is_none() {
            let count = self.diagrams.count(&reached)?;
            let many = u64::try_from(&count).is_err().then(|| count.to_string());
            let states = u64::try_from(&count).unwrap_or(u64::MAX);
            self.board.note(&Statistics { states, many_states: many, complete: true, ..Statistics::default() });
            done.states = Some(count);
        }
        // What is quick comes first, and runs come last.
        let mut to_show = Vec::new();
        let board = self.board;
        for task in self.open() {
            match &board.tasks.all[task] {
                Task::Reach(condition) => {
                    let Some(condition) = self.translated(condition) else { continue };
                    let goal = filter(self.diagrams, &reached, &condition)?;
                    self.settle_goal(task, goal, &mut to_show);
                }
                Task::Dead => {
                    let goal = self.diagrams.deadlocks(&reached)?;
                    self.settle_goal(task, goal, &mut to_show);
                }
                Task::Bound(number) => {
                    let whole = &board.tasks.sums[*number];
                    let sum = match self.small {
                        Some(small) => board.tasks.translated_sum(small, *number),
                        None => Some(whole.clone()),
                    };
                    let Some(sum) = sum else { continue };
                    let value = self.largest(&reached, &sum)?;
                    board.settle(task, Finding::Value(value), ENGINE, HOW);
                }
                Task::Branching(_) | Task::Linear(_) => {}
            }
        }
        let mut formulas = Vec::new();
        let result = self.branching(&reached, &mut formulas).and_then(|()| self.linear(&reached));
        if result.is_ok() || result == Err(SetError::Cancelled) && board.is_complete() {
            self.begin_to_show();
            // What is known stays known if there is no time to show it.
            let _ = self.show(&reached, to_show, formulas);
        }
        result
    }

    /// What is known may be shown although the plan's time is over, and everything is known; but not for long.
    fn begin_to_show(&mut self) {
        let time = (self.board.begun.elapsed() / 5).clamp(TO_SHOW.0, TO_SHOW.1);
        self.diagrams.set_budget(self.whole.clone().with_time(time));
    }

    /// Looks for runs to what can be reached, and for what shows the truth of formulas.
    fn show(&mut self, reached: &Set, goals: Vec<(usize, Set)>, formulas: Vec<Evaluated>) -> Maybe<()> {
        let board = self.board;
        for (task, goal) in goals {
            if !board.has_evidence(task) {
                let run = self.run_to(reached, &goal)?.map(NetRun::to);
                board.settle(task, Finding::Truth(true, run), ENGINE, HOW);
            }
        }
        let initial = self.diagrams.initial()?;
        let Some(start) = self.diagrams.pick(&initial) else { return Ok(()) };
        for Evaluated { task, formula, conditions, known } in formulas {
            if board.has_evidence(task) {
                continue;
            }
            let evaluator = Evaluator::new(self.diagrams, atoms(&conditions), reached.clone())?;
            let evidence = Explainer::new(&mut evaluator.knowing(known)).up_to(LONGEST).runs(&formula, &start)?;
            let evidence = evidence.map(|evidence| Evidence::of_sets(&evidence));
            let evidence = match self.small {
                Some(small) => evidence.and_then(|evidence| evidence.expanded(small, self.net)),
                None => evidence,
            };
            if let Some(evidence) = evidence {
                board.show(task, evidence);
            }
        }
        Ok(())
    }

    /// What is to be found out and is not yet known. The net may be too simple for anything else.
    fn open(&self) -> Vec<usize> {
        let mut open = self.board.open();
        open.retain(|task| self.plan.tasks.contains(task));
        open
    }

    fn translated(&self, condition: &Condition) -> Option<Condition> {
        match self.small {
            Some(small) => small.translate(condition),
            None => Some(condition.clone()),
        }
    }

    fn branching(&mut self, reached: &Set, evaluated: &mut Vec<Evaluated>) -> Maybe<()> {
        let board = self.board;
        let initial = self.diagrams.initial()?;
        for task in self.open() {
            let formula = match &board.tasks.all[task] {
                Task::Branching(formula) => formula.clone(),
                Task::Linear(formula) => match as_branching(formula) {
                    Some(formula) => formula,
                    None => continue,
                },
                _ => continue,
            };
            let Some(conditions) = self.conditions(&formula) else { continue };
            if board.truth(task).is_some() {
                continue;
            }
            let ctl = Ctl::of(&formula).ok_or(SetError::NotCtl)?;
            let mut evaluator = Evaluator::new(self.diagrams, atoms(&conditions), reached.clone())?;
            let set = evaluator.states(&ctl)?;
            let mut known = evaluator.into_known();
            let holds = self.diagrams.is_subset(&initial, &set)?;
            board.settle(task, Finding::Truth(holds, None), ENGINE, HOW);
            if has_evidence(&formula, holds) {
                if self.diagrams.size().nodes > FEW_NODES {
                    known.clear();
                }
                evaluated.push(Evaluated { task, formula, conditions, known });
            }
        }
        Ok(())
    }

    /// What the atoms of a formula are in the net whose markings are known.
    fn conditions(&self, formula: &Logic) -> Option<Vec<Condition>> {
        match self.small {
            Some(small) => self.board.tasks.translated(small, formula),
            None => Some(self.board.tasks.atoms.clone()),
        }
    }

    /// Formulas of linear time: a run of the product with the automaton of the negation, or none.
    fn linear(&mut self, reached: &Set) -> Maybe<()> {
        let board = self.board;
        let budget = self.diagrams.budget().clone();
        for task in self.open() {
            let Task::Linear(formula) = &board.tasks.all[task] else { continue };
            let Some(conditions) = self.conditions(formula) else { continue };
            let options = ample_logic::Options::default();
            let automaton = match translate_within(&!formula.clone(), &ample_logic::Atoms::new(), options, &budget) {
                Ok(automaton) => automaton,
                Err(TranslateError::Interrupted(interrupted)) => return Err(interrupted.into()),
                Err(error) => {
                    self.unsupported = Some(error.to_string());
                    continue;
                }
            };
            let run = accepted_run(self.diagrams, &automaton, &atoms(&conditions), reached, &mut Effort::default())?;
            let holds = run.is_none();
            let run = run.and_then(|run| self.expanded(&run));
            board.settle(task, Finding::Truth(holds, run), ENGINE, WITH_AUTOMATON);
        }
        Ok(())
    }

    /// An endless run as one of the net that was asked about, if that gets back to where its cycle begins.
    fn expanded(&self, run: &Lasso) -> Option<NetRun> {
        let numbers = |actions: &[usize]| -> Vec<u32> { actions.iter().map(|action| *action as u32).collect() };
        let (prefix, cycle) = (numbers(&run.prefix), numbers(&run.cycle));
        let Some(small) = self.small else { return Some(NetRun { prefix, cycle, open: false }) };
        let (prefix, cycle) = small.expand_lasso(&prefix, &cycle)?;
        let start = fired(self.net, self.net.initial(), &prefix)?;
        let end = fired(self.net, start.clone(), &cycle)?;
        (start == end).then_some(NetRun { prefix, cycle, open: false })
    }

    /// Whether the goal can be reached; if a run there is to be shown, it is looked for later.
    fn settle_goal(&mut self, task: usize, goal: Set, to_show: &mut Vec<(usize, Set)>) {
        self.board.settle(task, Finding::Truth(!goal.is_empty(), None), ENGINE, HOW);
        if !goal.is_empty() && self.board.shows(task) {
            to_show.push((task, goal));
        }
    }

    /// A run of the net that was asked about; none if it is too long to be shown.
    fn run_to(&mut self, reached: &Set, goal: &Set) -> Maybe<Option<Vec<u32>>> {
        let run = run_to_goal(self.diagrams, reached, goal)?;
        Ok(match (run, self.small) {
            (Some(run), Some(small)) => small.expand(&run),
            (run, _) => run,
        })
    }

    fn largest(&mut self, reached: &Set, sum: &Sum) -> Maybe<u64> {
        let terms: Vec<(u32, i64)> = sum.terms.iter().map(|(place, factor)| (*place, *factor)).collect();
        let largest = self.diagrams.max_sum(reached, &terms)?.unwrap_or(0) + i128::from(sum.plus);
        Ok(u64::try_from(largest.max(0)).unwrap_or(u64::MAX))
    }
}
