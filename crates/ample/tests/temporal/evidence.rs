//! Does a counterexample show what it claims to show?

use ample::{Branch, Fairness, Move, Trace};
use ample_model::{Expr, Interpreter, ProcessId, State};

use super::claim::Claim;
use super::emptiness::{Anything, Search};
use super::faults::is_fault;
use super::graph::{Graph, Lasso, Steps};
use super::linear::{self, Tableau};
use super::tree::Formula;
use super::word::Word;

/// What speaks against a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// It is no run, or the run shows nothing.
    Other(String),
    /// It is the beginning of a run that violates the formula however it goes on, but no run that counts goes on: all
    /// end in faults, in endless atomic sequences, or are not fair.
    DeadEnd,
}

type Verdict = Result<(), Invalid>;

impl<T: ToString> From<T> for Invalid {
    fn from(why: T) -> Invalid {
        Invalid::Other(why.to_string())
    }
}

/// What a counterexample is looked at with.
#[derive(Clone, Copy)]
pub struct Validator<'a> {
    pub interpreter: &'a Interpreter<'a>,
    pub graph: &'a Graph,
    pub fairness: Fairness,
}

impl Validator<'_> {
    /// The trace is a fair run that violates the formula.
    pub fn ltl(&self, trace: &Trace, formula: &Formula) -> Verdict {
        let atoms = linear::atoms(formula);
        let letters = linear::letters(self.graph, self.interpreter, &atoms);
        let (first, steps) = self.nodes(trace)?;
        let last = steps.last().map_or(first, |step| step.1);
        if trace.cycle.is_empty() && !self.graph.nodes[last].is_deadlocked() {
            let nodes = [first].into_iter().chain(steps.iter().map(|step| step.1));
            let seen: Vec<u8> = nodes.filter(|&n| self.graph.nodes[n].visible).map(|n| letters[n]).collect();
            require(condemns(&seen, formula, &atoms), || "some way to go on would satisfy the formula".into())?;
        }
        let lasso = self.fair_lasso(trace)?.ok_or(Invalid::DeadEnd)?;
        let word = Word::of(&lasso, self.graph, &letters).ok_or("no state of the cycle is visible")?;
        require(!word.satisfies(formula, &atoms), || format!("the run satisfies the formula: {lasso:?}"))
    }

    /// The trace leads to a state outside atomic sequences in which one of the formulas is a fault.
    pub fn fault(&self, trace: &Trace, formulas: &[Formula]) -> Verdict {
        let states = self.interpreter.replay(trace)?;
        let last = states.last().ok_or("no state")?;
        require(trace.cycle.is_empty(), || "a cycle after a fault".into())?;
        require(self.interpreter.normalise(last).control.is_none(), || "a fault in an atomic sequence".into())?;
        let is_fault = |formula: &Formula| is_fault(self.interpreter, last, formula);
        require(formulas.iter().any(is_fault), || "no part of the formula is a fault".into())
    }

    /// The trace is a fair run with an accepting state in its cycle, or one that ends in an accepting deadlock.
    pub fn acceptance(&self, trace: &Trace) -> Verdict {
        let lasso = self.fair_lasso(trace)?.ok_or("no endless run goes on")?;
        require(!trace.cycle.is_empty() || self.stutters(&lasso), || "a run without a cycle".into())?;
        let accepting = self.truth(&Expr::Accepting)?;
        let (_, cycle) = lasso.visible(self.graph);
        require(cycle.iter().any(|&node| accepting[node]), || "nothing accepts in the cycle".into())
    }

    /// The trace is a fair run with a cycle without progress.
    pub fn progress(&self, trace: &Trace) -> Verdict {
        let lasso = self.fair_lasso(trace)?.ok_or("no endless run goes on")?;
        require(!trace.cycle.is_empty(), || "a run without a cycle".into())?;
        let idle = self.truth(&Expr::NonProgress)?;
        let (_, cycle) = lasso.visible(self.graph);
        require(!cycle.is_empty(), || "no state of the cycle is visible".into())?;
        require(cycle.iter().all(|&node| idle[node]), || "there is progress in the cycle".into())
    }

    /// The trace is a fair run, and on this run alone the claim is violated.
    pub fn never(&self, trace: &Trace, claim: ProcessId) -> Verdict {
        let lasso = self.fair_lasso(trace)?.ok_or(Invalid::DeadEnd)?;
        let alone = self.graph.alone(&lasso);
        let claim = Claim::new(self.interpreter, &alone, claim);
        let violation = claim.violation(&alone, Fairness::None);
        require(violation.is_some(), || "the claim accepts nothing on this run".into())
    }

    /// The trace and all that branches off it are runs.
    pub fn ctl(&self, trace: &Trace, branches: &[Branch]) -> Verdict {
        let states = self.interpreter.replay(trace)?;
        self.branches(&states, branches)
    }

    /// The formula holds on the run of the trace, or on one that goes on from there.
    pub fn witness(&self, trace: &Trace, formula: &Formula) -> Verdict {
        let atoms = linear::atoms(formula);
        let letters = linear::letters(self.graph, self.interpreter, &atoms);
        let Some(lasso) = self.fair_lasso(trace)? else { return Ok(()) };
        let word = Word::of(&lasso, self.graph, &letters).ok_or("no state of the cycle is visible")?;
        require(word.satisfies(formula, &atoms), || format!("the run does not satisfy the formula: {lasso:?}"))
    }

    /// The trace shows a run that counts, if it shows any.
    pub fn fair_ctl(&self, trace: &Trace) -> Verdict {
        if !trace.prefix.is_empty() || !trace.cycle.is_empty() {
            self.fair_lasso(trace)?.ok_or("no endless run goes on")?;
        }
        Ok(())
    }

    fn branches(&self, states: &[State], branches: &[Branch]) -> Verdict {
        for branch in branches {
            // Where a fault has stopped the run, nothing moves any more.
            let stopped =
                branch.after == states.len() && branch.trace.prefix.is_empty() && branch.trace.cycle.is_empty();
            let last = states.last().filter(|_| stopped);
            let from = states.get(branch.after).or(last).ok_or("a branch after the end of its run")?;
            let mut run = vec![from.clone()];
            let count = branch.trace.prefix.len() + branch.trace.cycle.len();
            let moves = branch.trace.prefix.iter().chain(&branch.trace.cycle).map(|step| step.taken.clone());
            for taken in moves {
                let last = &run[run.len() - 1];
                require(self.interpreter.enabled(last).contains(&taken), || "a move is not executable".into())?;
                match self.interpreter.step(last, &taken).state {
                    Some(next) => run.push(next),
                    None => require(run.len() == count && branch.trace.cycle.is_empty(), || "a fault".into())?,
                }
            }
            let (turn, end) = (&run[branch.trace.prefix.len().min(run.len() - 1)], &run[run.len() - 1]);
            let closed = self.interpreter.identity(turn) == self.interpreter.identity(end);
            require(branch.trace.cycle.is_empty() || closed, || "the cycle of a branch does not close".into())?;
            self.branches(&run, &branch.branches)?;
        }
        Ok(())
    }

    fn truth(&self, expr: &Expr) -> Result<Vec<bool>, Invalid> {
        self.graph.truth(self.interpreter, expr).map_err(Invalid::from)
    }

    fn stutters(&self, lasso: &Lasso) -> bool {
        lasso.round().all(|node| self.graph.nodes[node].is_deadlocked())
    }

    /// The run of a trace. One that just ends is continued, by stuttering or by whatever fair run there is, if any.
    fn fair_lasso(&self, trace: &Trace) -> Result<Option<Lasso>, Invalid> {
        let (first, mut steps) = self.nodes(trace)?;
        let last = steps.last().map_or(first, |step| step.1);
        let mut turn = trace.prefix.len();
        if trace.cycle.is_empty() && self.graph.nodes[last].is_deadlocked() {
            steps.push((None, last));
        } else if trace.cycle.is_empty() {
            let on = Search { graph: self.graph, automaton: &Anything, fairness: self.fairness, stutters: true };
            let Some(rest) = on.run_from(last) else { return Ok(None) };
            steps.extend(rest.steps.iter().cloned());
            turn += rest.turn;
        }
        let lasso = Lasso { first, steps, turn };
        require(lasso.is_run_of(self.graph), || format!("this is no run: {lasso:?}"))?;
        is_fair(self.graph, &lasso, self.fairness)?;
        Ok(Some(lasso))
    }

    /// The nodes that a trace goes through.
    fn nodes(&self, trace: &Trace) -> Result<(usize, Steps), Invalid> {
        let states = self.interpreter.replay(trace)?;
        let moves = trace.prefix.iter().chain(&trace.cycle).map(|step| step.taken.clone());
        let mut nodes = Vec::new();
        for state in &states {
            nodes.push(self.graph.find(self.interpreter, state).ok_or("a state that cannot be reached")?);
        }
        let count = trace.prefix.len() + trace.cycle.len();
        if nodes.len() == count {
            let last = nodes.last().and_then(|last| self.graph.stopped(*last));
            nodes.push(last.ok_or("the run does not end in a fault")?);
        }
        require(nodes.len() == count + 1, || "there are more steps than states".into())?;
        Ok((nodes[0], moves.map(Some).zip(nodes[1..].iter().copied()).collect()))
    }
}

