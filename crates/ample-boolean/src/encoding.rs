//! The encoding of a system: cells, partitions, and the formulas about states as a whole.

use std::collections::BTreeMap;
use std::rc::Rc;

use ample_model::interpret::{ChannelState, ProcessState};
use ample_model::{Budget, EdgeId, Expr, Interpreter, Interrupted, LocationId, Move, State, System};

use crate::bounds::Bounds;
use crate::dag::{Dag, Lit};
use crate::evaluate::{Me, View};
use crate::layout::{Layout, Number, Queue};
use crate::moves::{Handshake, Ready};
use crate::perform::{Branch, Conditions};
use crate::symbolic::{Maker, Symbolic, Truth};
use crate::word::Word;
use crate::{MAX_BITS, Unsupported};

/// The most partitions.
const MAX_PARTITIONS: usize = 200_000;

/// What a cell of a state takes, roughly, while it is encoded: its name, its place, and its words in copies of the state.
const BYTES_PER_CELL: u64 = 256;

/// What a run of state bits belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// As reports name it: `x`, `a[2].f`, `P(1):y`, `P(1)@` for a location, `chan#2.length`.
    pub name: String,
    /// Its first bit, the least significant one; the others follow.
    pub first: u32,
    /// How many bits it has.
    pub bits: u32,
    /// The process slot, for locations, locals and own channels.
    pub owner: Option<u32>,
}

/// A move as a function from states to states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The move: process id, edge, partner. Where processes of several types may have the same id, several
    /// partitions may have the same move; they are never enabled in the same state.
    pub taken: Move,
    /// Enabled, and the step has a successor that the encoding can represent.
    pub guard: Lit,
    /// Enabled, and the step is a fault without a successor.
    pub fault: Lit,
    /// Enabled, and the step breaks an assertion or a trace, or is a fault.
    pub violation: Lit,
    /// Enabled, no fault, but the successor does not fit into the encoding.
    pub overflow: Lit,
    /// The bits that may change with their next value, where the guard holds; all others keep theirs. Sorted.
    pub updates: Vec<(u32, Lit)>,
}

/// A system as formulas over state bits.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// All formulas.
    pub dag: Dag,
    /// What the bits mean.
    pub cells: Vec<Cell>,
    /// How many there are.
    pub bits: u32,
    /// The initial states.
    pub initial: Lit,
    /// The moves. Of each, at least one of guard, fault and overflow is not constant false.
    pub partitions: Vec<Partition>,
    /// States that count: nobody holds exclusive control.
    pub visible: Lit,
    /// No move is enabled and it is not a proper end: a deadlock.
    pub stuck: Lit,
    /// Without a move, this would be a proper end.
    pub end: Lit,
    /// No move is enabled.
    pub idle: Lit,
    /// The value of `timeout`.
    timeout: Lit,
    layout: Layout,
    budget: Budget,
}

/// Why a system was not encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotEncoded {
    /// It cannot be.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The budget was exhausted.
    #[error("{0}")]
    Interrupted(Interrupted),
}

impl From<Interrupted> for NotEncoded {
    fn from(interrupted: Interrupted) -> NotEncoded {
        NotEncoded::Interrupted(interrupted)
    }
}

impl Encoding {
    /// The formulas of a system that passes [`check`](ample_model::check::check), within these bounds.
    pub fn of(system: &System, bounds: &Bounds) -> Result<Encoding, Unsupported> {
        Encoding::make(system, bounds, &mut Dag::new())
    }

    /// As [`of`](Self::of), within a budget.
    pub fn within(system: &System, bounds: &Bounds, budget: &Budget) -> Result<Encoding, NotEncoded> {
        // Cells are laid out, named and copied before the first formula asks the budget.
        budget.check_allocation((bounds.cells() as u64).saturating_mul(BYTES_PER_CELL))?;
        let mut dag = Dag::within(budget);
        let mut made = Encoding::make(system, bounds, &mut dag);
        // What was made of formulas that mean nothing means nothing, whatever it is.
        let dag = made.as_mut().map_or(&mut dag, |encoding| &mut encoding.dag);
        if let Some(interrupted) = dag.interrupted() {
            return Err(interrupted.into());
        }
        // Whoever asks for more asks for little, or says that it may be much.
        dag.set_budget(&Budget::unlimited());
        Ok(Encoding { budget: budget.clone(), ..made? })
    }

