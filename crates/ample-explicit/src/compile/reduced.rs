//! A compiled system that knows which of its transitions are independent.
//!
//! The processes of a state are looked up in an [`Unfolding`] of the system, a set at a time: the processes that are
//! there, told apart by their ids and by the parameters that never change. There are few sets, and a state mostly has
//! the set of the one before. From then on a state is a [`View`], and a persistent set is chosen for it.

mod pauses;
mod safe;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ample_model::{Budget, ChannelId, Expr, Move, ProcessId, System};
use ample_reduce::algorithms::{self, Choice, Chooser, Interference, Relations};
use ample_reduce::bits::Bits;
use ample_reduce::guards::Guards;
use ample_reduce::objects::Table;
use ample_reduce::scheme::{ConditionNumber, Kind, ObjectNumber, ProcessNumber, TransitionNumber, View};
use ample_reduce::unfold::{Irreducible, Newcomer, Unfolding, Watch};
use rapidhash::RapidHashMap;

use self::pauses::Pauses;
use super::executed::{Awaited, ControlFlow, Pending};
use super::layout::{Base, Slot};
use super::memory::Reading;
use super::state_layout::LayoutPlace;
use super::{CompileError, Compiled, CompiledSystem, Transition};
use crate::liveness::{Concurrent, Processes};
use crate::partial::{Label, Labelled, Partial, Postponed, Taken};
use crate::space::{Checked, Culprit, StateSpace};

/// How persistent sets are computed; the numbers are those of P. Godefroid's thesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Algorithm {
    /// Stubborn sets by guards: necessary enabling sets, chosen anew in each state.
    #[default]
    Guards,
    /// Conflicting transitions (algorithm 1).
    Conflicting,
    /// Overman's (algorithm 2).
    Overman,
    /// Stubborn sets (algorithm 3).
    Stubborn,
    /// Conditional stubborn sets (algorithm 4).
    Conditional,
}

/// Which transitions count as dependent for the algorithms of P. Godefroid's thesis (§3.1, §3.4). Stubborn sets by guards
/// have a relation of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Dependency {
    /// Two transitions that use the same object.
    Constant,
    /// Two transitions with dependent operations on the same object.
    Operation,
    /// The same, as far as the operations depend on each other in the state.
    #[default]
    Conditional,
}

impl Dependency {
    /// The tables of objects that say so; weakly uniform ones (Def. 6.6) where sleep sets and a proviso are combined.
    fn table(self, is_uniform: bool) -> Table {
        match self {
            Dependency::Constant => Table::Objects,
            Dependency::Operation => Table::Constant,
            Dependency::Conditional if is_uniform => Table::WeaklyUniform,
            Dependency::Conditional => Table::Conditional,
        }
    }

    fn interference(self) -> Interference {
        match self {
            Dependency::Constant | Dependency::Operation => Interference::Possible,
            Dependency::Conditional => Interference::First,
        }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dependency::Constant => "constant dependency",
            Dependency::Operation => "dependency by operations",
            Dependency::Conditional => "conditional dependency",
        })
    }
}

impl Algorithm {
    /// The same with its variant, if it is one of the four of P. Godefroid's thesis.
    fn with_variant(self, dependency: Dependency) -> Option<algorithms::Algorithm> {
        let interference = dependency.interference();
        Some(match self {
            Algorithm::Guards => return None,
            Algorithm::Conflicting => algorithms::Algorithm::Conflicting(interference),
            Algorithm::Overman => algorithms::Algorithm::Overman(interference),
            Algorithm::Stubborn => algorithms::Algorithm::Stubborn(Choice::Greedy),
            Algorithm::Conditional => algorithms::Algorithm::Conditional(Choice::Greedy),
        })
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Guards => "stubborn sets by guards",
            Algorithm::Conflicting => "persistent sets of conflicting transitions",
            Algorithm::Overman => "persistent sets by Overman's algorithm",
            Algorithm::Stubborn => "stubborn sets",
            Algorithm::Conditional => "conditional stubborn sets",
        })
    }
}

/// Why there is no reduced space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReduced {
    /// Nothing can be left out.
    #[error("{0}")]
    Irreducible(String),
    /// The system was not compiled.
    #[error(transparent)]
    NotCompiled(#[from] CompileError),
}

impl From<Irreducible> for NotReduced {
    fn from(Irreducible(why): Irreducible) -> NotReduced {
        NotReduced::Irreducible(why)
    }
}

/// What the choices of a search came to, for who watches it.
#[derive(Debug, Default)]
pub struct Tally {
    /// States with more than one enabled transition.
    asked: AtomicU64,
    /// Those where some were left out.
    left: AtomicU64,
    /// There were too many transitions or processes to look for safe steps.
    full: AtomicBool,
}

