//! Markings as states: bytes, and transitions that test and change a few words of them.
//!
//! A transition is tried only where one of its input places, its *home*, is marked: the one that fewest others take
//! from. Marked homes are found word by word, so that what a state costs depends on its marked places and not on the
//! size of the net. Places of one bit are tested together, a word at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ample_explicit::liveness::{Concurrent, Processes};
use ample_explicit::space::{Checked, StateSpace};
use ample_model::{Move, Reason};

use super::layout::{Cell, Layout, Widths, add, word};
use super::relations::Relations;
use super::test::{Test, Tests};
use crate::net::{Condition, Net};

/// A place would hold more tokens than there is room for: the states have to be made wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooNarrow {
    /// The place.
    pub place: u32,
}

/// A number in a cell, compared with another.
#[derive(Clone, Copy, Debug)]
struct Count {
    cell: Cell,
    number: u64,
    place: u32,
}

/// Where the parts of a transition begin; those of the next one follow.
#[derive(Clone, Copy, Debug, Default)]
struct Code {
    bits: u32,
    counts: u32,
    rooms: u32,
    room_bits: u32,
    changes: u32,
}

/// A place with the transitions that are tried where it is marked.
#[derive(Clone, Copy, Debug)]
struct Home {
    start: u32,
    end: u32,
    /// The number of its word.
    word: u32,
    /// The bits of the word above it.
    above: u64,
}

/// No home.
const NONE: u32 = u32::MAX;

/// A net, laid out to be run.
#[derive(Debug)]
pub(super) struct Table {
    pub layout: Layout,
    codes: Vec<Code>,
    /// Bits that must be there, of places of one bit.
    bits: Vec<(u32, u64)>,
    /// Numbers that other places must have at least.
    counts: Vec<Count>,
    /// Bits that must not be there, so that there is room.
    room_bits: Vec<(u32, u64)>,
    /// Numbers that other places may have at most, so that there is room.
    rooms: Vec<Count>,
    /// What is added to words.
    changes: Vec<(u32, u64)>,
    /// Transitions in the order in which they are tried: first those that need nothing, then by home.
    candidates: Vec<u32>,
    /// So many need nothing.
    free: u32,
    homes: Vec<Home>,
    /// By candidate.
    home_of: Vec<u32>,
    /// By word and bit.
    home_at: Vec<u32>,
    /// The bits of homes in each word.
    relevant: Vec<u64>,
    pub initial: Vec<u8>,
}

impl Table {
    pub fn new(net: &Net, relations: &Relations, widths: &Widths) -> Table {
        let layout = Layout::new(widths);
        let initial = layout.pack(&net.initial());
        let mut table = Table {
            codes: Vec::with_capacity(net.transitions.len() + 1),
            bits: Vec::new(),
            counts: Vec::new(),
            room_bits: Vec::new(),
            rooms: Vec::new(),
            changes: Vec::new(),
            candidates: Vec::with_capacity(net.transitions.len()),
            free: 0,
            homes: Vec::new(),
            home_of: Vec::new(),
            home_at: vec![NONE; layout.words.len() * 64],
            relevant: vec![0; layout.words.len()],
            layout,
            initial,
        };
        (0..net.transitions.len() as u32).for_each(|transition| table.add_code(relations, transition));
        table.codes.push(table.here());
        table.add_homes(net, relations);
        table
    }

    fn here(&self) -> Code {
        Code {
            bits: self.bits.len() as u32,
            counts: self.counts.len() as u32,
            rooms: self.rooms.len() as u32,
            room_bits: self.room_bits.len() as u32,
            changes: self.changes.len() as u32,
        }
    }

    fn add_code(&mut self, relations: &Relations, transition: u32) {
        let here = self.here();
        self.codes.push(here);
        for &(place, number) in relations.takes.row(transition) {
            let cell = self.layout.cells[place as usize];
            if cell.width == 1 && number == 1 {
                merge(&mut self.bits, here.bits, cell.offset, |bits| bits | cell.mask());
            } else {
                self.counts.push(Count { cell, number, place });
            }
        }
        for &(place, change) in relations.changes.row(transition) {
            let cell = self.layout.cells[place as usize];
            let moved = (change as u64) << cell.shift;
            merge(&mut self.changes, here.changes, cell.offset, |sum| sum.wrapping_add(moved));
            if change == 1 && cell.width == 1 {
                merge(&mut self.room_bits, here.room_bits, cell.offset, |bits| bits | cell.mask());
            } else if change > 0 {
                // A change that no number leaves room for is noticed when it happens, by a number that is too large.
                let number = cell.most().checked_sub(change as u64);
                let cell = if number.is_some() { cell } else { Cell { width: 64, shift: 0, ..cell } };
                self.rooms.push(Count { cell, number: number.unwrap_or(0), place });
            }
        }
    }

