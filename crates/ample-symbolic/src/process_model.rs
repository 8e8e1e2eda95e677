//! Which steps of a process may be taken first, whatever the others do: the safe process model of the thesis (§6.3.4),
//! found out by the diagrams themselves.
//!
//! Let T be steps of one process that nobody's property sees. Others *disturb* T if they write what T reads or writes,
//! or read what T writes. In a state whose private part (the bits that T touches) makes every disturbing step
//! impossible, whatever the rest of the state is, nothing can disturb T before a step of T is taken: only T and those
//! who disturb it change that part. There, what is enabled of T is a persistent set. So T is cut down to the states
//! outside of `∃ rest. ⋁ guards of those who disturb`. This contains the repair of the thesis's extraction (a global
//! guard that reads a local variable of a process that does not take part) and needs no idea of a program counter.
//!
//! The model is *linear* where at most one step of T is enabled; elsewhere it is cut down further.

use crate::diagram::{Bdd, Maybe};
use crate::space::{Space, Step};

/// The safe steps of one process.
#[derive(Clone, Debug)]
pub struct Safe {
    /// The process.
    pub process: u32,
    /// Its safe steps, each where it is safe.
    pub steps: Vec<Step>,
    /// The states in which none of them is enabled.
    pub dead: Bdd,
    /// Which steps of the space they come from.
    pub numbers: Vec<usize>,
}

/// What a process model must be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Enabled steps are a persistent set, and unseen: enough for LTL without X and for deadlocks.
    Safe,
    /// And there is at most one: for CTL without X.
    Linear,
}

/// The safe steps of every process that has some. `seen` are the bits that a property looks at.
pub fn process_model(space: &Space, seen: &[u32], demand: Demand) -> Maybe<Vec<Safe>> {
    let owners = Owners::of(space);
    let mut model = Vec::new();
    for process in 0..owners.processes {
        // With what only a hub touches beside the process, and if that gives nothing, without.
        for with_hubs in [true, false] {
            if let Some(safe) = safe_steps(space, seen, demand, &owners, process, with_hubs)? {
                model.push(safe);
                break;
            }
        }
    }
    Ok(model)
}

/// Who touches which bit.
struct Owners {
    processes: u32,
    /// For each bit, the processes that touch it.
    touched_by: Vec<Vec<u32>>,
    /// Processes through which others work together: they touch bits that otherwise belong to one, of several.
    hubs: Vec<bool>,
}

impl Owners {
    fn of(space: &Space) -> Owners {
        let processes = space.steps.iter().flat_map(|step| &step.processes).max().map_or(0, |last| last + 1);
        let mut touched_by = vec![Vec::new(); space.bits as usize];
        for step in &space.steps {
            for bit in step.reads.iter().chain(&step.writes) {
                for process in &step.processes {
                    let touching: &mut Vec<u32> = &mut touched_by[*bit as usize];
                    if !touching.contains(process) {
                        touching.push(*process);
                    }
                }
            }
        }
        let mut partners = vec![Vec::new(); processes as usize];
        for touching in &touched_by {
            if let [x, y] = touching[..] {
                for (one, other) in [(x, y), (y, x)] {
                    let known: &mut Vec<u32> = &mut partners[one as usize];
                    if !known.contains(&other) {
                        known.push(other);
                    }
                }
            }
        }
        let hubs = partners.iter().map(|partners| partners.len() > 1).collect();
        Owners { processes, touched_by, hubs }
    }

    fn is_private(&self, bit: u32, process: u32, with_hubs: bool) -> bool {
        let others = self.touched_by[bit as usize].iter().filter(|other| **other != process);
        others.into_iter().all(|other| with_hubs && self.hubs[*other as usize] && !self.hubs[process as usize])
    }
}

fn safe_steps(
    space: &Space,
    seen: &[u32],
    demand: Demand,
    owners: &Owners,
    process: u32,
    with_hubs: bool,
) -> Maybe<Option<Safe>> {
    let is_candidate = |step: &Step| {
        step.processes[..] == [process]
            && step.violation.is_false()
            && !step.writes.iter().any(|bit| seen.contains(bit))
            && step.reads.iter().chain(&step.writes).all(|bit| owners.is_private(*bit, process, with_hubs))
    };
    let numbers: Vec<usize> = (0..space.steps.len()).filter(|number| is_candidate(&space.steps[*number])).collect();
    if numbers.is_empty() {
        return Ok(None);
    }
    let chosen: Vec<&Step> = numbers.iter().map(|number| &space.steps[*number]).collect();
    let (mut touched, mut writes) = (vec![false; space.bits as usize], vec![false; space.bits as usize]);
    for step in &chosen {
        step.reads.iter().chain(&step.writes).for_each(|bit| touched[*bit as usize] = true);
        step.writes.iter().for_each(|bit| writes[*bit as usize] = true);
    }
    let unsafe_part = disturbed(space, &numbers, &touched, &writes)?;
    let mut allowed = unsafe_part.not().and(&space.visible)?;
    if demand == Demand::Linear {
        allowed = allowed.minus(&contested(space, &chosen)?)?;
    }
    let mut steps = Vec::new();
    let mut kept = Vec::new();
    let mut enabled = space.diagrams.constant(false);
    for (number, step) in numbers.iter().zip(chosen) {
        let guard = step.guard.and(&allowed)?;
        if guard.is_false() {
            continue;
        }
        enabled = enabled.or(&guard)?;
        steps.push(Step { relation: step.relation.and(&allowed)?, guard, ..step.clone() });
        kept.push(*number);
    }
    if steps.is_empty() {
        return Ok(None);
    }
    Ok(Some(Safe { process, steps, dead: enabled.not(), numbers: kept }))
}

/// The private parts with which somebody who disturbs these steps might be enabled.
fn disturbed(space: &Space, numbers: &[usize], touched: &[bool], writes: &[bool]) -> Maybe<Bdd> {
    let rest: Vec<u32> = (0..space.bits).filter(|bit| !touched[*bit as usize]).collect();
    let rest = space.diagrams.cube(&rest)?;
    let mut all = space.diagrams.constant(false);
    for (number, step) in space.steps.iter().enumerate() {
        let disturbs =
            step.writes.iter().any(|bit| touched[*bit as usize]) || step.reads.iter().any(|bit| writes[*bit as usize]);
        if disturbs && numbers.binary_search(&number).is_err() {
            all = all.or(&step.guard.or(&step.fault)?.exists(&rest)?)?;
        }
    }
    Ok(all)
}

/// The states in which two of the steps are enabled.
fn contested(space: &Space, steps: &[&Step]) -> Maybe<Bdd> {
    let mut once = space.diagrams.constant(false);
    let mut twice = space.diagrams.constant(false);
    for step in steps {
        twice = twice.or(&once.and(&step.guard)?)?;
        once = once.or(&step.guard)?;
    }
    Ok(twice)
}
