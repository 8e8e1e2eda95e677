//! Runs that an automaton accepts: which states lie on the way to cycles with all marks.
//!
//! First the product of the system with the automaton is explored as for [safety](super::safety); the owner of a state keeps
//! the transitions that lead to it. Then states are taken away that cannot be on such a way, until there are no more of
//! them: those without successors, and those from which no transition with some mark can be reached (one way catch them
//! young, against the direction of the transitions). If states are left, each of them reaches transitions with all marks
//! among those that are left, so that there is a cycle with all marks, and following the way to one mark after the other
//! finds it.

use std::collections::HashMap;

use ample_explicit::compile::{Compiled, Transition};
use ample_explicit::engine::distributed::{EmptinessFound, LassoTrace, NUMBERED_TWICE};
use ample_explicit::liveness::{Behind, GeneralisedBuchi, Product, Step, Stops};
use ample_explicit::space::{Checked, Culprit, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, Handle, Inserted, Side, Store, Visible};
use ample_model::{Interrupted, Reason, Statistics, System};
use serde::{Deserialize, Serialize};

use super::origin::{Arriving, HANDLE, Origin, TOGETHER, read_number, write_number};
use super::trace::trace;
use super::{Announced, EmptinessJob, FOUND, NODES, PIECE, PROCESSES, REPORT, STATES, TRACE, begin, compile, owner};
use crate::control::TallySnapshot;
use crate::exchange::Message;
use crate::session::Seat;

/// A worker looks for messages after it has done so much.
const POLL_EVERY: u32 = 64;

/// The bytes before the state of the system in one of the product.
const TAG: usize = 2;

/// Where a state comes from, and its number among those of its owner.
#[derive(Clone, Copy, Debug)]
struct Node {
    origin: Origin,
    number: u32,
}

impl Side for Node {
    const SIZE: usize = Origin::SIZE + 4;

    fn fresh(parent: Option<Handle>) -> Node {
        Node { origin: Origin::fresh(parent), number: 0 }
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let (origin, number) = bytes.split_at_mut(Origin::SIZE);
        self.origin.write(origin);
        number.copy_from_slice(&self.number.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Node {
        let (origin, number) = bytes.split_at(Origin::SIZE);
        let number = number.try_into().map_or(0, u32::from_le_bytes);
        Node { origin: Origin::read(origin), number }
    }
}

/// A transition, as the owner of its target keeps it.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    source: u32,
    target: u32,
    /// Who owns the source.
    worker: u16,
    /// A number that stands for its marks.
    marks: u16,
}

/// Where to go from a state to come to a mark.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: u32,
    worker: u16,
    /// This transition has the mark.
    is_there: bool,
}

/// What a worker tells at the end of the exploration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct WorkerReport {
    /// A state after which everything is accepted, and its depth.
    open: Option<(u64, u64)>,
    statistics: Statistics,
    ended: Option<Reason>,
    limit: Option<Reason>,
    stops: Vec<(Option<Culprit>, String)>,
}

/// Searches with all workers.
pub(super) fn search(
    seat: &mut Seat<'_>,
    system: &System,
    job: &EmptinessJob,
    visible: impl Visible,
) -> Result<EmptinessFound, Interrupted> {
    let space = compile(seat, system, job.is_native).and_then(|compiled| compiled.space(&job.atoms, seat.budget));
    let space = space.map_err(Reason::from).and_then(|space| Ok((space, job.automaton()?)));
    let (mut space, automaton) = match space {
        Ok(both) => both,
        Err(why) => {
            let ended = begin(seat, Err(why), job.has_hidden)?;
            return Ok(EmptinessFound { ended, ..EmptinessFound::default() });
        }
    };
    if let Some(why) = begin(seat, Ok(&mut space), job.has_hidden)? {
        return Ok(EmptinessFound { ended: Some(why), ..EmptinessFound::default() });
    }
    let is_terminal = automaton.is_terminal();
    let announced = Announced::new(&space, seat.workers());
    let product = Product::new(space, automaton).stutters(job.stutters).hasty(job.is_hasty);
    let room = seat.room();
    let marks: Vec<u64> = (0..64).map(|bit| 1 << bit).filter(|mark| product.all_marks() & mark != 0).collect();
    let search = Search {
        seat,
        product,
        store: FlatStore::with_visible(Behind(visible)).limit(room),
        room,
        job,
        marks,
        is_beginning: job.is_hasty && job.has_universal(),
        keeps_graph: !(is_terminal && job.is_hasty),
        handles: Vec::new(),
        incoming: Vec::new(),
        mark_sets: Vec::new(),
        mark_numbers: HashMap::new(),
        successors: Vec::new(),
        level: 0,
        levels: vec![0],
        open: None,
        announced,
        out: Vec::new(),
        arriving: Vec::new(),
        statistics: Statistics::default(),
        ended: None,
        countdown: POLL_EVERY,
    };
    search.run()
}

