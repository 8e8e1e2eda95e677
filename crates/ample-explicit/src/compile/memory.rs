//! The bytes of a state, as code sees them: to look at, or to change.
//!
//! Both kinds make sure once, when they are made, that there are as many bytes as the state's layout says.
//! From then on a cell of a segment is known to be there, and is read and written without looking.

use super::heap::Discovery;
use super::layout::{Cell, Kind, Layout};
use super::state_layout::{ChannelPlace, Frame, LayoutError, LayoutPlace, StateLayout, StateLayouts};

/// What to say of bytes that are no state.
const NO_STATE: &str = "not a state of this system";

/// The bytes that code runs on.
pub trait Memory {
    /// Effects may run on it.
    const WRITES: bool;
    /// The first byte. Only what [`WRITES`](Self::WRITES) may be written to.
    fn pointer(&mut self) -> *mut u8;
    /// To look at it.
    fn reading(&self) -> Reading<'_>;
    /// Makes room for a new process.
    fn spawn(&mut self, layout: &Layout, process: u16) -> Result<(), LayoutError>;
    /// Removes the youngest process.
    fn end(&mut self);
    /// Creates an object of the type at that place: a reference to it, or none if there are too many.
    fn allocate(&mut self, _: &Layout, _: u16) -> Option<i64> {
        None
    }
}

/// A state that is looked at. It has as many bytes as its layout says.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    bytes: &'a [u8],
    /// Where everything lies in it.
    pub layout: &'a StateLayout,
}

impl<'a> Reading<'a> {
    /// A state whose layout may be new to this table.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn open(bytes: &'a [u8], layouts: &'a mut StateLayouts, layout: &Layout) -> Reading<'a> {
        layouts.learn(layout, bytes);
        Reading::new(bytes, layouts)
    }

    /// A state whose layout was met before.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn new(bytes: &'a [u8], layouts: &'a StateLayouts) -> Reading<'a> {
        match layouts.of(bytes) {
            Some(layout) => Reading { bytes, layout },
            None => panic!("{NO_STATE}"),
        }
    }

    /// A state that has the length of this layout.
    #[inline(always)]
    pub(super) fn of(bytes: &'a [u8], layout: &'a StateLayout) -> Reading<'a> {
        Reading { bytes, layout }
    }

    /// The value of a cell, `base` bytes from the beginning.
    #[inline]
    pub fn cell(&self, base: u32, cell: &Cell) -> i64 {
        let at = base as usize + cell.offset as usize;
        let bytes = &self.bytes[at..at + cell.kind.bytes() as usize];
        // SAFETY: the slice has as many bytes as the kind reads.
        unsafe { load(bytes.as_ptr(), cell.kind, cell.shift, cell.mask) }
    }

    /// The number of the location where a process stands, among those of all process types.
    #[inline(always)]
    pub fn location(&self, frame: &Frame) -> usize {
        let at = frame.offset() as usize;
        let location = if frame.wide {
            u32::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
        } else {
            u32::from(self.bytes[at])
        };
        assert!(location < frame.locations, "{NO_STATE}");
        (frame.first_location + location) as usize
    }

    /// The process of that id.
    #[inline(always)]
    pub fn frame(&self, process: u32) -> Option<&'a Frame> {
        self.layout.frames.get(process as usize)
    }

    /// The channel of that handle.
    #[inline(always)]
    pub fn channel(&self, handle: i64) -> Option<ChannelPlace> {
        self.layout.channels.get(handle.wrapping_sub(1) as usize).copied()
    }

    /// All bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The first byte.
    #[inline(always)]
    pub fn start(&self) -> *const u8 {
        self.bytes.as_ptr()
    }
}

impl Memory for &Reading<'_> {
    const WRITES: bool = false;

    #[inline(always)]
    fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_ptr().cast_mut()
    }

    #[inline(always)]
    fn reading(&self) -> Reading<'_> {
        **self
    }

    fn spawn(&mut self, _: &Layout, _: u16) -> Result<(), LayoutError> {
        Err(LayoutError::TooMany)
    }

    fn end(&mut self) {}
}

