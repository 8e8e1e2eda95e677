//! Branching time, by the explicit engine.

use ample_explicit::compile::{Compiled, Transition};
use ample_explicit::ctl::{self, Evidence, Number};
use ample_explicit::liveness::{Behind, Stopping, Tagged};
use ample_explicit::store::{ExactStore, FlatStore, Visible, Whole};
use ample_logic::Formula;
use ample_model::{Move, Observer, Reason, Statistics, System};

use super::{REPORT_EVERY, has_hidden_variables, room_for_the_store};
use crate::check::CheckOptions;
use crate::temporal::Numbered;

/// What shows that a formula has its value in a state.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The formula.
    pub formula: Formula,
    /// Its value.
    pub holds: bool,
    /// A run from the state on.
    pub prefix: Vec<Move>,
    /// How it goes on for ever, if it does.
    pub cycle: Vec<Move>,
    /// It is stuck at its end.
    pub stutters: bool,
    /// What there is to see on the way: after so many moves.
    pub branches: Vec<(usize, Tree)>,
}

/// What the search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The value of the formula in the initial states; none if the search ended early.
    pub verdict: Option<bool>,
    /// The number of the initial state that the evidence is about, and the evidence.
    pub evidence: Option<(u32, Tree)>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
}

/// Looks at a formula in the initial states.
pub fn look_at(
    system: &System,
    numbered: &Numbered,
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Result<Found, String> {
    let space = Compiled::new(system, &numbered.atoms).map_err(|unsupported| unsupported.to_string())?;
    if !has_hidden_variables(system) {
        return search(space, Whole, &numbered.formula, options, observer);
    }
    let visible = space.visible();
    search(space, visible, &numbered.formula, options, observer)
}

fn search(
    space: Compiled,
    visible: impl Visible,
    formula: &Formula,
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Result<Found, String> {
    let room = options.memory_limit.map_or(usize::MAX, room_for_the_store);
    let mut space = Stopping::new(space);
    let mut store = FlatStore::<Number, _>::with_visible(Behind(visible)).limit(room);
    let branching = ctl::Options { report_every: REPORT_EVERY, ..ctl::Options::default() };
    let report = ctl::check(&mut space, &mut store, formula, &branching, observer).map_err(|e| e.to_string())?;
    let evidence = report.evidence.map(|evidence| (evidence.start as u32, tree(space.space(), &store, &evidence)));
    let (mut verdict, mut ended) = (report.verdict, report.ended);
    if let Some(limit) = space.space().limit_reached() {
        (verdict, ended) = (None, Some(Reason::Unsupported(limit)));
    }
    Ok(Found { verdict, evidence, ended, statistics: report.statistics })
}

/// The evidence in moves.
fn tree<St: ExactStore<[u8]>>(space: &mut Compiled, store: &St, evidence: &Evidence<Transition>) -> Tree {
    let mut moves = Vec::new();
    // How many moves there are before each step.
    let mut before = vec![0];
    for (state, transition) in &evidence.path.steps {
        moves.extend(space.expand(<[u8]>::plain(store.get(*state)), transition));
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
