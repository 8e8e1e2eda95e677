//! Binary decision diagrams, made for sets of states: the variables come in pairs, a bit of the state now and the same
//! bit in the next state, and the image of a set under a relation is one operation.
//!
//! Edges carry a complement bit, so negation is free. Nodes lie in one flat table that grows with need; what no handle
//! reaches is collected as garbage between operations. An operation ends early when the table is full or somebody says so, and
//! then says [`SetError`]. Variables can be moved ([`Diagrams::sift`]), pairs staying together.
//!
//! Why not a library: the image without a rename and with implicit frames, saturation on top of it, sifting in pairs, a
//! table that starts small and a limit that holds are the parts that decide here, and none of the packages has them.

mod core;
mod levels;
mod operations;
mod order;
mod portable;
mod relations;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use ample_budget::Budget;
use num_bigint::BigUint;

pub use self::core::NODE_BYTES;
use self::core::{Core, FALSE, TRUE};
use self::relations::Event;
pub use crate::error::{Maybe, SetError};
pub use crate::table::Size;

/// A table of nodes that all diagrams made from it share.
#[derive(Clone)]
pub struct Diagrams {
    core: Rc<RefCell<Core>>,
}

/// A Boolean function. As long as it is kept, so are its nodes.
pub struct Bdd {
    core: Rc<RefCell<Core>>,
    slot: u32,
}

/// A set of pairs of variables: those that a relation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written(u32);

/// A list of relations under which sets are completed: what was found for one set helps with the next.
#[derive(Clone, Debug)]
pub struct Completion {
    relations: Vec<(Bdd, Written)>,
    run: u32,
}

impl Diagrams {
    /// A table for that many pairs of variables, of at most so many nodes; operations ask the budget.
    pub fn new(pairs: u32, max_nodes: usize, budget: Budget) -> Diagrams {
        Diagrams { core: Rc::new(RefCell::new(Core::new(pairs, max_nodes, budget))) }
    }

    /// Puts the pairs into that order, from the root down. Only before the first node is made.
    pub fn set_order(&self, order: &[u32]) {
        self.core.borrow_mut().set_order(order);
    }

    /// The tables have to do with the room for so many nodes, of [`NODE_BYTES`] each.
    pub fn make_room_for(&self, nodes: usize) {
        self.core.borrow_mut().make_room_for(nodes);
    }

    /// What operations may take.
    pub fn budget(&self) -> Budget {
        self.core.borrow().table.budget.clone()
    }

    /// From now on operations ask that one.
    pub fn set_budget(&self, budget: Budget) {
        self.core.borrow_mut().table.budget = budget;
    }

    /// At most so many nodes from now on.
    pub fn set_max_nodes(&self, max_nodes: usize) {
        self.core.borrow_mut().set_max_nodes(max_nodes);
    }

    /// The pairs in their order, from the root down.
    pub fn order(&self) -> Vec<u32> {
        self.core.borrow().order.clone()
    }

