//! State graphs: the instances of a state, and what their variables refer to (§4.1.3 and 4.1.4 of the thesis).
//!
//! A state has an instance of the global type, instances of process types, and what can be reached from them by edges: the
//! values of variables, and function instances by the edges `*` of the call stacks. There are no addresses: states that
//! differ in nothing but the numbers of their instances are the same state, and what cannot be reached is not part of it.
//! States of a [`SoftwareModel`](super::SoftwareModel) are kept [normalised](SoftwareState::normalise), so that the same
//! state is always the same value.

use std::collections::BTreeSet;
use std::fmt::Write;

use thiserror::Error;

use super::flow::Location;
use super::types::{CALL, TypeGraph, TypeId, VariableId};

/// An instance in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub(super) u32);

impl Node {
    /// The instance of the global type.
    pub const GLOBAL: Node = Node(0);

    /// The number of the instance in its state.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// An instance: its type and its internal data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Instance {
    pub(super) of: TypeId,
    /// Of a process.
    pub(super) pid: u32,
    /// Of a process or a function.
    pub(super) location: Location,
    /// Of a process: nobody else moves as long as it can.
    pub(super) is_atomic: bool,
    /// Of data.
    pub(super) word: u64,
    /// It is not there any more.
    pub(super) is_removed: bool,
    /// Where its edges begin.
    pub(super) edges: u32,
}

impl Instance {
    /// Its type.
    pub fn of(&self) -> TypeId {
        self.of
    }

    /// The identifier of a process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The program counter of a process or a function.
    pub fn location(&self) -> Location {
        self.location
    }

    /// The value of a data instance.
    pub fn word(&self) -> u64 {
        self.word
    }
}

/// A state of a software model: a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SoftwareState {
    pub(super) instances: Vec<Instance>,
    /// For each instance its variables, then its call if its type has calls: 0, or 1 more than the number of an instance.
    pub(super) edges: Vec<u32>,
}

/// Where a state breaks the typing condition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypingError {
    /// An edge of the state has no edge in the type graph.
    #[error("an edge `{label}` from `{from}` to `{to}` is not in the type graph")]
    Edge {
        /// The type of its source.
        from: String,
        /// Its label.
        label: String,
        /// The type of its target.
        to: String,
    },
    /// A variable that has an instance of its own has none.
    #[error("the variable `{0}` has no value")]
    NoValue(String),
    /// The instance of a variable is referred to by another edge too.
    #[error("the instance of the variable `{0}` is shared")]
    Shared(String),
    /// A function instance is called more than once, or by nobody.
    #[error("an instance of the function `{0}` is not on exactly one call stack")]
    Stack(String),
    /// A value does not fit its type.
    #[error("{word} is no value of type `{of}`")]
    Value {
        /// The value.
        word: u64,
        /// The type.
        of: String,
    },
}

impl SoftwareState {
    /// A state with the global instance, and the instances of its variables. The types must be those of a model, since
    /// one that contains itself has no end.
    pub fn new(types: &TypeGraph) -> SoftwareState {
        let mut state = SoftwareState::default();
        state.create(types, TypeId::GLOBAL);
        state
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Are there none? Then it is no state, but the place for one.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// An instance.
    pub fn get(&self, node: Node) -> &Instance {
        &self.instances[node.number()]
    }

    /// All instances.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.instances.len() as u32).map(Node)
    }

    /// The processes in the order of their identifiers.
    pub fn processes(&self, types: &TypeGraph) -> Vec<Node> {
        let mut processes: Vec<Node> = self.nodes().filter(|node| self.is_process(types, *node)).collect();
        processes.sort_by_key(|node| self.get(*node).pid);
        processes
    }

    pub(super) fn is_process(&self, types: &TypeGraph, node: Node) -> bool {
        let instance = self.get(node);
        !instance.is_removed && types.is_process(instance.of)
    }

    /// Adds an instance, with instances for those of its variables that have their own. What refers to it has to be set
    /// then, unless it is a process.
    pub fn create(&mut self, types: &TypeGraph, of: TypeId) -> Node {
        let node = Node(self.instances.len() as u32);
        let word = types.data_type(of).map_or(0, |data| data.initial());
        self.instances.push(Instance { of, word, edges: self.edges.len() as u32, ..Instance::default() });
        self.edges.resize(self.edges.len() + types.get(of).slots(), 0);
        for slot in 0..types.get(of).variables.len() {
            let variable = types.get_variable(types.get(of).variables[slot]);
            if !variable.is_reference {
                let value = self.create(types, variable.data);
                self.set_edge(node, slot, Some(value));
            }
        }
        node
    }

