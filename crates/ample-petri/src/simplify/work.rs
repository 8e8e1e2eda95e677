//! The net while it is being simplified: arcs from both ends, changed in place, and lists of what is to be looked at
//! (again). Numbers of places and transitions never change here; what is removed is only marked so.

use std::collections::VecDeque;

use super::sequence::{SequenceId, Sequences};
use super::{Keep, Preserve};
use crate::net::{Net, Place, Transition};

/// Arcs: places with weights, sorted by place.
pub(super) type Arcs = Vec<(u32, u64)>;

/// A place.
#[derive(Debug)]
pub(super) struct Spot {
    /// It is still there.
    pub alive: bool,
    /// The question sees it.
    pub seen: bool,
    /// Its tokens at the start.
    pub initial: u64,
    /// Its bound, if known.
    pub bound: Option<u64>,
    /// Transitions that take from it, in order.
    pub takers: Vec<u32>,
    /// Transitions that add to it, in order.
    pub givers: Vec<u32>,
    /// The places of the net before for which it stands, each with the number of tokens that makes one of its own.
    pub members: Vec<(u32, u64)>,
    /// It always has that many tokens.
    pub constant: Option<u64>,
    /// It has always `.1` times as many tokens as place `.0`, and `.2` more.
    pub twin: Option<(u32, i64, i64)>,
}

/// A transition.
#[derive(Debug)]
pub(super) struct Step {
    /// It is still there.
    pub alive: bool,
    /// What it takes.
    pub takes: Arcs,
    /// What it adds.
    pub adds: Arcs,
    /// What it stands for.
    pub sequence: SequenceId,
}

/// A set that is worked off.
#[derive(Debug, Default)]
struct Queue {
    items: VecDeque<u32>,
    inside: Vec<bool>,
}

impl Queue {
    fn push(&mut self, item: u32) {
        let index = item as usize;
        if self.inside.len() <= index {
            self.inside.resize(index + 1, false);
        }
        if !self.inside[index] {
            self.inside[index] = true;
            self.items.push_back(item);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let item = self.items.pop_front()?;
        self.inside[item as usize] = false;
        Some(item)
    }
}

/// The net at work.
#[derive(Debug)]
pub(super) struct Work {
    /// What must be preserved.
    pub what: Preserve,
    /// The places.
    pub places: Vec<Spot>,
    /// The transitions; new ones are put at the end.
    pub transitions: Vec<Step>,
    /// What transitions stand for.
    pub sequences: Sequences,
    /// Fired before everything else.
    pub start: Vec<(SequenceId, u64)>,
    /// To be fired as often as possible where a run ends for good, the last one first.
    pub finish: Vec<SequenceId>,
    /// Arcs that agglomeration may still add to the net.
    pub budget: usize,
    /// Something was changed since this was last set to false.
    pub changed: bool,
    dirty_places: Queue,
    dirty_transitions: Queue,
}

/// The weight of the arc to a place, 0 if there is none.
pub(super) fn weight(arcs: &[(u32, u64)], place: u32) -> u64 {
    arcs.binary_search_by_key(&place, |arc| arc.0).map_or(0, |at| arcs[at].1)
}

/// No arc of the first is heavier than that of the second.
pub(super) fn at_most(less: &[(u32, u64)], more: &[(u32, u64)]) -> bool {
    less.len() <= more.len() && less.iter().all(|(place, tokens)| weight(more, *place) >= *tokens)
}

/// How a marking changes: sorted by place, without zeros.
pub(super) fn effect(takes: &[(u32, u64)], adds: &[(u32, u64)]) -> Vec<(u32, i128)> {
    let mut changes = Vec::with_capacity(takes.len() + adds.len());
    let (mut takes, mut adds) = (takes.iter().peekable(), adds.iter().peekable());
    while let Some(place) = takes.peek().into_iter().chain(adds.peek()).map(|arc| arc.0).min() {
        let taken = takes.next_if(|arc| arc.0 == place).map_or(0, |arc| i128::from(arc.1));
        let added = adds.next_if(|arc| arc.0 == place).map_or(0, |arc| i128::from(arc.1));
        if added != taken {
            changes.push((place, added - taken));
        }
    }
    changes
}

/// The sum of `left` and `times` the other; `None` beyond 64 bits.
pub(super) fn plus(left: &[(u32, u64)], right: &[(u32, u64)], times: u64) -> Option<Arcs> {
    let mut sum = left.to_vec();
    for (place, tokens) in right {
        let tokens = tokens.checked_mul(times)?;
        match sum.binary_search_by_key(place, |arc| arc.0) {
            Ok(at) => sum[at].1 = sum[at].1.checked_add(tokens)?,
            Err(at) => sum.insert(at, (*place, tokens)),
        }
    }
    Some(sum)
}

/// The arcs without the one to that place.
pub(super) fn without(arcs: &[(u32, u64)], place: u32) -> Arcs {
    arcs.iter().copied().filter(|arc| arc.0 != place).collect()
}

fn insert(list: &mut Vec<u32>, item: u32) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}

