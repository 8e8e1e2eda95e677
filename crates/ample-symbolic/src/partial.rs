//! Partial exploration: reachability that takes the safe steps of each process first, and all steps of a state only when
//! nothing else is left to do (thesis, chapter 3).
//!
//! The states that are found are those of some reduced system that is visibly bisimilar to the full one if the process
//! model is linear, and stuttering equivalent to it if it is only safe. Partial steps do not take the states found
//! before from the new frontier: so a cycle of safe steps keeps one of its states in the frontier until that is
//! expanded in full, which takes the place of a cycle proviso.

use std::cell::OnceCell;

use crate::diagram::{Bdd, Maybe};
use crate::process_model::Safe;
use crate::reach::Effort;
use crate::space::{Cluster, Space, Step, clusters};

/// Which states of the frontier a process may expand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// All in which it has a safe step.
    #[default]
    All,
    /// Of these, the ones that were not found before.
    New,
    /// Of these, the ones that were not expanded in full before.
    NotExpanded,
}

/// What is to be preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserve {
    /// Properties, without X.
    Properties(Variant),
    /// Deadlocks only.
    Deadlocks,
}

/// The states of a reduced system that are reached from `from`, leaving only states of `filter`.
pub fn explore(
    space: &Space,
    model: &[Safe],
    from: &Bdd,
    filter: &Bdd,
    preserve: Preserve,
    effort: &mut Effort,
) -> Maybe<Bdd> {
    let nothing = space.diagrams.constant(false);
    let mut processes = Vec::new();
    for safe in model {
        processes.push(Process { dead: &safe.dead, clusters: clusters(&space.diagrams, &safe.steps)? });
    }
    let (visited, frontier, expanded) = (nothing.clone(), from.clone(), nothing);
    let mut search = Search { space, filter, preserve, visited, frontier, expanded };
    while !search.frontier.is_false() {
        search.partial_phase(&processes, effort)?;
        search.expand(effort)?;
    }
    Ok(search.visited)
}

/// The safe steps of a process, in few relations, and the states in which none is enabled.
struct Process<'a> {
    dead: &'a Bdd,
    clusters: Vec<Cluster>,
}

struct Search<'a> {
    space: &'a Space,
    filter: &'a Bdd,
    preserve: Preserve,
    visited: Bdd,
    frontier: Bdd,
    expanded: Bdd,
}

impl Search<'_> {
    fn known(&self) -> Maybe<Bdd> {
        self.visited.or(&self.frontier)
    }

    /// Safe steps, process by process, until none finds anything new.
    fn partial_phase(&mut self, processes: &[Process<'_>], effort: &mut Effort) -> Maybe<()> {
        loop {
            let before = self.known()?;
            for process in processes {
                loop {
                    let known = self.known()?;
                    self.partial(process, effort)?;
                    if self.known()? == known {
                        break;
                    }
                }
            }
            if self.known()? == before {
                return Ok(());
            }
        }
    }

    fn partial(&mut self, process: &Process<'_>, effort: &mut Effort) -> Maybe<()> {
        let mut chosen = self.frontier.minus(process.dead)?;
        match self.preserve {
            Preserve::Properties(Variant::New) => chosen = chosen.minus(&self.visited)?,
            Preserve::Properties(Variant::NotExpanded) => chosen = chosen.minus(&self.expanded)?,
            _ => {}
        }
        effort.posts += 1;
        let mut image = self.space.image_under(&chosen.and(self.filter)?, &process.clusters)?;
        self.visited = self.visited.or(&chosen)?;
        if self.preserve == Preserve::Deadlocks {
            image = image.minus(&self.visited)?;
        }
        self.frontier = self.frontier.minus(&chosen)?.or(&image)?;
        effort.note(&self.frontier);
        Ok(())
    }

    fn expand(&mut self, effort: &mut Effort) -> Maybe<()> {
        self.expanded = self.expanded.or(&self.frontier)?;
        self.visited = self.visited.or(&self.frontier)?;
        effort.posts += 1;
        self.frontier = self.space.post(&self.frontier.and(self.filter)?)?.minus(&self.visited)?;
        effort.note(&self.frontier);
        Ok(())
    }
}

/// The reachable states of a reduced system that is stuttering equivalent, as ImProviso finds them (Lerda, Sinha and
/// Theobald), with the states that have no safe step carried along, and an end that is sure to come.
pub fn improviso(space: &Space, model: &[Safe], from: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
    let nothing = space.diagrams.constant(false);
    let rest = unsafe_steps(space, model)?;
    let (mut visited, mut frontier) = (nothing.clone(), from.clone());
    while !frontier.is_false() {
        let mut queue = nothing.clone();
        loop {
            let before = queue.or(&frontier)?;
            for safe in model {
                (queue, frontier) = one_process(space, safe, queue, frontier, effort)?;
            }
            if queue.or(&frontier)? == before {
                break;
            }
        }
        visited = visited.or(&queue)?.or(&frontier)?;
        effort.posts += 1;
        frontier = space.image(&frontier, &rest)?.minus(&visited)?;
        effort.note(&frontier);
    }
    Ok(visited)
}

