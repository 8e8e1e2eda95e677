//! Partition graphs over the block structure of a program (§3.2.2).
//!
//! A node is a part of the program that is checked as a whole: some locations, an entry, and an exit, which is the location
//! after it and no part of it. Nodes are put together in sequence, in choices and in loops; where one of these is decided, there
//! is a step edge for each step, all other edges are null edges, at which parts share their border states. The thesis has
//! conditions with two outcomes of which exactly one is possible; here any number of steps may be, or none.

use std::collections::HashSet;

use ample_model::{Block, LocationId};
use clap::ValueEnum;

use super::program::Program;

/// How a program is partitioned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Partitioning {
    /// As the source marks its modules, by size where it marks none, but no loop is split.
    #[default]
    Auto,
    /// Not at all: the program is one node.
    None,
    /// As the source marks its modules.
    Marks,
    /// Until no node has more locations than `--modular-size`, or cannot be split.
    Size,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The location where it begins; that of its exit, if it is empty.
    pub entry: LocationId,
    /// The location after it; `None` if it never ends.
    pub exit: Option<LocationId>,
    /// Its number among all parts.
    pub number: usize,
    /// What it is.
    pub kind: Kind,
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing at all.
    Empty,
    /// A node: these locations, in the order of the source.
    Node(Vec<LocationId>),
    /// One after the other.
    Sequence(Vec<Part>),
    /// One of several, by the step that is taken at the entry.
    Choice(Fork),
    /// Again and again one of several, by the step that is taken at the entry, until one leads past it.
    Loop(Fork),
}

/// What is decided at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The branches of a choice, the bodies of a loop.
    pub parts: Vec<Part>,
    /// Where each step of the location leads.
    pub edges: Vec<To>,
}

/// Where a step edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// To the entry of that part.
    Part(usize),
    /// To the exit.
    Exit,
    /// To the location where it is decided itself.
    Head,
}

impl Kind {
    /// The parts directly inside.
    pub fn parts(&self) -> &[Part] {
        match self {
            Kind::Empty | Kind::Node(_) => &[],
            Kind::Sequence(parts) => parts,
            Kind::Choice(fork) | Kind::Loop(fork) => &fork.parts,
        }
    }

    fn parts_mut(&mut self) -> &mut [Part] {
        match self {
            Kind::Empty | Kind::Node(_) => &mut [],
            Kind::Sequence(parts) => parts,
            Kind::Choice(fork) | Kind::Loop(fork) => &mut fork.parts,
        }
    }
}

impl Part {
    /// The nodes, in the order of the source.
    pub fn nodes(&self) -> Vec<&Part> {
        match &self.kind {
            Kind::Node(_) => vec![self],
            kind => kind.parts().iter().flat_map(Part::nodes).collect(),
        }
    }

    /// How many parts there are, itself included.
    pub fn count(&self) -> usize {
        1 + self.kind.parts().iter().map(Part::count).sum::<usize>()
    }

    /// How many locations its largest node has.
    pub fn largest(&self) -> usize {
        let size = |part: &&Part| if let Kind::Node(locations) = &part.kind { locations.len() } else { 0 };
        self.nodes().iter().map(size).max().unwrap_or(0)
    }

    fn numbered(mut self, next: &mut usize) -> Part {
        self.number = *next;
        *next += 1;
        for part in self.kind.parts_mut() {
            *part = std::mem::replace(part, empty(part.entry, None)).numbered(next);
        }
        self
    }
}

fn empty(entry: LocationId, exit: Option<LocationId>) -> Part {
    Part { entry, exit, number: 0, kind: Kind::Empty }
}

/// A node that is larger than this is split where nobody says how.
pub const DEFAULT_SIZE: usize = 12;

/// A partition graph of the program; `None` if control does not follow its block structure.
pub fn partition(program: &Program, how: Partitioning, size: usize) -> Option<Part> {
    let has_marks = has_marks(&program.structure);
    let wanted = match how {
        Partitioning::None => Wanted::Whole,
        Partitioning::Marks => Wanted::Marks,
        Partitioning::Auto if has_marks => Wanted::Marks,
        Partitioning::Auto | Partitioning::Size => Wanted::Size(size.max(1)),
    };
    let splitter = Splitter { program, wanted, splits_loops: how != Partitioning::Auto };
    let part = splitter.part(&program.structure, None)?;
    (part.entry == program.initial).then(|| part.numbered(&mut 0))
}

/// A partition graph of a part of the program, with that exit.
#[cfg(test)]
pub(super) fn part_of(
    program: &Program,
    block: &Block,
    exit: LocationId,
    how: Partitioning,
    size: usize,
) -> Option<Part> {
    let wanted = if how == Partitioning::None { Wanted::Whole } else { Wanted::Size(size) };
    let part = Splitter { program, wanted, splits_loops: true }.part(block, Some(exit))?;
    Some(part.numbered(&mut 0))
}

#[derive(Clone, Copy)]
enum Wanted {
    Whole,
    Marks,
    Size(usize),
}

struct Splitter<'a> {
    program: &'a Program,
    wanted: Wanted,
    /// A loop that is split is checked again and again, whole ones are faster.
    splits_loops: bool,
}

