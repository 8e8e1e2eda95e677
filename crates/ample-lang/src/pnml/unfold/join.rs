//! Joins: the bindings of a transition under which the colours that it takes are there.

use std::collections::{HashMap, HashSet};

use super::super::colours::{Compared, Comparison, Guard, Part};
use super::{Binding, Label, MAX_TRANSITIONS, decoded, encoded, value_of};
use crate::watch::Watch;

/// The colours of a place, with indices over some of their components.
#[derive(Debug)]
pub struct Table {
    sizes: Vec<u32>,
    values: HashSet<u64>,
    indices: Vec<Index>,
}

/// The colours by the components that are known when they are looked for.
#[derive(Debug)]
struct Index {
    known: Vec<usize>,
    values: HashMap<u64, Vec<u64>>,
}

impl Table {
    pub fn new(sizes: &[u32]) -> Table {
        Table { sizes: sizes.to_vec(), values: HashSet::new(), indices: Vec::new() }
    }

    /// All colours, in order.
    pub fn values(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.values.iter().copied().collect();
        values.sort_unstable();
        values
    }

    /// Adds a colour that is not there.
    pub fn insert(&mut self, value: u64) {
        self.values.insert(value);
        let parts = decoded(value, &self.sizes);
        for index in &mut self.indices {
            let key = key(&self.sizes, &index.known, &|at| parts[at]);
            index.values.entry(key).or_default().push(value);
        }
    }

    /// The index over these components. To be called while the table is empty.
    fn index(&mut self, known: Vec<usize>) -> usize {
        match self.indices.iter().position(|index| index.known == known) {
            Some(number) => number,
            None => {
                self.indices.push(Index { known, values: HashMap::new() });
                self.indices.len() - 1
            }
        }
    }
}

fn key(sizes: &[u32], known: &[usize], part: &dyn Fn(usize) -> u32) -> u64 {
    known.iter().fold(0, |code, at| code * u64::from(sizes[*at]) + u64::from(part(*at)))
}

/// A colour that is taken, as a term with variables.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub place: usize,
    parts: Vec<Part>,
}

/// The single colours that arcs take. An arc that takes all colours of a sort, or subtracts some, has none: whether its
/// colours are there is looked at in the end.
pub fn patterns(takes: &[Label]) -> Vec<Pattern> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for label in takes.iter().filter(|label| label.bag.iter().all(|summand| summand.count > 0)) {
        for summand in &label.bag {
            let is_single = !summand.parts.iter().any(|part| matches!(part, Part::All(_)));
            let is_new = !patterns.iter().any(|one| one.place == label.place && one.parts == summand.parts);
            if is_single && is_new {
                patterns.push(Pattern { place: label.place, parts: summand.parts.clone() });
            }
        }
    }
    patterns
}

/// How slots get values.
#[derive(Debug)]
enum How {
    /// From the colour that the join begins with.
    Given(Pattern),
    /// From the colours of a place, looked up by an index.
    Match(Pattern, usize),
    /// From a part that has a value: less the shift, in a circle of that size.
    Assign { slot: usize, from: Part, shift: u32, size: u32 },
    /// Each value below a size.
    Each { slot: usize, size: u32 },
    /// There is nothing to bind.
    Nothing,
}

/// A step of a join: gives slots a value, then looks at what depends on no others.
#[derive(Debug)]
struct Step {
    how: How,
    guards: Vec<usize>,
    contains: Vec<Pattern>,
}

/// A join.
#[derive(Debug)]
pub struct Plan {
    pub transition: usize,
    slots: usize,
    steps: Vec<Step>,
}

/// What is still to be done while a plan is made.
struct Open<'a> {
    bound: Vec<bool>,
    guards: Vec<(usize, &'a Guard)>,
    patterns: Vec<Pattern>,
}

impl Plan {
    /// The plan that begins with the pattern of that number, or from nothing.
    pub fn new(
        transition: usize,
        sizes: &[u32],
        guards: &[Guard],
        patterns: &[Pattern],
        first: Option<usize>,
        tables: &mut [Table],
    ) -> Plan {
        let mut open = Open {
            bound: vec![false; sizes.len()],
            guards: guards.iter().enumerate().collect(),
            patterns: patterns.to_vec(),
        };
        let begin = match first {
            Some(first) => How::Given(open.patterns.swap_remove(first)),
            None => How::Nothing,
        };
        let mut steps = Vec::new();
        let mut next = Some(begin);
        while let Some(how) = next {
            steps.push(open.step(how));
            next = open.next(sizes, tables);
        }
        Plan { transition, slots: sizes.len(), steps }
    }

