//! Stubborn sets on nets: which of the enabled transitions are enough in a marking.
//!
//! A set is closed when, of its members, a disabled one brings along all that could add the tokens it lacks in one
//! place, and an enabled one all that need tokens where it leaves fewer (A. Valmari's condition D1: what is outside can
//! wait until after a member). What more is in the set depends on what is asked:
//!
//! - *Deadlocks*: one enabled member, the key, also brings along all that could disable it (D2).
//! - *A goal*: all transitions that can bring a false part of it nearer (K. Schmidt, *Stubborn sets for model checking
//!   the EF/AG fragment of CTL*, 1999; L. Kristensen, A. Valmari, *Improved question-guided stubborn set methods for
//!   state properties*, 2000). No run to the goal can do without them, so that nothing is ignored for ever and no
//!   proviso is needed; shortest runs stay as short.
//! - *Runs*: every enabled member is a key, and none is visible unless the set is whole. A search must see to it that
//!   on each cycle somewhere everything is taken.

use std::collections::HashMap;
use std::sync::Arc;

use super::layout::Layout;
use super::relations::Relations;
use crate::net::{Condition, Net, Parts};
use ample_model::Reason;

/// What must not get lost.
#[derive(Clone, Debug)]
pub enum Aim {
    /// All deadlocks.
    Deadlocks,
    /// Some run to a marking where the condition holds, from markings where it does not.
    Goal(Condition),
    /// Runs, as far as these transitions tell them apart and not how often a state repeats.
    Runs {
        /// By transition: it may change what is looked at.
        visible: Vec<bool>,
    },
}

/// A condition with the transitions that help to make it true.
#[derive(Clone, Debug)]
enum Attractor {
    Const(bool),
    AtMost { terms: Vec<(u32, i64)>, most: i64, helpers: Arc<[u32]> },
    And(Arc<[Attractor]>),
    Or(Arc<[Attractor]>),
}

/// Makes attractors, of what conditions share only once.
struct Attractors<'r> {
    relations: &'r Relations,
    /// By sum.
    helpers: HashMap<Vec<(u32, i64)>, Arc<[u32]>>,
    /// By the address of parts.
    known: HashMap<usize, Arc<[Attractor]>>,
}

impl Attractors<'_> {
    fn of(&mut self, condition: &Condition) -> Attractor {
        match condition {
            Condition::Const(value) => Attractor::Const(*value),
            Condition::AtMost { terms, most } => {
                let helpers = self.helpers.entry(terms.clone());
                let helpers = helpers.or_insert_with(|| self.relations.helpers(condition).into()).clone();
                Attractor::AtMost { terms: terms.clone(), most: *most, helpers }
            }
            Condition::And(parts) => Attractor::And(self.all(parts)),
            Condition::Or(parts) => Attractor::Or(self.all(parts)),
        }
    }

    fn all(&mut self, parts: &Parts) -> Arc<[Attractor]> {
        if let Some(known) = self.known.get(&parts.address()) {
            return known.clone();
        }
        let all: Arc<[Attractor]> = parts.iter().map(|part| self.of(part)).collect();
        self.known.insert(parts.address(), all.clone());
        all
    }
}

impl Attractor {
    fn of(relations: &Relations, condition: &Condition) -> Attractor {
        Attractors { relations, helpers: HashMap::new(), known: HashMap::new() }.of(condition)
    }

    fn holds(&self, tokens: &impl Fn(u32) -> u64) -> bool {
        match self {
            Attractor::Const(value) => *value,
            Attractor::AtMost { terms, most, .. } => {
                let each = terms.iter().map(|(place, factor)| i128::from(tokens(*place)) * i128::from(*factor));
                each.fold(0, i128::saturating_add) <= i128::from(*most)
            }
            Attractor::And(parts) => parts.iter().all(|part| part.holds(tokens)),
            Attractor::Or(parts) => parts.iter().any(|part| part.holds(tokens)),
        }
    }

    /// How many transitions [`visit`](Attractor::visit) would name, at most.
    fn size(&self, tokens: &impl Fn(u32) -> u64) -> usize {
        match self {
            Attractor::Const(_) => 0,
            Attractor::AtMost { helpers, .. } => helpers.len(),
            Attractor::And(_) => self.cheapest(tokens).map_or(0, |part| part.size(tokens)),
            Attractor::Or(parts) => parts.iter().map(|part| part.size(tokens)).sum(),
        }
    }

    /// The false part of a conjunction that fewest transitions can make true.
    fn cheapest(&self, tokens: &impl Fn(u32) -> u64) -> Option<&Attractor> {
        let Attractor::And(parts) = self else { return None };
        parts.iter().filter(|part| !part.holds(tokens)).min_by_key(|part| part.size(tokens))
    }

