//! Where everything lies in a state, given which process types are alive.
//!
//! The [sequence](super::sequences) of live process types determines every offset of a state. A state begins with the
//! number of that sequence, and one look-up gives the whole layout: the table of its segments and channels. Spawning a
//! process goes to the layout of a longer sequence, its end to that of a shorter one.
//!
//! Layouts are made when they are met. Since the number of a sequence is the same everywhere, each thread has a table of its
//! own; clones share only which sequences are behind numbers that are hashes.

use std::sync::{Arc, Mutex, PoisonError};

use rapidhash::RapidHashMap;

use super::layout::{Base, Cell, Kind, Layout, MAX_STATE_BYTES, OwnChannel};
use super::sequences::{SequenceNumber, Sequences};

/// The place of a layout in the table of one thread.
pub type LayoutPlace = u32;

/// No layout yet.
const UNKNOWN: LayoutPlace = LayoutPlace::MAX;

/// So many layouts are kept.
const MAX_LAYOUTS: usize = (1 << 16) - 2;

/// Where a live process is.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Where the stretches of the state begin for this process, by [`Base`](super::layout::Base).
    pub bases: [u32; 4],
    /// The number of the first location of its type.
    pub first_location: u32,
    /// How many locations its type has.
    pub locations: u32,
    /// How many channels are older than its own.
    pub first_channel: u32,
    /// Its type.
    pub process: u16,
    /// The number of a location takes two bytes.
    pub wide: bool,
    /// Whether it may move has to be asked.
    pub restrained: bool,
}

impl Frame {
    /// Where its segment starts.
    #[inline(always)]
    pub fn offset(&self) -> u32 {
        self.bases[Base::Local as usize]
    }

    /// Where its part of the hidden tail starts.
    #[inline(always)]
    pub fn hidden(&self) -> u32 {
        self.bases[Base::HiddenLocal as usize]
    }
}

/// Where a channel is.
#[derive(Clone, Copy, Debug)]
pub struct ChannelPlace {
    /// From the beginning of the state.
    pub offset: u32,
    /// Index into [`Layout::channels`].
    pub kind: u16,
}

/// Where everything lies in the states of one sequence of live process types.
#[derive(Clone, Debug, Default)]
pub struct StateLayout {
    /// The processes.
    pub frames: Box<[Frame]>,
    /// The channels; handle `h` is at index `h - 1`.
    pub channels: Box<[ChannelPlace]>,
    /// Per process type: the layout with one process more.
    children: Box<[LayoutPlace]>,
    /// Bytes of a state, the hidden tail included. Zero if it was not met yet.
    pub length: u32,
    /// Where the hidden tail starts.
    pub tail: u32,
    /// The layout without the youngest process.
    pub parent: LayoutPlace,
    /// The number of the sequence.
    pub number: SequenceNumber,
}

impl StateLayout {
    /// Where its processes and channels begin, in ascending order.
    pub fn components(&self) -> Box<[usize]> {
        let processes = self.frames.iter().map(|frame| frame.offset());
        let channels = self.channels.iter().map(|channel| channel.offset);
        let mut starts: Vec<usize> = processes.chain(channels).map(|start| start as usize).collect();
        starts.push(self.tail as usize);
        starts.sort_unstable();
        starts.dedup();
        starts.retain(|&start| start > 0);
        starts.into()
    }

    fn sequence(&self) -> Vec<u16> {
        self.frames.iter().map(|frame| frame.process).collect()
    }
}

/// The sequences behind numbers that are hashes.
type Hashed = Arc<Mutex<RapidHashMap<SequenceNumber, Box<[u16]>>>>;

/// The layouts met so far.
#[derive(Clone, Debug)]
pub struct StateLayouts {
    /// By number, if numbers have two bytes; else in the order in which they were met.
    layouts: Vec<StateLayout>,
    /// Where the layouts are, if numbers have four bytes.
    places: Option<RapidHashMap<SequenceNumber, LayoutPlace>>,
    /// The one that was looked up last there.
    last: std::cell::Cell<(SequenceNumber, LayoutPlace)>,
    sequences: Arc<Sequences>,
    hashed: Hashed,
    count: usize,
    longest: u32,
    /// Per type of objects: how many there are, and the bytes of one.
    objects: Arc<[(Cell, u32)]>,
}

/// Why there is no such layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// Too many layouts, or two with the same number.
    TooMany,
    /// A state would be longer than [`MAX_STATE_BYTES`].
    TooLong,
    /// A value was met that its cell should not have.
    Unpackable,
}

impl StateLayouts {
    /// Just the layout without processes, whose number is 0.
    pub fn new(layout: &Layout, sequences: Arc<Sequences>) -> StateLayouts {
        let place = |own: &OwnChannel| ChannelPlace { offset: own.offset, kind: own.kind };
        let length = layout.length + layout.hidden;
        let empty = StateLayout {
            frames: Box::new([]),
            channels: layout.global_channels.iter().map(place).collect(),
            children: vec![UNKNOWN; layout.segments.len()].into(),
            length,
            tail: layout.length,
            parent: 0,
            number: 0,
        };
        let places = (layout.number_bytes > 2).then(|| RapidHashMap::from_iter([(0, 0)]));
        StateLayouts {
            layouts: vec![empty],
            places,
            last: std::cell::Cell::new((0, UNKNOWN)),
            sequences,
            hashed: Hashed::default(),
            count: 1,
            longest: length,
            objects: layout.heap.objects.iter().map(|object| (object.count, object.bytes)).collect(),
        }
    }

