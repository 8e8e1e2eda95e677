//! Linearisation: state graphs as bit vectors (§4.2 of the thesis).
//!
//! The instances of a state are written row by row: the global one, the processes, then all others in the order in which
//! they are referred to. A row has the type, the internal data and the edges of an instance; an edge is the number of the
//! row of its target, or 0. What cannot be reached has no row, and equal graphs give equal vectors, however their
//! instances are numbered.
//!
//! With [inlining](Linearisation::inline) (§4.2.3), an instance that a variable has of its own is written into the row of
//! its owner, without a type, a reference and a row.

use std::sync::Arc;

use thiserror::Error;

use super::model::{SoftwareModel, SoftwareTransition};
use super::state::{Instance, Node, Order, SoftwareState};
use super::types::{TypeGraph, TypeId};
use crate::space::{Checked, StateSpace};
use crate::transform::Projection;

/// A number that does not fit the bits that were reserved for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Overflow {
    /// Too many rows.
    #[error("a state has {rows} instances, and references of {bits} bits cannot refer to all of them")]
    Reference {
        /// How many rows there are.
        rows: usize,
        /// The width of a reference.
        bits: u32,
    },
    /// An identifier of a process is too large.
    #[error("the process identifier {pid} does not fit {bits} bits")]
    Pid {
        /// The identifier.
        pid: u32,
        /// The width of an identifier.
        bits: u32,
    },
}

/// A vector that is not the linearisation of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the bit vector is not a state of the model")]
pub struct Malformed;

/// In which order the processes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProcessOrder {
    /// By their identifiers, which are written.
    #[default]
    Pid,
    /// By their types and locations, and if these are the same by their identifiers, which are not written: states that
    /// differ in nothing but identifiers have few different vectors (§5.4.2, thread symmetry). To decode gives them new
    /// identifiers, from 0 on. Sound only where the identifiers of processes do not matter.
    Control,
}

/// How states are written.
///
/// ```
/// use ample_explicit::software::linear::Linearisation;
/// use ample_explicit::software::data::Integer;
/// use ample_explicit::software::types::{TypeGraph, TypeId};
/// use ample_explicit::software::SoftwareState;
///
/// let mut types = TypeGraph::new();
/// let byte = types.data(Integer::unsigned("byte", 8));
/// types.variable(TypeId::GLOBAL, "x", byte);
/// types.variable(TypeId::GLOBAL, "y", byte);
/// let state = SoftwareState::new(&types);
///
/// // Two types in one bit; two references and two values of 8 bits: 35 bits.
/// let plain = Linearisation::new(types.clone());
/// let vector = plain.encode(&state)?;
/// assert_eq!(vector.len(), 5);
/// assert_eq!(plain.decode(&vector), Ok(state.clone()));
///
/// // One type, and two values.
/// assert_eq!(Linearisation::new(types).inline(true).encode(&state)?.len(), 3);
/// # Ok::<(), ample_explicit::software::linear::Overflow>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linearisation {
    types: Arc<TypeGraph>,
    pid_bits: u32,
    reference_bits: u32,
    inline: bool,
    order: ProcessOrder,
    /// The types that rows can have, in the order of their codes.
    codes: Vec<TypeId>,
    is_atomic: bool,
}

/// The bits that are enough for that many different things.
fn width(count: usize) -> u32 {
    count.max(2).next_power_of_two().trailing_zeros()
}