    /// Names transitions of which every run to where it holds, from here where it does not, has one.
    fn visit(&self, tokens: &impl Fn(u32) -> u64, name: &mut impl FnMut(u32)) {
        match self {
            Attractor::Const(_) => {}
            Attractor::AtMost { helpers, .. } => helpers.iter().for_each(|t| name(*t)),
            Attractor::And(_) => {
                if let Some(part) = self.cheapest(tokens) {
                    part.visit(tokens, name);
                }
            }
            Attractor::Or(parts) => parts.iter().for_each(|part| part.visit(tokens, name)),
        }
    }
}

#[derive(Clone, Debug)]
enum Question {
    Deadlocks,
    Goal(Attractor),
    Runs(Vec<bool>),
}

/// Those who need tokens of a place, leave fewer there, or more.
const NEED: usize = 0;
const LOWER: usize = 1;
const RAISE: usize = 2;

/// So many enabled transitions are tried as the first member of a set.
const SEEDS: usize = 6;

/// Finds stubborn sets.
#[derive(Clone, Debug)]
pub struct Stubborn {
    relations: Relations,
    question: Question,
    /// By transition: the last set that it was a member of.
    member: Vec<u32>,
    /// By place: the last sets that all who need it, lower it or raise it were brought into. Where many meet in a place
    /// they are looked at once for a set.
    brought: [Vec<u32>; 3],
    /// By transition: the last state in which it was enabled.
    enabled: Vec<u32>,
    set: u32,
    state: u32,
    pending: Vec<u32>,
    /// The enabled members of the set.
    chosen: Vec<u32>,
    best: Vec<u32>,
    /// Where to look for a first member.
    turn: usize,
}

impl Stubborn {
    /// For a net and an aim; or why not.
    pub fn new(net: &Net, aim: &Aim) -> Result<Stubborn, Reason> {
        Stubborn::with(Relations::of(net)?, aim)
    }

    pub(super) fn with(relations: Relations, aim: &Aim) -> Result<Stubborn, Reason> {
        let question = match aim {
            Aim::Deadlocks => Question::Deadlocks,
            Aim::Goal(goal) => {
                relations.check(goal)?;
                Question::Goal(Attractor::of(&relations, goal))
            }
            Aim::Runs { visible } => {
                let mut visible = visible.clone();
                visible.resize(relations.transitions(), true);
                Question::Runs(visible)
            }
        };
        let (count, places) = (relations.transitions(), relations.places());
        Ok(Stubborn {
            relations,
            question,
            member: vec![0; count],
            brought: [0, 0, 0].map(|stamp| vec![stamp; places]),
            enabled: vec![0; count],
            set: 0,
            state: 0,
            pending: Vec::new(),
            chosen: Vec::new(),
            best: Vec::new(),
            turn: 0,
        })
    }

    /// The transitions that may change a visible place.
    pub fn visible_transitions(net: &Net, is_visible: impl Fn(u32) -> bool) -> Vec<bool> {
        net.transitions.iter().map(|t| t.effect().iter().any(|(place, _)| is_visible(*place))).collect()
    }

    /// Keeps of the enabled transitions of a marking those that are enough. For a goal, it must not hold there; if
    /// none is kept, there is no run to it.
    pub fn keep(&mut self, tokens: impl Fn(u32) -> u64, enabled: &mut Vec<u32>) {
        self.begin_state(enabled);
        match &self.question {
            Question::Goal(_) => self.attract(&tokens, enabled),
            Question::Deadlocks | Question::Runs(_) => self.smallest(&tokens, enabled),
        }
    }

    /// The same, of a packed state.
    pub(super) fn keep_packed(&mut self, layout: &Layout, state: &[u8], enabled: &mut Vec<u32>) {
        self.keep(|place| layout.cells[place as usize].get(state), enabled);
    }

    fn begin_state(&mut self, enabled: &[u32]) {
        self.state = next_stamp(self.state, &mut self.enabled);
        enabled.iter().for_each(|t| self.enabled[*t as usize] = self.state);
    }

    fn begin_set(&mut self) {
        self.set = next_stamp(self.set, &mut self.member);
        if self.set == 1 {
            self.brought.iter_mut().for_each(|stamps| stamps.fill(0));
        }
        self.pending.clear();
        self.chosen.clear();
    }