    /// All sequences have numbers, none of which is a hash.
    pub fn are_numbered(&self) -> bool {
        self.sequences.are_ranked()
    }

    /// The number that a state begins with.
    #[inline(always)]
    fn number_of(&self, state: &[u8]) -> Option<SequenceNumber> {
        if self.places.is_none() {
            state.first_chunk().map(|bytes| u16::from_le_bytes(*bytes).into())
        } else {
            state.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
        }
    }

    /// Writes the number of a layout to the beginning of its state.
    #[inline]
    pub fn write_number(&self, place: LayoutPlace, state: &mut [u8]) {
        let bytes = self.at(place).number.to_le_bytes();
        let width = if self.places.is_none() { 2 } else { 4 };
        state[..width].copy_from_slice(&bytes[..width]);
    }

    /// The place of the layout of a state, if it was met before.
    #[inline(always)]
    pub fn place_of(&self, state: &[u8]) -> Option<LayoutPlace> {
        let number = self.number_of(state)?;
        match &self.places {
            None => Some(number),
            Some(places) => {
                let (last, place) = self.last.get();
                if last == number && place != UNKNOWN {
                    return Some(place);
                }
                let place = places.get(&number).copied()?;
                self.last.set((number, place));
                Some(place)
            }
        }
    }

    /// The layout of a state, if the state has as many bytes as it says.
    #[inline(always)]
    pub fn of(&self, state: &[u8]) -> Option<&StateLayout> {
        let layout = self.layouts.get(self.place_of(state)? as usize)?;
        self.fits(layout, state).then_some(layout)
    }

    /// The state has as many bytes as its layout says, with those of its objects.
    #[inline(always)]
    pub fn fits(&self, layout: &StateLayout, state: &[u8]) -> bool {
        let length = layout.length as usize;
        length == state.len() && self.objects.is_empty() || length > 0 && self.fits_with_objects(length, state)
    }

    fn fits_with_objects(&self, length: usize, state: &[u8]) -> bool {
        if self.objects.is_empty() || state.len() < length {
            return false;
        }
        let bytes = |(cell, bytes): &(Cell, u32)| {
            let at = cell.offset as usize;
            let count = match cell.kind {
                Kind::U16 => usize::from(u16::from_le_bytes([state[at], state[at + 1]])),
                Kind::Bits => usize::from(state[at]),
                _ => u32::from_le_bytes([state[at], state[at + 1], state[at + 2], state[at + 3]]) as usize,
            };
            count * *bytes as usize
        };
        length + self.objects.iter().map(bytes).sum::<usize>() == state.len()
    }

    /// A state of that length was met.
    pub fn note_length(&mut self, length: usize) {
        self.longest = self.longest.max(length as u32);
    }

    /// Makes sure that the layout of a state is there.
    #[inline]
    pub fn learn(&mut self, layout: &Layout, state: &[u8]) {
        if self.of(state).is_none() {
            self.derive(layout, state);
        }
    }

    /// The place of the layout of a state, which may lack its hidden tail.
    pub fn derived(&mut self, layout: &Layout, state: &[u8]) -> Option<LayoutPlace> {
        let fits = |layouts: &StateLayouts| {
            let place = layouts.place_of(state)?;
            let known = layouts.layouts.get(place as usize)?;
            let is_that = [known.length, known.tail].contains(&(state.len() as u32)) && known.length > 0;
            is_that.then_some(place)
        };
        if fits(self).is_none() {
            self.derive(layout, state);
        }
        fits(self)
    }

    /// The place of the layout whose number the state begins with, whatever its length.
    pub fn numbered(&mut self, layout: &Layout, state: &[u8]) -> Option<LayoutPlace> {
        let find = |layouts: &StateLayouts| {
            let place = layouts.place_of(state)?;
            layouts.layouts.get(place as usize).filter(|known| known.length > 0).map(|_| place)
        };
        if find(self).is_none() {
            self.derive(layout, state);
        }
        find(self)
    }

