//! Objects in packed states.
//!
//! The objects of a state lie behind the segments of its processes, record type by record type; a cell before the segments
//! says how many there are of each. A reference is the number of an object among those of its type, from 1 on, so that no
//! object needs a tag, and values that nobody else refers to are simply parts of it (the inlining of M. Kattenbelt, *Towards
//! an Explicit-State Model Checking Framework*, 2006, section 4.2.3).
//!
//! A step leaves a state in canonical form (the linearisation of section 4.2): objects are numbered in the order in which
//! they are discovered, breadth first, from the globals and then from the locals of each process; those that are not
//! discovered are garbage, and left out. So isomorphic graphs are equal bytes.

use ample_model::{Action, Instruction, RecordId, Scalar, System, Type};

use super::CompileError;
use super::layout::{Base, Cell, Kind, Layout, Slot, VariableLayout};
use super::memory::{load, set_cell};
use super::state_layout::StateLayout;

/// A cell that refers to an object, and the place of the object's type in [`HeapLayout::objects`].
#[derive(Clone, Copy, Debug)]
pub struct ReferenceCell {
    /// Where it is.
    pub cell: Cell,
    /// The type of what it refers to.
    pub object: u16,
}

/// How an object of one record type lies in memory.
#[derive(Clone, Debug)]
pub struct ObjectLayout {
    /// Its record type.
    pub record: RecordId,
    /// Its cells, relative to its beginning (the base means nothing).
    pub slots: Vec<Slot>,
    /// Bytes of one object; at least 1.
    pub bytes: u32,
    /// How many there are.
    pub count: Cell,
    /// Those of its cells that refer to objects.
    pub references: Vec<ReferenceCell>,
}

/// Where objects lie in a state.
#[derive(Clone, Debug, Default)]
pub struct HeapLayout {
    /// The record types that something refers to.
    pub objects: Vec<ObjectLayout>,
    /// The global cells that refer to objects.
    pub globals: Vec<ReferenceCell>,
    /// Per process type: the local ones.
    pub locals: Vec<Vec<ReferenceCell>>,
    /// So many objects there may be.
    pub most: u32,
}