    /// A set with all that can help.
    fn attract(&mut self, tokens: &impl Fn(u32) -> u64, enabled: &mut Vec<u32>) {
        self.begin_set();
        let Question::Goal(attractor) = &self.question else { return };
        let mut seeds = std::mem::take(&mut self.best);
        seeds.clear();
        attractor.visit(tokens, &mut |t| seeds.push(t));
        seeds.iter().for_each(|t| self.insert(*t));
        self.best = seeds;
        if self.close(tokens, enabled.len(), false) {
            // In the order of the enabled ones, which is that of the net.
            enabled.retain(|t| self.member[*t as usize] == self.set);
        }
    }

    /// The smallest of some sets that begin with an enabled transition each.
    fn smallest(&mut self, tokens: &impl Fn(u32) -> u64, enabled: &mut Vec<u32>) {
        if enabled.len() < 2 {
            return;
        }
        let strong = matches!(self.question, Question::Runs(_));
        let mut best = std::mem::take(&mut self.best);
        let mut found = enabled.len();
        for turn in 0..SEEDS.min(enabled.len()) {
            let seed = enabled[(self.turn + turn) % enabled.len()];
            if self.is_visible(seed) {
                continue;
            }
            self.begin_set();
            self.insert(seed);
            self.bring_disablers(seed);
            if self.close(tokens, found, strong) && !self.chosen.iter().any(|t| self.is_visible(*t)) {
                found = self.chosen.len();
                std::mem::swap(&mut best, &mut self.chosen);
            }
            if found == 1 {
                break;
            }
        }
        self.turn = self.turn.wrapping_add(1);
        if found < enabled.len() {
            std::mem::swap(enabled, &mut best);
        }
        self.best = best;
    }

    fn is_visible(&self, transition: u32) -> bool {
        matches!(&self.question, Question::Runs(visible) if visible[transition as usize])
    }

    #[inline]
    fn insert(&mut self, transition: u32) {
        let stamp = &mut self.member[transition as usize];
        if *stamp != self.set {
            *stamp = self.set;
            self.pending.push(transition);
        }
    }

    /// For the first time for this set.
    #[inline]
    fn is_first(&mut self, role: usize, place: u32) -> bool {
        std::mem::replace(&mut self.brought[role][place as usize], self.set) != self.set
    }

    /// Adds what the members need. False as soon as so many enabled ones are in the set: no smaller one comes of it.
    fn close(&mut self, tokens: &impl Fn(u32) -> u64, limit: usize, strong: bool) -> bool {
        while let Some(transition) = self.pending.pop() {
            if self.enabled[transition as usize] == self.state {
                self.chosen.push(transition);
                if self.chosen.len() >= limit {
                    return false;
                }
                self.bring_disabled(transition);
                if strong {
                    self.bring_disablers(transition);
                }
            } else {
                self.bring_enablers(tokens, transition);
            }
        }
        true
    }

    /// All that need tokens where this one leaves fewer.
    fn bring_disabled(&mut self, transition: u32) {
        for index in 0..self.relations.changes.row(transition).len() {
            let (place, change) = self.relations.changes.row(transition)[index];
            if change < 0 && self.is_first(NEED, place) {
                for index in 0..self.relations.consumers.row(place).len() {
                    self.insert(self.relations.consumers.row(place)[index].0);
                }
            }
        }
    }

    /// All that leave fewer tokens where this one needs some.
    fn bring_disablers(&mut self, transition: u32) {
        for index in 0..self.relations.takes.row(transition).len() {
            let (place, _) = self.relations.takes.row(transition)[index];
            if self.is_first(LOWER, place) {
                for index in 0..self.relations.lowerers.row(place).len() {
                    self.insert(self.relations.lowerers.row(place)[index]);
                }
            }
        }
    }

    /// All that leave more tokens in one of the places where it lacks some.
    fn bring_enablers(&mut self, tokens: &impl Fn(u32) -> u64, transition: u32) {
        let takes = self.relations.takes.row(transition).iter();
        let lacking = takes.filter(|(place, number)| tokens(*place) < *number).map(|(place, _)| *place);
        let cost = |place: &u32| {
            if self.brought[RAISE][*place as usize] == self.set {
                return 0;
            }
            let raisers = self.relations.raisers.row(*place);
            // Where there are many, to count those that are new would take longer than it saves.
            if raisers.len() > 8 {
                return raisers.len();
            }
            raisers.iter().filter(|t| self.member[**t as usize] != self.set).count()
        };
        let Some(place) = lacking.min_by_key(cost) else { return };
        if !self.is_first(RAISE, place) {
            return;
        }
        for index in 0..self.relations.raisers.row(place).len() {
            self.insert(self.relations.raisers.row(place)[index]);
        }
    }
}

/// A number that no entry has.
fn next_stamp(last: u32, entries: &mut [u32]) -> u32 {
    if last == u32::MAX {
        entries.fill(0);
        return 1;
    }
    last + 1
}
