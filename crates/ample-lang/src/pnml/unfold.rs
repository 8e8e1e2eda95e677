//! A symmetric net to one without colours.
//!
//! Which colours may lie on a place is found out together with the bindings under which transitions may fire: starting
//! from the initial marking, every colour that comes to a place is matched with the arcs that take from there, the
//! other arcs are looked up among the colours that are there already, and what the transition adds comes to its places.
//! Tokens are never taken away, so that all that can happen is found, and some more. This is the evaluation of a
//! Datalog program; as there, each step of a join uses an index over the components that are known by then, and a
//! condition is looked at as soon as its variables have values.
//!
//! What is never found has no place and no transition in the result: such places would be empty for ever, such
//! transitions dead.

mod join;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use ample_model::{EdgeId, VariableId};

use super::colours::{Colours, Guard, Part, Simple, Summand};
use super::document::{Arc, Direction, Document, MAX_TOKENS};
use super::lower::{Flat, FlatPlace, FlatTransition};
use super::xml::Read;
use super::{MAX_ERRORS, Names};
use crate::diagnostic::Diagnostic;
use crate::watch::Watch;
use join::{Plan, Table};

/// At most so many places in the result.
const MAX_PLACES: usize = 2_000_000;
/// At most so many transitions in the result.
const MAX_TRANSITIONS: usize = 2_000_000;
/// At most so many arcs in the result.
const MAX_ARCS: usize = 8_000_000;
/// At most so many slots in a transition.
const MAX_SLOTS: usize = 200;
/// At most so many values of one term.
const MAX_VALUES: usize = 4_000_000;
/// At most so many values are looked at.
const MAX_WORK: u64 = 100_000_000;

/// The net without colours, and what became of the nodes. `None` if there are errors.
pub fn unfold(document: &Document<'_>, watch: &Watch<'_>, errors: &mut Vec<Diagnostic>) -> Option<(Flat, Names)> {
    let mut net = match Coloured::read(document, watch, errors) {
        Ok(net) if errors.is_empty() => net,
        Ok(_) => return None,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let unfolded = net.saturate().and_then(|bindings| net.flat(document, bindings));
    unfolded.map_err(|error| errors.push(error)).ok()
}

/// A place with its sort.
#[derive(Debug)]
struct Place {
    sort: Vec<Simple>,
    /// The sizes of its simple sorts.
    sizes: Vec<u32>,
    /// The first tokens.
    tokens: BTreeMap<u64, u64>,
}

/// What an arc takes or adds.
#[derive(Debug)]
struct Label {
    place: usize,
    bag: Vec<Summand>,
    span: ample_model::Span,
}

/// A transition whose slots are numbered on their own.
#[derive(Debug)]
struct Transition {
    /// The simple sort of every slot.
    slots: Vec<Simple>,
    /// All of them must hold.
    guards: Vec<Guard>,
    takes: Vec<Label>,
    adds: Vec<Label>,
}

#[derive(Debug)]
struct Coloured<'w> {
    watch: &'w Watch<'w>,
    colours: Colours,
    places: Vec<Place>,
    transitions: Vec<Transition>,
    tables: Vec<Table>,
    /// What may still be looked at.
    work: u64,
    /// How many bindings were found.
    bindings: usize,
}

/// Values of the slots of a transition.
type Binding = Box<[u32]>;

