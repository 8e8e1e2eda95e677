//! States packed to bits, for stores.
//!
//! In a compiled state a cell begins at a byte, so that it is read and written fast; but a location or a truth value takes
//! a few of its bits only. This state space is another one over shorter states: those bits of a state that can be other
//! than zero, one after the other, behind the number of its layout. The bits of eight bytes are gathered, and scattered
//! again, by one instruction where the processor has it.

use ample_model::{Move, StartNumber};

use rapidhash::RapidHashMap;

use super::layout::{Cell, Interval, Kind, Slot};
use super::program::Program;
use super::state_layout::{ChannelPlace, LayoutError, StateLayout};
use super::{Compiled, Transition};
use crate::liveness::{Concurrent, Processes};
use crate::space::{Checked, Culprit, StateSpace};
use crate::targets::Targets;

/// What to say of bytes that are no packed state.
const NO_STATE: &str = "not a packed state of this system";

/// A space is packed if its states become shorter than that many percent of what they were: packing and unpacking takes
/// about a tenth of the time of a search.
const WORTH: usize = 90;

/// A compiled system whose states are packed to bits.
#[derive(Clone)]
pub struct Packed {
    space: Compiled,
    packings: Packings,
    /// The state that was unpacked last, packed and unpacked.
    packed: Vec<u8>,
    state: Vec<u8>,
    /// A state before it is packed.
    out: Vec<u8>,
    /// The first state: what is constant is as it is there.
    first: Vec<u8>,
    /// Which bits of the first byte behind the number say who has control, and where that is.
    control: u8,
    control_at: usize,
    gather: Gather,
}

impl Packed {
    /// The space with its states packed, or as it was if that does not pay.
    pub fn of(space: Compiled) -> Result<Packed, Box<Compiled>> {
        Packed::at_most(space, WORTH)
    }

    /// The same if states become shorter than that many percent of what they were.
    pub(super) fn at_most(mut space: Compiled, percent: usize) -> Result<Packed, Box<Compiled>> {
        let layout = &space.program.layout;
        let is_simple = space.joint.is_none()
            && space.is_self_contained()
            && layout.heap.objects.is_empty()
            && layout.hidden == 0
            && layout.segments.iter().all(|segment| segment.hidden == 0);
        let mut state = Vec::new();
        let control_at = layout.number_bytes as usize;
        if !is_simple || !space.initial(0, &mut state) || space.is_dead() {
            return Err(Box::new(space));
        }
        // Who has control comes first.
        let control = if space.program.layout.control.is_some() { 0xff } else { 0 };
        let mut packed = Packed {
            control_at,
            space,
            packings: Packings::default(),
            packed: Vec::new(),
            state: Vec::new(),
            out: Vec::new(),
            first: state.clone(),
            control,
            gather: Gather::detect(),
        };
        let typical = typical(&packed.space, &state);
        packed.learn(&typical);
        match packed.packing(&typical) {
            Some(packing) if packing.packed * 100 <= packing.length * percent => Ok(packed),
            _ => Err(Box::new(packed.space)),
        }
    }

    /// The space itself.
    pub fn space(&mut self) -> &mut Compiled {
        &mut self.space
    }

    #[inline(always)]
    fn packing(&self, state: &[u8]) -> Option<&Packing> {
        self.packings.of(state)
    }

    /// Makes sure that it is known how a state is packed.
    #[inline(always)]
    fn learn(&mut self, state: &[u8]) {
        if self.packing(state).is_none() {
            self.add_packing(state);
        }
    }

    #[cold]
    fn add_packing(&mut self, state: &[u8]) {
        let place = self.space.layouts.numbered(&self.space.program.layout, state).expect(NO_STATE);
        let packing = Packing::new(&self.space.program, self.space.layouts.at(place), &self.first);
        self.packings.add(state, self.control_at, packing);
    }

    /// Unpacks a state, unless that was the last one.
    #[inline]
    fn unpack(&mut self, packed: &[u8]) {
        if self.packed != packed {
            self.unpack_anew(packed);
        }
    }

