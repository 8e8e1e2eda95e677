//! A system as decision diagrams: its initial states, and one relation for each partition of its steps.
//!
//! There is no relation of all steps together, and none says what stays as it is: an image is taken relation by
//! relation, over the bits that it writes. Each relation is a partial function, since the partitions are.

mod algebra;

use std::cell::OnceCell;

pub use self::algebra::SpaceSets;
use crate::diagram::{Bdd, Diagrams, Maybe, Written};
use crate::reach::Effort;

/// One partition of the steps: a move of one process, or of two that shake hands.
#[derive(Clone, Debug)]
pub struct Step {
    /// From states to their successors.
    pub relation: Bdd,
    /// What it writes, as the relation wants it.
    pub written: Written,
    /// The states that have a successor.
    pub guard: Bdd,
    /// The states in which it is enabled and ends in a fault, without a successor.
    pub fault: Bdd,
    /// The states in which it is enabled and breaks an assertion, or is a fault.
    pub violation: Bdd,
    /// The bits that it reads.
    pub reads: Vec<u32>,
    /// The bits that it may write.
    pub writes: Vec<u32>,
    /// Who takes part.
    pub processes: Vec<u32>,
}

/// Several steps in one relation.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// From states to their successors.
    pub relation: Bdd,
    /// What it writes.
    pub written: Written,
    writes: Vec<u32>,
}

/// A cluster has at most so many nodes.
const MAX_CLUSTER: usize = 1000;

/// Puts the steps of each process together.
pub(crate) fn clusters(diagrams: &Diagrams, steps: &[Step]) -> Maybe<Vec<Cluster>> {
    let mut sorted: Vec<&Step> = steps.iter().collect();
    sorted.sort_by(|x, y| x.processes.cmp(&y.processes));
    let mut clusters: Vec<(Vec<u32>, Cluster)> = Vec::new();
    for step in sorted {
        let single = Cluster { relation: step.relation.clone(), written: step.written, writes: step.writes.clone() };
        if let Some((processes, last)) = clusters.last_mut()
            && *processes == step.processes
            && last.relation.nodes() + single.relation.nodes() <= MAX_CLUSTER
        {
            let joined = join(diagrams, last, &single)?;
            if joined.relation.nodes() <= MAX_CLUSTER {
                *last = joined;
                continue;
            }
        }
        clusters.push((step.processes.clone(), single));
    }
    Ok(clusters.into_iter().map(|(_, cluster)| cluster).collect())
}

/// Both, each keeping what only the other writes.
fn join(diagrams: &Diagrams, x: &Cluster, y: &Cluster) -> Maybe<Cluster> {
    let mut writes: Vec<u32> = x.writes.iter().chain(&y.writes).copied().collect();
    writes.sort_unstable();
    writes.dedup();
    let framed = |cluster: &Cluster| -> Maybe<Bdd> {
        let mut relation = cluster.relation.clone();
        for bit in writes.iter().filter(|bit| !cluster.writes.contains(bit)) {
            relation = relation.and(&diagrams.now(*bit)?.iff(&diagrams.next(*bit)?)?)?;
        }
        Ok(relation)
    };
    let relation = framed(x)?.or(&framed(y)?)?;
    Ok(Cluster { relation, written: diagrams.written(&writes), writes })
}

/// What moves along with every step that leaves a visible state: an automaton that reads the states.
#[derive(Clone, Debug)]
pub struct Companion {
    /// From its states to their successors.
    pub relation: Bdd,
    /// What it writes.
    pub written: Written,
}