    /// Gives each transition a home.
    fn add_homes(&mut self, net: &Net, relations: &Relations) {
        let all = 0..net.transitions.len() as u32;
        let mut tenants: Vec<(u32, u32, u8, u32)> = Vec::new();
        for transition in all {
            let weigh = |place: &u32| (relations.consumers.row(*place).len(), net.places[*place as usize].initial);
            let home = relations.takes.row(transition).iter().map(|(place, _)| *place).min_by_key(weigh);
            match home {
                None => self.candidates.push(transition),
                Some(place) => {
                    let cell = self.layout.cells[place as usize];
                    tenants.push((self.layout.word_of[place as usize], place, cell.shift, transition));
                }
            }
        }
        self.free = self.candidates.len() as u32;
        self.home_of = vec![NONE; self.candidates.len()];
        tenants.sort_unstable_by_key(|(word, _, shift, transition)| (*word, *shift, *transition));
        let mut last = None;
        for (word, place, _, transition) in tenants {
            if last != Some(place) {
                self.open_home(word, self.layout.cells[place as usize]);
                last = Some(place);
            }
            self.candidates.push(transition);
            self.home_of.push(self.homes.len() as u32 - 1);
            if let Some(home) = self.homes.last_mut() {
                home.end = self.candidates.len() as u32;
            }
        }
    }

    fn open_home(&mut self, word: u32, cell: Cell) {
        let start = self.candidates.len() as u32;
        let end_bit = u32::from(cell.shift + cell.width);
        let above = u64::MAX.checked_shl(end_bit).unwrap_or(0);
        let number = self.homes.len() as u32;
        self.homes.push(Home { start, end: start, word, above });
        self.relevant[word as usize] |= cell.mask();
        let bits = usize::from(cell.shift)..usize::from(cell.shift + cell.width);
        self.home_at[64 * word as usize..][bits].fill(number);
    }

    /// The transition can fire.
    #[inline]
    pub fn is_enabled(&self, transition: u32, state: &[u8]) -> bool {
        let [code, next] = self.code(transition);
        let bits = &self.bits[code.bits as usize..next.bits as usize];
        let counts = &self.counts[code.counts as usize..next.counts as usize];
        bits.iter().all(|(offset, bits)| word(state, *offset) & bits == *bits)
            && counts.iter().all(|count| count.cell.get(state) >= count.number)
    }

    /// Fires an enabled transition: `state`, which is the state before, becomes the one after.
    #[inline]
    pub fn fire(&self, transition: u32, state: &mut [u8]) -> Result<(), TooNarrow> {
        let [code, next] = self.code(transition);
        let room_bits = &self.room_bits[code.room_bits as usize..next.room_bits as usize];
        let rooms = &self.rooms[code.rooms as usize..next.rooms as usize];
        if room_bits.iter().any(|(offset, bits)| word(state, *offset) & bits != 0) {
            return Err(self.full_bit(room_bits, state));
        }
        if let Some(full) = rooms.iter().find(|count| is_full(count, state)) {
            return Err(TooNarrow { place: full.place });
        }
        for (offset, change) in &self.changes[code.changes as usize..next.changes as usize] {
            add(state, *offset, *change);
        }
        Ok(())
    }

    /// The place of one bit that is full.
    #[cold]
    fn full_bit(&self, room_bits: &[(u32, u64)], state: &[u8]) -> TooNarrow {
        let is_full = |cell: &Cell| {
            room_bits.iter().any(|(at, bits)| *at == cell.offset && word(state, *at) & bits & cell.mask() != 0)
        };
        let place = self.layout.cells.iter().position(|cell| cell.width == 1 && is_full(cell)).unwrap_or(0);
        TooNarrow { place: place as u32 }
    }

    #[inline]
    fn code(&self, transition: u32) -> [&Code; 2] {
        [&self.codes[transition as usize], &self.codes[transition as usize + 1]]
    }