impl<'w> Coloured<'w> {
    fn read(document: &Document<'_>, watch: &'w Watch<'w>, errors: &mut Vec<Diagnostic>) -> Read<Coloured<'w>> {
        let colours = Colours::read(&document.declarations)?;
        let mut net = Coloured {
            watch,
            colours,
            places: Vec::new(),
            transitions: Vec::new(),
            tables: Vec::new(),
            work: MAX_WORK,
            bindings: 0,
        };
        for place in &document.places {
            net.place(place).or_else(|error| collect(errors, error))?;
        }
        if !errors.is_empty() {
            return Ok(net);
        }
        let mut arcs: Vec<Vec<&Arc<'_>>> = document.transitions.iter().map(|_| Vec::new()).collect();
        for arc in &document.arcs {
            arcs[arc.transition].push(arc);
        }
        for (transition, arcs) in document.transitions.iter().zip(arcs) {
            net.transition(document, transition, &arcs).or_else(|error| collect(errors, error))?;
        }
        net.tables = net.places.iter().map(|place| Table::new(&place.sizes)).collect();
        Ok(net)
    }

    fn place(&mut self, place: &super::document::Place<'_>) -> Read<()> {
        let Some(written) = &place.colours else { return Ok(()) };
        let sort = self.colours.place_sort(&written.sort)?;
        let sizes: Vec<u32> = sort.iter().map(|simple| self.colours.simple[*simple].size).collect();
        if sizes.iter().try_fold(1u64, |all, size| all.checked_mul(u64::from(*size))).is_none() {
            return Err(written.sort.error("this sort has more than 2^64 values"));
        }
        let mut tokens = BTreeMap::new();
        if let Some(marking) = &written.marking {
            let bag = self.colours.bag(marking, &sort)?;
            let is_open = |part: &Part| matches!(part, Part::Slot { .. });
            if bag.iter().flat_map(|summand| &summand.parts).any(is_open) {
                return Err(marking.error("a variable in an initial marking"));
            }
            tokens = expanded(&bag, &sizes, &[], marking.span, self.watch)?;
        }
        self.places.push(Place { sort, sizes, tokens });
        Ok(())
    }

    fn transition(
        &mut self,
        document: &Document<'_>,
        transition: &super::document::Transition<'_>,
        arcs: &[&Arc<'_>],
    ) -> Read<()> {
        let mut guards = Vec::new();
        if let Some(condition) = &transition.condition {
            conjuncts(self.colours.guard(condition)?, &mut guards);
        }
        let (mut takes, mut adds) = (Vec::new(), Vec::new());
        for arc in arcs {
            let label = self.label(document, arc)?;
            match arc.direction {
                Direction::Input => takes.push(label),
                Direction::Output => adds.push(label),
            }
        }
        let slots = renumber(&mut guards, &mut takes, &mut adds);
        if slots.len() > MAX_SLOTS {
            let message = format!("the transition `{}` has more than {MAX_SLOTS} variables", transition.id);
            return Err(Diagnostic::error(transition.span, message));
        }
        let slots = slots.into_iter().map(|slot| self.colours.slots[slot]).collect();
        self.transitions.push(Transition { slots, guards, takes, adds });
        Ok(())
    }

    fn label(&mut self, document: &Document<'_>, arc: &Arc<'_>) -> Read<Label> {
        let sort = self.places[arc.place].sort.clone();
        let bag = match &arc.inscription {
            Some(inscription) => self.colours.bag(inscription, &sort)?,
            None if self.places[arc.place].sizes.iter().all(|size| *size == 1) => {
                vec![Summand { count: 1, parts: vec![Part::Constant(0); sort.len()] }]
            }
            None => {
                let message = format!("an arc without inscription at `{}`", document.places[arc.place].id);
                let error = Diagnostic::error(arc.span, message);
                return Err(error.with_help("only where tokens are all alike is it clear what it means"));
            }
        };
        Ok(Label { place: arc.place, bag, span: arc.span })
    }

    /// Finds all colours of places, and all bindings of transitions.
    fn saturate(&mut self) -> Read<Vec<HashSet<Binding>>> {
        let mut plans = self.plans();
        let mut bindings: Vec<HashSet<Binding>> = self.transitions.iter().map(|_| HashSet::new()).collect();
        let mut queue: VecDeque<(usize, u64)> = VecDeque::new();
        for (number, place) in self.places.iter().enumerate() {
            queue.extend(place.tokens.keys().map(|value| (number, *value)));
        }
        let mut seen: HashSet<(usize, u64)> = queue.iter().copied().collect();
        let mut found = Vec::new();
        for plan in std::mem::take(&mut plans.at_first) {
            self.run(&plan, None, &mut found)?;
            self.fire(plan.transition, &mut found, &mut bindings, &mut seen, &mut queue)?;
        }
        while let Some((place, value)) = queue.pop_front() {
            self.tables[place].insert(value);
            for plan in &plans.by_place[place] {
                self.run(plan, Some(value), &mut found)?;
                self.fire(plan.transition, &mut found, &mut bindings, &mut seen, &mut queue)?;
            }
        }
        Ok(bindings)
    }

    fn plans(&mut self) -> Plans {
        let mut plans = Plans { at_first: Vec::new(), by_place: self.places.iter().map(|_| Vec::new()).collect() };
        for (number, transition) in self.transitions.iter().enumerate() {
            let patterns = join::patterns(&transition.takes);
            let sizes: Vec<u32> = transition.slots.iter().map(|slot| self.colours.simple[*slot].size).collect();
            let mut plan = |first| Plan::new(number, &sizes, &transition.guards, &patterns, first, &mut self.tables);
            if patterns.is_empty() {
                plans.at_first.push(plan(None));
            }
            for (first, pattern) in patterns.iter().enumerate() {
                plans.by_place[pattern.place].push(plan(Some(first)));
            }
        }
        plans
    }

    fn run(&mut self, plan: &Plan, value: Option<u64>, found: &mut Vec<Binding>) -> Read<()> {
        let guards = &self.transitions[plan.transition].guards;
        match plan.run(&self.tables, guards, value, &mut self.work, self.watch, found) {
            true => Ok(()),
            // It is not too large if there was no time to find out.
            false if self.watch.ended().is_some() => self.watch.step(),
            false => Err(too_large("there are too many transitions, or it takes too long to find them")),
        }
    }

    /// Adds what new bindings add.
    fn fire(
        &mut self,
        number: usize,
        found: &mut Vec<Binding>,
        bindings: &mut [HashSet<Binding>],
        seen: &mut HashSet<(usize, u64)>,
        queue: &mut VecDeque<(usize, u64)>,
    ) -> Read<()> {
        for binding in found.drain(..) {
            if bindings[number].contains(&binding) {
                continue;
            }
            for label in &self.transitions[number].adds {
                let tokens = expanded(&label.bag, &self.places[label.place].sizes, &binding, label.span, self.watch)?;
                self.work = self.work.saturating_sub(tokens.len() as u64);
                for value in tokens.into_keys() {
                    if seen.insert((label.place, value)) {
                        queue.push_back((label.place, value));
                    }
                }
            }
            bindings[number].insert(binding);
            self.bindings += 1;
            if self.bindings > MAX_TRANSITIONS || seen.len() > MAX_PLACES {
                return Err(too_large("there are too many places or transitions"));
            }
            if self.work == 0 {
                return Err(too_large("finding out which colours go where takes too long"));
            }
        }
        Ok(())
    }

    // The result.

    fn flat(&self, document: &Document<'_>, bindings: Vec<HashSet<Binding>>) -> Read<(Flat, Names)> {
        let (mut net, mut names) = (Flat::default(), Names::default());
        let mut used = HashSet::new();
        let mut numbers: Vec<HashMap<u64, u32>> = Vec::with_capacity(self.places.len());
        for (number, place) in document.places.iter().enumerate() {
            let values = self.tables[number].values();
            let first = net.places.len();
            let map = values.iter().enumerate().map(|(at, value)| (*value, (first + at) as u32)).collect();
            for value in &values {
                self.watch.step()?;
                let parts = decoded(*value, &self.places[number].sizes);
                let name = self.name(&place.id, &parts, &self.places[number].sort, &mut used);
                let tokens = self.places[number].tokens.get(value).copied().unwrap_or(0);
                net.places.push(FlatPlace { name, tokens, span: place.span });
            }
            let variables = (first..net.places.len()).map(VariableId::from).collect();
            names.places.insert(place.id.to_string(), variables);
            numbers.push(map);
        }
        used.clear();
        let mut arcs = 0;
        for ((written, coloured), bindings) in document.transitions.iter().zip(&self.transitions).zip(bindings) {
            let first = net.transitions.len();
            let mut bindings: Vec<Binding> = bindings.into_iter().collect();
            bindings.sort_unstable();
            for binding in bindings {
                self.watch.step()?;
                let (takes, adds) = (&coloured.takes, &coloured.adds);
                let Some(takes) = self.arcs(takes, &binding, &numbers)? else { continue };
                let Some(adds) = self.arcs(adds, &binding, &numbers)? else { continue };
                arcs += takes.len() + adds.len();
                let name = self.name(&written.id, &binding, &coloured.slots, &mut used);
                net.transitions.push(FlatTransition { name, takes, adds, span: written.span });
                if arcs > MAX_ARCS || net.transitions.len() > MAX_TRANSITIONS {
                    return Err(too_large("there are too many transitions and arcs"));
                }
            }
            let edges = (first..net.transitions.len()).map(EdgeId::from).collect();
            names.transitions.insert(written.id.to_string(), edges);
        }
        Ok((net, names))
    }

    /// The arcs under a binding; `None` if a colour is asked for that never lies on the place.
    fn arcs(&self, labels: &[Label], binding: &[u32], numbers: &[HashMap<u64, u32>]) -> Read<Option<Vec<(u32, u64)>>> {
        let mut arcs = Vec::new();
        for label in labels {
            let tokens = expanded(&label.bag, &self.places[label.place].sizes, binding, label.span, self.watch)?;
            for (value, count) in tokens {
                let Some(number) = numbers[label.place].get(&value) else { return Ok(None) };
                arcs.push((*number, count));
            }
        }
        super::lower::merged(&mut arcs);
        Ok(Some(arcs))
    }

    /// A name for a node with its colours that no other node has.
    fn name(&self, id: &str, values: &[u32], sorts: &[Simple], used: &mut HashSet<String>) -> String {
        let mut name = id.to_owned();
        for (value, simple) in values.iter().zip(sorts) {
            if let Some(value) = self.colours.simple[*simple].name(*value) {
                name.push('_');
                name.push_str(&value);
            }
        }
        while !used.insert(name.clone()) {
            name.push('\'');
        }
        name
    }
}

/// The joins to be done.
struct Plans {
    /// Those of transitions that need no colour.
    at_first: Vec<Plan>,
    /// Those that begin with a new colour of a place.
    by_place: Vec<Vec<Plan>>,
}

/// Keeps an error and goes on, unless there are too many.
fn collect(errors: &mut Vec<Diagnostic>, error: Diagnostic) -> Read<()> {
    if errors.len() + 1 >= MAX_ERRORS {
        return Err(error);
    }
    errors.push(error);
    Ok(())
}

fn too_large(why: &str) -> Diagnostic {
    let start = ample_model::Span { source: ample_model::SourceId(0), start: 0, end: 0 };
    let message = format!("this net is too large without colours: {why}");
    let help = format!("it may have {MAX_PLACES} places, {MAX_TRANSITIONS} transitions and {MAX_ARCS} arcs then");
    Diagnostic::error(start, message).with_help(help)
}

/// The parts of a conjunction.
fn conjuncts(guard: Guard, out: &mut Vec<Guard>) {
    match guard {
        Guard::And(parts) => parts.into_iter().for_each(|part| conjuncts(part, out)),
        guard => out.push(guard),
    }
}

/// Numbers the slots that are used from 0 on; gives the old numbers in order.
fn renumber(guards: &mut [Guard], takes: &mut [Label], adds: &mut [Label]) -> Vec<usize> {
    let mut used = std::collections::BTreeSet::new();
    let mut each = |visit: &mut dyn FnMut(&mut usize)| {
        let mut part = |part: &mut Part| {
            if let Part::Slot { slot, .. } = part {
                visit(slot);
            }
        };
        guards.iter_mut().for_each(|guard| parts_of(guard, &mut part));
        let labels = takes.iter_mut().chain(&mut *adds);
        labels.flat_map(|label| &mut label.bag).flat_map(|summand| &mut summand.parts).for_each(part);
    };
    each(&mut |slot| {
        used.insert(*slot);
    });
    let slots: Vec<usize> = used.into_iter().collect();
    each(&mut |slot| *slot = slots.binary_search(slot).unwrap_or(0));
    slots
}

/// Calls `visit` for every part in a condition.
fn parts_of(guard: &mut Guard, visit: &mut dyn FnMut(&mut Part)) {
    match guard {
        Guard::Const(_) => {}
        Guard::Not(inner) => parts_of(inner, visit),
        Guard::And(parts) | Guard::Or(parts) => parts.iter_mut().for_each(|part| parts_of(part, visit)),
        Guard::Compare(_, left, right) => left.iter_mut().chain(right).for_each(|one| visit(&mut one.part)),
    }
}

/// A value as a number: the first component counts most.
fn encoded(parts: impl Iterator<Item = u32>, sizes: &[u32]) -> u64 {
    parts.zip(sizes).fold(0, |code, (part, size)| code * u64::from(*size) + u64::from(part))
}

fn decoded(mut code: u64, sizes: &[u32]) -> Vec<u32> {
    let mut parts = vec![0; sizes.len()];
    for (part, size) in parts.iter_mut().zip(sizes).rev() {
        *part = (code % u64::from(*size)) as u32;
        code /= u64::from(*size);
    }
    parts
}

/// The value of a part under a binding; `None` for all values.
fn value_of(part: Part, binding: &[u32]) -> Option<u32> {
    match part {
        Part::Constant(value) => Some(value),
        Part::Slot { slot, shift, size } => {
            Some(((u64::from(binding[slot]) + u64::from(shift)) % u64::from(size)) as u32)
        }
        Part::All(_) => None,
    }
}

/// The tokens of a bag, each colour with its number.
fn expanded(
    bag: &[Summand],
    sizes: &[u32],
    binding: &[u32],
    span: ample_model::Span,
    watch: &Watch<'_>,
) -> Read<BTreeMap<u64, u64>> {
    let mut tokens: BTreeMap<u64, i64> = BTreeMap::new();
    let mut left = MAX_VALUES;
    for summand in bag {
        let open: Vec<usize> = (0..sizes.len()).filter(|at| matches!(summand.parts[*at], Part::All(_))).collect();
        let mut parts: Vec<u32> = summand.parts.iter().map(|part| value_of(*part, binding).unwrap_or(0)).collect();
        loop {
            watch.step()?;
            let count = tokens.entry(encoded(parts.iter().copied(), sizes)).or_default();
            *count = count.saturating_add(summand.count);
            left = left.saturating_sub(1);
            if left == 0 || tokens.len() > MAX_PLACES {
                return Err(Diagnostic::error(span, format!("more than {MAX_PLACES} colours at once")));
            }
            // Counts up.
            let Some(at) = open.iter().rev().find(|at| parts[**at] + 1 < sizes[**at]) else { break };
            parts[*at] += 1;
            open.iter().rev().take_while(|later| *later > at).for_each(|later| parts[*later] = 0);
        }
    }
    let wrong = tokens.values().find(|count| **count < 0 || count.unsigned_abs() > MAX_TOKENS);
    match wrong {
        Some(count) if *count < 0 => {
            let error = Diagnostic::error(span, "more is subtracted than is there");
            Err(error.with_help("there is a binding under which a colour would have a negative number of tokens"))
        }
        Some(_) => Err(Diagnostic::error(span, "more than 2^48 tokens are not supported")),
        None => {
            Ok(tokens.into_iter().filter(|(_, count)| *count > 0).map(|(value, count)| (value, count as u64)).collect())
        }
    }
}