fn below(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Linearisation {
    /// With process identifiers and references of 8 bits, and without inlining.
    pub fn new(types: impl Into<Arc<TypeGraph>>) -> Linearisation {
        let types = types.into();
        let (codes, is_atomic) = (types.reachable(false), types.is_atomic());
        let (pid_bits, reference_bits) = (8, 8);
        Linearisation { types, pid_bits, reference_bits, inline: false, order: ProcessOrder::Pid, codes, is_atomic }
    }

    /// Sets the width of process identifiers.
    pub fn pid_bits(mut self, bits: u32) -> Self {
        self.pid_bits = bits.min(32);
        self
    }

    /// Sets the width of references.
    pub fn reference_bits(mut self, bits: u32) -> Self {
        self.reference_bits = bits.clamp(1, 32);
        self
    }

    /// Whether the instances that variables have of their own are written into the rows of their owners.
    pub fn inline(mut self, inline: bool) -> Self {
        self.inline = inline;
        self.codes = self.types.reachable(inline);
        self
    }

    /// Sets the order of the processes.
    pub fn process_order(mut self, order: ProcessOrder) -> Self {
        self.order = order;
        self
    }

    /// The types.
    pub fn types(&self) -> &TypeGraph {
        &self.types
    }

    /// How many bits the type of a row takes.
    pub fn type_bits(&self) -> u32 {
        width(self.codes.len())
    }

    /// The processes of a state in the order in which they are written.
    fn processes(&self, state: &SoftwareState) -> Vec<Node> {
        let mut processes = state.processes(&self.types);
        if self.order == ProcessOrder::Control {
            processes.sort_by_key(|node| {
                let instance = state.get(*node);
                (instance.of, instance.location, instance.pid)
            });
        }
        processes
    }

    /// The rows of a state: for each its type, and the rows that it refers to, 0 where there is none.
    pub fn rows(&self, state: &SoftwareState) -> Vec<(TypeId, Vec<u32>)> {
        let mut order = Order::default();
        state.linear(&self.types, &self.processes(state), self.inline, &mut order);
        let row = |node: &Node| {
            let mut edges = Vec::new();
            self.references(state, *node, &mut |to| edges.push(to.map_or(0, |to| order.rows[to.number()])));
            (state.get(*node).of, edges)
        };
        order.nodes.iter().map(row).collect()
    }

    /// The references of a row, in their order: those of inlined instances first.
    fn references(&self, state: &SoftwareState, node: Node, then: &mut impl FnMut(Option<Node>)) {
        let of = self.types.get(state.get(node).of);
        for slot in 0..of.slots() {
            let to = state.edge(node, slot);
            match to {
                Some(to) if self.is_inlined(of.variables.get(slot)) => self.references(state, to, then),
                _ => then(to),
            }
        }
    }

    fn is_inlined(&self, variable: Option<&super::types::VariableId>) -> bool {
        self.inline && variable.is_some_and(|id| !self.types.get_variable(*id).is_reference)
    }

    /// How many bits the internal data of an instance take, without its identifier.
    fn location_bits(&self, of: TypeId) -> u32 {
        self.types.get(of).flow().map_or(0, |flow| width(flow.len()))
    }

    /// The vector of a state.
    pub fn encode(&self, state: &SoftwareState) -> Result<Vec<u8>, Overflow> {
        let mut out = Vec::new();
        self.encode_into(state, &mut Order::default(), &mut out)?;
        Ok(out)
    }

    /// How many bits the vector of a state has.
    pub fn bits(&self, state: &SoftwareState) -> Result<usize, Overflow> {
        let mut out = Vec::new();
        self.encode_into(state, &mut Order::default(), &mut out)
    }

    fn encode_into(&self, state: &SoftwareState, order: &mut Order, out: &mut Vec<u8>) -> Result<usize, Overflow> {
        self.encode_in_order(state, &self.processes(state), order, out)
    }

    fn encode_in_order(
        &self,
        state: &SoftwareState,
        processes: &[Node],
        order: &mut Order,
        out: &mut Vec<u8>,
    ) -> Result<usize, Overflow> {
        state.linear(&self.types, processes, self.inline, order);
        if order.nodes.len() as u64 > below(self.reference_bits) {
            return Err(Overflow::Reference { rows: order.nodes.len(), bits: self.reference_bits });
        }
        out.clear();
        let mut writer = Writer { out, bits: 0 };
        for node in &order.nodes {
            let of = state.get(*node).of;
            // Only types in the graph that states are made of have instances in rows.
            let code = self.codes.binary_search(&of).unwrap_or(0);
            writer.write(code as u64, self.type_bits());
            self.encode_instance(state, *node, &mut writer)?;
            self.references(state, *node, &mut |to| {
                let row = to.map_or(0, |to| order.rows[to.number()]);
                writer.write(row.into(), self.reference_bits);
            });
        }
        Ok(writer.bits)
    }

    /// The internal data of an instance, and of those that are inlined.
    fn encode_instance(&self, state: &SoftwareState, node: Node, writer: &mut Writer<'_>) -> Result<(), Overflow> {
        let instance = state.get(node);
        if self.types.is_process(instance.of) {
            if self.order == ProcessOrder::Pid {
                if u64::from(instance.pid) > below(self.pid_bits) {
                    return Err(Overflow::Pid { pid: instance.pid, bits: self.pid_bits });
                }
                writer.write(instance.pid.into(), self.pid_bits);
            }
            writer.write(instance.is_atomic.into(), self.is_atomic.into());
        }
        writer.write(instance.location.into(), self.location_bits(instance.of));
        writer.write(instance.word, self.types.data_type(instance.of).map_or(0, |data| data.bits()));
        let of = self.types.get(instance.of);
        for slot in 0..of.slots() {
            if let Some(to) = state.edge(node, slot)
                && self.is_inlined(of.variables.get(slot))
            {
                self.encode_instance(state, to, writer)?;
            }
        }
        Ok(())
    }

    /// The state of a vector.
    pub fn decode(&self, vector: &[u8]) -> Result<SoftwareState, Malformed> {
        let mut out = SoftwareState::default();
        self.decode_into(vector, &mut out, &mut SoftwareState::default(), &mut Order::default())?;
        out.check_types(&self.types).map_err(|_| Malformed)?;
        Ok(out)
    }

    fn decode_into(
        &self,
        vector: &[u8],
        out: &mut SoftwareState,
        scratch: &mut SoftwareState,
        order: &mut Order,
    ) -> Result<(), Malformed> {
        out.instances.clear();
        out.edges.clear();
        let mut reader = Reader { vector, position: 0 };
        let mut rows = Vec::new();
        // References are kept as rows until all rows are known.
        let mut references = Vec::new();
        let mut processes = 0;
        loop {
            // Nothing but the first row has the global type, and the bits at the end are zero.
            let code = match reader.read(self.type_bits()) {
                None | Some(0) if !rows.is_empty() => break,
                code => code.ok_or(Malformed)?,
            };
            let of = *self.codes.get(code as usize).ok_or(Malformed)?;
            rows.push(self.decode_instance(of, processes, &mut reader, out, &mut references)?);
            processes += u32::from(self.types.is_process(of));
            for (_, _, row) in references.iter_mut().filter(|(_, _, row)| row.is_none()) {
                *row = Some(reader.read(self.reference_bits).ok_or(Malformed)? as u32);
            }
        }
        for (node, slot, row) in references {
            let target = match row {
                Some(0) | None => None,
                Some(row) => Some(*rows.get(row as usize - 1).ok_or(Malformed)?),
            };
            out.set_edge(node, slot, target);
        }
        let processes = out.processes(&self.types);
        out.rearrange(&self.types, &processes, order, scratch);
        Ok(())
    }

    /// An instance with those that are inlined; its references, in their order, are still to be read.
    fn decode_instance(
        &self,
        of: TypeId,
        number: u32,
        reader: &mut Reader<'_>,
        out: &mut SoftwareState,
        references: &mut Vec<(Node, usize, Option<u32>)>,
    ) -> Result<Node, Malformed> {
        let mut instance = Instance { of, edges: out.edges.len() as u32, ..Instance::default() };
        if self.types.is_process(of) {
            instance.pid = match self.order {
                ProcessOrder::Pid => reader.read(self.pid_bits).ok_or(Malformed)? as u32,
                ProcessOrder::Control => number,
            };
            instance.is_atomic = reader.read(self.is_atomic.into()).ok_or(Malformed)? != 0;
        }
        instance.location = reader.read(self.location_bits(of)).ok_or(Malformed)? as u32;
        let bits = self.types.data_type(of).map_or(0, |data| data.bits());
        instance.word = reader.read(bits).ok_or(Malformed)?;
        let node = Node(out.instances.len() as u32);
        out.instances.push(instance);
        let of = self.types.get(of);
        out.edges.resize(out.edges.len() + of.slots(), 0);
        for slot in 0..of.slots() {
            if self.is_inlined(of.variables.get(slot)) {
                let data = self.types.get_variable(of.variables[slot]).data;
                let part = self.decode_instance(data, number, reader, out, references)?;
                out.set_edge(node, slot, Some(part));
            } else {
                references.push((node, slot, None));
            }
        }
        Ok(node)
    }

    /// The representative that a state has by [`ProcessOrder::Control`]: the processes of each type exchange their
    /// identifiers so that they are in the order of their locations. States with one representative are symmetric;
    /// symmetric states may have several. To use it is sound where identifiers do not matter, which they do if processes
    /// of a type with several instances can end: only the one with the largest identifier can.
    pub fn representative(&self, state: &SoftwareState, out: &mut SoftwareState) {
        let sorted = self.clone().process_order(ProcessOrder::Control);
        out.clone_from(state);
        renumber(&self.types, &sorted.processes(state), out);
    }

    /// The canonical representative of a state: of all orders of processes of the same type that with the smallest
    /// vector. All symmetric states have the same one, but all permutations are tried for it. It is sound where
    /// [`representative`](Linearisation::representative) is.
    pub fn canonical(&self, state: &SoftwareState, out: &mut SoftwareState) -> Result<(), Overflow> {
        let sorted = self.clone().process_order(ProcessOrder::Control);
        let mut processes = state.processes(&self.types);
        processes.sort_by_key(|node| (state.get(*node).of, state.get(*node).pid));
        let mut best: Option<(Vec<u8>, Vec<Node>)> = None;
        let (mut order, mut vector) = (Order::default(), Vec::new());
        permutations(&mut processes, 0, &|one, other| state.get(one).of == state.get(other).of, &mut |permuted| {
            sorted.encode_in_order(state, permuted, &mut order, &mut vector)?;
            if best.as_ref().is_none_or(|(least, _)| vector < *least) {
                best = Some((vector.clone(), permuted.to_vec()));
            }
            Ok(())
        })?;
        out.clone_from(state);
        if let Some((_, processes)) = best {
            renumber(&self.types, &processes, out);
        }
        Ok(())
    }
}

/// Gives the processes of each type their identifiers in that order, where those of a type follow each other.
fn renumber(types: &TypeGraph, processes: &[Node], out: &mut SoftwareState) {
    let types_of: Vec<TypeId> = processes.iter().map(|node| out.get(*node).of).collect();
    let mut rest = processes;
    for group in types_of.chunk_by(|one, other| one == other) {
        let (same, others) = rest.split_at(group.len());
        let mut pids: Vec<u32> = same.iter().map(|node| out.get(*node).pid).collect();
        pids.sort_unstable();
        for (node, pid) in same.iter().zip(pids) {
            out.instances[node.number()].pid = pid;
        }
        rest = others;
    }
    out.normalise(types);
}

/// Calls `then` with all permutations in which only nodes that may be exchanged have changed places.
fn permutations<E>(
    nodes: &mut [Node],
    from: usize,
    may: &impl Fn(Node, Node) -> bool,
    then: &mut impl FnMut(&[Node]) -> Result<(), E>,
) -> Result<(), E> {
    if from == nodes.len() {
        return then(nodes);
    }
    for other in from..nodes.len() {
        if may(nodes[from], nodes[other]) {
            nodes.swap(from, other);
            permutations(nodes, from + 1, may, then)?;
            nodes.swap(from, other);
        }
    }
    Ok(())
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    bits: usize,
}

impl Writer<'_> {
    fn write(&mut self, word: u64, bits: u32) {
        for bit in 0..bits {
            if self.bits.is_multiple_of(8) {
                self.out.push(0);
            }
            if let Some(byte) = self.out.last_mut() {
                *byte |= ((word >> bit & 1) as u8) << (self.bits % 8);
            }
            self.bits += 1;
        }
    }
}

