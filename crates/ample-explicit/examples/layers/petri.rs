//! Petri nets: states are markings, transitions are firings.

use ample_explicit::space::StateSpace;

/// A place/transition net. A marking has a byte for each place, so that no place can have more than 255 tokens.
#[derive(Clone, Debug)]
pub struct Net {
    pub initial: Vec<u8>,
    /// For each transition the places that it takes a token from, and those it puts one on.
    pub transitions: Vec<(Vec<usize>, Vec<usize>)>,
}

impl Net {
    /// A producer and a consumer with a buffer for so many items.
    pub fn buffer(capacity: u8) -> Net {
        // Idle and loaded producer, free and full slots, waiting and busy consumer.
        let steps = [(vec![0], vec![1]), (vec![1, 2], vec![0, 3]), (vec![4, 3], vec![5, 2]), (vec![5], vec![4])];
        Net { initial: vec![1, 0, capacity, 0, 1, 0], transitions: steps.to_vec() }
    }

    fn from(&self, marking: &[u8], transition: usize) -> Option<usize> {
        let is_enabled = |number: &usize| self.transitions[*number].0.iter().all(|place| marking[*place] > 0);
        (transition..self.transitions.len()).find(is_enabled)
    }
}

impl StateSpace for Net {
    type State = [u8];
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        out.clone_from(&self.initial);
        index == 0
    }

    fn first(&mut self, marking: &[u8]) -> Option<usize> {
        self.from(marking, 0)
    }

    fn next(&mut self, marking: &[u8], transition: &usize) -> Option<usize> {
        self.from(marking, transition + 1)
    }

    fn target(&mut self, marking: &[u8], transition: &usize, out: &mut Vec<u8>) {
        marking.clone_into(out);
        let (from, to) = &self.transitions[*transition];
        from.iter().for_each(|place| out[*place] -= 1);
        to.iter().for_each(|place| out[*place] += 1);
    }
}
