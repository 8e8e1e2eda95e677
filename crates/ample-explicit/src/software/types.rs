//! Type graphs: what instances of what types a state may consist of (§4.1.1 and 4.1.2 of the thesis).
//!
//! The nodes of a type graph are the global type, the process types, the function types and the data types; its edges
//! are the variables, each from the type it is declared in to the type of its values, and the calls of functions, which
//! are labelled `*`. There is one type graph for a model, and it is a type graph of each of its states.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::data::{DataType, Record};
use super::expression::TypeError;
use super::flow::{Code, ControlFlow};

/// A type in a [`TypeGraph`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub(super) u32);

impl TypeId {
    /// The global type, of which every state has one instance.
    pub const GLOBAL: TypeId = TypeId(0);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable in a [`TypeGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub(super) u32);

/// The label of the edges that are calls.
pub const CALL: &str = "*";

/// What a type is a type of.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The one instance that global variables belong to.
    Global,
    /// Processes, with their control flow.
    Process(ControlFlow),
    /// Functions, with their control flow.
    Function(ControlFlow),
    /// Data.
    Data(Arc<dyn DataType>),
}

/// A node of a type graph.
#[derive(Clone, Debug)]
pub struct Type {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// In the order of their names.
    pub(super) variables: Vec<VariableId>,
    pub(super) parameters: Vec<VariableId>,
    pub(super) calls: BTreeSet<TypeId>,
}

impl Type {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is a type of.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The variables that are declared in it, in the order of their names.
    pub fn variables(&self) -> &[VariableId] {
        &self.variables
    }

    /// The variables that are set when an instance is created.
    pub fn parameters(&self) -> &[VariableId] {
        &self.parameters
    }

    /// The control flow of a process type or a function type.
    pub fn flow(&self) -> Option<&ControlFlow> {
        match &self.kind {
            Kind::Process(flow) | Kind::Function(flow) => Some(flow),
            Kind::Global | Kind::Data(_) => None,
        }
    }

    /// How many edges leave an instance at most: its variables, and the call if it can call functions.
    pub(super) fn slots(&self) -> usize {
        self.variables.len() + usize::from(!self.calls.is_empty())
    }
}

/// A variable: a label of a type graph.
#[derive(Clone, Debug)]
pub struct Variable {
    pub(super) name: String,
    pub(super) scope: TypeId,
    pub(super) data: TypeId,
    pub(super) is_reference: bool,
    /// Its position among the variables of its scope.
    pub(super) slot: u32,
}

impl Variable {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type it is declared in.
    pub fn scope(&self) -> TypeId {
        self.scope
    }

    /// The type of its values.
    pub fn data(&self) -> TypeId {
        self.data
    }

    /// Does it refer to an instance that others may refer to as well, or to none? Else the instance is its own: it is
    /// there as long as the variable is, and nothing else refers to it.
    pub fn is_reference(&self) -> bool {
        self.is_reference
    }
}

/// The types and variables of a model.
///
/// Types and variables are declared first, then the bodies of processes and functions are set, which may refer to all of
/// them.
///
/// ```
/// use ample_explicit::software::data::Boolean;
/// use ample_explicit::software::types::{TypeGraph, TypeId};
///
/// let mut types = TypeGraph::new();
/// let boolean = types.data(Boolean);
/// let fork = types.record("Fork");
/// types.variable(fork, "value", boolean);
/// types.reference(TypeId::GLOBAL, "spare", fork);
/// let edges = types.edges();
/// assert!(edges.contains(&("Fork".into(), "value".into(), "Boolean".into())));
/// assert!(edges.contains(&("global".into(), "spare".into(), "Fork".into())));
/// ```
#[derive(Clone, Debug)]
pub struct TypeGraph {
    pub(super) types: Vec<Type>,
    pub(super) variables: Vec<Variable>,
}

impl Default for TypeGraph {
    fn default() -> Self {
        TypeGraph::new()
    }
}

impl TypeGraph {
    /// The graph with nothing but the global type.
    pub fn new() -> TypeGraph {
        let mut types = TypeGraph { types: Vec::new(), variables: Vec::new() };
        types.add("global".to_owned(), Kind::Global);
        types
    }

    fn add(&mut self, name: String, kind: Kind) -> TypeId {
        let id = TypeId(self.types.len() as u32);
        let (variables, parameters, calls) = (Vec::new(), Vec::new(), BTreeSet::new());
        self.types.push(Type { name, kind, variables, parameters, calls });
        id
    }

    /// Adds a data type.
    pub fn data(&mut self, data: impl DataType + 'static) -> TypeId {
        self.add(data.name().to_owned(), Kind::Data(Arc::new(data)))
    }

    /// Adds a composite data type.
    pub fn record(&mut self, name: &str) -> TypeId {
        self.data(Record(name.to_owned()))
    }

    /// Adds a process type, whose body is empty until [`set_body`](TypeGraph::set_body).
    pub fn process(&mut self, name: &str) -> TypeId {
        self.add(name.to_owned(), Kind::Process(ControlFlow::of_process(&[])))
    }

    /// Adds a function type, whose body is empty until [`set_body`](TypeGraph::set_body).
    pub fn function(&mut self, name: &str) -> TypeId {
        self.add(name.to_owned(), Kind::Function(ControlFlow::of_function(&[])))
    }

    /// Declares a variable with an instance of its own. Parameters of processes and functions are declared like all
    /// other variables, and then named by [`set_parameters`](TypeGraph::set_parameters).
    pub fn variable(&mut self, scope: TypeId, name: &str, data: TypeId) -> VariableId {
        self.declare(scope, name, data, false)
    }

    /// Declares a variable that refers to an instance or to none.
    pub fn reference(&mut self, scope: TypeId, name: &str, data: TypeId) -> VariableId {
        self.declare(scope, name, data, true)
    }

    fn declare(&mut self, scope: TypeId, name: &str, data: TypeId, is_reference: bool) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(Variable { name: name.to_owned(), scope, data, is_reference, slot: 0 });
        let TypeGraph { types, variables } = self;
        let within = &mut types[scope.index()].variables;
        within.push(id);
        within.sort_by(|one, other| variables[one.0 as usize].name.cmp(&variables[other.0 as usize].name));
        for (slot, variable) in within.iter().enumerate() {
            variables[variable.0 as usize].slot = slot as u32;
        }
        id
    }

    /// Which variables are parameters, in their order.
    pub fn set_parameters(&mut self, scope: TypeId, parameters: &[VariableId]) {
        self.types[scope.index()].parameters = parameters.to_vec();
    }

    /// Sets the body of a process type or a function type.
    ///
    /// # Panics
    /// If the type is neither.
    pub fn set_body(&mut self, scope: TypeId, body: &[Code]) {
        let flow = match &self.types[scope.index()].kind {
            Kind::Process(_) => ControlFlow::of_process(body),
            Kind::Function(_) => ControlFlow::of_function(body),
            Kind::Global | Kind::Data(_) => panic!("only processes and functions have a body"),
        };
        self.set_flow(scope, flow);
    }

    /// Sets the control flow of a process type or a function type.
    ///
    /// # Panics
    /// If the type is neither.
    pub fn set_flow(&mut self, scope: TypeId, flow: ControlFlow) {
        let of = &mut self.types[scope.index()];
        of.calls = flow.all_transitions().filter_map(|arc| arc.statement.callee()).collect();
        match &mut of.kind {
            Kind::Process(old) | Kind::Function(old) => *old = flow,
            Kind::Global | Kind::Data(_) => panic!("only processes and functions have a control flow"),
        }
    }

    /// A type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// A variable.
    pub fn get_variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// All types.
    pub fn ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len() as u32).map(TypeId)
    }

    /// The type of that name.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.ids().find(|id| self.get(*id).name == name)
    }

    pub(super) fn data_type(&self, id: TypeId) -> Option<&dyn DataType> {
        match &self.get(id).kind {
            Kind::Data(data) => Some(&**data),
            Kind::Global | Kind::Process(_) | Kind::Function(_) => None,
        }
    }

    pub(super) fn is_process(&self, id: TypeId) -> bool {
        matches!(self.get(id).kind, Kind::Process(_))
    }

    pub(super) fn is_function(&self, id: TypeId) -> bool {
        matches!(self.get(id).kind, Kind::Function(_))
    }

    /// Some step of the model keeps others from moving.
    pub(super) fn is_atomic(&self) -> bool {
        self.types.iter().filter_map(Type::flow).any(|flow| flow.all_transitions().any(|arc| arc.is_atomic))
    }

    /// No type contains itself by variables that have instances of their own.
    pub(super) fn check_parts(&self) -> Result<(), TypeError> {
        // Types are removed whose parts have all been removed, until none is left.
        let mut left: BTreeSet<TypeId> = self.ids().collect();
        loop {
            let part =
                |id: &VariableId| Some(self.get_variable(*id)).filter(|one| !one.is_reference).map(|one| one.data);
            let is_done =
                |id: &TypeId| !self.get(*id).variables.iter().filter_map(part).any(|data| left.contains(&data));
            let done: Vec<TypeId> = left.iter().copied().filter(|id| is_done(id)).collect();
            if done.is_empty() {
                break;
            }
            left.retain(|id| !done.contains(id));
        }
        left.first().map_or(Ok(()), |id| Err(TypeError::Recursive(self.get(*id).name.clone())))
    }

    /// The types that instances of states can have: those that can be reached from the global type and the process
    /// types, in the order of their declaration. With `inlined`, those are left out whose instances are always part
    /// of another one.
    pub(super) fn reachable(&self, inlined: bool) -> Vec<TypeId> {
        let mut found: BTreeSet<TypeId> = self.ids().filter(|id| self.is_process(*id)).collect();
        found.insert(TypeId::GLOBAL);
        let mut parts = BTreeSet::new();
        let mut pending: Vec<TypeId> = found.iter().copied().collect();
        while let Some(id) = pending.pop() {
            let of = self.get(id);
            pending.extend(of.calls.iter().filter(|callee| found.insert(**callee)));
            for variable in of.variables.iter().map(|variable| self.get_variable(*variable)) {
                // What a part refers to is found like what its owner refers to.
                let is_part = inlined && !variable.is_reference;
                if if is_part { parts.insert(variable.data) } else { found.insert(variable.data) } {
                    pending.push(variable.data);
                }
            }
        }
        found.into_iter().collect()
    }

    /// The names of the nodes.
    pub fn nodes(&self) -> BTreeSet<String> {
        self.types.iter().map(|one| one.name.clone()).collect()
    }

    /// The labels: the names of the variables, and [`CALL`].
    pub fn labels(&self) -> BTreeSet<String> {
        self.variables.iter().map(|variable| variable.name.clone()).chain([CALL.to_owned()]).collect()
    }

    /// The edges, as the names of their sources, their labels and the names of their targets.
    pub fn edges(&self) -> BTreeSet<(String, String, String)> {
        let name = |id: TypeId| self.get(id).name.clone();
        let variables = self.variables.iter().map(|one| (name(one.scope), one.name.clone(), name(one.data)));
        let calls = self.ids().flat_map(|id| self.get(id).calls.iter().map(move |callee| (id, *callee)));
        variables.chain(calls.map(|(caller, callee)| (name(caller), CALL.to_owned(), name(callee)))).collect()
    }
}