struct Reader<'a> {
    vector: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    fn read(&mut self, bits: u32) -> Option<u64> {
        let mut word = 0;
        for bit in 0..bits {
            let byte = self.vector.get(self.position / 8)?;
            word |= u64::from(byte >> (self.position % 8) & 1) << bit;
            self.position += 1;
        }
        Some(word)
    }
}

/// A software model whose states are bit vectors: a transformation.
///
/// Its transitions are those of the model. A state that does not fit the widths of the
/// [linearisation](Linearisation) is a [fault](Checked::is_dead) with a message, so that a [check](crate::check) reports
/// it; a search that does not ask for faults finds a state without transitions there, and
/// [`overflow`](BitvectorModel::overflow) tells of it afterwards.
///
/// ```
/// # use std::sync::Arc;
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Always, Handlers, Insert};
/// use ample_explicit::software::{BitvectorModel, SoftwareModel};
/// use ample_explicit::store::{FlatStore, Parent, Store};
/// # use ample_explicit::software::data::Integer;
/// # use ample_explicit::software::expression::{Arithmetic, Literal, NumericalExpression, Value};
/// # use ample_explicit::software::flow::Code;
/// # use ample_explicit::software::statement::Assign;
/// # use ample_explicit::software::types::{TypeGraph, TypeId};
/// # let mut types = TypeGraph::new();
/// # let byte = types.data(Integer::unsigned("byte", 8));
/// # types.variable(TypeId::GLOBAL, "x", byte);
/// # let process = types.process("P");
/// # let x = types.place(process, "x")?;
/// # let sum = NumericalExpression(Arc::new(Value(x.clone())), Arithmetic::Add, Arc::new(Literal::Number(1)));
/// # types.set_body(process, &[Code::Loop(vec![vec![Code::step(Assign(x, Arc::new(sum)))]])]);
///
/// // byte x; active proctype P() { do :: x = x + 1 od }
/// let model = SoftwareModel::new(types, &[process])?;
/// let mut vectors = BitvectorModel::new(model);
/// let mut store: FlatStore<Parent> = FlatStore::default();
/// breadth_first(&mut vectors, &mut store, &mut Handlers::new().on_explore(Always, Insert));
/// assert_eq!(vectors.overflow(), None);
/// assert_eq!(store.len(), 256);
/// # Ok::<(), ample_explicit::software::expression::TypeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BitvectorModel {
    model: SoftwareModel,
    linearisation: Linearisation,
    /// The vector that was decoded last, and its state.
    vector: Vec<u8>,
    decoded: SoftwareState,
    target: SoftwareState,
    scratch: SoftwareState,
    order: Order,
    /// The last call did not fit.
    failed: Option<Overflow>,
    overflow: Option<Overflow>,
}