/// The record types that some cell refers to, in the order of their numbers.
pub fn referenced(system: &System) -> Vec<RecordId> {
    let locals = system.processes.iter().flat_map(|process| &process.locals);
    let variables = system.globals.iter().chain(locals).flat_map(|variable| system.scalars(&variable.ty));
    let mut found: Vec<RecordId> = variables.filter_map(target).collect();
    let mut next = 0;
    while let Some(record) = found.get(next).copied() {
        next += 1;
        for inner in system.scalars(&Type::Record(record)).into_iter().filter_map(target) {
            if !found.contains(&inner) {
                found.push(inner);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn target(scalar: Scalar) -> Option<RecordId> {
    if let Scalar::Reference(record) = scalar { Some(record) } else { None }
}

/// After these instructions the objects of a state may have to be numbered anew.
pub fn disturbs(effect: &[Instruction]) -> bool {
    effect.iter().any(|instruction| match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => match action {
            Action::Assign(place, _) => target(place.scalar).is_some(),
            Action::AssignAll(pairs) => pairs.iter().any(|(place, _)| target(place.scalar).is_some()),
            Action::AssignField(parts) => target(parts.1.scalar).is_some(),
            // What a new process refers to is discovered with it, and no later.
            Action::Allocate(..) | Action::Spawn { .. } | Action::End => true,
            _ => false,
        },
        Instruction::Jump(_) | Instruction::Fail(_) => false,
    })
}

impl HeapLayout {
    /// The cells that refer to objects, once the variables have their places.
    pub fn find_references(
        &mut self,
        globals: &[VariableLayout],
        locals: impl Iterator<Item = Vec<VariableLayout>>,
    ) -> Result<(), CompileError> {
        let objects: Vec<RecordId> = self.objects.iter().map(|object| object.record).collect();
        let collect = |slots: &[Slot]| -> Vec<ReferenceCell> {
            let reference = |slot: &Slot| {
                let object = objects.binary_search(&target(slot.scalar)?).ok()? as u16;
                Some(ReferenceCell { cell: slot.cell, object })
            };
            slots.iter().filter_map(reference).collect()
        };
        let flat = |variables: &[VariableLayout]| -> Vec<Slot> {
            variables.iter().flat_map(|variable| variable.slots.iter().copied()).collect()
        };
        self.globals = collect(&flat(globals));
        self.locals = locals.map(|variables| collect(&flat(&variables))).collect();
        for object in &mut self.objects {
            object.references = collect(&object.slots);
        }
        let mut hidden = self.globals.iter().chain(self.locals.iter().flatten());
        if hidden.any(|reference| matches!(reference.cell.base, Base::HiddenGlobal | Base::HiddenLocal)) {
            return Err(CompileError::HiddenReferences);
        }
        Ok(())
    }

    /// The place of a record type among the [objects](Self::objects).
    pub fn place_of(&self, record: RecordId) -> Option<u16> {
        self.objects.binary_search_by_key(&record, |object| object.record).ok().map(|place| place as u16)
    }

    /// How many objects of a type the state has.
    #[inline]
    pub fn count(&self, bytes: &[u8], object: u16) -> u32 {
        count(bytes, &self.objects[usize::from(object)].count)
    }

    /// How many objects the state has.
    pub fn total(&self, bytes: &[u8]) -> u32 {
        self.objects.iter().map(|object| count(bytes, &object.count)).sum()
    }

    /// Where the objects of a type begin; `from` is where all of them do.
    #[inline]
    pub fn section(&self, bytes: &[u8], from: u32, object: u16) -> usize {
        let before = self.objects[..usize::from(object)].iter();
        from as usize + before.map(|other| count(bytes, &other.count) as usize * other.bytes as usize).sum::<usize>()
    }

    /// Where an object is; none if the reference refers to none.
    #[inline]
    pub fn find(&self, bytes: &[u8], from: u32, object: u16, reference: i64) -> Option<usize> {
        let index = usize::try_from(reference).ok()?.checked_sub(1)?;
        if index >= self.count(bytes, object) as usize {
            return None;
        }
        Some(self.section(bytes, from, object) + index * self.objects[usize::from(object)].bytes as usize)
    }

    /// Creates an object, all of whose cells are 0: a reference to it, or none if there are too many.
    pub fn allocate(&self, bytes: &mut Vec<u8>, from: u32, object: u16) -> Option<i64> {
        if self.total(bytes) >= self.most {
            return None;
        }
        let layout = &self.objects[usize::from(object)];
        let count = self.count(bytes, object);
        let at = self.section(bytes, from, object) + count as usize * layout.bytes as usize;
        let (end, size) = (bytes.len(), layout.bytes as usize);
        bytes.resize(end + size, 0);
        bytes.copy_within(at..end, at + size);
        bytes[at..at + size].fill(0);
        for slot in layout.slots.iter().filter(|slot| slot.low != 0) {
            set_cell(bytes, at as u32, &slot.cell, slot.low.wrapping_neg());
        }
        set_cell(bytes, 0, &layout.count, i64::from(count) + 1);
        Some(i64::from(count) + 1)
    }

    /// Brings the objects of a state into canonical form.
    pub fn canonicalise(&self, bytes: &mut Vec<u8>, layout: &StateLayout, scratch: &mut Discovery) {
        let from = layout.length as usize;
        if bytes.len() == from {
            return;
        }
        scratch.begin(self, bytes, from);
        for reference in &self.globals {
            scratch.discover(bytes, 0, reference);
        }
        for frame in &layout.frames {
            for reference in &self.locals[usize::from(frame.process)] {
                scratch.discover(bytes, frame.offset() as usize, reference);
            }
        }
        let mut next = 0;
        while let Some(&(object, number)) = scratch.order.get(next) {
            next += 1;
            let layout = &self.objects[usize::from(object)];
            if layout.references.is_empty() {
                continue;
            }
            let at = scratch.sections[usize::from(object)] + number as usize * layout.bytes as usize;
            let mut old = std::mem::take(&mut scratch.old);
            for reference in &layout.references {
                scratch.discover(&mut old, at, reference);
            }
            scratch.old = old;
        }
        scratch.finish(self, bytes, from);
    }
}

#[inline]
fn count(bytes: &[u8], cell: &Cell) -> u32 {
    read(bytes, 0, cell) as u32
}

#[inline]
fn read(bytes: &[u8], base: usize, cell: &Cell) -> i64 {
    let at = base + cell.offset as usize;
    let bytes = &bytes[at..at + cell.kind.bytes() as usize];
    // SAFETY: the slice has as many bytes as the kind reads.
    unsafe { load(bytes.as_ptr(), cell.kind, cell.shift, cell.mask) }
}

/// New numbers for objects, in memory that is used again and again.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The objects as they were, with their references renumbered.
    old: Vec<u8>,
    /// Where the objects of each type begin there.
    sections: Vec<usize>,
    /// Where the numbers of each type begin.
    first: Vec<usize>,
    /// The new numbers; 0 if there is none yet.
    numbers: Vec<u32>,
    /// How many of each type were discovered.
    counts: Vec<u32>,
    /// The type and the old number of every object, in the order of discovery.
    order: Vec<(u16, u32)>,
}

impl Discovery {
    fn begin(&mut self, heap: &HeapLayout, bytes: &[u8], from: usize) {
        self.old.clear();
        self.old.extend_from_slice(&bytes[from..]);
        self.sections.clear();
        self.first.clear();
        self.order.clear();
        self.numbers.clear();
        self.counts.clear();
        self.counts.resize(heap.objects.len(), 0);
        let (mut at, mut all) = (0, 0);
        for object in &heap.objects {
            self.sections.push(at);
            self.first.push(all);
            let count = count(bytes, &object.count) as usize;
            all += count;
            at += count * object.bytes as usize;
        }
        self.numbers.resize(all, 0);
    }

    /// Replaces an old reference by the new one.
    fn discover(&mut self, bytes: &mut [u8], base: usize, reference: &ReferenceCell) {
        let old = read(bytes, base, &reference.cell);
        if old == 0 {
            return;
        }
        let object = usize::from(reference.object);
        let Some(number) = self.numbers.get_mut(self.first[object] + old as usize - 1) else { return };
        if *number == 0 {
            self.counts[object] += 1;
            *number = self.counts[object];
            self.order.push((reference.object, old as u32 - 1));
        }
        let new = i64::from(*number);
        if new != old {
            set_cell(bytes, base as u32, &reference.cell, new);
        }
    }

    /// Puts the discovered objects behind the segments.
    fn finish(&mut self, heap: &HeapLayout, bytes: &mut Vec<u8>, from: usize) {
        let mut at = from;
        let mut sections = std::mem::take(&mut self.sections);
        let mut starts = std::mem::take(&mut self.first);
        for (object, layout) in heap.objects.iter().enumerate() {
            let count = self.counts[object];
            set_cell(bytes, 0, &layout.count, count.into());
            // From here on where the new objects of the type begin; the old places are needed as well.
            let begin = at;
            at += count as usize * layout.bytes as usize;
            self.counts[object] = begin as u32;
        }
        bytes.truncate(at);
        for &(object, number) in &self.order {
            let place = usize::from(object);
            let size = heap.objects[place].bytes as usize;
            let new = self.numbers[starts[place] + number as usize] as usize - 1;
            let from = sections[place] + number as usize * size;
            let to = self.counts[place] as usize + new * size;
            bytes[to..to + size].copy_from_slice(&self.old[from..from + size]);
        }
        sections.clear();
        starts.clear();
        self.sections = sections;
        self.first = starts;
    }
}

impl Layout {
    /// The kind of a cell that counts objects.
    pub fn counting(most: u32) -> Kind {
        match most {
            0..=0xff => Kind::Bits,
            0x100..=0xffff => Kind::U16,
            _ => Kind::U32,
        }
    }
}
