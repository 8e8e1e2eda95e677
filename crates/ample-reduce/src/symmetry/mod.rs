//! Symmetry: permutations of processes that nobody notices.
//!
//! A symmetry is a bijection on states that maps steps to steps; states that symmetries map to each other behave alike, so
//! that one of them is enough (M. Kattenbelt, *Towards an explicit-state model checking framework*, 2006, §5.4.2;
//! E. M. Clarke et al., *Exploiting Symmetry in Temporal Logic Model Checking*, 1996). Here a symmetry is a permutation of
//! processes of the same type together with permutations of values: process ids, subscripts of arrays with an element for
//! each process, handles of their channels. [`Symmetry::detect`] proposes generators, transpositions of two processes and rotations
//! of all, and verifies (`equivariance`) each of them on every statement and every expression of the properties. One that
//! fails is refused with the place in the source where processes are told apart.
//!
//! The states to which symmetries are applied are those in which all processes have been created and statements that
//! tell processes apart, and are executed only once, lie behind: from such a state only such states are reached.

mod equivariance;
mod instances;
mod sorts;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use ample_model::facts::Lens;
use ample_model::{
    Action, BinaryOp, Budget, EdgeId, Expr, Instruction, LocationId, ProcessId, ProcessType, Role as TypeRole, Span,
    System,
};

use self::equivariance::{Conflict, Equivariance, Maps, Sees};
pub use self::instances::Instance;
use self::instances::{Instances, creates};
use self::sorts::{Holder, Sort, Sorts, slots};
use crate::unfold::reach;

/// More processes than these are not looked at.
const MOST_PROCESSES: usize = 64;

/// Why processes are not symmetric, and where that shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In a sentence.
    pub why: String,
    /// Where processes are told apart.
    pub span: Option<Span>,
}

impl Refusal {
    fn new(why: impl Into<String>) -> Refusal {
        Refusal { why: why.into(), span: None }
    }

    /// The refusal with `file:line`, where that is known.
    pub fn text(&self, system: &System) -> String {
        match self.span {
            Some(span) => format!("{} ({})", self.why, system.place_of(span)),
            None => self.why.clone(),
        }
    }
}

/// The group that acts on an orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The symmetric group: any permutation.
    Symmetric,
    /// The cyclic group: rotations.
    Cyclic,
}

/// An element of the index set, which takes the place of another one: processes, and the values that belong to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The ids of its processes; those of the same position have the same type in all indices.
    pub processes: Vec<u32>,
    /// Per sort its values; those of the same position take each other's place.
    pub values: Vec<Vec<i64>>,
}

/// An orbit of the index set: indices that are permuted, independently of other orbits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orbit {
    /// By which group.
    pub group: Group,
    /// The indices.
    pub indices: Vec<Index>,
}

impl Orbit {
    /// How many permutations there are.
    pub fn order(&self) -> u128 {
        match self.group {
            Group::Symmetric => (1..=self.indices.len() as u128).product(),
            Group::Cyclic => self.indices.len() as u128,
        }
    }
}

/// What a permutation does to a slot of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// The sort of its values, if permutations change them.
    pub sort: Option<usize>,
    /// The subscripts that permutations change: the sort, the subscript of this slot, and the stride.
    pub subscripts: Vec<(usize, u32, u32)>,
}

impl Role {
    /// It stays what it is and where it is.
    pub fn is_fixed(&self) -> bool {
        self.sort.is_none() && self.subscripts.is_empty()
    }
}

/// The symmetry of a system.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// The processes, by their ids, when all are there.
    pub instances: Vec<Instance>,
    /// What can be permuted.
    pub orbits: Vec<Orbit>,
    /// How many sorts have values that permutations change.
    pub sorts: usize,
    /// Per global variable and slot.
    pub globals: Vec<Vec<Role>>,
    /// Per process type, local variable and slot.
    pub locals: Vec<Vec<Vec<Role>>>,
    /// Per kind of channel and field: the sort of its values, if permutations change them.
    pub fields: Vec<Vec<Option<usize>>>,
    /// The sort of channel handles, if permutations change them.
    pub handles: Option<usize>,
    /// Per process type and location: while a process stands there, states are not permuted.
    pub avoided: Vec<Vec<bool>>,
    /// Per process type: the location where a process only waits to be removed.
    pub last: Vec<Option<LocationId>>,
    /// Processes that can be permuted may come to their end. States differ then in when such a process is removed, and runs
    /// in how often states are repeated.
    pub terminates: bool,
    /// Why processes of the same type are not all in one orbit.
    pub refusals: Vec<Refusal>,
    description: String,
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}