impl BitvectorModel {
    /// The model with the default widths: identifiers as wide as those of the model, references of 8 bits.
    pub fn new(model: SoftwareModel) -> BitvectorModel {
        let linearisation = Linearisation::new(Arc::clone(model.shared_types())).pid_bits(model.pid_bits());
        BitvectorModel::with(model, linearisation)
    }

    /// The model with a linearisation that was made for its types.
    pub fn with(model: SoftwareModel, linearisation: Linearisation) -> BitvectorModel {
        BitvectorModel {
            model,
            linearisation,
            vector: Vec::new(),
            decoded: SoftwareState::default(),
            target: SoftwareState::default(),
            scratch: SoftwareState::default(),
            order: Order::default(),
            failed: None,
            overflow: None,
        }
    }

    /// The same model with the inlined linearisation, or without.
    pub fn inline(mut self, inline: bool) -> Self {
        self.linearisation = self.linearisation.inline(inline);
        self
    }

    /// Sets the width of references.
    pub fn reference_bits(mut self, bits: u32) -> Self {
        self.linearisation = self.linearisation.reference_bits(bits);
        self
    }

    /// How states are written.
    pub fn linearisation(&self) -> &Linearisation {
        &self.linearisation
    }

    /// The model.
    pub fn model(&self) -> &SoftwareModel {
        &self.model
    }

