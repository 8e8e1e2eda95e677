//! One model as diagrams: encoded, built, and its reachable states found.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::build::{Builder, Built, Grain, arrange, build};
use crate::diagram::{Bdd, Diagrams, Stop};
use crate::reach::{Effort, Method, reachable};
use crate::space::Space;
use ample_boolean::{Bounds, Encoding, Lit, NotEncoded};
use ample_budget::{Budget, Interrupted};
use ample_model::{Expr, Move, StartNumber, System};

use ample_engine::report::DiagramStatistics;

use super::{Desk, Reach, Reorder, Shape, Symbolic, Trouble};

/// Bytes for a node, with its share of the tables around it.
pub const NODE_BYTES: u64 = crate::diagram::NODE_BYTES as u64;
/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// How many states are looked at to guess how large variables get.
const SAMPLE: usize = 3000;
/// Relations that need more nodes while they are built are built in another order.
const ENOUGH_FOR_RELATIONS: usize = 1_000_000;
/// How often it starts again with more room.
const MAX_RESTARTS: usize = 200;

impl From<NotEncoded> for Trouble {
    fn from(not: NotEncoded) -> Trouble {
        match not {
            NotEncoded::Unsupported(why) => Trouble::Unsupported(why.0),
            NotEncoded::Interrupted(Interrupted::Memory) => Trouble::Memory,
            NotEncoded::Interrupted(Interrupted::Deadline | Interrupted::Cancelled) => Trouble::Asked,
        }
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Trouble {
        match stop {
            Stop::Memory => Trouble::Memory,
            Stop::Late => Trouble::Late,
            Stop::Asked | Stop::Order => Trouble::Asked,
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
    pub desk: &'a Desk,
}

impl Setting<'_> {
    /// What the encoding may take: until it is asked to end, and in its part of the memory.
    fn budget(&self) -> Budget {
        let budget = Budget::unlimited().with_cancellation(&Arc::clone(&self.desk.stop).into());
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

    /// The relations. If they need too much room with the bits of each cell together, as where many cells are copied at
    /// once, bits are put beside those that they are copied from.
    fn build(&self, encoding: &Encoding) -> Result<(Diagrams, Built), Trouble> {
        let most = self.max_nodes();
        let room = most;
        let make = |grain, most| {
            let diagrams = Diagrams::new(encoding.bits, most, Arc::clone(&self.desk.stop));
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

    fn method(&self) -> Method {
        match self.symbolic.reach {
            Reach::By(method) => method,
            Reach::Auto | Reach::Not => Method::Saturation,
        }
    }

    /// Tells how it goes.
    fn tell(&self, diagrams: &Diagrams, effort: &Effort) {
        self.desk.nodes.store(diagrams.size().nodes as u64, Ordering::Relaxed);
        self.desk.images.store(effort.posts as u64, Ordering::Relaxed);
    }
}

impl<'a> Session<'a> {
    /// Encodes the system with these conditions, in the first of the shapes that keeps its promises.
    pub fn begin(
        system: &'a System,
        shapes: &'a [Shape],
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Trouble> {
        for shape in shapes {
            setting.desk.left().shape = Some(shape.told.clone());
            let conditions: Vec<Expr> = conditions.iter().map(|condition| shape.condition(condition)).collect();
            let conditions: Vec<&Expr> = conditions.iter().collect();
            let session = Session::of(&shape.system, shape.is_declared, &conditions, setting)?;
            if !shape.is_promised || session.is_unbroken(setting)? {
                return Ok(Session { system, shape: Some(shape), ..session });
            }
        }
        setting.desk.left().shape = None;
        Session::of(system, system.language == "milestones", conditions, setting)
    }

    /// Encodes the system with these conditions, as often as it takes until every reachable state has room.
    fn of(
        system: &'a System,
        declared: bool,
        conditions: &[&Expr],
        setting: &Setting<'_>,
    ) -> Result<Session<'a>, Trouble> {
        let budget = setting.budget();
        let mut bounds = match declared {
            true => Bounds::declared(system),
            false => Bounds::sampled_within(system, SAMPLE, &budget),
        };
        for restarts in 0..MAX_RESTARTS {
            let mut encoding = Encoding::within(system, &bounds, &budget)?;
            let mut literals = Vec::new();
            for condition in conditions {
                let (value, fault) = encoding.condition_within(system, condition)?;
                // Where it cannot be evaluated, it does not hold.
                literals.push(encoding.dag.and(value, !fault));
            }
            let (diagrams, built) = setting.build(&encoding)?;
            diagrams.reorder_when_large(setting.symbolic.reorder == Reorder::Auto);
            let conditions = diagrams_of(&encoding, &diagrams, &literals)?;
            let mut effort = Effort::default();
            setting.tell(&diagrams, &effort);
            let has_overflow = built.overflow.iter().any(|overflow| !overflow.is_false());
            let mut reached = None;
            if has_overflow || setting.symbolic.reach != Reach::Not {
                let found = reach(&built.space, setting, &mut effort);
                let figures = || figures(&encoding, &built.space, None, &effort, restarts);
                reached = Some(found.inspect_err(|_| setting.desk.leave(figures()))?);
            }
            if let Some(reached) = &reached
                && let Some((number, state)) = misfit(reached, &built.overflow)?
            {
                let state = encoding.state(system, &|bit| state[bit as usize]);
                bounds = encoding.widen(system, &bounds, &state, number);
                continue;
            }
            let mut space = built.space;
            if let Some(reached) = &reached {
                space.confine(reached)?;
            }
            return Ok(Session {
                system,
                shape: None,
                encoding,
                space,
                reached,
                conditions,
                literals,
                effort,
                restarts,
            });
        }
        Err(Trouble::Unsupported("the values of some variables keep growing: no bound was found for them".into()))
    }

    /// No assertion of the shape can be broken.
    fn is_unbroken(&self, setting: &Setting<'_>) -> Result<bool, Trouble> {
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
    pub fn doubled(&self, conditions: &[usize], setting: &Setting<'_>) -> Result<(Space, Vec<Bdd>), Trouble> {
        let bits = self.encoding.bits;
        let most = setting.max_nodes();
        let diagrams = Diagrams::new(2 * bits, most, Arc::clone(&setting.desk.stop));
        diagrams.make_room_for(most);
        let order = self.space.diagrams.order();
        let order: Vec<u32> = order.into_iter().filter(|pair| *pair < bits).flat_map(|bit| [bit, bits + bit]).collect();
        diagrams.set_order(&order);
        let mut space = build(&self.encoding, &diagrams)?.space;
        diagrams.reorder_when_large(setting.symbolic.reorder == Reorder::Auto);
        let literals: Vec<Lit> = conditions.iter().map(|number| self.literals[*number]).collect();
        let conditions = diagrams_of(&self.encoding, &diagrams, &literals)?;
        let reached = reach(&space, setting, &mut Effort::default())?;
        space.confine(&reached)?;
        Ok((space, conditions))
    }

    /// The reachable states; found now if they were not yet.
    pub fn reached(&mut self, setting: &Setting<'_>) -> Result<Bdd, Trouble> {
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

fn diagrams_of(encoding: &Encoding, diagrams: &Diagrams, literals: &[Lit]) -> Result<Vec<Bdd>, Trouble> {
    let mut builder = Builder::new(&encoding.dag, diagrams);
    literals.iter().map(|lit| builder.diagram(*lit).map_err(Trouble::from)).collect()
}

fn reach(space: &Space, setting: &Setting<'_>, effort: &mut Effort) -> Result<Bdd, Trouble> {
    let mut images = 0;
    let mut counted = Counted { at: Instant::now(), took: Duration::ZERO };
    let reached = reachable(space, &space.initial, setting.method(), effort, &mut |reached| {
        images += 1;
        setting.desk.images.store(images, Ordering::Relaxed);
        setting.desk.nodes.store(space.diagrams.size().nodes as u64, Ordering::Relaxed);
        if counted.is_due() {
            let begun = Instant::now();
            setting.desk.so_far(space.count(reached)?, reached.nodes());
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

/// A reachable state, and a step from it whose outcome has no room.
fn misfit(reached: &Bdd, overflow: &[Bdd]) -> Result<Option<(usize, Vec<bool>)>, Trouble> {
    for (number, overflow) in overflow.iter().enumerate() {
        if let Some(state) = reached.and(overflow)?.pick() {
            return Ok(Some((number, state)));
        }
    }
    Ok(None)
}