/// A permutation that was verified.
struct Generator {
    maps: Maps,
    avoided: BTreeSet<(usize, u32)>,
}

impl Symmetry {
    /// The symmetries that the system has and the expressions of properties keep, or why there are none.
    pub fn detect(system: &System, observed: &[Expr], budget: &Budget) -> Result<Symmetry, Refusal> {
        Symmetry::of_types(system, observed, None, budget)
    }

    /// The same for processes of these types only, by their names.
    pub fn of_types(
        system: &System,
        observed: &[Expr],
        types: Option<&[String]>,
        budget: &Budget,
    ) -> Result<Symmetry, Refusal> {
        suitable(system)?;
        let lens = Lens::new(system);
        let Some(instances) = Instances::of(system, &lens, budget) else {
            return Err(Refusal::new("no initial state was found in time"));
        };
        if instances.processes.len() > MOST_PROCESSES {
            return Err(Refusal::new(format!("there are more than {MOST_PROCESSES} processes")));
        }
        let sorts = Sorts::of(system, &lens, observed);
        let detection = Detection {
            system,
            lens: &lens,
            sorts: &sorts,
            instances: &instances,
            observed,
            flows: system.processes.iter().map(Flow::of).collect(),
            refusals: Vec::new(),
            budget,
        };
        detection.run(types)
    }

    /// How many permutations there are.
    pub fn order(&self) -> u128 {
        self.orbits.iter().map(Orbit::order).fold(1, u128::saturating_mul)
    }
}

/// What no symmetry is looked for in.
fn suitable(system: &System) -> Result<(), Refusal> {
    let refused = |why: &str| Err(Refusal::new(why));
    if system.synchronous().is_some() {
        return refused("a synchronous system has no processes");
    }
    if system.monitor.is_some() {
        return refused("a trace assertion watches the channels");
    }
    if system.uses_last {
        return refused("it is seen which process moved last");
    }
    if system.uses_priorities {
        return refused("processes have priorities");
    }
    let locals = system.processes.iter().flat_map(|process| &process.locals);
    if system.globals.iter().chain(locals).any(|variable| variable.hidden) {
        return refused("there are hidden variables");
    }
    Ok(())
}

/// How a front end says that the process is the youngest.
fn youngest() -> Expr {
    let last = Expr::binary(BinaryOp::Subtract, Expr::ProcessCount, Expr::Const(1));
    Expr::binary(BinaryOp::Equal, Expr::SelfId, last)
}

/// What is to be known of the control flow of a process type.
struct Flow {
    /// Per location: it can be come back to.
    recurrent: Vec<bool>,
    /// Per location: those from which it is reached, itself included.
    before: Vec<Vec<u32>>,
    /// Where processes are created.
    creates: Vec<u32>,
    /// Where a process only waits to be removed.
    last: Option<LocationId>,
    /// Every process ends there, or none does.
    ends_properly: bool,
    /// Some process may end.
    ends: bool,
}

impl Flow {
    fn of(process: &ProcessType) -> Flow {
        let reached = reach(process);
        let count = process.locations.len();
        let after = |edge: &ample_model::Edge, to: u32| edge.to.0 == to || reached[edge.to.index()].contains(to);
        let leads = |from: usize, to: u32| {
            let leaving = process.locations[from].edges.iter().map(|edge| &process.edges[edge.index()]);
            leaving.into_iter().any(|edge| after(edge, to))
        };
        let recurrent = (0..count).map(|at| leads(at, at as u32)).collect();
        let before = (0..count as u32)
            .map(|to| (0..count as u32).filter(|from| *from == to || leads(*from as usize, to)).collect())
            .collect();
        let creating = process.edges.iter().filter(|edge| creates(edge)).map(|edge| edge.from.0).collect();
        let last = (0..count).find(|at| is_last(process, &process.locations[*at].edges)).map(LocationId::from);
        let starts = process.initial;
        let is_reached = |at: LocationId| at == starts || leads(starts.index(), at.0);
        let ending: Vec<_> = process.edges.iter().filter(|edge| edge.ends_process() && is_reached(edge.from)).collect();
        let ends_properly = ending.iter().all(|edge| {
            Some(edge.from) == last && {
                let location = &process.locations[edge.from.index()];
                location.end && !location.accept && !location.progress
            }
        });
        Flow { recurrent, before, creates: creating, last, ends_properly, ends: !ending.is_empty() }
    }
}