    /// Whether some state did not fit so far.
    pub fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    /// Decodes a state, unless it is the one that was decoded last. False for what stands for a state that did not fit.
    fn load(&mut self, vector: &[u8]) -> bool {
        if self.vector == vector && !self.decoded.is_empty() {
            return true;
        }
        let decoded = &mut self.decoded;
        let result = self.linearisation.decode_into(vector, decoded, &mut self.scratch, &mut self.order);
        if result.is_err() {
            self.decoded = SoftwareState::default();
            return false;
        }
        self.vector.clear();
        self.vector.extend_from_slice(vector);
        true
    }

    fn store_target(&mut self, out: &mut Vec<u8>) {
        let result = self.linearisation.encode_into(&self.target, &mut self.order, out);
        self.failed = result.err();
        if self.failed.is_some() {
            out.clear();
            self.overflow = self.overflow.or(self.failed);
        }
    }
}

impl StateSpace for BitvectorModel {
    type State = [u8];
    type Transition = SoftwareTransition;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        let there = self.model.initial(index, &mut self.target);
        if there {
            self.store_target(out);
        }
        there
    }

    fn first(&mut self, state: &[u8]) -> Option<SoftwareTransition> {
        if self.load(state) { self.model.first(&self.decoded) } else { None }
    }

    fn next(&mut self, state: &[u8], transition: &SoftwareTransition) -> Option<SoftwareTransition> {
        if self.load(state) { self.model.next(&self.decoded, transition) } else { None }
    }

    fn target(&mut self, state: &[u8], transition: &SoftwareTransition, out: &mut Vec<u8>) {
        if self.load(state) {
            self.model.target(&self.decoded, transition, &mut self.target);
            self.store_target(out);
        }
    }
}