struct Search<'s, 'a, V> {
    seat: &'s mut Seat<'a>,
    product: Product<Compiled>,
    store: FlatStore<Node, V>,
    room: usize,
    job: &'s EmptinessJob,
    /// All marks, each a bit.
    marks: Vec<u64>,
    /// A beginning may be enough.
    is_beginning: bool,
    /// Cycles matter.
    keeps_graph: bool,
    /// The states of this worker by their numbers.
    handles: Vec<Handle>,
    incoming: Vec<Incoming>,
    /// The marks that transitions have, and their numbers.
    mark_sets: Vec<u64>,
    mark_numbers: HashMap<u64, u16>,
    /// How many transitions lead out of each state to states that are left.
    successors: Vec<u32>,
    level: u64,
    /// With which number each level begins.
    levels: Vec<usize>,
    /// The first state after which everything is accepted, and its depth.
    open: Option<(Handle, u64)>,
    announced: Announced,
    out: Vec<u8>,
    /// Some states of a message.
    arriving: Vec<Arriving>,
    statistics: Statistics,
    ended: Option<Reason>,
    countdown: u32,
}

impl<V: Visible> Search<'_, '_, V> {
    fn run(mut self) -> Result<EmptinessFound, Interrupted> {
        let is_whole = self.explore()?;
        self.statistics.store_bytes = self.bytes() as u64;
        self.statistics.state_bytes = self.store.state_bytes() as u64;
        let (mut found, open) = self.exchange_reports()?;
        if self.is_open_known(open.is_some())? {
            let ends: Vec<(usize, Handle)> = open.into_iter().collect();
            let mut runs = trace(self.seat, &self.store, |node| node.origin, &ends)?;
            let mut prefix = runs.pop().unwrap_or_default();
            let cycle = prefix.pop().map(|last| (last, 0)).into_iter().collect();
            found.run = Some(LassoTrace { prefix, cycle });
            found.ended = None;
        } else if is_whole && self.keeps_graph {
            match self.cycle()? {
                Cycle::None => {}
                Cycle::Found(run) => found.run = Some(run),
                Cycle::Stopped => found.ended = Some(Reason::Interrupted),
            }
        }
        found.statistics.complete = found.ended.is_none();
        Ok(found)
    }

    fn bytes(&self) -> usize {
        self.store.bytes()
            + self.incoming.capacity() * size_of::<Incoming>()
            + self.handles.capacity() * size_of::<Handle>()
            + self.successors.capacity() * size_of::<u32>()
    }