    /// Calls `visit` for every transition that can fire, in order.
    #[inline]
    pub fn successors(&self, state: &[u8], mut visit: impl FnMut(u32)) {
        for &transition in &self.candidates[..self.free as usize] {
            visit(transition);
        }
        for (number, (offset, relevant)) in self.layout.words.iter().zip(&self.relevant).enumerate() {
            let mut marked = word(state, *offset) & relevant;
            while marked != 0 {
                let home = &self.homes[self.home_at[64 * number + marked.trailing_zeros() as usize] as usize];
                for &transition in &self.candidates[home.start as usize..home.end as usize] {
                    if self.is_enabled(transition, state) {
                        visit(transition);
                    }
                }
                marked &= home.above;
            }
        }
    }

    /// The first candidate from that one on that can fire.
    #[inline]
    fn seek(&self, state: &[u8], position: u32) -> Option<Fire> {
        if position < self.free {
            return Some(Fire { transition: self.candidates[position as usize], position });
        }
        let before = position.checked_sub(1).map_or(NONE, |before| self.home_of[before as usize]);
        let (mut number, mut left) = (0, u64::MAX);
        if let Some(home) = self.homes.get(before as usize) {
            if let Some(found) = self.try_home(state, position, home.end) {
                return Some(found);
            }
            (number, left) = (home.word as usize, home.above);
        }
        while let Some(offset) = self.layout.words.get(number) {
            let mut marked = word(state, *offset) & self.relevant[number] & left;
            while marked != 0 {
                let home = self.homes[self.home_at[64 * number + marked.trailing_zeros() as usize] as usize];
                if let Some(found) = self.try_home(state, home.start, home.end) {
                    return Some(found);
                }
                marked &= home.above;
            }
            (number, left) = (number + 1, u64::MAX);
        }
        None
    }

    #[inline]
    fn try_home(&self, state: &[u8], from: u32, end: u32) -> Option<Fire> {
        let fire = |position: u32| Fire { transition: self.candidates[position as usize], position };
        (from..end).map(fire).find(|fire| self.is_enabled(fire.transition, state))
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.home_at.capacity() * 4
            + self.codes.capacity() * size_of::<Code>()
            + (self.bits.capacity() + self.room_bits.capacity() + self.changes.capacity()) * size_of::<(u32, u64)>()
            + (self.counts.capacity() + self.rooms.capacity()) * size_of::<Count>()
    }
}

#[inline]
fn is_full(count: &Count, state: &[u8]) -> bool {
    // A cell of the whole word stands for one that has no room at all.
    count.cell.get(state) > count.number || count.number == 0 && count.cell.width == 64
}

/// Merges a change into the entry of a word, among those from `start` on.
fn merge(entries: &mut Vec<(u32, u64)>, start: u32, offset: u32, change: impl Fn(u64) -> u64) {
    match entries[start as usize..].iter_mut().find(|(at, _)| *at == offset) {
        Some((_, bits)) => *bits = change(*bits),
        None => entries.push((offset, change(0))),
    }
}

/// A transition that fires, and its place in the order of those that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fire {
    /// The number of the transition in the net.
    pub transition: u32,
    position: u32,
}

/// The state space of a net. Its [invariants](Checked::invariant) are the atoms that it was given.
///
/// A number of tokens that does not fit is no state: [`is_dead`](Checked::is_dead) is true then, and
/// [`too_narrow`](NetSpace::too_narrow) says from then on, for all clones, that what was found may be wrong.
///
/// ```
/// use ample_explicit::check::{self, Options};
/// use ample_explicit::store::{FlatStore, Parent};
/// use ample_budget::Budget;
/// use ample_petri::explicit::NetSpace;
/// use ample_petri::net::{Net, Place, Transition};
///
/// // A token goes from one place to the other, and is lost there.
/// let place = |initial| Place { name: String::new(), initial, bound: Some(1) };
/// let step = Transition { name: "step".into(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
/// let lose = Transition { name: "lose".into(), takes: vec![(1, 1)], adds: vec![] };
/// let net = Net { places: vec![place(1), place(0)], transitions: vec![step, lose], exclusive: vec![] };
///
/// let mut space = NetSpace::new(&net, &[], &[]).unwrap();
/// let mut store = FlatStore::<Parent>::default();
/// let report = check::breadth_first(&mut space, &mut store, &Options::default(), &Budget::unlimited());
/// let run: Vec<u32> = report.deadlock.unwrap().path.transitions().map(|fire| fire.transition).collect();
/// assert_eq!(run, [0, 1]);
/// assert_eq!(report.statistics.states, 3);
/// ```
#[derive(Clone, Debug)]
pub struct NetSpace {
    pub(super) table: Arc<Table>,
    atoms: Arc<[Test]>,
    dead: bool,
    /// The place that is too narrow, plus one.
    narrow: Arc<AtomicU64>,
}

