//! Sets of states of any bounded system, as binary decision diagrams.
//!
//! How large variables get is guessed from a sample and then looked at once, with all reachable states: if some step has
//! no room, the system is encoded again with more. The encoding that is found, and the order of its variables, are kept;
//! every engine builds its own diagrams from them in the same way. Variables are not moved afterwards, so that the bytes
//! of a set mean the same in all engines.
//!
//! An action is a move: a statement of a process, or of two that shake hands. A level is a bit.

use std::sync::Arc;

use ample_boolean::{Bounds, Encoding, Lit, NotEncoded};
use ample_model::{Budget, Expr, Interrupted, Move, System};
use ample_symbolic::build::{Builder, Built, Grain, arrange, build};
use ample_symbolic::diagram::{Bdd, Completion, Diagrams, Stop};
use ample_symbolic::reach::{Effort, Method, reachable};
use ample_symbolic::space::{Space, Step};

use crate::sets::{Halt, Maybe, Model, Sets, StopFlag};

/// Bytes for a node, with its share of the tables around it.
const NODE_BYTES: u64 = ample_symbolic::diagram::NODE_BYTES as u64;
/// How many states are looked at to guess how large variables get.
const SAMPLE: usize = 3000;
/// Relations that need more nodes while they are built are built in another order.
const ENOUGH_FOR_RELATIONS: usize = 1_000_000;
/// How often it starts again with more room.
const MAX_RESTARTS: usize = 200;

impl From<NotEncoded> for Halt {
    fn from(not: NotEncoded) -> Halt {
        match not {
            NotEncoded::Unsupported(why) => Halt::Unsupported(why.0),
            NotEncoded::Interrupted(Interrupted::Memory) => Halt::Memory,
            NotEncoded::Interrupted(Interrupted::Deadline | Interrupted::Cancelled) => Halt::Asked,
        }
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        match stop {
            Stop::Memory => Halt::Memory,
            Stop::Asked | Stop::Late | Stop::Order => Halt::Asked,
        }
    }
}

/// A system with conditions on its states, encoded.
#[derive(Debug)]
pub struct Binary {
    encoding: Encoding,
    literals: Vec<Lit>,
    order: Vec<u32>,
    actions: Vec<String>,
    atoms: Vec<String>,
    moves: Vec<Move>,
    memory: u64,
    states: u128,
}

impl Binary {
    /// Encodes a system that passes the check of well-formedness, with atoms: a name and an expression over global
    /// things each. `memory` is what all engines together may use, in bytes.
    pub fn new(system: &System, atoms: &[(String, Expr)], memory: u64, stop: &StopFlag) -> Maybe<Binary> {
        let budget = Budget::unlimited().with_cancellation(&Arc::clone(stop).into());
        let mut bounds = match system.language.as_str() {
            "milestones" => Bounds::declared(system),
            _ => Bounds::sampled_within(system, SAMPLE, &budget),
        };
        for _ in 0..MAX_RESTARTS {
            let mut encoding = Encoding::within(system, &bounds, &budget)?;
            let mut literals = Vec::new();
            for (_, expr) in atoms {
                let (value, fault) = encoding.condition_within(system, expr)?;
                // Where it cannot be evaluated, it does not hold.
                literals.push(encoding.dag.and(value, !fault));
            }
            let (diagrams, built) = first_diagrams(&encoding, (memory / NODE_BYTES) as usize, stop)?;
            if built.space.passes_over() {
                return Err(Halt::Unsupported(ATOMIC.into()));
            }
            diagrams.reorder_when_large(true);
            let space = &built.space;
            let reached =
                reachable(space, &space.initial, Method::Saturation, &mut Effort::default(), &mut |_| Ok(true))?;
            if let Some((number, state)) = misfit(&reached, &built.overflow)? {
                let state = encoding.state(system, &|bit| state[bit as usize]);
                bounds = encoding.widen(system, &bounds, &state, number);
                continue;
            }
            let moves: Vec<Move> = encoding.partitions.iter().map(|partition| partition.taken).collect();
            let actions = moves.iter().map(|taken| name(system, taken)).collect();
            let atoms = atoms.iter().map(|(name, _)| name.clone()).collect();
            let (order, states) = (diagrams.order(), number(&reached.count()));
            return Ok(Binary { encoding, literals, order, actions, atoms, moves, memory, states });
        }
        Err(Halt::Unsupported("the values of some variables keep growing: no bound was found for them".into()))
    }