    /// The pair at a position of the order.
    pub fn pair_at(&self, position: usize) -> Option<u32> {
        self.core.borrow().order.get(position).copied()
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u32 {
        self.core.borrow().order.len() as u32
    }

    /// Moves variables when the table has grown much.
    pub fn reorder_when_large(&self, yes: bool) {
        self.core.borrow_mut().reorders = yes;
    }

    /// Moves variables, and collects garbage, also in the midst of an operation, which is then begun again: as soon as more
    /// than so many nodes are in use, and whenever their number has doubled.
    pub fn reorder_early(&self, nodes: usize) {
        self.core.borrow_mut().reorder_early(nodes);
    }

    /// Where variables are moved early, garbage is collected earlier still: when there are four times as many nodes as so many,
    /// or as were left the last time.
    pub fn collect_early(&self, nodes: usize) {
        self.core.borrow_mut().collect_early(nodes);
    }

    /// Tries all places for all pairs, one after the other, and leaves each where the diagrams are smallest.
    pub fn sift(&self) -> Maybe<()> {
        self.core.borrow_mut().sift()
    }

    /// The constant.
    pub fn constant(&self, value: bool) -> Bdd {
        self.keep(if value { TRUE } else { FALSE })
    }

    /// The bit of that pair, now.
    pub fn now(&self, pair: u32) -> Maybe<Bdd> {
        self.literal(pair, 0)
    }

    /// The bit of that pair in the next state.
    pub fn next(&self, pair: u32) -> Maybe<Bdd> {
        self.literal(pair, 1)
    }

    fn literal(&self, pair: u32, next: u32) -> Maybe<Bdd> {
        perform(&self.core, |core| core.make(core.level_of[pair as usize] * 2 + next, FALSE, TRUE))
    }

    /// More pairs, below all others. The first of them.
    pub fn add_pairs(&self, count: u32) -> u32 {
        self.core.borrow_mut().add_pairs(count)
    }

    /// The set of pairs that relations write.
    pub fn written(&self, pairs: &[u32]) -> Written {
        Written(self.core.borrow_mut().add_written(pairs))
    }

    /// For [`Bdd::completed`].
    pub fn completion(&self, relations: Vec<(Bdd, Written)>) -> Completion {
        Completion { relations, run: self.core.borrow_mut().new_run() }
    }

    /// The conjunction of the bits of these pairs, now: for [`Bdd::exists`].
    pub fn cube(&self, pairs: &[u32]) -> Maybe<Bdd> {
        let mut all = self.constant(true);
        for pair in pairs {
            all = all.and(&self.now(*pair)?)?;
        }
        Ok(all)
    }

    /// The conjunction of these bits, now or in the next state: for [`Bdd::and_exists`].
    pub fn cube_of(&self, literals: &[(u32, bool)]) -> Maybe<Bdd> {
        perform(&self.core, |core| {
            let level = |(pair, is_next): &(u32, bool)| core.level_of[*pair as usize] * 2 + u32::from(*is_next);
            let mut levels: Vec<u32> = literals.iter().map(level).collect();
            levels.sort_unstable();
            levels.dedup();
            levels.into_iter().rev().try_fold(TRUE, |cube, level| core.make(level, FALSE, cube))
        })
    }

    /// The conjunction of bits, now or in the next state, that have these values.
    pub fn minterm(&self, literals: &[((u32, bool), bool)]) -> Maybe<Bdd> {
        perform(&self.core, |core| {
            let level = |(pair, is_next): (u32, bool)| core.level_of[pair as usize] * 2 + u32::from(is_next);
            let mut levels: Vec<(u32, bool)> = literals.iter().map(|(bit, value)| (level(*bit), *value)).collect();
            levels.sort_unstable();
            levels.dedup();
            levels.into_iter().rev().try_fold(TRUE, |cube, (level, value)| {
                let (lo, hi) = if value { (FALSE, cube) } else { (cube, FALSE) };
                core.make(level, lo, hi)
            })
        })
    }

    /// How large the table is and was.
    pub fn size(&self) -> Size {
        self.core.borrow().size()
    }

    fn keep(&self, edge: u32) -> Bdd {
        let slot = self.core.borrow_mut().keep(edge);
        Bdd { core: Rc::clone(&self.core), slot }
    }
}

/// Performs an operation of the core; once more after making room if the table was full.
fn perform(shared: &Rc<RefCell<Core>>, operation: impl Fn(&mut Core) -> Maybe<u32>) -> Maybe<Bdd> {
    let slot = {
        let mut core = shared.borrow_mut();
        core.tidy()?;
        let edge = loop {
            match operation(&mut core) {
                Err(SetError::Memory) if core.is_limited_early() => core.make_way()?,
                Err(SetError::Memory) => {
                    core.collect_full()?;
                    break operation(&mut core)?;
                }
                other => break other?,
            }
        };
        core.keep(edge)
    };
    Ok(Bdd { core: Rc::clone(shared), slot })
}

impl fmt::Debug for Diagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagrams").field("size", &self.size()).finish()
    }
}

impl Clone for Bdd {
    fn clone(&self) -> Bdd {
        self.wrap(self.edge())
    }
}

impl Drop for Bdd {
    fn drop(&mut self) {
        self.core.borrow_mut().release(self.slot);
    }
}

impl PartialEq for Bdd {
    fn eq(&self, other: &Bdd) -> bool {
        self.edge() == other.edge()
    }
}

