//! Graph rewriting: states are graphs, transitions are injective matches of the left side of a rule.

use std::collections::BTreeSet;

use ample_explicit::space::StateSpace;

/// An edge: its source, its label and its target. In a rule sources and targets are variables.
pub type Edge = (u8, &'static str, u8);

/// How many variables a rule can have.
const MOST: usize = 3;

/// Edges that are replaced by others.
#[derive(Clone, Debug)]
pub struct Rule {
    pub left: Vec<Edge>,
    pub right: Vec<Edge>,
}

/// A graph grammar over graphs with a fixed set of nodes.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub nodes: u8,
    pub start: BTreeSet<Edge>,
    pub rules: Vec<Rule>,
}

/// A rule, and the nodes that its variables are mapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub rule: usize,
    pub nodes: [u8; MOST],
}

impl Rule {
    fn variables(&self) -> usize {
        let edges = self.left.iter().chain(&self.right);
        edges.map(|(from, _, to)| usize::from(*from.max(to)) + 1).max().unwrap_or(0)
    }
}

fn image<'a>(edges: &'a [Edge], nodes: &'a [u8; MOST]) -> impl Iterator<Item = Edge> + 'a {
    edges.iter().map(|(from, label, to)| (nodes[usize::from(*from)], *label, nodes[usize::from(*to)]))
}

impl Grammar {
    /// Nodes in a ring, around which a token goes; who has it may be in the critical section.
    pub fn token_ring(nodes: u8) -> Grammar {
        let ring = (0..nodes).flat_map(|node| [(node, "next", (node + 1) % nodes), (node, "idle", node)]);
        let rule = |left: &[Edge], right: &[Edge]| Rule { left: left.to_vec(), right: right.to_vec() };
        let token = (0, "token", 0);
        // Who has the token enters, and leaves; or passes it on.
        let rules = vec![
            rule(&[token, (0, "idle", 0)], &[token, (0, "critical", 0)]),
            rule(&[(0, "critical", 0)], &[(0, "idle", 0)]),
            rule(&[token, (0, "idle", 0), (0, "next", 1)], &[(1, "token", 1), (0, "idle", 0), (0, "next", 1)]),
        ];
        Grammar { nodes, start: ring.chain([token]).collect(), rules }
    }

    fn is_match(&self, graph: &BTreeSet<Edge>, found: &Match) -> bool {
        let rule = &self.rules[found.rule];
        let used = &found.nodes[..rule.variables()];
        let injective = (1..used.len()).all(|at| !used[..at].contains(&used[at]));
        injective && image(&rule.left, &found.nodes).all(|edge| graph.contains(&edge))
    }

    /// The match with the next combination of nodes, or that of the next rule.
    fn after(&self, mut last: Match) -> Option<Match> {
        for at in (0..self.rules[last.rule].variables()).rev() {
            last.nodes[at] += 1;
            if last.nodes[at] < self.nodes {
                return Some(last);
            }
            last.nodes[at] = 0;
        }
        let rule = last.rule + 1;
        (rule < self.rules.len()).then_some(Match { rule, nodes: [0; MOST] })
    }

    fn from(&self, graph: &BTreeSet<Edge>, mut candidate: Option<Match>) -> Option<Match> {
        while let Some(found) = candidate {
            if self.is_match(graph, &found) {
                return candidate;
            }
            candidate = self.after(found);
        }
        None
    }
}

impl StateSpace for Grammar {
    type State = BTreeSet<Edge>;
    type Transition = Match;

    fn initial(&mut self, index: usize, out: &mut BTreeSet<Edge>) -> bool {
        out.clone_from(&self.start);
        index == 0
    }

    fn first(&mut self, graph: &BTreeSet<Edge>) -> Option<Match> {
        self.from(graph, Some(Match { rule: 0, nodes: [0; MOST] }))
    }

    fn next(&mut self, graph: &BTreeSet<Edge>, last: &Match) -> Option<Match> {
        self.from(graph, self.after(*last))
    }

    fn target(&mut self, graph: &BTreeSet<Edge>, found: &Match, out: &mut BTreeSet<Edge>) {
        out.clone_from(graph);
        let rule = &self.rules[found.rule];
        for edge in image(&rule.left, &found.nodes) {
            out.remove(&edge);
        }
        out.extend(image(&rule.right, &found.nodes));
    }
}
