//! Strong fairness: the part of a component in which a run can stay and be fair.
//!
//! A run that stays in a component and is fair takes every action that is enabled in it again and again. An action
//! that is enabled in a component but never leads from one of its states to another cannot be: the states
//! where it is enabled have to be left for ever. What is left falls into components again.

use std::collections::{HashMap, HashSet};

use ample_model::Move;

use super::{Concurrent, GeneralisedBuchi};
use crate::search::Terminated;
use crate::space::Buffer;
use crate::store::{ExactStore, Handle};

/// A state of the component and what leads out of it.
struct Node {
    enabled: Vec<u32>,
    arcs: Vec<Arc>,
}

struct Arc {
    to: usize,
    marks: u64,
    taken: Vec<u32>,
}

/// Some of the states of a strongly connected component, strongly connected, with all marks, in which every enabled
/// action can be taken. `ask` is told now and then how many bytes are in use, and may end it.
pub(super) fn fair_part<P, St>(
    space: &mut P,
    store: &St,
    members: &[Handle],
    all: u64,
    ask: &mut dyn FnMut(usize) -> Result<(), Terminated>,
) -> Result<Option<Vec<Handle>>, Terminated>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State>,
    Buffer<P>: Default,
{
    let (graph, bytes) = graph(space, store, members, ask)?;
    let mut parts: Vec<Vec<usize>> = vec![(0..members.len()).collect()];
    while let Some(part) = parts.pop() {
        ask(bytes + part.len() * 4 * ENTRY)?;
        for component in components(&graph, &part) {
            let inside: HashSet<usize> = component.iter().copied().collect();
            let mut marks = 0;
            let mut open: HashSet<u32> = HashSet::new();
            for &node in &component {
                open.extend(&graph[node].enabled);
            }
            for arc in component.iter().flat_map(|&node| &graph[node].arcs).filter(|arc| inside.contains(&arc.to)) {
                marks |= arc.marks;
                for action in &arc.taken {
                    open.remove(action);
                }
            }
            if marks & all != all {
                continue;
            }
            if open.is_empty() {
                return Ok(Some(component.into_iter().map(|node| members[node]).collect()));
            }
            let stays = |node: &usize| !graph[*node].enabled.iter().any(|action| open.contains(action));
            parts.push(component.into_iter().filter(stays).collect());
        }
    }
    Ok(None)
}

/// About what an entry of a hash table takes.
const ENTRY: usize = 24;
/// So many states lie between two questions.
const ASK_EVERY: usize = 256;

/// The graph of the members, and about how many bytes it takes.
fn graph<P, St>(
    space: &mut P,
    store: &St,
    members: &[Handle],
    ask: &mut dyn FnMut(usize) -> Result<(), Terminated>,
) -> Result<(Vec<Node>, usize), Terminated>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State>,
    Buffer<P>: Default,
{
    let numbers: HashMap<Handle, usize> =
        members.iter().enumerate().map(|(number, handle)| (*handle, number)).collect();
    let mut actions: HashMap<Move, u32> = HashMap::new();
    let mut out = Buffer::<P>::default();
    let mut nodes = Vec::new();
    let mut bytes = members.len() * 2 * ENTRY;
    for (number, &member) in members.iter().enumerate() {
        if number % ASK_EVERY == 0 {
            ask(bytes)?;
        }
        let state = store.get(member);
        let mut node = Node { enabled: Vec::new(), arcs: Vec::new() };
        let mut cursor = space.first(state);
        while let Some(transition) = cursor {
            cursor = space.next(state, &transition);
            let mut taken = Vec::new();
            for action in space.actions(state, &transition) {
                let next = actions.len() as u32;
                taken.push(*actions.entry(action).or_insert(next));
            }
            node.enabled.extend(taken.first());
            space.target(state, &transition, &mut out);
            if space.is_dead() {
                continue;
            }
            let to = store.find(std::borrow::Borrow::borrow(&out)).and_then(|handle| numbers.get(&handle));
            if let Some(&to) = to {
                node.arcs.push(Arc { to, marks: space.marks(&transition), taken });
            }
        }
        node.enabled.sort_unstable();
        node.enabled.dedup();
        let words = node.enabled.capacity() + node.arcs.iter().map(|arc| arc.taken.capacity()).sum::<usize>();
        bytes += size_of::<Node>() + 4 * words + node.arcs.capacity() * size_of::<Arc>();
        nodes.push(node);
    }
    Ok((nodes, bytes))
}

/// The strongly connected components of a part of the graph that have an inner arc.
fn components(graph: &[Node], part: &[usize]) -> Vec<Vec<usize>> {
    let inside: HashSet<usize> = part.iter().copied().collect();
    let mut number: HashMap<usize, usize> = HashMap::new();
    let mut done: HashSet<usize> = HashSet::new();
    let (mut live, mut roots, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for &start in part {
        if number.contains_key(&start) {
            continue;
        }
        let mut path = vec![(start, 0)];
        number.insert(start, number.len());
        live.push(start);
        roots.push(start);
        while let Some((node, next)) = path.pop() {
            if let Some(arc) = graph[node].arcs.get(next) {
                path.push((node, next + 1));
                if !inside.contains(&arc.to) || done.contains(&arc.to) {
                    continue;
                }
                match number.get(&arc.to) {
                    Some(&to) => {
                        while roots.last().is_some_and(|root| number[root] > to) {
                            roots.pop();
                        }
                    }
                    None => {
                        number.insert(arc.to, number.len());
                        live.push(arc.to);
                        roots.push(arc.to);
                        path.push((arc.to, 0));
                    }
                }
            } else if roots.last() == Some(&node) {
                roots.pop();
                let from = live.iter().rposition(|&other| other == node).unwrap_or(0);
                let component = live.split_off(from);
                done.extend(&component);
                if component.len() > 1 || graph[node].arcs.iter().any(|arc| arc.to == node) {
                    found.push(component);
                }
            }
        }
    }
    found
}