    #[inline]
    fn unpack_anew(&mut self, packed: &[u8]) {
        self.learn(packed);
        let mut state = std::mem::take(&mut self.state);
        let packing = self.packing(packed).expect(NO_STATE);
        assert_eq!(packing.packed, packed.len(), "{NO_STATE}");
        packing.unpack(packed, &mut state, self.gather);
        self.state = state;
        self.packed.clear();
        self.packed.extend_from_slice(packed);
    }

    /// Calls the space with an unpacked state.
    #[inline]
    fn with<R>(&mut self, packed: &[u8], call: impl FnOnce(&mut Compiled, &[u8]) -> R) -> R {
        self.unpack(packed);
        call(&mut self.space, &self.state)
    }

    /// Packs the state that was written to `out`.
    #[inline]
    fn pack(&mut self, packed: &mut Vec<u8>) {
        if self.space.dead {
            return;
        }
        let out = std::mem::take(&mut self.out);
        self.learn(&out);
        let packing = self.packing(&out).expect(NO_STATE);
        if !packing.pack(&out, packed, self.gather) {
            self.space.machine.limit = Some(LayoutError::Unpackable);
        }
        self.out = out;
    }
}

impl StateSpace for Packed {
    type State = [u8];
    type Transition = Transition;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        let is_there = self.space.initial(index, &mut self.out);
        if is_there {
            self.pack(out);
        }
        is_there
    }

    fn first(&mut self, state: &[u8]) -> Option<Transition> {
        self.with(state, |space, state| space.first(state))
    }

    fn next(&mut self, state: &[u8], transition: &Transition) -> Option<Transition> {
        self.with(state, |space, state| space.next(state, transition))
    }

    #[inline]
    fn list(&mut self, state: &[u8], after: Option<&Transition>, out: &mut Vec<Transition>) -> bool {
        let is_all = self.with(state, |space, state| space.list(state, after, out));
        if after.is_none() {
            self.space.listing.rename(state);
        }
        is_all
    }

    #[inline]
    fn target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        if let Some(target) = self.space.listing.target(state, transition) {
            let steps = target.steps;
            if let Some(packing) = self.packings.of(target.state()) {
                if !packing.pack(target.state(), out, self.gather) {
                    self.space.machine.limit = Some(LayoutError::Unpackable);
                }
                return self.space.note_listed(transition, steps);
            }
        }
        self.unpack(state);
        self.space.target_anew(&self.state, transition, &mut self.out);
        self.pack(out);
    }

    #[inline]
    fn targets(&mut self, state: &[u8], out: &mut Targets<Transition>) -> bool {
        if !self.space.listing.is_ready() {
            return false;
        }
        self.unpack_anew(state);
        let Packed { space, state: unpacked, packings, gather, control, control_at, .. } = self;
        if space.representatives.is_some() || !space.list_for_targets(unpacked) {
            return false;
        }
        // Targets have the layout of the state, but for those in which a process has ended.
        let same = packings.of(state).expect(NO_STATE);
        let Compiled { listing, executed, machine, .. } = space;
        let mut is_sound = true;
        let source = listing.padded();
        listing.each(|transition, target| match target {
            None => out.push_without_target(*transition),
            Some(target) => {
                let is_same = target.state().len() == same.length;
                let Some(packing) = (if is_same { Some(same) } else { packings.of(target.state()) }) else {
                    return out.push_without_target(*transition);
                };
                executed.note(transition, false);
                out.push(*transition, target.steps, |bytes| {
                    let start = bytes.len();
                    is_sound &= if is_same {
                        same.append_change(source, state, target.padded(), bytes, *gather)
                    } else {
                        packing.append(target.state(), bytes, *gather)
                    };
                    bytes.get(start + *control_at).is_some_and(|first| first & *control != 0)
                });
            }
        });
        if !is_sound {
            machine.limit = Some(LayoutError::Unpackable);
        }
        true
    }

    #[inline]
    fn of_bytes(bytes: &[u8]) -> Option<&[u8]> {
        Some(bytes)
    }

    #[inline]
    fn to_bytes(state: &[u8]) -> Option<&[u8]> {
        Some(state)
    }
}