/// A system as decision diagrams.
#[derive(Clone, Debug)]
pub struct Space {
    /// Where the diagrams live.
    pub diagrams: Diagrams,
    /// How many bits a state has.
    pub bits: u32,
    /// The initial states.
    pub initial: Bdd,
    /// The steps, by partition.
    pub steps: Vec<Step>,
    /// The same steps, those of one process together where that stays small: fewer images to take. Made when the first
    /// image is; saturation needs none.
    pub clusters: OnceCell<Vec<Cluster>>,
    /// The states in which nobody holds exclusive control; the others are transient.
    pub visible: Bdd,
    /// The states without a move among those that matter, if that is known. There are systems in which all such states
    /// together, reachable or not, are too much for a diagram.
    pub idle: Option<Bdd>,
    /// The states that would be proper ends without a move.
    pub end: Bdd,
    /// The states in which some move is a fault and leads nowhere.
    pub faulty: Bdd,
    /// Who moves along.
    pub companion: Option<Companion>,
}

impl Space {
    /// The states that one of the steps of these numbers leads to.
    fn image_of(&self, set: &Bdd, numbers: &[usize]) -> Maybe<Bdd> {
        let relations = || numbers.iter().map(|number| (&self.steps[*number].relation, self.steps[*number].written));
        self.image_by(set, &relations)
    }

    /// The states, within a set, from which one of the steps of these numbers leads to the set.
    fn preimage_of(&self, set: &Bdd, numbers: &[usize], within: &Bdd) -> Maybe<Bdd> {
        let relations = || numbers.iter().map(|number| (&self.steps[*number].relation, self.steps[*number].written));
        self.preimage_by(set, &relations, within)
    }

    /// The states that one of these steps leads to.
    pub fn image(&self, set: &Bdd, steps: &[Step]) -> Maybe<Bdd> {
        let relations = || steps.iter().map(|step| (&step.relation, step.written));
        self.image_by(set, &relations)
    }

    /// The states, within a set, from which one of these steps leads to the set.
    pub fn preimage(&self, set: &Bdd, steps: &[Step], within: &Bdd) -> Maybe<Bdd> {
        let relations = || steps.iter().map(|step| (&step.relation, step.written));
        self.preimage_by(set, &relations, within)
    }

    fn clusters(&self) -> Maybe<&[Cluster]> {
        if let Some(known) = self.clusters.get() {
            return Ok(known);
        }
        let made = clusters(&self.diagrams, &self.steps)?;
        Ok(self.clusters.get_or_init(|| made))
    }

