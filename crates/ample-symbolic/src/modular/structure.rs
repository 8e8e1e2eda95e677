//! One node of a partition graph as diagrams, and model checking under assumptions in it (§3.2.1).
//!
//! There is a table of nodes with a variable order of its own. A set of states is a set of valuations for each location, so that
//! the bits of the program counter are in no diagram, and a step is taken back from one location to another alone. States at
//! the exit have no successors here: what holds in them is assumed.
//!
//! A state in which no step is possible repeats itself, and a run that a fault has stopped repeats its last state for ever, as
//! everywhere in ample (see [`ctl`](crate::ctl)).

use std::collections::{BTreeSet, HashMap};

use ample_boolean::Lit;
use ample_budget::Budget;
use ample_model::LocationId;

use super::Failure;
use super::closure::{Closure, Quantifier, Subformula};
use super::program::Program;
use crate::build::Builder;
use crate::diagram::{Bdd, Diagrams, Maybe, Written};
use crate::error::SetError;
use crate::order::force;

/// What all nodes of a program are built from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The program.
    pub program: &'a Program,
    /// The subformulas.
    pub closure: &'a Closure,
    /// The conditions, by location.
    pub conditions: &'a [Vec<Lit>],
}

/// What tables may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// All operations ask it.
    pub budget: Budget,
    /// Without it there is room for so many nodes.
    pub default_nodes: usize,
    /// Variables are moved when a table has grown.
    pub reorders: bool,
    /// That is when it has so many nodes.
    pub first_reordering: usize,
    /// No table has more nodes than this, whatever room there is.
    pub most_nodes: usize,
}

/// From so many nodes on variables are moved: where the next table has another order, sets have to be built anew.
pub const FIRST_REORDERING: usize = 250_000;
/// So many bits has a variable that may be one to count with.
const COUNTER_BITS: std::ops::RangeInclusive<u32> = 2..=5;
/// With four times as many nodes garbage is collected.
const FIRST_COLLECTION: usize = 5_000;

impl Limits {
    /// A table for a program, with its bits in that order.
    pub fn table(&self, bits: u32, order: &[u32]) -> Diagrams {
        let most = self.budget.room().map_or(self.default_nodes, |room| {
            usize::try_from(room / 10 * 8).unwrap_or(usize::MAX) / crate::diagram::NODE_BYTES
        });
        let most = most.min(self.most_nodes);
        let diagrams = Diagrams::new(bits, most, self.budget.clone());
        diagrams.make_room_for(most);
        diagrams.set_order(order);
        diagrams.reorder_when_large(self.reorders);
        diagrams.reorder_early(self.first_reordering);
        diagrams.collect_early(FIRST_COLLECTION.min(self.first_reordering));
        diagrams
    }
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Inner(usize),
    Exit,
}

/// What a step changes.
pub(super) enum Change {
    /// Nothing: the step is its guard.
    None,
    /// These bits, by that relation, of which the guard is a part.
    Relation(Bdd, Written),
}

impl Change {
    pub(super) fn of(
        diagrams: &Diagrams,
        builder: &mut Builder<'_>,
        guard: &Bdd,
        updates: &[(u32, Lit)],
    ) -> Maybe<Change> {
        if updates.is_empty() {
            return Ok(Change::None);
        }
        let (relation, written) = relation(diagrams, builder, guard, updates)?;
        Ok(Change::Relation(relation, written))
    }

    /// The valuations of `within` from which the step with that guard leads into a set.
    pub(super) fn preimage(&self, guard: &Bdd, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        match self {
            Change::None => set.and(&guard.and(within)?),
            Change::Relation(relation, written) => set.preimage_within(relation, *written, within),
        }
    }

    /// The valuations that the step with that guard leads to from a set.
    pub(super) fn image(&self, guard: &Bdd, set: &Bdd) -> Maybe<Bdd> {
        match self {
            Change::None => set.and(guard),
            Change::Relation(relation, written) => set.image(relation, *written),
        }
    }
}

/// A step of a node.
struct Step {
    to: Target,
    guard: Bdd,
    change: Change,
    /// The bits that it may change.
    writes: Vec<u32>,
}

impl Step {
    fn preimage(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.change.preimage(&self.guard, set, within)
    }

    fn image(&self, set: &Bdd) -> Maybe<Bdd> {
        self.change.image(&self.guard, set)
    }
}