/// The cycle of the run is fair.
pub fn is_fair(graph: &Graph, lasso: &Lasso, fairness: Fairness) -> Verdict {
    let taken: Vec<Move> = lasso.steps[lasso.turn..].iter().filter_map(|step| step.0.clone()).collect();
    let nodes: Vec<usize> = lasso.round().collect();
    match fairness {
        Fairness::None => Ok(()),
        Fairness::Weak => (0..graph.processes()).try_for_each(|process| {
            let moves = taken.iter().any(|taken| taken.involves(process));
            let rests = nodes
                .iter()
                .map(|&node| &graph.nodes[node])
                .any(|node| node.visible && node.enabled.iter().all(|enabled| enabled.mover() != Some(process)));
            require(moves || rests, || format!("process {process} is always enabled and never moves: {lasso:?}"))
        }),
        Fairness::Strong => {
            let mut enabled = nodes.iter().flat_map(|&node| &graph.nodes[node].enabled);
            match enabled.find(|enabled| !taken.contains(enabled)) {
                Some(action) => Err(format!("{action:?} is enabled but never taken: {lasso:?}").into()),
                None => Ok(()),
            }
        }
    }
}

/// No word that begins with these letters satisfies the formula.
fn condemns(beginning: &[u8], formula: &Formula, atoms: &[Expr]) -> bool {
    let count = 1 << atoms.len();
    let letters: Vec<u8> = beginning.iter().copied().chain(0..count).collect();
    let graph = Graph::of_words(beginning.len(), count.into());
    let satisfying = Tableau::against(&Formula::Not(Box::new(formula.clone())), atoms, &letters);
    Search { graph: &graph, automaton: &satisfying, fairness: Fairness::None, stutters: false }.run().is_none()
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(Invalid::Other(otherwise())) }
}