impl Splitter<'_> {
    /// The part that a block is; `None` if control leaves it for other places than its exit.
    fn part(&self, block: &Block, exit: Option<LocationId>) -> Option<Part> {
        if self.is_split(block)
            && let Some(part) = self.split(block, exit)
        {
            return Some(part);
        }
        self.node(block, exit)
    }

    fn is_split(&self, block: &Block) -> bool {
        if matches!(block, Block::Loop(..)) && !self.splits_loops {
            return false;
        }
        match self.wanted {
            Wanted::Whole => false,
            Wanted::Marks => has_marks(block),
            Wanted::Size(size) => count(block) > size,
        }
    }

    /// The block as one node.
    fn node(&self, block: &Block, exit: Option<LocationId>) -> Option<Part> {
        let mut locations = Vec::new();
        collect(block, &mut locations);
        let Some(entry) = locations.first().copied() else { return Some(empty(exit?, exit)) };
        let inner: HashSet<LocationId> = locations.iter().copied().collect();
        let is_closed = |location: &LocationId| {
            let steps = &self.program.locations.get(location.index())?.steps;
            steps.iter().all(|step| inner.contains(&step.to) || Some(step.to) == exit).then_some(())
        };
        if exit.is_some_and(|exit| inner.contains(&exit)) || locations.iter().any(|l| is_closed(l).is_none()) {
            return None;
        }
        Some(Part { entry, exit, number: 0, kind: Kind::Node(locations) })
    }

    fn split(&self, block: &Block, exit: Option<LocationId>) -> Option<Part> {
        match block {
            Block::Leaf(_) => None,
            Block::Module(inner) => self.part(inner, exit),
            Block::Sequence(blocks) => self.sequence(blocks, exit),
            Block::Choice(at, branches) => {
                let fork = self.fork(*at, branches, exit, exit)?;
                if fork.edges.contains(&To::Head) {
                    return None;
                }
                Some(Part { entry: *at, exit, number: 0, kind: Kind::Choice(fork) })
            }
            Block::Loop(at, bodies) => {
                let fork = self.fork(*at, bodies, Some(*at), exit)?;
                Some(Part { entry: *at, exit, number: 0, kind: Kind::Loop(fork) })
            }
        }
    }

    /// The blocks that are decided for at a location, with their common exit, and where each of its steps leads.
    fn fork(
        &self,
        at: LocationId,
        blocks: &[Block],
        after: Option<LocationId>,
        exit: Option<LocationId>,
    ) -> Option<Fork> {
        let mut parts = Vec::new();
        for block in blocks {
            let part = self.part(block, after)?;
            if part.kind != Kind::Empty {
                parts.push(part);
            }
        }
        let mut edges = Vec::new();
        for step in &self.program.locations.get(at.index())?.steps {
            let part = parts.iter().position(|part| part.entry == step.to);
            edges.push(match part {
                Some(part) => To::Part(part),
                None if step.to == at => To::Head,
                None if Some(step.to) == exit => To::Exit,
                None => return None,
            });
        }
        Some(Fork { parts, edges })
    }

    /// The blocks one after the other, from the last. Neighbours that are not split are one node.
    fn sequence(&self, blocks: &[Block], exit: Option<LocationId>) -> Option<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut after = exit;
        let mut end = blocks.len();
        while end > 0 {
            let begin = self.together(&blocks[..end]);
            let part = match &blocks[begin..end] {
                [single] => self.part(single, after)?,
                several => self.node(&Block::Sequence(several.to_vec()), after)?,
            };
            end = begin;
            if part.kind != Kind::Empty {
                after = Some(part.entry);
                parts.push(part);
            }
        }
        parts.reverse();
        match parts.len() {
            0 => Some(empty(exit?, exit)),
            1 => parts.pop(),
            _ => Some(Part { entry: parts[0].entry, exit, number: 0, kind: Kind::Sequence(parts) }),
        }
    }

    /// Where the last node of a sequence begins.
    fn together(&self, blocks: &[Block]) -> usize {
        let last = blocks.len() - 1;
        let stands_alone = |block: &Block| match self.wanted {
            Wanted::Whole => false,
            Wanted::Marks => has_marks(block),
            Wanted::Size(size) => count(block) > size,
        };
        if stands_alone(&blocks[last]) {
            return last;
        }
        let mut begin = last;
        let mut locations = count(&blocks[last]);
        while begin > 0 && !stands_alone(&blocks[begin - 1]) {
            locations += count(&blocks[begin - 1]);
            if matches!(self.wanted, Wanted::Size(size) if locations > size) {
                break;
            }
            begin -= 1;
        }
        begin
    }
}

/// Some part is marked as a module.
fn has_marks(block: &Block) -> bool {
    match block {
        Block::Leaf(_) => false,
        Block::Module(_) => true,
        Block::Sequence(blocks) | Block::Choice(_, blocks) | Block::Loop(_, blocks) => blocks.iter().any(has_marks),
    }
}

/// How many locations a block has.
fn count(block: &Block) -> usize {
    match block {
        Block::Leaf(_) => 1,
        Block::Module(inner) => count(inner),
        Block::Sequence(blocks) => blocks.iter().map(count).sum(),
        Block::Choice(_, blocks) | Block::Loop(_, blocks) => 1 + blocks.iter().map(count).sum::<usize>(),
    }
}

fn collect(block: &Block, locations: &mut Vec<LocationId>) {
    match block {
        Block::Leaf(at) => locations.push(*at),
        Block::Module(inner) => collect(inner, locations),
        Block::Sequence(blocks) => blocks.iter().for_each(|block| collect(block, locations)),
        Block::Choice(at, blocks) | Block::Loop(at, blocks) => {
            locations.push(*at);
            blocks.iter().for_each(|block| collect(block, locations));
        }
    }
}