/// The work area of a joint step: it begins with a state, and has more bytes behind it.
pub struct Work<'a> {
    bytes: &'a mut [u8],
    layout: &'a StateLayout,
}

impl<'a> Work<'a> {
    /// The area, and the layout of the state that it begins with.
    ///
    /// # Panics
    /// If it has fewer bytes than two states.
    #[inline]
    pub fn new(bytes: &'a mut [u8], layout: &'a StateLayout) -> Work<'a> {
        assert!(bytes.len() >= 2 * layout.length as usize, "{NO_STATE}");
        Work { bytes, layout }
    }
}

impl Memory for Work<'_> {
    const WRITES: bool = true;

    #[inline(always)]
    fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    #[inline(always)]
    fn reading(&self) -> Reading<'_> {
        Reading { bytes: self.bytes, layout: self.layout }
    }

    fn spawn(&mut self, _: &Layout, _: u16) -> Result<(), LayoutError> {
        Err(LayoutError::TooMany)
    }

    fn end(&mut self) {}
}

/// Sets a cell, `base` bytes from the beginning.
#[inline]
pub fn set_cell(bytes: &mut [u8], base: u32, cell: &Cell, value: i64) {
    let at = base as usize + cell.offset as usize;
    let bytes = &mut bytes[at..at + cell.kind.bytes() as usize];
    // SAFETY: the slice has as many bytes as the kind writes.
    unsafe { store(bytes.as_mut_ptr(), cell.kind, cell.shift, cell.mask, value) }
}

/// Where the location of a process is kept.
#[derive(Clone, Copy)]
pub struct Seat {
    offset: u32,
    wide: bool,
}

impl From<&Frame> for Seat {
    #[inline(always)]
    fn from(frame: &Frame) -> Seat {
        Seat { offset: frame.offset(), wide: frame.wide }
    }
}

/// A state that changes. It always has as many bytes as its layout says.
pub struct Writing<'a> {
    bytes: &'a mut Vec<u8>,
    layouts: &'a mut StateLayouts,
    place: LayoutPlace,
}

impl<'a> Writing<'a> {
    /// A state whose layout was met before.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn new(bytes: &'a mut Vec<u8>, layouts: &'a mut StateLayouts) -> Writing<'a> {
        let place = known_place(layouts, bytes);
        Writing { bytes, layouts, place }
    }

    /// A copy of a state, in that buffer.
    #[inline(always)]
    pub fn copy_of(
        state: &[u8],
        bytes: &'a mut Vec<u8>,
        layouts: &'a mut StateLayouts,
        layout: &Layout,
    ) -> Writing<'a> {
        layouts.learn(layout, state);
        let place = known_place(layouts, state);
        bytes.clear();
        bytes.extend_from_slice(state);
        Writing { bytes, layouts, place }
    }

    /// The bytes, and where everything lies in them.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (&mut [u8], &StateLayout) {
        (self.bytes, self.layouts.at(self.place))
    }

    /// Sets a cell, `base` bytes from the beginning.
    #[inline]
    pub fn set(&mut self, base: u32, cell: &Cell, value: i64) {
        set_cell(self.bytes, base, cell, value);
    }

    /// Lets a process stand somewhere else.
    #[inline(always)]
    pub fn set_location(&mut self, seat: Seat, location: u32) {
        let at = seat.offset as usize;
        let [low, high, ..] = location.to_le_bytes();
        self.bytes[at] = low;
        if seat.wide {
            self.bytes[at + 1] = high;
        }
    }
}

