//! The explicit graph of a system, made with the reference interpreter, and runs through it.

use std::collections::{HashMap, VecDeque};

use ample::Move;
use ample_model::{EdgeId, Expr, Fault, Interpreter, State};

/// A state and what can happen in it.
#[derive(Clone)]
pub struct Node {
    pub state: State,
    /// Nobody holds exclusive control: formulas are looked at here.
    pub visible: bool,
    /// All moves that the state allows.
    pub enabled: Vec<Move>,
    /// The moves that lead on, and where.
    pub steps: Vec<(Move, usize)>,
}

impl Node {
    /// Nothing can happen, so the run stays here for ever.
    pub fn is_deadlocked(&self) -> bool {
        self.enabled.is_empty()
    }
}

/// All reachable states.
pub struct Graph {
    pub nodes: Vec<Node>,
    /// The initial states that are no faults.
    pub initial: Vec<usize>,
    numbers: HashMap<State, usize>,
    /// For a state with a step that is a fault: the state in which the run has stopped.
    stops: HashMap<usize, usize>,
}

impl Graph {
    /// The graph of a system with at most `limit` states, transient ones included; else `None`.
    pub fn of(interpreter: &Interpreter<'_>, limit: usize) -> Option<Graph> {
        let mut graph =
            Graph { nodes: Vec::new(), initial: Vec::new(), numbers: HashMap::new(), stops: HashMap::new() };
        let mut frontier = VecDeque::new();
        for state in interpreter.initial_states().flatten() {
            let number = graph.enter(interpreter, state, &mut frontier);
            graph.initial.push(number);
        }
        while let Some(number) = frontier.pop_front() {
            if graph.nodes.len() > limit {
                return None;
            }
            for (taken, successor) in interpreter.successors(&graph.nodes[number].state) {
                graph.nodes[number].enabled.push(taken.clone());
                let to = match successor.state {
                    Some(next) => graph.enter(interpreter, next, &mut frontier),
                    None => graph.stop(number),
                };
                graph.nodes[number].steps.push((taken, to));
            }
        }
        Some(graph)
    }

    fn enter(&mut self, interpreter: &Interpreter<'_>, state: State, frontier: &mut VecDeque<usize>) -> usize {
        let identity = interpreter.identity(&state);
        if let Some(&known) = self.numbers.get(&identity) {
            return known;
        }
        let number = self.nodes.len();
        let (control, visible) = (identity.control, identity.control.is_none());
        self.numbers.insert(identity, number);
        let state = State { control, ..state };
        self.nodes.push(Node { state, visible, enabled: Vec::new(), steps: Vec::new() });
        frontier.push_back(number);
        number
    }

    /// The node for a run that a fault has stopped there: all is as it was, and stays so.
    fn stop(&mut self, at: usize) -> usize {
        let next = self.nodes.len();
        let stopped = *self.stops.entry(at).or_insert(next);
        if stopped == next {
            let state = self.nodes[at].state.clone();
            self.nodes.push(Node { state, visible: true, enabled: Vec::new(), steps: Vec::new() });
        }
        stopped
    }

    /// The node in which a run has stopped that took a faulty step there.
    pub fn stopped(&self, at: usize) -> Option<usize> {
        self.stops.get(&at).copied()
    }

    /// The node is one in which a run has stopped.
    pub fn is_stop(&self, node: usize) -> bool {
        self.stops.values().any(|stopped| *stopped == node)
    }

    /// The node of a state.
    pub fn find(&self, interpreter: &Interpreter<'_>, state: &State) -> Option<usize> {
        self.numbers.get(&interpreter.identity(state)).copied()
    }