    /// Explores the product. True if all of it was explored.
    fn explore(&mut self) -> Result<bool, Interrupted> {
        let mut out = std::mem::take(&mut self.out);
        for index in 0.. {
            if !self.product.initial(index, &mut out) {
                break;
            }
            let hash = self.store.hash(&out);
            if !self.product.is_dead() && owner(hash, self.seat.workers()) == self.seat.me() {
                self.statistics.atomic_steps += u64::from(self.product.atomic_steps());
                self.count_arrival(&out);
                self.arrive(&out, hash, Origin(None), 0);
            }
            self.rest()?;
            if self.is_ending() {
                break;
            }
        }
        self.out = out;
        self.seat.round(&[], |_, _| {})?;
        let mut steps = Vec::new();
        loop {
            let (first, end) = (self.levels[self.level as usize], self.handles.len());
            let mut expanded = 0;
            for number in first..end {
                if self.is_ending() {
                    break;
                }
                expanded += 1;
                self.expand(number, &mut steps);
                self.rest()?;
            }
            self.levels.push(end);
            self.seat.exchange.close(&[expanded, u64::from(self.is_ending())]);
            while let Some(message) = self.seat.receive()? {
                self.take(message);
            }
            self.tell();
            let sums = self.seat.exchange.next_round();
            self.level += 1;
            if sums[1] > 0 {
                self.ended.get_or_insert(Reason::Interrupted);
                return Ok(false);
            }
            if sums[0] == 0 {
                return Ok(true);
            }
        }
    }

    fn is_ending(&self) -> bool {
        self.seat.is_stopped || matches!(self.ended, Some(Reason::Memory | Reason::Unsupported(_)))
    }

    #[inline]
    fn rest(&mut self) -> Result<(), Interrupted> {
        self.countdown -= 1;
        if self.countdown > 0 {
            return Ok(());
        }
        self.countdown = POLL_EVERY;
        while let Some(message) = self.seat.poll()? {
            self.take(message);
        }
        if self.bytes() > self.room {
            self.ended = Some(Reason::Memory);
            self.seat.stop_all();
        }
        self.tell();
        Ok(())
    }

    fn tell(&self) {
        self.seat.tell(&TallySnapshot {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            memory: self.bytes() as u64,
            ..TallySnapshot::default()
        });
    }

    fn expand(&mut self, number: usize, steps: &mut Vec<Step<Transition>>) {
        let source = self.handles[number];
        steps.clear();
        let mut is_all = self.product.list(self.store.get(source), None, steps);
        while let Some(last) = steps.last().copied().filter(|_| !is_all) {
            let before = steps.len();
            is_all = self.product.list(self.store.get(source), Some(&last), steps) || steps.len() == before;
        }
        if steps.is_empty() {
            return;
        }
        if self.level >= self.job.max_depth {
            self.ended.get_or_insert(Reason::Depth);
            return;
        }
        let mut out = std::mem::take(&mut self.out);
        for step in steps.iter() {
            self.product.target(self.store.get(source), step, &mut out);
            self.statistics.atomic_steps += u64::from(self.product.atomic_steps());
            self.count_arrival(&out);
            self.send(number as u32, source, &out, self.product.marks(step));
        }
        self.out = out;
    }

    #[inline]
    fn count_arrival(&mut self, state: &[u8]) {
        let is_transient = self.product.is_transient(state);
        *if is_transient { &mut self.statistics.atomic_steps } else { &mut self.statistics.transitions } += 1;
    }

    #[inline]
    fn send(&mut self, number: u32, source: Handle, state: &[u8], marks: u64) {
        if self.keeps_graph {
            self.successors[number as usize] += 1;
        }
        let hash = self.store.hash(state);
        let to = owner(hash, self.seat.workers());
        if to == self.seat.me() {
            let me = self.seat.me() as u16;
            self.reach(state, hash, me, Some(source), number, marks);
            return;
        }
        self.announced.announce(self.seat, self.product.space(), &state[TAG..], to);
        self.seat.exchange.append(STATES, to, |bytes| {
            bytes.extend_from_slice(&source.number().to_le_bytes()[..HANDLE]);
            write_number(number.into(), bytes);
            write_number(marks, bytes);
            write_number(state.len() as u64, bytes);
            bytes.extend_from_slice(state);
        });
    }

    /// A transition leads to a state that this worker owns.
    fn reach(&mut self, state: &[u8], hash: u64, worker: u16, source: Option<Handle>, number: u32, marks: u64) {
        let origin = Origin(source.map(|source| (worker, source)));
        let Some(target) = self.arrive(state, hash, origin, self.level + 1) else { return };
        if self.keeps_graph {
            let marks = self.number_of(marks);
            self.incoming.push(Incoming { source: number, target, worker, marks });
        }
    }

