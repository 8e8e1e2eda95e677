//! State graphs with labels, and their equivalence up to stuttering.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use ample_model::{Expr, Interpreter, State, System};

/// The label of a state: what is asked for, or the fault that ends a run there.
type Label = String;

/// The states that are not transient, with labels.
pub struct Graph {
    labels: Vec<Label>,
    next: Vec<Vec<usize>>,
    initial: Vec<usize>,
    /// How runs go wrong: deadlocks, by label, and failed assertions.
    pub wrong: BTreeSet<String>,
}

impl Graph {
    /// `None` if there are more states than that.
    pub fn of(system: &System, asked: &[Expr], limit: usize) -> Option<Graph> {
        let interpreter = Interpreter::new(system);
        let mut graph = Graph { labels: Vec::new(), next: Vec::new(), initial: Vec::new(), wrong: BTreeSet::new() };
        let mut numbers: HashMap<State, usize> = HashMap::new();
        let mut open: VecDeque<(usize, State)> = VecDeque::new();
        for state in interpreter.initial_states().flatten() {
            let number = graph.number(&interpreter, asked, state, &mut numbers, &mut open);
            graph.initial.push(number);
        }
        while let Some((current, state)) = open.pop_front() {
            if graph.labels.len() > limit {
                return None;
            }
            let mut next = BTreeSet::new();
            // Transient states are passed.
            let mut passed = HashSet::new();
            let mut waiting = vec![state];
            while let Some(state) = waiting.pop() {
                for (_, successor) in interpreter.successors(&state) {
                    graph.wrong.extend(successor.violations.iter().map(|violation| format!("{violation:?}")));
                    let Some(after) = successor.state else {
                        next.insert(graph.end(format!("{:?}", successor.violations)));
                        continue;
                    };
                    if is_transient(&interpreter, &after) {
                        if passed.insert(after.clone()) {
                            waiting.push(after);
                        }
                    } else {
                        next.insert(graph.number(&interpreter, asked, after, &mut numbers, &mut open));
                    }
                }
                if passed.len() > limit {
                    return None;
                }
            }
            graph.next[current] = next.into_iter().collect();
        }
        Some(graph)
    }

    fn number(
        &mut self,
        interpreter: &Interpreter<'_>,
        asked: &[Expr],
        state: State,
        numbers: &mut HashMap<State, usize>,
        open: &mut VecDeque<(usize, State)>,
    ) -> usize {
        let identity = interpreter.identity(&state);
        *numbers.entry(identity).or_insert_with(|| {
            let values: Vec<_> = asked.iter().map(|expr| interpreter.evaluate(&state, None, expr)).collect();
            let label = format!("{values:?}");
            if interpreter.is_deadlock(&state) {
                self.wrong.insert(format!("deadlock with {label}"));
            }
            self.labels.push(label);
            self.next.push(Vec::new());
            let number = self.labels.len() - 1;
            open.push_back((number, state));
            number
        })
    }

    /// A state after a fault or a failed assertion.
    fn end(&mut self, label: String) -> usize {
        if let Some(number) = self.labels.iter().position(|known| *known == label) {
            return number;
        }
        self.labels.push(label);
        self.next.push(Vec::new());
        self.labels.len() - 1
    }

    /// The labels.
    pub fn values(&self) -> BTreeSet<&Label> {
        self.labels.iter().collect()
    }

    /// Divergence-sensitive stuttering bisimilarity, by refinement of a partition of both graphs.
    pub fn is_stuttering_bisimilar(&self, other: &Graph) -> bool {
        let shift = self.labels.len();
        let labels: Vec<&Label> = self.labels.iter().chain(&other.labels).collect();
        let moved = other.next.iter().map(|next| next.iter().map(|n| n + shift).collect::<Vec<_>>());
        let next: Vec<Vec<usize>> = self.next.iter().cloned().chain(moved).collect();
        let mut class: Vec<usize> = numbered(&labels);
        loop {
            let signatures: Vec<_> = (0..next.len()).map(|state| signature(&next, &class, state)).collect();
            let pairs: Vec<_> = class.iter().copied().zip(signatures).collect();
            let refined = numbered(&pairs);
            let count = |class: &[usize]| class.iter().collect::<HashSet<_>>().len();
            if count(&refined) == count(&class) {
                break;
            }
            class = refined;
        }
        let classes =
            |initial: &[usize], shift: usize| initial.iter().map(|i| class[i + shift]).collect::<HashSet<_>>();
        classes(&self.initial, 0) == classes(&other.initial, shift)
    }

