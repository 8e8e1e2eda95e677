//! Weak fairness: what does not accord because a process waits for it.
//!
//! A run is weakly fair if every process that is enabled from some point on takes part in infinitely many steps (P.
//! Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, §7.4; enabled means that one of the
//! enabled transitions begins with a step of the process). Two runs that differ only in the order of independent
//! transitions need not both be fair: whether a process is disabled again and again may depend on that order. The
//! dependency is therefore refined until fairness is *equivalence robust* (K. Apt, N. Francez, S. Katz, *Appraising
//! fairness in languages for distributed programming*; D. Peled, *All from one, one for all*). Two kinds of pairs are
//! added to those that do not accord:
//!
//! 1. all transitions of one location of a process, with the enabled ones that the process itself begins;
//! 2. for each process `q` and each of its locations, those who may enable `q` there with those who may disable it,
//!    transitions of `q` itself excepted. Two that only enable it, or only disable it, are not added.
//!
//! With the closed-cycle proviso and invisible sets the reduced product has a fair accepted run if the product has one.
//! Let `w` be the rest of a fair run that is infinite, from a state of the reduced product on, and `T` the stubborn set
//! of that state.
//!
//! - *Some transition of `T` occurs in `w`.* Otherwise an enabled transition `a` of `T` stays enabled all along `w`, and
//!   so does the process `p` that begins it. The run being fair, `p` takes part in `w`; the first transition by which it
//!   does leaves the location at which `p` stands, and is in `T` by (1).
//! - So the reduced run takes the first transition `a` of `T` that occurs in `w = u a v`, and goes on with `u v`; where
//!   all transitions are explored, it takes the first of `w`. Nothing is added to the run, and as every cycle has a state
//!   of the latter kind, nothing is left out: a process that moves infinitely often still does.
//! - *A process `q` that moves only finitely often is still disabled infinitely often.* When its last step is over, let
//!   `x` be the part of `w` up to the first state in which `q` is disabled. If `a` occurs in `x`, that state is the same
//!   after `u` and `a` have changed places, and comes one step sooner. If not, it is followed by `a` now, and `q` is still
//!   disabled: otherwise `a` enables it, and the last transition of `x` disables it, but such a pair does not change
//!   places by (2). As the first transition of `w` is taken sooner or later, the reduced run comes to a state in which `q`
//!   is disabled, and then to the next one.
//!
//! The property is preserved as without fairness: transitions of proper subsets are invisible. A run that ends in a
//! deadlock or by a fault is fair in any case.
//!
//! Everything is explored where processes may still be created, of whose conditions too little is known, and where
//! several processes may wait for `timeout`, which is true of all of them at once.

use super::Guards;
use super::relations::Relations;
use crate::bits::Bits;
use crate::scheme::{ProcessNumber, TransitionNumber};
use crate::unfold::{Test, Unfolding};

/// What is known for weak fairness.
#[derive(Default)]
pub(super) struct WeakFairness {
    /// Per transition: who does not accord with it because of fairness. Pairs that are never enabled together are among
    /// them.
    pub discord: Vec<Bits>,
    /// Transitions with which everything is explored, as long as they may be taken.
    opaque: Bits,
    /// Transitions that wait for `timeout`.
    timeouts: Bits,
}

impl WeakFairness {
    /// Nothing may be left out while these may be taken.
    pub fn needs_all(&self, unfolding: &Unfolding<'_>, alive: &Bits) -> bool {
        if self.opaque.meets(alive) {
            return true;
        }
        let waiting = self.timeouts.iter().filter(|transition| alive.contains(*transition));
        let mut processes = waiting.map(|transition| process_of(unfolding, transition));
        let first = processes.next();
        first.is_some_and(|first| processes.any(|other| other != first))
    }
}

/// The process that begins the transition.
fn process_of(unfolding: &Unfolding<'_>, transition: TransitionNumber) -> ProcessNumber {
    unfolding.scheme().transitions[transition as usize].steps[0].process
}

