//! What is shown for an answer: runs that the workers have left on the board, or that are looked for now, for a short
//! while; made shorter if they are long.
//!
//! Formulas of branching time are taken apart once more, as the [tasks](super::tasks) were, to see which of them
//! decide; and what shows those is put together to evidence for the whole.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::evidence::{Evidence, fired};
use crate::explicit::shorten::{Goal, shorten};
use crate::explicit::{Limits, reduced, temporal};
use crate::net::{Condition, Net};
use ample_logic::explain::sufficient;
use ample_logic::{Atom, Binary, Formula as Logic, Unary};
use ample_model::{Budget, EdgeId, Move, Temporal};

use super::board::{Board, Finding, NetRun};
use super::tasks::{Task, Tasks, Wanted};
use ample_engine::evidence::Tree;

/// All that is done here takes at least so long, or a fifth of the time before, but no longer than that.
const TIME: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// One run gets so much of it.
const FOR_ONE: Duration = Duration::from_millis(100);
/// One that a verdict depends on gets so much, beside that.
const FOR_A_VERDICT: Duration = Duration::from_secs(5);
/// Bytes for a search.
const MEMORY: usize = 256 << 20;
/// A formula that holds because of many runs is not shown.
const FEW: usize = 8;
/// How many runs are put together in all.
const MOST: usize = 100;
/// A replay may look at so many transitions: for what shows that a formula holds, and that it does not.
const REPLAYED: (usize, usize) = (2_000_000, 200_000_000);

/// So many cells of states and guards may be looked at in all replays for a file; and one has so many steps at most.
const CELLS: usize = 40_000_000;
const STEPS: usize = 200_000;

/// Finds what to show.
pub struct EvidenceFinder<'a, 'b> {
    net: &'a Net,
    board: &'a Board<'b>,
    budget: &'a Budget,
    /// A copy, by which formulas are taken apart again; made when it is needed.
    tasks: Option<Tasks>,
    until: Instant,
    /// By task: the run to where it leads, if there is one.
    runs: HashMap<usize, Option<Vec<u32>>>,
    /// By task: what shows its truth.
    evidence: HashMap<usize, Option<Evidence>>,
    /// How many more runs may be put together.
    left: usize,
    /// How many more cells may be replayed.
    cells: usize,
}

/// What a second look at a formula has found.
pub enum Again {
    /// In linear time.
    Run(NetRun),
    /// In branching time.
    Tree(Tree),
}

/// A formula with its value at the start, if that is known.
struct Valued<'f> {
    formula: &'f Logic,
    value: Option<bool>,
    /// How the value follows, where the formula is not made of others by plain logic.
    wanted: Option<Wanted>,
    parts: Vec<Valued<'f>>,
}

impl<'a, 'b> EvidenceFinder<'a, 'b> {
    /// After the work is done.
    pub fn new(net: &'a Net, board: &'a Board<'b>, budget: &'a Budget) -> EvidenceFinder<'a, 'b> {
        let time = (board.begun.elapsed() / 5).clamp(TIME.0, TIME.1);
        // Nothing new is begun when everything has to end.
        let time = if budget.check().is_err() { Duration::ZERO } else { time };
        let until = Instant::now() + time;
        let (runs, evidence) = (HashMap::new(), HashMap::new());
        EvidenceFinder { net, board, budget, tasks: None, until, runs, evidence, left: 0, cells: CELLS }
    }

    /// A run of that length may be replayed and told: it is not too long, nor are all runs together.
    pub fn can_tell(&mut self, steps: usize) -> bool {
        let cells = steps.saturating_mul(self.net.places.len() + 2 * self.net.transitions.len() + 16);
        let can = steps <= STEPS && cells <= self.cells;
        if can {
            self.cells -= cells;
        }
        can
    }

    /// The run can be performed, as far as the net says.
    pub fn is_run(&self, run: &NetRun) -> bool {
        let start = fired(self.net, self.net.initial(), &run.prefix);
        start.is_some_and(|start| run.cycle.is_empty() || fired(self.net, start.clone(), &run.cycle) == Some(start))
    }