    fn number_of(&mut self, marks: u64) -> u16 {
        let next = self.mark_sets.len() as u16;
        let number = *self.mark_numbers.entry(marks).or_insert(next);
        if number == next {
            self.mark_sets.push(marks);
        }
        number
    }

    /// Arrives at a state that this worker owns; its number.
    fn arrive(&mut self, state: &[u8], hash: u64, origin: Origin, depth: u64) -> Option<u32> {
        let number = self.handles.len() as u32;
        match self.store.insert_hashed(state, hash, Node { origin, number }) {
            Inserted::New(new) => {
                self.handles.push(new);
                if self.keeps_graph {
                    self.successors.push(0);
                }
                let is_transient = self.product.is_transient(state);
                let statistics = &mut self.statistics;
                *if is_transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
                statistics.depth = statistics.depth.max(depth);
                if self.is_beginning && !is_transient && self.open.is_none() && !self.product.invariant(0, state) {
                    self.find(new, depth);
                }
                (number < u32::MAX).then_some(number)
            }
            Inserted::Seen(seen) => Some(self.store.side(seen).number),
            Inserted::Full => {
                self.ended = Some(Reason::Memory);
                self.seat.stop_all();
                None
            }
        }
    }

    /// After this state everything is accepted.
    #[cold]
    fn find(&mut self, state: Handle, depth: u64) {
        self.open = Some((state, depth));
        if self.seat.me() == 0 {
            self.seat.stop_all();
        } else {
            self.seat.exchange.send(FOUND, 0, Vec::new());
        }
    }

    fn take(&mut self, message: Message) {
        match message.kind {
            STATES => self.take_states(message.from, &message.bytes),
            PROCESSES => self.learn(&message.bytes),
            FOUND => self.seat.stop_all(),
            _ => {}
        }
    }

    /// Another worker tells which processes are behind a number.
    fn learn(&mut self, bytes: &[u8]) {
        if !Announced::learn(self.product.space(), bytes) {
            self.ended = Some(Reason::Unsupported(NUMBERED_TWICE.into()));
            self.seat.stop_all();
        }
    }

    fn take_states(&mut self, from: usize, bytes: &[u8]) {
        let mut arriving = std::mem::take(&mut self.arriving);
        let mut at = 0;
        while !self.is_ending() {
            arriving.clear();
            while arriving.len() < TOGETHER
                && let Some((mut one, end)) = Arriving::read(bytes, at, 2)
            {
                at = end;
                one.hash = self.store.hash(one.state(bytes));
                self.store.prefetch(one.hash);
                arriving.push(one);
            }
            if arriving.is_empty() {
                break;
            }
            arriving.iter().for_each(|one| self.store.prefetch_state(one.hash));
            for one in &arriving {
                if self.is_ending() {
                    break;
                }
                let [number, marks] = one.numbers;
                self.reach(one.state(bytes), one.hash, from as u16, one.source, number as u32, marks);
            }
        }
        self.arriving = arriving;
    }

