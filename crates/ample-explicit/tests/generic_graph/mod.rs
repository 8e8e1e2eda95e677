//! Graphs as state spaces, for tests: as numbers, and as bytes of varying length.

#![allow(dead_code)] // Not every test uses all of it.

use ample_explicit::space::StateSpace;
use ample_random::Random;

/// A graph: its vertices are its states, and the numbers of the outgoing edges its transitions.
#[derive(Clone, Debug)]
pub struct Graph {
    pub initial: Vec<u32>,
    pub edges: Vec<Vec<u32>>,
}

impl Graph {
    /// A random graph of up to 60 vertices.
    pub fn random(seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let vertices = 1 + random.below(60);
        let degree = 1 + random.below(4);
        let edges =
            |random: &mut Random| (0..random.below(degree + 1)).map(|_| random.below(vertices) as u32).collect();
        let edges = (0..vertices).map(|_| edges(&mut random)).collect();
        let initial = (0..1 + random.below(3)).map(|_| random.below(vertices) as u32).collect();
        Graph { initial, edges }
    }

    /// Vertices in a row.
    pub fn line(vertices: u32) -> Graph {
        let edges = (1..=vertices).map(|next| if next < vertices { vec![next] } else { Vec::new() }).collect();
        Graph { initial: vec![0], edges }
    }
}

impl StateSpace for Graph {
    type State = u32;
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut u32) -> bool {
        self.initial.get(index).is_some_and(|&vertex| {
            *out = vertex;
            true
        })
    }

    fn first(&mut self, state: &u32) -> Option<usize> {
        (!self.edges[*state as usize].is_empty()).then_some(0)
    }

    fn next(&mut self, state: &u32, transition: &usize) -> Option<usize> {
        Some(transition + 1).filter(|&edge| edge < self.edges[*state as usize].len())
    }

    fn target(&mut self, state: &u32, transition: &usize, out: &mut u32) {
        *out = self.edges[*state as usize][*transition];
    }
}

/// The same graph with states of bytes: the vertex, and a payload whose length depends on it.
#[derive(Clone, Debug)]
pub struct Bytes(pub Graph);

pub fn encode(vertex: u32, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&vertex.to_le_bytes());
    out.resize(4 + (vertex as usize * 7) % 200, vertex as u8);
}

pub fn decode(state: &[u8]) -> u32 {
    u32::from_le_bytes(state[..4].try_into().unwrap())
}

impl StateSpace for Bytes {
    type State = [u8];
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        let mut vertex = 0;
        let there = self.0.initial(index, &mut vertex);
        encode(vertex, out);
        there
    }

    fn first(&mut self, state: &[u8]) -> Option<usize> {
        self.0.first(&decode(state))
    }

    fn next(&mut self, state: &[u8], transition: &usize) -> Option<usize> {
        self.0.next(&decode(state), transition)
    }

    fn target(&mut self, state: &[u8], transition: &usize, out: &mut Vec<u8>) {
        let mut vertex = 0;
        self.0.target(&decode(state), transition, &mut vertex);
        encode(vertex, out);
    }
}