impl Tally {
    /// States with more than one enabled transition, and those of them where some were left out.
    pub fn choices(&self) -> (u64, u64) {
        (self.asked.load(Ordering::Relaxed), self.left.load(Ordering::Relaxed))
    }

    /// There were too many transitions or processes to look for safe steps.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Another state with more than one enabled transition. Only the search itself counts, so that a load and a store do.
    fn count(&self, leaves_out: bool) {
        let (asked, left) = self.choices();
        self.asked.store(asked + 1, Ordering::Relaxed);
        self.left.store(left + u64::from(leaves_out), Ordering::Relaxed);
    }
}

/// The processes that are there.
struct ProcessSet {
    processes: Vec<ProcessNumber>,
}

/// A compiled system whose searches may leave something out.
pub struct Reduced<'a> {
    space: Compiled,
    unfolding: Unfolding<'a>,
    guards: Guards,
    algorithm: Algorithm,
    dependency: Dependency,
    chooser: Chooser,
    /// The relations of the chooser are asked for: by an algorithm of the thesis, or by sleep sets.
    uses_relations: bool,
    budget: Budget,
    watches: Vec<Watch>,
    visible: Bits,
    /// A set that is not whole must have no visible transition.
    invisible: bool,
    tally: Arc<Tally>,
    pauses: Pauses,
    /// Only deadlocks are looked for.
    only_deadlocks: bool,
    /// By layout: the cells that tell processes apart, where they lie.
    cells: Vec<Option<Vec<(u32, Slot)>>>,
    process_sets: Vec<ProcessSet>,
    /// By layout and the values of those cells.
    known: HashMap<(LayoutPlace, Vec<i64>), usize>,
    /// The layout, values and set of processes of the last state.
    last: Option<(LayoutPlace, Vec<i64>, usize)>,
    members: HashMap<Key, ProcessNumber>,
    now: Now,
    chosen: Vec<TransitionNumber>,
    recall: Recall,
    pending: Pending,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    process: u16,
    id: u32,
    first_channel: u32,
    constants: Vec<i64>,
    channels: Vec<u16>,
}

/// What is known of the state at hand.
#[derive(Default)]
struct Now {
    /// Per process of the scheme: where it stands.
    locations: Vec<Option<u32>>,
    /// Those of which that is known.
    there: Vec<ProcessNumber>,
    enabled: Vec<TransitionNumber>,
    is_enabled: Bits,
    alive: Bits,
    /// Per condition: when it was looked at last, and what it was.
    held: Vec<(u64, bool)>,
    time: u64,
    /// The state must be looked at with all its transitions.
    full: bool,
    /// What was asked about it while a set was chosen.
    queries: Vec<Query>,
}

/// A question about a state, and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Query {
    /// Does that condition of that transition hold?
    Holds(TransitionNumber, ConditionNumber, bool),
    /// Is the channel empty, and is it full?
    Fill(ObjectNumber, bool, bool),
}

/// Choices that were made before. A choice depends on where the processes stand, on what is enabled, and on the answers
/// to some questions; where all of that is as it was, so is the choice.
#[derive(Default)]
struct Recall {
    known: RapidHashMap<Box<[u32]>, Remembered>,
    key: Vec<u32>,
}

/// A choice, and what it depended on.
struct Remembered {
    queries: Box<[Query]>,
    choice: Box<[TransitionNumber]>,
}

/// So many choices are kept.
const MAX_RECALL: usize = 1 << 14;

impl Recall {
    /// Gets ready to look for the choice that is to be made.
    fn ask<I: Iterator<Item = (TransitionNumber, u32)>>(
        &mut self,
        seed: Option<TransitionNumber>,
        now: &mut Now,
        variants: impl Fn(ProcessNumber, u32) -> I,
    ) {
        const END: u32 = u32::MAX;
        now.queries.clear();
        self.key.clear();
        self.key.push(seed.unwrap_or(END));
        for process in &now.there {
            let location = now.locations[*process as usize].unwrap_or(END);
            self.key.extend([*process, location]);
            self.key.extend(variants(*process, location).flat_map(|(transition, number)| [transition, number]));
            self.key.push(END);
        }
        self.key.extend_from_slice(&now.enabled);
    }

    /// Writes the choice if it is known.
    fn answer(&self, view: &mut State<'_, '_>, chosen: &mut Vec<TransitionNumber>) -> bool {
        let Some(Remembered { queries, choice }) = self.known.get(self.key.as_slice()) else { return false };
        let is_same = queries.iter().all(|query| match query {
            Query::Holds(transition, condition, answer) => view.holds(*transition, *condition) == *answer,
            Query::Fill(object, empty, full) => view.fill_class(*object) == (*empty, *full),
        });
        view.now.queries.clear();
        view.now.time += u64::from(!is_same);
        if is_same {
            chosen.clear();
            chosen.extend_from_slice(choice);
        }
        is_same
    }