    /// Worker 0 learns what all have counted, and of the nearest state after which everything is accepted.
    fn exchange_reports(&mut self) -> Result<(EmptinessFound, Option<(usize, Handle)>), Interrupted> {
        let stops = self.product.stops().iter().map(|(by, message)| (*by, message.clone()));
        let report = WorkerReport {
            open: self.open.map(|(state, depth)| (state.number(), depth)),
            statistics: self.statistics.clone(),
            ended: self.ended.clone(),
            stops: stops.collect(),
            limit: self.product.space().limit_reached(),
        };
        self.seat.exchange.send(REPORT, 0, serde_json::to_vec(&report).unwrap_or_default());
        let mut reports: Vec<(usize, WorkerReport)> = Vec::new();
        self.seat.round(&[], |_, message| {
            if message.kind == REPORT {
                reports.extend(serde_json::from_slice(&message.bytes).ok().map(|report| (message.from, report)));
            }
        })?;
        reports.sort_by_key(|(worker, _)| *worker);
        let mut found = EmptinessFound::default();
        let mut nearest: Option<(usize, u64, u64)> = None;
        let mut limit = None;
        for (worker, report) in reports {
            if let Some((state, depth)) = report.open
                && nearest.is_none_or(|(_, _, least)| depth < least)
            {
                nearest = Some((worker, state, depth));
            }
            let (all, one) = (&mut found.statistics, report.statistics);
            all.states += one.states;
            all.atomic_states += one.atomic_states;
            all.transitions += one.transitions;
            all.atomic_steps += one.atomic_steps;
            all.depth = all.depth.max(one.depth);
            all.store_bytes += one.store_bytes;
            all.state_bytes = all.state_bytes.max(one.state_bytes);
            let is_why = matches!(report.ended, Some(Reason::Memory | Reason::Depth | Reason::Unsupported(_)));
            if is_why && found.ended != Some(Reason::Memory) || found.ended.is_none() {
                found.ended = report.ended;
            }
            limit = limit.or(report.limit);
            found.stops.extend(report.stops.into_iter().collect::<Stops>());
        }
        found.statistics.counts_transitions = true;
        found.statistics.counts_depth = true;
        found.statistics.memory_bytes = found.statistics.store_bytes;
        if let Some(limit) = limit {
            // A state whose steps were not all looked for is not stuck, even if it seems so.
            if !matches!(limit, Reason::Unsupported(_)) {
                nearest = None;
            }
            found.ended = Some(limit);
        }
        let nearest = nearest.and_then(|(worker, state, _)| Some((worker, Handle::from_number(state)?)));
        Ok((found, nearest))
    }

    /// Worker 0 knows of a beginning that is enough, and so do all then.
    fn is_open_known(&mut self, is_known: bool) -> Result<bool, Interrupted> {
        Ok(self.seat.round(&[u64::from(is_known)], |_, _| {})? != [0])
    }

    /// Looks for a cycle with all marks in the graph, all of which is known.
    fn cycle(&mut self) -> Result<Cycle, Interrupted> {
        self.incoming.sort_unstable_by_key(|incoming| incoming.target);
        let mut left = Left {
            alive: vec![true; self.handles.len()],
            starts: starts(&self.incoming, self.handles.len()),
            removed: 0,
        };
        let dead: Vec<u32> = (0..self.handles.len() as u32).filter(|n| self.successors[*n as usize] == 0).collect();
        if self.remove(&mut left, dead)? {
            return Ok(Cycle::Stopped);
        }
        loop {
            let before = left.removed;
            for position in 0..self.marks.len() {
                let Some(ways) = self.ways(&left, self.marks[position])? else { return Ok(Cycle::Stopped) };
                let is_lost = |state: &u32| left.alive[*state as usize] && !ways[*state as usize];
                let lost: Vec<u32> = (0..self.handles.len() as u32).filter(is_lost).collect();
                if self.remove(&mut left, lost)? {
                    return Ok(Cycle::Stopped);
                }
            }
            let alive = left.alive.iter().filter(|alive| **alive).count() as u64;
            let sums = self.seat.round(&[alive, left.removed - before], |_, _| {})?;
            if sums[0] == 0 {
                return Ok(Cycle::None);
            }
            if sums[1] == 0 {
                return self.follow(&left);
            }
        }
    }

    /// Takes states away, and those that have no successors then. True if the job is to end.
    fn remove(&mut self, left: &mut Left, mut states: Vec<u32>) -> Result<bool, Interrupted> {
        loop {
            let mut sent = states.len() as u64;
            while let Some(state) = states.pop() {
                if !std::mem::replace(&mut left.alive[state as usize], false) {
                    continue;
                }
                left.removed += 1;
                for edge in &self.incoming[left.incoming(state)] {
                    if usize::from(edge.worker) == self.seat.me() {
                        self.successors[edge.source as usize] -= 1;
                        if self.successors[edge.source as usize] == 0 {
                            states.push(edge.source);
                        }
                    } else {
                        sent += 1;
                        let source = u64::from(edge.source);
                        self.seat.exchange.append(NODES, edge.worker.into(), |bytes| write_number(source, bytes));
                    }
                }
                self.pause(&mut states)?;
            }
            self.seat.exchange.close(&[sent, u64::from(self.seat.is_stopped)]);
            while let Some(message) = self.seat.receive()? {
                lose(&mut self.successors, &message, &mut states);
            }
            let sums = self.seat.exchange.next_round();
            if sums[1] > 0 {
                return Ok(true);
            }
            if sums[0] == 0 {
                return Ok(false);
            }
        }
    }