    /// Adds the bindings to `found`. False if there are too many, more work to be done than is left, or the budget is
    /// exhausted.
    pub fn run(
        &self,
        tables: &[Table],
        guards: &[Guard],
        value: Option<u64>,
        work: &mut u64,
        watch: &Watch<'_>,
        found: &mut Vec<Binding>,
    ) -> bool {
        let mut run = Run { tables, guards, value, work, watch, found, binding: vec![UNBOUND; self.slots] };
        run.step(&self.steps)
    }
}

impl Open<'_> {
    /// A step, with all that can be looked at after it.
    fn step(&mut self, how: How) -> Step {
        match &how {
            How::Given(pattern) | How::Match(pattern, _) => {
                slots(&pattern.parts).for_each(|slot| self.bound[slot] = true);
            }
            How::Assign { slot, .. } | How::Each { slot, .. } => self.bound[*slot] = true,
            How::Nothing => {}
        }
        let bound = &self.bound;
        let (now, later) = self.guards.drain(..).partition(|(_, guard)| is_known(guard, bound));
        self.guards = later;
        let now: Vec<(usize, &Guard)> = now;
        let is_ready = |pattern: &Pattern| slots(&pattern.parts).all(|slot| bound[slot]);
        let (contains, later) = self.patterns.drain(..).partition(is_ready);
        self.patterns = later;
        Step { how, guards: now.into_iter().map(|(number, _)| number).collect(), contains }
    }

    fn next(&mut self, sizes: &[u32], tables: &mut [Table]) -> Option<How> {
        let slot = (0..sizes.len()).filter(|slot| !self.bound[*slot]).min_by_key(|slot| sizes[*slot])?;
        if let Some(assign) = self.guards.iter().find_map(|(_, guard)| self.assignment(guard)) {
            return Some(assign);
        }
        let unknown = |pattern: &Pattern| slots(&pattern.parts).filter(|slot| !self.bound[*slot]).count();
        let best = (0..self.patterns.len()).min_by_key(|at| unknown(&self.patterns[*at]));
        let Some(best) = best else { return Some(How::Each { slot, size: sizes[slot] }) };
        let pattern = self.patterns.swap_remove(best);
        let is_known = |part: &Part| match part {
            Part::Slot { slot, .. } => self.bound[*slot],
            Part::Constant(_) | Part::All(_) => true,
        };
        let known = (0..pattern.parts.len()).filter(|at| is_known(&pattern.parts[*at])).collect();
        let index = tables[pattern.place].index(known);
        Some(How::Match(pattern, index))
    }

    /// The value that an equation gives to a slot.
    fn assignment(&self, guard: &Guard) -> Option<How> {
        let Guard::Compare(Comparison::Equal, left, right) = guard else { return None };
        let mut sides = left.iter().zip(right).flat_map(|(left, right)| [(left, right), (right, left)]);
        sides.find_map(|(unknown, known)| {
            let Part::Slot { slot, shift, size } = unknown.part else { return None };
            let is_plain = unknown.through.is_none() && known.through.is_none();
            let is_known = slots(&[known.part]).all(|slot| self.bound[slot]);
            let assigns = is_plain && is_known && !self.bound[slot];
            assigns.then_some(How::Assign { slot, from: known.part, shift, size })
        })
    }
}

/// A slot without a value.
const UNBOUND: u32 = u32::MAX;

fn slots(parts: &[Part]) -> impl Iterator<Item = usize> {
    parts.iter().filter_map(|part| match part {
        Part::Slot { slot, .. } => Some(*slot),
        Part::Constant(_) | Part::All(_) => None,
    })
}

/// All slots of a condition have a value.
fn is_known(guard: &Guard, bound: &[bool]) -> bool {
    match guard {
        Guard::Const(_) => true,
        Guard::Not(inner) => is_known(inner, bound),
        Guard::And(parts) | Guard::Or(parts) => parts.iter().all(|part| is_known(part, bound)),
        Guard::Compare(_, left, right) => {
            left.iter().chain(right).all(|one| slots(&[one.part]).all(|slot| bound[slot]))
        }
    }
}