    /// Adds a process.
    pub fn create_process(&mut self, types: &TypeGraph, of: TypeId, pid: u32) -> Node {
        let node = self.create(types, of);
        self.instances[node.number()].pid = pid;
        node
    }

    /// The smallest identifier that no process has, among those of that many bits.
    pub(super) fn free_pid(&self, types: &TypeGraph, bits: u32) -> Option<u32> {
        let used: BTreeSet<u32> = self.processes(types).into_iter().map(|node| self.get(node).pid).collect();
        (0..=u32::MAX).take_while(|pid| bits >= 32 || pid >> bits == 0).find(|pid| !used.contains(pid))
    }

    pub(super) fn edge(&self, node: Node, slot: usize) -> Option<Node> {
        self.edges[self.get(node).edges as usize + slot].checked_sub(1).map(Node)
    }

    pub(super) fn set_edge(&mut self, node: Node, slot: usize, to: Option<Node>) {
        let first = self.get(node).edges as usize;
        self.edges[first + slot] = to.map_or(0, |to| to.0 + 1);
    }

    /// What a variable of an instance refers to.
    pub fn value(&self, types: &TypeGraph, node: Node, variable: VariableId) -> Option<Node> {
        self.edge(node, types.get_variable(variable).slot as usize)
    }

    /// Lets a variable of an instance refer to an instance, or to none.
    pub fn set_value(&mut self, types: &TypeGraph, node: Node, variable: VariableId, to: Option<Node>) {
        self.set_edge(node, types.get_variable(variable).slot as usize, to);
    }

    /// Sets the value of a data instance.
    pub fn set_word(&mut self, node: Node, word: u64) {
        self.instances[node.number()].word = word;
    }

    /// Sets the program counter of a process or a function.
    pub fn set_location(&mut self, node: Node, location: Location) {
        self.instances[node.number()].location = location;
    }

    /// The function that a process or a function has called and that has not returned.
    pub fn callee(&self, types: &TypeGraph, node: Node) -> Option<Node> {
        let of = types.get(self.get(node).of);
        if of.calls.is_empty() { None } else { self.edge(node, of.variables.len()) }
    }

    pub(super) fn set_callee(&mut self, types: &TypeGraph, node: Node, callee: Option<Node>) {
        let slot = types.get(self.get(node).of).variables.len();
        self.set_edge(node, slot, callee);
    }

    /// Calls a function: a new instance on top of the call stack of that process or function, which must be the top.
    pub fn call(&mut self, types: &TypeGraph, caller: Node, function: TypeId) -> Node {
        let callee = self.create(types, function);
        self.set_callee(types, caller, Some(callee));
        callee
    }

    /// The top of the call stack of a process: the process itself if it has called no function.
    pub fn top(&self, types: &TypeGraph, process: Node) -> Node {
        std::iter::successors(Some(process), |node| self.callee(types, *node)).last().unwrap_or(process)
    }

    /// The instances from the global one and the processes, in that order, in the order in which they are referred to
    /// (Alg. 4.2). With `inlined`, the instances that variables have of their own are left out.
    pub(super) fn linear(&self, types: &TypeGraph, processes: &[Node], inlined: bool, into: &mut Order) {
        into.nodes.clear();
        into.rows.clear();
        into.rows.resize(self.instances.len(), 0);
        into.add(Node::GLOBAL);
        processes.iter().for_each(|process| into.add(*process));
        let mut row = 0;
        while let Some(node) = into.nodes.get(row).copied() {
            self.targets(types, node, inlined, into);
            row += 1;
        }
    }

    fn targets(&self, types: &TypeGraph, node: Node, inlined: bool, into: &mut Order) {
        let of = types.get(self.get(node).of);
        for slot in 0..of.slots() {
            let Some(to) = self.edge(node, slot) else { continue };
            let is_part = slot < of.variables.len() && !types.get_variable(of.variables[slot]).is_reference;
            if inlined && is_part {
                self.targets(types, to, inlined, into);
            } else {
                into.add(to);
            }
        }
    }

    /// Numbers the instances in the order in which they are referred to, beginning with the global one and the
    /// processes; those that cannot be reached are gone.
    pub fn normalise(&mut self, types: &TypeGraph) {
        let processes = self.processes(types);
        self.rearrange(types, &processes, &mut Order::default(), &mut SoftwareState::default());
    }

