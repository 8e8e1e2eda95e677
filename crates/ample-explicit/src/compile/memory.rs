//! The bytes of a state, as code sees them: to look at, or to change.
//!
//! Both kinds make sure once, when they are made, that there are as many bytes as the state's shape says.
//! From then on a cell of a segment is known to be there, and is read and written without looking.

use super::layout::{Cell, Kind, Layout};
use super::shape::{ChannelPlace, Frame, Shape, ShapeError, ShapeId, Shapes};

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
    fn spawn(&mut self, layout: &Layout, process: u16) -> Result<(), ShapeError>;
    /// Removes the youngest process.
    fn end(&mut self);
}

/// A state that is looked at. It has as many bytes as its shape says.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    bytes: &'a [u8],
    /// Its shape.
    pub shape: &'a Shape,
}

impl<'a> Reading<'a> {
    /// A state whose shape may be new to this table.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn open(bytes: &'a [u8], shapes: &'a mut Shapes, layout: &Layout) -> Reading<'a> {
        shapes.learn(layout, shape_of(bytes));
        Reading::new(bytes, shapes)
    }

    /// A state whose shape is known.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn new(bytes: &'a [u8], shapes: &'a Shapes) -> Reading<'a> {
        let shape = shapes.known(shape_of(bytes));
        assert!(bytes.len() == shape.length as usize, "{NO_STATE}");
        Reading { bytes, shape }
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
        self.shape.frames.get(process as usize)
    }

    /// The channel of that handle.
    #[inline(always)]
    pub fn channel(&self, handle: i64) -> Option<ChannelPlace> {
        self.shape.channels.get(handle.wrapping_sub(1) as usize).copied()
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

    fn spawn(&mut self, _: &Layout, _: u16) -> Result<(), ShapeError> {
        Err(ShapeError::TooMany)
    }

    fn end(&mut self) {}
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

/// A state that changes. It always has as many bytes as its shape says.
pub struct Writing<'a> {
    bytes: &'a mut Vec<u8>,
    shapes: &'a mut Shapes,
    shape: ShapeId,
}

impl<'a> Writing<'a> {
    /// A state whose shape is known.
    ///
    /// # Panics
    /// If the bytes are not a state of this system, as far as can be seen.
    #[inline]
    pub fn new(bytes: &'a mut Vec<u8>, shapes: &'a mut Shapes) -> Writing<'a> {
        let shape = shape_of(bytes);
        assert!(bytes.len() == shapes.known(shape).length as usize, "{NO_STATE}");
        Writing { bytes, shapes, shape }
    }

    /// A copy of a state, in that buffer.
    #[inline(always)]
    pub fn copy_of(state: &[u8], bytes: &'a mut Vec<u8>, shapes: &'a mut Shapes, layout: &Layout) -> Writing<'a> {
        let shape = shape_of(state);
        shapes.learn(layout, shape);
        assert!(state.len() == shapes.known(shape).length as usize, "{NO_STATE}");
        bytes.clear();
        bytes.extend_from_slice(state);
        Writing { bytes, shapes, shape }
    }

    /// Sets a cell, `base` bytes from the beginning.
    #[inline]
    pub fn set(&mut self, base: u32, cell: &Cell, value: i64) {
        let at = base as usize + cell.offset as usize;
        let bytes = &mut self.bytes[at..at + cell.kind.bytes() as usize];
        // SAFETY: the slice has as many bytes as the kind writes.
        unsafe { store(bytes.as_mut_ptr(), cell.kind, cell.shift, cell.mask, value) }
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
        Reading { bytes: self.bytes, shape: self.shapes.known(self.shape) }
    }

    fn spawn(&mut self, layout: &Layout, process: u16) -> Result<(), ShapeError> {
        let child = self.shapes.child(layout, self.shape, process)?;
        let (old, new) = (self.shapes.known(self.shape), self.shapes.known(child));
        self.bytes.resize(new.length as usize, 0);
        if new.tail < new.length {
            self.bytes.copy_within(old.tail as usize..old.length as usize, new.tail as usize);
            self.bytes[old.tail as usize..new.tail as usize].fill(0);
            let kept = new.tail + (old.length - old.tail);
            self.bytes[kept as usize..].fill(0);
        }
        self.become_shape(child);
        Ok(())
    }

    fn end(&mut self) {
        let old = self.shapes.known(self.shape);
        let new = self.shapes.known(old.parent);
        let hidden = new.length - new.tail;
        self.bytes.copy_within(old.tail as usize..(old.tail + hidden) as usize, new.tail as usize);
        self.bytes.truncate(new.length as usize);
        let parent = old.parent;
        self.become_shape(parent);
    }
}

impl Writing<'_> {
    fn become_shape(&mut self, shape: ShapeId) {
        self.shape = shape;
        self.bytes[..2].copy_from_slice(&shape.to_le_bytes());
    }
}

/// The number of its shape that a state begins with.
#[inline(always)]
pub fn shape_of(state: &[u8]) -> ShapeId {
    match state.first_chunk() {
        Some(bytes) => ShapeId::from_le_bytes(*bytes),
        None => panic!("{NO_STATE}"),
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