    fn keep(&mut self, queries: &[Query], chosen: &[TransitionNumber]) {
        if self.known.len() >= MAX_RECALL {
            self.known.clear();
        }
        let remembered = Remembered { queries: queries.into(), choice: chosen.into() };
        self.known.insert(self.key.as_slice().into(), remembered);
    }
}

impl State<'_, '_> {
    /// The channel is empty, and it is full.
    fn fill_class(&mut self, object: ObjectNumber) -> (bool, bool) {
        let fill = self.count(object);
        let full = match self.unfolding.scheme().objects[object as usize].kind {
            Kind::Channel { capacity } => fill >= capacity,
            _ => false,
        };
        (fill == 0, full)
    }

    fn count(&self, object: ObjectNumber) -> u32 {
        count(self.space, self.unfolding, self.state, object)
    }
}

/// How many messages there are in a channel.
fn count(space: &Compiled, unfolding: &Unfolding<'_>, state: &[u8], object: ObjectNumber) -> u32 {
    let Some(handle) = unfolding.handle(object) else { return 0 };
    let memory = Reading::new(state, &space.layouts);
    let Some(place) = memory.channel(handle.into()) else { return 0 };
    let layout = &space.program.layout.channels[usize::from(place.kind)];
    let cell = super::layout::Cell::whole(Base::Global, layout.length, place.offset);
    if layout.capacity == 0 { 0 } else { memory.cell(0, &cell) as u32 }
}

/// A state, of which only the channels are asked for.
struct Fills<'v, 'a> {
    space: &'v Compiled,
    unfolding: &'v Unfolding<'a>,
    state: &'v [u8],
}

impl View for Fills<'_, '_> {
    fn location(&self, _: ProcessNumber) -> Option<u32> {
        None
    }

    fn enabled(&self) -> &[TransitionNumber] {
        &[]
    }

    fn is_enabled(&self, _: TransitionNumber) -> bool {
        false
    }

    fn holds(&mut self, _: TransitionNumber, _: ConditionNumber) -> bool {
        true
    }

    fn fill(&mut self, object: ObjectNumber) -> u32 {
        count(self.space, self.unfolding, self.state, object)
    }
}

/// So many sets of processes are told apart.
const MAX_PROCESS_SETS: usize = 4_096;

/// The labels of transitions that are not part of the scheme: no others are as large.
const UNKNOWN: Label = 1 << 31;