impl Eq for Bdd {}

impl fmt::Debug for Bdd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bdd({})", self.edge())
    }
}

impl Bdd {
    fn edge(&self) -> u32 {
        self.core.borrow().kept[self.slot as usize]
    }

    fn wrap(&self, edge: u32) -> Bdd {
        let slot = self.core.borrow_mut().keep(edge);
        Bdd { core: Rc::clone(&self.core), slot }
    }

    fn run(&self, operation: impl Fn(&mut Core) -> Maybe<u32>) -> Maybe<Bdd> {
        perform(&self.core, operation)
    }

    /// Everything.
    pub fn is_true(&self) -> bool {
        self.edge() == TRUE
    }

    /// Nothing.
    pub fn is_false(&self) -> bool {
        self.edge() == FALSE
    }

    /// The complement.
    #[must_use]
    pub fn not(&self) -> Bdd {
        self.wrap(self.edge() ^ 1)
    }

    /// The intersection.
    pub fn and(&self, other: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.and(core.kept[self.slot as usize], core.kept[other.slot as usize]))
    }

    /// The union.
    pub fn or(&self, other: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.or(core.kept[self.slot as usize], core.kept[other.slot as usize]))
    }

    /// Exactly one of the two.
    pub fn xor(&self, other: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.xor(core.kept[self.slot as usize], core.kept[other.slot as usize]))
    }

    /// Both or none.
    pub fn iff(&self, other: &Bdd) -> Maybe<Bdd> {
        Ok(self.xor(other)?.not())
    }

    /// What is here and not there.
    pub fn minus(&self, other: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.and(core.kept[self.slot as usize], core.kept[other.slot as usize] ^ 1))
    }

    /// `then` where this holds, `otherwise` where not.
    pub fn ite(&self, then: &Bdd, otherwise: &Bdd) -> Maybe<Bdd> {
        let both = self.and(then)?;
        both.or(&otherwise.minus(self)?)
    }

    /// Nothing is in both. Makes no nodes.
    pub fn is_disjoint(&self, other: &Bdd) -> Maybe<bool> {
        let mut core = self.core.borrow_mut();
        let (f, g) = (core.kept[self.slot as usize], core.kept[other.slot as usize]);
        core.is_disjoint(f, g)
    }

    /// All of this is in the other.
    pub fn is_subset(&self, other: &Bdd) -> Maybe<bool> {
        let mut core = self.core.borrow_mut();
        let (f, g) = (core.kept[self.slot as usize], core.kept[other.slot as usize]);
        core.is_disjoint(f, g ^ 1)
    }

    /// There are values of the variables of the cube with which it holds.
    pub fn exists(&self, cube: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.exists(core.kept[self.slot as usize], core.kept[cube.slot as usize]))
    }

    /// There are values of the variables of the cube with which both hold: the relational product.
    pub fn and_exists(&self, other: &Bdd, cube: &Bdd) -> Maybe<Bdd> {
        self.run(|core| {
            let kept = |bdd: &Bdd| core.kept[bdd.slot as usize];
            let (f, g, cube) = (kept(self), kept(other), kept(cube));
            core.and_exists(f, g, cube)
        })
    }

    /// Equal to this where `care` holds, and smaller if it can be.
    pub fn restrict(&self, care: &Bdd) -> Maybe<Bdd> {
        self.run(|core| core.restrict(core.kept[self.slot as usize], core.kept[care.slot as usize]))
    }

    /// The states that the relation leads to from these. What the relation does not write stays as it is.
    pub fn image(&self, relation: &Bdd, written: Written) -> Maybe<Bdd> {
        self.run(|core| core.image(core.kept[self.slot as usize], core.kept[relation.slot as usize], written.0))
    }

    /// All that the relations lead to from these, in any number of steps, by saturation: nodes are completed from the
    /// bottom up.
    pub fn saturated(&self, relations: &[(Bdd, Written)]) -> Maybe<Bdd> {
        let run = self.core.borrow_mut().new_run();
        self.saturated_in(relations, run)
    }

    /// The same, for relations that many sets are completed under.
    pub fn completed(&self, completion: &Completion) -> Maybe<Bdd> {
        self.saturated_in(&completion.relations, completion.run)
    }

    fn saturated_in(&self, relations: &[(Bdd, Written)], run: u32) -> Maybe<Bdd> {
        let attempt = || self.saturated_once(relations, run);
        loop {
            match attempt() {
                Err(SetError::Reorder) => self.core.borrow_mut().reorder()?,
                other => return other,
            }
        }
    }

    fn saturated_once(&self, relations: &[(Bdd, Written)], run: u32) -> Maybe<Bdd> {
        self.run(|core| {
            let event = |(relation, written): &(Bdd, Written)| Event {
                relation: relation.slot,
                written: written.0,
                top: core.top(core.kept[relation.slot as usize], written.0),
            };
            let mut events: Vec<Event> = relations.iter().map(event).collect();
            events.sort_by_key(|event| event.top);
            core.saturate(core.kept[self.slot as usize], &events, 0, run)
        })
    }

    /// The states from which the relation leads to these.
    pub fn preimage(&self, relation: &Bdd, written: Written) -> Maybe<Bdd> {
        self.run(|core| core.preimage(core.kept[self.slot as usize], core.kept[relation.slot as usize], written.0))
    }

    /// The states of a set from which the relation leads to these.
    pub fn preimage_within(&self, relation: &Bdd, written: Written, within: &Bdd) -> Maybe<Bdd> {
        self.run(|core| {
            let kept = |bdd: &Bdd| core.kept[bdd.slot as usize];
            let (set, relation, within) = (kept(self), kept(relation), kept(within));
            core.preimage_within(set, relation, within, written.0)
        })
    }

    /// The same of the next state: every bit replaced by its partner.
    pub fn primed(&self) -> Maybe<Bdd> {
        self.run(|core| core.primed(core.kept[self.slot as usize]))
    }

    /// The same of the state now, for a function of the next one.
    pub fn unprimed(&self) -> Maybe<Bdd> {
        self.run(|core| core.unprimed(core.kept[self.slot as usize]))
    }

    /// How many nodes it has.
    pub fn nodes(&self) -> usize {
        self.core.borrow().nodes_of(&[self.edge()])
    }

    /// How many nodes these have together.
    pub fn nodes_of_all<'b>(all: impl IntoIterator<Item = &'b Bdd>) -> usize {
        let all: Vec<&Bdd> = all.into_iter().collect();
        let edges: Vec<u32> = all.iter().map(|bdd| bdd.edge()).collect();
        all.first().map_or(0, |bdd| bdd.core.borrow().nodes_of(&edges))
    }

    /// How many states, over all pairs, are in the set.
    pub fn count(&self) -> BigUint {
        self.core.borrow().count(self.edge())
    }

    /// The value for these values of the bits, now.
    pub fn contains(&self, state: &[bool]) -> bool {
        self.core.borrow().evaluate(self.edge(), &|pair, is_next| !is_next && state[pair as usize])
    }

    /// The pairs of whose bits it depends, now or next, sorted.
    pub fn support(&self) -> Vec<u32> {
        self.core.borrow().support(self.edge())
    }

    /// The bits that it depends on: their pairs, and whether they are those of the next state. From the root down.
    pub fn literals(&self) -> Vec<(u32, bool)> {
        self.core.borrow().literals(self.edge())
    }

    /// One of the states: of those that there are the one with the smallest bits, in the order of the variables.
    pub fn pick(&self) -> Option<Vec<bool>> {
        self.core.borrow().pick(self.edge())
    }

    /// Values of the bits now, and of those of the next state, with which it holds.
    pub fn pick_step(&self) -> Option<[Vec<bool>; 2]> {
        self.core.borrow().pick_step(self.edge())
    }

    /// The same, with `coin` for values that there is a choice of.
    pub fn pick_step_with(&self, coin: &mut dyn FnMut() -> bool) -> Option<[Vec<bool>; 2]> {
        self.core.borrow().pick_step_with(self.edge(), coin)
    }

    /// The set with this state alone. Pairs beyond its end are free.
    pub fn only(&self, state: &[bool]) -> Maybe<Bdd> {
        self.run(|core| core.only(state))
    }
}

#[cfg(test)]
mod tests;