/// The only edge removes the process as soon as it is the youngest.
fn is_last(process: &ProcessType, edges: &[EdgeId]) -> bool {
    let [edge] = edges else { return false };
    let edge = &process.edges[edge.index()];
    edge.guard == [youngest()]
        && edge.communication.is_none()
        && edge.effect == [Instruction::Do(Action::End)]
        && !edge.keeps_control
}

/// Symmetries are being looked for.
struct Detection<'a> {
    system: &'a System,
    lens: &'a Lens<'a>,
    sorts: &'a Sorts,
    instances: &'a Instances,
    observed: &'a [Expr],
    flows: Vec<Flow>,
    refusals: Vec<Refusal>,
    budget: &'a Budget,
}

impl Detection<'_> {
    fn run(mut self, types: Option<&[String]>) -> Result<Symmetry, Refusal> {
        let named = |process: ProcessId| {
            types.is_none_or(|names| names.contains(&self.system.process(process).name))
                && self.system.process(process).role == TypeRole::Process
        };
        let mut groups: BTreeMap<ProcessId, Vec<u32>> = BTreeMap::new();
        for (id, instance) in self.instances.processes.iter().enumerate() {
            if named(instance.process) {
                groups.entry(instance.process).or_default().push(id as u32);
            }
        }
        groups.retain(|_, ids| ids.len() > 1);
        if groups.is_empty() {
            return Err(Refusal::new("no two processes have the same type"));
        }
        let mut candidates: Vec<(Group, Vec<Vec<u32>>, Vec<Generator>)> = Vec::new();
        let mut open: Vec<Vec<u32>> = Vec::new();
        for ids in groups.values() {
            let transpositions = self.transpositions(std::slice::from_ref(ids));
            let is_whole = transpositions.iter().any(|(indices, _)| indices.len() == ids.len());
            candidates.extend(
                transpositions.into_iter().map(|(indices, generators)| (Group::Symmetric, indices, generators)),
            );
            if !is_whole {
                open.push(ids.clone());
            }
        }
        // Processes of several types that belong together, and rotations.
        let mut lengths: Vec<usize> = open.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        lengths.dedup();
        for length in lengths {
            let together: Vec<Vec<u32>> = open.iter().filter(|ids| ids.len() == length).cloned().collect();
            if together.len() > 1 {
                let transpositions = self.transpositions(&together);
                candidates.extend(
                    transpositions.into_iter().map(|(indices, generators)| (Group::Symmetric, indices, generators)),
                );
            }
            if length > 2 {
                for ids in &together {
                    candidates.extend(self.rotation(std::slice::from_ref(ids)));
                }
                if together.len() > 1 {
                    candidates.extend(self.rotation(&together));
                }
            }
        }
        self.assemble(candidates)
    }

    /// Lists of indices, of each of which there is a transposition with the next one: together they generate the symmetric
    /// group. An index has a process of each list.
    fn transpositions(&mut self, lists: &[Vec<u32>]) -> Vec<(Vec<Vec<u32>>, Vec<Generator>)> {
        let index = |at: usize| lists.iter().map(|ids| ids[at]).collect::<Vec<u32>>();
        let mut left: Vec<usize> = (0..lists[0].len()).collect();
        let mut transpositions = Vec::new();
        while left.len() > 1 {
            let mut chain = vec![left[0]];
            let mut generators = Vec::new();
            for next in &left[1..] {
                let mut permutation: Vec<u32> = (0..self.instances.processes.len() as u32).collect();
                for ids in lists {
                    let (one, other) = (ids[chain[chain.len() - 1]], ids[*next]);
                    permutation.swap(one as usize, other as usize);
                }
                if let Some(generator) = self.verified(permutation) {
                    chain.push(*next);
                    generators.push(generator);
                }
            }
            left.retain(|at| !chain.contains(at));
            if chain.len() > 1 {
                transpositions.push((chain.into_iter().map(index).collect(), generators));
            }
        }
        transpositions
    }

    /// The rotation: all processes go to the place of the next one.
    fn rotation(&mut self, lists: &[Vec<u32>]) -> Option<(Group, Vec<Vec<u32>>, Vec<Generator>)> {
        let mut permutation: Vec<u32> = (0..self.instances.processes.len() as u32).collect();
        let length = lists[0].len();
        for ids in lists {
            for (at, id) in ids.iter().enumerate() {
                permutation[*id as usize] = ids[(at + 1) % length];
            }
        }
        let generator = self.verified(permutation)?;
        let indices = (0..length).map(|at| lists.iter().map(|ids| ids[at]).collect()).collect();
        Some((Group::Cyclic, indices, vec![generator]))
    }

    /// The permutation, if it is a symmetry; otherwise the reason is noted.
    fn verified(&mut self, permutation: Vec<u32>) -> Option<Generator> {
        match self.verify(permutation) {
            Ok(generator) => Some(generator),
            Err(conflict) => {
                let refusal = Refusal::from(conflict);
                if !self.refusals.contains(&refusal) {
                    self.refusals.push(refusal);
                }
                None
            }
        }
    }

    fn verify(&self, permutation: Vec<u32>) -> Result<Generator, Conflict> {
        let conflict = |why: String| Conflict { why, span: None };
        let mut equivariance = Equivariance::new(self.system, self.lens, self.sorts, self.instances, &permutation);
        equivariance.begin()?;
        for expr in self.observed {
            equivariance.observed(expr)?;
        }
        let mut avoided: BTreeSet<(usize, u32)> = BTreeSet::new();
        for (number, flow) in self.flows.iter().enumerate() {
            for at in &flow.creates {
                avoided.extend(flow.before[*at as usize].iter().map(|before| (number, *before)));
            }
        }
        // First what can be executed again and again.
        for (id, instance) in self.instances.processes.iter().enumerate() {
            let process = self.system.process(instance.process);
            let number = instance.process.index();
            if self.budget.check().is_err() {
                return Err(conflict("there was no time to look for symmetry".into()));
            }
            if let Some(provided) = &process.provided {
                equivariance.provided(id as u32, provided)?;
            }
            for edge in &process.edges {
                if !self.flows[number].recurrent[edge.from.index()] {
                    continue;
                }
                if avoided.contains(&(number, edge.from.0)) {
                    // A loop that creates processes lies behind as soon as it has been left.
                    let is_open = |at: &usize| !avoided.contains(&(number, *at as u32));
                    let mut after = (0..process.locations.len()).filter(is_open);
                    if after.any(|at| self.flows[number].before[at].contains(&edge.from.0)) {
                        continue;
                    }
                    return Err(Conflict {
                        why: format!("processes may be created again and again by {}", process.name),
                        span: edge.span,
                    });
                }
                equivariance.edge(id as u32, edge)?;
            }
        }
        equivariance.constants()?;
        equivariance.validate()?;
        // Then what is executed once: before that, states are not permuted.
        for (id, instance) in self.instances.processes.iter().enumerate() {
            let process = self.system.process(instance.process);
            let number = instance.process.index();
            let flow = &self.flows[number];
            for edge in &process.edges {
                if flow.recurrent[edge.from.index()] || avoided.contains(&(number, edge.from.0)) {
                    continue;
                }
                let before = equivariance.known.clone();
                let checked = equivariance.edge(id as u32, edge).and_then(|()| equivariance.constants());
                if checked.and_then(|()| equivariance.validate()).is_err() {
                    equivariance.known = before;
                    avoided.extend(flow.before[edge.from.index()].iter().map(|before| (number, *before)));
                }
            }
        }
        let known = equivariance.known;
        self.ends(&permutation, known.sees)?;
        Ok(Generator { maps: known.maps, avoided })
    }

    /// Processes that are permuted come to their end properly, and nobody sees when they are removed.
    fn ends(&self, permutation: &[u32], sees: Sees) -> Result<(), Conflict> {
        for (id, instance) in self.instances.processes.iter().enumerate() {
            let flow = &self.flows[instance.process.index()];
            let process = self.system.process(instance.process);
            if permutation[id] as usize == id || !flow.ends {
                continue;
            }
            let conflict = |why: &str| Err(Conflict { why: why.into(), span: process.span });
            if !flow.ends_properly {
                return conflict("its processes may be removed by other statements than their last one");
            }
            if crate::unfold::own_channels(self.system, instance.process) > 0 {
                return conflict("its processes take their channels along when they end");
            }
            if sees.count || sees.standing {
                return conflict("it is seen whether its processes have ended");
            }
        }
        Ok(())
    }

    /// Puts orbits together that do not get in each other's way.
    fn assemble(self, candidates: Vec<(Group, Vec<Vec<u32>>, Vec<Generator>)>) -> Result<Symmetry, Refusal> {
        let mut orbits: Vec<(Group, Vec<RawIndex>)> = Vec::new();
        let mut taken: BTreeSet<(Sort, i64)> = BTreeSet::new();
        let mut busy: BTreeSet<u32> = BTreeSet::new();
        let mut avoided: BTreeSet<(usize, u32)> = BTreeSet::new();
        for (group, indices, generators) in candidates {
            let aligned = match group {
                Group::Symmetric => aligned(&indices, &generators),
                Group::Cyclic => rotated(&indices, &generators[0]),
            };
            let Some(aligned) = aligned else { continue };
            let values = || {
                aligned
                    .iter()
                    .flat_map(|index| index.values.iter().flat_map(|(sort, all)| all.iter().map(|v| (*sort, *v))))
            };
            let processes = || indices.iter().flatten().copied();
            if values().any(|value| taken.contains(&value)) || processes().any(|id| busy.contains(&id)) {
                continue;
            }
            taken.extend(values());
            busy.extend(processes());
            for generator in &generators {
                avoided.extend(&generator.avoided);
            }
            orbits.push((group, aligned));
        }
        if orbits.is_empty() {
            let first = self.refusals.into_iter().next();
            return Err(first.unwrap_or_else(|| Refusal::new("processes of the same type are told apart")));
        }
        Ok(self.tables(&orbits, &avoided))
    }

    fn tables(self, orbits: &[(Group, Vec<RawIndex>)], avoided: &BTreeSet<(usize, u32)>) -> Symmetry {
        let mut numbers: BTreeMap<Sort, usize> = BTreeMap::new();
        for (_, indices) in orbits {
            for sort in indices.iter().flat_map(|index| index.values.keys()) {
                let next = numbers.len();
                numbers.entry(*sort).or_insert(next);
            }
        }
        let active = |holder: Holder| self.sorts.sort(holder).and_then(|sort| numbers.get(&sort).copied());
        let roles = |owner: Option<ProcessId>| -> Vec<Vec<Role>> {
            let count = sorts::variables(self.system, owner).len();
            let role = |parts: &sorts::SlotParts| Role {
                sort: active(parts.cell),
                subscripts: (parts.subscripts.iter())
                    .filter_map(|(holder, at, stride)| active(*holder).map(|sort| (sort, *at, *stride)))
                    .collect(),
            };
            (0..count).map(|variable| slots(self.system, owner, variable.into()).iter().map(role).collect()).collect()
        };
        let globals = roles(None);
        let locals = (0..self.system.processes.len()).map(|process| roles(Some(process.into()))).collect();
        let fields = (self.system.channels.iter().enumerate())
            .map(|(kind, channel)| {
                (0..channel.fields.len()).map(|field| active(Holder::Field(kind as u32, field as u32))).collect()
            })
            .collect();
        let handles = active(Holder::Channel);
        let orbits: Vec<Orbit> = (orbits.iter())
            .map(|(group, indices)| Orbit {
                group: *group,
                indices: indices
                    .iter()
                    .map(|index| {
                        let mut values = vec![Vec::new(); numbers.len()];
                        for (sort, all) in &index.values {
                            values[numbers[sort]].clone_from(all);
                        }
                        Index { processes: index.processes.clone(), values }
                    })
                    .collect(),
            })
            .collect();
        let moved: BTreeSet<ProcessId> = (orbits.iter().flat_map(|orbit| &orbit.indices))
            .flat_map(|index| &index.processes)
            .map(|id| self.instances.processes[*id as usize].process)
            .collect();
        let terminates = moved.iter().any(|process| self.flows[process.index()].ends);
        let description = describe(self.system, &self.instances.processes, &orbits);
        Symmetry {
            instances: self.instances.processes.clone(),
            orbits,
            sorts: numbers.len(),
            globals,
            locals,
            fields,
            handles,
            avoided: (self.system.processes.iter().enumerate())
                .map(|(number, process)| {
                    (0..process.locations.len() as u32).map(|at| avoided.contains(&(number, at))).collect()
                })
                .collect(),
            last: self.flows.iter().map(|flow| flow.last).collect(),
            terminates,
            refusals: self.refusals,
            description,
        }
    }
}