    fn make(system: &System, bounds: &Bounds, dag: &mut Dag) -> Result<Encoding, Unsupported> {
        if let Some(feature) = system.features().into_iter().next() {
            return Err(Unsupported(format!("the symbolic engine does not know {feature}")));
        }
        let layout = Layout::new(system, bounds)?;
        if layout.bits > MAX_BITS {
            return Err(Unsupported(format!(
                "a state of the system has {} bits, more than the {MAX_BITS} that the symbolic engine supports",
                layout.bits
            )));
        }
        let mut maker = Maker { system, layout: &layout, dag };
        // In the order of the bits, so that the inputs have the first nodes.
        let base = maker.inputs();
        let state = Symbolic::new(base.clone());
        let control = maker.plain(&state, layout.control);
        let visible = maker.dag.equals(&control, 0);
        let (attempts, timeout) = maker.attempts(&state, visible)?;
        let partitions = maker.partitions(&base, attempts, timeout, visible)?;
        let cases: Vec<Lit> = partitions.iter().flat_map(|p| [p.guard, p.fault, p.overflow]).collect();
        let idle = !maker.dag.any(&cases);
        let proper = maker.is_end(&state);
        let stuck = maker.dag.and(idle, !proper);
        let initial = maker.initial()?;
        let cells = layout.places.iter().filter(|place| place.coding.bits > 0).map(|place| Cell {
            name: place.name.clone(),
            first: place.first,
            bits: place.coding.bits,
            owner: place.owner,
        });
        let (cells, bits) = (cells.collect(), layout.bits);
        let dag = std::mem::take(dag);
        let budget = Budget::unlimited();
        Ok(Encoding {
            budget,
            dag,
            cells,
            bits,
            initial,
            partitions,
            visible,
            stuck,
            end: proper,
            idle,
            timeout,
            layout,
        })
    }

    /// The formula of a state expression as seen by nobody in particular: where it is not 0, and where
    /// asking for it is a fault. Where it is a fault, the first formula is false.
    pub fn condition(&mut self, system: &System, expr: &Expr) -> Result<(Lit, Lit), Unsupported> {
        let mut maker = Maker { system, layout: &self.layout, dag: &mut self.dag };
        let state = Symbolic::new(maker.inputs());
        let view =
            View { state: &state, me: None, timeout: self.timeout, offer: None, asking: None, next: None, memo: None };
        let truth = maker.holds(view, expr)?;
        maker.check_size()?;
        Ok((maker.dag.and(truth.holds, !truth.fault), truth.fault))
    }

    /// As [`condition`](Self::condition), within the budget of the encoding.
    pub fn condition_within(&mut self, system: &System, expr: &Expr) -> Result<(Lit, Lit), NotEncoded> {
        self.dag.set_budget(&self.budget);
        let made = self.condition(system, expr);
        let interrupted = self.dag.interrupted();
        self.dag.set_budget(&Budget::unlimited());
        match interrupted {
            Some(interrupted) => Err(interrupted.into()),
            None => Ok(made?),
        }
    }

    /// The state that has these bits.
    pub fn state(&self, system: &System, value: &dyn Fn(u32) -> bool) -> State {
        let read = |cell: Number| {
            let place = &self.layout.places[cell];
            let bits: Vec<bool> = (place.first..place.first + place.coding.bits).map(value).collect();
            place.coding.decode(&bits)
        };
        let count = usize::try_from(read(self.layout.count)).unwrap_or(0).min(self.layout.slots.len());
        let processes: Vec<ProcessState> = (0..count).map(|slot| self.process(system, slot, &read)).collect();
        let alive = |queue: &&Queue| queue.owner.is_none_or(|slot| slot < count);
        let queues = self.layout.queues.iter().filter(alive);
        let channels = queues.map(|queue| self.channel(system, queue, &processes, &read)).collect();
        let holder = match self.layout.slots.iter().any(|slot| slot.control.is_some()) {
            true => self.layout.slots.iter().position(|slot| slot.control.is_some_and(|cell| read(cell) == 1)),
            false => usize::try_from(read(self.layout.control) - 1).ok(),
        };
        State {
            globals: self.layout.globals.clone().map(read).collect(),
            channels,
            processes,
            control: holder.and_then(|slot| u32::try_from(slot).ok()),
            last: read(self.layout.last) as u32,
            monitor: read(self.layout.monitor) as u32,
            heap: Vec::new(),
        }
    }

