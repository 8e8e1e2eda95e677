//! Evidence in branching time: a run, and what branches off it.

use ample_logic::{Atom, Binary, Dialect, Formula, Unary, print_with, semantics};
use ample_model::{
    Branch, Budget, Expr, Fault, Interpreter, Interrupted, Move, StartNumber, State, Step, System, Temporal, Trace,
    Violation,
};

use super::Tree;
use super::{EndState, Invalid, Patience, refuted};
use crate::justice;

/// Replays what shows that a formula has that value.
pub fn validate_tree(
    system: &System,
    start: impl Into<StartNumber>,
    tree: &Tree,
    temporal: &Temporal,
    value: bool,
    budget: &Budget,
) -> Result<(Violation, EndState), Invalid> {
    let interpreter = Interpreter::new(system);
    let start = start.into();
    let state = match interpreter.initial_state(&start) {
        Some(Ok(state)) => state,
        _ => return refuted(format!("there is no initial state number {start}")),
    };
    let mut validator =
        Validator { interpreter: &interpreter, temporal, cells: MAX_CELLS, patience: Patience::new(budget) };
    let (formula, holds) = without_negations(&temporal.formula, value);
    if tree.formula == *formula && tree.holds != holds {
        return refuted("the tree shows the opposite".into());
    }
    if tree.formula != *formula && is_alike(&tree.formula, formula) {
        // An engine may have found simpler conditions; the run has to show what was asked as well.
        let asked = Tree { formula: formula.clone(), holds, branches: Vec::new(), ..tree.clone() };
        validator.replay(&state, false, &asked)?;
    }
    let mut shown = validator.replay(&state, false, tree)?;
    straighten(&mut shown);
    let Branch { message, trace, branches, .. } = shown;
    let end = shown.end.map_or_else(|| EndState::of(&interpreter, &validator.end_of(&state, &trace)), |end| *end);
    Ok((Violation { message, trace: Trace { start, ..trace }, branches }, end))
}

/// A formula without the negations before it, and the value that it has then: that `!EF p` is true is told as the
/// falsehood of `EF p`.
fn without_negations(formula: &Formula, value: bool) -> (&Formula, bool) {
    match formula {
        Formula::Unary(Unary::Not, inner) => without_negations(inner, !value),
        _ => (formula, value),
    }
}

/// Both ask for a run, with the same operator.
fn is_alike(one: &Formula, other: &Formula) -> bool {
    match (one, other) {
        (Formula::Unary(one, f), Formula::Unary(other, g)) if one == other => match (&**f, &**g) {
            (Formula::Unary(one, _), Formula::Unary(other, _)) => one == other,
            (Formula::Binary(one, ..), Formula::Binary(other, ..)) => one == other,
            _ => false,
        },
        _ => false,
    }
}

/// So many cells are told at the ends of all branches together; those after them have no end.
const MAX_CELLS: usize = 200_000;

/// What is a single run in truth is made one: branches without a run of their own give way to what branches off them,
/// and a run goes on with what alone branches off its end.
fn straighten(shown: &mut Branch) {
    let mut branches = Vec::new();
    for mut branch in std::mem::take(&mut shown.branches) {
        straighten(&mut branch);
        let is_run = !branch.trace.prefix.is_empty() || !branch.trace.cycle.is_empty();
        if is_run || branch.branches.is_empty() {
            branches.push(branch);
            continue;
        }
        branches.extend(branch.branches.into_iter().map(|inner| Branch { after: branch.after, ..inner }));
    }
    shown.branches = branches;
    let steps = shown.trace.prefix.len();
    if !shown.trace.cycle.is_empty() || shown.branches.len() != 1 || shown.branches[0].after != steps {
        return;
    }
    if let Some(branch) = shown.branches.pop() {
        shown.message = branch.message;
        shown.end = branch.end;
        shown.trace.prefix.extend(branch.trace.prefix);
        shown.trace.cycle = branch.trace.cycle;
        let inner = branch.branches.into_iter();
        shown.branches = inner.map(|inner| Branch { after: steps + inner.after, ..inner }).collect();
    }
}

