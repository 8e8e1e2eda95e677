//! Shapes: which process types are alive, in order.
//!
//! The sequence of live process types determines every offset of a state, so it is interned: a shape is
//! a node of a trie (its parent without the youngest process, and that process's type) together with the
//! table of its segments and channels. A state begins with the number of its shape, and one look-up
//! gives the whole layout. Spawning a process goes to a child, its end to the parent.
//!
//! Shapes are found during the search. Clones of a space share the trie behind a lock that is taken only
//! when a shape is met that the clone does not know yet, so that a number means the same to all threads;
//! the tables themselves are private copies.

use std::sync::{Arc, Mutex, PoisonError};

use super::layout::{Base, Kind, Layout, MAX_STATE_BYTES, OwnChannel};

/// The number of a shape: what a state begins with.
pub type ShapeId = u16;

/// No child yet.
const UNKNOWN: ShapeId = ShapeId::MAX;

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

/// A sequence of live process types.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The processes.
    pub frames: Box<[Frame]>,
    /// The channels; handle `h` is at index `h - 1`.
    pub channels: Box<[ChannelPlace]>,
    /// Bytes of a state, the hidden tail included.
    pub length: u32,
    /// Where the hidden tail starts.
    pub tail: u32,
    /// The shape without the youngest process.
    pub parent: ShapeId,
}

/// All shapes met so far.
#[derive(Clone, Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    /// How many process types there are.
    types: usize,
    /// Per shape and process type.
    children: Vec<ShapeId>,
    /// What a shape adds to its parent; the same for all clones.
    trie: Arc<Mutex<Vec<(ShapeId, u16)>>>,
    longest: u32,
}

/// Why there is no such shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// More shapes than numbers.
    TooMany,
    /// A state would be longer than [`MAX_STATE_BYTES`].
    TooLong,
}

impl Shapes {
    /// Just the shape without processes, number 0.
    pub fn new(layout: &Layout) -> Shapes {
        let place = |own: &OwnChannel| ChannelPlace { offset: own.offset, kind: own.kind };
        let length = layout.length + layout.hidden;
        let root = Shape {
            frames: Box::new([]),
            channels: layout.global_channels.iter().map(place).collect(),
            length,
            tail: layout.length,
            parent: 0,
        };
        let types = layout.segments.len();
        Shapes {
            shapes: vec![root],
            types,
            children: vec![UNKNOWN; types],
            trie: Arc::new(Mutex::new(vec![(0, 0)])),
            longest: length,
        }
    }

    /// Makes sure that the shape of that number is known, if a clone of this table has found it.
    #[inline]
    pub fn learn(&mut self, layout: &Layout, id: ShapeId) {
        if usize::from(id) >= self.shapes.len() {
            self.catch_up(layout);
        }
    }

    /// The shape of that number, which must be known already.
    ///
    /// # Panics
    /// If it is not.
    #[inline]
    pub fn known(&self, id: ShapeId) -> &Shape {
        &self.shapes[usize::from(id)]
    }

    /// Bytes of the hidden tail. Asks the other clones if the shape is not known yet.
    pub fn hidden(&self, layout: &Layout, id: ShapeId) -> u32 {
        if let Some(shape) = self.shapes.get(usize::from(id)) {
            return shape.length - shape.tail;
        }
        let trie = self.trie.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut hidden, mut id) = (layout.hidden, id);
        while id != 0 {
            let (parent, process) = trie[usize::from(id)];
            hidden += layout.segments[usize::from(process)].hidden;
            id = parent;
        }
        hidden
    }

    /// The longest state of any shape met so far, in bytes.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// The shape with one process more.
    #[inline]
    pub fn child(&mut self, layout: &Layout, parent: ShapeId, process: u16) -> Result<ShapeId, ShapeError> {
        let known = self.children[self.child_index(parent, process)];
        if known != UNKNOWN { Ok(known) } else { self.intern(layout, parent, process) }
    }

    fn child_index(&self, parent: ShapeId, process: u16) -> usize {
        usize::from(parent) * self.types + usize::from(process)
    }

    #[cold]
    fn intern(&mut self, layout: &Layout, parent: ShapeId, process: u16) -> Result<ShapeId, ShapeError> {
        self.catch_up(layout);
        let known = self.children[self.child_index(parent, process)];
        if known != UNKNOWN {
            return Ok(known);
        }
        let segment = &layout.segments[usize::from(process)];
        if self.known(parent).length + segment.length + segment.hidden > MAX_STATE_BYTES {
            return Err(ShapeError::TooLong);
        }
        {
            let mut trie = self.trie.lock().unwrap_or_else(PoisonError::into_inner);
            // Another clone may have been faster; then a second node for the same sequence would make
            // equal states different.
            if trie.len() == self.shapes.len() {
                if trie.len() >= usize::from(UNKNOWN) {
                    return Err(ShapeError::TooMany);
                }
                trie.push((parent, process));
            }
        }
        self.intern(layout, parent, process)
    }

    /// Builds the tables of the shapes that other clones have found.
    #[cold]
    fn catch_up(&mut self, layout: &Layout) {
        let known = self.shapes.len();
        let new = self.trie.lock().unwrap_or_else(PoisonError::into_inner)[known..].to_vec();
        for (parent, process) in new {
            self.add(layout, parent, process);
        }
    }

    fn add(&mut self, layout: &Layout, parent: ShapeId, process: u16) {
        let id = self.shapes.len() as ShapeId;
        let index = self.child_index(parent, process);
        let older = self.known(parent);
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
        let shape = Shape {
            frames: older.frames.iter().map(moved).chain([frame]).collect(),
            channels: older.channels.iter().copied().chain(own).collect(),
            length: older.length + segment.length + segment.hidden,
            tail,
            parent,
        };
        self.longest = self.longest.max(shape.length);
        self.shapes.push(shape);
        self.children[index] = id;
        self.children.extend(std::iter::repeat_n(UNKNOWN, self.types));
    }
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ShapeError::TooMany => {
                "more than 65,534 different sequences of live processes: too many for the explicit engine"
            }
            ShapeError::TooLong => "a state longer than 1 MiB: too long for the explicit engine",
        })
    }
}