/// A location of a node.
struct Place {
    steps: Vec<Step>,
    /// Where a step is a fault without a successor.
    fault: Bdd,
    /// Where no step is possible.
    stuck: Bdd,
    conditions: Vec<Bdd>,
    /// No other valuations matter.
    domain: Bdd,
    /// The places from which steps lead here.
    before: Vec<usize>,
}

/// The states that satisfy a subformula, by location of the node, and at its exit.
#[derive(Clone)]
pub struct States {
    /// By location.
    pub inner: Vec<Bdd>,
    /// At the exit; empty if there is none.
    pub exit: Bdd,
}

/// A node as diagrams.
pub struct Structure {
    /// Where the diagrams are.
    pub diagrams: Diagrams,
    places: Vec<Place>,
    /// The first bit of each variable, and how many it has.
    cells: Vec<(u32, u32)>,
    /// See [`hints`](Self::hints); only where the valuations are confined.
    hints: Vec<Bdd>,
    /// How many preimages were taken.
    pub preimages: u64,
}

impl Structure {
    /// The node of these locations, in the order of the source, with that exit, and its variables in that order at first.
    pub fn of(
        source: Source<'_>,
        locations: &[LocationId],
        exit: Option<LocationId>,
        order: &[u32],
        limits: &Limits,
    ) -> Result<Structure, Failure> {
        let diagrams = limits.table(source.program.encoding.bits, order);
        let numbers: HashMap<LocationId, usize> = locations.iter().copied().zip(0..).collect();
        let target = |to: LocationId| match numbers.get(&to) {
            Some(number) => Ok(Target::Inner(*number)),
            None if Some(to) == exit => Ok(Target::Exit),
            None => Err(Failure::Unsupported("control leaves a block for another place than its exit".into())),
        };
        let mut builder = Builder::new(source.program.dag(), &diagrams);
        let mut places = Vec::new();
        for location in locations {
            let here = &source.program.locations[location.index()];
            source.program.refuse_overflow(here, &mut builder)?;
            let fault = builder.diagram(here.fault)?;
            let mut stuck = fault.not();
            let mut steps = Vec::new();
            for step in &here.steps {
                let guard = builder.diagram(step.guard)?;
                stuck = stuck.minus(&guard)?;
                let change = Change::of(&diagrams, &mut builder, &guard, &step.updates)?;
                let writes = step.updates.iter().map(|(bit, _)| *bit).collect();
                steps.push(Step { to: target(step.to)?, guard, change, writes });
            }
            let conditions = &source.conditions[location.index()];
            let conditions = conditions.iter().map(|lit| builder.diagram(*lit)).collect::<Maybe<_>>()?;
            let domain = diagrams.constant(true);
            places.push(Place { steps, fault, stuck, conditions, domain, before: Vec::new() });
        }
        drop(builder);
        for number in 0..places.len() {
            let targets: Vec<Target> = places[number].steps.iter().map(|step| step.to).collect();
            for target in targets {
                if let Target::Inner(to) = target {
                    places[to].before.push(number);
                }
            }
        }
        let cells = source.program.encoding.cells.iter().map(|cell| (cell.first, cell.bits)).collect();
        Ok(Structure { diagrams, places, cells, hints: Vec::new(), preimages: 0 })
    }

    /// Nothing outside of these valuations matters, by location.
    pub fn confine(&mut self, domains: Vec<Bdd>) -> Maybe<()> {
        for (place, domain) in self.places.iter_mut().zip(domains) {
            place.domain = domain;
        }
        self.hints = self.hints()?;
        Ok(())
    }

    /// Growing sets of valuations within which a least fixpoint is computed first, one after the other, so that it does not pass
    /// through sets that are larger than its result (R. Bloem, K. Ravi and F. Somenzi, *Symbolic Guided Search for CTL Model
    /// Checking*, 2000). Where the largest loop counts a variable down, or up, what is near its end comes first.
    fn hints(&self) -> Maybe<Vec<Bdd>> {
        let loops = (0..self.places.len()).map(|head| (head, self.loop_at(head)));
        let Some((head, body)) = loops.max_by_key(|(_, body)| body.len()).filter(|(_, body)| !body.is_empty()) else {
            return Ok(Vec::new());
        };
        let read: BTreeSet<u32> = self.places[head].steps.iter().flat_map(|step| step.guard.support()).collect();
        let is_candidate = |(first, bits): &&(u32, u32)| {
            COUNTER_BITS.contains(bits) && (*first..first + bits).any(|bit| read.contains(&bit))
        };
        for cell in self.cells.iter().filter(is_candidate) {
            for counts_down in [true, false] {
                if self.counts(&body, *cell, counts_down)? {
                    return self.thresholds(head, *cell, counts_down);
                }
            }
        }
        Ok(Vec::new())
    }

