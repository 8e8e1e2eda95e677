//! A state whose cells are formulas, and the tools that read and write it.

use std::collections::BTreeMap;
use std::rc::Rc;

use ample_model::{ChannelId, ProcessId, System};

use crate::Unsupported;
use crate::dag::{Dag, Lit};
use crate::layout::{Layout, Number};
use crate::word::Word;

/// The largest graph.
pub(crate) const MAX_NODES: usize = 20_000_000;

/// A state as it changes: what the cells held before the step, and what was written since.
#[derive(Clone)]
pub(crate) struct Symbolic {
    base: Rc<Vec<Word>>,
    pub written: BTreeMap<Number, Word>,
}

impl Symbolic {
    pub fn new(base: Rc<Vec<Word>>) -> Symbolic {
        Symbolic { base, written: BTreeMap::new() }
    }

    pub fn set(&mut self, cell: Number, word: Word) {
        self.written.insert(cell, word);
    }

    fn known(&self, cell: Number) -> &Word {
        self.written.get(&cell).unwrap_or(&self.base[cell])
    }
}

/// A value, and where it is a fault to ask for it. Where it is one, the value means nothing.
#[derive(Clone)]
pub(crate) struct Value {
    pub word: Word,
    pub fault: Lit,
}

impl Value {
    pub fn sound(word: Word) -> Value {
        Value { word, fault: Lit::FALSE }
    }

    pub fn faulty() -> Value {
        Value { word: Word::zero(), fault: Lit::TRUE }
    }
}

/// A condition, and where it is a fault to ask for it. Where it is one, the condition means nothing.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    pub holds: Lit,
    pub fault: Lit,
}

impl Truth {
    pub const TRUE: Truth = Truth { holds: Lit::TRUE, fault: Lit::FALSE };
    pub const FALSE: Truth = Truth { holds: Lit::FALSE, fault: Lit::FALSE };

    pub fn sound(holds: Lit) -> Truth {
        Truth { holds, fault: Lit::FALSE }
    }
}

/// A channel that a handle may mean, and where it does.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub queue: usize,
    pub kind: ChannelId,
    pub when: Lit,
}

/// Everything that formulas are made from.
pub(crate) struct Maker<'a> {
    pub system: &'a System,
    pub layout: &'a Layout,
    pub dag: &'a mut Dag,
}