impl<'a> Reduced<'a> {
    /// Compiles a system for a single search; see [`of`](Self::of).
    pub fn new(
        system: &'a System,
        invariants: &[Expr],
        looks_further: bool,
        algorithm: Algorithm,
    ) -> Result<Reduced<'a>, NotReduced> {
        let budget = Budget::unlimited();
        Reduced::of(&CompiledSystem::new(system, &budget)?, invariants, looks_further, algorithm, &budget)
    }

    /// The state space of a compiled system, with expressions over its states that [`Checked::invariant`] evaluates; what
    /// they look at is visible. `looks_further` tells that more than deadlocks is looked for.
    pub fn of(
        compiled: &CompiledSystem<'a>,
        invariants: &[Expr],
        looks_further: bool,
        algorithm: Algorithm,
        budget: &Budget,
    ) -> Result<Reduced<'a>, NotReduced> {
        if compiled.system().synchronous().is_some() {
            return Err(NotReduced::Irreducible("in a synchronous system everything moves at once".into()));
        }
        let mut unfolding = Unfolding::within(compiled.system(), invariants, budget)?;
        let watches = invariants.iter().map(|expr| unfolding.watch(expr)).collect::<Result<_, _>>()?;
        let space = compiled.with_conditions(invariants, unfolding.expressions(), budget)?;
        Ok(Reduced {
            space,
            unfolding,
            guards: Guards::default(),
            algorithm,
            dependency: Dependency::default(),
            uses_relations: algorithm != Algorithm::Guards,
            chooser: Chooser::new(Dependency::default().table(true)),
            budget: budget.clone(),
            watches,
            visible: Bits::new(),
            invisible: false,
            tally: Arc::default(),
            pauses: Pauses::default(),
            only_deadlocks: !looks_further && invariants.is_empty(),
            cells: Vec::new(),
            process_sets: Vec::new(),
            known: HashMap::new(),
            last: None,
            members: HashMap::new(),
            now: Now::default(),
            chosen: Vec::new(),
            recall: Recall::default(),
            pending: Pending::default(),
        })
    }

    /// The same, with pauses where looking for sets does not pay.
    pub fn with_pauses(mut self, has_pauses: bool) -> Reduced<'a> {
        self.guards.with_pauses(has_pauses);
        Reduced { pauses: Pauses::new(has_pauses), ..self }
    }

    /// Only weakly fair runs count: the sets keep one of those that differ in the order of independent transitions, as
    /// far as the stubborn sets by guards are concerned. To be called before the first state.
    pub fn with_weak_fairness(mut self) -> Reduced<'a> {
        self.guards = self.guards.with_weak_fairness();
        self
    }

    /// The same with another dependency for the algorithms of P. Godefroid's thesis and for sleep sets, if there are any: a
    /// weakly uniform one, as sleep sets with a proviso need it, or the finest.
    pub fn with_dependency(self, dependency: Dependency, sleep: bool, is_uniform: bool) -> Reduced<'a> {
        let uses_relations = sleep || self.algorithm != Algorithm::Guards;
        Reduced { dependency, uses_relations, chooser: Chooser::new(dependency.table(is_uniform)), ..self }
    }

    /// The relations between transitions that the algorithms of P. Godefroid's thesis use.
    pub fn relations(&self) -> &Relations {
        self.chooser.relations()
    }

    /// Two transitions that are both enabled in the state are independent there, by the tables of objects.
    fn independent_by_tables(&mut self, state: &[u8], first: Label, second: Label) -> bool {
        let Reduced { space, unfolding, chooser, .. } = self;
        let mut fills = Fills { space, unfolding, state };
        self.uses_relations && chooser.relations().are_independent_in(unfolding.scheme(), &mut fills, first, second)
    }

    /// How often a choice was made, and how often it left something out.
    pub fn tally(&self) -> Arc<Tally> {
        Arc::clone(&self.tally)
    }

    /// Tells a store how many bytes of a state count; see [`Compiled::visible`].
    pub fn visible_bytes(&self) -> impl Fn(&[u8]) -> usize + Clone + use<> {
        self.space.visible()
    }

    /// The compiled system.
    pub fn compiled(&mut self) -> &mut Compiled {
        &mut self.space
    }

    /// From now on it is noted which edges are taken. If all of them are `wanted`, a proviso holds until none is left that
    /// may still be taken; otherwise it is noted which of them may have been ignored.
    pub fn note_executed(&mut self, wanted: bool) {
        self.space.note_executed();
        let flow = ControlFlow::of(self.unfolding.system(), &self.space.program);
        self.pending = match wanted {
            true => Pending::Awaited(flow, Awaited::default()),
            false => Pending::Waived(flow, Bits::new()),
        };
    }

    /// Some edge was not taken.
    pub fn has_unexecuted(&self) -> bool {
        self.space.executed.has_open(&self.space.program, self.unfolding.system())
    }

    /// An edge that was not taken may have been ignored, although a proviso was to prevent that.
    pub fn ignores_edges(&self) -> bool {
        self.pending.ignores_some(&self.space.executed)
    }

    /// The processes, transitions and conditions met so far.
    pub fn unfolding(&self) -> &Unfolding<'a> {
        &self.unfolding
    }

    /// Who disturbs whom.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// The number of the set of processes of a state.
    fn process_set(&mut self, state: &[u8]) -> usize {
        self.space.layouts.learn(&self.space.program.layout, state);
        let layout = self.space.layouts.place_of(state).unwrap_or(0);
        if self.cells.len() <= layout as usize {
            self.cells.resize(layout as usize + 1, None);
        }
        if self.cells[layout as usize].is_none() {
            self.cells[layout as usize] = Some(self.telling_cells(state));
        }
        let memory = Reading::new(state, &self.space.layouts);
        let Some(cells) = &self.cells[layout as usize] else { return 0 };
        let value = |(base, slot): &(u32, Slot)| memory.cell(*base, &slot.cell) + slot.low;
        if let Some((last, values, process_set)) = &self.last
            && *last == layout
            && cells.iter().map(value).eq(values.iter().copied())
        {
            return *process_set;
        }
        let values: Vec<i64> = cells.iter().map(value).collect();
        let process_set = match self.known.get(&(layout, values.clone())) {
            Some(process_set) => *process_set,
            None => {
                let process_set = self.new_process_set(state, &values);
                self.known.insert((layout, values.clone()), process_set);
                process_set
            }
        };
        self.last = Some((layout, values, process_set));
        process_set
    }

    /// The cells that tell the processes of a state apart.
    fn telling_cells(&self, state: &[u8]) -> Vec<(u32, Slot)> {
        let memory = Reading::new(state, &self.space.layouts);
        let mut cells = Vec::new();
        for frame in &memory.layout.frames {
            let locals = &self.space.program.layout.segments[usize::from(frame.process)].locals;
            for (variable, slot) in self.unfolding.constants(ProcessId(frame.process.into())) {
                let slot = locals[variable.index()].slots[*slot as usize];
                cells.push((frame.bases[slot.cell.base as usize], slot));
            }
        }
        cells
    }

    /// Unfolds the processes that were not there before.
    #[cold]
    fn new_process_set(&mut self, state: &[u8], values: &[i64]) -> usize {
        let memory = Reading::new(state, &self.space.layouts);
        let kinds: Vec<ChannelId> = memory.layout.channels.iter().map(|place| ChannelId(place.kind.into())).collect();
        let mut rest = values;
        let mut processes = Vec::new();
        let mut grown = false;
        for (id, frame) in memory.layout.frames.iter().enumerate() {
            let process = ProcessId(frame.process.into());
            let (constants, others) = rest.split_at(self.unfolding.constants(process).len());
            rest = others;
            let key = Key {
                process: frame.process,
                id: id as u32,
                first_channel: frame.first_channel,
                constants: constants.to_vec(),
                channels: kinds.iter().map(|kind| kind.0 as u16).collect(),
            };
            let key = Key { channels: self.relevant_channels(&key), ..key };
            let known = self.members.get(&key).copied();
            if known.is_none() && self.unfolding.is_full() {
                break;
            }
            processes.push(known.unwrap_or_else(|| {
                grown = true;
                let newcomer = Newcomer {
                    process,
                    id: id as u32,
                    first_channel: frame.first_channel,
                    constants,
                    channels: &kinds,
                };
                let number = self.unfolding.add(&newcomer);
                self.members.insert(key, number);
                number
            }));
        }
        if grown && !self.unfolding.is_full() {
            self.recall.known.clear();
            self.visible = self.unfolding.visible(&self.watches);
            self.guards.update(&self.unfolding, &self.visible);
            if self.uses_relations && !self.unfolding.is_full() {
                self.chooser.update_within(self.unfolding.scheme(), self.unfolding.effort());
            }
        }
        self.process_sets.push(ProcessSet { processes });
        self.process_sets.len() - 1
    }

    /// The kinds of the channels up to the process's own: what its handles can mean.
    fn relevant_channels(&self, key: &Key) -> Vec<u16> {
        let own = self.space.program.layout.segments[usize::from(key.process)].channels.len();
        let end = (key.first_channel as usize + own).min(key.channels.len());
        key.channels[..end].to_vec()
    }

    /// Gets ready for a state.
    fn look_at(&mut self, state: &[u8]) {
        let process_set = self.process_set(state);
        let process_set = &self.process_sets[process_set];
        let memory = Reading::new(state, &self.space.layouts);
        let now = &mut self.now;
        for process in now.there.drain(..) {
            now.locations[process as usize] = None;
        }
        now.full = process_set.processes.len() < memory.layout.frames.len()
            || self.unfolding.is_full()
            || self.process_sets.len() > MAX_PROCESS_SETS;
        now.enabled.clear();
        now.is_enabled.clear();
        now.alive.clear();
        // A state keeps its labels: they are in its sleep set.
        if process_set.processes.len() < memory.layout.frames.len() {
            return;
        }
        now.locations.resize(self.unfolding.scheme().processes.len(), None);
        now.held.resize(self.unfolding.scheme().conditions.len(), (0, false));
        now.time += 1;
        for (frame, process) in memory.layout.frames.iter().zip(&process_set.processes) {
            let location = memory.location(frame) as u32 - frame.first_location;
            now.locations[*process as usize] = Some(location);
            now.there.push(*process);
            if !now.full {
                now.alive.extend(self.guards.future(&self.unfolding, *process, location));
            }
        }
    }

    /// The transition of the scheme that a move of the state at hand is.
    fn label(&self, transition: &Transition) -> Label {
        let number = |process: u32, edge: u32| {
            let process = self.now.there[process as usize];
            self.unfolding.transition(process, ample_model::EdgeId(self.space.program.edges[edge as usize].id))
        };
        if self.now.there.is_empty() {
            return UNKNOWN | transition.edge();
        }
        let alone = number(transition.process(), transition.edge());
        match transition.partner() {
            None => alone,
            Some((process, edge)) => self.unfolding.handshake(alone, number(process, edge)).unwrap_or(Label::MAX),
        }
    }

    fn take_in(&mut self, enabled: &[Labelled<Transition>]) {
        self.now.enabled.clear();
        self.now.is_enabled.clear();
        for one in enabled {
            // Numbers that are not those of the scheme are too large for a set.
            if one.label >= UNKNOWN {
                self.now.full = true;
                return;
            }
            self.now.enabled.push(one.label);
            self.now.is_enabled.insert(one.label);
        }
    }
}