    /// Puts the processes into that order, and normalises the rest. The scratch memory is used again.
    pub(super) fn rearrange(
        &mut self,
        types: &TypeGraph,
        processes: &[Node],
        order: &mut Order,
        scratch: &mut SoftwareState,
    ) {
        self.linear(types, processes, false, order);
        scratch.instances.clear();
        scratch.edges.clear();
        for node in &order.nodes {
            let instance = self.get(*node);
            let edges = scratch.edges.len() as u32;
            scratch.instances.push(Instance { edges, ..*instance });
            let from = instance.edges as usize;
            let edges = &self.edges[from..from + types.get(instance.of).slots()];
            let row = |edge: &u32| if *edge == 0 { 0 } else { order.rows[*edge as usize - 1] };
            scratch.edges.extend(edges.iter().map(row));
        }
        std::mem::swap(self, scratch);
    }

    /// The typing condition: each edge has an edge in the type graph, each function instance is on one call stack, and
    /// values fit their types. Also that the instance of a variable without reference is its own.
    pub fn check_types(&self, types: &TypeGraph) -> Result<(), TypingError> {
        let mut referred = vec![0_u32; self.len()];
        self.edges.iter().filter(|edge| **edge > 0).for_each(|edge| referred[*edge as usize - 1] += 1);
        let name = |id: TypeId| types.get(id).name.clone();
        for node in self.nodes().filter(|node| !self.get(*node).is_removed) {
            let instance = self.get(node);
            let of = types.get(instance.of);
            for slot in 0..of.slots() {
                let to = self.edge(node, slot);
                let Some(&id) = of.variables.get(slot) else {
                    let callee = to.map(|to| self.get(to).of);
                    if callee.is_some_and(|callee| !of.calls.contains(&callee)) {
                        let to = callee.map(name).unwrap_or_default();
                        return Err(TypingError::Edge { from: of.name.clone(), label: CALL.to_owned(), to });
                    }
                    continue;
                };
                let variable = types.get_variable(id);
                match to {
                    None if variable.is_reference => {}
                    None => return Err(TypingError::NoValue(variable.name.clone())),
                    Some(to) if self.get(to).of != variable.data => {
                        let (from, label) = (of.name.clone(), variable.name.clone());
                        return Err(TypingError::Edge { from, label, to: name(self.get(to).of) });
                    }
                    Some(to) if !variable.is_reference && referred[to.number()] != 1 => {
                        return Err(TypingError::Shared(variable.name.clone()));
                    }
                    Some(_) => {}
                }
            }
            if types.is_function(instance.of) && referred[node.number()] != 1 {
                return Err(TypingError::Stack(of.name.clone()));
            }
            let bits = types.data_type(instance.of).map_or(0, |data| data.bits());
            if bits < 64 && instance.word >> bits != 0 {
                return Err(TypingError::Value { word: instance.word, of: of.name.clone() });
            }
        }
        Ok(())
    }

    /// The edges that are not null, as the numbers of their sources and targets with their labels.
    pub fn edges(&self, types: &TypeGraph) -> BTreeSet<(usize, String, usize)> {
        let mut edges = BTreeSet::new();
        for node in self.nodes() {
            let of = types.get(self.get(node).of);
            for slot in 0..of.slots() {
                let label = of.variables.get(slot).map_or(CALL, |id| &types.get_variable(*id).name);
                edges.extend(self.edge(node, slot).map(|to| (node.number(), label.to_owned(), to.number())));
            }
        }
        edges
    }

    /// The state as text: the instances, each with its edges.
    pub fn show(&self, types: &TypeGraph) -> String {
        let mut text = String::new();
        for node in self.nodes() {
            let instance = self.get(node);
            let of = types.get(instance.of);
            let _ = write!(text, "{}: {}", node.0 + 1, of.name);
            let _ = match types.data_type(instance.of) {
                Some(data) if data.bits() > 0 => write!(text, " {}", data.show(instance.word)),
                Some(_) => Ok(()),
                None if of.flow().is_none() => Ok(()),
                None if types.is_process(instance.of) => {
                    write!(text, " {} at {}", instance.pid, instance.location)
                }
                None => write!(text, " at {}", instance.location),
            };
            for slot in 0..of.slots() {
                let label = of.variables.get(slot).map_or(CALL, |id| &types.get_variable(*id).name);
                let _ = write!(text, " {label}={}", self.edge(node, slot).map_or(0, |to| to.0 + 1));
            }
            text.push('\n');
        }
        text
    }
}

/// An order of the instances of a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    pub(super) nodes: Vec<Node>,
    /// For each instance 1 more than its position, or 0 if it has none.
    pub(super) rows: Vec<u32>,
}

impl Order {
    fn add(&mut self, node: Node) {
        let row = &mut self.rows[node.number()];
        if *row == 0 {
            self.nodes.push(node);
            *row = self.nodes.len() as u32;
        }
    }
}
