//! One model as diagrams: encoded, built, and its reachable states found.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::build::build;
use crate::diagram::{Bdd, Diagrams};
use crate::encode::{NotReached, Options, Reached, conditions_of, encode};
use crate::error::{Maybe, SetError};
use crate::reach::{Effort, Method, reachable};
use crate::space::Space;
use ample_boolean::{Encoding, Lit};
use ample_budget::{Budget, Interrupted};
use ample_model::{Expr, Move, StartNumber, System};

use ample_engine::report::DiagramStatistics;

use super::{Interruption, Reach, Reorder, Shape, Supervisor, Symbolic};

/// Bytes for a node, with its share of the tables around it.
pub const NODE_BYTES: u64 = crate::diagram::NODE_BYTES as u64;
/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
impl From<NotReached> for Interruption {
    fn from(not: NotReached) -> Interruption {
        match not {
            NotReached::Unsupported(why) => Interruption::Unsupported(why),
            NotReached::Interrupted(Interrupted::Memory) => Interruption::Memory,
            NotReached::Interrupted(Interrupted::Deadline | Interrupted::Cancelled) => Interruption::Asked,
            NotReached::Sets(error) => error.into(),
        }
    }
}

impl From<SetError> for Interruption {
    fn from(error: SetError) -> Interruption {
        match error {
            SetError::Memory => Interruption::Memory,
            SetError::Deadline => Interruption::Late,
            SetError::Cancelled | SetError::Reorder => Interruption::Asked,
            SetError::Overflow | SetError::Depth | SetError::Foreign | SetError::NotCtl => {
                Interruption::Unsupported(format!("internal error: {error}"))
            }
        }
    }
}

/// A model as diagrams.
pub struct Session<'a> {
    /// The system that is asked about, and whose runs are told.
    pub system: &'a System,
    /// The shape in which it is solved, if that is another.
    pub shape: Option<&'a Shape>,
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
    pub memory: Option<u64>,
    pub supervisor: &'a Supervisor,
}

impl Setting<'_> {
    /// What the encoding may take: until it is asked to end, and in its part of the memory.
    fn budget(&self) -> Budget {
        let budget = Budget::unlimited().with_cancellation(&Arc::clone(&self.supervisor.stop).into());
        match self.memory {
            Some(limit) => budget.with_memory(limit),
            None => budget,
        }
    }

    fn max_nodes(&self) -> usize {
        let used = ample_budget::resident_memory().unwrap_or(0);
        let room = self.memory.unwrap_or(DEFAULT_MEMORY).saturating_sub(used) / 10 * 8;
        (room / NODE_BYTES) as usize
    }

    fn method(&self) -> Method {
        match self.symbolic.reach {
            Reach::By(method) => method,
            Reach::Auto | Reach::Not => Method::Saturation,
        }
    }

    /// Tells how it goes.
    fn tell(&self, diagrams: &Diagrams, effort: &Effort) {
        self.supervisor.nodes.store(diagrams.size().nodes as u64, Ordering::Relaxed);
        self.supervisor.images.store(effort.posts as u64, Ordering::Relaxed);
    }
}

impl<'a> Session<'a> {
    /// Encodes the system with these conditions, in the first of the shapes that keeps its promises.
    pub fn begin(
        system: &'a System,
        shapes: &'a [Shape],
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Interruption> {
        for shape in shapes {
            setting.supervisor.left().shape = Some(shape.told.clone());
            let conditions: Vec<Expr> = conditions.iter().map(|condition| shape.condition(condition)).collect();
            let conditions: Vec<&Expr> = conditions.iter().collect();
            let session = Session::of(&shape.system, shape.is_declared, &conditions, setting)?;
            if !shape.is_promised || session.is_unbroken(setting)? {
                return Ok(Session { system, shape: Some(shape), ..session });
            }
        }
        setting.supervisor.left().shape = None;
        Session::of(system, system.language == "milestones", conditions, setting)
    }

    /// Encodes the system with these conditions, as often as it takes until every reachable state has room.
    fn of(
        system: &'a System,
        declared: bool,
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Interruption> {
        let options = Options {
            is_declared: declared,
            budget: setting.budget(),
            max_nodes: &|| setting.max_nodes(),
            stop: Arc::clone(&setting.supervisor.stop),
            reorders: setting.symbolic.reorder == Reorder::Auto,
            reaches: setting.symbolic.reach != Reach::Not,
        };
        let mut effort = Effort::default();
        let Reached { encoding, mut space, literals, conditions, reached, restarts } =
            encode(system, conditions, &options, &mut |encoding, space, restarts| {
                effort = Effort::default();
                setting.tell(&space.diagrams, &effort);
                let found = reach(space, setting, &mut effort);
                Ok(found
                    .inspect_err(|_| setting.supervisor.leave(figures(encoding, space, None, &effort, restarts)))?)
            })?;
        if let Some(reached) = &reached {
            space.confine(reached)?;
        }
        Ok(Session { system, shape: None, encoding, space, reached, conditions, literals, effort, restarts })
    }

    /// No assertion of the shape can be broken.
    fn is_unbroken(&self, setting: &Setting<'_>) -> Result<bool, Interruption> {
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
        self.shape.map_or(self.system, |shape| &shape.system)
    }

    /// What the diagrams are like.
    pub fn statistics(&self) -> DiagramStatistics {
        figures(&self.encoding, &self.space, self.reached.as_ref(), &self.effort, self.restarts)
    }

    /// The system once more, each bit with room for a copy beside it, and the conditions of these numbers. The copy of
    /// a bit has the bit's number and that of all bits together.
    pub fn doubled(&self, conditions: &[usize], setting: &Setting<'_>) -> Result<(Space, Vec<Bdd>), Interruption> {
        let bits = self.encoding.bits;
        let most = setting.max_nodes();
        let diagrams = Diagrams::new(2 * bits, most, Arc::clone(&setting.supervisor.stop));
        diagrams.make_room_for(most);
        let order = self.space.diagrams.order();
        let order: Vec<u32> = order.into_iter().filter(|pair| *pair < bits).flat_map(|bit| [bit, bits + bit]).collect();
        diagrams.set_order(&order);
        let mut space = build(&self.encoding, &diagrams)?.space;
        diagrams.reorder_when_large(setting.symbolic.reorder == Reorder::Auto);
        let literals: Vec<Lit> = conditions.iter().map(|number| self.literals[*number]).collect();
        let conditions = conditions_of(&self.encoding, &diagrams, &literals)?;
        let reached = reach(&space, setting, &mut Effort::default())?;
        space.confine(&reached)?;
        Ok((space, conditions))
    }

    /// The reachable states; found now if they were not yet.
    pub fn reached(&mut self, setting: &Setting<'_>) -> Result<Bdd, Interruption> {
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
        self.encoding.partitions[number].taken
    }

    /// The number of an initial state.
    pub fn start(&self, state: &[bool]) -> Option<StartNumber> {
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
        setting.supervisor.images.store(images, Ordering::Relaxed);
        setting.supervisor.nodes.store(space.diagrams.size().nodes as u64, Ordering::Relaxed);
        if counted.is_due() {
            let begun = Instant::now();
            setting.supervisor.so_far(space.count(reached)?, reached.nodes());
            counted = Counted { at: Instant::now(), took: begun.elapsed() };
        }
        Ok(true)
    })?;
    setting.tell(&space.diagrams, effort);
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
        rounds: effort.rounds.iter().map(|(states, nodes)| (states.to_string(), *nodes)).collect(),
    }
}