    fn process(&self, system: &System, slot: usize, read: &dyn Fn(Number) -> i64) -> ProcessState {
        let room = &self.layout.slots[slot];
        let index = usize::try_from(read(room.of)).unwrap_or(0).min(room.types.len() - 1);
        let process = room.types[index];
        let size: usize = system.process(process).locals.iter().map(|v| system.slots(&v.ty) as usize).sum();
        ProcessState {
            process,
            location: LocationId(read(room.location) as u32),
            locals: room.locals.clone().take(size).map(read).collect(),
            priority: read(room.priority) as u8,
        }
    }

    fn channel(
        &self,
        system: &System,
        queue: &Queue,
        processes: &[ProcessState],
        read: &dyn Fn(Number) -> i64,
    ) -> ChannelState {
        let owner = queue.owner.map(|slot| processes[slot].process);
        let fits = |of: &Option<ample_model::ProcessId>| of.is_none() || *of == owner;
        let kind = queue.kinds.iter().find(|(of, _)| fits(of)).unwrap_or(&queue.kinds[0]).1;
        let fields = system.channels[kind.index()].fields.len();
        let length = usize::try_from(read(queue.length)).unwrap_or(0).min(queue.capacity);
        let message = |at: usize| (0..fields).map(|field| read(queue.cell(at, field))).collect();
        ChannelState { kind, messages: (0..length).map(message).collect() }
    }

    /// The bits of a state, which must be an [identity](Interpreter::identity); `None` if it does not fit.
    pub fn bits_of(&self, system: &System, state: &State) -> Option<Vec<bool>> {
        debug_assert_eq!(state.globals.len(), self.layout.globals.len(), "{}", system.name);
        let mut bits = vec![false; self.bits as usize];
        for (cell, value) in self.layout.values(state)? {
            let place = &self.layout.places[cell];
            for (bit, value) in (place.first..).zip(place.coding.encode(value)?) {
                bits[bit as usize] = value;
            }
        }
        Some(bits)
    }

    /// The bits that say where the process of that slot stands, with the values that they have when it is at that location;
    /// `None` if there is no such slot, or if it is never there.
    pub fn location_bits(&self, slot: usize, location: LocationId) -> Option<Vec<(u32, bool)>> {
        let place = &self.layout.places[self.layout.slots.get(slot)?.location];
        Some((place.first..).zip(place.coding.encode(i64::from(location.0))?).collect())
    }

    /// The bits that say how many processes there are, with the values that they have when there are so many; `None` if there
    /// never are.
    pub fn count_bits(&self, processes: usize) -> Option<Vec<(u32, bool)>> {
        let place = &self.layout.places[self.layout.count];
        Some((place.first..).zip(place.coding.encode(processes as i64)?).collect())
    }

    /// Bounds in which the step of that partition from that state fits, and some more: what to try again
    /// with after the partition's overflow was reached there.
    pub fn widen(&self, system: &System, bounds: &Bounds, state: &State, partition: usize) -> Bounds {
        let mut wider = bounds.clone();
        let interpreter = Interpreter::new(system);
        let Some(Partition { taken, .. }) = self.partitions.get(partition) else { return wider };
        let mut changed = false;
        if let Some(next) = interpreter.step(state, taken).state {
            changed = wider.take(system, &interpreter.identity(&next), true);
        }
        if !changed {
            // The step is a fault after it has left the bounds.
            let edges: Vec<(u32, EdgeId)> = taken.movers().collect();
            wider.make_room(system, state, &edges);
        }
        wider
    }
}