    /// A sequence of labels, without repetitions, that only one of them has; `None` if there is none that is short.
    pub fn compare_runs(&self, other: &Graph) -> Option<Vec<Label>> {
        let by_label = |graph: &Graph, states: &[usize]| -> HashMap<Label, BTreeSet<usize>> {
            let mut sets: HashMap<Label, BTreeSet<usize>> = HashMap::new();
            for state in states {
                sets.entry(graph.labels[*state].clone()).or_default().insert(*state);
            }
            sets.into_iter().map(|(label, set)| (label, graph.stuttered(set))).collect()
        };
        let mut known = HashSet::new();
        let mut open = vec![(by_label(self, &self.initial), by_label(other, &other.initial), Vec::new())];
        while let Some((ours, theirs, path)) = open.pop() {
            for label in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
                let path: Vec<Label> = path.iter().chain([label]).cloned().collect();
                let (Some(our), Some(their)) = (ours.get(label), theirs.get(label)) else { return Some(path) };
                if self.may_stay(our) != other.may_stay(their) {
                    return Some([path, vec!["for ever".into()]].concat());
                }
                if known.len() > 500 || !known.insert((our.clone(), their.clone())) {
                    continue;
                }
                let leave = |graph: &Graph, set: &BTreeSet<usize>| {
                    let next: Vec<usize> = set.iter().flat_map(|s| graph.next[*s].clone()).collect();
                    let left: Vec<usize> = next.into_iter().filter(|s| graph.labels[*s] != *label).collect();
                    by_label(graph, &left)
                };
                open.push((leave(self, our), leave(other, their), path));
            }
        }
        None
    }

    /// All states that are reached without a change of the label.
    fn stuttered(&self, mut set: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = set.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            for next in &self.next[state] {
                if self.labels[*next] == self.labels[state] && set.insert(*next) {
                    waiting.push(*next);
                }
            }
        }
        set
    }

    /// A run may stay in the set for ever, or end there.
    fn may_stay(&self, set: &BTreeSet<usize>) -> bool {
        let mut kept = set.clone();
        loop {
            let before = kept.len();
            let stays = |state: &usize| {
                self.next[*state].is_empty() || self.next[*state].iter().any(|next| kept.contains(next))
            };
            kept = kept.iter().copied().filter(stays).collect();
            if kept.len() == before {
                return before > 0;
            }
        }
    }
}

fn is_transient(interpreter: &Interpreter<'_>, state: &State) -> bool {
    // One who holds control and cannot move loses it.
    let control = |id: u32| {
        interpreter.enabled(state).iter().any(|taken| match taken {
            ample_model::Move::Process { process, .. } => *process == id,
            ample_model::Move::Handshake { sender, receiver } => sender.0 == id || receiver.0 == id,
            _ => false,
        })
    };
    state.control.is_some_and(control)
}

/// Numbers for values: the same for equal ones.
fn numbered<T: Eq + std::hash::Hash>(values: &[T]) -> Vec<usize> {
    let mut numbers: HashMap<&T, usize> = HashMap::new();
    values
        .iter()
        .map(|value| {
            let fresh = numbers.len();
            *numbers.entry(value).or_insert(fresh)
        })
        .collect()
}

/// The classes that can be entered from a state without leaving its own before, and whether a run may stay in its own.
fn signature(next: &[Vec<usize>], class: &[usize], state: usize) -> (BTreeSet<usize>, bool) {
    let mut inside = BTreeSet::from([state]);
    let mut waiting = vec![state];
    let mut entered = BTreeSet::new();
    while let Some(at) = waiting.pop() {
        for to in &next[at] {
            if class[*to] != class[state] {
                entered.insert(class[*to]);
            } else if inside.insert(*to) {
                waiting.push(*to);
            }
        }
    }
    let mut kept = inside;
    loop {
        let before = kept.len();
        let stays = |at: &usize| next[*at].is_empty() || next[*at].iter().any(|to| kept.contains(to));
        kept = kept.iter().copied().filter(stays).collect();
        if kept.len() == before {
            return (entered, before > 0);
        }
    }
}