fn describe(system: &System, instances: &[Instance], orbits: &[Orbit]) -> String {
    let orbit = |orbit: &Orbit| {
        let first = &orbit.indices[0];
        let names: Vec<&str> =
            (first.processes.iter()).map(|id| system.process(instances[*id as usize].process).name.as_str()).collect();
        let what = match orbit.group {
            Group::Symmetric => "processes of type",
            Group::Cyclic => "processes in a ring of type",
        };
        format!("{} {what} {}", orbit.indices.len(), names.join(" with "))
    };
    let order = orbits.iter().map(Orbit::order).fold(1, u128::saturating_mul);
    format!("{}, group order {order}", orbits.iter().map(orbit).collect::<Vec<_>>().join(", "))
}

/// An index, with the sorts as they were inferred.
#[derive(Clone, Debug, Default)]
struct RawIndex {
    processes: Vec<u32>,
    values: BTreeMap<Sort, Vec<i64>>,
}

/// The values that the permutation changes.
fn moved(generator: &Generator, sort: Sort) -> BTreeSet<i64> {
    let map = generator.maps.get(&sort);
    map.into_iter().flatten().filter(|(from, to)| from != to).map(|(from, _)| *from).collect()
}

fn image(generator: &Generator, sort: Sort, value: i64) -> i64 {
    generator.maps.get(&sort).and_then(|map| map.get(&value).copied()).unwrap_or(value)
}

