//! Branching time, by the explicit engine.

use crate::compile::NotReduced;
use crate::ctl::{self, Evidence, Number};
use crate::liveness::{Behind, Concurrent, Stopping, Stops, Tagged};
use crate::space::Checked;
use crate::store::{ExactStore, FlatStore, Visible, Whole};
use ample_logic::Formula;
use ample_model::{Budget, Reason, StartNumber, Statistics, System, Temporal, Tree};

use super::options::Options;
use super::reduction::Reduction;
use super::subject::Subject;
use super::two_phase;
use super::{OfCompiled, REPORT_EVERY, has_hidden_variables, room_for_the_store};

/// The result of evaluating a formula of branching time.
#[derive(Clone, Debug, Default)]
pub struct BranchingResult {
    /// The value of the formula in the initial states; none if the search ended early.
    pub verdict: Option<bool>,
    /// The number of the initial state that the evidence is about, and the evidence.
    pub evidence: Option<(StartNumber, Tree)>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
    /// Which orders of steps were left out.
    pub reduction: Option<String>,
    /// In how many initial states the formula was evaluated.
    pub starts: u64,
    /// What the user should know.
    pub note: Option<String>,
    /// The run-time errors that stop runs.
    pub stops: Stops,
}

/// Looks at a formula in the initial states.
pub fn look_at(
    system: &Subject<'_>,
    temporal: &Temporal,
    options: &Options,
    budget: &Budget,
) -> Result<BranchingResult, String> {
    if !options.settings.justice.is_empty() {
        // Conditions of justice are atoms that the formula does not have.
        let mut atoms = temporal.clone();
        atoms.atoms.extend(options.settings.justice.iter().cloned());
        return look_everywhere(system, &atoms, temporal.atoms.len(), budget);
    }
    let count = temporal.atoms.len();
    if options.reduction() != Reduction::TwoPhase {
        return look_everywhere(system, temporal, count, budget);
    }
    match in_two_phases(system, temporal, budget)? {
        Ok(found) => Ok(found),
        Err(why) => {
            let found = look_everywhere(system, temporal, count, budget)?;
            Ok(BranchingResult { note: Some(format!("no partial-order reduction: {why}")), ..found })
        }
    }
}

/// Looks at the states that are left when safe steps are taken at once; or why nothing may be left out.
fn in_two_phases(
    system: &Subject<'_>,
    temporal: &Temporal,
    budget: &Budget,
) -> Result<Result<BranchingResult, String>, String> {
    if temporal.formula.has_next() {
        return Ok(Err("the formula says what comes next (it uses X)".into()));
    }
    let (mut space, tally) = match two_phase::space(system, &temporal.atoms, budget) {
        Ok(ready) => ready,
        Err(NotReduced::Irreducible(why)) => return Ok(Err(why)),
        Err(NotReduced::NotCompiled(error)) => {
            return Ok(Ok(BranchingResult { ended: Some(error.into()), ..BranchingResult::default() }));
        }
    };
    let guarded = two_phase::guarded(budget, &tally);
    let visible = two_phase::visible(&space);
    let found = if has_hidden_variables(system) {
        search(&mut space, visible, &asked(system, temporal), &guarded)?
    } else {
        search(&mut space, Whole, &asked(system, temporal), &guarded)?
    };
    if tally.is_full() {
        return Ok(Err(two_phase::FULL.into()));
    }
    Ok(Ok(BranchingResult { reduction: Some(two_phase::describe(space.phases())), ..found }))
}

/// Looks at all states. Atoms from that number on are conditions of justice.
fn look_everywhere(
    system: &Subject<'_>,
    temporal: &Temporal,
    atoms: usize,
    budget: &Budget,
) -> Result<BranchingResult, String> {
    let mut space = match system.space(&temporal.atoms, budget) {
        Ok(space) => space,
        Err(error) => return Ok(BranchingResult { ended: Some(error.into()), ..BranchingResult::default() }),
    };
    let justice = (atoms as u32..temporal.atoms.len() as u32).collect();
    let asked = Asked { justice, ..asked(system, temporal) };
    if !has_hidden_variables(system) {
        return search(&mut space, Whole, &asked, budget);
    }
    let visible = space.visible();
    search(&mut space, visible, &asked, budget)
}

/// A formula, and what it makes of a state without moves.
struct Asked<'a> {
    formula: &'a Formula,
    dead: ctl::Dead,
    /// The atoms that have to hold again and again.
    justice: Vec<u32>,
}

fn asked<'a>(system: &System, temporal: &'a Temporal) -> Asked<'a> {
    let dead = match system.synchronous() {
        Some(synchronous) if synchronous.infinite_runs => ctl::Dead::Discards,
        _ if system.dead_ends => ctl::Dead::Ends,
        _ => ctl::Dead::Stutters,
    };
    Asked { formula: &temporal.formula, dead, justice: Vec::new() }
}

fn search<S: Checked<State = [u8]> + Concurrent + OfCompiled>(
    space: &mut S,
    visible: impl Visible,
    asked: &Asked<'_>,
    budget: &Budget,
) -> Result<BranchingResult, String> {
    let room = room_for_the_store(budget);
    let mut space = Stopping::new(space);
    let mut store = FlatStore::<Number, _>::with_visible(Behind(visible)).limit(room);
    let branching = ctl::Options { report_every: REPORT_EVERY, dead: asked.dead, justice: asked.justice.clone() };
    let report = ctl::check(&mut space, &mut store, asked.formula, &branching, budget).map_err(|e| e.to_string())?;
    let evidence = report.evidence.map(|evidence| {
        let start = space.space().start_number(evidence.start);
        (start, tree(*space.space(), &store, &evidence))
    });
    let (mut verdict, mut ended) = (report.verdict, report.ended);
    if let Some(limit) = space.space().compiled().limit_reached() {
        (verdict, ended) = (None, Some(limit));
    }
    let stops = space.stops().clone();
    let (starts, statistics) = (report.starts, report.statistics);
    Ok(BranchingResult { verdict, evidence, ended, starts, statistics, stops, ..BranchingResult::default() })
}

/// The evidence in moves.
fn tree<S, St>(space: &mut S, store: &St, evidence: &Evidence<S::Transition>) -> Tree
where
    S: Concurrent<State = [u8]>,
    St: ExactStore<[u8]>,
{
    let mut moves = Vec::new();
    // How many moves there are before each step.
    let mut before = vec![0];
    for (state, transition) in &evidence.path.steps {
        moves.extend(space.actions(<[u8]>::plain(store.get(*state)), transition));
        before.push(moves.len());
    }
    let cycle = moves.split_off(before[evidence.path.steps.len() - evidence.cycle]);
    let branches = evidence.branches.iter().map(|(after, branch)| (before[*after], tree(space, store, branch)));
    Tree {
        formula: evidence.formula.clone(),
        holds: evidence.holds,
        branches: branches.collect(),
        prefix: moves,
        cycle,
        stutters: evidence.stutters,
    }
}
