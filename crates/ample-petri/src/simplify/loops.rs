//! Loops of places between which tokens move freely.
//!
//! Where transitions that take one token and add one token form a cycle of unseen places, a token in one of them can
//! get to any other without anyone noticing. The places are joined into one; the moves become transitions without
//! effect on it, which say that such a run may go on forever, and never be stuck. A marking and the one with its tokens
//! joined can do the same after some such moves, and diverge or are dead together, so that the rule serves Branching
//! and all questions below. To expand a run the moves must be put in as they are needed, which depends on the marking.

use std::collections::VecDeque;

use super::Keep;
use super::sequence::Firing;
use super::work::exclusive;
use crate::net::{Net, Place, Transition};

const NONE: u32 = u32::MAX;

/// Which places were joined.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    /// For each place the number of its loop, or `NONE`.
    loop_of: Vec<u32>,
    /// The places of each loop.
    members: Vec<Vec<u32>>,
    /// For each place of a loop the moves that lead to it from others of the loop: transition and origin.
    moves: Vec<Vec<(u32, u32)>>,
}

/// The places between which a transition moves a token, if it does nothing else and nobody sees it.
fn is_move(transition: &Transition, keep: &Keep) -> Option<(u32, u32)> {
    match (transition.takes.as_slice(), transition.adds.as_slice()) {
        ([(from, 1)], [(to, 1)]) if from != to && !keep.sees(*from as usize) && !keep.sees(*to as usize) => {
            Some((*from, *to))
        }
        _ => None,
    }
}

/// Joins all loops: the new net, the loops, and the old number of each new place; `None` if there are no loops.
pub(super) fn join_loops(net: &Net, keep: &Keep) -> Option<(Net, Loops, Vec<u32>)> {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); net.places.len()];
    for (from, to) in net.transitions.iter().filter_map(|transition| is_move(transition, keep)) {
        next[from as usize].push(to);
    }
    let components = components(&next);
    let members: Vec<Vec<u32>> = components.into_iter().filter(|component| component.len() > 1).collect();
    if members.is_empty() {
        return None;
    }
    let mut loop_of = vec![NONE; net.places.len()];
    for (number, places) in members.iter().enumerate() {
        for place in places {
            loop_of[*place as usize] = number as u32;
        }
    }
    let mut moves = vec![Vec::new(); net.places.len()];
    for (number, transition) in net.transitions.iter().enumerate() {
        let Some((from, to)) = is_move(transition, keep) else { continue };
        if loop_of[from as usize] != NONE && loop_of[from as usize] == loop_of[to as usize] {
            moves[to as usize].push((number as u32, from));
        }
    }
    let loops = Loops { loop_of, members, moves };
    let (net, origin) = loops.joined(net)?;
    Some((net, loops, origin))
}

