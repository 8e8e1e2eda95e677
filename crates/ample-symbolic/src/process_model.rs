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
//!
//! It is *fair* if it keeps weakly fair runs too. The argument is that for stubborn sets (`ample_reduce::guards`):
//!
//! - All other steps of the process disturb T. So a fair run that begins where a step of T is enabled has a step of T, as
//!   the process stays enabled until it moves: the first step of T is taken sooner, and nothing is added to the run.
//! - No step of T may enable a process that somebody else's step may disable, or the other way round. So a process that
//!   does not move any more is disabled infinitely often before and after. Such steps are not in T. Whether a step may
//!   enable or disable a process is found out by the diagrams; only hubs can be concerned, since nobody else reads what
//!   steps of T write.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::diagram::{Bdd, Maybe};
use crate::fair::enabled;
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
    /// And weakly fair runs are kept: for LTL without X under weak fairness.
    Fair,
    /// And there is at most one: for CTL without X.
    Linear,
}

/// The safe steps of every process that has some. `seen` are the bits that a property looks at.
pub fn process_model(space: &Space, seen: &[u32], demand: Demand) -> Maybe<Vec<Safe>> {
    let owners = Owners::of(space);
    let mut waiting = Waiting::of(space, owners.processes);
    let mut model = Vec::new();
    for process in 0..owners.processes {
        // With what only a hub touches beside the process, and if that gives nothing, without.
        for with_hubs in [true, false] {
            let mut numbers = candidates(space, seen, &owners, process, with_hubs);
            if demand == Demand::Fair {
                numbers = waiting.without_conflicts(space, process, numbers)?;
            }
            if let Some(safe) = safe_steps(space, demand, process, &numbers)? {
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

/// The steps of a process that nobody sees and that only touch what is its own.
fn candidates(space: &Space, seen: &[u32], owners: &Owners, process: u32, with_hubs: bool) -> Vec<usize> {
    let is_candidate = |step: &Step| {
        step.processes[..] == [process]
            && step.violation.is_false()
            && !step.writes.iter().any(|bit| seen.contains(bit))
            && step.reads.iter().chain(&step.writes).all(|bit| owners.is_private(*bit, process, with_hubs))
    };
    (0..space.steps.len()).filter(|number| is_candidate(&space.steps[*number])).collect()
}

/// Who enables and who disables processes.
struct Waiting {
    /// For each process: the bits that the steps that it begins read, if there are such steps.
    reads: Vec<Vec<bool>>,
    /// For each process that was asked about: the states in which it is enabled.
    enabled: HashMap<u32, Bdd>,
    /// For each of these and a step: it may enable the process, and it may disable it.
    effects: HashMap<(u32, usize), (bool, bool)>,
}

impl Waiting {
    fn of(space: &Space, processes: u32) -> Waiting {
        let mut reads = vec![Vec::new(); processes as usize];
        for step in &space.steps {
            if let Some(process) = step.processes.first() {
                let reads: &mut Vec<bool> = &mut reads[*process as usize];
                reads.resize(space.bits as usize, false);
                step.reads.iter().for_each(|bit| reads[*bit as usize] = true);
            }
        }
        Waiting { reads, enabled: HashMap::new(), effects: HashMap::new() }
    }

    /// The steps of a process without those that may enable another one that a third one may disable, or the other way
    /// round.
    fn without_conflicts(&mut self, space: &Space, process: u32, numbers: Vec<usize>) -> Maybe<Vec<usize>> {
        let mut kept = Vec::new();
        for number in numbers {
            if !self.is_in_conflict(space, process, number)? {
                kept.push(number);
            }
        }
        Ok(kept)
    }

    fn is_in_conflict(&mut self, space: &Space, process: u32, number: usize) -> Maybe<bool> {
        for other in (0..self.reads.len() as u32).filter(|other| *other != process) {
            let (enables, disables) = self.effect(space, other, number)?;
            if !enables && !disables {
                continue;
            }
            for (third, step) in space.steps.iter().enumerate() {
                if step.processes.contains(&process) || step.processes.contains(&other) {
                    continue;
                }
                let effect = self.effect(space, other, third)?;
                if enables && effect.1 || disables && effect.0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A step may enable a process, and it may disable it.
    fn effect(&mut self, space: &Space, process: u32, number: usize) -> Maybe<(bool, bool)> {
        let step = &space.steps[number];
        let reads = &self.reads[process as usize];
        if !step.writes.iter().any(|bit| reads.get(*bit as usize) == Some(&true)) {
            return Ok((false, false));
        }
        if let Some(known) = self.effects.get(&(process, number)) {
            return Ok(*known);
        }
        let enabled = match self.enabled.entry(process) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let begins = |other: &&Step| other.processes.first() == Some(&process);
                unknown.insert(enabled(space, space.steps.iter().filter(begins))?)
            }
        };
        let step = std::slice::from_ref(step);
        let enables = !space.preimage(enabled, step, &enabled.not())?.is_false();
        let disables = !space.preimage(&enabled.not(), step, enabled)?.is_false();
        self.effects.insert((process, number), (enables, disables));
        Ok((enables, disables))
    }
}

fn safe_steps(space: &Space, demand: Demand, process: u32, numbers: &[usize]) -> Maybe<Option<Safe>> {
    if numbers.is_empty() {
        return Ok(None);
    }
    let chosen: Vec<&Step> = numbers.iter().map(|number| &space.steps[*number]).collect();
    let (mut touched, mut writes) = (vec![false; space.bits as usize], vec![false; space.bits as usize]);
    for step in &chosen {
        step.reads.iter().chain(&step.writes).for_each(|bit| touched[*bit as usize] = true);
        step.writes.iter().for_each(|bit| writes[*bit as usize] = true);
    }
    let whole = (demand == Demand::Fair).then_some(process);
    let unsafe_part = disturbed(space, numbers, whole, &touched, &writes)?;
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

/// The private parts with which somebody who disturbs these steps might be enabled. `whole` is a process of which every
/// other step disturbs them.
fn disturbed(space: &Space, numbers: &[usize], whole: Option<u32>, touched: &[bool], writes: &[bool]) -> Maybe<Bdd> {
    let rest: Vec<u32> = (0..space.bits).filter(|bit| !touched[*bit as usize]).collect();
    let rest = space.diagrams.cube(&rest)?;
    let mut all = space.diagrams.constant(false);
    for (number, step) in space.steps.iter().enumerate() {
        let disturbs =
            step.writes.iter().any(|bit| touched[*bit as usize]) || step.reads.iter().any(|bit| writes[*bit as usize]);
        let disturbs = disturbs || whole.is_some_and(|process| step.processes.contains(&process));
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