impl Concurrent for Packed {
    fn mover(&self, transition: &Transition) -> Option<u32> {
        self.space.mover(transition)
    }

    fn participants(&self) -> Processes {
        self.space.participants()
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    fn actions(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        self.with(state, |space, state| space.actions(state, transition))
    }

    fn start_number(&mut self, position: usize) -> StartNumber {
        self.space.start_number(position)
    }
}

impl Checked for Packed {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.with(state, |space, state| space.is_valid_end(state))
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn culprit(&self) -> Option<Culprit> {
        self.space.culprit()
    }

    fn stopped(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.unpack(state);
        self.space.stopped(&self.state, transition, &mut self.out);
        let dead = std::mem::replace(&mut self.space.dead, false);
        self.pack(out);
        self.space.dead = dead;
    }

    #[inline]
    fn is_transient(&self, state: &[u8]) -> bool {
        state.get(self.control_at).is_some_and(|first| first & self.control != 0)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.with(state, |space, state| space.invariant(number, state))
    }
}

/// So many steps are taken to see what states look like.
const STEPS: usize = 200;

/// A state as they will be: the longest one on a random run. In the first one most processes may still have to be created.
fn typical(space: &Compiled, first: &[u8]) -> Vec<u8> {
    let mut space = space.clone();
    let mut random = ample_random::Random::new(1);
    let (mut state, mut next, mut longest) = (first.to_vec(), Vec::new(), first.to_vec());
    let mut listed = Vec::new();
    for _ in 0..STEPS {
        listed.clear();
        space.list(&state, None, &mut listed);
        if listed.is_empty() {
            break;
        }
        let taken = listed[(random.next_u64() % listed.len() as u64) as usize];
        space.target(&state, &taken, &mut next);
        if space.is_dead() {
            break;
        }
        std::mem::swap(&mut state, &mut next);
        if state.len() > longest.len() {
            longest.clone_from(&state);
        }
    }
    longest
}

/// How states are packed, by the number of the layout that they begin with, packed or not.
#[derive(Clone, Debug, Default)]
struct Packings {
    /// By numbers of two bytes.
    short: Vec<Option<Packing>>,
    /// By numbers of four bytes, if they have so many.
    long: Option<RapidHashMap<[u8; 4], Packing>>,
}

impl Packings {
    #[inline(always)]
    fn of(&self, state: &[u8]) -> Option<&Packing> {
        if let Some(long) = &self.long {
            return long.get(state.first_chunk()?);
        }
        let number = u16::from_le_bytes(*state.first_chunk()?);
        self.short.get(usize::from(number))?.as_ref()
    }

    /// Adds that of a state, whose number has so many bytes.
    fn add(&mut self, state: &[u8], number_bytes: usize, packing: Packing) {
        if number_bytes > NUMBER {
            let number = *state.first_chunk().expect(NO_STATE);
            self.long.get_or_insert_default().insert(number, packing);
            return;
        }
        let number = usize::from(u16::from_le_bytes(*state.first_chunk().expect(NO_STATE)));
        if self.short.len() <= number {
            self.short.resize_with(number + 1, || None);
        }
        self.short[number] = Some(packing);
    }
}

/// So many bytes of the number that a state begins with are not packed. If it has more, those are packed as bits that may
/// all differ, so that they stay where they are.
const NUMBER: usize = 2;

/// How the states of one layout are packed.
#[derive(Clone, Debug)]
struct Packing {
    /// Of the bytes behind the number, eight at a time.
    words: Box<[Word]>,
    /// Bytes of a state.
    length: usize,
    /// Bytes of a packed state.
    packed: usize,
}

/// Eight bytes of a state.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The bits that may differ from one state to another.
    mask: u64,
    /// What the others are.
    constant: u64,
    /// How many bits the mask has.
    count: u32,
    /// How many bits come before them.
    before: u32,
}

