//! Evidence in branching time: runs of a net that show why a formula is true or false, with what branches off them.
//!
//! The engines find it, mostly on a simplified net; here its runs are expanded to runs of the net that was asked
//! about. Every run is expanded from the start of the net on, together with what leads to it, since what a transition of a
//! simplified net stands for may depend on the marking.

mod shorter;

use ample_explicit::ctl;
use ample_logic::Formula;

use crate::explicit::Fire;
use crate::net::Net;
use crate::simplify::Simplified;

/// Longer runs are given up: nobody reads them, and each step costs a look at the whole net when it is replayed.
pub const LONGEST: usize = 20_000;

/// What shows that a formula has its value in a marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The formula, negations left out.
    pub formula: Formula,
    /// Its value.
    pub holds: bool,
    /// The transitions of a run from the marking on.
    pub prefix: Vec<u32>,
    /// How it goes on for ever, if it does.
    pub cycle: Vec<u32>,
    /// It is over at its end, where nothing can fire.
    pub stutters: bool,
    /// What there is to see on the way, after so many transitions.
    pub branches: Vec<(usize, Evidence)>,
}

impl Evidence {
    /// The value of a formula without a run.
    pub fn bare(formula: &Formula, holds: bool) -> Evidence {
        Evidence::run(formula, holds, Vec::new())
    }

    /// A run that decides the formula where it ends.
    pub fn run(formula: &Formula, holds: bool, prefix: Vec<u32>) -> Evidence {
        let formula = formula.clone();
        Evidence { formula, holds, prefix, cycle: Vec::new(), stutters: false, branches: Vec::new() }
    }

    /// From what the search over single markings has found.
    pub fn of(found: &ctl::Evidence<Fire>) -> Evidence {
        let mut prefix: Vec<u32> = found.path.transitions().map(|fire| fire.transition).collect();
        let cycle = prefix.split_off(prefix.len() - found.cycle.min(prefix.len()));
        let branches = found.branches.iter().map(|(after, branch)| (*after, Evidence::of(branch))).collect();
        let (formula, holds, stutters) = (found.formula.clone(), found.holds, found.stutters);
        Evidence { formula, holds, prefix, cycle, stutters, branches }
    }

    /// From what the sets of all markings have shown.
    pub fn of_sets(found: &ample_symbolic::evidence::Evidence) -> Evidence {
        let numbers = |steps: &[usize]| steps.iter().map(|step| *step as u32).collect();
        let branches = found.branches.iter().map(|(after, branch)| (*after, Evidence::of_sets(branch))).collect();
        let (prefix, cycle) = (numbers(&found.prefix), numbers(&found.cycle));
        let (formula, holds, stutters) = (found.formula.clone(), found.holds, found.stutters);
        Evidence { formula, holds, prefix, cycle, stutters, branches }
    }

    /// All transitions in it.
    pub fn steps(&self) -> usize {
        self.prefix.len() + self.cycle.len() + self.branches.iter().map(|(_, branch)| branch.steps()).sum::<usize>()
    }

    /// Evidence on a simplified net as one on the net that it was made from. Branches that cannot be expanded are left out;
    /// `None` if the run itself cannot: it is too long, or what repeats in the simplified net does not in the other.
    pub fn expanded(&self, small: &Simplified, net: &Net) -> Option<Evidence> {
        self.expand(small, net, &[], &[])
    }

    /// `before` leads to where it begins, in the simplified net; `base` is the same in the other.
    fn expand(&self, small: &Simplified, net: &Net, before: &[u32], base: &[u32]) -> Option<Evidence> {
        let run = [before, &self.prefix].concat();
        let (whole, cycle) = if self.cycle.is_empty() {
            (small.expand(&run)?, 0)
        } else {
            let (mut prefix, cycle) = small.expand_lasso(&run, &self.cycle)?;
            let turn = fired(net, net.initial(), &prefix)?;
            if fired(net, turn.clone(), &cycle)? != turn {
                return None;
            }
            prefix.extend(&cycle);
            (prefix, cycle.len())
        };
        if whole.len() > LONGEST {
            return None;
        }
        let mut prefix = whole.strip_prefix(base)?.to_vec();
        let cycle = prefix.split_off(prefix.len().checked_sub(cycle)?);
        let run = [before, &self.prefix, &self.cycle].concat();
        let expand = |(after, branch): &(usize, Evidence)| {
            let at = run.get(..before.len() + after)?;
            let point = small.expand(at)?;
            let after = whole.starts_with(&point).then(|| point.len().checked_sub(base.len()))??;
            Some((after, branch.expand(small, net, at, &point)?))
        };
        let branches = self.branches.iter().filter_map(expand).collect();
        let (formula, holds, stutters) = (self.formula.clone(), self.holds, self.stutters);
        Some(Evidence { formula, holds, prefix, cycle, stutters, branches })
    }
}

/// The marking after some transitions; `None` if they cannot fire.
pub fn fired(net: &Net, mut marking: Vec<u64>, run: &[u32]) -> Option<Vec<u64>> {
    for transition in run {
        let transition = net.transitions.get(*transition as usize)?;
        if !transition.is_enabled(&marking) {
            return None;
        }
        // In place, as runs may be long and markings wide.
        for (place, weight) in &transition.takes {
            marking[*place as usize] -= weight;
        }
        for (place, weight) in &transition.adds {
            let tokens = marking.get_mut(*place as usize)?;
            *tokens = tokens.checked_add(*weight)?;
        }
    }
    Some(marking)
}
