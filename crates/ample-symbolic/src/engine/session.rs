//! One model as diagrams: encoded, built, and its reachable states found.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::build::build;
use crate::diagram::{Bdd, Diagrams};
use crate::encode::{NotReached, Options, Reached, conditions_of, encode};
use crate::error::Maybe;
use crate::reach::{Effort, Method, reachable};
use crate::space::Space;
use ample_boolean::{Encoding, Lit};
use ample_budget::Budget;
use ample_model::{Expr, Move, Reason, StartNumber, System};

use ample_engine::report::DiagramStatistics;

use super::answers::unbuilt;
use super::{AlternativeEncoding, Notes, Reach, StepRelations, Symbolic};

/// Bytes for a node, with its share of the tables around it.
pub const NODE_BYTES: u64 = crate::diagram::NODE_BYTES as u64;
/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// Of `--relations`.
const ONLY_SYNCHRONOUS: &str = "dynamic transition relations are for circuits and SMV models, in which all moves at once; a \
                                step of a system of processes has a relation for each statement";

impl From<NotReached> for Reason {
    fn from(not: NotReached) -> Reason {
        match not {
            NotReached::Unsupported(why) => Reason::Unsupported(why),
            NotReached::Interrupted(interrupted) => interrupted.into(),
            NotReached::Sets(error) => error.into(),
        }
    }
}

/// A model as diagrams.
pub struct Session<'a> {
    /// The system that is asked about, and whose runs are told.
    pub system: &'a System,
    /// The alternative in which it is solved, if that is another.
    pub alternative: Option<&'a AlternativeEncoding>,
    pub encoding: Encoding,
    pub space: Space,
    /// The reachable states, if they were looked for.
    pub reached: Option<Bdd>,
    /// The states in which each condition holds.
    pub conditions: Vec<Bdd>,
    /// The same as formulas of the encoding.
    literals: Vec<Lit>,
    pub effort: Effort,
    pub restarts: usize,
}

/// The limits and ways of a session.
pub struct Setting<'a> {
    pub symbolic: Symbolic,
    pub budget: &'a Budget,
    pub notes: &'a Notes,
}

impl Setting<'_> {
    fn max_nodes(&self) -> usize {
        let room = self.budget.room().unwrap_or(DEFAULT_MEMORY) / 10 * 8;
        (room / NODE_BYTES) as usize
    }

    fn method(&self) -> Method {
        self.symbolic.reach.method()
    }

    /// Tells how it goes.
    fn tell(&self, effort: &Effort) {
        self.notes.images.store(effort.posts as u64, Ordering::Relaxed);
    }
}