/// A run shows the value of the formula as soon as it comes to a certain state, whatever follows: what it takes are
/// conditions on single states, until one of them.
fn decides_at_once(formula: &Formula, holds: bool) -> bool {
    let path = match formula {
        Formula::Unary(Unary::Exists, path) if holds => path,
        Formula::Unary(Unary::All, path) if !holds => path,
        _ => return false,
    };
    let is_until = match &**path {
        Formula::Unary(Unary::Finally, _) | Formula::Binary(Binary::Until | Binary::StrongRelease, ..) => holds,
        Formula::Unary(Unary::Globally, _) | Formula::Binary(Binary::Release | Binary::WeakUntil, ..) => !holds,
        _ => false,
    };
    is_until && path.operands().all(Formula::is_propositional)
}

/// The run of a branch is the one that it branches off, which shows the same: `EG EX p` is seen on a run through `p`.
fn is_along(branch: &Tree, tree: &Tree, after: usize) -> bool {
    let run = tree.prefix.iter().chain(&tree.cycle).chain(tree.cycle.iter().cycle());
    let has_more = branch.branches.iter().any(|(_, inner)| !inner.formula.is_propositional());
    let ends = !branch.prefix.is_empty() && branch.cycle.is_empty() && !branch.stutters;
    ends && !has_more && run.skip(after).take(branch.prefix.len()).eq(&branch.prefix)
}

struct Validator<'a> {
    interpreter: &'a Interpreter<'a>,
    temporal: &'a Temporal,
    /// How many more cells may be told.
    cells: usize,
    patience: Patience<'a>,
}