    /// Whom to ask during a replay.
    pub fn budget(&self) -> &'a Budget {
        self.budget
    }

    fn brief(&self) -> Budget {
        self.budget.clone().with_deadline(self.until.min(Instant::now() + FOR_ONE))
    }

    fn tasks(&mut self) -> &mut Tasks {
        self.tasks.get_or_insert_with(|| self.board.tasks.clone())
    }

    fn has_time(&self) -> bool {
        Instant::now() < self.until
    }

    /// A run that shows that what was wanted is not so; and whether it may turn out to be none.
    pub fn against(&mut self, wanted: &Wanted) -> Option<(NetRun, bool)> {
        match wanted {
            Wanted::Const(_) => Some((NetRun::to(Vec::new()), false)),
            Wanted::Task(task) => match self.board.found(*task)?.finding {
                Finding::Truth(false, Some(run)) => Some((run, false)),
                Finding::Truth(false, None) => Some((straight(&self.board.evidence(*task)?)?, true)),
                _ => None,
            },
            Wanted::Not(inner) => match &**inner {
                Wanted::Task(task) => Some((NetRun::to(self.run_of(*task)?), false)),
                _ => None,
            },
            Wanted::All(parts) => {
                let wrong = parts.iter().filter(|part| self.board.value(part) == Some(false));
                let wrong: Vec<&Wanted> = wrong.collect();
                wrong.into_iter().find_map(|part| self.against(part))
            }
            Wanted::Any(_) | Wanted::Proved(_) => None,
        }
    }

    /// A run to where a task leads that is known to be true.
    fn run_of(&mut self, task: usize) -> Option<Vec<u32>> {
        if let Some(known) = self.runs.get(&task) {
            return known.clone();
        }
        let run = match self.board.found(task)?.finding {
            Finding::Truth(true, Some(run)) => Some(run.prefix),
            Finding::Truth(true, None) if self.has_time() => self.search(task),
            _ => None,
        };
        let run = run.map(|run| self.shortened(task, run));
        self.runs.insert(task, run.clone());
        run
    }

    /// Looks for a run that nobody has kept.
    fn search(&mut self, task: usize) -> Option<Vec<u32>> {
        let board = self.board;
        let small = board.tasks.simplified(self.net, &[task], &self.budget.clone().with_deadline(self.until));
        let limits = Limits { memory: MEMORY, report_every: 1000, ..Limits::default() };
        let strategy = reduced::Strategy::default();
        let reached = match &board.tasks.all[task] {
            Task::Reach(condition) => {
                let goal = small.translate(condition)?;
                reduced::reach(&small.net, &goal, strategy, &limits, &self.brief())
            }
            Task::Dead => reduced::deadlock(&small.net, strategy, &limits, &self.brief()),
            _ => return None,
        };
        small.expand(&reached.run?)
    }

    /// A run to the same goal that is shorter, if it is long.
    fn shortened(&self, task: usize, run: Vec<u32>) -> Vec<u32> {
        let goal = match &self.board.tasks.all[task] {
            Task::Reach(condition) => Goal::Condition(condition),
            Task::Dead => Goal::Dead,
            _ => return run,
        };
        if run.len() <= 1 || !self.has_time() {
            return run;
        }
        shorten(self.net, &run, goal, &self.brief())
    }

    /// What shows the truth of a formula that is a task.
    fn evidence_of(&mut self, task: usize) -> Option<Evidence> {
        if let Some(known) = self.evidence.get(&task) {
            return known.clone();
        }
        let mut found = self.board.evidence(task);
        if found.is_none() && self.has_time() {
            found = self.evaluated(task);
        }
        self.evidence.insert(task, found.clone());
        found
    }

    /// Evaluates a formula again, on a simplified net and if need be on the net itself, for what shows its value.
    fn evaluated(&mut self, task: usize) -> Option<Evidence> {
        let board = self.board;
        let Task::Branching(formula) = &board.tasks.all[task] else { return None };
        let limits = Limits { memory: MEMORY, report_every: 1000, ..Limits::default() };
        let small = board.tasks.simplified(self.net, &[task], &self.budget.clone().with_deadline(self.until));
        let atoms = board.tasks.translated(&small, formula)?;
        let found = temporal::ctl(&small.net, formula, &atoms, &limits, &self.brief()).evidence?;
        if let Some(expanded) = found.expanded(&small, self.net) {
            return Some(expanded);
        }
        // What repeats there may not repeat here, but then something else may.
        temporal::ctl(self.net, formula, &board.tasks.atoms, &limits, &self.brief()).evidence
    }

    /// What shows that a formula of branching time has its value at the start; none if no run does.
    pub fn explain(&mut self, temporal: &Temporal, holds: bool) -> Option<Tree> {
        if !has_evidence(&temporal.formula, holds) || holds && !self.has_time() {
            return None;
        }
        let numbers = temporal.atoms.iter().map(|atom| self.tasks().atom(atom)).collect::<Option<Vec<u32>>>()?;
        let ours = temporal.formula.substitute(&mut |atom: Atom| Logic::Atom(Atom(numbers[atom.0 as usize])));
        let ours = match self.tasks().decided(&ours) {
            Logic::True | Logic::False => ours,
            decided => decided,
        };
        let valued = self.valued(&ours);
        self.left = if holds { FEW + 1 } else { MOST };
        let mut evidence = self.formula(&valued)?;
        if let Some(tasks) = &self.tasks {
            evidence.shorten(self.net, &tasks.atoms, &self.brief());
        }
        if holds && evidence.branches.len() > FEW && evidence.prefix.is_empty() && evidence.cycle.is_empty() {
            return None;
        }
        let most = if holds { REPLAYED.0 } else { REPLAYED.1 };
        let looked_at = evidence.steps().saturating_mul(self.net.transitions.len().max(1));
        if looked_at > most || !self.can_tell(evidence.steps()) {
            return None;
        }
        let back: HashMap<u32, u32> = numbers.iter().enumerate().map(|(number, ours)| (*ours, number as u32)).collect();
        Some(moved(&evidence, &|atom| Logic::Atom(Atom(back.get(&atom.0).copied().unwrap_or(u32::MAX)))))
    }

    /// Looks for a counterexample where the way to the verdict has left none behind: the formula is checked again, on the
    /// net itself and by single markings, which ends at the first counterexample.
    pub fn look_again(&mut self, temporal: &Temporal) -> Option<Again> {
        let conditions: Vec<Condition> = temporal.atoms.iter().map(Condition::of).collect::<Option<_>>()?;
        let limits = Limits { memory: MEMORY, report_every: 1000, ..Limits::default() };
        let budget = &self.budget.clone().with_time(FOR_A_VERDICT);
        if temporal.formula.is_ltl() {
            let run = temporal::ltl(self.net, &temporal.formula, &conditions, true, &limits, budget).counterexample?;
            let open = run.ending == temporal::Ending::Open;
            return Some(Again::Run(NetRun { prefix: run.prefix, cycle: run.cycle, open }));
        }
        let found = temporal::ctl(self.net, &temporal.formula, &conditions, &limits, budget);
        let same = |atom: Atom| Logic::Atom(atom);
        (found.verdict == Some(false)).then_some(found.evidence?).map(|evidence| Again::Tree(moved(&evidence, &same)))
    }

    fn value_of(&self, wanted: &Wanted) -> Option<bool> {
        let known = self.board.tasks.all.len();
        wanted.value(&|task| if task < known { self.board.truth(task) } else { None })
    }

    /// The values of a formula and its parts, down to where time comes in.
    fn valued<'f>(&mut self, formula: &'f Logic) -> Valued<'f> {
        let parts: Vec<Valued<'f>> = match formula {
            Logic::Unary(Unary::Not, f) => vec![self.valued(f)],
            Logic::Binary(_, f, g) => vec![self.valued(f), self.valued(g)],
            _ => {
                let wanted = self.tasks().branching(formula);
                return Valued { formula, value: self.value_of(&wanted), wanted: Some(wanted), parts: Vec::new() };
            }
        };
        let values: Vec<Option<bool>> = parts.iter().map(|part| part.value).collect();
        let value = match (formula, values.as_slice()) {
            (Logic::Unary(..), [value]) => value.map(|value| !value),
            (Logic::Binary(op, ..), [f, g]) => combined(*op, *f, *g),
            _ => None,
        };
        Valued { formula, value, wanted: None, parts }
    }

    fn formula(&mut self, valued: &Valued<'_>) -> Option<Evidence> {
        let holds = valued.value?;
        match (valued.formula, valued.parts.as_slice()) {
            (Logic::Unary(Unary::Not, _), [f]) => self.formula(f),
            (Logic::Unary(quantifier, _), []) => {
                if holds != (*quantifier == Unary::Exists) || self.left == 0 {
                    return None;
                }
                self.left -= 1;
                let found = self.deciding(valued.wanted.as_ref()?, holds)?;
                Some(Evidence { formula: valued.formula.clone(), holds, ..found })
            }
            (Logic::Binary(op, ..), [f, g]) => {
                let branches = self.operands(*op, [f, g], holds);
                (!branches.is_empty()).then(|| Evidence { branches, ..Evidence::bare(valued.formula, holds) })
            }
            _ => None,
        }
    }

    /// What shows the values of the operands that matter.
    fn operands(&mut self, op: Binary, [f, g]: [&Valued<'_>; 2], holds: bool) -> Vec<(usize, Evidence)> {
        let choices = sufficient(op, holds);
        if choices.iter().any(|[first, second]| first.is_some() && second.is_some()) {
            return [f, g].into_iter().flat_map(|operand| self.operand(operand)).collect();
        }
        let operands = choices.iter().flat_map(|[first, second]| [(f, first), (g, second)]);
        let deciding = operands.filter(|(operand, value)| value.is_some() && operand.value == **value);
        let deciding: Vec<&Valued<'_>> = deciding.map(|(operand, _)| operand).collect();
        // One that decides is enough, if it can be seen; a condition that decides needs no run at all.
        if deciding.iter().any(|operand| operand.formula.is_propositional()) {
            return Vec::new();
        }
        let mut shown = deciding.into_iter().map(|operand| self.operand(operand));
        shown.find(|shown| !shown.is_empty()).unwrap_or_default()
    }

    fn operand(&mut self, operand: &Valued<'_>) -> Vec<(usize, Evidence)> {
        match self.formula(operand) {
            None => Vec::new(),
            Some(evidence) if matches!(evidence.formula, Logic::Binary(..)) => evidence.branches,
            Some(evidence) => vec![(0, evidence)],
        }
    }

    /// What shows that something wanted has the value, about a formula that its finder knows.
    fn deciding(&mut self, wanted: &Wanted, value: bool) -> Option<Evidence> {
        match wanted {
            Wanted::Const(known) => (*known == value).then(|| Evidence::bare(&Logic::True, true)),
            Wanted::Proved(_) => None,
            Wanted::Not(inner) => self.deciding(inner, !value),
            Wanted::Task(task) => match self.board.tasks.all.get(*task)? {
                Task::Reach(condition) if value => {
                    let mut found = Evidence::run(&Logic::True, true, self.run_of(*task)?);
                    let end = fired(self.net, self.net.initial(), &found.prefix);
                    if !end.is_some_and(|end| condition.holds(&end)) {
                        // It is not what it should be, and the replay shall say so.
                        found.branches.push((found.prefix.len(), Evidence::bare(&Logic::False, true)));
                    }
                    Some(found)
                }
                Task::Branching(_) => self.evidence_of(*task),
                _ => None,
            },
            Wanted::All(parts) | Wanted::Any(parts) => {
                let decides = matches!(wanted, Wanted::Any(_)) == value;
                let parts: Vec<&Wanted> = parts.iter().filter(|part| self.value_of(part) == Some(value)).collect();
                if decides { parts.into_iter().find_map(|part| self.deciding(part, value)) } else { None }
            }
        }
    }
}