impl Memory for Writing<'_> {
    const WRITES: bool = true;

    #[inline(always)]
    fn pointer(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    #[inline(always)]
    fn reading(&self) -> Reading<'_> {
        Reading { bytes: self.bytes, layout: self.layouts.at(self.place) }
    }

    fn spawn(&mut self, layout: &Layout, process: u16) -> Result<(), LayoutError> {
        let child = self.layouts.child(layout, self.place, process)?;
        let (old, new) = (self.layouts.at(self.place), self.layouts.at(child));
        let objects = self.bytes.len() - old.length as usize;
        self.bytes.resize(new.length as usize + objects, 0);
        if objects > 0 {
            // Where there are objects, there is no hidden tail.
            let from = old.length as usize;
            self.bytes.copy_within(from..from + objects, new.length as usize);
            self.bytes[from..new.length as usize].fill(0);
        } else if new.tail < new.length {
            self.bytes.copy_within(old.tail as usize..old.length as usize, new.tail as usize);
            self.bytes[old.tail as usize..new.tail as usize].fill(0);
            let kept = new.tail + (old.length - old.tail);
            self.bytes[kept as usize..].fill(0);
        }
        self.change_layout(child);
        Ok(())
    }

    fn end(&mut self) {
        let old = self.layouts.at(self.place);
        let new = self.layouts.at(old.parent);
        let hidden = new.length - new.tail;
        let objects = self.bytes.len() - old.length as usize;
        if objects > 0 {
            self.bytes.copy_within(old.length as usize.., new.length as usize);
        } else {
            self.bytes.copy_within(old.tail as usize..(old.tail + hidden) as usize, new.tail as usize);
        }
        self.bytes.truncate(new.length as usize + objects);
        let parent = old.parent;
        self.change_layout(parent);
    }

    fn allocate(&mut self, layout: &Layout, object: u16) -> Option<i64> {
        let from = self.layouts.at(self.place).length;
        layout.heap.allocate(self.bytes, from, object)
    }
}

impl Writing<'_> {
    /// Brings the objects into canonical form.
    pub fn canonicalise(&mut self, layout: &Layout, scratch: &mut Discovery) {
        layout.heap.canonicalise(self.bytes, self.layouts.at(self.place), scratch);
        self.layouts.note_length(self.bytes.len());
    }

    fn change_layout(&mut self, place: LayoutPlace) {
        self.place = place;
        self.layouts.write_number(place, self.bytes);
    }
}

/// The place of the layout of a state that has as many bytes as it says.
#[inline(always)]
fn known_place(layouts: &StateLayouts, state: &[u8]) -> LayoutPlace {
    match layouts.place_of(state) {
        Some(place) if layouts.fits(layouts.at(place), state) => place,
        _ => panic!("{NO_STATE}"),
    }
}

/// Reads a cell.
///
/// # Safety
/// As many bytes as the kind has must be readable.
#[inline(always)]
pub unsafe fn load(at: *const u8, kind: Kind, shift: u8, mask: u8) -> i64 {
    // SAFETY: by the contract of this function.
    unsafe {
        match kind {
            Kind::Bits => i64::from((*at >> (shift & 7)) & mask),
            Kind::I8 => i64::from(*at as i8),
            Kind::U16 => i64::from(u16::from_le(at.cast::<u16>().read_unaligned())),
            Kind::I16 => i64::from(i16::from_le(at.cast::<i16>().read_unaligned())),
            Kind::U32 => i64::from(u32::from_le(at.cast::<u32>().read_unaligned())),
            Kind::I32 => i64::from(i32::from_le(at.cast::<i32>().read_unaligned())),
            Kind::I64 => i64::from_le(at.cast::<i64>().read_unaligned()),
        }
    }
}

/// Writes a cell; bits that it has no room for are dropped.
///
/// # Safety
/// As many bytes as the kind has must be writable.
#[inline(always)]
pub unsafe fn store(at: *mut u8, kind: Kind, shift: u8, mask: u8, value: i64) {
    // SAFETY: by the contract of this function.
    unsafe {
        match kind {
            Kind::Bits => *at = *at & !(mask << (shift & 7)) | (value as u8 & mask) << (shift & 7),
            Kind::I8 => *at = value as u8,
            Kind::U16 | Kind::I16 => at.cast::<u16>().write_unaligned((value as u16).to_le()),
            Kind::U32 | Kind::I32 => at.cast::<u32>().write_unaligned((value as u32).to_le()),
            Kind::I64 => at.cast::<i64>().write_unaligned(value.to_le()),
        }
    }
}
