//! Explicit search: every state belongs to one worker, which is found by hashing it.

mod liveness;
mod origin;
mod safety;
mod trace;

use ample_engine::temporal::Edge;
use ample_explicit::compile::{Algorithm, CompileError, Compiled, CompiledSystem};
use ample_explicit::engine::distributed::{
    EmptinessFound, EmptinessSearch, NOT_SELF_CONTAINED, Persistent, SafetyFound, SafetySearch,
};
use ample_explicit::liveness::BuchiAutomaton;
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::Whole;
use ample_model::{Expr, Interrupted, Reason, System};
use clap::ValueEnum;
use rapidhash::RapidHashSet;
use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

pub(crate) use self::origin::{read_number, write_number};
use crate::exchange::Kind;
use crate::session::{OWN_KINDS, Seat};

/// A state that was reached, or several of them.
const STATES: Kind = OWN_KINDS;
/// Which of the states that were asked about are new.
const ANSWERS: Kind = OWN_KINDS + 1;
/// Something was found, and worker 0 is told.
const FOUND: Kind = OWN_KINDS + 2;
/// What a worker has found and counted.
const REPORT: Kind = OWN_KINDS + 3;
/// A run is followed back to its beginning.
const TRACE: Kind = OWN_KINDS + 4;
/// The states of a part of a run.
const PIECE: Kind = OWN_KINDS + 5;
/// How the encoding of states looks.
const ENCODING: Kind = OWN_KINDS + 6;
/// Which processes are behind a number that states begin with.
const PROCESSES: Kind = OWN_KINDS + 8;
/// Nodes of a graph that are reached, or are taken away.
const NODES: Kind = OWN_KINDS + 7;

/// A [`SafetySearch`], to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SafetyJob {
    deadlock: bool,
    assertions: bool,
    invariants: Vec<Expr>,
    persistent: Option<PersistentJob>,
    stop_at_first: bool,
    max_depth: u64,
    is_native: bool,
    has_hidden: bool,
}

/// How persistent sets are used.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PersistentJob {
    algorithm: String,
    keeps_assertions: bool,
    has_proviso: bool,
}

impl SafetyJob {
    pub(crate) fn of(search: &SafetySearch) -> SafetyJob {
        let persistent = search.persistent.as_ref().map(|persistent| PersistentJob {
            algorithm: persistent
                .algorithm
                .to_possible_value()
                .map_or(String::new(), |name| name.get_name().to_owned()),
            keeps_assertions: persistent.keeps_assertions,
            has_proviso: persistent.has_proviso,
        });
        SafetyJob {
            deadlock: search.deadlock,
            assertions: search.assertions,
            invariants: search.invariants.clone(),
            persistent,
            stop_at_first: search.stop_at_first,
            max_depth: search.max_depth,
            is_native: search.is_native,
            has_hidden: search.has_hidden,
        }
    }

    fn persistent(&self) -> Option<Persistent> {
        let job = self.persistent.as_ref()?;
        let algorithm = Algorithm::from_str(&job.algorithm, false).ok()?;
        Some(Persistent { algorithm, keeps_assertions: job.keeps_assertions, has_proviso: job.has_proviso })
    }
}

/// An [`EmptinessSearch`], to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EmptinessJob {
    initial: u32,
    sets: u32,
    edges: Vec<Vec<EdgeJob>>,
    atoms: Vec<Expr>,
    stutters: bool,
    is_hasty: bool,
    max_depth: u64,
    is_native: bool,
    has_hidden: bool,
}

/// An edge of an automaton.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct EdgeJob {
    when: Vec<Vec<(u32, bool)>>,
    to: u32,
    marks: u32,
}

impl EmptinessJob {
    pub(crate) fn of(search: &EmptinessSearch<'_>) -> EmptinessJob {
        let (initial, sets, edges) = search.automaton.parts();
        let edge = |edge: Edge| EdgeJob { when: edge.when, to: edge.to, marks: edge.marks };
        EmptinessJob {
            initial,
            sets,
            edges: edges.into_iter().map(|edges| edges.into_iter().map(edge).collect()).collect(),
            atoms: search.atoms.to_vec(),
            stutters: search.stutters,
            is_hasty: search.is_hasty,
            max_depth: search.max_depth,
            is_native: search.is_native,
            has_hidden: search.has_hidden,
        }
    }

    /// There is a state in which every word is accepted.
    fn has_universal(&self) -> bool {
        let all = if self.sets >= 32 { u32::MAX } else { (1 << self.sets) - 1 };
        self.edges.iter().enumerate().any(|(state, edges)| {
            let stays = |edge: &EdgeJob| edge.to as usize == state && edge.marks & all == all;
            edges.iter().any(|edge| stays(edge) && edge.when.iter().any(Vec::is_empty))
        })
    }

    fn automaton(&self) -> Result<BuchiAutomaton, Reason> {
        let edge = |edge: &EdgeJob| Edge { when: edge.when.clone(), to: edge.to, marks: edge.marks };
        let edges: Vec<Vec<Edge>> = self.edges.iter().map(|edges| edges.iter().map(edge).collect()).collect();
        BuchiAutomaton::new(self.initial, self.sets, &edges).map_err(|error| Reason::Internal(error.to_string()))
    }
}