    /// The places of the loop with that head, if it is one.
    fn loop_at(&self, head: usize) -> BTreeSet<usize> {
        let mut waiting: Vec<usize> = self.places[head].before.iter().copied().filter(|from| *from >= head).collect();
        let mut body = BTreeSet::new();
        while let Some(place) = waiting.pop() {
            if body.insert(place) && place != head {
                waiting.extend(self.places[place].before.iter().filter(|from| **from >= head));
            }
        }
        body
    }

    /// Some step in these places changes the variable, and all that do make it smaller; or larger.
    fn counts(&self, body: &BTreeSet<usize>, (first, bits): (u32, u32), down: bool) -> Maybe<bool> {
        let mut moves = self.diagrams.constant(false);
        for bit in first..first + bits {
            let (now, next) = (self.diagrams.now(bit)?, self.diagrams.next(bit)?);
            let (less, more) = if down { (&next, &now) } else { (&now, &next) };
            moves = more.minus(less)?.or(&moves.minus(&now.xor(&next)?)?)?;
        }
        let mut is_changed = false;
        for place in body.iter().map(|place| &self.places[*place]) {
            for step in &place.steps {
                // Where the loop is left, the variable may be reset.
                let stays = matches!(step.to, Target::Inner(to) if body.contains(&to));
                if !stays || !step.writes.iter().any(|bit| (first..first + bits).contains(bit)) {
                    continue;
                }
                let Change::Relation(relation, _) = &step.change else { continue };
                // A bit that a step does not write stays as it is.
                let mut relation = relation.and(&place.domain)?;
                for bit in (first..first + bits).filter(|bit| !step.writes.contains(bit)) {
                    relation = relation.and(&self.diagrams.next(bit)?.iff(&self.diagrams.now(bit)?)?)?;
                }
                if !relation.is_subset(&moves)? {
                    return Ok(false);
                }
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The valuations with at most so much in a variable, or at least, as far as there are some at that place.
    fn thresholds(&self, head: usize, (first, bits): (u32, u32), from_below: bool) -> Maybe<Vec<Bdd>> {
        let domain = &self.places[head].domain;
        let mut hints = Vec::new();
        let (mut all, mut last) = (self.diagrams.constant(false), self.diagrams.constant(false));
        for number in 0..1u32 << bits {
            let value = if from_below { number } else { !number };
            let mut equal = self.diagrams.constant(true);
            for place in 0..bits {
                let bit = self.diagrams.now(first + place)?;
                equal = if value >> place & 1 == 1 { equal.and(&bit)? } else { equal.minus(&bit)? };
            }
            all = all.or(&equal)?;
            let inside = domain.and(&all)?;
            if inside != last {
                last = inside;
                hints.push(all.clone());
            }
        }
        Ok(hints)
    }

    /// The states that satisfy a subformula, given those of its operands and those at the exit that are assumed to.
    /// `below` are states that are known to satisfy it.
    pub fn check(
        &mut self,
        subformula: &Subformula,
        known: &dyn Fn(usize) -> States,
        stopped: &dyn Fn(&Structure, usize, usize) -> Maybe<Bdd>,
        assumed: Bdd,
        below: Option<&[Bdd]>,
    ) -> Result<States, Failure> {
        let inner = match subformula {
            Subformula::Condition(number) => {
                self.places.iter().map(|place| place.conditions[*number].and(&place.domain)).collect::<Maybe<_>>()?
            }
            Subformula::Not(f) => {
                let f = known(*f).inner;
                self.places.iter().zip(&f).map(|(place, f)| place.domain.minus(f)).collect::<Maybe<_>>()?
            }
            Subformula::And(f, g) => {
                let (f, g) = (known(*f).inner, known(*g).inner);
                f.iter().zip(&g).map(|(f, g)| f.and(g)).collect::<Maybe<_>>()?
            }
            Subformula::Or(f, g) => {
                let (f, g) = (known(*f).inner, known(*g).inner);
                f.iter().zip(&g).map(|(f, g)| f.or(g)).collect::<Maybe<_>>()?
            }
            Subformula::Next(over, f) => {
                let states = known(*f);
                let mut inner = Vec::new();
                for number in 0..self.places.len() {
                    let within = self.places[number].domain.clone();
                    let stopped = stopped(self, *f, number)?;
                    inner.push(self.before(*over, number, &states, &within, &stopped)?);
                }
                inner
            }
            Subformula::Until(over, f, g) => {
                let through = known(*f).inner;
                let goal = known(*g).inner;
                let start: Vec<Bdd> = match below {
                    Some(below) => below.iter().zip(&goal).map(|(below, goal)| below.or(goal)).collect::<Maybe<_>>()?,
                    None => goal.clone(),
                };
                let mut ends = Vec::new();
                for number in 0..self.places.len() {
                    ends.push(stopped(self, *g, number)?);
                }
                return self.until(*over, (&through, &goal), start, assumed, &ends);
            }
        };
        Ok(States { inner, exit: assumed })
    }

    /// The least set that contains `goal`, and the states of `through` of which some successor, or all, are in it. Places near the
    /// end come first, so that inner loops are done before what is before them.
    fn until(
        &mut self,
        over: Quantifier,
        (through, goal): (&[Bdd], &[Bdd]),
        start: Vec<Bdd>,
        assumed: Bdd,
        stopped: &[Bdd],
    ) -> Result<States, Failure> {
        let mut states = States { inner: start, exit: assumed };
        let everything = self.diagrams.constant(true);
        let hints: Vec<Bdd> = self.hints.iter().cloned().chain([everything]).collect();
        for hint in &hints {
            let mut waiting: BTreeSet<usize> = (0..self.places.len()).collect();
            while let Some(number) = waiting.pop_last() {
                // What is known already is not looked for again.
                let within = through[number].minus(&goal[number])?.minus(&states.inner[number])?.and(hint)?;
                if within.is_false() {
                    continue;
                }
                let found = self.before(over, number, &states, &within, &stopped[number])?;
                if !found.is_false() {
                    states.inner[number] = states.inner[number].or(&found)?;
                    waiting.extend(&self.places[number].before);
                }
            }
        }
        Ok(states)
    }

    /// The valuations of `within` at a place from which some step leads into the states, or all do; a run that is stopped there
    /// counts where `stopped` says.
    fn before(&mut self, over: Quantifier, number: usize, states: &States, within: &Bdd, stopped: &Bdd) -> Maybe<Bdd> {
        let place = &self.places[number];
        let target = |to: Target| match to {
            Target::Inner(to) => &states.inner[to],
            Target::Exit => &states.exit,
        };
        self.preimages += place.steps.len() as u64;
        let here = &states.inner[number];
        match over {
            Quantifier::Some => {
                let mut all = place.stuck.and(here)?.or(&place.fault.and(stopped)?)?.and(within)?;
                for step in &place.steps {
                    all = all.or(&step.preimage(target(step.to), within)?)?;
                }
                Ok(all)
            }
            Quantifier::All => {
                let bad = place.stuck.minus(here)?.or(&place.fault.minus(stopped)?)?;
                let mut left = within.minus(&bad)?;
                for step in &place.steps {
                    // A step is a function: it leads elsewhere wherever it does not lead there.
                    let elsewhere = step.guard.and(&left)?.minus(&step.preimage(target(step.to), &left)?)?;
                    left = left.minus(&elsewhere)?;
                }
                Ok(left)
            }
        }
    }

    /// The states in which a run that a fault has stopped at a place satisfies a subformula.
    pub fn stopped(&self, closure: &Closure, subformula: usize, place: usize) -> Maybe<Bdd> {
        if self.places[place].fault.is_false() {
            return Ok(self.diagrams.constant(false));
        }
        self.stopped_there(closure, subformula, place)
    }

    fn stopped_there(&self, closure: &Closure, subformula: usize, place: usize) -> Maybe<Bdd> {
        let part = |f: usize| self.stopped_there(closure, f, place);
        Ok(match closure.subformulas[subformula] {
            Subformula::Condition(number) => self.places[place].conditions[number].clone(),
            Subformula::Not(f) => part(f)?.not(),
            Subformula::And(f, g) => part(f)?.and(&part(g)?)?,
            Subformula::Or(f, g) => part(f)?.or(&part(g)?)?,
            Subformula::Next(_, f) | Subformula::Until(_, _, f) => part(f)?,
        })
    }

    /// The valuations at each place, and at the exit, that steps lead to from those at each place. With all of them known at the
    /// first place only, these are the reachable ones.
    pub fn reachable(&self, known: Vec<Bdd>) -> Maybe<(Vec<Bdd>, Bdd)> {
        let mut reached = known;
        let mut exit = self.diagrams.constant(false);
        let mut new = reached.clone();
        let mut waiting: BTreeSet<usize> = (0..self.places.len()).collect();
        while let Some(number) = waiting.pop_first() {
            let from = std::mem::replace(&mut new[number], self.diagrams.constant(false));
            for step in &self.places[number].steps {
                let image = step.image(&from)?;
                match step.to {
                    Target::Exit => exit = exit.or(&image)?,
                    Target::Inner(to) => {
                        let more = image.minus(&reached[to])?;
                        if !more.is_false() {
                            reached[to] = reached[to].or(&more)?;
                            new[to] = new[to].or(&more)?;
                            waiting.insert(to);
                        }
                    }
                }
            }
        }
        Ok((reached, exit))
    }

    /// The same without a fixpoint: place by place in the order of the source. Where a loop begins, all valuations are possible,
    /// and it is gone through once (§5.5).
    pub fn reachable_locally(&self, entry: &Bdd) -> Maybe<(Vec<Bdd>, Bdd)> {
        let mut known = vec![self.diagrams.constant(false); self.places.len()];
        if let Some(first) = known.first_mut() {
            *first = entry.clone();
        }
        for (number, everything) in known.iter_mut().enumerate() {
            if self.is_head(number) {
                *everything = self.diagrams.constant(true);
            }
        }
        // Nothing is added where everything is, so that every place is come to once.
        self.reachable(known)
    }

    /// Steps lead back there, with other values: not those of the location at which a program has ended.
    fn is_head(&self, number: usize) -> bool {
        let mut others = self.places[number].before.iter().filter(|before| **before >= number);
        others.any(|before| {
            let steps = self.places[*before].steps.iter().filter(|step| step.to == Target::Inner(number));
            *before > number || steps.into_iter().any(|step| !matches!(step.change, Change::None))
        })
    }

    /// No step leads back: every location is come to once at most.
    pub fn is_acyclic(&self) -> bool {
        let is_forward = |(number, place): (usize, &Place)| place.before.iter().all(|before| *before < number);
        self.places.iter().enumerate().all(is_forward)
    }

    /// How many nodes its steps have together.
    pub fn relation_nodes(&self) -> usize {
        let steps = self.places.iter().flat_map(|place| &place.steps);
        Bdd::nodes_of_all(steps.map(|step| match &step.change {
            Change::None => &step.guard,
            Change::Relation(relation, _) => relation,
        }))
    }
}

/// What a step changes, as a relation.
fn relation(
    diagrams: &Diagrams,
    builder: &mut Builder<'_>,
    guard: &Bdd,
    updates: &[(u32, Lit)],
) -> Maybe<(Bdd, Written)> {
    let order = diagrams.order();
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, pair)| position[*pair as usize] = place);
    let mut updates = updates.to_vec();
    // What is at the bottom first: each conjunction is with something above it.
    updates.sort_by_key(|(bit, _)| std::cmp::Reverse(position[*bit as usize]));
    let mut relation = guard.clone();
    for (bit, lit) in &updates {
        relation = relation.and(&diagrams.next(*bit)?.iff(&builder.diagram(*lit)?)?)?;
    }
    let mut written: Vec<u32> = updates.iter().map(|(bit, _)| *bit).collect();
    written.sort_unstable();
    Ok((relation, diagrams.written(&written)))
}

/// An order of the bits for the whole program: those of a variable together, unless steps and conditions have far fewer nodes in
/// another one. Where integers are added and compared, the bits of equal weight belong together.
pub fn order(source: Source<'_>, limits: &Limits) -> Result<Vec<u32>, Failure> {
    let by_cells = by_cells(source, &limits.budget);
    let tried = |order: &[u32]| match nodes_in(source, order, limits) {
        Err(Failure::Sets(SetError::Memory)) => Ok(usize::MAX),
        nodes => nodes,
    };
    let others = [by_weight(source, &by_cells), by_bits(source, &limits.budget)];
    let (mut fewest, mut best) = (tried(&by_cells)? / MIN_GAIN, by_cells);
    for order in others {
        let nodes = tried(&order)?;
        if nodes < fewest {
            (fewest, best) = (nodes, order);
        }
    }
    Ok(best)
}

/// Another order must have so many times fewer nodes: small steps do not make small sets.
const MIN_GAIN: usize = 2;
/// An order is given up when a step needs so many nodes.
const MAX_TRIED: usize = 200_000;

/// How many nodes the steps and conditions have in that order, one location after the other.
fn nodes_in(source: Source<'_>, order: &[u32], limits: &Limits) -> Result<usize, Failure> {
    let mut sum = 0;
    let diagrams = Diagrams::new(source.program.encoding.bits, MAX_TRIED, limits.budget.clone());
    diagrams.set_order(order);
    for (location, conditions) in source.program.locations.iter().zip(source.conditions) {
        let mut builder = Builder::new(source.program.dag(), &diagrams);
        for step in &location.steps {
            let guard = builder.diagram(step.guard)?;
            sum += match Change::of(&diagrams, &mut builder, &guard, &step.updates)? {
                Change::None => guard.nodes(),
                Change::Relation(relation, _) => relation.nodes(),
            };
        }
        for condition in conditions {
            sum += builder.diagram(*condition)?.nodes();
        }
    }
    Ok(sum)
}

/// By variable, those that are used together beside each other.
fn by_cells(source: Source<'_>, budget: &Budget) -> Vec<u32> {
    let encoding = &source.program.encoding;
    let mut cell_of = vec![0; encoding.bits as usize];
    for (number, cell) in encoding.cells.iter().enumerate() {
        (cell.first..cell.first + cell.bits).for_each(|bit| cell_of[bit as usize] = number);
    }
    let groups = groups(source, &|bit| cell_of[bit as usize]);
    let should_stop = || budget.check().is_err();
    let cells = force(encoding.cells.len(), &groups, &should_stop).into_iter().map(|cell| &encoding.cells[cell]);
    cells.flat_map(|cell| cell.first..cell.first + cell.bits).collect()
}

/// The bits of the same weight beside each other, the highest first; among them in that order.
fn by_weight(source: Source<'_>, order: &[u32]) -> Vec<u32> {
    let mut weight = vec![0; order.len()];
    for cell in &source.program.encoding.cells {
        (cell.first..cell.first + cell.bits).zip(0..).for_each(|(bit, number)| weight[bit as usize] = number);
    }
    let mut order = order.to_vec();
    order.sort_by_key(|bit| std::cmp::Reverse(weight[*bit as usize]));
    order
}

/// Each bit beside those that it gets its value from.
fn by_bits(source: Source<'_>, budget: &Budget) -> Vec<u32> {
    let mut groups = groups(source, &|bit| bit as usize);
    let dag = source.program.dag();
    let steps = source.program.locations.iter().flat_map(|location| &location.steps);
    for (bit, lit) in steps.flat_map(|step| &step.updates) {
        let mut group: Vec<usize> = dag.support(*lit).into_iter().chain([*bit]).map(|bit| bit as usize).collect();
        group.sort_unstable();
        group.dedup();
        if group.len() > 1 {
            groups.push(group);
        }
    }
    let should_stop = || budget.check().is_err();
    force(source.program.encoding.bits as usize, &groups, &should_stop).into_iter().map(|bit| bit as u32).collect()
}

/// What is used together by a step or by a condition, each group once.
fn groups(source: Source<'_>, item: &dyn Fn(u32) -> usize) -> Vec<Vec<usize>> {
    let mut groups: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut add = |bits: &mut dyn Iterator<Item = u32>| {
        let mut group: Vec<usize> = bits.map(item).collect();
        group.sort_unstable();
        group.dedup();
        if group.len() > 1 {
            groups.insert(group);
        }
    };
    let dag = source.program.dag();
    for (location, conditions) in source.program.locations.iter().zip(source.conditions) {
        for step in &location.steps {
            let reads = step.updates.iter().flat_map(|(bit, lit)| dag.support(*lit).into_iter().chain([*bit]));
            add(&mut reads.chain(dag.support(step.guard)));
        }
        for condition in conditions {
            add(&mut dag.support(*condition).into_iter());
        }
    }
    groups.into_iter().collect()
}