    /// Looks for messages about lost successors now and then.
    fn pause(&mut self, states: &mut Vec<u32>) -> Result<(), Interrupted> {
        self.countdown -= 1;
        if self.countdown == 0 {
            self.countdown = POLL_EVERY;
            while let Some(message) = self.seat.poll()? {
                lose(&mut self.successors, &message, states);
            }
        }
        Ok(())
    }

    /// From which states that are left a transition with a mark can be reached; nothing if the job is to end.
    fn ways(&mut self, left: &Left, mark: u64) -> Result<Option<Vec<bool>>, Interrupted> {
        let mut reaches = vec![false; self.handles.len()];
        let is_done =
            self.backwards(left, mark, |number, _, _| !std::mem::replace(&mut reaches[number as usize], true))?;
        Ok(is_done.then_some(reaches))
    }

    /// Goes from all transitions with a mark backwards, over states that are left. `visit` is told each state that is
    /// reached, with the way from there, and says whether it is new. False if the job is to end.
    fn backwards(
        &mut self,
        left: &Left,
        mark: u64,
        mut visit: impl FnMut(u32, u16, Way) -> bool,
    ) -> Result<bool, Interrupted> {
        let me = self.seat.me() as u16;
        let mut open: Vec<u32> = Vec::new();
        let mut sent = 0;
        // The sources of transitions with the mark.
        for state in (0..self.handles.len() as u32).filter(|state| left.alive[*state as usize]) {
            for edge in &self.incoming[left.incoming(state)] {
                if self.mark_sets[usize::from(edge.marks)] & mark == 0 {
                    continue;
                }
                sent += 1;
                let way = Way { to: state, worker: me, is_there: true };
                if edge.worker != me {
                    self.seat.exchange.append(NODES, edge.worker.into(), |bytes| write_way(edge.source, way, bytes));
                } else if left.alive[edge.source as usize] && visit(edge.source, me, way) {
                    open.push(edge.source);
                }
            }
        }
        loop {
            while let Some(state) = open.pop() {
                for edge in &self.incoming[left.incoming(state)] {
                    let way = Way { to: state, worker: me, is_there: false };
                    if edge.worker != me {
                        sent += 1;
                        self.seat
                            .exchange
                            .append(NODES, edge.worker.into(), |bytes| write_way(edge.source, way, bytes));
                    } else if left.alive[edge.source as usize] && visit(edge.source, me, way) {
                        open.push(edge.source);
                    }
                }
                self.countdown -= 1;
                if self.countdown == 0 {
                    self.countdown = POLL_EVERY;
                    while let Some(message) = self.seat.poll()? {
                        reached(left, &message, &mut open, &mut visit);
                    }
                }
            }
            self.seat.exchange.close(&[sent, u64::from(self.seat.is_stopped)]);
            while let Some(message) = self.seat.receive()? {
                reached(left, &message, &mut open, &mut visit);
            }
            let sums = self.seat.exchange.next_round();
            if sums[1] > 0 {
                return Ok(false);
            }
            if sums[0] == 0 {
                return Ok(true);
            }
            sent = 0;
        }
    }