impl Checked for BitvectorModel {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.load(state) && self.model.is_valid_end(&self.decoded)
    }

    fn violation(&self) -> Option<String> {
        self.failed.as_ref().map(Overflow::to_string).or_else(|| self.model.violation())
    }

    fn is_dead(&self) -> bool {
        self.failed.is_some() || self.model.is_dead()
    }

    fn is_transient(&self, _: &[u8]) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.load(state) && self.model.invariant(number, &self.decoded)
    }
}

impl crate::liveness::Concurrent for BitvectorModel {
    fn mover(&self, transition: &SoftwareTransition) -> Option<u32> {
        self.model.mover(transition)
    }

    fn participants(&self) -> crate::liveness::Processes {
        self.model.participants()
    }

    fn note_participants(&mut self) {
        self.model.note_participants();
    }

    fn actions(&mut self, state: &[u8], transition: &SoftwareTransition) -> Vec<ample_model::Move> {
        if self.load(state) { self.model.actions(&self.decoded, transition) } else { Vec::new() }
    }
}

impl crate::partial::Partial for BitvectorModel {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<crate::partial::Labelled<SoftwareTransition>>) {
        if self.load(state) {
            self.model.enabled(&self.decoded, out);
        }
    }

    fn persistent(
        &mut self,
        state: &[u8],
        enabled: &[crate::partial::Labelled<SoftwareTransition>],
        out: &mut Vec<u32>,
    ) {
        if self.load(state) {
            self.model.persistent(&self.decoded, enabled, out);
        }
    }

    fn persistent_with(
        &mut self,
        state: &[u8],
        enabled: &[crate::partial::Labelled<SoftwareTransition>],
        member: u32,
        out: &mut Vec<u32>,
    ) {
        if self.load(state) {
            self.model.persistent_with(&self.decoded, enabled, member, out);
        }
    }

    fn independent(&mut self, state: &[u8], one: crate::partial::Label, other: crate::partial::Label) -> bool {
        self.load(state) && self.model.independent(&self.decoded, one, other)
    }
}

/// From the vectors of a [`BitvectorModel`] back to the states of its [`SoftwareModel`].
#[derive(Clone, Debug)]
pub struct Decoded(Linearisation);

impl Decoded {
    /// By the linearisation of that model.
    pub fn of(model: &BitvectorModel) -> Decoded {
        Decoded(model.linearisation.clone())
    }
}

impl Projection<BitvectorModel, SoftwareModel> for Decoded {
    /// What is no vector of a state is an empty state.
    fn state<R>(&self, state: &[u8], then: impl FnOnce(&SoftwareState) -> R) -> R {
        then(&self.0.decode(state).unwrap_or_default())
    }

    fn transition(&self, transition: &SoftwareTransition) -> Option<SoftwareTransition> {
        Some(*transition)
    }
}