/// The steps, each where it is not safe.
fn unsafe_steps(space: &Space, model: &[Safe]) -> Maybe<Vec<Step>> {
    let mut rest = space.steps.clone();
    for safe in model {
        for (number, step) in safe.numbers.iter().zip(&safe.steps) {
            let guard = rest[*number].guard.minus(&step.guard)?;
            rest[*number].relation = rest[*number].relation.and(&guard)?;
            rest[*number].guard = guard;
        }
    }
    rest.retain(|step| !step.guard.is_false());
    Ok(rest)
}

fn one_process(space: &Space, safe: &Safe, queue: Bdd, frontier: Bdd, effort: &mut Effort) -> Maybe<(Bdd, Bdd)> {
    let (mut queue, mut frontier) = (queue, frontier);
    let mut ends = safe.dead.and(&frontier)?;
    while !frontier.is_false() {
        queue = queue.or(&frontier)?;
        effort.posts += 1;
        frontier = space.image(&frontier, &safe.steps)?;
        // Whatever was there before may close a cycle.
        ends = ends.or(&queue.and(&frontier)?)?;
        frontier = frontier.minus(&queue)?;
        ends = ends.or(&safe.dead.and(&frontier)?)?;
        effort.note(&frontier);
    }
    Ok((queue, ends))
}

/// The reachable states of a reduced system in which every state of the local properties of the full one is met, as
/// AReduce finds them (Alur, Brayton, Henzinger, Qadeer and Rajamani): breadth first, where a state is expanded by the
/// safe steps of one process if one of them leads to a state that was not visited, and by all steps otherwise.
pub fn areduce(space: &Space, model: &[Safe], from: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
    let (mut visited, mut frontier) = (space.diagrams.constant(false), from.clone());
    while !frontier.is_false() {
        visited = visited.or(&frontier)?;
        let mut left = frontier;
        let mut image = space.diagrams.constant(false);
        for safe in model {
            effort.posts += 1;
            let progressing = space.preimage(&visited.not(), &safe.steps, &left)?;
            image = image.or(&space.image(&progressing, &safe.steps)?)?;
            left = left.minus(&progressing)?;
        }
        effort.posts += 1;
        frontier = image.or(&space.post(&left)?)?.minus(&visited)?;
        effort.note(&frontier);
    }
    Ok(visited)
}

/// The system reduced once and for all, for any search (Kurshan, Levin, Minea, Peled and Yenigün): in a state, only the
/// first process that has a safe step moves, and everybody where there is none. So that no step is ignored for ever, of
/// every cycle of safe steps of a process one is *sticky*, which is not counted as safe.
pub fn reduced_space(space: &Space, model: &[Safe]) -> Maybe<Space> {
    let mut free = space.diagrams.constant(true);
    let mut steps = Vec::new();
    for safe in model {
        let (kept, sticky) = without_cycles(space, safe)?;
        let mut enabled = space.diagrams.constant(false);
        for step in kept {
            // A process moves alone only if all its steps are there: where a sticky one is enabled beside this, taking
            // just this one would lose the other.
            let alone = step.guard.minus(&sticky)?;
            let guard = alone.and(&free)?;
            enabled = enabled.or(&alone)?;
            steps.push(Step { relation: step.relation.and(&guard)?, guard, ..step });
        }
        free = free.minus(&enabled)?;
    }
    for step in &space.steps {
        let guard = step.guard.and(&free)?;
        steps.push(Step { relation: step.relation.and(&guard)?, guard, ..step.clone() });
    }
    steps.retain(|step| !step.guard.is_false());
    Ok(Space { clusters: OnceCell::new(), steps, ..space.clone() })
}

/// The safe steps of a process without those that are needed to close a cycle of them, and the states in which one of
/// those others is enabled.
fn without_cycles(space: &Space, safe: &Safe) -> Maybe<(Vec<Step>, Bdd)> {
    let mut steps = safe.steps.clone();
    let mut sticky = space.diagrams.constant(false);
    loop {
        let mut hull = space.diagrams.constant(true);
        loop {
            let next = space.image(&hull, &steps)?.and(&hull)?;
            if next == hull {
                break;
            }
            hull = next;
        }
        let mut closing = None;
        for (number, step) in steps.iter().enumerate() {
            if !step.guard.is_disjoint(&hull)? {
                closing = Some(number);
            }
        }
        match closing {
            Some(number) => sticky = sticky.or(&steps.remove(number).guard)?,
            None => return Ok((steps, sticky)),
        }
    }
}