/// A run may show that the formula has that value.
pub fn has_evidence(formula: &Logic, holds: bool) -> bool {
    match formula {
        Logic::Unary(Unary::Not, f) => has_evidence(f, !holds),
        Logic::Unary(quantifier, _) => holds == (*quantifier == Unary::Exists),
        Logic::Binary(..) => true,
        Logic::True | Logic::False | Logic::Atom(_) => false,
    }
}

/// The value of two formulas together, where it follows.
fn combined(op: Binary, f: Option<bool>, g: Option<bool>) -> Option<bool> {
    let is_known = |wanted: &Option<bool>, value: Option<bool>| wanted.is_none() || *wanted == value;
    let follows = |value: &bool| sufficient(op, *value).iter().any(|[x, y]| is_known(x, f) && is_known(y, g));
    [false, true].into_iter().find(follows)
}

/// Evidence that branches nowhere, as a run.
fn straight(evidence: &Evidence) -> Option<NetRun> {
    let mut prefix = evidence.prefix.clone();
    match evidence.branches.as_slice() {
        [] => {
            let open = evidence.cycle.is_empty() && !evidence.stutters;
            Some(NetRun { prefix, cycle: evidence.cycle.clone(), open })
        }
        [(after, rest)] if *after == prefix.len() && evidence.cycle.is_empty() => {
            let rest = straight(rest)?;
            prefix.extend(rest.prefix);
            Some(NetRun { prefix, ..rest })
        }
        _ => None,
    }
}

/// Evidence in moves, about the formula as its property has it.
fn moved(evidence: &Evidence, back: &dyn Fn(Atom) -> Logic) -> Tree {
    Tree {
        formula: evidence.formula.substitute(&mut |atom: Atom| back(atom)),
        holds: evidence.holds,
        prefix: moves(&evidence.prefix),
        cycle: moves(&evidence.cycle),
        stutters: evidence.stutters,
        branches: evidence.branches.iter().map(|(after, branch)| (*after, moved(branch, back))).collect(),
    }
}

/// Transitions as moves of the system's only process.
pub fn moves(transitions: &[u32]) -> Vec<Move> {
    transitions.iter().map(|transition| Move::Process { process: 0, edge: EdgeId(*transition) }).collect()
}
