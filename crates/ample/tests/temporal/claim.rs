//! Never claims: the claim moves once in every visible node that a run comes to, the first included.

use ample::Fairness;
use ample_model::{Expr, Interpreter, ProcessId, ProcessType};

use super::emptiness::{Automaton, Search};
use super::graph::{Graph, Lasso};

/// A claim and where its edges are executable.
pub struct Claim<'a> {
    process: &'a ProcessType,
    /// For every node and every edge of the claim.
    executable: Vec<Vec<bool>>,
    accepting: Vec<bool>,
}

impl<'a> Claim<'a> {
    /// `None` if a condition of the claim is a fault somewhere.
    pub fn new(interpreter: &Interpreter<'a>, graph: &Graph, id: ProcessId) -> Option<Claim<'a>> {
        let process = interpreter.system().process(id);
        assert!(process.edges.iter().all(|edge| edge.communication.is_none() && edge.effect.is_empty()));
        let mut executable = Vec::new();
        for node in &graph.nodes {
            // `else` speaks of edges before it.
            let mut edges: Vec<bool> = Vec::new();
            for edge in &process.edges {
                let mut holds = node.visible;
                for conjunct in &edge.guard {
                    holds = holds
                        && match conjunct {
                            Expr::Blocked(others) => !others.iter().any(|other| edges[other.index()]),
                            condition => interpreter.evaluate(&node.state, None, condition).ok()? != 0,
                        };
                }
                edges.push(holds);
            }
            executable.push(edges);
        }
        let accepting = graph.truth(interpreter, &Expr::Accepting).ok()?;
        Some(Claim { process, executable, accepting })
    }

    /// The claim has come to its end, and stays there: whatever follows, it has seen enough.
    fn is_over(&self, location: usize) -> bool {
        self.process.locations[location].end
    }

    fn from(&self, location: usize, node: usize) -> Vec<usize> {
        if self.is_over(location) {
            return vec![location];
        }
        let edges = self.process.locations[location].edges.iter().map(|edge| edge.index());
        edges.filter(|&edge| self.executable[node][edge]).map(|edge| self.process.edges[edge].to.index()).collect()
    }

    /// A fair run on which the claim comes to its end, or that goes through an accepting location of the claim, or of a
    /// process, again and again.
    pub fn violation(&self, graph: &Graph, fairness: Fairness) -> Option<Lasso> {
        Search { graph, automaton: self, fairness, stutters: true }.run()
    }
}

impl Automaton for Claim<'_> {
    fn start(&self, node: usize) -> Vec<usize> {
        self.from(self.process.initial.index(), node)
    }

    fn next(&self, state: usize, node: usize) -> Vec<usize> {
        self.from(state, node)
    }

    fn marks(&self, state: usize, node: usize) -> u64 {
        (self.is_over(state) || self.process.locations[state].accept || self.accepting[node]).into()
    }

    fn sets(&self) -> u32 {
        1
    }
}