    /// The layout at that place.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn at(&self, place: LayoutPlace) -> &StateLayout {
        &self.layouts[place as usize]
    }

    /// The layout at that place, if it was met before.
    #[cfg(feature = "native")]
    pub fn known(&self, place: LayoutPlace) -> Option<&StateLayout> {
        self.layouts.get(place as usize).filter(|layout| layout.length > 0)
    }

    /// Bytes of the hidden tail of a state.
    pub fn hidden(&self, layout: &Layout, state: &[u8]) -> u32 {
        if let Some(known) = self.of(state) {
            return known.length - known.tail;
        }
        let sequence = self.number_of(state).and_then(|number| self.sequence(number)).unwrap_or_default();
        layout.hidden + sequence.iter().map(|process| layout.segments[usize::from(*process)].hidden).sum::<u32>()
    }

    /// The longest state of any layout met so far, in bytes.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// The layout with one process more.
    #[inline]
    pub fn child(&mut self, layout: &Layout, parent: LayoutPlace, process: u16) -> Result<LayoutPlace, LayoutError> {
        let known = self.at(parent).children[usize::from(process)];
        if known != UNKNOWN { Ok(known) } else { self.add_child(layout, parent, process) }
    }

    /// The sequence of that number.
    fn sequence(&self, number: SequenceNumber) -> Option<Vec<u16>> {
        let hashed = || self.hashed.lock().unwrap_or_else(PoisonError::into_inner).get(&number).map(|s| s.to_vec());
        self.sequences.sequence(number).or_else(hashed)
    }

    /// The number that a state begins with, and the sequence behind it, if it is a hash.
    pub fn hashed_sequence(&self, state: &[u8]) -> Option<(SequenceNumber, Vec<u16>)> {
        let number = self.number_of(state).filter(|number| self.sequences.is_hash(*number))?;
        Some((number, self.sequence(number)?))
    }

    /// The number that a state begins with, if it is a hash.
    #[inline]
    pub fn hashed_number(&self, state: &[u8]) -> Option<SequenceNumber> {
        self.number_of(state).filter(|number| self.sequences.is_hash(*number))
    }

    /// Learns which sequence is behind a number that is a hash. False if it is known as that of another one.
    pub fn learn_sequence(&mut self, number: SequenceNumber, sequence: &[u16]) -> bool {
        let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
        **hashed.entry(number).or_insert_with(|| sequence.into()) == *sequence
    }

    /// Makes the layout of a state from the number that the state begins with.
    #[cold]
    fn derive(&mut self, layout: &Layout, state: &[u8]) {
        let sequence = self.number_of(state).and_then(|number| self.sequence(number));
        let all = sequence.unwrap_or_default();
        let _ = all.into_iter().try_fold(0, |place, process| self.child(layout, place, process));
    }

    #[cold]
    fn add_child(&mut self, layout: &Layout, parent: LayoutPlace, process: u16) -> Result<LayoutPlace, LayoutError> {
        let segment = &layout.segments[usize::from(process)];
        if self.at(parent).length + segment.length + segment.hidden > MAX_STATE_BYTES {
            return Err(LayoutError::TooLong);
        }
        let mut sequence = self.at(parent).sequence();
        sequence.push(process);
        let number = self.sequences.number(&sequence).ok_or(LayoutError::TooMany)?;
        if self.count >= MAX_LAYOUTS {
            return Err(LayoutError::TooMany);
        }
        if self.sequences.is_hash(number) {
            let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
            let owner = hashed.entry(number).or_insert_with(|| sequence.clone().into());
            if **owner != *sequence {
                return Err(LayoutError::TooMany);
            }
        }
        let added = self.extended(layout, parent, process, number);
        self.longest = self.longest.max(added.length);
        let place = match &mut self.places {
            None => number,
            Some(places) => *places.entry(number).or_insert(self.layouts.len() as LayoutPlace),
        };
        if self.layouts.len() <= place as usize {
            self.layouts.resize_with(place as usize + 1, StateLayout::default);
        }
        self.layouts[place as usize] = added;
        self.count += 1;
        self.layouts[parent as usize].children[usize::from(process)] = place;
        Ok(place)
    }

    /// A layout with one process more.
    fn extended(&self, layout: &Layout, parent: LayoutPlace, process: u16, number: SequenceNumber) -> StateLayout {
        let older = self.at(parent);
        let segment = &layout.segments[usize::from(process)];
        let (offset, tail) = (older.tail, older.tail + segment.length);
        // The tail moves back, and what belongs to the new process comes last.
        let moved = |frame: &Frame| {
            let [global, local, _, hidden] = frame.bases;
            Frame { bases: [global, local, tail, hidden + segment.length], ..*frame }
        };
        let frame = Frame {
            bases: [0, offset, tail, older.length + segment.length],
            first_location: segment.first_location,
            locations: segment.locations,
            first_channel: older.channels.len() as u32,
            process,
            wide: segment.location.kind != Kind::Bits,
            restrained: segment.restrained,
        };
        let own = segment.channels.iter().map(|own| ChannelPlace { offset: offset + own.offset, kind: own.kind });
        StateLayout {
            frames: older.frames.iter().map(moved).chain([frame]).collect(),
            channels: older.channels.iter().copied().chain(own).collect(),
            children: vec![UNKNOWN; layout.segments.len()].into(),
            length: older.length + segment.length + segment.hidden,
            tail,
            parent,
            number,
        }
    }
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LayoutError::TooMany => {
                "more than 65,534 different sequences of live processes: too many for the explicit engine"
            }
            LayoutError::TooLong => "a state longer than 1 MiB: too long for the explicit engine",
            LayoutError::Unpackable => "internal error: a value outside of its type in a packed state",
        })
    }
}