/// The state as a view.
struct State<'v, 'a> {
    space: &'v mut Compiled,
    unfolding: &'v Unfolding<'a>,
    now: &'v mut Now,
    alive: &'v Bits,
    state: &'v [u8],
}

impl View for State<'_, '_> {
    #[inline]
    fn location(&self, process: ProcessNumber) -> Option<u32> {
        self.now.locations[process as usize]
    }

    #[inline]
    fn enabled(&self) -> &[TransitionNumber] {
        &self.now.enabled
    }

    #[inline]
    fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.now.is_enabled.contains(transition)
    }

    fn holds(&mut self, transition: TransitionNumber, condition: ConditionNumber) -> bool {
        let (time, held) = self.now.held[condition as usize];
        if time == self.now.time {
            return held;
        }
        let question = self.unfolding.question(condition);
        let held = match (&question.test, question.expression) {
            (ample_reduce::unfold::Test::Never, _) => false,
            (ample_reduce::unfold::Test::Youngest, _) => {
                let steps = &self.unfolding.scheme().transitions[transition as usize].steps;
                self.youngest() == Some(steps[0].process)
            }
            (_, Some((number, process))) => match self.unfolding.member(process).id {
                Some(id) => self.space.condition(number, id, self.state),
                None => true,
            },
            _ => true,
        };
        self.now.held[condition as usize] = (self.now.time, held);
        self.now.queries.push(Query::Holds(transition, condition, held));
        held
    }

    fn youngest(&self) -> Option<ProcessNumber> {
        self.now.there.last().copied()
    }

    /// What does not look at local variables can be asked ahead.
    fn asks_ahead(&self, transition: TransitionNumber, condition: ConditionNumber) -> bool {
        use ample_reduce::unfold::Test;
        let question = self.unfolding.question(condition);
        let waits = matches!(question.test, Test::Blocked(_) | Test::Timeout | Test::Youngest | Test::Fits);
        let steps = &self.unfolding.scheme().transitions[transition as usize].steps;
        let is_there = steps.iter().all(|step| self.now.locations[step.process as usize].is_some());
        is_there && !waits && !question.reads_locals
    }

    fn alive(&self) -> Option<&Bits> {
        Some(self.alive)
    }

    fn fill(&mut self, object: ObjectNumber) -> u32 {
        let (empty, full) = self.fill_class(object);
        self.now.queries.push(Query::Fill(object, empty, full));
        self.count(object)
    }
}

