//! The seed of the smallest closure, by the strongly connected components of "needs" (Tarjan's algorithm).
//!
//! A component is a candidate if it has enabled transitions and none can be reached outside it: then these are all the
//! enabled transitions of the closure of each of its members. A closure that is not that of a candidate contains one
//! that is, and more.

use super::Algorithm;
use super::closures::{Closure, State};
use crate::scheme::{TransitionNumber, View};

/// What is known of a transition, or of a process for Algorithm 2.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// When it was met, from 1; 0 if it was not.
    index: u32,
    /// The earliest that is reached from it among those on the stack.
    low: u32,
    /// It is in a component that is complete.
    is_done: bool,
    /// Its closure has enabled transitions outside its component, or is all that is enabled.
    is_spoilt: bool,
    /// Its number of enabled transitions.
    weight: u32,
    /// One of them only sends.
    only_sends: bool,
    /// The first of them in the order of the search.
    first: u32,
}

/// A component with enabled transitions only in itself: how many they are, whether it is a single one that only sends, and
/// which of them comes first.
type Candidate = (u32, bool, u32);

/// The memory of the search for components.
#[derive(Clone, Debug, Default)]
pub(super) struct Components {
    nodes: Vec<Node>,
    met: Vec<u32>,
    stack: Vec<u32>,
    /// The nodes on the way, each with the number of needs below its own.
    frames: Vec<(u32, usize)>,
    /// The needs of the nodes on the way that have not been looked at.
    needs: Vec<u32>,
}

impl Components {
    /// The seed whose closure is smallest, and of several the first; none if all that is enabled is no larger.
    pub(super) fn best_seed<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        closure: &mut Closure,
    ) -> Option<TransitionNumber> {
        let is_overman = matches!(algorithm, Algorithm::Overman(_));
        let node = |state: &State<V>, transition: TransitionNumber| {
            if is_overman { state.relations.active(transition).iter().next().unwrap_or(0) } else { transition }
        };
        let count = if is_overman { state.scheme.processes.len() } else { state.scheme.transitions.len() };
        self.nodes.resize(count.max(self.nodes.len()), Node::default());
        for (place, &transition) in state.view.enabled().iter().enumerate().rev() {
            let node = &mut self.nodes[node(state, transition) as usize];
            node.weight += 1;
            node.only_sends = state.scheme.only_sends(transition);
            node.first = place as u32;
        }
        let mut best = None;
        for place in 0..state.view.enabled().len() {
            let root = node(state, state.view.enabled()[place]);
            if self.nodes[root as usize].index == 0 {
                self.search(root, algorithm, state, closure, &mut best);
            }
        }
        self.met.drain(..).for_each(|number| self.nodes[number as usize] = Node::default());
        best.map(|(.., place): Candidate| state.view.enabled()[place as usize])
    }

    fn search<V: View + ?Sized>(
        &mut self,
        root: u32,
        algorithm: Algorithm,
        state: &mut State<V>,
        closure: &mut Closure,
        best: &mut Option<Candidate>,
    ) {
        self.enter(root, algorithm, state, closure);
        while let Some(&(number, base)) = self.frames.last() {
            if self.needs.len() > base {
                let need = self.needs[self.needs.len() - 1];
                self.needs.pop();
                match self.nodes[need as usize].index {
                    0 => self.enter(need, algorithm, state, closure),
                    _ => self.look(number, need),
                }
                continue;
            }
            self.frames.pop();
            if self.nodes[number as usize].low == self.nodes[number as usize].index {
                self.complete(number, best);
            }
            if let Some(&(parent, _)) = self.frames.last() {
                self.look(parent, number);
            }
        }
    }

    fn enter<V: View + ?Sized>(
        &mut self,
        number: u32,
        algorithm: Algorithm,
        state: &mut State<V>,
        closure: &mut Closure,
    ) {
        self.met.push(number);
        self.stack.push(number);
        self.frames.push((number, self.needs.len()));
        let index = self.met.len() as u32;
        let node = &mut self.nodes[number as usize];
        (node.index, node.low) = (index, index);
        match closure.needs(algorithm, state, number) {
            Some(needs) => self.needs.extend(needs.iter()),
            None => node.is_spoilt = true,
        }
    }

    /// Takes over what is known of a need that has been met.
    fn look(&mut self, number: u32, need: u32) {
        let need = self.nodes[need as usize];
        let node = &mut self.nodes[number as usize];
        if need.is_done {
            node.is_spoilt |= need.is_spoilt || need.weight > 0;
        } else {
            node.low = node.low.min(need.low);
        }
    }

    /// Takes the component of that node off the stack. Afterwards each of its nodes knows what holds for all.
    fn complete(&mut self, root: u32, best: &mut Option<Candidate>) {
        let begin = self.stack.iter().rposition(|number| *number == root).unwrap_or(0);
        let members = &self.stack[begin..];
        let (mut weight, mut first, mut only_sends, mut is_spoilt) = (0, u32::MAX, false, false);
        for member in members.iter().map(|number| &self.nodes[*number as usize]) {
            weight += member.weight;
            is_spoilt |= member.is_spoilt;
            only_sends |= member.only_sends;
            if member.weight > 0 {
                first = first.min(member.first);
            }
        }
        for number in members {
            let member = &mut self.nodes[*number as usize];
            (member.is_done, member.is_spoilt, member.weight) = (true, is_spoilt, weight);
        }
        self.stack.truncate(begin);
        let candidate = (weight, weight == 1 && only_sends, first);
        if weight > 0 && !is_spoilt && best.is_none_or(|best| candidate < best) {
            *best = Some(candidate);
        }
    }
}