/// Compiles a system for a search of this worker.
fn compile<'s>(seat: &Seat<'_>, system: &'s System, is_native: bool) -> Result<CompiledSystem<'s>, CompileError> {
    let compiled = CompiledSystem::new(system, seat.budget)?;
    Ok(if is_native { compiled } else { compiled.without_native_code() })
}

/// All workers are able to begin, or they all know that one of them is not: why, as far as worker 0 knows.
///
/// States go from one worker to another as they are, so that all of them have to write them alike; whether they do is seen
/// at the first states.
fn begin(
    seat: &mut Seat<'_>,
    space: Result<&mut Compiled, Reason>,
    has_hidden: bool,
) -> Result<Option<Reason>, Interrupted> {
    let (why, encoding) = match space {
        Err(why) => (Some(why), 0),
        Ok(space) if has_hidden && !space.is_self_contained() && seat.workers() > 1 => {
            (Some(Reason::Unsupported(NOT_SELF_CONTAINED.into())), 0)
        }
        Ok(space) => (None, encoding(space)),
    };
    if let Some(why) = &why {
        seat.exchange.send(REPORT, 0, serde_json::to_vec(why).unwrap_or_default());
    }
    seat.exchange.broadcast(ENCODING, &encoding.to_le_bytes());
    let mut reasons = Vec::new();
    let mut is_alike = true;
    let failed = seat.round(&[u64::from(why.is_some())], |_, message| match message.kind {
        REPORT => reasons.extend(serde_json::from_slice::<Reason>(&message.bytes).ok()),
        _ => is_alike &= message.bytes == encoding.to_le_bytes(),
    })?;
    if failed != [0] {
        return Ok(Some(why.or(reasons.pop()).unwrap_or(Reason::Interrupted)));
    }
    let unlike = seat.round(&[u64::from(!is_alike)], |_, _| {})?;
    let unlike = (unlike != [0]).then(|| Reason::Internal("the workers do not write states alike".into()));
    Ok(unlike)
}

/// What workers tell each other of the numbers that states begin with, where a number does not say by itself which
/// processes are alive.
struct Announced {
    /// By worker: the numbers that it knows from this one. Empty if there is nothing to tell.
    known: Vec<RapidHashSet<u32>>,
}

impl Announced {
    fn new(space: &Compiled, workers: usize) -> Announced {
        Announced { known: if space.is_self_contained() { Vec::new() } else { vec![RapidHashSet::default(); workers] } }
    }

    /// To be called before a state is sent.
    #[inline]
    fn announce(&mut self, seat: &mut Seat<'_>, space: &Compiled, state: &[u8], to: usize) {
        if let Some(known) = self.known.get_mut(to)
            && let Some(number) = space.hashed_processes(state)
            && known.insert(number)
        {
            let mut bytes = number.to_le_bytes().to_vec();
            let processes = space.processes_of(state).unwrap_or_default();
            bytes.extend(processes.iter().flat_map(|process| process.to_le_bytes()));
            seat.exchange.send(PROCESSES, to, bytes);
        }
    }

    /// Another worker has announced something. False if it contradicts what this one knows.
    fn learn(space: &mut Compiled, bytes: &[u8]) -> bool {
        let Some((number, processes)) = bytes.split_first_chunk::<4>() else { return false };
        let processes = processes.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        space.learn_processes(u32::from_le_bytes(*number), &processes.collect::<Vec<u16>>())
    }
}

/// So many states are compared.
const COMPARED: usize = 200;

/// A number that stands for the first states of a space, in breadth-first order.
fn encoding(space: &mut Compiled) -> u64 {
    let mut states = Vec::new();
    let mut out = Vec::new();
    let mut hash = 0_u64;
    while states.len() < COMPARED / 4 && space.initial(states.len(), &mut out) {
        states.push(out.clone());
    }
    let mut next = 0;
    while let Some(state) = states.get(next).cloned() {
        next += 1;
        hash = hash.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rapidhash_v3(&state);
        let mut step = space.first(&state);
        while let Some(transition) = step.filter(|_| states.len() < COMPARED) {
            space.target(&state, &transition, &mut out);
            if !space.is_dead() && !states.contains(&out) {
                states.push(out.clone());
            }
            step = space.next(&state, &transition);
        }
    }
    hash
}

/// Who owns the states with that hash. It uses other bits than the tables do.
#[inline]
fn owner(hash: u64, workers: usize) -> usize {
    let mixed = (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32;
    ((mixed * workers as u64) >> 32) as usize
}

/// Searches for violations of safety properties, with all other workers; worker 0 learns what came of it.
pub(crate) fn safety(seat: &mut Seat<'_>, system: &System, job: &SafetyJob) -> Result<SafetyFound, Interrupted> {
    safety::search(seat, system, job)
}

/// Searches for an accepted run, with all other workers; worker 0 learns what came of it.
pub(crate) fn emptiness(
    seat: &mut Seat<'_>,
    system: &System,
    job: &EmptinessJob,
) -> Result<EmptinessFound, Interrupted> {
    if job.has_hidden {
        let visible = CompiledSystem::new(system, seat.budget).and_then(|c| c.space(&job.atoms, seat.budget));
        match visible.map(|space| space.visible()) {
            Ok(visible) => liveness::search(seat, system, job, visible),
            Err(_) => liveness::search(seat, system, job, Whole),
        }
    } else {
        liveness::search(seat, system, job, Whole)
    }
}
