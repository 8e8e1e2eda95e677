//! Two-phase commit: a transaction manager and resource managers that must agree whether to commit.
//!
//!     cargo run -p ample-explicit --example two_phase_commit
//!
//! After J. Gray and L. Lamport, *Consensus on transaction commit*, 2006.

use ample_explicit::model::{Check, Model};

/// So many resource managers.
struct TwoPhaseCommit(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Resource {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Decision {
    Open,
    Commit,
    Abort,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    resources: Vec<Resource>,
    /// Whose message that it is prepared has been received.
    prepared: Vec<bool>,
    /// What the manager has decided, and has told everybody.
    decision: Decision,
}

#[derive(Clone, Debug)]
enum Action {
    /// A resource manager prepares, and says so.
    Prepare(usize),
    /// A resource manager aborts by itself.
    Abort(usize),
    /// The transaction manager hears that a resource manager is prepared.
    Receive(usize),
    /// A resource manager hears what was decided.
    Obey(usize),
    /// The transaction manager decides.
    Decide(Decision),
}

impl Model for TwoPhaseCommit {
    type State = State;
    type Action = Action;

    fn init(&self) -> Vec<State> {
        let resources = vec![Resource::Working; self.0];
        vec![State { resources, prepared: vec![false; self.0], decision: Decision::Open }]
    }

    fn actions(&self, _: &State) -> Vec<Action> {
        let each = |i| [Action::Prepare(i), Action::Abort(i), Action::Receive(i), Action::Obey(i)];
        let decisions = [Action::Decide(Decision::Commit), Action::Decide(Decision::Abort)];
        (0..self.0).flat_map(each).chain(decisions).collect()
    }

    fn next(&self, state: &State, action: &Action) -> Option<State> {
        let mut next = state.clone();
        match *action {
            Action::Prepare(i) if state.resources[i] == Resource::Working => next.resources[i] = Resource::Prepared,
            Action::Abort(i) if state.resources[i] == Resource::Working => next.resources[i] = Resource::Aborted,
            Action::Receive(i) if state.resources[i] == Resource::Prepared => next.prepared[i] = true,
            Action::Obey(i) => {
                next.resources[i] = match state.decision {
                    Decision::Open => return None,
                    Decision::Commit => Resource::Committed,
                    Decision::Abort => Resource::Aborted,
                }
            }
            Action::Decide(decision) if state.decision == Decision::Open => {
                if decision == Decision::Commit && state.prepared.contains(&false) {
                    return None;
                }
                next.decision = decision;
            }
            _ => return None,
        }
        (next != *state).then_some(next)
    }

    fn is_valid_end(&self, state: &State) -> bool {
        state.decision != Decision::Open
    }

    fn properties<'m>(&'m self, check: Check<'m, Self>) -> Check<'m, Self> {
        check
            .deadlock_free()
            .always("consistent", |s| {
                !(s.resources.contains(&Resource::Committed) && s.resources.contains(&Resource::Aborted))
            })
            .sometimes("all commit", |s| s.resources.iter().all(|r| *r == Resource::Committed))
            .sometimes("all abort", |s| s.resources.iter().all(|r| *r == Resource::Aborted))
            .eventually("decided", |s| s.decision != Decision::Open)
            .condition("aborted", |s| s.resources.contains(&Resource::Aborted))
            .ltl("an abort is final", "always (aborted implies always aborted)")
    }
}

fn main() {
    for resources in 1..=7 {
        let report = TwoPhaseCommit(resources).check().assert();
        println!("{resources} resource managers: {} states, all properties hold", report.states());
    }
}