    /// The visible nodes.
    pub fn visible(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|&node| self.nodes[node].visible)
    }

    /// More than any process id that is ever alive.
    pub fn processes(&self) -> u32 {
        self.nodes.iter().map(|node| node.state.processes.len() as u32).max().unwrap_or(0)
    }

    /// For every node whether the expression is true there; false in transient ones.
    pub fn truth(&self, interpreter: &Interpreter<'_>, expr: &Expr) -> Result<Vec<bool>, Fault> {
        let value = |node: &Node| Ok(node.visible && interpreter.evaluate(&node.state, None, expr)? != 0);
        self.nodes.iter().map(value).collect()
    }

    /// The same, where a fault counts as false.
    pub fn truth_or_fault(&self, interpreter: &Interpreter<'_>, expr: &Expr) -> Vec<bool> {
        let value = |node: &Node| interpreter.evaluate(&node.state, None, expr).unwrap_or(0);
        self.nodes.iter().map(|node| node.visible && value(node) != 0).collect()
    }

    /// The graph without the steps to other nodes than these. What is enabled in a node stays so.
    pub fn only(&self, these: &dyn Fn(usize) -> bool) -> Graph {
        let staying = |node: &Node| {
            let steps = node.steps.iter().filter(|step| these(step.1)).cloned().collect();
            Node { steps, ..node.clone() }
        };
        let nodes = self.nodes.iter().map(staying).collect();
        Graph { nodes, initial: self.initial.clone(), numbers: HashMap::new(), stops: HashMap::new() }
    }

    /// What is reached from a node, that node among it.
    pub fn reached_from(&self, node: usize) -> Vec<usize> {
        let mut reached = vec![node];
        let mut seen = vec![false; self.nodes.len()];
        seen[node] = true;
        let mut at = 0;
        while at < reached.len() {
            for &(_, to) in &self.nodes[reached[at]].steps {
                if !std::mem::replace(&mut seen[to], true) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        reached
    }

    /// The graph that has this one run only.
    pub fn alone(&self, lasso: &Lasso) -> Graph {
        let mut nodes = Vec::new();
        for (place, (taken, _)) in lasso.steps.iter().enumerate() {
            let to = if place + 1 < lasso.steps.len() { place + 1 } else { lasso.turn };
            let steps = taken.iter().map(|taken| (taken.clone(), to)).collect();
            nodes.push(Node { steps, ..self.nodes[lasso.node(place)].clone() });
        }
        Graph { nodes, initial: vec![0], numbers: HashMap::new(), stops: HashMap::new() }
    }
}

impl Graph {
    /// Nodes in a line, the first of them initial, and after the last of them all ways through so many others.
    pub fn of_words(line: usize, others: usize) -> Graph {
        let taken = Move::Process { process: 0, edge: EdgeId(0) };
        let node = |number: usize| {
            let next = if number + 1 < line { number + 1..number + 2 } else { line..line + others };
            let steps = next.map(|to| (taken.clone(), to)).collect();
            Node { state: State::default(), visible: true, enabled: vec![taken.clone()], steps }
        };
        let nodes = (0..line + others).map(node).collect();
        Graph { nodes, initial: vec![0], numbers: HashMap::new(), stops: HashMap::new() }
    }
}

/// Moves and where they lead. One without a move is the stuttering of a deadlock.
pub type Steps = Vec<(Option<Move>, usize)>;

/// An endless run: steps of which those from number `turn` on repeat for ever.
#[derive(Clone, Debug)]
pub struct Lasso {
    pub first: usize,
    pub steps: Steps,
    pub turn: usize,
}

impl Lasso {
    /// The node after so many steps.
    fn node(&self, place: usize) -> usize {
        if place == 0 { self.first } else { self.steps[place - 1].1 }
    }

    /// The nodes of the cycle.
    pub fn round(&self) -> impl Iterator<Item = usize> + '_ {
        (self.turn..self.steps.len()).map(|place| self.node(place))
    }

    /// The visible nodes before the cycle, and those of the cycle.
    pub fn visible(&self, graph: &Graph) -> (Vec<usize>, Vec<usize>) {
        let seen = |node: &usize| graph.nodes[*node].visible;
        let prefix = (0..self.turn).map(|place| self.node(place)).filter(seen).collect();
        (prefix, self.round().filter(seen).collect())
    }

    /// Every step is one of the graph, the run begins in an initial state, and the cycle closes.
    pub fn is_run_of(&self, graph: &Graph) -> bool {
        let fits = |place: usize| {
            let from = &graph.nodes[self.node(place)];
            match self.steps[place].clone() {
                (Some(taken), to) => from.steps.contains(&(taken, to)),
                (None, to) => from.is_deadlocked() && to == self.node(place),
            }
        };
        graph.initial.contains(&self.first)
            && self.turn < self.steps.len()
            && self.node(self.turn) == self.node(self.steps.len())
            && (0..self.steps.len()).all(fits)
    }
}