/// The sorts that some permutation changes.
fn moved_sorts(generators: &[Generator]) -> BTreeSet<Sort> {
    let sorts = generators.iter().flat_map(|generator| generator.maps.keys().map(move |sort| (generator, *sort)));
    sorts.filter(|(generator, sort)| !moved(generator, *sort).is_empty()).map(|(_, sort)| sort).collect()
}

/// The values of indices of each of which there is a transposition with the next one: every transposition swaps the values of
/// two indices, and nothing else.
fn aligned(indices: &[Vec<u32>], generators: &[Generator]) -> Option<Vec<RawIndex>> {
    let mut aligned: Vec<RawIndex> =
        indices.iter().map(|processes| RawIndex { processes: processes.clone(), ..RawIndex::default() }).collect();
    for sort in moved_sorts(generators) {
        let first = moved(&generators[0], sort);
        let own: Vec<i64> = match generators.get(1) {
            Some(next) => first.difference(&moved(next, sort)).copied().collect(),
            None => {
                // Of each pair one; those of the first process, if they are its id.
                let is_lower = |value: &i64| *value < image(&generators[0], sort, *value);
                first.iter().copied().filter(is_lower).collect()
            }
        };
        aligned[0].values.insert(sort, own);
        for (at, generator) in generators.iter().enumerate() {
            let before = aligned[at].values[&sort].clone();
            let after: Vec<i64> = before.iter().map(|value| image(generator, sort, *value)).collect();
            let both: BTreeSet<i64> = before.iter().chain(&after).copied().collect();
            let swaps = after.iter().zip(&before).all(|(after, before)| image(generator, sort, *after) == *before);
            if both.len() != 2 * before.len() || both != moved(generator, sort) || !swaps {
                return None;
            }
            aligned[at + 1].values.insert(sort, after);
        }
    }
    are_apart(&aligned).then_some(aligned)
}

/// The values of indices that are rotated.
fn rotated(indices: &[Vec<u32>], generator: &Generator) -> Option<Vec<RawIndex>> {
    let mut aligned: Vec<RawIndex> =
        indices.iter().map(|processes| RawIndex { processes: processes.clone(), ..RawIndex::default() }).collect();
    for sort in moved_sorts(std::slice::from_ref(generator)) {
        let mut left = moved(generator, sort);
        while let Some(first) = left.first().copied() {
            let mut value = first;
            for index in &mut aligned {
                if !left.remove(&value) {
                    return None;
                }
                index.values.entry(sort).or_default().push(value);
                value = image(generator, sort, value);
            }
            if value != first {
                return None;
            }
        }
    }
    are_apart(&aligned).then_some(aligned)
}

/// No value belongs to two indices.
fn are_apart(indices: &[RawIndex]) -> bool {
    let mut seen: HashMap<(Sort, i64), usize> = HashMap::new();
    indices.iter().enumerate().all(|(at, index)| {
        let mut values = index.values.iter().flat_map(|(sort, all)| all.iter().map(move |value| (*sort, *value)));
        values.all(|value| seen.insert(value, at).is_none())
    })
}
