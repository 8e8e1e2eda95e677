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
    /// For every node and every edge of the claim: asking whether it is executable is a fault.
    faulty: Vec<Vec<bool>>,
    accepting: Vec<bool>,
}

impl<'a> Claim<'a> {
    /// The claim over the nodes of the graph.
    pub fn new(interpreter: &Interpreter<'a>, graph: &Graph, id: ProcessId) -> Claim<'a> {
        let process = interpreter.system().process(id);
        assert!(process.edges.iter().all(|edge| edge.communication.is_none() && edge.effect.is_empty()));
        let (mut executable, mut faulty) = (Vec::new(), Vec::new());
        for node in &graph.nodes {
            // `else` speaks of edges before it.
            let (mut edges, mut faults): (Vec<bool>, Vec<bool>) = Default::default();
            for edge in &process.edges {
                let (mut holds, mut fault) = (node.visible, false);
                for conjunct in &edge.guard {
                    holds = holds
                        && match conjunct {
                            Expr::Blocked(others) => !others.iter().any(|other| edges[other.index()]),
                            condition => match interpreter.evaluate(&node.state, None, condition) {
                                Ok(value) => value != 0,
                                Err(_) => {
                                    fault = true;
                                    false
                                }
                            },
                        };
                }
                edges.push(holds);
                faults.push(fault);
            }
            executable.push(edges);
            faulty.push(faults);
        }
        let accepting = graph.truth_or_fault(interpreter, &Expr::Accepting);
        Claim { process, executable, faulty, accepting }
    }

    /// The state after a fault in a condition: whatever follows, the claim has seen enough.
    fn failed(&self) -> usize {
        self.process.locations.len()
    }

    /// The claim has come to its end, and stays there: whatever follows, it has seen enough.
    fn is_over(&self, location: usize) -> bool {
        location == self.failed() || self.process.locations[location].end
    }

    fn from(&self, location: usize, node: usize) -> Vec<usize> {
        if self.is_over(location) {
            return vec![location];
        }
        let edges = self.process.locations[location].edges.iter().map(|edge| edge.index());
        if edges.clone().any(|edge| self.faulty[node][edge]) {
            return vec![self.failed()];
        }
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