impl Maker<'_> {
    /// Refuses to let the graph grow without end.
    pub fn check_size(&self) -> Result<(), Unsupported> {
        if let Some(interrupted) = self.dag.interrupted() {
            return Err(Unsupported(interrupted.to_string()));
        }
        if self.dag.len() > MAX_NODES {
            return Err(Unsupported(format!("the formulas of the system have more than {MAX_NODES} nodes")));
        }
        Ok(())
    }

    /// What the cells hold: their bits.
    pub fn inputs(&mut self) -> Rc<Vec<Word>> {
        let cells = 0..self.layout.places.len();
        Rc::new(cells.map(|cell| self.input(cell)).collect())
    }

    pub fn input(&mut self, cell: Number) -> Word {
        self.input_at(cell, 0)
    }

    /// The same with bits that have numbers so much higher.
    pub fn input_at(&mut self, cell: Number, shift: u32) -> Word {
        let place = &self.layout.places[cell];
        let first = place.first + shift;
        let bits: Vec<Lit> = (first..first + place.coding.bits).map(|bit| self.dag.input(bit)).collect();
        let word = if place.coding.signed { Word::signed(bits) } else { Word::unsigned(bits) };
        match place.coding.low {
            0 => word,
            low => self.dag.add(&word, &Word::constant(low.into())),
        }
    }

    /// The bits that keep the value in its cell, and where they can.
    pub fn encode(&mut self, cell: Number, word: &Word) -> (Vec<Lit>, Lit) {
        let coding = self.layout.coding(cell);
        let offset = match coding.low {
            0 => word.clone(),
            low => self.dag.subtract(word, &Word::constant(low.into())),
        };
        let bits: Vec<Lit> = (0..coding.bits as usize).map(|bit| offset.bit(bit)).collect();
        let beyond = if coding.signed { bits[bits.len() - 1] } else { Lit::FALSE };
        let rest = bits.len()..offset.width().max(bits.len() + 1);
        let same: Vec<Lit> = rest.map(|bit| self.dag.iff(offset.bit(bit), beyond)).collect();
        (bits, self.dag.all(&same))
    }

    /// The value of a cell. A hidden one has a value only after it was written in the same step.
    pub fn get(&self, state: &Symbolic, cell: Number) -> Result<Word, Unsupported> {
        let place = &self.layout.places[cell];
        if place.hidden && !state.written.contains_key(&cell) {
            return Err(Unsupported(format!(
                "the symbolic engine cannot read the hidden variable {} in a step that has not set it",
                place.name
            )));
        }
        Ok(state.known(cell).clone())
    }

    /// The cell, which is not hidden.
    pub fn plain(&self, state: &Symbolic, cell: Number) -> Word {
        state.known(cell).clone()
    }

    /// One state or the other. A hidden cell that only one of them has written is unknown again.
    pub fn merge(&mut self, condition: Lit, then: Symbolic, otherwise: Symbolic) -> Symbolic {
        if condition.is_constant() {
            return if condition == Lit::TRUE { then } else { otherwise };
        }
        let mut merged = Symbolic::new(then.base.clone());
        let cells: Vec<Number> = then.written.keys().chain(otherwise.written.keys()).copied().collect();
        for cell in cells {
            let both = then.written.contains_key(&cell) && otherwise.written.contains_key(&cell);
            if merged.written.contains_key(&cell) || (self.layout.places[cell].hidden && !both) {
                continue;
            }
            let word = self.dag.select(condition, then.known(cell), otherwise.known(cell));
            merged.set(cell, word);
        }
        merged
    }

    /// How many processes are alive.
    pub fn count(&self, state: &Symbolic) -> Word {
        self.plain(state, self.layout.count)
    }

    /// There is a process in that slot.
    pub fn alive(&mut self, state: &Symbolic, slot: usize) -> Lit {
        let count = self.count(state);
        self.dag.less(&Word::constant(slot as i128), &count)
    }

    /// What is in the slot is of that type.
    pub fn is_of(&mut self, state: &Symbolic, slot: usize, of: ProcessId) -> Lit {
        let room = &self.layout.slots[slot];
        let Some(index) = room.types.iter().position(|other| *other == of) else { return Lit::FALSE };
        let cell = self.plain(state, room.of);
        self.dag.equals(&cell, index as i128)
    }

    /// There is a process of that type in the slot.
    pub fn lives_as(&mut self, state: &Symbolic, slot: usize, of: ProcessId) -> Lit {
        let is_of = self.is_of(state, slot, of);
        if is_of == Lit::FALSE {
            return Lit::FALSE;
        }
        let alive = self.alive(state, slot);
        self.dag.and(alive, is_of)
    }

    /// The process in the slot stands at that location, whatever its type is.
    pub fn stands(&mut self, state: &Symbolic, slot: usize, location: usize) -> Lit {
        let cell = self.plain(state, self.layout.slots[slot].location);
        self.dag.equals(&cell, location as i128)
    }

    /// The channels that the handle may mean, and where it means none.
    pub fn candidates(&mut self, state: &Symbolic, handle: &Word) -> (Vec<Candidate>, Lit) {
        let mut out = Vec::new();
        let mut some = Vec::new();
        for number in 0..self.layout.queues.len() {
            let same = self.dag.equals(handle, number as i128 + 1);
            if same == Lit::FALSE {
                continue;
            }
            let queue = &self.layout.queues[number];
            let exists = match queue.owner {
                Some(slot) => self.alive(state, slot),
                None => Lit::TRUE,
            };
            let meant = self.dag.and(same, exists);
            some.push(meant);
            for (of, kind) in &queue.kinds {
                let is_of = match (of, queue.owner) {
                    (Some(of), Some(slot)) => self.is_of(state, slot, *of),
                    _ => Lit::TRUE,
                };
                let when = self.dag.and(meant, is_of);
                if when != Lit::FALSE {
                    out.push(Candidate { queue: number, kind: *kind, when });
                }
            }
        }
        (out, !self.dag.any(&some))
    }
}
