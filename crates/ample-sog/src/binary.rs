//! Sets of states of any bounded system, as binary decision diagrams.
//!
//! How large variables get is guessed from a sample and then looked at once, with all reachable states: if some step has
//! no room, the system is encoded again with more. The encoding that is found, and the order of its variables, are kept;
//! every engine builds its own diagrams from them in the same way. Variables are not moved afterwards, so that the bytes
//! of a set mean the same in all engines.
//!
//! An action is a move: a statement of a process, or of two that shake hands. A level is a bit. States inside an atomic
//! sequence are transient (see [`crate::aggregate`]).

use ample_boolean::{Encoding, Lit};
use ample_model::{Budget, Expr, Move, System};
use ample_symbolic::build::build;
use ample_symbolic::diagram::{Bdd, Diagrams};
use ample_symbolic::encode::{Options, Reached, conditions_of, encode};
use ample_symbolic::reach::{Effort, Method, reachable};
use ample_symbolic::space::{Space, SpaceSets};
use ample_symbolic::{SetError, Sets};

use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::model::{Error, Labelled, Maybe, Model};

/// Bytes for a node, with its share of the tables around it.
const NODE_BYTES: u64 = ample_symbolic::diagram::NODE_BYTES as u64;

/// How a process has encoded a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrangement {
    /// Of the meaning of all bits and of the moves.
    digest: String,
    /// The variable order.
    order: Vec<u32>,
    /// Transient states on cycles of transient states, written in that order.
    endless: Option<Vec<u8>>,
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
    /// Transient states on cycles of transient states.
    endless: Option<Vec<u8>>,
}

impl Binary {
    /// Encodes a system that passes the check of well-formedness, with atoms: a name and an expression over global
    /// things each. `memory` is what all threads together may use, in bytes.
    pub fn new(system: &System, atoms: &[(String, Expr)], memory: u64, budget: &Budget) -> Maybe<Binary> {
        let options = Options {
            is_declared: system.exact_types,
            budget: budget.clone(),
            max_nodes: &|| (memory / NODE_BYTES) as usize,
            reorders: true,
            reaches: true,
            unbuilt: &|_, _| (),
        };
        let conditions: Vec<&Expr> = atoms.iter().map(|(_, expr)| expr).collect();
        let mut states = 0;
        let found = encode(system, &conditions, &options, &mut |_, space, _| {
            let effort = &mut Effort::default();
            let reached = reachable(space, &space.initial, Method::Saturation, effort, &mut |_| Ok(true))?;
            states = number(&space.count(&reached)?);
            Ok(reached)
        })?;
        let Reached { encoding, space, literals, reached, .. } = found;
        space.diagrams.reorder_when_large(false);
        let endless = match reached {
            Some(reached) if space.has_transient() => endless(&space, &reached)?,
            _ => None,
        };
        let moves: Vec<Move> = encoding.partitions.iter().map(|partition| partition.taken.clone()).collect();
        let actions = moves.iter().map(|taken| name(system, taken)).collect();
        let atoms = atoms.iter().map(|(name, _)| name.clone()).collect();
        let order = space.diagrams.order();
        let endless = endless.map(|endless| endless.to_bytes());
        Ok(Binary { encoding, literals, order, actions, atoms, moves, memory, states, endless })
    }

    /// The move that an action is.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// How many states can be reached, transient ones left out.
    pub fn states(&self) -> u128 {
        self.states
    }

    /// Some atomic sequence may go on for ever.
    pub fn has_endless_sequences(&self) -> bool {
        self.endless.is_some()
    }

    /// What another process needs to give the same bytes to the same set.
    pub fn arrangement(&self) -> Arrangement {
        let cells = format!("{} {:?} {:?}", self.encoding.bits, self.encoding.cells, self.moves);
        let digest = digest(0, cells.as_bytes());
        Arrangement { digest: digest.to_string(), order: self.order.clone(), endless: self.endless.clone() }
    }

    /// With the variable order of another process; an error if that has encoded the system differently.
    pub fn arranged(self, as_there: Arrangement) -> Maybe<Binary> {
        if self.arrangement().digest != as_there.digest {
            return Err(Error::Internal("the processes do not encode states alike".into()));
        }
        Ok(Binary { order: as_there.order, endless: as_there.endless, ..self })
    }

    /// The state that a witness begins with.
    pub fn state(&self, system: &System, bits: &[u64]) -> ample_model::State {
        self.encoding.state(system, &|bit| bits.get(bit as usize).is_some_and(|value| *value == 1))
    }
}

/// The reachable transient states on cycles of transient states, and between such cycles.
fn endless(space: &Space, reached: &Bdd) -> Maybe<Option<Bdd>> {
    let transient = reached.minus(&space.visible)?;
    let mut sets = SpaceSets::new(space);
    let all: Vec<usize> = (0..sets.actions()).collect();
    let after = sets.after_cycles(&transient, &all)?;
    let between = sets.before_cycles(&after, &all)?;
    Ok((!between.is_false()).then_some(between))
}

/// The statement; with the process in front of it where there are several.
fn name(system: &System, taken: &Move) -> String {
    let labels: Vec<String> = taken.movers().map(|(process, edge)| label(system, process, edge.index())).collect();
    labels.join(" / ")
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
    type Sets = SpaceSets<Box<Space>>;

    fn actions(&self) -> &[String] {
        &self.actions
    }

    fn atoms(&self) -> &[String] {
        &self.atoms
    }

    fn sets(&self, share: usize, budget: &Budget) -> Maybe<Labelled<Self::Sets>> {
        let most = self.memory / NODE_BYTES / share.max(1) as u64;
        let diagrams = Diagrams::new(self.encoding.bits, most as usize, budget.clone());
        diagrams.make_room_for(most as usize);
        diagrams.set_order(&self.order);
        let space = build(&self.encoding, &diagrams)?.space;
        let read = |bytes: &Vec<u8>| diagrams.from_bytes(bytes)?.ok_or(SetError::Foreign);
        let endless = self.endless.as_ref().map(read).transpose()?;
        let conditions = conditions_of(&self.encoding, &diagrams, &self.literals)?;
        let reads: Vec<Vec<u32>> = conditions.iter().map(Bdd::support).collect();
        let writes: Vec<Vec<u32>> = space.steps.iter().map(|step| step.writes.clone()).collect();
        let touches = move |action: usize, atom: usize| reads[atom].iter().any(|bit| writes[action].contains(bit));
        let holding = move |_: &mut Self::Sets, set: &Bdd, atom: usize| set.and(&conditions[atom]);
        let sets = SpaceSets::new(Box::new(space));
        Ok(Labelled::new(sets, Box::new(holding), Box::new(touches)).with_endless(endless))
    }
}