    /// Follows the ways to one mark after the other, until the run comes back. States are left.
    fn follow(&mut self, left: &Left) -> Result<Cycle, Interrupted> {
        let mut ways: Vec<Vec<Option<Way>>> = Vec::new();
        for position in 0..self.marks.len() {
            let mut to: Vec<Option<Way>> = vec![None; self.handles.len()];
            let mark = self.marks[position];
            let is_done = self.backwards(left, mark, |number, _, way| {
                let known = &mut to[number as usize];
                let is_new = known.is_none();
                known.get_or_insert(way);
                is_new
            })?;
            if !is_done {
                return Ok(Cycle::Stopped);
            }
            ways.push(to);
        }
        // The states of this worker have the numbers in which they were found: the first one that is left is the nearest.
        let first = left.alive.iter().position(|alive| *alive);
        let depth = first.map(|first| self.levels.partition_point(|begin| *begin <= first) as u64);
        if let (Some(first), Some(depth)) = (first, depth) {
            let mut bytes = depth.to_le_bytes().to_vec();
            bytes.extend_from_slice(&(first as u32).to_le_bytes());
            bytes.extend_from_slice(&self.handles[first].number().to_le_bytes());
            self.seat.exchange.send(REPORT, 0, bytes);
        }
        let mut offers: Vec<(u64, usize, u32, Handle)> = Vec::new();
        self.seat.round(&[], |_, message| {
            if message.kind == REPORT {
                offers.extend(offer(message.from, &message.bytes));
            }
        })?;
        let start = offers.into_iter().min();
        let ends: Vec<(usize, Handle)> = start.iter().map(|(_, worker, _, handle)| (*worker, *handle)).collect();
        let rounds = self.rotate(&ways, start.map(|(_, worker, number, _)| (worker, number)))?;
        let mut runs = trace(self.seat, &self.store, |node| node.origin, &ends)?;
        let mut prefix = runs.pop().unwrap_or_default();
        // The run goes on from there.
        prefix.pop();
        let (before, cycle) = rounds;
        prefix.extend(before.into_iter().map(|(state, _)| state));
        Ok(Cycle::Found(LassoTrace { prefix, cycle }))
    }

