//! Endless runs are replayed too, and judged by the plain meaning of what they are said to violate.

use std::collections::{HashMap, HashSet};

use ample_logic::{Atom, semantics};
use ample_model::interpret::Successor;
use ample_model::{
    Budget, Expr, Fault, Interpreter, Interrupted, Move, PropertyAutomaton, State, System, Temporal, Trace, Violation,
};

use super::{EndState, Invalid, Patience, refuted};
use super::{Ending, Lasso};
use crate::settings::Fairness;
use crate::temporal::ClaimAutomaton;

/// What an engine claims that an endless run shows.
#[derive(Clone, Copy)]
pub enum LassoViolation<'a> {
    /// It does not satisfy the formula.
    Formula(&'a Temporal),
    /// The automaton accepts it.
    Automaton(&'a PropertyAutomaton),
    /// The never claim accepts it.
    Claim(&'a ClaimAutomaton),
    /// It passes locations marked `accept` again and again.
    Acceptance,
    /// It does not pass locations marked `progress` again and again.
    NonProgress,
}

/// The continuation of a run that is judged by its beginning is looked for in so many steps.
const MAX_CONTINUATION: usize = 100_000;

/// Replays the run and looks whether it shows what is claimed.
pub fn validate_lasso(
    system: &System,
    run: &Lasso,
    claimed: LassoViolation<'_>,
    fairness: Fairness,
    budget: &Budget,
) -> Result<(Violation, EndState), Invalid> {
    let interpreter = Interpreter::new(system);
    let only_infinite = system.synchronous().is_some_and(|synchronous| synchronous.infinite_runs);
    if only_infinite && run.ending == Ending::Stutter {
        return refuted("the run ends, and only infinite runs count".into());
    }
    let (trace, states) = perform(&interpreter, run, budget)?;
    let replayed = Replayed { interpreter: &interpreter, states, trace: &trace, ending: run.ending };
    let word = replayed.word(run, budget)?;
    let message = replayed.judge(run, &word, claimed, budget)?;
    replayed.is_fair(run, fairness, budget)?;
    if let LassoViolation::Claim(claim) = claimed
        && let Some((steps, message)) = replayed.claim_fault(&word, claim)
    {
        let end = EndState::of(&interpreter, &replayed.states[steps]);
        let mut trace = trace.clone();
        trace.prefix.append(&mut trace.cycle);
        trace.prefix.truncate(steps);
        return Ok((Violation { message, trace, branches: Vec::new() }, end));
    }
    let end = EndState::of(&interpreter, &replayed.states[run.prefix.len().min(replayed.last())]);
    Ok((Violation { message, trace, branches: Vec::new() }, end))
}

/// Performs the moves of the run: what they do, and all states on the way. There is none after a fault, which may only be
/// the last move of a run without a cycle.
fn perform(interpreter: &Interpreter<'_>, run: &Lasso, budget: &Budget) -> Result<(Trace, Vec<State>), Invalid> {
    let mut patience = Patience::new(budget);
    let mut trace = Trace { start: run.start.clone(), ..Trace::default() };
    let mut states = match interpreter.initial_state(&run.start) {
        Some(Ok(state)) => vec![state],
        _ => return refuted(format!("there is no initial state number {}", run.start)),
    };
    let moves = run.prefix.len() + run.cycle.len();
    for (number, taken) in run.prefix.iter().chain(&run.cycle).enumerate() {
        patience.ask(number)?;
        let state = &states[states.len() - 1];
        let successor = interpreter.step(state, taken);
        if successor.violations.contains(&Fault::NotEnabled) {
            return refuted(format!("step {} is not executable", number + 1));
        }
        let step = interpreter.describe(state, taken, &successor);
        if number < run.prefix.len() { &mut trace.prefix } else { &mut trace.cycle }.push(step);
        match successor.state {
            Some(next) => states.push(next),
            None if number + 1 == moves && run.cycle.is_empty() => {}
            None => return refuted(format!("step {} is a fault", number + 1)),
        }
    }
    let last = &states[states.len() - 1];
    if !run.cycle.is_empty() && interpreter.identity(&states[run.prefix.len()]) != interpreter.identity(last) {
        return refuted("the cycle does not close".into());
    }
    Ok((trace, states))
}

/// A run that the interpreter has performed.
struct Replayed<'a> {
    interpreter: &'a Interpreter<'a>,
    /// All states on it; the last one is the first of the cycle again.
    states: Vec<State>,
    trace: &'a Trace,
    ending: Ending,
}

/// The visible states of a run, as positions: those before the cycle, and those of the cycle.
struct Word {
    prefix: Vec<usize>,
    cycle: Vec<usize>,
}

impl Word {
    fn position(&self, letter: usize) -> usize {
        let behind = || self.cycle[letter - self.prefix.len()];
        self.prefix.get(letter).copied().unwrap_or_else(behind)
    }
}

impl Replayed<'_> {
    /// The position of the last state.
    fn last(&self) -> usize {
        self.states.len() - 1
    }

    /// The run ends with a fault, and there is no state after it.
    fn is_faulty(&self, run: &Lasso) -> bool {
        self.states.len() == run.prefix.len() + run.cycle.len()
    }

    /// The run cannot go on. To find out may last where very many next states have to be tried.
    fn stops(&self, run: &Lasso, budget: &Budget) -> Result<bool, Invalid> {
        Ok(self.is_faulty(run) || self.interpreter.is_stuck_within(&self.states[self.last()], budget).map_err(ended)?)
    }

    fn is_visible(&self, position: usize) -> bool {
        self.interpreter.normalise(&self.states[position]).control.is_none()
    }

    /// What the run shows, in a sentence.
    fn judge(&self, run: &Lasso, word: &Word, claimed: LassoViolation<'_>, budget: &Budget) -> Result<String, Invalid> {
        let refuse = |why: &str| Err(Invalid::Refuted(why.to_owned()));
        match claimed {
            LassoViolation::Formula(_) | LassoViolation::Automaton(_) => {
                if self.ending == Ending::Open {
                    return self.judge_beginning(run, claimed, budget);
                }
                if !self.violates(claimed, word, &self.states) {
                    return refuse("the run does not violate the property");
                }
                let by_automaton = matches!(claimed, LassoViolation::Automaton(_));
                Ok(match self.ending {
                    Ending::Stutter if by_automaton => "a run that ends is accepted by the automaton".into(),
                    _ if by_automaton => "an endless run is accepted by the automaton".into(),
                    Ending::Stutter if self.is_faulty(run) => "a run stops at a fault without satisfying it".into(),
                    Ending::Stutter => "a run ends without satisfying it".into(),
                    _ => "a run goes on for ever without satisfying it".into(),
                })
            }
            LassoViolation::Claim(claim) => self.follows(run, claim, word).map_err(Invalid::Refuted),
            LassoViolation::Acceptance if !word.cycle.iter().any(|at| self.holds(*at, &Expr::Accepting)) => {
                refuse("no state of the cycle is accepting")
            }
            LassoViolation::Acceptance if self.ending == Ending::Stutter => Ok("accept stutter".into()),
            LassoViolation::Acceptance => Ok("acceptance cycle".into()),
            LassoViolation::NonProgress if self.ending != Ending::Cycle => refuse("the run has no cycle"),
            LassoViolation::NonProgress if !word.cycle.iter().all(|at| self.holds(*at, &Expr::NonProgress)) => {
                refuse("some state of the cycle is progress")
            }
            LassoViolation::NonProgress => Ok("non-progress cycle".into()),
        }
    }

    fn word(&self, run: &Lasso, budget: &Budget) -> Result<Word, Invalid> {
        let (prefix, moves) = (run.prefix.len(), run.prefix.len() + run.cycle.len());
        let visible = |range: std::ops::Range<usize>| range.filter(|at| self.is_visible(*at)).collect::<Vec<_>>();
        let mut word = Word { prefix: visible(0..prefix), cycle: visible(prefix..moves) };
        match self.ending {
            Ending::Cycle if word.cycle.is_empty() => return refuted("no state of the cycle is visible".into()),
            Ending::Stutter if !self.stops(run, budget)? => {
                return refuted("the run is not stuck where it ends".into());
            }
            Ending::Stutter | Ending::Open => word.cycle = vec![self.last()],
            Ending::Cycle => {}
        }
        Ok(word)
    }

    fn holds(&self, position: usize, expr: &Expr) -> bool {
        holds(self.interpreter, &self.states[position], expr)
    }

    /// The word does not satisfy the formula, or is accepted by the automaton: by their plain meaning.
    fn violates(&self, claimed: LassoViolation<'_>, word: &Word, states: &[State]) -> bool {
        let value = |atoms: &[Expr], letter: usize, atom: Atom| {
            atoms.get(atom.0 as usize).is_some_and(|expr| holds(self.interpreter, &states[word.position(letter)], expr))
        };
        let (prefix, cycle) = (word.prefix.len(), word.cycle.len());
        match claimed {
            LassoViolation::Formula(Temporal { formula, atoms }) => {
                let value = |letter, atom| value(atoms, letter, atom);
                // A formula with path quantifiers is not judged here, and would be an error of ours: not confirmed.
                !semantics::holds_with(formula, prefix, cycle, &value).unwrap_or(true)
            }
            LassoViolation::Automaton(PropertyAutomaton { automaton, atoms }) => {
                automaton.accepts_with(prefix, cycle, &|letter, atom| value(atoms, letter, atom))
            }
            LassoViolation::Claim(_) | LassoViolation::Acceptance | LassoViolation::NonProgress => false,
        }
    }

    /// The run violates the property however it goes on: so it does the way that is found first.
    fn judge_beginning(&self, run: &Lasso, claimed: LassoViolation<'_>, budget: &Budget) -> Result<String, Invalid> {
        let message = match claimed {
            LassoViolation::Automaton(_) => "every run that begins so is accepted by the automaton".to_owned(),
            _ => "no run that begins so satisfies it".to_owned(),
        };
        let mut patience = Patience::new(budget);
        let mut states = self.states.clone();
        let mut known: HashMap<State, usize> = HashMap::new();
        let last = states.len() - 1;
        for at in last..last + MAX_CONTINUATION {
            let state = &states[at];
            let visible = |at: usize| self.interpreter.normalise(&states[at]).control.is_none();
            let letters = |from: usize, to: usize| (from..to).filter(|at| visible(*at)).collect::<Vec<_>>();
            if let Some(first) = known.insert(self.interpreter.identity(state), at) {
                let word = Word { prefix: letters(0, first), cycle: letters(first, at) };
                if !word.cycle.is_empty() && !self.violates(claimed, &word, &states) {
                    return refuted("a continuation of the run does not violate the property".into());
                }
                break;
            }
            let next = if self.is_faulty(run) { None } else { self.some_next(state, budget)? };
            let Some(next) = next else {
                // Stuck, or stopped by a fault.
                let word = Word { prefix: letters(0, at), cycle: vec![at] };
                if !self.violates(claimed, &word, &states) {
                    return refuted("the run does not violate the property".into());
                }
                break;
            };
            states.push(next);
            patience.ask(at)?;
        }
        Ok(message)
    }

    /// A state after that one, if there is any.
    fn some_next(&self, state: &State, budget: &Budget) -> Result<Option<State>, Invalid> {
        for step in self.interpreter.steps_within(state, budget) {
            if let (_, Successor { state: Some(next), .. }) = step.map_err(ended)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// The claim can read the word as the engine says, and accepts it: how, in a few words.
    fn follows(&self, run: &Lasso, claim: &ClaimAutomaton, word: &Word) -> Result<String, String> {
        let last = self.last_read(run);
        let mut reads = word.prefix.clone();
        // A run that is stuck is read again and again where it ends.
        reads.resize(run.prefix_tags.len().max(reads.len()), last);
        let stands = self.stands(claim, &reads);
        if self.ending == Ending::Open {
            let edges = stands.iter().flat_map(|tag| &claim.edges[*tag as usize]);
            let comes_to = edges.filter(|edge| self.can_take(claim, edge, last)).map(|edge| edge.to);
            let decided: Vec<u32> =
                comes_to.chain([claim.initial]).filter(|tag| claim.accepts_all_from(*tag)).collect();
            return if decided.is_empty() {
                Err("the claim does not come to its end".into())
            } else {
                Ok(what_is_over(claim, &decided).unwrap_or("the claim accepts whatever follows").into())
            };
        }
        let reads = if self.ending == Ending::Stutter { vec![last; run.cycle_tags.len()] } else { word.cycle.clone() };
        let tags = &run.cycle_tags;
        if reads.len() != tags.len() || !tags.first().is_some_and(|tag| stands.contains(tag)) {
            return Err("the claim does not read the cycle as it is said to".into());
        }
        let mut marks = 0;
        for (number, position) in reads.into_iter().enumerate() {
            match self.edge(claim, tags[number], tags[(number + 1) % tags.len()], position) {
                Some(more) => marks |= more,
                None => return Err("the claim cannot move as it is said to".into()),
            }
        }
        if marks == 0 {
            return Err("the cycle of the claim is not accepting".into());
        }
        let otherwise = if self.ending == Ending::Stutter { "accept stutter" } else { "acceptance cycle" };
        Ok(what_is_over(claim, tags).unwrap_or(otherwise).into())
    }

    /// Where the claim first meets a condition that is a fault, and what is wrong there.
    fn claim_fault(&self, word: &Word, claim: &ClaimAutomaton) -> Option<(usize, String)> {
        let mut stands = HashSet::from([claim.initial]);
        for position in word.prefix.iter().chain(&word.cycle).copied() {
            let edges = || stands.iter().flat_map(|tag| &claim.edges[*tag as usize]);
            let fails =
                |edge: &&crate::temporal::Edge| edge.to == claim.end + 2 && self.can_take(claim, edge, position);
            if let Some(edge) = edges().find(fails) {
                return Some((position, self.fault_of(claim, edge, position)));
            }
            stands = edges().filter(|edge| self.can_take(claim, edge, position)).map(|edge| edge.to).collect();
        }
        None
    }

    /// What is wrong with the last of the conditions on an edge, in a sentence.
    fn fault_of(&self, claim: &ClaimAutomaton, edge: &crate::temporal::Edge, position: usize) -> String {
        let message = what_is_over(claim, &[edge.to]).unwrap_or_default();
        let last = edge.when.first().and_then(|cube| cube.iter().rev().find(|(_, value)| !value));
        let fault = last.and_then(|(atom, _)| {
            let expr = &claim.atoms[*atom as usize];
            self.interpreter.evaluate(&self.states[position], None, expr).err()
        });
        fault.map_or_else(|| message.to_owned(), |fault| format!("{message}: {fault}"))
    }

    /// The position that is read again and again if the run does not go on.
    fn last_read(&self, run: &Lasso) -> usize {
        if self.ending == Ending::Cycle { run.prefix.len() } else { self.last() }
    }

    /// Where the claim can stand after it has read these positions.
    fn stands(&self, claim: &ClaimAutomaton, positions: &[usize]) -> HashSet<u32> {
        let mut stands = HashSet::from([claim.initial]);
        for position in positions {
            let edges = stands.iter().flat_map(|tag| &claim.edges[*tag as usize]);
            stands = edges.filter(|edge| self.can_take(claim, edge, *position)).map(|edge| edge.to).collect();
        }
        stands
    }

    fn edge(&self, claim: &ClaimAutomaton, from: u32, to: u32, position: usize) -> Option<u32> {
        let edges = claim.edges.get(from as usize)?.iter().filter(|edge| edge.to == to);
        edges.filter(|edge| self.can_take(claim, edge, position)).map(|edge| edge.marks).max()
    }

    fn can_take(&self, claim: &ClaimAutomaton, edge: &crate::temporal::Edge, position: usize) -> bool {
        let literal = |(atom, value): &(u32, bool)| self.holds(position, &claim.atoms[*atom as usize]) == *value;
        edge.when.iter().any(|cube| cube.iter().all(literal))
    }

    /// The cycle of the run is fair.
    fn is_fair(&self, run: &Lasso, fairness: Fairness, budget: &Budget) -> Result<(), Invalid> {
        if self.ending != Ending::Cycle || fairness == Fairness::None {
            return Ok(());
        }
        let cycle = run.prefix.len()..run.prefix.len() + run.cycle.len();
        let mut patience = Patience::new(budget);
        let enabled = |at: usize| self.interpreter.enabled(&self.states[at]);
        if fairness == Fairness::Strong {
            let taken: HashSet<&Move> = run.cycle.iter().collect();
            for (number, at) in cycle.enumerate() {
                patience.ask(number)?;
                if let Some(action) = enabled(at).into_iter().find(|action| !taken.contains(action)) {
                    return refuted(format!("the cycle is not fair: {action:?} is enabled and never taken"));
                }
            }
            return Ok(());
        }
        let mut waiting: HashSet<u32> = (0..256).collect();
        for (number, at) in cycle.enumerate() {
            patience.ask(number)?;
            if self.is_visible(at) {
                let movers: HashSet<u32> = enabled(at).iter().filter_map(Move::mover).collect();
                waiting.retain(|process| movers.contains(process));
            }
        }
        for step in &self.trace.cycle {
            waiting.retain(|process| !step.taken.involves(*process));
        }
        match waiting.into_iter().next() {
            Some(process) => refuted(format!("the cycle is not fair: process {process} could move and never does")),
            None => Ok(()),
        }
    }
}

/// What a claim in one of these states has seen, if it need not see more.
fn what_is_over(claim: &ClaimAutomaton, tags: &[u32]) -> Option<&'static str> {
    if tags.contains(&claim.end) {
        Some("end state in claim reached")
    } else if tags.contains(&(claim.end + 1)) {
        Some("assertion violated in claim")
    } else if tags.contains(&(claim.end + 2)) {
        Some("run-time error in claim")
    } else {
        None
    }
}

fn ended(interrupted: Interrupted) -> Invalid {
    Invalid::Ended(interrupted.into())
}

fn holds(interpreter: &Interpreter<'_>, state: &State, expr: &Expr) -> bool {
    interpreter.evaluate(state, None, expr).is_ok_and(|value| value != 0)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ample_logic::Formula;
    use ample_model::{
        BinaryOp, Coupling, Initial, Place, Reason, Scalar, Scope, Synchronous, Type, Variable, VariableId,
    };

    use super::*;

    /// To find out that it is stuck would take 2^64 candidates for a next state.
    fn endless() -> System {
        let word = Scalar::Int { bits: 32, signed: false };
        let next = |number| {
            let variable = VariableId(number);
            Expr::Next(Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar: word })
        };
        let square = Expr::binary(BinaryOp::Multiply, next(0), next(0));
        let other = Expr::binary(BinaryOp::Subtract, next(1), Expr::Const(1 << 40));
        let mut system = System::new("endless", "by hand");
        for name in ["x", "y"] {
            let initial = vec![(0, Initial::Value(Expr::Const(0)))];
            system.globals.push(Variable { initial, ..Variable::new(name, Type::Scalar(word)) });
        }
        let relations = vec![Expr::binary(BinaryOp::Equal, square, other)];
        system.coupling = Coupling::Synchronous(Synchronous { relations, ..Synchronous::default() });
        system
    }

    #[test]
    fn the_budget_ends_the_search_for_a_next_state() {
        let system = endless();
        let never = Temporal { formula: Formula::False, atoms: Vec::new() };
        for ending in [Ending::Stutter, Ending::Open] {
            let run = Lasso {
                start: 0.into(),
                prefix: Vec::new(),
                cycle: Vec::new(),
                ending,
                prefix_tags: Vec::new(),
                cycle_tags: Vec::new(),
            };
            let begun = Instant::now();
            let budget = Budget::unlimited().with_time(Duration::from_millis(50));
            let found = validate_lasso(&system, &run, LassoViolation::Formula(&never), Fairness::None, &budget);
            assert_eq!(found.map(|(violation, _)| violation), Err(Invalid::Ended(Reason::Time)), "{ending:?}");
            assert!(begun.elapsed() < Duration::from_secs(10), "{ending:?}: {:?}", begun.elapsed());
        }
    }
}