impl Packing {
    fn new(program: &Program, state: &StateLayout, first: &[u8]) -> Packing {
        let length = state.length as usize;
        let bytes = length.next_multiple_of(8) + NUMBER + 8;
        let mut used = Used { bits: vec![0; bytes], constant: vec![0; bytes], first };
        used.of_system(program, state);
        let words = used.bits[NUMBER..].chunks_exact(8).zip(used.constant[NUMBER..].chunks_exact(8));
        let words = words.take((length - NUMBER).div_ceil(8));
        Packing::by(words.map(|(mask, constant)| (word_of(mask), word_of(constant))), length)
    }

    /// The bits of these masks are used, and the others are constant.
    fn by(words: impl Iterator<Item = (u64, u64)>, length: usize) -> Packing {
        let mut bits = 0;
        let word = |(mask, constant): (u64, u64)| {
            let (before, count) = (bits, mask.count_ones());
            bits += count;
            Word { mask, constant: constant & !mask, count, before }
        };
        let words: Box<[Word]> = words.map(word).collect();
        Packing { words, length, packed: NUMBER + (bits as usize).div_ceil(8) }
    }

    /// False if a bit is set that should not be.
    #[inline]
    fn pack(&self, state: &[u8], out: &mut Vec<u8>, gather: Gather) -> bool {
        out.clear();
        self.append(state, out, gather)
    }

    /// The same behind other bytes.
    #[inline]
    fn append(&self, state: &[u8], all: &mut Vec<u8>, gather: Gather) -> bool {
        assert_eq!(state.len(), self.length, "{NO_STATE}");
        let start = all.len();
        // A word more than it takes.
        all.reserve(NUMBER + 8 * self.words.len() + 8);
        // SAFETY: there is room for a word more than there are words in the state, and what is kept of it has been written.
        unsafe {
            let out = all.as_mut_ptr().add(start);
            let is_sound = match gather {
                #[cfg(target_arch = "x86_64")]
                // The processor has the instruction.
                Gather::Instruction => self.pack_by_instruction(state, out),
                Gather::Loop => self.pack_by(state, out, |word, mask| Gather::Loop.gather(word, mask)),
            };
            all.set_len(start + self.packed);
            is_sound
        }
    }

    /// Appends a state of which another one is known, packed and unpacked. Behind the unpacked ones there are some bytes that
    /// are equal. False if a bit differs that should not.
    #[inline]
    fn append_change(&self, from: &[u8], packed: &[u8], to: &[u8], all: &mut Vec<u8>, gather: Gather) -> bool {
        let end = NUMBER + 8 * self.words.len();
        assert!(from.len() >= end && to.len() >= end && packed.len() == self.packed, "{NO_STATE}");
        let start = all.len();
        // The bits of a word lie in sixteen bytes.
        all.reserve(self.packed + size_of::<u128>());
        // SAFETY: there is room for the packed state and sixteen bytes behind it, which are written first.
        unsafe {
            let out = all.as_mut_ptr().add(start);
            std::ptr::copy_nonoverlapping(packed.as_ptr(), out, self.packed);
            std::ptr::write_bytes(out.add(self.packed), 0, size_of::<u128>());
            let out = out.add(NUMBER);
            let is_sound = match gather {
                #[cfg(target_arch = "x86_64")]
                // The processor has the instruction.
                Gather::Instruction => self.change_by_instruction(&from[NUMBER..end], &to[NUMBER..end], out),
                Gather::Loop => self
                    .change_by(&from[NUMBER..end], &to[NUMBER..end], out, |word, mask| Gather::Loop.gather(word, mask)),
            };
            all.set_len(start + self.packed);
            is_sound
        }
    }