impl Relations {
    /// What does not accord because of weak fairness.
    pub(super) fn weak_fairness(&self, unfolding: &Unfolding<'_>) -> Option<WeakFairness> {
        let transitions = 0..unfolding.scheme().transitions.len() as TransitionNumber;
        let timeout = |transition: &TransitionNumber| unfolding.detail(*transition).timeout;
        let mut fairness = WeakFairness {
            discord: vec![Bits::new(); transitions.len()],
            opaque: transitions.clone().filter(|transition| is_opaque(unfolding, *transition)).collect(),
            timeouts: transitions.clone().filter(timeout).collect(),
        };
        for transition in transitions {
            let begins = &unfolding.scheme().transitions[transition as usize].steps[0];
            let together = &unfolding.member(begins.process).leaving[begins.from as usize];
            unfolding.effort().spend(together.len()).then_some(())?;
            fairness.discord[transition as usize].extend(&together.iter().copied().collect());
        }
        for process in 0..unfolding.scheme().processes.len() as ProcessNumber {
            // An unborn process makes every transition by which it may come opaque.
            if unfolding.member(process).id.is_some() {
                for location in 0..unfolding.member(process).leaving.len() {
                    self.waits_at(unfolding, process, location, &mut fairness.discord)?;
                }
            }
        }
        // If one does not accord with another, neither does the other with it.
        for transition in 0..fairness.discord.len() as TransitionNumber {
            for other in fairness.discord[transition as usize].clone().iter() {
                fairness.discord[other as usize].insert(transition);
            }
        }
        Some(fairness)
    }

    /// Who enables a process at a location does not accord with who disables it there.
    fn waits_at(
        &self,
        unfolding: &Unfolding<'_>,
        process: ProcessNumber,
        location: usize,
        discord: &mut [Bits],
    ) -> Option<()> {
        let scheme = unfolding.scheme();
        let leaving = &unfolding.member(process).leaving[location];
        let begins = |transition: &&TransitionNumber| process_of(unfolding, **transition) == process;
        if leaving.iter().filter(begins).any(|transition| is_always_possible(unfolding, *transition)) {
            return Some(());
        }
        let (mut enablers, mut disablers) = (Bits::new(), Bits::new());
        for transition in leaving.iter().filter(begins) {
            unfolding.effort().spend(20 + self.width()).then_some(())?;
            self.able(unfolding, *transition, &[], &mut disablers, &mut enablers);
            let this = &scheme.transitions[*transition as usize];
            let youngest = |test: &Test| matches!(test, Test::Youngest);
            if this.conditions.iter().any(|condition| youngest(&unfolding.question(*condition).test)) {
                self.ends.iter().for_each(|ends| enablers.extend(ends));
            }
            // A partner that stays where it is may change its variables, and with them the message that it takes.
            for step in this.steps.iter().filter(|step| step.process != process) {
                let partner = &unfolding.member(step.process).leaving[step.from as usize];
                disablers.extend(&partner.iter().copied().collect());
            }
        }
        let is_own = |transition: u32| scheme.transitions[transition as usize].is_active(process);
        let others = |row: &Bits| row.iter().filter(|transition| !is_own(*transition)).collect::<Bits>();
        let (enablers, disablers) = (others(&enablers), others(&disablers));
        for (these, those) in [(&enablers, &disablers), (&disablers, &enablers)] {
            unfolding.effort().spend(these.len() * (1 + those.words().len() / 4)).then_some(())?;
            these.iter().for_each(|transition| discord[transition as usize].extend(those));
        }
        Some(())
    }
}

/// It may create processes, or its conditions depend on who waits for `timeout`.
fn is_opaque(unfolding: &Unfolding<'_>, transition: TransitionNumber) -> bool {
    let timeout = |siblings: &[TransitionNumber]| siblings.iter().any(|s| unfolding.detail(*s).timeout);
    let conditions = &unfolding.scheme().transitions[transition as usize].conditions;
    let mut tests = conditions.iter().map(|condition| &unfolding.question(*condition).test);
    !unfolding.detail(transition).spawns.is_empty()
        || tests.any(|test| matches!(test, Test::Blocked(siblings) if timeout(siblings)))
}

/// The transition, or one of those whose alternative it is, is enabled whenever its process stands before it, and
/// the process begins it.
fn is_always_possible(unfolding: &Unfolding<'_>, transition: TransitionNumber) -> bool {
    let this = &unfolding.scheme().transitions[transition as usize];
    if this.steps.len() > 1 || unfolding.detail(transition).timeout {
        return false;
    }
    let receives = |sibling: &TransitionNumber| {
        let handshakes = unfolding.detail(*sibling).handshakes.iter();
        handshakes.filter_map(|handshake| unfolding.detail(*handshake).halves).any(|(_, by)| by == *sibling)
    };
    match this.conditions[..] {
        [] => true,
        [condition] => match &unfolding.question(condition).test {
            Test::Blocked(siblings) => !unfolding.question(condition).may_fault && !siblings.iter().any(receives),
            _ => false,
        },
        _ => false,
    }
}

impl Guards {
    /// From now on runs are weakly fair, so that a set keeps who enables a process apart from who disables it.
    pub fn with_weak_fairness(self) -> Guards {
        Guards { is_fair: true, ..self }
    }
}