fn remove(list: &mut Vec<u32>, item: u32) {
    if let Ok(at) = list.binary_search(&item) {
        list.remove(at);
    }
}

impl Work {
    pub fn of(net: &Net, keep: &Keep) -> Work {
        let spot = |(number, place): (usize, &Place)| Spot {
            alive: true,
            seen: keep.sees(number),
            initial: place.initial,
            bound: place.bound,
            takers: Vec::new(),
            givers: Vec::new(),
            members: vec![(number as u32, 1)],
            constant: None,
            twin: None,
        };
        let mut work = Work {
            what: keep.what,
            places: net.places.iter().enumerate().map(spot).collect(),
            transitions: Vec::with_capacity(net.transitions.len()),
            sequences: Sequences::default(),
            start: Vec::new(),
            finish: Vec::new(),
            budget: 0,
            changed: false,
            dirty_places: Queue::default(),
            dirty_transitions: Queue::default(),
        };
        let mut arcs = 0;
        for (number, Transition { takes, adds, .. }) in net.transitions.iter().enumerate() {
            arcs += takes.len() + adds.len();
            let sequence = work.sequences.step(number as u32);
            work.add(takes.clone(), adds.clone(), sequence);
        }
        work.budget = 2 * arcs + 1000;
        work
    }

    /// Everything is to be looked at.
    pub fn touch_all(&mut self) {
        for place in 0..self.places.len() {
            if self.places[place].alive {
                self.dirty_places.push(place as u32);
            }
        }
        for transition in 0..self.transitions.len() {
            if self.transitions[transition].alive {
                self.dirty_transitions.push(transition as u32);
            }
        }
    }

    /// The next place to look at.
    pub fn next_place(&mut self) -> Option<u32> {
        while let Some(place) = self.dirty_places.pop() {
            if self.places[place as usize].alive {
                return Some(place);
            }
        }
        None
    }

    /// The next transition to look at.
    pub fn next_transition(&mut self) -> Option<u32> {
        while let Some(transition) = self.dirty_transitions.pop() {
            if self.transitions[transition as usize].alive {
                return Some(transition);
            }
        }
        None
    }

    pub fn place(&self, place: u32) -> &Spot {
        &self.places[place as usize]
    }

    pub fn step(&self, transition: u32) -> &Step {
        &self.transitions[transition as usize]
    }