/// Strongly connected components (Tarjan), each sorted.
fn components(next: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut order = vec![0u32; next.len()];
    let mut low = vec![0u32; next.len()];
    let mut on_stack = vec![false; next.len()];
    let (mut stack, mut calls, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut count = 0;
    for root in 0..next.len() as u32 {
        if order[root as usize] == 0 {
            calls.push((root, 0usize));
        }
        while let Some((node, at)) = calls.pop() {
            let index = node as usize;
            if at == 0 {
                count += 1;
                (order[index], low[index], on_stack[index]) = (count, count, true);
                stack.push(node);
            } else {
                low[index] = low[index].min(low[next[index][at - 1] as usize]);
            }
            let mut here = at;
            let mut deeper = None;
            while let Some(to) = next[index].get(here) {
                here += 1;
                if order[*to as usize] == 0 {
                    deeper = Some(*to);
                    break;
                }
                if on_stack[*to as usize] {
                    low[index] = low[index].min(order[*to as usize]);
                }
            }
            if let Some(to) = deeper {
                calls.push((node, here));
                calls.push((to, 0));
                continue;
            }
            if low[index] == order[index] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

impl Loops {
    /// The net with joined places; `None` if tokens go beyond 64 bits.
    fn joined(&self, net: &Net) -> Option<(Net, Vec<u32>)> {
        let mut number = vec![NONE; net.places.len()];
        let mut loop_number = vec![NONE; self.members.len()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (place, loop_of) in self.loop_of.iter().enumerate() {
            let new = groups.len() as u32;
            if *loop_of == NONE {
                groups.push(vec![place as u32]);
                number[place] = new;
                continue;
            }
            if loop_number[*loop_of as usize] == NONE {
                groups.push(self.members[*loop_of as usize].clone());
                loop_number[*loop_of as usize] = new;
            }
            number[place] = loop_number[*loop_of as usize];
        }
        let arcs = |arcs: &[(u32, u64)]| {
            let mut sum: Vec<(u32, u64)> =
                arcs.iter().map(|(place, tokens)| (number[*place as usize], *tokens)).collect();
            sum.sort_unstable();
            let mut merged: Vec<(u32, u64)> = Vec::with_capacity(sum.len());
            for (place, tokens) in sum {
                match merged.last_mut() {
                    Some(last) if last.0 == place => last.1 = last.1.checked_add(tokens)?,
                    _ => merged.push((place, tokens)),
                }
            }
            Some(merged)
        };
        let transition = |old: &Transition| {
            Some(Transition { name: old.name.clone(), takes: arcs(&old.takes)?, adds: arcs(&old.adds)? })
        };
        let place = |group: &Vec<u32>| {
            let mut initial = 0u64;
            let mut bound = Some(0u64);
            for place in group {
                let place = &net.places[*place as usize];
                initial = initial.checked_add(place.initial)?;
                bound = bound.zip(place.bound).and_then(|(sum, more)| sum.checked_add(more));
            }
            Some(Place { name: net.places[group[0] as usize].name.clone(), initial, bound })
        };
        let joined = Net {
            places: groups.iter().map(place).collect::<Option<_>>()?,
            transitions: net.transitions.iter().map(transition).collect::<Option<_>>()?,
            exclusive: exclusive(&net.exclusive, net.places.len(), &groups),
        };
        Some((joined, groups.iter().map(|group| group[0]).collect()))
    }

    /// Fires a transition after the moves that it needs.
    pub fn fire(&self, transition: u32, firing: &mut Firing<'_>) -> Option<()> {
        let takes = &firing.net().transitions.get(transition as usize)?.takes;
        for (place, needed) in takes {
            while self.loop_of[*place as usize] != NONE && firing.tokens(*place) < *needed {
                let missing = needed - firing.tokens(*place);
                self.fetch(*place, missing, takes, firing)?;
            }
        }
        firing.fire(transition)
    }

    /// Moves some tokens, at most so many, to a place from the nearest one that has more than is taken from it.
    fn fetch(&self, place: u32, most: u64, takes: &[(u32, u64)], firing: &mut Firing<'_>) -> Option<()> {
        let needed = |place: u32| takes.iter().find(|arc| arc.0 == place).map_or(0, |arc| arc.1);
        let mut towards: Vec<(u32, u32, u32)> = Vec::new();
        let mut open = VecDeque::from([place]);
        while let Some(to) = open.pop_front() {
            let spare = firing.tokens(to).saturating_sub(needed(to));
            if to != place && spare > 0 {
                let mut at = to;
                while at != place {
                    let (_, transition, next) = *towards.iter().find(|entry| entry.0 == at)?;
                    for _ in 0..spare.min(most) {
                        firing.fire(transition)?;
                    }
                    at = next;
                }
                return Some(());
            }
            for (transition, from) in &self.moves[to as usize] {
                if *from != place && !towards.iter().any(|entry| entry.0 == *from) {
                    towards.push((*from, *transition, to));
                    open.push_back(*from);
                }
            }
        }
        None
    }
}