    /// Changes the packed bits where the words of two states differ.
    ///
    /// # Safety
    /// Behind the packed bits sixteen bytes must be there.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    unsafe fn change_by_instruction(&self, from: &[u8], to: &[u8], out: *mut u8) -> bool {
        // SAFETY: by the contract of this function.
        unsafe { self.change_by(from, to, out, |word, mask| std::arch::x86_64::_pext_u64(word, mask)) }
    }

    /// Changes the packed bits where the words of two states differ.
    ///
    /// # Safety
    /// Behind the packed bits sixteen bytes must be there.
    #[inline(always)]
    unsafe fn change_by(&self, from: &[u8], to: &[u8], out: *mut u8, gather: impl Fn(u64, u64) -> u64) -> bool {
        let mut stray = 0;
        let pairs = from.as_chunks::<8>().0.iter().zip(to.as_chunks::<8>().0);
        for (word, (from, to)) in self.words.iter().zip(pairs) {
            let change = u64::from_le_bytes(*from) ^ u64::from_le_bytes(*to);
            if change != 0 {
                stray |= change & !word.mask;
                let bits = u128::from(gather(change, word.mask)) << (word.before % 8);
                // SAFETY: the place begins inside of the packed bits, or right behind them.
                unsafe {
                    let place = out.add((word.before / 8) as usize).cast::<u128>();
                    place.write_unaligned(place.read_unaligned() ^ bits.to_le());
                }
            }
        }
        stray == 0
    }

    /// Writes a packed state, and at most seven bytes behind it.
    ///
    /// # Safety
    /// There must be room for a word more than there are in the state.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    unsafe fn pack_by_instruction(&self, state: &[u8], out: *mut u8) -> bool {
        // SAFETY: by the contract of this function.
        unsafe { self.pack_by(state, out, |word, mask| std::arch::x86_64::_pext_u64(word, mask)) }
    }

    /// Writes a packed state, and at most seven bytes behind it.
    ///
    /// # Safety
    /// There must be room for a word more than there are in the state.
    #[inline(always)]
    unsafe fn pack_by(&self, state: &[u8], out: *mut u8, gather: impl Fn(u64, u64) -> u64) -> bool {
        let (number, bytes) = state.split_at(NUMBER);
        // SAFETY: there is room for the number; each word of the state fills at most one more, and there is one for the rest.
        unsafe {
            std::ptr::copy_nonoverlapping(number.as_ptr(), out, NUMBER);
            let mut place = out.add(NUMBER);
            let (mut word, mut filled, mut stray) = (0u64, 0, 0);
            let mut add = |Word { mask, constant, count, .. }: Word, bytes: u64| {
                stray |= (bytes ^ constant) & !mask;
                let bits = gather(bytes, mask);
                word |= bits << filled;
                filled += count;
                if filled >= 64 {
                    place.cast::<u64>().write_unaligned(word.to_le());
                    place = place.add(8);
                    filled -= 64;
                    // What did not fit; nothing if there was no bit of an earlier word.
                    word = if filled == 0 { 0 } else { bits >> (count - filled) };
                }
            };
            let (whole, rest) = bytes.as_chunks::<8>();
            for (place, bytes) in self.words.iter().zip(whole) {
                add(*place, u64::from_le_bytes(*bytes));
            }
            if let (Some(last), false) = (self.words.get(whole.len()), rest.is_empty()) {
                add(*last, word_of(rest));
            }
            place.cast::<u64>().write_unaligned(word.to_le());
            stray == 0
        }
    }

    #[inline]
    fn unpack(&self, packed: &[u8], out: &mut Vec<u8>, gather: Gather) {
        out.clear();
        out.resize(8 * self.words.len() + NUMBER, 0);
        match gather {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction.
            Gather::Instruction => unsafe { self.unpack_by_instruction(packed, out) },
            Gather::Loop => self.unpack_by(packed, out, |bits, mask| Gather::Loop.scatter(bits, mask)),
        }
        out.truncate(self.length);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn unpack_by_instruction(&self, packed: &[u8], out: &mut [u8]) {
        self.unpack_by(packed, out, |bits, mask| std::arch::x86_64::_pdep_u64(bits, mask));
    }

    #[inline(always)]
    fn unpack_by(&self, packed: &[u8], out: &mut [u8], scatter: impl Fn(u64, u64) -> u64) {
        let (number, out) = out.split_at_mut(NUMBER);
        number.copy_from_slice(&packed[..NUMBER]);
        let mut words = packed[NUMBER..].chunks(8).map(word_of);
        let (mut word, mut left) = (0u64, 0);
        for (&Word { mask, constant, count, .. }, place) in self.words.iter().zip(out.chunks_exact_mut(8)) {
            let mut bits = word;
            if left < count {
                let next = words.next().unwrap_or_default();
                bits |= next << left;
                let used = count - left;
                word = if used == 64 { 0 } else { next >> used };
                left = 64 - used;
            } else {
                word = if count == 64 { 0 } else { word >> count };
                left -= count;
            }
            place.copy_from_slice(&(scatter(bits, mask) | constant).to_le_bytes());
        }
    }
}