    /// The move that an action is.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// How many states can be reached.
    pub fn states(&self) -> u128 {
        self.states
    }

    /// The state that a witness begins with.
    pub fn state(&self, system: &System, bits: &[u64]) -> ample_model::State {
        self.encoding.state(system, &|bit| bits.get(bit as usize).is_some_and(|value| *value == 1))
    }
}

const ATOMIC: &str = "the model has atomic sequences, whose inner states the observation graph does not pass over";

/// The relations, in an order that suits them.
fn first_diagrams(encoding: &Encoding, most: usize, stop: &StopFlag) -> Maybe<(Diagrams, Built)> {
    let room = most;
    let make = |grain, most| {
        let diagrams = Diagrams::new(encoding.bits, most, Arc::clone(stop));
        diagrams.make_room_for(room);
        arrange(encoding, &diagrams, grain);
        build(encoding, &diagrams).map(|built| (diagrams, built))
    };
    match make(Grain::Cells, most.min(ENOUGH_FOR_RELATIONS)) {
        Err(Stop::Memory) => Ok(make(Grain::Bits, most)?),
        made => {
            let (diagrams, built) = made?;
            diagrams.set_max_nodes(most);
            Ok((diagrams, built))
        }
    }
}

/// A reachable state, and a step from it whose outcome has no room.
fn misfit(reached: &Bdd, overflow: &[Bdd]) -> Maybe<Option<(usize, Vec<bool>)>> {
    for (number, overflow) in overflow.iter().enumerate() {
        if let Some(state) = reached.and(overflow)?.pick() {
            return Ok(Some((number, state)));
        }
    }
    Ok(None)
}

/// The statement; with the process in front of it where there are several.
fn name(system: &System, taken: &Move) -> String {
    let mut text = label(system, taken.process, taken.edge.index());
    if let Some((partner, edge)) = taken.partner {
        text = format!("{text} / {}", label(system, partner, edge.index()));
    }
    text
}

fn label(system: &System, process: u32, edge: usize) -> String {
    // The types of processes that are created later are not known by their number.
    let of = match (system.start.get(process as usize), system.processes.as_slice()) {
        (Some(instance), _) => Some(system.process(instance.process)),
        (None, [only]) => Some(only),
        _ => None,
    };
    match of.and_then(|of| Some((of, of.edges.get(edge)?))) {
        Some((_, edge)) if system.start.len() == 1 => edge.label.clone(),
        Some((of, edge)) => format!("{}({process}):{}", of.name, edge.label),
        None => format!("{process}:{edge}"),
    }
}

fn number(count: &num_bigint::BigUint) -> u128 {
    u128::try_from(count).unwrap_or(u128::MAX)
}

impl Model for Binary {
    type Sets = Diagram;

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn atoms(&self) -> &[String] {
        &self.atoms
    }

    fn sets(&self, share: usize, stop: &StopFlag) -> Maybe<Diagram> {
        let most = self.memory / NODE_BYTES / share.max(1) as u64;
        let diagrams = Diagrams::new(self.encoding.bits, most as usize, Arc::clone(stop));
        diagrams.make_room_for(most as usize);
        diagrams.set_order(&self.order);
        let space = build(&self.encoding, &diagrams)?.space;
        let mut builder = Builder::new(&self.encoding.dag, &diagrams);
        let conditions = self.literals.iter().map(|lit| builder.diagram(*lit)).collect::<Result<_, _>>()?;
        Ok(Diagram { space, conditions, order: self.order.clone(), completions: Vec::new() })
    }
}

/// Sets of states as diagrams.
pub struct Diagram {
    space: Space,
    conditions: Vec<Bdd>,
    order: Vec<u32>,
    /// Lists of actions under which sets were completed.
    completions: Vec<(Vec<usize>, Completion)>,
}

impl Diagram {
    fn step(&self, action: usize) -> &Step {
        &self.space.steps[action]
    }
}

impl Sets for Diagram {
    type Set = Bdd;