    /// From a state to all marks, again and again, until a round begins where one has begun before: the states before that,
    /// and those after it. Worker 0 leads, and gets the states.
    fn rotate(
        &mut self,
        ways: &[Vec<Option<Way>>],
        start: Option<(usize, u32)>,
    ) -> Result<(Vec<Marked>, Vec<Marked>), Interrupted> {
        let mut begins: Vec<((usize, u32), usize)> = Vec::new();
        let mut states: Vec<Marked> = Vec::new();
        let mut sent = 0_u64;
        if let Some((worker, number)) = start {
            begins.push(((worker, number), 0));
            self.seat.exchange.send(TRACE, worker, token(number, 0));
            sent = 1;
        }
        loop {
            let mut received = Vec::new();
            let sums = self.seat.round(&[sent], |_, message| received.push(message))?;
            if sums == [0] {
                break;
            }
            sent = 0;
            for message in received {
                match message.kind {
                    TRACE => sent += self.go(ways, &message.bytes),
                    PIECE => {
                        let Some(back) = read_piece(&message.bytes, &mut states) else { continue };
                        let is_known = begins.iter().any(|(begin, _)| *begin == back);
                        begins.push((back, states.len()));
                        if !is_known {
                            self.seat.exchange.send(TRACE, back.0, token(back.1, 0));
                            sent += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        let Some((last, _)) = begins.last().copied() else { return Ok(Default::default()) };
        let again = begins.iter().find(|(begin, _)| *begin == last).map_or(0, |(_, at)| *at);
        let cycle = states.split_off(again);
        Ok((states, cycle))
    }

    /// Follows a way as far as this worker knows it; how many messages it took.
    fn go(&mut self, ways: &[Vec<Option<Way>>], bytes: &[u8]) -> u64 {
        let mut rest = bytes;
        let (Some(number), Some(mark)) = (read_number(&mut rest), read_number(&mut rest)) else { return 0 };
        let (mut number, mut mark) = (number as u32, mark as usize);
        let mut piece = Vec::new();
        loop {
            let Some(way) = ways.get(mark).and_then(|ways| ways[number as usize]) else { return 0 };
            let state = self.store.get(self.handles[number as usize]);
            write_number(if way.is_there { self.marks[mark] } else { 0 }, &mut piece);
            write_number(state.len() as u64, &mut piece);
            piece.extend_from_slice(state);
            number = way.to;
            mark += usize::from(way.is_there);
            let is_round = mark == ways.len();
            if is_round || usize::from(way.worker) != self.seat.me() {
                // What comes behind the piece says whether a round is over.
                let mut message = Vec::new();
                write_number(u64::from(is_round), &mut message);
                write_number(way.worker.into(), &mut message);
                write_number(number.into(), &mut message);
                message.extend_from_slice(&piece);
                self.seat.exchange.send(PIECE, 0, message);
                if !is_round {
                    self.seat.exchange.send(TRACE, way.worker.into(), token(number, mark as u64));
                }
                return 1;
            }
        }
    }
}

/// A state, and the marks of the transition after it.
type Marked = (Vec<u8>, u64);

/// What came of the search for a cycle.
enum Cycle {
    None,
    Found(LassoTrace),
    /// The job is to end.
    Stopped,
}

/// The states that are left.
struct Left {
    alive: Vec<bool>,
    /// Where the transitions to each state begin.
    starts: Vec<usize>,
    removed: u64,
}

impl Left {
    fn incoming(&self, state: u32) -> std::ops::Range<usize> {
        self.starts[state as usize]..self.starts[state as usize + 1]
    }
}

/// Where the transitions to each of so many states begin, if they are sorted.
fn starts(incoming: &[Incoming], states: usize) -> Vec<usize> {
    let mut starts = Vec::with_capacity(states + 1);
    let mut at = 0;
    for state in 0..=states as u32 {
        while incoming.get(at).is_some_and(|edge| edge.target < state) {
            at += 1;
        }
        starts.push(at);
    }
    starts
}

/// States have lost successors; those that have none left are to be taken away.
fn lose(successors: &mut [u32], message: &Message, states: &mut Vec<u32>) {
    let mut bytes = message.bytes.as_slice();
    while let Some(source) = read_number(&mut bytes) {
        let count = &mut successors[source as usize];
        *count -= 1;
        if *count == 0 {
            states.push(source as u32);
        }
    }
}

fn write_way(source: u32, way: Way, bytes: &mut Vec<u8>) {
    write_number(source.into(), bytes);
    write_number(u64::from(way.to) << 1 | u64::from(way.is_there), bytes);
}

/// States are reached backwards from states of others.
fn reached(left: &Left, message: &Message, open: &mut Vec<u32>, visit: &mut impl FnMut(u32, u16, Way) -> bool) {
    let mut bytes = message.bytes.as_slice();
    let worker = message.from as u16;
    while let (Some(source), Some(way)) = (read_number(&mut bytes), read_number(&mut bytes)) {
        let way = Way { to: (way >> 1) as u32, worker, is_there: way & 1 == 1 };
        if left.alive[source as usize] && visit(source as u32, worker, way) {
            open.push(source as u32);
        }
    }
}

fn offer(from: usize, bytes: &[u8]) -> Option<(u64, usize, u32, Handle)> {
    let (depth, rest) = bytes.split_first_chunk::<8>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let handle = Handle::from_number(u64::from_le_bytes(*rest.first_chunk::<8>()?))?;
    Some((u64::from_le_bytes(*depth), from, u32::from_le_bytes(*number), handle))
}

fn token(number: u32, mark: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_number(number.into(), &mut bytes);
    write_number(mark, &mut bytes);
    bytes
}

/// Appends the states of a piece; where the next round begins, if this one is over.
fn read_piece(bytes: &[u8], states: &mut Vec<Marked>) -> Option<(usize, u32)> {
    let mut rest = bytes;
    let is_round = read_number(&mut rest)? == 1;
    let back = (read_number(&mut rest)? as usize, read_number(&mut rest)? as u32);
    while let (Some(marks), Some(length)) = (read_number(&mut rest), read_number(&mut rest)) {
        let (state, others) = rest.split_at_checked(length as usize)?;
        states.push((state.to_vec(), marks));
        rest = others;
    }
    is_round.then_some(back)
}