/// Up to eight bytes as a number.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(all) => u64::from_le_bytes(*all),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// How bits are gathered and scattered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gather {
    /// By an instruction of the processor, which has it.
    #[cfg(target_arch = "x86_64")]
    Instruction,
    /// By a loop.
    Loop,
}

impl Gather {
    fn detect() -> Gather {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            return Gather::Instruction;
        }
        Gather::Loop
    }

    /// The bits of a word that a mask has, one after the other.
    #[inline(always)]
    fn gather(self, word: u64, mask: u64) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction.
            Gather::Instruction => unsafe { extract(word, mask) },
            Gather::Loop => {
                let (mut bits, mut rest, mut place) = (0, mask, 0);
                while rest != 0 {
                    bits |= (word >> rest.trailing_zeros() & 1) << place;
                    rest &= rest - 1;
                    place += 1;
                }
                bits
            }
        }
    }

    /// The lowest bits of a word where a mask has its bits.
    #[inline(always)]
    fn scatter(self, bits: u64, mask: u64) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the instruction.
            Gather::Instruction => unsafe { deposit(bits, mask) },
            Gather::Loop => {
                let (mut word, mut rest, mut place) = (0, mask, 0);
                while rest != 0 {
                    word |= (bits >> place & 1) << rest.trailing_zeros();
                    rest &= rest - 1;
                    place += 1;
                }
                word
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi2")]
fn extract(word: u64, mask: u64) -> u64 {
    std::arch::x86_64::_pext_u64(word, mask)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi2")]
fn deposit(bits: u64, mask: u64) -> u64 {
    std::arch::x86_64::_pdep_u64(bits, mask)
}

/// The bits of a state that may differ from one state to another.
struct Used<'a> {
    bits: Vec<u8>,
    /// What the others are.
    constant: Vec<u8>,
    /// The first state.
    first: &'a [u8],
}

impl Used<'_> {
    fn of_system(&mut self, program: &Program, state: &StateLayout) {
        let (layout, ranges) = (&program.layout, &program.ranges);
        let all = Interval { low: 0, high: 0xff };
        // The rest of the number.
        self.bits[NUMBER..layout.number_bytes as usize].fill(0xff);
        // Who has control must fill a byte of its own, which comes first.
        for cell in [layout.control, layout.last].into_iter().flatten() {
            self.cell(0, &cell, all, 0);
        }
        if let Some(cell) = layout.monitor {
            self.cell(0, &cell, Interval { low: 0, high: 0xffff }, 0);
        }
        for (number, variable) in layout.globals.iter().enumerate() {
            for (index, slot) in variable.slots.iter().enumerate() {
                if ranges.is_constant(number) {
                    self.keep(&slot.cell);
                } else {
                    self.slot(0, slot, ranges.global(number, index));
                }
            }
        }
        for frame in &state.frames {
            let segment = &layout.segments[usize::from(frame.process)];
            let locations = Interval { low: 0, high: i64::from(segment.locations) - 1 };
            self.cell(frame.offset(), &segment.location, locations, 0);
            if let Some(cell) = segment.priority {
                self.cell(frame.offset(), &cell, all, 0);
            }
            for (number, variable) in segment.locals.iter().enumerate() {
                for (index, slot) in variable.slots.iter().enumerate() {
                    self.slot(frame.offset(), slot, ranges.local(frame.process.into(), number, index));
                }
            }
        }
        for place in &state.channels {
            self.channel(place, program);
        }
    }

    /// A cell that is as in the first state.
    fn keep(&mut self, cell: &Cell) {
        let at = cell.offset as usize;
        if cell.kind == Kind::Bits {
            self.constant[at] |= self.first[at] & cell.mask << (cell.shift & 7);
            return;
        }
        for number in at..at + cell.kind.bytes() as usize {
            self.constant[number] = self.first[number];
        }
    }

    fn channel(&mut self, place: &ChannelPlace, program: &Program) {
        let (at, kind) = (place.offset, usize::from(place.kind));
        let channel = &program.layout.channels[kind];
        if channel.capacity == 0 {
            return;
        }
        let length = Cell::whole(super::layout::Base::Global, channel.length, 0);
        self.cell(at, &length, Interval { low: 0, high: channel.capacity.into() }, 0);
        for message in 0..channel.capacity {
            let start = at + channel.first_message() + message * channel.message;
            for (number, field) in channel.fields.iter().enumerate() {
                self.slot(start, &field.slot, program.ranges.field(kind, number));
            }
        }
    }

    /// A cell whose values lie in a range.
    fn slot(&mut self, base: u32, slot: &Slot, (low, high): (i64, i64)) {
        let (low, high) = (low.max(slot.values.low), high.min(slot.values.high));
        // What was never assigned is zero, whatever the values are.
        let values = Interval { low: low.min(slot.low), high: high.max(slot.low) };
        self.cell(base, &slot.cell, values, slot.low);
    }

    fn cell(&mut self, base: u32, cell: &Cell, values: Interval, low: i64) {
        let at = (base + cell.offset) as usize;
        let bytes = cell.kind.bytes() as usize;
        let span = i128::from(values.high) - i128::from(low);
        let is_positive = i128::from(values.low) >= i128::from(low);
        let most = if is_positive { u64::try_from(span).unwrap_or(u64::MAX) } else { u64::MAX };
        let mask = u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        if cell.kind == Kind::Bits {
            self.bits[at] |= (mask as u8 & cell.mask) << (cell.shift & 7);
            return;
        }
        for (number, byte) in mask.to_le_bytes()[..bytes].iter().enumerate() {
            self.bits[at + number] |= byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_gathered_and_scattered_alike() {
        let mut random = ample_random::Random::new(7);
        for _ in 0..10_000 {
            let (word, mask) = (random.next_u64(), random.next_u64() & random.next_u64());
            let bits = Gather::Loop.gather(word, mask);
            assert_eq!(Gather::detect().gather(word, mask), bits);
            assert_eq!(Gather::Loop.scatter(bits, mask), word & mask);
            assert_eq!(Gather::detect().scatter(bits, mask), word & mask);
        }
    }

    #[test]
    fn packed_states_are_unpacked_to_what_they_were() {
        let mut random = ample_random::Random::new(8);
        for _ in 0..2_000 {
            let length = NUMBER + 1 + random.next_u64() as usize % 60;
            let masks: Vec<u64> = (0..(length - NUMBER).div_ceil(8))
                .map(|word| {
                    let bytes = (length - NUMBER - 8 * word).min(8);
                    let inside = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
                    let dense = if random.one_in(4) { u64::MAX } else { random.next_u64() };
                    dense & inside
                })
                .collect();
            let constants: Vec<u64> =
                masks.iter().map(|mask| if random.one_in(3) { !mask & 0x55 } else { 0 }).collect();
            let mut state = vec![3, 1];
            for (mask, constant) in masks.iter().zip(&constants) {
                state.extend_from_slice(&(random.next_u64() & mask | constant).to_le_bytes());
            }
            state.truncate(length);
            let packing = Packing::by(masks.iter().copied().zip(constants.iter().copied()), length);
            let (mut short, mut long) = (Vec::new(), Vec::new());
            assert!(packing.pack(&state, &mut short, Gather::detect()));
            assert_eq!(short.len(), packing.packed);
            packing.unpack(&short, &mut long, Gather::Loop);
            assert_eq!(long, state);
        }
    }
}
