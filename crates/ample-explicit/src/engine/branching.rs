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
    if options.reduction() != Reduction::TwoPhase {
        return look_everywhere(system, temporal, budget);
    }
    match in_two_phases(system, temporal, budget)? {
        Ok(found) => Ok(found),
        Err(why) => {
            let found = look_everywhere(system, temporal, budget)?;
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

/// Looks at all states.
fn look_everywhere(system: &Subject<'_>, temporal: &Temporal, budget: &Budget) -> Result<BranchingResult, String> {
    let mut space = match system.space(&temporal.atoms, budget) {
        Ok(space) => space,
        Err(error) => return Ok(BranchingResult { ended: Some(error.into()), ..BranchingResult::default() }),
    };
    if !has_hidden_variables(system) {
        return search(&mut space, Whole, &asked(system, temporal), budget);
    }
    let visible = space.visible();
    search(&mut space, visible, &asked(system, temporal), budget)
}

/// A formula, and what it makes of a state without moves.
struct Asked<'a> {
    formula: &'a Formula,
    dead: ctl::Dead,
}

fn asked<'a>(system: &System, temporal: &'a Temporal) -> Asked<'a> {
    let dead = if system.dead_ends { ctl::Dead::Ends } else { ctl::Dead::Stutters };
    Asked { formula: &temporal.formula, dead }
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
    let branching = ctl::Options { report_every: REPORT_EVERY, dead: asked.dead };
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