fn holds(guard: &Guard, binding: &[u32]) -> bool {
    match guard {
        Guard::Const(value) => *value,
        Guard::Not(inner) => !holds(inner, binding),
        Guard::And(parts) => parts.iter().all(|part| holds(part, binding)),
        Guard::Or(parts) => parts.iter().any(|part| holds(part, binding)),
        Guard::Compare(comparison, left, right) => {
            let value = |one: &Compared| {
                let value = value_of(one.part, binding).unwrap_or(0);
                one.through.as_ref().map_or(value, |table| table[value as usize])
            };
            let order = left.iter().map(value).cmp(right.iter().map(value));
            match comparison {
                Comparison::Equal => order.is_eq(),
                Comparison::NotEqual => order.is_ne(),
                Comparison::Less => order.is_lt(),
                Comparison::LessEqual => order.is_le(),
                Comparison::Greater => order.is_gt(),
                Comparison::GreaterEqual => order.is_ge(),
            }
        }
    }
}

struct Run<'a> {
    tables: &'a [Table],
    guards: &'a [Guard],
    value: Option<u64>,
    work: &'a mut u64,
    watch: &'a Watch<'a>,
    found: &'a mut Vec<Binding>,
    binding: Vec<u32>,
}

impl Run<'_> {
    fn step(&mut self, steps: &[Step]) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            self.found.push(self.binding.clone().into_boxed_slice());
            return self.found.len() <= MAX_TRANSITIONS;
        };
        match &step.how {
            How::Nothing => self.look(step, rest),
            How::Given(pattern) => match self.value {
                Some(value) => self.candidate(pattern, value, step, rest),
                None => true,
            },
            How::Match(pattern, index) => self.matches(pattern, *index, step, rest),
            How::Assign { slot, from, shift, size } => {
                let value = value_of(*from, &self.binding).unwrap_or(0);
                self.binding[*slot] = back(value, *shift, *size);
                let enough = self.look(step, rest);
                self.binding[*slot] = UNBOUND;
                enough
            }
            How::Each { slot, size } => {
                for value in 0..*size {
                    self.binding[*slot] = value;
                    if !self.look(step, rest) {
                        return false;
                    }
                }
                self.binding[*slot] = UNBOUND;
                true
            }
        }
    }

    fn matches(&mut self, pattern: &Pattern, index: usize, step: &Step, rest: &[Step]) -> bool {
        let table = &self.tables[pattern.place];
        let index = &table.indices[index];
        let part = |at: usize| value_of(pattern.parts[at], &self.binding).unwrap_or(0);
        let Some(values) = index.values.get(&key(&table.sizes, &index.known, &part)) else { return true };
        values.iter().all(|value| self.candidate(pattern, *value, step, rest))
    }

    /// Binds slots so that the pattern is the colour, if possible, and goes on.
    fn candidate(&mut self, pattern: &Pattern, value: u64, step: &Step, rest: &[Step]) -> bool {
        let parts = decoded(value, &self.tables[pattern.place].sizes);
        let mut bound = Vec::new();
        let mut fits = true;
        for (part, value) in pattern.parts.iter().zip(parts) {
            match part {
                Part::Slot { slot, shift, size } if self.binding[*slot] == UNBOUND => {
                    self.binding[*slot] = back(value, *shift, *size);
                    bound.push(*slot);
                }
                part => fits &= value_of(*part, &self.binding) == Some(value),
            }
        }
        let enough = !fits || self.look(step, rest);
        bound.into_iter().for_each(|slot| self.binding[slot] = UNBOUND);
        enough
    }

    /// Looks at what is known now, and goes on.
    fn look(&mut self, step: &Step, rest: &[Step]) -> bool {
        let Some(left) = self.work.checked_sub(1) else { return false };
        *self.work = left;
        if self.watch.step().is_err() {
            return false;
        }
        let is_there = |pattern: &Pattern| {
            let table = &self.tables[pattern.place];
            let parts = pattern.parts.iter().map(|part| value_of(*part, &self.binding).unwrap_or(0));
            table.values.contains(&encoded(parts, &table.sizes))
        };
        let goes_on = step.guards.iter().all(|guard| holds(&self.guards[*guard], &self.binding))
            && step.contains.iter().all(is_there);
        !goes_on || self.step(rest)
    }
}

/// The value that is another one after a shift.
fn back(value: u32, shift: u32, size: u32) -> u32 {
    ((u64::from(value) + u64::from(size) - u64::from(shift)) % u64::from(size)) as u32
}
