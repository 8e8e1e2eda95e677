//! The definitions, by brute force.

use super::search::{Graph, Set};
use super::system::{State, System};
use ample_reduce::objects::Table;
use ample_reduce::scheme::TransitionNumber;
use ample_reduce::traces;
use std::collections::{HashSet, VecDeque};

/// Is the set persistent in the state (Def. 4.1)? Whatever can be done without its members is independent of them.
pub fn is_persistent(system: &System, state: &State, set: &[TransitionNumber], table: Table) -> bool {
    let mut seen = HashSet::from([state.clone()]);
    let mut work = vec![state.clone()];
    while let Some(state) = work.pop() {
        for outside in system.enabled(&state).into_iter().filter(|transition| !set.contains(transition)) {
            if !set.iter().all(|member| system.independent(&state, outside, *member, table)) {
                return false;
            }
            let next = system.successor(&state, outside);
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    true
}

/// Is the set a conditional stubborn set (Def. 4.22), as far as sequences up to that length show?
pub fn is_conditional_stubborn(
    system: &System,
    state: &State,
    set: &[TransitionNumber],
    table: Table,
    length: usize,
) -> bool {
    let is_disturbed = |here: &State, last| set.iter().any(|member| !system.independent(here, last, *member, table));
    let is_good = |word: &[TransitionNumber], here: &State| {
        let Some((last, _)) = word.split_last() else { return true };
        word.iter().any(|transition| set.contains(transition)) || !is_disturbed(here, *last)
    };
    let is_alive = set.iter().any(|transition| system.is_enabled(state, *transition));
    is_alive && words(system, state, length).iter().all(|(word, before)| is_good(word, before))
}

/// The words up to that length that can be executed from the state, each with the state before its last transition.
fn words(system: &System, state: &State, length: usize) -> Vec<(Vec<TransitionNumber>, State)> {
    let mut words = vec![(Vec::new(), state.clone())];
    let mut open = vec![(Vec::new(), state.clone())];
    for _ in 0..length {
        for (word, here) in std::mem::take(&mut open) {
            for transition in system.enabled(&here) {
                let mut longer = word.clone();
                longer.push(transition);
                words.push((longer.clone(), here.clone()));
                open.push((longer, system.successor(&here, transition)));
            }
        }
    }
    words
}

/// The lifted relation is a valid conditional dependency in the state (Def. 3.17).
pub fn is_valid_in(system: &System, state: &State, table: Table) -> bool {
    let numbers = 0..system.scheme.transitions.len() as TransitionNumber;
    numbers.clone().all(|one| {
        numbers.clone().filter(|other| system.independent(state, one, *other, table)).all(|other| {
            let Some(after) = system.step(state, one) else { return true };
            system.is_enabled(state, other) == system.is_enabled(&after, other)
                && system.step(state, other).is_none_or(|aside| system.step(&aside, one) == system.step(&after, other))
        })
    })
}

/// Is the lifted relation weakly uniform in the state (Def. 6.6)?
pub fn is_weakly_uniform_in(system: &System, state: &State, table: Table) -> bool {
    let depend = |state: &State, one, other| !system.independent(state, one, other, table);
    let enabled = system.enabled(state);
    enabled.iter().all(|&one| {
        let after = system.successor(state, one);
        system.enabled(&after).into_iter().filter(|two| depend(state, one, *two)).all(|two| {
            enabled.iter().all(|&three| {
                depend(state, one, three)
                    || depend(&after, two, three)
                    || depend(&system.successor(state, three), one, two)
            })
        })
    })
}

/// Is the reduced graph a trace automaton (Def. 6.4), as far as words up to that length show: is each of them a prefix
/// of the trace of a word of the reduced graph?
pub fn is_trace_automaton(system: &System, graph: &Graph, table: Table, length: usize) -> bool {
    let is_prefix = |word: &[TransitionNumber], of: &[TransitionNumber]| {
        traces::is_prefix_from(
            &system.initial,
            word,
            of,
            |state, transition| system.step(state, transition),
            |state, one, other| system.independent(state, one, other, table),
        )
    };
    words(system, &system.initial, length).iter().all(|(word, _)| {
        covering_word(system, graph, table, word).is_some_and(|longer| longer.len() > 7 || is_prefix(word, &longer))
    })
}

/// A word of the reduced graph that has the word as a prefix of its trace.
///
/// The reduced graph is followed with what is left of the word: a transition that is in it must commute to its front,
/// one that is not must commute with all of it.
fn covering_word(
    system: &System,
    graph: &Graph,
    table: Table,
    word: &[TransitionNumber],
) -> Option<Vec<TransitionNumber>> {
    let mut seen = HashSet::from([(system.initial.clone(), word.to_vec())]);
    let mut open = VecDeque::from([(system.initial.clone(), word.to_vec(), Vec::new())]);
    while let Some((state, rest, covering)) = open.pop_front() {
        if rest.is_empty() {
            return Some(covering);
        }
        for &transition in &graph.states[&state] {
            let Some(left) = without(system, &state, &rest, transition, table) else { continue };
            let next = system.successor(&state, transition);
            if seen.insert((next.clone(), left.clone())) {
                let mut longer = covering.clone();
                longer.push(transition);
                open.push_back((next, left, longer));
            }
        }
    }
    None
}

/// What is left of the word when the transition is taken first, if it is independent of what comes before it.
fn without(
    system: &System,
    state: &State,
    word: &[TransitionNumber],
    transition: TransitionNumber,
    table: Table,
) -> Option<Vec<TransitionNumber>> {
    let place = word.iter().position(|other| *other == transition);
    let mut here = state.clone();
    for &before in &word[..place.unwrap_or(word.len())] {
        if !system.independent(&here, before, transition, table) {
            return None;
        }
        here = system.successor(&here, before);
    }
    let mut left = word.to_vec();
    place.map(|place| left.remove(place));
    Some(left)
}

/// The transitions that are executed somewhere after the state, in the graph.
pub fn executed_after(system: &System, graph: &Graph, state: &State) -> Set {
    let mut seen = HashSet::from([state.clone()]);
    let mut work = vec![state.clone()];
    let mut executed = Set::new();
    while let Some(state) = work.pop() {
        for &transition in &graph.states[&state] {
            executed.insert(transition);
            let next = system.successor(&state, transition);
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    executed
}