impl NetSpace {
    /// The states of a net, as narrow as the bounds of places allow (those of the net where there are none in
    /// `bounds`), and conditions as atoms. An error if the net is not one that can be worked with.
    pub fn new(net: &Net, atoms: &[Condition], bounds: &[Option<u64>]) -> Result<NetSpace, Reason> {
        let relations = Relations::of(net)?;
        let bounds = super::known_bounds(net, bounds);
        NetSpace::with_widths(net, &relations, atoms, &Widths::of(net, &bounds))
    }

    pub(super) fn with_widths(
        net: &Net,
        relations: &Relations,
        atoms: &[Condition],
        widths: &Widths,
    ) -> Result<NetSpace, Reason> {
        atoms.iter().try_for_each(|atom| relations.check(atom))?;
        let table = Table::new(net, relations, widths);
        let mut tests = Tests::new(&table.layout);
        let atoms = atoms.iter().map(|atom| tests.of(atom)).collect();
        Ok(NetSpace { table: Arc::new(table), atoms, dead: false, narrow: Arc::new(AtomicU64::new(0)) })
    }

    /// Without atoms.
    pub(super) fn of_table(table: Table) -> NetSpace {
        NetSpace { table: Arc::new(table), atoms: Arc::new([]), dead: false, narrow: Arc::new(AtomicU64::new(0)) }
    }

    /// A place did not have room for its tokens: nothing that was found counts, but for runs.
    pub fn too_narrow(&self) -> Option<TooNarrow> {
        let place = self.narrow.load(Ordering::Relaxed).checked_sub(1)?;
        Some(TooNarrow { place: place as u32 })
    }

    /// The tokens of a state.
    pub fn marking(&self, state: &[u8]) -> Vec<u64> {
        self.table.layout.unpack(state)
    }

    /// The tokens of a place in a state.
    #[inline]
    pub fn tokens(&self, state: &[u8], place: u32) -> u64 {
        self.table.layout.cells[place as usize].get(state)
    }

    /// The bytes of a state.
    pub fn state_len(&self) -> usize {
        self.table.layout.len
    }

    #[cold]
    fn note(&mut self, too_narrow: TooNarrow) {
        self.dead = true;
        self.narrow.store(u64::from(too_narrow.place) + 1, Ordering::Relaxed);
    }
}

impl StateSpace for NetSpace {
    type State = [u8];
    type Transition = Fire;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.dead = false;
        out.clear();
        out.extend_from_slice(&self.table.initial);
        index == 0
    }

    #[inline]
    fn first(&mut self, state: &[u8]) -> Option<Fire> {
        self.table.seek(state, 0)
    }

    #[inline]
    fn next(&mut self, state: &[u8], last: &Fire) -> Option<Fire> {
        self.table.seek(state, last.position + 1)
    }

    #[inline]
    fn target(&mut self, state: &[u8], fire: &Fire, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(state);
        self.dead = false;
        if let Err(too_narrow) = self.table.fire(fire.transition, out) {
            self.note(too_narrow);
        }
    }
}

impl Checked for NetSpace {
    /// In a net, a state that nothing leads out of is a deadlock.
    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        false
    }

    fn violation(&self) -> Option<String> {
        None
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.dead
    }

    #[inline]
    fn is_transient(&self, _: &[u8]) -> bool {
        false
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        0
    }

    #[inline]
    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.atoms.get(number).is_some_and(|atom| atom.holds(state))
    }
}

/// A net has no processes: only fairness asks for them.
impl Concurrent for NetSpace {
    fn mover(&self, _: &Fire) -> Option<u32> {
        None
    }

    fn participants(&self) -> Processes {
        Processes::NONE
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &[u8], _: &Fire) -> Vec<Move> {
        Vec::new()
    }
}