/// An edge of a process, tried.
struct Attempt {
    me: Me,
    edge: EdgeId,
    /// The process is there and stands where the edge begins.
    here: Lit,
    may: Truth,
    ready: Ready,
}

impl Maker<'_> {
    /// All edges of all processes tried, and the value of `timeout` with which they were.
    fn attempts(&mut self, state: &Symbolic, visible: Lit) -> Result<(Vec<Attempt>, Lit), Unsupported> {
        let first = self.try_all(state, Lit::FALSE)?;
        let mut cases = Vec::new();
        for attempt in &first {
            cases.push(self.alone_enabled(attempt));
            for handshake in &attempt.ready.with {
                cases.push(self.with_enabled(attempt, handshake));
            }
        }
        let some = self.dag.any(&cases);
        let timeout = self.dag.and(visible, !some);
        if uses_timeout(self.system) { Ok((self.try_all(state, timeout)?, timeout)) } else { Ok((first, timeout)) }
    }

    fn try_all(&mut self, state: &Symbolic, timeout: Lit) -> Result<Vec<Attempt>, Unsupported> {
        let mut attempts = Vec::new();
        let system = self.system;
        for slot in 0..self.layout.slots.len() {
            for of in self.layout.slots[slot].types.clone() {
                let me = Me { slot, of };
                let view = View::of(state, me, timeout);
                let lives = self.lives_as(state, slot, of);
                let may = self.may_move(view, me)?;
                for (number, edge) in system.process(of).edges.iter().enumerate() {
                    self.check_size()?;
                    let stands = self.stands(state, slot, edge.from.index());
                    let here = self.dag.and(lives, stands);
                    if here == Lit::FALSE {
                        continue;
                    }
                    let ready = self.ready(view, edge)?;
                    attempts.push(Attempt { me, edge: number.into(), here, may, ready });
                }
            }
        }
        Ok(attempts)
    }

    /// The move without a partner is among those of the state, as far as control allows.
    fn alone_enabled(&mut self, attempt: &Attempt) -> Lit {
        let able = self.dag.or(attempt.ready.fault, attempt.ready.alone);
        let able = self.dag.and(attempt.may.holds, able);
        let able = self.dag.or(attempt.may.fault, able);
        self.dag.and(attempt.here, able)
    }

    fn with_enabled(&mut self, attempt: &Attempt, handshake: &Handshake) -> Lit {
        let Attempt { here, may, ready, .. } = attempt;
        self.dag.all(&[*here, may.holds, !may.fault, !ready.fault, handshake.when])
    }

    fn partitions(
        &mut self,
        base: &Rc<Vec<Word>>,
        attempts: Vec<Attempt>,
        timeout: Lit,
        free: Lit,
    ) -> Result<Vec<Partition>, Unsupported> {
        let mut out = Vec::new();
        let state = Symbolic::new(base.clone());
        for attempt in attempts {
            let edge = &self.system.process(attempt.me.of).edges[attempt.edge.index()];
            let mine = self.holds_control(&state, attempt.me, edge.from);
            let allowed = self.dag.or(free, mine);
            self.alone_partition(base, &attempt, timeout, allowed, &mut out)?;
            self.handshake_partitions(base, &attempt, timeout, allowed, &mut out)?;
            self.check_size()?;
            if out.len() > MAX_PARTITIONS {
                let sentence = format!("the system has more than {MAX_PARTITIONS} moves for the symbolic engine");
                return Err(Unsupported(sentence));
            }
        }
        Ok(out)
    }

    fn alone_partition(
        &mut self,
        base: &Rc<Vec<Word>>,
        attempt: &Attempt,
        timeout: Lit,
        allowed: Lit,
        out: &mut Vec<Partition>,
    ) -> Result<(), Unsupported> {
        let enabled = self.alone_enabled(attempt);
        let enabled = self.dag.and(enabled, allowed);
        if enabled == Lit::FALSE {
            return Ok(());
        }
        let early = self.dag.and(attempt.may.holds, attempt.ready.fault);
        let mut conditions = Conditions::new(timeout);
        conditions.fault = self.dag.or(attempt.may.fault, early);
        let mut state = Symbolic::new(base.clone());
        if attempt.ready.alone != Lit::FALSE {
            let edge = &self.system.process(attempt.me.of).edges[attempt.edge.index()];
            state = self.alone(&mut conditions, state, attempt.me, edge)?;
            self.normalise(&mut state, attempt.me, edge)?;
        }
        let taken = Move::Process { process: attempt.me.slot as u32, edge: attempt.edge };
        out.extend(self.partition(base, taken, enabled, conditions, &state));
        Ok(())
    }

    /// One partition for each edge of another process that may take part, on whatever channel.
    fn handshake_partitions(
        &mut self,
        base: &Rc<Vec<Word>>,
        attempt: &Attempt,
        timeout: Lit,
        allowed: Lit,
        out: &mut Vec<Partition>,
    ) -> Result<(), Unsupported> {
        let mut partners: BTreeMap<(usize, u32, u32), Vec<&Handshake>> = BTreeMap::new();
        for handshake in &attempt.ready.with {
            let receiver = handshake.receiver;
            partners.entry((receiver.slot, receiver.of.0, handshake.edge.0)).or_default().push(handshake);
        }
        let system = self.system;
        let edge = &system.process(attempt.me.of).edges[attempt.edge.index()];
        for handshakes in partners.into_values() {
            let receiver = handshakes[0].receiver;
            let receiving = &system.process(receiver.of).edges[handshakes[0].edge.index()];
            let mut conditions = Conditions::new(timeout);
            let mut enabled = Lit::FALSE;
            let mut state: Option<Symbolic> = None;
            for handshake in &handshakes {
                let here = self.with_enabled(attempt, handshake);
                enabled = self.dag.or(enabled, here);
                let path = if handshakes.len() == 1 { Lit::TRUE } else { handshake.meant };
                let wrong = self.dag.and(path, handshake.fault);
                conditions.fault = self.dag.or(conditions.fault, wrong);
                let branch = Branch { path, state: Symbolic::new(base.clone()) };
                let sender = (attempt.me, edge);
                let branch =
                    self.handshake(&mut conditions, branch, sender, (receiver, receiving), &handshake.offer)?;
                state = Some(match state {
                    Some(others) => self.merge(handshake.meant, branch.state, others),
                    None => branch.state,
                });
            }
            let enabled = self.dag.and(enabled, allowed);
            let Some(mut state) = state.filter(|_| enabled != Lit::FALSE) else { continue };
            self.normalise(&mut state, receiver, receiving)?;
            let taken = Move::Handshake {
                sender: (attempt.me.slot as u32, attempt.edge),
                receiver: (receiver.slot as u32, handshakes[0].edge),
            };
            out.extend(self.partition(base, taken, enabled, conditions, &state));
        }
        Ok(())
    }

    /// The formulas of a step, from where it is enabled and what it does.
    fn partition(
        &mut self,
        base: &Rc<Vec<Word>>,
        taken: Move,
        enabled: Lit,
        conditions: Conditions,
        state: &Symbolic,
    ) -> Option<Partition> {
        let fault = self.dag.and(enabled, conditions.fault);
        let broken = self.dag.and(enabled, conditions.violation);
        let violation = self.dag.or(fault, broken);
        let sound = self.dag.and(enabled, !fault);
        let (updates, fits) = self.updates(base, state);
        let lacking = self.dag.or(conditions.overflow, !fits);
        let overflow = self.dag.and(sound, lacking);
        let guard = self.dag.and(sound, !lacking);
        let possible = [guard, fault, overflow].iter().any(|lit| *lit != Lit::FALSE);
        possible.then_some(Partition { taken, guard, fault, violation, overflow, updates })
    }

    /// The bits that change, and where all values fit into their cells.
    fn updates(&mut self, base: &Rc<Vec<Word>>, state: &Symbolic) -> (Vec<(u32, Lit)>, Lit) {
        let mut updates = Vec::new();
        let mut fits = Vec::new();
        for (cell, word) in &state.written {
            let place = &self.layout.places[*cell];
            if place.hidden || *word == base[*cell] {
                continue;
            }
            let (bits, fit) = self.encode(*cell, word);
            fits.push(fit);
            for (bit, next) in (place.first..).zip(bits) {
                if next != self.dag.input(bit) {
                    updates.push((bit, next));
                }
            }
        }
        updates.sort_unstable();
        (updates, self.dag.all(&fits))
    }

    /// Without a move, this is a proper end.
    fn is_end(&mut self, state: &Symbolic) -> Lit {
        let count = self.count(state);
        let nobody = self.dag.equals(&count, 0);
        let on_the_way = self.somebody(state, &|location| !location.end);
        let mut rests = Lit::TRUE;
        if let Some(monitor) = &self.system.monitor {
            let cell = self.plain(state, self.layout.monitor);
            let ends = monitor.ends.iter().chain([&monitor.last]);
            let at: Vec<Lit> = ends.map(|end| self.dag.equals(&cell, (*end).into())).collect();
            rests = self.dag.any(&at);
        }
        let proper = self.dag.and(!on_the_way, rests);
        self.dag.or(nobody, proper)
    }

    /// The initial states: what is free to choose is chosen by the bits, the rest follows.
    fn initial(&mut self) -> Result<Lit, Unsupported> {
        let blank = |cell: Number| Word::constant(self.layout.blank(cell).into());
        let base: Rc<Vec<Word>> = Rc::new((0..self.layout.places.len()).map(blank).collect());
        let mut branch = Branch { path: Lit::TRUE, state: Symbolic::new(base.clone()) };
        let mut conditions = Conditions::new(Lit::FALSE);
        for cell in (0..base.len()).filter(|cell| self.layout.places[*cell].hidden) {
            branch.state.set(cell, Word::zero());
        }
        let system = self.system;
        if let Some(monitor) = &system.monitor {
            branch.state.set(self.layout.monitor, Word::constant(monitor.initial.into()));
        }
        let mut handle = 0;
        for (variable, offset) in system.globals.iter().zip(&self.layout.global_offsets) {
            let first = self.layout.globals.start + offset;
            self.initialise(&mut conditions, &mut branch, None, first, variable, &mut handle)?;
        }
        for (number, instance) in system.start.iter().enumerate() {
            let arguments: Vec<Word> = instance.arguments.iter().map(|a| Word::constant((*a).into())).collect();
            branch = self.spawn(&mut conditions, branch, number, instance.process, &arguments, instance.priority)?;
        }
        // The path leads past faults and past what has no room: a state that is lost there would be missed.
        if !self.dag.is_plainly_false(conditions.fault) {
            return Err(Unsupported("an initial state of the system is a fault".into()));
        }
        let mut same = vec![branch.path];
        let mut fits = Vec::new();
        for cell in (0..base.len()).filter(|cell| !self.layout.places[*cell].hidden) {
            let word = self.plain(&branch.state, cell);
            let (bits, fit) = self.encode(cell, &word);
            fits.push(fit);
            for (bit, value) in (self.layout.places[cell].first..).zip(bits) {
                let input = self.dag.input(bit);
                same.push(self.dag.iff(input, value));
            }
        }
        let fits = self.dag.all(&fits);
        let lacking = self.dag.and(branch.path, !fits);
        let lacking = self.dag.or(conditions.overflow, lacking);
        if !self.dag.is_plainly_false(lacking) {
            return Err(Unsupported("the initial states of the system are too many to be bounded".into()));
        }
        Ok(self.dag.all(&same))
    }
}

/// Some expression of the system asks for `timeout`.
fn uses_timeout(system: &System) -> bool {
    let mut found = false;
    for process in &system.processes {
        let edges = process.edges.iter().flat_map(|edge| edge.expressions());
        for expr in edges.chain(&process.provided) {
            expr.walk(&mut |expr| found |= matches!(expr, Expr::Timeout));
        }
    }
    found
}