impl Validator<'_> {
    /// The run of the evidence and its branches. If a fault has `stopped` it before, it does not move any more.
    fn replay(&mut self, from: &State, stopped: bool, tree: &Tree) -> Result<Branch, Invalid> {
        let mut states = vec![from.clone()];
        let mut trace = Trace::default();
        let moves = tree.prefix.len() + tree.cycle.len();
        let mut faulty = stopped;
        if stopped && moves > 0 {
            return refuted("a run goes on after a fault".into());
        }
        for (number, taken) in tree.prefix.iter().chain(&tree.cycle).enumerate() {
            self.patience.ask(number)?;
            let (step, next) = self.step(&states[states.len() - 1], taken).map_err(Invalid::Refuted)?;
            if number < tree.prefix.len() { &mut trace.prefix } else { &mut trace.cycle }.push(step);
            match next {
                Some(next) => states.push(next),
                None if number + 1 == moves && tree.cycle.is_empty() => faulty = true,
                None => return refuted(format!("step {} is a fault", number + 1)),
            }
        }
        let last = &states[states.len() - 1];
        let turn = &states[tree.prefix.len().min(states.len() - 1)];
        if !tree.cycle.is_empty() && self.interpreter.identity(turn) != self.interpreter.identity(last) {
            return refuted("the cycle does not close".into());
        }
        if let Some(synchronous) = self.interpreter.system().synchronous() {
            if tree.stutters && synchronous.infinite_runs {
                return refuted("the run ends, and only infinite runs count".into());
            }
            let on_cycle = &states[tree.prefix.len().min(states.len() - 1)..];
            let holds = |condition: &Expr, state: &State| {
                self.interpreter.evaluate(state, None, condition).is_ok_and(|value| value != 0)
            };
            let unjust = synchronous.justice.iter().any(|one| !on_cycle.iter().any(|state| holds(one, state)));
            if !tree.cycle.is_empty() && unjust {
                return refuted("a condition of justice does not hold on the cycle".into());
            }
        }
        if tree.stutters && !faulty {
            let ended = |interrupted: Interrupted| Invalid::Ended(interrupted.into());
            if !self.interpreter.is_stuck_within(last, self.patience.budget).map_err(ended)? {
                return refuted("the run is not stuck where it ends".into());
            }
        }
        self.judge(&states, tree).map_err(Invalid::Refuted)?;
        let needed = if faulty { trace.prefix.len() } else { self.needed(&states, tree) };
        trace.prefix.truncate(needed);
        let turn = &states[needed.min(states.len() - 1)];
        let mut branches = Vec::new();
        for (after, branch) in &tree.branches {
            let (state, stopped) = match states.get(*after) {
                Some(state) => (state, stopped),
                None => (last, faulty),
            };
            let branch_at = Branch { after: *after, ..self.replay(state, stopped, branch)? };
            let is_told = !branch.formula.is_propositional() && !justice::is_counted(&branch.formula);
            if is_told && !branches.contains(&branch_at) && !is_along(branch, tree, *after) {
                branches.push(branch_at);
            }
        }
        let end = self.end(turn).map(Box::new);
        Ok(Branch { after: 0, message: self.message(tree), trace, branches, end })
    }

    /// How many steps of the prefix it takes to see the value of the formula. A reduction may have put steps after them
    /// that nobody sees.
    fn needed(&self, states: &[State], tree: &Tree) -> usize {
        let mut needed = tree.prefix.len();
        let is_whole = !tree.cycle.is_empty() || tree.stutters || !tree.branches.is_empty();
        if is_whole || !decides_at_once(&tree.formula, tree.holds) {
            return needed;
        }
        for last in (0..needed).rev().filter(|last| self.is_visible(&states[*last])) {
            let shorter = Tree { prefix: tree.prefix[..last].to_vec(), ..tree.clone() };
            if self.judge(&states[..=last], &shorter).is_err() {
                break;
            }
            needed = last;
        }
        needed
    }

    /// The state in words, as long as that is not too much in all.
    fn end(&mut self, state: &State) -> Option<EndState> {
        let cells = state.globals.len() + state.processes.iter().map(|process| process.locals.len() + 1).sum::<usize>();
        self.cells = self.cells.checked_sub(cells)?;
        Some(EndState::of(self.interpreter, state))
    }

    /// The state at the end of a run that was replayed, or where its cycle begins.
    fn end_of(&self, from: &State, trace: &Trace) -> State {
        let steps = trace.prefix.iter();
        steps.fold(from.clone(), |state, step| self.interpreter.step(&state, &step.taken).state.unwrap_or(state))
    }

    fn step(&self, state: &State, taken: &Move) -> Result<(Step, Option<State>), String> {
        let successor = self.interpreter.step(state, taken);
        if successor.violations.contains(&Fault::NotEnabled) {
            return Err("a step is not executable".into());
        }
        Ok((self.interpreter.describe(state, taken, &successor), successor.state))
    }

    /// Where the operands are plain conditions, the run itself tells the value of the formula.
    fn judge(&self, states: &[State], tree: &Tree) -> Result<(), String> {
        let (path, value) = match &tree.formula {
            Formula::Unary(Unary::Exists, path) if tree.holds => (path, true),
            Formula::Unary(Unary::All, path) if !tree.holds => (path, false),
            formula if formula.is_propositional() => {
                let value = |_: usize, atom: Atom| self.holds(&states[0], atom);
                let holds = semantics::holds_with(formula, 0, 1, &value).unwrap_or(!tree.holds);
                return if holds == tree.holds { Ok(()) } else { Err("a condition has another value".into()) };
            }
            _ => return Ok(()),
        };
        if !path.operands().all(Formula::is_propositional) {
            return Ok(());
        }
        let turn = if tree.cycle.is_empty() { states.len() - 1 } else { tree.prefix.len() };
        let end = if tree.cycle.is_empty() { states.len() } else { states.len() - 1 };
        let visible = |at: &usize| *at == states.len() - 1 || self.is_visible(&states[*at]);
        let prefix: Vec<usize> = (0..turn).filter(visible).collect();
        let cycle: Vec<usize> = (turn..end).filter(visible).collect();
        if cycle.is_empty() {
            return Err("no state of the cycle is visible".into());
        }
        let letters: Vec<usize> = prefix.iter().chain(&cycle).copied().collect();
        let holds = |letter: usize, atom: Atom| self.holds(&states[letters[letter]], atom);
        match semantics::holds_with(path, prefix.len(), cycle.len(), &holds) {
            Ok(holds) if holds == value => Ok(()),
            _ => Err("the run does not show what it should".into()),
        }
    }

    fn is_visible(&self, state: &State) -> bool {
        self.interpreter.normalise(state).control.is_none()
    }

    fn holds(&self, state: &State, atom: Atom) -> bool {
        let expr = self.temporal.atoms.get(atom.0 as usize);
        expr.is_some_and(|expr| self.interpreter.evaluate(state, None, expr).is_ok_and(|value| value != 0))
    }

    /// What the evidence shows, in a sentence.
    fn message(&self, tree: &Tree) -> String {
        let system = self.interpreter.system();
        let mut atom = |atom: Atom| match self.temporal.atoms.get(atom.0 as usize) {
            Some(expr) => format!("({})", system.show_expr(None, expr)),
            None => format!("p{}", atom.0),
        };
        let text = print_with(&justice::as_asked(&tree.formula), Dialect::Smv, &mut atom).unwrap_or_default();
        format!("{text} {}", if tree.holds { "holds" } else { "does not hold" })
    }
}