impl StateSpace for Reduced<'_> {
    type State = [u8];
    type Transition = Transition;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.space.initial(index, out)
    }

    #[inline]
    fn first(&mut self, state: &[u8]) -> Option<Transition> {
        self.space.first(state)
    }

    #[inline]
    fn next(&mut self, state: &[u8], transition: &Transition) -> Option<Transition> {
        self.space.next(state, transition)
    }

    #[inline]
    fn target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.space.target(state, transition, out);
    }
}

impl Checked for Reduced<'_> {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn culprit(&self) -> Option<Culprit> {
        self.space.culprit()
    }

    fn stopped(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.space.stopped(state, transition, out);
    }

    #[inline]
    fn is_transient(&self, state: &[u8]) -> bool {
        self.space.is_transient(state)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.space.invariant(number, state)
    }
}

impl Partial for Reduced<'_> {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<Labelled<Transition>>) {
        if !self.space.is_transient(state) {
            self.look_at(state);
        }
        let transient = self.space.is_transient(state);
        let mut cursor = self.space.first(state);
        while let Some(transition) = cursor {
            // Inside an atomic sequence nothing sleeps, and no label may be that of something that does.
            let label = if transient { Label::MAX } else { self.label(&transition) };
            out.push(Labelled { transition, label });
            cursor = self.space.next(state, &transition);
        }
    }

    fn persistent(&mut self, state: &[u8], enabled: &[Labelled<Transition>], out: &mut Vec<u32>) {
        self.choose(state, enabled, None, out);
    }

    fn persistent_with(&mut self, state: &[u8], enabled: &[Labelled<Transition>], member: u32, out: &mut Vec<u32>) {
        self.choose(state, enabled, Some(member), out);
    }

    /// What the guards say holds in all states, and what the tables say in this one. Both are valid, and so are they
    /// together; and they are weakly uniform if the tables are: that the guards know more than the tables, of two
    /// transitions that are enabled and use the same channel, does not depend on how many messages there are.
    fn independent(&mut self, state: &[u8], first: Label, second: Label) -> bool {
        if self.unfolding.is_full()
            || self.process_sets.len() > MAX_PROCESS_SETS
            || first == Label::MAX
            || second == Label::MAX
        {
            return false;
        }
        self.dependency == Dependency::Conditional && self.guards.independent(&self.unfolding, first, second)
            || self.independent_by_tables(state, first, second)
    }

    fn may_matter(&mut self, state: &[u8]) -> bool {
        if self.may_violate(state) {
            return true;
        }
        let Reduced { space, pending, .. } = self;
        let memory = Reading::open(state, &mut space.layouts, &space.program.layout);
        let locations = memory.layout.frames.iter().map(|frame| memory.location(frame) as u32);
        pending.demands(&space.executed, locations)
    }
}