impl<'a> Session<'a> {
    /// Encodes the system with these conditions, in the first of the alternative encodings that keeps its promises.
    pub fn begin(
        system: &'a System,
        alternatives: &'a [AlternativeEncoding],
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Reason> {
        if setting.symbolic.relations == StepRelations::Dynamic {
            return Err(Reason::Unsupported(ONLY_SYNCHRONOUS.into()));
        }
        for alternative in alternatives {
            setting.notes.left().alternative = Some(alternative.description.clone());
            let conditions: Vec<Expr> = conditions.iter().map(|condition| alternative.condition(condition)).collect();
            let conditions: Vec<&Expr> = conditions.iter().collect();
            let session = Session::of(&alternative.system, alternative.is_declared, &conditions, setting)?;
            if !alternative.is_promised || session.is_unbroken(setting)? {
                return Ok(Session { system, alternative: Some(alternative), ..session });
            }
        }
        setting.notes.left().alternative = None;
        Session::of(system, system.exact_types, conditions, setting)
    }

    /// Encodes the system with these conditions, as often as it takes until every reachable state has room.
    fn of(
        system: &'a System,
        declared: bool,
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Reason> {
        let options = Options {
            is_declared: declared,
            budget: setting.budget.clone(),
            max_nodes: &|| setting.max_nodes(),
            reorders: !setting.symbolic.no_reorder,
            reaches: setting.symbolic.reach != Reach::None,
            unbuilt: &|bits, diagrams| setting.notes.leave(unbuilt(bits, diagrams)),
        };
        let mut effort = Effort::default();
        let Reached { encoding, mut space, literals, conditions, reached, restarts } =
            encode(system, conditions, &options, &mut |encoding, space, restarts| {
                effort = Effort::default();
                setting.tell(&effort);
                let found = reach(space, setting, &mut effort);
                Ok(found.inspect_err(|_| setting.notes.leave(figures(encoding, space, None, &effort, restarts)))?)
            })?;
        if let Some(reached) = &reached {
            space.confine(reached)?;
        }
        Ok(Session { system, alternative: None, encoding, space, reached, conditions, literals, effort, restarts })
    }

    /// No assertion of the alternative can be broken.
    fn is_unbroken(&self, setting: &Setting<'_>) -> Result<bool, Reason> {
        let reached = match &self.reached {
            Some(reached) => reached.clone(),
            None => reach(&self.space, setting, &mut Effort::default())?,
        };
        for step in &self.space.steps {
            if !reached.and(&step.violation)?.is_false() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The system that is solved.
    pub fn solved(&self) -> &'a System {
        self.alternative.map_or(self.system, |alternative| &alternative.system)
    }

    /// What the diagrams are like.
    pub fn statistics(&self) -> DiagramStatistics {
        figures(&self.encoding, &self.space, self.reached.as_ref(), &self.effort, self.restarts)
    }

    /// The system once more, each bit with room for a copy beside it, and the conditions of these numbers. The copy of
    /// a bit has the bit's number and that of all bits together.
    pub fn doubled(&self, conditions: &[usize], setting: &Setting<'_>) -> Result<(Space, Vec<Bdd>), Reason> {
        let bits = self.encoding.bits;
        let most = setting.max_nodes();
        let diagrams = Diagrams::new(2 * bits, most, setting.budget.clone());
        diagrams.make_room_for(most);
        let order = self.space.diagrams.order();
        let order: Vec<u32> = order.into_iter().filter(|pair| *pair < bits).flat_map(|bit| [bit, bits + bit]).collect();
        diagrams.set_order(&order);
        let mut space = build(&self.encoding, &diagrams)?.space;
        diagrams.reorder_when_large(!setting.symbolic.no_reorder);
        let literals: Vec<Lit> = conditions.iter().map(|number| self.literals[*number]).collect();
        let conditions = conditions_of(&self.encoding, &diagrams, &literals)?;
        let reached = reach(&space, setting, &mut Effort::default())?;
        space.confine(&reached)?;
        Ok((space, conditions))
    }

    /// The reachable states; found now if they were not yet.
    pub fn reached(&mut self, setting: &Setting<'_>) -> Result<Bdd, Reason> {
        if let Some(reached) = &self.reached {
            return Ok(reached.clone());
        }
        let reached = reach(&self.space, setting, &mut self.effort)?;
        self.space.confine(&reached)?;
        self.reached = Some(reached.clone());
        Ok(reached)
    }

    /// The move of a step.
    pub fn taken(&self, number: usize) -> Move {
        self.encoding.partitions[number].taken.clone()
    }

    /// The number of an initial state.
    pub fn start(&self, state: &[bool]) -> Option<StartNumber> {
        if let Some(start) = self.alternative.and_then(|alternative| alternative.start.clone()) {
            return Some(start);
        }
        let state = self.encoding.state(self.solved(), &|bit| state[bit as usize]);
        ample_model::Interpreter::new(self.solved()).number_of(&state)
    }

    /// The bits that conditions read.
    pub fn seen(&self, conditions: &[Bdd]) -> Vec<u32> {
        let mut bits: Vec<u32> = conditions.iter().flat_map(Bdd::support).collect();
        bits.sort_unstable();
        bits.dedup();
        bits
    }
}

fn reach(space: &Space, setting: &Setting<'_>, effort: &mut Effort) -> Maybe<Bdd> {
    let mut images = 0;
    let mut counted = Counted { at: Instant::now(), took: Duration::ZERO };
    let reached = reachable(space, &space.initial, setting.method(), effort, &mut |reached| {
        images += 1;
        setting.notes.images.store(images, Ordering::Relaxed);
        if counted.is_due() {
            let begun = Instant::now();
            setting.notes.so_far(space.count(reached)?, reached.nodes());
            counted = Counted { at: Instant::now(), took: begun.elapsed() };
        }
        Ok(true)
    })?;
    setting.tell(effort);
    Ok(reached)
}

/// When the states were counted last, and how long that took.
struct Counted {
    at: Instant,
    took: Duration,
}

impl Counted {
    /// Counting should take a small part of the time.
    fn is_due(&self) -> bool {
        self.took.is_zero() || self.at.elapsed() > 20 * self.took
    }
}

/// What the diagrams are like.
fn figures(
    encoding: &Encoding,
    space: &Space,
    reached: Option<&Bdd>,
    effort: &Effort,
    restarts: usize,
) -> DiagramStatistics {
    let size = space.diagrams.size();
    DiagramStatistics {
        bits: encoding.bits,
        relations: space.steps.len(),
        relation_nodes: space.relation_nodes(),
        max_relation_nodes: space.steps.iter().map(|step| step.relation.nodes()).max().unwrap_or(0),
        reached_nodes: reached.map_or(0, Bdd::nodes),
        posts: effort.posts,
        average_frontier: effort.average_frontier(),
        max_frontier: effort.max_frontier,
        peak_nodes: size.peak,
        reorderings: size.reorderings,
        restarts,
        modular: None,
        rounds: effort.rounds.iter().map(|(states, nodes)| (states.to_string(), *nodes)).collect(),
        dynamic: None,
    }
}