    fn initial(&mut self) -> Maybe<Bdd> {
        Ok(self.space.initial.clone())
    }

    fn empty(&mut self) -> Bdd {
        self.space.diagrams.constant(false)
    }

    fn is_empty(&self, set: &Bdd) -> bool {
        set.is_false()
    }

    fn is_single(&mut self, set: &Bdd) -> Maybe<bool> {
        let Some(state) = set.pick() else { return Ok(false) };
        Ok(set.only(&state)? == *set)
    }

    fn union(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        Ok(one.or(other)?)
    }

    fn intersection(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        Ok(one.and(other)?)
    }

    fn minus(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        Ok(one.minus(other)?)
    }

    fn image(&mut self, set: &Bdd, action: usize) -> Maybe<Bdd> {
        let step = self.step(action);
        Ok(set.image(&step.relation, step.written)?)
    }

    fn preimage(&mut self, set: &Bdd, action: usize, within: &Bdd) -> Maybe<Bdd> {
        let step = self.step(action);
        Ok(set.preimage_within(&step.relation, step.written, within)?)
    }

    fn closure(&mut self, set: &Bdd, actions: &[usize]) -> Maybe<Bdd> {
        let known = self.completions.iter().position(|(known, _)| known == actions);
        let number = known.unwrap_or_else(|| {
            let relation = |action: &usize| (self.step(*action).relation.clone(), self.step(*action).written);
            let completion = self.space.diagrams.completion(actions.iter().map(relation).collect());
            self.completions.push((actions.to_vec(), completion));
            self.completions.len() - 1
        });
        Ok(set.completed(&self.completions[number].1)?)
    }

    fn is_enabled(&mut self, set: &Bdd, action: usize) -> Maybe<bool> {
        Ok(!set.is_disjoint(&self.step(action).guard)?)
    }

    fn resting(&mut self, set: &Bdd) -> Maybe<Bdd> {
        let idle = self.space.resting(set)?;
        Ok(idle.or(&set.and(&self.space.faulty)?)?)
    }

    fn fault(&mut self, state: &Bdd) -> Maybe<Option<usize>> {
        for (number, step) in self.space.steps.iter().enumerate() {
            if !state.is_disjoint(&step.fault)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn holding(&mut self, set: &Bdd, atom: usize) -> Maybe<Bdd> {
        Ok(set.and(&self.conditions[atom])?)
    }

    fn touches(&self, action: usize, atom: usize) -> bool {
        let writes = &self.step(action).writes;
        self.conditions[atom].support().iter().any(|bit| writes.contains(bit))
    }

    fn count(&mut self, set: &Bdd) -> Maybe<u128> {
        Ok(number(&set.count()))
    }

    fn nodes(&mut self, set: &Bdd) -> Maybe<usize> {
        Ok(set.nodes())
    }

    fn encode(&mut self, set: &Bdd) -> Maybe<Vec<u8>> {
        Ok(set.to_bytes())
    }

    fn decode(&mut self, bytes: &[u8]) -> Maybe<Bdd> {
        let set = self.space.diagrams.from_bytes(bytes)?;
        set.ok_or_else(|| Halt::Internal("bytes that are no diagram".into()))
    }

    fn pick(&mut self, set: &Bdd) -> Maybe<Option<(Vec<u64>, Bdd)>> {
        let Some(state) = set.pick() else { return Ok(None) };
        let only = set.only(&state)?;
        Ok(Some((state.into_iter().map(u64::from).collect(), only)))
    }

    fn only(&mut self, state: &[u64]) -> Maybe<Bdd> {
        if state.len() != self.order.len() {
            return Err(Halt::Internal("a state with another number of bits".into()));
        }
        let bits: Vec<bool> = state.iter().map(|bit| *bit == 1).collect();
        Ok(self.space.initial.only(&bits)?)
    }

    fn levels(&self) -> usize {
        self.order.len()
    }

    fn halves(&mut self, set: &Bdd, level: usize) -> Maybe<(Bdd, Bdd)> {
        let bit = self.space.diagrams.now(self.order[level])?;
        let (low, high) = (set.minus(&bit)?, set.and(&bit)?);
        Ok(if low.is_false() { (high, low) } else { (low, high) })
    }
}