impl Reduced<'_> {
    /// An assertion, a run-time error or an invariant may be violated after the state, if that is asked.
    fn may_violate(&mut self, state: &[u8]) -> bool {
        if self.only_deadlocks {
            return false;
        }
        if !self.watches.is_empty() {
            return true;
        }
        self.look_at(state);
        let matters = |process: &ProcessNumber| {
            let location = self.now.locations[*process as usize].unwrap_or(0);
            self.unfolding.member(*process).matters[location as usize]
        };
        self.now.full || self.now.there.iter().any(matters)
    }

    fn choose(&mut self, state: &[u8], enabled: &[Labelled<Transition>], member: Option<u32>, out: &mut Vec<u32>) {
        out.clear();
        let all = 0..enabled.len() as u32;
        if enabled.len() <= 1 || self.space.is_transient(state) {
            return out.extend(all);
        }
        // A set with a certain member is asked for where one was left out before.
        if member.is_none() && self.pauses.is_pause() {
            self.tally.count(false);
            return out.extend(all);
        }
        self.unfolding.effort().earn();
        self.look_at(state);
        self.take_in(enabled);
        // Of sets of the same size the first is chosen: that of the oldest process, as the guards do.
        if self.algorithm != Algorithm::Guards {
            self.now.enabled.reverse();
        }
        // A closure may take long where there are many transitions.
        if self.now.full || self.algorithm != Algorithm::Guards && self.budget.check().is_err() {
            self.tally.count(false);
            return out.extend(all);
        }
        let Reduced { space, unfolding, guards, chooser, visible, invisible, now, chosen, recall, .. } = self;
        let (algorithm, dependency) = (&self.algorithm, self.dependency);
        if *algorithm == Algorithm::Guards {
            let memory = Reading::new(state, &space.layouts);
            let layout = &space.program.layout;
            let there = now.there.iter().zip(&memory.layout.frames);
            let standing =
                there.map(|(process, frame)| (*process, memory.location(frame) as u32 - frame.first_location));
            let ids: &[ProcessNumber] = &now.there;
            guards.prepare(unfolding, standing, |process, variable, slot| {
                let id = ids.iter().position(|other| *other == process).unwrap_or(0);
                let frame = &memory.layout.frames[id];
                let slot = layout.segments[usize::from(frame.process)].locals[variable.index()].slots[slot as usize];
                memory.cell(frame.bases[slot.cell.base as usize], &slot.cell) + slot.low
            });
        }
        let seed = member.map(|member| enabled[member as usize].label);
        let alive = std::mem::take(&mut now.alive);
        recall.ask(seed, now, |process, location| {
            guards.variants_at(&unfolding.member(process).leaving[location as usize])
        });
        let mut view = State { space, unfolding, now, alive: &alive, state };
        // The other algorithms ask for exact numbers of messages.
        let by_guards = *algorithm == Algorithm::Guards;
        let known = by_guards && recall.answer(&mut view, chosen);
        match (algorithm.with_variant(dependency), seed) {
            _ if known => {}
            (None, None) => guards.smallest(unfolding, &mut view, &alive, *invisible, chosen),
            (None, Some(seed)) => guards.with(unfolding, &mut view, &alive, seed, chosen),
            (Some(by), None) => chooser.smallest(by, unfolding.scheme(), &mut view, chosen),
            (Some(by), Some(seed)) => {
                chooser.persistent(by, unfolding.scheme(), &mut view, seed, chosen);
            }
        }
        if by_guards && !known {
            recall.keep(&view.now.queries, chosen);
        }
        // Only the stubborn sets by guards know what is visible.
        if (*algorithm != Algorithm::Guards || *invisible)
            && chosen.iter().any(|transition| visible.contains(*transition))
        {
            chosen.clear();
            chosen.extend_from_slice(&view.now.enabled);
        }
        self.now.alive = alive;
        let chosen = &self.chosen;
        out.extend(all.filter(|position| chosen.contains(&enabled[*position as usize].label)));
        let leaves_out = out.len() < enabled.len();
        self.tally.count(leaves_out);
        self.pauses.note(leaves_out);
    }
}