    /// The numbers of the transitions that are there.
    pub fn alive(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.transitions.len() as u32).filter(|transition| self.step(*transition).alive)
    }

    /// How a transition changes a place.
    pub fn change(&self, transition: u32, place: u32) -> i128 {
        let Step { takes, adds, .. } = self.step(transition);
        i128::from(weight(adds, place)) - i128::from(weight(takes, place))
    }

    /// It changes nothing that the question sees.
    pub fn is_invisible(&self, transition: u32) -> bool {
        let Step { takes, adds, .. } = self.step(transition);
        let same = |arcs: &Arcs, others: &Arcs| {
            arcs.iter().all(|(place, tokens)| !self.place(*place).seen || weight(others, *place) == *tokens)
        };
        same(takes, adds) && same(adds, takes)
    }

    /// A new transition.
    pub fn add(&mut self, takes: Arcs, adds: Arcs, sequence: SequenceId) -> u32 {
        let number = self.transitions.len() as u32;
        for (place, _) in &takes {
            self.places[*place as usize].takers.push(number);
        }
        for (place, _) in &adds {
            self.places[*place as usize].givers.push(number);
        }
        self.transitions.push(Step { alive: true, takes, adds, sequence });
        self.touch(number);
        number
    }

    /// A transition and what lies around it is to be looked at.
    fn touch(&mut self, transition: u32) {
        let Step { takes, adds, .. } = &self.transitions[transition as usize];
        for (place, _) in takes.iter().chain(adds) {
            self.dirty_places.push(*place);
        }
        self.dirty_transitions.push(transition);
        self.changed = true;
    }

    pub fn remove_transition(&mut self, transition: u32) {
        self.touch(transition);
        let step = &mut self.transitions[transition as usize];
        step.alive = false;
        let (takes, adds) = (std::mem::take(&mut step.takes), std::mem::take(&mut step.adds));
        for (place, _) in &adds {
            remove(&mut self.places[*place as usize].givers, transition);
        }
        for (place, _) in &takes {
            remove(&mut self.places[*place as usize].takers, transition);
            // Whoever shared a place with it may have it alone now: what can be joined then lies behind.
            self.touch_behind(*place);
        }
    }

    fn touch_behind(&mut self, place: u32) {
        const FEW: usize = 4;
        let takers = &self.places[place as usize].takers;
        if takers.len() > FEW {
            return;
        }
        for taker in takers {
            let adds = &self.transitions[*taker as usize].adds;
            for (place, _) in adds.iter().take(FEW) {
                self.dirty_places.push(*place);
            }
        }
    }

    /// New arcs for a transition.
    pub fn set_arcs(&mut self, transition: u32, takes: Arcs, adds: Arcs) {
        self.touch(transition);
        let step = &mut self.transitions[transition as usize];
        let old_takes = std::mem::replace(&mut step.takes, takes);
        let old_adds = std::mem::replace(&mut step.adds, adds);
        for (place, _) in &old_takes {
            remove(&mut self.places[*place as usize].takers, transition);
        }
        for (place, _) in &old_adds {
            remove(&mut self.places[*place as usize].givers, transition);
        }
        let step = &self.transitions[transition as usize];
        for (place, _) in &step.takes {
            insert(&mut self.places[*place as usize].takers, transition);
        }
        for (place, _) in &step.adds {
            insert(&mut self.places[*place as usize].givers, transition);
        }
        self.touch(transition);
    }

    /// Takes away all arcs of a place.
    pub fn isolate(&mut self, place: u32) {
        let takers = std::mem::take(&mut self.places[place as usize].takers);
        let givers = std::mem::take(&mut self.places[place as usize].givers);
        for transition in takers.into_iter().chain(givers) {
            let step = &mut self.transitions[transition as usize];
            step.takes.retain(|arc| arc.0 != place);
            step.adds.retain(|arc| arc.0 != place);
            self.touch(transition);
        }
    }

    pub fn remove_place(&mut self, place: u32) {
        self.isolate(place);
        self.places[place as usize].alive = false;
        self.changed = true;
    }

    /// A place is to be looked at.
    pub fn touch_place(&mut self, place: u32) {
        self.dirty_places.push(place);
        self.changed = true;
    }

    /// The net that it is now, and for each of its places and transitions the number here.
    pub fn result(&self, before: &Net) -> (Net, Vec<u32>, Vec<u32>) {
        let places: Vec<u32> = (0..self.places.len() as u32).filter(|place| self.place(*place).alive).collect();
        let transitions: Vec<u32> = self.alive().collect();
        let mut number = vec![u32::MAX; self.places.len()];
        for (new, old) in places.iter().enumerate() {
            number[*old as usize] = new as u32;
        }
        let arcs = |arcs: &Arcs| arcs.iter().map(|(place, tokens)| (number[*place as usize], *tokens)).collect();
        let transition = |old: &u32| {
            let Step { takes, adds, sequence, .. } = self.step(*old);
            Transition { name: self.sequences.name(*sequence, before), takes: arcs(takes), adds: arcs(adds) }
        };
        let place = |old: &u32| {
            let Spot { initial, bound, .. } = self.place(*old);
            Place { name: before.places[*old as usize].name.clone(), initial: *initial, bound: *bound }
        };
        let groups: Vec<Vec<u32>> =
            (places.iter()).map(|old| self.place(*old).members.iter().map(|(member, _)| *member).collect()).collect();
        let net = Net {
            places: places.iter().map(place).collect(),
            transitions: transitions.iter().map(transition).collect(),
            exclusive: exclusive(&before.exclusive, before.places.len(), &groups),
        };
        (net, places, transitions)
    }
}

/// Sets of exclusive places once places stand for groups: a group belongs to a set if all of its members do.
pub(super) fn exclusive(sets: &[Vec<u32>], places: usize, groups: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut group_of = vec![u32::MAX; places];
    for (number, group) in groups.iter().enumerate() {
        for place in group {
            group_of[*place as usize] = number as u32;
        }
    }
    let mut found = vec![0usize; groups.len()];
    let mut result = Vec::new();
    for set in sets {
        let mut kept = Vec::new();
        for place in set {
            let group = group_of[*place as usize];
            if group == u32::MAX {
                continue;
            }
            found[group as usize] += 1;
            if found[group as usize] == groups[group as usize].len() {
                kept.push(group);
            }
        }
        for place in set {
            let group = group_of[*place as usize];
            if group != u32::MAX {
                found[group as usize] = 0;
            }
        }
        kept.sort_unstable();
        if kept.len() > 1 {
            result.push(kept);
        }
    }
    result
}