    /// What the clusters lead to in any number of steps, the set itself among it: each cluster from all states so far, as
    /// often as it finds new ones. Interleavings make layers large that all states together are not.
    fn chained(&self, set: &Bdd, effort: &mut Effort, step: impl Fn(&Bdd, &Cluster) -> Maybe<Bdd>) -> Maybe<Bdd> {
        let mut all = set.clone();
        loop {
            let before = all.clone();
            for cluster in self.clusters()? {
                loop {
                    effort.posts += 1;
                    let more = all.or(&step(&all, cluster)?)?;
                    if more == all {
                        break;
                    }
                    all = more;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// The states after one step.
    pub fn post(&self, set: &Bdd) -> Maybe<Bdd> {
        self.image_under(set, self.clusters()?)
    }

    /// The states that one of these relations leads to.
    pub fn image_under(&self, set: &Bdd, clusters: &[Cluster]) -> Maybe<Bdd> {
        let relations = || clusters.iter().map(|cluster| (&cluster.relation, cluster.written));
        self.image_by(set, &relations)
    }

    /// The states before one step, within a set.
    pub fn pre(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        let clusters = self.clusters()?;
        let relations = || clusters.iter().map(|cluster| (&cluster.relation, cluster.written));
        self.preimage_by(set, &relations, within)
    }

    fn image_by<'r, I: Iterator<Item = (&'r Bdd, Written)>>(&self, set: &Bdd, relations: &dyn Fn() -> I) -> Maybe<Bdd> {
        let plain = |set: &Bdd| {
            let mut all = self.diagrams.constant(false);
            for (relation, written) in relations() {
                all = all.or(&set.image(relation, written)?)?;
            }
            Ok(all)
        };
        let Some(companion) = &self.companion else { return plain(set) };
        let moved = plain(&set.and(&self.visible)?)?;
        let moved = moved.image(&companion.relation, companion.written)?;
        if !self.has_transient() {
            return Ok(moved);
        }
        moved.or(&plain(&set.minus(&self.visible)?)?)
    }

    fn preimage_by<'r, I: Iterator<Item = (&'r Bdd, Written)>>(
        &self,
        set: &Bdd,
        relations: &dyn Fn() -> I,
        within: &Bdd,
    ) -> Maybe<Bdd> {
        let plain = |set: &Bdd, within: &Bdd| {
            let mut all = self.diagrams.constant(false);
            if within.is_false() {
                return Ok(all);
            }
            for (relation, written) in relations() {
                all = all.or(&set.preimage_within(relation, written, within)?)?;
            }
            Ok(all)
        };
        let Some(companion) = &self.companion else { return plain(set, within) };
        let before = set.preimage(&companion.relation, companion.written)?;
        let moving = plain(&before, &within.and(&self.visible)?)?;
        if !self.has_transient() {
            return Ok(moving);
        }
        moving.or(&plain(set, &within.minus(&self.visible)?)?)
    }

    /// The states of the set without a move.
    pub fn resting(&self, set: &Bdd) -> Maybe<Bdd> {
        if let Some(idle) = &self.idle {
            return set.and(idle);
        }
        let mut left = set.clone();
        for step in &self.steps {
            left = left.minus(&step.guard)?.minus(&step.fault)?;
        }
        Ok(left)
    }

    /// No other states than these matter from now on: what rests among them is found once.
    pub fn confine(&mut self, set: &Bdd) -> Maybe<()> {
        self.idle = Some(self.resting(set)?);
        Ok(())
    }

    /// This state has no move.
    pub fn rests(&self, state: &[bool]) -> bool {
        !self.steps.iter().any(|step| step.guard.contains(state) || step.fault.contains(state))
    }

    /// Some states are transient.
    pub fn has_transient(&self) -> bool {
        !self.visible.is_true()
    }

    /// The visible states that one move as a user sees it leads to: past transient ones. A state without a
    /// move repeats itself.
    pub fn next(&self, set: &Bdd) -> Maybe<Bdd> {
        self.past_transient(&set.and(&self.visible)?, |set| self.post(set))
    }

    /// The visible states from which one move as a user sees it leads into the set, through states of `within` only. A
    /// state without a move repeats itself.
    pub fn previous(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.past_transient(&set.and(&self.visible)?.and(within)?, |set| self.pre(set, within))
    }

    /// The visible states that steps lead to from visible ones, past transient ones.
    fn past_transient(&self, set: &Bdd, step: impl Fn(&Bdd) -> Maybe<Bdd>) -> Maybe<Bdd> {
        let mut new = step(set)?;
        let mut all = new.or(&self.resting(set)?)?;
        if self.has_transient() {
            let mut passed = self.diagrams.constant(false);
            loop {
                new = new.minus(&self.visible)?.minus(&passed)?;
                if new.is_false() {
                    break;
                }
                passed = passed.or(&new)?;
                new = step(&new)?;
                all = all.or(&new)?;
            }
            all = all.and(&self.visible)?;
        }
        Ok(all)
    }

    /// The relations with what they write.
    pub fn relations(&self) -> Vec<(Bdd, Written)> {
        self.steps.iter().map(|step| (step.relation.clone(), step.written)).collect()
    }

    /// How many nodes the relations have together.
    pub fn relation_nodes(&self) -> usize {
        Bdd::nodes_of_all(self.steps.iter().map(|step| &step.relation))
    }

    /// How many visible states are in the set, which must not depend on anything but the state.
    pub fn count(&self, set: &Bdd) -> Maybe<num_bigint::BigUint> {
        Ok(self.count_all(&set.and(&self.visible)?))
    }

    /// How many states are in the set, transient ones included.
    pub fn count_all(&self, set: &Bdd) -> num_bigint::BigUint {
        set.count() >> (self.diagrams.pairs() - self.bits)
    }
}