/// A compiled system in which only the transitions of a persistent set leave a state, and the others when they are
/// [asked for](Checked::rest): for searches that go depth first, and look at the transitions of a state one after the
/// other.
///
/// The sets of the states on the search's path lie on a stack; a transition knows its place there.
pub struct Ample<'a> {
    space: Reduced<'a>,
    postponed: Postponed<Transition>,
    enabled: Vec<Labelled<Transition>>,
    positions: Vec<u32>,
    puts_off: bool,
    may_get_lost: bool,
}

impl<'a> Ample<'a> {
    /// For properties of endless runs: no transition of a set is visible, unless the set is whole.
    ///
    /// `may_get_lost` tells that an atomic sequence may go on for ever. A run that gets lost in one is none, so that
    /// nothing is independent of a step that may lead there.
    pub fn new(mut space: Reduced<'a>, may_get_lost: bool) -> Ample<'a> {
        space.invisible = true;
        Ample {
            space,
            postponed: Postponed::default(),
            enabled: Vec::new(),
            positions: Vec::new(),
            puts_off: true,
            may_get_lost,
        }
    }

    /// The compiled system.
    pub fn compiled(&mut self) -> &mut Compiled {
        self.space.compiled()
    }
}

impl StateSpace for Ample<'_> {
    type State = [u8];
    type Transition = Taken<Transition>;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.space.initial(index, out)
    }

    fn first(&mut self, state: &[u8]) -> Option<Taken<Transition>> {
        if !self.puts_off || self.space.is_transient(state) {
            return self.space.first(state).map(|first| self.postponed.of_all(first));
        }
        self.enabled.clear();
        self.space.enabled(state, &mut self.enabled);
        if self.enabled.len() <= 1 {
            return self.enabled.first().map(|one| self.postponed.of_all(one.transition));
        }
        self.space.persistent(state, &self.enabled, &mut self.positions);
        if self.positions.len() == self.enabled.len() {
            return self.enabled.first().map(|one| self.postponed.of_all(one.transition));
        }
        let (enabled, positions) = (&self.enabled, &self.positions);
        let at = |position: u32| enabled[position as usize].transition;
        let others = (0..enabled.len() as u32).filter(|position| !positions.contains(position));
        self.postponed.push(positions.iter().map(|position| at(*position)), others.map(at))
    }

    fn next(&mut self, state: &[u8], last: &Taken<Transition>) -> Option<Taken<Transition>> {
        self.postponed.return_to(last);
        if last.is_of_all() {
            return self.space.next(state, &last.transition).map(|transition| last.with(transition));
        }
        self.postponed.next(last)
    }

    fn target(&mut self, state: &[u8], taken: &Taken<Transition>, out: &mut Vec<u8>) {
        self.space.target(state, &taken.transition, out);
        // Nothing is independent of a step that ends the run.
        let ends = self.space.is_dead() || self.may_get_lost && self.space.is_transient(out);
        if ends {
            self.postponed.choose_all(taken);
        }
    }
}

impl Checked for Ample<'_> {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn culprit(&self) -> Option<Culprit> {
        self.space.culprit()
    }

    fn stopped(&mut self, state: &[u8], taken: &Taken<Transition>, out: &mut Vec<u8>) {
        self.space.stopped(state, &taken.transition, out);
    }

    fn is_transient(&self, state: &[u8]) -> bool {
        self.space.is_transient(state)
    }

    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.space.invariant(number, state)
    }

    fn rest(&mut self, _: &[u8], last: &Taken<Transition>) -> Option<Taken<Transition>> {
        self.postponed.rest(last)
    }

    fn put_off(&mut self, may: bool) {
        self.puts_off = may;
    }
}

impl Concurrent for Ample<'_> {
    fn mover(&self, taken: &Taken<Transition>) -> Option<u32> {
        self.space.space.mover(&taken.transition)
    }

    fn postponed_movers(&self, first: &Taken<Transition>) -> Processes {
        let mut movers = Processes::NONE;
        for transition in self.postponed.rest_of(first) {
            if let Some(mover) = self.space.space.mover(transition) {
                movers.insert(mover);
            }
        }
        movers
    }

    fn participants(&self) -> Processes {
        self.space.space.participants()
    }

    fn note_participants(&mut self) {
        self.space.space.note_participants();
    }

    fn actions(&mut self, state: &[u8], taken: &Taken<Transition>) -> Vec<Move> {
        self.space.space.expand(state, &taken.transition)
    }
}
